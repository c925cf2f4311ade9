r"""The family of slopes :math:`(t_+\Sigma_++t_-\Sigma_-)^{-1}\delta` that holds every Pareto-optimal hyperplane.

Anderson & Bahadur (1962). In the whitened coordinates of `paretoclf.distributions.gaussian.moments.White` both
covariances are diagonal, :math:`p_j` and :math:`m_j` with :math:`p_j+m_j=1`, and the difference of the means is
:math:`c`. With :math:`D_j=t_+p_j+t_-m_j>0` a member and its distances are

.. math::

   y_j=c_j/D_j,\qquad u_+=t_+\sqrt{\sum_jp_jy_j^2},\qquad u_-=t_-\sqrt{\sum_jm_jy_j^2}:

one decomposition, then O(d) a member. Only the direction :math:`(t_+,t_-)=(\cos\phi,\sin\phi)` matters. The condition
:math:`D>0` is an interval of :math:`\phi` that contains :math:`[0,\pi/2]` (both distances nonnegative); along it
:math:`u_-` increases and :math:`u_+` decreases, from the one trivial classifier to the other.

**Position.** :math:`\phi=\phi_{lo}+W/(1+e^{-s})`, s real. The distance from either end of the interval is then known to
full relative precision, and so is D, which vanishes there: with :math:`x=\phi-\phi_{lo}` (and alike from the other end)
:math:`D_j=\big(\cos x\,(p_j-p_{\min})+\sin x\,(p_jp_{\min}+m_jm_{\max})\big)/\sqrt{p_{\min}^2+m_{\max}^2}`, a sum of
nonnegative terms.

**Hard case, equal means.** Where c vanishes in the direction that makes D vanish at an end, the curve goes on at that
end with :math:`y+\zeta v` for any :math:`\zeta` (:math:`\pm\zeta` are equally good). That is the limit for
:math:`c_j\to0`: c is nudged there by 1e-30, which changes no rate that can be told, and the formula above does the
rest. Equal means are the same, twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import expit, logit

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import FARTHEST, NUDGE
from paretoclf.distributions.gaussian.moments import Moments


@dataclass(frozen=True, eq=False)
class Members:
    r"""Members of the family: arrays of any one shape (...,), or of shape (..., d).

    Attributes
    ----------
    t_plus, t_minus : array of shape (...,)
        Weights of the two covariances.
    y : array of shape (..., d)
        Slopes, in whitened coordinates.
    plus, minus : array of shape (...,)
        Standard deviations of the classes along them.
    """

    t_plus: Array
    t_minus: Array
    y: Array = field(repr=False)
    plus: Array
    minus: Array

    @property
    def u_plus(self) -> Array:
        """Distance of the positives' mean from the hyperplane, in standard deviations."""
        return self.t_plus * self.plus

    @property
    def u_minus(self) -> Array:
        """Distance of the negatives' mean."""
        return self.t_minus * self.minus

    @property
    def t(self) -> Array:
        """Ratio of the weights, t_minus / t_plus; infinite where the positives have none."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.t_minus / self.t_plus)

    @property
    def weight(self) -> Array:
        r"""The :math:`\lambda=u_-/u_+` whose problem (3) of Kim et al. a slope solves, where both are positive."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.t * self.minus / self.plus)


@dataclass(frozen=True, eq=False)
class Family:
    """The decomposition, from which every member costs O(d).

    Attributes
    ----------
    p, m : array of shape (d,)
        Variances of the positives and of the negatives along the axes; they add up to 1.
    c : array of shape (d,)
        Difference of the means.
    ends : array of shape (4, d)
        D at the lower end of the interval of angles and its derivative there; then D at the upper end, and minus its
        derivative.
    corners : pair of pairs
        Unit vectors (t_plus, t_minus) at the two ends.
    start, width : float
        The interval, which is open.
    basis : array of shape (d, d)
        Slopes in the features of the unit vectors of the whitened coordinates, as columns.
    """

    p: Array
    m: Array
    c: Array
    ends: Array
    corners: tuple[tuple[float, float], tuple[float, float]]
    start: float
    width: float
    basis: Array = field(repr=False)

    @classmethod
    def of(cls, moments: Moments) -> Family:
        """Decompose the two covariances."""
        white = moments.white
        p = white.plus**2
        m = white.minus**2
        c = white.length * white.direction
        order = np.where(p < 0.5, p, 1 - m)
        low = int(np.argmin(order))
        high = int(np.argmax(order))
        for end in (low, high):
            if abs(c[end]) < NUDGE:
                c[end] = NUDGE
        low_gap, low_derivative, low_corner = _at_end(p, m, low)
        high_gap, high_derivative, (plus, minus) = _at_end(p, m, high)
        start = -float(np.arctan2(p[low], m[low]))
        stop = 0.5 * np.pi + float(np.arctan2(m[high], p[high]))
        ends = np.stack([low_gap, low_derivative, high_gap, high_derivative])
        corners = (low_corner, (-plus, -minus))
        basis = np.asarray(solve_triangular(white.P, white.V))
        return cls(p, m, c, ends, corners, start, stop - start, basis)

    def at(self, positions: Any) -> Members:
        """Members at positions from minus to plus infinity along the whole curve."""
        s = np.asarray(positions, dtype=np.float64)
        # From the nearer end, so that no difference of nearly equal numbers is taken. The other end gets the weight 0.
        low = s < 0
        angle = self.width * expit(-np.abs(s))
        cos = np.cos(angle)
        sin = np.sin(angle)
        weights = np.stack([cos * low, sin * low, cos * ~low, sin * ~low], axis=-1)
        # The unit vector of the nearer end is turned by the angle, to the left from the lower end.
        (plus, minus), (plus_high, minus_high) = self.corners
        t_plus = np.where(low, cos * plus - sin * minus, cos * plus_high + sin * minus_high)
        t_minus = np.where(low, cos * minus + sin * plus, cos * minus_high - sin * plus_high)
        return self._members(t_plus, t_minus, weights @ self.ends)

    def of_ratio(self, t: Any) -> Members:
        r"""Members with :math:`t_+=1` and :math:`t_-=t\ge0`, where both distances are nonnegative."""
        t = np.asarray(t, dtype=np.float64)
        D = self.p + t[..., None] * self.m
        return self._members(np.ones_like(t), t, D)

    def of_negatives(self) -> Members:
        r"""Member with :math:`t_+=0`, where t is infinite: best for the negatives alone."""
        return self._members(np.float64(0.0), np.float64(1.0), self.m.copy())

    def of_weight(self, lam: float) -> Members:
        r"""Member with :math:`u_-=\lambda u_+>0`."""
        # t = lam sqrt(g / f), and f / g is a mean of the m / p: the bracket is a little wider than rounding.
        means = 0.5 * np.log(self.m / self.p)
        low = np.log(lam) - float(means.max()) - 1e-3
        high = np.log(lam) - float(means.min()) + 1e-3
        return self._of_log_ratio(lambda at: float(np.log(at.weight / lam)), low, high)

    def of_u_plus(self, u_plus: float) -> Members:
        r"""Member at which the positives' mean has the distance :math:`0<u_+<r_1`, the largest."""
        return self._of_log_ratio(lambda at: float(np.log(u_plus / at.plus)), -FARTHEST, FARTHEST)

    def _of_log_ratio(self, rising: Callable[[Members], float], low: float, high: float) -> Members:
        """Member at which an increasing function is 0, between two logarithms of the ratio t."""
        root = brentq(lambda log_t: rising(self.of_ratio(np.exp(log_t))), low, high, xtol=1e-15, rtol=1e-15)
        return self.of_ratio(np.exp(root))

    def slopes(self, y: Array) -> Array:
        """Slopes in the features, shape (..., d), of slopes in whitened coordinates."""
        return np.asarray(y @ self.basis.T)

    def position(self, angle: float) -> float:
        """Position s of an angle inside the interval."""
        return float(logit((angle - self.start) / self.width))

    def speed(self, positions: Any) -> Array:
        """Derivative of the angle in the position."""
        s = np.asarray(positions, dtype=np.float64)
        return np.asarray(self.width * expit(s) * expit(-s))

    def where(self, rising: Callable[[Members], Any], low: float = -FARTHEST, high: float = FARTHEST) -> float:
        """Position at which an increasing function of a member is 0; an end of the interval where it has no root."""

        def value(position: float) -> float:
            return float(rising(self.at(position)))

        at_low = value(low)
        at_high = value(high)
        if at_low >= 0:
            return low
        if at_high <= 0:
            return high
        return float(brentq(value, low, high, xtol=1e-15, rtol=1e-15, maxiter=500))

    def at_u_minus(self, u: float) -> float:
        """Position at which the negatives' mean has the distance u."""
        return self.where(lambda at: np.arcsinh(at.u_minus) - np.arcsinh(u))  # nearly linear in the position

    def at_u_plus(self, u: float) -> float:
        """Position at which the positives' mean has the distance u."""
        return self.where(lambda at: np.arcsinh(u) - np.arcsinh(at.u_plus))

    def _members(self, t_plus: Any, t_minus: Any, D: Array) -> Members:
        y = np.divide(self.c, D, out=D)  # in place: long curves are bound by memory
        spreads = np.sqrt(y**2 @ np.stack([self.p, self.m], axis=-1))
        return Members(np.asarray(t_plus), np.asarray(t_minus), y, spreads[..., 0], spreads[..., 1])

    def steep(self, at: Members) -> Array:
        r"""Return :math:`S=\sum_jp_jm_jy_j^2/D_j`, from which the derivatives of the distances follow.

        With :math:`\phi` the angle of the weights, both of them of norm 1, :math:`du_-/d\phi=S/\|R_-a\|` and
        :math:`du_+/d\phi=-S/\|R_+a\|`.
        """
        # y / D = y^2 / c, and both vanish where c does
        divisor = np.where(self.c == 0, 1.0, self.c)
        return np.asarray((at.y**3 / divisor) @ (self.p * self.m))


def _at_end(p: Array, m: Array, end: int) -> tuple[Array, Array, tuple[float, float]]:
    """Values of D where that of one axis vanishes, how fast they grow along the interval, and a unit vector there."""
    p_end = p[end]
    m_end = m[end]
    size = float(np.hypot(p_end, m_end))
    # p + m = 1: the difference is taken of the smaller of the two, which has more digits.
    gap = np.where((p < 0.5) & (p_end < 0.5), p - p_end, m_end - m)
    derivative = (p * p_end + m * m_end) / size
    corner = (float(m_end) / size, -float(p_end) / size)
    return np.abs(gap) / size, derivative, corner
