r"""Enclosures: boxes that hold an exact solution of linear equations, near a point that nearly solves them.

For :math:`Mu=t` with more unknowns than equations let B be an approximate right inverse, :math:`E=1-MB` and
:math:`\kappa=\|E\|_\infty<1`. Then :math:`\hat u=u+B(MB)^{-1}(t-Mu)` solves the equations exactly, and

.. math:: |\hat u-u|\le|B|\left(\rho+\frac{|E|\mathbf 1\,\|\rho\|_\infty}{1-\kappa}\right),\qquad\rho=|t-Mu| .

Unknowns may have *weights*: B moves those of large weight, and those of weight 0 not at all. Equations that depend on
the others to rounding are left out of B; whether they hold all the same is decided in fractions: where
:math:`M_i=\sum_j\lambda_jM_j` exactly with simple :math:`\lambda`, what is left of their right side is known exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index, Mask

_EPS = float(np.finfo(float).eps)

#: Equations up to which a right inverse is made as an array.
DENSE = 1500

#: Equations up to which dependent ones are looked for by a pivoted factorisation.
_PIVOTED = 900

#: A pivot below this share of its row is 0.
_RANK = 1e-10

#: Matrices with a smaller share of entries are factored as sparse ones.
_SPARSE = 0.1

#: Smallest pivot of a matrix of equations that are independent, of diagonal 1.
_SINGULAR = 1e-14

#: A right inverse that misses 1 by more is corrected.
_ROUGH = 1e-6

#: Denominators up to which a coefficient of a dependent equation is tried.
_DENOMINATOR = 720

#: Up to so many equations are solved together, without those that have an unknown of their own being peeled off.
_FEW = 100

#: An unknown that an equation is solved by has at least this share of its largest coefficient.
_PIVOT = 1e-2

#: Rounds in which equations with an unknown of their own are peeled off; in longer chains errors grow.
_PEELS = 3

#: Rounds in which single equations settle unknowns.
_SETTLED = 40

#: Corrections of the point before it is enclosed.
_STEPS = 3


@dataclass(frozen=True)
class Enclosed:
    """Point within ``radius`` of which, entry by entry, is an exact solution of the equations in ``rows``.

    Where other equations are known combinations of these, ``left`` has their residual ``t_i - M_i u`` at that solution:
    computed exactly, and then rounded to a number of the same sign.
    """

    point: Array
    radius: Array
    rows: Index
    left: Mapping[int, float]

    @property
    def solved(self) -> Index:
        """The equations that hold exactly."""
        dependent = [row for row, value in self.left.items() if value == 0]
        return np.append(self.rows, dependent).astype(np.int64)


@dataclass(frozen=True)
class _Peeled:
    """Equations ``rows`` that have an unknown ``columns`` of their own, which no equation peeled later has."""

    rows: Index
    columns: Index
    pivots: Array


@dataclass(frozen=True)
class Equations:
    """Linear equations ``M u = t``, prepared by `equations` for any t and for points near solutions.

    Attributes
    ----------
    M : sparse array
        Coefficients of all equations.
    weight : array
        Weights of the unknowns.
    peeled : tuple
        Equations with an unknown of their own, in the order in which they were peeled off.
    rows : array of int
        Equations that are solved together.
    right, defect : arrays
        Right inverse B of these, and bounds of the row sums of ``|1 - MB|``.
    dependent : mapping
        Other equations, each with its approximate coefficients in those of ``rows``.
    """

    M: Any
    weight: Array
    peeled: tuple[_Peeled, ...]
    rows: Index
    right: Array
    defect: Array
    dependent: Mapping[int, Array]

    @cached_property
    def _parts(self) -> list[tuple[Any, Any]]:
        """Equations that are solved together, then those of each peel, each with the sizes of its coefficients."""
        parts = [self.M[self.rows], *(self.M[peel.rows] for peel in self.peeled)]
        return [(part, abs(part)) for part in parts]

    @cached_property
    def _right_sizes(self) -> Array:
        """Absolute values of the right inverse."""
        return np.abs(self.right)

    def enclose(self, t: Array, u: Array) -> Enclosed:
        """Enclose a solution of ``M u = t`` near u.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp
        >>> from paretoclf.proof.cones.enclosure import equations
        >>> M = sp.csr_array([[3.0, 0.0], [0.0, 7.0], [3.0, 7.0]])
        >>> found = equations(M, np.ones(2)).enclose(np.array([1.0, 1.0, 2.0]), np.zeros(2))
        >>> bool((abs(found.point - [1 / 3, 1 / 7]) <= found.radius + 1e-16).all() and found.radius.max() < 1e-15)
        True
        >>> found.solved.size
        3
        """
        point, radius = self._near(t, u)
        left = {}
        for row in self.dependent:
            value = self._left(row, t, point)
            if value is not None:
                left[row] = value
        return Enclosed(point, radius, self._independent, left)

    def enclose_each(self, t: Array, u: Array) -> tuple[Array, Array, Mask]:
        """Enclose solutions near the rows of u, with sides t: points, radii, and the equations that each one solves.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp
        >>> from paretoclf.proof.cones.enclosure import equations
        >>> system = equations(sp.csr_array([[3.0, 0.0], [3.0, 0.0]]), np.ones(2))
        >>> points, _, solved = system.enclose_each(np.array([[1.0, 1.0], [2.0, 3.0]]), np.zeros((2, 2)))
        >>> points[:, 0].round(3).tolist(), solved.tolist()
        ([0.333, 0.667], [[True, True], [True, False]])
        """
        points, radius = self._near(t, u)
        solved = np.zeros((len(points), self.M.shape[0]), dtype=bool)
        solved[:, self._independent] = True
        for row in self.dependent:
            for number, point in enumerate(points):
                solved[number, row] = self._left(row, t[number], point) == 0
        return points, radius, solved

    def _near(self, sides: Array, point: Array) -> tuple[Array, Array]:
        """Nearly exact solution near a point, or near each row of several, and the radius of its enclosure."""
        part, sizes = self._parts[0]
        goal = np.take(sides, self.rows, axis=-1)
        radius = np.zeros(point.shape)
        if self.rows.size:
            for _ in range(_STEPS):
                point = point - times(self.right, times(part, point) - goal)
            residual = _residual(part, sizes, point, goal)
            kappa = float(self.defect.max())
            largest = residual.max(axis=-1, keepdims=True)
            reach = residual + self.defect * largest / (1 - kappa)
            radius = times(self._right_sizes, reach) * (1 + 1e-9)
        point = point.copy()
        # What was peeled first has unknowns of all later ones, so it is solved last.
        for peel, (part, sizes) in zip(reversed(self.peeled), reversed(self._parts[1:]), strict=True):
            goal = np.take(sides, peel.rows, axis=-1)
            for _ in range(2):
                point[..., peel.columns] -= (times(part, point) - goal) / peel.pivots
            residual = _residual(part, sizes, point, goal)
            residual = residual + times(sizes, radius)
            radius[..., peel.columns] = residual / np.abs(peel.pivots) * (1 + 1e-9)
        return point, radius

    @cached_property
    def _independent(self) -> Index:
        """The equations that are solved, in order of their solution."""
        return np.concatenate([self.rows, *(peel.rows for peel in self.peeled)]).astype(np.int64)

    def _left(self, row: int, t: Array, u: Array) -> float | None:
        """Residual of a dependent equation at every solution of the others, or None if it is not the same at all."""
        coefficients: dict[int, Fraction] = {}
        side = Fraction(0)
        for other, factor in [(row, Fraction(-1)), *self._combination(row)]:
            side -= factor * Fraction(float(t[other]))
            for place, value in zip(*_entries_of_row(self.M, other), strict=True):
                coefficients[place] = coefficients.get(place, Fraction(0)) + factor * Fraction(value)
        for place, coefficient in coefficients.items():
            if coefficient and self.weight[place] > 0:
                return None
            side += coefficient * Fraction(float(u[place]))
        size = float(side)
        if size or not side:
            return size
        return float(np.copysign(np.finfo(float).tiny, side.numerator))

    def _combination(self, row: int) -> list[tuple[int, Fraction]]:
        """Equations of which a dependent one is a combination, each with a simple coefficient that may be exact."""
        share = self.dependent[row]
        used = np.flatnonzero(np.abs(share) > 1e-9)
        if used.size == 1:
            other = int(self.rows[used[0]])
            return [(other, _quotient(self.M, row, other, self.weight))]
        parts = []
        for place in used:
            coefficient = Fraction(float(share[place]))
            parts.append((int(self.rows[place]), coefficient.limit_denominator(_DENOMINATOR)))
        return parts


def times(matrix: Any, vectors: Array) -> Array:
    """Multiply M with a vector, or with each row of an array; the result of a row does not depend on the others.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from paretoclf.proof.cones.enclosure import times
    >>> times(sp.csr_array([[1.0, 2.0]]), np.eye(2)).tolist()
    [[1.0], [2.0]]
    """
    if vectors.ndim == 1:
        return np.asarray(matrix @ vectors)
    if sp.issparse(matrix):
        columns = np.ascontiguousarray(vectors.T)
        return np.ascontiguousarray((matrix @ columns).T)
    columns = np.ascontiguousarray(vectors)[:, :, None]
    return np.asarray(np.matmul(matrix, columns)[:, :, 0])


def equations(M: Any, weight: Array) -> Equations | None:
    """Prepare ``M u = t`` for unknowns of positive weight; None where no right inverse is proved.

    Parameters
    ----------
    M : sparse matrix of shape (k, N)
    weight : array of shape (N,)
        At least 0: how willingly an unknown moves.
    """
    rows = sp.csr_array(M)
    fixed = abs(rows) @ weight == 0
    dependent = {row: np.zeros(0) for row in np.flatnonzero(fixed).tolist()}
    core, right = np.flatnonzero(~fixed), np.zeros((rows.shape[1], 0))
    peeled: list[_Peeled] = []
    if core.size > _FEW:
        peeled, core = _peel(rows, weight, core)
    if core.size > DENSE:
        return None
    if core.size:
        found = _right_inverse(rows[core], weight)
        if found is None:
            if core.size > _PIVOTED:
                return None
            found, core, others = _pivoted(rows, weight, core)
            dependent |= others
        right = found
    defect = _defect(rows[core], right)
    if not float(defect.max(initial=0.0)) < 0.5:
        return None
    return Equations(rows, weight, tuple(peeled), core, right, defect, dependent)


def _defect(part: Any, right: Array) -> Array:
    """Bounds of the row sums of ``|1 - MB|`` for a right inverse B, with the rounding of the product."""
    error = np.abs(part @ right - np.eye(part.shape[0]))
    terms = abs(part) @ np.abs(right)
    rounding = _EPS * (np.diff(part.indptr)[:, None] + 2) * terms
    return np.asarray((error + rounding).sum(axis=1))


def settled(matrix: Any, sides: Array, unknowns: Array, weight: Array) -> tuple[Array, Array]:
    """Substitute unknowns that single equations determine: ``a u_j = t_i`` where the quotient is a double.

    Returns unknowns and weights; an unknown that is determined has weight 0. Equations in such unknowns only are then
    decided exactly, whatever their numbers.
    """
    entries = sp.coo_array(matrix)
    use = (entries.data != 0) & (weight[entries.col] > 0)
    row, column, value = entries.row[use], entries.col[use], entries.data[use]
    unknowns, weight, by_rows = unknowns.copy(), weight.copy(), entries.tocsr()
    for _ in range(_SETTLED):
        alone = np.flatnonzero(np.bincount(row, minlength=sides.size)[row] == 1)
        before = weight.sum()
        entries_alone = zip(row[alone].tolist(), column[alone].tolist(), value[alone].tolist(), strict=True)
        for equation, own, coefficient in entries_alone:
            others = _sum_without(by_rows, equation, own, unknowns)
            quotient = (Fraction(float(sides[equation])) - others) / Fraction(coefficient)
            if Fraction(float(quotient)) == quotient:
                unknowns[own] = float(quotient)
                weight[own] = 0.0
        if weight.sum() == before:
            break
        left = weight[column] > 0
        row, column, value = row[left], column[left], value[left]
    return unknowns, weight


def _sum_without(M: Any, row: int, column: int, u: Array) -> Fraction:
    """Exact sum of the terms of a row without that of one unknown."""
    total = Fraction(0)
    for place, value in zip(*_entries_of_row(M, row), strict=True):
        if place != column:
            total += Fraction(value) * Fraction(float(u[place]))
    return total


def _residual(part: Any, sizes: Any, point: Array, goal: Array) -> Array:
    """Bound on the size of ``part @ point - goal``, rounding counted, for a part with these sizes of coefficients."""
    residual = np.abs(times(part, point) - goal)
    terms = times(sizes, np.abs(point)) + np.abs(goal)
    rounding = (np.diff(sizes.indptr) + 3) * _EPS * terms
    return np.asarray(residual + rounding)


def _peel(M: Any, weight: Array, rows: Index) -> tuple[list[_Peeled], Index]:
    """Equations with an unknown of their own that moves freely, round by round, and the equations that are left."""
    entries = sp.coo_array(M[rows])
    use = (entries.data != 0) & (weight[entries.col] > 0)
    row, column = rows[entries.row[use]], entries.col[use]
    value = entries.data[use]
    largest = np.zeros(M.shape[0])
    np.maximum.at(largest, row, np.abs(value))
    heavy = weight[column] >= 0.5 * weight.max()
    free = heavy & (np.abs(value) >= _PIVOT * largest[row])
    here = np.zeros(M.shape[0], dtype=bool)
    here[rows] = True
    found = []
    for _ in range(_PEELS):
        uses = np.bincount(column, minlength=M.shape[1])
        candidates = np.flatnonzero(free & (uses[column] == 1))
        if candidates.size == 0:
            break
        # The largest coefficient of each equation.
        order = candidates[np.lexsort((-np.abs(value[candidates]), row[candidates]))]
        own, first = np.unique(row[order], return_index=True)
        chosen = order[first]
        found.append(_Peeled(own, column[chosen], value[chosen]))
        here[own] = False
        left = here[row]
        row, column, value, free = (each[left] for each in (row, column, value, free))
    return found, np.flatnonzero(here)


def _row_sizes(M: Any, weight: Array) -> Array:
    """Weighted norms of the rows of a matrix."""
    return np.asarray(np.sqrt((M.multiply(M) @ weight[:, None]).ravel()))


def _right_inverse(M: Any, weight: Array) -> Array | None:
    """``W M' (M W M')^-1``, with a Newton step if need be; None where the equations seem to depend on each other."""
    size, root = _row_sizes(M, weight), np.sqrt(weight)
    scaled_rows = sp.diags_array(1 / size) @ M
    scaled = sp.csr_array(scaled_rows @ sp.diags_array(root))
    inverse = _inverse(sp.csc_array(scaled @ scaled.T))
    if inverse is None:
        return None
    right = scaled.T @ inverse
    left = np.eye(size.size) - scaled @ right
    if np.abs(left).sum(axis=1).max() > _ROUGH:
        right = right + right @ left
    return np.asarray(root[:, None] * right / size)


def _inverse(gram: Any) -> Array | None:
    """Inverse of a positive definite matrix of diagonal 1; None where it seems to be singular."""
    one = np.eye(gram.shape[0])
    try:
        if gram.nnz > _SPARSE * gram.shape[0] ** 2:
            factor = la.cho_factor(gram.toarray(), lower=True)
            pivots = factor[0].diagonal() ** 2
            inverse = la.cho_solve(factor, one)
        else:
            lu = splu(gram, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
            pivots = lu.U.diagonal()
            inverse = lu.solve(one) if pivots.min() > _SINGULAR else one
    except (la.LinAlgError, RuntimeError):
        return None
    return np.asarray(inverse) if pivots.min() > _SINGULAR else None


def _pivoted(M: Any, weight: Array, among: Index) -> tuple[Array, Index, dict[int, Array]]:
    """Right inverse of independent equations, their numbers, and of each other one its coefficients in them."""
    part = M[among]
    size, root = _row_sizes(part, weight), np.sqrt(weight)
    wide = (part.toarray() * root) / size[:, None]
    orthogonal, triangle, order = la.qr(wide.T, mode="economic", pivoting=True)
    rank = int((np.abs(triangle.diagonal()) > _RANK).sum())
    own, others = order[:rank], order[rank:]
    square = triangle[:rank, :rank]
    inverse = np.linalg.solve(square, orthogonal[:, :rank].T).T
    shares = np.linalg.solve(square, triangle[:rank, rank:]).T
    shares = shares * size[others][:, None] / size[own]
    right = root[:, None] * inverse / size[own]
    return right, among[own], dict(zip(among[others].tolist(), shares, strict=True))


def _entries_of_row(M: Any, row: int) -> tuple[list[int], list[float]]:
    """Columns and values of the entries of a row."""
    at = slice(M.indptr[row], M.indptr[row + 1])
    return M.indices[at].tolist(), M.data[at].tolist()


def _quotient(M: Any, row: int, other: int, weight: Array) -> Fraction:
    """Factor by which a row is a multiple of another one, by the first entry of both that moves; 0 without one."""
    own, others = (dict(zip(*_entries_of_row(M, each), strict=True)) for each in (row, other))
    for place, value in others.items():
        if value and own.get(place) and weight[place] > 0:
            return Fraction(own[place]) / Fraction(value)
    return Fraction(0)
