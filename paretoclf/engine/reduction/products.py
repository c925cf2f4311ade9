"""Products of many points with a sparse matrix whose dense parts are arrays."""

from __future__ import annotations

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
#: Rows, or columns, that count at least.
_LEAST = 16


class Products:
    """A sparse matrix M, for products ``M @ x`` with points, a column each.

    Where some rows have entries in most of some columns, these are an array.

    Parameters
    ----------
    rest : sparse array by rows
        The entries that are in no such array.
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

    def __init__(self, rest: Any, dense: tuple[tuple[Any, Any, Array], ...] = ()) -> None:
        self.rest, self.dense, self.shape = rest, dense, rest.shape

    @classmethod
    def of(cls, M: Any) -> Products:
        """Those of a matrix: first whole columns that are dense, then whole rows, and of each what they have dense."""
        M = sp.csr_array(M)
        (m, n), dense = M.shape, []
        columns = np.flatnonzero(np.bincount(M.indices, minlength=n) > DENSE * max(m, _LEAST))
        if columns.size:
            taken = np.concatenate([[0], np.cumsum(_mask(columns, n)[M.indices])])[M.indptr]
            rows = np.flatnonzero(np.diff(taken) > DENSE * columns.size)
            M, *found = _parted(M, rows, columns)
            dense.append(tuple(found))
        rows = np.flatnonzero(np.diff(M.indptr) > DENSE * max(n, _LEAST))
        if rows.size:
            count = np.bincount(M.indices[np.repeat(_mask(rows, m), np.diff(M.indptr))], minlength=n)
            M, *found = _parted(M, rows, np.flatnonzero(count > DENSE * rows.size))
            dense.append(tuple(found))
        return cls(M, tuple(dense))

    @property
    def T(self) -> Products:
        """The transposed matrix, of the same arrays."""
        return Products(sp.csr_array(self.rest.T), tuple((columns, rows, a.T) for rows, columns, a in self.dense))

    @property
    def of_sizes(self) -> Products:
        """The absolute values of the matrix."""
        return Products(abs(self.rest), tuple((rows, columns, np.abs(a)) for rows, columns, a in self.dense))

    def of_rows(self, which: Index) -> Products:
        """Some rows of the matrix."""
        place, dense = np.full(self.shape[0], -1), []
        place[which] = np.arange(which.size)
        for rows, columns, array in self.dense:
            own = place[rows]
            kept = own >= 0
            if kept.any():
                dense.append((plainly(own[kept]), columns, array if kept.all() else array[kept]))
        return Products(self.rest[which], tuple(dense))

    def connected(self) -> tuple[Index, Index]:
        """Rows and columns of entries that connect whatever the matrix does; of a full array few are enough."""
        rest, every = self.rest.tocoo(), [np.arange(size) for size in self.shape]
        found = [(rest.row, rest.col)]
        for rows, columns, array in self.dense:
            i, j = every[0][rows], every[1][columns]
            if array.all():
                found += [(i, np.full(i.size, j[0])), (np.full(j.size, i[0]), j)]
            else:
                row, column = np.nonzero(array)
                found.append((i[row], j[column]))
        row, column = (np.concatenate(each) for each in zip(*found, strict=True))
        return row, column

    def __matmul__(self, x: Array) -> Array:
        """The products with points, shape (columns of M, k)."""
        found = self.rest @ x if self.rest.nnz else np.zeros((self.shape[0], x.shape[1]))
        for rows, columns, array in self.dense:
            found[rows] += array @ x[columns]
        return np.asarray(found)

    def __call__(self, X: Array) -> Array:
        """The same with a row for each point."""
        return (self @ X.T).T


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
    """So many points, of arrays with so many rows, in parts that stay in the processor's cache; an even number each."""
    step = max(16, 2 * (_CACHED // max(size, 1) // 2))
    return [slice(a, min(a + step, points)) for a in range(0, points, step)]


def _mask(places: Index, size: int) -> Any:
    """Which of so many are among these."""
    found = np.zeros(size, dtype=np.bool_)
    found[places] = True
    return found


def _parted(M: Any, rows: Index, columns: Index) -> tuple[Any, Any, Any, Array]:
    """A sparse array by rows without its entries in some rows and columns, these, and an array of them."""
    (m, n), place = M.shape, np.zeros(M.shape[1], dtype=M.indices.dtype)
    place[columns] = np.arange(columns.size)
    own = np.repeat(_mask(rows, m), np.diff(M.indptr)) & _mask(columns, n)[M.indices]
    before = np.concatenate([[0], np.cumsum(own)])[M.indptr]
    inside = M.data[own], place[M.indices[own]], np.append(before[rows], before[-1])
    array = sp.csr_array(inside, shape=(rows.size, columns.size)).toarray()
    rest = sp.csr_array((M.data[~own], M.indices[~own], M.indptr - before), shape=M.shape)
    return rest, plainly(rows), plainly(columns), array
