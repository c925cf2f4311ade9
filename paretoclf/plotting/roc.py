"""The picture of several ROC curves and their hulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paretoclf.errors import InputError
from paretoclf.roc import RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Okabe and Ito's colours, told apart by colour-blind readers; line styles say the same once more.
STYLES = (("#0072B2", "--"), ("#D55E00", "-"), ("#009E73", "-."), ("#CC79A7", ":"), ("#56B4E9", (0, (5, 1))))


@dataclass(eq=False)
class RocDisplay:
    """ROC curves in one picture, each with its upper hull as a thin line.

    Parameters
    ----------
    curves : mapping from str to RocCurve
        Curves by the names they have in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure it belongs to.

    Raises
    ------
    InputError
        If there is no curve.

    Examples
    --------
    >>> from paretoclf.plotting import RocDisplay
    >>> from paretoclf.roc import roc_curve_of_scores
    >>> display = RocDisplay.from_curves(scores=roc_curve_of_scores([-1, 1, -1, 1], [0.1, 0.4, 0.4, 0.8]))
    >>> display  # display.plot() draws it
    RocDisplay(curves={'scores': RocCurve(intercept: 4 points, ...)})
    """

    curves: Mapping[str, RocCurve]
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.curves:
            raise InputError("curves must hold at least one curve, got none")

    @classmethod
    def from_curves(cls, *curves: RocCurve, **named: RocCurve) -> RocDisplay:
        """Collect curves; those without a name are called by what varies along them."""
        return cls({**{f"varying {curve.vary}": curve for curve in curves}, **named})

    def plot(self, ax: Axes | None = None, *, hull: bool = True, title: str | None = None) -> RocDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: a new figure.
        hull : bool
            Whether to draw the hulls.
        title : str, optional
            Title of the axes.

        Returns
        -------
        RocDisplay
            This object, with `ax_` and `figure_`.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(figsize=(6, 6), layout="constrained")[1]
        ax.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0, label="chance")
        for j, (name, curve) in enumerate(self.curves.items()):
            color, style = STYLES[j % len(STYLES)]
            curve.plot(ax, name=name, color=color, linestyle=style, linewidth=1.8)
            if hull:
                envelope = curve.hull()
                ax.plot(envelope.fpr, envelope.tpr, color=color, linewidth=0.8, alpha=0.6)
        ax.legend(loc="lower right", frameon=False)
        ax.grid(color="0.92", linewidth=0.6)
        if title is not None:
            ax.set_title(title)
        self.ax_, self.figure_ = ax, ax.figure
        return self
