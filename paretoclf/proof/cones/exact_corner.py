r"""Multipliers of a small linear or quadratic program in fractions: exactly stationary, at a corner of what is allowed.

Where a variable has no bound, :math:`Py+q+A^\top z=0` must hold exactly, and the multipliers that it takes may be
smaller than any rounding: for :math:`(x_0-x_1)^2+(0.1+0.2)x_0-0.3x_1` with :math:`x\ge0` one is
:math:`2^{-54}`, the sum of the two coefficients. So the equations are solved in fractions for a basis: multipliers
of equations, y, and multipliers of inequalities, those that seem active first. Unknowns outside the basis keep their
values, and multipliers of inequalities that do not seem active are 0. A negative multiplier leaves the basis, and the
one enters that costs least; then multipliers of constraints with slack are exchanged for others, as long as that makes
the bound better (the simplex method).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index

if TYPE_CHECKING:
    from paretoclf.proof.cones.cone_program import ConeProgram

#: Variables up to which fractions are worth their time.
_VARIABLES = 60

#: Entries of all equations up to which fractions are worth their time.
_ENTRIES = 4000

#: Exchanges of multipliers; at a corner next to a solver's point one or two are made.
_EXCHANGES = 40

#: An exchange that saves less, in units of the terms of slacks, is not made: slacks of active constraints are rounded.
_CHEAPER = 1e-9


def exact_corner(program: ConeProgram, y: Array, z: Array) -> tuple[float, Array] | None:
    """A lower bound of the optimal value, rounded downwards, and the multipliers that prove it; None without them.

    Parameters
    ----------
    program : ConeProgram
        With equations and inequalities only; P must be proved positive semidefinite.
    y, z : arrays of shape (n,) and (m,)
        A point and multipliers near which the corner is looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_program import ConeProgram
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> from paretoclf.proof.cones.exact_corner import exact_corner
    >>> P = 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> program = ConeProgram(P, np.array([0.1 + 0.2, -0.3]), -np.eye(2), np.zeros(2), [Cone("nonnegative", 2)])
    >>> value, z = exact_corner(program, np.array([1.0, 1.15]), np.full(2, 1e-9))
    >>> round(value, 9), z.tolist()
    (-0.0225, [5.551115123125783e-17, 0.0])
    """
    if not _small_and_plain(program):
        return None
    system = _Tableau.of(program, np.concatenate([y, _kept(program, y, z)]))
    count = program.q.size
    equations = count + np.flatnonzero(program.kinds == "zero")
    inequalities = count + _active_first(program, y, z)
    system.solve([*equations.tolist(), *range(count), *inequalities.tolist()])
    slack = program.b - program.A @ y
    price = {column: max(float(slack[column - count]), 0.0) for column in inequalities.tolist()}
    if not system.feasible(price):
        return None
    terms = _slack_terms(program, y)
    system.improve(price, _CHEAPER * float(terms.max(initial=0.0)))
    unknowns = [system.value(column) for column in range(count + terms.size)]
    value = _dual_value(program, unknowns)
    bound = float(value)
    if Fraction(bound) > value:
        bound = float(np.nextafter(bound, -np.inf))
    return bound, np.array(unknowns[count:], dtype=float)


def _small_and_plain(program: ConeProgram) -> bool:
    """Whether a program is convex, has equations and inequalities only, and is small enough for fractions."""
    if not np.isin(program.kinds, ("zero", "nonnegative")).all() or program.indefinite > 0:
        return False
    entries = program.P.nnz + program.A.nnz
    return bool(program.q.size <= _VARIABLES and entries <= _ENTRIES)


def _slack_terms(program: ConeProgram, y: Array) -> Array:
    """Sums of sizes of the terms of each slack, and 1."""
    products = program.sizes[1] @ np.abs(y)
    return np.asarray(1.0 + np.abs(program.b) + products)


def _activity(program: ConeProgram, y: Array, z: Array) -> Array:
    """Number for each row that is positive where its constraint seems active: multiplier less slack, both relative."""
    slack = program.b - program.A @ y
    size = 1.0 + float(np.abs(z).max(initial=0.0))
    return np.asarray(z / size - slack / _slack_terms(program, y))


def _active_first(program: ConeProgram, y: Array, z: Array) -> Index:
    """Inequalities, those that seem active first."""
    plain = np.flatnonzero(program.kinds == "nonnegative")
    order = np.argsort(-_activity(program, y, z)[plain], kind="stable")
    return plain[order]


def _kept(program: ConeProgram, y: Array, z: Array) -> Array:
    """Multipliers outside the basis: those of inequalities that do not seem active are 0."""
    active = (_activity(program, y, z) > 0) & (z > 0)
    return np.where((program.kinds == "zero") | active, z, 0.0)


def _dual_value(program: ConeProgram, unknowns: list[Fraction]) -> Fraction:
    """The dual objective ``-b'z - y'Py / 2`` at the unknowns y, z."""
    value = Fraction(0)
    for side, multiplier in zip(program.b.tolist(), unknowns[program.q.size :], strict=True):
        if multiplier:
            value -= Fraction(side) * multiplier
    for row, column, entry in _entries(program.P):
        value -= Fraction(entry) * unknowns[row] * unknowns[column] / 2
    return value


def _entries(matrix: Any) -> Iterator[tuple[int, int, float]]:
    """Row, column and value of each entry."""
    entries = sp.coo_array(matrix)
    return zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)


@dataclass
class _Tableau:
    """Equations ``rows @ u = right``, solved for unknowns in a basis.

    ``basis`` has the row of each unknown in it, ``at`` the values of the other unknowns, where they are not 0.
    """

    rows: list[dict[int, Fraction]]
    right: list[Fraction]
    basis: dict[int, int]
    at: dict[int, Fraction]

    @classmethod
    def of(cls, program: ConeProgram, at: Array) -> _Tableau:
        """Tableau of y and z, for ``Py + q + A'z = 0``, with an empty basis."""
        count = program.q.size
        rows: list[dict[int, Fraction]] = [{} for _ in range(count)]
        for row, column, entry in _entries(program.P):
            rows[row][column] = Fraction(entry)
        for row, column, entry in _entries(program.A):
            rows[column][count + row] = Fraction(entry)
        known = {column: Fraction(value) for column, value in enumerate(at.tolist()) if value}
        return cls(rows, [-Fraction(cost) for cost in program.q.tolist()], {}, known)

    def value(self, column: int) -> Fraction:
        """Value of an unknown."""
        if column not in self.basis:
            return self.at.get(column, Fraction(0))
        row = self.basis[column]
        return self.right[row] - self._known(row)

    def _known(self, row: int) -> Fraction:
        """Sum of the terms of a row whose unknowns are not in the basis."""
        total = Fraction(0)
        for column, coefficient in self.rows[row].items():
            if column in self.at and column not in self.basis:
                total += coefficient * self.at[column]
        return total

    def solve(self, order: list[int]) -> None:
        """Take unknowns into the basis, the first ones first, as long as there are equations left for them."""
        left = set(range(len(self.rows)))
        for column in order:
            if not left:
                return
            candidates = [row for row in left if column in self.rows[row]]
            if candidates:
                row = min(candidates, key=self._row_length)
                self._pivot(row, column)
                left.remove(row)

    def _row_length(self, row: int) -> tuple[int, int]:
        """Number of entries of a row, and among rows as long its number."""
        return len(self.rows[row]), row

    def feasible(self, price: Mapping[int, float]) -> bool:
        """Exchange unknowns until none that has a price is negative; return whether that succeeded."""
        solved = set(self.basis.values())
        if any(side != self._known(row) for row, side in enumerate(self.right) if row not in solved):
            return False
        for _ in range(_EXCHANGES):
            values = ((self.value(column), column) for column in self.basis if column in price)
            least, leaves = min(values, default=(Fraction(0), -1))
            if least >= 0:
                return True
            row = self.rows[self.basis[leaves]]
            costs = {}
            for column, own_price in price.items():
                coefficient = row.get(column, 0)
                if column not in self.basis and coefficient < 0:
                    costs[column] = own_price / -float(coefficient)
            if not costs:
                return False
            self._exchange(leaves, min(costs, key=costs.__getitem__))
        return False

    def improve(self, price: Mapping[int, float], least: float) -> None:
        """Exchange unknowns that have a price while that saves more than ``least`` a unit; none becomes negative."""
        for _ in range(_EXCHANGES):
            enters = self._cheaper(price, least)
            if enters is None:
                return
            ratios = {}
            for column, row in self.basis.items():
                coefficient = self.rows[row].get(enters, 0)
                if column in price and coefficient > 0:
                    ratios[column] = self.value(column) / coefficient
            self._exchange(min(ratios, key=ratios.__getitem__), enters)

    def _cheaper(self, price: Mapping[int, float], least: float) -> int | None:
        """The first unknown outside the basis that saves more than ``least`` a unit, or None."""
        bought = []
        for column, row in self.basis.items():
            if price.get(column):
                bought.append((price[column], self.rows[row]))
        for column, own_price in price.items():
            if column not in self.basis:
                saved = sum(cost * float(row.get(column, 0)) for cost, row in bought)
                if saved - own_price > least:
                    return column
        return None

    def _exchange(self, leaves: int, enters: int) -> None:
        """Replace an unknown of the basis, which becomes 0, by another one."""
        row = self.basis.pop(leaves)
        self.at.pop(leaves, None)
        self._pivot(row, enters)

    def _pivot(self, row: int, column: int) -> None:
        """Solve an equation for an unknown, and substitute that into all others."""
        pivot = self.rows[row][column]
        own = {place: coefficient / pivot for place, coefficient in self.rows[row].items()}
        self.rows[row] = own
        self.right[row] /= pivot
        for number, other in enumerate(self.rows):
            if number == row or column not in other:
                continue
            factor = other[column]
            for place, coefficient in own.items():
                value = other.get(place, 0) - factor * coefficient
                if value:
                    other[place] = value
                else:
                    other.pop(place, None)
            self.right[number] -= factor * self.right[row]
        self.basis[column] = row
