"""Regions to twice double precision: where costs times kernel values are so large that rounding of multipliers shows.

A vertex is rounded as a breakpoint is: what is closer to an inner edge than that belongs to the region on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import AT_BOUND, CERTIFY, ROUNDED, STEEP
from paretoclf.path.regions.critical_region import Region
from paretoclf.path.regions.polygon import borders, cut
from paretoclf.path.svm_lines.double_double import Precise, PreciseSolver
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.operator.signed import Signed
from paretoclf.proof.maps.cost_regions import Corners

_NEAR = 4 * float(np.finfo(float).eps)  # of the largest cost: as far from an edge either of its regions may be right


class PreciseRegions:
    """Solutions of the regions of one map to twice double precision.

    Parameters
    ----------
    gram : Gram
    y : array of shape (n,)
    unit_caps : array of shape (n, 2)
        Caps per unit of either cost.
    largest : array of shape (2,)
        The largest costs of the map.
    """

    def __init__(self, gram: Gram, y: Array, unit_caps: Array, largest: Array) -> None:
        self.gram, self.y, self.unit_caps = gram, y, unit_caps
        self.near = _NEAR * float(largest.max())
        self._cap = float((unit_caps @ largest).max())
        self._lost = STEEP * self._cap * float(gram.diagonal().max())  # of a margin

    @property
    def steep(self) -> bool:
        """Whether the rounding of a multiplier may move margins by more than certificates allow."""
        return self._lost > CERTIFY

    @cached_property
    def _solver(self) -> PreciseSolver:
        problem = problem_of_costs(Signed(self.gram.quadratic, self.y), np.zeros((2, self.y.size)))
        return PreciseSolver.of_costs(self.gram, problem, self._cap)

    def solve(self, region: Region, costs: Array) -> Precise | None:
        """The solution on the basis of a region, if that can be had and is what the region stores but for rounding."""
        found = self._solver.solve(self.unit_caps @ costs, region.sets, region.margin)
        if found is None:
            return None
        at = np.array([1.0, *costs])
        off = np.abs(region.coefficients(self.unit_caps) @ at - found.alpha[0]).max()
        same = off <= ROUNDED * found.alpha[0].max() + AT_BOUND * self._cap
        room = max(ROUNDED, self._lost) * (1.0 + abs(found.b))
        return found if same and abs(region.b_map @ at - found.b) <= room else None

    def corners(self, regions: Sequence[Region]) -> Iterator[tuple[int, Corners]]:
        """Each region within its inner edges, with its position; none of one that cannot be solved so."""
        for k, region in enumerate(regions):
            costs = self._within(region)
            axis = costs.min(axis=1) == 0.0
            solved = [None if on else self.solve(region, at) for on, at in zip(axis, costs, strict=True)]
            if any(found is None and not on for found, on in zip(solved, axis, strict=True)):
                continue
            alpha, low = np.zeros((2, 1, len(costs), self.y.size))
            b = np.insert(costs, 0, 1.0, axis=1) @ region.b_map
            for i, found in enumerate(solved):
                if found is not None:
                    (alpha[0, i], low[0, i]), b[i] = found.alpha, found.b
            yield k, Corners(np.zeros(1, dtype=np.int64), costs[None], alpha, b[None], low)

    def _within(self, region: Region) -> Array:
        """The polygon of a region without what is next to an inner edge."""
        inner = [e for e, facet in enumerate(region.facets) if facet is not None]
        if not inner:
            return region.polygon
        half_planes = np.array(borders(region.polygon))[inner]
        half_planes[:, 0] -= self.near
        polygon: Array = cut(region.polygon, half_planes.T[None], 0.5 * self.near)[0][0]
        return polygon[np.any(polygon != np.roll(polygon, 1, axis=0), axis=1)]
