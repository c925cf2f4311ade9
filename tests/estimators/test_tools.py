"""Every estimator in the tools of scikit-learn: one test each, with frames, names and labels of any kind."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")

# Estimator, and values to search among.
ALL = [
    (pc.CostPathSVC(costs=(2, 1)), {"gamma": ["scale", 0.1]}),
    (pc.CostPathSVCCV(cv=2, kernel="linear"), {"costs": [(1, 1), (3, 1)]}),
    (pc.NeymanPearsonSVC(alpha=0.3, delta=0.5, random_state=0), {"alpha": [0.3, 0.4]}),
    (pc.TwoNuSVC(), {"nu_plus": [0.3, 0.6]}),
    (pc.QuantileSVC(), {"tau": [0.3, 0.5]}),
    (pc.BiobjectiveMarginClassifier(), {"theta": [0.5, 2.0]}),
    (pc.ParetoGaussianClassifier(costs=(1, 1)), {"shrinkage": ["oas", 0.1]}),
    (pc.ConformalSVC(), {"C": [0.5, 1.0]}),
    (pc.MEMPMClassifier(), {"theta": [0.4, 0.6]}),
]
NAMES = [type(estimator).__name__ for estimator, _ in ALL]
OF_COSTS = [estimator for estimator, _ in ALL if hasattr(estimator, "set_costs")]

every = pytest.mark.parametrize("estimator", [estimator for estimator, _ in ALL], ids=NAMES)


def samples(n=40, classes=("healthy", "ill")):
    """Frame of three named features, and labels in turn."""
    rng = np.random.default_rng(0)
    k = np.arange(n) % len(classes)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + 1.2 * k[:, None], columns=["age", "weight", "height"])
    return frame, pd.Series(np.array(classes)[k], name="state")


def test_all_estimators_are_here():
    public = {name for name in pc.__all__ if hasattr(getattr(pc, name), "set_params")}
    assert public == set(NAMES)
    assert len(OF_COSTS) == 4


@pytest.mark.parametrize(("estimator", "grid"), ALL, ids=NAMES)
def test_pipelines_searches_calibration_thresholds(estimator, grid):
    X, y = samples()
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), estimator)
    found = cross_validate(pipe, X, y, cv=2, scoring=["balanced_accuracy", "roc_auc"])
    assert found["test_balanced_accuracy"].min() > 0.6
    assert found["test_roc_auc"].min() > 0.8

    name = type(estimator).__name__.lower()
    search = GridSearchCV(pipe, {f"{name}__{key}": values for key, values in grid.items()}, cv=2).fit(X, y)
    best = search.best_estimator_
    assert best[-1].feature_names_in_.tolist() == ["age", "weight", "height"]
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.decision_function(X), best.decision_function(X))
    assert clone(best)[-1].get_params() == best[-1].get_params()

    calibrated = CalibratedClassifierCV(pipe, method="sigmoid", cv=2).fit(X, y)
    probability = calibrated.predict_proba(X)[:, 1]
    assert np.mean(probability[y == "ill"]) > 0.5 > np.mean(probability[y == "healthy"])
    tuned = TunedThresholdClassifierCV(pipe, scoring="balanced_accuracy", cv=2).fit(X, y)
    assert set(tuned.predict(X)) == {"healthy", "ill"}


@every
def test_more_than_two_classes(estimator):
    X, y = samples(60, ("a", "b", "c"))
    for wrapper in (OneVsRestClassifier, OneVsOneClassifier):
        model = wrapper(estimator).fit(X, y)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert np.mean(model.predict(X) == y) > 0.5
    literal = rf"Only binary .* multiclass\. More classes are for OneVsRestClassifier\({type(estimator).__name__}\(\)\)"
    with pytest.raises(ValueError, match=literal):
        estimator.fit(X, y)


@every
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_held_to_their_names(estimator, library):
    frames = pytest.importorskip(library)
    X, y = samples()
    frame = frames.DataFrame(X.to_dict("list"))
    model = clone(estimator).fit(frame, y.to_numpy())
    assert model.feature_names_in_.tolist() == ["age", "weight", "height"]
    np.testing.assert_array_equal(model.predict(frame), clone(estimator).fit(X.to_numpy(), y).predict(X.to_numpy()))
    for wrong, message in ((["weight", "age", "height"], "order"), (["age", "weight", "size"], "unseen at fit time")):
        other = frames.DataFrame(dict(zip(wrong, X.to_numpy().T, strict=True)))
        for method in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match=message):
                method(other)
        if hasattr(model, "path_"):  # it knows the names, too
            with pytest.raises(pc.InputError, match="columns of training in their order"):
                model.path_.scores(other)


@every
@pytest.mark.parametrize("labels", [(False, True), (0, 1), (7.0, 9.0), ("no", "yes")])
def test_any_two_labels(estimator, labels):
    X, y = samples(classes=labels)
    model = clone(estimator).fit(X, y)
    assert model.classes_.tolist() == list(labels)
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) >= 0, labels[1], labels[0]))


@pytest.mark.parametrize("estimator", OF_COSTS, ids=lambda each: type(each).__name__)
def test_costs_are_routed(estimator):
    X, y = samples()
    with config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_predict_request(costs=True).set_decision_function_request(costs=True)
        pipe = make_pipeline(StandardScaler(), asked).fit(X, y)
        plain = clone(estimator).fit(StandardScaler().fit_transform(X), y)
        for costs in [(1, 40), (40, 1)]:
            np.testing.assert_array_equal(pipe.predict(X, costs=costs), plain.predict(pipe[0].transform(X), costs))
            scores = pipe.decision_function(X, costs=costs)
            np.testing.assert_array_equal(scores, plain.set_costs(costs).decision_function(pipe[0].transform(X)))
        few, many = (int((pipe.predict(X, costs=costs) == "ill").sum()) for costs in [(1, 40), (40, 1)])
        assert few <= many
        with pytest.raises(ValueError, match=r"costs. are passed but are not explicitly set as requested"):
            make_pipeline(StandardScaler(), clone(estimator)).fit(X, y).predict(X, costs=(1, 1))


@every
def test_weights_of_samples_are_routed_or_not_taken(estimator):
    X, y = samples()
    weight = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    if not hasattr(estimator, "class_weight"):
        assert not hasattr(estimator, "set_fit_request")
        with pytest.raises(TypeError, match="sample_weight"):
            estimator.fit(X, y, sample_weight=weight)
        return
    with config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler(), asked)
        pipe[0].set_fit_request(sample_weight=True)
        pipe.fit(X, y, sample_weight=weight)
        plain = clone(estimator).fit(pipe[0].transform(X), y, weight)
        np.testing.assert_array_equal(pipe.decision_function(X), plain.decision_function(pipe[0].transform(X)))
        assert cross_validate(pipe, X, y, cv=2, params={"sample_weight": weight})["test_score"].shape == (2,)
