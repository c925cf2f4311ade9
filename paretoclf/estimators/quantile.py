"""QuantileSVC: the whole quantile path as a classifier with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, Index, check_bool, check_positive_number
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.path.quantile import QuantilePath, trace_quantile
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples
from paretoclf.proof.solution import Solution


@dataclass(frozen=True)
class _QuantileData(LabelledSamples):
    bias: bool = False


class QuantileSVC(BinaryClassifier):
    """Quantile support vector machine at every tau, and from them the probability of the positive class.

    At tau the machine labels positive what is positive with a probability of at least tau; over all tau that is an
    estimate of the probability itself. The positives are those of ``pos_label``.

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

    Raises
    ------
    InputError
        If an argument is not what it must be.
    DegeneratePathError
        If the path cannot be followed, or fails its proof.

    Notes
    -----
    The probability of a sample is the length of the set of tau at which it is labelled positive. Where its label
    changes once along the path, that is the tau of the change, and more than 1/2 exactly where it is positive at
    tau = 1/2. Where it changes more often (`crossings` counts) the set is not an interval, its length is a convention,
    and `predict` need not be the more probable label. Scores are those of one tau, probabilities of all: the two need
    not rank samples alike.

    References
    ----------
    Yu et al., section 3 and Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.QuantileSVC(pos_label="ill").fit(X, y)
    >>> svm.predict_proba([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]]).round(2)
    array([[0.95, 0.05],
           [0.64, 0.36],
           [0.11, 0.89]])
    """

    path_: QuantilePath
    solution_: Solution
    tau_: float
    lam_: float

    def __init__(
        self,
        *,
        C: float = 1.0,
        tau: float = 0.5,
        bias: bool = True,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        pos_label: Any = None,
    ) -> None:
        self.C = C
        self.tau = tau
        self.bias = bias
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Trace the path from tau = 0 to tau = 1.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        QuantileSVC
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        bias = check_bool(self.bias, "bias")
        gram = Gram(X, self._kernel(X))
        self.lam_ = 1.0 / (labels.size * check_positive_number(self.C, "C"))
        self.path_ = trace_quantile(_QuantileData(gram, labels, bias=bias), (0, 1), self.lam_, progress=False)
        return self.set_tau(self.tau)

    def set_tau(self, tau: float) -> Self:
        """Use the classifier of another tau, in O(n).

        Parameters
        ----------
        tau : float
            In [0, 1].

        Returns
        -------
        QuantileSVC
            Itself, with other ``solution_`` and ``tau_``.
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
        """How often the label of each sample changes along the path: at most once where its probability is a tau.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        int array of shape (m,)
        """
        X = self._samples(X)
        return self.path_.conditional_probability(X).crossings
