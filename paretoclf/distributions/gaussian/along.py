"""Along a trade-off curve: the part on which both rates are positive, points evenly spaced, the area under it."""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import EQUAL_MEANS, FARTHEST
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.rates import Rates

#: Ends of a drawn curve: the rate of one class there. Beyond, the other one has nothing to lose.
_END = 1e-6
#: Positions that are looked at to space the points of a curve evenly.
_COARSE = 256
#: Ends of the integral of the area: the rates there, beyond which nothing is left of it.
_NOTHING = 1e-15
#: Pieces of that integral on each of the three segments, with 8 nodes each.
_PANELS = 64


def positive_part(family: Family, rates: Rates) -> tuple[float, float]:
    """Positions between which both rates are positive; infinite where a rate has no threshold.

    The first is not below the second where there is no such part.
    """
    plus, minus = (rate.threshold + EQUAL_MEANS for rate in rates)  # closer to it than rounding is not beyond it
    start = -np.inf if minus == -np.inf else family.at_u_minus(minus)
    stop = np.inf if plus == -np.inf else family.at_u_plus(plus)
    return start, stop


def evenly(family: Family, rates: Rates, part: tuple[float, float], n: int) -> Array:
    """Positions of n points evenly spaced, along the curve, in the plane of the two rates.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.gaussian.moments import Moments
    >>> from paretoclf.distributions.gaussian.rates import GAUSSIAN
    >>> family = Family.of(Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2)))
    >>> at = family.at(evenly(family, GAUSSIAN, (-np.inf, np.inf), 3))
    >>> bool(abs(at.u_plus[1] - at.u_minus[1]) < 1e-3)  # the middle one is where both rates are equal
    True
    """
    plus, minus = rates
    positions = np.linspace(*_drawn(family, rates, part), _COARSE)
    for size in (_COARSE, n):  # the second time from positions that are already nearly even
        at = family.at(positions)
        tnr = minus.correct(at.u_minus)
        tpr = plus.correct(at.u_plus)
        steps = np.hypot(np.diff(tnr), np.diff(tpr))
        length = np.concatenate([[0.0], np.cumsum(steps)])
        # A small share of the position itself keeps the map invertible where the rates are constant.
        start, stop = positions[[0, -1]]
        length = length / length[-1] + 1e-6 * (positions - start) / (stop - start)
        positions = np.interp(np.linspace(0.0, length[-1], size), length, positions)
    return positions


def area(family: Family, rates: Rates, part: tuple[float, float]) -> float:
    r"""Area under the part of the curve on which both rates are positive.

    :math:`\int\kappa_+(u_+)\,\kappa_-'(u_-)\,du_-` by Gauss-Legendre quadrature in the position.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import ndtr
    >>> from paretoclf.distributions.gaussian.moments import Moments
    >>> from paretoclf.distributions.gaussian.rates import GAUSSIAN
    >>> family = Family.of(Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2)))
    >>> bool(abs(area(family, GAUSSIAN, (-np.inf, np.inf)) - ndtr(2.0 / np.sqrt(2.0))) < 1e-12)
    True
    """
    plus, minus = rates
    start, stop = part
    if not np.isfinite(start):
        start = family.at_u_minus(minus.at_correct(_NOTHING))
    if not np.isfinite(stop):
        stop = family.at_u_plus(plus.at_correct(_NOTHING))
    # A rate may have a kink where u = 0 (Laplace), and is not smooth at its threshold: cut there.
    inner = [family.position(angle) for angle in (0.0, 0.5 * np.pi)]
    cuts = np.clip([start, *inner, stop], start, stop)
    widths = np.diff(cuts)[:, None]
    nodes, derivative, weights = _nodes_near_both_ends()
    positions = cuts[:-1, None] + widths * nodes
    at = family.at(positions)
    speed = family.steep(at) / at.minus * family.speed(positions)  # d u_minus / d position
    heights = plus.correct(at.u_plus) * minus.slope(at.u_minus)
    return float(np.sum(heights * speed * (widths * derivative * weights)))


def _nodes_near_both_ends() -> tuple[Array, Array, Array]:
    """Nodes of a quadrature over (0, 1), dense near both ends; the derivative of their map, and Gauss weights.

    Gauss-Legendre nodes of equal panels, mapped by the polynomial 10 v^3 - 15 v^4 + 6 v^5, which is flat at 0 and at 1.
    """
    nodes, weights = np.polynomial.legendre.leggauss(8)
    even = ((np.arange(_PANELS)[:, None] + 0.5 + 0.5 * nodes) / _PANELS).ravel()
    mapped = even**3 * (10 - 15 * even + 6 * even**2)
    derivative = 30 * even**2 * (1 - even) ** 2
    return mapped, derivative, np.tile(weights, _PANELS) / (2 * _PANELS)


def _drawn(family: Family, rates: Rates, part: tuple[float, float]) -> tuple[float, float]:
    """Positions at which the negatives', and the positives', rate is about 1e-6; the ends of the part, if finite."""
    plus, minus = rates
    positions = np.linspace(-FARTHEST, FARTHEST, _COARSE)
    at = family.at(positions)
    start, stop = part
    if np.isinf(start):
        wanted = np.arcsinh(minus.at_correct(_END))
        start = float(np.interp(wanted, np.arcsinh(at.u_minus), positions))
    if np.isinf(stop):  # u_plus decreases along the curve; np.interp wants it to increase
        wanted = np.arcsinh(plus.at_correct(_END))
        stop = -float(np.interp(wanted, np.arcsinh(at.u_plus)[::-1], -positions[::-1]))
    return start, stop
