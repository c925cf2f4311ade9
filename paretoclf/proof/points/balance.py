"""Multipliers whose two classes balance."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array


def balanced(y: Array, alpha: Array) -> Array:
    """Scale the class with the larger sum down until ``sum_i y_i alpha_i = 0``; alpha must be nonnegative."""
    out = alpha.astype(np.float64)
    sums = [float(out[y == sign].sum()) for sign in (1, -1)]
    for sign, total in zip((1, -1), sums, strict=True):
        if total > 0:
            out[y == sign] *= min(sums) / total
    return out
