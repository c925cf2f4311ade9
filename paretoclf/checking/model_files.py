"""Model files of LIBSVM and LIBLINEAR, as rows of the problem that each of them solves.

A model file has multipliers (or w), intercept and kernel, but neither the costs nor nu: these must be said. Its support
vectors are lines of numbers, matched here with the samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from paretoclf.checking.estimators import check_kernel, of_nu, through_the_origin
from paretoclf.checking.labels import signs_of
from paretoclf.checking.libsvm import Stop
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, Mask, check_number, check_weights, number_from_text
from paretoclf.common.errors import InputError
from paretoclf.common.files import reading
from paretoclf.common.tolerances import LOOSE
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from paretoclf.problem.kernels import RBF, Linear, Polynomial, Precomputed, as_kernel
from paretoclf.problem.samples import dense

#: LIBSVM writes features with 8 digits: numbers that differ by no more than this share are one.
PRINTED = 1e-7

#: Hint for the model of scaled samples that ``write.svm`` of R's e1071 writes.
AS_R = (
    "; of X scaled as R's svm() does by default, one is: give (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) "
    "(--standardise --ddof 1)"
)

#: LIBLINEAR's problems that are ours, and whether their slacks are squared.
_SOLVERS = {"L2R_L2LOSS_SVC_DUAL": True, "L2R_L2LOSS_SVC": True, "L2R_L1LOSS_SVC_DUAL": False}


def is_model_file(file: str | os.PathLike[str]) -> bool:
    """Whether a file begins as LIBSVM's and LIBLINEAR's models do."""
    if not os.path.isfile(file):
        return False
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.readline().split(" ")[0] in ("svm_type", "solver_type")
    except (OSError, UnicodeDecodeError):
        return False


def read_model(
    file: str | os.PathLike[str], X: Any, y: Any, parameters: Mapping[str, Any], kernel: Any = None,
    sample_weight: Any = None,
) -> tuple[Formulation, list[Row]]:  # fmt: skip
    """Return the problem that the model of a file solves, and its solution.

    Parameters
    ----------
    file : path
        Model of two classes, as ``svm-train`` or ``liblinear-train`` write it.
    X, y : arrays of shape (n, d) and (n,)
        Samples and labels that it was trained on; X of shape (n, n), the kernel values, for LIBSVM's precomputed
        kernel.
    parameters : mapping
        ``C_plus`` and ``C_minus`` (the option -c times -w1 and -w-1), or ``nu`` (-n) for a nu-SVC.
    kernel : optional
        Kernel, to be checked against that of the file.
    sample_weight : array of shape (n,), optional
        Weights of the costs, where the solver was given some.

    Raises
    ------
    InputError
        If the file is no such model, of another kernel, of other data, or a parameter is missing.
    """
    name = os.fspath(file)
    with reading(name, "cannot be read as a model"):
        with open(name, encoding="utf-8") as stream:
            lines = iter(stream.read().splitlines())
        try:
            head, end = _head(lines)
            labels = signs_of(y, _classes(head), "the model")
            weight = check_weights(sample_weight, labels)
            read = _svm if "svm_type" in head else _linear
            return read(name, head, lines if end else iter(()), X, labels, parameters, kernel, weight)
        except InputError as error:  # of an argument that does not fit the model
            raise InputError(f"{name}: {error}") from None


def _head(lines: Iterator[str]) -> tuple[dict[str, list[str]], bool]:
    """Lines before the numbers, and whether these follow."""
    head: dict[str, list[str]] = {}
    for line in lines:
        key, *values = line.split()
        if key in ("SV", "w"):
            return head, True
        head[key] = values
    return head, False


def _classes(head: Mapping[str, list[str]]) -> list[float]:
    """The labels of a model: the smaller one, and the larger one, which is positive."""
    if head["nr_class"] != ["2"]:
        raise InputError(f"the model must be of two classes, got {head['nr_class'][0]}")
    return sorted(number_from_text(label) for label in head["label"])


def _sign(head: Mapping[str, list[str]]) -> float:
    """+1 where positive scores stand for the positive label; LIBSVM's stand for the label that came first."""
    return 1.0 if number_from_text(head["label"][0]) == _classes(head)[1] else -1.0


def _needed(parameters: Mapping[str, Any], *names: str) -> dict[str, float]:
    """The parameters of these names as numbers; InputError unless they are given, and no others."""
    for name in names:
        if name not in parameters:
            raise InputError(f"{name} must be given: a model file does not say it")
    others = [name for name in parameters if name not in names]
    if others:
        raise InputError(f"{others[0]} is no parameter of this model, only {', '.join(names)}")
    return {name: check_number(parameters[name], name) for name in names}


def _kernel(head: Mapping[str, list[str]], given: Any) -> Any:
    """The kernel of a model, which one that is given must equal."""

    def number(key: str) -> float:
        return number_from_text(head[key][0])

    name = head["kernel_type"][0]
    own: Any
    if name == "linear":
        own = Linear()
    elif name == "rbf":
        own = RBF(float(np.sqrt(0.5 / number("gamma"))))
    elif name == "polynomial":
        own = Polynomial(int(number("degree")), number("gamma"), number("coef0"))
    elif name == "precomputed":
        own = Precomputed()
    else:
        raise InputError(f"the kernel {name} is not positive semidefinite: nothing can be proved of it")
    check_kernel(given, own, 1e-6)  # a file has few digits
    return own


def _svm(
    name: str, head: Mapping[str, list[str]], lines: Iterator[str], X: Any, y: Array, parameters: Mapping[str, Any],
    kernel: Any, weight: Array,
) -> tuple[Formulation, list[Row]]:  # fmt: skip
    """The problem of LIBSVM's model, and its row."""
    kind = head["svm_type"][0]
    sign = _sign(head)
    own = _kernel(head, kernel)
    if kind not in ("c_svc", "nu_svc"):
        raise InputError(f"the model must be a c_svc or nu_svc, got {kind}")
    with_costs = kind == "c_svc"
    values = _needed(parameters, "C_plus", "C_minus") if with_costs else _needed(parameters, "nu")
    formulation: Any = TwoCSVM(X, y, own, weight) if with_costs else TwoNuSVM(X, y, own)
    alpha = _matched([line for line in lines if line.strip()], formulation, weight > 0.0, sign)
    b = -sign * number_from_text(head["rho"][0])
    if not with_costs:
        return of_nu(values["nu"], formulation, (alpha, b), weight, LOOSE)
    return formulation, [Row(values, {"alpha": alpha, "b": b}, Stop(LOOSE))]  # unless svm-train was told another


def _matched(lines: list[str], formulation: Any, used: Mask, sign: float) -> Array:
    """Multipliers of all samples: each support vector is a used sample of its label that no other one is."""
    samples = dense(formulation.X)
    y = formulation.y
    alpha = np.zeros(y.size)
    free = used.copy()
    for line in lines:
        coef, *pairs = line.split()
        value = sign * number_from_text(coef)
        entries = [pair.split(":") for pair in pairs]
        if isinstance(formulation.kernel, Precomputed):
            sample = int(number_from_text(entries[0][1])) - 1
            if not 0 <= sample < y.size or not free[sample] or y[sample] * value < 0:
                raise InputError(f"X and y must be what the model was trained on: it has another sample {sample}")
        else:
            vector = _vector(entries, samples.shape[1])
            sample = _nearest(samples, vector, free & (y * value > 0))
            if sample < 0:
                hint = AS_R if _is_one_of(_as_r(samples), vector) else ""
                raise InputError(f"X and y must be what the model was trained on: no sample is ({line.strip()}){hint}")
        alpha[sample] = abs(value)
        free[sample] = False
    return alpha


def _vector(entries: list[list[str]], width: int) -> Array:
    """A support vector from its entries, pairs of the feature's number and its value."""
    vector = np.zeros(width)
    for index, number in entries:
        if int(index) > width:
            raise InputError(f"X must be what the model was trained on: it has a feature {index}, X {width}")
        vector[int(index) - 1] = number_from_text(number)
    return vector


def _nearest(samples: Array, vector: Array, possible: Mask) -> int:
    """Index of the possible sample nearest to a vector; -1 if it differs in digits that a file has."""
    distances = np.abs(samples - vector)
    size = 1.0 + np.abs(samples).max(axis=0)
    near = possible & (distances <= PRINTED * size).all(axis=1)
    if not near.any():
        return -1
    return int(np.argmin(np.where(near, distances.max(axis=1), np.inf)))


def _is_one_of(samples: Array, vector: Array) -> bool:
    """Whether a vector is a sample, up to the digits that a file has."""
    near = np.abs(samples - vector) <= PRINTED * (1.0 + np.abs(vector))
    return bool(near.all(axis=1).any())


def _as_r(Z: Array) -> Array:
    """Features as R's ``svm`` scales them by default: constant ones stay, and a variance is over n - 1."""
    deviation = Z.std(axis=0, ddof=1)
    scaled: Array = (Z - Z.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return scaled


def _linear(
    name: str, head: Mapping[str, list[str]], lines: Iterator[str], X: Any, y: Array, parameters: Mapping[str, Any],
    kernel: Any, weight: Array,
) -> tuple[Formulation, list[Row]]:  # fmt: skip
    """The problem of LIBLINEAR's model, and its row."""
    kind = head["solver_type"][0]
    sign = _sign(head)
    bias = number_from_text(head["bias"][0])
    if kind not in _SOLVERS:
        raise InputError(f"the model must be one of {', '.join(_SOLVERS)}, got {kind}")
    if kernel is not None and not isinstance(as_kernel(kernel), Linear):
        raise InputError(f"kernel must be left out: LIBLINEAR's models are linear, got {kernel!r}")
    values = _needed(parameters, "C_plus", "C_minus")
    d = int(head["nr_feature"][0])
    if np.shape(X)[1] != d:
        raise InputError(f"X must be what the model was trained on, {d} features, got {np.shape(X)[1]}")
    first = [line.split()[0] for line in lines if line.strip()]
    numbers = sign * np.array([number_from_text(text) for text in first])
    expected = d + 1 if bias > 0 else d
    if numbers.size != expected:
        raise InputError(f"w must have {expected} numbers, got {numbers.size}")
    w = numbers[:d]
    b = float(numbers[d] * bias) if bias > 0 else 0.0
    squared = _SOLVERS[kind]
    return through_the_origin(X, y, weight, w, b, values, squared=squared, bias=max(bias, 0.0))
