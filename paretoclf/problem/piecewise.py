"""The stored form of the path of a parametric program: labels and their changes, and the numbers that they do not say.

On its piece of the staircase (`paretoclf.problem.parametric_qp`) the value or the multiplier of an item is known: a
bound, or a slope. The other one is a number of its own, but for values of rows, which are Ax. A path keeps these
numbers alone, point by point; all else is made when somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.problem.parametric_qp import ABOVE, BELOW, LOWER, UPPER, ParametricQP

if TYPE_CHECKING:
    from paretoclf.problem.stated_items import StatedItems


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A path of k segments, on each of which values and multipliers are affine in t.

    Attributes
    ----------
    problem : ParametricQP or StatedItems
        Its bounds and prices say what the labels mean, and its data the rest; a path of a file goes without these.
    t : array of shape (k + 1,)
        Ends of the segments, increasing.
    begin : int array of shape (k,)
        The point where each segment begins; it ends at the next point. Where two segments meet they share one, which is
        kept by the labels of the second.
    first : int8 array of shape (items,)
        Labels on the first segment.
    changes : tuple of three int arrays of shape (c,)
        Before which segment an item changes its label, the item, and by how much; in the order of the segments.
    ptr : int array of shape (points + 1,)
        The numbers of point i are ``number[ptr[i]:ptr[i + 1]]``.
    place : int array of shape (e,), optional
        Where each number stands in (x, y): the values of the n variables, then the multipliers of all items. None where
        every point has all of them, in order.
    number : array of shape (e,)
    stationary : bool
        Whether multipliers of variables at a bound are not among the numbers: they are what stationarity leaves,
        ``Px + q - A'y``.
    """

    problem: ParametricQP | StatedItems = field(repr=False)
    t: Any
    begin: Index = field(repr=False)
    first: State = field(repr=False)
    changes: tuple[Index, Index, State] = field(repr=False)
    ptr: Index = field(repr=False)
    place: Index | None = field(repr=False)
    number: Any = field(repr=False)
    stationary: bool = False

    @classmethod
    def of(cls, problem: ParametricQP, t: Any, x: Any, y: Any, labels: Any = None) -> Piecewise:
        """Store values of the variables (k, 2, n) and multipliers of all items (k, 2, items) at both ends of segments.

        Where a segment begins as the one before ends, the two share that point. Without ``labels`` (k, items) none are
        known; nothing is made of them, since the path has all its numbers.
        """
        k, items = len(x), problem.items
        labels = np.zeros((k, items), dtype=np.int8) if labels is None else np.asarray(labels, dtype=np.int8)
        both = np.concatenate([x, y], axis=2)
        kept = np.ones((k, 2), dtype=np.bool_)
        kept[1:, 0] = (both[1:, 0] != both[:-1, 1]).any(axis=1)
        numbers = both[kept]
        first = labels[0] if k else np.zeros(items, dtype=np.int8)
        ptr = np.arange(len(numbers) + 1) * both.shape[2]
        begin = np.cumsum(kept)[::2] - 1
        return cls(problem, t, begin, first, changes_of(labels), ptr, None, numbers.ravel())

    @classmethod
    def nowhere(cls, problem: ParametricQP, t: Any) -> Piecewise:
        """A path without segments, at the one t (1,)."""
        none = np.zeros(0)
        return cls.of(problem, t, none.reshape(0, 2, problem.n), none.reshape(0, 2, problem.items))

    # ---- its sizes ----

    @property
    def segments(self) -> int:
        """Number of segments."""
        return int(self.begin.size)

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.ptr.size - 1)

    @property
    def places(self) -> Index:
        """Places of the numbers in (x, y), shape (e,)."""
        if self.place is None:
            return np.tile(np.arange(self.problem.n + self.problem.items), self.count)
        return self.place

    @property
    def ends(self) -> Index:
        """The two points between which each segment lies, shape (k, 2)."""
        return np.asarray(self.begin[:, None] + np.arange(2))

    @cached_property
    def at_points(self) -> Any:
        """The t of each point, shape (points,)."""
        found = np.empty(self.count, dtype=self.t.dtype)
        found[self.begin + 1] = self.t[1:]
        found[self.begin] = self.t[:-1]
        return found

    @cached_property
    def _segment(self) -> Index:
        """The segment by whose labels each point is kept: that which begins there, or else ends there."""
        found = np.zeros(self.count, dtype=np.int64)
        found[self.begin + 1] = np.arange(self.segments)
        found[self.begin] = np.arange(self.segments)
        return found

    # ---- labels ----

    def labels_at(self, segment: int) -> State:
        """Labels on a segment, int8 of shape (items,)."""
        before, item, step = self.changes
        passed = slice(int(np.searchsorted(before, segment, side="right")))
        found = self.first.copy()
        np.add.at(found, item[passed], step[passed])
        return found

    def labels(self, first: int = 0, last: int | None = None) -> State:
        """Labels on segments ``first`` to ``last - 1``, by default on all; int8 of shape (segments, items)."""
        last = self.segments if last is None else last
        found = np.zeros((max(last - first, 0), self.first.size), dtype=np.int8)
        if not len(found):
            return found
        found[0] = self.labels_at(first)
        before, item, step = self.changes
        inside = slice(*np.searchsorted(before, [first + 1, last]).tolist())
        np.add.at(found, (before[inside] - first, item[inside]), step[inside])
        return np.asarray(np.add.accumulate(found, axis=0, out=found))

    # ---- points ----

    def points(self, part: slice | None = None) -> tuple[Any, Any]:
        """Values of the variables (p, n) and multipliers of all items (p, items) at points that follow each other."""
        first, last, _ = (part or slice(None)).indices(self.count)
        n = self.problem.n
        if self.place is None:
            found = self.number.reshape(self.count, n + self.problem.items)[first:last]
            return found[:, :n], found[:, n:]
        if first >= last:
            return np.zeros((0, n)), np.zeros((0, self.problem.items))
        t, segment = self.at_points[first:last], self._segment[first:last]
        labels = self.labels(int(segment[0]), int(segment[-1]) + 1)[segment - segment[0]]
        found = self._said_by_labels(labels, t)
        self._write_numbers(found, slice(first, last))
        x, y = found[:, :n], found[:, n:]
        if self.stationary:
            at_bound = labels[:, :n] % 2 != 0
            np.copyto(y[:, :n], self._gradient(x, y, t), where=at_bound)
        return x, y

    def spread(self) -> tuple[Any, Any]:
        """Values of the variables (k, 2, n) and multipliers of all items (k, 2, items) at both ends of each segment."""
        x, y = self.points()
        return x[self.ends], y[self.ends]

    def whole(self, part: slice | None = None) -> tuple[Any, Any]:
        """Values of all items, (p, items), and their multipliers at points that follow each other."""
        x, y = self.points(part)
        problem: Any = self.problem
        rows = np.asarray((problem.A @ x.T).T)
        return np.concatenate([x, rows], axis=1), y

    def at(self, t: Any) -> tuple[Any, Any]:
        """Values of the variables (n,) and multipliers of all items (items,) at a t on the path."""
        segment = min(max(int(np.searchsorted(self.t, t, side="right")) - 1, 0), self.segments - 1)
        length = self.t[segment + 1] - self.t[segment]
        share = (t - self.t[segment]) / length if length else 0 * t
        begin = int(self.begin[segment])
        x, y = self.points(slice(begin, begin + 2))
        return (1 - share) * x[0] + share * x[1], (1 - share) * y[0] + share * y[1]

    def _said_by_labels(self, labels: State, t: Array) -> Array:
        """Values of variables, and multipliers of all items, as far as labels say them; else 0."""
        found = np.zeros((t.size, self.problem.n + self.problem.items))
        for known in self._known:
            known.write(found, labels, t)
        return found

    @cached_property
    def _known(self) -> tuple[_KnownNumbers, ...]:
        """Numbers that labels say: values of variables, multipliers of items."""
        problem = self.problem
        variables, items = slice(problem.n), slice(problem.items)
        sides = (
            (LOWER, problem.lower, 1.0, variables, 0),
            (UPPER, problem.upper, 1.0, variables, 0),
            (BELOW, problem.below, 1.0, items, problem.n),
            (ABOVE, problem.above, -1.0, items, problem.n),
        )
        known = (_KnownNumbers.of(label, sign * ends[:, who], begin) for label, ends, sign, who, begin in sides)
        return tuple(each for each in known if each.first.size)

    def _write_numbers(self, found: Array, part: slice) -> None:
        """Write the numbers of points that follow each other into (x, y)."""
        assert self.place is not None
        ptr = self.ptr[part.start : part.stop + 1]
        entries = slice(int(ptr[0]), int(ptr[-1]))
        point = np.repeat(np.arange(len(found)), np.diff(ptr))
        found[point, self.place[entries]] = self.number[entries]

    def _gradient(self, x: Array, y: Array, t: Array) -> Array:
        """Px + q - A'y of rows at points, (p, n)."""
        problem: Any = self.problem
        linear = np.multiply.outer(1.0 - t, problem.q[0]) + np.multiply.outer(t, problem.q[1])
        products = problem.P @ x.T if problem.n else np.zeros((0, t.size))
        of_rows = y[:, problem.n :] @ problem.A
        return np.asarray(products.T + linear - of_rows)

    # ---- other forms of it ----

    def scaled(self, problem: ParametricQP, of_values: Array, of_multipliers: Array) -> Piecewise:
        """The path of a problem whose values are these multiples, (n,), and whose multipliers are those, (items,)."""
        factor = np.concatenate([of_values, of_multipliers])
        return replace(self, problem=problem, number=self.number * factor[self.places])

    def of_some(self, problem: ParametricQP, kept: Index) -> Piecewise:
        """The path of a problem of which only some items, in order, are left; it has numbers of its own for all.

        The first ``problem.n`` of them are variables.
        """
        assert not self.stationary
        place = np.full(self.problem.n + self.problem.items, -1)
        place[kept[: problem.n]] = np.arange(problem.n)
        place[self.problem.n + kept] = problem.n + np.arange(kept.size)
        new_place = place[self.places]
        stays = new_place >= 0
        ptr = np.concatenate([[0], np.cumsum(stays)])[self.ptr]
        before, item, step = self.changes
        new_item = place[self.problem.n + item] - problem.n
        changed = new_item >= 0
        changes = before[changed], new_item[changed], step[changed]
        numbers = new_place[stays], self.number[stays]
        return Piecewise(problem, self.t, self.begin, self.first[kept], changes, ptr, *numbers)


@dataclass(frozen=True)
class _KnownNumbers:
    """Numbers that are affine in t, each known where its item has a label; items for which they are 0 are left out.

    Where they are the same for all items, there is one.
    """

    label: int
    item: Any  # whose label it is, and
    place: Any  # where its number stands: as slices where they follow each other
    first: Array
    last: Array

    @classmethod
    def of(cls, label: int, ends: Array, begin: int) -> _KnownNumbers:
        """Read the numbers of items from ``begin`` on in (x, y); infinite ones are those that no label says."""
        finite = np.where(np.isfinite(ends), ends, 0.0)
        item = np.flatnonzero(finite.any(axis=0))
        numbers = finite[:, item]
        if (numbers == numbers[:, :1]).all():  # such as one cost for all
            numbers = numbers[:, :1]
        return cls(label, _as_slice(item), _as_slice(begin + item), *numbers)

    def write(self, found: Array, labels: State, t: Array) -> None:
        """Write them into (x, y) at points, where the labels there say them."""
        here = labels[:, self.item] == self.label
        if (self.first == self.last).all():
            found[:, self.place] += here * self.first
            return
        numbers = np.multiply.outer(1.0 - t, self.first)
        numbers += np.multiply.outer(t, self.last)
        found[:, self.place] += here * numbers


def _as_slice(places: Index) -> Any:
    """Places, as a slice where they follow each other."""
    if places.size and places[-1] - places[0] == places.size - 1:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def changes_of(labels: State) -> tuple[Index, Index, State]:
    """Changes of labels (k, items) from segment to segment, as `Piecewise` keeps them."""
    before, item = np.nonzero(labels[1:] != labels[:-1])
    step = labels[before + 1, item] - labels[before, item]
    return before + 1, item, step.astype(np.int8)
