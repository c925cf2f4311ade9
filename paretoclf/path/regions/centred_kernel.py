"""The kernel matrix that a map is made of: centred in feature space, and a kernel's although its values are rounded."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.engine.boxes import add_product
from paretoclf.problem.gram import Gram


def centred(gram: Gram) -> tuple[Array, Array, Array]:
    """Kernel matrix of the samples less a point amid them in feature space, and the score of the point for each sample.

    For multipliers that balance, scores for one and for the other differ by ``centre @ (y * alpha)``. For a matrix that
    is given the differences are rounded; what they are off by is the second array.
    """
    Q = gram.quadratic
    if Q.middle is not None:
        near = Q.centred(Q.middle)
        K = near.whole()
        return K, np.zeros(K.shape), near.project(Q.middle)
    K = gram.matrix
    rows = K.mean(axis=0)
    centre, lost = rows - rows.mean(), np.zeros(K.shape)
    for shift in (-centre, -centre[:, None], np.full((1, 1), -rows.mean())):
        K, error = two_sums(K, shift)
        lost += error
    return *two_sums(K, lost), centre


def definite(K: Array, rounding: float) -> tuple[Array, Array] | None:
    """The kernel matrix, centred, in two parts, that a matrix of lower rank is up to rounding; None where rank is full.

    Where directions in feature space are no longer than the rounding of values, or of no positive length, margin sets
    are independent by rounding only, and regions of the plane overlap. So such directions are left out (pivoted
    Cholesky factor, entry by entry: samples with the same values stay the same).
    """
    p = int(np.argmin(np.diagonal(K) - 2.0 * K.mean(axis=0)))  # amid the samples
    rest, columns = K - K[p] - K[:, p, None] + K[p, p], [np.zeros(len(K))]
    for _ in range(len(K) - 1):
        j = int(np.argmax(np.diagonal(rest)))
        if rest[j, j] <= rounding:
            break
        columns.append(rest[:, j] / np.sqrt(rest[j, j]))
        rest -= columns[-1] * columns[-1][:, None]
    if len(columns) == len(K):
        return None
    L = np.stack(columns, axis=1)
    L -= L.mean(axis=0)
    hi, lo = np.zeros((2, *K.shape))
    add_product(L[None], np.zeros((1, *L.shape)), np.ascontiguousarray(L.T)[None], hi[None], lo[None])
    return hi, lo


def two_sums(a: Array, b: Array) -> tuple[Array, Array]:
    """Sums and their rounding errors (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)
