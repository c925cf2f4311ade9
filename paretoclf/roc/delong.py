r"""How sure an area under a ROC curve is, and whether two areas differ: the method of DeLong.

The area of scores is the share of pairs of a positive and a negative in which the positive has the larger score, a tie
counting one half. With :math:`V_i` that share for positive i, and :math:`W_j` for negative j, the area is the mean of
either, and

.. math:: \widehat{\mathrm{Var}}(A)=\frac{s^2_V}{n_+}+\frac{s^2_W}{n_-},

with the covariances of two scores' :math:`V` and :math:`W` in place of the variances for the covariance of two areas.
Samples are drawn anew, scores are not: the interval is that of one fixed classifier on new samples. It says nothing of
what another training set would have given; `paretoclf.empirical.paired_areas` is about that.

**Reference.** E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, *Comparing the areas under two or more correlated
receiver operating characteristic curves*, Biometrics 44 (1988); by ranks, X. Sun, W. Xu, IEEE Signal Processing Letters
21 (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from paretoclf.checks import Array, Index, check_labels, check_share, check_vector
from paretoclf.errors import InputError


@dataclass(frozen=True)
class AreaInterval:
    """An area under the ROC curve of scores, and an interval for that of the population.

    Attributes
    ----------
    area : float
    low, high : float
        Ends of the interval, cut to [0, 1].
    error : float
        Standard error. Where every pair is in order it is 0: the interval is one point, and says too much.
    level : float
        Probability of the interval, asymptotically.
    """

    area: float
    low: float
    high: float
    error: float
    level: float

    def __str__(self) -> str:
        return f"AUC {self.area:.4f}, {100 * self.level:g} % interval [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class AreaDifference:
    """Two areas of scores of the same samples, and the test of no difference.

    Attributes
    ----------
    first, second : float
        The areas.
    difference : float
        First minus second.
    low, high : float
        Ends of an interval for the difference, cut to [-1, 1].
    z : float
        Difference over its standard error; 0 where both are 0.
    p : float
        Two-sided.
    level : float
        Probability of the interval, asymptotically.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    z: float
    p: float
    level: float

    def __str__(self) -> str:
        return (
            f"AUC {self.first:.4f} and {self.second:.4f}, difference {self.difference:.4f} in "
            f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.level:g} %), p = {self.p:.3g}"
        )


def area_interval(y: Any, scores: Any, level: float = 0.95) -> AreaInterval:
    """Return the area under the ROC curve of scores, with an interval by the method of DeLong.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 and +1; at least two samples of each.
    scores : array of shape (n,)
        The larger, the more positive.
    level : float
        Probability of the interval, strictly between 0 and 1.

    Raises
    ------
    InputError
        If a class has fewer than two samples, a score is not finite, or level is out of range.

    Examples
    --------
    >>> from paretoclf.roc import area_interval
    >>> print(area_interval([-1, -1, -1, 1, 1, 1], [0.1, 0.4, 0.6, 0.4, 0.7, 0.9]))
    AUC 0.8333, 95 % interval [0.4561, 1.0000]
    """
    pairs = _pairs(_labels(y, level), scores)
    half = float(norm.ppf(0.5 + level / 2)) * pairs.error
    low, high = max(0.0, pairs.area - half), min(1.0, pairs.area + half)
    return AreaInterval(pairs.area, low, high, pairs.error, float(level))


def area_difference(y: Any, first: Any, second: Any, level: float = 0.95) -> AreaDifference:
    """Compare the areas of two scores of the same samples by the paired test of DeLong.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 and +1; at least two samples of each.
    first, second : array of shape (n,)
        Scores of the same samples; neither may have been fitted on them.
    level : float
        Probability of the interval, strictly between 0 and 1.

    Raises
    ------
    InputError
        As for `area_interval`.

    Examples
    --------
    >>> from paretoclf.roc import area_difference
    >>> y = [-1, -1, -1, 1, 1, 1]
    >>> print(area_difference(y, [0.1, 0.4, 0.6, 0.4, 0.7, 0.9], [0.1, 0.5, 0.8, 0.3, 0.7, 0.6]))
    AUC 0.8333 and 0.5556, difference 0.2778 in [-0.1296, 0.6852] (95 %), p = 0.181
    """
    labels = _labels(y, level)
    one, two = (_pairs(labels, scores) for scores in (first, second))
    apart = _Pairs(one.plus - two.plus, one.minus - two.minus)
    z = 0.0 if apart.area == 0 else float(np.inf if apart.error == 0 else apart.area / apart.error)
    half = float(norm.ppf(0.5 + level / 2)) * apart.error
    low, high = max(-1.0, apart.area - half), min(1.0, apart.area + half)
    return AreaDifference(one.area, two.area, apart.area, low, high, z, float(2 * norm.sf(abs(z))), float(level))


def _labels(y: Any, level: float) -> Array:
    labels = check_labels(y)
    check_share(level, "level")
    for sign, name in ((1, "positive"), (-1, "negative")):
        if (count := int(np.sum(labels == sign))) < 2:
            raise InputError(f"y must have at least two {name} samples, got {count}")
    return labels


@dataclass(frozen=True)
class _Pairs:
    """Pairs of a positive and a negative in the right order, doubled so that a tie counts one: whole numbers.

    Of each positive in ``plus``, of each negative in ``minus``; or differences of such numbers of two scores.
    """

    plus: Index
    minus: Index

    @property
    def area(self) -> float:
        return int(self.plus.sum()) / (2 * self.plus.size * self.minus.size)

    @property
    def error(self) -> float:
        """Standard error of the area."""
        n_plus, n_minus = self.plus.size, self.minus.size
        return float(
            np.sqrt(
                np.var(self.plus / (2 * n_minus), ddof=1) / n_plus + np.var(self.minus / (2 * n_plus), ddof=1) / n_minus
            )
        )


def _pairs(labels: Array, scores: Any) -> _Pairs:
    f, positive = check_vector(scores, labels.size, "scores"), labels > 0
    ranks = rankdata(f)  # ties share their mean rank, a half at most
    plus = ranks[positive] - rankdata(f[positive])
    minus = plus.size - (ranks[~positive] - rankdata(f[~positive]))
    return _Pairs(*(np.rint(2 * each).astype(np.int64) for each in (plus, minus)))
