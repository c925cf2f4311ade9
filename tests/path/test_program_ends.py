"""Tests of `paretoclf.path.program_ends`: what is said where there is no optimum is what is proved, and no more."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path import program_ends
from paretoclf.problem.parametric_qp import Trace

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


def test_from_where_on_there_is_an_optimum_is_not_said_if_its_points_are_not_proved(monkeypatch):
    assert "there is one from t = 0.444445 on" in refused(10, 1)
    monkeypatch.setattr(program_ends, "prove_program", lambda *_: SimpleNamespace(passes=lambda: False))
    assert refused(10, 1).endswith("whether there is one at another t is not known")


def test_that_there_is_none_at_stop_is_not_said_if_no_ray_proves_it_there(monkeypatch):
    assert refused(10, 8).endswith("nor is there one at stop, or between")
    here, asked = program_ends._refutes, []
    Y, most = cp.Variable(2, name="y"), np.array([[1.0, 2.0], [2.0, 1.0]])
    rows = [most @ X <= 3, cp.sum(X) >= TH - 7, most @ Y <= 3, cp.sum(Y) >= 9 - TH]  # no x at 10, no y at 6, both at 8

    def at(line, status, ray, t):
        asked.append(t)
        return here(line, status, ray, t)

    monkeypatch.setattr(program_ends, "_refutes", at)
    assert refused(10, 6, rows).endswith("nor is there one at stop")
    assert asked == [1.0, 0.0]  # the second line is the first turned round
    monkeypatch.setattr(program_ends, "_refutes", lambda *_: False)
    assert refused(10, 6, rows).endswith("whether there is one at another t is not known")


def test_a_start_that_was_not_found_is_the_start():
    none = np.zeros((1, 1))
    found = Trace(np.zeros(1), np.zeros((0, 1), int), np.zeros((0, 2), int), none, none, "limit", exchanges=7)
    error = program_ends.no_start(None, found, None)
    assert isinstance(error, pc.DegeneratePathError)
    assert error.t == 0.0
