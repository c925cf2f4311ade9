"""Bootstrap replicates of a monotone fit, and confidence bands from them.

Kim et al. (2006) name such bands as their first open direction and refer to Macskassy, Provost & Rosset (2005). Splits
of one data set overlap, so the spread over splits is no standard error: it goes to zero as splits are added, and the
data stay the same. Here the *samples* are drawn again (each class with replacement), which reweights them wherever they
are held out.

What this leaves out: the classifiers are not trained again on the samples drawn. Where the training part is small
against the number of features the band is too narrow for that reason; docs/how_to/empirical_tradeoff.md has its
coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, check_share
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
        Where it was computed.
    lower, upper : array of shape (g,)
        Its two ends: true positive rates.
    area : (float, float)
        Interval for the area under the curve.
    level : float
        What share of the bootstrap draws it holds.
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
        """Pointwise percentiles; or the range of the draws that are nowhere among the most extreme."""
        level = check_share(level, "level")
        tail = 50.0 * (1.0 - level)
        area = np.percentile(self.areas, [tail, 100 - tail])
        kept = self.values
        if simultaneous:
            # Rank of every draw at every point, ties in its favour; the least of them says how central a curve is.
            ordered = np.sort(kept, axis=0)
            count = len(kept)
            depth = np.full(count, count)
            for j in range(kept.shape[1]):
                below = np.searchsorted(ordered[:, j], kept[:, j], side="right")
                above = count - np.searchsorted(ordered[:, j], kept[:, j], side="left")
                depth = np.minimum(depth, np.minimum(below, above))
            kept = kept[np.argsort(-depth, kind="stable")[: int(np.ceil(level * count))]]
            lower, upper = kept.min(axis=0), kept.max(axis=0)
        else:
            lower, upper = np.percentile(kept, [tail, 100 - tail], axis=0)
        return Band(self.tnr, lower, upper, (float(area[0]), float(area[1])), level, simultaneous)


def bootstrap(parts: Sequence[HeldOut], y: Array, draws: int, rng: np.random.Generator, tnr: Array) -> Replicates:
    """Monotone fits to bootstrap draws of the samples, at some true negative rates, of the parts of all splits."""
    values, areas = np.empty((draws, tnr.size)), np.empty(draws)
    for low in range(0, draws, _BLOCK):
        width = min(_BLOCK, draws - low)
        counts = np.empty((y.size, width))
        for sign in (1.0, -1.0):
            size = int((y == sign).sum())
            counts[y == sign] = rng.multinomial(size, np.full(size, 1 / size), size=width).T
        points = []
        for part in parts:
            w = counts[part.test]
            # A draw may hold no sample of a class that a small held-out part holds: there it changes nothing.
            void = (part.positive @ w == 0) | (~part.positive @ w == 0)
            points.append(np.stack(part.rates(np.where(void, 1.0, w))))
        x, z = np.concatenate(points, axis=1)
        for j in range(width):
            fit = fitted(x[:, j], z[:, j], np.ones(len(x)))
            values[low + j], areas[low + j] = fit(tnr), fit.area
    return Replicates(tnr, values, areas)
