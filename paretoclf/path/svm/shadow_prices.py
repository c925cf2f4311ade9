r"""Shadow prices: how the optimal value moves with the costs.

The optimal value :math:`V(C_+,C_-)=\min_{w,b}\tfrac12\|w\|^2+\sum_i s_iC_{y_i}\max(0,1-y_if(x_i))` is a minimum of
functions affine in the costs, hence concave. By the envelope theorem each optimal :math:`(w,b)` gives a supergradient,

.. math::

   \frac{\partial V}{\partial C_+}=\sum_{y_i=+1}s_i\xi_i,\qquad
   \frac{\partial V}{\partial C_-}=\sum_{y_i=-1}s_i\xi_i,\qquad \xi_i=\max(0,1-y_if(x_i)),

with weights :math:`s_i`. The slope w is unique, so V is differentiable exactly where these sums are the same for all
optimal b. Where they are not, the supergradients are the segment between those of the two ends of the interval of b.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, keep
from paretoclf.common.tolerances import PRICE_TIE
from paretoclf.problem.classifiers import Classifier
from paretoclf.proof.verdicts.solution import Solution


@dataclass(frozen=True, eq=False)
class ShadowPrices:
    """A supergradient of the optimal value in the costs, and the segment of all of them.

    Attributes
    ----------
    C_plus, C_minus : float
        ``dV/dC_plus`` and ``dV/dC_minus`` at the intercept that the path uses: weighted slacks of the positives and of
        the negatives. On a line of `SampleCosts` these are the prices of a cost added to every sample of a class.
    ends : pair of pairs
        ``(dV/dC_plus, dV/dC_minus)`` at the smallest and at the largest optimal intercept: where the two differ, V has
        a kink, and everything between them is a supergradient. Infinite where an intercept may be: where a class has
        no cost, and V cannot be continued to negative ones.
    samples : array of shape (n,)
        Price of the cost of each sample, its weight times its slack: the gradient on a line of `SampleCosts`.

    Notes
    -----
    The intercept of a path is continuous from the right. So ``C_plus dC_plus/dt + C_minus dC_minus/dt``, prices times
    the direction of the line, is the derivative of ``Path.value`` from the right at every t < 1, kinks included.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3.

    Examples
    --------
    Below the first event every b of an interval is optimal, and the value has a kink across this line.

    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM([[0.0], [2.0]], [-1, 1])
    >>> prices = pc.trace(svm, start=(0, 0), stop=(0.5, 0.5)).shadow_prices(0.5)
    >>> prices.C_plus, prices.C_minus, prices.unique
    (0.5, 0.5, False)
    >>> prices.ends
    ((1.0, 0.0), (0.0, 1.0))
    """

    C_plus: float
    C_minus: float
    ends: tuple[tuple[float, float], tuple[float, float]]
    samples: Array = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "samples")

    @property
    def unique(self) -> bool:
        """Whether the two ends are one up to rounding: then V is differentiable, and this is its gradient."""
        low, high = ends = np.array(self.ends)
        if not np.isfinite(ends.sum()):
            return False
        distance = float(np.abs(low - high).sum())
        scale = max(float(low.sum()), float(high.sum()), 1.0)
        return distance <= PRICE_TIE * scale


def prices_of(solution: Solution, weight: Array) -> ShadowPrices:
    """Shadow prices of an optimal solution of the 2C-SVM whose caps are ``weight`` times the costs.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.path.svm.shadow_prices import prices_of
    >>> svm = pc.TwoCSVM([[0.0], [2.0]], [-1, 1])
    >>> prices_of(svm.solve(C_plus=0.25, C_minus=0.25), np.ones(2)).ends[0]
    (1.0, 0.0)
    """
    classifier = solution.classifier
    assert isinstance(classifier, Classifier)
    scores, y = classifier.training_scores, classifier.y

    def prices(b: float) -> tuple[Array, float, float]:
        """Weighted slacks of all samples at an intercept, and their sums over either class."""
        slacks = weight * np.maximum(0.0, 1.0 - y * (scores + b))
        plus, minus = slacks[y > 0], slacks[y < 0]
        return slacks, float(plus.sum()), float(minus.sum())

    (_, *low), (_, *high) = (prices(b) for b in classifier.interval_at_origin)
    samples, plus, minus = prices(classifier.b_at_origin)
    return ShadowPrices(plus, minus, ((low[0], low[1]), (high[0], high[1])), samples)
