"""Which sample changes its set next: pure ratio tests over plain arrays, compiled.

A near tie is decided in extended precision, never by a tolerance: where the margin system is ill-conditioned,
stepping past an event by 1e-11 in the gradient moves the multipliers by 1e-11 over the pivot, which is visible.
Exact ties take the fastest sample; in careful mode (after a run of zero-length steps) the lowest index. So do exits
that nothing but rounding of the multipliers tells apart, lest the units of the data decide.
"""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array, Index, Mask, State
from paretoclf.path.jit import compiled
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import ROUNDING, SLOPE_NOISE

#: Kinds of event.
NONE, TO_ZERO, TO_CAP, TO_MARGIN = 0, 1, 2, 3


@compiled()
def first_exit(
    index: Index, a: Array, da: Array, cap: Array, dcap: Array, horizon: float, noise: Array, careful: bool
) -> tuple[int, int, float]:
    """First multiplier of the margin set to reach a bound.

    Parameters
    ----------
    index, a, da : arrays of shape (k,)
        Margin set, its multipliers and their slopes.
    cap, dcap : arrays of shape (n,)
        Caps and their slopes.
    horizon : float
        Length of what is left of the line.
    noise : array of shape (k,)
        Slopes of the multipliers up to this are rounding.

    Returns
    -------
    position, kind, dt
        Position in the margin set (-1 if none), TO_ZERO or TO_CAP, and the step.
    """
    best, best_kind, best_dt, best_merit, best_error = -1, NONE, np.inf, -np.inf, 0.0
    for j in range(index.shape[0]):
        i = index[j]
        for kind in (TO_ZERO, TO_CAP):
            slack = a[j] if kind == TO_ZERO else cap[i] - a[j]
            speed = -da[j] if kind == TO_ZERO else da[j] - dcap[i]
            least = noise[j] if kind == TO_ZERO else noise[j] + SLOPE_NOISE * abs(dcap[i])
            if speed <= least or slack > speed * horizon:
                continue
            dt = max(slack, 0.0) / speed
            merit = -float(i) if careful else speed / max(cap[i], 1e-300)
            error = ROUNDING * (abs(a[j]) if kind == TO_ZERO else cap[i]) / speed
            better = dt < best_dt or (dt == best_dt and merit > best_merit)
            if best >= 0 and dt != best_dt and abs(dt - best_dt) <= error + best_error:
                better = i < index[best]
            if better:
                best, best_kind, best_dt, best_merit, best_error = j, kind, dt, merit, error
    return best, best_kind, best_dt


def contenders(
    state: State, resting: Mask, g: Array, dg: Array, g_error: Array, dg_error: Array, before: float, horizon: float
) -> Index:
    """Samples that may be the first to reach their margin, given the error bounds of g and dg.

    A sample is a contender if its earliest possible event is no later than `before` and than the latest possible
    event of every other sample. Usually one or two are left, to be looked at in extended precision.
    """
    earliest = np.full(state.size, np.inf)
    bound = _earliest(state, resting, g, dg, g_error, dg_error, min(before, horizon), earliest)
    return np.flatnonzero(earliest <= bound)


@compiled()
def _earliest(
    state: State, resting: Mask, g: Array, dg: Array, g_error: Array, dg_error: Array, bound: float, earliest: Array
) -> float:
    """Earliest possible event of each sample that may have one; the latest possible time of the first of all."""
    for i in range(state.shape[0]):
        if state[i] >= MARGIN or resting[i]:
            continue
        slack = g[i] if state[i] == RIGHT else -g[i]
        speed = -dg[i] if state[i] == RIGHT else dg[i]
        fast = speed + dg_error[i]
        if fast <= 0.0:
            continue
        earliest[i] = max(slack - g_error[i], 0.0) / fast
        slow = speed - dg_error[i]
        if slow > 0.0:
            bound = min(bound, max(slack + g_error[i], 0.0) / slow)
    return bound


@compiled()
def first_arrival(
    state: State, samples: Index, g: Array, dg: Array, horizon: float, careful: bool
) -> tuple[int, float]:
    """First of the given samples to reach its margin; g and dg belong to these samples.

    Returns
    -------
    position, dt
        Position in samples; -1 and inf if none arrives within the horizon.
    """
    best, best_dt, best_merit = -1, np.inf, -np.inf
    for j in range(samples.shape[0]):
        i = samples[j]
        slack = g[j] if state[i] == RIGHT else -g[j]
        speed = -dg[j] if state[i] == RIGHT else dg[j]
        if speed <= 0.0 or slack > speed * horizon:
            continue
        dt = max(slack, 0.0) / speed
        merit = -float(i) if careful else speed
        if dt < best_dt or (dt == best_dt and merit > best_merit):
            best, best_dt, best_merit = j, dt, merit
    return best, best_dt


@compiled()
def blocking_exchange(a: Array, cap: Array, v: Array, tol: float, careful: bool) -> tuple[int, int, float]:
    """First multiplier to reach a bound when the margin set moves along v at fixed t.

    Returns
    -------
    position : int
        -1 if nothing blocks.
    kind : int
        TO_ZERO or TO_CAP.
    step : float
    """
    k = a.shape[0]
    noise, largest = 0.0, 0.0
    for j in range(k):
        noise, largest = max(noise, abs(v[j])), max(largest, a[j])
    noise *= 1e-8
    longest = np.inf
    best, best_kind, best_step, best_speed = -1, NONE, np.inf, 0.0
    for second in (False, True):
        for j in range(k):
            speed = abs(v[j])
            if speed <= noise:
                continue
            room = max(a[j] if v[j] < 0 else cap[j] - a[j], 0.0)
            if not second:
                longest = min(longest, (room + tol * min(cap[j], largest)) / speed)
            elif room / speed <= longest and (best < 0 if careful else speed > best_speed):
                best, best_step, best_speed = j, room / speed, speed
                best_kind = TO_ZERO if v[j] < 0 else TO_CAP
    return best, best_kind, best_step


@compiled()
def blocking_jump(
    state: State, g: Array, kappa: Array, group: Index, k: int, sign: float, skip: int
) -> tuple[int, float]:
    """First sample of group k to reach its margin when the group's multiplier moves in direction sign."""
    best, best_step = -1, np.inf
    for i in range(state.shape[0]):
        if group[i] != k or i == skip or state[i] >= MARGIN:
            continue
        if (state[i] == LEFT) == (kappa[i] * sign > 0):
            step = max(-g[i] if state[i] == LEFT else g[i], 0.0)
            if step < best_step:
                best, best_step = i, step
    return best, best_step
