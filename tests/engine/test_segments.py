"""The records of a path: caps along a line, and logs that are cut, moved and begun from nothing."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from paretoclf.common.tolerances import ROUNDING
from paretoclf.engine.segments import Line, Log, most_exchanges


def log():
    """Three segments, with margin sets of 2, 1 and 3 of four samples; all numbers differ."""
    rng = np.random.default_rng(0)
    return Log(
        state=np.array([1, 2, 2, 0], dtype=np.int8),
        t=np.array([[0.0, 0.25, 0.5], [0.25, 0.5, 1.0]]),
        ptr=np.array([0, 2, 3, 6]),
        index=np.array([1, 2, 2, 0, 2, 3]),
        a0=rng.normal(size=6),
        a1=rng.normal(size=6),
        eta=rng.normal(size=(3, 2, 1)),
        value=rng.normal(size=(3, 3)),
        w=rng.normal(size=(3, 2, 2)),
        changes=np.array([[1, 2, 2], [1, 0, 3], [2, 1, 0], [1, 2, 2]]),
        outside=np.array([0, 2]),
    )


def same(one, other, but=()):
    for each in fields(Log):
        if each.name not in but:
            np.testing.assert_array_equal(getattr(one, each.name), getattr(other, each.name), err_msg=each.name)


def test_exchanges_are_limited_by_the_size_unless_a_number_is_given():
    assert most_exchanges(7) == 11_400
    assert most_exchanges(7, 3) == 3
    assert most_exchanges(7, 0) == 0


def test_caps_are_exact_at_both_ends_and_relative_to_what_vanishes():
    bases = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.5]])
    line = Line(bases, np.array([0.1, 0.7]), np.array([0.0, 0.3]), np.zeros(1), np.ones(1))
    np.testing.assert_array_equal(line.caps(0.0), line.start @ bases)
    np.testing.assert_array_equal(line.caps(1.0), line.stop @ bases)
    assert line.caps(0.25) == pytest.approx((0.75 * line.start + 0.25 * line.stop) @ bases, rel=1e-15)
    t = 1.0 - 2.0**-50
    assert line.caps(t)[0] == pytest.approx(0.1 * 2.0**-50, rel=1e-15, abs=0.0)
    assert not line.to_zero


def test_a_log_until_a_segment_has_what_comes_before_it():
    whole = log()
    assert whole.segments == 3
    assert whole.until(3) is whole
    two, none = whole.until(2), whole.until(0)
    assert two.segments == 2
    np.testing.assert_array_equal(two.t, whole.t[:, :2])
    np.testing.assert_array_equal(two.ptr, [0, 2, 3])
    for name in ("index", "a0", "a1"):
        np.testing.assert_array_equal(getattr(two, name), getattr(whole, name)[:3], err_msg=name)
    for name in ("eta", "value", "w"):
        np.testing.assert_array_equal(getattr(two, name), getattr(whole, name)[:2], err_msg=name)
    np.testing.assert_array_equal(two.changes, whole.changes[:, :1])
    np.testing.assert_array_equal(two.outside, [0])
    np.testing.assert_array_equal(two.state, whole.state)
    assert none.segments == none.index.size == none.changes.shape[1] == none.outside.size == 0
    np.testing.assert_array_equal(none.ptr, [0])


def test_ends_move_by_shares_of_their_own_segments():
    whole, shares = log(), np.array([[0.5, -0.25], [2.0, 0.125]])
    moved = whole.moved(1, 3, shares)
    same(moved, whole, but=("a0", "a1", "eta", "w", "outside"))
    of_entries = [0, 1, 1, 1]  # segments of the entries behind the first segment
    change = (whole.a1 - whole.a0)[2:]
    np.testing.assert_array_equal(moved.a0[:2], whole.a0[:2])
    np.testing.assert_array_equal(moved.a1[:2], whole.a1[:2])
    np.testing.assert_allclose(moved.a0[2:], whole.a0[2:] + shares[0, of_entries] * change, rtol=1e-15)
    np.testing.assert_allclose(moved.a1[2:], whole.a1[2:] + shares[1, of_entries] * change, rtol=1e-15)
    for name in ("eta", "w"):
        before, after = getattr(whole, name), getattr(moved, name)
        np.testing.assert_array_equal(after[0], before[0])
        for j in (1, 2):
            length = before[j, 1] - before[j, 0]
            for end in (0, 1):
                np.testing.assert_allclose(after[j, end], before[j, end] + shares[end, j - 1] * length, rtol=1e-14)
    np.testing.assert_array_equal(moved.outside, [0, 1, 2])
    same(whole, log())


def test_out_of_nothing_all_is_zero_at_first_and_what_is_at_its_cap_is_so_exactly():
    cap = np.array([9.0, 2.0, 3.0, 9.0])
    full = 0.25 * cap[[1, 2]]
    for off, kept in ((4 * ROUNDING, False), (-4 * ROUNDING, False), (12 * ROUNDING, True), (-12 * ROUNDING, True)):
        given = log()
        given.a1[:2] = full * [1.0 + off, 0.5]
        found = given.from_nothing(cap)
        assert found.a0[:2].tolist() == [0.0, 0.0]
        assert not found.w[0, 0].any()
        assert found.w[0, 1].all()
        assert found.value[0, 0] == 0.0
        assert found.value[0, 1] != 0.0
        assert found.a1[1] == full[1] * 0.5
        assert bool(found.a1[0] != full[0]) is kept
        np.testing.assert_array_equal(found.a0[2:], log().a0[2:])
        # Who is beyond its cap by more than rounding is still asked for.
        np.testing.assert_array_equal(found.outside, [0, 2] if off > 8 * ROUNDING else [2])


def test_out_of_nothing_what_is_below_zero_by_more_than_rounding_stays_in_question():
    cap = np.array([9.0, 2.0, 3.0, 9.0])
    for below, asked in ((6 * ROUNDING, [2]), (10 * ROUNDING, [0, 2])):
        given = log()
        given.a1[:2] = 0.25, -below * 0.75
        np.testing.assert_array_equal(given.from_nothing(cap).outside, asked)
    settled = replace(log(), outside=np.zeros(0, dtype=int))
    assert settled.from_nothing(cap) is settled
