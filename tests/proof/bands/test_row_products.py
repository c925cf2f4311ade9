"""Products of matrices that are affine in t: against dense matrices, one row at a time, and in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.bands.row_products import Moving, difference_radius, dot, inverse, mixed

_EPS = float(np.finfo(float).eps)


def matrices(rng, moves, shape=(4, 3)):
    """A matrix at t = 0 and its change, with entries 0 in places of their own."""
    first = rng.normal(size=shape) * (rng.random(shape) < 0.7)
    speed = rng.normal(size=shape) * (rng.random(shape) < 0.5)
    return first, speed if moves else np.zeros(shape)


@pytest.mark.parametrize("moves", [True, False])
def test_products_are_those_of_the_matrix_at_each_t(moves):
    rng = np.random.default_rng(1)
    first, speed = matrices(rng, moves)
    moving = Moving(sp.csc_array(first), sp.csr_array(speed))
    t, rows, back_rows = rng.random(5), rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
    others = rng.random(5)
    for k in range(5):
        np.testing.assert_allclose(moving.at(t, rows)[k], (first + t[k] * speed) @ rows[k], rtol=1e-13)
        np.testing.assert_allclose(moving.back.at(t, back_rows)[k], (first + t[k] * speed).T @ back_rows[k], rtol=1e-13)
        sizes = np.abs(first) + t[k] * np.abs(speed)
        np.testing.assert_allclose(moving.sizes.at(t, np.abs(rows))[k], sizes @ np.abs(rows[k]), rtol=1e-13)
        at_both = [each[k] for each in moving.at_each((t, others), rows)]
        np.testing.assert_allclose(at_both[0], (first + t[k] * speed) @ rows[k], rtol=1e-13)
        np.testing.assert_allclose(at_both[1], (first + others[k] * speed) @ rows[k], rtol=1e-13)
        np.testing.assert_allclose(moving.gained(t, rows)[k], t[k] * speed @ rows[k], rtol=1e-13)
    assert moving.gained(t, rows).shape == (5, 4)
    np.testing.assert_array_equal(moving.arrays[0], first)
    np.testing.assert_array_equal(moving.arrays[1], speed)


def test_terms_are_counted_row_by_row():
    first = np.array([[1.0, 2, 0], [0, 0, 0], [0, 0, 3]])
    speed = np.array([[0.0, 1, 1], [0, 0, 0], [0, 0, 0]])
    moving = Moving(sp.csr_array(first), sp.csr_array(speed))
    assert moving.gains.tolist() == [2, 0, 0]
    assert moving.long.tolist() == [4, 0, 1]
    assert moving.back.gains.tolist() == [0, 1, 1]
    still = Moving(sp.csr_array(first), None)
    assert still.speed is None
    assert still.gains.tolist() == [0, 0, 0]
    assert still.long.tolist() == [2, 0, 1]
    assert still.sizes.speed is still.back.speed is None


def test_a_matrix_without_entries_at_any_t_is_none():
    nothing, something = sp.csr_array((2, 2)), sp.csr_array(np.eye(2))
    assert Moving(nothing, nothing).none
    assert Moving(nothing, None).none
    assert not Moving(nothing, something).none
    assert not Moving(something, None).none


def test_the_rounding_of_a_gain_is_bounded_and_by_few_times_as_much():
    """In fractions: a product of as many terms as there are entries, in each row, and a multiplication with t."""
    rng = np.random.default_rng(2)
    speed = np.where(rng.random((4, 9)) < [[0.2], [0.5], [0.8], [1.0]], rng.normal(size=(4, 9)), 0.0)
    moving = Moving(sp.csr_array((4, 9)), sp.csr_array(speed))
    length, rows = rng.random(30), rng.normal(size=(30, 9)) * 10.0 ** rng.integers(-3, 4, size=(30, 9))
    found, bound = moving.gained(length, rows), moving.gained_rounding(length, rows)
    for k, h in enumerate(length.tolist()):
        for i in range(4):
            terms = [Fraction(h) * Fraction(a) * Fraction(v) for a, v in zip(speed[i], rows[k], strict=True)]
            assert abs(sum(terms) - Fraction(float(found[k, i]))) <= Fraction(float(bound[k, i]))
            size, count = float(sum(map(abs, terms))), np.count_nonzero(speed[i])
            assert bound[k, i] == pytest.approx((count + 6) * _EPS * size, rel=1e-12, abs=0)


def test_ends_are_interpolated():
    ends, t = np.array([[1.0, 2], [3, -2]]), np.array([0.0, 0.25, 1.0])
    assert mixed(ends, t).tolist() == [[1, 2], [1.5, 1], [3, -2]]


def test_inner_products_are_those_of_rows():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 4, 3))
    np.testing.assert_allclose(dot(first, second), [a @ b for a, b in zip(first, second, strict=True)], rtol=1e-13)
    assert float(dot(first[0], second[0])) == pytest.approx(first[0] @ second[0])
    assert dot(first[:, None], second[None]).shape == (4, 4)


def test_the_radius_of_a_difference_holds_both_radii_and_the_subtraction():
    rng = np.random.default_rng(4)
    first, last = rng.normal(size=(2, 200)) * 10.0 ** rng.integers(-5, 6, size=(2, 200))
    radii = 10.0 ** rng.integers(-20, -10, size=(2, 200))
    bound = difference_radius(first, radii[0], last, radii[1])
    for a, b, ra, rb, most in zip(first, last, *radii, bound, strict=True):
        exact = abs(Fraction(a) - Fraction(b)) + Fraction(ra) + Fraction(rb)
        assert Fraction(abs(a - b)) + Fraction(most) >= exact
        assert most == pytest.approx(ra + rb + 2 * _EPS * (abs(a) + abs(b)), rel=1e-12, abs=0)


def test_a_pseudoinverse_is_that_of_the_part_that_is_there():
    basis, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))
    for values in ([3.0, 2, 1, 0.5], [3.0, 2, 0, 0], [1.0, 1e-10, 0, 0], [0.0, 0, 0, 0]):
        matrix = (basis * values) @ basis.T
        inverses = [1 / value if value else 0.0 for value in values]
        expected = (basis * inverses) @ basis.T
        np.testing.assert_allclose(inverse(matrix), expected, rtol=1e-4, atol=1e-10 * max(inverses))
    rounded = np.diag([1.0, 1e-14])  # an eigenvalue that is rounding
    np.testing.assert_allclose(inverse(rounded), np.diag([1.0, 0.0]))
    assert inverse(np.zeros((0, 0))).shape == (0, 0)
