"""Readers of fitted models of scikit-learn: the problem that each solves, its solution, and the rule it stopped at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from paretoclf.checking.estimators import check_linear, is_of, kernel_of, same_vectors, stopped
from paretoclf.checking.fitted_problems import (
    FittedProblem,
    elastic_net,
    logistic_regression,
    multi_task,
    multinomial,
    one_class,
    quantile_regression,
    support_vector_regression,
)
from paretoclf.checking.libsvm import Stop
from paretoclf.checking.rows import Row
from paretoclf.checking.separated_classes import OfClasses, SeparatedClasses, separation
from paretoclf.checking.stopping_rules import GapStop, GradientStop, ViolationStop
from paretoclf.common.checks import Array, Index, check_vector, real_array
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import Precomputed
from paretoclf.problem.samples import Samples, check_samples, dense, far_origin, moved

#: Another reason for a model whose value is off by far.
NO_WEIGHTS = "A model does not keep the weights of its samples: if fit was given sample_weight, give it here, too."

#: Another reason for a model that keeps none of its samples.
OTHER_ROWS = "It may have been fitted on other rows of X (was X scaled since?)."

#: Solvers of `LogisticRegression` that stop at a small gradient.
_SMOOTH = ("lbfgs", "newton-cg", "newton-cholesky")


@dataclass(frozen=True)
class FittedOn:
    """What a model was fitted on: samples, targets, and weights of the samples, all 1 where ``weighted`` is False."""

    X: Any
    y: Any
    weight: Array
    weighted: bool
    kernel: Any = None

    @property
    def hint(self) -> str:
        """Words on what may be missing of a model that keeps its support vectors."""
        return "" if self.weighted else NO_WEIGHTS

    @property
    def hint_without_rows(self) -> str:
        """Words on what may be missing, or be other, of a model that keeps no samples."""
        return hint_of(self.weight if self.weighted else None)

    def samples(self, estimator: Any) -> Samples:
        """The samples, with as many features as the model has."""
        X = check_samples(self.X)
        wanted = getattr(estimator, "n_features_in_", X.shape[1])
        if X.shape[1] != wanted:
            name = type(estimator).__name__
            raise InputError(f"X must be what {name} was fitted on, {wanted} features, got {X.shape[1]}")
        return X


def hint_of(sample_weight: Any) -> str:
    """Return what may be wrong of a model that keeps no samples, where a point is off by far.

    Examples
    --------
    >>> from paretoclf.checking.fitted_readers import hint_of
    >>> hint_of([1.0, 2.0])
    'It may have been fitted on other rows of X (was X scaled since?).'
    """
    return OTHER_ROWS if sample_weight is not None else f"{NO_WEIGHTS} {OTHER_ROWS}"


def _near(X: Samples, intercept: bool) -> tuple[Samples, Array]:
    """Samples measured from a point amid them, and that point: an intercept is free, and far samples lose digits."""
    origin = far_origin(X) if intercept else None
    return (X, np.zeros(X.shape[1])) if origin is None else (moved(X, origin), origin)


def _least_squares(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """The lasso and the elastic net: one problem for each target."""
    check_linear(estimator, data.kernel)
    X = data.samples(estimator)
    l1_ratio = 1.0 if is_of(estimator, "Lasso") or is_of(estimator, "LassoCV") else _chosen(estimator, "l1_ratio")
    mixture = _chosen(estimator, "alpha"), float(l1_ratio)
    coef = np.atleast_2d(dense(estimator.coef_))
    targets = targets_of(data.y, X.shape[0], coef.shape[0])
    intercepts = np.broadcast_to(np.ravel(estimator.intercept_), coef.shape[:1])
    intercept = bool(estimator.fit_intercept)
    for k, y in enumerate(targets.T):
        given = Squares(X, y, data.weight, intercept, bool(estimator.positive))
        point = coef[k], float(intercepts[k]), ({"target": k} if len(coef) > 1 else {})
        yield given.row(mixture, point, float(estimator.tol), data.hint_without_rows)


@dataclass(frozen=True)
class Squares:
    """Data of a lasso or an elastic net of one target."""

    X: Samples
    y: Array
    weight: Array
    intercept: bool
    positive: bool

    def row(
        self,
        mixture: tuple[float, float],
        point: tuple[Array, float, Mapping[str, float]],
        tol: float,
        hint: str,
    ) -> tuple[FittedProblem, Row]:
        """The problem at one alpha, and a solution of it: coefficients, intercept, and what the table says besides."""
        w, b, said = point
        X, origin = _near(self.X, self.intercept)
        shares = self.weight / self.weight.sum()
        at_origin = b + float(w @ origin)
        r = self.y - X @ w - at_origin
        problem = elastic_net(X, self.y, shares, mixture, intercept=self.intercept, positive=self.positive)
        numbers = {"w": w, "b": at_origin, "r": r, "residuals": -shares * r}
        centred = self.y - (shares @ self.y if self.intercept else 0.0)
        stop = GapStop(tol, float(shares @ centred**2))
        values = {**said, "alpha": mixture[0], "l1_ratio": mixture[1]}
        return FittedProblem(problem, hint=hint), Row(values, numbers, stop)


def targets_of(y: Any, n: int, number: int) -> Array:
    """Targets as columns."""
    found = real_array(y, "y")
    found = found[:, None] if found.ndim == 1 else found
    wanted = (n,) if number == 1 else (n, number)
    if found.shape != (n, number) or not np.isfinite(found).all():
        raise InputError(f"y must hold finite targets of shape {wanted}, got shape {np.shape(y)}")
    return found


def _chosen(estimator: Any, name: str) -> float:
    """The parameter that a model was fitted with, of one with folds that which they chose; 0 for None."""
    chosen = getattr(estimator, f"{name}_", None)
    value = getattr(estimator, name, None) if chosen is None else chosen
    first = None if value is None else np.ravel(value)[0]
    return 0.0 if first is None else float(first)


def _of_tasks(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """The lasso and the elastic net of several targets together."""
    check_linear(estimator, data.kernel)
    X = data.samples(estimator)
    coef = np.atleast_2d(estimator.coef_)
    Y = targets_of(data.y, X.shape[0], coef.shape[0])
    if data.weighted:
        raise InputError(f"sample_weight must be left out: {type(estimator).__name__} has none")
    l1_ratio = 1.0 if "Lasso" in type(estimator).__name__ else _chosen(estimator, "l1_ratio")
    mixture = _chosen(estimator, "alpha"), l1_ratio
    intercept = bool(estimator.fit_intercept)
    point = coef, np.broadcast_to(np.ravel(estimator.intercept_), (Y.shape[1],))
    yield tasks_row(X, Y, mixture, point, (intercept, float(estimator.tol)))


def tasks_row(
    X: Samples, Y: Array, mixture: tuple[float, float], point: tuple[Array, Array], how: tuple[bool, float]
) -> tuple[FittedProblem, Row]:
    """The problem of several targets at one alpha, and a solution of it."""
    coef, b = point
    intercept, tol = how
    X, origin = _near(X, intercept)
    at_origin = b + coef @ origin
    R = Y - X @ coef.T - at_origin
    problem = multi_task(X, Y, mixture, intercept=intercept)
    numbers = {"W": coef.T, "b": at_origin, "R": R, "residuals": -R / Y.shape[0]}
    centred = Y - Y.mean(axis=0) if intercept else Y
    stop = GapStop(tol, float((centred**2).sum() / Y.shape[0]))
    return FittedProblem(problem, hint=OTHER_ROWS), Row({"alpha": mixture[0], "l1_ratio": mixture[1]}, numbers, stop)


def _quantile(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """Quantile regression."""
    check_linear(estimator, data.kernel)
    used = data.weight > 0.0
    X, y = data.samples(estimator)[used], check_vector(data.y, used.size, "y")[used]
    shares = data.weight[used] / data.weight.sum()
    quantile, alpha, intercept = float(estimator.quantile), float(estimator.alpha), bool(estimator.fit_intercept)
    near, origin = _near(X, intercept)
    w = np.asarray(estimator.coef_)
    b = float(estimator.intercept_) + float(w @ origin)
    r = y - near @ w - b
    problem = quantile_regression(near, y, shares, quantile, alpha, intercept=intercept)
    numbers = {"w": w, "b": b, "u": np.maximum(r, 0.0), "v": np.maximum(-r, 0.0)}
    yield FittedProblem(problem, hint=data.hint_without_rows), Row({"quantile": quantile, "alpha": alpha}, numbers)


def _coefficients(estimator: Any, gram: Gram) -> Array:
    """Coefficients of all samples; the support vectors must be the samples that they are said to be."""
    name, n = type(estimator).__name__, gram.n
    if estimator.shape_fit_[0] != n:
        raise InputError(f"X must be what {name} was fitted on, {estimator.shape_fit_[0]} samples, got {n}")
    support = estimator.support_
    keeps_vectors = not (isinstance(gram.kernel, Precomputed) or callable(estimator.kernel))
    if keeps_vectors and not same_vectors(dense(estimator.support_vectors_), dense(gram.X[support])):
        raise InputError(
            f"X must be what {name} was fitted on: its support vectors are not the rows of X (was X scaled since?)"
        )
    coef = np.zeros(n)
    coef[support] = np.ravel(dense(estimator.dual_coef_))
    return coef


def _weights_of_0(estimator: Any, data: FittedOn) -> None:
    """InputError where samples have weight 0, which LIBSVM does not count."""
    if not data.weight.all():
        raise InputError(
            f"sample_weight must be positive: LIBSVM leaves out samples of weight 0, so fit {type(estimator).__name__} "
            "without them, and give the others"
        )


def _svr(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """Support vector regression."""
    _weights_of_0(estimator, data)
    gram = Gram(data.samples(estimator), kernel_of(estimator, data.kernel), free_origin=True)
    y = check_vector(data.y, gram.n, "y")
    c = _coefficients(estimator, gram)
    epsilon, caps = float(estimator.epsilon), float(estimator.C) * data.weight
    w = np.asarray(gram.factor.T @ c)
    b = gram.at_origin(float(estimator.intercept_[0]), lambda: w)
    r = y - gram.factor @ w - b
    above, below = r - epsilon, -r - epsilon
    numbers = {"w": w, "b": b, "xi": np.maximum(0.0, np.maximum(above, below))}
    numbers |= {"above the tube": np.maximum(c, 0.0), "below the tube": np.maximum(-c, 0.0), "slack": caps - np.abs(c)}
    violated = [above[c < caps], -above[c > 0.0], below[c > -caps], -below[c < 0.0]]
    stop = _violation_stop(estimator, violated, gram, c)
    problem = support_vector_regression(gram.factor, y, caps, epsilon)
    stated = FittedProblem(problem, _kernel_rounding(gram, c), data.hint)
    yield stated, Row({"C": float(estimator.C), "epsilon": epsilon}, numbers, stop)


def _one_class(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """The machine of one class; its intercept is minus rho."""
    _weights_of_0(estimator, data)
    gram = Gram(data.samples(estimator), kernel_of(estimator, data.kernel))
    c = _coefficients(estimator, gram)
    w = np.asarray(gram.factor.T @ c)
    rho = -float(estimator.intercept_[0])
    excess = gram.factor @ w - rho
    numbers = {"w": w, "rho": rho, "xi": np.maximum(0.0, -excess), "margin": c, "slack": data.weight - c}
    violated = [excess[c > 0.0], -excess[c < data.weight]]
    stop = _violation_stop(estimator, violated, gram, c)
    problem = one_class(gram.factor, data.weight, float(estimator.nu))
    stated = FittedProblem(problem, _kernel_rounding(gram, c), data.hint)
    yield stated, Row({"nu": float(estimator.nu)}, numbers, stop)


def _violation_stop(estimator: Any, violated: list[Array], gram: Gram, coef: Array) -> ViolationStop:
    """The rule of LIBSVM, with the largest of these violations."""
    largest = np.concatenate(violated).max(initial=0.0)
    return ViolationStop(Stop(stopped(estimator)), float(largest), gram, coef)


def _kernel_rounding(gram: Gram, coef: Array) -> float:
    """Bound on what rounding of kernel values does to the dual value."""
    return 0.0 if gram.rounding is None else float(0.5 * (gram.rounding @ np.abs(coef)) ** 2)


def _logistic(estimator: Any, data: FittedOn) -> Iterator[tuple[FittedProblem, Row]]:
    """Logistic regression of two classes or more, whatever its penalty is."""
    check_linear(estimator, data.kernel)
    _refuse_other_logistic(estimator)
    X, classes = data.samples(estimator), np.asarray(estimator.classes_)
    which = _which(data.y, classes, type(estimator).__name__)
    if classes.size > 2 and np.unique(which).size < classes.size:
        raise InputError(f"y must have samples of all classes of the model, {classes.tolist()!r:.100}")
    C, mixture = _penalty(estimator)
    factor = 1.0 if np.isinf(C) else C
    costs: Array = factor * data.weight * _class_weights(estimator, classes, which, data.weight)[which]
    coef, b = np.asarray(estimator.coef_, dtype=np.float64), np.ravel(estimator.intercept_).astype(np.float64)
    intercept = bool(estimator.fit_intercept)
    values = {"C": C, "l1_ratio": mixture[1]}
    if estimator.solver == "liblinear" and intercept:  # the weight of a constant feature
        scaling = float(estimator.intercept_scaling)
        constant = np.full((X.shape[0], 1), scaling)
        X, coef, intercept = np.hstack([dense(X), constant]), np.column_stack([coef, b / scaling]), False
    stop = None
    if estimator.solver in _SMOOTH:
        largest = _largest_derivative(X, which, costs, (coef, b), (mixture[0], intercept))
        stop = GradientStop(float(estimator.tol), largest / float(costs.sum()))
    state: Callable[[Any], FittedProblem] = partial(FittedProblem, hint=data.hint_without_rows)
    if not mixture[0]:
        used = costs > 0.0
        found = separation(OfClasses(X[used], which[used], classes.size, intercept), coef, b)
        if found is not None:
            state, stop = partial(SeparatedClasses, separation=found), None
    X, origin = _near(X, intercept)
    b = b + coef @ origin
    if classes.size == 2:
        signs = np.where(which > 0, 1.0, -1.0)
        problem = logistic_regression(X, signs, costs, mixture, intercept=intercept)
        yield state(problem), Row(values, {"w": coef[0], "b": float(b[0])}, stop)
        return
    if not mixture[0]:
        coef = coef - coef.mean(axis=0)
    problem = multinomial(X, which, costs, mixture, intercept=intercept)
    yield state(problem), Row(values, {"W": coef, "b": b - b.mean()}, stop)


def _largest_derivative(
    X: Samples, which: Index, costs: Array, point: tuple[Array, Array], how: tuple[float, bool]
) -> float:
    """The largest derivative of the objective: losses with these costs, and half the squared slopes if so."""
    coef, b = point
    ridge, intercept = how
    scores = np.asarray(X @ coef.T + b)
    if scores.shape[1] == 1:
        off = costs[:, None] * (expit(scores) - which[:, None])
    else:
        off = costs[:, None] * (softmax(scores, axis=1) - np.eye(scores.shape[1])[which])
    of_slopes = np.asarray(off.T @ X) + ridge * coef
    of_intercepts = off.sum(axis=0) if intercept else np.zeros(1)
    return float(max(np.abs(of_slopes).max(), np.abs(of_intercepts).max()))


def _refuse_other_logistic(estimator: Any) -> None:
    """InputError where coefficients are no solution of one problem: means over folds, or one class against others."""
    if not getattr(estimator, "refit", True):
        raise InputError(
            "LogisticRegressionCV must have refit=True: its coefficients are means over folds, which solve no problem"
        )
    if getattr(estimator, "multi_class", "deprecated") not in ("deprecated", "auto"):
        raise InputError(
            f"LogisticRegression must have multi_class left out, got {estimator.multi_class!r}: judge a model of each "
            "class alone, as verify(X, y == label, LogisticRegression().fit(X, y == label))"
        )


def _which(y: Any, classes: Any, name: str) -> Index:
    """The place of each label among the classes of a model."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not np.isin(labels, classes).all():
        shown = ", ".join(map(repr, classes[:5].tolist()))
        raise InputError(f"y must hold the classes of {name}, {shown}")
    return np.asarray(np.searchsorted(classes, labels))


def _class_weights(estimator: Any, classes: Any, which: Index, weight: Array) -> Array:
    """Factors of the costs of the classes, in their order."""
    given = estimator.class_weight
    if given is None:
        return np.ones(classes.size)
    if isinstance(given, str):  # "balanced"
        counts = np.bincount(which, weights=weight, minlength=classes.size)
        return np.asarray(weight.sum() / (classes.size * counts))
    return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])


def _penalty(estimator: Any) -> tuple[float, tuple[float, float]]:
    """C, and the mixture of the penalty: its weight, 1 or 0, and the share of absolute values."""
    kind = getattr(estimator, "penalty", "deprecated")
    ratio = _chosen(estimator, "l1_ratio")
    C = _chosen(estimator, "C")
    if kind in ("l1", "l2"):
        ratio = float(kind == "l1")
    if kind is None or np.isinf(C):
        return np.inf, (0.0, 0.0)
    return C, (1.0, ratio)


_Reader = Callable[[Any, FittedOn], Iterator[tuple[FittedProblem, Row]]]

#: Readers by class; of those that are derived from one another the special one comes first.
READERS: dict[str, _Reader] = {
    "MultiTaskLasso": _of_tasks,
    "MultiTaskElasticNet": _of_tasks,
    "MultiTaskElasticNetCV": _of_tasks,
    "MultiTaskLassoCV": _of_tasks,
    "Lasso": _least_squares,
    "LassoCV": _least_squares,
    "ElasticNet": _least_squares,
    "ElasticNetCV": _least_squares,
    "QuantileRegressor": _quantile,
    "SVR": _svr,
    "OneClassSVM": _one_class,
    "LogisticRegressionCV": _logistic,
    "LogisticRegression": _logistic,
}
