"""The face of the core's engine for any program: `paretoclf.engine.textbook.Walk` in C++, in two precisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import _core
from paretoclf.engine.squares import root
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

#: Exchanges between two looks at the keyboard and at the progress bar: at most so many, and fewer of many items.
_TURN, _PASSED = 50, 200_000
#: Products with P go through squares where these are no more than this share of the variables.
_FEW = 1 / 16
#: Largest residual of these squares, in units of the diagonal: less than the core allows for rounding (program.hpp).
_MISSED = 4e-15
_PAUSED, _LIMIT, _REFUSED, _INTERRUPTED = 0, 4, 5, 6
_STATUS = {1: "end", 2: "infeasible", 3: "unbounded", _LIMIT: "limit", _INTERRUPTED: "interrupted"}


class CoreWalk:
    """Follows a problem from event to event in doubles, with a solution that is updated while it is good enough."""

    precision: Any = _core.Walk
    afresh = False  # whether each solution is recomputed
    whole_points = False  # whether points are written down with what labels say of them

    def __init__(self, data: Data, labels: Index) -> None:
        if type(self) not in data.read:
            data.read[type(self)] = self.columns(data.problem)
        H, *more = data.read[type(self)]
        sides = np.stack([data.low, data.up, data.below, data.above])
        masks = np.stack([data.has_low, data.has_up, data.soft_low, data.soft_up, data.fixed])
        own = np.ascontiguousarray(data.q), sides, masks, np.array(labels, dtype=np.int64)
        self._walk, self._data = self.precision(H, *own, *more), data
        self._walk.afresh, self._walk.whole_points = self.afresh, self.whole_points

    def columns(self, problem: ParametricQP) -> tuple[Any, ...]:
        """The matrix H as the core reads it, and further arguments of its walk."""
        matrices = problem.P, problem.A, self.squares(problem.P)
        return (_core.Columns(*(np.ascontiguousarray(each, dtype=float) for each in matrices)),)

    def squares(self, P: Array) -> Array:
        """F with F'F = P up to rounding where that has few rows, by which products are faster; else without rows."""
        F = root(P, int(_FEW * len(P)), _MISSED)
        return np.zeros((0, len(P))) if F is None else F

    @property
    def labels(self) -> Index:
        """Piece of the staircase on which each variable and row is now, such as ``LOWER`` or ``INSIDE``."""
        return np.asarray(self._walk.labels, dtype=np.int64)

    @property
    def exchanges(self) -> int:
        """Number of exchanges so far."""
        return int(self._walk.exchanges)

    def solve(self, t: float) -> tuple[Array, Array]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        found = self._walk.solve(float(t))
        if found is None:
            raise self._refused()
        values, multipliers = found
        return values, multipliers

    def follow(
        self,
        limit: int,
        keep: bool = True,
        report: Callable[[float], Any] | None = None,
        deadline: float | None = None,
    ) -> Trace:
        """Go on to t = 1, or to where there is no optimum any more, or to a limit."""
        try:
            stopped = self._run(limit, keep, report, deadline)
        except KeyboardInterrupt:  # between two turns: what was walked stands
            if not keep or deadline is None:
                raise
            stopped = _INTERRUPTED
        if stopped == _REFUSED:
            raise self._refused()
        walk, status = self._walk, _STATUS[stopped]
        crossed = walk.crossed
        ray = walk.ray[0] if status in ("infeasible", "unbounded") and crossed < 0 else None
        path = self._path() if keep else Piecewise.nowhere(self._data.problem, np.full(1, walk.t))
        return Trace(path, status, ray, self.exchanges, crossed)

    def _run(self, limit: int, keep: bool, report: Callable[[float], Any] | None, deadline: float | None) -> int:
        """Walk in turns until there is a reason to stop; return which."""
        turn = min(_TURN, 1 + _PASSED // max(len(self.labels), 1))
        while True:
            stopped = self._walk.run(limit, keep, turn)
            if report is not None:
                report(self._walk.t)
            if stopped == _PAUSED and deadline is not None and time.monotonic() >= deadline:
                return _LIMIT
            if stopped != _PAUSED:
                return int(stopped)

    def _path(self) -> Piecewise:
        """The path so far; where it ends where it starts, that point with itself as its other end."""
        problem, walk = self._data.problem, self._walk
        t, joined, first, changes, (counts, place, number) = walk.segments()
        if not joined.size:
            values, multipliers = (np.repeat(each, 2, axis=0)[None] for each in walk.now)
            values = values[:, :, : problem.n]
            return Piecewise.of(problem, np.full(2, walk.t), values, multipliers, self.labels[None])
        begin = np.cumsum(np.where(joined, 1, 2)) - 2
        ptr = np.concatenate([[0], np.cumsum(counts)])
        return Piecewise(problem, t, begin, first, changes, ptr, None if self.whole_points else place, number)

    def _refused(self) -> DegeneratePathError:
        """Make the error that rounding leaves open how the path goes on."""
        remedy = "Rescale the data, or use a slightly different line."
        return DegeneratePathError(self._walk.why, t=self._walk.t, costs="", n_margin=None, remedy=remedy)


class AfreshWalk(CoreWalk):
    """Follows a problem from event to event in doubles, with each solution recomputed."""

    afresh = True


class FineWalk(CoreWalk):
    """Follows a problem with solutions in twice the precision, on a basis in doubles (``coarse.hpp``)."""

    precision: Any = _core.FineWalk
    whole_points = True

    def squares(self, P: Array) -> Array:
        """F without rows: products with P are as precise as its numbers."""
        return np.zeros((0, len(P)))


class TwiceWalk(FineWalk):
    """Follows a problem with solution and basis in twice the precision: rounding of P is curvature (``squares.py``)."""

    precision = _core.TwiceWalk
