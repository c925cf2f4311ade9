"""Pieces: the stored form of a path, and how it is turned round, joined and cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.path.along import Shares


@dataclass(frozen=True)
class Pieces:
    """The stored form of a path of k pieces: storage grows with the sum of the margin-set sizes.

    ``t`` (k+1,) ends; margin set of piece j in ``index[ptr[j]:ptr[j+1]]`` with multipliers ``a0``, ``a1`` at its
    two ends; intercepts ``b0``, ``b1`` (k,); optimal value ``value`` (k, 3): at its start s, at its end e, and the bend
    c of ``(1 - f) s + f e - f (1 - f) c`` at the share f of the piece;
    ``w`` (k+1, d) where there are features, and not too many of them; ``state`` (n,) sets on piece 0 and ``changes``
    (3, m): piece, sample, set. ``rho0``, ``rho1`` (k,): margins of a 2nu-SVM.
    """

    t: Array
    ptr: Index
    index: Index
    a0: Array
    a1: Array
    b0: Array
    b1: Array
    value: Array
    w: Array | None
    state: State
    changes: Index
    rho0: Array = field(default_factory=lambda: np.zeros(0))
    rho1: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def still(cls, t: Array, margin: Index, a: Array, b: Array, value: float, w: Array | None, state: State) -> Pieces:
        """One piece on which only the intercept moves, from b[0] to b[1]; ``w`` (2, d) at both ends."""
        values, changes = np.array([[value, value, 0.0]]), np.zeros((3, 0), dtype=np.int64)
        return cls(t, np.array([0, margin.size]), margin, a, a, b[:1], b[1:], values, w, state, changes)

    def scaled(self, a: float = 1.0, w: float = 1.0, b: float = 1.0, value: float = 1.0) -> Pieces:
        """Multipliers, slopes, intercepts with margins, and values so many times as large."""
        P, slopes = self, None if self.w is None else w * self.w
        margins = {name: b * getattr(P, name) for name in ("b0", "b1", "rho0", "rho1")}
        return replace(P, a0=a * P.a0, a1=a * P.a1, value=value * P.value, w=slopes, **margins)

    def from_origin(self, mean: Array | None) -> Pieces:
        """Intercepts of samples that are measured from 0, where they are stored for ones measured from their mean."""
        if self.w is None or mean is None:
            return self
        shift = self.w @ mean
        return replace(self, b0=self.b0 - shift[:-1], b1=self.b1 - shift[1:])

    def reversed(self) -> Pieces:
        """The same from its end to its beginning: what changes on entering a piece is undone on leaving it."""
        back, last = slice(None, None, -1), self.t.size - 1
        piece, sample, new = self.changes[:, : self.changes[0].searchsorted(last)]
        few = sample.astype(np.uint16) if self.state.size < 2**16 else sample  # these are sorted by their digits
        order = np.argsort(few, kind="stable")  # the changes of each sample one after the other
        old = self.state[sample[order]]
        again = np.flatnonzero(np.diff(sample[order]) == 0)
        old[again + 1] = new[order[again]]
        before, state = np.empty_like(new), self.state.copy()
        before[order], state[sample] = old, new  # of repeated samples the last assignment stands
        changes, P = np.array([last - piece, sample, before])[:, back], self
        entries = P.ptr[-1] - P.ptr[back], P.index[back], P.a1[back], P.a0[back]
        w = None if P.w is None else P.w[back]
        pieces = P.b1[back], P.b0[back], P.value[back, [1, 0, 2]]
        return Pieces(P.t[back], *entries, *pieces, w, state, changes, P.rho1[back], P.rho0[back])

    def joined(self, other: Pieces) -> Pieces:
        """These and behind them others, which begin where these end."""
        P, Q, knots = self, other, slice(-1)  # of the knot between the two the other says what is there

        def both(name: str) -> Any:
            return np.concatenate([getattr(P, name), getattr(Q, name)])

        ptr = np.concatenate([P.ptr[knots], P.ptr[-1] + Q.ptr])
        changes = np.concatenate([P.changes, Q.changes], axis=1)
        changes[0, P.changes.shape[1] :] += P.t.size - 1
        w = None if P.w is None or Q.w is None else np.concatenate([P.w[knots], Q.w])
        entries = both("index"), both("a0"), both("a1")
        pieces = both("b0"), both("b1"), both("value")
        t = np.concatenate([P.t[knots], Q.t])
        return Pieces(t, ptr, *entries, *pieces, w, P.state, changes, both("rho0"), both("rho1"))

    def part(self, first: int, last: int) -> Pieces:
        """The pieces from first up to but without last."""
        ptr, changes = self.ptr[first : last + 1], self.changes - np.array([[first], [0], [0]])
        which = slice(first, last + 1), slice(first, last), slice(int(ptr[0]), int(ptr[-1]))
        return self._taken(*which, ptr=ptr - ptr[0], changes=changes).pruned()

    def cut_last(self, t: float) -> Pieces:
        """The same with a knot at t on the last piece, if t is inside of it."""
        P = self
        if not P.t[-2] < t < P.t[-1]:
            return P
        at, F = Shares.of(t, P.t[-2], P.t[-1]), slice(int(P.ptr[-2]), None)
        a, b = at.between(P.a0[F], P.a1[F]), at.between(P.b0[-1], P.b1[-1])
        start, end, bend = P.value[-1]
        middle = at.parabola(start, end, bend)
        value = [[start, middle, at.after**2 * bend], [middle, end, at.before**2 * bend]]
        w = None if P.w is None else np.concatenate([P.w[:-1], [at.between(P.w[-2], P.w[-1])], P.w[-1:]])
        margin = [] if not P.rho0.size else [at.between(P.rho0[-1], P.rho1[-1])]
        rho = {"rho0": np.append(P.rho0, margin), "rho1": np.concatenate([P.rho1[:-1], margin, P.rho1[-1:]])}
        return replace(
            P,
            t=np.insert(P.t, -1, t),
            ptr=np.append(P.ptr, P.ptr[-1] + a.size),
            index=np.append(P.index, P.index[F]),
            a0=np.append(P.a0, a),
            a1=np.concatenate([P.a1[: F.start], a, P.a1[F]]),
            b0=np.append(P.b0, b),
            b1=np.insert(P.b1, -1, b),
            value=np.concatenate([P.value[:-1], value]),
            w=w,
            **rho,
        )

    def pruned(self) -> Pieces:
        """Without pieces of no length, with the sets on the first piece as ``state``, and no change behind the last."""
        P, keep, changes = self, self.t[1:] > self.t[:-1], self.changes
        if not keep.all():
            size, changes = np.diff(P.ptr), changes.copy()
            changes[0] = np.append(0, np.cumsum(keep))[np.minimum(changes[0], keep.size)]
            P = P._taken(np.append(True, keep), keep, np.repeat(keep, size), ptr=np.append(0, np.cumsum(size[keep])))
        first, last = changes[0].searchsorted((1, P.t.size - 1)).tolist()
        if P is self and first == 0 and last == changes.shape[1]:
            return self
        state = self.state.copy()
        state[changes[1, :first]] = changes[2, :first]  # of repeated samples the last assignment stands
        return replace(P, state=state, changes=changes[:, first:last])

    def _taken(self, knots: Any, pieces: Any, entries: Any, **others: Any) -> Pieces:
        """Some of what there is for each knot, for each piece, and for each entry of a margin set; others as given."""
        which = dict.fromkeys(("t", "w"), knots) | dict.fromkeys(("index", "a0", "a1"), entries)
        which |= dict.fromkeys(("b0", "b1", "value", "rho0", "rho1"), pieces)
        stored = {name: getattr(self, name) for name in which}
        return replace(self, **{n: x[which[n]] for n, x in stored.items() if x is not None and x.size}, **others)
