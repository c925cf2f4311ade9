"""Displays of fitted estimators: they show what the estimator uses, under the names that it saw."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import RocCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.plotting import BoundaryDisplay, ErrorCurveDisplay, PathDisplay, TradeoffDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def frame(gaussians):
    X, y = gaussians(n=40, d=2)
    return pd.DataFrame(X, columns=["age", "weight"]), np.where(y > 0, "ill", "healthy")


def test_a_boundary_is_that_of_the_costs_that_are_set(frame):
    X, y = frame
    svm = pc.CostPathSVC(kernel="linear").fit(X, y).set_costs((3, 1))
    display = BoundaryDisplay.from_estimator(svm).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("age", "weight")
    (boundary,) = (c for c in display.ax_.collections if list(getattr(c, "levels", ())) == [0.0])
    on_it = boundary.get_paths()[0].vertices
    np.testing.assert_allclose(on_it @ svm.coef_[0] + svm.intercept_, 0.0, atol=1e-9)
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), pc.CostPathSVCCV(cv=2)).fit(X, y)
    assert BoundaryDisplay.from_estimator(pipe).slice.names == ("age", "weight")
    assert BoundaryDisplay.from_estimator(pc.CostPathSVC().fit(X.to_numpy(), y)).slice.names == ("x1", "x2")
    # Those of scikit-learn work as well.
    DecisionBoundaryDisplay.from_estimator(svm, X, response_method="predict", grid_resolution=10)
    RocCurveDisplay.from_estimator(svm, X, y)


def test_a_boundary_that_the_estimator_does_not_use_is_refused(frame):
    X, y = frame
    with pytest.raises(pc.InputError, match="must have the threshold of its solution_"):
        BoundaryDisplay.from_estimator(pc.NeymanPearsonSVC(alpha=0.3, delta=0.5, random_state=0).fit(X, y))
    with pytest.raises(pc.InputError, match="one of a 2C-SVM"):
        BoundaryDisplay.from_estimator(pc.TwoNuSVC().fit(X, y))
    with pytest.raises(pc.InputError, match="estimator must be fitted and have solution_, got CostPathSVC"):
        BoundaryDisplay.from_estimator(pc.CostPathSVC())


@pytest.mark.parametrize(
    "estimator",
    [pc.CostPathSVC(kernel="linear"), pc.TwoNuSVC(), pc.QuantileSVC(kernel="linear"), pc.BiobjectiveMarginClassifier()],
    ids=lambda each: type(each).__name__,
)
def test_every_path_of_an_estimator_is_drawn(frame, estimator):
    display = PathDisplay.from_estimator(estimator.fit(*frame)).plot()
    assert display.path is estimator.path_
    if estimator.kernel == "linear":
        texts = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
        assert {"age", "weight"} <= set(texts)


def test_held_out_errors_and_trade_offs(frame):
    X, y = frame
    chosen = pc.CostPathSVCCV(cv=2).fit(X, y)
    assert ErrorCurveDisplay.from_estimator(chosen).plot().curve is chosen.errors_
    gaussian = make_pipeline(StandardScaler(), pc.ParetoGaussianClassifier()).fit(X, y)
    assert TradeoffDisplay.from_estimator(gaussian, 51).plot().curve.tpr.size == 51
    with pytest.raises(pc.InputError, match="have errors_, got CostPathSVC"):
        ErrorCurveDisplay.from_estimator(pc.CostPathSVC().fit(X, y))


def test_pictures_of_a_path_have_the_names_of_its_frame(frame):
    X, y = frame
    path = pc.trace(pc.TwoCSVM(X, np.where(y == "ill", 1, -1)), (0.2, 1.8), (1.8, 0.2))
    assert BoundaryDisplay.from_solution(path.at(0.5)).slice.names == ("age", "weight")
    assert BoundaryDisplay.from_solution(path.at(0.5), feature_names=["a", "b"]).slice.names == ("a", "b")
