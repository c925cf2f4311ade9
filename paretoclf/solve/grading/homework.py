"""Homework on duals: somebody's dual beside the primal, at several values of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import HOMEWORK
from paretoclf.solve.grading.compiled_once import compiled_once
from paretoclf.solve.grading.slips import slips_of
from paretoclf.solve.judging.cone_proof import ProblemProof, is_problem
from paretoclf.solve.judging.given_values import proved_again
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model

DualVerdict = Literal["same value", "wrong sense", "no bound", "weaker", "infeasible", "unbounded", "undecided"]

#: At how many values of the parameters a dual is compared, and how many are tried to find these.
PLACES, TRIED = 5, 20


@dataclass(frozen=True, repr=False)
class DualGrade:
    """What `grade_dual` says of somebody's dual.

    Attributes
    ----------
    verdict : {"same value", "wrong sense", "no bound", "weaker", "infeasible", "unbounded", "undecided"}
        ``no bound``: it passes the primal somewhere; ``weaker``: it never does, and is somewhere below.
    sentence : str
        Why; it never says that a problem *is* the dual.
    places : tuple of mapping of str to array
        Values of the parameters at which both were compared.
    primal, dual : tuple of float
        Values there.
    hint : str
        The one change of a term that makes all values equal; empty if there is none.
    """

    verdict: DualVerdict
    sentence: str
    places: tuple[Mapping[str, Any], ...] = ()
    primal: tuple[float, ...] = ()
    dual: tuple[float, ...] = ()
    hint: str = field(default="")

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


def grade_dual(
    problem: cp.Problem,
    dual: cp.Problem,
    at: Sequence[Mapping[Any, Any]] | None = None,
    tol: float = HOMEWORK,
) -> DualGrade:
    """Compare somebody's dual with the primal, at several values of their parameters.

    It must have the other sense and the same value, by proved bounds of both, and never pass the primal. That is no
    proof that it is the dual, and is not said to be.

    Parameters
    ----------
    problem, dual : cvxpy.Problem
        Parameters are the same objects, or have the same names.
    at : sequence of dict from cvxpy.Parameter or str to number or array, optional
        Where to compare. By default five places between the values that are set and twice them, at which the primal
        has a solution; without parameters one.
    tol : float
        What counts as equal, relative to the largest value at any of the places.

    Raises
    ------
    InputError
        If one of them is no convex problem, or a parameter has no value.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.grading.homework import grade_dual
    >>> x, y, r = cp.Variable(2, name="x"), cp.Variable(name="y"), cp.Parameter(value=1.0, name="r")
    >>> primal = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == r])
    >>> print(grade_dual(primal, cp.Problem(cp.Maximize(r * y - cp.square(y) / 2))))
    It has the same value as the primal, and is of the other sense, at all five: r = 1, 1.64, 1.04, 1.81, 1.61.
    >>> print(grade_dual(primal, cp.Problem(cp.Maximize(r * y - cp.square(y)))))
    Weaker: at r = 1 its value is 0.25, the primal's 0.5. With half of power(y, 2) in the objective, all are equal.
    """
    tol = check_positive_number(tol, "tol")
    for name, given in (("problem", problem), ("dual", dual)):
        if not is_problem(given):
            raise InputError(f"{name} must be a cvxpy.Problem, got {given!r:.200}")
        Model.of(given, maximise=True, moving=False)
    if isinstance(problem.objective, cp.Minimize) == isinstance(dual.objective, cp.Minimize):
        verbs = ("minimisation", "maximisation")
        own, other = verbs if isinstance(problem.objective, cp.Minimize) else verbs[::-1]
        return DualGrade("wrong sense", f"Wrong sense: the dual of a {own} is a {other}.")
    known, theirs_once = _parameters(problem, dual), compiled_once(dual)
    places, values = _places(compiled_once(problem), known, at, tol)
    sense = 1 if isinstance(problem.objective, cp.Minimize) else -1
    found = []
    for place in places:
        with _set(known, place):
            found.append(proved_again(theirs_once, 0.01 * tol))
    theirs = [_value(proof) for proof in found]
    size = tol * max(*(abs(v) for v in values), 1e-6)
    for place, ours, value, proof in zip(places, values, theirs, found, strict=True):
        if value is None:
            return _without_a_value(proof, place, ours)
        if abs(value - ours) > size:
            hint = _hint(dual, known, places, values, tol)
            beyond = sense * (value - ours) > 0
            verdict: DualVerdict = "no bound" if beyond else "weaker"
            told = "No bound, since it passes the primal" if beyond else "Weaker"
            words = f"{told}: {_where(place)}its value is {value:.6g}, the primal's {ours:.6g}.{hint}"
            return DualGrade(verdict, words, tuple(places), tuple(values), tuple(v or np.nan for v in theirs), hint)
    numbers = tuple(float(v) for v in theirs if v is not None)
    return DualGrade("same value", _same(places), tuple(places), tuple(values), numbers)


def _parameters(problem: cp.Problem, dual: cp.Problem) -> dict[str, list[Any]]:
    """Parameters of both problems by name."""
    found: dict[str, list[Any]] = {}
    for parameter in (*problem.parameters(), *dual.parameters()):
        own = found.setdefault(parameter.name(), [])
        if all(parameter is not other for other in own):
            own.append(parameter)
    for name, own in found.items():
        if len({p.shape for p in own}) > 1:
            raise InputError(f"parameters of one name must have one shape, got two of {name}")
    return found


@contextmanager
def _set(known: Mapping[str, list[Any]], place: Mapping[str, Any]) -> Iterator[None]:
    """Give parameters other values for a while."""
    before = [(p, p.value) for own in known.values() for p in own]
    try:
        for name, value in place.items():
            for parameter in known[name]:
                parameter.value = value
        yield
    finally:
        for parameter, value in before:
            parameter.save_value(value)


def _places(
    problem: cp.Problem, known: Mapping[str, list[Any]], at: Sequence[Mapping[Any, Any]] | None, tol: float
) -> tuple[list[dict[str, Any]], list[float]]:
    """Where to compare, and the primal's values there."""
    places: list[dict[str, Any]] = []
    values: list[float] = []
    for place in _proposed(known) if at is None else [_named(each, known) for each in at]:
        with _set(known, place):
            value = _value(proved_again(problem, 0.01 * tol))
        if value is None and at is not None:
            raise InputError(f"at must be places at which the primal has a value that can be proved, got {place}")
        if value is not None:
            places.append(place)
            values.append(value)
        if len(places) == (PLACES if known else 1) and at is None:
            break
    if not places:
        raise InputError("problem must have a value that can be proved where its parameters are set: give other ones")
    return places, values


def _proposed(known: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The values that are set, then places between these and twice these, each parameter by its own factor."""
    first = {}
    for name, own in known.items():
        value = next((p.value for p in own if p.value is not None), None)
        if value is None:
            raise InputError(f"parameter {name} must have a value, or give at=")
        first[name] = np.asarray(value, dtype=float)
    yield first
    rng = np.random.default_rng(0)
    for _ in range(TRIED - 1):
        yield {
            name: _rounded(value * (1 + rng.random()) + (value == 0) * rng.random()) for name, value in first.items()
        }


def _rounded(value: Any) -> Any:
    """A value of three digits, which can be told; arrays keep theirs."""
    return np.asarray(float(f"{float(value):.3g}")) if np.ndim(value) == 0 else value


def _named(place: Mapping[Any, Any], known: Mapping[str, list[Any]]) -> dict[str, Any]:
    """A place by names."""
    found = {key if isinstance(key, str) else key.name(): np.asarray(value, float) for key, value in place.items()}
    odd = sorted(set(found) ^ set(known))
    if odd:
        raise InputError(f"at must have a value for each of {', '.join(known) or 'no parameters'}: look at {odd[0]}")
    return found


def _value(proof: ProblemProof) -> float | None:
    """The optimal value where both bounds of it are close, or the point is feasible and one of them is close."""
    if proof.certificate is None:
        return None
    if np.isfinite([proof.lower, proof.upper]).all() and proof.upper - proof.lower <= 1e-4 * (1 + abs(proof.upper)):
        return 0.5 * (proof.lower + proof.upper)
    return float(proof.certificate.primal_value) if proof.status == "optimal" else None


def _without_a_value(proof: ProblemProof, place: Mapping[str, Any], ours: float) -> DualGrade:
    """A dual that has no value where the primal has one."""
    said = {"infeasible": "infeasible", "unbounded": "unbounded"}.get(proof.status)
    if said is None:
        return DualGrade("undecided", f"Undecided: {_where(place)}the value of the dual is not proved.")
    words = f"Wrong: {_where(place)}it is {said}, and the primal has the value {ours:.6g}."
    return DualGrade("infeasible" if said == "infeasible" else "unbounded", words)


def _where(place: Mapping[str, Any]) -> str:
    """A place in words; arrays are told by name alone."""
    said = [f"{name} = {float(value):.3g}" for name, value in place.items() if np.ndim(value) == 0]
    said += [f"another {name}" for name, value in place.items() if np.ndim(value)]
    return f"at {', '.join(said)} " if said else ""


def _same(places: Sequence[Mapping[str, Any]]) -> str:
    """The sentence of equal values."""
    words = "It has the same value as the primal, and is of the other sense"
    if not places[0]:
        return f"{words}: one number shows little."
    count = {1: "at one place", 5: "at all five"}.get(len(places), f"at all {len(places)}")
    told = []
    for name, value in places[0].items():
        numbers = [f"{float(place[name]):.3g}" for place in places] if np.ndim(value) == 0 else ["of other values"]
        told.append(f"{name} = {', '.join(numbers)}" if np.ndim(value) == 0 else f"{name} {numbers[0]}")
    return f"{words}, {count}: {'; '.join(told)}."


# --- Slips ------------------------------------------------------------------------------------------------------------


def _hint(
    dual: cp.Problem,
    known: Mapping[str, list[Any]],
    places: Sequence[Mapping[str, Any]],
    values: Sequence[float],
    tol: float,
) -> str:
    """The one change of a term that makes all values equal, in words; none where there are several or none."""
    fits = []
    size = tol * max(*(abs(v) for v in values), 1e-6)
    slips = slips_of(dual)
    for words, parameter, factor in slips.changes:
        with slips.made(parameter, factor) as changed:
            if _equal(changed, known, places, values, size):
                fits.append(words)
        if len(fits) > 1:
            return ""
    return f" {fits[0]}, all are equal." if fits else ""


def _equal(
    changed: cp.Problem,
    known: Mapping[str, list[Any]],
    places: Sequence[Mapping[str, Any]],
    values: Sequence[float],
    size: float,
) -> bool:
    """Whether a problem has these values; the first that is not ends it."""
    for place, value in zip(places, values, strict=True):
        with _set(known, place):
            found = _value(proved_again(changed, 1e-5))
        if found is None or abs(found - value) > size:
            return False
    return True
