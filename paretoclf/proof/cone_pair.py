"""Points and multipliers of a cone program at points t of a line, and what is proved of them.

What is asked of many is done for all at once: arrays have a row for each t. What becomes of one does not depend on
which others are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.problem.definite import strong_convexity
from paretoclf.proof.cone_line import GRID, ConeLine
from paretoclf.proof.cone_line_box import line_box
from paretoclf.proof.cone_rows import Moving, dot, inverse, mixed
from paretoclf.proof.convexity import semidefinite
from paretoclf.proof.points.cone_lower import in_dual
from paretoclf.proof.points.cones import contains, project_dual
from paretoclf.proof.points.enclosure import equations

_EPS = float(np.finfo(float).eps)

#: What a multiplier of a cone with curved faces may move by, relative to its cone's largest, while others solve.
_CURVED = 1e-6

#: So many numbers of one array are worked on at once.
AT_ONCE = 2**18

#: Products of enclosed numbers are enlarged by this share of what their radii add.
WIDER = 1 + 1e-6


@dataclass(frozen=True)
class Near:
    """Points and their slacks, each with a radius within which an exactly feasible one is; and where that is proved."""

    x: Array
    x_radius: Array
    s: Array
    s_radius: Array
    fine: Any

    def taken(self, at: Any) -> Near:
        """Those of some rows, or of one."""
        return Near(*(each[at] for each in vars(self).values()))


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
    own: float
    value: float
    off: float
    why: str
    inside: Near | None = None


@dataclass(frozen=True)
class StackedPairs:
    """Pairs one above the other: as a `Pair`, with a row for each."""

    t: Array
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
    bent: Array
    own: Array
    value: Array
    off: Array
    inside: Near | None = None

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> StackedPairs:
        """Those of a sequence."""
        numbers: dict[str, Any] = {name: np.array([getattr(pair, name) for pair in pairs]) for name in _NUMBERS}
        deep = [pair.inside for pair in pairs]
        if not any(deep):
            return cls(**numbers)
        k = pairs[0]
        none = Near(np.zeros(k.x.size), np.zeros(k.x.size), np.zeros(k.s.size), np.zeros(k.s.size), False)
        rows = zip(*(vars(each or none).values() for each in deep), strict=True)
        return cls(**numbers, inside=Near(*(np.array(row) for row in rows)))

    def taken(self, at: Index) -> StackedPairs:
        """Those of some rows."""
        inside = None if self.inside is None else self.inside.taken(at)
        return StackedPairs(**{name: getattr(self, name)[at] for name in _NUMBERS}, inside=inside)


_NUMBERS = tuple(each.name for each in fields(StackedPairs) if each.name != "inside")


def products(k: Any, j: Any) -> Any:
    """Upper bounds of the inner products of the multipliers of pairs and the slacks of others."""
    z, s = np.abs(k.z), np.abs(j.s)
    rounding = (z.shape[-1] + 2) * _EPS * dot(z, s)
    return dot(k.z, j.s) + rounding + (dot(z, j.s_radius) + dot(k.z_radius, s + j.s_radius)) * WIDER


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
        self.strong = self._bent_alone()
        self.wide: Mask = self.box.wide & (self.strong == 0.0)
        zero = np.arange(line.equations)
        moving = np.append(np.ones(line.n), [0.0, 0.0])
        speeds: Any = (None, None) if line.stands else line.speeds
        self.P, self.A = Moving(line.base.P, speeds[0]), Moving(line.A, speeds[1])
        self._equations = equations(sp.hstack([self.A.first[zero], sp.csr_array(-line.b[:, zero].T)]), moving)
        self.long, self.longer = self.A.long + 5, np.asarray(line.base.column_length) + 5
        if not line.stands:
            self.longer = self.longer + np.diff(speeds[0].indptr) + np.diff(sp.csc_array(speeds[1]).indptr)
        self._q_sizes, self._b_sizes, self._constant_sizes = (abs(each) for each in (line.q, line.b, line.constant))

    def _bent_alone(self) -> Array:
        """Proved curvature of columns without bounds in which rounding left next to none: they need not be enclosed."""
        line = self.line
        if line.shift is None or not line.stands:
            return np.zeros(line.n)
        alone = self.box.wide & (line.shift[0] > 0.0)
        return np.where(alone, strong_convexity(line.base.P), 0.0)

    @cached_property
    def curved(self) -> Index:
        """The columns that have a part in the quadratic term."""
        used = [np.bincount(M.indices, minlength=self.line.n) for M in (self.P.first, self.P.speed) if M is not None]
        return np.flatnonzero(sum(used))

    @cached_property
    def curvature(self) -> tuple[Array, Array]:
        """The quadratic term of these columns at t = 0, and what it gains."""
        speed = self.P.speed
        first: Array = self.P.first[self.curved][:, self.curved].toarray()
        if speed is None:
            return first, np.zeros(first.shape)
        return first, speed[self.curved][:, self.curved].toarray()

    @cached_property
    def inverse(self) -> Array:
        """That of the quadratic term of these columns at t = 0, as far as it has one."""
        return inverse(self.curvature[0])

    @cached_property
    def why(self) -> str:
        """What keeps every pair from being proved; mostly nothing."""
        line = self.line
        if not semidefinite(line) or (line.lacks is not None and not line.stands):
            return "P is not proved positive semidefinite"
        P, A = line.speeds if not line.stands else (sp.csr_array((0, line.n)),) * 2
        moving = (abs(P).sum(axis=0) + abs(A).sum(axis=0) > 0) & self.wide
        if moving.any():
            return f"coefficients move of what the constraints imply no bounds of ({self._names(moving)})"
        if A.nnz and A.nonzero()[0].min() < line.equations:
            return "the coefficients of an equation move"
        return ""

    def _names(self, columns: Mask) -> str:
        """The first few names of columns."""
        return ", ".join(dict.fromkeys(self.line.column_name(int(j)) for j in np.flatnonzero(columns)[:3]))

    def energy(self, t: Array, apart: Array, around: Array) -> Array:
        """Upper bounds of ``e'Pe / 2`` for every e within ``around`` of ``apart``."""
        if self.P.none:
            return np.zeros(len(t))
        size = self.P.sizes.at(t, np.abs(apart))
        bent = 0.5 * dot(apart, self.P.at(t, apart)) + dot(around, size) + dot(around, self.P.sizes.at(t, around))
        rounding = 4 * (apart.shape[1] + 4 + int(self.P.long.max(initial=0))) * _EPS * dot(np.abs(apart), size)
        return np.asarray(np.maximum(bent, 0.0) * WIDER + rounding)

    def _bending(self, missed: Array, apart: Array) -> Array:
        """Upper bounds of what multipliers that miss stationarity may cost in columns that the objective bends.

        With r missed, c of curvature and e from x to y, ``r (x - x') - c (x' - y)^2 / 2`` is at most
        ``r^2 / c + c e^2 / 2`` for every x', and that, as the energy, is convex in r and e.
        """
        at = np.flatnonzero(self.strong > 0.0)
        c, r, e = self.strong[at], missed[:, at], apart[:, at]
        with np.errstate(over="ignore"):
            costs = r**2 / c + 0.5 * c * e**2
            return np.asarray(costs.sum(axis=1) * WIDER)

    def _hollow(self, reach: Array, apart: Array) -> Array:
        """Upper bounds of what negative curvature may cost: each point that matters is so far from y at most.

        Once more what x and y are apart makes good that their energy is not convex, either.
        """
        lacks = self.line.lacks
        if lacks is None:
            return np.zeros(len(reach))
        away = np.where((lacks > 0.0) & self.wide, np.inf, reach + 2 * apart)
        with np.errstate(invalid="ignore"):
            costs = np.where(lacks > 0.0, lacks * away**2, 0.0)
            return np.asarray(0.5 * costs.sum(axis=1) * WIDER)

    def pair(self, t: float, x: Array, y: Array, z: Array) -> Pair:
        """A pair near a float one."""
        return self.pairs(np.array([t]), x[None], y[None], z[None])[0]

    def pairs(self, t: Array, x: Array, y: Array, z: Array) -> list[Pair]:
        """Pairs near float ones."""
        at_once = max(1, AT_ONCE // max(self.line.n, self.line.m))
        if t.size > at_once:
            parts = [slice(first, first + at_once) for first in range(0, t.size, at_once)]
            return [pair for part in parts for pair in self.pairs(t[part], x[part], y[part], z[part])]
        near = self.points(t, x)
        y, y_radius, z, z_radius, missed, stationary = self.multipliers(t, y, z)
        reach = np.maximum(np.abs(self.box.low - near.x), np.abs(self.box.high - near.x)) * (1 + 2 * _EPS)
        reach = np.where(self.wide, 0.0, reach + near.x_radius)
        around = near.x_radius + y_radius + 2 * _EPS * (np.abs(near.x) + np.abs(y))
        apart, strong = np.abs(near.x - y) + around, self.strong > 0.0
        bent = self.energy(t, near.x - y, around)
        bent = bent + self._hollow(reach, apart)
        bent = bent + self._bending(missed, apart)
        missed, reach = np.where(strong, 0.0, missed), np.where(strong, 0.0, reach)
        value, off = self.values(t, near.x, near.x_radius)
        inside = None if self.inside is None else self.points(t, mixed(self.inside, t))
        numbers = near.x, near.x_radius, near.s, near.s_radius, y, y_radius, z, z_radius, missed, reach
        made = StackedPairs(t, *numbers, bent, bent, value, off)
        own = products(made, made) + dot(missed, reach) * WIDER + bent
        found = []
        rows: Any = zip(t.tolist(), *numbers, *(v.tolist() for v in (bent, own, value, off)), strict=True)
        for i, row in enumerate(rows):
            deep = None if inside is None or not inside.fine[i] else inside.taken(i)
            why = self._unproved(row[0], bool(near.fine[i]), bool(stationary[i]))
            found.append(Pair(*(*row, why, deep)))
        return found

    def _unproved(self, t: float, fine: bool, stationary: bool) -> str:
        """What is not proved of a pair."""
        if not self.on_grid(t):
            return f"t is no multiple of {GRID:.0e}"
        if self.why:
            return self.why
        if not fine:
            return "its point is not proved feasible"
        if not stationary:
            names = self._names(self.wide)
            return f"its multipliers are not proved stationary where the constraints imply no bounds ({names})"
        return ""

    @staticmethod
    def on_grid(t: float) -> bool:
        """Whether t and 1 - t are doubles."""
        return 0.0 <= t <= 1.0 and float(t / GRID).is_integer()

    def directions(self, v: Array) -> tuple[Array, Array, Mask]:
        """Directions near the rows of v in which all equations hold still, their radii, and where that is proved."""
        k, none = self.line.equations, np.zeros((len(v), 2))
        if self._equations is None:
            return v, np.zeros(v.shape), np.full(len(v), k == 0)
        point, radius, solved = self._equations.enclose_each(np.zeros((len(v), k)), np.hstack([v, none]))
        return point[:, :-2], radius[:, :-2], np.asarray(solved.all(axis=1))

    def point(self, t: float, x: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A point near x that satisfies the equations within a radius, its slacks, and whether they are inside."""
        near = self.points(np.array([t]), x[None])
        return near.x[0], near.x_radius[0], near.s[0], near.s_radius[0], bool(near.fine[0])

    def points(self, t: Array, x: Array) -> Near:
        """The same for a row x for each t."""
        b, k = self.line.b, self.line.equations
        radius, solved = np.zeros(x.shape), np.zeros((len(x), k), dtype=bool)
        if self._equations is not None:
            known = np.hstack([x, (1.0 - t)[:, None], t[:, None]])
            point, around, solved = self._equations.enclose_each(np.zeros((len(x), k)), known)
            x, radius = point[:, :-2], around[:, :-2]
        s = mixed(b, t) - self.A.at(t, x)
        terms = mixed(self._b_sizes, t) + self.A.sizes.at(t, np.abs(x))
        s_radius = self.A.sizes.at(t, radius) * WIDER + self.long * _EPS * terms
        s[:, :k][solved], s_radius[:, :k][solved] = 0.0, 0.0
        fine = contains(s, s_radius, self.line.base.grouped).all(axis=1)
        return Near(x, radius, s, s_radius, fine)

    def multipliers(self, t: Array, y: Array, z: Array) -> tuple[Array, Array, Array, Array, Array, Mask]:
        """Multipliers in the dual cones near y, z, what they miss of stationarity, and whether that is 0 where it must.

        It must where the box has no bounds.
        """
        line = self.line
        z = project_dual(z, line.base.grouped)
        y_radius, z_radius, fine = np.zeros(y.shape), np.zeros(z.shape), np.ones(len(z), dtype=bool)
        if self.wide.any():
            found = [self._stationary(float(each), y[i], z[i]) for i, each in enumerate(t)]
            y, y_radius, z, z_radius, fine = (np.array(each) for each in zip(*found, strict=True))
        r = np.abs(self.P.at(t, y) + mixed(line.q, t) + self.A.back.at(t, z))
        terms = self.P.sizes.at(t, np.abs(y)) + mixed(self._q_sizes, t) + self.A.sizes.back.at(t, np.abs(z))
        r += (self.P.sizes.at(t, y_radius) + self.A.sizes.back.at(t, z_radius)) * WIDER + self.longer * _EPS * terms
        return y, y_radius, z, z_radius, np.where(self.wide, 0.0, r), fine

    def _stationary(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, bool]:
        """A pair within a radius of which one is stationary exactly in all columns without bounds."""
        line, at = self.line, np.flatnonzero(self.wide)
        size = max(1.0, float(np.abs(z).max(initial=0.0)))
        weight = np.concatenate([np.where(self._curved, size, 0.0), self._room(z, size), [0.0, 0.0]])
        system = equations(self._unbounded, weight)
        if system is None:
            return y, np.zeros(y.size), z, np.zeros(z.size), False
        near = system.enclose(np.zeros(at.size), np.concatenate([y, z, [1.0 - t, t]]))
        n, solved = y.size, np.zeros(at.size, dtype=bool)
        solved[near.solved] = True
        new, radius = near.point[n:-2], near.radius[n:-2]
        fine = bool(solved.all()) and in_dual(new, radius, z, line.base.grouped)
        return near.point[:n], near.radius[:n], new, radius, fine

    @cached_property
    def _unbounded(self) -> Any:
        """Stationarity in the columns without bounds, of which no coefficient moves: of y, z, 1 - t and t."""
        at = np.flatnonzero(self.wide)
        return sp.hstack([self.P.first[at], self.A.back.first[at], sp.csr_array(self.line.q[:, at].T)]).tocsr()

    @cached_property
    def _curved(self) -> Mask:
        """Columns with a square of their own in the objective."""
        return np.asarray(self.P.first.diagonal() != 0)

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
        value, off = self.values(np.array([t]), x[None], radius[None])
        return float(value[0]), float(off[0])

    def values(self, t: Array, x: Array, radius: Array) -> tuple[Array, Array]:
        """The same for a row x for each t."""
        line, long = self.line, self.longer
        q, sizes, Px = mixed(line.q, t), mixed(self._q_sizes, t), self.P.at(t, x)
        size, absolute = self.P.sizes.at(t, np.abs(x)), np.abs(x)
        found = dot(0.5 * Px + q, x) + mixed(line.constant[:, None], t)[:, 0]
        slope = np.abs(Px + q) + long * _EPS * (size + sizes)
        moved = dot(slope, radius) + 0.5 * dot(radius, self.P.sizes.at(t, radius))
        terms = dot(sizes + size, absolute) + mixed(self._constant_sizes[:, None], t)[:, 0]
        return found, moved * WIDER + 4 * (x.shape[1] + int(long.max(initial=0))) * _EPS * terms
