"""The picture of the value function: the optimal value along a line, and the two shadow prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import LABELS, NEGATIVE, POSITIVE, Panels, run_as_t, set_logarithmic
from paretoclf.plotting.path import PathDisplay


@dataclass(eq=False)
class ValueDisplay(Panels):
    """The optimal value along a path, and below it what a unit of either cost adds to it.

    The horizontal axis is that of `PathDisplay`. Where the intercept jumps, so do the prices, and the value has a kink.

    Parameters
    ----------
    path : Path
        What to show.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import ValueDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> display = ValueDisplay.from_path(pc.trace(svm, (0.5, 1.5), (1.5, 0.5)))
    >>> float(display.positions().max())  # of asymmetry; display.plot() draws it
    0.75
    """

    path: Any

    @classmethod
    def from_path(cls, path: Any) -> Self:
        """Make the display of a path."""
        return cls(path)

    def times(self) -> Array:
        """Path parameters of the drawn points: either side of each breakpoint (of many, some), and a grid."""
        knots = PathDisplay(self.path).knots()
        before = np.nextafter(knots, 0.0)
        return np.unique(np.concatenate([before[before >= knots[0]], knots]))

    def positions(self) -> Array:
        """Their places on the horizontal axis."""
        return PathDisplay(self.path).position(self.times())

    def plot(self, ax: Any = None, *, title: str | None = None, xscale: str | None = None) -> Self:
        """Draw the two panels; the horizontal axis is that of `PathDisplay.plot`."""
        log = PathDisplay(self.path).log(xscale)
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure(figsize=(6.4, 6.4), layout="constrained").subplots(2, 1, sharex=True)
        panels = [ax] if hasattr(ax, "plot") else list(ax)
        if len(panels) != 2:
            raise InputError(f"ax must be a pair of Axes, got {len(panels)}")
        upper, lower = panels
        times, x = self.times(), self.positions()
        upper.plot(x, [self.path.value(float(t)) for t in times], color="k", linewidth=1.5)
        upper.set_ylabel("optimal value $V$")
        prices = [self.path.shadow_prices(float(t)) for t in times]
        lower.plot(x, [p.C_plus for p in prices], color=POSITIVE, label=r"$\partial V/\partial C_+$")
        lower.plot(x, [p.C_minus for p in prices], color=NEGATIVE, linestyle="--", label=r"$\partial V/\partial C_-$")
        lower.set_ylabel("shadow price: sum of slacks")
        axis = PathDisplay(self.path).parameter
        lower.set_xlabel(LABELS[axis])
        lower.legend(frameon=False)
        for panel in (upper, lower):
            if log:
                set_logarithmic(panel)
            run_as_t(panel, x)
            panel.set_ylim(bottom=0.0)
            panel.grid(color="0.92", linewidth=0.6)
            panel.spines[["top", "right"]].set_visible(False)
        return self._drawn(upper, lower, title)
