"""From region to region of the cost plane, until the rectangle is covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import dist
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.box import AnyBox
from paretoclf.engine.engines import make_tracker
from paretoclf.engine.segments import Line
from paretoclf.path.cost import Path
from paretoclf.path.journey import Stage, assemble
from paretoclf.path.maps.polygon import HalfPlane, Point, borders
from paretoclf.path.maps.region import Bases, Region, Sets
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.operator import Matrix
from paretoclf.problem.operator.signed import Signed

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker

_NEARER = (0.5, 0.05, 5e-3, 5e-5, 5e-7)  # shares of the piece across a facet at which its optimum is chosen
_WHOLE = (0.0, 1.0)  # shares of an edge
_ACROSS = 1e-3  # sine of the angle at which a line from the middle of a region is to cross an edge
_MISSED = 50  # times that a region across an edge may touch it at a corner only
Contact = tuple[int, int, Array, Array]


@dataclass(eq=False)
class _Cell:
    """A region in plain numbers, and which parts of its edges are still to be crossed.

    Attributes
    ----------
    open : dict of list of (first, last)
        For each edge that is not wholly crossed, the shares of it between which no neighbour is known.
    shortest : float
        What is open and no longer than this is not crossed.
    number : int
        Among the regions; -1 for one that is none of them yet.
    """

    region: Region
    corners: list[Point]
    open: dict[int, list[tuple[float, float]]]
    shortest: float
    number: int = -1

    @classmethod
    def of(cls, region: Region, shortest: float) -> _Cell:
        corners = [(x, z) for x, z in region.polygon.tolist()]
        edges = enumerate(zip(region.facets, corners, corners[1:] + corners[:1], strict=True))
        whole = {j: [_WHOLE] for j, (facet, start, stop) in edges if facet and dist(start, stop) > shortest}
        return cls(region, corners, whole, shortest)

    @cached_property
    def borders(self) -> list[HalfPlane]:
        return borders(self.region.polygon)

    def ends(self, j: int) -> tuple[Point, Point]:
        """Where edge j begins and ends."""
        return self.corners[j], self.corners[(j + 1) % len(self.corners)]

    def edge(self, start: Point, stop: Point, tol: float) -> int | None:
        """Which edge goes from one point to another, up to tol; None if none does."""
        for j, corner in enumerate(self.corners):
            if dist(corner, start) <= tol and dist(self.ends(j)[1], stop) <= tol:
                return j
        return None

    def close(self, j: int, first: float, last: float) -> None:
        """A neighbour is known between these shares of edge j; what is left is not crossed if it is too short."""
        parts, length = self.open.pop(j, []), dist(*self.ends(j))
        left = [part for each in parts for part in _without(each, first, last)]
        left = [part for part in left if (part[1] - part[0]) * length > self.shortest]
        if left:
            self.open[j] = left


class RegionSearch:
    """All regions of a rectangle, found by crossing every edge of every region.

    Across an edge one exchange usually leads to the next region. That is tried, for all edges of the regions that were
    found last together, and what comes out is taken only if its polygon, computed from the optimality conditions, has
    the same edge, the other way round, or else lies on the other side of the edge and touches it. Where it does not
    (the last multiplier between its bounds reaches one and b jumps, several samples change at once, the margin set
    would be dependent) the exact tracker follows a line across the edge, and the region is that of its basis behind.

    Regions need not share whole edges: where b jumps, either side has its own division. So an edge is crossed until
    regions are known along all of it.

    Attributes
    ----------
    regions : list of Region
    contacts : list of (i, j, start, stop)
        Regions i and j share the segment from start to stop.
    """

    def __init__(self, gram: Gram, y: Array, weight: Array, bases: Bases) -> None:
        self.gram, self.y, self.weight, self.bases = gram, y, weight, bases
        self.regions: list[Region] = []
        self.contacts: list[Contact] = []
        self._known: dict[bytes, _Cell] = {}  # by the sets that the multipliers imply
        self._of_basis: dict[bytes, _Cell] = {}  # and by basis
        self._engine: CoreTracker | AnyBox | None = None
        self._touch = 10.0 * bases.tol

    def run(self, start: Sets, at: Array, progress: Callable[[float], Any] | None) -> None:
        """Find all regions, from an optimal basis at some interior costs."""
        try:
            first = self._cells([self.bases.chosen(start, at)])[0]
        except np.linalg.LinAlgError as error:
            raise self._refuse(str(error), at, start.margin.size) from None
        if first is None:
            raise self._refuse("no region around the first point", at, start.margin.size)
        new = [*self._add(first)]
        while new:
            edges = [(cell, j) for cell in new for j in cell.open]
            guesses = self._exchanged(edges)
            new = [cell for edge, guess in zip(edges, guesses, strict=True) for cell in self._cross_edge(*edge, guess)]
            if progress is not None:
                progress(sum(cell.region.area for cell in new))

    def _add(self, cell: _Cell) -> Iterator[_Cell]:
        """Number a region; yields it if it is new."""
        if cell.number < 0:
            cell.number = len(self.regions)
            self._known[cell.region.key] = self._of_basis[cell.region.sets.tobytes()] = cell
            self.regions.append(cell.region)
            yield cell

    def _cells(self, bases: Sequence[Sets]) -> list[_Cell | None]:
        """The region of each basis."""
        found = self.bases.regions(bases)
        return [None if region is None else _Cell.of(region, 2 * self._touch) for region in found]

    def _exchanged(self, edges: list[tuple[_Cell, int]]) -> list[_Cell | None]:
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

    def _cross_edge(self, cell: _Cell, j: int, guess: _Cell | None) -> Iterator[_Cell]:
        """Find the neighbours along edge j of a region; yields those that are new."""
        (start, stop), missed = cell.ends(j), 0
        if guess is not None:
            guess = self._known.get(guess.region.key, guess)
            twin = guess.edge(stop, start, self.bases.tol)
            if twin is not None and cell.open.get(j) == [_WHOLE]:  # most often
                yield from self._add(guess)
                cell.close(j, *_WHOLE)
                guess.close(twin, *_WHOLE)
                self.contacts.append((cell.number, guess.number, np.array(start), np.array(stop)))
        while j in cell.open:
            first, last = cell.open[j][-1]
            middle = _between(start, stop, 0.5 * (first + last))
            beyond = guess
            if beyond is None or not self._adjacent(cell, j, middle, beyond):
                beyond = self._tracked(cell, j, np.array(middle))
            beyond = self._known.get(beyond.region.key, beyond)
            yield from self._add(beyond)
            facing = self._facing(beyond, cell.borders[j])
            shares = [_share(start, stop, point) for e in facing for point in beyond.ends(e)]
            lo, hi = max(first, min(shares, default=1.0)), min(last, max(shares, default=0.0))
            if not lo < 0.5 * (first + last) < hi:  # touched at a corner, up to rounding: step on all the same
                lo, hi = 0.55 * first + 0.45 * last, 0.45 * first + 0.55 * last
                missed += 1
                if missed > _MISSED:
                    raise self._refuse(
                        "the regions across an edge do not lie along it", middle, cell.region.margin.size
                    )
            one, other = _between(start, stop, lo), _between(start, stop, hi)
            cell.close(j, lo, hi)
            for e in facing:
                begin, end = sorted(_share(*beyond.ends(e), point) for point in (one, other))
                beyond.close(e, begin, end)
            self.contacts.append((cell.number, beyond.number, np.array(one), np.array(other)))

    def _facing(self, cell: _Cell, edge: HalfPlane) -> list[int]:
        """The edges of a region that lie on an edge of another: more than one where a corner is flat up to rounding.

        Never its far side, however thin a region is. Edges that lie on each other are told by the distances of their
        ends from the line, and what they share by projecting ends: where borders meet at a small angle, their
        intersection moves far when one of them moves by its rounding.
        """
        ours, size = cell.borders, len(cell.borders)
        away = [abs(_distance(edge, corner)) for corner in cell.corners]
        return [
            e
            for e in range(size)
            if ours[e][1] * edge[1] + ours[e][2] * edge[2] < -0.5
            and max(away[e], away[(e + 1) % size]) <= 2 * self._touch
        ]

    def _adjacent(self, cell: _Cell, j: int, point: Point, other: _Cell) -> bool:
        """Whether a region is on the other side of edge j of the first, and has the point on its border."""
        edge, touch = cell.borders[j], self._touch
        return all(_distance(edge, corner) <= touch for corner in other.corners) and all(
            _distance(border, point) >= -touch for border in other.borders
        )

    def _tracked(self, cell: _Cell, j: int, point: Array) -> _Cell:
        """The region across edge j of another at a point, by the exact tracker along a line through the point."""
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
                if self._adjacent(cell, j, (x, z), found):
                    return found
        raise self._refuse("no region found across an edge", point, region.margin.size)

    def _across(self, cell: _Cell, j: int, point: Array) -> tuple[Array, Array]:
        """From which point of a region to cross edge j at a point, and how far to go on: from the middle, mostly.

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
        pieces = assemble(log, [Stage(0, log.segments, 0.0, 1.0)], log, [], None, False)
        return Path(self.gram, self.y, self.weight, CostLine(Costs(*start), Costs(*stop)), pieces=pieces)

    def _quadratic(self) -> Signed:
        Q = self.gram.quadratic
        return Signed(Q.centred(Q.middle) if Q.width else Matrix(self.bases.kernel), self.y)

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


def _between(start: Point, stop: Point, share: float) -> Point:
    return start[0] + share * (stop[0] - start[0]), start[1] + share * (stop[1] - start[1])


def _share(start: Point, stop: Point, point: Point) -> float:
    """Where the projection of a point is on the segment from start to stop: 0 and 1 are its ends."""
    dx, dz = stop[0] - start[0], stop[1] - start[1]
    return ((point[0] - start[0]) * dx + (point[1] - start[1]) * dz) / (dx * dx + dz * dz)


def _distance(border: HalfPlane, point: Point) -> float:
    """How far inside a half-plane a point is."""
    return border[0] + border[1] * point[0] + border[2] * point[1]


def _without(part: tuple[float, float], first: float, last: float) -> list[tuple[float, float]]:
    """What is left of an interval without another."""
    if last <= part[0] or first >= part[1]:
        return [part]
    return [(a, b) for a, b in ((part[0], first), (last, part[1])) if b > a]
