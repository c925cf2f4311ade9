"""What every formulation has: parameters, a primal and a dual program, the way to numbers and back to a classifier.

A new formulation is a subclass of `Formulation` (or of `SampleFormulation`, which holds samples and labels) with

* ``domain``: its parameters, by name, each with the `Range` it may lie in;
* ``primal``, a cached property that returns a ``cvxpy.Problem``: a minimisation whose variables have names and whose
  constraints have labels (``constraint.set_label(...)``), DPP in ``self.parameters``;
* ``dual``, likewise, written as a minimisation, so that its value is minus that of the primal. It should be derived by
  hand, without looking at how the primal is written: the certificate compares the two. Where none is written, it is
  that of `paretoclf.dual`, and the dual of the compiled cone program proves the bounds
  (`paretoclf.proof.cones.cone_judge`): neither shows a mistake in the primal;
* ``classifier``, unless the primal has variables called ``w`` and ``b``.

That gives `solve`, `paretoclf.sweep`, certificates, `paretoclf.compare`, figures, `statement` and the command line.
A formulation with a judge of its own (numpy, in `paretoclf.proof.points`) overrides `read` and `judge`, and then one
form is enough.
"""

from __future__ import annotations

import inspect
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import real_number, require_scale_of_costs
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.tolerances import SOLVER_FAST, SOLVER_MIDDLE
from paretoclf.problem.classifiers import Rule, named_rule
from paretoclf.problem.lines import SampleLine
from paretoclf.problem.samples import Names
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.compiled import Compiled, Raw
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import (
    Accuracy,
    Claim,
    Form,
    Model,
    Numbers,
    check_form,
    conic_settings,
    form_of,
    problem_data,
    settings_at,
    solver_tolerance,
    what_to_do,
    worst,
)
from paretoclf.solve.models.statement import Statement, printed

if TYPE_CHECKING:
    from paretoclf.solve.judging.cone_proof import CompiledCone

DEFAULT_SOLVER = "CLARABEL"


@dataclass(frozen=True)
class Range:
    """The numbers a parameter may be: an interval whose ends belong to it unless they are infinite or excluded.

    Examples
    --------
    >>> from paretoclf.formulations.base import Range
    >>> print(Range(0, 1, closed=False))
    strictly between 0 and 1
    >>> 0.0 in Range(0)
    True
    """

    low: float = -np.inf
    high: float = np.inf
    closed: bool = True
    open_low: bool = False

    def __contains__(self, value: float) -> bool:
        if not np.isfinite(value):
            return False
        if self.open_low and not value > self.low:
            return False
        return self.low <= value <= self.high if self.closed else self.low < value < self.high

    def __str__(self) -> str:
        low, high = np.isfinite(self.low), np.isfinite(self.high)
        if self.low == 0 and not high:
            return "a finite nonnegative number" if self.closed else "a finite positive number"
        if low and high and self.open_low:
            return f"greater than {self.low:g} and at most {self.high:g}"
        if low and high:
            return f"{'in' if self.closed else 'strictly between'} " + (
                f"[{self.low:g}, {self.high:g}]" if self.closed else f"{self.low:g} and {self.high:g}"
            )
        if low:
            return f"{'at least' if self.closed else 'greater than'} {self.low:g}"
        if high:
            return f"{'at most' if self.closed else 'less than'} {self.high:g}"
        return "finite"


#: Parameters that may not be 0, and those that may.
POSITIVE = Range(0, closed=False)
NONNEGATIVE = Range(0)


class ByName(dict[str, Any]):
    """Things by name; of a name that is none of them it says which there are."""

    def __missing__(self, name: str) -> Any:
        raise InputError(f"{name} must be one of {', '.join(self) or 'none: there are no names'}")


class Formulation(ABC):
    """A pair of convex programs in named parameters. See the module for what a subclass states.

    Attributes
    ----------
    domain : mapping of str to Range
        Parameters and the numbers they may be.
    default_form : {"dual", "primal"}
        What the solver sees unless told otherwise.
    direct : str
        Who computes a solution that needs no solver.
    page : Statement or None
        The mathematics, for `statement`.
    pages : tuple of Statement
        All of them, where the class has variants.
    lines : type or None
        Which of `paretoclf.problem.lines` its exact paths are along: those of `TwoCSVM`, `QuantileSVM`,
        `BiobjectiveMargin` or `TwoNuSVM`. A subclass with a domain, primal or dual of its own is none of them until it
        says so; its paths are those of the program that CVXPY compiles.
    """

    domain: Mapping[str, Range] = MappingProxyType({})
    default_form: Form = "primal"
    direct: str = "closed form"
    page: Statement | None = None
    pages: tuple[Statement, ...] = ()
    thin: bool = True
    lines: type[SampleLine] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "lines" not in vars(cls) and not vars(cls).keys().isdisjoint(("domain", "primal", "dual")):
            cls.lines = None  # another problem than its parent's, until it says otherwise

    def line(self, *ends: Any, **parameters: Any) -> Any:
        """Line of parameters that an exact path follows; its ``problem`` is a `ParametricQP` over t in [0, 1].

        Parameters
        ----------
        *ends, **parameters
            As for `paretoclf.trace`.

        Returns
        -------
        SampleLine or ProgramLine
            One of `paretoclf.problem.lines`; or, of other formulations, the compiled program along the line.

        Raises
        ------
        InputError
            If a parameter is missing or out of its range, or there is no exact path.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> problem = svm.line((1, 2), (2, 1)).problem
        >>> problem.n, problem.upper[:, :4].tolist()
        (4, [[2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 1.0, 2.0]])
        """
        if self.lines is not None:
            return self.lines.of(self, *ends, **parameters)
        from paretoclf.solve.sources.formulation_line import source_of  # which compiles formulations

        return source_of(self, parameters).line

    @cached_property
    def parameters(self) -> Mapping[str, cp.Parameter]:
        """Parameters of both programs, by name."""
        made = {
            name: cp.Parameter(nonneg=r.low >= 0, nonpos=r.high <= 0, name=name)
            for name, r in checked_domain(self.domain).items()
        }
        return MappingProxyType(ByName(made))

    @property
    def names(self) -> Names:
        """Names of the features, if it was given a frame: classifiers hold new frames to them."""
        gram = getattr(self, "gram", None)
        return None if gram is None else gram.names

    @property
    @abstractmethod
    def primal(self) -> cp.Problem:
        """The primal program: a minimisation, DPP in the parameters."""

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual program, written as a minimisation: its value is minus that of the primal. DPP.

        One that is written by hand shows a mistake in the primal; by default it is derived from the primal
        (`paretoclf.dual`), and shows none.

        Raises
        ------
        InputError
            If none was written, and an atom of the primal has no conjugate in the table.
        """
        from paretoclf.solve.duals.dual import dual  # few formulations are without a dual of their own

        derived = dual(self.primal).problem
        return cp.Problem(cp.Minimize(-derived.objective.expr), derived.constraints)

    @property
    def states_dual(self) -> bool:
        """Whether its dual was written by hand: then certificates compare the two programs."""
        return getattr(type(self), "dual", None) is not Formulation.dual

    @cached_property
    def primal_model(self) -> Model:
        """The primal, with names for its variables and constraints."""
        return Model.of(self.primal, self.thin)

    @cached_property
    def dual_model(self) -> Model:
        """The dual, with names for its variables and constraints."""
        return Model.of(self.dual, self.thin)

    def model(self, form: Form) -> Model:
        """Return the model of one form, ``"dual"`` or ``"primal"``."""
        return self.dual_model if check_form(form) == "dual" else self.primal_model

    def needs(self, form: Form) -> tuple[Form, ...]:
        """Forms that must be solved when one is asked for: without a judge of its own, every form that was written."""
        if type(self).judge is not Formulation.judge:
            return (form,)
        return ("primal", "dual") if self.states_dual or form == "dual" else ("primal",)

    @property
    def has_judge(self) -> bool:
        """Whether it completes its solutions in its own way, not by comparing programs."""
        steps = ("read", "judge", "complete", "complete_many")
        return any(getattr(type(self), step) is not getattr(Formulation, step) for step in steps)

    def solve(
        self,
        *args: Any,
        form: Form | None = None,
        accuracy: Accuracy = "reference",
        polish: bool = True,
        solver: str = DEFAULT_SOLVER,
        **given: Any,
    ) -> Solution:
        """Solve at one value of the parameters and certify the answer.

        Parameters
        ----------
        *args, **given
            Values of the parameters, by position in `domain` or by name. What is no parameter is passed to
            ``cvxpy.Problem.solve``.
        form : {"dual", "primal"}, optional
            Which program the solver sees; by default `default_form`.
        accuracy : {"reference", "fast"}
            Clarabel's tolerance, 1e-12 or 1e-8.
        polish : bool
            Whether to refine the answer, for formulations that can.
        solver : str
            An installed CVXPY solver.

        Raises
        ------
        InputError
            If an argument is not what it must be; nothing has been solved then.
        SolveError
            If the solver returns no point.
        """
        names = list(self.domain)
        if len(args) > len(names):
            raise InputError(f"there are {len(names)} parameters ({', '.join(names)}), got {len(args)} numbers")
        values = dict(zip(names, args, strict=False))
        twice = sorted(set(values) & set(given))
        if twice:
            raise InputError(f"{twice[0]} must be given once, got it by position and by name")
        values |= {name: given.pop(name) for name in list(given) if name in self.accepted}
        return solve_at(self, values, form=form, accuracy=accuracy, polish=polish, solver=solver, options=given)

    @property
    def accepted(self) -> tuple[str, ...]:
        """Names that `solve` takes for parameters; more than `domain` where there are several ways to give them."""
        return tuple(self.domain)

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the parameter values as floats, in the order of `domain`.

        Raises
        ------
        InputError
            If a parameter is missing, unknown, no number or out of its range.
        """
        return within(values, self.domain)

    def closed_form(self, values: Mapping[str, float]) -> Any | None:
        """Return the point where it needs no solver, else None."""
        return None

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> Any:
        """Return the point that named variables and multipliers describe, by the form they come from."""
        return found

    def judge(self, values: Mapping[str, float], point: Any) -> Judged:
        """Certify a point. Here: both programs at their own solutions; for a primal alone, its cone program."""
        if "dual" not in point:
            from paretoclf.solve.judging.cone_proof import judge_alone

            return judge_alone(self.primal_model, point["primal"])
        from paretoclf.solve.judging.primal_and_dual import judge_programs

        forms: tuple[Form, ...] = ("primal", "dual")
        return judge_programs({form: self.model(form) for form in forms}, point)

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from named numbers. Here: ``w . x + b`` from the variables ``w`` and ``b`` (or no b).

        Where they are none, a `NoRule`: the solution has its value and proof, and who asks for a score is told why
        there is none.
        """
        own = () if "w" in numbers else self.primal_model.variables
        return named_rule(numbers, own, type(self).__name__, override=True, names=self.names)

    def refined(self, values: Mapping[str, float], point: Any, solution: Solution) -> Any | None:
        """Return a better point near a solver's and its solution, or None where there is nothing to refine: here."""
        return None

    def complete(self, values: Mapping[str, float], point: Any, *, polish: bool, **how: Any) -> Solution:
        """Certify the point and, on request, the refined one; return the better. `how`: other fields of a `Claim`."""
        solution = self.certified(values, point, **how)
        refined = self.refined(values, point, solution) if polish else None
        return solution if refined is None else self.better(solution, values, refined, **how)

    def certified(self, values: Mapping[str, float], point: Any, **how: Any) -> Solution:
        """Certify the point."""
        self._set(values)
        return self._solution(self.judge(values, point), Claim(values, point, False, **how))

    def better(
        self, solution: Solution, values: Mapping[str, float], refined: Any, *, status: str, **how: Any
    ) -> Solution:
        """Return the better of a solution and a refined point, certified."""
        other = self.certified(values, refined, status=f"{status}, polished", **how)
        return min(other, solution, key=lambda s: worst(s.certificate))

    def uncertified(self, claim: Claim) -> Solution:
        """Take a point of the primal as it is: its certificate says that nothing is proved."""
        from paretoclf.solve.judging.cone_proof import judge_nothing

        self._set(claim.values)
        return self._solution(judge_nothing(self.primal_model, claim.point["primal"]), claim)

    def _set(self, values: Mapping[str, float]) -> None:
        for name, parameter in self.parameters.items():
            parameter.value = values[name]

    def _solution(self, judged: Judged, claim: Claim) -> Solution:
        return Solution(
            classifier=self.classifier(claim.values, ByName(judged.numbers)),
            evidence=Evidence(judged),
            source=claim.source,
            status=claim.status,
            timing=dict(claim.timing),
            values=dict(claim.values),
        )

    def complete_many(self, claims: Iterable[Claim]) -> list[Solution]:
        """Certify many points. Here: one after the other, each as soon as it is there."""
        return [self.complete(**vars(claim)) for claim in claims]

    def statement(self) -> str:
        """Markdown with LaTeX: primal, Lagrangian, dual, KKT conditions, signs, recovery.

        Without a `page` it has the parameters, and the programs as CVXPY prints them.
        """
        if self.page is not None:
            return self.page.markdown()
        programs = [
            f"## {form.capitalize()}\n\n```text\n{printed(self.model(form).problem)}\n```"
            for form in self.needs("primal")
        ]
        return "\n\n".join([self.describe().rstrip(), *programs]) + "\n"

    @classmethod
    def describe(cls) -> str:
        """Statement of the class, for which no data are needed."""
        if cls.page is not None:
            return "\n".join(page.markdown() for page in cls.pages or (cls.page,))
        title = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
        rows = [f"- `{name}`: {allowed}" for name, allowed in cls.domain.items()]
        return "\n\n".join([f"# {cls.__name__}", title, "## Parameters", "\n".join(rows)]) + "\n"

    def _repr_markdown_(self) -> str:
        return self.statement()

    def __getstate__(self) -> dict[str, Any]:
        # Compiled CVXPY problems hold solvers, which cannot be pickled; all of this is built again when asked for.
        built = {"parameters", "primal", "dual", "primal_model", "dual_model"}
        return {name: value for name, value in self.__dict__.items() if name not in built and not _of_cvxpy(value)}


def checked_domain(domain: Any) -> Mapping[str, Range]:
    """A domain as it must be; InputError if it is not."""
    if not isinstance(domain, Mapping) or not all(isinstance(each, Range) for each in domain.values()):
        raise InputError(
            f"domain must map names of parameters to their Range, such as paretoclf.POSITIVE, got {domain!r}"
        )
    return domain


def within(values: Mapping[str, Any], domain: Mapping[str, Range]) -> dict[str, float]:
    """Parameter values as floats, in the order of the domain; InputError if one is missing, unknown or out of range."""
    names = list(checked_domain(domain))
    for name in values:
        if name not in names:
            raise InputError(f"{name} must be one of the parameters {', '.join(names)}")
    for name in names:
        if name not in values:
            raise InputError(f"{name} must be given: the parameters are {', '.join(names)}")
    numbers = {}
    for name in names:
        try:
            numbers[name] = real_number(values[name])
        except (TypeError, ValueError):
            raise InputError(f"{name} must be a number, got {values[name]!r}") from None
        if numbers[name] not in domain[name]:
            raise InputError(f"{name} must be {domain[name]}, got {values[name]!r}")
        require_scale_of_costs(abs(numbers[name]), f"the size of {name}")
    return numbers


def _of_cvxpy(value: Any) -> bool:
    """Whether a value is a parameter of CVXPY, or holds some: a subclass may keep them as cached properties."""
    values = value if isinstance(value, tuple) else (value,)
    return bool(values) and all(isinstance(v, cp.Parameter | cp.Variable | cp.Problem) for v in values)


# ---- one solve through CVXPY ---------------------------------------------------------------------------------------


def solve_at(
    formulation: Formulation,
    values: Mapping[str, Any],
    *,
    form: Form | None = None,
    accuracy: Accuracy = "reference",
    polish: bool = True,
    solver: str = DEFAULT_SOLVER,
    options: Mapping[str, Any] | None = None,
) -> Solution:
    """`Formulation.solve` at values by name, with the options of ``cvxpy.Problem.solve``."""
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
            return less_accurate(formulation, numbers, forms).complete(formulation, numbers, polish)
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

    def claim(self, formulation: Formulation, values: Mapping[str, float], polish: bool) -> Claim:
        """Read the point."""
        return Claim(values, formulation.read(self.numbers), polish, self.source, self.status, self.timing)

    def complete(self, formulation: Formulation, values: Mapping[str, float], polish: bool) -> Solution:
        """Read the point and certify it."""
        return formulation.complete(**vars(self.claim(formulation, values, polish)))


def through_cvxpy(
    formulation: Formulation,
    numbers: Mapping[str, float],
    forms: tuple[Form, ...],
    solver: str = DEFAULT_SOLVER,
    settings: Mapping[str, Any] | None = None,
) -> Found:
    """Solve forms with ``cvxpy.Problem.solve``; SolveError if the solver fails or returns no point."""
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
    formulation: Formulation, numbers: Mapping[str, float], forms: tuple[Form, ...], accuracy: Accuracy
) -> Found:
    """Solve forms at one accuracy, or where Clarabel does not reach it, at the next."""
    try:
        return through_cvxpy(formulation, numbers, forms, settings=_options(DEFAULT_SOLVER, accuracy, {}))
    except SolveError:
        if accuracy == "fast":
            raise
        return less_accurate(formulation, numbers, forms)


def less_accurate(formulation: Formulation, numbers: Mapping[str, float], forms: tuple[Form, ...]) -> Found:
    """Solve forms at the next tolerances of Clarabel; SolveError if it reaches none."""
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
    formulation: Formulation, numbers: Mapping[str, float], forms: tuple[Form, ...], accuracy: Accuracy
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

    def cone() -> CompiledCone:
        from paretoclf.solve.judging.cone_proof import CompiledCone

        return CompiledCone.of(model, compiled).solved(raw)

    options = conic_settings("reference")
    if solver != DEFAULT_SOLVER or settings != {**options, "warm_start": False}:
        model.problem.solve(solver=solver, **settings)
        return None
    compiled = problem_data(model.problem, options)
    data, chain, inverse = compiled
    raw = chain.solve_via_data(model.problem, data, warm_start=False, verbose=False, solver_opts=options)
    model.problem.unpack_results(raw, chain, inverse)
    return cone


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
