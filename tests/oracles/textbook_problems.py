"""Seventeen problems of textbooks and convex regression, as a user writes them, with optimal values from elsewhere.

LPs and QPs have theirs in fractions (`exact_quadratic.optimum`, stated a second time as arrays), the others from a
closed form, from one equation in one unknown, or from Newton's method on a smooth problem without constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq

from tests.oracles.exact_quadratic import Quadratic, integers, optimum

Stated = tuple[cp.Problem, float]

rng = np.random.default_rng(11)
X = rng.integers(-4, 5, (7, 2)).astype(float)
y = rng.integers(-9, 10, 7).astype(float)
LABELS = np.where(X @ [1, 2] + np.array([0, 1, -9, 0, 0, 2, 0]) >= 0, 1.0, -1.0)
RETURNS = rng.integers(-5, 9, (6, 3)).astype(float)
FACES = np.arange(1.0, 7)


def exactly(F: Any, q: Any, rows: Any, nonnegative: int = 0) -> float:
    """Optimal value of ``|Fx|^2 / 2 + q'x`` with rows (coefficients, lower, upper), the last variables nonnegative."""
    q = integers(q)
    n = q.size
    A, lower, upper = zip(*rows, strict=True)
    low = (None,) * (n - nonnegative) + (0,) * nonnegative
    F = integers(np.zeros((0, n)) if F is None else F)
    found = optimum(Quadratic(F, q, integers(A).reshape(-1, n), lower, upper, low, (None,) * n))
    assert found.status == "optimal"
    return float(found.value)


def _residual_rows() -> list[Any]:
    """``X w + p - m = y`` for the positive and negative parts of residuals."""
    n = y.size
    return [
        (np.concatenate([x, np.eye(n)[i], -np.eye(n)[i]]), int(t), int(t))
        for i, (x, t) in enumerate(zip(X, y, strict=True))
    ]


def least_absolute_deviations() -> Stated:
    w = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.norm1(X @ w - y))), exactly(None, [0] * 2 + [1] * 14, _residual_rows(), 14)


def quantile_regression() -> Stated:
    """At 1/4: three quarters of the weight on residuals below."""
    w = cp.Variable(2)
    r = y - X @ w
    truth = exactly(None, [0] * 2 + [1] * 7 + [3] * 7, _residual_rows(), 14) / 4
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.25 * r, -0.75 * r)))), truth


def chebyshev_fit() -> Stated:
    w = cp.Variable(2)
    rows = [(np.append(sign * x, 1), int(sign * t), None) for x, t in zip(X, y, strict=True) for sign in (1, -1)]
    return cp.Problem(cp.Minimize(cp.norm_inf(X @ w - y))), exactly(None, [0, 0, 1], rows)


def free_linear_program() -> Stated:
    """No variable has bounds; the rows are tangents of a circle, roughly."""
    A = np.array([[3, 1], [1, 3], [-2, 3], [-3, -1], [1, -3]], dtype=float)
    b, c, x = np.array([7.0, 8, 9, 6, 5]), np.array([-2.0, -1]), cp.Variable(2)
    rows = [(a, None, int(v)) for a, v in zip(A, b, strict=True)]
    return cp.Problem(cp.Minimize(c @ x), [A @ x <= b]), exactly(None, c, rows)


def conditional_value_at_risk() -> Stated:
    """Of the losses of a portfolio at 1/2, six scenarios: threshold + sum(excess) / 3."""
    w, threshold = cp.Variable(3), cp.Variable()
    problem = cp.Problem(
        cp.Minimize(threshold + cp.sum(cp.pos(-RETURNS @ w - threshold)) / 3), [cp.sum(w) == 1, w >= 0]
    )
    # threshold, excess, weights
    rows: list[Any] = [(np.concatenate([[1], np.eye(6)[i], r]), 0, None) for i, r in enumerate(RETURNS)]
    rows.append((np.concatenate([np.zeros(7), np.ones(3)]), 1, 1))
    return problem, exactly(None, [3] + [1] * 6 + [0] * 3, rows, 9) / 3


def robust_linear_program() -> Stated:
    """Every row may be off by 1 in every entry: ``a'x + |x|_1 <= b``."""
    A, b, c, x = np.array([[4, 1], [1, 5], [-3, 1.0]]), np.array([9.0, 8, 7]), np.array([-3.0, -4]), cp.Variable(2)
    problem = cp.Problem(cp.Minimize(c @ x), [A @ x + cp.norm1(x) <= b])
    signs = [(s, t) for s in (1, -1) for t in (1, -1)]
    return problem, exactly(None, c, [(a + sign, None, int(v)) for a, v in zip(A, b, strict=True) for sign in signs])


def transport() -> Stated:
    """Three sources, three sinks, and as much in as out: the equations depend on each other."""
    cost, supply, demand = np.array([[4, 1, 3], [2, 5, 2], [3, 3, 6.0]]), np.array([5, 7, 3]), np.array([6, 4, 5])
    T = cp.Variable((3, 3), nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost, T))), [cp.sum(T, axis=1) == supply, cp.sum(T, axis=0) == demand]
    )
    sums = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))])
    rows = [(a, int(v), int(v)) for a, v in zip(sums, [*supply, *demand], strict=True)]
    return problem, exactly(None, cost.ravel(), rows, 9)


def lasso() -> Stated:
    w = cp.Variable(2)
    # w = p - m
    F = np.hstack([X, -X])
    q = -F.T @ y + 5
    truth = exactly(F, q, [(np.zeros(4), None, 0)], 4) + float(y @ y) / 2
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + 5 * cp.norm1(w))), truth


def ridge() -> Stated:
    w = cp.Variable(2)
    truth = exactly(np.vstack([X, np.eye(2)]), -X.T @ y, [(np.zeros(2), None, 0)]) + float(y @ y) / 2
    return cp.Problem(cp.Minimize((cp.sum_squares(X @ w - y) + cp.sum_squares(w)) / 2)), truth


def support_vector_machine() -> Stated:
    w, b, xi = cp.Variable(2), cp.Variable(), cp.Variable(7)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + 2 * cp.sum(xi)), [cp.multiply(LABELS, X @ w + b) >= 1 - xi, xi >= 0]
    )
    rows = [
        (np.concatenate([label * np.append(x, 1), np.eye(7)[i]]), 1, None)
        for i, (x, label) in enumerate(zip(X, LABELS, strict=True))
    ]
    return problem, exactly(np.eye(2, 10), [0] * 3 + [2] * 7, rows, 7)


def portfolio() -> Stated:
    """Least variance for a mean return of 2, of two factors: singular."""
    factors, mean, w = np.array([[1, 2, -1, 0.0], [0, 1, 1, 2]]), np.array([1.0, 3, 2, 4]), cp.Variable(4)
    problem = cp.Problem(
        cp.Minimize(cp.quad_form(w, cp.psd_wrap(factors.T @ factors))), [cp.sum(w) == 1, mean @ w >= 2, w >= 0]
    )
    return problem, 2 * exactly(factors, np.zeros(4), [(np.ones(4), 1, 1), (mean, 2, None)], 4)


def least_norm() -> Stated:
    """Closed form: ``b' (A A')^-1 b``."""
    A, b, x = np.array([[1, 2, -1, 3.0], [2, -1, 1, 1]]), np.array([4.0, 3]), cp.Variable(4)
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [A @ x == b]), float(b @ np.linalg.solve(A @ A.T, b))


def maximum_flow() -> Stated:
    """From 0 to 4: a cut of 2 + 4 is the least."""
    edges = [(0, 1, 6), (0, 2, 3), (1, 2, 2), (1, 3, 2), (2, 3, 4), (2, 4, 1), (3, 4, 5), (1, 4, 1)]
    flow = cp.Variable(len(edges))
    kept = []
    for node in (1, 2, 3):
        into = [flow[k] for k, (_, head, _) in enumerate(edges) if head == node]
        out = [flow[k] for k, (tail, _, _) in enumerate(edges) if tail == node]
        kept.append(sum(into) == sum(out))
    caps = np.array([cap for *_, cap in edges], dtype=float)
    problem = cp.Problem(cp.Minimize(-(flow[0] + flow[1])), [*kept, flow >= 0, flow <= caps])
    balance = [[(head == node) - (tail == node) for tail, head, _ in edges] for node in (1, 2, 3)]
    rows: list[Any] = [(row, 0, 0) for row in balance]
    rows += [(np.eye(8)[k], None, int(cap)) for k, cap in enumerate(caps)]
    return problem, exactly(None, [-1, -1, *[0] * 6], rows, 8)


def robust_least_squares() -> Stated:
    """``|Xw - y| + |w|``: stationary where ``(X'X + m 1) w = X'y`` and m is ``|Xw - y| / |w|``."""
    w = cp.Variable(2)

    def at(m: float) -> Any:
        return np.linalg.solve(X.T @ X + m * np.eye(2), X.T @ y)

    def off(m: float) -> float:
        return float(np.linalg.norm(X @ at(m) - y) - m * np.linalg.norm(at(m)))

    best = at(brentq(off, 1e-3, 1e3, xtol=1e-14, rtol=1e-14))
    truth = float(np.linalg.norm(X @ best - y) + np.linalg.norm(best))
    return cp.Problem(cp.Minimize(cp.norm(X @ w - y) + cp.norm(w))), truth


def logistic_regression() -> Stated:
    """By Newton's method."""
    w, signed = cp.Variable(2), LABELS[:, None] * X
    at = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(signed @ at))
        H = signed.T @ ((p * (1 - p))[:, None] * signed) + np.eye(2)
        at = at - np.linalg.solve(H, at - signed.T @ p)
    truth = float(at @ at / 2 + np.logaddexp(0, -signed @ at).sum())
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(cp.logistic(-signed @ w)))), truth


def maximum_entropy() -> Stated:
    """Of a die that shows 4.5 on average: weights ``exp(s k)``, one equation in s."""
    p = cp.Variable(6)

    def weights(s: float) -> Any:
        e = np.exp(s * (FACES - 3.5))
        return e / e.sum()

    best = weights(brentq(lambda s: float(weights(s) @ FACES) - 4.5, -5, 5, xtol=1e-15))
    problem = cp.Problem(cp.Minimize(-cp.sum(cp.entr(p))), [cp.sum(p) == 1, FACES @ p == 4.5])
    return problem, float(best @ np.log(best))


def largest_eigenvalue() -> Stated:
    """The smallest t with ``t 1 - A`` positive semidefinite."""
    A, t = np.array([[2, 1, 0.0], [1, -1, 3], [0, 3, 1]]), cp.Variable()
    return cp.Problem(cp.Minimize(t), [t * np.eye(3) - A >> 0]), float(np.linalg.eigvalsh(A)[-1])


TEXTBOOK: tuple[Callable[[], Stated], ...] = (
    least_absolute_deviations,
    quantile_regression,
    chebyshev_fit,
    free_linear_program,
    conditional_value_at_risk,
    robust_linear_program,
    transport,
    lasso,
    ridge,
    support_vector_machine,
    portfolio,
    least_norm,
    maximum_flow,
    robust_least_squares,
    logistic_regression,
    maximum_entropy,
    largest_eigenvalue,
)


def convex_regression(n: int) -> Stated:
    """The convex sequence nearest to ``sqrt((i - 1) / (n - 1)) + sin(i) / 10``.

    Its value by an active-set method on the knots: splines are fitted, and a knot comes where the multipliers (second
    sums of the residual) are most negative, and goes where it is not convex, until neither happens.
    """
    i = np.arange(1.0, n + 1)
    c = np.sqrt((i - 1) / (n - 1)) + 0.1 * np.sin(i)
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [cp.diff(x, 2) >= 0])
    knots: list[int] = []
    for _ in range(100):
        basis = np.stack([np.ones(n), i / n, *(np.maximum(i - i[k], 0) / n for k in knots)], axis=1)
        Q, _ = np.linalg.qr(basis)
        residual = c - Q @ (Q.T @ c)
        residual -= Q @ (Q.T @ residual)
        kinks = np.linalg.lstsq(basis, c - residual)[0][2:]
        if (kinks <= 0).any():
            knots.pop(int(np.argmin(kinks)))
            continue
        multipliers = np.append(0.0, -np.cumsum(np.cumsum(residual))[:-2])  # of the kink at each entry but the ends
        multipliers[knots] = 0
        k = int(np.argmin(multipliers))
        if multipliers[k] >= -1e-9:
            return problem, fsum(residual**2) / 2
        knots.append(k)
    raise AssertionError("the knots did not settle")
