"""Every exact path and map against CVXPY: breakpoints, midpoints and random parameters; made, degenerate and real data.

One table: a formulation with a path, how it is traced, and what the path is compared in. A new path is a line here.
"""

from __future__ import annotations

import os

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import PathDisplay

mpl.use("Agg")

FOLDER = os.environ.get("PARETOCLF_DATA")
there = pytest.mark.skipif(not FOLDER, reason="PARETOCLF_DATA is not set")
AGREE = 1e-8  # relative difference of objectives

# Path -> (the formulation of samples, labels and kernel; how it is traced).
PATHS = {
    "2C ray": (pc.TwoCSVM, {"start": (0, 0), "stop": (3.0, 2.0)}),
    "2C asymmetry": (pc.TwoCSVM, {"start": (0.1, 1.9), "stop": (1.9, 0.1)}),
    "quantile": (pc.QuantileSVM, {"tau": (0, 1), "lam": 0.02}),
    "quantile with bias": (lambda *a: pc.QuantileSVM(*a, bias=True), {"tau": (0.2, 0.9), "lam": 0.02}),
    "nu": (pc.TwoNuSVM, {"nu": (0, None), "asymmetry": 0.4}),
    "nu line": (pc.TwoNuSVM, {"start": (0.9, 0.6), "stop": (0.2, 0.3)}),
    "soft margins": (pc.BiobjectiveMargin, {"theta": (0.05, 20), "C_plus": 0.5, "C_minus": 2.0}),
    "hard margins": (lambda *a: pc.BiobjectiveMargin(*a, soft=False), {"theta": (0.05, 20)}),
    "2nu in nu": (pc.TwoNuSVM, {"nu": (0, None), "asymmetry": 0.5}),
    "2nu line of hulls": (pc.TwoNuSVM, {"start": (1.0, 1.0), "stop": (0.4, 0.6)}),
}


def made(seed, n=30, shift=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def degenerate():
    X, y = made(1, 16)
    few = np.random.default_rng(2).integers(0, 3, size=(24, 2)).astype(float)
    return {
        "duplicates": (np.vstack([X, X]), np.append(y, y)),
        "conflicting labels": (np.vstack([X, X]), np.append(y, -y)),
        "constant feature": (np.column_stack([X, np.full(16, 3.0)]), y),
        "rank deficient": (X @ np.array([[1.0, 2, -1], [0, 1, 1]]), y),
        "integer grid": (few, np.where(np.arange(24) < 9, 1.0, -1.0)),
        "separable": (X + 5 * y[:, None], y),
        "one positive": (X, np.where(np.arange(16) == 3, 1.0, -1.0)),
        "collinear": (np.outer(np.arange(-8.0, 8.0), [1.0, 2.0]), y),
    }


def real(name, most=120):
    """A data set, scaled; of a large one every k-th sample."""
    found = pc.datasets.load(name, data_dir=FOLDER)
    step = -(-found.n // most)
    X, y = found.X[::step], found.y[::step]
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


REAL = ["wdbc", *(pytest.param(name, marks=there) for name in ("pima", "sonar", "ionosphere", "bupa"))]


def traced(name, X, y, kernel=None):
    """Formulation and path; None where the classes of a hard problem cannot be separated, or class means coincide."""
    make, how = PATHS[name]
    svm = make(X, y, kernel)
    if name.startswith("nu") and np.linalg.norm(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)) < 1e-12:
        with pytest.raises(pc.InputError, match="trivial"):
            pc.trace(svm, **how)
        return svm, None
    try:
        return svm, pc.trace(svm, **how)
    except pc.InputError as refused:
        if isinstance(refused, pc.errors.InseparableError) or "trivial" in str(refused):
            return svm, None
        raise


def agree(svm, path, n):
    """Optimal values, by the comparison; and those that the path states, against its own solutions."""
    agreement = pc.compare(path, svm, n=n, rng=1)
    assert agreement.n == n
    assert agreement.agrees(AGREE), agreement
    lo, hi = path.breakpoints[[0, -1]]
    for t in np.random.default_rng(2).uniform(lo, hi, 3):
        assert path.at(t).value == pytest.approx(path.value(t), rel=1e-9)
    assert path.worst_certificate.passes()


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("name", PATHS)
def test_made_data(name, kernel):
    # Every formulation with a path is swept too, and the comparison is of the two.
    svm, path = traced(name, *made(0, shift=4.0 if name == "hard margins" else 0.5), kernel)
    agree(svm, path, 12)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("data", degenerate())
@pytest.mark.parametrize("name", PATHS)
def test_degenerate_data(name, data, kernel):
    svm, path = traced(name, *degenerate()[data], kernel)
    if path is None:
        assert data != "separable" if name == "hard margins" else data == "conflicting labels"
        return
    agree(svm, path, 3)


@pytest.mark.parametrize("data", REAL)
@pytest.mark.parametrize("name", PATHS)
def test_real_data(name, data):
    X, y = real(data)
    for kernel in (None, pc.RBF.median(X)):
        svm, path = traced(name, X, y, kernel)
        if path is not None:
            agree(svm, path, 6)


# ---- held-out errors along every path ------------------------------------------------------------------------------


def assert_cvxpys_errors(svm, path, Z, truth, n=4):
    """The counts are those of CVXPY's classifiers, where these are unique and no score is near 0."""
    curve = path.error_curve(Z, truth)
    (lo, hi), compared = path.breakpoints[[0, -1]], 0
    assert (curve.t[0], curve.t[-1]) == (lo, hi)
    rng = np.random.default_rng(3)
    breaks, inner = path.breakpoints[1:-1], 0.5 * (path.breakpoints[1:] + path.breakpoints[:-1])
    points = [*rng.choice(inner, n), *rng.uniform(lo, hi, n)]
    points += [*rng.choice(breaks, n)] if breaks.size else []
    for t in points:
        mine = path.at(t)
        theirs = svm.solve(**mine.values)
        scores = theirs.classifier.decision_function(Z)
        if np.ptp(mine.classifier.b_interval) > 1e-9 or np.abs(scores).min() < 1e-5 or np.abs(curve.t - t).min() < 1e-9:
            continue
        wrong = int(((scores > 0) & (truth < 0)).sum()), int(((scores < 0) & (truth > 0)).sum())
        assert curve.counts(t) == wrong, t
        compared += 1
    return compared


@pytest.mark.parametrize("name", PATHS)
def test_errors_along_a_path_are_those_of_cvxpys_classifiers(name):
    compared = 0
    for X, y in (made(4, shift=4.0 if name == "hard margins" else 0.5), *degenerate().values()):
        svm, path = traced(name, X, y)
        if path is None:
            continue
        rng = np.random.default_rng(5)
        Z, truth = rng.normal(size=(40, X.shape[1])), np.where(rng.random(40) < 0.5, 1.0, -1.0)
        compared += assert_cvxpys_errors(svm, path, Z, truth, n=2)
    assert compared >= (2 if name == "hard margins" else 12)


@pytest.mark.parametrize("data", REAL)
def test_errors_on_real_data_are_those_of_cvxpys_classifiers(data):
    X, y = real(data)
    Z, truth = X[1::2], y[1::2]
    for name in PATHS:
        svm, path = traced(name, X[::2], y[::2])
        if path is not None:
            assert assert_cvxpys_errors(svm, path, Z, truth, n=3) > 0


# ---- the value and its slopes --------------------------------------------------------------------------------------


def assert_cvxpys_value(svm, path, n):
    """Value, and the slacks of either class, at breakpoints, midpoints and random t."""
    ends, rng = path.breakpoints, np.random.default_rng(6)
    points = [*rng.choice(ends, n), *rng.choice(0.5 * (ends[1:] + ends[:-1]), n), *rng.uniform(*ends[[0, -1]], n)]
    for t in points:
        costs, prices = path.costs(t), path.shadow_prices(t)
        if min(costs) == 0.0:
            continue
        theirs = svm.solve(C_plus=costs.C_plus, C_minus=costs.C_minus)
        assert path.value(t) == pytest.approx(theirs.value, rel=AGREE)
        # Their slacks are a supergradient: on the segment of ours, which is a point away from the jumps of b.
        slacks = [float(theirs.xi[svm.y == sign].sum()) for sign in (1, -1)]
        low, high = np.sort(prices.ends, axis=0)
        room = 1e-6 * (1.0 + np.abs(slacks))
        assert (slacks >= low - room).all()
        assert (slacks <= high + room).all()
        h = 1e-3 * min(costs)  # concave: every slope bounds CVXPY's values from above
        moved = svm.solve(C_plus=costs.C_plus + h, C_minus=costs.C_minus - h).value
        assert moved <= path.value(t) + h * (prices.C_plus - prices.C_minus) + 1e-9 * path.value(t)


@pytest.mark.parametrize("data", degenerate())
@pytest.mark.parametrize("name", ["2C ray", "2C asymmetry"])
def test_the_value_on_degenerate_data(name, data):
    assert_cvxpys_value(*traced(name, *degenerate()[data]), n=2)


@pytest.mark.parametrize("data", REAL)
def test_the_value_on_real_data(data):
    X, y = real(data, 80)
    for name in ("2C ray", "2C asymmetry"):
        assert_cvxpys_value(*traced(name, X, y), n=3)


# ---- the map of the cost plane -------------------------------------------------------------------------------------

SQUARE = (0.05, 1.5)


def assert_cvxpys_map(svm, found, n):
    """Values at vertices, centroids and random costs."""
    rng = np.random.default_rng(7)
    regions = [found.regions[k] for k in rng.integers(0, len(found.regions), n)]
    points = [*(r.polygon[0] for r in regions), *(r.centroid for r in regions), *rng.uniform(*SQUARE, (n, 2))]
    swept = pc.sweep(svm, C_plus=[p[0] for p in points], C_minus=[p[1] for p in points], progress=False)
    for (C_plus, C_minus), theirs in zip(points, swept, strict=True):
        assert found.at(C_plus, C_minus).value == pytest.approx(theirs.value, rel=AGREE)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("data", degenerate())
def test_the_map_on_degenerate_data(data, kernel):
    svm = pc.TwoCSVM(*degenerate()[data], kernel)
    assert_cvxpys_map(svm, pc.plane(svm, SQUARE, SQUARE), 3)


@pytest.mark.parametrize("data", REAL)
def test_the_map_on_real_data(data):
    X, y = real(data, 36)
    for kernel in (None, pc.RBF.median(X)):
        svm = pc.TwoCSVM(X, y, kernel)
        assert_cvxpys_map(svm, pc.plane(svm, SQUARE, SQUARE), 5)


# ---- what every path has -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("name", PATHS)
def test_every_path_has_roc_curves_pictures_and_a_file(name, kernel, tmp_path):
    svm, path = traced(name, *made(8, 20, shift=4.0 if name == "hard margins" else 0.5), kernel)
    Z, truth = made(9, 30)
    lo, hi = path.breakpoints[[0, -1]]
    for vary in ("intercept", "asymmetry", "both"):
        curve = pc.roc_of_path(path, Z, truth, vary=vary)
        assert ((curve.t >= lo) & (curve.t <= hi)).all()
        assert 0.0 <= curve.auc <= 1.0
    along = pc.roc_of_path(path, Z, truth, vary="asymmetry")
    inner = np.isfinite(along.shift)  # not the two ends that complete the curve
    for t, fpr, tpr in zip(along.t[inner][::5], along.fpr[inner][::5], along.tpr[inner][::5], strict=True):
        if along.swept[inner][0] == 1.0 and np.abs(path.breakpoints - t).min() > 1e-9:
            predicted = path.at(t).classifier.predict(Z)
            assert (fpr, tpr) == ((predicted[truth < 0] > 0).mean(), (predicted[truth > 0] > 0).mean())
    display = path.plot()
    assert isinstance(display, PathDisplay)
    assert display.axes_[1].get_xlim() == pytest.approx(tuple(np.sort(display.position(display.knots()[[0, -1]]))))
    display.figure_.canvas.draw()
    path.error_curve(Z, truth).plot().figure_.canvas.draw()
    mpl.pyplot.close("all")
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert type(again) is type(path)
    np.testing.assert_array_equal(again.alpha(hi), path.alpha(hi))
    assert pc.compare(again, svm, n=3).agrees(AGREE)
