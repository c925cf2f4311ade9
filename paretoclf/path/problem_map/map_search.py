"""All regions of a program in two parameters, and where it has no optimum: the walk over its active sets.

Everything happens in the unit square. Where a ray shows that there is no optimum, it shows that for a half-plane, so
that what has one is a convex polygon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import PLANE_SLIVER
from paretoclf.engine.general import equilibrated
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.problem_map.active_sets import ActiveSet, ActiveSets, Ray, Singular
from paretoclf.path.regions.edge_walk import Cell, EdgeWalk
from paretoclf.path.regions.polygon import Point, area, centroid, cut, rectangle, split, without_short_edges

SQUARE = rectangle((0.0, 1.0), (0.0, 1.0))
#: Regions narrower and edges shorter than this are passed over.
SLIVER = PLANE_SLIVER * float(np.sqrt(2.0))
#: How far behind an edge it is looked where exchanges at the edge do not lead to a region that touches it.
_BEHIND = (1e-6, 1e-5, 1e-4, 1e-3)
#: From the middle of what is left, so far towards its corners, that no line of the data is hit.
_OFF = (0.0313, 0.0171, 0.0239)
#: Rounding of a condition at a corner, as a share of its terms.
_NOISE = 8.0 * float(np.finfo(float).eps)
#: Of what rays rule out, edges that are not longer are left out.
_RULED = 1e-3 * SLIVER


@dataclass(frozen=True)
class NoOptimum:
    """A convex part of the square without an optimum, and the ray that says so, of the compiled program."""

    polygon: Array
    status: str
    ray: Array


class AffinePiece(NamedTuple):
    """A region of the square: its polygon, active rows (m,), and columns and multipliers by (1, s, t)."""

    polygon: Array
    active: Mask
    x: Array
    z: Array


@dataclass(frozen=True, eq=False)
class FoundRegion:
    """The region of an active set: the row whose condition ends on each edge, or None, as `Cell` has them."""

    polygon: Array
    facets: tuple[Any, ...]
    basis: ActiveSet = field(repr=False)

    @property
    def key(self) -> bytes:
        """Identify the region among others."""
        return self.basis.key


class ProgramSearch(EdgeWalk):
    """The regions of one program.

    Parameters
    ----------
    plane : ProgramPlane
    where : callable
        Says where a point of the square is, in the user's words.

    Attributes
    ----------
    domain : array of shape (k, 2)
        What is left of the square, where there may be an optimum; None where nothing is.
    outside : list of NoOptimum
        What is not.
    """

    #: No simple fractions: where data are whole numbers, lines on which solutions jump go through these.
    shares = (0.4730193, 0.3591747, 0.6284051)

    def __init__(self, plane: ProgramPlane, where: Callable[[Array], str] = str) -> None:
        super().__init__(SLIVER)
        self._where = where
        problem, self.units = equilibrated(plane.problem)
        self.plane, self.bases = plane, ActiveSets(problem, always_tight(plane))
        self.domain: Array | None = SQUARE
        self.outside: list[NoOptimum] = []

    def run(self, progress: Callable[[float], Any] | None = None) -> None:
        """Find all."""
        while self.domain is not None:
            at = self._inside(self.domain)
            try:
                found = self.bases.optimal(at, self.touch)
            except DegeneratePathError as error:
                raise self.refuse(error.cause, at, None) from error
            if isinstance(found, Ray):
                if not self._take(found, at):
                    raise self.refuse("that there is no optimum is not proved", at, None)
                continue
            first = self._cell(found)
            if first is None:
                raise self.refuse("no region around the first point", at, None)
            self.spread(first, progress)
            break

    def beyond(self, cell: Cell, j: int, point: Point) -> Cell | None:
        """The region across edge j of another at a point; None where there is no optimum beyond."""
        at, outwards = np.array(point), -np.array(cell.borders[j][1:])
        try:
            found = self.bases.across(cell.region.basis, at, outwards, self.touch)
            if isinstance(found, Ray):
                if self._take(found, at):
                    return None
            else:
                known = self._known.get(found.key) or self._cell(found)
                if known is not None and known is not cell and self.adjacent(cell, j, point, known):
                    return known
        except Singular:
            pass
        return self._behind(cell, j, at, outwards)

    def _behind(self, cell: Cell, j: int, at: Array, outwards: Array) -> Cell | None:
        """Find the neighbouring region by the optimum at points behind the edge."""
        for step in _BEHIND:
            place = at + step * outwards
            if not ((place >= 0.0) & (place <= 1.0)).all():
                break
            try:
                found = self.bases.optimal(place, self.touch)
            except (DegeneratePathError, Singular):
                continue
            if isinstance(found, Ray):
                if self._take(found, at):
                    return None
                continue
            known = self._known.get(found.key) or self._cell(found)
            if known is not None and known is not cell and self.adjacent(cell, j, tuple(at.tolist()), known):
                return known
        raise self.refuse("no region found across an edge", at, cell.region)

    def _cell(self, basis: ActiveSet) -> Cell | None:
        """The region of an active set; None if it has no area."""
        own, room = basis.conditions, basis.room
        size = np.hypot(own[:, 1], own[:, 2])
        flat = self.bases.asked & (size == 0.0)
        below = own < -room
        if (flat & (below[:, 0] | ((own[:, 0] == 0.0) & below[:, 3]))).any():
            return None
        rows = np.flatnonzero(self.bases.asked & (size > 0.0))
        half = own[rows, :3] / size[rows, None]
        polygon, edges = cut(SQUARE, half.T[None], SLIVER) if rows.size else (SQUARE[None], np.full((1, 4), -1))
        polygon, edges = (each[0] for each in without_short_edges(polygon, edges, SLIVER))
        if len(polygon) < 3 or not area(polygon) > SLIVER**2:
            return None
        facets = tuple(None if e < 0 else (int(rows[e]),) for e in edges.tolist())
        return Cell.of(FoundRegion(polygon, facets, basis), 2 * self.touch)

    def _take(self, ray: Ray, at: Array) -> bool:
        """Take what a ray rules out from the domain, and say whether that reaches a point."""
        n = self.bases.n
        vector = ray.vector * self.units[:n] if ray.status == "unbounded" else ray.vector / self.units[n:]
        gain = self.plane.gain(ray.status, vector)
        size = float(np.hypot(*gain[1:]))
        reaches = float(gain @ np.array([1.0, *at])) >= -self.touch * size
        if self.domain is not None and reaches:
            out, self.domain = ruled_out(self.domain, gain)
            if out is not None:
                self.outside.append(NoOptimum(out, ray.status, vector))
        return reaches and (size > 0.0 or gain[0] > 0.0)

    def piece(self, found: FoundRegion) -> AffinePiece:
        """A region in the units of the compiled program."""
        basis, n = found.basis, self.bases.n
        active = np.isin(np.arange(self.bases.m), basis.rows)
        known = ~self.bases.asked & (np.arange(self.bases.m) >= self.plane.line.equations)
        active[known] = basis.z[known, :3].any(axis=1)  # of a bound that holds for no reason of its own
        x, z = basis.x[:, :3] * self.units[:n, None], basis.z[:, :3] / self.units[n:, None]
        return AffinePiece(self._inwards(found), active, x, z)

    def _inwards(self, found: FoundRegion) -> Array:
        """The polygon with its corners so far towards its middle that rounding leaves no condition negative there.

        By its own rounding a corner is outside of the edges that meet in it, the further the smaller their angle.
        """
        own, middle = found.basis.conditions[self.bases.asked, :3], centroid(found.polygon)
        corners = np.insert(found.polygon, 0, 1.0, axis=1)
        lacks = _NOISE * (np.abs(own) @ np.abs(corners).T) - own @ corners.T
        reach = lacks + (own @ np.array([1.0, *middle]))[:, None]
        share = np.divide(lacks, reach, out=np.zeros_like(lacks), where=(lacks > 0.0) & (reach > lacks)).max(
            initial=0.0
        )
        size = float(np.abs(found.polygon - middle).max())
        return np.asarray(found.polygon + min(share, SLIVER / size) * (middle - found.polygon))

    def _inside(self, polygon: Array) -> Array:
        """A point in general position inside a polygon."""
        middle, corners = centroid(polygon), polygon[:3]
        return np.asarray(middle + sum(share * (c - middle) for share, c in zip(_OFF, corners, strict=True)))

    def refuse(self, cause: str, at: Array | Point, region: Any) -> DegeneratePathError:
        """The error that ends the search, at a point of the square."""
        remedy = "Rescale the data, or use a slightly different rectangle; no doubtful map is returned."
        return DegeneratePathError(cause, t=None, costs=self._where(np.asarray(at)), n_margin=None, remedy=remedy)


def ruled_out(domain: Array, gain: Array) -> tuple[Array | None, Array | None]:
    """Part of a polygon that a ray rules out, and the rest; None for nothing, and for a rest that is a sliver."""
    out, left = split(domain, gain, _RULED)
    return out, None if left is None or area(left) <= SLIVER else left


def always_tight(plane: ProgramPlane) -> Mask:
    """Rows that may hold with equality everywhere: equations, and bounds up to which a column relaxes all other rows.

    ``abs(u) <= 1`` is compiled to a column that is at least u and -u, and at most 1. It costs nothing: at 1 it leaves u
    all that it can. Anywhere between there would be regions for each sign of u.
    """
    line, equal = plane.line, np.arange(plane.line.m) < plane.line.equations
    columns, sizes = sp.csc_array(line.A), np.diff(sp.csr_array(line.A).indptr)
    flat = (np.diff(sp.csc_array(line.P).indptr) == 0) & (plane.q == 0.0).all(axis=0)
    for j in np.flatnonzero(flat).tolist():
        part = slice(columns.indptr[j], columns.indptr[j + 1])
        rows, values = columns.indices[part], columns.data[part]
        for sign in (1.0, -1.0):
            bounds = rows[(sign * values > 0.0) & (sizes[rows] == 1)]
            tightens = (sign * values > 0.0) & (sizes[rows] > 1)
            if bounds.size == 1 and rows.size > 1 and not tightens.any() and not equal[rows].any():
                equal[bounds] = True
                break
    return equal
