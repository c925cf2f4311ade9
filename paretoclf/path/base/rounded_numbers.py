"""Numbers in the digits in which they are shown, rounded to the side on which what is said of them holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import between


def numbers_at(t: float, start: Mapping[str, Any], stop: Mapping[str, Any]) -> dict[str, float]:
    """Parameters that are numbers and move, at t: in the digits that are shown, no nearer to the start than t is.

    Examples
    --------
    >>> from paretoclf.path.base.rounded_numbers import numbers_at
    >>> numbers_at(1 / 3, {"a": 0.0, "b": 5.0}, {"a": 4.0, "b": 5.0})  # a is 1.333333...
    {'a': 1.33334}
    """
    found = {}
    for name, first in start.items():
        last = stop[name]
        if np.ndim(first) == 0 and np.ndim(last) == 0 and first != last:
            found[name] = _rounded_towards(float(last), float(between((first, last), t)))
    return found


def _rounded_towards(last: float, number: float) -> float:
    """Round a number to six digits, in the direction of another one and no further than that."""
    if number == 0.0:
        return number
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    rises = last > number
    units = number / unit
    if abs(units - round(units)) > AFFINE * abs(units):  # else these digits are the number, but for rounding
        units = math.ceil(units) if rises else math.floor(units)
    rounded = float(f"{round(units) * unit:.6g}")  # the double that these digits are
    return min(last, rounded) if rises else max(last, rounded)
