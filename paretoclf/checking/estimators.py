"""Fitted machines of scikit-learn, as rows of the problem that each of them solves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.checking.labels import signs_of
from paretoclf.checking.libsvm import Stop
from paretoclf.checking.machines import ThroughTheOrigin
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, check_weights, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import LOOSE
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from paretoclf.problem.kernels import RBF, Linear, Polynomial, Precomputed, as_kernel
from paretoclf.problem.samples import check_samples, dense

#: Features of a support vector that differ from those of its sample by more than this share: other data.
SAME = 1e-12


def classifier_problem(
    estimator: Any, X: Any, y: Any, kernel: Any = None, sample_weight: Any = None
) -> tuple[Formulation, list[Row]]:
    """Return the problem that a fitted classifier solves, and its solution.

    Parameters
    ----------
    estimator : SVC, NuSVC, LinearSVC or SGDClassifier
        Fitted.
    X, y
        Samples and labels that it was fitted on; y with its classes, or with +1 for the second of them,
        ``classes_[1]``.
    kernel : optional
        Kernel, to be checked against the estimator's own; by default that is taken.
    sample_weight : array of shape (n,), optional
        Weights that ``fit`` was given; an estimator does not keep them.

    Raises
    ------
    InputError
        If it was fitted on other data or with another kernel, or solves another problem.
    """
    name = type(estimator).__name__
    classes = estimator.classes_
    if np.size(classes) != 2:
        raise InputError(f"{name} must be fitted on two classes, got {np.size(classes)}")
    read = next(reader for kind, reader in CLASSIFIERS.items() if is_of(estimator, kind))
    labels = signs_of(y, classes, name)
    return read(estimator, X, labels, kernel, check_weights(sample_weight, labels))


def stopped(estimator: Any) -> float:
    """Violation of a margin at which LIBSVM stopped: its tol; at more than LOOSE nothing counts as optimal."""
    return min(float(estimator.tol), LOOSE)


def is_of(estimator: Any, name: str) -> bool:
    """Whether it is of a class of scikit-learn, or of one that is derived from it."""
    return any(cls.__name__ == name and cls.__module__.startswith("sklearn.") for cls in type(estimator).__mro__)


def class_costs(estimator: Any, y: Array, weight: Array | float = 1.0) -> tuple[float, float]:
    """Factors of the costs of the positive and of the negative class that ``class_weight`` stands for.

    "balanced" counts the samples of a class, or adds up their weights where they are given.
    """
    given = estimator.class_weight
    if given is None:
        return 1.0, 1.0
    if isinstance(given, str):  # "balanced"
        counted = weight * np.ones(y.size)
        half = 0.5 * counted.sum()
        return float(half / counted[y > 0].sum()), float(half / counted[y < 0].sum())
    negative, positive = np.asarray(estimator.classes_).tolist()
    return float(given.get(positive, 1.0)), float(given.get(negative, 1.0))


def kernel_of(estimator: Any, kernel: Any) -> Any:
    """The kernel of an SVC, which one that is given must equal."""
    name, gamma = estimator.kernel, float(getattr(estimator, "_gamma", 0.0))
    own: Any
    if callable(name):
        own = as_kernel(name)
    elif name == "linear":
        own = Linear()
    elif name == "rbf":
        own = RBF(float(np.sqrt(0.5 / gamma)))
    elif name == "poly":
        own = Polynomial(estimator.degree, gamma, estimator.coef0)
    elif name == "precomputed":
        own = Precomputed()
    else:
        raise InputError(f"kernel {name!r} is not positive semidefinite: nothing can be proved of it")
    check_kernel(kernel, own, 1e-12)
    return own


def check_kernel(kernel: Any, own: Any, rtol: float) -> None:
    """InputError unless a kernel that is given is that of a model, up to the rounding of its parameters."""
    given = own if kernel is None else as_kernel(kernel)
    if given == own:
        return
    mine = list(vars(given).values())
    theirs = list(vars(own).values())
    numbers = all(isinstance(value, float | int) for value in (*mine, *theirs))
    if type(given) is not type(own) or not numbers or not np.allclose(mine, theirs, rtol=rtol, atol=0.0):
        raise InputError(f"kernel must be that of the model, {own}, or left out, got {given}")


def _multipliers(estimator: Any, formulation: Any, weight: Array) -> Array:
    """Multipliers y * dual_coef_ of all samples; the support vectors must be the samples that they are said to be.

    Samples of weight 0 are not counted in ``support_``.
    """
    name, y, n = type(estimator).__name__, formulation.y, formulation.gram.n
    if estimator.shape_fit_[0] != n:
        raise InputError(
            f"X must be what {name} was fitted on, {estimator.shape_fit_[0]} samples, got {n}; those of weight 0 "
            "belong to them, and sample_weight says which they are"
        )
    used = np.flatnonzero(weight)
    support = used[np.minimum(estimator.support_, used.size - 1)]  # if there are fewer, they are not the same
    keeps_vectors = not (isinstance(formulation.kernel, Precomputed) or callable(estimator.kernel))
    if keeps_vectors and not same_vectors(dense(estimator.support_vectors_), dense(formulation.X[support])):
        raise InputError(
            f"X must be what {name} was fitted on: its support vectors are not the rows of X (was X scaled since? "
            "Or were there samples of weight 0, which LIBSVM does not count? Then give sample_weight)"
        )
    coef = np.asarray(real_array(dense(estimator.dual_coef_), "dual_coef_")).ravel()
    alpha = np.zeros(n)
    alpha[support] = y[support] * coef
    if alpha.min() < 0 and isinstance(formulation, TwoNuSVM) and (alpha <= 0).all():
        raise InputError(
            f"{name} must have a positive margin: at nu = {estimator.nu:g} the reduced hulls meet, and w = 0"
        )
    if alpha.min() < 0:
        _, positive = np.asarray(estimator.classes_).tolist()
        sample = int(np.argmin(alpha))
        hint = "" if keeps_vectors or not weight.all() else ", or some had weight 0: give sample_weight"
        raise InputError(
            f"y must be what {name} was fitted on, +1 for its class {positive!r}: sample {sample} has another label "
            f"there{hint}"
        )
    return alpha


def same_vectors(theirs: Array, mine: Array) -> bool:
    """Whether support vectors are samples, up to rounding."""
    if theirs.shape != mine.shape:
        return False
    return bool((np.abs(theirs - mine) <= SAME * (1.0 + np.abs(mine))).all())


def _svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    """The 2C-SVM of an SVC."""
    formulation = TwoCSVM(X, y, kernel_of(estimator, kernel), weight)
    alpha = _multipliers(estimator, formulation, weight)
    plus, minus = class_costs(estimator, y)
    values = {"C_plus": estimator.C * plus, "C_minus": estimator.C * minus}
    numbers = {"alpha": alpha, "b": float(estimator.intercept_[0])}
    return formulation, [Row(values, numbers, Stop(stopped(estimator)))]


def _nu_svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    """The 2nu-SVM of a NuSVC: LIBSVM divides its solution by the margin, and the sum of its multipliers has it."""
    formulation = TwoNuSVM(X, y, kernel_of(estimator, kernel))
    found = _multipliers(estimator, formulation, weight), float(estimator.intercept_[0])
    return of_nu(estimator.nu, formulation, found, weight, stopped(estimator))


def of_nu(
    nu: float, formulation: TwoNuSVM, found: tuple[Array, float], weight: Array, tol: float
) -> tuple[Formulation, list[Row]]:
    """The 2nu-SVM of a nu-SVC and its row, from multipliers and intercept as LIBSVM returns them, over the margin.

    LIBSVM stopped at ``tol`` before it divided.
    """
    given, b = found
    y = formulation.y
    used = np.flatnonzero(weight)
    note = _numbered(weight)
    if note:  # a 2nu-SVM has no weights
        both = np.ix_(used, used) if isinstance(formulation.kernel, Precomputed) else used
        formulation = TwoNuSVM(formulation.X[both], y[used], formulation.kernel)
        given, weight, y = given[used], weight[used], y[used]
    if any(np.unique(weight[side]).size > 1 for side in (y > 0, y < 0)):
        raise InputError("sample_weight must be one number for each class, or 0: a 2nu-SVM has one cap for each")
    total = float(given.sum())
    if total <= 0:
        raise InputError("the model has no support vectors")
    plus = float(weight[y > 0][0])
    minus = float(weight[y < 0][0])
    caps = 1.0 / (y.size * (plus + minus))  # from LIBSVM's weights as caps to gamma / n and (1 - gamma) / n
    ours = nu * float(weight.sum()) * caps
    margin = ours / total
    values = {"nu": ours, "asymmetry": plus / (plus + minus)}
    numbers = {"alpha": given * margin, "b": b * margin, "rho": margin}
    return formulation, [Row(values, numbers, Stop(tol, caps), note)]


def _numbered(weight: Array) -> str:
    """Note on the numbers of samples where those of weight 0 are left out; an empty text where there are none."""
    used = np.count_nonzero(weight)
    return "" if used == weight.size else f"Samples are numbered among the {used} of positive weight."


def _linear(estimator: Any, X: Any, y: Array) -> tuple[Array, float]:
    """Slope and intercept of a linear estimator."""
    w = np.ravel(dense(estimator.coef_)).astype(np.float64)
    if w.size != np.shape(X)[1]:
        raise InputError(
            f"X must be what {type(estimator).__name__} was fitted on, {w.size} features, got {np.shape(X)[1]}"
        )
    return w, float(np.ravel(estimator.intercept_)[0])


def _linear_svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    """The machine without a free intercept of a LinearSVC."""
    check_linear(estimator, kernel)
    if estimator.penalty != "l2":
        raise InputError(f"LinearSVC must have penalty='l2', got {estimator.penalty!r}")
    w, b = _linear(estimator, X, y)
    bias = float(estimator.intercept_scaling) if estimator.fit_intercept else 0.0
    plus, minus = class_costs(estimator, y, weight)  # it weighs the samples that it counts; SVC does not
    values = {"C_plus": estimator.C * plus, "C_minus": estimator.C * minus}
    return through_the_origin(X, y, weight, w, b, values, squared=estimator.loss == "squared_hinge", bias=bias)


def through_the_origin(
    X: Any, y: Array, weight: Array, w: Array, b: float, values: dict[str, float], *, squared: bool, bias: float
) -> tuple[Formulation, list[Row]]:
    """The problem that LIBLINEAR solves and its row, from a slope and the intercept of a constant feature."""
    X, y, weight, note = _used(X, y, weight)
    made = ThroughTheOrigin(X, y, weight, squared=squared, bias=bias)
    return made, [Row(values, made.numbers(w, b if bias else 0.0), note=note)]


def _used(X: Any, y: Array, weight: Array) -> tuple[Any, Array, Array, str]:
    """Samples of positive weight with labels and weights, and a note where there are others."""
    note = _numbered(weight)
    if not note:
        return X, y, weight, ""
    used = weight > 0.0
    return check_samples(X)[used], y[used], weight[used], note


def _sgd(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    r"""The problem of an SGDClassifier, whose risk is :math:`\frac1n\sum_is_ic_i\phi_i+\frac\alpha2\|w\|^2`.

    Its costs are 1 over n alpha.
    """
    check_linear(estimator, kernel)
    if estimator.penalty != "l2":
        raise InputError(f"SGDClassifier must have penalty='l2', got {estimator.penalty!r}")
    if estimator.loss not in ("hinge", "squared_hinge", "log_loss"):
        raise InputError(f"SGDClassifier must have loss hinge, squared_hinge or log_loss, got {estimator.loss!r}")
    w, b = _linear(estimator, X, y)
    cost = 1.0 / (y.size * estimator.alpha)
    plus, minus = (cost * factor for factor in class_costs(estimator, y))
    values = {"C_plus": plus, "C_minus": minus}
    if not estimator.fit_intercept and estimator.loss != "log_loss":
        return through_the_origin(X, y, weight, w, b, values, squared=estimator.loss == "squared_hinge", bias=0.0)
    if estimator.loss == "hinge":
        return TwoCSVM(X, y, None, weight), [Row(values, {"w": w, "b": b})]
    if not estimator.fit_intercept:
        raise InputError("SGDClassifier must have fit_intercept=True with loss='log_loss'")
    X, y, weight, note = _used(X, y, weight)
    if (weight != 1.0).any():
        raise InputError(f"sample_weight must be left out for loss={estimator.loss!r}, or hold 0 and 1")
    if estimator.loss == "squared_hinge":  # half of ours, at theta = 1
        doubled = {name: 2.0 * value for name, value in values.items()}
        return BiobjectiveMargin(X, y), [Row({"theta": 1.0, **doubled}, {"w": w, "b": b}, note=note)]
    return SurrogateRisk(X, y, loss="logistic"), [Row({**values, "ridge": 1.0}, {"w": w, "b": b}, note=note)]


def check_linear(estimator: Any, kernel: Any) -> None:
    """InputError where another kernel than the linear one is given."""
    if kernel is not None and not isinstance(as_kernel(kernel), Linear):
        raise InputError(f"kernel must be left out: {type(estimator).__name__} is linear, got {kernel!r}")


_Reader = Callable[..., tuple[Formulation, list[Row]]]
CLASSIFIERS: dict[str, _Reader] = {"SVC": _svc, "NuSVC": _nu_svc, "LinearSVC": _linear_svc, "SGDClassifier": _sgd}
