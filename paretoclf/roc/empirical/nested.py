r"""Nested evaluation: classifiers are chosen on validation folds inside the training part, and judged outside of it.

A point of a ROC curve is a promise: for these costs take this classifier, and you will have these rates. Whoever
chooses it by the labels it is then rated on keeps the luckiest of many; on labels that are pure noise the upper
envelope of many slopes and thresholds has an area far above 1/2. Here every sample is judged by classifiers that were
chosen without it (Bach, Heckerman & Horvitz 2006, section 4.3, have outer and inner folds for this reason).

A choice depends on the costs only through one number, the *weight* of a false negative in the expected cost,

.. math:: g=\frac{p_+C_+}{p_+C_++p_-C_-},\qquad \text{cost}\propto g\,(1-v)+(1-g)\,u ,

so a choice for all costs is the upper envelope of the validation rates: its vertex j is best for g between
:math:`\Delta u/(\Delta u+\Delta v)` of its two edges. From g = 0 to g = 1 the classifiers chosen in each outer fold
change at finitely many g. Their counts on the outer folds, added up, are the curve: exact, without a grid of costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, check_labels
from paretoclf.common.tables import Tabular
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.crossings import scores_at
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.folds import Trainer, each, held_out, outer_folds, validation_folds
from paretoclf.roc.of_path import Vary, upper_envelope
from paretoclf.roc.points import RocPlace, RocPoint
from paretoclf.roc.scores import PathScores

if TYPE_CHECKING:
    from paretoclf.plotting.nested import NestedRocDisplay


#: Chooses in a training part, given its positions and the seed of its validation folds. A choice, by its name, has an
#: ``envelope``, the upper hull of the rates that it was made by, and ``positive(rows)``: which samples (not of those
#: trained on) each vertex labels +1, shape (len(rows), vertices).
Chooser = Callable[[Index, int], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class OuterFold:
    """The choice made in one training part, and its counts of errors outside.

    Attributes
    ----------
    envelope : RocCurve
        The choice: the upper hull on the validation folds.
    false_positives, true_positives : int array of shape (vertices,)
        Counts of each vertex on the outer fold.
    n_plus, n_minus : int
        Samples of the outer fold.
    """

    envelope: RocCurve
    false_positives: Index = field(repr=False)
    true_positives: Index = field(repr=False)
    n_plus: int
    n_minus: int

    @property
    def curve(self) -> RocCurve:
        """Rates of the vertices on the outer fold, in the order of the envelope."""
        return _pooled([self], "")


@dataclass(frozen=True)
class NestedPoint(RocPlace):
    """A classifier chosen for given costs, with the rates of the same choice where it was not made.

    Attributes
    ----------
    fpr, tpr, cost : float
        On the outer folds, mean over the repeats; cost as in `RocCurve.select`.
    fpr_band, tpr_band, cost_band : (float, float)
        Smallest and largest of the repeats.
    chosen : RocPoint
        The classifier to use: chosen by validation folds of all samples. *Its* rates and cost are those of the labels
        that chose it.
    """

    fpr: float
    tpr: float
    cost: float
    fpr_band: tuple[float, float]
    tpr_band: tuple[float, float]
    cost_band: tuple[float, float]
    chosen: RocPoint

    def __repr__(self) -> str:
        where = "" if self.chosen.t is None else f"t {self.chosen.t:.6g}, "
        return (
            f"NestedPoint(fpr {self.fpr:.4f}, fnr {1.0 - self.tpr:.4f}, {where}threshold {self.chosen.threshold:.6g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class NestedRoc(Tabular):
    """A ROC curve whose classifiers were chosen without the labels that judge them.

    Attributes
    ----------
    repeats : tuple of tuples of OuterFold
        For each repeat (another partition into folds), its outer folds.
    final : choice
        The choice made with all samples in the same way: which classifier to use.
    name : str
        Name of the choice.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> data = pc.datasets.load("twonorm", n=120)
    >>> found = pc.cross_validated_roc(pc.TwoCSVM(data.X, data.y), (0.02, 1.98), (1.98, 0.02), repeats=2)
    >>> found
    NestedRoc(both: 2 repeats of 5 folds, 120 samples, mean AUC 0.9..., the repeats' between 0.9... and 0.9...)
    >>> point = found.select((5.0, 1.0))
    >>> point.cost_band[0] <= point.cost <= point.cost_band[1]
    True
    """

    repeats: tuple[tuple[OuterFold, ...], ...]
    final: Any
    name: str = ""

    def __repr__(self) -> str:
        first = self.repeats[0]
        samples = sum(fold.n_plus + fold.n_minus for fold in first)
        size = f"{len(self.repeats)} repeats of {len(first)} folds, {samples} samples"
        named = f"{self.name}: " if self.name else ""
        over = ""
        if len(self.repeats) > 1:  # no interval for new samples: all repeats have the same
            over = f", the repeats' between {self.areas.min():.4f} and {self.areas.max():.4f}"
        return f"NestedRoc({named}{size}, mean AUC {self.auc:.4f}{over})"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: the points of each repeat, and from which weight of a false negative on each is chosen."""
        for number, (folds, curve) in enumerate(zip(self.repeats, self.curves, strict=True)):
            begins = [0.0, *np.unique(_weights_of(folds)).tolist()]
            for weight, fpr, tpr in zip(begins, curve.fpr.tolist(), curve.tpr.tolist(), strict=True):
                yield {"repeat": number, "weight": weight, "fpr": fpr, "tpr": tpr}

    @cached_property
    def curves(self) -> tuple[RocCurve, ...]:
        """Curves of the repeats, in each of which every sample is judged once; points by weight, from 0 to 1."""
        return tuple(_pooled(folds, self.name) for folds in self.repeats)

    @cached_property
    def curve(self) -> RocCurve:
        """Mean curve over the repeats at equal weight; each sample counts once for each repeat."""
        return _pooled([fold for folds in self.repeats for fold in folds], self.name)

    @cached_property
    def areas(self) -> Array:
        """Area under the curve of each repeat, shape (repeats,), by trapezoids, as `RocCurve.auc`."""
        return np.array([curve.auc for curve in self.curves])

    @property
    def auc(self) -> float:
        """Mean of the areas."""
        return float(self.areas.mean())

    def tpr_at(self, fpr: Any) -> Array:
        """True positive rates of each repeat at some false positive rates, linear between the points.

        Judged where they were not chosen, the points of a curve need not be monotone: both rates are replaced by the
        largest so far, from the smallest weight of a false negative on.

        Parameters
        ----------
        fpr : array of shape (g,)
            In [0, 1].

        Returns
        -------
        array of shape (repeats, g)
        """
        rates = []
        for curve in self.curves:
            largest_fpr, largest_tpr = (np.maximum.accumulate(each) for each in (curve.fpr, curve.tpr))
            highest = np.flatnonzero(np.diff(largest_fpr, append=2.0) > 0)
            rates.append(np.interp(fpr, largest_fpr[highest], largest_tpr[highest]))
        return np.array(rates)

    def band(self, fpr: Any) -> tuple[Array, Array]:
        """Smallest and largest of `tpr_at` over the repeats: the range over partitions into folds.

        It is no confidence band: all repeats have the same samples (`EmpiricalTradeoff.band` draws samples anew).

        Parameters
        ----------
        fpr : array of shape (g,)
            In [0, 1].

        Returns
        -------
        lower, upper : array of shape (g,)
        """
        rates = self.tpr_at(fpr)
        return np.asarray(rates.min(axis=0)), np.asarray(rates.max(axis=0))

    def select(self, costs: Costs | tuple[float, float], prior_plus: float | None = None) -> NestedPoint:
        """Return the classifier for given costs, with its rates and cost where it was not chosen.

        Parameters
        ----------
        costs : Costs or (C_plus, C_minus)
            Costs of a false negative and of a false positive when the classifier is used; not both zero.
        prior_plus : float, optional
            Probability of a positive where the classifier is used. Default: the share of positives here.

        Raises
        ------
        InputError
            If a cost is negative, both are zero, or the prior is outside [0, 1].
        """
        at = as_costs(costs)
        curve = self.curves[0]
        prior = curve.n_plus / (curve.n_plus + curve.n_minus) if prior_plus is None else float(prior_plus)
        best = self.final.envelope.select(at, prior)  # refuses bad costs and priors
        miss, alarm = prior * at.C_plus, (1.0 - prior) * at.C_minus
        chosen = best[-1 if miss == 0 else 0]
        fpr, tpr = self.judged(lambda envelope: vertex_for(envelope, miss / (miss + alarm)))
        cost = miss * (1.0 - tpr) + alarm * fpr
        means = float(fpr.mean()), float(tpr.mean()), float(cost.mean())
        return NestedPoint(*means, _range(fpr), _range(tpr), _range(cost), chosen)

    def judged(self, rule: Callable[[RocCurve], int]) -> tuple[Array, Array]:
        """Rates, on the outer folds, of any rule that picks a vertex of a validation envelope.

        Parameters
        ----------
        rule : callable
            ``rule(envelope)`` returns the position of a vertex.

        Returns
        -------
        fpr, tpr : array of shape (repeats,)
        """
        rates = []
        for folds in self.repeats:
            picked = [rule(fold.envelope) for fold in folds]
            fp = sum(int(fold.false_positives[j]) for fold, j in zip(folds, picked, strict=True))
            tp = sum(int(fold.true_positives[j]) for fold, j in zip(folds, picked, strict=True))
            n_minus, n_plus = sum(fold.n_minus for fold in folds), sum(fold.n_plus for fold in folds)
            rates.append((fp / n_minus, tp / n_plus))
        fpr, tpr = np.transpose(rates)
        return fpr, tpr

    def plot(self, ax: Any = None, **options: Any) -> NestedRocDisplay:
        """Draw curve and band; see `paretoclf.plotting.NestedRocDisplay`."""
        from paretoclf.plotting.nested import NestedRocDisplay

        return NestedRocDisplay.from_nested(self).plot(ax, **options)


def nested_rocs(
    y: Any,
    choose: Chooser,
    *,
    folds: int = 5,
    repeats: int = 5,
    rng: int | np.random.Generator = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, NestedRoc]:
    """ROC curves of ways to choose classifiers, judged on outer folds that they have not seen.

    Parameters
    ----------
    y : array of shape (n,)
        Labels -1 and +1.
    choose : callable
        ``choose(train, seed)`` returns, by name, one choice or several that share their training: the envelope of
        validation rates inside the training part, and the labels that its vertices give to other samples.
        `ByValidation` is such a function.
    folds, repeats : int
        Outer folds, stratified and shuffled, and how many partitions into such.
    rng, n_jobs, progress
        As for `cross_validated_roc`.

    Raises
    ------
    InputError
        If a class has fewer samples than there are folds.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 4.3. Varma & Simon (2006), BMC Bioinformatics 7:91.

    Examples
    --------
    Whoever has one score for a sample has a choice, too: of the threshold.

    >>> import numpy as np
    >>> from paretoclf.roc.empirical import nested_rocs
    >>> from paretoclf.roc import roc_of_scores
    >>> score, y = np.arange(40.0), np.where(np.arange(40) % 20 < 5, -1, 1)
    >>> class Threshold:
    ...     def __init__(self, train):
    ...         self.envelope = roc_of_scores(score[train], y[train]).hull()
    ...     def positive(self, rows):
    ...         return score[rows, None] + self.envelope.shift >= 0
    >>> nested_rocs(y, lambda train, seed: {"threshold": Threshold(train)}, folds=5, repeats=2)
    {'threshold': NestedRoc(threshold: 2 repeats of 5 folds, 40 samples, mean AUC 0.6..., the repeats' between 0.6...)}
    """
    labels = check_labels(y)
    parts = outer_folds(labels, folds, repeats, rng)
    tasks = [(choose, labels, *part) for split in parts for part in split]
    found = each(judged, tasks, "outer folds", n_jobs=n_jobs, progress=progress)
    of_repeats = [found[first : first + folds] for first in range(0, len(found), folds)]
    seed = parts[0][0][2]
    rocs = {}
    for name, choice in choose(np.arange(labels.size), seed).items():
        chosen = tuple(tuple(fold[name] for fold in repeat) for repeat in of_repeats)
        rocs[name] = NestedRoc(chosen, choice, name)
    return rocs


def weights(envelope: RocCurve) -> Array:
    """Weights at which the best vertex of an upper hull changes to the next, shape (vertices - 1,), increasing."""
    more_fpr, more_tpr = np.diff(envelope.fpr), np.diff(envelope.tpr)
    return np.asarray(more_fpr / (more_fpr + more_tpr))


def vertex_for(envelope: RocCurve, weight: float) -> int:
    """Position of the vertex of an upper hull that is best for a weight; of two, the one of fewer false positives.

    Where misses are free, the one of more true positives: as many false ones make it no worse.
    """
    return int(np.searchsorted(weights(envelope), weight, side="right" if weight == 0 else "left"))


def judged(choose: Chooser, y: Array, train: Index, test: Index, seed: int) -> dict[str, OuterFold]:
    """Choose in a training part and count on the rest."""
    plus = y[test] > 0
    found = {}
    for name, choice in choose(train, seed).items():
        positive = choice.positive(test)
        fp = np.count_nonzero(positive[~plus], axis=0)
        tp = np.count_nonzero(positive[plus], axis=0)
        n_plus = int(plus.sum())
        found[name] = OuterFold(choice.envelope, fp, tp, n_plus, plus.size - n_plus)
    return found


def _range(values: Array) -> tuple[float, float]:
    """Smallest and largest of some values."""
    return float(values.min()), float(values.max())


def _weights_of(folds: Sequence[OuterFold]) -> Array:
    """Weights at which the choice of some fold changes, fold by fold."""
    return np.concatenate([weights(fold.envelope) for fold in folds])


def _pooled(folds: Sequence[OuterFold], name: str) -> RocCurve:
    """Counts of all folds added at equal weight: from g = 0 on, one point after each change of a choice."""
    at = _weights_of(folds)
    order = np.argsort(at, kind="stable")
    last = np.flatnonzero(np.diff(at[order], append=2.0) > 0)  # changes at one weight are one
    sums = []
    for counts in ([fold.false_positives for fold in folds], [fold.true_positives for fold in folds]):
        first = sum(int(each[0]) for each in counts)
        steps = np.concatenate([np.diff(each) for each in counts])
        since_first = np.cumsum(steps[order])[last]
        sums.append(first + np.concatenate([[0], since_first]))
    fp, tp = sums
    n_plus, n_minus = sum(fold.n_plus for fold in folds), sum(fold.n_minus for fold in folds)
    return RocCurve(fp / n_minus, tp / n_plus, n_plus, n_minus, name)


@dataclass(frozen=True)
class ByValidation:
    """Choose t and threshold of a family of classifiers by validation folds of the training part.

    The scores of the validation folds are pooled at equal t; the upper hull over all t and thresholds is the choice.
    The family is then trained on the whole training part, and each vertex keeps its t and its threshold.

    Parameters
    ----------
    trained : callable
        ``trained(train)`` returns a function that maps positions of other samples to their `PathScores` along the
        family trained on the samples at the positions `train`.
    y : array of shape (n,)
        Labels -1 and +1.
    vary : sequence of {"both", "asymmetry", "intercept"}
        Parameters that may be chosen: t and threshold; t, with the path's own intercept; the threshold, at a fixed t.
    folds : int
        Validation folds; fewer where a training part has fewer samples of a class.
    t : float, optional
        The fixed t.
    n_grid : int
        For "both": thresholds are tried at so many equally spaced t.
    """

    trained: Trainer[PathScores]
    y: Array
    vary: Sequence[Vary] = ("both",)
    folds: int = 5
    t: float | None = None
    n_grid: int = 200

    def __call__(self, train: Index, seed: int) -> dict[str, ChosenByValidation]:
        """Choose in the training part at the positions `train`; a choice for each of `vary`, by its name."""
        parts = validation_folds(self.y, train, self.folds, seed)
        scores, labels = held_out(self.trained, parts), [self.y[held] for _, held in parts]
        trained: Callable[[Index], PathScores] = _Once(self.trained(train))
        found: dict[str, ChosenByValidation] = {}
        for vary in self.vary:
            envelope = upper_envelope(scores, labels, vary, self.t, self.n_grid)
            found[vary] = ChosenByValidation(envelope, trained)
        return found


class _Once:
    """Remembers the scores asked for last: several choices ask for the same."""

    def __init__(self, scores: Callable[[Index], PathScores]) -> None:
        self.scores = scores
        self.last: tuple[Index, PathScores] | None = None

    def __call__(self, rows: Index) -> PathScores:
        if self.last is None or not np.array_equal(self.last[0], rows):
            self.last = rows, self.scores(rows)
        return self.last[1]


@dataclass(frozen=True, eq=False)
class ChosenByValidation:
    """A choice of `ByValidation`: the envelope, and the scores of other samples along the family."""

    envelope: RocCurve
    scores: Callable[[Index], PathScores] = field(repr=False)

    def positive(self, rows: Index) -> Mask:
        """Labels (True: +1) that each vertex gives to some samples, shape (len(rows), vertices)."""
        assert self.envelope.t is not None
        scores = scores_at(self.scores(rows), self.envelope.t, self.envelope.swept)
        return np.asarray(scores + self.envelope.shift >= 0)


@dataclass(frozen=True)
class AlongPath:
    """Choose t and threshold along one path by the labels of some samples, for others, without training.

    Parameters
    ----------
    scores : PathScores
        Scores of all n samples, none of which the path was trained on.
    y : array of shape (n,)
        Labels -1 and +1.
    vary, t, n_grid
        As for `ByValidation`.
    """

    scores: PathScores
    y: Array
    vary: Sequence[Vary] = ("both",)
    t: float | None = None
    n_grid: int = 200

    def __call__(self, train: Index, seed: int) -> dict[str, ChosenByValidation]:
        """Choose by the labels of the samples at the positions `train`; a choice for each of `vary`, by its name."""
        scores, labels = [self._of(train)], [self.y[train]]
        found: dict[str, ChosenByValidation] = {}
        for vary in self.vary:
            envelope = upper_envelope(scores, labels, vary, self.t, self.n_grid)
            found[vary] = ChosenByValidation(envelope, self._of)
        return found

    def _of(self, rows: Index) -> PathScores:
        """Scores of some samples."""
        return replace(self.scores, start=self.scores.start[rows], end=self.scores.end[rows])
