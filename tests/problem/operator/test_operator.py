"""What every quadratic term has in common, on one that has nothing of its own."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.problem.operator.operator import FeatureSlope, FeatureSlopes, Quadratic, affects

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 3))


class Plain(Quadratic):
    """Features that answer only what must be answered."""

    n, width = X.shape
    raw = terms2 = block = whole = norms = score_terms = twice = precise = exactly = scores_of = None
    largest_value = part = new_in_part = centred = over = plus_constant = plus_diagonal = coordinates = None

    def times(self, v):
        return X @ (X.T @ v)

    def rows(self, index):
        return X[index] @ X.T

    def diagonal(self):
        return (X**2).sum(axis=1)

    def slopes(self, coef, W=None):
        slope = X.T @ coef if W is None else W
        return FeatureSlopes(X @ slope, (slope**2).sum(axis=0), np.arange(coef.shape[1]) + 0.5)


class InSpace(Plain):
    """The same, with scores of slopes."""

    def project(self, w):
        return X @ w


def test_one_of_several_slopes():
    coef = RNG.normal(size=(6, 4))
    several = Plain().slopes(coef)
    one = several[2]
    assert isinstance(one, FeatureSlope)
    np.testing.assert_array_equal(one.scores, several.scores[:, 2])
    assert (one.norm2, one.apart) == (several.norm2[2], 2.5)
    assert FeatureSlope(one.scores, 1.0).apart == 0.0
    np.testing.assert_array_equal(Plain().balanced(coef).scores, several.scores)


def test_a_slope_alone():
    coef, w = RNG.normal(size=6), [1.0, 2.0, -3.0]
    implied, given = Plain().slope_of(coef), Plain().slope_of(coef, w)
    np.testing.assert_allclose(implied.scores, X @ X.T @ coef)
    assert implied.norm2 == pytest.approx(coef @ X @ X.T @ coef)
    np.testing.assert_allclose(given.scores, X @ w)
    assert given.norm2 == 14.0


def test_scores():
    coef, w = RNG.normal(size=6), RNG.normal(size=3)
    np.testing.assert_allclose(InSpace().scores(coef), X @ X.T @ coef)
    np.testing.assert_allclose(InSpace().scores(coef, w), X @ w)
    np.testing.assert_allclose(Plain().scores_at([4, 1], coef[:, None]), (X @ X.T @ coef)[[4, 1], None])


def test_lengths():
    assert Plain().length2 == Plain().balanced2 == max(x @ x for x in X)
    nobody = Plain()
    nobody.diagonal = lambda: np.zeros(0)
    assert nobody.length2 == 0.0


def test_without_features_there_are_no_slopes():
    plain = Plain()
    assert (plain.own(np.ones(3)), plain.zeros(2), plain.middle) == (None, None, None)
    for ask in (plain.slope, plain.signed, plain.largest_terms, plain.project):
        with pytest.raises(InputError, match="w exists for the linear kernel and with low_rank only"):
            ask(np.ones(3))
    with pytest.raises(InputError, match="low_rank only"):
        plain.scores(np.ones(6), np.ones(3))


def test_all_must_be_answered():
    with pytest.raises(TypeError, match="abstract"):
        Quadratic()


def test_residuals_are_relative_to_one_plus_the_terms():
    W, implied, terms = (RNG.integers(-5, 6, size=(3, 4)) * 1.0 for _ in range(3))
    terms, reach = abs(terms), np.array([[2.0], [0.5], [4.0]])
    found = affects(W, implied, terms, reach)
    for j in range(4):
        each = [abs(W[i, j] - implied[i, j]) * reach[i, 0] / (1 + terms[i, j] * reach[i, 0]) for i in range(3)]
        assert found[j] == pytest.approx(max(each))
    np.testing.assert_array_equal(affects(W[:0], W[:0], W[:0], reach[:0]), np.zeros(4))
