"""The picture of two reduced convex hulls: samples in the plane, outlines, nearest points, and the line between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.plotting.base import NEGATIVE, POSITIVE, Display, new_axes
from paretoclf.problem.samples import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {1: POSITIVE, -1: NEGATIVE}


@dataclass(eq=False)
class HullsDisplay(Display):
    """Two reduced convex hulls of samples with two features (linear kernel).

    Parameters
    ----------
    hulls : ReducedHulls
        As `TwoNuSVM.hulls` returns them.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import HullsDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1.0, -1.0], 10)
    >>> hulls = pc.TwoNuSVM(rng.normal(size=(20, 2)) + y[:, None], y).hulls(0.5, 0.5)
    >>> HullsDisplay.from_hulls(hulls).hulls.meet  # display.plot() draws it
    False
    """

    hulls: Any

    @classmethod
    def from_hulls(cls, hulls: Any) -> Self:
        """Make the display of two hulls."""
        return cls(hulls)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw samples, outlines, nearest points and the line between.

        Raises
        ------
        InputError
            If there are no outlines: another kernel, or more than two features.
        """
        hulls = self.hulls
        outlines = {sign: hulls.outline(sign) for sign in (1, -1)}
        ax = new_axes(ax, 6.4, 4.8)
        X = dense(hulls.gram.features)
        points = {1: hulls.point_plus, -1: hulls.point_minus}
        shares = {1: hulls.nu_plus, -1: hulls.nu_minus}
        for sign, name in ((1, "positive"), (-1, "negative")):
            mine, colour = X[hulls.y == sign], COLOURS[sign]
            ax.scatter(mine[:, 0], mine[:, 1], s=14, color=colour, marker="o" if sign > 0 else "s", label=name)
            closed = np.vstack([outlines[sign], outlines[sign][:1]])
            ax.fill(closed[:, 0], closed[:, 1], color=colour, alpha=0.15)
            ax.plot(closed[:, 0], closed[:, 1], color=colour, lw=1, label=f"reduced hull, nu = {shares[sign]:g}")
            ax.plot(*points[sign], marker="*", ms=12, color=colour, mec="black", ls="none")
        ax.plot(*zip(points[1], points[-1], strict=True), color="black", lw=1, ls="--", label="nearest points")
        if not hulls.meet:
            rule = hulls.solution.classifier
            _line(ax, rule.w, rule.b)
        ax.set(xlabel="x1", ylabel="x2", title="The hulls meet: no classifier" if hulls.meet else "")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(fontsize="small")
        return self._drawn(ax)


def plot_hulls(hulls: Any, ax: Axes | None = None) -> HullsDisplay:
    """Draw two reduced convex hulls; see `HullsDisplay`."""
    return HullsDisplay.from_hulls(hulls).plot(ax)


def _line(ax: Axes, w: np.ndarray, b: float) -> None:
    """Draw ``w . x + b = 0`` across the picture, as far as it goes."""
    if not np.linalg.norm(w) > 0:
        raise InputError("w must not be 0")
    nearest = -b * w / (w @ w)
    along = np.array([-w[1], w[0]])
    ax.axline(tuple(nearest), tuple(nearest + along), color="0.4", lw=1)
