"""The likelihood-ratio classifier: exact rates, draws, and that nothing beats it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import paretoclf as pc
from paretoclf.distributions.population import (
    Mixture,
    Population,
    intercept_curve,
    likelihood_ratio_curve,
    population_curve,
    population_solution,
)
from paretoclf.distributions.population.likelihood_ratio import _Gaussians
from tests.oracles.populations import mixtures, pair

LOSSES = ("square", "erf", "hinge")


def random_gaussians(d, seed):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(2, d, d))
    covariances = [R @ R.T + 0.3 * np.eye(d) for R in roots]
    return Population(Mixture(rng.normal(size=d), covariances[0]), Mixture(np.zeros(d), covariances[1]), 0.4)


def test_equal_covariances_are_the_linear_rule_in_any_tail():
    population = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.eye(2)))
    exact = _Gaussians.of(population)
    for c in (-60.0, -5.0, 0.0, 2.0, 30.0, 200.0):
        fpr, tpr = exact.shares(c)
        assert fpr == pytest.approx(norm.sf((c + 2) / 2), rel=1e-11)
        assert tpr == pytest.approx(norm.sf((c - 2) / 2), rel=1e-11)


def test_one_feature_is_two_half_lines():
    # N(m, 4) against N(0, 1): the ratio is a parabola, and its rates are differences of distribution functions.
    m = 0.7
    exact = _Gaussians.of(Population(Mixture([m], [[4.0]]), Mixture([0.0], [[1.0]])))
    for c in (-0.7, -0.5, 0.0, 3.0, 40.0):
        # x^2 / 2 - (x - m)^2 / 8 - log 2 >= c
        roots = np.roots([3 / 8, m / 4, -(m**2) / 8 - np.log(2) - c])
        low, high = sorted(roots.real)
        assert exact.shares(c)[0] == pytest.approx(norm.cdf(low) + norm.sf(high), rel=1e-10)
        assert exact.shares(c)[1] == pytest.approx(norm.cdf(low, m, 2) + norm.sf(high, m, 2), rel=1e-10)
    assert exact.shares(-(m**2) / 6 - np.log(2) - 0.01) == pytest.approx((1.0, 1.0), abs=1e-10)


@pytest.mark.parametrize(("d", "seed"), [(2, 0), (3, 1), (5, 2), (5, 3)])
def test_rates_are_shares_of_draws(d, seed):
    population = random_gaussians(d, seed)
    curve = likelihood_ratio_curve(population, 25)
    n = 200_000
    for mixture, rates in ((population.positives, curve.tpr), (population.negatives, curve.fpr)):
        ratio = population.log_ratio(mixture.draw(n, 9))
        shares = np.array([np.mean(ratio >= c) for c in curve.thresholds])
        assert np.all(np.abs(shares - rates) <= 4.5 * np.sqrt(rates * (1 - rates) / n) + 2e-5)


def test_the_slope_of_the_curve_is_the_ratio():
    # Neyman and Pearson: dv / du = e^c.
    exact = _Gaussians.of(random_gaussians(3, 1))
    for c in (-2.0, 0.3, 4.0):
        low, high = exact.shares(c - 1e-4), exact.shares(c + 1e-4)
        assert (low[1] - high[1]) / (low[0] - high[0]) == pytest.approx(np.exp(c), rel=1e-6)


@pytest.mark.parametrize("make", [pair, mixtures])
def test_no_linear_curve_is_above_it(make):
    population = make()
    bound = likelihood_ratio_curve(population, 801)
    room = 4 * bound.error + 2e-5  # chords of the curve lie below it
    for loss in LOSSES:
        curve = population_curve(population, loss, np.linspace(0.04, 0.96, 13))
        assert np.all(curve.tpr <= bound.tpr_at(curve.fpr) + room)
    best = pc.gaussian_tradeoff(population.moments) if population.gaussian else None
    if best is not None:
        points = best.curve(50)
        assert np.all(points.tpr <= bound.tpr_at(points.fpr) + room)
    assert bound.auc > intercept_curve(population, population_solution(population, 0.5).w).auc


def test_draws_agree_with_the_exact_curve():
    population = pair()
    twice = Mixture([[-1.0, 0.0]] * 2, [2 * np.eye(2)] * 2, [0.5, 0.5])  # the same class, as a mixture
    drawn = likelihood_ratio_curve(Population(population.positives, twice, 0.4), 101)
    exact = likelihood_ratio_curve(population, 401)
    assert drawn.error > exact.error == 0
    assert np.abs(drawn.tpr - exact.tpr_at(drawn.fpr)).max() < 5 * drawn.error
    assert drawn.auc == pytest.approx(exact.auc, abs=3 * drawn.error)
    # Concave, as it must be.
    slopes = np.diff(drawn.tpr) / np.diff(drawn.fpr)
    assert np.all(np.diff(slopes) <= 1e-9 * slopes[:-1])


def test_bayes_rule():
    population = mixtures()
    rule = likelihood_ratio_curve(population, 11, draws=2000).best(0.7)
    X, y = population.draw(50_000, 2)
    cost = np.where(y > 0, 0.7, 0.3)
    bayes = np.mean(cost * (rule.predict(X) != y))
    assert rule.b == -rule.threshold
    for loss in LOSSES:
        linear = population_curve(population, loss, np.linspace(0.3, 0.9, 7)).best(0.7).classifier
        assert bayes < np.mean(cost * (linear.predict(X) != y))


def test_scale_mixtures_share_their_linear_pareto_set_but_not_their_likelihood_ratio():
    """Kim et al. (2006), sections 1.2 and 4."""
    mu, plus, minus = np.array([1.5, 0.5]), np.array([[1.0, 0.3], [0.3, 0.6]]), np.array([[0.5, -0.2], [-0.2, 1.0]])

    def population(scales, weights):
        return Population(
            Mixture.of_scales(mu, plus, scales, weights), Mixture.of_scales(np.zeros(2), minus, scales, weights)
        )

    gaussian, heavy = population([1.0], [1.0]), population([0.3, 12.0], [0.8, 0.2])
    tradeoff = pc.gaussian_tradeoff(gaussian.moments)
    rng = np.random.default_rng(0)
    for fpr in (0.05, 0.2):
        at = tradeoff.at_rate(fpr=fpr)
        # No other slope has a larger true positive rate at the same false positive rate, for either.
        for each in (gaussian, heavy):
            level, best = each.negatives.share(at.w, at.b), each.positives.share(at.w, at.b)
            for w in rng.normal(size=(60, 2)):
                curve = intercept_curve(each, w, 4001)
                assert np.interp(level, curve.fpr, curve.tpr) <= best + 1e-6
    # The likelihood ratio of the one is not the best test of the other.
    X = np.concatenate([heavy.positives.draw(100_000, 1), heavy.negatives.draw(100_000, 2)])
    y = np.repeat([1.0, -1.0], 100_000)
    own, foreign = heavy.log_ratio(X), gaussian.log_ratio(X)
    for fpr in (0.05, 0.2):
        tpr = [np.mean(r[y > 0] >= np.quantile(r[y < 0], 1 - fpr)) for r in (own, foreign)]
        assert tpr[0] > tpr[1] + 0.02
    # And the linear rules are worse than both of their own likelihood ratios.
    bound = likelihood_ratio_curve(heavy, 401)
    points = tradeoff.curve(40)
    fpr, tpr = heavy.negatives.share(points.w, points.b), heavy.positives.share(points.w, points.b)
    assert np.all(tpr <= bound.tpr_at(fpr) + 5 * bound.error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n": 1}, "n must be a whole number of at least 2, got 1"),
        ({"draws": 10}, "draws must be a whole number of at least 1000, got 10"),
        ({"n": 2.5}, "n must be a whole number of at least 2, got 2.5"),
        ({"rng": -1}, "rng must be a seed"),
    ],
)
def test_bad_input_is_named(arguments, said):
    with pytest.raises(pc.InputError, match=said):
        likelihood_ratio_curve(mixtures(), **arguments)
