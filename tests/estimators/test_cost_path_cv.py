"""CostPathSVCCV: the best t of the whole line, found again by fitting machines on a fine grid of t."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, f1_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")

ONCE = "a standard error is that of held-out samples, each of which counts once, whatever its weight in training"
SCORED = "a scorer chooses the t that it likes best, whatever the classes weigh in training"


def not_expected(estimator):
    if estimator.scoring is not None:
        return {"check_class_weight_classifiers": SCORED}
    return {f"check_sample_weight_equivalence_on_{kind}_data": ONCE for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [pc.CostPathSVCCV(cv=3), pc.CostPathSVCCV(cv=3, kernel="linear", scoring="balanced_accuracy")],
    expected_failed_checks=not_expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def held_out(X, y, t, bandwidth, folds):
    """Labels of each fold by LIBSVM at the costs of t on the asymmetry line of total 2."""
    for train, test in folds:
        svc = SVC(C=1.0, gamma=0.5 / bandwidth**2, class_weight={1: 2 * t, -1: 2 * (1 - t)}, tol=1e-8)
        yield test, svc.fit(X[train], y[train]).predict(X[test])


def test_no_grid_finds_a_better_t_and_libsvm_agrees_on_the_score(gaussians):
    X, y = gaussians(n=60, seed=3, d=2)
    folds = list(StratifiedKFold(3).split(X, y))
    costs = pc.CostPathSVCCV(costs=(3, 1), selection="longest", cv=3, bandwidth=1.0).fit(X, y)
    mean = pc.CostPathSVCCV(scoring="balanced_accuracy", cv=3, bandwidth=1.0).fit(X, y)

    for t in [costs.best_t_, mean.best_t_, *np.linspace(0.03, 0.97, 41)]:
        said = list(held_out(X, y, t, 1.0, folds))
        wrong = [3 * np.sum((y[k] > 0) & (p < 0)) + np.sum((y[k] < 0) & (p > 0)) for k, p in said]
        cost = sum(wrong) / y.size
        assert cost >= -costs.best_score_ - 1e-12
        assert t != costs.best_t_ or cost == pytest.approx(-costs.best_score_)
        balanced = np.mean([balanced_accuracy_score(y[k], p) for k, p in said])
        assert mean.scores_(t) == pytest.approx(balanced, abs=1e-12)
        assert balanced <= mean.best_score_ + 1e-12
    assert mean.scores_(mean.best_t_) == mean.best_score_


@pytest.mark.parametrize("criterion", [pc.tuning.Minimax(), pc.tuning.NeymanPearson(0.1)])
def test_a_criterion_of_both_rates_is_minimised_over_the_whole_line(gaussians, criterion):
    X, y = gaussians(n=60, seed=3, d=2)
    folds = list(StratifiedKFold(3).split(X, y))
    svm = clone(pc.CostPathSVCCV(scoring=criterion, cv=3, bandwidth=1.0)).fit(X, y)
    for t in [svm.best_t_, *np.linspace(0.03, 0.97, 41)]:
        wrong = np.sum(
            [[np.sum((y[k] < 0) & (p > 0)), np.sum((y[k] > 0) & (p < 0))] for k, p in held_out(X, y, t, 1.0, folds)],
            axis=0,
        )
        fpr, fnr = wrong[0] / np.sum(y < 0), wrong[1] / np.sum(y > 0)
        value = max(fpr, fnr) if criterion == pc.tuning.Minimax() else fnr if fpr <= 0.1 else np.inf
        assert value >= -svm.best_score_ - 1e-12
        assert t != svm.best_t_ or value == pytest.approx(-svm.best_score_)
    assert svm.scores_ is None
    found = GridSearchCV(pc.CostPathSVCCV(cv=3), {"scoring": [criterion, "accuracy"]}, cv=2).fit(X, y)
    assert found.best_params_["scoring"] in (criterion, "accuracy")


class PooledF1:
    """1 - F1 of all folds' counts together, of so many negatives for each positive."""

    level = None

    def __init__(self, ratio):
        self.ratio = ratio

    def __call__(self, fpr, fnr):
        return 1 - 2 * (1 - fnr) / (2 * (1 - fnr) + self.ratio * fpr + fnr)

    score = __call__


def test_f1_is_the_mean_over_folds_as_a_scorer_and_of_all_counts_as_a_criterion(gaussians):
    X, y = gaussians(n=60, seed=3, d=2)
    folds = list(StratifiedKFold(3).split(X, y))
    mean = pc.CostPathSVCCV(scoring="f1", cv=3, bandwidth=1.0).fit(X, y)
    pooled = pc.CostPathSVCCV(scoring=PooledF1(np.sum(y < 0) / np.sum(y > 0)), cv=3, bandwidth=1.0).fit(X, y)
    for t in [mean.best_t_, pooled.best_t_, *np.linspace(0.03, 0.97, 20)]:
        said = list(held_out(X, y, t, 1.0, folds))
        of_each = np.mean([f1_score(y[k], p) for k, p in said])
        of_all = f1_score(*(np.concatenate(part) for part in zip(*((y[k], p) for k, p in said), strict=True)))
        assert mean.scores_(t) == pytest.approx(of_each, abs=1e-12)
        assert pooled.scoring.score(*pooled.errors_.rates(t)) == pytest.approx(1 - of_all, abs=1e-12)
        assert of_all <= 1 + pooled.best_score_ + 1e-12
        if t == mean.best_t_:
            assert abs(of_all - of_each) > 1e-3


def scored(model, X, y):
    """A scorer that wants labels and scores."""
    f = model.decision_function(X)
    assert np.array_equal(model.predict(X) == "b", f >= 0)
    return float(np.mean(np.where(y == "b", f, -f) >= 0.5))


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", scored])
def test_a_scorer_of_scores_is_asked_at_some_t_as_libsvm_answers(gaussians, scoring):
    X, y = gaussians(n=60, seed=3, d=2)
    # The name "average_precision" stands for positives that are called 1.
    labels = y if scoring == "average_precision" else np.where(y > 0, "b", "a")
    folds = list(StratifiedKFold(3).split(X, y))
    svm = pc.CostPathSVCCV(scoring=scoring, cv=3, bandwidth=1.0).fit(X, labels)
    ask = scoring if callable(scoring) else get_scorer(scoring)
    assert svm.scores_.t.size == 201
    assert svm.scores_.after is None
    assert svm.scores_.t[[0, -1]].tolist() == [0.0, 1.0]
    middle = svm.scores_.t[(svm.scores_.t > 0.03) & (svm.scores_.t < 0.97)]
    for t in middle[::15]:
        found = []
        for train, test in folds:
            svc = SVC(C=1.0, gamma=0.5, class_weight=dict(zip(svm.classes_, (2 - 2 * t, 2 * t), strict=True)), tol=1e-8)
            found.append(ask(svc.fit(X[train], labels[train]), X[test], labels[test]))
        assert svm.scores_(t) == pytest.approx(np.mean(found), abs=1e-12)
    assert svm.best_score_ == svm.scores_(svm.best_t_) == svm.scores_.at.max()
    with pytest.raises(pc.InputError, match="one of the 201 at which the scorer was asked"):
        svm.scores_(0.123456)


def test_a_fold_without_a_score_is_refused(gaussians):
    X, y = gaussians(n=30)
    with pytest.raises(pc.InputError, match=r"finite number on each fold, got nan .* 0 of them positive"):
        pc.CostPathSVCCV(scoring=lambda model, X, y: np.nan if (y < 0).all() else 1.0, cv=KFold(3)).fit(X, y)


def test_class_weights_are_factors_of_the_costs(gaussians):
    X, y = gaussians(n=60, seed=4, positives=0.2)
    # A miss costs four times as much, in training and in use.
    weighted = pc.CostPathSVCCV(class_weight={-1.0: 1.0, 1.0: 4.0}, cv=3).fit(X, y)
    line = pc.CostPathSVCCV(stop=(8.0, 0.0), costs=(4, 1), cv=3).fit(X, y)
    assert weighted.best_t_ == pytest.approx(line.best_t_)
    assert weighted.best_score_ == pytest.approx(line.best_score_)


def test_accuracy_as_scorer_is_that_of_equal_costs_where_folds_are_equal(gaussians):
    X, y = gaussians(n=60, seed=5)
    named = pc.CostPathSVCCV(scoring="accuracy", cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    called = pc.CostPathSVCCV(scoring=make_scorer(lambda a, b: np.mean(a == b)), cv=named.cv).fit(X, y)
    counted = pc.CostPathSVCCV(selection="longest", cv=named.cv).fit(X, y)
    assert named.best_score_ == pytest.approx(1 + counted.best_score_) == called.best_score_
    for t in np.linspace(0, 1, 31):
        assert 1 - named.scores_(t) == pytest.approx(sum(counted.errors_.counts(t)) / 60)


def test_refit_is_the_path_of_all_samples_at_the_best_t(gaussians):
    X, y = gaussians(n=50)
    svm = pc.CostPathSVCCV(costs=(1, 4), selection="longest", cv=3).fit(X, np.where(y > 0, "b", "a"))
    plain = pc.CostPathSVC().fit(X, y)
    rule = plain.path_.at(svm.best_t_).classifier
    np.testing.assert_allclose(svm.decision_function(X), rule.decision_function(X), atol=1e-9)
    assert svm.best_costs_ == plain.path_.costs(svm.best_t_)
    other = svm.errors_.best((4, 1))
    assert any(o.start <= svm.set_costs((4, 1)).t_ <= o.stop for o in other)
    assert svm.best_t_ != svm.t_
    np.testing.assert_array_equal(svm.predict(X), svm.predict(X, costs=(4, 1)))
    assert pickle.loads(pickle.dumps(svm)).t_ == svm.t_


def test_the_total_is_chosen_on_a_ray(gaussians):
    X, y = gaussians(n=50, seed=2)
    svm = pc.CostPathSVCCV(start=(0, 0), stop=(10, 10), cv=3).fit(X, y)
    assert svm.best_costs_.asymmetry == pytest.approx(0.5)
    assert 0 < svm.best_costs_.total <= 20
    pipe = make_pipeline(StandardScaler(), pc.CostPathSVCCV(cv=3))
    assert cross_val_score(pipe, X, y, cv=3).shape == (3,)


def test_samples_of_no_weight_are_neither_trained_on_nor_counted(gaussians):
    X, y = gaussians(n=60)
    weight = (np.arange(60) % 4 > 0).astype(float)
    rows = np.flatnonzero(weight)
    folds = list(StratifiedKFold(3).split(X, y))
    position = np.cumsum(weight > 0) - 1
    fewer = [tuple(position[p[weight[p] > 0]] for p in fold) for fold in folds]
    some = pc.CostPathSVCCV(bandwidth=2.0, cv=folds).fit(X, y, weight)
    few = pc.CostPathSVCCV(bandwidth=2.0, cv=fewer).fit(X[rows], y[rows])
    assert some.best_t_ == few.best_t_
    np.testing.assert_array_equal(some.errors_.false_positives, few.errors_.false_positives)
    blank = weight.copy()
    blank[folds[0][1]] = 0.0  # nothing left to test in the first fold
    assert pc.CostPathSVCCV(cv=folds).fit(X, y, blank).errors_.n_plus == np.sum((blank > 0) & (y > 0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "neg_log_loss"}, "scoring must be a scorer of labels or of scores.*CalibratedClassifierCV"),
        ({"scoring": "accuracy", "costs": (1, 1)}, "costs must be left out"),
        ({"scoring": pc.tuning.Minimax}, r"scoring must be an object, Minimax\(...\), got the class itself"),
        ({"scoring": pc.tuning.Minimax(), "costs": (1, 1)}, "costs must be left out"),
        ({"scoring": ["accuracy", "f1"]}, "scoring must be one scorer or criterion.*: cross_validate takes several"),
        ({"scoring": "minimax"}, r"scoring must be pc.tuning.Minimax\(\) for that criterion, got 'minimax'"),
        ({"costs": (0, 0)}, "must not both be zero"),
        ({"costs": 3}, "costs must be a pair"),
        ({"cv": [(np.arange(12), np.arange(12, 30))]}, "must train on both classes"),
    ],
)
def test_arguments_are_refused(gaussians, options, message):
    X, y = gaussians(n=30)
    with pytest.raises(pc.InputError, match=message):
        pc.CostPathSVCCV(**options).fit(X, y)


def test_precomputed_values_and_several_processes(gaussians):
    X, y = gaussians(n=50)
    linear = pc.CostPathSVCCV(kernel="linear", cv=3, costs=(3, 1), n_jobs=2).fit(X, y)
    given = pc.CostPathSVCCV(kernel="precomputed", cv=3, costs=(3, 1)).fit(X @ X.T, y)
    assert linear.best_t_ == pytest.approx(given.best_t_)
    np.testing.assert_allclose(linear.decision_function(X), given.decision_function(X @ X.T), atol=1e-8)
