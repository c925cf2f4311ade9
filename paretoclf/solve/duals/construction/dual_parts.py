"""The dual in parts: its value, its conjugates, the coefficients that vanish, and where its multipliers lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.adjoint import Coefficients
from paretoclf.solve.duals.construction.conjugates import is_number, number
from paretoclf.solve.duals.construction.letters import LETTERS, free_letters, free_suffix
from paretoclf.solve.duals.construction.multipliers import HEADS, Multiplier, equation_of, of_attributes, of_constraint
from paretoclf.solve.duals.construction.tree import Occurrence, Tree
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model


@dataclass(frozen=True)
class Parts:
    """A dual, before it is a problem.

    The value is ``value`` minus the conjugates of ``atoms``; every expression of ``equations`` is 0.

    Attributes
    ----------
    sense : int
        1 where the primal is a minimisation.
    objective : cvxpy.Expression
        The primal's, as a minimisation, with variables in place of its atoms.
    value : cvxpy.Expression
        The part of the Lagrangian without variables, affine in multipliers.
    atoms : tuple of Occurrence
    equations : mapping of str to cvxpy.Expression
        By the name of each variable of the primal.
    multipliers : tuple of Multiplier
    variables : mapping of str to cvxpy.Variable
        Those of the primal.
    eliminated : tuple of (name, expression, coefficient of)
        Multipliers that a linear equation gave, in their order.
    letters : mapping of str to str
        The letters of what is not the user's, by those that they have where the user's names leave these free.
    """

    sense: int
    objective: Any
    value: Any
    atoms: tuple[Occurrence, ...]
    equations: dict[str, Any]
    multipliers: tuple[Multiplier, ...]
    variables: dict[str, Any] = field(default_factory=dict)
    eliminated: tuple[tuple[str, Any, str], ...] = ()
    letters: Mapping[str, str] = field(default_factory=lambda: {letter: letter for letter in LETTERS})

    def built(self) -> cp.Problem:
        """The dual as a problem of CVXPY, of the other sense."""
        cost: Any = cp.Constant(0.0)
        conditions: list[Any] = []
        for k, atom in enumerate(self.atoms, 1):
            own, more = atom.state()
            cost = cost + own
            conditions += _labelled(more, f"{atom.row.name} {k}")
        for multiplier in self.multipliers:
            conditions += _labelled(multiplier.conditions(), f"multiplier of {multiplier.label}")
        equations = [
            (expression == 0).set_label(f"coefficient of {name}") for name, expression in self.equations.items()
        ]
        value = self.value - cost
        objective = cp.Maximize(value) if self.sense > 0 else cp.Minimize(-value)
        return cp.Problem(objective, [*equations, *conditions])


def _labelled(conditions: list[Any], label: str) -> list[Any]:
    """Conditions by one label, and numbers where they are several."""
    for k, condition in enumerate(conditions, 1):
        condition.set_label(label if len(conditions) == 1 else f"{label}, {k}")
    return conditions


def parts_of(model: Model, names: Iterable[str] = ()) -> Parts:
    """The parts of the dual of a convex problem; ``names`` are the user's for arrays, which no multiplier gets.

    Raises
    ------
    InputError
        If an atom, a cone or an attribute has no dual; it is named.
    """
    taken = {*model.variables, *(p.name() for p in model.problem.parameters()), *names}
    letters = free_letters(taken)
    tree, coefficients = Tree(letters=letters), Coefficients()
    objective = tree.affine(model.sense * model.problem.objective.expr)
    coefficients.add(objective, cp.Constant(1.0))
    multipliers = [
        of_constraint(constraint, label, free_suffix(label.removeprefix("constraint "), HEADS, taken), tree)
        for label, constraint in model.constraints.items()
    ]
    for variable in model.variables.values():
        multipliers += of_attributes(variable, taken)
    labels = [multiplier.label for multiplier in multipliers]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise InputError(f"a label must not be the name of an attribute, got {twice[0]!r}: give it another one")
    for multiplier in multipliers:
        multiplier.add_to(coefficients)
    atoms = tree.weighed(coefficients)
    equations = {}
    for name, variable in model.variables.items():
        found = coefficients.of.get(variable.id)
        expression = None if found is None else equation_of(variable, found)
        if expression is not None and not (is_number(expression) and not np.any(number(expression))):
            equations[name] = expression
    return Parts(
        model.sense,
        objective,
        coefficients.constant(),
        tuple(atoms),
        equations,
        tuple(multipliers),
        dict(model.variables),
        letters=letters,
    )


def checked(problem: cp.Problem, primal: cp.Problem) -> cp.Problem:
    """The dual, which must be convex, and DPP where the primal is.

    Raises
    ------
    InputError
        If it is not: a product of parameters stands in it.
    """
    if not problem.is_dcp():
        raise InputError("pc.dual has made a problem that is not convex by CVXPY's rules: please report the primal")
    odd = _not_dpp(problem)
    if odd and not _not_dpp(primal):
        names = sorted({p.name() for part in odd for p in part.parameters()})
        raise InputError(
            f"pc.dual cannot keep the parameters {', '.join(names)}, which multiply each other in the dual: "
            "give all but one of them as a number"
        )
    return problem


def _not_dpp(problem: cp.Problem) -> list[Any]:
    """The objective and constraints that are not DPP; a parameter may be the matrix of a form of the objective."""
    with getattr(cp.utilities.scopes, "quad_form_dpp_scope", nullcontext)():
        first = [] if problem.objective.is_dcp(dpp=True) else [problem.objective]
    return first + [c for c in problem.constraints if not c.is_dcp(dpp=True)]
