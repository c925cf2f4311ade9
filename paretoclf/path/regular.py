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

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.afresh import MEMORY, WATCH_ALL, begin_epoch, watch_leaver
from paretoclf.path.events import TO_CAP, TO_MARGIN
from paretoclf.path.exchange import alone, candidate, ends_at_zero, enter, fix, jump, leave, mark, off_centre
from paretoclf.path.jit import compiled
from paretoclf.path.layout import (
    BASE_0,
    CAP_RATE,
    CARE,
    DA,
    DETA,
    DG,
    DW,
    EPOCH,
    ETA,
    GO,
    KAPPA,
    KAPPA_NEAR,
    NEAR,
    P_LO,
    PAUSE,
    RIGHT_SIDE,
    ROOM,
    STEP,
    WHERE,
    ZERO,
    A,
    Follower,
    G,
    Record,
    Room,
    W,
)
from paretoclf.path.next_event import next_event
from paretoclf.path.rows import Rows, change_cap
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.watched import cap_rate_changes, slot_enters, slot_leaves, watched_rates
from paretoclf.tolerances import FAST_ERROR, ROUNDING

_PATIENCE = 50  # steps of length zero in a row
_SHRUNK = 0.01  # multipliers or rates this much smaller than before in the epoch are computed afresh
_GUESS = 4.0  # steps are seldom longer than this times their recent mean


@compiled()
def _rates(
    Q: Rows, index: Index, k: int, members: Array, eta: Array, w: Array, side: Array, slot: Index, which: Index,
    count: int, watched: Array,
) -> None:  # fmt: skip
    """Rates of the margins of the watched samples on the current basis."""
    watched_rates(Q, index, k, members, w, side, slot, which, count, watched)
    out = watched[DG]
    for h in range(eta.shape[1]):
        d, kappa = eta[DETA, h], watched[KAPPA_NEAR + h]
        for c in range(count):
            out[c] += kappa[c] * d


@compiled()
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


@compiled()
def _advance(dt: float, table: Array, value: int, rate: int, size: int) -> None:
    x, dx = table[value], table[rate]
    for j in range(size):
        x[j] += dt * dx[j]


@compiled()
def _cap_changes(
    Q: Rows, samples: Array, group: Index, sums: Array, fixed: Array, i: int, sign: float, row: Array, which: Index,
    count: int, base: int, last: int, watched: Array, w: Array,
) -> None:  # fmt: skip
    """Sample i joins (+1) or leaves (-1) those at their cap; for the rest see `cap_rate_changes`."""
    bases = samples[BASE_0:]
    change_cap(Q, bases, sums, i, sign)
    fix(bases, fixed, group[i], samples[KAPPA, i], i, sign)
    cap_rate_changes(Q, i, sign * samples[CAP_RATE, i], row, which, count, base, last, watched, w)


@compiled()
def run(f: Follower, room: Room, k: int, log: Record, limit: int) -> tuple[int, int, int]:
    """Take steps until something needs care, the line ends, the arrays are full or `limit` exchanges are made.

    Returns
    -------
    why : int
        END, CARE, ROOM or PAUSE.
    k : int
        Size of the margin set.
    exchanges : int
    """
    Q, samples, group, state, index, R, sums = f.Q, f.samples, f.group, f.state, f.margin, f.R, f.sums
    at, phi, kappa = f.at, room.phi, f.samples[KAPPA]
    n, m, rows = group.shape[0], f.e.shape[1], R.shape[0]
    members, S, eta, w = room.members, room.S, room.eta, room.w
    which, watched, slot, block, first = room.which, room.watched, room.slot, room.block, room.first
    value, drift, n_first = room.value, room.drift, 0
    # Where the rows of the margin set (or the features) stand for the watched samples: in `side`, from `slot` on.
    side = Q.flat
    # No constants where functions are called with these: for constants they would be compiled once more.
    count, base, steps, done, stalled, everything = n, n, n - n, 0, 0, n >= 0
    total, away, widened, most, fastest, best, pace = 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, np.inf
    t_budget, w_budget, eta_budget = np.inf, np.inf, np.inf
    fresh, ending, whole = False, False, False
    follows = n > WATCH_ALL  # V and D: else all samples are watched always
    extended.line_at(f.phi, at[0], at[1], phi)
    while True:
        if not ending:
            full = k + 1 >= rows or log.used[0] + 1 >= log.t.shape[1] or log.used[2] + 2 >= log.changes.shape[1]
            if full or log.used[1] + k + 1 > log.members.shape[0]:
                return ROOM, k, done
            if done >= limit:
                return PAUSE, k, done
        if not fresh:
            why, total, count, base, everything, t_budget, w_budget, eta_budget = begin_epoch(
                f.begin, f, room, k, log, ending, whole, widened, steps, everything, away, count
            )
            if why != GO:
                return why, k, done
            side = Q.flat if everything else block
            away, steps, most, fastest, best, whole = 0.0, 0, 0.0, 0.0, 0.0, False
            n_first = k
            for j in range(k):
                first[j] = index[j]
            fresh = True
        dtotal, now, largest, fastest_one = 0.0, 0.0, 0.0, 0.0
        for j in range(k):
            reach, a, da = Q.reach[index[j]], abs(members[A, j]), abs(members[DA, j])
            dtotal += da * reach
            now += a * reach
            largest, fastest_one = max(largest, a), max(fastest_one, da * Q.length[index[j]])
        total = max(total, now)
        most, fastest, best = max(most, now), max(fastest, dtotal), max(best, abs(value[0]))
        if steps > 0 and (now < _SHRUNK * most or dtotal < _SHRUNK * fastest or abs(value[0]) < 0.5 * best):
            fresh = False  # rounding errors are those of larger numbers before
            continue
        event, kind, clear, dt = next_event(
            Q, samples, group, phi, index, k, members, eta, which, count, watched, total, dtotal, largest, fastest_one,
            _GUESS * pace, (1.0 - at[0]) - at[1], f.end_tolerance,
        )  # fmt: skip
        if not clear or ROUNDING * Q.longest * (now + dt * dtotal) > FAST_ERROR:
            return CARE, k, done
        if f.to_zero and ends_at_zero(eta[ETA, 0] + eta[ETA, 1], eta[DETA, 0] + eta[DETA, 1], dt):
            return CARE, k, done
        # Is what was promised of the samples not watched still true at the event?
        since, off = drift[3] + dt, 0.0
        if follows:
            off = off_centre(kappa, group, which, watched, first, n_first, dt, eta[RIGHT_SIDE], eta[STEP])
        square = drift[0] + dt * (2.0 * drift[1] + dt * drift[2])
        if since > t_budget or square > w_budget * w_budget or off > eta_budget:
            widened = 2.0 * widened if steps == 0 else 1.0
            fresh = False
            continue
        away, widened = max(away, off), 1.0
        pace = dt if steps == 0 else pace + MEMORY * (dt - pace)
        t_next = 1.0 if event < 0 else at[0] + (at[1] + dt)
        i, pivot, to_cap, enters, jumps = -1, 0.0, kind == TO_CAP, kind == TO_MARGIN, False
        if event >= 0:
            if enters:
                i = which[NEAR, event]
                pivot = candidate(Q, kappa, group, index, k, R, members, w[ZERO], i)
                if pivot < 0.0:
                    return CARE, k, done
            else:
                i = index[event]
                jumps = alone(group, index, k, event)
                if jumps and not everything:  # who takes over may be any sample
                    fresh, whole = False, True
                    continue
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
            _advance(dt, members, A, DA, k)
            _advance(dt, eta, ETA, DETA, m)
            _advance(dt, watched, G, DG, count)
            _advance(dt, w, W, DW, w.shape[1])
            value[0] += dt * (value[1] - 0.5 * dt * value[2])
            value[1] -= dt * value[2]
        last = base if everything else base + n_first
        if jumps:
            if not jump(f, room, k, event, to_cap, total, log):
                return CARE, k, done
            done += 1
            fresh = False
            continue
        if enters:
            at_cap = state[i] == LEFT
            if not enter(
                Q, samples, group, index, k, R, members, S, eta, phi, which, watched, event, pivot, at_cap, follows,
                drift, value, total,
            ):  # fmt: skip
                return CARE, k, done
            slot_enters(Q, i, k, everything, which, count, slot, block)
            if at_cap:
                _cap_changes(
                    Q, samples, group, sums, f.fixed, i, -1.0, side[slot[k] :], which, count, base, last, watched, w
                )
            # What is left of its margin becomes a shift of its target (see BoxQP._enter).
            samples[P_LO, i] += watched[G, event]
            k += 1
        else:
            leave(samples, group, index, k, R, members, S, eta, which, watched, event, to_cap, follows, drift, value)
            k -= 1
            slot_leaves(Q, event, k, slot)
            if not everything and which[WHERE, i] >= base:
                watch_leaver(Q, i, index, k, slot, which, watched, count, block)
                count += 1
            if to_cap:
                _cap_changes(
                    Q, samples, group, sums, f.fixed, i, 1.0, side[slot[k] :], which, count, base, last, watched, w
                )
        mark(state, log.changes, log.used, i, MARGIN if enters else (LEFT if to_cap else RIGHT))
        done += 1
        steps += 1
        if steps >= EPOCH:
            fresh = False
        else:
            _rates(Q, index, k, members, eta, w, side, slot, which, count, watched)
