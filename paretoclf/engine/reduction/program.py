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
from typing import Any

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
        """Read the entries from a vector, in their shape."""
        found = self.factor * self.at_places(vector)
        return (found if found.ndim == 1 else found.sum(axis=1)).reshape(self.shape)

    def at_places(self, vector: Any) -> Any:
        """The entries of a vector at the places; where the vector has none, as every factor is 0 then, zeros."""
        return vector[self.place] if vector.size else np.zeros(self.place.shape, vector.dtype)

    def spread(self, entries: Array, free: Mask) -> tuple[Index, Array]:
        """Return the places of given entries in the vector, and their numbers there.

        Of two places the one of the entry's sign has it; a place in the mask ``free`` may hold either sign.
        """
        used = self.factor != 0.0
        shape = (-1, 1) if self.factor.ndim > 1 else (-1,)
        values = np.reshape(entries, shape) / np.where(used, self.factor, 1.0)
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
        """Return the shift of x_j."""
        return float(between(self.scale, t) * (self.values @ x[self.places]))

    def rate(self, x: Array, dx: Array, t: float) -> float:
        """Return the rate of the shift in t where x grows by dx."""
        speed = self.scale[1] - self.scale[0]
        product = self.values @ x[self.places]
        return float(speed * product) + self.at(dx, t)


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
    attributes : mapping of str to Reading
        The multipliers in z of what attributes of the user's variables say, by names such as ``x: nonneg``.
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
    attributes: Mapping[str, Reading] = field(default_factory=dict, repr=False, kw_only=True)

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
        A = Products.whole(self.rows)
        return Products.whole(self.P), A, A.T

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
        quadratic = 0.5 * x @ (self.P @ x)
        linear = between(self.q, t) @ x
        return float(self.sense * (quadratic + linear + between(self.constant, t))) + 0.0  # no -0.0

    def rate(self, x: Array, z: Array) -> float:
        """Rate of the user's optimal value in t at an optimal pair (the envelope theorem)."""
        q_rate, b_rate, constant_rate = (stop - start for start, stop in (self.q, self.b, self.constant))
        return float(self.sense * (q_rate @ x - b_rate @ z + constant_rate))

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
        """Rates of the user's variables in t at a point that grows by dx."""
        own = dx.copy()
        for each in self.moved:
            own[each.column] += each.rate(x, dx, t)
        return {name: reading.of(own) for name, reading in self.variables.items()}

    @cached_property
    def parabolas(self) -> tuple[str, ...]:
        """The user's variables that are no straight lines where x is one: those with a column that was shifted."""
        shifted = [each.column for each in self.moved]
        found = []
        for name, reading in self.variables.items():
            columns = reading.place[reading.factor != 0]
            if np.isin(columns, shifted).any():
                found.append(name)
        return tuple(found)

    def matrices(self, t: float) -> tuple[Any, Any]:
        """P and A at t; here they are the same at every t."""
        return self.P, self.A

    def slacks(self, x: Array, t: float) -> Array:
        """Slacks b - Ax of all rows at t."""
        _, A = self.matrices(t)
        return np.asarray(between(self.b, t) - A @ x)

    @property
    def readings(self) -> dict[str, Reading | None]:
        """Readings of all variables and multipliers by keys that tell them apart; ``"value"`` has none."""
        return told_apart(None, self.variables, self.multipliers)

    @property
    def all_multipliers(self) -> dict[str, Reading]:
        """The readings of multipliers: of the user's constraints, then of attributes."""
        return {**self.multipliers, **self.attributes}

    def duals(self, z: Array) -> dict[str, Any]:
        """The multipliers of the user's constraints, and of the attributes of variables."""
        return {name: reading.of(z) for name, reading in self.all_multipliers.items()}

    @property
    def problem(self) -> ParametricQP:
        """The whole program with every row an item: what a path is proved on."""
        P, A = self.P.toarray(), self.A.toarray()
        lower, upper = bounds_of_items(self.q, self.b, self.equations)
        names = [self.column_name(column) for column in range(self.n)]
        names += [self.row_name(row) for row in range(self.m)]
        return ParametricQP.hard(P, A, self.q, lower, upper, constant=self.constant, names=tuple(names))

    def column_name(self, column: int) -> str:
        """The user's name of a column, such as ``w[3]``; what CVXPY added has a number."""
        return self._columns.get(column, f"auxiliary variable {column}")

    def is_named(self, column: int) -> bool:
        """Whether a column is one of the user's."""
        return column in self._columns

    def row_name(self, row: int) -> str:
        """The user's name of a row: ``budget``, ``cap[2]``, ``x: nonneg[0]``; what CVXPY added has a number."""
        return self._rows.get(row, f"auxiliary row {row}")

    def label(self, row: int) -> str:
        """The constraint that a row belongs to; empty where CVXPY added it, for an attribute, too."""
        return self._labels.get(row, "")

    @cached_property
    def _columns(self) -> dict[int, str]:
        return _named(self.variables)

    @cached_property
    def _rows(self) -> dict[int, str]:
        return _named(self.all_multipliers)

    @cached_property
    def _labels(self) -> dict[int, str]:
        found = {}
        for name, reading in self.multipliers.items():
            for row in reading.place[reading.factor != 0]:
                found[int(row)] = name
        return found


def between(ends: Any, t: Any) -> Any:
    """Interpolate linearly between ``ends[0]`` at t = 0 and ``ends[1]`` at t = 1."""
    return (1.0 - t) * ends[0] + t * ends[1]


def side_at(ends: Array, t: Any) -> Array:
    """Bounds, or prices, at t, infinite ones among them; a row for each t of a column."""
    finite = np.isfinite(ends[0])
    numbers = np.where(np.isfinite(ends), ends, 0.0)
    return np.asarray(np.where(finite, between(numbers, t), ends[0]))


def along(ends: Array, t: Array) -> Array:
    """Interpolate numbers, (2, size), at k values of t: shape (size, k), or (size, 1) where they are constant."""
    first, last = ends
    if np.array_equal(first, last):
        return np.asarray(first[:, None])
    found = np.multiply.outer(first, 1.0 - t)
    found += np.multiply.outer(last, t)
    return np.asarray(found)


def bounds_of_items(q: Array, b: Array, equations: int) -> tuple[Array, Array]:
    """Lower and upper bounds of columns, which have none, and of rows, as items."""
    none = np.full(q.shape, np.inf)
    lower = b.copy()
    lower[:, equations:] = -np.inf
    return np.hstack([-none, lower]), np.hstack([none, b])


def _named(readings: Mapping[str, Reading]) -> dict[int, str]:
    """User's name, such as ``w[3]``, of each position of a vector that readings read; of several, the first."""
    found: dict[int, str] = {}
    for name, reading in readings.items():
        places, factors = (np.atleast_2d(each.T).T.tolist() for each in (reading.place, reading.factor))
        for own, weights, entry in zip(places, factors, reading.entries, strict=True):
            for place, weight in zip(own, weights, strict=True):
                if weight:
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
    P = sp.coo_array(P)
    upper = (P.row <= P.col) & (P.data != 0.0)
    off = upper & (P.row < P.col)
    rows, columns = np.append(P.row[upper], P.col[off]), np.append(P.col[upper], P.row[off])
    return sp.csc_array((np.append(P.data[upper], P.data[off]), (rows, columns)), shape=P.shape)
