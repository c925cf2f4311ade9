"""Items as rows: the program with rows has the optimum, the value and the multipliers of the one with items."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.problem.parametric_qp import ParametricQP

INF = np.inf


def at_both(numbers):
    """The same at both ends."""
    return np.tile(np.asarray(numbers, dtype=float), (2, 1))


#: Five items, x0, x1, x0 + x1, x0 - x1 and x1 again: soft on both sides, hard below, soft above, an equation that may
#: be missed at a price, one that may not.
LOWER = [-1.0, -2.0, -INF, 0.25, 1.5]
UPPER = [1.0, INF, 0.75, 0.25, 1.5]
BELOW = [2.0, INF, INF, 3.0, INF]
ABOVE = [4.0, INF, 5.0, 0.5, INF]
A = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 1.0]])


def items(sparse=False):
    """The problem with these items; a price and a bound differ at the end."""
    lower, above = at_both(LOWER), at_both(ABOVE)
    lower[1, 0], above[1, 2] = -0.5, 7.0
    P, rows = np.diag([1.0, 2.0]), A
    given = (sp.csr_array(P), sp.csr_array(rows)) if sparse else (P, rows)
    return ParametricQP(*given, at_both([1.0, -1.0]), lower, at_both(UPPER), at_both(BELOW), above, constant=[3.0, 4.0])


def paid(problem, x, end):
    """The objective with items, by its definition; infinite where a hard bound is left."""
    v = np.concatenate([x, A @ x])
    low, high = np.maximum(problem.lower[end] - v, 0.0), np.maximum(v - problem.upper[end], 0.0)
    below, above = problem.below[end], problem.above[end]
    cost = sum(price * off for price, off in zip([*below, *above], [*low, *high], strict=True) if off > 0)
    return 0.5 * x @ np.diag([1.0, 2.0]) @ x + problem.q[end] @ x + cost + [3.0, 4.0][end]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_with_a_column_for_each_excess_cost_what_items_do(sparse):
    """The least that a point with these x costs, by the rows, is what the items charge."""
    problem = items(sparse)
    rows = RowsOfItems.of(problem)
    line, rng = rows.hard, np.random.default_rng(0)
    assert (rows.equations.tolist(), rows.above.tolist(), rows.below.tolist()) == ([4], [0, 2, 3], [0, 1, 3])
    assert rows.alone.tolist() == [False, True, True, False, False]
    assert line.equations == 1
    for x0 in rng.uniform(-4, 4, 20):
        x = np.array([x0, 1.5])
        for end in (0, 1):
            over = rows.line.A @ x - rows.line.b[end]
            assert over[0] == 0.0
            soft = np.isfinite(rows.prices[0])
            excess = np.maximum(over[soft], 0.0)
            whole = np.concatenate([x, excess])
            assert np.all(line.A @ whole <= line.b[end] + 1e-12)
            assert line.value(whole, end) == pytest.approx(paid(problem, x, end), rel=1e-12)


def test_one_without_soft_bounds_stays_as_it_is():
    hard = ParametricQP(np.eye(1), np.zeros((0, 1)), at_both([1.0]), at_both([0.0]), at_both([1.0]),
                        at_both([INF]), at_both([INF]))  # fmt: skip
    rows = RowsOfItems.of(hard)
    assert rows.hard is rows.line


def test_multipliers_of_items_are_those_of_their_rows():
    """A positive one is of the lower bound. Two bounds split one by its sign, a single one keeps a wrong sign."""
    rows = RowsOfItems.of(items())
    y = np.array([[0.5, 0.75, -2.0, -0.25, 4.0], [-0.5, -0.75, 2.0, 0.25, -4.0]])
    z = rows.multipliers(y.copy())
    # The equation; upper bounds of items 0, 2, 3; lower bounds of items 0, 1, 3.
    np.testing.assert_array_equal(z[0], [-4.0, 0.0, 2.0, 0.25, 0.5, 0.75, 0.0])
    np.testing.assert_array_equal(z[1], [4.0, 0.5, -2.0, 0.0, 0.0, -0.75, 0.25])
    for own, back in zip(z, y, strict=True):
        np.testing.assert_array_equal(rows.line.readings["y"].of(own), back)
        pulled = back[:2] + A.T @ back[2:]
        np.testing.assert_allclose(rows.line.A.T @ own, -pulled, atol=1e-15)
