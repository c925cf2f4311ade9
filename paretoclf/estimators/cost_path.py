"""CostPathSVC: every classifier of a line of costs, fitted once; the costs are chosen when it is used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, Index, check_pair, check_positive_number
from paretoclf.common.tolerances import AT_BOUND
from paretoclf.estimators.base import CostsAtUse, Problem, weights_of
from paretoclf.path.svm.cost_path import trace_costs
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import point_of
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.roc.of_path import symmetric_t


@dataclass(kw_only=True, eq=False, repr=False)
class CostPathSVC(CostsAtUse):
    """Support vector machine of every pair of costs on a line, fitted once and exactly.

    By default the line is that of asymmetry with total ``2 C``, from (0, 2 C) to (2 C, 0): in its middle stands
    ``SVC(C)``, towards one end misses cost more, towards the other false alarms (Bach, Heckerman & Horvitz 2006,
    JMLR 7, section 3).

    Parameters
    ----------
    C : float
        Unit of the costs; both ends of the line are multiplied by it.
    start, stop : pair (C_plus, C_minus)
        Ends of the line, in units of C. A ray is ``start=(0, 0), stop=(1, 1)``.
    costs : pair (C_plus, C_minus), optional
        Costs of a miss (false negative) and of a false alarm (false positive) where the classifier is used. If the
        asymmetry changes along the line, as by default, their ratio alone counts: they choose the point of the line
        with this ratio, and do not multiply C. ``(5, 1)`` and ``(50, 10)`` are one machine, that at C times (5/3, 1/3).
        ``SVC(C=C, class_weight={1: 5, 0: 1})``, at C times (5, 1), is ``class_weight={1: 5, 0: 1}`` here, too. On a ray
        they are a point of it. Default: the point that is closest to asymmetry 1/2; on a ray, its far end.
    kernel : str, callable or kernel object
        ``"rbf"``, ``"linear"``, ``"precomputed"``, ``f(X, Z)``, a kernel of this package, or another name that
        ``sklearn.metrics.pairwise.pairwise_kernels`` knows, with its defaults: ``"poly"`` has ``coef0=1`` and
        ``gamma=1/d``. ``SVC(kernel="poly")`` has ``pc.Polynomial(3, scale=1 / (d * X.var()), offset=0)``.
    gamma : {"scale", "auto"} or float
        Of ``kernel="rbf"``, as for ``SVC``.
    bandwidth : float, optional
        In place of gamma, ``gamma = 1 / (2 bandwidth**2)``.
    low_rank : int, float or sequence of int, optional
        Replace the kernel by features, as for `TwoCSVM`. A wide kernel on one feature has a matrix that is
        singular but for rounding, and a fit may be refused: ``low_rank=1e-8`` leaves out 1e-8 of its trace.
    class_weight : dict or "balanced", optional
        Factors of the costs of the classes by their labels, as for ``SVC``: they multiply C.
    pos_label : label, optional
        That of the positives. Of two texts it may be 0 or 1, the number that scikit-learn's ``LabelEncoder`` makes of
        it: ``classes_[0]`` or ``classes_[1]``. Default: ``classes_[1]``, the second label in sorted order, with a
        warning where labels are texts.

    Attributes
    ----------
    path_ : Path
        Every solution; ``path_.proof`` proves it.
    solution_ : Solution
        The one that is used, with its certificate.
    t_ : float
        Where on the line.
    costs_ : Costs
        The costs there, in units of 1, before the factors of ``class_weight`` and ``sample_weight``.
    classes_ : array of shape (2,)
    pos_label_ : label
        Label of the positives.
    coef_ : array of shape (1, d)
        Slope; linear kernel only.
    intercept_ : array of shape (1,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A sample with f = 0 is predicted positive. So is one whose f is 0 but for rounding, 1e-11 of ``2 |b| + 1``:
    `decision_function` is 0 there, and equal rows have one label, on every processor.

    Where every multiplier is at a bound (small C, at a jump of the path) all intercepts of an interval are optimal: its
    middle is taken, as ``SVC`` does but for rounding. The path itself has the one to the right of the jump, or a chord.

    Samples of weight 0 are left out; but ``gamma="scale"`` sees them, and ``class_weight="balanced"`` counts samples,
    those of weight 0 included, and not their weights: both as in ``SVC``.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.CostPathSVC(pos_label="ill").fit(X, y)
    >>> svm.costs_
    Costs(C_plus=1.0, C_minus=1.0)
    >>> [int((svm.predict(X, costs=costs) == "ill").sum()) for costs in [(1, 10), (1, 1), (10, 1)]]
    [16, 31, 41]
    >>> svm.set_costs((10, 1)).solution_.certificate.passes()
    True
    """

    C: float = 1.0
    start: Any = (0.0, 2.0)
    stop: Any = (2.0, 0.0)
    class_weight: Any = None
    low_rank: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trace the line, and choose on it.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            Factors of the cost of each sample, not negative.

        Returns
        -------
        Self

        Raises
        ------
        InputError
            If a parameter, X, y or sample_weight is not what it must be.
        DegeneratePathError
            If the path cannot be followed, or fails its proof.
        """
        X, labels = self._samples_and_labels(X, y)
        self._trace(self._problem(X, labels, sample_weight))
        return self

    @property
    def _margin(self) -> float:
        return 1.0

    def _trace(self, problem: Problem) -> None:
        """Trace the line, and choose on it."""
        line = self._line()
        self.path_ = trace_costs(problem, line.start, line.stop, progress=False)
        self._rows = problem.rows
        self.set_costs(self.costs)

    def _problem(self, X: Any, labels: Array, sample_weight: Any) -> Problem:
        """Problem of the samples on which the estimator is trained."""
        weights = weights_of(self, X, labels, sample_weight)
        rows, seen = self._trained(X, labels, np.flatnonzero(weights))
        gram = Gram(self._as_trained(X[rows], rows), self._kernel(seen), self.low_rank, free_origin=True)
        return Problem(self._named(gram), labels[rows], weights[rows], rows=rows, labels=labels)

    def _trained(self, X: Any, labels: Array, rows: Index) -> tuple[Index, Any]:
        """Rows of the samples to train on, out of those of positive weight, and samples that a bandwidth may use."""
        return rows, X

    def _samples(self, X: Any) -> Any:
        return self._as_trained(super()._samples(X), self._rows)

    def _as_trained(self, X: Any, rows: Index) -> Any:
        """Columns of precomputed kernel values that belong to the samples that were trained on."""
        return X[:, rows] if self.__sklearn_tags__().input_tags.pairwise else X

    def _line(self) -> CostLine:
        """Line from start to stop, in units of 1."""
        C = check_positive_number(self.C, "C")
        ends = (check_pair(getattr(self, name), name, "(C_plus, C_minus)") for name in ("start", "stop"))
        return CostLine(*(Costs(C * plus, C * minus) for plus, minus in ends))

    def _t(self, costs: Any) -> float:
        """Parameter t of the line that has these costs."""
        return symmetric_t(self.path_) if costs is None else self.path_.line.position(costs)

    def _at(self, costs: Any) -> Rule:
        return self._rule(self._solution(self._t(costs)))

    def _set(self, costs: Any) -> None:
        check_is_fitted(self, "path_")
        self._set_t(self._t(costs))

    def _set_t(self, t: float) -> None:
        """Use the classifier at t."""
        self.t_ = t
        self.costs_ = self.path_.costs(t)
        self.solution_ = self._solution(t)
        self._used = self._rule(self.solution_)

    def _solution(self, t: float) -> Solution:
        """The optimum at t, with the middle of its intercepts where no multiplier is off its bounds, as LIBSVM has it.

        The path has an end of them at a jump, where one label for all may be left, or a chord.
        """
        found: Any = self.path_.at(t)
        rule = found.classifier
        off = np.minimum(rule.alpha, rule.caps - rule.alpha)
        if (off > AT_BOUND * rule.caps).any() or not np.isfinite(rule.interval_at_origin).all():
            return found  # type: ignore[no-any-return]
        middle = replace(rule, b_at_origin=point_of(rule.interval_at_origin))
        return make_solution(middle, found.costs, alpha_lo=found.evidence.alpha_lo, source="path")

    def _rule(self, solution: Solution) -> Rule:
        """Rule of a solution with which the estimator predicts."""
        return solution.classifier
