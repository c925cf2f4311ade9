r"""Proof of a map of a program: every pair of parameters, polygon by polygon, and that nothing is left out.

On a polygon x and z are affine in both parameters, as are q and b. So residuals of feasibility, signs and stationarity
are largest at a corner; the products of slacks and multipliers, whose sum is the duality gap, are nowhere above the
largest of their Bernstein coefficients, one for each two corners. Where a ray shows that there is no optimum, its gain
is affine, too: it is positive on a half-plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY, PLANE_AREA
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.proof.programs.clear_segments import in_least_units, least_units
from paretoclf.proof.programs.convexity import added, lost, said_of, semidefinite
from paretoclf.proof.programs.extremes import ColumnExtremes, RowExtremes
from paretoclf.proof.programs.program_lines import CONDITIONS, JUDGED, AtPoints, CellCorners, judged, largest_share
from paretoclf.proof.programs.rays import RayProof
from paretoclf.proof.programs.row_units import Sizes
from paretoclf.proof.verdicts.cells import CellsProof

#: Numbers in the columns and multipliers of polygons that are judged together, for each corner.
_TOGETHER = 2**15

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, repr=False)
class MapProof(CellsProof):
    """Proof of a map, on the program as CVXPY compiled it: of each region, and that nothing is left out.

    Its residuals are those of `paretoclf.proof.programs.program_lines`, the largest on each region; its gaps are
    relative to the optimal value on the region.

    Attributes
    ----------
    rays : tuple of RayProof
        One for each part without an optimum.
    missed : float
        The share of the rectangle by which regions and parts without an optimum miss its area.
    objection : str
        Reason why they may not cover it, or overlap; empty where there is none.
    """

    rays: tuple[RayProof, ...] = field(default=(), kw_only=True)
    missed: float = field(default=0.0, kw_only=True)
    objection: str = field(default="", kw_only=True)
    part: str = field(default="region", kw_only=True)
    whole: str = field(default="at every pair of parameters", kw_only=True)

    def _against(self, tol: float) -> str:
        """Reason why the map as a whole is not proved; empty where it is."""
        if self.objection:
            return self.objection
        if not self.missed <= PLANE_AREA:
            return f"the regions miss or overlap on {self.missed:.1e} of the rectangle"
        for k, ray in enumerate(self.rays):
            if not ray.passes(tol):
                return f"that there is no optimum on part {k} of those outside ({ray!r})"
        return ""

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every region is optimal to tol, every ray is valid, and no part is left out or there twice."""
        return not self._against(tol) and super().holds(tol)

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what is proved, and where it is worst."""
        against = self._against(tol)
        if against:
            return f"Not proved: {against}."
        explained = super().explain(tol)
        if not self.rays:
            return explained
        parts = "1 part" if len(self.rays) == 1 else f"{len(self.rays)} parts"
        return f"{explained} There is no optimum on {parts} outside."


def judge_polygons(plane: ProgramPlane, polygons: Sequence[Array], x: Sequence[Array], z: Sequence[Array]) -> MapProof:
    """Judge k polygons on each of which x and z are affine; rays and the cover are judged elsewhere.

    Parameters
    ----------
    plane : ProgramPlane
    polygons : sequence of array of shape (corners, 2)
    x, z : sequences of array of shape (n, 3), (m, 3)
        Columns and multipliers on each, by (1, s, t).
    """
    line, parts = plane.line, []
    sizes = Sizes(line)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    cost = lost(line, plane.data(square)[1])
    step = max(1, _TOGETHER // (line.n + line.m))
    for first in range(0, len(polygons), step):
        own = slice(first, first + step)
        maps = x[own], z[own]
        parts.append(_judged_together(plane, sizes, cost, polygons[own], maps))
    *each, gaps, relative, known = np.concatenate(parts, axis=1) if parts else np.zeros((7, 0))
    curvature = np.full(gaps.size, 0.0 if semidefinite(line) else 1.0)
    residuals = dict(zip(CONDITIONS, each, strict=True)) | {"curvature": curvature}
    said = said_of(line, _share_of_shift(line, polygons, x, known), cost)
    return MapProof(relative, relative, gaps, residuals, note=f"{JUDGED} {said}".rstrip())


def _judged_together(
    plane: ProgramPlane,
    sizes: Sizes,
    cost: float,
    polygons: Sequence[Array],
    maps: tuple[Sequence[Array], Sequence[Array]],
) -> Array:
    """Residuals, absolute and relative gaps and the smallest value of some polygons, a column for each.

    ``maps`` has x and z of each polygon, by (1, s, t); ``cost`` is that of negative curvature.
    """
    counts = [len(corners) for corners in polygons]
    ends = np.cumsum(counts)
    points = np.concatenate(polygons)
    at = np.split(np.insert(points, 0, 1.0, axis=1), ends[:-1])
    columns, multipliers = (_at_corners(at, each) for each in maps)
    together = _OfPolygons(ends - counts, counts)
    of_points = plane.data(points), plane.terms(points), (columns, multipliers)
    seen = judged(plane.line, sizes, *of_points, together, at_once=at_once)
    bounds = seen.gaps + cost
    absolute, relative = together.largest(bounds), together.largest(bounds / seen.sizes)
    least = -together.largest(-seen.sizes)
    return np.vstack([seen.residuals, absolute, relative, least])


def at_once(seen: AtPoints, sizes: Sizes, cells: CellCorners) -> tuple[Array, Array]:
    """Bounds on residuals (4, k) and on what is rounding, by the largest of all points in the least units."""
    q, b = (np.abs(each).min(axis=0) for each in seen.data)
    columns = ColumnExtremes(seen.columns.min(axis=0), seen.gradient.max(axis=0), q)
    multipliers = seen.multiplier_sizes.max(axis=0), seen.multiplier_sizes.min(axis=0), seen.multipliers.min(axis=0)
    rows = RowExtremes(seen.slack_sizes.max(axis=0), seen.slack.min(axis=0), *multipliers, b)
    pairs = seen.slack_sizes.T, seen.multiplier_sizes.T
    units = least_units(sizes, columns, rows.least_bound, rows.least_size)
    found = in_least_units(
        units, seen.line.equations, columns.gradient, rows, pairs, lambda numbers: cells.most(numbers.T).T
    )
    return found, units.rounding(rows.least_size)


def _at_corners(at: Sequence[Array], maps: Sequence[Array]) -> Array:
    """Values of affine maps at the corners of their polygons, one polygon after the other."""
    return np.concatenate([corners @ each.T for corners, each in zip(at, maps, strict=True)])


def _share_of_shift(line: ProgramLine, polygons: Sequence[Array], x: Sequence[Array], sizes: Array) -> float:
    """Largest effect of the shift of P on the value, relative to the scales of the gaps of the polygons."""
    if line.shift is None:
        return 0.0
    most = 0.0
    for polygon, on_polygon, size in zip(polygons, x, sizes.tolist(), strict=True):
        corners = np.insert(polygon, 0, 1.0, axis=1) @ on_polygon.T
        largest = float(added(line, np.zeros(len(corners)), corners).max())
        most = max(most, largest / max(size, _TINY))
    return most


class _OfPolygons(CellCorners):
    """Reductions over the corners of polygons, which stand one polygon after the other.

    A quadratic on a polygon has a Bernstein coefficient for each two of its corners: the coefficients of all polygons
    stand in one row, one polygon after the other.
    """

    def __init__(self, begin: Any, counts: Any) -> None:
        self.begin, self.counts = np.asarray(begin), np.asarray(counts)
        self.pairs = np.square(self.counts)

    def most(self, values: Array) -> Array:
        """The largest value at the corners of each polygon."""
        return np.asarray(np.maximum.reduceat(values, self.begin))

    def least(self, values: Array) -> Array:
        """The smallest value at the corners of each polygon."""
        return np.asarray(np.minimum.reduceat(values, self.begin))

    def products(self, one: Array, other: Array) -> Array:
        """Bernstein coefficients of a product of two affine functions, from their values at corners."""
        pairs = zip(self._split(one), self._split(other), strict=True)
        found = (slacks @ multipliers.T for slacks, multipliers in pairs)
        return np.concatenate([0.5 * (each + each.T).ravel() for each in found])

    def means(self, values: Array) -> Array:
        """Bernstein coefficients of an affine function: means of its values at two corners."""
        sums = (np.add.outer(each, each) for each in self._split(values))
        return np.concatenate([0.5 * each.ravel() for each in sums])

    def _split(self, values: Array) -> list[Array]:
        """Values at the corners of each polygon."""
        return np.split(values, self.begin[1:])

    def spread(self, values: Array) -> Array:
        """Numbers of polygons, repeated beside each coefficient."""
        return np.repeat(values, self.pairs)

    def shares(self, amounts: Array, terms: Array, least: Array) -> Array:
        """The largest share at the corners of each polygon."""
        own = np.repeat(least, self.counts, axis=0)
        return self.most(largest_share(amounts, terms + own))

    def largest(self, coefficients: Array) -> Array:
        """The largest coefficient of each polygon."""
        begin = np.cumsum(self.pairs) - self.pairs
        return np.asarray(np.maximum.reduceat(coefficients, begin))
