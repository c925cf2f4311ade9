"""From region to region across edges, until regions are known along all of every edge.

A region is a convex polygon with a facet for each of its edges, None on the border of the map, and a key that tells it
from others. Regions need not share whole edges, so an edge is crossed until regions are known along all of it. How one
gets across an edge is for whoever walks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import dist
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.path.regions.polygon import HalfPlane, Point, area, borders

WHOLE = (0.0, 1.0)  # shares of an edge
_MISSED = 150  # times that a region across an edge may touch it at a corner only
Contact = tuple[int, int, Array, Array]


@dataclass(eq=False)
class Cell:
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

    region: Any
    corners: list[Point]
    open: dict[int, list[tuple[float, float]]]
    shortest: float
    number: int = -1

    @classmethod
    def of(cls, region: Any, shortest: float) -> Cell:
        """A region none of whose edges is crossed."""
        corners = [(x, z) for x, z in region.polygon.tolist()]
        edges = enumerate(zip(region.facets, corners, corners[1:] + corners[:1], strict=True))
        whole = {j: [WHOLE] for j, (facet, start, stop) in edges if facet and dist(start, stop) > shortest}
        return cls(region, corners, whole, shortest)

    @cached_property
    def borders(self) -> list[HalfPlane]:
        """Its edges as half-planes that hold it."""
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


class EdgeWalk:
    """Regions that were found so far, and where they touch.

    Parameters
    ----------
    tol : float
        Edges that are not longer are passed over; what is ten times as far from a border is on it.

    Attributes
    ----------
    regions : list
    contacts : list of (i, j, start, stop)
        Regions i and j share the segment from start to stop.
    """

    #: Shares of an open part at which it is crossed, one after the other.
    shares = (0.5, 0.381966, 0.618034)

    def __init__(self, tol: float) -> None:
        self.regions: list[Any] = []
        self.contacts: list[Contact] = []
        self.tol, self.touch = tol, 10.0 * tol
        self._known: dict[bytes, Cell] = {}  # by their keys

    def spread(self, first: Cell, progress: Callable[[float], Any] | None = None) -> None:
        """Find all regions from one of them; ``progress`` is told the area that is new."""
        new = [*self.add(first)]
        while new:
            edges = [(cell, j) for cell in new for j in cell.open if self.is_wanted(cell, j)]
            guesses = self.guesses(edges)
            found = [cell for edge, guess in zip(edges, guesses, strict=True) for cell in self.cross(*edge, guess)]
            if progress is not None:
                progress(sum(float(area(cell.region.polygon)) for cell in new))
            new = found

    def is_wanted(self, cell: Cell, j: int) -> bool:
        """Whether edge j of a region is to be crossed."""
        return True

    def guesses(self, edges: list[tuple[Cell, int]]) -> Sequence[Cell | None]:
        """Guess what lies across each edge, where that is known without a look at the edge."""
        return [None] * len(edges)

    def beyond(self, cell: Cell, j: int, point: Point) -> Cell | None:
        """The region across edge j of another at a point; None where there is none, all along the edge."""
        raise NotImplementedError

    def refuse(self, cause: str, at: Array | Point, region: Any) -> Exception:
        """The error that ends the walk."""
        raise NotImplementedError

    def add(self, cell: Cell) -> Iterator[Cell]:
        """Number a region; yields it if it is new."""
        if cell.number < 0:
            cell.number = len(self.regions)
            self._known[cell.region.key] = cell
            self.regions.append(cell.region)
            yield cell

    def cross(self, cell: Cell, j: int, guess: Cell | None) -> Iterator[Cell]:
        """Find the neighbours along edge j of a region; yields those that are new."""
        (start, stop), missed = cell.ends(j), 0
        if guess is not None:
            guess = self._known.get(guess.region.key, guess)
            twin = guess.edge(stop, start, self.tol)
            if twin is not None and cell.open.get(j) == [WHOLE]:  # most often
                yield from self.add(guess)
                cell.close(j, *WHOLE)
                guess.close(twin, *WHOLE)
                self.contacts.append((cell.number, guess.number, np.array(start), np.array(stop)))
        while j in cell.open:
            first, last = cell.open[j][-1]
            at = first + self.shares[missed % len(self.shares)] * (last - first)
            middle = _between(start, stop, at)
            beyond = guess
            if beyond is None or not self.adjacent(cell, j, middle, beyond):
                beyond = self.beyond(cell, j, middle)
            if beyond is None:
                cell.close(j, *WHOLE)
                return
            beyond = self._known.get(beyond.region.key, beyond)
            yield from self.add(beyond)
            facing = self._facing(beyond, cell.borders[j])
            shares = [_share(start, stop, point) for e in facing for point in beyond.ends(e)]
            lo, hi = max(first, min(shares, default=1.0)), min(last, max(shares, default=0.0))
            if not lo < at < hi:  # touched at a corner: another point will do, and else it is stepped on all the same
                missed += 1
                if missed > _MISSED:
                    raise self.refuse("the regions across an edge do not lie along it", middle, cell.region)
                if missed % len(self.shares):
                    continue
                lo, hi = 0.55 * first + 0.45 * last, 0.45 * first + 0.55 * last
            one, other = _between(start, stop, lo), _between(start, stop, hi)
            cell.close(j, lo, hi)
            for e in facing:
                begin, end = sorted(_share(*beyond.ends(e), point) for point in (one, other))
                beyond.close(e, begin, end)
            self.contacts.append((cell.number, beyond.number, np.array(one), np.array(other)))

    def _facing(self, cell: Cell, edge: HalfPlane) -> list[int]:
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
            and max(away[e], away[(e + 1) % size]) <= 2 * self.touch
        ]

    def adjacent(self, cell: Cell, j: int, point: Point, other: Cell) -> bool:
        """Whether a region is on the other side of edge j of the first, and has the point on its border."""
        edge, touch = cell.borders[j], self.touch
        return all(_distance(edge, corner) <= touch for corner in other.corners) and all(
            _distance(border, point) >= -touch for border in other.borders
        )


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
    """Parts of an interval that are left without another."""
    if last <= part[0] or first >= part[1]:
        return [part]
    return [(a, b) for a, b in ((part[0], first), (last, part[1])) if b > a]
