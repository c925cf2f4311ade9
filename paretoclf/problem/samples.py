"""Samples, dense or sparse: the check, and the few operations that differ between the two.

A sparse matrix of any SciPy format becomes one `scipy.sparse.csr_array` of float64 in canonical form: sorted column
indices, no duplicates, no stored zeros, 32-bit indices where they suffice. Nothing here makes it dense.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, check_features, check_matrix
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import FAR, LARGEST_SQUARE

#: An array or a `scipy.sparse.csr_array` of shape (n, d); SciPy publishes no types.
Samples: TypeAlias = Any


#: Names of the columns of a frame.
Names: TypeAlias = tuple[str, ...] | None


def names_of(X: Any) -> Names:
    """Names of the columns of a frame of any library; None without columns, or where a name is no string."""
    columns = getattr(X, "columns", ())
    names = tuple(columns) if isinstance(columns, Iterable) else ()
    return names if names and all(isinstance(name, str) for name in names) else None


def check_samples(
    X: Any, name: str = "X", *, n_features: int | None = None, names: Names = None, copy: bool = False
) -> Samples:
    """Return X as a float64 array, or as a canonical CSR array if it is sparse, or refuse it with the reason.

    A frame must have the columns ``names``, if they are given, in this order. With ``copy`` the result shares no memory
    with X: an object that keeps samples asks for it.
    """
    for j, (wanted, given) in enumerate(zip(names, names_of(X) or (), strict=False) if names else ()):
        if wanted != given:
            raise InputError(
                f"{name} must have the columns of training in their order: column {j} must be {wanted!r}, got {given!r}"
            )
    if not sp.issparse(X):
        return check_matrix(X, name, n_features=n_features, copy=copy)
    if X.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, got a sparse matrix of {X.dtype}")
    check_features(X.shape, name, n_features)
    try:
        A = sp.csr_array(X, dtype=np.float64, copy=copy)
        A.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{name} must be a valid sparse matrix: {error}") from None
    bad = np.flatnonzero(~np.isfinite(A.data))
    if bad.size:
        i = int(np.searchsorted(A.indptr, bad[0], side="right")) - 1
        raise InputError(f"{name} must be finite, got {A.data[bad[0]]} at row {i}, column {A.indices[bad[0]]}")
    if not A.has_canonical_format or not A.data.all():
        A = A.copy()  # what was given stays as it was
        A.sum_duplicates()
        A.eliminate_zeros()
    if max(A.nnz, *A.shape) <= np.iinfo(np.int32).max:
        A.indices = A.indices.astype(np.int32, copy=False)
        A.indptr = A.indptr.astype(np.int32, copy=False)
    return A


def require_scale(X: Samples, name: str = "X", *, squared: bool = False) -> None:
    """Refuse checked numbers whose squares (or, if they are ``squared``, sums of them) would be inf, or vanish."""
    largest = float(abs(X).max())
    limit = LARGEST_SQUARE if squared else LARGEST_SQUARE**0.5
    if largest and not 1 / limit <= largest <= limit:
        raise InputError(
            f"{name} must be 0, or its largest number between {1 / limit:g} and {limit:g} in size, got {largest:.3g}; "
            "use other units"
        )


def dot(X: Samples, Z: Samples) -> Array:
    """Products ``x . z`` of the rows of X and Z, dense, shape (len(X), len(Z))."""
    return dense(X @ Z.T)


def squares(X: Samples) -> Array:
    """Squared lengths of the rows, shape (n,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", X, X))


def dense(X: Samples) -> Array:
    """Return samples as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def largest(X: Samples) -> Array:
    """Largest absolute value in each column, shape (d,)."""
    return dense(abs(X).max(axis=0))


def middle(X: Samples) -> Array:
    """Point amid the samples, shape (d,), from which to measure them.

    In each feature it is in the middle of the values of some samples: an outlier does not move it. For sparse samples
    it is 0 in all features but those that every sample has.
    """
    some = X[:: -(-X.shape[0] // _SOME)]
    if not sp.issparse(X):
        return _median(some)
    n, d = X.shape
    columns = np.flatnonzero((np.bincount(X.indices, minlength=d) == n) & (n > 1))
    point = np.zeros(d)
    point[columns] = _median(dense(some[:, columns]))
    return point


def _median(values: Array) -> Array:
    """Upper median of each column, shape (d,)."""
    half = len(values) // 2
    return np.asarray(np.partition(values, half, axis=0)[half])


_ROWS = 256  # rows that are compared at a time
_SOME = 64  # samples among which a middle is searched


def moved(X: Samples, origin: Array) -> Samples:
    """Measure samples from an origin; of sparse ones, features in which it is 0 stay sparse."""
    if not sp.issparse(X):
        return X - origin
    columns = np.flatnonzero(origin)
    if not columns.size:
        return X
    n = X.shape[0]
    starts = columns.size * np.arange(n + 1)
    rows = np.tile(origin[columns], n), np.tile(columns, n), starts
    return X - sp.csr_array(rows, shape=X.shape)


def far_origin(X: Samples) -> Array | None:
    """Point from which to measure samples that are so far from 0 that products lose digits; None for others.

    It is 0 but in features further from 0 than `FAR` times the spread of the samples: differences to a point amid such
    values are exact (Sterbenz), so the problem stays the given one, to the last bit.
    """
    origin = middle(X)
    if not origin.any():
        return None
    spread = float(abs(moved(X, origin)).max())
    origin[np.abs(origin) <= FAR * spread] = 0.0
    return origin if spread > 0.0 and origin.any() else None


def signed(X: Samples, y: Array) -> Samples:
    """Multiply the rows of X by the entries of y."""
    if sp.issparse(X):
        return sp.csr_array(sp.diags_array(y) @ X)
    return y[:, None] * X


def distinct(X: Samples) -> Index:
    """Numbers of the samples (or rows of a kernel matrix), shape (n,): equal ones have one, in order of appearance."""
    keys: list[bytes] = []
    if sp.issparse(X):  # canonical: the same rows have the same bytes
        for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            columns, entries = X.indices[first:last], X.data[first:last]
            keys.append(columns.tobytes() + entries.tobytes())
    else:
        ordered = np.sort(X[:, 0])
        if (ordered[1:] > ordered[:-1]).all():  # one feature tells all samples apart
            return np.arange(X.shape[0])
        whole = np.dtype((np.void, X.shape[1] * X.itemsize))
        for first in range(0, X.shape[0], _ROWS):
            block = np.ascontiguousarray(X[first : first + _ROWS] + 0.0)  # -0.0 is 0.0
            keys += block.view(whole)[:, 0].tolist()
    if len(set(keys)) == len(keys):
        return np.arange(len(keys))
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


def same_samples(A: Samples, B: Samples) -> bool:
    """Whether two checked matrices hold the same numbers, one of them dense or not."""
    if A.shape != B.shape:
        return False
    if not (sp.issparse(A) or sp.issparse(B)):
        return bool(np.array_equal(A, B))
    A, B = check_samples(sp.csr_array(A)), check_samples(sp.csr_array(B))
    return all(np.array_equal(getattr(A, part), getattr(B, part)) for part in ("indptr", "indices", "data"))
