r"""A problem whose P is singular up to rounding, as one that is convex exactly: for paths in twice the precision.

Of :math:`P=F^\top F` with fewer rows than columns the doubles have eigenvalues of some ulps, of either sign, where P
has 0. Those are curvature to who computes to 32 digits, and no path follows a negative one. With :math:`s=Fx` as
variables and rows the objective is :math:`\tfrac12|s|^2`, and what is flat is so exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from paretoclf.checks import Array, Index
from paretoclf.path.in_fractions import SEMIDEFINITE
from paretoclf.path.start import Data, first_labels
from paretoclf.problem import INSIDE, LOWER, ParametricQP, Trace


def through_squares(
    follow: Callable[[ParametricQP, Index | None], Trace], problem: ParametricQP, labels: Index | None
) -> Trace:
    """Follow a problem from a guess of its labels: as squares where its P is singular up to rounding, else as it is."""
    if (F := _root(problem.P)) is None:
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
        ray=None if found.ray is None else found.ray[kept],
        item=-1 if found.item < 0 else int(np.searchsorted(kept, found.item)),
    )


def _root(P: Array) -> Array | None:
    """F of full rank with F'F = P up to rounding; None where P is definite or diagonal, or not semidefinite."""
    unit = np.sqrt(np.maximum(P.diagonal(), 0.0))
    on = np.flatnonzero(unit)
    if np.count_nonzero(P) == on.size:
        return None
    factor, order, rank, _ = lapack.dpstrf(P[np.ix_(on, on)] / unit[on, None] / unit[on], tol=SEMIDEFINITE)
    if rank == on.size:
        return None
    F = np.zeros((rank, P.shape[0]))
    F[:, on[order - 1]] = np.triu(factor)[:rank]
    F *= unit
    return F if (np.abs(F.T @ F - P) <= SEMIDEFINITE * np.multiply.outer(unit, unit)).all() else None


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
