"""Stored optimal values, held against the bounds that are proved."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.segments import bernstein

_EPS = float(np.finfo(float).eps)


def outside(value: Array, duals: Array, gaps: Array) -> Array:
    """Distances of stored values from the proved bounds, as coefficients for each segment; negative inside."""
    stored = bernstein.of_value(value)
    return np.asarray(np.maximum(duals - stored, stored - duals - gaps))


def value_residual(t: Array, value: Array, duals: Array, gaps: Array, sizes: Array, ends: tuple[float, float]) -> Array:
    """Residual of the stored values of segments from t[:, 0] to t[:, 1]: how far they are outside the proved bounds.

    It is relative to ``sizes``; bounds and sizes are Bernstein coefficients (k, 3).

    Breakpoints are rounded: units in the last place of t are allowed for, at the rate at which the *proved* values
    grow. The two ``ends`` of a path are exact.
    """
    length = np.maximum(t[:, 1] - t[:, 0], _EPS)
    rounding = 4 * _EPS * np.abs(duals[:, 2] - duals[:, 0]) / length
    first, last = ends
    at_start, at_end = rounding * (t[:, 0] != first), rounding * (t[:, 1] != last)
    allowed = bernstein.columns(at_start, 0.5 * (at_start + at_end), at_end)
    violation = np.maximum(outside(value, duals, gaps) - allowed, 0.0)
    return np.asarray((violation / np.maximum(sizes, 1e-300)).max(axis=1))
