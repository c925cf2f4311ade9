"""Fill that squaring makes: P has products of an equation's entries in place of the equation and its column."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Index, Mask

#: An entry of a row costs so many of P: rows that stay are in every basis, and arrays of P are read a few times only.
#: So measured, where both take as long: lassos of 100 and 200 samples with 12 times as many features.
_DEARER = 6


def worth_squaring(P: Any, equations: Any, columns: Index) -> Mask:
    """Find which of some columns leave less to read if they go than if they stay, each with its equation.

    Short equations go first: squares of long ones meet what these have filled already, and each other's.

    Parameters
    ----------
    P : sparse array of shape (n, n)
    equations : sparse array of shape (k, n)
    columns : int array of shape (k,)
        One a row of ``equations``, in no other one.

    Returns
    -------
    bool array of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from paretoclf.engine.reduction.fill import worth_squaring
    >>> def residuals(samples, features):
    ...     X, n = np.ones((samples, features)), samples + features
    ...     P = sp.csr_array((np.ones(samples), (np.arange(samples), np.arange(samples))), shape=(n, n))
    ...     return P, sp.csr_array(np.hstack([np.eye(samples), X])), np.arange(samples)
    >>> worth_squaring(*residuals(3, 2)).tolist(), worth_squaring(*residuals(2, 100)).tolist()
    ([True, True, True], [False, False])
    """
    products = P[columns]
    others, beside = np.diff(equations.indptr) - 1, np.diff(products.indptr)
    order = np.argsort(others, kind="stable")
    entries = 2 * (others + beside) + 3  # of the column and its equation, and of both transposed
    made = others * (others + 2 * beside)  # by its square, and by what it costs beside others
    room = _room(P, columns, [equations[order], products[order]])
    filled = np.minimum(np.cumsum(made[order]), room)
    saved = _DEARER * np.cumsum(entries[order]) - filled
    ends = np.flatnonzero(np.diff(others[order], append=-1))  # equations of one length go together
    best = ends[np.argmax(saved[ends])]
    found = np.zeros(order.size, dtype=np.bool_)
    found[order[: best + 1]] = saved[best] > 0
    return found


def _room(P: Any, gone: Index, arrays: list[Any]) -> Index:
    """How many entries of P are 0 where columns of the first row of some arrays meet, of the first two, and so on.

    Columns that go are none of them.
    """
    rows, n = gone.size, P.shape[0]
    first = np.full(n, rows)  # the first row that has an entry in each column
    for array in arrays:
        row_of_entry = np.repeat(np.arange(rows), np.diff(array.indptr))
        np.minimum.at(first, array.indices, row_of_entry)
    first[gone] = rows
    columns = np.cumsum(np.bincount(first, minlength=rows)[:rows])
    of_rows = np.repeat(first, np.diff(P.indptr))
    last = np.maximum(of_rows, first[P.indices])  # of the row and the column of each entry
    there = np.cumsum(np.bincount(last, minlength=rows)[:rows])
    return np.asarray(columns**2 - there, dtype=np.int64)
