"""A stranger's path of a program: its problem, its knots and the verdicts on them; and the tables that hold them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.checking.beside import JudgedPoints, judge_beside
from paretoclf.common.checks import Array, Index, number_from_text
from paretoclf.common.errors import InputError
from paretoclf.common.files import reading
from paretoclf.path.base.point_rows import EVENTS, SLOPES
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.solve.sources.problem_line import LineOfPrograms

#: A path with one knot is traced from there to this share of its parameter.
_NEAR = 0.99


@dataclass(frozen=True)
class StrangersPath:
    """A stranger's path: the problem, its parameter, and values at the knots, in the code's order.

    Attributes
    ----------
    problem : cvxpy.Problem
    parameter : cvxpy.Parameter
    at : array of shape (k,)
        The parameter at the knots, in one direction.
    variables, duals : mapping of str to array of shape (k, ...)
    between : bool
        Whether the path claims to be linear between its knots.
    numbers : int array of shape (k,), optional
        Which of the code's solutions each knot is, by default in their order; -1 of a start that was put before them.
    note : str
        The objective in words, where the code's own output does not say it.
    """

    problem: Any
    parameter: Any
    at: Array
    variables: Mapping[str, Array]
    duals: Mapping[str, Array] = field(default_factory=dict)
    between: bool = True
    numbers: Index | None = None
    note: str = ""

    def judged(self, tol: float, between: bool | None) -> JudgedPoints:
        """Trace the problem from one end of the knots to the other, and judge them beside it.

        Between them, too, where that is asked for, or they claim it and it is not declined.
        """
        knots = shares_of(self.at, self.parameter.name())
        first, last = float(self.at[0]), float(self.at[-1])
        if first == last:
            last = _NEAR * first or 1.0
        path = trace_problem(LineOfPrograms(self.problem, {self.parameter: first}, {self.parameter: last}))
        between = self.between if between is None else between
        how: Any = {"tol": tol, "between": between, "numbers": self.numbers}
        found = judge_beside(path, knots, self.variables, self.duals, **how)
        return replace(found, note=self.note)


def shares_of(at: Array, name: str) -> Array:
    """Knots as t, from 0 to 1; those of one parameter alone are all 0."""
    if not np.isfinite(at).all():
        raise InputError(f"{name} must be finite at every knot, got {float(at[~np.isfinite(at)][0])}")
    steps = np.diff(at)
    if not ((steps <= 0).all() or (steps >= 0).all()):
        raise InputError(f"{name} must fall or rise from knot to knot, got {np.array2string(at, threshold=6):.100}")
    length = at[-1] - at[0]
    return np.asarray(np.clip((at - at[0]) / (length or 1.0), 0.0, 1.0) + 0.0)  # and not -0


def joined(parts: Sequence[JudgedPoints], t: Array, note: str) -> JudgedPoints:
    """Points that were judged one by one, each beside a path of its own, as those of one path at t."""
    arrays: dict[str, Any] = {}
    for name in ("excess", "violation", "dual", "left", "best"):
        arrays[name] = np.concatenate([getattr(part, name) for part in parts])
    moving = {name: np.concatenate([part.parameters[name] for part in parts]) for name in parts[0].parameters}
    return replace(
        parts[0],
        t=t,
        scales=tuple(scale for part in parts for scale in part.scales),
        proved=all(part.proved for part in parts),
        parameters=moving,
        knots=np.arange(t.size),
        note=note,
        **arrays,
    )


def nothing_else(options: Mapping[str, Any], what: str) -> None:
    """InputError where options are given that do not belong to a path."""
    if options:
        raise InputError(f"{next(iter(options))} does not belong to {what}, which says itself what it is")


def read_table(file: str) -> tuple[list[str], Array]:
    """A CSV file with a header; R's column of row names, which has no name, is left out, and what changes.

    With semicolons between the entries the numbers may have decimal commas, as R's ``write.csv2`` writes them.
    """
    with reading(file, "cannot be read"), open(file, newline="", encoding="utf-8") as handle:
        text = handle.read()
        top = text.partition("\n")[0]
        semicolons = top.count(";") > top.count(",")
        lines = [row for row in csv.reader(text.splitlines(), delimiter=";" if semicolons else ",") if row]
        if len(lines) < 2:
            raise InputError(f"{file}: must have a header and a row for each knot, got {len(lines)} lines")
        header, rows = lines[0], lines[1:]
        if len({len(row) for row in lines}) != 1:
            raise InputError(f"{file}: every row must have {len(header)} entries")
        used = [k for k, name in enumerate(header) if name.strip() and name.strip() not in (EVENTS, *SLOPES)]
        if semicolons:
            rows = [[entry.replace(",", ".") for entry in row] for row in rows]
        try:
            table = np.array([[number_from_text(row[k]) for k in used] for row in rows])
        except ValueError as error:
            raise InputError(f"{file}: must hold numbers below its header: {error}") from None
    if not np.isfinite(table).all():
        raise InputError(f"{file}: must hold finite numbers")
    return [header[k].strip() for k in used], table
