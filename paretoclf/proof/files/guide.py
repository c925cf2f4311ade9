"""Labels of a whole compiled program from its tight rows: what an exact certificate begins with.

The reduction leaves out most rows and columns, so that its labels say nothing of those. Where they are back, each
column that was substituted, or that is the larger of others, has rows which are tight; not all of them have a
multiplier, and those that have do not make a basis by themselves.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER

#: Directions, and curvature along them, count as none below this share of the largest.
_NONE = 1e-9


def labels_of_rows(line: ProgramLine, priced: Mask, tight: Mask) -> Index:
    """A basis of all columns and of rows: those with a multiplier, and as many tight ones as make it one.

    Parameters
    ----------
    line : ProgramLine
    priced, tight : bool arrays of shape (m,)
        Rows with a multiplier, and rows without room, in doubles.
    """
    n, equation = line.n, np.arange(line.m) < line.equations
    A, P = _in_units(line.A.toarray()), line.P.toarray()
    must = np.flatnonzero(priced & (tight | equation))
    rows = must[_independent(A[must].T)]
    free = _null(A[rows])
    weights, vectors = eigh(free.T @ P @ free) if free.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    flat = free @ vectors[:, weights <= _NONE * max(float(np.abs(P).max(initial=0.0)), np.finfo(float).tiny)]
    other = np.setdiff1d(np.flatnonzero(tight | equation), must)
    more = other[_independent((A[other] @ flat).T)]
    flat = flat @ _null(A[more] @ flat)
    labels = np.full(n + line.m, INSIDE)
    labels[_independent(flat.T)] = LOWER  # nothing holds these columns: they rest at 0
    active = np.concatenate([rows, more])
    labels[n + active] = np.where(equation[active], LOWER, UPPER)
    return labels


def _in_units(A: Array) -> Array:
    """Rows of length 1."""
    size = np.linalg.norm(A, axis=1, keepdims=True)
    return np.asarray(A / np.where(size > 0.0, size, 1.0))


def _independent(columns: Array) -> Index:
    """Columns that are independent, and of which all others are combinations, increasing."""
    if not columns.size:
        return np.zeros(0, dtype=np.int64)
    R, order = qr(columns, mode="r", pivoting=True)[:2]
    size = np.abs(R.diagonal())
    return np.sort(order[: int((size > _NONE * max(1.0, size.max(initial=0.0))).sum())])


def _null(rows: Array) -> Array:
    """Orthonormal directions along which none of some rows changes."""
    if not rows.shape[0] or not rows.shape[1]:
        return np.eye(rows.shape[1])
    Q, R, _ = qr(rows.T, pivoting=True)
    size = np.abs(R.diagonal())
    return np.asarray(Q[:, int((size > _NONE * max(1.0, size.max(initial=0.0))).sum()) :])
