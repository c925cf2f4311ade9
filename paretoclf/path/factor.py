"""Cholesky factor of the margin system, updated row by row.

The factor is of ``M = Q_FF + s A_F' A_F`` (s > 0): positive definite exactly where the bordered system of the margin
set F is nonsingular, because the equality constraints fix ``A_F a``. A sample enters by one column, leaves by a
rank-one *positive* update of what is behind it; both are stable. Careful steps use the factor only as a
preconditioner: their solutions are refined against residuals of the original system.

``M = R' R`` with R upper triangular, so every inner loop runs along a row in memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.memory import empty_on_line
from paretoclf.path import extended
from paretoclf.path.jit import by_class, compiled
from paretoclf.path.vectors import FAST, dot, fill

# Four rows at a time, less traffic on x. The small triangle in between is solved with reciprocals, which need not wait
# for x as quotients would; with the liberty that FAST gives, the compiler would turn them into quotients again.


@compiled()
def _down(R: Array, j: int, x: Array) -> tuple[float, float, float, float]:
    i0, i1, i2, i3 = 1.0 / R[j, j], 1.0 / R[j + 1, j + 1], 1.0 / R[j + 2, j + 2], 1.0 / R[j + 3, j + 3]
    x0 = x[j] * i0
    x1 = (x[j + 1] - R[j, j + 1] * x0) * i1
    x2 = (x[j + 2] - R[j, j + 2] * x0 - R[j + 1, j + 2] * x1) * i2
    x3 = (x[j + 3] - R[j, j + 3] * x0 - R[j + 1, j + 3] * x1 - R[j + 2, j + 3] * x2) * i3
    x[j], x[j + 1], x[j + 2], x[j + 3] = x0, x1, x2, x3
    return x0, x1, x2, x3


@compiled()
def _up(R: Array, j: int, s0: float, s1: float, s2: float, s3: float, x: Array) -> None:
    i0, i1, i2, i3 = 1.0 / R[j, j], 1.0 / R[j + 1, j + 1], 1.0 / R[j + 2, j + 2], 1.0 / R[j + 3, j + 3]
    x3 = (x[j + 3] - s3) * i3
    x2 = ((x[j + 2] - s2) - R[j + 2, j + 3] * x3) * i2
    x1 = ((x[j + 1] - s1) - R[j + 1, j + 3] * x3 - R[j + 1, j + 2] * x2) * i1
    x0 = ((x[j] - s0) - R[j, j + 3] * x3 - R[j, j + 2] * x2 - R[j, j + 1] * x1) * i0
    x[j], x[j + 1], x[j + 2], x[j + 3] = x0, x1, x2, x3


@compiled(fastmath=FAST)
def forward(R: Array, k: int, x: Array) -> None:
    """Solve ``R' x = x`` in place, leading k rows."""
    j = k - k  # not a constant: for those, callers are compiled once more
    while j < k and x[j] == 0.0:
        j += 1
    while j + 3 < k:
        x0, x1, x2, x3 = _down(R, j, x)
        rest = x[j + 4 : k]
        r0, r1, r2, r3 = R[j, j + 4 : k], R[j + 1, j + 4 : k], R[j + 2, j + 4 : k], R[j + 3, j + 4 : k]
        for i in range(rest.shape[0]):
            rest[i] -= (r0[i] * x0 + r1[i] * x1) + (r2[i] * x2 + r3[i] * x3)
        j += 4
    while j < k:
        x0 = x[j] / R[j, j]
        x[j] = x0
        for i in range(j + 1, k):
            x[i] -= R[j, i] * x0
        j += 1


@compiled(fastmath=FAST)
def backward(R: Array, k: int, x: Array) -> None:
    """Solve ``R x = x`` in place, leading k rows."""
    # The rows that are not in fours are the last ones, the short ones.
    for j in range(k - 1, k - k % 4 - 1, -1):
        row = R[j]
        s = 0.0
        for i in range(j + 1, k):
            s += row[i] * x[i]
        x[j] = (x[j] - s) / row[j]
    for j in range(k - k % 4 - 4, -1, -4):
        rest = x[j + 4 : k]
        r0, r1, r2, r3 = R[j, j + 4 : k], R[j + 1, j + 4 : k], R[j + 2, j + 4 : k], R[j + 3, j + 4 : k]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(rest.shape[0]):
            y = rest[i]
            s0 += r0[i] * y
            s1 += r1[i] * y
            s2 += r2[i] * y
            s3 += r3[i] * y
        _up(R, j, s0, s1, s2, s3, x)


@compiled()
def solve(R: Array, k: int, X: Array) -> None:
    """Solve ``R' R x = x`` in place for every row x of X (shape (q, k))."""
    for q in range(X.shape[0]):
        forward(R, k, X[q])
        backward(R, k, X[q])


@compiled()
def halves(R: Array, k: int, X: Array, Y: Array) -> None:
    """For every row x of X (q, k): it becomes ``inv(R') x``, and that of Y ``inv(R' R) x``."""
    for q in range(X.shape[0]):
        forward(R, k, X[q])
        for j in range(k):
            Y[q, j] = X[q, j]
        backward(R, k, Y[q])


@compiled()
def append(R: Array, k: int, column: Array, pivot: float) -> None:
    """Add column k; pivot is the square of its diagonal element."""
    for j in range(k):
        R[j, k] = column[j]
    R[k, k] = math.sqrt(pivot)


@compiled(fastmath=FAST)
def delete(R: Array, k: int, r: int, v: Array) -> None:
    """Remove row and column r from the leading k x k factor, in place; v is room for k numbers."""
    for i in range(r + 1, k):
        v[i - r - 1] = R[r, i]
    for j in range(r):
        row = R[j, r:k]
        for i in range(k - r - 1):
            row[i] = row[i + 1]
    # Behind r the factor T of the trailing block becomes that of T' T + v' v, v the removed row.
    for j in range(r + 1, k):
        first = v[j - r - 1]
        h = math.sqrt(R[j, j] * R[j, j] + first * first)
        c, s = R[j, j] / h, first / h
        R[j - 1, j - 1] = h
        row, to, rest = R[j, j + 1 : k], R[j - 1, j : k - 1], v[j - r : k - r - 1]
        for i in range(rest.shape[0]):
            x, y = row[i], rest[i]
            to[i] = c * x + s * y
            rest[i] = c * y - s * x


@compiled()
def schur(k: int, index: Index, kappa: Array, group: Index, U: Array, S: Array) -> None:
    """``A_F U'``, U the factor's solutions for the rows of A_F."""
    for h in range(S.shape[0]):
        fill(S[h], 0.0)
    for j in range(k):
        g = group[index[j]]
        if g >= 0:
            for h in range(S.shape[0]):
                S[g, h] += kappa[index[j]] * U[h, j]


@compiled()
def schur_of(k: int, rows: Array, U: Array, S: Array) -> None:
    """`schur` from the rows of A_F themselves."""
    for g in range(S.shape[0]):
        for h in range(S.shape[0]):
            S[g, h] = dot(rows[g, :k], U[h, :k])


@compiled()
def solve_small(S: Array, r: Array, out: Array) -> None:
    """Solve the symmetric system of at most two equations for the multipliers of the groups."""
    if r.shape[0] == 1:
        out[0] = r[0] / S[0, 0]
    elif r.shape[0] == 2:
        d = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
        out[0], out[1] = (S[1, 1] * r[0] - S[0, 1] * r[1]) / d, (S[0, 0] * r[1] - S[1, 0] * r[0]) / d


class SoftFactor(NamedTuple):
    """The factor in double precision."""

    R: Array


class HardFactor(NamedTuple):
    """The factor in double-double, hi and lo."""

    high: Array
    low: Array


def _solve_soft(F: SoftFactor, k: int, x: Array, room: Array) -> None:
    forward(F.R, k, x)
    backward(F.R, k, x)


def _solve_hard(F: HardFactor, k: int, x: Array, room: Array) -> None:
    extended.cholesky_solve(F.high, F.low, x, room)


#: Solve with either factor, in place; ``room`` (k,) is for the second.
solve_with = by_class({SoftFactor: _solve_soft, HardFactor: _solve_hard})


_PAD = 8  # unused columns: rows a power of two apart would compete for the same lines of the cache


class Factor:
    """The factor of the current margin system; in twice the precision once `harden` was called for it."""

    def __init__(self) -> None:
        self.k = 0
        self.R = empty_on_line(128, 128 + _PAD)  # memory that is not used costs nothing
        self._hard: tuple[Array, Array] | None = None

    def reserve(self, k: int) -> None:
        """Make room for k rows."""
        have = self.R.shape[0]
        if k > have:
            rows = max(k, 2 * have)
            grown = empty_on_line(rows, rows + _PAD)
            grown[:have, :have] = self.R[:, :have]
            self.R = grown

    def take(self, R: Array) -> None:
        """Take over a whole factor of shape (k, k)."""
        self.k = R.shape[0]
        self.reserve(self.k)
        self.R[: self.k, : self.k] = R
        self._hard = None

    def append(self, column: Array, pivot: float) -> None:
        """Add a row; pivot is the square of its diagonal element."""
        self.reserve(self.k + 1)
        self.R[: self.k, self.k], self.R[self.k, self.k] = column, math.sqrt(pivot)
        self.k += 1
        self._hard = None

    def delete(self, position: int) -> None:
        """Remove a row and column."""
        delete(self.R, self.k, position, np.empty(self.k))
        self.k -= 1
        self._hard = None

    @property
    def hard(self) -> bool:
        """Whether solves are in extended precision."""
        return self._hard is not None

    @property
    def best(self) -> SoftFactor | HardFactor:
        """The factor in extended precision, if there is one."""
        return SoftFactor(self.R) if self._hard is None else HardFactor(*self._hard)

    def harden(self, high: Array, low: Array) -> bool:
        """Factor the matrix ``high + low`` in extended precision; False if it is not positive definite."""
        if not extended.cholesky(high, low):
            return False
        self._hard = high, low
        return True

    def halves(self, x: Array) -> tuple[Array, Array]:
        """``inv(R') x``, in double, and ``inv(R' R) x``; x is (k,) or (q, k)."""
        if self.k == 0:
            return x.copy(), x.copy()
        half = np.atleast_2d(x).copy()
        whole = half.copy()
        halves(self.R, self.k, half, whole)
        if self._hard is not None:
            whole[:] = x
            for q in range(whole.shape[0]):
                extended.cholesky_solve(*self._hard, whole[q], np.empty(self.k))
        return half.reshape(x.shape), whole.reshape(x.shape)

    def solve(self, x: Array) -> Array:
        """``inv(R' R) x`` for x of shape (k,) or (q, k)."""
        return self.halves(x)[1]
