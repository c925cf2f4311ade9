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

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.checks import Array, Mask
from paretoclf.evidence import Condition, Judged, judge
from paretoclf.gram import Gram
from paretoclf.judges.scores import slopes_of
from paretoclf.tolerances import AT_BOUND, CERTIFY, SCORE_ROUNDING, WHOLE_RANK

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
        return float(0.5 * (_chosen(*self.minus) - _chosen(*self.plus)))

    @property
    def rho(self) -> float:
        """Margin of the chosen point; rounding below 0 is 0."""
        return max(0.0, float(0.5 * (_chosen(*self.plus) + _chosen(*self.minus))))

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


@dataclass(frozen=True)
class Intervals:
    """`Thresholds` of k points: four arrays of shape (k,)."""

    plus_low: Array
    plus_high: Array
    minus_low: Array
    minus_high: Array

    @property
    def chosen(self) -> tuple[Array, Array]:
        """Thresholds ``rho - b`` and ``rho + b`` of the chosen points."""
        return _chosen(self.plus_low, self.plus_high), _chosen(self.minus_low, self.minus_high)

    def at(self, j: int) -> Thresholds:
        """Those of point j."""
        return Thresholds(
            (float(self.plus_low[j]), float(self.plus_high[j])), (float(self.minus_low[j]), float(self.minus_high[j]))
        )


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
    return _intervals(y, scores[:, None], *(np.array([x]) for x in (nu, cap_plus, cap_minus))).at(0)


def _intervals(y: Array, scores: Array, nu: Array, cap_plus: Array, cap_minus: Array) -> Intervals:
    """`thresholds` for each column of scores (n, k)."""
    return Intervals(
        *_order_statistics(scores[y > 0], nu / (2 * cap_plus)),
        *_order_statistics(0.0 - scores[y < 0], nu / (2 * cap_minus)),
    )


def _order_statistics(scores: Array, rank: Array) -> tuple[Array, Array]:
    """Minimisers t of ``sum_i (t - s_i)_+ - rank t`` for each column: from the first array to the second."""
    size, columns = scores.shape[0], np.arange(rank.size)
    ordered = np.full((rank.size, size + 2), np.inf)
    ordered[:, 0], ordered[:, 1:-1] = -np.inf, scores.T
    ordered[:, 1:-1].sort(axis=1)
    whole = np.round(rank)
    tied = (whole <= size) & (np.abs(rank - whole) <= WHOLE_RANK * size)
    first = np.where(tied, whole, np.minimum(np.ceil(rank), size)).astype(np.int64)
    low = ordered[columns, first]
    high = np.where(tied, ordered[columns, np.minimum(first + 1, size + 1)], low)
    # Two scores that differ by rounding are one.
    apart = high - low > AT_BOUND * np.maximum(np.abs(ordered[:, 1]), np.abs(ordered[:, size]))
    return low, np.where(apart, high, low)


def _chosen(low: Any, high: Any) -> Any:
    middle = 0.5 * low + 0.5 * high
    return np.where(np.isfinite(middle), middle, np.where(np.isfinite(low), low, high))


@dataclass(frozen=True)
class Graded:
    """What the judge finds of k points at once; `judged` spells one of them out.

    Attributes
    ----------
    primal_value, dual_value, gap, residual, rounding, scale : array of shape (k,)
        As in a certificate.
    b, rho : array of shape (k,)
        Intercepts and margins that were judged.
    intervals : Intervals
        All optimal ones.
    """

    primal_value: Array
    dual_value: Array
    gap: Array
    residual: Array
    rounding: Array
    scale: Array
    b: Array
    rho: Array
    intervals: Intervals
    conditions: tuple[Condition, ...] = field(repr=False)
    stationarity: dict[str, Array] = field(repr=False)
    alpha: Array = field(repr=False)
    note: str = field(repr=False)

    def passes(self, share: float = 1.0) -> Mask:
        """Whether each certificate passes with this share of the tolerances, shape (k,)."""
        closed = (np.abs(self.gap) <= share * CERTIFY) | (np.abs(self.gap * self.scale) <= share * self.rounding)
        return np.asarray((self.residual <= share * CERTIFY) & closed)

    def judged(self, j: int) -> Judged:
        """Spell out point j: certificate, conditions and numbers."""
        conditions = tuple(
            Condition(
                c.name, c.slack[:, j], c.multiplier[:, j],
                slack_unit=c.slack_unit[j], multiplier_unit=c.multiplier_unit[:, j],
            )
            for c in self.conditions
        )  # fmt: skip
        numbers = {
            "alpha": self.alpha[:, j],
            "xi": conditions[1].slack,
            "rho": float(self.rho[j]),
            "b": float(self.b[j]),
            "thresholds": self.intervals.at(j),
        }
        return judge(
            float(self.primal_value[j]),
            float(self.dual_value[j]),
            conditions,
            numbers,
            stationarity={name: float(values[j]) for name, values in self.stationarity.items()},
            scale=float(self.scale[j]),
            rounding=float(self.rounding[j]),
            note=self.note,
        )


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
    one = [np.array([x]) for x in (nu, cap_plus, cap_minus)]
    W = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
    return grade_two_nu(gram, y, one[0], one[1], one[2], alpha[:, None], W=W).judged(0)


def grade_two_nu(
    gram: Gram, y: Array, nu: Array, cap_plus: Array, cap_minus: Array, alpha: Array, *,
    W: Array | None = None, own: tuple[Array, Array] | None = None, zero: Mask | None = None,
) -> Graded:  # fmt: skip
    """`judge_two_nu` for k points, with joint products.

    Parameters
    ----------
    gram, y
        As there.
    nu, cap_plus, cap_minus : array of shape (k,)
    alpha : array of shape (n, k)
    W : array of shape (d, k), optional
    own : pair of arrays of shape (k,), optional
        Intercepts b and margins rho to judge; by default the best ones.
    zero : bool array of shape (k,), optional
        Points whose slope is 0, not only nearly so: where the hulls meet. What alpha leaves of it is a residual.
    """
    caps = np.where((y > 0)[:, None], cap_plus, cap_minus)
    feasible = np.clip(alpha, 0.0, caps)
    for side in (y > 0, y < 0):
        feasible[side] = _of_sum(feasible[side], caps[side], 0.5 * nu)
    given = slopes_of(gram, y[:, None] * alpha, W)
    scores, norm2, apart = given.scores, given.norm2, given.apart
    largest = float(np.max(gram.diagonal()))
    # Scores are sums of terms that cancel: those of multipliers nu, in all, times the largest kernel value.
    rounding = SCORE_ROUNDING * nu**2 * largest
    moved = feasible - alpha
    left = np.abs(moved).sum(axis=0) ** 2 * largest  # at least the squared length of what was moved
    if W is None and (left <= rounding).all():
        lower_norm2 = norm2 + 2.0 * np.einsum("nk,nk->k", y[:, None] * moved, scores) + left
    else:
        lower_norm2 = slopes_of(gram, y[:, None] * feasible).norm2
    if zero is not None and zero.any():
        terms = np.maximum(nu[zero] * largest, np.finfo(float).tiny)
        apart[zero] = np.max(np.abs(scores[:, zero]), axis=0) / terms
        scores[:, zero], norm2[zero] = 0.0, 0.0
    best = _intervals(y, scores, nu, cap_plus, cap_minus)
    if own is None:
        plus, minus = best.chosen
        own = 0.5 * (minus - plus), np.maximum(0.0, 0.5 * (plus + minus))  # rounding below 0 is 0
    b, rho = own
    f = scores + b
    yf = y[:, None] * f
    xi = np.maximum(0.0, rho - yf)
    paid = np.einsum("nk,nk->k", caps, xi)
    size = np.maximum(np.maximum(np.max(np.abs(f), axis=0), rho), np.finfo(float).tiny)
    total = alpha.sum(axis=0) - nu
    least = np.maximum(nu, np.finfo(float).tiny)
    conditions = (
        Condition("margin", yf - rho + xi, alpha, slack_unit=size, multiplier_unit=caps),
        Condition("slack", xi, caps - alpha, slack_unit=size, multiplier_unit=caps),
        Condition("rho", rho[None], total[None], slack_unit=size, multiplier_unit=least[None]),
    )
    stationarity = {"stationarity in w": apart, "balance": np.abs(y @ alpha) / caps.sum(axis=0)}
    scale = np.maximum(np.maximum(0.5 * norm2 + paid + nu * rho, rounding), np.finfo(float).tiny)
    primal, dual = 0.5 * norm2 + paid - nu * rho, -0.5 * lower_norm2
    return Graded(
        primal_value=primal,
        dual_value=dual,
        gap=(primal - dual) / scale,
        residual=np.max([*(c.residuals(axis=0) for c in conditions), *stationarity.values()], axis=0),
        rounding=rounding,
        scale=scale,
        b=b,
        rho=rho,
        intervals=best,
        conditions=conditions,
        stationarity=stationarity,
        alpha=alpha,
        note=gram.note,
    )


def _of_sum(alpha: Array, caps: Array, total: Array) -> Array:
    """Multipliers in their box with the given sums, next to some: scaled down, or moved towards the caps.

    Upwards those are moved that are off their bounds, where that suffices: at the optimum only these cost nothing.
    """
    now = alpha.sum(axis=0)
    missing = np.maximum(total - now, 0.0)
    free = np.where(alpha > 0.0, caps - alpha, 0.0)
    room = np.where(free.sum(axis=0) >= missing, free, caps - alpha)
    share = np.minimum(1.0, missing / np.maximum(room.sum(axis=0), np.finfo(float).tiny))
    down = np.where(now > total, total / np.where(now > 0, now, 1.0), 1.0)
    return np.asarray(alpha * down + room * share)
