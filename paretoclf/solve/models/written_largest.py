"""Atoms that are the largest of several expressions, or the smallest, as the author of a problem wrote them.

CVXPY compiles each entry of such an atom to a row for each expression, all with one column that it has added. What a
row says of the variables is known at points, and so is each expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.written_kinks import index_of, taken, values_at

#: An entry of a variable.
_ENTRY = re.compile(r"[^\W\d]\w*(\[[\d, ]+\])?")


@dataclass(frozen=True)
class WrittenLargest:
    """Expressions that an entry of an atom is the largest or the smallest of, and their values at some points.

    Attributes
    ----------
    names : tuple of str
        Such as ``w[1] of max(w)``; that of one of two equal expressions is that of both.
    signs : int array of shape (expressions,)
        1 of the largest, -1 of the smallest.
    entries : int array of shape (expressions,)
        One number for all expressions of an entry of an atom.
    values : array of shape (expressions, points)
        As rows of the compiled program have them: a column of CVXPY's is at least each.
    """

    names: tuple[str, ...]
    signs: Index
    entries: Index
    values: Array

    @classmethod
    def of(cls, problem: Any, points: Sequence[Mapping[str, Any]]) -> WrittenLargest:
        """Find those that an objective adds up, at points that give values to its variables by their names.

        What stands inside of another function is left out: there a column of CVXPY's may be more than the largest.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from paretoclf.solve.models.written_largest import WrittenLargest
        >>> w = cp.Variable(2, name="w")
        >>> problem = cp.Problem(cp.Minimize(cp.maximum(w[0], 3) - cp.min(w)))
        >>> found = WrittenLargest.of(problem, [{"w": [4.0, 5.0]}])
        >>> found.names, found.values.ravel().tolist()[1:]
        (('w[0] of maximum(w[0], 3)', '3 of maximum(w[0], 3)', 'w[0] of min(w)', 'w[1] of min(w)'), [3.0, -4.0, -5.0])
        """
        where = taken(problem, points)
        names, signs, entries, values = list[str](), list[int](), list[int](), [np.zeros((0, len(points)))]
        number = 0
        for atom in _atoms(problem.objective.expr):
            sign = -1 if isinstance(atom, cp.minimum | cp.min) else 1
            for own, numbers in _entries(atom, where):
                names += own
                signs += [sign] * len(own)
                entries += [number] * len(own)
                values.append(sign * numbers)
                number += 1
        return cls(tuple(names), np.array(signs), np.array(entries), np.concatenate(values))


def _atoms(expression: Any) -> Iterator[Any]:
    """Yield the atoms of these kinds that an expression adds up, those of affine arguments."""
    kinds = cp.maximum | cp.minimum | cp.max | cp.min | cp.norm_inf | cp.sum_largest
    if isinstance(expression, kinds) and all(each.is_affine() for each in expression.args):
        yield expression
    elif isinstance(expression, cp.atoms.affine.affine_atom.AffAtom):
        for argument in expression.args:
            yield from _atoms(argument)


def _entries(atom: Any, points: Sequence[Mapping[Any, Any]]) -> Iterator[tuple[list[str], Array]]:
    """Yield the names and the values of the expressions that each entry of an atom is made of."""
    text = _text(atom)
    if isinstance(atom, cp.maximum | cp.minimum):
        arguments = [_names(each, f"argument {place}") for place, each in enumerate(atom.args)]
        written = [np.broadcast_to(own, atom.shape).ravel() for own in arguments]
        numbers = np.stack([values_at(each, atom.shape, points) for each in atom.args])
        for entry in range(numbers.shape[1]):
            yield [f"{own[entry]} of {text}" for own in written], numbers[:, entry]
        return
    (argument,) = atom.args
    names, values = _names(argument, "entry"), values_at(argument, argument.shape, points)
    places = np.arange(argument.size).reshape(argument.shape)
    axis = getattr(atom, "axis", None)
    slices = [places.ravel()] if axis is None else np.moveaxis(places, axis, -1).reshape(-1, places.shape[axis])
    for each in slices:
        own, sides = [f"{name} of {text}" for name in names.ravel()[each]], values[each]
        if isinstance(atom, cp.norm_inf):
            own, sides = own + [_minus(name) for name in own], np.concatenate([sides, -sides])
        yield own, sides


def _text(atom: Any) -> str:
    """The function with its arguments where these are short, else with the names of its variables."""
    short = [_short(each) for each in atom.args]
    inside = short if None not in short else [each.name() for each in atom.variables()]
    return f"{type(atom).__name__}({', '.join(map(str, dict.fromkeys(inside)))})"


def _short(expression: Any) -> str | None:
    """A label, a variable or one entry of it, minus this, or a number; None of anything else."""
    if expression.label or isinstance(expression, cp.Variable):
        return expression.label or str(expression.name())
    if isinstance(expression, cp.Constant) and expression.is_scalar():
        return f"{float(expression.value):g}"
    if type(expression).__name__ == "NegExpression":
        short = _short(expression.args[0])
        return None if short is None else _minus(short)
    return str(expression) if expression.is_scalar() and _ENTRY.fullmatch(str(expression)) else None


def _minus(name: str) -> str:
    """The name of what has the other sign."""
    return name[1:] if name.startswith("-") else f"-{name}"


def _names(expression: Any, otherwise: str) -> Any:
    """Names of the entries of an argument: of a short one by these, else by their places."""
    short = _short(expression)
    names = np.empty(expression.shape, dtype=object)
    for place in np.ndindex(*expression.shape):
        names[place] = f"{otherwise if short is None else short}{index_of(place)}"
    return names
