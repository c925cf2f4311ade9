"""The trade-off curve through a kernel: against the equations of the Gram alone, CVXPY, and explicit features."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.distributions.gaussian.kernelised import KernelTradeoff
from tests.distributions.gaussian.test_span import forms, root

KERNELS = {"rbf": pc.RBF(1.2), "poly": pc.Polynomial(2), "precomputed": "precomputed"}
REG = {"one": (0.05, 0.05), "two": (0.02, 0.3)}


def data(seed=0, n=24, d=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def made(kernel, reg, seed=0, **options):
    X, y = data(seed)
    Z = X @ X.T if kernel == "precomputed" else X
    return pc.gaussian_tradeoff(Z, y, kernel=kernel, reg=reg, **options), Z, y


@pytest.mark.parametrize("reg", REG.values(), ids=REG)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_members_solve_the_equation_of_the_gram(kernel, reg):
    """One linear system in the coefficients, from the Gram alone; distances and intercept from the paper's forms."""
    tradeoff, Z, y = made(kernel, reg)
    G = pc.Gram(Z, None if kernel is None else kernel).matrix
    F_plus, F_minus, _, J_plus, J_minus, g = forms(G, y, reg)
    for phi in np.linspace(tradeoff.family.start, tradeoff.family.start + tradeoff.family.width, 15)[1:-1]:
        point = tradeoff._point(tradeoff.family.at(tradeoff.family.position(phi)))
        t = np.array([np.cos(phi), np.sin(phi)])
        left = (t[0] * J_plus + t[1] * J_minus) @ G + (t @ np.array(reg)) * np.eye(len(y))
        alpha = np.linalg.solve(left, g)
        scale = np.linalg.norm(G @ point.coef) / np.linalg.norm(G @ alpha)
        if t @ np.array(reg) > 0:  # else a singular Gram leaves them some freedom
            np.testing.assert_allclose(point.coef, scale * alpha, atol=1e-9 * np.abs(point.coef).max())
        deviations = np.sqrt(alpha @ F_plus @ alpha), np.sqrt(alpha @ F_minus @ alpha)
        assert point.u_plus == pytest.approx(t[0] * deviations[0], rel=1e-8)
        assert point.u_minus == pytest.approx(t[1] * deviations[1], rel=1e-8)
        # The paper's threshold, d* being u_plus: b = alpha G g_plus - d* sqrt(alpha F_plus alpha). Ours is minus that.
        threshold = alpha @ G @ (np.maximum(y, 0) / (y > 0).sum()) - point.u_plus * deviations[0]
        assert point.b == pytest.approx(-scale * threshold, abs=1e-9)
        expected = scale * (G @ alpha - threshold)
        np.testing.assert_allclose(point.classifier.decision_function(Z), expected, atol=1e-8)
        assert tradeoff.spans(point) == (t @ np.array(reg) > 0)


@pytest.mark.parametrize("reg", REG.values(), ids=REG)
@pytest.mark.parametrize("kernel", [KERNELS["rbf"], KERNELS["poly"]], ids=["rbf", "poly"])
@pytest.mark.parametrize("lam", [0.3, 1.0, 4.0])
def test_problem_13_as_printed(kernel, reg, lam):
    tradeoff, X, y = made(kernel, reg)
    G = pc.Gram(X, kernel).matrix
    F_plus, F_minus, c, *_ = forms(G, y, reg)
    s, V = np.linalg.eigh(G)
    V = V[:, s > 1e-9 * s[-1]]
    alpha = V @ cp.Variable(V.shape[1])
    objective = cp.norm(root(F_plus) @ alpha) + lam * cp.norm(root(F_minus) @ alpha)
    problem = cp.Problem(cp.Minimize(objective), [c @ alpha == 1])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert tradeoff.at_weight(lam).u_plus == pytest.approx(1 / problem.value, rel=1e-7)


def test_it_agrees_with_the_formulations():
    tradeoff, X, y = made(pc.RBF(1.2), (0.02, 0.3))
    new = data(5)[0]
    for mine, theirs in (
        (tradeoff.at_weight(2.0), pc.ParetoGaussian(X, y, pc.RBF(1.2), reg=(0.02, 0.3)).solve(2.0)),
        (tradeoff.minimax(), pc.MinimaxProbabilityMachine(X, y, pc.RBF(1.2), reg=(0.02, 0.3)).solve()),
    ):
        scores = [each.classifier.decision_function(new) for each in (mine, theirs)]
        scores = [each / np.linalg.norm(each) for each in scores]
        np.testing.assert_allclose(scores[0], scores[1], atol=1e-8)
    m = tradeoff.moments
    outer = pc.SProcedure.from_moments(m.mu_plus, m.Sigma_plus, m.mu_minus, m.Sigma_minus)
    at = outer.distances(outer.at_rate(tnr=0.2))
    assert tradeoff.at_rate(tnr=0.2).u_plus == pytest.approx(at.u_plus, rel=1e-6)


def test_no_classifier_in_the_span_is_above_the_curve():
    """20 000 draws of coefficients: linear in the features of the factor, judged by the paper's forms alone."""
    tradeoff, X, y = made(pc.RBF(1.2), (0.05, 0.05))
    F_plus, F_minus, c, *_ = forms(pc.Gram(X, pc.RBF(1.2)).matrix, y, (0.05, 0.05))
    curve = tradeoff.curve(400)
    rng = np.random.default_rng(0)
    near = curve.coef[rng.integers(0, 400, 10_000)]
    near = near + 0.1 * np.abs(near).max(axis=1)[:, None] * rng.normal(size=near.shape)
    alpha = np.vstack([rng.normal(size=(10_000, len(y))), near])
    spread = [np.sqrt(np.einsum("ij,jk,ik->i", alpha, F, alpha)) for F in (F_plus, F_minus)]
    for u_minus in (-1.5, -0.3, 0.0, 0.5, 1.0):
        u_plus = (alpha @ c - u_minus * spread[1]) / spread[0]
        best = np.interp(u_minus, curve.u_minus, curve.u_plus)
        assert u_plus.max() <= best + 1e-3  # the curve is drawn through 400 points
        assert u_plus.max() > best - 2.0


@given(seed=st.integers(0, 99), degree=st.integers(1, 2))
def test_a_kernel_is_its_explicit_features(seed, degree):
    X, y = data(seed, n=30)
    a, b = X.T
    r = np.sqrt(2)
    features = np.column_stack([np.ones(30), r * a, r * b, a**2, b**2, r * a * b]) if degree == 2 else X
    kernel = pc.Polynomial(2) if degree == 2 else "linear"
    through = pc.gaussian_tradeoff(X, y, kernel=kernel, reg=0.2)
    explicit = pc.gaussian_tradeoff(features, y, reg=0.2)
    assert through.auc == pytest.approx(explicit.auc, rel=1e-9)
    for tnr in (0.1, 0.7):
        points = through.at_rate(tnr=tnr), explicit.at_rate(tnr=tnr)
        assert points[0].u_plus == pytest.approx(points[1].u_plus, rel=1e-8)
        scores = points[0].classifier.decision_function(X), points[1].classifier.decision_function(features)
        np.testing.assert_allclose(scores[0], scores[1], atol=1e-7)


@pytest.mark.parametrize("options", [{"reg": 0.1}, {"reg": (0.01, 0.4), "shrinkage": (0.3, 0.1)}, {"shrinkage": "oas"}])
@pytest.mark.parametrize("low_rank", [None, 8])
def test_coefficients_imply_the_slopes(options, low_rank):
    """With shrinkage and low-rank features, too; along the whole curve."""
    X, y = data(3, n=40)
    tradeoff = pc.gaussian_tradeoff(X, y, kernel=pc.RBF(1.0), low_rank=low_rank, **options)
    curve = tradeoff.curve(50)
    scale = np.abs(curve.w).max(axis=1)[:, None]
    np.testing.assert_allclose(curve.coef @ tradeoff.gram.factor / scale, curve.w / scale, atol=1e-8)
    new = data(4)[0]
    scores = np.array([curve.point(j).classifier.decision_function(new) for j in range(50)])
    np.testing.assert_allclose(curve.scores(new), scores, atol=1e-9 * np.abs(scores).max())


def test_beyond_the_span():
    """Tight negatives, and a ridge of theirs that is large against that of the positives: the span is not enough."""
    X, y = data(1)
    X = np.where(y[:, None] > 0, 3 * X, 0.05 * X)
    tradeoff = pc.gaussian_tradeoff(X, y, kernel=lambda A, B: A @ B.T, reg=(1e-3, 1.0))
    assert tradeoff.spans(tradeoff.minimax())
    far = tradeoff.at_rate(tnr=1e-3)
    assert not tradeoff.spans(far)
    np.testing.assert_allclose(far.coef @ tradeoff.gram.factor, far.w, atol=1e-9)
    # A direction that no sample has: variances 1e-3 and 1, equal means. It is better, and no kernel value shows it.
    assert -far.u_minus * np.sqrt(1.0 / 1e-3) > far.u_plus


def test_points_are_certified_in_the_features_of_the_factor():
    tradeoff, *_ = made(pc.RBF(1.2), (0.02, 0.3))
    for point in (tradeoff.minimax(), tradeoff.at_rate(tnr=0.2), tradeoff.at_rate(tpr=0.1), tradeoff.A, tradeoff.B):
        assert tradeoff.certificate(point).passes(1e-9)


def test_a_curve_is_a_family_for_held_out_rates():
    X, y = data(2, n=60)
    found = pc.empirical_tradeoff(
        X, y, lambda A, b: pc.gaussian_tradeoff(A, b, kernel=pc.RBF(1.0), reg=0.05).curve(100), splits=3
    )
    for part, area in zip(found.parts, found.areas, strict=True):
        train = np.setdiff1d(np.arange(60), part.test)
        curve = pc.gaussian_tradeoff(X[train], y[train], kernel=pc.RBF(1.0), reg=0.05).curve(3000)
        labels = curve.scores(X[part.test]) >= 0
        tpr, fpr = (labels[:, y[part.test] == sign].mean(axis=1) for sign in (1, -1))
        assert area == pytest.approx(-np.trapezoid(np.r_[1, tpr, 0], np.r_[1, fpr, 0]), abs=0.03)


def test_the_whole_family_has_one_type():
    tradeoff, X, _ = made(pc.RBF(1.2), 0.05)
    assert isinstance(tradeoff, KernelTradeoff)
    robust = tradeoff.judged_by(pc.rates.ChebyshevRate())
    assert isinstance(robust, KernelTradeoff)
    assert "24 samples, RBF(bandwidth=1.2)" in repr(robust)
    constant = tradeoff.best((1.0, 0.0))
    assert (constant.classifier.predict(X) == 1).all()
    assert tradeoff.best((1.0, 1.0)).cost < 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: pc.gaussian_tradeoff(X, y, kernel=pc.RBF(1.0)), "reg must be positive"),
        (lambda X, y: pc.gaussian_tradeoff(X, y, kernel=pc.RBF(1.0), reg=-1), "reg must be nonnegative"),
        (lambda X, y: pc.gaussian_tradeoff(X, y, kernel=pc.RBF(1.0), shrinkage=2), "shrinkage must be"),
        (lambda X, y: pc.gaussian_tradeoff(X, y, low_rank=3), "low_rank must be left out without a kernel"),
        (lambda X, y: pc.gaussian_tradeoff(X, y, kernel="precomputed", reg=1), "square kernel matrix"),
        (lambda X, y: pc.gaussian_tradeoff(X, y[1:], kernel=pc.RBF(1.0), reg=1), "one label per sample"),
        (
            lambda X, y: pc.gaussian_tradeoff(pc.Moments.from_samples(X, y), kernel=pc.RBF(1.0)),
            "kernel must not be given with moments",
        ),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(pc.InputError, match=message):
        make(*data())
