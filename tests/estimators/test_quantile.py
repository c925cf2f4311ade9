"""QuantileSVC: its machine is that of CVXPY, its probability a length that a fine grid of tau measures, too."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that. And scikit-learn asks
#: for probabilities of a linear kernel without bias, which are said to be 0 or 1: tests/path/svm/test_quantile_path.py.
pytestmark = [
    pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning"),
    pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning"),
]

RANKS = "scores are those of one tau, probabilities of all: they do not rank samples alike"


@parametrize_with_checks(
    [pc.QuantileSVC(), pc.QuantileSVC(kernel="linear", bias=False)],
    expected_failed_checks=lambda _: {"check_decision_proba_consistency": RANKS},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("bias", [True, False])
def test_every_tau_is_the_machine_of_cvxpy(gaussians, bias):
    X, y = gaussians()
    svm = pc.QuantileSVC(C=0.5, bias=bias, bandwidth=2.0).fit(X, np.where(y > 0, "yes", "no"))
    assert svm.lam_ == pytest.approx(1 / (40 * 0.5))
    theirs = pc.QuantileSVM(X, y, pc.RBF(2.0), bias=bias)
    for tau in (0.1, 0.5, 0.85):
        rule = theirs.solve(tau=tau, lam=svm.lam_).classifier
        np.testing.assert_allclose(svm.set_tau(tau).decision_function(X), rule.decision_function(X), atol=1e-6)
        assert svm.solution_.certificate.passes()


def test_probabilities_are_lengths_of_sets_of_tau(gaussians):
    X, y = gaussians(n=50, seed=2)
    svm = pc.QuantileSVC().fit(X, y)
    taus = (np.arange(2000) + 0.5) / 2000
    positive = svm.path_.scores(X)(taus) >= 0
    np.testing.assert_allclose(svm.predict_proba(X)[:, 1], positive.mean(axis=1), atol=0.005)
    once = svm.crossings(X) <= 1
    assert once.mean() > 0.5
    likelier = svm.classes_[svm.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(likelier[once], svm.set_tau(0.5).predict(X)[once])
    again = pickle.loads(pickle.dumps(svm))
    np.testing.assert_array_equal(again.predict_proba(X), svm.predict_proba(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"C": -1.0}, "C must"), ({"tau": 2.0}, "tau must lie"), ({"bias": "yes"}, "bias must be")],
)
def test_arguments_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.QuantileSVC(**options).fit(*gaussians())
