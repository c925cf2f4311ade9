"""The picture of the map of a program: its regions, or bands of a value over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import Display, new_axes, plain

#: Points per side at which what is drawn in bands is evaluated.
_GRID = 121
#: So many lines between bands.
_LEVELS = 12
_HATCH = "////"


@dataclass(eq=False)
class ProblemMapDisplay(Display):
    """A map of two parameters: one polygon for each piece of the optimum, coloured by how many inequalities are tight.

    Parts without an optimum are hatched. In place of that number there may be bands of the value, or of one entry of
    a variable or of the multipliers of a constraint, over the borders of the regions.

    Parameters
    ----------
    found : ProblemMap
        What to show.
    what : str
        ``"regions"``, ``"value"``, or the name of a variable or constraint, or of an entry, ``"u[0]"``.
    index : int or tuple of int, optional
        Which entry of it; none of what is a number.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import ProblemMapDisplay
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"q": [1.0]}, "b": {"l": [1.0]}})
    >>> display = ProblemMapDisplay.from_map(pc.plane(qp, {"a": (-2, 2), "b": (0, 1)}), "x", 0)
    >>> display.values([-1.0, 1.0], [0.5]).tolist()  # display.plot() draws it
    [[1.0, 0.5]]
    """

    found: Any
    what: str = "regions"
    index: Any = None

    def __post_init__(self) -> None:
        own = self.found.plane.line.readings
        entry = re.fullmatch(r"(.+)\[([\d, ]+)\]", self.what) if isinstance(self.what, str) else None
        if entry and self.index is None and self.what not in own:  # as to_python has it
            self.what, self.index = entry[1], tuple(int(k) for k in entry[2].split(","))
        if self.what not in ("regions", *own):
            known = ", ".join(["regions", *own])
            raise InputError(f"what must be one of {known}, got {self.what!r:.100}")
        shape = own[self.what].shape if own.get(self.what) else ()
        index = () if self.index is None else self.index if isinstance(self.index, tuple) else (self.index,)
        if len(index) != len(shape) or not all(
            isinstance(k, int) and 0 <= k < size for k, size in zip(index, shape, strict=True)
        ):
            allowed = f"be of an entry of {self.what}, whose shape is {shape}" if shape else "be left out"
            raise InputError(f"index must {allowed}, got {self.index!r:.100}")
        self.index = index

    @classmethod
    def from_map(cls, found: Any, what: str = "regions", index: Any = None) -> Self:
        """Make the display of a map."""
        return cls(found, what, index)

    def values(self, first: Any, second: Any) -> Array:
        """Numbers for the bands on a grid, shape (size of second, size of first); nan without an optimum."""
        axes = [np.asarray(each, dtype=np.float64) for each in (first, second)]
        x, y = np.meshgrid(*axes)
        points = np.stack([x.ravel(), y.ravel()], axis=1)
        found = self.found.values(self.what, points)
        return np.asarray(found[(slice(None), *self.index)].reshape(x.shape))

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        title : str, optional
            Title; default: what is shown, and how many regions there are.
        """
        from matplotlib.collections import PolyCollection
        from matplotlib.ticker import MaxNLocator

        ax = new_axes(ax, 6.4, 5.2)
        found = self.found
        polygons = [region.polygon for region in found.regions]
        thin = 0.7 if len(polygons) < 200 else 0.3 if len(polygons) < 3000 else 0.1
        if self.what == "regions":
            sizes = np.array([len(region.tight) for region in found.regions])
            drawn = PolyCollection(polygons, array=sizes, cmap="GnBu", edgecolors="white", linewidths=thin)
            drawn.set_clim(sizes.min() - 0.5, sizes.max() + 0.5)
            ax.add_collection(drawn)
            ticks = np.unique(np.linspace(sizes.min(), sizes.max(), 8).round())
            ax.figure.colorbar(drawn, ax=ax, label="inequalities that are tight", ticks=ticks)
        else:
            ax.add_collection(PolyCollection(polygons, facecolors="none", edgecolors="white", linewidths=thin))
        for part in found.outside:
            ax.fill(*part.polygon.T, facecolor="0.93", edgecolor="0.6", hatch=_HATCH, linewidth=0.0)
            middle = part.polygon.mean(axis=0)
            ax.text(*middle.tolist(), part.verdict, ha="center", va="center", fontsize="small")
        low, width = found.frame
        (a, b), (c, d) = zip(low.tolist(), (low + width).tolist(), strict=True)
        if self.what != "regions":
            x, y = np.linspace(a, b, _GRID), np.linspace(c, d, _GRID)
            values = self.values(x, y)
            least, most = np.nanmin(values), np.nanmax(values)
            if most > least:
                levels = np.linspace(least, most, _LEVELS + 2)  # plateaus at either end have a colour of their own
                bands = ax.contourf(x, y, np.ma.masked_invalid(values), levels=levels, cmap="viridis", zorder=0)
                # Labels on the bands would pile up where these are narrow, and their borders are no round numbers.
                ax.figure.colorbar(bands, ax=ax, ticks=MaxNLocator(8))
        ax.set_xlim(a, b)
        ax.set_ylim(c, d)
        names = [plain(name) for name in found.ranges]
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        entry = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        usual = f"{len(polygons)} regions"
        usual = usual if self.what == "regions" else f"{plain(self.what)}{entry}, {usual}"
        return self._drawn(ax, usual if title is None else title)
