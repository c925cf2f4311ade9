"""Products of many points with a sparse matrix whose dense parts are arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index

#: Doubles that stay in the cache of a processor from one product to the next.
_CACHED = 2**17
#: Share of entries that are not 0 from which on a product with an array is faster than one with a sparse array.
DENSE = 0.25
#: Entries of points that are turned at a time.
_TURNED = 256
#: Entries, zeros among them, up to which a whole matrix is one array: faster than any object of SciPy is made.
_SMALL = 2**12
#: Rows, or columns, that count at least.
_LEAST = 16


class Products:
    """A sparse matrix M, for products ``M @ x`` with points, a column each.

    Where some rows have entries in most of some columns, these are an array.

    Parameters
    ----------
    rest : sparse array by rows, or None
        The entries that are in no such array, if there are any.
    dense : tuple of (rows, columns, array)
        Rows and columns as a slice where they follow each other.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from paretoclf.engine.reduction.products import Products
    >>> M = sp.hstack([np.arange(1.0, 101.0).reshape(20, 5), sp.eye_array(20)])
    >>> found = Products.of(M)
    >>> [array.shape for _, _, array in found.dense], found.rest.nnz, (found @ np.ones((25, 1)))[0].tolist()
    ([(20, 5)], 20, [16.0])
    """

    def __init__(self, shape: tuple[int, int], rest: Any, dense: tuple[tuple[Any, Any, Array], ...] = ()) -> None:
        self.shape, self.rest, self.dense = shape, rest, dense

    @classmethod
    def whole(cls, matrix: Any) -> Products:
        """As one array where the matrix is small, or full, else parted."""
        m, n = matrix.shape
        if m * n > max(_SMALL, matrix.nnz):
            return cls.of(matrix)
        return cls(matrix.shape, None, ((slice(m), slice(n), matrix.toarray()),))

    @classmethod
    def of(cls, matrix: Any) -> Products:
        """Part a matrix: first whole columns that are dense, then whole rows, and of each what they have dense."""
        rest = sp.csr_array(matrix)
        all_rows, all_columns = rest.shape
        dense = []
        entries_of_columns = np.bincount(rest.indices, minlength=all_columns)
        columns = np.flatnonzero(entries_of_columns > DENSE * max(all_rows, _LEAST))
        if columns.size:
            before = _count_before(_mask(columns, all_columns)[rest.indices])
            in_these = np.diff(before[rest.indptr])
            rows = np.flatnonzero(in_these > DENSE * columns.size)
            rest, *found = _parted(rest, rows, columns)
            dense.append(tuple(found))
        entries_of_rows = np.diff(rest.indptr)
        rows = np.flatnonzero(entries_of_rows > DENSE * max(all_columns, _LEAST))
        if rows.size:
            of_these = np.repeat(_mask(rows, all_rows), entries_of_rows)
            count = np.bincount(rest.indices[of_these], minlength=all_columns)
            columns = np.flatnonzero(count > DENSE * rows.size)
            rest, *found = _parted(rest, rows, columns)
            dense.append(tuple(found))
        return cls(rest.shape, rest, tuple(dense))

    @property
    def T(self) -> Products:
        """The transposed matrix, of the same arrays."""
        dense = [(columns, rows, array.T) for rows, columns, array in self.dense]
        return self._like(self.shape[::-1], lambda rest: sp.csr_array(rest.T), dense)

    @property
    def of_sizes(self) -> Products:
        """The absolute values of the matrix."""
        dense = [(rows, columns, np.abs(array)) for rows, columns, array in self.dense]
        return self._like(self.shape, abs, dense)

    def of_rows(self, which: Index) -> Products:
        """Some rows of the matrix."""
        dense = []
        place = np.full(self.shape[0], -1)
        place[which] = np.arange(which.size)
        for rows, columns, array in self.dense:
            own = place[rows]
            kept = own >= 0
            if kept.any():
                of_kept = array if kept.all() else array[kept]
                dense.append((plainly(own[kept]), columns, of_kept))
        return self._like((which.size, self.shape[1]), lambda rest: rest[which], dense)

    def _like(self, shape: tuple[int, int], of: Callable[[Any], Any], dense: Sequence[Any]) -> Products:
        """Products with what becomes of the rest, and of the arrays."""
        return Products(shape, None if self.rest is None else of(self.rest), tuple(dense))

    def connected(self) -> tuple[Index, Index]:
        """Rows and columns of entries that connect whatever the matrix does; of a full array few are enough."""
        every_row, every_column = (np.arange(size) for size in self.shape)
        found = [] if self.rest is None else [self.rest.nonzero()]
        for which_rows, which_columns, array in self.dense:
            rows, columns = every_row[which_rows], every_column[which_columns]
            if array.size and array.all():
                first_column = np.full(rows.size, columns[0])
                first_row = np.full(columns.size, rows[0])
                found += [(rows, first_column), (first_row, columns)]
            else:
                row, column = np.nonzero(array)
                found.append((rows[row], columns[column]))
        row, column = (np.concatenate(each) for each in zip(*found, strict=True))
        return row, column

    def __matmul__(self, x: Array) -> Array:
        """The products with points, shape (columns of M, k)."""
        shape = self.shape[0], x.shape[1]
        found = np.zeros(shape) if self.rest is None or not self.rest.nnz else self.rest @ x
        for rows, columns, array in self.dense:
            found[rows] += array @ x[columns]
        return np.asarray(found)

    def __call__(self, points: Array) -> Array:
        """The products with points, a row each."""
        return (self @ points.T).T


def plainly(places: Index) -> Any:
    """Places, as a slice where they follow each other."""
    if places.size and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def turned(found: Array, into: Array | None = None) -> Array:
    """Points, a column each, as rows: some entries of all at a time, which stay in the cache."""
    into = np.empty(found.shape[::-1]) if into is None else into
    for begin in range(0, len(found), _TURNED):
        into[:, begin : begin + _TURNED] = found[begin : begin + _TURNED].T
    return into


def blocks(points: int, size: int) -> list[slice]:
    """Part points, columns of so many numbers, so that a part stays in the processor's cache; an even number each."""
    step = max(16, 2 * (_CACHED // max(size, 1) // 2))
    return [slice(begin, min(begin + step, points)) for begin in range(0, points, step)]


def _mask(places: Index, size: int) -> Any:
    """Mask of some places, out of so many."""
    found = np.zeros(size, dtype=np.bool_)
    found[places] = True
    return found


def _count_before(mask: Any) -> Index:
    """Count the entries of a mask that are true before each place, and at its end."""
    return np.concatenate([[0], np.cumsum(mask)])


def _parted(matrix: Any, rows: Index, columns: Index) -> tuple[Any, Any, Any, Array]:
    """A sparse array by rows without its entries in some rows and columns, these, and an array of them."""
    m, n = matrix.shape
    place = np.zeros(n, dtype=matrix.indices.dtype)
    place[columns] = np.arange(columns.size)
    in_rows = np.repeat(_mask(rows, m), np.diff(matrix.indptr))
    own = in_rows & _mask(columns, n)[matrix.indices]
    before = _count_before(own)[matrix.indptr]
    begin = np.append(before[rows], before[-1])
    inside = matrix.data[own], place[matrix.indices[own]], begin
    array = sp.csr_array(inside, shape=(rows.size, columns.size)).toarray()
    others = matrix.data[~own], matrix.indices[~own], matrix.indptr - before
    rest = sp.csr_array(others, shape=matrix.shape)
    return rest, plainly(rows), plainly(columns), array
