r"""The two baselines with one nu: the balanced nu-SVM, and the nu-SVM whose intercept is shifted afterwards.

Both are points of a ray in :math:`(1/\nu_+,1/\nu_-)`: :math:`\nu_+=\nu_-` (balanced), :math:`\nu_+n_+=\nu_-n_-` (equal
caps for all samples, that is :math:`\gamma=\frac12`). One exact path a fold has them all. Scores are those of the
reduced hulls, whose weights add up to 1, so that they can be compared between folds. Where all intercepts between two
are optimal, the middle is used.

The nu of the second is given as a share of the largest feasible one, :math:`\nu_{\max}=2\min(n_+,n_-)/n`: limits that
the pair :math:`(\nu_+,\nu_-)` does not have (Davenport, Baraniuk & Scott 2010, Propositions 2 and 3, section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.path.svm.nu_path import trace_hulls
from paretoclf.problem.gram import Gram
from paretoclf.roc.criteria import Criterion
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.error_arrays import Folds, Totals, problems_of
from paretoclf.tuning.search import choose

#: A position on a line this near to a breakpoint is on it.
_SAME_T = 1e-10


def classes_of(nu: float, balanced: bool, y: Array) -> tuple[float, float]:
    """Pair ``(nu_plus, nu_minus)`` of one nu: both the same, or those of a share of the largest nu at asymmetry 1/2."""
    if balanced:
        return nu, nu
    sizes = np.array([np.count_nonzero(y > 0), np.count_nonzero(y < 0)])
    plus, minus = nu * sizes.min() / sizes
    return float(plus), float(minus)


@dataclass(frozen=True)
class CountBalanced:
    """Counts errors where nu_plus = nu_minus: a `Counter`."""

    nu: Array

    def __call__(self, gram: Gram, y: Array, folds: Folds, cells: Mask) -> Totals:
        """Count errors at the given cells, shape (k,)."""
        held = held_out_scores(gram, y, folds, self.nu, balanced=True)
        fp = np.count_nonzero(held.scores[held.y < 0] >= 0, axis=0)
        fn = np.count_nonzero(held.scores[held.y > 0] < 0, axis=0)
        return fp, fn, held.trivial, held.refused


@dataclass(frozen=True)
class CountShifted:
    """Counts errors of nu-SVMs at the intercepts that are best for a criterion: a `Counter`."""

    nu: Array
    criterion: Criterion

    def __call__(self, gram: Gram, y: Array, folds: Folds, cells: Mask) -> Totals:
        """Count errors at the given cells, shape (k,)."""
        held = held_out_scores(gram, y, folds, self.nu, balanced=False)
        counts = np.zeros((2, cells.size), dtype=np.int64)
        for k in np.flatnonzero(cells & (held.trivial + held.refused == 0)):
            _, fp, fn = best_shift(held.scores[:, k], held.y, self.criterion)
            counts[:, k] = fp, fn
        return counts[0], counts[1], held.trivial, held.refused


def best_shift(scores: Array, y: Array, criterion: Criterion) -> tuple[float, int, int]:
    """Return the number to be added to scores that is best for a criterion, and the errors there.

    Candidates are minus the midpoints between neighbouring scores, and one beyond either end; `choose` says which.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.tuning.one_nu import best_shift
    >>> best_shift(np.array([1.0, 2.0, 4.0]), np.array([-1.0, -1.0, 1.0]), pc.tuning.Minimax())
    (-3.0, 0, 0)
    """
    values = np.unique(scores)
    smallest, largest = values[[0, -1]]
    beyond = max(1.0, float(largest - smallest))
    middle = 0.5 * (values[1:] + values[:-1])
    thresholds = np.concatenate([[smallest - beyond], middle, [largest + beyond]])
    negatives = np.sort(scores[y < 0])
    positives = np.sort(scores[y > 0])
    fp = negatives.size - np.searchsorted(negatives, thresholds)
    fn = np.searchsorted(positives, thresholds)
    (k,) = choose(criterion, fp / negatives.size, fn / positives.size).cell
    return -float(thresholds[k]), int(fp[k]), int(fn[k])


@dataclass(frozen=True)
class HeldOutScores:
    """Held-out scores of all folds, one after the other, at k values of nu, shape (m, k); nan without a classifier.

    ``trivial`` and ``refused`` count the folds that have none.
    """

    scores: Array
    y: Array
    trivial: Index
    refused: Index


def held_out_scores(gram: Gram, y: Array, folds: Folds, nu: Array, balanced: bool) -> HeldOutScores:
    """Follow the path of each fold, and read it at each nu (increasing)."""
    trivial, refused = np.zeros((2, nu.size), dtype=np.int64)
    last = float(nu[0]) if nu[0] < 1 else 0.5
    t = (1 / nu - 1) / (1 / last - 1)
    parts = []
    for problem, new, labels in problems_of(gram, y, folds):
        parts.append(np.full((labels.size, nu.size), np.nan))
        start = classes_of(1.0, balanced, problem.y)
        stop = classes_of(last, balanced, problem.y)
        try:
            path = trace_hulls(problem, start, stop, certify=False, progress=False)
        except DegeneratePathError:
            refused += 1
            continue
        except InputError:  # the hulls meet at the class means already
            trivial += 1
            continue
        reached = t <= path.breakpoints[-1]
        reached[reached] = [path.rho(each) > 0 for each in t[reached].tolist()]
        trivial += ~reached
        parts[-1][:, reached] = _middle(path.scores(new), t[reached])
    held_labels = np.concatenate([y[test] for _, test in folds])
    return HeldOutScores(np.concatenate(parts), held_labels, trivial, refused)


def _middle(scores: PathScores, t: Array) -> Array:
    """Scores at t, shape (m, len(t)): at a jump (up to rounding of its place) the mean of both sides."""
    values = scores(t)
    inner = scores.t[1:-1]
    if inner.size:
        nearest = np.abs(inner[:, None] - t).argmin(axis=0)
        for k in np.flatnonzero(np.abs(inner[nearest] - t) <= _SAME_T):
            j = nearest[k]
            values[:, k] = 0.5 * (scores.end[:, j] + scores.start[:, j + 1])
    return np.asarray(values)
