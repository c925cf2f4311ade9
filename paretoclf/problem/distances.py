r"""Squared distances of samples, right to a few roundings of each wherever the origin is.

:math:`|x-z|^2=|x-c|^2+|z-c|^2-2(x-c)\cdot(z-c)` costs one product of matrices, but where the samples are far from c
and close to each other next to nothing is left of it: map coordinates, time stamps, an outlier, two clusters. So c
lies in the middle of the samples, and each pair of which less than the share 1 / CANCELLED is left is computed again
from the differences of its features.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CANCELLED
from paretoclf.problem.samples import Samples, dot, middle, moved, squares

_ROWS = 32  # of the matrix, looked at together
_NUMBERS = 2**18  # of the pairs that are computed again, how many features are worked on at a time


def squared_distances(X: Samples, Z: Samples, unit: float = 1.0, floor: float = 0.0) -> Array:
    """Squared Euclidean distances of checked samples, shape (len(X), len(Z)).

    Parameters
    ----------
    X, Z : array or scipy.sparse.csr_array of shape (., d)
        Samples.
    unit : float
        Unit of the distances; differences are divided by it before they are squared.
    floor : float
        Distances far below this number, in squared units, need not be right relatively: within its rounding is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.distances import squared_distances
    >>> squared_distances(1e15 + np.array([[0.0], [1.0]]), 1e15 + np.array([[3.0]]))
    array([[9.],
           [4.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is computed again, and may be infinite
        centre = middle(Z)
        A = moved(X, centre) / unit
        B = A if X is Z else moved(Z, centre) / unit
        length_a, length_b, out = squares(A), squares(B), dot(A, B)
        if X is Z and sp.issparse(X):
            out = 0.5 * (out + out.T)
        longest = length_b.max()
        numbers = X.nnz + 1 if sp.issparse(X) else X.size
        step = max(1, _NUMBERS * X.shape[0] // numbers)
        for first in range(0, X.shape[0], _ROWS):
            rows = slice(first, first + _ROWS)
            part, terms = out[rows], np.add.outer(length_a[rows], length_b)
            part *= -2.0
            part += terms
            if length_a[rows].max() + longest <= CANCELLED * floor:
                continue
            kept = (terms <= CANCELLED * (part + floor)) & (terms < np.inf)
            lost, other = np.nonzero(~kept)
            for k in range(0, lost.size, step):
                i, j = lost[k : k + step], other[k : k + step]
                differences = (X[first + i] - Z[j]) / unit
                part[i, j] = squares(differences)
        if X is Z:
            np.fill_diagonal(out, 0.0)
        return np.maximum(out, 0.0, out=out)
