"""CostPathSVC: every classifier of a line of costs, fitted once; the costs are chosen when it is used."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Index, check_pair, check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.estimators.base import CostsAtUse, Problem, weights_of
from paretoclf.path.cost import Path, trace_costs
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import CostLine, Costs, as_costs
from paretoclf.problem.gram import Gram
from paretoclf.proof.solution import Solution
from paretoclf.roc.of_path import symmetric_t

#: Sine of the angle between two pairs of costs below which they are on one ray from the origin.
ON_RAY = 1e-12


class CostPathSVC(CostsAtUse):
    """Support vector machine of every pair of costs on a line, fitted once and exactly.

    By default the line is that of asymmetry with total ``2 C``, from (0, 2 C) to (2 C, 0): in its middle stands
    ``SVC(C)``, towards one end misses cost more, towards the other false alarms. The positives are those
    of ``pos_label``.

    Parameters
    ----------
    C : float
        Unit of the costs; both ends of the line are multiplied by it.
    start, stop : pair (C_plus, C_minus)
        Ends of the line, in units of C. A ray is ``start=(0, 0), stop=(1, 1)``.
    costs : pair (C_plus, C_minus), optional
        Costs of a miss (false negative) and of a false alarm (false positive) where the classifier is used. If the
        asymmetry changes along the line, their ratio counts: they stand for the point of the line with this ratio. On
        a ray they are a point of it. Default: the point that is closest to asymmetry 1/2; on a ray, its far end.
    kernel : str, callable or kernel object
        ``"rbf"``, ``"linear"``, ``"precomputed"``, another name that scikit-learn knows, ``f(X, Z)``, or a kernel of
        this package.
    gamma : {"scale", "auto"} or float
        Of ``kernel="rbf"``, as for ``SVC``.
    bandwidth : float, optional
        In place of gamma, ``gamma = 1 / (2 bandwidth**2)``.
    class_weight : dict or "balanced", optional
        Factors of the costs of the classes, as for ``SVC``.
    pos_label : label, optional
        That of the positives. Default: the second label in sorted order, ``classes_[1]``, with a warning where labels
        are texts.

    Attributes
    ----------
    path_ : Path
        Every solution; ``path_.proof`` proves it.
    solution_ : Solution
        The one that is used, with its certificate.
    t_ : float
        Where on the line.
    costs_ : Costs
        The costs there, in units of 1.
    classes_ : array of shape (2,)
    pos_label_ : label
        Of the positives.
    coef_ : array of shape (1, d)
        Slope; linear kernel only.
    intercept_ : array of shape (1,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    InputError
        If an argument is not what it must be.
    DegeneratePathError
        If the path cannot be followed, or fails its proof.

    Notes
    -----
    A sample with f = 0 is predicted positive. Samples of weight 0 are left out, though ``gamma="scale"`` sees them, as
    in ``SVC``.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3.

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

    path_: Path
    solution_: Solution
    t_: float
    costs_: Costs

    def __init__(
        self,
        *,
        C: float = 1.0,
        start: Any = (0.0, 2.0),
        stop: Any = (2.0, 0.0),
        costs: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        class_weight: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.C = C
        self.start = start
        self.stop = stop
        self.costs = costs
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.class_weight = class_weight
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trace the line.

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
        CostPathSVC
            Itself.
        """
        return self._trace(self._problem(X, y, sample_weight))

    def set_costs(self, costs: Any = None) -> Self:
        """Use the classifier of other costs, in O(n).

        Parameters
        ----------
        costs : pair (C_plus, C_minus), optional
            As for the parameter ``costs``.

        Returns
        -------
        CostPathSVC
            Itself, with other ``solution_``, ``t_`` and ``costs_``.

        Raises
        ------
        InputError
            If the line does not come by these costs.
        """
        check_is_fitted(self, "path_")
        return self._set_t(self._t(costs))

    def _trace(self, problem: Problem) -> Self:
        line = self._line()
        self.path_ = trace_costs(problem, line.start, line.stop, progress=False)
        self._rows = problem.rows
        return self.set_costs(self.costs)

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        X, labels = self._samples_and_labels(X, y)
        weights, rows = weights_of(self, X, labels, sample_weight)
        gram = Gram(self._as_trained(X[rows], rows), self._kernel(X), free_origin=True)
        return Problem(gram, labels[rows], weights, rows=rows, labels=labels)

    def _samples(self, X: Any) -> Any:
        return self._as_trained(super()._samples(X), self._rows)

    def _as_trained(self, X: Any, rows: Index) -> Any:
        """Of precomputed kernel values those against the samples that were trained on."""
        return X[:, rows] if self.__sklearn_tags__().input_tags.pairwise else X

    def _line(self) -> CostLine:
        C = check_positive_number(self.C, "C")
        ends = (check_pair(getattr(self, name), name, "(C_plus, C_minus)") for name in ("start", "stop"))
        return CostLine(*(Costs(C * plus, C * minus) for plus, minus in ends))

    def _t(self, costs: Any) -> float:
        return symmetric_t(self.path_) if costs is None else position(self.path_.line, costs)

    def _at(self, costs: Any) -> Rule:
        return self._rule(self.path_.at(self._t(costs)))

    def _set_t(self, t: float) -> Self:
        self.t_, self.costs_, self.solution_ = t, self.path_.costs(t), self.path_.at(t)
        self._used = self._rule(self.solution_)
        return self

    def _rule(self, solution: Solution) -> Rule:
        """What is used of a solution."""
        return solution.classifier


def position(line: CostLine, costs: Any) -> float:
    """Where a line has costs of this ratio; on a ray from the origin, where it has these costs.

    Parameters
    ----------
    line : CostLine
        Between two `Costs`.
    costs : Costs or pair (C_plus, C_minus)

    Raises
    ------
    InputError
        If the line does not come by them.

    Examples
    --------
    >>> from paretoclf import Costs
    >>> from paretoclf.results import CostLine
    >>> from paretoclf.estimators.cost_path import position
    >>> position(CostLine(Costs(0, 2), Costs(2, 0)), (3, 1))
    0.75
    >>> position(CostLine(Costs(0, 0), Costs(2, 2)), (1, 1))
    0.5
    """
    at = as_costs(costs)
    if at.total == 0:
        raise InputError(f"costs must not both be zero, got {costs!r}")
    a, b = line.start, line.stop
    before, after = _sine(a, at), _sine(b, at)  # of one sign: the line does not cross the ray of these costs
    on_ray = abs(_sine(a, b)) <= ON_RAY
    if on_ray and max(abs(before), abs(after)) <= ON_RAY:
        lo, hi = sorted((a.total, b.total))
        if not lo * (1 - ON_RAY) <= at.total <= hi * (1 + ON_RAY):
            raise InputError(f"costs must have a total from {lo:g} to {hi:g} on this ray, got {costs!r}")
        return 1.0 if lo == hi else min(1.0, max(0.0, (at.total - a.total) / (b.total - a.total)))
    if on_ray or (before > ON_RAY and after > ON_RAY) or (before < -ON_RAY and after < -ON_RAY):
        there = [end.asymmetry for end in (a, b) if end.total > 0]
        raise InputError(
            f"costs must have an asymmetry C_plus / (C_plus + C_minus) from {min(there):g} to {max(there):g}, as the "
            f"line has, got {costs!r}"
        )
    from_a, from_b = float(before * a.total), float(after * b.total)
    return min(1.0, max(0.0, from_a / (from_a - from_b)))


def _sine(a: Costs, b: Costs) -> float:
    """Positive where b has the smaller asymmetry, 0 on one ray; at most 1. Costs of 0 are on every ray."""
    scale = a.total * b.total
    return 0.0 if scale == 0 else float(a.C_plus * b.C_minus - a.C_minus * b.C_plus) / scale
