"""What each fitted model of scikit-learn minimises, in words; `paretoclf.checking.fitted_problems` has the formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paretoclf.checking.estimators import is_of

#: Losses of classifiers, by their names; f is w.x + b.
_LOSSES = {"hinge": "hinge losses", "squared_hinge": "squared hinge losses", "log_loss": "logistic losses"}

#: What is said of the intercept b.
FREE, NONE = "the intercept is free", "there is no intercept"


def objective_of(model: Any, values: Mapping[str, Any], *, weighted: bool) -> str:
    """Return the objective that a fitted model is judged by, in words.

    Parameters
    ----------
    model : estimator
        A fitted one that is read here.
    values : mapping of str to float
        Its parameters, as the report has them.
    weighted : bool
        Whether sample_weight was given.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from paretoclf.checking.fitted_objectives import objective_of
    >>> objective_of(LinearSVC(loss="hinge"), {"C_plus": 1.0, "C_minus": 1.0}, weighted=False)
    '|w|^2/2 + b^2/2 + C sum of hinge losses (the intercept is penalised; in SVC it is free: another optimum)'
    """
    said = next(words(model, values) for kind, words in _WORDS.items() if is_of(model, kind))
    of_classes = getattr(model, "class_weight", None) is not None and not is_of(model, "NuSVC")  # which ignores them
    weights = ["sample_weight"] * weighted + ["class_weight"] * of_classes
    return f"{said}, losses weighted by {' and '.join(weights)}" if weights else said


def of_squares(mixture: Mapping[str, float], *, positive: bool, intercept: bool = False) -> str:
    """Return the objective of a lasso or an elastic net in words; paths of functions have no intercept.

    Examples
    --------
    >>> from paretoclf.checking.fitted_objectives import of_squares
    >>> of_squares({"l1_ratio": 1.0}, positive=True)
    'mean of r^2/2 + alpha |w|_1 over w >= 0, r = y - X w (there is no intercept)'
    """
    over = "w >= 0" if positive else "w of any sign"
    return f"mean of r^2/2 + {_mixed('alpha', mixture)} over {over}, {_residuals(intercept)}"


def of_tasks(mixture: Mapping[str, float], *, intercept: bool = False) -> str:
    """Return the objective of a lasso or an elastic net of several targets together in words.

    Examples
    --------
    >>> from paretoclf.checking.fitted_objectives import of_tasks
    >>> of_tasks({"l1_ratio": 1.0})
    'mean of |r|^2/2 + alpha sum of |w_j|, w_j the coefficients of feature j, r = y - X w (there is no intercept)'
    """
    penalty = _mixed("alpha", mixture).replace("|w|_1", "sum of |w_j|")
    return f"mean of |r|^2/2 + {penalty}, w_j the coefficients of feature j, {_residuals(intercept)}"


def _mixed(factor: str, values: Mapping[str, float]) -> str:
    """The penalty of coefficients, with its factor."""
    ratio = values["l1_ratio"]
    if ratio in (0.0, 1.0):
        return f"{factor} |w|_1".strip() if ratio else f"{factor} |w|^2/2".strip()
    both = f"{ratio:g} |w|_1 + {(1.0 - ratio) / 2.0:g} |w|^2"
    return f"{factor} ({both})" if factor else both


def _residuals(intercept: bool) -> str:
    """Residuals, and whether there is an intercept."""
    return f"r = y - b - X w ({FREE})" if intercept else f"r = y - X w ({NONE})"


def _svc(model: Any, values: Mapping[str, Any]) -> str:
    """The 2C-SVM."""
    return f"|w|^2/2 + C sum of hinge losses ({FREE})"


def _nu_svc(model: Any, values: Mapping[str, Any]) -> str:
    """The 2nu-SVM, in the table's parameters."""
    return (
        "|w|^2/2 - nu rho + sum of c max(0, rho - y f), c = asymmetry/n of positive and (1 - asymmetry)/n of negative "
        f"samples ({FREE})"
    )


def _linear_svc(model: Any, values: Mapping[str, Any]) -> str:
    """The machine whose intercept is the weight of a constant feature, or none."""
    losses = f"C sum of {_LOSSES[model.loss]}"
    if not model.fit_intercept:
        return f"|w|^2/2 + {losses} ({NONE})"
    constant = _over("b", model.intercept_scaling)
    return f"|w|^2/2 + {constant}^2/2 + {losses} (the intercept is penalised; in SVC it is free: another optimum)"


def _over(name: str, scaling: float) -> str:
    """A number over the value of the constant feature that it belongs to."""
    return name if scaling == 1.0 else f"({name}/{scaling:g})"


def _sgd(model: Any, values: Mapping[str, Any]) -> str:
    """The regularised risk, as scikit-learn states it."""
    intercept = FREE if model.fit_intercept else NONE
    return f"alpha |w|^2/2 + sum of {_LOSSES[model.loss]} / n ({intercept})"


def _least_squares(model: Any, values: Mapping[str, Any]) -> str:
    """The lasso and the elastic net."""
    return of_squares(values, positive=model.positive, intercept=model.fit_intercept)


def _of_tasks(model: Any, values: Mapping[str, Any]) -> str:
    """The lasso and the elastic net of several targets together."""
    return of_tasks(values, intercept=model.fit_intercept)


def _quantile(model: Any, values: Mapping[str, Any]) -> str:
    """Quantile regression."""
    return f"mean of max(q r, (q - 1) r) + alpha |w|_1, q the quantile, {_residuals(model.fit_intercept)}"


def _svr(model: Any, values: Mapping[str, Any]) -> str:
    """Support vector regression."""
    return f"|w|^2/2 + C sum of max(0, |r| - epsilon), r = y - f ({FREE})"


def _one_class(model: Any, values: Mapping[str, Any]) -> str:
    """The machine of one class."""
    return "|w|^2/2 + sum of (max(0, rho - w.x) - nu rho)"


def _logistic(model: Any, values: Mapping[str, Any]) -> str:
    """Logistic regression of two classes or more."""
    free = FREE if model.fit_intercept else NONE
    if np.isinf(values["C"]):
        return f"sum of logistic losses ({free})"
    penalty = _mixed("", values)
    if model.solver == "liblinear" and model.fit_intercept:
        b = _over("b", model.intercept_scaling)
        penalty += f" + {f'|{b}|' if values['l1_ratio'] else f'{b}^2/2'}"
        free = "the intercept is penalised; with other solvers it is free: another optimum"
    return f"{penalty} + C sum of logistic losses ({free})"


#: Words by class; of those that are derived from one another the special one comes first.
_WORDS: dict[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "SVC": _svc,
    "NuSVC": _nu_svc,
    "LinearSVC": _linear_svc,
    "SGDClassifier": _sgd,
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
    "LogisticRegression": _logistic,
}
