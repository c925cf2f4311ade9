"""Multipliers of constraints, and of what the attributes of a variable say: each in the dual of its cone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.adjoint import Coefficients, total
from paretoclf.solve.duals.construction.conjugates import flat, is_number, number
from paretoclf.solve.duals.construction.letters import free_suffix
from paretoclf.solve.duals.construction.tree import Tree
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.attributes import attribute_constraints
from paretoclf.solve.models.lazily import cp

#: Before the name of a constraint or a variable, in the name of a multiplier.
HEADS = ("nu", "lambda", "Z", "s", "z", "r")

#: The sets that multipliers lie in.
FREE, NONNEGATIVE, PSD, SECOND_ORDER, EXPONENTIAL, POWER = "free", "nonnegative", "psd", "soc", "exponential", "power"


@dataclass(frozen=True)
class Multiplier:
    """The variables that stand for one constraint in the dual.

    Attributes
    ----------
    label : str
        That of the constraint; of an attribute ``name: attribute``.
    parts : tuple of cvxpy.Expression
        One variable for each argument of a cone, else one in all; or what it was eliminated by.
    cone : str
        The set that they lie in.
    axis, alpha : object
        Of second-order and power cones.
    constraint : cvxpy.Constraint or None
        None of attributes.
    added : tuple of cvxpy.Expression
        The affine expressions that the parts multiply in the Lagrangian.
    """

    label: str
    parts: tuple[Any, ...]
    cone: str
    axis: int = 0
    alpha: Any = None
    constraint: Any = None
    added: tuple[Any, ...] = field(default=(), repr=False)

    def conditions(self) -> list[Any]:
        """Conditions for the multiplier to lie in its set, as far as no attribute of its variable says so."""
        if self.cone == FREE:
            return []
        first = self.parts[0]
        if self.cone in (NONNEGATIVE, PSD):
            if isinstance(first, cp.Variable):
                return []
            return [first >= 0] if self.cone == NONNEGATIVE else [(first + first.T) / 2 >> 0]
        if self.cone == SECOND_ORDER:
            return [cp.SOC(first, self.parts[1], axis=self.axis)]
        if self.cone == EXPONENTIAL:
            u, v, w = self.parts
            return [cp.ExpCone(u - v, -u, w)]
        u, v, w = (flat(part) for part in self.parts)
        alpha = np.broadcast_to(np.ravel(self.alpha, order="F"), u.shape)
        u = cp.multiply(1 / alpha, u)
        v = cp.multiply(1 / (1 - alpha), v)
        return [cp.PowCone3D(u, v, w, alpha)]

    def add_to(self, coefficients: Coefficients) -> None:
        """Add the products of the parts and what they multiply."""
        for part, expression in zip(self.parts, self.added, strict=True):
            coefficients.add(expression, part)


def of_constraint(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """The multiplier of a constraint with the sign that CVXPY gives it.

    Raises
    ------
    InputError
        If the kind of cone has no dual here.
    """
    kinds = cp.constraints
    for kind, make in (
        (kinds.Equality | kinds.Zero, _of_equation),
        (kinds.Inequality | kinds.NonPos | kinds.NonNeg, _of_inequality),
        (kinds.PSD, _of_matrix),
        (kinds.SOC, _of_second_order),
        (kinds.ExpCone, _of_exponential),
        (kinds.PowCone3D, _of_power),
    ):
        if isinstance(constraint, kind):
            return replace(make(constraint, label, name, tree), constraint=constraint)
    raise InputError(
        f"pc.dual knows no multiplier of {type(constraint).__name__}, {label}: pc.dual(problem, compiled=True) is the "
        "dual of the cone program that CVXPY makes of the problem"
    )


def _of_equation(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """nu, of left - right."""
    body = tree.affine(constraint.expr)
    return Multiplier(label, (cp.Variable(body.shape, name=f"nu_{name}"),), FREE, added=(body,))


def _of_inequality(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """lambda, of what must not be positive."""
    turned = isinstance(constraint, cp.constraints.NonNeg)
    body = tree.affine(-constraint.args[0] if turned else constraint.expr)
    multiplier = cp.Variable(body.shape, nonneg=True, name=f"lambda_{name}")
    return Multiplier(label, (multiplier,), NONNEGATIVE, added=(body,))


def _of_matrix(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """A semidefinite matrix."""
    body = tree.affine(-constraint.expr)
    if body.ndim != 2:
        raise InputError(f"pc.dual knows semidefinite matrices, no stacks of them, got {label}: {short(constraint)}")
    multiplier = cp.Variable(body.shape, PSD=True, name=f"Z_{name}")
    return Multiplier(label, (multiplier,), PSD, added=(body,))


def _parts(args: Sequence[Any], name: str, tree: Tree) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """One multiplier for each argument of a cone, and minus the arguments, which they multiply."""
    bodies = tuple(tree.affine(-arg) for arg in args)
    letters = ("s", "z", "r")
    multipliers = (cp.Variable(b.shape, name=f"{k}_{name}") for k, b in zip(letters, bodies, strict=False))
    return tuple(multipliers), bodies


def _of_second_order(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """(s, z) with |z| <= s."""
    parts, added = _parts(constraint.args, name, tree)
    return Multiplier(label, parts, SECOND_ORDER, axis=constraint.axis, added=added)


def _of_exponential(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """(u, v, w) of the dual exponential cone."""
    parts, added = _parts(constraint.args, name, tree)
    return Multiplier(label, parts, EXPONENTIAL, added=added)


def _of_power(constraint: Any, label: str, name: str, tree: Tree) -> Multiplier:
    """(u, v, w) of the dual power cone."""
    alpha = constraint.alpha
    if alpha.parameters():
        raise InputError(f"pc.dual knows power cones whose exponent is a number, got a Parameter in {label}")
    parts, added = _parts(constraint.args[:3], name, tree)
    return Multiplier(label, parts, POWER, alpha=np.asarray(alpha.value, dtype=float), added=added)


# --- Attributes ------------------------------------------------------------------------------------------------------

#: Attributes that have no dual, and what to do.
REFUSED = {
    "boolean": "which is not convex",
    "integer": "which is not convex",
    "complex": "and pc.dual knows real numbers only",
    "imag": "and pc.dual knows real numbers only",
    "hermitian": "and pc.dual knows real numbers only",
}


def of_attributes(variable: Any, taken: Collection[str] = ()) -> list[Multiplier]:
    """Multipliers of what the attributes of a variable say of its entries, by names that are not taken.

    Raises
    ------
    InputError
        If one of them has no dual: integers, complex numbers.
    """
    said, name = variable.attributes, variable.name()
    for attribute, why in REFUSED.items():
        given = said.get(attribute)
        if given is not None and given is not False and np.size(given):
            raise InputError(f"pc.dual needs another problem: {name} is {attribute}, {why}")
    if variable.ndim > 2 and (said["PSD"] or said["NSD"]):
        raise InputError(f"pc.dual knows semidefinite matrices, no stacks of them, got {name}")
    suffix = free_suffix(name, ("mu", "mu_l", "mu_u", "Z"), taken)
    said_of = attribute_constraints(variable)
    return [_of_attribute(label, constraint, name, suffix) for label, constraint in said_of.items()]


def _of_attribute(label: str, constraint: Any, name: str, suffix: str) -> Multiplier:
    """The multiplier of one attribute of a variable."""
    body = constraint.expr
    if isinstance(constraint, cp.constraints.PSD):
        multiplier = cp.Variable(body.shape, PSD=True, name=f"Z_{suffix}")
        return Multiplier(label, (multiplier,), PSD, added=(-body,))
    side = {"lower bound": "l_", "upper bound": "u_"}.get(label.removeprefix(f"{name}: "), "")
    multiplier = cp.Variable(body.shape, nonneg=True, name=f"mu_{side}{suffix}")
    return Multiplier(label, (multiplier,), NONNEGATIVE, added=(body,))


def equation_of(variable: Any, terms: list[Any]) -> Any | None:
    """The expression that must vanish for a coefficient of 0 of the entries that may move; None of none."""
    said = variable.attributes
    if said["symmetric"] or said["PSD"] or said["NSD"]:
        return total([_symmetric_part(term) for term in terms])
    coefficient = total(terms)
    if said["diag"]:
        return cp.diag(coefficient)
    if said["sparsity"]:
        places = np.zeros(variable.shape, dtype=bool)
        places[variable.sparse_idx] = True
        return coefficient[places] if places.any() else None
    return coefficient


def _symmetric_part(term: Any) -> Any:
    """The symmetric part of a term; of a symmetric one itself."""
    if is_number(term):
        value = number(term)
        return cp.Constant((value + value.T) / 2)
    inner = term
    while type(inner).__name__ in ("NegExpression", "multiply", "MulExpression"):
        moving = [arg for arg in inner.args if not is_number(arg)]
        still = [number(arg) for arg in inner.args if is_number(arg)]
        if len(moving) != 1 or any(each.ndim == 2 and not np.array_equal(each, each.T) for each in still):
            break
        if type(inner).__name__ == "MulExpression" and moving[0].ndim:
            break
        inner = moving[0]
    plain = inner.ndim == 0 or type(inner).__name__ == "Promote" or inner.is_symmetric()
    return term if plain else (term + term.T) / 2
