r"""Neyman-Pearson with a guarantee: the false positive rate is above alpha with probability at most delta.

Given any classifier, and :math:`m` negatives that were left out when it was made, sort their scores,
:math:`T_{(1)}\le\dots\le T_{(m)}`. The rule "+1 where the score is above :math:`T_{(k)}`" has a false positive rate
above alpha with probability at most

.. math:: v(k)=\sum_{j=k}^m\binom mj(1-\alpha)^j\alpha^{m-j},

with equality for continuous scores. The smallest :math:`k` with :math:`v(k)\le\delta` is taken. There is one if and
only if :math:`v(m)=(1-\alpha)^m\le\delta`.

**Reference.** X. Tong, Y. Feng & J. J. Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
characteristics, Science Advances 4(2), Proposition 1 and Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binom

from paretoclf.common.checks import Array, check_share, check_vector, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.problem.classifiers import Rule

#: How far beyond the score of a left-out negative the threshold lies, relative to the scores: more than their rounding.
_BEYOND = 1e-10


@dataclass(frozen=True)
class Guarantee:
    """P(false positive rate > alpha) <= bound <= delta, over the draw of the negatives that were left out.

    Attributes
    ----------
    alpha, delta : float
    negatives : int
        Number of negatives that were left out.
    rank : int
        k: the threshold is just above the k-th smallest of their scores.
    bound : float
        v(k).
    threshold : float
        In units of the scores: +1 where the score is at least this.
    """

    alpha: float
    delta: float
    negatives: int
    rank: int
    bound: float
    threshold: float

    def __str__(self) -> str:
        return (
            f"P(false positive rate > {self.alpha:g}) <= {self.bound:.3g} <= {self.delta:g} "
            f"(rank {self.rank} of {self.negatives} left-out negatives)"
        )


@dataclass(frozen=True)
class ShiftedRule(Rule):
    """A rule with another threshold: ``f(x) = rule(x) + shift``.

    Parameters
    ----------
    rule : Rule, or anything with a ``decision_function``
    shift : float
        Added to its scores.
    guarantee : Guarantee, optional
        Guarantee that was proved for it.
    """

    rule: Any = field(repr=False)
    shift: float
    guarantee: Guarantee | None = None

    @property
    def b(self) -> float:  # type: ignore[override]
        """Intercept of the rule, shifted."""
        return float(self.rule.b) + self.shift

    @property
    def w(self) -> Array:
        """Slope of the rule."""
        return np.asarray(self.rule.w)

    def decision_function(self, X: Any) -> Array:
        """Scores of the rule, shifted, shape (m,)."""
        return np.asarray(self.rule.decision_function(X) + self.shift)


def negatives_needed(alpha: float, delta: float) -> int:
    """Return how many left-out negatives a guarantee needs: the smallest m with ``(1 - alpha) ** m <= delta``.

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.tuning.negatives_needed(alpha=0.05, delta=0.05)
    59
    """
    alpha, delta = check_share(alpha, "alpha"), check_share(delta, "delta")
    rounded = np.log(delta) / np.log1p(-alpha)
    needed = max(1, int(np.ceil(rounded)))
    while needed > 1 and (1 - alpha) ** (needed - 1) <= delta:
        needed -= 1
    while (1 - alpha) ** needed > delta:
        needed += 1
    return needed


def order_statistic(negatives: int, alpha: float, delta: float) -> tuple[int, float]:
    """Return the rank k of the threshold among so many left-out negatives, and v(k).

    Raises
    ------
    InputError
        If there are too few; the message says how many are needed.

    Examples
    --------
    >>> from paretoclf.tuning import order_statistic
    >>> order_statistic(59, alpha=0.05, delta=0.05)
    (59, 0.048...)
    """
    needed = negatives_needed(alpha, delta)
    if negatives < needed:
        raise InputError(
            f"alpha = {alpha:g} with delta = {delta:g} needs at least {needed} left-out negatives, got {negatives}"
        )
    above = binom.sf(np.arange(negatives), negatives, 1 - alpha)  # v(1), ..., v(m)
    rank = int(np.argmax(above <= delta)) + 1
    if above[rank - 1] > delta:  # (1 - alpha)^m = delta, up to rounding
        rank = negatives
    return rank, float(above[rank - 1])


def guaranteed(rule: Any, X_negatives: Any, alpha: float, delta: float) -> ShiftedRule:
    """Shift any classifier so that its false positive rate is above alpha with probability at most delta.

    Parameters
    ----------
    rule : Rule, or anything with a ``decision_function``
        Such as ``path.at(t).classifier``. Neither its making nor its choice may have used the negatives.
    X_negatives : array or sparse matrix of shape (m, d)
        Negatives that were left out.
    alpha, delta : float
        In (0, 1).

    Returns
    -------
    ShiftedRule
        The shifted classifier, with its `Guarantee`.

    Raises
    ------
    InputError
        If there are too few negatives; the message says how many are needed. Or if the rule has no
        ``decision_function``: for scores alone there is `guaranteed_threshold`.

    Notes
    -----
    The probability is over the left-out negatives, independent draws from the distribution of the negatives on which
    the rule will be used. Equal scores are all kept below the threshold, so ties make the rule more careful.

    References
    ----------
    Tong, Feng & Li (2018), Proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1.0, 1.0], 30)
    >>> path = pc.trace(pc.TwoCSVM(rng.normal(size=(60, 2)) + y[:, None], y), (0, 0), (1, 1))
    >>> rule = pc.tuning.guaranteed(path.at(0.5).classifier, rng.normal(size=(100, 2)) - 1, alpha=0.1, delta=0.05)
    >>> print(rule.guarantee)
    P(false positive rate > 0.1) <= 0.0237 <= 0.05 (rank 96 of 100 left-out negatives)
    """
    if isinstance(rule, type) or not hasattr(rule, "decision_function"):
        raise InputError(
            f"rule must be a model with a decision_function, got {what_it_is(rule)}; for scores of negatives alone, "
            "as a column of predict_proba, use guaranteed_threshold(scores, alpha, delta); order_statistic has its rank"
        )
    scores = rule.decision_function(X_negatives)
    found = guaranteed_threshold(scores, alpha, delta)
    return ShiftedRule(rule, -found.threshold, found)


def guaranteed_threshold(scores: Any, alpha: float, delta: float) -> Guarantee:
    """Return the threshold, with its guarantee, from the scores of left-out negatives alone: no model is needed.

    Parameters
    ----------
    scores : array of shape (m,)
        Scores of negatives that were left out, in any units; the larger, the more positive.
    alpha, delta : float
        In (0, 1).

    Returns
    -------
    Guarantee
        Its `threshold` lies just above the score of its `rank`; +1 where a score is at least the threshold.

    Raises
    ------
    InputError
        If the scores are no vector of numbers, or too few; the message says how many are needed.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> scores = np.arange(100.0)
    >>> found = pc.tuning.guaranteed_threshold(scores, alpha=0.1, delta=0.05)
    >>> print(found)
    P(false positive rate > 0.1) <= 0.0237 <= 0.05 (rank 96 of 100 left-out negatives)
    >>> scores[scores >= found.threshold]
    array([96., 97., 98., 99.])
    """
    negatives = check_vector(scores, np.size(scores), "scores")
    rank, bound = order_statistic(negatives.size, alpha, delta)
    ranked = float(np.partition(negatives, rank - 1)[rank - 1])
    distance = _BEYOND * float(np.abs(negatives).max())
    above = max(ranked + distance, float(np.nextafter(ranked, np.inf)))
    return Guarantee(float(alpha), float(delta), negatives.size, rank, bound, above)
