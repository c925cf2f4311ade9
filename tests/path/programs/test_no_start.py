"""Tests of `paretoclf.path.programs.no_start`: where a line has an optimum, in fractions, and traced as it is said."""

from __future__ import annotations

import re
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.programs import no_start
from paretoclf.path.programs.optimum import standing
from paretoclf.solve.sources.problem_line import program_line

X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
NO_ROOM = [X <= 3, cp.sum(X) >= TH]


def problem_of(rows=NO_ROOM, objective=None):
    return cp.Problem(cp.Minimize(cp.sum_squares(X) if objective is None else objective), rows)


def refused(start, stop, rows=NO_ROOM, objective=None):
    """What is said of a problem that has no optimum at its start."""
    with pytest.raises(pc.InputError) as error:
        pc.trace(problem_of(rows, objective), {TH: start}, {TH: stop})
    return str(error.value)


@pytest.mark.parametrize(("start", "stop"), [(10.0, 1.0), (8.0, 0.7), (7.123, -5.5), (-10.0, 1.0), (1e7, -3.0)])
def test_from_where_on_there_is_an_optimum_is_said_in_numbers_from_which_there_is_one(start, stop):
    """x >= -3 and x <= 3 in both entries: sums up to 6 and down to -6 have points. Six digits are not rounded out."""
    said = refused(start, stop, [X <= 3, X >= -3, cp.sum(X) == TH])
    number = float(re.search(r"there is one from t = \S+ on \(th = (\S+)\): start there", said)[1])
    assert pc.trace(
        cp.Problem(cp.Minimize(cp.sum_squares(X)), [X <= 3, X >= -3, cp.sum(X) == TH]), {TH: number}, {TH: 0}
    )
    assert abs(number) <= 6.0
    assert number == pytest.approx(np.sign(start) * 6.0, abs=1.1e-5 if abs(start) > 1e6 else 0.0)


BOTH = np.array([[1.0, 2.0], [2.0, 1.0]])
Y = cp.Variable(2, name="y")
INSIDE = {
    "rows": (10, 6, [BOTH @ X <= 3, cp.sum(X) >= TH - 7, BOTH @ Y <= 3, cp.sum(Y) >= 9 - TH], None, (9, 7)),
    "bounds that cross": (0, 10, [X >= 3 - TH, X <= 2, X[1] <= 6 - TH, X[1] >= 0], None, (1, 6)),
    "an objective": (-1, 4, [X >= 0], TH * X[0] + (3 - TH) * X[1], (0, 3)),
    "rows, and then an objective": (0, 9, [X >= 2 - TH, X[0] <= 1], TH * X[0] + (4 - TH) * X[1], (1, 4)),
    "thirds": (0, 1, [X[0] >= 1, X[0] <= 3 * TH, X[1] == 0, 3 * X[0] <= 5 - 3 * TH], None, (1 / 3, 2 / 3)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_an_inner_part_of_the_line_is_named_and_can_be_traced(name):
    start, stop, rows, objective, ends = INSIDE[name]
    said = refused(start, stop, rows, objective)
    number = r"t = (\S+) \(th = (\S+)\)"
    told = [float(each) for each in re.search(f"there is one from {number} to {number}: trace it there", said).groups()]
    assert told[1::2] == pytest.approx(ends, abs=1e-5)
    assert told[::2] == pytest.approx([(end - start) / (stop - start) for end in ends], abs=2e-6)
    path = pc.trace(problem_of(rows, objective), {TH: told[1]}, {TH: told[3]})
    assert path.status == "end"
    further = np.sign(stop - start) * 2e-5
    for beyond in (told[1] - further, told[3] + further):
        with pytest.raises(pc.InputError):
            pc.trace(problem_of(rows, objective), {TH: beyond}, {TH: beyond - further / 10})


def test_where_one_point_of_the_line_has_an_optimum_it_is_named():
    rows = [X[0] >= 2, X[0] <= TH, X[0] <= 4 - TH, X[1] == 0]
    assert refused(0, 8, rows).endswith("there is one at about t = 0.25 (th = 2), and nowhere else: solve it there")


def test_bounds_that_cross_all_along_have_no_optimum_anywhere():
    assert "cross: at least 3" in (said := refused(0, 1, [X >= 3 + TH, X <= 2]))
    assert said.endswith("nor is there one at stop, or between")


def test_where_nothing_moves_no_place_is_named():
    line = standing(program_line(problem_of([X >= 3, X <= 2 + TH]), {TH: 0.0}, {TH: 1.0}))
    refused_one = pc.InputError("it has none")
    assert no_start.with_a_place(refused_one, line, ({}, {})) is refused_one


def test_from_where_on_there_is_an_optimum_is_not_said_if_it_is_not_proved(monkeypatch):
    assert "there is one from t = 0.444445 on" in refused(10, 1)
    monkeypatch.setattr(no_start, "prove_program", lambda *_: SimpleNamespace(passes=lambda: False))
    assert refused(10, 1).endswith("whether there is one at another t is not known")
    assert refused(10, 8).endswith("nor is there one at stop, or between")  # the ray of the start proves it
