"""Lower bounds of the optimal value of a cone program, from multipliers: `proof.cones.cone_judge` has the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.cones.cone_kinds import Cones, contains, interior, project_dual
from paretoclf.proof.cones.cone_program import ConeProgram, factor
from paretoclf.proof.cones.enclosure import equations
from paretoclf.proof.cones.exact_corner import exact_corner
from paretoclf.proof.cones.relaxation import relaxed

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

#: Entries of multipliers of cones below this share of the largest are put to 0 where nothing else gives a bound.
_ON_FACES = (1e-2, 1e-4, 1e-6, 1e-9)


@dataclass(frozen=True)
class Box:
    """Lower and upper bounds, variable by variable, of the points that matter."""

    low: Array
    high: Array

    @classmethod
    def of(cls, low: Array, high: Array) -> Box:
        """Box of two bounds; where they contradict each other, by their rounding, it holds both."""
        return cls(np.minimum(low, high), np.maximum(low, high))

    @property
    def reach(self) -> Array:
        """The largest size of each variable."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def wide(self) -> Mask:
        """Variables with no bound on one side or on both."""
        return ~(np.isfinite(self.low) & np.isfinite(self.high))


@dataclass(frozen=True)
class Below:
    """Lower bound, the multipliers that prove it, their residual, and its part in variables that leave it infinite."""

    value: float
    z: Array
    residual: Array
    unabsorbed: dict[int, float]

    @property
    def rank(self) -> tuple[float, float]:
        """Key by which bounds are compared: the larger, the better."""
        return self.value, -float(np.max(np.abs(self.residual), initial=0.0))


def lower_bound(program: ConeProgram, y: Array, z: Array, box: Box, goal: float, tol: float = 1e-9) -> Below:
    """Best bound for points in a box that multipliers near z give; no more work once it is within tol of ``goal``."""
    best: Below | None = None
    for found in _attempts(program, y, z, box):
        # The first attempt must be closer, as the next one is cheap.
        asked = tol * _AT_FIRST if best is None else tol
        best = found if best is None else max(best, found, key=lambda each: each.rank)
        if close(best.value, goal, asked):
            break
    assert best is not None
    return best


def close(lower: float, upper: float, tol: float) -> bool:
    """Whether two bounds need not be brought closer."""
    if not np.isfinite([lower, upper]).all():
        return False
    size = max(abs(upper), abs(lower), 1e-3)
    return bool(abs(upper - lower) <= tol * size)


def _attempts(program: ConeProgram, point: Array, multipliers: Array, box: Box) -> Iterator[Below]:
    """Bounds of several choices of multipliers, the cheapest first.

    Where a variable has no bound, only exact stationarity gives one.
    """
    given = _best_given(program, point, project_dual(multipliers, program.cones))
    first = dual_value(program, *given, box)
    yield first
    if first.unabsorbed:
        yield from _corrected(program, *given, box, first)
    near = _best_given(program, *refined(program, point, multipliers))
    second = dual_value(program, *near, box)
    yield second
    if not first.unabsorbed:
        yield from _corrected(program, *given, box, first)
    yield from _corrected(program, *near, box, second)
    exact = exact_corner(program, point, multipliers)
    if exact is not None:
        yield Below(*exact, np.zeros(point.size), {})
    if first.unabsorbed and second.unabsorbed:
        yield from _on_faces(program, point, multipliers, box)


def _on_faces(program: ConeProgram, point: Array, multipliers: Array, box: Box) -> Iterator[Below]:
    """Bounds of weaker programs, whose multipliers are on a face of the dual cones near the given ones.

    Where an infimum is not attained, multipliers are often there, and a solver's only nearly so. Larger faces are
    nearer; they are tried as long as they give bounds.
    """
    known: list[list[int]] = []
    bounded = False
    for share in _ON_FACES:
        least = share * float(np.abs(multipliers).max(initial=0.0))
        face = relaxed(program.grouped, multipliers, least)
        weaker = face.program(program)
        rows = face.rows.indices.tolist()
        if weaker is None or rows in known:
            continue
        known.append(rows)
        found = _first_bound(weaker, point, face.kept(multipliers, least), box)
        if found is not None:
            bounded = True
            yield replace(found, z=face.back(found.z))
        elif bounded:
            return


def _first_bound(program: ConeProgram, point: Array, multipliers: Array, box: Box) -> Below | None:
    """The first finite bound of multipliers as they are, exactly stationary, or at a corner."""
    given = _best_given(program, point, project_dual(multipliers, program.cones))
    found = dual_value(program, *given, box)
    if np.isfinite(found.value):
        return found
    for exact in _corrected(program, *given, box, found):
        if np.isfinite(exact.value):
            return exact
    corner = exact_corner(program, point, multipliers)
    return None if corner is None else Below(*corner, np.zeros(point.size), {})


def _best_given(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Points and multipliers with the parts replaced whose best values are known in closed form."""
    return _with_best_bounds(program, *_with_best_y(program, y, z))


def dual_value(
    program: ConeProgram,
    y: Array,
    z: Array,
    box: Box,
    *,
    radius: tuple[Array, Array] | None = None,
    solved: Mask | None = None,
) -> Below:
    r"""Bound that one y and one z in the dual cones prove.

    With a radius it holds for every pair :math:`\hat y,\hat z` within it that is exactly stationary where ``solved``.
    Around y itself, with :math:`\hat r=P\hat y+q+A^\top\hat z`, the bound reads

    .. math:: f(y)-\hat z^\top(b-Ay)-\tfrac12(y-\hat y)^\top P(y-\hat y)+\min_x\hat r^\top(x-y),

    where a small radius costs next to nothing: the slacks of positive multipliers are small, too.
    """
    exact = np.zeros(y.size), np.zeros(z.size)
    around_y, around_z = exact if radius is None else radius
    P_sizes, A_sizes, back_sizes = program.sizes
    product = program.P @ y
    product_size = P_sizes @ np.abs(y)
    residual = product + program.q + program.back @ z
    long = program.column_length
    residual_terms = product_size + np.abs(program.q)
    residual_terms = residual_terms + back_sizes @ np.abs(z)
    error = long * _EPS * residual_terms
    if radius is not None:
        error = error + (P_sizes @ around_y + back_sizes @ around_z) * (1 + 1e-9)
    if solved is not None:
        residual = np.where(solved, 0.0, residual)
        error = np.where(solved, 0.0, error)
    cost = _least_products(residual, error, (box.low - y, box.high - y))
    cost = _with_negative_curvature(program, cost, (box.low - y, box.high - y), around_y)
    unbounded = np.flatnonzero(~np.isfinite(cost)).tolist()
    if unbounded:
        return Below(-np.inf, z, residual, {column: float(residual[column]) for column in unbounded})
    slack = program.b - program.A @ y
    slack_size = np.abs(program.b) + A_sizes @ np.abs(y)
    slack_error = (np.diff(program.A.indptr) + 2) * _EPS * slack_size
    energy_terms, linear_terms = 0.5 * y * product, program.q * y
    terms = np.concatenate([energy_terms, linear_terms, -z * slack, cost])
    sizes = np.abs(terms).sum() + np.abs(y) @ product_size
    count = terms.size + long.max(initial=0)
    rounding = 4 * _EPS * count * float(sizes)
    lost = rounding + float(np.abs(z) @ slack_error)
    if radius is not None:
        energy = 0.5 * around_y @ (P_sizes @ around_y)
        lost += float((np.abs(slack) + slack_error) @ around_z + energy)
    return Below(float(terms.sum() - lost * (1 + 1e-6)), z, residual, {})


def _least_products(residual: Array, error: Array, edges: tuple[Array, Array]) -> Array:
    """Smallest products of residuals within their errors and of edges of a box, entry by entry."""
    products = []
    for sign in (-1.0, 1.0):
        end = residual + sign * error
        for edge in edges:
            with np.errstate(invalid="ignore"):
                products.append(np.where(end == 0, 0.0, end * edge))
    return np.asarray(np.minimum.reduce(products))


def _with_negative_curvature(program: ConeProgram, cost: Array, edges: tuple[Array, Array], around: Array) -> Array:
    """Subtract from costs the most that negative curvature may cost within edges around y."""
    hollow = np.flatnonzero(program.curvature < 0)
    if hollow.size:
        below, above = (np.abs(edge[hollow]) for edge in edges)
        distance = np.maximum(below, above) + around[hollow]
        cost[hollow] += 0.5 * program.curvature[hollow] * distance**2 * (1 + 1e-9)
    return cost


def _with_best_y(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Point that leaves no residual where P is diagonal, and multipliers as they are."""
    if program.diagonal:
        diagonal = program.P.diagonal()
        convex = diagonal > 0
        gradient = program.q + program.back @ z
        best = -gradient / np.where(convex, diagonal, 1.0)
        y = np.where(convex, best, np.where(diagonal < 0, y, 0.0))
    return y, z


def _with_best_bounds(program: ConeProgram, point: Array, multipliers: Array) -> tuple[Array, Array]:
    """Point as it is, and multipliers of bounds of single variables that absorb the residuals of these.

    A multiplier stays nonnegative, so that it may absorb a part only.
    """
    rows, columns, values = program.bounds
    if rows.size:
        slack = (program.b - program.A @ point)[rows]
        order = np.lexsort((slack, columns))  # of two bounds of a variable the nearer one
        first = np.append(True, np.diff(columns[order]) != 0)
        nearest = order[first]
        rows, columns, values = rows[nearest], columns[nearest], values[nearest]
        residual = program.P @ point + program.q + program.back @ multipliers
        multipliers = multipliers.copy()
        multipliers[rows] = np.maximum(multipliers[rows] - residual[columns] / values, 0.0)
    return point, multipliers


def _corrected(program: ConeProgram, y: Array, z: Array, box: Box, plain: Below) -> Iterator[Below]:
    """Bounds of exactly stationary pairs near y and z, in as many variables as can be."""
    needed = np.zeros(y.size, dtype=bool)
    needed[list(plain.unabsorbed)] = True
    tried: list[Mask] = []
    for columns in (np.ones(y.size, dtype=bool), box.wide, needed):
        known = any((columns == other).all() for other in tried)
        if known or not columns.any():
            continue
        tried.append(columns)
        found = _stationary(program, y, z, box, columns)
        if found is not None:
            yield found
            if np.isfinite(found.value):
                return


def _stationary(program: ConeProgram, y: Array, z: Array, box: Box, columns: Mask) -> Below | None:
    """Best bound of pairs near y and z that are exactly stationary in some columns, or None."""
    best: Below | None = None
    for depth, none in _ways(program, z):
        found = _solved(program, (y, z), box, columns, (depth, none))
        if found is not None and (best is None or found.rank > best.rank):
            best = found
        if best is not None and np.isfinite(best.value):
            break
    return best


def _ways(program: ConeProgram, z: Array) -> Iterator[tuple[float, Mask]]:
    """Depths by which multipliers are moved into their cones, and the multipliers that are put to 0 before."""
    size = float(np.max(np.abs(z), initial=0.0))
    plain = program.kinds == "nonnegative"
    if np.isin(program.kinds, ("zero", "nonnegative")).all():
        for share in _NONE:
            yield 0.0, plain & (z <= share * size)
        return
    none = plain & (z <= _NONE[0] * size)
    size = max(size, float(np.max(np.abs(program.q), initial=0.0)))
    more = none | _small(program, z, _NONE[0] * size)
    for depth in _DEPTHS:
        yield depth, more
    if (more != none).any():
        for depth in _DEPTHS:
            yield depth, none


def _small(program: ConeProgram, z: Array, most: float) -> Mask:
    """Multipliers of curved cones that have no larger entry: 0 is in every dual cone, and costs nothing."""
    small = np.zeros(z.size, dtype=bool)
    for each in program.grouped.alike:
        if each.kind not in ("zero", "nonnegative"):
            largest = np.max(np.abs(z[each.rows]), axis=1, keepdims=True)
            small[each.rows] = largest <= most
    return small


def _solved(
    program: ConeProgram, pair: tuple[Array, Array], box: Box, columns: Mask, way: tuple[float, Mask]
) -> Below | None:
    """Bound of a pair that is exactly stationary in some columns, with its multipliers in their cones; None without it.

    ``way`` has the depth by which multipliers are moved into their cones, and the ones that are put to 0.
    """
    point, multipliers = pair
    depth, none = way
    size = float(np.max(np.abs(multipliers), initial=0.0))
    depth = depth * (1 + size)
    plain = program.kinds == "nonnegative"
    multipliers = np.where(none, 0.0, multipliers)
    safe = multipliers  # in the dual cones
    multipliers = multipliers + depth * np.where(plain | none, 0.0, interior(program.cones))
    equal = np.flatnonzero(columns)
    rows = sp.hstack([program.P[equal], program.back[equal]]).tocsr()
    weight_y = np.where(program.P.diagonal() != 0, max(1.0, size), 0.0)
    for _ in range(_DROPS):
        weight_z = np.where(none & ~plain, 0.0, _weights(program, multipliers, depth))
        system = equations(rows, np.append(weight_y, weight_z))
        if system is None:
            return None
        found = system.enclose(-program.q[equal], np.append(point, multipliers))
        new_z, around = found.point[point.size :], found.radius[point.size :]
        wrong = plain & (new_z - around < 0) & (weight_z > 0)
        if not wrong.any():
            break
        multipliers = np.where(wrong, 0.0, multipliers)
    else:
        return None
    if not in_dual(new_z, around, safe, program.grouped):
        return None
    solved = np.zeros(point.size, dtype=bool)
    solved[equal[found.solved]] = True
    radius = found.radius[: point.size], around
    return dual_value(program, found.point[: point.size], new_z, box, radius=radius, solved=solved)


def _weights(program: ConeProgram, z: Array, depth: float) -> Array:
    """Weights of multipliers as unknowns: about how far each may move in its cone."""
    weights = np.full(z.size, depth)
    for each in program.grouped.alike:
        entries = z[each.rows]
        if each.kind == "zero":
            weights[each.rows] = max(1.0, float(np.abs(z).max(initial=0.0)))
        elif each.kind == "nonnegative":
            weights[each.rows] = np.maximum(entries, 0.0)
        elif each.kind == "second-order":
            norm = np.linalg.norm(entries[:, 1:], axis=1, keepdims=True)
            weights[each.rows] = np.maximum(entries[:, :1] - norm, depth)
    return weights


def in_dual(z: Array, radius: Array, safe: Array, cones: Cones) -> bool:
    """Whether every point within ``radius`` of z is in the dual cones; multipliers equal to those of ``safe`` are.

    Dual cones are linear images of the cones: points are mapped, with a radius that holds the rounding.
    """
    mapped, around = z.copy(), radius.copy()
    fine = np.zeros(len(cones), dtype=bool)
    for each in cones.alike:
        at = each.rows
        unchanged = (around[at] == 0) & (z[at] == safe[at])
        fine[each.which] = unchanged.all(axis=1) | (each.kind == "zero")
        if each.kind == "exponential":
            mapped[at], around[at] = _from_dual_exponential(z[at], radius[at])
        elif each.kind == "power":
            image = _from_dual_power(z[at], radius[at], each.exponent)
            mapped[at], around[at] = image
    return bool((fine | contains(mapped, around, cones)).all())


def _from_dual_exponential(points: Array, radius: Array) -> tuple[Array, Array]:
    """Map the dual of the exponential cone onto the cone, with radii: (u, v, w) to (u - v, -u, w)."""
    u, v, w = points.T
    around_u, around_v, around_w = radius.T
    mapped = np.stack([u - v, -u, w], axis=1)
    around = np.stack([around_u + around_v, around_u, around_w], axis=1)
    size = np.abs(points).max(axis=1, keepdims=True)
    return mapped, around + 4 * _EPS * size


def _from_dual_power(points: Array, radius: Array, exponent: Array) -> tuple[Array, Array]:
    """Map the dual of power cones onto the cones, with radii: (u, v, w) to (u / a, v / (1 - a), w)."""
    share = np.stack([exponent, 1 - exponent, np.ones(exponent.size)], axis=1)
    mapped = points / share
    around = radius / share * (1 + 4 * _EPS)
    return mapped, around + 4 * _EPS * np.abs(mapped)


def refined(program: ConeProgram, point: Array, multipliers: Array) -> tuple[Array, Array]:
    """Improve a pair by alternating projections onto ``Py + q + A'z = 0`` and, last, onto the dual cones."""
    normal = factor(program.P @ program.P + program.back @ program.A)
    multipliers = project_dual(multipliers, program.cones)
    best, least = (point, multipliers), np.inf
    history: list[float] = []
    for _ in range(_ROUNDS):
        residual = program.P @ point + program.q + program.back @ multipliers
        size = float(np.max(np.abs(residual), initial=0.0))
        if size < least:
            best, least = (point, multipliers), size
        history.append(least)
        if len(history) > 5 and history[-1] > 0.9 * history[-5]:
            break
        step = normal(residual)
        point = point - program.P @ step
        multipliers = project_dual(multipliers - program.A @ step, program.cones)
    return best
