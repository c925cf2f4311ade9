"""Duals of textbook problems: equal values, equal multipliers, parameters that move, and pages."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.solve.duals.textbook import examples

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
EXAMPLES = examples()


def value(problem):
    """Optimal value; a parameter in the matrix of a form of a constraint is a number to CVXPY each time."""
    return problem.solve("CLARABEL", ignore_dpp=not problem.is_dcp(dpp=True), **TIGHT)


def close(a, b, rel=1e-7):
    return abs(a - b) <= rel * (1 + abs(b))


def test_there_are_sixty():
    assert len(EXAMPLES) >= 60


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", EXAMPLES)
def test_primal_and_dual_are_equal_before_and_after_parameters_move(name):
    example = EXAMPLES[name]
    dual = pc.dual(example.problem)
    assert type(dual.problem.objective) is not type(example.problem.objective)
    assert dual.problem.is_dcp()
    assert dual.problem.is_dcp(dpp=True) or not example.problem.is_dcp(dpp=True)
    assert {p.id for p in dual.problem.parameters()} == {p.id for p in example.problem.parameters()}
    before = [(p, p.value) for p in example.other]
    assert close(value(dual.problem), value(example.problem))
    for p, new in example.other.items():
        p.value = new
    try:
        assert close(value(dual.problem), value(example.problem))
        if example.unique:
            for constraint, multiplier in dual.of.items():
                theirs = constraint.dual_value
                pairs = zip(theirs, multiplier, strict=True) if isinstance(theirs, list) else [(theirs, multiplier)]
                for their, own in pairs:
                    assert np.allclose(np.ravel(their), np.ravel(own.value), atol=2e-4 * (1 + np.abs(own.value).max()))
    finally:
        for p, old in before:
            p.value = old


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_dual_of_the_dual_has_the_value_of_the_primal(name):
    example = EXAMPLES[name]
    again = pc.dual(pc.dual(example.problem).problem).problem
    assert type(again.objective) is type(example.problem.objective)
    assert close(value(again), value(example.problem), 1e-6)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", EXAMPLES)
def test_fewer_multipliers_have_the_same_value(name):
    example = EXAMPLES[name]
    dual = pc.dual(example.problem)
    fewer = dual.simplified()
    assert fewer.problem.is_dcp()
    assert sum(v.size for v in fewer.problem.variables()) <= sum(v.size for v in dual.problem.variables())
    assert close(value(fewer.problem), value(example.problem))
    for page in (dual, fewer):
        for text in (page.text(), page.latex(), page.derivation()):
            assert "<" not in text.replace("<= ", "").replace("< 0", "")
            assert text.count("(") == text.count(")")
            assert text.count("{") == text.count("}")


def test_the_page_has_the_names_by_which_values_are_given():
    x, z = cp.Variable(2, name="x"), cp.Variable(name="z")
    top = (cp.maximum(x[0], x[1], z) <= 3).set_label("top")
    made = pc.dual(cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.square(z - 4)), [top, z >= 1]))
    over = made.text().splitlines()[1].removeprefix("over").strip().split(", ")
    assert set(over) == {variable.name() for variable in made.problem.variables()}
    made.problem.solve("CLARABEL")
    values = {variable.name(): variable.value for variable in made.problem.variables()}
    found = made.bound({"x": [0, 0], "z": 3}, {name: values[name] for name in over})
    assert found.dual_feasible
    assert set(over) >= {"y_3a", "y_3b", "y_3c"}
