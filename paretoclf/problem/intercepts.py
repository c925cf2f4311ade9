"""All optimal intercepts of a 2C-SVM: for given multipliers, and for a given slope."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import FLAT
from paretoclf.problem.units import balanced_units

_NEAR = 1e-9  # share of its unit: a multiplier so near to a bound counts as at it


def sides(y: Array, caps: Array, alpha: Array, scores: Array) -> tuple[Mask, Mask]:
    """Masks (left, right) of the samples that belong at their cap and at zero; the rest is the margin set.

    A sample belongs at a bound when its multiplier is closer to that bound (in units of its largest possible value)
    than its margin is to 1 on that bound's side; ``scores`` include the intercept. An interior-point answer is a little
    inside every bound, so the distance to the bound alone does not tell.
    """
    slack = y * scores - 1.0
    nearest = slack * balanced_units(y, caps)
    left = (slack < 0) & (caps - alpha < -nearest)
    right = (slack > 0) & (alpha < nearest)
    return left, right


def intercept_interval(y: Array, caps: Array, alpha: Array, scores: Array) -> tuple[float, float]:
    """All optimal intercepts for the multipliers alpha, given scores ``w . x_i`` without intercept.

    ``b_lo`` is the largest ``y_i - w.x_i`` over positives below their cap and negatives above zero, ``b_hi`` the
    smallest over positives above zero and negatives below their cap. A multiplier within 1e-9 of a bound (relative to
    its largest possible value, `balanced_units`) counts as at it. Half-lines have an infinite end.
    """
    best, unit = y - scores, balanced_units(y, caps)
    above = alpha > _NEAR * unit
    below = caps - alpha > _NEAR * unit
    lower = np.where(y > 0, below, above)
    upper = np.where(y > 0, above, below)
    lo = float(best[lower].max()) if lower.any() else -np.inf
    hi = float(best[upper].min()) if upper.any() else np.inf
    if lo > hi:  # rounding only: the two ends are one point
        lo = hi = 0.5 * (lo + hi)
    return lo, hi


def best_intercepts(y: Array, caps: Array, scores: Array) -> tuple[float, float]:
    """Ends of the interval of b that minimise ``sum_i c_i max(0, 1 - y_i (scores_i + b))``, for any scores.

    The sum is convex and piecewise linear in b; its slope grows by ``c_i`` at ``y_i - scores_i``, from minus the
    positives' costs on the far left.
    """
    kinks = y - scores
    order = np.argsort(kinks, kind="stable")
    cost, positive = caps[order], y[order] > 0
    # Between kinks[k - 1] and kinks[k] the slope is the costs of the negatives below less those of the positives above:
    # either sum is of one sign, so that their difference has its sign however small one class's costs are.
    below = np.concatenate([[0.0], np.cumsum(np.where(positive, 0.0, cost))])
    above = np.concatenate([np.cumsum(np.where(positive, cost, 0.0)[::-1])[::-1], [0.0]])
    slope, flat = below - above, FLAT * np.maximum(below, above)
    first = int(np.argmax(slope >= -flat))
    last = slope.size - 1 - int(np.argmax((slope <= flat)[::-1]))
    ends = np.concatenate([[-np.inf], kinks[order], [np.inf]])
    return float(ends[first]), float(ends[max(last + 1, first)])


def point_of(interval: tuple[float, float]) -> float:
    """Middle of a finite interval, finite end of a half-line, 0 for the whole line."""
    lo, hi = interval
    if np.isfinite(lo) and np.isfinite(hi):
        return 0.5 * (lo + hi)
    if np.isfinite(lo):
        return lo
    return hi if np.isfinite(hi) else 0.0
