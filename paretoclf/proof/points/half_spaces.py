r"""Half-spaces that contain what a cone program allows: combinations of its rows with members of the dual cones.

:math:`t\pm v_k\ge0` of a second-order cone, :math:`S_{ii}+S_{jj}\pm2S_{ij}\ge0` of a matrix, tangents
:math:`z\ge e^cx+(1-c)e^cy` of an exponential cone, :math:`ax+(1-a)y\pm z\ge0` of a power cone. Where numbers are
rounded, they are rounded into the dual cone, so that each combination t is an exact member and
:math:`t^\top Ax\le t^\top b` holds whatever the rounding; what :math:`t^\top A` and :math:`t^\top b` lose in their sums
is bounded by the terms *before* they cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.proof.points.cones import Cone, blocks

_EPS = np.finfo(float).eps

#: A sum of a few products is within so many roundings of its terms.
_ROUNDINGS = 8 * _EPS

#: Coefficients known to this share of themselves bound a variable; others are only bounded by it.
CLEAR = 1e-10

#: What makes a tangent that was rounded a member of its dual cone again.
_STEEPER = 1e-12

#: The largest weight w with S_ii + S_jj + w v >= 0 for every positive semidefinite matrix, v = sqrt(2) S_ij.
_ROOT_TWO = float(np.nextafter(np.sqrt(2.0), 0.0))

#: Where the exponential cone is touched.
_TOUCHED = (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0)


@dataclass(frozen=True)
class HalfSpaces:
    """``sum_j (value_j +- spread_j) x_j <= h`` for each row, entry by entry; h of given right-hand sides.

    Attributes
    ----------
    count : int
        Number of rows.
    row, column : arrays of int
        Where the entries are.
    value, spread : arrays
        Coefficients and by how much they may be off; the value is 0 where it cannot be told from 0.
    """

    count: int
    row: Index
    column: Index
    value: Array
    spread: Array
    combine: Any
    exact: Mask
    sums: Index

    def at(self, b: Array) -> Array:
        """Right-hand sides, rounded upwards."""
        h = self.combine @ b
        h = np.where(self.exact, h, h + _ROUNDINGS * (abs(self.combine) @ np.abs(b)))
        first, second = h[self.sums[:, 0]], h[self.sums[:, 1]]
        return np.append(h, first + second + _ROUNDINGS * (np.abs(first) + np.abs(second)))


def half_spaces(A: Any, cones: Sequence[Cone]) -> HalfSpaces:
    """Half-spaces that contain every x with ``b - A x`` in the cones, for any b."""
    A = sp.csr_array(A)
    combine = _tangents(cones, A.shape[0])
    exact = np.diff(combine.indptr) == 1  # one entry of weight 1 or -1: nothing is rounded
    row, column, value, spread = _products(combine, A, exact)
    sums, extra = _sums(row, column, value, spread == 0, combine.shape[0], A.shape[1])
    return HalfSpaces(
        combine.shape[0] + len(sums),
        np.append(row, combine.shape[0] + np.arange(len(sums))),
        np.append(column, extra.column),
        np.append(value, extra.value),
        np.append(spread, np.zeros(len(sums))),
        combine,
        exact,
        sums,
    )


def _products(T: Any, A: Any, exact: Mask) -> tuple[Index, Index, Array, Array]:
    """Entries of ``T A`` with their uncertainty, from all products that make them."""
    T, A = sp.csr_array(T), sp.csr_array(A)
    A.sum_duplicates()
    lengths = np.diff(A.indptr)[T.indices]
    of = np.repeat(np.arange(T.indices.size), lengths)
    first = np.repeat(A.indptr[T.indices] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    at = first + np.arange(of.size)
    row = np.repeat(np.arange(T.shape[0]), np.diff(T.indptr))[of]
    column, term = A.indices[at], T.data[of] * A.data[at]
    key = row.astype(np.int64) * A.shape[1] + column
    order = np.argsort(key, kind="stable")
    key, starts = np.unique(key[order], return_index=True)
    if key.size == 0:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0)
    value, terms = np.add.reduceat(term[order], starts), np.add.reduceat(np.abs(term[order]), starts)
    row, column = key // A.shape[1], key % A.shape[1]
    alone = np.diff(np.append(starts, term.size)) == 1
    plain = alone & (np.abs(T.data) == 1)[of[order][starts]]
    spread = np.where(exact[row] | plain, 0.0, _ROUNDINGS * terms)
    clear = spread <= CLEAR * np.abs(value)
    spread, value = np.where(clear, spread, spread + np.abs(value)), np.where(clear, value, 0.0)
    kept = (value != 0) | (spread != 0)
    return row[kept], column[kept], value[kept], spread[kept]


@dataclass(frozen=True)
class _Extra:
    """The one variable of each sum of two rows, and its coefficient."""

    column: Index
    value: Array


def _sums(row: Index, column: Index, value: Array, exact: Mask, m: int, n: int) -> tuple[Index, _Extra]:
    """Pairs of rows in which all but one variable cancel: ``t >= w`` and ``t >= -w`` make ``t >= 0``.

    Every entry gets a hash of the rest of its row, and negation of the row negates it; so mates are neighbours in order
    of its absolute value. That they are mates is then looked up.
    """
    size = np.bincount(row, minlength=m)
    fine = (np.bincount(row, ~exact, minlength=m) == 0) & (size >= 2)
    use = np.flatnonzero(fine[row])
    row, column, value = row[use], column[use], value[use]
    bits = np.abs(value).view(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * (
            2 * np.random.default_rng(0).integers(1, 2**62, n, np.uint64) + 1
        )[column]
        mixed = np.where(value > 0, mixed, -mixed).view(np.int64)
        whole = np.zeros(m, dtype=np.int64)
        np.add.at(whole, row, mixed)
        rest = whole[row] - mixed
    order = np.lexsort((row, rest < 0, np.abs(rest), column))
    i, j, side = order[:-1], order[1:], rest < 0
    # The last of one sign and the first of the other, of one variable.
    mates = (column[i] == column[j]) & (rest[i] == -rest[j]) & (side[i] != side[j]) & (row[i] != row[j])
    i, j = i[mates], j[mates]
    i, j = i[value[i] + value[j] != 0], j[value[i] + value[j] != 0]
    if i.size == 0:
        return np.zeros((0, 2), int), _Extra(np.zeros(0, int), np.zeros(0))
    G = sp.csr_array((value, (row, column)), shape=(m, n))
    left = (G[row[i]] + G[row[j]]).tocsr()
    left.eliminate_zeros()
    alone = np.diff(left.indptr) == 1
    pairs = np.stack([row[i], row[j]], axis=1)[alone]
    return pairs, _Extra(column[i][alone], (value[i] + value[j])[alone])


def _tangents(cones: Sequence[Cone], m: int) -> Any:
    """Members of the dual cones, one a row; cones of one kind and order together."""
    starts: dict[Cone, list[int]] = {}
    for cone, at in blocks(cones):
        starts.setdefault(cone, []).append(at.start)
    rows, columns, weights, count = [], [], [], 0
    for cone, firsts in starts.items():
        row, column, weight, height = _pattern(cone)
        rows.append((count + height * np.arange(len(firsts))[:, None] + row).ravel())
        columns.append((np.array(firsts)[:, None] + column).ravel())
        weights.append(np.tile(weight, len(firsts)))
        count += height * len(firsts)
    entries = (
        np.concatenate([np.zeros(0), *weights]),
        tuple(np.concatenate([np.zeros(0, int), *k]) for k in (rows, columns)),
    )
    return sp.csr_array(entries, shape=(count, m))


def _pattern(cone: Cone) -> tuple[Index, Index, Array, int]:
    """Rows, places, weights and number of the combinations that are nonnegative in one cone."""
    n = cone.order
    k = np.arange(n)
    if cone.kind in ("zero", "nonnegative"):
        weight = np.ones(n)
        if cone.kind == "zero":
            return np.arange(2 * n), np.tile(k, 2), np.append(weight, -weight), 2 * n
        return k, k, weight, n
    if cone.kind == "second-order":
        each = np.arange(1, 2 * n - 1)  # t, then t + v_k and t - v_k
        row = np.concatenate([[0], np.repeat(each, 2)])
        place = np.stack([np.zeros_like(each), np.tile(k[1:], 2)], axis=1).ravel()
        sign = np.stack([np.ones(each.size), np.repeat([1.0, -1.0], n - 1)], axis=1).ravel()
        return row, np.append(0, place), np.append(1.0, sign), each.size + 1
    if cone.kind == "psd":
        diagonal = k * (k + 3) // 2
        i, j = np.triu_indices(n, 1)
        both = np.stack([diagonal[i], diagonal[j], j * (j + 1) // 2 + i], axis=1)
        weight = np.concatenate([np.tile([1.0, 1.0, w], (i.size, 1)) for w in (_ROOT_TWO, -_ROOT_TWO)])
        row = np.append(k, n + np.repeat(np.arange(2 * i.size), 3))
        return row, np.append(diagonal, np.tile(both, (2, 1))), np.append(np.ones(n), weight), n + 2 * i.size
    if cone.kind == "exponential":
        lines = [[-np.exp(c), -(1 - c) * np.exp(c), 1 + _STEEPER] for c in _TOUCHED]
        singles = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    else:
        a, z = cone.exponent, 1 - _STEEPER
        lines, singles = [[a, 1 - a, z], [a, 1 - a, -z]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    row, place = np.nonzero(np.array(singles + lines))
    return row, place, np.array(singles + lines)[row, place], len(singles + lines)
