"""The map of the cost plane, with the two lines that are usually traced, and the level sets of a held-out error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import Display, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RAY, LINE, LEVELS = "#D55E00", "#CC79A7", "black"
_GRID = 120  # points per side at which the error is evaluated to choose the levels that are drawn
_LABEL = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
_SHARES = (0.35, 0.6, 0.85)  # of the rectangle, within a level set


@dataclass(eq=False)
class PlaneDisplay(Display):
    """A map of the cost plane: one polygon per affine piece of the solution, coloured by the size of its margin set.

    Over it the balanced ray ``C_plus s_+ = C_minus s_-`` (s the sums of weights), the line of fixed total through the
    middle of the rectangle, along which only the asymmetry changes, and the exact level sets of the error on held-out
    samples.

    Parameters
    ----------
    plane : CostPlane
        What to show.
    X : array of shape (m, d), optional
        Held-out samples; for a precomputed kernel their values against the training samples, shape (m, n).
    y : array of shape (m,), optional
        Their labels.

    Raises
    ------
    InputError
        If only one of X and y is given, or they do not fit.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import PlaneDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> display = PlaneDisplay.from_plane(pc.plane(svm, (0.05, 2), (0.05, 2)), [[0.2], [2.4]], [-1, 1])
    >>> display.errors([0.5, 1.5], [0.5, 1.5])  # display.plot() draws it
    array([[0. , 0.5],
           [0.5, 0. ]])
    """

    plane: Any
    X: Any = None
    y: Any = None

    def __post_init__(self) -> None:
        if (self.X is None) != (self.y is None):
            raise InputError("X and y must be given together, got one without the other")
        if self.y is not None:
            check_labels(self.y, len(self.X))

    @classmethod
    def from_plane(cls, plane: Any, X: Any = None, y: Any = None) -> Self:
        """Make the display of a map, with held-out samples if there are any."""
        return cls(plane, X, y)

    def errors(self, C_plus: Any, C_minus: Any) -> Array:
        """Share of held-out samples that are misclassified, on a grid of costs; shape (size of C_minus, of C_plus)."""
        if self.X is None:
            raise InputError("X and y must be given for held-out errors")
        x, z = np.asarray(C_plus, dtype=np.float64), np.asarray(C_minus, dtype=np.float64)
        numbers = self.plane.region_numbers(x, z)
        which, count = np.unique(numbers, return_counts=True)
        places = np.split(np.argsort(numbers, axis=None, kind="stable"), np.cumsum(count)[:-1])
        truth, out = np.asarray(self.y) > 0, np.empty(numbers.shape)
        for scores, place in zip(self.plane.score_maps(self.X, which), places, strict=True):
            row, column = np.unravel_index(place, numbers.shape)
            at = np.stack([np.ones(row.size), x[column], z[row]])
            out[row, column] = ((scores @ at >= 0) != truth[:, None]).mean(axis=0)
        return out

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        title : str, optional
            Title; default: numbers of regions and samples.
        """
        from matplotlib.collections import PolyCollection

        ax = new_axes(ax, 7.2, 6.2)
        plane, sizes = self.plane, self.plane.n_margin
        thin = 0.6 if len(plane.regions) < 200 else 0.3 if len(plane.regions) < 3000 else 0.0
        outlines = [region.polygon for region in plane.regions]
        count = int(np.ptp(sizes)) + 1
        edges = "white" if thin else "face"
        polygons = PolyCollection(outlines, array=sizes, cmap=_shades(count), edgecolors=edges, linewidths=thin or 0.2)
        polygons.set_clim(sizes.min() - 0.5, sizes.max() + 0.5)
        ax.add_collection(polygons)
        step = max(1, -(-count // 12))
        ticks = np.arange(sizes.min(), sizes.max() + 1, step)
        ax.figure.colorbar(polygons, ax=ax, label="size of the margin set", ticks=ticks)
        for (x, z), color, style, name in self._lines():
            ax.plot(x, z, color="white", linewidth=3.4, solid_capstyle="butt")
            ax.plot(x, z, color=color, linestyle=style, linewidth=2.0, label=name)
        if self.X is not None:
            self._levels(ax)
        ax.set_xlim(*plane.C_plus)
        ax.set_ylim(*plane.C_minus)
        ax.set_xlabel(r"$C_+$, cost of a false negative")
        ax.set_ylabel(r"$C_-$, cost of a false positive")
        ax.set_title(f"{len(plane.regions)} optimal pieces, {plane.y.size} samples" if title is None else title)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.11), ncols=3, fontsize="small", frameon=False)
        return self._drawn(ax)

    def _lines(self) -> list[tuple[tuple[Array, Array], str, str, str]]:
        """Balanced ray and asymmetry line, as far as they are in the rectangle."""
        plane = self.plane
        plus, minus = plane.unit_caps.sum(axis=0)
        (left, right), (bottom, top) = plane.C_plus, plane.C_minus
        total = 0.5 * (left + right + bottom + top)
        first, last = max(left, bottom * minus / plus), min(right, top * minus / plus)
        found = []
        if first < last:
            x = np.array([first, last])
            found.append(((x, x * plus / minus), RAY, "-", "balanced ray"))
        first, last = max(left, total - top), min(right, total - bottom)
        x = np.array([first, last])
        found.append(((x, total - x), LINE, "-", f"asymmetry line, $C_+ + C_- = {total:.3g}$"))
        return found

    def _levels(self, ax: Axes) -> None:
        """Draw level sets of the held-out error, with labels."""
        from matplotlib.collections import LineCollection

        corners = np.array([self.plane.C_plus, self.plane.C_minus], dtype=np.float64)
        low, high = corners.T
        errors = self.errors(np.linspace(low[0], high[0], _GRID), np.linspace(low[1], high[1], _GRID))
        values = np.unique(errors)
        if values.size < 2:
            return
        # The error is a step function: a level lies between two of the values that it takes.
        wanted = np.quantile(errors, _SHARES)
        after = np.unique(np.clip(np.searchsorted(values, wanted, side="right"), 1, values.size - 1))
        levels = 0.5 * (values[after - 1] + values[after])
        exact = self.plane.error_map(self.X, self.y)
        taken: list[Array] = []
        for level in levels:
            pieces = exact.level(float(level))
            ax.add_collection(LineCollection(list(pieces), colors=LEVELS, linewidths=1.1))
            for place in _places(pieces, low, high, taken):
                taken.append(place)
                x, y = place.tolist()
                ax.text(x, y, f"{100 * level:.0f} %", fontsize="small", ha="center", va="center", bbox=_LABEL)
        ax.plot([], [], color=LEVELS, linewidth=1.1, label="held-out error")


def _places(pieces: Array, low: Array, high: Array, taken: list[Array]) -> list[Array]:
    """Places of labels: a level set crosses a row near the top or a column near the right there, away from others."""
    found: list[Array] = []
    near = low + 0.86 * (high - low)
    for axis in (1, 0):
        away = pieces[:, :, axis] - near[axis]
        crossing = pieces[away[:, 0] * away[:, 1] < 0]
        for start, stop in crossing:
            share = (near[axis] - start[axis]) / (stop[axis] - start[axis])
            place = start + share * (stop - start)
            if all(np.abs((place - other) / (high - low)).sum() > 0.09 for other in (*taken, *found)):
                found.append(place)
    return found


def _shades(count: int) -> Any:
    """As many colours, light to dark, without the dark end in which lines would be lost."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["GnBu"](np.linspace(0.1, 0.95, max(count, 1))))
