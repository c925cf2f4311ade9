r"""The judge of a regularised risk, :math:`\frac r2\|w\|^2+\sum_ic_i\phi(y_i(w\cdot x_i+b))`.

Every (w, b) is feasible. The dual is :math:`\max_\alpha-\sum_ic_i\phi^*(-\alpha_i/c_i)-\frac1{2r}\alpha^\top Q\alpha`
subject to :math:`y^\top\alpha=0` and :math:`\alpha_i/c_i` in the range of :math:`-\phi'`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.gram import Gram
from paretoclf.problem.units import largest_sum, margin_rounding
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.losses import Loss
from paretoclf.proof.soft_margin import SoftMargin


def judge_risk(
    gram: Gram, y: Array, costs: Array, ridge: float, loss: Loss, alpha: Array, b: float, *, w: Array | None = None
) -> Judged:
    """Judge multipliers and intercept.

    Parameters
    ----------
    gram : Gram
        Samples and kernel.
    y : array of shape (n,)
        Labels.
    costs : array of shape (n,)
        Weight of each sample's loss, positive.
    ridge : float
        Weight of half the squared norm.
    loss : Loss
        Function of the margin.
    alpha : array of shape (n,)
        Multipliers of ``u_i = y_i f(x_i)``.
    b : float
        Intercept.
    w : array of shape (d,), optional
        A slope given separately; by default the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.proof.points.losses import loss_of
    >>> from paretoclf.proof.points.risk import judge_risk
    >>> gram, y, one = Gram(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), np.ones(2)
    >>> judge_risk(gram, y, one, 1.0, loss_of("square"), np.full(2, 1 / 3), 0.0).certificate.passes(1e-15)
    True
    """
    problem = SoftMargin.of(gram, y, costs, lam=ridge)
    if loss.name == "hinge":
        return judge_hinge(problem, alpha, b, w)
    slope = problem.Q.slope_of(y * alpha / ridge, w)
    u = y * (slope.scores + b)
    primal = 0.5 * ridge * slope.norm2 + float(costs @ loss.value(u))
    made = _feasible(problem, costs, loss, alpha)
    lower = problem.Q.slope_of(y * made / ridge)
    dual = -float(costs @ loss.conjugate(made / costs)) - 0.5 * ridge * lower.norm2
    size, bounded = 1.0 + np.abs(u), np.isfinite(loss.low)
    numbers: dict[str, Any] = {"alpha": alpha, "b": b, "u": u}
    stationarity = {
        "stationarity in w": slope.apart,
        "balance": abs(float(y @ alpha))
        / (float(largest_sum(y, costs)) if bounded else max(costs.sum(), np.abs(alpha).sum())),
    }
    stationarity["gradient"] = float(np.max(np.abs(alpha / costs + loss.slope(u)) / size))
    conditions = (Condition("margin", u - y * (slope.scores + b), alpha, equation=True, slack_unit=size),)
    of_margins = margin_rounding(u, b)
    steepest = np.maximum(np.abs(loss.slope(u - of_margins)), np.abs(loss.slope(u + of_margins)))
    return judge(
        primal,
        dual,
        conditions,
        numbers,
        stationarity=stationarity,
        rounding=float(costs @ (steepest * of_margins)),
        note=gram.note,
    ).revised(kernel_rounding=float(problem.value_rounding(made)))


def _feasible(problem: SoftMargin, costs: Array, loss: Loss, alpha: Array) -> Array:
    """Multipliers in the range of the loss, and in balance, next to these."""
    if np.isfinite(loss.low):
        return np.asarray(problem.feasible(np.clip(alpha, loss.low * costs, loss.high * costs)))
    return alpha - problem.y * float(problem.y @ alpha) / problem.y.size
