r"""The way back from a reduced problem: values and multipliers of its items as those of the compiled program.

Each step of `paretoclf.engine.reduction.presolve` is undone in the reverse order, for many points at once: one sparse
product for all equations that went together, all slacks, all epigraph variables of one depth, and all costs with kinks.
Arrays have a column for each point here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.epigraphs import Epigraph, Kinked
from paretoclf.engine.reduction.products import Products, blocks, plainly, turned
from paretoclf.engine.reduction.program import ProgramLine, along
from paretoclf.problem.parametric_qp import ParametricQP

#: Multipliers of no more than this, relative to the largest, are looked at: they may be rounding of terms that cancel.
_SMALL = 1e-12
#: That is what is no more than this share of its terms: a few units in their last place.
_ROUNDED = 1e-15

#: No bound, or no slope, at either end of the line.
_LEAST, _NONE = np.full(2, -np.inf), np.full(2, np.inf)
_LEAST.setflags(write=False)
_NONE.setflags(write=False)


@dataclass
class Item:
    """A row of the reduced problem: ``lower <= a'x <= upper``, each of them soft where its slope is finite.

    Attributes
    ----------
    places, values : arrays
        The entries of a.
    rows : list of (row, factor, side)
        Compiled rows that it stands for: their multiplier is y / factor, of one side or of both.
    title : str
        The user's name for it, where there is one.
    """

    places: Index
    values: Array
    lower: Array
    upper: Array
    below: Array
    above: Array
    rows: list[tuple[int, float, str]] = field(default_factory=list)
    title: str = ""

    @classmethod
    def of(
        cls,
        a: tuple[Index, Array],
        lower: Array | None = None,
        upper: Array | None = None,
        below: Array | None = None,
        above: Array | None = None,
        **named: Any,
    ) -> Item:
        """Without a bound where none is given, hard where no slope is."""
        up, down, over = (_NONE if each is None else each for each in (upper, below, above))
        return cls(*a, _LEAST if lower is None else lower, up, down, over, **named)

    @property
    def is_equation(self) -> bool:
        """Whether it stands for a row that must hold with equality."""
        soft = isfinite(self.below[0]) or isfinite(self.above[0])
        return bool(self.rows) and self.lower is self.upper and not soft

    def has(self, side: str) -> bool:
        """Whether it has a bound on this side."""
        return isfinite(getattr(self, side)[0])


@dataclass(frozen=True)
class Carried:
    """A cost with kinks, what of it is in q, and the items that carry the rest: their number, and which side of it."""

    cost: Kinked
    base: float
    on: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Substituted:
    """Columns that were replaced by what their equations say, all at once."""

    rows: Index
    columns: Index
    factors: Array


@dataclass(frozen=True)
class Slacks:
    """Equations that had slacks; of each slack: which of them, its column and coefficient, and those of its bound."""

    A: Products
    rows: Any
    of: Any
    columns: Any
    factors: Any
    bounds: Any
    own: Any

    def into(self, x: Array, b: Array) -> None:
        """Write their columns into x, which has all others of their equations."""
        x[self.columns] = b[self.bounds] / self.own
        missing = (b[self.rows] - self.A @ x)[self.of]
        missing /= self.factors
        x[self.columns] += np.maximum(missing, 0.0, out=missing)


@dataclass(frozen=True)
class Depth:
    """Epigraph variables of as many rows each that are in no row of each other: the first of each, then the second."""

    A: Products
    rows: Any
    columns: Any
    factors: Any
    sides: int

    def into(self, x: Array, b: Array) -> None:
        """Write their columns into x, where they are 0, and all others of their rows are known."""
        found = self.A @ x
        found -= b[self.rows]
        found /= self.factors
        x[self.columns] = found.reshape(self.sides, -1, x.shape[1]).max(axis=0)


@dataclass(frozen=True)
class Sides:
    """Rows whose multiplier is minus that of a column or item over a factor, and no less than 0 where of one side."""

    rows: Any
    of: Any
    factors: Any
    least: Any

    @classmethod
    def listed(cls, found: list[tuple[int, int, float, str]]) -> Sides:
        """From (row, of what, factor, side)."""
        rows, of, factors, sides = zip(*found, strict=True) if found else ((), (), (), ())
        both = np.array([side == "both" for side in sides], dtype=np.bool_)
        at, own = (plainly(np.array(each, dtype=int)) for each in (rows, of))
        return cls(at, own, _alike(-np.array(factors, dtype=float)), _alike(np.where(both, -np.inf, 0.0)))

    def into(self, z: Array, own: Array) -> None:
        """Write the multipliers into z, where what they are of has these."""
        found = own[self.of] / self.factors
        z[self.rows] = np.maximum(found, self.least, out=found)


@dataclass(frozen=True)
class KinkedCosts:
    """All costs with kinks: what their items' multipliers say of their slopes, and these of the multipliers of rows.

    All weight of a cost lies on its first piece; each kink takes as much of it from the piece before to that after as
    the slope is beyond the former, out of ``width``, the difference of both. A unit of each of these weights gives rows
    what is in their column of ``rows``: of all costs, then of all kinks.
    """

    cost: Array
    on: tuple[Any, Any, Any]
    owner: Any
    beyond: Any
    width: Any
    rows: Any

    @classmethod
    def of(cls, carried: tuple[Carried, ...], number: dict[tuple[str, int], int], items: int, m: int) -> KinkedCosts:
        """Made of costs, the numbers of what carries them, and how many items and rows there are."""
        sides: dict[str, list[tuple[int, int]]] = {"both": [], "lower": [], "upper": []}
        owner, beyond, width = list[int](), list[float](), list[float]()
        rows, costs = list[tuple[int, int, float]](), len(carried)
        for c, each in enumerate(carried):
            for kind, k, side in each.on:
                sides[side].append((c, number[kind, k]))
            rows.extend((row, c, factor) for row, factor in each.cost.pieces[0].rows.items())
            for before, after in pairwise(each.cost.pieces):
                rows.extend((row, costs + len(owner), -factor) for row, factor in before.rows.items())
                rows.extend((row, costs + len(owner), factor) for row, factor in after.rows.items())
                owner.append(c)
                beyond.append(each.base - before.slope)
                width.append(after.slope - before.slope)
        on = tuple(_entries([(*at, 1.0) for at in sides[side]], (costs, items)) for side in sides)
        cost = np.concatenate([each.cost.cost for each in carried]).reshape(-1, 2).T
        plain: Any = slice(None) if owner == list(range(costs)) else np.array(owner, dtype=int)
        weights = _entries(rows, (m, costs + len(owner)))
        return cls(cost, on, plain, _alike(np.array(beyond)), _alike(np.array(width)), weights)

    def rows_of(self, y: Array, t: Array) -> Array:
        """What the multipliers of rows are by these costs, where the items have multipliers y."""
        costs = self.cost.shape[1]
        weights = np.empty((self.rows.shape[1], t.size))
        (of_costs, weight), cost = np.split(weights, [costs]), along(self.cost, t)
        np.maximum(cost, 0.0, out=of_costs)
        taken = np.zeros((costs, t.size))
        for part, own in zip(self.on, (None, np.maximum, np.minimum), strict=True):
            if part.nnz:
                taken += part @ (y if own is None else own(y, 0.0))
        np.multiply(self.beyond, cost[self.owner], out=weight)
        weight -= taken[self.owner]
        weight /= self.width
        np.minimum(np.maximum(weight, 0.0, out=weight), of_costs[self.owner], out=weight)
        return np.asarray(self.rows @ weights)


@dataclass(frozen=True)
class Reduced:
    """A reduced problem and how its points become points of the compiled program.

    Attributes
    ----------
    problem : ParametricQP
        Its objective lacks a function of t: values are those of the program at the point that comes back.
    program : ProgramLine
    columns, kept : int arrays
        The column of each variable, and the number of each row among ``items``.
    """

    problem: ParametricQP
    program: ProgramLine
    columns: Index
    kept: Index
    items: tuple[Item, ...] = field(repr=False)
    carried: tuple[Carried, ...] = field(repr=False)
    fixed: tuple[tuple[int, Array], ...] = field(repr=False)
    substituted: tuple[Substituted, ...] = field(repr=False)
    slacks: tuple[tuple[int, tuple[int, ...]], ...] = field(repr=False)
    eliminated: tuple[Epigraph, ...] = field(repr=False)
    bounds: tuple[tuple[int, int, float, str], ...] = field(repr=False)

    def back(self, v: Array, y: Array, t: Array) -> tuple[Array, Array]:
        """Values x (k, n) and multipliers z (k, m) of the compiled program at k points.

        Parameters
        ----------
        v, y : arrays of shape (k, items)
            Values and multipliers of the items.
        t : array of shape (k,)
        """
        line = self.program
        x, z = np.empty((t.size, line.n)), np.empty((t.size, line.m))
        for part in blocks(t.size, line.n + line.m):
            for found, into in zip(self.back_together(v[part], y[part], t[part]), (x, z), strict=True):
                turned(found, into[part])
        return x, z

    def back_together(self, v: Array, y: Array, t: Array) -> tuple[Array, Array]:
        """The same of few points, in one go; a column for each."""
        line, prices = self.program, np.ascontiguousarray(y.T)
        fixed = along(np.array([value for _, value in self.fixed]).reshape(-1, 2).T, t)
        own = self._columns(v.T, along(line.b, t), fixed)
        found = self._costs.rows_of(prices, t) if self.carried else np.zeros((line.m, t.size))
        self._priced.into(found, prices)
        return own, self._completed(found, prices, own, along(line.q, t))

    def ray_of_values(self, v: Array) -> Array:
        """The direction of x that a direction of the items' values is: the same with data of 0."""
        none, still = np.zeros((self.program.m, 1)), np.zeros((len(self.fixed), 1))
        return np.asarray(self._columns(v[:, None], none, still)[:, 0])

    def ray_of_multipliers(self, y: Array) -> Array:
        """The direction of z that a direction of the items' multipliers is; costs with kinks have no part in it."""
        return np.asarray(self._completed(self._prices(y[:, None]), y[:, None])[:, 0])

    def ray_of_crossing(self, item: int) -> Array:
        """The multipliers of the contradiction that the two bounds of one item are: one unit of each."""
        z = np.zeros((self.program.m, 1))
        if item >= self.columns.size:
            for i, factor, _ in self.items[int(self.kept[item - self.columns.size])].rows:
                z[i] = 1.0 / abs(factor)
            return np.asarray(self._completed(z, np.ones((self.problem.items, 1)))[:, 0])
        for i, j, a, _ in self.bounds:
            if j == self.columns[item]:
                z[i] = 1.0 / abs(a)
        return np.asarray(z[:, 0])

    @cached_property
    def _products(self) -> tuple[Products, Products, list[tuple[Products, Products]]]:
        """P, the part of A' of bounded columns, and of each round of substitutions its equations and columns of A."""
        P, A, back = self.program.products
        rounds = [(A.of_rows(e.rows), back.of_rows(e.columns)) for e in self.substituted]
        return P, back.of_rows(np.arange(self.program.n)[self._bounding[0]]), rounds

    @cached_property
    def _number(self) -> dict[tuple[str, int], int]:
        """Where variables (by column) and rows (by number among the items) stand among the items of the problem."""
        of = {("variable", j): k for k, j in enumerate(self.columns.tolist())}
        return of | {("row", r): self.columns.size + k for k, r in enumerate(self.kept.tolist())}

    @cached_property
    def _costs(self) -> KinkedCosts:
        return KinkedCosts.of(self.carried, self._number, self.problem.items, self.program.m)

    @cached_property
    def _priced(self) -> Sides:
        """Rows that items stand for."""
        return Sides.listed(
            [
                (i, self.columns.size + k, factor, side)
                for k, r in enumerate(self.kept.tolist())
                for i, factor, side in self.items[r].rows
            ]
        )

    @cached_property
    def _bounding(self) -> tuple[Any, Sides]:
        """Columns with bounds, and the rows of these."""
        columns = np.unique(np.array([j for _, j, _, _ in self.bounds], dtype=int))
        place = {j: k for k, j in enumerate(columns.tolist())}
        return plainly(columns), Sides.listed([(i, place[j], a, side) for i, j, a, side in sorted(self.bounds)])

    @cached_property
    def _bounding_sizes(self) -> Products:
        """The part of A' of bounded columns, in absolute values."""
        return self._products[1].of_sizes

    @cached_property
    def _bounding_items(self) -> tuple[Any, Any]:
        """Which columns with bounds are items, and which items they are."""
        columns = np.arange(self.program.n)[self._bounding[0]]
        number = np.array([self._number.get(("variable", j), -1) for j in columns.tolist()], dtype=int)
        which = np.flatnonzero(number >= 0)
        return plainly(which), plainly(number[which])

    @cached_property
    def _slack(self) -> Slacks:
        low = {j: (i, a) for i, j, a, side in self.bounds if side == "lower"}
        rows = np.array([i for i, _ in self.slacks], dtype=int)
        of = np.repeat(np.arange(rows.size), [len(own) for _, own in self.slacks])
        columns = np.array([j for _, own in self.slacks for j in own])
        order = np.argsort(columns)
        of, columns = of[order], columns[order]
        bounds, a = (np.array(each) for each in zip(*(low[j] for j in columns.tolist()), strict=True))
        factors = np.asarray(self.program.rows[rows[of], columns]).ravel()
        A = self.program.products[1].of_rows(rows)
        return Slacks(A, plainly(rows), plainly(of), plainly(columns), _alike(factors), plainly(bounds), _alike(a))

    @cached_property
    def _depths(self) -> tuple[Depth, ...]:
        """Epigraph variables, innermost first."""
        all_rows, sizes = [e.rows for e in self.eliminated], [e.rows.size for e in self.eliminated]
        columns = np.array([e.column for e in self.eliminated], dtype=int)
        number = np.full(self.program.n, -1)
        number[columns] = np.arange(columns.size)
        owner, A = np.repeat(np.arange(columns.size), sizes), self.program.rows[np.concatenate(all_rows)].tocoo()
        outer, inner = owner[A.row], number[A.col]
        nested = (inner >= 0) & (inner != outer)
        outer, inner, depth = outer[nested], inner[nested], np.zeros(columns.size, dtype=int)
        while (depth[outer] <= depth[inner]).any():
            np.maximum.at(depth, outer, depth[inner] + 1)
        kinds = np.stack([depth, sizes], axis=1)
        return tuple(self._of_kind(np.flatnonzero((kinds == each).all(axis=1))) for each in np.unique(kinds, axis=0))

    def _of_kind(self, which: Index) -> Depth:
        """Those of one depth and number of rows."""
        own = [self.eliminated[k] for k in which.tolist()]
        rows, factors = (np.stack(each, axis=1) for each in zip(*((e.rows, e.factors) for e in own), strict=True))
        columns = np.array([e.column for e in own])
        A = self.program.products[1].of_rows(rows.ravel())
        return Depth(A, plainly(rows.ravel()), plainly(columns), _alike(factors.ravel()), len(rows))

    def _columns(self, v: Array, b: Array, fixed: Array) -> Array:
        """All columns, in the reverse order in which they went."""
        x, rounds = np.zeros((self.program.n, v.shape[1])), self._products[2]
        x[self.columns] = v[: self.columns.size]
        x[[j for j, _ in self.fixed]] = fixed
        for gone, (equations, _) in zip(reversed(self.substituted), reversed(rounds), strict=True):
            x[gone.columns] = (b[gone.rows] - equations @ x) / gone.factors[:, None]
        if self.slacks:
            self._slack.into(x, b)
        for each in self._depths if self.eliminated else ():
            each.into(x, b)
        return x

    def _prices(self, y: Array) -> Array:
        """Multipliers of the rows that items stand for."""
        z = np.zeros((self.program.m, y.shape[1]))
        self._priced.into(z, y)
        return z

    def _completed(self, z: Array, y: Array, x: Array | None = None, q: Any = 0.0) -> Array:
        """With the multipliers that stationarity leaves: of equations that went with a variable, then of bounds.

        A bound of an item that has none has none, whatever rounding leaves.
        """
        (P, bounded, rounds), slope = self._products, np.zeros((self.program.n, 1))
        if x is not None:
            slope = P @ x + q if self.program.P.nnz else q
        for each, (_, columns) in zip(self.substituted, rounds, strict=True):
            z[each.rows] = -(slope[each.columns] + columns @ z) / each.factors[:, None]
        own, sides = self._bounding
        left, (which, items) = bounded @ z, self._bounding_items
        left += slope[own]
        left[which] *= y[items] != 0
        # Nor has one whose terms cancel: beside a slack its rounding would be a gap.
        sizes = np.abs(z)
        small = np.abs(left)
        most = _SMALL * _largest(sizes)
        if (small <= most).any():
            terms = self._bounding_sizes @ sizes
            terms += np.abs(slope[own])
            terms *= _ROUNDED
            left[small <= np.minimum(terms, most, out=terms)] = 0.0
        sides.into(z, left)
        return z


def _alike(numbers: Array) -> Any:
    """A column of numbers; one number where they are all the same."""
    return numbers[0] if numbers.size and (numbers == numbers[0]).all() else numbers[:, None]


def _largest(sizes: Array) -> Array:
    """The largest of each column of an array without negative numbers, halved again and again: columns are short."""
    while len(sizes) > 1:
        half = len(sizes) // 2
        sizes, left = np.maximum(sizes[:half], sizes[half : 2 * half]), sizes[2 * half :]
        if len(left):
            np.maximum(sizes[:1], left, out=sizes[:1])
    return np.asarray(sizes.max(axis=0, initial=0.0))


def _entries(found: list[tuple[int, int, float]], shape: tuple[int, int]) -> Any:
    """A sparse array of entries (row, column, value)."""
    i, j, values = zip(*found, strict=True) if found else ((), (), ())
    return sp.csr_array((np.array(values, dtype=float), (np.array(i, dtype=int), np.array(j, dtype=int))), shape)
