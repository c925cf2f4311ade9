"""The judge of a formulation with a dual and no judge of its own: both programs, evaluated by CVXPY at their points.

The primal objective at a feasible primal point bounds the optimal value from above, the dual objective at a feasible
dual point from below. The two programs were written independently, so a mistake in one of them shows as a gap, or as a
dual value above the primal one. How feasible the points are is measured, constraint by constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.solve.lazily import cp
from paretoclf.solve.model import Form, Model


def judge_programs(models: Mapping[Form, Model], found: Mapping[Form, Mapping[str, Any]]) -> Judged:
    """Judge the points of the primal and of the dual program.

    Parameters
    ----------
    models : mapping from form to Model
        The programs; their parameters must have the values that the points belong to.
    found : mapping from form to numbers
        Variables and multipliers by name.
    """
    primal_value, conditions = evaluate(models["primal"], found["primal"])
    minus, constraints = evaluate(models["dual"], found["dual"])
    dual_value = -minus
    violations = {f"dual program: {c.name}": float(np.max(c.infeasibility, initial=0.0)) for c in constraints}
    numbers = dict(found["primal"])
    numbers |= {name: value for name, value in found["dual"].items() if name not in numbers}
    # A sign or a product belongs to the multipliers that the primal's solver returned.
    return judge(
        primal_value,
        dual_value,
        conditions,
        numbers,
        stationarity=violations,
        scale=max(abs(primal_value), np.finfo(float).tiny),
    ).revised(shortfall=0.0)


def evaluate(model: Model, numbers: Mapping[str, Any]) -> tuple[float, list[Condition]]:
    """Objective and conditions at given values of the variables and multipliers."""
    for name, variable in model.variables.items():
        variable.value = _shaped(numbers[name], variable.shape)
    conditions = [_condition(name, c, numbers[name]) for name, c in model.constraints.items()]
    return float(model.problem.objective.expr.value), conditions


def _shaped(value: Any, shape: tuple[int, ...]) -> Any:
    return np.reshape(np.asarray(value, dtype=np.float64), shape, order="F")


def _condition(name: str, constraint: Any, multiplier: Any) -> Condition:
    if isinstance(constraint, cp.constraints.SOC):
        return _cone(name, constraint, multiplier)
    unit = 1.0 + max((float(np.max(np.abs(a.value), initial=0.0)) for a in constraint.args), default=0.0)
    if isinstance(constraint, cp.constraints.Zero | cp.constraints.Equality):
        slack = np.ravel(constraint.expr.value)
        return Condition(name, slack, np.ravel(multiplier), equation=True, slack_unit=unit)
    largest = 1.0 + float(np.max(np.abs(np.asarray(multiplier, dtype=np.float64)), initial=0.0))
    if isinstance(constraint, cp.constraints.Inequality | cp.constraints.NonPos):
        slack = -np.ravel(constraint.expr.value)
        return Condition(name, slack, np.ravel(multiplier), slack_unit=unit, multiplier_unit=largest)
    if isinstance(constraint, cp.constraints.PSD):
        S, Z = np.asarray(constraint.expr.value), np.asarray(multiplier)
        slack, least = np.linalg.eigvalsh(0.5 * (S + S.T))[:1], np.linalg.eigvalsh(0.5 * (Z + Z.T))[:1]
        product = np.array([float(np.sum(S * Z))])
        # One number stands for each matrix: its smallest eigenvalue.
        return Condition(name, slack, least, slack_unit=unit, multiplier_unit=largest, product=product)
    violation = np.atleast_1d(np.max(constraint.violation(), initial=0.0))
    return Condition(name, -violation, np.zeros(1), slack_unit=unit)


def _cone(name: str, constraint: Any, multiplier: Any) -> Condition:
    """A second-order cone ``|x| <= t``: slack ``t - |x|``; its multiplier (s, z) satisfies ``|z| <= s``."""
    t, X = np.ravel(constraint.args[0].value), np.asarray(constraint.args[1].value)
    X = X.reshape(t.size, -1) if constraint.axis == 1 else X.reshape(-1, t.size).T
    s, Z = np.ravel(multiplier[0]), np.asarray(multiplier[1])
    Z = Z.reshape(t.size, -1) if constraint.axis == 1 else Z.reshape(-1, t.size).T
    return Condition(
        name,
        t - np.linalg.norm(X, axis=1),
        s - np.linalg.norm(Z, axis=1),
        slack_unit=1.0 + np.abs(t),
        multiplier_unit=1.0 + np.abs(s),
        product=s * t + np.einsum("ij,ij->i", X, Z),
    )
