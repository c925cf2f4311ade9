"""Sixty textbook problems with parameters, each small, and values to change these to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

import paretoclf as pc


@dataclass
class Example:
    """A problem, other values of its parameters, and whether its multipliers are unique."""

    problem: cp.Problem
    other: dict[Any, Any] = field(default_factory=dict)
    unique: bool = True
    again: bool = True


def data(seed=0, n=8, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    b = X @ np.array([1.0, -2.0, 0.5])[:d] + rng.normal(size=n)
    return rng, X, b, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def positive(value, name="lam"):
    return cp.Parameter(nonneg=True, value=value, name=name)


def spd(rng, n):
    M = rng.normal(size=(n, n))
    return M @ M.T + np.eye(n)


def regressions():
    _, X, b, _ = data()
    w, c, lam = cp.Variable(3, name="w"), cp.Variable(name="c"), positive(1.5)
    target = cp.Parameter(8, value=b, name="target")
    moved = {lam: 0.7, target: b + 0.3}
    r = X @ w - target
    losses = {
        "ridge": cp.sum_squares(r) + lam * cp.sum_squares(w),
        "lasso": cp.sum_squares(r) / 2 + lam * cp.norm1(w),
        "elastic net": cp.sum_squares(r) / 2 + lam * cp.norm1(w) + cp.sum_squares(w),
        "square-root lasso": cp.norm2(r) + lam * 0.2 * cp.norm1(w),
        "group lasso": cp.sum_squares(r) / 2 + lam * (cp.norm2(w[:2]) + cp.norm2(w[2:])),
        "least absolute deviations": cp.norm1(r - c),
        "quantile": cp.sum(cp.maximum(0.3 * r, -0.7 * r)) + lam * cp.sum_squares(w),
        "Chebyshev": cp.norm_inf(r),
        "huber": cp.sum(cp.huber(r, 0.8)) + lam * cp.norm2(w),
        "fused": cp.sum_squares(r) + lam * cp.tv(w),
        "epsilon-insensitive": cp.sum(cp.pos(cp.abs(r) - 0.3)) + lam * cp.sum_squares(w),
        "cubic": cp.sum(cp.power(cp.abs(r), 3)) + lam * cp.norm1(w),
        "quartic": cp.sum(cp.power(r, 4)) + lam * cp.norm_inf(w),
        "largest three": cp.sum_largest(cp.abs(r), 3) + cp.sum_squares(w),
        "p = 1.5": cp.pnorm(r, 1.5, approx=False) + lam * cp.norm2(w),
    }
    return {name: Example(cp.Problem(cp.Minimize(loss)), moved) for name, loss in losses.items()}


def classifiers():
    _, X, _, y = data(1)
    w, c, C = cp.Variable(3, name="w"), cp.Variable(name="c"), positive(2.0, "C")
    W = cp.Variable((3, 2), name="W", bounds=[-1, 1])
    margin = cp.multiply(y, X @ w + c)
    xi = cp.Variable(8, nonneg=True, name="xi")
    soft = (margin >= 1 - xi).set_label("margin")
    half = cp.sum_squares(w) / 2
    return {
        "hinge": Example(cp.Problem(cp.Minimize(half + C * cp.sum(cp.pos(1 - margin)))), {C: 0.4}),
        "slacks": Example(cp.Problem(cp.Minimize(half + C * cp.sum(xi)), [soft]), {C: 0.4}, unique=False),
        "squared hinge": Example(cp.Problem(cp.Minimize(half + C * cp.sum_squares(cp.pos(1 - margin)))), {C: 0.4}),
        "logistic": Example(cp.Problem(cp.Minimize(half + C * cp.sum(cp.logistic(-margin)))), {C: 0.4}),
        "exponential loss": Example(cp.Problem(cp.Minimize(half + C * cp.sum(cp.exp(-margin)))), {C: 0.4}),
        "norm ball": Example(
            cp.Problem(cp.Minimize(cp.sum(cp.logistic(-margin))), [(cp.norm2(w) <= C).set_label("ball")]), {C: 0.5}
        ),
        "multinomial": Example(cp.Problem(cp.Minimize(C * cp.sum(cp.log_sum_exp(X @ W, axis=1)))), {C: 3.0}),
    }


def programs():
    rng, _, _, _ = data(2)
    A, x = np.abs(rng.normal(size=(3, 4))) + 0.1, cp.Variable(4, name="x")
    b, cost = cp.Parameter(3, value=np.ones(3), name="b"), cp.Parameter(4, value=[1.0, 2.0, 1.5, 3.0], name="cost")
    cover, sign = (A @ x >= b).set_label("cover"), (x >= 0).set_label("sign")
    box = cp.Variable(4, bounds=[0.1, 2.0], name="box")
    partly = cp.Variable(3, bounds=[np.array([0.0, -np.inf, -1.0]), np.array([np.inf, np.inf, 0.5])], name="partly")
    Q, mu = spd(rng, 4), np.array([1.0, 0.5, 0.8, 1.2])
    risk = positive(2.0, "risk")
    budget = (cp.sum(x) == 1).set_label("budget")
    moved = {b: [1.2, 0.7, 1.1], cost: [2.0, 1.0, 1.0, 2.5]}
    prices = cp.Variable(3, nonneg=True, name="prices")
    nonneg = cp.Variable(4, nonneg=True, name="nonneg")
    P = cp.Parameter((3, 4), value=A, name="A", nonneg=True)
    of_form = cp.Parameter((4, 4), PSD=True, value=Q, name="Q")
    both = {of_form: spd(rng, 4), risk: 0.8}
    return {
        "LP": Example(cp.Problem(cp.Minimize(cost @ x), [cover, sign]), moved),
        "LP, attribute": Example(cp.Problem(cp.Minimize(cost @ nonneg), [A @ nonneg >= b]), moved),
        "LP, maximised": Example(cp.Problem(cp.Maximize(b @ prices), [A.T @ prices <= cost]), moved),
        "LP, matrix parameter": Example(cp.Problem(cp.Minimize(cp.sum(nonneg)), [P @ nonneg >= 1]), {P: A[::-1] + 0.2}),
        "box": Example(cp.Problem(cp.Minimize(cp.sum_squares(box - cost)), [cp.sum(box) == 3]), {cost: [0.0, 1, 0, 2]}),
        "some bounds": Example(cp.Problem(cp.Minimize(cp.sum_squares(A[:, :3] @ partly - b) + cp.sum(partly))), moved),
        "QP": Example(cp.Problem(cp.Minimize(cp.quad_form(x, Q) - cost @ x), [budget, sign]), moved),
        "portfolio": Example(cp.Problem(cp.Maximize(mu @ x - risk * cp.quad_form(x, Q)), [budget, sign]), {risk: 0.6}),
        "risk limit": Example(cp.Problem(cp.Maximize(mu @ x), [cp.quad_form(x, Q) <= risk, budget, sign]), {risk: 3.0}),
        "singular Q": Example(
            cp.Problem(cp.Minimize(cp.quad_form(x, np.diag([1.0, 2, 0, 0])) + cp.norm1(x - cost))), moved
        ),
        "QP, matrix parameter": Example(
            cp.Problem(cp.Minimize(cp.quad_form(x, of_form) / 2 - cost @ x), [budget, sign]), both | moved
        ),
        "risk limit, matrix parameter": Example(
            cp.Problem(cp.Maximize(mu @ x), [cp.quad_form(x, of_form) <= risk, cp.norm1(x) <= 3]), both
        ),
        "equations only": Example(cp.Problem(cp.Minimize(cp.sum_squares(x)), [A @ x == b]), moved),
        "projection on the simplex": Example(cp.Problem(cp.Minimize(cp.sum_squares(x - cost)), [budget, sign]), moved),
        "norm ball cover": Example(cp.Problem(cp.Minimize(cost @ x), [(cp.norm2(x) <= risk).set_label("ball")]), moved),
        "two balls": Example(
            cp.Problem(cp.Minimize(cp.sum_squares(x - 3)), [cp.norm2(x) <= risk, cp.norm1(x) <= 1.5 * risk]),
            {risk: 1.0},
        ),
    }


def cones():
    _, X, b, _ = data(3)
    w, t, s = cp.Variable(3, name="w"), cp.Variable(name="t"), cp.Variable(name="s")
    g = cp.Parameter(3, value=[1.0, -2.0, 0.5], name="g")
    limits, both = cp.Constant([1.0, 3.0]), cp.vstack([w, 2 * w])
    x, u = cp.Variable(name="x"), cp.Variable(name="u", nonneg=True)
    moved = {g: [0.3, 1.0, -1.0]}
    return {
        "SOC": Example(cp.Problem(cp.Minimize(g @ w + 4 * t), [cp.SOC(t, w), cp.sum(w) == 1]), moved),
        "SOC, rows": Example(cp.Problem(cp.Minimize(cp.sum_squares(w - g)), [cp.SOC(limits, both, axis=1)]), moved),
        "ExpCone": Example(cp.Problem(cp.Minimize(t - x + cp.square(x)), [cp.ExpCone(x, cp.Constant(1.0), t)])),
        "PowCone": Example(cp.Problem(cp.Maximize(x - t - s), [cp.PowCone3D(t, s, x, 0.3), t + s <= 2])),
        "quad_over_lin": Example(cp.Problem(cp.Minimize(cp.quad_over_lin(w - g, s) + s), [s >= 0.1]), moved),
        "perspective": Example(
            cp.Problem(cp.Minimize(cp.perspective(cp.square(x - 1) + x, u) + cp.square(x - 3) + cp.square(u - 1)))
        ),
        "geometric mean": Example(cp.Problem(cp.Maximize(cp.geo_mean(w, approx=False)), [w >= 0, X[:2] ** 2 @ w <= 1])),
        "harmonic": Example(cp.Problem(cp.Minimize(cp.sum(cp.inv_pos(w)) + cp.sum(w)))),
        "root": Example(cp.Problem(cp.Maximize(cp.sum(cp.sqrt(w)) - cp.sum_squares(w)))),
        "max of norms": Example(
            cp.Problem(cp.Minimize(cp.maximum(cp.norm2(w - g), cp.norm1(w + 1), 2 * w[0]))), moved, unique=False
        ),
        "nested": Example(cp.Problem(cp.Minimize(cp.square(cp.norm2(X @ w - b)) + cp.exp(cp.square(w[0]) / 9))), {}),
        "log of a minimum": Example(cp.Problem(cp.Maximize(cp.sum(cp.log(cp.minimum(w, 2 - w)))), [cp.sum(w) == 1])),
    }


def entropies():
    _, X, _, _ = data(4)
    p, prior = cp.Variable(4, name="p"), np.array([0.1, 0.4, 0.3, 0.2])
    mean, mass = cp.Parameter(value=1.4, name="mean"), (cp.sum(p) == 1).set_label("mass")
    moment = (np.arange(4.0) @ p == mean).set_label("moment")
    moved = {mean: 1.9}
    w = cp.Variable(3, name="w")
    q = cp.Variable(4, name="q")
    return {
        "largest entropy": Example(cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [mass, moment]), moved),
        "divergence": Example(cp.Problem(cp.Minimize(cp.sum(cp.kl_div(p, prior))), [mass, moment]), moved),
        "relative entropy": Example(
            cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(p, q)) + cp.sum_squares(q - prior)), [mass, moment]), moved
        ),
        "analytic centre": Example(cp.Problem(cp.Minimize(-cp.sum(cp.log(1 - X @ w)) + cp.sum_squares(w)))),
        "water filling": Example(cp.Problem(cp.Maximize(cp.sum(cp.log(prior + p))), [mass, p >= 0])),
        "log1p": Example(cp.Problem(cp.Maximize(cp.sum(cp.log1p(p)) - cp.sum_squares(p)))),
        "log-sum-exp": Example(cp.Problem(cp.Minimize(cp.log_sum_exp(X @ w) + cp.norm1(w - 1)))),
        "softmax limit": Example(cp.Problem(cp.Minimize(cp.sum_squares(w - 1)), [cp.log_sum_exp(X[:3] @ w) <= 1.5])),
    }


def matrices():
    rng, _, _, _ = data(5)
    n = 3
    F = [(M + M.T) / 2 for M in rng.normal(size=(3, n, n))]
    z, S, Y = cp.Variable(2, name="z"), cp.Variable((n, n), symmetric=True, name="S"), cp.Variable((n, n), name="Y")
    P, N = cp.Variable((n, n), PSD=True, name="P"), cp.Variable((n, n), NSD=True, name="N")
    D = cp.Variable((n, n), diag=True, name="D")
    C = spd(rng, n)
    lam, v = positive(0.5), cp.Variable(n, name="v")
    moved = {lam: 1.1}
    return {
        "largest eigenvalue": Example(
            cp.Problem(cp.Minimize(cp.lambda_max(F[0] + z[0] * F[1] + z[1] * F[2]) + lam * cp.sum_squares(z))), moved
        ),
        "nuclear norm": Example(cp.Problem(cp.Minimize(lam * cp.normNuc(Y) + cp.sum_squares(Y - F[0]))), moved),
        "spectral norm": Example(cp.Problem(cp.Minimize(cp.sigma_max(Y - F[0]) + lam * cp.sum_squares(Y))), moved),
        "SDP": Example(
            cp.Problem(cp.Minimize(cp.trace(F[0] @ S)), [S >> 0, cp.trace(S) == 1, S[0, 1] == 0.1 * lam]), moved
        ),
        "PSD attribute": Example(
            cp.Problem(cp.Minimize(cp.trace(C @ P) - lam * cp.trace(P)), [cp.trace(P) == 1]), moved
        ),
        "NSD attribute": Example(cp.Problem(cp.Minimize(cp.sum_squares(N - F[0])))),
        "diagonal": Example(cp.Problem(cp.Minimize(cp.sum_squares(D - F[0]) + lam * cp.sum(cp.abs(D)))), moved),
        "log det": Example(cp.Problem(cp.Minimize(-cp.log_det(S) + cp.trace(C @ S)))),
        "tr inv": Example(cp.Problem(cp.Minimize(cp.tr_inv(S) + cp.trace(C @ S)))),
        "matrix fraction": Example(cp.Problem(cp.Minimize(cp.matrix_frac(v, S) + cp.sum_squares(S - C)), [v >= 1])),
        "two eigenvalues": Example(cp.Problem(cp.Minimize(cp.lambda_sum_largest(S, 2) + cp.sum_squares(S - F[1])))),
        "row norms": Example(
            cp.Problem(cp.Minimize(cp.sum_squares(Y - F[0]) + lam * cp.sum(cp.norm(Y, axis=1)))), moved
        ),
    }


def examples():
    """All of them, by name."""
    found: dict[str, Example] = {}
    for group in (regressions, classifiers, programs, cones, entropies, matrices):
        found |= group()
    return found


def quadratic_programs(count):
    """Quadratic programs with a parameter in a norm, a linear cost or a right-hand side, and that parameter."""
    rng = np.random.default_rng(3)
    for k in range(count):
        X, b, w = rng.normal(size=(6, 3)), rng.normal(size=6), cp.Variable(3, name="w")
        lam = cp.Parameter(nonneg=True, name="lam")
        problem = [
            cp.Problem(cp.Minimize(cp.sum_squares(X @ w - b) / 2 + lam * cp.norm1(w))),
            cp.Problem(cp.Minimize(cp.sum_squares(w - b[:3]) + lam * cp.norm_inf(w))),
            cp.Problem(cp.Minimize(cp.sum_squares(X @ w - lam * b)), [w >= 0]),
            cp.Problem(cp.Minimize(cp.sum_squares(w - b[:3])), [cp.sum(cp.abs(w)) <= lam]),
        ][k % 4]
        yield problem, lam


def apart_along(problem, lam):
    """Distance of the paths of a problem and of its dual: of values, relative to 1 + theirs, and of breakpoints."""
    path, other = (pc.trace(each, start={lam: 0.1}, stop={lam: 2.0}) for each in (problem, pc.dual(problem).problem))
    ts = np.linspace(0, 1, 7)
    ours, theirs = (np.array([each.value(t) for t in ts]) for each in (path, other))
    here, there = np.asarray(path.breakpoints), np.asarray(other.breakpoints)
    between = np.abs(here[:, None] - there[None])
    breakpoints = max(between.min(axis=0).max(), between.min(axis=1).max())
    return float((np.abs(ours - theirs) / (1 + np.abs(ours))).max()), float(breakpoints)
