"""Where an objective bends, as its author wrote it: absolute values, and the larger or smaller of two expressions.

CVXPY compiles each entry of such an atom to two rows, one a piece, and keeps no record of which. What a row says of the
variables is known at points, though, and so is each expression: where the same numbers are found, it is the same row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import dense, having

#: Vectors of length 1 that are closer are the same, up to rounding.
SAME = 1e-9


@dataclass(frozen=True)
class WrittenKinks:
    """Entries of atoms of an objective that bend where an expression is 0, and values at some points.

    Attributes
    ----------
    names : tuple of str
        Such as ``residual[17]``, by the label of the expression, or ``term 17 of pos(w, b)``.
    labelled : bool array of shape (entries,)
        Whether the name is a label of the author's.
    families : int array of shape (entries,)
        One number for all entries of an atom, for scalar atoms that read the same, and for what has one label.
    expressions : array of shape (entries, points)
        Values of the expression that is 0 at the kink.
    pieces : array of shape (2, entries, points)
        Values of the two pieces, as rows of the compiled program have them: a column of CVXPY's is at least each.
    """

    names: tuple[str, ...]
    labelled: Any
    families: Index
    expressions: Array
    pieces: Array

    @classmethod
    def of(cls, problem: Any, points: Sequence[Mapping[str, Any]]) -> WrittenKinks:
        """Find them in an objective, at points that give values to its variables by their names.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from paretoclf.solve.models.written_kinks import WrittenKinks
        >>> w = cp.Variable(2, name="w")
        >>> r = (w - 1).set_label("r")
        >>> found = WrittenKinks.of(cp.Problem(cp.Minimize(cp.norm1(r) + cp.pos(cp.sum(w)))), [{"w": [3.0, 5.0]}])
        >>> found.names, found.expressions.ravel().tolist()
        (('r[0]', 'r[1]', 'pos(w)'), [2.0, 4.0, 8.0])
        """
        atoms = [_AtomAt.of(*each, taken(problem, points)) for each in _atoms(problem.objective.expr)]
        keys = [(each.text, each.label is not None, each.shape == ()) for each in atoms]
        count, met, names, families = Counter(keys), Counter[Any](), list[str](), list[int]()
        for number, (atom, key) in enumerate(zip(atoms, keys, strict=True)):
            names += atom.names(met[key] if count[key] > 1 else None)
            met[key] += 1
            shared = atom.shape == () or atom.label is not None
            families += [keys.index(key) if shared else number] * len(atom.expression)
        labelled = np.repeat([atom.label is not None for atom in atoms], [len(atom.expression) for atom in atoms])
        nothing = np.zeros((2, 0, len(points)))
        expressions = np.concatenate([nothing[0], *(atom.expression for atom in atoms)])
        pieces = np.concatenate([nothing, *(atom.pieces for atom in atoms)], axis=1)
        return cls(tuple(names), labelled, np.array(families, dtype=np.int64), expressions, pieces)


@contextmanager
def at_start(source: Any) -> Iterator[Any]:
    """Hold the parameters of a line where it begins, and give its problem; an empty one where one lost its value."""
    parameters = [each for each in source.problem.parameters() if not isinstance(each, cp.CallbackParam)]
    with having({each: each.value for each in parameters}):
        source.move(0.0)
        known = all(each.value is not None for each in source.problem.parameters())
        yield source.problem if known else cp.Problem(cp.Minimize(0))


def _atoms(expression: Any, turned: bool = False) -> Iterator[tuple[Any, bool]]:
    """Yield the atoms with two affine pieces in an expression, and whether minus each of them is meant."""
    kinds = cp.abs, cp.norm1, cp.maximum, cp.minimum
    if (
        isinstance(expression, kinds)
        and len(expression.args) <= 2
        and all(each.is_affine() for each in expression.args)
    ):
        yield expression, turned
        return
    for argument in expression.args:
        yield from _atoms(argument, type(expression).__name__ == "NegExpression")


def taken(problem: Any, points: Sequence[Mapping[str, Any]]) -> list[dict[Any, Any]]:
    """Values of the variables of a problem at points."""
    return [{each: np.asarray(point[each.name()]) for each in problem.variables()} for point in points]


@dataclass(frozen=True)
class _AtomAt:
    """An atom with two pieces, as it is read, and its values at points: entries one after the other, a column a point.

    Attributes
    ----------
    text : str
        The label, or the function with the names of its variables.
    label : str, optional
        Of the expression that is 0 at the kink, or of the atom itself.
    shape : tuple of int
    expression, pieces : arrays of shape (entries, points), (2, entries, points)
    """

    text: str
    label: str | None
    shape: tuple[int, ...]
    expression: Array
    pieces: Array

    @classmethod
    def of(cls, atom: Any, turned: bool, points: Sequence[Mapping[Any, Any]]) -> _AtomAt:
        """Read one that stands in an expression as it is, or turned: minus the atom."""
        shape = np.broadcast_shapes(*(each.shape for each in atom.args))
        first, *others = (values_at(each, shape, points) for each in atom.args)
        if others:
            pieces = np.stack([first, others[0]]) * (-1.0 if isinstance(atom, cp.minimum) else 1.0)
            expression = others[0] - first if atom.args[0].is_constant() else first - others[0]
        else:
            pieces, expression = np.stack([first, -first]), first
        label = atom.label
        for each in (part for argument in atom.args for part in _labelled(argument, shape)):
            values = values_at(each, shape, points)
            if _proportional(values, expression):
                label, expression = each.label, values
                break
        names = ", ".join(dict.fromkeys(each.name() for each in atom.variables()))
        return cls(label or f"{_function(atom, turned)}({names})", label, shape, expression, pieces)

    def names(self, number: int | None) -> list[str]:
        """Name each entry; a number is that of the atom among others that read the same."""
        if self.label is not None:
            return [f"{self.text}{index_of(each)}" for each in np.ndindex(*self.shape)]
        if self.shape == ():
            return [self.text if number is None else f"term {number} of {self.text}"]
        which = "" if number is None else f", number {number}"
        places = [each[0] if len(each) == 1 else index_of(each) for each in np.ndindex(*self.shape)]
        return [f"term {place} of {self.text}{which}" for place in places]


def values_at(expression: Any, shape: tuple[int, ...], points: Sequence[Mapping[Any, Any]]) -> Array:
    """Values of the entries of an expression at points, one of one entry for each of a shape."""
    found = np.empty((math.prod(shape), len(points)))
    for column, point in zip(found.T, points, strict=True):
        with having(point):
            column[:] = np.broadcast_to(dense(expression.value), shape).ravel()
    return found


def _labelled(expression: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    """Yield what has a label and this shape in an expression."""
    if expression.label and expression.shape == shape:
        yield expression
    for argument in expression.args:
        yield from _labelled(argument, shape)


def _proportional(first: Array, second: Array) -> bool:
    """Whether rows are multiples of each other, entry by entry."""
    one, other = directions(first), directions(second)
    apart = np.minimum(abs(one - other).max(axis=1), abs(one + other).max(axis=1))
    return bool((apart <= SAME).all())


def directions(vectors: Array) -> Array:
    """Rows of length 1; rows of zeros stay as they are."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def _function(atom: Any, turned: bool) -> str:
    """The function that a user calls for an atom."""
    name = type(atom).__name__
    with_zero = len(atom.args) == 2 and atom.args[1].is_constant() and atom.args[1].is_zero()
    if not with_zero:
        return {"norm1": "abs"}.get(name, name)
    return "pos" if name == "maximum" else "neg" if turned else name


def index_of(place: tuple[int, ...]) -> str:
    """Index of an entry, as of a variable."""
    return f"[{', '.join(map(str, place))}]" if place else ""
