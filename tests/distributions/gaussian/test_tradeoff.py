"""The whole Gaussian trade-off curve: against cone programs, the S-procedure, brute force, closed forms and draws."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

import paretoclf as pc
from paretoclf.distributions.rates import ChebyshevRate, GaussianRate, KLRate, StudentRate
from tests.oracles.gaussian_pairs import FIXTURE, random_moments, random_pair

ACCURATE = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
PAIRS = {"d": st.integers(1, 8), "seed": st.integers(0, 99)}
HARD = (np.array([1.0, 0.0]), np.eye(2), np.zeros(2), np.diag([1.0, 4.0]))


def tradeoff(pair):
    return pc.gaussian_tradeoff(pc.Moments.from_covariances(*pair))


@pytest.mark.parametrize(
    ("d", "condition"), [(2, 1e1), (2, 1e6), (5, 1e3), (10, 1e6), (20, 1e2), (40, 1e4), (60, 1e1), (60, 1e6)]
)
def test_the_middle_segment_is_that_of_problem_3(d, condition):
    """As the paper writes it, at 1e-10: u_plus = 1 / value and u_minus = lam / value. Rates agree to 1e-8."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(d, seed=d, condition=condition)
    found = tradeoff((mu_plus, S_plus, mu_minus, S_minus))
    a, lam = cp.Variable(d), cp.Parameter(nonneg=True)
    plus, minus = (cp.norm(np.linalg.cholesky(S).T @ a) for S in (S_plus, S_minus))
    problem = cp.Problem(cp.Minimize(plus + lam * minus), [a @ (mu_plus - mu_minus) == 1])
    for weight in (1e-2, 0.3, 1.0, 5.0, 1e2):
        lam.value = weight
        value = problem.solve(**ACCURATE)
        at = found.at_weight(weight)
        assert at.tpr == pytest.approx(ndtr(1 / value), abs=1e-8)
        assert at.tnr == pytest.approx(ndtr(weight / value), abs=1e-8)
        assert at.weight == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize(
    "pair",
    [random_pair(2, 2, 10.0), random_pair(4, 4, 1e3), random_pair(12, 12, 1e2), HARD],
    ids=["2", "4", "12", "hard"],
)
@pytest.mark.parametrize("rate", [0.45, 0.05, 0.001])
def test_the_outer_segments_are_those_of_the_s_procedure(pair, rate):
    found, problem = tradeoff(pair), pc.SProcedure.from_moments(*pair)
    low, high = problem.at_rate(tnr=rate), problem.at_rate(tpr=rate)
    assert found.at_rate(tnr=rate).u_plus == pytest.approx(problem.distances(low).u_plus, rel=1e-8)
    assert found.at_rate(tpr=rate).u_minus == pytest.approx(problem.distances(high).u_minus, rel=1e-8)


def largest(pair, u_minus):
    """Largest u_plus over all directions of the plane, at a given u_minus."""
    mu_plus, S_plus, mu_minus, S_minus = pair

    def u_plus(angle):
        a = np.stack([np.cos(angle), np.sin(angle)])
        f, g = (np.sqrt(np.einsum("i...,ij,j...->...", a, S, a)) for S in (S_minus, S_plus))
        return ((mu_plus - mu_minus) @ a - u_minus * f) / g

    grid = np.linspace(0, 2 * np.pi, 20_001)
    best = grid[np.argmax(u_plus(grid))]
    fine = minimize_scalar(lambda v: -u_plus(v), bounds=(best - 1e-3, best + 1e-3), method="bounded")
    return max(float(-fine.fun), float(u_plus(best)))


@pytest.mark.parametrize("pair", [FIXTURE, HARD, *(random_pair(2, seed, 30.0) for seed in range(4))])
def test_brute_force_over_directions_finds_nothing_better(pair):
    found = tradeoff(pair)
    for rate in (1e-4, 0.05, 0.2, 0.4, 0.5, 0.7, 0.9, 0.99, 0.9999):
        at = found.at_rate(tnr=rate)
        assert at.tnr == pytest.approx(rate, abs=1e-12)
        assert at.u_plus == pytest.approx(largest(pair, float(ndtri(rate))), abs=1e-9)
        assert found.certificate(at).passes(1e-10)


def test_draws_have_these_rates():
    pair = random_pair(5, seed=1, condition=20.0)
    rng, n = np.random.default_rng(0), 200_000
    X_plus, X_minus = (rng.multivariate_normal(mu, S, size=n) for mu, S in (pair[:2], pair[2:]))
    curve = tradeoff(pair).curve(15)
    hit, kept = (curve.scores(X_plus) >= 0).mean(axis=1), (curve.scores(X_minus) < 0).mean(axis=1)
    for rate, share in ((curve.tpr, hit), (curve.tnr, kept)):
        assert (np.abs(share - rate) <= 4 * np.sqrt(rate * (1 - rate) / n) + 1e-4).all()


@given(**PAIRS, log_condition=st.floats(0, 6))
def test_every_point_is_proved_optimal_and_has_the_rates_it_says(d, seed, log_condition):
    m = random_moments(d, seed, 10**log_condition)
    found = pc.gaussian_tradeoff(m)
    curve = found.curve(11)
    for j in range(len(curve)):
        at = curve.point(j)
        assert found.certificate(at).passes(1e-10)
        u = m.distances(at.w, at.b)
        assert (u.tnr, u.tpr) == pytest.approx((at.tnr, at.tpr), abs=1e-10)
    assert (np.diff(curve.u_minus) > 0).all()
    assert (np.diff(curve.u_plus) < 0).all()


@given(d=st.integers(2, 6), seed=st.integers(0, 20))
def test_no_hyperplane_is_above_the_curve(d, seed):
    m = random_moments(d, seed)
    found, rng = pc.gaussian_tradeoff(m), np.random.default_rng(seed)
    for _ in range(20):
        w = rng.normal(size=d)
        u = m.distances(w, float(rng.normal(scale=3)) - float(w @ (m.mu_plus + m.mu_minus)) / 2)
        if 1e-12 < u.tnr < 1 - 1e-12:
            assert u.u_plus <= found.at_rate(tnr=u.tnr).u_plus + 1e-7


@given(**PAIRS)
def test_exchanging_the_classes_turns_the_curve_around(d, seed):
    m = random_moments(d, seed)
    found, other = pc.gaussian_tradeoff(m), pc.gaussian_tradeoff(m.swapped())
    for rate in (0.01, 0.3, 0.6, 0.97):
        assert found.at_rate(tnr=rate).u_plus == pytest.approx(other.at_rate(tpr=rate).u_minus, rel=1e-9, abs=1e-9)
    assert found.auc == pytest.approx(other.auc, abs=1e-10)


@given(d=st.integers(2, 6), seed=st.integers(0, 20), log_scale=st.floats(-6, 6))
def test_units_of_the_features_do_not_matter(d, seed, log_scale):
    mu_plus, S_plus, mu_minus, S_minus = random_pair(d, seed, 10.0)
    T = np.diag(np.logspace(0, log_scale, d))
    shift = np.arange(d)
    moved = (T @ mu_plus + shift, T @ S_plus @ T, T @ mu_minus + shift, T @ S_minus @ T)
    here, there = tradeoff((mu_plus, S_plus, mu_minus, S_minus)), tradeoff(moved)
    for rate in (0.02, 0.7):
        assert here.at_rate(tnr=rate).tpr == pytest.approx(there.at_rate(tnr=rate).tpr, abs=1e-9)
    assert here.auc == pytest.approx(there.auc, abs=1e-9)


@given(**PAIRS)
def test_along_the_curve_the_slope_is_minus_the_ratio_of_the_deviations(d, seed):
    """The slope du_plus / du_minus is minus the ratio of the standard deviations: what makes costs a tangent."""
    m = random_moments(d, seed)
    found = pc.gaussian_tradeoff(m)
    at = found.at_rate(tnr=0.8)
    before, after = (found.at_rate(tnr=float(ndtr(at.u_minus + h))) for h in (-1e-4, 1e-4))
    plus, minus = m.spread(at.w)
    assert (after.u_plus - before.u_plus) / (after.u_minus - before.u_minus) == pytest.approx(-minus / plus, rel=1e-5)


# ---- ends and special cases ------------------------------------------------------------------------------------------


def test_optimal_among_hyperplanes_is_not_better_than_chance():
    """Spec 7.1: Sigma_plus = I, Sigma_minus = I/4, delta = e_1: on the chance line at t = -2, below it at t = -3."""
    found = tradeoff((np.array([1.0, 0.0]), np.eye(2), np.zeros(2), np.eye(2) / 4))
    family = found.family
    for t, sign in ((-2.0, 0), (-3.0, -1)):
        at = family.at(family.position(float(np.arctan(t))))
        distance = float(at.u_plus + at.u_minus)  # 0 on the chance line
        assert np.sign(np.round(distance, 12)) == sign


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_classes_of_very_different_width(scale):
    """Proposition 1's first use: scaling one covariance scales one distance, and changes no classifier."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(4, seed=3, condition=10.0)
    here = tradeoff((mu_plus, S_plus, mu_minus, S_minus)).family
    there = tradeoff((mu_plus, S_plus, mu_minus, scale**2 * S_minus)).family
    for u in (-2.0, 0.5, 3.0):
        one, other = here.at(here.at_u_minus(u)), there.at(there.at_u_minus(u / scale))
        assert other.u_plus == pytest.approx(float(one.u_plus), rel=1e-8)
        w, v = (
            family.slopes(at.y) / np.linalg.norm(family.slopes(at.y)) for family, at in ((here, one), (there, other))
        )
        np.testing.assert_allclose(v, w, atol=1e-8)


AXES = np.diag([1e-6, 1.0, 1e6])
ODD = {
    "far apart": ([1e9, 0, 0], np.eye(3), [0, 0, 0], AXES),
    "close": ([1e-9, 0, 0], np.eye(3), [0, 0, 0], AXES),
    "closer than rounding": ([1e-200, 0, 0], np.eye(3), [0, 0, 0], AXES),
    "one distribution": ([1, 2, 3], AXES, [1, 2, 3], AXES),
    "tiny": ([1e-150, 0, 0], 1e-300 * np.eye(3), [0, 0, 0], 1e-300 * AXES),
    "huge": ([1e150, 0, 0], 1e300 * np.eye(3), [0, 0, 0], 1e300 * np.eye(3)),
    "ratios up to 1e36": ([1, 1, 1], 1e-12 * AXES, [0, 0, 0], 1e12 * AXES),
    "far from the origin": ([1e8 + 1, 1e8, 1e8], np.eye(3), [1e8, 1e8, 1e8], 2 * np.eye(3)),
    "hard at both ends": ([0, 1, 0], np.diag([1.0, 2, 1]), [0, 0, 0], np.diag([4, 2, 0.2])),
    "one feature, equal means": ([0.0], [[1.0]], [0.0], [[4.0]]),
    "one feature, narrow": ([1.0], [[1e-12]], [0.0], [[4.0]]),
}


@pytest.mark.parametrize("name", list(ODD))
@pytest.mark.parametrize(
    "rate",
    [GaussianRate(), ChebyshevRate(), KLRate(0.2), StudentRate(0.1)],
    ids=repr,
)
def test_odd_classes(name, rate):
    """Whatever the classes: finite classifiers with proofs, an area, and the cheapest of them."""
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(*ODD[name]), rates=rate)
    at = found.best((1.0, 1.0))
    assert 0 <= at.bound <= at.cost <= 0.5
    assert found.at_rate(fpr=0.01).fpr == pytest.approx(0.01, rel=1e-9)
    if found.r1 == 0 and rate.threshold >= 0:
        with pytest.raises(pc.InputError, match="no hyperplane has a positive worst-case rate"):
            found.curve(9)
        return
    curve = found.curve(9)
    assert np.isfinite(curve.w).all()
    assert 0 <= found.auc <= 1 + 1e-12
    for point in (*(curve.point(j) for j in range(9)), found.minimax(), found.A, found.B):
        assert found.certificate(point).passes(1e-9)


# ---- operating points ------------------------------------------------------------------------------------------------


# ---- the objects -----------------------------------------------------------------------------------------------------


def test_from_samples_it_is_the_trade_off_of_their_moments(gaussians):
    X, y = gaussians(n=60, d=3)
    m = pc.Moments.from_samples(X, y, 0.1)
    direct, given_ = pc.gaussian_tradeoff(X, y, reg=0.1), pc.gaussian_tradeoff(m)
    assert direct.auc == given_.auc
    at = direct.at_rate(fpr=0.1)
    np.testing.assert_allclose(at.classifier.decision_function(X), X @ at.w + at.b)
    np.testing.assert_allclose(direct.curve(5).scores(X)[2], X @ direct.curve(5).w[2] + direct.curve(5).b[2])


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
@pytest.mark.parametrize("top", [5.0, 0.1], ids=["negatives wide", "positives wide"])
@pytest.mark.parametrize("d", [2, 3, 10])
def test_certificates_far_from_the_origin_on_the_outer_segments(d, top, offset):
    """The hard case: the best multiplier is the largest ratio of variances, and the gap was inf a rounding below it."""
    rng = np.random.default_rng(d)
    mu = rng.normal(size=d)
    mu[0] = 0.0
    variances = np.concatenate([[top], rng.uniform(0.5, 2, size=d - 1)])
    found = tradeoff((offset + mu, np.eye(d), np.full(d, offset), np.diag(variances)))
    curve = found.curve(31)
    points = [curve.point(j) for j in range(len(curve))]
    points += [found.at_rate(fpr=rate) for rate in (1e-9, 1e-3, 0.999, 1 - 1e-9)]
    for point in points:
        certificate = found.certificate(point)
        assert certificate.passes(), certificate.explain()
        assert certificate.dual_value > -np.inf
    assert sum(point.t < 0 for point in points) > 5
    for point in points[::7]:  # and no proof of what is not optimal
        w = point.w + 0.2 * np.linalg.norm(point.w) * rng.normal(size=d)
        nearer = min((mu, point.u_plus), (0 * mu, point.u_minus), key=lambda pair: abs(pair[1]))[0]
        b = float((point.w - w) @ (offset + nearer)) + point.b
        assert not pc.gaussian_tradeoff(found.moments).certificate(replace(point, w=w, b=b)).passes()
