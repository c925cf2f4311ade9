r"""How sure error rates are that were counted on a test set: the intervals of Clopper and Pearson.

Of n samples of one class that a fixed classifier has not seen k are wrong. Then k is binomial, and the interval holds
every rate that k does not refute, at half of ``1 - level`` on either side; its probability is at least `level`, for
every rate and every n. It is about this one classifier on new samples of the same kind. Where the classifier, its
threshold or its t was chosen by the labels of these samples, the interval is too good, as the rates are.

**Reference.** C. J. Clopper, E. S. Pearson, *The use of confidence or fiducial limits illustrated in the case of the
binomial*, Biometrika 26 (1934).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest

from paretoclf.common.checks import check_count, check_labels, check_share, check_vector
from paretoclf.common.errors import InputError
from paretoclf.roc.labelled_scores import scores_and_labels


@dataclass(frozen=True)
class RateInterval:
    """A rate of errors that were counted, and an interval for that of the population.

    Attributes
    ----------
    errors, size : int
        So many of so many samples are wrong.
    low, high : float
        Ends of the interval.
    level : float
        The least probability of the interval.
    """

    errors: int
    size: int
    low: float
    high: float
    level: float

    @classmethod
    def of(cls, errors: int, size: int, level: float = 0.95) -> RateInterval:
        """Make the interval of a count.

        Raises
        ------
        InputError
            If they are no counts, or level is not strictly between 0 and 1.

        Examples
        --------
        >>> from paretoclf.roc import RateInterval
        >>> print(RateInterval.of(0, 59))
        0.0000 (0 of 59, 95 % interval [0.0000, 0.0606])
        """
        k, n = check_count(errors, "errors", 0), check_count(size, "size", 1)
        if k > n:
            raise InputError(f"errors must be at most size, {n}, got {k}: of(errors, size)")
        level = check_share(level, "level")
        ends = binomtest(k, n).proportion_ci(level, "exact")
        return cls(k, n, float(ends.low), float(ends.high), level)

    @property
    def rate(self) -> float:
        """The rate that was counted."""
        return self.errors / self.size

    def __str__(self) -> str:
        interval = f"{100 * self.level:g} % interval [{self.low:.4f}, {self.high:.4f}]"
        return f"{self.rate:.4f} ({self.errors} of {self.size}, {interval})"


@dataclass(frozen=True)
class ErrorRates:
    """Both error rates of a classifier on a test set, each with its interval.

    Attributes
    ----------
    fpr, fnr : RateInterval
        False positives among the negatives, false negatives among the positives.
    """

    fpr: RateInterval
    fnr: RateInterval

    def __str__(self) -> str:
        return f"false positive rate {self.fpr}\nfalse negative rate {self.fnr}"


def rate_intervals(
    first: Any = None,
    second: Any = None,
    /,
    level: float = 0.95,
    *,
    y: Any = None,
    scores: Any = None,
    pos_label: Any = None,
) -> ErrorRates:
    """Return both error rates of scores on a test set, with the intervals of Clopper and Pearson.

    Parameters
    ----------
    first, second
        Labels and scores without their names. Labels -1 and +1 may stand in either order, unless the scores are two
        whole numbers only; with pos_label it is y first.
    y : array of shape (n,)
        Labels, -1 and +1, or any two with pos_label; at least one sample of each.
    scores : array of shape (n,)
        A sample is called positive where its score is at least 0. Predicted labels -1 and +1 will do, with both names.
    level : float
        The least probability of each interval, strictly between 0 and 1. Each holds by itself; both hold together with
        a probability of at least ``2 level - 1``.
    pos_label : object, optional
        Which of the two labels of y is positive, where they are not -1 and +1.

    Raises
    ------
    InputError
        If a class has no sample, a score is not finite, or level is out of range; or if nothing tells labels and
        scores apart.

    Examples
    --------
    >>> from paretoclf.roc import rate_intervals
    >>> print(rate_intervals([-1, -1, -1, -1, 1, 1], [-2.0, -0.5, 0.3, -1.0, 0.7, 0.9]))
    false positive rate 0.2500 (1 of 4, 95 % interval [0.0063, 0.8059])
    false negative rate 0.0000 (0 of 2, 95 % interval [0.0000, 0.8419])
    """
    scores, y = scores_and_labels((first, second), scores, y, pos_label)
    labels = check_labels(y)
    check_share(level, "level")
    positive = check_vector(scores, labels.size, "scores") >= 0
    plus = labels > 0
    fpr = RateInterval.of(int((positive & ~plus).sum()), int((~plus).sum()), level)
    fnr = RateInterval.of(int((~positive & plus).sum()), int(plus.sum()), level)
    return ErrorRates(fpr, fnr)
