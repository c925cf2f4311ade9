"""Parameters that do not move are numbers: a problem in which they are needs to be DPP in the others only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    >>> share = cp.Parameter(value=0.25)  # 1 - share has no sign, and 0.75 has
    >>> net = cp.Problem(cp.Minimize(lam * (1 - share) * cp.sum_squares(x - 1) + lam * share * cp.norm1(x)))
    >>> net.is_dcp(), with_numbers(net, [lam]).is_dpp()
    (False, True)
    """
    values = {p.id: value for p, value in (kept or {}).items()}
    moved = {p.id for p in moving} - values.keys()
    still = [p for p in problem.parameters() if p.id in values or (p.id not in moved and _is_number(p))]
    if not still or _is_dpp(problem):
        return problem
    instead = {id(p): cp.Constant(values.get(p.id, p.value)) for p in still}
    for part in (problem.objective, *problem.constraints):
        for each in _standing(part, {p.id for p in still}):
            instead[id(each)] = cp.Constant(_copied(each, instead).value)
    rows = [_with_duals_of(row, _copied(row, instead)) for row in problem.constraints]
    return cp.Problem(_copied(problem.objective, instead), rows)


def _copied(part: Any, instead: Mapping[int, Any]) -> Any:
    """Copy an expression with others in place of some of its parts, by their ids; CVXPY's way looks at no sum."""
    if id(part) in instead or not part.args:
        return instead.get(id(part), part)
    args = [
        [_copied(e, instead) for e in each] if isinstance(each, list) else _copied(each, instead) for each in part.args
    ]
    return part.copy(args=args)


def _standing(part: Any, still: set[int]) -> Iterator[Any]:
    """The largest expressions of parameters that stand still, as 1 - a: a number has a sign, which CVXPY sees.

    Expressions with a promise, such as that of ``cp.psd_wrap``, are left as they are.
    """
    for each in part.args:
        own = each.parameters()
        if own and each.args and not each.variables() and {p.id for p in own} <= still and not _promises(each):
            yield each
        elif own:
            yield from _standing(each, still)


def _promises(expression: Any) -> bool:
    """Whether there is an expression in it that has a property because the user says so."""
    from cvxpy.atoms.affine.wraps import Wrap

    return isinstance(expression, Wrap) or any(map(_promises, expression.args))


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
