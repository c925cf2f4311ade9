"""From the segments that the tracker recorded on one or several lines to the pieces of a Path."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.checks import Array, State
from paretoclf.costs import CostLine
from paretoclf.path.result import Pieces
from paretoclf.path.segments import Segment
from paretoclf.tolerances import AT_BOUND


@dataclass(frozen=True)
class Leg:
    """Segments of one line, whose local [0, 1] is [t_from, t_to] of the path (t_to < t_from if traced backwards)."""

    segments: list[Segment]
    t_from: float
    t_to: float

    def t(self, u: float) -> float:
        """Parameter of the path at the local parameter u."""
        return self.t_to if u == 1.0 else self.t_from + u * (self.t_to - self.t_from)


@dataclass(frozen=True)
class _Placed:
    t0: float
    t1: float
    segment: Segment
    changes: list[tuple[int, int, int]]  # sample, old set, new set: on entering this segment, as it was traced


def _place(legs: list[Leg], state: State) -> list[_Placed]:
    """Segments of consecutive legs with their changes of set; ``state`` is updated to the last segment's."""
    placed = []
    for leg in legs:
        for s in leg.segments:
            changes = []
            for i, new in s.changes:
                if state[i] != new:
                    changes.append((i, int(state[i]), new))
                    state[i] = new
            placed.append(_Placed(leg.t(s.t0), leg.t(s.t1), s, changes))
    return placed


def _first_state(n: int, legs: list[Leg]) -> State:
    """Sets on the first segment of the first leg: a leg begins by listing them all."""
    state = np.full(n, -1, dtype=np.int8)
    for i, new in legs[0].segments[0].changes:
        state[i] = new
    return state


def _flip(s: Segment) -> Segment:
    v0, v1, v2 = s.value
    return replace(
        s, a0=s.a1, a1=s.a0, eta0=s.eta1, eta1=s.eta0, w0=s.w1, w1=s.w0, value=(v0 + v1 + v2, -v1 - 2 * v2, v2)
    )


def assemble(n: int, forward: list[Leg], backward: list[Leg], mean: Array | None) -> Pieces:
    """Join what was traced forwards and backwards from one point into the pieces of a path.

    Parameters
    ----------
    n : int
        Number of samples.
    forward, backward : list of Leg
        In the order in which they were traced.
    mean : array of shape (d,), optional
        Point the samples were centred at; the intercept is moved back.
    """
    state = np.full(n, -1, dtype=np.int8)
    behind = _place(backward, state)
    first = state if behind else _first_state(n, forward)
    ahead = _place(forward, _first_state(n, backward or forward))
    ordered: list[tuple[float, float, Segment, list[tuple[int, int]]]] = []
    # Walking a backward leg the other way, the changes on entering a segment are undone on leaving it.
    undo: list[tuple[int, int]] = []
    for p in reversed(behind):
        ordered.append((p.t1, p.t0, _flip(p.segment), undo))
        undo = [(i, old) for i, old, _ in reversed(p.changes) if old >= 0]
    for p in ahead:
        ordered.append((p.t0, p.t1, p.segment, [(i, new) for i, _, new in p.changes]))

    keep: list[tuple[float, float, Segment]] = []
    waiting: list[tuple[int, int]] = []
    changes_out: list[tuple[int, int, int]] = []
    for t0, t1, s, changes in ordered:
        waiting += changes
        if t1 > t0:
            changes_out += [(len(keep), i, new) for i, new in waiting]
            waiting = []
            keep.append((t0, t1, s))
    segments = [s for _, _, s in keep]
    t = np.array([keep[0][0]] + [t1 for _, t1, _ in keep])
    w = None
    offset = np.zeros((2, len(segments)))
    if segments[0].w0 is not None:
        w = np.array([s.w0 for s in segments] + [segments[-1].w1])
        if mean is not None:
            offset = np.array([w[:-1] @ mean, w[1:] @ mean])
    b0 = np.array([s.eta0[0] for s in segments]) - offset[0]
    b1 = np.array([s.eta1[0] for s in segments]) - offset[1]
    return Pieces(
        t=t,
        ptr=np.concatenate([[0], np.cumsum([s.index.size for s in segments])]).astype(np.int64),
        index=np.concatenate([s.index for s in segments]).astype(np.int64),
        a0=np.concatenate([s.a0 for s in segments]),
        a1=np.concatenate([s.a1 for s in segments]),
        b0=b0,
        b1=b1,
        value=np.array([s.value for s in segments]),
        w=w,
        state=first,
        changes=np.array(changes_out, dtype=np.int64).reshape(-1, 3).T,
    )


def with_chords(pieces: Pieces, y: Array, weight: Array, line: CostLine, balanced: bool) -> Pieces:
    """Where b is an interval over a range of t, replace the tracker's end of it by the chord over that range.

    There the margin set only holds samples at their bounds. The interval's lower end is convex and its upper end
    concave in t, so the chord between its two closing points is optimal all along. Out of the origin of a balanced
    ray, where every b in [-1, 1] is a limit, it starts from the middle.
    """
    P, k = pieces, pieces.b0.size
    piece = np.repeat(np.arange(k), np.diff(P.ptr))
    costs = np.array([tuple(line.at(float(t))) for t in P.t])
    free = np.zeros(k, dtype=bool)
    middle = 0.5 * (P.a0 + P.a1), 0.5 * (costs[:-1] + costs[1:])  # a multiplier may cross from bound to bound
    for a, ends in ((P.a0, costs[:-1]), (P.a1, costs[1:]), middle):
        cap = weight[P.index] * ends[piece, np.where(y[P.index] > 0, 0, 1)]
        np.logical_or.at(free, piece, np.minimum(a, cap - a) > AT_BOUND * cap)
    b0, b1 = P.b0.copy(), P.b1.copy()
    edge = np.flatnonzero(np.diff(np.concatenate([[True], free, [True]]).astype(int)))
    for first, last in edge.reshape(-1, 2):  # pieces first .. last - 1 have no free multiplier
        begin = 0.0 if balanced and costs[first].sum() == 0.0 else b0[first]
        end = 0.0 if balanced and costs[last].sum() == 0.0 else b1[last - 1]
        share = (P.t[first : last + 1] - P.t[first]) / (P.t[last] - P.t[first])
        knots = begin + share * (end - begin)
        b0[first:last], b1[first:last] = knots[:-1], knots[1:]
    return replace(P, b0=b0, b1=b1)
