"""Moments of two classes: from covariances, from samples; and where a hyperplane stands between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from paretoclf.common.errors import InputError
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
