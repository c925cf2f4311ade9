"""Scales of multipliers, slacks and gaps, against loops over samples."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.tolerances import SLACK_ROUNDING
from paretoclf.problem import units

TINY = float(np.finfo(float).tiny)
Y = np.array([1.0, -1.0, 1.0, -1.0, -1.0])

CAPS = {
    "of one size": [1.0, 2.0, 3.0, 0.5, 1.0],
    "a small class": [1e-13, 1.0, 2e-13, 2.0, 3.0],
    "small, and one is 0": [0.0, 0.5, 0.25, 0.125, 0.125],
    "one is 0": [0.0, 2.0, 3.0, 0.5, 1.0],
    "a class without costs": [0.0, 2.0, 0.0, 0.5, 1.0],
    "the other without costs": [4.0, 0.0, 1.5, 0.0, 0.0],
    "no costs": [0.0, 0.0, 0.0, 0.0, 0.0],
}
COLUMNS = np.array(list(CAPS.values())).T


def sums(caps):
    return sum(c for c, s in zip(caps, Y, strict=True) if s > 0), sum(c for c, s in zip(caps, Y, strict=True) if s < 0)


def filled(plain, caps):
    """Units with another in place of those that are 0."""
    stand_in = max(plain) or max(max(caps), TINY)
    return [u or stand_in for u in plain]


@pytest.mark.parametrize("caps", CAPS.values(), ids=CAPS)
class TestOfOneProblem:
    def test_balanced_units(self, caps):
        plus, minus = sums(caps)
        plain = [min(c, minus if s > 0 else plus) for c, s in zip(caps, Y, strict=True)]
        np.testing.assert_array_equal(units.balanced_units(Y, np.array(caps)), filled(plain, caps))

    def test_box_units(self, caps):
        np.testing.assert_array_equal(units.box_units(np.array(caps)), filled(caps, caps))

    def test_the_largest_sum(self, caps):
        plus, minus = sums(caps)
        expected = min(plus, minus) or max(plus + minus, TINY)
        assert units.largest_sum(Y, np.array(caps)) == expected
        least = expected if min(plus, minus) == 0 else TINY
        both = units.class_sums(Y, np.array(caps))
        assert both == (plus, minus)
        assert units.least_scale(both, units.largest_of(both)) == least


def test_columns_are_problems_of_their_own():
    both = units.class_sums(Y, COLUMNS)
    found = units.balanced_units(Y, COLUMNS), units.box_units(COLUMNS)
    largest, kept = units.largest_sum(Y, COLUMNS), COLUMNS.copy()
    least = units.least_scale(both, largest)
    for j, caps in enumerate(COLUMNS.T):
        np.testing.assert_array_equal(found[0][:, j], units.balanced_units(Y, caps))
        np.testing.assert_array_equal(found[1][:, j], units.box_units(caps))
        assert largest[j] == units.largest_sum(Y, caps)
        assert least[j] == units.least_scale(units.class_sums(Y, caps), largest[j])
    np.testing.assert_array_equal(COLUMNS, kept)


def test_the_rounding_of_margins():
    f, b = np.array([-3.0, 0.0, 5.0]), -2.0
    np.testing.assert_allclose(units.margin_rounding(f, b), SLACK_ROUNDING * np.array([6.0, 3.0, 8.0]), rtol=1e-15)
    np.testing.assert_allclose(units.margin_rounding(f), SLACK_ROUNDING * np.array([4.0, 1.0, 6.0]), rtol=1e-15)


def test_the_rounding_of_slacks():
    caps, margin = np.array([2.0, 3.0, 5.0, 7.0]), np.array([-1.0, 0.25, 0.5, 0.0])
    rounding = np.array([0.125, 0.25, 0.25, 0.5])
    f = np.array([0.0, 1.0, -2.0, 4.0])
    assert units.slack_rounding(caps, margin, f, rounding=rounding) == 2 * 0.125 + 3 * 0.25 + 7 * 0.5
    own = SLACK_ROUNDING * (1.0 + np.abs(f) + 0.5)
    assert units.slack_rounding(caps, margin, f, -0.5) == pytest.approx(2 * own[0] + 7 * own[3], rel=1e-14)
    two = np.stack([caps, margin + 1], axis=1)
    found = units.slack_rounding(two, np.zeros((4, 2)), two, rounding=np.ones((4, 2)))
    np.testing.assert_array_equal(found, two.sum(axis=0))


def test_certain_terms_of_the_gap():
    rng = np.random.default_rng(0)
    load, room, outside, margin = (rng.integers(-8, 9, size=60) / 4 for _ in range(4))
    load, room, outside, rounding = abs(load), abs(room), abs(outside), np.full(60, 0.5)
    expected = []
    for on, left, off, g in zip(load, room, outside, margin, strict=True):
        sure = on * (g - 0.5) if g > 0.5 else left * (-g - 0.5) if g < -0.5 else 0.0
        expected.append(sure - off * (abs(g) + 0.5))
    np.testing.assert_allclose(units.certain_terms(load, room, outside, margin, rounding), expected, rtol=0, atol=1e-14)
