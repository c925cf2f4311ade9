"""Both bounds of a 2C-SVM in exact rational arithmetic: theorems about the given numbers.

A double is an integer times a power of two. So sums of products of doubles are integers times a power of two, and the
two objectives at the given points are rational numbers: weak duality then holds without any rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.samples import Samples, dense


@dataclass(frozen=True)
class ExactBounds:
    """What is computed without rounding.

    Attributes
    ----------
    dual, primal : Fraction
        Objectives at a feasible dual and at a feasible primal point: the optimal value lies between them.
    f : array of shape (n,)
        Values of the classifier, each rounded once.
    norm2 : float
        Squared norm of w, rounded once.
    """

    dual: Fraction
    primal: Fraction
    f: Array
    norm2: float


def exact_bounds(
    y: Array, caps: Array, alpha: Array, b: float, *, K: Array | None = None, X: Samples | None = None, w: Any = None
) -> ExactBounds:
    """Evaluate both objectives of the 2C-SVM exactly.

    Parameters
    ----------
    y, caps : array of shape (n,)
    alpha : array of shape (p, n)
        Multipliers, as sums of p parts. Clipped to their box, and the heavier class scaled down until the two balance,
        they are the dual point.
    b : float
    K : array of shape (n, n), optional
        Kernel matrix, symmetric and positive semidefinite. Exactly one of K and X must be given.
    X : array or CSR array of shape (n, d), optional
    w : array of shape (d,), optional
        Slope of the primal point, with X; by default the one that alpha implies.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.exact import exact_bounds
    >>> y, X = np.array([-1.0, 1.0]), np.array([[-1.0], [1.0]])
    >>> bounds = exact_bounds(y, np.ones(2), np.full((1, 2), 0.375), 0.0, X=X)
    >>> print(bounds.dual, bounds.primal)
    15/32 25/32
    """
    parts, power = _integers(np.vstack([alpha, caps]))
    given, cap = parts[:-1].sum(axis=0), parts[-1]
    inside = np.minimum(np.maximum(given, 0), cap)
    side = y > 0
    assert X is not None or K is not None
    kernel, kernel_power = _integers(np.asarray(K) if X is None else dense(X))

    def slope(multipliers: Any) -> tuple[Any, Any]:
        """Scores of ``sum_i y_i alpha_i x_i``, and what its products with others are taken with."""
        coef = np.where(side, multipliers, -multipliers)
        used = np.flatnonzero(coef)
        if X is None:
            return kernel[:, used] @ coef[used], coef
        return kernel @ (kernel[used].T @ coef[used]), coef

    unit = Fraction(2) ** (power + kernel_power * (1 if X is None else 2))
    scores, coef = slope(given)
    if w is None:
        f = [Fraction(int(s)) * unit + Fraction(b) for s in scores]
        norm2 = Fraction(int(coef @ scores)) * unit * Fraction(2) ** power
    else:
        slopes, slope_power = _integers(np.asarray(w, dtype=np.float64))
        f = [Fraction(int(s)) * Fraction(2) ** (kernel_power + slope_power) + Fraction(b) for s in kernel @ slopes]
        norm2 = Fraction(int(slopes @ slopes)) * Fraction(2) ** (2 * slope_power)
    slack = [max(Fraction(0), 1 - (v if positive else -v)) for v, positive in zip(f, side, strict=True)]
    primal = norm2 / 2 + sum((Fraction(float(c)) * x for c, x in zip(caps, slack, strict=True)), Fraction(0))

    sums = [int(inside[side].sum()), int(inside[~side].sum())]
    share = [Fraction(min(sums), total) if total else Fraction(1) for total in sums]
    (up, plus), (down, minus) = (slope(np.where(mine, inside, 0)) for mine in (side, ~side))
    products = [Fraction(int(a)) for a in (plus @ up, plus @ down, minus @ down)]
    square = share[0] ** 2 * products[0] + 2 * share[0] * share[1] * products[1] + share[1] ** 2 * products[2]
    dual = 2 * min(sums) * Fraction(2) ** power - square * unit * Fraction(2) ** power / 2
    return ExactBounds(dual, primal, np.array([float(v) for v in f]), float(norm2))


def _integers(x: Array) -> tuple[Any, int]:
    """Doubles as integers times one power of two."""
    mantissa, exponent = np.frexp(x)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    used = whole != 0
    least = int(exponent[used].min()) if used.any() else 0
    shift = np.where(used, exponent - least, 0)
    return whole.astype(object) * np.power(2, shift.astype(object)), least - 53
