"""Epigraph variables of any kind, one by one: nested ones, and those of more than two rows.

A variable may itself be the direction of another one (``pos(abs(r) - eps)``): what it costs is then c times a maximum
of multiples of it, and the pieces are composed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import PARALLEL
from paretoclf.engine.reduction.rules.pairs import Epigraphs
from paretoclf.engine.reduction.rules.stage import Kinks, ReductionStage, ends_of


@dataclass(frozen=True)
class Piece:
    """``slope * v - offset(t)``, and what a unit of weight on it gives to the multipliers of the compiled rows."""

    slope: float
    offset: Array
    rows: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kinked:
    """A cost ``cost(t) * max(pieces)`` of ``v = a'x``; a by its places and values."""

    a: tuple[Index, Array]
    cost: Array
    pieces: tuple[Piece, ...]


def with_nested(stage: ReductionStage, cheap: Mask, found: Epigraphs) -> Epigraphs:
    """Find all epigraph variables beside those that are found already, nested ones from the outside in.

    Parameters
    ----------
    stage : ReductionStage
        Without any of them taken out.
    cheap : bool array
        Columns that may be epigraph variables.
    found : Epigraphs
    """
    search = _EpigraphSearch(stage, cheap, found)
    waiting = np.flatnonzero(cheap & found.columns).tolist()
    more = True
    while more:
        more = False
        for column in waiting:
            if search.find(column):
                more = True
    return search.result()


class _EpigraphSearch:
    """Epigraph variables found so far, and the costs with kinks that are left of them."""

    def __init__(self, stage: ReductionStage, cheap: Mask, found: Epigraphs) -> None:
        self.stage, self.cheap, self.found = stage, cheap, found
        self.rows, self.columns = found.rows.copy(), found.columns.copy()
        self.left = np.ones(found.kinks.size, dtype=np.bool_)  # costs found before that are no part of others
        self.kinked: dict[int, Kinked] = {}  # costs found one by one
        self.nested: dict[int, dict[int, float]] = {}  # by column: costs with it in their direction, its factor there
        self.eliminated: list[tuple[int, Index, Array]] = []  # variables, their rows, minus their coefficients
        self.numbers = count(self.left.size)
        directions = found.kinks.directions
        owner = np.repeat(np.arange(self.left.size), np.diff(directions.indptr))
        self._note(owner, directions.indices, directions.data)

    def find(self, column: int) -> bool:
        """Take out one column, if it is an epigraph variable; return whether it is."""
        by_columns = self.stage.by_columns
        part = slice(by_columns.indptr[column], by_columns.indptr[column + 1])
        rows = by_columns.indices[part]
        left = self.rows[rows]
        rows, factors = rows[left], -by_columns.data[part][left]
        only_bounded_below = rows.size > 0 and not (factors < 0).any()
        if not self.columns[column] or not only_bounded_below:
            return False
        outer = self.nested.get(column, {})
        costs = [(self._cost(number), factor) for number, factor in outer.items()]
        own_cost = self.stage.q[:, column].copy()
        dense_rows = _dense_rows(self.stage.A, rows)
        found = _kinks_of(dense_rows, own_cost, self.stage.of_rows.upper[:, rows], column, rows, costs)
        if found is None:
            return False
        for number in self.nested.pop(column, {}):  # of no other column
            self._drop(number)
        for number, cost in zip(self.numbers, found, strict=False):
            self.kinked[number] = cost
            places, values = cost.a
            self._note(np.full(places.size, number), places, values)
        self.eliminated.append((column, rows, factors))
        self.columns[column] = False
        self.rows[rows] = False
        return True

    def result(self) -> Epigraphs:
        """Return the epigraph variables, their costs, and the rows and columns that are left."""
        if not self.eliminated:
            return self.found
        found, (variables, rows, factors) = self.found, zip(*self.eliminated, strict=True)
        kinks = _some(found.kinks, self.left)
        if self.kinked:
            kinks = Kinks.joined([kinks, _as_arrays(list(self.kinked.values()), self.stage)])
        ends = ends_of([each.size for each in rows])
        return Epigraphs(
            kinks=kinks,
            variables=np.concatenate([found.variables, variables]),
            begin=np.concatenate([found.begin, found.begin[-1] + ends[1:]]),
            bounds=np.concatenate([found.bounds, *rows]),
            factors=np.concatenate([found.factors, *factors]),
            rows=self.rows,
            columns=self.columns,
        )

    def _cost(self, number: int) -> Kinked:
        """The cost of a number."""
        if number >= self.left.size:
            return self.kinked[number]
        kinks = self.found.kinks
        part = slice(kinks.directions.indptr[number], kinks.directions.indptr[number + 1])
        a = kinks.directions.indices[part], kinks.directions.data[part]
        pieces = []
        for piece in range(kinks.begin[number], kinks.begin[number + 1]):
            weights = slice(kinks.weights.indptr[piece], kinks.weights.indptr[piece + 1])
            rows = zip(kinks.weights.indices[weights].tolist(), kinks.weights.data[weights].tolist(), strict=True)
            pieces.append(Piece(float(kinks.slope[piece]), kinks.offset[:, piece], dict(rows)))
        return Kinked(a, kinks.cost[:, number], tuple(pieces))

    def _drop(self, number: int) -> None:
        """Forget a cost that is part of others now."""
        if number < self.left.size:
            self.left[number] = False
        else:
            del self.kinked[number]

    def _note(self, numbers: Index, places: Index, values: Array) -> None:
        """Note which columns in the directions of some costs may be epigraph variables, too."""
        some = np.flatnonzero(self.cheap[places])
        each = zip(numbers[some].tolist(), places[some].tolist(), values[some].tolist(), strict=True)
        for number, place, value in each:
            self.nested.setdefault(place, {})[number] = value


def _some(kinks: Kinks, costs: Mask) -> Kinks:
    """Select some costs."""
    found = kinks.only(costs[kinks.owner])
    which = np.flatnonzero(costs)
    begin = ends_of(np.diff(found.begin)[which])
    return replace(found, directions=found.directions[which], cost=found.cost[:, which], begin=begin)


def _as_arrays(costs: Sequence[Kinked], stage: ReductionStage) -> Kinks:
    """Costs one by one as arrays."""
    pieces = [piece for cost in costs for piece in cost.pieces]
    places, values = (np.concatenate([cost.a[part] for cost in costs]) for part in (0, 1))
    sizes = [cost.a[0].size for cost in costs]
    rows = [row for piece in pieces for row in piece.rows]
    units = [unit for piece in pieces for unit in piece.rows.values()]
    given = ends_of([len(piece.rows) for piece in pieces])
    return Kinks(
        directions=sp.csr_array((values, places, ends_of(sizes)), shape=(len(costs), stage.columns.size)),
        cost=np.stack([cost.cost for cost in costs], axis=1),
        begin=ends_of([len(cost.pieces) for cost in costs]),
        slope=np.array([piece.slope for piece in pieces]),
        offset=np.stack([piece.offset for piece in pieces], axis=1),
        weights=sp.csr_array(
            (np.array(units), np.array(rows, dtype=np.int64), given), shape=(len(pieces), stage.rows.size)
        ),
    )


def _dense_rows(by_rows: Any, rows: Index) -> tuple[Index, Array]:
    """The columns that have entries in some rows, and these rows as an array."""
    begin, end = by_rows.indptr[rows], by_rows.indptr[rows + 1]
    of_rows = [np.arange(*ends) for ends in zip(begin.tolist(), end.tolist(), strict=True)]
    at = np.concatenate(of_rows)
    places, column = np.unique(by_rows.indices[at], return_inverse=True)
    dense = np.zeros((rows.size, places.size))
    row = np.repeat(np.arange(rows.size), end - begin)
    dense[row, column] = by_rows.data[at]
    return places, dense


def _kinks_of(
    dense_rows: tuple[Index, Array],
    cost: Array,
    b: Array,
    column: int,
    rows: Index,
    outer: list[tuple[Kinked, float]],
) -> list[Kinked] | None:
    """The costs with kinks, in the direction of its rows, that a column stands for; None where it must stay.

    Parameters
    ----------
    dense_rows : pair of arrays
        Its rows, as `_dense_rows` has them; ``b`` and ``rows`` are their right-hand sides and numbers.
    cost : array of shape (2,)
        Its own cost.
    outer : list of (Kinked, float)
        Costs with the column in their direction, and its factor there.
    """
    for each, factor in outer:
        shared = each.a[0].size > 1
        decreasing = each.pieces[0].slope * factor < 0
        if shared or decreasing:
            return None
    places, dense = dense_rows
    own, others = dense[:, places == column], places != column
    if not others.any():
        return None  # no more than bounds
    places, parts, offsets = places[others], dense[:, others] / -own, b / -own[:, 0]
    size = np.abs(parts).max(axis=1)
    direction = _normalised(parts[int(size.argmax())])
    at = int(np.abs(direction).argmax())
    slopes = parts[:, at] / direction[at]
    residual = np.abs(parts - np.outer(slopes, direction)).max()
    if residual > PARALLEL * size.max():
        return None
    used = direction != 0
    a = places[used], direction[used]
    costs = [(each.cost, each.pieces, factor) for each, factor in outer]
    if cost.any():
        costs.insert(0, (cost, (Piece(1.0, np.zeros(2)),), 1.0))
    units = (1.0 / -own[:, 0]).tolist()
    each_row = list(zip(slopes.tolist(), offsets.T, rows.tolist(), units, strict=True))
    found = []
    for price, outer_pieces, factor in costs:
        pieces = envelope([_composed(piece, factor, *row) for piece in outer_pieces for row in each_row])
        if pieces is None:
            return None
        found.append(Kinked(a, price, pieces))
    return found


def _normalised(direction: Array) -> Array:
    """A direction of one sign, so that what is opposite meets in one item; of one variable, that variable."""
    places = np.flatnonzero(direction)
    leading = direction[places[0]]
    return np.asarray(direction / (leading if places.size == 1 else np.sign(leading)))


def _composed(outer: Piece, factor: float, slope: float, offset: Array, row: int, unit: float) -> Piece:
    """Compose pieces: ``outer(factor * (slope v - offset))``, and what it gives to the rows."""
    scale = outer.slope * factor
    rows = outer.rows
    if scale:
        weight = rows.get(row, 0.0) + scale * unit
        rows = {**rows, row: weight}
    return Piece(scale * slope, scale * offset + outer.offset, rows)


def envelope(pieces: Iterable[Piece]) -> tuple[Piece, ...] | None:
    """The pieces that are the largest somewhere, by slope; None where they are not the same at both ends of the line.

    All comparisons are affine in t, so what holds at both ends holds in between.
    """
    upper: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.slope):
        first, last = piece.offset.tolist()
        room = PARALLEL * (1.0 + max(abs(first), abs(last)))
        if upper and abs(piece.slope - upper[-1].slope) <= PARALLEL * (1.0 + abs(piece.slope)):
            other_first, other_last = upper[-1].offset.tolist()
            if first >= other_first - room and last >= other_last - room:
                continue
            if first > other_first + room or last > other_last + room:
                return None
            upper.pop()
        while len(upper) >= 2:
            hidden = _is_hidden(upper[-1], upper[-2], piece, room)
            if any(hidden) and not all(hidden):
                return None
            if not any(hidden):
                break
            upper.pop()
        upper.append(piece)
    return tuple(upper)


def _is_hidden(middle: Piece, left: Piece, right: Piece, room: float) -> list[bool]:
    """Whether a piece is nowhere above the crossing of its two neighbours, at either end of the line."""
    from_left, to_right = middle.slope - left.slope, right.slope - middle.slope
    hidden = []
    for before, own, after in zip(left.offset.tolist(), middle.offset.tolist(), right.offset.tolist(), strict=True):
        excess = from_left * (after - own) - to_right * (own - before)
        hidden.append(excess <= room)
    return hidden
