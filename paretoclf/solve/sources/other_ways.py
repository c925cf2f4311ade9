"""Ways to a path of a problem that is no quadratic or linear program: the words of refusals."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.sources.cone_problem_line import cone_line, curve_line
from paretoclf.solve.sources.problem_line import LineOfPrograms


def other_ways(problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any]) -> str:
    """Advice for a problem that is not traced as it stands: each way is tried as far as it is compiled.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.other_ways import other_ways
    >>> x, k = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="k")
    >>> print(other_ways(cp.Problem(cp.Minimize(cp.norm(x - 1) ** 2 + k * cp.norm1(x))), {k: 0}, {k: 1}))
    In place of the square of a norm write cp.sum_squares(...): it is the same, and its path is exact
    """
    squares = list[str]()
    objective = type(problem.objective)(_with_squares(problem.objective.expr, squares))
    if squares:
        with suppress(InputError):
            LineOfPrograms(cp.Problem(objective, problem.constraints), start, stop)
            return f"In place of the square of a norm write {squares[0]}: it is the same, and its path is exact"
    ways = {
        cone_line: "eps=1e-4 for a path that is proved within that at every t, ",
        curve_line: "curve=True for polynomials with a proved band of some 1e-9, ",
    }
    fine = []
    for compiled, way in ways.items():
        with suppress(InputError):  # such as what is not affine
            compiled(problem, start, stop)
            fine.append(way)
    return f"Pass {''.join(fine)}or use sweep" if fine else "Use sweep, which solves it at values of its parameters"


def _with_squares(expression: Any, squares: list[str]) -> Any:
    """An expression with sums of squares in place of squares of Euclidean norms; adds their text to a list."""
    if _is_square_of_norm(expression):
        (norm,) = expression.args
        squares.append("cp.sum_squares(...)" if norm.axis is None else f"cp.sum_squares(..., axis={norm.axis})")
        return cp.sum_squares(norm.args[0], axis=norm.axis, keepdims=norm.keepdims)
    arguments = [_with_squares(each, squares) for each in expression.args]
    changed = any(new is not old for new, old in zip(arguments, expression.args, strict=True))
    return expression.copy(arguments) if changed else expression


def _is_square_of_norm(expression: Any) -> bool:
    if not isinstance(expression, cp.atoms.elementwise.power.Power) or not isinstance(expression.args[0], cp.Pnorm):
        return False
    return all(getattr(each.p, "value", each.p) == 2 for each in (expression, expression.args[0]))
