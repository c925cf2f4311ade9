r"""Programs that the engine for boxes follows, many times as fast, though they do not come to it as boxes.

One kind is a box whose P is an array. The other kind has soft rows, each with one side, and variables without bounds;
all of them but one are squared, and cost nothing else. Such is the primal of a support vector machine:

.. math::

   \min_{w,b}\ \tfrac12w^\top Dw+q(t)b+\sum_ic_i(t)\,(l_i-z_i^\top w-u_ib)_+ .

The multipliers a of its rows solve a box,

.. math::

   \min_a\ \tfrac12|D^{-1/2}Z^\top a|^2-l^\top a\quad\text{s.t. }u^\top a=q(t),\ 0\le a\le c(t),

with :math:`w=D^{-1}Z^\top a`; and b is the multiplier of its equation, with the other sign. Labels and numbers of the
one are those of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.tolerances import CERTIFY, STEEP
from paretoclf.engine.boxes import box_trace
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import INSIDE, UPPER, ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

#: A point that differs from the end of the segment before by no more than this, relative to its kind, is that end.
_JOINED = 1e-14
#: Segments whose points are made together.
_SEGMENTS = 128


def box_path(
    engine: str, problem: ParametricQP, labels: Any, max_events: int | None, progress: Any, deadline: float | None
) -> Trace | None:
    """The path of a problem by the engine for boxes; None where it is no box to it, or has no path as one."""
    how = max_events, progress, deadline
    if not isinstance(problem.P, np.ndarray):
        return box_trace(engine, problem, labels, *how)
    for hidden in (ArrayBox.of(problem), DualBox.of(problem)):
        found = None if hidden is None else box_trace(engine, hidden.box, None, *how)
        if hidden is not None and found is not None and found.segments:
            return replace(found, path=_taken_back(hidden, found.path))
    return None


class BoxPoints(NamedTuple):
    """Some points of the path of a box with n variables and m equations.

    Attributes
    ----------
    number : int array of shape (p,)
        Their numbers on that path.
    t : array of shape (p,)
    still : array of shape (2, n)
        Values at t = 0 and 1 of the variables that are at one bound at all of these points; 0 for others.
    moving : int array of shape (u,)
        These others.
    inside, came : bool arrays of shape (p, u)
        Which of them are at no bound, and which come to one there.
    x : array of shape (p, u)
        Their values.
    y : array of shape (p, m)
        Multipliers of the equations.
    """

    number: Index
    t: Array
    still: Array
    moving: Index
    inside: Mask
    came: Mask
    x: Array
    y: Array

    def products(self, matrix: Array) -> Array:
        """Products of all values with a matrix of n rows, a row for each point."""
        found = _at(self.still @ matrix, self.t)
        found += self.x @ matrix[self.moving]
        return found

    def joined(self) -> BoxPoints:
        """One point where two segments meet, in place of the end of the first and the beginning of the second.

        A variable that leaves a bound there is at that bound, and one that comes to a bound has no multiplier.
        """
        second = np.flatnonzero(self.number % 2 == 0)
        second = second[second > 0]
        same = _alike(self.x, second) & _alike(self.y, second)
        here = second[same]
        end = here - 1
        now, before = self.inside[here], self.inside[end]
        x, came = self.x.copy(), self.came.copy()
        x[here] = np.where(now & ~before, x[end], x[here])
        came[here] = before & ~now
        kept = np.ones(self.number.size, dtype=np.bool_)
        kept[end] = False
        found: dict[str, Any] = {
            "number": self.number,
            "t": self.t,
            "inside": self.inside,
            "came": came,
            "x": x,
            "y": self.y,
        }
        return self._replace(**{name: each[kept] for name, each in found.items()})


class PointNumbers(NamedTuple):
    """How many numbers each point has, and all of them with their places, as `Piecewise` keeps them."""

    counts: Index
    place: Any
    number: Array


@dataclass(frozen=True)
class ArrayBox:
    """A box whose P is an array."""

    problem: ParametricQP
    box: ParametricQP

    @classmethod
    def of(cls, problem: ParametricQP) -> ArrayBox | None:
        """Give P to the engine for boxes as a kernel matrix; None for a linear program."""
        if not problem.P.any():
            return None
        form = Signed(Matrix(problem.P), np.ones(problem.n))
        return cls(problem, replace(problem, P=form))

    def labels(self, path: Piecewise) -> tuple[State, tuple[Index, Index, State]]:
        """Labels on the first segment, and their changes."""
        return path.first, path.changes

    def numbers(self, points: BoxPoints) -> PointNumbers:
        """Values of the variables at no bound, multipliers of the others and of the equations."""
        problem, n, moving = self.problem, self.problem.n, points.moving
        slopes = points.products(problem.P) + problem.q[0] - points.y @ problem.A
        of_moving = np.where(points.came, 0.0, slopes[:, moving])
        slopes[:, moving] = np.where(points.inside, points.x, of_moving)
        number = np.hstack([slopes, points.y])
        multipliers = np.arange(n, n + problem.items, dtype=np.int32)
        place = np.tile(multipliers, (len(number), 1))
        place[:, moving] -= n * points.inside
        return PointNumbers(np.full(len(number), problem.items), place.ravel(), number.ravel())


@dataclass(frozen=True)
class DualBox:
    """Soft rows over squares, as the box of their multipliers.

    Attributes
    ----------
    sign : array of shape (rows,)
        1 for rows with a lower bound, -1 for those with an upper one.
    squared : bool array of shape (n,)
        The variables with a square.
    slopes : array of shape (rows, squared)
        What a unit of each multiplier adds to them.
    """

    problem: ParametricQP
    box: ParametricQP
    sign: Array
    squared: Mask
    slopes: Array

    @classmethod
    def of(cls, problem: ParametricQP) -> DualBox | None:
        """State the box; None where the problem is of another kind."""
        n, diagonal = problem.n, np.diagonal(problem.P)
        squared = diagonal > 0.0
        if not _is_of_hinges(problem, squared):
            return None
        of_rows = np.isfinite(problem.lower[0, n:])
        prices = np.where(of_rows, problem.below[:, n:], problem.above[:, n:])
        if not prices.any(axis=0).all():
            return None
        sign = np.where(of_rows, 1.0, -1.0)
        sides = np.where(of_rows, problem.lower[:, n:], -problem.upper[:, n:])
        rows = sign[:, None] * problem.A
        features = Features(rows[:, squared] / np.sqrt(diagonal[squared]))
        if STEEP * prices.max() * features.diagonal().max() > CERTIFY:
            return None  # rounding of a multiplier is too much of a w that is made of them
        form = Signed(features, np.ones(sign.size))
        box = ParametricQP.box(form, sides[0], rows[:, ~squared].T, prices, problem.q[:, ~squared])
        slopes = rows[:, squared] / diagonal[squared]
        return cls(problem, replace(box, q=-sides), sign, squared, slopes)

    def labels(self, path: Piecewise) -> tuple[State, tuple[Index, Index, State]]:
        """Labels on the first segment, and their changes: a row is where its multiplier is not."""
        n, side = self.problem.n, self.sign.astype(np.int8)
        first = np.zeros(self.problem.items, dtype=np.int8)
        first[n:] = -side * (path.first[: side.size] + 1)
        before, row, step = path.changes
        return first, (before, n + row, -side[row] * step)

    def numbers(self, points: BoxPoints) -> PointNumbers:
        """Values of all variables, and multipliers of rows at their bound."""
        n, moving = self.problem.n, points.moving
        number = np.empty((points.t.size, n + moving.size))
        number[:, :n][:, self.squared] = points.products(self.slopes)
        number[:, :n][:, ~self.squared] = -points.y
        np.multiply(points.x, self.sign[moving], out=number[:, n:])
        own = np.ones(number.shape, dtype=np.bool_)
        own[:, n:] = points.inside
        place = np.concatenate([np.arange(n), n + n + moving]).astype(np.int32)
        return PointNumbers(own.sum(axis=1), place[np.nonzero(own)[1]], number[own])


def _is_of_hinges(problem: ParametricQP, squared: Mask) -> bool:
    """Whether rows have one side each, and variables no bounds: all but one have a square, and no other cost."""
    n, squares = problem.n, np.count_nonzero(squared)
    lower, upper = np.isfinite(problem.lower[0]), np.isfinite(problem.upper[0])
    free = not (lower[:n] | upper[:n]).any()
    one_sided = (lower[n:] != upper[n:]).all()
    apart = np.count_nonzero(problem.P) == squares and not problem.q[:, squared].any()
    few = max(n - 1, 1) <= squares <= problem.items - n
    return bool(free and one_sided and apart and few)


def _taken_back(hidden: ArrayBox | DualBox, path: Piecewise) -> Piecewise:
    """The path of a problem from that of its box."""
    points = list(_points_of(path))
    counts, place, number = (np.concatenate(each) for each in zip(*map(hidden.numbers, points), strict=True))
    begin = np.flatnonzero(np.concatenate([each.number for each in points]) % 2 == 0)
    ptr = np.append(0, np.cumsum(counts))
    return Piecewise(hidden.problem, path.t, begin, *hidden.labels(path), ptr, place, number)


def _points_of(path: Piecewise) -> Iterator[BoxPoints]:
    """Points of the path of a box, whose segments have two of their own: one where two segments meet."""
    steps = range(2 * _SEGMENTS + 1, path.count, 2 * _SEGMENTS)  # each begins where a segment ends
    for begin, end in pairwise([0, *steps, path.count]):
        yield _all_points(path, slice(begin, end)).joined()


def _all_points(path: Piecewise, part: slice) -> BoxPoints:
    """Points of the path of a box that follow each other, as it has them."""
    number = np.arange(part.start, part.stop)
    segment = number // 2
    labels = path.labels(int(segment[0]), int(segment[-1]) + 1)[:, : path.problem.n]
    first = labels[0]
    moves = (first == INSIDE) | (labels != first).any(axis=0)
    still_at_cap = ~moves & (first == UPPER)
    still = path.problem.upper[:, : moves.size] * still_at_cap
    moving = np.flatnonzero(moves)
    labels = labels[segment - segment[0]][:, moving]
    x, y = _numbers_of(path, part, moving, labels == UPPER)
    none = np.zeros(labels.shape, dtype=np.bool_)
    return BoxPoints(number, path.at_points[part], still, moving, labels == INSIDE, none, x, y)


def _numbers_of(path: Piecewise, part: slice, moving: Index, at_cap: Mask) -> tuple[Array, Array]:
    """Values of some variables, and multipliers of the equations, at points that follow each other."""
    problem: Any = path.problem
    n, t = problem.n, path.at_points[part]
    x = _at(problem.upper[:, moving], t)
    x *= at_cap
    ptr = path.ptr[part.start : part.stop + 1]
    entries = slice(int(ptr[0]), int(ptr[-1]))
    place, number = path.places[entries], path.number[entries]
    of_variables = place < n
    point = np.repeat(np.arange(t.size), np.diff(ptr))
    x[point[of_variables], np.searchsorted(moving, place[of_variables])] = number[of_variables]
    return x, number[~of_variables].reshape(t.size, problem.items - n)


def _at(ends: Array, t: Array) -> Array:
    """Rows that are affine in t, given those at 0 and at 1, at some t."""
    return np.stack([1.0 - t, t], axis=1) @ ends


def _alike(numbers: Array, second: Index) -> Mask:
    """Whether points are those before them, but for rounding."""
    now = numbers[second]
    apart = np.abs(now - numbers[second - 1]).max(axis=1, initial=0.0)
    return np.asarray(apart <= _JOINED * np.abs(now).max(axis=1, initial=0.0))
