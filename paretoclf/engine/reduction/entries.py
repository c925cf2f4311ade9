"""Sparse arrays by rows: what of them is not 0, parts of them, and squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Index, Mask
from paretoclf.engine.reduction.products import DENSE


def for_products(M: Any) -> Any:
    """A matrix by rows, as an array where it is dense enough for products with that to be faster."""
    return M.toarray() if M.nnz > DENSE * M.shape[0] * M.shape[1] else sp.csr_array(M)


def entries_of(M: Any) -> Any:
    """A sparse array without zeros."""
    if M.has_canonical_format and M.data.all():
        return M
    found = M.copy()
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def squared(D: Any, inner: Any) -> Any:
    """The symmetric matrix ``D'inner D``; of an array where ``inner`` is a multiple of 1, half of it is computed."""
    diagonal = inner.diagonal()
    if not sp.issparse(D) and inner.nnz == diagonal.size and (diagonal == diagonal[0]).all():
        found = D.T @ D
        found *= diagonal[0]
        return found
    found = D.T @ (inner @ D)
    return found if sp.issparse(D) else 0.5 * (found + found.T)


def placed(part: Any, rows: Index, columns: Index, n: int) -> Any:
    """An array, sparse or not, as some increasing rows and columns of a sparse one by rows, of shape (n, n)."""
    if sp.issparse(part):
        part = sp.csr_array(part)
        data, indices, sizes = part.data, columns[part.indices], np.diff(part.indptr)
    else:
        data, indices, sizes = part.ravel(), np.tile(columns, rows.size), np.full(rows.size, columns.size)
    counts = np.zeros(n + 1, dtype=np.int64)
    counts[rows + 1] = sizes
    return sp.csr_array((data, indices, np.cumsum(counts)), shape=(n, n))


def without(M: Any, gone: Mask) -> Any:
    """A sparse array by rows whose entries in some columns are 0."""
    if not gone.any():
        return M
    kept = ~gone[M.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    return sp.csr_array((M.data[kept], M.indices[kept], before[M.indptr]), shape=M.shape)
