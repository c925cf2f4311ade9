"""The picture of nested ROC curves: what was chosen elsewhere, judged here, with the band over the repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paretoclf.empirical.nested import NestedRoc
from paretoclf.errors import InputError
from paretoclf.plotting.roc import STYLES, finish, roc_axes
from paretoclf.roc import RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False)
class NestedRocDisplay:
    """Nested ROC curves in one picture, each with the band over its repeats.

    Parameters
    ----------
    curves : mapping from str to NestedRoc
        Curves by the names they have in the legend.
    envelope : RocCurve, optional
        An upper envelope, chosen on the labels that judge it, to be drawn dotted and called optimistic.

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
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import NestedRocDisplay
    >>> data = pc.datasets.load("twonorm", n=60)
    >>> found = pc.cross_validated_roc(pc.TwoCSVM(data.X, data.y), (0.1, 1.9), (1.9, 0.1), repeats=2)
    >>> display = NestedRocDisplay.from_nested(found)
    >>> list(display.curves)  # display.plot() draws it
    ['both']
    """

    curves: Mapping[str, NestedRoc]
    envelope: RocCurve | None = None
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.curves:
            raise InputError("curves must hold at least one curve, got none")

    @classmethod
    def from_nested(cls, *curves: NestedRoc, envelope: RocCurve | None = None) -> NestedRocDisplay:
        """Collect curves, called by what was chosen."""
        return cls({curve.name: curve for curve in curves}, envelope)

    def plot(self, ax: Axes | None = None, *, band: bool = True, title: str | None = None) -> NestedRocDisplay:
        """Draw the mean curve over the repeats, and the band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: a new figure.
        band : bool
            Whether to shade from the smallest to the largest of the repeats.
        title : str, optional
            Title of the axes.

        Returns
        -------
        NestedRocDisplay
            This object, with `ax_` and `figure_`.
        """
        ax = roc_axes(ax)
        grid = np.concatenate([np.linspace(0.0, 0.1, 200, endpoint=False), np.linspace(0.1, 1.0, 200)])
        for j, (name, nested) in enumerate(self.curves.items()):
            color, style = STYLES[j % len(STYLES)]
            if band and len(nested.repeats) > 1:
                ax.fill_between(grid, *nested.band(grid), color=color, alpha=0.15, linewidth=0)
            mean, label = nested.tpr_at(grid).mean(axis=0), f"{name} (AUC {nested.auc:.3f})"
            ax.plot([0.0, *grid], [0.0, *mean], color=color, linestyle=style, linewidth=1.8, label=label)
        if self.envelope is not None:
            label = f"upper envelope (AUC {self.envelope.auc:.3f}, optimistic)"
            ax.plot(self.envelope.fpr, self.envelope.tpr, color="0.35", linestyle=":", linewidth=1.2, label=label)
        finish(ax, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self
