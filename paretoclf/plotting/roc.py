"""The picture of several ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.plotting.base import STYLES, CurvesDisplay, new_axes
from paretoclf.problem.costs import Costs, as_costs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class RocDisplay(CurvesDisplay):
    """ROC curves in one picture; on request each with its upper envelope as a thin line.

    Classifiers chosen by the labels that judge them are called optimistic in the legend.

    Parameters
    ----------
    curves : mapping from str to RocCurve
        Curves by the names they have in the legend.

    Raises
    ------
    InputError
        If there is no curve.

    Examples
    --------
    >>> from paretoclf.plotting import RocDisplay
    >>> from paretoclf.roc import roc_of_scores
    >>> display = RocDisplay.from_curves(scores=roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1]))
    >>> display  # display.plot() draws it
    RocDisplay(curves={'scores': RocCurve(intercept: 4 points, ...)})
    """

    @classmethod
    def from_curves(cls, *curves: Any, **named: Any) -> Self:
        """Collect curves; those without a name are called by what varies along them."""
        return cls({**{f"varying {curve.vary}" if curve.vary else "curve": curve for curve in curves}, **named})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        hull: bool = False,
        costs: Costs | tuple[float, float] | None = None,
        prior_plus: float | None = None,
        title: str | None = None,
        **line: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        hull : bool
            Whether to draw the upper envelopes, too: what choosing by these labels would promise.
        costs : Costs or (C_plus, C_minus), optional
            Mark the classifier of all curves with the smallest expected cost, and draw the line of equal cost that
            touches it, with others of larger costs below (Bach et al. 2006, figure 2).
        prior_plus : float, optional
            Probability of a positive for the costs. Default: the share of positives behind the first curve.
        **line
            Passed on to ``Axes.plot`` for every curve.
        """
        ax = roc_axes(ax)
        envelopes = 0
        for j, (name, curve) in enumerate(self.curves.items()):
            color, style = STYLES[j % len(STYLES)]
            flatters = ", optimistic" if curve.chosen else ""
            label = f"{name} (AUC {curve.auc:.3f}{flatters})"
            look: dict[str, Any] = {"color": color, "linestyle": style, "linewidth": 1.8, "label": label, **line}
            ax.plot(curve.fpr, curve.tpr, **look)
            if hull and not curve.chosen:
                envelope = curve.hull()
                text = None if envelopes else "upper envelopes (optimistic)"
                ax.plot(envelope.fpr, envelope.tpr, color=look["color"], linewidth=0.8, alpha=0.6, label=text)
                envelopes += 1
        if costs is not None:
            self._equal_costs(ax, as_costs(costs), prior_plus)
        ax.legend(loc="lower right", frameon=False)
        return self._drawn(ax, title)

    def _equal_costs(self, ax: Axes, costs: Costs, prior_plus: float | None) -> None:
        first = next(iter(self.curves.values()))
        prior = first.n_plus / (first.n_plus + first.n_minus) if prior_plus is None else prior_plus
        of_curves = [curve.best(costs, prior)[0] for curve in self.curves.values()]
        best = min(of_curves, key=lambda point: point.cost)
        miss, alarm = prior * costs.C_plus, (1.0 - prior) * costs.C_minus
        along = np.array([miss, alarm]) / np.hypot(miss, alarm)
        worse = np.array([along[1], -along[0]])
        for step in range(4):
            middle = np.array([best.fpr, best.tpr]) + 0.12 * step * worse
            ends = middle + np.outer([-2.0, 2.0], along)
            label = None if step else f"equal cost {best.cost:.3g}, larger below"
            ax.plot(*ends.T, color="0.35", linewidth=1.2 if step == 0 else 0.6, linestyle="--", zorder=1, label=label)
        ax.plot(best.fpr, best.tpr, "o", color="black", markersize=5, zorder=3)


def roc_axes(ax: Axes | None) -> Axes:
    """Axes for ROC curves, with the line of chance: those given, or a new figure's."""
    ax = new_axes(ax, 6, 6)
    ax.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0, label="chance")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("equal")
    ax.grid(color="0.92", linewidth=0.6)
    return ax
