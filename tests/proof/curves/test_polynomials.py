"""Radii of coefficients against fractions, which know no rounding; halves, lifts and values."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from paretoclf.proof.curves.polynomials import GRID, Polynomials, along, evaluation


def exact(values):
    return [Fraction(float(each)) for each in values]


def exact_product(first, second):
    last, other = len(first) - 1, len(second) - 1
    found = [Fraction(0)] * (last + other + 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += Fraction(comb(last, i) * comb(other, j), comb(last + other, i + j)) * a * b
    return found


def exact_lift(values, degree):
    return exact_product(values, [Fraction(1)] * (degree - len(values) + 2)) if degree >= len(values) else values


def assert_within(found, truth):
    for value, radius, true in zip(found.value.tolist(), found.radius.tolist(), truth, strict=True):
        assert abs(Fraction(value) - true) <= Fraction(radius)


@pytest.mark.parametrize("seed", range(40))
def test_radii_hold_of_products_sums_and_differences(seed):
    rng = np.random.default_rng(seed)
    degrees = [*rng.integers(1, 10, 2), 1]
    a, b, c = (rng.normal(size=k + 1) * 10.0 ** rng.integers(-6, 6, k + 1) for k in degrees)
    A, B, C = (Polynomials.of(each) for each in (a, b, c))
    found = A * B * C + A - B * A
    ab = exact_product(exact(a), exact(b))
    abc = exact_product(ab, exact(c))
    degree = len(abc) - 1
    truth = [x + y - z for x, y, z in zip(abc, exact_lift(exact(a), degree), exact_lift(ab, degree), strict=True)]
    assert_within(found, truth)
    sizes = [abs(Fraction(v) - t) for v, t in zip(found.value.tolist(), truth, strict=True)]
    assert max(found.radius) < 1e-13 * max(
        np.abs(found.value).max(), np.abs(a).max(), np.abs(a).max() * np.abs(b).max()
    )
    assert max(sizes) > 0 or degree == 3


def test_radii_hold_of_vectors_through_matrices():
    rng = np.random.default_rng(0)
    vectors, matrix = rng.normal(size=(4, 7)) * 1e3, rng.normal(size=(5, 7))
    found = Polynomials.of(vectors).through(matrix)
    sums = Polynomials.of(vectors).dot(Polynomials.of(vectors[:2]))
    for i in range(4):
        for row in range(5):
            true = sum(x * y for x, y in zip(exact(vectors[i]), exact(matrix[row]), strict=True))
            assert abs(Fraction(found.value[i, row]) - true) <= Fraction(found.radius[i, row])
    truth = [Fraction(0)] * 5
    for k in range(7):
        one = exact_product(exact(vectors[:, k]), exact(vectors[:2, k]))
        truth = [a + b for a, b in zip(truth, one, strict=True)]
    assert_within(sums, truth)


def test_a_radius_that_is_left_out_is_seen():
    """0.1 is no double: the square of it is off, and a product that says nothing of it fails."""
    wrong = Polynomials.of([0.1, 0.3]) * Polynomials.of([0.1, 0.7])
    truth = exact_product(exact([0.1, 0.3]), exact([0.1, 0.7]))
    with pytest.raises(AssertionError):
        assert_within(Polynomials(wrong.value, np.zeros(3)), truth)


def test_halves_are_the_same_polynomial():
    rng = np.random.default_rng(3)
    coefficients = rng.normal(size=9)
    left, right = Polynomials.of(coefficients).halves()
    for side, begin in ((left, Fraction(0)), (right, Fraction(1, 2))):
        for share in (Fraction(0), Fraction(1, 3), Fraction(1)):
            u = begin + share / 2
            true = sum(comb(8, i) * u**i * (1 - u) ** (8 - i) * c for i, c in enumerate(exact(coefficients)))
            value, radius = side.at(float(share))
            assert abs(Fraction(float(value)) - true) <= Fraction(float(radius)) + Fraction(1, 10**15)
            assert radius < 1e-13


def test_derivatives_lifts_and_extremes():
    parabola = Polynomials.of([0.0, 0.0, 1.0])  # u^2
    assert parabola.derivative().value.tolist() == [0.0, 2.0]
    assert parabola.lifted(3).value.round(12).tolist() == [0.0, 0.0, 0.333333333333, 1.0]
    assert parabola.lifted(1) is parabola
    assert parabola.least_size() == 0.0
    shifted = parabola + Polynomials.constant(2.0)
    assert shifted.least_size() == pytest.approx(2.0)
    assert (-shifted).least_size() == pytest.approx(2.0)
    assert shifted.largest() == pytest.approx(3.0)
    assert (-parabola).positive_part().value.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(evaluation(2, [0.5]), [[0.25, 0.5, 0.25]])


def test_a_widened_radius_holds_every_function_that_is_no_larger():
    line = Polynomials.of([1.0, 2.0]).widened(0.25)
    square = line * line
    for share in np.linspace(0, 1, 11):
        for extra in (-0.25, 0.25, 0.1):
            value, radius = square.at(share)
            assert abs((1 + share + extra) ** 2 - value) <= radius


def test_ends_of_a_piece_are_exact():
    t = (3 * GRID, 1 - 5 * GRID)
    first, last = Polynomials.constant([2.0]), Polynomials.constant([7.0])
    found = along(t, first, last)
    for k in (0, 1):
        true = (1 - Fraction(t[k])) * 2 + Fraction(t[k]) * 7
        assert abs(Fraction(float(found.value[k, 0])) - true) <= Fraction(float(found.radius[k, 0]))
    assert along(t, first, first) is first
