r"""The proof of a map of a program: every pair of parameters, polygon by polygon, and that nothing is left out.

On a polygon x and z are affine in both parameters, as are q and b. So feasibility, signs and stationarity are largest
at a corner; the products of slacks and multipliers, whose sum is the duality gap, are nowhere above the largest of
their Bernstein coefficients, one for each two corners. Where a ray shows that there is no optimum, what it gains is
affine, too: it is positive on a half-plane.
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
from paretoclf.proof.cells import CellsProof
from paretoclf.proof.convexity import added, lost, said_of, semidefinite
from paretoclf.proof.programs import CONDITIONS, JUDGED, judged
from paretoclf.proof.rays import RayProof
from paretoclf.proof.row_units import Sizes

#: Numbers in the columns and multipliers of polygons that are judged together, for each corner.
_TOGETHER = 2**15

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, repr=False)
class MapProof(CellsProof):
    """What is proved of a map, on the program as CVXPY compiled it: of each region, and that nothing is left out.

    Its residuals are those of `paretoclf.proof.programs`, the largest on each region; its gaps are relative to the
    optimal value on the region.

    Attributes
    ----------
    rays : tuple of RayProof
        One for each part without an optimum.
    missed : float
        The share of the rectangle by which regions and parts without an optimum miss its area.
    objection : str
        What contradicts that they cover it without overlap; empty where nothing does.
    """

    rays: tuple[RayProof, ...] = field(default=(), kw_only=True)
    missed: float = field(default=0.0, kw_only=True)
    objection: str = field(default="", kw_only=True)
    part: str = field(default="region", kw_only=True)
    whole: str = field(default="at every pair of parameters", kw_only=True)

    def _against(self, tol: float) -> str:
        """What is not proved of the whole; empty where all is."""
        if self.objection:
            return self.objection
        if not self.missed <= PLANE_AREA:
            return f"the regions miss or overlap on {self.missed:.1e} of the rectangle"
        for k, ray in enumerate(self.rays):
            if not ray.passes(tol):
                return f"that there is no optimum on part {k} of those outside ({ray!r})"
        return ""

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every region is optimal to tol, every ray is one, and nothing is left out or there twice."""
        return not self._against(tol) and super().holds(tol)

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what is proved, and where it is worst."""
        against = self._against(tol)
        parts = f"{len(self.rays)} part{'s' * (len(self.rays) != 1)}"
        none = f" There is no optimum on {parts} outside." if self.rays else ""
        return f"Not proved: {against}." if against else super().explain(tol) + none


def judge_polygons(plane: ProgramPlane, polygons: Sequence[Array], x: Sequence[Array], z: Sequence[Array]) -> MapProof:
    """Judge k polygons on each of which x and z are affine; of rays, and of what they cover, nothing is said.

    Parameters
    ----------
    plane : ProgramPlane
    polygons : sequence of array of shape (corners, 2)
    x, z : sequences of array of shape (n, 3), (m, 3)
        Columns and multipliers on each, by (1, s, t).
    """
    line, parts = plane.line, []
    sizes = Sizes(line)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    cost = lost(line, plane.data(corners)[1])
    step = max(1, _TOGETHER // (line.n + line.m))
    for first in range(0, len(polygons), step):
        own = slice(first, first + step)
        counts = [len(each) for each in polygons[own]]
        points = np.concatenate(polygons[own])
        at = np.insert(points, 0, 1.0, axis=1)
        ends = np.cumsum(counts)
        X, Z = (
            np.concatenate([each @ M.T for each, M in zip(np.split(at, ends[:-1]), maps[own], strict=True)])
            for maps in (x, z)
        )
        of = _OfPolygons(ends - counts, counts)
        seen = judged(line, sizes, plane.data(points), X, Z, of)
        bounds = seen.gaps + cost
        absolute, relative = of.largest(bounds), of.largest(bounds / seen.sizes)
        least = -of.largest(-seen.sizes)
        parts.append(np.vstack([seen.residuals, absolute, relative, least]))
    *each, gaps, relative, known = np.concatenate(parts, axis=1) if parts else np.zeros((7, 0))
    proved = semidefinite(line)
    residuals = dict(zip(CONDITIONS, each, strict=True)) | {"curvature": np.full(gaps.size, 0.0 if proved else 1.0)}
    said = said_of(line, _share_of_shift(line, polygons, x, known), cost)
    return MapProof(relative, relative, gaps, residuals, note=f"{JUDGED} {said}".rstrip())


def _share_of_shift(line: ProgramLine, polygons: Sequence[Array], x: Sequence[Array], sizes: Array) -> float:
    """The most that the shift of P adds to the value, relative to what the gaps of the polygons are relative to."""
    if line.shift is None:
        return 0.0
    most = 0.0
    for polygon, on_polygon, size in zip(polygons, x, sizes.tolist(), strict=True):
        corners = np.insert(polygon, 0, 1.0, axis=1) @ on_polygon.T
        largest = float(added(line, np.zeros(len(corners)), corners).max())
        most = max(most, largest / max(size, _TINY))
    return most


class _OfPolygons:
    """The corners of polygons, one polygon after the other, from these numbers on, and how many each has.

    What is quadratic on a polygon has a Bernstein coefficient for each two of its corners: of all polygons they stand
    in one row, one after the other.
    """

    def __init__(self, begin: Any, counts: Any) -> None:
        self.begin = np.asarray(begin)
        self.pairs = np.square(np.asarray(counts))

    def most(self, values: Array) -> Array:
        """The largest value at the corners of each polygon."""
        return np.asarray(np.maximum.reduceat(values, self.begin))

    def least(self, values: Array) -> Array:
        """The smallest one."""
        return np.asarray(np.minimum.reduceat(values, self.begin))

    def products(self, off: Array, prices: Array) -> Array:
        """Bernstein coefficients of what is affine on a polygon, times the same."""
        parts = zip(np.split(off, self.begin[1:]), np.split(prices, self.begin[1:]), strict=True)
        found = (a @ b.T for a, b in parts)
        return np.concatenate([0.5 * (each + each.T).ravel() for each in found])

    def means(self, values: Array) -> Array:
        """Bernstein coefficients of what is affine on a polygon: means of two corners."""
        parts = np.split(values, self.begin[1:])
        return np.concatenate([0.5 * np.add.outer(each, each).ravel() for each in parts])

    def spread(self, values: Array) -> Array:
        """Numbers of polygons, repeated beside each coefficient."""
        return np.repeat(values, self.pairs)

    def largest(self, coefficients: Array) -> Array:
        """The largest coefficient of each polygon."""
        begin = np.cumsum(self.pairs) - self.pairs
        return np.asarray(np.maximum.reduceat(coefficients, begin))
