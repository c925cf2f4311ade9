"""Bootstrap replicates of a monotone fit, and confidence bands from them.

Kim et al. (2006) name such bands as their first open direction and refer to Macskassy, Provost & Rosset (2005). Splits
of one data set overlap, so the spread over splits is no standard error: it goes to zero as splits are added, and the
data stay the same. Here the *samples* are drawn again (each class with replacement), which reweights them wherever they
are held out.

The classifiers are not trained again on the samples drawn. Where the training part is small against the number of
features the band is too narrow for that reason; docs/how_to/tradeoff.md has its coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, Index, check_share
from paretoclf.roc.empirical.held_out import HeldOut
from paretoclf.roc.empirical.monotone import fitted

#: Draws whose rates are computed at once: bounds the memory to some tens of MB.
_BLOCK = 50


@dataclass(frozen=True, eq=False)
class Band:
    """A confidence band around a trade-off curve.

    Attributes
    ----------
    tnr : array of shape (g,)
        True negative rates at which the band was computed.
    lower, upper : array of shape (g,)
        Its two ends there: true positive rates.
    area : (float, float)
        Interval for the area under the curve.
    level : float
        Share of the bootstrap draws that it holds.
    simultaneous : bool
        Whether it holds whole curves, or each point by itself.
    """

    tnr: Array = field(repr=False)
    lower: Array = field(repr=False)
    upper: Array = field(repr=False)
    area: tuple[float, float]
    level: float
    simultaneous: bool


@dataclass(frozen=True, eq=False)
class Replicates:
    """Fits to bootstrap draws: `values` of shape (draws, g) at `tnr`, and the `areas` below them."""

    tnr: Array = field(repr=False)
    values: Array = field(repr=False)
    areas: Array = field(repr=False)

    def band(self, level: float, simultaneous: bool) -> Band:
        """Band of pointwise percentiles; or the range of the draws that are nowhere among the most extreme."""
        level = check_share(level, "level")
        tail = 50.0 * (1.0 - level)
        least, most = np.percentile(self.areas, [tail, 100 - tail])
        if simultaneous:
            central = np.argsort(-self._depths(), kind="stable")
            count = int(np.ceil(level * len(central)))
            kept = self.values[central[:count]]
            lower, upper = kept.min(axis=0), kept.max(axis=0)
        else:
            lower, upper = np.percentile(self.values, [tail, 100 - tail], axis=0)
        return Band(self.tnr, lower, upper, (float(least), float(most)), level, simultaneous)

    def _depths(self) -> Index:
        """Depth of each draw: its least rank from either side over all points, ties in its favour."""
        draws, points = self.values.shape
        ordered = np.sort(self.values, axis=0)
        depth = np.full(draws, draws)
        for j in range(points):
            below = np.searchsorted(ordered[:, j], self.values[:, j], side="right")
            above = draws - np.searchsorted(ordered[:, j], self.values[:, j], side="left")
            depth = np.minimum(depth, np.minimum(below, above))
        return depth


def bootstrap(parts: Sequence[HeldOut], y: Array, draws: int, rng: np.random.Generator, tnr: Array) -> Replicates:
    """Monotone fits to bootstrap draws of the samples, at some true negative rates, of the parts of all splits."""
    values, areas = np.empty((draws, tnr.size)), np.empty(draws)
    for low in range(0, draws, _BLOCK):
        width = min(_BLOCK, draws - low)
        counts = np.empty((y.size, width))
        for sign in (1.0, -1.0):
            size = int((y == sign).sum())
            drawn = rng.multinomial(size, np.full(size, 1 / size), size=width)
            counts[y == sign] = drawn.T
        points = []
        for part in parts:
            weight = counts[part.test]
            # A draw may hold no sample of a class that a small held-out part holds: there it changes nothing.
            empty = (part.positive @ weight == 0) | (~part.positive @ weight == 0)
            points.append(np.stack(part.rates(np.where(empty, 1.0, weight))))
        true_negative, true_positive = np.concatenate(points, axis=1)
        for j in range(width):
            fit = fitted(true_negative[:, j], true_positive[:, j], np.ones(len(true_negative)))
            values[low + j] = fit(tnr)
            areas[low + j] = fit.area
    return Replicates(tnr, values, areas)
