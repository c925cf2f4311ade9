"""The choice of one slope where two pieces of a path meet, each with a slope of its own that scores tell apart.

Where features are of size 1e7, a slope may turn from one classifier to another within a few doubles of t. A piece as
steep as that has no double at which its ends are what they are at the true breakpoints; the flat pieces next to it
have. So a knot takes the slope of the piece that is flatter, and the steeper one the intercept that goes with it. Where
two flat pieces meet, as nothing is left of a steep one between them, the last double of the first is a piece of its
own, on which the slope turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.pieces import Pieces

_FEW_DOUBLES = 8 * float(np.finfo(float).eps)  # breakpoints are rounded by less


@dataclass(frozen=True)
class Meetings:
    """Pairs of pieces that meet with different slopes, in order; between them there may be pieces without length.

    Attributes
    ----------
    left, right : int arrays of shape (k,)
    apart : array of shape (k,)
        How far apart their slopes are where they meet, in scores.
    left_turn, right_turn : arrays of shape (k,)
        How far the slope turns on either piece, in scores.
    """

    left: Index
    right: Index
    apart: Array
    left_turn: Array
    right_turn: Array


def settled(pieces: Pieces, meetings: Meetings, slopes: Array, Q: Quadratic, caps: Array) -> Pieces:
    """Choose the slope at each meeting.

    Parameters
    ----------
    pieces : Pieces
        Those that meet; knots may rise or fall.
    meetings : Meetings
    slopes : array of shape (k, 2, d)
        Both slopes of each piece.
    Q, caps
        As for `paretoclf.path.svm_lines.knot_slopes.with_knot_slopes`.
    """
    assert pieces.w is not None
    t, w, b0, b1 = pieces.t, pieces.w.copy(), pieces.b0.copy(), pieces.b1.copy()
    cuts: dict[int, float] = {}
    left, right = meetings.left.tolist(), meetings.right.tolist()
    for k in reversed(range(len(left))):
        i, j = left[k], right[k]
        end, begin = slopes[i, 1], slopes[j, 0]
        left_rate = meetings.left_turn[k] / abs(t[i + 1] - t[i])
        right_rate = meetings.right_turn[k] / abs(cuts.get(j, t[j + 1]) - t[j])
        w[i + 1 : j + 1] = begin
        before = math.nextafter(t[j], t[i])
        if _FEW_DOUBLES * max(left_rate, right_rate) < meetings.apart[k] and before != t[i]:
            cuts[i] = before
        elif left_rate < right_rate:
            w[i + 1 : j + 1] = end
            b0[j] += _shift_of(pieces, j, end - begin, Q, caps)
        else:
            b1[i] += _shift_of(pieces, i, begin - end, Q, caps)
    made = replace(pieces, w=w, b0=b0, b1=b1)
    if not cuts:
        return made
    return _with_turns(made.cut(cuts), pieces, slopes, cuts, dict(zip(left, right, strict=True)))


def _with_turns(
    made: Pieces, given: Pieces, slopes: Array, cuts: dict[int, float], following: dict[int, int]
) -> Pieces:
    """Let the slope turn on the doubles that were cut off, to that of the piece which follows: in place."""
    left = np.array(sorted(cuts))
    new = left + 1 + np.arange(left.size)
    assert made.w is not None
    made.w[new] = slopes[left, 1]
    made.b1[new - 1] = made.b0[new] = given.b1[left]
    made.b1[new] = given.b0[[following[j] for j in left.tolist()]]
    return made


def _shift_of(pieces: Pieces, j: int, change: Array, Q: Quadratic, caps: Array) -> float:
    """Change of the intercept of piece j which keeps its margin set there while the slope changes.

    Measured at the sample that is furthest from its bounds; 0 where the margin set is empty, or the intercept is the
    weight of a feature.
    """
    entries = slice(int(pieces.ptr[j]), int(pieces.ptr[j + 1]))
    samples = pieces.index[entries]
    if samples.size == 0 or change.size != Q.width:
        return 0.0
    middle = 0.5 * (pieces.t[j] + pieces.t[j + 1])
    cap = (1.0 - middle) * caps[0, samples] + middle * caps[1, samples]
    half = 0.5 * (pieces.a0[entries] + pieces.a1[entries])
    furthest = samples[np.minimum(half, cap - half).argmax()]
    return -float(Q.project(change)[furthest])
