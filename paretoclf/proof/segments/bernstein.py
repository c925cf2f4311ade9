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
    """Put numbers (k,) side by side."""
    return np.array(numbers).T


def product(one: Array, other: Array) -> Array:
    """Coefficients (k, 3) of products of affine functions."""
    start, end = one.T
    other_start, other_end = other.T
    mixed = start * other_end + end * other_start
    return columns(start * other_start, 0.5 * mixed, end * other_end)


def inner(one: Array, other: Array) -> Array:
    """Coefficients (k, 3) of sums of products, of functions (k, 2, size)."""
    start, end = one[:, 0], one[:, 1]
    other_start, other_end = other[:, 0], other[:, 1]
    mixed = np.vecdot(start, other_end) + np.vecdot(end, other_start)
    return columns(np.vecdot(start, other_start), 0.5 * mixed, np.vecdot(end, other_end))


def line(values: Array) -> Array:
    """Coefficients (k, 3) of affine functions."""
    start, end = values.T
    return columns(start, 0.5 * (start + end), end)


def square(values: Array) -> Array:
    """Coefficients (k, 3) of squares of affine functions."""
    return product(values, values)


def quotient(dividend: Array, divisor: Array) -> Array:
    """Largest quotient of two positive affine functions: monotone, so at an end; infinite where only 0 divides."""
    positive = divisor > 0.0
    quotients = dividend / np.where(positive, divisor, 1.0)
    without_divisor = np.where(dividend > 0.0, np.inf, 0.0)
    return np.asarray(np.where(positive, quotients, without_divisor).max(axis=1))


def chord(duals: Array) -> Array:
    """Lower bounds (k, 3) on the optimal value, a concave function of t: the chords of dual values (k, 3)."""
    return line(np.maximum(duals[:, ::2], 0.0))


def of_value(value: Array) -> Array:
    """Coefficients of ``(1 - f) s + f e - f (1 - f) c``, given as rows s, e, c."""
    start, end, bend = value.T
    return columns(start, 0.5 * (start + end) - 0.5 * bend, end)


def late(at_end: Array) -> Array:
    """Affine functions (k, 2) that are 0 at the beginning of each segment, by their values at the end."""
    return columns(np.zeros_like(at_end), at_end)


def pair(numbers: Array) -> Array:
    """Constant functions (k, 2), by their values."""
    return columns(numbers, numbers)


def pairs(numbers: Array) -> Array:
    """Pair the numbers at the ends of m segments, (m + 1,), by segments: (m, 2)."""
    return columns(numbers[:-1], numbers[1:])


def negative(coefficients: Array) -> list[tuple[float, float]]:
    """Intervals of [0, 1] on which a quadratic with three Bernstein coefficients is below 0: up to two."""
    most = float(np.abs(coefficients).max())
    if not 0.0 < most < math.inf:
        return []
    start, middle, end = map(float, coefficients / most)
    zeros = _zeros(start, middle, end)
    knots = sorted({0.0, 1.0, *(share for share in zeros if 0.0 <= share <= 1.0)})
    found = []
    for low, high in pairwise(knots):
        inside = 0.5 * (low + high)
        chord_part = (1.0 - inside) * start + 2.0 * inside * middle
        if (1.0 - inside) * chord_part + inside * inside * end < 0.0:
            found.append((low, high))
    return found


def _zeros(start: float, middle: float, end: float) -> list[float]:
    """Zeros of a quadratic, of those whose size is less than 1: ``curvature s^2 + 2 slope s + start``."""
    curvature, slope = start - 2.0 * middle + end, middle - start
    discriminant = slope * slope - curvature * start
    if discriminant <= 0.0:
        return []
    far = -(slope + math.copysign(math.sqrt(discriminant), slope))  # without cancellation
    quotients = (far, curvature), (start, far)
    return [part / whole for part, whole in quotients if abs(part) < abs(whole)]
