"""Two families on the same splits: the corrected resampled t-test and the signed-rank test, against SciPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp, wilcoxon

import paretoclf as pc
from examples.papers.comparisons import paired_areas
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True)
class Thresholds:
    """All thresholds on one slope, from "all negative" to "all positive"."""

    w: np.ndarray

    def scores(self, X):
        s = (X @ self.w)[:, None]
        return PathScores(np.array([0.0, 1.0]), s - 50, s + 50)


def centroids(X, y):
    return Thresholds(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))


def test_paired_tests(gaussians):
    X, y = gaussians(n=80)
    good = pc.empirical_tradeoff(X, y, centroids, splits=12)
    poor = pc.empirical_tradeoff(X, y, lambda A, b: Thresholds(np.eye(3)[0]), splits=12)
    found = paired_areas(good, poor)
    d = good.areas - poor.areas
    assert found.wins + found.losses <= 12
    assert found.mean == pytest.approx(d.mean())
    held = good.parts[0].positive
    pairs = 2 * held.sum() * (~held).sum()  # areas are whole numbers of halves of a pair
    assert np.abs(pairs * d - np.rint(pairs * d)).max() < 1e-9
    assert found.p_wilcoxon == pytest.approx(wilcoxon(np.rint(pairs * d)).pvalue)
    # Nadeau & Bengio: the t statistic shrinks by sqrt(1 + R n_test / n_train).
    plain = ttest_1samp(d, 0)
    t = plain.statistic / np.sqrt(1 + 12 * 24 / 56)
    assert found.p_corrected == pytest.approx(2 * student.sf(abs(t), 11), rel=1e-9)
    assert found.p_corrected > plain.pvalue
    assert (found.interval[0] > 0) == (found.p_corrected < 0.05 and found.mean > 0)
    back = paired_areas(poor, good)
    assert back.p_corrected == pytest.approx(found.p_corrected)
    assert (back.wins, back.losses) == (found.losses, found.wins)
    same = paired_areas(good, good)
    assert (same.p_corrected, same.p_wilcoxon, same.wins) == (1.0, 1.0, 0)


@pytest.mark.parametrize("kind", ["areas", "both", "nested"])
def test_areas_are_whole_numbers_of_halves_of_pairs(gaussians, kind):
    """So equal differences are ties: rounded, they were ranked by their last bits."""
    X, y = gaussians(n=90, positives=0.4)
    options = {"splits": 30, "both": True, "nested": True}
    first, second = (
        pc.empirical_tradeoff(X, y, lambda A, b, j=j: Thresholds(np.eye(3)[j]), **options) for j in range(2)
    )
    part = first.parts[0].positive
    pairs = 2 * int(part.sum()) * int((~part).sum())
    name = {"areas": "areas", "both": "hull_areas", "nested": "nested_areas"}[kind]
    whole = [pairs * getattr(each, name) for each in (first, second)]
    assert max(np.abs(each - np.rint(each)).max() for each in whole) < 1e-9
    found = paired_areas(first, second, **{} if kind == "areas" else {kind: True})
    d = np.rint(whole[0]) - np.rint(whole[1])
    assert found.p_wilcoxon == pytest.approx(wilcoxon(d).pvalue, abs=1e-15)
    assert (found.wins, found.losses) == ((d > 0).sum(), (d < 0).sum())
    assert np.unique(found.differences).size == np.unique(d).size < d.size


def test_the_signed_rank_test_believes_in_splits_and_the_corrected_one_does_not(gaussians):
    """Two equally good slopes on one data set: with many splits the naive test finds a difference all the same."""
    X, y = gaussians(n=120, d=2, seed=1)
    first, second = (
        pc.empirical_tradeoff(X, y, lambda A, b, j=j: Thresholds(np.eye(2)[j]), splits=200) for j in range(2)
    )
    found = paired_areas(first, second)
    assert found.p_wilcoxon < 0.01
    assert found.p_corrected > 0.05


def test_pairs_that_are_none_are_refused(gaussians):
    X, y = gaussians(n=40)
    one = pc.empirical_tradeoff(X, y, centroids, splits=2)
    for other, message in (
        (pc.empirical_tradeoff(X, y, centroids, splits=2, rng=1), "same splits"),
        (pc.empirical_tradeoff(X, y, centroids, splits=3), "same splits"),
    ):
        with pytest.raises(pc.InputError, match=message):
            paired_areas(one, other)
    with pytest.raises(pc.InputError, match="both=True needs hull areas"):
        paired_areas(one, one, both=True)
    with pytest.raises(pc.InputError, match="nested=True needs nested areas"):
        paired_areas(one, one, nested=True)
    single = pc.empirical_tradeoff(X, y, centroids, splits=1)
    with pytest.raises(pc.InputError, match="at least 2 splits"):
        paired_areas(single, single)


def test_nested_areas_are_compared_and_one_kind_at_a_time(gaussians):
    X, y = gaussians(n=40)
    found = pc.empirical_tradeoff(X, y, centroids, splits=2, both=True, nested=True)
    assert paired_areas(found, found, nested=True).mean == 0.0
    with pytest.raises(pc.InputError, match="must not both be True"):
        paired_areas(found, found, both=True, nested=True)
