r"""The proof of a line of a program with rows: every t, by two points a segment.

It is the case of `paretoclf.proof.segments.theorem` in which all bounds are rows :math:`Ax\le b`, hard, and u = x. On a
segment x and z are affine in t, as are q and b. Feasibility, signs and stationarity :math:`Px+q+A^\top z=0` are then
largest at an end; the products :math:`(b-Ax)_iz_i`, whose sum is the duality gap, are quadratic and nowhere above the
largest of their Bernstein coefficients. That P is positive semidefinite is proved apart.

Residuals are ``"rows"``: equations and inequalities, each at either end against its own terms there: what its right
hand side is a sum of, and its coefficients times the columns; ``"stationarity"``: each entry of the gradient, likewise;
``"signs"``: what each multiplier that is negative adds to a gradient, against the terms of that on the segment;
``"slackness"``: of each inequality the smaller of its slack, against the terms of the row on the segment, and its
multiplier, as for signs (where the slack is below ``RESIDUAL_ROUNDING``, the slack); ``"curvature"``: 1 where P, with
what the line says that it lacks, is not proved positive semidefinite (`paretoclf.proof.programs.convexity`; what that
may cost is part of the gap). No unit is less than ``OWN_TERMS`` (for slacks and multipliers ``OWN_SIZE``) of what it
would be if all columns, or multipliers, were as large as the largest on the segment that equations or P connect with
it: of that much a solution knows nothing that is computed once a segment.

To the gap is added what is wrong with signs and with the gradient, as far as it moves the value at the points: a
multiplier of the wrong sign times the terms of its row, the residual of an entry of the gradient times its column. No
price of another column makes little of these.

The gap is relative to the optimal value at each end of the segment, by the chord of the two
(`paretoclf.proof.verdicts.scale`): to no less than a thousandth of the largest term that this is a sum of there, and to
no less than ``PRODUCT_ROUNDING / CERTIFY`` of the terms of x'Px, and of what multipliers times those of their rows can
be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import POINT, RESIDUAL_ROUNDING
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.products import blocks, turned
from paretoclf.engine.reduction.program import ProgramLine, between, side_at
from paretoclf.problem.parametric_qp import shortest_stretch
from paretoclf.proof.programs.clear_segments import (
    TINY,
    SegmentBounds,
    are_clear,
    clear_bounds,
    no_less,
    smaller,
)
from paretoclf.proof.programs.convexity import lost, semidefinite
from paretoclf.proof.programs.row_units import Sizes, Units
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.verdicts.scale import sizes_of

#: Note in the explanation of whatever was compiled.
JUDGED = "What is judged is the compiled program."
#: Names of the residuals.
CONDITIONS = ("rows", "stationarity", "signs", "slackness")


def prove_program(
    line: ProgramLine, t: Array, points: ProgramPoints, parameter: str = "t", prices: Array | None = None
) -> LineProof:
    """Prove points, between which k segments lie, at t (k + 1,).

    ``prices`` (2, m) are the costs of a unit by which a row is exceeded, infinite where it is hard; by default all are.
    """
    residuals, gaps, sizes, duals = bounds_of(line, t, points, prices)
    residuals["curvature"] = np.full(len(gaps), 0.0 if semidefinite(line) else 1.0)
    cost = lost(line)
    bounds = gaps + cost, sizes, np.zeros_like(gaps), duals - cost
    return LineProof.of(bernstein.pairs(t), bounds, residuals, parameter=parameter)


@dataclass(frozen=True)
class _PricedProgram:
    """The line of a program, the sizes of its coefficients, and the prices of soft rows at both its ends."""

    line: ProgramLine
    sizes: Sizes
    prices: Array | None


def bounds_of(
    line: ProgramLine, t: Array, points: ProgramPoints, prices: Array | None = None, sizes: Sizes | None = None
) -> tuple[dict[str, Array], Array, Array, Array]:
    """Residuals (k,) by their names; gaps, sizes, and lower bounds of the value, each (k, 3)."""
    at_points = np.zeros(len(points))
    at_points[points.begin] = t[:-1]
    at_points[points.begin + 1] = t[1:]
    program = _PricedProgram(line, sizes or Sizes(line), prices)
    parts = []
    for part in blocks(len(points) - 1, line.n + line.m):
        own = slice(part.start, part.stop + 1)
        parts.append(_between_neighbours(program, at_points[own], *points.columns(own)))
    # Two points at a jump have no segment between them.
    found = SegmentBounds(*(np.concatenate(each)[points.begin] for each in zip(*parts, strict=True)))
    shortest = min(shortest_stretch(line.q, line.b), POINT)  # t is known no better: each is two points
    for segment in np.flatnonzero(np.diff(t) <= shortest).tolist():
        first = points.begin[segment]
        _judge_ends_alone(program, found, segment, at_points[first : first + 2], points)
    return dict(zip(CONDITIONS, found.residuals.T, strict=True)), found.gaps, found.sizes, found.duals


def _judge_ends_alone(
    program: _PricedProgram, found: SegmentBounds, segment: int, t: Array, points: ProgramPoints
) -> None:
    """Replace the bounds on a segment by those of its two ends, each judged by itself."""
    twice, x, z = (np.repeat(each, 2, axis=0) for each in (t, *points.segment(segment)))
    residuals, *bounds = (each[::2] for each in _between_neighbours(program, twice, x.T, z.T))
    found.residuals[segment] = residuals.max(axis=0)
    for coefficients, (first, last) in zip(found[1:], bounds, strict=True):
        coefficients[segment] = first[0], 0.5 * (first[0] + last[2]), last[2]


def _between_neighbours(program: _PricedProgram, t: Array, x: Array, z: Array) -> SegmentBounds:
    """Bounds between each two of k + 1 points that follow each other, a column each."""
    if program.prices is None:
        found = clear_bounds(program.line, program.sizes, t, x, z)
        if found is not None:
            return found
    return _judged_neighbours(program, t, turned(x), turned(z))


def _judged_neighbours(program: _PricedProgram, t: Array, X: Array, Z: Array) -> SegmentBounds:
    """Bounds between each two of k + 1 points that follow each other, a row each; each segment has its own units."""
    line, prices = program.line, program.prices
    at_points = None if prices is None else side_at(prices, t[:, None])
    terms = [_at(np.abs(each), t) for each in (line.q, line.b)]
    seen = judged(line, program.sizes, _data(line, t), terms, (X, Z), CellCorners(), at_points)
    # A product of affine functions is below its chord, by the product of their changes.
    bend = _dots(np.diff(seen.curved, axis=0), np.diff(seen.squares, axis=0))
    products: list[tuple[Array, Array]] = [(X, line.q[1] - line.q[0])]
    if prices is not None and seen.beyond is not None:
        soft = np.isfinite(prices[0])
        products.append((seen.beyond, prices[1, soft] - prices[0, soft]))
    for factor, change in products:
        if change.any():
            bend += np.diff(t) * np.diff(factor @ change)
    values = bernstein.line(bernstein.pairs(seen.values))
    values[:, 1] -= 0.5 * bend
    return SegmentBounds(seen.residuals.T, seen.gaps, seen.sizes, values - seen.gaps)


class CellCorners:
    """Which points are corners of one cell: here each two that follow each other, the ends of a segment.

    Each method takes values at the points and returns what there is of every cell. What is affine in t is largest at a
    corner; a product has its Bernstein coefficients.
    """

    def most(self, values: Array) -> Array:
        """Larger value of both ends of each segment."""
        return np.maximum(values[:-1], values[1:])

    def least(self, values: Array) -> Array:
        """Smaller value of both ends of each segment."""
        return np.minimum(values[:-1], values[1:])

    def products(self, one: Array, other: Array) -> Array:
        """Bernstein coefficients of sums of products of affine functions, by their values at the points."""
        begin, end = slice(0, -1), slice(1, None)
        at_points = _dots(one, other)
        mixed = _dots(one[begin], other[end])
        mixed = mixed + _dots(one[end], other[begin])
        return bernstein.columns(at_points[begin], 0.5 * mixed, at_points[end])

    def means(self, values: Array) -> Array:
        """Bernstein coefficients of the chord: a segment is judged at each end by the value there."""
        return bernstein.line(bernstein.pairs(values))

    def spread(self, values: Array) -> Array:
        """Numbers of segments, beside each coefficient."""
        return values[:, None]

    def shares(self, amounts: Array, terms: Array, least: Array) -> Array:
        """Larger share of both ends of each segment."""
        return np.maximum(
            largest_share(amounts[:-1], terms[:-1] + least), largest_share(amounts[1:], terms[1:] + least)
        )


def largest_share(amounts: Array, units: Array) -> Array:
    """Largest of the amounts of each row in these units."""
    return np.asarray((amounts / np.maximum(units, TINY)).max(axis=1, initial=0.0))


class PartBounds(NamedTuple):
    """Gaps and residuals of k cells of a program.

    Attributes
    ----------
    residuals : array of shape (4, k)
        Those of `CONDITIONS`.
    gaps : array of shape (k, c)
        Coefficients of the sum of products, and of the worth of wrong signs and of the residual of the gradient.
    sizes : array of shape (k, c)
        Sizes that the gaps are relative to.
    values : array of shape (points,)
        The objective.
    curved, squares, beyond : arrays with a row for each point
        Columns that P has entries of, half of P times these, and the amounts by which soft rows are exceeded.
    """

    residuals: Array
    gaps: Array
    sizes: Array
    values: Array
    curved: Array
    squares: Array
    beyond: Array | None


@dataclass(frozen=True)
class AtPoints:
    """Slacks, multipliers, their sizes, those of columns and of the residual of the gradient, at points of a program.

    Soft rows stand there twice: with the slack up to their bound, and their multiplier, and, behind all rows, with the
    amount by which they are exceeded, and their price less the multiplier. ``row`` says which row each is. ``data`` are
    q and b there, ``terms`` the sizes of what these are sums of.
    """

    line: ProgramLine
    sizes: Sizes
    row: Index
    slack: Array
    slack_sizes: Array
    multipliers: Array
    multiplier_sizes: Array
    columns: Array
    gradient: Array
    data: tuple[Array, Array]
    terms: Sequence[Array]

    def on_each(self, cells: CellCorners) -> tuple[Array, Array]:
        """Residuals (4, k) of each cell, in units of its own, and the rounding of its value (k,)."""
        equations, rows = self.line.equations, self.line.m
        slack, multipliers = cells.most(self.slack_sizes), cells.most(self.multiplier_sizes)
        q, b = (cells.most(np.abs(each)) for each in self.data)
        units = Units.of(self.sizes, q, b, cells.most(self.columns), multipliers[:, :rows], none=1.0)
        of_q, of_b = self.terms
        violation = np.hstack([self.slack_sizes[:, :equations], -self.slack[:, equations:]])
        violated = cells.shares(violation, of_b + self.sizes.A(self.columns), units.least_rows)
        terms = of_q + self.sizes.transposed(self.multiplier_sizes[:, :rows]) + self.sizes.P(self.columns)
        stationarity = cells.shares(self.gradient, terms, units.least_gradient)
        least = cells.least(self.multipliers)
        share = units.slacks[:, self.row] * slack
        inequality = np.arange(self.slack_sizes.shape[1]) >= equations
        asked = (least < 0.0) | ((share > RESIDUAL_ROUNDING) & (multipliers > 0.0))
        price = units.prices(inequality & asked, self.row)
        signs = -(price * least)[:, equations:].min(axis=1, initial=0.0)
        both = smaller(share, price, multipliers)[:, equations:].max(axis=1, initial=0.0)
        rounding = units.rounding(multipliers[:, :rows])
        return np.stack([violated, stationarity, signs, both]) + 0.0, rounding  # no -0.0

    def worth(self, cells: CellCorners) -> Array:
        """Coefficients of the worth of wrong signs, and of the residual of the gradient, at the points.

        However small they are beside the price of something else, this is what they do to the value: each multiplier of
        the wrong sign times the terms of its row, each entry of the gradient times its column.
        """
        found = cells.products(self.gradient, self.columns)
        wrong = np.maximum(-self.multipliers[:, self.line.equations :], 0.0)
        some = np.flatnonzero(wrong.any(axis=0))
        if some.size:
            row = self.row[self.line.equations + some]
            terms = self.sizes.A(self.columns) + _sizes(self.data[1])
            found = found + cells.products(terms[:, row], wrong[:, some])
        return np.asarray(found)


#: Bounds on residuals (4, k), and rounding, by one look at all points.
AtOnce = Callable[[AtPoints, Sizes, CellCorners], tuple[Array, Array]]


def judged(
    line: ProgramLine,
    sizes: Sizes,
    data: Sequence[Array],
    terms: Sequence[Array],
    points: tuple[Array, Array],
    cells: CellCorners,
    prices: Array | None = None,
    at_once: AtOnce | None = None,
) -> PartBounds:
    """Judge points and their multipliers: q, b and constant there, sizes of what q and b are sums of, and row prices.

    ``cells`` says which points belong together, to each of k cells. Where what ``at_once`` says of all is clear, no
    cell is asked for its own units: the bound is wider then, and no more than a hundredth of ``CERTIFY``.
    """
    (X, Z), (q, b, constant) = points, data
    curved, squares, gradient, slack = _residuals(sizes, q, b, X, Z)
    rows, beyond, paid = np.arange(line.m), None, np.zeros(1)
    multipliers, multiplier_sizes, slack_sizes = Z, np.abs(Z), np.abs(slack)
    if prices is not None:
        soft = np.flatnonzero(np.isfinite(prices[0]))
        beyond = np.maximum(-slack[:, soft], 0.0)
        slack[:, soft] += beyond
        rows = np.append(rows, soft)
        slack_sizes = np.hstack([np.abs(slack), beyond])
        multipliers = np.hstack([Z, prices[:, soft] - Z[:, soft]])
        equation = np.arange(rows.size) < line.equations
        multiplier_sizes = np.where(equation, np.abs(multipliers), np.maximum(multipliers, 0.0))
        paid = _dots(beyond, prices[:, soft])
    of_rows = rows, slack, slack_sizes, multipliers, multiplier_sizes
    seen = AtPoints(line, sizes, *of_rows, np.abs(X), gradient, (q, b), terms)
    value = _dots(X, q) + _dots(curved, squares) + constant + paid
    gaps = cells.products(slack_sizes, multiplier_sizes) + seen.worth(cells)
    largest_term = _largest_term_of_value(seen, squares, np.maximum(np.abs(constant), paid))
    size = cells.means(sizes_of(value, largest_term))
    known = value, curved, squares, beyond
    if at_once is not None:
        with np.errstate(over="ignore", invalid="ignore"):  # where there is no size
            residuals, of_all = at_once(seen, sizes, cells)
            least = no_less(size, of_all)
            if are_clear(residuals, gaps, least):
                return PartBounds(residuals, gaps, least, *known)
    residuals, rounding = seen.on_each(cells)
    return PartBounds(residuals, gaps, no_less(size, cells.spread(rounding)), *known)


def _residuals(sizes: Sizes, q: Array, b: Array, X: Array, Z: Array) -> tuple[Array, Array, Array, Array]:
    """Columns that P has entries of, half of P times these, sizes of the residual of the gradient, and slacks."""
    _, rows, transposed = sizes.plain
    curved = sizes.curved
    points = np.ascontiguousarray(X.T)  # a column for each point
    of_P = sizes.curvature @ points
    gradient = transposed @ np.ascontiguousarray(Z.T)
    gradient[curved] += of_P
    gradient += q.T
    residual = turned(np.abs(gradient, out=gradient))
    slack = rows @ points
    slack = turned(np.subtract(b.T, slack, out=slack))
    return points[curved].T, 0.5 * of_P.T, residual, slack


def _largest_term_of_value(seen: AtPoints, squares: Array, others: Array) -> Array:
    """Largest term of the objective at each point: of q'x, of x'Px / 2, or of what else is in it."""
    linear = _largest_term(seen.columns, _sizes(seen.data[0]))
    quadratic = _largest_term(seen.columns[:, seen.sizes.curved], np.abs(squares))
    return np.maximum(np.maximum(linear, quadratic), others)


def _largest_term(columns: Array, prices: Array) -> Array:
    """The largest product of a column and its price at each point; 0 where there are none."""
    return np.asarray((columns * prices).max(axis=1, initial=0.0))


def _dots(points: Array, data: Array) -> Array:
    """Inner products of points with data there, (k,); data may be constant in t, or one row."""
    if data.strides[0] == 0 or len(data) < len(points):
        return np.asarray(points @ data[0])
    return np.asarray(np.einsum("ij,ij->i", points, data))


def _sizes(data: Array) -> Array:
    """The absolute values of data at points; one row where they are constant in t."""
    return np.abs(data[:1] if data.strides[0] == 0 else data)


def _data(line: ProgramLine, t: Array) -> tuple[Array, Array, Array]:
    """The vectors q and b at points of a line, and the constant."""
    of_columns = np.broadcast_to(_at(line.q, t), (t.size, line.n))
    of_rows = np.broadcast_to(_at(line.b, t), (t.size, line.m))
    return of_columns, of_rows, between(line.constant, t)


def _at(ends: Array, t: Array) -> Array:
    """Values at k points of a vector that is affine in t, (k, size), or (1, size) where it is constant in t."""
    start, stop = ends
    if np.array_equal(start, stop):
        return ends[:1]
    return np.asarray(np.multiply.outer(1.0 - t, start) + np.multiply.outer(t, stop))
