"""Kernel variants: problem (13) of Kim et al. (2006) as printed, explicit features, and data sets."""

from __future__ import annotations

import os

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.span import coefficients
from tests.oracles.gaussian_pairs import Pencil

KERNELS = {"rbf": pc.RBF(1.2), "poly": pc.Polynomial(2), "linear": None}
REG = {"one": (0.05, 0.05), "two": (0.02, 0.3)}


def test_the_coefficients_without_their_scale(gaussians):
    """Two ridges and a weight far from 1: each coefficient, and the slope they imply, not only its direction."""
    X, y = gaussians(n=30, d=2, seed=4)
    problem = pc.ParetoGaussian(X, y, pc.RBF(1.0), reg=(0.02, 0.3))
    a = problem.solve(lam=4.0).numbers["w"]
    weights = (1.0, problem.ratio({"lam": 4.0}, a))
    a = a / (a @ problem.moments.delta)
    k = np.dot(weights, np.square(problem.moments.spread(a)))
    coef = coefficients(problem.gram, problem.y, a, k, weights, problem.reg)
    np.testing.assert_allclose(problem.gram.factor.T @ coef, a, atol=1e-7 * np.abs(a).max())


def forms(G, y, reg):
    """F_plus, F_minus, G (g_plus - g_minus), J_plus J_plus', J_minus J_minus', g_plus - g_minus of section 6.2."""
    n = len(y)
    J, g = {}, np.zeros(n)
    for sign in (1, -1):
        m = int((y == sign).sum())
        block = np.ix_(y == sign, y == sign)
        J[sign] = np.zeros((n, n))
        J[sign][block] = (np.eye(m) - np.ones((m, m)) / m) / np.sqrt(m)
        g += sign * (y == sign) / m
    F = {sign: G @ J[sign] @ J[sign].T @ G + delta * G for sign, delta in zip((1, -1), reg, strict=True)}
    return F[1], F[-1], G @ g, J[1] @ J[1].T, J[-1] @ J[-1].T, g


def root(F):
    s, V = np.linalg.eigh(F)
    return np.sqrt(np.maximum(s, 0))[:, None] * V.T


@pytest.mark.parametrize("reg", REG.values(), ids=REG)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("form", ["dual", "primal"])
def test_problem_13_as_printed(gaussians, kernel, reg, form):
    """A separate program in the coefficients alone, from the Gram alone; its value is ours to solver accuracy."""
    X, y = gaussians(n=24, d=2)
    G = pc.Gram(X, kernel).matrix
    F_plus, F_minus, c, *_ = forms(G, y, reg)
    s, V = np.linalg.eigh(G)
    V = V[:, s > 1e-9 * s[-1]]  # a null space of G moves neither objective nor constraint, and stops the solver
    alpha = V @ cp.Variable(V.shape[1])
    objective = cp.norm(root(F_plus) @ alpha) + 1.5 * cp.norm(root(F_minus) @ alpha)
    program = cp.Problem(cp.Minimize(objective), [c @ alpha == 1])
    program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    solution = pc.ParetoGaussian(X, y, kernel, reg=reg).solve(lam=1.5, form=form)
    assert solution.certificate.passes(1e-8)
    assert solution.value == pytest.approx(program.value, rel=1e-6)


@pytest.mark.parametrize("reg", REG.values(), ids=REG)
@pytest.mark.parametrize("kernel", [pc.RBF(1.2), pc.Polynomial(2)], ids=["rbf", "poly"])
def test_the_coefficients_solve_problem_13(gaussians, kernel, reg):
    """F and J at our coefficients: variances, normalisation, the closed curve and the threshold of section 6.2."""
    X, y = gaussians(n=40, d=2, seed=1)
    problem = pc.ParetoGaussian(X, y, kernel, reg=reg)
    solution = problem.solve(lam=0.7)
    alpha, t = solution.classifier.coef, solution.numbers["t"]
    G = pc.Gram(X, kernel).matrix
    F_plus, F_minus, c, JJ_plus, JJ_minus, g = forms(G, y, reg)
    assert c @ alpha == pytest.approx(1.0, rel=1e-7)
    plus, minus = np.sqrt(alpha @ F_plus @ alpha), np.sqrt(alpha @ F_minus @ alpha)
    assert plus + 0.7 * minus == pytest.approx(solution.value, rel=1e-7)
    assert t == pytest.approx(0.7 * plus / minus, rel=1e-7)
    closed = np.linalg.solve((JJ_plus + t * JJ_minus) @ G + (reg[0] + t * reg[1]) * np.eye(len(y)), g)
    np.testing.assert_allclose(alpha, closed / (c @ closed), atol=1e-6 * np.abs(alpha).max())
    threshold = alpha @ G @ (np.where(y > 0, 1, 0) / (y > 0).sum()) - plus / solution.value
    assert solution.classifier.b == pytest.approx(-threshold, rel=1e-6)
    new = gaussians(n=30, d=2, seed=2)[0]
    scores = kernel(new, X) @ alpha - threshold
    np.testing.assert_allclose(solution.classifier.decision_function(new), scores, atol=1e-8 * np.abs(scores).max())


MACHINES = {
    "socp": (pc.ParetoGaussian, {"lam": 2.0}),
    "qp": (pc.formulations.ParetoGaussianQP, {"t": 0.5}),
    "mpm": (pc.MinimaxProbabilityMachine, {}),
    "biased": (pc.formulations.BiasedMinimaxProbabilityMachine, {"u_plus": 0.4}),
    "mempm": (pc.MEMPM, {"theta": 0.5}),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_linear_kernel_is_the_linear_model(gaussians, machine):
    """Through its Gram alone: the same value, rates and decisions."""
    cls, values = MACHINES[machine]
    X, y = gaussians(n=40, d=3)
    new = gaussians(n=20, d=3, seed=3)[0]
    linear = cls(X, y, reg=0.1).solve(**values)
    through = cls(X @ X.T, y, "precomputed", reg=0.1).solve(**values)
    assert through.value == pytest.approx(linear.value, rel=1e-8)
    assert through.numbers["u_plus"] == pytest.approx(linear.numbers["u_plus"], rel=1e-6, abs=1e-9)
    expected = linear.classifier.decision_function(new)
    found = through.classifier.decision_function(new @ X.T)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("low_rank", [None, 6])
def test_a_kernel_is_its_explicit_features(gaussians, machine, low_rank):
    """(x . z + 1)^2 in one dimension less: 1, sqrt 2 x_i, x_i^2, sqrt 2 x_1 x_2; with low_rank=6 the same six."""
    cls, values = MACHINES[machine]
    X, y = gaussians(n=40, d=2)
    new = gaussians(n=20, d=2, seed=3)[0]

    def features(Z):
        r = np.sqrt(2)
        a, b = Z.T
        return np.column_stack([np.ones(len(Z)), r * a, r * b, a**2, b**2, r * a * b])

    explicit = cls(features(X), y, reg=0.2).solve(**values)
    implicit = cls(X, y, pc.Polynomial(2), reg=0.2, low_rank=low_rank).solve(**values)
    assert implicit.value == pytest.approx(explicit.value, rel=1e-7)
    expected = explicit.classifier.decision_function(features(new))
    np.testing.assert_allclose(implicit.classifier.decision_function(new), expected, atol=1e-5 * np.abs(expected).max())
    assert implicit.certificate.passes(1e-8)


def test_without_a_ridge_where_the_features_are_few(gaussians):
    """Coefficients of least norm: two features, an unregularised covariance."""
    X, y = gaussians(n=40, d=2)
    linear = pc.ParetoGaussian(X, y).solve(1.0)
    through = pc.ParetoGaussian(X @ X.T, y, "precomputed").solve(1.0)
    expected = linear.classifier.decision_function(X)
    np.testing.assert_allclose(through.classifier.decision_function(X @ X.T), expected, atol=1e-8)


def test_sparse_samples_are_samples(gaussians):
    X, y = gaussians(n=40, d=3)
    dense = pc.ParetoGaussian(X, y, pc.RBF(2.0), reg=0.1).solve(1.0)
    sparse = pc.ParetoGaussian(sp.csr_array(X), y, pc.RBF(2.0), reg=0.1).solve(1.0)
    assert sparse.value == pytest.approx(dense.value, rel=1e-9)
    linear = pc.ParetoGaussian(sp.csr_array(X), y).solve(1.0)
    np.testing.assert_allclose(linear.classifier.w, pc.ParetoGaussian(X, y).solve(1.0).classifier.w, rtol=1e-8)


@pytest.mark.parametrize("reg", [1e-8, 1e-4, 1.0, 1e4])
def test_small_and_large_ridges(gaussians, reg):
    X, y = gaussians(n=40, d=2)
    problem = pc.ParetoGaussian(X, y, pc.RBF(1.0), reg=reg)
    solution = problem.solve(1.0)
    assert solution.certificate.passes(1e-7)
    scores = solution.classifier.decision_function(X)
    inside = problem.gram.factor @ solution.numbers["w"] + solution.classifier.b
    np.testing.assert_allclose(scores, inside, atol=1e-6 * np.abs(inside).max())


def test_a_large_ridge_is_the_nearest_mean_classifier(gaussians):
    X, y = gaussians(n=40, d=3)
    w = pc.ParetoGaussian(X, y, reg=1e9).solve(1.0).classifier.w
    delta = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    np.testing.assert_allclose(w / np.linalg.norm(w), delta / np.linalg.norm(delta), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: pc.ParetoGaussian(X, y, pc.RBF(1.0)), "reg must be positive: the covariance of the positives"),
        (lambda X, y: pc.MinimaxProbabilityMachine(X, y, pc.RBF(1.0), reg=-0.1), "reg must be nonnegative and finite"),
        (lambda X, y: pc.MEMPM(X, y, pc.RBF(1.0), reg=(0.1, -0.1)), "reg must be nonnegative and finite"),
        (lambda X, y: pc.ParetoGaussian(X, y, "precomputed", reg=0.1), "X must be a square kernel matrix"),
    ],
)
def test_bad_input_is_refused(gaussians, make, message):
    with pytest.raises(pc.InputError, match=message):
        make(*gaussians(n=40, d=2))


# Real data.


def hold(X, y, reg, kernel=None):
    """Every formulation on one data set: certified, and MEMPM no worse than MPM, both promising what they reach."""
    lams = (0.2, 1.0, 5.0)
    curve = pc.sweep(pc.ParetoGaussian(X, y, kernel, reg=reg), lam=lams)
    assert curve.worst < 1e-7
    u = np.array([(s.numbers["u_minus"], s.numbers["u_plus"]) for s in curve])
    np.testing.assert_allclose(u[:, 0] / u[:, 1], lams, rtol=1e-6)
    assert (np.diff(u[:, 0]) > 0).all()
    assert (np.diff(u[:, 1]) < 0).all()
    mpm = pc.MinimaxProbabilityMachine(X, y, kernel, reg=reg).solve()
    mempm = pc.MEMPM(X, y, kernel, reg=reg).solve(theta=0.5)
    assert mpm.certificate.passes(1e-7)
    assert mempm.certificate.passes(1e-7)
    assert -mempm.value >= mpm.numbers["guarantee"] - 1e-9
    predicted = mpm.classifier.predict(X)
    # The guarantee is about distributions with these moments, and the sample is one of them (before the ridge).
    for sign in (1, -1):
        assert np.mean(predicted[y == sign] == sign) >= mpm.numbers["guarantee"] - 1e-9
    if kernel is None:
        outer = pc.SProcedure(X, y, reg=reg)
        solution = outer.at_rate(tnr=0.2)
        assert solution.certificate.passes(1e-7)
        assert outer.distances(solution).tnr == pytest.approx(0.2, rel=1e-6)
    return mpm


def standardised(X):
    X = X[:, X.std(axis=0) > 0]  # ionosphere has a constant column
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("scale", ["raw", "standardised"])
def test_wdbc(scale):
    data = pc.datasets.load("wdbc")
    X = data.X if scale == "raw" else standardised(data.X)
    mpm = hold(X, data.y, reg=0.0)
    # In any units the same classifier, from a generalised eigenproblem in standardised ones.
    Z = standardised(data.X)
    classes = [Z[data.y == sign] for sign in (1, -1)]
    pencil = Pencil(
        *(part(c) for c in classes for part in (lambda c: c.mean(axis=0), lambda c: np.cov(c.T, bias=True)))
    )
    _, (u_minus, u_plus) = pencil.at(pencil.of_weight(1.0))
    assert mpm.numbers["u_plus"] == pytest.approx(u_plus, rel=1e-6)
    assert mpm.numbers["u_minus"] == pytest.approx(u_minus, rel=1e-6)


def test_wdbc_with_a_kernel():
    data = pc.datasets.load("wdbc", n=150, rng=0)
    X = standardised(data.X)
    hold(X, data.y, reg=0.01, kernel=pc.RBF.median(X))


@pytest.mark.skipif(not os.environ.get("PARETOCLF_DATA"), reason="PARETOCLF_DATA is not set")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["sonar", "ionosphere", "pima", "bupa"])
def test_the_data_of_the_papers(name, kernel):
    some = {"n": 200, "rng": 0} if kernel == "rbf" else {}
    data = pc.datasets.load(name, data_dir=os.environ["PARETOCLF_DATA"], **some)
    X = standardised(data.X)
    hold(X, data.y, reg=1e-3, kernel=None if kernel == "linear" else pc.RBF.median(X))


def test_moments_of_the_features_are_those_of_the_samples(gaussians):
    X, y = gaussians(n=40, d=3)
    through = pc.ParetoGaussian(X, y, reg=0.1).moments
    direct = Moments.from_samples(X, y, 0.1)
    np.testing.assert_allclose(through.Sigma_plus, direct.Sigma_plus)
