"""One solve of one model through CVXPY."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from paretoclf.errors import InputError, SolveError
from paretoclf.solution import Solution
from paretoclf.solve.compiled import Compiled, Raw
from paretoclf.solve.cone_proof import CompiledCone
from paretoclf.solve.lazily import cp
from paretoclf.solve.model import (
    Accuracy,
    Claim,
    Form,
    Model,
    Numbers,
    Solvable,
    conic_settings,
    form_of,
    settings_at,
    solver_tolerance,
    what_to_do,
    worst,
)
from paretoclf.tolerances import SOLVER_FAST, SOLVER_MIDDLE

DEFAULT_SOLVER = "CLARABEL"


def solve_at(
    formulation: Solvable,
    values: Mapping[str, Any],
    *,
    form: Form | None = None,
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
    form : {"dual", "primal"}, optional
        Which of the two problems the solver sees; by default the one the formulation prefers.
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
    form = form_of(formulation, form)
    solver = _installed(solver)
    settings = _options(solver, accuracy, options or {})
    known = formulation.closed_form(numbers)
    if known is not None:
        return formulation.complete(
            numbers, known, polish=False, source=formulation.direct, status=formulation.direct, timing={"solve": 0.0}
        )
    rescue = solver == DEFAULT_SOLVER and not options
    forms = formulation.needs(form)
    try:
        found = through_cvxpy(formulation, numbers, forms, solver, settings)
    except SolveError as failed:
        if not rescue:
            raise
        try:
            return _rescaled(formulation, numbers, forms, accuracy).complete(formulation, numbers, polish)
        except SolveError:  # NotUpdatable among them
            if accuracy == "fast":
                raise failed from None
            return _less_accurate(formulation, numbers, forms).complete(formulation, numbers, polish)
    solution = found.complete(formulation, numbers, polish)
    if rescue and accuracy == "reference" and not solution.certificate.holds():
        try:
            second = _rescaled(formulation, numbers, forms, accuracy).complete(formulation, numbers, polish)
        except SolveError:
            return solution
        return min(solution, second, key=lambda s: worst(s.certificate))
    return solution


@dataclass(frozen=True)
class Found:
    """What a solver returned: named numbers of each form, and what it said of them."""

    numbers: Mapping[Form, Mapping[str, Any]]
    source: str
    status: str
    timing: Mapping[str, float]

    def claim(self, formulation: Solvable, values: Mapping[str, float], polish: bool) -> Claim:
        """Read the point."""
        return Claim(values, formulation.read(self.numbers), polish, self.source, self.status, self.timing)

    def complete(self, formulation: Solvable, values: Mapping[str, float], polish: bool) -> Solution:
        """Read the point and certify it."""
        return formulation.complete(**vars(self.claim(formulation, values, polish)))


def through_cvxpy(
    formulation: Solvable,
    numbers: Mapping[str, float],
    forms: tuple[Form, ...],
    solver: str = DEFAULT_SOLVER,
    settings: Mapping[str, Any] | None = None,
) -> Found:
    """Solve forms with ``cvxpy.Problem.solve``.

    Raises
    ------
    SolveError
        If the solver fails or returns no point.
    """
    started = time.perf_counter()
    models = {form: formulation.model(form) for form in forms}
    for name, parameter in formulation.parameters.items():
        parameter.value = numbers[name]
    for form, model in models.items():
        model.check_parameters(form)
    built = time.perf_counter()
    found: dict[Form, Numbers] = {}
    for form, model in models.items():
        try:
            with warnings.catch_warnings():
                # The claim stands in `status`; the certificate says how accurate the point is.
                warnings.filterwarnings("ignore", message="Solution may be inaccurate", category=UserWarning)
                cone = _solve(model, solver, settings or {})
        except cp.SolverError as error:
            raise SolveError(
                f"{solver} failed on the {form} at {numbers}: {error}. Try another solver or form"
            ) from None
        found[form] = _numbers(model, solver, form, numbers)
        found[form].cone = cone
    return Found(
        found,
        solver,
        _claims([str(model.problem.status) for model in models.values()]),
        {"build": built - started, "solve": time.perf_counter() - built},
    )


def with_clarabel(
    formulation: Solvable, numbers: Mapping[str, float], forms: tuple[Form, ...], accuracy: Accuracy
) -> Found:
    """Solve forms at one accuracy, or where Clarabel does not reach it, at the next."""
    try:
        return through_cvxpy(formulation, numbers, forms, settings=_options(DEFAULT_SOLVER, accuracy, {}))
    except SolveError:
        if accuracy == "fast":
            raise
        return _less_accurate(formulation, numbers, forms)


def _less_accurate(formulation: Solvable, numbers: Mapping[str, float], forms: tuple[Form, ...]) -> Found:
    for tolerance in (SOLVER_MIDDLE, SOLVER_FAST):
        try:
            found = through_cvxpy(formulation, numbers, forms, settings=settings_at(tolerance))
        except SolveError:
            if tolerance == SOLVER_FAST:
                raise
        else:
            break
    return replace(found, status=f"{found.status}, at {tolerance:.0e}")


def _rescaled(
    formulation: Solvable, numbers: Mapping[str, float], forms: tuple[Form, ...], accuracy: Accuracy
) -> Found:
    """Solve in units that suit the size of the parameters: very small or large costs defeat absolute tolerances."""
    compiled = {form: Compiled(formulation.model(form), formulation.parameters, accuracy, numbers) for form in forms}
    raw = {form: each.solve(numbers) for form, each in compiled.items()}
    return found_of(raw, ", rescaled")


def found_of(raw: Mapping[Form, Raw], remark: str = "") -> Found:
    """Collect what compiled problems returned."""
    return Found(
        {form: each.numbers for form, each in raw.items()},
        DEFAULT_SOLVER,
        _claims([each.status for each in raw.values()]) + remark,
        {"solve": sum(each.seconds for each in raw.values())},
    )


def _claims(statuses: list[str]) -> str:
    return statuses[0] if len(set(statuses)) == 1 else " and ".join(statuses)


def _solve(model: Model, solver: str, settings: Mapping[str, Any]) -> Callable[[], CompiledCone] | None:
    """``cvxpy.Problem.solve``; at the reference accuracy what was solved is kept, too, for who proves it."""
    options = conic_settings("reference")
    if solver != DEFAULT_SOLVER or settings != {**options, "warm_start": False}:
        model.problem.solve(solver=solver, **settings)
        return None
    compiled = model.problem.get_problem_data(solver, solver_opts=options)
    data, chain, inverse = compiled
    raw = chain.solve_via_data(model.problem, data, warm_start=False, verbose=False, solver_opts=options)
    model.problem.unpack_results(raw, chain, inverse)
    return lambda: CompiledCone.of(model, compiled).solved(raw)


def _numbers(model: Model, solver: str, form: str, values: Mapping[str, float]) -> Numbers:
    numbers = Numbers({name: variable.value for name, variable in model.variables.items()})
    numbers.update({name: constraint.dual_value for name, constraint in model.constraints.items()})
    missing = [name for name, value in numbers.items() if value is None]
    if missing:
        raise SolveError(
            f"{solver} returned status {model.problem.status!r} and no value of {', '.join(missing)} "
            f"on the {form} at {values}: {what_to_do(model.problem.status)}"
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
