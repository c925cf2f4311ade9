"""A parameter that stands in rows of A, moved into q, where one column can take it up.

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
    """The columns that take a moving parameter up, q after that, and the rows that move even so.

    Parameters
    ----------
    P : sparse array
    A : pair of sparse arrays
        At both ends of the line.
    q : array of shape (2, n)
    terms : sparse array
        What the entries of A are sums of, in absolute values: ``tau - 1`` is rounded as 1 is, however small it is.
    """
    first, change = sp.csr_array(A[0]), sp.csr_array(A[1]) - sp.csr_array(A[0])
    size = sp.csr_array(abs(A[0])) + sp.csr_array(abs(A[1]))
    change.data[np.abs(change.data) <= SAME_NUMBER * _at_entries(size, change)] = 0.0
    change.eliminate_zeros()
    moving, sums = np.diff(change.indptr) > 0, sp.csr_array(terms)
    columns = sp.csc_array(first)
    done = np.zeros(first.shape[0], dtype=np.bool_)
    q, found, taken = q.copy(), [], np.zeros(first.shape[1], dtype=np.bool_)
    flat = np.diff(sp.csc_array(P).indptr) == 0
    for j in np.flatnonzero(flat & (q[0] == q[1]) & (np.diff(columns.indptr) > 0)) if moving.any() else ():
        rows = columns.indices[columns.indptr[j] : columns.indptr[j + 1]]
        if not moving[rows].all() or done[rows].any() or change[rows][:, [j]].nnz:
            continue
        own = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
        D = -change[rows].toarray() / own[:, None]
        room = SAME_NUMBER * float((sums[rows].max(axis=1).toarray().ravel() / np.abs(own)).max())
        places = np.flatnonzero(D[0])
        if np.ptp(D, axis=0).max() > room or taken[places].any():
            continue
        found.append(Moved(int(j), places, D[0, places], np.array([0.0, 1.0])))
        q[1, places] += q[0, j] * D[0, places]
        done[rows], taken[j] = True, True
    if any(taken[each.places].any() for each in found):  # what one takes up must not be taken up by another
        return (), q, np.flatnonzero(moving)
    return tuple(found), q, np.flatnonzero(moving & ~done)


def _at_entries(M: Any, pattern: Any) -> Array:
    """Entries of M at the places that a pattern stores."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return np.asarray(M[rows, pattern.indices]).ravel() if pattern.nnz else np.zeros(0)
