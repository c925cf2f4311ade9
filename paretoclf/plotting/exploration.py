"""The picture of an exploration: the lines in the cost plane, and their curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.plotting.base import STYLES
from paretoclf.plotting.roc import roc_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False)
class ExplorationDisplay:
    """Left the cost plane: the ray, the lines of constant total, the costs that were chosen. Right the ROC curves.

    Parameters
    ----------
    exploration : Exploration
        What was explored.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import ExplorationDisplay
    >>> data = pc.datasets.load("twonorm", n=60)
    >>> found = pc.explore(pc.TwoCSVM(data.X, data.y), (2.0, 1.0), multiples=(1,), folds=2, inner=2)
    >>> ExplorationDisplay.from_exploration(found)  # display.plot() draws it
    ExplorationDisplay(exploration=Exploration(...))
    """

    exploration: Any
    ax_: Any = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    @classmethod
    def from_exploration(cls, exploration: Any) -> Self:
        """Collect what is shown."""
        return cls(exploration)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw both."""
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")[1]
        self._lines(ax[0])
        self._curves(ax[1], title)
        self.ax_, self.figure_ = ax, ax[0].figure
        return self

    def _lines(self, ax: Any) -> None:
        shown, found = self.exploration, self.exploration.found
        line = found.ray.line
        t = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 200)])
        ray = np.array([tuple(line.at(float(each))) for each in t])
        ax.plot(*ray.T, color="0.5", linewidth=1.2, label="ray: finds the total")
        lowest = min(shown.multiples) * found.best.total / 30
        for k, r in enumerate(shown.multiples):
            color, style = STYLES[k % len(STYLES)]
            share = np.concatenate([np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(0.5, 1e-9, 200)])
            total = r * found.best.total
            ax.plot(total * share, total * (1 - share), color=color, linestyle=style)
            ax.annotate(f"total {total:.3g}", (1.5 * lowest, 1.15 * total), color=color, fontsize="small")
        ax.plot(*tuple(found.best), "o", color="black", label=f"best on the ray: total {found.best.total:.3g}")
        top = 30 * max(max(shown.multiples) * found.best.total, line.stop.total)
        ax.set(xscale="log", yscale="log", xlim=(lowest, top), ylim=(lowest, top), xlabel="C_plus", ylabel="C_minus")
        ax.set_aspect("equal")
        ax.set_title("lines that were followed")
        ax.legend(loc="upper left", frameon=False, fontsize="small")

    def _curves(self, ax: Any, title: str | None) -> None:
        shown = self.exploration
        roc_axes(ax)
        for k, (r, curve) in enumerate(zip(shown.multiples, shown.found.curves, strict=True)):
            color, style = STYLES[k % len(STYLES)]
            ax.plot(curve.fpr, curve.tpr, color=color, linestyle=style, linewidth=0.8, label=f"line of total x {r:g}")
        envelope, judged = shown.envelope, shown.nested
        label = f"upper envelope (AUC {envelope.auc:.3f}, optimistic)"
        ax.plot(envelope.fpr, envelope.tpr, color="black", linewidth=0.8, marker=".", markersize=4, label=label)
        grid = np.linspace(0.0, 1.0, 401)
        ax.plot(
            grid, judged.tpr_at(grid).mean(axis=0), color="black", linewidth=2, label=f"nested (AUC {judged.auc:.3f})"
        )
        point = shown.select()
        label = f"for costs ({shown.costs.C_plus:g}, {shown.costs.C_minus:g})"
        ax.plot(point.fpr, point.tpr, "*", color="black", markersize=12, label=label)
        ax.legend(loc="lower right", frameon=False, fontsize="small")
        ax.set_title(title or "curves, chosen on validation folds")
