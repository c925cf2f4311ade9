"""The picture of a trade-off curve: true positive rate over true negative rate, as in Kim et al. (2006)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.plotting.base import STYLES, Display, new_axes, of_estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class TradeoffDisplay(Display):
    """A trade-off curve, its ends of the middle segment, and points of it that were chosen.

    Parameters
    ----------
    curve : TradeoffCurve
        What to draw.
    ends : mapping from str to (float, float)
        Named points ``(tnr, tpr)``: the ends of the middle segment (A and B; C and D of Chebyshev bounds).
    auc : float, optional
        Area under the curve, for the legend.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import TradeoffDisplay
    >>> m = pc.Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> TradeoffDisplay.from_tradeoff(pc.gaussian_tradeoff(m)).curve  # display.plot() draws it
    TradeoffCurve(201 points, GaussianRate())
    """

    curve: Any
    ends: dict[str, tuple[float, float]] = field(default_factory=dict)
    auc: float | None = None

    @classmethod
    def from_tradeoff(cls, tradeoff: Any, n: int = 201) -> Self:
        """Make the display of a trade-off: n points of its curve, A and B (C and D of Chebyshev bounds), its area."""
        threshold = tradeoff.rates[0].threshold
        names = {-np.inf: ("A", "B"), 0.0: ("C", "D")}.get(threshold, ())
        ends = {name: (at.tnr, at.tpr) for name, at in zip(names, (tradeoff.A, tradeoff.B), strict=False)}
        return cls(tradeoff.curve(n), ends, tradeoff.auc)

    @classmethod
    def from_estimator(cls, estimator: Any, n: int = 201) -> Self:
        """Make the display of a fitted `ParetoGaussianClassifier`, or of a pipeline that ends in one."""
        return cls.from_tradeoff(of_estimator(estimator, "tradeoff_")[0], n)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        ends: bool = True,
        style: int = 0,
        title: str | None = None,
        **line: Any,
    ) -> Self:
        """Draw the curve; call it again with the same axes for another one.

        Parameters
        ----------
        name : str, optional
            Name in the legend, to which the area is appended. Default: how the curve is judged.
        ends : bool
            Whether to mark the ends of the middle segment.
        style : int
            Which of the colours and line styles of the house.
        **line
            Passed on to ``Axes.plot``.
        """
        ax = new_axes(ax, 5.6, 5.6)
        color, linestyle = STYLES[style % len(STYLES)]
        label = repr(self.curve.rates[0]) if name is None else name
        label = label if self.auc is None else f"{label} (area {self.auc:.3f})"
        drawn = {"label": label, "color": color, "linestyle": linestyle, "linewidth": 1.8, **line}
        ax.plot(self.curve.tnr, self.curve.tpr, **drawn)
        for end, (x, y) in self.ends.items() if ends else ():
            ax.plot([x], [y], "o", color=drawn["color"], markersize=4.5)
            beside = (6, 5) if x < 0.1 else (-12, 6 if y < 0.1 else -13)  # off the curve, inside the axes
            ax.annotate(end, (x, y), xytext=beside, textcoords="offset points")
        dress(ax)
        return self._drawn(ax, title)


def dress(ax: Axes) -> None:
    """Axes of the plane of the two rates, when everything is drawn in them."""
    ax.set(xlabel="true negative rate", ylabel="true positive rate", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    ax.grid(color="0.92", linewidth=0.6)
    ax.legend(loc="lower left", framealpha=0.9, edgecolor="none")
