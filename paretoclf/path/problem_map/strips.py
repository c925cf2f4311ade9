"""The regions of a program in strips of the square, side by side, as guesses of what lies across the edges of a map.

A region is the same whole polygon in every strip that it reaches. The walk over the map takes a guess where it shares a
whole edge, and looks for itself where there is none; the map is proved as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.progress import counted
from paretoclf.common.threads import on_one_thread
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.problem_map.active_sets import ActiveSet
from paretoclf.path.problem_map.map_search import FoundRegion, ProgramSearch
from paretoclf.path.regions.edge_walk import Cell
from paretoclf.path.regions.polygon import Point, rectangle

#: Strips of a map, however many processes there are.
_STRIPS = 8

#: A region as plain arrays: polygon, facets, active rows, and four arrays of its solution.
Plain = tuple[Array, tuple[Any, ...], Index, tuple[Array, Array, Array, Array]]


class StripSearch(ProgramSearch):
    """The regions of a program that reach a strip of the square, from ``low`` to ``high`` in its first coordinate."""

    def __init__(self, plane: ProgramPlane, low: float, high: float) -> None:
        super().__init__(plane)
        self.strip, self.domain = (low, high), rectangle((low, high), (0.0, 1.0))

    def is_wanted(self, cell: Cell, j: int) -> bool:
        """Whether edge j of a region reaches the strip."""
        low, high = self.strip
        (start, _), (stop, _) = cell.ends(j)
        return max(start, stop) > low and min(start, stop) < high


class GuidedSearch(ProgramSearch):
    """The regions of a program, with guesses of many of them.

    Parameters
    ----------
    plane, where
        As for `ProgramSearch`.
    regions : sequence of plain regions
        As `strip_regions` has them.
    """

    def __init__(self, plane: ProgramPlane, where: Any, regions: Sequence[Plain]) -> None:
        super().__init__(plane, where)
        self._across: dict[tuple[int, ...], Cell] = {}
        for polygon, facets, rows, solution in regions:
            found = FoundRegion(polygon, facets, ActiveSet(self.bases, rows, *solution))
            cell = Cell.of(found, 2 * self.touch)
            for j in range(len(cell.corners)):
                start, stop = cell.ends(j)
                self._across.setdefault(self._place(stop, start), cell)

    def _place(self, start: Point, stop: Point) -> tuple[int, ...]:
        """Name of an edge, in which rounding does not show."""
        numbers = np.rint(np.array([*start, *stop]) / self.touch)
        return tuple(int(number) for number in numbers)

    def guesses(self, edges: list[tuple[Cell, int]]) -> list[Cell | None]:
        """Guess the region that has the same edge from its other side."""
        return [self._across.get(self._place(*cell.ends(j))) for cell, j in edges]


@on_one_thread
def strip_regions(plane: ProgramPlane, low: float, high: float) -> list[Plain]:
    """The regions that reach a strip; none where the search for them is refused."""
    search = StripSearch(plane, low, high)
    try:
        search.run()
    except DegeneratePathError:
        return []
    found = []
    for region in search.regions:
        basis = region.basis
        solution = basis.x, basis.z, basis.conditions, basis.room
        found.append((region.polygon, region.facets, basis.rows, solution))
    return found


def guided(plane: ProgramPlane, where: Any, n_jobs: int, progress: bool | None) -> GuidedSearch:
    """Search for the regions of a program, all strips of which were looked at side by side."""
    ends = np.linspace(0.0, 1.0, _STRIPS + 1).tolist()
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(strip_regions)(plane, low, high) for low, high in pairwise(ends)
    )
    found = counted(work, "strips", _STRIPS, progress)
    return GuidedSearch(plane, where, [region for strip in found for region in strip])
