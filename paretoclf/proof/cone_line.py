r"""A cone program along a line, and what is proved of it at every t between two pairs.

.. math::

   f^*(t)=\inf_x\ \tfrac12x^\top Px+q(t)^\top x+d(t)\quad\text{s.t. }s=b(t)-Ax\in K,\qquad
   \sup_{y,z}\ -\tfrac12y^\top Py-b(t)^\top z+d(t)\quad\text{s.t. }Py+q(t)+A^\top z=0,\ z\in K^*,

with q, b, d affine in t. Take pairs x, s and y, z at two t that are feasible, and interpolate both linearly in u from 0
to 1. The equations are affine, K and its dual are convex: what comes out is feasible for every u, and with
:math:`e=x-y`

.. math:: f(x(u))-D(y(u),z(u))=\tfrac12e(u)^\top Pe(u)+z(u)^\top s(u)\le(1-u)^2a_k+u^2a_j+u(1-u)c,

where :math:`a=z^\top s+\tfrac12e^\top Pe` at each end and
:math:`c=z_k^\top s_j+z_j^\top s_k+\tfrac12e_k^\top Pe_k+\tfrac12e_j^\top Pe_j`. Four inner products prove every t
between the two. The largest value is :math:`\max(a_k,a_j)`, unless :math:`c>2\max(a_k,a_j)`: then it is
:math:`(c^2-4a_ka_j)/(4(c-a_k-a_j))`. Inside a segment of the exact path of a quadratic program c is 0.

**Rounding** is counted at the pairs only. A float x is within a radius of a point that satisfies the equations exactly
(`paretoclf.proof.points.enclosure`), with slacks that are in the cone wherever they are within theirs. Multipliers are
moved into their cones; what they miss, :math:`r=Py+q+A^\top z`, costs :math:`r^\top(x(u)-x)` for the x of a box that
holds, for every t of the line, the feasible points with an objective below a ceiling above all values of the path. As
r and the distance to the corners of the box are both affine in u, that is a quadratic of the same kind, and goes into
a and c. Where a column has no bound, the pair must be stationary exactly, and is enclosed. Numbers b(t) and q(t) are
the exact combinations of the doubles at both ends, also in equations: there 1 - t and t are two more unknowns that
stand still, and t is a multiple of :math:`2^{-44}`, so that both are doubles.

This is the judge: it knows no solver, and what it says is computed from the line, t, x, y, z and the ceiling alone.

References: Giesen, Mueller, Laue, Swiercy, *Approximating concavely parameterized optimization problems* (2012), for
the growth of the number of pairs as eps to the power -1/2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.proof.points.cone_box import implied_box
from paretoclf.proof.points.cone_lower import Box, in_dual
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cone, Cones, contains, project_dual
from paretoclf.proof.points.enclosure import equations

_EPS = float(np.finfo(float).eps)

#: Each t is a whole multiple of this, so that 1 - t is a double, too.
GRID = 2.0**-44

#: Products of enclosed numbers are enlarged by this share of what their radii add.
_WIDER = 1 + 1e-6

#: What a multiplier of a cone with curved faces may move by, relative to its cone's largest, while others solve.
_CURVED = 1e-6


@dataclass(frozen=True)
class ConeLine(ProgramLine):
    """A compiled cone program along a line of its parameters: as a `ProgramLine`, with cones for its rows.

    Attributes
    ----------
    cones : Cones
        Of the rows, from the first; the equations are the first of them.
    """

    cones: Cones = field(default_factory=Cones, repr=False)

    @cached_property
    def base(self) -> ConeProgram:
        """The program at t = 0."""
        return ConeProgram(self.P, self.q[0], self.A, self.b[0], self.cones)

    def at(self, t: float) -> ConeProgram:
        """The program at t."""
        for name in ("kinds", "grouped", "curvature", "diagonal", "column_length"):  # shared by all t
            getattr(self.base, name)
        return self.base.moved(between(self.q, t), between(self.b, t))

    @property
    def still(self) -> ConeLine:
        """The same without an objective: what bounds its points, and its rays."""
        none = np.zeros_like(self.q)
        P = sp.csc_array((self.n, self.n))
        return ConeLine(P, self.A, none, self.b, np.zeros(2), self.equations, 1, {}, {}, (), self.cones)


def line_box(line: ConeLine, ceiling: float) -> Box:
    """Bounds of every x that is feasible at some t of the line and has an objective of at most the ceiling there.

    t is one more column, from 0 to 1. As the objective at x is affine in t, it is at most the ceiling at one of the
    ends of the line, too: the box is the hull of two.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cone_line import ConeLine, line_box
    >>> from paretoclf.proof.points.cones import Cone, Cones
    >>> cones, A = Cones([Cone("second-order", 2)]), np.array([[0.0], [-1.0]])
    >>> line = ConeLine(np.zeros((1, 1)), A, np.ones((2, 1)), np.array([[1.0, 0], [3.0, 0]]), np.zeros(2), 0, 1, {}, {},
    ...                 (), cones)
    >>> line_box(line, 1.0).high.round(6), line_box(line, np.inf).low.round(6)
    (array([1.]), array([-3.]))
    """
    rows = sp.csr_array(np.array([[1.0], [-1.0]]))  # t <= 1, -t <= 0
    speed = sp.csr_array((line.b[0] - line.b[1])[:, None])
    A = sp.block_array([[sp.csr_array(line.A), speed], [None, rows]])
    b, cones = np.append(line.b[0], [1.0, 0.0]), [*line.cones, Cone("nonnegative", 2)]
    P = sp.block_diag([sp.csr_array(line.P), sp.csr_array((1, 1))])
    low, high = np.full(line.n, np.inf), np.full(line.n, -np.inf)
    for q, constant in zip(line.q, line.constant, strict=True):
        room = ceiling - float(constant)
        room += 4 * _EPS * (abs(ceiling) + abs(float(constant))) if np.isfinite(room) else 0.0
        first, last = implied_box(ConeProgram(P, np.append(q, 0.0), A, b, cones), room)
        # Bounds that contradict each other by their rounding hold both ends.
        low, high = np.minimum(low, np.minimum(first, last)[:-1]), np.maximum(high, np.maximum(first, last)[:-1])
    return Box(low, high)


@dataclass(frozen=True)
class Pair:
    """A point and multipliers at one t: exact ones are within the radii of these, feasible both.

    ``missed`` bounds what the exact multipliers miss of stationarity, ``value`` and ``off`` what the objective at the
    exact point is and is off at most; ``why`` says what is not proved, and is empty where all of it is.
    """

    t: float
    x: Array
    x_radius: Array
    s: Array
    s_radius: Array
    y: Array
    z: Array
    z_radius: Array
    missed: Array
    reach: Array
    bent: float
    value: float
    off: float
    why: str

    @cached_property
    def own(self) -> float:
        """Bound of the gap at t itself."""
        return products(self, self) + float(self.missed @ self.reach) * _WIDER + self.bent


def products(k: Pair, j: Pair) -> float:
    """Upper bound of the inner product of the multipliers of one pair and the slacks of another."""
    z, s = np.abs(k.z), np.abs(j.s)
    rounding = (z.size + 2) * _EPS * float(z @ s)
    return float(k.z @ j.s) + rounding + float(z @ j.s_radius + k.z_radius @ (s + j.s_radius)) * _WIDER


@dataclass(frozen=True)
class ConePiece:
    """Between two pairs: ``gap(u) <= (1-u)^2 a + u^2 b + u(1-u) c``, and objectives from ``low`` to ``high``."""

    a: float
    b: float
    c: float
    low: float
    high: float

    def at(self, u: Any) -> Any:
        """Bound of the gap at a share of the way."""
        return ((1 - u) ** 2 * self.a + u**2 * self.b + u * (1 - u) * self.c) * (1 + 1e-12) + 4 * _EPS * self.c

    @property
    def gap(self) -> float:
        """Bound of the gap at every t of the piece."""
        a, b, c = self.a, self.b, self.c
        inner = c > 2 * max(a, b)  # else the inner point is no maximum of the piece
        most = (c * c - 4 * a * b) / (4 * (c - a - b)) if inner else max(a, b)
        return most * (1 + 1e-12) + 8 * _EPS * c if np.isfinite(c) else np.inf

    def unit(self, floor: float) -> float:
        """What the gap is relative to: a lower bound of the optimal value's size on the piece, at least ``floor``."""
        least = -self.high if self.high < 0 else self.low - self.gap if self.low > 0 else 0.0
        return max(least, floor)


class ConeJudge:
    """Judges pairs and pieces of a line, under a ceiling that no value of the path is above.

    Parameters
    ----------
    line : ConeLine
    ceiling : float
        Infinite: the box is that of all feasible points.
    """

    def __init__(self, line: ConeLine, ceiling: float) -> None:
        self.line, self.ceiling, self.box = line, ceiling, line_box(line, ceiling)
        self.wide: Mask = self.box.wide
        self.convex = bool(line.base.curvature.min(initial=0.0) >= 0.0)
        zero = np.arange(line.equations)
        moving = np.append(np.ones(line.n), [0.0, 0.0])
        A = sp.csr_array(line.A)
        self._equations = equations(sp.hstack([A[zero], sp.csr_array(-line.b[:, zero].T)]), moving)
        self._A, self._sizes, self._P = A, abs(A), sp.csr_array(line.P)
        self._back, self._back_sizes, self._P_sizes = sp.csr_array(A.T), sp.csr_array(abs(A).T), abs(self._P)
        self._long = np.diff(A.indptr) + 5
        self._longer = np.asarray(line.base.column_length) + 5

    def pair(self, t: float, x: Array, y: Array, z: Array) -> Pair:
        """A pair near a float one."""
        x, x_radius, s, s_radius, fine = self.point(t, x)
        y, y_radius, z, z_radius, missed, stationary = self.multipliers(t, y, z)
        why = "" if fine else "its point is not proved feasible"
        if not stationary:
            names = ", ".join(dict.fromkeys(self.line.column_name(int(j)) for j in np.flatnonzero(self.wide)[:3]))
            why = why or f"its multipliers are not proved stationary where the constraints imply no bounds ({names})"
        if not self.convex:
            why = "P is not proved positive semidefinite"
        if not self.on_grid(t):
            why = f"t is no multiple of {GRID:.0e}"
        reach = np.maximum(np.abs(self.box.low - x), np.abs(self.box.high - x)) * (1 + 2 * _EPS) + x_radius
        apart, around = x - y, x_radius + y_radius + 2 * _EPS * (np.abs(x) + np.abs(y))
        size = self._P_sizes @ np.abs(apart)
        bent = 0.5 * float(apart @ (self._P @ apart)) + float(around @ size) + float(around @ (self._P_sizes @ around))
        bent = max(bent, 0.0) * _WIDER + 4 * (x.size + 4) * _EPS * float(np.abs(apart) @ size)
        value, off = self.value(t, x, x_radius)
        return Pair(
            t, x, x_radius, s, s_radius, y, z, z_radius, missed, np.where(self.wide, 0.0, reach), bent, value, off, why
        )

    @staticmethod
    def on_grid(t: float) -> bool:
        """Whether t and 1 - t are doubles."""
        return 0.0 <= t <= 1.0 and float(t / GRID).is_integer()

    def point(self, t: float, x: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A point near x that satisfies the equations within a radius, its slacks, and whether they are inside."""
        A, b, k = self._A, self.line.b, self.line.equations
        radius = np.zeros(x.size)
        solved = np.zeros(k, dtype=bool)
        if self._equations is not None:
            near = self._equations.enclose(np.zeros(k), np.append(x, [1.0 - t, t]))
            x, radius = near.point[:-2], near.radius[:-2]
            solved[near.solved] = True
        s = between(b, t) - A @ x
        terms = between(np.abs(b), t) + self._sizes @ np.abs(x)
        s_radius = (self._sizes @ radius) * _WIDER + self._long * _EPS * terms
        s[:k][solved], s_radius[:k][solved] = 0.0, 0.0
        return x, radius, s, s_radius, bool(contains(s, s_radius, self.line.base.grouped).all())

    def multipliers(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, Array, bool]:
        """Multipliers in the dual cones near y, z, what they miss of stationarity, and whether that is 0 where it must.

        It must where the box has no bounds.
        """
        line = self.line
        q, sizes = between(line.q, t), between(np.abs(line.q), t)
        z = project_dual(z, line.base.grouped)
        y_radius, z_radius, fine = np.zeros(y.size), np.zeros(z.size), True
        if self.wide.any():
            y, y_radius, z, z_radius, fine = self._stationary(t, y, z)
        r = np.abs(self._P @ y + q + self._back @ z)
        terms = self._P_sizes @ np.abs(y) + sizes + self._back_sizes @ np.abs(z)
        r += (self._P_sizes @ y_radius + self._back_sizes @ z_radius) * _WIDER + self._longer * _EPS * terms
        return y, y_radius, z, z_radius, np.where(self.wide, 0.0, r), fine

    def _stationary(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A pair within a radius of which one is stationary exactly in all columns without bounds."""
        line, at = self.line, np.flatnonzero(self.wide)
        M = sp.hstack([self._P[at], self._back[at], sp.csr_array(line.q[:, at].T)]).tocsr()
        size = max(1.0, float(np.abs(z).max(initial=0.0)))
        weight = np.concatenate([np.where(self._P.diagonal() != 0, size, 0.0), self._room(z, size), [0.0, 0.0]])
        system = equations(M, weight)
        if system is None:
            return y, np.zeros(y.size), z, np.zeros(z.size), False
        near = system.enclose(np.zeros(at.size), np.concatenate([y, z, [1.0 - t, t]]))
        n, solved = y.size, np.zeros(at.size, dtype=bool)
        solved[near.solved] = True
        new, radius = near.point[n:-2], near.radius[n:-2]
        fine = bool(solved.all()) and in_dual(new, radius, z, line.base.grouped)
        return near.point[:n], near.radius[:n], new, radius, fine

    def _room(self, z: Array, size: float) -> Array:
        """How willingly each multiplier moves."""
        room = np.zeros(z.size)
        for each in self.line.base.grouped.alike:
            v = z[each.rows]
            if each.kind == "zero":
                room[each.rows] = size
            elif each.kind == "nonnegative":
                room[each.rows] = np.maximum(v, 0.0)
            else:
                room[each.rows] = _CURVED * np.abs(v).max(axis=1, keepdims=True)
        return room

    def value(self, t: float, x: Array, radius: Array) -> tuple[float, float]:
        """The objective at x, and how far that of a point within a radius is from it at most, rounding counted."""
        line, Px = self.line, self._P @ x
        q, sizes = between(line.q, t), between(np.abs(line.q), t)
        size, long = self._P_sizes @ np.abs(x), self._longer
        found = float(0.5 * x @ Px + q @ x + between(line.constant, t))
        slope = np.abs(Px + q) + long * _EPS * (size + sizes)
        moved = float(slope @ radius + 0.5 * radius @ (self._P_sizes @ radius))
        terms = float(sizes @ np.abs(x) + np.abs(x) @ size + between(np.abs(line.constant), t))
        return found, moved * _WIDER + 4 * (x.size + int(long.max(initial=0))) * _EPS * terms

    def piece(self, k: Pair, j: Pair) -> ConePiece:
        """What is proved between two pairs, the first at the smaller t."""
        if k.why or j.why:
            return ConePiece(np.inf, np.inf, np.inf, -np.inf, np.inf)
        missed = float(k.missed @ j.reach + j.missed @ k.reach) * _WIDER
        cross = products(k, j) + products(j, k) + missed + k.bent + j.bent
        # The objective at the point is a quadratic: between the smallest and the largest of three numbers.
        hull = [(k.value, k.off), (j.value, j.off), self._middle(k, j)]
        low, high = min(value - off for value, off in hull), max(value + off for value, off in hull)
        return ConePiece(max(k.own, 0.0), max(j.own, 0.0), max(cross, 0.0), low, high)

    def _middle(self, k: Pair, j: Pair) -> tuple[float, float]:
        """The middle one of those three numbers, and what it is off at most."""
        line, found, off = self.line, float(between(self.line.constant, 0.5 * (k.t + j.t))), 0.0
        sizes = float(np.abs(line.constant).sum())
        for one, other in ((k, j), (j, k)):
            q, bound = between(line.q, one.t), between(np.abs(line.q), one.t)
            slope = 0.5 * (self._P @ one.x) + q
            size = 0.5 * (self._P_sizes @ (np.abs(one.x) + one.x_radius)) + bound
            found += 0.5 * float(slope @ other.x)
            off += 0.5 * float(size @ other.x_radius)
            sizes += float(size @ np.abs(other.x))
        return found, off * _WIDER + 4 * (line.n + int(self._longer.max(initial=0))) * _EPS * sizes
