"""The basis at which HiGHS ends, as labels to begin with: of a linear program at t = 0, where highspy is installed.

A path begins at an optimum; half of its exchanges look for one. HiGHS finds a vertex of a large, sparse program in a
hundredth of that time. Its basis is a guess as any other: numbers are shifted until it is optimal, and followed back.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Index
from paretoclf.common.quiet import quiet
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP

#: What HiGHS says of a column or row: whether it is in the basis, or at its upper bound; else it is at its lower one.
_BASIC, _AT_UPPER = 1, 2


#: Items from which on a start is worth a solver.
_MANY = 350


def vertex(problem: ParametricQP, deadline: float = math.inf) -> Index | None:
    """Labels of an optimal basis at t = 0 of a large linear program.

    None where it is none, there is no highspy, or that finds no optimum before the deadline (of `time.monotonic`).
    """
    curved = problem.P.nnz if sp.issparse(problem.P) else problem.P.any()
    if curved or problem.items < _MANY:
        return None
    try:
        import highspy as installed  # optional: who has no file to read needs none
    except ImportError:
        return None
    highspy: Any = installed
    with quiet():
        solver = highspy.Highs()
    # Threads are as they are: HiGHS refuses another number than the first that a process has had.
    for option, value in (("output_flag", False), ("solver", "simplex"), ("parallel", "off")):
        solver.setOptionValue(option, value)
    stated = _Stated(Data.of(problem))
    solver.passModel(stated.program(highspy))
    solver.setOptionValue("time_limit", max(0.0, deadline - time.monotonic()))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    basis = solver.getBasis()
    columns, rows = (np.array([int(each) for each in status]) for status in (basis.col_status, basis.row_status))
    return stated.labels(columns, rows)


class _Stated:
    """The program as HiGHS takes it: a soft side is a column that pays for what is beyond it.

    That column stands in the row of its item; a variable with soft sides has a row of its own.
    """

    def __init__(self, data: Data) -> None:
        self.data, self.n, items = data, data.problem.n, data.problem.q.shape[1] + data.problem.A.shape[0]
        self.own = np.flatnonzero((data.soft_low | data.soft_up)[: self.n])  # variables with a row
        self.row = np.full(items, -1)
        self.row[self.n :] = np.arange(items - self.n)
        self.row[self.own] = items - self.n + np.arange(self.own.size)
        self.under, self.over = np.flatnonzero(data.soft_low), np.flatnonzero(data.soft_up)

    def program(self, highspy: Any) -> Any:
        """The model."""
        data, n = self.data, self.n
        paid = self.under.size + self.over.size
        identity = sp.eye_array(n, format="csr")
        rows = sp.vstack([sp.csr_array(data.problem.A), identity[self.own]])
        signs = np.append(np.ones(self.under.size), -np.ones(self.over.size))
        at = self.row[np.append(self.under, self.over)]
        sides = sp.csc_array((signs, (at, np.arange(paid))), shape=(rows.shape[0], paid))
        matrix = sp.csc_array(sp.hstack([rows, sides]))
        low, up = np.where(data.has_low, data.low[0], -np.inf), np.where(data.has_up, data.up[0], np.inf)
        hard_low, hard_up = np.where(data.soft_low, -np.inf, low), np.where(data.soft_up, np.inf, up)
        of_rows = np.append(np.arange(n, low.size), self.own)
        own_low, own_up = np.where(data.soft_low, low, -np.inf), np.where(data.soft_up, up, np.inf)
        low[:n], up[:n] = own_low[:n], own_up[:n]
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_ = np.concatenate([data.q[0], data.below[0][self.under], data.above[0][self.over]])
        model.col_lower_ = np.append(hard_low[:n], np.zeros(paid))
        model.col_upper_ = np.append(hard_up[:n], np.full(paid, np.inf))
        model.row_lower_, model.row_upper_ = low[of_rows], up[of_rows]
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
        model.a_matrix_.value_ = matrix.data
        return model

    def labels(self, columns: Index, rows: Index) -> Index:
        """The labels of a basis."""
        data, n = self.data, self.n
        found = _at_bounds(columns[:n])
        of_rows = _at_bounds(rows)
        found = np.append(found, of_rows[: self.row.size - n])
        free = found[self.own] == INSIDE
        found[self.own[free]] = of_rows[self.row[self.own[free]]]
        beyond = columns[n:] == _BASIC
        paid_under, paid_over = np.split(beyond, [self.under.size])
        found[self.under[paid_under]] = BELOW
        found[self.over[paid_over]] = ABOVE
        return np.where(data.fixed & (found == UPPER), LOWER, found)


def _at_bounds(status: Index) -> Index:
    """Labels of columns or rows by what HiGHS says of them."""
    return np.where(status == _BASIC, INSIDE, np.where(status == _AT_UPPER, UPPER, LOWER))
