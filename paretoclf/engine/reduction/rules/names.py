"""Words for columns and rows of a stage: names of items, and refusals of programs without a solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine

#: How the name of a term of the objective begins.
_TERM = "term of "


def names_of_rows(line: ProgramLine, A: Any, titled: Index) -> list[str]:
    """Name each row of A after the user's constraint, or after what a term of the objective is a function of.

    Parameters
    ----------
    line : ProgramLine
    A : sparse array by rows
    titled : int array
        The row of the program that has the name; -1 where there is none.
    """
    names: list[str] = []
    known: dict[bytes, str] = {}
    met: dict[str, int] = {}
    for row, title in enumerate(titled.tolist()):
        if title >= 0:
            names.append(line.row_name(title))
            continue
        what = expression(line, A, row, known)
        if what.startswith(_TERM):
            met[what] = met.get(what, -1) + 1
            what = f"{what}, number {met[what]}"
        names.append(what)
    return names


def expression(line: ProgramLine, A: Any, row: int, known: dict[bytes, str] | None = None) -> str:
    """A direction in the user's words: ``u[0] - u[1]``, or of which variables it is, which may be known already."""
    part = slice(A.indptr[row], A.indptr[row + 1])
    places = A.indices[part]
    if places.size <= 2:
        return _sum(line, places, A.data[part])
    known = {} if known is None else known
    key = places.tobytes()
    if key not in known:
        stems = dict.fromkeys(line.column_name(column).partition("[")[0] for column in places.tolist())
        known[key] = f"{_TERM}{', '.join(stems)}"
    return known[key]


def _sum(line: ProgramLine, columns: Index, values: Array) -> str:
    """A sum of few variables."""
    said = ""
    for column, value in zip(columns.tolist(), values.tolist(), strict=True):
        sign = "-" if value < 0 else "+" if said else ""
        between = f" {sign} " if said else sign
        size = "" if abs(value) == 1 else f"{abs(value):.4g} "
        said += f"{between}{size}{line.column_name(column)}"
    return said


def no_solution(line: ProgramLine, why: str) -> InputError:
    """Return the error that there is no solution, at the start where the data move."""
    if all(np.array_equal(*ends) for ends in (line.q, line.b)):
        return InputError(f"the problem must have a solution, and has none: {why}")
    return InputError(f"the problem must have a solution at the start, where {why}")


def uncrossed(lower: Array, upper: Array) -> tuple[Array, Index]:
    """Upper bounds (2, k), at least the lower ones where they hardly cross; and which cross at the start.

    A point at bounds that cross by so little of their terms is feasible to everyone who judges it.
    """
    hardly = lower - upper <= CERTIFY * (np.abs(lower) + np.abs(upper))
    return np.where(hardly, np.maximum(lower, upper), upper), np.flatnonzero(~hardly[0])


def crossing(line: ProgramLine, what: str, rows: Index, lower: Array, upper: Array) -> InputError:
    """Return the error that bounds of something cross at the start; ``rows`` are these bounds."""
    names = " and ".join(line.row_name(row) for row in rows.tolist())
    low, high = lower[0] + 0.0, upper[0] + 0.0
    return no_solution(line, f"the bounds of {what} cross: at least {low:.6g} and at most {high:.6g} ({names})")
