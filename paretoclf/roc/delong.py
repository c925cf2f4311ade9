r"""How sure an area under a ROC curve is, and whether two areas differ: the method of DeLong.

The area of scores is the share of pairs of a positive and a negative in which the positive has the larger score, a tie
counting one half. With :math:`V_i` that share for positive i, and :math:`W_j` for negative j, the area is the mean of
either, and

.. math:: \widehat{\mathrm{Var}}(A)=\frac{s^2_V}{n_+}+\frac{s^2_W}{n_-},

with the covariances of two scores' :math:`V` and :math:`W` in place of the variances for the covariance of two areas.
Samples are drawn anew, scores are not: the interval is that of one fixed classifier on new samples. It says nothing of
what another training set would have given; ``examples/papers/comparisons.py`` has a test of that.

**Reference.** E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, *Comparing the areas under two or more correlated
receiver operating characteristic curves*, Biometrics 44 (1988); by ranks, X. Sun, W. Xu, IEEE Signal Processing Letters
21 (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from paretoclf.common.checks import Array, Index, check_labels, check_share, check_vector
from paretoclf.common.errors import InputError
from paretoclf.roc.labelled_scores import scores_and_labels, signs_of

#: Note on a standard error of 0.
NO_ERROR = "no standard error: all pairs are alike here, which bounds nothing on new samples"


@dataclass(frozen=True)
class AreaInterval:
    """An area under the ROC curve of scores, and an interval for that of the population.

    Attributes
    ----------
    area : float
    low, high : float
        Ends of the interval, cut to [0, 1].
    error : float
        Standard error. Where every pair is in order, or every one a tie, it is 0: the interval is one point, and says
        too much, which `note` and a printed interval say.
    level : float
        Probability of the interval, asymptotically.
    """

    area: float
    low: float
    high: float
    error: float
    level: float

    @property
    def note(self) -> str:
        """Note that the standard error is 0, so that the interval says too much; empty otherwise."""
        return "" if self.error else NO_ERROR

    def __str__(self) -> str:
        said = f"AUC {self.area:.4f}, {100 * self.level:g} % interval [{self.low:.4f}, {self.high:.4f}]"
        return f"{said} ({self.note})" if self.note else said


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

    @property
    def note(self) -> str:
        """Note that the standard error is 0, so that interval and test say too much; empty otherwise."""
        return "" if np.isfinite(self.z) and self.low < self.high else NO_ERROR

    def __str__(self) -> str:
        interval = f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.level:g} %)"
        areas = f"AUC {self.first:.4f} and {self.second:.4f}, difference {self.difference:.4f}"
        said = f"{areas} in {interval}, p = {self.p:.3g}"
        return f"{said} ({self.note})" if self.note else said


def area_interval(
    first: Any = None,
    second: Any = None,
    /,
    level: float = 0.95,
    *,
    y: Any = None,
    scores: Any = None,
    pos_label: Any = None,
) -> AreaInterval:
    """Return the area under the ROC curve of scores, with an interval by the method of DeLong.

    Parameters
    ----------
    first, second
        Labels and scores without their names. Labels -1 and +1 may stand in either order, unless the scores are two
        whole numbers only; with pos_label it is y first.
    y : array of shape (n,)
        Labels, -1 and +1, or any two with pos_label; at least two samples of each.
    scores : array of shape (n,)
        The larger, the more positive.
    level : float
        Probability of the interval, strictly between 0 and 1.
    pos_label : object, optional
        Which of the two labels of y is positive, where they are not -1 and +1.

    Raises
    ------
    InputError
        If a class has fewer than two samples, a score is not finite, or level is out of range; or if nothing
        tells labels and scores apart.

    Examples
    --------
    >>> from paretoclf.roc import area_interval
    >>> print(area_interval([-1, -1, -1, 1, 1, 1], [0.1, 0.4, 0.6, 0.4, 0.7, 0.9]))
    AUC 0.8333, 95 % interval [0.4561, 1.0000]
    >>> print(area_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.6, 0.4, 0.7, 0.9], pos_label=1))
    AUC 0.8333, 95 % interval [0.4561, 1.0000]
    """
    scores, y = scores_and_labels((first, second), scores, y, pos_label)
    pairs = _pairs(_labels(y, level), scores)
    half = float(norm.ppf(0.5 + level / 2)) * pairs.error
    low, high = max(0.0, pairs.area - half), min(1.0, pairs.area + half)
    return AreaInterval(pairs.area, low, high, pairs.error, float(level))


def area_difference(y: Any, first: Any, second: Any, level: float = 0.95, *, pos_label: Any = None) -> AreaDifference:
    """Compare the areas of two scores of the same samples by the paired test of DeLong.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 and +1, or any two with pos_label; at least two samples of each.
    first, second : array of shape (n,)
        Scores of the same samples; neither may have been fitted on them.
    level : float
        Probability of the interval, strictly between 0 and 1.
    pos_label : object, optional
        Which of the two labels of y is positive, where they are not -1 and +1.

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
    labels = _labels(signs_of(y, pos_label), level)
    one, two = (_pairs(labels, scores) for scores in (first, second))
    both = _Pairs(one.plus - two.plus, one.minus - two.minus)
    difference, error = both.area, both.error
    z = np.inf if error == 0 else difference / error
    if difference == 0:  # of two equal scores the error is 0, too
        z = 0.0
    p = float(2 * norm.sf(abs(z)))
    half = float(norm.ppf(0.5 + level / 2)) * error
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    return AreaDifference(one.area, two.area, difference, low, high, z, p, float(level))


def _labels(y: Any, level: float) -> Array:
    """Labels, of which each class has at least two; the level of the interval is checked with them."""
    labels = check_labels(y)
    check_share(level, "level")
    for sign, name in ((1, "positive"), (-1, "negative")):
        if (count := int(np.sum(labels == sign))) < 2:
            raise InputError(f"y must have at least two {name} samples, got {count}")
    return labels


@dataclass(frozen=True)
class _Pairs:
    """Numbers of pairs of a positive and a negative in the right order, doubled so that a tie counts one.

    For each positive in ``plus``, for each negative in ``minus``; or differences of such numbers of two scores.
    """

    plus: Index
    minus: Index

    @property
    def area(self) -> float:
        """Share of all pairs: the area, or the difference of two areas."""
        return int(self.plus.sum()) / (2 * self.plus.size * self.minus.size)

    @property
    def error(self) -> float:
        """Standard error of the area."""
        n_plus, n_minus = self.plus.size, self.minus.size
        of_positives = np.var(self.plus / (2 * n_minus), ddof=1) / n_plus
        of_negatives = np.var(self.minus / (2 * n_plus), ddof=1) / n_minus
        return float(np.sqrt(of_positives + of_negatives))


def _pairs(labels: Array, scores: Any) -> _Pairs:
    """Count, for each sample, the pairs in the right order by ranks among all samples and in its class."""
    values = check_vector(scores, labels.size, "scores")
    positive = labels > 0
    ranks = rankdata(values)  # ties share their mean rank, a half at most
    plus = ranks[positive] - rankdata(values[positive])
    minus = plus.size - (ranks[~positive] - rankdata(values[~positive]))
    return _Pairs(*(np.rint(2 * each).astype(np.int64) for each in (plus, minus)))
