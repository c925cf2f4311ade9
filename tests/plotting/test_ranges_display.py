"""Pictures of ranges: a tornado whose bars are changes of the optimal value, found by solving again; one price."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import RangesDisplay


@pytest.fixture
def shop():
    """A program of two goods, and a function that solves it with other hours and another price."""
    x = cp.Variable(2, nonneg=True, name="x")
    hours, price = cp.Parameter(value=40.0), cp.Parameter(value=30.0)
    rows = [(x[0] + 4 * x[1] <= hours).set_label("hours"), (2 * x[0] + x[1] <= 30).set_label("planks")]
    problem = cp.Problem(cp.Maximize(20 * x[0] + price * x[1]), rows)

    def solved(own_hours, own_price):
        hours.value, price.value = own_hours, own_price
        return float(problem.solve("CLARABEL"))

    return problem, solved


def test_bars_are_what_solving_again_finds(shop):
    problem, solved = shop
    found = {each.name: each for each in pc.ranges(problem).plot(0.2).effects()}
    here = solved(40, 30)
    assert found["hours"].up == pytest.approx(solved(48, 30) - here, abs=1e-5)
    assert found["hours"].down == pytest.approx(solved(32, 30) - here, abs=1e-5)
    assert found["cost of x[1]"].up == pytest.approx(solved(40, 36) - here, abs=1e-5)
    assert (found["hours"].ends_up, found["hours"].ends_down) == (False, False)


def test_a_bar_ends_where_the_range_does(shop):
    problem, _ = shop
    ranges = pc.ranges(problem)
    row = ranges["hours"].rows[0]
    effect = next(each for each in RangesDisplay.from_ranges(ranges, 5.0).effects() if each.name == "hours")
    assert (effect.ends_up, effect.ends_down) == (True, True)
    assert effect.up == pytest.approx(row.price * (row.upper - row.value))
    assert effect.down == pytest.approx(-row.price_below * (row.value - row.lower))


def test_bounds_of_a_variable_say_their_sides():
    x = cp.Variable(bounds=[1, 4], name="x")
    lower = pc.ranges(cp.Problem(cp.Minimize(x))).plot()
    upper = pc.ranges(cp.Problem(cp.Maximize(x))).plot()
    assert {each.name for each in lower.effects()} == {"cost of x", "lower bound of x"}
    assert {each.name for each in upper.effects()} == {"cost of x", "upper bound of x"}
    qp = pc.QP(None, [1.0, 1.0], np.eye(2), [1, 3], [4, 3], names=(["a", "b"], ["bound of a", "bound of b"]))
    named = {each.name for each in pc.ranges(qp).plot().effects()}
    assert named == {"cost of a", "lower bound of a", "cost of b", "bound of b"}


def test_what_is_drawn_is_the_largest_first(shop):
    display = pc.ranges(shop[0]).plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    sizes = [each.size for each in display.effects()]
    assert sizes == sorted(sizes, reverse=True)
    assert names == [each.name for each in display.effects()]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()][:2] == ["10 % less", "10 % more"]


def test_one_number_is_its_price_over_its_range(shop):
    ranges = pc.ranges(shop[0], of="hours")
    row = ranges.rows[0]
    ax = ranges.plot().ax_
    below, above = (line for line in ax.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_xdata()) > 0)
    assert below.get_xdata().tolist() == [row.value, row.lower]
    assert above.get_xdata().tolist() == [row.value, row.upper]
    assert set(above.get_ydata()) == {row.price}
    assert ax.get_xlabel() == "hours"


def test_what_cannot_be_drawn_is_said():
    x = cp.Variable(2, name="x")
    nothing = pc.ranges(cp.Problem(cp.Minimize(0), [x >= 0, x <= 1]))
    with pytest.raises(pc.InputError, match="ranges must have a number that changes the optimal value, got none"):
        nothing.plot()
    with pytest.raises(pc.InputError, match="share must be"):
        nothing.plot(-1.0)


def test_a_name_is_no_share(shop):
    with pytest.raises(pc.InputError, match=r"share must be a number, got 'wood': ranges\['wood'\]\.plot\(\)"):
        pc.ranges(shop[0]).plot("wood")
