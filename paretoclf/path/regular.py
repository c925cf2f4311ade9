"""The fast road: steps between events that are clearly apart, in compiled double precision.

`run` goes from event to event on the basis that it is given and stops where anything unusual comes up: events that
double precision cannot tell apart, a nearly dependent sample, the last member of a group, a badly conditioned or badly
scaled system. The step there is then taken with care (`BoxQP.piece` and the hooks behind it), and `run` goes on.

Three things make a step cheap. The solution on a basis and its rate are not solved for again but changed by the one
direction in which the new basis differs from the old: one pair of triangular solves. An *epoch* later (tens of steps)
all is computed afresh, so nothing accumulates. And within an epoch most samples need not be looked at. Let V be the
distance of w from where it was heading at the beginning of the epoch, and D = V'. At an exchange D changes by a
combination d of margin samples, and the products ``D.z_i`` and ``V.z_i`` are changes of margins that are known; so
``|V|`` is known exactly at the cost of a few inner products. No margin is off its course by more than ``|V|`` times the
distance of the sample from the centre of the margin set (in the space of w, where eta moves all of a group alike), but
for what those that leave the margin set meanwhile move that centre. Only samples that this could bring to their
margin are watched.

The state is kept in a few arrays, one row per quantity, so that the kernels take few arguments.
"""

from __future__ import annotations

import math

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.afresh import add_sample, choose, inspect, solve_afresh, take_block, times, watch, watch_leaver
from paretoclf.path.events import LEFT, MARGIN, RIGHT, TO_CAP, TO_MARGIN
from paretoclf.path.exchange import alone, candidate, cap_joins, enter, leave, mark, off_centre
from paretoclf.path.jit import compiled
from paretoclf.path.layout import (
    CAP_DG,
    CARE,
    COLUMN,
    DA,
    DETA,
    DG,
    DW,
    DW_CAP,
    END,
    ETA,
    KAPPA,
    KAPPA_NEAR,
    NEAR,
    P_LO,
    PAUSE,
    RIGHT_SIDE,
    ROOM,
    SIGN,
    STEP,
    WHERE,
    ZERO,
    A,
    Follower,
    G,
    Record,
    W,
)
from paretoclf.path.next_event import next_event
from paretoclf.path.quadratic import DENSE, GRAM, Rows
from paretoclf.path.vectors import add_rows, copy, fill
from paretoclf.tolerances import FAST_ERROR, FAST_SHIFT, ROUNDING

_PATIENCE = 50  # steps of length zero in a row
_EPOCH = 64  # steps between two fresh computations, at most
_RESERVE = 1.5  # budgets relative to what recent epochs needed
_WATCH_ALL = 300  # up to so many samples there is nothing to gain from watching some
_SHRUNK = 0.01  # multipliers or rates this much smaller than before in the epoch are computed afresh
_MEMORY = 0.3  # weight of the last epoch among them


@compiled(internal=True)
def _rates(
    Q: Rows, group: Index, index: Index, k: int, members: Array, eta: Array, w: Array, rows: Array, slot: Index,
    which: Index, count: int, watched: Array,
) -> None:  # fmt: skip
    """Rates of the margins of the watched samples on the current basis; `rows` holds them side by side."""
    out, near = watched[DG, :count], which[NEAR]
    fill(out, 0.0)
    if Q.kind == GRAM:
        coef, da, sign = members[COLUMN], members[DA], Q.sign
        for j in range(k):
            coef[j] = sign[index[j]] * da[j]
        add_rows(rows, slot, k, coef, out)
        _finish(out, watched[SIGN], watched[CAP_DG])
    else:
        rate, da = w[DW], members[DA]
        copy(w[DW_CAP], rate)
        for j in range(k):
            add_sample(Q, index[j], da[j], rate)
        if Q.kind == DENSE:
            add_rows(rows, slot, rate.shape[0], rate, out)
        else:
            for c in range(count):
                out[c] = times(Q, near[c], rate)
    kappa_near = watched[KAPPA_NEAR]
    if eta.shape[1] == 1:  # kappa is 0 here for samples without a group
        d = eta[DETA, 0]
        for c in range(count):
            out[c] += kappa_near[c] * d
        return
    for h in range(eta.shape[1]):
        d = eta[DETA, h]
        for c in range(count):
            if group[near[c]] == h:
                out[c] += kappa_near[c] * d


@compiled(internal=True)
def _finish(out: Array, sign: Array, cap: Array) -> None:
    for c in range(out.shape[0]):
        out[c] = sign[c] * out[c] + cap[c]


@compiled(internal=True)
def _keep(
    index: Index, k: int, members: Array, eta: Array, w: Array, value: Array, at: Array, t_next: float, log: Record
) -> None:
    """Write the segment from here to t_next into the log."""
    first, last = -at[1], (t_next - at[0]) - at[1]
    length = last - first
    s, used = log.used[0], log.used[1]
    log.t[0, s], log.t[1, s] = at[0], t_next
    for h in range(eta.shape[1]):
        log.eta[s, 0, h] = eta[ETA, h] + first * eta[DETA, h]
        log.eta[s, 1, h] = eta[ETA, h] + last * eta[DETA, h]
    a, da = members[A], members[DA]
    to, start, stop = log.members[used : used + k], log.a[0, used : used + k], log.a[1, used : used + k]
    for j in range(k):
        to[j], start[j], stop[j] = index[j], a[j] + first * da[j], a[j] + last * da[j]
    for c in range(log.w.shape[2]):
        log.w[s, 0, c], log.w[s, 1, c] = w[W, c] + first * w[DW, c], w[W, c] + last * w[DW, c]
    log.value[s, 0] = value[0] + first * (value[1] - 0.5 * first * value[2])
    log.value[s, 1] = length * (value[1] - first * value[2])
    log.value[s, 2] = -0.5 * length * length * value[2]
    log.ptr[s + 1] = used + k
    log.used[0] += 1
    log.used[1] += k


@compiled(internal=True)
def _amend(k: int, members: Array, eta: Array, w: Array, value: Array, log: Record) -> None:
    """Replace what the log has for the end of its last segment."""
    s, used = log.used[0] - 1, log.used[1] - k
    for j in range(k):
        log.a[1, used + j] = members[A, j]
    for h in range(eta.shape[1]):
        log.eta[s, 1, h] = eta[ETA, h]
    for c in range(log.w.shape[2]):
        log.w[s, 1, c] = w[W, c]
    log.value[s, 1] = (value[0] - log.value[s, 0]) - log.value[s, 2]


@compiled(internal=True)
def _advance(dt: float, value: Array, rate: Array, size: int) -> None:
    for j in range(size):
        value[j] += dt * rate[j]


@compiled()
def run(f: Follower, k: int, log: Record, limit: int) -> tuple[int, int, int]:
    """Take steps until something needs care, the line ends, the arrays are full or `limit` exchanges are made.

    Returns
    -------
    why : int
        END, CARE, ROOM or PAUSE.
    k : int
        Size of the margin set.
    exchanges : int
    """
    Q, samples, group, state, index, R, sums, fixed = (
        f.Q, f.samples, f.group, f.state, f.margin, f.R, f.sums, f.fixed,
    )  # fmt: skip
    at, tune = f.at, f.tune
    n, m, rows, gram = group.shape[0], f.e.shape[1], R.shape[0], Q.kind == GRAM
    width = 0 if gram else sums.shape[2]
    kappa = samples[KAPPA]
    members, U, S = np.zeros((5, rows)), np.zeros((m, rows)), np.zeros((m, m))
    eta, w = np.zeros((4, m)), np.zeros((4, width))
    every = np.empty((3, n))
    first, n_first = np.empty(rows, dtype=np.int64), 0  # the margin set at the beginning of the epoch, as watched
    which, watched = np.empty((2, n + _EPOCH + rows), dtype=np.int64), np.empty((9, n + _EPOCH + rows))
    phi, slope, e, de, whole_e = np.empty((2, 2)), f.phi[1:], np.empty((2, m)), np.empty((2, m)), np.empty(m)
    # Where the rows of the margin set stand in `side`, the columns of the watched samples, and which are free.
    side, slot, free = Q.wide, np.arange(max(rows, width)), np.zeros(rows, dtype=np.int64)
    n_free, count, base, steps, done, stalled, everything = 0, n, n, 0, 0, 0, True
    total, away, widen, most, fastest, best, value = 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, np.zeros(3)
    t_budget, w_budget, eta_budget = np.inf, np.inf, np.inf
    drift = np.zeros(4)  # |V|^2, V.D, |D|^2, time
    fresh, ending = False, False
    longest, reaches = 0.0, np.empty(n)
    for i in range(n):
        longest, reaches[i] = max(longest, Q.reach[i]), math.sqrt(Q.diagonal[i] + Q.shift)  # never zero
    extended.line_at(f.phi, at[0], at[1], phi)
    while True:
        if not ending:
            full = k + 1 >= rows or log.used[0] + 1 >= log.t.shape[1] or log.used[2] + 2 >= log.changes.shape[1]
            if full or log.used[1] + k + 1 > log.members.shape[0]:
                return ROOM, k, done
            if done >= limit:
                return PAUSE, k, done
        if not fresh:
            extended.line_at(f.e, at[0], at[1], e)
            copy(e[0], whole_e)
            copy(f.e[1], de[0])
            copy(f.e[2], de[1])
            extended.subtract(e, fixed, phi)
            extended.subtract(de, fixed, slope)
            if not solve_afresh(Q, samples, group, phi, slope, e, de, index, k, R, sums, members, U, S, eta, w, every):
                return END if ending else CARE, k, done
            total, largest, sound = inspect(
                Q, samples, group, state, phi, whole_e, f.e[1], index, k, members, eta, w, every, value
            )
            error = 1.0 + total * longest
            for h in range(m):
                error += abs(eta[ETA, h])
            error *= ROUNDING
            sound &= error <= min(FAST_ERROR, FAST_SHIFT * Q.shift * largest)
            if ending:
                if sound:
                    _amend(k, members, eta, w, value, log)
                return END, k, done
            if not sound:
                return CARE, k, done
            if steps >= 4:  # t goes with the steps, w and the centre like the integral of a random walk
                weight = _MEMORY if tune[1] > 0.0 else 1.0
                walk = steps * math.sqrt(steps)
                tune[1] += weight * (drift[3] / steps - tune[1])
                tune[2] += weight * (math.sqrt(max(drift[0], 0.0)) / walk - tune[2])
                tune[3] += weight * (away / walk - tune[3])
            if steps > 0 and not everything:  # watching few costs more often afresh: strike a balance
                tune[0] = min(max(tune[0] * (0.8 if count * steps > 4 * n else 1.25), 8.0), float(_EPOCH))
            fill(drift, 0.0)
            away, steps, most, fastest, best = 0.0, 0, 0.0, 0.0, 0.0
            t_budget = w_budget = eta_budget = np.inf
            while True:
                if n > _WATCH_ALL and tune[1] > 0.0:
                    walk = tune[0] * math.sqrt(tune[0])
                    t_budget = _RESERVE * widen * tune[0] * tune[1]
                    w_budget = _RESERVE * widen * walk * tune[2]
                    eta_budget = _RESERVE * widen * walk * tune[3]
                count = choose(state, group, Q.reach, every, total, t_budget, w_budget, eta_budget, which)
                if t_budget == np.inf or tune[0] <= 8.0 or count * tune[0] <= 8 * n:
                    break
                tune[0] *= 0.7  # too many for so long
            everything = count == n
            base = n if everything else count + _EPOCH  # where the margin set begins among the watched samples
            if everything:
                t_budget = w_budget = eta_budget = np.inf
                side = Q.wide
                for j in range(k if gram else 0):
                    slot[j] = index[j]
            else:
                for j in range(k):
                    which[NEAR, base + j], which[WHERE, index[j]] = index[j], base + j
                watch(Q, kappa, group, state, slope, sums, every, base, base + k, which, watched)
                if gram or Q.kind == DENSE:
                    side = np.empty((rows if gram else width, base))
                    take_block(Q.wide, width, which, count, index, k, gram, side)
                if gram:
                    n_free = rows - k
                    for j in range(rows):
                        slot[j] = j
                    for j in range(n_free):
                        free[j] = rows - 1 - j
            watch(Q, kappa, group, state, slope, sums, every, 0, count, which, watched)
            n_first = k
            for j in range(k):
                first[j] = index[j]
            fresh = True
        dtotal, now = 0.0, 0.0
        for j in range(k):
            dtotal += abs(members[DA, j]) * Q.reach[index[j]]
            now += abs(members[A, j]) * Q.reach[index[j]]
        total = max(total, now)
        most, fastest, best = max(most, now), max(fastest, dtotal), max(best, value[0])
        if steps > 0 and (now < _SHRUNK * most or dtotal < _SHRUNK * fastest or value[0] < 0.5 * best):
            fresh = False  # rounding errors are those of larger numbers before
            continue
        event, kind, clear, dt = next_event(
            samples, phi, index, k, members, eta, count, watched, reaches, total, dtotal,
            (1.0 - at[0]) - at[1], f.end_tolerance,
        )  # fmt: skip
        if not clear or ROUNDING * longest * (now + dt * dtotal) > FAST_ERROR:
            return CARE, k, done
        # Is what was promised of the samples not watched still true at the event?
        since, off = drift[3] + dt, 0.0
        if n > _WATCH_ALL:
            off = off_centre(kappa, group, which, watched, first, n_first, dt, eta[RIGHT_SIDE], eta[STEP])
        square = drift[0] + dt * (2.0 * drift[1] + dt * drift[2])
        if since > t_budget or square > w_budget * w_budget or off > eta_budget:
            widen = 2.0 * widen if steps == 0 else 1.0
            fresh = False
            continue
        away, widen = max(away, off), 1.0
        t_next = 1.0 if event < 0 else at[0] + dt
        i, pivot, to_cap, enters = -1, 0.0, kind == TO_CAP, kind == TO_MARGIN
        if event >= 0:
            if enters:
                i = which[NEAR, event]
                pivot = candidate(Q, kappa, group, index, k, R, members, w[ZERO], i)
                if pivot < 0.0:
                    return CARE, k, done
            elif alone(group, index, k, event):
                return CARE, k, done
            else:
                i = index[event]
            if dt == 0.0:
                stalled += 1
            elif t_next <= at[0]:
                return CARE, k, done
            else:
                stalled = 0
            if stalled > _PATIENCE:
                return CARE, k, done
        if dt > 0.0 or event < 0:
            _keep(index, k, members, eta, w, value, at, t_next, log)
            if event < 0:  # what was extrapolated to the end is computed afresh there
                at[0], at[1], ending, fresh = 1.0, 0.0, True, False
                extended.line_at(f.phi, 1.0, 0.0, phi)
                continue
            at[1] += (at[0] - t_next) + dt
            at[0] = t_next
            extended.line_at(f.phi, at[0], at[1], phi)
            drift[0], drift[1], drift[3] = square, drift[1] + dt * drift[2], since
            _advance(dt, members[A], members[DA], k)
            _advance(dt, eta[ETA], eta[DETA], m)
            _advance(dt, watched[G], watched[DG], count)
            _advance(dt, w[W], w[DW], width)
            value[0] += dt * (value[1] - 0.5 * dt * value[2])
            value[1] -= dt * value[2]
        if enters:
            at_cap = state[i] == LEFT
            if not enter(
                Q, samples, group, index, k, R, members, U, S, eta, phi, which, watched, event, pivot, at_cap, drift,
                value, total,
            ):  # fmt: skip
                return CARE, k, done
            if gram:
                slot[k] = i
                if not everything:
                    n_free -= 1
                    slot[k] = free[n_free]
                    row, to = Q.wide[i], side[free[n_free]]
                    for c in range(count):
                        to[c] = row[which[NEAR, c]]
            if at_cap:
                cap_joins(
                    Q, samples, group, sums, fixed, w, side[slot[k]] if gram else w[ZERO], which, count,
                    base, base if everything else base + n_first, watched, i, -1.0,
                )  # fmt: skip
            # What is left of its margin becomes a shift of its target (see BoxQP._enter).
            samples[P_LO, i] += watched[G, event]
            mark(state, log.changes, log.used, i, MARGIN)
            k += 1
        else:
            leave(samples, group, index, k, R, members, U, S, eta, which, watched, event, to_cap, drift, value)
            k -= 1
            row_of = slot[event]
            if gram:
                for j in range(event, k):
                    slot[j] = slot[j + 1]
            if not everything and which[WHERE, i] >= base:
                watch_leaver(Q, i, index, k, slot, which, watched, count, side)
                if gram:
                    side[row_of, count] = Q.wide[i, i]
                count += 1
            mark(state, log.changes, log.used, i, LEFT if to_cap else RIGHT)
            if to_cap:
                cap_joins(
                    Q, samples, group, sums, fixed, w, side[row_of] if gram else w[ZERO], which, count,
                    base, base if everything else base + n_first, watched, i, 1.0,
                )  # fmt: skip
            if gram and not everything:
                free[n_free] = row_of
                n_free += 1
        done += 1
        steps += 1
        if steps >= _EPOCH:
            fresh = False
        else:
            _rates(Q, group, index, k, members, eta, w, side, slot, which, count, watched)
