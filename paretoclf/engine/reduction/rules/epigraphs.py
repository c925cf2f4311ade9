r"""Epigraph variables, which CVXPY makes of a maximum, an absolute value, a hinge, become costs with kinks.

A variable :math:`\tau` that costs :math:`c(t)\ge0`, has no part in P, and stands only in inequalities

.. math::

   \alpha_k\tau\ge a_k^\top x-b_k(t),\qquad \alpha_k>0,\quad a_k/\alpha_k=s_k\,a

of one direction a, is at an optimum the largest of its lower bounds (and may be where c = 0): it stands for the cost
:math:`c(t)\max_k(s_ka^\top x-\beta_k(t))`, :math:`\beta_k=b_k/\alpha_k`, a convex function with kinks of the one
number :math:`v=a^\top x`.

A *piece* remembers what a unit of weight on it gives to the multipliers of its rows. Wherever the slope of the cost in
v is known, at most two neighbouring pieces carry it, and with them all multipliers are known, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import alike
from paretoclf.engine.reduction.products import Products, plainly
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.nested import with_nested
from paretoclf.engine.reduction.rules.pairs import Epigraphs, pairs
from paretoclf.engine.reduction.rules.stage import ReductionStage, StagePoints, told


@dataclass(frozen=True)
class EpigraphsToKinks:
    """Variables that are the largest of their lower bounds.

    Attributes
    ----------
    line : ProgramLine
    variables : int array
        The columns.
    begin, bounds, factors : arrays
        Where the rows of each one begin, these rows, and minus its coefficients in them.
    depths : int array
        How many of them stand below each one, at most.
    costs : int
        How many costs there were made of them.
    """

    line: ProgramLine
    variables: Index
    begin: Index
    bounds: Index
    factors: Array
    depths: Index
    costs: int

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are no costs with kinks yet, and columns that may be epigraph variables."""
        return not stage.kinks.size and bool(_cheap(stage).any())

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, EpigraphsToKinks]:
        """Take out all epigraph variables with their rows: those of two rows at once, others one by one."""
        cheap = _cheap(stage)
        found = pairs(stage, cheap)
        if (cheap & found.columns).any():
            found = with_nested(stage, cheap, found)
        done = cls._of(stage, found)
        if not found.variables.size:
            return stage, done
        q = stage.q.copy()
        q[:, found.variables] = 0.0
        return replace(stage, q=q, rows=found.rows, columns=found.columns, kinks=found.kinks), done

    @classmethod
    def _of(cls, stage: ReductionStage, found: Epigraphs) -> EpigraphsToKinks:
        """Keep what brings the variables back."""
        depths = _depths(found, stage.A)
        return cls(stage.line, found.variables, found.begin, found.bounds, found.factors, depths, found.kinks.size)

    def __str__(self) -> str:
        variables = told(self.variables.size, "epigraph variable", "epigraph variables")
        return f"{variables} made {told(self.costs, 'cost', 'costs')}"

    def invert(self, point: StagePoints) -> None:
        """Give each variable the largest of its lower bounds."""
        right = point.along(self.line.b)
        for layer in self._layers:
            layer.write(point.x, right)

    @cached_property
    def _layers(self) -> tuple[Layer, ...]:
        """Variables, innermost first, those of as many rows together."""
        kinds = np.stack([self.depths, np.diff(self.begin)], axis=1)
        layers = []
        for kind in np.unique(kinds, axis=0):
            which = np.flatnonzero((kinds == kind).all(axis=1))
            layers.append(self._layer(which, int(kind[1])))
        return tuple(layers)

    def _layer(self, which: Index, size: int) -> Layer:
        """Variables of one depth and number of rows, for all points at once."""
        _, A, _ = self.line.products
        at = self.begin[which] + np.arange(size)[:, None]
        rows, factors = self.bounds[at].ravel(), self.factors[at].ravel()
        return Layer(A.of_rows(rows), plainly(rows), plainly(self.variables[which]), alike(factors), size)


@dataclass(frozen=True)
class Layer:
    """Variables of as many rows each, none of which stands in a row of another.

    Attributes
    ----------
    equations : Products
        Rows of A: the first one of each variable, then the second one of each; ``rows`` are their numbers.
    columns
        The variables.
    factors
        Minus their coefficients in the rows.
    sides : int
        How many rows each has.
    """

    equations: Products
    rows: Any
    columns: Any
    factors: Any
    sides: int

    def write(self, x: Array, right: Array) -> None:
        """Write the variables into x, where they are 0, and all others of their rows are known."""
        lower_bounds = self.equations @ x
        lower_bounds -= right[self.rows]
        lower_bounds /= self.factors
        x[self.columns] = lower_bounds.reshape(self.sides, -1, x.shape[1]).max(axis=0)


def _cheap(stage: ReductionStage) -> Mask:
    """Columns that may be epigraph variables: with no part in P and no equation, and at no less than no cost."""
    cheap = stage.flat & (stage.q >= 0).all(axis=0)
    in_equations = stage.A.indices[stage.equation[stage.row_of_entry]]
    cheap[in_equations] = False
    return np.asarray(cheap)


def _depths(found: Epigraphs, A: Any) -> Index:
    """How many variables stand below each one, at most: 0 where none stands in its rows."""
    number = np.full(A.shape[1], -1)
    number[found.variables] = np.arange(found.variables.size)
    owner = np.full(A.shape[0], -1)
    owner[found.bounds] = np.repeat(np.arange(found.variables.size), np.diff(found.begin))
    inner = number[A.indices]
    outer = np.repeat(owner, np.diff(A.indptr))
    nested = (inner >= 0) & (outer >= 0) & (inner != outer)
    outer, inner = outer[nested], inner[nested]
    depth = np.zeros(found.variables.size, dtype=np.int64)
    while (depth[outer] <= depth[inner]).any():
        np.maximum.at(depth, outer, depth[inner] + 1)
    return depth
