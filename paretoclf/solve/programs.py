"""The judge of a formulation with a dual and no judge of its own: both programs, evaluated by CVXPY at their points.

The primal objective at a feasible primal point bounds the optimal value from above, the dual objective at a feasible
dual point from below. The two programs were written independently, so a mistake in one of them shows as a gap, or as a
dual value above the primal one. How feasible the points are is measured, constraint by constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.points.cones import Cone, project
from paretoclf.solve.lazily import cp
from paretoclf.solve.model import Form, Model, dense


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

    What the attributes of a variable say (``nonneg=True``, ``PSD=True``, ``bounds=``) are conditions, too, and so are
    the domains of atoms, beyond which NumPy may have a value and the problem has no point.
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
            conditions.append(_condition(name, at, numbers.get(name)))
            domains += _domain(name, at.args, fixed)
        for name, variable in model.variables.items():
            conditions += _attributes(name, variable, values[name], fixed)
        objective = model.problem.objective.expr.tree_copy(fixed)
        value = float(np.squeeze(np.real(_value(objective))))
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
    return _parts(np.ravel(dense(multiplier), order="F"))


def _shaped(value: Any, variable: Any) -> Any:
    value = dense(value)
    value = value.astype(np.complex128 if variable.is_complex() else np.float64)
    return np.reshape(value, variable.shape, order="F")


def _attributes(name: str, variable: Any, V: Any, fixed: Mapping[int, Any]) -> list[Condition]:
    """What the attributes of a variable say of its value V."""
    said = variable.attributes
    kinds: dict[str, list[Any]] = {"bounds": [], "PSD": []}
    for c in variable.domain:
        kinds["PSD" if isinstance(c, cp.constraints.PSD) else "bounds"].append(c.tree_copy(fixed))
    bounds = [_condition("", c, None) for c in kinds["bounds"]]
    found = [_together(f"{name}: bounds", bounds)] if bounds else []
    found += [_condition(f"{name}: {'NSD' if said['NSD'] else 'PSD'}", c, None) for c in kinds["PSD"]]
    pattern = np.zeros(V.shape, dtype=bool)
    if said["sparsity"]:
        pattern[variable.sparse_idx] = True
    mirror = V.T if V.ndim < 2 else np.swapaxes(V, -2, -1)
    wrong: dict[str, Callable[[], Any]] = {
        "symmetric": lambda: V - mirror,
        "hermitian": lambda: V - np.conj(mirror),
        "diag": lambda: V - np.eye(V.shape[-1]) * V,
        "sparsity": lambda: np.where(pattern, 0.0, V),
        "imag": lambda: np.real(V),
    }
    mirrored = "hermitian" if variable.is_complex() else "symmetric"
    wanted = {kind for kind in wrong if said[kind]} | ({mirrored} if said["PSD"] or said["NSD"] else set())
    unit = 1.0 + np.ravel(np.maximum(np.abs(V), np.abs(mirror)) if mirror.shape == V.shape else np.abs(V))
    for kind in sorted(wanted):
        slack = _parts(wrong[kind]())
        units = np.tile(unit, slack.size // unit.size)
        found.append(replace(_told(f"{name}: {kind}", slack), equation=True, slack_unit=units))
    return found


def _domain(name: str, expressions: Sequence[Any], fixed: Mapping[int, Any]) -> list[Condition]:
    """Where the atoms of these expressions are defined, as far as the variables, which are constants here, decide."""
    own = {id(constant) for constant in fixed.values()}
    said = [c for expression in expressions for c in expression.domain]
    parts = [_condition("", c, None) for c in said if own & {id(constant) for constant in c.constants()}]
    return [_together(f"{name}: domain", parts)] if parts else []


def _together(name: str, parts: Sequence[Condition]) -> Condition:
    """One condition in place of several that have no multipliers: an equation is missed on both sides."""
    slack = [-np.abs(c.slack) if c.equation else c.slack for c in parts]
    units = [np.broadcast_to(c.slack_unit, c.slack.shape) for c in parts]
    return replace(_told(name, np.concatenate(slack)), slack_unit=np.concatenate(units))


def _told(name: str, slack: Array) -> Condition:
    """A condition that has no multiplier."""
    return Condition(name, slack, np.zeros(slack.size), alone=True)


def _value(expression: Any) -> Any:
    try:
        return dense(expression.value)
    except ValueError:  # CVXPY's word on a matrix that is not symmetric and must be: outside of the domain
        return np.full(expression.shape, np.nan)


def _parts(value: Any) -> Array:
    """Numbers in a row; of complex ones the real parts, then the imaginary ones."""
    value = np.ravel(dense(value))
    return np.concatenate([value.real, value.imag]) if np.iscomplexobj(value) else np.asarray(value, dtype=np.float64)


def _condition(name: str, constraint: Any, multiplier: Any) -> Condition:
    kinds = cp.constraints
    if isinstance(constraint, kinds.SOC):
        return _cone(name, constraint, multiplier)
    if isinstance(constraint, kinds.ExpCone | kinds.PowCone3D):
        return _of_three(name, constraint)
    alone = multiplier is None
    multiplier = np.zeros(constraint.shape) if alone else multiplier
    if isinstance(constraint, kinds.Zero | kinds.Equality):
        slack = _parts(_value(constraint.expr))
        given = _parts(multiplier)
        given = given if given.size == slack.size else np.append(given, np.zeros(slack.size - given.size))
        sides = _sides(constraint)
        sides = np.tile(sides, slack.size // max(sides.size, 1))
        return Condition(name, slack, given, equation=True, slack_unit=sides, alone=alone)
    if isinstance(constraint, kinds.Inequality | kinds.NonPos | kinds.NonNeg):
        slack = np.ravel(np.real(_value(constraint.expr))) * (1 if isinstance(constraint, kinds.NonNeg) else -1)
        largest = 1.0 + float(np.max(np.abs(np.real(dense(multiplier))), initial=0.0))
        given = np.ravel(np.real(dense(multiplier)))
        return Condition(name, slack, given, slack_unit=_sides(constraint), multiplier_unit=largest, alone=alone)
    unit = 1.0 + max((float(np.max(np.abs(_value(a)), initial=0.0)) for a in constraint.args), default=0.0)
    if isinstance(constraint, cp.constraints.PSD):
        S, Z = _value(constraint.expr), dense(multiplier)
        lowest, least = _least_eigenvalue(S), _least_eigenvalue(Z)
        # Rows and columns may be scaled, and each is by its own diagonal entry: a large one says nothing of others.
        size = np.sqrt(1.0 + np.abs(np.diagonal(S, axis1=-2, axis2=-1)))
        scaled = _least_eigenvalue(S / (size[..., :, None] * size[..., None, :]))
        product = np.array([float(np.real(np.sum(np.conj(S) * Z)))])
        units = lowest / scaled if lowest < 0 and scaled < 0 else unit, 1.0 + float(np.max(np.abs(Z), initial=0.0))
        # One number stands for each matrix: its smallest eigenvalue.
        return Condition(name, np.array([lowest]), np.array([least]), False, *units, product=product, alone=alone)
    violation = np.atleast_1d(np.max(constraint.violation(), initial=0.0))
    return Condition(name, -violation, np.zeros(1), slack_unit=unit)


def _least_eigenvalue(M: Any) -> float:
    """The least eigenvalue of the symmetric part of a matrix, or of all matrices of a stack."""
    return float(np.linalg.eigvalsh(0.5 * (M + np.conj(np.swapaxes(M, -2, -1)))).min())


def _sides(constraint: Any) -> Array:
    """The unit of each entry of a constraint: 1 and its own larger side, as one large entry says nothing of others."""
    sides = [np.broadcast_to(np.abs(_value(a)), constraint.shape) for a in constraint.args]
    sides = [np.where(np.isinf(side), 0.0, side) for side in sides]  # x <= inf
    return np.asarray(1.0 + np.ravel(np.max(sides, axis=0)))


def _of_three(name: str, constraint: Any) -> Condition:
    """Exponential and power cones of three entries: what of its own size the worst entry is from the nearest point."""
    V = np.stack([np.ravel(_value(a)) for a in constraint.args[:3]], axis=1)
    if isinstance(constraint, cp.constraints.ExpCone):
        cones = [Cone("exponential")] * len(V)
    else:
        cones = [Cone("power", 3, float(a)) for a in np.broadcast_to(np.ravel(constraint.alpha.value), len(V))]
    away, unit = np.abs(V - project(V.ravel(), cones).reshape(V.shape)), 1.0 + np.abs(V)
    worst = np.arange(len(V)), np.argmax(away / unit, axis=1)
    return Condition(name, -away[worst], np.zeros(len(V)), slack_unit=unit[worst])


def _cone(name: str, constraint: Any, multiplier: Any) -> Condition:
    """A second-order cone ``|x| <= t``: slack ``t - |x|``; its multiplier (s, z) satisfies ``|z| <= s``."""
    t, X = np.ravel(_value(constraint.args[0])), _value(constraint.args[1])
    X = X.reshape(t.size, -1) if constraint.axis == 1 else X.reshape(-1, t.size).T
    slack, unit = t - np.linalg.norm(X, axis=1), 1.0 + np.abs(t)
    if multiplier is None:
        return Condition(name, slack, np.zeros(t.size), slack_unit=unit, alone=True)
    s, Z = np.ravel(multiplier[0]), np.asarray(multiplier[1])
    Z = Z.reshape(t.size, -1) if constraint.axis == 1 else Z.reshape(-1, t.size).T
    return Condition(
        name,
        slack,
        s - np.linalg.norm(Z, axis=1),
        slack_unit=unit,
        multiplier_unit=1.0 + np.abs(s),
        product=s * t + np.real(np.einsum("ij,ij->i", np.conj(X), Z)),
    )
