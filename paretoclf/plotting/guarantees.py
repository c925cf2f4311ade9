"""The picture of the best weighted guarantee at every weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.plotting.base import NEGATIVE, POSITIVE, Display, new_axes

#: Points that are drawn.
_POINTS = 401


@dataclass(eq=False)
class GuaranteePathDisplay(Display):
    """The best weighted guarantee between its bounds, over the weight of the negatives; and those of both classes.

    Parameters
    ----------
    path : GuaranteePath
        What to show.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting.guarantees import GuaranteePathDisplay
    >>> path = pc.trace(pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]]), theta=(0.4, 0.6), eps=1e-2)
    >>> theta, low, high = GuaranteePathDisplay.from_path(path).band()
    >>> bool((low <= high).all())
    True
    """

    path: Any

    @classmethod
    def from_path(cls, path: Any) -> Self:
        """Make the display of a path."""
        return cls(path)

    def weights(self) -> Array:
        """Weights that are drawn: those with bounds of their own, and a grid."""
        theta = self.path.theta
        grid = np.linspace(float(theta[0]), float(theta[-1]), _POINTS)
        return np.unique(np.concatenate([theta, grid]))

    def band(self) -> tuple[Array, Array, Array]:
        """Weights, and lower and upper bound of the best weighted guarantee."""
        theta = self.weights()
        bounds = np.array([self.path.bounds(each) for each in theta.tolist()])  # of minus the guarantee
        return theta, -bounds[:, 1], -bounds[:, 0]

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw it."""
        ax = new_axes(ax, 6.4, 4.2)
        theta, least, most = self.band()
        each = np.array([self.path.guarantees(at) for at in theta.tolist()])
        ax.fill_between(theta, least, most, color="black", alpha=0.25, linewidth=0)
        ax.plot(theta, least, color="black", linewidth=1.5, label="weighted guarantee")
        for k, (name, colour) in enumerate((("negatives", NEGATIVE), ("positives", POSITIVE))):
            ax.plot(theta, each[:, k], color=colour, linewidth=1.0, label=f"guarantee of the {name}")
        ax.set_xlabel("theta, the weight of the negatives")
        ax.set_ylabel("guaranteed rate")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax, title)
