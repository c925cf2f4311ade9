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
    likelihood_ratio_curve,
    population_curve,
    population_solution,
)
from paretoclf.distributions.population.quadrature import integrate
from tests.oracles.populations import mixtures, pair, with_regime

SMOOTH = ("square", "erf", "logistic", "probit")


def test_moments_of_a_mixture_are_those_of_its_draws():
    mixture = mixtures().positives
    X = mixture.draw(200_000, 1)
    assert np.abs(X.mean(axis=0) - mixture.mean).max() < 0.02
    assert np.abs(np.cov(X.T) - mixture.covariance).max() < 0.03
    one = Mixture([1.0, 2.0], np.eye(2))
    assert (one.k, one.d) == (1, 2)
    assert one.covariance == pytest.approx(np.eye(2))


def test_densities_integrate_to_one_and_give_the_ratio():
    population = mixtures()
    axis = np.linspace(-12, 12, 301)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for mixture in (population.positives, population.negatives):
        assert np.exp(mixture.log_density(points)).sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1, abs=1e-10)
    ratio = population.log_ratio(points[:5])
    assert ratio == pytest.approx(
        population.positives.log_density(points[:5]) - population.negatives.log_density(points[:5])
    )


def test_rates_are_shares_of_draws_and_broadcast():
    population = mixtures()
    X, y = population.draw(200_000, 3)
    w, b = np.array([[1.0, 0.5], [0.2, -1.0]]), np.array([0.3, -0.5])
    fpr, fnr = population.rates(w, b)
    for j in range(2):
        positive = X @ w[j] + b[j] >= 0
        assert fpr[j] == pytest.approx(positive[y < 0].mean(), abs=6e-3)
        assert fnr[j] == pytest.approx(1 - positive[y > 0].mean(), abs=6e-3)
    assert (y > 0).mean() == pytest.approx(0.3, abs=5e-3)
    assert population.rates(np.zeros(2), -1.0) == (0.0, 1.0)
    assert population.rates(np.zeros(2), 0.0) == population.rates(np.zeros(2), 1.0) == (1.0, 0.0)


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


def test_hull_and_consistency():
    curve = population_curve(with_regime(-1.0), "square")
    u, v = curve.hull
    assert np.all(np.diff(np.diff(v) / np.diff(u)) < 0)
    assert np.all(np.interp(curve.fpr, u, v) >= curve.tpr - 1e-12)
    # A < 0: near 0 the curve is below the diagonal, and no costs make those points optimal.
    extreme = curve.asymmetries < 0.05
    assert np.all(curve.tpr[extreme] <= curve.fpr[extreme])
    assert not curve.consistent[extreme].any()
    assert curve.consistent[curve.asymmetries > 0.6].all()
    # On the hull the testing asymmetry grows with the training asymmetry: the hull is concave.
    assert np.all(np.diff(curve.log_slope[curve.consistent]) < 0)


def test_the_best_training_asymmetry_is_less_extreme_than_the_testing_one():
    curve = population_curve(with_regime(0.5), "square")
    X, y = curve.population.draw(100_000, 2)
    for beta in (0.02, 0.05):
        best, costs = curve.best(beta), curve.expected_costs(beta)
        assert best.asymmetry > 2 * beta
        assert costs.min() < costs[np.argmin(np.abs(curve.asymmetries - beta))] - 1e-5
        wrong = best.classifier.predict(X) != y
        assert costs.min() == pytest.approx(np.mean(np.where(y > 0, beta, 1 - beta) * wrong), abs=1e-3)
    # A < 0: at such testing asymmetries calling everything negative costs least, and all who do so are equally good.
    curve = population_curve(with_regime(-1.0), "square")
    costs = curve.expected_costs(0.02)
    assert costs.min() == pytest.approx(0.02 * 0.5, rel=1e-12)
    assert curve.best(0.02).tpr < 1e-9
    assert 0.02 < curve.best(0.02).asymmetry < 0.1


def test_at_moderate_asymmetries_the_mismatch_can_be_inverted():
    population = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.diag([4.0, 1.0])))
    curve = population_curve(population, "square", np.linspace(0.3, 0.9, 121))
    where = curve.asymmetries[curve.inverted]
    assert 0 < where.size < 121
    assert 0.2 < where.min() <= where.max() < 0.95
    # There a use at beta is served best by training at a more extreme asymmetry.
    j = int(np.flatnonzero(curve.inverted)[where.size // 2])
    beta, gamma = curve.testing_asymmetries[j], curve.asymmetries[j]
    assert abs(gamma - 0.5) > abs(beta - 0.5)
    assert np.argmin(curve.expected_costs(beta)) == pytest.approx(j, abs=1)


def test_varying_both_contains_varying_either():
    population = mixtures()
    curve = population_curve(population, "hinge", np.linspace(0.2, 0.9, 15))
    u, v = curve.both()
    assert (u[0], v[0], u[-1], v[-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(np.diff(v) / np.diff(u)) < 0)
    assert np.all(np.interp(curve.fpr, u, v) >= curve.tpr - 1e-12)
    area = np.trapezoid(v, u)
    assert area >= curve.auc - 1e-12
    for w in curve.w[2:12:3]:
        moved = intercept_curve(population, w)
        assert np.all(np.interp(moved.fpr, u, v) >= moved.tpr - 1e-12)
        assert area >= np.trapezoid(moved.tpr, moved.fpr)
    # Nothing was invented: no classifier of the family is below the bound of all of them.
    bound = likelihood_ratio_curve(population, 801)
    assert np.all(v <= bound.tpr_at(u) + 5 * bound.error)


def test_the_intercept_curve_and_its_area():
    population = mixtures()
    w = population_solution(population, 0.5).w
    curve = intercept_curve(population, w)
    plus, minus = population.positives.draw(300_000, 1) @ w, population.negatives.draw(300_000, 2) @ w
    assert curve.auc == pytest.approx(np.mean(plus > minus), abs=3e-3)
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr), abs=2e-4)
    assert (curve.fpr[0], curve.tpr[-1]) == pytest.approx((0, 1), abs=1e-12)
    assert np.all(np.diff(curve.fpr) >= 0)
    rule = curve.point(200)
    assert population.rates(rule.w, rule.b) == pytest.approx((curve.fpr[200], 1 - curve.tpr[200]))


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
