"""Numbers of a program in a file that are to move, by the words that its people use: ``rhs:CAP1``, ``cost:X7``.

Several move together in a direction, ``{"rhs:CAP1": 10, "rhs:CAP2": "5%"}``: a unit of the parameter adds 10 to one,
and 5 % of what the file has to the other. A star stands for any part of a name: ``rhs:*`` is every right-hand side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, number_from_text
from paretoclf.common.errors import InputError

#: What may stand before the colon.
KINDS = ("rhs", "cost", "lower", "upper")

_SAID = "rhs:ROW, cost:VARIABLE, lower:NAME or upper:NAME"


#: What a direction looks like, for messages.
_TOGETHER = "several that move together are a mapping, {'rhs:CAP1': 10, 'rhs:CAP2': '5%'}"


@dataclass(frozen=True)
class MovedNumber:
    """A number of a program that moves, or a direction of several.

    Attributes
    ----------
    change : mapping of str to array
        Changes of ``"q"``, ``"l"`` or ``"u"`` by a unit of it.
    value : float
        Where it stands in the program; 0 of a direction.
    """

    change: Mapping[str, Array]
    value: float


def moved_number(program: Mapping[str, Any], words: Any) -> MovedNumber:
    """Find the number that is meant by its words.

    Parameters
    ----------
    program : mapping
        Arguments of a `QP` with names, whose bounds of variables are rows that are called ``bound of`` the variable.
    words : str, or mapping of str to float or str
        ``rhs:ROW``, the right-hand side of a row (both bounds of an equation); ``cost:VARIABLE``; ``lower:NAME`` or
        ``upper:NAME``, a bound of a row or of a variable. A mapping has what is added to each of several in a unit,
        or ``"5%"`` of it; a star in a name stands for any letters (`moved_together`).

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
    if isinstance(words, Mapping):
        return moved_together(program, words)
    kind, colon, name = words.partition(":") if isinstance(words, str) else ("", "", "")
    if colon and kind == "range":
        raise InputError(f"moves must say lower:{name} or upper:{name}, the two sides of a range, got {words!r:.100}")
    if not colon or kind not in KINDS:
        raise InputError(f"moves must say what moves as {_SAID}, got {words!r:.100}; {_TOGETHER}")
    if kind == "cost":
        return _of_vector(program, "q", _place(program["names"][0], name, words, "variable"), words)
    if kind == "rhs":
        row = _place(program["names"][1], name, words, "row")
        return _right_hand_side(program, row, words)
    return _of_vector(program, kind[0], _bounded_row(program, name, words), words)


def moved_together(program: Mapping[str, Any], amounts: Mapping[str, Any]) -> MovedNumber:
    """Make the direction in which several numbers move by these amounts in a unit.

    With a star ``rhs:*`` is each side of each row that is no bound of a variable, both of a row with two; ``cost:*``
    each cost; ``lower:*`` and ``upper:*`` each such bound of rows and variables that is there, equations left out.

    Raises
    ------
    InputError
        If a number is not there, an amount is none, or nothing moves.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.moved_numbers import moved_together
    >>> rows, bounds = ["CAP", "NEED", "bound of X"], {"l": np.array([-9.0, 2.0, 0.0]), "u": np.array([8.0, 2.0, 5.0])}
    >>> found = moved_together({"q": np.array([3.0]), "names": (["X"], rows), **bounds}, {"rhs:*": "10%", "cost:X": 1})
    >>> {vector: change.tolist() for vector, change in found.change.items()}
    {'q': [1.0], 'l': [-0.9, 0.2, 0.0], 'u': [0.8, 0.2, 0.0]}
    """
    change = {vector: np.zeros(len(program[vector])) for vector in "qlu"}
    for words, amount in amounts.items():
        share, number = _amount(amount, words)
        for vector, places in _places(program, words):
            change[vector][places] += number * np.asarray(program[vector])[places] if share else number
    if not any(each.any() for each in change.values()):
        raise InputError(f"moves must move something, got {dict(amounts)!r:.100}, of which nothing moves")
    return MovedNumber(change, 0.0)


def _amount(given: Any, words: Any) -> tuple[bool, float]:
    """Whether an amount is a share of the number, and what is added to it in a unit, or how large the share is."""
    text = given.strip() if isinstance(given, str) else repr(given)
    share = isinstance(given, str) and text.endswith("%")
    try:
        number = number_from_text(text.removesuffix("%")) if isinstance(given, str) else float(given)
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(given, bool) or not np.isfinite(number):
        raise InputError(f"moves must add a number to {words}, or a share of it as '5%', got {given!r:.100}")
    return share, number / 100.0 if share else number


def _places(program: Mapping[str, Any], words: Any) -> Iterator[tuple[str, Index]]:
    """Vectors, and the places of each that are meant by words with or without a star."""
    kind, colon, pattern = words.partition(":") if isinstance(words, str) else ("", "", "")
    known = {*program["names"][0], *program["names"][1]}
    if not colon or kind not in KINDS or "*" not in pattern or pattern in known:
        for vector, change in moved_number(program, words).change.items():
            yield vector, np.flatnonzero(change)
        return
    fits = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL).fullmatch
    variables, rows = program["names"]
    low, high = np.asarray(program["l"]), np.asarray(program["u"])
    owners = {f"bound of {name}": name for name in variables}
    if kind == "cost":
        found = [("q", np.array([fits(name) is not None for name in variables], dtype=bool))]
    elif kind == "rhs":
        own = np.array([name not in owners and fits(name) is not None for name in rows], dtype=bool)
        found = [("l", own & np.isfinite(low)), ("u", own & np.isfinite(high))]
    else:
        own = np.array([fits(owners.get(name, name)) is not None for name in rows], dtype=bool) & (low != high)
        found = [(kind[0], own & np.isfinite(low if kind == "lower" else high))]
    if not any(places.any() for _, places in found):
        raise InputError(f"moves must name numbers that the program has, got {words!r:.100}, which none of them fits")
    for vector, places in found:
        yield vector, np.flatnonzero(places)


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
