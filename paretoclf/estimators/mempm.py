"""MEMPMClassifier: the best guaranteed rates of two classes, whatever their distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paretoclf.common.checks import Array
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.mempm import MEMPM


@dataclass(kw_only=True, eq=False, repr=False)
class MEMPMClassifier(BinaryClassifier):
    """Minimum error minimax probability machine: the best weighted sum of the rates that are guaranteed to two classes.

    Only mean and covariance of each class count; the guarantee holds for all distributions that have exactly the
    moments that were estimated (Huang, Yang, King, Lyu & Chan, JMLR 5, 2004; Kim et al. 2006, problem (9)).

    Parameters
    ----------
    theta : float
        Weight of the negatives' guaranteed rate, strictly between 0 and 1; that of the positives' is 1 - theta. With
        costs: ``prior_minus C_minus`` over its sum with ``prior_plus C_plus``.
    shrinkage, reg
        As for `ParetoGaussianClassifier`.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`, but the kernel is linear by default.

    Attributes
    ----------
    solution_ : Solution
        With its certificate; its ``notes`` say where predicting one label would guarantee more, or where one of the two
        classes has no guarantee.
    distances_ : Distances
        Distances of the two means; ``distances_.worst_case`` is the guaranteed true negative and true positive rate.
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> machine = pc.MEMPMClassifier(theta=0.5).fit(data.X, data.y)
    >>> [round(rate, 2) for rate in machine.distances_.worst_case], machine.solution_.certificate.passes()
    ([0.59, 0.64], True)
    """

    kernel: Any = "linear"
    theta: float = 0.5
    shrinkage: Any = "ledoit-wolf"
    reg: Any = 0.0

    def _fit(self, X: Any, labels: Array) -> None:
        machine = MEMPM(X, labels, self._kernel(X), reg=self.reg, shrinkage=self.shrinkage)
        self.solution_ = machine.solve(self.theta)
        self._used, self.distances_ = self.solution_.classifier, machine.distances(self.solution_)
