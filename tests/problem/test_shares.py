"""Tests of `paretoclf.problem.shares`: in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretoclf.problem.shares import Shares


@pytest.mark.parametrize(("start", "end"), [(0.0, 1.0), (0.3, 0.7), (-2.0, 5.0), (1.0, 1.0 + 2.0**-40)])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.875, 1.0])
def test_shares_are_those_of_fractions(start, end, part):
    t = start + part * (end - start)
    length = Fraction(end) - Fraction(start)
    before = float((Fraction(end) - Fraction(t)) / length)
    after = float((Fraction(t) - Fraction(start)) / length)
    share = Shares.of(t, start, end)
    assert (share.before, share.after) == pytest.approx((before, after), rel=1e-15, abs=0)
    assert share.whole.before + share.whole.after == 1.0
    assert share.whole.after == share.after
    assert share.between(3.0, -1.0) == pytest.approx(3.0 * before - after, rel=1e-14)
    assert share.whole.between(0.1, 0.1) == pytest.approx(0.1, rel=2e-16)


def test_a_segment_without_length_is_its_start():
    assert Shares.of(0.4, 0.4, 0.4) == (1.0, 0.0)


def test_a_parabola_is_a_quarter_of_its_bend_below_the_chord():
    """Of x^2 between a and b the bend is (b - a)^2."""
    a, b = -1.0, 3.0
    for x in (-1.0, 0.0, 0.5, 1.0, 3.0):
        assert Shares.of(x, a, b).parabola(a**2, b**2, (b - a) ** 2) == pytest.approx(x**2, abs=1e-15)
    assert Shares(0.5, 0.5).parabola(2.0, 4.0, 8.0) == 3.0 - 8.0 / 4
