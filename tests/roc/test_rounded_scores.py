"""Tests of `paretoclf.roc.rounded_scores`."""

from __future__ import annotations

import numpy as np

from paretoclf.roc.rounded_scores import with_intercepts


def test_an_intercept_cancels_a_slope_up_to_rounding_of_either_and_of_the_margin():
    b = np.array([-1.0, -1.0, -1e6, 1e-17, 1e-17, -1.0])
    slopes = np.array([[1.0 + 2.2e-16, 1.0 - 1e-9, 1e6 + 1e-9, 0.0, 1e-5, 3.0]])
    expected = [[0.0, -1e-9, 0.0, 0.0, 1e-5, 2.0]]
    np.testing.assert_allclose(with_intercepts(slopes, b, 1.0), expected, rtol=1e-6, atol=0.0)
    assert with_intercepts(np.zeros((1, 1)), np.array([1e-21]), 1e-9) == 0.0
    assert with_intercepts(np.zeros((1, 1)), np.array([1e-9]), 1e-9) == 1e-9
