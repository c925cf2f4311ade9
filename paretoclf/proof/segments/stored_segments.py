"""Stored segments, block by block: the multipliers of the samples that move in a block, at the ends of its segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.problem.pieces import Pieces

#: State of a sample whose multiplier is at its cap. (0: it is 0; anything else: it is listed.)
AT_CAP = 1

#: Segments whose multipliers are summed at a time.
_SEGMENTS = 1024


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


def groups(stored: Pieces, caps: Array, size: int, rows: int) -> Iterator[Group]:
    """Cut the segments into equal blocks of about `size`, and these into groups of at most `rows` blocks.

    Parameters
    ----------
    stored : Pieces
    caps : array of shape (2, n)
        Caps at t = 0 and at t = 1.
    size, rows : int
    """
    count = stored.t.size - 1
    block_count = max(1, round(count / size))
    cuts = np.arange(block_count + 1) * count // block_count
    changed_segment, sample, new = stored.changes
    until = np.searchsorted(changed_segment, cuts, side="right")
    state = np.array(stored.state, dtype=np.int8)
    done = 0
    for first in range(0, block_count, rows):
        ends = cuts[first : first + rows + 1]
        alpha = _caps_at(stored.t[ends], caps)
        states = np.empty(alpha.shape, dtype=np.int8)
        for k, segment in enumerate(ends):
            if segment < count:
                part, done = slice(done, until[first + k]), until[first + k]
                state[sample[part]] = new[part]  # of repeated samples the last assignment stands
            states[k] = state
            if segment == count:  # the state on the last segment
                late = slice(done, None)
                states[k][sample[late]] = new[late]
            np.multiply(alpha[k], states[k] == AT_CAP, out=alpha[k])
            listed = _listed_at(stored, segment)
            alpha[k, listed.sample] = listed.multipliers
        yield Group(ends, states[:-1], alpha)


def _caps_at(t: Array, caps: Array) -> Array:
    """Caps of all samples at each t, a row for each."""
    start, stop = caps
    return np.asarray(np.multiply.outer(1.0 - t, start) + np.multiply.outer(t, stop))


class _ListedSamples(NamedTuple):
    """Samples that a segment lists, and their multipliers."""

    sample: Index
    multipliers: Array


def _listed_at(stored: Pieces, segment: int) -> _ListedSamples:
    """List multipliers at the beginning of a segment; behind the last segment, at its end."""
    last = stored.t.size - 2
    part = slice(stored.ptr[min(segment, last)], stored.ptr[min(segment, last) + 1])
    multipliers = stored.a0 if segment <= last else stored.a1
    return _ListedSamples(stored.index[part], multipliers[part])


def totals(stored: Pieces, caps: Array, weight: Array) -> Array:
    """Sums of the sizes of all multipliers times weights (n,) >= 0, at both ends of each segment; shape (m, 2)."""
    count = stored.t.size - 1
    start, end = stored.t[:-1], stored.t[1:]
    first, last = _sums_at_cap(stored, caps, weight)
    sums = np.stack([(1.0 - t) * first + t * last for t in (start, end)])
    for j in range(0, count, _SEGMENTS):
        ptr = stored.ptr[j : min(j + _SEGMENTS, count) + 1]
        listed = slice(ptr[0], ptr[-1])
        row = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
        weights = weight.take(stored.index[listed])
        for of_end, multipliers in zip(sums, (stored.a0, stored.a1), strict=True):
            sizes = weights * np.abs(multipliers[listed])
            of_end[j : j + _SEGMENTS] += np.bincount(row, sizes, ptr.size - 1)
    return np.asarray(sums.T)


def _sums_at_cap(stored: Pieces, caps: Array, weight: Array) -> Array:
    """Weighted sums (2, m), for each segment, of the caps of the samples that are at theirs, at t = 0 and at t = 1."""
    count = stored.t.size - 1
    found = np.zeros((2, count))
    if not caps.any():
        return found
    changed_segment, sample, _ = stored.changes
    changed_weight = Cutter(stored).step * weight[sample]
    segment = np.minimum(changed_segment, count - 1)
    at_first = weight * (np.asarray(stored.state) == AT_CAP)
    for sums, cap in zip(found, caps, strict=True):
        steps = np.bincount(segment, changed_weight * cap[sample], count)
        steps[0] += cap @ at_first
        np.maximum(steps.cumsum(), 0.0, out=sums)
    return found


def kernel_rounding(weight: Array | None, lam: float, stored: Pieces, caps: Array, sums: Array | None) -> Array | None:
    """Bound on what rounding of kernel values does to the dual value on each segment, shape (m,).

    ``weight`` (n,) is that of the problem (``SoftMargin.kernel_rounding``); None: no value is rounded. ``sums`` (m, 2)
    are those of the sizes of all multipliers at both ends, or more, if known: mostly all weights are equal.
    """
    if weight is None:
        return None
    one_weight = bool((weight == weight[0]).all())
    sizes = weight[0] * sums if sums is not None and one_weight else totals(stored, caps, weight)
    return np.asarray((0.5 / lam) * sizes.max(axis=1) ** 2)


class Cutter:
    """Cuts one block after the other out of stored segments."""

    def __init__(self, stored: Pieces) -> None:
        self.stored = stored
        segment, sample, new = stored.changes
        self.until = np.searchsorted(segment, np.arange(stored.t.size), side="right")
        # By how much each change moves "at its cap", as a number: then sums of changes are states.
        order = np.argsort(sample, kind="stable")
        after = (new[order] == AT_CAP).astype(np.int8)
        before = np.empty_like(after)
        before[1:] = after[:-1]
        first = np.append(True, np.diff(sample[order]) != 0)[: sample.size]
        at_first = np.asarray(stored.state)[sample[order[first]]]
        before[first] = at_first == AT_CAP
        self.step = np.empty_like(after)
        self.step[order] = after - before
        sample_count = np.size(stored.state)
        self.position: Index = np.empty(sample_count, dtype=np.int64)
        self.seen: Mask = np.zeros(sample_count, dtype=np.bool_)

    def block(self, start: int, stop: int, state: Any) -> Block:
        """Cut out segments ``start`` to ``stop - 1``; ``state`` are the states of all samples on the first of them."""
        ptr = self.stored.ptr[start : stop + 1] - self.stored.ptr[start]
        row = np.repeat(np.arange(stop - start), np.diff(ptr))
        moving = self._moving(start, stop)
        self.position[moving] = np.arange(moving.size)
        at_cap = self._at_cap(start, stop, state, moving)
        begin = self.stored.ptr[start]
        listed = self.stored.index[begin : begin + row.size]
        return Block(moving, at_cap, ptr, row, row * moving.size + self.position.take(listed))

    def _moving(self, start: int, stop: int) -> Index:
        """Samples that are listed, or change their state, on these segments or at the beginning of the next."""
        last = self.stored.t.size - 1
        # The multipliers at the second anchor are those of the next segment.
        listed = slice(self.stored.ptr[start], self.stored.ptr[min(stop + 1, last)])
        changed = slice(self.until[start], self.until[min(stop, last - 1)])
        self.seen[self.stored.index[listed]] = True
        self.seen[self.stored.changes[1, changed]] = True
        moving = np.flatnonzero(self.seen)
        self.seen[moving] = False
        return moving

    def _at_cap(self, start: int, stop: int, state: Any, moving: Index) -> Mask:
        """Find out which moving samples are at their cap on each of the segments, (k, u)."""
        steps = np.zeros((stop - start, moving.size), dtype=np.int8)
        steps[0] = state[moving] == AT_CAP
        inside = slice(self.until[start], self.until[stop - 1])
        segment, sample, _ = self.stored.changes[:, inside]
        place = (segment - start) * moving.size + self.position[sample]
        np.add.at(steps.reshape(-1), place, self.step[inside])
        return np.add.accumulate(steps, axis=0, dtype=np.int8).astype(np.bool_)
