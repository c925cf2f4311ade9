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
    return (
        -np.inf if minus == -np.inf else family.at_u_minus(minus),
        np.inf if plus == -np.inf else family.at_u_plus(plus),
    )


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
    s = np.linspace(*_drawn(family, rates, part), _COARSE)
    for size in (_COARSE, n):  # the second time from positions that are already nearly even
        at = family.at(s)
        x, y = rates[1].correct(at.u_minus), rates[0].correct(at.u_plus)
        length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        # A hair of s keeps the map invertible where the rates stand still.
        length = length / length[-1] + 1e-6 * (s - s[0]) / (s[-1] - s[0])
        s = np.interp(np.linspace(0.0, length[-1], size), length, s)
    return s


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
    start = part[0] if np.isfinite(part[0]) else family.at_u_minus(minus.at_correct(_NOTHING))
    stop = part[1] if np.isfinite(part[1]) else family.at_u_plus(plus.at_correct(_NOTHING))
    # A rate may have a kink where u = 0 (Laplace), and is not smooth at its threshold: cut there, and put more nodes
    # near the cuts by a map that is flat at both ends.
    inner = [family.position(angle) for angle in (0.0, 0.5 * np.pi)]
    cuts = np.clip([start, *inner, stop], start, stop)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    v = ((np.arange(_PANELS)[:, None] + 0.5 + 0.5 * nodes) / _PANELS).ravel()
    s = cuts[:-1, None] + np.diff(cuts)[:, None] * (v**3 * (10 - 15 * v + 6 * v**2))
    lengths = np.diff(cuts)[:, None] * (30 * v**2 * (1 - v) ** 2) * np.tile(weights, _PANELS) / (2 * _PANELS)
    at = family.at(s)
    steps = family.steep(at) / at.minus * family.speed(s)  # d u_minus / d s
    return float(np.sum(plus.correct(at.u_plus) * minus.slope(at.u_minus) * steps * lengths))


def _drawn(family: Family, rates: Rates, part: tuple[float, float]) -> tuple[float, float]:
    """Positions at which the negatives', and the positives', rate is about 1e-6; the ends of the part, if finite."""
    s = np.linspace(-FARTHEST, FARTHEST, _COARSE)
    at = family.at(s)
    low = np.interp(np.arcsinh(rates[1].at_correct(_END)), np.arcsinh(at.u_minus), s)
    high = -np.interp(np.arcsinh(rates[0].at_correct(_END)), np.arcsinh(at.u_plus)[::-1], -s[::-1])
    return float(low) if np.isinf(part[0]) else part[0], float(high) if np.isinf(part[1]) else part[1]
