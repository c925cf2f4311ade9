"""The way back from a reduced problem, against the optimality conditions of the compiled program."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.rules.fixed import FixColumns
from paretoclf.engine.reduction.rules.substitution import SubstituteColumns
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.lines import FAMILIES
from tests.oracles.parametric import solve_at

POINTS = np.array([0.0, 0.31, 1.0])


def violations(line, x, z, t):
    """Violations of the optimality conditions at one point: feasibility, signs, stationarity, complementarity."""
    q, b = ((1 - t) * ends[0] + t * ends[1] for ends in (line.q, line.b))
    slack, e = b - line.A @ x, line.equations
    stationary = line.P @ x + q + line.A.T @ z
    return [
        np.abs(slack[:e]).max(initial=0),
        -slack[e:].min(initial=0),
        -z[e:].min(initial=0),
        np.abs(stationary).max(),
        np.abs(slack * z).max(initial=0),
    ]


def free_and_fixed():
    """Free variables in equations of their own, a variable that is fixed, and bounds of all kinds."""
    rng = np.random.default_rng(0)
    x, th = cp.Variable(7, name="x"), cp.Parameter(name="th")
    F, C = rng.normal(size=(7, 7)), rng.normal(size=(2, 7))
    C[:, :2] = [[3.0, 0.0], [0.0, -2.0]]
    cost = cp.quad_form(x, F @ F.T) + rng.normal(size=7) @ x
    rows = [C @ x == np.array([1.0, 2.0]) + th * np.array([1.0, -3.0]), -2 * x[2:4] <= 1, x[4] <= 0.1 + th]
    rows += [x[5] == 1 + th, x[3] + x[4] <= 0.25, x[3] + x[4] >= -0.25 - th, x[4] >= -1]
    return cp.Problem(cp.Minimize(cost), rows), {th: 0.0}, {th: 1.0}


def nested():
    """Epigraph variables one in the other, and slacks."""
    rng = np.random.default_rng(1)
    x, lam = cp.Variable(4, name="x"), cp.Parameter(nonneg=True, name="lam")
    up, down = cp.Variable(3, nonneg=True), cp.Variable(3, nonneg=True)
    A, B = rng.normal(size=(2, 3, 4))
    cost = cp.sum_squares(x - 1) + lam * cp.sum(cp.pos(cp.abs(A @ x) - 0.5)) + cp.sum(2 * up + down)
    return cp.Problem(cp.Minimize(cost + lam * cp.norm1(x)), [B @ x - 1 == up - down]), {lam: 0.1}, {lam: 3.0}


CHOSEN = ("svm, slacks", "lasso", "isotonic", "Huber", "five pieces", "quantile, parts", "pinball, data moved")
CASES = {"free and fixed": free_and_fixed, "nested": nested} | {name: FAMILIES[name] for name in CHOSEN}


@pytest.fixture(scope="module", params=CASES)
def solved(request):
    line = program_line(*CASES[request.param]())
    reduced = reduce(line)
    found = [solve_at(reduced.problem, t) for t in POINTS]
    return line, reduced, np.array([v for _, v, _ in found]), np.array([y for _, _, y in found])


def test_optimal_points_come_back_optimal(solved):
    line, reduced, v, y = solved
    x, z = reduced.back(v, y, POINTS)
    for point in zip(x, z, POINTS, strict=True):
        assert max(violations(line, *point)) < 1e-7


def test_points_come_back_one_by_one_as_together(solved):
    _, reduced, v, y = solved
    together = reduced.back(v, y, POINTS)
    for k in range(len(POINTS)):
        alone = reduced.back(v[k : k + 1], y[k : k + 1], POINTS[k : k + 1])
        for one, all_points in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[0], all_points[k], rtol=0, atol=1e-13 * (1 + np.abs(one).max()))


def test_directions_of_values_are_differences_of_points():
    reduced = reduce(program_line(*free_and_fixed()))
    rng = np.random.default_rng(2)
    v, step = rng.normal(size=(2, reduced.problem.items))
    none, half = np.zeros((1, reduced.problem.items)), np.array([0.5])
    before, after = (reduced.back(at[None], none, half)[0][0] for at in (v, v + step))
    assert {FixColumns, SubstituteColumns} <= {type(rule) for rule in reduced.chain.rules}
    np.testing.assert_allclose(reduced.ray_of_values(step), after - before, atol=1e-13)


def program(make):
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    line = program_line(cp.Problem(cp.Minimize(cp.sum_squares(x)), make(x, th)), {th: 0.0}, {th: 1.0})
    return line, reduce(line)


def contradicts(line, z):
    """Whether nonnegative multipliers of the rows make ``0 <= b'z < 0`` of them at the end of the line."""
    return z.min() >= 0 and np.abs(line.A.T @ z).max() < 1e-14 and line.b[1] @ z < 0 < line.b[0] @ z


CROSSING = {
    "variable": lambda x, th: [3 * x[0] >= 3 + 3 * th, -2 * x[0] >= -3, x[1] <= 8],
    "row": lambda x, th: [x[0] + x[1] >= 1 + th, -4 * x[0] - 4 * x[1] >= -6, x[1] <= 8, x[0] >= -1],
}


@pytest.mark.parametrize("name", CROSSING)
def test_crossing_bounds_of_an_item_contradict(name):
    line, reduced = program(CROSSING[name])
    problem = reduced.problem
    (item,) = np.flatnonzero((problem.lower[1] > problem.upper[1]) & (problem.lower[0] <= problem.upper[0]))
    assert (item < problem.n) == (name == "variable")
    assert contradicts(line, reduced.ray_of_crossing(int(item)))


def test_a_direction_of_multipliers():
    line, reduced = program(lambda x, th: [x[0] + 2 * x[1] >= 3 + 2 * th, 2 * x[0] <= 2, 4 * x[1] <= 6])
    a = np.atleast_2d(reduced.problem.A)[0]
    ways = [np.concatenate([-sign * a, [sign]]) for sign in (1.0, -1.0)]
    assert [bool(contradicts(line, reduced.ray_of_multipliers(y))) for y in ways].count(True) == 1
