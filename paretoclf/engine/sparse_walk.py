r"""The walk of a large, sparse problem: the basis by a sparse factor, and what has changed since by a border.

`paretoclf.engine.core_walk.CoreWalk` keeps the inverse of the basis, k by k. Here the basis of some step is kept as
the sparse factor of SuperLU, and the c items that have come or gone since as columns C beside it:

.. math::

   \begin{pmatrix}H_{00}&C\\C^\top&G\end{pmatrix},\qquad S=G-C^\top H_{00}^{-1}C,

with a column of H for who has come and a unit column, which holds its value at 0, for who has gone. One solution takes
two by the factor and one with S; after some exchanges a new factor is made.

The factor is in doubles, all solutions are in twice the precision: residuals of the equations in that precision, solved
for, are added until nothing is left to add. A basis that is so ill-conditioned that this does not help is refused.
Whether a pivot is 0 is decided as in doubles, in which the problem is known.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Index
from paretoclf.engine import _core
from paretoclf.engine.core_walk import CoreWalk
from paretoclf.problem.parametric_qp import ParametricQP


class SparseWalk(CoreWalk):
    """Follows a problem from event to event in twice the precision, on sparse bases."""

    precision = _core.SparseWalk

    def columns(self, problem: ParametricQP) -> tuple[Any, ...]:
        """The matrix H by its columns, and a function that factors its blocks."""
        P, A = sp.csr_array(problem.P), sp.csr_array(problem.A)
        blocks = sp.block_array([[P, A.T], [A, None]]) if problem.items > problem.n else P
        matrix = sp.csc_array(blocks)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        begin, rows = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        entries = np.asarray(matrix.data, dtype=float)
        columns = _core.Columns.sparse(begin, rows, entries, problem.n)
        return columns, partial(_factored, sp.csr_array(matrix))


def _factored(matrix: Any, items: Index) -> tuple[Any, ...] | None:
    """L and U of the block of some items, by columns, and where its rows and columns are; None if it is singular."""
    try:
        factor = splu(sp.csc_array(matrix[items][:, items]))
    except RuntimeError:
        return None
    parts = ((each.indptr, each.indices, each.data) for each in (factor.L, factor.U))
    return *parts, factor.perm_r, factor.perm_c
