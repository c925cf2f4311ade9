"""A mean score of folds along t, by any scorer of scikit-learn: a step function, if it is a scorer of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from paretoclf.common.checks import Array, Index, Mask, check_inside, keep
from paretoclf.common.errors import InputError
from paretoclf.roc.crossings import distinct_changes
from paretoclf.roc.error_curve import labels_of_scores
from paretoclf.roc.scores import PathScores

#: At how many t a scorer is asked that wants scores.
SCORED_AT = 201


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCurve:
    """A mean score of folds along t: an exact step function if it is one of labels, else its values at some t.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Every t at which a label changes in some fold, and the two ends; or where a scorer of scores was asked.
        Increasing.
    at : array of shape (k + 1,)
        Scores at ``t[j]`` itself.
    after : array of shape (k,) or None
        Scores on the open stretches ``(t[j], t[j + 1])``; None where nothing is known of them.

    Examples
    --------
    >>> from paretoclf.roc.score_curve import ScoreCurve
    >>> curve = ScoreCurve([0.0, 0.25, 1.0], [0.5, 0.5, 0.8], [0.5, 0.8])
    >>> curve(0.25), curve(0.5), curve.best()
    (0.5, 0.8, (0.625, 0.8))
    >>> ScoreCurve([0.0, 0.25, 1.0], [0.5, 0.9, 0.8]).best()
    (0.25, 0.9)
    """

    t: Array
    at: Array
    after: Array | None = None

    def __post_init__(self) -> None:
        keep(self, "t", "at", "after")

    def __repr__(self) -> str:
        t, score = self.best()
        what = f"asked at {self.t.size} points" if self.after is None else f"{self.t.size - 2} changes"
        return f"ScoreCurve({what}, best {score:.4f} at t = {t:.6g})"

    def __call__(self, t: float) -> float:
        """Score at t."""
        check_inside(t, "t", self.t[0], self.t[-1])
        j = int(np.searchsorted(self.t, t))
        if self.t[j] == t:
            return float(self.at[j])
        if self.after is None:
            raise InputError(f"t must be one of the {self.t.size} at which the scorer was asked, got {t!r}")
        return float(self.after[j - 1])

    def best(self) -> tuple[float, float]:
        """The t in the middle of the longest interval with the largest score, and that score."""
        if self.after is None:
            first, last = _runs(self.at == self.at.max())
            longest = int(np.argmax(self.t[last] - self.t[first]))
            middle = (first[longest] + last[longest]) // 2
            return float(self.t[middle]), float(self.at.max())
        cells = np.empty(2 * self.t.size - 1)
        cells[::2], cells[1::2] = self.at, self.after
        first, last = _runs(cells == cells.max())
        start, stop = self.t[first // 2], self.t[(last + 1) // 2]
        longest = int(np.argmax(stop - start))
        return float(0.5 * (start[longest] + stop[longest])), float(cells.max())


def _runs(mask: Mask) -> tuple[Index, Index]:
    """First and last position of each run of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return edges[::2], edges[1::2] - 1


class _Labels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A classifier with given labels, which scorers ask for."""

    def __init__(self, classes: Any = None, labels: Any = None) -> None:
        self.classes_ = classes
        self.labels = labels

    def fit(self, X: Any, y: Any) -> Self:
        """Return the classifier as it is."""
        return self

    def predict(self, X: Any) -> Any:
        """The labels that were given."""
        return self.labels


class _Scores(_Labels):
    """A classifier with given labels and given scores, positive for the second class."""

    def __init__(self, classes: Any = None, labels: Any = None, scores: Any = None) -> None:
        super().__init__(classes, labels)
        self.scores = scores

    def decision_function(self, X: Any) -> Array:
        """The scores that were given."""
        return np.asarray(self.scores)


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn, asked about the test part of a fold.

    Parameters
    ----------
    scoring : str or callable
        Its name, or ``scorer(estimator, X, y)``.
    classes : array of shape (2,)
        The labels it is told, sorted.
    sign : {1, -1}
        Whether the second of them is the positive one, or the first.
    X : array or sparse matrix of shape (m, d)
        Samples of the test part.
    positive : bool array of shape (m,)
        Which of them are positive.
    """

    scoring: Any
    classes: Any
    sign: float
    X: Any
    positive: Mask

    def of_labels(self, positive: Mask) -> float:
        """Score of predicted labels (True: positive)."""
        return self._score(_Labels(self.classes, self._labels(positive)))

    def of_scores(self, f: Array) -> float:
        """Score of scores f, above 0 for positives."""
        labels = self._labels(f >= 0)
        return self._score(_Scores(self.classes, labels, self.sign * f))

    def _labels(self, positive: Mask) -> Any:
        """Labels as the scorer knows them."""
        return self.classes[:: int(self.sign)][positive.astype(int)]

    def _score(self, classifier: _Labels) -> float:
        """Number that the scorer gives to a classifier; it must be finite."""
        scorer = check_scoring(classifier, self.scoring)
        score = float(scorer(classifier, self.X, self._labels(self.positive)))
        if not np.isfinite(score):
            raise InputError(
                f"scoring must give a finite number on each fold, got {score} from {self.scoring!r} on "
                f"{self.positive.size} samples, {np.sum(self.positive)} of them positive"
            )
        return score


def score_curve(asked: Sequence[Scorer], folds: Sequence[PathScores]) -> ScoreCurve:
    """Mean score of folds along t: of labels at every t, or else of scores at some t.

    Parameters
    ----------
    asked : sequence of Scorer
        One for each fold.
    folds : sequence of PathScores
        Scores of the test parts along their paths.

    Raises
    ------
    InputError
        If the scorer wants neither labels nor scores, or gives a number that is not finite.
    """
    try:
        return _of_labels(asked, folds)
    except AttributeError:  # it wants more than labels
        pass
    try:
        return _of_scores(asked, folds)
    except AttributeError as error:
        raise InputError(
            f"scoring must be a scorer of labels or of scores, which calls predict or decision_function, got "
            f"{asked[0].scoring!r} ({error}); for probabilities see CalibratedClassifierCV"
        ) from None


def _of_labels(asked: Sequence[Scorer], folds: Sequence[PathScores]) -> ScoreCurve:
    """Mean score at every t; each vector of labels of a fold is scored once."""
    curves = []
    for ask, scores in zip(asked, folds, strict=True):
        t, at, after = labels_of_scores(scores)
        every, place = np.unique(np.concatenate([at, after]), axis=0, return_inverse=True)
        known = np.array([ask.of_labels(positive) for positive in every])[place.ravel()]
        curves.append(ScoreCurve(t, known[: t.size], known[t.size :]))
    t, place = distinct_changes(np.concatenate([curve.t for curve in curves]))
    ends = np.cumsum([curve.t.size for curve in curves])[:-1]
    curves = [replace(curve, t=t[own]) for curve, own in zip(curves, np.split(place, ends), strict=True)]
    middle = 0.5 * (t[:-1] + t[1:])
    return ScoreCurve(t, _mean(curves, t), _mean(curves, middle))


def _mean(curves: Sequence[ScoreCurve], t: Array) -> Array:
    """Mean of several curves at some t."""
    return np.asarray(np.mean([[curve(float(each)) for each in t] for curve in curves], axis=0))


def _of_scores(asked: Sequence[Scorer], folds: Sequence[PathScores]) -> ScoreCurve:
    """Mean score at some t: as many between any two breakpoints, or as few."""
    knots = np.unique(np.concatenate([scores.t for scores in folds]))
    evenly = np.linspace(0, knots.size - 1, SCORED_AT)
    t = np.interp(evenly, np.arange(knots.size), knots)
    each = []
    for scorer, scores in zip(asked, folds, strict=True):
        each.append([scorer.of_scores(values) for values in scores(t).T])
    return ScoreCurve(t, np.mean(each, axis=0))
