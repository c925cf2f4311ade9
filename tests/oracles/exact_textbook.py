"""The textbook tracker along a line of costs, in fractions: the journey of `trace`, without a rounded number."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.engine.rational import rational_segments
from tests.oracles.exact import Cell, Exact, ExactPath, fractions


def textbook(K: Exact, y: Any, c0: Any, c1: Any) -> ExactPath:
    """The optima of caps ``c0 + t c1``, 0 <= t <= 1; parameters as for `enumerate_bases`."""
    K, y = np.asarray(K, dtype=object), np.array([int(v) for v in y], dtype=object)
    c0, c1 = fractions(c0), fractions(c1)
    cells = tuple(
        Cell(s.t0, s.t1, s.a[0] - s.t0 * rate, rate, (False,) * y.size)
        for s in rational_segments(K, y, c0, c0 + c1)
        for rate in [(s.a[1] - s.a[0]) / (s.t1 - s.t0)]
    )
    return ExactPath(K, y, c0, c1, cells).proved()
