"""Stored optimal values, held against the bounds that are proved."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof import bernstein

_EPS = float(np.finfo(float).eps)


def outside(value: Array, duals: Array, gaps: Array) -> Array:
    """How far stored values are outside the proved bounds, at three points of each segment; negative inside."""
    stored = bernstein.of_value(value)
    return np.asarray(np.maximum(duals - stored, stored - duals - gaps))


def value_residual(t: Array, value: Array, duals: Array, gaps: Array, sizes: Array, ends: tuple[float, float]) -> Array:
    """How far the stored values of segments from t[:, 0] to t[:, 1] are outside the proved bounds, relative to them.

    Breakpoints are rounded: units in the last place of t are allowed for, at the rate at which the *proved* values
    grow. The two ``ends`` of a path are exact.
    """
    length = np.maximum(t[:, 1] - t[:, 0], _EPS)
    at_start, at_end = (
        4 * _EPS * np.abs(duals[:, 2] - duals[:, 0]) / length * (x != end) for x, end in zip(t.T, ends, strict=True)
    )
    allowed = bernstein.columns(at_start, 0.5 * (at_start + at_end), at_end)
    off = outside(value, duals, gaps) - allowed
    return np.asarray((np.maximum(off, 0.0) / np.maximum(sizes, 1e-300)).max(axis=1))
