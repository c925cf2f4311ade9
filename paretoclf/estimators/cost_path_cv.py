"""CostPathSVCCV: the best classifier of a whole line of costs, by exact cross-validated step functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, Index, Mask, check_inside, keep
from paretoclf.common.errors import InputError
from paretoclf.estimators.base import Problem, class_factors
from paretoclf.estimators.cost_path import CostPathSVC
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.error_curve import ErrorCurve, labels_of_scores
from paretoclf.roc.error_surface import ErrorSurface
from paretoclf.roc.folds import Rows
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.cross_validation import cross_validated_surface
from paretoclf.tuning.guarantee import ShiftedRule
from paretoclf.tuning.selection import Taken, check_selection, choose

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
        On the open stretches ``(t[j], t[j + 1])``; None where nothing is known of them.

    Examples
    --------
    >>> from paretoclf.estimators.cost_path_cv import ScoreCurve
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
            j = int(np.argmax(self.t[last] - self.t[first]))
            return float(self.t[(first[j] + last[j]) // 2]), float(self.at.max())
        cells = np.empty(2 * self.t.size - 1)
        cells[::2], cells[1::2] = self.at, self.after
        first, last = _runs(cells == cells.max())
        start, stop = self.t[first // 2], self.t[(last + 1) // 2]
        j = int(np.argmax(stop - start))
        return float(0.5 * (start[j] + stop[j])), float(cells.max())


def _runs(mask: Mask) -> tuple[Index, Index]:
    """First and last position of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return edges[::2], edges[1::2] - 1


def _pair(costs: Any) -> Costs:
    return as_costs((1.0, 1.0) if costs is None else costs)


class CostPathSVCCV(CostPathSVC):
    """`CostPathSVC` with the best classifier of its line, chosen by cross-validation, as ``LassoCV`` chooses a penalty.

    Held-out labels change at finitely many t, all of which are known: no grid is searched, and no better t is missed.
    The costs at which a support vector machine is trained best are in general not those at which it is used.

    Parameters
    ----------
    C, start, stop, kernel, gamma, bandwidth
        As for `CostPathSVC`. The bandwidth of ``gamma="scale"`` is that of all samples. With ``start=(0, 0)`` and
        ``stop=(1, 1)`` the total is chosen instead of the asymmetry.
    costs : pair (C_plus, C_minus), optional
        Costs of a miss and of a false alarm where the classifier is used: the t with the smallest held-out cost is
        taken. Default: (1, 1), the fewest errors.
    scoring : str or callable, optional
        In place of costs: a scorer, by its name in scikit-learn or ``scorer(estimator, X, y)``, whose mean over the
        folds is maximised. One of labels (``"balanced_accuracy"``, ``"f1"``) is exact over the whole line. One of
        scores (``"roc_auc"``, ``"average_precision"``) changes between the places where labels do, too: it is asked at
        201 t, spread evenly over the breakpoints of all folds, and the best of these is taken. One of probabilities is
        refused: there are none.
    selection : {"one-se", "longest", "first", "threshold"} or float, optional
        Which t is taken of those that are good by held-out cost: of those within one standard error of the smallest the
        one nearest to the costs of use (the default); the middle of the longest interval that is best, or of the first;
        a t and a threshold together; or, a number, the middle of the best window of this width. What each of them costs
        is measured in docs/reference/selection.md, where the default won. For costs, not for scoring.
    cv : int, splitter or iterable of (train, test), optional
        As everywhere in scikit-learn; by default 5 stratified folds.
    class_weight : dict or "balanced", optional
        Factors of the costs of the classes, of those of training and of those that are minimised.
    n_jobs : int, optional
        Processes at work on the folds. The result does not depend on it.
    pos_label : label, optional
        As for `CostPathSVC`.

    Attributes
    ----------
    best_t_ : float
        Where on the line.
    best_costs_ : Costs
        The costs there, at which the classifier was trained.
    best_score_ : float
        Mean score there, or minus the mean cost of a sample; on the labels that chose it, so it is optimistic.
    shift_ : float
        Added to the scores; 0 but for ``selection="threshold"``.
    errors_ : ErrorCurve
        Held-out errors over the whole line, all folds together.
    scores_ : ScoreCurve or None
        The mean score along the line, if scoring was given.
    path_, solution_, t_, costs_, classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        Of the path of all samples, as for `CostPathSVC`.

    Raises
    ------
    InputError
        If an argument is not what it must be, or a fold lacks a class in its training part.
    DegeneratePathError
        If a path cannot be followed, or fails its proof.

    Notes
    -----
    `set_costs`, and ``costs=`` of `predict` and `decision_function`, take the t that is best for other costs by the
    same held-out errors. Errors are counted: ``sample_weight`` is of training, but samples of weight 0 are left out.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.CostPathSVCCV(costs=(5, 1), pos_label="ill").fit(X, y)
    >>> round(svm.best_costs_.asymmetry, 3), round(svm.best_score_, 3)
    (0.833, -0.217)
    >>> least = pc.CostPathSVCCV(costs=(5, 1), selection="longest", pos_label="ill").fit(X, y)
    >>> round(least.best_costs_.asymmetry, 3), round(least.best_score_, 3)
    (0.737, -0.167)
    >>> pc.CostPathSVCCV(scoring="balanced_accuracy", pos_label="ill").fit(X, y).scores_
    ScoreCurve(60 changes, best 0.9333 at t = 0.458568)
    """

    best_t_: float
    best_costs_: Costs
    best_score_: float
    shift_: float
    errors_: ErrorCurve
    scores_: ScoreCurve | None

    def __init__(
        self,
        *,
        C: float = 1.0,
        start: Any = (0.0, 2.0),
        stop: Any = (2.0, 0.0),
        costs: Any = None,
        scoring: Any = None,
        selection: Any = None,
        cv: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            C=C,
            start=start,
            stop=stop,
            costs=costs,
            kernel=kernel,
            gamma=gamma,
            bandwidth=bandwidth,
            class_weight=class_weight,
            pos_label=pos_label,
        )
        self.scoring = scoring
        self.selection = selection
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trace the line on each training part and on all samples, and choose.

        Parameters
        ----------
        X, y, sample_weight
            As for `CostPathSVC`.

        Returns
        -------
        CostPathSVCCV
            Itself.
        """
        if self.scoring is not None and self.costs is not None:
            raise InputError(f"costs must be left out where scoring is given, got {self.costs!r}")
        if self.selection is not None:
            check_selection(self.selection)
            if self.scoring is not None:
                raise InputError(f"selection must be left out where scoring is given, got {self.selection!r}")
        problem, line = self._problem(X, y, sample_weight), self._line()
        self._factors = class_factors(self, problem.labels)
        folds = self._folds(problem)
        surface = self._surface = cross_validated_surface(problem, line.start, line.stop, folds, n_jobs=self.n_jobs)
        self.errors_ = surface.curve()
        self.scores_ = None if self.scoring is None else self._score_curve(problem, surface, folds)
        self._trace(problem)
        self.best_t_, self.best_costs_ = self.t_, self.costs_
        if self.scores_ is None:
            (fp, fn), use = surface.counts(self.t_, self.shift_).sum(axis=0), self._use(self.costs)
            self.best_score_ = -float(use.C_plus * fn + use.C_minus * fp) / int(surface.sizes.sum())
        else:
            self.best_score_ = self.scores_.best()[1]
        return self

    def set_costs(self, costs: Any = None) -> Self:
        """Use the classifier of other costs, chosen anew by the same held-out errors.

        Parameters
        ----------
        costs : pair (C_plus, C_minus), optional
            As for the parameter ``costs``.

        Returns
        -------
        CostPathSVCCV
            Itself, with other ``solution_``, ``t_``, ``costs_`` and ``shift_``.
        """
        check_is_fitted(self, "path_")
        t, self.shift_ = self._chosen(costs)
        self._set_t(t)
        self._used = shifted(self._used, self.shift_)
        return self

    def _at(self, costs: Any) -> Rule:
        t, shift = self._chosen(costs)
        return shifted(self.path_.at(t).classifier, shift)

    def _chosen(self, costs: Any) -> Taken:
        """The t that is taken for these costs, and the shift."""
        if costs is None and self.scores_ is not None:
            return Taken(self.scores_.best()[0])
        rule = "one-se" if self.selection is None else self.selection
        return choose(self._surface, self._use(costs), rule, _pair(costs))

    def _use(self, costs: Any) -> Costs:
        """Costs that are minimised."""
        given = _pair(costs)
        return Costs(given.C_plus * self._factors[1], given.C_minus * self._factors[0])

    def _folds(self, problem: Problem) -> list[tuple[Rows, Rows]]:
        """Positions among the samples of positive weight; folds that test none of these are left out."""
        labels = problem.labels
        position = np.full(labels.size, -1)
        position[problem.rows] = np.arange(problem.rows.size)
        parts = check_cv(self.cv, labels, classifier=True).split(np.zeros((labels.size, 1)), labels)
        found = [tuple(position[part][position[part] >= 0] for part in split) for split in parts]
        return [(train, test) for train, test in found if test.size]

    def _score_curve(self, problem: Problem, surface: ErrorSurface, folds: list[tuple[Rows, Rows]]) -> ScoreCurve:
        tests = [test for _, test in folds]
        asked = [_Asked(self, problem.gram.X[test], problem.y[test] > 0) for test in tests]
        try:
            return _of_labels(asked, surface.folds)
        except AttributeError:  # it wants more than labels
            pass
        try:
            return _of_scores(asked, surface.folds)
        except AttributeError as error:
            raise InputError(
                f"scoring must be a scorer of labels or of scores, which calls predict or decision_function, got "
                f"{self.scoring!r} ({error}); for probabilities see CalibratedClassifierCV"
            ) from None


def shifted(rule: Rule, shift: float) -> Rule:
    """A rule with something added to its scores, or itself."""
    return ShiftedRule(rule, shift) if shift else rule


class _Labels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A classifier that has said already what it says: what scorers ask."""

    def __init__(self, classes: Any = None, labels: Any = None) -> None:
        self.classes_ = classes
        self.labels = labels

    def fit(self, X: Any, y: Any) -> Self:
        """Nothing to do."""
        return self

    def predict(self, X: Any) -> Any:
        """The labels that were given."""
        return self.labels


class _Scores(_Labels):
    """The same with scores, positive for the second class."""

    def __init__(self, classes: Any = None, labels: Any = None, scores: Any = None) -> None:
        super().__init__(classes, labels)
        self.scores = scores

    def decision_function(self, X: Any) -> Array:
        """The scores that were given."""
        return np.asarray(self.scores)


@dataclass(frozen=True)
class _Asked:
    """The scorer of an estimator, and the test part of a fold."""

    estimator: CostPathSVCCV
    X: Any
    positive: Mask

    def of_labels(self, positive: Mask) -> float:
        """Score of labels that were said."""
        return self._score(_Labels(self.estimator.classes_, self._labels(positive)))

    def of_scores(self, f: Array) -> float:
        """Score of scores f, above 0 for positives."""
        return self._score(_Scores(self.estimator.classes_, self._labels(f >= 0), self.estimator._sign * f))

    def _labels(self, positive: Mask) -> Any:
        return self.estimator._by_sign()[positive.astype(int)]

    def _score(self, said: _Labels) -> float:
        scoring = self.estimator.scoring
        score = float(check_scoring(said, scoring)(said, self.X, self._labels(self.positive)))
        if not np.isfinite(score):
            raise InputError(
                f"scoring must give a finite number on each fold, got {score} from {scoring!r} on "
                f"{self.positive.size} samples, {np.sum(self.positive)} of them positive"
            )
        return score


def _of_labels(asked: list[_Asked], folds: Sequence[PathScores]) -> ScoreCurve:
    """The mean score at every t; each vector of labels of a fold is scored once."""
    curves = []
    for ask, scores in zip(asked, folds, strict=True):
        t, at, after = labels_of_scores(scores)
        every, place = np.unique(np.concatenate([at, after]), axis=0, return_inverse=True)
        known = np.array([ask.of_labels(positive) for positive in every])[place.ravel()]
        curves.append(ScoreCurve(t, known[: t.size], known[t.size :]))
    t = np.unique(np.concatenate([curve.t for curve in curves]))
    middle = 0.5 * (t[:-1] + t[1:])
    mean, after = (np.mean([[curve(float(u)) for u in v] for curve in curves], axis=0) for v in (t, middle))
    return ScoreCurve(t, mean, after)


def _of_scores(asked: list[_Asked], folds: Sequence[PathScores]) -> ScoreCurve:
    """The mean score at some t: as many between any two breakpoints, or as few."""
    knots = np.unique(np.concatenate([scores.t for scores in folds]))
    t = np.interp(np.linspace(0, knots.size - 1, SCORED_AT), np.arange(knots.size), knots)
    each = [[ask.of_scores(f) for f in scores(t).T] for ask, scores in zip(asked, folds, strict=True)]
    return ScoreCurve(t, np.mean(each, axis=0))
