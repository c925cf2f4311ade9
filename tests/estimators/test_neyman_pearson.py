"""NeymanPearsonSVC: how often the false positive rate, known in closed form, is above alpha."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.feature_selection import SelectKBest
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

DRAWN = "negatives to leave out are drawn from the samples: a repeated one may be on both sides"
RATE = "the threshold comes from the false positive rate, not from the weights of the classes"


@parametrize_with_checks(
    [pc.NeymanPearsonSVC(alpha=0.3, delta=0.5, random_state=0)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": DRAWN,
        "check_sample_weight_equivalence_on_sparse_data": DRAWN,
        "check_class_weight_classifiers": RATE,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_rate_is_above_alpha_as_often_as_the_bound_says():
    y = np.repeat([0, 1], [60, 15])
    above, draws = 0, 250
    for seed in range(draws):
        X = np.random.default_rng(seed).normal(size=(75, 1)) + 2 * y[:, None]
        svm = pc.NeymanPearsonSVC(alpha=0.1, delta=0.2, costs=(2, 1), kernel="linear", random_state=seed + draws)
        w, b = float(svm.fit(X, y).coef_[0, 0]), float(svm.intercept_[0])
        assert w > 0.1
        above += norm.sf(-b / w) > 0.1
    bound = svm.guarantee_.bound  # with equality for continuous scores
    assert bound <= 0.2
    assert abs(above / draws - bound) < 3 * np.sqrt(bound * (1 - bound) / draws)


def test_left_out_negatives_do_nothing_but_set_the_threshold(gaussians):
    X, y = gaussians(n=80, positives=0.25)
    svm = pc.NeymanPearsonSVC(alpha=0.1, delta=0.2, random_state=3).fit(X, y)
    rows = np.setdiff1d(np.arange(80), svm.left_out_)
    assert svm.left_out_.size == 30
    assert (y[svm.left_out_] < 0).all()
    plain = pc.CostPathSVC().fit(X[rows], y[rows])
    for costs in (None, (1, 5), (5, 1)):
        svm.set_costs(costs)
        shift = svm.decision_function(X) - plain.decision_function(X, costs)
        np.testing.assert_allclose(shift, -svm.guarantee_.threshold, atol=1e-9)
        assert np.sum(svm.predict(X[svm.left_out_]) > 0) == 30 - svm.guarantee_.rank
        np.testing.assert_array_equal(svm.decision_function(X), svm.decision_function(X, svm.costs_))


def test_precomputed_values_and_samples_of_no_weight(gaussians):
    X, y = gaussians(n=80, positives=0.25)
    weight = np.where(np.arange(80) % 5 == 4, 0.0, 1.0)
    options = {"alpha": 0.2, "delta": 0.2, "random_state": 1}
    linear = pc.NeymanPearsonSVC(kernel="linear", **options).fit(X, y, weight)
    given = pc.NeymanPearsonSVC(kernel="precomputed", **options).fit(X @ X.T, y, weight)
    np.testing.assert_allclose(linear.decision_function(X), given.decision_function(X @ X.T), atol=1e-8)
    assert (weight[linear.left_out_] > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs at least 59 left-out negatives, got 12"),
        ({"alpha": 0.0}, "alpha must"),
        ({"delta": 2.0}, "delta must"),
        ({"holdout": 1.0}, "holdout must lie strictly between 0 and 1"),
    ],
)
def test_arguments_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.NeymanPearsonSVC(**options).fit(*gaussians())


def test_a_transformer_sees_no_negatives_that_are_left_out():
    """Of 300 columns of noise the best five are chosen: by the samples alone that are trained on."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(150, 300)), np.repeat([-1, 1], [110, 40])
    svm = pc.NeymanPearsonSVC(alpha=0.2, delta=0.1, kernel="linear", random_state=1, transformer=SelectKBest(k=5)).fit(
        X, y
    )
    trained = np.setdiff1d(np.arange(y.size), svm.left_out_)
    chosen = SelectKBest(k=5).fit(X[trained], y[trained])
    np.testing.assert_array_equal(svm.transformer_.get_support(), chosen.get_support())
    assert not np.array_equal(SelectKBest(k=5).fit(X, y).get_support(), chosen.get_support())
    assert svm.coef_.shape == (1, 5)
    alone = chosen.transform(X) @ svm.coef_[0] + svm.intercept_[0]
    np.testing.assert_allclose(svm.decision_function(X), alone, atol=1e-12)
    assert (alone[svm.left_out_] >= 0).sum() == svm.left_out_.size - svm.guarantee_.rank


def test_a_transformer_of_kernel_values_is_refused(gaussians):
    X, y = gaussians(60)
    svm = pc.NeymanPearsonSVC(alpha=0.3, delta=0.5, kernel="precomputed", transformer=SelectKBest(k=1))
    with pytest.raises(pc.InputError, match="kernel values are no features"):
        svm.fit(X @ X.T, y)


def test_the_remedy_for_too_few_negatives_is_one():
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], [90, 20])
    X = rng.normal(size=(110, 2)) + y[:, None]
    with pytest.raises(
        pc.InputError, match=r"got 45: with holdout=0\.5 that is some 118 .* the 90 here holdout=0\.656"
    ):
        pc.NeymanPearsonSVC(random_state=0).fit(X, y)
    assert pc.NeymanPearsonSVC(random_state=0, holdout=0.656).fit(X, y).guarantee_.negatives == 59
