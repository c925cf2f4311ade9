r"""Constrained least squares: the non-increasing function nearest to a cloud of points.

.. math:: \min_h\ \sum_k\omega_k\,(h(x_k)-y_k)^2\quad\text{s.t.}\quad h\ \text{non-increasing}.

Kim et al. (2006), section 7.1, with x the true negative and y the true positive rate of a classifier on held-out
samples. Points of equal x are pooled first (their weighted mean replaces them, which changes the objective by a
constant); pool-adjacent-violators, from SciPy, solves what is left exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from paretoclf.common.checks import Array, check_nonnegative, check_vector, keep
from paretoclf.common.errors import InputError


@dataclass(frozen=True, eq=False)
class MonotoneFit:
    """A non-increasing function of x in [0, 1].

    The least-squares problem determines it at the abscissae of the data only. In between it is taken to be affine (any
    monotone function would do), and beyond the first and the last abscissa constant.

    Attributes
    ----------
    x : array of shape (k,)
        Abscissae, increasing.
    y : array of shape (k,)
        Values there, non-increasing.
    residual : float
        Weighted sum of squared residuals.

    Examples
    --------
    >>> fit = monotone_fit([0.2, 0.5, 0.8], [0.9, 0.95, 0.4])
    >>> fit.y
    array([0.925, 0.925, 0.4  ])
    >>> round(float(fit(0.65)), 4), round(fit.area, 4)
    (0.6625, 0.7413)
    """

    x: Array = field(repr=False)
    y: Array = field(repr=False)
    residual: float

    def __post_init__(self) -> None:
        keep(self, "x", "y")

    def __call__(self, x: Any) -> Array:
        """Values at x, of the shape of x."""
        return np.asarray(np.interp(x, self.x, self.y))

    @property
    def area(self) -> float:
        """Area under the function between x = 0 and x = 1."""
        inside = float(np.trapezoid(self.y, self.x))
        before = self.y[0] * self.x[0]
        beyond = self.y[-1] * (1.0 - self.x[-1])
        return inside + float(before + beyond)


def monotone_fit(x: Any, y: Any, weight: Any = None) -> MonotoneFit:
    """Non-increasing least-squares fit.

    Parameters
    ----------
    x, y : array of shape (p,)
        Points, both coordinates in [0, 1]: true negative and true positive rates.
    weight : array of shape (p,), optional
        Nonnegative weights, not all zero. Default: all 1.

    Raises
    ------
    InputError
        If there is no point, a rate is outside [0, 1], or no weight is positive.

    References
    ----------
    Kim et al. (2006), section 7.1. Best & Chakravarti (1990), Mathematical Programming 47 (pool adjacent violators).

    Examples
    --------
    >>> monotone_fit([0.5, 0.5, 1.0], [1.0, 0.0, 0.0]).y
    array([0.5, 0. ])
    """
    size = int(np.size(x))
    if size == 0:
        raise InputError("x must hold at least one point, got none")
    points = check_vector(x, size, "x"), check_vector(y, size, "y")
    for name, values in zip("xy", points, strict=True):
        if not ((values >= 0) & (values <= 1)).all():
            raise InputError(f"{name} must lie in [0, 1], got values from {values.min()} to {values.max()}")
    weights = np.ones(size) if weight is None else check_nonnegative(weight, size, "weight")
    if not weights.any():
        raise InputError("weight must hold a positive number, got only zeros")
    return fitted(*points, weights)


def fitted(x: Array, y: Array, weight: Array) -> MonotoneFit:
    """Non-increasing least-squares fit of arrays that have been checked: `monotone_fit` without its checks."""
    used = weight > 0
    x, y, weight = x[used], y[used], weight[used]
    at, group = np.unique(x, return_inverse=True)
    total = np.bincount(group, weight)
    mean = np.bincount(group, weight * y) / total
    values = np.asarray(isotonic_regression(mean, weights=total, increasing=False).x)
    return MonotoneFit(at, values, float(weight @ (y - values[group]) ** 2))
