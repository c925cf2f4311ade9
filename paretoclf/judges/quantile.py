r"""The judge of the quantile SVM, :math:`\min\frac\lambda2\|w\|^2+\sum_ic_i\max(0,1-y_if(x_i))` without intercept.

Every w is feasible with slacks :math:`\max(0,1-y_if(x_i))`, and every :math:`\alpha` clipped to :math:`[0,c]`; the two
objectives bound the optimal value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paretoclf.checks import Array
from paretoclf.exact_sums import inner, total
from paretoclf.gram import Gram
from paretoclf.proof.evidence import Condition, Judged, judge
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
    coef, feasible = y[:, None] * alpha / lam, np.clip(alpha, 0.0, caps)
    given = gram.quadratic.slopes(coef, W)
    lower = gram.quadratic.slopes(y[:, None] * feasible / lam) if W is not None or (feasible != alpha).any() else given
    terms = SCORE_ROUNDING * np.max(gram.diagonal()) * np.abs(coef).sum(axis=0)
    out = []
    for j in range(alpha.shape[1]):
        implied = 0.0 if b is None else float(coef[:, j].sum())
        constant = 0.0 if b is None else implied if np.isnan(b[j]) else b[j]
        of_feasible = 0.0 if b is None else float(y @ feasible[:, j]) / lam
        f, dual = given[j].scores + constant, lower[j].norm2 + of_feasible**2
        point = _Seen(
            f, y * f - 1.0, given[j].norm2, given[j].apart, constant, constant - implied,
            float(feasible[:, j].sum()) - 0.5 * lam * dual, float(terms[j]),
        )  # fmt: skip
        out.append(_judged(gram, y, caps[:, j], lam, alpha[:, j], point))
    return out


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
    implied, of_feasible = (0.0 if b is None else inner(each, y) for each in (parts, feasible))
    dual = lam * (total(feasible) - 0.5 * (lower.norm2 + of_feasible**2))
    point = _Seen(f, margin, slope.norm2, slope.apart, constant, constant - implied, dual, 0.0)
    return _judged(gram, y, caps, lam, lam * parts[0], point)


class _Seen(NamedTuple):
    """What a point is judged by: its scores f (n,) and margins ``y f - 1``, whatever precision they have.

    ``norm2`` and ``apart`` are of its slope; ``constant`` is the weight of the feature 1, ``off`` how far that is from
    the one that the multipliers imply; ``dual`` the dual value of feasible ones; ``rounding`` that of scores.
    """

    f: Array
    margin: Array
    norm2: float
    apart: float
    constant: float
    off: float
    dual: float
    rounding: float


def _judged(gram: Gram, y: Array, caps: Array, lam: float, alpha: Array, point: _Seen) -> Judged:
    f, margin, constant = point.f, point.margin, point.constant
    xi, size, unit = np.maximum(0.0, -margin), 1.0 + np.abs(f), box_units(caps)
    return judge(
        0.5 * lam * (point.norm2 + constant**2) + float(caps @ xi),
        point.dual,
        (
            Condition("margin", margin + xi, alpha, slack_unit=size, multiplier_unit=unit),
            Condition("slack", xi, caps - alpha, slack_unit=size, multiplier_unit=unit),
        ),
        {"alpha": alpha, "xi": xi, "b": constant},
        stationarity={"stationarity in w": max(point.apart, abs(point.off) / (1.0 + float(np.abs(alpha).sum()) / lam))},
        rounding=float(slack_rounding(caps, margin, f, constant)),
        note=gram.note,
    ).revised(
        # The constant is part of the norm: it adds no term of its own.
        certain=float(certain_gap(y, caps, alpha, margin, margin_rounding(f, constant) + point.rounding)),
        kernel_rounding=lam * float(gram.value_rounding(y * alpha / lam)),
    )
