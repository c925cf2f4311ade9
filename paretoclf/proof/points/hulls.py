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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import (
    AT_BOUND,
    CERTIFY,
    LOOSE,
    OVERESTIMATED,
    SCORE_DIGITS,
    SCORE_ROUNDING,
    UNDECIDED,
    WHOLE_RANK,
)
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge
from paretoclf.proof.verdicts.scale import Scale

Interval = tuple[float, float]

_TINY = float(np.finfo(float).tiny)
_NEAR = 4 * float(np.finfo(float).eps)  # breakpoints are rounded by no more than this share

#: Names of ``Graded.residuals``.
CONDITIONS = ("stationarity in w", "balance", "rho", "box", "complementarity")


@dataclass(frozen=True)
class OptimalThresholds:
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
        (plus_low, plus_high), (minus_low, minus_high) = self.plus, self.minus
        return 0.5 * (minus_low - plus_high), 0.5 * (minus_high - plus_low)

    @property
    def rho_interval(self) -> Interval:
        """All optimal margins."""
        (plus_low, plus_high), (minus_low, minus_high) = self.plus, self.minus
        return 0.5 * (plus_low + minus_low), 0.5 * (plus_high + minus_high)

    @property
    def unique(self) -> bool:
        """Whether there is only one."""
        return self.plus[0] == self.plus[1] and self.minus[0] == self.minus[1]


@dataclass(frozen=True)
class Intervals:
    """`OptimalThresholds` of k points: four arrays of shape (k,)."""

    plus_low: Array
    plus_high: Array
    minus_low: Array
    minus_high: Array

    @property
    def chosen(self) -> tuple[Array, Array]:
        """Thresholds ``rho - b`` and ``rho + b`` of the chosen points."""
        return _chosen(self.plus_low, self.plus_high), _chosen(self.minus_low, self.minus_high)

    def at(self, point: int) -> OptimalThresholds:
        """Take the thresholds of one point."""
        plus = float(self.plus_low[point]), float(self.plus_high[point])
        minus = float(self.minus_low[point]), float(self.minus_high[point])
        return OptimalThresholds(plus, minus)


def thresholds(y: Array, scores: Array, nu: float, cap_plus: float, cap_minus: float) -> OptimalThresholds:
    """Return all optimal thresholds for given scores ``w . x_i``.

    Examples
    --------
    Two positives at 3 and 1, both counted in full: every threshold from 3 on is as good.

    >>> import numpy as np
    >>> from paretoclf.proof.points.hulls import thresholds
    >>> t = thresholds(np.array([1.0, 1.0, -1.0]), np.array([3.0, 1.0, 0.0]), 2.0, 0.5, 2.0)
    >>> t.plus, t.minus
    ((3.0, inf), (0.0, 0.0))
    """
    one, caps = scores[:, None], (np.array([cap_plus]), np.array([cap_minus]))
    plus, minus = _sides(y, np.array([nu]), caps, one, one)
    return Intervals(*plus.best, *minus.best).at(0)


def _order_statistics(ordered: Array, rank: Array) -> tuple[Array, Array]:
    """Minimisers t of ``sum_i (t - s_i)_+ - rank t`` for each row of scores: from the first array to the second."""
    size, points = ordered.shape[1], np.arange(rank.size)
    whole = np.round(rank)
    tied = (whole <= size) & (np.abs(rank - whole) <= WHOLE_RANK * size)
    rounded_up = np.minimum(np.ceil(rank), size)
    first = np.where(tied, whole, rounded_up).astype(np.int64)
    low = np.where(first > 0, ordered[points, first - 1], -np.inf)
    next_score = ordered[points, np.minimum(first, size - 1)]
    high = np.where(first < size, next_score, np.inf)
    # Two scores that differ by rounding are one.
    largest = np.maximum(np.abs(ordered[:, 0]), np.abs(ordered[:, -1]))
    distinct = tied & (high - low > AT_BOUND * largest)
    return low, np.where(distinct, high, low)


@dataclass(frozen=True)
class _Side:
    """One class at k points, a point a row: then rows have one cap each, and sums go along memory.

    Only a few order statistics of the scores are kept, and not a sorted copy: blocks of points stay in the cache.

    Attributes
    ----------
    sign : float
        Label.
    cap : array of shape (k,)
    alpha, scores : array of shape (k, size of the class)
        Multipliers; scores times the label.
    best : pair of arrays of shape (k,)
        Optimal thresholds: from the first array to the second.
    total : array of shape (k,)
        Sums of the multipliers.
    ends, of_scores : pair of arrays of shape (k,)
        The smallest and the largest multiplier; and score.
    """

    sign: float
    cap: Array
    alpha: Array
    scores: Array
    best: tuple[Array, Array]
    total: Array
    ends: tuple[Array, Array]
    of_scores: tuple[Array, Array]

    def moved(self, total: Array) -> Array:
        """Upper bound (k,) on the sum of the changes of multipliers that are made feasible, with sums ``total``."""
        low, high = self.ends
        violation = np.maximum(-low, 0.0) + np.maximum(high - self.cap, 0.0)
        outside = self.alpha.shape[1] * violation
        return np.asarray(2.0 * outside + np.abs(self.total - total))

    def paid(self, threshold: Array) -> Array:
        """Costs of the slacks of the samples below a threshold."""
        below = np.minimum(self.scores - threshold[:, None], 0.0)
        return np.asarray(-self.cap * below.sum(axis=1))

    def residuals(self, threshold: Array, size: Array, nu: Array) -> tuple[Array, Array]:
        """The largest residuals of box and complementarity; ``size`` (k,) is that of the slacks.

        A score below the threshold leaves a xi, so that of slack and xi one is 0: their difference shows where
        complementarity fails.
        """
        slack, unit = self.scores - threshold[:, None], _unit(self.cap, nu)
        slack /= size[:, None]
        share = self.alpha / unit[:, None]
        off_zero = np.minimum(slack, share).max(axis=1)
        share -= (self.cap / unit)[:, None]
        off_cap = np.maximum(slack, share, out=share).min(axis=1)
        low, high = self.ends
        box = np.maximum(np.maximum(-low, high - self.cap) / unit, 0.0)
        return box, np.maximum(np.maximum(off_zero, -off_cap), 0.0)


def _unit(cap: Array, nu: Any) -> Array:
    """Scale of multipliers in their residuals: the cap, or the sum of either class if that is less."""
    return np.where(nu > 0, np.minimum(cap, 0.5 * nu), cap)


def _sides(y: Array, nu: Array, caps: tuple[Array, Array], alpha: Array, scores: Array) -> tuple[_Side, _Side]:
    """Split (n, k) arrays by class."""
    of_class = []
    for sign, cap in zip((1.0, -1.0), caps, strict=True):
        members = np.flatnonzero(y == sign)
        own = np.take(alpha.T, members, axis=1)
        signed = np.take(scores.T, members, axis=1)
        if sign < 0:
            np.subtract(0.0, signed, out=signed)
        ordered = np.sort(signed, axis=1)
        best = _order_statistics(ordered, nu / (2 * cap))
        of_scores = ordered[:, 0].copy(), ordered[:, -1].copy()
        ends = own.min(axis=1), own.max(axis=1)
        of_class.append(_Side(sign, cap, own, signed, best, own.sum(axis=1), ends, of_scores))
    return of_class[0], of_class[1]


def moved_by_rounding(t: Array, steps: Array) -> Array:
    """Bound on the error of scores from the rounding of breakpoints t (k + 1,); scores change by ``steps`` between."""
    rates = np.concatenate([[0.0], steps / np.diff(t), [0.0]])
    rate = np.maximum(rates[:-1], rates[1:])
    return np.asarray(_NEAR * np.abs(t) * rate)


def _chosen(low: Any, high: Any) -> Any:
    """The middle of an interval; of a half-line its finite end."""
    middle = 0.5 * low + 0.5 * high
    finite_end = np.where(np.isfinite(low), low, high)
    return np.where(np.isfinite(middle), middle, finite_end)


@dataclass(frozen=True)
class Graded:
    """Values, gaps and residuals of k points that were judged at once; `judged` spells one of them out.

    Attributes
    ----------
    primal_value, dual_value, gap, rounding, kernel_rounding, scale : array of shape (k,)
        As in a certificate.
    residuals : mapping of str to array of shape (k,)
        Largest residual of each condition.
    b, rho : array of shape (k,)
        Intercepts and margins that were judged.
    intervals : Intervals
        All optimal ones.
    """

    primal_value: Array
    dual_value: Array
    gap: Array
    residuals: Mapping[str, Array]
    rounding: Array
    kernel_rounding: Array
    scale: Array
    b: Array
    rho: Array
    intervals: Intervals
    stationarity: dict[str, Array] = field(repr=False)
    y: Array = field(repr=False)
    nu: Array = field(repr=False)
    caps: tuple[Array, Array] = field(repr=False)
    alpha: Array = field(repr=False)
    scores: Array = field(repr=False)
    size: Array = field(repr=False)
    note: str = field(repr=False)

    @property
    def residual(self) -> Array:
        """Largest residual of each point, shape (k,)."""
        return np.asarray(np.max(list(self.residuals.values()), axis=0))

    @property
    def unexplained(self) -> Array:
        """Gaps, but 0 where rounding alone can make them, shape (k,)."""
        gap = np.abs(self.gap)
        return np.where(gap * self.scale <= self.rounding, 0.0, gap)

    def passes(self, share: float = 1.0) -> Mask:
        """Whether each certificate passes with this share of the tolerances, shape (k,)."""
        gap = np.abs(self.gap)
        rounded = (gap * self.scale <= share * self.rounding) & (gap <= UNDECIDED)
        closed = (gap <= share * CERTIFY) | rounded
        return np.asarray((self.residual <= share * CERTIFY) & closed)

    def judged(self, point: int) -> Judged:
        """Spell out one point: certificate, conditions and numbers."""
        alpha = self.alpha[:, point]
        nu, b, rho, size = (float(each[point]) for each in (self.nu, self.b, self.rho, self.size))
        plus, minus = self.caps
        caps = np.where(self.y > 0, plus[point], minus[point])
        margin = self.y * (self.scores[:, point] + b)
        xi = np.maximum(0.0, rho - margin)
        units: dict[str, Any] = {"slack_unit": size, "multiplier_unit": _unit(caps, self.nu[point])}
        # The multiplier of rho is what the others add up to above nu.
        above_nu, nu_unit = np.array([alpha.sum() - nu]), max(nu, _TINY)
        conditions = (
            Condition("margin", margin - rho + xi, alpha, **units),
            Condition("slack", xi, caps - alpha, **units),
            Condition("rho", np.array([rho]), above_nu, slack_unit=size, multiplier_unit=nu_unit),
        )
        numbers = {"alpha": alpha, "xi": xi, "rho": rho, "b": b, "thresholds": self.intervals.at(point)}
        return judge(
            self.primal_value.item(point),
            self.dual_value.item(point),
            conditions,
            numbers,
            stationarity={name: values.item(point) for name, values in self.stationarity.items()},
            scale=self.scale.item(point),
            rounding=self.rounding.item(point),
            note=self.note,
        ).revised(
            kernel_rounding=self.kernel_rounding.item(point),
            relative_to=SumOfTerms(abs(self.primal_value.item(point)), self.scale.item(point), 0.0),
        )


class SumOfTerms(Scale):
    """The scale of a value whose terms have two signs, and may cancel: the sum of their sizes."""

    def __str__(self) -> str:
        return f"{self.size:.3g}, the sum of the sizes of the value's terms; the value is {self.value:.3g}"


def judge_hulls(problem: SoftMargin, alpha: Array, w: Array | None = None) -> Judged:
    """Judge multipliers, with the best intercept and margin for the slope.

    Parameters
    ----------
    problem : SoftMargin
        With nu, and caps of shape (n,) that are one number in each class.
    alpha : array of shape (n,)
        Multipliers.
    w : array of shape (d,), optional
        A slope given separately; by default the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.hulls import judge_hulls
    >>> from paretoclf.proof import SoftMargin
    >>> from paretoclf.problem.operator import Features
    >>> problem = SoftMargin(np.array([1.0, -1.0]), Features(np.array([[1.0], [-1.0]])), np.full(2, 0.25), nu=0.5)
    >>> judge_hulls(problem, np.full(2, 0.25)).certificate.gap
    0.0
    """
    assert problem.caps is not None
    together = replace(problem, caps=problem.caps[:, None], nu=np.array([problem.nu]))
    W = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
    return grade_hulls(together, alpha[:, None], W=W).judged(0)


def grade_hulls(
    problem: SoftMargin,
    alpha: Array,
    *,
    W: Array | None = None,
    own: tuple[Array, Array] | None = None,
    zero: Mask | None = None,
    moved: Array | None = None,
) -> Graded:
    """`judge_hulls` for k points, with joint products.

    Parameters
    ----------
    problem : SoftMargin
        With caps of shape (n, k), and nu of shape (k,).
    alpha : array of shape (n, k)
    W : array of shape (d, k), optional
    own : pair of arrays of shape (k,), optional
        Intercepts b and margins rho to judge; by default the best ones.
    zero : bool array of shape (k,), optional
        Points whose slope is 0, not only nearly so: where the hulls meet. The slope that alpha implies is a residual.
    moved : array of shape (k,), optional
        How far scores of W may be from those that belong to alpha, as it belongs to a breakpoint before that was
        rounded.
    """
    y, Q, nu = problem.y, problem.Q, problem.nu
    assert problem.caps is not None
    of_positive, of_negative = int(np.argmax(y)), int(np.argmin(y))
    caps = problem.caps[of_positive], problem.caps[of_negative]
    slopes = Q.slopes(y[:, None] * alpha, W)
    scores, norm2, stationarity_in_w = slopes.scores, slopes.norm2, slopes.apart
    terms = _score_terms(problem, W, moved)
    rounding = SCORE_ROUNDING * nu * terms
    implied_norm2 = norm2.copy()
    if zero is not None and zero.any():
        whole = np.maximum(nu[zero] * Q.length2, _TINY)
        stationarity_in_w[zero] = np.max(np.abs(scores[:, zero]), axis=0) / whole
        scores[:, zero] = 0.0
        norm2[zero] = 0.0
    sides = _sides(y, nu, caps, alpha, scores)
    best = Intervals(*sides[0].best, *sides[1].best)
    b, rho = own if own is not None else _best(best)
    thresholds = [rho - side.sign * b for side in sides]
    paid = sum(side.paid(at) for side, at in zip(sides, thresholds, strict=True))
    scale = np.maximum(0.5 * norm2 + paid + nu * rho, rounding)
    scale = np.maximum(scale, _TINY)
    lower_norm2 = _norm2_of_feasible(problem, alpha, sides, implied_norm2, rounding, scale, W is not None)
    primal, dual = 0.5 * norm2 + paid - nu * rho, -0.5 * lower_norm2
    gap = (primal - dual) / scale
    ends = [end + side.sign * b for side in sides for end in side.of_scores]
    # Where the gap is small, what rounding of scores does to margins is no error.
    least = np.where(np.abs(gap) <= LOOSE, SCORE_DIGITS * terms, 0.0)
    size = np.max([*np.abs(ends), rho, least], axis=0)
    size = np.maximum(size, _TINY)
    residuals_of = (side.residuals(at, size, nu) for side, at in zip(sides, thresholds, strict=True))
    box, complementarity = (np.maximum(*pair) for pair in zip(*residuals_of, strict=True))
    imbalance = np.abs(sides[0].total - sides[1].total)
    stationarity = {"stationarity in w": stationarity_in_w, "balance": imbalance / np.maximum(nu, _TINY)}
    of_rho = _residual_of_rho(rho / size, sides, nu)
    residuals = dict(zip(CONDITIONS, (*stationarity.values(), of_rho, box, complementarity), strict=True))
    return Graded(
        primal_value=primal,
        dual_value=dual,
        gap=gap,
        residuals=residuals,
        rounding=rounding,
        kernel_rounding=np.asarray(problem.value_rounding(alpha)),
        scale=scale,
        b=b,
        rho=rho,
        intervals=best,
        stationarity=stationarity,
        y=y,
        nu=nu,
        caps=caps,
        alpha=alpha,
        scores=scores,
        size=size,
        note=problem.note,
    )


def _score_terms(problem: SoftMargin, W: Array | None, moved: Array | None) -> Array:
    """Sizes (k,) of the terms that scores are sums of: rounding of scores is a share of these.

    They are multipliers nu, in all, times the largest kernel value. Of a slope that is given they are its own terms,
    however much cancels in it; it is known up to rounding of the multipliers.
    """
    terms = problem.nu * problem.Q.length2
    if W is None:
        return np.asarray(terms)
    of_slope = problem.Q.largest_terms(W.T)
    if moved is not None:
        of_slope = of_slope + moved / SCORE_ROUNDING
    return np.asarray(np.minimum(terms, of_slope + SCORE_ROUNDING * terms))


def _best(best: Intervals) -> tuple[Array, Array]:
    """Intercepts and margins of the chosen points."""
    plus, minus = best.chosen
    return 0.5 * (minus - plus), np.maximum(0.0, 0.5 * (plus + minus))  # rounding below 0 is 0


def _norm2_of_feasible(
    problem: SoftMargin,
    alpha: Array,
    sides: tuple[_Side, _Side],
    norm2: Array,
    rounding: Array,
    scale: Array,
    exactly: bool,
) -> Array:
    """Squared norms (k,) of the slopes of feasible multipliers next to alpha, whose own are ``norm2``, or a bound.

    Where rounding alone is what the two differ by, a bound will do, unless it is to be exact.
    """
    longest2, half = problem.Q.length2, 0.5 * problem.nu
    moved = sum(side.moved(half) for side in sides)
    length = np.sqrt(np.maximum(norm2, rounding) * longest2)
    more = 2.0 * moved * length + moved**2 * longest2
    norm2 += more
    far = ~(more <= OVERESTIMATED * scale)
    if exactly:
        far[:] = True
    if far.any():
        assert problem.caps is not None
        feasible = problem.feasible(alpha[:, far], problem.caps[:, far], half[far])
        norm2[far] = problem.Q.norms(problem.y[:, None] * feasible)
    return norm2


def _residual_of_rho(rho: Array, sides: tuple[_Side, _Side], nu: Array) -> Array:
    """Residuals (k,) of rho, relative to its unit, and of its multiplier: that the others add up to at least nu."""
    plus, minus = sides
    above_nu = (plus.total + minus.total - nu) / np.maximum(nu, _TINY)
    both = np.minimum(rho, above_nu)
    return np.asarray(np.max([-rho, -above_nu, both, np.zeros(nu.size)], axis=0))
