"""Claims that there is no solution: what is right is proved, what is wrong is refuted by a point, a step or a bound."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc

x = cp.Variable(2, name="x")
nonneg, Z = cp.Variable(2, nonneg=True, name="v"), cp.Variable((2, 2), PSD=True, name="Z")
LOW, MASS = (x >= 1).set_label("low"), (cp.sum(x) <= 1).set_label("mass")
LINE = (x[0] - 3 * x[1] == 1).set_label("line")
CAP = (cp.sum(nonneg) <= -1).set_label("cap")
HALF = cp.Problem(cp.Minimize(x[0] - x[1]), [(cp.sum(x) >= 1).set_label("half"), (x[0] >= 0).set_label("side")])

#: Problem; verdict; what the sentence has.
INFEASIBLE = {
    "rows": (cp.Problem(cp.Minimize(cp.sum(x)), [LOW, MASS, x <= 5]), "right", "satisfies low and mass together"),
    "rows, maximised": (cp.Problem(cp.Maximize(cp.sum(x)), [LOW, MASS]), "right", "1 for low and 1 for mass"),
    "a cone": (cp.Problem(cp.Minimize(x[0]), [cp.norm2(x) <= 1, cp.sum(x) == 2]), "right", "constraint 0 and"),
    "an attribute": (cp.Problem(cp.Maximize(cp.sum(nonneg)), [CAP]), "right", "cap"),
    "the domain": (cp.Problem(cp.Minimize(-cp.sum(cp.log(x))), [x <= -1]), "right", "the domain of the objective"),
    "a solution": (cp.Problem(cp.Minimize(cp.sum_squares(x)), [LOW]), "wrong claim", "satisfies all constraints"),
    "unbounded": (cp.Problem(cp.Maximize(cp.sum(x)), [LOW]), "wrong claim", "since x = ["),
    "one point": (cp.Problem(cp.Minimize(x[0]), [cp.sum_squares(x) <= 0]), "wrong claim", "x = [0.0, 0.0]"),
    "no constraint": (cp.Problem(cp.Maximize(cp.sum(x))), "wrong claim", "x = [0.0, 0.0]"),
    "thirds": (cp.Problem(cp.Minimize(x[0]), [x == [1 / 3, 2 / 3]]), "wrong claim", "x near [0.3333, 0.6667]"),
    "matrices": (cp.Problem(cp.Minimize(cp.trace(Z)), [Z[0, 1] == 2]), "wrong claim", "Z = [["),
}  # fmt: skip

#: Problem; direction; verdict; what the sentence has.
RAYS = {
    "up": (HALF, {"x": [0, 1]}, "right", "the objective falls for ever"),
    "down": (HALF, {"x": [0, -1]}, "wrong claim", "the objective rises"),
    "out": (HALF, {"x": [-1, 1]}, "wrong claim", "side is violated by"),
    "nowhere": (HALF, {"x": [0, 0]}, "wrong claim", "never below"),
    "a line": (cp.Problem(cp.Maximize(x[0]), [LINE]), {"x": [3, 1]}, "right", "the objective rises for ever"),
    "nearly a line": (cp.Problem(cp.Maximize(x[0]), [LINE]), {"x": [3, 0.9999]}, "wrong claim", "line is violated by"),
    "flat": (cp.Problem(cp.Minimize(x[0] ** 2 - x[1])), {"x": [0, 1]}, "right", "unbounded along x = [0.0, 1.0]"),
    "a parabola": (cp.Problem(cp.Minimize(x[0] ** 2 - x[1])), {"x": [1, 1]}, "wrong claim", "rises"),
    "bounded": (cp.Problem(cp.Minimize(x[0]), [LOW]), {"x": [-1, 0]}, "wrong claim", "the objective is never below 1"),
    "far": (cp.Problem(cp.Maximize(x[0]), [1e-10 * x[0] <= 1, x >= 0]), {"x": [1, 0]}, "wrong claim", "never above"),
    "none": (cp.Problem(cp.Minimize(-x[0]), [LOW, MASS]), {"x": [1, 0]}, "wrong claim", "infeasible, and not"),
    "matrices": (cp.Problem(cp.Maximize(cp.trace(Z))), {"Z": np.eye(2)}, "right", "rises for ever"),
    "no matrix": (cp.Problem(cp.Maximize(-Z[0, 0])), {"Z": -np.eye(2)}, "wrong claim", "violated"),
    "a logarithm": (cp.Problem(cp.Maximize(cp.log(x[0]))), {"x": [1, 1]}, "undecided", "is not proved"),
}  # fmt: skip


def judged(said, verdict, words):
    right = {"right": True, "wrong claim": False, "undecided": None}[verdict]
    assert (said.verdict, said.values, said.multipliers) == (verdict, right, None), said.sentence
    assert words in said.sentence
    assert said.sentence.endswith(".")


@pytest.mark.parametrize("name", INFEASIBLE)
def test_that_it_is_infeasible(name):
    problem, verdict, words = INFEASIBLE[name]
    judged(pc.grade(problem, "infeasible"), verdict, words)


@pytest.mark.parametrize("name", RAYS)
def test_that_it_is_unbounded_along_a_direction(name):
    problem, ray, verdict, words = RAYS[name]
    judged(pc.grade(problem, ray=ray), verdict, words)


def test_random_cones_and_directions_beside_their_closed_form():
    """Minimise c'x where A x <= b, b > 0: along d it is unbounded where A d <= 0 and c'd < 0, in whole numbers."""
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(60):
        A, b = rng.integers(-2, 3, size=(2, 2)), rng.integers(1, 4, size=2)
        c, d = rng.integers(-2, 3, size=(2, 2))
        said = pc.grade(cp.Problem(cp.Minimize(c @ x), [A @ x <= b]), ray={x: d})
        truth = bool(np.all(A @ d <= 0) and c @ d < 0)
        assert said.values in (truth, None), (A, b, c, d, said.sentence)
        seen.append((truth, said.values))
    assert seen.count((True, True)) >= 3
    assert seen.count((False, False)) >= 10
    assert not any(values is None for _, values in seen)


def test_a_fall_that_is_nothing_beside_the_objective_is_not_called_a_rise():
    said = pc.grade(cp.Problem(cp.Minimize(1e9 - 1e-9 * x[0]), [x >= 0]), ray={x: [1, 0]})
    assert said.verdict != "wrong claim"


def test_the_problem_is_left_as_it_was():
    x.value = [7.0, 8.0]
    pc.grade(HALF, "infeasible")
    pc.grade(HALF, ray={x: [0, 1]})
    assert x.value.tolist() == [7.0, 8.0]
    assert HALF.status is None


def test_one_answer_at_a_time():
    y = cp.Variable()
    dual = cp.Problem(cp.Maximize(y), [y <= 1])
    for how, words in (
        ({}, "an answer must be one of values, dual, ray, got none"),
        ({"values": "infeasible", "ray": {x: [1, 0]}}, "got values and ray"),
        ({"values": "unbounded"}, "give ray= of one unbounded"),
        ({"values": "infeasible", "duals": {}}, "duals must not be given with a claim"),
        ({"dual": dual, "duals": {}}, "duals must not be given with dual"),
        ({"ray": {x: [1, 0]}, "at": [{}]}, "at must not be given with ray"),
        ({"ray": {"z": 1}}, "ray must have all variables, x: x is missing"),
        ({"ray": {x: [1, 0, 0]}}, "x must be finite numbers of shape"),
    ):
        with pytest.raises(pc.InputError, match=words):
            pc.grade(HALF, **how)
