"""Errata of Bach et al. (2006), section 4 and appendices: the printed formula fails, the corrected one holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from paretoclf.distributions.population import Mixture, Population, population_expansion, population_solution
from paretoclf.distributions.population.expansions import tilt
from paretoclf.distributions.population.solution import solution_at
from tests.oracles.populations import mixtures, pair, slope, with_regime

GAMMAS = np.array([3e-4, 1e-4, 3e-5])


def test_eB1_the_intercept_of_proposition_1_lacks_an_inverse_covariance():
    population = mixtures(prior_plus=0.5)
    moments = population.moments
    b = np.array([population_solution(population, g).b for g in GAMMAS])
    printed = -1 + GAMMAS * (2 - 2 * moments.mu_minus @ moments.delta)
    corrected = -1 + GAMMAS * (2 - 2 * moments.mu_minus @ np.linalg.solve(moments.Sigma_minus, moments.delta))
    assert slope(GAMMAS, b - printed) == pytest.approx(1, abs=0.02)
    assert slope(GAMMAS, b - corrected) == pytest.approx(2, abs=0.02)


def two_widths():
    """A narrow and a wide component in the positives: maximum and minimum have opposite signs."""
    positives = Mixture([[1.0, 0.0], [1.0, 0.0]], [0.3 * np.eye(2), 3.0 * np.eye(2)], [0.6, 0.4])
    return Population(positives, Mixture([0.0, 0.0], np.eye(2)))


def test_eB2_the_smallest_exponent_dominates_not_the_largest():
    population = two_widths()
    a = np.linalg.solve(population.moments.Sigma_minus, population.moments.delta)
    exponents = [1 / np.einsum("a,iab,b->i", a, m.covariances, a) for m in (population.negatives, population.positives)]
    printed, corrected = exponents[0].max() - exponents[1].max(), exponents[0].min() - exponents[1].min()
    assert printed < 0 < corrected
    limit = [8 * g**2 * population_solution(population, g).log_slope for g in (1e-3, 1e-4)]
    assert limit[1] == pytest.approx(corrected, rel=1e-3)
    assert np.sign(limit[1]) != np.sign(printed)


def test_eB3_proposition_4_has_the_square_of_the_logarithm():
    population = with_regime(-0.96)
    A = population_expansion(population, "erf").A
    L = np.array([1e3, 1e4, 1e5])
    found = np.array([solution_at(population, -each, "erf").log_slope for each in L])
    assert np.abs(found / (2 * A * L**2) - 1)[-1] < 1e-3
    assert np.all(np.abs(found / (2 * A * L)) > 100)  # as printed: grows without bound
    assert slope(L, found) == pytest.approx(2, abs=0.02)


def test_eB4_with_the_erf_loss_the_testing_asymmetry_falls_faster_than_any_power():
    population = with_regime(0.5)
    L = np.array([1e2, 1e3, 1e4])
    powers = np.array([solution_at(population, -each, "erf").log_slope for each in L]) / L  # beta is about gamma^power
    assert np.all(np.diff(powers) > 10)
    assert slope(L, powers) == pytest.approx(1, abs=0.15)


def test_eB5_the_second_variance_of_the_last_display_is_that_of_the_positives():
    population = with_regime(0.5)  # one component each, V_minus = 1 and V_plus = 2 along a
    a = population.moments.delta
    minus, plus = (float(a @ m.covariances[0] @ a) for m in (population.negatives, population.positives))
    printed, corrected = 1 / minus - 1 / minus, 1 / minus - 1 / plus
    limit = 8 * 1e-8 * population_solution(population, 1e-4).log_slope
    assert limit == pytest.approx(corrected, rel=1e-3)
    assert printed == 0


def test_eB6_the_derivatives_of_the_rates_divide_by_the_root_of_the_variance():
    population, gamma = pair(prior_plus=0.5), 0.004
    a = np.linalg.solve(population.moments.Sigma_minus, population.moments.delta)
    V, c = float(a @ population.moments.Sigma_minus @ a), 2 * gamma
    # t_u = -1 / (c sqrt(V)) and its derivative by c, from the expansion; and from two solutions.
    t = [
        (s.w @ population.negatives.mean + s.b) / np.sqrt(s.w @ population.moments.Sigma_minus @ s.w)
        for s in (population_solution(population, gamma * (1 + e)) for e in (-1e-4, 1e-4))
    ]
    exact = (t[1] - t[0]) / (2e-4 * c)
    assert exact == pytest.approx(1 / (c**2 * V**0.5), rel=0.05)
    assert exact != pytest.approx(1 / (c**2 * V**-0.5), rel=0.5)


def test_eB10_the_weights_of_the_negatives_stand_over_their_own_sum():
    population, log_odds = mixtures(prior_plus=0.5), -8.0
    at = solution_at(population, log_odds, "erf")
    parts = {}
    for sign, mixture in ((1, population.positives), (-1, population.negatives)):
        sigma = np.sqrt(1 + np.einsum("a,iab,b->i", at.w, mixture.covariances, at.w))
        t = -sign * (mixture.means @ at.w + at.b) / sigma
        density = np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
        share = mixture.weights * ndtr(t)
        pull = (mixture.covariances @ at.w) / sigma[:, None]
        parts[sign] = (share, mixture.means, (mixture.weights * density) @ pull, t)
    (plus, mu_plus, pull_plus, _), (minus, mu_minus, pull_minus, _) = parts[1], parts[-1]
    right = -pull_plus / plus.sum() - pull_minus / minus.sum()
    corrected = minus @ mu_minus / minus.sum() - plus @ mu_plus / plus.sum()
    printed = minus @ mu_minus / plus.sum() - plus @ mu_plus / plus.sum()
    assert corrected == pytest.approx(right, abs=1e-10)
    assert np.abs(printed - right).max() > 0.1


def test_eB17_the_weights_of_the_limit_are_over_the_weighted_sum():
    """Against the shares of the components at an asymmetry of nearly 0, from the optimum itself."""
    population = mixtures()
    limit, negatives = solution_at(population, -1e6, "erf"), population.negatives
    sigma = np.sqrt(1 + np.einsum("a,iab,b->i", limit.w, negatives.covariances, limit.w))
    logs = np.log(negatives.weights) + log_ndtr((negatives.means @ limit.w + limit.b) / sigma)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    means = negatives.means - population.positives.mean
    theta = (limit.b + limit.w @ population.positives.mean) * limit.w
    growth = np.exp(-means @ theta + 0.5 * np.einsum("a,iab,b->i", theta, negatives.covariances, theta))
    weighted = negatives.weights * growth
    assert weighted / weighted.sum() == pytest.approx(shares, abs=1e-4)
    centred = tilt(negatives, np.array([1.0, 0.0]))  # positives of mean (1, 0)
    means = negatives.means - [1.0, 0.0]
    growth = np.exp(means @ centred.a + 0.5 * np.einsum("a,iab,b->i", centred.a, negatives.covariances, centred.a))
    weighted = negatives.weights * growth
    assert (weighted / weighted.sum()).round(4).tolist() == [0.5482, 0.4518]
    assert (weighted / growth.sum()).round(4).tolist() == [0.2217, 0.1827]


def test_eB18_the_condition_for_the_intercept_has_a_minus():
    population, log_odds = pair(), -3.0
    at = solution_at(population, log_odds, "erf")
    terms = []
    share, prior = 1 / (1 + np.exp(-log_odds)), population.prior_plus
    for sign, gaussian, cost in (
        (1, population.positives, share * prior),
        (-1, population.negatives, (1 - share) * (1 - prior)),
    ):
        sigma = np.sqrt(1 + at.w @ gaussian.covariances[0] @ at.w)
        terms.append(cost * ndtr(-sign * (gaussian.means[0] @ at.w + at.b) / sigma))
    assert terms[0] == pytest.approx(terms[1], rel=1e-9)  # so their difference is 0
    assert sum(terms) > 0.01


def test_eB13_the_means_of_appendix_A_are_relative_to_the_positives():
    population = mixtures()
    limit = solution_at(population, -1e6, "erf")
    b = limit.b + limit.w @ population.positives.mean
    right, wrong = tilt(population.negatives, population.positives.mean), tilt(population.negatives, np.zeros(2))
    assert b * limit.w == pytest.approx(-right.a, abs=1e-5)
    assert np.abs(b * limit.w + wrong.a).max() > 0.3
