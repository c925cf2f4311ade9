"""Random degenerate programs along a line, and how far a point is from its optimality conditions, in any arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

INF = float("inf")


def program(seed):
    """P, A, q, lower, upper, below, above in whole numbers; None where bounds cross at t = 0.

    Columns and rows alike, singular P or none, fixed, free and half-bounded items, bounds that close or cross on the
    way, soft bounds, of no cost too. A point near all bounds keeps most of them feasible.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(0, 6))
    N = n + m
    B = rng.integers(-2, 3, (int(rng.integers(0, n + 1)), n))
    P, A = B.T @ B, rng.integers(-2, 3, (m, n))
    if m > 1 and rng.random() < 0.4:
        A[-1] = A[0] * int(rng.integers(1, 3))
    if n > 1 and rng.random() < 0.3:
        P[:, -1], P[-1], A[:, -1] = P[:, 0], P[0], A[:, 0]
        P[-1, -1] = P[0, 0]
    q, first = rng.integers(-3, 4, (2, n)), rng.integers(-2, 3, n)
    last = first + rng.integers(-1, 2, n) if rng.random() < 0.7 else first
    near = np.stack([np.concatenate([x, A @ x]) for x in (first, last)])
    gaps = rng.integers(0, 3, (2, 2, N)) if rng.random() < 0.7 else 2 * rng.integers(0, 2, (1, 1, N))
    lower, upper = near - gaps[0], near + gaps[-1]
    lower, upper = lower.astype(float), upper.astype(float)
    kind = rng.integers(0, 6, N)
    lower[:, kind == 0] = upper[:, kind == 0] = near[:, kind == 0]
    lower[:, (kind == 1) | (kind == 3)] = -INF
    upper[:, (kind == 2) | (kind == 3)] = INF
    if rng.random() < 0.3:  # some bound is pushed beyond what the others leave
        lower[1, int(rng.integers(N))] += 2
    slopes = []
    for _ in range(2):
        moving = rng.random(N) < 0.5
        slope = rng.integers(0, 4, (2, N))
        slope[1, ~moving] = slope[0, ~moving]
        slopes.append(np.where(rng.random(N) < 0.4, slope, INF))
    if (lower[0] > upper[0]).any():
        return None
    return P, A, q, lower, upper, *slopes


def fractions(array):
    """The same numbers as fractions; what is infinite stays."""
    array = np.asarray(array, dtype=float)
    out = np.empty(array.shape, dtype=object)
    for at in np.ndindex(array.shape):
        out[at] = Fraction(float(array[at])) if np.isfinite(array[at]) else float(array[at])
    return out


def off(problem, t, v, y):
    """By how much (v, y) misses being optimal at t: v = (x, Ax), stationarity, and each item on its staircase."""
    n = problem.n
    sides = (problem.q, problem.lower, problem.upper, problem.below, problem.above)
    q, lower, upper, below, above = (
        [(1 - t) * a + t * b if abs(a) < INF else a for a, b in zip(*ends, strict=True)] for ends in sides
    )
    x = v[:n]
    missed = [*abs(v[n:] - problem.A.dot(x)), *abs(problem.P.dot(x) + q - y[:n] - problem.A.T.dot(y[n:]))]
    for vi, yi, low, up, least, most in zip(v, y, lower, upper, below, above, strict=True):
        pieces = [max(abs(yi), low - vi, vi - up)]
        falls = least if least < INF else INF  # y is between -most and least
        if low > -INF:
            rest = -yi if up > low else -most - yi
            pieces.append(max(abs(vi - low), rest, yi - falls))
        if up < INF:
            rest = yi if up > low else yi - falls
            pieces.append(max(abs(vi - up), rest, -most - yi))
        if low > -INF and least < INF:
            pieces.append(max(abs(yi - least), vi - low))
        if up < INF and most < INF:
            pieces.append(max(abs(yi + most), up - vi))
        missed.append(min(pieces))
    return max(missed)


def refuted(problem, found, tol=0):
    """Whether the ray of a trace that ended proves that there is no optimum at any later t (in fractions: exactly).

    `tol` is what a ray may miss, relative to its largest entry.
    """
    n, t = problem.n, found.t[-1]
    if found.item >= 0:
        low, up = problem.lower[:, found.item], problem.upper[:, found.item]
        return (1 - t) * (up[0] - low[0]) + t * (up[1] - low[1]) <= tol and up[1] < low[1]
    ray = found.ray
    tol = tol * max(abs(ray))
    if found.status == "unbounded":
        d = ray[:n]
        if any(abs(ray[n:] - problem.A.dot(d)) > tol) or any(abs(problem.P.dot(d)) > tol):
            return False
        cost = [problem.q[k].dot(d) for k in (0, 1)]
        for i, move in enumerate(ray):
            has = problem.upper if move > 0 else problem.lower
            slope = problem.above if move > 0 else problem.below
            if abs(move) > tol and abs(has[0, i]) < INF:
                cost = [c + abs(move) * s for c, s in zip(cost, slope[:, i], strict=True)]
        return abs((1 - t) * cost[0] + t * cost[1]) <= tol and cost[1] < cost[0]
    if any(abs(ray[:n] + problem.A.T.dot(ray[n:])) > tol):
        return False
    over = [0, 0]
    for i, weight in enumerate(ray):
        side, slope = (problem.lower, problem.below) if weight > 0 else (problem.upper, problem.above)
        if abs(weight) > tol:
            if slope[0, i] < INF:
                return False
            over = [o + weight * bound for o, bound in zip(over, side[:, i], strict=True)]
    return abs((1 - t) * over[0] + t * over[1]) <= tol and over[1] > over[0]
