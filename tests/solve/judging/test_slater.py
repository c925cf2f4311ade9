"""Which constraints leave no room, of problems of which that is known."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.judging.slater import no_slater_point
from paretoclf.solve.models.model import Model

x, t = cp.Variable(2, name="x"), cp.Variable(name="t")
X = cp.Variable((2, 2), symmetric=True, name="X")
DISC, SHIFTED = cp.sum_squares(x) <= 1, cp.sum_squares(x - [2, 0]) <= 1  # they touch at (1, 0)
WITHOUT = {
    "a point": (x[0], {"disc": cp.sum_squares(x) <= 0}, ["disc"]),
    "a ray": (cp.exp(-x[0]), {"ray": cp.norm2(x) - x[1] <= 0}, ["ray"]),
    "a cone": (x[1], {"cone": cp.SOC(x[0], x), "idle": cp.norm2(x) <= 9}, ["cone"]),
    "a face": (2 * X[0, 1], {"psd": X >> 0, "zero": X[0, 0] == 0, "top": X[1, 1] <= 1}, ["psd"]),
    "a domain": (-cp.sqrt(t), {"top": t <= 0}, ["the domain of the objective"]),
    "two discs": (x[1], {"left": DISC, "right": SHIFTED}, ["left", "right"]),
}
WITH = {
    "a disc": (x[0], {"disc": cp.sum_squares(x) <= 1, "line": cp.sum(x) == 1}),
    "polyhedral": (x[0], {"box": cp.abs(x) <= 0, "line": cp.sum(x) == 0}),
    "a domain": (-cp.sqrt(t), {"top": t <= 1}),
}


def problem_of(objective, constraints):
    return cp.Problem(cp.Minimize(objective), [c.copy().set_label(name) for name, c in constraints.items()])


def said_of(problem):
    return no_slater_point(Model.of(problem, maximise=True, moving=False))


@pytest.mark.parametrize("name", WITHOUT)
def test_constraints_without_room_are_named(name):
    objective, constraints, blamed = WITHOUT[name]
    words = said_of(problem_of(objective, constraints))
    assert f"no feasible point was found strictly inside {' and '.join(blamed)}" in words
    assert ("together" in words) is False
    assert x.value is None


@pytest.mark.parametrize("name", WITH)
def test_nothing_is_said_where_there_is_room_or_none_is_needed(name):
    assert said_of(problem_of(*WITH[name])) == ""


def test_doors_say_why_they_do_not_decide():
    ray = problem_of(*WITHOUT["a ray"][:2])
    words = "no feasible point was found strictly inside ray"
    assert words in str(pc.dual(ray).holds())
    with pytest.raises(pc.errors.SolveError, match=words):
        pc.grade(ray, {"x": [0, 1]})
    face = problem_of(*WITHOUT["a face"][:2])
    undecided = pc.grade(face, {"X": np.zeros((2, 2))})
    assert (undecided.verdict, "strictly inside psd" in undecided.sentence) == ("undecided", True)
    face.solve("CLARABEL")
    found = pc.verify(face)
    assert (found.status, "strictly inside psd" in found.explain()) == ("undecided", True)


def test_a_multiplier_of_a_number_may_be_an_array_of_one():
    disc = problem_of(*WITHOUT["a point"][:2])
    assert pc.grade(disc, {"x": [0, 0]}, {"disc": 1e6}).values is True
