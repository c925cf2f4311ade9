"""Parallel inequalities become one row with two bounds, and rows without entries go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import CERTIFY, PARALLEL
from paretoclf.engine.reduction.entries import alike, first_alike
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.rules.names import crossing, expression, no_solution, uncrossed
from paretoclf.engine.reduction.rules.stage import ReductionStage, StagePoints, told


@dataclass(frozen=True)
class JoinRows:
    """Rows that became the lower bound of the first row of their direction.

    Attributes
    ----------
    rows, first : int arrays
        The rows that went, and whose lower bound each one is.
    factors : array
        Negative numbers by which the first row is multiplied to give the other.
    empty : int
        How many rows without entries went.
    """

    rows: Index
    first: Index
    factors: Array
    empty: int

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are inequalities."""
        return bool((stage.rows & ~stage.equation).any())

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, JoinRows]:
        """Join all such rows; InputError if bounds cross at the start, or a row without entries does not hold there."""
        holds = _empty(stage) & _hold(stage)
        rows, first, factors = _pairs(stage)
        if not rows.size and not holds.any():
            return stage, cls(rows, first, factors, 0)
        bounds, left = stage.of_rows.copy(), stage.rows & ~holds
        bounds.lower[:, first] = bounds.upper[:, rows] / factors
        left[rows] = False
        lower, upper = bounds.lower[:, first], bounds.upper[:, first]
        bounds.upper[:, first], wrong = uncrossed(lower, upper)
        for number in wrong.tolist():
            what = expression(stage.line, stage.A, int(first[number]))
            pair = np.array([first[number], rows[number]])
            raise crossing(stage.line, what, pair, lower[:, number], upper[:, number])
        titled = stage.titled.copy()
        titled[first] = np.where(titled[first] < 0, titled[rows], titled[first])
        done = cls(rows, first, factors, int(holds.sum()))
        return replace(stage, of_rows=bounds, rows=left, titled=titled), done

    def __str__(self) -> str:
        joined = [told(self.rows.size, "row", "rows") + " joined"] if self.rows.size else []
        empty = [told(self.empty, "empty row", "empty rows") + " dropped"] if self.empty else []
        return ", ".join(joined + empty)

    def invert(self, point: StagePoints) -> None:
        """Share the multiplier of each row among the two that it stands for, by its sign."""
        rows, first, factors = self._plan
        found = point.z[first]
        shares = found / factors
        point.z[rows] = np.maximum(shares, 0.0, out=shares)
        point.z[first] = np.maximum(found, 0.0)

    def of_both_sides(self, row: int) -> tuple[Index, Array]:
        """Rows that a row stands for, and multipliers of them that add up to nothing."""
        which = self.first == row
        factors = np.concatenate([[1.0], self.factors[which]])
        return np.concatenate([[row], self.rows[which]]), 1.0 / np.abs(factors)

    @cached_property
    def _plan(self) -> tuple[Any, Any, Any]:
        """Rows, whose they are, and factors, as slices and one number where they are such."""
        return plainly(self.rows), plainly(self.first), alike(self.factors)


def _empty(stage: ReductionStage) -> Mask:
    """Inequalities without entries."""
    return np.asarray(stage.rows & ~stage.equation & (np.diff(stage.A.indptr) == 0))


def _hold(stage: ReductionStage) -> Mask:
    """Rows at which ``0 <= b`` holds all along; InputError if there is an empty one at which it does not at first.

    What is missing may be no more than a feasible point may miss, relative to what b is a difference of.
    """
    at = stage.of_rows.upper
    holds = np.asarray((at >= 0).all(axis=0))
    for row in np.flatnonzero(_empty(stage) & ~holds).tolist():
        missing = -CERTIFY * _terms(stage, row)
        if at[0, row] < missing:
            raise no_solution(stage.line, f"{stage.line.row_name(row)} cannot hold: it says 0 <= {at[0, row]:.6g}")
        holds[row] = at[1, row] >= missing
    return holds


def _terms(stage: ReductionStage, row: int) -> float:
    """Terms of an empty row of the program, whose columns are at their bounds; 0 of one that was added."""
    if row >= stage.line.m:
        return 0.0
    own = stage.line.rows[[row]]
    upper = np.abs(stage.of_columns.upper[:, own.indices])
    of_columns = np.where(np.isfinite(upper), upper, 0.0) @ np.abs(own.data)
    return float((np.abs(stage.line.b[:, row]) + of_columns).max())


def _pairs(stage: ReductionStage) -> tuple[Index, Index, Array]:
    """Inequalities of opposite directions: the later rows, the first ones, and their factors."""
    bounds = stage.of_rows
    one_sided = stage.rows & ~stage.equation & ~bounds.has_lower & np.isinf(bounds.above[0])
    rows = np.flatnonzero(one_sided & (np.diff(stage.A.indptr) > 0))
    some = stage.A[rows]
    leading = some.data[some.indptr[:-1]]
    directions = some.copy()
    directions.data = np.round(some.data / np.repeat(leading, np.diff(some.indptr)), 12)
    first = first_alike(directions)
    factors = leading / leading[first]
    later = np.flatnonzero(factors < 0)
    if not later.size:
        return later, later, factors[later]
    own, theirs = some[later], sp.diags_array(factors[later]) @ some[first[later]]
    apart, largest = (np.asarray(abs(each).max(axis=1).todense()).ravel() for each in (own - theirs, own))
    later = later[apart <= PARALLEL * largest]
    _, earliest = np.unique(first[later], return_index=True)
    chosen = np.sort(later[earliest])
    return rows[chosen], rows[first[chosen]], factors[chosen]
