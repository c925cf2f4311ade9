"""Held-out loss along the path of a program: against a fit by CVXPY at single values, and a dense search."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.model_selection import KFold

import paretoclf as pc


def regression(n=30, d=4):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    return X, X @ [2.0, -1.0, 0.0, 0.0] + 1.0 + rng.normal(size=n)


def builder(X, y, stop=0.0):
    def build(rows):
        w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
        lam = cp.Parameter(nonneg=True, name="lam")
        loss = cp.sum_squares(X[rows] @ w + b - y[rows]) / (2 * len(rows)) + lam * cp.norm1(w)
        return cp.Problem(cp.Minimize(loss)), {lam: 3.0}, {lam: stop}

    return build


def test_the_loss_is_that_of_fits_by_cvxpy_on_each_fold():
    X, y = regression()
    splitter = KFold(3, shuffle=True, random_state=0)
    loss = pc.tuning.cross_validated_loss(builder(X, y), X, y, splitter.split(X), intercept="b")
    for lam in (2.5, 0.7, 0.11, 0.01):
        total = 0.0
        for train, test in splitter.split(X):
            problem, start, _ = builder(X, y)(train)
            next(iter(start)).value = lam
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
            w, b = (problem.var_dict[name].value for name in ("w", "b"))
            total += ((y[test] - X[test] @ w - b) ** 2).sum()
        assert loss.value(lam=lam) == pytest.approx(total / len(y), rel=1e-6)
    assert pc.tuning.cross_validated_loss(builder(X, y), X, y, splitter, intercept="b").value(lam=0.7) == loss.value(
        lam=0.7
    )


def test_the_minimum_is_below_all_of_a_dense_grid_and_attained():
    X, y = regression()
    loss = pc.tuning.cross_validated_loss(builder(X, y), X, y, 4, intercept="b")
    least = loss.minimum()
    dense = [loss.value(float(t)) for t in np.linspace(0.0, 1.0, 5001)]
    assert least.loss <= min(dense) <= least.loss * (1 + 1e-5)
    assert loss.value(least.t) == pytest.approx(least.loss, rel=1e-12)
    assert least.parameter == pytest.approx(3.0 * (1 - least.t))
    assert 0.0 < least.t < 1.0
    assert repr(loss).startswith("HeldOutLoss(4 folds, ")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"folds": 31}, "folds must be at most the number of samples, 30, got 31"),
        ({"folds": []}, r"folds must be at least one \(train, test\)"),
        ({"coef": "b"}, r"coef must name a variable of shape \(4,\), got 'b' of shape \(\)"),
        ({"coef": "v"}, "name must be that of a variable or constraint, one of"),
        ({"y": np.zeros(3)}, r"y must have one target per row of X, 30, got shape \(3,\)"),
    ],
)
def test_bad_input_is_refused(change, said):
    X, y = regression()
    given = {"y": y, **change}
    with pytest.raises(pc.InputError, match=said):
        pc.tuning.cross_validated_loss(builder(X, y), X, **given)


def model(X, y, predicted, rows=lambda *own: [], cost=lambda *own: 0, **more):
    """Lasso with a prediction of w, b and a variable v of some kind, and more rows and costs of them."""

    def build(train):
        w, b, v = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(**{"name": "v"} | more)
        lam = cp.Parameter(nonneg=True, name="lam")
        own = train, w, b, v
        r = y[train] - predicted(*own)
        objective = cp.sum_squares(r) / (2 * len(train)) + lam * cp.norm1(w) + 0.1 * cp.abs(b) + cost(*own)
        return cp.Problem(cp.Minimize(objective), rows(*own)), {lam: 3.0}, {lam: 0.5}

    return build


GROUP = np.arange(30) % 3
BESIDE = "predictions must be all that the model predicts, but it has {} beside X @ w, which would be left out: {}"


@pytest.mark.parametrize("d", [4, 1])
def test_a_variable_that_predictions_would_leave_out_is_refused(d):
    X, y = regression()
    X = X[:, :d]
    cases = [
        (lambda rows, w, b, v: X[rows] @ w + b, {}, None, BESIDE.format("b", "name it, intercept='b'")),
        (lambda rows, w, b, v: X[rows] @ w - b, {}, None, BESIDE.format("b", "name it, intercept='b'")),
        (
            lambda rows, w, b, v: X[rows] @ w - b,
            {},
            "b",
            "intercept must be added to X @ w as it is, but the model has -1 times b there: write X @ w [+] b",
        ),
        (
            lambda rows, w, b, v: X[rows] @ w + b + v[GROUP[rows]],
            {"shape": 3, "cost": lambda rows, w, b, v: cp.sum_squares(v)},
            "b",
            BESIDE.format("v", "make what it multiplies columns of X, and it of w"),
        ),
    ]
    for predicted, more, intercept, said in cases:
        with pytest.raises(pc.InputError, match=said):
            pc.tuning.cross_validated_loss(model(X, y, predicted, **more), X, y, 3, intercept=intercept)


@pytest.mark.parametrize("d", [4, 1])
def test_a_variable_that_is_no_part_of_a_prediction_is_none_of_its_business(d):
    """Residuals, slacks for each sample, the largest residual, and bounds of coefficients."""
    X, y = regression()
    X = X[:, :d]

    def predicted(rows, w, b, v):
        return X[rows] @ w + b

    plain = pc.tuning.cross_validated_loss(model(X, y, predicted), X, y, 3, intercept="b")
    for more in (
        {"shape": 20, "rows": lambda rows, w, b, v: [v == y[rows] - X[rows] @ w - b]},
        {"shape": 20, "rows": lambda rows, w, b, v: [v >= y[rows] - X[rows] @ w - b, v >= 0, v <= 99]},
        {"rows": lambda rows, w, b, v: [v >= cp.abs(y[rows] - X[rows] @ w - b), v <= 99]},
        {"rows": lambda rows, w, b, v: [v >= y[rows] - X[rows] @ w - b, v >= X[rows] @ w + b - y[rows], v <= 99]},
        {"shape": d, "rows": lambda rows, w, b, v: [w <= v, -w <= v, v <= 99]},
    ):
        found = pc.tuning.cross_validated_loss(model(X, y, predicted, **more), X, y, 3, intercept="b")
        assert found.value(lam=1.0) == pytest.approx(plain.value(lam=1.0), rel=1e-9)


def test_all_folds_must_have_one_line_and_the_value_one_place():
    X, y = regression()
    stops = iter((0.0, 0.1))

    def build(rows):
        return builder(X, y, next(stops))(rows)

    with pytest.raises(pc.InputError, match="the same start and stop for every fold"):
        pc.tuning.cross_validated_loss(build, X, y, 2, intercept="b")
    loss = pc.tuning.cross_validated_loss(builder(X, y), X, y, 2, intercept="b")
    with pytest.raises(pc.InputError, match="t or lam must be given, got mu"):
        loss.value(mu=1.0)
    with pytest.raises(pc.InputError, match="t must lie between 0 and 1, got 2"):
        loss.value(2.0)


@pytest.mark.parametrize(("lam", "end"), [(3.0, 0), (0.0, -1), (0.9, None)])
def test_within_one_standard_error_is_the_nearest_of_a_dense_grid(lam, end):
    """Losses of the folds at 30 001 penalties, each a plain mean of squares, and the rule in its own words."""
    X, y = regression()
    parts = list(KFold(5, shuffle=True, random_state=0).split(X))
    loss = pc.tuning.cross_validated_loss(builder(X, y), X, y, parts, intercept="b")
    grid = np.linspace(3.0, 0.0, 30001)
    at = 1.0 - grid / 3.0
    means = []
    for path, (_, test) in zip(loss.paths, parts, strict=True):
        t, w = path.along("w")
        b = path.along("b")[1]
        w, b = (np.stack([np.interp(at, t, column) for column in np.atleast_2d(each.T)]) for each in (w, b))
        means.append(((y[test, None] - X[test] @ w - b) ** 2).mean(axis=0))
    means = np.array(means)
    total = means.mean(axis=0)  # folds of one size
    least = total.argmin()
    error = means[:, least].std(ddof=1) / np.sqrt(5)
    allowed = grid[total <= total[least] + error]
    nearest = allowed[np.abs(allowed - lam).argmin()]
    found = loss.one_se(lam=lam)
    assert loss.standard_error(lam=grid[least]) == pytest.approx(error, rel=1e-6)
    assert found.parameter == pytest.approx(nearest, abs=1.1e-4)
    assert found.loss == pytest.approx(loss.value(found.t), rel=1e-12)
    assert found.loss <= loss.minimum().loss + loss.standard_error(loss.minimum().t) + 1e-12
    if end == 0:
        assert 0.1 < found.parameter < 3.0  # neither an end of the line nor the least loss
        assert found.parameter > 1.5 * loss.minimum().parameter


def test_one_fold_has_no_standard_error():
    X, y = regression()
    loss = pc.tuning.cross_validated_loss(builder(X, y), X, y, [(np.arange(20), np.arange(20, 30))], intercept="b")
    with pytest.raises(pc.InputError, match="folds must be at least 2 for a standard error, got 1"):
        loss.one_se(lam=3.0)
    with pytest.raises(pc.InputError, match="t must lie between 0 and 1"):
        loss.one_se(lam=3.1)
