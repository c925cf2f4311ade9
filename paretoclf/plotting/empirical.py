"""The picture of empirical trade-off curves: held-out points, monotone fits and confidence bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.plotting.base import STYLES, Display, new_axes
from paretoclf.plotting.tradeoff import dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class EmpiricalDisplay(Display):
    """Empirical trade-off curves in one picture (Kim et al. 2006, figure 3).

    Parameters
    ----------
    tradeoffs : sequence of EmpiricalTradeoff
        What to show; each by its `name`.

    Raises
    ------
    InputError
        If there is nothing to show.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import EmpiricalDisplay
    >>> data = pc.datasets.load("twonorm", n=60)
    >>> line = ((0.02, 1.98), (1.98, 0.02))
    >>> found = pc.empirical_tradeoff(data.X, data.y, lambda X, y: pc.trace(pc.TwoCSVM(X, y), *line), splits=2)
    >>> len(EmpiricalDisplay.from_tradeoffs(found).tradeoffs)  # display.plot() draws it
    1
    """

    tradeoffs: Sequence[Any]

    def __post_init__(self) -> None:
        if not self.tradeoffs:
            raise InputError("tradeoffs must hold at least one, got none")

    @classmethod
    def from_tradeoffs(cls, *tradeoffs: Any) -> Self:
        """Make the display of one or several."""
        return cls(tradeoffs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        points: bool = True,
        level: float | None = 0.9,
        draws: int = 200,
        title: str | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        points : bool
            Whether to show the held-out rates of all splits; more splits at a point make it darker.
        level : float in (0, 1), optional
            Pointwise level of the band; None: no band.
        draws : int
            Bootstrap draws behind the band.
        """
        from matplotlib.colors import to_rgba

        ax = new_axes(ax, 6, 6)
        for j, each in enumerate(self.tradeoffs):
            color, style = STYLES[j % len(STYLES)]
            name = f"{each.name} (area {each.area:.3f})".strip()
            if points:
                at, count = np.unique(np.column_stack(each.points), axis=0, return_counts=True)
                shade = np.clip(count / len(each.parts), 0.03, 0.5)
                ink = [to_rgba(color, float(alpha)) for alpha in shade]
                ax.scatter(at[:, 0], at[:, 1], s=7, color=ink, linewidths=0, zorder=1)
            if level is not None:
                band = each.band(level, draws=draws)
                ax.fill_between(band.tnr, band.lower, band.upper, color=color, alpha=0.2, linewidth=0, zorder=2)
            x = np.union1d(each.fit.x, [0.0, 1.0])
            ax.plot(x, each.fit(x), color=color, linestyle=style, linewidth=1.8, label=name, zorder=3)
        ax.plot([0, 1], [1, 0], color="0.75", linewidth=1, zorder=0)
        dress(ax)
        return self._drawn(ax, title)
