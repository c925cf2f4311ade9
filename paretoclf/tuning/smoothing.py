r"""Smoothing of error rates over a grid of parameters: every rate becomes an average of those around it.

A window has an odd number of taps on each axis, the Gaussian one :math:`\exp(-j^2/2s^2)`, :math:`j=-1,0,1`, normalised.
Cells outside the grid, and cells without a classifier, have no weight, and the other weights are made to add up to 1:
zeros in their place would be minima on the border.

The two *rates* are smoothed, and a criterion is formed of them afterwards (Davenport, Baraniuk & Scott 2010, section
3.1; their Algorithm 1 has it the other way round, and a Neyman-Pearson criterion, which is infinite in places, cannot
be smoothed).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation, correlate1d

from paretoclf.common.checks import Array, Mask, check_positive_number, is_whole
from paretoclf.common.errors import InputError
from paretoclf.roc.criteria import DECIMALS


def _check(dimensions: int, size: int) -> None:
    """Refuse a window that is neither over two nor over three axes, or has no middle."""
    if dimensions not in (2, 3):
        raise InputError(f"dimensions must be 2 or 3, got {dimensions!r}")
    if not is_whole(size) or size < 1 or size % 2 == 0:
        raise InputError(f"size must be an odd whole number, got {size!r}")


@dataclass(frozen=True)
class GaussianWindow:
    """Weighted mean over a box of cells.

    Parameters
    ----------
    dimensions : {2, 3}
        2: over the two nu, for each bandwidth by itself; 3: over the bandwidths, too.
    size : int
        Taps on an axis, odd.
    deviation : float
        Standard deviation in steps of the grid.

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.tuning.GaussianWindow().taps.round(6)
    array([0.274069, 0.451863, 0.274069])
    """

    dimensions: int = 3
    size: int = 3
    deviation: float = 1.0

    def __post_init__(self) -> None:
        _check(self.dimensions, self.size)
        object.__setattr__(self, "deviation", check_positive_number(self.deviation, "deviation"))

    @property
    def taps(self) -> Array:
        """Weights on one axis, of sum 1, shape (size,)."""
        steps = np.arange(self.size) - self.size // 2
        weights = np.exp(-0.5 * (steps / self.deviation) ** 2)
        return np.asarray(weights / weights.sum())

    def average(self, values: Array, valid: Mask, axes: tuple[int, ...]) -> Array:
        """Means of the valid values around each valid cell; nan elsewhere."""
        total, weight = np.where(valid, values, 0.0), valid.astype(np.float64)
        for axis in axes:
            total = correlate1d(total, self.taps, axis=axis, mode="constant")
            weight = correlate1d(weight, self.taps, axis=axis, mode="constant")
        means = np.full(values.shape, np.nan)
        return np.asarray(np.divide(total, weight, out=means, where=valid))


@dataclass(frozen=True)
class MedianWindow:
    """Median over a box of cells.

    Parameters
    ----------
    dimensions, size
        As for `GaussianWindow`.
    """

    dimensions: int = 3
    size: int = 3

    def __post_init__(self) -> None:
        _check(self.dimensions, self.size)

    def average(self, values: Array, valid: Mask, axes: tuple[int, ...]) -> Array:
        """Medians of the valid values around each valid cell; nan elsewhere."""
        taps = [self.size if axis in axes else 1 for axis in range(values.ndim)]
        margins = [(count // 2, count // 2) for count in taps]
        padded = np.pad(np.where(valid, values, np.nan), margins, constant_values=np.nan)
        layers = []
        for first in product(*map(range, taps)):
            box = tuple(slice(begin, begin + size) for begin, size in zip(first, values.shape, strict=True))
            layers.append(padded[box][valid])
        out = np.full(values.shape, np.nan)
        if valid.any():
            out[valid] = np.nanmedian(layers, axis=0)
        return out


Window = GaussianWindow | MedianWindow

#: Names that may be written in place of a window.
NAMED: dict[str, Window | None] = {"none": None, "2d": GaussianWindow(2), "3d": GaussianWindow(3)}


def as_window(smoothing: Any) -> Window | None:
    """Return the window for None, ``"none"``, ``"2d"``, ``"3d"`` or a window."""
    if smoothing is None or isinstance(smoothing, GaussianWindow | MedianWindow):
        return smoothing
    if isinstance(smoothing, str) and smoothing in NAMED:
        return NAMED[smoothing]
    raise InputError(f"smoothing must be 'none', '2d', '3d', a GaussianWindow or a MedianWindow, got {smoothing!r}")


def smooth(values: Array, window: Window | None, valid: Mask | None = None) -> Array:
    """Smooth an array whose first axis are bandwidths; nan is left out, and stays nan.

    Parameters
    ----------
    values : array of shape (s, p, m) or (s, k)
        Rates over (bandwidth, nu_plus, nu_minus), or over (bandwidth, nu). Where there is one nu, a window of either
        dimension goes over both axes.
    window : GaussianWindow, MedianWindow or None
        None: values as they are.
    valid : bool array, optional
        Cells that count; default: those that are not nan.

    Examples
    --------
    On an edge the weights of the cells that are there are 0.451863 and 0.274069, made to add up to 1.

    >>> import numpy as np
    >>> from paretoclf.tuning import GaussianWindow, smooth
    >>> smooth(np.array([[[0.0], [0.0], [1.0]]]), GaussianWindow(2))[0, :, 0].round(6)
    array([0.      , 0.274069, 0.622459])
    """
    rates = np.asarray(values, dtype=np.float64)
    counted = ~np.isnan(rates) if valid is None else valid
    if window is None:
        return np.where(counted, rates, np.nan)
    return np.round(window.average(rates, counted, smoothed_axes(window, rates.ndim)), DECIMALS)


def smoothed_axes(window: Window, ndim: int) -> tuple[int, ...]:
    """Axes that a window goes over."""
    return (1, 2) if window.dimensions == 2 and ndim == 3 else tuple(range(ndim))


def needed(cells: Mask, window: Window | None) -> Mask:
    """Mask of the cells from which the smoothed values of some cells are computed: a line becomes a tube."""
    if window is None:
        return cells
    axes = smoothed_axes(window, cells.ndim)
    taps = [window.size if axis in axes else 1 for axis in range(cells.ndim)]
    return np.asarray(binary_dilation(cells, np.ones(taps)))
