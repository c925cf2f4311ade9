"""Errata of Bach et al. (2006), section 4 and appendices: the printed formula fails, the corrected one holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

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


def test_eB13_the_means_of_appendix_A_are_relative_to_the_positives():
    population = mixtures()
    limit = solution_at(population, -1e6, "erf")
    b = limit.b + limit.w @ population.positives.mean
    right, wrong = tilt(population.negatives, population.positives.mean), tilt(population.negatives, np.zeros(2))
    assert b * limit.w == pytest.approx(-right.a, abs=1e-5)
    assert np.abs(b * limit.w + wrong.a).max() > 0.3
