"""Cholesky factor of the margin system, updated row by row.

The factor is of ``Q_FF + s A_F' A_F`` (s > 0): positive definite exactly where the bordered system of the margin
set F is nonsingular, because the equality constraints fix ``A_F a``. A sample enters by one row, leaves by a
rank-one *positive* update of the rows behind it; both are stable. The factor is only ever a preconditioner:
solutions are refined against residuals of the original system.
"""

from __future__ import annotations

import math

import numpy as np

from paretoclf.checks import Array
from paretoclf.path import extended
from paretoclf.path.jit import compiled

_FAST = {"reassoc", "contract", "nsz"}  # lets the compiler vectorise dot products; nothing exact depends on it


@compiled(fastmath=_FAST)
def forward(L: Array, k: int, x: Array) -> None:
    """Solve ``L x = x`` in place, leading k rows."""
    for i in range(k):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (x[i] - s) / L[i, i]


@compiled(fastmath=_FAST)
def backward(L: Array, k: int, x: Array) -> None:
    """Solve ``L' x = x`` in place, leading k rows."""
    for i in range(k - 1, -1, -1):
        xi = x[i] / L[i, i]
        x[i] = xi
        for j in range(i):
            x[j] -= L[i, j] * xi


@compiled()
def solve(L: Array, k: int, X: Array) -> None:
    """Solve ``L L' x = x`` in place for every row x of X (shape (q, k))."""
    for q in range(X.shape[0]):
        forward(L, k, X[q])
        backward(L, k, X[q])


@compiled()
def delete(L: Array, k: int, r: int) -> None:
    """Remove row and column r from the leading k x k factor, in place."""
    for i in range(r + 1, k):
        for j in range(r):
            L[i - 1, j] = L[i, j]
    # Behind r the factor T of the trailing block becomes that of T T' + v v', v the removed column.
    c = np.empty(k)
    s = np.empty(k)
    for i in range(r + 1, k):
        v = L[i, r]
        for j in range(r + 1, i):
            x = L[i, j]
            L[i - 1, j - 1] = c[j] * x + s[j] * v
            v = c[j] * v - s[j] * x
        x = L[i, i]
        h = math.hypot(x, v)
        c[i] = x / h
        s[i] = v / h
        L[i - 1, i - 1] = h


class Factor:
    """The factor of the current margin system; in twice the precision once `harden` was called for it."""

    def __init__(self) -> None:
        self.k = 0
        self.L = np.empty((16, 16))
        self._hard: tuple[Array, Array] | None = None

    def append(self, row: Array, pivot: float) -> None:
        """Add a row; pivot is the square of its diagonal element."""
        if self.k == self.L.shape[0]:
            grown = np.empty((2 * self.k, 2 * self.k))
            grown[: self.k, : self.k] = self.L
            self.L = grown
        self.L[self.k, : self.k] = row
        self.L[self.k, self.k] = math.sqrt(pivot)
        self.k += 1
        self._hard = None

    def delete(self, position: int) -> None:
        """Remove a row and column."""
        delete(self.L, self.k, position)
        self.k -= 1
        self._hard = None

    @property
    def hard(self) -> bool:
        """Whether solves are in extended precision."""
        return self._hard is not None

    def harden(self, high: Array, low: Array) -> bool:
        """Factor the matrix ``high + low`` in extended precision; False if it is not positive definite."""
        if not extended.cholesky(high, low):
            return False
        self._hard = high, low
        return True

    def forward(self, x: Array) -> Array:
        """``inv(L) x``, in double."""
        x = x.copy()
        forward(self.L, self.k, x)
        return x

    def solve(self, x: Array) -> Array:
        """``inv(L L') x`` for x of shape (k,) or (q, k)."""
        X = np.atleast_2d(x).copy()
        if self._hard is None:
            solve(self.L, self.k, X)
        else:
            for q in range(X.shape[0]):
                extended.cholesky_solve(*self._hard, X[q])
        return X.reshape(x.shape)
