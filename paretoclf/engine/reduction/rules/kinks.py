"""Costs with kinks become soft bounds, of a column where one is free to carry them, else of a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.entries import alike, first_alike
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.rules.stage import (
    CostPieces,
    ItemBounds,
    Kinks,
    ReductionStage,
    StagePoints,
    ends_of,
    told,
)


@dataclass(frozen=True)
class KinksToBounds:
    """Costs with kinks, each a slope in q and soft bounds of some columns and rows, its *carriers*.

    A carrier takes the kinks next to the flattest piece of a cost, on both sides; another one the kinks beyond these.

    Attributes
    ----------
    rows : int
        How many rows there were before.
    kinks : CostPieces
        The costs, without the pieces that hard bounds of their column leave no room for.
    base : array
        The slope in q of each cost, as a share of it.
    owner, carrier : int arrays
        For each carrier the number of its cost, and of its column, or of its row if ``on_row``.
    on_row, lower, upper : bool arrays
        For each carrier whether it is a row, and which of its sides are of this cost.
    """

    rows: int
    kinks: CostPieces
    base: Array
    owner: Index
    carrier: Index
    on_row: Mask
    lower: Mask
    upper: Mask

    @classmethod
    def accepts(cls, stage: ReductionStage) -> bool:
        """Whether there are costs with kinks."""
        return bool(stage.kinks.size)

    @classmethod
    def apply(cls, stage: ReductionStage) -> tuple[ReductionStage, KinksToBounds]:
        """Make soft bounds of all kinks."""
        n, m = stage.columns.size, stage.rows.size
        kinks = stage.kinks.only(_with_room(stage))
        base, owner, soft = soft_bounds(kinks)
        low, up = soft.has_lower, soft.has_upper
        column = _single(kinks)[owner]
        carrier = np.full(owner.size, -1)
        fits = _first_that_fit(stage.of_columns, column, soft)
        carrier[fits] = column[fits]
        on_row = carrier < 0
        partner = _partners(kinks, owner, on_row, soft)
        new = np.flatnonzero(on_row & (partner < 0))
        carrier[new] = n + np.arange(new.size)
        joined = partner >= 0
        carrier[joined] = carrier[partner[joined]]
        bounds = stage.of_columns.joined(ItemBounds.none(new.size))
        bounds.write(carrier[low], True, soft.at(low))
        bounds.write(carrier[up], False, soft.at(up))
        carrier[on_row] += m - n
        titled = np.concatenate([stage.titled, _titles(kinks, stage.titled)[owner[new]]])
        after = replace(
            stage,
            A=sp.vstack([stage.A, kinks.directions[owner[new]]], format="csr"),
            q=stage.q + (kinks.directions.T @ (kinks.cost * base).T).T,
            of_columns=bounds.at(slice(n)),
            of_rows=stage.of_rows.joined(bounds.at(slice(n, None))),
            rows=np.append(stage.rows, new >= 0),
            equation=np.append(stage.equation, new < 0),
            titled=titled,
            kinks=Kinks.none(n, m),
        )
        pieces = CostPieces(kinks.cost, kinks.begin, kinks.slope, kinks.weights)
        return after, cls(m, pieces, base, owner, carrier, on_row, low, up)

    def __str__(self) -> str:
        return f"{told(self.kinks.slope.size - self.kinks.size, 'kink', 'kinks')} made soft bounds"

    def invert(self, point: StagePoints) -> None:
        """Multipliers of the rows that are gone for the costs, from those of the carriers.

        All weight of a cost lies on its first piece; each kink takes as much of it from the piece before to that after
        as the slope is beyond the former, out of the difference of both slopes.
        """
        z, point.z = point.z, point.z[: self.rows]
        if point.is_ray:
            return  # a direction has no part in costs: these are data
        kinks, (of_kinks, beyond, width, rows, given) = self.kinks, self._plan
        cost = point.along(kinks.cost)
        shares = self._slopes(z, point.u)[of_kinks]
        shares += beyond * cost[of_kinks]
        shares /= width
        np.maximum(shares, 0.0, out=shares)
        np.minimum(shares, cost[of_kinks], out=shares)
        weights = np.empty((kinks.slope.size, point.t.size))
        weights[kinks.begin[:-1]] = cost
        weights[kinks.left + 1] = shares
        weights[kinks.left] -= shares
        found = given @ weights
        if len(found) == self.rows:
            point.z = found
        else:
            point.z[rows] = found

    def _slopes(self, z: Array, u: Array) -> Array:
        """Slopes that the carriers give to each cost, beside that in q.

        A carrier may have sides of two costs, or a hard one: positive multipliers are of upper bounds.
        """
        columns, rows, (least, most), begin = self._carriers
        found = np.empty((self.owner.size, z.shape[1]))
        found[columns[0]] = u[columns[1]]
        found[rows[0]] = z[rows[1]]
        np.maximum(found, least, out=found)
        np.minimum(found, most, out=found)
        if begin.size == self.owner.size == self.kinks.size:
            return found
        slopes = np.zeros((self.kinks.size, z.shape[1]))
        slopes[self.owner[begin]] = np.add.reduceat(found, begin, axis=0) if begin.size else 0.0
        return slopes

    # ---- what it needs, made once ----

    @cached_property
    def _plan(self) -> tuple[Any, Any, Any, Any, Any]:
        """Cost, slope beyond and difference of each kink; rows that pieces give to, and the matrix to these."""
        kinks = self.kinks
        of_kinks = kinks.owner[kinks.left]
        beyond = self.base[of_kinks] - kinks.slope[kinks.left]
        rows = np.unique(kinks.weights.indices)
        given = kinks.weights.T.tocsr()[rows]
        return plainly(of_kinks), alike(beyond), alike(kinks.width), plainly(rows), given

    @cached_property
    def _carriers(self) -> tuple[Any, Any, Any, Index]:
        """Carriers that are columns, those that are rows, what multipliers are cut at, and where each cost begins."""
        places = np.flatnonzero(~self.on_row), np.flatnonzero(self.on_row)
        columns, rows = ((plainly(each), plainly(self.carrier[each])) for each in places)
        least, most = np.where(self.lower, -np.inf, 0.0), np.where(self.upper, np.inf, 0.0)
        begin = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return columns, rows, (alike(least), alike(most)), begin


def soft_bounds(kinks: Kinks) -> tuple[Array, Index, ItemBounds]:
    """Share of each cost that is a slope in q; and, for pairs of kinks from the flattest piece outwards, soft bounds.

    Returns
    -------
    The shares, the cost of each pair, and the pairs: where there is a kink on one side only, the other is free.
    """
    of_kink, left, at = kinks.owner[kinks.left], kinks.left, kinks.at
    counts = np.bincount(of_kink, minlength=kinks.size)
    first = kinks.begin[:-1]
    flattest = flattest_pieces(kinks) - first
    base = kinks.slope[first + flattest]
    one_kink = counts == 1
    last = kinks.begin[1:] - 1
    absolute = one_kink & (kinks.slope[first] < 0) & (kinks.slope[last] > 0)
    base[absolute] = 0.0
    pairs = np.maximum(flattest, counts - flattest)
    begin = ends_of(pairs)
    soft = ItemBounds.none(int(begin[-1])).copy()
    beyond = left - first[of_kink] - flattest[of_kink]  # negative to the left of the flattest piece
    number = begin[of_kink] + np.where(beyond < 0, -1 - beyond, beyond)
    both, cost = absolute[of_kink], kinks.cost[:, of_kink]
    below = cost * np.where(both, -kinks.slope[left], kinks.width)
    above = cost * np.where(both, kinks.slope[left + 1], kinks.width)
    for lower in (True, False):
        own = both | ((beyond < 0) == lower)
        soft.write(number[own], lower, ItemBounds(at, at, below, above).at(own))
    return base, np.repeat(np.arange(kinks.size), pairs), soft


def flattest_pieces(kinks: Any) -> Index:
    """The piece of each cost with the least slope, in absolute value; of several the first."""
    sizes = np.abs(kinks.slope)
    least = np.minimum.reduceat(sizes, kinks.begin[:-1])
    number = np.where(sizes == least[kinks.owner], np.arange(sizes.size), sizes.size)
    return np.asarray(np.minimum.reduceat(number, kinks.begin[:-1]))


def _single(kinks: Kinks) -> Index:
    """The column that is the direction of each cost; -1 for others."""
    directions, first = kinks.directions, kinks.directions.indptr[:-1]
    alone = (np.diff(directions.indptr) == 1) & (directions.data[first] == 1)
    return np.asarray(np.where(alone, directions.indices[first], -1))


def _with_room(stage: ReductionStage) -> Mask:
    """Pieces that do not lie beyond a hard bound of their column all along."""
    kinks = stage.kinks
    kept = np.ones(kinks.slope.size, dtype=np.bool_)
    column = _single(kinks)[kinks.owner[kinks.left]]
    own = stage.of_columns.at(column)
    below = (column >= 0) & np.isinf(own.below[0]) & (kinks.at <= own.lower).all(axis=0)
    above = (column >= 0) & np.isinf(own.above[0]) & (kinks.at >= own.upper).all(axis=0)
    kept[kinks.left[below]] = False
    kept[kinks.left[above & ~below] + 1] = False
    return kept


def _first_that_fit(bounds: ItemBounds, column: Index, soft: ItemBounds) -> Index:
    """The first of the soft bounds of each column that it may carry: beside its own bounds, with room between all."""
    own = bounds.at(column)
    fits = (column >= 0) & np.isinf(own.below[0]) & np.isinf(own.above[0])
    fits &= ~(soft.has_lower & own.has_lower) & ~(soft.has_upper & own.has_upper)
    room = np.maximum(soft.lower, own.lower) <= np.minimum(soft.upper, own.upper)
    some = np.flatnonzero(fits & room.all(axis=0))
    _, first = np.unique(column[some], return_index=True)
    return np.asarray(some[np.sort(first)])


def _partners(kinks: Kinks, owner: Index, on_row: Mask, soft: ItemBounds) -> Index:
    """The earlier bounds of a row of the same direction that lack the side of later ones; -1 where there are none."""
    partner = np.full(owner.size, -1)
    low, up = soft.has_lower, soft.has_upper
    one_sided = on_row & (low != up)
    if not (one_sided & low).any() or not (one_sided & up).any():
        return partner
    direction, some = first_alike(kinks.directions)[owner], np.flatnonzero(one_sided)
    waiting: dict[tuple[int, bool], list[int]] = {}
    for number, group, is_lower in zip(some.tolist(), direction[some].tolist(), low[some].tolist(), strict=True):
        others = waiting.get((group, not is_lower), [])
        for other in others:
            lower, upper = (number, other) if is_lower else (other, number)
            if (soft.lower[:, lower] <= soft.upper[:, upper]).all():
                partner[number] = other
                others.remove(other)
                break
        else:
            waiting.setdefault((group, is_lower), []).append(number)
    return partner


def _titles(kinks: Kinks, titled: Index) -> Index:
    """The first row with a name that each cost gives multipliers to; -1 where there is none."""
    found = np.full(kinks.size, -1)
    names = titled[kinks.weights.indices]
    owner = np.repeat(kinks.owner, np.diff(kinks.weights.indptr))
    some = np.flatnonzero(names >= 0)[::-1]
    found[owner[some]] = names[some]  # of several the last one here stays
    return found
