"""The quadratic term of a box QP: that of the samples, with the signs of their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.operator.operator import Quadratic

STORED_SLOPE = 512  # a path keeps w up to this length, beyond it recomputes w from the multipliers


@dataclass(frozen=True)
class Signed:
    """``diag(sign) Q diag(sign)``; where there are features, w is a variable of its own."""

    quadratic: Quadratic
    sign: Array

    def whole(self) -> Array:
        """Whole matrix, shape (n, n)."""
        return self.sign[:, None] * self.quadratic.whole() * self.sign

    def __matmul__(self, x: Array) -> Array:
        """Products with points, a column each."""
        sign = self.sign[:, None]
        return np.asarray(sign * self.quadratic.times(sign * x))

    @property
    def reach(self) -> Array:
        """Square roots of the diagonal."""
        return np.asarray(np.sqrt(np.maximum(self.quadratic.diagonal(), 0.0)))

    @property
    def stored_width(self) -> int:
        """Length of w, where it is about as short as a margin set; else 0."""
        return self.quadratic.width if self.quadratic.width <= STORED_SLOPE else 0


def centre(quadratic: Quadratic) -> Array | None:
    """Choose the point to measure samples from where the intercept is free: no less accurate, better conditioned.

    None for a kernel matrix, for sparse samples, which would fill up, and for features too many for w to be stored.
    """
    return quadratic.middle if quadratic.width <= STORED_SLOPE else None
