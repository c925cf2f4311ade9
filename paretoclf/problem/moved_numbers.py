"""Numbers of a program in a file that are to move, by the words that its people use: ``rhs:CAP1``, ``cost:X7``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError

#: What may stand before the colon.
KINDS = ("rhs", "cost", "lower", "upper")

_SAID = "rhs:ROW, cost:VARIABLE, lower:NAME or upper:NAME"


@dataclass(frozen=True)
class MovedNumber:
    """A number of a program that moves.

    Attributes
    ----------
    change : mapping of str to array
        Changes of ``"q"``, ``"l"`` or ``"u"`` by a unit of it.
    value : float
        Where it stands in the program.
    """

    change: Mapping[str, Array]
    value: float


def moved_number(program: Mapping[str, Any], words: Any) -> MovedNumber:
    """Find the number that is meant by its words.

    Parameters
    ----------
    program : mapping
        Arguments of a `QP` with names, whose bounds of variables are rows that are called ``bound of`` the variable.
    words : str
        ``rhs:ROW``, the right-hand side of a row (both bounds of an equation); ``cost:VARIABLE``; ``lower:NAME`` or
        ``upper:NAME``, a bound of a row or of a variable.

    Raises
    ------
    InputError
        If there is no such number, or several may be meant.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.moved_numbers import moved_number
    >>> rows, bounds = ["CAP", "bound of X"], {"l": np.array([-np.inf, 0.0]), "u": np.array([8.0, np.inf])}
    >>> found = moved_number({"q": np.array([3.0]), "names": (["X"], rows), **bounds}, "rhs:CAP")
    >>> found.change["u"].tolist(), found.value
    ([1.0, 0.0], 8.0)
    """
    kind, colon, name = words.partition(":") if isinstance(words, str) else ("", "", "")
    if colon and kind == "range":
        raise InputError(f"moves must say lower:{name} or upper:{name}, the two sides of a range, got {words!r:.100}")
    if not colon or kind not in KINDS:
        raise InputError(f"moves must say what moves as {_SAID}, got {words!r:.100}")
    if kind == "cost":
        return _of_vector(program, "q", _place(program["names"][0], name, words, "variable"), words)
    if kind == "rhs":
        row = _place(program["names"][1], name, words, "row")
        return _right_hand_side(program, row, words)
    return _of_vector(program, kind[0], _bounded_row(program, name, words), words)


def _place(names: Sequence[str], name: str, words: str, what: str) -> int:
    """Place of a name among others."""
    for place, each in enumerate(names):
        if each == name:
            return place
    near = get_close_matches(name, names, 1)
    remedy = f"is {near[0]} meant?" if near else f"it has {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    raise InputError(f"moves must name a {what} of the program, got {words!r:.100}: {remedy}")


def _bounded_row(program: Mapping[str, Any], name: str, words: str) -> int:
    """Row of a name, or that of the bounds of the variable of this name."""
    variables, rows = program["names"]
    own = f"bound of {name}"
    if name in rows and own in rows:
        raise InputError(f"moves must say {words.partition(':')[0]}:{own} for the variable {name}, which is a row, too")
    if name in rows or name not in variables:
        return _place(rows, name, words, "row or a variable")
    if own not in rows:
        raise InputError(f"moves must name a bound that the program has, got {words!r:.100}: {name} has none")
    return list(rows).index(own)


def _right_hand_side(program: Mapping[str, Any], row: int, words: str) -> MovedNumber:
    """Both bounds of an equation, and else the one that is finite."""
    low, high = float(program["l"][row]), float(program["u"][row])
    if low == high:
        one = np.zeros(len(program["l"]))
        one[row] = 1.0
        return MovedNumber({"l": one, "u": one.copy()}, low)
    if np.isfinite(low) and np.isfinite(high):
        name = words.partition(":")[2]
        raise InputError(f"moves must say lower:{name} or upper:{name}, as this row has two sides, got {words!r:.100}")
    return _of_vector(program, "u" if np.isfinite(high) else "l", row, words)


def _of_vector(program: Mapping[str, Any], vector: str, place: int, words: str) -> MovedNumber:
    """One entry of q, l or u."""
    value = float(program[vector][place])
    if not np.isfinite(value):
        raise InputError(f"moves must name a bound that the program has, got {words!r:.100}: it is {value:g} there")
    change = np.zeros(len(program[vector]))
    change[place] = 1.0
    return MovedNumber({vector: change}, value)
