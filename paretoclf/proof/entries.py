"""Samples that contribute to residuals and gap, each on one segment: the sums of the theorem run over these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.checks import Array, Index


@dataclass(frozen=True)
class Entries:
    """Samples that need a look, each on one segment: those listed there, and those that are not clear of their margin.

    Attributes
    ----------
    row, sample : int array of shape (e,)
        Segment, from the beginning of the block, and sample.
    caps, alpha, margin : array of shape (2, e)
        At both ends of the segment: cap, multiplier (in its box), ``y_i f_i - target``.
    """

    row: Index
    sample: Index
    caps: Array
    alpha: Array
    margin: Array

    def largest(self, values: Array, k: int) -> tuple[Array, Index]:
        """Largest of some values (e,) on each of k segments, and the sample it belongs to; at least 0."""
        out, sample = np.zeros(k), np.zeros(k, dtype=np.int64)
        np.maximum.at(out, self.row, values)
        most = np.flatnonzero(values >= out[self.row])
        sample[self.row[most]] = self.sample[most]
        return out, sample

    def at_ends(self, values: Array, k: int) -> Array:
        """Largest of values (2, e) at both ends of each of k segments, (k, 2); at least 0."""
        out = np.zeros((k, 2))
        np.maximum.at(out, self.row, values.T)
        return out

    def add(self, values: Array, k: int) -> Array:
        """Sums of values (e,) on each of k segments."""
        return np.asarray(np.bincount(self.row, values, k), dtype=np.float64)

    @cached_property
    def room(self) -> Array:
        """Of each multiplier to its cap, at both ends."""
        return self.caps - self.alpha


def gap_of(E: Entries, k: int) -> Array:
    """Bernstein coefficients (k, 3) of the theorem's U: sums of ``alpha_i r_i + (c_i - alpha_i) l_i``."""
    right = np.maximum(E.margin, 0.0)
    left, room = right - E.margin, E.room
    terms = E.alpha * right + room * left
    mixed = E.alpha * right[::-1] + room * left[::-1]
    return np.stack([E.add(terms[0], k), 0.5 * E.add(mixed[0] + mixed[1], k), E.add(terms[1], k)], axis=1)


def complementarity(E: Entries, off: Array, unit: Array, k: int) -> tuple[Array, Index]:
    """Largest residual on each of k segments, for margins in their units, and the sample it belongs to.

    ``unit`` (2, e) is what the multipliers can reach: a quotient of two affine functions, it is largest at an end.
    """
    moves = unit > 0.0
    load = np.divide(E.alpha, unit, out=np.zeros_like(unit), where=moves)
    room = np.divide(E.room, unit, out=np.where(E.room > 0.0, np.inf, 0.0), where=moves)
    above = np.minimum(np.maximum(*load), np.maximum(*off))
    below = np.minimum(np.maximum(*room), -np.minimum(*off))
    return E.largest(np.maximum(above, below), k)
