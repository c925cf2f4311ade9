"""The points of a reduced problem's path as those of the compiled program, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.packed import packed_path, packed_way
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.reduction.reduced import WayBack
from paretoclf.problem.piecewise import Piecewise


def taken_back(way: WayBack, path: Piecewise) -> ProgramPoints:
    """Take the points of a path back to the compiled program."""
    line = way.program
    return ProgramPoints(path.begin, (path.count, line.n, line.m), _TakenBack(way, path))


@dataclass(frozen=True)
class _TakenBack:
    """Points that are taken back block by block."""

    way: WayBack
    path: Piecewise

    def __call__(self, part: slice) -> tuple[Array, Array]:
        line, t = self.way.program, self.path.at_points[part]
        parts = _parts(t.size, line.n + line.m)
        if len(parts) == 1:
            return self.way.back_together(*self.path.points(part), t)
        x, z = np.empty((line.n, t.size)), np.empty((line.m, t.size))
        for own in parts:
            values, multipliers = self.path.points(slice(part.start + own.start, part.start + own.stop))
            x[:, own], z[:, own] = self.way.back_together(values, multipliers, t[own])
        return x, z

    def content(self) -> dict[str, Any]:
        """The plan of the way back, and the path of the reduced problem."""
        return packed_way(self.way) | packed_path(self.path)


def _parts(points: int, size: int) -> list[slice]:
    """Parts of points that stay in the processor's cache; a block of segments has one point more."""
    parts = blocks(points, size)
    return [slice(0, points)] if points <= parts[0].stop + 1 else parts
