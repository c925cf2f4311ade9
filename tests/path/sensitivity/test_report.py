"""Sensitivity reports: of a textbook as Excel prints it, of JuMP's tutorial, of HiGHS; degenerate ones."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.sensitivity.report import COLUMNS, TwoPrices, report_rows

INF = float("inf")


def lines(found, *columns):
    """By name, what the columns of a report have."""
    return {line["name"]: tuple(line[column] for column in columns) for line in found.report()}


def wyndor():
    """The plant of Hillier & Lieberman, whose report by Excel's Solver stands in their book."""
    doors, windows = cp.Variable(nonneg=True, name="doors"), cp.Variable(nonneg=True, name="windows")
    plants = [doors <= 4, 2 * windows <= 12, 3 * doors + 2 * windows <= 18]
    rows = [row.set_label(f"plant {k}") for k, row in enumerate(plants, 1)]
    return cp.Problem(cp.Maximize(300 * doors + 500 * windows), rows)


def test_the_report_is_that_of_excel():
    found = pc.ranges(wyndor())
    variables = ("final value", "reduced cost", "objective coefficient", "allowable increase", "allowable decrease")
    constraints = ("final value", "shadow price", "right-hand side", "allowable increase", "allowable decrease")
    own = lines(found, *variables)
    assert own["doors"] == pytest.approx((2, 0, 300, 450, 300))
    assert own["windows"] == pytest.approx((6, 0, 500, INF, 300))
    own = lines(found, *constraints)
    assert own["plant 1"] == pytest.approx((2, 0, 4, INF, 2))
    assert own["plant 2"] == pytest.approx((12, 150, 12, 6, 6))
    assert own["plant 3"] == pytest.approx((18, 100, 18, 6, 6))
    assert lines(found, "slack")["plant 1"] == pytest.approx((2,))
    assert {line["note"] for line in found.report()} == {""}
    assert len(found.report()) == 5  # bounds of variables have no lines


def test_the_report_is_that_of_jump():
    """JuMP's tutorial: minimise 12 x + 20 y; its shadow prices have the sign of a relaxation."""
    x, y = cp.Variable(nonneg=True, name="x"), cp.Variable(bounds=[0, 3], name="y")
    rows = [(6 * x + 8 * y >= 100).set_label("c1"), (7 * x + 12 * y >= 120).set_label("c2")]
    found = pc.ranges(cp.Problem(cp.Minimize(12 * x + 20 * y), rows))
    own = lines(found, "final value", "reduced cost", "allowable decrease", "allowable increase")
    assert own["x"] == pytest.approx((15, 0, 1 / 3, 3))
    assert own["y"] == pytest.approx((1.25, 0, 4, 4 / 7))
    own = lines(found, "final value", "shadow price", "slack", "allowable decrease", "allowable increase")
    assert own["c1"] == pytest.approx((100, 0.25, 0, 4, 20 / 7), abs=1e-12)
    assert own["c2"] == pytest.approx((120, 1.5, 0, 10 / 3, 14 / 3), abs=1e-12)


def random_program(seed):
    """A program with random data and upper bounds: its optimum is a vertex that is not degenerate."""
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    A = rng.uniform(0.1, 2.0, (m, n))
    b = A @ rng.uniform(0.2, 0.8, n)
    return rng.uniform(0.5, 2.0, n), A, b


def by_highs(c, A, b):
    """Values, duals and ranging of HiGHS for max c x with A x <= b and 0 <= x <= 1."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for cost in c:
        solver.addCol(cost, 0.0, 1.0, 0, [], [])
    for row, side in zip(A, b, strict=True):
        solver.addRow(-highspy.kHighsInf, side, len(row), np.arange(len(row)), row)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    solver.run()
    return solver.getSolution(), solver.getRanging()[1]


@pytest.mark.parametrize("seed", range(12))
def test_where_nothing_is_degenerate_it_is_that_of_highs(seed):
    c, A, b = random_program(seed)
    solution, ranging = by_highs(c, A, b)
    x = cp.Variable(c.size, bounds=[0, 1], name="x")
    found = pc.ranges(cp.Problem(cp.Maximize(c @ x), [(A @ x <= b).set_label("cap")]))
    names = "final value", "reduced cost", "objective coefficient", "allowable increase", "allowable decrease"
    own = lines(found, *names)
    for j in range(c.size):
        value, reduced, cost, up, down = own[f"x[{j}]"]
        assert value == pytest.approx(solution.col_value[j], abs=1e-8)
        assert reduced == pytest.approx(solution.col_dual[j], abs=1e-8)
        assert cost + up == pytest.approx(ranging.col_cost_up.value_[j], rel=1e-8)
        assert cost - down == pytest.approx(ranging.col_cost_dn.value_[j], rel=1e-8)
    own = lines(found, "final value", "shadow price", "right-hand side", "allowable increase", "allowable decrease")
    for i in range(b.size):
        value, price, side, up, down = own[f"cap[{i}]"]
        assert value == pytest.approx(solution.row_value[i], abs=1e-8)
        assert price == pytest.approx(solution.row_dual[i], abs=1e-8)
        if abs(price) > 1e-6:  # of a row that is not tight HiGHS ranges the row's value, not its side
            assert side + up == pytest.approx(ranging.row_bound_up.value_[i], rel=1e-8)
            assert side - down == pytest.approx(ranging.row_bound_dn.value_[i], rel=1e-8)


def test_a_degenerate_vertex_has_two_prices_and_says_so():
    x = cp.Variable(2, nonneg=True, name="x")
    rows = [(x[0] <= 1).set_label("a"), (x[1] <= 1).set_label("b"), (x[0] + x[1] <= 2).set_label("c")]
    found = pc.ranges(cp.Problem(cp.Maximize(2 * x[0] + x[1]), rows))
    own = lines(found, "shadow price", "price of a decrease", "note")
    assert own["a"][:2] == pytest.approx((1, 2))
    assert own["b"][:2] == pytest.approx((0, 1))
    assert own["c"] == (pytest.approx(0), pytest.approx(1), "degenerate")
    assert own["x[0]"][2] == ""


def test_a_variable_that_is_not_unique_says_between_what_it_is():
    x = cp.Variable(2, nonneg=True, name="x")
    found = pc.ranges(cp.Problem(cp.Maximize(x[0] + x[1]), [cp.sum(x) <= 3]))
    assert {note for (note,) in (lines(found, "note")[name] for name in ("x[0]", "x[1]"))} == {"not unique: 0 to 3"}


def test_the_reduced_cost_is_the_price_of_the_bound_that_holds():
    """Of one at its upper bound, of one at 0, and of one between; also where only variables are asked for."""
    x = cp.Variable(3, bounds=[0, 2], name="x")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply([5.0, 2.0, 1.0], x))), [(cp.sum(x) <= 3).set_label("sum")])
    for of in (None, x):
        own = lines(pc.ranges(problem, of=of), "final value", "reduced cost")
        assert [own[f"x[{j}]"] for j in range(3)] == [
            pytest.approx(each, abs=1e-9) for each in [(2, 3), (1, 0), (0, -1)]
        ]


def test_a_bound_that_is_written_as_a_constraint_is_one():
    x = cp.Variable(name="x")
    found = pc.ranges(cp.Problem(cp.Minimize(3 * x), [(2 * x >= 4).set_label("least"), x >= -10]))
    assert lines(found, "final value", "reduced cost", "shadow price")["least"][2] == pytest.approx(1.5)
    assert lines(found, "reduced cost")["x"] == (0.0,)
    assert lines(found, "final value", "slack")["least"] == pytest.approx((4, 0))
    assert lines(found, "final value", "slack")["constraint 1"] == pytest.approx((2, 12))


def test_a_frame_of_either_style():
    pytest.importorskip("pandas")
    found = pc.ranges(wyndor())
    assert found.to_frame("report").columns.tolist() == list(COLUMNS)
    assert len(found.to_frame("report")) == 5
    assert len(found.to_frame()) == len(found) == 7
    with pytest.raises(pc.InputError, match="style must be 'ranges' or 'report', got 'excel'"):
        found.to_frame("excel")


def test_prices_that_differ_by_rounding_are_one():
    assert TwoPrices(1.0, 1.0 + 1e-12).one
    assert not TwoPrices(1.0, 1.0 + 1e-6).one
    assert TwoPrices(INF, INF).one
    assert not TwoPrices(INF, 1.0).one
    shared = {"index": None, "value": 1.0, "lower": 0.0, "upper": 2.0, "final": 1.0, "variable": ""}
    row = SimpleNamespace(name="a", kind="bound", price=1.0, price_below=3.0, **shared)
    (line,) = report_rows([row], {})
    assert (line["shadow price"], line["price of a decrease"], line["note"]) == (1.0, 3.0, "degenerate")


def test_a_variable_that_is_not_unique_has_its_value_on_both_sides():
    """Beside HiGHS's point alone a reader does not know which value a change of the coefficient brings."""
    x = cp.Variable(2, nonneg=True, name="x")

    def problem(cost):
        return cp.Problem(cp.Minimize(-cost * x[0] - x[1]), [(cp.sum(x) <= 3).set_label("sum")])

    line = next(line for line in pc.ranges(problem(1.0)).report() if line["name"] == "x[0]")
    for sign, column in ((1, "final value of an increase"), (-1, "final value of a decrease")):
        problem(1.0 - sign * 1e-3).solve("HIGHS")  # the coefficient itself is -cost
        assert line[column] == pytest.approx(float(x.value[0]), abs=1e-9)
    row = next(line for line in pc.ranges(problem(1.0)).report() if line["section"] == "constraint")
    assert np.isnan([row["final value of an increase"], row["final value of a decrease"]]).all()
