r"""Expected losses of a margin that is Gaussian: :math:`u=s+\sigma Z`.

A classifier sees a Gaussian class through one number only, so every expectation that its risk, its gradient and its
Hessian need is a mean over a standard normal Z: of :math:`\phi(u)`, :math:`\phi'(u)`, :math:`\phi''(u)`,
:math:`Z\phi''(u)` and :math:`Z^2\phi''(u)` (for the gradient :math:`E[Z\phi'(u)]=\sigma E\phi''(u)`).

=========  ==========================================  ========================================================
loss       :math:`\phi(u)`                             expectations
=========  ==========================================  ========================================================
square     :math:`\frac12(u-1)^2`                      closed form
erf        :math:`u\Phi(u)-u+\varphi(u)`               closed form (Bach et al. 2006, appendix A.2.1)
hinge      :math:`\max(0,1-u)`                         closed form (that of the erf loss with target 1, no noise)
logistic   :math:`\log(1+e^{-u})`                      adaptive quadrature in Z
probit     :math:`-\log\Phi(u)`                        adaptive quadrature in Z
=========  ==========================================  ========================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, ndtr

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.distributions.population.quadrature import integrate
from paretoclf.proof.points.losses import FAR, mills

#: The losses a population can be solved for.
LOSSES = ("square", "erf", "hinge", "logistic", "probit")

_ROOT = np.sqrt(2 * np.pi)
#: Beyond this many standard deviations the normal density is no double.
_REACH = 38.5
_EDGES = np.linspace(-_REACH, _REACH, 23)


@dataclass(frozen=True)
class Expected:
    r"""Expectations for k Gaussian margins, each to be multiplied by ``exp(log_scale)``; arrays of shape (k,).

    Attributes
    ----------
    log_scale : array
        Logarithm of the common factor: expectations of a far tail are no doubles.
    value, slope : array
        :math:`E\phi`, :math:`E\phi'`.
    bend, bend_z, bend_zz : array
        :math:`E[\phi'']`, :math:`E[Z\phi'']`, :math:`E[Z^2\phi'']`.
    """

    log_scale: Array
    value: Array
    slope: Array
    bend: Array
    bend_z: Array
    bend_zz: Array


def check_loss(loss: object) -> str:
    """Return the name of a loss, or say which there are."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise InputError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    return loss


def expected(loss: str, s: Array, sigma: Array) -> Expected:
    r"""Expectations of a loss at margins :math:`s+\sigma Z`.

    Parameters
    ----------
    loss : str
        One of `LOSSES`.
    s, sigma : array of shape (k,)
        Means and standard deviations of the margins; for the hinge the latter positive.

    Examples
    --------
    The fixture of the erf loss: :math:`w=(1,-\frac12)`, :math:`b=\frac14`, :math:`N(e_1,I)`.

    >>> import numpy as np
    >>> from paretoclf.distributions.population.losses import expected
    >>> at = expected("erf", np.array([1.25]), np.sqrt(np.array([1.25])))
    >>> (at.value * np.exp(at.log_scale)).round(12)
    array([0.16995734])
    """
    if loss == "square":
        one = np.ones_like(s)
        slope = s - 1.0
        value = 0.5 * (slope**2 + sigma**2)
        return Expected(np.zeros_like(s), value, slope, bend=one, bend_z=0.0 * one, bend_zz=one)
    if loss == "hinge":
        kink = (s - 1.0) / sigma
        log_scale, value, tail, density = _kink(kink)
        bend = density / sigma
        return Expected(log_scale, sigma * value, -tail, bend, bend_z=-kink * bend, bend_zz=kink**2 * bend)
    if loss == "erf":
        spread = np.sqrt(1.0 + sigma**2)
        log_scale, value, tail, density = _kink(s / spread)
        bend = density / spread
        # Mean and variance of Z, given that the unit noise of the loss takes u to 0.
        mean = -s * sigma / spread**2
        variance = 1.0 / spread**2
        return Expected(log_scale, spread * value, -tail, bend, bend_z=mean * bend, bend_zz=(mean**2 + variance) * bend)
    rows = [_quadrature(loss, float(mean), float(spread)) for mean, spread in zip(s, sigma, strict=True)]
    return Expected(np.zeros_like(s), *np.array(rows).T)


def _kink(t: Array) -> tuple[Array, Array, Array, Array]:
    r"""Return :math:`E(Z-t)_+`, :math:`\Phi(-t)` and :math:`\varphi(t)`, all over ``exp(log_scale)``, after that."""
    above = t > 0
    log_scale = np.where(above, -0.5 * t**2, 0.0)
    with np.errstate(over="ignore"):
        density = np.where(above, 1.0, np.exp(-0.5 * t**2)) / _ROOT
        scaled_tail = 0.5 * erfcx(np.where(above, t, 0.0) / np.sqrt(2.0))
        tail = np.where(above, scaled_tail, ndtr(-t))
    # Far out the difference density - t tail cancels, and its ratio to the density is taken from a continued fraction.
    close = t <= FAR
    _, rest = mills(np.where(close, FAR + 1.0, t))
    value = np.where(close, density - t * tail, rest / _ROOT)
    return log_scale, value, tail, density


def _quadrature(loss: str, s: float, sigma: float) -> Array:
    """Value, slope, bend, bend_z and bend_zz of one margin, for a loss without a closed form."""
    derivatives = _logistic if loss == "logistic" else _probit

    def functions(z: Array) -> Array:
        value, slope, bend = derivatives(s + sigma * z)
        density = np.exp(-0.5 * z**2) / _ROOT
        return np.asarray(np.array([value, slope, bend, z * bend, z**2 * bend]) * density)

    if sigma == 0:
        value, slope, bend = derivatives(np.array(s))
        return np.array([value, slope, bend, 0.0, bend])
    turn = -s / sigma  # where the margin is 0, and the loss changes fastest
    edges = np.union1d(_EDGES, turn) if abs(turn) < _REACH else _EDGES
    return integrate(functions, edges)


def _logistic(u: Array) -> tuple[Array, Array, Array]:
    """Logistic loss with its first and second derivative."""
    return np.logaddexp(0.0, -u), -expit(-u), expit(u) * expit(-u)


def _probit(u: Array) -> tuple[Array, Array, Array]:
    """Probit loss with its first and second derivative."""
    log_share = log_ndtr(u)
    hazard = np.exp(-0.5 * u**2 - log_share) / _ROOT  # density over distribution function
    far = u < -FAR
    ratio, rest = mills(np.where(far, -u, FAR + 1.0))
    hazard = np.where(far, 1.0 / ratio, hazard)
    bend = np.where(far, rest / ratio**2, hazard * (hazard + u))
    return -log_share, -hazard, bend
