"""Rows of the table for the atoms of CVXPY: which function of which arguments, with which numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.conjugates import TABLE, Conjugate, number
from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp


@dataclass(frozen=True)
class Recognised:
    """One atom as a row of the table.

    Attributes
    ----------
    row : Conjugate
    concave : bool
        Whether the row is that of minus the atom.
    args : tuple of cvxpy.Expression
        Arguments of the row, constants among them too, each of the shape that the row expects.
    shape : tuple of int
        That of the value of the row, without the axes that the atom keeps.
    numbers : mapping of str to object
        ``axis``, and what else the row needs.
    """

    row: Conjugate
    concave: bool
    args: tuple[Any, ...]
    shape: tuple[int, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)


def recognised(atom: Any) -> Recognised:
    """The row of an atom.

    Raises
    ------
    InputError
        If the table has none; the message names the atom.
    """
    kind = type(atom).__name__.removesuffix("Approx")
    if any(arg.is_complex() for arg in atom.args):
        raise InputError(f"pc.dual knows real arguments only: {short(atom)} has a complex one")
    if kind in ("maximum", "minimum") and (one := _beside_0(atom)) is not None:
        concave = kind == "minimum"
        arg = _of_shape(one, atom.shape)
        return Recognised(TABLE["pos"], concave, (-arg if concave else arg,), atom.shape)
    if kind in _ENTRY_BY_ENTRY:
        return _entry_by_entry(atom, _ENTRY_BY_ENTRY[kind])
    if kind in _SLICES:
        return _of_slices(atom, _SLICES[kind])
    if kind in _MATRICES:
        name, concave = _MATRICES[kind]
        numbers = {"k": float(atom.k)} if kind == "lambda_sum_largest" else {}
        return _of_matrix(atom, name, concave, numbers)
    if kind in _OTHERS:
        return _OTHERS[kind](atom)
    raise InputError(
        f"pc.dual knows no conjugate of {kind}, in {short(atom)}: pc.dual(problem, compiled=True) is the dual of the "
        "cone program that CVXPY makes of it"
    )


def _beside_0(atom: Any) -> Any | None:
    """The one argument of a maximum or minimum that stands beside a 0, or None."""
    zeros = [_is_number_0(arg) for arg in atom.args]
    if len(zeros) != 2 or sum(zeros) != 1:
        return None
    return atom.args[1 - zeros.index(True)]


def _is_number_0(expression: Any) -> bool:
    """Whether an expression is a number without parameters, and 0."""
    return not expression.variables() and not expression.parameters() and not np.any(number(expression))


#: Atoms entry by entry whose name, or that with a minus, is the row's -> row.
_ENTRY_BY_ENTRY = {
    "abs": "abs",
    "exp": "exp",
    "logistic": "logistic",
    "log": "-log",
    "log1p": "-log1p",
    "entr": "-entr",
    "rel_entr": "rel_entr",
    "kl_div": "kl_div",
    "maximum": "maximum",
}

#: The same of slices.
_SLICES = {
    "norm1": "norm1",
    "norm_inf": "norm_inf",
    "max": "max",
    "sum_largest": "sum_largest",
    "log_sum_exp": "log_sum_exp",
    "GeoMean": "-geo_mean",
}

#: Atoms of matrices -> row, and whether they are concave.
_MATRICES = {
    "lambda_max": ("lambda_max", False),
    "lambda_sum_largest": ("lambda_sum_largest", False),
    "normNuc": ("normNuc", False),
    "sigma_max": ("sigma_max", False),
    "log_det": ("-log_det", True),
    "tr_inv": ("tr_inv", False),
    "MatrixFrac": ("matrix_frac", False),
}


def _of_shape(expression: Any, shape: tuple[int, ...]) -> Any:
    """An argument at every entry of a value of this shape."""
    if expression.shape == shape:
        return expression
    if expression.size == 1:
        return cp.promote(cp.reshape(expression, (), order="F"), shape)
    return cp.broadcast_to(expression, shape)


def _entry_by_entry(atom: Any, name: str, numbers: Mapping[str, Any] | None = None) -> Recognised:
    """An atom that is a function of the entries of its arguments."""
    args = tuple(_of_shape(arg, atom.shape) for arg in atom.args)
    return Recognised(TABLE[name], name.startswith("-"), args, atom.shape, numbers or {})


def _axis_of(atom: Any) -> int | None:
    """Axis along which an atom reduces a vector or a matrix to one number for each slice; None: to one in all."""
    axis, ndim = getattr(atom, "axis", None), atom.args[0].ndim
    axes = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted({each % ndim for each in axes}))
    if not axes or len(axes) == ndim:
        return None
    if ndim > 2:
        raise InputError(f"pc.dual knows slices of matrices only, got {short(atom)} of shape {atom.args[0].shape}")
    return int(axes[0])


def _of_slices(
    atom: Any, name: str, numbers: Mapping[str, Any] | None = None, args: tuple[Any, ...] | None = None
) -> Recognised:
    """An atom that is a function of all entries of its argument, or of each row or column."""
    axis, given = _axis_of(atom), atom.args if args is None else args
    shape = () if axis is None else (atom.args[0].shape[1 - axis],)
    known = {"axis": axis} | dict(numbers or {})
    if name == "sum_largest":
        known["k"] = float(atom.k)
    if name == "-geo_mean":
        known |= _weights_of_mean(atom)
    return Recognised(TABLE[name], name.startswith("-"), tuple(given), shape, known)


def _weights_of_mean(atom: Any) -> dict[str, Any]:
    """Weights of a geometric mean, of sum 1."""
    given = atom.get_data()[0]
    arg, axis = atom.args[0], _axis_of(atom)
    size = arg.size if axis is None else arg.shape[axis]
    kept = getattr(atom, "_keep", None)
    powers = np.ones(size)
    if given is not None and len(given) == size:
        powers = np.array([float(each) for each in given])
    elif given is not None and kept is not None:
        powers = np.zeros(size)
        powers[np.asarray(kept)] = [float(each) for each in given]
    return {"g": powers / powers.sum()}


def _of_matrix(
    atom: Any, name: str, concave: bool, numbers: Mapping[str, Any] | None = None, args: tuple[Any, ...] | None = None
) -> Recognised:
    """An atom of whole matrices."""
    given = tuple(atom.args) if args is None else args
    if any(arg.ndim > 2 for arg in given) or atom.size != 1:
        raise InputError(f"pc.dual knows matrices, no stacks of them, got {short(atom)}")
    return Recognised(TABLE[name], concave, given, (), numbers or {})


def _power(atom: Any) -> Recognised:
    """A power: which of five rows hangs on its exponent."""
    p = float(atom.p_used)
    if p == 2:
        return _entry_by_entry(atom, "square")
    if p > 1:
        even = p == int(p) and int(p) & (int(p) - 1) == 0
        name = "power even" if even else "power above 1"
    else:
        name = "-power below 1" if p > 0 else "power below 0"
    return _entry_by_entry(atom, name, {"p": p})


def _pnorm(atom: Any) -> Recognised:
    """A norm, or its concave kin below 1."""
    p = float(atom.p)
    name = "norm2" if p == 2 else "pnorm" if p > 1 else "-pnorm below 1"
    return _of_slices(atom, name, {"p": p})


def _quad_over_lin(atom: Any) -> Recognised:
    """A sum of squares, where the denominator is a number; else a function of both."""
    above, below = atom.args
    if below.variables() or below.parameters():
        return _of_slices(atom, "quad_over_lin")
    denominator = float(number(below).ravel()[0])
    if denominator == 1:
        return _of_slices(atom, "sum_squares", args=(above,))
    return _of_slices(atom, "sum_squares", args=(above / np.sqrt(denominator),))


def _quad_form(atom: Any) -> Recognised:
    """A quadratic form of either sign; a matrix with parameters stays an expression."""
    above, matrix = atom.args
    concave = atom.is_atom_concave()
    if matrix.parameters():
        P: Any = -matrix if concave else matrix
    else:
        P = number(-matrix if concave else matrix)
        P = (P + P.T) / 2
    return _of_matrix(atom, "quad_form", concave, {"P": P}, (above,))


def _huber(atom: Any) -> Recognised:
    """A Huber loss, with its turning point."""
    M = atom.M if atom.M.parameters() else float(number(atom.M))
    return _entry_by_entry(atom, "huber", {"M": M})


def _smallest(atom: Any) -> Recognised:
    """The smallest of entries, or of several: minus the largest of minus them."""
    if type(atom).__name__ == "minimum":
        args = tuple(-_of_shape(arg, atom.shape) for arg in atom.args)
        return Recognised(TABLE["maximum"], True, args, atom.shape, {})
    found = _of_slices(atom, "max", args=(-atom.args[0],))
    return Recognised(found.row, True, found.args, found.shape, found.numbers)


def _dotsort(atom: Any) -> Recognised:
    """A sum with weights for ranks."""
    above, weights = atom.args
    c = cp.reshape(weights, (weights.size,), order="F") if weights.parameters() else number(weights).ravel(order="F")
    return _of_slices(atom, "dotsort", {"c": c}, (above,))


def _cummax(atom: Any) -> Recognised:
    """The largest entry so far, down each column or along each row."""
    above = atom.args[0]
    if above.ndim == 1 or atom.axis == 0:
        return Recognised(TABLE["cummax"], False, (above,), atom.shape, {})
    if above.ndim != 2 or atom.axis != 1:
        raise InputError(f"pc.dual knows cummax of vectors, and of matrices along one axis, got {short(atom)}")
    turned = cp.cummax(above.T, axis=0)
    return Recognised(TABLE["cummax"], False, (above.T,), turned.shape, {"turned": True})


_OTHERS: dict[str, Callable[[Any], Recognised]] = {
    "Power": _power,
    "Pnorm": _pnorm,
    "quad_over_lin": _quad_over_lin,
    "QuadForm": _quad_form,
    "huber": _huber,
    "min": _smallest,
    "minimum": _smallest,
    "dotsort": _dotsort,
    "cummax": _cummax,
}
