r"""Bandwidths of the Gaussian kernel that are worth a grid, chosen from the distances of the samples.

At a bandwidth far below the distance of neighbours the Gram is an identity: no sample says anything of another. Far
above the largest distance it is constant: all samples are the same point, up to differences too small to be computed.
Most of the 50 bandwidths from 1e-4 to 1e4 of Davenport, Baraniuk & Scott (2010) are one or the other on standardised
data.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from paretoclf.common.checks import Array, Mask, check_count, check_increasing
from paretoclf.common.errors import BandwidthWarning, InputError
from paretoclf.problem.samples import check_samples, dense

#: Largest number of samples whose distances are computed; of more, so many are drawn at random.
SAMPLED = 1000
#: Identity: for half of the samples the kernel value with the nearest other one is below this.
ALONE = 1e-2
#: Constant: for 95 % of the pairs the kernel value is above this.
SAME = 0.99


@dataclass(frozen=True)
class DistanceQuantiles:
    """Distances of samples, as quantiles.

    Attributes
    ----------
    nearest : float
        Median distance to the nearest other point.
    low, median, high : float
        5 %, 50 % and 95 % quantile over the pairs of different points.
    """

    nearest: float
    low: float
    median: float
    high: float

    @classmethod
    def of(cls, X: Any) -> DistanceQuantiles:
        """Measure the distances of some samples."""
        samples = check_samples(X)
        if samples.shape[0] > SAMPLED:
            order = np.random.default_rng(0).permutation(samples.shape[0])
            samples = samples[np.sort(order[:SAMPLED])]
        points = np.unique(dense(samples), axis=0)
        if points.shape[0] < 2:
            raise InputError("X must hold at least two different samples to choose bandwidths from")
        pairs = pdist(points)
        distances = squareform(pairs)
        np.fill_diagonal(distances, np.inf)
        nearest = float(np.median(distances.min(axis=1)))
        low, median, high = (float(quantile) for quantile in np.quantile(pairs, (0.05, 0.5, 0.95)))
        return cls(nearest, low, median, high)


@dataclass(frozen=True)
class JudgedBandwidths:
    """Bandwidths, shape (s,), with masks of those that make an identity or a constant of the Gram."""

    values: Array
    identity: Mask
    constant: Mask
    distances: DistanceQuantiles = field(repr=False)

    @property
    def useful(self) -> Array:
        """Bandwidths that make neither an identity nor a constant of the Gram."""
        return self.values[~(self.identity | self.constant)]

    def __str__(self) -> str:
        parts = []
        if self.identity.any():
            parts.append(
                f"bandwidth {_listed(self.values[self.identity])} makes an identity of the Gram (half of the samples "
                f"have no other within {self.distances.nearest:.3g}, where the kernel is below {ALONE:g})"
            )
        if self.constant.any():
            parts.append(
                f"bandwidth {_listed(self.values[self.constant])} makes a constant of the Gram (95 % of the pairs lie "
                f"within {self.distances.high:.3g}, where the kernel is above {SAME:g})"
            )
        return "; ".join(parts)


def judge_bandwidths(X: Any, values: Any) -> JudgedBandwidths:
    """Find the bandwidths that make an identity or a constant of the Gram of some samples.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples; where they are more than 1000, 1000 are drawn.
    values : array of shape (s,)
        Positive and increasing.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.tuning import judge_bandwidths
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> judge_bandwidths(X, np.geomspace(1e-4, 1e4, 9)).useful
    array([ 1., 10.])
    """
    bandwidths = check_increasing(values, "bandwidths")
    distances = DistanceQuantiles.of(X)
    alone = np.exp(-0.5 * (distances.nearest / bandwidths) ** 2) < ALONE
    same = np.exp(-0.5 * (distances.high / bandwidths) ** 2) > SAME
    return JudgedBandwidths(bandwidths, alone, same, distances)


def bandwidth_grid(X: Any, count: int = 12) -> Array:
    """Return log-spaced bandwidths from half the 5 % quantile of the distances to twice their median.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    count : int
        Number of bandwidths, at least 1; one alone is the geometric mean of both ends.

    Raises
    ------
    InputError
        If count is not a positive whole number, or all samples are the same point.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> pc.tuning.bandwidth_grid(np.random.default_rng(0).normal(size=(100, 3)), 3).round(3)
    array([0.437, 1.401, 4.498])
    """
    check_count(count, "count", 1)
    distances = DistanceQuantiles.of(X)
    low, high = 0.5 * distances.low, 2.0 * distances.median
    if count == 1:
        return np.array([np.sqrt(low * high)])
    return np.geomspace(low, high, int(count))


def warn_of_bandwidths(X: Any, values: Array) -> None:
    """Give a BandwidthWarning that names the useless bandwidths."""
    judged = judge_bandwidths(X, values)
    if str(judged):
        warnings.warn(f"{judged}; bandwidth_grid(X) chooses useful ones", BandwidthWarning, stacklevel=3)


def _listed(values: Array) -> str:
    """Write out the first three values and, of more, the last and how many there are."""
    shown = ", ".join(f"{value:.3g}" for value in values[:3])
    return shown if values.size <= 3 else f"{shown}, ... {values[-1]:.3g} ({values.size} values)"
