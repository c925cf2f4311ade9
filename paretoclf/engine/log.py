"""What is kept of a path of many items: of each point what its labels, and the data of the line, do not say.

On each piece an item's value or its multiplier is known: a bound, or a slope. For variables the other one is kept, for
rows their multiplier where it is free: there are about as many of these as variables inside. Values of rows are Ax.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ABOVE, BELOW, UPPER, ParametricQP


class Grown:
    """Rows that come bit by bit, in an array that doubles: large ones lie on large pages."""

    def __init__(self, kind: Any, *shape: int) -> None:
        self._all, self._used = np.empty((128, *shape), dtype=kind), 0

    def add(self, more: Any) -> None:
        """Some more."""
        used = self._used + len(more)
        if used > len(self._all):
            larger = np.empty((max(used, 2 * len(self._all)), *self._all.shape[1:]), dtype=self._all.dtype)
            larger[: self._used] = self.rows
            self._all = larger
        self._all[self._used : used] = more
        self._used = used

    @property
    def rows(self) -> Any:
        """All that there are."""
        return self._all[: self._used]


@dataclass(frozen=True, eq=False)
class PointLog:
    """Points of a path, of which any can be asked for.

    Attributes
    ----------
    problem : ParametricQP
        What was followed; the path is told in units of its own, in which data, bounds and slopes are.
    t : array of shape (points,)
    labels : int array of shape (k, items)
    own : int array of shape (points,)
        The segment on which each point lies.
    variables : array of shape (points, n)
        Multipliers of variables that are at a bound, values of the others.
    rows, prices : arrays
        Rows at a bound, and their multipliers, from point to point.
    begin : int array of shape (points + 1,)
        Where those of each point begin.
    data : Data
    units : array of shape (items,)
    """

    problem: ParametricQP = field(repr=False)
    t: Array = field(repr=False)
    labels: Index = field(repr=False)
    own: Index = field(repr=False)
    variables: Array = field(repr=False)
    rows: Index = field(repr=False)
    prices: Array = field(repr=False)
    begin: Index = field(repr=False)
    data: Data = field(repr=False)
    units: Array = field(repr=False)

    def points(self, part: slice) -> tuple[Array, Array]:
        """Values of the variables, and multipliers of all items, at points that follow each other."""
        t, n, data = self.t[part], self.problem.n, self.data
        labels = self.labels[self.own[part]]
        found = _on_line(data.below, t, labels == BELOW)
        found -= _on_line(data.above, t, labels == ABOVE)
        bound, own, mine = labels[:, :n] % 2 != 0, self.variables[part], labels[:, :n]
        values = _on_line(data.low[:, :n], t, bound & (mine < UPPER))
        values += _on_line(data.up[:, :n], t, mine == UPPER)
        np.copyto(values, own, where=~bound)
        np.copyto(found[:, :n], own, where=bound)
        first, last, _ = part.indices(self.t.size)
        known = slice(int(self.begin[first]), int(self.begin[last]))
        count = np.diff(self.begin[first : last + 1])
        found[np.repeat(np.arange(t.size), count), self.rows[known]] = self.prices[known]
        return values, found

    def scaled(self, d: Array) -> PointLog:
        """The same where items have these units; its numbers are taken over."""
        n, own, data = self.problem.n, self.variables, self.data
        for part in range(0, len(own), 1024):
            here = slice(part, part + 1024)
            own[here] *= np.where(self.labels[self.own[here], :n] % 2 != 0, 1.0 / d[:n], d[:n])
        for part in range(0, self.rows.size, 2**18):
            here = slice(part, part + 2**18)
            self.prices[here] /= d[self.rows[here]]
        data = replace(data, low=data.low * d, up=data.up * d, below=data.below / d, above=data.above / d)
        return replace(self, data=data, units=self.units * d)


def _on_line(ends: Array, t: Array, where: Any) -> Array:
    """What is affine in t, at each t, and 0 but where it is asked for."""
    found, some = np.zeros(where.shape), where.any(axis=0)
    column = np.flatnonzero(some)
    each = np.multiply.outer(1.0 - t, ends[0, column]) + np.multiply.outer(t, ends[1, column])
    each[~where[:, column]] = 0.0
    found[:, column] = each
    return found


@dataclass(frozen=True, eq=False)
class Logged:
    """Values (0), or multipliers (1), of all items at the points of a log: an array made row by row, on demand."""

    log: PointLog
    which: int

    def __len__(self) -> int:
        return int(self.log.t.size)

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array."""
        return len(self), self.log.problem.items

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._of(slice(0, len(self))), dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and index.step in (None, 1):
            return self._of(index)
        return np.asarray(self)[index]

    def _of(self, part: slice) -> Array:
        values, found = self.log.points(part)
        if self.which:
            return found
        log = self.log
        t, labels, n = log.t[part], log.labels[log.own[part]][:, log.problem.n :], log.problem.n
        rows = np.asarray((values / log.units[:n]) @ log.problem.A.T) * log.units[n:]
        at_bound = labels % 2 != 0
        rows[at_bound] = 0.0
        rows += _on_line(log.data.low[:, n:], t, at_bound & (labels < UPPER))
        rows += _on_line(log.data.up[:, n:], t, labels == UPPER)
        return np.hstack([values, rows])


class Writer:
    """Takes points, as the core hands them over, and keeps what is not known of them."""

    def __init__(self, data: Data) -> None:
        self._data, self._begin = data, np.array([-2])  # where the last segment begins
        self._last: Index = np.zeros((1, data.problem.items), dtype=np.int8)
        self._own, self._count = Grown(np.int64), Grown(np.int64)
        self._variables = Grown(np.float64, data.problem.n)
        self._rows, self._prices = Grown(np.int32), Grown(np.float64)
        self._segments = 0

    def add(self, labels: Index, joined: Any, v: Array, y: Array) -> None:
        """Labels of segments, whether each begins where the one before ends, and points, of which the last may lack."""
        begins = np.append(self._begin, self._begin + np.cumsum(np.where(joined, 1, 2)))
        labels = np.asarray(np.concatenate([self._last, labels]))
        own = np.zeros(len(v), dtype=np.int64)
        for place in (begins + 1 - len(self._own.rows), begins - len(self._own.rows)):
            known = (place >= 0) & (place < len(v))
            own[place[known]] = np.flatnonzero(known)
        bound, n = labels[own] % 2 != 0, self._data.problem.n
        self._variables.add(np.where(bound[:, :n], y[:, :n], v[:, :n]))
        point, row = np.nonzero(bound[:, n:])
        self._rows.add(row + n)
        self._prices.add(y[point, row + n])
        self._count.add(np.bincount(point, minlength=len(v)))
        self._own.add(own + self._segments - 1)
        self._begin, self._last, self._segments = begins[-1:], labels[-1:], self._segments + len(labels) - 1

    def done(self, t: Array, labels: Index, ends: Index) -> PointLog:
        """All of it, where the segments have these ends and labels."""
        at = np.zeros(len(self._own.rows))
        at[ends] = np.stack([t[:-1], t[1:]], axis=1)
        begin = np.concatenate([[0], np.cumsum(self._count.rows)])
        known = self._variables.rows, self._rows.rows, self._prices.rows
        return PointLog(
            self._data.problem, at, labels, self._own.rows, *known, begin, self._data, np.ones(labels.shape[1])
        )
