"""Integers of a program in a file, which have no path: relaxed to all numbers between their bounds, or fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_number
from paretoclf.common.errors import InputError

#: What `QP.from_file` is told of integers that are to be any numbers between their bounds.
RELAX = "relax"

#: How far from a whole number a solver may leave an integer.
WHOLE = 1e-5


def without_integers(
    names: Sequence[str], bounds: tuple[Array, Array], integers: Any, is_bounded: Callable[[str], bool]
) -> tuple[Array, Array]:
    """Bounds of the integers of a file that make it a convex program.

    Parameters
    ----------
    names : sequence of str
        Names of the integers.
    bounds : pair of arrays
        Lower and upper bounds.
    integers : "relax", or mapping of str to float
        Whether they may be any number between their bounds, or where they stay; other variables may be in the mapping.
    is_bounded : callable
        Whether the file says a bound of the integer of this name: where it does not, readers differ.

    Raises
    ------
    InputError
        If an integer has no value, one that is not whole, or one beyond its bounds; or if it is to be relaxed, and
        readers differ in its bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.integers import without_integers
    >>> bounds = np.array([0.0, 0.0]), np.array([9.0, 1.0])
    >>> without_integers(["n", "b"], bounds, {"n": 2.9999999, "b": 1, "x": 0.5}, lambda name: True)
    (array([3., 1.]), array([3., 1.]))
    """
    low, high = bounds
    if isinstance(integers, str) and integers == RELAX:
        for name in names:
            if not is_bounded(name):
                raise InputError(
                    f"file must say a bound of the integer {name} to relax it: without one some readers take it for "
                    "binary, and others for unbounded"
                )
        return low, high
    if not isinstance(integers, Mapping):
        raise InputError(f"integers must be {RELAX!r}, or map their names to values, got {integers!r:.100}")
    fixed = np.array([_value(name, integers) for name in names])
    for name, value, least, most in zip(names, fixed, low, high, strict=True):
        if not least <= value <= most:
            raise InputError(f"integers must be between their bounds, {least:g} and {most:g}, got {value:g} of {name}")
    return fixed, fixed


def _value(name: str, integers: Mapping[str, Any]) -> float:
    """The whole number where an integer stays."""
    if name not in integers:
        raise InputError(f"integers must have a value of each integer, got none of {name}")
    given = check_number(integers[name], f"integers[{name!r}]")
    value = float(np.rint(given))
    if not abs(given - value) <= WHOLE:
        raise InputError(f"integers must have whole numbers, got {given:g} of {name}")
    return value


def said_of(integers: Mapping[str, float | None]) -> str:
    """Say what a result is of where integers were relaxed (None), or fixed; nothing where there are none.

    Examples
    --------
    >>> from paretoclf.problem.integers import said_of
    >>> said_of({"n": None})
    'this is of the relaxation, in which the integers n may be any numbers between their bounds'
    >>> said_of({"n": 3.0})
    'this is with the integers fixed, n = 3: nothing is said of others'
    """
    relaxed = [name for name, value in integers.items() if value is None]
    if relaxed:
        return (
            f"this is of the relaxation, in which the integers {_some(relaxed)} may be any numbers between their bounds"
        )
    if not integers:
        return ""
    fixed = _some([f"{name} = {value:g}" for name, value in integers.items()])
    return f"this is with the integers fixed, {fixed}: nothing is said of others"


def _some(names: Sequence[str]) -> str:
    """The first of many names."""
    return ", ".join([*names[:3], *[f"... ({len(names)} in all)"] * (len(names) > 3)])
