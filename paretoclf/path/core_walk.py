"""The face of the core's engine for any program: `paretoclf.path.textbook_general.Walk` in C++, in two precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.errors import DegeneratePathError
from paretoclf.path import _core
from paretoclf.path.start import Data
from paretoclf.problem import Trace

#: Exchanges between two looks at the keyboard and at the progress bar.
_TURN = 50
_PAUSED, _REFUSED, _STATUS = 0, 5, {1: "end", 2: "infeasible", 3: "unbounded", 4: "limit"}


class CoreWalk:
    """From event to event along a line, in doubles."""

    precision: Any = _core.Walk

    def __init__(self, data: Data, labels: Index) -> None:
        H = _core.Columns(*(np.ascontiguousarray(each, dtype=float) for each in (data.problem.P, data.problem.A)))
        sides = np.stack([data.low, data.up, data.below, data.above])
        masks = np.stack([data.has_low, data.has_up, data.soft_low, data.soft_up, data.fixed])
        self._walk = self.precision(H, np.ascontiguousarray(data.q), sides, masks, np.array(labels, dtype=np.int64))

    @property
    def labels(self) -> Index:
        """Of all items, where it is."""
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
        walk, stopped = self._walk, _PAUSED
        while stopped == _PAUSED:
            stopped = walk.run(limit, keep, _TURN)
            if report is not None:
                report(walk.t)
        if stopped == _REFUSED:
            raise self._refused()
        t, labels, v, y = walk.segments()
        if keep and not len(labels):  # it ends where it starts: that point is all there is
            t, labels = np.full(2, walk.t), self.labels[None]
            v, y = (np.stack([each[0], each[0]])[None] for each in walk.now)
        status, crossed = _STATUS[stopped], walk.crossed
        ray = walk.ray[0] if status in ("infeasible", "unbounded") and crossed < 0 else None
        return Trace(t, labels.astype(np.int64), v, y, status, ray, self.exchanges, crossed)

    def _refused(self) -> DegeneratePathError:
        """Rounding errors leave open how it goes on."""
        remedy = "Rescale the data, or use a slightly different line."
        return DegeneratePathError(self._walk.why, t=self._walk.t, costs="", n_margin=self._walk.members, remedy=remedy)


class TwiceWalk(CoreWalk):
    """The same in twice the precision."""

    precision = _core.TwiceWalk
