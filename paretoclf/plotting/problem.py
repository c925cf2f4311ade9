"""The picture of any path: variables, duals, or the optimal value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import GREY, NAMED, Display, logarithmic, new_axes, plain, run_as_t, set_logarithmic

#: Points between two breakpoints at which the value, a parabola there, is evaluated.
_BETWEEN = 9
#: Points between two of these on a logarithmic axis, where straight lines are curves.
_BENT = 16


@dataclass(eq=False)
class ProblemPathDisplay(Display):
    """Variables, duals or the optimal value of any path, over the parameter that depends on t, or over t if several do.

    The axis runs as t does: of a path from lam = 4 to 0, 4 is on the left, as on its page.
    Entries that change most have a name in the legend. Where an optimum is not unique it may jump at a breakpoint. The
    value of a `ConePath` is that of its feasible points; the band to the other bound is drawn with it, and ticks stand
    at its primal-dual points.

    Parameters
    ----------
    path : ProblemPath, ConePath, Path, QuantilePath, NuPath or MarginPath
        What to show.
    what : {"variables", "duals", "value"}
    names : sequence of str, optional
        Names of variables or constraints; by default all.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import ProblemPathDisplay
    >>> w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w)))
    >>> display = ProblemPathDisplay.from_path(pc.trace(lasso, {lam: 4}, {lam: 0}))
    >>> [name for name, _, _ in display.curves()]  # display.plot() draws them
    ['w[0]', 'w[1]']
    """

    path: Any
    what: str = "variables"
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.what not in ("variables", "duals", "value"):
            raise InputError(f"what must be 'variables', 'duals' or 'value', got {self.what!r:.100}")
        for name in self.names or ():
            if name not in self._known:
                raise InputError(f"names must be among {', '.join(self._known) or 'none'}, got {name!r:.100}")

    @classmethod
    def from_path(cls, path: Any, what: str = "variables", names: Sequence[str] | None = None) -> Self:
        """Make the display of a path."""
        return cls(path, what, names)

    @property
    def _known(self) -> tuple[str, ...]:
        """Names that the path has."""
        return tuple({"variables": self.path.variables, "duals": self.path.duals}.get(self.what, ()))

    @property
    def parameter(self) -> str:
        """Parameter on the horizontal axis: the one that depends on t, if it is a number, else ``"t"``."""
        return str(self.path.axis[0])

    def position(self, t: Array) -> Array:
        """Horizontal positions."""
        _, first, last = self.path.axis
        return np.asarray((1.0 - t) * first + t * last)

    def curves(self) -> list[tuple[str, Array, Array]]:
        """Name, t and values of each curve; of variables and duals those that change most first."""
        if self.what == "value":
            pieces = zip(self.path.t[:-1], self.path.t[1:], strict=True)
            t = np.unique([np.linspace(first, last, _BETWEEN) for first, last in pieces])
            return [("value", t, np.array([self.path.value(float(at)) for at in t]))]
        curved = {*self.path.parabolas, *self.path.bent}
        found = []
        for name in self.names or self._known:
            t, values = self.path.along(name, _BETWEEN if name in curved else None)
            entries = values.reshape(t.size, -1)
            shape = values.shape[1:]
            for k, at in enumerate(np.ndindex(*shape)):
                index = f"[{', '.join(map(str, at))}]" if shape else ""
                found.append((f"{name}{index}", t, entries[:, k]))
        return sorted(found, key=lambda curve: -float(np.ptp(curve[2])))

    def plot(self, ax: Any = None, *, title: str | None = None, xscale: str | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        xscale : {"linear", "log"}, optional
            The parameter's scale; by default logarithmic where the path spans two decades. Where it ends at 0, a
            logarithmic axis ends at half of the smallest positive breakpoint.
        """
        bends = self.position(self.path.breakpoints)
        log = logarithmic(xscale, bends, False if self.parameter == "t" else None)
        ax = new_axes(ax, 6.4, 4.2)
        curves = self.curves()
        for k, (name, t, values) in enumerate(curves):
            style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "zorder": 1, "label": None}
            if k < len(NAMED):
                style = {"color": NAMED[k], "linewidth": 1.5, "zorder": 2, "label": plain(name)}
            elif k == len(NAMED):
                style["label"] = f"{len(curves) - k} smaller ones"
            x = self.position(t)
            if log:
                x, values = _bent(x, values, 0.5 * bends[bends > 0.0].min())
            ax.plot(x, values, **style)
        if log:
            set_logarithmic(ax)
        run_as_t(ax, bends)
        if hasattr(self.path, "bounds"):
            self._draw_band(ax, curves)
        else:
            for t in self.path.breakpoints[1:-1]:
                ax.axvline(float(self.position(t)), color="0.93", linewidth=0.6, zorder=0)
        ax.set_xlabel("path parameter $t$" if self.parameter == "t" else plain(self.parameter))
        ax.set_ylabel({"variables": "variables", "duals": "multipliers", "value": "optimal value"}[self.what])
        ax.spines[["top", "right"]].set_visible(False)
        if self.what != "value" and curves:
            ax.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return self._drawn(ax, title)

    def _draw_band(self, ax: Any, curves: list[tuple[str, Array, Array]]) -> None:
        """Draw both bounds of the optimal value, and ticks at the primal-dual points."""
        ticks = self.position(self.path.t)
        ax.plot(ticks, np.zeros(ticks.size), "|", color=GREY, transform=ax.get_xaxis_transform())
        if self.what == "value":
            t = curves[0][1]
            low, high = np.array([self.path.bounds(float(at)) for at in t]).T
            ax.fill_between(self.position(t), low, high, color=NAMED[0], alpha=0.35, linewidth=0, label="proved bounds")


def _bent(x: Array, values: Array, least: float) -> tuple[Array, Array]:
    """Points of a polygon, with some between them that are evenly spaced on a logarithmic axis from ``least`` on."""
    shown = np.maximum(x, least)
    share = np.linspace(0.0, 1.0, _BENT)
    at = shown[:-1, None] ** (1.0 - share) * shown[1:, None] ** share
    length = np.diff(x)[:, None]
    along = np.broadcast_to(share, at.shape).copy()  # kept where a piece is a point
    np.divide(at - x[:-1, None], length, out=along, where=length != 0.0)
    return at.ravel(), ((1.0 - along) * values[:-1, None] + along * values[1:, None]).ravel()
