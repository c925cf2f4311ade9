"""A parametric program of items as a program with rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.program import ProgramLine, Reading
from paretoclf.problem.parametric_qp import ParametricQP


@dataclass(frozen=True)
class RowsOfItems:
    """A program with a row for each bound of a parametric program: equations, upper bounds, then minus lower ones.

    Attributes
    ----------
    line : ProgramLine
        Its multipliers, one an item, are ``y``.
    prices : array of shape (2, rows)
        What a unit costs by which a row is exceeded, at t = 0 and 1; infinite where it is hard.
    equations, above, below : int arrays
        The items that the rows are of.
    alone : bool array of shape (items,)
        Items with one bound.
    """

    line: ProgramLine
    prices: Array
    equations: Index
    above: Index
    below: Index
    alone: Mask

    @classmethod
    def of(cls, problem: ParametricQP, variables: Mapping[str, Reading] | None = None) -> RowsOfItems:
        """The rows of a problem; ``variables`` are names of its own."""
        QP = problem if sp.issparse(problem.P) else problem.dense()
        equation, finite = QP.fixed & np.isinf(QP.below[0]) & np.isinf(QP.above[0]), np.isfinite
        above, below = (np.flatnonzero(finite(side[0]) & ~equation) for side in (QP.upper, QP.lower))
        rows, equations = sp.vstack([sp.eye_array(QP.n), sp.csr_array(QP.A)], format="csr"), np.flatnonzero(equation)
        A = sp.vstack([rows[equations], rows[above], -rows[below]], format="csc")
        b = np.hstack([QP.upper[:, equations], QP.upper[:, above], -QP.lower[:, below]])
        hard = np.full((2, equations.size), np.inf)
        y = _multipliers(QP.items, equations, above, below)
        constant = np.asarray(QP.constant, dtype=np.float64)
        line = ProgramLine(sp.csc_array(QP.P), A, QP.q, b, constant, equations.size, 1, variables or {}, y)
        prices = np.hstack([hard, QP.above[:, above], QP.below[:, below]])
        return cls(line, prices, equations, above, below, finite(QP.upper[0]) != finite(QP.lower[0]))

    @property
    def hard(self) -> ProgramLine:
        """The same with hard rows only: a column more for what each soft one is exceeded by."""
        line, soft = self.line, np.flatnonzero(np.isfinite(self.prices[0]))
        if not soft.size:
            return line
        more, none = soft.size, np.zeros((2, soft.size))
        excess = sp.csr_array((-np.ones(more), (soft, np.arange(more))), shape=(line.m, more))
        A = sp.block_array([[line.A, excess], [None, -sp.eye_array(more)]], format="csc")
        P = sp.block_diag([line.P, sp.csc_array((more, more))], format="csc")
        return replace(line, P=P, A=A, q=np.hstack([line.q, self.prices[:, soft]]), b=np.hstack([line.b, none]))

    def multipliers(self, y: Array) -> Array:
        """Those of the rows, of multipliers of items, (..., items): positive ones are of lower bounds."""
        above, below = -y[..., self.above], y[..., self.below]
        for z, which in ((above, self.above), (below, self.below)):
            np.maximum(z, 0.0, out=z, where=~self.alone[which])
        return np.concatenate([-y[..., self.equations], above, below], axis=-1)


def _multipliers(items: int, equations: Index, above: Index, below: Index) -> dict[str, Reading]:
    """Where the multiplier y of each item stands: that of its lower bound, less that of its upper one."""
    place, factor = np.zeros((items, 2), dtype=np.int64), np.zeros((items, 2))
    begin = 0
    for which, side, sign in ((equations, 0, -1.0), (above, 0, -1.0), (below, 1, 1.0)):
        place[which, side], factor[which, side] = begin + np.arange(which.size), sign
        begin += which.size
    return {"y": Reading((items,), place, factor)}
