"""One number of a program, where it stands, and what the optimal value does when it alone is moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class NumberRange:
    """One number of a program, and what the optimal value does when it alone is moved.

    Attributes
    ----------
    name : str
        The variable whose cost it is, or the constraint; of a bound that belongs to a variable itself that variable.
    index : tuple of int or None
        The place in a vector or matrix.
    kind : {"cost", "right hand side", "bound"}
        A bound is a right hand side of a row with one variable.
    value : float
        Where the number stands.
    price_below, price : float
        The derivative of the optimal value with respect to it, to the left and to the right; infinite where there is no
        optimum on that side.
    lower, upper : float
        From ``lower`` to ``value`` the optimal value is one parabola (of a linear program one line), and from ``value``
        to ``upper``.
    enters_below, enters_above : str
        What becomes tight or free at these ends, or why there is no optimum beyond; empty where they are infinite.
        ``"not proved: ..."`` where nothing is proved of a side: its price and its end are nan.
    bend_below, bend : float
        By how much the price grows with the number on each side: 0 for a linear program.
    final : float
        At the optimum: of a cost the variable, of a constraint its left side.
    variable : str
        Of a bound that belongs to a variable itself that variable, with its entry; else empty.
    side : {"", "lower", "upper"}
        Which bound of that variable it is; empty of one that is both.
    place : tuple of str, int and float
        Where it stands in the compiled program: in q or b, which entry, and its sign there.
    """

    name: str
    index: tuple[int, ...] | None
    kind: str
    value: float
    price_below: float
    price: float
    lower: float
    upper: float
    enters_below: str
    enters_above: str
    bend_below: float = 0.0
    bend: float = 0.0
    final: float = np.nan
    variable: str = ""
    side: str = ""
    place: tuple[str, int, float] = ("", 0, 0.0)


class Indexed(Protocol):
    """Attributes of what has a name, and is an entry or a whole."""

    @property
    def name(self) -> str:
        """Name of a variable or constraint."""
        ...

    @property
    def index(self) -> tuple[int, ...] | None:
        """Place in a vector or matrix."""
        ...


def called(row: Indexed) -> str:
    """Name of a number, with its entry.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from paretoclf.path.sensitivity.number_range import called
    >>> called(SimpleNamespace(name="x", index=(0, 1))), called(SimpleNamespace(name="cap", index=None))
    ('x[0, 1]', 'cap')
    """
    return row.name if row.index is None else f"{row.name}[{', '.join(map(str, row.index))}]"


def is_called(row: Indexed, name: str) -> bool:
    """Whether a number is meant by the name of its variable or constraint, or by that of its entry, ``x[0, 1]``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from paretoclf.path.sensitivity.number_range import is_called
    >>> [is_called(SimpleNamespace(name="x", index=(0, 1)), name) for name in ("x", "x[0,1]", "x[1]")]
    [True, True, False]
    """
    return name == row.name or str(name).replace(" ", "") == called(row).replace(" ", "")
