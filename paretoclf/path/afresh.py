"""The beginning of an epoch on the fast road: solution, rate and margins from the basis alone, and whom to watch.

`begin_epoch` is all of it: compiled apart from the steps between (see `aside`).
"""

from __future__ import annotations

import math

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.path import extended, factor
from paretoclf.path.factor import solve_small
from paretoclf.path.jit import compiled, compiled_apart
from paretoclf.path.layout import (
    ALL_DG,
    ALL_G,
    BASE_0,
    BASE_1,
    BLOCK,
    BORDER,
    CAP_DG,
    CAP_RATE,
    CARE,
    DA,
    DETA,
    DG,
    END,
    EPOCH,
    ETA,
    FIRST_DG,
    FIRST_G,
    GO,
    KAPPA,
    KAPPA_NEAR,
    NEAR,
    P_LO,
    PER_STEP_CENTRE,
    PER_STEP_T,
    PER_STEP_W,
    REACH,
    RIGHT_SIDE,
    ROOM,
    SIDE,
    SIGN,
    SPREAD,
    STEP,
    TO_CENTRE,
    WANTED,
    WHERE,
    A,
    Follower,
    G,
    P,
    Record,
    Room,
    W,
)
from paretoclf.path.rows import Rows, all_products, of_capped
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.vectors import copy, dot, fill
from paretoclf.path.watched import block_size, cap_rate, watch_all, watch_some, widen
from paretoclf.tolerances import FAST_ERROR, FAST_PIVOT, FAST_SHIFT, FAST_VALUE, ROUNDING

WATCH_ALL = 600  # so many samples are watched always
MEMORY = 0.3  # weight of the last epoch in what epochs are tuned by, and of the last step
_RESERVE = 1.5  # budgets relative to what recent epochs needed


@compiled()
def _bordered(
    k: int, index: Index, kappa: Array, group: Index, U: Array, S: Array, x: Array, e: Array, r: Array, eta: Array
) -> None:
    """Turn ``x = M^-1 (right + s A'e)`` into the solution of the bordered system: x and eta, in place; r is room."""
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


@compiled()
def _solve_afresh(
    Q: Rows, samples: Array, group: Index, line: Array, at: Array, fixed: Array, phi: Array, slope: Array, e: Array,
    line_e: Array, index: Index, k: int, R: Array, sums: Array, members: Array, coef: Array, S: Array, eta: Array,
    w: Array, at_cap: Array, start: Index, every: Array, follows: bool,
) -> bool:  # fmt: skip
    """Solution and rate from nothing but the basis; False if the system is too ill-conditioned.

    The right-hand sides go along `line`. On return `every` holds ``Q a``, its rate, and, where V is followed, the
    squared distance from the centre of the margin set. The centre of a group's members is that of kappa_j z_j; without
    groups distances are from the origin.
    """
    m, kappa = eta.shape[1], samples[KAPPA]
    extended.right_sides(line, at[0], at[1], phi, slope, fixed, sums, line_e, e, at_cap)
    a, da, U, rows, size = members[A], members[DA], members[BORDER:], members[BORDER + m :], eta[STEP]
    fill(size, 0.0)
    for j in range(k):
        i = index[j]
        own = group[i]
        if R[j, j] * R[j, j] < FAST_PIVOT * (Q.diagonal[i] + Q.shift):
            return False
        high, low, rate = of_capped(Q, i, at_cap)
        a[j], da[j] = (samples[P, i] - high) + (samples[P_LO, i] - low), -rate
        for h in range(m):
            U[h, j] = rows[h, j] = kappa[i] if own == h else 0.0
        if own >= 0:
            a[j] += Q.shift * kappa[i] * (e[0, 0, own] + e[0, 1, own])
            da[j] += Q.shift * kappa[i] * (e[1, 0, own] + e[1, 1, own])
            size[own] += 1.0
    factor.solve(R, k, members[A : BORDER + m])
    factor.schur_of(k, rows, U, S)
    for h in range(m):
        for j in range(k):
            coef[2 + h, j] = rows[h, j] / size[h]
    _bordered(k, index, kappa, group, U, S, a, e[0], eta[RIGHT_SIDE], eta[ETA])
    _bordered(k, index, kappa, group, U, S, da, e[1], eta[RIGHT_SIDE], eta[DETA])
    copy(a[:k], coef[0])
    copy(da[:k], coef[1])
    centre, spread, weights = eta[STEP], every[SPREAD], eta[RIGHT_SIDE]
    for h in range(m):
        weights[h] = 1.0 / size[h]
    wanted = 2 + m if follows else 2 + m - m  # no constant: functions would be compiled once more for it
    all_products(Q, index, k, coef[:wanted], at_cap, w, start, every[ALL_G : ALL_G + wanted])
    if not follows:
        return True
    fill(centre, 0.0)
    for j in range(k):
        own = group[index[j]]
        if own >= 0:
            centre[own] += kappa[index[j]] * weights[own] * every[TO_CENTRE + own, index[j]]
    for i in range(spread.shape[0]):
        own = group[i]
        spread[i] = Q.diagonal[i]
        if own >= 0:
            spread[i] += centre[own] - 2.0 * kappa[i] * every[TO_CENTRE + own, i]
    return True


@compiled()
def _inspect(
    Q: Rows, samples: Array, group: Index, state: State, phi: Array, line_e: Array, e_rate: Array, index: Index,
    k: int, members: Array, eta: Array, w: Array, every: Array, value: Array, to_zero: bool,
) -> tuple[float, bool]:  # fmt: skip
    """Turn ``Q a`` into margins; what bounds their rounding errors; whether double precision is enough for all.

    Returns the sum of multiplier times sqrt(Q_ii) over the margin set (and the length of w), times which, and
    sqrt(Q_ii), a margin may be wrong by rounding; and whether the solution is inside its sets and these errors are
    small enough for the fast road. On return `value` (3,) is the optimal value
    ``p'a - a'Qa/2``, its derivative, and minus its second derivative; with ``(Q a)_i = g_i + p_i - kappa_i eta`` none
    of them is a difference of large numbers.
    """
    g, dg, reach, a = every[ALL_G], every[ALL_DG], Q.reach, members[A]
    p, kappa, c1, u, v = samples[P], samples[KAPPA], samples[CAP_RATE], samples[BASE_0], samples[BASE_1]
    total, largest, worst, size, sound = 0.0, 0.0, 0.0, 1.0, True
    linear, lost, dlost, slope = 0.0, 0.0, 0.0, 0.0
    for h in range(eta.shape[1]):
        size += abs(eta[ETA, h])
        linear += eta[ETA, h] * line_e[0, h]
        slope += eta[ETA, h] * e_rate[h]
        dlost -= eta[DETA, h] * e_rate[h]
    total = math.sqrt(dot(w[W], w[W]))  # 0 for a kernel matrix
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
    if to_zero and abs(value[0]) < FAST_VALUE * Q.longest * Q.longest * line_e[0, 0] * line_e[0, 0]:
        return total, False  # a difference of sums of this size; certificates are relative to what is left
    error = 1.0 + total * Q.longest
    for h in range(eta.shape[1]):
        error += abs(eta[ETA, h])
    return total, sound and worst <= 0.0 and ROUNDING * error <= min(FAST_ERROR, FAST_SHIFT * Q.shift * largest)


@compiled()
def _choose(
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


@compiled()
def _watch(
    Q: Rows, kappa: Array, group: Index, state: State, slope: Array, sums: Array, every: Array,
    count: int, base: int, k: int, which: Index, watched: Array,
) -> None:  # fmt: skip
    """Fill the columns of the watched samples, and those behind `base` of the margin set where it stands apart."""
    g, dg = every[ALL_G], every[ALL_DG]
    for j in range(count + k):
        c = j if j < count else base + (j - count)
        i = which[NEAR, c]
        watched[G, c], watched[DG, c], watched[FIRST_G, c], watched[FIRST_DG, c] = g[i], dg[i], g[i], dg[i]
        watched[REACH, c] = Q.reach[i]
        watched[SIGN, c] = Q.sign[i]
        for h in range(watched.shape[0] - KAPPA_NEAR):
            watched[KAPPA_NEAR + h, c] = kappa[i] if group[i] == h else 0.0
        watched[SIDE, c] = 1.0 if state[i] == RIGHT else (-1.0 if state[i] == LEFT else 0.0)
        watched[CAP_DG, c] = cap_rate(Q, slope, sums, i)


@compiled()
def _amend(k: int, members: Array, eta: Array, w: Array, value: Array, log: Record) -> None:
    """Replace what the log has for the end of its last segment."""
    s, used = log.used[0] - 1, log.used[1] - k
    for j in range(k):
        log.a[1, used + j] = members[A, j]
    for h in range(eta.shape[1]):
        log.eta[s, 1, h] = eta[ETA, h]
    for c in range(log.w.shape[2]):
        log.w[s, 1, c] = w[W, c]
    if value[1] != 0.0 or value[2] != 0.0:  # else nothing moves
        log.value[s, 1] = (value[0] - log.value[s, 0]) - log.value[s, 2]


@compiled()
def _tune(tune: Array, drift: Array, away: float, steps: int, everything: bool, count: int, n: int) -> None:
    """Learn from the epoch that ended: t goes with the steps, w and the centre like the integral of a random walk."""
    if steps >= 4:
        weight = MEMORY if tune[PER_STEP_T] > 0.0 else 1.0
        walk = steps * math.sqrt(steps)
        tune[PER_STEP_T] += weight * (drift[3] / steps - tune[PER_STEP_T])
        tune[PER_STEP_W] += weight * (math.sqrt(max(drift[0], 0.0)) / walk - tune[PER_STEP_W])
        tune[PER_STEP_CENTRE] += weight * (away / walk - tune[PER_STEP_CENTRE])
    if steps > 0 and not everything:  # watching few costs more often afresh: strike a balance
        tune[WANTED] = min(max(tune[WANTED] * (0.8 if count * steps > 4 * n else 1.25), 8.0), float(EPOCH))


@compiled_apart
def begin_epoch(
    f: Follower, room: Room, k: int, log: Record, ending: bool, whole: bool, widened: float, steps: int,
    everything: bool, away: float, count: int,
) -> tuple[int, float, int, int, bool, float, float, float]:  # fmt: skip
    """Compute all afresh; at the end of the line put it into the log, else choose whom to watch.

    Parameters
    ----------
    f, room, k, log
        As for `run`.
    ending : bool
        Whether this is the end of the line.
    whole : bool
        Whether all samples must be watched.
    widened : float
        Budgets are to be this much larger than usual.
    steps, everything, away, count
        The epoch that ended: its steps, whether all samples were watched and how many, how far its centre went.

    Returns
    -------
    why : int
        GO, or why `run` is to stop.
    total : float
        Sum of multiplier times sqrt(Q_ii) over the margin set, and the length of w.
    count : int
        How many samples are watched.
    base : int
        Where the margin set begins among them.
    everything : bool
        Whether these are all samples.
    t_budget, w_budget, eta_budget : float
        How far t, w and the centre of the margin set may go in this epoch.
    """
    Q, samples, group, state, index, R, tune = f.Q, f.samples, f.group, f.state, f.margin, f.R, f.tune
    slope, kappa, members, every, eta, w = f.phi[1:], samples[KAPPA], room.members, room.every, room.eta, room.w
    which, slot, block = room.which, room.slot, room.block
    n, rows, follows, total = group.shape[0], R.shape[0], group.shape[0] > WATCH_ALL, 0.0
    base, t_budget, w_budget, eta_budget = n, np.inf, np.inf, np.inf
    sound = _solve_afresh(
        Q, samples, group, f.e, f.at, f.fixed, room.phi, slope, room.e, room.line_e, index, k, R, f.sums, members,
        room.coef, room.S, eta, w, room.at_cap, slot, every, follows,
    )  # fmt: skip
    if sound:
        total, sound = _inspect(
            Q, samples, group, state, room.phi, room.line_e, f.e[1], index, k, members, eta, w, every, room.value,
            f.to_zero,
        )  # fmt: skip
    if ending or not sound:
        if sound:
            _amend(k, members, eta, w, room.value, log)
        return END if ending else CARE, total, count, base, everything, t_budget, w_budget, eta_budget
    _tune(tune, room.drift, away, steps, everything, count, n)
    fill(room.drift, 0.0)
    while True:
        if follows and tune[PER_STEP_T] > 0.0 and not whole:
            walk = tune[WANTED] * math.sqrt(tune[WANTED])
            t_budget = _RESERVE * widened * tune[WANTED] * tune[PER_STEP_T]
            w_budget = _RESERVE * widened * walk * tune[PER_STEP_W]
            eta_budget = _RESERVE * widened * walk * tune[PER_STEP_CENTRE]
        count = _choose(state, group, Q.reach, every, total, t_budget, w_budget, eta_budget, which)
        if t_budget == np.inf or tune[WANTED] <= 8.0 or count * tune[WANTED] <= 8 * n:
            break
        tune[WANTED] *= 0.7  # too many for so long
    everything = count == n
    if everything:
        t_budget = w_budget = eta_budget = np.inf
        watch_all(Q, index, k, slot)
    else:
        base = count + EPOCH
        size = block_size(Q, min(rows, k + EPOCH), base)
        if size > block.shape[0]:
            tune[BLOCK] = size
            return ROOM, total, count, base, everything, t_budget, w_budget, eta_budget
        watch_some(Q, which, count, base, index, k, slot, block)
        for j in range(k):
            which[NEAR, base + j], which[WHERE, index[j]] = index[j], base + j
    apart = 0 if everything else k
    _watch(Q, kappa, group, state, slope, f.sums, every, count, base, apart, which, room.watched)
    return GO, total, count, base, everything, t_budget, w_budget, eta_budget


@compiled()
def watch_leaver(
    Q: Rows, i: int, index: Index, k: int, slot: Index, which: Index, watched: Array, to: int, block: Array
) -> None:
    """Sample i, of the margin set up to now, becomes the watched sample in column `to`."""
    c = which[WHERE, i]
    for r in range(watched.shape[0]):
        watched[r, to] = watched[r, c]
    which[NEAR, to], which[WHERE, i] = i, to
    widen(Q, i, index, k, to, slot, block)
