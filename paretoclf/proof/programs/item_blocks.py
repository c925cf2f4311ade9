"""Parts of a path of items, some segments each: what moves there, and what is still.

Its label says the value or the multiplier of an item (`paretoclf.problem.parametric_qp`). On a few segments that follow
each other this number of most items is affine all along, known at t = 0 and t = 1: they are *still*. All others are
looked at one by one. The *response* of an item is what the program makes of the values of all variables and the
multipliers of all rows: the slope ``Px + q - A'y`` of a variable, the value ``Ax`` of a row. The label says its range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.samples import dense

#: Blocks that are made at once: one product for what is still on all of them.
_AT_ONCE = 16
#: How many labels there are; the first one is ``BELOW``.
_LABELS = 5
#: What no response goes beyond.
_FAR = 1e300


def at_points(ends: Array, t: Array) -> Array:
    """Numbers that are affine in t, ends (size, 2), at points: shape (size, points); constant ones are not rounded."""
    first, last = ends.T
    found = np.multiply.outer(first, 1.0 - t)
    found += np.multiply.outer(last, t)
    constant = first == last
    if constant.any():
        found[constant] = first[constant, None]
    return np.asarray(found)


class Sides:
    """The bounds of all items and their slopes beyond, (items, 2) each, in doubles."""

    def __init__(self, problem: ParametricQP) -> None:
        given = problem.lower, problem.upper, problem.below, problem.above
        self.lower, self.upper, self.below, self.above = (np.asarray(each, dtype=np.float64).T for each in given)
        both = np.isfinite(self.lower) & np.isfinite(self.upper)
        #: From the lower bound to the upper one; 0 where there are not both.
        self.room = np.subtract(self.upper, self.lower, out=np.zeros_like(self.lower), where=both)


class Meanings:
    """What each label says of each item, (5, items, 2): a number at both ends, and the range of its response.

    Attributes
    ----------
    known : array
        The value of a variable, or the multiplier of a row.
    least, most : arrays
        The range; where there is no limit, ``_FAR``, so that it is affine in t.
    says : bool array of shape (5, items)
        Whether it says these.
    """

    def __init__(self, problem: ParametricQP, sides: Sides) -> None:
        shape = _LABELS, problem.items
        self.known = np.zeros((*shape, 2))
        self.least, self.most = np.full((*shape, 2), -_FAR), np.full((*shape, 2), _FAR)
        self.says = np.zeros(shape, dtype=np.bool_)
        lower, upper, below, above = sides.lower, sides.upper, sides.below, sides.above
        none, zero = np.full_like(lower, np.inf), np.zeros_like(lower)
        variables, rows = slice(problem.n), slice(problem.n, None)
        hard = np.isinf(below) & np.isinf(above)
        right = (np.minimum(below, above) >= 0.0).all(axis=1)
        equation = hard & np.expand_dims(problem.fixed, 1)  # its multiplier has any sign
        self._say(LOWER, variables, lower, np.where(equation, -none, zero), below)
        self._say(UPPER, variables, upper, -above, np.where(equation, none, zero))
        self._say(INSIDE, rows, zero, lower, upper)
        self._say(BELOW, rows, np.where(np.isfinite(lower), below, none), -none, lower)
        self._say(ABOVE, rows, np.where(np.isfinite(upper), -above, none), upper, none)
        self.says &= right  # no slope is negative

    def _say(self, label: int, which: slice, known: Array, least: Array, most: Array) -> None:
        """Write down what a label says of variables, or of rows; infinite numbers are none."""
        place = label - BELOW
        says = np.asarray(np.isfinite(known[which]).all(axis=1))
        self.says[place, which] = says
        self.known[place, which] = np.where(says[:, None], known[which], 0.0)
        self.least[place, which] = np.maximum(least[which], -_FAR)
        self.most[place, which] = np.minimum(most[which], _FAR)


@dataclass(frozen=True)
class StillItems:
    """Segments that follow each other, and what of their items is still.

    Attributes
    ----------
    points : slice
        The points of the path that are theirs.
    t : array of shape (points,)
    begin : int array of shape (segments,)
        Where each begins among these points; it ends at the next one.
    labels : int8 array of shape (items,)
        At the first point.
    moving : bool array of shape (items,)
    known, least, most : arrays of shape (items, 2)
        As `Meanings` has them; of items that move nothing is known, and is 0.
    """

    points: slice
    t: Array
    begin: Index
    labels: State
    moving: Mask
    known: Array
    least: Array
    most: Array

    @property
    def stretch(self) -> Array:
        """The least t and the largest one."""
        return np.array([self.t.min(), self.t.max()])


@dataclass(frozen=True)
class ItemBlock:
    """Segments with the numbers of what moves on them.

    Attributes
    ----------
    segments : StillItems
    moving : int array of shape (p,)
        Items that move, variables first.
    variables : int array of shape (u,)
        These.
    x : array of shape (u, points)
        Values of those variables.
    y : array of shape (p, points)
        Multipliers of those items.
    of_moving : array of shape (u, points)
        These entries of P times x.
    of_still : array of shape (n, 2)
        P times the values of variables that are still, at t = 0 and 1.
    response : array of shape (items, points)
    """

    segments: StillItems
    moving: Index
    variables: Index
    x: Array
    y: Array
    of_moving: Array
    of_still: Array
    response: Array


class PathOfItems:
    """A path of a problem, whose parts are made as they are asked for."""

    def __init__(self, problem: ParametricQP, path: Piecewise) -> None:
        self.problem, self.path = problem, path
        self.sides = Sides(problem)
        self.meanings = Meanings(problem, self.sides)
        self.q = np.asarray(problem.q, dtype=np.float64).T
        self._t = np.asarray(path.at_points, dtype=np.float64)
        self._rows, self._columns = _by_rows(problem.A), _by_rows(problem.A.T)
        self._quadratic = _by_rows(problem.P)

    def blocks(self, parts: Sequence[slice]) -> Iterator[ItemBlock]:
        """Make a block of each of these parts of the segments."""
        for begin in range(0, len(parts), _AT_ONCE):
            segments = [self._segments(each) for each in parts[begin : begin + _AT_ONCE]]
            known = np.concatenate([each.known for each in segments], axis=1)
            values, multipliers = known[: self.problem.n], known[self.problem.n :]
            of_still = np.asarray(self.problem.P @ values)
            slopes = of_still - self._columns @ multipliers + np.tile(self.q, len(segments))
            response = np.concatenate([slopes, self._rows @ values])
            for number, each in enumerate(segments):
                ends = slice(2 * number, 2 * number + 2)
                yield self._block(each, of_still[:, ends], response[:, ends])

    # ---- what moves ----

    def _segments(self, part: slice) -> StillItems:
        """Find out what is still on some segments."""
        path, meanings = self.path, self.meanings
        begin = path.begin[part]
        points = slice(int(begin[0]), int(begin[-1]) + 2)
        t, labels = self._t[points], path.labels_at(part.start)
        place = labels - BELOW, np.arange(labels.size)
        room = at_points(self.sides.room, np.array([t.min(), t.max()]))
        moving = ~meanings.says[place] | ~(room >= 0.0).all(axis=1)
        moving[self._changes(points)[1]] = True
        if not path.stationary:
            moving[: self.problem.n] = True
        if path.place is None:
            moving[:] = True
        else:
            places = path.place[self._entries(points)]
            moving[np.where(places < self.problem.n, places, places - self.problem.n)] = True
        known = np.where(moving[:, None], 0.0, meanings.known[place])
        return StillItems(
            points, t, begin - points.start, labels, moving, known, meanings.least[place], meanings.most[place]
        )

    def _entries(self, points: slice) -> slice:
        """The numbers of points that follow each other."""
        return slice(int(self.path.ptr[points.start]), int(self.path.ptr[points.stop]))

    def _segment_of(self, points: slice) -> Index:
        """The segment by whose labels each point is kept."""
        return np.asarray(np.searchsorted(self.path.begin, np.arange(points.start, points.stop), side="right") - 1)

    def _changes(self, points: slice) -> tuple[Index, Index, State]:
        """Changes of labels from the first of some points to the last one: before which segment, of what, and step."""
        segment = self._segment_of(points)
        before, item, step = self.path.changes
        inside = slice(*np.searchsorted(before, segment[[0, -1]], side="right").tolist())
        return before[inside], item[inside], step[inside]

    def _block(self, segments: StillItems, of_still: Array, still: Array) -> ItemBlock:
        """Make the numbers of what moves, and the response, from that to what is still."""
        n, moving = self.problem.n, np.flatnonzero(segments.moving)
        u = int(np.searchsorted(moving, n))
        variables, rows = moving[:u], moving[u:] - n
        labels, x, y = self._numbers(segments, moving, u)
        share = np.stack([1.0 - segments.t, segments.t])
        in_slopes = _Product(self._quadratic, variables, x, make=2 * u > n)
        of_moving = in_slopes.of(variables)
        response = np.empty((self.problem.items, segments.t.size))
        _add_up((still[:n], share), (in_slopes, _Product(self._rows, rows, -y[u:])), response[:n])
        _add_up((still[n:], share), (_Product(self._columns, variables, x),), response[n:])
        if self.path.stationary and self.path.place is not None:
            np.copyto(y[:u], response[variables], where=labels[:u] % 2 != 0)
        return ItemBlock(segments, moving, variables, x, y, of_moving, of_still, response)

    def _numbers(self, segments: StillItems, moving: Index, u: int) -> tuple[State, Array, Array]:
        """Labels and multipliers of items that move, of which u are variables, and the values of these."""
        path, points, n = self.path, segments.points, self.problem.n
        if path.place is None:
            x, y = (np.asarray(each, dtype=np.float64).T for each in path.points(points))
            return np.zeros(y.shape, dtype=np.int8), x, y.copy()
        labels = self._labels(segments, moving)
        sides = self.sides
        of_values = (LOWER, sides.lower[moving[:u]]), (UPPER, sides.upper[moving[:u]])
        x = _said(of_values, labels[:u], segments.t)
        y = _said(((BELOW, sides.below[moving]), (ABOVE, -sides.above[moving])), labels, segments.t)
        own = self._entries(points)
        places, numbers = path.place[own], path.number[own]
        count = np.diff(path.ptr[points.start : points.stop + 1])
        point = np.repeat(np.arange(count.size), count)
        value = places < n
        x[np.searchsorted(moving, places[value]), point[value]] = numbers[value]
        y[np.searchsorted(moving, places[~value] - n), point[~value]] = numbers[~value]
        return labels, x, y

    def _labels(self, segments: StillItems, moving: Index) -> State:
        """Labels of some items at the points of some segments, (items, points)."""
        segment = self._segment_of(segments.points)
        first, last = int(segment[0]), int(segment[-1])
        before, item, step = self._changes(segments.points)
        found = np.zeros((moving.size, last - first + 1), dtype=np.int8)
        found[:, 0] = segments.labels[moving]
        np.add.at(found, (np.searchsorted(moving, item), before - first), step)
        np.add.accumulate(found, axis=1, out=found)
        return np.asarray(found[:, segment - first])


def _said(numbers: Sequence[tuple[int, Array]], labels: State, t: Array) -> Array:
    """Numbers (items, points) that labels say, each with its label, (items, 2); 0 where they say none."""
    found = np.zeros(labels.shape)
    for label, ends in numbers:
        here = labels == label
        if here.any():
            finite = np.where(np.isfinite(ends), ends, 0.0)
            np.copyto(found, at_points(finite, t), where=here)
    return found


def _by_rows(matrix: Any) -> Any:
    """A matrix whose rows are taken one by one."""
    return sp.csr_array(matrix) if sp.issparse(matrix) else matrix


class _Product:
    """The product of some rows of a matrix, turned, with as many numbers for each point.

    Of arrays it has two ``factors``, whose product is not ``made`` but on demand.
    """

    def __init__(self, matrix: Any, which: Index, numbers: Array, make: bool = False) -> None:
        self.made: Array | None = None
        if isinstance(matrix, Signed):
            self.factors = _factors(matrix, which, numbers)
        else:
            some = matrix if which.size == matrix.shape[0] else matrix[which]
            self.factors = some.T, numbers
        left, right = self.factors
        if make or sp.issparse(left):
            self.made = np.asarray(left @ right)

    def of(self, index: Index) -> Array:
        """Rows of the product."""
        if self.made is not None:
            return self.made[index]
        return np.asarray(self.factors[0][index] @ self.factors[1])


def _factors(matrix: Signed, which: Index, numbers: Array) -> tuple[Array, Array]:
    """Two factors of the product of some rows, turned: by slopes, where these are shorter."""
    form, sign = matrix.quadratic, matrix.sign[:, None]
    signed = sign[which] * numbers
    if 0 < form.width <= which.size:
        return sign * dense(form.raw["X"]), form.part(which).slope(signed)
    return sign * form.rows(which).T, signed


def _add_up(still: tuple[Array, Array], products: Sequence[_Product], into: Array) -> None:
    """Write the sum of products into an array: of what is not made yet, one product of all factors."""
    factors = [each.factors for each in products if each.made is None]
    left, right = zip(still, *factors, strict=True)
    np.matmul(np.concatenate(left, axis=1), np.concatenate(right), out=into)
    for each in products:
        if each.made is not None:
            into += each.made
