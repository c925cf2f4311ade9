"""Where the path of any program starts: a line from data for which given labels are optimal to those at t = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Index, Mask
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP, Trace


@dataclass(frozen=True)
class Data:
    """A problem with zeros in place of infinite bounds and slopes, and masks that say where they are.

    ``read`` has what engines have read of its matrices, by their class: once for all lines that lead to it.
    """

    problem: ParametricQP
    q: Any
    low: Any
    up: Any
    below: Any
    above: Any
    has_low: Mask
    has_up: Mask
    soft_low: Mask
    soft_up: Mask
    fixed: Mask
    read: dict[type, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, problem: ParametricQP) -> Data:
        """Those of a problem."""
        ends = problem.lower, problem.upper, problem.below, problem.above
        finite = [np.asarray(np.abs(each[0]) < np.inf, dtype=np.bool_) for each in ends]
        zero = 0 * problem.q.ravel()[:1].sum() if problem.n else 0.0
        numbers = [np.where(has, each, zero) for has, each in zip(finite, ends, strict=True)]
        low, up, below, above = numbers
        soft_low, soft_up = finite[2] & finite[0], finite[3] & finite[1]
        fixed = finite[0] & finite[1] & problem.fixed
        return cls(problem, problem.q, low, up, below, above, finite[0], finite[1], soft_low, soft_up, fixed)

    @property
    def exact(self) -> bool:
        """Whether the numbers are fractions."""
        return bool(self.problem.P.dtype == object)

    @property
    def free(self) -> Mask:
        """Items without bounds."""
        return ~self.has_low & ~self.has_up


class WalkOn(Protocol):
    """What is asked of an engine: the solution on the labels that it has, and the path from there."""

    @property
    def exchanges(self) -> int:
        """How many there were."""
        ...

    @property
    def labels(self) -> Index:
        """Where each item is."""
        ...

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        ...

    def follow(self, limit: int, keep: bool = True, report: Callable[[float], Any] | None = None) -> Trace:
        """Go on to the end, or to where there is none."""
        ...


WalkOf = Callable[[Data, Index], WalkOn]


def first_labels(data: Data) -> Index:
    """No item in the basis: variables at a bound (those without one wait at 0), rows where they are then, if soft."""
    n = data.problem.n
    at_bound = np.where(data.has_low | ~data.has_up, LOWER, UPPER)[:n]
    x = np.where(data.has_low, data.low[0], data.up[0])[:n]
    v = np.concatenate([x, data.problem.A.dot(x) if n else data.low[0, n:]])
    return np.concatenate([at_bound, _where(data, v)[n:]]).astype(np.int64)


def without_inequalities(data: Data, walk: WalkOf) -> Index:
    """The basis without inequalities: variables without bounds in it, and equations; soft rows where they are then."""
    labels, n = first_labels(data), data.problem.n
    hard = data.fixed & ~data.soft_low & ~data.soft_up
    labels[:n][data.free[:n]] = INSIDE
    labels[n:][hard[n:]] = LOWER
    v = walk(data, labels).solve(0)[0][0]
    labels[n:][~hard[n:]] = _where(data, v)[n:][~hard[n:]]
    return labels


def _where(data: Data, v: Any) -> Index:
    """Labels of items in no basis, by their values at t = 0: beyond a soft bound, or inside."""
    under, over = data.soft_low & (v < data.low[0]), data.soft_up & (v > data.up[0])
    kink = data.fixed & ~under & ~over  # between its bounds there is no room
    above, below = over | (kink & data.soft_up), under | (kink & data.soft_low)
    return np.asarray(np.where(above, ABOVE, np.where(below, BELOW, INSIDE)))


def shifted(data: Data, labels: Index, walk: WalkOf, draw: int = 0) -> Data:
    """The line to the data at t = 0 from data for which the labels are optimal: what is violated is shifted.

    Shifts are drawn at random (for each number ``draw`` always the same), so that this line has few ties of its own.
    """
    n, N = data.problem.n, labels.size
    q, low, up, below, above = (each[[0, 0]].copy() for each in (data.q, data.low, data.up, data.below, data.above))
    still = replace(data, q=q, low=low, up=up, below=below, above=above)
    v, y = (each[0] for each in walk(still, labels).solve(0))
    rng = np.random.default_rng(draw)
    if data.exact:
        unit = np.array([Fraction(int(k), 16) for k in rng.integers(8, 64, N)], dtype=object)
    else:
        unit = rng.integers(2**15, 2**18, N) / 2.0**16  # short, so that sums of them are exact
    inside, room = labels == INSIDE, np.where(data.fixed, 0 * unit, unit)
    low[0] = np.where(inside & data.has_low & ((v <= low[0]) | data.fixed), v - room, low[0])
    up[0] = np.where(inside & data.has_up & ((v >= up[0]) | data.fixed), v + room, up[0])
    low[0] = np.where((labels == BELOW) & (v >= low[0]), v + unit, low[0])
    up[0] = np.where((labels == ABOVE) & (v <= up[0]), v - unit, up[0])
    crossed = data.has_low & data.has_up & ((low[0] > up[0]) | data.fixed)  # by what was shifted: the other one follows
    up[0] = np.where((labels == BELOW) & crossed, low[0], up[0])
    low[0] = np.where((labels == ABOVE) & crossed, up[0], low[0])
    kink = data.fixed & (labels == LOWER)
    most = np.where(labels == LOWER, np.where(data.soft_low, below[0], np.maximum(y, unit)), 0 * y)
    least = np.where((labels == UPPER) | kink, np.where(data.soft_up, -above[0], np.minimum(y, -unit)), 0 * y)
    most = np.where(kink & ~data.soft_low, np.maximum(y, 0 * y), most)
    least = np.where(kink & ~data.soft_up, np.minimum(y, 0 * y), least)
    hard = (labels % 2 != 0) & ~data.fixed & ~data.free
    wrong = hard & np.where(labels == LOWER, y <= 0, y >= 0)
    sign = np.where(labels == LOWER, 1, -1)
    pushed = np.where(wrong, np.where(sign > 0, np.minimum(unit, most), np.maximum(-unit, least)), y)
    wanted = np.where(labels % 2 == 0, y, np.where(data.free, 0 * y, np.minimum(np.maximum(pushed, least), most)))
    add = wanted - y
    q[0] = q[0] + add[:n] + (add[n:] @ data.problem.A if n < N else 0)
    return replace(data, q=q, low=low, up=up, below=below, above=above)
