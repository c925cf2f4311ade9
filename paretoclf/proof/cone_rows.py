"""Products of the matrices of a line of cone programs with the rows of arrays, a row for each t.

What becomes of one row does not depend on which others are there: sums go over rows that are contiguous, each product
is one for itself. A matrix that moves is a still one and its gain, which are multiplied once for all t.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.proof.points.enclosure import times

#: What is below this share of the largest of a matrix is nothing.
_RANK = 1e-12


class Moving:
    """A matrix along a line, times the rows of an array; ``sizes``: the same with the sizes of all entries."""

    def __init__(self, first: Any, speed: Any | None) -> None:
        self.first = sp.csr_array(first)
        self.speed = None if speed is None or not speed.nnz else sp.csr_array(speed)
        count = np.diff(self.first.indptr)
        #: The largest number of terms of a product, row by row.
        self.long = count + self.gains

    def at(self, t: Array, v: Array) -> Array:
        """The matrix at t, times v, for each t and row v."""
        found = times(self.first, v)
        return found if self.speed is None else found + t[:, None] * times(self.speed, v)

    def at_each(self, ts: Sequence[Array], v: Array) -> list[Array]:
        """The same at several t of each row."""
        found = times(self.first, v)
        if self.speed is None:
            return [found] * len(ts)
        gain = times(self.speed, v)
        return [found + t[:, None] * gain for t in ts]

    def gained(self, h: Array, v: Array) -> Array:
        """What the matrix gains along a length h, times v."""
        if self.speed is None:
            return np.zeros((len(v), self.first.shape[0]))
        return h[:, None] * times(self.speed, v)

    @cached_property
    def sizes(self) -> Moving:
        """That of the sizes of entries."""
        return Moving(abs(self.first), None if self.speed is None else abs(self.speed))

    @property
    def gains(self) -> Array:
        """Numbers of entries of its gain, row by row."""
        return np.zeros(self.first.shape[0], dtype=int) if self.speed is None else np.diff(self.speed.indptr)

    @cached_property
    def back(self) -> Moving:
        """The transposed matrix."""
        return Moving(self.first.T, None if self.speed is None else self.speed.T)

    @property
    def none(self) -> bool:
        """Whether it has no entry at any t."""
        return self.speed is None and not self.first.nnz

    @cached_property
    def arrays(self) -> tuple[Array, Array]:
        """The matrix at t = 0 and its gain, as arrays."""
        speed = np.zeros(self.first.shape) if self.speed is None else self.speed.toarray()
        return self.first.toarray(), speed


def mixed(ends: tuple[Array, Array] | Array, t: Array) -> Array:
    """What is ``ends[0]`` at t = 0 and ``ends[1]`` at t = 1, a row for each t."""
    t = t[:, None]
    return np.asarray((1.0 - t) * ends[0] + t * ends[1])


def dot(a: Array, b: Array) -> Array:
    """Inner products of vectors, or of the rows of arrays."""
    return np.asarray(np.ascontiguousarray(a * b).sum(axis=-1))


def inverse(M: Array) -> Array:
    """That of a positive semidefinite matrix where it has one, and 0 where it has none."""
    values, vectors = np.linalg.eigh(M)
    kept = values > _RANK * np.abs(values).max(initial=0.0)
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)
