r"""Whether points whose entries are polynomials are in the exponential cone at every t of a piece.

For (a, c, d) that is :math:`c\,e^{a/c}\le d` with c > 0. Let E be a polynomial that interpolates :math:`e^{a/c}`, and
:math:`h=Ee^{-a/c}`. Then

.. math:: (\ln h)'=\frac{\eta}{c^2E},\qquad\eta=c^2E'-(a'c-ac')E ,

and :math:`\eta` is a polynomial, which is tiny. So :math:`|\ln h-\ln h(0)|\le T:=\max|\eta|/(\min c^2\min E)`, and

.. math:: c\,e^{a/c}\le cE\,\frac{e^T}{h(0)}

at every t, by the coefficients alone; h(0) is known up to the rounding of one exponential. It needs c > 0 and E > 0,
which coefficients prove, and no interval arithmetic. Pieces are halved three times, so that T is small.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.curves.polynomials import UNIT, UP, Polynomials, evaluation

#: Degree of the polynomial that interpolates the exponential function.
_DEGREE = 8

#: How often a piece is halved.
_HALVED = 3

_NODES = 0.5 * (1.0 - np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)))
_TO_COEFFICIENTS = np.linalg.inv(evaluation(_DEGREE, _NODES))

#: Errors of one exponential function, in units of its last place, and of what is done with it.
_OF_EXP = 32 * UNIT

#: Point inside the exponential cone, and inside its dual.
INSIDE = np.array([-1.051383, 0.556409, 1.258967])

#: Map after which multipliers are in the exponential cone where they are in its dual.
FROM_DUAL = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def in_exponential(points: Polynomials) -> Mask:
    """Whether each of k points, of shape (degree + 1, k, 3), is proved to be in the cone all over the piece.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.curves.exponential_cone import in_exponential
    >>> from paretoclf.proof.curves.polynomials import Polynomials
    >>> ends = np.array([[[0.0, 1.0, 1.1], [0.0, -1.0, 3.0]], [[1.0, 1.0, 2.8], [0.0, -1.0, 3.0]]])
    >>> in_exponential(Polynomials.of(ends)).tolist()
    [True, False]
    """
    parts = [points]
    for _ in range(_HALVED):
        parts = [half for part in parts for half in part.halves()]
    values = np.stack([part.value for part in parts], axis=1)
    radii = np.stack([part.radius for part in parts], axis=1)
    everywhere = Polynomials(values, radii)
    top, scale, height = (everywhere[..., k] for k in range(3))
    above, fine = _upper(top, scale)
    enough = (height - above).low().min(axis=0) >= 0.0
    return np.asarray((fine & enough).all(axis=0))


def _upper(top: Polynomials, scale: Polynomials) -> tuple[Polynomials, Mask]:
    """Polynomials nowhere below ``scale exp(top / scale)``, and where that is proved."""
    with np.errstate(all="ignore"):
        interpolated, factor, fine = _enclosed(top, scale)
        fine &= np.isfinite(factor)
        bound = (scale * interpolated).scaled(np.where(fine, factor, 0.0))
    return bound, fine


def _enclosed(top: Polynomials, scale: Polynomials) -> tuple[Polynomials, Array, Mask]:
    """Polynomials E, factors f with ``exp(top / scale) <= f E``, and where that is proved."""
    tops, scales = (np.tensordot(evaluation(each.degree, _NODES), each.value, 1) for each in (top, scale))
    exponentials = np.exp(tops / scales)
    interpolated = Polynomials.of(np.nan_to_num(np.tensordot(_TO_COEFFICIENTS, exponentials, 1)))
    least_scale, least = scale.low().min(axis=0), interpolated.low().min(axis=0)
    fine = (least_scale > 0.0) & (least > 0.0)
    rate = top.derivative() * scale - top * scale.derivative()
    eta = scale * scale * interpolated.derivative() - rate * interpolated
    drift = eta.largest() / (least_scale**2 * least) * UP
    start = top.value[0] / scale.value[0]
    off = (top.radius[0] + np.abs(start) * scale.radius[0]) / least_scale + 4 * UNIT * np.abs(start)
    size = np.exp(start) / interpolated.value[0]
    factor = np.exp(drift + off * UP) * size * (1.0 + _OF_EXP)
    return interpolated, factor, np.asarray(fine)
