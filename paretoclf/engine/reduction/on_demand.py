"""Points of the compiled program that are made when they are asked for, from what an engine has kept of its path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.memory import require_memory
from paretoclf.engine.reduction.products import blocks, turned
from paretoclf.engine.reduction.program import Points
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.problem.parametric_qp import Trace


class PointsOnDemand:
    """`Points` of a path that would be large: they are taken back through the reduction block by block.

    Parameters
    ----------
    reduced : Reduced
    trace : Trace
    """

    def __init__(self, reduced: Reduced, trace: Trace) -> None:
        self._reduced, self._trace = reduced, trace
        self.begin: Index = trace.ends[:, 0]
        self._t = np.zeros(len(trace.values))
        self._t[trace.ends] = np.stack([trace.t[:-1], trace.t[1:]], axis=1)
        self._block: tuple[int, Array, Array] | None = None  # the last that a segment was asked of

    def __len__(self) -> int:
        return int(self._t.size)

    @property
    def x(self) -> Array:
        """Columns at all points."""
        return self.part(slice(0, len(self)))[0]

    @property
    def z(self) -> Array:
        """Multipliers at all points."""
        return self.part(slice(0, len(self)))[1]

    def part(self, part: slice) -> tuple[Array, Array]:
        """Both, at points that follow each other."""
        line, t = self._reduced.program, self._t[part]
        x, z = np.empty((t.size, line.n)), np.empty((t.size, line.m))
        parts = blocks(t.size, line.n + line.m)
        if t.size <= parts[0].stop + 1:  # a block of segments has one point more
            parts = [slice(0, t.size)]
        for own in parts:
            there = slice(part.start + own.start, part.start + own.stop)
            for found, into in zip(
                self._reduced.back_together(*self._trace.points(there), t[own]), (x, z), strict=True
            ):
                turned(found, into[own])
        return x, z

    def spread(self) -> tuple[Array, Array]:
        """Both, at both ends of each segment."""
        line = self._reduced.program
        size = 8 * (2 * self.begin.size + len(self)) * (line.n + line.m)
        require_memory(size, f"all points of {self.begin.size} segments", "ask for some of them")
        return Points(*self.part(slice(0, len(self))), self.begin).spread()

    def in_parts(self, which: int) -> Iterator[Array]:
        """Columns (0) or multipliers (1) at both ends of some segments, then of the next ones, to the last."""
        line = self._reduced.program
        for own in blocks(self.begin.size, 2 * (line.n + line.m)):
            first, last = int(self.begin[own.start]), int(self.begin[own.stop - 1]) + 2
            begin = self.begin[own] - first
            yield self.part(slice(first, last))[which][np.stack([begin, begin + 1], axis=1)]

    def segment(self, j: int) -> tuple[Array, Array]:
        """Both, at both ends of segment j."""
        line, first = self._reduced.program, int(self.begin[j])
        size = blocks(len(self), line.n + line.m)[0].stop
        block = self._block
        if block is None or block[0] != first // size:
            begin = first // size * size
            block = self._block = (first // size, *self.part(slice(begin, min(begin + size + 1, len(self)))))
        own = slice(first % size, first % size + 2)
        return block[1][own], block[2][own]
