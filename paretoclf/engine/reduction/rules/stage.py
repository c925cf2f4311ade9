r"""A program between two rules, and a point of it.

.. math::

   \min_x\ \tfrac12x^\top Px+q(t)^\top x+\sum_i\varphi_i(v_i,t)+\sum_kc_k(t)\max_p(s_{kp}d_k^\top x-o_{kp}(t)),
   \qquad v=(x,Ax)

A stage is a `ParametricQP` that may have costs with kinks beside its items. All columns and rows of the compiled
program keep their numbers, and masks say which are left; so no rule renumbers anything, and the way back writes into
place. A rule takes a stage and makes the next one. All of them are arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import entries_of
from paretoclf.engine.reduction.program import ProgramLine, along, bounds_of_items


@dataclass(frozen=True)
class ItemBounds:
    """Bounds of columns or of rows, and prices of what lies beyond them, each of shape (2, size)."""

    lower: Array
    upper: Array
    below: Array
    above: Array

    @classmethod
    def none(cls, size: int) -> ItemBounds:
        """Return no bound at all."""
        no_bound = np.full((2, size), np.inf)
        return cls(-no_bound, no_bound, no_bound, no_bound)

    def copy(self) -> ItemBounds:
        """Return arrays that may be written."""
        return ItemBounds(*(each.copy() for each in self.arrays))

    def write(self, which: Index, lower: bool, others: ItemBounds) -> None:
        """Write one side of others over that of some columns or rows."""
        if lower:
            self.lower[:, which], self.below[:, which] = others.lower, others.below
        else:
            self.upper[:, which], self.above[:, which] = others.upper, others.above

    def at(self, which: Any) -> ItemBounds:
        """Select some of the columns or rows."""
        return ItemBounds(*(each[:, which] for each in self.arrays))

    def joined(self, other: ItemBounds) -> ItemBounds:
        """Append the bounds of others."""
        pairs = zip(self.arrays, other.arrays, strict=True)
        return ItemBounds(*(np.hstack(pair) for pair in pairs))

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """All four."""
        return self.lower, self.upper, self.below, self.above

    @property
    def has_lower(self) -> Mask:
        """Where there is a lower bound."""
        return np.asarray(np.isfinite(self.lower[0]))

    @property
    def has_upper(self) -> Mask:
        """Where there is an upper bound."""
        return np.asarray(np.isfinite(self.upper[0]))


class OfPieces:
    """Costs of several pieces each, by their slope."""

    cost: Array
    begin: Index
    slope: Array

    @property
    def size(self) -> int:
        """Number of costs."""
        return int(self.cost.shape[1])

    @cached_property
    def owner(self) -> Index:
        """The cost of each piece."""
        return np.repeat(np.arange(self.size), np.diff(self.begin))

    @cached_property
    def left(self) -> Index:
        """The piece before each kink; that after it is the next one."""
        return np.flatnonzero(np.diff(self.owner) == 0)

    @property
    def width(self) -> Array:
        """Growth of the slope at each kink."""
        return np.asarray(self.slope[self.left + 1] - self.slope[self.left])


@dataclass(frozen=True)
class CostPieces(OfPieces):
    """What is kept of `Kinks` for the way back."""

    cost: Array
    begin: Index
    slope: Array
    weights: Any


@dataclass(frozen=True)
class Kinks(OfPieces):
    """Costs ``cost(t) * max(slope * v - offset(t))`` of directions ``v = d'x``.

    Attributes
    ----------
    directions : sparse array of shape (k, n)
        A row d for each cost.
    cost : array of shape (2, k)
    begin : int array of shape (k + 1,)
        Where the pieces of each cost begin: by their slope, and each the largest somewhere.
    slope, offset : arrays of shape (p,), (2, p)
        Of all pieces.
    weights : sparse array of shape (p, rows)
        What a unit of a piece's weight gives to the multipliers of the rows that are gone for it.
    """

    directions: Any
    cost: Array
    begin: Index
    slope: Array
    offset: Array
    weights: Any

    @classmethod
    def none(cls, n: int, m: int) -> Kinks:
        """Return no cost."""
        nothing = np.zeros((2, 0))
        return cls(sp.csr_array((0, n)), nothing, np.array([0]), np.zeros(0), nothing, sp.csr_array((0, m)))

    @classmethod
    def joined(cls, parts: Sequence[Kinks]) -> Kinks:
        """Put several costs after each other."""
        sizes = np.concatenate([np.diff(each.begin) for each in parts])
        return cls(
            directions=sp.vstack([each.directions for each in parts], format="csr"),
            cost=np.hstack([each.cost for each in parts]),
            begin=ends_of(sizes),
            slope=np.concatenate([each.slope for each in parts]),
            offset=np.hstack([each.offset for each in parts]),
            weights=sp.vstack([each.weights for each in parts], format="csr"),
        )

    @property
    def at(self) -> Array:
        """Where the direction is at each kink, at both ends of the line."""
        return np.asarray((self.offset[:, self.left + 1] - self.offset[:, self.left]) / self.width)

    def only(self, pieces: Mask) -> Kinks:
        """Select some pieces of each cost."""
        counts = np.bincount(self.owner[pieces], minlength=self.size)
        begin = ends_of(counts)
        slope, offset = self.slope[pieces], self.offset[:, pieces]
        return replace(self, begin=begin, slope=slope, offset=offset, weights=self.weights[np.flatnonzero(pieces)])


@dataclass(frozen=True)
class ReductionStage:
    """A program between two rules.

    Attributes
    ----------
    line : ProgramLine
        The compiled program, for the user's names and for products with points.
    P, A : sparse arrays by rows
        Columns that are fixed have no entries; there may be more rows than those of the program.
    squares : tuple of (columns, array)
        Parts of P that are kept apart from it, as arrays.
    q : array of shape (2, n)
    of_columns, of_rows : ItemBounds
    columns, rows : bool arrays
        Which of them are left.
    equation : bool array
        Rows that must hold with equality.
    flat : bool array
        Columns that have no part in the P of the program.
    titled : int array
        The row of the program after which each row is named; -1 where there is none.
    kinks : Kinks
    """

    line: ProgramLine
    P: Any
    A: Any
    squares: tuple[tuple[Index, Array], ...]
    q: Array
    of_columns: ItemBounds
    of_rows: ItemBounds
    columns: Mask
    rows: Mask
    equation: Mask
    flat: Mask
    titled: Index
    kinks: Kinks = field(repr=False)

    @classmethod
    def of(cls, line: ProgramLine) -> ReductionStage:
        """Return the compiled program itself."""
        P = entries_of(sp.csr_array(line.given))
        lower, upper = bounds_of_items(line.q[:, :0], line.b, line.equations)
        hard = np.full(line.b.shape, np.inf)
        equation = np.arange(line.m) < line.equations
        return cls(
            line=line,
            P=P,
            A=entries_of(line.rows),
            squares=(),
            q=line.q,
            of_columns=ItemBounds.none(line.n),
            of_rows=ItemBounds(lower, upper, hard, hard),
            columns=np.ones(line.n, dtype=np.bool_),
            rows=np.ones(line.m, dtype=np.bool_),
            equation=equation,
            flat=np.bincount(P.indices, minlength=line.n) == 0,
            titled=_titled(line),
            kinks=Kinks.none(line.n, line.m),
        )

    @cached_property
    def by_columns(self) -> Any:
        """A of the program by columns."""
        return entries_of(sp.csc_array(self.line.A))

    @property
    def row_of_entry(self) -> Index:
        """The row of each entry of A."""
        return np.repeat(np.arange(self.A.shape[0]), np.diff(self.A.indptr))

    @property
    def in_kinks(self) -> Mask:
        """Columns that a cost with kinks is a function of."""
        return np.bincount(self.kinks.directions.indices, minlength=self.q.shape[1]) > 0


def _titled(line: ProgramLine) -> Index:
    """The rows that belong to a constraint of the user by their own number, others by -1."""
    titled = np.full(line.m, -1)
    for reading in line.multipliers.values():
        own = reading.place[reading.factor != 0]
        titled[own] = own
    return titled


@dataclass
class StagePoints:
    """Points of a stage, a column each: rules write into them as they are inverted.

    A *ray* is a direction of points, at which all data count as 0.

    Attributes
    ----------
    t : array of shape (k,)
    x : array of shape (n, k)
        Columns; 0 where a rule will bring them back.
    z : array of shape (rows, k)
        Multipliers of rows, with the signs of Clarabel: ``Px + q + A'z = 0``. A row that is gone for a cost with kinks
        has what the weights of its pieces give to it.
    u : array of shape (n, k)
        Multipliers of bounds of columns as an engine has them, in the same signs; where a rule brings a column back,
        not a number: they are what stationarity leaves.
    is_ray : bool
    """

    t: Array
    x: Array
    z: Array
    u: Array
    is_ray: bool = False

    def along(self, ends: Array) -> Array:
        """Interpolate data (2, size) at all points: shape (size, k), or (size, 1) where they are constant."""
        if self.is_ray:
            return np.zeros((ends.shape[1], 1))
        return along(ends, self.t)


class ReductionRule(Protocol):
    """A rule as it was applied: its arrays undo it. ``str`` says how much it did."""

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether a stage is of the kind that the rule may change."""
        ...

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, Self]:
        """Return the next stage, which is this one where nothing was found, and the rule as it was applied."""
        ...

    def invert(self, point: StagePoints) -> None:
        """Make points of the stage before of optimal points of the stage after, in place."""
        ...


def ends_of(sizes: Any) -> Index:
    """Where parts of so many entries each begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def told(number: int, one: str, many: str) -> str:
    """Return how many there are: ``1 row joined``, ``2 rows joined``."""
    return f"{number} {one if number == 1 else many}"
