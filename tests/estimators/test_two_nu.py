"""TwoNuSVC: its classifier is that of LIBSVM, its numbers bound the shares that miss their margin."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@parametrize_with_checks([pc.TwoNuSVC(), pc.TwoNuSVC(kernel="linear", nu_plus=1.0, nu_minus=1.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("pair", [(0.3, 0.3), (0.35, 0.7), (0.81, 0.27)])
def test_the_classifier_is_that_of_libsvm(gaussians, pair):
    X, y = gaussians(n=60, seed=2, positives=0.3)
    svm = pc.TwoNuSVC(nu_plus=pair[0], nu_minus=pair[1]).fit(X, np.where(y > 0, "yes", "no"))
    # NuSVC with weights of samples is the 2nu-SVM, and its scores are in units of its margin.
    sums = pair[0] * 18, pair[1] * 42
    weight = np.where(y > 0, sums[1], sums[0]) / sum(sums)
    nu = sums[0] * sums[1] / sum(sums)  # the sum of the multipliers of a class, in units of the weights
    model = NuSVC(nu=2 * nu / weight.sum() * (1 - 1e-10), gamma="scale", tol=1e-10).fit(X, y, sample_weight=weight)
    ours = (svm.decision_function(X) - svm.intercept_) / svm.rho_
    np.testing.assert_allclose(ours, model.decision_function(X) - model.intercept_, atol=1e-5)
    assert svm.solution_.certificate.passes()
    assert svm.path_.proof.worst.passes()
    # The 2C-SVM of the same costs, too.
    svc = pc.CostPathSVC(start=svm.costs_, stop=(9, 9), costs=svm.costs_).fit(X, y)
    np.testing.assert_allclose(svc.decision_function(X) - svc.intercept_, ours, atol=1e-7)


def test_the_numbers_bound_the_shares_of_margin_errors(gaussians):
    X, y = gaussians(n=70, seed=5)
    for pair in [(0.15, 0.5), (0.5, 0.5), (0.62, 0.2)]:
        svm = pc.TwoNuSVC(nu_plus=pair[0], nu_minus=pair[1]).fit(X, y)
        margin = y * svm.decision_function(X) - svm.rho_
        for nu, side in zip(pair, (y > 0, y < 0), strict=True):
            assert np.mean(margin[side] < -1e-9) <= nu <= np.mean(margin[side] < 1e-9)


def test_both_at_one_are_the_nearest_class_mean(gaussians):
    X, y = gaussians(n=50, seed=1)
    svm = pc.TwoNuSVC(nu_plus=1.0, nu_minus=1.0, kernel="linear").fit(X, y)
    means = NearestCentroid().fit(X, y).centroids_
    slope = svm.coef_[0] / np.linalg.norm(svm.coef_)
    np.testing.assert_allclose(slope, (means[1] - means[0]) / np.linalg.norm(means[1] - means[0]), atol=1e-12)


def test_precomputed_values(gaussians):
    X, y = gaussians()
    linear = pc.TwoNuSVC(nu_plus=0.9, nu_minus=0.8, kernel="linear").fit(X, y)
    given = pc.TwoNuSVC(nu_plus=0.9, nu_minus=0.8, kernel="precomputed").fit(X @ X.T, y)
    np.testing.assert_allclose(linear.decision_function(X), given.decision_function(X @ X.T), atol=1e-9)
    with pytest.raises(AttributeError, match="coef_ is there for kernel='linear' only"):
        _ = given.coef_


@pytest.mark.parametrize("pair", [(1.0, 1.0), (0.2, 0.3)])
def test_one_of_each_class_and_duplicates(pair):
    X, y = np.array([[0.0], [0.0], [1.0], [3.0], [3.0], [3.0]]), np.array([0, 0, 0, 1, 1, 1])
    for rows in (slice(None), [0, 3]):
        svm = pc.TwoNuSVC(nu_plus=pair[0], nu_minus=pair[1], kernel="linear").fit(X[rows], y[rows])
        assert svm.solution_.certificate.passes()
        assert svm.predict([[-1.0], [4.0]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [2.0], [1.0], [1.0]], [0, 0, 1, 1], "at the class means already"),
        ([[0.0], [1.0], [5.0], [3.0], [4.0]], [0, 0, 0, 1, 1], r"larger than \(0.3, 0.3\).*from \(0.\d+, 0.\d+\) on"),
    ],
)
def test_where_the_hulls_meet_there_is_no_classifier(X, y, message):
    with pytest.raises(pc.InputError, match=message):
        pc.TwoNuSVC(nu_plus=0.3, nu_minus=0.3, kernel="linear").fit(X, y)


@pytest.mark.parametrize("options", [{"nu_plus": 0.0}, {"nu_minus": 1.5}, {"nu_plus": "half"}])
def test_arguments_are_refused(gaussians, options):
    with pytest.raises(pc.InputError, match=f"{next(iter(options))} must be"):
        pc.TwoNuSVC(**options).fit(*gaussians())
