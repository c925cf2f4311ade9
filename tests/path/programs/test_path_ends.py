"""Tests of `paretoclf.path.programs.path_ends`: what is said where there is no optimum is proved, and no more."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.programs import no_start, path_ends
from paretoclf.solve.sources.problem_line import program_line

X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
NO_ROOM = [X <= 3, cp.sum(X) >= TH]


def refused(start, stop, rows=NO_ROOM, objective=None):
    """What is said of a problem that has no optimum at its start."""
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X) if objective is None else objective), rows)
    with pytest.raises(pc.InputError) as error:
        pc.trace(problem, {TH: start}, {TH: stop})
    return str(error.value)


@pytest.mark.parametrize("sign", [-1, 1])
def test_who_has_a_part_in_a_ray_is_named_whichever_way_it_goes(sign):
    said = refused(1, 2, [sign * X <= 0], sign * TH * cp.sum(X))
    assert "the objective has no bound along x)" in said
    mass, cap = (sign * cp.sum(X) == sign * TH).set_label("mass"), (X <= 1).set_label("cap")
    assert "no point satisfies mass, cap)" in refused(3, 4, [cap, mass])


S, Y = cp.Parameter(name="s"), cp.Variable(name="y")
#: Minimise (1 - s) x and something of y: beyond s = 1 a direction improves, and beyond s = 2 no point is feasible.
AHEAD = [(X >= 0).set_label("low"), (Y >= S).set_label("up"), (Y <= 2).set_label("cap")]


def of_y(kind):
    """An objective that has an exact path, or one that has none."""
    more = Y if kind == "exact" else cp.norm2(cp.hstack([Y - 1, 1]))
    return cp.Problem(cp.Minimize((1 - S) * cp.sum(X) + more), AHEAD)


@pytest.mark.parametrize("kind", ["exact", "within eps"])
def test_a_direction_proves_no_more_than_that_there_is_no_optimum(kind):
    how = {} if kind == "exact" else {"eps": 1e-2}
    path = pc.trace(of_y(kind), {S: 0.0}, {S: 4.0}, progress=False, **how)
    assert path.beyond.proof.passes()
    assert not path.beyond.feasible
    assert path.beyond.verdict == "no optimum"
    assert "(s = 1) from any point that is feasible the objective improves for ever, along x" in path.beyond.explain()
    assert "s 0 to 1, no optimum beyond" in repr(path)
    assert "unbounded" not in repr(path)
    with pytest.raises(pc.InputError, match=r"where the path ends: no optimum beyond .*\(x\)"):
        path.at(0.9)
    S.value = 3.0
    assert of_y("exact").solve("CLARABEL") == np.inf  # infeasible there


@pytest.mark.parametrize("kind", ["exact", "within eps"])
def test_where_only_the_objective_moves_it_is_unbounded(kind):
    how = {} if kind == "exact" else {"eps": 1e-2}
    more = 0.0 if kind == "exact" else cp.norm2(X - 1)
    path = pc.trace(cp.Problem(cp.Minimize((1 - TH) * cp.sum(X) + more), [X >= 0]), {TH: 0.0}, {TH: 4.0}, **how)
    assert path.beyond.verdict == "unbounded"
    assert "the objective improves for ever, along x" in path.beyond.explain()
    assert "any point that is feasible" not in path.beyond.explain()
    assert "unbounded beyond" in repr(path)


def test_a_start_without_an_optimum_is_unbounded_only_with_a_feasible_point(monkeypatch):
    said = refused(1, 2, [X <= 0], TH * cp.sum(X))
    assert "where it is unbounded (the objective has no bound along x)" in said
    monkeypatch.setattr(no_start, "has_points", lambda line: False)
    said = refused(1, 2, [X <= 0], TH * cp.sum(X))
    assert "where there is none (from any point that is feasible the objective improves for ever, along x)" in said
    assert "unbounded" not in said


@pytest.mark.parametrize(
    ("rows", "points"),
    [([X <= 0], True), ([X <= 0, cp.sum(X) >= TH], False), ([X <= 0, cp.sum(X) >= 1 - 2 * TH], True), (NO_ROOM, True)],
)
def test_points_are_those_of_the_start(rows, points):
    """TH is 1 at the start and 9 at the end: the objective has no bound, and some rows have a point at one of them."""
    line = program_line(cp.Problem(cp.Minimize(-TH * X[0]), rows), {TH: 1.0}, {TH: 9.0})
    assert path_ends.has_points(line) is points
