r"""The smooth branch behind an event at which one inequality becomes active, or is so no more.

While labels stay as they are, points and multipliers solve equations that are regular at such an event, so that it is
found by secants, to rounding. Behind it the labels are those before with one changed: where the multiplier of an active
row becomes 0 it leaves, and where a slack becomes 0 its row enters. Mostly x and z go on from where they are. Two cases
are jumps, in which another row changes, too:

- The row that leaves sets free a direction d without curvature (:math:`Pd=0`, and :math:`A_Wd=0` for all rows that are
  not free): x goes along it until another row stops it, which enters. So do the vertices of a linear program.
- The row that enters is a sum of equations and active rows: its multiplier grows at the expense of theirs until one of
  them is 0, and that row leaves.

What is found is tried, and no more: the next piece says whether all that must be positive is so. Where other cones
change, or two events are one, an interior-point solve behind the event says which branch it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.solve.curves.complementarity import eigenvalues, free_rows, watched
from paretoclf.solve.curves.newton import Branch, CurvePoint, NewtonLine

#: An event is this share of a piece, or less, from a root of its polynomial, and so many secants find it.
_BESIDE, _SECANTS = 1e-3, 4

#: A direction, or a sum of rows, that misses this share of what it is to be is none.
_MISSES = 1e-8


@dataclass(frozen=True)
class _Jump:
    """Where a pair goes at an event, and which other row changes."""

    pair: CurvePoint
    other: int | None


def row_of(newton: NewtonLine, branch: Branch, event: int) -> int | None:
    """Row of an event that is one of an inequality; None for that of another cone."""
    row = int(eigenvalues(newton.cones, newton.slack(branch.pair), branch.pair.z)[2][event])
    return row if newton.program.kinds[row] == "nonnegative" else None


def event_near(newton: NewtonLine, t: float, length: float, branch: Branch, event: int) -> float:
    """Where the slack or multiplier of an inequality is 0, by secants from a root of its polynomial."""

    def at(t: float) -> float:
        pair = newton.solved(t, branch.pair.x, branch.pair.z, branch.label)
        if pair is None:
            return np.nan
        return float(watched(newton.cones, newton.slack(pair), pair.z, branch.label)[event])

    near, before = t, t - _BESIDE * length
    value, was = at(near), at(before)
    for _ in range(_SECANTS):
        if value in (0.0, was):
            break
        step = value * (near - before) / (value - was)
        before, was = near, value
        near = near - step
        value = at(near)
    return near if abs(near - t) <= _BESIDE * length else t


def behind(newton: NewtonLine, branch: Branch, event: int, row: int) -> Branch | None:
    """The branch behind an event of a row, at which the pair of a branch is; None where the path ends there."""
    enters = bool(branch.label[event])
    change = _entered if enters else _left
    jump = change(newton, branch, row)
    if jump is None:
        return None
    which = eigenvalues(newton.cones, newton.slack(branch.pair), branch.pair.z)[2]
    label = branch.label.copy()
    label[event] = not enters
    if jump.other is not None:
        label[which == jump.other] = enters
    return Branch(jump.pair, label)


def _rows(newton: NewtonLine, label: Mask) -> tuple[Index, Index]:
    """Rows that are not free, and those of them that are inequalities or equations."""
    held = np.flatnonzero(~free_rows(newton.cones, label))
    return held, held[np.isin(newton.program.kinds[held], ("zero", "nonnegative"))]


def _left(newton: NewtonLine, branch: Branch, row: int) -> _Jump | None:
    """Let a row leave whose multiplier is 0; None where nothing stops the point."""
    pair = branch.pair
    P, _, A, b = newton.data(pair.t)
    held = _rows(newton, branch.label)[0]
    others = held[held != row]
    goal = np.zeros(len(P) + len(others) + 1)
    goal[-1] = -1.0
    way = _exactly(np.vstack([P, A[others], A[row]]), goal)
    if way is None:
        return _Jump(pair, None)
    free = np.setdiff1d(np.flatnonzero(newton.program.kinds == "nonnegative"), held)
    other, step = _first_stop((b - A @ pair.x)[free], A[free] @ way)
    if other is None:
        return None
    return _Jump(replace(pair, x=pair.x + step * way), int(free[other]))


def _entered(newton: NewtonLine, branch: Branch, row: int) -> _Jump | None:
    """Let a row enter whose slack is 0; None where no multiplier makes room."""
    pair = branch.pair
    A = newton.data(pair.t)[2]
    active = _rows(newton, branch.label)[1]
    shares = _exactly(A[active].T, A[row])
    if shares is None:
        return _Jump(pair, None)
    own = np.flatnonzero(newton.program.kinds[active] == "nonnegative")
    other, step = _first_stop(pair.z[active[own]], shares[own])
    if other is None:
        return None
    z = pair.z.copy()
    z[active] -= step * shares
    z[row] = step
    return _Jump(replace(pair, z=z), int(active[own[other]]))


def _exactly(matrix: Array, goal: Array) -> Array | None:
    """Solution of equations; None where they have none."""
    found = np.asarray(np.linalg.lstsq(matrix, goal, rcond=None)[0])
    missed = np.abs(matrix @ found - goal).max(initial=0.0)
    return found if missed <= _MISSES * np.abs(goal).max(initial=0.0) else None


def _first_stop(room: Array, speed: Array) -> tuple[int | None, float]:
    """Number of what first has no room left, and after which step; None where nothing ever has."""
    least = _MISSES * float(np.abs(speed).max(initial=0.0))
    falls = np.flatnonzero(speed > least)
    if not falls.size:
        return None, 0.0
    steps = np.maximum(room[falls], 0.0) / speed[falls]
    return int(falls[np.argmin(steps)]), float(steps.min())
