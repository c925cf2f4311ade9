"""Products of affine functions on a segment, as Bernstein coefficients.

An affine function is given by its values (k, 2) at both ends of k segments, ``p0`` and ``p1``. A product of two has the
coefficients ``p0 q0``, ``(p0 q1 + p1 q0) / 2`` and ``p1 q1``: with s the share of the segment it is ``(1 - s)**2``,
``2 s (1 - s)`` and ``s**2`` times these, a mean of the three, so nowhere above the largest.

There are many segments and few coefficients: each coefficient lies in one piece of memory (`columns`).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from paretoclf.common.checks import Array


def columns(*numbers: Array) -> Array:
    """Numbers (k,) side by side."""
    return np.array(numbers).T


def product(p: Array, q: Array) -> Array:
    """Coefficients (k, 3) of products of affine functions."""
    (p0, p1), (q0, q1) = p.T, q.T
    return columns(p0 * q0, 0.5 * (p0 * q1 + p1 * q0), p1 * q1)


def inner(p: Array, q: Array) -> Array:
    """Coefficients (k, 3) of sums of products, of functions (k, 2, size)."""
    first, last = p[:, 0], p[:, 1]
    mixed = np.vecdot(first, q[:, 1]) + np.vecdot(last, q[:, 0])
    return columns(np.vecdot(first, q[:, 0]), 0.5 * mixed, np.vecdot(last, q[:, 1]))


def line(p: Array) -> Array:
    """Coefficients (k, 3) of affine functions."""
    start, end = p.T
    return columns(start, 0.5 * (start + end), end)


def square(p: Array) -> Array:
    """Coefficients (k, 3) of squares of affine functions."""
    return product(p, p)


def quotient(p: Array, q: Array) -> Array:
    """Largest quotient of two positive affine functions: monotone, so at an end."""
    return np.asarray(np.where(q > 0.0, p / np.where(q > 0.0, q, 1.0), np.where(p > 0.0, np.inf, 0.0)).max(axis=1))


def chord(duals: Array) -> Array:
    """The bound from dual values (k, 3): the optimal value is concave, so nowhere below the chord of its bounds."""
    return line(np.maximum(duals[:, ::2], 0.0))


def of_value(value: Array) -> Array:
    """Coefficients of ``(1 - f) s + f e - f (1 - f) c``, given as rows s, e, c."""
    start, end, bend = value.T
    return columns(start, 0.5 * (start + end) - 0.5 * bend, end)


def late(x: Array) -> Array:
    """What is 0 at the beginning of each segment."""
    return columns(np.zeros_like(x), x)


def pair(x: Array) -> Array:
    """The same at both ends."""
    return columns(x, x)


def pairs(x: Array) -> Array:
    """Numbers at the ends of m segments, (m + 1,), as (m, 2)."""
    return columns(x[:-1], x[1:])


def negative(coefficients: Array) -> list[tuple[float, float]]:
    """Where on [0, 1] a quadratic with three Bernstein coefficients is below 0: up to two intervals."""
    most = float(np.abs(coefficients).max())
    if not 0.0 < most < math.inf:
        return []
    start, middle, end = map(float, coefficients / most)
    square, slope = start - 2.0 * middle + end, middle - start  # of square s^2 + 2 slope s + start
    inside = slope * slope - square * start
    knots = [0.0, 1.0]
    if inside > 0.0:
        far = -(slope + math.copysign(math.sqrt(inside), slope))  # without cancellation
        knots += [part / whole for part, whole in ((far, square), (start, far)) if abs(part) < abs(whole)]
    knots = sorted({s for s in knots if 0.0 <= s <= 1.0})

    def value(s: float) -> float:
        return (1.0 - s) * ((1.0 - s) * start + 2.0 * s * middle) + s * s * end

    return [(low, high) for low, high in pairwise(knots) if value(0.5 * (low + high)) < 0.0]
