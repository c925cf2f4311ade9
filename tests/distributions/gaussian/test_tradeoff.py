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
from tests.oracles.gaussian_pairs import FIXTURE, FIXTURE_POINTS, Pencil, random_moments, random_pair

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


def test_the_ends_of_the_middle_segment():
    """Equation (2): A = (1/2, Phi(r1)) and B = (Phi(r2), 1/2)."""
    found = tradeoff(FIXTURE)
    delta = FIXTURE[0] - FIXTURE[2]
    r1, r2 = (np.sqrt(delta @ np.linalg.solve(S, delta)) for S in (FIXTURE[1], FIXTURE[3]))
    assert (found.r1, found.r2) == pytest.approx((r1, r2), rel=1e-13)
    assert (found.A.tnr, found.A.tpr, found.A.t) == pytest.approx((0.5, ndtr(r1), 0.0), abs=1e-14)
    assert (found.B.tnr, found.B.tpr) == pytest.approx((ndtr(r2), 0.5), abs=1e-14)
    assert found.B.t == np.inf


@pytest.mark.parametrize(("t", "u_minus", "u_plus", "lam"), FIXTURE_POINTS)
def test_the_fixture(t, u_minus, u_plus, lam):
    at = tradeoff(FIXTURE).at_t(t)
    assert (at.u_minus, at.u_plus, at.weight) == pytest.approx((u_minus, u_plus, lam), abs=1e-9)


@given(**PAIRS, rate=st.floats(0.01, 0.99))
def test_t_of_a_point_leads_back_to_it(d, seed, rate):
    found = pc.gaussian_tradeoff(random_moments(d, seed, 10.0))
    at = found.at_rate(tnr=rate)
    again = found.at_t(at.t)
    assert (again.u_minus, again.u_plus) == pytest.approx((at.u_minus, at.u_plus), rel=1e-6, abs=1e-6)
    assert found.at_t(np.inf).u_minus == found.B.u_minus


@given(d=st.integers(1, 6), seed=st.integers(0, 20), t=st.floats(0.01, 100))
def test_equal_covariances_have_one_slope(d, seed, t):
    """Fisher's discriminant for every rate, u_plus + u_minus = Delta, and the area Phi(Delta / sqrt 2)."""
    mu_plus, S, mu_minus, _ = random_pair(d, seed)
    found = tradeoff((mu_plus, S, mu_minus, S))
    fisher = np.linalg.solve(S, mu_plus - mu_minus)
    size = float(np.sqrt(fisher @ (mu_plus - mu_minus)))
    at = found.at_t(t)
    assert (at.u_plus, at.u_minus) == pytest.approx((size / (1 + t), t * size / (1 + t)), rel=1e-9)
    for rate in (0.001, 0.3, 0.9):
        at = found.at_rate(tnr=rate)
        assert at.w @ fisher >= (1 - 1e-9) * np.linalg.norm(at.w) * np.linalg.norm(fisher)
        assert at.u_plus + at.u_minus == pytest.approx(size, abs=1e-9)
    assert found.auc == pytest.approx(ndtr(size / np.sqrt(2)), abs=1e-9)


def test_one_feature():
    """One slope; a threshold moves along the line: u_plus s_plus + u_minus s_minus = difference of the means."""
    found = tradeoff(([3.0], [[4.0]], [1.0], [[0.25]]))
    curve = found.curve(9)
    np.testing.assert_allclose(2.0 * curve.u_plus + 0.5 * curve.u_minus, 2.0, rtol=1e-12)
    assert found.at_rate(fpr=0.025).b / found.at_rate(fpr=0.025).w[0] == pytest.approx(-(1.0 + 0.5 * 1.959963984540054))


def test_equal_means():
    """The curve passes through (1/2, 1/2); below, u_plus = |u_minus| sqrt(largest ratio of the variances)."""
    found = tradeoff((np.ones(3), np.eye(3), np.ones(3), np.diag([0.25, 1.0, 9.0])))
    assert (found.r1, found.r2) == (0.0, 0.0)
    low, high = found.at_rate(tnr=0.1), found.at_rate(tpr=0.2)
    assert low.u_plus == pytest.approx(-3.0 * low.u_minus, rel=1e-12)
    assert high.u_minus == pytest.approx(-high.u_plus / 0.5, rel=1e-12)
    np.testing.assert_allclose(np.abs(low.w) / np.linalg.norm(low.w), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(np.abs(high.w) / np.linalg.norm(high.w), [1, 0, 0], atol=1e-12)
    assert found.minimax().fpr == pytest.approx(0.5, abs=1e-12)
    assert found.auc > 0.5
    for at in (low, high, found.minimax(), found.A, found.B):
        assert found.certificate(at).passes(1e-10)
    with pytest.raises(pc.InputError, match="mu_plus and mu_minus must differ"):
        found.at_weight(1.0)


def test_the_hard_case():
    """The top eigenvector is orthogonal to delta: beyond t = -1/4 the slope leaves the family's bounded part.

    There a = (Sigma_plus - Sigma_minus / 4)^+ delta + zeta v, any zeta: both signs are equally good.
    """
    found, m = tradeoff(HARD), pc.Moments.from_covariances(*HARD)
    for rate in (0.3, 0.05, 0.001):
        at = found.at_rate(tnr=rate)
        assert at.t == pytest.approx(-0.25, abs=1e-12)
        mirror = at.w * [1, -1]
        for w in (at.w, mirror):
            assert m.distances(w, at.b).rates == pytest.approx((at.fpr, at.fnr), abs=1e-12)
        w = at.w / at.w[0] * (4 / 3)  # M^+ delta = (4/3, 0)
        q = float(ndtri(rate))
        assert q == pytest.approx(-0.25 * np.sqrt(w @ HARD[3] @ w), rel=1e-9)
    assert found.at_rate(tnr=0.4).t > -0.25


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


@pytest.mark.parametrize("exchange", [False, True])
def test_the_threshold_is_exact_for_the_narrower_class(exchange):
    """The intercept is computed from the mean that is nearer to the hyperplane."""
    m = pc.Moments.from_covariances([2.0, 1.0], np.diag([1.0, 2.0]), [0.0, 0.0], np.diag([1e-20, 1e-20]))
    found = pc.gaussian_tradeoff(m.swapped() if exchange else m)
    for tnr in (0.2, 0.6, 0.99):
        at = found.at_rate(tpr=tnr) if exchange else found.at_rate(tnr=tnr)
        u = found.moments.distances(at.w, at.b)
        assert (u.tpr if exchange else u.tnr) == pytest.approx(tnr, abs=1e-5)


# ---- operating points ------------------------------------------------------------------------------------------------


@given(**PAIRS, rate=st.floats(0.001, 0.999))
def test_a_rate_is_met_whichever_of_the_four_it_is(d, seed, rate):
    found = pc.gaussian_tradeoff(random_moments(d, seed))
    for name in ("tnr", "tpr", "fpr", "fnr"):
        assert getattr(found.at_rate(**{name: rate}), name) == pytest.approx(rate, abs=1e-11)
    assert found.neyman_pearson(rate).fpr == pytest.approx(rate, abs=1e-11)


@given(**PAIRS, log_lam=st.floats(-5, 5))
def test_a_weight_is_met(d, seed, log_lam):
    pair = random_pair(d, seed)
    pencil, at = Pencil(*pair), tradeoff(pair).at_weight(10.0**log_lam)
    t = pencil.of_weight(10.0**log_lam)
    assert at.t == pytest.approx(t, rel=1e-8)
    assert (at.u_minus, at.u_plus) == pytest.approx(pencil.at(t)[1], rel=1e-9)


@given(**PAIRS)
def test_minimax_has_equal_rates_and_is_problem_3_at_1(d, seed):
    found = pc.gaussian_tradeoff(random_moments(d, seed))
    at = found.minimax()
    assert at.fpr == pytest.approx(at.fnr, abs=1e-12)
    assert at.t == pytest.approx(found.at_weight(1.0).t, rel=1e-9)


@given(d=st.integers(1, 4), seed=st.integers(0, 30), asymmetry=st.floats(0.01, 0.99), prior=st.floats(0.05, 0.95))
def test_the_cheapest_point_is_the_cheapest_of_many_and_its_bound_holds(d, seed, asymmetry, prior):
    found = pc.gaussian_tradeoff(random_moments(d, seed, 10.0))
    at = found.best((asymmetry, 1 - asymmetry), prior)
    miss, alarm = prior * asymmetry, (1 - prior) * (1 - asymmetry)
    many = found.family.at(np.linspace(-40, 40, 4001))
    costs = miss * ndtr(-many.u_plus) + alarm * ndtr(-many.u_minus)
    cheapest = min(costs.min(), miss, alarm)
    assert at.cost == pytest.approx(miss * at.fnr + alarm * at.fpr, abs=1e-14)
    assert at.bound <= cheapest + 1e-15
    assert at.cost <= cheapest + 1e-9
    assert at.cost - at.bound <= 1.01e-7 * (miss + alarm)
    assert at.bound < at.cost or not at.w.any()  # a bound over pieces, not the value itself


def test_the_cheapest_point_can_lie_in_an_outer_segment():
    """The search of the paper's middle segment would miss it: the true positive rate is below 1/2."""
    found = tradeoff(random_pair(3, seed=2, condition=10.0))
    at = found.best((0.1, 0.9))
    assert 0.2 < at.tpr < 0.5
    middle = found.family.of_ratio(np.logspace(-6, 6, 2001))
    costs = 0.05 * ndtr(-middle.u_plus) + 0.45 * ndtr(-middle.u_minus)
    assert at.cost < costs.min() - 1e-4
    # Stationary: alarm phi(u_minus) = miss phi(u_plus) s_minus / s_plus.
    plus, minus = found.moments.spread(at.w)
    density = [np.exp(-(u**2) / 2) for u in (at.u_minus, at.u_plus)]
    assert 0.45 * density[0] / minus == pytest.approx(0.05 * density[1] / plus, rel=1e-9)


def test_one_label_for_all_can_be_cheapest():
    found = tradeoff(([0.1], [[1.0]], [0.0], [[1.0]]))
    for costs, label in (((1.0, 1e-6), 1), ((1e-6, 1.0), -1)):
        at = found.best(costs)
        assert (at.classifier.predict([[-5.0], [5.0]]) == label).all()
        assert at.cost == pytest.approx(0.5e-6)
        assert (at.fpr, at.tpr) == ((1.0, 1.0) if label == 1 else (0.0, 0.0))
        with pytest.raises(pc.InputError, match="point must be a hyperplane"):
            found.certificate(at)


# ---- the objects -----------------------------------------------------------------------------------------------------


def test_points_of_a_curve_are_evenly_spaced_and_reach_both_ends():
    curve = tradeoff(FIXTURE).curve(101)
    steps = np.hypot(np.diff(curve.tnr), np.diff(curve.tpr))
    assert steps.max() < 1.1 * steps.min()
    assert curve.tnr[0] < 1e-5 > curve.tpr[-1]
    assert curve.w.shape == (101, 2)
    pooled = FIXTURE[1] + FIXTURE[3]
    np.testing.assert_allclose(np.einsum("ki,ij,kj->k", curve.w, pooled, curve.w), 1.0, rtol=1e-12)


def test_from_samples_it_is_the_trade_off_of_their_moments(gaussians):
    X, y = gaussians(n=60, d=3)
    m = pc.Moments.from_samples(X, y, 0.1)
    direct, given_ = pc.gaussian_tradeoff(X, y, reg=0.1), pc.gaussian_tradeoff(m)
    assert direct.auc == given_.auc
    at = direct.at_rate(fpr=0.1)
    np.testing.assert_allclose(at.classifier.decision_function(X), X @ at.w + at.b)
    np.testing.assert_allclose(direct.curve(5).scores(X)[2], X @ direct.curve(5).w[2] + direct.curve(5).b[2])


def test_what_objects_say():
    found = tradeoff(FIXTURE)
    assert repr(found) == "GaussianTradeoff(2 features, r1=1.11803, r2=1.06904, GaussianRate())"
    assert repr(found.curve(7)) == "TradeoffCurve(7 points, GaussianRate())"
    assert "cost=" in repr(found.best((1, 1)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: f.at_rate(), "exactly one of tnr, tpr, fpr and fnr must be given, got none"),
        (lambda f: f.at_rate(tnr=0.1, fpr=0.2), "exactly one of tnr, tpr, fpr and fnr must be given, got tnr, fpr"),
        (lambda f: f.at_rate(tnr=1.0), "tnr must lie strictly between 0 and 1, got 1.0"),
        (lambda f: f.at_rate(fnr=0.0), "fnr must lie strictly between 0 and 1, got 0.0"),
        (lambda f: f.at_rate(fpr=float("nan")), "fpr must lie strictly between 0 and 1, got nan"),
        (lambda f: f.at_rate(fpr="few"), "fpr must be a number, got 'few'"),
        (
            lambda f: f.judged_by(StudentRate(0.01)).at_rate(fpr=1e-3),
            "fpr = 0.001 asks for a mean .* standard deviations from the hyperplane",
        ),
        (lambda f: f.neyman_pearson(1.5), "max_fpr must lie strictly between 0 and 1, got 1.5"),
        (lambda f: f.at_weight(0.0), "lam must be a finite positive number, got 0.0"),
        (lambda f: f.at_t(-1.0), "t must be above -0.491397, or below -4.65146, got -1.0"),
        (lambda f: f.at_t(float("nan")), "t must be above"),
        (lambda f: f.best((1.0, 1.0), 1.2), r"prior_plus must lie in \[0, 1\], got 1.2"),
        (lambda f: f.best((0.0, 0.0)), "costs times priors must not both be zero"),
        (lambda f: f.best((-1.0, 0.0)), "C_plus must be a finite nonnegative number, got -1.0"),
        (lambda f: f.curve(1), "n must be a whole number of at least 2, got 1"),
        (lambda f: f.judged_by("gaussian"), "rates must be a Rate .* got 'gaussian'"),
        (lambda f: pc.gaussian_tradeoff(np.eye(2)), "y must be given with samples"),
        (lambda f: pc.gaussian_tradeoff(f.moments, [1, -1]), "y must not be given with moments"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(pc.InputError, match=said):
        call(tradeoff(FIXTURE))


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (([0, 0], [[1, 0.5], [0, 1]], [1, 1], np.eye(2)), "Sigma_plus must be symmetric, got 0.5"),
        (
            ([0, 0], np.eye(2), [1, 1], [[1, 2], [2, 1]]),
            "Sigma_minus must be positive definite, got smallest eigenv.*-1",
        ),
        (
            ([0, 0], np.eye(2), [1, 1], np.zeros((2, 2))),
            "Sigma_minus must be positive definite, got smallest eigenv.* 0",
        ),
        (([0, np.nan], np.eye(2), [1, 1], np.eye(2)), "mu_plus must be finite"),
    ],
)
def test_bad_moments(pair, said):
    with pytest.raises(pc.InputError, match=said):
        tradeoff(pair)


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
