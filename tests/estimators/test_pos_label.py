"""Which class is the positive one: costs, guarantees and probabilities are about it, whatever the labels are called."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import PositiveClassWarning

ESTIMATORS = [
    pc.CostPathSVC(costs=(3, 1)),
    pc.CostPathSVCCV(costs=(3, 1), cv=3),
    pc.CostPathSVCCV(scoring="balanced_accuracy", cv=3),
    pc.NeymanPearsonSVC(alpha=0.2, delta=0.2, random_state=0),
    pc.QuantileSVC(tau=0.3),
    pc.TwoNuSVC(nu_plus=0.3, nu_minus=0.6),
    pc.BiobjectiveMarginClassifier(theta=3.0),
    pc.ParetoGaussianClassifier(costs=(3, 1)),
    pc.MEMPMClassifier(theta=0.3),
]
NAMES = [f"{k}-{type(each).__name__}" for k, each in enumerate(ESTIMATORS)]


def samples(seed=0, n=60):
    """The second half is ill."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n) >= n // 2
    return rng.normal(size=(n, 2)) + np.where(ill, 0.7, -0.7)[:, None], ill


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_the_positive_class_is_the_one_that_was_named(estimator):
    """In sorted order 'ill' is before 'well': the classifier is that of 0 for well and 1 for ill."""
    X, ill = samples()
    numbered = type(estimator)(**estimator.get_params()).fit(X, ill.astype(int))
    named = type(estimator)(**estimator.get_params()).set_params(pos_label="ill").fit(X, np.where(ill, "ill", "well"))
    assert named.pos_label_ == "ill"
    assert list(named.classes_) == ["ill", "well"]
    assert "pos_label='ill'" in repr(named)
    np.testing.assert_array_equal(named.predict(X) == "ill", numbered.predict(X) == 1)
    np.testing.assert_array_equal(named.decision_function(X), -numbered.decision_function(X))
    np.testing.assert_array_equal(named.intercept_, -numbered.intercept_)
    if hasattr(numbered, "predict_proba"):
        np.testing.assert_array_equal(named.predict_proba(X)[:, ::-1], numbered.predict_proba(X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_scores_are_those_of_scikit_learns_convention(estimator):
    """Above 0 for ``classes_[1]``, whichever class is positive: metrics of scikit-learn need no thought."""
    X, ill = samples(1)
    y = np.where(ill, "ill", "well")
    for positive in ("ill", "well"):
        fitted = type(estimator)(**estimator.get_params()).set_params(pos_label=positive).fit(X, y)
        assert roc_auc_score(y == fitted.classes_[1], fitted.decision_function(X)) > 0.8
        assert balanced_accuracy_score(y, fitted.predict(X)) > 0.6


def test_a_scorer_of_scores_sees_the_same_in_both_ways():
    X, ill = samples(n=24)
    numbered = pc.CostPathSVCCV(scoring="roc_auc", cv=2).fit(X, ill.astype(int))
    named = pc.CostPathSVCCV(scoring="roc_auc", cv=2, pos_label="ill").fit(X, np.where(ill, "ill", "well"))
    np.testing.assert_allclose(named.scores_.at, numbered.scores_.at)


def test_against_svc():
    X, ill = samples(2)
    y = np.where(ill, "ill", "well")
    ours = pc.CostPathSVC(kernel="linear", costs=(3, 1), pos_label="ill").fit(X, y)
    costs = {"ill": ours.costs_.C_plus, "well": ours.costs_.C_minus}
    assert costs["ill"] == pytest.approx(3 * costs["well"])
    theirs = SVC(kernel="linear", C=1.0, class_weight=costs, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


def test_class_weights_are_by_label():
    X, ill = samples(3)
    y = np.where(ill, "ill", "well")
    weighted = pc.CostPathSVC(pos_label="ill", class_weight={"ill": 2.0, "well": 0.5}).fit(X, y)
    given = pc.CostPathSVC(pos_label="ill").fit(X, y, sample_weight=np.where(ill, 2.0, 0.5))
    np.testing.assert_allclose(weighted.decision_function(X), given.decision_function(X), atol=1e-9)


def test_the_guarantee_is_about_the_others():
    """Negatives are left out: of labels 'ill' and 'well' with pos_label='ill' those are the healthy."""
    X, ill = samples(4, n=200)
    y = np.where(ill, "ill", "well")
    svm = pc.NeymanPearsonSVC(alpha=0.1, delta=0.1, random_state=0, pos_label="ill").fit(X, y)
    assert set(y[svm.left_out_]) == {"well"}
    new, sick = samples(5, n=4000)
    assert np.mean(svm.predict(new[~sick]) == "ill") <= 0.1
    with pytest.warns(PositiveClassWarning, match="the positive class is 'well', the second label in sorted order"):
        other = pc.NeymanPearsonSVC(alpha=0.1, delta=0.1, random_state=0).fit(X, y)
    assert set(y[other.left_out_]) == {"ill"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_texts_are_announced_and_numbers_are_not(estimator):
    X, ill = samples(6)
    fresh = type(estimator)(**estimator.get_params())
    with pytest.warns(PositiveClassWarning, match=r"pos_label='ill' or pos_label='well'") as said:
        fresh.fit(X, np.where(ill, "ill", "well"))
    assert [Path(each.filename) for each in said] == [Path(__file__)]  # the line of whoever called fit
    assert fresh.pos_label_ == "well"
    with warnings.catch_warnings():
        warnings.simplefilter("error", PositiveClassWarning)
        fresh.fit(X, np.where(ill, 2, 1))
        fresh.fit(X, ill)
    assert fresh.pos_label_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_another_label_is_refused(estimator):
    X, ill = samples(7)
    fresh = type(estimator)(**estimator.get_params()).set_params(pos_label="sick")
    with pytest.raises(pc.InputError, match="pos_label must be one of the two labels, 'ill' or 'well', got 'sick'"):
        fresh.fit(X, np.where(ill, "ill", "well"))


WRAPPED = {
    "CalibratedClassifierCV": lambda svm: CalibratedClassifierCV(svm, ensemble=False),
    "VotingClassifier": lambda svm: VotingClassifier([("svm", svm), ("logistic", LogisticRegression())]),
    "StackingClassifier": lambda svm: StackingClassifier([("svm", svm), ("logistic", LogisticRegression())]),
    "BaggingClassifier": lambda svm: BaggingClassifier(svm, n_estimators=3, random_state=0),
    "OneVsRestClassifier": OneVsRestClassifier,
    "GridSearchCV": lambda svm: GridSearchCV(svm, {"C": [0.3, 1.0]}, cv=3),
}


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("name", WRAPPED)
def test_a_number_names_the_class_in_what_encodes_texts_and_in_what_does_not(name, positive):
    """The number of a text is its place in sorted order; SVC is given the same costs by texts that were encoded."""
    X, ill = samples(8)
    numbers = np.where(ill, 0, 1)
    texts = np.where(ill, "ill", "well")
    ours = WRAPPED[name](pc.CostPathSVC(kernel="linear", costs=(3, 1), pos_label=positive)).fit(X, texts)
    theirs = WRAPPED[name](SVC(kernel="linear", class_weight={positive: 1.5, 1 - positive: 0.5}, tol=1e-9))
    expected = theirs.fit(X, numbers)
    np.testing.assert_array_equal(ours.predict(X) == "well", expected.predict(X) == 1)
    if hasattr(ours, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("positive", [0, 1])
def test_a_number_names_the_class_in_cross_val_predict(positive):
    X, ill = samples(9)
    texts = np.where(ill, "ill", "well")
    svm = pc.CostPathSVC(kernel="linear", costs=(3, 1), pos_label=positive)
    theirs = SVC(kernel="linear", class_weight={"ill": 1.5 - positive, "well": 0.5 + positive}, tol=1e-9)
    expected = theirs.fit(X[::2], texts[::2]).decision_function(X[1::2])
    halves = [(np.arange(0, 60, 2), np.arange(1, 60, 2)), (np.arange(1, 60, 2), np.arange(0, 60, 2))]
    found = cross_val_predict(svm, X, texts, cv=halves, method="decision_function")
    np.testing.assert_allclose(found[1::2], expected, atol=1e-6)
    quantiles = pc.QuantileSVC(pos_label=positive)
    whole = quantiles.fit(X[::2], texts[::2]).predict_proba(X[1::2])
    assert quantiles.pos_label_ == ("ill", "well")[positive]
    np.testing.assert_array_equal(
        cross_val_predict(quantiles, X, texts, cv=halves, method="predict_proba")[1::2], whole
    )


@pytest.mark.parametrize(("labels", "given"), [(("1", "2"), 1), (("ill", "well"), 2), (("ill", "well"), True)])
def test_a_number_that_may_mean_another_label_is_refused(labels, given):
    X, ill = samples(10)
    with pytest.raises(pc.InputError, match=rf"pos_label must be one of the two labels, '.*' or '.*', got {given}$"):
        pc.CostPathSVC(pos_label=given).fit(X, np.where(ill, *labels))


def test_several_labels_are_no_positive_one():
    X, ill = samples()
    with pytest.raises(pc.InputError, match=r"pos_label must be one of the two labels, 0 or 1, got array\(\[1, 0\]\)"):
        pc.CostPathSVC(pos_label=np.array([1, 0])).fit(X, ill.astype(int))


@pytest.mark.parametrize("positive", ["ill", "well"])
@pytest.mark.parametrize("name", ["f1", "recall", "jaccard", "average_precision"])
def test_a_scorer_by_its_name_is_that_of_the_positive_text(name, positive):
    X, ill = samples()
    texts = np.where(ill, "ill", "well")
    found = pc.CostPathSVCCV(scoring=name, cv=3, pos_label=positive).fit(X, texts)
    same = pc.CostPathSVCCV(scoring=name, cv=3).fit(X, (texts == positive).astype(int))
    np.testing.assert_allclose(found.scores_.at, same.scores_.at)
    assert found.best_t_ == pytest.approx(same.best_t_)


def test_what_encodes_texts_is_told_apart_from_a_wrong_label():
    """An ensemble makes 0 and 1 of texts before it fits: the refusal says how to name the class by its number."""
    X, y = np.arange(8.0)[:, None], np.repeat(["stays", "churn"], 4)
    with pytest.raises(pc.InputError, match=r"0 or 1, got 'churn'; .* of two texts in sorted order: say pos_label=0"):
        VotingClassifier([("svm", pc.CostPathSVC(pos_label="churn"))]).fit(X, y)
    voting = VotingClassifier([("svm", pc.CostPathSVC(pos_label=0))]).fit(X, y)
    assert voting.predict(X).tolist() == y.tolist()
