r"""A problem whose P is singular up to rounding, as one that is convex exactly.

Where :math:`P=F^\top F` has fewer rows in F than columns, its doubles have eigenvalues of some ulps, of either sign, in
place of 0. To an engine that computes to 32 digits they are curvature, and no path follows a negative one. With
:math:`s=Fx` as variables and rows the objective is :math:`\tfrac12|s|^2`, and flat directions are so exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.in_fractions import SEMIDEFINITE
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.start import Data, first_labels
from paretoclf.problem.parametric_qp import INSIDE, LOWER, ParametricQP
from paretoclf.problem.trace import Trace


def through_squares(
    follow: Callable[[ParametricQP, Index | None], Trace], problem: ParametricQP, labels: Index | None
) -> Trace:
    """Follow a problem from a guess of its labels: as squares where its P is singular up to rounding, else as it is."""
    factor = root(problem.P, problem.n)
    if factor is None:
        return follow(problem, labels)
    rank, n = factor.shape
    items = problem.items
    kept = np.r_[:n, n + rank : items + rank]
    guess = np.full(items + 2 * rank, INSIDE)
    guess[kept] = first_labels(Data.of(problem)) if labels is None else labels
    guess[items + rank :] = LOWER  # every s = Fx in the basis, which makes no basis singular
    found = follow(_squared(problem, factor), guess)
    ray = None if found.ray is None else found.ray[kept]
    item = -1 if found.item < 0 else int(np.searchsorted(kept, found.item))
    return replace(found, path=found.path.of_some(problem, kept), ray=ray, item=item)


def root(P: Array, most: int, missed: float = SEMIDEFINITE) -> Array | None:
    """Factor P = F'F up to rounding by Cholesky's algorithm with the largest pivots first.

    Parameters
    ----------
    P : array of shape (n, n)
    most : int
        Rows that F may have.
    missed : float
        Largest error of an entry, in the units of the diagonal.

    Returns
    -------
    F, or None where P is of larger or full rank, or indefinite.
    """
    diagonal = np.maximum(P.diagonal(), 0.0)
    if np.count_nonzero(P) == np.count_nonzero(diagonal):  # a diagonal matrix is flat exactly where it has 0
        return None
    units = np.where(diagonal > 0.0, diagonal, 1.0)
    factor, left = np.zeros((most, len(P))), diagonal.copy()
    for rank in range(most + 1):
        pivot = int(np.argmax(left / units))
        if left[pivot] <= SEMIDEFINITE * units[pivot]:
            break
        if rank == most:
            return None
        row = P[pivot] - factor[:rank, pivot] @ factor[:rank]
        factor[rank] = row / np.sqrt(left[pivot])
        left -= factor[rank] ** 2
        left[pivot] = 0.0
    if rank == np.count_nonzero(diagonal):
        return None
    factor, units = factor[:rank], np.sqrt(diagonal)
    for part in blocks(*P.shape):
        allowed = missed * units[part, None] * units
        if not _is_square(factor, P, part, allowed):
            return None
    return factor


def _is_square(factor: Array, P: Array, rows: slice, allowed: Array) -> bool:
    """Whether some rows of F'F are those of P, up to the allowed error of each entry."""
    residual = factor[:, rows].T @ factor
    residual -= P[rows]
    return bool((np.abs(residual, out=residual) <= allowed).all())


def _squared(problem: ParametricQP, factor: Array) -> ParametricQP:
    """The problem in x and s, with rows Ax and Fx - s."""
    rank, n = factor.shape
    m = problem.items - n
    sides: dict[str, Any] = {}
    for name, of_s, of_rows in (
        ("lower", -np.inf, 0.0),
        ("upper", np.inf, 0.0),
        ("below", np.inf, np.inf),
        ("above", np.inf, np.inf),
    ):
        given = getattr(problem, name)
        s, rows = np.full((2, rank), of_s), np.full((2, rank), of_rows)
        sides[name] = np.hstack([given[:, :n], s, given[:, n:], rows])
    P = np.diag(np.r_[np.zeros(n), np.ones(rank)])
    nothing = np.zeros((m, rank))
    A = np.block([[problem.A, nothing], [factor, -np.eye(rank)]])
    q = np.hstack([problem.q, np.zeros((2, rank))])
    return ParametricQP(P, A, q, **sides)
