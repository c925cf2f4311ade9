"""Inequalities of a compiled program in the user's words: whose each is, on which side, and what its states are called.

CVXPY writes ``a >= b`` as ``b - a <= 0``, and a program of arrays has a row for each bound. What is said of a row must
hold for what the user has written: a row that bounds one variable alone is that variable's bound, a row of arrays or of
a file has a lower and an upper bound, and a constraint of CVXPY, which compares two expressions, is tight or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.engine.reduction.program import ProgramLine

#: Bits of a state: which bounds are tight, and whether one of them has a price, which is a multiplier that is not 0.
LOWER, UPPER, PRICED = 1, 2, 4

_AT = {0: "free", LOWER: "at its lower bound", UPPER: "at its upper bound", LOWER | UPPER: "at both its bounds"}


@dataclass(frozen=True)
class UserRows:
    """Inequalities of the user, and bounds of the user's variables.

    Attributes
    ----------
    line : ProgramLine
    rows : int array of shape (k,)
        Their rows in the compiled program, increasing.
    owners : int array of shape (k,)
        What each is said of: the column of a variable, or, behind all columns, the first row of a constraint's entry.
    sides : int array of shape (k,)
        1 for an upper bound, -1 for a lower one, and 0 for a constraint that compares two expressions.
    hidden : bool array of shape (k,)
        Rows with columns that CVXPY has added, such as those of a norm: whether the user's constraint is tight cannot
        be told from their slack, as these columns may be larger than they must be; it is where there is a price.
    stated : bool array of shape (m,)
        All rows of the program, equations too, that are the user's.
    """

    line: ProgramLine
    rows: Index
    owners: Index
    sides: State
    hidden: Mask
    stated: Mask

    @classmethod
    def of(cls, line: ProgramLine) -> UserRows:
        """Find them.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.engine.reduction.of_arrays import line_of
        >>> from paretoclf.path.base.user_rows import UserRows
        >>> from paretoclf.problem.qp import QP
        >>> line = line_of(QP(None, [1.0, 1.0], [[1.0, 1.0], [0.0, 1.0]], [2.0, 0.0], [np.inf, 3.0]), {}, {})
        >>> rows = UserRows.of(line)
        >>> [(rows.name(owner), side) for owner, side in zip(rows.owners, rows.sides.tolist())]
        [('x[1]', 1), ('y[0]', -1), ('x[1]', -1)]
        """
        found = _RowOwners(line)
        rows = np.flatnonzero(found.owners >= 0)
        stated = found.stated.copy()
        stated[rows] = True
        hidden = found.has_added[rows]
        return cls(line, rows, found.owners[rows], found.sides[rows], hidden, stated)

    def name(self, owner: int) -> str:
        """Name of a variable, or of a constraint, with its entry."""
        line = self.line
        return line.column_name(owner) if owner < line.n else line.row_name(owner - line.n)

    def words(self, owner: int, state: int) -> str:
        """Word for a state of a variable or constraint."""
        tight = state & (LOWER | UPPER)
        if owner in self._hidden_owners:
            return "tight" if state & PRICED else "without a price"
        said = _AT[tight] if owner not in self._without_sides else "tight" if tight else _AT[0]
        return f"{said} without a price" if tight and not state & PRICED else said

    def place(self, row: int) -> int:
        """Place of a row of the compiled program among these; -1 where it is none."""
        return self._places.get(row, -1)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.rows.tolist())}

    @cached_property
    def _without_sides(self) -> frozenset[int]:
        return frozenset(self.owners[self.sides == 0].tolist())

    @cached_property
    def _hidden_owners(self) -> frozenset[int]:
        return frozenset(self.owners[self.hidden].tolist())


class _RowOwners:
    """Owner (-1: none) and side of each row of a program, as they are found."""

    def __init__(self, line: ProgramLine) -> None:
        self.line, self.A = line, line.rows
        self.sizes = np.diff(self.A.indptr)
        self.inequality = np.arange(line.m) >= line.equations
        self.owners, self.sides = np.full(line.m, -1), np.zeros(line.m, dtype=np.int8)
        self.stated, self.of_variable = np.zeros((2, line.m), dtype=np.bool_)
        self.factors = self._factors_of_variables()
        self.has_added = (abs(self.A) @ (self.factors == 0.0)) > 0.0
        self._constraints()
        self._bounds()

    def _factors_of_variables(self) -> Array:
        """Factor by which each column is multiplied in the user's variable; 0 where it is none of the user's."""
        factors = np.zeros(self.line.n)
        for reading in self.line.variables.values():
            used = reading.factor != 0.0
            factors[reading.place[used]] = reading.factor[used]
        return factors

    def _constraints(self) -> None:
        """Give each named row to the entry of its constraint, and a row of two names to the first."""
        for name, reading in self.line.all_multipliers.items():
            two_sided = reading.place.ndim > 1
            places = reading.place.reshape(-1, 2 if two_sided else 1)
            used = reading.factor.reshape(places.shape) != 0.0
            firsts = places[np.arange(len(places)), used.argmax(axis=1)]
            entries, side = np.nonzero(used)
            rows = places[entries, side]
            sides = np.where(side == 0, 1, -1) if two_sided else np.zeros_like(side)
            new = ~self.stated[rows]
            self._give(name, rows[new], firsts[entries][new], sides[new])

    def _give(self, name: str, rows: Index, firsts: Index, sides: Index) -> None:
        """Give rows to the entries of the constraint of this name, each of which is known by its first row."""
        self.stated[rows] = True
        self.owners[rows] = np.where(self.inequality[rows], self.line.n + firsts, -1)
        self.sides[rows] = sides
        self.of_variable[rows] = self._is_of_variable(name, rows)

    def _is_of_variable(self, name: str, rows: Index) -> bool:
        """Whether rows of this name are bounds that belong to a variable itself, by its attributes or in a file."""
        if name in self.line.attributes:
            return True
        if rows.size == 0 or self.sizes[rows[0]] != 1:
            return False
        entry = self.A.indptr[rows[0]]
        variable = self.line.column_name(int(self.A.indices[entry]))
        return name == f"bound of {variable.removeprefix('x:')}"

    def _bounds(self) -> None:
        """Give rows of one variable alone to that variable.

        Of several on one side, only those are its own that belong to it: constraints keep their names, so that it is
        said which of them holds.
        """
        line = self.line
        single = np.flatnonzero(self.inequality & (self.sizes == 1))
        entry = self.A.indptr[single]
        columns = self.A.indices[entry]
        values = self.A.data[entry] * self.factors[columns]
        moved = [each.column for each in line.moved]  # a parameter times another variable stands in such a row, too
        plain = (values != 0.0) & ~np.isin(columns, moved)
        single, columns, upper = single[plain], columns[plain], values[plain] > 0.0
        of_variable = self.of_variable[single] | ~self.stated[single]
        sides = 2 * columns + upper
        count = np.bincount(sides, minlength=2 * line.n)
        own = of_variable | (count[sides] == 1)
        self.owners[single[own]] = columns[own]
        self.sides[single[own]] = np.where(upper[own], 1, -1)
