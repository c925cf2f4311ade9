"""Pictures of tuning: the criterion over the grid as counted, smoothed, and on test samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.plotting.nu_grid import cell_edges

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LABELS = {"nu_plus": r"$\nu_+$", "nu_minus": r"$\nu_-$", "nu": r"$\nu$", "bandwidth": "bandwidth"}


@dataclass(eq=False)
class TuningDisplay:
    """The criterion over (nu_plus, nu_minus) at the chosen bandwidth, or over (bandwidth, nu) where there is one nu.

    The first panel is as counted, the second smoothed (if it was), the third on test samples (if they are given) by
    classifiers trained on all training samples: Figure 1 of Davenport, Baraniuk & Scott (2010). Cells without a
    classifier, and cells that a search did not evaluate, are left out. Where the criterion is infinite its score is
    shown. A cross marks the choice, a line the way of a coordinate descent.

    Parameters
    ----------
    tuned : Tuned
        Result of `tune`.
    panels : mapping from str to array
        Objective by title, all of one shape.
    x, y : (str, array)
        Name and values of the horizontal and of the vertical axis.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import TuningDisplay
    >>> data = pc.datasets.load("twonorm", n=60)
    >>> tuned = pc.tune(data.X, data.y, bandwidths=2, nu_plus=4)
    >>> {name: values.shape for name, values in TuningDisplay.from_tuned(tuned).panels.items()}  # .plot() draws it
    {'cross-validated': (4, 4), 'smoothed': (4, 4)}
    """

    tuned: Any
    panels: dict[str, Array]
    x: tuple[str, Array]
    y: tuple[str, Array]
    axes_: list[Axes] = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    @classmethod
    def from_tuned(cls, tuned: Any, X_test: Any = None, y_test: Any = None) -> Self:
        """Make the display of a result.

        Raises
        ------
        InputError
            If the method has no grid, or one of X_test and y_test is missing.
        """
        if (X_test is None) != (y_test is None):
            raise InputError("X_test and y_test must be given both or neither")
        if tuned.arrays is None or tuned.cell is None:
            raise InputError(f"there are no error arrays to draw for method {tuned.method!r}")
        arrays, names = tuned.arrays, list(tuned.arrays.axes)
        here = tuned.cell[0] if "nu_plus" in names else slice(None)
        across, up = names[-2:]
        panels = {"cross-validated": tuned.criterion.score(arrays.fpr, arrays.fnr)[here]}
        if tuned.window is not None:
            panels["smoothed"] = tuned.criterion.score(*tuned.smoothed)[here]
        if X_test is not None:
            panels["test samples"] = tuned.criterion.score(*tuned.held_out(X_test, y_test))
        return cls(tuned, panels, (across, arrays.axes[across]), (up, arrays.axes[up]))

    @property
    def size(self) -> tuple[float, float]:
        """Size of a figure with all panels, in inches."""
        return 1.2 + 3.4 * len(self.panels), 3.9

    def plot(self, axes: Any = None) -> Self:
        """Draw the panels beside each other.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            One for each panel; default: a new figure.
        """
        if axes is None:
            from matplotlib import pyplot as plt

            axes = plt.figure(figsize=self.size, layout="constrained").subplots(1, len(self.panels), sharey=True)
        self.axes_ = list(np.atleast_1d(np.asarray(axes, dtype=object)))
        self.figure_ = self.axes_[0].figure
        known = np.concatenate([values[~np.isnan(values)] for values in self.panels.values()])
        low, high = known.min(), max(known.max(), known.min() + 1e-12)
        top = min(high, max(1.0, low))  # a score is above 1 far from where it matters
        for ax, (title, values) in zip(self.axes_, self.panels.items(), strict=True):
            ax.set_facecolor("0.85")
            edges = cell_edges(self._positions), cell_edges(self.y[1])
            mesh = ax.pcolormesh(*edges, np.ma.masked_invalid(values).T, cmap="viridis", vmin=low, vmax=top)
            self._way(ax)
            ax.set_title(title, fontsize="medium")
            ax.set_xlabel(LABELS[self.x[0]])
            if self.x[0] == "bandwidth":
                shown = self._positions[:: -(-self._positions.size // 6)]
                ax.set_xticks(shown, [f"{self.x[1][int(k)]:.2g}" for k in shown])
        self.axes_[0].set_ylabel(LABELS[self.y[0]])
        name = str(self.tuned.criterion) if self.tuned.criterion.level is None else "Neyman-Pearson score"
        name = "larger error rate" if name == "Minimax()" else name
        self.figure_.colorbar(mesh, ax=self.axes_, label=name, extend="max" if top < high else "neither")
        at = self.tuned.parameters.get("bandwidth")
        if at is not None and self.x[0] != "bandwidth":
            self.figure_.suptitle(f"bandwidth {at:.3g}", fontsize="medium")
        return self

    @property
    def _positions(self) -> Array:
        """Horizontal positions of the columns: bandwidths one after the other."""
        name, values = self.x
        return np.arange(values.size, dtype=np.float64) if name == "bandwidth" else values

    def _way(self, ax: Axes) -> None:
        """Draw the chosen cell, and the steps of a descent at this bandwidth."""
        chosen = self.tuned.cell
        assert chosen is not None
        cells = [step.cell for step in self.tuned.trace]
        if len(chosen) > 2:
            cells = [cell for cell in cells if cell[0] == chosen[0]]
        x, y = self._positions, self.y[1]
        if len(cells) > 1:
            column, row = np.array(cells)[:, -2:].T
            ax.plot(x[column], y[row], "-", color="w", linewidth=1)
        column, row = chosen[-2:]
        ax.plot(x[column], y[row], "x", color="#D55E00", markersize=9, markeredgewidth=2)
