r"""The cheapest classifier of a trade-off curve: a global search, with a proved bound.

Expected cost is :math:`C(s)=c_+e_+(u_+(s))+c_-e_-(u_-(s))`, with the rates of errors :math:`e_\pm` and the position s
along the curve. It can have several local minima, also on the outer segments. But along the curve :math:`u_-` increases
and :math:`u_+` decreases, so on a piece :math:`[s,s']` no cost is below :math:`c_+e_+(u_+(s))+c_-e_-(u_-(s'))`: pieces
that cannot hold a better point are dropped, the others cut, until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CHEAPEST, FARTHEST
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.rates import Rate

#: Pieces at the start, how many a piece is cut into, and how many points are looked at in all: where the cost is the
#: same all along the curve (one distribution, equal costs) no piece can be dropped, and the bound stays that coarse.
_PIECES, _CUTS, _MOST = 256, 4, 50_000


@dataclass(frozen=True)
class Cheapest:
    """What the search found.

    Attributes
    ----------
    position : float
        Where on the curve; minus infinity where every sample is labelled +1, plus infinity where it is labelled -1.
    cost : float
        Expected cost there.
    bound : float
        No linear classifier costs less.
    """

    position: float
    cost: float
    bound: float


def cheapest(family: Family, rates: tuple[Rate, Rate], miss: float, alarm: float) -> Cheapest:
    """Minimise the expected cost over the curve and the two constant classifiers.

    Parameters
    ----------
    family : Family
        The curve.
    rates : (Rate, Rate)
        How positives and negatives are judged.
    miss, alarm : float
        Cost of a false negative times the probability of a positive, and of a false positive times that of a negative.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.gaussian.moments import Moments
    >>> from paretoclf.distributions.gaussian.rates import GaussianRate
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> found = cheapest(Family.of(m), (GaussianRate(), GaussianRate()), 0.5, 0.5)
    >>> round(found.cost, 9), 0 <= found.cost - found.bound < 1e-7
    (0.158655254, True)
    """
    total = miss + alarm

    def errors(s: Array) -> tuple[Array, Array]:
        at = family.at(s)
        return miss * rates[0].error(at.u_plus), alarm * rates[1].error(at.u_minus)

    nodes = np.linspace(-FARTHEST, FARTHEST, _PIECES + 1)
    missed, alarmed = errors(nodes)
    k = int(np.argmin(missed + alarmed))
    best, where, width = float(missed[k] + alarmed[k]), float(nodes[k]), float(nodes[1] - nodes[0])
    low, high, looked_at = nodes[:-1], nodes[1:], 0
    bounds = missed[:-1] + alarmed[1:]
    dropped = min(float(alarmed[0]), float(missed[-1]))  # beyond the last nodes
    best = min(best, miss, alarm)
    while True:
        promising = bounds < best - CHEAPEST * total
        dropped = min(dropped, float(bounds[~promising].min(initial=np.inf)))
        if not promising.any() or looked_at > _MOST:
            dropped = min(dropped, float(bounds.min()))
            break
        cuts = np.linspace(low[promising], high[promising], _CUTS + 1, axis=1)
        looked_at += cuts.size
        missed, alarmed = errors(cuts)
        costs = missed + alarmed
        k = int(np.argmin(costs))
        if costs.flat[k] < best:
            best, where, width = float(costs.flat[k]), float(cuts.flat[k]), float(cuts[0, 1] - cuts[0, 0])
        low, high = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
        bounds = (missed[:, :-1] + alarmed[:, 1:]).ravel()
    if best >= min(miss, alarm):
        return Cheapest(-np.inf if alarm < miss else np.inf, min(miss, alarm), min(dropped, best))
    where = _stationary(family, rates, miss, alarm, where, width)
    missed, alarmed = errors(np.array([where]))
    cost = float(missed[0] + alarmed[0])
    return Cheapest(where, cost, min(dropped, cost))


def _stationary(
    family: Family, rates: tuple[Rate, Rate], miss: float, alarm: float, where: float, width: float
) -> float:
    """Position within a width of the best one found at which the derivative of the cost vanishes, if there is one."""

    def derivative(s: float) -> float:
        at = family.at(s)
        gain, loss = alarm * rates[1].slope(at.u_minus) / at.minus, miss * rates[0].slope(at.u_plus) / at.plus
        return float(loss - gain)

    for reach in (1e-3 * width, width):
        ends = where - reach, where + reach
        if derivative(ends[0]) < 0 < derivative(ends[1]):
            return float(brentq(derivative, *ends, xtol=1e-15, rtol=1e-15))
    return where
