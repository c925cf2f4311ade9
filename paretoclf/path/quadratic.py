"""The quadratic term Q of a box QP in the two forms the tracker can use: a Gram matrix, or features.

Both answer the same questions about ``Q a = Q_F a_F + Q_L c_L(t)``. Caps are combinations of two fixed vectors,
``c(t) = phi_0(t) base_0 + phi_1(t) base_1``; what the samples at their cap contribute to each of the two is kept in
double-double and changed by one row when a sample enters or leaves, so it never drifts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index, Mask
from paretoclf.path import extended
from paretoclf.path.aside import share
from paretoclf.path.factor import Factor
from paretoclf.path.jit import compiled
from paretoclf.path.rows import DenseRows, GramRows, Rows, SparseRows, change_cap
from paretoclf.tolerances import DEPENDENT_FEATURES, DEPENDENT_GRAM

_ROWS = 256  # rows of the Gram copied together
STORED_SLOPE = 512  # a path keeps w up to this length, beyond it recomputes w from the multipliers


def centre(X: Any) -> Array | None:
    """Where to measure samples from where the intercept is free: costs no accuracy, and improves the conditioning.

    None for sparse samples, which would fill up, and for features too many for w to be stored.
    """
    if not isinstance(X, np.ndarray) or X.shape[1] > STORED_SLOPE:
        return None
    return np.asarray(np.where(np.ptp(X, axis=0) > 0, X.mean(axis=0), X[0]))


@compiled()
def _change_caps(Q: Rows, bases: Array, sums: Array, samples: Index, sign: float) -> None:
    """`change_cap` for some samples."""
    for j in range(samples.shape[0]):
        change_cap(Q, bases, sums, samples[j], sign)


class Multipliers:
    """Margin multipliers and eta in double-double: rows hi and lo."""

    def __init__(self, k: int, m: int) -> None:
        self.a, self.eta = np.zeros((2, k)), np.zeros((2, m))


def _error(a: Array, b: Array, s: Array) -> Array:
    z = s - a
    return np.asarray((a - (s - z)) + (b - z))


class Quadratic:
    """What a Gram and features have in common: the sums over the samples at their cap."""

    rows: Rows
    pivot_noise: float

    def __init__(self, rows: Rows, n: int, width: int) -> None:
        self.rows, self.n = rows, n
        self.sums = np.zeros((2, 2, width))
        self.at_cap = np.zeros((2, 2, width))  # contribution of those at their cap: value at t and rate, hi and lo
        self.features = 0 if isinstance(rows, GramRows) else width
        self.w = np.zeros((2, 2, self.features))  # w and its rate, hi and lo

    @property
    def stored_width(self) -> int:
        """Length of the vector w that a log keeps for each segment; 0 if none."""
        return 0

    @property
    def shift(self) -> float:
        """The s of ``Q_FF + s A_F' A_F``."""
        return self.rows.shift

    @property
    def reach(self) -> Array:
        """``sqrt(Q_ii)``."""
        return self.rows.reach

    def begin(self, bases: Array, at_cap: Mask) -> None:
        """Caps are combinations of these two bases (2, n); these samples are at theirs."""
        self.bases = bases
        self.sums[:] = 0.0
        arguments = self.rows, bases, self.sums, np.flatnonzero(at_cap), 1.0
        share(_change_caps, *arguments)
        _change_caps(*arguments)

    def cap_changes(self, i: int, sign: float) -> None:
        """Sample i joins (+1) or leaves (-1) the samples at their cap."""
        _change_caps(self.rows, self.bases, self.sums, np.array([i]), sign)


def _lengths(diagonal: Array) -> tuple[Array, Array, Array, float, float]:
    """Last fields of Rows, from the diagonal of Q; the shift is what is typical of it."""
    mean, reach = float(np.mean(diagonal)), np.sqrt(diagonal)
    shift = mean if mean > 0 else 1.0
    return diagonal, reach, np.sqrt(diagonal + shift), float(reach.max(initial=0.0)), shift


class GramForm(Quadratic):
    """``Q = diag(sign) K diag(sign)`` from a kernel matrix held in memory."""

    pivot_noise = DEPENDENT_GRAM

    def __init__(self, K: Array, sign: Array) -> None:
        rows = GramRows(K, K.reshape(-1), np.asarray(sign, dtype=float), *_lengths(np.maximum(np.diagonal(K), 0.0)))
        super().__init__(rows, K.shape[0], K.shape[0])
        self.K, self.sign = rows.K, rows.sign

    def new_row(self, factor: Factor, index: Index, i: int, kappa: Array, group: Index) -> tuple[Array, float, Array]:
        """Column of the factor for sample i, its squared pivot, and the combination u with ``M_FF u = M_Fi``."""
        k = index.size
        same = (group[index] == group[i]) & (group[i] >= 0)
        shifted = self.shift * kappa[i] * kappa[index] * same
        diagonal = self.K[i, i] + (self.shift if group[i] >= 0 else 0.0)
        own = self.sign[i] * self.K[i, index] * self.sign[index]
        column = own + shifted
        row, u = factor.halves(column)
        pivot = diagonal - row @ row
        if pivot < 1e-4 * diagonal:
            # Cancellation: solve again for what is left, and take the pivot from the refined combination.
            zero, none, left = np.zeros(k), np.full(self.n, -1), np.empty(k)
            for _ in range(3):
                right = own.copy(), zero.copy()
                extended.gram_residual(self.K, self.sign, index, *right, kappa, none, u, zero, zero, zero, left)
                left += self.shift * kappa[index] * _group_rest(kappa, group, index, i, u)
                u += factor.solve(left)
            pivot = diagonal - u @ (column + left)
        return row, float(pivot), u

    def system(self, index: Index, kappa: Array, group: Index) -> Array:
        """The shifted margin system ``Q_FF + s A_F' A_F``."""
        return self._own(index) + _shifts(self.shift, index, kappa, group)

    def precise_system(self, index: Index, kappa: Array, group: Index) -> tuple[Array, Array]:
        """`system` in double-double."""
        own, shift = self._own(index), _shifts(self.shift, index, kappa, group)
        high = own + shift
        return high, _error(own, shift, high)

    def _own(self, index: Index) -> Array:
        return np.asarray(self.sign[index][:, None] * self.K[np.ix_(index, index)] * self.sign[index])

    def precise(
        self,
        samples: Index,
        index: Index,
        p: Array,
        p_lo: Array,
        kappa: Array,
        group: Index,
        value: Multipliers,
        rate: Multipliers,
    ) -> Array:
        """Per sample the gradient, its slope, and the size of the slope's terms, in extended precision."""
        out = np.empty((3, samples.size))
        extended.gram_gradients(
            self.K, self.sign, samples, index, self.at_cap[0], self.at_cap[1], p, p_lo, kappa, group,
            value.a[0], value.a[1], value.eta[0], value.eta[1], rate.a[0], rate.a[1], rate.eta[0], rate.eta[1], out,
        )  # fmt: skip
        return out

    def products(self, index: Index, value: Multipliers, rate: Multipliers) -> tuple[Array, Array]:
        """``Q a`` and its derivative in double, shape (2, n), and the size of the terms that were summed."""
        both = np.stack([value.a[0], rate.a[0]])
        coef = both * self.sign[index]
        out = self.at_cap[:, 0].copy()
        size = np.abs(out) + (np.abs(both) @ self.reach[index])[:, None] * self.reach
        for first in range(0, index.size, _ROWS):
            part = slice(first, first + _ROWS)
            out += coef[:, part] @ self.K[index[part]]
        return out * self.sign, size

    def slopes(self) -> None:
        """No vector w."""
        return None


class FeatureForm(Quadratic):
    """``Q = Z Z'`` with ``Z = diag(sign) X``: the n x n matrix is never formed, and w is a variable of its own.

    Parameters
    ----------
    X : array of shape (n, d) or scipy.sparse.csr_array
    sign : array of shape (n,)
    """

    pivot_noise = DEPENDENT_FEATURES

    def __init__(self, X: Any, sign: Array) -> None:
        self.X, self.sign = X, sign
        n, d = X.shape
        if sp.issparse(X):
            Z = sp.csr_array(X)
            ptr, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
            values = np.repeat(sign, np.diff(ptr)) * Z.data
            diagonal = np.add.reduceat(np.append(values * values, 0.0), ptr[:-1]) * (np.diff(ptr) > 0)
            rows: Rows = SparseRows(ptr, columns, values, np.zeros(0), np.ones(n), *_lengths(diagonal))
        else:
            tall = np.ascontiguousarray(sign[:, None] * X)
            ptr, columns, values = (
                d * np.arange(n + 1, dtype=np.int64), np.tile(np.arange(d, dtype=np.int32), n), tall.reshape(-1),
            )  # fmt: skip
            lengths = _lengths(np.einsum("ij,ij->i", tall, tall))
            rows = DenseRows(tall, tall.T.reshape(-1), ptr, columns, values, np.ones(n), *lengths)
        super().__init__(rows, n, d)
        self._features = ptr, columns, values

    @property
    def stored_width(self) -> int:
        """Length of w, where it is about as short as a margin set."""
        d = int(self.sums.shape[2])
        return d if d <= STORED_SLOPE else 0

    def _dot(self, w: Array) -> Array:
        """``Z w`` for one vector or rows of vectors."""
        if isinstance(self.rows, DenseRows):
            return np.asarray(w @ self.rows.tall.T)
        ptr, columns, values = self._features
        Z = sp.csr_array((values, columns, ptr), shape=(self.n, self.sums.shape[2]))
        return np.asarray((Z @ w.T).T)

    def _rows(self, index: Index) -> Any:
        """Rows of Z."""
        if isinstance(self.rows, DenseRows):
            return self.rows.tall[index]
        ptr, columns, values = self._features
        size = ptr[index + 1] - ptr[index]
        at = np.repeat(ptr[index] - np.concatenate([[0], np.cumsum(size)[:-1]]), size) + np.arange(size.sum())
        ends = np.concatenate([[0], np.cumsum(size)])
        return sp.csr_array((values[at], columns[at], ends), shape=(index.size, self.sums.shape[2]))

    def new_row(self, factor: Factor, index: Index, i: int, kappa: Array, group: Index) -> tuple[Array, float, Array]:
        """Column of the factor for sample i, its squared pivot, and the combination u with ``M_FF u = M_Fi``."""
        # Corrected seminormal equations: the pivot is the squared norm of an explicit residual vector, so it is
        # accurate relative to the features, not to their squares.
        k, d = index.size, self.sums.shape[2]
        ptr, columns, values = self._features
        z, root = np.zeros(d), np.sqrt(self.shift)
        z[columns[ptr[i] : ptr[i + 1]]] = values[ptr[i] : ptr[i + 1]]
        extra = np.zeros(int(group.max(initial=-1)) + 1)
        if group[i] >= 0:
            extra[group[i]] = root * kappa[i]
        rows = self._rows(index)
        tail = np.zeros((k, extra.size))
        grouped = group[index] >= 0
        tail[grouped, group[index][grouped]] = root * kappa[index][grouped]
        row, u = np.zeros(k), np.zeros(k)
        for _ in range(3):
            r = rows @ z + tail @ extra
            half, r = factor.halves(r)
            row += half
            u += r
            z -= r @ rows
            extra -= r @ tail
        return row, float(z @ z + extra @ extra), u

    def system(self, index: Index, kappa: Array, group: Index) -> Array:
        """The shifted margin system ``Q_FF + s A_F' A_F``."""
        rows = self._rows(index)
        own = rows @ rows.T
        return np.asarray(own.toarray() if sp.issparse(own) else own) + _shifts(self.shift, index, kappa, group)

    def precise_system(self, index: Index, kappa: Array, group: Index) -> tuple[Array, Array]:
        """`system` in double-double."""
        high = _shifts(self.shift, index, kappa, group)
        low = np.zeros_like(high)
        extended.add_products(*self._features, index, np.zeros(self.sums.shape[2]), high, low)
        return high, low

    def precise(
        self,
        samples: Index,
        index: Index,
        p: Array,
        p_lo: Array,
        kappa: Array,
        group: Index,
        value: Multipliers,
        rate: Multipliers,
    ) -> Array:
        """Per sample the gradient, its slope, and the size of the slope's terms, in extended precision."""
        out = np.empty((3, samples.size))
        extended.feature_gradients(
            *self._features, samples, self.w, p, p_lo, kappa, group,
            value.eta[0], value.eta[1], rate.eta[0], rate.eta[1], out,
        )  # fmt: skip
        return out

    def products(self, index: Index, value: Multipliers, rate: Multipliers) -> tuple[Array, Array]:
        """``Q a`` and its derivative in double, shape (2, n), and the size of the terms that were summed."""
        w = self.w.sum(axis=1)  # where large terms cancel the low part is no rounding of the high one
        return self._dot(w), np.linalg.norm(w, axis=1)[:, None] * self.reach

    def slopes(self) -> tuple[Array, Array]:
        """The vector w and its derivative of the last `products`."""
        w, dw = self.w.sum(axis=1)
        return w, dw


def _shifts(shift: float, index: Index, kappa: Array, group: Index) -> Array:
    same = (group[index][:, None] == group[index]) & (group[index] >= 0)
    return np.asarray(shift * np.outer(kappa[index], kappa[index]) * same)


def _group_rest(kappa: Array, group: Index, index: Index, i: int, u: Array) -> Array:
    """Per margin row, ``kappa_i [same group] - sum_j kappa_j u_j [same group]``: the shift's part of a residual."""
    rest = np.zeros(index.size)
    for g in np.unique(group[index]):
        if g >= 0:
            member = group[index] == g
            rest[member] = (kappa[i] if group[i] == g else 0.0) - float(kappa[index][member] @ u[member])
    return rest
