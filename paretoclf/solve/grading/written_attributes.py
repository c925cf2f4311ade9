"""A problem in which attributes of variables are constraints of their own, so that they have multipliers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from paretoclf.solve.models.attributes import SIDES, SIGNS, attribute_constraints
from paretoclf.solve.models.lazily import cp

#: Attributes that a variable keeps where others become constraints.
_KEPT = (*SIGNS[0], *SIGNS[1], "symmetric", "PSD", "NSD", "diag", "sparsity")


def written_out(problem: cp.Problem, names: Collection[str]) -> cp.Problem:
    """An equal problem, in which the attributes of these names are constraints with that label.

    Variables that have such an attribute give way to new ones of their names, which have the others.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.grading.written_attributes import written_out
    >>> x = cp.Variable(2, nonneg=True, name="x")
    >>> again = written_out(cp.Problem(cp.Minimize(cp.sum(x))), ["x: nonneg"])
    >>> [str(c) for c in again.constraints], again.variables()[0].is_nonneg()
    (['x: nonneg: 0.0 <= x'], False)
    """
    put: dict[int, Any] = {}
    added: list[Any] = []
    for variable in problem.variables():
        own = {name: c for name, c in attribute_constraints(variable).items() if name in names}
        if own:
            put[id(variable)] = _without(variable, own)
        for name, constraint in own.items():
            added.append(constraint.tree_copy(put).set_label(name))
    constraints = []
    for k, constraint in enumerate(problem.constraints):
        copied = constraint.tree_copy(put)
        constraints.append(copied.set_label(constraint.label or f"constraint {k}"))
    return cp.Problem(problem.objective.tree_copy(put), [*constraints, *added])


def _without(variable: Any, names: Collection[str]) -> Any:
    """A variable of the same name and shape without the attributes of these names; a matrix stays symmetric."""
    gone = {name.removeprefix(f"{variable.name()}: ") for name in names}
    said = variable.attributes
    kept = {kind: said[kind] for kind in _KEPT if said[kind] and kind not in gone}
    if gone & {"PSD", "NSD"}:
        kept["symmetric"] = True
    if said["bounds"]:
        sides = [None if side in gone else bound for side, bound in zip(SIDES, variable.bounds, strict=True)]
        kept |= {"bounds": sides} if any(side is not None for side in sides) else {}
    return cp.Variable(variable.shape, name=variable.name(), **kept)
