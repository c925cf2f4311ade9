r"""Bounds of the gap between two pairs of a line of cone programs on which a matrix depends on t.

With A and P affine in u between the pairs, the linear interpolation of x misses the slacks, and that of y, z misses
stationarity, by a multiple of :math:`w=u(1-u)`:

.. math:: b-Ax(u)=s(u)+w\,\delta,\quad\delta=dA\,dx,\qquad Py(u)+q+A^\top z(u)=r(u)-w\rho,\quad\rho=dA^\top dz+dP\,dy.

*Points.* x(u) + w v with :math:`Av\approx\delta` leaves :math:`o(u)=\delta-A(u)v`, which is affine in u: s(u) + w o(u)
is in a cone for every u where :math:`s_k+o_k` and :math:`s_k+o_j` are, or :math:`s_j+o_k` and :math:`s_j+o_j`. Where
that still leaves a cone, the point goes a share :math:`wT` of the way to strictly feasible points, of slacks
:math:`s^0`: this is enough if :math:`Ts^0_k+o_k`, the same with :math:`T\,dA\,dx^0` added, and :math:`Ts^0_j+o_j` are
in the cone.

*Multipliers.* y(u) + w eta with :math:`P\eta\approx\rho` leaves :math:`\rho-P(u)\eta`, affine in u, which costs its
product with the distance to the corners of the box.

All of that goes into the coefficient c of the piece, as w times a number:

.. math:: \text{gap}(u)=\tfrac12e^\top Pe+z^\top s+r^\top(x-x^*),\qquad e=x-y .

v and eta are found in doubles, by least squares; whatever they are, the residuals that they leave are enclosed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.pairs import WIDER, Near, Pair, PairJudge, StackedPairs, products
from paretoclf.proof.bands.row_products import difference_radius, dot, inverse, mixed
from paretoclf.proof.cones.cone_kinds import Cones, contains, interior, matrix, vector
from paretoclf.proof.cones.enclosure import times

_EPS = float(np.finfo(float).eps)

#: Slacks below this share of the largest missing slack all weigh as much in the least squares.
_TIGHT = 1e-3

#: Shares of the way to strictly feasible points that are tried, from the largest.
_SHARES = 1.25 ** -np.arange(200.0)

#: Added to the diagonal of normal equations of columns of length 1, which makes them solvable.
_RIDGE = 1e-12

#: How often the solution of the normal equations is corrected.
_CORRECTED = 3

#: Entries of matrices that are made at once.
_AT_ONCE = 2**21

#: So many shares are tried at once, between one that is enough and one that is not.
_TRIED = np.arange(1, 6)[:, None]


@dataclass(frozen=True)
class Bend:
    """Correction of the interpolated point between two pairs where A depends on t.

    At a share u of the way from x to the next x, with w = u (1 - u), ``w v`` is added to the point, which then goes a
    share ``w inwards`` of the way to a strictly feasible point.
    """

    v: Array
    radius: Array
    inwards: float

    def at(self, first: Pair, last: Pair, u: float) -> tuple[Array, Array]:
        """Corrected point at a share u of the way, and a bound on its distance from an exactly feasible one."""
        weight = u * (1.0 - u)
        point = between((first.x, last.x), u) + weight * self.v
        radius = between((first.x_radius, last.x_radius), u) + weight * self.radius
        sizes = np.abs(first.x) + np.abs(last.x)
        sizes = sizes + np.abs(self.v)
        if self.inwards and first.inside is not None and last.inside is not None:
            share = weight * self.inwards
            begin, end = first.inside, last.inside
            inner = between((begin.x, end.x), u)
            inner_radius = between((begin.x_radius, end.x_radius), u)
            point = (1.0 - share) * point + share * inner
            radius = (1.0 - share) * radius + share * inner_radius
            sizes = sizes + np.abs(begin.x) + np.abs(end.x)
        return point, radius * WIDER + 16 * _EPS * sizes


@dataclass(frozen=True)
class ConePiece:
    """Bounds between two pairs: ``gap(u) <= (1-u)^2 a + u^2 b + u(1-u) c``, and objectives from ``low`` to ``high``.

    Where a matrix depends on t, ``bend`` is the correction of the interpolated point.
    """

    a: float
    b: float
    c: float
    low: float
    high: float
    bend: Bend | None = None

    def at(self, u: Any) -> Any:
        """Bound of the gap at a share u of the way."""
        ends = (1 - u) ** 2 * self.a + u**2 * self.b
        polynomial = ends + u * (1 - u) * self.c
        return polynomial * (1 + 1e-12) + 4 * _EPS * self.c

    @property
    def gap(self) -> float:
        """Bound of the gap at every t of the piece."""
        if not np.isfinite(self.c):
            return np.inf
        most = max(self.a, self.b)
        if self.c > 2 * most:  # else the stationary point of the polynomial is no maximum of the piece
            discriminant = self.c * self.c - 4 * self.a * self.b
            most = discriminant / (4 * (self.c - self.a - self.b))
        return most * (1 + 1e-12) + 8 * _EPS * self.c

    def unit(self, floor: float) -> float:
        """Scale of the relative gap: a lower bound of the optimal value's size on the piece, at least ``floor``."""
        if self.high < 0:
            return max(-self.high, floor)
        return max(self.low - self.gap if self.low > 0 else 0.0, floor)


#: The piece between two pairs of which nothing is proved.
NOTHING = ConePiece(np.inf, np.inf, np.inf, -np.inf, np.inf)


@dataclass(frozen=True)
class _Bends:
    """Corrections of many points, a row for each."""

    v: Array
    radius: Array
    inwards: Array

    def of(self, row: int) -> Bend:
        """Correction of one piece."""
        inwards = float(self.inwards[row])
        return Bend(self.v[row], self.radius[row], inwards)


def bent_pieces(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> list[ConePiece]:
    """Bound the gap between each two pairs of a line on which a matrix depends on t."""
    bends, slack_products = _bend_points(judge, first, last)
    moved = _largest_moves(bends, first, last)
    residual, eta = _bend_multipliers(judge, first, last)
    energies = _energies(judge, first, last, (bends.v, moved, eta))
    first_energy, last_energy, _ = energies
    cost = _bend_cost(first, last, (moved, residual), energies) * WIDER
    # The sums go from left to right: another order would round otherwise.
    cross = products(first, last) + products(last, first) + slack_products
    cross = cross + first_energy + last_energy + cost
    at_first = first.own - first.bent + first_energy
    at_last = last.own - last.bent + last_energy
    low, high = _objectives(judge, first, last, moved)
    coefficients = [np.maximum(each, 0.0) for each in (at_first, at_last, cross)]
    numbers: Any = np.stack([*coefficients, low, high], axis=1).tolist()
    pieces = [NOTHING] * len(numbers)
    for i in np.flatnonzero(np.isfinite(slack_products)).tolist():
        pieces[i] = ConePiece(*(*numbers[i], bends.of(i)))
    return pieces


def _largest_moves(bends: _Bends, first: StackedPairs, last: StackedPairs) -> Array:
    """Bound, column by column, on the correction of a point divided by w."""
    moved = np.abs(bends.v) + bends.radius
    if first.inside is None or last.inside is None:
        return moved
    way = _distance_to_inside((first, last), (first.inside, last.inside))
    return np.asarray(moved + bends.inwards[:, None] * (way + 0.25 * moved))


def _distance_to_inside(pairs: tuple[StackedPairs, StackedPairs], insides: tuple[Near, Near]) -> Array:
    """Bound, column by column, on the distance of strictly feasible points from those of the path."""
    corners = []
    for inside in insides:
        for pair in pairs:
            distance = np.abs(inside.x - pair.x)
            corners.append(distance + inside.x_radius + pair.x_radius)
    return np.asarray(np.max(corners, axis=0) * (1 + 4 * _EPS))


def _energies(
    judge: PairJudge, first: StackedPairs, last: StackedPairs, bend: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Upper bounds of ``e'Pe / 2`` for the e of the first pairs, of the last ones, and of the corrections.

    Each is the larger one of those at both t: P is affine in between, and so is the energy of a constant e. ``bend``
    has the corrections of x, their bounds, and the corrections of y.
    """
    direction, moved, eta = bend
    size = np.abs(direction)
    bend_radius = moved - size + 4 * _EPS * (size + np.abs(eta))
    differences = first.x - first.y, last.x - last.y, direction - eta
    radii = _gap_radius(first), _gap_radius(last), bend_radius
    times_of_both = np.concatenate([first.t, last.t] * 3)
    at_both = [np.concatenate([each for each in arrays for _ in range(2)]) for arrays in (differences, radii)]
    first_energy, last_energy, own = judge.energy(times_of_both, *at_both).reshape(3, 2, -1).max(axis=1)
    return first_energy, last_energy, own


def _gap_radius(pairs: StackedPairs) -> Array:
    """Bound on the error of ``x - y``."""
    return difference_radius(pairs.x, pairs.x_radius, pairs.y, pairs.y_radius)


def _bend_cost(
    first: StackedPairs, last: StackedPairs, bend: tuple[Array, Array], energies: tuple[Array, Array, Array]
) -> Array:
    """Bound on the cost of residuals and corrections, divided by w.

    ``bend`` has bounds on the corrections of x, and on the stationarity that corrections of y leave missing.
    """
    moved, residual = bend
    first_energy, last_energy, own = energies
    missed = np.maximum(first.missed, last.missed) + 0.25 * residual
    reach = np.maximum(first.reach, last.reach)
    cost = dot(residual, reach) + dot(moved, missed)
    cost += dot(first.missed, last.reach) + dot(last.missed, first.reach)
    # The product of an interpolated e with a correction, by the inequality of Cauchy and Schwarz.
    product = 2 * np.sqrt(np.maximum(first_energy, last_energy) * own)
    cost += product + 0.25 * own
    return cost


#: Slacks that v leaves missing at each of both t, with their radii.
_Offs = list[tuple[Array, Array]]


def _bend_points(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> tuple[_Bends, Array]:
    """Corrections of the points, and upper bounds of their effect on the products with the slacks, divided by w.

    The bounds are infinite where nothing is proved. Two v are tried for each piece: one that absorbs the missing slack,
    and none.
    """
    none = np.zeros(first.x.shape)
    count = len(first.t)
    if judge.A.speed is None:
        return _Bends(none, none, np.zeros(count)), np.zeros(count)
    delta, delta_radius = _missing_slacks(judge, first, last)
    absorbing = _absorbing(judge, first, last, delta)
    v, radius, proved = judge.directions(np.concatenate([absorbing, none]))
    twice = np.tile(np.arange(count), 2)
    pairs = first.taken(twice), last.taken(twice)
    offs = _left_missing(judge, pairs, (delta[twice], delta_radius[twice]), (v, radius))
    inwards = _inward_shares(judge, pairs, offs)
    added = np.where(proved, _added(judge, pairs, offs, inwards), np.inf)
    absorbed = added[:count] <= added[count:]
    better = np.arange(count) + np.where(absorbed, 0, count)
    added = added[better]
    inwards = np.where(np.isfinite(added), inwards[better], 0.0)
    return _Bends(v[better], radius[better], inwards), added


def _missing_slacks(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> tuple[Array, Array]:
    """Slacks by which interpolated points miss the rows, divided by w, and a radius."""
    length = last.t - first.t
    difference = last.x - first.x
    radius = difference_radius(last.x, last.x_radius, first.x, first.x_radius)
    delta = judge.A.gained(length, difference)
    delta_radius = judge.A.sizes.gained(length, radius) * WIDER
    return delta, delta_radius + judge.A.gained_rounding(length, difference)


def _left_missing(
    judge: PairJudge,
    pairs: tuple[StackedPairs, StackedPairs],
    missing: tuple[Array, Array],
    directions: tuple[Array, Array],
) -> _Offs:
    """Slacks that are missing after v was added, at both t: ``delta - A v``, each with a radius."""
    delta, delta_radius = missing
    v, radius = directions
    ts = [each.t for each in pairs]
    sizes = judge.A.sizes
    products_v = judge.A.at_each(ts, v)
    products_radius = sizes.at_each(ts, radius)
    products_size = sizes.at_each(ts, np.abs(v))
    equations = slice(judge.line.equations)
    offs = []
    for product, product_radius, product_size in zip(products_v, products_radius, products_size, strict=True):
        off = delta - product
        off_radius = delta_radius + product_radius * WIDER + judge.row_terms * _EPS * product_size
        off_radius += 4 * _EPS * (np.abs(delta) + np.abs(off))
        # Coefficients of equations are constant, and v is a direction in which they hold.
        off[:, equations] = 0.0
        off_radius[:, equations] = 0.0
        offs.append((off, off_radius))
    return offs


def _inward_shares(judge: PairJudge, pairs: tuple[StackedPairs, StackedPairs], offs: _Offs) -> Array:
    """Share of the way to strictly feasible points that is enough; 0 where none is needed, infinite where none is."""
    first, last = pairs
    fine = _fine_without(judge.line.base.grouped, pairs, offs)
    found = np.where(fine.all(axis=1), 0.0, np.inf)
    if first.inside is None or last.inside is None:
        return found
    at = np.flatnonzero((found > 0) & first.inside.fine & last.inside.fine)
    if at.size:
        insides = first.inside.taken(at), last.inside.taken(at)
        chosen = [(off[at], radius[at]) for off, radius in offs]
        length = (last.t - first.t)[at]
        way = _way_inwards(judge, length, insides, chosen, fine[at])
        found[at] = _least_shares(way)
    return found


def _is_zero(cones: Cones) -> Mask:
    """Whether each cone is that of equations, whose slacks are 0 by construction."""
    return np.array([cone.kind == "zero" for cone in cones])


def _fine_without(cones: Cones, pairs: tuple[StackedPairs, StackedPairs], offs: _Offs) -> Mask:
    """Whether each cone holds the slacks of a piece without a way inwards.

    That is so if from one of both pairs the slacks are in the cone with either of both missing slacks added.
    """
    points = np.concatenate([pair.s + off for pair in pairs for off, _ in offs])
    radii = np.concatenate([pair.s_radius + radius for pair in pairs for _, radius in offs])
    count = len(pairs[0].t)
    inside = contains(points, radii, cones).reshape(2, 2, count, -1)
    return np.asarray(_is_zero(cones) | inside.all(axis=1).any(axis=0))


@dataclass(frozen=True)
class _WayInwards:
    """Slacks of strictly feasible points and missing slacks, at the three corners that decide for each piece.

    ``fine`` has the cones that need no way inwards; ``possible`` says of which pieces the points are strictly feasible
    between both t, too.
    """

    s: Array
    s_radius: Array
    size: Array
    off: Array
    off_radius: Array
    cones: Cones
    fine: Mask
    possible: Mask

    def enough(self, share: Array) -> Mask:
        """Whether a share of the way is enough, for several shares (k, pieces)."""
        many = share[:, None, :, None]
        point = many * self.s + self.off
        rounding = 8 * _EPS * (many * self.size + np.abs(self.off))
        radius = many * self.s_radius * WIDER + self.off_radius + rounding
        rows = self.s.shape[-1]
        inside = contains(point.reshape(-1, rows), radius.reshape(-1, rows), self.cones)
        inside = inside.reshape(*point.shape[:-1], -1)
        return np.asarray((self.fine | inside).all(axis=(1, 3)) & self.possible)


def _way_inwards(judge: PairJudge, length: Array, insides: tuple[Near, Near], offs: _Offs, fine: Mask) -> _WayInwards:
    """Collect the corners that decide how far points must go inwards."""
    begin, end = insides
    cones = judge.line.base.grouped
    difference = end.x - begin.x
    gained = judge.A.gained(length, difference)
    rounding = 8 * _EPS * (np.abs(end.x) + np.abs(begin.x))
    x_radius = end.x_radius + begin.x_radius + rounding
    gained_radius = judge.A.sizes.gained(length, x_radius)
    gained_radius += judge.A.gained_rounding(length, difference)
    middle = begin.s + gained
    middle_radius = begin.s_radius + gained_radius
    middle_size = np.abs(begin.s) + np.abs(gained)
    inside = contains(middle, middle_radius * WIDER, cones)
    possible = np.asarray((_is_zero(cones) | inside).all(axis=1))
    first_off, last_off = offs
    at_first = begin.s, begin.s_radius, np.abs(begin.s), *first_off
    at_middle = middle, middle_radius, middle_size, *first_off
    at_last = end.s, end.s_radius, np.abs(end.s), *last_off
    corners = at_first, at_middle, at_last
    s, s_radius, size, off, off_radius = (np.stack(each) for each in zip(*corners, strict=True))
    return _WayInwards(s, s_radius, size, off, off_radius, cones, fine, possible)


def _least_shares(way: _WayInwards) -> Array:
    """The smallest tried share that is enough for each piece, infinite where none is: a search by sections."""
    count = way.possible.size
    columns = np.arange(count)
    possible = way.enough(np.full((1, count), _SHARES[0]))[0]
    # The share of number low is enough, that of number high is not.
    low = np.zeros(count, dtype=int)
    high = np.full(count, _SHARES.size)
    while (high - low).max() > 1:
        tried = low + (high - low) * _TRIED // (len(_TRIED) + 1)
        good = np.logical_and.accumulate(way.enough(_SHARES[tried]), axis=0).sum(axis=0)
        ends = np.vstack([low, tried, high])
        low = ends[good, columns]
        high = np.maximum(ends[good + 1, columns], low + 1)
    return np.where(possible, _SHARES[low], np.inf)


def _added(judge: PairJudge, pairs: tuple[StackedPairs, StackedPairs], offs: _Offs, inwards: Array) -> Array:
    """Upper bounds of the effect of corrections on the products of multipliers and slacks, divided by w."""
    first, last = pairs
    z = np.stack([first.z, last.z])
    z_radius = np.stack([first.z_radius, last.z_radius])
    added, less = _largest_products(z, z_radius, offs)
    if first.inside is None or last.inside is None:
        return np.where(inwards == 0.0, added, np.inf)
    begin, end = first.inside, last.inside
    way = np.abs(end.x - begin.x) * (1 + 4 * _EPS)
    way = way + end.x_radius + begin.x_radius
    gained = judge.A.sizes.gained(last.t - first.t, way) * WIDER
    largest_z = (np.abs(z) + z_radius).max(axis=0)
    bent = 0.25 * dot(largest_z, gained) * WIDER
    deep, _ = _largest_products(z, z_radius, [(begin.s, begin.s_radius), (end.s, end.s_radius)])
    more = np.maximum(deep, 0.0) + bent + 0.25 * np.maximum(0.0, less)
    possible = np.isfinite(inwards)
    share = np.where(possible, inwards, 0.0)
    return np.where(possible, added + share * more * WIDER, np.inf)


def _largest_products(z: Array, z_radius: Array, ends: _Offs) -> tuple[Array, Array]:
    """Largest products of interpolated multipliers with a vector between two ends, and with the negative of it."""
    vectors, radii = (np.stack(each)[:, None] for each in zip(*ends, strict=True))
    absolute = np.abs(z)
    size = np.abs(vectors)
    product = dot(z, vectors)
    rounding = (z.shape[-1] + 2) * _EPS * dot(absolute, size)
    off = dot(absolute, radii) + dot(z_radius, size + radii)
    off = rounding + off * WIDER
    return _largest_coefficient(product + off), _largest_coefficient(off - product)


def _largest_coefficient(corners: Array) -> Array:
    """The largest Bernstein coefficient of a product of two affine functions, from all products of their ends."""
    middle = 0.5 * (corners[1, 0] + corners[0, 1])
    return np.asarray(np.maximum(np.maximum(corners[0, 0], middle), corners[1, 1]))


def _bend_multipliers(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> tuple[Array, Array]:
    """Bounds on the stationarity that is missing, divided by w, after eta was added to y; and eta."""
    rho, radius = _missing_stationarity(judge, first, last)
    eta = np.zeros(rho.shape)
    if not judge.P.none and rho.any() and not judge.wide.any():
        eta = _solved(judge, 0.5 * (first.t + last.t), rho)
    left = np.zeros(rho.shape)
    ts = first.t, last.t
    products_eta = judge.P.at_each(ts, eta)
    products_size = judge.P.sizes.at_each(ts, np.abs(eta))
    for product, sizes in zip(products_eta, products_size, strict=True):
        rounding = judge.column_terms * _EPS * (np.abs(rho) + sizes)
        left = np.maximum(left, np.abs(rho - product) + radius + rounding)
    return np.where(judge.wide, 0.0, left), eta


def _missing_stationarity(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> tuple[Array, Array]:
    """Stationarity that interpolated multipliers miss, divided by w, and a radius."""
    length = last.t - first.t
    y_radius = difference_radius(last.y, last.y_radius, first.y, first.y_radius)
    z_radius = difference_radius(last.z, last.z_radius, first.z, first.z_radius)
    rho = np.zeros(first.y.shape)
    radius = np.zeros(first.y.shape)
    of_y = judge.P, last.y - first.y, y_radius
    of_z = judge.A.back, last.z - first.z, z_radius
    for moving, difference, around in (of_y, of_z):
        if moving.speed is not None:
            rho += moving.gained(length, difference)
            radius += moving.sizes.gained(length, around) * WIDER
            radius += moving.gained_rounding(length, difference)
    return rho, radius


def _solved(judge: PairJudge, t: Array, rho: Array) -> Array:
    """Approximate the shortest solutions of ``P(t) eta = rho``, a row for each t."""
    curved = judge.curved
    constant, change = judge.curvature
    found = np.zeros(rho.shape)
    if judge.P.speed is None:
        found[:, curved] = times(judge.inverse, rho[:, curved])
    else:
        for row, at in enumerate(t.tolist()):
            inverted = inverse(constant + at * change)
            found[row, curved] = inverted @ rho[row, curved]
    return np.where(np.isfinite(found), found, 0.0)


def _absorbing(judge: PairJudge, first: StackedPairs, last: StackedPairs, delta: Array) -> Array:
    """Least-squares solutions v of ``Av = delta``, in which rows of small slack weigh most.

    Each cone is measured by a root of its own at the slacks half way between both pairs.
    """
    cones = judge.line.base.grouped
    middle = 0.5 * (first.t + last.t)
    floor = _TIGHT * np.abs(delta).max(axis=1, keepdims=True)
    floor = np.where(floor > 0.0, floor, 1.0)
    slacks = 0.5 * (first.s + last.s) + floor * interior(cones)
    roots = _roots(cones, slacks, floor)
    constant, change = judge.A.arrays
    found = np.zeros(first.x.shape)
    at_once = max(1, _AT_ONCE // constant.size)
    for begin in range(0, len(middle), at_once):
        part = slice(begin, begin + at_once)
        systems = constant + middle[part, None, None] * change
        goals = delta[part].copy()
        for each, root in zip(cones.alike, roots, strict=True):
            _weigh(systems, goals, each.rows, root[part])
        found[part] = [_least_squares(*each) for each in zip(systems, goals, strict=True)]
    return found


def _weigh(systems: Array, goals: Array, rows: Any, roots: Array) -> None:
    """Multiply the rows of alike cones, in matrices and right-hand sides, by their roots, in place."""
    if roots.ndim == 3:  # a number for each row
        systems[:, rows.ravel()] *= roots.reshape(len(roots), -1, 1)
        goals[:, rows] *= roots
    else:  # a matrix for each cone
        systems[:, rows] = roots @ systems[:, rows]
        goals[:, rows] = (roots @ goals[:, rows][..., None])[..., 0]


def _least_squares(system: Array, goal: Array) -> Array:
    """Least-squares solution by the normal equations of scaled columns, corrected a few times; 0 where they fail."""
    norm = np.sqrt((system * system).sum(axis=0))
    scale = 1.0 / np.where(norm > 0.0, norm, 1.0)
    scaled = system * scale
    solution = np.zeros(scale.size)
    gram = scaled.T @ scaled
    gram[np.diag_indices(scale.size)] += _RIDGE
    try:
        factor = la.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return solution
    for _ in range(_CORRECTED):
        residual = goal - scaled @ solution
        solution = solution + la.cho_solve(factor, scaled.T @ residual, check_finite=False)
    return np.where(np.isfinite(solution), scale * solution, 0.0)


def _roots(cones: Cones, slacks: Array, floor: Array) -> list[Array]:
    """Weights of the rows of alike cones, group by group: numbers, or symmetric matrices."""
    roots = []
    for each in cones.alike:
        count = len(each.rows)
        root_of = _ROOTS.get(each.kind, _root_plain)
        root = root_of(each.taken(slacks), each.order, np.repeat(floor, count, axis=0))
        roots.append(root.reshape(len(slacks), count, *root.shape[1:]))
    return roots


def _root_zero(slacks: Array, order: int, floor: Array) -> Array:
    """Weights of equations."""
    return np.broadcast_to(1.0 / floor, slacks.shape)


def _root_nonnegative(slacks: Array, order: int, floor: Array) -> Array:
    """Weights of inequalities: one over their slacks."""
    return np.asarray(1.0 / np.maximum(slacks, floor))


def _root_second_order(slacks: Array, order: int, floor: Array) -> Array:
    """Weights of second-order cones.

    Along the inner normal one over the slack, across it one over the geometric mean of that and of the size.
    """
    least = floor[:, 0]
    length = np.linalg.norm(slacks[:, 1:], axis=1)
    slack = np.maximum(slacks[:, 0] - length, least)
    outwards = -slacks[:, 1:] / np.maximum(length, least)[:, None]
    normal = np.column_stack([np.ones(len(slacks)), outwards]) / np.sqrt(2.0)
    across = 1.0 / np.sqrt(slack * np.maximum(slacks[:, 0], slack))
    along = (1.0 / slack - across)[:, None, None] * normal[:, :, None] * normal[:, None, :]
    return np.asarray(across[:, None, None] * np.eye(order) + along)


def _root_psd(slacks: Array, order: int, floor: Array) -> Array:
    """Matrices of the map ``X -> S^(-1/2) X S^(-1/2)`` on the vectors of symmetric matrices."""
    values, vectors = np.linalg.eigh(matrix(slacks, order))
    scaled = vectors / np.sqrt(np.maximum(values, floor))[:, None, :]
    roots = scaled @ np.swapaxes(vectors, 1, 2)
    units = matrix(np.eye(slacks.shape[1]), order)
    return np.stack([vector(root @ units @ root).T for root in roots])


def _root_plain(slacks: Array, order: int, floor: Array) -> Array:
    """Weights of other cones, alike in all directions: one over the size of their slacks."""
    size = np.abs(slacks).max(axis=1, keepdims=True)
    return np.broadcast_to(1.0 / (floor + _TIGHT * size), slacks.shape)


_ROOTS = {
    "zero": _root_zero,
    "nonnegative": _root_nonnegative,
    "second-order": _root_second_order,
    "psd": _root_psd,
}


def _objectives(judge: PairJudge, first: StackedPairs, last: StackedPairs, moved: Array) -> tuple[Array, Array]:
    """Lower and upper bounds of the objective on each piece: those of a cubic, and of the effect of corrections.

    At interpolated points the objective is a cubic in u, which is between its Bernstein coefficients.
    """
    ts = first.t, last.t
    radius = first.x_radius + last.x_radius
    size = np.abs(first.x) + np.abs(last.x)
    quadratic, sizes = judge.P, judge.P.sizes
    of_points = quadratic.at_each(ts, first.x), quadratic.at_each(ts, last.x)
    of_sizes = [sizes.at_each(ts, each) for each in (size, radius, moved)]
    values = _values_at_ends(judge, first, last)
    cubic = []
    steepest = np.zeros(first.x.shape)
    bent = np.zeros(len(first.t))
    for i, at in enumerate(ts):
        product_first, product_last = (each[i] for each in of_points)
        product_size, product_radius, product_moved = (each[i] for each in of_sizes)
        costs = mixed(judge.line.q, at)
        slope = product_size + product_radius + mixed(np.abs(judge.line.q), at)
        # The objective of both points together: its bilinear form.
        bilinear = dot(first.x, product_last) + dot(costs, first.x + last.x)
        middle = 0.5 * bilinear
        middle = middle + mixed(judge.line.constant[:, None], at)[:, 0]
        middle_off = dot(slope, radius) * WIDER + _objective_rounding(judge, dot(slope, size))
        # Two of its coefficients: the point of this t, here; and the mean of both points here, twice, and it elsewhere.
        here, elsewhere = values[i][i], values[1 - i][i]
        cubic += [here, _third((middle, middle_off), elsewhere)]
        gradients = np.abs(product_first + costs), np.abs(product_last + costs)
        steepest = np.maximum(steepest, np.maximum(*gradients) + product_radius)
        steepest = steepest + judge.column_terms * _EPS * slope
        bent = np.maximum(bent, dot(moved, product_moved))
    extra = (0.25 * dot(moved, steepest) + bent / 32) * WIDER
    low = np.min([value - off for value, off in cubic], axis=0)
    high = np.max([value + off for value, off in cubic], axis=0)
    return low - extra, high + extra


def _values_at_ends(judge: PairJudge, first: StackedPairs, last: StackedPairs) -> list[list[tuple[Array, Array]]]:
    """Objectives at both t (outer list) of the points of both pairs (inner list), and how far off each is."""
    ts = np.repeat([first.t, last.t], 2, axis=0).ravel()
    points = np.concatenate([first.x, last.x] * 2)
    radii = np.concatenate([first.x_radius, last.x_radius] * 2)
    value, off = (each.reshape(2, 2, -1) for each in judge.values(ts, points, radii))
    return [[(value[i, k], off[i, k]) for k in range(2)] for i in range(2)]


def _objective_rounding(judge: PairJudge, terms: Array) -> Array:
    """Bound on the rounding of an objective whose terms, without the constant, have this sum of sizes."""
    count = judge.line.n + int(judge.column_terms.max(initial=0))
    constants = float(np.abs(judge.line.constant).sum())
    return np.asarray(4 * count * _EPS * (terms + constants))


def _third(twice: tuple[Array, Array], once: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two thirds of one enclosed number and one third of another."""
    value, off = ((2 * double + single) / 3 for double, single in zip(twice, once, strict=True))
    rounding = 4 * _EPS * (np.abs(twice[0]) + np.abs(once[0]))
    return value, off + rounding
