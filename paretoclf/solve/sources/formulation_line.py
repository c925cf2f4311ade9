"""From a formulation and intervals of its parameters to the program along a line: its primal, else its dual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from paretoclf.common.checks import check_number, check_pair
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.sources.problem_line import LineOfPrograms


class _HasProgram(Protocol):
    """What has a program, and the sign of its value."""

    line: ProgramLine
    sign: int


Source = TypeVar("Source", bound=_HasProgram)


def source_of(
    formulation: Any, given: Mapping[str, Any], kind: type[LineOfPrograms] = LineOfPrograms
) -> LineOfPrograms:
    """The program of a formulation, primal or dual, where each parameter is a number or a pair (from, to).

    ``kind`` is what compiles it: an exact path needs a quadratic or linear program, others may have cones.

    Raises
    ------
    InputError
        If a parameter is missing, unknown or out of its range, none moves, or neither program is a quadratic or linear
        one with fixed matrices: with what stands in the way in each.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.solve.sources.formulation_line import source_of
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> source_of(svm, {"C_plus": (1, 2), "C_minus": 1}).ends[1]["C_plus"].item()
    2.0
    """
    name = type(formulation).__name__
    ends = _ends(formulation, given, name)

    def line(problem: Any) -> LineOfPrograms:
        own = problem.parameters()
        follows = any(isinstance(p, cp.CallbackParam) for p in own)
        used = [key for key, p in formulation.parameters.items() if follows or any(p is each for each in own)]
        first, last = ({formulation.parameters[key]: end[key] for key in used} for end in ends)
        return kind(problem, first, last)

    what, instead = ("exact path", "pass eps for one within it, or use sweep")
    if kind is not LineOfPrograms:
        own = "along its own lines leave eps out, which is exact; else " if getattr(formulation, "lines", None) else ""
        what, instead = kind.called, f"{own}use sweep"
    found = of_either(formulation, ends[0], line, f"no {what} for {name} in {', '.join(given)}: {instead}. ")
    found.formulation, found.values = formulation, ends
    found.again = partial(source_of, given=given, kind=kind)
    return found


def source_at(formulation: Any, given: Mapping[str, Any]) -> LineOfPrograms:
    """Source of a formulation at one point: a line on which nothing moves."""
    refusal = f"no program with a certificate for {type(formulation).__name__}: "
    return of_either(formulation, formulation.check_values(given), LineOfPrograms.here, refusal)


def of_either(
    formulation: Any, values: Mapping[str, float], source_of: Callable[[Any], Source], refusal: str
) -> Source:
    """Source of the primal, else of the dual; InputError with what stands in the way in each."""
    refusals = []
    forms: tuple[Form, ...] = ("primal", "dual") if formulation.states_dual else ("primal",)
    for form in forms:
        problem = formulation.model(form).problem
        for key, value in values.items():
            formulation.parameters[key].value = value
        try:
            source = source_of(problem)
        except InputError as error:
            refusals.append(f"its {form}: {error}")
            continue
        if form == "dual":  # a minimisation whose value is minus that of the primal
            source.line, source.sign = replace(source.line, sense=-source.line.sense), -1
        return source
    raise InputError(refusal + ". ".join(refusals))


def _ends(formulation: Any, given: Mapping[str, Any], name: str) -> tuple[dict[str, float], dict[str, float]]:
    """The parameters at both ends, within their ranges."""
    domain = tuple(formulation.domain)
    how = f"{name} is traced with its parameters, each a number or a pair (from, to): {', '.join(domain)}"
    for key in given:
        if key not in domain:
            raise InputError(f"{key} must be left out: {how}, got {given[key]!r:.100}")
    for key in domain:
        if key not in given:
            raise InputError(f"{key} must be given: {how}")
    pairs = {
        key: (check_number(value, key),) * 2 if _is_number(value) else check_pair(value, key, "(from, to)")
        for key, value in given.items()
    }
    if all(a == b for a, b in pairs.values()):
        raise InputError(f"a parameter must move, as a pair (from, to) with different ends, got {pairs}")
    first, last = (formulation.check_values({key: pair[i] for key, pair in pairs.items()}) for i in (0, 1))
    return first, last


def _is_number(value: Any) -> bool:
    return not hasattr(value, "__len__")
