r"""A compiled quadratic or linear program along a line of parameters.

.. math::

   \min_x\ \tfrac12x^\top Px+q(t)^\top x\quad\text{s.t. } b(t)-Ax=0\text{ in the first rows},\ b(t)-Ax\ge0
   \text{ in the others},

with q and b affine in t from 0 to 1. Its multipliers z have the signs of Clarabel: :math:`Px+q+A^\top z=0`, and z is
nonnegative on inequalities. It is data: what belongs to which name of the user stands in index arrays, so that a path
is read, stored and drawn without CVXPY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.products import Products
from paretoclf.problem.parametric_qp import ParametricQP


@dataclass(frozen=True)
class Reading:
    """Where the entries of a variable, or of its multipliers, stand in a vector; a factor of 0 is an entry 0.

    Where an entry is a sum of two (the multipliers of both bounds of a row), ``place`` and ``factor`` have two columns.
    """

    shape: tuple[int, ...]
    place: Index
    factor: Array

    def of(self, vector: Array) -> Any:
        """The entries in their shape."""
        found = self.factor * self.at_places(vector)
        return (found if found.ndim == 1 else found.sum(axis=1)).reshape(self.shape)

    def at_places(self, vector: Any) -> Any:
        """The entries of a vector at the places; where the vector has none, as every factor is 0 then, zeros."""
        return vector[self.place] if vector.size else np.zeros(self.place.shape, vector.dtype)

    def spread(self, entries: Array, free: Mask) -> tuple[Index, Array]:
        """Places in the vector, and what stands there where the entries are these: of two places on that of their sign.

        A place in the mask ``free`` may hold either sign.
        """
        used = self.factor != 0.0
        values = np.reshape(entries, (-1,) + (1,) * (self.factor.ndim - 1)) / np.where(used, self.factor, 1.0)
        if self.factor.ndim > 1:
            values = np.where(self.at_places(free), values, np.maximum(values, 0.0))
        return self.place[used], values[used]

    @property
    def entries(self) -> list[str]:
        """How each entry is indexed, such as ``[2, 3]``; nothing where there is one entry only."""
        return [f"[{', '.join(map(str, index))}]" if index else "" for index in np.ndindex(*self.shape)]


@dataclass(frozen=True)
class Moved:
    """Column j of the user's program is ``x_j + s(t) a'x``: a parameter stood in two rows of it, and is in b now."""

    column: int
    places: Index
    values: Array
    scale: Array

    def at(self, x: Array, t: float) -> float:
        """What is added to x_j."""
        return float(between(self.scale, t) * (self.values @ x[self.places]))

    def rate(self, x: Array, dx: Array, t: float) -> float:
        """By how much that grows with t where x grows by dx."""
        speed = self.scale[1] - self.scale[0]
        return float(speed * (self.values @ x[self.places])) + self.at(dx, t)


@dataclass(frozen=True)
class ProgramLine:
    """A compiled program along a line; what is affine in t has a row for t = 0 and one for t = 1.

    Attributes
    ----------
    P : sparse array of shape (n, n)
    A : sparse array of shape (m, n)
    q, b : arrays of shape (2, n), (2, m)
    constant : array of shape (2,)
        What is added to the objective.
    equations : int
        How many of the first rows are equations.
    sense : int
        -1 where the user maximises: the program minimises minus that.
    variables, multipliers : mapping of str to Reading
        The user's variables in x, and the multipliers of the user's constraints in z.
    moved : tuple of Moved
        Columns that were shifted.
    shift : array of shape (2, n), optional
        What P has on its diagonal that the user's has not, as rounding took it from there.
    lacks : array of shape (n,), optional
        What the diagonal of P lacks of being proved positive semidefinite at every t; the gap has what that may cost.
    """

    P: Any = field(repr=False)
    A: Any = field(repr=False)
    q: Array = field(repr=False)
    b: Array = field(repr=False)
    constant: Array = field(repr=False)
    equations: int
    sense: int
    variables: Mapping[str, Reading] = field(repr=False)
    multipliers: Mapping[str, Reading] = field(repr=False)
    moved: tuple[Moved, ...] = field(default=(), repr=False)
    shift: Array | None = field(default=None, repr=False, kw_only=True)
    lacks: Array | None = field(default=None, repr=False, kw_only=True)

    @property
    def n(self) -> int:
        """Number of columns."""
        return int(self.q.shape[1])

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.b.shape[1])

    @cached_property
    def rows(self) -> Any:
        """A by rows."""
        return sp.csr_array(self.A)

    @cached_property
    def products(self) -> tuple[Products, Products, Products]:
        """P, A and A' for products with points."""
        A = Products.of(self.rows)
        return Products.of(self.P), A, A.T

    @property
    def quadratics(self) -> tuple[Any, ...]:
        """P at both ends, or once where it stands still."""
        return (self.P,)

    @cached_property
    def given(self) -> Any:
        """P as the user gave it, without what rounding took from it: too little to be curvature to an engine."""
        if self.shift is None:
            return self.P
        return sp.csc_array(self.P - sp.diags_array(self.shift[0]))

    def value(self, x: Array, t: float) -> float:
        """The user's objective at a point."""
        return float(self.sense * (0.5 * x @ (self.P @ x) + between(self.q, t) @ x + between(self.constant, t)))

    def rate(self, x: Array, z: Array) -> float:
        """By how much the user's optimal value grows with t at an optimal pair (the envelope theorem)."""
        change = [ends[1] - ends[0] for ends in (self.q, self.b, self.constant)]
        return float(self.sense * (change[0] @ x - change[1] @ z + change[2]))

    def values(self, x: Array, t: float) -> dict[str, Any]:
        """The user's variables at a point."""
        own = self.columns(x, t)
        return {name: reading.of(own) for name, reading in self.variables.items()}

    def columns(self, x: Array, t: float) -> Array:
        """The columns of the user's program at a point of this one."""
        own = x.copy()
        for each in self.moved:
            own[each.column] += each.at(x, t)
        return own

    def rates(self, x: Array, dx: Array, t: float) -> dict[str, Any]:
        """By how much the user's variables grow with t at a point that grows by dx."""
        own = dx.copy()
        for each in self.moved:
            own[each.column] += each.rate(x, dx, t)
        return {name: reading.of(own) for name, reading in self.variables.items()}

    @cached_property
    def parabolas(self) -> tuple[str, ...]:
        """The user's variables that are no straight lines where x is one: those with a column that was shifted."""
        columns = [each.column for each in self.moved]
        return tuple(
            name
            for name, reading in self.variables.items()
            if np.isin(reading.place[reading.factor != 0], columns).any()
        )

    @property
    def readings(self) -> dict[str, Reading | None]:
        """Readings of all variables and multipliers by keys that tell them apart; ``"value"`` has none."""
        return told_apart(None, self.variables, self.multipliers)

    def duals(self, z: Array) -> dict[str, Any]:
        """The multipliers of the user's constraints."""
        return {name: reading.of(z) for name, reading in self.multipliers.items()}

    @property
    def problem(self) -> ParametricQP:
        """The whole program with every row an item: what a path is proved on."""
        none = np.full((2, self.n), np.inf)
        low = self.b.copy()
        low[:, self.equations :] = -np.inf
        names = tuple(self.column_name(j) for j in range(self.n)) + tuple(self.row_name(i) for i in range(self.m))
        return ParametricQP.hard(
            self.P.toarray(),
            self.A.toarray(),
            self.q,
            np.hstack([-none, low]),
            np.hstack([none, self.b]),
            constant=self.constant,
            names=names,
        )

    def column_name(self, j: int) -> str:
        """The user's name of a column, such as ``w[3]``; what CVXPY added has a number."""
        return self._columns.get(j, f"auxiliary variable {j}")

    def is_named(self, j: int) -> bool:
        """Whether a column is one of the user's."""
        return j in self._columns

    def row_name(self, i: int) -> str:
        """The user's name of a row, such as ``budget`` or ``cap[2]``; what CVXPY added has a number."""
        return self._rows.get(i, f"auxiliary row {i}")

    def label(self, i: int) -> str:
        """The constraint that a row belongs to; empty where CVXPY added it."""
        return self._labels.get(i, "")

    @cached_property
    def _columns(self) -> dict[int, str]:
        return _named(self.variables)

    @cached_property
    def _rows(self) -> dict[int, str]:
        return _named(self.multipliers)

    @cached_property
    def _labels(self) -> dict[int, str]:
        return {int(i): name for name, reading in self.multipliers.items() for i in reading.place[reading.factor != 0]}


class AnyPoints(Protocol):
    """`Points`, or what makes them when they are asked for."""

    @property
    def x(self) -> Array:
        """Columns at all points."""
        ...

    @property
    def z(self) -> Array:
        """Multipliers of rows at all points."""
        ...

    @property
    def begin(self) -> Index:
        """Where each segment begins."""
        ...

    def __len__(self) -> int: ...

    def part(self, part: slice) -> tuple[Array, Array]:
        """Both, at points that follow each other."""
        ...

    def spread(self) -> tuple[Array, Array]:
        """Both, at both ends of each segment."""
        ...

    def segment(self, j: int) -> tuple[Array, Array]:
        """Both, at both ends of segment j."""
        ...


@dataclass(frozen=True)
class Points:
    """Columns and multipliers of a compiled program at points of a path, in order; where segments meet, one point.

    Attributes
    ----------
    x, z : arrays of shape (points, columns), (points, rows)
    begin : int array of shape (k,)
        Where each segment begins; it ends at the next point.
    """

    x: Array
    z: Array
    begin: Index

    @classmethod
    def of(cls, x: Array, z: Array) -> Points:
        """Points that both ends of each segment are, (k, 2, columns) and (k, 2, rows)."""
        kept = np.ones((len(x), 2), dtype=np.bool_)
        kept[1:, 0] = (x[1:, 0] != x[:-1, 1]).any(axis=1) | (z[1:, 0] != z[:-1, 1]).any(axis=1)
        return cls(x[kept], z[kept], np.cumsum(kept)[::2] - 1)

    def __len__(self) -> int:
        return len(self.x)

    def part(self, part: slice) -> tuple[Array, Array]:
        """Both, at points that follow each other."""
        return self.x[part], self.z[part]

    def spread(self) -> tuple[Array, Array]:
        """Both, at both ends of each segment."""
        ends = np.stack([self.begin, self.begin + 1], axis=1)
        return self.x[ends], self.z[ends]

    def segment(self, j: int) -> tuple[Array, Array]:
        """Both, at both ends of segment j."""
        part = slice(self.begin[j], self.begin[j] + 2)
        return self.x[part], self.z[part]


def between(ends: Any, t: Any) -> Any:
    """What is ``ends[0]`` at t = 0 and ``ends[1]`` at t = 1."""
    return (1.0 - t) * ends[0] + t * ends[1]


def side_at(ends: Array, t: Any) -> Array:
    """Bounds, or prices, at t, infinite ones among them; a row for each t of a column."""
    return np.asarray(np.where(np.isfinite(ends[0]), between(np.where(np.isfinite(ends), ends, 0.0), t), ends[0]))


def along(ends: Array, t: Array) -> Array:
    """What is affine in t, (2, size), at k values of t: shape (size, k), or (size, 1) where it stands still."""
    if np.array_equal(ends[0], ends[1]):
        return np.asarray(ends[0][:, None])
    return np.asarray(np.multiply.outer(ends[0], 1.0 - t) + np.multiply.outer(ends[1], t))


def _named(readings: Mapping[str, Reading]) -> dict[int, str]:
    """Name of each place; where several entries are one, that of the first."""
    found: dict[int, str] = {}
    for name, reading in readings.items():
        places, factors = (np.atleast_2d(each.T).T.tolist() for each in (reading.place, reading.factor))
        for own, weights, entry in zip(places, factors, reading.entries, strict=True):
            for place in (place for place, weight in zip(own, weights, strict=True) if weight):
                found.setdefault(place, name + entry)
    return found


def told_apart(value: Any, variables: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, Any]:
    """Put what is known of the optimal value, of variables and of rows into one mapping, each under its own key.

    The value is ``"value"``; a variable or a row of that name is ``"x:value"`` or ``"row:value"``.

    Examples
    --------
    >>> from paretoclf.engine.reduction.program import told_apart
    >>> told_apart(1.0, {"w": 2.0, "value": 3.0}, {"sum": 4.0})
    {'value': 1.0, 'w': 2.0, 'x:value': 3.0, 'sum': 4.0}
    """
    found = {"value": value}
    for kind, own in (("x", variables), ("row", rows)):
        found |= {beside_the_value(name, kind): each for name, each in own.items()}
    return found


def beside_the_value(name: str, kind: str) -> str:
    """The key of a variable (kind ``"x"``) or of a row (``"row"``) among which the optimal value has its own."""
    return f"{kind}:{name}" if name == "value" else name


def meant_by(name: Any, variables: Iterable[str], rows: Iterable[str]) -> str | None:
    """The key of the variable or row that a name stands for; None where there is none, or more than one.

    With ``x:`` before it a name is that of a variable, with ``row:`` that of a row; without, of the one that has it.

    Examples
    --------
    >>> from paretoclf.engine.reduction.program import meant_by
    >>> keys = ["x:steel", "coal"], ["hours", "row:steel"]
    >>> [meant_by(name, *keys) for name in ("x:steel", "x:coal", "coal", "steel")]
    ['x:steel', 'coal', 'coal', None]
    """
    found = []
    for kind, keys in (("x:", variables), ("row:", rows)):
        found += [key for key in keys if name in (key, kind + key, key.removeprefix(kind))]
    return found[0] if len(found) == 1 else None


def symmetric(P: Any) -> Any:
    """A symmetric sparse array from one whose lower triangle may be missing."""
    upper = sp.csc_array(sp.triu(P))
    return sp.csc_array(upper + sp.triu(upper, 1).T)
