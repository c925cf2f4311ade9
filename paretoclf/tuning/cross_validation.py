"""Cross-validation along a line of costs: one exact path for each fold. Errors added up, and nested ROC curves.

What has no exact path is cross-validated over a grid: one sweep for each fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, overload

import numpy as np

from paretoclf.common.checks import Array, Rng, check_labels, refuse_weights_of_0, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.threads import one_thread
from paretoclf.path.svm.cost_path import Path, trace_costs
from paretoclf.problem.costs import CostLine, Costs, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import Precomputed
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, Weighted, lines_of
from paretoclf.problem.samples import check_samples
from paretoclf.roc.empirical.nested import ByValidation, NestedRoc, nested_rocs
from paretoclf.roc.error_curve import ErrorCurve
from paretoclf.roc.error_surface import ErrorSurface
from paretoclf.roc.folds import FoldSamples, GivenFolds, Part, Rows, folds_of, held_out
from paretoclf.roc.grid import GridErrorCurve, grid_errors
from paretoclf.roc.of_path import Vary, check_vary, symmetric_t
from paretoclf.roc.scores import PathScores
from paretoclf.solve.sweep import sweep


def cross_validated_errors(
    svm: Weighted,
    start: Any,
    stop: Any,
    folds: GivenFolds = 5,
    *,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
) -> ErrorCurve:
    """Errors of each fold's path on the samples that it was not trained on, added up at equal t.

    Each count is held out. The smallest of them is not: `ErrorCurve.best` and its kin choose t by these labels, and the
    rates that they report flatter the choice. `cross_validated_roc` judges a choice where it was not made.

    Parameters
    ----------
    svm : TwoCSVM
        The whole problem: samples, labels, weights and kernel; with ``low_rank``, each fold is given the same rank.
    start, stop : Costs, pair (C_plus, C_minus), or SampleCosts
        The line, as for `trace`; each fold gets its own samples' costs.
    folds : int, splitter or iterable of (train, test)
        How many stratified, shuffled folds; or a splitter of scikit-learn, or index arrays.
    rng : int or numpy.random.Generator
        Seed of the folds.
    transformer : scikit-learn transformer, optional
        Fitted on the training part of each fold and applied to both parts, such as ``StandardScaler()``.
    n_jobs : int, optional
        Processes at work, as for joblib. The result does not depend on it.

    Raises
    ------
    InputError
        If svm is no 2C-SVM, a class has fewer samples than there are folds, a fold is empty, or a training part lacks a
        class.
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
    return cross_validated_surface(svm, start, stop, folds, rng=rng, transformer=transformer, n_jobs=n_jobs).curve()


def cross_validated_surface(
    svm: Weighted,
    start: Any,
    stop: Any,
    folds: GivenFolds = 5,
    *,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
) -> ErrorSurface:
    """Errors of each fold's path on the samples that it was not trained on, over t and a shift of the intercept.

    Parameters
    ----------
    svm, start, stop, folds, rng, transformer, n_jobs
        As for `cross_validated_errors`, which is its ``curve()``.

    Returns
    -------
    ErrorSurface
        Counts by fold; the best t and shift for any number of ratios of costs, read off.

    Raises
    ------
    InputError, DegeneratePathError
        As for `cross_validated_errors`.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> svm = pc.TwoCSVM(rng.normal(size=(40, 2)) + y[:, None], y)
    >>> surface = pc.cross_validated_surface(svm, (0.1, 1.9), (1.9, 0.1), folds=4)
    >>> t, shift = surface.best([0.1, 0.5, 0.9], np.linspace(0, 1, 101))
    >>> surface.costs([0.1, 0.5, 0.9], t, shift).mean(axis=1)  # in each fold; here their means
    array([0.0..., 0.0..., 0.0...])
    """
    lines_of(svm, only=LineOfCosts)
    parts = folds_of(svm.y, folds, rng)
    with one_thread(svm.y.size):
        scores = held_out(AlongLine(Samples.of(svm, transformer), start, stop), parts, n_jobs)
    labels = tuple(svm.y[test] for _, test in parts)
    return ErrorSurface(tuple(scores), labels, _line(start, stop))


def cross_validated_sweep(
    make: Callable[[Any, Array], Any],
    X: Any,
    y: Any,
    folds: GivenFolds = 5,
    *,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    extras: Mapping[str, Any] | None = None,
    **grid: Any,
) -> GridErrorCurve:
    """Errors of any formulation over a grid: of each fold's sweep on the samples that it was not trained on.

    For a prototype, which has no exact path. Each count is held out; the smallest of them is not, as it was chosen.

    Parameters
    ----------
    make : callable
        ``make(X, y)`` returns the formulation of some samples: a class of your own, or
        ``lambda X, y: paretoclf.TwoCSVM(X, y, "rbf")``.
    X, y : array or sparse matrix of shape (n, d), array of shape (n,)
        Samples; labels -1 and +1, both present.
    folds, rng, transformer, n_jobs
        As for `cross_validated_errors`.
    extras : dict from str to array of shape (n, ...), optional
        Other data of each sample (weights, a protected attribute, ...): make is called with those of the training part,
        by name, as ``make(X, y, weights=...)``. The transformer does not see them.
    **grid
        Parameters and options of `sweep`, such as ``C=[0.1, 1.0, 10.0]``.

    Returns
    -------
    GridErrorCurve
        Counts added up over the folds; ``roc()`` is their curve in the ROC plane.

    Raises
    ------
    InputError, SolveError
        If make cannot be called or returns no formulation, its solutions have no classifier, or as for
        `cross_validated_errors` and `sweep`.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> X = rng.normal(size=(40, 2)) + y[:, None]
    >>> curve = pc.cross_validated_sweep(pc.QuantileSVM, X, y, folds=4, tau=[0.2, 0.5, 0.8], lam=0.1)
    >>> curve.n_plus, curve.n_minus, [best.values["tau"] for best in curve.minimax()]
    (20, 20, [0.5])
    """
    if not callable(make):
        raise InputError(
            f"make must be a class or function of (X, y) that returns a formulation, got {what_it_is(make)}"
        )
    samples, labels = check_samples(X), check_labels(y, of=X)
    if samples.shape[0] != labels.size:
        raise InputError(f"y must have one label per sample ({samples.shape[0]}), got {labels.size}")
    checked: dict[str, Any] = {}
    for name, given in (extras or {}).items():
        each = given if hasattr(given, "tocsr") else np.asarray(given)
        if each.shape[:1] != labels.shape:
            raise InputError(f"extras: {name} must have one row per sample ({labels.size}), got shape {each.shape}")
        checked[name] = each
    parts = folds_of(labels, folds, rng)
    trainer = _Sweeper(make, FoldSamples(samples, transformer), labels, grid, checked)
    with one_thread(labels.size):
        found = held_out(trainer, parts, n_jobs)
    parameters = found[0][1]
    return grid_errors([scores for scores, _ in found], [labels[test] for _, test in parts], parameters)


@dataclass(frozen=True)
class _Sweeper:
    """Sweeps a formulation of parts of the samples."""

    make: Callable[[Any, Array], Any]
    features: FoldSamples
    y: Array
    grid: Mapping[str, Any]
    extras: Mapping[str, Any]

    def __call__(self, train: Rows) -> Callable[[Rows], tuple[Array, dict[str, Array]]]:
        """Sweep the formulation of some samples; the function returned gives others' scores and the points."""
        part = self.features.part(train)
        extras = {name: each[train] for name, each in self.extras.items()}
        solved = sweep(self.make(part.X, self.y[train], **extras), **{"progress": False, **self.grid})
        return lambda rows: (solved.scores(part.of(rows)), solved.parameters)


@overload
def cross_validated_roc(
    svm: Weighted,
    start: Any,
    stop: Any,
    vary: Vary = "both",
    *,
    folds: int = 5,
    repeats: int = 5,
    inner: int = 5,
    t: float | None = None,
    n_grid: int = 200,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> NestedRoc: ...


@overload
def cross_validated_roc(
    svm: Weighted,
    start: Any,
    stop: Any,
    vary: Sequence[Vary],
    *,
    folds: int = 5,
    repeats: int = 5,
    inner: int = 5,
    t: float | None = None,
    n_grid: int = 200,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, NestedRoc]: ...


def cross_validated_roc(
    svm: Weighted,
    start: Any,
    stop: Any,
    vary: Vary | Sequence[Vary] = "both",
    *,
    folds: int = 5,
    repeats: int = 5,
    inner: int = 5,
    t: float | None = None,
    n_grid: int = 200,
    rng: Rng = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> NestedRoc | dict[str, NestedRoc]:
    """ROC curve along a line of costs, with t and threshold chosen on validation folds and judged on outer ones.

    `roc_of_path` with ``vary="both"`` chooses slopes and thresholds by the labels it then reports; so does every hull
    and `RocCurve.select`. Here no label judges what it helped to choose.

    Parameters
    ----------
    svm : TwoCSVM
        The whole problem, as for `cross_validated_errors`.
    start, stop : Costs, pair (C_plus, C_minus), or SampleCosts
        The line, as for `trace`.
    vary : {"both", "asymmetry", "intercept"}, or several of them
        Parameters that are chosen: t and the threshold; t alone; the threshold at t alone. Several go along the same
        paths.
    folds, repeats, inner : int
        Outer folds, how many partitions into such, and validation folds inside of each training part.
    t : float, optional
        For "intercept". Default: where the line is closest to asymmetry 1/2, as for `roc_of_path`.
    n_grid : int
        For "both": thresholds are tried at so many equally spaced t.
    rng, transformer, n_jobs
        As for `cross_validated_errors`; the transformer is fitted on each training part.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    NestedRoc, or dict from str to NestedRoc
        Its `select` has rates and costs judged on the outer folds, and the t and shift to use. One for each of several.

    Raises
    ------
    InputError, DegeneratePathError
        As for `cross_validated_errors`.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, sections 3.2 and 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 40)
    >>> svm = pc.TwoCSVM(rng.normal(size=(80, 2)) + y[:, None], y)
    >>> found = pc.cross_validated_roc(svm, (0.1, 1.9), (1.9, 0.1), repeats=3)
    >>> found
    NestedRoc(both: 3 repeats of 5 folds, 80 samples, mean AUC 0.9..., the repeats' between 0.9... and 0.9...)
    >>> point = found.select((5.0, 1.0))  # a miss costs five times a false alarm
    >>> point.chosen.cost < point.cost  # where it was chosen it looks better than it is
    True
    """
    several = [check_vary(each) for each in ((vary,) if isinstance(vary, str) else vary)]
    lines_of(svm, only=LineOfCosts)
    line = _line(start, stop)
    if t is None and line is not None:
        t = symmetric_t(SimpleNamespace(costs=line.at))
    trainer = AlongLine(Samples.of(svm, transformer), start, stop)
    choose = ByValidation(trainer, svm.y, several, inner, t, n_grid)
    with one_thread(svm.y.size):
        found = nested_rocs(svm.y, choose, folds=folds, repeats=repeats, rng=rng, n_jobs=n_jobs, progress=progress)
    return found[vary] if isinstance(vary, str) else found


def _line(start: Any, stop: Any) -> CostLine | None:
    """Line of the cost plane between both ends; None where each sample has costs of its own."""
    if isinstance(start, SampleCosts) or isinstance(stop, SampleCosts):
        return None
    return CostLine(Costs(*start), Costs(*stop))


@dataclass(frozen=True)
class TrainingPart:
    """Some samples of a problem: the problem to trace, and the scores of other samples along its paths."""

    problem: Weighted
    part: Part = field(repr=False)

    def trace(self, start: Any, stop: Any, hub: Path | None = None) -> Path:
        """Trace the path of the part along a line."""
        return trace_costs(self.problem, start, stop, hub=hub, progress=False)

    def scores(self, path: Path, rows: Rows) -> PathScores:
        """Scores of the samples at some positions along a path of this part."""
        return path.scores(self.part.of(rows))


@dataclass(frozen=True)
class Samples:
    """Data of a problem, without its computed values, to train on parts of it."""

    X: Any
    y: Array
    sample_weight: Array
    kernel: Any
    rank: int | None
    transformer: Any

    @classmethod
    def of(cls, svm: Weighted, transformer: Any) -> Samples:
        """Take the data from a 2C-SVM."""
        gram = svm.gram
        refuse_weights_of_0(svm.sample_weight, "where errors on samples that are held out are counted")
        rank = None if gram.pivots is None else gram.pivots.size
        made = cls(gram.X, svm.y, svm.sample_weight, gram.kernel, rank, transformer)
        made._features()  # refuses a transformer with a kernel matrix
        return made

    def part(self, train: Rows) -> TrainingPart:
        """The problem of the samples at some positions, with a transformer fitted to them."""
        part = self._features().part(train)
        rank = None if self.rank is None else min(self.rank, train.size)
        gram = Gram(part.X, self.kernel, rank, free_origin=True)
        return TrainingPart(LabelledSamples(gram, self.y[train], self.sample_weight[train]), part)

    def _features(self) -> FoldSamples:
        """Samples with their transformer; a kernel matrix has none."""
        return FoldSamples(self.X, self.transformer, isinstance(self.kernel, Precomputed))


@dataclass(frozen=True)
class AlongLine:
    """Traces a line of costs on parts of the samples."""

    samples: Samples
    start: Any
    stop: Any

    def __call__(self, train: Rows) -> Callable[[Rows], PathScores]:
        """Trace the line on some samples, and return a function that scores others along it."""
        part = self.samples.part(train)
        path = part.trace(_costs_of_part(self.start, train), _costs_of_part(self.stop, train))
        return lambda rows: part.scores(path, rows)


def _costs_of_part(costs: Any, train: Rows) -> Any:
    """Costs of the samples at some positions; costs of two classes are those of any samples."""
    return SampleCosts(costs.values[train]) if isinstance(costs, SampleCosts) else costs
