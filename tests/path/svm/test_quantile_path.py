"""The quantile path: against CVXPY, LIBLINEAR, an interior-point solver and brute force; degenerate data."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import paretoclf as pc
from paretoclf.common.errors import HomogeneousWarning
from paretoclf.common.tolerances import CERTIFY
from paretoclf.path.svm_lines.svm_path import check_certificates
from paretoclf.roc.crossings import label_changes
from paretoclf.roc.scores import PathScores
from tests.oracles.box_problems import Problem

TAUS = (0.0, 0.1, 0.37, 0.5, 0.81, 1.0)
KINDS = ("dense", "sparse", "rbf", "precomputed")


def data(seed=0, n=40, d=3, share=0.4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def problem(X, y, kind="dense", bias=True):
    """The same samples in one of the forms in which they can be given."""
    if kind == "sparse":
        return pc.QuantileSVM(sp.csr_array(X), y, bias=bias)
    if kind == "rbf":
        return pc.QuantileSVM(X, y, pc.RBF(1.5), bias=bias)
    if kind == "precomputed":
        return pc.QuantileSVM(X @ X.T, y, "precomputed", bias=bias)
    return pc.QuantileSVM(X, y, bias=bias)


def everywhere(path):
    """Breakpoints, middles of pieces, and some other tau."""
    return np.concatenate([path.certificate_points, np.random.default_rng(0).uniform(*path.breakpoints[[0, -1]], 20)])


def by_hand(svm, tau, lam, alpha):
    """Primal and dual objective of multipliers as the paper has them."""
    K = svm.gram.matrix + (1.0 if svm.bias else 0.0)
    c = np.where(svm.y > 0, 2 * (1 - tau) / svm.n, 2 * tau / svm.n)
    assert (alpha >= 0).all()
    assert (alpha <= c).all()
    f = K @ (svm.y * alpha) / lam
    half = 0.5 * (svm.y * alpha) @ f
    return half + c @ np.maximum(0.0, 1 - svm.y * f), alpha.sum() - half


def interior_point(svm, tau, lam):
    """The optimal value by a solver that knows nothing of paths."""
    K = svm.gram.matrix + (1.0 if svm.bias else 0.0)
    caps = np.where(svm.y > 0, (1 - tau), tau) * 2 / (svm.n * lam)
    used = caps > 0
    X = np.linalg.eigh(K)
    root = X[1] * np.sqrt(np.maximum(X[0], 0.0))
    n = int(used.sum())
    box = Problem(root[used], svm.y[used], np.ones(n), np.ones(n), np.full(n, -1))
    return lam * box.minimum(np.zeros(0), caps[used])


# ---- against others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lam", [1e-3, 1e-2, 1.0])
def test_values_by_hand_everywhere(kind, bias, lam):
    X, y = data()
    svm = problem(X, y, kind, bias)
    path = pc.trace(svm, tau=(0, 1), lam=lam)
    assert path.breakpoints[0] == 0.0
    assert path.breakpoints[-1] == 1.0
    for tau in everywhere(path):
        primal, dual = by_hand(svm, tau, lam, path.alpha(tau))
        assert primal - dual <= 1e-11 * max(primal, 1e-3)
        assert path.value(tau) == pytest.approx(primal, rel=1e-10, abs=1e-14)
        solution = path.at(tau)
        assert solution.certificate.passes(1e-10)
        np.testing.assert_array_equal(solution.alpha, path.alpha(tau))
    for tau in TAUS:
        assert path.value(tau) == pytest.approx(interior_point(svm, tau, lam), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_cvxpy_agrees(kind, bias):
    X, y = data(1)
    svm = problem(X, y, kind, bias)
    path = pc.trace(svm, tau=(0, 1), lam=0.02)
    agreement = pc.compare(path, svm, n=12)
    assert agreement.n == 12
    assert agreement.agrees(1e-9), agreement
    for tau in (0.0, 1.0):
        mine, theirs = path.at(tau), svm.solve(tau=tau, lam=0.02)
        assert mine.value == pytest.approx(theirs.value, rel=1e-8)
        scores = theirs.classifier.decision_function(X if kind != "precomputed" else X @ X.T)
        np.testing.assert_allclose(mine.classifier.decision_function(X), scores, atol=1e-5)


@given(seed=st.integers(0, 10**6), tau=st.floats(0.02, 0.98), log_lam=st.floats(-2.5, 0.0))
def test_liblinear_agrees(seed, tau, log_lam):
    """LIBLINEAR with -B 1, as footnote 4 of the paper calls it: -c 1/(n lam) -w1 2(1 - tau) -w-1 2 tau."""
    (X, y), lam = data(seed), 10**log_lam
    path = pc.trace(problem(X, y), tau=(0, 1), lam=lam)
    model = LinearSVC(
        C=1 / (y.size * lam), class_weight={1: 2 * (1 - tau), -1: 2 * tau}, loss="hinge", tol=1e-9, max_iter=10**6
    ).fit(X, y)
    # Costs exchanged, it is another classifier: the test can fail.
    w, b = path.slope(tau), path.intercept(tau)
    np.testing.assert_allclose(
        np.append(w, b), np.append(model.coef_, model.intercept_), atol=2e-5 * (1 + abs(w).max())
    )


def test_brute_force_on_five_samples():
    """All 3^5 choices of sets: the one that satisfies the optimality conditions has the path's solution."""
    X, y = data(3, n=5, d=2)
    lam, K = 0.1, X @ X.T + 1.0
    Q = y[:, None] * K * y / lam
    path = pc.trace(problem(X, y), tau=(0, 1), lam=lam)
    for tau in everywhere(path):
        c, best = path.caps(tau), -np.inf
        for sets in itertools.product("RLM", repeat=5):
            at = np.array(sets)
            M, alpha = at == "M", np.where(at == "L", c, 0.0)
            alpha[M] = np.linalg.lstsq(Q[np.ix_(M, M)], 1.0 - Q[np.ix_(M, ~M)] @ alpha[~M], rcond=None)[0]
            if (alpha > -1e-12).all() and (alpha < c + 1e-12).all():
                best = max(best, alpha.sum() - 0.5 * alpha @ Q @ alpha)
        assert path.value(tau) == pytest.approx(best, rel=1e-10, abs=1e-14)


def test_the_constant_feature_is_a_column_and_the_kernel_plus_one():
    X, y = data(4)
    column = np.column_stack([X, np.ones(y.size)])
    K = X @ X.T + 1.0
    paths = [
        pc.trace(svm, tau=(0, 1), lam=0.01)
        for svm in (
            problem(X, y), problem(X, y, "sparse"), problem(X, y, "precomputed"),
            pc.QuantileSVM(column, y), pc.QuantileSVM(K, y, "precomputed"),
        )
    ]  # fmt: skip
    for tau in np.linspace(0, 1, 23):
        want = column @ np.append(paths[0].slope(tau), paths[0].intercept(tau))
        for path, new in zip(paths, (X, sp.csr_array(X), X @ X.T, column, K), strict=True):
            np.testing.assert_allclose(path.at(tau).classifier.decision_function(new), want, atol=1e-9)
            np.testing.assert_allclose(path.scores(new)(tau), want, atol=1e-9)


@pytest.mark.parametrize("ends", [(0.0, 0.3), (0.2, 0.9), (0.6, 1.0), (0.7, 0.70001)])
def test_an_interval_of_tau_has_the_same_solutions(ends):
    X, y = data(5)
    svm = problem(X, y)
    whole, part = pc.trace(svm, tau=(0, 1), lam=0.01), pc.trace(svm, tau=ends, lam=0.01)
    np.testing.assert_array_equal(part.breakpoints[[0, -1]], ends)
    for tau in np.linspace(*ends, 17):
        assert part.value(tau) == pytest.approx(whole.value(tau), rel=1e-12)
        np.testing.assert_allclose(part.slope(tau), whole.slope(tau), atol=1e-10)
    with pytest.raises(pc.InputError, match="tau must lie in"):
        part.at(ends[0] - 0.01)


# ---- the mathematics of the paper ----------------------------------------------------------------------------------


def test_rates_of_the_multipliers_are_those_of_equation_16():
    X, y = data(6)
    svm = problem(X, y)
    path = pc.trace(svm, tau=(0, 1), lam=0.01)
    Q, compared = y[:, None] * (X @ X.T + 1.0) * y, 0
    for lo, hi in itertools.pairwise(path.breakpoints):
        if hi - lo < 1e-4:
            continue
        state = path.sets(0.5 * (lo + hi))
        M, up, down = state == 2, (state == 1) & (y > 0), (state == 1) & (y < 0)
        change, cap = path.alpha(hi) - path.alpha(lo), 2 * (hi - lo) / y.size
        np.testing.assert_allclose(change[up], -cap, rtol=1e-9)
        np.testing.assert_allclose(change[down], cap, rtol=1e-9)
        if M.any():
            right = Q[np.ix_(M, up)].sum(axis=1) - Q[np.ix_(M, down)].sum(axis=1)
            np.testing.assert_allclose(change[M], cap * np.linalg.solve(Q[np.ix_(M, M)], right), rtol=1e-6, atol=1e-12)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("twice", [False, True], ids=["once", "every sample twice"])
def test_proposition_3_1_the_multipliers_are_continuous_and_piecewise_linear(twice):
    """On each piece linear, at each kink the lines of both sides meet, and at either end of [0, 1]; optimal by the KKT
    conditions, from the kernel matrix. With every sample twice the multipliers are not unique, and one path is so."""
    X, y = data(6)
    if twice:
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    lam, n = 0.01, y.size
    path = pc.trace(problem(X, y), tau=(0, 1), lam=lam)
    Q, kinks = y[:, None] * (X @ X.T + 1.0) * y, path.breakpoints
    assert (kinks[0], kinks[-1]) == (0.0, 1.0)
    largest = 2 / n
    left_before, seen = None, 0
    for lo, hi in itertools.pairwise(kinks):
        at = lo + (hi - lo) * np.array([0.0, 0.25, 0.5, 0.75, 1.0])
        alpha = np.array([path.alpha(t) for t in at])
        np.testing.assert_allclose(alpha[2], 0.5 * (alpha[1] + alpha[3]), atol=1e-12 * largest)  # linear
        if hi - lo > 1e-6:
            slope = (alpha[3] - alpha[1]) / (at[3] - at[1])
            right, left = alpha[2] + (lo - at[2]) * slope, alpha[2] + (hi - at[2]) * slope
            np.testing.assert_allclose(right, alpha[0], atol=1e-9 * largest)  # what the piece tends to at its ends ...
            np.testing.assert_allclose(left, alpha[4], atol=1e-9 * largest)
            if left_before is not None and left_before[0] == lo:
                np.testing.assert_allclose(
                    left_before[1], right, atol=1e-9 * largest
                )  # ... is what the next begins with
                seen += 1
            left_before = hi, left
        for t, a in zip(at, alpha, strict=True):
            caps = np.where(y > 0, 2 * (1 - t), 2 * t) / n
            gradient = Q @ a / lam - 1
            assert a.min() >= -1e-12 * largest
            assert (a - caps).max() <= 1e-12 * largest
            assert np.abs(np.minimum(np.maximum(gradient, a - caps), a)).max() <= 1e-8  # a = clip(a - gradient)
    assert seen > 20


def test_the_value_is_concave_and_its_slope_is_the_difference_of_the_slacks():
    X, y = data(7)
    path = pc.trace(problem(X, y), tau=(0, 1), lam=0.01)
    tau = np.linspace(0.01, 0.99, 60)
    value = np.array([path.value(t) for t in tau])
    assert (np.diff(value, 2) < 1e-12).all()
    for t in tau[::7]:
        xi, h = path.at(t).xi, 1e-6
        slope = 2 / y.size * (xi[y < 0].sum() - xi[y > 0].sum())
        assert (path.value(t + h) - path.value(t - h)) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_at_the_ends_only_one_class_is_fitted_and_labels_are_not_constant():
    """Not 'all the points as + (resp. -)', as section 6 of the paper has it."""
    X, y = np.array([[1.0], [1.5], [2.0], [-1.0], [-2.0]]), np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    path = pc.trace(pc.QuantileSVM(X, y), tau=(0, 1), lam=0.05)
    for tau, fitted in ((0.0, 1), (1.0, -1)):
        solution = path.at(tau)
        assert (solution.alpha[y != fitted] == 0).all()
        assert (solution.alpha[y == fitted] > 0).any()
        np.testing.assert_array_equal(solution.classifier.predict(X), y)
        assert "not a constant label" in solution.notes[0]
    assert path.at(0.5).notes == ()
    # With a constant feature and nothing else to go by, the fitted class does take all.
    alone = pc.trace(pc.QuantileSVM(np.zeros((5, 1)), y, bias=True), tau=(0, 1), lam=0.05)
    assert (alone.at(0.0).classifier.predict(X) == 1).all()
    assert (alone.at(1.0).classifier.predict(X) == -1).all()


def test_the_path_is_continuous_into_its_ends():
    X, y = data(8)
    path = pc.trace(problem(X, y), tau=(0, 1), lam=1e-3)
    for end, near in ((0.0, 1e-9), (1.0, 1 - 1e-9)):
        np.testing.assert_allclose(path.slope(end), path.slope(near), atol=1e-5)
    scores = path.scores(X)
    np.testing.assert_array_equal(scores.end[:, :-1], scores.start[:, 1:])


def test_the_rounding_of_tau_near_1_does_not_reach_the_margins():
    """At lam = 1e-5 a cap moves by 6e4 times tau: half a unit in the last place of tau would be 6e-12 of a margin."""
    X, y = np.array([[0.3, 0.0], [0.3, -0.6], [-0.3, -0.6]]), np.array([-1.0, 1.0, 1.0])
    svm = pc.QuantileSVM(X, y, pc.RBF(1.0), bias=True)
    path = pc.trace(svm, tau=(0, 1), lam=1.1346260759842136e-05)
    kinks = path.kinks[path.kinks > 0.999]
    assert kinks.size >= 2
    for tau in kinks:
        margins = y * path.at(tau).classifier.decision_function(X) - 1.0
        on = path.sets(tau) == 2
        assert on.any()
        assert np.abs(margins[on]).max() < 1e-13


def test_kinks_are_where_a_set_changes():
    X, y = data(9)
    path = pc.trace(problem(X, y), tau=(0, 1), lam=0.01)
    changed = sorted({event.t for event in path.events})
    np.testing.assert_array_equal(path.kinks, changed)
    assert set(changed) <= set(path.breakpoints)
    assert str(path.kinks.size) in repr(path)
    state = path.sets(0.0)
    for event in path.events:
        assert "RLM"[state[event.sample]] == event.before
        state[event.sample] = "RLM".index(event.after)
    np.testing.assert_array_equal(state, path.sets(1.0))


# ---- degenerate data -----------------------------------------------------------------------------------------------


def degenerate():
    rng = np.random.default_rng(0)
    X, y = data(10, n=20)
    few = rng.integers(0, 3, size=(30, 2)).astype(float)
    labels = np.where(rng.permutation(30) < 12, 1.0, -1.0)
    return {
        "duplicates": (np.vstack([X, X]), np.append(y, y)),
        "conflicting labels": (np.vstack([X, X]), np.append(y, -y)),
        "constant feature": (np.column_stack([X, np.full(20, 3.0)]), y),
        "rank deficient": (X @ rng.normal(size=(3, 9)), y),
        "separable": (X + 6 * y[:, None], y),
        "one sample per class": (X[[0, -1]], y[[0, -1]]),
        "one positive": (X, np.where(np.arange(20) == 3, 1.0, -1.0)),
        "integer grid": (few, labels),
        "all equal": (np.ones((8, 2)), np.where(np.arange(8) < 3, 1.0, -1.0)),
        "all zero": (np.zeros((6, 2)), np.where(np.arange(6) < 3, 1.0, -1.0)),
        "a zero sample": (np.vstack([X, 0 * X[:2]]), np.append(y, [1.0, -1.0])),
        "collinear": (np.outer(np.arange(-10.0, 10.0), [1.0, 2.0]), y),
        "wide": (rng.normal(size=(12, 40)), np.where(np.arange(12) < 5, 1.0, -1.0)),
        "large": (10 * X, y),
        "small": (1e-4 * X, y),
    }


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", degenerate())
def test_degenerate_data(name, kind, bias):
    X, y = degenerate()[name]
    for lam in (1e-3, 1.0):
        svm = problem(X, y, kind, bias)
        path = pc.trace(svm, tau=(0, 1), lam=lam)
        assert all(c.passes(CERTIFY) for c in path.certificates())
        for tau in (*TAUS, *path.kinks[:2], *path.kinks[-2:]):
            primal, dual = by_hand(svm, tau, lam, path.alpha(tau))
            assert primal - dual <= 1e-8 * primal + 1e-12
        for tau in TAUS[1::2]:
            assert path.value(tau) == pytest.approx(interior_point(svm, tau, lam), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_features_beyond_double_precision_are_right_or_refused(kind):
    X, y = data(10, n=20)
    svm = problem(1e4 * X, y, kind)
    try:
        path = pc.trace(svm, tau=(0, 1), lam=1e-3)
    except pc.DegeneratePathError:
        return
    assert path.worst_certificate.passes(CERTIFY)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), bias=st.booleans(), log_lam=st.floats(-4.0, 1.0))
def test_small_integer_data(seed, n, bias, log_lam):
    """Ties everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    y = np.where(rng.permutation(n) < rng.integers(1, n), 1.0, -1.0)
    for kind in ("dense", "sparse", "rbf"):
        svm = problem(X, y, kind, bias)
        path = pc.trace(svm, tau=(0, 1), lam=10**log_lam)
        for tau in everywhere(path)[::3]:
            primal, dual = by_hand(svm, tau, 10**log_lam, path.alpha(tau))
            assert primal - dual <= 1e-9 * primal + 1e-12


@pytest.mark.parametrize("width", [400, 700], ids=["w stored", "w not stored"])
def test_sparse_samples_stay_sparse(width, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, width), density=0.05, rng=rng, format="csr")
    y = np.where(rng.permutation(60) < 25, 1.0, -1.0)
    dense = pc.trace(pc.QuantileSVM(X.toarray(), y, bias=True), tau=(0, 1), lam=1e-3)
    toarray = sp.csr_array.toarray

    def only_products(self, *args, **kwargs):  # of samples, for the proof of slopes that are not stored
        assert self.shape != X.shape, "made dense"
        return toarray(self, *args, **kwargs)

    for method in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_array, method, only_products)
    svm = pc.QuantileSVM(X, y, bias=True)
    path = pc.trace(svm, tau=(0, 1), lam=1e-3)
    assert "matrix" not in svm.gram.__dict__
    for tau in np.linspace(0, 1, 11):
        np.testing.assert_allclose(path.slope(tau), dense.slope(tau), atol=1e-9)
        assert path.intercept(tau) == pytest.approx(dense.intercept(tau), abs=1e-9)
    np.testing.assert_allclose(path.scores(X)(0.3), dense.scores(X)(0.3), atol=1e-9)


# ---- probabilities -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore::paretoclf.common.errors.HomogeneousWarning"
)  # asked of all kernels, with bias and without
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_the_share_of_tau_with_a_positive_label(kind):
    X, y = data(11)
    new = np.random.default_rng(1).normal(size=(30, 3))
    held_out = {"sparse": sp.csr_array(new), "precomputed": new @ X.T}.get(kind, new)
    path = pc.trace(problem(X, y, kind), tau=(0, 1), lam=0.01)
    found = path.conditional_probability(held_out)
    tau = (np.arange(4000) + 0.5) / 4000
    labels = path.scores(held_out)(tau) >= 0
    np.testing.assert_allclose(found.probability, labels.mean(axis=1), atol=2e-3)
    assert (found.crossings >= np.abs(np.diff(labels.astype(int), axis=1)).sum(axis=1)).all()


def test_a_label_need_not_be_monotone_in_tau():
    """Contrary to the abstract of the paper; on held-out points of overlapping classes, with the RBF kernel."""
    rng = np.random.default_rng(2)
    y = np.where(np.arange(60) < 30, 1.0, -1.0)
    X = rng.normal(size=(60, 2)) + 0.3 * y[:, None]
    path = pc.trace(pc.QuantileSVM(X, y, pc.RBF(0.7)), tau=(0, 1), lam=1e-3)
    new = rng.normal(size=(200, 2))
    found, scores = path.conditional_probability(new), path.scores(new)
    assert found.crossings.max() >= 3
    i = int(np.argmax(found.crossings))
    at = np.sort((ours := label_changes(scores)).t[ours.sample == i])
    middles = 0.5 * (np.concatenate([[0.0], at]) + np.concatenate([at, [1.0]]))
    labels = np.array([path.at(t).classifier.predict(new[[i]])[0] for t in middles])
    assert (labels[1:] != labels[:-1]).all()
    np.testing.assert_array_equal(found.crossings, np.bincount(ours.sample, minlength=200))


def test_the_positive_share_of_piecewise_affine_scores():
    t = np.array([0.0, 0.25, 0.5, 1.0])
    knots = np.array(
        [
            [1.0, -1.0, 1.0, -1.0],  # down, up, down
            [0.0, 0.0, 0.0, 0.0],  # zero is labelled +1
            [-1.0, 0.0, -1.0, -2.0],  # touches zero only
            [1.0, 0.0, 0.0, -1.0],  # stays at zero for a while
            [-3.0, -2.0, -1.0, 1.0],
        ]
    )
    length, changes = PathScores(t, knots[:, :-1], knots[:, 1:]).positive()
    np.testing.assert_allclose(length, [0.125 + 0.125 + 0.25, 1.0, 0.0, 0.5, 0.25])
    np.testing.assert_array_equal(changes, [3, 0, 0, 1, 1])


def test_probabilities_on_gaussian_data_are_near_the_truth():
    """Two unit Gaussians, means 2 apart: eta is a logistic function, and every Bayes rule is linear."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(600) < 300, 1.0, -1.0)
    X = rng.normal(size=(600, 2)) + np.outer(y, [1.0, 0.0])
    new = rng.normal(size=(500, 2)) + np.outer(np.where(np.arange(500) < 250, 1.0, -1.0), [1.0, 0.0])
    found = pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0, 1), lam=1e-3).conditional_probability(new)
    assert np.abs(found.probability - 1 / (1 + np.exp(-2 * new[:, 0]))).mean() < 0.04
    assert ((found.probability >= 0) & (found.probability <= 1)).all()


# ---- what is refused, and what is kept -----------------------------------------------------------------------------


def test_a_wrong_path_is_refused():
    X, y = data(12)
    path = pc.trace(problem(X, y), tau=(0, 1), lam=0.01)
    wrong = replace(path, pieces=replace(path.pieces, a0=0.99 * path.pieces.a0, w=None))
    with pytest.raises(pc.DegeneratePathError, match="certificate fails"):
        check_certificates(wrong)
    with pytest.raises(pc.DegeneratePathError, match="stored value"):
        check_certificates(replace(path, pieces=replace(path.pieces, value=1.001 * path.pieces.value)))


def test_a_multiplier_that_rounding_leaves_over_a_cap_of_zero():
    """At tau = 1 the positives' caps are 0, and a multiplier of -1.6e-48 over one of them is no violation."""
    X = np.array([[0.0, -1, 0], [-1, 1, 1], [1, 1, -1], [-1, 1, 0]])
    svm = pc.QuantileSVM(X, [-1, 1, 1, 1])
    path = pc.trace(svm, tau=(0, 1), lam=0.1)
    for tau in (0.0, 0.3, 1.0):
        assert path.at(tau).certificate.passes()
        assert path.value(tau) == pytest.approx(svm.solve(tau=tau, lam=0.1).value, rel=1e-8)
        assert max(row.violation for row in path.at(tau).duality_table()) <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_is_saved_and_loaded(kind, tmp_path):
    X, y = data(13)
    svm = problem(X, y, kind)
    path = pc.trace(svm, tau=(0.1, 1), lam=0.02)
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert isinstance(again, pc.results.QuantilePath)
    assert repr(again) == repr(path)
    assert (again.seconds, again.bias) == (path.seconds, True)
    for tau in (0.1, 0.4, 1.0):
        np.testing.assert_array_equal(again.alpha(tau), path.alpha(tau))
    assert again.worst_certificate.passes()
    assert pc.compare(again, svm, n=2).agrees(1e-9)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"tau": (0, 1)}, "^lam must be given"),
        ({"lam": 1.0}, "^tau must be given"),
        ({"tau": (0, 1), "lam": 0.0}, "^lam must be a finite positive number"),
        ({"tau": (0, 1), "lam": np.inf}, "^lam must be a finite positive number"),
        ({"tau": (0, 1), "lam": "much"}, "^lam must be a positive number"),
        ({"tau": (0.5, 0.5), "lam": 1.0}, "^tau must be a pair"),
        ({"tau": (-0.1, 0.5), "lam": 1.0}, "^tau must be a pair"),
        ({"tau": (0.1, np.nan), "lam": 1.0}, "^tau must be a pair"),
        ({"tau": 0.5, "lam": 1.0}, "^tau must be a pair"),
        ({"tau": ("a", 1), "lam": 1.0}, "^tau must be a number"),
        ({"tau": (0, 1), "lam": 1.0, "start": (0, 0)}, "^start must be left out"),
        ({"tau": (0, 1), "lam": 1.0, "hub": object()}, "^hub must be left out"),
    ],
)
def test_bad_arguments_are_named(how, message):
    with pytest.raises(pc.InputError, match=message):
        pc.trace(problem(*data()), **how)


def test_tau_is_refused_for_another_formulation():
    with pytest.raises(pc.InputError, match=r"^tau must be left out for a TwoCSVM"):
        pc.trace(pc.TwoCSVM(*data()), (0, 0), (1, 1), tau=(0, 1))


def test_probabilities_need_the_whole_interval_and_comparison_the_same_data():
    X, y = data()
    path = pc.trace(problem(X, y), tau=(0.1, 1), lam=1.0)
    with pytest.raises(pc.InputError, match=r"^tau must go from 0 to 1"):
        path.conditional_probability(X)
    for other in (problem(X, y, bias=False), problem(-X, y), pc.TwoCSVM(X, y)):
        with pytest.raises(pc.InputError, match=r"^svm must (be a QuantileSVM|hold the samples)"):
            pc.compare(path, other)
    with pytest.raises(pc.InputError, match=r"^w exists"):
        pc.trace(problem(X, y, "rbf"), tau=(0, 1), lam=1.0).slope(0.5)


@pytest.mark.skipif(not os.environ.get("PARETOCLF_DATA"), reason="PARETOCLF_DATA is not set")
@pytest.mark.parametrize("name", ["pima", "breast_w", "sonar", "bupa", "ionosphere"])
def test_real_data_as_it_is(name):
    """Features on their own scales, duplicates and all."""
    found = pc.datasets.load(name, data_dir=os.environ["PARETOCLF_DATA"])
    X = found.X / np.maximum(np.abs(found.X).max(axis=0), 1e-12)
    svm = pc.QuantileSVM(X, found.y, bias=True)
    path = pc.trace(svm, tau=(0, 1), lam=1e-3)
    assert pc.compare(path, svm, n=6).agrees(1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_probabilities_of_boundaries_through_0_are_said_to_be_so(sparse):
    """A linear kernel without bias: f(c x) = c f(x), so that a sample and its half have one probability."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1, -1)
    X = rng.normal(size=(40, 2)) + y[:, None]
    of = sp.csr_array if sparse else np.asarray
    path = pc.trace(pc.QuantileSVM(of(X), y), tau=(0, 1), lam=0.1)
    with pytest.warns(HomogeneousWarning, match=r"use bias=True, or another kernel") as said:
        whole, half = (path.conditional_probability(of(c * X)).probability for c in (1.0, 0.5))
    assert said[0].filename == __file__
    np.testing.assert_array_equal(whole, half)
    for Z, options in ((np.hstack([X, np.ones((40, 1))]), {}), (X, {"bias": True}), (X, {"kernel": pc.RBF(1.0)})):
        svm = pc.QuantileSVM(of(Z), y, **options)
        pc.trace(svm, tau=(0, 1), lam=0.1).conditional_probability(of(Z))


class TestWhereDoublePrecisionEnds:
    """Caps of 1e6 and more: the rounding of one multiplier moves margins by more than a certificate allows."""

    @staticmethod
    def steep(seed, cap, bias, kernel=None):
        rng = np.random.default_rng(seed)
        X = np.tile(rng.normal(size=(6, 2)).round(1), (2, 1))
        y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
        y[:2] = 1, -1
        return pc.QuantileSVM(X, y, kernel, bias=bias), 2 / (y.size * cap)

    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("cap", [1e6, 1e7, 1e8])
    def test_duplicates_and_opposite_labels_are_traced_and_proved(self, cap, bias):
        for seed in range(6):
            svm, lam = self.steep(seed, cap, bias)
            path = pc.trace(svm, tau=(0, 1), lam=lam)
            assert path.proof.passes()
            for tau in (0.0, 0.3, float(path.breakpoints[len(path.breakpoints) // 2]), 1.0):
                exact = path.certificate(tau, exact=True)
                low, high = (float(bound) for bound in exact.bounds)
                assert low <= high * (1 + 1e-8)
                assert low * (1 - 1e-7) <= path.value(tau) <= high * (1 + 1e-7)
                assert path.at(tau).certificate.passes()

    @pytest.mark.parametrize("seed", range(2))
    def test_a_kernel_and_a_constant_feature_are_proved_apart(self, seed):
        """Their sum is rounded, and what that misses times multipliers of 1e8 is no small thing."""
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 3)), np.where(rng.random(30) < 0.5, 1, -1)
        y[:2] = 1, -1
        X, y = np.vstack([X, X[:10]]), np.append(y, -y[:10] if seed % 2 else y[:10])
        for cap in (1e6, 1e7, 1e8):
            path = pc.trace(pc.QuantileSVM(X, y, pc.RBF(1.5), bias=True), tau=(0, 1), lam=2 / (y.size * cap))
            assert path.proof.holds()
            for tau in (0.001, 0.5, 0.9999):
                assert path.at(tau).certificate.holds()
                assert 0 <= path.certificate(tau, exact=True).gap <= 1e-8

    @pytest.mark.parametrize("bias", [True, False])
    def test_certificates_are_those_of_the_solutions_that_at_gives(self, bias):
        X, y = data(seed=2, d=2)
        path = pc.trace(pc.QuantileSVM(X, y, pc.RBF(1.5), bias=bias), tau=(0.2, 0.8), lam=1e-10)
        found = path.certificates()
        assert all(each.holds() for each in found)
        for t, certificate in zip(path.certificate_points.tolist(), found, strict=True):
            solution = path.at(t)
            assert solution.certificate.gap == pytest.approx(certificate.gap, abs=1e-15)
            assert np.abs(solution.numbers["alpha_lo"]).max() > 0.0  # one double a multiplier is too little
            low, high = path.certificate(t, exact=True).bounds
            assert 0 <= high - low <= 1e-9 * float(high)

    @pytest.mark.parametrize("bias", [True, False])
    def test_values_are_those_of_the_kernel_as_rounded(self, bias):
        svm, lam = self.steep(0, 1e6, bias, pc.RBF(1.0))
        path = pc.trace(svm, tau=(0, 1), lam=lam)
        assert path.proof.holds()
        for tau in (0.2, 0.5):
            low, high = (float(bound) for bound in path.certificate(tau, exact=True).bounds)
            assert low == pytest.approx(high, rel=1e-8)
            assert path.value(tau) == pytest.approx(high, rel=1e-7)

    def test_a_changed_number_is_not_proved(self):
        svm, lam = self.steep(0, 1e8, True)
        path = pc.trace(svm, tau=(0, 1), lam=lam)
        for name in ("a0", "b0", "value"):
            wrong = np.array(getattr(path.pieces, name))
            at = int(np.argmax(np.abs(wrong.ravel())))
            wrong.ravel()[at] *= 1 + 1e-5
            assert not replace(path, pieces=replace(path.pieces, **{name: wrong})).proof.passes()
