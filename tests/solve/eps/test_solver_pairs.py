"""Pairs from a solver's numbers: metrics against barriers by differences, points and multipliers by what they miss."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.solve.eps.interior import Inner
from paretoclf.solve.eps.solver_pairs import _metric, feasible, reaches, tried_multipliers, without
from tests.oracles.array_lines import array_line


def hessian(barrier, z, step=1e-4):
    """Second derivatives by differences."""
    n = z.size
    units = step * np.eye(n)
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            found[i, j] = sum(a * b * barrier(z + a * units[i] + b * units[j]) for a, b in signs) / (4 * step**2)
    return found


def of_matrix(z):
    """Minus log det of the matrix of a vector, whose off-diagonal entry is times the root of 2."""
    return -np.log(z[0] * z[2] - z[1] ** 2 / 2)


BARRIERS = {
    "nonnegative": (Cone("nonnegative", 3), lambda z: -np.log(z).sum(), [1.0, 0.3, 2.0]),
    "second-order": (Cone("second-order", 3), lambda z: -np.log(z[0] ** 2 - z[1] ** 2 - z[2] ** 2), [2.0, 0.3, -1.1]),
    "psd": (Cone("psd", 2), of_matrix, [2.0, 0.3, 1.1]),
    "exponential": (
        Cone("exponential", 3),
        lambda z: -np.log(z[1] - z[0] - z[0] * np.log(-z[2] / z[0])) - np.log(-z[0]) - np.log(z[2]),
        [-1.2, 0.4, 1.5],
    ),
}


@pytest.mark.parametrize("kind", BARRIERS)
def test_the_metric_is_the_inverse_of_the_second_derivatives_of_the_barrier(kind):
    cone, barrier, z = BARRIERS[kind]
    cones = Cones([Cone("zero", 1), cone, cone])
    z = np.array(z)
    found = _metric(cones, np.concatenate([[7.0], z, 2 * z])).toarray()
    assert found[0, 0] == pytest.approx((1 + max(7.0, 2 * np.abs(z).max())) ** 2)
    assert np.abs(found[0, 1:]).max() == 0
    inverse = np.linalg.inv(hessian(barrier, z))
    assert found[1:4, 1:4] == pytest.approx(inverse, rel=1e-5, abs=1e-5)
    # Each barrier is logarithmic: at twice the point the inverse is four times as large.
    assert found[4:, 4:] == pytest.approx(4 * inverse, rel=1e-5, abs=1e-5)
    assert np.abs(found[1:4, 4:]).max() == 0


def test_the_metric_of_points_outside_is_none_or_bounded():
    outside = _metric(Cones([Cone("exponential", 3)]), np.array([-1.0, -5.0, 1.0])).toarray()
    assert np.abs(outside).max() == 0
    power = Cones([Cone("power", 3, 0.3)])
    at_border = _metric(power, np.array([0.3, 0.7, 1.0])).toarray()
    assert np.abs(at_border).max() <= 1e-12
    inside = _metric(power, np.array([0.3, 0.7, 0.5])).toarray()
    assert np.diagonal(inside) == pytest.approx((0.3 * 0.5 * np.array([0.3, 0.7, 0.5])) ** 2)


def test_small_multipliers_are_none():
    line = array_line(
        np.ones((7, 1)), np.ones(7), [1.0], cones=[Cone("zero", 1), Cone("nonnegative", 3), Cone("second-order", 3)]
    )
    z = np.array([1e-9, 1e-9, 2.0, 1e-7, 1e-8, 0.0, 1e-9])
    assert without(line, z, 1e-6).tolist() == [1e-9, 0, 2, 0, 0, 0, 0]
    assert without(line, z, 1e-8).tolist() == [1e-9, 0, 2, 1e-7, 0, 0, 0]
    large = np.array([0.0, 1.0, 0.0, 0.0, 1e-3, 1e-9, 0.0])
    assert without(line, large, 1e-6).tolist() == large.tolist()
    assert z[3] == 1e-7


def box_line():
    """Minimise x on [-1, 1 + 2t]."""
    return array_line([[1.0], [-1.0]], [[1.0, 1.0], [3.0, 1.0]], [1.0])


def test_points_are_moved_by_as_little_of_an_inner_one_as_is_needed():
    line = box_line()
    judge, t = ConeJudge(line, np.inf), np.array([0.0, 0.5, 1.0, 1.0])
    inner = Inner((np.array([0.0]), np.array([1.0])), 1.0)
    x = np.array([[-1.0 - 1e-9], [2.0 + 1e-3], [0.5], [50.0]])
    for given in (inner, None):
        found = feasible(judge, t, x, given)
        assert given is None or judge.points(t, found).fine.all()
        assert found[2] == 0.5
        assert -1 <= found[3, 0] <= 3 + 1e-12
        assert found[0] == pytest.approx(-1, abs=1e-8)
        assert found[1] == pytest.approx(2, abs=5e-3)
    mixed = feasible(judge, t, x, inner)
    assert mixed[0, 0] == pytest.approx(-1 - 1e-9 + 3e-9, abs=1.5e-9)
    assert reaches(line, 0.5, np.array([3.0]), inner)


def test_multipliers_that_are_tried_are_stationary():
    """Minimise x'x / 2 + q'x over x0 + x1 = 1, x >= 0: from numbers that are off by 1e-6."""
    P, A = np.eye(2), np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    line = array_line(
        A, [1.0, 0.0, 0.0], [[1.0, 0.0], [1.0, -2.0]], P=P, cones=[Cone("zero", 1), Cone("nonnegative", 2)]
    )
    judge = ConeJudge(line, np.inf)
    for t in (0.0, 1.0):
        q = np.array([1.0, -2.0 * t])
        x, z = np.array([0.0, 1.0]), np.array([2.0 * t - 1, 2 * t, 0.0])
        assert P @ x + q + A.T @ z == pytest.approx([0, 0])
        near = x + np.array([1e-6, -2e-6]), z + 1e-6
        inside = np.concatenate([x, z + np.array([0, 1, 1])])
        inner = Inner((inside, inside), 1.0)
        tried = list(tried_multipliers(judge, t, near, inner))
        numbers = [number for number, _, _ in tried]
        assert numbers == sorted(numbers) == list(range(len(tried)))
        for number, y, multipliers in tried:
            missed = np.abs(P @ y + q + A.T @ multipliers).max()
            assert missed <= 1e-12 or (number == 0 and missed <= 1e-5)
            assert (multipliers[1:] >= -1e-6).all()
            assert y == pytest.approx(x, abs=2e-3)
        first = next(tried_multipliers(judge, t, near, inner, 3))
        assert first[0] == 3
        assert first[2] == pytest.approx(tried[3][2])
        assert len(list(tried_multipliers(judge, t, near, None))) < len(tried)


def test_multipliers_at_the_border_of_a_curved_cone_are_moved_into_it():
    """A does not matter here: what is returned is the projection of the moved multipliers."""
    line = array_line(np.zeros((3, 1)), [1.0, 0.0, 0.0], [1.0], P=np.eye(1), cones=[Cone("second-order", 3)])
    border = np.array([5.0, 3.0, 4.0])
    tried = list(tried_multipliers(ConeJudge(line, np.inf), 0.0, (np.zeros(1), border), None))
    depths = [z[0] - np.hypot(z[1], z[2]) for _, _, z in tried]
    assert depths[0] == pytest.approx(0, abs=1e-12)
    # Of 1 + the largest entry, along the middle of the cone, the root of 2.
    assert depths[-2:] == pytest.approx([6e-9 * np.sqrt(2), 6e-8 * np.sqrt(2)], rel=1e-3)


def test_sizes_are_those_of_negative_multipliers_too():
    line = array_line(np.ones((3, 1)), np.ones(3), [1.0], cones=[Cone("zero", 1), Cone("nonnegative", 2)])
    assert without(line, np.array([-10.0, 0.05, 1.0]), 0.01).tolist() == [-10, 0, 1]
    metric = _metric(Cones([Cone("zero", 2)]), np.array([-3.0, 1.0])).toarray()
    np.testing.assert_allclose(metric, np.diag([16.0, 16.0]))


def test_metrics_of_powers_on_borders_are_numbers():
    power = Cones([Cone("power", 3, 0.3)])
    for z in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]):
        assert np.isfinite(_metric(power, np.array(z)).toarray()).all()


def test_shares_that_are_mixed_in_are_three_times_the_one_before():
    judge, inner = ConeJudge(box_line(), np.inf), Inner((np.array([0.0]), np.array([0.0])), 1.0)
    for off, share in ((0.5e-9, 1e-9), (2e-9, 3e-9), (5e-9, 1e-8), (2e-8, 3e-8)):
        (found,) = feasible(judge, np.zeros(1), np.array([[-1.0 - off]]), inner)
        assert found[0] + 1.0 == pytest.approx(share - off, rel=1e-5)
