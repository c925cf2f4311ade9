r"""The criterion over the cost plane of the 2C-SVM: no grid at all, but one map of all optimal classifiers a fold.

On a map the held-out errors are constant on cells with known borders (`ErrorMap`). Of every cell of every fold's map
one point is taken, and the errors of all folds are added up there, each read off its own map. For one fold this is the
exact minimum; for several the cells of different folds overlap in more ways than there are points, and the best point
is a best point of those, not of all.

Maps have tens of thousands of regions for a hundred samples: this is for small data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from paretoclf.checks import Array, Index
from paretoclf.cross_validation import Rows
from paretoclf.gram import Gram
from paretoclf.path.legs import shows_progress
from paretoclf.path.plane import CostPlane, plane
from paretoclf.path.polygon import borders
from paretoclf.tuning.criteria import Criterion
from paretoclf.tuning.error_arrays import CrossValidation
from paretoclf.tuning.search import choose


@dataclass(frozen=True)
class SamplesCosts:
    """What paths and maps of the 2C-SVM need of a problem."""

    gram: Gram
    y: Array
    sample_weight: Array


@dataclass(frozen=True)
class BestOfPlanes:
    """The best of the points that were compared.

    Attributes
    ----------
    bandwidth, C_plus, C_minus : float
    fpr, fnr, objective : float
        Pooled over the folds.
    points : int
        How many were compared.
    """

    bandwidth: float
    C_plus: float
    C_minus: float
    fpr: float
    fnr: float
    objective: float
    points: int


def best_on_planes(cross: CrossValidation, criterion: Criterion, costs: tuple[float, float]) -> BestOfPlanes:
    """Return the best costs in the square ``costs x costs``; ties as of `choose`, of points in no order."""
    bandwidths = cross.axes["bandwidth"]
    tasks = [delayed(_points)(cross.X, cross.y, cross.kernel_of(k), cross.folds, costs) for k in range(bandwidths.size)]
    hidden = not shows_progress(cross.progress)
    found = list(
        tqdm(
            Parallel(n_jobs=cross.n_jobs, return_as="generator")(tasks),
            total=len(tasks), desc="maps", leave=False, disable=hidden,
        )
    )  # fmt: skip
    points = np.concatenate([where for where, _ in found])
    counts = np.concatenate([count for _, count in found])
    owner = np.repeat(np.arange(bandwidths.size), [len(where) for where, _ in found])
    fpr, fnr = counts[:, 0] / cross.arrays.n_minus, counts[:, 1] / cross.arrays.n_plus
    step = choose(criterion, fpr, fnr)
    (k,) = step.cell
    return BestOfPlanes(
        float(bandwidths[owner[k]]), float(points[k, 0]), float(points[k, 1]), step.fpr, step.fnr, step.objective,
        len(points),
    )  # fmt: skip


def _points(
    X: object, y: Array, kernel: object, folds: Sequence[tuple[Rows, Rows]], costs: tuple[float, float]
) -> tuple[Array, Index]:
    """Points (q, 2) in the cells of all folds' maps, and the false positives and false negatives there (q, 2)."""
    gram = Gram(X, kernel)
    maps, where = [], []
    for train, test in folds:
        problem = SamplesCosts(gram.part(train), y[train], np.ones(train.size))
        found, new = plane(problem, costs, costs, progress=False), gram.part_of_new(train, test)
        where.append(found.error_map(new, y[test]).inside)
        maps.append((found, new, y[test]))
    points = np.concatenate(where)
    return points, sum((counts_at(*each, points) for each in maps), start=np.zeros((len(points), 2), dtype=np.int64))


def counts_at(found: CostPlane, X: Array, y: Array, points: Array) -> Index:
    """False positives and false negatives of a map at many costs, shape (q, 2)."""
    at = np.column_stack([np.ones(len(points)), points])
    owner, depth = np.zeros(len(points), dtype=np.int64), np.full(len(points), -np.inf)
    for k, region in enumerate(found.regions):
        lo, hi = region.polygon.min(axis=0), region.polygon.max(axis=0)
        near = np.flatnonzero(((points >= lo) & (points <= hi)).all(axis=1))
        inside = (at[near] @ borders(region.polygon).T).min(axis=1)
        deeper = inside > depth[near]
        owner[near[deeper]], depth[near[deeper]] = k, inside[deeper]
    counts = np.zeros((len(points), 2), dtype=np.int64)
    used = np.unique(owner)
    for k, scores in zip(used, found.each_score_map(X, used), strict=True):
        here = np.flatnonzero(owner == k)
        positive = at[here] @ scores.T >= 0
        counts[here, 0] = np.count_nonzero(positive[:, y < 0], axis=1)
        counts[here, 1] = np.count_nonzero(~positive[:, y > 0], axis=1)
    return counts
