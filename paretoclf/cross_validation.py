"""Cross-validated errors along a line of costs: one exact path for each fold, their error counts added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from paretoclf.checks import Array, Rng, check_seed
from paretoclf.costs import CostLine, Costs, SampleCosts
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.kernels import Precomputed
from paretoclf.path.declared import path_problem
from paretoclf.path.lines import CostProblem, trace_costs
from paretoclf.path.scores import PathScores
from paretoclf.roc.error_curve import ErrorCurve, error_curve_of_scores

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Problem:
    """The training part of a fold."""

    gram: Gram
    y: Array
    sample_weight: Array


def cross_validated_errors(
    svm: CostProblem,
    start: Any,
    stop: Any,
    folds: int | Iterable[tuple[Any, Any]] = 5,
    *,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
) -> ErrorCurve:
    """Errors of each fold's path on the samples that it was not trained on, added up at equal t.

    Parameters
    ----------
    svm : TwoCSVM
        The whole problem: samples, labels, weights and kernel; with ``low_rank``, each fold is given the same rank.
    start, stop : Costs, pair (C_plus, C_minus), or SampleCosts
        The line, as for `trace`; each fold gets its own samples' costs.
    folds : int or iterable of (train, test)
        How many stratified, shuffled folds; or index arrays, such as of a scikit-learn splitter.
    rng : int or numpy.random.Generator
        Seed of the folds.
    transformer : scikit-learn transformer, optional
        Fitted on the training part of each fold and applied to both parts, such as ``StandardScaler()``.
    n_jobs : int, optional
        Processes at work, as for joblib. The result does not depend on it.

    Returns
    -------
    ErrorCurve

    Raises
    ------
    InputError
        If svm is no 2C-SVM, a class has fewer samples than there are folds, or a training part lacks a class.
    DegeneratePathError
        If the path of a fold cannot be followed.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> svm = pc.TwoCSVM(rng.normal(size=(40, 2)) + y[:, None], y)
    >>> curve = pc.cross_validated_errors(svm, (0.1, 1.9), (1.9, 0.1), folds=4)
    >>> curve.n_plus, curve.n_minus, curve.minimax()[0].objective
    (20, 20, 0.1)
    """
    path_problem(svm, only="costs")
    parts = _folds(svm, folds, rng)
    if transformer is not None and isinstance(svm.gram.kernel, Precomputed):
        raise InputError("transformer must be left out for kernel='precomputed': there are no features to transform")
    gram = svm.gram
    rank = None if gram.pivots is None else gram.pivots.size
    data = gram.X, svm.y, svm.sample_weight, gram.kernel, rank  # and not what the problem has computed already
    tasks = [delayed(_held_out)(data, start, stop, train, test, transformer) for train, test in parts]
    scores: list[PathScores] = Parallel(n_jobs=n_jobs)(tasks)
    of_samples = isinstance(start, SampleCosts) or isinstance(stop, SampleCosts)
    line = None if of_samples else CostLine(Costs(*start), Costs(*stop))
    return error_curve_of_scores(scores, [svm.y[test] for _, test in parts], line)


def _folds(svm: CostProblem, folds: Any, rng: Rng) -> list[tuple[Rows, Rows]]:
    y = svm.y
    if isinstance(folds, int | np.integer):
        smaller = int(min((y > 0).sum(), (y < 0).sum()))
        if not 2 <= folds <= smaller:
            raise InputError(
                f"folds must be at least 2 and at most the size of the smaller class ({smaller}), got {folds}"
            )
        splitter = StratifiedKFold(int(folds), shuffle=True, random_state=check_seed(rng))
        return [(train, test) for train, test in splitter.split(np.zeros((y.size, 1)), y)]
    parts = [(np.arange(y.size)[train], np.arange(y.size)[test]) for train, test in folds]
    for k, (train, _) in enumerate(parts):
        if np.unique(y[train]).size < 2:
            raise InputError(f"folds[{k}] must train on both classes, got {train.size} samples of one or none")
    return parts


def _held_out(data: Any, start: Any, stop: Any, train: Rows, test: Rows, transformer: Any) -> PathScores:
    """Scores of the test part along the path of the training part."""
    samples, y, weight, kernel, rank = data
    X, Z = samples[train], samples[test]
    if isinstance(kernel, Precomputed):
        X, Z = X[:, train], Z[:, train]
    if transformer is not None:
        fitted = clone(transformer).fit(X)
        X, Z = fitted.transform(X), fitted.transform(Z)
    gram = Gram(X, kernel, None if rank is None else min(rank, train.size))
    ends = (SampleCosts(each.values[train]) if isinstance(each, SampleCosts) else each for each in (start, stop))
    return trace_costs(_Problem(gram, y[train], weight[train]), *ends, progress=False).scores(Z)
