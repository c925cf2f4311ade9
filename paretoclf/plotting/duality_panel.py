"""Duality along a path, for its page: the dual value, and complementary slackness by the names of constraints.

On a piece slacks and multipliers are affine, so that their sums are, and the sum of their products is a parabola.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array

#: Where each part is looked at: at breakpoints two pieces meet, and multipliers may jump.
_INSIDE = np.array([1 / 6, 1 / 2, 5 / 6])

#: Takes the values of a parabola at these places to those at the beginning, in the middle, and at the end.
_TO_ENDS = np.array([[1.875, -1.25, 0.375], [0.0, 1.0, 0.0], [0.375, -1.25, 1.875]])

_KINDS = ("slacks", "multipliers", "products")

#: Constraints that a page has.
SHOWN_CONSTRAINTS = 30


def duality_data(path: Any, begin: Array, end: Array) -> dict[str, Any]:
    """Sums of slacks, multipliers and their products of each constraint, on parts of pieces.

    Parameters
    ----------
    path : any path
        One that is not of a program has no constraints by name.
    begin, end : array of shape (parts,)
        Where each part begins and ends.

    Returns
    -------
    dict
        ``names`` of constraints, and for each part, each name, three numbers: at the beginning, in the middle and at
        the end of the part.
    """
    multipliers = path.program.all_multipliers if hasattr(path, "program") else {}
    readings = dict(list(multipliers.items())[:SHOWN_CONSTRAINTS])
    if not readings:
        return {"names": [], **{kind: [] for kind in _KINDS}}
    places = begin[:, None] + (end - begin)[:, None] * _INSIDE
    seen = np.array([[_at(path, t, readings) for t in part] for part in places.tolist()])
    sums = np.einsum("et,ptnk->kpne", _TO_ENDS, seen)  # each kind of sum by parts, names, and beginning, middle, end
    return {"names": list(readings), **dict(zip(_KINDS, sums.tolist(), strict=True))}


def _at(path: Any, t: float, readings: dict[str, Any]) -> list[list[float]]:
    """Sum of slacks, of multipliers, and of their products at t, of each constraint."""
    x, z = path.compiled(t)
    slack = path.program.slacks(x, t)
    return [_sums(reading, slack, z) for reading in readings.values()]


def _sums(reading: Any, slack: Array, z: Array) -> list[float]:
    """Sum of slacks, of multipliers, and of their products, over the rows of one constraint."""
    used = reading.factor != 0.0
    rows, factors = reading.place[used], np.abs(reading.factor[used])
    own = slack[rows]
    theirs = z[rows]
    return [float((own / factors).sum()), float(np.sum(reading.of(z))), float(own @ theirs)]
