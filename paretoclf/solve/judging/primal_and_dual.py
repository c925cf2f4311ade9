"""The judge of a formulation with a dual and no judge of its own: both programs, evaluated by CVXPY at their points.

The primal objective at a feasible primal point bounds the optimal value from above, the dual objective at a feasible
dual point from below. The two programs were written independently, so a mistake in one of them shows as a gap, or as a
dual value above the primal one. How feasible the points are is measured, constraint by constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge
from paretoclf.solve.judging.attribute_conditions import attributes_of
from paretoclf.solve.judging.conditions import condition, parts_in_a_row, told, value_of
from paretoclf.solve.judging.domains import in_domain
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form, Model, dense


def judge_programs(models: Mapping[Form, Model], found: Mapping[Form, Mapping[str, Any]]) -> Judged:
    """Judge the points of the primal and of the dual program, whose parameters have the values that these belong to."""
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
    """Objective and conditions at given values of the variables and multipliers; the variables keep their own values.

    What the attributes of a variable say (``x: nonneg``, ``M: PSD``) are conditions, too, and so are the domains of
    atoms, beyond which NumPy may have a value and the problem has no point. Where it has none, that at the nearest
    arguments in their domains stands for it.
    """
    values = {name: _shaped(numbers[name], variable) for name, variable in model.variables.items()}
    # Copies of the expressions have constants in place of the variables: nothing is assigned.
    fixed: dict[int, Any] = {}
    for name, variable in model.variables.items():
        fixed[id(variable)] = cp.Constant(values[name])
    for expression in (model.problem.objective.expr, *(c for c in model.constraints.values())):
        _fix_perspectives(expression, fixed)
    conditions, domains = [], []
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # what has no value is told as nan
        for name, constraint in model.constraints.items():
            at = constraint.tree_copy(fixed)
            own = condition(name, at, numbers.get(name))
            if not np.isfinite(own.slack).all():
                own = condition(name, in_domain(at), numbers.get(name))
            conditions.append(own)
            domains += _domain(name, at.args, fixed)
        attributes = attributes_of(model)
        if attributes is not None:
            conditions += attributes.conditions(values)
        objective = model.problem.objective.expr.tree_copy(fixed)
        value = float(np.squeeze(np.real(value_of(objective))))
        if not np.isfinite(value):
            value = float(np.squeeze(np.real(value_of(in_domain(objective)))))
        return value, [*conditions, *domains, *_domain("objective", [objective], fixed)]


def _fix_perspectives(expression: Any, fixed: dict[int, Any]) -> None:
    """Add what stands for each ``perspective(f, s)`` below an expression, which cannot be copied with constants.

    It is ``s f(x / s)``; where s is 0 that of the recession function, or nan where none was given.
    """
    if not isinstance(expression, cp.perspective):
        for part in expression.args:
            for each in part if isinstance(part, list) else [part]:
                _fix_perspectives(each, fixed)
        return
    scale, inner = float(fixed[id(expression.args[0])].value), expression.f
    if scale < 0.0 or (scale == 0.0 and expression.f_recession is None):
        fixed[id(expression)] = cp.Constant(np.full(expression.shape, np.nan))
        return
    if scale == 0.0:
        scale, inner = 1.0, expression.f_recession
    scaled = {}
    for variable in inner.variables():
        value = fixed[id(variable)].value
        scaled[id(variable)] = cp.Constant(value / scale)
    _fix_perspectives(inner, scaled)
    fixed.update({id(constant): constant for constant in scaled.values()})  # the domain of f is one of the problem
    fixed[id(expression)] = scale * inner.tree_copy(scaled)


def held(leaf: Any) -> Any:
    """The value that a variable holds as an array, the multipliers that a constraint holds; None where it has none."""
    if isinstance(leaf, cp.Constraint):
        parts = leaf.dual_value if isinstance(leaf.dual_value, list) else [leaf.dual_value]
        return None if any(part is None for part in parts) else leaf.dual_value
    value = leaf.value if leaf.sparse_idx is None else leaf.value_sparse
    return None if value is None else dense(value)


def finite(value: Any) -> bool:
    """Whether every number is; a multiplier of a cone is a list of arrays."""
    return all(map(finite, value)) if isinstance(value, list | tuple) else bool(np.isfinite(value).all())


def flat(multiplier: Any) -> Array:
    """Multipliers in the order of CVXPY's rows; of complex ones the real parts, then the imaginary ones."""
    return parts_in_a_row(np.ravel(dense(multiplier), order="F"))


def _shaped(value: Any, variable: Any) -> Any:
    value = dense(value)
    value = value.astype(np.complex128 if variable.is_complex() else np.float64)
    return np.reshape(value, variable.shape, order="F")


def _domain(name: str, expressions: Sequence[Any], fixed: Mapping[int, Any]) -> list[Condition]:
    """Where the atoms of these expressions are defined, as far as the variables, which are constants here, decide."""
    own = {id(constant) for constant in fixed.values()}
    said = [c for expression in expressions for c in expression.domain]
    parts = [condition("", c) for c in said if own & {id(constant) for constant in c.constants()}]
    return [_together(f"{name}: domain", parts)] if parts else []


def _together(name: str, parts: Sequence[Condition]) -> Condition:
    """One condition in place of several that have no multipliers: an equation is missed on both sides."""
    slack = [-np.abs(c.slack) if c.equation else c.slack for c in parts]
    units = [np.broadcast_to(c.slack_unit, c.slack.shape) for c in parts]
    return replace(told(name, np.concatenate(slack)), slack_unit=np.concatenate(units))
