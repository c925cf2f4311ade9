"""Products of matrices and sums of products that are rounded once, at the end.

A product of two doubles is the exact sum of two doubles (Dekker 1971), and `math.fsum` adds doubles exactly. Slow, and
for the few points only that double precision cannot judge. In pure NumPy, so that the judge shares no arithmetic with
the tracker.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.problem.samples import Samples

_SPLIT = 134217729.0  # 2**27 + 1: splits a double into two halves whose products are exact
_BLOCK = 2**18  # products at a time


def product(A: Samples, x: Array, more: Array | None = None) -> Array:
    """``A (x[0] + x[1])``, each entry rounded once.

    Parameters
    ----------
    A : array or CSR array of shape (m, k)
    x : array of shape (2, k)
        A vector in two parts.
    more : array of shape (m, p), optional
        Further terms of each entry.

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.exact_sums import product
    >>> product(np.array([[1e16, 1.0, -1e16]]), np.array([[1.0, 0.5, 1.0], [0.0, 1e-20, 0.0]]))
    array([0.5])
    """
    others = [[]] * A.shape[0] if more is None else more.tolist()
    sums = (fsum(terms + other) for terms, other in zip(_terms(A, x), others, strict=True))
    return np.fromiter(sums, dtype=np.float64, count=A.shape[0])


def add_product(hi: Array, lo: Array, B: Array, out_hi: Array, out_lo: Array) -> None:
    """Add ``(hi + lo) @ B`` to ``out_hi + out_lo``, in place, in twice the precision.

    Stacks: (r, m, k) by (r, k, n), or by one for all, (1, k, n).
    """
    for j in np.flatnonzero(hi.any(axis=(0, 1))):
        column = np.stack([hi[:, :, j, None], lo[:, :, j, None]])
        term, error, rest = _parts(column, B[:, None, j])
        summed = out_hi + term
        added = summed - out_hi
        lost = (out_hi - (summed - added)) + (term - added)  # in this sum (Knuth 1969)
        low = out_lo + lost + (error + rest)
        out_hi[:] = summed + low
        out_lo[:] = low - (out_hi - summed)


def inner(x: Array, y: Array, more: float = 0.0) -> float:
    """``sum_i (x[0] + x[1])_i y_i + more``, rounded once; x (2, k), y (k,)."""
    return fsum([*_parts(x, y).ravel().tolist(), more])


def total(x: Array) -> float:
    """``sum_i (x[0] + x[1])_i``, rounded once; x (2, k)."""
    return fsum(x.ravel().tolist())


def quotient(x: Array, by: float) -> Array:
    """``x / by`` in two parts, the second the rounding error of the first; shape (2, k).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.exact_sums import quotient
    >>> high, low = quotient(np.array([1.0]), 3.0)
    >>> from fractions import Fraction
    >>> float(abs(Fraction(high[0]) + Fraction(low[0]) - Fraction(1, 3))) < 1e-32
    True
    """
    high = x / by
    exact = np.stack([high, np.zeros_like(high)])
    back, error, _ = _parts(exact, np.asarray(by))
    return np.stack([high, ((x - back) - error) / by])


def times(x: Array, by: float) -> Array:
    """``(x[0] + x[1]) by`` in two parts, (2, k)."""
    most, error, rest = _parts(x, np.asarray(by))
    return np.stack([most, error + rest])


def _terms(A: Samples, x: Array) -> Iterator[list[float]]:
    """Terms to be added for each row."""
    if sp.issparse(A):
        rows = sp.csr_array(A)
        for first, last in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            columns, entries = rows.indices[first:last], rows.data[first:last]
            yield _parts(x[:, columns], entries).ravel().tolist()
        return
    size = max(1, _BLOCK // max(1, A.shape[1]))
    for first in range(0, A.shape[0], size):
        yield from np.concatenate(_parts(x[:, None, :], A[first : first + size]), axis=1).tolist()


def _parts(x: Array, y: Array) -> Array:
    """Three terms that add up to ``(x[0] + x[1]) y``: product, its rounding error, product of the second part."""
    high, low = x
    rounded = high * y
    high_half, y_half = _half(high), _half(y)
    high_rest, y_rest = high - high_half, y - y_half
    error = (high_half * y_half - rounded) + high_half * y_rest
    error = (error + high_rest * y_half) + high_rest * y_rest
    return np.stack([rounded, error, np.broadcast_to(low * y, rounded.shape)])


def _half(x: Array) -> Array:
    """Leading 26 bits of doubles: products of two such halves are exact."""
    scaled = _SPLIT * x
    return np.asarray(scaled - (scaled - x))
