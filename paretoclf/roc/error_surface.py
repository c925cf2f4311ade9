r"""Held-out errors over two parameters, t and a shift of the intercept, each fold apart.

A path has a classifier for each t; with its threshold moved, :math:`f_t(x)+s`, there is one for each pair (t, s). At a
fixed t the pooled scores of all folds are finitely many thresholds; so the best s is found among all of them, exactly.
The best pair is found among all s at given t. For every ratio of costs it is a vertex of the upper hull of these
counts: one pass over the scores answers for all costs, and nothing is trained again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Index, Mask, real_array
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import ON_RAY, CostLine, Costs
from paretoclf.roc.counts import exact_weights
from paretoclf.roc.crossings import BLOCK
from paretoclf.roc.error_curve import ErrorCurve
from paretoclf.roc.hull import upper_hull
from paretoclf.roc.of_path import checked_folds
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True, eq=False, repr=False)
class ErrorSurface:
    """False positives and false negatives of ``f_t(x) + shift``, for every t and every shift, fold by fold.

    A choice made here is made by the labels that judge it: ``examples/papers/bach2006_asymmetry.py`` judges such
    choices on other labels.

    Attributes
    ----------
    folds : tuple of PathScores
        Scores of the samples of each fold, along its own path.
    y : tuple of array
        Their labels, -1 and +1.
    line : CostLine, optional
        The line of the paths.

    Raises
    ------
    InputError
        If labels and scores do not fit, a fold is empty, or a class is missing in all folds.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import ErrorSurface
    >>> fold = PathScores(np.array([0.0, 1.0]), np.array([[-2.0], [-3.0], [0.0]]), np.array([[1.0], [2.0], [0.0]]))
    >>> surface = ErrorSurface([fold, fold], [[-1, 1, -1], [1, 1, -1]])
    >>> surface.counts(1.0, shift=-0.5).tolist()  # a fold a row: false positives, false negatives
    [[1, 0], [0, 0]]
    >>> surface.best([0.2, 0.8], [0.0, 0.5, 1.0])  # where it is best, for two asymmetries of the costs
    (array([1., 1.]), array([-1.5, -0.5]))
    """

    folds: tuple[PathScores, ...]
    y: tuple[Array, ...]
    line: CostLine | None = None

    def __post_init__(self) -> None:
        folds, labels = checked_folds(self.folds, self.y)
        empty = [k for k, label in enumerate(labels) if label.size == 0]
        if empty:
            raise InputError(f"folds[{empty[0]}] must have samples, got none")
        object.__setattr__(self, "folds", tuple(folds))
        object.__setattr__(self, "y", tuple(label.copy() for label in labels))

    def __repr__(self) -> str:
        return f"ErrorSurface({len(self.folds)} folds, {self.n_plus} positives, {self.n_minus} negatives)"

    @property
    def sizes(self) -> Index:
        """Samples of each fold."""
        return np.array([label.size for label in self.y])

    @property
    def n_plus(self) -> int:
        """Positives of all folds."""
        return int(sum(np.count_nonzero(label > 0) for label in self.y))

    @property
    def n_minus(self) -> int:
        """Negatives of all folds."""
        return int(self.sizes.sum()) - self.n_plus

    def curve(self, shift: float = 0.0) -> ErrorCurve:
        """Errors of all folds over t at one shift, as exact step functions."""
        folds = list(self.folds)
        if shift:
            folds = [replace(fold, start=fold.start + shift, end=fold.end + shift) for fold in folds]
        return ErrorCurve.of_scores(folds, list(self.y), self.line)

    def counts(self, t: Any, shift: Any = 0.0) -> Index:
        """False positives and false negatives of each fold.

        Parameters
        ----------
        t, shift : float or array of shape (q,)
            Points of the surface; a shift may be infinite: one label for all.

        Returns
        -------
        int array of shape (folds, 2) or (q, folds, 2)
        """
        at, by = np.broadcast_arrays(np.atleast_1d(real_array(t, "t")), real_array(shift, "shift"))
        found = np.empty((at.size, len(self.folds), 2), dtype=np.int64)
        for k, (fold, label) in enumerate(zip(self.folds, self.y, strict=True)):
            positive = fold(np.ascontiguousarray(at)) + by >= 0
            found[:, k, 0] = np.count_nonzero(positive[label < 0], axis=0)
            found[:, k, 1] = np.count_nonzero(~positive[label > 0], axis=0)
        return found[0] if np.ndim(t) == 0 and np.ndim(shift) == 0 else found

    def costs(self, asymmetries: Any, t: Any, shift: Any = 0.0) -> Array:
        """Mean cost of a sample in each fold, a miss costing ``2 g`` and a false alarm ``2 (1 - g)``.

        Parameters
        ----------
        asymmetries : float or array of shape (q,)
            Testing asymmetries g, strictly between 0 and 1.
        t, shift : float or array of shape (q,)
            One for each asymmetry, or one for all.

        Returns
        -------
        array of shape (q, folds)
            At g = 1/2 the shares of errors.
        """
        g = checked_asymmetries(asymmetries)
        t = np.atleast_1d(real_array(t, "t"))
        shift = np.atleast_1d(real_array(shift, "shift"))
        t, shift, _ = np.broadcast_arrays(t, shift, g)
        alarms, misses = np.moveaxis(self.counts(t, shift), -1, 0)
        cost = g[:, None] * misses + (1 - g)[:, None] * alarms
        return np.asarray(2 * cost / self.sizes)

    def best_shifts(self, asymmetries: Any, t: Any) -> Array:
        """Shift of the smallest cost of all folds together, at a given t for each asymmetry.

        Where there are several, the one nearest to 0; in the middle of those with the same labels, but 0 where that is
        one of them.

        Parameters
        ----------
        asymmetries : array of shape (q,)
            Testing asymmetries, strictly between 0 and 1.
        t : array of shape (q,)
            One for each, or one for all.

        Returns
        -------
        array of shape (q,)
            Infinite where one label for all is best.
        """
        g = checked_asymmetries(asymmetries)
        at = np.ascontiguousarray(np.broadcast_to(real_array(t, "t"), g.shape))
        found = np.empty(g.size)
        weights, unit = self._weights(g)
        more_than_any = unit * int(self.sizes.sum()) + 1
        for low, high in self._blocks(g.size):
            some = self._thresholds(at[low:high])
            miss = weights[low:high]
            positives = np.arange(len(some.tp))[:, None]
            fp, fn = positives - some.tp, self.n_plus - some.tp
            cost = miss * fn + (unit - miss) * fp
            cost[~some.possible] = more_than_any
            tied = cost == cost.min(axis=0)
            size = np.minimum(np.abs(some.shift), np.finfo(float).max)  # the infinite ones of the tied can win, too
            rank = np.argmin(np.where(tied, size, np.inf), axis=0)
            found[low:high] = some.shift[rank, np.arange(high - low)]
        return found

    def best(self, asymmetries: Any, t: Any) -> tuple[Array, Array]:
        """Minimise the cost of all folds together, for each asymmetry: among all shifts at all given t.

        Read off the upper hull of all these counts, which is found once. Among several t with the same counts the one
        nearest to where the training asymmetry is the testing one (without a line, to the middle) is taken.

        Parameters
        ----------
        asymmetries : array of shape (q,)
            Testing asymmetries, strictly between 0 and 1.
        t : array of shape (p,)
            Candidates.

        Returns
        -------
        t, shift : array of shape (q,)
        """
        g = checked_asymmetries(asymmetries)
        grid = np.atleast_1d(real_array(t, "t"))
        largest = self._most_true_positives(grid)
        most = largest.max(axis=0).astype(np.int64)
        seen = np.flatnonzero(most >= 0)
        fp, tp, _ = upper_hull(seen, most[seen], self.n_minus, self.n_plus)
        miss, unit = self._weights(g)
        alarms, hits = np.diff(fp), np.diff(tp)
        # Edges of the hull before the vertex of each g: those whose hits are worth their alarms at these costs.
        vertex = (alarms * unit < miss[:, None] * (alarms + hits)).sum(axis=1)
        wished = self.trained_for(g)
        at = np.empty(g.size, dtype=np.intp)
        for j in np.unique(vertex):
            asked = np.flatnonzero(vertex == j)
            candidates = np.flatnonzero(largest[:, fp[j]] == tp[j])
            distance = np.abs(grid[candidates] - wished[asked, None])
            at[asked] = candidates[np.argmin(distance, axis=1)]
        rank = (fp + tp)[vertex]
        shift = np.empty(g.size)
        for low, high in self._blocks(g.size):
            some = self._thresholds(grid[at[low:high]])
            column = np.arange(high - low)
            shift[low:high] = some.shift[rank[low:high], column]
        return grid[at], shift

    def _most_true_positives(self, grid: Array) -> npt.NDArray[np.int32]:
        """Largest number of true positives at each t with each number of false positives, -1 where there is none."""
        largest = np.full((grid.size, self.n_minus + 1), -1, dtype=np.int32)
        for low, high in self._blocks(grid.size):
            some = self._thresholds(grid[low:high])
            rank, column = np.nonzero(some.possible)
            tp = some.tp[rank, column]
            np.maximum.at(largest, (low + column, rank - tp), tp)
        return largest

    def _weights(self, g: Array) -> tuple[Any, int]:
        """`exact_weights`; in machine integers where no product of them with counts can be too large."""
        miss, unit = exact_weights(g)
        largest_product = unit * 2 * int(self.sizes.sum())
        return (miss.astype(np.int64) if largest_product < 2**62 else miss), unit

    def trained_for(self, g: Array) -> Array:
        """Parameters t of the line at which the asymmetry is nearest to g, shape (q,).

        The middle, where nothing is known of a line, and on a ray, whose asymmetry is one.
        """
        begin, end = self.folds[0].t[[0, -1]]
        middle = np.full(g.size, 0.5 * (begin + end))
        if self.line is None or not isinstance(self.line.start, Costs):
            return middle
        first, last = self.line.start, self.line.stop
        if not abs(first.asymmetry - last.asymmetry) > ON_RAY:  # nan at costs of 0, which are on every ray
            return middle
        between = np.clip(g, *sorted((first.asymmetry, last.asymmetry)))
        excess, missing = first.C_plus - between * first.total, between * last.total - last.C_plus
        return np.asarray(begin + excess / (excess + missing) * (end - begin))

    def _blocks(self, size: int) -> list[tuple[int, int]]:
        """Ranges of columns whose scores fit into the memory for temporaries."""
        width = max(1, BLOCK // int(self.sizes.sum()))
        return [(low, min(low + width, size)) for low in range(0, size, width)]

    def _thresholds(self, t: Array) -> _Thresholds:
        """All thresholds at some t, column by column: the r highest scores are labelled +1, r = 0, 1, ..., m."""
        pooled = np.concatenate([fold(np.ascontiguousarray(t)) for fold in self.folds])
        rounding = np.concatenate([fold.rounding for fold in self.folds])
        positive = np.concatenate(self.y) > 0
        order = np.argsort(-pooled, axis=0, kind="stable")
        ordered, known_to = np.take_along_axis(pooled, order, axis=0), rounding[order]
        edge = np.full((1, t.size), np.inf)
        high, low = np.concatenate([edge, ordered]), np.concatenate([ordered, -edge])
        possible = np.ones(high.shape, dtype=bool)  # no threshold separates a tie
        possible[1:-1] = ordered[:-1] - ordered[1:] > known_to[:-1] + known_to[1:]
        with np.errstate(invalid="ignore"):
            shift = np.where((high >= 0) & (low < 0), 0.0, -0.5 * (high + low))
        none = np.zeros((1, t.size), dtype=np.int64)
        tp = np.concatenate([none, np.cumsum(positive[order], axis=0)])
        return _Thresholds(tp, shift, possible)


@dataclass(frozen=True, eq=False)
class _Thresholds:
    """True positives and shift of each number of samples labelled +1, and whether it is possible; shape (m + 1, q)."""

    tp: npt.NDArray[np.int64]
    shift: Array
    possible: Mask


def checked_asymmetries(values: Any) -> Array:
    """Testing asymmetries as an array; each strictly between 0 and 1."""
    g = np.atleast_1d(real_array(values, "asymmetries", copy=True))
    wrong = g[~((g > 0) & (g < 1))]
    if g.ndim != 1 or g.size == 0 or wrong.size:
        given = f"{wrong[0]:g}" if wrong.size else f"an array of shape {g.shape}"
        raise InputError(f"asymmetries must be numbers strictly between 0 and 1, at least one, got {given}")
    return g
