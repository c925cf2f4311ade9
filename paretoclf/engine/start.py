"""The start of a path: labels to begin with, and a line to the data at t = 0 from data for which they are optimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Index, Mask
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP
from paretoclf.problem.trace import Trace


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
        """Read a problem."""
        sides = problem.lower, problem.upper, problem.below, problem.above
        finite = [np.asarray(np.abs(ends[0]) < np.inf, dtype=np.bool_) for ends in sides]
        has_low, has_up, has_below, has_above = finite
        zero = 0 * problem.q.ravel()[:1].sum() if problem.n else 0.0
        numbers = [np.where(has, ends, zero) for has, ends in zip(finite, sides, strict=True)]
        low, up, below, above = numbers
        return cls(
            problem=problem,
            q=problem.q,
            low=low,
            up=up,
            below=below,
            above=above,
            has_low=has_low,
            has_up=has_up,
            soft_low=has_below & has_low,
            soft_up=has_above & has_up,
            fixed=has_low & has_up & problem.fixed,
        )

    @property
    def exact(self) -> bool:
        """Whether the numbers are fractions."""
        return bool(self.problem.P.dtype == object)

    @property
    def free(self) -> Mask:
        """Items without bounds."""
        return ~self.has_low & ~self.has_up


class WalkOn(Protocol):
    """Interface of an engine: the solution on the labels that it has, and the path from there."""

    @property
    def exchanges(self) -> int:
        """Number of exchanges so far."""
        ...

    @property
    def labels(self) -> Index:
        """Piece of the staircase on which each variable and row is now, such as ``LOWER`` or ``INSIDE``."""
        ...

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        ...

    def follow(
        self,
        limit: int,
        keep: bool = True,
        report: Callable[[float], Any] | None = None,
        deadline: float | None = None,
    ) -> Trace:
        """Go on to t = 1, or to where there is no optimum any more, or to a limit.

        Where a deadline is given, what was kept until an interrupt from the keyboard is a trace, too.
        """
        ...


WalkOf = Callable[[Data, Index], WalkOn]


def first_labels(data: Data) -> Index:
    """Labels with no item in the basis: variables at a bound (those without one at 0), rows by their values then."""
    columns = data.problem.n
    at_bound = np.where(data.has_low | ~data.has_up, LOWER, UPPER)[:columns]
    values = np.where(data.has_low, data.low[0], data.up[0])[:columns]
    rows = data.problem.A.dot(values) if columns else data.low[0, columns:]
    by_values = _labels_of(data, np.concatenate([values, rows]))
    return np.concatenate([at_bound, by_values[columns:]]).astype(np.int64)


def without_inequalities(data: Data, walk: WalkOf) -> Index:
    """Labels of the basis of variables without bounds and of equations; soft rows by their values on it."""
    labels, columns = first_labels(data), data.problem.n
    of_rows = labels[columns:]
    hard = (data.fixed & ~data.soft_low & ~data.soft_up)[columns:]
    labels[:columns][data.free[:columns]] = INSIDE
    of_rows[hard] = LOWER
    values = walk(data, labels).solve(0)[0][0]
    by_values = _labels_of(data, values)[columns:]
    of_rows[~hard] = by_values[~hard]
    return labels


def _labels_of(data: Data, values: Any) -> Index:
    """Labels of items in no basis, by their values at t = 0: beyond a soft bound, or inside."""
    under = data.soft_low & (values < data.low[0])
    over = data.soft_up & (values > data.up[0])
    kink = data.fixed & ~under & ~over  # between its bounds there is no room
    above, below = over | (kink & data.soft_up), under | (kink & data.soft_low)
    return np.asarray(np.where(above, ABOVE, np.where(below, BELOW, INSIDE)))


def shifted(data: Data, labels: Index, walk: WalkOf, draw: int = 0) -> Data:
    """The line to the data at t = 0 from data for which the labels are optimal: violated numbers are shifted.

    Shifts are drawn at random (for each number ``draw`` always the same), so that this line has few ties of its own.
    """
    ends = data.q, data.low, data.up, data.below, data.above
    q, low, up, below, above = (each[[0, 0]].copy() for each in ends)
    line = replace(data, q=q, low=low, up=up, below=below, above=above)  # constant, until its beginning is shifted
    values, multipliers = (each[0] for each in walk(line, labels).solve(0))
    shifts = _drawn(draw, labels.size, data.exact)
    _shift_bounds(line, labels, values, shifts)
    wanted = _nearest_multipliers(line, labels, multipliers, shifts)
    change, columns = wanted - multipliers, data.problem.n
    of_rows = change[columns:] @ data.problem.A if columns < labels.size else 0
    q[0] = q[0] + change[:columns] + of_rows
    return line


def _drawn(draw: int, size: int, exact: bool) -> Any:
    """Random numbers of few digits, so that sums of them are exact."""
    rng = np.random.default_rng(draw)
    if exact:
        return np.array([Fraction(int(number), 16) for number in rng.integers(8, 64, size)], dtype=object)
    return rng.integers(2**15, 2**18, size) / 2.0**16


def _shift_bounds(data: Data, labels: Index, values: Any, shifts: Any) -> None:
    """Shift the bounds at t = 0, in place, so that items whose label says no value are on their piece."""
    low, up = data.low[0], data.up[0]
    inside, below, above = labels == INSIDE, labels == BELOW, labels == ABOVE
    room = np.where(data.fixed, 0 * shifts, shifts)
    too_low = inside & data.has_low & ((values <= low) | data.fixed)
    low[:] = np.where(too_low, values - room, low)
    too_high = inside & data.has_up & ((values >= up) | data.fixed)
    up[:] = np.where(too_high, values + room, up)
    low[:] = np.where(below & (values >= low), values + shifts, low)
    up[:] = np.where(above & (values <= up), values - shifts, up)
    # Where the two bounds cross now, the one that was not shifted follows.
    crossed = data.has_low & data.has_up & ((low > up) | data.fixed)
    up[:] = np.where(below & crossed, low, up)
    low[:] = np.where(above & crossed, up, low)


def _nearest_multipliers(data: Data, labels: Index, multipliers: Any, shifts: Any) -> Any:
    """Multipliers that are on the pieces of the labels, and inside of these where they were on the wrong side."""
    lower, upper = labels == LOWER, labels == UPPER
    nothing = 0 * multipliers
    kink = data.fixed & lower
    # What a piece allows: to a soft side its slope; to a hard side anything, and a shift at least.
    most = np.where(data.soft_low, data.below[0], np.maximum(multipliers, shifts))
    most = np.where(lower, most, nothing)
    least = np.where(data.soft_up, -data.above[0], np.minimum(multipliers, -shifts))
    least = np.where(upper | kink, least, nothing)
    # An equation may have a multiplier of either sign, however small.
    most = np.where(kink & ~data.soft_low, np.maximum(multipliers, nothing), most)
    least = np.where(kink & ~data.soft_up, np.minimum(multipliers, nothing), least)
    at_bound = labels % 2 != 0
    wrong_sign = np.where(lower, multipliers <= 0, multipliers >= 0)
    wrong = at_bound & ~data.fixed & ~data.free & wrong_sign
    away = np.where(lower, np.minimum(shifts, most), np.maximum(-shifts, least))
    pushed = np.where(wrong, away, multipliers)
    allowed = np.minimum(np.maximum(pushed, least), most)
    allowed = np.where(data.free, nothing, allowed)
    return np.where(at_bound, allowed, multipliers)
