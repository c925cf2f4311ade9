"""The scale that a difference of two values is relative to: one rule for every verdict, at one point alone.

A value is off by much or by little beside three numbers: its own size, a thousandth of the largest term that it is a
sum of there, and a hundredth of the objective's unit. The last says how small is small where all terms vanish, as those
of a norm do at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import AWAY_FROM_ZERO, OF_TERMS, OF_UNIT

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Scale:
    """The three numbers of which the largest is what a difference of values is relative to.

    Attributes
    ----------
    value : float
        Size of the value.
    terms : float
        The share ``OF_TERMS`` of the largest term that the value is a sum of.
    unit : float
        The share ``OF_UNIT`` of the objective's unit: what it costs to move a variable by 1, or by less where rows are
        smaller.

    Examples
    --------
    >>> from paretoclf.proof.verdicts.scale import Scale
    >>> scale = Scale.of(1e-5, 2.0, 1.0)
    >>> scale.size, scale.decides, scale.briefly
    (0.01, 'the unit', '0.01, the unit')
    """

    value: float
    terms: float
    unit: float

    @classmethod
    def of(cls, value: float, terms: float, unit: float) -> Scale:
        """The scale of a value, of the size of its largest term, and of its unit."""
        return cls(abs(value), OF_TERMS * terms, OF_UNIT * unit)

    def times(self, unit: float) -> Scale:
        """The scale of values in another unit."""
        return Scale(unit * self.value, unit * self.terms, unit * self.unit)

    @property
    def size(self) -> float:
        """The number that differences are relative to; never 0."""
        return max(self.value, self.terms, self.unit, _TINY)

    @property
    def decides(self) -> str:
        """Name the one of the three that it is: ``"the value"``, ``"the terms"`` or ``"the unit"``."""
        if self.value >= max(self.terms, self.unit):
            return "the value"
        return "the terms" if self.terms >= self.unit else "the unit"

    @property
    def briefly(self) -> str:
        """Name what decides, in a cell of a table: its number, too, where it is not the value itself."""
        return self.decides if self.decides == "the value" else f"{self.size:.2g}, {self.decides}"

    @property
    def number(self) -> str:
        """The number that differences are relative to, and in brackets what it is where it is not the value itself."""
        return f"{self.size:.3g}" if self.decides == "the value" else f"{self.size:.3g} ({self.decides})"

    def __str__(self) -> str:
        terms = f"a thousandth of its largest term ({self.terms:.3g})"
        unit = f"a hundredth of its unit ({self.unit:.3g})"
        return f"{self.size:.3g}, the largest of the size of the value ({self.value:.3g}), {terms} and {unit}"


def sizes_of(values: Array, terms: Array) -> Array:
    """The scales of many values whose objective has no unit: their sizes, and shares of the sizes of their terms."""
    return np.maximum(np.abs(values), OF_TERMS * terms)


def largest_of_rows(A: Any) -> Array:
    """The size of the largest coefficient of each row of a sparse array, whose entries stand once each."""
    entries, found = A.tocoo(), np.zeros(A.shape[0])
    np.maximum.at(found, entries.coords[0], np.abs(entries.data))
    return found


@dataclass(frozen=True)
class Objective:
    """A compiled objective, with the sides of its rows, which say what is large in x.

    Attributes
    ----------
    P, q, constant : sparse array of shape (n, n), array of shape (n,), float
        Of ``x'Px / 2 + q'x + constant``.
    rows : array of shape (m,)
        The largest coefficient of each row.
    b : array of shape (m,)
        Its side.
    """

    P: Any
    q: Array
    constant: float
    rows: Array
    b: Array

    def value(self, x: Array) -> float:
        """The objective at a point."""
        squares = 0.5 * x @ (self.P @ x)
        return float(squares + self.q @ x + self.constant)

    def terms(self, x: Array) -> Array:
        """Sizes of what it is a sum of at a point: linear and quadratic terms by columns, and the constant."""
        squares = 0.5 * x * (self.P @ x)
        every = np.concatenate([self.q * x, squares, [self.constant]])
        return np.asarray(np.abs(every))

    def unit(self, x: Array) -> float:
        """The cost of moving a variable by 1, or by what the rows say is large where that is less.

        It is the median over columns that are away from 0 at the point, each by its linear and by its squared term: the
        price of what nobody uses says nothing of the others. Where all are 0 it is the least of all. Squares cost the
        square of the step: data in a smaller unit make the value and its scale smaller alike.
        """
        step = min(1.0, self._reach())
        costs = np.abs(np.stack([step * self.q, step**2 * self.P.diagonal()]))
        sizes = np.abs(x)
        away = sizes > AWAY_FROM_ZERO * sizes.max(initial=0.0)
        used = costs[(costs > 0.0) & away]
        if used.size:
            return float(np.median(used))
        every = costs[costs > 0.0]
        return float(every.min()) if every.size else step

    def _reach(self) -> float:
        """The largest quotient of a side and a coefficient of its row; 1 where all sides are 0."""
        used = (self.rows > 0.0) & (self.b != 0.0)
        if not used.any():
            return 1.0
        quotients = np.abs(self.b[used]) / self.rows[used]
        return float(np.max(quotients))

    def scale(self, x: Array, value: float | None = None) -> Scale:
        """The scale of a difference from its value at a point; of another value, where one is known."""
        own = self.value(x) if value is None else value
        largest = float(self.terms(x).max())
        return Scale.of(own, largest, self.unit(x))
