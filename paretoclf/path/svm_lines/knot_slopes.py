"""Slopes at the knots of a path: one at each, though two pieces meet there, each with a slope of its own.

The two are equal but for rounding: that of t. Where features are of size 1e7, a slope may turn from one classifier to
another within a few doubles of t. A piece as steep as that has no double at which its ends are what they are at the
true breakpoints; the flat pieces next to it have. So a knot takes the slope of the piece that is flatter, and the
steeper one the intercept that goes with it. Where two flat pieces meet, as nothing is left of a steep one between them,
the last double of the first is a piece of its own, on which the slope turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import ONE_COLUMN
from paretoclf.engine.segments import Log
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.pieces import Pieces

_FEW_DOUBLES = 8 * float(np.finfo(float).eps)  # breakpoints are rounded by less


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
    for left, right in _meetings(pieces, log, Q):
        pieces = _settled(pieces, log, left, right, Q, caps)
    return pieces


def _meetings(pieces: Pieces, log: Log, Q: Quadratic) -> Iterator[tuple[int, int]]:
    """Pairs of pieces that meet with slopes that scores tell apart, the last first.

    Pieces without length may be between them, which are left out of a path.
    """
    long = np.flatnonzero(np.diff(pieces.t))
    # No score differs by more than the difference times the length of a sample: few need to be looked at.
    apart = np.linalg.norm(log.w[long[:-1], 1] - log.w[long[1:], 0], axis=1) * np.sqrt(Q.length2 + 1.0)
    for k in np.flatnonzero(apart > ONE_COLUMN)[::-1].tolist():
        left, right = int(long[k]), int(long[k + 1])
        if _in_scores(log.w[left, 1] - log.w[right, 0], Q) > ONE_COLUMN:
            yield left, right


def _settled(pieces: Pieces, log: Log, left: int, right: int, Q: Quadratic, caps: Array) -> Pieces:
    """Choose the slope where two pieces meet."""
    t, end, begin = pieces.t, log.w[left, 1], log.w[right, 0]
    rates = [_in_scores(log.w[j, 1] - log.w[j, 0], Q) / abs(float(t[j + 1] - t[j])) for j in (left, right)]
    apart = _in_scores(end - begin, Q)
    knot = float(t[right])
    before = math.nextafter(knot, t[left])
    if _FEW_DOUBLES * max(rates) < apart and before != t[left]:
        cut = pieces.cut(left, before)
        w, b0, b1 = np.array(cut.w), cut.b0.copy(), cut.b1.copy()
        w[left + 1], w[left + 2 : right + 2] = end, begin
        b1[left] = b0[left + 1] = pieces.b1[left]
        b1[left + 1] = pieces.b0[right]
        return replace(cut, w=w, b0=b0, b1=b1)
    w, b0, b1 = np.array(pieces.w), pieces.b0.copy(), pieces.b1.copy()
    if rates[0] < rates[1]:
        w[left + 1 : right + 1] = end
        b0[right] += _shift_of(pieces, right, end - begin, Q, caps)
    else:
        w[left + 1 : right + 1] = begin
        b1[left] += _shift_of(pieces, left, begin - end, Q, caps)
    return replace(pieces, w=w, b0=b0, b1=b1)


def _in_scores(change: Array, Q: Quadratic) -> float:
    """Largest change of a score with a change of the slope, which may end with the weight of a constant feature."""
    of_features, constant = change[: Q.width], change[Q.width :]
    return float(np.abs(Q.project(of_features) + constant.sum()).max())


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
