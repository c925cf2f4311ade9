r"""Multipliers of a small linear or quadratic program in fractions: exactly stationary, at a corner of what is allowed.

Where a variable has no bound, :math:`Py+q+A^\top z=0` must hold exactly, and the multipliers that it takes may be
smaller than any rounding: of :math:`(x_0-x_1)^2+(0.1+0.2)x_0-0.3x_1` with :math:`x\ge0` one is
:math:`2^{-54}`, the sum of the two coefficients. So the equations are solved in fractions for a basis: multipliers
of equations, y, and multipliers of inequalities, those that seem active first. What is not in it stays what it was,
and multipliers of inequalities that do not seem active are 0. A
multiplier that comes out negative leaves the basis, and the one enters that costs least; then multipliers of
constraints with room are exchanged for others, as long as that makes the bound better (the simplex method).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array

if TYPE_CHECKING:
    from paretoclf.proof.points.cone_program import ConeProgram

#: Variables up to which, and entries of all equations up to which, fractions are worth their time.
_VARIABLES, _ENTRIES = 60, 4000

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
    >>> from paretoclf.proof.points.cone_program import ConeProgram
    >>> from paretoclf.proof.points.cones import Cone
    >>> from paretoclf.proof.points.corner import exact_corner
    >>> P = 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> program = ConeProgram(P, np.array([0.1 + 0.2, -0.3]), -np.eye(2), np.zeros(2), [Cone("nonnegative", 2)])
    >>> value, z = exact_corner(program, np.array([1.0, 1.15]), np.full(2, 1e-9))
    >>> round(value, 9), z.tolist()
    (-0.0225, [5.551115123125783e-17, 0.0])
    """
    n, kinds = program.q.size, program.kinds
    plain = np.flatnonzero(kinds == "nonnegative")
    if plain.size + np.count_nonzero(kinds == "zero") < kinds.size or program.indefinite > 0:
        return None
    if n > _VARIABLES or program.P.nnz + program.A.nnz > _ENTRIES:
        return None
    slack = program.b - program.A @ y
    terms = 1.0 + np.abs(program.b) + abs(program.A) @ np.abs(y)
    active = z / (1.0 + float(np.abs(z).max(initial=0.0))) - slack / terms
    order = n + plain[np.argsort(-active[plain], kind="stable")]
    at = np.concatenate([y, np.where((kinds == "zero") | ((active > 0) & (z > 0)), z, 0.0)])
    system = _Tableau.of(program, at)
    system.solve([*(n + np.flatnonzero(kinds == "zero")).tolist(), *range(n), *order.tolist()])
    price = {int(j): max(float(slack[j - n]), 0.0) for j in order}
    if not system.feasible(price):
        return None
    system.improve(price, _CHEAPER * float(terms.max(initial=0.0)))
    u = [system.value(j) for j in range(at.size)]
    value = -sum((Fraction(float(b)) * u[n + i] for i, b in enumerate(program.b) if u[n + i]), Fraction(0))
    for i, j, p in _entries(program.P):
        value -= Fraction(p) * u[i] * u[j] / 2
    bound = float(value)
    return bound if Fraction(bound) <= value else float(np.nextafter(bound, -np.inf)), np.array(u[n:], dtype=float)


def _entries(M: Any) -> Iterator[tuple[int, int, float]]:
    """Row, column and value of each entry."""
    entries = sp.coo_array(M)
    return zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)


@dataclass
class _Tableau:
    """Equations ``rows @ u = right``, solved for the unknowns in the basis, each by its row; the others are ``at``."""

    rows: list[dict[int, Fraction]]
    right: list[Fraction]
    basis: dict[int, int]
    at: dict[int, Fraction]

    @classmethod
    def of(cls, program: ConeProgram, at: Array) -> _Tableau:
        """The tableau of y and z, for ``Py + q + A'z = 0``."""
        n = program.q.size
        rows: list[dict[int, Fraction]] = [{} for _ in range(n)]
        for i, j, value in _entries(program.P):
            rows[i][j] = Fraction(value)
        for i, j, value in _entries(program.A):
            rows[j][n + i] = Fraction(value)
        known = {j: Fraction(value) for j, value in enumerate(at.tolist()) if value}
        return cls(rows, [-Fraction(value) for value in program.q.tolist()], {}, known)

    def value(self, column: int) -> Fraction:
        """The value of an unknown."""
        if column not in self.basis:
            return self.at.get(column, Fraction(0))
        row = self.basis[column]
        return self.right[row] - self._known(row)

    def _known(self, row: int) -> Fraction:
        """What the unknowns that are not in the basis add up to in a row."""
        terms = (a * self.at[j] for j, a in self.rows[row].items() if j in self.at and j not in self.basis)
        return sum(terms, Fraction(0))

    def solve(self, order: list[int]) -> None:
        """Take unknowns into the basis, the first ones first, as long as there are equations left for them."""
        left = set(range(len(self.rows)))
        for column in order:
            if not left:
                return
            with_it = [i for i in left if column in self.rows[i]]
            if with_it:
                row = min(with_it, key=lambda i: (len(self.rows[i]), i))
                self._pivot(row, column)
                left.remove(row)

    def feasible(self, price: Mapping[int, float]) -> bool:
        """Exchange unknowns until none that has a price is negative; whether that came about."""
        solved = set(self.basis.values())
        if any(value != self._known(i) for i, value in enumerate(self.right) if i not in solved):
            return False
        for _ in range(_EXCHANGES):
            least, out = min(((self.value(j), j) for j in self.basis if j in price), default=(Fraction(0), -1))
            if least >= 0:
                return True
            here = self.rows[self.basis[out]]
            able = [j for j in price if j not in self.basis and here.get(j, 0) < 0]
            if not able:
                return False
            self._exchange(out, min(able, key=lambda j: price[j] / -float(here[j])))
        return False

    def improve(self, price: Mapping[int, float], least: float) -> None:
        """Exchange unknowns that have a price while that saves more than ``least`` a unit; none becomes negative."""
        for _ in range(_EXCHANGES):
            bought = [(price[j], row) for j, row in self.basis.items() if price.get(j)]
            others = (j for j in price if j not in self.basis)
            chosen = next(
                (j for j in others if sum(p * float(self.rows[i].get(j, 0)) for p, i in bought) - price[j] > least),
                None,
            )
            if chosen is None:
                return
            falling = [j for j, i in self.basis.items() if j in price and self.rows[i].get(chosen, 0) > 0]
            self._exchange(min(falling, key=lambda j: self.value(j) / self.rows[self.basis[j]][chosen]), chosen)

    def _exchange(self, out: int, chosen: int) -> None:
        """One unknown leaves the basis and becomes 0, another takes its place."""
        row = self.basis.pop(out)
        self.at.pop(out, None)
        self._pivot(row, chosen)

    def _pivot(self, row: int, column: int) -> None:
        """Solve an equation for an unknown, and put that into all others."""
        pivot = self.rows[row][column]
        mine = {j: a / pivot for j, a in self.rows[row].items()}
        self.rows[row], self.right[row] = mine, self.right[row] / pivot
        for i, other in enumerate(self.rows):
            if i == row or column not in other:
                continue
            factor = other[column]
            for j, a in mine.items():
                value = other.get(j, 0) - factor * a
                if value:
                    other[j] = value
                else:
                    other.pop(j, None)
            self.right[i] -= factor * self.right[row]
        self.basis[column] = row
