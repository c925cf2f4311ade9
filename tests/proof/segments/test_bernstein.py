"""Products of affine functions as Bernstein coefficients: where they are below 0, against many points."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.bernstein import negative

SHARE = np.linspace(0.0, 1.0, 11)
WEIGHTS = np.stack([(1 - SHARE) ** 2, 2 * SHARE * (1 - SHARE), SHARE**2])


def along(ends):
    """Values (k, 11) of affine functions, by those at both ends (k, 2)."""
    return np.outer(ends[:, 0], 1 - SHARE) + np.outer(ends[:, 1], SHARE)


def test_coefficients_are_those_of_products_squares_and_lines():
    rng = np.random.default_rng(0)
    one, other, vectors, more = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), *rng.normal(size=(2, 5, 2, 3))
    np.testing.assert_allclose(bernstein.product(one, other) @ WEIGHTS, along(one) * along(other), atol=1e-14)
    np.testing.assert_allclose(bernstein.square(one) @ WEIGHTS, along(one) ** 2, atol=1e-14)
    np.testing.assert_allclose(bernstein.line(one) @ WEIGHTS, along(one), atol=1e-14)
    sums = sum(along(vectors[..., i]) * along(more[..., i]) for i in range(3))
    np.testing.assert_allclose(bernstein.inner(vectors, more) @ WEIGHTS, sums, atol=1e-13)
    start, end, bend = rng.normal(size=(3, 5))
    value = np.outer(start, 1 - SHARE) + np.outer(end, SHARE) - np.outer(bend, SHARE * (1 - SHARE))
    np.testing.assert_allclose(bernstein.of_value(np.stack([start, end, bend], axis=1)) @ WEIGHTS, value, atol=1e-14)


def test_numbers_are_put_at_ends():
    numbers = np.array([1.0, 2.0, 4.0])
    assert bernstein.columns(numbers, -numbers).tolist() == [[1.0, -1.0], [2.0, -2.0], [4.0, -4.0]]
    assert bernstein.late(numbers).tolist() == [[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]]
    assert bernstein.pair(numbers).tolist() == [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]
    assert bernstein.pairs(numbers).tolist() == [[1.0, 2.0], [2.0, 4.0]]


def test_a_quotient_is_largest_at_an_end():
    rng = np.random.default_rng(1)
    one, other = rng.random((20, 2)), rng.random((20, 2)) + 0.1
    largest = (along(one) / along(other)).max(axis=1)
    np.testing.assert_allclose(bernstein.quotient(one, other), largest, rtol=1e-14)
    vanishing = bernstein.quotient(
        np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 2.0], [0.0, 1.0], [0.0, 0.0]])
    )
    assert vanishing.tolist() == [0.5, np.inf, 0.0]


def test_a_chord_of_lower_bounds_is_not_below_0():
    found = bernstein.chord(np.array([[1.0, 9.0, 3.0], [-1.0, 9.0, 3.0]]))
    assert found.tolist() == [[1.0, 2.0, 3.0], [0.0, 1.5, 3.0]]


def test_where_a_quadratic_is_negative():
    rng, share = np.random.default_rng(0), np.linspace(0.0, 1.0, 2001)
    weights = np.stack([(1 - share) ** 2, 2 * share * (1 - share), share**2])
    seen = set()
    for _ in range(400):
        c = rng.integers(-3, 4, 3) * 10.0 ** rng.integers(-3, 4, 3)
        found = negative(c)
        inside = np.array([any(low <= s <= high for low, high in found) for s in share])
        value = c @ weights
        clear = np.abs(value) > 1e-9 * np.abs(c).max()
        assert (inside == (value < 0.0))[clear].all()
        seen.add(len(found))
    assert seen >= {0, 1, 2}


@pytest.mark.parametrize("root", [1e-12, 1e-8, 0.3])
def test_a_root_next_to_an_end_keeps_its_digits(root):
    for unit in (1.0, 1e-250, 1e250):
        ((low, high),) = negative(unit * np.array([-root, 0.5 - root, 1.0 - root]))
        assert low == 0.0
        assert high == pytest.approx(root, rel=1e-14)
    assert negative(np.zeros(3)) == negative(np.array([np.inf, np.nan, 1.0])) == []
