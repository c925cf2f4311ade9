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
from itertools import pairwise

import numpy as np

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
    """A cost ``cost(t) * max(pieces)`` of ``v = direction'x``; the pieces by slope, each the largest somewhere."""

    direction: Array
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

    def spread(self, slope: Array, cost: Array, z: Array) -> None:
        """Add to z (k, m) the multipliers of its rows at k points, where the cost has these slopes (k,) in v."""
        pieces = self.pieces
        per_unit = slope / np.where(cost > 0.0, cost, 1.0)
        share = [np.ones_like(slope)]  # of the weight that lies on this piece or beyond
        for left, right in pairwise(pieces):
            share.append(np.clip((per_unit - left.slope) / (right.slope - left.slope), 0.0, 1.0))
        for piece, here, beyond in zip(pieces, share, [*share[1:], np.zeros_like(slope)], strict=True):
            weight = np.maximum(cost, 0.0) * (here - beyond)
            for row, factor in piece.rows.items():
                z[:, row] += weight * factor


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
    kinked: list[Kinked] = []
    eliminated: list[Epigraph] = []
    rows, columns = np.ones(A.shape[0], dtype=np.bool_), np.ones(A.shape[1], dtype=np.bool_)
    may = flat & (q >= 0).all(axis=0) & ~(A[:equations] != 0).any(axis=0)
    found = True
    while found:
        found = False
        for j in np.flatnonzero(columns & may).tolist():
            own = np.flatnonzero(rows & (A[:, j] != 0))
            on = [k for k in kinked if k.direction[j] != 0]
            bounded = own.size and (A[own, j] < 0).all()  # from below only
            new = _taken_out(A[own], q[:, j].copy(), b[:, own], j, own, on) if bounded else None
            if new is None:
                continue
            kinked = [k for k in kinked if k.direction[j] == 0] + new
            eliminated.append(Epigraph(j, own, -A[own, j]))
            columns[j], rows[own], found = False, False, True
    return Epigraphs(tuple(kinked), tuple(eliminated), rows, columns)


def _taken_out(A: Array, cost: Array, b: Array, j: int, rows: Index, on: Iterable[Kinked]) -> list[Kinked] | None:
    """The costs with kinks in the direction of its rows that column j stands for; None where it must stay."""
    on = list(on)
    if any(np.count_nonzero(k.direction) > 1 or k.pieces[0].slope * k.direction[j] < 0 for k in on):
        return None  # with others in one direction, or not increasing in it
    D = A / -A[:, [j]]
    D[:, j] = 0.0
    size = np.abs(D).max(axis=1)
    if not size.any():
        return None  # no more than bounds
    direction = _normalised(D[int(size.argmax())])
    at = int(np.abs(direction).argmax())
    slopes, offsets = D[:, at] / direction[at], b / -A[:, j]
    if np.abs(D - np.outer(slopes, direction)).max() > PARALLEL * size.max():
        return None
    new = [Kinked(direction, cost, (Piece(1.0, np.zeros(2)),))] if cost.any() else []
    new += [Kinked(direction, k.cost, k.pieces) for k in on]
    factors = ([1.0] if cost.any() else []) + [float(k.direction[j]) for k in on]
    made = []
    for each, factor in zip(new, factors, strict=True):
        composed = [
            _composed(piece, factor, float(slopes[k]), offsets[:, k], int(row), 1.0 / -A[k, j])
            for piece in each.pieces
            for k, row in enumerate(rows)
        ]
        pieces = envelope(composed)
        if pieces is None:
            return None
        made.append(Kinked(direction, each.cost, pieces))
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
    upper: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: p.slope):
        room = PARALLEL * (1.0 + float(np.abs(piece.offset).max()))
        if upper and abs(piece.slope - upper[-1].slope) <= PARALLEL * (1.0 + abs(piece.slope)):
            if (piece.offset >= upper[-1].offset - room).all():
                continue
            if not (piece.offset <= upper[-1].offset + room).all():
                return None
            upper.pop()
        while len(upper) >= 2:
            one, two = upper[-2:]
            left, right = two.slope - one.slope, piece.slope - two.slope
            low = left * (piece.offset - two.offset) - right * (two.offset - one.offset) <= room
            if low.all():
                upper.pop()  # below the crossing of its neighbours
            elif low.any():
                return None
            else:
                break
        upper.append(piece)
    return tuple(upper)
