"""Fitted models of scikit-learn and the optima of what they minimise, written from its documentation and found anew."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - its import is what allows that of HalvingGridSearchCV
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    Lars,
    Lasso,
    LassoCV,
    LassoLars,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    MultiTaskLasso,
    MultiTaskLassoCV,
    Perceptron,
    QuantileRegressor,
    Ridge,
    SGDClassifier,
    enet_path,
    lasso_path,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

import paretoclf as pc
from paretoclf.checking.elsewhere import grid_of
from paretoclf.checking.fitted_models import own_tolerance, read_fitted
from paretoclf.checking.fitted_reports import JudgedModel

RNG = np.random.default_rng(0)
N, D = 40, 4
A = RNG.normal(size=(N, D))
T = A @ [1.0, -2.0, 0.5, 0.0] + 0.3 * RNG.normal(size=N) + 2.0
TWO = np.column_stack([T, A[:, 1] + RNG.normal(size=N)])
SICK = np.where(2.0 + RNG.normal(size=N) < T, "sick", "healthy")
THREE = np.digitize(T + RNG.normal(size=N), [1.0, 3.0])
WEIGHT = RNG.uniform(0.5, 2.0, N)


def optimum(objective, constraints=()):
    """By Clarabel at its tightest."""
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    return problem.solve("CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)


def mixed(w, alpha, ratio):
    """Penalty of the elastic net."""
    return alpha * ratio * np.abs(w).sum() + 0.5 * alpha * (1 - ratio) * (w**2).sum()


def least_squares(fit, y, weight):
    """Objective at a fitted lasso or elastic net, and its least value."""
    share, alpha, ratio = weight / weight.sum(), fit.alpha, fit.l1_ratio
    mine = 0.5 * share @ (y - fit.predict(A)) ** 2 + mixed(fit.coef_, alpha, ratio)
    w = cp.Variable(D, nonneg=fit.positive)
    b = cp.Variable() if fit.fit_intercept else 0.0
    loss = cp.quad_form(y - A @ w - b, np.diag(share)) / 2
    return mine, optimum(loss + alpha * ratio * cp.norm1(w) + alpha * (1 - ratio) / 2 * cp.sum_squares(w))


def quantiles(fit, y, weight):
    """Objective at a quantile regression; its least value by the dual: max y'u with u between (q - 1) s and q s."""
    share, q = weight / weight.sum(), fit.quantile
    r = y - fit.predict(A)
    mine = share @ np.maximum(q * r, (q - 1) * r) + fit.alpha * np.abs(fit.coef_).sum()
    slopes = np.vstack([A.T, -A.T])
    equation = {"A_eq": np.ones((1, N)), "b_eq": [0.0]} if fit.fit_intercept else {}
    bounds = np.column_stack([(q - 1) * share, q * share])
    found = linprog(-y, A_ub=slopes, b_ub=np.full(2 * D, fit.alpha), bounds=bounds, **equation)
    return mine, -found.fun


def regression(fit, y, weight):
    """Objective at a support vector regression; its least value by the dual."""
    K = kernel(fit)
    c = np.zeros(N)
    c[fit.support_] = fit.dual_coef_[0]
    slack = np.maximum(0, np.abs(y - fit.predict(A)) - fit.epsilon)
    mine = 0.5 * c @ K @ c + fit.C * weight @ slack
    z = cp.Variable(N)
    dual = cp.quad_form(z, cp.psd_wrap(K)) / 2 - y @ z + fit.epsilon * cp.norm1(z)
    return mine, -optimum(dual, [cp.sum(z) == 0, cp.abs(z) <= fit.C * weight])


def of_one_class(fit, y, weight):
    """Objective at a machine of one class; its least value by the dual."""
    K = kernel(fit)
    c = np.zeros(N)
    c[fit.support_] = fit.dual_coef_[0]
    share, rho = fit.nu * weight.sum(), -fit.intercept_[0]
    mine = 0.5 * c @ K @ c - share * rho + weight @ np.maximum(0, rho - K @ c)
    z = cp.Variable(N)
    return mine, -optimum(cp.quad_form(z, cp.psd_wrap(K)) / 2, [cp.sum(z) == share, z >= 0, z <= weight])


def kernel(fit):
    return A @ A.T if fit.kernel == "linear" else pc.RBF(np.sqrt(0.5 / fit._gamma))(A, A)


def logistic(fit, y, weight):
    """Objective at a logistic regression; its least value by Newton's method, or where it is not smooth by Clarabel."""
    C, ratio = fit.C, fit.l1_ratio
    which = np.searchsorted(fit.classes_, y)
    if fit.class_weight == "balanced":
        counts = np.bincount(which, weights=weight)
        weight = weight * (weight.sum() / (counts.size * counts))[which]
    alpha, cost = (0.0, weight) if np.isinf(C) else (1.0, C * weight)
    X, w, free = np.column_stack([A, np.ones(N)]), np.column_stack([fit.coef_, fit.intercept_]), np.r_[np.ones(D), 0.0]
    if fit.solver == "liblinear":
        X[:, -1], w[:, -1], free = fit.intercept_scaling, w[:, -1] / fit.intercept_scaling, np.ones(D + 1)
    if len(w) == 1:
        w, sizes = np.vstack([np.zeros(D + 1), w]), np.r_[0.0, 1.0]
    else:
        sizes = np.ones(len(w))
    if ratio:
        return value(w, X, which, cost, free, (alpha, ratio)), smallest(X, which, cost, free, (alpha, ratio))
    penalised = alpha * np.outer(sizes, free)

    def gradient(v):
        off = cost[:, None] * (softmax(X @ v.T, axis=1) - np.eye(len(w))[which])
        return off.T @ X + penalised * v

    best = w.copy()
    moving = sizes > 0
    for _ in range(60):
        p = softmax(X @ best.T, axis=1)
        H = np.einsum("n,nj,nk,na,nb->jakb", cost, p, -p, X, X)
        for j in range(len(w)):
            H[j, :, j, :] += (X.T * (cost * p[:, j])) @ X + np.diag(penalised[j])
        flat = H[np.ix_(moving, range(D + 1), moving, range(D + 1))].reshape(moving.sum() * (D + 1), -1)
        step = np.linalg.lstsq(flat, gradient(best)[moving].ravel(), rcond=1e-12)[0]
        best[moving] -= step.reshape(-1, D + 1)
    assert np.abs(gradient(best)[moving]).max() < 1e-9
    both = (value(v, X, which, cost, free, (alpha, 0.0)) for v in (w, best))
    return tuple(both)


def value(w, X, which, cost, free, mixture):
    z = X @ w.T
    return cost @ (logsumexp(z, axis=1) - z[np.arange(N), which]) + mixed(w * free, *mixture)


def smallest(X, which, cost, free, mixture):
    w, sign = cp.Variable(X.shape[1]), np.where(which > 0, 1, -1)
    alpha, ratio = mixture
    v = cp.multiply(free, w)
    loss = sum(c * cp.logistic(-s * (x @ w)) for c, s, x in zip(cost, sign, X, strict=True))
    return optimum(loss + alpha * ratio * cp.norm1(v) + alpha * (1 - ratio) / 2 * cp.sum_squares(v))


SMALL = {"tol": 1e-10, "max_iter": 10**6}
MODELS = {
    "lasso": (Lasso(0.1, **SMALL), T, least_squares),
    "lasso through 0": (Lasso(0.1, fit_intercept=False, **SMALL), T, least_squares),
    "nonnegative lasso": (Lasso(0.05, positive=True, **SMALL), T, least_squares),
    "elastic net": (ElasticNet(0.1, l1_ratio=0.3, **SMALL), T, least_squares),
    "quantiles": (QuantileRegressor(quantile=0.3, alpha=0.05), T, quantiles),
    "quantiles without a penalty": (QuantileRegressor(quantile=0.8, alpha=0.0), T, quantiles),
    "quantiles through 0": (QuantileRegressor(alpha=0.02, fit_intercept=False), T, quantiles),
    "regression": (SVR(C=3.0, tol=1e-9), T, regression),
    "linear regression": (SVR(kernel="linear", epsilon=0.2, tol=1e-9), T, regression),
    "one class": (OneClassSVM(nu=0.3, tol=1e-9), None, of_one_class),
    "logistic": (LogisticRegression(C=0.7, **SMALL), SICK, logistic),
    "balanced": (LogisticRegression(class_weight="balanced", **SMALL), SICK, logistic),
    "without a penalty": (LogisticRegression(C=np.inf, **SMALL), SICK, logistic),
    "LIBLINEAR": (LogisticRegression(solver="liblinear", intercept_scaling=3.0, **SMALL), SICK, logistic),
    "l1": (LogisticRegression(l1_ratio=1.0, solver="liblinear", **SMALL), SICK, logistic),
    "mixed": (LogisticRegression(l1_ratio=0.4, solver="saga", **SMALL), SICK, logistic),
    "three classes": (LogisticRegression(C=0.5, **SMALL), THREE, logistic),
    "three classes without a penalty": (LogisticRegression(C=np.inf, **SMALL), THREE, logistic),
}
#: Models that LIBSVM fits, which stops at its own rule; and solvers that stop at others.
LOOSER = {"regression": 1e-6, "linear regression": 1e-6, "one class": 1e-6}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_judged_by_the_least_value_of_what_it_minimises(name, weighted):
    machine, y, oracle = MODELS[name]
    weight = WEIGHT if weighted else np.ones(N)
    fit = clone(machine).fit(A, y, **({"sample_weight": weight} if weighted else {}))
    given = {"sample_weight": weight} if weighted else {}
    report = pc.verify(A, y, fit, tol=LOOSER.get(name, 1e-7), **given)
    assert report.passes(), report
    mine, best = oracle(fit, y, weight)
    certificate = report[0]
    assert certificate.primal_value == pytest.approx(mine, rel=1e-9)
    assert certificate.dual_value == pytest.approx(best, rel=3e-7)
    assert certificate.dual_value <= best + 1e-8 * abs(best)
    assert pc.verify(A, y, fit, **given).passes()  # at its own tolerance, too
    if weighted and oracle is not quantiles:  # a vertex may be that of both
        assert not pc.verify(A, y, fit).passes()


@pytest.mark.parametrize("name", MODELS)
def test_falsified_numbers_are_not_optimal(name):
    machine, y, _ = MODELS[name]
    fit = clone(machine).fit(A, y)
    own = "dual_coef_" if hasattr(fit, "dual_coef_") else "coef_"
    for attribute, move in ((own, 1e-3), ("intercept_", 1e-2)):
        if attribute == "intercept_" and not getattr(fit, "fit_intercept", True):
            continue
        wrong = clone(machine).fit(A, y)
        moved = np.array(getattr(fit, attribute), dtype=float, copy=True)
        moved[(0,) * moved.ndim] += move
        setattr(wrong, attribute, moved)
        report = pc.verify(A, y, wrong)
        assert report.verdicts == ["not optimal"], (attribute, report)
        assert report[0].shortfall > 0.0
        assert not report.kept


@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (Lasso(0.01, max_iter=1), T),
        (ElasticNet(0.01, max_iter=1), T),
        (SVR(C=100.0, max_iter=5), T),
        (OneClassSVM(max_iter=2), None),
        (LogisticRegression(max_iter=1), SICK),
        (LogisticRegression(max_iter=1), THREE),
        (LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=1), SICK),
        (MultiTaskLasso(0.01, max_iter=1), TWO),
    ],
)
def test_a_model_that_ran_out_of_rounds_is_not_optimal(machine, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = clone(machine).fit(3.0 * A + 1.0, y)
    report = pc.verify(3.0 * A + 1.0, y, fit)
    assert report.verdicts == ["not optimal"], report
    assert "if fit was given sample_weight, give it here, too" in report[0].explain() or "MultiTask" in repr(fit)


def test_rows_of_a_regression_are_called_by_their_samples():
    """The sample that is named has the multiplier of one beyond the tube, and is not there: by its own residual."""
    fit = SVR(kernel="linear", epsilon=0.1, tol=1e-6).fit(A, T)
    fit._intercept_ = fit.intercept_ = fit.intercept_ + 0.5
    found = pc.verify(A, T, fit)[0]
    sample, side = re.fullmatch(r"sample (\d+), (above|below) the tube", found.worst).groups()
    r = (1.0 if side == "above" else -1.0) * (T - A @ np.ravel(fit.coef_) - fit.intercept_)[int(sample)]
    multiplier = (1.0 if side == "above" else -1.0) * dict(zip(fit.support_, fit.dual_coef_[0], strict=True))[
        int(sample)
    ]
    assert found.worst_side == f"slack {0.1 + max(0.0, abs(r) - 0.1) - r:.3g}, multiplier {multiplier:.6g}"
    machine = OneClassSVM(nu=0.2, kernel="linear").fit(A)
    machine.intercept_ = machine.intercept_ - 0.5
    assert re.search(r"Worst: sample \d+, its (margin|slack) \(", pc.verify(A, None, machine)[0].explain())


def test_a_model_that_passes_at_its_own_tolerance_is_said_to_be_optimal():
    fit = SVR(kernel="linear", epsilon=0.1).fit(A, T)
    report = pc.verify(A, T, fit)
    said = report[0].explain()
    assert (report[0].passes(), report[0].passes(1e-8), report[0].verdict()) == (True, False, "optimal")
    assert ("Not optimal" in said, f"It is proved to {report[0].off_by:.1e}, and no closer" in said) == (False, True)
    assert "(tolerance 1e-03)" in said
    assert "Not optimal" in report[0].explain(1e-8)
    signs = np.where(A[:, 0] > 0, 1, -1)  # by its rule, and not by its value
    kept = pc.verify(A, signs, LogisticRegression(C=1e4, max_iter=10**4).fit(A, signs))
    assert kept[0].off_by > kept.tol
    assert (kept[0].passes(), "Not optimal" in repr(kept) + kept[0].explain()) == (True, False)


def test_several_targets_and_models_with_folds():
    fit = ElasticNet(0.1, **SMALL).fit(A, TWO)
    report = pc.verify(A, TWO, fit)
    assert report.passes()
    assert [row["target"] for row in report.records()] == [0, 1]
    alone = Lasso(0.1, **SMALL).fit(A, TWO[:, 1])
    together = pc.verify(A, TWO, Lasso(0.1, **SMALL).fit(A, TWO))
    assert together[1].primal_value == pytest.approx(pc.verify(A, TWO[:, 1], alone)[0].primal_value, rel=1e-12)
    for machine in (MultiTaskLasso(0.2, **SMALL), MultiTaskElasticNet(0.2, l1_ratio=0.4, **SMALL)):
        shared = machine.fit(A, TWO)
        (certificate,) = pc.verify(A, TWO, shared)
        W, alpha, ratio = shared.coef_, shared.alpha, shared.l1_ratio
        mine = ((TWO - shared.predict(A)) ** 2).sum() / (2 * N)
        mine += alpha * ratio * np.linalg.norm(W, axis=0).sum() + alpha * (1 - ratio) / 2 * (W**2).sum()
        assert certificate.primal_value == pytest.approx(mine, rel=1e-10)
        assert certificate.passes(1e-8)
        shared.coef_ = W + 1e-3
        assert pc.verify(A, TWO, shared).verdicts == ["not optimal"]
        with pytest.raises(pc.InputError, match=r"sample_weight must be left out: MultiTask\w+ has none"):
            pc.verify(A, TWO, shared, sample_weight=WEIGHT)
    for machine, y in ((LassoCV(), T), (ElasticNetCV(l1_ratio=[0.2, 0.7]), T), (MultiTaskLassoCV(), TWO)):
        chosen = machine.fit(A, y)
        report = pc.verify(A, y, chosen)
        assert report.passes()
        assert report.values[0]["alpha"] == chosen.alpha_
    folds = LogisticRegressionCV(Cs=3, l1_ratios=(0.0,), use_legacy_attributes=False, scoring="accuracy")
    report = pc.verify(A, SICK, folds.fit(A, SICK))
    assert report.passes()
    assert report.values[0]["C"] == folds.C_


def test_a_solution_that_keeps_its_own_rule_is_optimal_as_its_tol_asks():
    """Targets that are nearly fitted leave a small value: what the gap may be beside the mean square is large."""
    y = A @ [1.0, -2.0, 0.5, 0.0] + 3.0
    fit = Lasso(1e-6).fit(A, y)
    fit.coef_ = fit.coef_ + 1e-3
    report = pc.verify(A, y, fit)
    assert report.passes()
    assert not report[0].passes(1e-4)
    assert report.summary == "1 of 1 optimal: 1 as scikit-learn's tol asks"
    assert report.verdict(0).startswith("optimal as its tol of 0.0001 asks, with a value that is off by at most ")
    assert "a duality gap of tol times the mean square of y, whatever the value is" in report[0].explain()
    allowed = report.kept[0].allowed
    assert allowed == pytest.approx(1e-4 * np.mean((y - y.mean()) ** 2))
    assert report.kept[0].found == pytest.approx(report[0].primal_value - report[0].dual_value)
    assert not pc.verify(A, y, fit, tol=1e-4).passes()  # at a tolerance that was asked for there is no other rule
    fit.coef_ = fit.coef_ + 0.1
    assert not pc.verify(A, y, fit).passes()
    smooth = LogisticRegression(C=1e4, max_iter=10**4).fit(A, np.where(A[:, 0] > 0, 1, -1))
    report = pc.verify(A, np.where(A[:, 0] > 0, 1, -1), smooth)
    assert report.passes()
    assert not report[0].passes(1e-4)
    assert "a largest derivative of the mean loss" in report[0].explain()
    smooth.coef_ = 0.5 * smooth.coef_
    assert not pc.verify(A, np.where(A[:, 0] > 0, 1, -1), smooth).passes()
    both = pc.verify(A, y, [Lasso(1e-6).fit(A, y), SVR().fit(A, y)])
    assert both.passes()


@pytest.mark.parametrize("machine", [SVC(kernel="linear", C=50.0), SVC(C=1e3)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_machine_that_is_off_is_told_by_how_much_it_is_above_the_optimum(machine, monkeypatch):
    """Its own multipliers bound the optimum badly; the optimum here is that of the dual, by Clarabel."""
    fit, signs = clone(machine).set_params(max_iter=10).fit(A, SICK), np.where(SICK == "sick", 1.0, -1.0)
    coef, K = np.zeros(N), kernel(fit)
    coef[fit.support_] = fit.dual_coef_[0]
    mine = 0.5 * coef @ K @ coef + fit.C * np.maximum(0, 1 - signs * fit.decision_function(A)).sum()
    z = cp.Variable(N)
    box = [cp.multiply(signs, z) >= 0, cp.multiply(signs, z) <= fit.C, cp.sum(z) == 0]
    least = -optimum(cp.quad_form(z, cp.psd_wrap(K)) / 2 - signs @ z, box)
    said = pc.verify(A, SICK, fit)[0].explain()
    value, excess, share = re.search(
        r"The optimal value is (\S+), found by solving: that of the model is larger by (\S+), (\S+) % of it", said
    ).groups()
    assert float(value) == pytest.approx(least, rel=1e-8)
    assert float(excess) == pytest.approx(mine - least, rel=1e-3)
    assert float(share) == pytest.approx(100 * (mine - least) / least, rel=1e-2)
    monkeypatch.setattr("paretoclf.checking.fitted_models.SOON", N - 1)
    monkeypatch.setattr("paretoclf.checking.fitted_models.SOON_IF_LINEAR", N - 1)
    assert "found by solving" not in pc.verify(A, SICK, fit)[0].explain()


def test_a_rule_that_is_kept_says_nothing_where_nothing_bounds_the_value():
    """By how much the value can be off was infinite, and could not be written."""
    fitted = LogisticRegression().fit(A, SICK)
    ((problem, row),) = read_fitted(A, SICK, fitted).rows
    certificate = problem.certificate(row.numbers)
    assert row.stop.kept(problem, row, certificate).holds
    assert row.stop.kept(problem, row, replace(certificate, gap=np.inf)) is None


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e-6, 1e-8])
def test_a_verdict_does_not_hang_on_the_unit_of_y(unit):
    """Coefficients of 0 passed at 1e-6 where y is of size 1e-9, and right ones were undecided where it is 1e-7."""
    y, alpha = unit * T, 0.02 * unit
    fitted = Lasso(alpha, tol=1e-12, max_iter=100_000).fit(A, y)
    right = fitted.coef_
    assert pc.verify(A, y, fitted, tol=1e-6).passes()
    for share in (0.0, 0.98):
        fitted.coef_ = share * right
        assert pc.verify(A, y, fitted, tol=1e-4).verdict(0).startswith("not optimal")


DUMMY = (A[:, 3] > 0.8).astype(float)
WITH_DUMMY = np.column_stack([A[:, :2], DUMMY])


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (A, A[:, 0] > 0, "there are coefficients that put every sample on the side of its class"),
        (A, np.digitize(A[:, 0], [-0.5, 0.5]), "every sample"),
        (WITH_DUMMY, (THREE > 0) | (DUMMY > 0), "there are coefficients of feature 2 that put no sample on the side"),
        (WITH_DUMMY, np.where(DUMMY > 0, 2, THREE > 0), "of feature 2 that"),
        (sp.csr_array(WITH_DUMMY), (THREE > 0) | (DUMMY > 0), f"{N - int(DUMMY.sum())} of them on a border"),
    ],
)
def test_separated_classes_have_no_best_coefficients(X, y, said):
    """Whatever the tolerance: the losses fall for ever, from any coefficients. A dummy variable is enough."""
    fitted = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    for tol in (None, 1e-2):
        report = pc.verify(X, y, fitted, tol=tol)
        assert not report.passes()
        assert report.verdict(0) == "not optimal: no minimum is attained"
    assert said in report[0].explain()
    losses = -np.log(fitted.predict_proba(X)[np.arange(N), y.astype(int)]).sum()
    assert report[0].primal_value == pytest.approx(losses)
    assert pc.verify(X, y, LogisticRegression(max_iter=1000).fit(X, y)).passes()


def test_classes_that_overlap_have_best_coefficients():
    """Without the samples of the dummy variable a minimum is attained: nothing separates the others."""
    used = DUMMY == 0.0
    X, y = A[used, :2], THREE[used] > 0
    assert pc.verify(X, y, LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)).passes()


def test_solutions_of_lasso_path_and_enet_path():
    found = lasso_path(A, T, alphas=[0.5, 0.2, 0.05], tol=1e-12)
    report = pc.verify(A, T, found)
    assert (report.passes(), report.tol) == (True, 1e-4)
    assert pc.verify(A, T, found[:2], tol=1e-8).passes()
    assert [row["alpha"] for row in report.records()] == [0.5, 0.2, 0.05]
    for certificate, alpha, w in zip(report, found[0], found[1].T, strict=True):
        mine = ((T - A @ w) ** 2).mean() / 2 + alpha * np.abs(w).sum()
        assert certificate.primal_value == pytest.approx(mine, rel=1e-10)
    moved = found[1].copy()
    moved[0, 1] += 1e-3
    assert pc.verify(A, T, (found[0], moved), tol=1e-8).verdicts == ["optimal", "not optimal", "optimal"]
    other = enet_path(A, T, l1_ratio=0.3, alphas=[0.5, 0.1], tol=1e-12)
    assert pc.verify(A, T, other, l1_ratio=0.3, tol=1e-8).passes()
    lasso = pc.verify(A, T, other)
    assert lasso.verdicts == ["not optimal", "not optimal"]
    assert "of enet_path, give it here, too (0.5 by default)" in lasso[0].explain()
    above = lasso_path(A, T, alphas=[0.1], positive=True, tol=1e-12)
    assert pc.verify(A, T, above, positive=True, tol=1e-8).passes()
    assert not pc.verify(A, T, above, tol=1e-8).passes()
    shared = enet_path(A, TWO, l1_ratio=0.6, alphas=[0.3, 0.1], tol=1e-12)
    assert pc.verify(A, TWO, shared, l1_ratio=0.6, tol=1e-8).passes()
    assert grid_of(found[:1]) is None
    assert grid_of((1.0, 2.0, np.ones(3), 0.0)) is None
    with pytest.raises(pc.InputError, match="nu does not belong to a path at some alphas, l1_ratio and positive do"):
        pc.verify(A, T, found, nu=0.5)
    with pytest.raises(pc.InputError, match="sample_weight must be left out of a path at some alphas"):
        pc.verify(A, T, found, sample_weight=WEIGHT)
    with pytest.raises(pc.InputError, match="X must be what the path was computed of, 4 features, got 3"):
        pc.verify(A[:, :3], T, found)
    with pytest.raises(pc.InputError, match=r"y must hold finite targets of shape \(40,\), got shape \(40, 2\)"):
        pc.verify(A, TWO, found)
    for y, coefs in ((T, found[1]), (TWO, np.zeros((2, D, 3)))):
        with pytest.raises(pc.InputError, match=r"solutions must be alphas and coefs, .*: give \(alphas, coefs\.T\)$"):
            pc.verify(A, y, (found[0], coefs.T))
    with pytest.raises(pc.InputError, match=r"got alphas of shape \(3,\) and coefs of shape \(4, 2\)$"):
        pc.verify(A, T, (found[0], found[1][:, :2]))


@pytest.mark.parametrize("y", [T, TWO, A @ [1.0, -2.0, 0.5, 0.0]], ids=["one", "two", "nearly fitted"])
@pytest.mark.parametrize("asked", [None, 1e-7])
def test_a_path_that_stops_early_is_told_the_tolerance_that_passes(y, asked):
    """Features that are nearly one: coordinate descent takes many rounds."""
    X = A[:, :1] + 0.05 * A
    given = {"alphas": [0.5, 0.02, 0.001]}
    early = pc.verify(X, y, lasso_path(X, y, tol=0.3, **given), tol=asked)
    assert not early.passes()
    first = early[early.first_failure()]
    tol, rounds = re.search(r"Compute the path with tol=(\S+), max_iter=(\d+) to have", first.note).groups()
    assert "Compute the path" in repr(early)
    later = pc.verify(X, y, lasso_path(X, y, tol=float(tol), max_iter=int(rounds), **given), tol=asked)
    assert later.passes()
    assert "Compute the path" not in later[0].explain()
    left = float(tol) * float((y**2).sum()) / len(y)  # at most, by its own rule
    if asked is None:
        assert float(tol) == 1e-4
    else:
        assert left <= asked * min(certificate.scale for certificate in early) * (1.0 + 1e-12)


def test_whatever_samples_are_in():
    fit = Lasso(0.1, **SMALL).fit(A, T)
    assert pc.verify(sp.csr_array(A), T, fit).passes()
    pd = pytest.importorskip("pandas")
    assert pc.verify(pd.DataFrame(A), pd.Series(T), fit).passes()
    far = A + 1e6
    for machine in (Lasso(0.1, **SMALL), SVR(kernel="linear", tol=1e-6), QuantileRegressor(alpha=0.05)):
        assert pc.verify(far, T, clone(machine).fit(far, T)).passes()
    K = pc.RBF(1.0)(A, A)
    assert pc.verify(K, T, SVR(kernel="precomputed").fit(K, T)).passes()
    assert pc.verify(A, T, SVR(kernel=pc.RBF(1.0)).fit(A, T), pc.RBF(1.0)).passes()
    assert pc.verify(A, OneClassSVM().fit(A)).passes()
    assert pc.verify(A, None, OneClassSVM(kernel="poly").fit(A)).passes()
    pipe = make_pipeline(StandardScaler(), Lasso(0.1, **SMALL)).fit(A, T)
    assert pc.verify(A, T, pipe, tol=1e-8).passes()
    some = [Lasso(alpha, **SMALL).fit(A, T) for alpha in (0.1, 0.3)]
    assert pc.verify(A, T, some).values == ({"alpha": 0.1, "l1_ratio": 1.0}, {"alpha": 0.3, "l1_ratio": 1.0})
    weight = np.where(np.arange(N) < 5, 0.0, 1.0)
    for machine, y in ((Lasso(0.1, **SMALL), T), (QuantileRegressor(alpha=0.1), T), (LogisticRegression(), SICK)):
        assert pc.verify(A, y, clone(machine).fit(A, y, sample_weight=weight), sample_weight=weight).passes()


@pytest.mark.parametrize(
    ("fit", "how", "message"),
    [
        (Lasso(), {}, "Lasso must be fitted first: call fit"),
        (Lasso().fit(A[:, :2], T), {}, "X must be what Lasso was fitted on, 2 features, got 4"),
        (Lasso().fit(A, T), {"y": TWO}, r"y must hold finite targets of shape \(40,\), got shape \(40, 2\)"),
        (Lasso().fit(A, T), {"y": None}, "y must be what Lasso was fitted on, got None"),
        (Lasso().fit(A, T), {"kernel": pc.RBF(1.0)}, "kernel must be left out: Lasso is linear, got RBF"),
        (Lasso().fit(A, T), {"sample_weight": np.zeros(N)}, "sample_weight must be positive for some sample"),
        (Lasso().fit(A, T), {"sample_weight": -WEIGHT}, "sample_weight must be nonnegative"),
        (Lasso().fit(A, T), {"between": True}, "between must be False: FittedProblem has no path"),
        (Lasso().fit(A, T), {"l1_ratio": 1.0}, "l1_ratio belongs to a model file only"),
        (SVR().fit(A + 1, T), {}, "X must be what SVR was fitted on: its support vectors are not the rows of X"),
        (SVR().fit(A[:-1], T[:-1]), {}, "X must be what SVR was fitted on, 39 samples, got 40"),
        (SVR().fit(A, T), {"kernel": pc.RBF(7.0)}, "kernel must be that of the model"),
        (SVR().fit(A, T), {"sample_weight": np.arange(N)}, "sample_weight must be positive: LIBSVM leaves out"),
        (LogisticRegression().fit(A, SICK), {"y": T}, "y must hold the classes of LogisticRegression, 'healthy', "),
        (GridSearchCV(Lasso(), {"alpha": [0.1, 0.2]}), {}, "GridSearchCV: it must be fitted, with refit=True, to hold"),
        ([SVC().fit(A, SICK), 3], {"y": SICK}, r"solutions\[1\] must be a fitted estimator like the others, got int"),
    ],
)
def test_what_is_refused(fit, how, message):
    how = dict(how)
    y = how.pop("y", T)
    with pytest.raises(pc.InputError, match=message):
        pc.verify(A, y, fit, **how)


def test_coefficients_that_are_means_over_folds_solve_no_problem():
    folds = LogisticRegressionCV(Cs=2, l1_ratios=(0.0,), refit=False, use_legacy_attributes=False, scoring="accuracy")
    with pytest.raises(pc.InputError, match="LogisticRegressionCV must have refit=True"):
        pc.verify(A, SICK, folds.fit(A, SICK))
    older = LogisticRegression().fit(A, THREE)
    older.multi_class = "ovr"  # as before scikit-learn 1.8
    with pytest.raises(pc.InputError, match=r"judge a model of each class alone, as verify\(X, y == label, "):
        pc.verify(A, THREE, older)
    for label in (0, 1, 2):
        assert pc.verify(A, label == THREE, LogisticRegression().fit(A, label == THREE)).passes()


def test_each_is_judged_at_its_own_tolerance():
    assert own_tolerance(Lasso(tol=1e-6)) == 1e-6
    assert own_tolerance(Lasso(tol=0.5)) == 1e-3
    assert own_tolerance(QuantileRegressor()) == 1e-8
    assert own_tolerance(make_pipeline(StandardScaler(), Lasso(tol=1e-5))) == 1e-5
    fits = [SVC(kernel="linear", tol=tol).fit(A, SICK) for tol in (1e-4, 1e-5)]
    read = read_fitted(A, SICK, fits)
    assert (read.tol, read.hint) == (1e-4, "or it was fitted with sample_weight: give it")
    assert read_fitted(A, SICK, fits[1], None, np.ones(N)).hint == ""
    assert len(list(read.rows)) == 2
    with pytest.raises(pc.InputError, match=r"^solutions\[1\]: SVC must be fitted first"):
        list(read_fitted(A, SICK, [fits[0], SVC()]).rows)
    with pytest.raises(pc.InputError, match=r"^SVC must be fitted first"):
        list(read_fitted(A, SICK, SVC()).rows)


def test_a_model_of_three_classes_is_judged_on_samples_of_all():
    fitted = LogisticRegression().fit(A, THREE)
    with pytest.raises(pc.InputError, match=r"^y must have samples of all classes of the model, \[0, 1, 2\]$"):
        pc.verify(A[THREE > 0], THREE[THREE > 0], fitted)


ALPHAS = {"alpha": [0.1, 0.3]}
UNITS = A * [1.0, 30.0, 0.1, 5.0]
#: Searches, the model that each holds, and the samples as that saw them.
SEARCHES = {
    "search": (GridSearchCV(Lasso(**SMALL), ALPHAS), lambda fit: (fit.best_estimator_, UNITS), T),
    "at random": (
        RandomizedSearchCV(SVC(tol=1e-9), {"C": [1, 2]}, n_iter=2),
        lambda fit: (fit.best_estimator_, UNITS),
        SICK,
    ),
    "halving": (HalvingGridSearchCV(SVC(tol=1e-9), {"C": [1, 2]}), lambda fit: (fit.best_estimator_, UNITS), SICK),
    "at the end of a pipeline": (
        make_pipeline(StandardScaler(), GridSearchCV(Lasso(**SMALL), ALPHAS)),
        lambda fit: (fit[-1].best_estimator_, fit[0].transform(UNITS)),
        T,
    ),
    "of a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), Lasso(**SMALL)), {"lasso__alpha": [0.1, 0.3]}),
        lambda fit: (fit.best_estimator_[-1], fit.best_estimator_[0].transform(UNITS)),
        T,
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_judged_by_the_model_that_it_holds(name):
    machine, held, y = SEARCHES[name]
    fit = clone(machine).fit(UNITS, y)
    report = pc.verify(UNITS, y, fit, tol=1e-6)
    model, seen = held(fit)
    assert report.passes()
    assert report[0].primal_value == pytest.approx(pc.verify(seen, y, model)[0].primal_value, rel=1e-12)
    words = " ".join(repr(model).split())
    step = "the last step of " if name == "of a pipeline" else ""
    assert f"\njudged {step}best_estimator_: {words}\n" in repr(report)
    assert report.records()[0]["model"] == f"{step}best_estimator_: {words}"
    assert own_tolerance(fit) == max(model.tol, 1e-8)
    both = pc.verify(UNITS, y, [clone(model).fit(UNITS, y), fit], tol=1e-6)
    assert f"judged (#1) {step}best_estimator_: " in repr(both)
    model.intercept_ = model.intercept_ + 0.1
    assert pc.verify(UNITS, y, fit, tol=1e-6).verdicts == ["not optimal"]


def test_a_path_that_a_search_holds_is_judged():
    fit = make_pipeline(StandardScaler(), GridSearchCV(LassoLars(), ALPHAS)).fit(UNITS, T)
    report = pc.verify(UNITS, T, fit)
    assert report.passes()
    assert f"Judged best_estimator_: {fit[-1].best_estimator_}. " in report.note


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (Lasso(0.1), T),
        (MultiTaskLasso(0.1), TWO),
        (QuantileRegressor(alpha=0.01), T),
        (LogisticRegression(), SICK),
        (LinearSVC(), SICK),
        (SGDClassifier(alpha=0.1), SICK),
    ],
)
def test_a_model_that_keeps_no_samples_may_have_been_fitted_on_others(machine, y, weighted):
    if weighted and "MultiTask" in repr(machine):
        return
    fit = clone(machine).fit(StandardScaler().fit_transform(UNITS), y)
    report = pc.verify(UNITS, y, fit, sample_weight=np.ones(N) if weighted else None)
    assert report.verdicts == ["not optimal"]
    said = report[0].explain()
    assert "It may have been fitted on other rows of X (was X scaled since?)." in said
    assert ("if fit was given sample_weight" in said) == (not weighted and "MultiTask" not in repr(machine))


def test_a_positive_path_is_told_the_option():
    X, y = A + 0.6 * A[:, :1], T - T.mean()
    found = lasso_path(X, y, alphas=[0.5, 0.2, 0.05], positive=True, tol=1e-12)
    report = pc.verify(X, y, found, tol=1e-8)
    hint = "All coefficients are at least 0: with positive=True 3 of 3 are optimal."
    assert not report.passes()
    assert hint in report[report.first_failure()].explain()
    assert hint in repr(report)
    assert "Compute the path with tol" not in repr(report)
    assert "over w of any sign" in report.note
    right = pc.verify(X, y, found, tol=1e-8, positive=True)
    assert right.passes()
    assert "over w >= 0" in right.note
    plain = lasso_path(X, y, alphas=[0.5, 0.2, 0.05], tol=1e-12)
    plain[1][1] += 0.01
    assert "positive=True" not in repr(pc.verify(X, y, plain, tol=1e-8))  # which makes none right
    wrong = found[0], found[1] + 0.01
    assert "positive=True" not in repr(pc.verify(X, y, wrong, tol=1e-8))


def scores(fit):
    return np.where(SICK == "sick", 1, -1) * fit.decision_function(A)


def hinges(fit):
    return np.maximum(0, 1 - scores(fit))


def square(fit):
    return 0.5 * np.sum(fit.coef_**2)


#: What reports say that a model minimises, and that in numbers, over the scale of the problem that is judged.
SAID = {
    "|w|^2/2 + C sum of hinge losses (the intercept is free)": (
        SVC(kernel="linear", C=0.5),
        lambda fit: square(fit) + 0.5 * hinges(fit).sum(),
    ),
    "|w|^2/2 + b^2/2 + C sum of hinge losses (the intercept is penalised; in SVC it is free: another optimum)": (
        LinearSVC(loss="hinge", C=0.5, max_iter=10**5),
        lambda fit: square(fit) + 0.5 * fit.intercept_[0] ** 2 + 0.5 * hinges(fit).sum(),
    ),
    "|w|^2/2 + (b/3)^2/2 + C sum of squared hinge losses (the intercept is penalised; in SVC it is free: another "
    "optimum)": (
        LinearSVC(intercept_scaling=3.0),
        lambda fit: square(fit) + fit.intercept_[0] ** 2 / 18 + (hinges(fit) ** 2).sum(),
    ),
    "|w|^2/2 + C sum of hinge losses (there is no intercept)": (
        LinearSVC(loss="hinge", fit_intercept=False),
        lambda fit: square(fit) + hinges(fit).sum(),
    ),
    "alpha |w|^2/2 + sum of hinge losses / n (the intercept is free)": (
        SGDClassifier(alpha=0.1, max_iter=10**4, tol=1e-6),
        lambda fit: (0.1 * square(fit) + hinges(fit).mean()) / 0.1,
    ),
    "|w|^2/2 + b^2/2 + C sum of logistic losses (the intercept is penalised; with other solvers it is free: another "
    "optimum)": (
        LogisticRegression(solver="liblinear"),
        lambda fit: square(fit) + fit.intercept_[0] ** 2 / 2 + np.log1p(np.exp(-scores(fit))).sum(),
    ),
    "0.3 |w|_1 + 0.35 |w|^2 + C sum of logistic losses (the intercept is free)": (
        LogisticRegression(l1_ratio=0.3, C=2.0, solver="saga", max_iter=10**4),
        lambda fit: 0.3 * np.abs(fit.coef_).sum() + 0.7 * square(fit) + 2 * np.log1p(np.exp(-scores(fit))).sum(),
    ),
}


@pytest.mark.parametrize("words", SAID)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_report_names_the_objective_that_it_judges(words):
    machine, numbers = SAID[words]
    fit = clone(machine)
    if not isinstance(fit, SVC):
        fit.set_params(random_state=0)
    report = pc.verify(A, SICK, fit.fit(A, SICK))
    assert report[0].primal_value == pytest.approx(numbers(fit), rel=1e-9)
    assert repr(report).endswith(f"\nobjective of {type(fit).__name__}: {words}")
    assert report.records()[0]["objective"] == words


def test_objectives_of_several_models_are_named_once():
    fits = [SVC(C=C).fit(A, SICK) for C in (1.0, 2.0)] + [NuSVC(class_weight={"sick": 2}).fit(A, SICK)]
    fits.append(LinearSVC(class_weight="balanced").fit(A, SICK))
    said = pc.verify(A, SICK, fits).note.splitlines()
    assert len(said) == 3
    assert said[0].startswith("objective (#0, #1) of SVC: ")
    assert "class_weight" not in said[1]  # NuSVC ignores it
    assert said[2].endswith(", losses weighted by class_weight")
    weighted = pc.verify(A, SICK, LogisticRegression().fit(A, SICK, WEIGHT), sample_weight=WEIGHT)
    assert weighted.note.endswith("losses weighted by sample_weight")
    many = replace(weighted, models=[JudgedModel("Model", "", f"objective {k}") for k in range(25)])
    assert many.note.splitlines()[-1] == "... and 5 more: to_frame() has all"
    shared = pc.verify(A, TWO, lasso_path(A, TWO, alphas=[0.1]))
    assert "alpha sum of |w_j|, w_j the coefficients of feature j" in shared.note


@pytest.mark.parametrize(
    ("machine", "y", "why"),
    [
        (RandomForestClassifier(2), SICK, "it combines other models, and minimises no one convex function"),
        (DecisionTreeClassifier(), SICK, "a tree is grown split by split"),
        (KNeighborsClassifier(), SICK, "it compares distances to stored samples"),
        (MLPClassifier(max_iter=2), SICK, "its loss is not convex in its weights"),
        (GaussianNB(), SICK, "it is computed in closed form"),
        (GaussianProcessRegressor(), T, "its kernel's parameters maximise a marginal likelihood"),
        (Perceptron(), SICK, "is least where w = 0 and b = 0"),
        (Lars(), T, "its steps of least angles minimise no function on their way"),
        (Ridge(), T, "state what it minimises as a cvxpy.Problem"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_that_is_not_judged_is_told_why(machine, y, why):
    fit = clone(machine).fit(A, y)
    with pytest.raises(pc.InputError, match=rf", got {type(fit).__name__}: .*{re.escape(why)}") as error:
        pc.verify(A, y, fit)
    assert ("cvxpy.Problem" in str(error.value)) == isinstance(fit, Ridge)


def test_a_path_among_other_models_is_asked_for_alone():
    fits = [Lasso(0.1).fit(A, T), LassoLars(0.1).fit(A, T)]
    with pytest.raises(
        pc.InputError, match=r"^solutions\[1\]: .* got LassoLars: give it alone, fitted with fit_path=True"
    ):
        pc.verify(A, T, fits)
    assert pc.verify(A, T, fits[1]).passes()


def test_what_is_judged_in_its_place():
    """Each remedy, as the refusal has it."""

    def remedy(fit, y):
        with pytest.raises(pc.InputError) as error:
            pc.verify(A, y, fit)
        return str(error.value)

    y, model = THREE, OneVsRestClassifier(LogisticRegression()).fit(A, THREE)
    call = "verify(X, (y == model.classes_[k]).astype(int), model.estimators_[k])"
    assert remedy(model, y).endswith(call)
    names = {"verify": pc.verify, "X": A, "np": np, "cp": cp}
    assert all(eval(call, {**names, "y": y, "model": model, "k": k}).passes() for k in range(3))
    y, model = TWO, MultiOutputRegressor(Lasso(0.1)).fit(A, TWO)
    call = "verify(X, y[:, k], model.estimators_[k])"
    assert remedy(model, y).endswith(call)
    assert all(eval(call, {**names, "y": y, "model": model, "k": k}).passes() for k in range(2))
    y = np.exp(0.1 * T)
    model = TransformedTargetRegressor(Lasso(0.01), func=np.log, inverse_func=np.exp).fit(A, y)
    call = "verify(X, model.transformer_.transform(y.reshape(-1, 1)).ravel(), model.regressor_)"
    assert remedy(model, y).endswith(call)
    assert eval(call, {**names, "y": y, "model": model}).passes()
    y, model = SICK, FixedThresholdClassifier(LogisticRegression()).fit(A, SICK)
    call = "verify(X, y, model.estimator_)"
    assert remedy(model, y).endswith(call)
    assert eval(call, {**names, "y": y, "model": model}).passes()
    order = np.argsort(A[:, 0])
    x, y = A[order, 0], T[order]
    model, u = IsotonicRegression().fit(x, y), cp.Variable(N, name="u")
    call = "verify(cp.Problem(cp.Minimize(cp.sum_squares(u - y)), [cp.diff(u) >= 0]), {'u': model.predict(x)})"
    with pytest.raises(pc.InputError, match=re.escape(call)):
        pc.verify(x[:, None], y, model)
    assert eval(call, {**names, "x": x, "y": y, "model": model, "u": u}).passes()
    model = BayesianRidge().fit(A, T)
    assert "are those of Ridge(alpha=model.lambda_ / model.alpha_)" in remedy(model, T)
    assert model.coef_ == pytest.approx(Ridge(alpha=model.lambda_ / model.alpha_).fit(A, T).coef_, abs=1e-12)
