"""Matrix products in twice double precision, by matrix products in double precision that are exact.

Numbers are cut into slices of so few bits that no sum of products of slices needs more than the 53 bits of a double,
in whatever order it is added up (Ozaki, Ogita, Oishi & Rump 2012). So the work is done where double precision is done
fastest. In pure NumPy, so that the judge shares no arithmetic with the tracker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.problem.samples import Samples

#: Slices of each factor; the rest is below 2**-80 of the largest terms.
_SLICES = 4

#: Numbers of a matrix that are sliced at a time.
_BLOCK = 2**21


def product(A: Samples, high: Array, low: Array) -> tuple[Array, Array]:
    """``A (high + low)`` as a sum of two arrays, the second the rounding error of the first.

    Parameters
    ----------
    A : array or CSR array of shape (m, k)
    high, low : array of shape (k, c)

    Returns
    -------
    pair of arrays of shape (m, c)

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.operator.twice import product
    >>> x = np.array([[1.0], [0.5], [1.0]])
    >>> product(np.array([[1e16, 1.0, -1e16]]), x, 1e-20 * x)[0]
    array([[0.5]])
    """
    m, k = A.shape
    carries = int(np.ceil(np.log2(max(k, 2))))
    bits = (53 - carries) // 2
    right = _slices(high, low, np.abs(high).max(axis=0, initial=0.0), bits)
    out, error = np.zeros((2, m, high.shape[1]))
    rows = max(1, _BLOCK // max(k, 1))
    for first in range(0, m, rows):
        part = slice(first, first + rows)
        left = _sliced_rows(A[part], bits)
        for order in reversed(range(_SLICES)):  # the smallest first
            for i in range(order + 1):
                term = left[i] @ right[order - i]
                _add(out[part], error[part], np.asarray(term))
    total = out + error
    return total, error - (total - out)


def _add(out: Array, error: Array, term: Array) -> None:
    """Add to a sum in two parts (Knuth 1969)."""
    total = out + term
    part = total - out
    error += (out - (total - part)) + (term - part)
    out[...] = total


def _sliced_rows(A: Samples, bits: int) -> list[Any]:
    """Slices of a matrix, dense or sparse, each row by its largest entry."""
    if not sp.issparse(A):
        return _slices(A, None, np.abs(A).max(axis=1, initial=0.0, keepdims=True), bits)
    largest = np.asarray(abs(A).max(axis=1).todense()).ravel()
    slices = _slices(A.data, None, np.repeat(largest, np.diff(A.indptr)), bits)
    return [sp.csr_array((data, A.indices, A.indptr), shape=A.shape) for data in slices]


def _slices(x: Array, low: Array | None, top: Array, bits: int) -> list[Array]:
    """Cut numbers of at most `top` into whole multiples of smaller and smaller powers of two."""
    exponent = np.frexp(top)[1]
    out, rest = [], x
    for j in range(1, _SLICES + 1):
        unit = np.maximum(np.ldexp(1.0, exponent - j * bits), 5e-324)
        cut = np.rint(rest / unit) * unit
        out.append(cut)
        rest = rest - cut  # exact
        if j == 2 and low is not None:
            rest = rest + low
    return out
