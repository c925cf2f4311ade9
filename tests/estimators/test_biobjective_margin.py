"""BiobjectiveMarginClassifier: CVXPY solves each of its problems alone, and margins are measured on the samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@parametrize_with_checks(
    [pc.BiobjectiveMarginClassifier(), pc.BiobjectiveMarginClassifier(kernel="linear", theta=2.0, C_plus=5.0)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("bandwidth", [None, 1.5])
def test_every_theta_is_the_problem_of_cvxpy(gaussians, bandwidth):
    X, y = gaussians(n=30)
    kernel = {"kernel": "linear"} if bandwidth is None else {"bandwidth": bandwidth}
    svm = pc.BiobjectiveMarginClassifier(C_plus=2.0, C_minus=0.5, **kernel).fit(X, np.where(y > 0, "b", "a"))
    theirs = pc.BiobjectiveMargin(X, y, None if bandwidth is None else pc.RBF(bandwidth))
    for theta in (0.05, 1.0, 4.0):
        rule = theirs.solve(theta=theta, C_plus=2.0, C_minus=0.5).classifier
        np.testing.assert_allclose(svm.set_theta(theta).decision_function(X), rule.decision_function(X), atol=1e-6)
        assert svm.solution_.certificate.passes()
        assert svm.theta_ == theta
    assert svm.path_.proof.worst.passes()


def test_hard_margins_are_the_distances_of_the_nearest_samples(gaussians):
    X, y = gaussians(n=30, seed=3)
    X += 4 * y[:, None]
    svm = pc.BiobjectiveMarginClassifier(soft=False, kernel="linear").fit(X, y)
    for theta in (1e-6, 0.2, 1.0, 30.0, 1e6):
        distance = y * svm.set_theta(theta).decision_function(X) / np.linalg.norm(svm.coef_)
        nearest = distance[y > 0].min(), distance[y < 0].min()
        np.testing.assert_allclose(svm.margins_, nearest, atol=1e-9)
        assert nearest[0] == pytest.approx(theta * nearest[1], rel=1e-8)


def test_classes_that_overlap_have_no_hard_margin(gaussians):
    X, y = gaussians()
    with pytest.raises(pc.errors.InseparableError, match="soft=True has a solution"):
        pc.BiobjectiveMarginClassifier(soft=False, kernel="linear").fit(X, y)
    both, labels = np.array([[0.0], [0.0], [1.0]]), [0, 1, 1]
    svm = pc.BiobjectiveMarginClassifier().fit(both, labels)
    assert svm.path_.proof.worst.passes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 0.0}, "theta must lie in"),
        ({"theta": 1e7}, r"theta must lie in \[1e-06, 1e\+06\]"),
        ({"C_plus": 0.0}, "C_plus must be"),
        ({"C_minus": -1.0}, "C_minus must be"),
        ({"soft": "yes"}, "soft must be"),
    ],
)
def test_arguments_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.BiobjectiveMarginClassifier(**options).fit(*gaussians())
