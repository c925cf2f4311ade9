"""Upper bounds of the optimal value of a cone program, from points: `points.cone` has the argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.linear_programs import linprog
from paretoclf.proof.points.cone_program import ConeProgram, factor
from paretoclf.proof.points.cones import contains, interior, project
from paretoclf.proof.points.enclosure import Enclosed, Equations, equations, settled

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
    """An upper bound, a point next to the feasible one that proves it, and the cone that prevents one (or None)."""

    value: float
    x: Array
    blocked: int | None


def upper_bound(program: ConeProgram, x: Array) -> Above:
    """The best bound of feasible points near x."""
    kinds = program.kinds
    zero, plain = np.flatnonzero(kinds == "zero"), np.flatnonzero(kinds == "nonnegative")
    if zero.size + plain.size == kinds.size:
        found = min(_on_faces(program, x, zero, plain), key=lambda each: each.value)
        if np.isfinite(found.value):
            return found
    system = equations(program.A[zero], np.ones(x.size))
    return Above(np.inf, x, 0) if system is None else _inside(program, x, system, zero)


def _inside(program: ConeProgram, x: Array, system: Equations, zero: Index) -> Above:
    """From a point moved into its cones, deeper and deeper."""
    A, b, cones = program.A, program.b, program.cones
    normal, inside = factor(A.T @ A), interior(cones)
    found = Above(np.inf, x, 0)
    for depth in _DEPTHS:
        if depth > 0:
            x = _deeper(program, x, depth * (1 + np.abs(b - A @ x).max(initial=0.0)) * inside, normal)
        found = _judged(program, system.enclose(b[zero], x), zero)
        if found.blocked is None:
            break
        x = found.x
    return found


def _judged(program: ConeProgram, near: Enclosed, rows: Index) -> Above:
    """The bound of the exact solution of the equations in ``rows``, if it is in every cone."""
    x, away = near.point, near.radius
    s = program.b - program.A @ x
    radius = (abs(program.A) @ away) * (1 + 1e-6) + (np.diff(program.A.indptr) + 2) * _EPS * (
        np.abs(program.b) + abs(program.A) @ np.abs(x)
    )
    s[rows[near.rows]], radius[rows[near.rows]] = 0.0, 0.0
    for i, left in near.left.items():
        s[rows[i]], radius[rows[i]] = left, 0.0
    outside = np.flatnonzero(~contains(s, radius, program.cones))
    if outside.size:
        return Above(np.inf, x, int(outside[0]))
    slope = program.P @ x + program.q
    size = abs(program.P) @ np.abs(x)
    long = np.diff(program.P.indptr) + 3
    moved = float(
        (np.abs(slope) + long * _EPS * (size + np.abs(program.q))) @ away + 0.5 * away @ (abs(program.P) @ away)
    )
    terms = float(np.abs(program.q) @ np.abs(x) + np.abs(x) @ size)
    rounding = 4 * (x.size + long.max(initial=0)) * _EPS * terms
    return Above(float(program.value(x) + moved * (1 + 1e-6) + rounding), x, None)


def _on_faces(program: ConeProgram, x: Array, zero: Index, plain: Index) -> Iterator[Above]:
    """From solutions of equations and of the inequalities that hold with equality at x, some or all of them.

    Those that hold with equality at every feasible point are found by a linear program; a direction into the others
    comes with it.
    """
    A, b = program.A, program.b
    s = b - A @ x
    terms = np.abs(b) + abs(A) @ np.abs(x) + 1e-3
    before: Index | None = None
    for share in _ACTIVE:
        active = plain[s[plain] <= share * terms[plain]]
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
    """From the solution of all active ones; what it violates becomes active, too."""
    for _ in range(_GROWS):
        found, point = _solved(program, x, np.append(zero, active))
        yield found
        missed = plain[(program.b - program.A @ point)[plain] <= 0]
        grown = np.union1d(active, missed)
        if grown.size == active.size:
            return
        active = grown


def _along_direction(program: ConeProgram, x: Array, zero: Index, active: Index) -> Iterator[Above]:
    """From x moved into those inequalities that are not equations, further and further."""
    A, b = program.A, program.b
    direction, pinned = _direction(A, zero, active)
    rows = np.append(zero, active[pinned])
    start, weight = settled(A[rows], b[rows], x, np.ones(x.size))
    system = equations(A[rows], weight)
    if system is None:
        return
    for step in _STEPS:
        moved = start + step * (1 + float(np.abs(x).max(initial=0.0))) * np.where(weight > 0, direction, 0.0)
        near = system.enclose(b[rows], moved)
        yield _judged(program, near, rows)
        if set(system.dependent) - set(near.left):
            return  # these equations are not known to hold, wherever one starts


def _solved(program: ConeProgram, x: Array, rows: Index) -> tuple[Above, Array]:
    """The bound of the solution of the equations in ``rows`` next to x, and that point."""
    x, weight = settled(program.A[rows], program.b[rows], x, np.ones(x.size))
    system = equations(program.A[rows], weight)
    if system is None:
        return Above(np.inf, x, 0), x
    near = system.enclose(program.b[rows], x)
    return _judged(program, near, rows), near.point


def _direction(A: Any, zero: Index, active: Index) -> tuple[Array, Mask]:
    """A direction along the equations and into as many of the active inequalities as can be, and those it is along."""
    n, k = A.shape[1], active.size
    nothing = np.zeros(n), np.ones(k, dtype=bool)
    if k == 0:
        return nothing
    into = sp.hstack([A[active], sp.eye_array(k)])
    along = sp.hstack([A[zero], sp.csr_array((zero.size, k))]) if zero.size else None
    found = linprog(
        np.append(np.zeros(n), -np.ones(k)),
        A_ub=sp.csr_array(into),
        b_ub=np.zeros(k),
        A_eq=None if along is None else sp.csr_array(along),
        b_eq=None if along is None else np.zeros(zero.size),
        bounds=np.array([(-np.inf, np.inf)] * n + [(0.0, 1.0)] * k),
        method="highs",
    )
    if found.x is None:
        return nothing
    direction = found.x[:n]
    size = float(np.abs(direction).max(initial=0.0))
    return (direction / size if size > 0 else direction), found.x[n:] < 1e-6


def _deeper(program: ConeProgram, x: Array, depth: Array, normal: Any) -> Array:
    """Alternating projections of the slacks onto the cones, shifted inwards, and onto what a point can have.

    Each step goes as far as the distance to the cones allows (Pierra's extrapolation), every third half as far, so that
    it does not zigzag: where faces meet at a sharp angle plain projections take thousands of rounds. Where a few rounds
    are not enough, Newton's steps put the slacks that are or were outside where their cones begin, all at once.
    """
    back = program.A.T
    outside = np.zeros(program.b.size, dtype=bool)
    for k in range(_INWARDS):
        s = program.b - program.A @ x
        gap = s - (project(s - depth, program.cones) + depth)
        if np.abs(gap).max(initial=0.0) <= 0.1 * np.abs(depth).max(initial=0.0):
            break
        if k in _AT_ONCE:
            outside |= gap != 0
            x = x + _all_at_once(program, gap, outside)
            continue
        step = normal(back @ gap)
        moved = program.A @ step
        size = float(moved @ moved)
        if size <= np.finfo(float).tiny:
            break
        x = x + float(gap @ gap) / size * (0.5 if k % 3 == 2 else 1.0) * step
    return x


def _all_at_once(program: ConeProgram, gap: Array, outside: Mask) -> Array:
    """The shortest step onto the planes that separate slacks outside of their cones from these.

    Rows of equations and inequalities that were outside and are not stay where they are.
    """
    group = program.block_of_row
    length = np.sqrt(np.bincount(group, gap * gap))
    away = gap / np.where(length > 0, length, 1.0)[group]
    kept = outside & (gap == 0) & np.isin(program.kinds, ("zero", "nonnegative"))
    rows = np.flatnonzero((away != 0) | kept)
    planes, at = np.unique(group[rows], return_inverse=True)
    across = sp.csr_array((np.where(kept, 1.0, away)[rows], (at, rows)), (planes.size, gap.size)) @ program.A
    sizes = np.sqrt((across.multiply(across)).sum(axis=1))
    use = np.flatnonzero(sizes > 0)
    across = sp.diags_array(1 / sizes[use]) @ across[use]
    one, least = sp.eye_array(program.q.size), sp.diags_array(np.full(use.size, -_DEPENDENT))
    try:
        solve = splu(sp.csc_array(sp.block_array([[one, across.T], [across, least]]))).solve
    except RuntimeError:  # a singular matrix
        return np.zeros(program.q.size)
    return np.asarray(solve(np.concatenate([np.zeros(program.q.size), length[planes][use] / sizes[use]])))[
        : program.q.size
    ]
