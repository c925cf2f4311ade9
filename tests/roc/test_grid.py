"""Grid curves: errors and ROC curves of sweeps, and their cross-validation, against scikit-learn and brute force."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.plotting import GridErrorsDisplay
from paretoclf.roc.rules import PathRule

COSTS = {"C_plus": np.array([0.05, 0.5, 1.0, 1.5, 1.95]), "C_minus": np.array([1.95, 1.5, 1.0, 0.5, 0.05])}


class Hinge(pc.SampleFormulation):
    """A prototype: no dual, and other names than ours."""

    domain = {"C": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        loss = cp.sum_squares(w) / 2 + self.parameters["C"] * cp.sum(xi)
        return cp.Problem(cp.Minimize(loss), [self.signed @ w + self.y * b >= 1 - xi, xi >= 0])


@pytest.fixture
def halves(gaussians):
    X, y = gaussians(120, 2, seed=4)
    return (X[::2], y[::2]), (X[1::2], y[1::2])


@pytest.fixture
def sweep(halves):
    return pc.sweep(pc.TwoCSVM(*halves[0]), **COSTS, progress=False)


def test_counts_are_those_of_the_confusion_matrix(sweep, halves):
    X, y = halves[1]
    curve = sweep.error_curve(X, y)
    for k, solution in enumerate(sweep):
        (_, fp), (fn, _) = confusion_matrix(y, solution.classifier.predict(X))
        assert (curve.false_positives[k], curve.false_negatives[k]) == (fp, fn)
    assert (curve.n_plus, curve.n_minus) == ((y > 0).sum(), (y < 0).sum())
    assert "5 points" in repr(curve)
    assert len(curve) == 5


def test_the_best_points_are_those_of_brute_force(sweep, halves):
    curve = sweep.error_curve(*halves[1])
    rates = list(zip(curve.fpr, curve.fnr, strict=True))
    larger = [max(each) for each in rates]
    assert {best.index for best in curve.minimax()} <= set(np.flatnonzero(np.isclose(larger, min(larger))))
    assert curve.minimax()[0].objective == pytest.approx(min(larger))
    (first, *_) = curve.best((3.0, 1.0), prior_plus=0.5)
    cost = [1.5 * fnr + 0.5 * fpr for fpr, fnr in rates]
    assert first.objective == pytest.approx(min(cost))
    assert first.values == {name: column[first.index] for name, column in COSTS.items()}
    allowed = [fnr for fpr, fnr in rates if fpr <= 0.2]
    assert curve.neyman_pearson(0.2)[0].fnr == min(allowed)


def test_equally_good_points_are_all_named_and_dominated_ones_are_not():
    """Misses alone cost, and there are none at points 1, 2 and 3; point 2 has more false alarms."""
    curve = pc.roc.GridErrorCurve({"C": np.arange(4.0)}, np.array([0, 1, 2, 1]), np.array([1, 0, 0, 0]), 4, 4)
    assert [best.index for best in curve.best((1.0, 0.0))] == [1, 3]
    assert curve.best((1.0, 0.0))[0].objective == Fraction(0)


def test_the_roc_curve_of_a_grid_is_called_that(sweep, halves):
    X, y = halves[1]
    curve = pc.roc_of_path(sweep, X, y, "asymmetry")
    assert curve.vary == "parameters on a grid"
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    for fpr, tpr, t, shift in zip(curve.fpr, curve.tpr, curve.t, curve.shift, strict=True):
        predicted = sweep[int(t)].classifier.decision_function(X) + shift >= 0
        assert fpr == pytest.approx(predicted[y < 0].mean())
        assert tpr == pytest.approx(predicted[y > 0].mean())


def test_the_roc_curve_of_a_sweep_that_runs_down_is_turned(halves):
    down = {name: column[::-1] for name, column in COSTS.items()}
    up, turned = (pc.sweep(pc.TwoCSVM(*halves[0]), **grid, progress=False) for grid in (COSTS, down))
    one, other = (pc.roc_of_path(each, *halves[1], vary="asymmetry") for each in (up, turned))
    np.testing.assert_array_equal(one.fpr, other.fpr)
    np.testing.assert_array_equal(one.tpr, other.tpr)


def test_thresholds_of_one_solution_are_those_of_scikit_learn(sweep, halves):
    X, y = halves[1]
    for t in (None, 0, 4):
        found = pc.roc_of_path(sweep, X, y, "intercept", t=t)
        position = 2 if t is None else t  # the costs of position 2 are equal
        fpr, tpr, _ = roc_curve(y, sweep[position].classifier.decision_function(X), drop_intermediate=False)
        np.testing.assert_array_equal(found.fpr, fpr)
        np.testing.assert_array_equal(found.tpr, tpr)
        assert set(found.t) == {position}


def test_the_envelope_of_a_grid_holds_every_threshold_of_every_solution(sweep, halves):
    X, y = halves[1]
    whole = pc.roc_of_path(sweep, X, y, "both")
    assert whole.vary == "both on a grid"
    assert whole.chosen
    for k in range(5):
        one = pc.roc_of_path(sweep, X, y, "intercept", t=k)
        assert (np.interp(one.fpr, whole.fpr, whole.tpr) >= one.tpr - 1e-12).all()
    point = whole.best((2.0, 1.0))[0]
    predicted = sweep[int(point.t)].classifier.decision_function(X) + point.shift >= 0
    assert predicted[y < 0].mean() == pytest.approx(point.fpr)
    with pytest.raises(pc.InputError, match=r"of a sweep it is sweep\[int\(point\.t\)\]\.classifier"):
        PathRule.of(sweep, point)


def test_a_grid_on_an_exact_path_agrees_with_it(sweep, halves):
    """The same line of costs: the step functions at the points of the grid."""
    path = pc.trace(pc.TwoCSVM(*halves[0]), (0.05, 1.95), (1.95, 0.05))
    exact, grid = path.error_curve(*halves[1]), sweep.error_curve(*halves[1])
    for k, plus in enumerate(COSTS["C_plus"]):
        assert exact.counts(min((plus - 0.05) / 1.9, 1.0)) == (grid.false_positives[k], grid.false_negatives[k])


def test_cross_validation_over_a_grid_is_that_of_scikit_learn(gaussians):
    """SVC with class weights is the 2C-SVM; a prototype in CVXPY must have its counts, fold by fold."""
    X, y = gaussians(60, 2, seed=9)
    X = X * [1.0, 30.0]
    grid = [0.01, 1.0, 20.0]
    curve = pc.cross_validated_sweep(Hinge, X, y, folds=3, rng=0, transformer=StandardScaler(), C=grid)
    expected = np.zeros((2, 3), dtype=int)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        for k, C in enumerate(grid):
            svc = SVC(kernel="linear", C=C, tol=1e-8).fit(scaler.transform(X[train]), y[train])
            (_, fp), (fn, _) = confusion_matrix(y[test], svc.predict(scaler.transform(X[test])))
            expected[:, k] += fp, fn
    np.testing.assert_array_equal([curve.false_positives, curve.false_negatives], expected)
    np.testing.assert_array_equal(curve.parameters["C"], grid)
    assert curve.roc().n_plus == (y > 0).sum()
    parts = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    shuffled = np.random.default_rng(0).permutation(60)
    by_hand = pc.cross_validated_sweep(lambda X, y: Hinge(X, y), X[shuffled], y[shuffled], parts, C=1.0)
    assert len(by_hand) == 1


def test_points_are_drawn_and_no_line_joins_them(sweep, halves):
    curve = sweep.error_curve(*halves[1])
    display = curve.plot()
    assert isinstance(display, GridErrorsDisplay)
    assert display.parameter == "C_plus"
    lines = {line.get_label(): line for line in display.ax_.lines}
    for name, rates in (("false positive rate", curve.fpr), ("false negative rate", curve.fnr)):
        np.testing.assert_array_equal(lines[name].get_ydata(), rates)
        assert lines[name].get_linestyle() == "None"
    assert curve.plot(parameter="C_minus").ax_.get_xlabel() == "C_minus"
    assert sweep.plot().axes_[0].get_ylabel() == "coefficients"
    with pytest.raises(pc.InputError, match="parameter must be one of C_plus, C_minus, got 'nu'"):
        curve.plot(parameter="nu")


def test_what_is_wrong_is_said(sweep, halves):
    (X, y), one = halves[1], np.ones(1, dtype=int)
    wrong = {
        r"t must be a position in the sweep, a whole number from 0 to 4, got 0\.5": lambda: pc.roc_of_path(
            sweep, X, y, t=0.5
        ),
        'vary must be "intercept", "asymmetry" or "both"': lambda: pc.roc_of_path(sweep, X, y, "grid"),
        "a sweep must have at least one solution to score with": lambda: sweep[:0].error_curve(X, y),
        "y must": lambda: sweep.error_curve(X, y[:-1]),
        "t must be given: which solution of the sweep, from 0 to 0": lambda: pc.roc_of_path(
            pc.sweep(Hinge(X, y), C=1.0), X, y
        ),
        "make must be a class or function": lambda: pc.cross_validated_sweep(Hinge(X, y), X, y, C=1.0),
        "formulation must be a formulation": lambda: pc.cross_validated_sweep(lambda X, y: 3, X, y, C=1.0),
        "y must have one label per sample": lambda: pc.cross_validated_sweep(Hinge, X, y[:-1], C=1.0),
        "extras: weights must have one row per sample": lambda: pc.cross_validated_sweep(
            Hinge, X, y, C=1.0, extras={"weights": y[:-1]}
        ),
        "folds must be at least 2": lambda: pc.cross_validated_sweep(Hinge, X, y, 1, C=1.0),
        "C must be a finite positive number": lambda: pc.cross_validated_sweep(Hinge, X, y, 2, C=[1.0, -1.0]),
        "max_fpr must be at least": lambda: pc.roc.GridErrorCurve({}, one, one, 2, 2).neyman_pearson(0),
        "a grid curve must have at least one point": lambda: pc.roc.GridErrorCurve({}, one[:0], one[:0], 2, 2),
    }  # fmt: skip
    for message, call in wrong.items():
        with pytest.raises(pc.InputError, match=message):
            call()


def test_what_is_known_of_each_sample_is_split_with_the_samples():
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 25)
    X, weights = rng.normal(size=(50, 2)) + 0.5 * y[:, None], rng.integers(1, 4, size=50)
    seen = []

    def make(X, y, weights, group):
        seen.append((X, weights, group))
        return pc.TwoCSVM(np.repeat(X, weights, axis=0), np.repeat(y, weights))

    parts = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    group = np.arange(100).reshape(50, 2)
    extras = {"weights": weights, "group": group}
    curve = pc.cross_validated_sweep(make, X, y, parts, extras=extras, C_plus=[0.1, 1.0], C_minus=[1.0, 0.3])
    errors = np.zeros((2, 2), dtype=int)
    for (train, test), (given, weighed, grouped) in zip(parts, seen, strict=True):
        assert np.array_equal(given, X[train])
        assert np.array_equal(weighed, weights[train])
        assert np.array_equal(grouped, group[train])
        for k, (plus, minus) in enumerate([(0.1, 1.0), (1.0, 0.3)]):
            costs = np.where(y[train] > 0, plus, minus)
            svc = SVC(kernel="linear", C=1.0, tol=1e-10).fit(X[train], y[train], sample_weight=costs * weights[train])
            said = svc.decision_function(X[test]) >= 0
            errors[k] += (said & (y[test] < 0)).sum(), (~said & (y[test] > 0)).sum()
    assert np.array_equal(curve.false_positives, errors[:, 0])
    assert np.array_equal(curve.false_negatives, errors[:, 1])
