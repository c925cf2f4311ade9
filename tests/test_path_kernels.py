"""The compiled kernels under the tracker on tiny arrays: sums in twice the precision, products, and the factor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.path import extended, factor, vectors
from paretoclf.path.factor import Factor
from paretoclf.path.segments import Line

# ---- double-double -----------------------------------------------------------------------------------------------

number = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-60)


@given(number, number)
def test_two_sum_and_two_prod_are_exact(a, b):
    s, e = extended.two_sum(a, b)
    assert Fraction(s) + Fraction(e) == Fraction(a) + Fraction(b)
    p, e = extended.two_prod(a, b)
    assert Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)


terms = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=30)


@given(terms)
def test_add_product_keeps_thirty_digits(pairs):
    pairs = [(a, b) for a, b in pairs if abs(a * b) > 1e-100]
    hi, lo, exact, size = 0.0, 0.0, Fraction(0), Fraction(0)
    for a, b in [*pairs, *((-a, b) for a, b in pairs[1:])]:  # nearly everything cancels
        hi, lo = extended.add_product(hi, lo, a, b)
        exact += Fraction(a) * Fraction(b)
        size += abs(Fraction(a) * Fraction(b))
    assert abs(Fraction(hi) + Fraction(lo) - exact) <= size * Fraction(1, 10**29)


def exactly(x):
    """An array, or a pair of arrays hi and lo, as fractions."""
    if isinstance(x, tuple):
        return exactly(x[0]) + exactly(x[1])
    return np.array([Fraction(float(v)) for v in np.ravel(x)], dtype=object).reshape(np.shape(x))


def pair(rng, *shape):
    """A double-double array: hi and lo."""
    return rng.normal(size=shape), rng.normal(size=shape) * 1e-17


def near(got, want, tol):
    """Whether double-doubles (hi, lo), or doubles, miss fractions by at most tol."""
    return all(abs(x) <= Fraction(tol) for x in np.ravel(exactly(got) - want))


def rows_of(dense, keep):
    """CSR arrays of the entries to keep."""
    Z = sp.csr_array(np.where(keep, dense, 0.0))
    return Z.indptr.astype(np.int64), Z.indices.astype(np.int32), Z.data


def test_accumulate():
    rng = np.random.default_rng(0)
    hi, lo, exact = np.zeros(4), np.zeros(4), exactly(np.zeros(4))
    sparse, columns = (np.zeros(6), np.zeros(6)), np.array([5, 0, 3, 1], dtype=np.int32)
    for step in range(60):
        scale = float(rng.normal() * 1e5) if step % 3 else (-1.0) ** step
        row = rng.normal(size=4)
        extended.accumulate(hi, lo, scale, row)
        extended.accumulate_sparse(*sparse, scale, columns, row)
        exact = exact + Fraction(scale) * exactly(row)
    assert near((hi, lo), exact, 1e-22)
    assert near((sparse[0][columns], sparse[1][columns]), exact, 1e-22)
    assert not sparse[0][[2, 4]].any()


def test_line_at():
    rng = np.random.default_rng(1)
    line = np.array([rng.normal(size=2), rng.normal(size=2), rng.normal(size=2) * 1e-17])
    t, t_lo, out = 0.3, 1e-18, np.empty((2, 2))
    extended.line_at(line, t, t_lo, out)
    want = exactly(line[0]) + (Fraction(t) + Fraction(t_lo)) * exactly((line[1], line[2]))
    assert near((out[0], out[1]), want, 1e-30)


@given(st.floats(1e-9, 1e9), st.floats(0, 1e9), st.floats(1e-9, 1e9))
def test_a_line_meets_both_of_its_ends(base, start, stop):
    line = Line(np.array([[base], [0.0]]), np.array([start, 0.0]), np.array([stop, 0.0]), np.zeros(1), np.ones(1))
    phi, e = line.affine()
    for affine in (phi, e):
        assert affine.shape[0] == 3
    assert Fraction(stop) - Fraction(start) == Fraction(float(phi[1, 0])) + Fraction(float(phi[2, 0]))
    assert line.caps(0.0)[0] == start * base
    assert line.caps(1.0)[0] == stop * base


def test_combine_and_subtract():
    rng = np.random.default_rng(2)
    sums, phi = np.stack(pair(rng, 2, 5), axis=1), np.stack(pair(rng, 2))  # (base, hi or lo, n), (hi or lo, base)
    exact = sum(exactly((phi[0, b], phi[1, b])) * exactly((sums[b, 0], sums[b, 1])) for b in range(2))
    out = np.empty((2, 5))
    extended.combine(sums, phi, out)
    assert near((out[0], out[1]), exact, 1e-30)
    e = np.stack(pair(rng, 3))
    want = exactly((e[0], e[1])) - exact[:3]
    extended.subtract(e, sums, phi)
    assert near((e[0], e[1]), want, 1e-30)


def margin_problem(seed, n=6, k=4):
    """Labels, groups and a margin set with its multipliers, in double-double: two groups and one sample without."""
    rng = np.random.default_rng(seed)
    index = rng.permutation(n)[:k]
    kappa, group = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.integers(0, 2, n)
    group[index[0]] = -1
    return rng, index, kappa, group, pair(rng, k), pair(rng, 2)


def border(index, kappa, group, eta):
    """``A' eta`` for these samples, in fractions."""
    return np.array([int(kappa[i]) * eta[group[i]] if group[i] >= 0 else Fraction(0) for i in index], dtype=object)


@pytest.mark.parametrize("seed", range(3))
def test_gram_residual_against_fractions(seed):
    rng, index, kappa, group, a, eta = margin_problem(seed)
    K, sign = rng.normal(size=(6, 6)), np.where(rng.random(6) < 0.5, 1.0, -1.0)
    Q = exactly(sign)[:, None] * exactly(K) * exactly(sign)
    exact = Q[np.ix_(index, index)] @ exactly(a) + border(index, kappa, group, exactly(eta))
    right = exact.astype(float)  # what is left is the rounding of the right-hand side, 1e-16
    out = np.empty(4)
    extended.gram_residual(K, sign, index, right.copy(), np.zeros(4), kappa, group, *a, *eta, out)
    assert near(out, exactly(right) - exact, 1e-30)
    extended.gram_residual(K, sign, index, right.copy(), right * 1e-17, kappa, group, *a, *eta, out)
    assert near(out, exactly((right, right * 1e-17)) - exact, 1e-30)


@pytest.mark.parametrize("seed", range(3))
def test_feature_residual_against_fractions(seed):
    rng, index, kappa, group, a, eta = margin_problem(seed)
    Z, keep, w = rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.6, pair(rng, 5)
    exact_Z = exactly(np.where(keep, Z, 0.0))
    exact_w = exactly(w) + exactly(a) @ exact_Z[index]
    exact = exact_Z[index] @ exact_w + border(index, kappa, group, exactly(eta))
    right, out = exact.astype(float), np.empty(4)
    extended.feature_residual(*rows_of(Z, keep), index, right, np.zeros(4), kappa, group, *w, *a, *eta, out)
    assert near(w, exact_w, 1e-30)  # completed
    assert near(out, exactly(right) - exact, 1e-30)


def test_balance_residual_against_fractions():
    rng, index, kappa, group, a, _ = margin_problem(0)
    right, out = pair(rng, 2), np.empty(2)
    extended.balance_residual(index, 4, kappa, group, *right, *a, out)
    for g in range(2):
        want = exactly(right)[g] - sum(int(kappa[i]) * exactly(a)[j] for j, i in enumerate(index) if group[i] == g)
        assert abs(Fraction(float(out[g])) - want) < Fraction(1, 10**15)  # rounded once


@pytest.mark.parametrize("form", ["gram", "features"])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_against_fractions(seed, form):
    rng, index, kappa, group, a, eta = margin_problem(seed)
    da, deta, p, p_lo = pair(rng, 4), pair(rng, 2), *pair(rng, 6)
    samples, out, k = np.array([0, 3, 5]), np.empty((3, 3)), (kappa, group)
    if form == "gram":
        K, sign = rng.normal(size=(6, 6)), np.where(rng.random(6) < 0.5, 1.0, -1.0)
        at, rate = np.stack(pair(rng, 6)), np.stack(pair(rng, 6))
        extended.gram_gradients(K, sign, samples, index, at, rate, p, p_lo, *k, *a, *eta, *da, *deta, out)
        Q = (exactly(sign)[:, None] * exactly(K) * exactly(sign))[:, index]
        q, dq = (exactly(sign) * exactly((x[0], x[1])) + Q @ exactly(y) for x, y in ((at, a), (rate, da)))
    else:
        Z, keep, w = rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.6, np.stack(pair(rng, 2, 5), axis=1)
        extended.feature_gradients(*rows_of(Z, keep), samples, w, p, p_lo, *k, *eta, *deta, out)
        q, dq = (exactly(np.where(keep, Z, 0.0)) @ exactly((x[0], x[1])) for x in w)
    g = q[samples] - exactly((p, p_lo))[samples] + border(samples, *k, exactly(eta))
    dg = dq[samples] + border(samples, *k, exactly(deta))
    for got, want in ((out[0], g), (out[1], dg)):
        np.testing.assert_allclose(got, want.astype(float), rtol=1e-15)  # rounded once
    assert (out[2] >= np.abs(out[1])).all()  # the size of the terms


def test_products_of_cancelling_terms_keep_what_is_left():
    K, index, none = np.array([[1e16, 1.0, -1e16]] * 3), np.arange(3), np.full(3, -1)
    out, a, zero = np.empty(3), np.ones(3), np.zeros(3)
    extended.gram_residual(K, a, index, np.zeros(3), np.zeros(3), a, none, a, zero, np.zeros(0), np.zeros(0), out)
    np.testing.assert_array_equal(out, -np.ones(3))


def test_extended_cholesky_solves_what_a_double_one_cannot():
    n = 9
    H = np.array([[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)])  # Hilbert, condition 5e11
    high = H.astype(float)
    low = np.array([[float(H[i, j] - Fraction(high[i, j])) for j in range(n)] for i in range(n)])
    b = np.array([float(sum(H[i])) for i in range(n)])
    exact_b = [Fraction(float(x)) for x in b]
    # the exact solution for the rounded right-hand side, by Gauss elimination in fractions
    M = [[*H[i], exact_b[i]] for i in range(n)]
    for i in range(n):
        for r in range(n):
            if r != i:
                f = M[r][i] / M[i][i]
                M[r] = [x - f * z for x, z in zip(M[r], M[i], strict=True)]
    want = np.array([float(M[i][n] / M[i][i]) for i in range(n)])
    assert extended.cholesky(high, low)
    extended.cholesky_solve(high, low, b, np.empty(b.size))
    np.testing.assert_allclose(b, want, rtol=1e-14)


def test_extended_cholesky_says_no_to_an_indefinite_matrix():
    assert not extended.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)))


@pytest.mark.parametrize("seed", range(3))
def test_add_products(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(5, 4)) * np.array([1e8, 1.0, 1e-8, 1e4])
    keep = rng.random((5, 4)) < 0.7
    index, high, low = np.array([4, 0, 2]), *pair(rng, 3, 3)
    exact_Z = exactly(np.where(keep, Z, 0.0))[index]
    want = exactly((high, low)) + exact_Z @ exact_Z.T
    extended.add_products(*rows_of(Z, keep), index, np.zeros(4), high, low)
    assert near((high, low), want, 1e-14)  # of numbers of size 1e16
    H, L = np.zeros((2, 2)), np.zeros((2, 2))
    extended.add_products(*rows_of(np.array([[1e8, 1.0], [1e8, -1.0]]), True), np.arange(2), np.zeros(2), H, L)
    assert [Fraction(h) + Fraction(e) for h, e in zip(H.ravel(), L.ravel(), strict=True)] == [
        10**16 + 1, 10**16 - 1, 10**16 - 1, 10**16 + 1,
    ]  # fmt: skip


# ---- products ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 511, 1300])
@pytest.mark.parametrize("k", range(7))
def test_combinations_of_rows(n, k):
    """Rows stand anywhere in one long array; room behind the n numbers wanted is left alone."""
    rng = np.random.default_rng(n + k)
    rows, which, a = rng.normal(size=(9, n + 2)), rng.permutation(9), rng.normal(size=(3, 9))
    out = rng.normal(size=(3, n + 1))
    want = out[:, :n] + a[:, :k] @ rows[which[:k], 1 : n + 1]
    got, one = out.copy(), out[:1].copy()
    vectors.add_rows(rows.reshape(-1), which * (n + 2) + 1, k, a, n, got)
    vectors.add_rows(rows.reshape(-1), which * (n + 2) + 1, k, a[:1], n, one)
    np.testing.assert_allclose(got[:, :n], want, atol=1e-13)
    np.testing.assert_allclose(one[0, :n], want[0], atol=1e-13)
    np.testing.assert_array_equal(got[:, n], out[:, n])


# ---- the factor --------------------------------------------------------------------------------------------------


def _grown(A, order):
    grown = Factor()
    for k, i in enumerate(order):
        row = grown.halves(A[order[:k], i])[0]
        grown.append(row, A[i, i] - row @ row)
    return grown


def _agrees(factor, A, order):
    k = len(order)
    assert factor.k == k
    want = np.linalg.cholesky(A[np.ix_(order, order)], upper=True)
    np.testing.assert_allclose(np.triu(factor.R[:k, :k]), want, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 24))
def test_cholesky_append_and_delete(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n + 3))
    A = B @ B.T + np.eye(n)
    order = [int(i) for i in rng.permutation(n)]
    factor = _grown(A, order)  # beyond 16 the storage grows
    _agrees(factor, A, order)
    X = rng.normal(size=(2, n))
    np.testing.assert_allclose(factor.solve(X), np.linalg.solve(A[np.ix_(order, order)], X.T).T, atol=1e-10)
    while len(order) > 1:
        position = int(rng.integers(len(order)))
        factor.delete(position)
        del order[position]
        _agrees(factor, A, order)
    np.testing.assert_allclose(factor.solve(np.array([3.0])), 3.0 / A[order[0], order[0]], atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 14))
def test_triangular_solves(seed, k):
    rng = np.random.default_rng(seed)
    R = np.triu(rng.normal(size=(k + 2, k + 2))) + 4 * np.eye(k + 2) + np.tril(np.full((k + 2, k + 2), np.nan), -1)
    lead, first = np.triu(np.nan_to_num(R[:k, :k])), int(rng.integers(k))
    b = np.where(np.arange(k) < first, 0.0, rng.normal(size=k))
    x = b.copy()
    factor.forward(R, k, x)  # nothing is read below the diagonal or beyond k
    np.testing.assert_allclose(x, np.linalg.solve(lead.T, b), atol=1e-12)
    x = b.copy()
    factor.backward(R, k, x)
    np.testing.assert_allclose(x, np.linalg.solve(lead, b), atol=1e-12)


def test_a_whole_factor_is_taken_over():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(30, 33))
    A, mine = B @ B.T, _grown(np.eye(2), [0, 1])
    assert mine.harden(np.eye(2), np.zeros((2, 2)))
    mine.take(np.linalg.cholesky(A, upper=True))
    assert not mine.hard
    _agrees(mine, A, list(range(30)))
    np.testing.assert_allclose(mine.solve(np.ones(30)), np.linalg.solve(A, np.ones(30)), rtol=1e-7)
    mine.delete(4)
    _agrees(mine, A, [i for i in range(30) if i != 4])


def test_a_hardened_factor_is_soft_again_after_a_change():
    A = np.array([[4.0, 1.0], [1.0, 3.0]])
    factor = _grown(A, [0, 1])
    assert not factor.hard
    assert factor.harden(A.copy(), np.zeros((2, 2)))
    assert factor.hard
    np.testing.assert_allclose(factor.solve(np.array([1.0, 2.0])), np.linalg.solve(A, [1.0, 2.0]), rtol=1e-15)
    factor.delete(0)
    assert not factor.hard
    assert not factor.harden(np.array([[-1.0]]), np.zeros((1, 1)))
