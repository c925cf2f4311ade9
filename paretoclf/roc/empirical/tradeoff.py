r"""Empirical trade-off analysis with finite samples.

Kim et al. (2006), section 7.1: split the samples at random into a training and a test part; trace a family of
classifiers on the training part; count its true negatives and true positives on the test part; repeat, and fit a
non-increasing curve to all the points by least squares. Here any family will do that has scores along a path: the
Gaussian trade-off curve, linear or through a kernel, or the exact cost path of a support vector machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from paretoclf.common.checks import (
    Array,
    Index,
    Rng,
    check_inside,
    check_labels,
    check_rng,
    check_seed,
    check_share,
    keep,
)
from paretoclf.common.errors import InputError, SmallSampleWarning
from paretoclf.problem.samples import check_samples
from paretoclf.roc.empirical.bands import Band, bootstrap
from paretoclf.roc.empirical.held_out import HeldOut, held_out
from paretoclf.roc.empirical.monotone import MonotoneFit, fitted
from paretoclf.roc.empirical.nested import ByValidation, judged
from paretoclf.roc.folds import FoldSamples, each
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores

if TYPE_CHECKING:
    from paretoclf.plotting.empirical import EmpiricalDisplay


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalTradeoff:
    """Held-out rates of a family over repeated splits, and the monotone curve fitted to them.

    Attributes
    ----------
    parts : tuple of HeldOut
        One for each split.
    y : array of shape (n,)
        Labels of the samples.
    areas : array of shape (splits,)
        Area under the family's own points in each split, by trapezoids.
    hull_areas : array of shape (splits,) or None
        With ``both=True``: area under the upper envelope of all thresholds of all slopes in each split, chosen on the
        labels that judge it: optimistic.
    nested_areas : array of shape (splits,) or None
        With ``nested=True``: the same choice of slopes and thresholds, made on validation folds inside each training
        part and judged on the rest.
    name : str
        For the legend.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> data = pc.datasets.load("twonorm", n=120)
    >>> line = ((0.02, 1.98), (1.98, 0.02))
    >>> found = pc.empirical_tradeoff(data.X, data.y, lambda X, y: pc.trace(pc.TwoCSVM(X, y), *line), splits=4)
    >>> found
    EmpiricalTradeoff(4 splits of 120 samples, 36 held out; area 0.9...)
    >>> found.tpr_at(0.9) >= found.tpr_at(0.95)
    True
    """

    parts: tuple[HeldOut, ...]
    y: Array
    areas: Array
    hull_areas: Array | None = None
    name: str = ""
    nested_areas: Array | None = None

    def __post_init__(self) -> None:
        keep(self, "y", "areas", "hull_areas")

    def __repr__(self) -> str:
        m = self.parts[0].test.size
        return (
            f"EmpiricalTradeoff({len(self.parts)} splits of {self.y.size} samples, {m} held out; area {self.area:.4f})"
        )

    @cached_property
    def points(self) -> tuple[Array, Array]:
        """True negative and true positive rates of all states of all splits."""
        tnr, tpr = zip(*(part.rates() for part in self.parts), strict=True)
        return np.concatenate(tnr), np.concatenate(tpr)

    @cached_property
    def fit(self) -> MonotoneFit:
        """Non-increasing least-squares fit to all points."""
        tnr, tpr = self.points
        return fitted(tnr, tpr, np.ones(tnr.size))

    @property
    def area(self) -> float:
        """Area under the fitted curve."""
        return self.fit.area

    def tpr_at(self, tnr: float) -> float:
        """True positive rate of the fitted curve at a true negative rate."""
        return float(self.fit(check_inside(tnr, "tnr")))

    def band(self, level: float = 0.9, *, draws: int = 1000, simultaneous: bool = False, rng: Rng = 0) -> Band:
        """Bootstrap confidence band around the fitted curve, and an interval for its area.

        The samples are drawn again, each class with replacement; the classifiers are not trained again (see
        `paretoclf.roc.empirical.bands`).

        Parameters
        ----------
        level : float in (0, 1)
            Coverage at which the band aims.
        draws : int
            Bootstrap draws.
        simultaneous : bool
            False: at each true negative rate by itself. True: for the whole curve; that band is wider.
        rng : int or numpy.random.Generator
            Seed.

        Raises
        ------
        InputError
            If level is outside (0, 1) or draws is below 2.
        """
        if draws < 2:
            raise InputError(f"draws must be at least 2, got {draws!r}")
        grid = np.linspace(0.0, 1.0, 101)
        found = bootstrap(self.parts, self.y, int(draws), check_rng(rng), grid)
        return found.band(level, simultaneous)

    def plot(self, **options: Any) -> EmpiricalDisplay:
        """Draw points, curve and band; the options are those of `EmpiricalDisplay.plot`."""
        from paretoclf.plotting.empirical import EmpiricalDisplay

        return EmpiricalDisplay.from_tradeoffs(self).plot(**options)


def empirical_tradeoff(
    X: Any,
    y: Any,
    fit: Callable[[Any, Array], Any],
    *,
    splits: int = 100,
    train_share: float = 0.7,
    rng: Rng = 0,
    transformer: Any = None,
    both: bool = False,
    nested: bool = False,
    name: str = "",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> EmpiricalTradeoff:
    """Held-out rates of a family of classifiers over repeated stratified splits.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples (not a precomputed kernel matrix: parts are taken by rows).
    y : array of shape (n,)
        Labels -1 and +1.
    fit : callable
        ``fit(X_train, y_train)`` returns the family: an object with a method ``scores(X)``, such as
        ``pc.gaussian_tradeoff(...).curve()`` or ``pc.trace(pc.TwoCSVM(...), ...)``. Scores of k classifiers, shape
        (k, m), are taken to be affine between neighbours.
    splits : int
        Number of splits.
    train_share : float in (0, 1)
        Share of each class that is trained on.
    rng, transformer, n_jobs, progress
        As for `cross_validated_roc`. Equal seeds give equal splits, whatever the family.
    both : bool
        Whether to compute `hull_areas` as well: the area under the upper envelope of all thresholds of all slopes
        (``roc_of_scores(..., vary="both")``). It is chosen on held-out labels, so it flatters, and the more the more
        slopes there are.
    nested : bool
        Whether to compute `nested_areas`, which do not flatter: slope and threshold for each ratio of costs are chosen
        on 5 validation folds of the training part. That trains 5 times more.
    name : str
        For the legend.

    Raises
    ------
    InputError
        If an argument is not as above, or a class is too small to be in both parts.

    References
    ----------
    Kim et al. (2006), section 7.1.
    """
    samples = check_samples(X)
    labels = check_labels(y, samples.shape[0], of=X)
    seed = check_seed(rng)
    pairs = _splits(labels, splits, train_share, seed)
    choose = ByValidation(_Trainer(FoldSamples(samples, transformer), labels, fit), labels)
    tasks = [(choose, *pair, both, seed if nested else None) for pair in pairs]
    found = each(_one, tasks, "splits", n_jobs=n_jobs, progress=progress)
    parts, hulls, chosen = zip(*found, strict=True)
    areas = np.array([part.auc for part in parts])
    extra = np.array(hulls) if both else None, name, np.array(chosen) if nested else None
    return EmpiricalTradeoff(tuple(parts), labels, areas, *extra)


def _splits(y: Array, splits: int, train_share: float, seed: int) -> list[tuple[Index, Index]]:
    """Positions of the training and of the held-out samples of each split; InputError if a part has only one class."""
    if int(splits) != splits or splits < 1:
        raise InputError(f"splits must be a whole number >= 1, got {splits!r}")
    share = check_share(train_share, "train_share")
    drawn = StratifiedShuffleSplit(n_splits=int(splits), train_size=share, random_state=seed)
    try:
        pairs = list(drawn.split(np.zeros((y.size, 1)), y))
    except ValueError as error:
        raise InputError(f"y cannot be split with train_share = {train_share:g}: {error}") from None
    for train, test in pairs:
        for part, rows in (("training", train), ("held-out", test)):
            if np.unique(y[rows]).size < 2:
                raise InputError(f"train_share = {train_share:g} leaves a {part} part of {rows.size} samples one class")
    return pairs


@dataclass(frozen=True)
class _Trainer:
    """Trains a family on parts of the samples."""

    features: FoldSamples
    y: Array
    fit: Callable[..., Any]

    def __call__(self, train: Index) -> Callable[[Index], PathScores]:
        """Train on the samples at some positions, and return a function that scores others."""
        part = self.features.part(train)
        with warnings.catch_warnings():
            # The warning says that promised rates cannot be trusted. Here they are counted.
            warnings.simplefilter("ignore", SmallSampleWarning)
            family = self.fit(part.X, self.y[train])
        if not callable(getattr(family, "scores", None)):
            raise InputError(
                "fit must return an object with a method scores(X), such as gaussian_tradeoff(...).curve() or a path, "
                f"got {type(family).__name__}"
            )

        def scores(rows: Index) -> PathScores:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SmallSampleWarning)
                return as_path(family.scores(part.of(rows)))

        return scores


def _one(
    choose: ByValidation, train: Index, test: Index, both: bool, seed: int | None
) -> tuple[HeldOut, float | None, float | None]:
    """Train on one part of a split, score the rest, count; areas of the hull and of the nested choice if asked for."""
    y = choose.y
    scores = choose.trained(train)(test)
    hull = roc_of_scores(scores, y[test], "both").auc if both else None
    nested = None if seed is None else judged(choose, y, train, test, seed)["both"].curve.auc
    return held_out(scores, y[test], test.astype(np.int64)), hull, nested


def as_path(scores: PathScores | Array) -> PathScores:
    """Scores of k classifiers, shape (k, m), as a path through them."""
    if isinstance(scores, PathScores):
        return scores
    if scores.ndim != 2 or len(scores) < 2:
        raise InputError(f"scores of a family must have shape (k, m), k at least 2, got {scores.shape}")
    return PathScores(np.linspace(0.0, 1.0, len(scores)), scores[:-1].T, scores[1:].T)
