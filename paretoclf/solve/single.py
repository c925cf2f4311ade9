"""One solve of one model through CVXPY."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import cvxpy as cp

from paretoclf.errors import InputError, SolveError
from paretoclf.solution import Solution
from paretoclf.solve.compiled import Compiled
from paretoclf.solve.model import Accuracy, Form, Model, Solvable, check_form, conic_settings, solver_tolerance, worst

DEFAULT_SOLVER = "CLARABEL"


def solve_at(
    formulation: Solvable,
    values: Mapping[str, Any],
    *,
    form: Form = "dual",
    accuracy: Accuracy = "reference",
    polish: bool = True,
    solver: str = DEFAULT_SOLVER,
    options: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve one form at the given parameter values and certify what comes back.

    Parameters
    ----------
    formulation : Solvable
        What to solve.
    values : mapping
        Parameter name to number.
    form : {"dual", "primal"}
        Which of the two problems the solver sees.
    accuracy : {"reference", "fast"}
        Tolerance of Clarabel. Other solvers keep their own default; pass theirs in options.
    polish : bool
        Whether to refine the answer on its active set.
    solver : str
        Name of an installed CVXPY solver.
    options : mapping, optional
        Passed to ``cvxpy.Problem.solve``.

    Raises
    ------
    InputError
        If an argument is not what it must be.
    SolveError
        If the solver returns no point.
    """
    numbers = formulation.check_values(values)
    form = check_form(form)
    solver = _installed(solver)
    settings = _options(solver, accuracy, options or {})
    known = formulation.closed_form(numbers)
    if known is not None:
        return formulation.complete(
            numbers, known, polish=False, source="closed form", status="closed form", timing={"solve": 0.0}
        )
    rescue = solver == DEFAULT_SOLVER and not options
    try:
        solution = _through_cvxpy(formulation, numbers, form, polish, solver, settings)
    except SolveError:
        if not rescue:
            raise
        return _rescaled(formulation, numbers, form, accuracy, polish)
    if rescue and accuracy == "reference" and not solution.certificate.passes():
        second = _rescaled(formulation, numbers, form, accuracy, polish)
        return min(solution, second, key=lambda s: worst(s.certificate))
    return solution


def _through_cvxpy(
    formulation: Solvable, numbers: dict[str, float], form: Form, polish: bool, solver: str, settings: dict[str, Any]
) -> Solution:
    started = time.perf_counter()
    model = formulation.model(form)
    for name, parameter in formulation.parameters.items():
        parameter.value = numbers[name]
    built = time.perf_counter()
    try:
        with warnings.catch_warnings():
            # The claim stands in `status`; the certificate says how accurate the point is.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate", category=UserWarning)
            model.problem.solve(solver=solver, **settings)
    except cp.SolverError as error:
        raise SolveError(f"{solver} failed on the {form} at {numbers}: {error}. Try another solver or form") from None
    solved = time.perf_counter()
    status = str(model.problem.status)
    return formulation.complete(
        numbers,
        formulation.read(form, _numbers(model, solver, form, numbers)),
        polish=polish,
        source=solver,
        status=status,
        timing={"build": built - started, "solve": solved - built},
    )


def _rescaled(
    formulation: Solvable, numbers: dict[str, float], form: Form, accuracy: Accuracy, polish: bool
) -> Solution:
    """Solve in units that suit the size of the parameters: very small or large costs defeat absolute tolerances."""
    raw = Compiled(formulation.model(form), formulation.parameters, accuracy).solve(numbers)
    return formulation.complete(
        numbers,
        formulation.read(form, raw.numbers),
        polish=polish,
        source=DEFAULT_SOLVER,
        status=f"{raw.status}, rescaled",
        timing={"solve": raw.seconds},
    )


def _numbers(model: Model, solver: str, form: str, values: Mapping[str, float]) -> dict[str, Any]:
    numbers = {name: variable.value for name, variable in model.variables.items()}
    numbers |= {name: constraint.dual_value for name, constraint in model.constraints.items()}
    missing = [name for name, value in numbers.items() if value is None]
    if missing:
        raise SolveError(
            f"{solver} returned status {model.problem.status!r} and no value of {', '.join(missing)} "
            f"on the {form} at {values}, although the problem has a solution. Try another solver or form"
        )
    return numbers


def _installed(solver: Any) -> str:
    installed = cp.installed_solvers()
    name = str(solver).upper()
    if name not in installed:
        raise InputError(f"solver must be one of the installed {', '.join(installed)}, got {solver!r}")
    return name


def _options(solver: str, accuracy: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("warm_start"):
        raise InputError(
            "warm_start must be left out: solvers that keep their scaling return false 'infeasible' when costs "
            "change by orders of magnitude; use sweep for many costs"
        )
    solver_tolerance(accuracy)
    defaults = conic_settings(accuracy) if solver == DEFAULT_SOLVER else {}
    return {**defaults, **options, "warm_start": False}
