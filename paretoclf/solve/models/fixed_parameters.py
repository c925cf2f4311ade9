"""Parameters that do not move are numbers: a problem in which they are needs to be DPP in the others only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import having


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
    >>> share = cp.Parameter(value=0.25)  # 1 - share has no sign, and 0.75 has
    >>> net = cp.Problem(cp.Minimize(lam * (1 - share) * cp.sum_squares(x - 1) + lam * share * cp.norm1(x)))
    >>> net.is_dcp(), with_numbers(net, [lam]).is_dpp()
    (False, True)
    """
    kept = kept or {}
    moved = {p.id for p in moving} - {p.id for p in kept}
    still = {p.id for p in problem.parameters() if p in kept or (p.id not in moved and _is_number(p))}
    if not still or _is_dpp(problem):
        return problem
    with having(kept):
        rows = [_with_duals_of(row, _copied(row, still)) for row in problem.constraints]
        return cp.Problem(_copied(problem.objective, still), rows)


def _copied(part: Any, still: set[int]) -> Any:
    """Copy an expression with numbers for parameters, and for what is made of them alone: 1 - a has a sign then."""
    return part.copy(args=[_number_or_copy(each, still) for each in part.args])


def _number_or_copy(part: Any, still: set[int]) -> Any:
    """A number where nothing in it moves, and it keeps no promise such as that of ``cp.psd_wrap``."""
    own = {p.id for p in part.parameters()}
    if own and own <= still and not part.variables() and not _promises(part):
        return cp.Constant(part.value)
    return _copied(part, still) if own and part.args else part


def _promises(part: Any) -> bool:
    """Whether something in it has a property because the user says so."""
    return type(part).__name__.endswith("_wrap") or any(map(_promises, part.args))


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
