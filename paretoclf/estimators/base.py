"""Base of the estimators: samples, labels, weights and kernels are treated as scikit-learn does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from paretoclf.common.checks import Array, Index, check_positive_number, real_array, refuse_other_order
from paretoclf.common.errors import InputError, PositiveClassWarning
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF
from paretoclf.problem.lines import LabelledSamples
from paretoclf.roc.rounded_scores import zero_cancelled
from paretoclf.tuning.guarantee import ShiftedRule


@dataclass(frozen=True)
class Problem(LabelledSamples):
    """Samples on which an estimator is trained: ``rows`` of the given ones; ``labels`` are -1 and +1 of all."""

    rows: Index = field(repr=False, kw_only=True)
    labels: Array = field(repr=False, kw_only=True)


@dataclass(kw_only=True, eq=False, repr=False)
class BinaryClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A classifier of two classes of any labels; the positive one is ``pos_label_``, predicted where it is a tie.

    Scores are those of scikit-learn's convention, positive for ``classes_[1]``, whichever class is the positive one.
    The fields of a class are the parameters of its estimator, in scikit-learn's sense: keywords, each with a default,
    kept as they are given. Attributes that `fit` adds have a name with an underscore at its end.
    """

    kernel: Any = "rbf"
    gamma: Any = "scale"
    bandwidth: float | None = None
    pos_label: Any = None
    _used: Any = field(init=False)  # the Rule that scores new samples, above 0 for positives

    def fit(self, X: Any, y: Any) -> Self:
        """Find every classifier that can be used afterwards, and use that of the parameters.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        Self

        Raises
        ------
        InputError
            If a parameter, X or y is not what it must be.
        DegeneratePathError
            If a path cannot be followed, or fails its proof.
        """
        self._fit(*self._samples_and_labels(X, y))
        return self

    def _fit(self, X: Any, labels: Array) -> None:
        """Fit to samples and labels -1 and +1."""
        raise NotImplementedError

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
        try:
            X, y = validate_data(self, X, y, accept_sparse=sparse, dtype=np.float64, order="C")
        except (TypeError, ValueError):  # dates have no common type with numbers
            if hasattr(X, "iloc"):
                real_array(X, "X")  # names a column of texts
            raise
        y = column_or_1d(y, warn=True)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            several = f" More classes are for OneVsRestClassifier({type(self).__name__}())." * (kind == "multiclass")
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.{several}")
        self.classes_ = np.unique(y)
        self._require_both(self.classes_)
        self.pos_label_ = self._positive()
        return X, np.where(y == self.pos_label_, 1.0, -1.0)

    def _named(self, gram: Gram) -> Gram:
        """Kernel values that refuse new samples of columns with other names, so that paths refuse them, too."""
        if hasattr(self, "feature_names_in_") and not self.__sklearn_tags__().input_tags.pairwise:
            gram.names = tuple(self.feature_names_in_.tolist())
        return gram

    def _samples(self, X: Any) -> Any:
        """New samples: as many features as in training, of the same names in the same order."""
        check_is_fitted(self)
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        return validate_data(self, X, accept_sparse=sparse, dtype=np.float64, order="C", reset=False)

    def _positive(self) -> Any:
        """The label of the positives: the one given, else the second in sorted order, which is announced for texts."""
        labels = self.classes_.tolist()  # as Python writes them
        first, second = labels
        given, texts = self.pos_label, isinstance(second, str)
        if given is None and texts:
            warnings.warn(
                f"the positive class is {second!r}, the second label in sorted order: costs of a miss and guarantees "
                f"are about it; say pos_label={first!r} or pos_label={second!r}",
                PositiveClassWarning,
                stacklevel=4,
            )
        if given is None:
            return self.classes_[1]
        one = np.ndim(given) == 0
        if one and given in labels:
            return self.classes_[labels.index(given)]
        if one and texts and _is_place(given) and labels[1 - given] != str(given):  # of '1' and '2' nobody's 1 is '2'
            return self.classes_[given]
        encoded = labels == [0, 1] and isinstance(given, str)
        why = (
            "; what it is wrapped in may have made 0 and 1 of two texts in sorted order: "
            "say pos_label=0 for the first, pos_label=1 for the second"
        )
        raise InputError(
            f"pos_label must be one of the two labels, {first!r} or {second!r}, got {given!r}{why * encoded}"
        )

    def _kernel(self, X: Any) -> Any:
        """The kernel that was asked for, with ``gamma = 1 / (2 bandwidth**2)`` or the bandwidth itself."""
        gamma, bandwidth = self.gamma, self.bandwidth
        default = isinstance(gamma, str) and gamma == "scale"
        if not (isinstance(self.kernel, str) and self.kernel == "rbf"):
            if not default or bandwidth is not None:
                name, value = ("gamma", gamma) if bandwidth is None else ("bandwidth", bandwidth)
                raise InputError(
                    f"{name} must be left out for kernel={self.kernel!r}: it is that of 'rbf', got {value!r}; a grid "
                    f"of both has one dict a kernel, [{{'kernel': ['linear']}}, {{'kernel': ['rbf'], {name!r}: [...]}}]"
                )
            return self.kernel
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

    @property
    def _sign(self) -> float:
        """Sign that makes f a score for ``classes_[1]``."""
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

    def _fitted_for(self, name: str) -> None:
        """Refuse an attribute, as one that is not there, before there is a classifier."""
        if not hasattr(self, "pos_label_"):
            raise AttributeError(f"{name} is there after fit: this {type(self).__name__} is not fitted yet")

    @property
    def coef_(self) -> Array:
        """Slope, shape (1, d), linear kernel only."""
        self._fitted_for("coef_")
        if getattr(self, "low_rank", None) is not None:
            raise AttributeError("coef_ is there without low_rank only, got those of features that replace the kernel")
        try:
            return np.asarray(self._sign * self._used.w[None, :])
        except InputError:
            raise AttributeError(f"coef_ is there for kernel='linear' only, not for kernel={self.kernel!r}") from None

    @property
    def intercept_(self) -> Array:
        """Intercept, shape (1,)."""
        self._fitted_for("intercept_")
        return np.array([self._sign * self._used.b])

    @property
    def _margin(self) -> float:
        """Score of a sample on the margin, from which the intercept was found; 0 where none is known."""
        return 0.0

    def _scores(self, rule: Rule, X: Any) -> Array:
        """Scores of a rule for ``classes_[1]``; 0 where rounding alone would choose the sign, as along a path.

        Where a threshold was moved, its scores are what they are: a guarantee hangs on the last digit.
        """
        scores = np.array(rule.decision_function(X), dtype=np.float64)
        if not isinstance(rule, ShiftedRule):
            zero_cancelled(scores, getattr(rule, "b_at_origin", rule.b), self._margin)
        return np.asarray(self._sign * scores)

    def decision_function(self, X: Any) -> Array:
        """Scores of new samples, positive for ``classes_[1]``; 0 where they are 0 but for rounding.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        array of shape (m,)
        """
        X = self._samples(X)
        return self._scores(self._used, X)

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


@dataclass(kw_only=True, eq=False, repr=False)
class CostsAtUse(BinaryClassifier):
    """A classifier for every pair of costs: which one is used, is said after fitting, or at each call."""

    costs: Any = None

    def set_costs(self, costs: Any = None) -> Self:
        """Use the classifier of other costs, and change the attributes that tell of it.

        Parameters
        ----------
        costs : pair (C_plus, C_minus), optional
            As for the parameter ``costs``.

        Returns
        -------
        Self

        Raises
        ------
        InputError
            If there is no classifier of these costs.
        """
        self._set(costs)
        return self

    def _set(self, costs: Any) -> None:
        """Use the classifier of some costs."""
        raise NotImplementedError

    def _at(self, costs: Any) -> Rule:
        """The classifier of some costs."""
        raise NotImplementedError

    def decision_function(self, X: Any, costs: Any = None) -> Array:
        """Scores of new samples, positive for ``classes_[1]``; 0 where they are 0 but for rounding.

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
        return self._scores(self._used if costs is None else self._at(costs), X)

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


def _is_place(given: Any) -> bool:
    """Whether this is the number that scikit-learn's LabelEncoder makes of one of two labels."""
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and given in (0, 1)


def weights_of(estimator: BinaryClassifier, X: Any, y: Array, sample_weight: Any) -> Array:
    """Weights of the samples, those of their classes included."""
    given = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (given < 0).any():
        i = int(np.argmax(given < 0))
        raise InputError(f"sample_weight must not be negative, got {given[i]} at index {i}")
    minus, plus = class_factors(estimator, y)
    weights = given * np.where(y > 0, plus, minus)
    estimator._require_both(np.unique(y[weights > 0]), "samples of positive weight")
    return np.asarray(weights)


def class_factors(estimator: BinaryClassifier, y: Array) -> tuple[float, float]:
    """Factors of the costs of the negatives and of the positives that ``class_weight`` stands for."""
    classes = estimator._by_sign()
    found = compute_class_weight(estimator.class_weight, classes=classes, y=classes[(y > 0).astype(int)])
    if (found < 0).any():
        raise InputError(f"class_weight must not be negative, got {estimator.class_weight!r}")
    return float(found[0]), float(found[1])
