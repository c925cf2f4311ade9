r"""The judge of the biobjective margin problem, hard and soft.

With :math:`\bar y_i=1` for positive and :math:`-\theta` for negative samples, :math:`A=\frac{2\theta}{1+\theta}` and
:math:`f=w\cdot x+b`:

.. math::

   \min\|w\|^2\ \text{s.t.}\ \bar y_if(x_i)\ge A
   \qquad\text{and}\qquad
   \min\|w\|^2+\sum_iC_i\xi_i^2\ \text{s.t.}\ \bar y_if(x_i)+|\bar y_i|\xi_i\ge A,

with duals :math:`A\sum_i\lambda_i-\frac14\|\sum_i\lambda_i\bar y_ix_i\|^2-\frac14\sum_i(\bar y_i\lambda_i)^2/C_i` (the
last sum in the soft problem only), :math:`\lambda\ge0`, :math:`\sum_i\lambda_i\bar y_i=0`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import inner, total
from paretoclf.problem.operator import FeatureSlope, Quadratic
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge

_TINY = float(np.finfo(float).tiny)


def judge_margins(
    problem: SoftMargin,
    theta: float,
    multipliers: Array,
    b: float,
    w: Array | None = None,
    low: Array | None = None,
) -> Judged:
    r"""Judge multipliers and intercept.

    Parameters
    ----------
    problem : SoftMargin
        With the weights of the squared slacks; without them the problem is the hard one. Its lam is 2.
    theta : float
        Ratio of the two margins, positive.
    multipliers : array of shape (n,)
        Multipliers of the margin constraints.
    b : float
        Intercept.
    w : array of shape (d,), optional
        A slope given separately; by default the one that the multipliers imply.
    low : array of shape (n,), optional
        Part of :math:`|\bar y_i|` times the multipliers that doubles do not hold: then sums are rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.margins import judge_margins
    >>> from paretoclf.proof import SoftMargin
    >>> from paretoclf.problem.operator import Features
    >>> problem = SoftMargin(np.array([1.0, -1.0]), Features(np.array([[1.0], [-1.0]])), lam=2.0)
    >>> judge_margins(problem, 1.0, np.ones(2), 0.0).certificate.passes(1e-15)
    True
    """
    labels, costs = problem.y, problem.squares
    size = np.where(labels > 0, 1.0, theta)
    found = weigh(problem, size * multipliers, w, low)
    scores = found.slope.scores + b
    margin, target = labels * scores, 2 * theta / (1 + theta) / size
    numbers = {"alpha": multipliers, "b": b} | ({} if low is None else {"alpha_lo": low / size})
    stationarity = {"stationarity in w": found.slope.apart, "balance": found.balance}
    if costs is None:
        primal, slack = nearest_feasible(labels, found.slope), size * (margin - target)
    else:
        xi = np.maximum(0.0, target - margin)
        primal = found.slope.norm2 + float(costs @ xi**2)
        slack = size * (margin + xi - target)
        residual = np.abs(xi - 0.5 * size * multipliers / costs)
        largest = 1.0 + np.max(np.abs(scores))
        stationarity["stationarity in xi"] = float(np.max(residual)) / largest
        numbers["xi"] = xi
    unit = max(float(multipliers.max()), _TINY)
    slack_unit = size * (target + np.abs(scores))
    condition = Condition("margin", slack, multipliers, slack_unit=slack_unit, multiplier_unit=unit)
    note = noted(problem, low)
    judged = judge(primal, found.dual, (condition,), numbers, stationarity=stationarity, note=note)
    return judged.revised(kernel_rounding=float(problem.value_rounding(found.feasible)))


@dataclass(frozen=True)
class WeighedMultipliers:
    r"""Slope, balance and dual value of multipliers times :math:`|\bar y_i|`, whatever theta is.

    Attributes
    ----------
    slope : FeatureSlope
        The one that is judged.
    balance : float
        Difference of the sums of the two classes, relative to both sums.
    feasible : array of shape (n,)
        Feasible multipliers next to them.
    dual : float
        The dual objective there.
    """

    slope: FeatureSlope
    balance: float
    feasible: Array
    dual: float


def weigh(problem: SoftMargin, given: Array, w: Array | None, low: Array | None) -> WeighedMultipliers:
    """Compute slope, balance and dual value of multipliers (n,), of which ``low`` is the part that doubles do not hold.

    The slope w as for `judge_margins`.
    """
    labels, half = problem.y, 0.5 * problem.y
    given_low = np.zeros(labels.size) if low is None else low
    parts = np.where(given + given_low < 0.0, 0.0, np.stack([given, given_low]))
    known = parts[:1] if low is None else parts
    up, down = (total(known[:, side]) for side in (labels > 0, labels < 0))
    feasible, rest = problem.feasible_parts(parts)
    if low is None:
        balance = float(labels @ given)
        slope = problem.Q.slope_of(half * given, w)
        of_feasible = problem.Q.slope_of(half * (feasible + rest))
    else:
        balance = inner(parts, labels)
        slope = precisely(problem.Q, half * parts, w)
        of_feasible = precisely(problem.Q, half * np.stack([feasible, rest]))
    dual = 2.0 * min(up, down) - of_feasible.norm2
    if problem.squares is not None:
        dual -= 0.25 * float((feasible**2 / problem.squares).sum())
    return WeighedMultipliers(slope, abs(balance) / max(up + down, _TINY), feasible, dual)


def nearest_feasible(labels: Array, slope: FeatureSlope) -> float:
    """Squared norm of the multiple of w at which the classes are 2 apart; infinite if they overlap."""
    lowest = np.min(slope.scores[labels > 0])
    distance = float(lowest - np.max(slope.scores[labels < 0]))
    return slope.norm2 * (2.0 / distance) ** 2 if distance > 0 else np.inf


def precisely(Q: Quadratic, parts: Array, w: Array | None = None) -> FeatureSlope:
    """Compute the slope of coefficients in two parts (2, n), or judge w, with sums that are rounded once."""
    found = Q.precise(parts, w)
    return FeatureSlope(found.scores(), found.norm2, found.apart)


def noted(problem: SoftMargin, low: Array | None) -> str:
    """The note of a proof: that of the problem, and whether multipliers have two parts."""
    return problem.note if low is None else f"{PRECISELY} {problem.note}".rstrip()
