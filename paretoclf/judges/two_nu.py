r"""The judge of the 2nu-SVM, and all its optimal intercepts.

With caps :math:`c_\pm` (:math:`\gamma/n` and :math:`(1-\gamma)/n`), scores :math:`s_i=w\cdot x_i`, thresholds
:math:`a=\rho-b` and :math:`c=\rho+b`, the primal objective splits:

.. math::

   \tfrac12\|w\|^2+\Big[c_+\sum_{y_i=+1}(a-s_i)_+-\tfrac\nu2a\Big]+\Big[c_-\sum_{y_i=-1}(c+s_i)_+-\tfrac\nu2c\Big].

Each bracket is minimal at an order statistic: of the positive scores the one of rank :math:`\nu/(2c_+)=\nu_+n_+`,
rounded up; if that is a whole number k, everything between the k-th and the next (a half-line at :math:`k=n_+`). So the
best intercept for a slope, and all that are as good, are known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.checks import Array
from paretoclf.evidence import Condition, Judged, judge
from paretoclf.gram import Gram
from paretoclf.judges.scores import slope_of
from paretoclf.tolerances import AT_BOUND, SCORE_ROUNDING, WHOLE_RANK

Interval = tuple[float, float]


@dataclass(frozen=True)
class Thresholds:
    """All optimal thresholds for a slope: intervals of ``rho - b`` and of ``rho + b``.

    The point that is chosen in an interval is its middle, in a half-line its finite end: the smallest rho.
    """

    plus: Interval
    minus: Interval

    @property
    def b(self) -> float:
        """Intercept of the chosen point."""
        return 0.5 * (_chosen(self.minus) - _chosen(self.plus))

    @property
    def rho(self) -> float:
        """Margin of the chosen point; rounding below 0 is 0."""
        return max(0.0, 0.5 * (_chosen(self.plus) + _chosen(self.minus)))

    @property
    def b_interval(self) -> Interval:
        """All optimal intercepts."""
        return 0.5 * (self.minus[0] - self.plus[1]), 0.5 * (self.minus[1] - self.plus[0])

    @property
    def rho_interval(self) -> Interval:
        """All optimal margins."""
        return 0.5 * (self.plus[0] + self.minus[0]), 0.5 * (self.plus[1] + self.minus[1])

    @property
    def unique(self) -> bool:
        """Whether there is only one."""
        return self.plus[0] == self.plus[1] and self.minus[0] == self.minus[1]


def thresholds(y: Array, scores: Array, nu: float, cap_plus: float, cap_minus: float) -> Thresholds:
    """Return all optimal thresholds for given scores ``w . x_i``.

    Examples
    --------
    Two positives at 3 and 1, both counted in full: every threshold from 3 on is as good.

    >>> import numpy as np
    >>> from paretoclf.judges.two_nu import thresholds
    >>> t = thresholds(np.array([1.0, 1.0, -1.0]), np.array([3.0, 1.0, 0.0]), 2.0, 0.5, 2.0)
    >>> t.plus, t.minus
    ((3.0, inf), (0.0, 0.0))
    """
    return Thresholds(
        _order_statistic(scores[y > 0], nu / (2 * cap_plus)),
        _order_statistic(0.0 - scores[y < 0], nu / (2 * cap_minus)),
    )


def _order_statistic(scores: Array, rank: float) -> Interval:
    """Minimisers t of ``sum_i (t - s_i)_+ - rank t``."""
    ordered = np.append(np.sort(scores), np.inf)
    whole = round(rank)
    if 0 < whole <= scores.size and abs(rank - whole) <= WHOLE_RANK * scores.size:
        low, high = float(ordered[whole - 1]), float(ordered[whole])
        # Two scores that differ by rounding are one.
        return (low, high) if high - low > AT_BOUND * float(np.max(np.abs(scores))) else (low, low)
    k = min(int(np.ceil(rank)), scores.size)
    return float(ordered[k - 1]), float(ordered[k - 1])


def _chosen(interval: Interval) -> float:
    low, high = interval
    return 0.5 * (low + high) if np.isfinite(high) else low


def judge_two_nu(
    gram: Gram, y: Array, nu: float, cap_plus: float, cap_minus: float, alpha: Array, *, w: Array | None = None
) -> Judged:
    """Judge multipliers, with the best intercept and margin for the slope.

    Parameters
    ----------
    gram : Gram
        Samples and kernel.
    y : array of shape (n,)
        Labels.
    nu : float
        Least sum of the multipliers.
    cap_plus, cap_minus : float
        Upper bounds of the multipliers of the two classes.
    alpha : array of shape (n,)
        Multipliers.
    w : array of shape (d,), optional
        A slope given separately; by default the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.judges.two_nu import judge_two_nu
    >>> gram, y = Gram(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0])
    >>> judge_two_nu(gram, y, 0.5, 0.25, 0.25, np.full(2, 0.25)).certificate.gap
    0.0
    """
    caps = np.where(y > 0, cap_plus, cap_minus)
    feasible = np.clip(alpha, 0.0, caps)
    for sign in (1, -1):
        feasible[y == sign] = _of_sum(feasible[y == sign], caps[y == sign], 0.5 * nu)
    lower = slope_of(gram, y * feasible)
    slope = slope_of(gram, y * alpha, w)
    best = thresholds(y, slope.scores, nu, cap_plus, cap_minus)
    rho, b = best.rho, best.b
    f = slope.scores + b
    xi = np.maximum(0.0, rho - y * f)
    primal = 0.5 * slope.norm2 + float(caps @ xi) - nu * rho
    dual = -0.5 * lower.norm2
    size = max(float(np.max(np.abs(f))), rho, np.finfo(float).tiny)
    total = np.atleast_1d(float(alpha.sum()) - nu)
    conditions = (
        Condition("margin", y * f - rho + xi, alpha, slack_unit=size, multiplier_unit=caps),
        Condition("slack", xi, caps - alpha, slack_unit=size, multiplier_unit=caps),
        Condition("rho", np.atleast_1d(rho), total, slack_unit=size, multiplier_unit=nu),
    )
    numbers = {"alpha": alpha, "xi": xi, "rho": rho, "b": b, "thresholds": best}
    stationarity = {"stationarity in w": slope.apart, "balance": abs(float(y @ alpha)) / float(caps.sum())}
    # Scores are sums of terms that cancel: those of multipliers nu, in all, times the largest kernel value.
    rounding = SCORE_ROUNDING * nu**2 * float(np.max(gram.diagonal()))
    scale = 0.5 * slope.norm2 + float(caps @ xi) + nu * rho
    return judge(
        primal,
        dual,
        conditions,
        numbers,
        stationarity=stationarity,
        scale=max(scale, rounding, np.finfo(float).tiny),
        rounding=rounding,
        note=gram.note,
    )


def _of_sum(alpha: Array, caps: Array, total: float) -> Array:
    """Nearest multipliers in their box with the given sum: scaled down, or moved towards the caps."""
    now = float(alpha.sum())
    if now >= total:
        return alpha * (total / now) if now > 0 else alpha
    room = float(caps.sum()) - now
    return alpha + (caps - alpha) * min(1.0, (total - now) / room) if room > 0 else alpha
