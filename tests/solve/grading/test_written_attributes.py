"""An equal problem in which attributes of variables are constraints."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.grading.written_attributes import written_out

LOW, HIGH = np.array([0.0, -np.inf, -1.0]), np.array([np.inf, np.inf, 0.5])


def spread(variables, rng):
    """A strictly convex objective whose optimum would lie outside of what attributes say."""
    return sum(cp.sum_squares(v - 3 * rng.normal(size=v.shape)) for v in variables)


def test_the_problem_written_out_is_equal_and_its_multipliers_are_those_of_the_lagrangian():
    rng = np.random.default_rng(1)
    x = cp.Variable(3, bounds=[LOW, HIGH], name="x")
    y = cp.Variable((2, 2), nonneg=True, name="y")
    P = cp.Variable((3, 3), PSD=True, name="P")
    both = cp.Variable(4, bounds=[-0.5, 0.5], name="both")
    goal = spread([x, y, P, both], rng)
    problem = cp.Problem(cp.Minimize(goal), [(cp.sum(x) <= 0.2).set_label("top"), cp.sum(y) >= 1])
    best = problem.solve("CLARABEL")
    names = ["x: lower bound", "x: upper bound", "y: nonneg", "P: PSD", "both: upper bound"]
    again = written_out(problem, names)
    assert [c.label for c in again.constraints] == ["top", "constraint 1", *names]
    assert again.solve("CLARABEL") == pytest.approx(best, rel=1e-7)
    kinds = {v.name(): v.attributes for v in again.variables()}
    assert not kinds["y"]["nonneg"]
    assert not kinds["P"]["PSD"]
    assert kinds["P"]["symmetric"]
    assert kinds["x"]["bounds"] is None
    assert kinds["both"]["bounds"][0] is not None
    assert np.isinf(kinds["both"]["bounds"][1]).all()
    assert all(c.dual_value is not None for c in again.constraints)
    assert {v.id for v in problem.variables()}.isdisjoint(v.id for v in again.variables())


def test_what_is_not_named_stays():
    x, y = cp.Variable(2, nonneg=True, name="x"), cp.Variable(2, nonneg=True, name="y")
    again = written_out(cp.Problem(cp.Maximize(-cp.sum(x + y))), {"x: nonneg"})
    assert isinstance(again.objective, cp.Maximize)
    own = {v.id for v in again.variables()}
    assert y.id in own
    assert x.id not in own
    assert [c.label for c in again.constraints] == ["x: nonneg"]
