"""The theorem of lines: sums of products of the bounds that count, against loops over all of them, at many points."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.proof.segments.theorem import Entries, complementarity, gap_of

SHARE = np.linspace(0.0, 1.0, 21)
WEIGHTS = np.stack([(1 - SHARE) ** 2, 2 * SHARE * (1 - SHARE), SHARE**2])
SEEDS = pytest.mark.parametrize("seed", range(6))


def random_entries(seed, points=False):
    """Three segments: the second lists nothing; behind those that are listed come others of the first and the third."""
    rng = np.random.default_rng(seed)
    ptr = np.array([0, 4, 4, 7])
    row = np.array([0, 0, 0, 0, 2, 2, 2, 2, 0, 2, 0])
    caps = rng.random((2, row.size)) + 0.1
    alpha = caps * rng.choice([0.0, 0.25, 0.5, 1.0], size=caps.shape)
    margin = rng.normal(size=caps.shape)
    apart = np.array([True, False, False]) if points else None
    return Entries(ptr, row, 10 + np.arange(row.size), caps, alpha, margin, apart)


def test_numbers_of_a_segment_are_combined_with_0():
    entries = random_entries(0)
    values = np.array([1.0, -2.0, 3.0, -1.0, -5.0, -6.0, -7.0, -8.0, 4.0, -9.0, 2.0])
    most, sample = entries.largest(values)
    assert most.tolist() == [4.0, 0.0, 0.0]
    assert sample.tolist() == [18, 0, 0]
    ends = entries.at_ends(np.stack([values, -values]))
    assert ends.tolist() == [[4.0, 2.0], [0.0, 0.0], [0.0, 9.0]]
    sums = entries.add(values, 2.0 * values)
    assert sums.tolist() == [[7.0, 14.0], [0.0, 0.0], [-35.0, -70.0]]
    assert entries.largest(np.zeros(11))[1].tolist() == [20, 0, 19]  # of several the last
    none = Entries(np.zeros(3, dtype=int), *np.zeros((2, 0), dtype=int), *np.zeros((3, 2, 0)))
    assert none.add(np.zeros(0)).tolist() == [[0.0], [0.0]]
    assert gap_of(none).tolist() == [[0.0] * 3] * 2


@SEEDS
def test_no_sum_of_products_is_larger_than_its_coefficients_say(seed):
    entries = random_entries(seed)
    found = gap_of(entries) @ WEIGHTS
    for segment in range(3):
        exact = np.zeros(SHARE.size)
        for e in np.flatnonzero(entries.row == segment):
            caps, alpha, margin = (
                (1 - SHARE) * each[0, e] + SHARE * each[1, e] for each in (entries.caps, entries.alpha, entries.margin)
            )
            exact += alpha * np.maximum(margin, 0.0) + (caps - alpha) * np.maximum(-margin, 0.0)
        assert (found[segment] >= exact - 1e-14).all()
        np.testing.assert_allclose(found[segment, [0, -1]], exact[[0, -1]], atol=1e-14)
    # Where no margin changes its sign, nothing is lost.
    one_sign = Entries(entries.ptr, entries.row, entries.sample, entries.caps, entries.alpha, np.abs(entries.margin))
    alpha, margin = (
        (1 - SHARE)[:, None] * each[0] + SHARE[:, None] * each[1] for each in (one_sign.alpha, one_sign.margin)
    )
    for segment in range(3):
        own = one_sign.row == segment
        np.testing.assert_allclose(
            gap_of(one_sign)[segment] @ WEIGHTS, (alpha * margin)[:, own].sum(axis=1), atol=1e-14
        )


@SEEDS
def test_of_two_points_the_middle_is_the_mean_of_both(seed):
    together, apart = gap_of(random_entries(seed)), gap_of(random_entries(seed, points=True))
    np.testing.assert_array_equal(apart[:, [0, 2]], together[:, [0, 2]])
    np.testing.assert_allclose(apart[0, 1], 0.5 * (apart[0, 0] + apart[0, 2]))
    np.testing.assert_array_equal(apart[1:], together[1:])


@SEEDS
@pytest.mark.parametrize("points", [False, True])
def test_complementarity_is_the_smaller_of_load_and_margin_of_any_entry(seed, points):
    entries = random_entries(seed, points)
    rng = np.random.default_rng(seed)
    unit = rng.random(entries.caps.shape) + 0.5
    most, sample = complementarity(entries, entries.margin, unit)
    for segment in range(3):
        wanted = [0.0]
        names = [0]
        for e in np.flatnonzero(entries.row == segment):
            load, slack = entries.alpha[:, e] / unit[:, e], (entries.caps - entries.alpha)[:, e] / unit[:, e]
            margin = entries.margin[:, e]
            if points and segment == 0:
                pairs = [min(load[end], margin[end]) for end in (0, 1)] + [
                    min(slack[end], -margin[end]) for end in (0, 1)
                ]
            else:
                pairs = [min(load.max(), margin.max()), min(slack.max(), (-margin).max())]
            wanted.append(max(pairs))
            names.append(entries.sample[e])
        assert most[segment] == pytest.approx(max(wanted), rel=1e-14)
        if max(wanted) > 0.0:
            assert sample[segment] == names[int(np.argmax(wanted))]


def test_what_can_not_be_above_0_has_no_load_and_all_of_its_slack():
    """Units of 0: a multiplier of 0 has no load; a cap above it is wholly unused, and no cap is not."""
    ptr, row = np.array([0, 3]), np.zeros(3, dtype=int)
    caps, alpha = np.array([[0.0, 1.0, 1.0]] * 2), np.array([[0.0, 0.0, 0.5]] * 2)
    unit = np.array([[0.0, 0.0, 0.5]] * 2)

    def residual(*margins):
        margin = np.array([margins] * 2)
        return complementarity(Entries(ptr, row, np.arange(3), caps, alpha, margin), margin, unit)[0][0]

    assert residual(3.0, 3.0, 0.0) == 0.0
    assert residual(-3.0, 0.0, 0.0) == 0.0
    assert residual(0.0, -3.0, 0.0) == 3.0
    assert residual(0.0, 0.0, 3.0) == 1.0
    assert residual(0.0, 0.0, -3.0) == 1.0
    # At one end alone.
    unit = np.array([[0.0, 0.0, 0.5], [1.0, 1.0, 0.5]])
    assert residual(0.0, -3.0, 0.0) == 3.0


def test_segments_that_are_two_points_are_few():
    entries = random_entries(0, points=True)
    assert entries.at_points.tolist() == [0, 1, 2, 3, 8, 10]
    assert random_entries(0).at_points.size == 0
    none = Entries(
        entries.ptr, entries.row, entries.sample, entries.caps, entries.alpha, entries.margin, np.zeros(3, bool)
    )
    assert none.at_points.size == 0
    np.testing.assert_array_equal(entries.cap_slack, entries.caps - entries.alpha)


def test_a_multiplier_for_each_bound_is_no_less_than_the_two_parts_of_one():
    """What the theorem says of a y that changes its sign: c - y+ is above its chord there, and the sum of F is not.

    In fractions: both multipliers larger by s add s (u - l), on each of the three sides of the bounds.
    """
    rng = np.random.default_rng(0)

    def F(a, b, v, low, high, below, above):
        inside = a * max(v - low, 0) + b * max(high - v, 0)
        return inside + (below - a) * max(low - v, 0) + (above - b) * max(v - high, 0)

    for _ in range(300):
        low, width, below, above, s = (Fraction(int(k), 7) for k in rng.integers(1, 30, 5))
        v, y = (Fraction(int(k), 7) for k in rng.integers(-30, 60, 2))
        bounds = (low, low + width, below, above)
        a, b = max(y, Fraction(0)), max(-y, Fraction(0))
        assert F(a + s, b + s, v, *bounds) - F(a, b, v, *bounds) == s * width
    start, end, price = -1.0, 1.0, 1.0  # y at both ends; in the middle it is 0
    chord = 0.5 * sum(price - max(y, 0.0) for y in (start, end))
    assert price - max(0.5 * (start + end), 0.0) > chord


def test_nothing_at_one_of_two_points_is_multiplied_with_what_is_at_the_other():
    """Two segments of the same numbers: a multiplier that goes from 0 to half its cap, and a margin from 1 to 0."""
    two = {"ptr": np.arange(3), "row": np.arange(2), "sample": np.array([4, 5]), "caps": np.ones((2, 2))}
    E = Entries(**two, alpha=np.array([[0.0, 0], [0.5, 0.5]]), margin=np.array([[1.0, 1], [0, 0]]))
    apart = replace(E, points=np.array([False, True]))
    assert np.array_equal(gap_of(E), [[0.0, 0.25, 0.0]] * 2)
    assert np.array_equal(gap_of(apart), [[0.0, 0.25, 0.0], [0.0, 0.0, 0.0]])
    for entries, most in ((E, [0.5, 0.5]), (apart, [0.5, 0.0])):
        assert np.array_equal(complementarity(entries, entries.margin, entries.caps)[0], most)
    below = replace(apart, alpha=1.0 - E.alpha, margin=-E.margin)  # the same at the cap
    assert np.array_equal(gap_of(below), gap_of(apart))
    assert np.array_equal(complementarity(below, below.margin, below.caps)[0], [0.5, 0.0])
    wrong = replace(apart, alpha=np.array([[0.0, 0.25], [0.5, 0.5]]))  # at one of the two points
    assert np.array_equal(gap_of(wrong)[1], [0.25, 0.125, 0.0])
    assert complementarity(wrong, wrong.margin, wrong.caps)[0][1] == 0.25
