"""MEMPMClassifier: no hyperplane of a fine grid guarantees more."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.SmallSampleWarning")
@parametrize_with_checks([pc.MEMPMClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("theta", [0.3, 0.5, 0.6])
def test_no_hyperplane_of_a_grid_guarantees_more(gaussians, theta):
    X, y = gaussians(n=60, seed=1, d=2)
    X += 0.9 * y[:, None]
    svm = pc.MEMPMClassifier(theta=theta).fit(X, np.where(y > 0, "b", "a"))
    moments = {s: (X[y == s].mean(axis=0), ledoit_wolf(X[y == s])[0]) for s in (1, -1)}

    def guarantee(w, b):
        rates = {}
        for s, (mean, cov) in moments.items():
            u = np.maximum(s * (w @ mean + b), 0.0) / np.sqrt(np.sum((w @ cov) * w, axis=-1))
            rates[s] = u**2 / (1 + u**2)
        return theta * rates[-1] + (1 - theta) * rates[1], rates

    angles = np.linspace(0, 2 * np.pi, 721)
    w = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None, :]
    b = np.linspace(-4, 4, 801)
    best = guarantee(w, b)[0].max()
    ours, rates = guarantee(svm.coef_, svm.intercept_)
    assert best - 1e-12 <= ours[0] <= best + 1e-4
    assert svm.distances_.worst_case == pytest.approx((rates[-1][0], rates[1][0]))
    assert svm.solution_.certificate.passes()


def test_precomputed_values_are_shrunk_as_the_features_are(gaussians):
    X, y = gaussians(n=40)
    linear = pc.MEMPMClassifier(shrinkage="oas", reg=0.01).fit(X, y)
    given = pc.MEMPMClassifier(shrinkage="oas", reg=0.01, kernel="precomputed").fit(X @ X.T, y)
    a, b = linear.decision_function(X), given.decision_function(X @ X.T)
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), atol=1e-6)
    assert linear.distances_.u_plus == pytest.approx(given.distances_.u_plus, abs=1e-6)


def test_a_class_without_guarantee_is_said(gaussians):
    X, y = gaussians(n=60, seed=1)
    svm = pc.MEMPMClassifier(theta=0.98).fit(X, y)
    assert any("they have no guarantee" in note for note in svm.solution_.notes)
    assert any("predicting -1 always guarantees 0.98" in note for note in svm.solution_.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 1.0}, "theta must be strictly between 0 and 1"),
        ({"shrinkage": 2.0}, "shrinkage must be"),
        ({"reg": -1.0}, "reg must be"),
    ],
)
def test_arguments_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.MEMPMClassifier(**options).fit(*gaussians())


def test_one_sample_of_a_class_needs_a_ridge():
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]
    with pytest.raises(pc.InputError, match="reg must be positive"):
        pc.MEMPMClassifier().fit(X, y)
    with pytest.warns(pc.errors.SmallSampleWarning):
        svm = pc.MEMPMClassifier(reg=0.1).fit(X, y)
    assert svm.predict(X).tolist() == y
