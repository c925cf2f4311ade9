"""Ranges of costs, right-hand sides and bounds, against optimal values in fractions."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.small_programs import value


def program(seed):
    """Small whole numbers: an LP or a QP within x >= 0, degenerate more often than not; rows may be copies."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    A, b = rng.integers(-2, 4, (m, n)).astype(float), rng.integers(0, 5, m).astype(float)
    if rng.random() < 0.3:
        A, b = np.vstack([A, A[:1]]), np.append(b, b[0])
    A, b = np.vstack([A, -np.eye(n)]), np.append(b, np.zeros(n))
    F = rng.integers(-2, 3, (n, n)).astype(float)
    P = F.T @ F + np.eye(n) if rng.random() < 0.4 else np.zeros((n, n))
    return P, rng.integers(-3, 4, n).astype(float), A, b


def fractions(*arrays):
    return [np.vectorize(Fraction, otypes=[object])(each).tolist() for each in arrays]


def check(row, move, at):
    """One row against the optimal values in fractions where its number is moved by so much."""
    here = move(Fraction(0))
    assert isinstance(here, Fraction)
    assert abs(float(here) - at) <= 1e-9 * (1 + abs(at))
    for side, price, bend, end in (
        (1, row.price, row.bend, row.upper - row.value),
        (-1, row.price_below, row.bend_below, row.value - row.lower),
    ):
        if end == 0.0:
            assert abs(price) == np.inf, row
            assert isinstance(move(Fraction(side, 10**6)), str), row
            continue
        far = 1e4 if end == np.inf else end
        for share in (1e-6, 0.3, 0.999):
            step = side * share * far
            found = move(Fraction(step))
            assert isinstance(found, Fraction), (row, step)
            told = float(here) + price * step + bend * step**2 / 2
            assert abs(float(found) - told) <= 1e-8 * (1 + abs(told) + abs(float(found))), (row, step)
        assert bool(row.enters_above if side > 0 else row.enters_below) == (end < np.inf)
        if end < np.inf:
            step = side * (1.01 * end + 0.01)  # V is convex or concave in each number: off it, it stays off
            found, told = move(Fraction(step)), float(here) + price * step + bend * step**2 / 2
            assert isinstance(found, str) or abs(float(found) - told) > 1e-8, (row, step)


def against_fractions(seed):
    """Every number of one program; None where it has no optimum."""
    P, q, A, b = program(seed)
    exact = fractions(P, q, A, b)
    there = value(*exact)
    qp = pc.QP(P, q, A, None, b)
    if isinstance(there, str):
        with pytest.raises(pc.errors.InputError, match=there):
            pc.ranges(qp, progress=False)
        return
    found = pc.ranges(qp, progress=False)
    assert len(found) == q.size + b.size

    def moved(which, i):
        def move(step):
            data = [list(each) for each in exact]
            data[which][i] += step
            return value(*data)

        return move

    for row in found:
        which = 1 if row.kind == "cost" else 3
        check(row, moved(which, row.index[0]), found.value)


@pytest.mark.parametrize("seed", [*range(30), 206])  # 206: labels change, and the value does not bend
def test_every_range_is_that_of_fractions(seed):
    against_fractions(seed)


def test_the_textbook_example_in_the_users_words():
    """Two goods: the prices and ranges of Chvatal-like tables, by hand."""
    x = cp.Variable(2, nonneg=True, name="x")
    rows = [(x[0] + x[1] <= 6).set_label("budget"), (4 >= x[0]).set_label("cap")]  # noqa: SIM300 -- the constant stands on the left
    found = pc.ranges(cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1]), rows), progress=False)
    assert found.value == pytest.approx(16)
    told = {(r.name, r.kind, r.index): (r.value, r.price_below, r.price, r.lower, r.upper) for r in found}
    inf = np.inf
    assert told["budget", "right hand side", None] == pytest.approx((6, 2, 2, 4, inf))
    assert told["cap", "bound", None] == pytest.approx((4, 1, 1, 0, 6))  # written on the left
    assert told["x", "cost", (0,)] == pytest.approx((3, 4, 4, 2, inf))
    assert told["x", "cost", (1,)] == pytest.approx((2, 2, 2, 0, 3))
    assert told["x", "bound", (0,)] == pytest.approx((0, 0, 0, -inf, 4))
    assert told["x", "bound", (1,)] == pytest.approx((0, 0, 0, -inf, 2))
    frame = found.to_frame()
    columns = ["name", "index", "kind", "value", "price_below", "price", "lower", "upper"]
    assert list(frame.columns) == [*columns, "enters_below", "enters_above"]
    by_name = {row.name: row for row in found["budget"]}
    assert "x[1]" in by_name["budget"].enters_below
    with pytest.raises(pc.errors.InputError, match="one of x, budget, cap, got 'rest'"):
        found["rest"]


def test_a_degenerate_corner_has_two_prices():
    """Three lines through one point: CVXPY has one multiplier of many, the value two slopes."""
    x = cp.Variable(2, name="x")
    rows = [(x[0] <= 1).set_label("a"), (x[1] <= 1).set_label("b"), (x[0] + x[1] <= 2).set_label("c")]
    found = pc.ranges(cp.Problem(cp.Minimize(-2 * x[0] - x[1]), rows), progress=False)
    told = {row.name: (row.price_below, row.price) for row in found if row.kind != "cost"}
    assert told["c"] == pytest.approx((-1, 0))
    assert told["a"] == pytest.approx((-2, -1))
    assert told["b"] == pytest.approx((-1, 0))


def test_an_equation_that_says_another_twice_can_not_be_moved():
    x = cp.Variable(2, nonneg=True, name="x")
    rows = [(x[0] + x[1] == 1).set_label("one"), (2 * x[0] + 2 * x[1] == 2).set_label("two")]
    (row,) = pc.ranges(cp.Problem(cp.Minimize(x[0]), rows), progress=False)["two"]
    assert (row.lower, row.value, row.upper) == (2, 2, 2)
    assert (row.price_below, row.price) == (-np.inf, np.inf)
    assert "infeasible (" in row.enters_above


def test_the_price_of_a_quadratic_program_is_an_affine_function():
    """min x^2 / 2 with x >= b: V = b^2 / 2 for b > 0."""
    x = cp.Variable(name="x")
    (row,) = pc.ranges(cp.Problem(cp.Minimize(cp.square(x) / 2), [(x >= 2).set_label("floor")]), progress=False)[
        "floor"
    ]
    assert (row.value, row.price, row.bend, row.lower, row.upper) == pytest.approx((2, 2, 1, 0, np.inf))
    assert (row.kind, row.index) == ("bound", None)


def test_the_result_does_not_depend_on_the_processes():
    P, q, A, b = program(7)
    qp = pc.QP(P, q, A, None, b + 1)
    assert repr(pc.ranges(qp, progress=False)) == repr(pc.ranges(qp, n_jobs=2, progress=False))


def test_what_is_no_program_is_refused():
    x = cp.Variable(name="x")
    with pytest.raises(pc.errors.InputError, match="linear program, got norm"):
        pc.ranges(cp.Problem(cp.Minimize(cp.norm(cp.hstack([x, 1]), 2))), progress=False)
    with pytest.raises(pc.errors.InputError, match=r"problem must be a cvxpy\.Problem"):
        pc.ranges(3)
    lam = cp.Parameter(name="lam")
    with pytest.raises(pc.errors.InputError, match="parameter lam must have a value"):
        pc.ranges(cp.Problem(cp.Minimize(cp.square(x - lam))))
    with pytest.raises(pc.errors.InputError, match="cross: at least 1 and at most 0"):
        pc.ranges(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
