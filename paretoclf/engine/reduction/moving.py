"""Parameters in rows of A: moved into q, where one column can take them up.

``maximum(tau * r, (tau - 1) * r)`` is compiled to a column x_j that is at least each of the two: their coefficients of
the rest move with tau, by the same amount. Where in every row of a column the rest moves by the same multiple -D of the
column's own coefficient, ``x_j = x'_j + t D'x`` leaves rows that stand still; the cost of x_j becomes one of the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import SAME_NUMBER
from paretoclf.engine.reduction.program import Moved


def standing_rows(P: Any, A: tuple[Any, Any], q: Array, terms: Any) -> tuple[tuple[Moved, ...], Array, Index]:
    """Find the columns that take up a parameter in rows; return them, q after that, and the rows that still change.

    Parameters
    ----------
    P : sparse array
    A : pair of sparse arrays
        At both ends of the line.
    q : array of shape (2, n)
    terms : sparse array
        Sums of the absolute terms of each entry of A: ``tau - 1`` is rounded as 1 is, however small it is.
    """
    first, last = sp.csr_array(A[0]), sp.csr_array(A[1])
    change = last - first
    size = abs(first) + abs(last)
    rounding = SAME_NUMBER * _at_entries(size, change)
    change.data[np.abs(change.data) <= rounding] = 0.0
    change.eliminate_zeros()
    moving = np.diff(change.indptr) > 0
    sums = sp.csr_array(terms)
    columns = sp.csc_array(first)
    done = np.zeros(first.shape[0], dtype=np.bool_)
    taken = np.zeros(first.shape[1], dtype=np.bool_)
    q, found = q.copy(), []
    flat = np.diff(sp.csc_array(P).indptr) == 0
    candidates = flat & (q[0] == q[1]) & (np.diff(columns.indptr) > 0)
    for column in np.flatnonzero(candidates) if moving.any() else ():
        part = slice(columns.indptr[column], columns.indptr[column + 1])
        rows, own = columns.indices[part], columns.data[part]
        if not moving[rows].all() or done[rows].any() or change[rows][:, [column]].nnz:
            continue
        multiples = -change[rows].toarray() / own[:, None]
        largest = sums[rows].max(axis=1).toarray().ravel()
        room = SAME_NUMBER * float((largest / np.abs(own)).max())
        common = multiples[0]
        places = np.flatnonzero(common)
        if np.ptp(multiples, axis=0).max() > room or taken[places].any():
            continue
        found.append(Moved(int(column), places, common[places], np.array([0.0, 1.0])))
        q[1, places] += q[0, column] * common[places]
        done[rows] = True
        taken[column] = True
    if any(taken[each.places].any() for each in found):  # what one takes up must not be taken up by another
        return (), q, np.flatnonzero(moving)
    return tuple(found), q, np.flatnonzero(moving & ~done)


def _at_entries(matrix: Any, pattern: Any) -> Array:
    """Entries of a matrix at the places that a pattern stores."""
    if not pattern.nnz:
        return np.zeros(0)
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return np.asarray(matrix[rows, pattern.indices]).ravel()
