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
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.soft_margin import PRECISELY, SoftMargin

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
        What :math:`|\bar y_i|` times the multipliers miss: then sums are rounded once.

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
    y, costs, size = problem.y, problem.squares, np.where(problem.y > 0, 1.0, theta)
    found = weigh(problem, size * multipliers, w, low)
    f, target = found.slope.scores + b, 2 * theta / (1 + theta) / size
    numbers = {"alpha": multipliers, "b": b} | ({} if low is None else {"alpha_lo": low / size})
    stationarity = {"stationarity in w": found.slope.apart, "balance": found.balance}
    if costs is None:
        primal, slack = nearest_feasible(y, found.slope), size * (y * f - target)
    else:
        xi = np.maximum(0.0, target - y * f)
        primal, slack = found.slope.norm2 + float(costs @ xi**2), size * (y * f + xi - target)
        largest = 1.0 + np.max(np.abs(f))
        stationarity["stationarity in xi"] = float(np.max(np.abs(xi - 0.5 * size * multipliers / costs))) / largest
        numbers["xi"] = xi
    unit = max(float(multipliers.max()), _TINY)
    conditions = (
        Condition("margin", slack, multipliers, slack_unit=size * (target + np.abs(f)), multiplier_unit=unit),
    )
    judged = judge(primal, found.dual, conditions, numbers, stationarity=stationarity, note=noted(problem, low))
    return judged.revised(kernel_rounding=float(problem.value_rounding(found.feasible)))


@dataclass(frozen=True)
class WeighedMultipliers:
    r"""What multipliers times :math:`|\bar y_i|` say, whatever theta is.

    Attributes
    ----------
    slope : FeatureSlope
        The one that is judged.
    balance : float
        By how much the two classes miss each other, relative to their sums.
    feasible : array of shape (n,)
        Feasible ones next to them.
    dual : float
        The dual objective there.
    """

    slope: FeatureSlope
    balance: float
    feasible: Array
    dual: float


def weigh(problem: SoftMargin, given: Array, w: Array | None, low: Array | None) -> WeighedMultipliers:
    """What such multipliers (n,) say, of which ``low`` is what they miss; w as for `judge_margins`."""
    y, Q, rest = problem.y, problem.Q, np.zeros(problem.y.size) if low is None else low
    parts = np.where(given + rest < 0.0, 0.0, np.stack([given, rest]))
    known = parts[:1] if low is None else parts
    up, down = (total(known[:, side]) for side in (y > 0, y < 0))
    feasible, rest = problem.feasible_parts(parts)
    if low is None:
        slope, below = Q.slope_of(0.5 * y * given, w), Q.slope_of(0.5 * y * (feasible + rest))
    else:
        slope, below = precisely(Q, 0.5 * y * parts, w), precisely(Q, 0.5 * y * np.stack([feasible, rest]))
    dual = 2.0 * min(up, down) - below.norm2
    if problem.squares is not None:
        dual -= 0.25 * float((feasible**2 / problem.squares).sum())
    balance = float(y @ given) if low is None else inner(parts, y)
    return WeighedMultipliers(slope, abs(balance) / max(up + down, _TINY), feasible, dual)


def nearest_feasible(y: Array, slope: FeatureSlope) -> float:
    """Squared norm of the multiple of w at which the classes are 2 apart; infinite if they overlap."""
    apart = float(np.min(slope.scores[y > 0]) - np.max(slope.scores[y < 0]))
    return slope.norm2 * (2.0 / apart) ** 2 if apart > 0 else np.inf


def precisely(Q: Quadratic, parts: Array, w: Array | None = None) -> FeatureSlope:
    """The slope of coefficients in two parts (2, n), or w, with sums that are rounded once."""
    found = Q.precise(parts, w)
    return FeatureSlope(found.scores(), found.norm2, found.apart)


def noted(problem: SoftMargin, low: Array | None) -> str:
    """What proofs add where they explain themselves."""
    return problem.note if low is None else f"{PRECISELY} {problem.note}".rstrip()
