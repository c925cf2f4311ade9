"""Grid curves: held-out errors of the classifiers of a sweep, at its points. Nothing is known between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, check_labels, keep, real_array, refuse_other_order
from paretoclf.common.errors import InputError
from paretoclf.roc.counts import CountedErrors, Objective, smallest
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.labelled_scores import signs_of


@dataclass(frozen=True)
class GridOptimum:
    """A point of a grid at which the errors are best.

    Attributes
    ----------
    index : int
        Its position in the sweep.
    values : mapping of str to float
        Its parameters.
    false_positives, false_negatives : int
        Counts.
    fpr, fnr : float
        Rates.
    objective : float
        Objective that was minimised, on the labels that chose it: optimistic.
    """

    index: int
    values: Mapping[str, float]
    false_positives: int
    false_negatives: int
    fpr: float
    fnr: float
    objective: float


@dataclass(frozen=True, eq=False, repr=False)
class GridErrorCurve(CountedErrors[GridOptimum]):
    """False positives and false negatives at the points of a sweep, for want of an exact path: a grid curve.

    Between the points, and beyond them, nothing is known. `ErrorCurve` is the exact curve of a path.

    Attributes
    ----------
    parameters : mapping of str to array of shape (k,)
        Values of each parameter at the points, in the order of the sweep.
    false_positives, false_negatives : int array of shape (k,)
        Counts.
    n_plus, n_minus : int
        Samples of each class.

    Raises
    ------
    InputError
        If there is no point.

    Examples
    --------
    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> curve = pc.sweep(svm, C_plus=[0.4, 1.0, 1.6], C_minus=[1.6, 1.0, 0.4]).error_curve([[0.5], [2.5]], [-1, 1])
    >>> curve.fpr, curve.fnr
    (array([0., 0., 1.]), array([1., 0., 0.]))
    >>> [best.values for best in curve.minimax()]
    [{'C_plus': 1.0, 'C_minus': 1.0}]
    """

    parameters: Mapping[str, Array] = field(repr=False)
    false_positives: Index
    false_negatives: Index
    n_plus: int
    n_minus: int

    def __post_init__(self) -> None:
        keep(self, "false_positives", "false_negatives")
        own = {name: np.array(values, dtype=np.float64) for name, values in self.parameters.items()}
        object.__setattr__(self, "parameters", own)
        if self.false_positives.size == 0:
            raise InputError("a grid curve must have at least one point, got an empty sweep")

    def __len__(self) -> int:
        return int(self.false_positives.size)

    def _places(self) -> Iterator[Mapping[str, float]]:
        """Values of the parameters at each point, by their names."""
        columns = (values.tolist() for values in self.parameters.values())
        return (dict(zip(self.parameters, each, strict=True)) for each in zip(*columns, strict=True))

    def __repr__(self) -> str:
        best = self.minimax()[0]
        at = ", ".join(f"{name} = {value:.6g}" for name, value in best.values.items())
        return (
            f"GridErrorCurve({len(self)} points, {self.n_plus} positives, {self.n_minus} negatives, "
            f"minimax {best.objective:.4f} at {at})"
        )

    def roc(self) -> RocCurve:
        """ROC curve through the points in the order of the sweep, with (0, 0) and (1, 1); from the lower end.

        Its ``t`` is the position in the sweep. Only the points are classifiers, and mixtures of them (`RocCurve.hull`).
        """
        order = np.arange(len(self))
        true_positives = self.n_plus - self.false_negatives
        height = self.false_positives * self.n_plus + true_positives * self.n_minus
        if height[0] > height[-1]:
            order = order[::-1]
        fpr, tpr = self.fpr[order], true_positives[order] / self.n_plus
        shift, t = np.zeros(len(self)), order.astype(np.float64)
        if fpr[0] + tpr[0] > 0:
            fpr, tpr = (np.append(0.0, rates) for rates in (fpr, tpr))
            shift, t = np.append(-np.inf, shift), np.append(t[0], t)
        if fpr[-1] + tpr[-1] < 2:
            fpr, tpr = (np.append(rates, 1.0) for rates in (fpr, tpr))
            shift, t = np.append(shift, np.inf), np.append(t, t[-1])
        return RocCurve(fpr, tpr, self.n_plus, self.n_minus, "parameters on a grid", shift=shift, t=t)

    def plot(self, ax: Any = None, *, parameter: str | None = None, xscale: str | None = None) -> Any:
        """Draw both rates over a parameter; see `paretoclf.plotting.GridErrorsDisplay`."""
        from paretoclf.plotting.errors import GridErrorsDisplay  # matplotlib only when a picture is wanted

        return GridErrorsDisplay.from_curve(self, parameter).plot(ax=ax, xscale=xscale)

    def _optima(self, objective: Objective) -> tuple[GridOptimum, ...]:
        """Points that minimise an objective of (fp, fn) and are not dominated by others that do."""
        chosen, least = smallest(self.false_positives, self.false_negatives, objective)
        best = np.flatnonzero(chosen).tolist()
        return tuple(self._optimum(j, float(least)) for j in best)

    def _optimum(self, j: int, objective: float) -> GridOptimum:
        """Point j with its parameters, counts and rates."""
        values = {name: float(column[j]) for name, column in self.parameters.items()}
        counts = int(self.false_positives[j]), int(self.false_negatives[j])
        rates = float(self.fpr[j]), float(self.fnr[j])
        return GridOptimum(j, values, *counts, *rates, objective)


def errors_of_sweep(sweep: Any, X: Any, y: Any, pos_label: Any = None) -> GridErrorCurve:
    """Count the errors of a sweep on samples; `Sweep.error_curve` has the arguments."""
    refuse_other_order(X, y)
    return grid_errors([sweep.scores(X)], [signs_of(y, pos_label)], sweep.parameters)


def grid_errors(scores: Sequence[Any], y: Sequence[Any], parameters: Mapping[str, Array]) -> GridErrorCurve:
    """Count errors at the points of a sweep, or of the sweeps of several folds over one grid, added.

    Each fold gives scores (k, m) and labels (m,); both classes must occur, not in each fold. InputError if they do not
    fit.
    """
    folds = [real_array(each, "scores") for each in scores]
    size = sum(each.shape[1] for each in folds)
    labels = check_labels(np.concatenate([np.ravel(each) for each in y]), size)
    positive = np.concatenate([each >= 0 for each in folds], axis=1)
    false_positives = np.count_nonzero(positive & (labels < 0), axis=1)
    false_negatives = np.count_nonzero(~positive & (labels > 0), axis=1)
    n_plus = int(np.count_nonzero(labels > 0))
    return GridErrorCurve(parameters, false_positives, false_negatives, n_plus, labels.size - n_plus)
