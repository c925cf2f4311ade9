"""The start of a path: what is read of a problem, first labels, and data for which these are optimal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.engine.start import Data, first_labels, shifted, without_inequalities
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP
from tests.oracles.exact import fractions

INF = np.inf


def problem(exact=False):
    """Columns: bounded, above only, free, fixed; rows: an equation, soft below, soft above, soft kink, hard."""
    P = np.diag([2.0, 1.0, 4.0, 1.0])
    A = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 0, 0, 1], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    q = np.array([[1.0, -2.0, 3.0, 0.5], [2.0, 0.0, 1.0, 0.5]])
    low = np.array([[-1.0, -INF, -INF, 2.0, 1.0, 3.0, -INF, -1.0, -9.0]]).repeat(2, axis=0)
    up = np.array([[1.0, 4.0, INF, 2.0, 1.0, INF, 5.0, -1.0, 9.0]]).repeat(2, axis=0)
    below, above = np.full((2, 2, 9), INF)
    below[:, [5, 7]] = 2.0, 1.5
    above[:, [6, 7]] = 3.0, 0.5
    given = P, A, q, low, up, below, above
    return ParametricQP(*(fractions(each) if exact and np.isfinite(each).all() else each for each in given))


def optimal(data, labels, values, multipliers, tol=1e-9):
    """Whether labels, values and multipliers are an optimum of the data at t = 0."""
    v, z = (np.array(each, dtype=float) for each in (values, multipliers))
    low, up, below, above = (np.array(each[0], dtype=float) for each in (data.low, data.up, data.below, data.above))
    n = data.problem.n
    P, A = (np.array(each, dtype=float) for each in (data.problem.P, data.problem.A))
    stationary = P @ v[:n] + np.array(data.q[0], dtype=float) - z[:n] - A.T @ z[n:]
    if np.abs(stationary).max() > tol:
        return False
    slope_up = np.where(data.soft_low, below, INF)
    slope_down = np.where(data.soft_up, above, INF)
    for i, label in enumerate(labels.tolist()):
        at_low, at_up = abs(v[i] - low[i]) <= tol, abs(v[i] - up[i]) <= tol
        free = not (data.has_low[i] or data.has_up[i])
        least = -slope_down[i] if label == UPPER or data.fixed[i] else 0.0
        most = slope_up[i] if label == LOWER or data.fixed[i] else 0.0
        good = {
            INSIDE: abs(z[i]) <= tol
            and (not data.has_low[i] or v[i] >= low[i] - tol)
            and (not data.has_up[i] or v[i] <= up[i] + tol),
            LOWER: (free and abs(z[i]) <= tol) or (at_low and least - tol <= z[i] <= most + tol),
            UPPER: at_up and least - tol <= z[i] <= most + tol,
            BELOW: abs(z[i] - below[i]) <= tol and v[i] <= low[i] + tol,
            ABOVE: abs(z[i] + above[i]) <= tol and v[i] >= up[i] - tol,
        }
        if not good[label]:
            return False
    return True


def test_infinite_bounds_and_slopes_are_masks_and_zeros():
    data = Data.of(problem())
    assert data.has_low.tolist() == [True, False, False, True, True, True, False, True, True]
    assert data.has_up.tolist() == [True, True, False, True, True, False, True, True, True]
    assert data.soft_low.tolist() == [False] * 5 + [True, False, True, False]
    assert data.soft_up.tolist() == [False] * 6 + [True, True, False]
    assert data.fixed.tolist() == [False, False, False, True, True, False, False, True, False]
    assert data.free.tolist() == [False, False, True, *[False] * 6]
    assert data.low[0].tolist() == [-1.0, 0.0, 0.0, 2.0, 1.0, 3.0, 0.0, -1.0, -9.0]
    assert data.up[1].tolist() == [1.0, 4.0, 0.0, 2.0, 1.0, 0.0, 5.0, -1.0, 9.0]
    assert data.below[0].tolist() == [0.0] * 5 + [2.0, 0.0, 1.5, 0.0]
    assert data.above[0].tolist() == [0.0] * 6 + [3.0, 0.5, 0.0]
    assert not data.exact
    assert Data.of(problem(exact=True)).exact


def test_a_slope_without_a_bound_is_no_soft_bound():
    given = problem()
    below = given.below.copy()
    below[:, 6] = 1.0  # the row has no lower bound
    assert not Data.of(replace(given, below=below)).soft_low[6]


def test_first_labels_put_variables_at_bounds_and_rows_where_these_put_them():
    # x = (-1, 4, 0, 2): rows 3, 1, 6, 3, 2, of which the last four are below 3, above 5, above -1, and inside.
    assert first_labels(Data.of(problem())).tolist() == [
        LOWER,
        UPPER,
        LOWER,
        LOWER,
        INSIDE,
        BELOW,
        ABOVE,
        ABOVE,
        INSIDE,
    ]
    given = problem()
    low, up = given.low.copy() if hasattr(given, "low") else given.lower.copy(), given.upper.copy()
    low[:, 7] = up[:, 7] = 3.0  # a kink where the row is
    kink = first_labels(Data.of(replace(given, lower=low, upper=up)))
    assert kink[7] == ABOVE
    low[:, 7] = up[:, 7] = 3.5
    assert first_labels(Data.of(replace(given, lower=low, upper=up)))[7] == BELOW


def test_without_inequalities_free_variables_and_equations_are_in_the_basis():
    data = Data.of(problem())
    labels = without_inequalities(data, Walk)
    assert labels[:4].tolist() == [LOWER, UPPER, INSIDE, LOWER]
    assert labels[4] == LOWER
    # x = (-1, 4, z, 2) with -1 + 4 + z = 1: z = -2.
    assert labels[5:].tolist() == [BELOW, ABOVE, ABOVE, INSIDE]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("start", ["first", "basis"])
def test_labels_are_optimal_at_the_beginning_of_the_line_and_it_ends_at_the_data(exact, draw, start):
    data = Data.of(problem())
    labels = first_labels(data) if start == "first" else without_inequalities(data, Walk)
    line = shifted(data, labels, Walk, draw)
    values, multipliers = (each[0] for each in Walk(line, labels).solve(0))
    assert optimal(line, labels, values, multipliers)
    for name in ("q", "low", "up", "below", "above"):
        np.testing.assert_array_equal(getattr(line, name)[1], getattr(data, name)[0], err_msg=name)
    for name in ("below", "above"):
        np.testing.assert_array_equal(getattr(line, name)[0], getattr(data, name)[0], err_msg=name)


@pytest.mark.parametrize("seed", range(40))
def test_any_labels_are_optimal_at_the_beginning(seed):
    rng = np.random.default_rng(seed)
    data = Data.of(problem())
    labels = first_labels(data)
    labels[0] = rng.choice([LOWER, UPPER, INSIDE])
    labels[1] = rng.choice([UPPER, INSIDE])
    labels[2] = rng.choice([LOWER, INSIDE])
    labels[4] = rng.choice([INSIDE, LOWER]) if labels[:3].tolist().count(INSIDE) else INSIDE
    labels[5], labels[6], labels[7] = (
        rng.choice([BELOW, INSIDE]),
        rng.choice([ABOVE, INSIDE]),
        rng.choice([ABOVE, BELOW]),
    )
    q = rng.normal(size=(2, 4)) * 3
    data = replace(data, q=q)
    line = shifted(data, labels, Walk, seed)
    values, multipliers = (each[0] for each in Walk(line, labels).solve(0))
    assert optimal(line, labels, values, multipliers), labels
    again = shifted(data, labels, Walk, seed)
    np.testing.assert_array_equal(again.q, line.q)
    np.testing.assert_array_equal(again.low, line.low)


def test_shifts_are_numbers_of_few_digits_in_fractions_too():
    from paretoclf.engine.start import _drawn

    exact, doubles = _drawn(3, 50, True), _drawn(3, 50, False)
    assert all(isinstance(each, Fraction) and 0.5 <= each < 4 and (16 * each).denominator == 1 for each in exact)
    assert (doubles >= 0.5).all()
    assert (doubles < 4.0).all()
    assert not np.mod(doubles * 2.0**16, 1.0).any()
    assert not np.array_equal(doubles, _drawn(4, 50, False))
