"""Points and multipliers of a cone program at one t of a line, and what is proved of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.program import between
from paretoclf.proof.cone_line import GRID, ConeLine
from paretoclf.proof.cone_line_box import line_box
from paretoclf.proof.points.cone_lower import in_dual
from paretoclf.proof.points.cones import contains, project_dual
from paretoclf.proof.points.enclosure import equations

_EPS = float(np.finfo(float).eps)

#: What a multiplier of a cone with curved faces may move by, relative to its cone's largest, while others solve.
_CURVED = 1e-6

#: So many t have their matrices kept, where these move.
_LATELY = 8

#: Products of enclosed numbers are enlarged by this share of what their radii add.
WIDER = 1 + 1e-6


@dataclass(frozen=True)
class Matrices:
    """P and A at one t, transposed, and what rounding is a share of."""

    P: Any
    A: Any
    P_sizes: Any
    A_sizes: Any
    back: Any
    back_sizes: Any

    @classmethod
    def of(cls, line: ConeLine, t: float) -> Matrices:
        """Those of a line at t."""
        (P, A), sizes = (line.base.P, sp.csr_array(line.A)), (abs(line.base.P), abs(sp.csr_array(line.A)))
        if not line.stands:
            P, A = (still + t * speed for still, speed in zip((P, line.base.A), line.speeds, strict=True))
            sizes = tuple(size + t * abs(speed) for size, speed in zip(sizes, line.speeds, strict=True))
        return cls(P, A, *sizes, sp.csr_array(A.T), sp.csr_array(sizes[1].T))


#: A point and its slacks, each with a radius within which an exactly feasible one is.
Near = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Pair:
    """A point and multipliers at one t: exact ones are within the radii of these, feasible both.

    ``missed`` bounds what the exact multipliers miss of stationarity, ``value`` and ``off`` what the objective at the
    exact point is and is off at most; ``why`` says what is not proved, and is empty where all of it is. Where a matrix
    moves, ``inside`` is a point well inside the cones.
    """

    t: float
    x: Array
    x_radius: Array
    s: Array
    s_radius: Array
    y: Array
    y_radius: Array
    z: Array
    z_radius: Array
    missed: Array
    reach: Array
    bent: float
    value: float
    off: float
    why: str
    inside: Near | None = None

    @property
    def deep(self) -> Near:
        """The point well inside, where there is one."""
        assert self.inside is not None
        return self.inside

    @cached_property
    def own(self) -> float:
        """Bound of the gap at t itself."""
        return products(self, self) + float(self.missed @ self.reach) * WIDER + self.bent


def products(k: Pair, j: Pair) -> float:
    """Upper bound of the inner product of the multipliers of one pair and the slacks of another."""
    z, s = np.abs(k.z), np.abs(j.s)
    rounding = (z.size + 2) * _EPS * float(z @ s)
    return float(k.z @ j.s) + rounding + float(z @ j.s_radius + k.z_radius @ (s + j.s_radius)) * WIDER


def energy(M: Matrices, apart: Array, around: Array) -> float:
    """Upper bound of ``e'Pe / 2`` for every e within ``around`` of ``apart``."""
    size = M.P_sizes @ np.abs(apart)
    bent = 0.5 * float(apart @ (M.P @ apart)) + float(around @ size) + float(around @ (M.P_sizes @ around))
    return max(bent, 0.0) * WIDER + 4 * (apart.size + 4) * _EPS * float(np.abs(apart) @ size)


class PairJudge:
    """Judges pairs of a line, under a ceiling that no value of the path is above.

    Parameters
    ----------
    line : ConeLine
    ceiling : float
        Infinite: the box is that of all feasible points.
    inside : array of shape (2, columns), optional
        Points well inside the cones at t = 0 and 1, and between them, for a line on which A moves.
    """

    def __init__(self, line: ConeLine, ceiling: float, inside: Array | None = None) -> None:
        self.line, self.ceiling, self.box = line, ceiling, line_box(line, ceiling)
        self.inside = inside
        self.wide: Mask = self.box.wide
        zero = np.arange(line.equations)
        moving = np.append(np.ones(line.n), [0.0, 0.0])
        A = sp.csr_array(line.A)
        self._equations = equations(sp.hstack([A[zero], sp.csr_array(-line.b[:, zero].T)]), moving)
        self.long, self.longer = np.diff(A.indptr) + 5, np.asarray(line.base.column_length) + 5
        if not line.stands:
            P, A = line.speeds
            self.long = self.long + np.diff(A.indptr)
            self.longer = self.longer + np.diff(P.indptr) + np.diff(sp.csc_array(A).indptr)
        self._first = Matrices.of(line, 0.0)
        self._lately: dict[float, Matrices] = {}

    @cached_property
    def why(self) -> str:
        """What keeps every pair from being proved; mostly nothing."""
        line = self.line
        if not line.convex:
            return "P is not proved positive semidefinite"
        P, A = line.speeds if not line.stands else (sp.csr_array((0, line.n)),) * 2
        moving = (abs(P).sum(axis=0) + abs(A).sum(axis=0) > 0) & self.wide
        if moving.any():
            names = ", ".join(dict.fromkeys(line.column_name(int(j)) for j in np.flatnonzero(moving)[:3]))
            return f"coefficients move of what the constraints imply no bounds of ({names})"
        if A.nnz and A.nonzero()[0].min() < line.equations:
            return "the coefficients of an equation move"
        return ""

    def matrices(self, t: float) -> Matrices:
        """P and A at t."""
        if self.line.stands:
            return self._first
        if t not in self._lately:
            if len(self._lately) >= _LATELY:
                self._lately.pop(next(iter(self._lately)))
            self._lately[t] = Matrices.of(self.line, t)
        return self._lately[t]

    def pair(self, t: float, x: Array, y: Array, z: Array) -> Pair:
        """A pair near a float one."""
        x, x_radius, s, s_radius, fine = self.point(t, x)
        y, y_radius, z, z_radius, missed, stationary = self.multipliers(t, y, z)
        why = "" if fine else "its point is not proved feasible"
        if not stationary:
            names = ", ".join(dict.fromkeys(self.line.column_name(int(j)) for j in np.flatnonzero(self.wide)[:3]))
            why = why or f"its multipliers are not proved stationary where the constraints imply no bounds ({names})"
        why = self.why or why
        if not self.on_grid(t):
            why = f"t is no multiple of {GRID:.0e}"
        reach = np.maximum(np.abs(self.box.low - x), np.abs(self.box.high - x)) * (1 + 2 * _EPS) + x_radius
        apart, around = x - y, x_radius + y_radius + 2 * _EPS * (np.abs(x) + np.abs(y))
        bent = energy(self.matrices(t), apart, around)
        value, off = self.value(t, x, x_radius)
        inside = None if self.inside is None else self.point(t, between(self.inside, t))
        near = inside[:-1] if inside is not None and inside[-1] else None
        reach = np.where(self.wide, 0.0, reach)
        return Pair(t, x, x_radius, s, s_radius, y, y_radius, z, z_radius, missed, reach, bent, value, off, why, near)

    @staticmethod
    def on_grid(t: float) -> bool:
        """Whether t and 1 - t are doubles."""
        return 0.0 <= t <= 1.0 and float(t / GRID).is_integer()

    def direction(self, v: Array) -> tuple[Array, Array] | None:
        """A direction near v in which all equations hold still, and its radius; None where none is proved."""
        k = self.line.equations
        if self._equations is None:
            return (v, np.zeros(v.size)) if k == 0 else None
        near = self._equations.enclose(np.zeros(k), np.append(v, [0.0, 0.0]))
        return (near.point[:-2], near.radius[:-2]) if near.solved.size == k else None

    def point(self, t: float, x: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A point near x that satisfies the equations within a radius, its slacks, and whether they are inside."""
        M, b, k = self.matrices(t), self.line.b, self.line.equations
        radius = np.zeros(x.size)
        solved = np.zeros(k, dtype=bool)
        if self._equations is not None:
            near = self._equations.enclose(np.zeros(k), np.append(x, [1.0 - t, t]))
            x, radius = near.point[:-2], near.radius[:-2]
            solved[near.solved] = True
        s = between(b, t) - M.A @ x
        terms = between(np.abs(b), t) + M.A_sizes @ np.abs(x)
        s_radius = (M.A_sizes @ radius) * WIDER + self.long * _EPS * terms
        s[:k][solved], s_radius[:k][solved] = 0.0, 0.0
        return x, radius, s, s_radius, bool(contains(s, s_radius, self.line.base.grouped).all())

    def multipliers(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, Array, bool]:
        """Multipliers in the dual cones near y, z, what they miss of stationarity, and whether that is 0 where it must.

        It must where the box has no bounds.
        """
        line, M = self.line, self.matrices(t)
        q, sizes = between(line.q, t), between(np.abs(line.q), t)
        z = project_dual(z, line.base.grouped)
        y_radius, z_radius, fine = np.zeros(y.size), np.zeros(z.size), True
        if self.wide.any():
            y, y_radius, z, z_radius, fine = self._stationary(t, y, z)
        r = np.abs(M.P @ y + q + M.back @ z)
        terms = M.P_sizes @ np.abs(y) + sizes + M.back_sizes @ np.abs(z)
        r += (M.P_sizes @ y_radius + M.back_sizes @ z_radius) * WIDER + self.longer * _EPS * terms
        return y, y_radius, z, z_radius, np.where(self.wide, 0.0, r), fine

    def _stationary(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A pair within a radius of which one is stationary exactly in all columns without bounds."""
        line, at = self.line, np.flatnonzero(self.wide)
        own = self.matrices(t)
        M = sp.hstack([own.P[at], own.back[at], sp.csr_array(line.q[:, at].T)]).tocsr()
        size = max(1.0, float(np.abs(z).max(initial=0.0)))
        weight = np.concatenate([np.where(own.P.diagonal() != 0, size, 0.0), self._room(z, size), [0.0, 0.0]])
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
        line, M = self.line, self.matrices(t)
        q, sizes, Px = between(line.q, t), between(np.abs(line.q), t), M.P @ x
        size, long = M.P_sizes @ np.abs(x), self.longer
        found = float(0.5 * x @ Px + q @ x + between(line.constant, t))
        slope = np.abs(Px + q) + long * _EPS * (size + sizes)
        moved = float(slope @ radius + 0.5 * radius @ (M.P_sizes @ radius))
        terms = float(sizes @ np.abs(x) + np.abs(x) @ size + between(np.abs(line.constant), t))
        return found, moved * WIDER + 4 * (x.size + int(long.max(initial=0))) * _EPS * terms
