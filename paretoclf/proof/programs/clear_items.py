"""Bounds on segments of a path of items that are clearly right: in the least units, and only of what moves.

The theorem, the residuals and the units are those of `paretoclf.proof.programs.program_lines`: the bounds of the items
are its rows. An item that is still (`paretoclf.proof.programs.item_blocks`), with its response in the range of its
label, has no product of a slack and a multiplier but 0, and no wrong sign: what is asked of it is its part in the
value, and its least size. What is not clear is left to a judge that looks at each segment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import CERTIFY, OF_TERMS, OWN_TERMS
from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.engine.reduction.program import between
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof.programs.clear_segments import (
    CLEAR,
    SegmentBounds,
    least_units,
    no_less,
    of_multipliers,
)
from paretoclf.proof.programs.extremes import ColumnExtremes, RowExtremes
from paretoclf.proof.programs.item_blocks import ItemBlock, Sides, StillItems, at_points
from paretoclf.proof.programs.row_units import Sizes, Units
from paretoclf.proof.segments import bernstein
from paretoclf.proof.verdicts.scale import sizes_of

#: Shares of ``CERTIFY`` up to which residuals will do, in their order. A row is held against its own terms at each
#: end, and only what is rounding of others is the least: more of what is left is its own.
SMALL = np.array([0.1, CLEAR, CLEAR, CLEAR])


class PointPairs(NamedTuple):
    """Two points each, between which all is affine; they may be one."""

    first: Index | slice
    last: Index | slice

    def most(self, numbers: Array) -> Array:
        """The larger of both numbers of each cell, (rows, cells), from those of points."""
        return np.maximum(numbers[:, self.first], numbers[:, self.last])

    def shares(self, amounts: Array, terms: Array, more: Array, least: Array) -> Array:
        """The largest share of each cell, (cells,), of amounts (rows, points) in their terms there.

        With the terms count numbers ``more`` (rows, cells); they are no less than ``least`` (rows,).
        """
        ends = (
            amounts[:, side] / np.maximum(terms[:, side] + more, least[:, None]) for side in (self.first, self.last)
        )
        return np.asarray(np.maximum(*ends).max(axis=0, initial=0.0))

    def products(self, one: Array, other: Array) -> Array:
        """Coefficients (cells, 3) of sums of products of affine functions, (rows, points)."""
        at_all = _dots(one, other)
        mixed = _dots(one[:, self.first], other[:, self.last])
        mixed += _dots(one[:, self.last], other[:, self.first])
        return bernstein.columns(at_all[self.first], 0.5 * mixed, at_all[self.last])

    def chords(self, values: Array) -> Array:
        """Coefficients (cells, 3) of the chords of values at points."""
        return bernstein.line(bernstein.columns(values[self.first], values[self.last]))

    def changes(self, numbers: Array) -> Array:
        """The last numbers of each cell less the first, (..., cells)."""
        return np.asarray(numbers[..., self.last] - numbers[..., self.first])


def cells_of(begin: Index, alone: Mask) -> PointPairs:
    """A cell for each segment; where its ends are judged alone, the first one, and the second one behind all cells."""
    count, step = begin.size, int(begin[-1]) // max(begin.size - 1, 1) or 1
    if not alone.any() and (begin == step * np.arange(count)).all():  # as slices, whose numbers need no copies
        return PointPairs(slice(0, step * count, step), slice(1, step * count + 1, step))
    last = np.where(alone, begin, begin + 1)
    return PointPairs(np.append(begin, begin[alone] + 1), np.append(last, begin[alone] + 1))


def of_segments(cells: SegmentBounds, alone: Mask) -> SegmentBounds:
    """Bounds on segments, from those of their cells."""
    found = SegmentBounds(*(each[: alone.size].copy() for each in cells))
    own, second = np.flatnonzero(alone), slice(alone.size, None)
    found.residuals[own] = np.maximum(found.residuals[own], cells.residuals[second])
    for coefficients, each in zip(found[1:], cells[1:], strict=True):
        first, last = coefficients[own, 0], each[second, 2]
        coefficients[own] = bernstein.columns(first, 0.5 * (first + last), last)
    return found


@dataclass(frozen=True)
class LookedAt:
    """Bounds of items that are looked at one by one, as rows of a program, (rows, points).

    Attributes
    ----------
    row : int array of shape (rows,)
        Which row each is. Those that are soft stand behind all once more: the slack is what is beyond their bound, and
        the multiplier what is left of their price.
    equations : int
        How many of the first are equations.
    slack, slack_sizes, multipliers, multiplier_sizes : arrays
    terms : array
        Sizes of bounds, and of values; of what stands there once more there are none.
    beyond, prices : arrays of shape (soft, points)
    price_change : array of shape (soft,)
        From t = 0 to 1.
    """

    row: Index
    equations: int
    slack: Array
    slack_sizes: Array
    multipliers: Array
    multiplier_sizes: Array
    terms: Array
    beyond: Array
    prices: Array
    price_change: Array

    @classmethod
    def hard(cls, row: Index, equations: int, slack: Array, multipliers: Array, terms: Array) -> LookedAt:
        """Rows none of which is soft."""
        none = np.zeros((0, slack.shape[1]))
        sizes = np.abs(slack), multipliers, np.abs(multipliers)
        return cls(row, equations, slack, *sizes, terms, none, none, np.zeros(0))

    def with_soft(self, soft: Index, prices: Array, ends: Array) -> LookedAt:
        """Put behind these what stands there once more of soft ones; prices are at points, and at t = 0 and 1."""
        beyond = np.maximum(-self.slack[soft], 0.0)
        self.slack[soft] += beyond
        slack = np.concatenate([self.slack, beyond])
        multipliers = np.concatenate([self.multipliers, prices - self.multipliers[soft]])
        sizes = np.abs(multipliers)  # what is negative of an inequality is a wrong sign, and no size
        np.maximum(multipliers[self.equations :], 0.0, out=sizes[self.equations :])
        of_rows = slack, np.abs(slack), multipliers, sizes, self.terms
        row = np.append(self.row, self.row[soft])
        return LookedAt(row, self.equations, *of_rows, beyond, prices, ends[:, 1] - ends[:, 0])

    @cached_property
    def extremes(self) -> RowExtremes:
        """Extremes of each row; there are no bounds among them."""
        return RowExtremes(
            slack=self.slack_sizes.max(axis=1),
            least_slack=self.slack.min(axis=1),
            multiplier=self.multiplier_sizes.max(axis=1),
            least_size=self.multiplier_sizes.min(axis=1),
            least_multiplier=self.multipliers.min(axis=1),
            least_bound=np.zeros(self.row.size),
        )

    def violations(self) -> Array:
        """Amounts by which rows are violated at the points; what stands there once more never is."""
        found = -self.slack[: len(self.terms)]
        found[: self.equations] = self.slack_sizes[: self.equations]
        return found


class _LeastUnits(NamedTuple):
    """Units of the least data and points, and what is rounding of a value by these."""

    of_all: Units
    rounding: Array


class _Value(NamedTuple):
    """The objective at points, the largest of its terms there or as much as matters, and its bend on each cell."""

    value: Array
    term: Array
    bend: Array


class ItemJudge:
    """A problem, to judge blocks of its paths.

    Parameters
    ----------
    problem : ParametricQP
    """

    def __init__(self, problem: ParametricQP) -> None:
        self.problem, self.sides = problem, Sides(problem)
        self.q = np.asarray(problem.q, dtype=np.float64).T
        diagonal = _diagonal(problem.P)
        self.reach = np.sqrt(np.maximum(diagonal, 0.0))
        # Units grow with the entries of P: the diagonal alone makes them no larger, and has no n x n numbers.
        plain = problem if sp.issparse(problem.P) else replace(problem, P=sp.diags_array(diagonal, format="csc"))
        rows = self.rows = RowsOfItems.of(plain)
        self.sizes = Sizes(rows.line)
        self.item = np.concatenate([rows.equations, rows.above, rows.below])
        self.sign = np.repeat([-1.0, -1.0, 1.0], [rows.equations.size, rows.above.size, rows.below.size])[:, None]
        self.bound = np.where(self.sign > 0.0, self.sides.lower[self.item], self.sides.upper[self.item])
        alone = rows.alone[self.item]
        alone[: rows.equations.size] = True
        #: What multipliers of rows are at least: of two bounds of an item one has what is positive, one the rest.
        self.floor = np.where(alone, -np.inf, 0.0)[:, None]
        self.free = np.isinf(self.sides.lower[:, 0]) & np.isinf(self.sides.upper[:, 0])

    def are_clear(self, bounds: SegmentBounds) -> Mask:
        """Mask of segments whose bounds are so small that no units of their own are asked for."""
        small = (bounds.residuals <= CERTIFY * SMALL).all(axis=1)
        small &= (bounds.gaps <= CLEAR * CERTIFY * bounds.sizes).all(axis=1)
        return np.asarray(small & np.isfinite(bounds.sizes + bounds.duals).all(axis=1))

    def bounds(self, block: ItemBlock, alone: Mask) -> SegmentBounds | None:
        """Bounds on the segments of a block, by the least units of all; None where something is not finite.

        Those of the mask ``alone`` are two points each. There are none, too, where an item without bounds has a
        multiplier.
        """
        segments = block.segments
        least, most = block.response.min(axis=1), block.response.max(axis=1)
        if not np.isfinite(most - least).all():
            return None
        in_range = least >= _on(segments.least, segments.stretch).max(axis=0)
        in_range &= most <= _on(segments.most, segments.stretch).min(axis=0)
        looked_at = segments.moving | ~in_range
        seen = self._look_at(block, looked_at)
        if seen is None:
            return None
        cells = cells_of(segments.begin, alone)
        missed = np.abs(block.response[block.variables] - block.y[: block.variables.size])
        units = self._units(block, seen, self._least_multipliers(segments, least, most))
        residuals = self._residuals(block, seen, missed, units, cells)
        gaps = cells.products(seen.slack_sizes, seen.multiplier_sizes) + cells.products(missed, np.abs(block.x))
        gaps += self._wrong_signs(block, seen, cells)
        found = self._value(block, seen, looked_at, cells)
        size = no_less(cells.chords(sizes_of(found.value, found.term)), units.rounding)
        values = cells.chords(found.value)
        values[:, 1] -= 0.5 * found.bend
        return of_segments(SegmentBounds(residuals, gaps, size, values - gaps), alone)

    def _units(self, block: ItemBlock, seen: LookedAt, multipliers: Array) -> _LeastUnits:
        """The least units of a block; ``multipliers`` (m,) are the least ones of what is not looked at."""
        stretch, n = block.segments.stretch, self.problem.n
        column, cost = _least_size(block.segments.known[:n], stretch), _least_size(self.q, stretch)
        column[block.variables] = np.abs(block.x).min(axis=1)
        own = len(seen.terms)
        multipliers[seen.row[:own]] = seen.extremes.least_size[:own]
        columns = ColumnExtremes(column, np.zeros(n), cost)
        units = least_units(self.sizes, columns, _least_size(self.bound, stretch), multipliers)
        return _LeastUnits(units, units.rounding(multipliers))

    def _residuals(
        self, block: ItemBlock, seen: LookedAt, missed: Array, units: _LeastUnits, cells: PointPairs
    ) -> Array:
        """Residuals (cells, 4); ``missed`` are the sizes of what multipliers of variables miss of their slopes."""
        of_all, own = units.of_all, seen.row[: len(seen.terms)]
        # Each end is held against the terms there, and what counts of the largest column that is connected with it.
        largest = cells.most(np.abs(block.x).max(axis=0, initial=0.0, keepdims=True)) * (self.sizes.begin.size == 1)
        of_P, of_A = (OWN_TERMS * sums[:, None] for sums in self.sizes.sums[:2])
        violated = cells.shares(seen.violations(), seen.terms, of_A[own] * largest, of_all.rows[0, own])
        of_slopes = missed, self._slope_terms(block), of_P[block.variables] * largest
        stationarity = cells.shares(*of_slopes, of_all.gradient[0, block.variables])
        pairs = seen.slack_sizes, seen.multiplier_sizes
        signs, slackness = of_multipliers(of_all, seen.equations, seen.extremes, pairs, cells.most, seen.row)
        each = violated, stationarity, np.full(slackness.size, signs), slackness
        return np.stack(each, axis=1) + 0.0  # no -0.0

    def _look_at(self, block: ItemBlock, looked_at: Mask) -> LookedAt | None:
        """Bounds of some items as rows; None where one without bounds has a multiplier."""
        segments, items = block.segments, np.flatnonzero(looked_at)
        variables = items < self.problem.n
        values = block.response[items]
        known = at_points(segments.known[items], segments.t)
        multipliers = np.where(variables[:, None], values, known)
        values[variables] = known[variables]
        moving = np.searchsorted(items, block.moving)
        values[moving[: len(block.x)]] = block.x
        multipliers[moving] = block.y
        if multipliers[self.free[items]].any():
            return None
        row = np.flatnonzero(looked_at[self.item])
        own, sign = np.searchsorted(items, self.item[row]), self.sign[row]
        of_rows = np.maximum(sign * multipliers[own], self.floor[row])
        return self._as_rows(row, values[own], of_rows, segments.t)

    def _as_rows(self, row: Index, values: Array, multipliers: Array, t: Array) -> LookedAt:
        """Rows with these values and multipliers, and the soft ones among them once more."""
        bounds = at_points(self.bound[row], t)
        slack = self.sign[row] * (values - bounds)
        terms = np.abs(bounds) + np.abs(values)
        equations = int(np.searchsorted(row, self.rows.equations.size))
        found = LookedAt.hard(row, equations, slack, multipliers, terms)
        prices = self.rows.prices[:, row].T
        soft = np.flatnonzero(np.isfinite(prices[:, 0]))
        return found.with_soft(soft, at_points(prices[soft], t), prices[soft]) if soft.size else found

    def _slope_terms(self, block: ItemBlock) -> Array:
        """Sizes of what slopes of variables that move are sums of: of Px, q, A'y, and of their multipliers."""
        t, variables = block.segments.t, block.variables
        cost = at_points(self.q[variables], t)
        quadratic = block.of_moving + at_points(block.of_still[variables], t)
        of_rows = quadratic + cost - block.response[variables]
        found = np.abs(quadratic) + np.abs(cost)
        found += np.abs(of_rows)
        found += np.abs(block.y[: variables.size])
        return np.asarray(found)

    def _least_multipliers(self, segments: StillItems, least: Array, most: Array) -> Array:
        """The least sizes of the multipliers of all rows, (m,), as if all items were still."""
        n = self.problem.n
        sure = np.where(least > 0.0, least, np.minimum(most, 0.0))
        known = segments.known[n:]
        sure[n:] = np.sign(known.sum(axis=1)) * _least_size(known, segments.stretch)
        found: Array = np.maximum(self.sign[:, 0] * sure[self.item], self.floor[:, 0])
        return np.abs(found)

    def _wrong_signs(self, block: ItemBlock, seen: LookedAt, cells: PointPairs) -> Array | float:
        """Coefficients of what multipliers of the wrong sign are worth: each times the terms of its row."""
        some = seen.equations + np.flatnonzero(seen.extremes.least_multiplier[seen.equations :] < 0.0)
        if not some.size:
            return 0.0
        row = seen.row[some]
        terms = self.sizes.A.of_rows(row) @ np.abs(self._values(block))
        terms += np.abs(at_points(self.bound[row], block.segments.t))
        return cells.products(terms, np.maximum(-seen.multipliers[some], 0.0))

    def _values(self, block: ItemBlock) -> Array:
        """Values of all variables, (n, points)."""
        found = at_points(block.segments.known[: self.problem.n], block.segments.t)
        found[block.variables] = block.x
        return found

    # ---- the value ----

    def _value(self, block: ItemBlock, seen: LookedAt, looked_at: Mask, cells: PointPairs) -> _Value:
        """The objective: of what moves, of what is still, and of both."""
        t, n, x = block.segments.t, self.problem.n, block.x
        still, variables = block.segments.known[:n], block.variables
        share = np.stack([1.0 - t, t])
        prices, q_change = at_points(self.q[variables], t), self.q[:, 1] - self.q[:, 0]
        others = at_points(block.of_still[variables], t)
        squares, costs = still.T @ block.of_still, self.q.T @ still
        quadratic = _dots(x, block.of_moving) + 2.0 * _dots(x, others) + _dots(share, squares @ share)
        change, length = cells.changes(x), cells.changes(t)
        bend = 0.5 * _dots(change, cells.changes(block.of_moving)) + _dots(change, cells.changes(others))
        bend += 0.5 * length**2 * (squares[0, 0] - squares[0, 1] - squares[1, 0] + squares[1, 1])
        paid, paid_change = self._paid(block, seen, looked_at)
        moved = q_change[variables] @ x + (q_change @ still) @ share + paid_change
        bend += length * cells.changes(moved)
        constant = between(self.rows.line.constant, t)
        value = 0.5 * quadratic + _dots(x, prices) + _dots(share, costs @ share) + paid + constant
        term = np.maximum(paid, np.abs(constant))
        largest = self._largest_terms(block, quadratic)
        if not OF_TERMS * largest <= np.abs(value).min():
            term = np.maximum(term, self._terms(block))
        return _Value(value, term, bend)

    def _paid(self, block: ItemBlock, seen: LookedAt, looked_at: Mask) -> tuple[Array, Array]:
        """The prices of all that is beyond a soft bound, at points, and how they change with those of t = 0 to 1."""
        n, segments = self.problem.n, block.segments
        paid, change = _dots(seen.beyond, seen.prices), seen.price_change @ seen.beyond
        some = n + np.flatnonzero(~looked_at[n:] & segments.known[n:].any(axis=1))
        if some.size:
            above = (segments.labels[some] > 0)[:, None]
            bound = np.where(above, self.sides.upper[some], self.sides.lower[some])
            beyond = np.abs(block.response[some] - at_points(bound, segments.t))
            prices = np.abs(segments.known[some])
            paid += _dots(beyond, at_points(prices, segments.t))
            change += (prices[:, 1] - prices[:, 0]) @ beyond
        return paid, change

    def _largest_terms(self, block: ItemBlock, quadratic: Array) -> float:
        """Bound on the linear and quadratic terms of the value on a block: ``(Px)_j**2`` is at most ``P_jj x'Px``."""
        stretch = block.segments.stretch
        size = np.abs(_on(block.segments.known[: self.problem.n], stretch)).max(axis=0)
        size[block.variables] = np.abs(block.x).max(axis=1)
        cost = np.abs(_on(self.q, stretch)).max(axis=0)
        slope = 0.5 * self.reach * np.sqrt(max(float(quadratic.max()), 0.0))
        return float((size * np.maximum(cost, slope)).max(initial=0.0))

    def _terms(self, block: ItemBlock) -> Array:
        """The largest linear or quadratic term of the value at each point."""
        values = self._values(block)
        cost = np.abs(at_points(self.q, block.segments.t))
        slope = 0.5 * np.abs(self.problem.P @ values)
        return np.asarray((np.abs(values) * np.maximum(cost, slope)).max(axis=0, initial=0.0))


def _diagonal(P: Any) -> Array:
    """The diagonal of an array, sparse or not, or of an operator."""
    return np.asarray(P.reach**2 if hasattr(P, "reach") else P.diagonal(), dtype=np.float64)


def _on(ends: Array, stretch: Array) -> Array:
    """Numbers that are affine in t, ends (size, 2), at both ends of a stretch: shape (2, size)."""
    return np.asarray(np.stack([1.0 - stretch, stretch], axis=1) @ ends.T)


def _dots(one: Array, other: Array) -> Array:
    """Inner products at points, of arrays (size, points)."""
    return np.asarray(np.einsum("ij,ij->j", one, other))


def _least_size(ends: Array, stretch: Array) -> Array:
    """The least size of affine functions on a stretch, (size,); 0 where they change their sign."""
    first, last = _on(ends, stretch)
    return np.where(first * last > 0.0, np.minimum(np.abs(first), np.abs(last)), 0.0)
