"""Exact optima along a line of costs by the least-index criss-cross method for linear complementarity problems.

In it ties cannot cycle and no feasible start is needed (den Hertog, Roos & Terlaky 1993).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles.exact import Cell, Exact, ExactPath, fractions


def criss_cross(K: Exact, y: Any, c0: Any, c1: Any) -> ExactPath:
    """The optima of caps ``c0 + t c1``, 0 <= t <= 1, by parametric least-index criss-cross pivots.

    Parameters as for `enumerate_bases`. Says of no multiplier that it is unique.
    """
    K, y = np.asarray(K, dtype=object), np.array([int(v) for v in y], dtype=object)
    c0, c1 = fractions(c0), fractions(c1)
    n = y.size
    T = _dictionary(y[:, None] * K * y, y, c0, c1)
    inside = np.zeros(2 * n + 2, dtype=bool)
    t, cells = Fraction(0), []
    while t < 1:
        _restore(T, inside, t)
        shrinking = T[:, -1] < 0
        t_next = min([Fraction(1), *(-T[shrinking, -2] / T[shrinking, -1])])
        at0, rate = (np.where(inside[:n], T[:n, column], Fraction(0)) for column in (-2, -1))
        cells.append(Cell(t, t_next, at0, rate, (False,) * n))
        t = t_next
    return ExactPath(K, y, c0, c1, tuple(cells)).proved()


def _dictionary(Q: Exact, y: Exact, c0: Exact, c1: Exact) -> Exact:
    """The conditions as ``w = M z + q + t r``, w and z complementary: rows of M with q and r appended.

    The pairs: gradient and multiplier, distance to the cap and slack, and two for ``y'a = 0`` with b = b+ - b-.
    """
    n = y.size
    T = fractions(np.zeros((2 * n + 2, 2 * n + 4), dtype=int))
    T[:n, :n], T[:n, n : 2 * n], T[:n, 2 * n], T[:n, 2 * n + 1] = Q, np.eye(n, dtype=int), y, -y
    T[n : 2 * n, :n], T[2 * n, :n], T[2 * n + 1, :n] = -np.eye(n, dtype=int), -y, y
    T[:n, -2], T[n : 2 * n, -2], T[n : 2 * n, -1] = -1, c0, c1
    return T + Fraction(0)


def _restore(T: Exact, inside: Any, t: Fraction) -> None:
    """Pivot until every basic variable is nonnegative at t and a little after it."""
    size = T.shape[0]
    for _ in range(100_000):
        now = T[:, -2] + t * T[:, -1]
        k = next((i for i in range(size) if now[i] < 0 or (now[i] == 0 and T[i, -1] < 0)), None)
        if k is None:
            return
        if T[k, k] != 0:
            _pivot(T, k, k)
            inside[k] = not inside[k]
            continue
        other = next(j for j in range(size) if T[k, j] > 0)  # one exists: the problem is feasible and bounded
        _pivot(T, k, other)
        _pivot(T, other, k)
        T[[k, other]] = T[[other, k]]
        T[:, [k, other]] = T[:, [other, k]]
        inside[[k, other]] = ~inside[[k, other]]
    raise AssertionError("the criss-cross method does not cycle")


def _pivot(T: Exact, r: int, s: int) -> None:
    """Exchange the basic variable of row r and the nonbasic variable of column s."""
    column = T[:, s] / T[r, s]
    row = -T[r] / T[r, s]
    row[s] = 1 / T[r, s]
    used = np.flatnonzero(T[r] != 0)
    for i in np.flatnonzero(column != 0):
        if i != r:
            T[i, used] -= column[i] * T[r, used]
            T[i, s] = column[i]
    T[r] = row
