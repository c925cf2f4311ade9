"""Tests of `paretoclf.path.base.points`: prices by interpolation, and what is written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tables import SHOWN
from paretoclf.path.base.points import Event, PriceAlong, Slope, Slopes, SolverComparison, shown, those


def test_an_event_says_what_changes():
    event = Event(0.25, "alpha[3]", "M", "R", 3, {"lam": 2.0})
    assert str(event) == "t = 0.25 (lam = 2): alpha[3] M -> R"
    assert event.sample == 3
    assert event.changes == (("alpha[3]", "M", "R"),)
    assert Event(0.25, "alpha[3]", "M", "R").sample == -1
    assert event == Event(0.25, "alpha[3]", "M", "R", 3)  # parameters say no more than t
    assert "parameters" not in repr(event)
    assert "item" not in repr(event)


def test_rates_are_shown_without_those_of_variables():
    side = Slope(1.5, {"x": 1.0}, {"row": 2.0}, 0.5)
    assert repr(Slopes(0.25, None, side)) == "Slopes(t=0.25, left=None, right=Slope(value=1.5, until=0.5))"


def test_rates_for_a_unit_of_a_parameter_are_shown_at_its_value():
    """C_plus goes from 0.5 to 1.5: where it is 0.75, t is 0.25, and no number is called t that is none."""
    path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), (0.5, 1.5), (1.5, 0.5))
    assert repr(path.slopes(0.25)).startswith("Slopes(t=0.25, left=")
    for found in (path.slopes(0.25, per="C_plus"), path.slopes(C_plus=0.75, per="C_plus")):
        assert repr(found).startswith("Slopes(C_plus=0.75, left=")


def test_the_left_side_of_a_path_on_which_a_parameter_falls_is_of_larger_ones():
    """The least x^2 / 2 with x >= 1 and x >= k: its value has slope k above 1, and 0 below; derivatives goes with k."""
    x, k = cp.Variable(name="x"), cp.Parameter(name="k", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.square(x) / 2), [x >= 1, x >= k])
    falls = pc.trace(problem, {k: 3}, {k: 0}).slopes(k=1.0, per="k")
    grows = pc.trace(problem, {k: 0}, {k: 3}).slopes(k=1.0, per="k")
    np.testing.assert_allclose([falls.left.value, falls.right.value], [1, 0], atol=1e-9)
    np.testing.assert_allclose([grows.left.value, grows.right.value], [0, 1], atol=1e-9)
    found = pc.derivatives(problem, {k: 1.0})
    np.testing.assert_allclose([found.left.value, found.right.value], [0, 1], atol=1e-9)
    assert repr(falls).endswith("until=0.0); left is k from above)")
    assert "from" not in repr(grows)
    below = pc.trace(problem, {k: 3}, {k: 0}).slopes(k=0.0, per="k")
    above = pc.trace(problem, {k: 3}, {k: 0}).slopes(k=3.0, per="k")
    assert all(repr(each).endswith("left is k from above)") for each in (below, above))


T = np.array([0.0, 0.5, 0.5, 0.75, 0.75, 2.0])
PRICE = np.array([0.0, 2.0, 3.0, 1.0, 1.0, 5.0])


def test_a_price_is_affine_on_each_segment_and_the_right_one_where_it_jumps():
    price = PriceAlong("row", T, PRICE)
    for first in (0, 2, 4):
        ends = slice(first, first + 2)
        for t in np.linspace(*T[ends], 6)[:-1]:
            assert price(float(t)) == pytest.approx(np.interp(t, T[ends], PRICE[ends]), rel=1e-14)
    assert price(0.5) == 3.0
    assert (price(2.0), price(-1.0), price(9.0)) == (5.0, 0.0, 5.0)
    assert type(price(0.1)) is float
    assert repr(price) == "PriceAlong(row: 0 to 5, t 0 to 2, 3 segments)"


def test_a_t_next_to_a_breakpoint_is_taken_for_it():
    assert PriceAlong("row", T, PRICE)(0.5 - 1e-10) == pytest.approx(2.0)
    near = PriceAlong("row", T, PRICE, least=1e-9)
    assert near(0.5 - 1e-10) == 3.0
    assert near(0.5 - 1e-8) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (np.array([0.1, 0.5]), "t must be one number, got 2 of them: take one at a time"),
        ([0.1, 0.2], "t must be one number, got 2 of them"),
        ("a", "t must be a number, got 'a'"),
        (None, "t must be a number, got None"),
    ],
)
def test_a_price_is_asked_at_one_number(t, message):
    with pytest.raises(pc.InputError, match=message):
        PriceAlong("row", T, PRICE)(t)


def test_prices_of_a_constraint_of_several_rows_are_an_array():
    price = PriceAlong("rows", T, np.stack([PRICE, -2 * PRICE], axis=1))
    np.testing.assert_allclose(price(0.25), [1.0, -2.0])
    assert repr(price) == "PriceAlong(rows: -10 to 5, t 0 to 2, 3 segments)"


def test_differences_are_relative_to_the_solver():
    t, solver = np.array([0.0, 0.5, 1.0]), np.array([2.0, -4.0, 0.0])
    found = SolverComparison(t, np.array([2.5, -4.0, 0.0]), solver)
    np.testing.assert_allclose(found.difference, [0.25, 0.0, 0.0])
    assert found.worst == 0.25
    assert found.agrees(0.25)
    assert not found.agrees(0.2499)
    assert not found.agrees()
    below = SolverComparison(t, np.array([2.0, -5.0, 0.0]), solver)
    np.testing.assert_allclose(below.difference, [0.0, -0.25, 0.0])
    assert below.worst == 0.25
    assert SolverComparison(t, solver, solver).agrees(0.0)
    assert SolverComparison(t, solver * (1 + 9e-10), solver).agrees()
    assert not SolverComparison(t, solver + 1e-300, solver).agrees()  # beside 0 any difference is large
    unknown = SolverComparison(t, solver, np.array([2.0, np.nan, 0.0]))
    assert np.isnan(unknown.worst)
    assert not unknown.agrees()
    assert SolverComparison(*np.zeros((3, 0))).worst == 0.0


def test_a_comparison_prints_as_a_table_and_is_read_in_rows():
    t = np.linspace(0, 1, 3)
    found = SolverComparison(t, np.array([2.5, 1.0, 1.0]), np.array([2.0, 1.0, 1.0]))
    lines = repr(found).splitlines()
    assert lines[0].split() == ["t", "path", "solver", "difference"]
    assert lines[1].split() == ["0.000000", "2.5", "2", "2.5e-01"]
    assert lines[-1] == "worst relative difference over 3 points: 2.5e-01"
    assert len(lines) == 5
    assert found.records() == [
        {"t": 0.0, "path": 2.5, "solver": 2.0, "difference": 0.25},
        {"t": 0.5, "path": 1.0, "solver": 1.0, "difference": 0.0},
        {"t": 1.0, "path": 1.0, "solver": 1.0, "difference": 0.0},
    ]
    many = SolverComparison(*np.ones((3, 500)))
    assert len(repr(many).splitlines()) == SHOWN + 3  # a head, how many more there are, and the title
    assert f"{500 - SHOWN} more" in repr(many).splitlines()[-2]
    assert many._repr_html_().startswith("<p>worst relative difference over 500 points: 0.0e+00</p>")


def test_numbers_and_arrays_are_written_in_one_short_line():
    assert shown(1 / 3) == "0.333333"
    assert shown(np.array(2)) == "2"
    assert shown([1 / 3, 2.0]) == "[0.3333, 2]"
    assert shown(np.arange(6)) == "[0, 1, 2, 3, 4, 5]"
    assert shown(np.arange(8).reshape(2, 4)) == "[0, 1, 2, 3, 4, 5, ... (8 entries)]"
    assert those({}) == ""
    assert those({"lam": 0.5, "shift": [1, 2]}) == " (lam = 0.5, shift = [1, 2])"
    assert those({"t": 0.5}) == " (parameter t = 0.5)"
