"""Rows of the compiled program that stand behind the two sides of an item of what is left of it.

A side of an item is a row of the program, or several: that which bounds its column, that which was joined to another,
those of a column whose cost became a price. Whoever speaks of an item must know whose they are, and what their slacks
say of the item: whether it has not reached its bound, or lies beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Index, Mask
from paretoclf.engine.reduction.reduced import WayBack
from paretoclf.engine.reduction.rules.bounds import LOWER, UPPER, RowsToBounds
from paretoclf.engine.reduction.rules.kinks import KinksToBounds, flattest_pieces
from paretoclf.engine.reduction.rules.parallel import JoinRows
from paretoclf.engine.reduction.rules.slacks import DropSlacks
from paretoclf.engine.reduction.rules.stage import ends_of

#: Sides of an item.
BELOW_IT, ABOVE_IT = 0, 1


@dataclass(frozen=True)
class RowsBehind:
    """Pieces that make sides of items, and the rows of each.

    A piece of a cost with kinks is tight where it is the largest, which its rows show together; a hard bound is a piece
    of one row. Where all pieces on one side of a bound have room, the item is on the other side.

    Attributes
    ----------
    items : int
        How many items there are.
    sides, owners, pieces : int arrays
        The side that a piece has a part in (0 the lower one, 1 the upper), the item whose it is, and the piece.
    beyond : bool array
        Whether the item lies beyond that side where such pieces have room; else it has not reached it there.
    begin, rows : int arrays
        The rows of piece k are ``rows[begin[k]:begin[k + 1]]``.
    """

    items: int
    sides: Index
    owners: Index
    pieces: Index
    beyond: Mask
    begin: Index
    rows: Index

    @classmethod
    def of(cls, way: WayBack) -> RowsBehind:
        """Find them for the items that a way back starts from.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.engine.reduction.behind import RowsBehind
        >>> from paretoclf.engine.reduction.of_arrays import line_of
        >>> from paretoclf.engine.reduction.presolve import reduce
        >>> from paretoclf.problem.qp import QP
        >>> line = line_of(QP(None, [1.0], [[2.0]], [3.0], [4.0]), {}, {})
        >>> RowsBehind.of(reduce(line)).others(np.array([True, False])).tolist()
        [[True], [False]]
        """
        found = _FoundSides(way)
        sizes = [pieces.size for _, _, _, pieces in found.parts]
        sides = np.repeat([side for side, _, _, _ in found.parts], sizes)
        beyond = np.repeat([is_beyond for _, is_beyond, _, _ in found.parts], sizes)
        numbers = np.concatenate([numbers for _, _, numbers, _ in found.parts])
        pieces = np.concatenate([pieces for _, _, _, pieces in found.parts])
        own = np.concatenate([way.columns, way.program.n + way.rows])
        item = np.full(max(int(own.max(initial=-1)), int(numbers.max(initial=-1))) + 1, -1)
        item[own] = np.arange(own.size)
        whole = cls(own.size, sides, item[numbers], pieces, beyond, ends_of(found.counts), np.concatenate(found.rows))
        return whole._selected(whole.owners >= 0)

    def others(self, some: Mask) -> Mask:
        """Sides that other rows than some have a part in, shape (2, items): no side that no row makes is among them."""
        found = np.zeros((2, self.items), dtype=np.bool_)
        other = self._any(~some[self.rows])[self.pieces]
        found[self.sides[other], self.owners[other]] = True
        return found

    def only(self, which: Mask) -> RowsBehind:
        """Select what makes some of the sides, given as a mask of shape (2, items)."""
        return self._selected(which[self.sides, self.owners])

    def _selected(self, some: Mask) -> RowsBehind:
        """Select some of the parts that pieces have in sides."""
        sides, owners = self.sides[some], self.owners[some]
        return replace(self, sides=sides, owners=owners, pieces=self.pieces[some], beyond=self.beyond[some])

    @property
    def used(self) -> Index:
        """Rows of the pieces that have a part in a side."""
        counts = np.diff(self.begin)
        of_pieces = np.zeros(counts.size, dtype=np.bool_)
        of_pieces[self.pieces] = True
        return np.unique(self.rows[np.repeat(of_pieces, counts)])

    def states(self, items: Index, room: Mask) -> tuple[Mask, Mask]:
        """Whether items lie beyond their sides, and whether they are at them, shape (2, items, points) both.

        Parameters
        ----------
        items : int array
            Increasing: all that have a side here.
        room : bool array of shape (rows of the program, points)
            Whether each row has a slack; of rows that make no side it is not asked.
        """
        of_pieces = self._any(room[self.rows])
        made = np.zeros((2, 2, items.size, 1), dtype=np.bool_)
        places = np.searchsorted(items, self.owners)
        made[self.beyond.astype(int), self.sides, places] = True
        all_have_room = np.repeat(made, room.shape[1], axis=3)
        for kind, side, place, piece in zip(self.beyond.astype(int), self.sides, places, self.pieces, strict=True):
            all_have_room[kind, side, place] &= of_pieces[piece]
        inside, lies_beyond = all_have_room
        return lies_beyond, made.any(axis=0) & ~lies_beyond & ~inside

    def _any(self, of_rows: Mask) -> Mask:
        """Whether something holds for any row of each piece."""
        found = np.zeros((self.begin.size - 1, *of_rows.shape[1:]), dtype=np.bool_)
        some = np.flatnonzero(np.diff(self.begin))
        if some.size:
            found[some] = np.logical_or.reduceat(of_rows, self.begin[some], axis=0)
        return found


class _FoundSides:
    """Pieces as they are found: of each part a side, whether they lie beyond it, numbers of owners, and the pieces.

    Attributes
    ----------
    parts : list of tuples
        Owners are columns, or rows behind all columns.
    counts, rows : lists
        How many rows each piece has, and arrays of these.
    """

    def __init__(self, way: WayBack) -> None:
        self.parts: list[tuple[int, bool, Index, Index]] = []
        self.counts: list[int] = []
        self.rows: list[Index] = []
        line = way.program
        n, lower_bounds = line.n, np.full(line.n, -1)
        inequality = (way.rows >= line.equations) & (way.rows < line.m)
        own = way.rows[inequality]
        self._add_rows(ABOVE_IT, False, n + own, own)
        for rule in way.chain.rules:
            if isinstance(rule, RowsToBounds):
                low, up = rule.sides == LOWER, rule.sides == UPPER
                lower_bounds[rule.columns[low]] = rule.rows[low]
                self._add_rows(BELOW_IT, False, rule.columns[low], rule.rows[low])
                self._add_rows(ABOVE_IT, False, rule.columns[up], rule.rows[up])
            elif isinstance(rule, DropSlacks):
                # Where the slack is more than its bound, the equation without it is missed on one side.
                bounds = lower_bounds[rule.columns]
                for side, of_side in ((BELOW_IT, rule.factors > 0), (ABOVE_IT, rule.factors < 0)):
                    self._add_rows(side, True, n + rule.rows[of_side], bounds[of_side])
            elif isinstance(rule, JoinRows):
                self._add_rows(BELOW_IT, False, n + rule.first, rule.rows)
            elif isinstance(rule, KinksToBounds):
                self._add_kinks(rule, n)

    def _add_rows(self, side: int, beyond: bool, numbers: Index, rows: Index) -> None:
        """Add pieces of one row each."""
        pieces = len(self.counts) + np.arange(rows.size)
        self.parts.append((side, beyond, numbers, pieces))
        self.counts += [1] * rows.size
        self.rows.append(rows)

    def _add_kinks(self, rule: KinksToBounds, n: int) -> None:
        """Add the pieces of costs with kinks, and the soft sides of their carriers from the flattest piece outwards."""
        kinks, weights = rule.kinks, rule.kinks.weights.tocsr()
        before = len(self.counts)
        self.counts += np.diff(weights.indptr).tolist()
        self.rows.append(weights.indices.astype(np.int64))
        middle, number = flattest_pieces(kinks), 0
        for carrier, cost in enumerate(rule.owner.tolist()):
            first, stop = kinks.begin[cost : cost + 2].tolist()
            number = number + 1 if carrier and rule.owner[carrier - 1] == cost else 0
            owner = rule.carrier[carrier] + n * rule.on_row[carrier]
            lower, upper = middle[cost] - number, middle[cost] + 1 + number
            if rule.lower[carrier] and rule.upper[carrier] and stop - first == 2:  # one kink, which is both bounds
                lower = upper = first + 1
            for has_side, side, kink in ((rule.lower, BELOW_IT, lower), (rule.upper, ABOVE_IT, upper)):
                if has_side[carrier]:
                    left, right = np.split(before + np.arange(first, stop), [kink - first])
                    inner, outer = (right, left) if side == BELOW_IT else (left, right)
                    for pieces, beyond in ((inner, True), (outer, False)):
                        self.parts.append((side, beyond, np.full(pieces.size, owner), pieces))
