"""Tests of `paretoclf.problem.definite`."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.problem.definite import connected_blocks, least_curvature


def test_curvature_is_proved_not_believed():
    rng = np.random.default_rng(5)
    for n in (1, 3, 8, 60):
        F = rng.standard_normal((n, n))
        definite = F @ F.T
        least = float(np.linalg.eigvalsh(definite)[0])
        assert least_curvature(definite) == pytest.approx(least, abs=1e-11 * n)
        assert (least_curvature(definite) <= least + 1e-14 * n).all()
        shifted = definite - (least + 0.5) * np.eye(n)
        assert (least_curvature(shifted) <= -0.5 + 1e-9).all()
        assert (least_curvature(shifted) >= -0.5 - 1e-9).all()
    whole = rng.integers(-2, 3, (2, 5))
    assert (least_curvature(whole.T @ whole) >= 0).all()  # singular: in fractions
    path = sp.diags_array([np.r_[1, np.full(1998, 2), 1], -np.ones(1999), -np.ones(1999)], offsets=[0, 1, -1])
    assert (least_curvature(path) == 0).all()  # singular and large: its diagonal dominates
    mixed = sp.block_diag([sp.eye_array(3), -2 * sp.eye_array(1), np.ones((2, 2))])
    assert list(least_curvature(mixed)) == [1, 1, 1, -2, 0, 0]


def test_a_large_sparse_quadratic_is_proved_by_its_factors():
    n = 1600
    path = sp.diags_array([np.full(n, 2.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1])
    squared = sp.csr_array(path @ path)  # not dominated by its diagonal
    assert -1e-10 < least_curvature(squared).max() <= 0
    assert least_curvature(squared - 0.1 * sp.eye_array(n)).max() < -0.09


@pytest.mark.parametrize("n", [3, 60, 300])
def test_the_sign_alone_takes_no_eigenvalues(n, monkeypatch):
    """What is about positive semidefinite is seen by Cholesky's algorithm; what is not, by eigenvalues."""
    rng = np.random.default_rng(n)
    F = rng.standard_normal((n, n))
    definite, singular = F @ F.T + np.eye(n), F[:, : n // 2] @ F[:, : n // 2].T
    shifted = definite - (float(np.linalg.eigvalsh(definite)[0]) + 1e-6) * np.eye(n)
    assert least_curvature(shifted, signs=True) == pytest.approx(-1e-6, rel=0.1)
    assert (least_curvature(shifted, signs=True) <= -1e-6).all()
    monkeypatch.setattr(np.linalg, "eigvalsh", None)
    assert (least_curvature(definite, signs=True) > 0).all()
    assert -1e-9 * np.abs(singular).max() < least_curvature(singular, signs=True).min() <= 1e-12


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_blocks_are_told_by_their_entries_one_full_row_connects_all(form):
    arrow = np.diag(np.arange(1.0, 6.0))
    arrow[2] = arrow[:, 2] = 7.0
    assert [each.tolist() for each in connected_blocks(form(arrow))] == [[0, 1, 2, 3, 4]]
    arrow[2, 0] = arrow[0, 2] = 0.0
    assert [each.tolist() for each in connected_blocks(form(arrow))] == [[0], [1, 2, 3, 4]]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_curvature_is_the_same_of_each_form(form):
    """Of several blocks, two of which are indefinite."""
    P = np.zeros((6, 6))
    P[:2, :2], P[2:5, 2:5], P[5, 5] = [[2.0, 1.0], [1.0, 2.0]], 3.0 * np.eye(3) - 2.0, -1.0
    found = least_curvature(form(P))
    exact = np.repeat([1.0, -3.0, -1.0], [2, 3, 1])
    np.testing.assert_allclose(found, exact, rtol=1e-9)
