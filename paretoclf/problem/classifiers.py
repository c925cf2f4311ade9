"""Decision functions: what every solution has, whatever it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Rng, check_rng, keep, real_array
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import best_intercepts, intercept_interval, point_of, sides
from paretoclf.problem.samples import Names, Samples, check_samples


def finite_scores(scores: Array) -> Array:
    """Return scores; InputError where a sum of products passed the largest double: what is left of it has no sign."""
    for i in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
        raise InputError(f"X must have finite scores, got {scores[i]} in row {i}: its products with w are too large")
    return scores


class Rule:
    """A decision function f; predicts +1 exactly where ``f(x) >= 0``, ties at random on request.

    Attributes
    ----------
    b : float
        Intercept used by `decision_function`.
    """

    b: float

    @property
    def b_interval(self) -> tuple[float, float]:
        """All optimal intercepts; the two ends are equal when b is unique."""
        return self.b, self.b

    @property
    def w(self) -> Array:
        """Slope in the features, shape (d,)."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,)."""
        raise NotImplementedError

    def terms(self, X: Any) -> Array:
        """Sums of the absolute terms of which scores are sums, shape (m,): what these are rounded relative to.

        Of a rule whose terms are not known the largest of the scores.
        """
        scores = self.decision_function(X)
        return np.full(scores.shape, np.abs(scores).max(initial=0.0))

    def predict(self, X: Any, *, rng: Rng | None = None) -> Array:
        """Labels -1 and +1 of shape (m,).

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples, as for `decision_function`.
        rng : int or numpy.random.Generator, optional
            Labels samples on the plane, ``f(x) = 0``, +1 or -1 at random with equal chances (Carrizosa &
            Martin-Barragan 2006, section 2). Without it they are labelled +1.

        Raises
        ------
        InputError
            If X does not fit, a sum of products passes the largest double, or rng is neither a seed nor a generator.

        Examples
        --------
        >>> from paretoclf.results import LinearRule
        >>> rule = LinearRule([1.0], 0.0)
        >>> rule.predict([[0.0], [0.0], [0.0], [-1.0]])
        array([ 1.,  1.,  1., -1.])
        >>> rule.predict([[0.0], [0.0], [0.0], [-1.0]], rng=1)
        array([-1.,  1.,  1., -1.])
        """
        scores = self.decision_function(X)
        labels = np.where(scores >= 0, 1.0, -1.0)
        if rng is not None:
            ties = scores == 0
            labels[ties] = check_rng(rng).choice([-1.0, 1.0], size=np.count_nonzero(ties))
        return labels


@dataclass(frozen=True)
class LinearRule(Rule):
    """A hyperplane, ``f(x) = <w, x> + b``.

    Parameters
    ----------
    slope : array of shape (d,)
        w.
    b : float
        Intercept.
    interval : (float, float), optional
        All optimal intercepts, where there are several.
    names : tuple of str, optional
        Names of the features: a frame must have them, in their order.

    Examples
    --------
    >>> from paretoclf.problem.classifiers import LinearRule
    >>> LinearRule([1.0, -1.0], 0.5).predict([[0.0, 0.0], [0.0, 1.0]])
    array([ 1., -1.])
    """

    slope: Array = field(repr=False)
    b: float
    interval: tuple[float, float] | None = field(default=None, repr=False)
    names: Names = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", np.atleast_1d(real_array(self.slope, "slope", copy=True)))
        object.__setattr__(self, "b", float(self.b))

    @property
    def w(self) -> Array:
        """Slope, shape (d,)."""
        return self.slope

    @property
    def b_interval(self) -> tuple[float, float]:
        """All optimal intercepts; the two ends are equal when b is unique."""
        return (self.b, self.b) if self.interval is None else self.interval

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,), for samples of shape (m, d), dense or sparse."""
        samples = self._checked(X)
        with np.errstate(over="ignore", invalid="ignore"):
            products = np.asarray(samples @ self.slope)
        return finite_scores(products) + self.b

    def terms(self, X: Any) -> Array:
        """Sums of the absolute terms of the scores, shape (m,)."""
        sizes = abs(self._checked(X))
        return np.asarray(sizes @ np.abs(self.slope) + abs(self.b))

    def _checked(self, X: Any) -> Samples:
        """Samples that fit."""
        return check_samples(X, n_features=self.slope.size, names=self.names)


@dataclass(frozen=True)
class FeatureRule(Rule):
    """A hyperplane among the features that a Gram makes of samples, ``f(x) = <w, features of x> + b``.

    Parameters
    ----------
    gram : Gram
        What makes the features: of a kernel with ``low_rank``, or of a linear one that measures them from its origin.
    slope : array of shape (k,)
        w, one entry for each feature.
    b_at_origin : float
        Intercept of the features as the Gram measures them; `b` unless the samples lie far from 0.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.problem.classifiers import FeatureRule
    >>> squares = pc.Gram([[1.0], [2.0]], lambda A, B: (A @ B.T) ** 2, low_rank=1)  # its feature is x * x
    >>> FeatureRule(squares, [1.0], -4.0).decision_function([[1.0], [3.0]])
    array([-3.,  5.])
    """

    gram: Gram = field(repr=False)
    slope: Array = field(repr=False)
    b_at_origin: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", real_array(self.slope, "slope", copy=True))

    @property
    def w(self) -> Array:
        """Slope in the features, shape (k,)."""
        return self.slope

    @property
    def b(self) -> float:  # type: ignore[override]  # computed, where the base has a number
        """Intercept."""
        return self.gram.intercept(self.b_at_origin, lambda: self.slope)

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,), for samples as the Gram takes them."""
        features = self.gram.mapped(X)
        with np.errstate(over="ignore", invalid="ignore"):
            products = np.asarray(features @ self.slope)
        return finite_scores(products) + self.b_at_origin

    def terms(self, X: Any) -> Array:
        """Sums of the absolute terms of the scores, shape (m,)."""
        sizes = abs(self.gram.mapped(X))
        return np.asarray(sizes @ np.abs(self.slope) + abs(self.b_at_origin))


class GramRule(Rule):
    """A rule of training samples, ``f(x) = sum_i coef_i k(x_i, x) + b``, whatever its coefficients are made of.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    coef : array of shape (n,)
        Coefficients of the samples, signs included.
    b_at_origin : float
        Intercept of features as the Gram measures them; `b` unless they lie far from 0.
    slope : array of shape (d,) or None
        w, where it was computed apart from the coefficients (a Gram with features).
    """

    gram: Gram
    coef: Array
    b_at_origin: float
    slope: Array | None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(b={self.b!r})"

    @property
    def w(self) -> Array:
        """Slope in the features, shape (d,): of the samples (linear kernel), or those that ``low_rank`` made."""
        return self.gram.quadratic.slope(self.coef) if self.slope is None else self.slope

    @property
    def b(self) -> float:  # type: ignore[override]  # computed, where the base has a number
        """Intercept."""
        return self.gram.intercept(self.b_at_origin, lambda: self.w)

    @property
    def b_interval(self) -> tuple[float, float]:
        """All optimal intercepts; the two ends are equal when b is unique."""
        low, high = self.interval_at_origin
        return self.gram.intercept(low, lambda: self.w), self.gram.intercept(high, lambda: self.w)

    @property
    def interval_at_origin(self) -> tuple[float, float]:
        """All optimal intercepts of features as the Gram measures them."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,).

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            New samples; for a precomputed kernel their values against the training samples, shape (m, n).
        """
        with np.errstate(over="ignore", invalid="ignore"):
            products = gram_scores(self.gram, self.coef, self.slope, 0.0, X)
        return finite_scores(products) + self.b_at_origin

    def terms(self, X: Any) -> Array:
        """Sums of the absolute terms of the scores, shape (m,): coefficients times kernel values, and the intercept."""
        new = abs(self.gram.mapped(X))
        features, sizes = self.gram.features, np.abs(self.coef)
        slopes = sizes if features is None else abs(features).T @ sizes
        return np.asarray(new @ slopes + abs(self.b_at_origin))


@dataclass(frozen=True, repr=False)
class KernelRule(GramRule):
    """``f(x) = sum_i coef_i k(x_i, x) + b``.

    Parameters
    ----------
    gram : Gram
        Training samples and kernel.
    coef : array of shape (n,)
        Coefficients of the samples, signs included.
    b_at_origin : float
        Intercept of features as the Gram measures them; `b` unless they lie far from 0.
    interval : (float, float), optional
        All optimal ones of these, where there are several.
    slope : array of shape (d,), optional
        w, where it was computed apart from the coefficients (a Gram with features).
    """

    gram: Gram = field(repr=False)
    coef: Array = field(repr=False)
    b_at_origin: float
    interval: tuple[float, float] | None = field(default=None, repr=False)
    slope: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        keep(self, "coef", "slope")

    @property
    def interval_at_origin(self) -> tuple[float, float]:
        """All optimal intercepts of features as the Gram measures them."""
        return (self.b_at_origin, self.b_at_origin) if self.interval is None else self.interval


@dataclass(frozen=True, repr=False)
class Classifier(GramRule):
    """The decision function of a 2C-SVM, ``f(x) = sum_i y_i alpha_i k(x_i, x) + b``; +1 exactly where ``f(x) >= 0``.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    y : array of shape (n,)
        Training labels.
    caps : array of shape (n,)
        Upper bounds of the multipliers.
    alpha : array of shape (n,)
        Multipliers.
    b_at_origin : float
        Intercept of features as the Gram measures them; `b` unless they lie far from 0.
    slope : array of shape (d,) or None
        w, where it was computed apart from the multipliers (a Gram with features).
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    caps: Array = field(repr=False)
    alpha: Array = field(repr=False)
    b_at_origin: float
    slope: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        keep(self, "y", "caps", "alpha", "slope")

    @classmethod
    def best(cls, gram: Gram, y: Array, caps: Array, alpha: Array, slope: Array | None = None) -> Classifier:
        """Classifier with the best intercept for a slope: the middle of the optimal ones, or the end of a half-line."""
        scores = gram.quadratic.scores(y * alpha, slope)
        return cls(gram, y, caps, alpha, point_of(best_intercepts(y, caps, scores)), slope)

    @property
    def coef(self) -> Array:  # type: ignore[override]  # computed, where the base has an array
        """``y_i alpha_i``, shape (n,)."""
        return self.y * self.alpha

    @cached_property
    def training_scores(self) -> Array:
        """``w . x_i``, without intercept, shape (n,)."""
        return self.gram.quadratic.scores(self.coef, self.slope)

    @cached_property
    def interval_at_origin(self) -> tuple[float, float]:
        """All optimal intercepts of features as the Gram measures them."""
        b = self.b_at_origin
        left, right = sides(self.y, self.caps, self.alpha, self.training_scores + b)
        at_bounds = np.where(left, self.caps, np.where(right, 0.0, self.alpha))
        lo, hi = intercept_interval(self.y, self.caps, at_bounds, self.training_scores)
        return min(lo, b), max(hi, b)


@dataclass(frozen=True)
class NoRule(Rule):
    """A stand-in for the classifier of a problem that has none. Whatever is asked of it raises, with the reason.

    Parameters
    ----------
    reason : str
        Why there is none.
    """

    reason: str
    b = float("nan")

    @property
    def w(self) -> Array:
        """Raise."""
        raise InputError(self.reason)

    def decision_function(self, X: Any) -> Array:
        """Raise."""
        raise InputError(self.reason)


def named_rule(
    numbers: Mapping[str, Any], variables: Iterable[str], who: str = "", override: bool = False, names: Names = None
) -> Rule:
    """``w . x + b`` from numbers called ``w`` and ``b`` (or no b); else a `NoRule` that says what to name."""
    who, own = who or "the problem", "override classifier(values, numbers)"
    if "w" not in numbers:
        named = f"{who} must name a variable of its primal w (and one b) to have a classifier"
        return NoRule(f"{named}{f', or {own}' if override else ''}: its variables are {', '.join(variables)}")
    w, b = np.squeeze(numbers["w"]), np.squeeze(numbers.get("b", 0.0))
    if w.ndim > 1 or b.ndim > 0:
        name, shape = ("w", w.shape) if w.ndim > 1 else ("b", b.shape)
        wanted = own if override else "have a vector w and a number b to have a classifier"
        return NoRule(f"{who} must {wanted}: its {name} has shape {shape}")
    return LinearRule(w, float(b), names=names)


def gram_scores(gram: Gram, coef: Array, slope: Array | None, b: float, X: Any) -> Array:
    """Scores ``sum_i coef_i k(x_i, x) + b`` of new samples; by w (``slope``, where known) if there are features."""
    scores = gram.scores(X, coef) if slope is None else gram.mapped(X) @ slope
    return np.asarray(scores + b)
