"""From region to region of the cost plane, until the rectangle is covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import dist
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.box import AnyBox
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.segments import Line
from paretoclf.path.regions.critical_region import Bases, Sets
from paretoclf.path.regions.edge_walk import Cell, EdgeWalk
from paretoclf.path.regions.polygon import HalfPlane, Point, borders
from paretoclf.path.svm.cost_path import Path
from paretoclf.path.svm_lines.stages import Stage, assemble
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.operator import Matrix
from paretoclf.problem.operator.signed import Signed

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker

_NEARER = (0.5, 0.05, 5e-3, 5e-5, 5e-7)  # shares of the piece across a facet at which its optimum is chosen
_ACROSS = 1e-3  # sine of the angle at which a line from the middle of a region is to cross an edge


class RegionSearch(EdgeWalk):
    """All regions of a rectangle, found by crossing every edge of every region.

    Across an edge one exchange usually leads to the next region. That is tried, for all edges of the regions that were
    found last together, and what comes out is taken only if its polygon, computed from the optimality conditions, has
    the same edge, the other way round, or else lies on the other side of the edge and touches it. Where it does not
    (the last multiplier between its bounds reaches one and b jumps, several samples change at once, the margin set
    would be dependent) the exact tracker follows a line across the edge, and the region is that of its basis behind.

    Regions need not share whole edges: where b jumps, either side has its own division. So an edge is crossed until
    regions are known along all of it.
    """

    def __init__(self, gram: Gram, y: Array, weight: Array, bases: Bases) -> None:
        super().__init__(bases.tol)
        self.gram, self.y, self.weight, self.bases = gram, y, weight, bases
        self._of_basis: dict[bytes, Cell] = {}
        self._engine: CoreTracker | AnyBox | None = None

    def run(self, start: Sets, at: Array, progress: Callable[[float], Any] | None) -> None:
        """Find all regions, from an optimal basis at some interior costs."""
        try:
            first = self._cells([self.bases.chosen(start, at)])[0]
        except np.linalg.LinAlgError as error:
            raise self._refuse(str(error), at, start.margin.size) from None
        if first is None:
            raise self._refuse("no region around the first point", at, start.margin.size)
        self.spread(first, progress)

    def add(self, cell: Cell) -> Iterator[Cell]:
        """Number a region; yields it if it is new."""
        if cell.number < 0:
            self._of_basis[cell.region.sets.tobytes()] = cell
        yield from super().add(cell)

    def _cells(self, bases: Sequence[Sets]) -> list[Cell | None]:
        """The region of each basis."""
        found = self.bases.regions(bases)
        return [None if region is None else Cell.of(region, 2 * self.touch) for region in found]

    def guesses(self, edges: list[tuple[Cell, int]]) -> list[Cell | None]:
        """Regions that one exchange leads to across each edge: where nothing else happens, the neighbours."""
        bases = [self.bases.beyond(cell.region, j) for cell, j in edges]
        names = [b"" if basis is None else basis.sets.tobytes() for basis in bases]
        unknown = {
            name: basis
            for name, basis in zip(names, bases, strict=True)
            if basis is not None and name not in self._of_basis
        }
        cells = dict(zip(unknown, self._cells(list(unknown.values())), strict=True))
        return [self._of_basis.get(name, cells.get(name)) for name in names]

    def beyond(self, cell: Cell, j: int, point: Point) -> Cell:
        """The region across edge j of another at a point, by the exact tracker along a line through the point."""
        return self._tracked(cell, j, np.array(point))

    def _tracked(self, cell: Cell, j: int, point: Array) -> Cell:
        """Find the neighbouring region by tracing a line across the edge."""
        region, frame = cell.region, self.bases.frame
        inside, onwards = self._across(cell, j, point)
        stop = np.clip(point + self._room(point, onwards) * onwards, frame[0], frame[2])
        path = self._trace(Sets(region.sets, region.margin), inside, stop)
        crossing = float(np.hypot(*(point - inside)) / np.hypot(*(stop - inside)))
        ends = path.pieces.t
        size = 0.2 * self.bases.tol / float(np.hypot(*(stop - inside)))
        x, z = point.tolist()
        # What is rounding is passed over, and what is not adjacent.
        for k in np.flatnonzero(ends[1:] > crossing + size):
            begin = max(float(ends[k]), crossing)
            for share in _NEARER:
                t = begin + share * (float(ends[k + 1]) - begin)
                basis = Sets(*path.basis(t))
                try:
                    found = self._cells([self.bases.chosen(basis, (1 - t) * inside + t * stop)])[0]
                except np.linalg.LinAlgError:
                    continue
                if found is None or found.region.key == region.key:  # a sliver is on both sides of its edges
                    continue
                if self.adjacent(cell, j, (x, z), found):
                    return found
        raise self._refuse("no region found across an edge", point, region.margin.size)

    def _across(self, cell: Cell, j: int, point: Array) -> tuple[Array, Array]:
        """Point of a region from which to cross edge j, and how far to go on: from the middle, mostly.

        From the middle of a sliver the line would go along it: that is crossed at a right angle.
        """
        middle, inwards = cell.region.centroid, np.array(cell.borders[j][1:])
        if (middle - point) @ inwards >= _ACROSS * float(np.hypot(*(middle - point))):
            return middle, point - middle
        others = [border for e, border in enumerate(cell.borders) if e != j]
        return point + 0.5 * _way(others, point, inwards) * inwards, -dist(*cell.ends(j)) * inwards

    def _room(self, point: Array, direction: Array) -> float:
        """How far one can go from a point until the border of the map, at most 1, in units of the direction."""
        return _way(borders(self.bases.frame), point, direction)

    def _trace(self, basis: Sets, start: Array, stop: Array) -> Path:
        """The path along a line that begins in the region of a basis."""
        zero = np.zeros(1)
        line = Line(self.bases.unit.T, start, stop, zero, zero)
        if self._engine is None:
            problem = problem_of_costs(self._quadratic(), np.zeros((2, self.y.size)))
            self._engine = make_tracker(None, problem) or AnyBox(problem, None)
        if isinstance(self._engine, AnyBox):
            log = self._engine.along(line, (basis.sets, basis.margin))
        elif self._engine.start_on(basis.sets, basis.margin, line):
            self._engine.record_from_here()
            self._engine.follow()
            log = self._engine.log
        else:
            raise self._refuse("the margin set is dependent", start, basis.margin.size)
        pieces = assemble((log, [Stage(0, log.segments, 0.0, 1.0)], log, []), None, False)
        return Path(self.gram, self.y, self.weight, CostLine(Costs(*start), Costs(*stop)), pieces=pieces)

    def _quadratic(self) -> Signed:
        Q = self.gram.quadratic
        return Signed(Q.centred(Q.middle) if Q.width else Matrix(self.bases.kernel), self.y)

    def refuse(self, cause: str, at: Array | Point, region: Any) -> DegeneratePathError:
        """The error that ends the search."""
        return self._refuse(cause, at, region.margin.size)

    def _refuse(self, cause: str, costs: Array | Point, n_margin: int) -> DegeneratePathError:
        return DegeneratePathError(
            cause,
            t=None,
            costs=f"C_plus={costs[0]:.6g}, C_minus={costs[1]:.6g}",
            n_margin=n_margin,
            remedy="Standardise the features, or use a slightly different rectangle; no doubtful map is returned.",
        )


def _way(half_planes: list[HalfPlane], point: Array, direction: Array) -> float:
    """How far one can go from a point in all these half-planes, at most 1, in units of the direction."""
    planes = np.array(half_planes)
    left, rate = planes @ np.array([1.0, *point]), planes[:, 1:] @ direction
    return float(np.divide(-left, rate, out=np.ones(rate.size), where=rate < 0).clip(0.0, 1.0).min())
