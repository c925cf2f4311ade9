"""Slopes at the knots of a path: one at each, though two pieces meet there, each with a slope of its own.

The two are equal but for rounding: that of t. `paretoclf.path.svm_lines.turning_slopes` chooses one where scores tell
them apart.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import ONE_COLUMN
from paretoclf.engine.segments import Log
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.pieces import Pieces

_TOGETHER = 32  # changes whose scores are computed together


def with_knot_slopes(pieces: Pieces, log: Log, Q: Quadratic, caps: Array) -> Pieces:
    """Choose a slope for each knot.

    Parameters
    ----------
    pieces : Pieces
        Of all segments of the log, which have the slopes of their beginnings; knots may rise or fall.
    log : Log
        With both slopes of each segment.
    Q : Quadratic
        The samples.
    caps : array of shape (2, n)
        At t = 0 and at t = 1.
    """
    left, right, apart = _meetings(pieces, log, Q)
    if not left.size:
        return pieces
    from paretoclf.path.svm_lines.turning_slopes import Meetings, settled  # of few small paths

    turns = [_in_scores(log.w[j, 1] - log.w[j, 0], Q) for j in (left, right)]
    return settled(pieces, Meetings(left, right, apart, turns[0], turns[1]), log.w, Q, caps)


def _meetings(pieces: Pieces, log: Log, Q: Quadratic) -> tuple[Index, Index, Array]:
    """Pairs of pieces that meet with slopes that scores tell apart, and by how much.

    Pieces without length may be between them, which are left out of a path.
    """
    long = np.flatnonzero(np.diff(pieces.t))
    # No score differs by more than the difference times the length of a sample: few need to be looked at.
    change = log.w[long[:-1], 1] - log.w[long[1:], 0]
    few = np.flatnonzero(np.linalg.norm(change, axis=1) * np.sqrt(Q.length2 + 1.0) > ONE_COLUMN)
    apart = _in_scores(change[few], Q)
    seen = apart > ONE_COLUMN
    return long[few[seen]], long[few[seen] + 1], apart[seen]


def _in_scores(changes: Array, Q: Quadratic) -> Array:
    """Largest change of a score with each change of the slope, which may end with the weight of a constant feature."""
    found = np.empty(len(changes))
    for first in range(0, len(changes), _TOGETHER):
        part = changes[first : first + _TOGETHER]
        scores = Q.project(part[:, : Q.width].T) + part[:, Q.width :].sum(axis=1)
        found[first : first + _TOGETHER] = np.abs(scores).max(axis=0)
    return found
