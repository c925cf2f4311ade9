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
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.points.balance import balanced
from paretoclf.proof.soft_margin import SoftMargin


def judge_margins(problem: SoftMargin, theta: float, multipliers: Array, b: float, w: Array | None = None) -> Judged:
    """Judge multipliers and intercept.

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
    lam = np.maximum(multipliers, 0.0)
    slope = Q.slope_of(0.5 * y * size * lam, w)
    feasible = balanced(y, size * lam) / size
    dual = A * float(feasible.sum()) - Q.slope_of(0.5 * y * size * feasible).norm2
    f = slope.scores + b
    target = A / size
    numbers = {"alpha": multipliers, "b": b}
    stationarity = {
        "stationarity in w": slope.apart,
        "balance": abs(float((y * size) @ multipliers)) / max(float(size @ lam), np.finfo(float).tiny),
    }
    if costs is None:
        primal = _nearest_feasible(y, slope.scores, slope.norm2)
        slack = size * (y * f - target)
    else:
        xi = np.maximum(0.0, target - y * f)
        primal = slope.norm2 + float(costs @ xi**2)
        dual -= 0.25 * float(((size * feasible) ** 2 / costs).sum())
        slack = size * (y * f + xi - target)
        largest = 1.0 + np.max(np.abs(f))
        stationarity["stationarity in xi"] = float(np.max(np.abs(xi - 0.5 * size * multipliers / costs))) / largest
        numbers["xi"] = xi
    unit = max(float(np.max(lam)), np.finfo(float).tiny)
    conditions = (
        Condition("margin", slack, multipliers, slack_unit=size * (target + np.abs(f)), multiplier_unit=unit),
    )
    found = judge(primal, dual, conditions, numbers, stationarity=stationarity, note=problem.note)
    return found.revised(kernel_rounding=float(problem.value_rounding(size * feasible)))


def _nearest_feasible(y: Array, scores: Array, norm2: float) -> float:
    """Squared norm of the multiple of w at which the classes are 2 apart; infinite if they overlap."""
    apart = float(np.min(scores[y > 0]) - np.max(scores[y < 0]))
    return norm2 * (2.0 / apart) ** 2 if apart > 0 else np.inf
