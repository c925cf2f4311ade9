"""The face of the core's engine for any program: `paretoclf.engine.textbook.Walk` in C++, in two precisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import _core
from paretoclf.engine.log import Grown, Logged, Writer
from paretoclf.engine.squares import root
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ParametricQP, Trace

#: Exchanges between two looks at the keyboard and at the progress bar: at most so many, and fewer of many items.
_TURN, _PASSED = 50, 200_000
#: Products with P go through squares where these are no more than this share of the variables.
_FEW = 1 / 16
#: What they may miss of P, in units of its diagonal: less than the core allows for rounding (1e-14, general.hpp).
_MISSED = 4e-15
#: Of paths with so many items no point is kept whole.
LOGGED = 1000
_PAUSED, _REFUSED, _STATUS = 0, 5, {1: "end", 2: "infeasible", 3: "unbounded", 4: "limit"}


class CoreWalk:
    """From event to event along a line, in doubles, with a solution that is carried on while it is good enough."""

    precision: Any = _core.Walk
    afresh = False
    logs = True  # whether points of many items are logged

    def __init__(self, data: Data, labels: Index) -> None:
        if type(self) not in data.read:
            data.read[type(self)] = self.columns(data.problem)
        H, *more = data.read[type(self)]
        sides = np.stack([data.low, data.up, data.below, data.above])
        masks = np.stack([data.has_low, data.has_up, data.soft_low, data.soft_up, data.fixed])
        own = np.ascontiguousarray(data.q), sides, masks, np.array(labels, dtype=np.int64)
        self._walk, self._data = self.precision(H, *own, *more), data
        self._walk.afresh = self.afresh

    def columns(self, problem: ParametricQP) -> tuple[Any, ...]:
        """The matrix H, and what more the core needs."""
        matrices = problem.P, problem.A, self.squares(problem.P)
        return (_core.Columns(*(np.ascontiguousarray(each, dtype=float) for each in matrices)),)

    def squares(self, P: Array) -> Array:
        """F with F'F = P up to rounding where that has few rows, by which products are faster; else without rows."""
        F = root(P, int(_FEW * len(P)), _MISSED)
        return np.zeros((0, len(P))) if F is None else F

    @property
    def labels(self) -> Index:
        """Where each item is."""
        return np.asarray(self._walk.labels, dtype=np.int64)

    @property
    def exchanges(self) -> int:
        """How many there were."""
        return int(self._walk.exchanges)

    def solve(self, t: float) -> tuple[Array, Array]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        found = self._walk.solve(float(t))
        if found is None:
            raise self._refused()
        v, y = found
        return v, y

    def follow(self, limit: int, keep: bool = True, report: Callable[[float], Any] | None = None) -> Trace:
        """Go on to the end, or to where there is none."""
        walk, stopped, items = self._walk, _PAUSED, len(self.labels)
        t, labels, joined = Grown(np.float64), Grown(np.int8, items), Grown(np.bool_)
        points = Grown(np.float64, items), Grown(np.float64, items)
        writer = Writer(replace(self._data, read={})) if keep and self.logs and items >= LOGGED else None
        t.add(np.full(1, walk.t))
        turn = min(_TURN, 1 + _PASSED // max(items, 1))
        while stopped == _PAUSED:
            stopped = walk.run(limit, keep, turn)
            if report is not None:
                report(walk.t)
            if keep:
                found = walk.segments(stopped != _PAUSED)
                for kept, more in zip((t, labels, joined), found, strict=False):
                    kept.add(more)
                if writer is not None:
                    writer.add(*found[1:])
                for kept, more in zip(points if writer is None else (), found[3:], strict=False):
                    kept.add(more)
        if stopped == _REFUSED:
            raise self._refused()
        status, crossed = _STATUS[stopped], walk.crossed
        ray = walk.ray[0] if status in ("infeasible", "unbounded") and crossed < 0 else None
        how = (status, ray, self.exchanges, crossed)
        if keep and not len(labels.rows):  # it ends where it starts: that point is all there is
            v, y = (np.repeat(each, 2, axis=0)[None] for each in walk.now)
            return Trace.of(np.full(2, walk.t), self.labels[None], v, y, *how)
        begins = np.cumsum(np.where(joined.rows, 1, 2)) - 2
        ends = np.stack([begins, begins + 1], axis=1)
        if writer is not None:
            log = writer.done(t.rows, labels.rows, ends)
            return Trace(t.rows, labels.rows, ends, Logged(log, 0), Logged(log, 1), *how, log)
        # Where nothing is left to move, points have no numbers by which they could be counted.
        v, y = (each.rows if items else np.zeros((int(ends[-1, 1]) + 1 if len(ends) else 0, 0)) for each in points)
        return Trace(t.rows, labels.rows, ends, v, y, *how)

    def _refused(self) -> DegeneratePathError:
        """Rounding errors leave open how it goes on."""
        remedy = "Rescale the data, or use a slightly different line."
        return DegeneratePathError(self._walk.why, t=self._walk.t, costs="", n_margin=None, remedy=remedy)


class AfreshWalk(CoreWalk):
    """The same, where each solution is computed afresh."""

    afresh = True


class FineWalk(CoreWalk):
    """The same with solutions in twice the precision, on a basis in doubles (``coarse.hpp``)."""

    precision: Any = _core.FineWalk
    logs = False  # a value that is the sum of what cancels would lose its digits

    def squares(self, P: Array) -> Array:
        """None: products with P are as precise as its numbers."""
        return np.zeros((0, len(P)))


class TwiceWalk(FineWalk):
    """The same with the basis in twice the precision, too: rounding of P is curvature here (``squares.py``)."""

    precision = _core.TwiceWalk
