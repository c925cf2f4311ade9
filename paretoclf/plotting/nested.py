"""The picture of nested ROC curves: what was chosen elsewhere, judged here, with the band over the repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.plotting.base import STYLES, CurvesDisplay
from paretoclf.plotting.roc import roc_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class NestedRocDisplay(CurvesDisplay):
    """Nested ROC curves in one picture, each with the band over its repeats.

    Parameters
    ----------
    curves : mapping from str to NestedRoc
        Curves by the names they have in the legend.
    envelope : RocCurve, optional
        An upper envelope, chosen on the labels that judge it, to be drawn dotted and called optimistic.

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

    envelope: Any = None

    @classmethod
    def from_nested(cls, *curves: Any, envelope: Any = None) -> Self:
        """Collect curves, called by what was chosen."""
        return cls({curve.name: curve for curve in curves}, envelope)

    def plot(self, ax: Axes | None = None, *, band: bool = True, title: str | None = None) -> Self:
        """Draw the mean curve over the repeats, and the band.

        Parameters
        ----------
        band : bool
            Whether to shade from the smallest to the largest of the repeats.
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
        ax.legend(loc="lower right", frameon=False)
        return self._drawn(ax, title)
