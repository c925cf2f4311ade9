"""Both bounds of a problem with box constraints in exact rational arithmetic: theorems about the given numbers.

A double is an integer times a power of two. So sums of products of doubles are integers times a power of two, and the
two objectives at the given points are rational numbers: weak duality then holds without any rounding.

For every problem the primal point is the given one with its least slacks, and the dual point is the given one moved
into its constraints: clipped to the box, and each class scaled to the sum that it must have.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.proof.certificates import Certificate
from paretoclf.quadratic import Quadratic
from paretoclf.quadratic.fractions import exact

#: Fractions, in an array of objects.
Numbers = Any

_ZERO: Numbers = Fraction(0)


@dataclass(frozen=True)
class ExactBounds:
    """Objectives at a feasible dual and at a feasible primal point: the optimal value lies between them."""

    dual: Fraction
    primal: Fraction


@dataclass(frozen=True, repr=False, kw_only=True)
class ExactCertificate(Certificate):
    """A certificate whose two bounds are theorems about the given numbers: computed in rational arithmetic.

    Attributes
    ----------
    bounds : pair of Fraction
        The dual and the primal objective. ``dual_value`` and ``primal_value`` are these, rounded outwards.
    """

    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


def exactly(certificate: Certificate, found: ExactBounds) -> ExactCertificate:
    """The same certificate with bounds that are not rounded."""
    primal, dual = float(found.primal), float(found.dual)
    if primal < found.primal:
        primal = float(np.nextafter(primal, np.inf))
    if dual > found.dual:
        dual = float(np.nextafter(dual, -np.inf))
    given = {f.name: getattr(certificate, f.name) for f in fields(certificate)}
    gap = float((found.primal - found.dual) / Fraction(certificate.scale)) if certificate.scale else 0.0
    given |= {"primal_value": primal, "dual_value": dual, "gap": gap, "rounding": 0.0, "certain": None}
    return ExactCertificate(**given, bounds=(found.dual, found.primal))


def exact_bounds(y: Array, caps: Array, alpha: Array, b: float, Q: Quadratic, w: Array | None = None) -> ExactBounds:
    """Evaluate both objectives of the 2C-SVM exactly.

    Parameters
    ----------
    y, caps : array of shape (n,)
    alpha : array of shape (p, n)
        Multipliers, as sums of p parts. Clipped to their box, and the heavier class scaled down until the two balance,
        they are the dual point.
    b : float
    Q : Quadratic
        Of the samples; positive semidefinite.
    w : array of shape (d,), optional
        Slope of the primal point, where there are features; by default the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.exact import exact_bounds
    >>> from paretoclf.quadratic import Features
    >>> y, X = np.array([-1.0, 1.0]), np.array([[-1.0], [1.0]])
    >>> bounds = exact_bounds(y, np.ones(2), np.full((1, 2), 0.375), 0.0, Features(X))
    >>> print(bounds.dual, bounds.primal)
    15/32 25/32
    """
    slopes, sign, cap, given = Q.exactly(), exact(y), exact(caps), exact(alpha).sum(axis=0)
    scores, norm2 = slopes.given(sign * given, w)
    primal = norm2 / 2 + cap @ _positive(1 - sign * (scores + Fraction(b)))
    inside = _clipped(given, cap)
    least = min(sum(inside[y > 0], Fraction(0)), sum(inside[y < 0], Fraction(0)))
    feasible = _summing(y, inside, cap, least)
    return ExactBounds(2 * least - slopes.of(sign * feasible)[1] / 2, primal)


def exact_quantile_bounds(
    y: Array, caps: Array, alpha: Array, lam: float, b: float | None, Q: Quadratic, w: Array | None = None
) -> ExactBounds:
    """Evaluate both objectives of the quantile SVM exactly.

    Parameters
    ----------
    y, caps, alpha : array of shape (n,)
    lam : float
        Weight of the squared norm.
    b : float, optional
        Weight of a constant feature 1, part of the norm; None where there is none.
    Q, w
        As for `exact_bounds`.
    """
    slopes, sign, cap, weight = Q.exactly(), exact(y), exact(caps), Fraction(lam)
    coef = sign * exact(alpha) / weight
    scores, norm2 = slopes.given(coef, w)
    constant = Fraction(b or 0.0)
    primal = weight / 2 * (norm2 + constant**2) + cap @ _positive(1 - sign * (scores + constant))
    inside = _clipped(exact(alpha), cap)
    lower = slopes.of(sign * inside / weight)[1] + (0 if b is None else (sign @ inside / weight) ** 2)
    return ExactBounds(sum(inside, Fraction(0)) - weight / 2 * lower, primal)


def exact_nu_bounds(
    y: Array, caps: Array, nu: float, alpha: Array, own: tuple[float, float], Q: Quadratic, w: Array | None = None
) -> ExactBounds:
    """Evaluate both objectives of the 2nu-SVM exactly.

    Parameters
    ----------
    y, caps, alpha : array of shape (n,)
    nu : float
        Least sum of the multipliers; no more than twice the sum of the caps of either class.
    own : pair of float
        Intercept and margin, the latter nonnegative.
    Q, w
        As for `exact_bounds`.
    """
    b, rho = (Fraction(x) for x in own)
    slopes, sign, cap, total = Q.exactly(), exact(y), exact(caps), Fraction(nu)
    scores, norm2 = slopes.given(sign * exact(alpha), w)
    slack = _positive(rho - sign * (scores + b))
    # The caps are doubles: at the largest nu they may add up to a little less than half of it.
    half = min(total / 2, *(sum(cap[side], Fraction(0)) for side in (y > 0, y < 0)))
    feasible = _summing(y, _clipped(exact(alpha), cap), cap, half)
    lower = slopes.of(sign * feasible)[1] / 2
    return ExactBounds(-lower, norm2 / 2 + cap @ slack - 2 * half * rho)


def exact_margin_bounds(
    y: Array, share: float, u: Array, b: float, costs: Array | None, Q: Quadratic, w: Array | None = None
) -> ExactBounds:
    """Evaluate both objectives of the problem of two margins exactly, in the units of `paretoclf.proof.margins`.

    Parameters
    ----------
    y, u : array of shape (n,)
        Labels; multipliers of theta = 1.
    share : float
        The positives' share of the margin.
    b : float
    costs : array of shape (n,), optional
        Weights of the squared slacks; without them the problem is the hard one, whose primal point is the nearest
        feasible multiple of the slope.
    Q, w
        As for `exact_bounds`.
    """
    slopes, sign = Q.exactly(), exact(y)
    given = _positive(exact(u))
    scores, norm2 = slopes.given(sign * exact(u) / 2, w)
    least = min(sum(given[y > 0], Fraction(0)), sum(given[y < 0], Fraction(0)))
    feasible = _summing(y, given, None, least)
    dual = 2 * least - slopes.of(sign * feasible / 2)[1]
    if costs is None:
        distance = min(scores[y > 0]) - max(scores[y < 0])
        if distance <= 0:
            raise ValueError("the slope separates nothing")
        return ExactBounds(dual, norm2 * (2 / distance) ** 2)
    p: Numbers = Fraction(share)
    target = np.where(y > 0, 2 * p, 2 * (1 - p))
    slack, weight = _positive(target - sign * (scores + Fraction(b))), exact(costs)
    return ExactBounds(dual - sum(feasible**2 / weight) / 4, norm2 + weight @ slack**2)


def _positive(x: Numbers) -> Numbers:
    return np.maximum(x, _ZERO)


def _clipped(x: Numbers, cap: Numbers) -> Numbers:
    return np.minimum(_positive(x), cap)


def _summing(y: Array, inside: Numbers, cap: Numbers | None, total: Fraction) -> Numbers:
    """Multipliers next to these in which each class has this sum: scaled down, or moved towards the caps."""
    out = inside.copy()
    for side in (y > 0, y < 0):
        now = sum(inside[side], Fraction(0))
        if now > total:
            out[side] = inside[side] * (total / now)
        elif now < total:
            assert cap is not None
            room = cap[side] - inside[side]
            free = np.where(inside[side] > 0, room, _ZERO)  # at the optimum only these cost nothing
            room = free if sum(free, Fraction(0)) >= total - now else room
            out[side] = inside[side] + room * ((total - now) / sum(room, Fraction(0)))
    return out
