"""The order-statistic threshold: its arithmetic in fractions, and how often it fails."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, norm

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.tuning import guaranteed_threshold, order_statistic


def violation(m, k, alpha):
    """v(k), exactly."""
    a = Fraction(alpha).limit_denominator(1000)
    return sum(comb(m, j) * (1 - a) ** j * a ** (m - j) for j in range(k, m + 1))


@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.05), (0.1, 0.05), (0.1, 0.1), (0.01, 0.2), (0.3, 0.01)])
def test_the_rank_is_the_smallest_whose_bound_holds(alpha, delta):
    needed = pc.tuning.negatives_needed(alpha, delta)
    assert violation(needed, needed, alpha) <= delta < violation(needed - 1, needed - 1, alpha)
    for m in (needed, needed + 1, needed + 17, 3 * needed):
        k, bound = order_statistic(m, alpha, delta)
        assert bound == pytest.approx(float(violation(m, k, alpha)), rel=1e-9)
        assert violation(m, k, alpha) <= delta < violation(m, k - 1, alpha)


def test_numbers_of_the_paper():
    """Tong, Feng & Li (2018): 59 negatives at alpha = delta = 0.05."""
    assert pc.tuning.negatives_needed(0.05, 0.05) == 59
    assert pc.tuning.negatives_needed(0.1, 0.05) == 29
    assert pc.tuning.negatives_needed(0.5, 0.5) == 1
    assert order_statistic(1, 0.5, 0.5) == (1, 0.5)


def test_too_few_negatives_are_told_how_many_are_needed():
    with pytest.raises(InputError, match=r"alpha = 0\.05 with delta = 0\.05 needs at least 59 left-out .* got 58"):
        order_statistic(58, 0.05, 0.05)
    X, y = np.arange(40.0)[:, None], np.repeat([-1, 1], 20)
    with pytest.raises(InputError, match="needs at least 59 left-out negatives, got 10"):
        pc.tune(X, y, pc.tuning.NeymanPearson(0.05), delta=0.05)


@pytest.mark.parametrize(("m", "alpha", "delta"), [(59, 0.05, 0.05), (200, 0.1, 0.1), (45, 0.2, 0.05)])
def test_violations_are_within_their_binomial_band(m, alpha, delta):
    """With continuous scores the probability is v(k) itself: neither more nor less."""
    rng, draws = np.random.default_rng(0), 4000
    _, bound = order_statistic(m, alpha, delta)
    thresholds = np.array([guaranteed_threshold(rng.normal(size=m), alpha, delta).threshold for _ in range(draws)])
    violations = int((norm.sf(thresholds) > alpha).sum())
    low, high = binom.ppf([0.0005, 0.9995], draws, bound)
    assert low <= violations <= high
    assert bound <= delta


def test_a_rule_of_a_path_violates_within_its_band():
    """Linear rules of a path, whose rates on the normal negatives are known: 300 draws of everything."""
    rng, alpha, delta, m = np.random.default_rng(1), 0.1, 0.1, 60
    y = np.repeat([-1.0, 1.0], 15)
    violations = 0
    for _ in range(300):
        X = rng.normal(size=(30, 2)) + 0.5 * y[:, None]
        solution = pc.trace(pc.TwoCSVM(X, y), (0, 0), (1, 1), certify=False).at(0.7)
        rule = pc.tuning.guaranteed(solution.classifier, rng.normal(size=(m, 2)) - 0.5, alpha, delta)
        violations += norm.cdf((rule.b - 0.5 * rule.w.sum()) / np.linalg.norm(rule.w)) > alpha
    low, high = binom.ppf([0.001, 0.999], 300, rule.guarantee.bound)
    assert low <= violations <= high


def test_ties_make_it_more_careful():
    """Scores of a few values: the k-th and all equal to it stay below."""
    rng = np.random.default_rng(2)
    violations = 0
    for _ in range(500):
        found = guaranteed_threshold(rng.integers(0, 5, size=80).astype(float), 0.25, 0.1)
        violations += (np.arange(5) >= found.threshold).mean() > 0.25
    assert violations <= binom.ppf(0.999, 500, 0.1)
    assert guaranteed_threshold(np.zeros(80), 0.25, 0.1).threshold > 0


def test_exactly_the_scores_above_the_rank_are_positive():
    scores = np.random.default_rng(3).normal(size=(100, 1))
    rule = pc.tuning.guaranteed(pc.results.LinearRule([1.0], 0.0), scores, 0.1, 0.05)
    assert (rule.predict(scores) > 0).sum() == 100 - rule.guarantee.rank


@pytest.mark.parametrize(("alpha", "delta"), [(0, 0.1), (0.1, 1), (1.2, 0.1), (0.1, -1)])
def test_levels_outside_the_open_interval(alpha, delta):
    with pytest.raises(InputError, match=r"(alpha|delta) must lie strictly"):
        pc.tuning.negatives_needed(alpha, delta)


def test_scores_alone_give_the_threshold_of_a_model_that_has_these_scores():
    scores = np.random.default_rng(4).normal(size=180).round(2)  # with ties
    found = guaranteed_threshold(scores.tolist(), 0.08, 0.1)
    ranked = sorted(scores.tolist())
    assert (found.rank, found.bound) == (171, pytest.approx(float(violation(180, 171, 0.08)), rel=1e-9))
    assert violation(180, 170, 0.08) > 0.1
    assert ranked[170] < found.threshold <= min(score for score in ranked if score > ranked[170])
    assert pc.tuning.guaranteed(pc.results.LinearRule([1.0], 0.0), scores[:, None], 0.08, 0.1).guarantee == found


@pytest.mark.parametrize("rule", [np.zeros(180), None, "svm", pc.results.LinearRule])
def test_scores_in_place_of_a_model_are_told_where_they_belong(rule):
    with pytest.raises(
        InputError, match=r"rule must be a model with a decision_function, .*guaranteed_threshold\(scores"
    ):
        pc.tuning.guaranteed(rule, np.zeros(180), 0.08, 0.1)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.zeros((180, 1)), r"scores must have shape \(180,\), got \(180, 1\)"),
        ([0.0] * 40 + [np.nan], "scores must be finite, got nan at index 40"),
        (np.zeros(25), "needs at least 28 left-out negatives, got 25"),
    ],
)
def test_scores_that_give_no_threshold(scores, said):
    with pytest.raises(InputError, match=said):
        guaranteed_threshold(scores, 0.08, 0.1)
