"""Tests of `paretoclf.problem.convex` and of what it asks of `paretoclf.problem.definite`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.problem.convex import Convexity, not_convex
from paretoclf.problem.definite import enlarged, rounding_shares, strong_convexity

EPS = 2.0**-52


def least_pivot(M):
    """The smallest pivot of an elimination in fractions: not negative where a matrix is positive semidefinite."""
    rows = [[Fraction(v) for v in row] for row in np.asarray(M).tolist()]
    least = Fraction(0)
    for k in range(len(rows)):
        pivot = rows[k][k]
        least = min(least, pivot)
        if pivot <= 0:
            least = min(least, *(-abs(v) for v in rows[k][k:]))
            continue
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / pivot
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return least


def gram(rng, kind, n):
    """Matrices that are positive semidefinite but for rounding."""
    if kind == "RBF":
        X = rng.normal(size=(n, 2))
        return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2 / 10.0 ** rng.uniform(-1, 2))
    if kind == "low rank":
        F = rng.normal(size=(max(1, n // 3), n)) * 10.0 ** rng.uniform(-4, 4, size=n)
        return F.T @ F
    if kind == "covariance":
        return np.cov(rng.normal(size=(max(2, n // 2), n)).T)
    if kind == "correlation":
        return np.corrcoef(rng.normal(size=(max(2, n // 2), n)).T)
    M = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 3, size=n)
    return pc.nearest_psd(M + M.T)


@pytest.mark.parametrize("kind", ["RBF", "low rank", "covariance", "correlation", "nearest"])
def test_what_is_rounded_is_proved_with_a_share_of_its_diagonal(kind):
    rng, added = np.random.default_rng(3), 0
    for n in (2, 3, 5, 8, 20, 45, 70):
        K = gram(rng, kind, n)
        K = 0.5 * (K + K.T)
        shares = rounding_shares(K)
        assert (shares <= 16 * n**2 * EPS).all()
        if n <= 8:
            assert least_pivot(enlarged(K, shares).toarray()) >= 0
        assert not rounding_shares(enlarged(K, shares)).any()  # what is proved once is proved again
        added += bool(shares.any())
        units = 2.0 ** rng.integers(-300, 300, size=n)
        np.testing.assert_array_equal(rounding_shares(units[:, None] * K * units), shares)
    assert added >= 1


def test_a_share_is_the_least_that_is_proved():
    """A correlation of 1 + d lacks d: what is added is no less, and half of it is not enough, or is not proved."""
    for d in (4 * EPS, 9 * EPS, 33 * EPS, 60 * EPS):
        share = rounding_shares(np.array([[1.0, 1.0 + d], [1.0 + d, 1.0]]))[0]
        assert d <= share <= 2 * d + 64 * EPS
    assert np.isnan(rounding_shares(np.array([[1.0, 1.0 + 65 * EPS], [1.0 + 65 * EPS, 1.0]]))).all()


@pytest.mark.parametrize(
    "P",
    [
        np.diag([1e8, -0.5]),
        np.diag([1.0, -9e-9]),
        np.diag([1.0, -1e-300]),
        np.array([[0.0, 1e-200], [1e-200, 1.0]]),
        np.array([[1.0, 0.5, 0.0], [0.5, -1e-20, 0.0], [0.0, 0.0, 1.0]]),
    ],
)
def test_a_diagonal_that_is_negative_or_0_beside_others_is_never_rounding(P):
    assert np.isnan(rounding_shares(P)).any()


def test_an_eigenvalue_is_judged_beside_the_diagonal_and_not_beside_the_largest_entry():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    dense = Q @ np.diag([1e6, 5.0, 4.0, 3.0, 2.0, -0.005]) @ Q.T
    dense = 0.5 * (dense + dense.T)
    assert np.isnan(rounding_shares(dense)).all()
    found = Convexity.of(sp.csc_array(dense))
    np.testing.assert_allclose(found.lacks, 0.005, rtol=1e-5)
    assert least_pivot(dense + np.diag(found.lacks)) >= 0
    blocks = np.zeros((4, 4))
    blocks[:2, :2], blocks[2:, 2:] = 1e12, [[1.0, 1.001], [1.001, 1.0]]
    assert np.isnan(rounding_shares(blocks)).tolist() == [False, False, True, True]


def test_large_sparse_blocks_follow_the_same_rule():
    n = 1600
    path = sp.diags_array([np.full(n, 2.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1])
    squared = sp.csr_array(path @ path)
    assert not rounding_shares(squared + 1e-3 * sp.eye_array(n)).any()
    least = float(np.linalg.eigvalsh(squared.toarray())[0])
    singular = squared - least * sp.eye_array(n)  # next to it
    assert 0 <= rounding_shares(singular).max() <= 16 * n**2 * EPS
    assert np.isnan(rounding_shares(squared - 1e-3 * sp.eye_array(n))).all()


def test_what_is_left_of_curvature_is_proved():
    """Of a matrix that a share was added to, something is left, and no more than its smallest eigenvalue."""
    K = gram(np.random.default_rng(1), "covariance", 8)
    larger = enlarged(K, rounding_shares(K)).toarray()
    left = strong_convexity(larger)
    assert (left > 0).all()
    assert least_pivot(larger - np.diag(left)) >= 0


def far_from_double(kind, rng):
    """Covariances that were rounded by something else than doubles."""
    X = rng.normal(size=(20, 40))
    if kind == "float32":
        return np.cov(X.astype(np.float32).T, dtype=np.float32).astype(np.float64)
    if kind == "four digits":
        return np.round(np.corrcoef(X.T), 4)
    X[rng.random(X.shape) < 0.1] = np.nan  # each pair of columns has its own rows
    S = np.empty((40, 40))
    for i in range(40):
        for j in range(40):
            both = ~np.isnan(X[:, i] + X[:, j])
            S[i, j] = np.cov(X[both, i], X[both, j])[0, 1]
    return S


@pytest.mark.parametrize("kind", ["float32", "four digits", "pairwise deletion"])
def test_the_remedy_for_what_is_not_rounding_does(kind):
    rng = np.random.default_rng(2)
    S = far_from_double(kind, rng)
    S = 0.5 * (S + S.T)
    n, mu = len(S), rng.normal(size=40)
    rows = np.vstack([np.ones(n), np.eye(n)]), np.append(1.0, np.zeros(n)), np.append(1.0, np.ones(n))

    def frontier(P):
        return pc.trace(pc.QP(P, np.zeros(n), *rows, moves={"taste": {"q": -mu}}), {"taste": 0}, {"taste": 1})

    with pytest.raises(pc.InputError, match=r"by more than rounding.*pc\.nearest_psd") as refused:
        frontier(S)
    nearest = pc.nearest_psd(S)
    change, largest = np.abs(nearest - S).max(), np.abs(S).max()
    assert f"up to {change:.2g}, {change / largest:.1g} of the largest" in str(refused.value)
    assert "x[0], x[1], x[2] and 37 more" in str(refused.value)
    assert frontier(nearest).proof.passes()


def test_the_worst_block_is_named():
    P = sp.block_diag([np.diag([1.0]), [[1e9, 2e9], [2e9, 1e9]], [[1.0, 1.1], [1.1, 1.0]]], format="csc")
    error = not_convex(P, Convexity.of(P).lacks, "abcde".__getitem__)
    assert "an eigenvalue of -1e+09 among b, c, where its largest entry is 2e+09" in str(error)
