"""Samples that contribute to residuals and gap, each on one segment: the sums of the theorem run over these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.proof.bernstein import columns


@dataclass(frozen=True)
class Entries:
    """Samples that need a look, each on one segment: those listed there, and those that are not clear of their margin.

    Attributes
    ----------
    ptr : int array of shape (k + 1,)
        The listed ones of segment j are ``ptr[j]`` to ``ptr[j + 1] - 1``; behind all of these are the others.
    row, sample : int array of shape (e,)
        Segment, from the beginning of the block, and sample.
    caps, alpha, margin : array of shape (2, e)
        At both ends of the segment: cap, multiplier (in its box), ``y_i f_i - target``.
    apart : bool array of shape (k,), optional
        Segments that are two points, each judged by itself: there nothing at one end is multiplied with the other.
    """

    ptr: Index
    row: Index
    sample: Index
    caps: Array
    alpha: Array
    margin: Array
    apart: Mask | None = None

    def largest(self, values: Array) -> tuple[Array, Index]:
        """Largest of some values (e,) on each of the k segments, and the sample it belongs to; at least 0."""
        out, sample = self._each(np.maximum, values), np.zeros(self.ptr.size - 1, dtype=np.int64)
        most = np.flatnonzero(values >= out.take(self.row))
        sample[self.row[most]] = self.sample[most]
        return out, sample

    def at_ends(self, values: Array) -> Array:
        """Largest of values (2, e) at both ends of each segment, (k, 2); at least 0."""
        return columns(*(self._each(np.maximum, x) for x in values))

    def add(self, *values: Array) -> Array:
        """Sums of some values (e,) on each segment, a column for each."""
        return columns(*(self._each(np.add, x) for x in values))

    def _each(self, combine: np.ufunc, values: Array) -> Array:
        """Combine 0 and the values (e,) of each segment."""
        out, listed = np.zeros(self.ptr.size - 1), self.ptr[-1]
        some = self._listing
        out[some] = combine(0.0, combine.reduceat(values[:listed], self.ptr[some]))
        combine.at(out, self.row[listed:], values[listed:])
        return out

    @cached_property
    def _listing(self) -> Index:
        """Segments on which any sample is listed."""
        return np.flatnonzero(self.ptr[1:] > self.ptr[:-1])

    @cached_property
    def alone(self) -> Index:
        """Entries on segments that are two points: nearly always none."""
        if self.apart is None or not self.apart.any():
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.apart.take(self.row))

    @cached_property
    def room(self) -> Array:
        """How far each multiplier is from its cap, at both ends."""
        return self.caps - self.alpha


def gap_of(E: Entries) -> Array:
    """Bernstein coefficients (k, 3) of the theorem's U: sums of ``alpha_i r_i + (c_i - alpha_i) l_i``."""
    right = np.maximum(E.margin, 0.0)
    left, room = right - E.margin, E.room
    (start, end), mixed = E.alpha * right, E.alpha * right[::-1]
    start += room[0] * left[0]
    end += room[1] * left[1]
    mixed += room * left[::-1]
    middle, alone = 0.5 * (mixed[0] + mixed[1]), E.alone
    middle[alone] = 0.5 * (start[alone] + end[alone])
    return E.add(start, middle, end)


def complementarity(E: Entries, off: Array, unit: Array) -> tuple[Array, Index]:
    """Largest residual on each of k segments, for margins in their units, and the sample it belongs to.

    ``unit`` (2, e) is what the multipliers can reach: a quotient of two affine functions, it is largest at an end.
    """
    reach = spare = unit
    moves = unit > 0.0
    if not moves.all():  # what cannot move at all has no load, and, if it has room, all of it
        reach, spare = (np.where(moves | has, unit, np.inf) for has in (False, E.room > 0.0))
    with np.errstate(divide="ignore"):
        load, room = E.alpha / reach, E.room / spare
    above = np.minimum(np.maximum(*load), np.maximum(*off))
    below = np.minimum(np.maximum(*room), -np.minimum(*off))
    alone = E.alone
    above[alone] = np.minimum(load[:, alone], off[:, alone]).max(axis=0)
    below[alone] = np.minimum(room[:, alone], -off[:, alone]).max(axis=0)
    return E.largest(np.maximum(above, below))
