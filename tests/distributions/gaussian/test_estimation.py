"""Mean and covariance of a class from samples: against NumPy and the estimators of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.covariance import OAS, LedoitWolf, shrunk_covariance

from paretoclf.common.errors import InputError, SmallSampleWarning
from paretoclf.distributions.gaussian.estimation import check_reg, check_shrinkage, estimates
from paretoclf.distributions.gaussian.moments import Moments

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 3.0], [2.0, 1.0]])
Y = np.array([1, 1, 1, -1, -1, -1])
NAMES = (0.0, "ledoit-wolf", "oas")


def scikit_learns(X, y, estimator):
    return [estimator().fit(X[y == sign]).covariance_ for sign in (1, -1)]


def test_samples_give_the_biased_covariance_plus_ridge(gaussians):
    X, y = gaussians(n=30, d=4)
    m = Moments.from_samples(X, y, reg=(0.1, 0.3))
    np.testing.assert_allclose(m.mu_plus, X[y > 0].mean(axis=0))
    np.testing.assert_allclose(m.Sigma_plus, np.cov(X[y > 0].T, bias=True) + 0.1 * np.eye(4), atol=1e-14)
    np.testing.assert_allclose(m.Sigma_minus, np.cov(X[y < 0].T, bias=True) + 0.3 * np.eye(4), atol=1e-14)
    same = Moments.from_samples(sp.csr_array(X), y, reg=(0.1, 0.3))
    np.testing.assert_allclose(same.Sigma_minus, m.Sigma_minus, atol=1e-14)


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


def test_units_of_features_make_no_covariance_singular():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 2)) * [1.0, 1e-9]
    y = np.where(np.arange(30) % 2, 1, -1)
    m = Moments.from_samples(A, y)
    np.testing.assert_allclose(m.Sigma_plus, np.cov(A[y > 0].T, bias=True), rtol=1e-10)
    line = np.column_stack([A[:, 0], 1e-9 * A[:, 0]])  # a line, whatever its units
    with pytest.raises(InputError, match=r"the covariance of the positives \(15 samples, 2 features\) is singular"):
        Moments.from_samples(line, y)


@pytest.mark.parametrize("reg", [(1.0, np.inf), (np.nan, 1.0), (1.0, -1.0), (1, 2, 3), "much"])
def test_bad_ridges_are_refused(reg):
    with pytest.raises(InputError, match="reg must be"):
        Moments.from_samples(X, Y, reg=reg)
    assert check_reg(2) == (2.0, 2.0)
    assert check_reg([1.0, 0.0]) == (1.0, 0.0)


def test_two_samples_of_a_class_are_shrunk_as_scikit_learn_does():
    y = np.array([1, 1, -1, -1, -1, -1])
    with pytest.warns(SmallSampleWarning):
        m = Moments.from_samples(X, y, reg=0.1, shrinkage="ledoit-wolf")
    expected = LedoitWolf().fit(X[:2]).covariance_ + 0.1 * np.eye(2)
    np.testing.assert_allclose(m.Sigma_plus, expected, atol=1e-12)


def test_an_estimate_says_what_it_is_made_of():
    plus, minus = estimates(X, Y, (0.5, 0.25), (0.25, 0.0))
    for found, sign, share, delta in ((plus, 1, 0.25, 0.5), (minus, -1, 0.0, 0.25)):
        S = np.cov(X[sign == Y].T, bias=True)
        assert found.mean == pytest.approx(X[sign == Y].mean(axis=0))
        assert found.kept == 1 - share
        assert found.ridge == pytest.approx(share * np.trace(S) / 2 + delta)
        np.testing.assert_allclose(found.root.T @ found.root, found.kept * S + found.ridge * np.eye(2), atol=1e-12)


def test_numbers_and_names_of_shrinkage():
    assert check_shrinkage((0, np.float64(1))) == (0.0, 1.0)
    assert check_shrinkage("oas") == ("oas", "oas")
    for bad in (True, (0.1, 1.5), ("oas", -0.1), np.array([0.1, 0.2]), [0.1, 0.2, 0.3]):
        with pytest.raises(InputError, match="shrinkage must be a number"):
            check_shrinkage(bad)
