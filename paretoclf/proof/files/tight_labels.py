"""Labels of a whole compiled program from its tight rows: the first guess of an exact certificate.

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
    """Label a basis of all columns and of rows: those with a multiplier, and as many tight ones as make it a basis.

    Parameters
    ----------
    line : ProgramLine
    priced, tight : bool arrays of shape (m,)
        Rows with a multiplier, and rows without slack, in doubles.
    """
    equation = np.arange(line.m) < line.equations
    rows_in_units, P = _in_units(line.A.toarray()), line.P.toarray()
    must = np.flatnonzero(priced & (tight | equation))
    rows = must[_independent(rows_in_units[must].T)]
    flat = _flat_directions(P, _null(rows_in_units[rows]))
    # Along these nothing changes the objective, and only rows without a multiplier can stop it.
    other = np.setdiff1d(np.flatnonzero(tight | equation), must)
    more = other[_independent((rows_in_units[other] @ flat).T)]
    flat = flat @ _null(rows_in_units[more] @ flat)
    labels = np.full(line.n + line.m, INSIDE)
    labels[_independent(flat.T)] = LOWER  # nothing holds these columns: they rest at 0
    active = np.concatenate([rows, more])
    labels[line.n + active] = np.where(equation[active], LOWER, UPPER)
    return labels


def _flat_directions(P: Array, free: Array) -> Array:
    """Directions, of those that free ones span, along which P has no curvature."""
    if not free.shape[1]:
        return free
    curvature, directions = eigh(free.T @ P @ free)
    largest = max(float(np.abs(P).max(initial=0.0)), np.finfo(float).tiny)
    return np.asarray(free @ directions[:, curvature <= _NONE * largest])


def _in_units(matrix: Array) -> Array:
    """Scale rows to length 1."""
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(size > 0.0, size, 1.0))


def _independent(columns: Array) -> Index:
    """Columns that are independent, and of which all others are combinations, increasing."""
    if not columns.size:
        return np.zeros(0, dtype=np.int64)
    factor, order = qr(columns, mode="r", pivoting=True)[:2]
    return np.sort(order[: _rank(factor)])


def _null(rows: Array) -> Array:
    """Orthonormal directions along which none of some rows changes."""
    if not rows.shape[0] or not rows.shape[1]:
        return np.eye(rows.shape[1])
    directions, factor, _ = qr(rows.T, pivoting=True)
    return np.asarray(directions[:, _rank(factor) :])


def _rank(factor: Array) -> int:
    """Rank of a matrix, by the diagonal of its triangular factor with pivots."""
    size = np.abs(factor.diagonal())
    return int((size > _NONE * max(1.0, size.max(initial=0.0))).sum())
