"""The first event after a point, in double precision, with a verdict whether that precision suffices."""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path.events import NONE, TO_CAP, TO_MARGIN, TO_ZERO
from paretoclf.path.jit import compiled
from paretoclf.path.layout import (
    BASE_0,
    BASE_1,
    CAP_RATE,
    DA,
    DETA,
    DG,
    ETA,
    KAPPA,
    NEAR,
    REACH,
    SIDE,
    A,
    G,
    P,
)
from paretoclf.path.rows import Rows, alike
from paretoclf.tolerances import FAST_EXIT, ROUNDING, SLOPE_NOISE

_CHUNK = 16  # watched samples tested together


@compiled()
def _possible(
    g: Array, dg: Array, reach: Array, sides: Array, start: int, stop: int, fixed: float, total: float,
    dfixed: float, dtotal: float, limit: float,
) -> int:  # fmt: skip
    """How many of these samples can be on their margin at the time `limit`: a quick test, without branches."""
    g, dg, reach, sides = g[start:stop], dg[start:stop], reach[start:stop], sides[start:stop]
    count = 0
    for c in range(g.shape[0]):
        side = sides[c]
        slack = (1.0 - ROUNDING) * side * g[c] - fixed - reach[c] * total
        fast = dfixed + reach[c] * dtotal - (1.0 + ROUNDING) * side * dg[c]
        count += 0 if slack - fast * limit > 0.0 or side == 0.0 else 1  # what is not a number is looked at
    return count


@compiled()
def _twins(Q: Rows, samples: Array, group: Index, i: int, j: int) -> bool:
    """Whether two samples reach their margin together, always: the first to enter leaves the other resting there."""
    same = group[i] == group[j] and samples[KAPPA, i] == samples[KAPPA, j] and samples[P, i] == samples[P, j]
    return bool(same and alike(Q, i, j))


@compiled()
def next_event(
    Q: Rows, samples: Array, group: Index, phi: Array, index: Index, k: int, members: Array, eta: Array,
    which: Index, count: int, watched: Array,
    total: float, dtotal: float, largest: float, fastest: float, guess: float, horizon: float,
    end_tolerance: float,
) -> tuple[int, int, bool, float]:  # fmt: skip
    """First event in double precision; ``guess`` is how long it probably takes at most, which only saves time.

    ``largest`` is the largest multiplier, ``fastest`` the largest of their rates, each times the length of its sample.

    Returns the member of the margin set or (TO_MARGIN) the watched sample it happens to, -1 if there is none before
    the end; what happens; whether it is clear that it is the first; and the step. It is clear if the latest possible
    time of the first is before the earliest possible time of all others. Of samples
    that are on their margin up to rounding and move away from it the fastest enters, at once; the others there rest.
    """
    a, da = members[A], members[DA]
    c1, u, v = samples[CAP_RATE], samples[BASE_0], samples[BASE_1]
    g, dg, reach, sides, near, length = watched[G], watched[DG], watched[REACH], watched[SIDE], which[NEAR], Q.length
    size, dsize = 0.0, 0.0
    for h in range(eta.shape[1]):
        size, dsize = max(size, abs(eta[ETA, h])), max(dsize, abs(eta[DETA, h]))
    fixed, dfixed = ROUNDING * (1.0 + size), ROUNDING * dsize
    total, dtotal = ROUNDING * total, ROUNDING * dtotal
    within = min(guess, horizon)
    while True:
        limit = within  # nothing that cannot happen before this is looked at
        best, kind, best_dt, best_early, best_late = -1, NONE, np.inf, np.inf, np.inf
        second = np.inf  # earliest possible time of all others
        first_slack, first_speed = np.inf, 0.0
        for j in range(k):
            i = index[j]
            cap = phi[0, 0] * u[i] + phi[0, 1] * v[i]
            error = FAST_EXIT * (min(cap, largest) + 0.1 * largest)
            if a[j] - error > -da[j] * limit and (cap - a[j]) - error > (da[j] - c1[i]) * limit:  # nearly all
                continue
            for up in range(2):
                slack = cap - a[j] if up else a[j]
                speed = da[j] - c1[i] if up else -da[j]
                if slack - error > speed * limit:
                    continue
                noise = SLOPE_NOISE * (fastest / length[i] + abs(c1[i]))
                if speed <= 0.1 * noise:
                    continue
                early = max(slack - error, 0.0) / speed
                if speed < 10.0 * noise:
                    second = min(second, 0.0)
                    continue
                # Of two members of one group the constraint fixes the sum or the difference: both may reach a bound
                # at once, always. Then either leaves, and the other stays, at its bound.
                together = abs(speed - first_speed) <= noise and abs(slack - first_slack) <= ROUNDING * cap
                if together and k == 2 and eta.shape[1] == 1:
                    continue
                if slack <= error and speed * horizon <= FAST_EXIT * cap:
                    continue  # at its bound, and its rate is rounding: it rests there
                first_slack, first_speed = slack, speed
                dt = 0.0 if -error <= slack <= ROUNDING * cap else slack / speed  # at its bound up to rounding
                if dt < best_dt:
                    second = min(second, best_early)
                    best, kind, best_dt, best_early = j, TO_CAP if up else TO_ZERO, dt, early
                    best_late = (slack + error) / speed
                    limit = min(limit, best_late)
                else:
                    second = min(second, early)
        tied, quickest = -1, 0.0
        for start in range(0, count, _CHUNK):
            stop = min(start + _CHUNK, count)
            if _possible(g, dg, reach, sides, start, stop, fixed, total, dfixed, dtotal, limit) == 0:
                continue
            for c in range(start, stop):
                side, noise = sides[c], dfixed + reach[c] * dtotal
                speed = -side * dg[c]
                fast = speed + noise
                slack = side * g[c]
                error = fixed + reach[c] * total
                if slack - error - fast * limit > 0.0:  # nearly all; the rest apart, or the processor guesses wrong
                    continue
                if side == 0.0 or fast <= 0.0:
                    continue
                if slack <= error:  # on its margin, as far as can be told: it enters at once, or rests there
                    if speed > max(noise, quickest):
                        tied, quickest = c, speed
                    continue
                early = (slack - error) / fast
                if speed <= noise:
                    second = min(second, early)
                    continue
                dt = slack / speed
                if kind == TO_MARGIN and _twins(Q, samples, group, near[c], near[best]):
                    continue
                if dt < best_dt:
                    second = min(second, best_early)
                    best, kind, best_dt, best_early = c, TO_MARGIN, dt, early
                    best_late = (slack + error) / (speed - noise)
                    limit = min(limit, best_late)
                else:
                    second = min(second, early)
        if tied >= 0:
            return tied, TO_MARGIN, (kind == TO_MARGIN or best_early > 0.0) and second > 0.0, 0.0
        if within < horizon and best_late > within:  # what happens later counts too
            within = min(best_late, horizon) if best >= 0 else horizon
            continue
        end = horizon - end_tolerance
        if best < 0 or best_dt > horizon:
            return -1, NONE, min(best_early, second) > end, horizon
        return best, kind, best_dt >= 0.0 and limit < second and limit < end, best_dt
