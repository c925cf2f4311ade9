"""Whether a certificate file is about a model of one's own: the numbers that it states, beside those of the model."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile
from paretoclf.path.tracing import source_between, source_here
from paretoclf.proof.files.stated_problems import Stated, program_problem

#: The format of the files that are compared.
EXACT = "exact certificate 1"

#: Fields that are given at t = 0 and at t = 1, in words.
_SIDES = {
    "q": "the cost",
    "lower": "the lower bound",
    "upper": "the upper bound",
    "below": "the price below the lower bound",
    "above": "the price above the upper bound",
}


def same_program(file: AnyFile, problem: Any, start: Any = None, stop: Any = None) -> str:
    """Say that a certificate file states this program, number by number; InputError says where it does not.

    Whether what it states is proved is for its checker to say: ``paretoclf check``, or the plain script.

    Parameters
    ----------
    file : path
        An exact certificate of a path of a program, or of its optimum at a point.
    problem : cvxpy.Problem or QP
        The model as it is known here.
    start, stop : mapping, optional
        Where its parameters are at t = 0 and at t = 1, as for `paretoclf.trace`; left out for a certificate of a point.

    Raises
    ------
    InputError
        If the file is another kind of certificate, or any number differs: which one, by its name in the model. Columns
        and rows are compared one after the other. A model whose rows, or variables, stand in another order is another
        program here, even if it has the same optimum.

    Examples
    --------
    >>> import tempfile
    >>> import paretoclf as pc
    >>> from paretoclf.path.same_program import same_program
    >>> def model(cap):
    ...     return pc.QP(None, [-1.0], [[2.0]], None, [cap], moves={"more": {"u": [1.0]}})
    >>> ends = {"more": 0}, {"more": 4}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pc.trace(model(6.0), *ends).proof.save(f"{folder}/mine.proof.json", level="exact")
    ...     print(same_program(f"{folder}/mine.proof.json", model(6.0), *ends))
    ...     try:
    ...         same_program(f"{folder}/mine.proof.json", model(7.0), *ends)
    ...     except pc.InputError as error:
    ...         print(str(error).partition(": ")[2])
    It states this model: 1 columns, 1 rows, every number the same. A constant of the objective is not stated.
    the upper bound of y[0] at t = 0 is 6.0 there, and 7.0 in the model
    """
    content = _content(Path(file))
    source = source_here(problem) if start is None and stop is None else source_between(problem, start, stop)
    line = source.line
    theirs, own = content["problem"], program_problem(line.problem)
    try:
        first = next(_differences(line, theirs, own), None)
    except (LookupError, TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"file must be a certificate that its checker reads, got {file}") from None
    if first is not None:
        raise InputError(f"file must be about this model, got a certificate of another one: {first}")
    largest = max(map(Fraction, theirs.get("diagonal", [0])), default=Fraction(0))
    added = f"; on the diagonal of P it has up to {float(largest):.1e} more" if largest else ""
    sizes = f"{line.n} columns, {line.m} rows"
    return f"It states this model: {sizes}, every number the same{added}. A constant of the objective is not stated."


def _content(file: Path) -> dict[str, Any]:
    """The content of the exact certificate of a program."""
    try:
        with (gzip.open if file.name.endswith(".gz") else open)(file, "rb") as stream:
            content: dict[str, Any] = json.loads(stream.read())
        form, kind = content["format"], content["problem"]["kind"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"file must be a certificate, got {file} ({error})") from None
    if form != EXACT:
        raise InputError(
            f"file must be an exact certificate, got one of format {form!r}: path.proof.save(file, level='exact') "
            "writes one of a linear or quadratic program"
        )
    if kind != "program":
        raise InputError(f"file must be about a program, got one about a {kind}: check.py FILE --data compares samples")
    return content


def _differences(line: Any, theirs: Stated, own: Stated) -> Iterator[str]:
    """Say what differs, in the names of the model."""
    for name, what in (("K", "variables"), ("A", "rows")):
        if len(theirs[name]) != len(own[name]):
            yield f"it has {len(theirs[name])} {what}, and the model {len(own[name])}"
            return
    items = [*map(line.column_name, range(line.n)), *map(line.row_name, range(line.m))]
    for name, first in (("A", line.n), ("K", 0)):
        for i, rows in enumerate(zip(theirs[name], own[name], strict=True)):
            numbers, mine = map(_entries, rows)
            for j in sorted(numbers.keys() | mine.keys()):
                pair = numbers.get(j, Fraction(0)), mine.get(j, Fraction(0))
                if pair[0] != pair[1]:
                    yield _said(f"the coefficient of {items[j]} in the row of {items[first + i]}", *pair)
    for name, what in _SIDES.items():
        for t in (0, 1):
            for item, pair in zip(items, zip(theirs[name][t], own[name][t], strict=True), strict=False):
                there, here = (None if each is None else Fraction(each) for each in pair)
                if there != here:
                    yield _said(f"{what} of {item} at t = {t}", there, here)


def _entries(row: Sequence[Any]) -> dict[int, Fraction]:
    """Entries of a row of a matrix that are not 0, by their columns, in either of the two ways to write it."""
    pairs = row if row and isinstance(row[0], list) else enumerate(row)
    return {column: number for column, each in pairs if (number := Fraction(each))}


def _said(what: str, number: Fraction | None, own: Fraction | None) -> str:
    """Say what a number is in a certificate, and what in the model."""
    there, here = ("none" if each is None else repr(float(each)) for each in (number, own))
    return f"{what} is {there} there, and {here} in the model"
