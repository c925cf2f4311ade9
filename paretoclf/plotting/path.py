"""The picture of a path: its coefficients or multipliers, and below them the proof that each classifier is optimal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import (
    FLOOR,
    GREY,
    LABELS,
    NAMED,
    NEGATIVE,
    POSITIVE,
    Panels,
    axis_of,
    logarithmic,
    of_estimator,
    panels,
    plain,
    run_as_t,
    set_logarithmic,
)
from paretoclf.problem.costs import CostLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The gap that every classifier of a path must stay below.
REQUIRED = 1e-9
_REQUIRED_LABEL = r"required: $10^{-9}$"

#: Colours and names of the sets, from right to left.
_SETS = ("#e8e8e8", "#f2b134", "#3b6fb6")
_SET_NAMES = ("right: alpha = 0", "margin set", "left: alpha at its cap")

_KNOTS = 1500  # positions at which curves are evaluated, at most
_MULTIPLIERS = 40


@dataclass(eq=False)
class PathDisplay(Panels):
    """A path in two panels: coefficients (linear kernel) or multipliers over their caps, and the duality gap.

    The horizontal axis is the asymmetry where the total is fixed, the mean cost (logarithmic) on a line from zero
    costs, and the path parameter on any other line: t, tau, or the positives' share of the margin. Along a path of
    margins neither coefficients nor multipliers move; the upper panel has the two margins.

    Parameters
    ----------
    path : Path, QuantilePath or MarginPath
        What to show.
    feature_names : sequence of str, optional
        Names of the coefficients in the legend; default those of the frame, or x1, x2, ...

    Raises
    ------
    InputError
        If the number of names is not that of the features.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting.path import PathDisplay
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> display = PathDisplay.from_path(pc.trace(svm, (0, 0), (1, 1)))
    >>> display.parameter  # display.plot() draws it
    'mean cost'
    """

    path: Any
    feature_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        width = self.path.gram.X.shape[1]
        if self.feature_names is not None and len(self.feature_names) != width:
            raise InputError(f"feature_names must have one name per feature ({width}), got {len(self.feature_names)}")

    @classmethod
    def from_path(cls, path: Any, feature_names: Sequence[str] | None = None) -> Self:
        """Make the display of a path."""
        return cls(path, feature_names)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Make the display of the ``path_`` of a fitted estimator, or of a pipeline that ends in one."""
        return cls(*of_estimator(estimator, "path_"))

    @property
    def parameter(self) -> str:
        """Parameter on the horizontal axis: ``"asymmetry"``, ``"mean cost"``, or the path's own."""
        line = getattr(self.path, "line", None)  # of a path through the cost plane
        return axis_of(line) if isinstance(line, CostLine) else self.path.parameter

    def position(self, t: Any) -> Array:
        """Horizontal positions of path parameters."""
        points = np.atleast_1d(np.asarray(t, dtype=np.float64))
        if self.parameter == "asymmetry":
            return np.array([self.path.costs(float(u)).asymmetry for u in points])
        if self.parameter == "mean cost":
            return points * float(self.path.caps(1.0).mean())
        return points

    def log(self, xscale: str | None = None) -> bool:
        """Whether the horizontal axis is logarithmic: mean costs are, and nu where it spans two decades."""
        usual = None if self.parameter == "nu" else self.parameter == "mean cost"
        return logarithmic(xscale, self.position(self.path.breakpoints), usual)

    def plot(self, ax: Any = None, *, title: str | None = None, sets: bool = False, xscale: str | None = None) -> Self:
        """Draw the two panels.

        Parameters
        ----------
        xscale : {"linear", "log"}, optional
            By default mean costs are on a logarithmic axis, as is nu where the path spans two decades of it.
        sets : bool
            Show in the upper panel which set each sample is in, one row a sample, in place of coefficients and
            multipliers: of many features or samples these are a tangle.
        """
        log = self.log(xscale)
        upper, lower = panels(ax)
        knots = self.knots()
        if sets:
            self._sets(upper, knots)
        elif hasattr(self.path, "margins"):
            self._margins(upper, self.path, knots)
        elif self.path.gram.linear:
            self._coefficients(upper, knots)
        else:
            self._multipliers(upper, knots)
        self._gap(lower)
        for panel in (upper, lower):
            shown = self.position(knots)
            first = shown[shown > 0.0].min() if log else shown.min()
            panel.set_xlim(first, shown.max())
            if log:
                set_logarithmic(panel)
            run_as_t(panel, shown)
            panel.grid(color="0.92", linewidth=0.6)
            panel.spines[["top", "right"]].set_visible(False)
        upper.tick_params(labelbottom=False)
        lower.set_xlabel(LABELS[self.parameter])
        self._drawn(upper, lower, title)
        if sets:
            upper.grid(False)
            upper.set_title(upper.get_title(), pad=24)  # above the legend
        return self

    def knots(self) -> Array:
        """Parameters at which curves are evaluated: breakpoints (all, or evenly chosen) and a grid as dense."""
        ends = self.path.breakpoints
        if self.parameter == "mean cost":
            # Before the first breakpoint nothing happens: show a factor of two of it on the logarithmic axis.
            first = 0.5 * ends[1] if ends.size > 2 else 1e-3
            ends = ends[ends > 0.0]
            grid = np.geomspace(first, 1.0, 300)
        else:
            grid = np.linspace(ends[0], ends[-1], 300)
        if ends.size > _KNOTS:
            ends = ends[np.linspace(0, ends.size - 1, _KNOTS).astype(int)]
        return np.unique(np.concatenate([grid, ends]).clip(*self.path.breakpoints[[0, -1]]))

    def _coefficients(self, ax: Axes, knots: Array) -> None:
        w = np.stack([self.path.slope(float(t)) for t in knots])
        x = self.position(knots)
        names = self.feature_names or self.path.gram.names or [f"x{j + 1}" for j in range(w.shape[1])]
        order = np.argsort(-np.abs(w).max(axis=0), kind="stable")
        named, others = order[: len(NAMED)], order[len(NAMED) :]
        for k, j in enumerate(others):
            label = f"{others.size} smaller ones" if k == 0 else None
            ax.plot(x, w[:, j], color=GREY, linewidth=0.8, label=label, zorder=1)
        for color, j in zip(NAMED, named, strict=False):
            ax.plot(x, w[:, j], color=color, linewidth=1.5, label=plain(str(names[j])), zorder=2)
        ax.axhline(0.0, color="0.4", linewidth=0.6, zorder=0)
        ax.set_ylabel("coefficient $w_j$")
        ax.legend(fontsize="x-small", frameon=False, ncols=2)

    def shares(self, knots: Array) -> Array:
        """Multipliers over their caps, a row a sample and a column a parameter; nan where a cap is 0."""
        caps = np.stack([self.path.caps(float(t)) for t in knots], axis=1)
        alpha = np.stack([self.path.alpha(float(t)) for t in knots], axis=1)
        shares = np.full_like(alpha, np.nan)
        return np.asarray(np.divide(alpha, caps, out=shares, where=caps > 0))

    def _sets(self, ax: Axes, knots: Array) -> None:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        middle = 0.5 * (knots[1:] + knots[:-1])  # of each stretch: at its ends a sample may be in two sets
        share = self.shares(middle)
        state = np.where(share >= 1.0, 2, np.where(share > 0.0, 1, 0))
        order = np.lexsort((state.mean(axis=1), -self.path.y))  # positives first; in a class the most often right ones
        rows = np.arange(order.size + 1)
        ax.pcolormesh(self.position(knots), rows, state[order], cmap=ListedColormap(_SETS), vmin=0, vmax=2)
        ax.invert_yaxis()
        n_plus = int((self.path.y > 0).sum())
        ax.axhline(n_plus, color="black", linewidth=0.8)
        ax.set_yticks([0.5 * n_plus, 0.5 * (n_plus + order.size)], ["positives", "negatives"], rotation=90, va="center")
        patches = [Patch(color=color, label=name) for color, name in zip(_SETS, _SET_NAMES, strict=True)]
        ax.legend(
            handles=patches, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize="small"
        )

    def _multipliers(self, ax: Axes, knots: Array) -> None:
        share = self.shares(knots)
        x, y = self.position(knots), self.path.y
        change = np.nansum(np.abs(np.diff(share, axis=1)), axis=1)
        shown = np.argsort(-change, kind="stable")[:_MULTIPLIERS]
        for sign, name, color, style in ((1, "positives", POSITIVE, "-"), (-1, "negatives", NEGATIVE, "--")):
            ours = shown[y[shown] == sign]
            for k, i in enumerate(ours):
                label = f"{name} ({ours.size} of {int((y == sign).sum())} shown)" if k == 0 else None
                ax.plot(x, share[i], color=color, linestyle=style, linewidth=0.9, alpha=0.6, label=label)
        ax.set_ylim(-0.03, 1.15)  # room for the legend above the caps
        ax.set_yticks(np.linspace(0, 1, 6))
        ax.set_ylabel(r"multiplier over its cap, $\alpha_i / c_i$")
        ax.legend(fontsize="x-small", frameon=False, ncols=2, loc="upper center")

    def _margins(self, ax: Axes, path: Any, knots: Array) -> None:
        margins = np.array([path.margins(float(share)) for share in knots])
        for k, (name, color, style) in enumerate((("positives", POSITIVE, "-"), ("negatives", NEGATIVE, "--"))):
            ax.plot(knots, margins[:, k], color=color, linestyle=style, linewidth=1.5, label=f"margin of the {name}")
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel(r"margin, slacks included" if path.soft else "margin")
        ax.legend(fontsize="x-small", frameon=False, loc="upper center")

    def _gap(self, ax: Axes) -> None:
        proof = self.path.proof
        bound = np.maximum(proof.gap, FLOOR)
        x = self.position(proof.t)
        if self.parameter == "mean cost":  # its origin is not on a logarithmic axis
            x = np.maximum(x, self.position(self.knots()[:1]))
        if x[0] > x[-1]:
            x, bound = x[::-1], bound[::-1]
        ax.stairs(bound, x, baseline=None, color=POSITIVE, linewidth=1.0, label="proved bound, at every point")
        ax.axhline(REQUIRED, color=NEGATIVE, linestyle="--", linewidth=1.2, label=_REQUIRED_LABEL)
        ax.set_yscale("log")
        ax.set_ylim(0.3 * FLOOR, max(30 * REQUIRED, 3 * float(bound.max())))
        ax.set_ylabel("relative duality gap")
        ax.legend(fontsize="x-small", framealpha=0.9, edgecolor="none", ncols=2, loc="upper right")


def plot_paths(
    paths: Mapping[str, Any],
    feature_names: Sequence[str] | None = None,
    figure: Figure | None = None,
    *,
    sets: bool = False,
) -> Figure:
    """Draw several paths side by side, one column each.

    Parameters
    ----------
    paths : mapping from str to Path
        Paths by their titles.
    feature_names : sequence of str, optional
        As for `PathDisplay`.
    figure : matplotlib Figure, optional
        Where to draw; default: a new one.
    sets : bool
        As for `PathDisplay.plot`.
    """
    if not paths:
        raise InputError("paths must hold at least one path, got none")
    if figure is None:
        from matplotlib import pyplot as plt

        figure = plt.figure(figsize=(6.4 * len(paths), 6.4), layout="constrained")
    panels = figure.subplots(2, len(paths), squeeze=False, height_ratios=(2, 1))
    for column, (name, path) in enumerate(paths.items()):
        title = f"{name}: {path.breakpoints.size} breakpoints"
        PathDisplay.from_path(path, feature_names).plot(panels[:, column], title=title, sets=sets)
    return figure
