"""The quadratic term Q of a box QP in the two forms the tracker can use: a Gram matrix, or features.

Both answer the same questions about ``Q a = Q_F a_F + Q_L c_L(t)``. The contribution of the samples at their cap,
affine in t, is kept in double-double and changed by one row when a sample enters or leaves, so it never drifts.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.factor import Factor
from paretoclf.tolerances import DEPENDENT_FEATURES, DEPENDENT_GRAM


class Multipliers:
    """Margin multipliers and their derivative (or value) in double-double: ``hi + lo``."""

    def __init__(self, k: int, m: int) -> None:
        self.a, self.a_lo = np.zeros(k), np.zeros(k)
        self.eta, self.eta_lo = np.zeros(m), np.zeros(m)

    def add(self, da: Array, deta: Array) -> None:
        """Add a correction."""
        for hi, lo, d in ((self.a, self.a_lo, da), (self.eta, self.eta_lo, deta)):
            total = hi + d
            lo += _error(hi, d, total)
            hi[:] = total


def _error(a: Array, b: Array, s: Array) -> Array:
    z = s - a
    return np.asarray((a - (s - z)) + (b - z))


class Quadratic(Protocol):
    """The questions the tracker asks about Q."""

    n: int
    shift: float
    reach: Array  # sqrt(Q_ii)
    pivot_noise: float

    def begin(self, c0: Array, c1: Array, at_cap: npt.NDArray[np.bool_]) -> None:
        """Start a line with caps c0 + t c1 and these samples at their cap."""
        ...

    def cap_changes(self, i: int, sign: float) -> None:
        """Sample i joins (+1) or leaves (-1) the samples at their cap."""
        ...

    def enter(self, i: int, position: int) -> None:
        """Sample i takes this position in the margin set."""
        ...

    def leave(self, position: int, k: int) -> None:
        """The sample at this position leaves a margin set of k; those behind move up."""
        ...

    def new_row(self, factor: Factor, index: Index, i: int, kappa: Array, group: Index) -> tuple[Array, float, Array]:
        """Row of the factor for sample i, its squared pivot, and the combination u with ``Q_FF~ u = Q_Fi~``."""
        ...

    def system(self, index: Index, kappa: Array, group: Index) -> tuple[Array, Array]:
        """The shifted margin system ``Q_FF + s A_F' A_F`` in double-double."""
        ...

    def residual(
        self, index: Index, slope: bool, right: Array, right_lo: Array, kappa: Array, group: Index, x: Multipliers
    ) -> Array:
        """``right - (Q a)_F - A_F' eta`` to full precision; right excludes the samples at their cap."""
        ...

    def at(self, t: float, t_lo: float) -> None:
        """Evaluate the contribution of the samples at their cap at ``t + t_lo``."""
        ...

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
        ...

    def products(self, index: Index, value: Multipliers, rate: Multipliers) -> tuple[Array, Array]:
        """``Q a`` and its derivative in double, shape (2, n), and the size of the terms that were summed."""
        ...

    def slopes(self) -> tuple[Array, Array] | None:
        """The vector w and its derivative of the last `products`, where Q has features."""
        ...


class GramForm:
    """``Q = diag(sign) K diag(sign)`` from a kernel matrix held in memory."""

    pivot_noise = DEPENDENT_GRAM

    def __init__(self, K: Array, sign: Array) -> None:
        self.K, self.sign = K, sign
        self.n = K.shape[0]
        self.reach = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        mean = float(np.mean(np.diagonal(K)))
        self.shift = mean if mean > 0 else 1.0
        self._rows = np.empty((16, self.n))
        self._h = np.zeros((4, self.n))  # value hi, lo; rate hi, lo
        self._at = np.zeros((2, self.n))

    def _row(self, i: int) -> Array:
        return np.asarray(self.sign[i] * self.K[i] * self.sign)

    def begin(self, c0: Array, c1: Array, at_cap: npt.NDArray[np.bool_]) -> None:
        self.c0, self.c1 = c0, c1
        self._h[:] = 0.0
        for i in np.flatnonzero(at_cap):
            self.cap_changes(int(i), 1.0)

    def cap_changes(self, i: int, sign: float) -> None:
        row = self._row(i)
        if self.c0[i] != 0.0:
            extended.accumulate(self._h[0], self._h[1], sign * self.c0[i], row)
        if self.c1[i] != 0.0:
            extended.accumulate(self._h[2], self._h[3], sign * self.c1[i], row)

    def enter(self, i: int, position: int) -> None:
        if position == self._rows.shape[0]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[position] = self._row(i)

    def leave(self, position: int, k: int) -> None:
        self._rows[position : k - 1] = self._rows[position + 1 : k]

    def new_row(self, factor: Factor, index: Index, i: int, kappa: Array, group: Index) -> tuple[Array, float, Array]:
        k = index.size
        same = (group[index] == group[i]) & (group[i] >= 0)
        shifted = self.shift * kappa[i] * kappa[index] * same
        diagonal = self.K[i, i] + (self.shift if group[i] >= 0 else 0.0)
        column = self._rows[:k, i] + shifted
        row = factor.forward(column)
        u = factor.solve(column)
        pivot = diagonal - row @ row
        if pivot < 1e-4 * diagonal:
            # Cancellation: solve again for what is left, and take the pivot from the refined combination.
            zero = np.zeros(k)
            none = np.full(self.n, -1)
            for _ in range(3):
                left = np.empty(k)
                extended.gram_residual(
                    self._rows, index, k, self._rows[:k, i].copy(), zero, kappa, none, u, zero, zero, zero, left
                )
                left += self.shift * kappa[index] * _group_rest(kappa, group, index, i, u)
                u += factor.solve(left)
            pivot = diagonal - u @ (column + left)
        return row, float(pivot), u

    def system(self, index: Index, kappa: Array, group: Index) -> tuple[Array, Array]:
        own = self._rows[: index.size][:, index]
        shift = _shifts(self.shift, index, kappa, group)
        high = own + shift
        return high, _error(own, shift, high)

    def residual(
        self, index: Index, slope: bool, right: Array, right_lo: Array, kappa: Array, group: Index, x: Multipliers
    ) -> Array:
        k = index.size
        out = np.empty(k)
        hi, lo = (self._h[2], self._h[3]) if slope else (self._at[0], self._at[1])
        high = right - hi[index]
        error = _error(right, -hi[index], high) - lo[index] + right_lo
        extended.gram_residual(self._rows, index, k, high, error, kappa, group, x.a, x.a_lo, x.eta, x.eta_lo, out)
        return out

    def at(self, t: float, t_lo: float) -> None:
        extended.at_t(self._h, t, t_lo, self._at)

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
        out = np.empty((3, samples.size))
        extended.gram_gradients(
            self.K, self.sign, samples, index, self._at, self._h, p, p_lo, kappa, group,
            value.a, value.a_lo, value.eta, value.eta_lo, rate.a, rate.a_lo, rate.eta, rate.eta_lo, out,
        )  # fmt: skip
        return out

    def products(self, index: Index, value: Multipliers, rate: Multipliers) -> tuple[Array, Array]:
        k = index.size
        both = np.stack([value.a, rate.a]) @ self._rows[:k]
        both[0] += self._at[0]
        both[1] += self._h[2]
        reach = self.reach
        size = np.abs(np.stack([value.a, rate.a])) @ reach[index]
        return both, size[:, None] * reach + np.abs(np.stack([self._at[0], self._h[2]]))

    def slopes(self) -> None:
        return None


class FeatureForm:
    """``Q = Z Z'`` with ``Z = diag(sign) X``: the n x n matrix is never formed, and w is a variable of its own."""

    pivot_noise = DEPENDENT_FEATURES

    def __init__(self, X: Array, sign: Array) -> None:
        self.Z = np.ascontiguousarray(sign[:, None] * X)
        self.n, d = self.Z.shape
        self.reach = np.linalg.norm(X, axis=1)
        mean = float(np.mean(np.einsum("ij,ij->i", X, X)))
        self.shift = mean if mean > 0 else 1.0
        self._w = np.zeros((4, d))
        self._at = np.zeros((2, d))
        self._done = np.zeros((2, 2, d))  # value and rate, hi and lo

    def begin(self, c0: Array, c1: Array, at_cap: npt.NDArray[np.bool_]) -> None:
        self.c0, self.c1 = c0, c1
        self._w[:] = 0.0
        for i in np.flatnonzero(at_cap):
            self.cap_changes(int(i), 1.0)

    def cap_changes(self, i: int, sign: float) -> None:
        extended.accumulate(self._w[0], self._w[1], sign * self.c0[i], self.Z[i])
        extended.accumulate(self._w[2], self._w[3], sign * self.c1[i], self.Z[i])

    def enter(self, i: int, position: int) -> None:
        pass

    def leave(self, position: int, k: int) -> None:
        pass

    def new_row(self, factor: Factor, index: Index, i: int, kappa: Array, group: Index) -> tuple[Array, float, Array]:
        # Corrected seminormal equations: the pivot is the squared norm of an explicit residual vector, so it is
        # accurate relative to the features, not to their squares.
        k = index.size
        z, root = self.Z[i].copy(), np.sqrt(self.shift)
        extra = np.zeros(int(group.max(initial=-1)) + 1)
        if group[i] >= 0:
            extra[group[i]] = root * kappa[i]
        rows = self.Z[index]
        tail = np.zeros((k, extra.size))
        grouped = group[index] >= 0
        tail[grouped, group[index][grouped]] = root * kappa[index][grouped]
        row, u = np.zeros(k), np.zeros(k)
        for _ in range(3):
            r = rows @ z + tail @ extra
            row += factor.forward(r)
            r = factor.solve(r)
            u += r
            z -= r @ rows
            extra -= r @ tail
        return row, float(z @ z + extra @ extra), u

    def system(self, index: Index, kappa: Array, group: Index) -> tuple[Array, Array]:
        high = _shifts(self.shift, index, kappa, group)
        low = np.zeros_like(high)
        extended.add_products(self.Z[index], high, low)
        return high, low

    def residual(
        self, index: Index, slope: bool, right: Array, right_lo: Array, kappa: Array, group: Index, x: Multipliers
    ) -> Array:
        k = index.size
        out = np.empty(k)
        w_hi, w_lo = (self._w[2].copy(), self._w[3].copy()) if slope else (self._at[0].copy(), self._at[1].copy())
        extended.feature_residual(
            self.Z, index, k, right, right_lo, kappa, group, w_hi, w_lo, x.a, x.a_lo, x.eta, x.eta_lo, out
        )
        self._done[int(slope)] = w_hi, w_lo
        return out

    def at(self, t: float, t_lo: float) -> None:
        extended.at_t(self._w, t, t_lo, self._at)

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
        out = np.empty((3, samples.size))
        extended.feature_gradients(
            self.Z, samples, self._done, p, p_lo, kappa, group,
            value.eta, value.eta_lo, rate.eta, rate.eta_lo, out,
        )  # fmt: skip
        return out

    def products(self, index: Index, value: Multipliers, rate: Multipliers) -> tuple[Array, Array]:
        # A last pass for w after the final correction of the multipliers.
        for slope, x in ((False, value), (True, rate)):
            self.residual(
                index, slope, np.zeros(index.size), np.zeros(index.size), np.zeros(self.n), np.full(self.n, -1), x
            )
        w = self._done[:, 0]
        return w @ self.Z.T, np.linalg.norm(w, axis=1)[:, None] * self.reach

    def slopes(self) -> tuple[Array, Array]:
        return self._done[0, 0].copy(), self._done[1, 0].copy()


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
