"""The walk of a problem's tree: each atom that is not affine gives way to a variable above it.

What is left is affine in the user's variables and in those: ``v_k >= a_k(E_k)`` stands in place of the atom ``a_k`` of
the expression ``E_k``. Nested atoms need nothing more, since CVXPY's own rules have seen to it that a larger ``v_k``
never helps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.adjoint import Coefficients, total
from paretoclf.solve.duals.construction.atoms import Recognised, recognised
from paretoclf.solve.duals.construction.conjugates import TABLE, Conjugate, is_number, number
from paretoclf.solve.duals.construction.letters import free_letters
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp

#: Rows that hang on eigenvalues and singular values: of a symmetric argument the skew part of a multiplier is idle.
SPECTRAL = ("lambda_max", "lambda_sum_largest", "-log_det", "tr_inv", "matrix_frac", "normNuc", "sigma_max")


@dataclass(frozen=True)
class Occurrence:
    """One atom of a problem, with what a dual has of it.

    Attributes
    ----------
    row : Conjugate
    atom : cvxpy.Expression
        As the user wrote it.
    v : cvxpy.Variable
        What stands in place of its value, or of minus that of a concave one.
    args : tuple of cvxpy.Expression
        Its arguments, affine in variables and in other such ``v``.
    ys : tuple of cvxpy.Expression
        Their multipliers: variables, or what these were eliminated by.
    w : cvxpy.Expression or None
        Its weight, the coefficient of ``v``; None before it is known.
    numbers : mapping of str to object
    """

    row: Conjugate
    atom: Any
    v: Any
    args: tuple[Any, ...]
    ys: tuple[Any, ...]
    w: Any = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def state(self) -> tuple[Any, list[Any]]:
        """Its conjugate: a convex cost and constraints, that the weight is not negative among them."""
        cost, conditions = self.row.state(self.w, self.ys, self.numbers)
        if is_number(self.w) or self.w.is_nonneg():
            return cost, conditions
        return cost, [self.w >= 0, *conditions]


class Tree:
    """A walk that replaces atoms by variables; an atom that occurs twice as one object is replaced once."""

    def __init__(self, prefix: str = "", letters: Mapping[str, str] | None = None) -> None:
        self.occurrences: list[Occurrence] = []
        self._prefix = prefix
        self._letters = free_letters(()) if letters is None else letters
        self._known: dict[int, tuple[Any, Any]] = {}

    def affine(self, expression: Any) -> Any:
        """The expression with a variable in place of every atom that is not affine."""
        if id(expression) not in self._known:
            # The expression is kept, too: else another may get its id.
            self._known[id(expression)] = (expression, self._walked(expression))
        return self._known[id(expression)][1]

    def _walked(self, e: Any) -> Any:
        if e.is_constant() or _only_affine(e):
            return e
        if e.is_atom_affine():
            return e.copy([self.affine(arg) for arg in e.args])
        found = _perspective(e) if type(e).__name__ == "perspective" else recognised(e)
        args = tuple(self.affine(arg) for arg in found.args)
        number_of = f"{self._prefix}{len(self.occurrences) + 1}"
        v = cp.Variable(found.shape, name=f"{self._letters['v']}_{number_of}")
        names = [f"{self._letters['y']}_{number_of}{argument_letter(k, len(args))}" for k in range(len(args))]
        ys = tuple(_multiplier(arg, name, found.row) for arg, name in zip(args, names, strict=True))
        self.occurrences.append(Occurrence(found.row, e, v, args, ys, None, found.numbers))
        value = v.T if found.numbers.get("turned") else v
        value = value if value.shape == e.shape else cp.reshape(value, e.shape, order="F")
        return -value if found.concave else value

    def weighed(self, coefficients: Coefficients) -> list[Occurrence]:
        """The atoms with their weights: what all the rest asks of each ``v``, once the atoms' arguments are added."""
        for each in self.occurrences:
            for arg, y in zip(each.args, each.ys, strict=True):
                coefficients.add(arg, y)
        return [replace(each, w=_weight(each, coefficients)) for each in self.occurrences]


def argument_letter(k: int, count: int) -> str:
    """A letter for each of several arguments."""
    return "" if count == 1 else "abcdefghijklmnopqrstuvwxyz"[k] if count <= 26 else f"({k + 1})"


def _multiplier(arg: Any, name: str, row: Conjugate) -> Any:
    """The multiplier of an argument: of a symmetric one that the row reads the spectrum of, symmetric."""
    if row.name in SPECTRAL and arg.ndim == 2 and arg.shape[0] > 1 and arg.is_symmetric():
        return cp.Variable(arg.shape, symmetric=True, name=name)
    return cp.Variable(arg.shape, name=name)


def _only_affine(e: Any) -> bool:
    """Whether no atom of a tree is other than affine."""
    return not e.args or (e.is_atom_affine() and all(_only_affine(arg) for arg in e.args))


def _weight(each: Occurrence, coefficients: Coefficients) -> Any:
    """Coefficient of the value of an atom; 0 where nothing asks for it."""
    found = coefficients.coefficient(each.v)
    if found is None:
        zero = cp.Constant(0.0)
        return zero if each.v.ndim == 0 else cp.promote(zero, each.v.shape)
    if is_number(found) and (number(found) < 0).any():
        raise InputError(f"problem must be convex by CVXPY's rules, but {short(each.atom)} has a negative weight")
    return found


def _perspective(e: Any) -> Recognised:
    """A perspective: its conjugate is made of the tree of its function."""
    s, *variables = e.args
    concave = e.is_atom_concave() and not e.is_atom_convex()
    function = -e.f if concave else e.f

    def conjugate(w: Any, ys: list[Any]) -> tuple[Any, list[Any]]:
        tree, coefficients = Tree("f"), Coefficients()
        coefficients.add(tree.affine(function), w)
        atoms = tree.weighed(coefficients)
        cost = -coefficients.constant()
        conditions: list[Any] = []
        for atom in atoms:
            own, more = atom.state()
            cost, conditions = cost + own, [*conditions, *more]
        for variable, y in zip(e.f.variables(), ys, strict=True):
            found = coefficients.coefficient(variable)
            conditions.append(total([y] if found is None else [found, -y]) == 0)
        return cost, conditions

    return Recognised(TABLE["perspective"], concave, (s, *variables), (), {"conjugate": conjugate})
