"""The picture of held-out errors along a line: both rates as the step functions that they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.plotting.base import (
    LABELS,
    NEGATIVE,
    POSITIVE,
    Display,
    axis_of,
    logarithmic,
    moving,
    new_axes,
    of_estimator,
    set_logarithmic,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ErrorCurveDisplay(Display):
    """False positive and false negative rate over the asymmetry (on a line of fixed total) or over t.

    A dot is a rate at one t alone, where a score touches 0. The minimax interval is shaded.

    Parameters
    ----------
    curve : ErrorCurve
        What to show.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import ErrorCurveDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> curve = pc.trace(svm, (0.4, 1.6), (1.6, 0.4)).error_curve([[0.5], [2.5]], [-1, 1])
    >>> ErrorCurveDisplay.from_curve(curve).parameter  # display.plot() draws it
    'asymmetry'
    """

    curve: Any

    @classmethod
    def from_curve(cls, curve: Any) -> Self:
        """Make the display of an error curve."""
        return cls(curve)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Make the display of the held-out errors of a fitted `CostPathSVCCV`, or of a pipeline that ends in one."""
        return cls(of_estimator(estimator, "errors_")[0])

    @property
    def parameter(self) -> str:
        """Parameter on the horizontal axis: ``"asymmetry"``, or the name of the curve's t."""
        line = self.curve.line
        return "asymmetry" if line is not None and axis_of(line) == "asymmetry" else self.curve.parameter

    def position(self, t: Array) -> Array:
        """Horizontal positions of path parameters."""
        if self.parameter != "asymmetry" or self.curve.line is None:
            return np.asarray(t)
        return np.array([self.curve.line.at(float(u)).asymmetry for u in t])

    def plot(self, ax: Axes | None = None, *, title: str | None = None, xscale: str | None = None) -> Self:
        """Draw both rates; ``xscale`` is "linear" (the default) or "log"."""
        log = logarithmic(xscale, self.position(self.curve.t), False)
        ax = new_axes(ax, 6.4, 4.0)
        curve, edges = self.curve, self.position(self.curve.t)
        for name, each, at, color, style in (
            ("false positive rate", curve.fpr, curve.false_positives_at / curve.n_minus, NEGATIVE, "--"),
            ("false negative rate", curve.fnr, curve.false_negatives_at / curve.n_plus, POSITIVE, "-"),
        ):
            ax.stairs(each, edges, baseline=None, label=name, color=color, linestyle=style, linewidth=1.5)
            before, after = np.append(each[:1], each), np.append(each, each[-1:])
            alone = (at != before) & (at != after)
            ax.plot(edges[alone], at[alone], ".", color=color, markersize=5)
        best = curve.minimax()
        for j, optimum in enumerate(best):
            label = f"minimax, chosen here: {optimum.objective:.3g}" if j == 0 else None
            low, high = np.sort(self.position(np.array([optimum.start, optimum.stop])))
            ax.axvspan(low, high, color="0.85", zorder=0, label=label)
        ax.set(xlabel=LABELS[self.parameter], ylabel="rate of errors", ylim=(-0.02, 1.02))
        first = edges[edges > 0.0].min() if log else edges.min()
        ax.set_xlim(first, edges.max())
        if log:
            set_logarithmic(ax)
        ax.grid(color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(framealpha=0.9, edgecolor="none")
        return self._drawn(ax, title)


@dataclass(eq=False)
class GridErrorsDisplay(Display):
    """Both error rates at the points of a sweep. No line joins them: between the points nothing is known.

    A vertical line is where the larger rate is smallest, on the labels that chose it.

    Parameters
    ----------
    curve : GridErrorCurve
        What to show.
    parameter : str, optional
        Horizontal axis; by default the first parameter that moves.

    Raises
    ------
    InputError
        If there is no such parameter.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import GridErrorsDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> curve = pc.sweep(svm, C_plus=[0.4, 1.0, 1.6], C_minus=1.0).error_curve([[0.5], [2.5]], [-1, 1])
    >>> GridErrorsDisplay.from_curve(curve).parameter  # display.plot() draws it
    'C_plus'
    """

    curve: Any
    parameter: str = ""

    def __post_init__(self) -> None:
        self.parameter = moving(self.curve.parameters, self.parameter)

    @classmethod
    def from_curve(cls, curve: Any, parameter: str | None = None) -> Self:
        """Make the display of a grid curve."""
        return cls(curve, parameter or "")

    def plot(self, ax: Axes | None = None, *, title: str | None = None, xscale: str | None = None) -> Self:
        """Draw both rates; ``xscale`` is "linear" or "log", the default where values span two decades."""
        log = logarithmic(xscale, np.asarray(self.curve.parameters[self.parameter]))
        ax = new_axes(ax, 6.4, 4.0)
        at = np.asarray(self.curve.parameters[self.parameter])
        for j, optimum in enumerate(self.curve.minimax()):
            label = f"minimax, chosen here: {optimum.objective:.3g}" if j == 0 else None
            ax.axvline(optimum.values[self.parameter], color="0.85", zorder=0, linewidth=3, label=label)
        ax.plot(at, self.curve.fpr, "s", color=NEGATIVE, label="false positive rate", markersize=5, fillstyle="none")
        ax.plot(at, self.curve.fnr, "o", color=POSITIVE, label="false negative rate", markersize=5)
        ax.set(xlabel=LABELS.get(self.parameter, self.parameter), ylabel="rate of errors", ylim=(-0.02, 1.02))
        if log:
            set_logarithmic(ax)
        ax.grid(color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(framealpha=0.9, edgecolor="none")
        return self._drawn(ax, title)
