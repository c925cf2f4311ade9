r"""A problem whose P is singular up to rounding, as one that is convex exactly.

Of :math:`P=F^\top F` with fewer rows than columns the doubles have eigenvalues of some ulps, of either sign, where P
has 0. Those are curvature to who computes to 32 digits, and no path follows a negative one. With :math:`s=Fx` as
variables and rows the objective is :math:`\tfrac12|s|^2`, and what is flat is so exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.in_fractions import SEMIDEFINITE
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.start import Data, first_labels
from paretoclf.problem.parametric_qp import INSIDE, LOWER, ParametricQP, Trace


def through_squares(
    follow: Callable[[ParametricQP, Index | None], Trace], problem: ParametricQP, labels: Index | None
) -> Trace:
    """Follow a problem from a guess of its labels: as squares where its P is singular up to rounding, else as it is."""
    if (F := root(problem.P, problem.n)) is None:
        return follow(problem, labels)
    (rank, n), m = F.shape, problem.items - problem.n
    kept = np.r_[:n, n + rank : problem.items + rank]
    guess = np.full(problem.items + 2 * rank, INSIDE)
    guess[kept] = first_labels(Data.of(problem)) if labels is None else labels
    guess[problem.items + rank :] = LOWER  # every s = Fx in the basis, which adds nothing to what is in it else
    found = follow(_squared(problem, F, m), guess)
    return replace(
        found,
        labels=found.labels[:, kept],
        values=found.values[:, kept],
        multipliers=found.multipliers[:, kept],
        log=None,
        ray=None if found.ray is None else found.ray[kept],
        item=-1 if found.item < 0 else int(np.searchsorted(kept, found.item)),
    )


def root(P: Array, most: int, missed: float = SEMIDEFINITE) -> Array | None:
    """F of up to so many rows with F'F = P up to rounding; None where P is of larger or full rank, or indefinite.

    Cholesky's algorithm with the largest pivots first. What it misses is ``missed``, in the units of the diagonal.
    """
    diagonal = np.maximum(P.diagonal(), 0.0)
    if np.count_nonzero(P) == np.count_nonzero(diagonal):  # flat is who has 0 there
        return None
    units = np.where(diagonal > 0.0, diagonal, 1.0)
    F, left = np.zeros((most, len(P))), diagonal.copy()
    for rank in range(most + 1):
        k = int(np.argmax(left / units))
        if left[k] <= SEMIDEFINITE * units[k]:
            break
        if rank == most:
            return None
        F[rank] = (P[k] - F[:rank, k] @ F[:rank]) / np.sqrt(left[k])
        left -= F[rank] ** 2
        left[k] = 0.0
    F, unit = F[:rank], np.sqrt(diagonal)
    if rank == np.count_nonzero(diagonal):
        return None
    for part in blocks(*P.shape):
        room = missed * unit[part, None] * unit
        if not _is_square(F, P, part, room):
            return None
    return F


def _is_square(F: Array, P: Array, rows: slice, most: Array) -> bool:
    """Whether some rows of F'F are those of P, up to so much in each entry."""
    off = F[:, rows].T @ F
    off -= P[rows]
    return bool((np.abs(off, out=off) <= most).all())


def _squared(problem: ParametricQP, F: Array, m: int) -> ParametricQP:
    """The problem in x and s, with rows Ax and Fx - s."""
    (rank, n), ends = F.shape, ((problem.lower, -np.inf, 0.0), (problem.upper, np.inf, 0.0))
    hard = ((each, np.inf, np.inf) for each in (problem.below, problem.above))
    lower, upper, below, above = (
        np.hstack([each[:, :n], np.full((2, rank), of_s), each[:, n:], np.full((2, rank), of_rows)])
        for each, of_s, of_rows in (*ends, *hard)
    )
    P = np.diag(np.r_[np.zeros(n), np.ones(rank)])
    A = np.block([[problem.A, np.zeros((m, rank))], [F, -np.eye(rank)]])
    return ParametricQP(P, A, np.hstack([problem.q, np.zeros((2, rank))]), lower, upper, below, above)
