r"""What is proved between two pairs of a line of cone programs where a matrix moves.

With A and P affine in u between the pairs, the linear interpolation of x misses the slacks, and that of y, z misses
stationarity, by a multiple of :math:`w=u(1-u)`:

.. math:: b-Ax(u)=s(u)+w\,\delta,\quad\delta=dA\,dx,\qquad Py(u)+q+A^\top z(u)=r(u)-w\rho,\quad\rho=dA^\top dz+dP\,dy.

*Points.* x(u) + w v with :math:`Av\approx\delta` leaves :math:`o(u)=\delta-A(u)v`, which is affine in u: s(u) + w o(u)
is in a cone for every u where :math:`s_k+o_k` and :math:`s_k+o_j` are, or :math:`s_j+o_k` and :math:`s_j+o_j`. What
still leaves its cone is taken back by a share :math:`wT` of the way to points well inside, of slacks :math:`s^0`: that
is enough if :math:`Ts^0_k+o_k`, the same with :math:`T\,dA\,dx^0` more, and :math:`Ts^0_j+o_j` are in the cone.

*Multipliers.* y(u) + w eta with :math:`P\eta\approx\rho` leaves :math:`\rho-P(u)\eta`, affine in u, which costs its
product with the distance to the corners of the box.

All of that goes into the coefficient c of the piece, as w times a number:

.. math:: \text{gap}(u)=\tfrac12e^\top Pe+z^\top s+r^\top(x-x^*),\qquad e=x-y .

v and eta are found in doubles, by least squares; whatever they are, what they leave is enclosed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.program import between
from paretoclf.proof.cone_pair import WIDER, Near, Pair, PairJudge, StackedPairs, products
from paretoclf.proof.cone_rows import dot, inverse, mixed
from paretoclf.proof.points.cones import contains, interior, matrix, vector
from paretoclf.proof.points.enclosure import times

_EPS = float(np.finfo(float).eps)

#: Rows whose slack is small against what is missed, by this factor, weigh as much as each other.
_TIGHT = 1e-3

#: Shares of the way inwards that are tried.
_SHARES = 1.25 ** -np.arange(200.0)

#: What makes the normal equations of columns of length 1 solvable, and how often their solution is corrected.
_RIDGE, _CORRECTED = 1e-12, 3

#: Entries of matrices that are made at once.
_AT_ONCE = 2**21

#: So many are tried at once, between one that is enough and one that is not.
_TRIED = np.arange(1, 6)[:, None]


@dataclass(frozen=True)
class Bend:
    """What is added to the point between two pairs where A moves.

    At a share u of the way from x to the next x, with w = u (1 - u): ``w v``, and then a share ``w inwards`` of the way
    to a point well inside.
    """

    v: Array
    radius: Array
    inwards: float

    def at(self, k: Pair, j: Pair, u: float) -> tuple[Array, Array]:
        """The point, and how far an exactly feasible one is at most."""
        w = u * (1.0 - u)
        x, radius = between((k.x, j.x), u) + w * self.v, between((k.x_radius, j.x_radius), u) + w * self.radius
        sizes = np.abs(k.x) + np.abs(j.x) + np.abs(self.v)
        if self.inwards and k.inside is not None and j.inside is not None:
            share, inside = w * self.inwards, (k.inside, j.inside)
            x = (1.0 - share) * x + share * between([each.x for each in inside], u)
            radius = (1.0 - share) * radius + share * between([each.x_radius for each in inside], u)
            sizes = sizes + np.abs(inside[0].x) + np.abs(inside[1].x)
        return x, radius * WIDER + 16 * _EPS * sizes


@dataclass(frozen=True)
class ConePiece:
    """Between two pairs: ``gap(u) <= (1-u)^2 a + u^2 b + u(1-u) c``, and objectives from ``low`` to ``high``.

    Where a matrix moves, ``bend`` is what is added to the point between them.
    """

    a: float
    b: float
    c: float
    low: float
    high: float
    bend: Bend | None = None

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


#: Of a pair that is not proved.
NOTHING = ConePiece(np.inf, np.inf, np.inf, -np.inf, np.inf)


def bent_pieces(judge: PairJudge, k: StackedPairs, j: StackedPairs) -> list[ConePiece]:
    """What is proved between each two pairs of a line on which a matrix moves."""
    bend, more = _of_points(judge, k, j)
    size, moved = np.abs(bend.v), np.abs(bend.v) + bend.radius
    if k.inside is not None and j.inside is not None:
        moved = moved + bend.inwards[:, None] * (_apart(k, j) + 0.25 * moved)
    left, eta = _of_multipliers(judge, k, j)
    around = moved - size + 4 * _EPS * (size + np.abs(eta))
    apart = np.concatenate([*[k.x - k.y] * 2, *[j.x - j.y] * 2, *[bend.v - eta] * 2])
    arounds = np.concatenate([*[_around(k)] * 2, *[_around(j)] * 2, *[around] * 2])
    energies = judge.energy(np.concatenate([k.t, j.t] * 3), apart, arounds).reshape(3, 2, -1).max(axis=1)
    first, last, own = energies
    price = dot(left, np.maximum(k.reach, j.reach)) + dot(moved, np.maximum(k.missed, j.missed) + 0.25 * left)
    price += dot(k.missed, j.reach) + dot(j.missed, k.reach)
    price += 2 * np.sqrt(np.maximum(first, last) * own) + 0.25 * own
    cross = products(k, j) + products(j, k) + more + first + last + price * WIDER
    low, high = _objectives(judge, k, j, moved)
    a, b = k.own - k.bent + first, j.own - j.bent + last
    rows: Any = np.stack([*(np.maximum(each, 0.0) for each in (a, b, cross)), low, high], axis=1).tolist()
    fine, inwards = np.isfinite(more).tolist(), bend.inwards.tolist()
    return [
        ConePiece(*(*numbers, Bend(bend.v[i], bend.radius[i], inwards[i]))) if fine[i] else NOTHING
        for i, numbers in enumerate(rows)
    ]


@dataclass(frozen=True)
class _Bends:
    """Bends one above the other."""

    v: Array
    radius: Array
    inwards: Array


def _around(one: StackedPairs) -> Array:
    return np.asarray(one.x_radius + one.y_radius + 2 * _EPS * (np.abs(one.x) + np.abs(one.y)))


def _deep(one: StackedPairs) -> Near:
    """The points well inside, where there are some."""
    assert one.inside is not None
    return one.inside


def _apart(k: StackedPairs, j: StackedPairs) -> Array:
    """How far points well inside are from those of the path at most, column by column."""
    corners = [
        np.abs(_deep(one).x - other.x) + _deep(one).x_radius + other.x_radius for one in (k, j) for other in (k, j)
    ]
    return np.asarray(np.max(corners, axis=0) * (1 + 4 * _EPS))


def _of_points(judge: PairJudge, k: StackedPairs, j: StackedPairs) -> tuple[_Bends, Array]:
    """What is added to the points, and upper bounds of what that adds to the products with the slacks.

    Infinite where nothing is proved. Two v are tried for each piece: one that absorbs what is missed, and none.
    """
    none, A, h = np.zeros(k.x.shape), judge.A, j.t - k.t
    count = len(h)
    if A.speed is None:
        return _Bends(none, none, np.zeros(count)), np.zeros(count)
    apart, around = j.x - k.x, j.x_radius + k.x_radius + 2 * _EPS * (np.abs(j.x) + np.abs(k.x))
    delta = A.gained(h, apart)
    delta_radius = A.sizes.gained(h, around) * WIDER + (A.gains + 6) * _EPS * A.sizes.gained(h, np.abs(apart))
    v, radius, fine = judge.directions(np.concatenate([_absorbing(judge, k, j, delta), none]))
    twice = np.tile(np.arange(count), 2)
    k, j, delta, delta_radius = k.taken(twice), j.taken(twice), delta[twice], delta_radius[twice]
    ts = k.t, j.t
    products_of = zip(A.at_each(ts, v), A.sizes.at_each(ts, radius), A.sizes.at_each(ts, np.abs(v)), strict=True)
    offs = []
    for product, of_radius, of_sizes in products_of:
        off = delta - product
        off_radius = delta_radius + of_radius * WIDER + judge.long * _EPS * of_sizes
        off_radius += 4 * _EPS * (np.abs(delta) + np.abs(off))
        off[:, : judge.line.equations], off_radius[:, : judge.line.equations] = 0.0, 0.0
        offs.append((off, off_radius))
    inwards = _inwards(judge, (k, j), offs)
    more = np.where(fine, _added(judge, (k, j), offs, inwards), np.inf)
    better = np.arange(count) + np.where(more[:count] <= more[count:], 0, count)
    more = more[better]
    inwards = np.where(np.isfinite(more), inwards[better], 0.0)
    return _Bends(v[better], radius[better], inwards), more


#: Both ends of what v leaves, each with its radius.
_Offs = list[tuple[Array, Array]]


def _inwards(judge: PairJudge, pairs: tuple[StackedPairs, StackedPairs], offs: _Offs) -> Array:
    """How much of the way to points well inside is enough, 0 where nothing is needed; infinite where nothing is."""
    cones, (k, j) = judge.line.base.grouped, pairs
    zero = np.array([cone.kind == "zero" for cone in cones])
    points = np.concatenate([one.s + off for one in pairs for off, _ in offs])
    radii = np.concatenate([one.s_radius + radius for one in pairs for _, radius in offs])
    fine = zero | contains(points, radii, cones).reshape(2, 2, len(k.t), -1).all(axis=1).any(axis=0)
    found = np.where(fine.all(axis=1), 0.0, np.inf)
    if k.inside is None or j.inside is None:
        return found
    at = np.flatnonzero((found > 0) & k.inside.fine & j.inside.fine)
    if not at.size:
        return found
    first, last, h, fine = k.inside.taken(at), j.inside.taken(at), (j.t - k.t)[at], fine[at]
    sizes = judge.A.sizes
    gained = judge.A.gained(h, last.x - first.x)
    around = sizes.gained(h, last.x_radius + first.x_radius + 8 * _EPS * (np.abs(last.x) + np.abs(first.x)))
    around += (judge.A.gains + 6) * _EPS * sizes.gained(h, np.abs(last.x - first.x))
    possible = (zero | contains(first.s + gained, (first.s_radius + around) * WIDER, cones)).all(axis=1)
    begin, end = ([each[at] for each in one] for one in offs)
    corners = [
        (first.s, first.s_radius, np.abs(first.s), *begin),
        (first.s + gained, first.s_radius + around, np.abs(first.s) + np.abs(gained), *begin),
        (last.s, last.s_radius, np.abs(last.s), *end),
    ]
    s, s_radius, size, off, radius = (np.stack(each) for each in zip(*corners, strict=True))

    def enough(share: Array) -> Mask:
        """Whether it is, for several shares of each."""
        many = share[:, None, :, None]
        point = many * s + off
        off_by = many * s_radius * WIDER + radius + 8 * _EPS * (many * size + np.abs(off))
        inside = contains(point.reshape(-1, s.shape[-1]), off_by.reshape(-1, s.shape[-1]), cones)
        return np.asarray((fine | inside.reshape(*point.shape[:-1], -1)).all(axis=(1, 3)) & possible)

    possible = enough(np.full((1, at.size), _SHARES[0]))[0]
    low, high = np.zeros(at.size, dtype=int), np.full(at.size, _SHARES.size)  # the share of low is enough, of high not
    while (high - low).max() > 1:
        tried = low + (high - low) * _TRIED // (len(_TRIED) + 1)
        good = np.logical_and.accumulate(enough(_SHARES[tried]), axis=0).sum(axis=0)
        low, high = (np.vstack([low, tried, high])[good + k, np.arange(at.size)] for k in (0, 1))
        high = np.maximum(high, low + 1)
    found[at] = np.where(possible, _SHARES[low], np.inf)
    return found


def _added(judge: PairJudge, pairs: tuple[StackedPairs, StackedPairs], offs: _Offs, inwards: Array) -> Array:
    """Upper bounds of what is added to the products of multipliers and slacks, divided by w."""
    k, j = pairs
    z, z_radius = np.stack([k.z, j.z]), np.stack([k.z_radius, j.z_radius])
    absolute = np.abs(z)

    def most(ends: _Offs) -> tuple[Array, Array]:
        """The largest product with what is between two ends, and with minus that."""
        v, radius = (np.stack(each)[:, None] for each in zip(*ends, strict=True))
        size, product = np.abs(v), dot(z, v)
        off = (z.shape[-1] + 2) * _EPS * dot(absolute, size) + (
            dot(absolute, radius) + dot(z_radius, size + radius)
        ) * WIDER
        above, below = product + off, off - product
        return tuple(
            np.maximum(np.maximum(each[0, 0], 0.5 * (each[1, 0] + each[0, 1])), each[1, 1]) for each in (above, below)
        )

    added, less = most(offs)
    if k.inside is None or j.inside is None:
        return np.where(inwards == 0.0, added, np.inf)
    way = np.abs(j.inside.x - k.inside.x) * (1 + 4 * _EPS) + j.inside.x_radius + k.inside.x_radius
    gained = judge.A.sizes.gained(j.t - k.t, way) * WIDER
    bent = 0.25 * dot((absolute + z_radius).max(axis=0), gained) * WIDER
    deep, _ = most([(each.s, each.s_radius) for each in (k.inside, j.inside)])
    more = np.maximum(deep, 0.0) + bent + 0.25 * np.maximum(0.0, less)
    possible = np.isfinite(inwards)
    share = np.where(possible, inwards, 0.0)
    return np.where(possible, added + share * more * WIDER, np.inf)


def _of_multipliers(judge: PairJudge, k: StackedPairs, j: StackedPairs) -> tuple[Array, Array]:
    """What stays of the missed stationarity, divided by w, and what is added to y for the rest of it."""
    dy, dz, h = j.y - k.y, j.z - k.z, j.t - k.t
    y_around = j.y_radius + k.y_radius + 2 * _EPS * (np.abs(j.y) + np.abs(k.y))
    z_around = j.z_radius + k.z_radius + 2 * _EPS * (np.abs(j.z) + np.abs(k.z))
    rho, radius = np.zeros(dy.shape), np.zeros(dy.shape)
    for M, apart, around in ((judge.P, dy, y_around), (judge.A.back, dz, z_around)):
        if M.speed is not None:
            rho += M.gained(h, apart)
            radius += M.sizes.gained(h, around) * WIDER
            radius += (M.gains + 6) * _EPS * M.sizes.gained(h, np.abs(apart))
    eta = np.zeros(dy.shape)
    if not judge.P.none and rho.any() and not judge.wide.any():
        eta = _solved(judge, 0.5 * (k.t + j.t), rho)
    left = np.zeros(dy.shape)
    ts = k.t, j.t
    for product, sizes in zip(judge.P.at_each(ts, eta), judge.P.sizes.at_each(ts, np.abs(eta)), strict=True):
        rest = np.abs(rho - product) + radius + judge.longer * _EPS * (np.abs(rho) + sizes)
        left = np.maximum(left, rest)
    return np.where(judge.wide, 0.0, left), eta


def _solved(judge: PairJudge, t: Array, rho: Array) -> Array:
    """The shortest solutions of ``P(t) eta = rho`` as well as can be."""
    at, (still, moves) = judge.curved, judge.curvature
    found = np.zeros(rho.shape)
    if judge.P.speed is None:
        found[:, at] = times(judge.inverse, rho[:, at])
    else:
        found[:, at] = [inverse(still + each * moves) @ rho[i, at] for i, each in enumerate(t.tolist())]
    return np.where(np.isfinite(found), found, 0.0)


def _absorbing(judge: PairJudge, k: StackedPairs, j: StackedPairs, delta: Array) -> Array:
    """Rows v with Av near delta where slacks are small, each cone measured from its own point."""
    cones, t = judge.line.base.grouped, 0.5 * (k.t + j.t)
    floor = _TIGHT * np.abs(delta).max(axis=1, keepdims=True)
    floor = np.where(floor > 0.0, floor, 1.0)
    s, count = 0.5 * (k.s + j.s) + floor * interior(cones), len(t)
    roots = []
    for each in cones.alike:
        root = _ROOTS.get(each.kind, _plain)(each.taken(s), each.order, np.repeat(floor, len(each.rows), axis=0))
        roots.append(root.reshape(count, len(each.rows), *root.shape[1:]))
    (still, speed), found = judge.A.arrays, np.zeros(k.x.shape)
    at_once = max(1, _AT_ONCE // still.size)
    for part in (slice(first, first + at_once) for first in range(0, count, at_once)):
        A, goal = still + t[part, None, None] * speed, delta[part].copy()
        for each, root in zip(cones.alike, roots, strict=True):
            R, rows = root[part], each.rows
            if R.ndim == 3:
                A[:, rows.ravel()] *= R.reshape(len(R), -1, 1)
                goal[:, rows] *= R
            else:
                A[:, rows] = R @ A[:, rows]
                goal[:, rows] = (R @ goal[:, rows][..., None])[..., 0]
        found[part] = [_least(*each) for each in zip(A, goal, strict=True)]
    return found


def _least(M: Array, goal: Array) -> Array:
    """Least squares of ``M x = goal``: by normal equations, corrected."""
    norm = np.sqrt((M * M).sum(axis=0))
    scale = 1.0 / np.where(norm > 0.0, norm, 1.0)
    M, x = M * scale, np.zeros(scale.size)
    gram = M.T @ M
    gram[np.diag_indices(scale.size)] += _RIDGE
    try:
        factor = la.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return x
    for _ in range(_CORRECTED):
        x = x + la.cho_solve(factor, M.T @ (goal - M @ x), check_finite=False)
    return np.where(np.isfinite(x), scale * x, 0.0)


def _of_zero(S: Array, order: int, floor: Array) -> Array:
    return np.broadcast_to(1.0 / floor, S.shape)


def _of_nonnegative(S: Array, order: int, floor: Array) -> Array:
    return np.asarray(1.0 / np.maximum(S, floor))


def _of_second_order(S: Array, order: int, floor: Array) -> Array:
    """Along the inner normal by what is left in the cone, across it by the mean of that and of the size."""
    length, floor = np.linalg.norm(S[:, 1:], axis=1), floor[:, 0]
    room = np.maximum(S[:, 0] - length, floor)
    normal = np.column_stack([np.ones(len(S)), -S[:, 1:] / np.maximum(length, floor)[:, None]]) / np.sqrt(2.0)
    across = 1.0 / np.sqrt(room * np.maximum(S[:, 0], room))
    most = (1.0 / room - across)[:, None, None] * normal[:, :, None] * normal[:, None, :]
    return np.asarray(across[:, None, None] * np.eye(order if order > 1 else 1) + most)


def _of_matrices(S: Array, order: int, floor: Array) -> Array:
    """``X -> S^(-1/2) X S^(-1/2)``, on the vectors that stand for symmetric matrices."""
    values, vectors = np.linalg.eigh(matrix(S, order))
    root = (vectors / np.sqrt(np.maximum(values, floor))[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    units = matrix(np.eye(S.shape[1]), order)
    return np.stack([vector(one @ units @ one).T for one in root])


def _plain(S: Array, order: int, floor: Array) -> Array:
    """In all directions alike."""
    return np.broadcast_to(1.0 / (floor + _TIGHT * np.abs(S).max(axis=1, keepdims=True)), S.shape)


_ROOTS = {
    "zero": _of_zero,
    "nonnegative": _of_nonnegative,
    "second-order": _of_second_order,
    "psd": _of_matrices,
}


def _objectives(judge: PairJudge, k: StackedPairs, j: StackedPairs, moved: Array) -> tuple[Array, Array]:
    """Between which numbers the objective is at the points: those of a cubic, and what the bend adds at most."""
    line, ts = judge.line, (k.t, j.t)
    x, radius = np.concatenate([k.x, j.x] * 2), np.concatenate([k.x_radius, j.x_radius] * 2)
    value, off = (each.reshape(2, 2, -1) for each in judge.values(np.repeat([k.t, j.t], 2, axis=0).ravel(), x, radius))
    around, size = k.x_radius + j.x_radius, np.abs(k.x) + np.abs(j.x)
    steepest, bent, cubic = np.zeros(k.x.shape), np.zeros(len(k.t)), []
    P, sizes = judge.P, judge.P.sizes
    ends = [P.at_each(ts, k.x), P.at_each(ts, j.x), *(sizes.at_each(ts, each) for each in (size, around, moved))]
    for i, (t, first, last, of_size, of_around, of_moved) in enumerate(zip(ts, *ends, strict=True)):
        q, slope = mixed(line.q, t), of_size + of_around + mixed(np.abs(line.q), t)
        middle = 0.5 * (dot(k.x, last) + dot(q, k.x + j.x)) + mixed(line.constant[:, None], t)[:, 0]
        terms = dot(slope, size) + float(np.abs(line.constant).sum())
        middle_off = dot(slope, around) * WIDER + 4 * (line.n + int(judge.longer.max(initial=0))) * _EPS * terms
        cubic += [(value[i, i], off[i, i]), _third((middle, middle_off), (value[1 - i, i], off[1 - i, i]))]
        steepest = np.maximum(steepest, np.maximum(np.abs(first + q), np.abs(last + q)) + of_around)
        steepest = steepest + judge.longer * _EPS * slope
        bent = np.maximum(bent, dot(moved, of_moved))
    extra = (0.25 * dot(moved, steepest) + bent / 32) * WIDER
    low, high = np.min([v - off for v, off in cubic], axis=0), np.max([v + off for v, off in cubic], axis=0)
    return low - extra, high + extra


def _third(twice: tuple[Array, Array], once: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two thirds of one enclosed number and one third of another."""
    value, off = ((2 * a + b) / 3 for a, b in zip(twice, once, strict=True))
    return value, off + 4 * _EPS * (np.abs(twice[0]) + np.abs(once[0]))
