"""Upper bounds of the optimal value of a cone program, from points: `proof.cones.cone_judge` has the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.linear_programs import linprog
from paretoclf.proof.cones.cone_kinds import contains, interior, project
from paretoclf.proof.cones.cone_program import ConeProgram, factor
from paretoclf.proof.cones.enclosure import Enclosed, Equations, equations, settled

_EPS = float(np.finfo(float).eps)

#: Rounds in which a point is moved into its cones, for each depth.
_INWARDS = 60

#: Rounds that are Newton's steps instead of projections.
_AT_ONCE = (6, 7, 8)

#: Planes that depend on each other up to this share are met as well as can be.
_DEPENDENT = 1e-12

#: How far inside its cones a point is moved, relative to 1 + its size, until it is there for sure.
_DEPTHS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6)

#: Slacks below this share of their terms may belong to inequalities that hold with equality at every feasible point.
_ACTIVE = (1e-9, 1e-7, 1e-5)

#: How often inequalities that the solution of the active ones violates become active, too.
_GROWS = 5

#: With more active inequalities a direction into them is tried first.
_MANY = 300

#: Steps along a direction into the inequalities, relative to 1 + the size of the point.
_STEPS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)


@dataclass(frozen=True)
class Above:
    """Upper bound, a point next to the feasible one that proves it, and the cone that prevents one (or None)."""

    value: float
    x: Array
    blocked: int | None


def upper_bound(program: ConeProgram, x: Array) -> Above:
    """Best bound of feasible points near x."""
    zero = np.flatnonzero(program.kinds == "zero")
    plain = np.flatnonzero(program.kinds == "nonnegative")
    if zero.size + plain.size == program.kinds.size:
        found = min(_on_faces(program, x, zero, plain), key=lambda each: each.value)
        if np.isfinite(found.value):
            return found
    system = equations(program.A[zero], np.ones(x.size))
    return Above(np.inf, x, 0) if system is None else _inside(program, x, system, zero)


def _inside(program: ConeProgram, x: Array, system: Equations, zero: Index) -> Above:
    """Bound of a point that is moved into its cones, deeper and deeper, until it is there for sure."""
    normal = factor(program.back @ program.A)
    inside = interior(program.cones)
    found = Above(np.inf, x, 0)
    for depth in _DEPTHS:
        if depth > 0:
            size = 1 + np.abs(program.b - program.A @ x).max(initial=0.0)
            x = _deeper(program, x, depth * size * inside, normal)
        found = _judged(program, system.enclose(program.b[zero], x), zero)
        if found.blocked is None:
            break
        x = found.x
    return found


def _judged(program: ConeProgram, near: Enclosed, rows: Index) -> Above:
    """Bound of the exact solution of the equations in ``rows``, if it is in every cone."""
    slack, radius = _slacks(program, near, rows)
    outside = np.flatnonzero(~contains(slack, radius, program.cones))
    if outside.size:
        return Above(np.inf, near.point, int(outside[0]))
    point, around = near.point, near.radius
    sizes = program.sizes[0]
    slope = program.P @ point + program.q
    size = sizes @ np.abs(point)
    long = np.diff(program.P.indptr) + 3
    slope_rounding = long * _EPS * (size + np.abs(program.q))
    slope_size = np.abs(slope) + slope_rounding
    moved = float(slope_size @ around + 0.5 * around @ (sizes @ around))
    absolute = np.abs(point)
    terms = float(np.abs(program.q) @ absolute + absolute @ size)
    rounding = 4 * (point.size + long.max(initial=0)) * _EPS * terms
    return Above(float(program.value(point) + moved * (1 + 1e-6) + rounding), point, None)


def _slacks(program: ConeProgram, near: Enclosed, rows: Index) -> tuple[Array, Array]:
    """Slacks at an exact solution of the equations in ``rows``, with a radius; known ones are exact."""
    x = near.point
    sizes = program.sizes[1]
    slack = program.b - program.A @ x
    terms = np.abs(program.b) + sizes @ np.abs(x)
    rounding = (np.diff(program.A.indptr) + 2) * _EPS * terms
    radius = (sizes @ near.radius) * (1 + 1e-6) + rounding
    slack[rows[near.rows]] = 0.0
    radius[rows[near.rows]] = 0.0
    for row, left in near.left.items():
        slack[rows[row]] = left
        radius[rows[row]] = 0.0
    return slack, radius


def _on_faces(program: ConeProgram, x: Array, zero: Index, plain: Index) -> Iterator[Above]:
    """Bounds of solutions of equations and of inequalities that hold with equality at x, some or all of them.

    Those that hold with equality at every feasible point are found by a linear program; a direction into the others
    comes with it.
    """
    slack = program.b - program.A @ x
    products = program.sizes[1] @ np.abs(x)
    terms = np.abs(program.b) + products + 1e-3
    before: Index | None = None
    for share in _ACTIVE:
        active = plain[slack[plain] <= share * terms[plain]]
        if before is not None and np.array_equal(active, before):
            continue
        before = active
        ways = [_of_active(program, x, zero, plain, active), _along_direction(program, x, zero, active)]
        for way in ways if active.size <= _MANY else reversed(ways):
            for found in way:
                yield found
                if np.isfinite(found.value):
                    return


def _of_active(program: ConeProgram, x: Array, zero: Index, plain: Index, active: Index) -> Iterator[Above]:
    """Bounds of the solution of all active inequalities; those that it violates become active, too."""
    for _ in range(_GROWS):
        found, point = _solved(program, x, np.append(zero, active))
        yield found
        slack = (program.b - program.A @ point)[plain]
        grown = np.union1d(active, plain[slack <= 0])
        if grown.size == active.size:
            return
        active = grown


def _along_direction(program: ConeProgram, x: Array, zero: Index, active: Index) -> Iterator[Above]:
    """Bounds of x moved into those inequalities that are not equations, further and further."""
    direction, pinned = _direction(program.A, zero, active)
    rows = np.append(zero, active[pinned])
    sides = program.b[rows]
    start, weight = settled(program.A[rows], sides, x, np.ones(x.size))
    system = equations(program.A[rows], weight)
    if system is None:
        return
    size = 1 + float(np.abs(x).max(initial=0.0))
    direction = np.where(weight > 0, direction, 0.0)
    for step in _STEPS:
        near = system.enclose(sides, start + step * size * direction)
        yield _judged(program, near, rows)
        if set(system.dependent) - set(near.left):
            return  # these equations are not known to hold, wherever one starts


def _solved(program: ConeProgram, x: Array, rows: Index) -> tuple[Above, Array]:
    """Bound of the solution of the equations in ``rows`` next to x, and that point."""
    sides = program.b[rows]
    x, weight = settled(program.A[rows], sides, x, np.ones(x.size))
    system = equations(program.A[rows], weight)
    if system is None:
        return Above(np.inf, x, 0), x
    near = system.enclose(sides, x)
    return _judged(program, near, rows), near.point


def _direction(matrix: Any, zero: Index, active: Index) -> tuple[Array, Mask]:
    """Direction along the equations and into as many active inequalities as possible, and those it does not enter."""
    columns, count = matrix.shape[1], active.size
    if count == 0:
        return np.zeros(columns), np.ones(count, dtype=bool)
    # Of all d with A d = 0 in equations and A d <= -v in inequalities, v from 0 to 1, one with the largest sum of v.
    into = sp.hstack([matrix[active], sp.eye_array(count)])
    along = sp.csr_array(sp.hstack([matrix[zero], sp.csr_array((zero.size, count))]))
    equal = {"A_eq": along, "b_eq": np.zeros(zero.size)} if zero.size else {"A_eq": None, "b_eq": None}
    costs = np.append(np.zeros(columns), -np.ones(count))
    bounds = np.array([(-np.inf, np.inf)] * columns + [(0.0, 1.0)] * count)
    found = linprog(costs, A_ub=sp.csr_array(into), b_ub=np.zeros(count), **equal, bounds=bounds, method="highs")
    if found.x is None:
        return np.zeros(columns), np.ones(count, dtype=bool)
    direction, entered = found.x[:columns], found.x[columns:]
    size = float(np.abs(direction).max(initial=0.0))
    return (direction / size if size > 0 else direction), entered < 1e-6


def _deeper(program: ConeProgram, point: Array, depth: Array, normal: Any) -> Array:
    """Move a point by alternating projections of its slacks onto the cones, shifted inwards, and onto possible slacks.

    Each step goes as far as the distance to the cones allows (Pierra's extrapolation), every third half as far, so that
    it does not zigzag: where faces meet at a sharp angle plain projections take thousands of rounds. Where a few rounds
    are not enough, Newton's steps put the slacks that are or were outside where their cones begin, all at once.
    """
    outside = np.zeros(program.b.size, dtype=bool)
    enough = 0.1 * np.abs(depth).max(initial=0.0)
    for k in range(_INWARDS):
        slack = program.b - program.A @ point
        gap = slack - (project(slack - depth, program.cones) + depth)
        if np.abs(gap).max(initial=0.0) <= enough:
            break
        if k in _AT_ONCE:
            outside |= gap != 0
            point = point + _all_at_once(program, gap, outside)
            continue
        step = normal(program.back @ gap)
        moved = program.A @ step
        size = float(moved @ moved)
        if size <= np.finfo(float).tiny:
            break
        share = 0.5 if k % 3 == 2 else 1.0
        point = point + float(gap @ gap) / size * share * step
    return point


def _all_at_once(program: ConeProgram, gap: Array, outside: Mask) -> Array:
    """Shortest step onto the planes that separate slacks outside of their cones from these.

    Rows of equations and inequalities that were outside and are not stay where they are.
    """
    group, n = program.block_of_row, program.q.size
    length = np.sqrt(np.bincount(group, gap * gap))
    normals = gap / np.where(length > 0, length, 1.0)[group]
    kept = outside & (gap == 0) & np.isin(program.kinds, ("zero", "nonnegative"))
    rows = np.flatnonzero((normals != 0) | kept)
    planes, at = np.unique(group[rows], return_inverse=True)
    entries = np.where(kept, 1.0, normals)[rows]
    across = sp.csr_array((entries, (at, rows)), (planes.size, gap.size)) @ program.A
    sizes = np.sqrt((across.multiply(across)).sum(axis=1))
    use = np.flatnonzero(sizes > 0)
    sizes = sizes[use]
    across = sp.diags_array(1 / sizes) @ across[use]
    least = sp.diags_array(np.full(use.size, -_DEPENDENT))
    system = sp.block_array([[sp.eye_array(n), across.T], [across, least]])
    try:
        solve = splu(sp.csc_array(system)).solve
    except RuntimeError:  # a singular matrix
        return np.zeros(n)
    sides = np.concatenate([np.zeros(n), length[planes][use] / sizes])
    return np.asarray(solve(sides))[:n]
