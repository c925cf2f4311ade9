r"""The judge of the quantile SVM, :math:`\min\frac\lambda2\|w\|^2+\sum_ic_i\max(0,1-y_if(x_i))` without intercept.

Every w is feasible with slacks :math:`\max(0,1-y_if(x_i))`, and every :math:`\alpha` clipped to :math:`[0,c]`; the two
objectives bound the optimal value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.exact_sums import inner, total
from paretoclf.gram import Gram
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.quadratic import FeatureSlope
from paretoclf.tolerances import SCORE_ROUNDING
from paretoclf.units import box_units, certain_gap, margin_rounding, slack_rounding


def judge_quantile(
    gram: Gram, y: Array, caps: Array, lam: float, alpha: Array, *, w: Array | None = None, b: float | None = None
) -> Judged:
    """Judge multipliers, or multipliers and a slope.

    Parameters
    ----------
    gram : Gram
        Samples and kernel.
    y : array of shape (n,)
        Labels.
    caps : array of shape (n,)
        Weights of the slacks.
    lam : float
        Weight of the squared norm.
    alpha : array of shape (n,)
        Multipliers.
    w : array of shape (d,), optional
        A slope given separately; by default the one that alpha implies.
    b : float, optional
        Weight of an added constant feature 1, which is part of the norm; None where there is no such feature, nan for
        the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.judges.quantile import judge_quantile
    >>> gram, y = Gram(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0])
    >>> judge_quantile(gram, y, np.full(2, 1.0), 1.0, np.full(2, 0.5)).certificate.gap
    0.0
    """
    W = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
    return judge_quantiles(gram, y, caps[:, None], lam, alpha[:, None], W=W, b=None if b is None else [b])[0]


def judge_quantiles(
    gram: Gram, y: Array, caps: Array, lam: float, alpha: Array, *, W: Array | None = None, b: Any = None
) -> list[Judged]:
    """`judge_quantile` for each column of caps and alpha (n, k), of W (d, k), and of b (k,), with joint products."""
    feasible = np.clip(alpha, 0.0, caps)
    given = gram.quadratic.slopes(y[:, None] * alpha / lam, W)
    lower = gram.quadratic.slopes(y[:, None] * feasible / lam) if W is not None or (feasible != alpha).any() else given
    return [
        _judge(gram, y, caps[:, j], lam, alpha[:, j], (given[j], lower[j]), None if b is None else b[j])
        for j in range(alpha.shape[1])
    ]


def judge_quantile_precisely(
    gram: Gram, y: Array, caps: Array, lam: float, parts: Array, *, w: Array | None = None, b: float | None = None
) -> Judged:
    """`judge_quantile` of multipliers ``lam (parts[0] + parts[1])``, with sums that are rounded once; b is a number."""
    Q, box, constant = gram.quadratic, caps / lam, b or 0.0
    inside = np.where((parts[0] - box) + parts[1] > 0.0, box, np.where(parts[0] + parts[1] < 0.0, 0.0, parts[0]))
    feasible = np.stack([inside, np.where(inside == parts[0], parts[1], 0.0)])
    slope, lower = Q.precise(y * parts, w), Q.precise(y * feasible)
    ones = np.full(y.size, constant)
    f, margin = slope.scores(ones[:, None]), y * slope.scores(np.column_stack([ones, -y]))
    implied, lower_constant = (0.0 if b is None else inner(each, y) for each in (parts, feasible))
    xi, size, alpha = np.maximum(0.0, -margin), 1.0 + np.abs(f), lam * parts[0]
    apart = abs(constant - implied) / (1.0 + float(np.abs(parts[0]).sum()))
    conditions = _conditions(margin, xi, alpha, caps, size)
    return judge(
        0.5 * lam * (slope.norm2 + constant**2) + float(caps @ xi),
        lam * (total(feasible) - 0.5 * (lower.norm2 + lower_constant**2)),
        conditions,
        {"alpha": alpha, "xi": xi, "b": constant},
        stationarity={"stationarity in w": max(slope.apart, apart)},
        rounding=float(slack_rounding(caps, margin, f, constant)),
        note=gram.note,
    ).revised(
        certain=float(certain_gap(y, caps, alpha, margin, margin_rounding(f, constant), constant)),
        kernel_rounding=lam * float(gram.value_rounding(y * parts[0])),
    )


def _conditions(margin: Array, xi: Array, alpha: Array, caps: Array, size: Array) -> tuple[Condition, Condition]:
    """What margins and slacks must satisfy, with the units that both are judged in."""
    unit = box_units(caps)
    return (
        Condition("margin", margin + xi, alpha, slack_unit=size, multiplier_unit=unit),
        Condition("slack", xi, caps - alpha, slack_unit=size, multiplier_unit=unit),
    )


def _judge(
    gram: Gram, y: Array, caps: Array, lam: float, alpha: Array, slopes: tuple[FeatureSlope, FeatureSlope], b: Any
) -> Judged:
    """Judge one, with the slopes of its multipliers and of the feasible ones next to them."""
    (slope, lower), coef, feasible = slopes, y * alpha / lam, np.clip(alpha, 0.0, caps)
    constant, lower_constant = 0.0, 0.0
    stationarity = {"stationarity in w": slope.apart}
    if b is not None:
        implied = float(coef.sum())
        constant, lower_constant = (implied if np.isnan(b) else b), float((y * feasible).sum() / lam)
        apart = abs(constant - implied) / (1.0 + float(np.abs(coef).sum()))
        stationarity["stationarity in w"] = max(slope.apart, apart)
    f = slope.scores + constant
    xi = np.maximum(0.0, 1.0 - y * f)
    primal = 0.5 * lam * (slope.norm2 + constant**2) + float(caps @ xi)
    dual = float(feasible.sum()) - 0.5 * lam * (lower.norm2 + lower_constant**2)
    blur = margin_rounding(f, constant) + SCORE_ROUNDING * float(np.max(gram.diagonal()) * np.abs(coef).sum())
    return judge(
        primal,
        dual,
        _conditions(y * f - 1.0, xi, alpha, caps, 1.0 + np.abs(f)),
        {"alpha": alpha, "xi": xi, "b": constant},
        stationarity=stationarity,
        rounding=float(slack_rounding(caps, y * f - 1.0, f, constant)),
        note=gram.note,
    ).revised(
        certain=float(certain_gap(y, caps, alpha, y * f - 1.0, blur)),
        kernel_rounding=lam * float(gram.value_rounding(coef)),
    )
