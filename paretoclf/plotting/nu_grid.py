"""The grid of the 2nu-SVM: margin over (nu_plus, nu_minus), and where there is no classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.plotting.base import Display, new_axes


@dataclass(eq=False)
class NuGridDisplay(Display):
    """A quantity over the grid of the 2nu-SVM, one cell a solution; hatched where the reduced hulls meet.

    Parameters
    ----------
    grid : NuGrid
        What to show.
    values : array of shape (p, m), optional
        Numbers shown as colours; default: the distance of the reduced hulls, ``2 |w| / nu``.
    label : str
        Label of the colour bar.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import NuGridDisplay
    >>> svm = pc.TwoNuSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1])
    >>> NuGridDisplay.from_grid(pc.nu_grid(svm, [0.5, 1], [0.5, 1])).values.shape  # .plot() draws it
    (2, 2)
    """

    grid: Any
    values: Array
    label: str = "distance of the reduced hulls"

    @classmethod
    def from_grid(cls, grid: Any, values: Any = None, label: str | None = None) -> Self:
        """Make the display of a grid, coloured by values (p, m), such as an error, or by the distance of the hulls."""
        if values is None:
            return cls(grid, grid.distance)
        return cls(grid, np.asarray(values, dtype=np.float64), "" if label is None else label)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the grid.

        Parameters
        ----------
        title : str, optional
            Title; default: sizes and exchanges.
        """
        ax = new_axes(ax, 6.4, 5.4)
        grid = self.grid
        shown = np.ma.masked_where(grid.trivial | grid.refused, self.values)
        x, z = (cell_edges(nu) for nu in (grid.nu_plus, grid.nu_minus))
        mesh = ax.pcolormesh(x, z, shown.T, cmap="viridis", linewidth=0)
        ax.figure.colorbar(mesh, ax=ax, label=self.label)
        if grid.trivial.any():
            ax.set_facecolor("0.85")
            ax.plot([], [], "s", color="0.85", markersize=10, label="the hulls meet: no classifier")
        if grid.refused.any():
            row, column = np.nonzero(grid.refused)
            ax.plot(grid.nu_plus[row], grid.nu_minus[column], "x", color="0.5", markersize=3, label="refused")
        if grid.trivial.any() or grid.refused.any():
            ax.legend(loc="lower left", fontsize="small")
        ax.set_xlabel(r"$\nu_+$")
        ax.set_ylabel(r"$\nu_-$")
        p, m = grid.trivial.shape
        ax.set_title(
            f"{p} x {m} solutions of the 2nu-SVM, {grid.y.size} samples" if title is None else title, fontsize="medium"
        )
        return self._drawn(ax)


def cell_edges(centres: Array) -> Array:
    """Edges of cells around increasing centres."""
    if centres.size == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = 0.5 * (centres[1:] + centres[:-1])
    first = 2 * centres[0] - middle[0]
    last = 2 * centres[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])
