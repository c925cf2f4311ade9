"""Fitted machines of scikit-learn, as rows of the problem that each of them solves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.checking.elsewhere import is_estimator as is_estimator
from paretoclf.checking.elsewhere import judged_by
from paretoclf.checking.labels import signs_of
from paretoclf.checking.machines import ThroughTheOrigin
from paretoclf.checking.rows import Row, Stop
from paretoclf.common.checks import Array, check_weights, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from paretoclf.problem.kernels import RBF, Linear, Polynomial, Precomputed, as_kernel
from paretoclf.problem.samples import check_samples, dense

#: Features of a support vector that differ from those of its sample by more than this share: other data.
SAME = 1e-12


def problem_of(
    estimator: Any, X: Any, y: Any, kernel: Any = None, sample_weight: Any = None
) -> tuple[Formulation, list[Row]]:
    """Return the problem that a fitted estimator solves, and its solution.

    Parameters
    ----------
    estimator : SVC, NuSVC, LinearSVC or SGDClassifier
        Fitted; or a Pipeline, whose last step is judged on X as that step saw it.
    X, y
        What it was fitted on; y with its classes, or with +1 for the second of them, ``classes_[1]``.
    kernel : optional
        To be checked against the estimator's own; by default that is taken.
    sample_weight : array of shape (n,), optional
        What ``fit`` was given; an estimator does not keep it.

    Raises
    ------
    InputError
        If it is another estimator, not fitted, fitted on other data or with another kernel, or solves another problem.
    """
    name = type(estimator).__name__
    if _is(estimator, "Pipeline"):
        return problem_of(estimator[-1], _as_seen(estimator, X), y, kernel, sample_weight)
    read = next((reader for kind, reader in _READERS.items() if _is(estimator, kind)), None)
    if read is None:
        way = "give best_estimator_" if hasattr(estimator, "best_estimator_") else judged_by(estimator)
        door = f": {way}" if way else ""
        raise InputError(f"solutions must be one of the estimators {', '.join(_READERS)}, got {name}{door}")
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(f"{name} must be fitted first: call fit(X, y)")
    if np.size(classes) != 2:
        raise InputError(f"{name} must be fitted on two classes, got {np.size(classes)}")
    labels = signs_of(y, classes, name)
    weight = check_weights(sample_weight, labels)
    return read(estimator, X, labels, kernel, weight)


def own_tolerance(estimator: Any) -> float:
    """At which a fitted estimator stopped by itself, from that of certificates (where it has none) to LOOSE."""
    tol = getattr(estimator[-1] if _is(estimator, "Pipeline") else estimator, "tol", None)
    return min(max(float(tol or 0.0), CERTIFY), LOOSE)


def _stopped(estimator: Any) -> float:
    """At which violation of a margin LIBSVM stopped: its tol; at more than LOOSE nothing counts as optimal."""
    return min(float(estimator.tol), LOOSE)


def _is(estimator: Any, name: str) -> bool:
    """Whether it is of a class of scikit-learn, or of one that is derived from it."""
    return any(cls.__name__ == name and cls.__module__.startswith("sklearn.") for cls in type(estimator).__mro__)


def _as_seen(pipeline: Any, X: Any) -> Any:
    """Samples as the last step of a fitted pipeline saw them."""
    try:
        return pipeline[:-1].transform(X) if len(pipeline) > 1 else X
    except Exception as error:  # of whatever steps it has
        raise InputError(f"X must be what the Pipeline was fitted on: {' '.join(str(error).split())[:200]}") from None


def class_costs(estimator: Any, y: Array) -> tuple[float, float]:
    """Factors of the costs of the positive and of the negative class that ``class_weight`` stands for."""
    given = estimator.class_weight
    if given is None:
        return 1.0, 1.0
    if isinstance(given, str):  # "balanced"
        return y.size / (2 * float(np.sum(y > 0))), y.size / (2 * float(np.sum(y < 0)))
    minus, plus = (float(given.get(label, 1.0)) for label in np.asarray(estimator.classes_).tolist())
    return plus, minus


def _kernel_of(estimator: Any, kernel: Any) -> Any:
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
    mine, theirs = (list(vars(k).values()) for k in (given, own))
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
    blind = isinstance(formulation.kernel, Precomputed) or callable(estimator.kernel)  # which keep no vectors
    if not blind:
        theirs, mine = (dense(x) for x in (estimator.support_vectors_, formulation.X[support]))
        if theirs.shape != mine.shape or not (np.abs(theirs - mine) <= SAME * (1.0 + np.abs(mine))).all():
            raise InputError(
                f"X must be what {name} was fitted on: its support vectors are not the rows of X (was X scaled since? "
                "Or were there samples of weight 0, which LIBSVM does not count? Then give sample_weight)"
            )
    alpha = np.zeros(n)
    alpha[support] = y[support] * np.asarray(real_array(dense(estimator.dual_coef_), "dual_coef_")).ravel()
    if alpha.min() < 0 and isinstance(formulation, TwoNuSVM) and (alpha <= 0).all():
        raise InputError(
            f"{name} must have a positive margin: at nu = {estimator.nu:g} the reduced hulls meet, and w = 0"
        )
    if alpha.min() < 0:
        plus, i = np.asarray(estimator.classes_).tolist()[1], int(np.argmin(alpha))
        raise InputError(
            f"y must be what {name} was fitted on, +1 for its class {plus!r}: sample {i} has another label there"
            f"{', or some had weight 0: give sample_weight' if blind and weight.all() else ''}"
        )
    return alpha


def _svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    formulation = TwoCSVM(X, y, _kernel_of(estimator, kernel), weight)
    alpha = _multipliers(estimator, formulation, weight)
    plus, minus = class_costs(estimator, y)
    values = {"C_plus": estimator.C * plus, "C_minus": estimator.C * minus}
    numbers = {"alpha": alpha, "b": float(estimator.intercept_[0])}
    return formulation, [Row(values, numbers, Stop(_stopped(estimator)))]


def _nu_svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    """LIBSVM divides its solution by the margin; the sum of its multipliers gives that back."""
    formulation = TwoNuSVM(X, y, _kernel_of(estimator, kernel))
    found = _multipliers(estimator, formulation, weight), float(estimator.intercept_[0])
    return of_nu(estimator.nu, formulation, found, weight, _stopped(estimator))


def of_nu(
    nu: float, formulation: TwoNuSVM, found: tuple[Array, float], weight: Array, tol: float
) -> tuple[Formulation, list[Row]]:
    """The 2nu-SVM of a nu-SVC and its row, from what LIBSVM returns: multipliers and intercept, over the margin.

    It stopped at ``tol`` before it divided.
    """
    (given, b), y, used, note = found, formulation.y, np.flatnonzero(weight), _numbered(weight)
    if note:  # a 2nu-SVM has no weights
        both = np.ix_(used, used) if isinstance(formulation.kernel, Precomputed) else used
        formulation = TwoNuSVM(formulation.X[both], y[used], formulation.kernel)
        given, weight, y = given[used], weight[used], y[used]
    if any(np.unique(weight[side]).size > 1 for side in (y > 0, y < 0)):
        raise InputError("sample_weight must be one number for each class, or 0: a 2nu-SVM has one cap for each")
    n, total = y.size, float(given.sum())
    if total <= 0:
        raise InputError("the model has no support vectors")
    plus, minus = float(weight[y > 0][0]), float(weight[y < 0][0])
    caps = 1.0 / (n * (plus + minus))  # from LIBSVM's weights as caps to gamma / n and (1 - gamma) / n
    ours = nu * float(weight.sum()) * caps
    margin = ours / total
    values = {"nu": ours, "asymmetry": plus / (plus + minus)}
    row = Row(values, {"alpha": given * margin, "b": b * margin, "rho": margin}, Stop(tol, caps), note)
    return formulation, [row]


def _numbered(weight: Array) -> str:
    """What is said where samples of weight 0 are left out: how the others are numbered."""
    used = np.count_nonzero(weight)
    return "" if used == weight.size else f"Samples are numbered among the {used} of positive weight."


def _linear(estimator: Any, X: Any, y: Array) -> tuple[Array, float]:
    w = np.ravel(dense(estimator.coef_)).astype(np.float64)
    if w.size != np.shape(X)[1]:
        raise InputError(
            f"X must be what {type(estimator).__name__} was fitted on, {w.size} features, got {np.shape(X)[1]}"
        )
    return w, float(np.ravel(estimator.intercept_)[0])


def _linear_svc(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    _only_linear(estimator, kernel)
    if estimator.penalty != "l2":
        raise InputError(f"LinearSVC must have penalty='l2', got {estimator.penalty!r}")
    w, b = _linear(estimator, X, y)
    bias = float(estimator.intercept_scaling) if estimator.fit_intercept else 0.0
    plus, minus = class_costs(estimator, y)
    values = {"C_plus": estimator.C * plus, "C_minus": estimator.C * minus}
    return through_the_origin(X, y, weight, w, b, values, squared=estimator.loss == "squared_hinge", bias=bias)


def through_the_origin(
    X: Any, y: Array, weight: Array, w: Array, b: float, values: dict[str, float], *, squared: bool, bias: float
) -> tuple[Formulation, list[Row]]:
    """A slope, and the intercept of a constant feature, of a problem that LIBLINEAR solves."""
    X, y, weight, note = _used(X, y, weight)
    made = ThroughTheOrigin(X, y, weight, squared=squared, bias=bias)
    return made, [Row(values, made.numbers(w, b if bias else 0.0), note=note)]


def _used(X: Any, y: Array, weight: Array) -> tuple[Any, Array, Array, str]:
    """Samples of positive weight, and what is said where there are others."""
    note, used = _numbered(weight), weight > 0.0
    return (check_samples(X)[used], y[used], weight[used], note) if note else (X, y, weight, "")


def _sgd(estimator: Any, X: Any, y: Array, kernel: Any, weight: Array) -> tuple[Formulation, list[Row]]:
    r"""The risk is :math:`\frac1n\sum_is_ic_i\phi_i+\frac\alpha2\|w\|^2`: costs are 1 over n alpha."""
    _only_linear(estimator, kernel)
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


def _only_linear(estimator: Any, kernel: Any) -> None:
    if kernel is not None and not isinstance(as_kernel(kernel), Linear):
        raise InputError(f"kernel must be left out: {type(estimator).__name__} is linear, got {kernel!r}")


_READERS: dict[str, Callable[..., tuple[Formulation, list[Row]]]] = {
    "SVC": _svc,
    "NuSVC": _nu_svc,
    "LinearSVC": _linear_svc,
    "SGDClassifier": _sgd,
}
