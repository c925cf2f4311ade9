"""The critical-difference diagram: mean ranks on a line, and bars over methods that do not differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.plotting.base import Display, new_axes


@dataclass(eq=False)
class RankDisplay(Display):
    """Mean ranks of methods, the best to the left; a bar joins methods that the test cannot tell apart.

    Parameters
    ----------
    comparison : RankComparison
        What to show.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import RankDisplay
    >>> found = pc.empirical.compare_ranks([[0.1, 0.2, 0.4], [0.1, 0.3, 0.2], [0.2, 0.3, 0.5]], ["a", "b", "c"])
    >>> RankDisplay.from_comparison(found).comparison.groups  # .plot() draws it
    (('a', 'b', 'c'),)
    """

    comparison: Any

    @classmethod
    def from_comparison(cls, comparison: Any) -> Self:
        """Make the display of a comparison."""
        return cls(comparison)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the diagram."""
        found = self.comparison
        k, order = found.ranks.size, np.argsort(found.ranks, kind="stable")
        groups, half = found.groups, (found.ranks.size + 1) // 2
        depth = 0.5 + 0.35 * len(groups)
        ax = new_axes(ax, 7.0, 1.3 + 0.28 * (half + depth))
        ax.set_axis_off()
        ax.set_xlim(1 - 0.45 * (k - 1), k + 0.45 * (k - 1))
        ax.set_ylim(depth + half + 0.3, -2.4)
        ax.plot([1, k], [0, 0], "k-", linewidth=1)
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, -0.2], "k-", linewidth=1)
            ax.text(rank, -0.35, str(rank), ha="center", va="bottom", fontsize="small")
        cd = found.critical_difference
        ax.plot([1, 1 + cd], [-1.5, -1.5], "k-", linewidth=2)
        ax.text(1 + cd / 2, -1.65, f"critical difference {cd:.2f}", ha="center", va="bottom", fontsize="small")
        for place, j in enumerate(order):
            left = place < half
            row = depth + (place if left else k - 1 - place)
            edge, align = (1 - 0.05 * (k - 1), "right") if left else (k + 0.05 * (k - 1), "left")
            ax.plot([found.ranks[j], found.ranks[j], edge], [0, row, row], color="0.4", linewidth=0.8)
            name, shown = found.names[j], f"{found.ranks[j]:.2f}"
            ax.text(edge, row, f"{name}  {shown} " if left else f" {shown}  {name}", ha=align, va="center")
        for level, group in enumerate(groups):
            ends = [found.ranks[found.names.index(name)] for name in (group[0], group[-1])]
            ax.plot([ends[0] - 0.04, ends[1] + 0.04], [0.4 + 0.35 * level] * 2, color="#D55E00", linewidth=3.5)
        if title is not None:
            ax.set_title(title, fontsize="medium")
        return self._drawn(ax)
