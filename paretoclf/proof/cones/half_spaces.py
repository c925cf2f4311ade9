r"""Half-spaces that contain the feasible points of a cone program: its rows, combined with members of dual cones.

:math:`t\pm v_k\ge0` of a second-order cone, :math:`S_{ii}+S_{jj}\pm2S_{ij}\ge0` of a matrix, tangents
:math:`z\ge e^cx+(1-c)e^cy` of an exponential cone, :math:`ax+(1-a)y\pm z\ge0` of a power cone. Where numbers are
rounded, they are rounded into the dual cone, so that each combination t is an exact member and
:math:`t^\top Ax\le t^\top b` holds whatever the rounding; the rounding of the sums :math:`t^\top A` and
:math:`t^\top b` is bounded by the terms *before* they cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.proof.cones.cone_kinds import Cone, blocks

_EPS = np.finfo(float).eps

#: A sum of a few products is within so many roundings of its terms.
_ROUNDINGS = 8 * _EPS

#: A coefficient bounds its variable only if it is known to this share of itself.
CLEAR = 1e-10

#: Tangents are steeper by this share, so that they are in their dual cone in spite of rounding.
_STEEPER = 1e-12

#: The largest weight w with S_ii + S_jj + w v >= 0 for every positive semidefinite matrix, v = sqrt(2) S_ij.
_ROOT_TWO = float(np.nextafter(np.sqrt(2.0), 0.0))

#: Where the exponential cone is touched.
_TOUCHED = (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0)


@dataclass(frozen=True)
class HalfSpaces:
    """Inequalities ``sum_j (value_j +- spread_j) x_j <= h``, entry by entry; `at` gives h for right-hand sides b.

    Attributes
    ----------
    count : int
        Number of rows.
    row, column : arrays of int
        Places of the entries.
    value, spread : arrays
        Coefficients and bounds on their errors; the value is 0 where it cannot be told from 0.
    combine : sparse array
        Combinations of the rows of the program, one a row.
    exact : array of bool
        Combinations of one row with weight 1 or -1, in which nothing is rounded.
    sums : array of shape (k, 2)
        Pairs of combinations that are added up; the sums stand behind all combinations.
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
        """Right-hand sides h for the right-hand sides b of the program, rounded upwards."""
        sides = self.combine @ b
        upwards = sides + _ROUNDINGS * (abs(self.combine) @ np.abs(b))
        sides = np.where(self.exact, sides, upwards)
        first, second = sides[self.sums[:, 0]], sides[self.sums[:, 1]]
        rounding = _ROUNDINGS * (np.abs(first) + np.abs(second))
        return np.append(sides, first + second + rounding)


def half_spaces(A: Any, cones: Sequence[Cone]) -> HalfSpaces:
    """Half-spaces that contain every x with ``b - A x`` in the cones, for any b."""
    A = sp.csr_array(A)
    combine = _tangents(cones, A.shape[0])
    exact = np.diff(combine.indptr) == 1  # one entry of weight 1 or -1: nothing is rounded
    row, column, value, spread = _products(combine, A, exact)
    count = combine.shape[0]
    sums, extra = _sums(row, column, value, spread == 0, count, A.shape[1])
    row = np.append(row, count + np.arange(len(sums)))
    column = np.append(column, extra.column)
    value = np.append(value, extra.value)
    spread = np.append(spread, np.zeros(len(sums)))
    return HalfSpaces(count + len(sums), row, column, value, spread, combine, exact, sums)


def _products(combine: Any, matrix: Any, exact: Mask) -> tuple[Index, Index, Array, Array]:
    """Entries of ``combine @ A`` with their uncertainty, from all products that make them."""
    combine, matrix = sp.csr_array(combine), sp.csr_array(matrix)
    matrix.sum_duplicates()
    terms = _terms(combine, matrix)
    # The terms of one entry, one after the other.
    key = terms.row.astype(np.int64) * matrix.shape[1] + terms.column
    order = np.argsort(key, kind="stable")
    key, starts = np.unique(key[order], return_index=True)
    if key.size == 0:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0)
    product = terms.product[order]
    value = np.add.reduceat(product, starts)
    sizes = np.add.reduceat(np.abs(product), starts)
    row, column = key // matrix.shape[1], key % matrix.shape[1]
    alone = np.diff(np.append(starts, product.size)) == 1
    plain = alone & terms.plain[order][starts]
    spread = np.where(exact[row] | plain, 0.0, _ROUNDINGS * sizes)
    clear = spread <= CLEAR * np.abs(value)
    spread = np.where(clear, spread, spread + np.abs(value))
    value = np.where(clear, value, 0.0)
    kept = (value != 0) | (spread != 0)
    return row[kept], column[kept], value[kept], spread[kept]


@dataclass(frozen=True)
class _Terms:
    """Terms of the entries of a product of two matrices: where they belong, and which have a factor 1 or -1."""

    row: Index
    column: Index
    product: Array
    plain: Mask


def _terms(combine: Any, A: Any) -> _Terms:
    """List the terms of ``combine @ A``, each entry of the first matrix with the row of the second that it meets."""
    lengths = np.diff(A.indptr)[combine.indices]
    entry = np.repeat(np.arange(combine.indices.size), lengths)
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]])  # numbers of terms of the entries before
    shift = A.indptr[combine.indices] - before
    at = np.repeat(shift, lengths) + np.arange(entry.size)
    rows = np.repeat(np.arange(combine.shape[0]), np.diff(combine.indptr))
    weight = combine.data[entry]
    product = weight * A.data[at]
    return _Terms(rows[entry], A.indices[at], product, np.abs(weight) == 1)


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
    inexact = np.bincount(row, ~exact, minlength=m)
    fine = (inexact == 0) & (np.bincount(row, minlength=m) >= 2)
    use = np.flatnonzero(fine[row])
    row, column, value = row[use], column[use], value[use]
    first, second = _mates(row, column, _rest_hash(row, column, value, (m, n)))
    remains = value[first] + value[second] != 0
    first, second = first[remains], second[remains]
    if first.size == 0:
        return np.zeros((0, 2), int), _Extra(np.zeros(0, int), np.zeros(0))
    matrix = sp.csr_array((value, (row, column)), shape=(m, n))
    left = (matrix[row[first]] + matrix[row[second]]).tocsr()
    left.eliminate_zeros()
    alone = np.diff(left.indptr) == 1
    pairs = np.stack([row[first], row[second]], axis=1)[alone]
    total = value[first] + value[second]
    return pairs, _Extra(column[first][alone], total[alone])


def _rest_hash(row: Index, column: Index, value: Array, shape: tuple[int, int]) -> Index:
    """Hash of the other entries of the row of each entry, whose sign changes with the sign of the row."""
    count, width = shape
    bits = np.abs(value).view(np.uint64)
    odd = 2 * np.random.default_rng(0).integers(1, 2**62, width, np.uint64) + 1  # a number for each column
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * odd[column]
        signed = np.where(value > 0, mixed, -mixed).view(np.int64)
        whole = np.zeros(count, dtype=np.int64)
        np.add.at(whole, row, signed)
        return np.asarray(whole[row] - signed)


def _mates(row: Index, column: Index, rest: Index) -> tuple[Index, Index]:
    """Pairs of entries of one variable in two rows whose rests seem to be negatives of each other."""
    negative = rest < 0
    order = np.lexsort((row, negative, np.abs(rest), column))
    first, second = order[:-1], order[1:]
    # The last of one sign and the first of the other, of one variable.
    opposite = rest[first] == -rest[second]
    opposite &= negative[first] != negative[second]
    mates = opposite & (column[first] == column[second])
    mates &= row[first] != row[second]
    return first[mates], second[mates]


def _tangents(cones: Sequence[Cone], m: int) -> Any:
    """Members of the dual cones, one a row; cones of one kind and order together."""
    starts: dict[Cone, list[int]] = {}
    for cone, at in blocks(cones):
        starts.setdefault(cone, []).append(at.start)
    rows, columns, weights, count = [], [], [], 0
    for cone, firsts in starts.items():
        row, column, weight, height = _pattern(cone)
        above = count + height * np.arange(len(firsts))
        rows.append((above[:, None] + row).ravel())
        columns.append((np.array(firsts)[:, None] + column).ravel())
        weights.append(np.tile(weight, len(firsts)))
        count += height * len(firsts)
    places = tuple(np.concatenate([np.zeros(0, int), *each]) for each in (rows, columns))
    return sp.csr_array((np.concatenate([np.zeros(0), *weights]), places), shape=(count, m))


def _pattern(cone: Cone) -> tuple[Index, Index, Array, int]:
    """Rows, places, weights and number of the combinations that are nonnegative in one cone."""
    if cone.kind == "zero":
        place = np.tile(np.arange(cone.order), 2)
        weight = np.repeat([1.0, -1.0], cone.order)
        return np.arange(place.size), place, weight, place.size
    if cone.kind == "nonnegative":
        place = np.arange(cone.order)
        return place, place, np.ones(cone.order), cone.order
    if cone.kind == "second-order":
        return _second_order_pattern(cone.order)
    if cone.kind == "psd":
        return _psd_pattern(cone.order)
    if cone.kind == "exponential":
        singles = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        slopes = [(c, np.exp(c)) for c in _TOUCHED]
        lines = [[-slope, -(1 - c) * slope, 1 + _STEEPER] for c, slope in slopes]
    else:
        first, second, third = cone.exponent, 1 - cone.exponent, 1 - _STEEPER
        singles = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        lines = [[first, second, third], [first, second, -third]]
    weights = np.array(singles + lines)
    row, place = np.nonzero(weights)
    return row, place, weights[row, place], len(weights)


def _second_order_pattern(order: int) -> tuple[Index, Index, Array, int]:
    """Combinations t, then t + v_k, then t - v_k."""
    each = np.arange(1, 2 * order - 1)
    row = np.concatenate([[0], np.repeat(each, 2)])
    tail = np.tile(np.arange(order)[1:], 2)
    place = np.stack([np.zeros_like(each), tail], axis=1).ravel()
    sign = np.repeat([1.0, -1.0], order - 1)
    weight = np.stack([np.ones(each.size), sign], axis=1).ravel()
    return row, np.append(0, place), np.append(1.0, weight), each.size + 1


def _psd_pattern(order: int) -> tuple[Index, Index, Array, int]:
    """Combinations S_kk, then S_ii + S_jj + 2 S_ij, then S_ii + S_jj - 2 S_ij, for i < j."""
    index = np.arange(order)
    diagonal = index * (index + 3) // 2
    upper, right = np.triu_indices(order, 1)
    off_diagonal = right * (right + 1) // 2 + upper
    both = np.stack([diagonal[upper], diagonal[right], off_diagonal], axis=1)
    pairs = upper.size
    weights = [np.ones(order), *(np.tile([1.0, 1.0, own], pairs) for own in (_ROOT_TWO, -_ROOT_TWO))]
    row = np.append(index, order + np.repeat(np.arange(2 * pairs), 3))
    place = np.append(diagonal, np.tile(both, (2, 1)))
    return row, place, np.concatenate(weights), order + 2 * pairs
