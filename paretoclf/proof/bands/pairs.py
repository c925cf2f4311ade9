"""Points and multipliers of a cone program at points t of a line, and bounds that are proved of them.

Many pairs are judged at once: arrays have a row for each t. The result of one row does not depend on which others are
there.
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
from paretoclf.proof.bands.cone_line import GRID, ConeLine
from paretoclf.proof.bands.line_bounds import line_box
from paretoclf.proof.bands.row_products import Moving, difference_radius, dot, inverse, mixed
from paretoclf.proof.cones.cone_kinds import contains, project_dual
from paretoclf.proof.cones.enclosure import equations
from paretoclf.proof.cones.lower_bound import in_dual
from paretoclf.proof.programs.convexity import semidefinite

_EPS = float(np.finfo(float).eps)

#: Weight, relative to its cone's largest entry, of a multiplier of a cone with curved faces among those that solve.
_CURVED = 1e-6

#: So many numbers of one array are worked on at once.
AT_ONCE = 2**18

#: Products of enclosed numbers are enlarged by this share of what their radii add.
WIDER = 1 + 1e-6


@dataclass(frozen=True)
class Near:
    """Points and their slacks, each with a radius within which an exactly feasible one is, and where that is proved."""

    x: Array
    x_radius: Array
    s: Array
    s_radius: Array
    fine: Any

    def taken(self, at: Any) -> Near:
        """Select some rows, or one."""
        return Near(*(each[at] for each in vars(self).values()))


@dataclass(frozen=True)
class Pair:
    """Primal and dual point at one t: exact ones are within the radii of these, both feasible.

    ``missed`` bounds the stationarity residual of the exact multipliers, ``reach`` the distance of x to the corners of
    the box, ``bent`` the energy ``e'Pe / 2`` of ``e = x - y`` with what curvature adds, ``own`` the gap. ``value`` is
    the objective at the point, and ``off`` bounds its distance from that at the exact point. ``why`` says what is not
    proved, and is empty where all of it is. Where a matrix depends on t, ``inside`` is a strictly feasible point.
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
    """Pairs as arrays: the fields of a `Pair`, with a row for each."""

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
        """Stack the pairs of a sequence."""
        numbers: dict[str, Any] = {}
        for name in _NUMBERS:
            numbers[name] = np.array([getattr(pair, name) for pair in pairs])
        insides = [pair.inside for pair in pairs]
        if not any(insides):
            return cls(**numbers)
        no_point = np.zeros(pairs[0].x.size)
        no_slack = np.zeros(pairs[0].s.size)
        none = Near(no_point, no_point, no_slack, no_slack, False)
        columns = zip(*(vars(inside or none).values() for inside in insides), strict=True)
        return cls(**numbers, inside=Near(*(np.array(column) for column in columns)))

    def taken(self, at: Index) -> StackedPairs:
        """Select some rows."""
        inside = None if self.inside is None else self.inside.taken(at)
        return StackedPairs(**{name: getattr(self, name)[at] for name in _NUMBERS}, inside=inside)


_NUMBERS = tuple(each.name for each in fields(StackedPairs) if each.name != "inside")


def products(of_multipliers: Any, of_slacks: Any) -> Any:
    """Upper bounds of the inner products of the multipliers of some pairs and the slacks of others."""
    z, slack = of_multipliers.z, of_slacks.s
    z_size, slack_size = np.abs(z), np.abs(slack)
    rounding = (z_size.shape[-1] + 2) * _EPS * dot(z_size, slack_size)
    largest = slack_size + of_slacks.s_radius
    radii = dot(z_size, of_slacks.s_radius) + dot(of_multipliers.z_radius, largest)
    return dot(z, slack) + rounding + radii * WIDER


@dataclass(frozen=True)
class _Multipliers:
    """Multipliers in the dual cones with their radii, their stationarity residual, and where that is as it must be."""

    y: Array
    y_radius: Array
    z: Array
    z_radius: Array
    missed: Array
    fine: Mask


class PairJudge:
    """Judges pairs of a line, under a ceiling that no value of the path is above.

    Parameters
    ----------
    line : ConeLine
    ceiling : float
        Infinite: the box is that of all feasible points.
    inside : array of shape (2, columns), optional
        Strictly feasible points at t = 0 and 1, and between them, for a line on which A depends on t.

    Attributes
    ----------
    box : Box
        Bounds of the points that matter, at every t of the line.
    wide : array of bool
        Columns without bounds, in which multipliers must be stationary exactly.
    P, A : Moving
        The matrices of the line.
    row_terms, column_terms : arrays of int
        Bounds on the number of roundings in a slack, and in an entry of ``Py + q + A'z``.
    """

    def __init__(self, line: ConeLine, ceiling: float, inside: Array | None = None) -> None:
        self.line, self.ceiling, self.inside = line, ceiling, inside
        self.box = line_box(line, ceiling)
        self._own_curvature = self._curvature_without_bounds()
        self.wide: Mask = self.box.wide & (self._own_curvature == 0.0)
        speeds: Any = (None, None) if line.stands else line.speeds
        self.P = Moving(line.base.P, speeds[0])
        self.A = Moving(line.A, speeds[1])
        # 1 - t and t are two more unknowns, which are known exactly and do not move.
        equal = slice(line.equations)
        sides = sp.csr_array(-line.b[:, equal].T)
        rows = sp.hstack([self.A.first[equal], sides])
        self._equations = equations(rows, np.append(np.ones(line.n), [0.0, 0.0]))
        self.row_terms = self.A.long + 5
        self.column_terms = np.asarray(line.base.column_length) + 5
        if not line.stands:
            of_columns = np.diff(sp.csc_array(speeds[1]).indptr)
            self.column_terms = self.column_terms + np.diff(speeds[0].indptr) + of_columns
        self._q_sizes = np.abs(line.q)
        self._b_sizes = np.abs(line.b)
        self._constant_sizes = np.abs(line.constant)

    def _curvature_without_bounds(self) -> Array:
        """Proved curvature of columns without bounds that rounding in P made convex: they need not be enclosed."""
        line = self.line
        if line.shift is None or not line.stands:
            return np.zeros(line.n)
        shifted = self.box.wide & (line.shift[0] > 0.0)
        return np.where(shifted, strong_convexity(line.base.P), 0.0)

    @cached_property
    def curved(self) -> Index:
        """The columns that have a part in the quadratic term."""
        matrices = [matrix for matrix in (self.P.first, self.P.speed) if matrix is not None]
        return np.flatnonzero(sum(np.bincount(matrix.indices, minlength=self.line.n) for matrix in matrices))

    @cached_property
    def curvature(self) -> tuple[Array, Array]:
        """The quadratic term of the `curved` columns at t = 0, and its change."""
        columns = self.curved
        first: Array = self.P.first[columns][:, columns].toarray()
        if self.P.speed is None:
            return first, np.zeros(first.shape)
        return first, self.P.speed[columns][:, columns].toarray()

    @cached_property
    def inverse(self) -> Array:
        """Pseudoinverse of the quadratic term of the `curved` columns at t = 0."""
        return inverse(self.curvature[0])

    @cached_property
    def why(self) -> str:
        """Reason why no pair of the line can be proved; empty for most lines."""
        line = self.line
        if not semidefinite(line) or (line.lacks is not None and not line.stands):
            return "P is not proved positive semidefinite"
        if line.stands:
            return ""
        changes = line.speeds
        of_P, of_A = (abs(each).sum(axis=0) for each in changes)
        moving = (of_P + of_A > 0) & self.wide
        if moving.any():
            return f"coefficients move of what the constraints imply no bounds of ({self._names(moving)})"
        if line.moves_equations:
            return "the coefficients of an equation move"
        return ""

    def _names(self, columns: Mask) -> str:
        """The first few names of columns."""
        few = np.flatnonzero(columns)[:3].tolist()
        names = [self.line.column_name(column) for column in few]
        return ", ".join(dict.fromkeys(names))

    def energy(self, t: Array, difference: Array, radius: Array) -> Array:
        """Upper bounds of ``e'Pe / 2`` for every e within a radius of a difference ``x - y``."""
        if self.P.none:
            return np.zeros(len(t))
        absolute = np.abs(difference)
        sizes = self.P.sizes
        size, radius_size = sizes.at(t, absolute), sizes.at(t, radius)
        half = 0.5 * dot(difference, self.P.at(t, difference))
        bound = half + dot(radius, size) + dot(radius, radius_size)
        terms = difference.shape[1] + 4 + int(self.P.long.max(initial=0))
        rounding = 4 * terms * _EPS * dot(absolute, size)
        return np.asarray(np.maximum(bound, 0.0) * WIDER + rounding)

    def _curvature_cost(self, missed: Array, apart: Array) -> Array:
        """Upper bounds of the cost of a stationarity residual in columns with a curvature of their own.

        With residual r, curvature c and e the distance of x and y, ``r (x - x') - c (x' - y)^2 / 2`` is at most
        ``r^2 / c + c e^2 / 2`` for every x', and that, as the energy, is convex in r and e.
        """
        at = np.flatnonzero(self._own_curvature > 0.0)
        curvature = self._own_curvature[at]
        residual, distance = missed[:, at], apart[:, at]
        with np.errstate(over="ignore"):
            costs = residual**2 / curvature + 0.5 * curvature * distance**2
            return np.asarray(costs.sum(axis=1) * WIDER)

    def _negative_curvature_cost(self, reach: Array, apart: Array) -> Array:
        """Upper bounds of the cost of negative curvature, given how far points that matter are from x, and x from y.

        The distance of x and y counts twice: once more makes good that their energy is not convex, either.
        """
        lacks = self.line.lacks
        if lacks is None:
            return np.zeros(len(reach))
        hollow = lacks > 0.0
        distance = np.where(hollow & self.wide, np.inf, reach + 2 * apart)
        with np.errstate(invalid="ignore"):
            costs = np.where(hollow, lacks * distance**2, 0.0)
            return np.asarray(0.5 * costs.sum(axis=1) * WIDER)

    def pair(self, t: float, x: Array, y: Array, z: Array) -> Pair:
        """Prove a pair near given floats."""
        return self.pairs(np.array([t]), x[None], y[None], z[None])[0]

    def pairs(self, t: Array, x: Array, y: Array, z: Array) -> list[Pair]:
        """Prove pairs near given floats, a row for each t."""
        at_once = max(1, AT_ONCE // max(self.line.n, self.line.m))
        found = []
        for begin in range(0, t.size, at_once):
            part = slice(begin, begin + at_once)
            rows = [each[part] for each in (t, x, y, z)]
            found += self._pairs(*rows)
        return found

    def _pairs(self, t: Array, x: Array, y: Array, z: Array) -> list[Pair]:
        """Prove as many pairs as are worked on at once."""
        near = self.points(t, x)
        dual = self._multipliers(t, y, z)
        reach = self._reach(near)
        difference = near.x - dual.y
        radius = difference_radius(near.x, near.x_radius, dual.y, dual.y_radius)
        apart = np.abs(difference) + radius
        bent = self.energy(t, difference, radius)
        bent = bent + self._negative_curvature_cost(reach, apart)
        bent = bent + self._curvature_cost(dual.missed, apart)
        # The residual of columns with a curvature of their own is paid for by it.
        curved = self._own_curvature > 0.0
        missed, reach = np.where(curved, 0.0, dual.missed), np.where(curved, 0.0, reach)
        value, off = self.values(t, near.x, near.x_radius)
        primal = near.x, near.x_radius, near.s, near.s_radius
        multipliers = dual.y, dual.y_radius, dual.z, dual.z_radius
        made = StackedPairs(t, *primal, *multipliers, missed, reach, bent, bent, value, off)
        own = products(made, made) + dot(missed, reach) * WIDER + bent
        inside = None if self.inside is None else self.points(t, mixed(self.inside, t))
        scalars = [each.tolist() for each in (bent, own, value, off)]
        rows: Any = zip(t.tolist(), *primal, *multipliers, missed, reach, *scalars, strict=True)
        found = []
        for i, row in enumerate(rows):
            feasible, stationary = bool(near.fine[i]), bool(dual.fine[i])
            why = self._unproved(row[0], feasible, stationary)
            own_inside = None if inside is None or not inside.fine[i] else inside.taken(i)
            found.append(Pair(*(*row, why, own_inside)))
        return found

    def _reach(self, near: Near) -> Array:
        """Bound, column by column, on the distance of points to the corners of the box; 0 where that has no bounds."""
        below, above = self.box.low - near.x, self.box.high - near.x
        distance = np.maximum(np.abs(below), np.abs(above))
        reach = distance * (1 + 2 * _EPS) + near.x_radius
        return np.where(self.wide, 0.0, reach)

    def _unproved(self, t: float, feasible: bool, stationary: bool) -> str:
        """Reason why the pair at t is not proved (off the grid, point or multipliers amiss); empty if it is."""
        if not self.on_grid(t):
            return f"t is no multiple of {GRID:.0e}"
        if self.why:
            return self.why
        if not feasible:
            return "its point is not proved feasible"
        if not stationary:
            names = self._names(self.wide)
            return f"its multipliers are not proved stationary where the constraints imply no bounds ({names})"
        return ""

    @staticmethod
    def on_grid(t: float) -> bool:
        """Whether t and 1 - t are doubles."""
        return 0.0 <= t <= 1.0 and float(t / GRID).is_integer()

    def directions(self, tried: Array) -> tuple[Array, Array, Mask]:
        """Directions near given rows along which all equations keep holding, their radii, and where that is proved."""
        count, equal = len(tried), self.line.equations
        if self._equations is None:
            return tried, np.zeros(tried.shape), np.full(count, equal == 0)
        unknowns = np.hstack([tried, np.zeros((count, 2))])
        point, radius, solved = self._equations.enclose_each(np.zeros((count, equal)), unknowns)
        return point[:, :-2], radius[:, :-2], np.asarray(solved.all(axis=1))

    def point(self, t: float, x: Array) -> tuple[Array, Array, Array, Array, bool]:
        """Point near x that satisfies the equations within a radius, slacks with theirs, whether these are inside."""
        near = self.points(np.array([t]), x[None]).taken(0)
        return near.x, near.x_radius, near.s, near.s_radius, bool(near.fine)

    def points(self, t: Array, x: Array) -> Near:
        """Points near the rows of x that satisfy the equations within a radius, and whether they are feasible."""
        count, equal = len(x), self.line.equations
        radius = np.zeros(x.shape)
        solved = np.zeros((count, equal), dtype=bool)
        if self._equations is not None:
            known = np.hstack([x, (1.0 - t)[:, None], t[:, None]])
            point, around, solved = self._equations.enclose_each(np.zeros((count, equal)), known)
            x, radius = point[:, :-2], around[:, :-2]
        slack = mixed(self.line.b, t) - self.A.at(t, x)
        sizes = self.A.sizes
        terms = mixed(self._b_sizes, t) + sizes.at(t, np.abs(x))
        slack_radius = sizes.at(t, radius) * WIDER + self.row_terms * _EPS * terms
        slack[:, :equal][solved] = 0.0
        slack_radius[:, :equal][solved] = 0.0
        fine = contains(slack, slack_radius, self.line.base.grouped).all(axis=1)
        return Near(x, radius, slack, slack_radius, fine)

    def multipliers(self, t: Array, y: Array, z: Array) -> tuple[Array, Array, Array, Array, Array, Mask]:
        """Multipliers in the dual cones near y and z, their stationarity residual, and whether it is 0 where it must.

        It must be 0 where the box has no bounds. Returns y, its radius, z, its radius, the residual and the mask.
        """
        found = self._multipliers(t, y, z)
        return found.y, found.y_radius, found.z, found.z_radius, found.missed, found.fine

    def _multipliers(self, t: Array, dual_point: Array, multipliers: Array) -> _Multipliers:
        """Enclose multipliers near a pair in the dual cones, stationary in columns without bounds; bound the rest."""
        multipliers = project_dual(multipliers, self.line.base.grouped)
        y_radius, z_radius = np.zeros(dual_point.shape), np.zeros(multipliers.shape)
        fine = np.ones(len(multipliers), dtype=bool)
        if self.wide.any():
            found = [self._stationary(*each) for each in zip(t.tolist(), dual_point, multipliers, strict=True)]
            dual_point, y_radius, multipliers, z_radius, fine = (np.array(each) for each in zip(*found, strict=True))
        sizes, back_sizes = self.P.sizes, self.A.sizes.back
        residual = self.P.at(t, dual_point) + mixed(self.line.q, t)
        residual = residual + self.A.back.at(t, multipliers)
        missed = np.abs(residual)
        terms = sizes.at(t, np.abs(dual_point)) + mixed(self._q_sizes, t)
        terms = terms + back_sizes.at(t, np.abs(multipliers))
        radii = sizes.at(t, y_radius) + back_sizes.at(t, z_radius)
        missed += radii * WIDER + self.column_terms * _EPS * terms
        return _Multipliers(dual_point, y_radius, multipliers, z_radius, np.where(self.wide, 0.0, missed), fine)

    def _stationary(self, t: float, y: Array, z: Array) -> tuple[Array, Array, Array, Array, bool]:
        """Enclose a pair that is stationary exactly in all columns without bounds, and say whether that is proved."""
        count = int(np.count_nonzero(self.wide))
        reach, size = (float(np.abs(each).max(initial=0.0)) or 1.0 for each in (y, z))
        weight = np.concatenate([np.where(self._curved, reach, 0.0), self._weights(z, size), [0.0, 0.0]])
        system = equations(self._unbounded, weight)
        if system is None:
            return y, np.zeros(y.size), z, np.zeros(z.size), False
        unknowns = np.concatenate([y, z, [1.0 - t, t]])
        near = system.enclose(np.zeros(count), unknowns)
        solved = np.zeros(count, dtype=bool)
        solved[near.solved] = True
        of_y, of_z = slice(y.size), slice(y.size, -2)
        new, radius = near.point[of_z], near.radius[of_z]
        fine = bool(solved.all()) and in_dual(new, radius, z, self.line.base.grouped)
        return near.point[of_y], near.radius[of_y], new, radius, fine

    @cached_property
    def _unbounded(self) -> Any:
        """Matrix of stationarity in the columns without bounds, which is constant: for y, z, 1 - t and t."""
        at = np.flatnonzero(self.wide)
        of_y, of_z = self.P.first[at], self.A.back.first[at]
        of_t = sp.csr_array(self.line.q[:, at].T)
        return sp.hstack([of_y, of_z, of_t]).tocsr()

    @cached_property
    def _curved(self) -> Mask:
        """Columns with a square of their own in the objective."""
        return np.asarray(self.P.first.diagonal() != 0)

    def _weights(self, z: Array, size: float) -> Array:
        """Weights of multipliers as unknowns: how far each may move in its cone."""
        weights = np.zeros(z.size)
        for each in self.line.base.grouped.alike:
            entries = z[each.rows]
            if each.kind == "zero":
                weights[each.rows] = size
            elif each.kind == "nonnegative":
                weights[each.rows] = np.maximum(entries, 0.0)
            else:
                weights[each.rows] = _CURVED * np.abs(entries).max(axis=1, keepdims=True)
        return weights

    def value(self, t: float, x: Array, radius: Array) -> tuple[float, float]:
        """Objective at x, and a bound on its distance from that of a point within a radius, rounding counted."""
        value, off = self.values(np.array([t]), x[None], radius[None])
        return float(value[0]), float(off[0])

    def values(self, t: Array, x: Array, radius: Array) -> tuple[Array, Array]:
        """Objectives at the rows of x, and bounds on their distance from those of points within a radius."""
        costs, cost_sizes = mixed(self.line.q, t), mixed(self._q_sizes, t)
        product = self.P.at(t, x)
        absolute = np.abs(x)
        sizes = self.P.sizes
        size, radius_size = sizes.at(t, absolute), sizes.at(t, radius)
        constant = mixed(self.line.constant[:, None], t)[:, 0]
        found = dot(0.5 * product + costs, x) + constant
        rounding = self.column_terms * _EPS * (size + cost_sizes)
        slope = np.abs(product + costs) + rounding
        moved = dot(slope, radius) + 0.5 * dot(radius, radius_size)
        constant_size = mixed(self._constant_sizes[:, None], t)[:, 0]
        terms = dot(cost_sizes + size, absolute) + constant_size
        count = x.shape[1] + int(self.column_terms.max(initial=0))
        return found, moved * WIDER + 4 * count * _EPS * terms
