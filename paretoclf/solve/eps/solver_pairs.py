"""Pairs of a cone program along a line, from a solver's numbers: feasible points, multipliers that miss little.

Whatever comes out is judged by `paretoclf.proof.bands.line_judge`, which knows nothing of this. A point is moved into
its cones by mixing in a little of one that is well inside; one at each end of the line is enough, as their mixture is
inside at every t. What multipliers miss of stationarity is taken from them by the shortest step in the metric of the
cones' barriers, which hardly moves those that have little room (Dikin's ellipsoid).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.cones.cone_kinds import Alike, Cones, interior, matrix, project_dual, vector
from paretoclf.proof.cones.upper_bound import upper_bound
from paretoclf.solve.eps.interior import Inner

#: Shares of an inner point that are mixed in, until the point is inside for sure.
_MIXED = (0.0, *(float(f"{k}e-{j}") for j in range(13, 5, -1) for k in (1, 3)), 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)

#: The same of multipliers that are well inside.
_MIXED_Z = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)

#: Multipliers are moved so far into their cones, relative to 1 + their size, before stationarity is solved exactly.
_DEPTHS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)

#: The same where what is missed has a price: fewer do.
_FEWER = (0.0, 1e-9, 1e-8)

#: Largest numbers of columns for which the system of a correction is factored as an array.
_DENSE = 400

#: Entries of that system below this, on a scale on which its diagonal is 1, are none.
_NOTHING = 1e-30


def feasible(judge: ConeJudge, t: Array, x: Array, inner: Inner | None) -> Array:
    """Points with as little of inner ones as makes them feasible for sure; else moved inwards by projections."""
    best, done = x.copy(), np.zeros(t.size, dtype=bool)
    if inner is not None:
        inside, mixed = inner.each(t), np.array(_MIXED)
        low, high = np.zeros(t.size, dtype=int), np.full(t.size, mixed.size)
        while (at := np.flatnonzero(low < high)).size:
            middle = (low[at] + high[at]) // 2
            share = mixed[middle, None]
            tried = (1.0 - share) * x[at] + share * inside[at]
            fine = judge.points(t[at], tried).fine
            best[at[fine]], done[at[fine]] = tried[fine], True
            high[at], low[at] = np.where(fine, middle, high[at]), np.where(fine, low[at], middle + 1)
    for i in np.flatnonzero(~done).tolist():
        best[i] = upper_bound(judge.line.at(float(t[i])), x[i]).x
    return best


def reaches(line: ConeLine, t: float, x: Array, inner: Inner) -> bool:
    """Whether a point at t is proved feasible."""
    judge, at = ConeJudge(line, np.inf), np.array([t])
    return bool(judge.points(at, feasible(judge, at, x[None], inner)).fine[0])


def tried_multipliers(
    judge: ConeJudge, t: float, found: tuple[Array, Array], inner: Inner | None, before: int = 0
) -> Iterator[tuple[int, Array, Array]]:
    """Multipliers and their y that are worth to be judged, from a solver's numbers, each with the number of its recipe.

    The cheapest recipe comes first, but before it that of the number ``before``, which did at another t. Where the
    objective is 0 everywhere, none are as good as any, and leave no gap, of which rounding would be an infinite share.
    """
    if not between(judge.line.q, t).any() and not judge.line.matrices(t)[0].nnz:
        yield before, np.zeros(judge.line.n), np.zeros(judge.line.m)
    line, wide, (x, z) = judge.line, bool(judge.wide.any()), found
    size = 1.0 + float(np.abs(z).max(initial=0.0))
    curved = ~np.isin(line.base.kinds, ("zero", "nonnegative"))
    into = np.where(curved, interior(line.cones), 0.0)
    inside = np.zeros(0) if inner is None else inner.at(t)

    def deeper(depth: float) -> tuple[Array, Array]:
        return _stationary(line, t, x, project_dual(z + depth * size * into, line.base.grouped))

    def mixed(share: float, none: float) -> tuple[Array, Array]:
        y, both = np.split((1 - share) * np.concatenate([x, z]) + share * inside, [x.size])
        return _stationary(line, t, y, project_dual(without(line, both, none), line.base.grouped))

    recipes: list[Callable[[], tuple[Array, Array]]] = [] if wide else [lambda: (x, z)]
    recipes += [partial(deeper, depth) for depth in (_DEPTHS if wide else _FEWER)]
    if inner is not None:
        recipes += [partial(mixed, share, none) for share in _MIXED_Z for none in (1e-6, 0.0)]
    order = sorted(range(len(recipes)), key=lambda number: (number != before, number))
    for number in order:
        yield number, *recipes[number]()


def without(line: ConeLine, z: Array, share: float) -> Array:
    """Multipliers with 0 for those that are small beside the largest: all of a cone with curved faces, or none."""
    z, size = z.copy(), float(np.abs(z).max(initial=0.0))
    for each in line.base.grouped.alike:
        if each.kind == "nonnegative":
            z[each.rows] *= np.abs(z[each.rows]) > share * size
        elif each.kind != "zero":
            z[each.rows] *= np.abs(z[each.rows]).max(axis=1, keepdims=True) > share * size
    return z


def _stationary(line: ConeLine, t: float, y: Array, z: Array) -> tuple[Array, Array]:
    """The nearest multipliers that are stationary up to rounding, in the metric of the barriers; y moves with them."""
    q, (P, A) = between(line.q, t), line.matrices(t)
    bent = np.where(P.diagonal() > 0, (1.0 + np.abs(y)) ** 2, 0.0)
    metric = _metric(line.base.grouped, z)
    across = metric @ A
    normal = sp.csc_array(P @ sp.diags_array(bent) @ P + A.T @ across)
    diagonal = normal.diagonal()
    free = diagonal > np.finfo(float).tiny ** 0.5
    scale = np.where(free, 1.0 / np.sqrt(np.where(free, diagonal, 1.0)), 0.0)
    normal = sp.csc_array(sp.diags_array(scale) @ normal @ sp.diags_array(scale))
    normal.data[np.abs(normal.data) < _NOTHING] = 0.0  # numbers near the smallest double are slow
    normal = normal + sp.diags_array(np.full(line.n, 1e-15))
    solve = _factored(normal)
    if solve is None:
        return y, z
    for _ in range(3):
        step = scale * solve(scale * (P @ y + q + A.T @ z))
        if not np.isfinite(step).all():
            break
        y, z = y - bent * (P @ step), z - across @ step
    return y, z


def _factored(N: Any) -> Any:
    """Function that solves with a positive definite matrix; None where it cannot be factored."""
    try:
        if N.shape[0] > _DENSE:
            return splu(sp.csc_array(N)).solve
        factor = la.cho_factor(N.toarray())
    except (la.LinAlgError, RuntimeError):
        return None
    return partial(la.cho_solve, factor)


def _metric(cones: Cones, z: Array) -> Any:
    """Inverse Hessians of the barriers of the dual cones at z, as one sparse matrix."""
    rows, columns, values = [], [], []
    size = 1.0 + float(np.abs(z).max(initial=0.0))
    for each in cones.alike:
        H = _METRICS[each.kind](z[each.rows], each, size)
        if H.ndim == 2:
            i = j = each.rows
        else:
            i = np.broadcast_to(each.rows[:, :, None], H.shape)
            j = np.broadcast_to(each.rows[:, None, :], H.shape)
        rows.append(i.ravel())
        columns.append(j.ravel())
        values.append(H.ravel())
    places = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.concatenate(values), places), shape=(z.size, z.size))


def _of_second_order(V: Array, each: Alike, size: float) -> Array:
    """``v v' - (v'Jv / 2) J`` with J = diag(1, -1, ..., -1)."""
    J = np.append(1.0, -np.ones(each.order - 1))
    inside = np.maximum(V[:, 0] ** 2 - (V[:, 1:] ** 2).sum(axis=1), 0.0)
    return np.asarray(V[:, :, None] * V[:, None, :] - 0.5 * inside[:, None, None] * np.diag(J))


def _of_matrices(V: Array, each: Alike, size: float) -> Array:
    """``S -> Z S Z``, on the vectors that stand for symmetric matrices."""
    units = matrix(np.eye(V.shape[1]), each.order)
    Z = matrix(V, each.order)
    return np.stack([vector(one @ units @ one) for one in Z])


def _of_exponential(V: Array, each: Alike, size: float) -> Array:
    r"""Inverse Hessians of the dual exponential cone's barrier at rows u, v, w of V; 0 where a point is not inside.

    The barrier is :math:`-\log r-\log(-u)-\log w` with :math:`r=v-u-u\log(-w/u)`, and so its Hessian
    :math:`\nabla r\nabla r^\top/r^2-\nabla^2r/r+\operatorname{diag}(u^{-2},0,w^{-2})`.
    """
    u, v, w = np.minimum(V[:, 0], -1e-300), V[:, 1], np.maximum(V[:, 2], 1e-300)
    log = np.log(w) - np.log(-u)
    room = v - u - u * log
    inside = room > 0
    room = np.where(inside, room, 1.0)[:, None, None]
    gradient = np.stack([-log, np.ones_like(u), -u / w], axis=1)
    bend = np.zeros((u.size, 3, 3))
    bend[:, 0, 0] = 1 / u
    bend[:, 0, 2] = bend[:, 2, 0] = -1 / w
    bend[:, 2, 2] = u / w**2
    H = gradient[:, :, None] * gradient[:, None, :] / room**2 - bend / room
    H[:, 0, 0] += 1 / u**2
    H[:, 2, 2] += 1 / w**2
    units = np.abs(V).max(axis=1)[:, None, None] + np.finfo(float).tiny
    try:
        found = np.linalg.inv(H * units**2) * units**2
    except np.linalg.LinAlgError:
        return np.zeros_like(H)
    inside &= np.isfinite(found).all(axis=(1, 2))
    inside &= (np.diagonal(found, axis1=1, axis2=2) > 0).all(axis=1)
    return np.asarray(np.where(inside[:, None, None], found, 0.0))


def _of_power(V: Array, each: Alike, size: float) -> Array:
    """Squared steps that numbers may take: shares of their sizes, the smaller the nearer the border of the cone is."""
    a = np.stack([each.exponent, 1 - each.exponent], axis=1)
    most = np.prod((np.maximum(V[:, :2], 0.0) / a) ** a, axis=1)  # of the third number's size
    room = np.clip(1.0 - np.abs(V[:, 2]) / np.maximum(most, np.finfo(float).tiny), 0.0, 1.0)
    sizes = np.abs(V)
    sizes = np.maximum(sizes, 1e-3 * sizes.max(axis=1)[:, None])
    return np.asarray((0.3 * room[:, None] * sizes) ** 2)


_METRICS = {
    "zero": lambda V, each, size: np.full_like(V, size**2),
    "nonnegative": lambda V, each, size: V**2,
    "second-order": _of_second_order,
    "psd": _of_matrices,
    "exponential": _of_exponential,
    "power": _of_power,
}
