"""Whose each inequality is, on which side, and the words for its states."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.path.base.user_rows import LOWER, PRICED, UPPER, UserRows
from paretoclf.solve.sources.problem_line import program_line

INF = np.inf


def sides_of(rows):
    """Names and sides, as a set."""
    return {(rows.name(int(owner)), int(side)) for owner, side in zip(rows.owners, rows.sides, strict=True)}


def compiled(objective, constraints, p):
    return UserRows.of(program_line(cp.Problem(objective, constraints), {p: 1}, {p: 2}))


def test_rows_of_arrays_have_two_sides_and_one_of_one_variable_is_its_bound():
    A = [[1.0, 1.0], [-2.0, 0.0], [0.0, 1.0], [1.0, 2.0]]
    rows = UserRows.of(line_of(pc.QP(None, [1, 1], A, [0, -4, -INF, 3], [2, INF, 5, 3]), {}, {}))
    assert sides_of(rows) == {("y[0]", 1), ("y[0]", -1), ("x[0]", 1), ("x[1]", 1)}
    assert rows.rows.size == 4  # y[3] is an equation
    assert not rows.hidden.any()
    assert [rows.place(row) for row in range(5)] == [-1, 0, 1, 2, 3]


def test_of_several_on_one_side_only_what_belongs_to_the_variable_is_its_own():
    x, p = cp.Variable(2, name="x", bounds=[0, 5]), cp.Parameter(name="p")
    rows = compiled(cp.Minimize(cp.sum(x)), [(x[0] <= p).set_label("cap"), (3 * x[1] >= 1).set_label("least")], p)
    assert sides_of(rows) == {(f"x[{k}]", side) for k in (0, 1) for side in (-1, 1)} | {("cap", 0), ("least", 0)}
    names = ["x"], ["row", "bound of x", "other"]
    qp = pc.QP(None, [1], [[1.0], [1.0], [2.0]], [1, 0, -INF], [INF, 9, 30], names=names)
    assert sides_of(UserRows.of(line_of(qp, {}, {}))) == {("row", -1), ("x", 1), ("x", -1), ("other", 1)}


def test_columns_that_cvxpy_adds_hide_the_slack_of_a_row():
    x, p = cp.Variable(2, name="x"), cp.Parameter(name="p")
    rows = compiled(cp.Minimize(cp.sum_squares(x)), [(cp.norm1(x) <= p).set_label("size"), cp.sum(x) >= 1], p)
    hidden = {rows.name(int(owner)) for owner in rows.owners[rows.hidden]}
    assert hidden == {"size"}
    assert {name for name, _ in sides_of(rows)} == {"size", "constraint 1"}
    size, other = (next(int(o) for o in rows.owners if rows.name(int(o)) == name) for name in ("size", "constraint 1"))
    assert [rows.words(size, state) for state in (0, UPPER | PRICED)] == ["without a price", "tight"]
    assert [rows.words(other, state) for state in (0, UPPER, UPPER | PRICED)] == [
        "free",
        "tight without a price",
        "tight",
    ]


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (0, "free"),
        (LOWER | PRICED, "at its lower bound"),
        (UPPER | PRICED, "at its upper bound"),
        (UPPER, "at its upper bound without a price"),
        (LOWER | UPPER | PRICED, "at both its bounds"),
        (LOWER | UPPER, "at both its bounds without a price"),
    ],
)
def test_words_of_a_row_with_sides(state, word):
    rows = UserRows.of(line_of(pc.QP(None, [1, 1], [[1, 1]], [0], [1]), {}, {}))
    assert rows.words(int(rows.owners[0]), state) == word
