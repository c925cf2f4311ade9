"""CVXPY problems with a line of their parameters: what `paretoclf.trace` takes, family by family, small."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def regression(n=30, d=3, seed=7):
    """Samples with an intercept column, and responses with heavy tails."""
    rng = np.random.default_rng(seed)
    X = np.c_[np.ones(n), rng.normal(size=(n, d))]
    return X, X @ rng.normal(size=d + 1) + rng.standard_t(3, size=n)


def steps(n=24):
    """A noisy step function."""
    return np.repeat([0.0, 2.0, 1.0, 4.0], n // 4) + np.random.default_rng(5).normal(size=n)


def lasso(n=30, d=6, ridge=0.0):
    """Lasso or elastic net in the l1 weight."""
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    y = X[:, :2] @ rng.normal(size=2) + rng.normal(size=n)
    w, lam = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w) + ridge * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(loss)), {lam: 1.1 * np.abs(X.T @ y).max()}, {lam: 0.1}


def svm(n=30, d=3, slacks=False):
    """2C-SVM along a line of costs, one a sample."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    w, b, c = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Parameter(n, nonneg=True, name="c")
    margins = (y[:, None] * X) @ w + y * b
    start, stop = np.where(y > 0, 0.05, 0.02), np.where(y > 0, 0.5, 2.0)
    if not slacks:
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + c @ cp.pos(1 - margins)))
    else:
        xi = cp.Variable(n, nonneg=True, name="xi")
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + c @ xi), [(margins >= 1 - xi).set_label("margin")])
    return problem, {c: start}, {c: stop}


def signal(penalty, start, stop):
    """A signal with a penalty of its differences."""
    u, lam = cp.Variable(24, name="u"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(cp.sum_squares(u - steps()) / 2 + penalty(u, lam))), {lam: start}, {lam: stop}


def moved_data(loss, ridge=0.0, constraints=lambda r, w: []):
    """A regression whose responses move."""
    X, y = regression()
    w, th = cp.Variable(X.shape[1], name="w"), cp.Parameter(name="th")
    r = y + th * np.cos(np.arange(y.size)) - X @ w
    return cp.Problem(cp.Minimize(loss(r) + ridge * cp.sum_squares(w)), constraints(r, w)), {th: 0.0}, {th: 2.0}


def weighted(make, start, stop, nonneg=False):
    """A regression with one nonnegative parameter in its objective or constraints."""
    X, y = regression()
    w, lam = cp.Variable(X.shape[1], name="w", nonneg=nonneg), cp.Parameter(nonneg=True, name="lam")
    objective, constraints = make(y - X @ w, w, lam, X)
    return cp.Problem(cp.Minimize(objective), constraints), {lam: start}, {lam: stop}


def quantiles(form):
    """Quantile regression in tau, in the forms in which it is written."""
    X, y = regression()
    w, tau, rest = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="tau"), cp.Parameter(nonneg=True)
    r = y - X @ w
    start, stop, constraints = {tau: 0.05}, {tau: 0.95}, []
    if form == "maximum":
        loss = cp.sum(cp.maximum(tau * r, (tau - 1) * r))
    elif form == "abs":
        loss = cp.sum(0.5 * cp.abs(r) + (tau - 0.5) * r)
    elif form == "parts":
        loss = tau * cp.sum(cp.pos(r)) + rest * cp.sum(cp.neg(r))
        start, stop = {tau: 0.05, rest: 0.95}, {tau: 0.95, rest: 0.05}
    else:
        up, down = cp.Variable(y.size, nonneg=True, name="up"), cp.Variable(y.size, nonneg=True, name="down")
        loss, constraints = tau * cp.sum(up) + (1 - tau) * cp.sum(down), [(r == up - down).set_label("fit")]
    return cp.Problem(cp.Minimize(loss), constraints), start, stop


def frontier(form):
    """Efficient frontiers: risk against return, by target return, with turnover, and as a maximisation."""
    rng = np.random.default_rng(2)
    n = 8
    F, mu = rng.normal(size=(30, n)), rng.normal(size=n)
    x, g = cp.Variable(n, name="x"), cp.Parameter(name="g")
    risk = cp.quad_form(x, cp.psd_wrap(F.T @ F / 30 + 0.01 * np.eye(n))) / 2
    held = [(cp.sum(x) == 1).set_label("budget"), (x >= 0).set_label("long"), (x <= 0.3).set_label("cap")]
    if form == "maximise":
        return cp.Problem(cp.Maximize(g * (mu @ x) - risk + 3 * g), held), {g: 0.0}, {g: 3.0}
    if form == "target":
        return cp.Problem(cp.Minimize(risk), [*held, mu @ x == g]), {g: float(mu.mean())}, {g: float(mu.mean()) + 0.2}
    return cp.Problem(cp.Minimize(risk - g * (mu @ x) + 0.05 * cp.norm1(x - 1 / n)), held), {g: 0.0}, {g: 3.0}


def transport(form):
    """A transport problem whose supply and demand, or whose costs, move."""
    rng = np.random.default_rng(3)
    c, dc = rng.integers(1, 9, (4, 5)), rng.integers(-3, 4, (4, 5))
    T, th = cp.Variable((4, 5), nonneg=True, name="T"), cp.Parameter(name="th")
    out, into = np.array([1.0, -1, 0, 0]), np.array([0.0, 1, -1, 0, 0])
    move = th if form == "supply" else 0.0
    cost = cp.sum(cp.multiply(c, T)) + (0.0 if form == "supply" else th * cp.sum(cp.multiply(dc, T)))
    rows = [
        (cp.sum(T, axis=1) == 10 + move * out).set_label("supply"),
        (cp.sum(T, axis=0) == 8 + move * into).set_label("demand"),
    ]
    return cp.Problem(cp.Minimize(cost), rows), {th: 0.0}, {th: 2.0}


def kinks_that_cost_nothing():
    """Weights of which a third are 0, along shifts that cross the kinks."""
    u, th = cp.Variable(24, name="u"), cp.Parameter(name="th")
    loss = cp.sum_squares(u - steps()) / 2 + cp.sum(cp.multiply(np.arange(24) % 3, cp.abs(u + th)))
    return cp.Problem(cp.Minimize(loss)), {th: -2.0}, {th: 2.0}


#: Name -> what makes (problem, start, stop).
FAMILIES = {
    "svm, pos": svm,
    "svm, slacks": lambda: svm(slacks=True),
    "lasso": lasso,
    "elastic net": lambda: lasso(ridge=1.0),
    "fused lasso": lambda: signal(lambda u, lam: lam * cp.norm1(cp.diff(u)), 20.0, 0.1),
    "total variation": lambda: signal(lambda u, lam: lam * cp.tv(u) + 0.3 * cp.norm1(u), 20.0, 0.1),
    "isotonic": lambda: signal(lambda u, lam: lam * cp.sum(cp.pos(-cp.diff(u))), 0.01, 10.0),
    "trend filtering": lambda: signal(lambda u, lam: lam * cp.norm1(cp.diff(u, k=2)), 30.0, 0.1),
    "least absolute deviations": lambda: moved_data(cp.norm1),
    "Chebyshev": lambda: moved_data(cp.norm_inf),
    "Huber": lambda: moved_data(lambda r: cp.sum(cp.huber(r, 1.0)), ridge=0.1),
    "pinball, data moved": lambda: moved_data(lambda r: cp.sum(cp.maximum(0.3 * r, -0.7 * r))),
    "five pieces": lambda: moved_data(
        lambda r: 0.2 * cp.sum(cp.maximum(0, r - 0.5, 2 * r - 2.0, -r - 0.5, -2 * r - 2)), ridge=0.5
    ),
    "sum of the largest": lambda: moved_data(lambda r: cp.sum_largest(r, 4), ridge=0.1),
    "quantile, maximum": lambda: quantiles("maximum"),
    "quantile, abs": lambda: quantiles("abs"),
    "quantile, parts": lambda: quantiles("parts"),
    "quantile, slacks": lambda: quantiles("slacks"),
    "group norm_inf": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(r) / 2 + lam * (cp.norm_inf(w[:2]) + cp.norm_inf(w[2:])), []), 60.0, 0.1
    ),
    "Huber and l1": lambda: weighted(lambda r, w, lam, X: (cp.sum(cp.huber(r)) + lam * cp.norm1(w), []), 60.0, 0.1),
    "SVR, cost": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(w) / 2 + lam * cp.sum(cp.pos(cp.abs(r) - 0.5)), []), 0.01, 5.0
    ),
    "SVR, width": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(w) / 2 + cp.sum(cp.pos(cp.abs(r) - lam)), []), 2.0, 0.05
    ),
    "SVR, maximum": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(w) / 2 + lam * cp.sum(cp.maximum(0, r - 0.5, -r - 0.5)), []), 0.01, 5.0
    ),
    "nonnegative lasso": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(r) / 2 + lam * cp.norm1(w), []), 60.0, 0.1, nonneg=True
    ),
    "lasso by budget": lambda: weighted(
        lambda r, w, lam, X: (cp.sum_squares(r) / 2, [(cp.norm1(w) <= lam).set_label("budget")]), 0.05, 6.0
    ),
    "tube": lambda: weighted(lambda r, w, lam, X: (cp.sum_squares(w), [cp.abs(r) <= lam]), 20.0, 4.0),
    "Dantzig selector": lambda: weighted(lambda r, w, lam, X: (cp.norm1(w), [cp.norm_inf(X.T @ r) <= lam]), 60.0, 1.0),
    "frontier, turnover": lambda: frontier("turnover"),
    "frontier, target": lambda: frontier("target"),
    "frontier, maximise": lambda: frontier("maximise"),
    "transport, supply": lambda: transport("supply"),
    "transport, costs": lambda: transport("costs"),
    "kinks that cost nothing": kinks_that_cost_nothing,
}


def solved(problem, start, stop, t):
    """CVXPY's value at t, with the problem's variables and multipliers left in it; None where there is no optimum."""
    for p in start:
        p.value = (1 - t) * np.asarray(start[p]) + t * np.asarray(stop[p])
    problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, warm_start=False)
    return float(problem.value) if problem.status.startswith("optimal") else None
