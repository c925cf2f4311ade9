"""Parameters that do not move are numbers: a problem in which they are needs to be DPP in the others only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from paretoclf.solve.models.lazily import cp


def with_numbers(problem: Any, moving: Iterable[Any], kept: Mapping[Any, Any] | None = None) -> Any:
    """Return the problem with the values of all parameters that do not move, where DPP fails because of them.

    Those in ``kept`` do not move either, and have the values there.
    Variables are the same objects, and so are the duals of constraints: who solves it has solved the problem itself.
    A ``cvxpy.CallbackParam`` stays, as it may follow one that moves.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.models.fixed_parameters import with_numbers
    >>> x, a, lam = cp.Variable(2), cp.Parameter(nonneg=True, value=3.0), cp.Parameter(nonneg=True)
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * a * cp.norm1(x)))
    >>> problem.is_dpp(), with_numbers(problem, [lam]).is_dpp()
    (False, True)
    """
    values = {p.id: value for p, value in (kept or {}).items()}
    moved = {p.id for p in moving} - values.keys()
    still = [p for p in problem.parameters() if p.id in values or (p.id not in moved and _is_number(p))]
    if not still or _is_dpp(problem):
        return problem
    instead = {id(p): cp.Constant(values.get(p.id, p.value)) for p in still}
    rows = [_with_duals_of(row, row.tree_copy(dict(instead))) for row in problem.constraints]
    return cp.Problem(problem.objective.tree_copy(dict(instead)), rows)


def _is_number(parameter: Any) -> bool:
    """Whether it is a plain parameter with a value."""
    return not isinstance(parameter, cp.CallbackParam) and parameter.value is not None


def _is_dpp(problem: Any) -> bool:
    """Whether DPP holds; a parameter may be the matrix of a quadratic form."""
    with getattr(cp.utilities.scopes, "quad_form_dpp_scope", nullcontext)():
        return bool(problem.objective.is_dcp(dpp=True)) and all(row.is_dcp(dpp=True) for row in problem.constraints)


def _with_duals_of(row: Any, copy: Any) -> Any:
    """The copy of a constraint, with its name and its dual variables."""
    copy.dual_variables = row.dual_variables
    return copy.set_label(row.label) if row.label else copy
