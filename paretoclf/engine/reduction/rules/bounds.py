"""Rows of one entry become bounds of their column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.entries import alike, largest_of_columns
from paretoclf.engine.reduction.products import Products, plainly
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.names import crossing, uncrossed
from paretoclf.engine.reduction.rules.stage import ItemBounds, ReductionStage, StagePoints, told

#: Multipliers of no more than this, relative to the largest, are looked at: they may be rounding of terms that cancel.
_SMALL = 1e-12
#: Such a multiplier is rounding if it is no more than this share of its terms: a few units in their last place.
_ROUNDED = 1e-15

#: Sides of a bound.
LOWER, UPPER, BOTH = range(3)


@dataclass(frozen=True)
class RowsToBounds:
    """Rows that are bounds of a column, and rows of one entry that say nothing beside them.

    Of several rows on one side the one that is tightest at the start is the bound; those that are tighter at the end
    stay rows, and so do rows that may be tighter than an equation.

    Attributes
    ----------
    line : ProgramLine
    rows, columns, factors, sides : arrays
        The rows that are bounds, their columns, coefficients and sides.
    gone : int
        How many rows went, with those that are no bound.
    """

    line: ProgramLine
    rows: Index
    columns: Index
    factors: Array
    sides: Index
    gone: int

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are rows of one entry."""
        return bool((stage.rows & (np.diff(stage.A.indptr) == 1)).any())

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, RowsToBounds]:
        """Make bounds of all rows that can be one."""
        left, bounds = stage.rows.copy(), stage.of_columns.copy()
        single = np.flatnonzero(left & (np.diff(stage.A.indptr) == 1))
        entry = stage.A.indptr[single]
        columns, factors = stage.A.indices[entry], stage.A.data[entry]
        at = stage.of_rows.upper[:, single] / factors
        sides = np.where(stage.equation[single], BOTH, np.where(factors > 0, UPPER, LOWER))
        chosen = _tightest(columns, sides, at)
        lower, upper = chosen[sides[chosen] != UPPER], chosen[sides[chosen] != LOWER]
        bounds.lower[:, columns[lower]], bounds.upper[:, columns[upper]] = at[:, lower], at[:, upper]
        above, below = at >= bounds.upper[:, columns], at <= bounds.lower[:, columns]
        looser = np.where(sides == UPPER, above, below) & (sides != BOTH)
        left[single[looser.all(axis=0)]] = False
        left[single[chosen]] = False
        gone = int(stage.rows.sum() - left.sum())
        done = cls(stage.line, single[chosen], columns[chosen], factors[chosen], sides[chosen], gone)
        return replace(stage, rows=left, of_columns=done._uncrossed(bounds)), done

    def __str__(self) -> str:
        return f"{told(self.gone, 'row', 'rows')} made bounds"

    def invert(self, point: StagePoints) -> None:
        """Multipliers of the rows: what stationarity leaves for the bounds of their columns.

        A bound has no multiplier where an engine says that it has none, whatever rounding leaves.
        """
        line, (own, P, of_columns, rows, owner, signed, least) = self.line, self._plan
        gradient = point.along(line.q)[own]
        if line.P.nnz:
            gradient = P @ point.x + gradient
        found = of_columns @ point.z
        found += gradient
        found *= point.u[own] != 0
        self._clear_cancelled(found, np.abs(point.z), gradient)
        shares = found[owner] / signed
        point.z[rows] = np.maximum(shares, least, out=shares)

    def of_both_sides(self, column: int) -> tuple[Index, Array]:
        """Rows that are bounds of a column, and multipliers of them that add up to nothing."""
        which = self.columns == column
        return self.rows[which], 1.0 / np.abs(self.factors[which])

    def _clear_cancelled(self, found: Array, sizes: Array, gradient: Array) -> None:
        """Put 0 for multipliers of bounds whose terms cancel: beside a slack their rounding would be a gap."""
        small = np.abs(found)
        most = _SMALL * largest_of_columns(sizes)
        if (small <= most).any():
            terms = self._sizes @ sizes
            terms += np.abs(gradient)
            terms *= _ROUNDED
            found[small <= np.minimum(terms, most, out=terms)] = 0.0

    def _uncrossed(self, bounds: ItemBounds) -> ItemBounds:
        """Refuse bounds that cross at the start, and make those equal that cross by rounding."""
        upper, wrong = uncrossed(bounds.lower, bounds.upper)
        for column in wrong.tolist():
            rows = self.rows[self.columns == column]
            what = f"variable {self.line.column_name(column)}"
            raise crossing(self.line, what, rows, bounds.lower[:, column], bounds.upper[:, column])
        return replace(bounds, upper=upper)

    # ---- what it needs, made once ----

    @cached_property
    def _plan(self) -> tuple[Any, Products, Products, Any, Any, Any, Any]:
        """Columns with bounds, and the parts of P and A' of them; the rows, and of each its column, sign and least."""
        columns, owner = np.unique(self.columns, return_inverse=True)
        P, _, transposed = self.line.products
        parts = P.of_rows(columns), transposed.of_rows(columns)
        signed, least = -self.factors, np.where(self.sides == BOTH, -np.inf, 0.0)
        return plainly(columns), *parts, plainly(self.rows), plainly(owner), alike(signed), alike(least)

    @cached_property
    def _sizes(self) -> Products:
        """The part of A' of columns with bounds, in absolute values."""
        return self._plan[2].of_sizes


def _tightest(columns: Index, sides: Index, at: Array) -> Index:
    """The first equation of each column, or the rows that are its tightest bounds at the start; in order."""
    equation = sides == BOTH
    tight = np.where(sides == LOWER, -at, np.where(equation, 0.0, at))
    order = np.lexsort((tight[1], tight[0], sides, columns))
    _, first = np.unique(3 * columns[order] + sides[order], return_index=True)
    chosen = order[first]
    fixed = np.isin(columns, columns[chosen[equation[chosen]]])
    return np.sort(chosen[equation[chosen] | ~fixed[chosen]])
