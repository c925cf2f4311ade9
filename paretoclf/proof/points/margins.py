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

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.operator import FeatureSlope, Quadratic
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.points.balance import balanced, balanced_parts
from paretoclf.proof.soft_margin import PRECISELY, SoftMargin


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
    y, Q, costs = problem.y, problem.Q, problem.squares
    A, size = 2 * theta / (1 + theta), np.where(y > 0, 1.0, theta)
    lam, sign = np.maximum(multipliers, 0.0), 0.5 * y
    if low is None:
        weighed = balanced(y, size * lam)
        slope, below = Q.slope_of(sign * size * lam, w), Q.slope_of(sign * weighed)
        balance = abs(float((y * size) @ multipliers))
        dual = A * float((weighed / size).sum()) - below.norm2
    else:
        given = np.stack([size * lam, np.where(lam > 0.0, low, 0.0)])
        weighed, rest = balanced_parts(y, given)
        slope, below = precisely(Q, sign * given, w), precisely(Q, sign * np.stack([weighed, rest]))
        balance = abs(inner(given, y))
        dual = A * inner(np.stack([weighed, rest]), 1.0 / size) - below.norm2
    f = slope.scores + b
    target = A / size
    numbers = {"alpha": multipliers, "b": b} | ({} if low is None else {"alpha_lo": low / size})
    stationarity = {
        "stationarity in w": slope.apart,
        "balance": balance / max(float(size @ lam), np.finfo(float).tiny),
    }
    if costs is None:
        primal = _nearest_feasible(y, slope.scores, slope.norm2)
        slack = size * (y * f - target)
    else:
        xi = np.maximum(0.0, target - y * f)
        primal = slope.norm2 + float(costs @ xi**2)
        dual -= 0.25 * float((weighed**2 / costs).sum())
        slack = size * (y * f + xi - target)
        largest = 1.0 + np.max(np.abs(f))
        stationarity["stationarity in xi"] = float(np.max(np.abs(xi - 0.5 * size * multipliers / costs))) / largest
        numbers["xi"] = xi
    unit = max(float(np.max(lam)), np.finfo(float).tiny)
    conditions = (
        Condition("margin", slack, multipliers, slack_unit=size * (target + np.abs(f)), multiplier_unit=unit),
    )
    found = judge(primal, dual, conditions, numbers, stationarity=stationarity, note=noted(problem, low))
    return found.revised(kernel_rounding=float(problem.value_rounding(weighed)))


def _nearest_feasible(y: Array, scores: Array, norm2: float) -> float:
    """Squared norm of the multiple of w at which the classes are 2 apart; infinite if they overlap."""
    apart = float(np.min(scores[y > 0]) - np.max(scores[y < 0]))
    return norm2 * (2.0 / apart) ** 2 if apart > 0 else np.inf


def precisely(Q: Quadratic, parts: Array, w: Array | None = None) -> FeatureSlope:
    """The slope of coefficients in two parts (2, n), or w, with sums that are rounded once."""
    found = Q.precise(parts, w)
    return FeatureSlope(found.scores(), found.norm2, found.apart)


def noted(problem: SoftMargin, low: Array | None) -> str:
    """What proofs add where they explain themselves."""
    return problem.note if low is None else f"{PRECISELY} {problem.note}".rstrip()
