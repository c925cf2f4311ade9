"""Pictures of a population: its densities, its ROC curves, and the testing asymmetry over the training asymmetry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import NEGATIVE, POSITIVE, STYLES, CurvesDisplay, Display, new_axes
from paretoclf.problem.classifiers import LinearRule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class DensityDisplay(Display):
    """The densities of two classes of two features, as contours that hold 40, 80 and 95 % of each class.

    Parameters
    ----------
    population : Population
        Two classes of two features.

    Raises
    ------
    InputError
        If there are not two features.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population
    >>> from paretoclf.plotting import DensityDisplay
    >>> pair = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.eye(2)))
    >>> DensityDisplay(pair)  # .plot() draws it
    DensityDisplay(population=Population(...))
    """

    population: Any

    def __post_init__(self) -> None:
        if self.population.d != 2:
            raise InputError(f"population must have two features to be drawn, got {self.population.d}")

    def plot(
        self, ax: Axes | None = None, *, classifiers: Mapping[str, LinearRule] | None = None, title: str | None = None
    ) -> Self:
        """Draw the densities.

        Parameters
        ----------
        classifiers : mapping from str to LinearRule, optional
            Hyperplanes to draw, by their names in the legend.
        """
        ax = new_axes(ax, 5.6, 5.6)
        both = (self.population.positives, self.population.negatives)
        ends = np.concatenate([m.means + sign * 2.8 * m.deviations for m in both for sign in (-1, 1)])
        middle = 0.5 * (ends.max(axis=0) + ends.min(axis=0))
        half = 0.5 * float(np.max(np.ptp(ends, axis=0)))
        low, high = middle - half, middle + half
        x, y = np.linspace(low, high, 241, axis=1)
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        for mixture, color, style, name in zip(
            both, (POSITIVE, NEGATIVE), ("-", "--"), ("positives", "negatives"), strict=True
        ):
            density = np.exp(mixture.log_density(points)).reshape(241, 241)
            ordered = np.sort(density.ravel())[::-1]
            held = np.cumsum(ordered) / ordered.sum()
            levels = [float(ordered[np.searchsorted(held, share)]) for share in (0.95, 0.8, 0.4)]
            ax.contour(x, y, density, levels=levels, colors=color, linestyles=style, linewidths=1.1)
            ax.plot(*mixture.mean, marker="+" if name == "positives" else "_", color=color, markersize=9, mew=2)
            ax.plot([], [], color=color, linestyle=style, label=name)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="$x_1$", ylabel="$x_2$")
        for j, (name, rule) in enumerate((classifiers or {}).items()):
            _hyperplane(ax, rule, label=name, color="0.15", linestyle=("-", "--", ":", "-.")[j % 4])
        ax.set_aspect("equal", adjustable="box")
        # Below the axes: inside there is no corner without data.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize="small")
        return self._drawn(ax, title)


@dataclass(eq=False)
class AsymmetryDisplay(CurvesDisplay):
    """Testing asymmetry over training asymmetry: where a classifier is optimal, against where it was trained.

    Solid where the classifier is ROC-consistent, thin and dotted where it is optimal for no costs.

    Parameters
    ----------
    curves : mapping from str to PopulationCurve
        Curves by the names they have in the legend.

    Raises
    ------
    InputError
        If there is no curve.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_curve
    >>> from paretoclf.plotting import AsymmetryDisplay
    >>> pair = Population(Mixture([1.0], [[4.0]]), Mixture([-1.0], [[1.0]]))
    >>> AsymmetryDisplay.from_curves(population_curve(pair, "square"))  # .plot() draws it
    AsymmetryDisplay(curves={'square loss': PopulationCurve(...)})
    """

    @classmethod
    def from_curves(cls, *curves: Any, **named: Any) -> Self:
        """Collect curves; those without a name are called by their loss."""
        return cls({**{f"{curve.loss} loss": curve for curve in curves}, **named})

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw the curves."""
        ax = new_axes(ax, 5.6, 5.6)
        ax.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0, label="testing = training")
        for j, (name, curve) in enumerate(self.curves.items()):
            color, style = STYLES[j % len(STYLES)]
            _two_parts(ax, curve.asymmetries, curve.testing_asymmetries, curve.consistent, color, style, name)
        ax.set(xlabel="training asymmetry", ylabel="testing asymmetry", xlim=(0, 1), ylim=(-0.02, 1.02))
        ax.set_aspect("equal", adjustable="box")
        ax.grid(color="0.92", linewidth=0.6)
        ax.legend(loc="best", framealpha=0.85, edgecolor="none", fontsize="small")
        return self._drawn(ax, title)


@dataclass(eq=False)
class PopulationRocDisplay(CurvesDisplay):
    """ROC curves of a population beside the curve that no classifier can be above.

    Curves over the training asymmetry are solid where they are ROC-consistent, thin and dotted elsewhere.

    Parameters
    ----------
    curves : mapping from str to PopulationCurve or InterceptCurve
        Curves by the names they have in the legend.
    bound : LikelihoodRatioCurve, optional
        The curve of the likelihood ratio.

    Raises
    ------
    InputError
        If there is nothing to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_curve
    >>> from paretoclf.plotting import PopulationRocDisplay
    >>> pair = Population(Mixture([1.0], [[4.0]]), Mixture([-1.0], [[1.0]]))
    >>> PopulationRocDisplay.from_curves(population_curve(pair, "square"))  # .plot() draws it
    PopulationRocDisplay(curves={'square loss': PopulationCurve(...)}, bound=None)
    """

    bound: Any = None

    def __post_init__(self) -> None:
        if self.bound is None:
            super().__post_init__()

    @classmethod
    def from_curves(cls, *curves: Any, bound: Any = None, **named: Any) -> Self:
        """Collect curves; those without a name are called by their loss."""
        return cls({**{f"{curve.loss} loss": curve for curve in curves}, **named}, bound)

    def plot(self, ax: Axes | None = None, *, corner: float | None = None, title: str | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        corner : float, optional
            Show only false positive rates up to this, and the true positive rates that belong to them.
        """
        ax = new_axes(ax, 5.6, 5.6)
        ax.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0, label="chance")
        top = corner or 1.0
        if self.bound is not None:
            u = np.concatenate([[0.0], self.bound.fpr, [1.0]])
            v = np.concatenate([[0.0], self.bound.tpr, [1.0]])
            ax.plot(u, v, color="0.2", linewidth=1.1, label="likelihood ratio")
            ax.fill_between(u, v, 1.0, color="0.5", alpha=0.08, linewidth=0)
            top = max(top, float(np.interp(top, u, v)))
        for j, (name, curve) in enumerate(self.curves.items()):
            color, style = STYLES[j % len(STYLES)]
            if hasattr(curve, "consistent"):
                _two_parts(ax, curve.fpr, curve.tpr, curve.consistent, color, style, name)
                near = np.max(curve.tpr[curve.fpr <= (corner or 1.0)], initial=0.0)
            else:
                ax.plot(curve.fpr, curve.tpr, color=color, linestyle=style, linewidth=1.6, label=name)
                near = np.interp(top, curve.fpr, curve.tpr)
            top = max(top, float(near))
        ax.set(xlabel="false positive rate", ylabel="true positive rate")
        if corner is None:
            ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
            ax.set_aspect("equal", adjustable="box")
        else:
            ax.set(xlim=(-0.01 * corner, corner), ylim=(-0.01 * top, 1.05 * top))
            ax.locator_params(nbins=5)
        ax.grid(color="0.92", linewidth=0.6)
        ax.legend(
            loc="lower right" if corner is None else "upper left", framealpha=0.85, edgecolor="none", fontsize="small"
        )
        return self._drawn(ax, title)


def _two_parts(ax: Axes, x: Array, y: Array, solid: Mask, color: Any, style: Any, name: str) -> None:
    """A line with its name, and thin dots where it does not count; the two meet at the points between."""
    ax.plot(x, np.where(solid, y, np.nan), color=color, linestyle=style, linewidth=1.8, label=name)
    beside = ~solid | np.append(~solid[1:], False) | np.append(False, ~solid[:-1])
    ax.plot(x, np.where(beside, y, np.nan), color=color, linestyle=":", linewidth=1.0)


def _hyperplane(ax: Axes, rule: LinearRule, **line: Any) -> None:
    """A hyperplane where it crosses the axes' limits."""
    if rule.w.any():
        nearest = -rule.b * rule.w / (rule.w @ rule.w)
        ax.axline(tuple(nearest), slope=_slope(rule.w), linewidth=1.3, **line)


def _slope(w: Array) -> float:
    """Slope of a line in the plane, from its normal."""
    return float(-w[0] / w[1]) if w[1] else np.inf
