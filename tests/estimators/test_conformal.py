"""ConformalSVC: sets of labels in scikit-learn's conventions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.path.deletion.conformal_labels import conformal_ranks

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@parametrize_with_checks([pc.ConformalSVC(), pc.ConformalSVC(kernel="linear", by_label=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_columns_are_those_of_classes(gaussians):
    X, y = gaussians(60, 2, seed=1)
    names, new = np.where(y > 0, "ill", "healthy"), X[::7] + 0.1
    wanted = conformal_ranks(pc.TwoCSVM(X, y, pc.RBF(1.5)), (2.0, 1.0), new, by_label=True).p_values()
    for positive, costs, order in (("ill", (2.0, 1.0), 1), ("healthy", (1.0, 2.0), 1)):
        how = {"bandwidth": 1.5, "smoothed": False, "by_label": True}
        svm = pc.ConformalSVC(costs=costs, pos_label=positive, **how).fit(X, names)
        assert svm.classes_.tolist() == ["healthy", "ill"]
        np.testing.assert_array_equal(svm.p_values(new), wanted[:, ::order])
        np.testing.assert_array_equal(svm.predict_set(new, alpha=0.2), wanted > 0.2)
        model = SVC(gamma=1 / 4.5, tol=1e-9, class_weight={"ill": 2.0, "healthy": 1.0}).fit(X, names)
        np.testing.assert_array_equal(svm.predict(new), model.predict(new))
        assert svm.solution_.certificate.passes()


def test_random_state_decides_ties(gaussians):
    X, y = gaussians(40, 2, seed=2)
    svm = pc.ConformalSVC(random_state=3, gamma=0.5).fit(X, y)
    np.testing.assert_array_equal(svm.p_values(X), svm.p_values(X))
    assert (svm.p_values(X) != svm.set_params(random_state=4).p_values(X)).any()


def test_it_says_whether_the_guarantee_holds(gaussians):
    X, y = gaussians()
    for how, holds in (({}, False), ({"gamma": 0.5}, True), ({"bandwidth": 1.0}, True), ({"kernel": "linear"}, True)):
        assert pc.ConformalSVC(**how).fit(X, y).symmetric_ is holds


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, np.nan, "x"])
def test_alpha_lies_between_0_and_1(gaussians, alpha):
    X, y = gaussians()
    with pytest.raises(InputError, match="alpha"):
        pc.ConformalSVC().fit(X, y).predict_set(X, alpha)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"costs": (1.0, 0.0)}, "costs must both be positive"),
        ({"kernel": "precomputed"}, "a precomputed kernel"),
    ],
)
def test_bad_arguments(how, message):
    with pytest.raises(InputError, match=message):
        pc.ConformalSVC(**how).fit(np.eye(4), [0, 0, 1, 1])


def test_nonconformity_is_checked_where_it_is_used(gaussians):
    X, y = gaussians()
    with pytest.raises(InputError, match="nonconformity"):
        pc.ConformalSVC(nonconformity="x").fit(X, y).p_values(X)
