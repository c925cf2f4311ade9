"""From what the tracker logged on one or several lines to the pieces of a Path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paretoclf.checks import Array, Index, Mask
from paretoclf.path.events import LEFT, MARGIN
from paretoclf.path.jit import compiled
from paretoclf.path.result import Pieces
from paretoclf.path.segments import Log
from paretoclf.tolerances import AT_BOUND


@dataclass(frozen=True)
class Leg:
    """Segments ``first`` to ``last - 1`` of a log, whose [0, 1] is [t_from, t_to] of the path.

    ``t_to < t_from`` if it was traced backwards.
    """

    first: int
    last: int
    t_from: float
    t_to: float

    def t(self, u: Array) -> Array:
        """Parameter of the path at the local parameter u."""
        return np.where(u == 1.0, self.t_to, self.t_from + u * (self.t_to - self.t_from))


@dataclass(frozen=True)
class _Part:
    """A log in the order of the path's t: ends (2, s), sizes (s,), margin sets, and changes (3, .)."""

    t: Array
    size: Index
    index: Index
    a: Array
    eta: Array
    value: Array
    w: Array
    changes: Index


def _ahead(log: Log, legs: list[Leg]) -> _Part:
    s, used, c = (int(x) for x in log.count)
    t = np.concatenate([leg.t(log.t[:, leg.first : leg.last]) for leg in legs], axis=1)
    start, bend = log.value[:s, 0], log.value[:s, 2]
    value = np.stack([start, np.append(start[1:], log.value[s - 1].sum()), bend], axis=1)  # continuous in t
    changes = log.changes[:, :c]
    return _Part(
        t, np.diff(log.ptr[: s + 1]), log.index[:used], log.a[:, :used], log.eta[:s], value, log.w[:s],
        changes[[0, 1, 3]],
    )  # fmt: skip


@compiled()
def _reverse(size: Index, index: Index, a: Array, to: Index, to_a: Array) -> None:
    """Segments in reverse order, each with its entries in their own, and its two ends swapped."""
    begin, end = index.shape[0], index.shape[0]
    at = 0
    for j in range(size.shape[0] - 1, -1, -1):
        begin = end - size[j]
        for c in range(size[j]):
            to[at + c], to_a[0, at + c], to_a[1, at + c] = index[begin + c], a[1, begin + c], a[0, begin + c]
        at, end = at + size[j], begin


def _behind(log: Log, legs: list[Leg]) -> _Part:
    """The same, walked the other way: a change on entering a segment is undone on leaving it."""
    ahead = _ahead(log, legs)
    s = ahead.size.size
    index, a = np.empty_like(ahead.index), np.empty_like(ahead.a)
    _reverse(ahead.size, ahead.index, ahead.a, index, a)
    segment, sample, old, _ = log.changes[:, : int(log.count[2])][:, ::-1]
    kept = segment < s  # the last basis may have been reached without recording a segment on it
    return _Part(
        ahead.t[::-1, ::-1], ahead.size[::-1], index, a, ahead.eta[::-1, ::-1],
        ahead.value[::-1, [1, 0, 2]], ahead.w[::-1, ::-1],
        np.stack([s - segment, sample, old])[:, kept],
    )  # fmt: skip


def assemble(log: Log, forward: list[Leg], other: Log, backward: list[Leg], mean: Array | None, linear: bool) -> Pieces:
    """Join what was traced forwards (log) and backwards (other) from one point into the pieces of a path.

    Parameters
    ----------
    log, other : Log
        Both begin at the common point; one may be empty.
    forward, backward : list of Leg
        In the order in which they were traced.
    mean : array of shape (d,), optional
        Point the samples were centred at; the intercept is moved back.
    linear : bool
        Whether w is part of the solution (it is stored if the logs have it).
    """
    state = log.state.copy()
    parts = []
    if backward:
        parts.append(_behind(other, backward))
        _, sample, _, new = other.changes[:, : int(other.count[2])][
            :, other.changes[0, : int(other.count[2])] < parts[0].size.size
        ]
        state[sample] = new  # of repeated samples the last assignment stands
    if forward:
        parts.append(_ahead(log, forward))
    offset = np.concatenate([[0], np.cumsum([p.size.size for p in parts])[:-1]])
    t0, t1 = np.concatenate([p.t for p in parts], axis=1)
    size = np.concatenate([p.size for p in parts])
    changes = np.concatenate(
        [p.changes + np.array([[o], [0], [0]]) for p, o in zip(parts, offset, strict=True)], axis=1
    )
    index = np.concatenate([p.index for p in parts])
    a = np.concatenate([p.a for p in parts], axis=1)
    eta = np.concatenate([p.eta for p in parts])
    value = np.concatenate([p.value for p in parts])
    w = np.concatenate([p.w for p in parts])
    keep = t1 > t0
    if not keep.all():  # so short that both ends are one number in the parameter of the path
        entries = np.repeat(keep, size)
        changes[0] = np.concatenate([[0], np.cumsum(keep)])[np.minimum(changes[0], keep.size)]
        t0, t1, size, index, a = t0[keep], t1[keep], size[keep], index[entries], a[:, entries]
        eta, value, w = eta[keep], value[keep], w[keep]
    first = changes[0] == 0
    state[changes[1, first]] = changes[2, first]
    changes = changes[:, ~first & (changes[0] < size.size)]
    state[state > MARGIN] = LEFT  # a cost of zero all along: at its cap, which is zero
    slopes = None
    shift = np.zeros((2, size.size))
    if linear and w.shape[2]:
        slopes = np.concatenate([w[:, 0], w[-1:, 1]])
        if mean is not None:
            shift = np.stack([slopes[:-1] @ mean, slopes[1:] @ mean])
    return Pieces(
        t=np.concatenate([t0[:1], t1]),
        ptr=np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
        index=index,
        a0=a[0],
        a1=a[1],
        b0=eta[:, 0, 0] - shift[0],
        b1=eta[:, 1, 0] - shift[1],
        value=value,
        w=slopes,
        state=state,
        changes=changes,
    )


@compiled()
def _any_free(t: Array, ptr: Index, index: Index, a0: Array, a1: Array, start: Array, stop: Array) -> Mask:
    """Whether a multiplier of the piece is off its bounds; in the middle too, as it may cross from bound to bound."""
    free = np.zeros(ptr.shape[0] - 1, dtype=np.bool_)
    for j in range(free.shape[0]):
        largest = 0.0  # a multiplier far below its cap is not at zero if all are
        for c in range(ptr[j], ptr[j + 1]):
            largest = max(largest, a0[c], a1[c])
        for c in range(ptr[j], ptr[j + 1]):
            for share in (0.0, 0.5, 1.0):
                u = (1.0 - share) * t[j] + share * t[j + 1]
                cap = (1.0 - u) * start[index[c]] + u * stop[index[c]]
                a = (1.0 - share) * a0[c] + share * a1[c]
                if min(a, cap - a) > AT_BOUND * min(cap, largest):
                    free[j] = True
                    break
            if free[j]:
                break
    return free


def with_chords(pieces: Pieces, caps: Callable[[float], Array], from_origin: bool) -> Pieces:
    """Where b is an interval over a range of t, replace the tracker's end of it by the chord over that range.

    There the margin set only holds samples at their bounds. The interval's lower end is convex and its upper end
    concave in t, so the chord between its two closing points is optimal all along. Out of the origin of a balanced
    ray (``from_origin``), where every b in [-1, 1] is a limit, it starts from the middle.
    """
    P = pieces
    free = _any_free(P.t, P.ptr, P.index, P.a0, P.a1, caps(0.0), caps(1.0))
    b0, b1 = P.b0.copy(), P.b1.copy()
    edge = np.flatnonzero(np.diff(np.concatenate([[True], free, [True]]).astype(int)))
    for first, last in edge.reshape(-1, 2):  # pieces first .. last - 1 have no free multiplier
        begin = 0.0 if from_origin and not caps(float(P.t[first])).any() else b0[first]
        end = 0.0 if from_origin and not caps(float(P.t[last])).any() else b1[last - 1]
        share = (P.t[first : last + 1] - P.t[first]) / (P.t[last] - P.t[first])
        knots = begin + share * (end - begin)
        b0[first:last], b1[first:last] = knots[:-1], knots[1:]
    return replace(P, b0=b0, b1=b1)
