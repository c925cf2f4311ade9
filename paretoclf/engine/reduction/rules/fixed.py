"""Columns that are fixed all along, and those that cost nothing and only relax rows, are set to their bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import without
from paretoclf.engine.reduction.rules.stage import ReductionStage, StagePoints, told


@dataclass(frozen=True)
class FixColumns:
    """Columns at their upper bound.

    Attributes
    ----------
    columns : int array
    values : array of shape (2, columns)
    """

    columns: Index
    values: Array

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are columns with an upper bound."""
        return bool(stage.of_columns.has_upper.any())

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, FixColumns]:
        """Put the bounds of such columns in their place, in the objective and in all rows."""
        gone = _fixed(stage)
        columns = np.flatnonzero(gone)
        values = stage.of_columns.upper[:, columns]
        if not columns.size:
            return stage, cls(columns, values)
        at = np.zeros_like(stage.q)
        at[:, columns] = values
        q = stage.q + (stage.P.T @ at.T).T
        q[:, columns] = 0.0
        shift = (stage.A @ at.T).T
        rows = replace(stage.of_rows, lower=stage.of_rows.lower - shift, upper=stage.of_rows.upper - shift)
        P = without(without(stage.P, gone).T.tocsr(), gone)
        A, left = without(stage.A, gone), stage.columns & ~gone
        return replace(stage, P=P, A=A, q=q, of_rows=rows, columns=left), cls(columns, values)

    def __str__(self) -> str:
        return f"{told(self.columns.size, 'column', 'columns')} fixed"

    def invert(self, point: StagePoints) -> None:
        """Bring the columns back, with multipliers that are not known."""
        point.x[self.columns] = point.along(self.values)
        point.u[self.columns] = np.nan


def _fixed(stage: ReductionStage) -> Mask:
    """Columns that are fixed all along, or relax their rows for nothing."""
    n, bounds = stage.q.shape[1], stage.of_columns
    row = stage.row_of_entry
    tightens = stage.equation[row] | (stage.A.data > 0)
    tightens &= stage.rows[row]
    only_relaxes = np.bincount(stage.A.indices[tightens], minlength=n) == 0
    within = bounds.lower <= bounds.upper
    for_nothing = stage.flat & ((stage.q <= 0) & within).all(axis=0)
    fixed = (bounds.lower == bounds.upper).all(axis=0)
    ready = (only_relaxes & for_nothing) | fixed
    ready &= stage.columns & bounds.has_upper & ~stage.in_kinks
    return np.asarray(ready)
