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
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.losses import Loss
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge


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
    margin = y * (slope.scores + b)
    primal = 0.5 * ridge * slope.norm2 + float(costs @ loss.value(margin))
    feasible = _feasible(problem, costs, loss, alpha)
    of_feasible = problem.Q.slope_of(y * feasible / ridge)
    conjugate = float(costs @ loss.conjugate(feasible / costs))
    dual = -conjugate - 0.5 * ridge * of_feasible.norm2
    size = 1.0 + np.abs(margin)
    # The largest sum of multipliers that either class can have; without bounds on these, a size of theirs.
    largest = max(costs.sum(), np.abs(alpha).sum())
    if np.isfinite(loss.low):
        largest = float(largest_sum(y, costs))
    stationarity = {"stationarity in w": slope.apart, "balance": abs(float(y @ alpha)) / largest}
    gradient = np.abs(alpha / costs + loss.slope(margin))
    stationarity["gradient"] = float(np.max(gradient / size))
    equation = Condition("margin", margin - y * (slope.scores + b), alpha, equation=True, slack_unit=size)
    numbers: dict[str, Any] = {"alpha": alpha, "b": b, "u": margin}
    judged = judge(
        primal,
        dual,
        (equation,),
        numbers,
        stationarity=stationarity,
        rounding=_rounding(costs, loss, margin, b),
        note=gram.note,
    )
    return judged.revised(kernel_rounding=float(problem.value_rounding(feasible)))


def _rounding(costs: Array, loss: Loss, margin: Array, b: float) -> float:
    """Bound on what rounding of margins adds to the risk: the rounding times the steepest slope within it."""
    rounding = margin_rounding(margin, b)
    below, above = loss.slope(margin - rounding), loss.slope(margin + rounding)
    steepest = np.maximum(np.abs(below), np.abs(above))
    return float(costs @ (steepest * rounding))


def _feasible(problem: SoftMargin, costs: Array, loss: Loss, alpha: Array) -> Array:
    """Multipliers in the range of the loss, and in balance, next to these."""
    if np.isfinite(loss.low):
        in_range = np.clip(alpha, loss.low * costs, loss.high * costs)
        return np.asarray(problem.feasible(in_range))
    return alpha - problem.y * float(problem.y @ alpha) / problem.y.size
