"""Derivatives of optima, against optima in fractions; what jumps, what is not unique, and who says otherwise."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.simplex_projection import one_side
from tests.oracles.small_programs import optima


def moving(seed):
    """A small program in whole numbers, bounded, and a direction of its costs, its bounds, or of both."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    A = np.vstack([rng.integers(-2, 4, (m, n)), np.ones((1, n)), -np.eye(n)]).astype(float)
    b = np.concatenate([rng.integers(0, 5, m), [6], np.zeros(n)]).astype(float)
    if rng.random() < 0.3:
        A, b = np.vstack([A, A[:1]]), np.append(b, b[0])
    F = rng.integers(-2, 3, (n, n)).astype(float)
    P = F.T @ F + np.eye(n) if rng.random() < 0.4 else np.zeros((n, n))
    dq, du = rng.integers(-2, 3, n).astype(float), rng.integers(-1, 2, b.size).astype(float)
    kind = rng.integers(3)
    dq, du = dq * (kind != 1), du * (kind != 0)
    if not dq.any() and not du.any():
        dq[0] = 1.0
    return P, rng.integers(-3, 4, n).astype(float), A, b, dq, du


def against_fractions(seed):
    """Value and variables on both sides of one program."""
    P, q, A, b, dq, du = (np.vectorize(Fraction, otypes=[object])(each) for each in moving(seed))

    def at(step):
        return optima(P.tolist(), (q + step * dq).tolist(), A.tolist(), (b + step * du).tolist())

    own = moving(seed)
    qp = pc.QP(own[0], own[1], own[2], None, own[3], moves={"s": {"q": own[4], "u": own[5]}})
    if isinstance(here := at(Fraction(0)), str):
        return
    found = pc.derivatives(qp, {"s": 1.0})
    for sign, side in ((-1, found.left), (1, found.right)):
        step = sign * Fraction(1, 10**6)
        there, further = at(step), at(2 * step)
        if isinstance(there, str):
            assert side.value == sign * np.inf
            assert side.until == 0
            continue
        slope = (there[0] - here[0]) / step  # of a parabola it is off by half its bend times the step
        bend = 0 if isinstance(further, str) else (further[0] - 2 * there[0] + here[0]) / step**2
        assert abs(float(slope - bend * step / 2) - side.value) <= 1e-8 * (1 + abs(side.value))
        alone = len(here[1]) == 1 and len(there[1]) == 1
        for j in range(q.size):
            same = [len({x[j] for x in each[1]}) == 1 for each in (here, there)]
            rate = side.variables["x"][j]
            assert np.isnan(rate) != all(same), (seed, sign, j)
            if alone:
                assert abs(float((there[1][0][j] - here[1][0][j]) / step) - rate) <= 1e-8 * (1 + abs(rate))
        if side.until not in (0, np.inf) and alone:  # they hold up to the end, and there
            for share in (Fraction(1, 2), Fraction(999, 1000)):
                length = sign * share * Fraction(side.until)
                point = at(length)
                assert np.allclose(
                    [float(v) for v in point[1][0]],
                    [float(v) + float(length) * r for v, r in zip(here[1][0], side.variables["x"], strict=True)],
                    rtol=1e-7,
                    atol=1e-7,
                )


@pytest.mark.parametrize("seed", range(40))
def test_rates_are_those_of_fractions(seed):
    against_fractions(seed)


@pytest.mark.parametrize("seed", range(20))
def test_a_multiplier_is_unique_where_its_right_hand_side_has_one_price(seed):
    """The set of multipliers of a row is the interval between its two prices, which are tested on their own."""
    P, q, A, b, _, _ = moving(seed)
    qp = pc.QP(P, q, A, None, b, moves={"s": {"q": np.zeros(q.size), "u": np.ones(b.size)}})
    try:
        prices = {row.index[0]: row for row in pc.ranges(qp, progress=False) if row.kind != "cost"}
    except pc.errors.InputError:
        return
    found = pc.derivatives(qp, {"s": 1.0})
    side = found.right if found.right.value < np.inf else found.left
    if not side.duals:
        return
    for i, row in prices.items():
        if abs(row.price - row.price_below) > 1e-9:
            assert np.isnan(side.duals["y"][i])


def projection(theta):
    """The squared distance of theta from the simplex of total 10."""
    x, point = cp.Variable(len(theta), name="x"), cp.Parameter(len(theta), name="theta", value=np.array(theta, float))
    rows = [(x >= 0).set_label("sign"), (cp.sum(x) == 10).set_label("sum")]
    return cp.Problem(cp.Minimize(cp.sum_squares(x - point)), rows), point


def in_doubles(sign, exact):
    """Rates against and along a direction, from those along it and its opposite."""
    rates = {"value": exact.value, "x": exact.x, "sum": exact.nu, "sign": exact.lam}
    until = np.inf if exact.until is None else float(exact.until)
    return {name: sign * np.array(rate, dtype=float) for name, rate in rates.items()} | {"until": until}


def of_one_side(side):
    return {"value": side.value, **side.variables, **side.duals, "until": side.until}


def against_the_projection(theta, direction):
    """All rates of a projection on both sides, and how far they hold; where a rate is 0, it is 0 to the last digit."""
    problem, point = projection(theta)
    found = pc.derivatives(problem, {point: np.array(direction, float)})
    both = []
    for sign, side in ((-1, found.left), (1, found.right)):
        assert not side.undefined, (theta, direction, sign)
        exact = in_doubles(sign, one_side(theta, 10, [sign * each for each in direction]))
        own = of_one_side(side)
        for name, rate in exact.items():
            assert own[name] == pytest.approx(rate, rel=1e-9, abs=1e-9), (theta, direction, sign, name)
            assert ((np.asarray(own[name]) == 0) == (np.asarray(rate) == 0)).all(), (theta, direction, sign, name)
        both.append(exact)
    left, right = both
    one = all(np.array_equal(left[name], right[name]) for name in ("value", "x", "sum", "sign"))
    assert found.two_sided == one, (theta, direction)


@pytest.mark.parametrize("theta", [[9, 5, 2], [8, 8, 3]])
def test_a_projection_that_all_entries_move_along_has_one_rate(theta):
    """An entry that is 0 without a multiplier stays so; its rate was 1e-17, and a level fell by 1e-16 a unit."""
    against_the_projection(theta, [1, 1, 1])
    problem, point = projection(theta)
    found = pc.derivatives(problem, {point: np.ones(3)})
    assert found.two_sided
    assert found.right.until == np.inf
    assert "e-" not in repr(found)


@pytest.mark.parametrize("seed", range(4))
def test_rates_of_projections_with_ties_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    for n in (3, 4, 5, 6):
        direction = rng.integers(-1, 2, n)
        direction[rng.integers(n)] = 1
        against_the_projection(rng.integers(0, 10, n).tolist(), direction.tolist())


def test_a_cost_that_vanishes_makes_the_optimum_jump():
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    problem = cp.Problem(cp.Minimize((a - 1) * x), [(x >= 0).set_label("low"), (x <= 1).set_label("high")])
    found = pc.derivatives(problem, {a: 2.0})
    assert (found.left.value, found.right.value) == pytest.approx((2, 0))
    assert found.left.undefined["x"] == found.right.undefined["x"] == "jumps from 1 to 0"
    assert not found.two_sided
    assert found.right.duals["low"] == pytest.approx(2)
    assert found.left.duals["high"] == pytest.approx(-2)
    assert a.value == 1.0


def test_an_optimum_that_is_a_segment_beside_the_point_is_not_unique():
    x, b = cp.Variable(2, name="x"), cp.Parameter(name="b", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [(cp.sum(x) >= b).set_label("sum"), x >= 0])
    found = pc.derivatives(problem, {b: 1.0})
    assert found.right.undefined["x"] == "not unique"
    assert found.right.value == pytest.approx(1)
    assert found.right.duals["sum"] == pytest.approx(0)
    assert (found.right.until, found.left.until) == pytest.approx((np.inf, 1))


def test_columns_are_no_derivative_where_there_is_a_kink():
    """|a + b| - |a - b| (as far as it is convex: its first part), whose columns at 0 are two-sided in no direction."""
    x = cp.Variable(name="x")
    a, b = (cp.Parameter(name=name, value=0.0) for name in "ab")
    problem = cp.Problem(cp.Minimize(x), [x >= a + b, x >= -a - b])
    found = pc.derivatives(problem, {a: 1.0, b: -1.0})
    assert (found.left.value, found.right.value) == pytest.approx((0, 0))  # along a - b nothing happens
    assert pc.derivatives(problem, {a: 1.0, b: 1.0}).right.value == pytest.approx(2)
    with pytest.raises(pc.errors.InputError, match="one-sided rates in a"):
        found.jacobian()


def test_a_jacobian_is_that_of_differences():
    rng = np.random.default_rng(3)
    F = rng.normal(size=(6, 3))
    w, y = cp.Variable(3, name="w"), cp.Parameter(6, name="y", value=rng.normal(size=6))
    lam = cp.Parameter(nonneg=True, name="lam", value=0.3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(F @ w - y) / 2 + lam * cp.norm1(w)))
    jacobian = pc.derivatives(problem, {y: np.ones(6), lam: 1.0}).jacobian()
    assert jacobian["y"]["w"].shape == (3, 6)
    assert jacobian["lam"]["w"].shape == (3,)
    base, h = y.value.copy(), 1e-6

    def solution():
        problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        return w.value.copy(), problem.value

    for j in range(6):
        ends = []
        for sign in (1, -1):
            y.value = base + sign * h * np.eye(6)[j]
            ends.append(solution())
        y.value = base
        assert np.allclose((ends[0][0] - ends[1][0]) / (2 * h), jacobian["y"]["w"][:, j], atol=1e-4)
        assert (ends[0][1] - ends[1][1]) / (2 * h) == pytest.approx(jacobian["y"]["value"][j], abs=1e-4)


def test_a_layers_gradient_is_judged():
    x, b = cp.Variable(2, name="x"), cp.Parameter(name="b", value=1.0)
    rows = [(cp.sum(x) == b).set_label("sum"), (x[0] - 2 * x[1] <= -0.5).set_label("cap")]
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), rows), {b: 1.0})
    assert found.left.variables["x"] == pytest.approx([2 / 3, 1 / 3])
    assert found.right.variables["x"] == pytest.approx([0.5, 0.5])
    verdict = {
        name: found.judge({x: rates}).rows[0].verdict
        for name, rates in {"left": [2 / 3, 1 / 3], "right": [0.5, 0.5], "mean": [7 / 12, 5 / 12]}.items()
    }
    assert verdict == {"left": "left derivative", "right": "right derivative", "mean": "wrong"}
    judged = found.judge({"value": 0.5, "x": [0.5, 0.5 + 1e-9]})
    assert [row.verdict for row in judged.rows] == ["right", "right derivative"]
    assert not judged.passes()
    assert "1 of 2 are right to 1e-06" in repr(judged)
    assert len(judged.to_frame()) == 2
    with pytest.raises(pc.errors.InputError, match="among value, x, sum, cap, got 'z'"):
        found.judge({"z": 0.0})
    with pytest.raises(pc.errors.InputError, match=r"gradient\[x\] must have shape \(2,\), got \(3,\)"):
        found.judge({x: [0, 0, 0]})


def test_a_parameter_that_promises_a_sign_has_one_side_at_0():
    x, lam = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="lam", value=0.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.square(x - 2) / 2 + lam * cp.abs(x))), {lam: 1.0})
    assert found.left is None
    assert (found.right.value, found.right.variables["x"], found.right.until) == pytest.approx((2, -1, 2))
    assert not found.two_sided


def test_bad_input_is_refused():
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.square(x) + a * x), [x >= -5])
    for direction, said in (
        ({}, "direction must map parameters"),
        ({a: 0.0}, "direction must be finite, and not 0"),
        ({a: np.nan}, "direction must be finite"),
        ({"b": 1.0}, "direction must have parameters of the problem, or their names, for keys, got 'b'"),
    ):
        with pytest.raises(pc.errors.InputError, match=said):
            pc.derivatives(problem, direction)
    a.value = None
    with pytest.raises(pc.errors.InputError, match="parameter a must have a value"):
        pc.derivatives(problem, {a: 1.0})


def test_rates_are_compared_in_units_of_what_moves():
    """w = max(b - 1e9, 0) / 1e10 at its kink: rates of 0 and 1e-10, which are two."""
    w, b = cp.Variable(name="w"), cp.Parameter(name="b", value=1e9)
    found = pc.derivatives(cp.Problem(cp.Minimize(w), [w >= (b - 1e9) / 1e10, w >= 0]), {b: 1.0})
    assert (found.left.variables["w"], found.right.variables["w"]) == pytest.approx((0, 1e-10))
    assert not found.two_sided
    with pytest.raises(pc.InputError, match="one-sided rates in b"):
        found.jacobian()
    verdicts = [found.judge({w: rate}).rows[0].verdict for rate in (0.0, 7e-9, 1e-10, 0.5e-10)]
    assert verdicts == ["left derivative", "wrong", "right derivative", "wrong"]


def test_the_tolerance_of_a_judge_is_relative_to_the_largest_rate():
    """V = b^2 / 2 at b = 3, and x = b."""
    x, b = cp.Variable(name="x"), cp.Parameter(name="b", value=3.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.square(x) / 2), [x == b]), {b: 1.0})
    assert found.two_sided
    for off, verdict in ((0.9e-6, "right"), (1.1e-6, "wrong"), (1e-4, "wrong")):
        assert found.judge({"value": 3 * (1 + off)}).rows[0].verdict == verdict
        assert found.judge({x: 1 + off}).rows[0].verdict == verdict
    assert found.judge({x: 1 + 1e-4}, tol=1e-3).rows[0].verdict == "right"


def test_at_the_edge_of_what_is_feasible_there_is_one_side():
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(x), [x >= a, x <= 1]), {a: 1.0})
    assert (found.left.value, found.right.value) == (pytest.approx(1), np.inf)
    judged = found.judge({x: 1.0, "value": 1.0})
    assert [row.verdict for row in judged.rows] == ["left derivative", "left derivative"]
    assert judged.rows[0].why == "there is none on the other side"
    assert [row.verdict for row in found.judge({x: 0.0, "value": 0.0}).rows] == ["wrong", "wrong"]


def test_infinite_rates_are_no_derivative():
    """x == a and x == 1: beside a = 1 there is no point, and the least x is infinite on both sides."""
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    problem = cp.Problem(cp.Minimize(x), [(x == a).set_label("moving"), (x == 1).set_label("still")])
    found = pc.derivatives(problem, {a: 1.0})
    assert (found.left.value, found.right.value) == (-np.inf, np.inf)
    assert not found.two_sided
    assert [row.verdict for row in found.judge({"value": 0.0, x: 0.0, "moving": 0.0}).rows] == ["wrong", "none", "none"]
    with pytest.raises(pc.InputError, match="one-sided rates in a"):
        found.jacobian()


@pytest.mark.parametrize("twins", [1, 2])
def test_rates_end_where_the_value_goes_on(twins):
    """The least |x|^2 / 2 on x0 - x1 = s, x >= 0: V = s^2 / 2 all along, and x turns at s = 0; by a basis, by paths."""
    x, s = cp.Variable(2, nonneg=True, name="x"), cp.Parameter(name="s", value=-1.0)
    rows = [each * (x[0] - x[1]) == each * s for each in range(1, twins + 1)]
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), rows), {s: 1.0})
    for side in (found.left, found.right):
        assert side.value == pytest.approx(-1)
        assert side.variables["x"] == pytest.approx([0, -1])
    assert (found.left.until, found.right.until) == (np.inf, pytest.approx(1))
    moved = pc.ranges(pc.QP(np.eye(2), [0, 0], [[1, -1], [1, 0], [0, 1]], [-1, 0, 0], [-1, np.inf, np.inf]), of="y")
    equation = next(iter(moved))
    assert (equation.price, equation.bend, equation.lower, equation.upper) == pytest.approx((-1, 1, -np.inf, np.inf))


def test_a_constraint_without_a_label_is_judged_by_itself():
    x, b = cp.Variable(name="x"), cp.Parameter(name="b", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.square(x) / 2), [x >= b])
    found = pc.derivatives(problem, {b: 1.0})
    assert found.judge({problem.constraints[0]: 1.0}).passes()


def test_a_variable_called_value_is_not_the_value():
    """The least value^2 with value >= p, at p = 1: the value grows by 2, the variable by 1."""
    value, p = cp.Variable(name="value"), cp.Parameter(name="p", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.square(value)), [(value >= p).set_label("low")])
    found = pc.derivatives(problem, {p: 1.0})
    jacobian = found.jacobian()["p"]
    assert {key: float(rate) for key, rate in jacobian.items()} == {"value": 2.0, "x:value": 1.0, "low": 2.0}
    assert found.judge({"value": 2.0, value: 1.0, problem.constraints[0]: 2.0}).passes()
    assert found.judge({"x:value": 1.0}).passes()
    assert found.judge({"value": 1.0}).rows[0].verdict == "wrong"
    assert "x:value 1" in repr(found.right)
    path = pc.trace(problem, {p: 0.0}, {p: 1.0})
    for name in ("value", "x:value"):
        assert path.along(name)[1].tolist() == [0.0, 1.0]
        assert pc.verify(path, {"p": [0.0, 1.0], name: [0.0, 1.0]}).passes()
    assert path.at(0.5).variables["value"] == 0.5
    jumps = cp.Problem(cp.Minimize((p - 1) * value), [value >= 0, value <= 1])
    judged = pc.derivatives(jumps, {p: 1.0})
    assert judged.right.undefined == {"x:value": "jumps from 1 to 0"}
    assert judged.judge({"value": 0.0}).rows[0].verdict == "right derivative"
    assert judged.judge({value: 0.0}).rows[0].verdict == "none"


def test_a_row_called_value_is_not_the_value():
    x, p = cp.Variable(name="x"), cp.Parameter(name="p", value=1.0)
    row = (x >= p).set_label("value")
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.square(x)), [row]), {p: 1.0})
    assert {key: float(rate) for key, rate in found.jacobian()["p"].items()} == {
        "value": 2.0,
        "x": 1.0,
        "row:value": 2.0,
    }
    assert found.judge({row: 2.0, "value": 2.0}).passes()


def test_what_is_0_is_counted_and_not_printed():
    x, a = cp.Variable(8, name="x"), cp.Parameter(name="a", value=1.0)
    rows = [(x >= 0).set_label("sign"), (cp.sum(x) == a).set_label("sum")]
    found = pc.derivatives(cp.Problem(cp.Minimize(np.arange(8.0) @ x + 3 * a), rows), {a: 1.0})
    assert repr(found.right) == "value 3, x[0] 1, 16 other rates are 0, until inf"
    small = pc.derivatives(cp.Problem(cp.Minimize(cp.sum_squares(x - a * np.eye(8)[0]))), {a: 1.0})
    assert "x[0] 1, 7 other rates are 0" in repr(small.right)


def test_directions_of_another_shape_and_gradients_without_names_are_refused():
    x, a = cp.Variable(3, name="x"), cp.Parameter(3, name="a", value=[1.0, 2.0, 3.0])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - a)))
    with pytest.raises(pc.InputError, match=r"^direction\[a\] must have shape \(3,\), or be a number, got \(3, 3\)$"):
        pc.derivatives(problem, {a: np.eye(3)})
    assert pc.derivatives(problem, {a: 1.0}).judge({x: np.ones(3)}).verdicts == ["right"]
    with pytest.raises(pc.InputError, match=r"^gradient must map variables or constraints to their rates, got \[1.0\]"):
        pc.derivatives(problem, {a: np.ones(3)}).judge([1.0])
