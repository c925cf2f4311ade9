"""Weak duality at one pair of points: what each of them proves, by the judge of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem
from paretoclf.solve.judging.given_values import kept, solved
from paretoclf.solve.judging.primal_and_dual import finite, held
from paretoclf.solve.models.lazily import cp


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


def judged(problem: cp.Problem, given: Mapping[str, Any], tol: float, argument: str) -> ProblemProof:
    """The judge's word on given values of some variables; the others are chosen, best for the objective.

    Raises
    ------
    InputError
        If the others have no values beside these.
    """
    variables = {v.name(): v for v in problem.variables()}
    missing = [name for name in variables if name not in given]
    with kept(problem):
        values = dict(given)
        if missing:
            fixed = [variables[name] == value for name, value in given.items() if name in variables]
            rest = solved(cp.Problem(problem.objective, [*problem.constraints, *fixed]))
            if rest.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
                raise InputError(
                    f"{argument} must leave values to {', '.join(missing[:3])}, which were not given: with these "
                    f"numbers the problem is {rest.status}; give them all"
                )
            values |= {name: held(variables[name]) for name in missing}
        own = solved(problem)
        for name, value in values.items():
            if name in variables and finite(value):
                variables[name].save_value(np.asarray(value, dtype=float))
        return certify_problem(own, tol)


def weak_duality(primal: ProblemProof, dual: ProblemProof, sense: int, tol: float) -> WeakDuality:
    """The two proofs side by side."""
    values, feasible, missed = [], [], []
    for proof in (primal, dual):
        known = proof.certificate
        values.append(float("nan") if known is None else float(known.primal_value))
        off = {c.name: float(c.infeasibility.max(initial=0.0)) for c in proof.conditions}
        worst = max(off, key=lambda name: off[name], default="")
        inside = known is not None and all(value <= tol for value in off.values())
        feasible.append(inside)
        missed.append("" if inside else f"{worst} is missed by {off.get(worst, np.nan):.2g} of its size")
    gap = sense * (values[0] - values[1]) if all(feasible) else np.inf
    if all(feasible):
        low, high = sorted((values[0], values[1])) if gap >= 0 else (values[1], values[0])
        words = (
            f"Weak duality: the optimal value lies between {low:.9g} and {high:.9g}. Both points are feasible to "
            f"{tol:.0e} of the terms of each constraint; x is within {max(gap, 0.0):.2g} of the optimal value."
        )
    else:
        told = [f"{name} is not feasible ({why})" for name, why in zip("xy", missed, strict=True) if why]
        words = f"No bound: {' and '.join(told)}."
    value, dual_value = values
    inside, dual_inside = feasible
    return WeakDuality(value, dual_value, inside, dual_inside, float(gap), primal, dual, words)
