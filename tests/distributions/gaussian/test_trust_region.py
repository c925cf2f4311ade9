"""The trust-region problem of the outer segments: secular equation, hard case, and bounds, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space

from paretoclf.distributions.gaussian.bounds import largest_spread
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.trust_region import TrustRegion, secular
from tests.oracles.gaussian_pairs import random_moments, random_pair

ROOM = st.floats(-6, 4)


def hard_pair(d=4, gap=1.0):
    """delta is an eigenvector of both covariances, and another one has the largest ratio: the hard case."""
    ratios = np.r_[1.0, 4.0, 4.0 - gap, np.linspace(0.5, 2.0, d - 3)]
    return np.eye(d)[0], np.eye(d), np.zeros(d), np.diag(ratios[:d])


@given(d=st.integers(2, 12), seed=st.integers(0, 99), log_room=ROOM, log_condition=st.floats(0, 5))
def test_the_secular_equation_is_optimal(d, seed, log_room, log_condition):
    """Feasible, and as large as the bound of the S-procedure allows: nothing else is needed."""
    m = random_moments(d, seed, 10**log_condition)
    problem = TrustRegion.of(m)
    zeta = problem.zeta_min * (1 + 10.0**log_room)
    found = secular(problem, zeta)
    a = problem.slope(found.v)
    assert a @ m.delta == pytest.approx(1.0, abs=1e-9)
    assert a @ m.Sigma_plus @ a == pytest.approx(zeta, rel=1e-9)
    assert a @ m.Sigma_minus @ a == pytest.approx(problem.value(found.v), rel=1e-9)
    bounds = largest_spread(m, a, found.tau, zeta)
    assert abs(bounds.gap) < 1e-10
    assert -bounds.primal_value == pytest.approx(problem.value(found.v), rel=1e-9)


@pytest.mark.parametrize("room", [1e-4, 0.3, 50.0])
@pytest.mark.parametrize("seed", range(4))
def test_problem_22_by_looking_everywhere(seed, room):
    """The whole boundary of the ellipse in the null space of delta: a circle of directions for three features."""
    m = random_moments(3, seed, 20.0)
    start, F = m.delta / (m.delta @ m.delta), null_space(m.delta[None])
    H = F.T @ m.Sigma_plus @ F
    u0 = -np.linalg.solve(H, F.T @ m.Sigma_plus @ start)
    center = start + F @ u0
    zeta = (1 + room) * (center @ m.Sigma_plus @ center)
    angle = np.linspace(0, 2 * np.pi, 200_001)
    circle = np.linalg.solve(np.linalg.cholesky(H).T, np.array([np.cos(angle), np.sin(angle)]))
    a = center[:, None] + np.sqrt(zeta - center @ m.Sigma_plus @ center) * (F @ circle)
    assert np.einsum("ik,ij,jk->k", a, m.Sigma_plus, a).max() == pytest.approx(zeta, rel=1e-10)
    best = np.einsum("ik,ij,jk->k", a, m.Sigma_minus, a).max()
    problem = TrustRegion.of(m)
    assert problem.value(secular(problem, zeta).v) == pytest.approx(best, rel=1e-8)


@given(d=st.integers(2, 8), seed=st.integers(0, 99), log_room=ROOM)
def test_the_bound_holds_for_every_multiplier(d, seed, log_room):
    m = random_moments(d, seed)
    problem = TrustRegion.of(m)
    zeta = problem.zeta_min * (1 + 10.0**log_room)
    best = -problem.value(secular(problem, zeta).v)
    largest = problem.curvature.max()
    for tau in largest * np.array([0.5, 0.99, 1.01, 2.0, 10.0]):
        bound = largest_spread(m, problem.center, tau, zeta).dual_value
        assert bound <= best * (1 - 1e-12)
        if tau < largest:
            assert bound == -np.inf


def test_zeta_min_is_the_smallest_variance():
    m = random_moments(5, seed=3)
    problem = TrustRegion.of(m)
    a = np.random.default_rng(0).normal(size=(2000, 5))
    a /= (a @ m.delta)[:, None]
    assert np.einsum("ki,ij,kj->k", a, m.Sigma_plus, a).min() >= problem.zeta_min
    inverse = np.linalg.inv(m.Sigma_plus)
    assert problem.zeta_min == pytest.approx(1 / (m.delta @ inverse @ m.delta), rel=1e-12)
    np.testing.assert_allclose(problem.center, inverse @ m.delta * problem.zeta_min, rtol=1e-9)


@pytest.mark.parametrize("gap", [1.0, 0.0])
@pytest.mark.parametrize("room", [1e-6, 0.5, 30.0])
def test_the_hard_case(gap, room):
    """Also with a double top eigenvalue; the mirror image is as good, and the centre between the two is not."""
    m = Moments.from_covariances(*hard_pair(gap=gap))
    problem = TrustRegion.of(m)
    zeta = problem.zeta_min + room
    found = secular(problem, zeta)
    assert found.hard
    assert found.tau == pytest.approx(4.0, rel=1e-14)
    value = problem.value(found.v)
    assert value == pytest.approx(1.0 + 4.0 * room, rel=1e-12)
    assert problem.value(-found.v) == pytest.approx(value, rel=1e-12)
    assert problem.value(0 * found.v) < value
    a = problem.slope(found.v)
    assert largest_spread(m, a, found.tau, zeta).gap == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("tilt", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18])
def test_close_to_the_hard_case(tilt):
    """A vanishing linear term on the top direction: continuous values, and the bound proves each."""
    mu_plus, S_plus, mu_minus, S_minus = hard_pair()
    S_minus = S_minus.copy()
    S_minus[0, 1] = S_minus[1, 0] = tilt
    m = Moments.from_covariances(mu_plus, S_plus, mu_minus, S_minus)
    problem = TrustRegion.of(m)
    zeta = problem.zeta_min + 0.5
    found = secular(problem, zeta)
    value = problem.value(found.v)
    assert value == pytest.approx(3.0, abs=3 * tilt + 1e-12)
    assert largest_spread(m, problem.slope(found.v), found.tau, zeta).gap == pytest.approx(0, abs=1e-11)


def test_small_room_in_a_pair_that_has_a_hard_case_is_not_hard():
    """The linear term lies in the other directions and alone fills the room."""
    mu_plus, S_plus, mu_minus, S_minus = hard_pair()
    S_minus = S_minus.copy()
    S_minus[0, 2] = S_minus[2, 0] = 0.5
    m = Moments.from_covariances(mu_plus, S_plus, mu_minus, S_minus)
    problem = TrustRegion.of(m)
    easy, hard = (secular(problem, problem.zeta_min + room) for room in (0.01, 10.0))
    assert not easy.hard
    assert hard.hard
    for found, room in ((easy, 0.01), (hard, 10.0)):
        assert found.v @ found.v == pytest.approx(room)
        bounds = largest_spread(m, problem.slope(found.v), found.tau, problem.zeta_min + room)
        assert bounds.gap == pytest.approx(0, abs=1e-11)


def test_one_dimension_and_no_room():
    m = Moments.from_covariances([2.0], [[1.0]], [0.0], [[9.0]])
    problem = TrustRegion.of(m)
    assert problem.zeta_min == 0.25
    found = secular(problem, 1.0)
    assert found.v.size == 0
    assert problem.value(found.v) == pytest.approx(9 / 4)
    many = TrustRegion.of(random_moments(3))
    at_the_end = secular(many, many.zeta_min)
    assert not at_the_end.v.any()
    assert many.value(at_the_end.v) == many.constant


def test_equal_covariances_have_a_flat_trust_region():
    mu_plus, S, mu_minus, _ = random_pair(4, seed=2)
    problem = TrustRegion.of(Moments.from_covariances(mu_plus, S, mu_minus, S))
    np.testing.assert_allclose(problem.curvature, 1.0, rtol=1e-12)
    assert np.abs(problem.linear).max() < 1e-12 * np.sqrt(problem.constant)
    found = secular(problem, 5 * problem.zeta_min)
    assert problem.value(found.v) == pytest.approx(5 * problem.zeta_min, rel=1e-12)
