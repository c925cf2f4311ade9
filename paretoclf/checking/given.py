"""Reader of the arguments of `verify`: the problem, the solutions in whatever form they are, and their tolerance."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.checking.judging import certificate_of
from paretoclf.checking.labels import signs_of
from paretoclf.checking.model_files import is_model_file, read_model
from paretoclf.checking.rows import Row, rows_of
from paretoclf.checking.solution_files import read_solutions
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.operating import TradeoffCurve
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.on_moments import MomentFormulation
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.path.svm_lines.svm_path import OnPieces
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.samples import same_samples
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.solution import Solution


@dataclass(frozen=True)
class Given:
    """Solutions to be judged, each with its problem.

    Attributes
    ----------
    rows : iterable of (formulation, Row)
        Solutions, each with its problem. One pass: of many fitted models one kernel matrix is held at a time.
    path : path of ours, or None
        Path that the rows were taken from.
    tol : float
        Tolerance, unless another one is asked for.
    hint : str
        See `Verification`.
    judge : callable
        Certifies a row of a formulation.
    """

    rows: Iterable[tuple[Any, Row]]
    path: Any = None
    tol: float = CERTIFY
    hint: str = ""
    judge: Callable[[Any, Row], Certificate] = certificate_of


def read_given(X: Any, y: Any, solutions: Any, kernel: Any, sample_weight: Any, parameters: Mapping[str, Any]) -> Given:
    """Read the arguments of `verify`: the problem, and the solutions to be judged."""
    if isinstance(X, GaussianTradeoff):
        X = X.moments
    if isinstance(X, OnPieces):
        raise InputError(f"X must be samples, got a {type(X).__name__}: verify(X, y, path) judges it with its samples")
    formulation: Any
    if isinstance(X, Formulation | Moments):
        if not (solutions is None and kernel is None and sample_weight is None):
            raise InputError("verify takes (formulation, solutions) or (X, y, solutions): the formulation has its data")
        formulation, given = X, y
    elif isinstance(solutions, str | os.PathLike) and is_model_file(solutions):
        formulation, rows = read_model(solutions, X, y, parameters, kernel, sample_weight)
        return Given([(formulation, row) for row in rows], None, LOOSE)
    else:
        formulation, given = TwoCSVM(X, signs_of(y), kernel, sample_weight), solutions
    names = () if isinstance(formulation, Moments) else tuple(formulation.domain)
    vector = "w" if isinstance(formulation, Moments | MomentFormulation) else "alpha"
    if isinstance(given, TradeoffCurve):
        given = {"w": given.w, "b": given.b}
    if isinstance(given, str | os.PathLike):
        given = read_solutions(given, formulation.gram.n, names, formulation.y)
    no_parameters(parameters)  # after the file: one that is torn or not there is no matter of parameters
    _same_data(formulation, given)
    rows = rows_of(given, names, vector)
    return Given([(formulation, row) for row in rows], given if isinstance(given, OnPieces) else None)


def one_problem(first: Any, other: Any) -> bool:
    """Whether two fitted models are of one problem, up to its parameters."""
    if first is other:
        return True
    if type(first) is not type(other) or getattr(first, "lines", None) is None:
        return False
    mine, theirs = first.gram, other.gram
    return bool(mine.kernel == theirs.kernel and same_samples(mine.X, theirs.X))


def no_parameters(parameters: Mapping[str, Any]) -> None:
    """InputError where parameters are given that solutions have already."""
    if parameters:
        raise InputError(f"{next(iter(parameters))} belongs to a model file only: these solutions say it themselves")


def _same_data(formulation: Any, given: Any) -> None:
    """InputError unless a result of ours was made for the problem that is given."""
    rule = given.classifier if isinstance(given, Solution) else given
    if not isinstance(rule, Classifier | OnPieces) or not hasattr(formulation, "gram"):
        return
    mine, theirs = formulation.gram, rule.gram
    if mine.n != theirs.n or not same_samples(mine.X, theirs.X) or not np.array_equal(formulation.y, rule.y):
        raise InputError(f"X and y must be what the {type(given).__name__} was made for: its samples are others")
    if mine.kernel != theirs.kernel:
        raise InputError(f"kernel must be that of the {type(given).__name__}, {theirs.kernel}, got {mine.kernel}")
    for name in ("sample_weight", "bias", "soft"):
        own, its = getattr(formulation, name, None), getattr(rule, name, None)
        if own is not None and its is not None and not np.array_equal(own, its):
            got = f", {its}, got {own}" if np.ndim(own) == 0 else ""
            raise InputError(f"{name} must be that of the {type(given).__name__}{got}")
