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
    """Result of the search: the cheapest classifier, and a bound.

    Attributes
    ----------
    position : float
        Position on the curve; minus infinity where every sample is labelled +1, plus infinity where it is labelled -1.
    cost : float
        Expected cost of the classifier.
    bound : float
        Lower bound on the cost of every linear classifier.
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
    tolerance = CHEAPEST * (miss + alarm)
    constant = min(miss, alarm)  # the cost of the better of the two constant classifiers

    def errors(positions: Array) -> tuple[Array, Array]:
        """Expected costs of false negatives and of false positives."""
        at = family.at(positions)
        missed = miss * rates[0].error(at.u_plus)
        alarmed = alarm * rates[1].error(at.u_minus)
        return missed, alarmed

    nodes = np.linspace(-FARTHEST, FARTHEST, _PIECES + 1)
    missed, alarmed = errors(nodes)
    costs = missed + alarmed
    cheapest_node = int(np.argmin(costs))
    best = min(float(costs[cheapest_node]), constant)
    where = float(nodes[cheapest_node])
    width = float(nodes[1] - nodes[0])
    low = nodes[:-1]
    high = nodes[1:]
    bounds = missed[:-1] + alarmed[1:]
    bound = min(float(alarmed[0]), float(missed[-1]))  # of what is beyond the last nodes, then also of dropped pieces
    looked_at = 0
    while True:
        promising = bounds < best - tolerance
        bound = min(bound, float(bounds[~promising].min(initial=np.inf)))
        if not promising.any() or looked_at > _MOST:
            bound = min(bound, float(bounds.min()))
            break
        cuts = np.linspace(low[promising], high[promising], _CUTS + 1, axis=1)
        looked_at += cuts.size
        missed, alarmed = errors(cuts)
        costs = missed + alarmed
        cheapest_cut = int(np.argmin(costs))
        if costs.flat[cheapest_cut] < best:
            best = float(costs.flat[cheapest_cut])
            where = float(cuts.flat[cheapest_cut])
            width = float(cuts[0, 1] - cuts[0, 0])
        low = cuts[:, :-1].ravel()
        high = cuts[:, 1:].ravel()
        bounds = (missed[:, :-1] + alarmed[:, 1:]).ravel()
    if best >= constant:
        return Cheapest(-np.inf if alarm < miss else np.inf, constant, min(bound, best))
    where = _stationary(family, rates, miss, alarm, where, width)
    missed, alarmed = errors(np.array([where]))
    cost = float(missed[0] + alarmed[0])
    return Cheapest(where, cost, min(bound, cost))


def _stationary(
    family: Family, rates: tuple[Rate, Rate], miss: float, alarm: float, where: float, width: float
) -> float:
    """Position within a width of the best one found at which the derivative of the cost vanishes, if there is one."""

    def derivative(position: float) -> float:
        """Derivative of the cost in the angle, without the positive factor that both terms have."""
        at = family.at(position)
        gain = alarm * rates[1].slope(at.u_minus) / at.minus
        loss = miss * rates[0].slope(at.u_plus) / at.plus
        return float(loss - gain)

    for distance in (1e-3 * width, width):
        low = where - distance
        high = where + distance
        if derivative(low) < 0 < derivative(high):
            return float(brentq(derivative, low, high, xtol=1e-15, rtol=1e-15))
    return where
