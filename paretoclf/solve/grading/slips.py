"""Slips in one term of a problem: half of it, twice, the other sign, without.

Every term has a parameter for its factor, so that CVXPY compiles one problem for all slips.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.solve.duals.construction.conjugates import is_number
from paretoclf.solve.duals.elimination import terms_of
from paretoclf.solve.grading.compiled_once import compiled_once, following
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp

#: Factors of one term that are tried as slips.
FACTORS = {0.5: "With half of", 2.0: "With twice", -1.0: "With the other sign of", 0.0: "Without"}


@dataclass(frozen=True)
class Slips:
    """A problem whose terms have factors, all of them 1, and the changes of one factor that may be tried.

    Attributes
    ----------
    problem : cvxpy.Problem
        Compiled once, whatever becomes of its parameters.
    changes : tuple of (words, cvxpy.Parameter, float)
    """

    problem: cp.Problem
    changes: tuple[tuple[str, Any, float], ...]

    @contextmanager
    def made(self, parameter: Any, factor: float) -> Iterator[cp.Problem]:
        """The problem with one factor changed, for a while."""
        parameter.value = factor
        try:
            yield self.problem
        finally:
            parameter.value = 1.0


def slips_of(problem: cp.Problem) -> Slips:
    """All changes of one term by a factor that leave a problem convex.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.grading.slips import slips_of
    >>> y = cp.Variable(name="y")
    >>> found = slips_of(cp.Problem(cp.Maximize(3 * y - cp.square(y))))
    >>> [words for words, _, factor in found.changes if factor < 1]  # a square of the other sign is not convex
    ['With half of y in the objective', 'With the other sign of y in the objective', 'Without y in the objective', ...]
    """
    objective, changes = _with_factors(problem.objective.expr, "the objective")
    constraints = []
    for k, constraint in enumerate(problem.constraints):
        kind = type(constraint).__name__
        if kind not in ("Equality", "Inequality", "Zero", "NonPos"):
            constraints.append(constraint)
            continue
        expression, own = _with_factors(constraint.expr, constraint.label or f"constraint {k}")
        constraints.append(expression == 0 if kind in ("Equality", "Zero") else expression <= 0)
        changes += own
    made = cp.Problem(type(problem.objective)(objective), constraints)
    return Slips(compiled_once(made), tuple(changes))


def _with_factors(expression: Any, where: str) -> tuple[Any, list[tuple[str, Any, float]]]:
    """A sum whose terms have factors, and what each may be."""
    total: Any = cp.Constant(np.zeros(expression.shape))
    changes = []
    for term in terms_of(expression):
        if is_number(term.expression) and term.expression.is_zero():
            continue
        curved = not term.expression.is_affine()
        parameter = cp.Parameter(nonneg=curved, value=1.0)
        total = total + term.factor * _scaled(parameter, term.expression)
        words = short(term.expression)
        for factor, word in FACTORS.items():
            if factor >= 0 or not curved:
                changes.append((f"{word} {words} in {where}", parameter, factor))
    return total, changes


def _scaled(factor: Any, expression: Any) -> Any:
    """A product with a parameter; where there is another parameter, the two are one that follows both."""
    if not expression.parameters():
        return factor * expression
    kind = type(expression).__name__
    if kind == "NegExpression":
        return -_scaled(factor, expression.args[0])
    if kind == "DivExpression" and not expression.args[1].variables() and expression.args[1].is_scalar():
        return _scaled(following(factor / expression.args[1]), expression.args[0])
    if kind in ("multiply", "MulExpression"):
        for place, constant in enumerate(expression.args):
            other = expression.args[1 - place]
            if not constant.variables() and not other.parameters():
                arguments = list(expression.args)
                arguments[place] = following(factor * constant)
                return expression.copy(arguments)
    if not expression.variables():
        return following(factor * expression)
    return factor * expression
