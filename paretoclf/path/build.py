"""From the segments that the tracker recorded on one or several lines to the pieces of a Path."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from paretoclf.checks import Array
from paretoclf.path.box_qp import Segment
from paretoclf.path.result import Pieces

State = npt.NDArray[np.int8]


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
    state: list[tuple[int, int]]  # changes of set on entering this segment, in the direction of the path


def _place(legs: list[Leg], state: State) -> list[_Placed]:
    """Segments of consecutive legs with their changes of set; ``state`` is updated to the last segment's."""
    placed = []
    for leg in legs:
        for s in leg.segments:
            changes = []
            for i, new in s.changes:
                if state[i] != new:
                    changes.append((i, int(state[i])))
                    state[i] = new
            placed.append(_Placed(leg.t(s.t0), leg.t(s.t1), s, changes))
    return placed


def _flip(s: Segment) -> Segment:
    v0, v1, v2 = s.value
    return replace(
        s, a0=s.a1, a1=s.a0, eta0=s.eta1, eta1=s.eta0, w0=s.w1, w1=s.w0, value=(v0 + v1 + v2, -v1 - 2 * v2, v2)
    )


def assemble(n: int, forward: list[Leg], backward: list[Leg], mean: Array | None, chord_from: float | None) -> Pieces:
    """Join what was traced forwards and backwards from one point into the pieces of a path.

    Parameters
    ----------
    n : int
        Number of samples.
    forward, backward : list of Leg
        In the order in which they were traced.
    mean : array of shape (d,), optional
        Point the samples were centred at; the intercept is moved back.
    chord_from : float, optional
        Intercept at t = 0 if the path begins there with a range of optimal ones.
    """
    ordered: list[tuple[float, float, Segment, list[tuple[int, int]]]] = []
    state = np.full(n, -1, dtype=np.int8)
    behind = _place(backward, state)
    first = state.copy()
    # Walking a backward leg the other way, the changes on entering a segment are undone on leaving it.
    undo: list[tuple[int, int]] = []
    for p in reversed(behind):
        ordered.append((p.t1, p.t0, _flip(p.segment), undo))
        undo = [(i, old) for i, old in reversed(p.state) if old >= 0]
    start = np.full(n, -1, dtype=np.int8)
    if behind:
        for i, new in behind[0].segment.changes:
            start[i] = new
    ahead = _place(forward, start)
    if not behind and ahead:
        first = np.full(n, -1, dtype=np.int8)
        for i, new in ahead[0].segment.changes:
            first[i] = new
    current = first.copy()
    for k, (t0, t1, s, changes) in enumerate(ordered):
        for i, new in changes:
            current[i] = new
        ordered[k] = (t0, t1, s, changes)
    for k, p in enumerate(ahead):
        entering = [(i, int(new)) for i, new in p.segment.changes if current[i] != new or k > 0]
        for i, new in entering:
            current[i] = new
        ordered.append((p.t0, p.t1, p.segment, entering))

    keep, waiting, changes_out = [], [], []
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
