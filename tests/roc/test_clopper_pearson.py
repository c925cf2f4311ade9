"""Intervals of error rates, beside the beta distribution, whose quantiles they are, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

import paretoclf as pc


@pytest.mark.parametrize(("errors", "size"), [(0, 10), (3, 10), (10, 10), (7, 115)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_ends_are_quantiles_of_beta(errors, size, level):
    found = pc.roc.RateInterval.of(errors, size, level)
    tail = (1 - level) / 2
    low = beta.ppf(tail, errors, size - errors + 1) if errors else 0.0
    high = beta.ppf(1 - tail, errors + 1, size - errors) if errors < size else 1.0
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.rate == errors / size


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3, 0.5])
def test_each_rate_is_held_with_the_level_at_least(rate):
    intervals = [pc.roc.RateInterval.of(k, 40) for k in range(41)]
    held = [k for k, each in enumerate(intervals) if each.low <= rate <= each.high]
    assert binom.pmf(held, 40, rate).sum() >= 0.95


def test_both_rates_are_those_of_the_rule_with_ties_positive():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(60) < 0.3, 1, -1)
    scores = rng.normal(size=60) + y
    scores[:5] = 0.0
    said = np.where(scores >= 0, 1, -1)
    for found in (
        pc.roc.rate_intervals(y, scores),
        pc.roc.rate_intervals(scores, y),
        pc.roc.rate_intervals(y=y, scores=said),
    ):
        assert found.fpr.errors == np.sum((y < 0) & (said > 0))
        assert found.fnr.errors == np.sum((y > 0) & (said < 0))
        assert (found.fpr.size, found.fnr.size) == (np.sum(y < 0), np.sum(y > 0))
    assert str(found).splitlines()[1].startswith(f"false negative rate {found.fnr.rate:.4f} ({found.fnr.errors} of ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1, 1], [0.1, 0.2]), "y must contain both classes, got only"),
        (([1, -1], [0.1, np.nan]), "scores must be finite"),
        (([1, -1], [1, -1]), "scores and y must be told apart by their names"),
    ],
)
def test_what_has_no_interval_is_refused(given, said):
    with pytest.raises(pc.InputError, match=said):
        pc.roc.rate_intervals(*given)


def test_a_level_that_is_none_is_refused():
    with pytest.raises(pc.InputError, match="level"):
        pc.roc.rate_intervals([1, -1], [0.1, -0.2], level=95)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((1.5, 5), "errors must be a whole number of at least 0, got 1.5"),
        ((-1, 2), "errors must be a whole number of at least 0, got -1"),
        ((0, 0), "size must be a whole number of at least 1, got 0"),
        ((3, 2), r"errors must be at most size, 2, got 3: of\(errors, size\)"),
        ((0, 5, 2), "level must lie strictly between 0 and 1, got 2"),
    ],
)
def test_what_is_no_count_is_refused(given, said):
    with pytest.raises(pc.InputError, match=said):
        pc.roc.RateInterval.of(*given)


@pytest.mark.parametrize("function", [pc.roc.rate_intervals, pc.roc.roc_of_scores, pc.roc.area_interval])
def test_labels_of_several_kinds_are_counted_and_not_sorted(function):
    rng = np.random.default_rng(0)
    mixed, scores = np.array(["ill", 0] * 10, dtype=object), rng.normal(size=20)
    assert str(function(mixed, scores, pos_label="ill")) == str(function(np.tile([1, -1], 10), scores))
    for y, label, said in ((mixed, ["ill"], "pos_label must be one label of y"), ([None, "a", 0], "a", "two labels")):
        with pytest.raises(pc.InputError, match=said):
            function(y, scores[: len(y)], pos_label=label)
