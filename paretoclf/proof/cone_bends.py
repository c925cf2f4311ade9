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
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.cone_pair import WIDER, Matrices, Pair, PairJudge, energy, products
from paretoclf.proof.points.cones import contains, interior, matrix, vector

_EPS = float(np.finfo(float).eps)

#: Rows whose slack is small against what is missed, by this factor, weigh as much as each other.
_TIGHT = 1e-3

#: Shares of the way inwards that are tried: the largest, and by which factor each is smaller than the one before.
_LARGEST, _FINER, _SHARES = 1.0, 1.25, 200

#: Columns of no use are those below this share of the largest.
_RANK = 1e-12


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
            x = (1.0 - share) * x + share * between([each[0] for each in inside], u)
            radius = (1.0 - share) * radius + share * between([each[1] for each in inside], u)
            sizes = sizes + np.abs(inside[0][0]) + np.abs(inside[1][0])
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


def bent_piece(judge: PairJudge, k: Pair, j: Pair) -> ConePiece:
    """What is proved between two pairs of a line on which a matrix moves."""
    both = judge.matrices(k.t), judge.matrices(j.t)
    speed_P, speed_A = (speed * (j.t - k.t) for speed in judge.line.speeds)
    bend, more = _of_points(judge, (k, j), both, speed_A)
    if bend is None:
        return ConePiece(np.inf, np.inf, np.inf, -np.inf, np.inf)
    moved = np.abs(bend.v) + bend.radius
    if bend.inwards:
        moved = moved + bend.inwards * (_apart(k, j) + 0.25 * moved)
    left, eta = _of_multipliers(judge, (k, j), both, (speed_P, speed_A))
    bents = [max(energy(M, one.x - one.y, _around(one)) for M in both) for one in (k, j)]
    around = moved - np.abs(bend.v) + 4 * _EPS * (np.abs(bend.v) + np.abs(eta))
    own = max(energy(M, bend.v - eta, around) for M in both)
    reach = np.maximum(k.reach, j.reach)
    price = float(left @ reach) + float(moved @ (np.maximum(k.missed, j.missed) + 0.25 * left))
    price += float(k.missed @ j.reach + j.missed @ k.reach) + 2 * np.sqrt(max(bents) * own) + 0.25 * own
    cross = products(k, j) + products(j, k) + more + sum(bents) + price * WIDER
    low, high = _objectives(judge, (k, j), both, moved)
    first, last = (max(one.own - one.bent + bent, 0.0) for one, bent in zip((k, j), bents, strict=True))
    return ConePiece(float(first), float(last), max(float(cross), 0.0), float(low), float(high), bend)


def _around(one: Pair) -> Array:
    return np.asarray(one.x_radius + one.y_radius + 2 * _EPS * (np.abs(one.x) + np.abs(one.y)))


def _apart(k: Pair, j: Pair) -> Array:
    """How far points well inside are from those of the path at most, column by column."""
    corners = [np.abs(one.deep[0] - other.x) + one.deep[1] + other.x_radius for one in (k, j) for other in (k, j)]
    return np.asarray(np.max(corners, axis=0) * (1 + 4 * _EPS))


def _of_points(
    judge: PairJudge, pairs: tuple[Pair, Pair], both: tuple[Matrices, Matrices], speed: Any
) -> tuple[Bend | None, float]:
    """What is added to the points, and an upper bound of what that adds to the products with the slacks."""
    (k, j), line = pairs, judge.line
    n, k0 = line.n, line.equations
    if not speed.nnz:
        return Bend(np.zeros(n), np.zeros(n), 0.0), 0.0
    apart, around = j.x - k.x, j.x_radius + k.x_radius + 2 * _EPS * (np.abs(j.x) + np.abs(k.x))
    delta, sizes = speed @ apart, abs(speed)
    delta_radius = (sizes @ around) * WIDER + (np.diff(speed.indptr) + 5) * _EPS * (sizes @ np.abs(apart))
    best: tuple[float, Bend, float] | None = None
    for v in (_absorbing(judge, pairs, both, delta), np.zeros(n)):
        found = judge.direction(v)
        if found is None:
            continue
        v, radius = found
        offs = []
        for M in both:
            off = delta - M.A @ v
            off_radius = delta_radius + (M.A_sizes @ radius) * WIDER + judge.long * _EPS * (M.A_sizes @ np.abs(v))
            off_radius += 4 * _EPS * (np.abs(delta) + np.abs(off))
            off[:k0], off_radius[:k0] = 0.0, 0.0
            offs.append((off, off_radius))
        inwards = _inwards(judge, pairs, offs, speed)
        if inwards is None:
            continue
        more = _added(pairs, offs, inwards, speed)
        if best is None or more < best[0]:
            best = more, Bend(v, radius, inwards), more
    return (None, np.inf) if best is None else best[1:]


def _inwards(judge: PairJudge, pairs: tuple[Pair, Pair], offs: list[tuple[Array, Array]], speed: Any) -> float | None:
    """How much of the way to points well inside is enough, 0 where nothing is needed; None where nothing is enough."""
    cones = judge.line.base.grouped
    fine = np.zeros(len(cones), dtype=bool)
    for one in pairs:
        fine |= np.logical_and(*(contains(one.s + off, one.s_radius + radius, cones) for off, radius in offs))
    zero, (k, j) = np.array([cone.kind == "zero" for cone in cones]), pairs
    fine |= zero
    if fine.all():
        return 0.0
    if k.inside is None or j.inside is None:
        return None
    gained = speed @ (j.deep[0] - k.deep[0])
    around = abs(speed) @ (j.deep[1] + k.deep[1] + 8 * _EPS * (np.abs(j.deep[0]) + np.abs(k.deep[0])))
    if not (zero | contains(k.deep[2] + gained, (k.deep[3] + around) * WIDER, cones)).all():
        return None  # the points inside are not so between the two

    def enough(share: float) -> bool:
        for one, (off, radius), extra in ((k, offs[0], 0.0), (k, offs[0], 1.0), (j, offs[1], 0.0)):
            point = share * (one.deep[2] + extra * gained) + off
            off_by = share * (one.deep[3] + extra * around) * WIDER + radius
            off_by = off_by + 8 * _EPS * (share * (np.abs(one.deep[2]) + np.abs(gained)) + np.abs(off))
            if not (fine | contains(point, off_by, cones)).all():
                return False
        return True

    low, high = 0, _SHARES  # _LARGEST / _FINER^low is enough, that of high is not
    if not enough(_LARGEST):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(_LARGEST / _FINER**middle) else (low, middle)
    return _LARGEST / _FINER**low


def _added(pairs: tuple[Pair, Pair], offs: list[tuple[Array, Array]], inwards: float, speed: Any) -> float:
    """Upper bound of what is added to the products of multipliers and slacks, divided by w."""
    k, j = pairs

    def most(one: Pair, v: Array, radius: Array) -> float:
        z, size = np.abs(one.z), np.abs(v)
        rounding = (z.size + 2) * _EPS * float(z @ size)
        return float(one.z @ v) + rounding + float(z @ radius + one.z_radius @ (size + radius)) * WIDER

    def corners(ends: list[tuple[Array, Array]]) -> float:
        crossed = 0.5 * (most(k, *ends[1]) + most(j, *ends[0]))
        return max(most(k, *ends[0]), crossed, most(j, *ends[1]))

    added = corners(offs)
    if inwards:
        least = -corners([(-off, radius) for off, radius in offs])
        gained = abs(speed) @ (np.abs(j.deep[0] - k.deep[0]) + j.deep[1] + k.deep[1])
        bent = 0.25 * float(np.maximum(np.abs(k.z) + k.z_radius, np.abs(j.z) + j.z_radius) @ gained) * WIDER
        added += inwards * (max(corners([k.deep[2:], j.deep[2:]]), 0.0) + bent + 0.25 * max(0.0, -least)) * WIDER
    return added


def _of_multipliers(
    judge: PairJudge, pairs: tuple[Pair, Pair], both: tuple[Matrices, Matrices], speeds: tuple[Any, Any]
) -> tuple[Array, Array]:
    """What stays of the missed stationarity, divided by w, and what is added to y for the rest of it."""
    (k, j), (speed_P, speed_A) = pairs, speeds
    dy, dz = j.y - k.y, j.z - k.z
    y_around = j.y_radius + k.y_radius + 2 * _EPS * (np.abs(j.y) + np.abs(k.y))
    z_around = j.z_radius + k.z_radius + 2 * _EPS * (np.abs(j.z) + np.abs(k.z))
    rho, long = np.zeros(dy.size), 5
    radius = np.zeros(dy.size)
    for speed, apart, around in ((speed_P, dy, y_around), (sp.csr_array(speed_A.T), dz, z_around)):
        sizes = abs(speed)
        rho += speed @ apart
        radius += (sizes @ around) * WIDER + (np.diff(speed.indptr) + long) * _EPS * (sizes @ np.abs(apart))
    eta = np.zeros(dy.size)
    if both[0].P.nnz and rho.any() and not judge.wide.any():
        eta = _least(0.5 * (both[0].P + both[1].P).toarray(), rho)
    left = np.zeros(dy.size)
    for M in both:
        rest = np.abs(rho - M.P @ eta)
        left = np.maximum(left, rest + radius + judge.longer * _EPS * (np.abs(rho) + M.P_sizes @ np.abs(eta)))
    return np.where(judge.wide, 0.0, left), eta


def _least(M: Array, goal: Array) -> Array:
    """The shortest solution of ``M x = goal`` as well as can be."""
    found = la.lstsq(M, goal, cond=_RANK, lapack_driver="gelsy", check_finite=False)[0]
    return np.where(np.isfinite(found), found, 0.0)


def _absorbing(judge: PairJudge, pairs: tuple[Pair, Pair], both: tuple[Matrices, Matrices], delta: Array) -> Array:
    """A v with Av near delta where slacks are small, each cone measured from its own point."""
    cones, A = judge.line.base.grouped, 0.5 * (both[0].A + both[1].A).toarray()
    floor = _TIGHT * float(np.abs(delta).max(initial=0.0)) + np.finfo(float).tiny
    s = 0.5 * (pairs[0].s + pairs[1].s) + floor * interior(cones)
    goal = delta.copy()
    for each in cones.alike:
        R = _ROOTS.get(each.kind, _plain)(s[each.rows], each.order, floor)
        if R.ndim == 2:
            A[each.rows.ravel()] *= R.ravel()[:, None]
            goal[each.rows] *= R
        else:
            A[each.rows] = R @ A[each.rows]
            goal[each.rows] = (R @ goal[each.rows][:, :, None])[:, :, 0]
    return _least(A, goal)


def _of_zero(S: Array, order: int, floor: float) -> Array:
    return np.full(S.shape, 1.0 / floor)


def _of_nonnegative(S: Array, order: int, floor: float) -> Array:
    return 1.0 / np.maximum(S, floor)


def _of_second_order(S: Array, order: int, floor: float) -> Array:
    """Along the inner normal by what is left in the cone, across it by the mean of that and of the size."""
    length = np.linalg.norm(S[:, 1:], axis=1)
    room = np.maximum(S[:, 0] - length, floor)
    normal = np.column_stack([np.ones(len(S)), -S[:, 1:] / np.maximum(length, floor)[:, None]]) / np.sqrt(2.0)
    across = 1.0 / np.sqrt(room * np.maximum(S[:, 0], room))
    most = (1.0 / room - across)[:, None, None] * normal[:, :, None] * normal[:, None, :]
    return np.asarray(across[:, None, None] * np.eye(order if order > 1 else 1) + most)


def _of_matrices(S: Array, order: int, floor: float) -> Array:
    """``X -> S^(-1/2) X S^(-1/2)``, on the vectors that stand for symmetric matrices."""
    values, vectors = np.linalg.eigh(matrix(S, order))
    root = (vectors / np.sqrt(np.maximum(values, floor))[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    units = matrix(np.eye(S.shape[1]), order)
    return np.stack([vector(one @ units @ one).T for one in root])


def _plain(S: Array, order: int, floor: float) -> Array:
    """In all directions alike."""
    return np.broadcast_to(1.0 / (floor + _TIGHT * np.abs(S).max(axis=1, keepdims=True)), S.shape)


_ROOTS = {
    "zero": _of_zero,
    "nonnegative": _of_nonnegative,
    "second-order": _of_second_order,
    "psd": _of_matrices,
}


def _objectives(
    judge: PairJudge, pairs: tuple[Pair, Pair], both: tuple[Matrices, Matrices], moved: Array
) -> tuple[float, float]:
    """Between which numbers the objective is at the points: those of a cubic, and what the bend adds at most."""
    (k, j), line = pairs, judge.line
    rows = []
    for M, t in zip(both, (k.t, j.t), strict=True):
        q, sizes = between(line.q, t), between(np.abs(line.q), t)
        constant = between(line.constant, t)
        middle = 0.5 * float(k.x @ (M.P @ j.x) + q @ (k.x + j.x)) + constant
        slope = M.P_sizes @ (np.abs(k.x) + np.abs(j.x) + k.x_radius + j.x_radius) + sizes
        around = float(slope @ (k.x_radius + j.x_radius)) * WIDER
        terms = float(slope @ (np.abs(k.x) + np.abs(j.x))) + float(np.abs(line.constant).sum())
        off = around + 4 * (line.n + int(judge.longer.max(initial=0))) * _EPS * terms
        rows.append([judge.value(t, k.x, k.x_radius), (middle, off), judge.value(t, j.x, j.x_radius)])
    (a, b, c), (d, e, f) = rows
    cubic = [a, _third(b, d), _third(e, c), f]
    steepest = np.max(
        [
            np.abs(M.P @ one.x + between(line.q, t)) + M.P_sizes @ one.x_radius
            for M, t in zip(both, (k.t, j.t), strict=True)
            for one in (k, j)
        ],
        axis=0,
    )
    sizes = np.maximum(*(M.P_sizes @ np.maximum(np.abs(k.x), np.abs(j.x)) for M in both)) + np.abs(line.q).max(axis=0)
    steepest = steepest + judge.longer * _EPS * sizes
    extra = 0.25 * float(moved @ steepest) + max(float(moved @ (M.P_sizes @ moved)) for M in both) / 32
    low, high = min(value - off for value, off in cubic), max(value + off for value, off in cubic)
    return low - extra * WIDER, high + extra * WIDER


def _third(twice: tuple[float, float], once: tuple[float, float]) -> tuple[float, float]:
    """Two thirds of one enclosed number and one third of another."""
    value, off = ((2 * a + b) / 3 for a, b in zip(twice, once, strict=True))
    return value, off + 4 * _EPS * (abs(twice[0]) + abs(once[0]))
