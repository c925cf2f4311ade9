"""Products of the matrices of a line of cone programs with the rows of arrays, a row for each t.

The result of one row does not depend on which others are there: sums go over rows that are contiguous, and each product
is computed by itself. A matrix that depends on t is a constant one and its change from t = 0 to 1, which are multiplied
once for all t.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.proof.cones.enclosure import times

_EPS = float(np.finfo(float).eps)

#: Eigenvalues below this share of the largest one count as 0.
_RANK = 1e-12


class Moving:
    """Matrix that is affine in t, with products for the rows of arrays.

    Attributes
    ----------
    first : sparse array
        The matrix at t = 0.
    speed : sparse array or None
        Its change from t = 0 to 1; None where it is constant.
    long : array of int
        The largest number of terms in a product, row by row.
    """

    def __init__(self, first: Any, speed: Any | None) -> None:
        self.first = sp.csr_array(first)
        self.speed = None if speed is None or not speed.nnz else sp.csr_array(speed)
        self.long = np.diff(self.first.indptr) + self.gains

    def at(self, t: Array, rows: Array) -> Array:
        """Multiply the matrix at t with a vector, for each t and the row that belongs to it."""
        found = times(self.first, rows)
        return found if self.speed is None else found + t[:, None] * times(self.speed, rows)

    def at_each(self, ts: Sequence[Array], rows: Array) -> list[Array]:
        """Multiply each row with the matrix at several t: one array of products for each entry of ``ts``."""
        found = times(self.first, rows)
        if self.speed is None:
            return [found] * len(ts)
        gain = times(self.speed, rows)
        return [found + t[:, None] * gain for t in ts]

    def gained(self, length: Array, rows: Array) -> Array:
        """Multiply each row with the change of the matrix over an interval of t of the given length."""
        if self.speed is None:
            return np.zeros((len(rows), self.first.shape[0]))
        return length[:, None] * times(self.speed, rows)

    def gained_rounding(self, length: Array, rows: Array) -> Array:
        """Bound on the rounding error of `gained`."""
        terms = self.sizes.gained(length, np.abs(rows))
        return np.asarray((self.gains + 6) * _EPS * terms)

    @cached_property
    def sizes(self) -> Moving:
        """Matrix of absolute values of the entries, and of those of the change."""
        return Moving(abs(self.first), None if self.speed is None else abs(self.speed))

    @property
    def gains(self) -> Array:
        """Number of entries of the change, row by row."""
        if self.speed is None:
            return np.zeros(self.first.shape[0], dtype=int)
        return np.diff(self.speed.indptr)

    @cached_property
    def back(self) -> Moving:
        """The transposed matrix."""
        return Moving(self.first.T, None if self.speed is None else self.speed.T)

    @property
    def none(self) -> bool:
        """Whether the matrix has no entry at any t."""
        return self.speed is None and not self.first.nnz

    @cached_property
    def arrays(self) -> tuple[Array, Array]:
        """The matrix at t = 0 and its change, as dense arrays."""
        speed = np.zeros(self.first.shape) if self.speed is None else self.speed.toarray()
        return self.first.toarray(), speed


def mixed(ends: tuple[Array, Array] | Array, t: Array) -> Array:
    """Interpolate linearly between ``ends[0]`` at t = 0 and ``ends[1]`` at t = 1, a row for each t."""
    after = t[:, None]
    return np.asarray((1.0 - after) * ends[0] + after * ends[1])


def dot(first: Array, second: Array) -> Array:
    """Inner products of two vectors, or of the rows of two arrays."""
    return np.asarray(np.ascontiguousarray(first * second).sum(axis=-1))


def difference_radius(first: Array, first_radius: Array, last: Array, last_radius: Array) -> Array:
    """Bound on the error of a difference of two enclosed arrays: both radii, and the rounding of the subtraction."""
    rounding = 2 * _EPS * (np.abs(first) + np.abs(last))
    return np.asarray(first_radius + last_radius + rounding)


def inverse(matrix: Array) -> Array:
    """Pseudoinverse of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > _RANK * np.abs(values).max(initial=0.0)
    kept_vectors = vectors[:, kept]
    return np.asarray((kept_vectors / values[kept]) @ kept_vectors.T)
