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
from paretoclf.proof.evidence import Condition, Judged, judge
from paretoclf.proof.soft_margin import SoftMargin

Interval = tuple[float, float]

_NEAR = 4 * float(np.finfo(float).eps)  # breakpoints are rounded by no more than this share

#: What ``Graded.residuals`` are of.
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
    """`OptimalThresholds` of k points: four arrays of shape (k,)."""

    plus_low: Array
    plus_high: Array
    minus_low: Array
    minus_high: Array

    @property
    def chosen(self) -> tuple[Array, Array]:
        """Thresholds ``rho - b`` and ``rho + b`` of the chosen points."""
        return _chosen(self.plus_low, self.plus_high), _chosen(self.minus_low, self.minus_high)

    def at(self, j: int) -> OptimalThresholds:
        """Those of point j."""
        return OptimalThresholds(
            (float(self.plus_low[j]), float(self.plus_high[j])), (float(self.minus_low[j]), float(self.minus_high[j]))
        )


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
    first = np.where(tied, whole, np.minimum(np.ceil(rank), size)).astype(np.int64)
    low = np.where(first > 0, ordered[points, first - 1], -np.inf)
    high = np.where(first < size, ordered[points, np.minimum(first, size - 1)], np.inf)
    # Two scores that differ by rounding are one.
    apart = tied & (high - low > AT_BOUND * np.maximum(np.abs(ordered[:, 0]), np.abs(ordered[:, -1])))
    return low, np.where(apart, high, low)


@dataclass(frozen=True)
class _Side:
    """One class at k points, a point a row: then rows have one cap each, and sums go along memory.

    What is needed of the order of the scores is kept, and not their sorted copy: blocks of points stay in the cache.

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
        """At least the sum of what repair moves the multipliers by."""
        low, high = self.ends
        outside = self.alpha.shape[1] * (np.maximum(-low, 0.0) + np.maximum(high - self.cap, 0.0))
        return np.asarray(2.0 * outside + np.abs(self.total - total))

    def paid(self, threshold: Array) -> Array:
        """What the samples below a threshold cost."""
        return np.asarray(-self.cap * np.minimum(self.scores - threshold[:, None], 0.0).sum(axis=1))

    def residuals(self, threshold: Array, size: Array, nu: Array) -> tuple[Array, Array]:
        """The largest residuals of box and complementarity; ``size`` (k,) is that of the slacks.

        What is below the threshold is xi, so that of slack and xi one is 0: where complementarity fails is seen from
        their difference.
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
    """What multipliers are judged against: their cap, or what either class adds up to if that is less."""
    return np.where(nu > 0, np.minimum(cap, 0.5 * nu), cap)


def _sides(y: Array, nu: Array, caps: tuple[Array, Array], alpha: Array, scores: Array) -> tuple[_Side, _Side]:
    """Split (n, k) arrays by class."""
    of_class = []
    for sign, cap in zip((1.0, -1.0), caps, strict=True):
        members = np.flatnonzero(y == sign)
        a, inner = np.take(alpha.T, members, axis=1), np.take(scores.T, members, axis=1)
        if sign < 0:
            np.subtract(0.0, inner, out=inner)
        ordered = np.sort(inner, axis=1)
        best, of_scores = _order_statistics(ordered, nu / (2 * cap)), (ordered[:, 0].copy(), ordered[:, -1].copy())
        ends = a.min(axis=1), a.max(axis=1)
        of_class.append(_Side(sign, cap, a, inner, best, a.sum(axis=1), ends, of_scores))
    return of_class[0], of_class[1]


def moved_by_rounding(t: Array, steps: Array) -> Array:
    """How far scores may be from those at breakpoints t (k + 1,), which are rounded; they go by ``steps``."""
    rates = np.concatenate([[0.0], steps / np.diff(t), [0.0]])
    return np.asarray(_NEAR * np.abs(t) * np.maximum(rates[:-1], rates[1:]))


def _chosen(low: Any, high: Any) -> Any:
    middle = 0.5 * low + 0.5 * high
    return np.where(np.isfinite(middle), middle, np.where(np.isfinite(low), low, high))


@dataclass(frozen=True)
class Graded:
    """What the judge finds of k points at once; `judged` spells one of them out.

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

    def judged(self, j: int) -> Judged:
        """Spell out point j: certificate, conditions and numbers."""
        alpha, b, rho, size = self.alpha[:, j], float(self.b[j]), float(self.rho[j]), float(self.size[j])
        caps = np.where(self.y > 0, self.caps[0][j], self.caps[1][j])
        unit = _unit(caps, self.nu[j])
        yf = self.y * (self.scores[:, j] + b)
        xi = np.maximum(0.0, rho - yf)
        total, least = alpha.sum() - self.nu[j], max(float(self.nu[j]), np.finfo(float).tiny)
        conditions = (
            Condition("margin", yf - rho + xi, alpha, slack_unit=size, multiplier_unit=unit),
            Condition("slack", xi, caps - alpha, slack_unit=size, multiplier_unit=unit),
            Condition("rho", np.array([rho]), np.array([total]), slack_unit=size, multiplier_unit=least),
        )
        return judge(
            float(self.primal_value[j]),
            float(self.dual_value[j]),
            conditions,
            {"alpha": alpha, "xi": xi, "rho": rho, "b": b, "thresholds": self.intervals.at(j)},
            stationarity={name: float(values[j]) for name, values in self.stationarity.items()},
            scale=float(self.scale[j]),
            rounding=float(self.rounding[j]),
            note=self.note,
        ).revised(kernel_rounding=float(self.kernel_rounding[j]))


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
        Points whose slope is 0, not only nearly so: where the hulls meet. What alpha leaves of it is a residual.
    moved : array of shape (k,), optional
        How far scores of W may be from those that belong to alpha, as it belongs to a breakpoint before that was
        rounded.
    """
    y, Q, nu = problem.y, problem.Q, problem.nu
    assert problem.caps is not None
    caps = problem.caps[int(np.argmax(y))], problem.caps[int(np.argmin(y))]
    given = Q.slopes(y[:, None] * alpha, W)
    scores, norm2, apart = given.scores, given.norm2, given.apart
    largest = Q.length2
    # Scores are sums of terms that cancel: those of multipliers nu, in all, times the largest kernel value. Of a slope
    # that is given they are its own terms, however much cancels in it; it is known up to rounding of the multipliers.
    terms = nu * largest
    if W is not None:
        of_slope = Q.largest_terms(W.T) + (0.0 if moved is None else moved / SCORE_ROUNDING)
        terms = np.minimum(terms, of_slope + SCORE_ROUNDING * terms)
    rounding = SCORE_ROUNDING * nu * terms
    lower_norm2 = norm2.copy()
    if zero is not None and zero.any():
        whole = np.maximum(nu[zero] * largest, np.finfo(float).tiny)
        apart[zero] = np.max(np.abs(scores[:, zero]), axis=0) / whole
        scores[:, zero], norm2[zero] = 0.0, 0.0
    sides = _sides(y, nu, caps, alpha, scores)
    best = Intervals(*sides[0].best, *sides[1].best)
    if own is None:
        plus, minus = best.chosen
        own = 0.5 * (minus - plus), np.maximum(0.0, 0.5 * (plus + minus))  # rounding below 0 is 0
    b, rho = own
    thresholds = [rho - side.sign * b for side in sides]
    paid = sum(side.paid(at) for side, at in zip(sides, thresholds, strict=True))
    scale = np.maximum(np.maximum(0.5 * norm2 + paid + nu * rho, rounding), np.finfo(float).tiny)
    # The dual value is that of feasible multipliers next to alpha. Where rounding alone is what they differ by, a bound
    # on it will do.
    repair = sum(side.moved(0.5 * nu) for side in sides)
    more = 2.0 * repair * np.sqrt(np.maximum(lower_norm2, rounding) * largest) + repair**2 * largest
    lower_norm2 += more
    far = ~(more <= OVERESTIMATED * scale) if W is None else np.ones(nu.size, dtype=np.bool_)
    if far.any():
        made = problem.feasible(alpha[:, far], problem.caps[:, far], 0.5 * nu[far])
        lower_norm2[far] = Q.norms(y[:, None] * made)
    primal, dual = 0.5 * norm2 + paid - nu * rho, -0.5 * lower_norm2
    gap = (primal - dual) / scale
    ends = [end + side.sign * b for side in sides for end in side.of_scores]
    # Where the gap is small, what rounding of scores does to margins is no error.
    least = np.where(np.abs(gap) <= LOOSE, SCORE_DIGITS * terms, 0.0)
    size = np.maximum(np.max([*np.abs(ends), rho, least], axis=0), np.finfo(float).tiny)
    residuals_of = (side.residuals(at, size, nu) for side, at in zip(sides, thresholds, strict=True))
    box, complementarity = (np.maximum(*pair) for pair in zip(*residuals_of, strict=True))
    total, unit = sides[0].total + sides[1].total - nu, np.maximum(nu, np.finfo(float).tiny)
    stationarity = {"stationarity in w": apart, "balance": np.abs(sides[0].total - sides[1].total) / unit}
    of_rho = np.max([-rho / size, -total / unit, np.minimum(rho / size, total / unit), np.zeros(nu.size)], axis=0)
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
