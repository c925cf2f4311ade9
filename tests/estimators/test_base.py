"""What the documentation of an estimator says that it takes and has, it takes and has."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import paretoclf as pc

ClassDoc = pytest.importorskip("numpydoc.docscrape").ClassDoc

ESTIMATORS = sorted(name for name in pc.__all__ if hasattr(getattr(pc, name), "get_params"))


def listed(section):
    """Names of a section of a docstring, several of which may share a line."""
    return {name.strip() for each in section for name in each.name.split(",")}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_documented_by_name_and_has_a_default(name):
    kind = getattr(pc, name)
    assert listed(ClassDoc(kind)["Parameters"]) == set(kind().get_params())
    signature = inspect.signature(kind)
    assert set(signature.parameters) == set(kind().get_params())
    assert all(each.kind is each.KEYWORD_ONLY for each in signature.parameters.values())
    given = {key: object() for key in signature.parameters}
    made = kind(**given)
    assert all(getattr(made, key) is value for key, value in given.items())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_attribute_that_is_documented_is_there_after_fit_and_not_before(name):
    kind = getattr(pc, name)
    data = pc.datasets.make_bimodal(120)
    what = {"alpha": 0.2, "delta": 0.2, "kernel": "linear"} if name == "NeymanPearsonSVC" else {"kernel": "linear"}
    names = listed(ClassDoc(kind)["Attributes"]) - {"feature_names_in_"}
    fresh = kind(**what)
    assert not any(name in vars(fresh) for name in names)
    fitted = clone(fresh).fit(data.X, data.y)
    for each in names:
        assert hasattr(fitted, each), each
    added = {each for each in vars(fitted) if each.endswith("_")}
    assert added <= names
    assert isinstance(fitted, kind)
    assert np.isin(fitted.predict(data.X), [-1, 1]).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_column_of_texts_is_named(name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    with pytest.raises(
        pc.InputError, match=r"X must be numeric and real, got a DataFrame whose column 'colour' has 'red'"
    ):
        getattr(pc, name)().fit(frame, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "model",
    [
        pc.CostPathSVC(),
        pc.CostPathSVC(kernel="linear"),
        pc.TwoNuSVC(nu_plus=0.3, nu_minus=0.3),
        pc.ConformalSVC(kernel="linear"),
        pc.QuantileSVC(kernel="linear"),
        pc.BiobjectiveMarginClassifier(kernel="linear"),
    ],
)
@pytest.mark.parametrize("positive", [-1, 1])
def test_rounding_does_not_choose_a_label_on_the_boundary(model, positive):
    """Classes that are mirror images, so that f(0) = 0: of 7 equal rows 5 had one label, and 2 the other."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        half = rng.normal(size=(25, 3)) + 0.6
        X, y = np.vstack([half, -half]), np.repeat([1, -1], 25)
        fitted = clone(model).set_params(pos_label=positive).fit(X, y)
        scores = fitted.decision_function(np.zeros((7, 3)))
        if np.abs(scores).max() < 1e-13 * np.abs(fitted.decision_function(X)).max():
            assert not scores.any()
            assert (fitted.predict(np.zeros((7, 3))) == positive).all()
        assert fitted.predict(np.zeros((1, 3)))[0] == fitted.predict(np.vstack([np.zeros((1, 3)), X]))[0]
