"""A submission as a table: a CSV file with the columns exercise, name and value, a row for each number."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError

COLUMNS = ("exercise", "name", "value")

#: Numbers of an answer by their names, as x[0].
TABLE = "table"

_ENTRY = re.compile(r"(?P<name>.*)\[(?P<index>\d+(,\s*\d+)*)\]")


def read_csv_answers(file: Path) -> dict[str, Any]:
    """Read answers by exercise: numbers by their names, or a claim where a row has no name."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, skipinitialspace=True))
    answers: dict[str, Any] = {}
    for number, row in enumerate(rows, 2):
        if any(not isinstance(row.get(column), str) for column in COLUMNS):
            raise ValueError(f"row {number}: it must have the columns {', '.join(COLUMNS)}")
        exercise, name, value = (row[column].strip() for column in COLUMNS)
        if not name:
            answers[exercise] = value
            continue
        table = answers.setdefault(exercise, {TABLE: {}})
        if not isinstance(table, Mapping) or name in table[TABLE]:
            raise ValueError(f"row {number}: there are two answers for {name} of {exercise}")
        try:
            table[TABLE][name] = float(value)
        except ValueError:
            raise ValueError(f"row {number}: the value must be a number, got {value!r}") from None
    return answers


def values_and_duals(table: Mapping[str, float], problem: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Sort numbers by their names into values of the variables and multipliers of all else.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.cli.csv_answers import values_and_duals
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass")])
    >>> values_and_duals({"x[0]": 0.5, "x[1]": 0.5, "mass": -1.0}, problem)
    ({'x': [0.5, 0.5]}, {'mass': -1.0})
    """
    entries: dict[str, dict[tuple[int, ...], float]] = {}
    for given, value in table.items():
        found = _ENTRY.fullmatch(given)
        name = given if found is None else found["name"]
        index = () if found is None else tuple(int(each) for each in found["index"].split(","))
        entries.setdefault(name, {})[index] = value
    arrays = {name: _array(name, numbers) for name, numbers in entries.items()}
    variables = {variable.name() for variable in problem.variables()}
    duals = {name: value for name, value in arrays.items() if name not in variables}
    return {name: value for name, value in arrays.items() if name in variables}, duals or None


def _array(name: str, numbers: Mapping[tuple[int, ...], float]) -> Any:
    """Array of its entries by their indices, which must leave none out."""
    if list(numbers) == [()]:
        return numbers[()]
    if len({len(index) for index in numbers}) > 1:
        raise InputError(f"{name} must be one number, or have an index of one length in each row, got {[*numbers]}")
    shape = tuple(1 + max(axis) for axis in zip(*numbers, strict=True))
    missing = [index for index in np.ndindex(shape) if index not in numbers]
    if missing:
        raise InputError(f"{name} must have all its entries, and {[*missing[0]]} is missing")
    values = np.empty(shape)
    for index, value in numbers.items():
        values[index] = value
    return values.tolist()
