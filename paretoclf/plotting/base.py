"""Common parts of the figures: colours, names of axes, panels, and a display, in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import CostLine, Costs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Okabe and Ito's colours, told apart by colour-blind readers; line styles say the same once more.
STYLES = (("#0072B2", "--"), ("#D55E00", "-"), ("#009E73", "-."), ("#CC79A7", ":"), ("#56B4E9", (0, (5, 1))))
#: The same colours, for the coefficients that get a name in the legend.
NAMED = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
NEGATIVE, POSITIVE, GREY = "#0072B2", "#D55E00", "0.8"

#: Gaps are drawn no lower than this: below it a gap is rounding of the two values.
FLOOR = 1e-17

LABELS = {
    "asymmetry": r"asymmetry $C_+ / (C_+ + C_-)$",
    "mean cost": r"mean cost $(n_+ C_+ + n_- C_-) / n$",
    "t": "path parameter $t$",
    "tau": r"quantile $\tau$",
    "nu": r"$\nu$",
    "share": r"positives' share of the margin, $\theta / (1 + \theta)$",
}


def moving(columns: Mapping[str, Array], parameter: str) -> str:
    """Parameter of a sweep to draw over: the one asked for, or the first that is not constant."""
    if not columns:
        raise InputError("sweep must hold at least one solution, got none")
    if parameter and parameter not in columns:
        raise InputError(f"parameter must be one of {', '.join(columns)}, got {parameter!r}")
    if parameter:
        return parameter
    not_constant = (name for name, column in columns.items() if np.ptp(column) > 0)
    return next(not_constant, next(iter(columns)))


def spread(column: Array) -> bool:
    """Whether the values of a parameter are drawn on a logarithmic scale."""
    return bool(column.min() > 0 and column.max() > 100 * column.min())


def logarithmic(xscale: str | None, places: Array, usual: bool | None = None) -> bool:
    """Whether a horizontal axis is logarithmic: as it is asked for, else as usual, else where it spans two decades."""
    if xscale not in (None, "linear", "log"):
        raise InputError(f"xscale must be 'linear' or 'log', got {xscale!r:.100}")
    if xscale == "log" and not (places > 0).any():
        raise InputError(f"xscale must be 'linear' where nothing is positive: this axis ends at {places.max():g}")
    return (spread(places) if usual is None else usual) if xscale is None else xscale == "log"


def set_logarithmic(ax: Axes) -> None:
    """Make the horizontal axis logarithmic; where it is shorter than two decades, with numbers at 1, 2 and 5."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if high < 100 * low:
        from matplotlib.ticker import LogLocator

        ax.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        for set_formatter in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
            set_formatter("{x:g}")


def run_as_t(ax: Axes, ends: Array) -> None:
    """Make the horizontal axis run from left to right as t does, given the places of the path's two ends."""
    if ends[0] > ends[-1] and not ax.xaxis_inverted():
        ax.invert_xaxis()


@dataclass(eq=False)
class Display:
    """A figure with one Axes: what it shows is its data, ``plot`` draws it, and where that was is kept.

    ``plot(ax, title=...)`` draws on these Axes, by default those of a new figure, under this title, and returns the
    display.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure it belongs to.
    """

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    def _drawn(self, ax: Axes, title: str | None = None) -> Self:
        """Keep where it was drawn, under this title."""
        if title is not None:
            ax.set_title(title)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(eq=False)
class Panels:
    """A figure with two panels, one above the other: a `Display` of two Axes.

    For ``plot`` they are two, or one whose place they take.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    axes_: tuple[Axes, Axes] = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    def _drawn(self, upper: Axes, lower: Axes, title: str | None = None) -> Self:
        """Keep where it was drawn, under this title."""
        if title is not None:
            upper.set_title(title)
        self.axes_, self.figure_ = (upper, lower), upper.figure
        return self


@dataclass(eq=False)
class CurvesDisplay(Display):
    """Several curves in one figure, by the names they have in the legend."""

    curves: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.curves:
            raise InputError("curves must hold at least one curve, got none")


def of_estimator(estimator: Any, attribute: str) -> tuple[Any, list[str] | None]:
    """Attribute of a fitted estimator, or of the last step of a pipeline; and the names of its features."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    found, names = (getattr(last, name, None) for name in (attribute, "feature_names_in_"))
    if found is None:
        raise InputError(f"estimator must be fitted and have {attribute}, got {what_it_is(last)}")
    return found, None if names is None else [str(name) for name in names]


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given Axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def panels(ax: Any) -> tuple[Axes, Axes]:
    """Return two panels one above the other: given Axes, in the place of given ones, or those of a new figure."""
    if ax is None:
        from matplotlib import pyplot as plt

        pair = plt.figure(figsize=(6.4, 6.4), layout="constrained").subplots(2, 1, height_ratios=(2, 1))
    elif hasattr(ax, "get_subplotspec"):
        spec = ax.get_subplotspec()
        if spec is None:
            raise InputError("ax must be an Axes of a subplot grid, or a pair of Axes")
        ax.set_axis_off()
        pair = spec.subgridspec(2, 1, height_ratios=(2, 1)).subplots()
    else:
        pair = list(ax)
        if len(pair) != 2:
            raise InputError(f"ax must be one Axes or a pair of them, got {len(pair)}")
    return pair[0], pair[1]


def axis_of(line: CostLine) -> str:
    """Natural axis of a line: ``"asymmetry"``, ``"mean cost"`` or ``"t"``; costs per sample have no asymmetry."""
    start, stop = line.start, line.stop
    if start.total == 0.0 < stop.total:
        return "mean cost"
    if isinstance(start, Costs) and start.total > 0.0 and abs(start.total - stop.total) <= 1e-12 * start.total:
        return "asymmetry"
    return "t"


def plain(text: str) -> str:
    """Text that matplotlib shows as it is: no formula between dollars, no leading underscore that hides a label."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
