"""A kernel matrix as quadratic term, against the samples it is made of and against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.problem.operator import Matrix

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, size=(6, 3)) / 2.0
K = X @ X.T
COEF = RNG.normal(size=(6, 4))
REST = COEF * 2.0**-55 * RNG.normal(size=COEF.shape)


def fractions(values):
    return np.vectorize(Fraction, otypes=[object])(values)


def exact_scores(j, rest=True):
    a = fractions(COEF[:, j]) + (fractions(REST[:, j]) if rest else 0)
    return fractions(K) @ a, a


def test_products_and_parts():
    quadratic = Matrix(K)
    assert (quadratic.n, quadratic.width, list(quadratic.raw)) == (6, 0, ["K"])
    assert quadratic.whole() is quadratic.raw["K"] is K
    np.testing.assert_allclose(quadratic.times(COEF), K @ COEF, rtol=1e-13)
    np.testing.assert_allclose(quadratic.times(COEF[:, 0]), K @ COEF[:, 0], rtol=1e-13)
    np.testing.assert_array_equal(quadratic.rows([4, 1]), X[[4, 1]] @ X.T)
    np.testing.assert_array_equal(quadratic.block([4, 1]), X[[4, 1]] @ X[[4, 1]].T)
    np.testing.assert_array_equal(quadratic.part([4, 1, 0]).K, X[[4, 1, 0]] @ X[[4, 1, 0]].T)
    np.testing.assert_array_equal(quadratic.new_in_part([4, 1], [0, 3, 5]), X[[0, 3, 5]] @ X[[4, 1]].T)
    diagonal = quadratic.diagonal()
    np.testing.assert_array_equal(diagonal, (X**2).sum(axis=1))
    diagonal[:] = 0.0  # a copy
    assert quadratic.terms2 == quadratic.length2 == max(x @ x for x in X)
    assert quadratic.centred(np.ones(3)) is quadratic.centred(None) is quadratic


def test_products_of_points_lie_each_in_one_piece_of_memory():
    assert Matrix(K).times(np.asfortranarray(COEF)).flags.f_contiguous


def test_slopes():
    quadratic, slopes = Matrix(K), X.T @ COEF
    found = quadratic.slopes(COEF)
    np.testing.assert_allclose(found.scores, X @ slopes)
    np.testing.assert_allclose(found.norm2, (slopes**2).sum(axis=0))
    np.testing.assert_allclose(quadratic.norms(COEF), (slopes**2).sum(axis=0))
    np.testing.assert_array_equal(found.apart, np.zeros(4))
    bounds = quadratic.score_terms(COEF, found.norm2)
    np.testing.assert_allclose(bounds, K.max() * np.abs(COEF).sum(axis=0))
    assert (bounds >= (np.abs(K) @ np.abs(COEF)).max(axis=0)).all()


def test_twice_the_precision():
    found = Matrix(K).twice(COEF, REST)
    np.testing.assert_array_equal(found.apart, np.zeros(4))
    np.testing.assert_array_equal(found.distance, np.zeros(4))
    for j in range(4):
        both = fractions(found.scores[:, j]) + fractions(found.rest[:, j])
        assert max(abs(both - exact_scores(j)[0])) <= Fraction(2) ** -90


def test_sums_that_are_rounded_once():
    more = RNG.normal(size=(6, 2))
    for j in range(4):
        found = Matrix(K).precise(np.stack([COEF[:, j], REST[:, j]]))
        scores, a = exact_scores(j)
        np.testing.assert_array_equal(found.scores(), scores.astype(float))
        np.testing.assert_array_equal(found.scores(more), (scores + fractions(more).sum(axis=1)).astype(float))
        assert found.norm2 == float(a @ fractions(found.scores()))
        assert found.apart == 0.0


def test_fractions():
    scores, a = exact_scores(1, rest=False)
    found, norm2 = Matrix(K).exactly().of(a)
    assert list(found) == list(scores)
    assert norm2 == a @ scores


def test_new_samples():
    Z = RNG.normal(size=(2, 6))
    np.testing.assert_allclose(Matrix(K).scores_of(Z, COEF), Z @ COEF)
    Z[1, 2] = -7.0
    assert Matrix(K).largest_value(Z) == 7.0
    assert Matrix(K).largest_value(np.zeros((0, 6))) == 0.0


def test_other_quadratics():
    quadratic, square = Matrix(K), np.arange(6.0)
    assert quadratic.over(1.0) is quadratic
    np.testing.assert_allclose(quadratic.over(3.0).K, (X / 3) @ (X / 3).T)
    wider = np.hstack([X, np.ones((6, 1))])
    np.testing.assert_array_equal(quadratic.plus_constant().K, wider @ wider.T)
    beside = np.hstack([X, np.diag(np.sqrt(square))])
    np.testing.assert_allclose(quadratic.plus_diagonal(square).K, beside @ beside.T)


class TestCoordinates:
    factor = np.array([[4.0, 0.0], [1.0, 2.0], [-3.0, 0.5]])

    def found(self, beyond=0.0):
        matrix = self.factor @ self.factor.T + np.diag([0.0, 0.0, beyond])
        return Matrix(matrix).coordinates(lambda: self.factor)

    @pytest.mark.parametrize("beyond", [0.0, 1e-12, -1e-12])
    def test_of_a_plain_rank(self, beyond):
        rows, scale = self.found(beyond)
        np.testing.assert_array_equal(rows, self.factor)
        np.testing.assert_array_equal(scale, [16 / 4, 16 / 2])

    @pytest.mark.parametrize("beyond", [1e-11, -1e-11, 1.0])
    def test_of_none(self, beyond):
        assert self.found(beyond) is None
