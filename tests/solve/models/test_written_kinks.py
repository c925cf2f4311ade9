"""Names and values of the terms of objectives that bend, as they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.models.written_kinks import WrittenKinks

W, V, LAM = cp.Variable(2, name="w"), cp.Variable((2, 2), name="V"), cp.Parameter(nonneg=True, name="lam", value=3.0)
HALF = (2 * W - 1).set_label("half")


@pytest.mark.parametrize(
    ("objective", "names"),
    [
        (
            cp.sum(cp.pos(W)) + cp.sum(cp.neg(W)),
            ["term 0 of pos(w)", "term 1 of pos(w)"] + [f"term {k} of neg(w)" for k in (0, 1)],
        ),
        (cp.norm1(V[:, 0]), ["term 0 of abs(V)", "term 1 of abs(V)"]),
        (cp.sum(cp.abs(V)), [f"term [{i}, {j}] of abs(V)" for i in (0, 1) for j in (0, 1)]),
        (cp.pos(W[0]) + cp.pos(W[1]) + cp.abs(W[0]), ["term 0 of pos(w)", "term 1 of pos(w)", "abs(w)"]),
        (cp.sum(cp.pos(W)) + cp.sum(cp.pos(-W)), [f"term {k} of pos(w), number {j}" for j in (0, 1) for k in (0, 1)]),
        (LAM * cp.sum(cp.pos(LAM * HALF)) + cp.sum(cp.abs(HALF)).set_label("all"), ["half[0]", "half[1]"] * 2),
        (cp.sum(cp.abs(HALF + 1)), ["term 0 of abs(w)", "term 1 of abs(w)"]),  # the label is of something else
        (cp.sum_squares(W) + cp.max(W) + cp.sum(cp.pos(cp.square(W) - 1)) + cp.sum(cp.maximum(W, 1, 2 * W)), []),
    ],
)
def test_entries_have_names(objective, names):
    point = {"w": np.array([0.25, 2.0]), "V": np.array([[1.0, -2.0], [3.0, 4.0]])}
    assert list(WrittenKinks.of(cp.Problem(cp.Minimize(objective)), [point]).names) == names


def test_values_are_those_of_the_expressions_and_of_rows_that_a_column_is_at_least():
    points = [{"w": np.array([0.25, 2.0])}, {"w": np.array([-1.0, 3.0])}]
    found = WrittenKinks.of(cp.Problem(cp.Minimize(cp.sum(cp.neg(HALF)) + cp.sum(cp.maximum(1, W)))), points)
    half = [[-0.5, -3.0], [3.0, 5.0]]
    np.testing.assert_array_equal(found.expressions, [*half, [-0.75, -2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(found.pieces[0], [[0.5, 3.0], [-3.0, -5.0], [1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(found.pieces[1], [[0.0, 0.0], [0.0, 0.0], [0.25, -1.0], [2.0, 3.0]])
    assert found.families.tolist() == [0, 0, 1, 1]
    assert found.labelled.tolist() == [True, True, False, False]
    assert W.value is None
