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
        Cost of each unit by which a row is exceeded, at t = 0 and 1; infinite where the row is hard.
    equations, above, below : int arrays
        The item of each row.
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
        problem = problem if sp.issparse(problem.P) else problem.dense()
        lower, upper = problem.lower, problem.upper
        has_lower, has_upper = np.isfinite(lower[0]), np.isfinite(upper[0])
        soft = np.isfinite(problem.below[0]) | np.isfinite(problem.above[0])
        equation = problem.fixed & ~soft
        equations = np.flatnonzero(equation)
        above = np.flatnonzero(has_upper & ~equation)
        below = np.flatnonzero(has_lower & ~equation)
        items = sp.vstack([sp.eye_array(problem.n), sp.csr_array(problem.A)], format="csr")
        hard = np.full((2, equations.size), np.inf)
        line = ProgramLine(
            P=sp.csc_array(problem.P),
            A=sp.vstack([items[equations], items[above], -items[below]], format="csc"),
            q=problem.q,
            b=np.hstack([upper[:, equations], upper[:, above], -lower[:, below]]),
            constant=np.asarray(problem.constant, dtype=np.float64),
            equations=equations.size,
            sense=1,
            variables=variables or {},
            multipliers=_multipliers(problem.items, equations, above, below),
        )
        prices = np.hstack([hard, problem.above[:, above], problem.below[:, below]])
        return cls(line, prices, equations, above, below, alone=has_upper != has_lower)

    @property
    def hard(self) -> ProgramLine:
        """The program with hard rows only: a column more for the excess of each soft one."""
        line, soft = self.line, np.flatnonzero(np.isfinite(self.prices[0]))
        more = soft.size
        if not more:
            return line
        places = soft, np.arange(more)
        excess = sp.csr_array((-np.ones(more), places), shape=(line.m, more))
        A = sp.block_array([[line.A, excess], [None, -sp.eye_array(more)]], format="csc")
        P = sp.block_diag([line.P, sp.csc_array((more, more))], format="csc")
        q = np.hstack([line.q, self.prices[:, soft]])
        b = np.hstack([line.b, np.zeros((2, more))])
        return replace(line, P=P, A=A, q=q, b=b)

    def multipliers(self, y: Array) -> Array:
        """Make multipliers of the rows of those of items, (..., items): positive ones are of lower bounds."""
        above, below = -y[..., self.above], y[..., self.below]
        np.maximum(above, 0.0, out=above, where=~self.alone[self.above])
        np.maximum(below, 0.0, out=below, where=~self.alone[self.below])
        return np.concatenate([-y[..., self.equations], above, below], axis=-1)


def _multipliers(items: int, equations: Index, above: Index, below: Index) -> dict[str, Reading]:
    """Where the multiplier y of each item stands: that of its lower bound, less that of its upper one."""
    place, factor = np.zeros((items, 2), dtype=np.int64), np.zeros((items, 2))
    begin = 0
    for which, side, sign in ((equations, 0, -1.0), (above, 0, -1.0), (below, 1, 1.0)):
        place[which, side] = begin + np.arange(which.size)
        factor[which, side] = sign
        begin += which.size
    return {"y": Reading((items,), place, factor)}
