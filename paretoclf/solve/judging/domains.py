"""Expressions of constants beyond the domains of their atoms: their values at the nearest arguments within."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import dense


def in_domain(expression: Any) -> Any:
    """Copy an expression or a constraint of constants, with the arguments of its atoms moved into their domains.

    How far they were moved is a violation of the domain, which is measured beside it: no value hides it.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.judging.domains import in_domain
    >>> beside = 2 + cp.power(cp.Constant([-3e-16, 4.0]), 1.5)
    >>> in_domain(beside).value
    array([ 2., 10.])
    """
    if not expression.args or not all(isinstance(part, cp.Expression) for part in expression.args):
        return expression
    arguments = [in_domain(part) for part in expression.args]
    if isinstance(expression, cp.atoms.atom.Atom):
        arguments = _moved(expression, arguments)
    return expression.copy(arguments)


def _moved(atom: Any, arguments: list[Any]) -> list[Any]:
    """Arguments of one atom, those outside of its domain as constants at the nearest point of it."""
    if not atom.copy(arguments)._domain():
        return arguments
    places = [cp.Variable(part.shape) for part in arguments]
    for place, part in zip(places, arguments, strict=True):
        value = dense(part.value)
        if np.iscomplexobj(value) or not np.isfinite(value).all():
            return arguments
        place.save_value(value)
    for constraint in atom.copy(places)._domain():
        if isinstance(constraint, cp.constraints.Inequality):
            for place in constraint.variables():
                place.save_value(_nearest(constraint, place))
            if not np.all(constraint.args[1].value >= constraint.args[0].value):
                return arguments
    near = [cp.Constant(place.value) for place in places]
    return [part if (one.value == part.value).all() else one for part, one in zip(arguments, near, strict=True)]


def _nearest(constraint: Any, place: Any) -> Array:
    """The nearest value of a variable at which an inequality holds that is about single entries of it."""
    slack = constraint.args[1] - constraint.args[0]
    across = sp.csc_array(np.atleast_2d(dense(slack.grad[place])))
    value = np.asarray(place.value, dtype=float)
    single = np.diff(across.indptr).max(initial=0) <= 1 and (abs(across.data) == 1.0).all()
    if not single:
        return value
    missing = np.maximum(-np.ravel(dense(slack.value), order="F"), 0.0)
    moved = np.ravel(value, order="F") + across @ missing
    return np.reshape(moved, value.shape, order="F")
