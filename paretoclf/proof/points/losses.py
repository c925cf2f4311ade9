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

    def value(self, margin: Array) -> Array:
        """Loss at margins."""
        ...

    def slope(self, margin: Array) -> Array:
        """First derivative (for the hinge: a subgradient)."""
        ...

    def curvature(self, margin: Array) -> Array:
        """Second derivative."""
        ...

    def conjugate(self, multiplier: Array) -> Array:
        """Conjugate at -p, for a multiplier p in [low, high]."""
        ...


@dataclass(frozen=True)
class Square:
    r""":math:`\tfrac12(u-1)^2`."""

    name = "square"
    low = -np.inf
    high = np.inf

    def value(self, margin: Array) -> Array:
        """Loss at margins."""
        return 0.5 * (margin - 1.0) ** 2

    def slope(self, margin: Array) -> Array:
        """First derivative."""
        return margin - 1.0

    def curvature(self, margin: Array) -> Array:
        """Second derivative."""
        return np.ones_like(margin)

    def conjugate(self, multiplier: Array) -> Array:
        r""":math:`\tfrac12p^2-p`."""
        return 0.5 * multiplier**2 - multiplier


@dataclass(frozen=True)
class Hinge:
    r""":math:`\max(0,1-u)`."""

    name = "hinge"
    low = 0.0
    high = 1.0

    def value(self, margin: Array) -> Array:
        """Loss at margins."""
        return np.maximum(0.0, 1.0 - margin)

    def slope(self, margin: Array) -> Array:
        """Derivative, and at the kink a subgradient."""
        return np.where(margin < 1.0, -1.0, 0.0)

    def curvature(self, margin: Array) -> Array:
        """Second derivative, where there is one: 0."""
        return np.zeros_like(margin)

    def conjugate(self, multiplier: Array) -> Array:
        """Conjugate at -p: -p."""
        return -multiplier


@dataclass(frozen=True)
class Logistic:
    r""":math:`\log(1+e^{-u})`."""

    name = "logistic"
    low = 0.0
    high = 1.0

    def value(self, margin: Array) -> Array:
        """Loss at margins."""
        return np.logaddexp(0.0, -margin)

    def slope(self, margin: Array) -> Array:
        """First derivative."""
        return np.asarray(-expit(-margin))

    def curvature(self, margin: Array) -> Array:
        """Second derivative."""
        return np.asarray(expit(margin) * expit(-margin))

    def conjugate(self, multiplier: Array) -> Array:
        r""":math:`p\log p+(1-p)\log(1-p)`."""
        return np.asarray(-entr(multiplier) - entr(1.0 - multiplier))


@dataclass(frozen=True)
class Erf:
    r""":math:`u\Phi(u)-u+\varphi(u)=E(Z-u)_+` for a standard normal Z."""

    name = "erf"
    low = 0.0
    high = 1.0

    def value(self, margin: Array) -> Array:
        r"""Loss at margins, as :math:`\varphi(u)-u\Phi(-u)`; far right through logarithms, where the terms cancel."""
        density = _normal_density(margin)
        direct = density - margin * ndtr(-margin)
        far = margin > FAR
        _, tail = mills(np.where(far, margin, FAR + 1.0))
        return np.asarray(np.where(far, density * tail, direct))

    def slope(self, margin: Array) -> Array:
        """First derivative."""
        return np.asarray(-ndtr(-margin))

    def curvature(self, margin: Array) -> Array:
        """Second derivative."""
        return np.asarray(_normal_density(margin))

    def conjugate(self, multiplier: Array) -> Array:
        r""":math:`-\varphi(\Phi^{-1}(p))`: with :math:`u=-\Phi^{-1}(p)`, :math:`-pu-\phi(u)=-\varphi(u)`."""
        return np.asarray(-_normal_density(ndtri(np.clip(multiplier, 0.0, 1.0))))


def _normal_density(point: Array) -> Array:
    """Density of the standard normal distribution."""
    return np.asarray(np.exp(-0.5 * point**2) / np.sqrt(2 * np.pi))


#: Beyond this the continued fraction of Mills' ratio is taken: it has converged, and differences of tails cancel.
FAR = 5.0


def mills(point: Array) -> tuple[Array, Array]:
    r"""Mills' ratio :math:`m(v)=\Phi(-v)/\varphi(v)` and :math:`1-v\,m(v)` for v > 5, by Laplace's continued fraction.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.losses import mills
    >>> mills(np.array([1e8]))  # 1 / v and 1 / v^2
    (array([1.e-08]), array([1.e-16]))
    """
    tail = np.zeros_like(point)
    for order in range(60, 1, -1):
        tail = order / (point + tail)
    # m = 1 / (v + 1 / (v + t)) with the tail t of the fraction, so 1 - v m = m / (v + t).
    ratio = 1.0 / (point + 1.0 / (point + tail))
    return np.asarray(ratio), np.asarray(ratio / (point + tail))


_ALL: tuple[Loss, ...] = (Square(), Hinge(), Logistic(), Erf())

#: The losses, by name.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in _ALL}


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
