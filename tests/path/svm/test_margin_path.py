"""The path of the two margins: against CVXPY, LIBSVM, brute force and the closed form; degenerate and real data."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY
from paretoclf.path.svm_lines.svm_path import check_certificates

mpl.use("Agg")

THETA = (0.02, 40.0)
COSTS = {"C_plus": 0.7, "C_minus": 2.5}
KINDS = ("dense", "sparse", "rbf", "precomputed")


def data(seed=0, shift=1.4, n=24, d=3, share=0.4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1.0, -1.0)
    return rng.uniform(-1, 1, size=(n, d)) + shift * y[:, None], y


def problem(X, y, kind="dense", soft=False):
    if kind == "sparse":
        return pc.BiobjectiveMargin(sp.csr_array(X), y, soft=soft)
    if kind == "rbf":
        return pc.BiobjectiveMargin(X, y, pc.RBF(1.5), soft=soft)
    if kind == "precomputed":
        return pc.BiobjectiveMargin(X @ X.T, y, "precomputed", soft=soft)
    return pc.BiobjectiveMargin(X, y, soft=soft)


def traced(svm, theta=THETA, **costs):
    return pc.trace(svm, theta=theta, **((costs or COSTS) if svm.soft else {}))


def some(path):
    """Breakpoints, midpoint, and random shares."""
    return [*path.certificate_points, *np.random.default_rng(0).uniform(*path.breakpoints, 5)]


# ---- against others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("kind", KINDS)
def test_cvxpy_agrees_in_value_intercept_multipliers_and_scores(kind, soft):
    X, y = data(1, 0.3 if soft else 1.4)
    svm = problem(X, y, kind, soft)
    path = traced(svm)
    new = X if kind != "precomputed" else X @ X.T
    for share in some(path):
        mine = path.at(share)
        theirs = svm.solve(**mine.values, polish=False)  # what CVXPY says, not the polish
        assert mine.source == "path"
        assert mine.certificate.passes(1e-11)
        assert mine.value == pytest.approx(theirs.value, rel=1e-8)
        assert mine.dual_value == pytest.approx(path.value(share), rel=1e-12)
        assert mine.classifier.b == pytest.approx(theirs.classifier.b, abs=1e-6)
        scores = theirs.classifier.decision_function(new)
        np.testing.assert_allclose(mine.classifier.decision_function(new), scores, atol=1e-6)
        np.testing.assert_allclose(path.scores(new)(share), scores, atol=1e-6)
        np.testing.assert_allclose(mine.alpha, theirs.alpha, atol=1e-5 * theirs.alpha.max())
        np.testing.assert_array_equal(mine.alpha, path.alpha(share))
    agreement = pc.compare(path, svm, n=6)
    assert agreement.n == 6
    assert agreement.agrees(1e-9), agreement


@pytest.mark.parametrize("kind", KINDS)
def test_the_sweep_and_the_path_are_one_solution_set(kind):
    svm = problem(*data(2, 0.3), kind, soft=True)
    thetas = np.geomspace(*THETA, 7)
    path = traced(svm)
    swept = pc.sweep(svm, theta=thetas, **COSTS, progress=False)
    for theta, theirs in zip(thetas, swept, strict=True):
        mine = path.at(np.clip(path.share(theta), *path.breakpoints))
        assert mine.value == pytest.approx(theirs.value, rel=1e-9)
        assert mine.classifier.b == pytest.approx(theirs.classifier.b, abs=1e-8)


def test_libsvm_at_theta_1():
    X, y = data(3)
    hard = traced(problem(X, y)).at(0.5)
    model = SVC(C=1e8, kernel="linear", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(hard.classifier.w, model.coef_[0], atol=1e-5)
    assert hard.classifier.b == pytest.approx(model.intercept_[0], abs=1e-5)
    # Squared slacks are the hard margin for the kernel K + diag(1 / C), with a cost for each class.
    soft = traced(problem(X, y, soft=True)).at(0.5)
    ridge = np.diag(1 / np.where(y > 0, COSTS["C_plus"], COSTS["C_minus"]))
    model = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(X @ X.T + ridge, y)
    assert soft.classifier.b == pytest.approx(model.intercept_[0], abs=1e-5)
    alpha = np.zeros(y.size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(soft.alpha, 2 * alpha, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_points_of_two_triangles_by_brute_force(seed):
    """All pairs of faces of the two convex hulls: the smallest distance is the sum of the margins."""
    X, y = data(seed, n=6, d=2, share=0.5)
    nearest = np.inf
    for P, N in itertools.product(*(list(faces(np.flatnonzero(y == sign))) for sign in (1, -1))):
        # min |P'p - N'n|^2 with sum p = sum n = 1: a linear system on each pair of faces.
        Z = np.vstack([X[P], -X[N]])
        A = np.zeros((2, len(P) + len(N)))
        A[0, : len(P)], A[1, len(P) :] = 1.0, 1.0
        K = np.block([[Z @ Z.T, A.T], [A, np.zeros((2, 2))]])
        weights = np.linalg.lstsq(K, np.append(np.zeros(Z.shape[0]), [1.0, 1.0]), rcond=None)[0][: Z.shape[0]]
        if (weights > -1e-12).all():
            nearest = min(nearest, float(np.linalg.norm(weights @ Z)))
    path = traced(problem(X, y))
    for share in some(path):
        assert sum(path.margins(share)) == pytest.approx(nearest, rel=1e-10)


def faces(members):
    for size in range(1, members.size + 1):
        yield from (list(face) for face in itertools.combinations(members, size))


# ---- the theorem ---------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), theta=st.floats(0.05, 20.0))
def test_margins_by_hand(seed, theta):
    X, y = data(seed)
    path = traced(problem(X, y))
    rule = path.at(path.share(theta)).classifier
    reached = y * (X @ rule.w + rule.b) / np.linalg.norm(rule.w)
    plus, minus = reached[y > 0].min(), reached[y < 0].min()
    assert (plus, minus) == pytest.approx(path.margins(path.share(theta)), rel=1e-11)
    assert plus / minus == pytest.approx(theta, rel=1e-10)
    assert path.theta(path.share(theta)) == pytest.approx(theta, rel=1e-12)


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_it_is_the_pareto_set_in_closed_form(soft):
    svm = problem(*data(4, 0.3 if soft else 1.4), soft=soft)
    path, pareto = traced(svm), svm.pareto_set(**(COSTS if soft else {}))
    for share in some(path):
        theta = path.theta(share)
        assert path.intercept(share) == pytest.approx(pareto.intercept(theta), abs=1e-9)
        assert path.margins(share) == pytest.approx(pareto.margins(theta), rel=1e-9)
        np.testing.assert_allclose(path.alpha(share), pareto.multipliers(theta), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(path.slope(share), pareto.classifier(theta).w, atol=1e-9)


@given(seed=st.integers(0, 10**6), soft=st.booleans())
def test_exchanging_the_classes_inverts_theta(seed, soft):
    X, y = data(seed)
    one = traced(problem(X, y, soft=soft), (0.1, 4.0))
    other = traced(problem(X, -y, soft=soft), (0.25, 10.0), C_plus=COSTS["C_minus"], C_minus=COSTS["C_plus"])
    for share in np.linspace(0.15, 0.75, 5):
        assert other.intercept(1 - share) == pytest.approx(-one.intercept(share), abs=1e-11)
        assert other.value(1 - share) == pytest.approx(one.value(share), rel=1e-11)


def test_soft_margins_become_hard_as_costs_grow():
    X, y = data(5)
    hard = traced(problem(X, y))
    soft = traced(problem(X, y, soft=True), C_plus=1e9, C_minus=1e9)
    assert soft.value(0.3) == pytest.approx(hard.value(0.3), rel=1e-6)
    assert soft.intercept(0.3) == pytest.approx(hard.intercept(0.3), abs=1e-6)


# ---- what is made of it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_roc_are_those_of_the_classifiers(kind):
    X, y = data(6, 0.2, n=40)
    Z, truth = data(7, 0.2, n=60)
    svm = problem(X, y, kind, soft=True)
    path = traced(svm, (1e-9, 1e9))
    new = Z if kind != "precomputed" else Z @ X.T
    curve = path.error_curve(new, truth)
    shares = [*np.random.default_rng(1).uniform(*path.breakpoints, 40), *(0.5 * (curve.t[1:] + curve.t[:-1]))]
    for share in shares:
        predicted = path.at(share).classifier.predict(new)
        wrong = ((predicted > 0) & (truth < 0)).sum(), ((predicted < 0) & (truth > 0)).sum()
        assert curve.counts(share) == wrong
    # Only b moves: the rates along the path are those of thresholds on one score, where b stays within 1 of b_1.
    along = pc.roc_of_path(path, new, truth, vary="asymmetry")
    thresholds = pc.roc_of_path(path, new, truth, vary="intercept")
    by_thresholds = set(zip(thresholds.fpr, thresholds.tpr, strict=True))
    assert set(zip(along.fpr, along.tpr, strict=True)) <= by_thresholds
    assert (along.t >= path.breakpoints[0]).all()
    assert len(along) > 5
    assert thresholds.t[0] == pytest.approx(0.5)
    assert pc.roc_of_path(path, new, truth, vary="both").auc >= along.hull().auc - 1e-12


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_and_loaded(kind, soft, tmp_path):
    svm = problem(*data(8), kind, soft)
    path = traced(svm)
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert isinstance(again, pc.results.MarginPath)
    assert repr(again) == repr(path)
    np.testing.assert_array_equal(again.alpha(0.3), path.alpha(0.3))
    assert again.worst_certificate.passes(1e-10)
    assert pc.compare(again, svm, n=2).agrees()


@pytest.mark.parametrize("kind", ["dense", "rbf"])
def test_it_is_drawn(kind):
    path = traced(problem(*data(9), kind))
    display = path.plot()
    upper, lower = display.axes_
    plus, minus = (line.get_xydata() for line in upper.lines)
    assert plus[:, 0] == pytest.approx(minus[:, 0])
    assert (plus[:, 1] + minus[:, 1]) == pytest.approx(sum(path.margins(0.5)))
    assert "share of the margin" in lower.get_xlabel()
    curve = path.error_curve(data(9)[0], data(9)[1]).plot()
    assert "share of the margin" in curve.ax_.get_xlabel()
    display.figure_.canvas.draw()
    mpl.pyplot.close("all")


def test_it_is_a_path_of_one_piece():
    path = traced(problem(*data(10)))
    assert path.breakpoints == pytest.approx([0.02 / 1.02, 40 / 41])
    assert not path.events
    assert len(path.certificates()) == 3
    assert path.costs(0.5) is None
    assert (path.sets(0.5) == 2).sum() == path.n_margin[0] == (path.alpha(0.5) > 0).sum()
    assert repr(path).startswith("MarginPath(theta 0.02 to 40, hard, 24 samples, ")
    soft = traced(problem(*data(10), soft=True))
    assert soft.costs(0.5) == pc.Costs(**COSTS)
    assert "soft, Costs" in repr(soft)


# ---- degenerate and real data --------------------------------------------------------------------------------------


def degenerate():
    rng = np.random.default_rng(0)
    X, y = data(11, n=20)
    few = rng.integers(0, 3, size=(20, 2)) + 3.0 * (y[:, None] > 0)
    return {
        "duplicates": (np.vstack([X, X]), np.append(y, y)),
        "constant feature": (np.column_stack([X, np.full(20, 3.0)]), y),
        "rank deficient": (X @ rng.normal(size=(3, 9)), y),
        "one sample per class": (X[[0, -1]], y[[0, -1]]),
        "one positive": (X[7:], np.where(np.arange(7, 20) == 7, 1.0, -1.0)),
        "integer grid": (few, y),
        "parallel faces": (np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]), np.repeat([-1.0, 1.0], 3)),
        "collinear": (np.outer(np.arange(-10.0, 10.0), [1.0, 2.0]), np.where(np.arange(20) < 8, -1.0, 1.0)),
        "wide": (rng.normal(size=(12, 40)), np.where(np.arange(12) < 5, 1.0, -1.0)),
        "large": (1e4 * X, y),
        "small": (1e-4 * X, y),
        "far from 0": (X + 1e4, y),
        "almost touching": (X - (np.min(np.abs(X.sum(axis=1))) - 1e-4) / 3 * y[:, None], y),
    }  # fmt: skip


def inseparable():
    X, y = data(12, n=20)
    return {
        "conflicting labels": (np.vstack([X, X]), np.append(y, -y)),
        "all equal": (np.ones((8, 2)), np.where(np.arange(8) < 3, 1.0, -1.0)),
        "all zero": (np.zeros((6, 2)), np.where(np.arange(6) < 3, 1.0, -1.0)),
        "xor": (np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1.0, 1, -1, -1])),
        "equal centroids": (np.array([[-2.0], [2], [-1], [1]]), np.array([1.0, 1, -1, -1])),
    }


#: The kernel values themselves are rounded by more than the margin there: multipliers need two doubles.
BEYOND = {("small", "rbf"), ("far from 0", "precomputed")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", degenerate())
def test_degenerate_data(name, kind):
    X, y = degenerate()[name]
    for soft in (False, True):
        svm = problem(X, y, kind, soft)
        path = traced(svm)
        if (name, kind) in BEYOND and not soft:
            dual, primal = path.certificate(0.4, exact=True).bounds
            assert path.low is not None
            assert 0 <= primal - dual <= 1e-12 * primal
            assert not replace(path, low=None).proof.holds()
            continue
        assert all(c.passes(CERTIFY) for c in path.certificates())
        if kind == "dense" and not soft:  # margins by hand
            w, b = path.slope(0.3), path.intercept(0.3)
            reached = y * ((X - X.mean(axis=0)) @ w + (X.mean(axis=0) @ w + b)) / np.linalg.norm(w)
            found = reached[y > 0].min(), reached[y < 0].min()
            assert found == pytest.approx(path.margins(0.3), rel=1e-6)
        theirs = svm.solve(**path.at(0.4).values)
        if theirs.certificate.passes(1e-9):
            assert path.value(0.4) == pytest.approx(theirs.value, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", inseparable())
def test_inseparable_data(name, kind):
    X, y = inseparable()[name]
    if kind != "rbf":
        with pytest.raises(pc.errors.InseparableError, match="cannot be separated"):
            traced(problem(X, y, kind))
    svm = problem(X, y, kind, soft=True)
    path = traced(svm)
    assert path.worst_certificate.passes(1e-10)
    assert pc.compare(path, svm, n=3).agrees(1e-8)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 15), log_c=st.floats(-3.0, 3.0))
def test_small_integer_data(seed, n, log_c):
    """Ties everywhere. The judge is arithmetic by hand: values of a feasible primal and a feasible dual point."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    y = np.where(rng.permutation(n) < rng.integers(1, n), 1.0, -1.0)
    path = traced(problem(X, y, soft=True), C_plus=10**log_c, C_minus=1.0)
    C = np.where(y > 0, 10**log_c, 1.0)
    for share in some(path):
        theta = path.theta(share)
        A, ybar, lam = 2 * theta / (1 + theta), np.where(y > 0, 1.0, -theta), path.alpha(share)
        w, b = path.slope(share), path.intercept(share)
        xi = np.maximum(0.0, A / np.abs(ybar) - y * (X @ w + b))
        primal = w @ w + C @ xi**2
        dual = A * lam.sum() - 0.25 * np.sum((X.T @ (lam * ybar)) ** 2) - 0.25 * np.sum((ybar * lam) ** 2 / C)
        assert (lam >= 0).all()
        assert abs(lam @ ybar) <= 1e-12 * (lam @ np.abs(ybar))
        assert primal - dual <= 1e-10 * primal


FOLDER = os.environ.get("PARETOCLF_DATA")
there = pytest.mark.skipif(not FOLDER, reason="PARETOCLF_DATA is not set")
REAL = ["wdbc", *(pytest.param(name, marks=there) for name in ("sonar", "pima", "bupa", "ionosphere", "breast_w"))]


@pytest.mark.parametrize("name", REAL)
def test_real_data(name):
    found = pc.datasets.load(name, data_dir=FOLDER)
    spread = found.X.std(axis=0)
    X, y = (found.X - found.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), found.y
    cases = [(None, True), (pc.RBF.median(X), True)]
    if name in ("wdbc", "sonar"):  # a hyperplane separates them
        cases.append((None, False))
    else:
        with pytest.raises(pc.errors.InseparableError):
            traced(problem(X, y))
    for kernel, soft in cases:
        svm = pc.BiobjectiveMargin(X, y, kernel, soft=soft)
        path = traced(svm)
        assert path.worst_certificate.passes(1e-9)
        assert pc.compare(path, svm, n=3).agrees(1e-8)
        assert path.intercept(0.5) == pytest.approx(svm.solve(**path.at(0.5).values).classifier.b, abs=1e-6)


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_a_wrong_path_is_refused(soft):
    path = traced(problem(*data(13), soft=soft))
    for wrong in (
        {"a0": 0.99 * path.pieces.a0, "a1": 0.99 * path.pieces.a1},
        {"b0": path.pieces.b0 + 1e-4, "b1": path.pieces.b1 + 1e-4},
        {"value": 1.001 * path.pieces.value},
    ):
        with pytest.raises(pc.DegeneratePathError):
            check_certificates(replace(path, pieces=replace(path.pieces, **wrong)))


@pytest.mark.parametrize(
    ("soft", "how", "message"),
    [
        (False, {}, "^theta must be given"),
        (True, {"theta": (1, 2)}, "^C_plus must be given"),
        (True, {"theta": (1, 2), "C_plus": 1.0}, "^C_minus must be given"),
        (True, {"theta": (1, 2), "C_plus": 0.0, "C_minus": 1.0}, "^C_plus must be"),
        (False, {"theta": (1, 2), "C_plus": 1.0}, "^C_plus must be left out"),
        (False, {"theta": (1, 2), "tau": (0, 1)}, "^tau must be left out"),
        (False, {"theta": (1, 2), "start": (0, 0)}, "^start must be left out"),
        (False, {"theta": (0, 2)}, "^theta must be a pair"),
        (False, {"theta": (2, 2)}, "^theta must be a pair"),
        (False, {"theta": (1, np.inf)}, "^theta must be a pair"),
        (False, {"theta": (1, np.nan)}, "^theta must be a pair"),
        (False, {"theta": 1.0}, "^theta must be a pair"),
        (False, {"theta": ("a", 1)}, "^theta must be a number"),
    ],
)
def test_bad_arguments_are_named(soft, how, message):
    with pytest.raises(pc.InputError, match=message):
        pc.trace(problem(*data(), soft=soft), **how)


def test_what_does_not_fit_is_refused():
    X, y = data()
    path = traced(problem(X, y), (0.5, 2.0))
    for other in (problem(X, y, soft=True), problem(-X, y), pc.TwoCSVM(X, y)):
        with pytest.raises(pc.InputError, match=r"^svm must "):
            pc.compare(path, other)
    with pytest.raises(pc.InputError, match=r"^share must lie in \[0.333333, 0.666667\]"):
        path.at(0.9)
    with pytest.raises(pc.InputError, match=r"^w exists"):
        traced(problem(X, y, "rbf")).slope(0.5)
    with pytest.raises(pc.InputError, match=r"^theta must be left out for a TwoCSVM"):
        pc.trace(pc.TwoCSVM(X, y), (0, 0), (1, 1), theta=(1, 2))


@pytest.mark.parametrize(("seed", "n"), [(1, 40), (2, 60)])
@pytest.mark.parametrize("width", [3.0, 10.0])
def test_a_wide_kernel_takes_multipliers_in_two_doubles(seed, n, width, tmp_path):
    """Its classes are so near each other that rounding a multiplier moves margins by more than a proof allows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.3, 1, -1)
    path = pc.trace(pc.BiobjectiveMargin(X, y, pc.RBF(width), soft=False), theta=(0.1, 10))
    assert path.value(0.5) > 1e8
    assert path.proof.holds()
    assert not path.proof.passes()  # the kernel's own values may decide otherwise
    K = path.gram.matrix
    assert pc.trace(pc.BiobjectiveMargin(K, y, "precomputed", soft=False), theta=(0.1, 10)).proof.passes()
    for share in (path.share(0.1), 0.5, path.share(10.0)):
        assert path.at(share).certificate.holds()
        dual, primal = path.certificate(share, exact=True).bounds
        assert 0 <= primal - dual <= 1e-15 * primal  # in fractions
    path.save(tmp_path / "wide.npz")
    again = pc.load(tmp_path / "wide.npz")
    np.testing.assert_array_equal(again.low, path.low)
    assert again.proof.worst.gap == path.proof.worst.gap
    assert not replace(path, low=None).proof.holds()
    off = path.low.copy()
    off[path.pieces.index[0]] += 1e-6 * path.pieces.a0[0]
    assert not replace(path, low=off).proof.holds()
    np.testing.assert_allclose(path.at(0.5).numbers["alpha_lo"], path.low, rtol=1e-9)
