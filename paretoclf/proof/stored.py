"""Stored segments, block by block: the multipliers of the samples that move in a block, at the ends of its segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Array, Index, Mask

#: State of a sample whose multiplier is at its cap. (0: it is 0; anything else: it is listed.)
AT_CAP = 1

#: Segments whose multipliers are summed at a time.
_SEGMENTS = 1024


class Stored(Protocol):
    """Segments as arrays: what a proof is asked to believe.

    ``t`` (m+1,) ends; on segment j the samples ``index[ptr[j]:ptr[j+1]]`` have multipliers that go from ``a0`` to
    ``a1``, all others are at 0 or at their cap: ``state`` (n,) on segment 0 and ``changes`` (3, .) in order, a segment,
    a sample, its new state. Intercepts ``b0``, ``b1`` (m,), optimal values ``value`` (m, 3): at both ends, and the bend
    c of ``(1 - f) s + f e - f (1 - f) c``; slopes ``w`` (m+1, d) or None; for a 2nu-SVM the margins ``rho0``, ``rho1``.
    """

    @property
    def t(self) -> Array: ...  # noqa: D102
    @property
    def ptr(self) -> Index: ...  # noqa: D102
    @property
    def index(self) -> Index: ...  # noqa: D102
    @property
    def a0(self) -> Array: ...  # noqa: D102
    @property
    def a1(self) -> Array: ...  # noqa: D102
    @property
    def b0(self) -> Array: ...  # noqa: D102
    @property
    def b1(self) -> Array: ...  # noqa: D102
    @property
    def value(self) -> Array: ...  # noqa: D102
    @property
    def w(self) -> Array | None: ...  # noqa: D102
    @property
    def state(self) -> Any: ...  # noqa: D102
    @property
    def changes(self) -> Index: ...  # noqa: D102
    @property
    def rho0(self) -> Array: ...  # noqa: D102
    @property
    def rho1(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True)
class Group:
    """Some blocks in a row, and the multipliers at their ends (the anchors), one row for each.

    Attributes
    ----------
    ends : int array of shape (g + 1,)
        Block k consists of the segments ``ends[k]`` to ``ends[k + 1] - 1``.
    states : array of shape (g, n)
        State of each sample on the first segment of each block.
    alpha : array of shape (g + 1, n)
        Multipliers at the anchors: those at the beginning of segment ``ends[k]`` (at its end, for the last of all).
    """

    ends: Index
    states: Any
    alpha: Array


@dataclass(frozen=True)
class Block:
    """Some segments in a row, and the samples that do not keep to one bound all through them.

    Attributes
    ----------
    moving : int array of shape (u,)
        These samples.
    at_cap : bool array of shape (k, u)
        Whether they are at their cap on each of the k segments, where they are not listed.
    ptr : int array of shape (k + 1,)
        Those that are listed on segment j (from 0) are ``ptr[j]`` to ``ptr[j + 1] - 1``.
    row, place : int array of shape (e,)
        Segment of each sample that is listed, and its place in flat arrays of shape (k, u).
    """

    moving: Index
    at_cap: Mask
    ptr: Index
    row: Index
    place: Index


def groups(stored: Stored, caps: Array, size: int, rows: int) -> Iterator[Group]:
    """Cut the segments into equal blocks of about `size`, and these into groups of at most `rows` blocks.

    Parameters
    ----------
    stored : Stored
    caps : array of shape (2, n)
        Caps at t = 0 and at t = 1.
    size, rows : int
    """
    m, n = stored.t.size - 1, caps.shape[1]
    blocks = max(1, round(m / size))
    cuts = np.arange(blocks + 1) * m // blocks
    piece, sample, new = stored.changes
    until = np.searchsorted(piece, cuts, side="right")
    state, done = np.array(stored.state, dtype=np.int8), 0
    for first in range(0, cuts.size - 1, rows):
        ends = cuts[first : first + rows + 1]
        t = stored.t[ends]
        cap = np.multiply.outer(1.0 - t, caps[0]) + np.multiply.outer(t, caps[1])
        states, alpha = np.empty((ends.size, n), dtype=np.int8), np.empty((ends.size, n))
        for k, a in enumerate(ends):
            if a < m:
                part, done = slice(done, until[first + k]), until[first + k]
                state[sample[part]] = new[part]  # of repeated samples the last assignment stands
            j, listed = (a, stored.a0) if a < m else (m - 1, stored.a1)
            part = slice(stored.ptr[j], stored.ptr[j + 1])
            states[k] = state
            if a == m:  # the state on the last segment
                late = slice(done, None)
                states[k][sample[late]] = new[late]
            np.multiply(cap[k], states[k] == AT_CAP, out=alpha[k])
            index = stored.index[part]
            alpha[k, index] = listed[part]
        yield Group(ends, states[:-1], alpha)


def totals(stored: Stored, caps: Array, weight: Array) -> Array:
    """Sums of the sizes of all multipliers times weights (n,) >= 0, at both ends of each segment; shape (m, 2)."""
    m, t, (piece, sample, _) = stored.t.size - 1, np.stack([stored.t[:-1], stored.t[1:]]), stored.changes
    held = np.zeros((2, m))  # by what is at its cap, at t = 0 and t = 1
    if caps.any():
        moved, of = Cutter(stored).step * weight[sample], np.minimum(piece, m - 1)
        first = weight * (np.asarray(stored.state) == AT_CAP)
        for sums, cap in zip(held, caps, strict=True):
            steps = np.bincount(of, moved * cap[sample], m)
            steps[0] += cap @ first
            np.maximum(steps.cumsum(), 0.0, out=sums)
    ends = (1.0 - t) * held[0] + t * held[1]
    for j in range(0, m, _SEGMENTS):
        ptr = stored.ptr[j : min(j + _SEGMENTS, m) + 1]
        listed, row = slice(ptr[0], ptr[-1]), np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
        each = weight.take(stored.index[listed])
        for sums, a in zip(ends, (stored.a0, stored.a1), strict=True):
            sums[j : j + _SEGMENTS] += np.bincount(row, each * np.abs(a[listed]), ptr.size - 1)
    return np.asarray(ends.T)


def kernel_rounding(weight: Array | None, lam: float, stored: Stored, caps: Array, sums: Array | None) -> Array | None:
    """What rounding of kernel values can make of the dual value on each segment, shape (m,).

    ``weight`` (n,) is that of the problem (``SoftMargin.kernel_rounding``); None: no value is rounded. ``sums`` (m, 2)
    are those of the sizes of all multipliers at both ends, or more, if known: mostly all weights are equal.
    """
    if weight is None:
        return None
    one = sums is not None and bool((weight == weight[0]).all())
    sizes = weight[0] * sums if one else totals(stored, caps, weight)
    return np.asarray((0.5 / lam) * sizes.max(axis=1) ** 2)


class Cutter:
    """Cuts one block after the other out of stored segments."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        m, n = stored.t.size - 1, np.size(stored.state)
        piece, sample, new = stored.changes
        self.until = np.searchsorted(piece, np.arange(m + 1), side="right")
        # By how much each change moves "at its cap", as a number: then sums of changes are states.
        order = np.argsort(sample, kind="stable")
        after = (new[order] == AT_CAP).astype(np.int8)
        before = np.empty_like(after)
        before[1:] = after[:-1]
        first = np.append(True, np.diff(sample[order]) != 0)[: sample.size]
        before[first] = np.asarray(stored.state)[sample[order[first]]] == AT_CAP
        self.step = np.empty_like(after)
        self.step[order] = after - before
        self.position: Index = np.empty(n, dtype=np.int64)
        self.seen: Mask = np.zeros(n, dtype=np.bool_)

    def block(self, a: int, z: int, state: Any) -> Block:
        """Segments a to z - 1; ``state`` are the states on the first of them."""
        S, m = self.stored, self.stored.t.size - 1
        after = S.ptr[min(z + 1, m)]  # the multipliers at the second anchor are those of the next segment
        listed = S.index[S.ptr[a] : after]
        self.seen[listed] = True
        self.seen[S.changes[1, self.until[a] : self.until[min(z, m - 1)]]] = True
        moving = np.flatnonzero(self.seen)
        self.seen[moving] = False
        self.position[moving] = np.arange(moving.size)
        steps = np.zeros((z - a, moving.size), dtype=np.int8)
        steps[0] = state[moving] == AT_CAP
        inside = slice(self.until[a], self.until[z - 1])
        place = (S.changes[0, inside] - a) * moving.size + self.position[S.changes[1, inside]]
        np.add.at(steps.reshape(-1), place, self.step[inside])
        at_cap = np.add.accumulate(steps, axis=0, dtype=np.int8).astype(np.bool_)
        ptr = S.ptr[a : z + 1] - S.ptr[a]
        row = np.repeat(np.arange(z - a), np.diff(ptr))
        return Block(moving, at_cap, ptr, row, row * moving.size + self.position.take(listed[: row.size]))
