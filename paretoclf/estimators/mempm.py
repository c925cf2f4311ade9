"""MEMPMClassifier: the best guaranteed rates of two classes, whatever their distributions."""

from __future__ import annotations

from typing import Any, Self

from paretoclf.distributions.gaussian.moments import Distances
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.mempm import MEMPM
from paretoclf.proof.solution import Solution


class MEMPMClassifier(BinaryClassifier):
    """Minimum error minimax probability machine: the best weighted sum of the rates that are guaranteed to two classes.

    Of each class only mean and covariance count; the guarantee holds for all distributions that have these. The
    positives are those of ``pos_label``.

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
        Of the two means; ``distances_.worst_case`` is the guaranteed true negative and true positive rate.
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Raises
    ------
    InputError
        If an argument is not what it must be, a covariance is singular, or the two means are equal.
    SolveError
        If the solver returns no point.

    Warns
    -----
    SmallSampleWarning
        As for `ParetoGaussianClassifier`.

    Notes
    -----
    The guarantee is for classes with exactly the moments that were estimated.

    References
    ----------
    Huang, Yang, King, Lyu & Chan, JMLR 5 (2004). Kim et al. (2006), problem (9).

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> machine = pc.MEMPMClassifier(theta=0.5, pos_label="ill").fit(X, y)
    >>> [round(rate, 2) for rate in machine.distances_.worst_case], machine.solution_.certificate.passes()
    ([0.6..., 0.6...], True)
    """

    solution_: Solution
    distances_: Distances

    def __init__(
        self,
        *,
        theta: float = 0.5,
        shrinkage: Any = "ledoit-wolf",
        reg: Any = 0.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        pos_label: Any = None,
    ) -> None:
        self.theta = theta
        self.shrinkage = shrinkage
        self.reg = reg
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the moments and maximise the weighted guarantee.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        MEMPMClassifier
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        machine = MEMPM(X, labels, self._kernel(X), reg=self.reg, shrinkage=self.shrinkage)
        self.solution_ = machine.solve(self.theta)
        self._used, self.distances_ = self.solution_.classifier, machine.distances(self.solution_)
        return self
