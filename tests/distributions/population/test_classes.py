"""Mixtures of Gaussians and pairs of them: against draws, quadrature and SciPy's densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import paretoclf as pc
from paretoclf.distributions.population import (
    Mixture,
    Population,
)
from tests.oracles.populations import mixtures, pair


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


def test_densities_are_scipys():
    X = np.random.default_rng(0).normal(size=(7, 2)) * 3
    for mixture in (mixtures().positives, Mixture([1.0, -2.0], [[2.0, 0.3], [0.3, 0.5]])):
        parts = zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
        density = sum(weight * multivariate_normal(mean, S).pdf(X) for weight, mean, S in parts)
        assert mixture.log_density(X) == pytest.approx(np.log(density), rel=1e-10)


def test_moments_by_hand():
    mixture = Mixture([[0.0, 0.0], [4.0, 2.0]], [np.eye(2), np.diag([2.0, 3.0])], [0.75, 0.25])
    assert mixture.mean.tolist() == [1.0, 0.5]
    between = 0.75 * np.outer([1.0, 0.5], [1.0, 0.5]) + 0.25 * np.outer([3.0, 1.5], [3.0, 1.5])
    assert mixture.covariance == pytest.approx(np.diag([1.25, 1.5]) + between)
    assert mixture.deviations == pytest.approx(np.sqrt([[1.0, 1.0], [2.0, 3.0]]))
    assert mixture.spreads(np.array([1.0, 2.0])) == pytest.approx(np.sqrt([5.0, 14.0]))
    assert (mixture.k, mixture.d) == (2, 2)
    moved = mixture.at(np.array([0.0, 1.0]))
    assert moved.mean == pytest.approx([0.0, 1.0])
    assert moved.covariance == pytest.approx(mixture.covariance)
    assert Mixture([[0.0], [1.0]], [[[1.0]], [[1.0]]]).weights.tolist() == [0.5, 0.5]
    scaled = Mixture.of_scales([1.0, 2.0], [[1.0, 0.5], [0.5, 2.0]], [1.0, 4.0], [0.5, 0.5])
    assert scaled.covariance == pytest.approx(2.5 * np.array([[1.0, 0.5], [0.5, 2.0]]))
    assert repr(mixture) == "Mixture(2 Gaussians, weights [0.75, 0.25], 2 features, mean [1.0, 0.5])"
    assert repr(Mixture([0.0], [[1.0]])) == "Mixture(Gaussian, 1 features, mean [0.0])"


def test_a_share_by_hand():
    mixture = Mixture([[0.0], [3.0]], [[[1.0]], [[4.0]]], [0.25, 0.75])
    wanted = 0.25 * norm.cdf(-1.0) + 0.75 * norm.cdf(1.0)  # x >= 1
    assert float(mixture.share([2.0], -2.0)) == pytest.approx(wanted, rel=1e-12)
    assert float(mixture.share([2.0], -2.0, label=-1)) == pytest.approx(1 - wanted, rel=1e-12)
    assert float(mixture.share([0.0], -1.0)) == 0.0


def test_a_population_and_its_kin():
    population = mixtures()
    plus, minus = population.positives, population.negatives
    assert population.log_prior_odds == pytest.approx(np.log(0.3 / 0.7))
    assert population.moments.delta == pytest.approx(plus.mean - minus.mean)
    assert population.centre == pytest.approx((plus.mean + minus.mean) / 2)
    assert population.centred.centre == pytest.approx([0.0, 0.0], abs=1e-15)
    assert population.centred.moments.delta == pytest.approx(population.moments.delta)
    assert population.swapped().prior_plus == 0.7
    assert population.swapped().positives is minus
    moved = population.moved(2.0)
    assert moved.moments.delta == pytest.approx(2 * population.moments.delta)
    assert moved.negatives is minus
    assert not population.gaussian
    assert pair().gaussian
    assert population.d == 2
    X, y = population.draw(1, 0)
    assert (X.shape, y.shape) == ((1, 2), (1,))


def test_both_classes_are_fitted_each_with_its_own_components():
    rng = np.random.default_rng(0)
    far = np.where(np.arange(90) % 3, 8.0, 20.0)[:, None]
    X = np.concatenate([rng.normal(size=(60, 1)), rng.normal(size=(90, 1)) + far])
    y = np.repeat([1, -1], [60, 90])
    found = Population.fit(X, y, components=(1, 2))
    assert (found.positives.k, found.negatives.k) == (1, 2)
    assert found.prior_plus == 0.4
    assert found.positives.mean == pytest.approx(X[:60].mean(axis=0))
    assert found.positives.covariance == pytest.approx(np.cov(X[:60].T, bias=True).reshape(1, 1))
    assert found.negatives.weights == pytest.approx([2 / 3, 1 / 3], abs=1e-6)
    both = Population.fit(X, y, prior_plus=0.1)
    assert (both.negatives.k, both.prior_plus) == (1, 0.1)
    with pytest.raises(pc.InputError, match="components must be one number or a pair"):
        Population.fit(X, y, components=(1, 2, 3))
    with pytest.raises(pc.InputError, match="components must be a whole number of at least 1, got 0"):
        Population.fit(X, y, components=(1, 0))


@pytest.mark.parametrize("weights", [[0.5, 0.4], [0.5, 0.6], [1.5, -0.5], [1.0]])
def test_weights_that_are_none(weights):
    with pytest.raises(pc.InputError, match="weights must"):
        Mixture([[0.0], [1.0]], [[[1.0]], [[1.0]]], weights)


def test_components_and_means_are_as_many():
    for covariances in ([[[1.0]]], [[[1.0]]] * 3):
        with pytest.raises(pc.InputError, match=r"covariances must be as many as means \(2, at least one\), got"):
            Mixture([[0.0], [1.0]], covariances)


def test_populations_that_are_none():
    one, two = Mixture([0.0], [[1.0]]), Mixture([0.0, 0.0], np.eye(2))
    for positives, negatives, name in (([0.0], one, "positives"), (one, 3, "negatives")):
        with pytest.raises(pc.InputError, match=f"{name} must be a Mixture, got"):
            Population(positives, negatives)
    with pytest.raises(pc.InputError, match=r"negatives must have as many features as positives \(1\), got 2"):
        Population(one, two)
    for prior in (0.0, 1.0, -1.0):
        with pytest.raises(pc.InputError, match="prior_plus must lie strictly between 0 and 1"):
            Population(one, one, prior)
