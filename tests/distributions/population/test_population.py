"""Populations: classes, expected losses, minimisers, testing asymmetries; against quadrature, grids and draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import paretoclf as pc
from paretoclf.distributions.population import (
    Mixture,
    Population,
    hinge_thresholds,
    intercept_curve,
    population_curve,
    population_solution,
)
from paretoclf.distributions.population.quadrature import integrate
from tests.oracles.populations import pair

SMOOTH = ("square", "erf", "logistic", "probit")


def test_the_integrals_settle_at_kinks():
    found = integrate(lambda x: np.array([np.abs(x - 0.3), np.exp(-1e4 * x**2)]), np.linspace(-1, 1, 4))
    assert found == pytest.approx([(1.3**2 + 0.7**2) / 2, np.sqrt(np.pi) / 100], rel=1e-12)


def test_the_fixture_of_the_erf_loss():
    population = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], 2 * np.eye(2)))
    found = population_solution(population, 0.5, "erf")
    assert found.w == pytest.approx([0.79248687, 0], abs=1e-8)
    assert found.b == pytest.approx(-0.0644944, abs=1e-7)


def test_classes_without_any_overlap_are_refused():
    far = Population(Mixture([60.0], [[1.0]]), Mixture([0.0], [[2.0]]))
    with pytest.raises(pc.errors.SolveError, match="so far apart that the risk is too small for a double"):
        population_solution(far, 0.5, "erf")
    assert population_solution(far, 0.5, "square").tpr == 1.0


def test_square_loss_is_least_squares():
    population = pair()
    X, y = population.draw(300_000, 7)
    weights = np.where(y > 0, 0.2, 0.8)
    Z = np.column_stack([X, np.ones(y.size)])
    fitted = np.linalg.solve((Z.T * weights) @ Z, (Z.T * weights) @ y)
    found = population_solution(population, 0.2)
    assert [*found.w, found.b] == pytest.approx(fitted, abs=6e-3)


# ---- The hinge: nothing gained at extreme asymmetries ----------------------------------------------------------------


def test_the_threshold_of_the_hinge_for_a_gaussian():
    population = pair()
    low, _ = hinge_thresholds(population)
    D = np.sqrt(population.moments.delta @ np.linalg.solve(population.moments.Sigma_minus, population.moments.delta))
    t = brentq(lambda t: norm.pdf(t) / norm.sf(t) - D, -20, 20, xtol=1e-14)
    assert low + population.log_prior_odds == pytest.approx(np.log(norm.sf(t)), abs=1e-10)


# ---- Curves ----------------------------------------------------------------------------------------------------------


# ---- Bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Mixture([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]]), "covariances must be positive definite"),
        (lambda: Mixture([[0.0], [1.0]], [[[1.0]], [[0.0]]]), r"covariances\[1\] must be positive definite"),
        (lambda: Mixture([0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]]), "covariances must be symmetric"),
        (
            lambda: Mixture([[0.0], [1.0]], [[[1.0]]]),
            r"covariances must be as many as means \(2, at least one\), got 1",
        ),
        (lambda: Mixture([[0.0], [1.0, 2.0]], [[[1.0]], np.eye(2)]), r"means\[1\] must have shape \(1,\)"),
        (lambda: Mixture([0.0, np.nan], np.eye(2)), "means must be finite"),
        (
            lambda: Mixture([[0.0], [1.0]], [[[1.0]], [[1.0]]], [0.5, 0.6]),
            "weights must be positive and add up to 1",
        ),
        (
            lambda: Mixture([[0.0], [1.0]], [[[1.0]], [[1.0]]], [1.0, 0.0]),
            "weights must be positive and add up to 1",
        ),
        (lambda: Mixture.of_scales([0.0], [[1.0]], [1.0, -2.0]), r"scales\[1\] must be a finite positive number"),
        (
            lambda: Population(Mixture([0.0], [[1.0]]), Mixture([0.0, 0.0], np.eye(2))),
            r"negatives must have as many features as positives \(1\), got 2",
        ),
        (lambda: Population([0.0], Mixture([0.0], [[1.0]])), "positives must be a Mixture, got list"),
        (lambda: pair(prior_plus=1.0), "prior_plus must lie strictly between 0 and 1, got 1.0"),
        (lambda: population_solution(pair(), 0.0), "asymmetry must lie strictly between 0 and 1, got 0.0"),
        (lambda: population_solution(pair(), 1.5), "asymmetry must lie strictly between 0 and 1, got 1.5"),
        (lambda: population_solution(pair(), float("nan")), "asymmetry must lie strictly between 0 and 1, got nan"),
        (lambda: population_solution(pair(), "half"), "asymmetry must be a number, got 'half'"),
        (
            lambda: population_solution(pair(), 0.5, "ramp"),
            "loss must be one of square, erf, hinge, logistic, probit",
        ),
        (lambda: population_curve(pair(), "erf", [0.2, 1.0]), r"asymmetries\[1\] must lie strictly between 0 and 1"),
        (lambda: population_curve(pair(), "erf", [0.4, 0.2]), "asymmetries must increase"),
        (lambda: population_curve(pair(), "erf", []), "asymmetries must be a non-empty vector"),
        (lambda: intercept_curve(pair(), [0.0, 0.0]), "w must be a finite vector of 2 numbers, not all 0"),
        (lambda: population_curve(pair()).best(0.0), "testing_asymmetry must lie strictly between 0 and 1"),
        (
            lambda: population_solution(Population(Mixture([0.0], [[1.0]]), Mixture([0.0], [[4.0]])), 0.5),
            "mu_plus and mu_minus must differ",
        ),
        (lambda: pair().moved(0.0), "factor must be a finite positive number"),
    ],
)
def test_bad_input_is_named(make, said):
    with pytest.raises(pc.InputError, match=said):
        make()
