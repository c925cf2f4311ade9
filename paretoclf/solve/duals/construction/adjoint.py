"""Coefficients of variables in a sum of affine expressions times their multipliers: each affine atom turned round.

The sum is bilinear in variables and multipliers. Read as a function of the variables, the coefficient of each is an
expression in the multipliers; parameters stay in it as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.conjugates import flat, is_number, number, spread
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp


@dataclass
class Coefficients:
    """Coefficients that multipliers make of affine expressions: one term after another.

    Attributes
    ----------
    of : mapping of int to list of cvxpy.Expression
        By the id of a variable, what its coefficient is the sum of.
    constants : list of cvxpy.Expression
        Scalars that no variable stands in.
    """

    of: dict[int, list[Any]] = field(default_factory=dict)
    constants: list[Any] = field(default_factory=list)

    def add(self, expression: Any, multiplier: Any) -> None:
        """Add the product of an affine expression and its multiplier, which has the same shape."""
        if expression.is_constant():
            if not (is_number(expression) and not np.any(number(expression))):
                self.constants.append(inner(expression, multiplier))
            return
        if isinstance(expression, cp.Variable):
            self.of.setdefault(expression.id, []).append(multiplier)
            return
        turn = TURNED.get(type(expression).__name__, _numerically)
        turn(self, expression, multiplier)

    def coefficient(self, variable: Any) -> Any:
        """The coefficient of one variable, or None where it is nowhere."""
        terms = self.of.get(variable.id)
        return None if terms is None else total(terms)

    def constant(self) -> Any:
        """The sum of what has no variable."""
        return total(self.constants) if self.constants else cp.Constant(0.0)


def total(terms: list[Any]) -> Any:
    """The sum of expressions; of numbers alone a number."""
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return cp.Constant(number(found)) if is_number(found) else found


def is_one(expression: Any) -> bool:
    """Whether an expression is the number 1."""
    return is_number(expression) and expression.size == 1 and float(number(expression).ravel()[0]) == 1.0


def inner(constant: Any, multiplier: Any) -> Any:
    """The inner product of two expressions of one shape."""
    if is_one(multiplier):
        return cp.reshape(constant, (), order="F") if constant.ndim else constant
    if constant.ndim == 0:
        return multiplier if is_one(constant) else constant * multiplier
    if constant.ndim == 1:
        return constant @ multiplier
    return cp.sum(cp.multiply(constant, multiplier))


# --- One affine atom each ------------------------------------------------------------------------------------------


def _sum(into: Coefficients, expression: Any, multiplier: Any) -> None:
    for arg in expression.args:
        into.add(arg, _summed_to(multiplier, arg.shape))


def _summed_to(multiplier: Any, shape: tuple[int, ...]) -> Any:
    """A multiplier of a value that was spread from this shape: summed over what was spread."""
    if multiplier.shape == shape:
        return multiplier
    if int(np.prod(shape)) == 1:
        return cp.reshape(cp.sum(multiplier), shape, order="F")
    lead = multiplier.ndim - len(shape)
    padded = (1,) * lead + shape
    for axis in range(multiplier.ndim):
        if padded[axis] == 1 and multiplier.shape[axis] != 1:
            multiplier = cp.sum(multiplier, axis=axis, keepdims=True)
    return cp.reshape(multiplier, shape, order="F")


def _minus(into: Coefficients, expression: Any, multiplier: Any) -> None:
    into.add(expression.args[0], -multiplier)


def _same_entries(into: Coefficients, expression: Any, multiplier: Any) -> None:
    into.add(expression.args[0], multiplier)


def _spread(into: Coefficients, expression: Any, multiplier: Any) -> None:
    into.add(expression.args[0], _summed_to(multiplier, expression.args[0].shape))


def _product(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """A matrix product with a constant on one side."""
    left, right = expression.args
    if left.is_constant():
        into.add(right, _from_left(left, right, multiplier))
    else:
        into.add(left, _from_right(left, right, multiplier))


def _from_left(left: Any, right: Any, multiplier: Any) -> Any:
    """Coefficient of the right factor."""
    if left.ndim == 0:
        return _times(left, multiplier)
    if left.ndim == 1 and right.ndim == 1:
        return left if is_one(multiplier) else _times(multiplier, left)
    if left.ndim == 1:
        return _column(left) @ cp.reshape(multiplier, (1, multiplier.size), order="F")
    return left.T @ multiplier


def _from_right(left: Any, right: Any, multiplier: Any) -> Any:
    """Coefficient of the left factor."""
    if right.ndim == 0:
        return _times(right, multiplier)
    if right.ndim == 1 and left.ndim == 1:
        return right if is_one(multiplier) else _times(multiplier, right)
    if right.ndim == 1:
        return _column(multiplier) @ cp.reshape(right, (1, right.size), order="F")
    if left.ndim == 1:
        return right @ multiplier
    return multiplier @ right.T


def _column(vector: Any) -> Any:
    return cp.reshape(vector, (vector.size, 1), order="F")


def _times(scalar: Any, expression: Any) -> Any:
    """A scalar times an expression, without a factor 1."""
    if is_one(scalar):
        return expression
    return scalar if expression.ndim == 0 and is_one(expression) else scalar * expression


def _entries_times(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """A product entry by entry with a constant."""
    factor, rest = expression.args if expression.args[0].is_constant() else expression.args[::-1]
    if type(factor).__name__ == "Promote" and rest.shape == multiplier.shape:
        into.add(rest, _times(factor.args[0], multiplier))
        return
    if factor.ndim == 0:
        into.add(rest, _summed_to(_times(factor, multiplier), rest.shape))
        return
    into.add(rest, _summed_to(cp.multiply(factor, multiplier), rest.shape))


def _over(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """A quotient by a constant."""
    above, below = expression.args
    if not is_number(below):
        divided = multiplier / below
    else:
        inverse = 1 / number(below)
        divided = cp.multiply(inverse, multiplier) if below.ndim else _times(cp.Constant(inverse), multiplier)
    into.add(above, _summed_to(divided, above.shape))


def _reshaped(into: Coefficients, expression: Any, multiplier: Any) -> None:
    shape = expression.args[0].shape
    turned = multiplier if multiplier.shape == shape else cp.reshape(multiplier, shape, order=expression.order)
    into.add(expression.args[0], turned)


def _transposed(into: Coefficients, expression: Any, multiplier: Any) -> None:
    if expression.args[0].ndim > 2:
        _numerically(into, expression, multiplier)
        return
    into.add(expression.args[0], multiplier.T)


def _summed(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """A sum of all entries, or along an axis."""
    arg = expression.args[0]
    if expression.size == 1:
        scalar = cp.reshape(multiplier, (), order="F") if multiplier.ndim else multiplier
        into.add(arg, cp.promote(scalar, arg.shape) if arg.ndim else scalar)
        return
    axes = expression.axis if isinstance(expression.axis, tuple) else (expression.axis,)
    axes = tuple(each % arg.ndim for each in axes)
    if arg.ndim != 2:
        kept = tuple(1 if k in axes else size for k, size in enumerate(arg.shape))
        into.add(arg, cp.broadcast_to(cp.reshape(multiplier, kept, order="F"), arg.shape))
        return
    into.add(arg, spread(flat(multiplier), arg.shape, axes[0]))


def _pieces(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """Arrays one after another: each has its part of the multiplier."""
    stacked = type(expression).__name__ == "Vstack"
    along = 0 if stacked or expression.ndim == 1 else 1
    begin = 0
    for arg in expression.args:
        rows = 1 if stacked and arg.ndim < 2 else (arg.shape[along] if arg.ndim else 1)
        own = slice(begin, begin + rows)
        part = multiplier[own] if along == 0 else multiplier[:, own]
        if part.shape != arg.shape:
            part = cp.reshape(part, arg.shape, order="F")
        into.add(arg, part)
        begin += rows


def _trace(into: Coefficients, expression: Any, multiplier: Any) -> None:
    if expression.ndim or expression.args[0].ndim != 2:
        _numerically(into, expression, multiplier)
        return
    identity = cp.Constant(np.eye(expression.args[0].shape[0]))
    into.add(expression.args[0], _times(multiplier, identity))


def _picked(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """Entries of an array: the others have nothing."""
    arg = expression.args[0]
    places = np.arange(arg.size).reshape(arg.shape, order="F")
    picked = np.ravel(places[_key_of(expression)], order="F")
    ones, columns = np.ones(picked.size), np.arange(picked.size)
    put = sp.csc_array((ones, (picked, columns)), shape=(arg.size, picked.size))
    entries = put @ flat(multiplier)
    into.add(arg, cp.reshape(entries, arg.shape, order="F") if arg.ndim != 1 else entries)


def _key_of(expression: Any) -> Any:
    """The key of an indexed expression."""
    return expression._orig_key if hasattr(expression, "_orig_key") else expression.key


def _numerically(into: Coefficients, expression: Any, multiplier: Any) -> None:
    """Any other affine atom: its matrix, from its values at unit vectors; a parameter in it has a matrix an entry."""
    moving = [arg for arg in expression.args if not arg.is_constant()]
    inside = {p.id for arg in moving for p in arg.parameters()}
    by_id = {p.id: p for p in expression.parameters() if p.id not in inside}  # each once
    parameters = list(by_id.values())
    fixed = _matrices(expression, moving)
    with_parameters = _by_parameter(expression, moving, parameters) if parameters else []
    for k, arg in enumerate(moving):
        terms = [fixed[k].T @ flat(multiplier)] if fixed[k].nnz else []
        for parameter, matrices in with_parameters:
            entries = cp.reshape(parameter, (parameter.size,), order="F")
            for j, each in enumerate(matrices):
                if each[k].nnz:
                    terms.append(entries[j] * (each[k].T @ flat(multiplier)))
        if terms:
            into.add(arg, cp.reshape(total(terms), arg.shape, order="F"))
    if not np.any(_at_zero(expression, moving)):
        return
    if parameters:
        raise InputError(f"pc.dual cannot turn {short(expression)} round: write it with products and sums")
    into.constants.append(inner(cp.Constant(_at_zero(expression, moving)), multiplier))


def _at(expression: Any, moving: list[Any], values: list[Any]) -> Any:
    """Value of an atom where its moving arguments have these values."""
    given = {id(arg): cp.Constant(value) for arg, value in zip(moving, values, strict=True)}
    value = expression.copy([given.get(id(arg), arg) for arg in expression.args]).value
    return np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float)


def _at_zero(expression: Any, moving: list[Any]) -> Any:
    return _at(expression, moving, [np.zeros(arg.shape) for arg in moving])


def _matrices(expression: Any, moving: list[Any]) -> list[Any]:
    """The matrix of an atom for each of its moving arguments, where parameters have the value 0."""
    held = [(p, p.value) for p in expression.parameters()]
    for p, _ in held:
        p.save_value(np.zeros(p.shape))
    try:
        return _matrices_now(expression, moving)
    finally:
        for p, value in held:
            p.save_value(value)


def _matrices_now(expression: Any, moving: list[Any]) -> list[Any]:
    """The matrices where parameters have the values that they have."""
    zeros = [np.zeros(arg.shape) for arg in moving]
    base = _at(expression, moving, zeros)
    found = []
    for k, arg in enumerate(moving):
        columns = np.zeros((expression.size, arg.size))
        for j in range(arg.size):
            unit = np.zeros(arg.size)
            unit[j] = 1.0
            values = [*zeros[:k], unit.reshape(arg.shape, order="F"), *zeros[k + 1 :]]
            columns[:, j] = np.ravel(_at(expression, moving, values) - base, order="F")
        found.append(sp.csc_array(columns))
    return found


def _by_parameter(expression: Any, moving: list[Any], parameters: list[Any]) -> list[tuple[Any, list[list[Any]]]]:
    """The part of the matrices that belongs to each entry of each parameter."""
    fixed = _matrices(expression, moving)
    held = [(p, p.value) for p in expression.parameters()]
    found = []
    try:
        for parameter in parameters:
            for p, _ in held:
                p.save_value(np.zeros(p.shape))
            of_entries = []
            for j in range(parameter.size):
                unit = np.zeros(parameter.size)
                unit[j] = 1.0
                parameter.save_value(unit.reshape(parameter.shape, order="F"))
                there = _matrices_now(expression, moving)
                of_entries.append([sp.csc_array(a - b) for a, b in zip(there, fixed, strict=True)])
            found.append((parameter, of_entries))
    finally:
        for p, value in held:
            p.save_value(value)
    return found


TURNED: dict[str, Callable[[Coefficients, Any, Any], None]] = {
    "AddExpression": _sum,
    "NegExpression": _minus,
    "Promote": _spread,
    "broadcast_to": _spread,
    "MulExpression": _product,
    "multiply": _entries_times,
    "DivExpression": _over,
    "reshape": _reshaped,
    "transpose": _transposed,
    "Sum": _summed,
    "Hstack": _pieces,
    "Vstack": _pieces,
    "Trace": _trace,
    "index": _picked,
    "special_index": _picked,
    "psd_wrap": _same_entries,
    "nsd_wrap": _same_entries,
    "symmetric_wrap": _same_entries,
    "nonneg_wrap": _same_entries,
    "nonpos_wrap": _same_entries,
}
