"""The state of the fast road: few arrays, one row per quantity, so that compiled functions take few arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.memory import empty_on_line

if TYPE_CHECKING:
    from paretoclf.path.rows import Rows

#: Why `run` stopped; GO: it did not.
END, CARE, ROOM, PAUSE, GO = range(5)

EPOCH = 64  # steps between two fresh computations, at most

#: Rows of the array of samples (6, n).
P, P_LO, KAPPA, CAP_RATE, BASE_0, BASE_1 = range(6)
#: Rows of the array of the margin set: a column of Q and of the factor, a solution; multipliers, their rates, and the
#: factor's solutions for the rows of A_F (one per group); behind these the rows of A_F themselves.
COLUMN, ROW, SOLUTION, A, DA, BORDER = range(6)
#: Rows of the array of watched samples: margin and rate, now and at the beginning of the epoch; what samples at their
#: cap contribute to the rate; sqrt(Q_ii); side on which the margin is positive (0: in the margin set); sign; and
#: from KAPPA_NEAR on, one row per group, kappa of its samples and 0 for the others.
G, DG, FIRST_G, FIRST_DG, CAP_DG, REACH, SIDE, SIGN, KAPPA_NEAR = range(9)
NEAR, WHERE = range(2)  # the watched samples; where a sample is among them (-1: not)
DW_CAP, ZERO, W, DW, CENTRE = range(
    5
)  # features: rate of those at their cap; zeros; w, its rate, centres of the groups
ETA, DETA, RIGHT_SIDE, STEP = range(4)
SPREAD, ALL_G, ALL_DG, TO_CENTRE = range(4)  # of all samples: distance from the centre of the margin set; margin, rate
WANTED, PER_STEP_T, PER_STEP_W, PER_STEP_CENTRE, BLOCK = range(5)  # of `tune`


class Follower(NamedTuple):
    """What is followed, and where it stands: shared with the careful steps, changed in place."""

    Q: Rows
    samples: Array
    group: Index
    phi: Array
    e: Array
    state: State
    margin: Index  # its leading members are the margin set
    R: Array
    sums: Array
    fixed: Array
    at: Array  # t and its low part
    tune: Array  # wanted steps per epoch; how far t, w and the centre of the margin set went per step; numbers in block
    end_tolerance: float
    to_zero: bool  # see `Line`
    begin: int  # address of `begin_epoch`


class Room(NamedTuple):
    """Working arrays of the fast road."""

    members: Array
    coef: Array
    eta: Array
    S: Array
    e: Array  # right-hand sides without those at their cap: value and rate, hi and lo
    line_e: Array  # with them: hi and lo
    phi: Array
    value: Array  # the optimal value, its derivative, minus the second
    drift: Array  # |V|^2, V.D, |D|^2, time
    w: Array
    at_cap: Array
    every: Array
    watched: Array
    which: Index
    first: Index  # the margin set at the beginning of the epoch
    slot: Index
    block: Array


def make_room(n: int, m: int, width: int, features: int, rows: int) -> Room:
    """Room for n samples, m groups and margin sets of `rows`, without a block.

    `width` is that of what the samples at their cap add up to: the number of features, or n.
    """
    watched = -(-(n + EPOCH + rows) // 8) * 8  # whole lines of the cache
    members = empty_on_line(BORDER + 2 * m, rows)
    members[:] = 0.0
    return Room(
        members=members,
        coef=np.empty((2 + m, rows)),
        eta=np.zeros((4, m)),
        S=np.zeros((m, m)),
        e=np.zeros((2, 2, m)),
        line_e=np.zeros((2, m)),
        phi=np.zeros((2, 2)),
        value=np.zeros(3),
        drift=np.zeros(4),
        w=np.zeros((CENTRE + m, features)),
        at_cap=np.empty((2, 2, width)),
        every=np.empty((TO_CENTRE + m, n)),
        watched=empty_on_line(KAPPA_NEAR + m, watched),
        which=np.empty((2, watched), dtype=np.int64),
        first=np.empty(rows, dtype=np.int64),
        slot=np.empty(max(rows, features), dtype=np.int64),
        block=np.empty(0),
    )


class Record(NamedTuple):
    """The arrays of a `Log`."""

    t: Array
    ptr: Index
    eta: Array
    value: Array
    w: Array
    members: Index
    a: Array
    changes: Index
    used: Index
