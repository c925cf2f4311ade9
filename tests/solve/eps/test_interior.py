"""Points and multipliers well inside their cones: how deep they are, on lines where that is known in closed form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.cones.cone_kinds import Cone, Cones, project, project_dual
from paretoclf.solve.eps.interior import Inner, dual_cones, inner_multipliers, inner_points, touching
from paretoclf.solve.sources.cone_problem_line import LineOfCones
from tests.oracles.array_lines import array_line


def slack(line, t, x):
    """What is left of the sides at a point."""
    return line.at(t).b - line.at(t).A @ x


def test_between_its_ends_an_inner_point_is_straight():
    inner = Inner((np.array([1.0, 2.0]), np.array([3.0, 0.0])), 0.5)
    assert inner.at(0.0).tolist() == [1, 2]
    assert inner.at(0.25).tolist() == [2, 1]
    assert inner.at(0.5).tolist() == [3, 0]
    assert inner.each(np.array([0.0, 0.25, 0.5])).tolist() == [[1, 2], [2, 1], [3, 0]]
    assert inner.ends.tolist() == [[1, 2], [5, -2]]


@pytest.mark.parametrize("stop", [0.5, 1.0])
def test_points_are_a_tenth_as_deep_as_can_be_and_else_as_low(stop):
    """Minimise x from -1 to 1 + 2t: half way the depth is 1 + t, and so low is the lower bound and a tenth of it."""
    line = array_line([[1.0], [-1.0]], [[1.0, 1.0], [3.0, 1.0]], [1.0])
    inner = inner_points(line, stop, 10.0)
    assert inner.stop == stop
    for t in (0.0, stop):
        assert inner.at(t)[0] == pytest.approx(-1 + 0.1 * (1 + t), abs=1e-5)
    up = inner_points(array_line([[1.0], [-1.0]], [[1.0, 1.0], [3.0, 1.0]], [-1.0]), stop, 10.0)
    assert [up.at(t)[0] for t in (0.0, stop)] == pytest.approx([1 - 0.1, 1 + 2 * stop - 0.1 * (1 + stop)], abs=1e-5)


def test_as_low_as_can_be_is_so_of_a_parabola():
    """(x - 1/4)^2 on [-1, 1] has its least inside."""
    line = array_line([[1.0], [-1.0]], [1.0, 1.0], [-0.5], P=[[2.0]])
    inner = inner_points(line, 1.0, 10.0)
    assert inner.at(0.0)[0] == pytest.approx(0.25, abs=1e-4)


def test_no_deeper_than_the_size_of_solutions():
    """Minimise x >= -1 without an upper bound: depths end at the reach."""
    inner = inner_points(array_line([[-1.0]], [1.0], [1.0]), 1.0, 2.0)
    assert inner.at(0.0)[0] == pytest.approx(-1 + 0.1 * 2.0, abs=1e-5)


@pytest.mark.parametrize(
    ("sides", "cones"),
    [
        ([[0.0, 0.0], [1.0, 1.0]], None),  # x = 0 only, at the start
        ([[1.0, 1.0], [0.0, 0.0]], None),  # at the end
        ([[1.0, -2.0], [1.0, 1.0]], None),  # none at the start
        ([[0.0, 0.0], [0.0, 0.0]], [Cone("second-order", 2)]),  # the tip of a cone
    ],
)
def test_where_nothing_is_inside_there_is_none(sides, cones):
    rows = [[1.0], [-1.0]] if cones is None else [[0.0], [-1.0]]
    assert inner_points(array_line(rows, sides, [1.0], cones=cones), 1.0, 10.0) is None


def test_rows_that_keep_points_from_being_inside_are_named():
    """x between 0 and u, where u is 0 at one end; the bounds of y leave room."""
    x, y, u = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="u")
    rows = [(x <= u).set_label("up"), (x >= 0).set_label("low"), (cp.norm2(y) <= 1).set_label("room")]
    problem = cp.Problem(cp.Minimize(x + y), rows)
    for start, stop in ((0.0, 1.0), (1.0, 0.0)):
        ends, names = touching(LineOfCones(problem, {u: start}, {u: stop}).line, 1.0, 2.0)
        assert ends == [start]  # u is 0 at start in the first case, at stop in the second
        assert sorted(names) == ["low", "up"]
    scaled = cp.Problem(cp.Minimize(x + y), [(u * x <= 0).set_label("up"), *rows[1:]])
    ends, names = touching(LineOfCones(scaled, {u: 1.0}, {u: 3.0}).line, 1.0, 2.0)
    assert not ends
    assert sorted(names) == ["low", "up"]


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_a_depth_that_is_rounding_is_none_in_any_unit(size):
    """x between 0 and a side that is none, a billionth or a tenth of the size of solutions."""
    for side, found in ((0.0, False), (1e-10, False), (0.1, True)):
        line = array_line([[1.0], [-1.0]], [side * size, 0.0], [1.0])
        assert (inner_points(line, 1.0, size) is not None) is found


def test_equations_hold_at_points_inside():
    """x0 + x1 = t with both above -1, and a ball of radius 2."""
    cones = [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 3)]
    rows = np.array([[1.0, 1], [-1, 0], [0, -1], [0, 0], [-1, 0], [0, -1]])
    line = array_line(rows, [[0.0, 1, 1, 2, 0, 0], [1.0, 1, 1, 2, 0, 0]], [1.0, 0.0], cones=cones)
    inner = inner_points(line, 1.0, 10.0)
    for t in (0.0, 0.5, 1.0):
        left = slack(line, t, inner.at(t))
        assert left[0] == pytest.approx(0, abs=1e-7)
        assert left[1:3].min() > 0.05
        assert left[3] - np.linalg.norm(left[4:]) > 0.05


def test_where_coefficients_move_points_are_inside_with_those_of_both_ends():
    """2 - x >= 0 at the start, 2 - 4x >= 0 at the end, and x >= -1: minimise -x."""
    line = array_line([[1.0], [-1.0]], [2.0, 1.0], [-1.0], A_stop=[[4.0], [-1.0]])
    inner = inner_points(line, 1.0, 10.0)
    for point in inner.points:
        for t in (0.0, 0.5, 1.0):
            assert slack(line, t, point).min() > 0.05
    assert inner.points[0][0] == pytest.approx(inner.points[1][0], abs=1e-4)
    half = inner_points(line, 0.5, 10.0)
    assert slack(line, 0.5, half.points[0]).min() > 0.05
    assert half.points[0][0] > inner.points[0][0]  # with 2.5 for the largest coefficient there is more room
    assert inner_points(array_line([[1.0], [-1.0]], [-1.0, 3.0], [0.0], A_stop=[[-1.0], [-1.0]]), 1.0, 10.0) is None


def test_multipliers_are_stationary_and_inside_curved_cones():
    """Minimise s + t x with s above the norm of (1, x): multipliers (1, -a, b) with |(a, b)| < 1 and b = t."""
    cones = [Cone("second-order", 3)]
    rows = [[-1.0, 0], [0, 0], [0, -1.0]]
    line = array_line(rows, [0.0, 1, 0], [[1.0, 0.0], [1.0, 0.5]], cones=cones)
    inner = inner_multipliers(line, 1.0, 10.0)
    for t in (0.0, 0.5, 1.0):
        z = inner.at(t)[2:]
        assert line.at(t).A.T @ z == pytest.approx(-line.at(t).q, abs=1e-7)
        assert z[0] - np.linalg.norm(z[1:]) >= 0.45
    several = [Cone("second-order", 3), Cone("nonnegative", 1), Cone("second-order", 3)]
    apart = np.block([[np.array(rows), np.zeros((3, 2))], [0, 1, 0, 0], [np.zeros((3, 2)), np.array(rows)]])
    two = array_line(apart, [0.0, 1, 0, 5, 0, 1, 0], [[1, 0, 1, 0.5], [1, 0.5, 1, 0]], cones=several)
    inner_two = inner_multipliers(two, 1.0, 10.0)
    for t in (0.0, 0.5, 1.0):
        z = inner_two.at(t)[4:]
        assert two.at(t).A.T @ z == pytest.approx(-two.at(t).q, abs=1e-7)
        for each in (z[:3], z[4:]):
            assert each[0] - np.linalg.norm(each[1:]) >= 0.2
    none = array_line(rows, [0.0, 1, 0], [[1.0, 0.0], [1.0, 1.5]], cones=cones)  # beyond t = 2/3 it has no bound
    assert inner_multipliers(none, 1.0, 10.0) is None
    assert inner_multipliers(none, 0.5, 10.0) is not None


KINDS = {
    "nonnegative": [Cone("nonnegative", 3)],
    "second-order": [Cone("second-order", 3)],
    "psd": [Cone("psd", 2)],
    "exponential": [Cone("exponential", 3)],
    "power": [Cone("power", 3, 0.3)],
    "several": [Cone("zero", 2), Cone("exponential", 3), Cone("nonnegative", 1), Cone("power", 3, 0.7)],
}


@pytest.mark.parametrize("name", KINDS)
def test_a_map_takes_dual_cones_to_cones(name):
    """And what is in none of them to what is in none."""
    cones = Cones(KINDS[name])
    size = sum(cone.size for cone in cones)
    line = array_line(np.zeros((size, 1)), np.zeros(size), [0.0], cones=cones)
    dual, others = dual_cones(line)
    assert [cone.kind for cone in others] == [cone.kind for cone in cones if cone.kind != "zero"]
    rng = np.random.default_rng(0)
    for z in rng.normal(size=(40, size)):
        z = project_dual(z, cones)
        mapped = dual @ z
        assert np.abs(mapped - project(mapped, others)).max() < 1e-7
        out = z + rng.normal(size=size)
        away = np.abs(out - project_dual(out, cones)).max()
        mapped = dual @ out
        assert (np.abs(mapped - project(mapped, others)).max() > 1e-7) == (away > 1e-7)


def graphical_lasso(n, *rows):
    """Sparse inverse of a covariance of n variables, with a weight above all correlations: the inverse is diagonal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * n, n))
    S = X.T @ X / len(X)
    T, weight = cp.Variable((n, n), PSD=True, name="T"), cp.Parameter(nonneg=True, name="weight")
    cost = cp.trace(S @ T) - cp.log_det(T) + weight * cp.sum(cp.abs(T))
    most = float(np.abs(S - np.diag(np.diag(S))).max())
    return cp.Problem(cp.Minimize(cost), [row(T) for row in rows]), {weight: 2 * most}, {weight: most}, np.diag(S)


def test_a_determinant_of_many_variables_has_points_inside():
    """Steps almost to the border stall from 12 on; the value is that of a diagonal inverse."""
    *line, variances = graphical_lasso(12)
    path = pc.trace(*line, eps=1e-2, progress=False)
    weights = next(iter(line[1].values())), next(iter(line[2].values()))
    for t in (0.0, 0.3, 0.7, 1.0):
        inverse = variances + (1 - t) * weights[0] + t * weights[1]
        low, high = path.bounds(t)
        assert low <= np.log(inverse).sum() + 12 <= high


@pytest.mark.parametrize("side", [0.0, -1.0])
def test_a_determinant_without_points_inside_has_none(side):
    """An entry between two equal sides leaves no room, and a negative one on the diagonal no point at all."""
    flat = [lambda T: T[0, 1] <= 0, lambda T: T[0, 1] >= 0]
    rows = flat if side == 0.0 else [lambda T: T[0, 0] <= side]
    *line, _ = graphical_lasso(12, *rows)
    with pytest.raises(pc.InputError, match="needs a point inside" if side == 0.0 else "must have a solution"):
        pc.trace(*line, eps=1e-2, progress=False)
