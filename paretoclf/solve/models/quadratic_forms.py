"""Quadratic forms that CVXPY makes cones of: it takes the convex part of their matrix, and says nothing of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.problem.convex import Convexity, not_convex
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp


def check_forms(problem: Any) -> None:
    """Check by the rule of `paretoclf.problem.convex` the forms that are not the quadratic part of the objective.

    A negative curvature may cost nothing there: it moves a constraint.

    Raises
    ------
    InputError
        If a matrix is semidefinite in neither sense, by more than rounding.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from paretoclf.solve.models.quadratic_forms import check_forms
    >>> x = cp.Variable(2, name="x")
    >>> saddle = cp.quad_form(x, cp.psd_wrap(np.diag([1e12, -1.0])))
    >>> check_forms(cp.Problem(cp.Minimize(x[0]), [saddle <= 1]))
    Traceback (most recent call last):
        ...
    paretoclf.common.errors.InputError: problem must be convex, got a matrix P of a quadratic form x'Px with ...
    """
    objective = problem.objective.expr
    parts = [*problem.constraints] if objective.is_quadratic() else [objective, *problem.constraints]
    for form in (each for part in parts for each in _forms(part)):
        P, x = _symmetric(form.args[1].value), form.args[0]
        convex = Convexity.of(P)
        if convex.lacks is not None and Convexity.of(-P).lacks is not None:
            raise not_convex(P, convex.lacks, partial(_entry, x), what="a quadratic form x'Px")


def _forms(part: Any) -> Iterator[Any]:
    """Quadratic forms with a matrix of numbers in an expression or a constraint."""
    if isinstance(part, cp.QuadForm) and not part.args[1].parameters() and part.args[0].variables():
        yield part
    for each in part.args:
        yield from _forms(each)


def _symmetric(P: Any) -> Any:
    """The symmetric part of a matrix of real numbers."""
    matrix = sp.csc_array(P if sp.issparse(P) else np.atleast_2d(np.real(P)))
    return 0.5 * (matrix + matrix.T)


def _entry(x: Any, j: int) -> str:
    """The name of an entry of an expression."""
    return f"{short(x)}[{j}]" if x.size > 1 else short(x)
