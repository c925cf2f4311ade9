"""The engine of any program along a line of costs, in fractions: a path without a rounded number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.engine.general import follow
from paretoclf.engine.sets import OUT, SETS
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.exact import Cell, Exact, ExactPath, fractions


@dataclass(frozen=True)
class Segment:
    """From t0 to t1 the sets of the samples (n,), and at both ends multipliers a (2, n) and intercept eta (2, 1)."""

    t0: Any
    t1: Any
    basis: Any
    a: Exact
    eta: Exact


def rational_segments(K: Exact, y: Any, start: Exact, stop: Exact) -> list[Segment]:
    """The segments of the line of caps from start to stop, shape (n,) each."""
    K, y = fractions(K), fractions([int(v) for v in y])
    n, caps = y.size, np.stack([fractions(start), fractions(stop)])
    found = follow(ParametricQP.box(y[:, None] * K * y, fractions([1] * n), y[None], caps), progress=False)
    assert (found.status, found.t[0], found.t[-1]) == ("end", 0, 1)
    sets = np.where((caps == 0).all(axis=0), OUT, np.vectorize(SETS.get)(found.labels[:, :n]))
    ends = zip(found.t[:-1], found.t[1:], sets, found.v[..., :n], -found.y[..., n:], strict=True)
    return [Segment(*each) for each in ends if each[0] < each[1]]


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
