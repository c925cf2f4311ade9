"""Tests of `paretoclf.distributions.gaussian.family`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.distributions.gaussian.bounds import fixed_distance, weighted_sum
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.moments import Moments
from tests.distributions.gaussian.test_bounds import PAIRS
from tests.oracles.gaussian_pairs import FIXTURE, FIXTURE_POINTS, Pencil, random_moments, random_pair


@given(d=st.integers(2, 6), seed=st.integers(0, 99))
def test_a_bound_is_second_order_in_the_error_of_the_slope(d, seed):
    m = random_moments(d, seed, 10.0)
    family = Family.of(m)
    a = family.slopes(family.of_weight(1.3).y)
    e = np.random.default_rng(seed).normal(size=d)
    e *= np.linalg.norm(a) / np.linalg.norm(e)
    wide, narrow = (weighted_sum(m, a + h * e, 1.3).gap for h in (1e-3, 1e-5))
    assert narrow < 1e-3 * wide + 1e-13


@pytest.mark.parametrize(("t", "u_minus", "u_plus", "lam"), FIXTURE_POINTS)
def test_the_fixture(t, u_minus, u_plus, lam):
    m = Moments.from_covariances(*FIXTURE)
    family = Family.of(m)
    found = family.of_ratio(t)
    a = family.slopes(found.y)
    assert found.weight == pytest.approx(lam, abs=1e-9)
    assert found.plus == pytest.approx(u_plus, abs=1e-9)
    assert weighted_sum(m, a, lam).primal_value == pytest.approx(1 / u_plus, rel=1e-9)
    assert fixed_distance(m, a, u_plus).primal_value == pytest.approx(-u_minus, rel=1e-8)
    b = -(m.mu_minus @ a + t * (m.root_minus @ a) @ (m.root_minus @ a))
    distances = m.distances(a, b)
    assert (distances.u_minus, distances.u_plus) == pytest.approx((u_minus, u_plus), abs=1e-9)


@given(**PAIRS, log_lam=st.floats(-4, 4))
def test_the_member_of_a_weight_and_of_a_distance(d, seed, log_lam):
    pair = random_pair(d, seed)
    m, pencil, lam = Moments.from_covariances(*pair), Pencil(*pair), 10.0**log_lam
    t = pencil.of_weight(lam)
    family = Family.of(m)
    found = family.of_weight(lam)
    assert found.t == pytest.approx(t, rel=1e-9)
    reference = pencil.at(t)[0]
    np.testing.assert_allclose(family.slopes(found.y), reference, atol=1e-9 * np.linalg.norm(reference))
    again = family.of_u_plus(float(found.u_plus))
    assert again.plus == pytest.approx(found.plus, rel=1e-13)


@given(**PAIRS, position=st.floats(-6, 6))
def test_the_distances_move_as_the_derivatives_say(d, seed, position):
    family, h = Family.of(random_moments(d, seed)), 1e-5
    lower, here, upper = (family.at(position + s) for s in (-h, 0.0, h))
    step = family.steep(here) * family.speed(position) * 2 * h
    assert (upper.u_minus - lower.u_minus) * here.minus == pytest.approx(step, rel=1e-5)
    assert (upper.u_plus - lower.u_plus) * here.plus == pytest.approx(-step, rel=1e-5)
    assert step > 0
