"""One exchange on the fast road: who may enter, and how rates, factor and sums change."""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.path import extended, factor
from paretoclf.path.factor import schur_of, solve_small
from paretoclf.path.jit import compiled
from paretoclf.path.layout import (
    BASE_0,
    BASE_1,
    BORDER,
    CAP_RATE,
    COLUMN,
    DA,
    DETA,
    DG,
    ETA,
    FIRST_DG,
    FIRST_G,
    KAPPA,
    NEAR,
    P_LO,
    REACH,
    RIGHT_SIDE,
    ROW,
    SIDE,
    SOLUTION,
    STEP,
    WHERE,
    ZERO,
    A,
    Follower,
    G,
    Record,
    Room,
)
from paretoclf.path.rows import Rows, change_cap, column
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.vectors import copy, dot, fill
from paretoclf.tolerances import END_TIE, FAST_PIVOT, FAST_SHIFT, ROUNDING


@compiled()
def fix(bases: Array, fixed: Array, group: int, kappa: float, i: int, sign: float) -> None:
    """Sample i joins (+1) or leaves (-1) those at their cap: what they add to ``A a``."""
    for b in range(2):
        base = sign * bases[b, i]
        if base != 0.0 and group >= 0:
            f = fixed[b]
            f[0, group], f[1, group] = extended.add_product(f[0, group], f[1, group], kappa, base)


@compiled()
def fix_some(bases: Array, fixed: Array, group: Index, kappa: Array, some: Index, sign: float) -> None:
    """`fix` for some samples."""
    for j in range(some.shape[0]):
        i = some[j]
        fix(bases, fixed, group[i], kappa[i], i, sign)


@compiled()
def mark(state: State, changes: Index, count: Index, i: int, new: int) -> None:
    """Sample i goes to another set; written into the log."""
    c = count[2]
    changes[0, c], changes[1, c], changes[2, c], changes[3, c] = count[0], i, state[i], new
    count[2] += 1
    state[i] = new


@compiled()
def candidate(
    Q: Rows, kappa: Array, group: Index, index: Index, k: int, R: Array, members: Array, zero: Array, i: int
) -> float:
    """Squared pivot of sample i (negative: too small), with its columns of Q and of the factor, and the solution."""
    own, square = group[i], Q.diagonal[i]
    x, row, u = members[COLUMN], members[ROW], members[SOLUTION]
    column(Q, index, k, i, zero, x)
    if own >= 0:
        square += Q.shift
        s, like = Q.shift * kappa[i], members[BORDER + (members.shape[0] - BORDER) // 2 + own]
        for j in range(k):
            row[j] = x[j] + s * like[j]
    else:
        copy(x[:k], row)
    factor.forward(R, k, row)
    pivot = square - dot(row[:k], row[:k])
    if pivot < FAST_PIVOT * square:
        return -1.0
    copy(row[:k], u)
    factor.backward(R, k, u)
    return float(pivot)


@compiled()
def _change_rates(
    index: Index, k: int, members: Array, eta: Array, direction: Array, step: Array, scale: float, follows: bool,
    which: Index, watched: Array, since: float, drift: Array,
) -> None:  # fmt: skip
    """Subtract ``scale * (direction, step)`` from the rates of multipliers and eta, and follow V and D if so."""
    da, g, first, first_dg, where = members[DA], watched[G], watched[FIRST_G], watched[FIRST_DG], which[WHERE]
    for h in range(eta.shape[1]):
        eta[DETA, h] -= scale * step[h]
    for j in range(k):
        da[j] -= scale * direction[j]
    if not follows:
        return
    turn, shift = 0.0, 0.0
    for j in range(k):
        change = -scale * direction[j]
        c = where[index[j]]
        turn -= change * first_dg[c]
        shift += change * (g[c] - first[c] - since * first_dg[c])
    drift[2] += 2.0 * turn
    drift[1] += shift


@compiled()
def enter(
    Q: Rows, samples: Array, group: Index, index: Index, k: int, R: Array, members: Array, S: Array, eta: Array,
    phi: Array, which: Index, watched: Array, c: int, pivot: float, at_cap: bool, follows: bool, drift: Array,
    value: Array, total: float,
) -> bool:  # fmt: skip
    """The watched sample c becomes member k of the margin set; False if the system is too ill-conditioned for it.

    ``members`` holds what `candidate` computed for it.
    """
    m, i, kappa, U = eta.shape[1], which[NEAR, c], samples[KAPPA], members[BORDER:]
    rows, own, x, u = members[BORDER + m :], group[i], members[COLUMN], members[SOLUTION]
    # The direction in which the new basis can move: bordered solution for the column of i.
    r, step = eta[RIGHT_SIDE], eta[STEP]
    for h in range(m):
        rows[h, k] = kappa[i] if own == h else 0.0
        r[h] = dot(rows[h, :k], u[:k]) - rows[h, k]
    schur_of(k, rows, U, S)
    solve_small(S, r, step)
    rho = Q.diagonal[i] - dot(x[:k], u[:k])
    for h in range(m):
        rho += step[h] * dot(x[:k], U[h, :k])
    if own >= 0:
        rho -= kappa[i] * step[own]
    noise = ROUNDING * (1.0 + Q.reach[i] * total)
    for h in range(m):
        noise += ROUNDING * abs(eta[ETA, h])
    if rho <= FAST_PIVOT * Q.diagonal[i] or noise * Q.diagonal[i] > FAST_SHIFT * rho:
        return False  # what its margin may be wrong by would move the multipliers visibly
    rate = watched[DG, c]
    delta = -rate / rho
    for j in range(k):
        x[j] = u[j]
    for h in range(m):
        own_step, share = step[h], r[h] / pivot  # no quotients in the loop
        for j in range(k):
            x[j] -= own_step * U[h, j]
            U[h, j] += share * u[j]
        U[h, k] = -share
    since = drift[3]
    _change_rates(index, k, members, eta, x, step, delta, follows, which, watched, since, drift)
    drift[2] += 2.0 * delta * (rate - watched[FIRST_DG, c]) + abs(delta * rate)
    value[2] -= abs(delta * rate)
    drift[1] += delta * (watched[G, c] - watched[FIRST_G, c] - since * watched[FIRST_DG, c])
    members[A, k] = phi[0, 0] * samples[BASE_0, i] + phi[0, 1] * samples[BASE_1, i] if at_cap else 0.0
    members[DA, k] = (samples[CAP_RATE, i] if at_cap else 0.0) + delta
    factor.append(R, k, members[ROW], pivot)
    index[k] = i
    watched[SIDE, c] = 0.0
    return True


@compiled()
def leave(
    samples: Array, group: Index, index: Index, k: int, R: Array, members: Array, S: Array, eta: Array, which: Index,
    watched: Array, r: int, to_cap: bool, follows: bool, drift: Array, value: Array,
) -> None:  # fmt: skip
    """Member r of the margin set leaves for its bound."""
    m, i, U = eta.shape[1], index[r], members[BORDER:]
    rows = members[BORDER + m :]
    z, da = members[SOLUTION], members[DA]
    step, side = eta[STEP], eta[RIGHT_SIDE]
    fill(z[:k], 0.0)
    z[r] = 1.0
    factor.forward(R, k, z)
    factor.backward(R, k, z)
    own = z[r]
    bordered = own
    for h in range(m):
        side[h] = U[h, r]
    schur_of(k, rows, U, S)
    solve_small(S, side, step)
    x = members[COLUMN]
    for j in range(k):
        x[j] = z[j]
    for h in range(m):
        bordered -= step[h] * side[h]
        own_step, share = step[h], side[h] / own
        for j in range(k):
            x[j] -= own_step * U[h, j]
            U[h, j] -= share * z[j]
    over = da[r] - (samples[CAP_RATE, i] if to_cap else 0.0)
    gain = over / bordered
    _change_rates(index, k, members, eta, x, step, gain, follows, which, watched, drift[3], drift)
    drift[2] += abs(over * gain)
    value[2] += abs(over * gain)
    a = members[A]
    for j in range(r, k - 1):
        index[j] = index[j + 1]
        a[j], da[j] = a[j + 1], da[j + 1]
        for h in range(m):
            U[h, j], rows[h, j] = U[h, j + 1], rows[h, j + 1]
    factor.delete(R, k, r, members[ROW])
    left, samples[P_LO, i] = samples[P_LO, i], 0.0  # what was neglected when it entered
    c = which[WHERE, i]
    watched[G, c], watched[SIDE, c] = left, -1.0 if to_cap else 1.0


@compiled()
def off_centre(
    kappa: Array, group: Index, which: Index, watched: Array, first: Index, n_first: int, dt: float, sums: Array,
    sizes: Array,
) -> float:  # fmt: skip
    """How far the centre of the epoch's first margin set has left its margin, after a step dt."""
    fill(sums, 0.0)
    fill(sizes, 0.0)
    for j in range(n_first):
        i = first[j]
        c = which[WHERE, i]
        if group[i] >= 0:
            sums[group[i]] += kappa[i] * (watched[G, c] + dt * watched[DG, c])
            sizes[group[i]] += 1.0
    off = 0.0
    for h in range(sums.shape[0]):
        off = max(off, abs(sums[h]) / max(sizes[h], 1.0))
    return off


@compiled()
def alone(group: Index, index: Index, k: int, r: int) -> bool:
    """Whether member r of the margin set is the only one of its group."""
    own = group[index[r]]
    for j in range(k):
        if j != r and group[index[j]] == own:
            return False
    return bool(own >= 0)


@compiled()
def ends_at_zero(total: float, speed: float, dt: float) -> bool:
    """Whether a sum of the given rate reaches 0 within a step dt, or no later than rounding can tell."""
    return total == 0.0 or total * (total + (1.0 + END_TIE) * dt * speed) <= 0.0


@compiled()
def jump(f: Follower, room: Room, k: int, r: int, to_cap: bool, total: float, log: Record) -> bool:
    """Member r of the margin set leaves, the last of its group: eta jumps to where another takes over.

    All samples must be watched. False, and nothing is changed, if it is not clear which; else the basis is that after
    the jump, and the solution on it is to be computed afresh.
    """
    Q, samples, group, index, R, watched, members = f.Q, f.samples, f.group, f.margin, f.R, room.watched, room.members
    kappa, bases, zero, i = samples[KAPPA], samples[BASE_0:], room.w[ZERO], index[r]
    own, sign, noise = group[i], kappa[i] if not to_cap else -kappa[i], 1.0
    for h in range(room.eta.shape[1]):
        noise += abs(room.eta[ETA, h])
    successor = r  # no constant for an index: functions would be compiled once more for it
    first, early, late, second = np.inf, np.inf, np.inf, np.inf  # its step, and bounds on it; the least of all others
    for c in range(group.shape[0]):
        side = watched[SIDE, c]
        if group[c] == own and side * kappa[c] * sign < 0.0:
            error = ROUNDING * (noise + watched[REACH, c] * total)
            step = max(side * watched[G, c], 0.0)
            if step < first:
                second, successor = min(second, early), c
                first, early, late = step, step - error, step + error
            else:
                second = min(second, step - error)
    if first == np.inf or second <= late:
        return False
    if candidate(Q, kappa, group, index, k, R, members, zero, successor) < 0.0:
        return False
    rows = members[BORDER + room.eta.shape[1] :]
    for j in range(r, k - 1):
        index[j] = index[j + 1]
        for h in range(rows.shape[0]):
            rows[h, j] = rows[h, j + 1]
    factor.delete(R, k, r, members[ROW])
    samples[P_LO, i] = 0.0
    mark(f.state, log.changes, log.used, i, LEFT if to_cap else RIGHT)
    if to_cap:
        change_cap(Q, bases, f.sums, i, 1.0)
        fix(bases, f.fixed, own, kappa[i], i, 1.0)
    # Without the leaver the successor depends on the margin set even less.
    pivot = candidate(Q, kappa, group, index, k - 1, R, members, zero, successor)
    factor.append(R, k - 1, members[ROW], pivot)
    index[k - 1] = successor
    if f.state[successor] == LEFT:
        change_cap(Q, bases, f.sums, successor, -1.0)
        fix(bases, f.fixed, own, kappa[successor], successor, -1.0)
    mark(f.state, log.changes, log.used, successor, MARGIN if first < np.inf else LEFT)
    return True
