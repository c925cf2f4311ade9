"""From region to region of the cost plane, until the rectangle is covered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import dist
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array
from paretoclf.costs import CostLine, Costs
from paretoclf.errors import DegeneratePathError
from paretoclf.gram import Gram
from paretoclf.path.build import Leg, assemble
from paretoclf.path.critical import Bases, Region, Sets
from paretoclf.path.engines import Tracker, make_tracker
from paretoclf.path.forms import FeatureForm, GramForm
from paretoclf.path.polygon import HalfPlane, Point, borders, onto_axes, share_inside, without_short_edges
from paretoclf.path.result import Path
from paretoclf.path.segments import Line

_NEARER = (0.5, 0.05, 5e-3, 5e-5, 5e-7)  # shares of the piece across a facet at which its optimum is chosen
_MISSED = 50  # times that a region across an edge may touch it at a corner only
Contact = tuple[int, int, Array, Array]


class Exploration:
    """All regions of a rectangle, found by crossing every edge of every region.

    Across an edge one exchange usually leads to the next region. That is tried, and what comes out is taken only if
    its polygon, computed from the optimality conditions, lies on the other side of the edge and touches it. Else (the
    last multiplier between its bounds reaches one and b jumps, several samples change at once, the margin set would
    be dependent) the exact tracker follows a line across the edge, and the region is that of its basis behind.

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
        self.tracked = 0  # edges that the tracker crossed
        self._corners: list[list[Point]] = []
        self._borders: list[list[HalfPlane]] = []
        self._met: list[list[list[tuple[Point, Point]]]] = []  # per region and edge: where its neighbours are known
        self._known: dict[bytes, int] = {}  # by the sets that the multipliers imply
        self._of_basis: dict[bytes, int] = {}  # and by basis
        self._tracker: Tracker | None = None
        self._touch = 10.0 * bases.tol

    def run(self, start: Sets, at: Array, progress: Callable[[float], Any] | None) -> None:
        """Find all regions, from an optimal basis at some interior costs."""
        first = self.bases.region(self.bases.chosen(start, at))
        if first is None:
            raise self._refuse("no region around the first point", at, start.margin.size)
        self._add(first)
        pending = [(0, j) for j in range(len(first.facets))]
        while pending:
            i, j = pending.pop()
            for new in self._cross_edge(i, j):
                pending += [(new, k) for k in range(len(self.regions[new].facets))]
                if progress is not None:
                    progress(self.regions[new].area)

    def _add(self, region: Region) -> int:
        region = _to_the_axes(region, self.bases.tol)
        self._known[region.key] = self._of_basis[region.sets.tobytes()] = len(self.regions)
        self.regions.append(region)
        self._corners.append([(x, z) for x, z in region.polygon.tolist()])
        self._borders.append(borders(region.polygon))
        self._met.append([[] for _ in region.facets])
        return len(self.regions) - 1

    def _cross_edge(self, i: int, j: int) -> Iterator[int]:
        """Find the neighbours along edge j of region i; yields those that are new."""
        region = self.regions[i]
        if region.facets[j] is None:
            return
        corners = self._corners[i]
        start, stop = corners[j], corners[(j + 1) % len(corners)]
        length = dist(start, stop)
        open_ends, missed = [(0.0, 1.0)], 0
        for one, other in self._met[i][j]:
            shares = sorted((_share(start, stop, one), _share(start, stop, other)))
            open_ends = [part for each in open_ends for part in _without(each, shares[0], shares[1])]
        while open_ends:
            first, last = open_ends.pop()
            if (last - first) * length <= 2 * self._touch:
                continue
            middle = _between(start, stop, 0.5 * (first + last))
            beyond = self._neighbour(i, j, middle)
            k = self._known.get(beyond.key, -1)
            if k < 0:
                k = self._add(beyond)
                yield k
            lo, hi = share_inside(start, stop, self._borders[k], self._touch)
            if not lo < 0.5 * (first + last) < hi:  # touched at a corner, up to rounding: step on all the same
                lo, hi = 0.55 * first + 0.45 * last, 0.45 * first + 0.55 * last
                missed += 1
                if missed > _MISSED:
                    raise self._refuse(
                        "the regions across an edge do not lie along it", np.array(middle), region.margin.size
                    )
            lo, hi = max(lo, first), min(hi, last)
            open_ends += _without((first, last), lo, hi)
            one, other = _between(start, stop, lo), _between(start, stop, hi)
            for facing in self._facing(k, self._borders[i][j], middle):
                self._met[k][facing].append((one, other))
            self.contacts.append((i, k, np.array(one), np.array(other)))

    def _neighbour(self, i: int, j: int, point: Point) -> Region:
        """The region on the other side of edge j of region i, next to a point of that edge."""
        region = self.regions[i]
        facet = region.facets[j]
        assert facet is not None
        exchanged = self.bases.beyond(region, facet)
        if exchanged is not None:
            known = self._of_basis.get(exchanged.sets.tobytes(), -1)
            if known >= 0 and self._adjacent(i, j, point, self._corners[known], self._borders[known]):
                return self.regions[known]
            found = self.bases.region(exchanged) if known < 0 else None
            if found is not None and self._next_to(i, j, point, found):
                return found
        return self._tracked(i, j, np.array(point))

    def _facing(self, k: int, edge: HalfPlane, point: Point) -> list[int]:
        """The edges of region k that lie on an edge of another, which holds the point.

        More than one where a corner is flat up to rounding; never its far side, however thin a region is.
        """
        ours, size = self._borders[k], len(self._borders[k])
        facing = [e for e in range(size) if ours[e][1] * edge[1] + ours[e][2] * edge[2] < -0.5]
        nearest = min(facing, key=lambda e: abs(_distance(ours[e], point)), default=0)
        away = [abs(_distance(edge, corner)) for corner in self._corners[k]]
        flat = [e for e in facing if max(away[e], away[(e + 1) % size]) <= 2 * self._touch]
        return [nearest, *(e for e in flat if e != nearest)]

    def _next_to(self, i: int, j: int, point: Point, other: Region) -> bool:
        """Whether a region is on the other side of edge j of region i, and has the point on its border."""
        return self._adjacent(i, j, point, other.polygon.tolist(), borders(other.polygon))

    def _adjacent(self, i: int, j: int, point: Point, corners: Iterable[Point], edges: Iterable[HalfPlane]) -> bool:
        """The same of a polygon, by its corners and its edges."""
        edge, touch = self._borders[i][j], self._touch
        return all(_distance(edge, corner) <= touch for corner in corners) and all(
            _distance(border, point) >= -touch for border in edges
        )

    def _tracked(self, i: int, j: int, point: Array) -> Region:
        """The same by the exact tracker, along a line through the point."""
        self.tracked += 1
        region = self.regions[i]
        inside = region.centroid
        frame = self.bases.frame
        stop = np.clip(point + self._room(point, point - inside) * (point - inside), frame[0], frame[2])
        path = self._trace(Sets(region.sets, region.margin), inside, stop)
        crossing = float(np.hypot(*(point - inside)) / np.hypot(*(stop - inside)))
        ends = path.pieces.t
        size = self._touch / float(np.hypot(*(stop - inside)))
        edge, (x, z) = np.array(self._borders[i][j]), point.tolist()
        for k in np.flatnonzero(ends[1:] > crossing + size):
            begin = max(float(ends[k]), crossing)
            if abs(edge @ np.array([1.0, *((1 - begin) * inside + begin * stop)])) > self._touch:
                break  # slivers are passed over, however many, but no more than the tolerance of two neighbours
            for share in _NEARER:
                t = begin + share * (float(ends[k + 1]) - begin)
                basis = Sets(*path.basis(t))
                try:
                    found = self.bases.region(self.bases.chosen(basis, (1 - t) * inside + t * stop))
                except np.linalg.LinAlgError:
                    continue
                if found is not None and self._next_to(i, j, (x, z), found):
                    return found
        raise self._refuse("no region found across an edge", point, region.margin.size)

    def _room(self, point: Array, direction: Array) -> float:
        """How far one can go from a point until the border of the map, at most 1, in units of the direction."""
        frame = np.array(borders(self.bases.frame))
        left, rate = frame @ np.array([1.0, *point]), frame[:, 1:] @ direction
        return float(np.divide(-left, rate, out=np.ones(4), where=rate < 0).clip(0.0, 1.0).min())

    def _trace(self, basis: Sets, start: Array, stop: Array) -> Path:
        """The path along a line that begins in the region of a basis."""
        zero = np.zeros(1)
        if self._tracker is None:
            self._tracker = make_tracker(
                None, self._quadratic(), np.ones(self.y.size), self.y, np.zeros(self.y.size, dtype=int), 1
            )
        tracker = self._tracker
        if not tracker.start_on(basis.sets, basis.margin, Line(self.bases.unit.T, start, stop, zero, zero)):
            raise self._refuse("the margin set is dependent", start, basis.margin.size)
        tracker.record_from_here()
        tracker.follow()
        legs = [Leg(0, tracker.segments, 0.0, 1.0)]
        pieces = assemble(tracker.log, legs, tracker.log, [], None, False)
        return Path(self.gram, self.y, self.weight, CostLine(Costs(*start), Costs(*stop)), pieces)

    def _quadratic(self) -> GramForm | FeatureForm:
        X = self.gram.features
        if X is None:
            return GramForm(self.gram.matrix, self.y)
        return FeatureForm(X if sp.issparse(X) else X - X.mean(axis=0), self.y)

    def _refuse(self, cause: str, costs: Array | Point, n_margin: int) -> DegeneratePathError:
        return DegeneratePathError(
            cause,
            t=None,
            costs=f"C_plus={costs[0]:.6g}, C_minus={costs[1]:.6g}",
            n_margin=n_margin,
            remedy="Standardise the features, or use a slightly different rectangle; no doubtful map is returned.",
        )


def _to_the_axes(region: Region, tol: float) -> Region:
    """The region with vertices and edges on an axis where they are so up to rounding.

    Vertices are intersections: next to an axis a cost may come out negative, or so small that the rounding of the
    multipliers counts. On the axis the solution is known, and beyond it there is no region.
    """
    if region.polygon.min() > tol:
        return region
    polygon, edge = without_short_edges(onto_axes(region.polygon, tol), np.arange(len(region.facets)), 0.0)
    outer = ((polygon == 0.0) & (np.roll(polygon, -1, axis=0) == 0.0)).any(axis=1)
    facets = tuple(None if out else region.facets[e] for e, out in zip(edge, outer, strict=True))
    return replace(region, polygon=polygon, facets=facets)


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
