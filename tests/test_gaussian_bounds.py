"""Bounds by weak duality and the family that refines: against fixtures, brute force and a generalised eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
from gaussian_pairs import FIXTURE, FIXTURE_POINTS, Pencil, random_moments, random_pair
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.gaussian.bounds import fixed_distance, squared_sum, weighted_sum
from paretoclf.gaussian.family import member, with_distance, with_weight
from paretoclf.gaussian.moments import Moments

PAIRS = {"d": st.integers(1, 10), "seed": st.integers(0, 99)}


def slopes(m, seed, k=200):
    """Random slopes with a . delta > 0."""
    a = np.random.default_rng(seed).normal(size=(k, m.d)) + m.delta
    return a * np.sign(a @ m.delta)[:, None]


@given(**PAIRS, log_lam=st.floats(-4, 4))
def test_no_slope_beats_a_lower_bound(d, seed, log_lam):
    """Weak duality: the bound from any slope is below the objective of every slope."""
    m, lam = random_moments(d, seed), 10.0**log_lam
    t = np.exp(np.random.default_rng(seed).normal())
    some = slopes(m, seed)
    for objective, bound in (
        (lambda a: weighted_sum(m, a, lam).primal_value, lambda a: weighted_sum(m, a, lam).dual_value),
        (lambda a: squared_sum(m, a, lam).primal_value, lambda a: squared_sum(m, a, lam).dual_value),
        (lambda a: fixed_distance(m, a, t).primal_value, lambda a: fixed_distance(m, a, t).dual_value),
    ):
        lowest = min(objective(a) for a in some)
        assert max(bound(a) for a in some[:50]) <= lowest + 1e-9 * abs(lowest)


@given(**PAIRS, log_lam=st.floats(-3, 3), log_condition=st.floats(0, 6))
def test_the_bounds_meet_at_the_optimum(d, seed, log_lam, log_condition):
    """The optimum from a generalised eigendecomposition that the package does not use."""
    pair = random_pair(d, seed, 10**log_condition)
    m, pencil, lam = Moments.from_covariances(*pair), Pencil(*pair), 10.0**log_lam
    t = pencil.of_weight(lam)
    a, (u_minus, u_plus) = pencil.at(t)
    bounds = weighted_sum(m, a, lam)
    assert abs(bounds.gap) < 1e-9
    assert bounds.primal_value == pytest.approx(1 / u_plus, rel=1e-8)
    assert abs(squared_sum(m, a, t).gap) < 1e-9
    fixed = fixed_distance(m, a, u_plus)
    assert fixed.primal_value == pytest.approx(-u_minus, rel=1e-6, abs=1e-8 * u_plus)
    assert fixed.dual_value == pytest.approx(-u_minus, rel=1e-6, abs=1e-8 * u_plus)


@given(d=st.integers(2, 6), seed=st.integers(0, 99))
def test_a_bound_is_second_order_in_the_error_of_the_slope(d, seed):
    m = random_moments(d, seed, 10.0)
    a = with_weight(m, 1.3, 1.0).a
    e = np.random.default_rng(seed).normal(size=d)
    e *= np.linalg.norm(a) / np.linalg.norm(e)
    wide, narrow = (weighted_sum(m, a + h * e, 1.3).gap for h in (1e-3, 1e-5))
    assert narrow < 1e-3 * wide + 1e-13


@pytest.mark.parametrize(("t", "u_minus", "u_plus", "lam"), FIXTURE_POINTS)
def test_the_fixture(t, u_minus, u_plus, lam):
    m = Moments.from_covariances(*FIXTURE)
    found = member(m, t)
    assert found.weight == pytest.approx(lam, abs=1e-9)
    assert found.plus == pytest.approx(u_plus, abs=1e-9)
    assert weighted_sum(m, found.a, lam).primal_value == pytest.approx(1 / u_plus, rel=1e-9)
    assert fixed_distance(m, found.a, u_plus).primal_value == pytest.approx(-u_minus, rel=1e-8)
    b = -(m.mu_minus @ found.a + t * (m.root_minus @ found.a) @ (m.root_minus @ found.a))
    distances = m.distances(found.a, b)
    assert (distances.u_minus, distances.u_plus) == pytest.approx((u_minus, u_plus), abs=1e-9)


@given(**PAIRS, log_lam=st.floats(-4, 4))
def test_newton_finds_the_member_of_a_weight_and_of_a_distance(d, seed, log_lam):
    pair = random_pair(d, seed)
    m, pencil, lam = Moments.from_covariances(*pair), Pencil(*pair), 10.0**log_lam
    t = pencil.of_weight(lam)
    found = with_weight(m, lam, t * 1.05)
    assert found.t == pytest.approx(t, rel=1e-9)
    reference = pencil.at(t)[0]
    np.testing.assert_allclose(found.a, reference, atol=1e-9 * np.linalg.norm(reference))
    again = with_distance(m, found.plus, t * 0.95)
    assert again.plus == pytest.approx(found.plus, rel=1e-13)


@given(**PAIRS, log_t=st.floats(-3, 3))
def test_drifts_are_derivatives(d, seed, log_t):
    m, h = random_moments(d, seed), 1e-5
    lower, here, upper = (member(m, 10.0**log_t * np.exp(s)) for s in (-h, 0.0, h))
    assert here.drift_plus == pytest.approx(np.log(upper.plus / lower.plus) / (2 * h), abs=1e-8)
    assert here.drift_minus == pytest.approx(np.log(upper.minus / lower.minus) / (2 * h), abs=1e-8)
    assert here.drift_plus < 0
