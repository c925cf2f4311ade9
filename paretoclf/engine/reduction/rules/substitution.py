"""A free column that stands in one equation only is substituted, one whose square costs only where that leaves less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import SUBSTITUTED
from paretoclf.engine.reduction.entries import for_products, placed, squared, without
from paretoclf.engine.reduction.fill import worth_squaring
from paretoclf.engine.reduction.products import Products
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.stage import ReductionStage, StagePoints, told

#: Chains of so many free variables, each in the equation of the next, stay where a problem without them would have so
#: many times the entries that CVXPY compiled: sums that cancel along them lose the digits of what is last.
_CHAIN = 8


@dataclass(frozen=True)
class Round:
    """Columns that were replaced by what their equations say, all at once.

    Attributes
    ----------
    rows, columns, factors : arrays
        Equations, columns, and their coefficients there.
    right, slope : arrays of shape (2, columns)
        Right-hand sides of the equations, and what the columns cost before there was a round.
    curved : bool
        Whether one of the columns has a part in the P of the program.
    """

    rows: Index
    columns: Index
    factors: Array
    right: Array
    slope: Array
    curved: bool


@dataclass(frozen=True)
class SubstituteColumns:
    """Columns that went with an equation each, round by round.

    Attributes
    ----------
    line : ProgramLine
    rounds : tuple of Round
    """

    line: ProgramLine
    rounds: tuple[Round, ...]

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are equations."""
        return bool((stage.equation & stage.rows).any())

    @classmethod
    def apply(
        cls, stage: ReductionStage, squares: bool = True, most: float = np.inf
    ) -> tuple[ReductionStage, SubstituteColumns]:
        """Substitute free columns that stand in one equation only, all at once, and again while there are any.

        Parameters
        ----------
        stage : ReductionStage
        squares : bool
            Whether columns that the objective squares may go, too.
        most : float
            Entries of P that long chains of columns may leave; where they leave more, none goes.
        """
        search = _Substitution(stage, squares)
        while search.round():
            if len(search.rounds) > _CHAIN:
                search.add_squares()
                if search.P.nnz > most:
                    return stage, cls(stage.line, ())
        if not search.rounds:
            return stage, cls(stage.line, ())
        parts = {"P": search.P, "squares": tuple(search.squares), "q": search.q}
        after = replace(stage, **parts, columns=search.columns, rows=search.rows)
        return after, cls(stage.line, tuple(search.rounds))

    def __str__(self) -> str:
        return f"{told(sum(each.rows.size for each in self.rounds), 'column', 'columns')} substituted"

    def invert(self, point: StagePoints) -> None:
        """Give each column what its equation says, and then its equation what stationarity leaves."""
        plans = self._plans
        for gone, (equations, _, _) in zip(reversed(self.rounds), reversed(plans), strict=True):
            missing = point.along(gone.right) - equations @ point.x
            point.x[gone.columns] = missing / gone.factors[:, None]
        for number, (gone, (_, P, earlier)) in enumerate(zip(self.rounds, plans, strict=True)):
            slope = point.along(gone.slope)
            if P is not None:
                slope = P @ point.x + slope
            if number:
                slope = earlier @ point.z[: earlier.shape[1]] + slope
            point.z[gone.rows] = -slope / gone.factors[:, None]

    @cached_property
    def _plans(self) -> list[tuple[Products, Any, Any]]:
        """Equations of each round, the rows of P of its columns, and the columns of A in equations of earlier ones.

        No other row that is left has any of the columns.
        """
        P, A, transposed = self.line.products
        found = []
        for number, gone in enumerate(self.rounds):
            of_P = P.of_rows(gone.columns) if gone.curved else None
            earlier = transposed.of_rows(gone.columns) if number else None
            found.append((A.of_rows(gone.rows), of_P, earlier))
        return found


class _Substitution:
    """What is left of a stage after each round."""

    def __init__(self, stage: ReductionStage, squares: bool) -> None:
        self.stage = stage
        self.P, self.q, self.squares = stage.P, stage.q.copy(), list(stage.squares)
        self.columns, self.rows = stage.columns.copy(), stage.rows.copy()
        self.rounds: list[Round] = []
        bounded = stage.of_columns.has_lower | stage.of_columns.has_upper
        self.free = self.columns & (stage.flat | squares) & ~bounded
        self.entries = self._entries_of_free()

    def _entries_of_free(self) -> tuple[Index, Index, Array, Mask]:
        """Entries of free columns: their row, column and value, and whether it is a large one of an equation."""
        A, stage = self.stage.A, self.stage
        row_of_entry = stage.row_of_entry
        own = np.flatnonzero(self.free[A.indices] & self.rows[row_of_entry])
        rows, columns, values = row_of_entry[own], A.indices[own].astype(np.int64), A.data[own]
        largest = abs(A).max(axis=1).toarray().ravel()
        large = stage.equation[rows] & (np.abs(values) > SUBSTITUTED * largest[rows])
        return rows, columns, values, large

    def round(self) -> bool:
        """Substitute all columns that may go at once; return whether there were any."""
        rows, columns, values, large = self.entries
        left = self.rows[rows]
        alone = self.columns & (np.bincount(columns[left], minlength=self.columns.size) == 1)
        found = np.flatnonzero(large & left & alone[columns])
        if not found.size:
            return False
        self.add_squares()
        chosen = self._one_a_row(found, rows, columns)
        chosen = chosen[self._worth(rows[chosen], columns[chosen])]
        if not chosen.size:
            return False
        gone = self._round_of(rows[chosen], columns[chosen], values[chosen])
        self._put_into_objective(gone)
        self.rounds.append(gone)
        self.columns[gone.columns] = False
        self.rows[gone.rows] = False
        return True

    def _round_of(self, rows: Index, columns: Index, factors: Array) -> Round:
        """Keep what brings such columns back."""
        stage = self.stage
        curved = bool(stage.line.P.nnz) and not stage.flat[columns].all()
        return Round(rows, columns, factors, stage.of_rows.upper[:, rows], stage.q[:, columns], curved)

    def _one_a_row(self, found: Index, rows: Index, columns: Index) -> Index:
        """Choose one of the found entries of each row: the one whose column has the fewest terms in P."""
        terms = np.bincount(self.P.indices, minlength=self.columns.size)
        found = found[np.lexsort((terms[columns[found]], rows[found]))]
        _, first = np.unique(rows[found], return_index=True)
        return found[first]

    def _worth(self, rows: Index, columns: Index) -> Mask:
        """Find which columns are worth substituting: all without squares, and those with squares that leave less."""
        worth: Mask = self.stage.flat[columns]
        curved = ~worth
        if curved.any():
            worth[curved] = worth_squaring(self.P, self.stage.A[rows[curved]], columns[curved])
        return worth

    def add_squares(self) -> None:
        """Add to P the arrays that are kept apart from it."""
        self.P = with_squares(self.P, self.squares)
        self.squares.clear()

    def _put_into_objective(self, gone: Round) -> None:
        """Put ``x_gone = D x + constant(t)`` into the objective, one equation a column."""
        n, constant = self.columns.size, gone.right / gone.factors
        own = np.zeros(n, dtype=np.bool_)
        own[gone.columns] = True
        used, D = _solved(self.stage.A[gone.rows], own, gone.factors)
        products = self.P[gone.columns]
        inner, cross = sp.csr_array(products[:, gone.columns]), without(products, own)
        rows_left = without(self.P, own).T.tocsr()
        self.P = without(rows_left, own)
        linear = self.q[:, gone.columns] + (inner.T @ constant.T).T
        self.q[:, used] += linear @ D
        self.q[:, gone.columns] = 0.0
        if inner.nnz:
            self.squares.append((used, squared(D, inner)))
        if cross.nnz:
            self.q += (cross.T @ constant.T).T
            beside = placed(cross.T @ D, np.arange(n), used, n)
            self.P = self.P + beside + beside.T.tocsr()
        if sp.issparse(D):
            self.add_squares()


def _solved(equations: Any, own: Mask, pivots: Array) -> tuple[Index, Any]:
    """Columns that some equations have beside their own, and the matrix D of ``own = D others + constant``."""
    others = without(equations, own)
    used = np.flatnonzero(np.bincount(others.indices, minlength=own.size))
    place = np.zeros(own.size, dtype=np.int64)
    place[used] = np.arange(used.size)
    scale = np.repeat(-1.0 / pivots, np.diff(others.indptr))
    parts = others.data * scale, place[others.indices], others.indptr
    return used, for_products(sp.csr_array(parts, shape=(pivots.size, used.size)))


def with_squares(P: Any, squares: Any) -> Any:
    """P, and the arrays that were kept apart from it."""
    for columns, array in squares:
        P = P + placed(array, columns, columns, P.shape[0])
        P.eliminate_zeros()
    return P
