"""The textbook tracker along a line of costs, in fractions: the journey of `trace`, without a rounded number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from paretoclf.path.sets import LEFT, MARGIN, OUT
from paretoclf.path.textbook import Problem, Segment, follow
from tests.oracles.exact import Cell, Exact, ExactPath, fractions

LIMIT = 10_000  # bases on a line: far more than any test needs, lest a fault run for ever


def textbook(K: Exact, y: Any, c0: Any, c1: Any) -> ExactPath:
    """The optima of caps ``c0 + t c1``, 0 <= t <= 1; parameters as for `enumerate_bases`."""
    K, y = np.asarray(K, dtype=object), np.array([int(v) for v in y], dtype=object)
    c0, c1 = fractions(c0), fractions(c1)
    cells = tuple(
        Cell(s.t0, s.t1, s.a[0] - s.t0 * rate, rate, (False,) * y.size)
        for s in segments(K, y, c0, c0 + c1)
        for rate in [(s.a[1] - s.a[0]) / (s.t1 - s.t0)]
    )
    return ExactPath(K, y, c0, c1, cells).proved()


def segments(K: Exact, y: Any, start: Exact, stop: Exact) -> list[Segment]:
    """The segments of the line of caps from start to stop."""
    K, y = fractions(K), fractions([int(v) for v in y])
    n, plus = y.size, np.asarray(y > 0)
    zero = fractions(np.zeros(n, dtype=int))
    problem = Problem(y[:, None] * K * y, zero + 1, y[None], np.stack([zero, zero]), fractions([[0], [0]]))
    if any(not (start[side] + stop[side]).any() for side in (plus, ~plus)):  # no cost, no multiplier
        return [Segment(Fraction(0), Fraction(1), np.full(n, OUT), problem.c, problem.e)]

    def along(a: Exact, b: Exact, basis: Any) -> list[Segment]:
        """Those of a line that have a length; the last one has the basis to go on with."""
        found = list(islice(follow(replace(problem, c=np.stack([a, b])), basis), LIMIT))
        assert found[-1].t1 == 1
        return [s for s in found if s.t0 < s.t1]

    def at(t: Fraction) -> Exact:
        return (1 - t) * start + t * stop

    meet = _meeting(y, start, stop)
    balanced = at(meet).copy()
    for side in (plus, ~plus):
        balanced[side] /= sum(balanced[side])
    basis = np.where((start == 0) & (stop == 0), OUT, LEFT)
    basis[np.flatnonzero(plus & (basis == LEFT))[0]] = MARGIN
    for a, b in ((zero, balanced), (balanced, at(meet))):
        basis = along(a, b, basis)[-1].basis
    forward = along(at(meet), stop, basis) if meet < 1 else []
    backward = along(at(meet), start, basis) if meet > 0 else []
    back = [
        replace(s, t0=meet * (1 - s.t1), t1=meet * (1 - s.t0), a=s.a[::-1], eta=s.eta[::-1]) for s in backward[::-1]
    ]
    return back + [replace(s, t0=meet + (1 - meet) * s.t0, t1=meet + (1 - meet) * s.t1) for s in forward]


def _meeting(y: Exact, start: Exact, stop: Exact) -> Fraction:
    """Where the line meets the balanced ray, or else an end of it (the middle, if costs vanish at both)."""
    a, b = y @ start, y @ stop
    if a * b < 0:
        return Fraction(a, 1) / (a - b)
    inside = (start != 0) | (stop != 0)
    return next((Fraction(t) for t, end in ((0, start), (1, stop)) if (end[inside] != 0).all()), Fraction(1, 2))
