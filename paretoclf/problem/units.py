"""Scales of multipliers, slacks and gaps, for judges, where the costs of the classes may differ by any ratio.

A multiplier is zero only relative to the largest value that it could have. With an intercept the multipliers of the
two classes have the same sum, so next to a class of caps 1e-13 all multipliers are that small, whatever their own caps
are: relative to a cap of 1 every one of them would be zero, and any intercept optimal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import SLACK_ROUNDING

_TINY = float(np.finfo(float).tiny)


def balanced_units(y: Array, caps: Array) -> Array:
    """Unit of each multiplier where the two classes have the same sum: the largest value that it can take.

    That is its cap, or the sum of the other class's caps if this is smaller. Where it is 0, the largest unit of another
    sample stands in; where a whole class has no costs, the largest cap.

    Parameters
    ----------
    y : array of shape (n,)
    caps : array of shape (n,) or (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.units import balanced_units
    >>> balanced_units(np.array([1.0, 1.0, -1.0]), np.array([4.0, 1.0, 2.0]))
    array([2., 1., 2.])
    """
    return balanced_by(y > 0, caps, class_sums(y, caps))


def class_sums(y: Array, caps: Array) -> tuple[Any, Any]:
    """Sums of the caps, (n,) or (n, k), of the positive and of the negative samples."""
    positive = y > 0
    plus = np.add.reduce(caps.compress(positive, 0), 0)
    minus = np.add.reduce(caps.compress(~positive, 0), 0)
    return plus, minus


def balanced_by(positive: Mask, caps: Array, sums: tuple[Any, Any]) -> Array:
    """`balanced_units` with these `class_sums`."""
    others = np.where(positive if caps.ndim == 1 else positive[:, None], sums[1], sums[0])
    return _positive(np.minimum(caps, others, out=np.empty_like(caps)), caps)


def box_units(caps: Array) -> Array:
    """Unit of each multiplier without a balance: its cap, or the largest one where that is 0; caps (n,) or (n, k)."""
    return _positive(caps, caps)


def _positive(unit: Array, caps: Array) -> Array:
    """Units, with the largest one (or else the largest cap) in place of those that are 0."""
    fine = unit > 0
    if fine.all():
        return unit
    most = unit.max(axis=0)
    most = np.where(most > 0, most, np.maximum(caps.max(axis=0), _TINY))
    return np.where(fine, unit, most)


def largest_sum(y: Array, caps: Array) -> Array:
    """Largest sum that the multipliers of either class can have where they balance; of all caps where that is 0."""
    return largest_of(class_sums(y, caps))


def largest_of(sums: tuple[Any, Any]) -> Array:
    """`largest_sum` of these `class_sums`."""
    smaller = np.minimum(*sums)
    all_caps = np.maximum(np.add(*sums), _TINY)
    return np.asarray(np.where(smaller > 0, smaller, all_caps))


def least_scale(sums: tuple[Any, Any], largest: Array) -> Array:
    """Least scale of gaps: where a class has no costs, and the optimal value is 0, the sum of the caps.

    It is the cost of w = 0 and b = 0. Relative to the value itself any error of an intercept would be all of it.
    Elsewhere it is the smallest number. ``sums`` are the `class_sums` of the caps, ``largest`` is `largest_of` these.
    """
    return np.asarray(np.where(np.minimum(*sums) == 0.0, largest, _TINY))


def margin_rounding(f: Array, b: Any = 0.0) -> Array:
    """Rounding of the margins ``y f - 1``, with f a sum of scores and the intercept b."""
    return np.asarray(SLACK_ROUNDING * (1.0 + np.abs(f) + np.abs(b)))


def slack_rounding(caps: Array, margin: Array, f: Array, b: Any = 0.0, rounding: Array | None = None) -> Array:
    """Sum of costs times slacks that rounding of the margins can make; arrays (n,) or (n, k), b a number or (k,).

    Samples beyond their margin by more than its rounding have slack 0, whatever the rounding is.
    """
    rounding = margin_rounding(f, b) if rounding is None else rounding
    return np.asarray(np.einsum("n...,n...->...", caps, np.where(margin <= rounding, rounding, 0.0)))


def certain_terms(load: Array, room: Array, outside: Array, margin: Array, rounding: Array) -> Array:
    """Terms of the duality gap that no rounding can make, of multipliers and margins ``y f - 1``: one for each sample.

    The gap is ``sum_i alpha_i g_i+ + (c_i - alpha_i) g_i-`` with g the margins: no term of it is negative where alpha
    is in its box, and those of samples that are on the margin up to its rounding, or at the bound that belongs to
    their side of it, are 0. Where the intercept is not part of the norm there is also ``-b sum_i y_i alpha_i``.

    Parameters
    ----------
    load, room : arrays of the same shape
        Multipliers, and their slacks to the caps, where these are positive; else 0.
    outside : array of the same shape
        Distances of the multipliers from their box.
    margin, rounding : arrays of the same shape
        Margins, and their rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.units import certain_terms
    >>> half, none = np.full(2, 0.5), np.zeros(2)
    >>> [float(certain_terms(half, half, none, margin, none).sum()) for margin in (np.zeros(2), -np.ones(2))]
    [0.0, 1.0]
    """
    above, below = np.maximum(margin - rounding, 0.0), np.maximum(-margin - rounding, 0.0)
    sure = load * above + room * below
    return np.asarray(sure - outside * (np.abs(margin) + rounding))
