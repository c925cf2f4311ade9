"""Bands of replicates beside counts by hand, and bootstrap draws as the parts of the splits see them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.roc.empirical.bands import Replicates, bootstrap
from paretoclf.roc.empirical.monotone import monotone_fit

RNG = np.random.default_rng(3)
TNR = np.linspace(0, 1, 5)
VALUES = np.sort(RNG.uniform(size=(37, 5)), axis=1)[:, ::-1].round(1)
AREAS = RNG.uniform(size=37)


def share(values, percent):
    """A percentile by interpolation between order statistics."""
    ordered, place = sorted(values), percent / 100 * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def depth(values, draw):
    """The least number of draws that are as low, or as high, as this one anywhere: itself among them."""
    column = [[row[j] for row in values] for j in range(len(values[0]))]
    return min(
        min(sum(v <= values[draw][j] for v in column[j]), sum(v >= values[draw][j] for v in column[j]))
        for j in range(len(column))
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_a_pointwise_band_has_the_percentiles_of_each_point(level):
    band = Replicates(TNR, VALUES, AREAS).band(level, simultaneous=False)
    tail = 50 * (1 - level)
    np.testing.assert_allclose(band.lower, [share(VALUES[:, j], tail) for j in range(5)])
    np.testing.assert_allclose(band.upper, [share(VALUES[:, j], 100 - tail) for j in range(5)])
    assert band.area == pytest.approx((share(AREAS, tail), share(AREAS, 100 - tail)))
    assert (band.level, band.simultaneous) == (level, False)
    assert band.tnr is TNR


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_a_simultaneous_band_is_the_range_of_the_deepest_draws(level):
    found = Replicates(TNR, VALUES, AREAS).band(level, simultaneous=True)
    depths = [depth(VALUES.tolist(), k) for k in range(37)]
    order = sorted(range(37), key=lambda k: -depths[k])
    kept = VALUES[order[: math.ceil(level * 37)]]
    np.testing.assert_array_equal(found.lower, kept.min(axis=0))
    np.testing.assert_array_equal(found.upper, kept.max(axis=0))
    inside = ((found.lower <= VALUES) & (found.upper >= VALUES)).all(axis=1)
    assert inside.sum() >= level * 37
    assert found.area == Replicates(TNR, VALUES, AREAS).band(level, simultaneous=False).area
    assert found.simultaneous


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2, "much"])
def test_a_level_is_a_share(level):
    with pytest.raises(InputError, match="level must"):
        Replicates(TNR, VALUES, AREAS).band(level, simultaneous=False)


@dataclass
class Part:
    """A held-out part that keeps the weights it is asked with; its rates are functions of them."""

    test: np.ndarray
    positive: np.ndarray
    asked: list = field(default_factory=list)

    def rates(self, weight):
        self.asked.append(weight)
        plus, minus = weight[self.positive], weight[~self.positive]
        share = [plus[0] / plus.sum(axis=0), minus[0] / minus.sum(axis=0)]
        edge = np.ones((1, weight.shape[1]))
        return np.vstack([0 * edge, share[1][None], edge]), np.vstack([edge, share[0][None], 0 * edge])


Y = np.array([1.0, 1, -1, -1, -1, 1, 1, -1])


def parts():
    first = Part(np.array([0, 2, 5, 3]), np.array([True, False, True, False]))
    return [first, Part(np.array([1, 4, 6, 7]), np.array([True, False, True, False]))]


def test_each_class_is_drawn_with_replacement_and_everywhere_with_the_same_counts():
    asked = parts()
    replicates = bootstrap(asked, Y, 120, np.random.default_rng(0), TNR)
    assert replicates.values.shape == (120, 5)
    assert replicates.areas.shape == (120,)
    weights = [np.hstack(part.asked) for part in asked]
    assert all(weight.shape == (4, 120) for weight in weights)
    for draw in range(120):
        counts = np.full(8, -1.0)
        known = True
        for part, weight in zip(asked, weights, strict=True):
            counts[part.test] = weight[:, draw]
        # A part that a draw leaves without a class has weights of 1 in place of its counts.
        known = counts[Y > 0].sum() == counts[Y < 0].sum() == 4
        ones = [bool((weight[:, draw] == 1).all()) for weight in weights]
        assert known or any(ones)
        assert (counts == counts.round()).all()
        assert counts.min() >= 0
    assert sum((np.hstack(part.asked) == 1).all(axis=0).sum() for part in asked) < 120
    assert {0.0, 1.0, 2.0, 3.0} <= set(np.unique(weights[0]))


def test_a_replicate_is_the_monotone_fit_of_the_rates_of_all_parts():
    asked = parts()
    replicates = bootstrap(asked, Y, 60, np.random.default_rng(0), TNR)
    weights = [np.hstack(part.asked) for part in asked]
    for draw in (0, 1, 49, 50, 59):
        points = [part.rates(weight[:, draw : draw + 1]) for part, weight in zip(asked, weights, strict=True)]
        tnr, tpr = (np.concatenate([pair[k].ravel() for pair in points]) for k in (0, 1))
        fit = monotone_fit(tnr, tpr)
        np.testing.assert_allclose(replicates.values[draw], fit(TNR))
        assert replicates.areas[draw] == pytest.approx(fit.area)


def test_counts_have_the_moments_of_a_multinomial_distribution():
    asked = [Part(np.arange(8), Y > 0)]
    bootstrap(asked, Y, 4000, np.random.default_rng(1), TNR)
    counts = np.hstack(asked[0].asked)
    assert (counts[Y > 0].sum(axis=0) == 4).all()
    assert (counts[Y < 0].sum(axis=0) == 4).all()
    np.testing.assert_allclose(counts.mean(axis=1), 1.0, atol=0.08)
    np.testing.assert_allclose(counts.var(axis=1), 0.75, atol=0.1)  # n p (1 - p)


def test_the_seed_decides_the_draws():
    one, other, third = (bootstrap(parts(), Y, 30, np.random.default_rng(seed), TNR) for seed in (5, 5, 6))
    assert np.array_equal(one.values, other.values)
    assert not np.array_equal(one.values, third.values)
