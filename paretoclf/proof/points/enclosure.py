r"""A box that holds an exact solution of linear equations, near a point that nearly solves them.

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

#: Equations up to which none are taken away first.
_FEW = 100

#: An unknown that an equation is solved by has at least this share of its largest coefficient.
_PIVOT = 1e-2

#: Rounds in which equations with an unknown of their own are taken away; in longer chains errors grow.
_PEELS = 3

#: Rounds in which single equations settle unknowns.
_SETTLED = 40

#: Corrections of the point before it is enclosed.
_STEPS = 3


@dataclass(frozen=True)
class Enclosed:
    """Some exact solution of the equations in ``rows`` is within ``radius`` of ``point``, entry by entry.

    Where other equations are known combinations of those, ``left`` has ``t_i - M_i u`` at that solution: exactly, and
    then rounded to a number of the same sign.
    """

    point: Array
    radius: Array
    rows: Index
    left: Mapping[int, float]

    @property
    def solved(self) -> Index:
        """The equations that hold exactly."""
        return np.append(self.rows, [i for i, value in self.left.items() if value == 0]).astype(np.int64)


@dataclass(frozen=True)
class _Peeled:
    """Equations ``rows`` that have an unknown ``columns`` of their own, which no equation peeled later has."""

    rows: Index
    columns: Index
    pivots: Array


@dataclass(frozen=True)
class Equations:
    """Linear equations ``M u = t``, prepared for any t and for points near solutions.

    Made by `equations`.
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
        """Equations that are solved together, then those of each peel, and the sizes of their coefficients."""
        parts = [self.M[self.rows], *(self.M[peel.rows] for peel in self.peeled)]
        return [(part, abs(part)) for part in parts]

    @cached_property
    def _right_sizes(self) -> Array:
        return np.abs(self.right)

    def enclose(self, t: Array, u: Array) -> Enclosed:
        """Enclose a solution near u.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp
        >>> from paretoclf.proof.points.enclosure import equations
        >>> M = sp.csr_array([[3.0, 0.0], [0.0, 7.0], [3.0, 7.0]])
        >>> found = equations(M, np.ones(2)).enclose(np.array([1.0, 1.0, 2.0]), np.zeros(2))
        >>> bool((abs(found.point - [1 / 3, 1 / 7]) <= found.radius + 1e-16).all() and found.radius.max() < 1e-15)
        True
        >>> found.solved.size
        3
        """
        u, radius = self._near(t, u)
        found = ((i, _left(self.M, t, u, self.weight, (i, self.rows, share))) for i, share in self.dependent.items())
        left = {i: value for i, value in found if value is not None}
        return Enclosed(u, radius, self._independent, left)

    def enclose_each(self, t: Array, u: Array) -> tuple[Array, Array, Mask]:
        """Points near the rows of u, their radii, and which of the equations each of them solves within these.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp
        >>> from paretoclf.proof.points.enclosure import equations
        >>> system = equations(sp.csr_array([[3.0, 0.0], [3.0, 0.0]]), np.ones(2))
        >>> points, _, solved = system.enclose_each(np.array([[1.0, 1.0], [2.0, 3.0]]), np.zeros((2, 2)))
        >>> points[:, 0].round(3).tolist(), solved.tolist()
        ([0.333, 0.667], [[True, True], [True, False]])
        """
        u, radius = self._near(t, u)
        solved = np.zeros((len(u), self.M.shape[0]), dtype=bool)
        solved[:, self._independent] = True
        for i, share in self.dependent.items():
            for k in range(len(u)):
                solved[k, i] = _left(self.M, t[k], u[k], self.weight, (i, self.rows, share)) == 0
        return u, radius, solved

    def _near(self, t: Array, u: Array) -> tuple[Array, Array]:
        """A point near u, or near each row of it, and its radius."""
        (part, sizes), goal, radius = self._parts[0], np.take(t, self.rows, axis=-1), np.zeros(u.shape)
        if self.rows.size:
            for _ in range(_STEPS):
                u = u - times(self.right, times(part, u) - goal)
            rho = np.abs(times(part, u) - goal) + _rounded(sizes, u, goal)
            kappa = float(self.defect.max())
            reach = rho + self.defect * rho.max(axis=-1, keepdims=True) / (1 - kappa)
            radius = times(self._right_sizes, reach) * (1 + 1e-9)
        u = u.copy()
        for peel, (part, sizes) in zip(reversed(self.peeled), reversed(self._parts[1:]), strict=True):
            goal = np.take(t, peel.rows, axis=-1)
            for _ in range(2):
                u[..., peel.columns] -= (times(part, u) - goal) / peel.pivots
            rho = np.abs(times(part, u) - goal) + _rounded(sizes, u, goal) + times(sizes, radius)
            radius[..., peel.columns] = rho / np.abs(peel.pivots) * (1 + 1e-9)
        return u, radius

    @cached_property
    def _independent(self) -> Index:
        """The equations that are solved, in order of their solution."""
        return np.concatenate([self.rows, *(peel.rows for peel in self.peeled)]).astype(np.int64)


def times(M: Any, v: Array) -> Array:
    """M times a vector, or times each row of an array: what becomes of one does not depend on which others are there.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from paretoclf.proof.points.enclosure import times
    >>> times(sp.csr_array([[1.0, 2.0]]), np.eye(2)).tolist()
    [[1.0], [2.0]]
    """
    if v.ndim == 1:
        return np.asarray(M @ v)
    if sp.issparse(M):
        return np.ascontiguousarray((M @ np.ascontiguousarray(v.T)).T)
    return np.asarray(np.matmul(M, np.ascontiguousarray(v)[:, :, None])[:, :, 0])


def equations(M: Any, weight: Array) -> Equations | None:
    """Prepare ``M u = t``: what unknowns of positive weight can solve, or None where no right inverse is proved.

    Parameters
    ----------
    M : sparse matrix of shape (k, N)
    weight : array of shape (N,)
        At least 0: how willingly an unknown moves.
    """
    M = sp.csr_array(M)
    still = abs(M) @ weight == 0
    dependent = {int(i): np.zeros(0) for i in np.flatnonzero(still)}
    core, right = np.flatnonzero(~still), np.zeros((M.shape[1], 0))
    peeled: list[_Peeled] = []
    if core.size > _FEW:
        peeled, core = _peel(M, weight, core)
    if core.size:
        if core.size > DENSE:
            return None
        found = _right_inverse(M[core], weight)
        if found is None:
            if core.size > _PIVOTED:
                return None
            found, core, more = _pivoted(M, weight, core)
            dependent |= more
        right = found
    part = M[core]
    terms = abs(part) @ np.abs(right)
    defect = (np.abs(part @ right - np.eye(core.size)) + _EPS * (np.diff(part.indptr)[:, None] + 2) * terms).sum(axis=1)
    if not float(defect.max(initial=0.0)) < 0.5:
        return None
    return Equations(M, weight, tuple(peeled), core, right, defect, dependent)


def settled(M: Any, t: Array, u: Array, weight: Array) -> tuple[Array, Array]:
    """Unknowns and weights with what single equations say put in: ``a u_j = t_i`` where the quotient is a double.

    What is settled has weight 0. Equations in settled unknowns only are then decided exactly, whatever their numbers.
    """
    entries = sp.coo_array(M)
    use = (entries.data != 0) & (weight[entries.col] > 0)
    i, j, a = entries.row[use], entries.col[use], entries.data[use]
    u, weight, first = u.copy(), weight.copy(), entries.tocsr()
    for _ in range(_SETTLED):
        alone = np.flatnonzero(np.bincount(i, minlength=t.size)[i] == 1)
        before = weight.sum()
        for k in alone.tolist():
            places, values = _row(first, int(i[k]))
            known = (Fraction(v) * Fraction(float(u[p])) for p, v in zip(places, values, strict=True) if p != j[k])
            value = (Fraction(float(t[i[k]])) - sum(known, Fraction(0))) / Fraction(float(a[k]))
            if Fraction(float(value)) == value:
                u[j[k]], weight[j[k]] = float(value), 0.0
        if weight.sum() == before:
            break
        left = weight[j] > 0
        i, j, a = i[left], j[left], a[left]
    return u, weight


def _rounded(sizes: Any, u: Array, goal: Array) -> Array:
    """What rounding can make of ``part @ u - goal``, of a part with these sizes of coefficients."""
    return np.asarray((np.diff(sizes.indptr) + 3) * _EPS * (times(sizes, np.abs(u)) + np.abs(goal)))


def _peel(M: Any, weight: Array, rows: Index) -> tuple[list[_Peeled], Index]:
    """Equations with an unknown of their own that moves freely, round by round, and those that are left."""
    entries = sp.coo_array(M[rows])
    use = (entries.data != 0) & (weight[entries.col] > 0)
    i, j, value = rows[entries.row[use]], entries.col[use], entries.data[use]
    largest = np.zeros(M.shape[0])
    np.maximum.at(largest, i, np.abs(value))
    free = (weight[j] >= 0.5 * weight.max()) & (np.abs(value) >= _PIVOT * largest[i])
    here, found = np.zeros(M.shape[0], dtype=bool), []
    here[rows] = True
    for _ in range(_PEELS):
        candidates = np.flatnonzero(free & (np.bincount(j, minlength=M.shape[1])[j] == 1))
        if candidates.size == 0:
            break
        order = candidates[np.lexsort((-np.abs(value[candidates]), i[candidates]))]
        mine, first = np.unique(i[order], return_index=True)
        chosen = order[first]
        found.append(_Peeled(mine, j[chosen], value[chosen]))
        here[mine] = False
        left = here[i]
        i, j, value, free = i[left], j[left], value[left], free[left]
    return found, np.flatnonzero(here)


def _right_inverse(M: Any, weight: Array) -> Array | None:
    """``W M' (M W M')^-1``, with a Newton step if need be; None where the equations seem to depend on each other."""
    size = np.sqrt((M.multiply(M) @ weight[:, None]).ravel())
    scaled = sp.csr_array(sp.diags_array(1 / size) @ M @ sp.diags_array(np.sqrt(weight)))
    gram, one = sp.csc_array(scaled @ scaled.T), np.eye(size.size)
    try:
        if gram.nnz > _SPARSE * size.size**2:
            factor = la.cho_factor(gram.toarray(), lower=True)
            pivots, inverse = factor[0].diagonal() ** 2, la.cho_solve(factor, one)
        else:
            lu = splu(gram, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
            pivots = lu.U.diagonal()
            inverse = lu.solve(one) if pivots.min() > _SINGULAR else one
    except (la.LinAlgError, RuntimeError):
        return None
    if not pivots.min() > _SINGULAR:
        return None
    right = scaled.T @ inverse
    left = one - scaled @ right
    if np.abs(left).sum(axis=1).max() > _ROUGH:
        right = right + right @ left
    return np.asarray(np.sqrt(weight)[:, None] * right / size)


def _pivoted(M: Any, weight: Array, among: Index) -> tuple[Array, Index, dict[int, Array]]:
    """A right inverse of independent equations, these, and of each other one its coefficients in them."""
    part = M[among]
    size = np.sqrt((part.multiply(part) @ weight[:, None]).ravel())
    wide = (part.toarray() * np.sqrt(weight)) / size[:, None]
    Q, R, order = la.qr(wide.T, mode="economic", pivoting=True)
    rank = int((np.abs(R.diagonal()) > _RANK).sum())
    own, others = order[:rank], order[rank:]
    inverse = np.linalg.solve(R[:rank, :rank], Q[:, :rank].T).T
    shares = np.linalg.solve(R[:rank, :rank], R[:rank, rank:]).T * size[others][:, None] / size[own]
    right = np.sqrt(weight)[:, None] * inverse / size[own]
    return right, among[own], dict(zip(among[others].tolist(), shares, strict=True))


def _left(M: Any, t: Array, u: Array, weight: Array, of: tuple[int, Index, Array]) -> float | None:
    """``t_i - M_i u`` at every solution of the other equations, or None if it is not the same at all of them."""
    i, rows, share = of
    used = np.flatnonzero(np.abs(share) > 1e-9)
    parts = [(int(rows[j]), Fraction(float(share[j])).limit_denominator(_DENOMINATOR)) for j in used]
    if len(used) == 1:
        parts = [(parts[0][0], _quotient(M, i, parts[0][0], weight))]
    total: dict[int, Fraction] = {}
    side = Fraction(float(t[i]))
    for j, factor in [(i, Fraction(-1)), *parts]:
        if j != i:
            side -= factor * Fraction(float(t[j]))
        for place, value in zip(*_row(M, j), strict=True):
            total[place] = total.get(place, Fraction(0)) + factor * Fraction(value)
    for place, rest in total.items():
        if rest and weight[place] > 0:
            return None
        side += rest * Fraction(float(u[place]))
    size = float(side)
    return size if size or not side else float(np.copysign(np.finfo(float).tiny, side.numerator))


def _row(M: Any, i: int) -> tuple[list[int], list[float]]:
    at = slice(M.indptr[i], M.indptr[i + 1])
    return M.indices[at].tolist(), M.data[at].tolist()


def _quotient(M: Any, i: int, j: int, weight: Array) -> Fraction:
    """What row i is of row j, by their first entries that move."""
    mine, other = (dict(zip(*_row(M, k), strict=True)) for k in (i, j))
    place = next((p for p, value in other.items() if value and mine.get(p) and weight[p] > 0), None)
    return Fraction(0) if place is None else Fraction(mine[place]) / Fraction(other[place])
