"""Optima of small LPs and convex QPs with integer data, in fractions, and random ones, as degenerate as they get.

The optimality conditions are a linear complementarity problem with a positive semidefinite matrix. Least-index
criss-cross pivots solve it, or end at a row that no solution can meet (den Hertog, Roos & Terlaky 1993): ties cannot
cycle, and neither a start nor a nonsingular P is needed. The tableau stays in integers over one common denominator,
and what comes out is checked against the conditions themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Ints = Any  # an object array of Python's integers, or of Fractions


@dataclass(frozen=True)
class Quadratic:
    """``min x'Px/2 + q'x`` with ``lower <= A x <= upper`` and ``low <= x <= high``; None is no bound."""

    F: Ints  # P = F'F
    q: Ints
    A: Ints
    lower: tuple[int | None, ...]
    upper: tuple[int | None, ...]
    low: tuple[int | None, ...]
    high: tuple[int | None, ...]

    @property
    def P(self) -> Ints:
        return self.F.T @ self.F

    def rows(self) -> tuple[Ints, Ints]:
        """All constraints as ``G x >= h``."""
        G, h = [], []
        blocks = ((self.A, self.lower, self.upper), (integers(np.eye(self.q.size)), self.low, self.high))
        for rows, lower, upper in blocks:
            for a, least, most in zip(rows, lower, upper, strict=True):
                if least is not None:
                    G.append(a)
                    h.append(least)
                if most is not None:
                    G.append(-a)
                    h.append(-most)
        return integers(G).reshape(-1, self.q.size), integers(h)

    def value(self, x: Ints) -> Fraction:
        Fx = self.F @ x
        return Fraction(Fx @ Fx) / 2 + self.q @ x

    def violation(self, x: Ints) -> Fraction:
        """Largest amount by which a constraint fails."""
        G, h = self.rows()
        return max([Fraction(0), *(h - G @ x)])


@dataclass(frozen=True)
class Truth:
    """``status`` is "optimal", "infeasible" or "unbounded"; the rest belongs to the first."""

    status: str
    value: Fraction = Fraction(0)
    x: Ints = None
    y: Ints = None


def integers(values: Any) -> Ints:
    """An object array of Python's integers."""
    found = np.asarray(values)
    return np.array([int(v) for v in found.ravel()], dtype=object).reshape(found.shape)


def optimum(problem: Quadratic) -> Truth:
    """Solve exactly, and check."""
    G, h = problem.rows()
    n, m = problem.q.size, h.size
    z = _complementary(problem.P, problem.q, G, h)
    if z is None:
        feasible = _complementary(integers(np.zeros((n, n))), integers(np.zeros(n)), G, h) is not None
        return Truth("unbounded" if feasible else "infeasible")
    x, y = z[:n] - z[n : 2 * n], z[2 * n :]
    slack = G @ x - h
    assert (slack >= 0).all()
    assert (y >= 0).all()
    assert (slack * y == 0).all()
    assert y.size == m
    assert (problem.P @ x + problem.q - G.T @ y == 0).all()
    return Truth("optimal", problem.value(x), x, y)


def _complementary(P: Ints, q: Ints, G: Ints, h: Ints) -> Ints | None:
    """``w = M z + (q, -q, -h)``, w and z nonnegative and complementary, with x = z1 - z2; None if there is none."""
    n, m = q.size, h.size
    size = 2 * n + m
    T = integers(np.zeros((size, size + 1)))
    T[:n, :n] = T[n : 2 * n, n : 2 * n] = P
    T[:n, n : 2 * n] = T[n : 2 * n, :n] = -P
    T[:n, 2 * n : size], T[n : 2 * n, 2 * n : size] = -G.T, G.T
    T[2 * n :, :n], T[2 * n :, n : 2 * n] = G, -G
    T[:, -1] = np.concatenate([q, -q, -h])
    over = 1  # the tableau is T / over
    inside = np.zeros(size, dtype=bool)
    for _ in range(100_000):
        k = next((i for i in range(size) if T[i, -1] < 0), None)
        if k is None:
            return np.array(
                [Fraction(v, over) if used else Fraction(0) for v, used in zip(T[:, -1], inside, strict=True)]
            )
        if T[k, k] != 0:
            T, over = _pivot(T, over, k, k)
            inside[k] = not inside[k]
            continue
        other = next((j for j in range(size) if T[k, j] > 0), None)
        if other is None:
            return None
        T, over = _pivot(T, over, k, other)
        T, over = _pivot(T, over, other, k)
        T[[k, other]] = T[[other, k]]
        T[:, [k, other]] = T[:, [other, k]]
        inside[[k, other]] = ~inside[[k, other]]
    raise AssertionError("the criss-cross method does not cycle")


def _pivot(T: Ints, over: int, r: int, s: int) -> tuple[Ints, int]:
    """Exchange row r and column s of ``T / over``; every division is one without a rest (Edmonds 1967)."""
    p = T[r, s]
    column, row = T[:, s].copy(), T[r].copy()
    T = (T * p - column[:, None] * row[None, :]) // over
    T[r], T[:, s], T[r, s] = -row, column, over
    return (-T, -p) if p < 0 else (T, p)


# ---- random problems ---------------------------------------------------------------------------------------------


def degenerate(seed: int) -> Quadratic:
    """A random problem: most are feasible and bounded, few have one optimal solution or one of the dual."""
    rng = np.random.default_rng([seed, 2026])
    n, m = int(rng.integers(1, 6)), int(rng.integers(0, 6))
    rank = 0 if rng.random() < 0.45 else int(rng.integers(0, n + 1))
    F, A = rng.integers(-2, 3, (rank, n)), rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.8)
    if n > 1 and rng.random() < 0.3:  # two columns alike, or one the negative of another
        i, j = rng.choice(n, 2, replace=False)
        sign = int(rng.choice([-1, 1]))
        A[:, i], F[:, i] = sign * A[:, j], sign * F[:, j]
    A = _with_dependent_rows(rng, A)
    x = rng.integers(-3, 4, n)
    lower, upper = _around(rng, A @ x, (0.25, 0.3, 0.3))
    low, high = _around(rng, x, [(0.1, 0.5, 0.3), (0.0, 0.2, 0.1), (0.3, 0.6, 0.6)][rng.integers(3)])
    if rng.random() < 0.04 and m:  # most probably infeasible
        upper[0], lower[0] = int((A @ x)[0]) - 1, None
        lower[-1], upper[-1] = int((A @ x)[-1]) + 1, None
    problem = Quadratic(
        integers(F).reshape(-1, n), integers(np.zeros(n)), integers(A), *map(tuple, (lower, upper, low, high))
    )
    return Quadratic(**{**vars(problem), "q": _costs(rng, problem)})


def _with_dependent_rows(rng: Any, A: Any) -> Any:
    """Some rows again, as they are, doubled, with the other sign, or added up."""
    if not A.shape[0]:
        return A
    more = []
    while rng.random() < 0.4 and len(more) < 3:
        i, j = rng.integers(A.shape[0], size=2)
        more.append([A[i], 2 * A[i], -A[i], A[i] + A[j]][rng.integers(4)])
    return np.vstack([A, *more])


def _around(rng: Any, at: Any, share: Any) -> tuple[list[int | None], list[int | None]]:
    """Bounds on both sides of a point, or at it: shares of equations, and of sides with a bound below and above."""
    lower: list[int | None] = []
    upper: list[int | None] = []
    for v in map(int, at):
        fixed, below, above = (rng.random() < s for s in share)
        lower.append(v - int(rng.choice([0, 0, 1, 3])) * (not fixed) if fixed or below else None)
        upper.append(v + int(rng.choice([0, 0, 1, 3])) * (not fixed) if fixed or above else None)
    return lower, upper


def _costs(rng: Any, problem: Quadratic) -> Ints:
    """Costs for which some point and some multipliers are stationary, so that the problem is bounded; or any."""
    n = problem.q.size
    if rng.random() < 0.15:
        return integers(rng.integers(-3, 4, n))
    G, h = problem.rows()
    y = integers(rng.integers(0, 3, h.size) * (rng.random(h.size) < 0.5))
    return (
        G.T @ y - problem.P @ integers(rng.integers(-3, 4, n))
        if h.size
        else problem.P @ integers(rng.integers(-3, 4, n))
    )
