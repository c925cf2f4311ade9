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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index, Mask
from paretoclf.tolerances import PARALLEL


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


def epigraphs(flat: Mask, A: Array, q: Array, b: Array, equations: int) -> Epigraphs:
    """Find all epigraph variables, nested ones from the outside in.

    Parameters
    ----------
    flat : array of shape (n,)
        Columns that have no part in P.
    A, q, b, equations
        The program: see `paretoclf.reduction.program`.
    """
    kinked: dict[int, Kinked] = {}
    on: dict[int, dict[int, float]] = {}  # by column: the costs with it in their direction, and its factor there
    eliminated: list[Epigraph] = []
    rows, columns = np.ones(A.shape[0], dtype=np.bool_), np.ones(A.shape[1], dtype=np.bool_)
    entries, number, found = sp.csc_array(A), count(), True
    may = np.flatnonzero(flat & (q >= 0).all(axis=0) & ~(A[:equations] != 0).any(axis=0)).tolist()
    while found:
        found = False
        for j in may:
            own = entries.indices[entries.indptr[j] : entries.indptr[j + 1]]
            own = own[rows[own]]
            if not columns[j] or not own.size or (A[own, j] > 0).any():  # bounded from below only
                continue
            carried = [(kinked[k], factor) for k, factor in on.get(j, {}).items()]
            new = _taken_out(A[own], q[:, j].copy(), b[:, own], j, own, carried)
            if new is None:
                continue
            for k in on.pop(j, {}):  # of no other column
                del kinked[k]
            for k, each in zip(number, new, strict=False):
                kinked[k] = each
                for place, factor in zip(*(part.tolist() for part in each.a), strict=True):
                    on.setdefault(place, {})[k] = factor
            eliminated.append(Epigraph(j, own, -A[own, j]))
            columns[j], rows[own], found = False, False, True
    return Epigraphs(tuple(kinked.values()), tuple(eliminated), rows, columns)


def _taken_out(
    A: Array, cost: Array, b: Array, j: int, rows: Index, on: list[tuple[Kinked, float]]
) -> list[Kinked] | None:
    """The costs with kinks in the direction of its rows that column j stands for; None where it must stay."""
    if any(k.a[0].size > 1 or k.pieces[0].slope * factor < 0 for k, factor in on):
        return None  # with others in one direction, or not increasing in it
    places = np.flatnonzero(A.any(axis=0))
    places = places[places != j]
    D, offsets = A[:, places] / -A[:, [j]], b / -A[:, j]
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
    made, each_row = [], list(zip(slopes.tolist(), offsets.T, rows.tolist(), (1.0 / -A[:, j]).tolist(), strict=True))
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
