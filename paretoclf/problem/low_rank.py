r"""Features for a kernel: a partial Cholesky factor with pivoting.

After the pivots :math:`P` the factor :math:`G` of shape (n, r) reproduces the kernel values of the pivots exactly:
:math:`\tilde K=GG^\top=K_{\cdot P}K_{PP}^{-1}K_{P\cdot}`, the Nyström approximation. The remainder
:math:`R=K-\tilde K` is positive semidefinite. So no entry of it exceeds its largest diagonal entry, and with caps
:math:`c` the optimal values of the 2C-SVM with the two kernels satisfy

.. math::

   0\le\tilde P^*-P^*\le\tfrac12\tilde\alpha^\top YRY\tilde\alpha\le\tfrac12\max_iR_{ii}\Big(\sum_i\tilde\alpha_i\Big)^2

for :math:`\tilde\alpha` optimal with :math:`\tilde K`: in the dual the two objectives differ by
:math:`\tfrac12\alpha^\top YRY\alpha`, and both have the same feasible set.

Only the columns of the pivots are computed, never the n x n matrix. The next pivot is the sample with the largest
diagonal entry of the remainder, the first of equal ones.

References: S. Fine, K. Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2 (2001);
C. Williams, M. Seeger, *Using the Nyström method to speed up kernel machines*, NIPS (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, is_whole
from paretoclf.common.errors import InputError
from paretoclf.common.memory import require_memory
from paretoclf.common.tolerances import COLUMN_NOISE, FACTOR_RANK, PIVOT_AGAIN

_HINT = "; if that is rounding (features far from 0 against the bandwidth), centre the features"


@dataclass(frozen=True)
class Approximation:
    """Error of a low-rank kernel: how far ``K - G G'`` is from zero, up to rounding.

    Attributes
    ----------
    rank : int
        Number of features, which is the number of pivots.
    remainder : float
        Trace of ``K - G G'`` relative to that of K.
    largest : float
        Largest diagonal entry of ``K - G G'``: no entry of it is larger, and no sample's squared distance (in feature
        space) from the span of the pivots.
    method : str
        How the features were found.
    """

    rank: int
    remainder: float
    largest: float
    method: str = "pivoted Cholesky"

    def __str__(self) -> str:
        return f"{self.method}, rank {self.rank}, relative trace of the remainder {self.remainder:.1e}"


@dataclass(frozen=True)
class Factorised:
    """Features G of shape (n, r), the pivots in the order in which they were taken, and the error."""

    G: Array = field(repr=False)
    pivots: Index = field(repr=False)
    approximation: Approximation


def check_low_rank(low_rank: Any, n: int) -> int | float | Index:
    """Return a rank, a tolerance or an array of pivots, or refuse it and say what is allowed."""
    if is_whole(low_rank) and low_rank >= 1:
        return int(low_rank)
    if isinstance(low_rank, float | np.floating) and 0 < low_rank < 1:
        return float(low_rank)
    if isinstance(low_rank, list | tuple | np.ndarray) and all(is_whole(i) and 0 <= i < n for i in low_rank):
        pivots = np.array(low_rank, dtype=np.int64)
        if np.unique(pivots).size == pivots.size > 0:
            return pivots
    raise InputError(
        "low_rank must be a whole number >= 1 (the largest rank), a float between 0 and 1 (the trace that may be left "
        f"out, relative) or distinct positions of samples from 0 to {n - 1} (the pivots), got {low_rank!r}"
    )


def pivoted_cholesky(
    column: Callable[[int], Array], diagonal: Array, low_rank: int | float | Index, name: str
) -> Factorised:
    """Factorise a kernel from its diagonal and the columns that are chosen on the way.

    Parameters
    ----------
    column : callable
        Column i of the kernel matrix, shape (n,), for a position i.
    diagonal : array of shape (n,)
        Diagonal of the kernel matrix.
    low_rank : int, float or array of int
        As returned by `check_low_rank`. Fewer pivots are taken where the kernel has a lower rank (FACTOR_RANK).
    name : str
        The kernel, for error messages.

    Raises
    ------
    InputError
        If the kernel is not finite, zero, not symmetric or not positive semidefinite as far as the columns show it,
        or a given pivot depends on those before it.
    """
    n, scale, total = diagonal.size, float(diagonal.max()), float(diagonal.sum())
    if not (np.isfinite(diagonal).all() and scale > 0 and diagonal.min() >= 0):
        raise InputError(
            f"kernel ({name}) must have a finite, nonnegative diagonal that is not zero to be approximated, "
            f"got values from {diagonal.min():.3g} to {diagonal.max():.3g}"
        )
    given, limit, tolerance = None, n, 0.0
    if isinstance(low_rank, float):
        tolerance = low_rank
    elif isinstance(low_rank, int):
        limit = min(n, low_rank)
    else:
        given, limit = low_rank, low_rank.size
    left = diagonal.copy()
    pivots: list[int] = []
    rows = np.empty((0, n))  # row k: feature k of all samples
    for k in range(limit):
        i = int(np.argmax(left) if given is None else given[k])
        if given is None and (left[i] <= FACTOR_RANK * scale or left.sum() <= tolerance * total):
            break
        if left[i] <= PIVOT_AGAIN * FACTOR_RANK * scale:
            raise InputError(f"low_rank must hold independent samples, but sample {i} depends on those before it")
        if k == rows.shape[0]:
            rows = _longer(rows, limit)
        entries = column(i)
        if not np.isfinite(entries).all():
            j = int(np.flatnonzero(~np.isfinite(entries))[0])
            raise InputError(f"kernel ({name}) must be finite, got {entries[j]} for the samples {j} and {i}")
        new = entries - rows[:k, i] @ rows[:k]
        skew = np.abs(new[pivots])
        if skew.max(initial=0.0) > COLUMN_NOISE * scale:
            j = pivots[int(np.argmax(skew))]
            raise InputError(
                f"kernel ({name}) must be symmetric, got values for the samples {i} and {j} that depend on their order "
                f"by {skew.max():.3g}{_HINT}"
            )
        new[pivots] = 0.0
        new[i] = left[i]
        new /= np.sqrt(left[i])
        rows[k] = new
        pivots.append(i)
        left -= new**2
        left[pivots] = 0.0
        if left.min() < -COLUMN_NOISE * scale:
            raise InputError(
                f"kernel ({name}) must be positive semidefinite, got {left.min():.3g} on the diagonal "
                f"of the remainder at sample {int(np.argmin(left))} after {k + 1} pivots{_HINT}"
            )
        np.maximum(left, 0.0, out=left)
    rank, remainder = len(pivots), float(left.sum()) / total
    approximation = Approximation(rank, remainder, float(left.max()))
    features = np.ascontiguousarray(rows[:rank].T)
    return Factorised(features, np.array(pivots, dtype=np.int64), approximation)


def _longer(rows: Array, limit: int) -> Array:
    """Copy rows into an array with memory for twice as many, if there is any."""
    k, n = rows.shape
    size = min(limit, max(64, 2 * k))
    require_memory(8 * size * n, f"low_rank: {size} features of {n} samples", "use a lower rank or a larger tolerance")
    longer = np.empty((size, n))
    longer[:k] = rows
    return longer
