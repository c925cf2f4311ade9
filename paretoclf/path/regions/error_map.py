r"""Held-out errors over the cost plane, as the exact step functions that they are.

On a critical region the score of a sample is affine in both costs, so its label changes on a line, and the region is
divided by the lines of all samples. Where the intercept jumps from one region to the next, labels change on their
common edge. `ErrorMap` has these borders, cut where they cross each other: on each piece one count (or more, where
lines coincide) changes, and the counts on either side are known. So level sets of the error are made of whole pieces,
and the best costs are found by comparing whole numbers, not on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, check_labels, keep
from paretoclf.common.errors import InputError
from paretoclf.path.regions.polygon import borders, centroid
from paretoclf.problem.costs import Costs
from paretoclf.roc.counts import objective_of, smallest
from paretoclf.roc.criteria import Criterion, Minimax

_SAME = 1e-11  # a score below this share of its terms, on a whole line, is zero there: two lines are one
_BLOCK = 1 << 22  # scores worked on at once
_JUMP = 1e-9  # intercepts of two regions that differ by less on their common edge are rounded apart


@dataclass(frozen=True)
class BestCosts:
    """A point inside the cell of the cost plane at which an objective of the held-out errors is smallest.

    Errors and objective are those of the labels that chose it: optimistic.
    """

    costs: Costs
    false_positives: int
    false_negatives: int
    objective: float


@dataclass(frozen=True, eq=False, repr=False)
class ErrorMap:
    """False positives and false negatives on held-out samples, over a map of the cost plane.

    At costs that were fixed beforehand they are held out; `best` and `minimax` choose costs by looking at them.

    Attributes
    ----------
    start, stop : arrays of shape (q, 2)
        Pieces of the borders at which a count changes.
    counts : int array of shape (q, 2, 2)
        False positives and false negatives to the left of each piece, seen from its start to its stop, and to its
        right.
    inside : array of shape (c, 2)
        Points in the cells, at least one in each.
    inside_counts : int array of shape (c, 2)
        False positives and false negatives there.
    n_plus, n_minus : int
        Samples of each class.

    Examples
    --------
    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> errors = pc.plane(svm, (0.05, 2), (0.05, 2)).error_map([[0.2], [2.4]], [-1, 1])
    >>> errors
    ErrorMap(2 samples, 4 pieces of borders, errors from 0 to 0.5)
    >>> errors.at(1.5, 1.5), errors.at(0.5, 1.5)
    ((0, 0), (0, 1))
    """

    plane: Any
    X: Any
    y: Array
    start: Array
    stop: Array
    counts: Index
    inside: Array
    inside_counts: Index
    n_plus: int
    n_minus: int

    def __post_init__(self) -> None:
        keep(self, "X", "y", "start", "stop", "counts", "inside", "inside_counts")

    def __repr__(self) -> str:
        errors = self.inside_counts.sum(axis=1) / self.y.size
        low, high = errors.min(), errors.max()
        return f"ErrorMap({self.y.size} samples, {len(self.start)} pieces of borders, errors from {low:g} to {high:g})"

    def at(self, C_plus: float, C_minus: float) -> tuple[int, int]:
        """False positives and false negatives at these costs; a score of 0 is labelled +1."""
        (scores,) = self.plane.each_score_map(self.X, [self.plane.region_at(C_plus, C_minus)])
        fp, fn = _counts(scores @ np.array([1.0, C_plus, C_minus]) >= 0, self.y)
        return int(fp), int(fn)

    def level(self, error: float) -> Array:
        """The pieces that make up a level set, shape (p, 2, 2): the share of errors is above it on one side only."""
        share = self.counts.sum(axis=2) / self.y.size > error
        on = share[:, 0] != share[:, 1]
        return np.stack([self.start[on], self.stop[on]], axis=1)

    def best(self, criterion: Criterion | Costs | tuple[float, float]) -> BestCosts:
        """The costs to train with, for the costs of errors when the classifier is used, or for another criterion.

        Parameters
        ----------
        criterion : Costs, (C_plus, C_minus), Minimax, NeymanPearson, NeymanPearsonScore or ExpectedCost
            What is to be small; of costs it is their mean over the samples.
        """
        objective = objective_of(criterion, None, self.n_plus, self.n_minus)
        best, least = smallest(self.inside_counts[:, 0], self.inside_counts[:, 1], objective)
        k = int(np.argmax(best))  # the first
        fp, fn = self.inside_counts[k]
        return BestCosts(Costs(*self.inside[k]), int(fp), int(fn), float(least))

    def minimax(self) -> BestCosts:
        """The costs at which the larger of the two error rates is smallest."""
        return self.best(Minimax())


@dataclass
class _Collected:
    """What the regions have been found to hold, in lists of arrays."""

    start: list[Array] = field(default_factory=list)
    stop: list[Array] = field(default_factory=list)
    counts: list[Index] = field(default_factory=list)
    inside: list[Array] = field(default_factory=list)
    inside_counts: list[Index] = field(default_factory=list)


def error_map(plane: Any, X: Any, y: Any) -> ErrorMap:
    """Errors of a map of the cost plane on (held-out) samples, with labels of both classes that fit them."""
    labels = check_labels(y, of=X)
    found = _Collected()
    for region, scores in zip(plane.regions, plane.each_score_map(X), strict=True):
        if scores.shape[0] != labels.size:
            raise InputError(f"y must have one label per sample ({scores.shape[0]}), got {labels.size}")
        _in_region(region.polygon, scores, labels, found)
    for contact in plane.contacts:
        _on_edge(plane, X, contact, labels, found)
    nothing = np.empty((0, 2))
    return ErrorMap(
        plane, X, labels,
        np.concatenate([nothing, *found.start]), np.concatenate([nothing, *found.stop]),
        np.concatenate([np.empty((0, 2, 2), dtype=np.int64), *found.counts]),
        np.concatenate(found.inside), np.concatenate(found.inside_counts),
        int((labels > 0).sum()), int((labels < 0).sum()),
    )  # fmt: skip


def _counts(positive: Mask, y: Array) -> Index:
    """False positives and false negatives for labels (m,) or (..., m): shape (2,) or (..., 2)."""
    found = [np.count_nonzero(wrong, axis=-1) for wrong in (positive & (y < 0), ~positive & (y > 0))]
    return np.stack(found, axis=-1).astype(np.int64)


def _in_region(polygon: Array, scores: Array, y: Array, found: _Collected) -> None:
    """Borders within one region: the lines of its samples, cut where they cross."""
    corners = np.column_stack([np.ones(polygon.shape[0]), polygon])
    values = corners @ scores.T
    scale = np.abs(corners).max(axis=0) @ np.abs(scores).T
    values = np.where(np.abs(values) <= _SAME * scale, 0.0, values)
    crossing = np.flatnonzero((values.min(axis=0) < 0) & (values.max(axis=0) > 0))
    rest = np.delete(np.arange(y.size), crossing)
    known = _counts((values[:, rest].max(axis=0) > 0) | (values[:, rest].min(axis=0) >= 0), y[rest])
    if crossing.size == 0:
        found.inside.append(centroid(polygon)[None])
        found.inside_counts.append(known[None])
        return
    start, stop = _chords(polygon, values[:, crossing])
    lines, labels, size = scores[crossing], y[crossing], scale[crossing]
    first, last = (np.column_stack([np.ones(len(p)), p]) @ lines.T for p in (start, stop))  # [chord, sample]
    same = np.maximum(np.abs(first), np.abs(last)) <= _SAME * size
    np.fill_diagonal(same, True)
    owner, ends = _pieces(start, stop, first, last, same)
    others = np.vstack([np.array(borders(polygon)), lines])
    with_us = lines[:, 1:] @ lines[:, 1:].T > 0
    towards = lines[:, 1:] / np.linalg.norm(lines[:, 1:], axis=1)[:, None]
    found.start.append(ends[:, 0])
    found.stop.append(ends[:, 1])
    for low in range(0, owner.size, max(1, _BLOCK // others.shape[0])):
        part = slice(low, low + max(1, _BLOCK // others.shape[0]))
        ours, middle = owner[part], ends[part].mean(axis=1)
        there = np.column_stack([np.ones(len(middle)), middle]) @ lines.T
        # To the left the label of the piece's own sample is +1; of one on the same line, +1 there or on the other side.
        sides = [np.where(same[ours], with_us[ours] == side, there > 0) for side in (True, False)]
        counts = np.stack([_counts(side, labels) for side in sides], axis=1) + known
        found.counts.append(counts)
        passed = np.column_stack([np.zeros((ours.size, polygon.shape[0]), dtype=bool), same[ours]])
        for side, sign in enumerate((1.0, -1.0)):
            found.inside.append(_half_way(middle, sign * towards[ours], others, passed))
            found.inside_counts.append(counts[:, side])


def _pieces(start: Array, stop: Array, first: Array, last: Array, same: Mask) -> tuple[Index, Array]:
    """Chords cut where they cross: of each piece its chord, and its two ends, shape (q, 2, 2).

    ``first`` and ``last`` have the scores at the ends of the chords, [chord, sample]; of chords that are the ``same``
    only the first is kept.
    """
    p = start.shape[0]
    cut = ~same & (first * last < 0)
    shares = np.divide(first, first - last, out=np.ones((p, p)), where=cut)
    shares = np.sort(np.column_stack([np.zeros(p), shares, np.ones(p)]), axis=1)
    new = np.logical_not(np.tril(same, -1).any(axis=1))
    kept = (np.diff(shares, axis=1) > _SAME) & np.broadcast_to(new, shares[:, 1:].T.shape).T
    owner, place = np.nonzero(kept)
    both = np.stack([shares[owner, place], shares[owner, place + 1]], axis=1)
    return owner, start[owner, None] + both[:, :, None] * (stop - start)[owner, None]


def _chords(polygon: Array, values: Array) -> tuple[Array, Array]:
    """Where lines enter and leave a polygon, from their values at its corners; the positive side is to the left."""
    following = np.roll(values, -1, axis=0)
    step = np.roll(polygon, -1, axis=0) - polygon
    out = []
    for change in ((values > 0) & (following <= 0), (values <= 0) & (following > 0)):
        edge, which = np.argmax(change, axis=0), np.arange(values.shape[1])
        a, b = values[edge, which], following[edge, which]
        out.append(polygon[edge] + (a / (a - b))[:, None] * step[edge])
    return out[0], out[1]


def _half_way(points: Array, directions: Array, lines: Array, passed: Mask) -> Array:
    """Move each point half way to the first line in its direction, except those that it is on."""
    at, rate = np.column_stack([np.ones(len(points)), points]) @ lines.T, directions @ lines[:, 1:].T
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = -at / rate
    hit = np.where((rate != 0.0) & (hit > 0.0) & ~passed, hit, np.inf).min(axis=1)
    return np.asarray(points + 0.5 * hit[:, None] * directions)


def _on_edge(plane: Any, X: Any, contact: Any, y: Array, found: _Collected) -> None:
    """Borders on the common edge of two regions where the intercept jumps from one to the other."""
    regions = [plane.regions[k] for k in (contact.first, contact.second)]
    middle = np.array([1.0, *(0.5 * (contact.start + contact.stop))])
    step = contact.stop - contact.start
    if abs(float((regions[0].b_map - regions[1].b_map) @ middle)) <= _JUMP or not step.any():
        return
    maps = list(plane.each_score_map(X, [contact.first, contact.second]))
    ends = np.array([[1.0, *contact.start], [1.0, *contact.stop]])
    values = [ends @ scores.T for scores in maps]
    shares = [v[0] / (v[0] - v[1]) for v in (each[:, each[0] * each[1] < 0] for each in values)]
    cuts = np.unique(np.concatenate([[0.0, 1.0], *shares]))
    half = 0.5 * (cuts[1:] + cuts[:-1])
    counts = np.stack([_counts((v[0] + half[:, None] * (v[1] - v[0])) >= 0, y) for v in values], axis=1)
    changed = (counts[:, 0] != counts[:, 1]).any(axis=1)
    points = contact.start + cuts[:, None] * step
    found.start.append(points[:-1][changed])
    found.stop.append(points[1:][changed])
    found.counts.append(counts[changed])
