r"""Epigraph variables: what CVXPY makes of a maximum, an absolute value, a hinge.

A variable :math:`\tau` that costs :math:`c(t)\ge0`, has no part in P, and stands only in inequalities

.. math::

   \alpha_k\tau\ge a_k^\top x-b_k(t),\qquad \alpha_k>0,\quad a_k/\alpha_k=s_k\,a

of one direction a, is at an optimum the largest of its lower bounds (and may be where c = 0): it stands for the cost
:math:`c(t)\max_k(s_ka^\top x-\beta_k(t))`, :math:`\beta_k=b_k/\alpha_k`, a convex function with kinks of the one
number :math:`v=a^\top x`. Such a :math:`\tau` may itself be the direction of another one (``pos(abs(r) - eps)``): what
it costs is then c times a maximum of multiples of it, and the pieces are composed.

A *piece* remembers what a unit of weight on it gives to the multipliers of its rows. Wherever the slope of the cost in
v is known, at most two neighbouring pieces carry it, and with them all multipliers are known, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import PARALLEL


@dataclass(frozen=True)
class Piece:
    """``slope * v - offset(t)``, and what a unit of weight on it gives to the multipliers of the compiled rows."""

    slope: float
    offset: Array
    rows: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kinked:
    """A cost ``cost(t) * max(pieces)`` of ``v = a'x``; the pieces by slope, each the largest somewhere.

    Attributes
    ----------
    a : pair of arrays
        Where a has entries, and these.
    """

    a: tuple[Index, Array]
    cost: Array
    pieces: tuple[Piece, ...]

    @property
    def kinks(self) -> list[Array]:
        """Where v passes from each piece to the next, at both ends of the line."""
        return [(right.offset - left.offset) / (right.slope - left.slope) for left, right in pairwise(self.pieces)]

    @property
    def jumps(self) -> list[Array]:
        """By how much the slope of the cost grows there."""
        return [self.cost * (b.slope - a.slope) for a, b in pairwise(self.pieces)]


@dataclass(frozen=True)
class Epigraph:
    """A variable that was eliminated, its rows, and minus its coefficients in them."""

    column: int
    rows: Index
    factors: Array


@dataclass(frozen=True)
class Epigraphs:
    """What was found: costs with kinks, the eliminated variables in that order, and which rows and columns are left."""

    kinked: tuple[Kinked, ...]
    eliminated: tuple[Epigraph, ...]
    rows: Mask
    columns: Mask


def epigraphs(flat: Mask, A: tuple[Any, Any], q: Array, b: Array, equations: int) -> Epigraphs:
    """Find all epigraph variables, nested ones from the outside in.

    Parameters
    ----------
    flat : array of shape (n,)
        Columns that have no part in P.
    A : pair of sparse arrays
        By columns, and by rows.
    q, b, equations
        The program: see `paretoclf.engine.reduction.program`.
    """
    kinked: dict[int, Kinked] = {}
    on: dict[int, dict[int, float]] = {}  # by column: the costs with it in their direction, and its factor there
    eliminated: list[Epigraph] = []
    (entries, by_rows), number = A, count()
    rows, columns = (np.ones(size, dtype=np.bool_) for size in by_rows.shape)
    cheap = flat & (q >= 0).all(axis=0)
    cheap[by_rows.indices[: by_rows.indptr[equations]]] = False

    def keep(j: int, own: Index, factors: Array, new: Iterable[Kinked]) -> None:
        for k, each in zip(number, new, strict=False):
            kinked[k] = each
            if (nested := cheap[each.a[0]]).any():
                for place, factor in zip(*(part[nested].tolist() for part in each.a), strict=True):
                    on.setdefault(place, {})[k] = factor
        eliminated.append(Epigraph(j, own, factors))
        columns[j], rows[own] = False, False

    for found in _of_two_rows(cheap, entries, by_rows, q, b):
        keep(*found)
    may, more = np.flatnonzero(cheap & columns).tolist(), True
    while more:
        more = False
        for j in may:
            part = slice(entries.indptr[j], entries.indptr[j + 1])
            kept = rows[entries.indices[part]]
            own, factors = entries.indices[part][kept], -entries.data[part][kept]
            if not columns[j] or not own.size or (factors < 0).any():  # bounded from below only
                continue
            carried = [(kinked[k], factor) for k, factor in on.get(j, {}).items()]
            new = _taken_out(_array(by_rows, own), q[:, j].copy(), b[:, own], j, own, carried)
            if new is None:
                continue
            for k in on.pop(j, {}):  # of no other column
                del kinked[k]
            keep(j, own, factors, new)
            more = True
    return Epigraphs(tuple(kinked.values()), tuple(eliminated), rows, columns)


def _of_two_rows(
    cheap: Mask, entries: Any, by_rows: Any, q: Array, b: Array
) -> Iterator[tuple[int, Index, Array, list[Kinked]]]:
    """The most common ones, all at once: of two rows of different slopes, in which no other column may be one."""
    bounded = cheap.copy()  # from below only: others may become ones when rows are gone
    bounded[by_rows.indices[by_rows.data > 0]] = False
    candidates = np.where(bounded[by_rows.indices], 1, 0)
    crowded = np.add.reduceat(np.append(candidates, 0), by_rows.indptr[:-1]) > 1
    crowded[np.diff(by_rows.indptr) == 0] = False
    pairs = np.flatnonzero(bounded & (np.diff(entries.indptr) == 2))
    at = entries.indptr[pairs][:, None] + [0, 1]
    own, unit = entries.indices[at], entries.data[at]
    good = (unit < 0).all(axis=1) & ~crowded[own].any(axis=1)
    pairs, own, unit = pairs[good], own[good], -unit[good]
    size = np.diff(by_rows.indptr)[own] - 1
    good = (size.max(axis=1) > 0) & ((size[:, 0] == size[:, 1]) | (size.min(axis=1) == 0))
    for length in np.unique(size[good].max(axis=1)).tolist() if good.any() else ():
        which = np.flatnonzero(good & (size.max(axis=1) == length))
        j, rows, factors = pairs[which], own[which], unit[which]
        places, D = np.zeros((2, len(j), length), dtype=int), np.zeros((2, len(j), length))
        for side in range(2):
            filled = np.flatnonzero(size[which, side])
            at = by_rows.indptr[rows[filled, side]][:, None] + np.arange(length + 1)
            others = by_rows.indices[at] != j[filled, None]
            places[side, filled] = by_rows.indices[at][others].reshape(-1, length)
            D[side, filled] = by_rows.data[at][others].reshape(-1, length) / factors[filled, side, None]
        largest = np.abs(D).max(axis=2)
        first, each = np.where(largest[0] >= largest[1], 0, 1), np.arange(len(j))
        direction, there = D[first, each], places[first, each]
        direction = direction / (direction[:, :1] if length == 1 else np.sign(direction[:, :1]))
        top = np.abs(direction).argmax(axis=1)
        slopes = D[:, each, top] / direction[each, top]
        same = ((places[0] == places[1]) | (size[which] == 0).any(axis=1)[:, None]).all(axis=1)
        same &= np.abs(D - slopes[:, :, None] * direction).max(axis=(0, 2)) <= PARALLEL * largest.max(axis=0)
        same &= np.abs(slopes[0] - slopes[1]) > 2.0 * PARALLEL * (1.0 + np.abs(slopes).max(axis=0))
        same &= q[:, j].any(axis=0)
        offsets, costs = np.ascontiguousarray((b[:, rows] / factors).transpose(1, 2, 0)), q[:, j].T.copy()
        order, each_slope, numbers = np.argsort(slopes, axis=0).T.tolist(), slopes.T.tolist(), rows.tolist()
        units = (1.0 / factors).tolist()
        for k in np.flatnonzero(same).tolist():
            of = zip(each_slope[k], offsets[k], numbers[k], units[k], strict=True)
            sides = [Piece(slope, offset, {row: unit}) for slope, offset, row, unit in of]
            pieces = tuple(sides[side] for side in order[k])
            yield int(j[k]), rows[k], factors[k], [Kinked((there[k], direction[k]), costs[k], pieces)]


def _array(by_rows: Any, rows: Index) -> tuple[Index, Array]:
    """The columns that have entries in some rows, and these as an array."""
    begin, end = by_rows.indptr[rows], by_rows.indptr[rows + 1]
    at = np.concatenate([np.arange(*ends) for ends in zip(begin.tolist(), end.tolist(), strict=True)])
    places, where = np.unique(by_rows.indices[at], return_inverse=True)
    A = np.zeros((rows.size, places.size))
    A[np.repeat(np.arange(rows.size), end - begin), where] = by_rows.data[at]
    return places, A


def _taken_out(
    rows_of: tuple[Index, Array], cost: Array, b: Array, j: int, rows: Index, on: list[tuple[Kinked, float]]
) -> list[Kinked] | None:
    """The costs with kinks in the direction of its rows that column j stands for; None where it must stay."""
    if any(k.a[0].size > 1 or k.pieces[0].slope * factor < 0 for k, factor in on):
        return None  # with others in one direction, or not increasing in it
    places, A = rows_of
    own, others = A[:, places == j], places != j
    places, D, offsets = places[others], A[:, others] / -own, b / -own[:, 0]
    if not places.size:
        return None  # no more than bounds
    size = np.abs(D).max(axis=1)
    direction = _normalised(D[int(size.argmax())])
    at = int(np.abs(direction).argmax())
    slopes = D[:, at] / direction[at]
    if np.abs(D - np.outer(slopes, direction)).max() > PARALLEL * size.max():
        return None
    used = direction != 0
    a = places[used], direction[used]
    new = [(Kinked(a, cost, (Piece(1.0, np.zeros(2)),)), 1.0)] if cost.any() else []
    new += [(Kinked(a, k.cost, k.pieces), factor) for k, factor in on]
    made, each_row = [], list(zip(slopes.tolist(), offsets.T, rows.tolist(), (1.0 / -own[:, 0]).tolist(), strict=True))
    for each, factor in new:
        pieces = envelope([_composed(piece, factor, *row) for piece in each.pieces for row in each_row])
        if pieces is None:
            return None
        made.append(Kinked(a, each.cost, pieces))
    return made


def _normalised(a: Array) -> Array:
    """A direction of one sign, so that what is opposite meets in one item; of one variable, that variable."""
    places = np.flatnonzero(a)
    return np.asarray(a / (a[places[0]] if places.size == 1 else np.sign(a[places[0]])))


def _composed(outer: Piece, factor: float, slope: float, offset: Array, row: int, unit: float) -> Piece:
    """``outer(factor * (slope v - offset))``."""
    s = outer.slope * factor
    rows = {**outer.rows, row: outer.rows.get(row, 0.0) + s * unit} if s else outer.rows
    return Piece(s * slope, s * offset + outer.offset, rows)


def envelope(pieces: Iterable[Piece]) -> tuple[Piece, ...] | None:
    """The pieces that are the largest somewhere, by slope; None where they are not the same at both ends of the line.

    All comparisons are affine in t, so what holds at both ends holds in between.
    """
    upper: list[tuple[Piece, float, float]] = []
    for piece in sorted(pieces, key=lambda p: p.slope):
        first, last = piece.offset.tolist()
        room = PARALLEL * (1.0 + max(abs(first), abs(last)))
        if upper and abs(piece.slope - upper[-1][0].slope) <= PARALLEL * (1.0 + abs(piece.slope)):
            _, a, b = upper[-1]
            if first >= a - room and last >= b - room:
                continue
            if not (first <= a + room and last <= b + room):
                return None
            upper.pop()
        while len(upper) >= 2:
            (one, *before), (two, *between) = upper[-2:]
            left, right = two.slope - one.slope, piece.slope - two.slope
            ends = zip((first, last), before, between, strict=True)
            low = [left * (c - b) - right * (b - a) <= room for c, a, b in ends]
            if all(low):
                upper.pop()  # below the crossing of its neighbours
            elif any(low):
                return None
            else:
                break
        upper.append((piece, first, last))
    return tuple(piece for piece, _, _ in upper)
