"""Columns and multipliers of a compiled program at the points of a path, at hand or made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.memory import require_memory
from paretoclf.engine.reduction.products import blocks

#: Points of no more numbers than this, 16 MB, are kept once they are made; those of a larger path are made again.
_KEPT = 2**21


class PointMaker(Protocol):
    """What makes the points of a path."""

    def __call__(self, part: slice) -> tuple[Array, Array]:
        """Columns (n, p) and multipliers (m, p) at points that follow each other, as `ProgramPoints.columns` does."""
        ...

    def content(self) -> dict[str, Any]:
        """Content of a file, by name, of which the points can be made."""
        ...


class ProgramPoints:
    """Points of a path of a compiled program, in order; where segments meet, one point.

    Parameters
    ----------
    begin : int array of shape (k,)
        Where each segment begins; it ends at the next point.
    shape : tuple of three ints
        The numbers of points, of columns, and of rows.
    make : PointMaker
    """

    def __init__(self, begin: Index, shape: tuple[int, int, int], make: PointMaker) -> None:
        self.begin, self.shape, self._make = begin, shape, make
        self.way = getattr(make, "way", None)  # back from a reduced problem, where the points are made of its own
        self._block: tuple[int, Array, Array] | None = None  # number, columns and multipliers of the last one

    @classmethod
    def of(cls, x: Array, z: Array) -> ProgramPoints:
        """Take columns (k, 2, n) and multipliers (k, 2, m) at both ends of each segment."""
        kept = np.ones((len(x), 2), dtype=np.bool_)
        x_jumps = (x[1:, 0] != x[:-1, 1]).any(axis=1)
        z_jumps = (z[1:, 0] != z[:-1, 1]).any(axis=1)
        kept[1:, 0] = x_jumps | z_jumps
        return cls.known(x[kept], z[kept], np.cumsum(kept)[::2] - 1)

    @classmethod
    def known(cls, x: Array, z: Array, begin: Index) -> ProgramPoints:
        """Take columns (points, n) and multipliers (points, m) at each point."""
        shape = len(x), x.shape[1], z.shape[1]
        return cls(begin, shape, _AtHand(x.T, z.T))

    def cleared(self, of_columns: float, of_multipliers: float) -> ProgramPoints:
        """Put 0 for columns and multipliers that are no larger than these sizes."""
        x, z = self.part(slice(0, len(self)))
        return self.known(
            np.where(np.abs(x) > of_columns, x, 0.0), np.where(np.abs(z) > of_multipliers, z, 0.0), self.begin
        )

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def are_kept(self) -> bool:
        """Whether there are so few numbers that all of them are kept once they are made."""
        points, columns, rows = self.shape
        return points * (columns + rows) <= _KEPT

    def content(self) -> dict[str, Any]:
        """Content of a file, by name: the points, or what they are made of."""
        return {"begin": self.begin, **self._make.content()}

    @property
    def x(self) -> Array:
        """Columns at all points, shape (points, n)."""
        return self.part(slice(0, len(self)))[0]

    @property
    def z(self) -> Array:
        """Multipliers of rows at all points, shape (points, m)."""
        return self.part(slice(0, len(self)))[1]

    @cached_property
    def _all(self) -> tuple[Array, Array]:
        return self._make(slice(0, len(self)))

    def columns(self, part: slice) -> tuple[Array, Array]:
        """Columns (n, p) and multipliers (m, p) at points that follow each other: a column for each point."""
        if not self.are_kept:
            return self._make(part)
        x, z = self._all
        return x[:, part], z[:, part]

    def part(self, part: slice) -> tuple[Array, Array]:
        """Columns (p, n) and multipliers (p, m) at points that follow each other: a row for each point."""
        x, z = self.columns(part)
        return x.T, z.T

    def spread(self) -> tuple[Array, Array]:
        """Columns and multipliers at both ends of each segment."""
        points, columns, rows = self.shape
        size = 8 * (2 * self.begin.size + points) * (columns + rows)
        require_memory(size, f"all points of {self.begin.size} segments", "ask for some of them")
        ends = self.begin[:, None] + np.arange(2)
        x, z = self.part(slice(0, points))
        return x[ends], z[ends]

    def segment(self, segment: int) -> tuple[Array, Array]:
        """Columns and multipliers at both ends of a segment."""
        points, columns, rows = self.shape
        size, first = blocks(points, columns + rows)[0].stop, int(self.begin[segment])
        number, place = divmod(first, size)
        if self._block is None or self._block[0] != number:
            begin = number * size
            end = min(begin + size + 1, points)
            self._block = (number, *self.part(slice(begin, end)))
        _, x, z = self._block
        return x[place : place + 2], z[place : place + 2]


@dataclass(frozen=True)
class _AtHand:
    """Points that are there, a column each."""

    x: Array
    z: Array

    def __call__(self, part: slice) -> tuple[Array, Array]:
        return self.x[:, part], self.z[:, part]

    def content(self) -> dict[str, Any]:
        """The points, a row each."""
        return {"x": self.x.T, "z": self.z.T}
