"""Fitted models of scikit-learn, each judged as the problem that it solves (`paretoclf.checking.fitted_problems`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paretoclf.checking.elsewhere import grid_of, is_estimator, is_lars
from paretoclf.checking.estimators import CLASSIFIERS, classifier_problem, is_of
from paretoclf.checking.fitted_objectives import objective_of, of_squares, of_tasks
from paretoclf.checking.fitted_problems import FittedProblem
from paretoclf.checking.fitted_readers import READERS, FittedOn, Squares, hint_of, targets_of, tasks_row
from paretoclf.checking.fitted_reports import JudgedModel, ModelVerification, with_positive
from paretoclf.checking.given import Given, no_parameters
from paretoclf.checking.judged_solutions import Verification
from paretoclf.checking.judging import certificate_of
from paretoclf.checking.not_judged import why_not
from paretoclf.checking.of_classifiers import judge_rows
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, check_bool, check_inside, check_nonnegative, real_array, what_it_is
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.samples import check_samples
from paretoclf.proof.verdicts.certificate import Certificate

#: Another reason for a classifier whose multipliers leave their box: it does not keep the weights of `fit`.
WEIGHTED = "or it was fitted with sample_weight: give it"

#: Fitted models that are read, by their classes; the last two by their paths.
KNOWN = (
    ", ".join([*CLASSIFIERS, *READERS])
    + ", a Pipeline or a fitted search that holds one, or, alone, LassoLars or LassoLarsCV"
)

#: Another reason for solutions of a path that are off by far.
MIXED = "A path does not say its l1_ratio, which is taken to be 1: of enet_path, give it here, too (0.5 by default)."

#: Bounds of an optimal value are closer than this share of the tolerance, or than that of certificates.
CLOSE = 1e-2

#: Samples up to which an optimum is found beside a machine that is off, of a linear kernel and of others.
SOON_IF_LINEAR, SOON = 10_000, 1_000

#: The optimum that is told is proved to this.
FOUND_TO = 1e-6

#: The tolerance of `lasso_path` and `enet_path` by default.
PATH_TOL = 1e-4

#: Rounds of coordinate descent that suffice for a small tolerance.
MAX_ITER = 100_000


def judge_fitted(
    given: tuple[Any, Any, Any],
    of_samples: tuple[Any, Any],
    asked: tuple[float | None, bool | None],
    parameters: Mapping[str, Any],
) -> Verification:
    """Judge one fitted model or several, or solutions of ``lasso_path`` or ``enet_path``.

    Parameters
    ----------
    given : triple
        X, y and the solutions, as `paretoclf.verify` takes them.
    of_samples : pair
        Kernel and weights, as `paretoclf.verify` takes them.
    asked : pair
        The tolerance, and whether rows are knots, each None where it was not given.
    parameters : mapping
        ``l1_ratio`` of a path.

    Raises
    ------
    InputError
        If a model is not fitted, is not read here, or was fitted on other data.
    """
    X, y, solutions = given
    kernel, sample_weight = of_samples
    tol, between = asked
    grid = grid_of(solutions)
    if grid is not None:
        return _judge_grid((X, y, grid), sample_weight, asked, parameters)
    no_parameters(parameters)
    models: list[JudgedModel] = []
    read = read_fitted(X, y, solutions, kernel, sample_weight, models)
    return ModelVerification.of(_judged(read, tol, bool(between), hint_of(sample_weight)), models)


def _judged(read: Given, tol: float | None, between: bool, hint: str = "") -> Verification:
    """Judge rows, by bounds that need be no closer than a share of the tolerance.

    The hint is for machines without multipliers that are off by far.
    """
    close = max(CERTIFY, CLOSE * (read.tol if tol is None else tol))
    return judge_rows(replace(read, judge=partial(_certificate, close=close, hint=hint)), tol, between)


def _judge_grid(
    given: tuple[Any, Any, tuple[Any, Any]],
    sample_weight: Any,
    asked: tuple[float | None, bool | None],
    parameters: Mapping[str, Any],
) -> Verification:
    """Judge solutions of ``lasso_path`` or ``enet_path``, and say how those would pass that do not."""
    X, y, grid = given
    tol, between = asked
    report = _judged(_of_grid(X, y, grid, sample_weight, dict(parameters)), tol, bool(between))
    positive = bool(parameters.get("positive", False))
    hint = ""
    if not positive and not report.passes() and grid[1].ndim == 2 and (grid[1] >= 0.0).all():
        other = _judged(_of_grid(X, y, grid, None, {**parameters, "positive": True}), tol, False)
        hint = with_positive(report.verdicts, other.verdicts)
    report = _with_note(report, hint) if hint else _with_tolerance(report, real_array(y, "y"), tol)
    words = of_tasks if grid[1].ndim == 3 else partial(of_squares, positive=positive)
    models = [JudgedModel("the path", "", words(values)) for values in report.values]
    return ModelVerification.of(report, models)


def _with_tolerance(report: Verification, y: Array, asked: float | None) -> Verification:
    """Say, of solutions of a path that do not pass, at which ``tol`` of ``lasso_path`` they would.

    It stops at a duality gap of tol times the mean square of y, large beside the value where y is nearly fitted.
    """
    failing = [k for k, verdict in enumerate(report.verdicts) if verdict != "optimal"]
    if not failing:
        return report
    mean_square = float((y**2).sum()) / y.shape[0]
    least = min(report[k].scale for k in failing)
    wanted = PATH_TOL if asked is None else asked * min(1.0, least / mean_square)
    tol = 10.0 ** np.floor(np.log10(wanted * (1.0 + CERTIFY)))
    return _with_note(report, f"Compute the path with tol={tol:.0e}, max_iter={MAX_ITER} to have it as close as that.")


def _with_note(report: Verification, note: str) -> Verification:
    """Add a note to the certificates of rows that are not optimal."""
    certificates = []
    for verdict, certificate in zip(report.verdicts, report.certificates, strict=True):
        own = certificate.note if verdict == "optimal" else f"{certificate.note} {note}".strip()
        certificates.append(replace(certificate, note=own))
    return replace(report, certificates=tuple(certificates))


def read_fitted(
    X: Any,
    y: Any,
    solutions: Any,
    kernel: Any = None,
    sample_weight: Any = None,
    models: list[JudgedModel] | None = None,
) -> Given:
    """Read one fitted model, or several; what they are is added to ``models``, as they are read."""
    several = isinstance(solutions, list | tuple)
    given = list(solutions) if several else [solutions]
    for k, model in enumerate(given):
        if not is_estimator(model):
            raise InputError(f"solutions[{k}] must be a fitted estimator like the others, got {what_it_is(model)}")

    def rows() -> Iterator[tuple[Any, Row]]:
        for k, outer in enumerate(given):
            try:
                model, samples = _held(outer, X)
                found = list(_rows_of(model, samples, y, kernel, sample_weight))
            except InputError as error:
                raise InputError(f"solutions[{k}]: {error}" if several else str(error)) from None
            if models is not None:
                models.extend(_what_is(outer, row, sample_weight is not None) for _, row in found)
            yield from found

    hint = WEIGHTED if sample_weight is None else ""
    return Given(rows(), None, max(map(own_tolerance, given)), hint)


def _certificate(problem: Any, row: Row, close: float, hint: str) -> Certificate:
    """Certify a row of a stated problem, by bounds that need be no closer than so much, or of a formulation."""
    if isinstance(problem, FittedProblem):
        return problem.certificate(row.numbers, close)
    certificate = certificate_of(problem, row)
    if not certificate.off_by > LOOSE:
        return certificate
    if "alpha" not in row.numbers:  # no sample was kept
        return replace(certificate, note=f"{certificate.note} {hint}".strip())
    if not isinstance(problem, TwoCSVM):
        return certificate
    if problem.gram.n > (SOON_IF_LINEAR if problem.gram.linear else SOON):
        return certificate
    return replace(certificate, note=f"{certificate.note} {_beside_an_optimum(problem, row, certificate)}".strip())


def _beside_an_optimum(problem: TwoCSVM, row: Row, certificate: Certificate) -> str:
    """Say by how much a value is above the optimum: the bound of a model's own multipliers is as bad as these."""
    try:
        best = problem.solve(**row.values)
    except (SolveError, ImportError):  # the verdict needs no solver
        return ""
    if not best.certificate.passes(FOUND_TO) or not best.value > 0.0:
        return ""
    excess = certificate.primal_value - best.value
    return (
        f"The optimal value is {best.value:.10g}, found by solving: that of the model is larger by {excess:.4g}, "
        f"{100 * excess / best.value:.3g} % of it."
    )


def own_tolerance(estimator: Any) -> float:
    """Tolerance at which a fitted estimator stopped, if it has one: at least that of certificates, at most LOOSE."""
    tol = getattr(nested(estimator)[-1], "tol", None)
    return min(max(float(tol or 0.0), CERTIFY), LOOSE)


def nested(estimator: Any) -> list[Any]:
    """Return an estimator, the last step or the best estimator that it holds, what that holds, and so on.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from sklearn.pipeline import make_pipeline
    >>> from paretoclf.checking.fitted_models import nested
    >>> nested(make_pipeline(Lasso(0.1)))[1:]
    [Lasso(alpha=0.1)]
    """
    found = [estimator]
    while True:
        last = found[-1]
        held = last[-1] if is_of(last, "Pipeline") else getattr(last, "best_estimator_", None)
        if held is None:
            return found
        found.append(held)


def lars_in(given: Any, X: Any) -> tuple[Any, Any]:
    """Return the LassoLars in a pipeline or a search, and the samples as it saw them; anything else as it is."""
    return _held(given, X) if is_lars(nested(given)[-1]) else (given, X)


def _held(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The model in pipelines and searches, and the samples as it saw them."""
    *outer, model = nested(estimator)
    for each in outer:
        if is_of(each, "Pipeline"):
            X = _as_seen(each, X)
    return model, X


def _what_is(estimator: Any, row: Row, weighted: bool) -> JudgedModel:
    """Say what a row is of: the model, where it was found, and what it minimises."""
    model = nested(estimator)[-1]
    return JudgedModel(type(model).__name__, found_in(estimator), objective_of(model, row.values, weighted=weighted))


def found_in(estimator: Any) -> str:
    """Return which model of a search is judged, in words; an empty text where there is no search."""
    *outer, model = nested(estimator)
    if all(is_of(each, "Pipeline") for each in outer):
        return ""
    step = "the last step of " if is_of(outer[-1], "Pipeline") else ""
    return f"{step}best_estimator_: {' '.join(repr(model).split()):.200}"


def _rows_of(estimator: Any, X: Any, y: Any, kernel: Any, sample_weight: Any) -> Iterator[tuple[Any, Row]]:
    """Problems that a fitted estimator solves, and its solutions; several where it has several targets."""
    name = type(estimator).__name__
    reader = next((reader for kind, reader in READERS.items() if is_of(estimator, kind)), None)
    classifier = any(is_of(estimator, kind) for kind in CLASSIFIERS)
    if reader is None and not classifier:
        way = why_not(estimator)
        door = f": {way}" if way else ""
        raise InputError(f"solutions must be one of the estimators {KNOWN}, got {name}{door}")
    if not hasattr(estimator, "intercept_"):
        raise InputError(f"{name} must be fitted first: call fit(X, y)")
    if reader is None:
        formulation, rows = classifier_problem(estimator, X, y, kernel, sample_weight)
        yield from ((formulation, row) for row in rows)
        return
    if y is None and not is_of(estimator, "OneClassSVM"):
        raise InputError(f"y must be what {name} was fitted on, got None")
    n = check_samples(X).shape[0]
    weight = np.ones(n) if sample_weight is None else check_nonnegative(sample_weight, n, "sample_weight")
    if not weight.any():
        raise InputError("sample_weight must be positive for some sample, got only 0")
    yield from reader(estimator, FittedOn(X, y, weight, sample_weight is not None, kernel))


def _as_seen(pipeline: Any, X: Any) -> Any:
    """Samples as the last step of a fitted pipeline saw them."""
    try:
        return pipeline[:-1].transform(X) if len(pipeline) > 1 else X
    except Exception as error:  # of whatever steps it has
        raise InputError(f"X must be what the Pipeline was fitted on: {' '.join(str(error).split())[:200]}") from None


def _of_grid(X: Any, y: Any, grid: tuple[Any, Any], sample_weight: Any, parameters: dict[str, Any]) -> Given:
    """Solutions at the alphas of ``lasso_path`` or ``enet_path``, without an intercept."""
    if sample_weight is not None:
        raise InputError("sample_weight must be left out of a path at some alphas: lasso_path has none")
    known = "l1_ratio" in parameters
    l1_ratio = check_inside(parameters.pop("l1_ratio", 1.0), "l1_ratio")
    positive = check_bool(parameters.pop("positive", False), "positive")
    if parameters:
        raise InputError(f"{next(iter(parameters))} does not belong to a path at some alphas, l1_ratio and positive do")
    X = check_samples(X)
    alphas, coefs = real_array(grid[0], "alphas"), real_array(grid[1], "coefs")
    tasks = 1 if coefs.ndim == 2 else coefs.shape[0]
    if coefs.shape[-1] != alphas.size:
        raise InputError(_of_other_shape(alphas, coefs))
    if coefs.shape[-2] != X.shape[1]:
        raise InputError(f"X must be what the path was computed of, {coefs.shape[-2]} features, got {X.shape[1]}")
    targets = targets_of(y, X.shape[0], tasks)
    hint = "" if known else MIXED

    def rows() -> Iterator[tuple[Any, Row]]:
        for k, alpha in enumerate(alphas.tolist()):
            mixture = alpha, l1_ratio
            if coefs.ndim == 3:
                point = coefs[:, :, k], np.zeros(tasks)
                yield tasks_row(X, targets, mixture, point, (False, PATH_TOL))
                continue
            given = Squares(X, targets[:, 0], np.ones(X.shape[0]), False, positive)
            yield given.row(mixture, (coefs[:, k], 0.0, {}), PATH_TOL, hint)

    return Given(rows(), None, PATH_TOL)


def _of_other_shape(alphas: Array, coefs: Array) -> str:
    """Say which shapes solutions at some alphas must have, and where transposing them is enough."""
    remedy = ": give (alphas, coefs.T)" if coefs.shape[0] == alphas.size else ""
    wanted = "(features, alphas), or (targets, features, alphas)"
    return (
        f"solutions must be alphas and coefs, as lasso_path returns them, with coefs of shape {wanted}, got alphas of "
        f"shape {alphas.shape} and coefs of shape {coefs.shape}{remedy}"
    )
