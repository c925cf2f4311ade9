"""The monotone fit beside the min-max formula of isotonic regression, and its area beside a fine sum."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.roc.empirical.monotone import MonotoneFit, fitted, monotone_fit


def by_averages(x, y, weight):
    """Non-increasing fit at each different x: the least over starts of the largest mean over ends."""
    places = sorted(set(x))
    of_place = [[k for k in range(len(x)) if x[k] == place] for place in places]

    def mean(first, last):
        points = [k for group in of_place[first : last + 1] for k in group]
        return sum(weight[k] * y[k] for k in points) / sum(weight[k] for k in points)

    size = len(places)
    return places, [min(max(mean(s, e) for e in range(i, size)) for s in range(i + 1)) for i in range(size)]


@pytest.mark.parametrize("seed", range(6))
def test_the_fit_is_the_one_of_the_min_max_formula(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 15) / 8, rng.uniform(size=15)
    weight = rng.uniform(0.2, 3, 15)
    fit = monotone_fit(x, y, weight)
    places, values = by_averages(x, y, weight)
    np.testing.assert_allclose(fit.x, places)
    np.testing.assert_allclose(fit.y, values, rtol=1e-12)
    assert (np.diff(fit.y) <= 0).all()
    at = dict(zip(places, values, strict=True))
    residual = sum(w * (b - at[a]) ** 2 for a, b, w in zip(x, y, weight, strict=True))
    assert fit.residual == pytest.approx(residual, rel=1e-12)


def test_without_weights_all_are_1_and_a_weight_of_0_is_no_point():
    x, y = [0.25, 0.5, 0.5, 0.75], [0.5, 0.9, 0.3, 0.2]
    assert monotone_fit(x, y).y.tolist() == monotone_fit(x, y, np.ones(4)).y.tolist()
    twice = monotone_fit([*x, x[1]], [*y, y[1]])
    np.testing.assert_allclose(monotone_fit(x, y, [1, 2, 1, 1]).y, twice.y)
    without = monotone_fit(x, y, [1, 0, 1, 0])
    assert without.x.tolist() == [0.25, 0.5]
    np.testing.assert_allclose(without.y, [0.5, 0.3])


def test_between_the_points_it_is_affine_and_beyond_them_constant():
    fit = MonotoneFit([0.2, 0.6], [0.9, 0.1], 0.0)
    assert fit([0.0, 0.2, 0.3, 0.6, 1.0]) == pytest.approx([0.9, 0.9, 0.7, 0.1, 0.1])
    assert np.shape(fit(0.4)) == ()
    t = np.linspace(0, 1, 200_001)
    assert fit.area == pytest.approx(np.mean(fit(t[:-1]) + fit(t[1:])) / 2, abs=1e-9)
    assert fit.area == pytest.approx(0.2 * 0.9 + 0.4 * 0.5 + 0.4 * 0.1)


def test_one_point_is_a_constant():
    fit = fitted(np.array([0.3]), np.array([0.8]), np.array([2.0]))
    assert (fit.area, float(fit(0.0)), float(fit(1.0)), fit.residual) == pytest.approx((0.8, 0.8, 0.8, 0.0))


def test_what_was_given_can_change_afterwards():
    x = np.array([0.2, 0.6])
    fit = MonotoneFit(x, np.array([0.9, 0.1]), 0.0)
    x[0] = 0.5
    assert fit.x[0] == 0.2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], []), "x must hold at least one point, got none"),
        (([0.5, 1.5], [0.5, 0.5]), r"x must lie in \[0, 1\], got values from 0.5 to 1.5"),
        (([0.5, 0.5], [-0.5, 0.5]), r"y must lie in \[0, 1\], got values from -0.5 to 0.5"),
        (([0.5], [0.5, 0.5]), "y must"),
        (([0.5], [0.5], [0.0]), "weight must hold a positive number, got only zeros"),
        (([0.5], [0.5], [-1.0]), "weight must"),
    ],
)
def test_points_that_are_no_rates_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        monotone_fit(*arguments)


def test_rates_may_be_0_and_1():
    fit = monotone_fit([0, 1], [1, 0])
    assert (fit.area, fit.residual) == (0.5, 0.0)
