"""Which constraints leave no room: why a problem has no Slater point, where none is found.

Slater's condition is a feasible point that is strict in every constraint that is not polyhedral. Without one the values
of a problem and of its dual may differ, and optimal multipliers need not exist: bounds then close slowly, or never.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.tolerances import SLATER_STRICT
from paretoclf.solve.judging.given_values import kept, solved
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model

#: So many constraints are tried one by one; of more it is said that they leave no room together.
_TRIED = 12

_SIGNED = ("Inequality", "NonNeg", "NonPos")


def polyhedral(constraint: Any) -> bool:
    """Whether a constraint is an equation, or an inequality between polyhedral functions."""
    kind = type(constraint).__name__
    return kind in ("Equality", "Zero") or (kind in _SIGNED and all(arg.is_pwl() for arg in constraint.args))


def tightened(constraint: Any, slack: Any) -> list[Any] | None:
    """A constraint with room on its inner side; None of a kind without one."""
    kind = type(constraint).__name__
    if kind == "NonNeg":
        return [constraint.args[0] >= slack]
    if kind in ("Inequality", "NonPos"):
        return [constraint.expr <= -slack]
    if kind == "PSD":
        return [constraint.expr - slack * np.eye(constraint.expr.shape[0]) >> 0]
    if kind == "SOC":
        return [cp.SOC(constraint.args[0] - slack, constraint.args[1], axis=constraint.axis)]
    if kind == "ExpCone":
        x, y, z = constraint.args
        return [cp.ExpCone(x + slack, y, z - slack), y >= slack]
    if kind == "PowCone3D":
        x, y, z = constraint.args[:3]
        inside = cp.PowCone3D(x - slack, y - slack, z, constraint.alpha)
        return [inside, x >= slack, y >= slack]
    return None


def no_slater_point(model: Model) -> str:
    """A sentence on constraints that leave no room, where no Slater point is found; empty where one is, or none needed.

    Nothing is assigned.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.judging.slater import no_slater_point
    >>> from paretoclf.solve.models.model import Model
    >>> x = cp.Variable(2, name="x")
    >>> disc = (cp.sum_squares(x) <= 0).set_label("disc")
    >>> words = no_slater_point(Model.of(cp.Problem(cp.Minimize(x[0]), [disc]), maximise=True, moving=False))
    >>> words.partition(":")[0]
    "Slater's condition is not met as far as is seen"
    """
    strict = {name: c for name, c in _constraints(model).items() if not polyhedral(c)} | _domains(model)
    if not strict or _room(model, strict) > SLATER_STRICT:
        return ""
    blamed = [name for name, c in strict.items() if len(strict) > 1 and _room(model, {name: c}) <= SLATER_STRICT]
    names = blamed if blamed and len(strict) <= _TRIED else list(strict)
    listed = " and ".join(names) if len(names) <= _TRIED else f"{len(names)} constraints"
    together = " together" if len(names) > 1 and names != blamed else ""
    return (
        f"Slater's condition is not met as far as is seen: no feasible point was found strictly inside {listed}"
        f"{together}. Then the dual may have another value (a gap), or no optimal multipliers."
    )


def _constraints(model: Model) -> dict[str, Any]:
    """The constraints, and what semidefinite variables say, by name."""
    found = dict(model.constraints)
    for name, variable in model.variables.items():
        for attribute, sign in (("PSD", 1), ("NSD", -1)):
            if variable.attributes[attribute]:
                found[f"{name}: {attribute}"] = sign * variable >> 0
    return found


def _domains(model: Model) -> dict[str, Any]:
    """Where the atoms of the problem are defined, by name: a Slater point is inside, whatever their form."""
    parts = {"the objective": [model.problem.objective.expr]}
    parts |= {name: constraint.args for name, constraint in model.constraints.items()}
    found = dict[str, Any]()
    for name, expressions in parts.items():
        domain = [c for each in expressions for c in each.domain if type(c).__name__ not in ("Equality", "Zero")]
        found |= {f"the domain of {name}{f' ({k + 1})' if k else ''}": c for k, c in enumerate(domain)}
    return found


def _room(model: Model, strict: dict[str, Any]) -> float:
    """The largest slack that these constraints leave together, beside the others; infinite where it is not known."""
    slack = cp.Variable(name="slack")
    rows = [tightened(constraint, slack) for constraint in strict.values()]
    if any(each is None for each in rows):
        return np.inf
    problem = cp.Problem(
        cp.Maximize(slack), [*model.constraints.values(), *(c for each in rows for c in each or []), slack <= 1]
    )
    if not problem.is_dcp():
        return np.inf
    with kept(model.problem):
        try:
            status = solved(problem).status
        except cp.SolverError:
            return np.inf
        known = status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) and slack.value is not None
        return float(slack.value) if known else np.inf
