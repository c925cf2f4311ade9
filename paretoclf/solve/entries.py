"""Entries of variables and of multipliers, by the names that tables have for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def entries(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Name and number of each entry of a variable or of multipliers: ``x[0]``, ``x[0, 1]``; of a number its name.

    Examples
    --------
    >>> from paretoclf.solve.entries import entries
    >>> list(entries("x", [3.0, 4.0])), list(entries("cap", 2.0))
    ([('x[0]', 3.0), ('x[1]', 4.0)], [('cap', 2.0)])
    """
    own = np.asarray(value, dtype=np.float64)
    for index, number in zip(np.ndindex(*own.shape), own.ravel().tolist(), strict=True):
        yield (f"{name}[{', '.join(map(str, index))}]" if index else name), number
