"""Features as quadratic term, dense and sparse, against plain products and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.problem.operator import Features

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, size=(6, 3)) / 2.0
X[:, 1] = 0.75  # a constant feature
COEF = RNG.normal(size=(6, 4))
REST = COEF * 2.0**-55 * RNG.normal(size=COEF.shape)
GIVEN = X.T @ COEF + np.array([[0.0, 0.0, 0.125, 0.0], [0.0, -0.5, 0.0, 0.0], [0.0, 0.25, 0.0, 1.0]])


def fractions(values):
    return np.vectorize(Fraction, otypes=[object])(values)


def plain(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def residual(W, implied, coef):
    """Largest effect on scores of differences of slopes, one number at a time."""
    found = []
    for w, v, a in zip(W.T, implied.T, coef.T, strict=True):
        terms = [sum(abs(x * c) for x, c in zip(column, a, strict=True)) for column in X.T]
        reach = [max(map(abs, column)) for column in X.T]
        found.append(max(abs(p - q) * r / (1 + s * r) for p, q, s, r in zip(w, v, terms, reach, strict=True)))
    return found


@pytest.fixture(params=[np.asarray, sp.csr_array], ids=["dense", "sparse"])
def quadratic(request):
    return Features(request.param(X))


def test_products_and_parts(quadratic):
    K = X @ X.T
    assert (quadratic.n, quadratic.width, list(quadratic.raw)) == (6, 3, ["X"])
    assert quadratic.sparse == sp.issparse(quadratic.raw["X"])
    np.testing.assert_allclose(quadratic.times(COEF), K @ COEF)
    np.testing.assert_array_equal(quadratic.whole(), K)
    np.testing.assert_array_equal(quadratic.rows([4, 1]), K[[4, 1]])
    np.testing.assert_array_equal(quadratic.block([4, 1]), K[[4, 1]][:, [4, 1]])
    np.testing.assert_array_equal(plain(quadratic.part([4, 1]).X), X[[4, 1]])
    np.testing.assert_array_equal(plain(quadratic.new_in_part([4, 1], [0, 3])), X[[0, 3]])
    diagonal = quadratic.diagonal()
    np.testing.assert_array_equal(diagonal, K.diagonal())
    diagonal[:] = 0.0  # a copy
    np.testing.assert_array_equal(quadratic.diagonal(), K.diagonal())
    np.testing.assert_array_equal(quadratic.reach, np.abs(X).max(axis=0))
    assert quadratic.terms2 == (np.abs(X).max(axis=0) ** 2).sum()
    assert quadratic.length2 == K.diagonal().max()


def test_slopes(quadratic):
    w, y = X.T @ COEF, np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    np.testing.assert_allclose(quadratic.slope(COEF), w)
    np.testing.assert_array_equal(quadratic.own([1.0, 2.0]), [1.0, 2.0])
    assert (quadratic.zeros(2, 5).shape, quadratic.zeros().any()) == ((2, 5, 3), False)
    np.testing.assert_allclose(quadratic.norms(COEF), (w**2).sum(axis=0))
    np.testing.assert_allclose(quadratic.project(w), X @ w)
    np.testing.assert_allclose(quadratic.scores_at([4, 1], COEF), X[[4, 1]] @ w)
    np.testing.assert_array_equal(plain(quadratic.signed(y)), X * y[:, None])
    np.testing.assert_allclose(quadratic.largest_terms(w.T), [max(abs(X) @ abs(each)) for each in w.T])
    bounds = quadratic.score_terms(COEF, (w**2).sum(axis=0))
    longest = max(np.linalg.norm(x) for x in X)
    np.testing.assert_allclose(bounds, longest * np.linalg.norm(w, axis=0))


def test_slopes_that_are_given(quadratic):
    implied, given = quadratic.slopes(COEF), quadratic.slopes(COEF, GIVEN)
    for found, W in ((implied, X.T @ COEF), (given, GIVEN)):
        np.testing.assert_allclose(found.scores, X @ W)
        np.testing.assert_allclose(found.norm2, (W**2).sum(axis=0))
    np.testing.assert_array_equal(implied.apart, np.zeros(4))
    np.testing.assert_allclose(given.apart, residual(GIVEN, X.T @ COEF, COEF), atol=1e-15)


def test_the_mean(quadratic):
    mean = X.mean(axis=0)
    balanced = COEF - COEF.mean(axis=0)
    if quadratic.sparse:
        assert (quadratic.middle, quadratic.near) == (None, quadratic)
        assert quadratic.balanced2 == quadratic.length2
    else:
        np.testing.assert_allclose(quadratic.middle, mean)
        assert quadratic.mean[1] == 0.75
        assert not quadratic.near.X[:, 1].any()
        np.testing.assert_allclose(quadratic.near.X, X - mean)
        assert quadratic.balanced2 == pytest.approx(((X - mean) ** 2).sum(axis=1).max())
        assert quadratic.centred(quadratic.middle) is quadratic.near
        np.testing.assert_array_equal(quadratic.centred(np.arange(3.0)).X, X - np.arange(3.0))
    assert quadratic.centred(None) is quadratic
    found = quadratic.balanced(balanced)
    np.testing.assert_allclose(found.scores, X @ X.T @ balanced, atol=1e-13)
    np.testing.assert_allclose(found.norm2, ((X.T @ balanced) ** 2).sum(axis=0))


def test_a_constant_feature_is_not_rounded():
    constant = Features(np.full((10, 2), [0.1, 1 / 3]))
    np.testing.assert_array_equal(constant.mean, [0.1, 1 / 3])


def test_twice_the_precision(quadratic):
    exact = fractions(COEF) + fractions(REST)
    implied, given = quadratic.twice(COEF, REST), quadratic.twice(COEF, REST, GIVEN)
    slopes = fractions(X).T @ exact
    for found, W in ((implied, slopes), (given, fractions(GIVEN))):
        difference = fractions(found.scores) + fractions(found.rest) - fractions(X) @ W
        assert np.abs(difference).max() <= Fraction(2) ** -90
    assert not implied.apart.any()
    assert not implied.distance.any()
    np.testing.assert_allclose(given.apart, residual(GIVEN, X.T @ COEF, COEF), atol=1e-15)
    np.testing.assert_allclose(given.distance, [0.0, np.hypot(0.5, 0.25), 0.125, 1.0], atol=1e-15)


@pytest.mark.parametrize("j", range(4))
def test_sums_that_are_rounded_once(quadratic, j):
    more = RNG.normal(size=(6, 2))
    parts = np.stack([COEF[:, j], REST[:, j]])
    implied, given = quadratic.precise(parts), quadratic.precise(parts, GIVEN[:, j])
    w = (fractions(X).T @ (fractions(parts[0]) + fractions(parts[1]))).astype(float)
    for found, slope in ((implied, w), (given, GIVEN[:, j])):
        scores = fractions(X) @ fractions(slope)
        np.testing.assert_array_equal(found.scores(), scores.astype(float))
        np.testing.assert_array_equal(found.scores(more), (scores + fractions(more).sum(axis=1)).astype(float))
        assert found.norm2 == pytest.approx(slope @ slope, rel=1e-15)
    assert implied.apart == 0.0
    assert given.apart == pytest.approx(residual(GIVEN, X.T @ COEF, COEF)[j], abs=1e-15)


def test_fractions(quadratic):
    a = fractions(COEF[:, 1])
    scores, norm2 = quadratic.exactly().of(a)
    expected = fractions(X) @ (fractions(X).T @ a)
    assert list(scores) == list(expected)
    assert norm2 == a @ expected


def test_new_samples(quadratic):
    Z = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(quadratic.scores_of(Z, COEF), Z @ X.T @ COEF)
    lengths = [max(np.linalg.norm(row) for row in each) for each in (Z, X)]
    assert quadratic.largest_value(Z) == pytest.approx(lengths[0] * lengths[1])
    assert quadratic.largest_value(Z[:0]) == 0.0


def test_other_quadratics(quadratic):
    square = np.arange(6.0)
    np.testing.assert_allclose(plain(quadratic.over(4.0).X), X / 4)
    wider = quadratic.plus_constant()
    assert wider.sparse == quadratic.sparse
    np.testing.assert_array_equal(plain(wider.X), np.hstack([X, np.ones((6, 1))]))
    beside = quadratic.plus_diagonal(square)
    assert beside.width == 9
    np.testing.assert_allclose(beside.whole(), X @ X.T + np.diag(square))


def test_coordinates(quadratic):
    rows, scale = quadratic.coordinates(None)
    measured = X if quadratic.sparse else X - X.mean(axis=0)
    np.testing.assert_allclose(plain(rows), measured)
    np.testing.assert_allclose(scale, np.full(3, max(np.linalg.norm(x) for x in measured)))
