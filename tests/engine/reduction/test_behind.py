"""Rows behind the sides of items: what their slacks say beside the labels of an engine, and whose rows they are."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction.behind import RowsBehind
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.path.base.program_events import RowStates
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER
from paretoclf.problem.qp import QP

T = cp.Parameter(name="t", nonneg=True)


def lasso(rng):
    w = cp.Variable(4, name="w")
    A, y = rng.normal(size=(9, 4)), 3 * rng.normal(size=9)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) + T * cp.norm1(w)), [w <= 0.8])


def staircase(rng):
    """Costs of several kinks each, more than one of which a variable carries."""
    x, centre = cp.Variable(3, name="x"), 4 * rng.normal(size=3)
    steps = cp.maximum(x - 1, 2 * x - 3, 5 * x - 12, -x / 2, -4 * x - 8)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - centre) + T * cp.sum(steps)))


def tube(rng):
    """Slacks of an equation on both sides, with prices of their own."""
    w, up, down = cp.Variable(2, name="w"), cp.Variable(6, name="up"), cp.Variable(6, name="down")
    A, y = rng.normal(size=(6, 2)), 2 * rng.normal(size=6)
    rows = [up - down == y - A @ w, up >= 0, down >= 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + T * cp.sum(up) + 2 * T * cp.sum(down)), rows)


def ranges(rng):
    """Rows of opposite directions, which are joined, and a column that pays for one."""
    x, over = cp.Variable(3, name="x"), cp.Variable(name="over", nonneg=True)
    a, c = rng.normal(size=3), rng.normal(size=3)
    rows = [a @ x <= 0.3, a @ x >= -0.2, cp.sum(x) >= T - over, x <= 2]
    return cp.Problem(cp.Minimize(cp.sum_squares(x - c) + 1.5 * over), rows)


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("made", [lasso, staircase, tube, ranges])
def test_slacks_say_what_labels_say(made, seed):
    """Data in general position: no item is at its bound by chance."""
    path = pc.trace(made(np.random.default_rng(seed)), {T: 0.1}, {T: 12.0}, progress=False)
    behind = RowsBehind.of(path.points.way)
    rows = behind.used
    room = np.zeros((path.program.m, path.t.size - 1), dtype=bool)
    room[rows] = RowStates(path).of(rows)[0]
    beyond, at = behind.states(np.arange(behind.items), room)
    found = np.select([beyond[0], beyond[1], at[0], at[1]], [BELOW, ABOVE, LOWER, UPPER], INSIDE).T
    made_sides = np.zeros((2, behind.items), dtype=bool)
    made_sides[behind.sides, behind.owners] = True
    labels = np.where(path.labels < 0, made_sides[0] * path.labels, made_sides[1] * path.labels)
    kinks = path.kinks > 0  # at a kink both sides are one
    np.testing.assert_array_equal(
        np.where(kinks & (abs(found) == 1), 1, found), np.where(kinks & (abs(labels) == 1), 1, labels)
    )
    assert (labels[1:] != labels[:-1]).any()


def test_sides_of_others_are_those_that_some_row_of_theirs_makes():
    """x0 between two rows, the second of them the user's; x1 without a bound; a row of both."""
    A, low, high = [[2.0, 0.0], [1.0, 1.0]], [3.0, -np.inf], [4.0, 9.0]
    line = line_of(QP(np.eye(2), [1.0, 1.0], A, low, high), {}, {})
    behind = RowsBehind.of(reduce(line))
    assert [line.row_name(row) for row in range(line.m)] == ["y[0]", "y[1]", "y[0]"]
    assert behind.others(np.zeros(3, dtype=bool)).tolist() == [[True, False, False], [True, False, True]]
    assert behind.others(np.array([True, False, False])).tolist() == [[True, False, False], [False, False, True]]
    assert not behind.others(np.ones(3, dtype=bool)).any()
    upper = behind.only(behind.others(np.array([False, True, True])))
    assert (upper.sides.tolist(), upper.owners.tolist(), upper.used.tolist()) == ([1], [0], [0])
