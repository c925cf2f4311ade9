"""Duals that somebody wrote: same value, weaker, no bound, and which slip it was."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.solvers.solving_chain import SolvingChain

import paretoclf as pc
from paretoclf.solve.grading.homework import grade_dual

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


# --- Answers of pupils ------------------------------------------------------------------------------------------------

SIGNS = np.where(X[:, 0] > 0, 1.0, -1.0)
GOAL = np.array([0.5, 1.0, -1.0])
SQUARE = cp.sum_squares(X @ w - B)
MAXIMISE, MINIMISE = cp.Maximize, cp.Minimize

#: Primal; sense of the dual; its multiplier; and its terms and constraints, in an expression for the multiplier.
TEXTBOOK = {
    "least norm": (
        cp.Problem(MINIMISE(cp.sum_squares(x)), [COST @ x == lam]),
        (MAXIMISE, 1, lambda u: ([-lam * u, -cp.sum_squares(COST * u) / 4], [])),
    ),
    "ridge": (
        cp.Problem(MINIMISE(SQUARE + lam * cp.sum_squares(w))),
        (MAXIMISE, 6, lambda u: ([-B @ u, -cp.sum_squares(u) / 4, -cp.sum_squares(X.T @ u) / (4 * lam)], [])),
    ),
    "lasso": (
        LASSO,
        (MAXIMISE, 6, lambda u: ([-B @ u, -cp.sum_squares(u) / 2], [cp.norm_inf(X.T @ u) <= lam])),
    ),
    "root of the lasso": (
        cp.Problem(MINIMISE(cp.norm2(X @ w - B) + lam * cp.norm1(w))),
        (MAXIMISE, 6, lambda u: ([-B @ u], [cp.norm2(u) <= 1, cp.norm_inf(X.T @ u) <= lam])),
    ),
    "deviations": (
        cp.Problem(MINIMISE(cp.norm1(X @ w - B) + lam * cp.norm2(w))),
        (MAXIMISE, 6, lambda u: ([-B @ u], [cp.norm_inf(u) <= 1, cp.norm2(X.T @ u) <= lam])),
    ),
    "program": (
        PROGRAM,
        (MAXIMISE, 2, lambda u: ([lam * cp.sum(u)], [A.T @ u <= COST, u >= 0])),
    ),
    "machine": (
        cp.Problem(MINIMISE(cp.sum_squares(w) / 2 + lam * cp.sum(cp.pos(1 - cp.multiply(SIGNS, X @ w))))),
        (
            MAXIMISE,
            6,
            lambda u: ([cp.sum(u), -cp.sum_squares(X.T @ cp.multiply(SIGNS, u)) / 2], [u >= 0, u <= lam]),
        ),
    ),
    "ball": (
        cp.Problem(MAXIMISE(COST @ x), [cp.norm2(x - GOAL) <= lam]),
        (MINIMISE, 3, lambda u: ([lam * cp.norm2(u), GOAL @ u], [u == COST])),
    ),
    "entropy": (
        ENTROPY,
        (MINIMISE, 1, lambda u: ([(1 + lam) * u, cp.log_sum_exp(-u * COST)], [])),
    ),
    "simplex": (
        cp.Problem(MINIMISE(cp.sum_squares(x - GOAL)), [cp.sum(x) == lam, x >= 0]),
        (
            MAXIMISE,
            4,
            lambda u: ([-lam * u[0], -GOAL @ (u[1:] - u[0]), -cp.sum_squares(u[1:] - u[0]) / 4], [u[1:] >= 0]),
        ),
    ),
}


def answers(name):
    """Duals of one primal: five that are right, and slips."""
    _, (sense, size, written) = TEXTBOOK[name]
    u = cp.Variable(size, name="u") if size > 1 else cp.Variable(name="u")

    def made(terms, constraints, kind=sense):
        return cp.Problem(kind(sum(terms)), constraints)

    terms, constraints = written(u)
    yield "right", made(terms, constraints)
    yield "other sign", made(*written(-u))
    yield "other unit", made(*written(3 * u))
    yield "one more constraint", made(terms, [*constraints, cp.norm1(u) <= 1e3])
    yield "turned round", made(terms[::-1], constraints[::-1])
    yield "wrong sense", made([-t for t in terms], constraints, MINIMISE if sense is MAXIMISE else MAXIMISE)
    for k, term in enumerate(terms):
        for factor in (0.5, 2.0, -1.0, 0.0):
            yield f"{factor} of term {k}", made([*terms[:k], factor * term, *terms[k + 1 :]], constraints)
    for k in range(len(constraints)):
        yield f"without constraint {k}", made(terms, constraints[:k] + constraints[k + 1 :])
    yield "a constant too much", made([*terms, lam], constraints)


def picked(name, count):
    """As many right ones as wrong ones; those that are not convex are no answers."""
    found = [(what, dual) for what, dual in answers(name) if dual.is_dcp()]
    rng = np.random.default_rng(len(name))
    right = rng.permutation(5)[: count // 2]
    wrong = 5 + rng.permutation(len(found) - 5)[: count - len(right)]
    return [found[k] for k in (*right, *wrong)]


def has_the_values(primal, dual):
    """Whether a solver finds the same values, at places where `grade` does not look."""
    if type(primal.objective) is type(dual.objective):
        return False
    tight = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "ignore_dpp": True}
    for lam.value in (0.45, 0.7):
        both = [cp.Problem(p.objective, p.constraints).solve(**tight) for p in (primal, dual)]
        if not np.isclose(*both, rtol=1e-5, atol=1e-6):
            return False
    return True


def wrongly_judged(name, count):
    """Answers of which `grade` says what is not so, or nothing; and how many there were of each verdict."""
    wrong, seen = [], []
    primal = TEXTBOOK[name][0]
    for what, dual in picked(name, count):
        try:
            same = has_the_values(primal, dual)
        finally:
            lam.value = 0.4
        said = pc.grade(primal, dual=dual)
        seen.append((said.verdict, same))
        if (said.verdict == "same value") != same or (same and said.verdict == "undecided"):
            wrong.append((name, what, same, str(said)))
    return wrong, seen


@pytest.mark.parametrize("name", TEXTBOOK)
def test_answers_half_of_which_are_wrong_are_judged_without_a_wrong_verdict(name):
    wrong, seen = wrongly_judged(name, 3)
    assert not wrong
    assert len(seen) == 3


@pytest.mark.parametrize("name", ["lasso", "ridge"])
def test_each_of_the_two_is_compiled_once_whatever_its_parameters_are(name, monkeypatch):
    compiled, apply = [], SolvingChain.apply

    def counted(chain, problem, *rest, **more):
        compiled.append(problem)
        return apply(chain, problem, *rest, **more)

    monkeypatch.setattr(SolvingChain, "apply", counted)
    said = pc.grade(TEXTBOOK[name][0], dual=next(answers(name))[1])
    assert (said.verdict, len(said.places)) == ("same value", 5)
    assert len(compiled) == 2


def test_all_slips_of_a_term_are_one_problem_to_the_compiler(monkeypatch):
    compiled, apply = [], SolvingChain.apply

    def counted(chain, problem, *rest, **more):
        compiled.append(problem)
        return apply(chain, problem, *rest, **more)

    monkeypatch.setattr(SolvingChain, "apply", counted)
    said = grade_dual(LASSO, lasso(half=1.0))
    assert "With half of sum_squares(y)" in str(said)
    # The primal, the dual, and the dual with factors; a claim that one is infeasible is proved without its objective.
    assert sum(1 for problem in compiled if problem.objective.variables()) == 3
