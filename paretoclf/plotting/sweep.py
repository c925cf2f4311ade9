"""The picture of a sweep: coefficients above, the duality gap of each solution below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.plotting.base import FLOOR, GREY, NAMED, Panels, logarithmic, moving, panels, set_logarithmic


@dataclass(eq=False)
class SweepDisplay(Panels):
    """A sweep against one of its parameters: coefficients (or the values, without w), and the duality gaps.

    Parameters
    ----------
    sweep : Sweep
        A sweep of any formulation.
    parameter : str, optional
        Horizontal axis; by default the first parameter that moves.

    Raises
    ------
    InputError
        If the sweep is empty or has no such parameter.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import SweepDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> display = SweepDisplay.from_sweep(pc.sweep(svm, C_plus=[1.0, 1.0], C_minus=[0.5, 1.0]))
    >>> display.parameter  # display.plot() draws it
    'C_minus'
    """

    sweep: Any
    parameter: str = ""

    def __post_init__(self) -> None:
        self.parameter = moving(self.sweep.parameters, self.parameter)

    @classmethod
    def from_sweep(cls, sweep: Any, parameter: str | None = None) -> Self:
        """Make the display of a sweep."""
        return cls(sweep, parameter or "")

    def plot(self, ax: Any = None, *, title: str | None = None, xscale: str | None = None) -> Self:
        """Draw the two panels; ``xscale`` is "linear" or "log", the default where values span two decades."""
        column = self.sweep.parameters[self.parameter]
        log = logarithmic(xscale, column)
        upper, lower = panels(ax)
        order = np.argsort(column, kind="stable")
        at = column[order]
        try:
            shown, label = np.array([s.classifier.w for s in self.sweep])[order], "coefficients"
        except InputError:
            shown, label = self.sweep.values[order, None], "optimal value"
        for j, curve in enumerate(shown.T):
            upper.plot(at, curve, color=NAMED[j] if j < len(NAMED) else GREY, lw=1.2, marker=".")
        upper.set_ylabel(label)
        gaps = np.abs([certificate.gap for certificate in self.sweep.certificates])
        gaps = np.maximum(gaps, FLOOR)[order]
        lower.semilogy(at, gaps, color="black", lw=1, marker=".", label="of each solution")
        lower.axhline(CERTIFY, color="0.6", ls="--", lw=1, label="required")
        lower.set(xlabel=self.parameter, ylabel="relative gap")
        lower.legend(fontsize="x-small", framealpha=0.9, edgecolor="none")
        upper.tick_params(labelbottom=False)
        if log:
            for panel in (upper, lower):
                set_logarithmic(panel)
        return self._drawn(upper, lower, title)


def plot_sweep(sweep: Any, parameter: str | None = None, ax: Any = None) -> SweepDisplay:
    """Draw a sweep; see `SweepDisplay`."""
    return SweepDisplay.from_sweep(sweep, parameter).plot(ax)
