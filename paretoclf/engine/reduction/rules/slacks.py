"""A slack with a cost, alone in an equation, goes: the equation may be missed on that side, at its price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import alike, without
from paretoclf.engine.reduction.products import Products, plainly
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.stage import ReductionStage, StagePoints, told


@dataclass(frozen=True)
class DropSlacks:
    """Slacks that are prices of an equation, at most one a side.

    Attributes
    ----------
    line : ProgramLine
    rows, columns, factors : arrays
        For each slack its equation, its column, and its coefficient there; by increasing columns.
    lower, right : arrays of shape (2, slacks)
        The lower bound of each slack, and the right-hand side of its equation.
    """

    line: ProgramLine
    rows: Index
    columns: Index
    factors: Array
    lower: Array
    right: Array

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are equations, and columns with a lower bound only."""
        return bool((stage.equation & stage.rows).any() and _one_sided(stage).any())

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, DropSlacks]:
        """Make soft bounds of all such equations."""
        rows, columns, factors = _found(stage)
        lower, right = stage.of_columns.lower[:, columns], stage.of_rows.upper[:, rows]
        done = cls(stage.line, rows, columns, factors, lower, right)
        if not rows.size:
            return stage, done
        bounds, q = stage.of_rows.copy(), stage.q.copy()
        prices = stage.q[:, columns] / np.abs(factors)
        positive = factors > 0
        bounds.below[:, rows[positive]] = prices[:, positive]
        bounds.above[:, rows[~positive]] = prices[:, ~positive]
        least = factors * lower
        np.subtract.at(bounds.lower.T, rows, least.T)
        bounds.upper[:, rows] = bounds.lower[:, rows]
        q[:, columns] = 0.0
        left, equation = stage.columns.copy(), stage.equation.copy()
        left[columns], equation[rows] = False, False
        after = replace(stage, A=without(stage.A, ~left), q=q, of_rows=bounds, columns=left, equation=equation)
        return after, done

    def __str__(self) -> str:
        return f"{told(self.columns.size, 'slack', 'slacks')} made prices"

    def invert(self, point: StagePoints) -> None:
        """Bring the slacks back: they are what is missing in their equations, and at least their lower bounds."""
        equations, right, owner, factors = self._equations
        columns = plainly(self.columns)
        point.x[columns], point.u[columns] = point.along(self.lower), np.nan
        missing = point.along(right) - equations @ point.x
        of_slacks = missing[owner] / factors
        point.x[columns] += np.maximum(of_slacks, 0.0, out=of_slacks)

    @cached_property
    def _equations(self) -> tuple[Products, Array, Any, Any]:
        """The equations and their right-hand sides; of each slack which one it is of, and its coefficient."""
        rows, first, owner = np.unique(self.rows, return_index=True, return_inverse=True)
        _, A, _ = self.line.products
        return A.of_rows(rows), self.right[:, first], plainly(owner), alike(self.factors)


def _found(stage: ReductionStage) -> tuple[Index, Index, Array]:
    """Slacks that are alone in an equation, the first of each side: rows, increasing columns, and coefficients."""
    slack, row = _slacks(stage), stage.row_of_entry
    entries = np.flatnonzero(slack[stage.A.indices] & stage.equation[row] & stage.rows[row])
    side = stage.A.data[entries] > 0
    _, first = np.unique(2 * row[entries] + side, return_index=True)
    entries = entries[np.sort(first)]
    rows = row[entries]
    taken = np.bincount(rows, minlength=stage.rows.size)
    something_else = np.diff(stage.A.indptr) > taken
    entries = entries[something_else[rows]]
    entries = entries[np.argsort(stage.A.indices[entries])]
    return row[entries], stage.A.indices[entries].astype(np.int64), stage.A.data[entries]


def _slacks(stage: ReductionStage) -> Mask:
    """Columns that cost, have a lower bound only and stand in one row."""
    found = stage.flat & stage.columns & ~stage.in_kinks & (stage.q >= 0).all(axis=0)
    found &= _one_sided(stage)
    in_rows_left = stage.A.indices[stage.rows[stage.row_of_entry]]
    found &= np.bincount(in_rows_left, minlength=found.size) == 1
    return np.asarray(found)


def _one_sided(stage: ReductionStage) -> Mask:
    """Columns with a lower bound only."""
    return stage.of_columns.has_lower & ~stage.of_columns.has_upper
