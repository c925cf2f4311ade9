"""Scores of a path that are 0 but for rounding: where the slope is 0, and where an intercept cancels it."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY, SCORE_ZERO, SLOPE_ROUNDING


def zero_rounding(slopes: Array, terms: Array) -> Array:
    """Set scores without intercept to 0 (in place) at the knots where w = 0 and they are nothing but rounding.

    Where w = 0 every sample has the same score, b. The computed ones are about 1e-15, and no two the same: a ROC curve
    of them would rank noise.

    Parameters
    ----------
    slopes : array of shape (m, k)
        ``w . x`` of m samples at k knots.
    terms : array of shape (k,)
        A bound, at each knot, on the sum of the absolute terms that a score was summed from.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.rounded_scores import zero_rounding
    >>> zero_rounding(np.array([[1e-15, 1.0], [-2e-15, 3.0]]), terms=np.array([4.0, 4.0]))
    array([[0., 1.],
           [0., 3.]])
    """
    if slopes.size:
        largest = np.maximum(slopes.max(axis=0), -slopes.min(axis=0))
        slopes[:, largest <= np.minimum(SLOPE_ROUNDING * terms, CERTIFY * largest.max())] = 0.0
    return slopes


def with_intercepts(slopes: Array, b: Array, margin: Array | float) -> Array:
    """Add intercepts to scores without them; 0 where the two cancel, but for rounding.

    The label at 0 is +1, and rounding would choose it: a computed score of -1e-16 is -1.

    Parameters
    ----------
    slopes : array of shape (m, k)
        ``w . x`` of m samples at k knots.
    b : array of shape (k,)
        Intercept at each knot.
    margin : array of shape (k,) or float
        Score of a sample on the margin there, which b was found from.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.rounded_scores import with_intercepts
    >>> with_intercepts(np.array([[0.1 + 0.2], [0.4]]), b=np.array([-0.3]), margin=1.0)
    array([[0. ],
           [0.1]])
    """
    return zero_cancelled(slopes + b, b, margin)


def zero_cancelled(scores: Array, b: Array | float, margin: Array | float) -> Array:
    """Set scores to 0 (in place) where ``w . x`` and the intercept b cancel, but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.rounded_scores import zero_cancelled
    >>> zero_cancelled(np.array([-1e-16, 0.5]), b=0.3, margin=1.0)
    array([0. , 0.5])
    """
    scores[np.abs(scores) <= SCORE_ZERO * (2.0 * np.abs(b) + margin)] = 0.0
    return scores
