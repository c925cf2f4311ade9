"""The three ROC curves of a line in the cost plane: varying the intercept, the asymmetry, or both.

Bach, Heckerman & Horvitz 2006, section 3.2. No order holds between the first two; the third contains both.
Each curve can be pooled over the folds of a cross-validation: the counts of all folds at the same path parameter and
the same shift of the intercept are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_curve

from paretoclf.common.checks import Array, Mask, check_labels, check_vector, refuse_other_order, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.threads import count, one_thread
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.problem.lines import lines_of
from paretoclf.roc.crossings import BLOCK, LabelChanges, label_changes, scores_at
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.grid import grid_errors
from paretoclf.roc.labelled_scores import scores_and_labels, signs_of
from paretoclf.roc.scores import PathScores, note_of

Vary = Literal["intercept", "asymmetry", "both"]


def _every_threshold(scores: Any, y: Any) -> RocCurve:
    """ROC curve of one scored sample: every threshold, ties as one step."""
    labels = check_labels(y)
    values = check_vector(scores, len(labels), "scores")
    fpr, tpr, threshold = roc_curve(labels, values, pos_label=1, drop_intermediate=False)
    n_plus = int(np.count_nonzero(labels > 0))
    return RocCurve(fpr, tpr, n_plus, len(labels) - n_plus, "intercept", shift=-np.asarray(threshold))


def roc_of_path(
    path: Any,
    X: Any,
    y: Any,
    vary: Vary = "intercept",
    t: float | None = None,
    n_grid: int = 1000,
    *,
    pos_label: Any = None,
) -> RocCurve:
    """ROC curve of a path on (held-out) samples, or grid curve of a sweep.

    Parameters
    ----------
    path : Path, QuantilePath, MarginPath, ProblemPath, ConePath or Sweep
        A path, from `paretoclf.trace`, whose problem has a classifier; or a sweep of any formulation, whose ``t`` is
        the position in it. Then "asymmetry" is the grid curve through its points, whatever its parameters, and "both"
        the upper hull of all their thresholds; between the points nothing is known.
    X : array or sparse matrix of shape (m, d)
        Samples.
    y : array of shape (m,)
        Their labels, -1 and +1, or any two with pos_label.
    vary : {"intercept", "asymmetry", "both"}
        Parameter that varies; see `roc_of_scores`.
    t : float, optional
        Path parameter of the slope for ``vary="intercept"``. Default: `symmetric_t` of the path; required where it has
        no costs, as that of a problem of your own. For a sweep: position
        of one solution; default: the one whose asymmetry is nearest to 1/2, where there are costs.
    n_grid : int
        Size of the grid for ``vary="both"`` of a path.
    pos_label : object, optional
        Which of the two labels of y is positive, where they are not -1 and +1.

    Raises
    ------
    InputError
        If an argument is not as above.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Costs
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import roc_of_path
    >>> class Line:  # stands for the path of a classifier f(x) = x + b, b from -2 to 2
    ...     def scores(self, X):
    ...         return PathScores(np.array([0.0, 1.0]), X - 2, X + 2)
    ...     def costs(self, t):
    ...         return Costs(t, 1 - t)
    >>> X, y = np.array([[-1.0], [0.0], [0.5], [1.0]]), np.array([-1, 1, -1, 1])
    >>> roc_of_path(Line(), X, y, vary="asymmetry")
    RocCurve(asymmetry: 5 points, 2 positives, 2 negatives, AUC 0.7500, upper envelope 0.8750 (optimistic))
    """
    refuse_other_order(X, y)
    y = signs_of(y, pos_label)
    if hasattr(path, "solutions") and not isinstance(path, type):
        return _of_sweep(path, X, y, check_vary(vary), t)
    if isinstance(path, type) or not (hasattr(path, "scores") and (hasattr(path, "costs") or hasattr(path, "rule"))):
        if hasattr(path, "lines"):
            lines_of(path)  # which may have no path at all
        raise InputError(
            f"path must be what paretoclf.trace or paretoclf.sweep returns, got {what_it_is(path)}; for the scores of "
            "one classifier use roc_of_scores"
        )
    with one_thread(count(y)):
        scores = path.scores(X)
        if t is None and hasattr(path, "costs"):
            t = symmetric_t(path, float(scores.t[0]), float(scores.t[-1]))
        return roc_of_scores(scores, y, vary, t, n_grid)


def check_vary(vary: Any) -> Vary:
    """Return what varies, or refuse it and list what may vary."""
    if vary not in get_args(Vary):
        raise InputError(f'vary must be "intercept", "asymmetry" or "both", got {vary!r}')
    return vary  # type: ignore[no-any-return]


def _of_sweep(sweep: Any, X: Any, y: Any, vary: Vary, t: float | None) -> RocCurve:
    """Grid curve: the solutions as they are, the thresholds of one, or the hull of all thresholds of all."""
    scores = sweep.scores(X)
    if vary == "asymmetry":
        return grid_errors([scores], [y], sweep.parameters).roc()
    if vary == "intercept":
        position = _position(sweep, t)
        return _at(_every_threshold(scores[position], y), position)
    curves = [_at(_every_threshold(each, y), k) for k, each in enumerate(scores)]
    return replace(union(curves).hull(), vary="both on a grid", index=None)


def _at(curve: RocCurve, t: float) -> RocCurve:
    """Curve of the classifiers at one path parameter, or at one position of a sweep."""
    return replace(curve, t=np.full(len(curve), float(t)))


def _position(sweep: Any, t: float | None) -> int:
    """Position t of a sweep, checked; by default that of the asymmetry nearest to 1/2."""
    last = len(sweep.solutions) - 1
    if t is not None:
        if not (0 <= t <= last and t == int(t)):
            raise InputError(f"t must be a position in the sweep, a whole number from 0 to {last}, got {t!r}")
        return int(t)
    costs = [each.costs for each in sweep.solutions]
    known = [k for k, each in enumerate(costs) if isinstance(each, Costs) and each.total > 0]
    if not known:
        raise InputError(f"t must be given: which solution of the sweep, from 0 to {last}; they have no costs")
    return min(known, key=lambda k: abs(costs[k].asymmetry - 0.5))


def roc_of_scores(
    first: Any = None,
    second: Any = None,
    /,
    vary: Vary = "intercept",
    t: float | None = None,
    n_grid: int = 1000,
    *,
    scores: Any = None,
    y: Any = None,
    pos_label: Any = None,
) -> RocCurve:
    """ROC curve of the scores of one classifier, or of those along a path, or along the paths of several folds.

    Ties of one classifier are equal numbers: nothing is known of where these came from. `roc_of_path` knows, and takes
    scores that differ by rounding alone for ties.

    Parameters
    ----------
    first, second
        Labels and scores without their names. Labels -1 and +1 may stand in either order, unless the scores are two
        whole numbers only; with pos_label it is y first.
    scores : array of shape (m,), PathScores or sequence of PathScores
        Scores of one set of samples, larger ones more positive; along paths of folds, on one line, one for each fold.
    y : array of shape (m,), or a sequence of them
        Labels -1 and +1, one vector for each PathScores. Both classes must occur, not in each fold.
    vary : {"intercept", "asymmetry", "both"}
        "intercept": slope at t, all thresholds. "asymmetry": the classifiers of the path themselves; the finite
        sequence of states between consecutive sign changes, computed exactly, completed by (0, 0) and (1, 1) where
        the path does not reach them, and turned to go from (0, 0) to (1, 1). "both": upper hull of all thresholds
        at all breakpoints and at n_grid equally spaced t, with the other two curves (that of the intercept if t is
        given), so that it contains them.
    t : float, optional
        Path parameter for "intercept", where it is required. One classifier has none, and nothing else to vary.
    n_grid : int
        Size of the grid for "both".
    pos_label : object, optional
        Which of the two labels of y is positive, where they are not -1 and +1; for one vector of labels.

    Returns
    -------
    RocCurve
        Curve with `t`, `swept` and `shift` of each point; of one classifier point j predicts +1 where
        ``scores + shift[j] >= 0``.

    Raises
    ------
    InputError
        If an argument is not as above; or if nothing tells labels and scores apart.

    Notes
    -----
    Between breakpoints the order of the scores also changes at ``s_i(t) = s_j(t)``; "both" replaces those t by the
    grid, which can only lose points of the hull.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import roc_of_scores
    >>> roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1]).tpr
    array([0. , 0.5, 1. , 1. ])
    >>> fold = PathScores(np.array([0.0, 1.0]), np.array([[-2.0], [-1.0]]), np.array([[1.0], [2.0]]))
    >>> roc_of_scores([fold, fold], [[-1, 1], [-1, 1]], vary="asymmetry").t
    array([0.16..., 0.5  , 0.83...])
    """
    check_vary(vary)
    scores, y = scores_and_labels((first, second), scores, y, pos_label)
    if not _along_paths(scores):
        if vary != "intercept" or t is not None:
            raise InputError(
                f'scores must be PathScores for vary="{vary}" and a t, as path.scores(X) returns them, '
                f"got {what_it_is(scores)}"
            )
        return _every_threshold(scores, y)
    folds, labels = checked_folds(scores, y)
    if t is None and vary == "intercept":
        raise InputError('t is required for vary="intercept": the path parameter in [0, 1] of the slope')
    if n_grid < 0:
        raise InputError(f"n_grid must be at least 0, got {n_grid!r}")
    return replace(_of_folds(folds, labels, vary, t, n_grid), note=note_of(folds))


def _of_folds(folds: list[PathScores], labels: list[Array], vary: Vary, t: float | None, n_grid: int) -> RocCurve:
    """ROC curve of the scores along the paths of several folds; see `roc_of_scores`."""
    if vary == "intercept":
        assert t is not None
        return _intercept(folds, labels, t)
    if vary == "asymmetry":
        return _asymmetry(folds, labels)
    at, swept = _positions(folds, n_grid)
    parts = [_asymmetry(folds, labels), _thresholds(folds, np.concatenate(labels), at, swept)]
    if t is not None:
        parts.insert(0, _intercept(folds, labels, t))
    return replace(union(parts).hull(), index=None)


def _along_paths(scores: Any) -> bool:
    """Whether these are scores along paths, not of one classifier."""
    if isinstance(scores, PathScores):
        return True
    if not isinstance(scores, Sequence):
        return False
    return not scores or any(isinstance(fold, PathScores) for fold in scores)


def upper_envelope(
    scores: Sequence[PathScores], y: Sequence[Any], vary: Vary, t: float | None = None, n_grid: int = 200
) -> RocCurve:
    """Upper hull to choose a classifier from, on validation folds: as `roc_of_scores`, "both" on the grid of t alone.

    Breakpoints of the validation folds are not those of the path that is chosen on, so they are no better candidates.
    Where one label for all is best it is given to all, whatever threshold did so on these samples.
    """
    if vary == "both":
        if n_grid < 2:
            raise InputError(f"n_grid must be at least 2, got {n_grid!r}")
        folds, labels = checked_folds(scores, y)
        grid = np.linspace(folds[0].t[0], folds[0].t[-1], n_grid)
        hull = _thresholds(folds, np.concatenate(labels), grid, np.ones(n_grid)).hull()
    else:
        hull = roc_of_scores(scores, y, vary, t).hull()
    return replace(hull, shift=np.concatenate([[-np.inf], hull.shift[1:-1], [np.inf]]))


def symmetric_t(path: Any, lo: float = 0.0, hi: float = 1.0) -> float:
    """Parameter between two others at which a path is closest to asymmetry 1/2.

    Costs are affine in t, so ``C_plus - C_minus`` is too: its zero if it has one in [lo, hi] (exactly; asymmetry 1/2);
    otherwise the end whose asymmetry is nearer, since the asymmetry is monotone along a line. The end hi when both
    are equally near, as on a ray, where the asymmetry is constant; the middle where the costs do not change at all, as
    along a path of margins; hi where each sample has costs of its own. An end without costs, where w = 0, is not taken.

    Examples
    --------
    >>> from paretoclf import Costs
    >>> from paretoclf.results import CostLine
    >>> from paretoclf.roc import symmetric_t
    >>> class Line:
    ...     def costs(self, t):
    ...         return CostLine(Costs(0.0, 4.0), Costs(3.0, 1.0)).at(t)
    >>> round(symmetric_t(Line()), 15)
    0.666666666666667
    """
    start, stop = path.costs(lo), path.costs(hi)
    if isinstance(start, SampleCosts):
        return hi
    if start is None or stop is None:
        return hi if start is None else lo
    if start == stop:
        return 0.5 * (lo + hi)
    first, last = start.C_plus - start.C_minus, stop.C_plus - stop.C_minus
    if (first < 0 < last) or (last < 0 < first):
        return lo + (hi - lo) * float(first / (first - last))
    if start.total == 0 or abs(stop.asymmetry - 0.5) <= abs(start.asymmetry - 0.5):
        return hi
    return lo


def checked_folds(scores: PathScores | Sequence[PathScores], y: Any) -> tuple[list[PathScores], list[Array]]:
    """Check scores and labels, and return them as lists of equal length, an entry for each fold."""
    folds = [scores] if isinstance(scores, PathScores) else list(scores)
    given = [y] if isinstance(scores, PathScores) else list(y)
    wrong = [fold for fold in folds if not isinstance(fold, PathScores)]
    if wrong:
        raise InputError(
            f"scores must be PathScores, as path.scores(X) returns them, got {what_it_is(wrong[0])}; for the scores of "
            "one classifier use roc_of_scores"
        )
    if len(folds) == 0 or len(folds) != len(given):
        raise InputError(f"y must have one vector of labels per PathScores ({len(folds)}), got {len(given)}")
    if any(fold.t[0] != folds[0].t[0] or fold.t[-1] != folds[0].t[-1] for fold in folds):
        raise InputError("scores must be those of paths over one range of t")
    sizes = [fold.start.shape[0] for fold in folds]
    vectors = [np.asarray(labels) for labels in given]
    for j, (size, vector) in enumerate(zip(sizes, vectors, strict=True)):
        if vector.shape != (size,):
            where = "y" if len(folds) == 1 else f"y[{j}]"
            raise InputError(f"{where} must have shape ({size},), got {vector.shape}")
    pooled = check_labels(np.concatenate(vectors))
    return folds, np.split(pooled, np.cumsum(sizes)[:-1])


def _intercept(folds: list[PathScores], labels: list[Array], t: float) -> RocCurve:
    """Curve of all thresholds at one t, pooled over the folds; tied scores are made equal, to the lowest of them."""
    pooled = np.concatenate([fold(float(t)) for fold in folds])
    order = np.argsort(-pooled)
    ordered = pooled[order]
    last_of_ties = np.flatnonzero(_followed_by_less(ordered, _rounding(folds)[order]))
    tied = np.empty_like(pooled)
    tied[order] = np.repeat(ordered[last_of_ties], np.diff(last_of_ties, prepend=-1))
    return _at(_every_threshold(tied, np.concatenate(labels)), t)


def _rounding(folds: list[PathScores]) -> Array:
    """Bounds on the rounding of the scores of all folds."""
    return np.concatenate([fold.rounding for fold in folds])


def _followed_by_less(ordered: Array, rounding: Array) -> Mask:
    """Mask of the decreasing scores (down the columns) that a smaller one follows; False within a tie."""
    mask = np.ones(ordered.shape, bool)
    mask[:-1] = ordered[:-1] - ordered[1:] > rounding[:-1] + rounding[1:]
    return mask


def _asymmetry(folds: list[PathScores], labels: list[Array]) -> RocCurve:
    """Curve of the states between consecutive sign changes, pooled over the folds."""
    found = [label_changes(fold) for fold in folds]
    n_plus = sum(int(np.count_nonzero(y > 0)) for y in labels)
    n_minus = sum(len(y) for y in labels) - n_plus
    first_positive = np.concatenate([each.first for each in found])
    positive_class = np.concatenate(labels) > 0
    first_fp = int(np.count_nonzero(first_positive & ~positive_class))
    first_tp = int(np.count_nonzero(first_positive & positive_class))
    t, swept, more_fp, more_tp = _pooled_steps(found, labels)
    fp = first_fp + np.concatenate([[0], np.cumsum(more_fp)])
    tp = first_tp + np.concatenate([[0], np.cumsum(more_tp)])
    t, swept = _between(t, swept, folds[0].t)
    height = fp * n_plus + tp * n_minus  # of fpr + tpr, in whole numbers
    if height[0] > height[-1]:
        fp, tp, t, swept = (each[::-1] for each in (fp, tp, t, swept))
    shift = np.zeros(len(fp))
    if fp[0] + tp[0] > 0:
        fp, tp = np.append(0, fp), np.append(0, tp)
        t, swept = np.append(t[0], t), np.append(1.0, swept)
        shift = np.append(-np.inf, shift)
    if fp[-1] + tp[-1] < n_plus + n_minus:
        fp, tp = np.append(fp, n_minus), np.append(tp, n_plus)
        t, swept = np.append(t, t[-1]), np.append(swept, 1.0)
        shift = np.append(shift, np.inf)
    return RocCurve(fp / n_minus, tp / n_plus, n_plus, n_minus, "asymmetry", shift=shift, t=t, swept=swept)


def _pooled_steps(found: list[LabelChanges], labels: list[Array]) -> tuple[Array, Array, Array, Array]:
    """Positions (t, swept) of the sign changes of all folds, in order, each once; changes of the two counts there."""
    steps = [_steps(each, y) for each, y in zip(found, labels, strict=True)]
    t, swept, more_fp, more_tp = (np.concatenate(part) for part in zip(*steps, strict=True))
    if t.size == 0:
        return t, swept, more_fp, more_tp
    order = np.lexsort((swept, t))
    t, swept = t[order], swept[order]
    new = (t[1:] != t[:-1]) | (swept[1:] != swept[:-1])
    begins = np.flatnonzero(np.append(True, new))
    sums = [np.add.reduceat(more[order], begins) for more in (more_fp, more_tp)]
    return t[begins], swept[begins], sums[0], sums[1]


def _steps(found: LabelChanges, y: Array) -> tuple[Array, Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Positions of the sign changes, and the changes of the two counts there."""
    step = np.where(found.up, 1, -1)
    positive = y[found.sample] > 0
    return found.t, found.swept, np.where(positive, 0, step), np.where(positive, step, 0)


def _between(t: Array, swept: Array, path: Array) -> tuple[Array, Array]:
    """Positions in the middle of the stretches that the sorted positions (t, swept) cut the path into."""
    t = np.concatenate([path[:1], t, path[-1:]])
    swept = np.concatenate([[1.0], swept, [1.0]])
    in_jump = t[1:] == t[:-1]
    middle = 0.5 * (t[1:] + t[:-1])
    middle_of_jump = 0.5 * (swept[1:] + swept[:-1])
    return middle, np.where(in_jump, middle_of_jump, 1.0)


def _positions(folds: list[PathScores], n_grid: int) -> tuple[Array, Array]:
    """Breakpoints and grid, as positions (t, swept). Jumps matter only if they move the folds against each other."""
    grid = np.linspace(folds[0].t[0], folds[0].t[-1], n_grid)
    t = np.unique(np.concatenate([*(fold.t for fold in folds), grid]))
    if len(folds) == 1:
        return t, np.ones(len(t))
    jumps = np.unique(np.concatenate([fold.t[1:-1] for fold in folds]))
    swept = np.repeat([1.0, 0.0], [len(t), len(jumps)])
    return np.concatenate([t, jumps]), swept


def _thresholds(folds: list[PathScores], y: Array, t: Array, swept: Array) -> RocCurve:
    """Curve of the best classifier for each number of false positives, among all thresholds at all positions.

    Only the largest number of true positives for each number of false positives can matter to the hull, so memory
    does not grow with the number of positions.
    """
    n_plus = int(np.count_nonzero(y > 0))
    n_minus = len(y) - n_plus
    rounding = _rounding(folds)
    best_tp = np.full(n_minus + 1, -1)
    best_t = np.zeros(n_minus + 1)
    best_swept = np.ones(n_minus + 1)
    best_shift = np.zeros(n_minus + 1)
    for some_t, some_swept in _blocks(t, swept, max(1, BLOCK // len(y))):
        pooled = np.concatenate([scores_at(fold, some_t, some_swept) for fold in folds])
        order = np.argsort(-pooled, axis=0)
        ordered = np.take_along_axis(pooled, order, axis=0)
        row, column = np.nonzero(_followed_by_less(ordered, rounding[order]))  # no threshold separates a tie
        tp = np.cumsum(y[order] > 0, axis=0)[row, column]
        fp = row + 1 - tp
        # Of equally many true positives the first; the position is packed below the count to find it again.
        count = len(row)
        packed = np.full(n_minus + 1, -1)
        np.maximum.at(packed, fp, tp * count + np.arange(count)[::-1])
        new_tp = packed // count
        better = new_tp > best_tp
        place = count - 1 - packed[better] % count
        row, column = row[place], column[place]
        best_tp[better] = new_tp[better]
        best_t[better] = some_t[column]
        best_swept[better] = some_swept[column]
        best_shift[better] = -ordered[row, column]
    seen = np.flatnonzero(best_tp >= 0)
    fpr, tpr = seen / n_minus, best_tp[seen] / n_plus
    best_shift, best_t, best_swept = (each[seen] for each in (best_shift, best_t, best_swept))
    return RocCurve(fpr, tpr, n_plus, n_minus, "both", shift=best_shift, t=best_t, swept=best_swept)


def _blocks(t: Array, swept: Array, width: int) -> Iterator[tuple[Array, Array]]:
    """Positions (t, swept), at most so many at a time."""
    for low in range(0, len(t), width):
        yield t[low : low + width], swept[low : low + width]


def union(curves: Sequence[RocCurve]) -> RocCurve:
    """Join the points of several curves, for the hull: their order along a curve is lost."""
    joined: dict[str, Any] = {}
    for name in ("fpr", "tpr", "shift", "t", "swept"):
        joined[name] = np.concatenate([getattr(curve, name) for curve in curves])
    return replace(curves[-1], **joined, index=None)
