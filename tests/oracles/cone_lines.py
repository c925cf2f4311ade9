"""Lines of convex problems that are no quadratic programs: name -> problem, and its parameters at both ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cvxpy as cp
import numpy as np

Line = tuple[cp.Problem, Mapping[Any, Any], Mapping[Any, Any]]


def classes(n: int, p: int, seed: int) -> tuple[Any, Any, Any]:
    """Two classes that overlap; the draw goes on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X @ rng.normal(size=p) + rng.normal(size=n) > 0, 1.0, -1.0)
    return rng, X, y


def targets(n: int, p: int, seed: int) -> tuple[Any, Any]:
    """Samples and what a sparse slope makes of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ (rng.normal(size=p) * (rng.random(p) < 0.4)) + rng.normal(size=n)


def factors(p: int, seed: int) -> tuple[Any, Any, Any]:
    """Roots of two covariances, and a difference of means."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(p, p)) + np.eye(p), rng.normal(size=(p, p)) + np.eye(p), rng.normal(size=p)


def logistic_group_lasso(n: int = 40, groups: int = 4) -> Line:
    _, X, y = classes(n, 3 * groups, 100)
    w, b, lam = cp.Variable(3 * groups, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w + b)))
    penalty = sum(cp.norm2(w[3 * g : 3 * g + 3]) for g in range(groups))
    return cp.Problem(cp.Minimize(loss + lam * penalty)), {lam: 12.0}, {lam: 0.5}


def square_root_lasso(n: int = 50, p: int = 16) -> Line:
    X, z = targets(n, p, 101)
    w, lam = cp.Variable(p, name="w"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(cp.norm2(z - X @ w) + lam * cp.norm1(w))), {lam: 6.0}, {lam: 0.1}


def norm_constrained_svm(n: int = 50, p: int = 6) -> Line:
    _, X, y = classes(n, p, 102)
    w, b, tau = cp.Variable(p, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="tau")
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(hinge), [(cp.norm2(w) <= tau).set_label("norm")]), {tau: 0.1}, {tau: 3.0}


def group_lasso(n: int = 60, groups: int = 6) -> Line:
    X, z = targets(n, 3 * groups, 103)
    w, lam = cp.Variable(3 * groups, name="w"), cp.Parameter(nonneg=True, name="lam")
    penalty = sum(cp.norm2(w[3 * g : 3 * g + 3]) for g in range(groups))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(z - X @ w) + lam * penalty)), {lam: 50.0}, {lam: 1.0}


def matrix_completion(m: int = 6, n: int = 5) -> Line:
    rng = np.random.default_rng(104)
    M = rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)) + 0.1 * rng.normal(size=(m, n))
    seen = rng.random((m, n)) < 0.7
    X, lam = cp.Variable((m, n), name="X"), cp.Parameter(nonneg=True, name="lam")
    loss = 0.5 * cp.sum_squares(cp.multiply(seen, X - M))
    return cp.Problem(cp.Minimize(loss + lam * cp.normNuc(X))), {lam: 2.0}, {lam: 0.1}


def maximum_entropy(n: int = 20) -> Line:
    v = np.sort(np.random.default_rng(105).random(n))
    p, mean = cp.Variable(n, name="p"), cp.Parameter(name="mean")
    rows = [(cp.sum(p) == 1).set_label("mass"), (v @ p == mean).set_label("moment")]
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows), {mean: 0.3}, {mean: 0.7}


def log_barrier(n: int = 8, k: int = 20) -> Line:
    rng = np.random.default_rng(106)
    A, b = rng.normal(size=(k, n)), 1 + rng.random(k)
    x, mu = cp.Variable(n, name="x"), cp.Parameter(nonneg=True, name="mu")
    objective = A.T @ rng.random(k) @ x - mu * cp.sum(cp.log(b - A @ x))
    return cp.Problem(cp.Minimize(objective), [x <= 10, x >= -10]), {mu: 1.0}, {mu: 0.02}


def biased_minimax() -> Line:
    plus, minus, delta = factors(5, 107)
    a, u = cp.Variable(5, name="a"), cp.Parameter(nonneg=True, name="u")
    objective = -2 * (delta @ a) + u * cp.norm2(plus @ a)
    return cp.Problem(cp.Minimize(objective), [cp.norm2(minus @ a) <= 1]), {u: 0.05}, {u: 0.6}


def tradeoff_by_bounds() -> Line:
    plus, minus, delta = factors(5, 108)
    a, tau = cp.Variable(5, name="a"), cp.Parameter(nonneg=True, name="tau")
    least = 1 / np.sqrt(delta @ np.linalg.solve(plus.T @ plus, delta))
    rows = [(delta @ a == 1).set_label("unit"), (cp.norm2(plus @ a) <= tau).set_label("bound")]
    return cp.Problem(cp.Minimize(cp.norm2(minus @ a)), rows), {tau: 1.05 * least}, {tau: 3 * least}


def s_procedure(p: int = 5) -> Line:
    rng = np.random.default_rng(109)
    d, h = rng.random(p) * 2, rng.normal(size=p)
    v, V, zeta = cp.Variable(p, name="v"), cp.Variable(p, name="V"), cp.Parameter(nonneg=True, name="zeta")
    rows = [cp.square(v) <= V, (cp.sum(V) <= zeta).set_label("ball")]
    return cp.Problem(cp.Minimize(-d @ V - 2 * h @ v), rows), {zeta: 0.1}, {zeta: 4.0}


def s_procedure_lmi(p: int = 5) -> Line:
    rng = np.random.default_rng(109)
    d, h = rng.random(p) * 2, rng.normal(size=p)
    tau, s = cp.Variable(nonneg=True, name="tau"), cp.Variable((1, 1), name="s")
    zeta = cp.Parameter(nonneg=True, name="zeta")
    M = cp.bmat([[tau * np.eye(p) - np.diag(d), -h[:, None]], [-h[None, :], s]])
    return cp.Problem(cp.Minimize(zeta * tau + s[0, 0]), [(M >> 0).set_label("lmi")]), {zeta: 0.1}, {zeta: 4.0}


def ridge_logistic(n: int = 40, p: int = 5) -> Line:
    _, X, y = classes(n, p, 111)
    w, b, lam = cp.Variable(p, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w))), {lam: 5.0}, {lam: 0.1}


def elastic_net(n: int = 50, p: int = 12) -> Line:
    X, z = targets(n, p, 112)
    w, lam = cp.Variable(p, name="w"), cp.Parameter(nonneg=True, name="lam")
    penalty = 0.5 * cp.norm1(w) + 0.25 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(z - X @ w) + lam * penalty)), {lam: 50.0}, {lam: 0.5}


def lasso(n: int = 50, p: int = 15) -> Line:
    X, z = targets(n, p, 113)
    w, lam = cp.Variable(p, name="w"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(z - X @ w) + lam * cp.norm1(w))), {lam: 50.0}, {lam: 0.5}


def svm(n: int = 50, p: int = 4) -> Line:
    _, X, y = classes(n, p, 114)
    w, b, C = cp.Variable(p, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="C")
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * hinge)), {C: 0.01}, {C: 3.0}


def log_determinant() -> Line:
    X, u = cp.Variable((3, 3), PSD=True, name="X"), cp.Parameter(name="u")
    objective = cp.trace(np.diag([1.0, 2.0, 3.0]) @ X) - cp.log_det(X)
    return cp.Problem(cp.Minimize(objective), [(X[0, 1] == u).set_label("entry")]), {u: 0.0}, {u: 1.0}


def powers() -> Line:
    x, u = cp.Variable(3, name="x"), cp.Parameter(3, name="u")
    objective = cp.power(x[0], 1.5) + cp.norm(x - np.array([0.0, 1.0, 2.0]), 3)
    return cp.Problem(cp.Minimize(objective), [(x >= u).set_label("low")]), {u: [1, 1, 0]}, {u: [2, 1.5, 3]}


def logistic_to_0() -> Line:
    """At weight 0 nothing bounds the columns of the norms, nor at any weight those of the loss alone."""
    problem, start, stop = logistic_group_lasso(30, 2)
    return problem, start, dict.fromkeys(stop, 0.0)


def free_log_barrier(n: int = 4) -> Line:
    """No constraint bounds a variable."""
    x, mu = cp.Variable(n, name="x"), cp.Parameter(nonneg=True, name="mu")
    objective = cp.sum(x) + 10 - mu * cp.sum(cp.log(1 - cp.square(x)))
    return cp.Problem(cp.Minimize(objective)), {mu: 1.0}, {mu: 0.1}


def robust_svm(n: int = 24, p: int = 4) -> Line:
    """The radius multiplies a norm in each row: a coefficient of a constraint moves."""
    _, X, y = classes(n, p, 115)
    w, b, r = cp.Variable(p, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="r")
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b) + r * cp.norm2(w)))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + hinge)), {r: 0.05}, {r: 1.0}


def minimax_by_kappa() -> Line:
    plus, minus, delta = factors(5, 107)
    a, kappa = cp.Variable(5, name="a"), cp.Parameter(nonneg=True, name="kappa")
    top = np.sqrt(delta @ np.linalg.solve(plus.T @ plus, delta))
    rows = [(delta @ a - kappa * cp.norm2(plus @ a) >= 1).set_label("margin")]
    return cp.Problem(cp.Minimize(cp.norm2(minus @ a)), rows), {kappa: 0.05 * top}, {kappa: 0.5 * top}


def moving_samples(n: int = 20, p: int = 3) -> Line:
    """All samples walk from one place to another."""
    rng, X, y = classes(n, p, 116)
    w, b, samples = cp.Variable(p, name="w"), cp.Variable(name="b"), cp.Parameter((n, p), name="samples")
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, samples @ w + b)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + hinge))
    return problem, {samples: X}, {samples: X + 0.5 * rng.normal(size=X.shape)}


def exponents() -> Line:
    x, a = cp.Variable(3, name="x"), cp.Parameter(3, name="a")
    objective = cp.sum(cp.exp(cp.multiply(a, x))) + cp.sum(cp.exp(-x))
    return cp.Problem(cp.Minimize(objective), [x <= 5, x >= -5]), {a: [0.5, 1, 1.5]}, {a: [1.5, 0.7, 0.4]}


def scaled_powers() -> Line:
    x, u = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="u")
    objective = cp.power(u * x[0] + 1, 1.5) + cp.power(x[1] - 2, 1.5) + cp.square(x[0] - 3) / 2
    return cp.Problem(cp.Minimize(objective), [x[0] + u * x[1] >= 1, cp.abs(x) <= 10]), {u: 0.5}, {u: 2.0}


def scaled_matrix() -> Line:
    """A coefficient in a semidefinite matrix moves."""
    x, u = cp.Variable(2, name="x"), cp.Parameter(name="u")
    first, second = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.array([[1.0, 0, 1], [0, -1, 0], [1, 0, 0]])
    rows = [(np.diag([1.0, 2, 3]) + x[0] * first + u * x[1] * second >> 0).set_label("lmi"), cp.abs(x) <= 10]
    return cp.Problem(cp.Minimize(x[0] + 0.5 * x[1]), rows), {u: 0.5}, {u: 2.0}


def risk_and_budget() -> Line:
    """A coefficient and the right side of an equation move together."""
    factor, _, mean = factors(5, 117)
    x, r, m = cp.Variable(5, name="x"), cp.Parameter(nonneg=True, name="r"), cp.Parameter(name="m")
    rows = [cp.sum(x) == m, mean @ x - r * cp.norm2(factor @ x) >= -2, x >= -3]
    return cp.Problem(cp.Minimize(cp.norm2(x - 1) + x[0]), rows), {r: 0.1, m: 1.0}, {r: 0.6, m: 2.0}


def shrunk_covariance(n: int = 6) -> Line:
    """The matrix of the quadratic objective moves."""
    rng = np.random.default_rng(118)
    S, mean = np.cov(rng.normal(size=(20, n)).T), rng.normal(size=n)
    x, P = cp.Variable(n, name="x"), cp.Parameter((n, n), PSD=True, name="P")
    rows = [cp.sum(x) == 1, x >= 0, cp.norm2(x) <= 0.7]
    return cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, P) - 0.1 * mean @ x), rows), {P: S}, {P: np.eye(n)}


#: Fifteen as they stand in books, two more kinds of cone, two lines with columns that nothing bounds, and eight on
#: which a matrix moves.
LINES: dict[str, Callable[[], Line]] = {
    made.__name__: made
    for made in (
        *(logistic_group_lasso, square_root_lasso, norm_constrained_svm, group_lasso, matrix_completion),
        *(maximum_entropy, log_barrier, biased_minimax, tradeoff_by_bounds, s_procedure, s_procedure_lmi),
        *(ridge_logistic, elastic_net, lasso, svm, log_determinant, powers, logistic_to_0),
        *(free_log_barrier, robust_svm, minimax_by_kappa, moving_samples, exponents, scaled_powers, scaled_matrix),
        *(risk_and_budget, shrunk_covariance),
    )
}


def move(line: Line, t: float) -> cp.Problem:
    """The problem with the parameters that it has at t."""
    problem, start, stop = line
    for p in start:
        p.value = (1 - t) * np.asarray(start[p], dtype=float) + t * np.asarray(stop[p], dtype=float)
    return problem
