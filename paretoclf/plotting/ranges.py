"""The picture of ranges: what a change of each number does to the optimal value, or one price over its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import GREY, NEGATIVE, POSITIVE

#: So many numbers are drawn, those that change the value most.
MOST = 20


@dataclass(frozen=True)
class Effect:
    """The effect of moving one number on the optimal value.

    Attributes
    ----------
    name : str
    down, up : float
        Changes of the optimal value where the number goes down, and up.
    ends_down, ends_up : bool
        Whether the range ends before the number has gone so far.
    """

    name: str
    down: float
    up: float
    ends_down: bool
    ends_up: bool

    @property
    def size(self) -> float:
        """The larger of the two changes."""
        return max(abs(self.down), abs(self.up))


@dataclass(eq=False)
class RangesDisplay:
    """A tornado of all numbers, each moved by a share of its size within its range; of one number its price.

    Parameters
    ----------
    ranges : Ranges
    share : float

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> from paretoclf.plotting.ranges import RangesDisplay
    >>> x = cp.Variable(nonneg=True, name="x")
    >>> found = pc.ranges(cp.Problem(cp.Maximize(3 * x), [(2 * x <= 8).set_label("cap")]))
    >>> [(each.name, round(each.down, 9), round(each.up, 9)) for each in RangesDisplay.from_ranges(found).effects()]
    [('cost of x', -1.2, 1.2), ('cap', -1.2, 1.2)]
    """

    ranges: Any
    share: float = 0.1

    @classmethod
    def from_ranges(cls, ranges: Any, share: float = 0.1) -> Self:
        """Make the display; ``share`` is positive."""
        return cls(ranges, check_positive_number(share, "share"))

    def effects(self) -> list[Effect]:
        """Effects of all numbers whose ranges are known and that have one, the largest first."""
        found = [self._effect(row) for row in self.ranges if np.isfinite([row.price_below, row.price]).all()]
        return sorted((each for each in found if each.size > 0.0), key=lambda each: -each.size)

    def _effect(self, row: Any) -> Effect:
        """The effect of one number."""
        step = self.share * abs(row.value)
        down, up = min(step, row.value - row.lower), min(step, row.upper - row.value)
        fall = -row.price_below * down + row.bend_below * down**2 / 2
        rise = row.price * up + row.bend * up**2 / 2
        return Effect(_called(row), float(fall), float(rise), bool(down < step), bool(up < step))

    def plot(self, ax: Any = None) -> Self:
        """Draw bars, or of one number its price."""
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure(figsize=(6.4, 4.2), layout="constrained").subplots()
        if len(self.ranges) == 1:
            self._draw_price(ax, next(iter(self.ranges)))
        else:
            self._draw_bars(ax)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any) -> None:
        """Bars of all effects, the largest on top; a line ends a bar where the range ends."""
        shown = self.effects()[:MOST]
        if not shown:
            raise InputError("ranges must have a number that changes the optimal value, got none")
        places, percent = np.arange(len(shown))[::-1], f"{100 * self.share:.3g} %"
        ax.barh(places, [each.down for each in shown], color=NEGATIVE, height=0.7, label=f"{percent} less")
        ax.barh(places, [each.up for each in shown], color=POSITIVE, height=0.7, label=f"{percent} more")
        stops = [(each.down, place) for each, place in zip(shown, places, strict=True) if each.ends_down]
        stops += [(each.up, place) for each, place in zip(shown, places, strict=True) if each.ends_up]
        if stops:
            ends, rows = np.transpose(stops)
            ax.plot(ends, rows, "|", color="k", markersize=14, label="its range ends")
        ax.set_yticks(places, [each.name for each in shown])
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.set_xlabel("change of the optimal value")
        ax.legend(frameon=False, fontsize="small")

    def _draw_price(self, ax: Any, row: Any) -> None:
        """The price of one number to both sides of where it stands; dotted where a range has no end."""
        reach = [abs(end - row.value) for end in (row.lower, row.upper) if np.isfinite(end)]
        far = 1.5 * max([*reach, 0.1 * abs(row.value)]) or 1.0
        sides = ((row.lower, row.price_below, row.bend_below, -1.0), (row.upper, row.price, row.bend, 1.0))
        for end, price, bend, sign in sides:
            last = end if np.isfinite(end) else row.value + sign * far
            ends = np.array([row.value, last])
            prices = price + bend * (ends - row.value)
            ax.plot(ends, prices, color=POSITIVE, linewidth=2.0)
            if np.isfinite(end):
                ax.plot(last, prices[1], "|", color="k", markersize=12)
        ax.axvline(row.value, color=GREY, linewidth=0.8)
        ax.set(xlabel=_called(row), ylabel="price (of one unit more)")
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, 0.0), max(high, 0.0))


def _called(row: Any) -> str:
    """Words for a number."""
    name = row.name if row.index is None else f"{row.name}[{', '.join(map(str, row.index))}]"
    if row.kind == "cost":
        return f"cost of {name}"
    return f"{row.side} bound of {row.variable}".lstrip() if getattr(row, "variable", "") else name
