r"""The walk of a large, sparse problem: the basis by a sparse factor, and what has changed since by a border.

`paretoclf.engine.textbook.Walk` keeps the inverse of the basis, k by k. Here the basis of some step is kept as
the sparse factor of SuperLU, and the c items that have come or gone since as columns C beside it:

.. math::

   \begin{pmatrix}H_{00}&C\\C^\top&G\end{pmatrix},\qquad S=G-C^\top H_{00}^{-1}C,

with a column of H for who has come and a unit column, which holds its value at 0, for who has gone. One solution takes
two triangular ones and a product with the c columns :math:`H_{00}^{-1}C`; after some exchanges a new factor is made.

Errors are estimates: what rounding does to a solution is probed with residuals of random signs. What is found is proved
as any path is (`paretoclf.proof.programs`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk, halves, rounded

#: Items that may have changed before the basis is factored afresh.
_BORDER = 64
#: The most rounds with residuals in twice the precision.
_ROUNDS = 8
#: Residuals of random signs by which rounding is probed, and how many times what they show is allowed.
_PROBES, _SAFE = 2, 4.0


class _SparseBlocks:
    """The matrix H, by its sparse blocks."""

    def __init__(self, P: Any, A: Any) -> None:
        self.P, self.A, self.n = sp.csr_array(P), sp.csr_array(A), P.shape[0]
        self.whole = sp.csr_array(sp.block_array([[self.P, self.A.T], [self.A, None]]))

    def times(self, u: Array) -> Array:
        """H u, for a vector or for rows."""
        return np.asarray((self.whole @ u.T).T)

    @cached_property
    def turns(self) -> list[tuple[Any, Index, Array, Array, Array]]:
        """The entries of all rows, one of each row a turn: rows, columns, values, and these as sums of two."""
        M, found = self.whole, []
        sizes = np.diff(M.indptr)
        for k in range(int(sizes.max(initial=0))):
            rows = np.flatnonzero(sizes > k)
            at = M.indptr[rows] + k
            found.append((rows, M.indices[at], M.data[at], *halves(M.data[at])))
        return found

    def missed(self, u: Array, wanted: Array) -> Array:
        """``wanted - H u`` with sums and products in twice the precision, then rounded."""
        total, rest = wanted.copy(), np.zeros(wanted.shape)
        for rows, columns, values, high, low in self.turns:
            x = u[:, columns]
            (a, b), product = halves(x), values * x
            off = ((high * a - product) + high * b + low * a) + low * b
            before = total[:, rows]
            after = before - product
            part = after - before
            rest[:, rows] += ((before - (after - part)) - (product + part)) - off
            total[:, rows] = after
        return total + rest

    def column(self, item: int) -> Array:
        """One column, as an array."""
        found, (begin, end) = np.zeros(self.whole.shape[0]), self.whole.indptr[item : item + 2]
        found[self.whole.indices[begin:end]] = self.whole.data[begin:end]
        return found


class _Bordered:
    """A factor of the basis B and what has changed since."""

    def __init__(self, H: _SparseBlocks, B: Index) -> None:
        self.H, self.B, self.items = H, B, list[int]()
        self.place = np.full(H.whole.shape[0], -1)
        self.place[B] = np.arange(B.size)
        self.factor = splu(sp.csc_array(H.whole[B][:, B])) if B.size else None
        self.C = self.W = np.zeros((B.size, 0))
        self.G, self.come = np.zeros((0, 0)), np.zeros(0, dtype=np.bool_)
        self.border: Any = None

    def toggle(self, item: int) -> bool:
        """Let an item come or go; whether there is room for it in the border."""
        if item in self.items:
            k = self.items.index(item)
            self.items.pop(k)
            self.C, self.W, self.G = np.delete(self.C, k, 1), np.delete(self.W, k, 1), np.delete(self.G, k, 0)
            self.G = np.delete(self.G, k, 1)
        elif len(self.items) == _BORDER:
            return False
        else:
            c, comes = np.zeros(self.B.size), self.place[item] < 0
            if comes:
                column = self.H.column(item)
                c, g = column[self.B], np.where([self.place[each] < 0 for each in self.items], column[self.items], 0.0)
            else:
                c[self.place[item]], g = 1.0, np.zeros(len(self.items))
            w = c if self.factor is None else self.factor.solve(c)
            self.C, self.W = np.column_stack([self.C, c]), np.column_stack([self.W, w])
            own = column[item] if comes else 0.0
            self.G = np.block([[self.G, g[:, None]], [g[None], np.full((1, 1), own)]])
            self.items.append(item)
        return True

    def is_regular(self) -> bool:
        """Whether it can be solved with those that have come and gone."""
        self.come = self.place[self.items] < 0
        if not self.items:
            return True
        *self.border, singular = dgetrf(self.G - self.C.T @ self.W)
        return not singular

    def solve(self, right: Array) -> Array:
        """Items of the basis for right-hand sides, both in rows over all items."""
        found = np.zeros(right.shape)
        y = right[:, self.B].T
        if self.factor is not None:
            y = self.factor.solve(np.ascontiguousarray(y))
        if self.items:
            beside = np.where(self.come[:, None], right[:, self.items].T, 0.0) - self.C.T @ y
            s = dgetrs(*self.border, beside)[0]
            y = y - self.W @ s
            found[:, self.B] = y.T
            found[:, self.items] = np.where(self.come, s.T, 0.0)
        else:
            found[:, self.B] = y.T
        return found


class SparseWalk(Walk):
    """From event to event along a line, in doubles, on sparse bases."""

    def __init__(self, data: Data, labels: Index) -> None:
        self._bordered: _Bordered | None = None
        self._signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(_PROBES, labels.size))
        super().__init__(data, labels)

    def blocks(self, P: Any, A: Any) -> Any:
        """H, and its absolute values."""
        return _SparseBlocks(P, A), _SparseBlocks(abs(P), abs(A))

    def invert(self, B: Index) -> None:
        """A factor of the basis."""
        self.members = B
        try:
            self._bordered = _Bordered(self.H, B)
        except RuntimeError:
            raise self.refused("the basis is singular") from None

    def pivot(self, items: list[int]) -> None:
        """One item or two change their roles: beside the factor, or in a new one."""
        self.resting[:] = False
        mask = np.zeros(self.labels.size, dtype=np.bool_)
        mask[self.members] = True
        mask[items] ^= True
        self.members = np.flatnonzero(mask)
        assert self._bordered is not None
        if not (all(self._bordered.toggle(item) for item in items) and self._bordered.is_regular()):
            self.invert(self.members)

    def refined(self, u: Array, wanted: Array) -> Array:
        """Complete rows in the basis, by a few rounds."""
        assert self._bordered is not None
        found = u.copy()
        for _ in range(2):
            found += self._bordered.solve(wanted - self.H.times(found))
        return found

    def sharpened(self, u: Array, wanted: Array) -> tuple[Array, Array]:
        """The same with residuals in twice the precision, and errors in the basis: see `Walk.sharpened`."""
        assert self._bordered is not None
        B, found, errors = self.members, u.copy(), np.full((len(u), self.members.size), np.inf)
        before = np.full(len(u), np.inf)
        going = np.ones(len(u), dtype=np.bool_)
        for _ in range(_ROUNDS):
            step = self._bordered.solve(self.H.missed(found, wanted))
            size = np.abs(step).max(axis=1, initial=0.0)
            own = rounded(np.abs(found[:, B]))
            sharp = going & (size <= own.max(axis=1, initial=0.0))
            errors[sharp] = 2 * np.abs(step[sharp][:, B]) + own[sharp]
            going &= size <= before / 4
            if not going.any():
                break
            found[going] += step[going]
            before = size
        return found, errors

    def amplified(self, each: Array) -> Array:
        """What so large errors of the equations can do to the items in the basis, as probed."""
        assert self._bordered is not None
        found = self._bordered.solve(self._signs * each)[:, self.members]
        return np.asarray(_SAFE * np.abs(found).max(axis=0, initial=0.0))
