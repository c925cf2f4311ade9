"""The one entry to optimal trade-off curves: of moments, of samples, through a kernel."""

from __future__ import annotations

from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.kernelised import KernelTradeoff
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.rates import GAUSSIAN, Rate, Rates, check_rates


def gaussian_tradeoff(
    data: Any,
    y: Any = None,
    *,
    kernel: Any = None,
    reg: Any = 0.0,
    shrinkage: Any = 0.0,
    low_rank: Any = None,
    rates: Rate | Rates = GAUSSIAN,
) -> GaussianTradeoff:
    r"""The whole optimal trade-off curve of linear classifiers of two classes, in closed form.

    Parameters
    ----------
    data : Moments, or array or sparse matrix of shape (n, d)
        Means and covariances; or samples, whose moments are estimated (`Moments.from_samples`).
    y : array of shape (n,), optional
        Labels -1 and +1, with samples.
    kernel : optional
        With samples: None (linear), or any kernel of the package (section 6 of the paper; reg must then usually be
        positive). The curve is a `KernelTradeoff`.
    reg : float or pair of floats
        With samples: ridges of the positives and of the negatives.
    shrinkage : float, "ledoit-wolf", "oas", or a pair of them
        With samples: see `Moments.from_samples`.
    low_rank : int, float or sequence of int, optional
        With a kernel: replace it by features; see `paretoclf.problem.low_rank`.
    rates : Rate or (Rate, Rate)
        How classifiers are judged; two for positives and negatives.

    Returns
    -------
    GaussianTradeoff

    Raises
    ------
    InputError
        If an argument is not what it must be, or a covariance is singular.

    References
    ----------
    Kim et al. (2006); Anderson & Bahadur (1962).

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> m = pc.Moments.from_covariances([1.0, 1.0], np.diag([1.0, 4.0]), [0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    >>> tradeoff = pc.gaussian_tradeoff(m)
    >>> tradeoff.minimax()
    OperatingPoint(fpr=0.31269, tpr=0.68731, t=0.862392)
    >>> tradeoff.at_rate(fpr=0.1)
    OperatingPoint(fpr=0.1, tpr=0.450528, t=-18.3698)
    >>> round(tradeoff.auc, 6)
    0.786096
    """
    if isinstance(data, Moments):
        if y is not None or kernel is not None:
            raise InputError(f"{'kernel' if y is None else 'y'} must not be given with moments: they hold both classes")
        return GaussianTradeoff(data, check_rates(rates))
    if y is None:
        raise InputError(f"y must be given with samples, got none with {type(data).__name__}")
    if kernel is not None:
        judged = check_rates(rates)
        return KernelTradeoff.of(data, y, kernel, low_rank=low_rank, reg=reg, shrinkage=shrinkage, rates=judged)
    if low_rank is not None:
        raise InputError("low_rank must be left out without a kernel: the features are the samples")
    return GaussianTradeoff(Moments.from_samples(data, y, reg, shrinkage), check_rates(rates))
