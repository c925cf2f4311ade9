r"""Fewer items for the same problem: the reduction of a compiled program, and the exact way back.

Seven rules are applied, one after the other (`paretoclf.engine.reduction.rules`, a file each):

1. Epigraph variables become costs with kinks.
2. Rows of one entry become bounds of their column.
3. Columns that are fixed all along, and those that cost nothing and only relax rows, are set to their bound.
4. A slack with a cost, alone in an equation, goes: the equation may be missed on that side, at its price.
5. Parallel inequalities become one row with two bounds.
6. Costs with kinks become soft bounds, of a column where one is free to carry them, else of a row.
7. A free column that stands in one equation only is substituted; one whose square costs only where that leaves fewer
   entries to read (`paretoclf.engine.reduction.fill`): squares of long rows are never made.

`paretoclf.engine.reduction.reduced` takes values and multipliers of the items to all columns x and multipliers z of the
compiled program. No search, no tolerance: each rule is inverted in the reverse order. What comes back is judged on the
compiled program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Index
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.engine.reduction.rules.bounds import RowsToBounds
from paretoclf.engine.reduction.rules.chain import Chain
from paretoclf.engine.reduction.rules.epigraphs import EpigraphsToKinks
from paretoclf.engine.reduction.rules.fixed import FixColumns
from paretoclf.engine.reduction.rules.kinks import KinksToBounds
from paretoclf.engine.reduction.rules.names import names_of_rows
from paretoclf.engine.reduction.rules.parallel import JoinRows
from paretoclf.engine.reduction.rules.slacks import DropSlacks
from paretoclf.engine.reduction.rules.stage import ReductionStage
from paretoclf.engine.reduction.rules.substitution import SubstituteColumns, with_squares
from paretoclf.problem.parametric_qp import ParametricQP

#: All rules but the last, in their order.
RULES = (EpigraphsToKinks, RowsToBounds, FixColumns, DropSlacks, JoinRows, KinksToBounds)

#: A program of so many columns and rows, and of no more entries than this share of all, is reduced so that it stays so.
_LARGE, _THIN = 1500, 0.01
#: What is left of any is followed on sparse bases from so many items, and up to this share of entries, on. Arrays of
#: many items are slow to read: then the share may be larger.
_SPARSE, _MANY = (350, 0.02), (_LARGE, 0.05)
#: So many times the entries that CVXPY compiled are too many for what long chains of substituted columns leave.
_FILLED = 2


def reduce(line: ProgramLine, *, squares: bool = True) -> Reduced:
    """Reduce a compiled program.

    Parameters
    ----------
    line : ProgramLine
    squares : bool
        Whether variables that the objective squares may be substituted, too. What they are put into is the product of
        their rows, entry by entry rounded: where these have no full rank, it may bend where the program does not.

    Raises
    ------
    InputError
        If two bounds cross at the start of the line.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.engine.reduction.presolve import reduce
    >>> from paretoclf.solve.sources.problem_line import program_line
    >>> w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True)
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - 1) + lam * cp.norm1(w)))
    >>> line = program_line(lasso, {lam: 4}, {lam: 0})
    >>> line.n + line.m, reduce(line).problem.items
    (18, 3)
    >>> reduce(line).chain
    3 epigraph variables made 3 costs, 3 kinks made soft bounds, 3 columns substituted
    """
    stage, chain = Chain.applied(ReductionStage.of(line), RULES)
    entries = line.P.nnz + line.A.nnz
    most = _FILLED * entries if _is_thin(entries, line.n, line.m, _LARGE, _THIN) else np.inf
    if SubstituteColumns.accepts(stage):
        after, done = SubstituteColumns.apply(stage, squares, most)
        if after is not stage:
            stage, chain = after, Chain((*chain.rules, done))
    return _reduced(stage, chain)


def _reduced(stage: ReductionStage, chain: Chain) -> Reduced:
    """The problem of what is left, and the way back."""
    columns, rows = np.flatnonzero(stage.columns), np.flatnonzero(stage.rows)
    one_sided = np.isinf(stage.of_rows.lower[0, rows]) & np.isinf(stage.of_rows.above[0, rows])
    of_columns, of_rows = plainly(columns), plainly(rows)
    A = stage.A[of_rows][:, of_columns]
    entries = max([stage.P.nnz, *(np.count_nonzero(array) for _, array in stage.squares)])
    thin = _stays_sparse(entries + A.nnz, columns.size, rows.size)
    if thin:
        stage = replace(stage, P=with_squares(stage.P, stage.squares), squares=())
    P = stage.P[of_columns][:, of_columns]
    problem = _problem(stage, 0.5 * (P + P.T) if thin else P, A, columns, rows)
    if not thin or not _stays_sparse(P.nnz + A.nnz, columns.size, rows.size):
        problem = _dense(stage, problem, columns)
    return Reduced(stage.line, chain, columns, rows, one_sided, problem)


def _problem(stage: ReductionStage, P: Any, A: Any, columns: Index, rows: Index) -> ParametricQP:
    """The problem in some columns and rows, with sparse P and A."""
    names = [stage.line.column_name(column) for column in columns.tolist()]
    names += names_of_rows(stage.line, stage.A[plainly(rows)], stage.titled[rows])
    bounds = stage.of_columns.at(columns).joined(stage.of_rows.at(rows))
    return ParametricQP(sp.csr_array(P), sp.csr_array(A), stage.q[:, columns], *bounds.arrays, names=tuple(names))


def _dense(stage: ReductionStage, problem: ParametricQP, columns: Index) -> ParametricQP:
    """The problem with P and A as arrays, and with all of P."""
    problem = problem.dense()
    place = np.full(stage.columns.size, -1)
    place[columns] = np.arange(columns.size)
    P = problem.P + problem.P.T
    P *= 0.5
    for of_array, array in stage.squares:
        at = plainly(place[of_array])
        P[(at, at) if isinstance(at, slice) else np.ix_(at, at)] += array
    return replace(problem, P=P)


def _stays_sparse(entries: int, columns: int, rows: int) -> bool:
    """Whether so many columns and rows with so many entries are followed on sparse bases."""
    return any(_is_thin(entries, columns, rows, *how) for how in (_SPARSE, _MANY))


def _is_thin(entries: int, columns: int, rows: int, least: int, share: float) -> bool:
    """Whether a program has at least so many columns and rows, and no more entries than this share of all."""
    size = columns + rows
    return size >= least and entries <= share * size * columns
