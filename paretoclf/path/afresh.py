"""The beginning of an epoch on the fast road: solution, rate and margins from the basis alone, and whom to watch."""

from __future__ import annotations

import math

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.path import extended, factor
from paretoclf.path.events import LEFT, MARGIN, RIGHT
from paretoclf.path.jit import compiled
from paretoclf.path.layout import (
    ALL_DG,
    ALL_G,
    BASE_0,
    BASE_1,
    CAP_DG,
    CAP_RATE,
    DA,
    DETA,
    DG,
    DW,
    DW_CAP,
    ETA,
    FIRST_DG,
    FIRST_G,
    KAPPA,
    KAPPA_NEAR,
    NEAR,
    P_LO,
    REACH,
    SIDE,
    SIGN,
    SPREAD,
    WHERE,
    A,
    G,
    P,
    W,
)
from paretoclf.path.quadratic import DENSE, GRAM, Rows
from paretoclf.path.refine import solve_small
from paretoclf.path.vectors import add_rows, add_rows_thrice, add_rows_twice, copy, dot, fill
from paretoclf.tolerances import FAST_PIVOT, ROUNDING


@compiled(internal=True)
def add_sample(Q: Rows, i: int, scale: float, w: Array) -> None:
    """``w += scale z_i``."""
    if Q.kind == DENSE:
        z = Q.tall[i]
        for c in range(z.shape[0]):
            w[c] += scale * z[c]
    else:
        columns, values = Q.columns, Q.values
        for c in range(Q.ptr[i], Q.ptr[i + 1]):
            w[columns[c]] += scale * values[c]


@compiled(internal=True)
def times(Q: Rows, i: int, w: Array) -> float:
    """``z_i . w``."""
    if Q.kind == DENSE:
        return float(dot(Q.tall[i], w))
    s, columns, values = 0.0, Q.columns, Q.values
    for c in range(Q.ptr[i], Q.ptr[i + 1]):
        s += values[c] * w[columns[c]]
    return s


@compiled(internal=True)
def schur(k: int, index: Index, kappa: Array, group: Index, U: Array, S: Array) -> None:
    """``A_F U'``."""
    for h in range(S.shape[0]):
        fill(S[h], 0.0)
    for j in range(k):
        g = group[index[j]]
        if g >= 0:
            for h in range(S.shape[0]):
                S[g, h] += kappa[index[j]] * U[h, j]


@compiled(internal=True)
def _bordered(
    k: int, index: Index, kappa: Array, group: Index, U: Array, S: Array, x: Array, e: Array, eta: Array
) -> None:
    """Turn ``x = M^-1 (right + s A'e)`` into the solution of the bordered system: x and eta, in place."""
    r = np.empty(e.shape[1])
    for h in range(r.shape[0]):
        r[h] = -e[0, h] - e[1, h]
    for j in range(k):
        g = group[index[j]]
        if g >= 0:
            r[g] += kappa[index[j]] * x[j]
    solve_small(S, r, eta)
    for h in range(r.shape[0]):
        for j in range(k):
            x[j] -= eta[h] * U[h, j]


@compiled(internal=True)
def solve_afresh(
    Q: Rows, samples: Array, group: Index, phi: Array, slope: Array, e: Array, de: Array, index: Index, k: int,
    R: Array, sums: Array, members: Array, U: Array, S: Array, eta: Array, w: Array, every: Array,
) -> bool:  # fmt: skip
    """Solution and rate from nothing but the basis; False if the system is too ill-conditioned.

    On return `every` (3, n) holds ``Q a``, its rate, and the distance from the centre of the margin set.
    """
    m, width = e.shape[1], sums.shape[2]
    cap, rate = np.empty((2, width)), np.empty((2, width))
    extended.combine(sums, phi, cap)
    extended.combine(sums, slope, rate)
    p, p_lo, kappa = samples[P], samples[P_LO], samples[KAPPA]
    a, da = members[A], members[DA]
    for j in range(k):
        i, own = index[j], group[index[j]]
        if R[j, j] * R[j, j] < FAST_PIVOT * (Q.diagonal[i] + Q.shift):
            return False
        if Q.kind == GRAM:
            high, low, y = Q.sign[i] * cap[0, i], Q.sign[i] * cap[1, i], Q.sign[i] * rate[0, i]
        else:
            high, low, y = times(Q, i, cap[0]), times(Q, i, cap[1]), times(Q, i, rate[0])
        a[j], da[j] = (p[i] - high) + (p_lo[i] - low), -y
        for h in range(m):
            U[h, j] = kappa[i] if own == h else 0.0
        if own >= 0:
            a[j] += Q.shift * kappa[i] * (e[0, own] + e[1, own])
            da[j] += Q.shift * kappa[i] * (de[0, own] + de[1, own])
    for x in (a, da):
        factor.forward(R, k, 0, x)
        factor.backward(R, k, x)
    for h in range(m):
        factor.forward(R, k, 0, U[h])
        factor.backward(R, k, U[h])
    schur(k, index, kappa, group, U, S)
    _bordered(k, index, kappa, group, U, S, a, e, eta[ETA])
    _bordered(k, index, kappa, group, U, S, da, de, eta[DETA])
    # The centre of a group's members is that of kappa_j z_j; without groups distances are from the origin.
    size = np.zeros(m)
    for j in range(k):
        if group[index[j]] >= 0:
            size[group[index[j]]] += 1.0
    n, spread = every.shape[1], every[SPREAD]
    if Q.kind == GRAM:
        coef = np.zeros((3, k))
        for j in range(k):
            i = index[j]
            coef[0, j], coef[1, j] = Q.sign[i] * a[j], Q.sign[i] * da[j]
            if m == 1 and group[i] == 0:
                coef[2, j] = Q.sign[i] * kappa[i] / size[0]
        copy(cap[0], every[ALL_G])
        copy(rate[0], every[ALL_DG])
        fill(spread, 0.0)
        if m == 1:
            add_rows_thrice(Q.wide, index, k, coef, every)
        else:
            add_rows_twice(Q.wide, index, k, coef, every)
            for h in range(m):
                to_centre = np.zeros(n)
                for j in range(k):
                    i = index[j]
                    coef[2, j] = Q.sign[i] * kappa[i] / size[h] if group[i] == h else 0.0
                add_rows(Q.wide, index, k, coef[2], to_centre)
                for i in range(n):
                    if group[i] == h:
                        spread[i] = to_centre[i]
        own = np.zeros(m)
        for j in range(k):
            i, h = index[j], group[index[j]]
            if h >= 0:
                own[h] += Q.sign[i] * kappa[i] / size[h] * spread[i]
        for i in range(n):
            every[ALL_G, i] *= Q.sign[i]
            every[ALL_DG, i] *= Q.sign[i]
            if group[i] >= 0:
                spread[i] = Q.diagonal[i] + own[group[i]] - 2.0 * kappa[i] * Q.sign[i] * spread[i]
            else:
                spread[i] = Q.diagonal[i]
        return True
    copy(cap[0], w[W])
    copy(rate[0], w[DW])
    copy(rate[0], w[DW_CAP])
    for j in range(k):
        add_sample(Q, index[j], a[j], w[W])
        add_sample(Q, index[j], da[j], w[DW])
    centres = np.zeros((m, width))
    for j in range(k):
        i = index[j]
        if group[i] >= 0:
            add_sample(Q, i, kappa[i] / size[group[i]], centres[group[i]])
    if Q.kind == DENSE:
        fill(every[ALL_G], 0.0)
        fill(every[ALL_DG], 0.0)
        add_rows_twice(Q.wide, np.arange(width), width, w, every[:SPREAD])
    else:
        for i in range(n):
            every[ALL_G, i], every[ALL_DG, i] = times(Q, i, w[W]), times(Q, i, w[DW])
    copy(Q.diagonal, spread)
    for h in range(m):
        own, to_centre = dot(centres[h], centres[h]), np.zeros(n)
        if Q.kind == DENSE:
            add_rows(Q.wide, np.arange(width), width, centres[h], to_centre)
        else:
            for i in range(n):
                to_centre[i] = times(Q, i, centres[h])
        for i in range(n):
            if group[i] == h:
                spread[i] += own - 2.0 * kappa[i] * to_centre[i]
    return True


@compiled(internal=True)
def inspect(
    Q: Rows, samples: Array, group: Index, state: State, phi: Array, line_e: Array, e_rate: Array, index: Index,
    k: int, members: Array, eta: Array, w: Array, every: Array, value: Array,
) -> tuple[float, float, bool]:  # fmt: skip
    """Turn ``Q a`` into margins; what bounds their rounding errors; whether the solution is inside its sets.

    Returns the sum of multiplier times sqrt(Q_ii) over the margin set (and the length of w), times which, and
    sqrt(Q_ii), a margin may be wrong by rounding; and the largest cap. On return `value` (3,) is the optimal value
    ``p'a - a'Qa/2``, its derivative, and minus its second derivative; with ``(Q a)_i = g_i + p_i - kappa_i eta`` none
    of them is a difference of large numbers.
    """
    g, dg, reach, a = every[ALL_G], every[ALL_DG], Q.reach, members[A]
    p, kappa, c1, u, v = samples[P], samples[KAPPA], samples[CAP_RATE], samples[BASE_0], samples[BASE_1]
    total, largest, worst, size, sound = 0.0, 0.0, 0.0, 1.0, True
    linear, lost, dlost, slope = 0.0, 0.0, 0.0, 0.0
    for h in range(eta.shape[1]):
        size += abs(eta[ETA, h])
        linear += eta[ETA, h] * line_e[h]
        slope += eta[ETA, h] * e_rate[h]
        dlost -= eta[DETA, h] * e_rate[h]
    if Q.kind != GRAM:
        total = math.sqrt(dot(w[W], w[W]))
    for j in range(k):
        i = index[j]
        cap = phi[0, 0] * u[i] + phi[0, 1] * v[i]
        total += abs(a[j]) * reach[i]
        linear += p[i] * a[j]
        largest = max(largest, cap)
        sound &= -1e-9 * cap <= a[j] <= (1 + 1e-9) * cap
    for i in range(g.shape[0]):
        own = group[i]
        g[i] -= p[i]
        if own >= 0:
            g[i] += kappa[i] * eta[ETA, own]
            dg[i] += kappa[i] * eta[DETA, own]
        if state[i] == LEFT:
            cap = phi[0, 0] * u[i] + phi[0, 1] * v[i]
            largest = max(largest, cap)
            linear += p[i] * cap
            lost += cap * g[i]
            slope -= c1[i] * g[i]
            dlost += c1[i] * dg[i]
            worst = max(worst, g[i] - 10 * ROUNDING * (size + reach[i] * total))
        elif state[i] == RIGHT:
            worst = max(worst, -g[i] - 10 * ROUNDING * (size + reach[i] * total))
    value[0], value[1], value[2] = 0.5 * (linear - lost), slope, dlost
    return total, largest, sound and worst <= 0.0


@compiled(internal=True)
def choose(
    state: State, group: Index, reach: Array, every: Array, total: float, horizon: float, w_budget: float,
    eta_budget: float, which: Index,
) -> int:  # fmt: skip
    """Samples off their margin that may reach it within the budgets; how many. All n if they are most of them."""
    g, dg, spread = every[ALL_G], every[ALL_DG], every[SPREAD]
    n, count = g.shape[0], 0
    for i in range(n):
        which[WHERE, i] = -1
        if state[i] >= MARGIN:
            continue
        if horizon < np.inf:
            side = 1.0 if state[i] == RIGHT else -1.0
            slack = side * g[i] + min(0.0, side * dg[i]) * horizon
            slack -= 10 * ROUNDING * (1.0 + reach[i] * total)
            slack -= math.sqrt(max(spread[i], 0.0) + 1e-12 * reach[i] * reach[i]) * w_budget
            if group[i] >= 0:
                slack -= eta_budget
            if slack > 0.0:
                continue
        which[NEAR, count] = i
        which[WHERE, i] = count
        count += 1
    if 10 * count > 9 * n or horizon == np.inf:
        for i in range(n):
            which[NEAR, i] = i
            which[WHERE, i] = i
        return int(n)
    return count


@compiled(internal=True)
def take_block(
    wide: Array, rows: int, which: Index, count: int, index: Index, k: int, gram: bool, block: Array
) -> None:
    """Take the watched samples together: columns of the rows of the margin set (gram), or of all features."""
    for j in range(k if gram else rows):
        row, to = wide[index[j]] if gram else wide[j], block[j]
        for c in range(count):
            to[c] = row[which[NEAR, c]]


@compiled(internal=True)
def watch(
    Q: Rows, kappa: Array, group: Index, state: State, slope: Array, sums: Array, every: Array,
    first: int, last: int, which: Index, watched: Array,
) -> None:  # fmt: skip
    """Fill these columns of the array of watched samples."""
    g, dg = every[ALL_G], every[ALL_DG]
    for c in range(first, last):
        i = which[NEAR, c]
        watched[G, c], watched[DG, c], watched[FIRST_G, c], watched[FIRST_DG, c] = g[i], dg[i], g[i], dg[i]
        watched[REACH, c] = Q.reach[i]
        watched[SIGN, c], watched[KAPPA_NEAR, c] = Q.sign[i], kappa[i] if group[i] >= 0 else 0.0
        watched[SIDE, c] = 1.0 if state[i] == RIGHT else (-1.0 if state[i] == LEFT else 0.0)
        if Q.kind == GRAM:
            s0, s1 = sums[0, 0, i] + sums[0, 1, i], sums[1, 0, i] + sums[1, 1, i]
            watched[CAP_DG, c] = Q.sign[i] * (slope[0, 0] * s0 + slope[0, 1] * s1)


@compiled(internal=True)
def watch_leaver(
    Q: Rows, i: int, index: Index, k: int, slot: Index, which: Index, watched: Array, to: int, block: Array
) -> None:
    """Sample i, of the margin set up to now, becomes the watched sample in column `to`."""
    c = which[WHERE, i]
    for r in range(watched.shape[0]):
        watched[r, to] = watched[r, c]
    which[NEAR, to], which[WHERE, i] = i, to
    if Q.kind == GRAM:
        row = Q.wide[i]
        for j in range(k):
            block[slot[j], to] = row[index[j]]
    elif Q.kind == DENSE:
        for j in range(block.shape[0]):
            block[j, to] = Q.wide[j, i]
