"""The parts of the tracker in C++ on tiny arrays: numbers in twice the precision, products, and the factor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.problem import exact_sums

core = pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")
parts = core.parts

# ---- twice the precision -----------------------------------------------------------------------------------------

number = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-60)


@given(number, number)
def test_two_sum_and_two_prod_are_exact(a, b):
    s, e = parts.two_sum(a, b)
    assert Fraction(s) + Fraction(e) == Fraction(a) + Fraction(b)
    p, e = parts.two_prod(a, b)
    assert Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)


def test_a_sum_goes_where_it_was_asked_to_go_or_is_refused():
    a, B, out, low = np.ones((1, 2, 3)), np.ones((1, 3, 2)), np.zeros((1, 2, 4)), np.zeros((1, 2, 2))
    with pytest.raises(TypeError):  # every other column: it would be added to a copy
        core.add_product(a, 0.0 * a, B, out[:, :, ::2], low)
    with pytest.raises(ValueError, match="shapes must be"):
        core.add_product(a, 0.0 * a, np.ones((2, 3, 2)), np.zeros((1, 2, 2)), low)
    sums = np.zeros((1, 2, 2))
    core.add_product(a, 0.0 * a, B, sums, low)
    np.testing.assert_array_equal(sums, 3.0)


@pytest.mark.parametrize("add_product", [core.add_product, exact_sums.add_product], ids=["core", "NumPy"])
@pytest.mark.parametrize("stacked", [True, False], ids=["each its own", "one for all"])
def test_products_of_stacks_keep_thirty_digits(add_product, stacked):
    rng = np.random.default_rng(5)
    hi, lo = pair(rng, 3, 2, 8)
    B, out = rng.normal(size=(3 if stacked else 1, 8, 4)), pair(rng, 3, 2, 4)
    hi[:, 0, 2:], lo[:, 0, 2:] = 0.0, 0.0
    hi[..., -1], lo[..., -1], B[:, -1] = -hi[..., 0], -lo[..., 0], B[:, 0] * (1 + 1e-15)  # nearly all of a term cancels
    exact = exactly(out) + exactly((hi, lo)) @ exactly(B)
    add_product(hi, lo, B, *out)
    assert near(out, exact, 1e-29)


terms = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=30)


@given(terms)
def test_sums_of_products_keep_thirty_digits(pairs):
    pairs = [(a, b) for a, b in pairs if abs(a * b) > 1e-100]
    x, z, exact, size = (0.0, 0.0), (0.0, 0.0), Fraction(0), Fraction(0)
    for a, b in [*pairs, *((-a, b) for a, b in pairs[1:])]:  # nearly everything cancels
        x = parts.add_double_product(x, a, b)
        z = parts.add_product(z, (a, 0.0), (b, 0.0))
        exact += Fraction(a) * Fraction(b)
        size += abs(Fraction(a) * Fraction(b))
    for hi, lo in (x, z):
        assert abs(Fraction(hi) + Fraction(lo) - exact) <= size * Fraction(1, 10**29)


def exactly(x):
    """An array, or a pair of arrays hi and lo, as fractions."""
    if isinstance(x, tuple):
        return exactly(x[0]) + exactly(x[1])
    return np.array([Fraction(float(v)) for v in np.ravel(x)], dtype=object).reshape(np.shape(x))


def pair(rng, *shape):
    """Numbers in twice the precision: hi and lo."""
    return rng.normal(size=shape), rng.normal(size=shape) * 1e-17


def near(got, want, tol):
    """Whether numbers (hi, lo), or doubles, miss fractions by at most tol."""
    return all(abs(x) <= Fraction(tol) for x in np.ravel(exactly(got) - want))


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.floats(-1e-17, 1e-17))
def test_quotients_and_roots(a, b, low):
    x, z = parts.two_sum(a, a * low), parts.two_sum(b, b * low)
    exact_x, exact_z = (Fraction(v[0]) + Fraction(v[1]) for v in (x, z))
    q = sum(map(Fraction, parts.divide(x, z)))
    assert abs(q * exact_z - exact_x) <= abs(exact_x) * Fraction(1, 10**30)
    r = sum(map(Fraction, parts.root(x)))
    assert abs(r * r - exact_x) <= abs(exact_x) * Fraction(1, 10**29)


@pytest.mark.parametrize("n", [3, 8, 21])
def test_accumulate(n):
    rng = np.random.default_rng(n)
    x, z, exact = (np.zeros(n), np.zeros(n)), (np.zeros(n), np.zeros(n)), exactly(np.zeros(n))
    for step in range(60):
        scale = float(rng.normal() * 1e5) if step % 3 else (-1.0) ** step
        row = rng.normal(size=n)
        parts.accumulate(*x, scale, row)
        parts.accumulate_row(*z, row, scale, scale * 1e-18)
        exact = exact + Fraction(scale) * exactly(row)
    assert near(x, exact, 1e-22)
    assert near(z, exact, 1e-10)
    z = np.zeros(n), np.zeros(n)
    parts.accumulate_row(*z, row, scale, scale * 1e-18)
    assert near(z, (Fraction(scale) + Fraction(scale * 1e-18)) * exactly(row), 1e-26)


def test_combine():
    rng = np.random.default_rng(2)
    (x_hi, x_lo), (s_hi, s_lo) = pair(rng, 2), pair(rng, 2, 13)
    exact = exactly((x_hi, x_lo)) @ exactly((s_hi, s_lo))
    out = np.empty(13), np.empty(13)
    parts.combine(np.stack([x_hi, x_lo]), s_hi, s_lo, *out)
    assert near(out, exact, 1e-30)


def test_products_of_cancelling_terms_keep_what_is_left():
    out = np.zeros(1), np.zeros(1)
    for row in (1e16, 1.0, -1e16):
        parts.accumulate_row(*out, np.array([row]), 1.0, 0.0)
    assert out[0][0] + out[1][0] == 1.0


# ---- products ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 7, 8, 15, 16, 17, 40, 300])
def test_inner_products(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n))
    assert parts.dot(x, y) == pytest.approx(float(x @ y), abs=1e-13)


@pytest.mark.parametrize("n", [1, 511, 1300])
@pytest.mark.parametrize("k", range(7))
def test_combinations_of_rows(n, k):
    """Rows stand anywhere in one long array; room behind the n numbers wanted is left alone."""
    rng = np.random.default_rng(n + k)
    rows, which, a = rng.normal(size=(9, n + 2)), rng.permutation(9), rng.normal(size=(3, 9))
    out = rng.normal(size=(3, n + 1))
    want = out[:, :n] + a[:, :k] @ rows[which[:k], 1 : n + 1]
    got = out.copy().ravel()
    parts.add_rows(rows.ravel(), [int(i) for i in which[:k] * (n + 2) + 1], a, n, got, n + 1)
    np.testing.assert_allclose(got.reshape(3, n + 1)[:, :n], want, atol=1e-13)
    np.testing.assert_array_equal(got.reshape(3, n + 1)[:, n], out[:, n])


@pytest.mark.parametrize("n", [1, 63, 64, 200])
def test_who_may_come_to_its_margin(n):
    """By the definition: at 0 or at t the margin, less all that may come off it, has another sign than its side's."""
    rng = np.random.default_rng(n)
    state, group = rng.integers(0, 4, n), rng.integers(-1, 2, n)
    side = np.where(state == 0, 1.0, -1.0)
    g, dg = side * rng.exponential(size=n), rng.normal(size=n)
    reach, spread = 1 + rng.random(n), rng.exponential(size=n)
    g[::17], dg[3::17], spread[5::17], spread[6::17] = np.nan, np.nan, np.nan, -1e-17
    t, way, centre, error, total = 0.5, 0.3, 0.2, 1e-3, 7.0
    less = way * np.sqrt(np.maximum(spread, 0.0)) + np.where(group >= 0, centre, 0.0) + error * (1 + reach * total)
    far = (side * g - less > 0.0) & (side * (g + t * dg) - less > 0.0)
    found = parts.reachable(state, group, np.stack([g, dg, reach, spread]), [t, way, centre, error, total])
    np.testing.assert_array_equal(found, (state < 2) & ~far)
    assert n == 1 or 0 < sum(found) < n // 2


# ---- the factor --------------------------------------------------------------------------------------------------


def agrees(factor, A, order):
    k = len(order)
    assert factor.size == k
    want = np.linalg.cholesky(A[np.ix_(order, order)], upper=True)
    got = np.array([[factor.entry(i, j) if j >= i else 0.0 for j in range(k)] for i in range(k)])
    np.testing.assert_allclose(got, want, atol=1e-11)


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([parts.Factor, parts.TwiceFactor]))
def test_append_and_remove(seed, n, kind):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n + 3))
    A = B @ B.T + np.eye(n)
    order = [int(i) for i in rng.permutation(n)]
    factor = kind()
    for k, i in enumerate(order):
        factor.append(A[order[:k], i].tolist(), float(A[i, i]))
    agrees(factor, A, order)
    x = rng.normal(size=n)
    np.testing.assert_allclose(factor.solve(x.tolist()), np.linalg.solve(A[np.ix_(order, order)], x), atol=1e-9)
    while len(order) > max(1, n - 12):
        position = int(rng.integers(len(order)))
        factor.remove(position)
        del order[position]
        agrees(factor, A, order)


def test_the_storage_grows():
    n = 300
    B = np.random.default_rng(0).normal(size=(n, n + 3))
    A, factor = B @ B.T + np.eye(n), parts.Factor()
    for k in range(n):
        factor.append(A[:k, k].tolist(), float(A[k, k]))
    np.testing.assert_allclose(factor.solve(np.ones(n).tolist()), np.linalg.solve(A, np.ones(n)), rtol=1e-6)


def test_a_factor_in_twice_the_precision_solves_what_a_double_one_cannot():
    n = 9
    H = np.array([[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)])  # Hilbert, condition 5e11
    high = H.astype(float)
    low = np.array([[float(H[i, j] - Fraction(high[i, j])) for j in range(n)] for i in range(n)])
    b = [float(sum(H[i])) for i in range(n)]
    # the exact solution for the rounded right-hand side, by Gauss elimination in fractions
    M = [[*H[i], Fraction(b[i])] for i in range(n)]
    for i in range(n):
        for r in range(n):
            if r != i:
                f = M[r][i] / M[i][i]
                M[r] = [x - f * z for x, z in zip(M[r], M[i], strict=True)]
    want = np.array([float(M[i][n] / M[i][i]) for i in range(n)])
    factor = parts.TwiceFactor()
    assert factor.whole(high, low)
    np.testing.assert_allclose(factor.solve(b), want, rtol=1e-14)


@pytest.mark.parametrize("kind", [parts.Factor, parts.TwiceFactor])
def test_an_indefinite_matrix_has_none(kind):
    assert not kind().whole(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)))
