r"""Active sets of a program in two parameters: their affine solutions, and the way from one to the next.

On a set W of active rows the optimum of :math:`\min\tfrac12x^\top Px+q^\top x,\ Ex=e,\ Ax\le b` is the solution of

.. math::

   \begin{pmatrix}P&A_W^\top\\A_W&0\end{pmatrix}\begin{pmatrix}x\\z_W\end{pmatrix}=\begin{pmatrix}-q\\b_W\end{pmatrix},

affine in the parameters, as q and b are. It is optimal exactly where the slacks of other rows and the multipliers of
active inequalities are nonnegative: a convex polygon.

Where constraints or costs are degenerate, polygons of different sets would overlap. So one optimum is chosen
everywhere: every slack and every multiplier may be negative by :math:`\epsilon` times a fixed number in general
position, with :math:`\epsilon\downarrow0`; what has an optimum then has one still. What depends on :math:`\epsilon` is
one more column of the solution.

Across an edge, at a point m of it in the direction d, conditions are :math:`g(m)+\delta\,\nabla g\cdot d+\epsilon e`.
Those with :math:`g(m)=0` are followed along :math:`\sigma=\delta/\epsilon` to infinity, exchange by exchange: the set
that is optimal beyond, or a ray that proves that there is no optimum there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack, qr

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import ROUNDING
from paretoclf.engine.general import follow
from paretoclf.problem.parametric_qp import ParametricQP

#: Rounding of a solution is this share of what is summed for it, times the inverse.
_EPS = 4.0 * float(np.finfo(float).eps)
#: What is no more than so many times its rounding is 0.
_KNOWN = 16.0
#: Pivots of columns, or of equations, below this share of the first are 0.
_RANK = 1e-11
#: Sines of angles below this are 0.
_PARALLEL = 1e-9
#: A system is singular where the product of its norm and that of its inverse is above this.
_CONDITION = 1e14
#: So many inverses are kept.
_KEPT = 16
#: Exchanges at one point, in units of the rows.
_PATIENCE = 20


class Singular(Exception):
    """Rows that are no basis."""


@dataclass(frozen=True)
class Ray:
    """Why there is no optimum: multipliers (m,) where it is infeasible, a direction (n,) where it is unbounded."""

    status: str
    vector: Array


@dataclass(eq=False)
class ActiveSet:
    """A basis: active rows, increasing, and the solution by (1, s, t, epsilon), one column each.

    Attributes
    ----------
    rows : int array
    x, z : arrays of shape (n, c), (m, c)
    conditions : array of shape (m, c)
        Multipliers of active inequalities and slacks of others, which must not be negative; 0 for equations.
    room : array of shape (m, c)
        What rounding may make of them.
    """

    bases: ActiveSets = field(repr=False)
    rows: Index
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    conditions: Array = field(repr=False)
    room: Array = field(repr=False)

    @property
    def key(self) -> bytes:
        """Identify the active set among others."""
        return self.rows.tobytes()

    @property
    def system(self) -> Inverted:
        """Its matrix, with the inverse."""
        return self.bases.system(self.rows)


@dataclass(frozen=True, eq=False)
class Inverted:
    """A matrix with its inverse."""

    matrix: Array
    inverse: Array

    def solve(self, right: Array) -> tuple[Array, Array]:
        """The solution, and what rounding may make of it: of its correction, too, which is all there is of a 0."""
        found = self.inverse @ right
        left = right - self.matrix @ found
        found += self.inverse @ left
        return found, _EPS * self._sizes(np.abs(found), np.abs(right) + np.abs(left))

    def _sizes(self, found: Array, right: Array) -> Array:
        return np.asarray(self._absolute[1] @ (self._absolute[0] @ found + right))

    @cached_property
    def _absolute(self) -> tuple[Array, Array]:
        return np.abs(self.matrix), np.abs(self.inverse)


class ActiveSets:
    """The active sets of one program.

    Parameters
    ----------
    problem : ParametricQP
        All of whose bounds are upper bounds of rows, or equations; costs and bounds have three rows, for (0, 0), (1, 0)
        and (0, 1). Its numbers are of one size.
    equal : bool array of shape (m,)
        Rows that hold with equality everywhere: equations, and others of which that is known.
    """

    def __init__(self, problem: ParametricQP, equal: Mask) -> None:
        n = problem.n
        P, A = (np.asarray(each, dtype=np.float64) for each in (problem.P, problem.A))
        b = problem.upper[:, n:]
        self.n, self.m, self.asked = n, A.shape[0], ~equal
        # A direction in which nothing moves, neither objective nor rows, needs no column of its own.
        self.columns = _independent(np.vstack([P, A]).T)
        self.always = np.flatnonzero(equal)[_independent(A[equal])]
        self.P, self.A = P[np.ix_(self.columns, self.columns)], A[:, self.columns]
        self.sizes = np.abs(self.A)
        self.problem = problem
        self._systems: dict[bytes, Inverted] = {}
        self._bases: dict[bytes, ActiveSet] = {}
        rng = np.random.default_rng(0)
        slack, price = (rng.uniform(0.5, 1.5, self.m) * self.asked for _ in range(2))
        moved = self.P @ rng.uniform(-1.0, 1.0, self.columns.size) + price @ self.A
        q = problem.q[:, self.columns]
        self.q = np.stack([q[0], q[1] - q[0], q[2] - q[0], -moved], axis=1)
        self.b = np.stack([b[0], b[1] - b[0], b[2] - b[0], slack], axis=1)

    def system(self, rows: Index) -> Inverted:
        """The matrix of a set of rows; Singular where it has no inverse. The last ones are kept."""
        key = rows.tobytes()
        if key not in self._systems:
            self._systems[key] = self._inverted(rows)
            if len(self._systems) > _KEPT:
                del self._systems[next(iter(self._systems))]
        return self._systems[key]

    def _inverted(self, rows: Index) -> Inverted:
        """The matrix of a set of rows with its inverse."""
        k, n = rows.size, self.columns.size
        matrix = np.zeros((n + k, n + k))
        matrix[:n, :n] = self.P
        matrix[n:, :n] = self.A[rows]
        matrix[:n, n:] = self.A[rows].T
        if k > n:
            raise Singular
        if not n:
            return Inverted(matrix, matrix)
        # One right-hand side for each row, as NumPy has it, is shared among threads, which wait for each other.
        factors, pivots, failed = lapack.dgetrf(matrix)
        inverse, failed = lapack.dgetri(factors, pivots) if not failed else (factors, failed)
        if failed:
            raise Singular
        size = float(np.abs(matrix).sum(axis=0).max(initial=0.0) * np.abs(inverse).sum(axis=0).max(initial=0.0))
        if not size <= _CONDITION:
            raise Singular
        return Inverted(matrix, inverse)

    def basis(self, rows: Any) -> ActiveSet:
        """The solution on a set of rows; Singular where it has none."""
        rows = np.sort(np.asarray(rows, dtype=np.int64))
        key = rows.tobytes()
        if key not in self._bases:
            self._bases[key] = self._solved(rows)
        return self._bases[key]

    def _solved(self, rows: Index) -> ActiveSet:
        """The solution on a set of rows, increasing."""
        system, n = self.system(rows), self.columns.size
        found, error = system.solve(np.concatenate([-self.q, self.b[rows]]))
        x, z = found[:n], np.zeros(self.b.shape)
        conditions = self.b - self.A @ x
        room = self.sizes @ error[:n] + _EPS * (np.abs(self.b) + self.sizes @ np.abs(x))
        conditions[rows], room[rows] = found[n:], error[n:]
        room *= _KNOWN
        # The inverse, too, is rounded where it is 0: there the rounding is a share of that of the row's other numbers.
        room = np.maximum(room, _EPS * room.max(axis=1, keepdims=True))
        conditions[np.abs(conditions) <= room] = 0.0
        z[rows] = conditions[rows]
        conditions[~self.asked] = 0.0
        whole = np.zeros((self.n, self.b.shape[1]))
        whole[self.columns] = x
        return ActiveSet(self, rows, whole, z, conditions, room)

    def across(self, basis: ActiveSet, point: Array, direction: Array, near: float) -> ActiveSet | Ray:
        """Optimal basis right behind an edge of the region of another one, at a point of the edge.

        Parameters
        ----------
        basis : ActiveSet
        point, direction : arrays of shape (2,)
            The direction is a unit vector.
        near : float
            What is no further than this from the point is at it.
        """
        return self._followed(basis, point, near, np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, *direction, 0.0]))

    def optimal(self, point: Array, near: float) -> ActiveSet | Ray:
        """Optimal basis at a point in general position.

        Raises
        ------
        DegeneratePathError
            If that cannot be found out.
        """
        weights = np.array([[1.0 - point.sum(), *point]] * 2)
        own, n = self.problem, self.n
        upper = np.where(np.isfinite(own.upper[:1]), weights @ np.where(np.isfinite(own.upper), own.upper, 0.0), np.inf)
        lower = np.where(np.append(np.zeros(n, dtype=np.bool_), ~self.asked), upper, -np.inf)
        here = ParametricQP.hard(own.P, own.A, weights @ own.q, lower, upper)
        found = follow(here, progress=False, scaled=True)
        if not found.segments:
            if found.status not in ("infeasible", "unbounded"):
                raise _refused("no optimum was found at a point, nor that there is none")
            part = found.ray[:n] if found.status == "unbounded" else -found.ray[n:]
            return Ray(found.status, np.asarray(part, dtype=np.float64))
        (x,), (multipliers,) = found.path.points(slice(0, 1))
        tight = np.flatnonzero((found.path.first[n:] % 2 != 0) & self.asked)
        tight = tight[np.argsort(-np.abs(multipliers[n:][tight]), kind="stable")]
        try:
            rows = self._completed(tight, np.asarray(x, dtype=np.float64), weights[0] @ own.upper[:, n:])
            return self._settled(self.basis(rows), point, near)
        except Singular:
            raise _refused("the active rows at a point are dependent") from None

    def _completed(self, tight: Index, x: Array, b: Array) -> Index:
        """Equations and tight rows that are independent, and as many rows more as it takes for one solution.

        Where optima are many, one goes from a point along them until a row is reached.
        """
        rows = np.concatenate([self.always, tight])
        if rows.size:
            rows = np.union1d(self.always, rows[_independent(self.A[rows])])
        images = np.concatenate([self.problem.P[self.columns] @ x, self.problem.A @ x])
        x = np.linalg.lstsq(np.vstack([self.P, self.A]), images)[0]
        while (along := _null(np.vstack([self.P, self.A[rows]]))) is not None:
            speed = (self.A @ along) * (self.asked & ~np.isin(np.arange(self.m), rows))
            sign = 1.0 if speed.max(initial=0.0) >= -speed.min(initial=0.0) else -1.0
            blocks = np.flatnonzero(sign * speed > _RANK * np.abs(speed).max(initial=0.0))
            if not blocks.size:
                raise Singular
            steps = np.maximum(b - self.A @ x, 0.0)[blocks] / (sign * speed[blocks])
            k = int(np.argmin(steps))
            x, rows = x + sign * steps[k] * along, np.union1d(rows, blocks[k : k + 1])
        return rows

    def _settled(self, basis: ActiveSet, point: Array, near: float) -> ActiveSet | Ray:
        """The chosen one of the sets that are optimal at a point: from numbers for which this one is, to the own."""
        value = basis.conditions[:, :3] @ np.array([1.0, *point])
        tied = self.asked & (value <= near * np.hypot(*basis.conditions[:, 1:3].T) + basis.room[:, :3].max(axis=1))
        own = basis.conditions[:, 3]
        more = np.where(tied & (own < 0.5), 0.5 + np.random.default_rng(1).random(self.m) - own, 0.0)
        if not more.any():
            return basis
        active = np.isin(np.arange(self.m), basis.rows)
        wider = _with(self, -(more * active) @ self.A, more * ~active)
        first, rate = np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 0.0, -1.0])
        found = wider._followed(wider.basis(basis.rows), point, near, first, rate)
        return found if isinstance(found, Ray) else self.basis(found.rows)

    def _followed(self, basis: ActiveSet, point: Array, near: float, first: Array, rate: Array) -> ActiveSet | Ray:
        """Exchange at one point while ``first + sigma rate`` grows, sigma going to 1 or to infinity."""
        one, crossing = np.array([1.0, *point]), bool(rate[1:3].any())
        sigma, last = -np.inf, np.inf if crossing else 1.0
        for _ in range(_PATIENCE * (self.m + 1)):
            own = basis.conditions
            value, small, speed = own[:, :3] @ one, own @ first, own @ rate
            size = np.hypot(own[:, 1], own[:, 2])
            tied = self.asked & (value <= near * size + basis.room[:, :3] @ np.abs(one))
            falls = tied & (speed < -_PARALLEL * (size if crossing else np.abs(small)))
            where = np.flatnonzero(falls)
            when = -small[where] / speed[where]
            where, when = where[when <= last], when[when <= last]
            if not where.size:
                return basis
            k = int(np.argmin(when))
            sigma = max(sigma, float(when[k]))
            found = self._exchanged(basis, int(where[k]), np.where(tied, 0.0, value), small + sigma * speed)
            if isinstance(found, Ray):
                return found
            basis = self.basis(found)
        raise Singular

    def _exchanged(self, basis: ActiveSet, i: int, value: Array, small: Array) -> Index | Ray:
        """The rows where condition i does not hold any more; of ratios that are equal the smaller ``small`` decides."""
        rows, n = basis.rows, self.columns.size
        place = int(np.searchsorted(rows, i))
        if place == rows.size or rows[place] != i:  # its slack is 0: the row becomes active
            found, error = basis.system.solve(np.concatenate([-self.A[i], np.zeros(rows.size)]))
            pivot, least = -float(self.A[i] @ found[:n]), _KNOWN * float(self.sizes[i] @ error[:n])
            if pivot > least:
                return np.append(rows, i)
            own = found[n:]
            falls = self.asked[rows] & (own < -np.maximum(_KNOWN * error[n:], _RANK * np.abs(own).max(initial=0.0)))
            if not falls.any():
                z = np.zeros(self.m)
                z[rows], z[i] = own, 1.0
                return Ray("infeasible", _cleared(z))
            out = _smallest(rows[falls], -own[falls], value, small)
            return np.append(rows[rows != out], i)
        unit = np.zeros(n + rows.size)
        unit[n + place] = 1.0
        found, error = basis.system.solve(unit)
        if -found[n + place] > _KNOWN * error[n + place]:
            return np.asarray(rows[rows != i])
        speed, known = self.A @ found[:n], _KNOWN * (self.sizes @ error[:n])
        falls = self.asked & (speed < -np.maximum(known, _RANK * np.abs(speed).max(initial=0.0)))
        falls[rows] = False
        if not falls.any():
            x = np.zeros(self.n)
            x[self.columns] = -found[:n]
            return Ray("unbounded", _cleared(x))
        into = _smallest(np.flatnonzero(falls), -speed[falls], value, small)
        return np.append(rows[rows != i], into)


def _with(bases: ActiveSets, q: Array, b: Array) -> ActiveSets:
    """Bases with one more column of data."""
    made = object.__new__(ActiveSets)
    made.__dict__.update(bases.__dict__)
    made._bases = {}
    made.q, made.b = np.column_stack([bases.q, q]), np.column_stack([bases.b, b])
    return made


def _smallest(rows: Index, speed: Array, value: Array, small: Array) -> int:
    """The row whose condition is 0 first where it falls at this speed."""
    ratio = np.maximum(value[rows], 0.0) / speed
    tied = ratio <= float(ratio.min()) * (1.0 + 1e-12)
    return int(rows[tied][np.argmin(small[rows[tied]] / speed[tied])])


def _cleared(ray: Array) -> Array:
    """A ray without what rounding has left of 0."""
    return np.where(np.abs(ray) > ROUNDING * np.abs(ray).max(initial=0.0), ray, 0.0)


def _independent(M: Array) -> Index:
    """Rows that are independent, as many as there are."""
    if not M.size:
        return np.zeros(0, dtype=np.int64)
    _, R, order = qr(M.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    return np.sort(order[: int((pivots > _RANK * pivots[0]).sum())]) if pivots[0] > 0.0 else order[:0]


def _null(M: Array) -> Array | None:
    """A unit vector that a matrix takes to 0; None where there is none."""
    if not M.shape[1]:
        return None
    _, sizes, directions = np.linalg.svd(M, full_matrices=True)
    if sizes.size == M.shape[1] and sizes[-1] > _RANK * sizes[0]:
        return None
    return np.asarray(directions[-1])


def _refused(why: str) -> DegeneratePathError:
    """An error that names no point yet."""
    return DegeneratePathError(why, t=None, costs="", n_margin=None, remedy="Rescale the data.")
