"""Bounds by weak duality and the family that refines: against fixtures, brute force and a generalised eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.distributions.gaussian.bounds import fixed_distance, squared_sum, weighted_sum
from paretoclf.distributions.gaussian.moments import Moments
from tests.oracles.gaussian_pairs import Pencil, random_moments, random_pair

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
