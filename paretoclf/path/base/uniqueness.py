r"""Which entries of an optimum of a program are the same in all of its optima, and which multipliers are.

With any optimal pair (x, z), the optima are the feasible points on which Px is the same and every inequality with a
positive multiplier is tight. So x may move along d with :math:`Pd=0`, :math:`A_id=0` for those and for equations, and
:math:`A_id\le0` for the other tight ones; entry j is unique exactly where every such d has :math:`d_j=0`. For
multipliers the same is true of e with :math:`A^\top e=0`, 0 on rows that are not tight, and nonnegative on tight
inequalities without a multiplier.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import null_space

from paretoclf.common.checks import Array, Mask
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.proof.programs.row_units import Sizes, Units

#: Directions are none below this share of their largest entry.
_NONE = 1e-9


def tight_rows(line: ProgramLine, t: Array, x: Array, z: Array, sizes: Sizes | None = None) -> tuple[Mask, Mask]:
    """Rows that hold with equality at all of some optimal pairs, and those that have a multiplier at one.

    ``t`` (k,), ``x`` (k, columns) and ``z`` (k, rows); ``sizes`` are those of the line, where they are known.
    """
    units = Units.at(line, t, x, z, sizes)
    return tight_in_units(units, between(line.b, t[:, None]) - x @ line.A.T, z)


def tight_in_units(units: Units, slack: Array, z: Array) -> tuple[Mask, Mask]:
    """Rows without slack (k, rows) at all of some optimal pairs, and those with a multiplier (k, rows) at one."""
    slack, size = np.abs(slack).max(axis=0), np.abs(z).max(axis=0)
    return units.slacks[0] * slack <= CERTIFY, units.prices(size[None] > 0.0)[0] * size > CERTIFY


def undetermined(line: ProgramLine, t: float, x: Array, z: Array) -> tuple[Mask, Mask]:
    """Columns, and rows whose multipliers, are not the same in all optima, of which (x, z) is one.

    Examples
    --------
    The least x0 with x0 >= 1 and two more variables, one of them within 0 and 0:

    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.path.base.uniqueness import undetermined
    >>> from paretoclf.problem.qp import QP
    >>> line = line_of(QP(None, [1.0, 0, 0], np.eye(3), [1.0, -np.inf, 0.0], [np.inf, np.inf, 0.0]), {}, {})
    >>> x, z = np.array([1.0, 5.0, 0.0]), np.array([0.0, 1.0])
    >>> [each.tolist() for each in undetermined(line, 0.0, x, z)]
    [[False, True, False], [False, False]]
    """
    tight, priced = tight_rows(line, np.array([t]), x[None], z[None])
    A, equation = sp.csr_array(line.A), np.arange(line.m) < line.equations
    tight, priced = tight | priced | equation, priced | equation
    weak = np.flatnonzero(tight & ~priced)
    columns = _moving(_scaled(sp.vstack([line.P, A[np.flatnonzero(priced)]])), _scaled(A[weak]))
    rows = np.flatnonzero(tight)
    own = _scaled(A[rows])  # multipliers in units of their rows: a direction stays one
    signs = -np.eye(rows.size)[np.isin(rows, weak)]
    found = np.zeros(line.m, dtype=np.bool_)
    found[rows] = _moving(own.T, signs)
    return columns, found


def _scaled(M: sp.sparray) -> Array:
    """Rows of length 1."""
    dense = np.asarray(M.toarray())
    size = np.linalg.norm(dense, axis=1, keepdims=True)
    return np.asarray(dense / np.where(size > 0.0, size, 1.0))


def _moving(still: Array, falling: Array) -> Mask:
    """Entries that are not 0 in some d with ``still d = 0`` and ``falling d <= 0``."""
    n = still.shape[1]
    N = null_space(still) if still.shape[0] else np.eye(n)
    found, cone = np.zeros(n, dtype=np.bool_), falling @ N
    open_ones = np.flatnonzero(np.abs(N).max(axis=1, initial=0.0) > _NONE)
    for j in open_ones.tolist():
        for sign in (1.0, -1.0):
            if found[j]:
                break
            d = _furthest(sign * N[j], cone)
            found |= np.abs(N @ d) > _NONE
    return found


def _furthest(gain: Array, cone: Array) -> Array:
    """The u within a box with ``cone u <= 0`` along which a gain is largest."""
    if not cone.shape[0]:
        return np.asarray(gain / np.abs(gain).max())
    solved = linprog(-gain, A_ub=cone, b_ub=np.zeros(cone.shape[0]), bounds=(-1.0, 1.0))
    return np.asarray(solved.x) if solved.status == 0 else np.zeros(gain.size)
