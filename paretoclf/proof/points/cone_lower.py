"""Lower bounds of the optimal value of a cone program, from multipliers: `points.cone` has the argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.points.cone_program import ConeProgram, factor
from paretoclf.proof.points.cones import Cones, contains, interior, project_dual
from paretoclf.proof.points.corner import exact_corner
from paretoclf.proof.points.enclosure import equations

_EPS = float(np.finfo(float).eps)

#: Alternating projections end after so many rounds, or when a round gains less than a tenth.
_ROUNDS = 30

#: The first attempt is followed by another, which is cheap, unless it is closer than asked by this factor.
_AT_FIRST = 0.1

#: How far multipliers are moved into their cones before stationarity is solved exactly, relative to 1 + their size.
_DEPTHS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7)

#: Multipliers below this share of the largest are put to 0 before that.
_NONE = (1e-9, 1e-6, 1e-13)

#: How often multipliers that cannot be told from 0 are put to 0.
_DROPS = 6


@dataclass(frozen=True)
class Box:
    """Where the points are that matter."""

    low: Array
    high: Array

    @property
    def wide(self) -> Mask:
        """Variables with no bound on one side or on both."""
        return ~(np.isfinite(self.low) & np.isfinite(self.high))


@dataclass(frozen=True)
class Below:
    """A lower bound, the multipliers that prove it, what they miss of stationarity, and where that has no bound."""

    value: float
    z: Array
    residual: Array
    unabsorbed: dict[int, float]

    @property
    def rank(self) -> tuple[float, float]:
        """The better, the larger."""
        return self.value, -float(np.max(np.abs(self.residual), initial=0.0))


def lower_bound(program: ConeProgram, y: Array, z: Array, box: Box, goal: float, tol: float = 1e-9) -> Below:
    """The best bound that multipliers near z give for points in a box; no more work once it is as close to ``goal``."""
    best: Below | None = None
    for found in _attempts(program, y, z, box):
        first = best is None
        best = found if best is None else max(best, found, key=lambda each: each.rank)
        if close(best.value, goal, tol * _AT_FIRST if first else tol):
            break
    assert best is not None
    return best


def close(lower: float, upper: float, tol: float) -> bool:
    """Whether two bounds need not be brought closer."""
    return bool(np.isfinite([lower, upper]).all() and abs(upper - lower) <= tol * max(abs(upper), abs(lower), 1e-3))


def _attempts(program: ConeProgram, y: Array, z: Array, box: Box) -> Iterator[Below]:
    """The cheapest first. Where a variable has no bound, only exact stationarity gives one."""
    given = _with_best_bounds(program, *_with_best_y(program, y, project_dual(z, program.cones)))
    first = dual_value(program, *given, box)
    yield first
    if first.unabsorbed:
        yield from _corrected(program, *given, box, first)
    near = _with_best_bounds(program, *_with_best_y(program, *refined(program, y, z)))
    second = dual_value(program, *near, box)
    yield second
    if not first.unabsorbed:
        yield from _corrected(program, *given, box, first)
    yield from _corrected(program, *near, box, second)
    if (exact := exact_corner(program, y, z)) is not None:
        yield Below(*exact, np.zeros(y.size), {})


def dual_value(
    program: ConeProgram,
    y: Array,
    z: Array,
    box: Box,
    *,
    radius: tuple[Array, Array] | None = None,
    solved: Mask | None = None,
) -> Below:
    r"""The bound of one y and one z in the dual cones.

    With a radius it is that of a pair :math:`\hat y,\hat z` within it, whichever, that is exactly stationary where
    ``solved``. Around y itself, with :math:`\hat r=P\hat y+q+A^\top\hat z`, the bound reads

    .. math:: f(y)-\hat z^\top(b-Ay)-\tfrac12(y-\hat y)^\top P(y-\hat y)+\min_x\hat r^\top(x-y),

    where a small radius costs next to nothing: the slacks of positive multipliers are small, too.
    """
    P, q, A, b = program.P, program.q, program.A, program.b
    around_y, around_z = (np.zeros(y.size), np.zeros(z.size)) if radius is None else radius
    r = P @ y + q + A.T @ z
    long = program.column_length
    bent = abs(P) @ np.abs(y)
    error = long * _EPS * (bent + np.abs(q) + abs(A).T @ np.abs(z))
    if radius is not None:
        error = error + (abs(P) @ around_y + abs(A).T @ around_z) * (1 + 1e-9)
    if solved is not None:
        r, error = np.where(solved, 0.0, r), np.where(solved, 0.0, error)
    cost = np.minimum.reduce([_product(r + e, edge - y) for e in (-error, error) for edge in (box.low, box.high)])
    hollow = np.flatnonzero(program.curvature < 0)
    if hollow.size:
        away = np.maximum(np.abs(box.low[hollow] - y[hollow]), np.abs(box.high[hollow] - y[hollow])) + around_y[hollow]
        cost[hollow] += 0.5 * program.curvature[hollow] * away**2 * (1 + 1e-9)
    unbounded = np.flatnonzero(~np.isfinite(cost))
    if unbounded.size:
        return Below(-np.inf, z, r, {int(j): float(r[j]) for j in unbounded})
    s = b - A @ y
    rounded = (np.diff(A.indptr) + 2) * _EPS * (np.abs(b) + abs(A) @ np.abs(y))
    terms = np.concatenate([0.5 * y * (P @ y), q * y, -z * s, cost])
    parts = float(np.abs(terms).sum() + np.abs(y) @ bent)
    lost = 4 * _EPS * (terms.size + long.max(initial=0)) * parts + float(np.abs(z) @ rounded)
    if radius is not None:
        lost += float((np.abs(s) + rounded) @ around_z + 0.5 * around_y @ (abs(P) @ around_y))
    return Below(float(terms.sum() - lost * (1 + 1e-6)), z, r, {})


def _product(r: Array, edge: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(r == 0, 0.0, r * edge)


def _with_best_y(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Where P is diagonal the y that leaves no residual there."""
    diagonal = program.P.diagonal()
    if program.diagonal:
        bent = diagonal > 0
        g = program.q + program.A.T @ z
        y = np.where(bent, -g / np.where(bent, diagonal, 1.0), np.where(diagonal < 0, y, 0.0))
    return y, z


def _with_best_bounds(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Multipliers of bounds of single variables take the residuals of these, as far as they stay nonnegative."""
    rows, columns, values = program.bounds
    if rows.size:
        slack = (program.b - program.A @ y)[rows]
        first = np.lexsort((slack, columns))  # of two bounds of a variable the nearer one
        rows, columns, values = rows[first], columns[first], values[first]
        nearest = np.append(True, columns[1:] != columns[:-1])
        rows, columns, values = rows[nearest], columns[nearest], values[nearest]
        r = program.P @ y + program.q + program.A.T @ z
        z = z.copy()
        z[rows] = np.maximum(z[rows] - r[columns] / values, 0.0)
    return y, z


def _corrected(program: ConeProgram, y: Array, z: Array, box: Box, plain: Below) -> Iterator[Below]:
    """Bounds of exactly stationary pairs near y and z, in as many variables as can be."""
    needed = np.zeros(y.size, dtype=bool)
    needed[list(plain.unabsorbed)] = True
    tried: list[Mask] = []
    for columns in (np.ones(y.size, dtype=bool), box.wide, needed):
        if not columns.any() or any((columns == other).all() for other in tried):
            continue
        tried.append(columns)
        found = _stationary(program, y, z, box, columns)
        if found is not None:
            yield found
            if np.isfinite(found.value):
                return


def _stationary(program: ConeProgram, y: Array, z: Array, box: Box, columns: Mask) -> Below | None:
    best: Below | None = None
    for how in _ways(program, z):
        found = _solved(program, y, z, box, (columns, *how))
        if found is not None and (best is None or found.rank > best.rank):
            best = found
        if best is not None and np.isfinite(best.value):
            break
    return best


def _ways(program: ConeProgram, z: Array) -> Iterator[tuple[float, Mask]]:
    """How far multipliers are moved into their cones, and which are put to 0 before."""
    size = float(np.max(np.abs(z), initial=0.0))
    plain = program.kinds == "nonnegative"
    if all(cone.kind in ("zero", "nonnegative") for cone in program.cones):
        yield from ((0.0, plain & (z <= share * size)) for share in _NONE)
        return
    none = plain & (z <= _NONE[0] * size)
    more = none | _small(program, z, _NONE[0] * max(size, float(np.max(np.abs(program.q), initial=0.0))))
    yield from ((depth, more) for depth in _DEPTHS)
    if (more != none).any():
        yield from ((depth, none) for depth in _DEPTHS)


def _small(program: ConeProgram, z: Array, most: float) -> Mask:
    """Multipliers of cones of which no entry is larger: 0 is in every dual cone, and costs nothing."""
    small = np.zeros(z.size, dtype=bool)
    for each in program.grouped.alike:
        if each.kind not in ("zero", "nonnegative"):
            small[each.rows] = np.max(np.abs(z[each.rows]), axis=1, keepdims=True) <= most
    return small


def _solved(program: ConeProgram, y: Array, z: Array, box: Box, how: tuple[Mask, float, Mask]) -> Below | None:
    """The bound of a pair that is exactly stationary in the given columns, with its multipliers in their cones."""
    columns, depth, none = how
    at = np.flatnonzero(columns)
    size = float(np.max(np.abs(z), initial=0.0))
    plain = program.kinds == "nonnegative"
    z = np.where(none, 0.0, z)
    safe = z  # in the dual cones
    z = z + depth * (1 + size) * np.where(plain | none, 0.0, interior(program.cones))
    M = sp.hstack([program.P[at], sp.csr_array(program.A.T)[at]]).tocsr()
    moving = np.where(program.P.diagonal() != 0, max(1.0, size), 0.0)
    for _ in range(_DROPS):
        room = np.where(none & ~plain, 0.0, _room(program, z, depth * (1 + size)))
        weight = np.append(moving, room)
        system = equations(M, weight)
        if system is None:
            return None
        found = system.enclose(-program.q[at], np.append(y, z))
        new_z, around = found.point[y.size :], found.radius[y.size :]
        wrong = plain & (new_z - around < 0) & (weight[y.size :] > 0)
        if not wrong.any():
            break
        z = np.where(wrong, 0.0, z)
    else:
        return None
    if not in_dual(new_z, around, safe, program.grouped):
        return None
    solved = np.zeros(y.size, dtype=bool)
    solved[at[found.solved]] = True
    radius = found.radius[: y.size], around
    return dual_value(program, found.point[: y.size], new_z, box, radius=radius, solved=solved)


def _room(program: ConeProgram, z: Array, depth: float) -> Array:
    """How far each multiplier may move, about."""
    room = np.full(z.size, depth)
    for each in program.grouped.alike:
        if each.kind == "zero":
            room[each.rows] = max(1.0, float(np.abs(z).max(initial=0.0)))
        elif each.kind == "nonnegative":
            room[each.rows] = np.maximum(z[each.rows], 0.0)
        elif each.kind == "second-order":
            v = z[each.rows]
            room[each.rows] = np.maximum(v[:, :1] - np.linalg.norm(v[:, 1:], axis=1, keepdims=True), depth)
    return room


def in_dual(z: Array, radius: Array, safe: Array, cones: Cones) -> bool:
    """Whether every point within ``radius`` of z is in the dual cones; where it is still that of ``safe``, it is."""
    v, around = z.copy(), radius.copy()
    fine = np.zeros(len(cones), dtype=bool)
    for each in cones.alike:
        at = each.rows
        fine[each.which] = ((around[at] == 0) & (z[at] == safe[at])).all(axis=1) | (each.kind == "zero")
        if each.kind == "exponential":  # (u, v, w) is in the dual where (u - v, -u, w) is in the cone
            (a, b, c), (p, q, r) = z[at].T, radius[at].T
            v[at] = np.stack([a - b, -a, c], axis=1)
            around[at] = np.stack([p + q, p, r], axis=1) + 4 * _EPS * np.abs(z[at]).max(axis=1, keepdims=True)
        elif each.kind == "power":
            share = np.stack([each.exponent, 1 - each.exponent, np.ones(each.exponent.size)], axis=1)
            v[at], around[at] = z[at] / share, radius[at] / share * (1 + 4 * _EPS) + 4 * _EPS * np.abs(z[at] / share)
    return bool((fine | contains(v, around, cones)).all())


def refined(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Alternating projections between ``Py + q + A'z = 0`` and the dual cones; the last is onto the cones."""
    P, A = program.P, program.A
    normal = factor(P @ P + A.T @ A)
    z = project_dual(z, program.cones)
    best_y, best_z, best = y, z, np.inf
    history: list[float] = []
    for _ in range(_ROUNDS):
        r = P @ y + program.q + A.T @ z
        size = float(np.max(np.abs(r), initial=0.0))
        if size < best:
            best_y, best_z, best = y, z, size
        history.append(best)
        if len(history) > 5 and history[-1] > 0.9 * history[-5]:
            break
        step = normal(r)
        y, z = y - P @ step, project_dual(z - A @ step, program.cones)
    return best_y, best_z
