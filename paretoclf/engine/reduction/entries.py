"""Sparse arrays by rows: what of them is not 0, parts of them, and squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.products import DENSE


def for_products(matrix: Any) -> Any:
    """A matrix by rows, as an array where it is dense enough for products with that to be faster."""
    rows, columns = matrix.shape
    if matrix.nnz > DENSE * rows * columns:
        return matrix.toarray()
    return sp.csr_array(matrix)


def entries_of(matrix: Any) -> Any:
    """A sparse array without zeros."""
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    found = matrix.copy()
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
        data, indices = part.data, columns[part.indices]
        sizes = np.diff(part.indptr)
    else:
        data, indices = part.ravel(), np.tile(columns, rows.size)
        sizes = np.full(rows.size, columns.size)
    counts = np.zeros(n + 1, dtype=np.int64)
    counts[rows + 1] = sizes
    return sp.csr_array((data, indices, np.cumsum(counts)), shape=(n, n))


def without(matrix: Any, gone: Mask) -> Any:
    """A sparse array by rows whose entries in some columns are 0."""
    if not gone.any():
        return matrix
    kept = ~gone[matrix.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    parts = matrix.data[kept], matrix.indices[kept], before[matrix.indptr]
    return sp.csr_array(parts, shape=matrix.shape)


def first_alike(matrix: Any) -> Index:
    """Number of the first row that is equal to each one, of a sparse array by rows."""
    mixed = np.random.default_rng(0).random(matrix.shape[1])
    _, first, group = np.unique(matrix @ mixed, return_index=True, return_inverse=True)
    found = first[group]
    if first.size == found.size:
        return found
    apart = matrix - matrix[found]
    differ = np.flatnonzero(np.diff(apart.indptr))
    found[differ] = differ
    return np.asarray(found)


def alike(numbers: Array) -> Any:
    """A column of numbers; one number where they are all the same."""
    return numbers[0] if numbers.size and (numbers == numbers[0]).all() else numbers[:, None]


def largest_of_columns(sizes: Array) -> Array:
    """The largest of each column of an array without negative numbers, halved again and again: columns are short."""
    while len(sizes) > 1:
        half = len(sizes) // 2
        odd_one = sizes[2 * half :]
        sizes = np.maximum(sizes[:half], sizes[half : 2 * half])
        if len(odd_one):
            np.maximum(sizes[:1], odd_one, out=sizes[:1])
    return np.asarray(sizes.max(axis=0, initial=0.0))
