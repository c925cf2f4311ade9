"""Products and sums that are rounded once, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.problem import exact_sums


def wild(rng, *shape):
    """Numbers of many sizes and of both signs: their sums cancel."""
    return rng.normal(size=shape) * 2.0 ** rng.integers(-40, 40, size=shape)


def fraction(high, low=0.0):
    return Fraction(float(high)) + Fraction(float(low))


def exact(rows, high, low, more=None):
    """Products with a vector in two parts, rounded once by `Fraction`."""
    others = np.zeros((len(rows), 0)) if more is None else more
    found = []
    for row, other in zip(rows, others, strict=True):
        terms = [fraction(a) * fraction(h, u) for a, h, u in zip(row, high, low, strict=True)]
        found.append(float(sum(terms) + sum(map(fraction, other))))
    return np.array(found)


@pytest.fixture
def two_parts():
    rng = np.random.default_rng(0)
    high = wild(rng, 9)
    return np.stack([high, high * 2.0**-54 * rng.normal(size=9)])


class TestProduct:
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
    @pytest.mark.parametrize("further", [False, True])
    def test_each_entry_is_rounded_once(self, two_parts, form, further):
        rng = np.random.default_rng(1)
        A = wild(rng, 7, 9) * (rng.uniform(size=(7, 9)) < 0.6)
        more = wild(rng, 7, 3) if further else None
        np.testing.assert_array_equal(exact_sums.product(form(A), two_parts, more), exact(A, *two_parts, more))

    @pytest.mark.parametrize("block", [1, 9, 20, 10**6])
    def test_in_blocks_of_any_size(self, two_parts, monkeypatch, block):
        monkeypatch.setattr(exact_sums, "_BLOCK", block)
        A = wild(np.random.default_rng(2), 7, 9)
        np.testing.assert_array_equal(exact_sums.product(A, two_parts), exact(A, *two_parts))

    def test_of_nothing(self):
        assert exact_sums.product(np.zeros((0, 2)), np.ones((2, 2))).shape == (0,)
        np.testing.assert_array_equal(exact_sums.product(np.zeros((3, 0)), np.ones((2, 0))), np.zeros(3))

    def test_a_block_holds_so_many_products(self, two_parts, monkeypatch):
        sizes = []
        parts = exact_sums._parts
        monkeypatch.setattr(exact_sums, "_BLOCK", 20)
        monkeypatch.setattr(exact_sums, "_parts", lambda x, y: sizes.append(len(y)) or parts(x, y))
        exact_sums.product(np.ones((7, 9)), two_parts)
        assert sizes == [2, 2, 2, 1]


def test_inner_and_total(two_parts):
    y = wild(np.random.default_rng(3), 9)
    for more in (0.0, 1e-30, -3.0):
        assert exact_sums.inner(two_parts, y, more) == exact([y], *two_parts, np.array([[more]]))[0]
    assert exact_sums.inner(two_parts, y) == exact([y], *two_parts)[0]
    assert exact_sums.total(two_parts) == exact([np.ones(9)], *two_parts)[0]


@pytest.mark.parametrize("by", [3.0, -0.7, 1e-9])
def test_quotients_and_multiples_in_two_parts(two_parts, by):
    for x, pair in zip(two_parts[0], exact_sums.quotient(two_parts[0], by).T, strict=True):
        sought = fraction(x) / fraction(by)
        assert abs(fraction(*pair) - sought) <= abs(sought) * Fraction(2) ** -102
        assert pair[0] == x / by
    for part, pair in zip(two_parts.T, exact_sums.times(two_parts, by).T, strict=True):
        sought = fraction(*part) * fraction(by)
        assert abs(fraction(*pair) - sought) <= abs(sought) * Fraction(2) ** -102


@pytest.mark.parametrize("stacks", [1, 2])
def test_added_products_have_twice_the_precision(stacks):
    rng = np.random.default_rng(4)
    hi, B = rng.normal(size=(2, 3, 5)), rng.normal(size=(stacks, 5, 4))
    hi[:, :, 2] = 0.0  # a column that is passed over
    hi[0, 1:, 3] = 0.0  # one that is not
    lo = hi * 2.0**-55 * rng.normal(size=hi.shape)
    out_hi = rng.normal(size=(2, 3, 4))
    out_lo = out_hi * 2.0**-55 * rng.normal(size=out_hi.shape)
    before = out_hi.copy(), out_lo.copy()
    exact_sums.add_product(hi, lo, B, out_hi, out_lo)
    for r, m, n in np.ndindex(out_hi.shape):
        terms = [fraction(hi[r, m, k], lo[r, m, k]) * fraction(B[r % stacks, k, n]) for k in range(5)]
        sought = fraction(before[0][r, m, n], before[1][r, m, n]) + sum(terms)
        assert abs(fraction(out_hi[r, m, n], out_lo[r, m, n]) - sought) <= Fraction(2) ** -98
        assert abs(out_lo[r, m, n]) <= np.spacing(abs(out_hi[r, m, n]))


def test_halves_are_exact():
    x = wild(np.random.default_rng(5), 50)
    half = exact_sums._half(x)
    for a, b in zip(half, x - half, strict=True):
        assert float(a * a) == float(fraction(a) * fraction(a))
        assert fraction(a * b) == fraction(a) * fraction(b)
        assert fraction(a * a) == fraction(a) ** 2
