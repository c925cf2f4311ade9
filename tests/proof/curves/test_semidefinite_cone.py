"""Shifts of semidefinite matrices against eigenvalues at many places."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cones.cone_kinds import matrix, vector
from paretoclf.proof.curves.polynomials import Polynomials, evaluation
from paretoclf.proof.curves.semidefinite_cone import depth_of_matrix, shift_of_matrix
from tests.oracles.curve_programs import NODES, TO_COEFFICIENTS


def turning(rng, order, rank, noise):
    """Complementary matrices of given ranks, in a frame that turns, interpolated; with noise."""
    skew = rng.normal(size=(order, order)) * 0.2
    skew = skew - skew.T
    first, second = [], []
    weights, others = 0.5 + rng.random(rank), 0.5 + rng.random(order - rank)
    start = np.linalg.qr(rng.normal(size=(order, order)))[0]
    for u in NODES:
        values, vectors = np.linalg.eig(u * skew)
        frame = start @ np.real(vectors * np.exp(values) @ np.linalg.inv(vectors))
        first.append(vector(frame[:, :rank] * weights @ frame[:, :rank].T))
        second.append(vector(frame[:, rank:] * others @ frame[:, rank:].T))
    made = [TO_COEFFICIENTS @ np.array(each) for each in (first, second)]
    return [Polynomials.of(each + noise * rng.normal(size=each.shape)) for each in made]


def least(poly, order):
    values = evaluation(poly.degree, np.linspace(0, 1, 201)) @ poly.value
    return float(np.linalg.eigvalsh(matrix(values, order))[:, 0].min())


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
def test_the_shift_is_enough_and_near_the_noise(order, noise):
    rng = np.random.default_rng(order)
    for rank in range(order + 1):
        one, other = turning(rng, order, rank, noise)
        for poly, partner in ((one, other), (other, one)):
            shift = shift_of_matrix(poly, partner, order)
            assert shift >= -least(poly, order) - 1e-15
            assert shift <= 300 * noise + 1e-7


def test_a_matrix_far_from_semidefinite_has_a_large_shift():
    poly = Polynomials.of(vector(np.diag([1.0, -1.0]))[None] * np.ones((3, 1)))
    assert shift_of_matrix(poly, poly, 2) >= 1.0


def test_depths_are_below_all_eigenvalues():
    rng = np.random.default_rng(0)
    ends = np.array([vector(M @ M.T + np.eye(3)) for M in rng.normal(size=(2, 3, 3))])
    poly = Polynomials.of(ends)
    depth = depth_of_matrix(poly, 3)
    assert 1.0 - 1e-9 <= depth <= least(poly, 3)
    assert depth_of_matrix(poly.widened(0.1), 3) <= depth - 0.1
