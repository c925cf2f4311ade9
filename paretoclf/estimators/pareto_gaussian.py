"""ParetoGaussianClassifier: the optimal trade-off of two Gaussian classes, in closed form."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import check_inside
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.operating import OperatingPoint
from paretoclf.distributions.gaussian.tradeoff import gaussian_tradeoff
from paretoclf.estimators.base import CostsAtUse
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import Costs, as_costs


class ParetoGaussianClassifier(CostsAtUse):
    """The best linear classifier of two Gaussian classes with different covariances, for every pair of costs.

    Each class is taken to be Gaussian, with the mean and the covariance of its samples. The positives are those of
    ``pos_label``.

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
        scale.
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

    Raises
    ------
    InputError
        If an argument is not what it must be, a covariance is singular, or the two means are equal.

    Warns
    -----
    SmallSampleWarning
        If a class has too few samples for its covariance, so that only `shrinkage` or `reg` makes it regular.

    Notes
    -----
    Rates are those of Gaussian classes, not counted ones. With costs that are far apart the cheapest may be to give
    every sample one label.

    References
    ----------
    Kim et al. (2006), problems (3) to (5); with a kernel, section 6. Anderson & Bahadur (1962).

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> gaussian = pc.ParetoGaussianClassifier(pos_label="ill").fit(X, y)
    >>> gaussian.point_
    OperatingPoint(fpr=0.07..., tpr=0.92..., t=...)
    >>> [int((gaussian.predict(X, costs=costs) == "ill").sum()) for costs in [(1, 10), (1, 1), (10, 1)]]
    [23, 33, 39]
    """

    tradeoff_: GaussianTradeoff
    point_: OperatingPoint
    costs_: Costs | None
    prior_plus_: float

    def __init__(
        self,
        *,
        costs: Any = None,
        lam: float = 1.0,
        prior_plus: float | None = None,
        shrinkage: Any = "ledoit-wolf",
        reg: Any = 0.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        pos_label: Any = None,
    ) -> None:
        self.costs = costs
        self.lam = lam
        self.prior_plus = prior_plus
        self.shrinkage = shrinkage
        self.reg = reg
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the two Gaussians; their curve is in closed form.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        ParetoGaussianClassifier
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        kernel = None if isinstance(self.kernel, str) and self.kernel == "linear" else self._kernel(X)
        self.tradeoff_ = gaussian_tradeoff(X, labels, kernel=kernel, reg=self.reg, shrinkage=self.shrinkage)
        self.tradeoff_.moments.require_difference()
        prior = float(np.mean(labels > 0)) if self.prior_plus is None else self.prior_plus
        self.prior_plus_ = check_inside(prior, "prior_plus")
        return self.set_costs(self.costs)

    def set_costs(self, costs: Any = None) -> Self:
        """Use the classifier of other costs.

        Parameters
        ----------
        costs : pair (C_plus, C_minus), optional
            As for the parameter ``costs``.

        Returns
        -------
        ParetoGaussianClassifier
            Itself, with other ``point_`` and ``costs_``.
        """
        check_is_fitted(self, "tradeoff_")
        if costs is None:
            self.costs_, self.point_ = None, self.tradeoff_.at_weight(self.lam)
        else:
            self.costs_, self.point_ = as_costs(costs), self._best(costs)
        self._used = self.point_.classifier
        return self

    def _at(self, costs: Any) -> Rule:
        return self._best(costs).classifier

    def _best(self, costs: Any) -> OperatingPoint:
        return self.tradeoff_.best(as_costs(costs), self.prior_plus_)
