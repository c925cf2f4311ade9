"""BiobjectiveMarginClassifier: every compromise between the margins of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, check_inside
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
from paretoclf.path.svm.margin_path import trace_margins

#: Ratios of the two margins that are fitted: beyond, one margin is next to nothing.
THETAS = (1e-6, 1e6)


@dataclass(kw_only=True, eq=False, repr=False)
class BiobjectiveMarginClassifier(BinaryClassifier):
    """The classifiers of which no other has a larger margin for both classes; fitted once, at every compromise.

    They have one slope; what is chosen is where its hyperplane stands between the classes (Carrizosa & Martin-Barragan
    2006, Theorems 5 and 7).

    Parameters
    ----------
    theta : float
        Margin of the positives over that of the negatives, from 1e-6 to 1e6. At 1 they are equal.
    soft : bool
        Whether margins may be missed, at the price of squared slacks. If not, a hyperplane must separate the classes:
        else `fit` raises `InseparableError`, which holds a point of both convex hulls.
    C_plus, C_minus : float
        That price for positives and for negatives, if soft.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`.

    Attributes
    ----------
    path_ : MarginPath
        Every solution; ``path_.proof`` proves it.
    solution_ : Solution
        The one of theta, with its certificate.
    theta_ : float
        The theta that is set.
    margins_ : (float, float)
        Margins of the positives and of the negatives, in units of the distances; if soft, with the slacks.
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> svm = pc.BiobjectiveMarginClassifier(theta=3.0).fit(data.X, data.y)
    >>> plus, minus = svm.margins_
    >>> round(plus / minus, 9)
    3.0
    >>> [int((svm.set_theta(theta).predict(data.X) > 0).sum()) for theta in (0.1, 1, 10)]
    [15, 27, 43]
    """

    theta: float = 1.0
    soft: bool = True
    C_plus: float = 1.0
    C_minus: float = 1.0

    def _fit(self, X: Any, labels: Array) -> None:
        svm = BiobjectiveMargin(X, labels, self._kernel(X), soft=self.soft)
        self._named(svm.gram)
        costs = (self.C_plus, self.C_minus) if svm.soft else ()
        self.path_ = trace_margins(svm, THETAS, *costs, progress=False)
        self.set_theta(self.theta)

    @property
    def _margin(self) -> float:
        return float(min(self.margins_))

    def set_theta(self, theta: float) -> Self:
        """Use the classifier of another compromise, in O(n).

        Parameters
        ----------
        theta : float
            From 1e-6 to 1e6.

        Returns
        -------
        Self
            With other ``solution_``, ``theta_`` and ``margins_``.
        """
        check_is_fitted(self, "path_")
        value = check_inside(theta, "theta", *THETAS)
        share = self.path_.share(value)
        self.solution_ = self.path_.at(share)
        self._used, self.theta_, self.margins_ = self.solution_.classifier, value, self.path_.margins(share)
        return self
