"""Tests of `paretoclf.proof.check_ray`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretoclf.proof import check, check_ray
from paretoclf.proof.files.certificate_file import certificate
from tests.proof.test_check import NONE, ends_at, program, proved


def test_a_ray_that_changes_one_entry_of_px_is_refused(tmp_path):
    """min x_1^2 / 2 + q'x for x >= 0: along (1, 0) it falls for ever from t = 1/2 on, along (1, 1) and (0, 1) never."""
    problem = program([[0], [0, 1]], [], [[1, 0], [-1, -1]], [[0, 0], [0, 0]], [[None, None]] * 2)
    content = certificate(problem, [], progress=False)
    assert content["ray"] == ["unbounded", [1, 0]]
    said = ends_at(problem, content["segments"], ["unbounded", [1, 0]], tmp_path)
    assert proved(said)
    assert "for no later t there is a minimum (unbounded where any point is feasible)" in said
    for ray in ([1, 1], [2, 1], [1, "1/1000"], [0, 1], [0, 0], [-1, 0], [1], [1, 0, 0], []):
        assert not proved(ends_at(problem, content["segments"], ["unbounded", ray], tmp_path)), ray
    with pytest.raises(ArithmeticError, match="changes Px"):
        check_ray.beyond(problem, Fraction(1, 2), "unbounded", [1, 1])
    flipped = program([[1], [0, 0]], [], [[0, 1], [-1, -1]], [[0, 0], [0, 0]], [[None, None]] * 2)
    with pytest.raises(ArithmeticError, match="changes Px"):
        check_ray.beyond(flipped, Fraction(1, 2), "unbounded", [1, 1])


def test_each_side_of_a_ray_is_looked_at(tmp_path):
    """Directions up and down, bounds that end them, prices that cost more or less than what is gained."""

    def never(side, price, rate, direction, bound=0):
        sides = dict.fromkeys(check.SIDES, NONE)
        sides[side], sides[{"lower": "below", "upper": "above"}[side]] = [[bound]] * 2, [[price]] * 2
        problem = {"kind": "program", "K": [[0]], "A": [], "q": [[0], [rate]], **sides}
        try:
            check_ray.beyond(problem, Fraction(3, 4), "unbounded", [direction])
        except ArithmeticError:
            return False
        return True

    assert never("lower", None, -1, 1)  # up, away from a hard lower bound
    assert not never("lower", None, -1, -1)
    assert never("upper", None, 1, -1)
    assert not never("upper", None, 1, 1)
    assert not never("lower", None, 1, -1)  # down, into a hard lower bound
    assert not never("upper", None, -1, 1)
    for side, rate, direction in (("lower", 4, -1), ("upper", -4, 1)):  # a gain of 3 a unit at t = 3/4
        assert never(side, 3, rate, direction)
        assert never(side, 2, rate, direction)
        assert not never(side, "301/100", rate, direction)
    # A row x_0 - x_1 with a price ends (1, -1) and its opposite, not (1, 1).
    row = program([[0], [0, 0]], [[1, -1]], [[0, 0], [-1, -1]], [[None, None, -1]] * 2, [[None, None, 1]] * 2)
    check_ray.beyond(row, Fraction(0), "unbounded", [1, 1])
    for ray in ([1, 0], [0, 1], [1, -1], [-1, -1]):
        with pytest.raises(ArithmeticError):
            check_ray.beyond(row, Fraction(0), "unbounded", ray)


def test_multipliers_of_rows_use_hard_bounds_of_the_right_side_only():
    """x in [0, 1] and the row 2 x = 3 t, so that there is no point after t = 2/3."""
    hard = program([[1]], [[2]], [[1], [1]], [[0, 0], [0, 3]], [[1, 0], [1, 3]])
    check_ray.beyond(hard, Fraction(2, 3), "infeasible", [1])
    check_ray.beyond(hard, Fraction(2, 3), "infeasible", ["1/7"])
    for t, ray in ((Fraction(2, 3) - Fraction(1, 10**9), [1]), (Fraction(2, 3), [-1]), (Fraction(2, 3), [0])):
        with pytest.raises(ArithmeticError):
            check_ray.beyond(hard, t, "infeasible", ray)
    for ray in ([1, 0], [], [None], [[1]]):
        with pytest.raises((ArithmeticError, TypeError)):
            check_ray.beyond(hard, Fraction(2, 3), "infeasible", ray)
    with pytest.raises(ArithmeticError, match="soft"):  # x may exceed 1 at a price
        check_ray.beyond({**hard, "above": [[1, None]] * 2}, Fraction(2, 3), "infeasible", [1])
    with pytest.raises(ArithmeticError, match="soft"):  # the row may miss its lower bound at a price
        check_ray.beyond({**hard, "below": [[None, 1]] * 2}, Fraction(2, 3), "infeasible", [1])
    check_ray.beyond({**hard, "below": [[1, None]] * 2}, Fraction(2, 3), "infeasible", [1])  # not used
    check_ray.beyond({**hard, "above": [[None, 1]] * 2}, Fraction(2, 3), "infeasible", [1])
    with pytest.raises(ArithmeticError, match="that there is not"):
        check_ray.beyond({**hard, "upper": [[None, 0], [None, 3]]}, Fraction(2, 3), "infeasible", [1])
