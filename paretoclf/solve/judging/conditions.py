"""Conditions that constraints of CVXPY are for a point that is judged: slack, multiplier, and the units of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.cones.cone_kinds import Cone, project
from paretoclf.proof.verdicts.evidence import Condition
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import dense


def condition(name: str, constraint: Any, multiplier: Any = None) -> Condition:
    """One constraint at constants, with its multiplier or alone."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.SOC):
        return _cone(name, constraint, multiplier)
    if isinstance(constraint, kinds.ExpCone | kinds.PowCone3D):
        return _of_three(name, constraint)
    alone = multiplier is None
    if alone:
        multiplier = np.zeros(constraint.shape)
    if isinstance(constraint, kinds.PSD):
        return _matrix(name, constraint, dense(multiplier), alone)
    if isinstance(constraint, kinds.Zero | kinds.Equality):
        slack = parts_in_a_row(value_of(constraint.expr))
        given = parts_in_a_row(multiplier)
        given = np.append(given, np.zeros(slack.size - given.size))
        sides = _sides(constraint)
        sides = np.tile(sides, slack.size // max(sides.size, 1))
        return Condition(name, slack, given, equation=True, slack_unit=sides, alone=alone)
    if isinstance(constraint, kinds.Inequality | kinds.NonPos | kinds.NonNeg):
        slack = np.ravel(np.real(value_of(constraint.expr))) * (1 if isinstance(constraint, kinds.NonNeg) else -1)
        given = np.ravel(np.real(dense(multiplier)))
        unit = 1.0 + _largest(given)
        return Condition(name, slack, given, False, _sides(constraint), unit, alone=alone)
    slack = -np.atleast_1d(np.max(constraint.violation(), initial=0.0))
    return Condition(name, slack, np.zeros(1), slack_unit=_size(constraint))


def _matrix(name: str, constraint: Any, Z: Any, alone: bool) -> Condition:
    """A positive semidefinite matrix, or a stack of them: the least of all eigenvalues is the one number of it."""
    S = value_of(constraint.expr)
    lowest = _least_eigenvalue(S)
    unit = _size(constraint)
    # Rows and columns may be scaled, and each is by its own diagonal entry: a large one says nothing of others.
    size = np.sqrt(1.0 + np.abs(np.diagonal(S, axis1=-2, axis2=-1)))
    scaled = _least_eigenvalue(S / (size[..., :, None] * size[..., None, :]))
    if lowest < 0 and scaled < 0:
        unit = lowest / scaled
    product = np.array([np.real(np.sum(np.conj(S) * Z))])
    least = np.array([_least_eigenvalue(Z)])
    of_Z = 1.0 + _largest(Z)
    return Condition(name, np.array([lowest]), least, False, unit, of_Z, product=product, alone=alone)


def _largest(numbers: Any) -> float:
    """Size of the largest number."""
    return float(np.max(np.abs(numbers), initial=0.0))


def _size(constraint: Any) -> float:
    """1 and the largest entry of a constraint's arguments."""
    return 1.0 + max(map(_largest, map(value_of, constraint.args)), default=0.0)


def _least_eigenvalue(M: Any) -> float:
    """The least eigenvalue of the symmetric part of a matrix, or of all matrices of a stack."""
    return float(np.linalg.eigvalsh(0.5 * (M + np.conj(np.swapaxes(M, -2, -1)))).min())


def _sides(constraint: Any) -> Array:
    """The unit of each entry of a constraint: 1 and its own larger side, as one large entry says nothing of others."""
    sides = [np.broadcast_to(np.abs(value_of(a)), constraint.shape) for a in constraint.args]
    sides = [np.where(np.isinf(side), 0.0, side) for side in sides]  # x <= inf
    return np.asarray(1.0 + np.ravel(np.max(sides, axis=0)))


def _of_three(name: str, constraint: Any) -> Condition:
    """Exponential and power cones of three entries: what of its own size the worst entry is from the nearest point."""
    V = np.stack([np.ravel(value_of(a)) for a in constraint.args[:3]], axis=1)
    if isinstance(constraint, cp.constraints.ExpCone):
        cones = [Cone("exponential")] * len(V)
    else:
        cones = [Cone("power", 3, float(a)) for a in np.broadcast_to(np.ravel(constraint.alpha.value), len(V))]
    away, unit = np.abs(V - project(V.ravel(), cones).reshape(V.shape)), 1.0 + np.abs(V)
    worst = np.arange(len(V)), np.argmax(away / unit, axis=1)
    return Condition(name, -away[worst], np.zeros(len(V)), slack_unit=unit[worst])


def _cone(name: str, constraint: Any, multiplier: Any) -> Condition:
    """A second-order cone ``|x| <= t``: slack ``t - |x|``; its multiplier (s, z) satisfies ``|z| <= s``."""
    t, X = map(value_of, constraint.args)
    t = np.ravel(t)
    X = _rows_of_cone(constraint, X, t.size)
    slack = t - np.linalg.norm(X, axis=1)
    unit = 1.0 + np.abs(t)
    if multiplier is None:
        return Condition(name, slack, np.zeros(t.size), slack_unit=unit, alone=True)
    s = np.ravel(multiplier[0])
    Z = _rows_of_cone(constraint, np.asarray(multiplier[1]), t.size)
    inside = s - np.linalg.norm(Z, axis=1)
    products = s * t + np.real(np.einsum("ij,ij->i", np.conj(X), Z))
    return Condition(name, slack, inside, False, unit, 1.0 + np.abs(s), products)


def _rows_of_cone(constraint: Any, vectors: Any, count: int) -> Any:
    """The vectors of so many second-order cones, one a row."""
    return vectors.reshape(count, -1) if constraint.axis == 1 else vectors.reshape(-1, count).T


def told(name: str, slack: Array) -> Condition:
    """A condition that has no multiplier."""
    return Condition(name, slack, np.zeros(slack.size), alone=True)


def value_of(expression: Any) -> Any:
    """The value of an expression of constants as an array, nan where it has none."""
    try:
        return dense(expression.value)
    except ValueError:  # CVXPY's word on a matrix that is not symmetric and must be: outside of the domain
        return np.full(expression.shape, np.nan)


def parts_in_a_row(value: Any) -> Array:
    """Numbers in a row; of complex ones the real parts, then the imaginary ones."""
    value = np.ravel(dense(value))
    return np.concatenate([value.real, value.imag]) if np.iscomplexobj(value) else np.asarray(value, dtype=np.float64)
