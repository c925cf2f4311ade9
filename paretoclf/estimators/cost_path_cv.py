"""CostPathSVCCV: the best classifier of a whole line of costs, by exact cross-validated step functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.errors import InputError
from paretoclf.estimators.base import Problem, class_factors
from paretoclf.estimators.cost_path import CostPathSVC
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.folds import Rows
from paretoclf.roc.score_curve import Scorer, score_curve
from paretoclf.tuning.cross_validation import cross_validated_surface
from paretoclf.tuning.guarantee import ShiftedRule
from paretoclf.tuning.selection import Taken, check_selection, choose

#: What to write for the names of criteria, which are no scorers.
_CRITERIA = dict.fromkeys(("minimax", "mini-max"), "pc.tuning.Minimax()")
_CRITERIA |= dict.fromkeys(("neyman-pearson", "neyman_pearson", "np"), "pc.tuning.NeymanPearson(0.05)")


def _pair(costs: Any) -> Costs:
    return as_costs((1.0, 1.0) if costs is None else costs)


@dataclass(kw_only=True, eq=False, repr=False)
class CostPathSVCCV(CostPathSVC):
    """`CostPathSVC` with the best classifier of its line, chosen by cross-validation, as ``LassoCV`` chooses a penalty.

    Held-out labels change at finitely many t, all of which are known: no grid is searched, and no better t is missed.
    The costs at which a support vector machine is trained best are in general not those at which it is used (Bach,
    Heckerman & Horvitz 2006, JMLR 7, section 3.2).

    Parameters
    ----------
    C, start, stop, kernel, gamma, bandwidth, low_rank, pos_label
        As for `CostPathSVC`. The bandwidth of ``gamma="scale"`` is that of all samples. With ``start=(0, 0)`` and
        ``stop=(1, 1)`` the total is chosen instead of the asymmetry.
    costs : pair (C_plus, C_minus), optional
        Costs of a miss and of a false alarm where the classifier is used: the t with the smallest held-out cost is
        taken. Default: (1, 1), the fewest errors.
    scoring : str, callable or criterion, optional
        In place of costs. A criterion, ``pc.tuning.Minimax()`` or ``pc.tuning.NeymanPearson(0.05)`` or one of your own,
        with the methods ``__call__`` and ``score`` of ``(fpr, fnr)``: its objective of the error rates of all folds
        together is minimised, exactly over the whole line; a limit is kept by those rates, without a guarantee
        (`NeymanPearsonSVC` has one). Or a scorer, by its name in scikit-learn or ``scorer(estimator, X, y)``, whose
        mean over the folds is maximised: ``"f1"`` is the mean of the F1 of each fold, not F1 of the counts of all, and
        that of pos_label where labels are texts. One of labels (``"balanced_accuracy"``, ``"f1"``) is exact over the
        whole line. One of scores (``"roc_auc"``, ``"average_precision"``) changes between the places where labels do,
        too: it is asked at 201 t, spread evenly over the breakpoints of all folds, and the best of these is taken. One
        of probabilities is refused: there are none.
    selection : {"one-se", "longest", "first", "threshold"} or float, optional
        Which t is taken of those that are good by held-out cost: of those within one standard error of the smallest the
        one nearest to the costs of use (the default); the middle of the longest interval that is best, or of the first;
        a t and a threshold together; or, a number, the middle of the best window of this width. What each of them costs
        is measured in docs/research/selection.md, where the default won. For costs, not for scoring.
    cv : int, splitter or iterable of (train, test), optional
        As everywhere in scikit-learn; by default 5 stratified folds. Each training part must have samples of both
        classes. Groups stay together in ``cv=list(GroupKFold(5).split(X, y, groups))``.
    class_weight : dict or "balanced", optional
        Factors of the costs of the classes, of those of training and of those that are minimised.
    n_jobs : int, optional
        Processes at work on the folds. The result does not depend on it.

    Attributes
    ----------
    best_t_ : float
        Where on the line.
    best_costs_ : Costs
        The costs there, at which the classifier was trained.
    best_score_ : float
        Mean score there, or minus the mean cost of a sample (by ``errors_.counts(best_t_)``, where `shift_` is 0), or
        minus the `score` of a criterion; on the labels that chose it, so it is optimistic.
    shift_ : float
        Added to the scores; 0 but for ``selection="threshold"``.
    errors_ : ErrorCurve
        Held-out errors over the whole line, all folds together: those of the paths, to the right at a jump of b.
    scores_ : ScoreCurve or None
        The mean score along the line, if scoring is a scorer.
    path_, solution_, t_, costs_, classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        Those of the path of all samples, as for `CostPathSVC`.

    Notes
    -----
    `set_costs`, and ``costs=`` of `predict` and `decision_function`, take the t that is best for other costs by the
    same held-out errors. Errors are counted: ``sample_weight`` is of training, but samples of weight 0 are left out.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> svm = pc.CostPathSVCCV(costs=(5, 1)).fit(data.X, data.y)
    >>> round(svm.best_costs_.asymmetry, 3), round(svm.best_score_, 3)
    (0.833, -0.233)
    >>> least = pc.CostPathSVCCV(costs=(5, 1), selection="longest").fit(data.X, data.y)
    >>> round(least.best_costs_.asymmetry, 3), round(least.best_score_, 3)
    (0.779, -0.183)
    >>> pc.CostPathSVCCV(scoring="balanced_accuracy").fit(data.X, data.y).scores_
    ScoreCurve(60 changes, best 0.9124 at t = 0.502774)
    >>> even = pc.CostPathSVCCV(scoring=pc.tuning.Minimax()).fit(data.X, data.y)
    >>> round(even.best_score_, 3) == -round(even.errors_.minimax()[0].objective, 3)
    True
    """

    scoring: Any = None
    selection: Any = None
    cv: Any = None
    n_jobs: int | None = None

    def _trace(self, problem: Problem) -> None:
        for name, given in (("costs", self.costs), ("selection", self.selection)):
            if given is not None and self.scoring is not None:
                raise InputError(f"{name} must be left out where scoring is given, got {given!r}")
        if self.selection is not None:
            check_selection(self.selection)
        if isinstance(self.scoring, str) and self.scoring in _CRITERIA:
            raise InputError(f"scoring must be {_CRITERIA[self.scoring]} for that criterion, got {self.scoring!r}")
        if isinstance(self.scoring, type):
            raise InputError(f"scoring must be an object, {self.scoring.__name__}(...), got the class itself")
        if isinstance(self.scoring, list | tuple | set | dict):
            raise InputError(
                f"scoring must be one scorer or criterion, by which t is chosen, got {self.scoring!r:.100}: "
                "cross_validate takes several to judge by"
            )
        line = self._line()
        self._factors = class_factors(self, problem.labels)
        folds = self._folds(problem)
        surface = self._surface = cross_validated_surface(problem, line.start, line.stop, folds, n_jobs=self.n_jobs)
        self.errors_ = surface.curve()
        self.scores_ = None
        if self.scoring is not None and not self._by_criterion:
            X, positive = problem.gram.X, problem.y > 0
            classes, sign = self.classes_, self._sign
            if isinstance(self.scoring, str) and isinstance(classes.tolist()[0], str):
                classes, sign = np.array([0, 1]), 1.0  # names count the label 1: no text is one
            asked = []
            for _, test in folds:
                asked.append(Scorer(self.scoring, classes, sign, X[test], positive[test]))
            self.scores_ = score_curve(asked, surface.folds)
        super()._trace(problem)
        self.best_t_, self.best_costs_ = self.t_, self.costs_
        if self._by_criterion:
            self.best_score_ = -float(self.scoring.score(*self.errors_.rates(self.t_)))
        elif self.scores_ is None:
            fp, fn = (surface.curve(self.shift_) if self.shift_ else self.errors_).counts(self.t_)
            use = self._use(self.costs)
            cost = use.C_plus * fn + use.C_minus * fp
            self.best_score_ = -float(cost) / int(surface.sizes.sum())
        else:
            self.best_score_ = self.scores_.best()[1]

    def _set(self, costs: Any) -> None:
        check_is_fitted(self, "path_")
        t, self.shift_ = self._chosen(costs)
        self._set_t(t)
        self._used = self._taken(t, self.shift_)

    def _at(self, costs: Any) -> Rule:
        return self._taken(*self._chosen(costs))

    def _taken(self, t: float, shift: float) -> Rule:
        """The rule at t; a shift was chosen with the path's own intercept."""
        return ShiftedRule(self.path_.at(t).classifier, shift) if shift else self._solution(t).classifier

    @property
    def _by_criterion(self) -> bool:
        """Whether scoring is a criterion of both error rates, which no scorer of scikit-learn is."""
        return not isinstance(self.scoring, type) and hasattr(self.scoring, "score")

    def _chosen(self, costs: Any) -> Taken:
        """The t that is taken for these costs, and the shift."""
        if costs is None and self._by_criterion:
            return Taken(max(self.errors_.best(self.scoring), key=lambda optimum: optimum.width).t)
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
