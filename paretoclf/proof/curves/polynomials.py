r"""Polynomials on a piece of a line, as Bernstein coefficients that are known within a radius.

A polynomial of degree d is :math:`\sum_ip_iB_i(u)` with :math:`B_i(u)=\binom diu^i(1-u)^{d-i}`, where u goes from 0 to
1 over the piece. At each u it is a mean of its coefficients, so that it lies nowhere outside their range.

Each coefficient is a pair of numbers, a value v and a radius e: the exact one is within e of v. With u the rounding
unit :math:`2^{-53}`, a sum of two has the radius :math:`e_1+e_2+u|v|`. A product has the coefficients
:math:`\sum_{i+j=k}\binom ai\binom bj/\binom{a+b}k\,p_iq_j`, of which each term is rounded three times and added to no
more than min(a, b) others; its radius is the product of :math:`|v_1|` and :math:`e_2`, plus that of :math:`e_1` and
:math:`|v_2|+e_2`, plus :math:`(\min(a,b)+6)u` times that of :math:`|v_1|` and :math:`|v_2|`. A sum of n terms in any
order is off by no more than :math:`nu` times the sum of their sizes. Radii are sums of what is not negative: what
rounding makes of them is less than the factor `UP`, or than `TINY`, where a product underflows.

**A radius is more than rounding.** Whatever is proved of polynomials is proved of all whose coefficients are within the
radius. A function c(u) that is nowhere larger than a number is, at each u, a constant polynomial with coefficients that
are no larger. So to widen a radius by that number adds every such function, a polynomial or not (`widened`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any

import numpy as np

from paretoclf.common.checks import Array

#: The rounding unit of doubles.
UNIT = 2.0**-53

#: Factor above all that rounding makes of a sum of up to some thousand radii.
UP = 1 + 1e-12

#: Number above all that underflow makes of a radius.
TINY = 1e-290


@cache
def binomials(degree: int) -> Array:
    """Binomial coefficients of a degree."""
    return np.array([comb(degree, i) for i in range(degree + 1)], dtype=np.float64)


@cache
def _weights(first: int, second: int, i: int) -> Array:
    """Weights of the i-th coefficient of a polynomial with all of another one in their product."""
    pairs = binomials(first)[i] * binomials(second)
    return np.asarray(pairs / binomials(first + second)[i : i + second + 1])


def product(first: Array, second: Array) -> Array:
    """Coefficients of products of polynomials, in doubles; their axes but the first are broadcast."""
    last, other = len(first) - 1, len(second) - 1
    shape = np.broadcast_shapes(first.shape[1:], second.shape[1:])
    found = np.zeros((last + other + 1, *shape))
    for i in range(last + 1):
        weights = _weights(last, other, i).reshape(-1, *[1] * len(shape))
        found[i : i + other + 1] += weights * (first[i] * second)
    return found


def evaluation(degree: int, share: Array) -> Array:
    """Matrix (k, degree + 1) that evaluates polynomials at shares of the piece, in doubles."""
    powers = np.arange(degree + 1)
    rising = np.power.outer(np.asarray(share), powers)
    falling = np.power.outer(1.0 - np.asarray(share), degree - powers)
    return np.asarray(binomials(degree) * rising * falling)


@dataclass(frozen=True)
class Polynomials:
    """Polynomials of one degree: values and radii of their coefficients, of shape (degree + 1, ...).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.curves.polynomials import Polynomials
    >>> line = Polynomials.of(np.array([1.0, 3.0]))
    >>> square = line * line
    >>> square.value.tolist(), bool(square.low().min() <= 1.0 <= square.high().min())
    ([1.0, 3.0, 9.0], True)
    """

    value: Array
    radius: Array

    @classmethod
    def of(cls, value: Any) -> Polynomials:
        """Polynomials whose coefficients are exactly these doubles."""
        value = np.asarray(value, dtype=np.float64)
        return cls(value, np.zeros_like(value))

    @classmethod
    def constant(cls, value: Any) -> Polynomials:
        """Constant polynomials."""
        return cls.of(np.asarray(value, dtype=np.float64)[None])

    @property
    def degree(self) -> int:
        """Degree of all of them."""
        return len(self.value) - 1

    def __getitem__(self, place: Any) -> Polynomials:
        """Some of them, by an index of the axes but the first."""
        where = (slice(None), *(place if isinstance(place, tuple) else (place,)))
        return Polynomials(self.value[where], self.radius[where])

    def widened(self, more: Any) -> Polynomials:
        """Enlarge each radius by a number: with all functions that are nowhere larger than that."""
        return Polynomials(self.value, (self.radius + more) * UP)

    def lifted(self, degree: int) -> Polynomials:
        """Write them with coefficients of a larger degree."""
        if degree <= self.degree:
            return self
        ones = np.ones((degree - self.degree + 1, *[1] * (self.value.ndim - 1)))
        return self * Polynomials.of(ones)

    def __add__(self, other: Polynomials) -> Polynomials:
        degree = max(self.degree, other.degree)
        first, second = self.lifted(degree), other.lifted(degree)
        value = first.value + second.value
        radius = first.radius + second.radius + UNIT * np.abs(value)
        return Polynomials(value, radius * UP + TINY)

    def __neg__(self) -> Polynomials:
        return Polynomials(-self.value, self.radius)

    def __sub__(self, other: Polynomials) -> Polynomials:
        return self + (-other)

    def __mul__(self, other: Polynomials) -> Polynomials:
        roundings = (min(self.degree, other.degree) + 6) * UNIT
        size, other_size = np.abs(self.value), np.abs(other.value)
        radius = product(size, other.radius + roundings * other_size)
        if self.radius.any():
            radius = radius + product(self.radius, other_size + other.radius)
        return Polynomials(product(self.value, other.value), radius * UP + TINY)

    def scaled(self, factor: float | Array) -> Polynomials:
        """Multiply by numbers."""
        value = self.value * factor
        radius = self.radius * np.abs(factor) + UNIT * np.abs(value)
        return Polynomials(value, radius * UP + TINY)

    def through(self, matrix: Array, size: Array | None = None) -> Polynomials:
        """Products of a matrix with the vectors along the last axis; ``size`` is the matrix of its absolute values."""
        size = np.abs(matrix) if size is None else size
        terms = (matrix.shape[1] + 2) * UNIT
        radius = (self.radius + terms * np.abs(self.value)) @ size.T
        return Polynomials(self.value @ matrix.T, radius * (UP + 4 * terms) + TINY)

    def summed(self) -> Polynomials:
        """Sums along the last axis."""
        terms = (self.value.shape[-1] + 1) * UNIT
        radius = (self.radius + terms * np.abs(self.value)).sum(axis=-1)
        return Polynomials(self.value.sum(axis=-1), radius * (UP + 4 * terms) + TINY)

    def dot(self, other: Polynomials) -> Polynomials:
        """Sums along the last axis of products."""
        return (self * other).summed()

    def positive_part(self) -> Polynomials:
        """Polynomials that are nowhere below their positive parts: those of the coefficients."""
        return Polynomials(np.maximum(self.value, 0.0), self.radius)

    def derivative(self) -> Polynomials:
        """Derivatives in the share of the piece."""
        steps = np.diff(self.value, axis=0)
        radius = self.radius[1:] + self.radius[:-1] + UNIT * np.abs(steps)
        return Polynomials(steps, radius).scaled(float(self.degree))

    def halves(self) -> tuple[Polynomials, Polynomials]:
        """Coefficients on both halves of the piece, by de Casteljau: means of neighbours, again and again."""
        value, radius = self.value, self.radius
        left, right = [(value[0], radius[0])], [(value[-1], radius[-1])]
        while len(value) > 1:
            sizes = np.abs(value)
            radius = np.maximum(radius[:-1], radius[1:]) + UNIT * (sizes[:-1] + sizes[1:])
            value = 0.5 * (value[:-1] + value[1:])
            left.append((value[0], radius[0]))
            right.append((value[-1], radius[-1]))
        parts = []
        for side in (left, right[::-1]):
            values, radii = (np.array(each) for each in zip(*side, strict=True))
            parts.append(Polynomials(values, radii * UP + TINY))
        return parts[0], parts[1]

    def low(self) -> Array:
        """Numbers that no coefficient is below."""
        return np.asarray(self.value - self.radius * UP - UNIT * np.abs(self.value))

    def high(self) -> Array:
        """Numbers that no coefficient is above."""
        return np.asarray(self.value + self.radius * UP + UNIT * np.abs(self.value))

    def size(self) -> Array:
        """Numbers that no coefficient is larger than."""
        return np.asarray((np.abs(self.value) + self.radius) * UP)

    def largest(self) -> Array:
        """Numbers that no polynomial is larger than, anywhere on the piece."""
        return np.asarray(self.size().max(axis=0))

    def least_size(self) -> Array:
        """Numbers that the absolute value of no polynomial is below, anywhere on the piece; 0 where it may vanish."""
        least, most = self.low().min(axis=0), self.high().max(axis=0)
        return np.asarray(np.maximum(np.maximum(least, -most), 0.0))

    def at(self, share: float) -> tuple[Array, Array]:
        """Values at a share of the piece that is rounded, and how far they may be off."""
        row = evaluation(self.degree, np.array([share]))[0]
        value = np.tensordot(row, self.value, 1)
        sizes = np.tensordot(row, np.abs(self.value), 1)
        radius = np.tensordot(row, self.radius, 1) + (4 * self.degree + 8) * UNIT * sizes
        if self.degree:
            steps = np.abs(np.diff(self.value, axis=0)).max(axis=0)
            radius = radius + 8 * self.degree * UNIT * steps
        return value, np.asarray(radius * UP + TINY)


def along(t: tuple[float, float], first: Polynomials, last: Polynomials) -> Polynomials:
    """Polynomials ``(1 - t) first + t last``, with t from one number to another, both whole multiples of `GRID`."""
    if first is last:
        return first
    start, stop = t
    trailing = [1] * (first.value.ndim - 1)
    falling = Polynomials.of(np.array([1.0 - start, 1.0 - stop]).reshape(2, *trailing))
    rising = Polynomials.of(np.array([start, stop]).reshape(2, *trailing))
    return falling * first + rising * last


#: Each end of a piece is a whole multiple of this, so that t and 1 - t are doubles.
GRID = 2.0**-44
