"""What every estimator of this room does with samples, labels, weights and kernels: as scikit-learn does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from paretoclf.common.checks import Array, Index, check_positive_number, refuse_other_order
from paretoclf.common.errors import InputError, PositiveClassWarning
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.kernels import RBF, Kernel
from paretoclf.problem.lines import LabelledSamples


@dataclass(frozen=True)
class Problem(LabelledSamples):
    """What an estimator was given: the samples whose weight is not 0, as the 2C-SVM of paths.

    Attributes
    ----------
    rows : int array of shape (n,)
        Which samples these are of those that were given.
    labels : array
        Labels -1 and +1 of all that were given.
    """

    rows: Index = field(repr=False, kw_only=True)
    labels: Array = field(repr=False, kw_only=True)


class BinaryClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A classifier of two classes of any labels; the positive one is ``pos_label_``, predicted where it is a tie.

    Scores are those of scikit-learn's convention, positive for ``classes_[1]``, whichever class is the positive one.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The two labels, sorted.
    pos_label_ : label
        That of the positives: misses are theirs, false alarms those of the other.
    n_features_in_ : int
    feature_names_in_ : array of str, one for each feature
        If X was a frame.
    """

    classes_: Any
    pos_label_: Any
    _used: Any  # the Rule that scores new samples, above 0 for positives
    pos_label: Any = None
    kernel: Any = "linear"
    gamma: Any = "scale"
    bandwidth: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _samples_and_labels(self, X: Any, y: Any) -> tuple[Any, Array]:
        """X as float64, dense or CSR, and labels -1 and +1; sets ``classes_``, ``pos_label_`` and what is kept of X."""
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        refuse_other_order(X, y)
        X, y = validate_data(self, X, y, accept_sparse=sparse, dtype=np.float64, order="C")
        y = column_or_1d(y, warn=True)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_ = np.unique(y)
        self._require_both(self.classes_)
        self.pos_label_ = positive_of(self.classes_, self.pos_label)
        return X, np.where(y == self.pos_label_, 1.0, -1.0)

    def _samples(self, X: Any) -> Any:
        """New samples: as many features as in training, of the same names in the same order."""
        check_is_fitted(self)
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        return validate_data(self, X, accept_sparse=sparse, dtype=np.float64, order="C", reset=False)

    def _kernel(self, X: Any) -> Kernel | Any:
        return kernel_of(self.kernel, self.gamma, self.bandwidth, X)

    @property
    def _sign(self) -> float:
        """What makes f a score for ``classes_[1]``."""
        return 1.0 if self.pos_label_ == self.classes_[1] else -1.0

    def _by_sign(self) -> Any:
        """Labels of the negatives and of the positives."""
        return self.classes_[:: int(self._sign)]

    def _labels(self, scores: Array) -> Any:
        """Labels of scores for ``classes_[1]``; a tie is positive."""
        return self._by_sign()[(self._sign * scores >= 0).astype(int)]

    @staticmethod
    def _require_both(classes: Any, whose: str = "y") -> None:
        if len(classes) < 2:
            raise InputError(f"{whose} must hold samples of two classes, got one class: {classes.tolist()}")

    @property
    def coef_(self) -> Array:
        """Slope, shape (1, d), linear kernel only."""
        try:
            return np.asarray(self._sign * self._used.w[None, :])
        except InputError:
            raise AttributeError(f"coef_ is there for kernel='linear' only, not for kernel={self.kernel!r}") from None

    @property
    def intercept_(self) -> Array:
        """Intercept, shape (1,)."""
        return np.array([self._sign * self._used.b])

    def decision_function(self, X: Any) -> Array:
        """Scores of new samples, positive for ``classes_[1]``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        array of shape (m,)
        """
        X = self._samples(X)
        return np.asarray(self._sign * self._used.decision_function(X))

    def predict(self, X: Any) -> Any:
        """Labels of new samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        array of shape (m,)
        """
        return self._labels(self.decision_function(X))


class CostsAtUse(BinaryClassifier):
    """A classifier for every pair of costs: which one is used, is said after fitting, or at each call."""

    def set_costs(self, costs: Any = None) -> Self:
        """Use the classifier of other costs."""
        raise NotImplementedError

    def _at(self, costs: Any) -> Rule:
        """The classifier of some costs."""
        raise NotImplementedError

    def decision_function(self, X: Any, costs: Any = None) -> Array:
        """Scores of new samples, positive for ``classes_[1]``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)
        costs : pair (C_plus, C_minus), optional
            Those of this one call; by default those that are set.

        Returns
        -------
        array of shape (m,)
        """
        X = self._samples(X)
        rule = self._used if costs is None else self._at(costs)
        return np.asarray(self._sign * rule.decision_function(X))

    def predict(self, X: Any, costs: Any = None) -> Any:
        """Labels of new samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)
        costs : pair (C_plus, C_minus), optional
            Those of this one call; by default those that are set.

        Returns
        -------
        array of shape (m,)
        """
        return self._labels(self.decision_function(X, costs))


def weights_of(estimator: BinaryClassifier, X: Any, y: Array, sample_weight: Any) -> tuple[Array, Index]:
    """Weights of the samples, those of their classes included, and which are not 0."""
    given = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (given < 0).any():
        i = int(np.argmax(given < 0))
        raise InputError(f"sample_weight must not be negative, got {given[i]} at index {i}")
    minus, plus = class_factors(estimator, y)
    weights = given * np.where(y > 0, plus, minus)
    rows = np.flatnonzero(weights)
    estimator._require_both(np.unique(y[rows]), "samples of positive weight")
    return weights[rows], rows


def class_factors(estimator: BinaryClassifier, y: Array) -> tuple[float, float]:
    """Factors of the costs of the negatives and of the positives that ``class_weight`` stands for."""
    classes = estimator._by_sign()
    found = compute_class_weight(estimator.class_weight, classes=classes, y=classes[(y > 0).astype(int)])
    if (found < 0).any():
        raise InputError(f"class_weight must not be negative, got {estimator.class_weight!r}")
    return float(found[0]), float(found[1])


def positive_of(classes: Any, given: Any) -> Any:
    """The label of the positives: the one given, else the second of two sorted ones, which is announced for texts.

    Raises
    ------
    InputError
        If the one given is none of the two.

    Examples
    --------
    >>> from paretoclf.estimators.base import positive_of
    >>> positive_of(["ill", "well"], "ill")
    'ill'
    >>> positive_of([0, 1], None)
    1
    """
    first, second = np.asarray(classes).tolist()  # as Python writes them
    if given is None:
        if isinstance(second, str):
            warnings.warn(
                f"the positive class is {second!r}, the second label in sorted order: costs of a miss and guarantees "
                f"are about it; say pos_label={first!r} or pos_label={second!r}",
                PositiveClassWarning,
                stacklevel=4,
            )
        return classes[1]
    if given not in (first, second):
        raise InputError(f"pos_label must be one of the two labels, {first!r} or {second!r}, got {given!r}")
    return classes[0] if given == first else classes[1]


def kernel_of(kernel: Any, gamma: Any, bandwidth: Any, X: Any) -> Kernel | Any:
    r"""Return the kernel that an estimator was asked for, with :math:`\gamma=1/(2\sigma^2)` or the bandwidth itself.

    Parameters
    ----------
    kernel : str, callable or kernel object
    gamma : {"scale", "auto"} or float
        As for scikit-learn's ``SVC``; for ``kernel="rbf"`` only.
    bandwidth : float or None
        In place of gamma.
    X : array or sparse matrix of shape (n, d)

    Raises
    ------
    InputError
        If both are given, or one for another kernel.

    Examples
    --------
    >>> from paretoclf.estimators.base import kernel_of
    >>> kernel_of("rbf", 0.5, None, [[0.0], [1.0]])
    RBF(bandwidth=1.0)
    """
    default = isinstance(gamma, str) and gamma == "scale"
    if not (isinstance(kernel, str) and kernel == "rbf"):
        if not default or bandwidth is not None:
            name, value = ("gamma", gamma) if bandwidth is None else ("bandwidth", bandwidth)
            raise InputError(f"{name} must be left out for kernel={kernel!r}: it is that of 'rbf', got {value!r}")
        return kernel
    if bandwidth is not None:
        if not default:
            raise InputError(f"gamma must be left out where bandwidth is given, got {gamma!r}")
        return RBF(bandwidth)
    if default:
        return RBF.scale(X)
    if isinstance(gamma, str):
        if gamma != "auto":
            raise InputError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
        gamma = 1.0 / X.shape[1]
    return RBF(float(np.sqrt(0.5 / check_positive_number(gamma, "gamma"))))
