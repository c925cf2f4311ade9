"""Results as tables, for notebooks and for pandas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import islice
from typing import Any

from paretoclf.common.errors import InputError

#: Rows that a `repr`, or a notebook, shows of a long table.
SHOWN = 20


class Tabular:
    """A result that is a table: one row for each point, condition, event or sample."""

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table, one by one: long tables are shown in part."""
        raise NotImplementedError

    def _count(self) -> int:
        """Number of rows; a table whose rows take long to write knows it without writing them."""
        return sum(1 for _ in self._rows())

    def _title(self) -> str:
        """Title of the table in a notebook."""
        return repr(self)

    def records(self) -> list[dict[str, Any]]:
        """Rows of `to_frame`, as dictionaries."""
        return list(self._rows())

    def to_frame(self) -> Any:
        """Convert the table to a ``pandas.DataFrame``.

        Raises
        ------
        InputError
            If pandas, which is optional, is not installed.
        """
        return frame(self.records())

    def _repr_html_(self) -> str:
        """Title and first rows, for notebooks."""
        return html_table(self._title(), islice(self._rows(), SHOWN), self._count())


def frame(data: Any) -> Any:
    """Make a ``pandas.DataFrame`` (pandas is optional) of rows or of columns."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError("to_frame needs pandas: pip install 'paretoclf[pandas]'") from None
    return pd.DataFrame(data)


def html_table(title: str, rows: Iterable[Mapping[str, Any]], count: int) -> str:
    """Write the first of so many rows as HTML; a last line says how many there are more."""
    first = list(islice(rows, SHOWN))
    names = list(dict.fromkeys(name for row in first for name in row))
    lines = [_line("th", names), *(_line("td", [_text(row.get(name, "")) for name in names]) for row in first)]
    more = count - len(first)
    if more:
        lines.append(f'<tr><td colspan="{len(names)}">{and_more(more)}</td></tr>')
    return f"<p>{escape(title)}</p><table>{''.join(lines)}</table>"


def listing(head: str, rows: Iterable[str], count: int, title: str) -> str:
    """Write a table of so many rows, of which these are shown, as text; its title stands below."""
    return "\n".join([head, *rows, *([and_more(count - SHOWN)] if count > SHOWN else []), title])


def and_more(count: int) -> str:
    """Last line of a table that is not shown to its end."""
    return f"... and {count} more: to_frame() has all"


def _line(cell: str, texts: Iterable[str]) -> str:
    """Row of an HTML table."""
    return f"<tr>{''.join(f'<{cell}>{escape(text)}</{cell}>' for text in texts)}</tr>"


def _text(value: Any) -> str:
    """Text of a cell."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def rounded_up(size: float) -> str:
    """Round a number up to one digit.

    Examples
    --------
    >>> from paretoclf.common.tables import rounded_up
    >>> rounded_up(3.1e-7), rounded_up(3e-7), rounded_up(0.0)
    ('4e-07', '3e-07', '0e+00')
    """
    if size <= 0:
        return f"{0.0:.0e}"
    power = math.floor(math.log10(size))
    digit = math.ceil(size / 10.0**power - 1e-9)
    return f"{digit * 10.0**power:.0e}"
