r"""The proof of a line of a program with rows: every t, by two points a segment.

It is the case of `paretoclf.proof.theorem` in which all bounds are rows :math:`Ax\le b`, hard, and u = x. On a segment
x and z are affine in t, as are q and b. Feasibility, signs and stationarity :math:`Px+q+A^\top z=0` are then largest at
an end; the products :math:`(b-Ax)_iz_i`, whose sum is the duality gap, are quadratic and nowhere above the largest of
their Bernstein coefficients. That P is positive semidefinite is proved apart.

Residuals are ``"rows"``: equations and inequalities, each against its own terms on the segment: its right hand side,
and its coefficients times the columns; ``"stationarity"``: each entry of the gradient, likewise; ``"signs"``: what each
multiplier that is negative adds to a gradient, against the terms of that; ``"slackness"``: of each inequality the
smaller of its slack, against the terms of the row, and its multiplier, as for signs (where the slack is below
``RESIDUAL_ROUNDING``, the slack); ``"curvature"``: 1 where P, with what the line says that it lacks, is not proved
positive semidefinite (`paretoclf.proof.convexity`; what that may cost is part of the gap). No unit is less than
``OWN_TERMS`` (for slacks and multipliers ``OWN_SIZE``) of what it would be if all columns, or multipliers, were as
large as the largest on the segment that equations or P connect with it: of that much doubles know nothing.

To the gap is added what is wrong with signs and with the gradient, as far as it moves the value at the points: a
multiplier of the wrong sign times the terms of its row, a missed entry of the gradient times its column. No price of
another column makes little of these.

The gap is relative to the optimal value at each end of the segment, by the chord of the two (`paretoclf.proof.scale`):
to no less than a thousandth of the largest term that this is a sum of there, and to no less than
``PRODUCT_ROUNDING / CERTIFY`` of the terms of x'Px, and of what multipliers times those of their rows can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import CERTIFY, POINT, PRODUCT_ROUNDING, RESIDUAL_ROUNDING
from paretoclf.engine.reduction.products import blocks, turned
from paretoclf.engine.reduction.program import AnyPoints, ProgramLine, between, side_at
from paretoclf.problem.parametric_qp import shortest_stretch
from paretoclf.proof import bernstein
from paretoclf.proof.convexity import lost, semidefinite
from paretoclf.proof.line import LineProof
from paretoclf.proof.row_units import Sizes, Units
from paretoclf.proof.scale import sizes_of

_TINY = float(np.finfo(float).tiny)

_CLEAR = 0.01

#: What an explanation says of whatever is compiled.
JUDGED = "What is judged is the compiled program."
#: What residuals are of.
CONDITIONS = ("rows", "stationarity", "signs", "slackness")


def prove_program(
    line: ProgramLine, t: Array, points: AnyPoints, parameter: str = "t", prices: Array | None = None
) -> LineProof:
    """Prove points, between which k segments lie, at t (k + 1,).

    ``prices`` (2, m) are what a unit costs by which a row is exceeded, infinite where it is hard; by default all are.
    """
    residuals, gaps, sizes, duals = bounds_of(line, t, points, prices)
    residuals["curvature"] = np.full(len(gaps), 0.0 if semidefinite(line) else 1.0)
    cost = lost(line)
    bounds = gaps + cost, sizes, np.zeros_like(gaps), duals - cost
    return LineProof.of(bernstein.pairs(t), bounds, residuals, parameter=parameter)


def bounds_of(
    line: ProgramLine, t: Array, points: AnyPoints, prices: Array | None = None
) -> tuple[dict[str, Array], Array, Array, Array]:
    """Residuals (k,) by their names; gaps, sizes, and lower bounds of the value, each (k, 3)."""
    at = np.zeros(len(points))
    at[points.begin], at[points.begin + 1] = t[:-1], t[1:]
    sizes, parts = Sizes(line), []
    known = line, sizes, prices
    for part in blocks(len(points) - 1, line.n + line.m):
        own = slice(part.start, part.stop + 1)
        parts.append(_segments(known, at[own], *points.part(own)))
    # Of two points at a jump there is no segment.
    found: Any = [np.concatenate(each)[points.begin] for each in zip(*parts, strict=True)]
    for j in np.flatnonzero(np.diff(t) <= min(shortest_stretch(line.q, line.b), POINT)).tolist():
        # A stretch of no length is two points, each judged by itself.
        twice = (np.repeat(each, 2, axis=0) for each in (at[points.begin[j] + np.arange(2)], *points.segment(j)))
        apart, *bounds = (each[::2] for each in _segments(known, *twice))
        found[0][j] = apart.max(axis=0)
        for mine, (first, last) in zip(found[1:], bounds, strict=True):
            mine[j] = first[0], 0.5 * (first[0] + last[2]), last[2]
    residuals, gaps, sized, duals = found
    return dict(zip(CONDITIONS, residuals.T, strict=True)), gaps, sized, duals


def _segments(
    known: tuple[ProgramLine, Sizes, Array | None], t: Array, X: Array, Z: Array
) -> tuple[Array, Array, Array, Array]:
    """The same, residuals (k, 4), between each two of k + 1 points that follow each other."""
    line, sizes, prices = known
    seen = judged(
        line, sizes, _data(line, t), X, Z, _Neighbours(), None if prices is None else side_at(prices, t[:, None])
    )
    # A product of what is affine is by that of the two changes below its chord.
    bend = _dots(*(np.diff(each, axis=0) for each in (seen.curved, seen.squares)))
    moves: list[tuple[Array, Array]] = [(X, line.q[1] - line.q[0])]
    if prices is not None and seen.beyond is not None:
        soft = np.isfinite(prices[0])
        moves.append((seen.beyond, prices[1, soft] - prices[0, soft]))
    for each, change in moves:
        if change.any():
            bend += np.diff(t) * np.diff(each @ change)
    values = bernstein.line(bernstein.pairs(seen.values))
    values[:, 1] -= 0.5 * bend
    return seen.residuals.T, seen.gaps, seen.sizes, values - seen.gaps


class _Neighbours:
    """Each two points that follow each other."""

    def most(self, values: Array) -> Array:
        """The larger value of the two."""
        return np.maximum(values[:-1], values[1:])

    def least(self, values: Array) -> Array:
        """The smaller one."""
        return np.minimum(values[:-1], values[1:])

    def products(self, off: Array, prices: Array) -> Array:
        """Bernstein coefficients of what is affine between the two, times the same."""
        begin, end, own = slice(0, -1), slice(1, None), _dots(off, prices)
        middle = _dots(off[begin], prices[end]) + _dots(off[end], prices[begin])
        return bernstein.columns(own[begin], 0.5 * middle, own[end])

    def means(self, values: Array) -> Array:
        """Bernstein coefficients of the chord: a segment is judged at each end by that end's."""
        return bernstein.line(bernstein.pairs(values))

    def spread(self, values: Array) -> Array:
        """Numbers of segments, beside each coefficient."""
        return values[:, None]


class PartBounds(NamedTuple):
    """What is known of k parts of a program.

    Attributes
    ----------
    residuals : array of shape (4, k)
        Those of `CONDITIONS`.
    gaps : array of shape (k, c)
        Coefficients of the sum of products, and of what is wrong with signs and with the gradient.
    sizes : array of shape (k, c)
        What they are relative to.
    values : array of shape (points,)
        The objective.
    curved, squares, beyond : arrays with a row for each point
        Columns that P has entries of, half of P times these, and what soft rows are exceeded by.
    """

    residuals: Array
    gaps: Array
    sizes: Array
    values: Array
    curved: Array
    squares: Array
    beyond: Array | None


@dataclass(frozen=True)
class _Left:
    """What points of a program leave: slacks, multipliers, their sizes, those of columns and of the gradient.

    Soft rows stand there twice: with what is left up to their bound, and their multiplier, and, behind all rows, with
    what they are exceeded by, and what is left of their price. ``row`` says which row each is.
    """

    line: ProgramLine
    row: Index
    slack: Array
    off: Array
    Z: Array
    prices: Array
    columns: Array
    gradient: Array
    data: tuple[Array, Array]

    def on_each(self, sizes: Sizes, of: Any) -> tuple[Array, Array]:
        """Residuals (4, k) of each part, in units of its own, and the rounding of its value (k,)."""
        e, m = self.line.equations, self.line.m
        room, largest, missed, least = of.most(self.off), of.most(self.prices), of.most(self.gradient), of.least(self.Z)
        q, b = (_largest(each, of) for each in self.data)
        units = Units.of(sizes, q, b, of.most(self.columns), largest[:, :m], none=1.0)
        beyond = np.hstack([room[:, :e], -of.least(self.slack[:, e:])])
        violated, stationarity = (
            (left / unit).max(axis=1, initial=0.0) for left, unit in ((beyond, units.rows), (missed, units.gradient))
        )
        share = units.slacks[:, self.row] * room
        inequality = np.arange(self.off.shape[1]) >= e
        asked = (least < 0.0) | ((share > RESIDUAL_ROUNDING) & (largest > 0.0))
        price = units.prices(inequality & asked, self.row)
        signs = -(price * least)[:, e:].min(axis=1, initial=0.0)
        both = _smaller(share, price, largest)[:, e:].max(axis=1, initial=0.0)
        rounding = np.einsum("ij,ij->i", largest[:, :m], units.largest) + units.squares
        return np.stack([violated, stationarity, signs, both]) + 0.0, rounding  # no -0.0

    def on_all(self, sizes: Sizes, of: Any) -> tuple[Array, Array]:
        """Bounds of the same where no row is soft: the largest that is left at any point, in the least units."""
        e, m = self.line.equations, self.line.m
        few = (_sizes(each).min(axis=0, keepdims=True) for each in self.data)
        least = (each.min(axis=0, keepdims=True) for each in (self.columns, self.prices))
        units = Units.of(sizes, *few, *least, none=_TINY)
        room, largest = (each.max(axis=0, initial=0.0, keepdims=True) for each in (self.off, self.prices))
        beyond = np.hstack([room[:, :e], -self.slack[:, e:].min(axis=0, keepdims=True)])
        left = [(beyond, units.rows), (self.gradient.max(axis=0, keepdims=True), units.gradient)]
        found = [(most / unit).max(initial=0.0) for most, unit in left]
        negative = self.Z.min(axis=0, keepdims=True)
        share, inequality = units.slacks * room, np.arange(m) >= e
        meeting = inequality & (share > 0.0) & (largest > 0.0)
        price = units.prices(inequality & ((negative < 0.0) | (meeting & (share > RESIDUAL_ROUNDING))))
        found.append(-(price * negative)[:, e:].min(initial=0.0))
        some = np.flatnonzero(meeting)
        own = units.slacks[:, some] * of.most(self.off[:, some])
        both = _smaller(own, price[:, some], of.most(self.prices[:, some])).max(axis=1, initial=0.0)
        rounding = self.prices.min(axis=0) @ units.largest[0] + units.squares
        return np.stack([*(np.full(both.size, each) for each in found), both]) + 0.0, rounding

    def worth(self, sizes: Sizes, of: Any) -> Array:
        """Coefficients of what wrong signs and what is missed of the gradient are worth at the points.

        However small they are beside the price of something else, this is what they do to the value: each multiplier of
        the wrong sign times the terms of its row, each entry of the gradient times its column.
        """
        found = of.products(self.gradient, self.columns)
        wrong = np.maximum(-self.Z[:, self.line.equations :], 0.0)
        some = np.flatnonzero(wrong.any(axis=0))
        if some.size:
            row = self.row[self.line.equations + some]
            products, sides = sizes.A(self.columns), _sizes(self.data[1])
            terms = products[:, row] + sides[:, row]
            found = found + of.products(terms, wrong[:, some])
        return np.asarray(found)


def _smaller(share: Array, price: Array, largest: Array) -> Array:
    """The smaller of a slack and its multiplier, as shares; the slack, where nobody asked for the other."""
    return np.where((price > 0.0) | (largest == 0.0), np.minimum(share, price * largest), share)


def judged(
    line: ProgramLine, sizes: Sizes, data: Sequence[Array], X: Array, Z: Array, of: Any, prices: Array | None = None
) -> PartBounds:
    """What is known of points, and of their q, b, constant, and of the prices of their rows.

    ``of`` says which points belong together, to each of k parts. Where the least units of all parts explain all that is
    left, as nearly always, no part is asked for its own (but if rows may be soft): the bound is wider then, and no more
    than a hundredth of ``CERTIFY``.
    """
    (_, A, transposed), (q, b, constant), curved = sizes.plain, data, sizes.curved
    x, z = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    Px, gradient = sizes.curvature @ x, transposed @ z
    gradient[curved] += Px
    gradient += q.T
    slack, missed = A @ x, turned(np.abs(gradient, out=gradient))
    slack = turned(np.subtract(b.T, slack, out=slack))
    row, off, multipliers, beyond, paid = np.arange(line.m), np.abs(slack), np.abs(Z), None, np.zeros(1)
    own = x[curved].T, 0.5 * Px.T
    if prices is not None:
        soft = np.flatnonzero(np.isfinite(prices[0]))
        row, price, beyond = np.append(row, soft), prices[:, soft], np.maximum(-slack[:, soft], 0.0)
        slack[:, soft] += beyond
        off, Z = np.hstack([np.abs(slack), beyond]), np.hstack([Z, price - Z[:, soft]])
        multipliers = np.where(np.arange(Z.shape[1]) < line.equations, np.abs(Z), np.maximum(Z, 0.0))
        paid = _dots(beyond, price)
    left = _Left(line, row, slack, off, Z, multipliers, np.abs(X), missed, (q, b))
    value = _dots(X, q) + _dots(*own) + constant + paid
    linear = _largest_term(left.columns, _sizes(q))
    squares = _largest_term(left.columns[:, curved], np.abs(own[1]))
    of_columns, others = np.maximum(linear, squares), np.maximum(np.abs(constant), paid)
    most = np.maximum(of_columns, others)
    gaps = of.products(left.off, left.prices) + left.worth(sizes, of)
    size = of.means(sizes_of(value, most))
    known = value, *own, beyond
    if size.size > 1 and prices is None:
        with np.errstate(over="ignore", invalid="ignore"):  # where there is no size
            residuals, rounding = left.on_all(sizes, of)
            least = _no_less(size, rounding)
            if (residuals <= _CLEAR * CERTIFY).all() and (gaps <= _CLEAR * CERTIFY * least).all():
                return PartBounds(residuals, gaps, least, *known)
    residuals, rounding = left.on_each(sizes, of)
    return PartBounds(residuals, gaps, _no_less(size, of.spread(rounding)), *known)


def _largest_term(columns: Array, prices: Array) -> Array:
    """The largest product of a column and its price at each point; 0 where there are none."""
    return np.asarray((columns * prices).max(axis=1, initial=0.0))


def _no_less(size: Array, rounding: Array) -> Array:
    """The sizes of values, and no less than what of those is rounding."""
    return np.asarray(np.maximum(np.maximum(size, PRODUCT_ROUNDING / CERTIFY * rounding), _TINY))


def _dots(X: Array, data: Array) -> Array:
    """Points times data there."""
    return np.asarray(X @ data[0] if data.strides[0] == 0 or len(data) < len(X) else np.einsum("ij,ij->i", X, data))


def _sizes(data: Array) -> Array:
    """The sizes of data at points; one row where they stand still."""
    return np.abs(data[:1] if data.strides[0] == 0 else data)


def _largest(data: Array, of: Any) -> Array:
    """The largest of them at the points of each part; one row where they stand still."""
    return _sizes(data) if data.strides[0] == 0 else np.asarray(of.most(_sizes(data)))


def _data(line: ProgramLine, t: Array) -> tuple[Array, Array, Array]:
    """The vectors q and b at points of a line, and the constant."""
    q, b = (np.broadcast_to(_at(ends, t), (t.size, ends.shape[1])) for ends in (line.q, line.b))
    return q, b, between(line.constant, t)


def _at(ends: Array, t: Array) -> Array:
    """What is affine in t at k points, (k, size), or (1, size) where it stands still."""
    if np.array_equal(ends[0], ends[1]):
        return ends[:1]
    return np.asarray(np.multiply.outer(1.0 - t, ends[0]) + np.multiply.outer(t, ends[1]))
