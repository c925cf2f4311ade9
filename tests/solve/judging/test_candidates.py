"""Where the one solve of a compiled program fails, the user's own answer or another solver has the bounds."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.cones.cone_judge import cone_bounds
from paretoclf.solve.judging.cone_proof import _compile
from paretoclf.solve.models.model import Model


def forgotten(problem, status):
    """The compiled program as a solver would leave it that found nothing."""
    compiled = _compile(Model.of(problem))
    return replace(compiled, x=np.zeros(compiled.x.size), z=np.zeros(compiled.z.size), status=status)


def problems():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    w, v = cp.Variable(3, name="w"), cp.Variable(12, name="v")
    steps = np.sqrt(np.arange(12) / 11) + 0.1 * np.sin(np.arange(12))
    M = cp.Variable((2, 2), name="M", symmetric=True)
    return {
        "linear": cp.Problem(cp.Minimize(cp.norm1(X @ w - y)), [w <= 1]),
        "convex regression": cp.Problem(cp.Minimize(cp.sum_squares(v - steps) / 2), [cp.diff(v, 2) >= 0]),
        "norm": cp.Problem(cp.Minimize(cp.norm(X @ w - y) + cp.norm(w)), [w[0] == 0.2]),
        "matrix": cp.Problem(cp.Minimize(cp.trace(M)), [M >> np.array([[1.0, 2.0], [2.0, 1.0]]), M[0, 1] >= 0]),
    }


@pytest.mark.parametrize("name", ["linear", "convex regression", "norm"])
def test_the_users_own_answer_bounds_the_value(name):
    problem = problems()[name]
    value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    model = Model.of(problem)
    numbers = {name: variable.value for name, variable in model.variables.items()}
    numbers |= {name: constraint.dual_value for name, constraint in model.constraints.items()}
    compiled = forgotten(problem, cp.OPTIMAL)
    found = cone_bounds(compiled.program, compiled.x, compiled.z, [next(compiled.others(numbers))])
    assert found.upper + compiled.offset == pytest.approx(value, rel=1e-7)
    if name == "convex regression":  # the others have multipliers that CVXPY does not give out
        assert found.lower + compiled.offset == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("name", list(problems()))
def test_another_solver_bounds_the_value(name):
    """HiGHS or SCS: the user holds nothing of use."""
    problem = problems()[name]
    value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    compiled = forgotten(problem, cp.OPTIMAL_INACCURATE)
    found = cone_bounds(compiled.program, compiled.x, compiled.z, compiled.others({}))
    assert found.lower + compiled.offset == pytest.approx(value, rel=1e-6)
    assert found.upper + compiled.offset == pytest.approx(value, rel=1e-6)


def test_values_that_do_not_fit_are_left_out():
    problem = problems()["convex regression"]
    problem.solve(solver="CLARABEL")
    compiled = forgotten(problem, cp.OPTIMAL)
    for value in (None, np.zeros(3), np.full(12, np.nan), np.full(12, 1j)):
        x, z = next(compiled.others({"v": value}))
        assert np.isfinite(x).all()
        assert z.shape == compiled.z.shape


@pytest.mark.slow
def test_the_bounds_of_a_problem_on_which_the_solve_stalls():
    """Before: [6.42, 10.3]; HiGHS is right to nine digits (its objective at its own, feasible point)."""
    n = 2000
    c = np.sqrt(np.arange(n) / (n - 1)) + 0.1 * np.sin(np.arange(1, n + 1))
    x = cp.Variable(n, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [cp.diff(x, 2) >= 0])
    value = problem.solve(solver="HIGHS")
    proof = pc.verify(problem, tol=1e-6)
    assert proof.lower == pytest.approx(value, rel=1e-7)
    assert proof.upper == pytest.approx(value, rel=1e-7)
