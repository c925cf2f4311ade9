"""BiobjectiveMarginClassifier: every compromise between the margins of two classes."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import check_inside
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
from paretoclf.path.margins import MarginPath, trace_margins
from paretoclf.proof.solution import Solution

#: Ratios of the two margins that are fitted: beyond, one margin is next to nothing.
THETAS = (1e-6, 1e6)


class BiobjectiveMarginClassifier(BinaryClassifier):
    """The classifiers of which no other has a larger margin for both classes; fitted once, at every compromise.

    They have one slope; what is chosen is where its hyperplane stands between the classes. The positives are those of
    ``pos_label``.

    Parameters
    ----------
    theta : float
        Margin of the positives over that of the negatives, from 1e-6 to 1e6. At 1 they are equal.
    soft : bool
        Whether margins may be missed, at the price of squared slacks. If not, a hyperplane must separate the classes.
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

    Raises
    ------
    InputError
        If an argument is not what it must be.
    InseparableError
        If soft is False, and no hyperplane separates the classes; it holds a point of both convex hulls.
    DegeneratePathError
        If the way to the margin cannot be followed, or the path fails its proof.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorems 5 and 7.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.BiobjectiveMarginClassifier(theta=3.0, pos_label="ill").fit(X, y)
    >>> plus, minus = svm.margins_
    >>> round(plus / minus, 9)
    3.0
    >>> [int((svm.set_theta(theta).predict(X) == "ill").sum()) for theta in (0.1, 1, 10)]
    [16, 31, 43]
    """

    path_: MarginPath
    solution_: Solution
    theta_: float
    margins_: tuple[float, float]

    def __init__(
        self,
        *,
        theta: float = 1.0,
        soft: bool = True,
        C_plus: float = 1.0,
        C_minus: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        pos_label: Any = None,
    ) -> None:
        self.theta = theta
        self.soft = soft
        self.C_plus = C_plus
        self.C_minus = C_minus
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Find the slope, and every hyperplane with it.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        BiobjectiveMarginClassifier
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        svm = BiobjectiveMargin(X, labels, self._kernel(X), soft=self.soft)
        costs = (self.C_plus, self.C_minus) if svm.soft else ()
        self.path_ = trace_margins(svm, THETAS, *costs, progress=False)
        return self.set_theta(self.theta)

    def set_theta(self, theta: float) -> Self:
        """Use the classifier of another compromise, in O(n).

        Parameters
        ----------
        theta : float
            From 1e-6 to 1e6.

        Returns
        -------
        BiobjectiveMarginClassifier
            Itself, with other ``solution_``, ``theta_`` and ``margins_``.
        """
        check_is_fitted(self, "path_")
        value = check_inside(theta, "theta", *THETAS)
        share = self.path_.share(value)
        self.solution_ = self.path_.at(share)
        self._used, self.theta_, self.margins_ = self.solution_.classifier, value, self.path_.margins(share)
        return self
