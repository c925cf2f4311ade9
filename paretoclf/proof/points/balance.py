"""Multipliers whose two classes balance."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import inner


def balanced(y: Array, alpha: Array) -> Array:
    """Scale the class with the larger sum down until ``sum_i y_i alpha_i = 0``; alpha must be nonnegative."""
    out = alpha.astype(np.float64)
    sums = [float(out[y == sign].sum()) for sign in (1, -1)]
    for sign, total in zip((1, -1), sums, strict=True):
        if total > 0:
            out[y == sign] *= min(sums) / total
    return out


def balanced_parts(y: Array, parts: Array) -> Array:
    """The same of multipliers in two parts (2, n): what rounding has left of their balance is taken off the second."""
    out, excess = parts.copy(), inner(parts, y)
    heavier = y * excess > 0
    most = float(out[0, heavier].sum())
    if most > 0:
        out[1, heavier] -= out[0, heavier] * (abs(excess) / most)
    return out
