r"""Ways to judge a hyperplane: the rate of correct classification of a class, as a function of one number.

Every rate here is :math:`\kappa(u)`, where :math:`u` is the distance of the mean of a class from the hyperplane, in
standard deviations of the class, positive on its own side: the true rate of a Gaussian class or of a scale mixture of
Gaussians, or the smallest rate over a family of distributions. All are increasing, so all have the same Pareto-optimal
hyperplanes (Kim et al. 2006, Proposition 1), except that a worst-case rate is 0 up to a threshold, and only the part of
the trade-off curve beyond it counts (Proposition 2, corrected Corollary 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import quad, quad_vec
from scipy.optimize import brentq
from scipy.special import erfcx, gammaln, log_ndtr, ndtr, ndtri, stdtr, stdtrit

from paretoclf.common.checks import Array, Mask, check_nonnegative_number, check_positive_number, real_number
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import MIXING_MASS

#: Doublings of a bracket, as many as any distance of log odds needs, its halvings, and Newton's steps within it.
_DOUBLINGS, _HALVINGS, _STEPS = 60, 24, 3
#: Logarithms of a Gaussian rate of errors below this are so large that their differences lose digits; halvings of a
#: bracket there; and where logarithms end.
_FAR, _HALVINGS_FAR, _LARGEST = -2000.0, 70, 1e300
#: Up to which x the series of (1 + x) log(1 + x) - x is added up: in -x, its highest power first; 1e-18 is left.
_NEAR = 0.1
_SERIES = np.array([1.0 / (k * (k - 1)) for k in range(17, 1, -1)] + [0.0, 0.0])
#: Logarithms of scales beyond this are not told apart: doubles end there.
_LOG = 700.0


class Rate:
    r"""A rate :math:`\kappa(u)`; the subclasses say which."""

    @property
    def threshold(self) -> float:
        """Largest u at which the rate is 0; minus infinity if it is positive everywhere."""
        return -np.inf

    def error(self, u: Any) -> Array:
        r"""Rate of errors, :math:`1-\kappa(u)`, without cancellation where it is small."""
        raise NotImplementedError

    def correct(self, u: Any) -> Array:
        r"""Rate of correct classification, :math:`\kappa(u)`."""
        return self.error(-np.asarray(u, dtype=np.float64))  # the distribution of a.x is symmetric

    def slope(self, u: Any) -> Array:
        r"""Derivative :math:`\kappa'(u)`."""
        raise NotImplementedError

    def at_error(self, error: float) -> float:
        """The u at which the rate of errors is given, strictly between 0 and 1."""
        raise NotImplementedError

    def at_correct(self, correct: float) -> float:
        """The u at which the rate of correct classification is given, strictly between 0 and 1."""
        return -self.at_error(correct)


@dataclass(frozen=True)
class GaussianRate(Rate):
    r"""True rate of a Gaussian class, :math:`\kappa=\Phi`: Kim et al. (2006), equation (1).

    Examples
    --------
    >>> from paretoclf.distributions.gaussian.rates import GaussianRate
    >>> float(GaussianRate().correct(0.0)), round(GaussianRate().at_error(0.025), 4)
    (0.5, 1.96)
    """

    def error(self, u: Any) -> Array:
        r"""Return :math:`\Phi(-u)`."""
        return np.asarray(ndtr(-np.asarray(u, dtype=np.float64)))

    def slope(self, u: Any) -> Array:
        r"""Return :math:`\varphi(u)`."""
        return _density(u)

    def at_error(self, error: float) -> float:
        r"""Return :math:`-\Phi^{-1}(e)`."""
        return -float(ndtri(error))


@dataclass(frozen=True)
class ChebyshevRate(Rate):
    r"""Smallest rate over all distributions with the same mean and covariance.

    :math:`\Psi(u)=u_\oplus^2/(1+u_\oplus^2)`, :math:`u_\oplus=\max(u,0)`.

    Kim et al. (2006), equation (8); Marshall & Olkin (1960). Attained by two atoms.

    Examples
    --------
    >>> from paretoclf.distributions.gaussian.rates import ChebyshevRate
    >>> ChebyshevRate().correct([-1.0, 2.0]), ChebyshevRate().threshold
    (array([0. , 0.8]), 0.0)
    """

    @property
    def threshold(self) -> float:
        """No rate is guaranteed where the mean is on the wrong side."""
        return 0.0

    def error(self, u: Any) -> Array:
        r"""Return :math:`1/(1+u_\oplus^2)`."""
        return np.asarray(1.0 / (1.0 + np.square(np.maximum(u, 0.0))))

    def correct(self, u: Any) -> Array:
        r"""Return :math:`\Psi(u)`."""
        squares = np.square(np.maximum(u, 0.0))
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(squares), 1.0, squares / (1.0 + squares))

    def slope(self, u: Any) -> Array:
        r"""Return :math:`2u_\oplus/(1+u_\oplus^2)^2`."""
        v = np.maximum(u, 0.0)
        return np.asarray(2 * v / np.square(1 + np.square(v)))

    def at_error(self, error: float) -> float:
        r"""Return :math:`\sqrt{(1-e)/e}`."""
        return float(np.sqrt((1 - error) / error))

    def at_correct(self, correct: float) -> float:
        r"""Return :math:`\sqrt{r/(1-r)}`."""
        return float(np.sqrt(correct / (1 - correct)))


@dataclass(frozen=True)
class KLRate(Rate):
    r"""Smallest rate over all distributions within a Kullback-Leibler divergence of the Gaussian.

    Kim et al. (2006), Lemma 2, equation (11). The family is :math:`\{P:d_{KL}(P\|N(\mu,\Sigma))\le\delta\}`; mean and
    covariance are not fixed. With the binary divergence kl the rate is :math:`1-p^*`, where :math:`p^*` is the largest
    p with :math:`\mathrm{kl}(p\|\Phi(-u))\le\delta`. The worst distribution has the density :math:`p^*/\Phi(-u)` times
    the Gaussian one on the side of the errors, and :math:`(1-p^*)/\Phi(u)` times it on the other.

    Parameters
    ----------
    delta : float
        Radius :math:`\delta\ge0`; 0 is the Gaussian rate.

    Raises
    ------
    InputError
        If delta is negative or not finite.

    Examples
    --------
    >>> from paretoclf.distributions.gaussian.rates import KLRate
    >>> round(float(KLRate(0.2).correct(1.0)), 6), round(KLRate(1.0).threshold, 4)
    (0.574936, 0.3375)
    """

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_nonnegative_number(self.delta, "delta"))

    @property
    def threshold(self) -> float:
        r"""Return :math:`\Phi^{-1}(1-e^{-\delta})`: a smaller rate than :math:`1-e^{-\delta}` can be made 0."""
        return float(ndtri(-np.expm1(-self.delta)))

    def error(self, u: Any) -> Array:
        r"""Return :math:`p^*`, small ones without cancellation."""
        v = np.asarray(u, dtype=np.float64)
        log_errors, _, _ = self._worst(v)
        return np.where(self._all_lost(v), 1.0, np.exp(log_errors))

    def correct(self, u: Any) -> Array:
        r"""Return :math:`1-p^*`, small ones without cancellation."""
        v = np.asarray(u, dtype=np.float64)
        _, log_others, _ = self._worst(v)
        return np.where(self._all_lost(v), 0.0, np.exp(log_others))

    def slope(self, u: Any) -> Array:
        r"""Derivative: :math:`p^*(1-e^{-s})/s` times :math:`\varphi(u)/\Phi(-u)`, with s of `_divergence`."""
        v = np.asarray(u, dtype=np.float64)
        if self.delta == 0:
            return _density(v)
        log_errors, _, moved = self._worst(v)
        with np.errstate(all="ignore"):
            mean = np.where(moved == 0.0, 1.0, -np.expm1(-moved) / moved)
            hazard = np.sqrt(2.0 / np.pi) / erfcx(v / np.sqrt(2.0))  # the density over what is beyond u
            found = np.exp(log_errors) * hazard * mean
        return np.where(self._all_lost(v) | np.isinf(v), 0.0, found)

    def at_error(self, error: float) -> float:
        r"""Return the u with :math:`\mathrm{kl}(e\|\Phi(-u))=\delta`: :math:`\Phi(-u)=f_\delta(e)` of the paper."""
        odds = float(np.log(error) - np.log1p(-error))
        return self._at(-float(ndtri(error)), odds)

    def at_correct(self, correct: float) -> float:
        r"""Return the u with :math:`\mathrm{kl}(1-r\|\Phi(-u))=\delta`."""
        odds = float(np.log1p(-correct) - np.log(correct))
        return self._at(float(ndtri(correct)), odds)

    def _at(self, low: float, odds: float) -> float:
        """The u at which the largest rate of errors has these log odds; at ``low`` the Gaussian one has them."""
        if self.delta == 0:
            return low

        def excess(u: float) -> float:
            log_error, log_correct = float(log_ndtr(-u)), float(log_ndtr(u))
            if log_error < _FAR:
                log_errors, log_others = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
                return float(_far_divergence(log_errors, log_others, log_error)) - self.delta
            moved = max(odds - log_error + log_correct, 0.0)
            return float(_divergence(moved, log_error, log_correct)) - self.delta

        reach = 1.0
        while excess(low + reach) < 0.0:
            reach *= 2.0
        return float(brentq(excess, low, low + reach, xtol=1e-14, rtol=1e-14))

    def _worst(self, v: Array) -> tuple[Array, Array, Array]:
        """Logarithms of p* and 1 - p*, and the growth of the log odds of an error, s of `_divergence`."""
        log_error = log_ndtr(-v)
        if self.delta == 0:
            return log_error, log_ndtr(v), np.zeros_like(v)
        far = log_error < _FAR
        near = np.where(far | np.isinf(v), 0.0, v)  # what is none of these is not read
        logs = log_ndtr(-near), log_ndtr(near)
        moved = self._moved(near)
        log_mass = _log_mass(moved, *logs)
        log_errors, log_others = logs[0] + moved - log_mass, logs[1] - log_mass
        if not far.any():
            return log_errors, log_others, moved
        # Where errors are rarest the growth is as large as its own rounding, and p* is found by itself.
        tail = np.minimum(log_error, _FAR)
        far_errors = self._log_errors_far(np.maximum(tail, -_LARGEST))
        far_errors = np.where(np.isneginf(log_error), -np.inf, far_errors)
        far_others = np.log(-np.expm1(far_errors))
        with np.errstate(invalid="ignore"):  # where nothing errs
            far_moved = far_errors - tail - far_others
        log_errors = np.where(far, far_errors, log_errors)
        log_others = np.where(far, far_others, log_others)
        return log_errors, log_others, np.where(far, far_moved, moved)

    def _log_errors_far(self, log_error: Array) -> Array:
        """Logarithm of p* where the Gaussian rate of errors has this one, below `_FAR`: bisection."""
        with np.errstate(divide="ignore"):
            low = np.log(self.delta) - np.log(-log_error) - 2.0  # less than all of the divergence is used up there
        high = np.zeros_like(low)
        for _ in range(_HALVINGS_FAR):
            middle = 0.5 * (low + high)
            with np.errstate(divide="ignore"):
                outside = _far_divergence(middle, np.log(-np.expm1(middle)), log_error) > self.delta
            low, high = np.where(outside, low, middle), np.where(outside, middle, high)
        return np.asarray(0.5 * (low + high))

    def _moved(self, v: Array) -> Array:
        """The growth of the log odds of an error: bisection, as the divergence increases in it, and Newton's steps."""
        logs = log_ndtr(-v), log_ndtr(v)
        with np.errstate(divide="ignore", over="ignore"):
            inverse = np.exp(-logs[0] - logs[1])
            guess = np.sqrt(2.0 * self.delta * inverse)  # the divergence is nearly p_0 q_0 s^2 / 2
        low, high = np.zeros_like(v), np.minimum(1.0, 2.0 * guess)
        for _ in range(_DOUBLINGS):
            inside = _divergence(high, *logs) < self.delta
            if not inside.any():
                break
            high = np.where(inside, 2.0 * high, high)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            outside = _divergence(middle, *logs) > self.delta
            low, high = np.where(outside, low, middle), np.where(outside, middle, high)
        moved = 0.5 * (low + high)
        for _ in range(_STEPS):
            over = _divergence(moved, *logs) - self.delta
            both = logs[0] + logs[1] + moved - 2.0 * _log_mass(moved, *logs)  # of p and q, each with its derivative
            with np.errstate(all="ignore"):
                step = over / (moved * np.exp(both))
            step = np.where(np.isfinite(step), step, 0.0)
            moved = np.clip(moved - step, low, high)
        return np.asarray(moved)

    def _all_lost(self, v: Array) -> Mask:
        """Mask of the distances at which a distribution that always errs is within the radius."""
        return np.asarray(-log_ndtr(-v) <= self.delta)


@dataclass(frozen=True)
class StudentRate(Rate):
    r"""True rate of a multivariate t distribution (df = 1: Cauchy), :math:`\kappa=T_\nu`: Kim et al. (2006), section 4.

    The covariance that is given is the dispersion :math:`\Sigma`; the covariance of the distribution is
    :math:`\frac\nu{\nu-2}\Sigma` for :math:`\nu>2` and does not exist otherwise.

    Parameters
    ----------
    df : float
        Degrees of freedom :math:`\nu`, positive.

    Raises
    ------
    InputError
        If df is not a finite positive number.

    Examples
    --------
    >>> from paretoclf.distributions.gaussian.rates import StudentRate
    >>> round(float(StudentRate(1).correct(1.0)), 12)  # Cauchy: 1/2 + arctan(1) / pi
    0.75
    """

    df: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "df", check_positive_number(self.df, "df"))

    def error(self, u: Any) -> Array:
        r"""Return :math:`T_\nu(-u)`."""
        return np.asarray(stdtr(self.df, -np.asarray(u, dtype=np.float64)))

    def slope(self, u: Any) -> Array:
        """Density of the t distribution."""
        df = self.df
        ratio = np.exp(gammaln((df + 1) / 2) - gammaln(df / 2))  # Gamma((df + 1) / 2) / Gamma(df / 2)
        scale = ratio / np.sqrt(df * np.pi)
        base = 1 + np.square(u) / df
        return np.asarray(scale * base ** (-(df + 1) / 2))

    def at_error(self, error: float) -> float:
        r"""Return :math:`-T_\nu^{-1}(e)`."""
        return -float(stdtrit(self.df, error))


@dataclass(frozen=True, eq=False)
class ScaleMixtureRate(Rate):
    r"""True rate of a scale mixture of Gaussians, :math:`\kappa(u)=\int\Phi(u/\sqrt\lambda)\,p(\lambda)\,d\lambda`.

    Kim et al. (2006), Lemma 1, equation (7): :math:`x|\lambda\sim N(\mu,\lambda\Sigma)`. By adaptive quadrature in
    :math:`\log\lambda`.

    Parameters
    ----------
    density : callable
        Mixing density :math:`p(\lambda)`, a function of one positive number.
    support : (float, float)
        Interval on which the density is positive; also its points of discontinuity.

    Raises
    ------
    InputError
        If the support is no interval of positive numbers, or the density does not integrate to 1 over it.

    Examples
    --------
    Laplace: the mixing density is exponential.

    >>> import numpy as np
    >>> from paretoclf.distributions.gaussian.rates import ScaleMixtureRate
    >>> laplace = ScaleMixtureRate(lambda v: np.exp(-v))
    >>> bool(abs(laplace.correct(1.0) - (1 - np.exp(-np.sqrt(2)) / 2)) < 1e-12)
    True
    """

    density: Callable[[float], float]
    support: tuple[float, float] = field(default=(0.0, np.inf))

    def __post_init__(self) -> None:
        try:
            low, high = (real_number(v) for v in self.support)
        except (TypeError, ValueError):
            raise InputError(f"support must be a pair of numbers, got {self.support!r}") from None
        if not 0 <= low < high:
            raise InputError(f"support must be an interval of positive numbers, got {self.support!r}")
        mass, _ = quad(self._weight, *self._limits, epsabs=1e-13, epsrel=1e-12, limit=500)
        if not abs(mass - 1) <= MIXING_MASS:
            raise InputError(f"density must integrate to 1 over its support, got {mass:.9g}")

    @property
    def _limits(self) -> tuple[float, float]:
        """Ends of the support of the logarithm of the scale."""
        low, high = self.support
        with np.errstate(divide="ignore"):
            return float(np.log(low)), float(np.log(high))

    def _weight(self, log_scale: float) -> float:
        """Density of the logarithm of the scale."""
        scale = float(np.exp(np.clip(log_scale, -_LOG, _LOG)))
        return float(self.density(scale)) * scale

    def error(self, u: Any) -> Array:
        r"""Return :math:`\kappa(-u)`."""
        x = np.asarray(u, dtype=np.float64)
        return self._mean(lambda shrunk: ndtr(-x * shrunk))

    def slope(self, u: Any) -> Array:
        r"""Return :math:`\int\varphi(u/\sqrt\lambda)\lambda^{-1/2}p(\lambda)\,d\lambda`."""
        x = np.asarray(u, dtype=np.float64)
        return self._mean(lambda shrunk: _density(x * shrunk) * shrunk)

    def at_error(self, error: float) -> float:
        """Root of the rate of errors; a bracket by doubling."""
        reach = 1.0
        while float(self.error(reach)) > min(error, 1 - error):
            reach *= 2.0
        return float(brentq(lambda u: float(self.error(u)) - error, -reach, reach, xtol=1e-14, rtol=1e-14))

    def _mean(self, value: Callable[[float], Array]) -> Array:
        """Mean of a function of one over the square root of the scale."""

        def integrand(log_scale: float) -> Array:
            shrunk = float(np.exp(-0.5 * np.clip(log_scale, -_LOG, _LOG)))
            return np.asarray(value(shrunk)) * self._weight(log_scale)

        mean, _ = quad_vec(integrand, *self._limits, epsabs=1e-13, epsrel=1e-12, norm="max", limit=2000)
        return np.asarray(mean)


# Both rates, of the positives and of the negatives.
Rates = tuple[Rate, Rate]
GAUSSIAN: Rates = (GaussianRate(), GaussianRate())


def check_rates(rates: Any) -> Rates:
    """Return the rates of positives and of negatives: a pair as it is, one rate twice."""
    pair = rates if isinstance(rates, tuple) else (rates, rates)
    if len(pair) != 2 or not all(isinstance(rate, Rate) for rate in pair):
        raise InputError(
            f"rates must be a Rate (GaussianRate(), ChebyshevRate(), ...) or a pair of them, got {rates!r}"
        )
    return pair


def said(rates: Rates) -> str:
    """Name of the rates, for people."""
    return f"{rates[0]!r}" if rates[0] == rates[1] else f"{rates[0]!r} of the positives, {rates[1]!r} of the negatives"


def _density(u: Any) -> Array:
    """Density of the standard normal distribution."""
    with np.errstate(over="ignore"):
        height = np.exp(-0.5 * np.square(u))
    return np.asarray(height / np.sqrt(2 * np.pi))


def _log_mass(moved: Any, log_error: Any, log_correct: Any) -> Array:
    r"""Return :math:`\log D`, :math:`D=q_0+e^sp_0`, which divides both where the odds of errors grow by e^s."""
    return np.asarray(np.logaddexp(log_correct, log_error + moved))


def _divergence(moved: Any, log_error: Any, log_correct: Any) -> Array:
    r"""Divergence of the probabilities :math:`p=e^sp_0/D` and :math:`q=q_0/D` from p_0 and q_0.

    It is :math:`ps-\log D=-qs-\log(De^{-s})`, and where s is small, and these cancel, a sum of what is not negative,
    :math:`p_0h(p/p_0-1)+q_0h(q/q_0-1)`.
    """
    error, correct = np.exp(log_error), np.exp(log_correct)
    log_mass = _log_mass(moved, log_error, log_correct)
    with np.errstate(all="ignore"):  # in branches that are not taken
        of_errors = np.exp(log_error + moved - log_mass) * moved - log_mass
        share = np.exp(log_correct - log_mass)
        of_others = -np.log1p(correct * np.expm1(-moved)) - share * moved
        grown = np.expm1(moved) * np.exp(-log_mass)
        near = error * _above_its_tangent(correct * grown)
        near += correct * _above_its_tangent(-error * grown)
    far = np.where(error > 0.5, of_others, of_errors)
    return np.asarray(np.where(moved <= 1.0, near, far))


def _far_divergence(log_errors: Any, log_others: Any, log_error: Any) -> Array:
    r"""Divergence of p and q, by their logarithms, from p_0, by its logarithm, and 1 - p_0, which is 1 to rounding."""
    with np.errstate(invalid="ignore"):
        of_others = np.where(np.isneginf(log_others), 0.0, np.exp(log_others) * log_others)
    return np.asarray(np.exp(log_errors) * (log_errors - log_error) + of_others)


def _above_its_tangent(x: Array) -> Array:
    """(1 + x) log(1 + x) - x, for x above -1: by its series where the two cancel."""
    near = np.abs(x) <= _NEAR
    series = np.polyval(_SERIES, np.where(near, -x, 0.0))
    plain = (1.0 + x) * np.log1p(x) - x
    return np.asarray(np.where(near, series, plain))
