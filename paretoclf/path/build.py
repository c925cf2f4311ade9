"""From what the tracker logged on one or several lines to the pieces of a Path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paretoclf.checks import Array, Index, Mask
from paretoclf.path.jit import compiled
from paretoclf.path.pieces import Pieces
from paretoclf.path.segments import Log
from paretoclf.path.sets import LEFT, MARGIN
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


@compiled()
def _place(
    log_ptr: Index, log_index: Index, log_a: Array, log_eta: Array, log_value: Array, log_w: Array, s: int,
    reverse: bool, at: int, ptr: Index, index: Index, a: Array, b: Array, value: Array, w: Array,
) -> None:  # fmt: skip
    """Copy the s segments of a log behind the first `at` of a path, in reverse order with their ends swapped if so."""
    first, last = (1, 0) if reverse else (0, 1)
    for j in range(s):
        c = s - 1 - j if reverse else j
        begin, to = log_ptr[c], ptr[at + j]
        size = log_ptr[c + 1] - begin
        ptr[at + j + 1] = to + size
        for e in range(size):
            index[to + e] = log_index[begin + e]
            a[0, to + e], a[1, to + e] = log_a[first, begin + e], log_a[last, begin + e]
        for g in range(log_eta.shape[2]):
            b[g, 0, at + j], b[g, 1, at + j] = log_eta[c, first, g], log_eta[c, last, g]
        # The value is continuous in t.
        end = log_value[c + 1, 0] if c + 1 < s else log_value[c, 0] + log_value[c, 1] + log_value[c, 2]
        value[at + j, first], value[at + j, last], value[at + j, 2] = log_value[c, 0], end, log_value[c, 2]
        for f in range(w.shape[1]):
            w[at + j, f], w[at + j + 1, f] = log_w[c, first, f], log_w[c, last, f]


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
    ahead, behind = (int(x.count[0]) if legs else 0 for x, legs in ((log, forward), (other, backward)))
    entries = sum(int(x.count[1]) for x, legs in ((log, forward), (other, backward)) if legs)
    s, width = ahead + behind, log.w.shape[2]
    ptr, index, a = np.zeros(s + 1, dtype=np.int64), np.empty(entries, dtype=np.int64), np.empty((2, entries))
    b, value, w = np.zeros((max(1, log.eta.shape[2]), 2, s)), np.empty((s, 3)), np.empty((s + 1, width))
    t0, t1 = np.empty((2, s))
    for x, legs, count, reverse, at in ((other, backward, behind, True, 0), (log, forward, ahead, False, behind)):
        if count:
            _place(x.ptr, x.index, x.a, x.eta, x.value, x.w, count, reverse, at, ptr, index, a, b, value, w)
            t = np.concatenate([leg.t(x.t[:, leg.first : leg.last]) for leg in legs], axis=1)
            t0[at : at + count], t1[at : at + count] = t[::-1, ::-1] if reverse else t
    changes = log.made[[0, 1, 3]] + np.array([[behind], [0], [0]])
    if backward:
        # Walked the other way, a change on entering a segment is undone on leaving it. The last basis may have been
        # reached without recording a segment on it.
        segment, sample, old, new = other.made[:, other.made[0] < behind]
        state[sample] = new  # of repeated samples the last assignment stands
        undone = np.stack([behind - segment, sample, old])[:, ::-1]
        changes = np.concatenate([undone, changes], axis=1) if forward else undone
    keep = t1 > t0
    if not keep.all():  # so short that both ends are one number in the parameter of the path
        size = np.diff(ptr)
        kept = np.repeat(keep, size)
        changes[0] = np.concatenate([[0], np.cumsum(keep)])[np.minimum(changes[0], s)]
        t0, t1, index, a, b, value = t0[keep], t1[keep], index[kept], a[:, kept], b[:, :, keep], value[keep]
        ptr, w = np.concatenate([[0], np.cumsum(size[keep])]), w[np.append(keep, True)]
    first = changes[0] == 0
    state[changes[1, first]] = changes[2, first]
    changes = changes[:, ~first & (changes[0] < t0.size)]
    state[state > MARGIN] = LEFT  # a cost of zero all along: at its cap, which is zero
    rho = np.zeros((2, 0))
    if b.shape[0] == 2:  # the multipliers are b - rho and -b - rho
        b, rho = 0.5 * (b[:1] - b[1:]), -0.5 * (b[0] + b[1])
    slopes = w if linear and width else None
    if slopes is not None and mean is not None:
        shift = slopes @ mean
        b -= np.stack([shift[:-1], shift[1:]])
    return Pieces(
        t=np.concatenate([t0[:1], t1]),
        ptr=ptr,
        index=index,
        a0=a[0],
        a1=a[1],
        b0=b[0, 0],
        b1=b[0, 1],
        value=value,
        w=slopes,
        state=state,
        changes=changes,
        rho0=rho[0],
        rho1=rho[1],
    )


@compiled()
def _any_free(t: Array, ptr: Index, index: Index, a0: Array, a1: Array, start: Array, stop: Array, free: Mask) -> None:
    """Whether a multiplier of the piece is off its bounds; in the middle too, as it may cross from bound to bound."""
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


def with_chords(pieces: Pieces, caps: Callable[[float], Array], from_origin: bool) -> Pieces:
    """Where b is an interval over a range of t, replace the tracker's end of it by the chord over that range.

    There the margin set only holds samples at their bounds. The interval's lower end is convex and its upper end
    concave in t, so the chord between its two closing points is optimal all along. Out of the origin of a balanced
    ray (``from_origin``), where every b in [-1, 1] is a limit, it starts from the middle.
    """
    P = pieces
    free = np.zeros(P.t.size - 1, dtype=np.bool_)
    _any_free(P.t, P.ptr, P.index, P.a0, P.a1, caps(0.0), caps(1.0), free)
    if free.all():
        return P
    b0, b1 = P.b0.copy(), P.b1.copy()
    edge = np.flatnonzero(np.diff(np.concatenate([[True], free, [True]]).astype(int)))
    for first, last in edge.reshape(-1, 2):  # pieces first .. last - 1 have no free multiplier
        begin = 0.0 if from_origin and not caps(float(P.t[first])).any() else b0[first]
        end = 0.0 if from_origin and not caps(float(P.t[last])).any() else b1[last - 1]
        share = (P.t[first : last + 1] - P.t[first]) / (P.t[last] - P.t[first])
        knots = begin + share * (end - begin)
        b0[first:last], b1[first:last] = knots[:-1], knots[1:]
    return replace(P, b0=b0, b1=b1)
