r"""The criterion over the cost plane of the 2C-SVM: no grid at all, but one map of all optimal classifiers a fold.

On a map the held-out errors are constant on cells with known borders (`ErrorMap`). In every cell of every fold's map
one point is taken, and the errors of all folds are added up there, each read off its own map. For one fold this is the
exact minimum; for several the cells of different folds overlap in more ways than there are points, and the best point
is a best point of those, not of all.

Maps have tens of thousands of regions for a hundred samples: this is for small data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.path.cost_plane.cost_plane import CostPlane, map_costs
from paretoclf.path.regions.polygon import borders
from paretoclf.problem.gram import Gram
from paretoclf.roc.criteria import Criterion
from paretoclf.roc.folds import each
from paretoclf.tuning.error_arrays import CrossValidation, Folds, problems_of
from paretoclf.tuning.search import Step, choose


@dataclass(frozen=True)
class PlaneErrors:
    """Errors of all folds, pooled, at q points of the cost plane, and their bandwidths."""

    bandwidth: Array
    C_plus: Array
    C_minus: Array
    fpr: Array
    fnr: Array

    def best(self, criterion: Criterion) -> tuple[int, Step]:
        """Position of the best point, and its rates; ties as of `choose`, of points in no order."""
        step = choose(criterion, self.fpr, self.fnr)
        return step.cell[0], step


def plane_errors(cross: CrossValidation, costs: tuple[float, float]) -> PlaneErrors:
    """Map the square ``costs x costs`` for each bandwidth and fold, and count the errors in its cells."""
    bandwidths = cross.axes["bandwidth"]
    kernels = [cross.kernel_of(k) for k in range(bandwidths.size)]
    tasks = [(cross.X, cross.y, kernel, cross.folds, costs) for kernel in kernels]
    found = each(_points, tasks, "maps", n_jobs=cross.n_jobs, progress=cross.progress)
    points = np.concatenate([inside for inside, _ in found])
    counts = np.concatenate([count for _, count in found])
    bandwidth = np.repeat(bandwidths, [len(inside) for inside, _ in found])
    sizes = cross.arrays.n_minus, cross.arrays.n_plus
    fpr, fnr = (counts / sizes).T
    return PlaneErrors(bandwidth, points[:, 0], points[:, 1], fpr, fnr)


def _points(X: object, y: Array, kernel: object, folds: Folds, costs: tuple[float, float]) -> tuple[Array, Index]:
    """Points (q, 2) in the cells of all folds' maps, and the false positives and false negatives there (q, 2)."""
    gram = Gram(X, kernel, free_origin=True)
    maps, inside = [], []
    for problem, new, labels in problems_of(gram, y, folds):
        found = map_costs(problem, costs, costs, progress=False)
        inside.append(found.error_map(new, labels).inside)
        maps.append((found, new, labels))
    points = np.concatenate(inside)
    counts = np.zeros((len(points), 2), dtype=np.int64)
    for found, new, labels in maps:
        counts += counts_at(found, new, labels, points)
    return points, counts


def counts_at(found: CostPlane, X: Array, y: Array, points: Array) -> Index:
    """False positives and false negatives of a map at many costs, shape (q, 2)."""
    homogeneous = np.column_stack([np.ones(len(points)), points])
    owner = np.zeros(len(points), dtype=np.int64)  # the region that a point is in, the deepest of several
    depth = np.full(len(points), -np.inf)
    for k, region in enumerate(found.regions):
        low, high = region.polygon.min(axis=0), region.polygon.max(axis=0)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        slack = homogeneous[near] @ np.array(borders(region.polygon)).T
        inside = slack.min(axis=1)
        deeper = inside > depth[near]
        owner[near[deeper]] = k
        depth[near[deeper]] = inside[deeper]
    counts = np.zeros((len(points), 2), dtype=np.int64)
    used = np.unique(owner)
    for k, scores in zip(used, found.each_score_map(X, used), strict=True):
        here = np.flatnonzero(owner == k)
        positive = homogeneous[here] @ scores.T >= 0
        counts[here, 0] = np.count_nonzero(positive[:, y < 0], axis=1)
        counts[here, 1] = np.count_nonzero(~positive[:, y > 0], axis=1)
    return counts
