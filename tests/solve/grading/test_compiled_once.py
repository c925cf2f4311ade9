"""Problems written so that they compile once: the same value at every parameter, and the same variables."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.grading.compiled_once import compiled_once

x = cp.Variable(3, name="x")
lam, rates = cp.Parameter(nonneg=True, value=0.5, name="lam"), cp.Parameter(3, pos=True, value=[1.0, 2.0, 0.5])
GOAL = np.array([1.0, -2.0, 0.5])
SQUARE = cp.sum_squares(x - GOAL)

PROBLEMS = {
    "already": cp.Problem(cp.Minimize(SQUARE + lam * cp.norm1(x))),
    "quotient": cp.Problem(cp.Minimize(SQUARE + cp.norm1(x) / (1 + lam))),
    "square of it": cp.Problem(cp.Minimize(SQUARE + cp.norm1(x)), [cp.sum(x) <= lam**2]),
    "by entry": cp.Problem(cp.Minimize(cp.sum(cp.square(x - GOAL) / rates)), [cp.norm2(x) <= lam]),
    "denominator": cp.Problem(cp.Minimize(cp.quad_over_lin(x - GOAL, 4 * lam) + cp.norm1(x))),
    "relative entropy": cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(x, rates))), [cp.sum(x) == 1 + lam]),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_moves_without_being_compiled_again(name):
    problem = PROBLEMS[name]
    moving = compiled_once(problem)
    assert moving.is_dcp(dpp=True)
    assert {v.id for v in problem.variables()} <= {v.id for v in moving.variables()}
    for lam.value, rates.value in ((0.5, [1.0, 2.0, 0.5]), (0.8, [0.3, 1.0, 4.0])):
        fresh = cp.Problem(problem.objective, problem.constraints).solve(solver="CLARABEL", ignore_dpp=True)
        assert np.isclose(moving.solve(solver="CLARABEL", enforce_dpp=True), fresh, rtol=1e-6, atol=1e-7)


def test_what_cannot_be_written_so_stays_itself():
    problem = cp.Problem(cp.Maximize(lam * cp.sum(cp.entr(x / lam))), [cp.sum(x) <= 1])
    moving = compiled_once(problem)
    assert not moving.is_dcp(dpp=True)
    assert moving.objective is problem.objective
