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
from paretoclf.solve.duals.conjugates import flat, is_number, number, spread
from paretoclf.solve.lazily import cp
from paretoclf.solve.words import short


@dataclass
class Coefficients:
    """What multipliers make of affine expressions: one term after another.

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


def _sum(into: Coefficients, e: Any, m: Any) -> None:
    for arg in e.args:
        into.add(arg, _summed_to(m, arg.shape))


def _summed_to(m: Any, shape: tuple[int, ...]) -> Any:
    """A multiplier of a value that was spread from this shape: summed over what was spread."""
    if m.shape == shape:
        return m
    if int(np.prod(shape)) == 1:
        return cp.reshape(cp.sum(m), shape, order="F")
    lead = m.ndim - len(shape)
    padded = (1,) * lead + shape
    axes = tuple(k for k in range(m.ndim) if padded[k] == 1 and m.shape[k] != 1)
    for axis in axes:
        m = cp.sum(m, axis=axis, keepdims=True)
    return cp.reshape(m, shape, order="F")


def _minus(into: Coefficients, e: Any, m: Any) -> None:
    into.add(e.args[0], -m)


def _same_entries(into: Coefficients, e: Any, m: Any) -> None:
    into.add(e.args[0], m)


def _spread(into: Coefficients, e: Any, m: Any) -> None:
    into.add(e.args[0], _summed_to(m, e.args[0].shape))


def _product(into: Coefficients, e: Any, m: Any) -> None:
    """A matrix product with a constant on one side."""
    left, right = e.args
    if left.is_constant():
        into.add(right, _from_left(left, right, m))
    else:
        into.add(left, _from_right(left, right, m))


def _from_left(left: Any, right: Any, m: Any) -> Any:
    """Coefficient of the right factor."""
    if left.ndim == 0:
        return _times(left, m)
    if left.ndim == 1 and right.ndim == 1:
        return left if is_one(m) else _times(m, left)
    if left.ndim == 1:
        return _column(left) @ cp.reshape(m, (1, m.size), order="F")
    return left.T @ m


def _from_right(left: Any, right: Any, m: Any) -> Any:
    """Coefficient of the left factor."""
    if right.ndim == 0:
        return _times(right, m)
    if right.ndim == 1 and left.ndim == 1:
        return right if is_one(m) else _times(m, right)
    if right.ndim == 1:
        return _column(m) @ cp.reshape(right, (1, right.size), order="F")
    if left.ndim == 1:
        return right @ m
    return m @ right.T


def _column(vector: Any) -> Any:
    return cp.reshape(vector, (vector.size, 1), order="F")


def _times(scalar: Any, expression: Any) -> Any:
    """A scalar times an expression, without a factor 1."""
    if is_one(scalar):
        return expression
    return scalar if expression.ndim == 0 and is_one(expression) else scalar * expression


def _entries_times(into: Coefficients, e: Any, m: Any) -> None:
    """A product entry by entry with a constant."""
    factor, rest = e.args if e.args[0].is_constant() else e.args[::-1]
    if type(factor).__name__ == "Promote" and rest.shape == m.shape:
        into.add(rest, _times(factor.args[0], m))
        return
    if factor.ndim == 0:
        into.add(rest, _summed_to(_times(factor, m), rest.shape))
        return
    into.add(rest, _summed_to(cp.multiply(factor, m), rest.shape))


def _over(into: Coefficients, e: Any, m: Any) -> None:
    """A quotient by a constant."""
    above, below = e.args
    if not is_number(below):
        divided = m / below
    else:
        inverse = 1 / number(below)
        divided = cp.multiply(inverse, m) if below.ndim else _times(cp.Constant(inverse), m)
    into.add(above, _summed_to(divided, above.shape))


def _reshaped(into: Coefficients, e: Any, m: Any) -> None:
    shape = e.args[0].shape
    turned = m if m.shape == shape else cp.reshape(m, shape, order=e.order)
    into.add(e.args[0], turned)


def _transposed(into: Coefficients, e: Any, m: Any) -> None:
    if e.args[0].ndim > 2:
        _numerically(into, e, m)
        return
    into.add(e.args[0], m.T)


def _summed(into: Coefficients, e: Any, m: Any) -> None:
    """A sum of all entries, or along an axis."""
    arg = e.args[0]
    if e.size == 1:
        scalar = cp.reshape(m, (), order="F") if m.ndim else m
        into.add(arg, cp.promote(scalar, arg.shape) if arg.ndim else scalar)
        return
    axes = e.axis if isinstance(e.axis, tuple) else (e.axis,)
    axes = tuple(each % arg.ndim for each in axes)
    if arg.ndim != 2:
        kept = tuple(1 if k in axes else size for k, size in enumerate(arg.shape))
        into.add(arg, cp.broadcast_to(cp.reshape(m, kept, order="F"), arg.shape))
        return
    into.add(arg, spread(flat(m), arg.shape, axes[0]))


def _pieces(into: Coefficients, e: Any, m: Any) -> None:
    """Arrays one after another: each has its part of the multiplier."""
    stacked = type(e).__name__ == "Vstack"
    along = 0 if stacked or e.ndim == 1 else 1
    begin = 0
    for arg in e.args:
        rows = 1 if stacked and arg.ndim < 2 else (arg.shape[along] if arg.ndim else 1)
        part = m[begin : begin + rows] if along == 0 else m[:, begin : begin + rows]
        into.add(arg, part if part.shape == arg.shape else cp.reshape(part, arg.shape, order="F"))
        begin += rows


def _trace(into: Coefficients, e: Any, m: Any) -> None:
    if e.ndim or e.args[0].ndim != 2:
        _numerically(into, e, m)
        return
    identity = cp.Constant(np.eye(e.args[0].shape[0]))
    into.add(e.args[0], _times(m, identity))


def _picked(into: Coefficients, e: Any, m: Any) -> None:
    """Entries of an array: the others have nothing."""
    arg = e.args[0]
    places = np.arange(arg.size).reshape(arg.shape, order="F")
    picked = np.ravel(places[_key_of(e)], order="F")
    ones, columns = np.ones(picked.size), np.arange(picked.size)
    put = sp.csc_array((ones, (picked, columns)), shape=(arg.size, picked.size))
    entries = put @ flat(m)
    into.add(arg, cp.reshape(entries, arg.shape, order="F") if arg.ndim != 1 else entries)


def _key_of(e: Any) -> Any:
    """The key of an indexed expression."""
    return e._orig_key if hasattr(e, "_orig_key") else e.key


def _numerically(into: Coefficients, e: Any, m: Any) -> None:
    """Any other affine atom: its matrix, from its values at unit vectors; a parameter in it has a matrix an entry."""
    moving = [arg for arg in e.args if not arg.is_constant()]
    inside = {p.id for arg in moving for p in arg.parameters()}
    parameters = list({p.id: p for p in e.parameters() if p.id not in inside}.values())
    fixed = _matrices(e, moving)
    with_parameters = _by_parameter(e, moving, parameters) if parameters else []
    for k, arg in enumerate(moving):
        terms = [fixed[k].T @ flat(m)] if fixed[k].nnz else []
        for parameter, matrices in with_parameters:
            entries = cp.reshape(parameter, (parameter.size,), order="F")
            for j, each in enumerate(matrices):
                if each[k].nnz:
                    terms.append(entries[j] * (each[k].T @ flat(m)))
        if terms:
            into.add(arg, cp.reshape(total(terms), arg.shape, order="F"))
    if not np.any(_at_zero(e, moving)):
        return
    if parameters:
        raise InputError(f"pc.dual cannot turn {short(e)} round: write it with products and sums")
    into.constants.append(inner(cp.Constant(_at_zero(e, moving)), m))


def _at(e: Any, moving: list[Any], values: list[Any]) -> Any:
    """Value of an atom where its moving arguments have these values."""
    given = {id(arg): cp.Constant(value) for arg, value in zip(moving, values, strict=True)}
    value = e.copy([given.get(id(arg), arg) for arg in e.args]).value
    return np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float)


def _at_zero(e: Any, moving: list[Any]) -> Any:
    return _at(e, moving, [np.zeros(arg.shape) for arg in moving])


def _matrices(e: Any, moving: list[Any]) -> list[Any]:
    """The matrix of an atom for each of its moving arguments, where parameters have the value 0."""
    held = [(p, p.value) for p in e.parameters()]
    for p, _ in held:
        p.save_value(np.zeros(p.shape))
    try:
        return _matrices_now(e, moving)
    finally:
        for p, value in held:
            p.save_value(value)


def _matrices_now(e: Any, moving: list[Any]) -> list[Any]:
    """The matrices where parameters have the values that they have."""
    zeros = [np.zeros(arg.shape) for arg in moving]
    base = _at(e, moving, zeros)
    found = []
    for k, arg in enumerate(moving):
        columns = np.zeros((e.size, arg.size))
        for j in range(arg.size):
            unit = np.zeros(arg.size)
            unit[j] = 1.0
            values = [*zeros[:k], unit.reshape(arg.shape, order="F"), *zeros[k + 1 :]]
            columns[:, j] = np.ravel(_at(e, moving, values) - base, order="F")
        found.append(sp.csc_array(columns))
    return found


def _by_parameter(e: Any, moving: list[Any], parameters: list[Any]) -> list[tuple[Any, list[list[Any]]]]:
    """The part of the matrices that belongs to each entry of each parameter."""
    fixed = _matrices(e, moving)
    held = [(p, p.value) for p in e.parameters()]
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
                there = _matrices_now(e, moving)
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
