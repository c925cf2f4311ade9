"""Weak duality at one pair of points: what each of them proves, by the judge of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError, SolveError
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem
from paretoclf.solve.judging.given_values import kept, solved
from paretoclf.solve.judging.primal_and_dual import finite, held
from paretoclf.solve.models.lazily import cp

#: What the label of an equation of a dual begins with, before the name of a variable of the primal.
COEFFICIENT = "coefficient of "

#: The two points of a pair in a sentence: a problem may have variables that are called x and y.
_NAMES = ("the point is", "the multipliers are")


@dataclass(frozen=True, repr=False)
class WeakDuality:
    """Bounds of the optimal value that a pair of points proves.

    Attributes
    ----------
    primal_value, dual_value : float
        Objectives at the two points, whether they are feasible or not.
    primal_feasible, dual_feasible : bool
        By the judge, to its tolerance.
    gap : float
        Distance of the two values: x is no further from optimal; infinite unless both points are feasible.
    primal, dual : ProblemProof
        What the judge says of x in the primal, and of y in the dual.
    sentence : str
    """

    primal_value: float
    dual_value: float
    primal_feasible: bool
    dual_feasible: bool
    gap: float
    primal: ProblemProof = field(repr=False)
    dual: ProblemProof = field(repr=False)
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


def solved_or_refused(problem: cp.Problem) -> cp.Problem:
    """A problem with the same variables, solved.

    Raises
    ------
    SolveError
        If the solver fails.
    """
    try:
        return solved(problem)
    except cp.SolverError as error:
        raise SolveError(
            f"CLARABEL fails on this problem or on one made of it: {error} Bound its variables, or give it in units in "
            "which its numbers are near 1"
        ) from None


class NothingFits(InputError):
    """Values of some variables beside which the others have none."""


def judged(problem: cp.Problem, given: Mapping[str, Any], tol: float, argument: str) -> ProblemProof:
    """The judge's word on given values of some variables; the others are chosen, best for the objective.

    Raises
    ------
    InputError
        If the others have no values beside these; `NothingFits` where none are feasible.
    SolveError
        If the solver fails.
    """
    variables = {v.name(): v for v in problem.variables()}
    missing = [name for name in variables if name not in given]
    with kept(problem):
        values = dict(given)
        if missing:
            fixed = [variables[name] == value for name, value in given.items() if name in variables]
            rest = solved_or_refused(cp.Problem(problem.objective, [*problem.constraints, *fixed]))
            if rest.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
                infeasible = rest.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE)
                raise (NothingFits if infeasible else InputError)(
                    f"{argument} must leave values to {', '.join(missing[:3])}, which were not given: with these "
                    f"numbers the problem is {rest.status}; give them all"
                )
            values |= {name: held(variables[name]) for name in missing}
        try:
            own = solved(problem)
        except cp.SolverError:  # the values are judged all the same, beside fewer multipliers
            own = cp.Problem(problem.objective, problem.constraints)
        for name, value in values.items():
            if name in variables and finite(value):
                variables[name].save_value(np.asarray(value, dtype=float))
        return certify_problem(own, tol)


def judged_dual(problem: cp.Problem, given: Mapping[str, Any], tol: float) -> tuple[ProblemProof, str]:
    """The judge's word on some multipliers of a dual; where no others fit them, why, in words."""
    try:
        return judged(problem, given, tol, "y"), ""
    except NothingFits:
        with kept(problem):
            chosen, why = _nearest(problem, given)
        return judged(problem, {**given, **chosen}, tol, "y"), why


def _nearest(problem: cp.Problem, given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Values of the other variables that miss the dual's equations by least, or 0; and which one they miss."""
    variables = {v.name(): v for v in problem.variables()}
    others = {v.id: v for name, v in variables.items() if name not in given}
    zero = {v.name(): np.zeros(v.shape) for v in others.values()}
    known = {name: np.asarray(value, dtype=float) for name, value in given.items()}
    for name, value in known.items():
        if variables[name].is_nonneg() and value.min(initial=0.0) < 0.0:
            return zero, f"{name} must not be negative, and is {value.min():.4g}"
    equations = [c for c in problem.constraints if str(c.label).startswith(COEFFICIENT)]
    rows = [c for c in problem.constraints if not str(c.label).startswith(COEFFICIENT)]
    fixed = [variables[name] == value for name, value in known.items()]
    squares = sum((cp.sum_squares(c.expr) for c in equations), cp.Constant(0.0))
    found = solved_or_refused(cp.Problem(cp.Minimize(squares), [*rows, *fixed]))
    if found.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        return zero, ""
    chosen = {v.name(): held(v) for v in others.values()}
    missed = [(np.asarray(c.expr.value), c) for c in equations if others.keys() & _ids(c)]
    if not missed:
        return chosen, ""
    value, equation = max(missed, key=lambda each: float(np.max(np.abs(each[0]), initial=0.0)))
    at = np.unravel_index(int(np.argmax(np.abs(value))), value.shape)
    place = str([int(k) for k in at]) if at else ""
    own = [others[k] for k in others.keys() & _ids(equation)]
    unfit = sorted(f"{v.name()}{' >= 0' if v.is_nonneg() else ''}" for v in own)
    told = f"{equation.label}{place} is {float(value[at]):.4g}"
    return chosen, f"no {' and '.join(unfit)} fits: the {told}"


def _ids(constraint: Any) -> set[int]:
    """The variables of a constraint."""
    return {variable.id for variable in constraint.variables()}


def weak_duality(primal: ProblemProof, dual: ProblemProof, sense: int, tol: float, why: str = "") -> WeakDuality:
    """The two proofs side by side; ``why`` says more of a y that is not feasible."""
    values, feasible, missed = [], [], []
    for proof in (primal, dual):
        known = proof.certificate
        values.append(float("nan") if known is None else float(known.primal_value))
        off = {c.name: float(c.infeasibility.max(initial=0.0)) for c in proof.conditions}
        worst = max(off, key=lambda name: off[name], default="")
        inside = known is not None and all(value <= tol for value in off.values())
        feasible.append(inside)
        missed.append("" if inside else f"{worst} is missed by {off.get(worst, np.nan):.2g} of its size")
    missed[1] = why if missed[1] and why else missed[1]
    gap = sense * (values[0] - values[1]) if all(feasible) else np.inf
    if all(feasible):
        low, high = sorted((values[0], values[1])) if gap >= 0 else (values[1], values[0])
        words = (
            f"Weak duality: the optimal value lies between {low:.9g} and {high:.9g}. Both points are feasible to "
            f"{tol:.0e} of the terms of each constraint; the point is within {max(gap, 0.0):.2g} of the optimal value."
        )
    else:
        told = [f"{name} not feasible ({why})" for name, why in zip(_NAMES, missed, strict=True) if why]
        words = f"No bound: {' and '.join(told)}."
    value, dual_value = values
    inside, dual_inside = feasible
    return WeakDuality(value, dual_value, inside, dual_inside, float(gap), primal, dual, words)
