"""Changes of cones that the points and multipliers of a curve show on both sides.

The search labels each eigenvalue of a cone as one of the slack or one of the multiplier. Where both are 0, its label
says nothing. So it is of the rows of a norm whose constraint is not active: the variable that CVXPY puts above the norm
may then be anything between the norm and its limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.solve.curves.complementarity import CurveEvent, eigenvalues

#: A slack or a multiplier below this share of the largest of the path is 0.
_ZERO = 1e-10


@dataclass(frozen=True)
class Middle:
    """Eigenvalues of slacks and of multipliers in the middle of a piece, and the row of the cone that has each."""

    slacks: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    rows: Index = field(repr=False)

    @classmethod
    def of(cls, line: ConeLine, t: float, x: Array, z: Array) -> Middle:
        """Read them from a point and its multipliers."""
        return cls(*eigenvalues(line.base.grouped, line.slacks(x, t), z))


def shown_changes(
    changes: Sequence[CurveEvent], t: Array, smooth: Sequence[bool], middles: Sequence[Middle]
) -> tuple[CurveEvent, ...]:
    """Return the changes before and after which slacks and multipliers are as they say.

    Parameters
    ----------
    changes : sequence of CurveEvent
    t : array
        Ends of the pieces.
    smooth : sequence of bool
        Whether each piece is no chord.
    middles : sequence of Middle
        What is in the middle of each piece.
    """
    largest_slack = max(float(np.abs(each.slacks).max(initial=0.0)) for each in middles)
    largest_multiplier = max(float(np.abs(each.multipliers).max(initial=0.0)) for each in middles)
    zero = (_ZERO * largest_slack, _ZERO * largest_multiplier)

    def shown(change: CurveEvent, count: int, step: int) -> bool:
        pieces = _pieces_beside(change, changes, t, smooth, step)
        return any(_shows(middles[j], change.row, count, zero) for j in pieces)

    return tuple(each for each in changes if shown(each, each.before, -1) and shown(each, each.after, 1))


def _pieces_beside(
    change: CurveEvent, changes: Sequence[CurveEvent], t: Array, smooth: Sequence[bool], step: int
) -> Iterator[int]:
    """Numbers of the smooth pieces from a change to the next one of its row, or to chords: before it, or after it."""
    ends = {each.t for each in changes if each.row == change.row}
    after = int(np.searchsorted(t, change.t, side="right")) - 1
    j = after if step > 0 else after - 1
    while 0 <= j < len(smooth) and smooth[j]:
        yield j
        if float(t[j + 1] if step > 0 else t[j]) in ends:
            return
        j += step


def _shows(middle: Middle, row: int, count: int, zero: tuple[float, float]) -> bool:
    """Whether so many eigenvalues of a cone's slack are positive, and all others of its multiplier.

    Both are positive above what is 0 of a slack, and of a multiplier.
    """
    mine = middle.rows == row
    of_slack = np.sort(middle.slacks[mine])[::-1][:count]
    of_multiplier = np.sort(middle.multipliers[mine])[::-1][: int(mine.sum()) - count]
    return bool((of_slack > zero[0]).all() and (of_multiplier > zero[1]).all())
