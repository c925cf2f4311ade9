"""Duals that somebody wrote: same value, weaker, no bound, and which slip it was."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.duals.homework import grade_dual

RNG = np.random.default_rng(0)
X, A = RNG.normal(size=(6, 2)), np.abs(RNG.normal(size=(2, 3))) + 0.2
B = X @ np.array([2.0, -1.0]) + 0.3 * RNG.normal(size=6)
lam = cp.Parameter(nonneg=True, value=0.4, name="lam")
w, x = cp.Variable(2, name="w"), cp.Variable(3, name="x")
y, v, nu = cp.Variable(6, name="y"), cp.Variable(2, name="v"), cp.Variable(name="nu")
COST = np.array([1.0, 2.0, 3.0])

#: Primal; then the terms of a dual that is right.
LASSO = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - B) / 2 + lam * cp.norm1(w)))
PROGRAM = cp.Problem(cp.Minimize(COST @ x), [A @ x >= lam, x >= 0])
ENTROPY = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, COST @ x == 1 + lam])


def lasso(half=0.5, sign=-1.0, bound=1.0):
    return cp.Problem(cp.Maximize(sign * (B @ y) - half * cp.sum_squares(y)), [cp.norm_inf(X.T @ y) <= bound * lam])


def program(value=1.0, cap=1.0):
    return cp.Problem(cp.Maximize(value * lam * cp.sum(v)), [A.T @ v <= cap * COST, v >= 0])


def entropy(factor=1.0):
    return cp.Problem(cp.Minimize((1 + lam) * nu + factor * cp.log_sum_exp(-nu * COST)))


ANSWERS = {
    "lasso": (LASSO, lasso(), "same value", ""),
    "lasso, other sign of y": (LASSO, lasso(sign=1.0), "same value", ""),
    "lasso, no half": (LASSO, lasso(half=1.0), "weaker", "With half of sum_squares(y)"),
    "lasso, a quarter": (LASSO, lasso(half=0.25), "no bound", "With twice"),
    "lasso, twice the bound": (LASSO, lasso(bound=2.0), "no bound", ""),
    "lasso, a minimisation": (LASSO, cp.Problem(cp.Minimize(cp.sum_squares(y)), [X.T @ y == 0]), "wrong sense", ""),
    "program": (PROGRAM, program(), "same value", ""),
    "program, half the costs": (PROGRAM, program(cap=0.5), "weaker", ""),
    "program, twice the value": (PROGRAM, program(value=2.0), "no bound", ""),
    "program, without a sign": (PROGRAM, cp.Problem(cp.Maximize(lam * cp.sum(v)), [v <= 9]), "no bound", ""),
    "program, unbounded": (PROGRAM, cp.Problem(cp.Maximize(lam * cp.sum(v)), [v >= 0]), "unbounded", ""),
    "program, infeasible": (PROGRAM, cp.Problem(cp.Maximize(cp.sum(v)), [v >= 1, v <= 0]), "infeasible", ""),
    "entropy": (ENTROPY, entropy(), "same value", ""),
    "entropy, twice": (ENTROPY, entropy(2.0), "undecided", ""),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_dual_is_judged_by_its_values(name):
    problem, dual, verdict, hint = ANSWERS[name]
    found = grade_dual(problem, dual)
    assert found.verdict == verdict
    assert hint in str(found)
    assert "is the dual" not in str(found)
    assert lam.value == 0.4
    if verdict == "same value":
        assert len(found.places) == 5
        assert "at all five" in str(found)


def test_without_parameters_one_number_shows_little():
    plain = cp.Problem(cp.Minimize(cp.sum_squares(w)), [cp.sum(w) == 1])
    assert "one number shows little" in str(grade_dual(plain, cp.Problem(cp.Maximize(nu - cp.square(nu) / 2))))


def test_a_dual_that_is_right_at_one_place_only_is_not_right():
    chance = cp.Problem(cp.Maximize(-0 * nu - cp.square(nu) + LASSO.solve("CLARABEL")))
    assert grade_dual(LASSO, chance).verdict in ("weaker", "no bound")
    assert grade_dual(LASSO, chance, at=[{"lam": 0.4}]).verdict == "same value"


def test_places_are_named():
    with pytest.raises(pc.InputError, match="at must have a value for each of lam"):
        grade_dual(LASSO, lasso(), at=[{"mu": 1}])
    empty = cp.Parameter(name="empty")
    with pytest.raises(pc.InputError, match="parameter empty must have a value"):
        grade_dual(cp.Problem(cp.Minimize(cp.square(w[0] - empty))), lasso())
    with pytest.raises(pc.InputError, match="dual must be"):
        grade_dual(LASSO, 3)
