r"""Losses of the margin :math:`u=yf(x)`: value, derivatives, and the conjugate that the dual needs.

For a convex loss :math:`\phi`, :math:`\phi^*(-p)=\sup_u(-pu-\phi(u))`; the derivative at the optimum is
:math:`-p`, with p in the range of :math:`-\phi'`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import entr, expit, ndtr, ndtri

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError


class Loss(Protocol):
    """A convex function of the margin."""

    @property
    def name(self) -> str:
        """Name of the loss."""
        ...

    @property
    def low(self) -> float:
        """Lower end of the range of ``-slope``."""
        ...

    @property
    def high(self) -> float:
        """Upper end of the range of ``-slope``."""
        ...

    def value(self, u: Array) -> Array:
        """Loss at margins u."""
        ...

    def slope(self, u: Array) -> Array:
        """First derivative (for the hinge: a subgradient)."""
        ...

    def curvature(self, u: Array) -> Array:
        """Second derivative."""
        ...

    def conjugate(self, p: Array) -> Array:
        """Conjugate at -p, for p in [low, high]."""
        ...


@dataclass(frozen=True)
class Square:
    r""":math:`\tfrac12(u-1)^2`."""

    name = "square"
    low = -np.inf
    high = np.inf

    def value(self, u: Array) -> Array:
        """Loss at margins u."""
        return 0.5 * (u - 1.0) ** 2

    def slope(self, u: Array) -> Array:
        """First derivative."""
        return u - 1.0

    def curvature(self, u: Array) -> Array:
        """Second derivative."""
        return np.ones_like(u)

    def conjugate(self, p: Array) -> Array:
        r""":math:`\tfrac12p^2-p`."""
        return 0.5 * p**2 - p


@dataclass(frozen=True)
class Hinge:
    r""":math:`\max(0,1-u)`."""

    name = "hinge"
    low = 0.0
    high = 1.0

    def value(self, u: Array) -> Array:
        """Loss at margins u."""
        return np.maximum(0.0, 1.0 - u)

    def slope(self, u: Array) -> Array:
        """Derivative, and at the kink a subgradient."""
        return np.where(u < 1.0, -1.0, 0.0)

    def curvature(self, u: Array) -> Array:
        """Second derivative, where there is one: 0."""
        return np.zeros_like(u)

    def conjugate(self, p: Array) -> Array:
        """Conjugate at -p: -p."""
        return -p


@dataclass(frozen=True)
class Logistic:
    r""":math:`\log(1+e^{-u})`."""

    name = "logistic"
    low = 0.0
    high = 1.0

    def value(self, u: Array) -> Array:
        """Loss at margins u."""
        return np.logaddexp(0.0, -u)

    def slope(self, u: Array) -> Array:
        """First derivative."""
        return np.asarray(-expit(-u))

    def curvature(self, u: Array) -> Array:
        """Second derivative."""
        return np.asarray(expit(u) * expit(-u))

    def conjugate(self, p: Array) -> Array:
        r""":math:`p\log p+(1-p)\log(1-p)`."""
        return np.asarray(-entr(p) - entr(1.0 - p))


@dataclass(frozen=True)
class Erf:
    r""":math:`u\Phi(u)-u+\varphi(u)=E(Z-u)_+` for a standard normal Z."""

    name = "erf"
    low = 0.0
    high = 1.0

    def value(self, u: Array) -> Array:
        r"""Loss at margins u, as :math:`\varphi(u)-u\Phi(-u)`; far right through logarithms, where the terms cancel."""
        density = np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi)
        direct = density - u * ndtr(-u)
        far = u > FAR
        return np.asarray(np.where(far, density * mills(np.where(far, u, FAR + 1.0))[1], direct))

    def slope(self, u: Array) -> Array:
        """First derivative."""
        return np.asarray(-ndtr(-u))

    def curvature(self, u: Array) -> Array:
        """Second derivative."""
        return np.asarray(np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi))

    def conjugate(self, p: Array) -> Array:
        r""":math:`-\varphi(\Phi^{-1}(p))`: with :math:`u=-\Phi^{-1}(p)`, :math:`-pu-\phi(u)=-\varphi(u)`."""
        return np.asarray(-np.exp(-0.5 * ndtri(np.clip(p, 0.0, 1.0)) ** 2) / np.sqrt(2 * np.pi))


#: Beyond this the continued fraction of Mills' ratio is taken: it has converged, and differences of tails cancel.
FAR = 5.0


def mills(v: Array) -> tuple[Array, Array]:
    r"""Mills' ratio :math:`m(v)=\Phi(-v)/\varphi(v)` and :math:`1-v\,m(v)` for v > 5, by Laplace's continued fraction.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.losses import mills
    >>> mills(np.array([1e8]))  # 1 / v and 1 / v^2
    (array([1.e-08]), array([1.e-16]))
    """
    t = np.zeros_like(v)
    for k in range(60, 1, -1):
        t = k / (v + t)
    # m = 1 / (v + 1 / (v + t)), so 1 - v m = m / (v + t).
    m = 1.0 / (v + 1.0 / (v + t))
    return np.asarray(m), np.asarray(m / (v + t))


#: The losses, by name.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Square(), Hinge(), Logistic(), Erf())}


def loss_of(name: object) -> Loss:
    """Return the loss of this name.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.losses import loss_of
    >>> loss_of("hinge").value(np.array([0.0, 2.0]))
    array([1., 0.])
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise InputError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}")
    return LOSSES[name]
