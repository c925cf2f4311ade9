"""Hard margins of classes that nearly touch: solved on the few samples that decide, in their own units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import MARGIN_KEPT
from paretoclf.problem.gram import Gram
from paretoclf.problem.samples import dense


def by_the_nearest(
    gram: Gram, y: Array, nearest: Index, solve: Callable[[Array, Array], tuple[Array, float] | None]
) -> tuple[Array, float] | None:
    """Solve the hard margin on some samples, and on more until the others keep their margins.

    Where the distance of two classes is a billionth of their spread, sums over all samples have no digit of it. Sums
    over the few samples that decide, measured from one of them and in units of their own spread, have all digits.

    Parameters
    ----------
    gram : Gram
        Samples with features.
    y : array of shape (n,)
        Labels, of separable classes.
    nearest : array of int
        Samples to begin with, of both classes.
    solve : callable
        Maps features and labels of a few samples to multipliers and intercept of ``min |w|^2 / 2`` with margins of 1;
        None where it cannot.

    Returns
    -------
    (array of shape (n,), float) or None
        Multipliers and intercept of the whole problem; None where the few cannot be solved.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.problem.touching import by_the_nearest
    >>> gram, y = Gram(np.array([[0.0], [1e-9], [1.0]])), np.array([-1.0, 1.0, 1.0])
    >>> by_the_nearest(gram, y, np.array([0, 1]), lambda Z, y: (np.array([2.0, 2.0]), -1.0))
    (array([2.e+18, 2.e+18, 0.e+00]), -1.0)
    """
    features: Any = gram.features
    work = np.asarray(nearest)
    while True:
        few = dense(features[work])
        origin = few[0]
        unit = float(np.max(np.abs(few - origin)))
        near = (few - origin) / unit
        found = solve(near, y[work])
        if found is None:
            return None
        few_alpha, few_b = found
        w = near.T @ (y[work] * few_alpha)
        scores = np.asarray(features @ w - origin @ w) / unit + few_b
        margins = y * scores
        # Of the samples at work the margins are those of the few, which these sums do not resolve.
        margins[work] = 1.0
        worst = int(np.argmin(margins))
        if margins[worst] >= 1.0 - MARGIN_KEPT:
            alpha = np.zeros(y.size)
            alpha[work] = few_alpha / unit**2
            return alpha, float(few_b - w @ origin / unit)
        work = np.append(work, worst)
