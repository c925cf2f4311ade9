"""Mixtures fitted to samples: the likelihood equations by scipy's densities, closed form for one, units, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import paretoclf as pc
from paretoclf.distributions.population import Mixture, Population, population_expansion

#: Components far from each other: EM ends after a few steps.
APART = Population(
    Mixture([[4.0, 1.0], [0.0, -4.0]], [np.diag([2.5, 0.5]), [[1.0, 0.5], [0.5, 2.0]]], [0.7, 0.3]),
    Mixture([[-4.0, 0.0], [-4.0, 8.0], [1.0, 12.0]], [np.eye(2), np.diag([2.0, 0.5]), np.eye(2)], [0.5, 0.3, 0.2]),
    0.4,
)


def drawn(n=400, seed=0):
    return APART.draw(n, rng=seed)


def test_one_gaussian_has_mean_and_covariance_of_the_samples():
    X, y = drawn()
    found = Population.fit(X, y)
    for mixture, some in ((found.positives, X[y > 0]), (found.negatives, X[y < 0])):
        assert mixture.k == 1
        np.testing.assert_allclose(mixture.mean, some.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(mixture.covariance, np.cov(some.T, bias=True), rtol=1e-12)
    assert found.prior_plus == np.mean(y > 0)
    assert Population.fit(X, y, prior_plus=0.1).prior_plus == 0.1


def log_likelihood(X, mixture):
    parts = [
        w * multivariate_normal(m, S).pdf(X)
        for w, m, S in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    ]
    return np.array(parts)


def test_the_fit_solves_the_likelihood_equations_and_is_likelier_than_the_truth():
    """Weights, means and covariances are those of the samples shared out by the posterior: scipy's densities."""
    X, truth = APART.negatives.draw(300, rng=0), APART.negatives
    found = Mixture.fit(X, 3, reg=0.0)
    joint = log_likelihood(X, found)
    share = joint / joint.sum(axis=0)
    np.testing.assert_allclose(share.mean(axis=1), found.weights, atol=1e-4)
    for r, mean, S in zip(share, found.means, found.covariances, strict=True):
        np.testing.assert_allclose(r @ X / r.sum(), mean, atol=1e-3)
        off = X - mean
        np.testing.assert_allclose((off.T * r) @ off / r.sum(), S, atol=5e-3)
    assert np.log(joint.sum(axis=0)).mean() >= np.log(log_likelihood(X, truth).sum(axis=0)).mean()
    np.testing.assert_allclose(found.log_density(X), np.log(joint.sum(axis=0)), rtol=1e-9)
    assert np.all(np.diff(found.weights) <= 0)


def test_units_and_axes_of_the_features_change_nothing():
    X, y = drawn()
    M, shift = np.array([[1e5, 3.0], [-2e4, 1e-3]]), np.array([1e6, -4.0])
    one, other = (Population.fit(Z, y, (2, 3)) for Z in (X, X @ M + shift))
    for mixture, moved in ((one.positives, other.positives), (one.negatives, other.negatives)):
        np.testing.assert_allclose(moved.weights, mixture.weights, atol=1e-4)
        np.testing.assert_allclose(moved.means, mixture.means @ M + shift, rtol=1e-4)
        for S, moved_S in zip(mixture.covariances, moved.covariances, strict=True):
            size = np.sqrt(np.outer(np.diag(M.T @ S @ M), np.diag(M.T @ S @ M)))
            np.testing.assert_allclose(moved_S / size, (M.T @ S @ M) / size, atol=2e-3)


def test_the_regime_of_many_samples_is_that_of_the_population():
    found = Population.fit(*drawn(4000, 1), components=(2, 3))
    for end in (0, 1):
        truth, estimate = (population_expansion(each, "square", end) for each in (APART, found))
        assert np.sign(estimate.A) == np.sign(truth.A)
        np.testing.assert_allclose(estimate.a, truth.a, rtol=0.1, atol=0.05)


def test_a_seed_gives_the_same_mixture_and_sparse_samples_are_samples():
    from scipy.sparse import csr_array

    X, _ = drawn(200)
    one, again, sparse = Mixture.fit(X, 2, rng=3), Mixture.fit(X, 2, rng=3), Mixture.fit(csr_array(X), 2, rng=3)
    assert np.array_equal(one.means, again.means)
    assert np.array_equal(one.means, sparse.means)


X, Y = drawn(60)
BAD = [
    (lambda: Population.fit(X, Y, 0), "components must be a whole number of at least 1, got 0"),
    (lambda: Population.fit(X, Y, (1, 2, 3)), "components must be one number or a pair"),
    (lambda: Population.fit(X, Y, "two"), "components must be a whole number"),
    (lambda: Population.fit(X, Y, 1, prior_plus=1.0), "prior_plus must lie strictly between 0 and 1, got 1.0"),
    (lambda: Population.fit(X, Y, 2, reg=-1), "reg must be a finite nonnegative number, got -1"),
    (lambda: Population.fit(X, Y, rng=-1), "rng must be a seed"),
    (lambda: Population.fit(X, Y[1:]), "y must"),
    (lambda: Population.fit(X, np.ones(60)), "y must"),
    (lambda: Population.fit(X, Y, (1, 30)), "30 of them need 90 negatives, got "),
    (lambda: Mixture.fit(X[:2]), "components must leave 3 samples for each Gaussian of 2 features: 1 of them need 3"),
    (lambda: Mixture.fit(np.column_stack([X, X[:, 0]])), "no feature that is constant, or depends linearly"),
    (lambda: Mixture.fit(np.column_stack([X, np.ones(60)])), "no feature that is constant, or depends linearly"),
    (lambda: Mixture.fit(np.repeat([[0.0], [1.0]], 5, axis=0), 2, reg=0), "would have a singular covariance"),
    (lambda: Mixture.fit([[np.nan]]), "X must"),
]


@pytest.mark.parametrize(("make", "said"), BAD)
def test_bad_input_is_refused(make, said):
    with pytest.raises(pc.InputError, match=said):
        make()


def test_a_fit_that_does_not_end_is_no_fit(monkeypatch):
    monkeypatch.setattr("paretoclf.distributions.population.estimation.STEPS", 2)
    with pytest.raises(pc.InputError, match="still grows after 2 steps on the 60 samples"):
        Mixture.fit(X, 4)
