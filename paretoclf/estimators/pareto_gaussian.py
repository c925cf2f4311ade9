"""ParetoGaussianClassifier: the optimal trade-off of two Gaussian classes, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, check_inside
from paretoclf.distributions.gaussian.tradeoff import gaussian_tradeoff
from paretoclf.estimators.base import CostsAtUse
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import as_costs


@dataclass(kw_only=True, eq=False, repr=False)
class ParetoGaussianClassifier(CostsAtUse):
    """The best linear classifier of two Gaussian classes with different covariances, for every pair of costs.

    Each class is taken to be Gaussian, with the mean and the covariance of its samples; the two means must differ.
    References: Kim et al. (2006), problems (3) to (5), with a kernel section 6; Anderson & Bahadur (1962).

    Parameters
    ----------
    costs : pair (C_plus, C_minus), optional
        Costs of a miss (false negative) and of a false alarm (false positive) where the classifier is used; the
        expected cost is minimised. Default: none, and `lam` says which classifier.
    lam : float
        Without costs: the distance of the negatives' mean from the hyperplane over that of the positives', each in
        standard deviations of its class. At 1 both rates of errors are equal.
    prior_plus : float, optional
        Probability of a positive where the classifier is used. Default: the share of positives in training.
    shrinkage : float, "ledoit-wolf", "oas", or a pair of them
        How far the two covariances are shrunk towards a sphere, for positives and negatives. Features should be on one
        scale. A covariance must not stay singular; where only `shrinkage` or `reg` makes it regular, `fit` warns
        (`SmallSampleWarning`).
    reg : float or pair of floats
        Added to their diagonals; positive where all samples of a class are the same.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`, but the kernel is linear by default.

    Attributes
    ----------
    tradeoff_ : GaussianTradeoff
        The whole curve; ``tradeoff_.neyman_pearson(0.05)`` is the best classifier with at most 5 % false alarms.
    point_ : OperatingPoint
        The one that is used, with its rates; ``tradeoff_.certificate(point_)`` proves it.
    costs_ : Costs or None
        Those that are set.
    prior_plus_ : float
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Notes
    -----
    Rates are those of Gaussian classes, not counted ones. With costs that are far apart the cheapest may be to give
    every sample one label.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> gaussian = pc.ParetoGaussianClassifier().fit(data.X, data.y)
    >>> gaussian.point_
    OperatingPoint(fpr=0.10..., tpr=0.89..., t=...)
    >>> [int((gaussian.predict(data.X, costs=costs) > 0).sum()) for costs in [(1, 10), (1, 1), (10, 1)]]
    [18, 28, 39]
    """

    kernel: Any = "linear"
    lam: float = 1.0
    prior_plus: float | None = None
    shrinkage: Any = "ledoit-wolf"
    reg: Any = 0.0

    def _fit(self, X: Any, labels: Array) -> None:
        kernel = None if isinstance(self.kernel, str) and self.kernel == "linear" else self._kernel(X)
        self.tradeoff_ = gaussian_tradeoff(X, labels, kernel=kernel, reg=self.reg, shrinkage=self.shrinkage)
        self.tradeoff_.moments.require_difference()
        prior = float(np.mean(labels > 0)) if self.prior_plus is None else self.prior_plus
        self.prior_plus_ = check_inside(prior, "prior_plus")
        self.set_costs(self.costs)

    def _set(self, costs: Any) -> None:
        check_is_fitted(self, "tradeoff_")
        if costs is None:
            self.costs_, self.point_ = None, self.tradeoff_.at_weight(self.lam)
        else:
            self.costs_ = as_costs(costs)
            self.point_ = self.tradeoff_.best(self.costs_, self.prior_plus_)
        self._used = self.point_.classifier

    def _at(self, costs: Any) -> Rule:
        return self.tradeoff_.best(as_costs(costs), self.prior_plus_).classifier
