"""Pieces: the stored form of a path, and how it is turned round, joined and cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.problem.shares import Shares


@dataclass(frozen=True)
class Pieces:
    """Stored form of a path of k pieces: storage grows with the sum of the margin-set sizes.

    ``t`` (k+1,) ends; margin set of piece j in ``index[ptr[j]:ptr[j+1]]`` with multipliers ``a0``, ``a1`` at its
    two ends, all others at 0 or at their cap; intercepts ``b0``, ``b1`` (k,); optimal value ``value`` (k, 3): at its
    start s, at its end e, and the bend c of ``(1 - f) s + f e - f (1 - f) c`` at the share f of the piece;
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
        """Single piece on which only the intercept moves, from b[0] to b[1]; ``w`` (2, d) at both ends."""
        ptr = np.array([0, margin.size])
        values = np.array([[value, value, 0.0]])
        changes = np.zeros((3, 0), dtype=np.int64)
        return cls(t, ptr, margin, a, a, b[:1], b[1:], values, w, state, changes)

    def scaled(self, a: float = 1.0, w: float = 1.0, b: float = 1.0, value: float = 1.0) -> Pieces:
        """Multiply multipliers, slopes, intercepts and margins, and values by a factor each."""
        changed = {name: b * getattr(self, name) for name in ("b0", "b1", "rho0", "rho1")}
        changed["w"] = None if self.w is None else w * self.w
        changed["value"] = value * self.value
        return replace(self, a0=a * self.a0, a1=a * self.a1, **changed)

    def from_origin(self, mean: Array | None) -> Pieces:
        """Turn intercepts for samples that are measured from their mean into those for samples measured from 0."""
        if self.w is None or mean is None:
            return self
        shift = self.w @ mean
        return replace(self, b0=self.b0 - shift[:-1], b1=self.b1 - shift[1:])

    def reversed(self) -> Pieces:
        """Pieces from the end to the beginning: what changes on entering a piece is undone on leaving it."""
        back, last = slice(None, None, -1), self.t.size - 1
        piece, sample, new = self.changes[:, : self.changes[0].searchsorted(last)]
        few = sample.astype(np.uint16) if self.state.size < 2**16 else sample  # these are sorted by their digits
        order = np.argsort(few, kind="stable")  # the changes of each sample one after the other
        in_order = sample[order]
        old = self.state[in_order]
        again = np.flatnonzero(np.diff(in_order) == 0)
        old[again + 1] = new[order[again]]
        before = np.empty_like(new)
        before[order] = old
        state = self.state.copy()
        state[sample] = new  # of repeated samples the last assignment stands
        return Pieces(
            t=self.t[back],
            ptr=self.ptr[-1] - self.ptr[back],
            index=self.index[back],
            a0=self.a1[back],
            a1=self.a0[back],
            b0=self.b1[back],
            b1=self.b0[back],
            value=self.value[back, [1, 0, 2]],
            w=None if self.w is None else self.w[back],
            state=state,
            changes=np.array([last - piece, sample, before])[:, back],
            rho0=self.rho1[back],
            rho1=self.rho0[back],
        )

    def joined(self, other: Pieces) -> Pieces:
        """Pieces of two paths one behind the other, which begins where this one ends."""
        first = slice(-1)  # all knots but the one between the two, which is the other's
        names = ("index", "a0", "a1", "b0", "b1", "value", "rho0", "rho1")
        both = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        changes = np.concatenate([self.changes, other.changes], axis=1)
        changes[0, self.changes.shape[1] :] += self.t.size - 1
        w = None
        if self.w is not None and other.w is not None:
            w = np.concatenate([self.w[first], other.w])
        t = np.concatenate([self.t[first], other.t])
        ptr = np.concatenate([self.ptr[first], self.ptr[-1] + other.ptr])
        return Pieces(t=t, ptr=ptr, w=w, state=self.state, changes=changes, **both)

    def part(self, first: int, last: int) -> Pieces:
        """Pieces from first up to but without last."""
        ptr = self.ptr[first : last + 1]
        changes = self.changes - np.array([[first], [0], [0]])
        knots, pieces = slice(first, last + 1), slice(first, last)
        entries = slice(int(ptr[0]), int(ptr[-1]))
        return self._taken(knots, pieces, entries, ptr=ptr - ptr[0], changes=changes).pruned()

    def cut_last(self, t: float) -> Pieces:
        """Pieces with one more knot, at t on the last piece; the same if t is not inside of it."""
        return self.cut({self.t.size - 2: t})

    def cut(self, where: Mapping[int, float]) -> Pieces:
        """Pieces with one more knot on some of them, at its t; none where that is not inside. Knots may rise or fall.

        Each is cut in time that is linear in all of them: those of a long path are cut together.
        """
        P, j = self, np.array(sorted(where), dtype=np.int64)
        t = np.array([where[k] for k in j.tolist()])
        inside = (np.minimum(P.t[j], P.t[j + 1]) < t) & (t < np.maximum(P.t[j], P.t[j + 1]))
        if not inside.any():
            return P
        j, t = j[inside], t[inside]
        start, end = P.t[j], P.t[j + 1]
        share = Shares((end - t) / (end - start), (t - start) / (end - start))
        sizes = P.ptr[j + 1] - P.ptr[j]
        row = np.repeat(np.arange(j.size), sizes)
        entries = np.arange(row.size) + (P.ptr[j] - np.cumsum(sizes) + sizes)[row]
        of_entries = Shares(share.before[row], share.after[row])
        a = of_entries.between(P.a0[entries], P.a1[entries])
        first, last = P.ptr[j][row], P.ptr[j + 1][row]
        b = share.between(P.b0[j], P.b1[j])
        begin, finish, bend = P.value[j].T
        middle = share.parabola(begin, finish, bend)
        value = P.value.copy()
        value[j] = np.stack([begin, middle, share.after**2 * bend], axis=1)
        behind = np.stack([middle, finish, share.before**2 * bend], axis=1)
        changes = P.changes.copy()
        changes[0] += j.searchsorted(changes[0])
        w, rho0, rho1 = P.w, P.rho0, P.rho1
        if w is not None:
            w = np.insert(w, j + 1, (share.before * w[j].T + share.after * w[j + 1].T).T, axis=0)
        if rho0.size:
            rho = share.between(rho0[j], rho1[j])
            rho0, rho1 = np.insert(rho0, j + 1, rho), np.insert(rho1, j, rho)
        return replace(
            P,
            t=np.insert(P.t, j + 1, t),
            ptr=np.append(0, np.cumsum(np.insert(np.diff(P.ptr), j + 1, sizes))),
            index=np.insert(P.index, last, P.index[entries]),
            a0=np.insert(P.a0, last, a),
            a1=np.insert(P.a1, first, a),
            b0=np.insert(P.b0, j + 1, b),
            b1=np.insert(P.b1, j, b),
            value=np.insert(value, j + 1, behind, axis=0),
            w=w,
            changes=changes,
            rho0=rho0,
            rho1=rho1,
        )

    def pruned(self) -> Pieces:
        """Leave out pieces without length, and changes behind the last; ``state`` has the sets on the first piece."""
        P, changes = self, self.changes
        keep = P.t[1:] > P.t[:-1]
        if not keep.all():
            new_places = np.append(0, np.cumsum(keep))
            changes = changes.copy()
            changes[0] = new_places[np.minimum(changes[0], keep.size)]
            size = np.diff(P.ptr)
            ptr = np.append(0, np.cumsum(size[keep]))
            P = P._taken(np.append(True, keep), keep, np.repeat(keep, size), ptr=ptr)
        first, last = changes[0].searchsorted((1, P.t.size - 1)).tolist()
        if P is self and first == 0 and last == changes.shape[1]:
            return self
        state = self.state.copy()
        state[changes[1, :first]] = changes[2, :first]  # of repeated samples the last assignment stands
        return replace(P, state=state, changes=changes[:, first:last])

    def _taken(self, knots: Any, pieces: Any, entries: Any, **others: Any) -> Pieces:
        """Select some knots, pieces, and entries of margin sets; other fields are as given."""
        which = dict.fromkeys(("t", "w"), knots) | dict.fromkeys(("index", "a0", "a1"), entries)
        which |= dict.fromkeys(("b0", "b1", "value", "rho0", "rho1"), pieces)
        stored = {name: getattr(self, name) for name in which}
        there = {name: array for name, array in stored.items() if array is not None and array.size}
        taken = {name: array[which[name]] for name, array in there.items()}
        return replace(self, **taken, **others)
