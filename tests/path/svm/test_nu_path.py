"""Exact 2nu paths and grids: against NuSVC, linear programs, closed forms, the careful road, and their symmetries."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import NuSVC

import paretoclf as pc
from paretoclf.engine.tracker import CoreTracker
from paretoclf.path.svm import nu_path as nu_module
from paretoclf.path.svm.nu_path import trace_hulls, trace_nu
from paretoclf.plotting import NuGridDisplay
from tests.oracles.box_problems import careful_steps
from tests.oracles.families import FAMILIES


def blobs(seed, n=40, shift=0.6, share=0.4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1.0, -1.0)
    return rng.normal(size=(n, 3)) + shift * y[:, None], y


def whole(svm, asymmetry=0.4):
    return pc.trace(svm, nu=(0, None), asymmetry=asymmetry)


def libsvm(svm, nu, asymmetry):
    """LIBSVM's multipliers, in our scale: design rule 9."""
    weight = np.where(svm.y > 0, asymmetry, 1 - asymmetry) / svm.n
    model = NuSVC(nu=nu / weight.sum(), kernel="precomputed", tol=1e-10).fit(
        svm.gram.matrix, svm.y, sample_weight=weight
    )
    alpha = np.zeros(svm.n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha * (nu / alpha.sum())


def half_norm(svm, alpha):
    return 0.5 * float(alpha * svm.y @ svm.gram.matvec(alpha * svm.y))


# ---- nu at fixed asymmetry -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("asymmetry", [0.15, 0.4, 0.8])
def test_the_path_is_no_worse_than_libsvm(kernel, asymmetry):
    svm = pc.TwoNuSVM(*blobs(0), kernel)
    path = whole(svm, asymmetry)
    lo, hi = path.breakpoints[[0, -1]]
    assert hi == pytest.approx(svm.nu_max(asymmetry), rel=1e-15)
    for nu in np.linspace(lo, hi, 9)[1:-1]:
        theirs = half_norm(svm, libsvm(svm, nu, asymmetry))
        assert -path.value(nu) <= theirs * (1 + 1e-12)
        assert -path.value(nu) == pytest.approx(theirs, rel=1e-6)
    assert path.worst_certificate.passes(1e-10)


@pytest.mark.parametrize("name", [f.name for f in FAMILIES] if not isinstance(FAMILIES, dict) else list(FAMILIES))
def test_nu_star_is_the_value_of_the_linear_program(name):
    family = FAMILIES[name] if isinstance(FAMILIES, dict) else next(f for f in FAMILIES if f.name == name)
    make = getattr(family, "make", family)
    compared = 0
    for seed in range(2):
        X, y = make(np.random.default_rng(seed))
        if name.startswith(("mixed scales", "near-separable")):  # hulls that meet up to rounding: may be refused
            continue
        svm = pc.TwoNuSVM(X, y)
        for asymmetry in (0.3, 0.6):
            star = svm.nu_star(asymmetry)
            top = svm.nu_max(asymmetry)
            if star >= top * (1 - 1e-9):
                with pytest.raises(pc.InputError, match="every solution is trivial"):
                    whole(svm, asymmetry)
                continue
            found = whole(svm, asymmetry).star
            assert found.nu == pytest.approx(star, rel=1e-7, abs=1e-9 * top)
            assert found.kind == ("trivial" if star > 1e-9 * top else "separating")
            assert found.lower <= found.upper + 1e-9 * top
            assert found.upper == pytest.approx(star, rel=1e-6, abs=1e-9 * top)
            assert found.residual <= 1e-9
            compared += 1
    assert compared >= 0


def test_a_separable_path_reaches_nu_zero_and_the_hard_margin():
    X, y = blobs(1, shift=3.0)
    path = whole(pc.TwoNuSVM(X, y))
    assert path.breakpoints[0] == 0.0
    assert path.star.kind == "separating"
    assert (path.star.lower, path.star.upper) == (0.0, 0.0)
    assert (y * path.star.rule.decision_function(X)).min() >= 1.0 - 1e-12
    # At small nu the caps no longer matter: the nearest points of the whole hulls.
    hard = pc.BiobjectiveMargin(X, y, soft=False).solve(theta=1.0).classifier
    w, b = path.slope(1e-3), path.intercept(1e-3)
    np.testing.assert_allclose(w / np.linalg.norm(w), hard.w / np.linalg.norm(hard.w), atol=1e-7)
    assert b / np.linalg.norm(w) == pytest.approx(hard.b / np.linalg.norm(hard.w), abs=1e-7)
    at_zero = path.at(0.0)
    assert not at_zero.alpha.any()
    with pytest.raises(pc.InputError, match="there is no classifier"):
        at_zero.classifier.predict(X)


def test_below_nu_star_multipliers_cancel_and_above_they_cannot():
    svm = pc.TwoNuSVM(*blobs(2, shift=0.4))
    star = whole(svm).star
    alpha = whole(svm).alpha(star.nu)
    assert alpha.sum() == pytest.approx(star.nu, rel=1e-12)
    assert np.abs(svm.X.T @ (svm.y * alpha)).max() <= 1e-14
    hinge = np.maximum(0.0, 1.0 - svm.y * star.rule.decision_function(svm.X))
    caps = np.where(svm.y > 0, 0.4, 0.6) / svm.n
    assert caps @ hinge == pytest.approx(star.nu, rel=1e-10)  # the dual of the linear program
    assert pc.trace(svm, nu=(star.nu * 1.01, None), asymmetry=0.4).star is None


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_theorem_2_every_point_is_a_2c_svm(kernel):
    X, y = blobs(3)
    path = whole(pc.TwoNuSVM(X, y, kernel), 0.3)
    for nu in np.linspace(*path.breakpoints[[0, -1]], 6)[1:]:
        rho, costs = path.rho(nu), path.costs(nu)
        assert costs.asymmetry == pytest.approx(0.3)
        theirs = pc.TwoCSVM(X, y, kernel).solve(C_plus=costs.C_plus, C_minus=costs.C_minus)
        b = path.intercept(nu) / rho
        caps = np.where(y > 0, costs.C_plus, costs.C_minus)
        scores = theirs.classifier.gram.matvec(y * path.alpha(nu) / rho)
        value = 0.5 * float(y * path.alpha(nu) / rho @ scores) + caps @ np.maximum(0, 1 - y * (scores + b))
        assert value == pytest.approx(theirs.value, rel=1e-9)


def test_the_derivative_of_the_value_is_the_margin():
    path = whole(pc.TwoNuSVM(*blobs(4), pc.RBF(1.0)))
    lo, hi = path.breakpoints[[0, -1]]
    for nu in np.linspace(lo + 0.01, hi - 0.01, 7):  # V = -|w|^2 / 2, and d(|w|^2 / 2)/dnu = rho
        h = 1e-6
        assert (path.value(nu - h) - path.value(nu + h)) / (2 * h) == pytest.approx(path.rho(nu), rel=1e-5)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_where_the_origin_is_does_not_matter(offset):
    X, y = blobs(14)
    here, there = whole(pc.TwoNuSVM(X, y)), pc.trace(pc.TwoNuSVM(X + offset, y), nu=(0, None), asymmetry=0.4)
    np.testing.assert_allclose(there.breakpoints, here.breakpoints, atol=1e-8)
    for nu in np.linspace(*here.breakpoints[[0, -1]], 5)[1:-1]:
        np.testing.assert_allclose(there.slope(nu), here.slope(nu), atol=1e-8)
        assert there.rho(nu) == pytest.approx(here.rho(nu), abs=1e-8)


# ---- next to nu = 0 --------------------------------------------------------------------------------------------------


def apart(seed):
    """A few samples of classes that do not meet: whole numbers with ties, samples twice, or far from the origin."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 25)), int(rng.integers(1, 4))
    y = np.where(np.arange(n) < max(1, round(n * rng.uniform(0.1, 0.6))), 1.0, -1.0)
    X = rng.normal(size=(n, d)) + rng.choice([1.0, 4.0]) * y[:, None]
    kind = seed % 4
    if kind == 1:
        X = X.round()
    elif kind == 2:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
        same = (X[:, None] == X[None]).all(axis=2)
        y = np.where((same & (y > 0)).any(axis=1), 1.0, -1.0)  # copies have one label
    elif kind == 3:
        X = X * 10.0 ** rng.integers(-3, 3) + 20.0
    kernel = [None, None, pc.RBF(0.5), pc.RBF(1.0), pc.RBF(3.0)][int(rng.integers(5))]
    return pc.TwoNuSVM(X, y, kernel), float(rng.uniform(0.1, 0.9))


def excess(svm, asymmetry, path, nu):
    """How far the value of the point at nu is above a lower bound, in fractions, relative to that."""
    exact = np.vectorize(Fraction, otypes=[object])
    solution, rho, total = path.at(nu), Fraction(path.rho(nu)), Fraction(nu)
    alpha, y = exact(path._stored(nu)), exact(svm.y)
    if path.pieces.w is None:
        K = exact(svm.gram.matrix)
        scores, made = K @ (y * alpha), alpha.copy()
        norm = (y * alpha) @ scores
    else:
        X, w = exact(svm.gram.features), exact(path.slope(nu))
        scores, made, norm = X @ w, alpha.copy(), w @ w
        K = X @ X.T
    assert solution.values["nu"] == nu
    margins = y * (scores + Fraction(path._intercept(nu)))
    caps = np.where(svm.y > 0, Fraction(asymmetry), 1 - Fraction(asymmetry)) / svm.n
    primal = norm / 2 + caps @ np.maximum(rho - margins, Fraction(0)) - total * rho
    for side in (svm.y > 0, svm.y < 0):
        made[side] *= total / 2 / made[side].sum()
    assert (made <= caps).all()
    dual = -((y * made) @ K @ (y * made)) / 2
    return float((primal - dual) / -dual)


def test_what_is_proved_from_nu_zero_is_what_the_path_gives_there():
    """With rho among the margins, as rounded, slacks of 1e-16 nu cost more than the value, of order nu squared."""
    ends = np.random.default_rng(0)
    proved = refused = 0
    for seed in range(80):
        svm, asymmetry = apart(seed)
        path = pc.trace(svm, nu=(None, None), asymmetry=asymmetry)
        if path.t[0] > 0.0:
            continue
        nu = path.t[1] * 10.0 ** np.append(ends.uniform(-14, -2, 8), [-12.0, -3.0])
        points = all(path.at(float(at)).certificate.passes() for at in nu)
        assert points or not path.proof.passes(), seed
        refused += points and not path.proof.passes()
        if path.proof.passes():
            proved += 1
            assert max(excess(svm, asymmetry, path, float(at)) for at in nu[:3]) <= 1e-8, seed
    assert proved >= 40
    assert refused == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.5)], ids=["linear", "rbf"])
def test_where_one_class_is_nearly_all_that_counts_slacks_are_not_left_to_rounding(seed, kernel):
    """A slack of 1e-16 nu costs as much there as the value is: most such paths were refused."""
    svm, asymmetry = pc.TwoNuSVM(*blobs(seed, n=40, share=0.2, shift=1.5), kernel), [1e-8, 1.0 - 1e-8][seed % 2]
    path = whole(svm, asymmetry)
    assert path.t[0] == 0.0
    assert path.proof.passes()
    for nu in path.t[-1] * np.append(np.linspace(0.05, 1.0, 20), 10.0 ** -np.arange(2.0, 12.0)):
        assert path.at(nu).certificate.passes()
    for nu in path.t[-1] * np.array([1e-9, 0.3, 0.77]):
        bounds = path.certificate(nu, exact=True).bounds
        assert 0 <= bounds[1] - bounds[0] <= -1e-8 * bounds[0]


def with_no_room(path):
    """The path as it was stored once: next to nu = 0 margins are short of rho, by rounding."""
    P, at = path.pieces, float(path.t[1])
    margins = path.y * (path.gram.quadratic.scores(path.y * path._stored(at, 0)) + P.b1[0])
    rho1 = P.rho1.copy()
    rho1[0] = margins.min() * (1 + 4e-15)
    return replace(path, pieces=replace(P, rho1=rho1))


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_rho_that_margins_are_short_of_is_not_proved_from_zero_and_is_mended_in_files_that_have_it(kernel, tmp_path):
    path = whole(pc.TwoNuSVM(*blobs(1, shift=1.5), kernel))
    before = with_no_room(path)
    assert path.rho(path.t[1] / 2) < before.rho(path.t[1] / 2) == pytest.approx(path.rho(path.t[1] / 2), rel=1e-12)
    assert not before.at(1e-13).certificate.passes()
    assert before.proof.failures().tolist() == [0]
    before.save(tmp_path / "before.npz")
    path.save(tmp_path / "now.npz")
    mended, again = (pc.load(tmp_path / name) for name in ("before.npz", "now.npz"))
    assert mended.proof.passes()
    assert mended.at(1e-13).certificate.passes()
    np.testing.assert_array_equal(again.pieces.rho1, path.pieces.rho1)


# ---- lines of reduced hulls ------------------------------------------------------------------------------------------


def test_the_corner_is_the_difference_of_the_class_means():
    X, y = blobs(5)
    path = pc.trace(pc.TwoNuSVM(X, y), start=(1, 1), stop=(0.3, 0.4))
    nu = path.at(0.0).values["nu"]
    np.testing.assert_allclose(path.slope(0.0), 0.5 * nu * (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)), atol=1e-15)
    np.testing.assert_allclose(path.alpha(0.0), np.where(y > 0, 0.5 * nu / 16, 0.5 * nu / 24), rtol=1e-14)


def test_scores_are_those_of_the_solutions_up_to_scale():
    X, y = blobs(6)
    Z = np.random.default_rng(0).normal(size=(5, 3))
    for kernel in (None, pc.RBF(1.0)):
        path = pc.trace(pc.TwoNuSVM(X, y, kernel), start=(0.9, 0.7), stop=(0.35, 0.5))
        scores = path.scores(Z)
        for t in np.random.default_rng(1).uniform(0, path.breakpoints[-1], 6):
            solution = path.at(t)
            expected = solution.classifier.decision_function(Z) * 2 / solution.values["nu"]
            np.testing.assert_allclose(scores(t), expected, atol=1e-12)


def test_only_weights_that_prove_it_are_a_meeting():
    """Weights of a common point of both hulls do; those of classes that are apart do not."""
    X, y = np.array([[0.0], [2.0], [1.0], [1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    for shift, at_means, at_last in ((0.0, True, True), (1e-3, False, True), (10.0, False, False)):
        hulls = nu_module.Hulls(pc.Gram(X + shift * (y[:, None] > 0)), y)
        assert hulls.met == at_means
        weights = hulls.problem.weights(0.0)
        assert hulls.go(np.full(2, 2.0)) != at_last
        for weighed, meet in ((weights, at_means), (None, at_last)):
            if meet:
                hulls.check_meeting(weighed)
            else:
                said = "cannot tell whether they meet(.|\n)*nu_plus = 0.5, nu_minus = 0.5"
                with pytest.raises(pc.DegeneratePathError, match=said):
                    hulls.check_meeting(weighed)


@pytest.mark.parametrize("classes", [{}, {"by": "classes"}], ids=["nu", "classes"])
def test_an_end_where_the_hulls_meet_is_proved_or_refused(classes, monkeypatch):
    svm = pc.TwoNuSVM(*blobs(0), **classes)
    line = {"start": (0.9, 0.9), "stop": (0.2, 0.2)} if classes else {"nu": (0, None), "asymmetry": 0.4}
    path = pc.trace(svm, **line)
    end = float(path.breakpoints[-1 if classes else 0])
    assert path.rho(end) == 0.0
    assert nu_module._meets(path, end)
    monkeypatch.setattr(nu_module, "proved_to_meet", lambda gram, y, nu, alpha: np.zeros(alpha.shape[1], dtype=bool))
    with pytest.raises(pc.DegeneratePathError, match="cannot tell whether they meet"):
        pc.trace(svm, **line)


def test_a_path_says_which_parameter_it_goes_along():
    X, y = blobs(0)
    along_nu, between = whole(pc.TwoNuSVM(X, y)), pc.trace(pc.TwoNuSVM(X, y), start=(1, 0.9), stop=(0.6, 0.7))
    for path, name in ((along_nu, "nu"), (between, "t")):
        assert path.parameter == name
        assert f"every {name} in [" in path.proof.explain()
        outside = 2.0 * float(path.breakpoints[-1]) + 1.0
        with pytest.raises(pc.InputError, match=rf"^{name} must lie in \["):
            path.at(outside)


def test_a_line_from_hulls_that_meet_comes_from_its_other_end():
    svm = pc.TwoNuSVM(*blobs(7, shift=0.3))
    path = pc.trace(svm, start=(0.1, 0.1), stop=(0.9, 0.9))
    lo, hi = path.breakpoints[[0, -1]]
    assert lo > 0.0
    assert hi == 1.0
    assert path.rho(lo) == 0.0
    nu, asymmetry = path.line.nu(lo)
    assert svm.nu_star(asymmetry) == pytest.approx(nu, rel=1e-7)
    with pytest.raises(pc.InputError, match="start or stop"):
        pc.trace(svm, start=(0.1, 0.1), stop=(0.12, 0.1))


# ---- the fast road ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 700])  # all samples are watched, or some
def test_jumps_on_the_fast_road_are_those_of_the_careful_one(n, monkeypatch):
    # nu_plus n_plus is whole: mostly no positive is free, and eta of its group jumps from one to another.
    X, y = blobs(8, n)
    svm = pc.TwoNuSVM(X, y, pc.RBF(1.0))
    how = {"start": (0.5, 1.0), "stop": (0.5, 0.6)}
    fast = trace_hulls(svm, **how)
    monkeypatch.setattr(CoreTracker, "doubles", False)
    careful = trace_hulls(svm, **how)
    assert fast.breakpoints.size > 20
    np.testing.assert_allclose(fast.breakpoints, careful.breakpoints, atol=1e-11)
    for t in np.linspace(0, 1, 15):
        np.testing.assert_allclose(fast.alpha(t), careful.alpha(t), atol=1e-11)
        assert fast.intercept(t) == pytest.approx(careful.intercept(t), abs=1e-10)
        assert fast.rho(t) == pytest.approx(careful.rho(t), abs=1e-10)


@pytest.mark.parametrize(("form", "share"), [("rbf", 0.1), ("dense", 0.7), ("sparse", 0.7)])  # without: 0.5, 0.8, 0.8
def test_twins_need_no_careful_step(form, share, monkeypatch):
    # Two of a kind always reach their margin together: one enters, the other rests there.
    X, y = blobs(8, 60)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    svm = pc.TwoNuSVM(sp.csr_array(X) if form == "sparse" else X, y, pc.RBF(1.0) if form == "rbf" else None)
    how = {"start": (0.9, 1.0), "stop": (0.55, 0.55)}
    steps = careful_steps(monkeypatch)
    fast = trace_hulls(svm, **how)
    exchanges, few = fast.breakpoints.size, steps[-1]
    monkeypatch.setattr(CoreTracker, "doubles", False)
    careful = trace_hulls(svm, **how)
    assert exchanges > 20
    assert few <= share * exchanges
    for t in np.linspace(0, 1, 15):
        assert fast.rho(t) == pytest.approx(careful.rho(t), abs=1e-10)
        assert fast.value(t) == pytest.approx(careful.value(t), abs=1e-12)


# ---- the grid --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_every_point_of_a_grid_is_libsvms_solution_or_trivial(kernel):
    svm = pc.TwoNuSVM(*blobs(9), kernel)
    values = np.array([0.07, 0.2, 0.35, 0.5, 0.72, 1.0])
    grid = pc.nu_grid(svm, values, values[1:])
    assert grid.rho.shape == (6, 5)
    assert np.abs(grid.gap).max() <= 1e-9
    for i, nu_plus in enumerate(values):
        for j, nu_minus in enumerate(values[1:]):
            nu, asymmetry = svm.to_asymmetry(nu_plus, nu_minus)
            solution = grid.at(i, j)
            assert solution.certificate.passes()
            assert solution.certificate.gap == pytest.approx(grid.gap[i, j], abs=1e-12)
            assert solution.certificate.residual == pytest.approx(grid.residual[i, j], abs=1e-12)
            assert grid.rho[i, j] == pytest.approx(solution.evidence.numbers["rho"], abs=1e-12)
            point = grid.proof[i * 5 + j]
            assert point.gap == pytest.approx(abs(solution.certificate.gap), abs=1e-12)
            for name in ("stationarity in w", "balance"):
                assert point.conditions[name] == pytest.approx(solution.certificate.conditions[name], abs=1e-12)
            assert grid.trivial[i, j] == (nu <= svm.nu_star(asymmetry) * (1 + 1e-12))
            if grid.trivial[i, j]:
                assert grid.rho[i, j] == 0.0
                assert np.isnan(grid.b[i, j])
                with pytest.raises(pc.InputError, match="no classifier"):
                    solution.classifier.predict(svm.X)
                continue
            theirs = half_norm(svm, libsvm(svm, nu * (1 - 1e-12), asymmetry))
            assert -grid.value[i, j] == pytest.approx(theirs, rel=1e-6)
            ours = svm.solve(nu_plus=nu_plus, nu_minus=nu_minus)
            assert grid.value[i, j] == pytest.approx(ours.value, rel=1e-8)
            assert grid.b[i, j] == pytest.approx(ours.classifier.b, abs=1e-7)
            np.testing.assert_allclose(solution.classifier.b_interval, ours.classifier.b_interval, atol=1e-7)
            assert grid.distance[i, j] == pytest.approx(2 * np.sqrt(2 * theirs) / nu, rel=1e-6)
    assert kernel is not None or grid.trivial.any()


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)])
def test_equal_samples_of_a_grid_are_followed_as_one(kernel):
    # Each positive 3 times, each negative twice, in any order; some in both classes.
    X, y = blobs(9)
    X[-2:], copies = X[:2], np.where(y > 0, 3, 2)
    order = np.random.default_rng(0).permutation(copies.sum())
    many, labels = np.repeat(X, copies, axis=0)[order], np.repeat(y, copies)[order]
    values = np.array([0.1, 0.35, 0.6, 1.0])
    grid = pc.nu_grid(pc.TwoNuSVM(many, labels, kernel), values, values)
    once = pc.nu_grid(pc.TwoNuSVM(X, y, kernel), values, values)
    assert grid.exchanges == once.exchanges  # far more than these, else: equal samples leave their caps one by one
    assert not grid.refused.any()
    for i, j in np.ndindex(4, 4):
        solution = grid.at(i, j)
        assert solution.certificate.passes()
        if not grid.trivial[i, j]:
            solved = pc.TwoNuSVM(many, labels, kernel).solve(nu_plus=values[i], nu_minus=values[j])
            assert grid.value[i, j] == pytest.approx(solved.value, rel=1e-7)
            assert grid.rho[i, j] == pytest.approx(solved.evidence.numbers["rho"], rel=1e-5)


def test_scores_of_a_grid_are_those_of_its_solutions():
    X, y = blobs(10)
    Z = np.random.default_rng(3).normal(size=(4, 3))
    for kernel in (None, pc.RBF(1.0)):
        grid = pc.nu_grid(pc.TwoNuSVM(X, y, kernel), [0.5, 0.9], [0.4, 0.6, 1.0])
        scores = grid.scores(Z)
        assert scores.shape == (2, 3, 4)
        for i, j in np.argwhere(~grid.trivial):
            np.testing.assert_allclose(scores[i, j], grid.at(i, j).classifier.decision_function(Z), atol=1e-13)


def test_a_grid_of_coinciding_class_means_is_trivial_throughout():
    X, y = blobs(11, 20)
    svm = pc.TwoNuSVM(np.vstack([X, X]), np.append(y, -y))
    grid = pc.nu_grid(svm, [0.2, 1.0], [0.5, 1.0])
    assert grid.trivial.all()
    assert grid.residual.max() <= 1e-12
    nu, _ = svm.to_asymmetry(1.0, 0.5)
    assert grid.alpha[1, 0].sum() == pytest.approx(nu, rel=1e-14)


def test_a_grid_refuses_points_whose_hulls_are_too_close_and_keeps_the_others():
    X, y = blobs(0, 60, shift=0.3)
    svm = pc.TwoNuSVM(X[:, :2], y, pc.RBF(3.0))
    values = np.linspace(0.05, 1, 8)
    grid = pc.nu_grid(svm, values, values)
    assert 0 < grid.refused.sum() < 32
    assert not (grid.refused & grid.trivial).any()
    for found in (grid.b, grid.rho, grid.value, grid.gap, grid.residual, grid.alpha[..., 0]):
        assert np.isnan(found[grid.refused]).all()
    i, j = np.argwhere(grid.refused)[0]
    with pytest.raises(pc.InputError, match="refused: the hulls are so close"):
        grid.at(i, j)
    for i, j in np.argwhere(~grid.refused):
        assert grid.at(i, j).certificate.holds()  # of the kernel values as rounded: values of 1e-16 are their rounding
    assert f"{grid.refused.sum()} refused" in repr(grid)
    assert len(grid.proof) == (~grid.refused).sum()
    assert grid.proof.holds()
    assert not grid.proof.passes()
    grid.plot().figure_.canvas.draw()


def test_a_grid_is_drawn_with_its_trivial_cells_left_out():
    grid = pc.nu_grid(pc.TwoNuSVM(*blobs(12, shift=0.3)), np.linspace(0.1, 1, 7), np.linspace(0.1, 1, 5))
    assert grid.trivial.any()
    display = grid.plot()
    mesh = display.ax_.collections[0]
    np.testing.assert_array_equal(np.ma.getmaskarray(mesh.get_array()).reshape(5, 7), grid.trivial.T)
    assert NuGridDisplay.from_grid(grid, grid.rho, "margin").plot().label == "margin"


# ---- symmetries ------------------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000), n=st.integers(4, 24), asymmetry=st.sampled_from([0.2, 0.5, 0.7]),
    kernel=st.sampled_from([None, pc.RBF(1.0)]),
)  # fmt: skip
def test_symmetries(seed, n, asymmetry, kernel):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X += 0.5 * y[:, None]
    svm = pc.TwoNuSVM(X, y, kernel)
    if svm.nu_star(asymmetry) >= svm.nu_max(asymmetry) * (1 - 1e-9):
        return
    path = trace_nu(svm, (0, None), asymmetry)
    order = rng.permutation(n)
    others = {
        "classes": (trace_nu(pc.TwoNuSVM(X, -y, kernel), (0, None), 1 - asymmetry), -1.0),
        "rows": (trace_nu(pc.TwoNuSVM(X[order], y[order], kernel), (0, None), asymmetry), 1.0),
        "twice": (trace_nu(pc.TwoNuSVM(np.vstack([X, X]), np.append(y, y), kernel), (0, None), asymmetry), 1.0),
    }
    if kernel is None:
        others["scale"] = (trace_nu(pc.TwoNuSVM(1e6 * X, y), (0, None), asymmetry), 1.0)
    Z = rng.normal(size=(3, 2))
    for name, (other, sign) in others.items():
        lo, hi = path.breakpoints[[0, -1]]
        np.testing.assert_allclose(other.breakpoints[[0, -1]], [lo, hi], rtol=1e-7, atol=1e-9, err_msg=name)
        unit = 1e6 if name == "scale" else 1.0
        for nu in np.linspace(lo, hi, 5)[1:-1]:
            assert other.value(nu) == pytest.approx(unit**2 * path.value(nu), rel=1e-7)
            (a, b), (c, d) = (
                (p.at(nu).classifier.decision_function(unit * Z if p is other else Z), p.rho(nu)) for p in (path, other)
            )
            if np.ptp(path.at(nu).classifier.b_interval) < 1e-9:
                np.testing.assert_allclose(sign * c, unit**2 * a, rtol=1e-6, atol=1e-8 * unit**2, err_msg=name)
                assert d == pytest.approx(unit**2 * b, rel=1e-6, abs=1e-9)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"nu": (0.1, 0.9), "asymmetry": 0.4}, "nu must be a pair .* largest feasible nu"),
        ({"nu": (0.3, 0.2), "asymmetry": 0.4}, "nu must be a pair"),
        ({"nu": (-0.1, None), "asymmetry": 0.4}, "nu must be a pair"),
        ({"nu": 0.2, "asymmetry": 0.4}, "nu must be a pair"),
        ({"nu": (0, "a"), "asymmetry": 0.4}, "nu must be a number"),
        ({"nu": (float("nan"), None), "asymmetry": 0.4}, "nu must be a pair"),
        ({"nu": (0, None), "asymmetry": 1.0}, "asymmetry must lie strictly between 0 and 1"),
        ({"nu": (0, None)}, "asymmetry must be given .* or with start and stop"),
        ({"start": (1, 1)}, "stop must be given .* or with nu and asymmetry"),
        ({"start": (1, 1), "stop": (0, 0.5)}, "stop must be a pair"),
        ({"start": (1, 1.2), "stop": (0.5, 0.5)}, "start must be a pair"),
        ({"start": (1, 1), "stop": (1, 1)}, "stop must differ"),
        ({"start": (1, 1), "stop": (0.5, 0.5), "nu": (0, 1)}, "start must be left out"),
        ({"tau": (0, 1), "lam": 1.0}, "tau must be left out"),
    ],
)
def test_bad_input_of_paths(how, message):
    with pytest.raises(pc.InputError, match=message):
        pc.trace(pc.TwoNuSVM(*blobs(13, shift=2.0)), **how)


@pytest.mark.parametrize("bad", [[], [0.5, 0.5], [0.0, 0.5], [0.5, 1.1], [[0.5]], [float("nan")], [0.8, 0.2]])
def test_bad_input_of_grids(bad):
    with pytest.raises(pc.InputError, match=r"nu_minus must be (one or more numbers|within \(0, 1\]|increasing)"):
        pc.nu_grid(pc.TwoNuSVM(*blobs(13)), [0.5], bad)


# ---- trivial only where proved ------------------------------------------------------------------------------------


def noise(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)), np.where(np.arange(n) < n // 2, 1, -1)


def exact_bounds(svm, alpha, nu):
    """Bounds on the half of |w|^2 at nu, both classes with equal weights, from any multipliers, in fractions.

    Above, what the multipliers give; below, what its tangent there is at least, in the reduced hulls: it is convex.
    """
    signed = [[Fraction(each) for each in row] for row in (svm.y[:, None] * svm.gram.matrix * svm.y).tolist()]
    a = [Fraction(each) for each in alpha.tolist()]
    slopes = [sum(k * each for k, each in zip(row, a, strict=True)) for row in signed]
    above = sum(each * slope for each, slope in zip(a, slopes, strict=True)) / 2
    least, cap = Fraction(0), Fraction(1, 2 * svm.n)
    for sign in (1, -1):
        left = Fraction(nu) / 2
        for slope in sorted(slopes[i] for i in np.flatnonzero(svm.y == sign)):
            least += min(left, cap) * slope
            left -= min(left, cap)
    return float(least - above), float(above)


@pytest.mark.parametrize("bandwidth", [2.0, 4.0])
def test_hulls_of_distinct_samples_and_an_rbf_kernel_never_meet(bandwidth):
    """The kernel is strictly positive definite: nu_star is 0, however small double precision finds |w|^2.

    It has eigenvalues of 1e-16: it hangs on the rounding of sums whether a path from nu = 0 is refused. None is wrong.
    """
    svm = pc.TwoNuSVM(*noise(60, 2), kernel=pc.RBF(bandwidth))
    assert svm.nu_star(0.5) == 0.0
    values = np.geomspace(0.02, 1.0, 6)
    grid = pc.nu_grid(svm, values, values)
    assert not grid.trivial.any()
    reason = None
    try:
        path = whole(svm, 0.5)
    except pc.DegeneratePathError as refused:
        path, reason = pc.trace(svm, nu=(None, 0.5), asymmetry=0.5), str(refused)
    if reason is None:
        assert path.star.kind == "separating"
        assert not path.proof.passes()  # of the kernel itself; it is one of the kernel values as rounded
    else:
        assert re.search(r"cannot tell whether they meet|the certificate fails", reason)
    for nu in np.linspace(path.breakpoints[0], 0.5, 12)[1:]:
        below, above = exact_bounds(svm, path.alpha(nu), nu)
        tol = 1e-15 * nu**2  # the terms of |w|^2 add up to nu^2
        assert below - tol <= -path.value(nu) <= above + tol
        assert above - below <= tol


def test_where_a_rank_is_not_plain_nothing_is_called_trivial():
    X, y = noise(60, 2)
    svm = pc.TwoNuSVM(pc.RBF(4.0)(X, X), y, kernel="precomputed")
    with pytest.raises(pc.errors.SolveError, match=r"^nu_star cannot be told: the kernel matrix has no plain rank"):
        svm.nu_star(0.5)
    assert not pc.nu_grid(svm, [0.02, 0.1, 0.5], [0.02, 0.1, 0.5]).trivial.any()


@pytest.mark.parametrize("kernel", [pc.Polynomial(2), lambda A, B: (1 + A @ B.T) ** 2], ids=["polynomial", "callable"])
def test_where_the_rank_is_plain_trivial_is_proved_as_with_the_features(kernel):
    X, y = noise(60, 2)
    root = np.sqrt(2.0)
    a, b = X.T
    features = np.stack([a**2, b**2, root * a * b, root * a, root * b], axis=1)  # of (1 + x.z)^2, but for the constant
    values = np.geomspace(0.05, 1.0, 6)
    ours, theirs = (pc.nu_grid(svm, values, values) for svm in (pc.TwoNuSVM(X, y, kernel), pc.TwoNuSVM(features, y)))
    assert ours.trivial.any()
    np.testing.assert_array_equal(ours.trivial, theirs.trivial)
    assert pc.TwoNuSVM(X, y, kernel).nu_star(0.5) == pytest.approx(pc.TwoNuSVM(features, y).nu_star(0.5), rel=1e-9)


def twins_by_hand(X, y, plus, minus):
    """Largest sum of multipliers that cancel sample by sample, counted."""
    total = 0.0
    for row in np.unique(X, axis=0):
        same = (row == X).all(axis=1)
        total += 2 * min(plus * np.count_nonzero(same & (y > 0)), minus * np.count_nonzero(same & (y < 0)))
    return total


@pytest.mark.parametrize("asymmetry", [0.3, 0.5, 0.6])
def test_the_same_samples_in_both_classes_cancel(asymmetry):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (80, 2)).astype(float)
    y = np.where(rng.random(80) < 0.2 + 0.3 * X[:, 0], 1, -1)
    svm = pc.TwoNuSVM(X, y, kernel=pc.RBF(1.0))
    expected = twins_by_hand(X, y, asymmetry / 80, (1 - asymmetry) / 80)
    assert svm.nu_star(asymmetry) == pytest.approx(expected, rel=1e-14)
    values = np.geomspace(0.05, 1.0, 7)
    grid = pc.nu_grid(svm, values, values)
    assert not grid.refused.any()
    for i, j in np.ndindex(7, 7):
        nu, share = svm.to_asymmetry(values[i], values[j])
        star = twins_by_hand(X, y, share / 80, (1 - share) / 80)
        if abs(nu - star) > 1e-9:
            assert grid.trivial[i, j] == (nu < star)
    if expected < svm.nu_max(asymmetry) * (1 - 1e-9):
        star = pc.trace(svm, nu=(0, None), asymmetry=asymmetry).star
        assert (star.kind, star.nu) == ("trivial", pytest.approx(expected, rel=1e-9))


def passengers(n, seed):
    """Like the list of the Titanic: thirteen distinct rows, most with both labels, many times each."""
    survived_and_died = {
        ("1", 1, 1): (57, 118), ("1", 0, 1): (5, 0), ("1", 1, 0): (140, 4), ("1", 0, 0): (1, 0), ("2", 1, 1): (14, 154),
        ("2", 0, 1): (11, 0), ("2", 1, 0): (80, 13), ("2", 0, 0): (13, 0), ("3", 1, 1): (75, 387),
        ("3", 0, 1): (13, 35), ("3", 1, 0): (76, 89), ("3", 0, 0): (14, 17), ("c", 1, 1): (192, 670),
        ("c", 1, 0): (20, 3),
    }  # fmt: skip
    level = {"1": -0.923, "2": 0.0214, "3": 0.965, "c": -1.87}
    rows, labels = [], []
    for (cabin, adult, male), (survived, died) in survived_and_died.items():
        rows += [[level[cabin], -0.228 if adult else 4.38, -0.521 if male else 1.92]] * (survived + died)
        labels += [1] * survived + [-1] * died
    chosen = np.random.default_rng(seed).choice(len(labels), n, replace=False)
    return np.array(rows)[chosen], np.array(labels)[chosen]


def test_a_path_ends_where_the_hulls_meet_although_rounding_leaves_a_margin():
    """The tracker found rho = 1e-18 where it is 0, so that no event ended the path, and went on along noise."""
    X, y = passengers(1000, 2)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel=pc.RBF(2.0)), nu=(0, None), asymmetry=0.3)
    assert path.star.nu == pytest.approx(twins_by_hand(X, y, 0.3 / 1000, 0.7 / 1000), rel=1e-9)
    assert path.star.kind == "trivial"


def test_sparse_samples_in_both_classes_are_found():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (60, 3)).astype(float), np.where(rng.random(60) < 0.5, 1, -1)
    values = np.geomspace(0.05, 1.0, 5)
    dense, sparse = (pc.nu_grid(pc.TwoNuSVM(Z, y), values, values) for Z in (X, sp.csr_array(X)))
    assert dense.trivial.any()
    np.testing.assert_array_equal(dense.trivial, sparse.trivial)
    assert not (dense.refused | sparse.refused).any()


# ---- next to where the hulls meet ---------------------------------------------------------------------------------


def answers(n, seed, digits):
    """A questionnaire: five answers out of three, most of them 0, standardised and stored with so many digits."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 5)).astype(float)
    X = np.where(rng.random((n, 5)) < 0.5, 0.0, X)
    total = X.sum(axis=1)
    y = np.where(total + 3.0 * rng.normal(size=n) > np.quantile(total, 0.7), 1.0, -1.0)
    return ((X - X.mean(axis=0)) / X.std(axis=0)).round(digits), y


def check_next_to_the_meeting(svm, path):
    lo, hi = path.breakpoints[[0, -1]]
    assert path.star.nu == pytest.approx(svm.nu_star(0.5), rel=1e-7)  # a linear program, to its tolerance
    assert path.star.lower <= path.star.upper * (1 + 1e-9)
    nu = lo + 0.1 * (hi - lo)
    assert path.value(nu) == pytest.approx(svm.solve(nu=nu, asymmetry=0.5).value, rel=1e-6, abs=1e-9)
    assert all(certificate.passes() for certificate in path.certificates())


@pytest.mark.parametrize(
    ("n", "seed", "digits"), [(60, 2, 6), (60, 3, 6), (40, 5, 7), (40, 11, 7), (40, 12, 7), (40, 33, 7)]
)
def test_events_that_the_digits_of_the_data_set_apart_next_to_the_meeting(n, seed, digits):
    """Scores there are small differences of terms that are not: margins are known to rounding of these terms."""
    svm = pc.TwoNuSVM(*answers(n, seed, digits))
    check_next_to_the_meeting(svm, whole(svm, 0.5))


@pytest.mark.parametrize(("n", "seed"), [(60, 5), (60, 10), (80, 12), (100, 24), (200, 13)])
def test_splits_of_data_with_few_distinct_rows(n, seed):
    data = os.environ.get("PARETOCLF_DATA")
    if not data:
        pytest.skip("PARETOCLF_DATA is not set")
    held = np.load(f"{data}/raetsch/breast-cancer.npz")
    rows = np.random.default_rng(seed).permutation(held["y"].size)[:n]
    svm = pc.TwoNuSVM(held["X"][rows].astype(float), held["y"][rows].astype(float))
    check_next_to_the_meeting(svm, whole(svm, 0.5))


@pytest.mark.parametrize("whole_numbers", [True, False])
def test_small_sets_are_followed_to_where_their_hulls_meet(whole_numbers):
    """The value is a square there, of a slope that is 0: its middle coefficient is rounding, of a size of 0."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, d = rng.integers(4, 16), rng.integers(1, 5)
        X = rng.integers(-3, 4, (n, d)).astype(float) if whole_numbers else rng.normal(size=(n, d))
        y = np.where(np.arange(n) < rng.integers(1, n), 1.0, -1.0)
        svm, asymmetry = pc.TwoNuSVM(X, y), float(rng.uniform(0.2, 0.8))
        star, most = svm.nu_star(asymmetry), svm.nu_max(asymmetry)
        if star > 0.999 * most:
            continue
        path = whole(svm, asymmetry)
        assert path.breakpoints[0] == pytest.approx(star, rel=1e-6, abs=1e-7)
        nu = 0.5 * (star + most)
        assert path.value(nu) == pytest.approx(svm.solve(nu=nu, asymmetry=asymmetry).value, rel=1e-6, abs=1e-9)


def wide(seed, n=14, d=1, bandwidth=1.0):
    """Few of the eigenvalues of the kernel matrix are more than rounding."""
    rng = np.random.default_rng(seed)
    return pc.TwoNuSVM(rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, 1, -1), pc.RBF(bandwidth))


@pytest.mark.parametrize(
    "svm", [*(wide(seed) for seed in (45, 67, 72)), *(wide(seed, 24, 2, 2.5) for seed in (40, 110, 138, 298))]
)
def test_what_steps_in_double_miss_is_followed_in_twice_the_precision(svm):
    """They are right to 1e-10 of a margin of 1, and here margins are 1e-7: 22 of 300 such sets were refused."""
    path = whole(svm, 0.5)
    assert path.proof.holds()
    lo, hi = path.breakpoints[[0, -1]]
    for nu in (lo + 0.5 * (hi - lo), lo + 0.9 * (hi - lo)):
        assert path.value(nu) == pytest.approx(svm.solve(nu=nu, asymmetry=0.5).value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", [27, 29, 34, 42])
def test_from_none_a_path_ends_where_it_is_no_longer_proved(seed):
    svm = wide(seed)
    with pytest.raises(pc.DegeneratePathError, match="so close that double precision") as refused:
        pc.trace(svm, nu=(0, None), asymmetry=0.5)
    path = pc.trace(svm, nu=(None, None), asymmetry=0.5)
    lo, hi = path.breakpoints[[0, -1]]
    assert f"With nu = (None, {hi:.6g}) it ends where it is no longer proved, at nu = {lo:.6g}" in str(refused.value)
    of_the_kernel = np.flatnonzero(path.proof.kernel > 1e-8)
    assert ("the kernel's own are known well enough from" in str(refused.value)) == (of_the_kernel.size > 0)
    assert path.proof.holds()
    assert path.star is None
    assert hi == pytest.approx(svm.nu_max(0.5), rel=1e-12)
    nu = 0.5 * (lo + hi)
    assert path.value(nu) == pytest.approx(half_norm(svm, libsvm(svm, nu, 0.5)) * -1.0, rel=1e-5)


@pytest.mark.parametrize(("sigma", "seed"), [(30.0, 0), (30.0, 1), (300.0, 2)])
def test_from_the_nu_that_a_refusal_names_the_path_is_proved(sigma, seed):
    """Its six digits are rounded upwards: on the segment below it the rounding of kernel values decides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, 1.0, -1.0)
    svm = pc.TwoNuSVM(X, y, pc.RBF(sigma))
    with pytest.raises(pc.DegeneratePathError) as refused:
        pc.trace(svm, nu=(0, None), asymmetry=0.5)
    (named,) = re.findall(r"known well enough from nu = ([\d.]+) on", str(refused.value))
    assert pc.trace(svm, nu=(float(named), None), asymmetry=0.5).proof.passes()


def test_from_none_a_path_that_is_proved_ends_where_it_does_from_zero():
    svm = pc.TwoNuSVM(*blobs(0))
    whole_path, path = (pc.trace(svm, nu=(lo, None), asymmetry=0.4) for lo in (0, None))
    np.testing.assert_array_equal(whole_path.breakpoints, path.breakpoints)
    assert path.star.kind == whole_path.star.kind


@pytest.mark.parametrize("how", [{"nu": (0, None), "asymmetry": 0.834}, {"start": (1, 1), "stop": (0.05, 0.05)}])
def test_copies_in_both_classes_meet_where_they_cancel_whatever_rounding_leaves_beside_them(how):
    """Multipliers of 1e-15, of samples that have none, were taken for hulls that do not meet."""
    X = [0.1, -0.7, -0.7, 2.4, 0.4, 0.6, -0.8, 0.1, -0.9, -1.0, -0.9, 0.4, -0.5, -0.8, -0.9, 0.9]
    y = np.where(np.arange(16) < 3, 1, -1)
    svm = pc.TwoNuSVM(np.array(X)[:, None], y, pc.RBF(1.0))
    path = pc.trace(svm, **how)
    assert path.proof.holds()
    end = path.t[0] if "nu" in how else path.t[-1]
    if "nu" in how:
        assert path.star.nu == pytest.approx(twins_by_hand(svm.X, y, 0.834 / 16, 0.166 / 16), rel=1e-12)
    alpha = path.alpha(float(end))
    assert path.rho(float(end)) == 0.0
    assert abs(alpha[0] - alpha[7]) <= 1e-12 * alpha[0]
    assert np.delete(alpha, [0, 7]).max() <= 1e-12 * alpha[0]


def overlapping(seed):
    """Whole numbers in classes that overlap, linear or with a Gaussian kernel and copies in both classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 16)), int(rng.integers(1, 4))
    X, y = rng.integers(-3, 4, (n, d)).astype(float), np.where(np.arange(n) < rng.integers(2, n - 1), 1.0, -1.0)
    kernel = [None, pc.RBF(1.0), pc.RBF(3.0)][seed % 3]
    if kernel is not None:
        X[-1], X[-2] = X[0], X[1]
    return pc.TwoNuSVM(X, y, kernel), float(rng.uniform(0.2, 0.8)), rng


def test_next_to_the_meeting_proof_and_points_say_the_same_and_bounds_are_bounds():
    """What is called rounding is at least that, in fractions; the proof says where it is more than the tolerance."""
    met = refused = 0
    for seed in range(60):
        svm, asymmetry, rng = overlapping(seed)
        try:
            path = pc.trace(svm, nu=(None, None), asymmetry=asymmetry)
        except pc.InputError:
            continue
        proof, (lo, hi) = path.proof, path.t[[0, -1]]
        if lo == 0.0 or path.rho(lo) > 0.0 or not proof.holds():
            continue
        met += 1
        rounded = proof.rounded()
        assert rounded[0][0] == lo
        assert "that is so up to rounding" in proof.explain()
        for share in np.append(10.0 ** rng.uniform(-12, -1, 6), [1e-12, 0.5]):
            nu = float(lo + share * (hi - lo))
            certificate = path.at(nu).certificate
            assert certificate.verdict() != "not optimal", seed
            if not any(low <= nu <= high for low, high in rounded):
                assert certificate.holds(), seed
            refused += not certificate.holds()
            j = min(int(np.searchsorted(path.t, nu, side="right")) - 1, len(proof) - 1)
            at = (nu - path.t[j]) / (path.t[j + 1] - path.t[j])
            weights = np.array([(1 - at) ** 2, 2 * at * (1 - at), at**2])
            bounds = path.certificate(nu, exact=True).bounds
            assert 0 <= float(bounds[1] - bounds[0]) <= weights @ (proof.gaps[j] + proof.rounding[j]), seed
    assert met >= 30
    assert refused > 0


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_features_of_mixed_scales_are_followed_to_the_meeting_and_not_excused_by_their_largest(seed):
    """Rounding was that of the longest sample times the multipliers: of w here it is a millionth of that."""
    svm = pc.TwoNuSVM(*FAMILIES["mixed scales"].make(np.random.default_rng(seed)))
    path = whole(svm, 0.3)
    assert path.proof.passes()
    assert path.star.nu == pytest.approx(svm.nu_star(0.3), rel=1e-9)
    P, last = path.pieces, path.t.size - 2
    for j in (0, 1, last // 2):
        for size in (1e-5, 0.03):
            scaled = [rho * np.where(np.arange(last + 1) == j, 1.0 + size, 1.0) for rho in (P.rho0, P.rho1)]
            wrong = replace(path, pieces=replace(P, rho0=scaled[0], rho1=scaled[1]))
            nu = 0.5 * float(P.t[j] + P.t[j + 1])
            low, high = wrong.certificate(nu, exact=True).bounds
            assert high - low > 1e-8 * nu * path.rho(nu)
            assert j in wrong.proof.failures()
            assert not wrong.at(nu).certificate.passes()


@pytest.mark.parametrize("seed", [36, 488])
def test_a_gap_that_rounding_makes_where_hulls_meet_is_none(seed):
    """The value is 0 at the end of the path, so that a gap there was compared with an eighth of its rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 30))
    X, y = rng.integers(-2, 3, (n, 2)).astype(float), np.where(rng.random(n) < 0.4, 1, -1)
    asymmetry = float(rng.uniform(0.1, 0.9))
    path = pc.trace(pc.TwoNuSVM(X, y, pc.RBF(1.0)), nu=(0, None), asymmetry=asymmetry)
    by_hand = twins_by_hand(X, y, asymmetry / n, (1 - asymmetry) / n)
    assert path.star.nu == pytest.approx(by_hand, rel=1e-12)
    assert path.star.kind == "trivial"


def test_a_point_of_a_path_whose_asymmetry_is_as_small_as_numbers_are():
    """Such a file is read unproved; next to it sizes of reduced hulls are more than numbers hold."""
    path = pc.trace(pc.TwoNuSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), nu=(None, None), asymmetry=0.5)
    wrong = replace(path, line=replace(path.line, asymmetry=5e-324))
    with np.errstate(all="ignore"):
        assert not wrong.at(float(path.t[-1])).certificate.passes()
