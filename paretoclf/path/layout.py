"""The state of the fast road: few arrays, one row per quantity, so that compiled functions take few arguments."""

from __future__ import annotations

from typing import NamedTuple

from paretoclf.checks import Array, Index, State
from paretoclf.path.quadratic import Rows

#: Why `run` stopped.
END, CARE, ROOM, PAUSE = 0, 1, 2, 3

#: Rows of the array of samples (9, n).
P, P_LO, KAPPA, CAP_RATE, BASE_0, BASE_1 = range(6)
#: Rows of the array of the margin set: multipliers, their rates, a column of Q and of the factor, a solution.
A, DA, COLUMN, ROW, SOLUTION = range(5)
#: Rows of the array of watched samples: margin and rate, now and at the beginning of the epoch; what samples at their
#: cap contribute to the rate; sqrt(Q_ii); side on which the margin is positive (0: in the margin set); sign, kappa.
G, DG, FIRST_G, FIRST_DG, CAP_DG, REACH, SIDE, SIGN, KAPPA_NEAR = range(9)
NEAR, WHERE = range(2)  # the watched samples; where a sample is among them (-1: not)
W, DW, DW_CAP, ZERO = range(4)  # features: w, its rate, that of those at their cap; zeros
ETA, DETA, RIGHT_SIDE, STEP = range(4)
ALL_G, ALL_DG, SPREAD = range(3)  # of all samples: margin, rate, distance from the centre of the margin set


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
    tune: Array  # wanted steps per epoch; per step, how far t, w and the centre of the margin set went
    end_tolerance: float


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
