"""Stored optimal values, held against the bounds that are proved."""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array
from paretoclf.proof import bernstein
from paretoclf.tolerances import ROUNDING

_EPS = float(np.finfo(float).eps)


def outside(value: Array, duals: Array, gaps: Array) -> Array:
    """How far stored values are outside the proved bounds, at three points of each segment; negative inside."""
    stored = bernstein.of_value(value)
    return np.asarray(np.maximum(duals - stored, stored - duals - gaps))


def value_residual(
    length: Array, value: Array, duals: Array, gaps: Array, sizes: Array, *, whole: bool = True
) -> Array:
    """How far the stored values are outside the proved bounds, relative to them."""
    # What a unit in the last place of t makes of the value: all there is next to the origin. The two ends of a whole
    # path are exact.
    slope = bernstein.columns(*[np.abs(value[:, 1] - value[:, 0]) / length] * 3)
    if whole:
        slope[0, 0] = slope[-1, -1] = 0.0
    off = outside(value, duals, gaps) - 4 * _EPS * slope
    # Where the value vanishes at an end, it is a difference of the stored numbers, and these are what is accurate.
    most = sizes.max(axis=1, keepdims=True)
    unit = np.where(sizes.min(axis=1, keepdims=True) > ROUNDING * most, sizes, 0.25 * most)
    return np.asarray((np.maximum(off, 0.0) / np.maximum(unit, 1e-300)).max(axis=1))
