"""The way back from a reduced problem: values and multipliers of its items as those of the compiled program.

The rules of `paretoclf.engine.reduction.presolve` are inverted in the reverse order, for many points at once. Arrays
have a column for each point here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import alike
from paretoclf.engine.reduction.products import plainly, turned
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.bounds import RowsToBounds
from paretoclf.engine.reduction.rules.chain import Chain
from paretoclf.engine.reduction.rules.parallel import JoinRows
from paretoclf.engine.reduction.rules.stage import StagePoints
from paretoclf.problem.parametric_qp import ParametricQP


@dataclass(frozen=True)
class WayBack:
    """How points of a reduced problem become points of the compiled program.

    Attributes
    ----------
    program : ProgramLine
    chain : Chain
        The rules that were applied; it prints what they did.
    columns, rows : int arrays
        The column of each variable, and the number of each row: rows of soft bounds follow those of the program.
    one_sided : bool array
        Rows that are an inequality.
    """

    program: ProgramLine
    chain: Chain
    columns: Index = field(repr=False)
    rows: Index = field(repr=False)
    one_sided: Mask = field(repr=False)

    @property
    def _still(self) -> Array:
        """A direction in which no item moves."""
        return np.zeros((self.columns.size + self.rows.size, 1))

    def back(self, v: Array, y: Array, t: Array) -> tuple[Array, Array]:
        """Values x (k, n) and multipliers z (k, m) of the compiled program at k points.

        Parameters
        ----------
        v, y : arrays of shape (k, items)
            Values and multipliers of the items.
        t : array of shape (k,)
        """
        x, z = self.back_together(v, y, t)
        return turned(x), turned(z)

    def back_together(self, v: Array, y: Array, t: Array) -> tuple[Array, Array]:
        """Values and multipliers of the compiled program at few points, in one go; a column for each."""
        point = self._point(v.T, y.T, t)
        self.chain.invert(point)
        return point.x, point.z

    def ray_of_values(self, v: Array) -> Array:
        """The direction of x that belongs to a direction of the items' values: as points, with data of 0."""
        return np.asarray(self._ray(v[:, None], self._still).x[:, 0])

    def ray_of_multipliers(self, y: Array) -> Array:
        """The direction of z that belongs to a direction of the items' multipliers; costs with kinks have no part."""
        return np.asarray(self._ray(self._still, y[:, None]).z[:, 0])

    def ray_of_crossing(self, item: int) -> Array:
        """Multipliers of the contradiction that two bounds of one item cross: one unit of each."""
        kind: type = RowsToBounds if item < self.columns.size else JoinRows
        rules: list[Any] = list(self.chain.rules)
        place = next(place for place, rule in enumerate(rules) if isinstance(rule, kind))
        number = int(np.concatenate([self.columns, self.rows])[item])
        ray = self._point(self._still, self._still, np.zeros(1), is_ray=True)
        ray.u[:], ray.z = np.nan, ray.z[: self.program.m]
        rows, units = rules[place].of_both_sides(number)
        ray.z[rows, 0] = units
        Chain(tuple(rules[:place])).invert(ray)
        return np.asarray(ray.z[:, 0])

    def _ray(self, v: Array, y: Array) -> StagePoints:
        """A direction of the compiled program from one of the items."""
        ray = self._point(v, y, np.zeros(1), is_ray=True)
        self.chain.invert(ray)
        return ray

    def _point(self, v: Array, y: Array, t: Array, is_ray: bool = False) -> StagePoints:
        """Points of what is left, in the numbers of the compiled program.

        An inequality has no multiplier of the wrong sign, whatever rounding leaves.
        """
        line, variables = self.program, self.columns.size
        own, rows, least, size = self._places
        x = np.zeros((line.n, t.size))
        u, z = np.zeros(x.shape), np.zeros((size, t.size))
        x[own], u[own] = v[:variables], -y[:variables]
        of_rows = -y[variables:]
        z[rows] = np.maximum(of_rows, least, out=of_rows)
        return StagePoints(t, x, z, u, is_ray)

    @cached_property
    def _places(self) -> tuple[Any, Any, Any, int]:
        """Places of columns and rows, least multipliers of the latter, and how many rows there are with soft bounds."""
        least = np.where(self.one_sided, 0.0, -np.inf)
        size = max(self.program.m, int(self.rows.max(initial=-1)) + 1)
        return plainly(self.columns), plainly(self.rows), alike(least), size


@dataclass(frozen=True)
class Reduced(WayBack):
    """A reduced problem, and the way back from it.

    Attributes
    ----------
    problem : ParametricQP
        Its objective lacks a function of t: values are those of the program at the point that comes back.
    """

    problem: ParametricQP
