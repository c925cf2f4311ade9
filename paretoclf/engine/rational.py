"""A line of costs without a rounded number: the general engine in fractions, on the journey that `trace` takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.engine.sets import OUT, SETS
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP

Exact = Any  # an object array of Fractions

#: Exchanges on a line: far more than a few samples need, lest a fault run for ever.
LIMIT = 10_000


@dataclass(frozen=True)
class Segment:
    """From t0 to t1 the sets of the samples (n,), and at both ends multipliers a (2, n) and intercept eta (2, 1)."""

    t0: Fraction
    t1: Fraction
    basis: Any
    a: Exact
    eta: Exact


def fractions(values: Any) -> Exact:
    """Floats (or ints) as the rational numbers that they are, in an object array."""
    flat = [Fraction(v) for v in np.asarray(values, dtype=object).ravel()]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def rational_segments(K: Exact, y: Any, start: Exact, stop: Exact) -> list[Segment]:
    """The segments of the line of caps from start to stop, those of no length left out.

    Parameters
    ----------
    K : object array of shape (n, n)
        Kernel matrix.
    y : array of shape (n,)
        Labels.
    start, stop : object arrays of shape (n,)
        Caps at t = 0 and at t = 1.

    Examples
    --------
    Two samples at -1 and 1, costs from 0 to 1: both at their caps until w = 1.

    >>> from paretoclf.engine.rational import fractions, rational_segments
    >>> K, zero = fractions([[1, -1], [-1, 1]]), fractions([0, 0])
    >>> [(str(s.t0), str(s.t1)) for s in rational_segments(K, [-1, 1], zero, zero + 1)]
    [('0', '1/2'), ('1/2', '1')]
    """
    K, y = fractions(K), fractions([int(v) for v in y])
    n, plus = y.size, np.asarray(y > 0)
    none = fractions(np.zeros((2, n + 1), dtype=int))
    problem = ParametricQP.hard(y[:, None] * K * y, y[None], none[:, :n] - 1, none, none)
    out = (start == 0) & (stop == 0)
    if any(not (start[side] + stop[side]).any() for side in (plus, ~plus)):  # no cost, no multiplier
        return [Segment(Fraction(0), Fraction(1), np.full(n, OUT), none[:, :n], none[:, n:])]

    def along(a: Exact, b: Exact, labels: Any) -> tuple[list[Segment], Any]:
        """The segments of a line that have a length, and the labels to go on with."""
        upper = np.hstack([np.stack([a, b]), none[:, n:]])
        walk = Walk(Data.of(replace(problem, upper=upper)), labels)
        found = walk.follow(LIMIT)
        assert found.status == "end"
        sets = np.where(out, OUT, np.vectorize(SETS.get)(found.labels[:, :n]))
        ends = zip(found.t[:-1], found.t[1:], sets, found.v[..., :n], -found.y[..., n:], strict=True)
        return [Segment(*each) for each in ends if each[0] < each[1]], walk.labels

    def at(t: Fraction) -> Exact:
        return (1 - t) * start + t * stop

    meet = _meeting(y, start, stop)
    balanced = at(meet).copy()
    for side in (plus, ~plus):
        balanced[side] /= sum(balanced[side])
    labels = np.append(np.where(out, LOWER, UPPER), LOWER)
    labels[np.flatnonzero(plus & ~out)[0]] = INSIDE
    for a, b in ((none[0, :n], balanced), (balanced, at(meet))):
        labels = along(a, b, labels)[1]
    forward = along(at(meet), stop, labels)[0] if meet < 1 else []
    backward = along(at(meet), start, labels)[0] if meet > 0 else []
    back = [
        replace(s, t0=meet * (1 - s.t1), t1=meet * (1 - s.t0), a=s.a[::-1], eta=s.eta[::-1]) for s in backward[::-1]
    ]
    return back + [replace(s, t0=meet + (1 - meet) * s.t0, t1=meet + (1 - meet) * s.t1) for s in forward]


def _meeting(y: Exact, start: Exact, stop: Exact) -> Fraction:
    """Where the line meets the balanced ray, or else an end of it (the middle, if costs vanish at both)."""
    a, b = y @ start, y @ stop
    if a * b < 0:
        return Fraction(a / (a - b))
    inside = (start != 0) | (stop != 0)
    return next((Fraction(t) for t, end in ((0, start), (1, stop)) if (end[inside] != 0).all()), Fraction(1, 2))
