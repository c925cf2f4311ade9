"""Fewer multipliers: the parts that remain have the value of the problem, and what was eliminated fits its equation."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.duals.construction.dual_parts import parts_of
from paretoclf.solve.duals.elimination import put, simplified, terms_of
from paretoclf.solve.models.model import Model

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
F = np.random.default_rng(2).normal(size=(5, 3))
G = np.array([1.0, -2.0, 0.3, 0.7, 1.5])
C = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 1.5]])
x, p, xi, S = (
    cp.Variable(3, name="x"),
    cp.Variable(3, name="p"),
    cp.Variable(5, name="xi"),
    cp.Variable((3, 3), symmetric=True, name="S"),
)
P = cp.Variable((3, 3), PSD=True, name="P")
COST = np.array([1.0, 0.2, 0.7])


def parts_for(problem):
    """The parts of its dual, before anything is eliminated."""
    return parts_of(Model.of(problem, maximise=True, moving=False))


def sizes(parts):
    """Names and sizes of the variables of a dual."""
    return {v.name(): v.size for v in parts.built().variables()}


#: Each with the variables that its dual is left with, as in a textbook.
PROBLEMS = {
    "LP": (cp.Problem(cp.Minimize(COST @ x), [x >= 0, (cp.sum(x) >= 1).set_label("mass")]), {"lambda_mass"}),
    "slacks": (
        cp.Problem(cp.Minimize(cp.sum_squares(x) / 2 + 2 * cp.sum(xi)), [(F @ x >= G - xi).set_label("fit"), xi >= 0]),
        {"lambda_fit"},
    ),
    "two slacks": (
        cp.Problem(cp.Maximize(-COST @ x), [x >= 0.1, x <= 2, (cp.sum(x) == 1.5).set_label("mass")]),
        None,
    ),
    "lasso": (cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G) / 2 + 0.5 * cp.norm1(x))), {"y_1"}),
    "SDP": (cp.Problem(cp.Minimize(cp.trace(C @ P)), [(cp.trace(P) == 1).set_label("mass")]), {"nu_mass"}),
    "SDP, constraint": (
        cp.Problem(cp.Minimize(cp.trace(C @ S)), [S >> 0, (cp.trace(S) == 1).set_label("mass")]),
        {"nu_mass"},
    ),
    "entropy": (cp.Problem(cp.Minimize(COST @ p - cp.sum(cp.entr(p))), [cp.sum(p) == 1]), set()),
    "entropy of mass 2": (cp.Problem(cp.Minimize(COST @ p - 3 * cp.sum(cp.entr(p))), [cp.sum(p) == 2]), set()),
    "entropy, minus the mass": (cp.Problem(cp.Minimize(COST @ p - cp.sum(cp.entr(p))), [-cp.sum(p) == -1]), None),
    "entropy, twice the mass": (cp.Problem(cp.Minimize(COST @ p - cp.sum(cp.entr(p))), [2 * cp.sum(p) == 2]), None),
    "entropy and a mean": (
        cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, (np.arange(3.0) @ p == 0.7).set_label("mean")]),
        {"nu_mean"},
    ),
    "weighted entropy": (
        cp.Problem(cp.Minimize(COST @ p - cp.sum(cp.multiply([1.0, 2.0, 3.0], cp.entr(p)))), [cp.sum(p) == 1]),
        None,
    ),
    "entropy, at most": (cp.Problem(cp.Minimize(COST @ p - cp.sum(cp.entr(p))), [cp.sum(p) <= 0.5]), None),
    "entropy and a square": (
        cp.Problem(cp.Minimize(cp.square(cp.sum(p) - 1) - cp.sum(cp.entr(p))), [cp.sum(p) == 0.8]),
        None,
    ),
    "elastic net": (
        cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G) + cp.norm1(x) + 0.5 * cp.sum_squares(x))),
        None,
    ),
    "ball": (cp.Problem(cp.Minimize(COST @ x), [cp.SOC(cp.Constant(2.0), x - 1)]), None),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_value_is_that_of_the_problem(name):
    problem, left = PROBLEMS[name]
    value = problem.solve("CLARABEL", **TIGHT)
    full = parts_for(problem)
    fewer = simplified(full)
    dual = fewer.built()
    found = dual.solve("CLARABEL", **TIGHT) if dual.variables() else dual.objective.value
    assert found == pytest.approx(value, abs=1e-7)
    if left is not None:
        assert set(sizes(fewer)) == left
    assert len(fewer.eliminated) == len({name for name, _, _ in fewer.eliminated})
    assert sum(sizes(fewer).values()) + sum(e.size for _, e, _ in fewer.eliminated) == sum(sizes(full).values())
    # With the eliminated at what they are said to be, the dual that has all of them is as good, and feasible.
    known = {v.name(): v for v in full.built().variables()}
    for name_of_multiplier, expression, _ in reversed(fewer.eliminated):
        known[name_of_multiplier].save_value(np.asarray(expression.value))
    for equation in full.equations.values():
        assert np.asarray(equation.value) == pytest.approx(0, abs=1e-6)
    assert full.built().objective.value == pytest.approx(value, abs=1e-6)


def test_closed_form_of_the_entropy():
    """min c'p + w sum p log p over sum p = a is a w log a - a w log sum exp(-c / w)."""
    problem, _ = PROBLEMS["entropy of mass 2"]
    parts = simplified(parts_for(problem))
    assert parts.atoms == ()
    assert parts.multipliers == ()
    assert parts.value.value == pytest.approx(6 * np.log(2) - 6 * np.log(np.exp(-COST / 3).sum()))
    assert [of for _, _, of in parts.eliminated][-1].endswith("largest value")


def test_multipliers_that_are_no_slacks_keep_their_sign():
    """Two constraints on one variable: one multiplier is a slack, the other must stay."""
    y = cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.pos(y - 3) + y), [(y >= 1).set_label("low"), (y <= 2).set_label("top")])
    fewer = simplified(parts_for(problem))
    assert fewer.built().solve("CLARABEL", **TIGHT) == pytest.approx(1, abs=1e-7)
    assert len(fewer.eliminated) == 1
    assert all(of == "y" for _, _, of in fewer.eliminated)


def test_terms_of_a_sum():
    a, b = cp.Variable(3), cp.Variable(3)
    c = cp.Variable()
    expression = 2 * (a - 3 * b) - cp.multiply(np.array([1.0, 2, 3]), a) + cp.promote(c, (3,)) + 1
    found = [(term.factor, term.expression) for term in terms_of(expression)]
    assert [factor for factor, _ in found] == [2, -6, -1, 1, 1]
    assert found[0][1] is a
    assert found[1][1] is b
    for each in (a, b, c):
        each.save_value(np.random.default_rng(3).normal(size=each.shape))
    total = sum(factor * np.asarray(each.value) for factor, each in found)
    assert total == pytest.approx(expression.value)
    assert [term.factor for term in terms_of(a, -2.5)] == [-2.5]


def test_expressions_in_place_of_variables():
    problem, _ = PROBLEMS["LP"]
    parts = parts_for(problem)
    old = next(m.parts[0] for m in parts.multipliers if m.label == "mass")
    new = cp.Variable(name="new")
    changed = put(parts, {id(old): 2 * new})
    assert "lambda_mass" not in sizes(changed)
    assert "new" in sizes(changed)
    other = next(m for m in changed.multipliers if m.label != "mass")
    assert any(other.parts[0] is m.parts[0] for m in parts.multipliers)
    new.save_value(1.5)
    old.save_value(3.0)
    for v in parts.built().variables():
        if v is not old:
            v.save_value(np.ones(v.shape))
    assert changed.value.value == pytest.approx(parts.value.value)
    assert changed.equations["x"].value == pytest.approx(parts.equations["x"].value)
