"""Ranges of costs, right-hand sides and bounds, against optimal values in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import paretoclf as pc
import paretoclf.path.sensitivity.ranges as ranges_module
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


INF = np.inf
#: Costs, rows and their sides; x >= 0. In doubles a vertex of the first three leaves residuals. In the others a basis
#: leaves out an equation that needs its inequalities.
TIED = {
    "packing": ([-4, -2, -2], [[1, 1, 1], [3, 1, 1], [2, 1, 3], [0, 3, 2]], [-INF] * 4, [3, 5, 4, 6]),
    "mixed": ([3, 2, 4], [[2, 0, 3], [3, -1, 3], [-2, -2, 1]], [3, -INF, -1], [3, 2, -1]),
    "open": ([-1, 0, -2], [[1, -2, 0], [1, 1, -1], [2, 1, 2], [0, 3, -1]], [-2, 0, -INF, 2], [-2, 0, 3, INF]),
    "equations": ([2, 4, 3], [[2, 2, 1], [1, 3, -1]], [4, 2], [4, 2]),
    "fixed": ([4, 2], [[-1, 0], [3, -2], [-1, 1], [0, 1]], [-1, 3, -1, -INF], [-1, 3, INF, 2]),
    "at zero": ([1, 2, 1], [[0, 1, 1], [0, 3, 0]], [0, 0], [0, 0]),
    "one way": ([-1, 1], [[-2, 0], [2, 2], [0, -2]], [0, 2, -INF], [0, 2, -2]),
    "twice": ([2, 2, 0], [[1, 3, -1], [1, 3, 0]], [-1, 0], [-1, 0]),
}


@pytest.mark.parametrize("name", TIED)
def test_residuals_and_equations_that_are_left_out_end_no_range(name):
    """Each end is that of optimal values by HiGHS, where vertices of small integers are degenerate."""
    q, A, low, high = (np.array(each, dtype=float) for each in TIED[name])
    n = q.size
    A, low, high = np.vstack([A, np.eye(n)]), np.append(low, np.zeros(n)), np.append(high, np.full(n, INF))
    found = pc.ranges(pc.QP(None, q, A, low, high), progress=False)
    for row in found:

        def move(step, row=row):
            costs, sides = q.copy(), np.stack([low, high])
            moved = costs if row.kind == "cost" else sides
            moved[..., row.index[0]] += float(step)  # an infinite side stays
            least = milp(costs, constraints=LinearConstraint(A, *sides), bounds=Bounds(-INF, INF))
            return Fraction(least.fun) if least.success else least.message

        check(row, move, found.value)
        assert all(price == 0.0 or abs(price) > 1e-9 for price in (row.price, row.price_below)), row


def test_a_price_that_is_rounding_is_zero():
    """x[2] is 0 at the one optimum (1, 2, 0), of which a vertex in doubles has 7e-17; the row is worth nothing more."""
    costs, A, _, b = (np.array(each, dtype=float) for each in TIED["packing"])
    x, side = cp.Variable(3, nonneg=True, name="x"), cp.Parameter(name="side", value=4.0)
    most = cp.Problem(cp.Minimize(costs @ x), [A[[0, 1, 3]] @ x <= b[[0, 1, 3]], A[2] @ x <= side])
    assert [(row.value, row.lower, row.upper) for row in pc.unique(most, of="x[2]")] == [(0.0, 0.0, 0.0)]
    assert [row.final for row in pc.ranges(most, of="x[2]", progress=False) if row.kind == "cost"] == [0.0]
    assert pc.derivatives(most, {side: 1.0}).right.value == 0.0


@pytest.mark.parametrize("small", [1e-9, 1e-6])
def test_prices_that_differ_by_little_are_two(small):
    """The least x0 + (1 + small) x1 with x0 + x1 >= b and x0 <= 1: the price grows by small at b = 1."""
    A = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    qp = pc.QP(None, [1.0, 1.0 + small], A, [1.0, -INF, 0.0, 0.0], [INF, 1.0, INF, INF])
    row = pc.ranges(qp, of="y[0]", progress=False).rows[0]
    assert (row.price, row.price_below) == pytest.approx((1.0 + small, 1.0), rel=1e-13)
    cheap = pc.QP(None, [small, 1.0], A, [0.5, -INF, 0.0, 0.0], [INF, 1.0, INF, INF])
    row = pc.ranges(cheap, of="y[0]", progress=False).rows[0]
    assert (row.price, row.upper) == pytest.approx((small, 1.0), rel=1e-9)


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


def plain_program(seed, few=False):
    """As above, in sixteenths: no ties; ``few`` has less rows than columns, and a curved objective."""
    rng = np.random.default_rng(seed)
    n, m = (3, 1) if few else (int(rng.integers(2, 4)), 2)
    A, b = rng.integers(-40, 64, (m, n)) / 16, rng.integers(1, 80, m) / 16
    if not few:
        A, b = np.vstack([A, -np.eye(n)]), np.append(b, -rng.integers(0, 9, n) / 64)
    F = rng.integers(-20, 21, (n, n)) / 16
    P = F.T @ F + np.eye(n) if few or rng.random() < 0.5 else np.zeros((n, n))
    return P, rng.integers(-50, 51, n) / 16, A, b


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_one_basis_gives_every_range(seed, few, monkeypatch):
    """Without a tie no path is traced; and what the basis says is so inside, at and beyond the ends."""
    monkeypatch.setattr("tests.path.sensitivity.test_ranges.program", partial(plain_program, few=few))
    monkeypatch.setattr("paretoclf.path.sensitivity.ranges.beside", None)
    against_fractions(seed)


def test_without_rows_every_cost_has_its_parabola():
    """The least x0^2 + 2 x1^2 + x0 - x1: V = -q0^2 / 4 - q1^2 / 8."""
    first, second = pc.ranges(pc.QP(np.diag([2.0, 4.0]), [1.0, -1.0]), progress=False)
    assert (first.price_below, first.price, first.bend, first.lower, first.upper) == (-0.5, -0.5, -0.5, -np.inf, np.inf)
    assert (second.price_below, second.price, second.bend) == (0.25, 0.25, -0.25)


@pytest.mark.parametrize("twin", [False, True])
@pytest.mark.parametrize("far", [1e5, 1e7, 1e9])
def test_a_bound_far_away_ends_a_range(far, twin):
    """A floor can be raised to the cap, and lowered to where another row keeps the value; by a basis, and by paths."""
    x, y = cp.Variable(name="x"), cp.Variable(2, name="y")
    rows = [(x >= 1).set_label("floor"), (x <= far).set_label("cap"), (x + y[0] >= -far).set_label("both"), y >= -far]
    cost = x + y[0] if twin else x + y[0] + y[1]  # y[1] is anywhere, or not
    (floor,) = pc.ranges(cp.Problem(cp.Minimize(cost), [*rows, y <= far]), of="floor", progress=False)
    assert (floor.price_below, floor.price) == pytest.approx((1, 1))
    assert (floor.lower, floor.upper) == pytest.approx((0, far), abs=1e-6)
    assert floor.enters_above == "infeasible (floor, cap)"


def test_where_nothing_happens_there_is_no_end():
    """Two floors at one height, and a bound far away that has nothing to do with them."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    rows = [(x >= 1).set_label("floor"), (x >= 1).set_label("other"), y >= 1e7]
    found = pc.ranges(cp.Problem(cp.Minimize(x + y), rows), progress=False)
    for name in ("floor", "other"):
        (row,) = found[name]
        assert (row.price_below, row.price, row.lower, row.upper) == pytest.approx((0, 1, -np.inf, np.inf))
        assert (row.enters_below, row.enters_above) == ("", "")


def test_a_price_without_a_bound_has_the_sign_of_the_value():
    """The least q x0 + x1 on x >= 0 is -inf where q < 0: V falls as q does. Of a maximum it grows."""
    row = next(iter(pc.ranges(pc.QP(None, [0.0, 1.0], np.eye(2), [0.0, 0.0], None), progress=False)))
    assert (row.price_below, row.price, row.lower) == (np.inf, 0, 0)
    assert row.enters_below == "unbounded (x)"
    most = pc.QP(None, [0.0, -1.0], np.eye(2), [0.0, 0.0], None, maximise=True)
    row = next(iter(pc.ranges(most, progress=False)))
    assert (row.price_below, row.price, row.upper) == (0, np.inf, 0)


def shipping(supply, demand):
    """A transport problem whose equations say one of themselves twice."""
    flow = cp.Variable((2, 3), nonneg=True, name="flow")
    cost = np.array([[4.0, 1.0, 6.5], [2.0, 5.0, 3.25]])
    rows = [(cp.sum(flow, axis=1) == supply).set_label("supply"), (cp.sum(flow, axis=0) == demand).set_label("demand")]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, flow))), rows)


def test_equations_that_depend_on_each_other_can_not_be_moved_alone(monkeypatch):
    monkeypatch.setattr("paretoclf.path.sensitivity.ranges.beside", None)
    found = pc.ranges(shipping([3.0, 4.5], [2.0, 2.25, 3.25]), progress=False)
    for row in [*found["supply"], *found["demand"]]:
        assert (row.price_below, row.price, row.lower, row.upper) == (-np.inf, np.inf, row.value, row.value)
        assert row.enters_above == row.enters_below == "infeasible (supply, demand)"
    costs = {row.index: (row.price, row.lower, row.upper) for row in found["flow"] if row.kind == "cost"}
    # flows 0, 2.25, .75 and 2, 0, 2.5: the cycle costs 4 - 6.5 + 3.25 - 2 = -1.25 less than nothing, see below
    x = np.array([[0.0, 2.25, 0.75], [2.0, 0.0, 2.5]])
    reduced = -1.25
    if reduced < 0:  # flow[0, 0] enters: .75 of it
        x += 0.75 * np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, 1.0]])
    assert [price for price, *_ in costs.values()] == pytest.approx(x.ravel().tolist())
    assert costs[0, 2][1:] == pytest.approx((6.5 + reduced, np.inf))  # it is not used down to there


def test_only_what_is_asked_for_is_looked_at():
    x = cp.Variable(2, nonneg=True, name="x")
    rows = [x[0] + x[1] <= 6, (x[0] <= 4).set_label("cap")]
    problem = cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1]), rows)
    every = pc.ranges(problem, progress=False)
    assert pc.ranges(problem, of=x, progress=False).rows == every["x"].rows
    assert pc.ranges(problem, of="cap", progress=False).rows == every["cap"].rows
    both = pc.ranges(problem, of=[rows[0], x], progress=False)
    assert both.rows == tuple(row for row in every if row.name in ("x", "constraint 0"))
    with pytest.raises(pc.InputError, match="among x, constraint 0, cap, got 'rest'"):
        pc.ranges(problem, of=["cap", "rest"], progress=False)


def test_one_number_that_is_refused_does_not_refuse_the_others(monkeypatch):
    x = cp.Variable(2, name="x")
    rows = [(x[0] <= 1).set_label("a"), (x[1] <= 1).set_label("b"), (x[0] + x[1] <= 2).set_label("c")]
    problem = cp.Problem(cp.Minimize(-2 * x[0] - x[1]), rows)
    every, kept = pc.ranges(problem, progress=False), ranges_module.beside

    def refusing(source_at, unit):
        if source_at(0.0, 1.0).line.b[1, 0] != 1.0:  # the bound of x[0]
            raise pc.DegeneratePathError("too close to call", t=0.0, costs="", n_margin=None, remedy="")
        return kept(source_at, unit)

    monkeypatch.setattr(ranges_module, "beside", refusing)
    found = pc.ranges(problem, progress=False)
    (refused,) = found["a"]
    assert np.isnan([refused.price, refused.upper]).all()
    assert (refused.price_below, refused.lower, refused.enters_below) == (-2, -np.inf, "")  # by the basis
    assert refused.enters_above == "not proved: too close to call"
    assert [row for row in found if row.name != "a"] == [row for row in every if row.name != "a"]
    assert "not proved: 1 of 10 sides" in repr(found)


@pytest.mark.parametrize(
    ("objective", "rows", "said"),
    [
        (lambda y: y[0], lambda y: [y <= 1], r"unbounded: the objective has no bound along y"),
        (lambda y: cp.sum(y), lambda y: [], r"unbounded: the objective has no bound along y"),
        (
            cp.sum,
            lambda y: [(y >= 1).set_label("low"), cp.sum(y) <= 1],
            "infeasible: no point satisfies low, constraint 1",
        ),
    ],
)
def test_no_optimum_is_said_without_a_line(objective, rows, said):
    """In the words of ranges: there is no start, no stop and no t."""
    y, a = cp.Variable(2, name="y"), cp.Parameter(name="a", value=1.0)
    with pytest.raises(pc.InputError, match=said) as raised:
        pc.ranges(cp.Problem(cp.Minimize(objective(y)), rows(y)), progress=False)
    assert not any(word in str(raised.value) for word in ("start", "stop", "t = ", "line"))
    with pytest.raises(pc.InputError, match=said):
        pc.derivatives(cp.Problem(cp.Minimize(objective(y) + a), rows(y)), {a: 1.0})


def test_entries_are_asked_for_as_they_are_printed():
    x = cp.Variable((2, 2), nonneg=True, name="x")
    cap = (cp.sum(x, axis=1) <= [3, 4]).set_label("cap")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(np.array([[1, 2], [3, 4]]), x))), [cap])
    whole = pc.ranges(problem)
    for asked in ("x[0, 1]", "x[0,1]", x[0, 1], ["x[0, 1]"]):
        found = pc.ranges(problem, of=asked)
        assert {(row.name, row.index) for row in found} == {("x", (0, 1))}
        assert [row.price for row in found] == [row.price for row in whole["x[0,1]"]]
    assert [row.price for row in pc.ranges(problem, of=["cap[1]", "x[1, 1]"])["cap[1]"]] == pytest.approx([4.0])
    with pytest.raises(pc.InputError, match=r"among x, cap, got 'x\[2, 0\]'"):
        pc.ranges(problem, of="x[2, 0]")
    one = pc.unique(problem, of=["x[1, 1]", x[0, 0]])
    assert [(row.index, row.value) for row in one] == [((1, 1), 4.0), ((0, 0), 0.0)]
    assert one["x[1,1]"][0].upper == 4.0


def test_expressions_of_a_largest_one_have_their_names():
    """Least largest |x| + |x - (1, 2, 5)|^2 is at (1, 2, 4.5): at a cost of -7 of x[0] it is at 4.5, too."""
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.norm_inf(x) + cp.sum_squares(x - [1, 2, 5])), [cp.sum(x) <= 50])
    first, second, third = pc.ranges(problem, of=x, progress=False)
    assert (first.lower, first.enters_below) == (pytest.approx(-7), "x[0] of norm_inf(x) among the largest")
    assert (second.lower, second.enters_below) == (pytest.approx(-5), "x[1] of norm_inf(x) among the largest")
    assert (third.upper, third.enters_above) == (pytest.approx(5), "x[1] of norm_inf(x) among the largest")
    least = cp.Problem(cp.Minimize(cp.max(x)), [(cp.sum(x) >= 3).set_label("total"), x >= -5])
    row = list(pc.ranges(least, of=x, progress=False))[1]
    assert (row.upper, row.enters_above) == (
        pytest.approx(0.5),
        "x[1] of max(x) below the largest; x[1] at its lower bound",
    )


@pytest.mark.parametrize("moves", [False, True])
def test_a_row_that_fixed_variables_miss_by_rounding_holds(moves):
    """Doubles say that 0.7 + 0.1 is less than 0.8; everybody else that (0.7, 0.1) is the one point."""
    u = np.array([0.7, -0.7, 0.1, -0.1, -0.8])
    rows = [[1, 0], [-1, 0], [0, 1], [0, -1], [-1, -1]]
    qp = pc.QP(np.eye(2), [1.0, 2.0], rows, None, u, moves={"w": {"u": [0, 0, 0, 0, 1e-3]}} if moves else {})
    assert pc.ranges(qp, progress=False).value == pytest.approx(0.25 + 0.9, rel=1e-12)
    assert np.allclose([[row.lower, row.upper] for row in pc.unique(qp, progress=False)], [[0.7, 0.7], [0.1, 0.1]])
    far = pc.QP(np.eye(2), [1.0, 2.0], rows, None, u - [0, 0, 0, 0, 1e-6])
    with pytest.raises(pc.InputError, match="has none"):
        pc.ranges(far, progress=False)
