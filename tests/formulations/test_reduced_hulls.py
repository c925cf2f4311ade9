"""Tests of `paretoclf.formulations.reduced_hulls`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.formulations.reduced_hulls import farthest
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from tests.formulations.test_two_nu_svm import data


@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), nu=st.floats(0.15, 1.0))
def test_the_farthest_point_of_a_reduced_hull(seed, n, nu):
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(n, 2)), rng.normal(size=2)
    cap = 1 / (nu * n)
    best = linprog(-(X @ direction), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, min(cap, 1.0)))
    assert farthest(X, nu, direction) @ direction == pytest.approx(-best.fun, abs=1e-9)


def test_outlines_shrink_with_nu_and_hold_the_nearest_points():
    X, y = data(4, shift=1.0)
    svm = TwoNuSVM(X, y)
    last = np.inf
    for nu in (0.3, 0.6, 1.0):
        hulls = svm.hulls(nu, nu)
        corners = hulls.outline(1)
        # Area by the shoelace formula.
        x, z = corners[:, 0], corners[:, 1]
        area = 0.5 * abs(x @ np.roll(z, -1) - z @ np.roll(x, -1))
        assert area < last
        last = area
        direction = hulls.point_minus - hulls.point_plus
        assert hulls.point_plus @ direction == pytest.approx(farthest(X[y > 0], nu, direction) @ direction, abs=1e-8)
    assert last == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="linear kernel"):
        TwoNuSVM(X, y, pc.RBF(1.0)).hulls(0.5, 0.5).outline(1)
