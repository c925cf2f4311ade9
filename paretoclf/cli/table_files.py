"""Tables of the command line: as CSV files that appear complete or not at all, and as columns of text."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.common.files import replacing


def write_csv(file: str, rows: Iterable[Mapping[str, Any]], option: str = "--csv") -> None:
    """Write rows as a CSV file; numbers have all their digits, and what is missing is empty."""
    every = list(rows)
    names = list(dict.fromkeys(name for row in every for name in row))
    try:
        with replacing(Path(file)) as temporary, open(temporary, "w", newline="", encoding="utf-8") as handle:
            table = csv.DictWriter(handle, names)
            table.writeheader()
            table.writerows(every)
    except OSError as error:
        raise InputError(f"{option} {file}: cannot be written to ({error.strerror})") from None


def text_table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return some columns of rows as text, numbers to the right, six digits each; what is missing is empty.

    Examples
    --------
    >>> from paretoclf.cli.table_files import text_table
    >>> print(text_table([{"t": 0.0, "says": "a"}, {"t": 0.123456789, "says": "b"}], ["t", "says"]))
           t  says
           0  a
    0.123457  b
    """
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    numbers = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in names]
    widths = [max([len(name), *(len(row[k]) for row in cells)]) for k, name in enumerate(names)]

    def line(texts: Sequence[str]) -> str:
        columns = zip(texts, widths, numbers, strict=True)
        return "  ".join(text.rjust(width) if right else text.ljust(width) for text, width, right in columns).rstrip()

    return "\n".join(map(line, [list(names), *cells]))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
