"""Moments of two classes: from covariances, from samples; and where a hyperplane stands between them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS, LedoitWolf, shrunk_covariance

from paretoclf.common.errors import InputError, SmallSampleWarning
from paretoclf.distributions.gaussian.moments import Distances, Moments, chebyshev
from tests.oracles.gaussian_pairs import random_pair


@given(d=st.integers(1, 8), seed=st.integers(0, 99), log_condition=st.floats(0, 10))
def test_roots_and_whitening(d, seed, log_condition):
    mu_plus, S_plus, mu_minus, S_minus = random_pair(d, seed, 10**log_condition)
    m = Moments.from_covariances(mu_plus, S_plus, mu_minus, S_minus)
    np.testing.assert_allclose(m.Sigma_plus, S_plus, atol=1e-12 * np.abs(S_plus).max())
    np.testing.assert_allclose(m.Sigma_minus, S_minus, atol=1e-12 * np.abs(S_minus).max())
    w = m.white
    np.testing.assert_allclose(w.plus**2 + w.minus**2, 1, atol=1e-12)
    z = np.random.default_rng(seed).normal(size=d)
    a = w.slope(z)
    tol = 1e-14 * 10**log_condition + 1e-12
    assert a @ m.delta == pytest.approx(w.direction @ z, abs=tol * np.linalg.norm(z))
    assert np.linalg.norm(w.plus * z) / w.length == pytest.approx(np.sqrt(a @ S_plus @ a), rel=tol)
    assert np.linalg.norm(w.minus * z) / w.length == pytest.approx(np.sqrt(a @ S_minus @ a), rel=tol)


def test_samples_give_the_biased_covariance_plus_ridge(gaussians):
    X, y = gaussians(n=30, d=4)
    m = Moments.from_samples(X, y, reg=(0.1, 0.3))
    np.testing.assert_allclose(m.mu_plus, X[y > 0].mean(axis=0))
    np.testing.assert_allclose(m.Sigma_plus, np.cov(X[y > 0].T, bias=True) + 0.1 * np.eye(4), atol=1e-14)
    np.testing.assert_allclose(m.Sigma_minus, np.cov(X[y < 0].T, bias=True) + 0.3 * np.eye(4), atol=1e-14)
    same = Moments.from_samples(sp.csr_array(X), y, reg=(0.1, 0.3))
    np.testing.assert_allclose(same.Sigma_minus, m.Sigma_minus, atol=1e-14)


def test_distances_are_the_rates_of_gaussian_classes():
    """By counting draws: this test knows neither Phi nor the formula of the distances."""
    pair = random_pair(3, seed=4, condition=5.0)
    m = Moments.from_covariances(*pair)
    w, b = np.array([1.0, -0.5, 0.3]), -0.4
    rng = np.random.default_rng(0)
    found = m.distances(w, b)
    for mean, S, wanted, sign in ((*pair[:2], found.tpr, 1), (*pair[2:], found.tnr, -1)):
        x = multivariate_normal(mean, S).rvs(200_000, random_state=rng)
        share = np.mean(sign * (x @ w + b) > 0)
        assert wanted == pytest.approx(share, abs=4 * np.sqrt(0.25 / 200_000))
    assert found.rates == pytest.approx((1 - found.tnr, 1 - found.tpr), abs=1e-15)


@given(u=st.floats(-5, 5))
def test_two_atoms_attain_the_chebyshev_bound(u):
    r"""Mass 1/(1+u^2) on the boundary, the rest where mean 0 and variance 1 put it: nothing worse exists for u > 0."""
    if u <= 0.1:
        assert chebyshev(min(u, 0.0)) == 0.0
        return
    p = 1 / (1 + u**2)  # boundary at -u, mean at 0
    other = p * u / (1 - p)
    assert p * u**2 + (1 - p) * other**2 == pytest.approx(1.0)
    assert chebyshev(u) == pytest.approx(1 - p)
    assert Distances(0.0, u).worst_case == (0.0, chebyshev(u))


def test_units_of_features_make_no_covariance_singular():
    scale = np.array([1e-8, 1.0, 1e8])
    mu_plus, S_plus, mu_minus, S_minus = random_pair(3, seed=1)
    m = Moments.from_covariances(
        scale * mu_plus, np.outer(scale, scale) * S_plus, scale * mu_minus, np.outer(scale, scale) * S_minus
    )
    plain = Moments.from_covariances(mu_plus, S_plus, mu_minus, S_minus)
    w = np.array([1.0, 2.0, -1.0])
    scaled, unscaled = m.distances(w / scale, 0.1), plain.distances(w, 0.1)
    assert scaled.u_plus == pytest.approx(unscaled.u_plus, rel=1e-12)
    assert scaled.u_minus == pytest.approx(unscaled.u_minus, rel=1e-12)


GOOD = ([1.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 3.0], [2.0, 1.0]])
Y = np.array([1, 1, 1, -1, -1, -1])


def with_part(i, value):
    parts = list(GOOD)
    parts[i] = value
    return parts


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Moments.from_covariances(*with_part(1, [[1.0, 2.0], [0.0, 1.0]])), "Sigma_plus must be symmetric"),
        (
            lambda: Moments.from_covariances(*with_part(3, [[1.0, 2.0], [2.0, 1.0]])),
            r"Sigma_minus must be positive definite, got smallest eigenvalue -1 ",
        ),
        (lambda: Moments.from_covariances(*with_part(1, np.zeros((2, 2)))), "smallest eigenvalue 0 "),
        (lambda: Moments.from_covariances(*with_part(1, [[1.0, 1.0], [1.0, 1.0]])), "Sigma_plus must be positive def"),
        (
            lambda: Moments.from_covariances(*with_part(1, np.eye(3))),
            r"Sigma_plus must have shape \(2, 2\), got \(3, 3",
        ),
        (lambda: Moments.from_covariances(*with_part(2, [0.0])), r"mu_minus must have shape \(2,\), got \(1,\)"),
        (lambda: Moments.from_covariances(*with_part(0, [np.nan, 0.0])), "mu_plus must be finite"),
        (lambda: Moments.from_covariances(*with_part(1, [["a", 0], [0, 1]])), "Sigma_plus must be numeric and real"),
        (lambda: Moments.from_samples(X, Y, reg=-1.0), "reg must be nonnegative and finite, got -1.0"),
        (lambda: Moments.from_samples(X, Y, reg=np.inf), "reg must be nonnegative and finite"),
        (lambda: Moments.from_samples(X, Y, reg="much"), "reg must be a nonnegative number"),
        (lambda: Moments.from_samples(X, Y, reg=(1, 2, 3)), "reg must be a nonnegative number"),
        (lambda: Moments.from_samples(X[[0, 1, 3, 4]], [1, 1, -1, -1]), r"reg must be positive.*positives \(2 samples"),
        (lambda: Moments.from_samples(np.c_[X, np.ones(6)], Y), "smallest eigenvalue 0 "),
        (lambda: Moments.from_samples(X, np.ones(6)), "y must contain both classes"),
        (lambda: Moments.from_covariances(*with_part(0, [0.0, 0.0])).require_difference(), "must differ"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_means_that_differ_little_are_different():
    Moments.from_covariances([1.0 + 1e-12], [[1.0]], [1.0], [[1.0]]).require_difference()
    with pytest.raises(InputError, match="must differ"):
        Moments.from_covariances([0.1 + 0.2], [[1.0]], [0.3], [[1.0]]).require_difference()


# Shrinkage, and too few samples.


def scikit_learns(X, y, estimator):
    return [estimator().fit(X[y == sign]).covariance_ for sign in (1, -1)]


@pytest.mark.parametrize(("name", "estimator"), [("ledoit-wolf", LedoitWolf), ("oas", OAS)])
def test_shrinkage_is_scikit_learns(gaussians, name, estimator):
    X, y = gaussians(n=30, d=5)
    m = Moments.from_samples(X, y, shrinkage=name)
    for found, expected in zip((m.Sigma_plus, m.Sigma_minus), scikit_learns(X, y, estimator), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)
    both = Moments.from_samples(X, y, reg=0.2, shrinkage=(name, 0.3))
    expected = scikit_learns(X, y, estimator)[0] + 0.2 * np.eye(5)
    np.testing.assert_allclose(both.Sigma_plus, expected, atol=1e-13)
    expected = shrunk_covariance(np.cov(X[y < 0].T, bias=True), 0.3) + 0.2 * np.eye(5)
    np.testing.assert_allclose(both.Sigma_minus, expected, atol=1e-13)


def test_complete_shrinkage_is_a_sphere(gaussians):
    X, y = gaussians(n=30, d=3)
    m = Moments.from_samples(X, y, shrinkage=1)
    np.testing.assert_allclose(m.Sigma_plus, np.var(X[y > 0], axis=0).mean() * np.eye(3), atol=1e-14)


def test_shrinkage_brings_the_covariance_nearer_to_the_truth():
    """What it is for: 20 samples of N(0, I) in 15 dimensions."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 20)
    errors = []
    for _ in range(10):
        X = rng.normal(size=(40, 15))
        errors.append([np.linalg.norm(Moments.from_samples(X, y, shrinkage=s).Sigma_plus - np.eye(15)) for s in NAMES])
    plain, shrunk, oas = np.mean(errors, axis=0)
    assert shrunk < plain / 2
    assert oas < plain / 2


NAMES = (0.0, "ledoit-wolf", "oas")


@pytest.mark.parametrize("options", [{"reg": 0.1}, {"shrinkage": 0.2}, {"shrinkage": "ledoit-wolf"}])
def test_few_samples_are_warned_of(gaussians, options):
    X, y = gaussians(n=20, d=10)  # 8 positives, 12 negatives
    with pytest.warns(SmallSampleWarning, match=r"positives \(8 samples, 10 features that vary\) has rank 7") as seen:
        Moments.from_samples(X, y, **options)
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_a_feature_without_variance_is_warned_of_where_it_decides():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.repeat([1, -1], 10)
    # Constant in both classes at one value: it is no feature. Constant in one class only: that class has no variance.
    Moments.from_samples(np.c_[X, np.ones(20)], y, reg=0.1)
    with pytest.warns(SmallSampleWarning, match=r"positives \(10 samples, 3 features that vary\) has rank 2"):
        Moments.from_samples(np.c_[X, np.where(y > 0, 1.0, rng.normal(size=20))], y, reg=0.1)


@pytest.mark.parametrize("shrinkage", ["much", 1.5, -0.1, True, ("oas", "oas", "oas"), np.nan, None])
def test_bad_shrinkage_is_refused(shrinkage):
    with pytest.raises(InputError, match=r"shrinkage must be a number in \[0, 1\]"):
        Moments.from_samples(X, Y, shrinkage=shrinkage)


def test_one_sample_of_a_class_has_no_variance_to_shrink():
    with pytest.raises(InputError, match=r"reg must be positive: the covariance of the positives \(1 samples"):
        Moments.from_samples(X, [1, -1, -1, -1, -1, -1], shrinkage="ledoit-wolf")
