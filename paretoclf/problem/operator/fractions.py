"""Slopes in fractions: every double is one, so results computed from doubles are known without rounding."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from paretoclf.common.checks import Array

Numbers = Any


class ExactSlopes:
    """Scores and squared norms of slopes, without rounding, from a kernel matrix or from features."""

    def __init__(self, values: Array, features: bool) -> None:
        self._features = features
        self._values, self._power = _integers(values)

    def of(self, coef: Numbers) -> tuple[Numbers, Fraction]:
        """Scores (n,) and squared norm of ``sum_i coef_i x_i``."""
        shared = lcm(*(each.denominator for each in coef))
        whole = np.array([int(each * shared) for each in coef], dtype=object)
        used = np.flatnonzero(whole)
        if self._features:
            slope = self._values[used].T @ whole[used]
            scores, power = self._values @ slope, 2 * self._power
        else:
            scores, power = self._values[:, used] @ whole[used], self._power
        unit = Fraction(2) ** power / shared
        norm2 = Fraction(int(whole @ scores)) * unit / shared
        return exact(scores) * unit, norm2

    def given(self, coef: Numbers, w: Array | None) -> tuple[Numbers, Fraction]:
        """Scores and squared norm of a slope that is given separately, or of `coef` where there is none."""
        if w is None:
            return self.of(coef)
        slope, power = _integers(np.asarray(w, dtype=np.float64))
        scores = exact(self._values @ slope) * Fraction(2) ** (self._power + power)
        return scores, Fraction(int(slope @ slope)) * Fraction(2) ** (2 * power)


def exact(values: Any) -> Numbers:
    """Convert numbers to the fractions that they are."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values).astype(object))


def _integers(x: Array) -> tuple[Any, int]:
    """Write doubles as integers times one power of two."""
    mantissa, exponent = np.frexp(x)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    used = whole != 0
    least = int(exponent[used].min()) if used.any() else 0
    shift = np.where(used, exponent - least, 0)
    return whole.astype(object) * np.power(2, shift.astype(object)), least - 53
