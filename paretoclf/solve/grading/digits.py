"""Digits of numbers that a person wrote down: how many there are, how many count, and what rounding to them allows.

A number is the rounded one of a solver if they are not further apart than half a unit of its last digit. A zero at the
end of a number is not seen in it, so that the longest number of an answer says how many digits, or decimals, all have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from paretoclf.common.checks import Array

#: Numbers of digits in words.
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

#: Digits of numbers that somebody rounded are at least two, and at most so many.
_FEW_DIGITS = 9

#: Half a unit of a digit is a rounded number itself, off by less than this share.
_OF_HALF = 1e-9


@dataclass(frozen=True)
class DigitsGiven:
    """Digits that an answer has in common with an optimum: how many, in words, and whether that is as many as count."""

    words: str
    enough: bool


def digits_given(
    answers: Mapping[str, Any], reference: Mapping[str, Any], tol: float, noise: float
) -> DigitsGiven | None:
    """Digits, or decimals, to which a solver's numbers round to the answers; None where they do not, or are complex.

    Parameters
    ----------
    answers, reference : mapping of str to array, or to list of arrays
        Somebody's numbers, and the solver's, by the same names at least.
    tol : float
        Relative accuracy of the digits that count.
    noise : float
        What the solver leaves of a number that is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.solve.grading.digits import digits_given
    >>> thirds = {"x": np.array([1 / 3, 2 / 3])}
    >>> digits_given({"x": np.array([0.33, 0.67])}, thirds, 1e-2, 0.0)
    DigitsGiven(words='two digits', enough=True)
    >>> digits_given({"x": np.array([0.33, 0.66])}, thirds, 1e-2, 0.0) is None
    True
    """
    given, solved, counting = list[Array](), list[Array](), list[Array]()
    for name, answer in answers.items():
        for part, own in zip(parts_of(answer), parts_of(reference[name]), strict=True):
            if np.iscomplexobj(part):
                return None
            given.append(np.ravel(part))
            solved.append(np.ravel(own))
            counting.append(np.ravel(allowed(np.asarray(own), largest_part(answer), tol, noise)))
    numbers = np.concatenate(given)
    apart, most = np.abs(numbers - np.concatenate(solved)), np.concatenate(counting)
    digits, decimals = _longest(numbers)
    if not 2 <= digits <= _FEW_DIGITS:
        return None
    of_digits = np.where(numbers == 0.0, 0.0, 0.5 * _last_digit(np.abs(numbers), digits))
    of_decimals = np.full(numbers.size, 0.5 * 10.0**-decimals)
    for count, unit, half in ((digits, "digit", of_digits), (decimals, "decimal", of_decimals)):
        if (apart <= half * (1.0 + _OF_HALF) + noise).all():
            return DigitsGiven(count_in_words(count, unit), bool((half <= most).all()))
    return None


def allowed(own: Any, largest: float, tol: float, noise: float) -> Any:
    """Distance from entries of a solver at which those of an answer have the digits that count."""
    size = np.abs(own) * (1.0 + 0.5 * tol)  # .9999 is 1.00
    half = 0.5 * _last_digit(size, digits_that_count(tol)) * (1.0 + _OF_HALF)
    return np.maximum(max(tol * largest, noise), half)


def digits_that_count(tol: float) -> int:
    """Number of digits that count at a relative accuracy."""
    return max(1, round(-math.log10(tol)))


def count_in_words(count: int, unit: str) -> str:
    """Name a number of digits or decimals, such as ``"three digits"``."""
    return f"{_WORDS.get(count, count)} {unit}{'s' if count != 1 else ''}"


def largest_part(value: Any) -> float:
    """Size of the largest entry of a value."""
    return max(float(np.max(np.abs(part), initial=0.0)) for part in parts_of(value))


def parts_of(value: Any) -> list[Any]:
    """Arrays that a value consists of; a multiplier of a cone is a list of them."""
    return value if isinstance(value, list) else [value]


def _longest(numbers: Array) -> tuple[int, int]:
    """Digits of the longest number as it is written, and decimals of the one that has most."""
    spelled = [Decimal(repr(float(number))).normalize().as_tuple() for number in numbers if number]
    digits = max((len(each.digits) for each in spelled), default=0)
    decimals = max((-int(each.exponent) for each in spelled), default=0)
    return digits, decimals


def _last_digit(sizes: Array, digits: int) -> Array:
    """Unit of the last of so many digits of numbers of these sizes."""
    first = np.floor(np.log10(np.maximum(sizes, np.finfo(float).tiny)))
    return np.asarray(10.0 ** (first - digits + 1))
