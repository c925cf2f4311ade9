"""QuantileSVC: the whole quantile path as a classifier with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, Index, check_bool, check_positive_number
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.path.svm.quantile_path import trace_quantile
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples


@dataclass(frozen=True)
class _QuantileData(LabelledSamples):
    bias: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class QuantileSVC(BinaryClassifier):
    """Quantile support vector machine at every tau, and from them the probability of the positive class.

    At tau the machine labels positive what is positive with a probability of at least tau; over all tau that is an
    estimate of the probability itself (Yu et al., section 3 and Algorithm 1).

    Parameters
    ----------
    C : float
        Inverse weight of the squared norm, ``lam = 1 / (n C)``: at tau = 1/2 both costs are C, as in ``SVC(C)``.
    tau : float
        In [0, 1]: that of `predict` and `decision_function`.
    bias : bool
        Whether a constant feature 1 is added, whose weight is part of the norm. There is no other intercept.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`.

    Attributes
    ----------
    path_ : QuantilePath
        Every solution; ``path_.proof`` proves it.
    solution_ : Solution
        The one at tau, with its certificate.
    tau_ : float
        The tau that is set.
    lam_ : float
    classes_, pos_label_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The probability of a sample is the length of the set of tau at which it is labelled positive. Where its label
    changes once along the path, that is the tau of the change, and more than 1/2 exactly where it is positive at
    tau = 1/2. Where it changes more often (`crossings` counts) the set is not an interval, its length is a convention,
    and `predict` need not be the more probable label. Scores are those of one tau, probabilities of all: the two need
    not rank samples alike.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> svm = pc.QuantileSVC().fit(data.X, data.y)
    >>> svm.predict_proba(data.X[:3]).round(2)
    array([[0.96, 0.04],
           [0.14, 0.86],
           [0.06, 0.94]])
    """

    C: float = 1.0
    tau: float = 0.5
    bias: bool = True

    def _fit(self, X: Any, labels: Array) -> None:
        bias = check_bool(self.bias, "bias")
        gram = self._named(Gram(X, self._kernel(X)))
        self.lam_ = 1.0 / (labels.size * check_positive_number(self.C, "C"))
        self.path_ = trace_quantile(_QuantileData(gram, labels, bias=bias), (0, 1), self.lam_, progress=False)
        self.set_tau(self.tau)

    @property
    def _margin(self) -> float:
        return 1.0

    def set_tau(self, tau: float) -> Self:
        """Use the classifier of another tau, in O(n).

        Parameters
        ----------
        tau : float
            In [0, 1].

        Returns
        -------
        Self
            With other ``solution_`` and ``tau_``.
        """
        check_is_fitted(self, "path_")
        self.solution_ = self.path_.at(tau)
        self._used, self.tau_ = self.solution_.classifier, float(tau)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of both classes, whatever tau is set.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        array of shape (m, 2)
            In the order of ``classes_``.
        """
        X = self._samples(X)
        positive = self.path_.conditional_probability(X).probability
        return np.column_stack([1.0 - positive, positive])[:, :: int(self._sign)]

    def crossings(self, X: Any) -> Index:
        """Number of changes of each sample's label along the path: at most one where its probability is a tau.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        int array of shape (m,)
        """
        X = self._samples(X)
        return self.path_.conditional_probability(X).crossings
