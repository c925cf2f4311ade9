r"""The proof of a map of a program: every pair of parameters, polygon by polygon, and that nothing is left out.

On a polygon x and z are affine in both parameters, as are q and b. So feasibility, signs and stationarity are largest
at a corner; the products of slacks and multipliers, whose sum is the duality gap, are nowhere above the largest of
their Bernstein coefficients, one for each two corners. Where a ray shows that there is no optimum, what it gains is
affine, too: it is positive on a half-plane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import CERTIFY, PLANE_AREA
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.proof.programs import CONDITIONS, RayProof, Sizes, indefinite, judged

#: Numbers in the columns and multipliers of polygons that are judged together, for each corner.
_TOGETHER = 2**15


@dataclass(frozen=True, repr=False)
class MapProof:
    """What is proved of a map, on the program as CVXPY compiled it.

    Attributes
    ----------
    residuals : mapping of str to array of shape (k,)
        As those of `paretoclf.proof.programs.CompiledProof`, the largest on each region.
    gap : array of shape (k,)
        The duality gap, relative to the optimal value on the region.
    indefinite : float
        By how much P is not proved positive semidefinite, relative to its largest entry.
    rays : tuple of RayProof
        One for each part without an optimum.
    missed : float
        The share of the rectangle by which regions and parts without an optimum miss its area.
    objection : str
        What contradicts that they cover it without overlap; empty where nothing does.
    """

    residuals: Mapping[str, Array]
    gap: Array
    indefinite: float
    rays: tuple[RayProof, ...] = field(default=())
    missed: float = 0.0
    objection: str = ""

    @cached_property
    def worst(self) -> float:
        """The largest of all residuals and gaps, and of what P lacks."""
        numbers = [*self.residuals.values(), self.gap, np.array([self.indefinite])]
        largest = float(np.max(np.concatenate(numbers)))
        return largest if np.isfinite(largest) else float("inf")

    def failures(self, tol: float = CERTIFY) -> Index:
        """Numbers of the regions that are not proved."""
        worst = np.max([*self.residuals.values(), self.gap], axis=0)
        return np.flatnonzero(~(worst <= tol))

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every region is optimal to tol, every ray is one, and nothing is left out or there twice."""
        covered = not self.objection and self.missed <= PLANE_AREA
        return bool(covered and self.worst <= tol and all(ray.passes(tol) for ray in self.rays))

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what is proved, and where it is worst."""
        named = {**self.residuals, "duality gap": self.gap}
        name = max(named, key=lambda key: float(named[key].max(initial=0.0)))
        where = f", on region {int(np.argmax(named[name]))}" if self.gap.size else ""
        said = f"{name}, {float(named[name].max(initial=0.0)):.1e}{where}"
        if self.objection:
            return f"Not proved: {self.objection}"
        if not self.missed <= PLANE_AREA:
            return f"Not proved: the regions miss or overlap on {self.missed:.1e} of the rectangle"
        if self.indefinite > tol:
            return f"Not proved: P is not proved positive semidefinite, by {self.indefinite:.1e}. Largest: {said}"
        for k, ray in enumerate(self.rays):
            if not ray.passes(tol):
                return f"Not proved: that there is no optimum on part {k} of those outside ({ray!r})"
        if not self.passes(tol):
            return f"Not proved to {tol:.0e} on {self.failures(tol).size} of {self.gap.size} regions. Largest: {said}"
        none = f"; {len(self.rays)} parts without an optimum" if self.rays else ""
        return (
            f"Optimal at every pair of parameters, to {tol:.0e}, on each of {self.gap.size} regions of the compiled "
            f"program{none}. Largest: {said}"
        )

    def __repr__(self) -> str:
        verdict = "optimal" if self.passes() else "not proved"
        residual = max((float(each.max(initial=0.0)) for each in self.residuals.values()), default=0.0)
        gap = float(self.gap.max(initial=0.0))
        return f"MapProof({self.gap.size} regions, {verdict}, gap={gap:.1e}, residual={residual:.1e})"


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
        parts.append(judged(line, sizes, plane.data(points), X, Z, _OfPolygons(ends - counts)))
    found = np.concatenate(parts, axis=1) if parts else np.zeros((5, 0))
    return MapProof(dict(zip(CONDITIONS, found[:4], strict=True)), found[4], indefinite(line.P))


class _OfPolygons:
    """The corners of polygons, one polygon after the other, from these numbers on."""

    def __init__(self, begin: Any) -> None:
        self.begin = np.asarray(begin)

    def most(self, values: Array) -> Array:
        """The largest value at the corners of each polygon."""
        return np.asarray(np.maximum.reduceat(values, self.begin))

    def least(self, values: Array) -> Array:
        """The smallest one."""
        return np.asarray(np.minimum.reduceat(values, self.begin))

    def products(self, off: Array, prices: Array) -> Array:
        """The largest Bernstein coefficient of what is affine on a polygon, times the same."""
        parts = zip(np.split(off, self.begin[1:]), np.split(prices, self.begin[1:]), strict=True)
        found = (a @ b.T for a, b in parts)
        return np.array([0.5 * float((each + each.T).max()) for each in found])
