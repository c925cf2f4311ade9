"""The judges of the Gaussian problems: right slopes and wrong ones, beside an eigenproblem and formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import ndtri

import paretoclf as pc
from paretoclf.common.tolerances import EQUAL_MEANS
from paretoclf.distributions.gaussian.judges import (
    classified,
    judge_fixed_distance,
    judge_largest_spread,
    judge_pareto,
    judge_squared_sum,
    judge_weighted_sum,
    judge_widest,
    largest_distances,
    largest_ratio,
)
from paretoclf.distributions.gaussian.moments import Moments
from tests.oracles.gaussian_pairs import Pencil, random_pair

PAIR = random_pair(3, seed=4, condition=20.0)
MOMENTS = Moments.from_covariances(*PAIR)
DELTA = PAIR[0] - PAIR[2]
WRONG = np.linalg.solve(PAIR[1] + PAIR[3], DELTA) + np.array([0.1, -0.05, 0.02])


def deviations(a):
    return np.sqrt(a @ PAIR[1] @ a), np.sqrt(a @ PAIR[3] @ a)


def pooled(residual):
    """Norm of an error of the difference of the means, over that of the difference itself."""
    inverse = np.linalg.inv(PAIR[1] + PAIR[3])
    return float(np.sqrt(residual @ inverse @ residual) / np.sqrt(DELTA @ inverse @ DELTA))


def test_the_largest_distances_and_the_largest_ratio():
    r1, r2 = (np.sqrt(DELTA @ np.linalg.solve(S, DELTA)) for S in (PAIR[1], PAIR[3]))
    assert largest_distances(MOMENTS) == pytest.approx((r1, r2), rel=1e-12)
    assert largest_ratio(MOMENTS) == pytest.approx(eigh(PAIR[3], PAIR[1])[0][-1], rel=1e-12)


def test_a_classifier_has_its_distances():
    numbers = classified(MOMENTS, WRONG, 0.3, 7.0)
    plus, minus = deviations(WRONG)
    assert (numbers["b"], numbers["t"]) == (0.3, 7.0)
    assert numbers["u_plus"] == pytest.approx((WRONG @ PAIR[0] + 0.3) / plus, rel=1e-12)
    assert numbers["u_minus"] == pytest.approx(-(WRONG @ PAIR[2] + 0.3) / minus, rel=1e-12)


@pytest.mark.parametrize("lam", [0.2, 1.0, 4.0])
def test_a_weighted_sum(lam):
    pencil = Pencil(*PAIR)
    t = pencil.of_weight(lam)
    best, (u_minus, u_plus) = pencil.at(t)
    judged = judge_weighted_sum(MOMENTS, 3.0 * best, lam)
    numbers = judged.numbers
    assert judged.certificate.passes(1e-10)
    assert judged.certificate.shortfall == 0.0
    assert judged.certificate.primal_value == pytest.approx(1 / u_plus, rel=1e-9)
    assert judged.certificate.dual_value == pytest.approx(1 / u_plus, rel=1e-9)
    assert numbers["w"] @ DELTA == pytest.approx(1.0, rel=1e-12)
    assert (numbers["u_minus"], numbers["u_plus"]) == pytest.approx((u_minus, u_plus), rel=1e-7)
    assert numbers["t"] == pytest.approx(t, rel=1e-6)
    assert np.linalg.norm(numbers["h_plus"]) == pytest.approx(1.0, rel=1e-12)
    assert np.linalg.norm(numbers["h_minus"]) == pytest.approx(lam, rel=1e-12)

    wrong = judge_weighted_sum(MOMENTS, WRONG, lam)
    a = WRONG / (WRONG @ DELTA)
    plus, minus = deviations(a)
    value = plus + lam * minus
    assert wrong.certificate.primal_value == pytest.approx(value, rel=1e-12)
    assert wrong.certificate.dual_value < 1 / u_plus + 1e-12
    assert (wrong.numbers["s_plus"], wrong.numbers["s_minus"]) == pytest.approx((plus, minus), rel=1e-12)
    if lam < 1:  # the threshold is that of the heavier class
        assert wrong.numbers["u_plus"] == pytest.approx(1 / value, rel=1e-10)
    else:
        assert wrong.numbers["u_minus"] == pytest.approx(lam / value, rel=1e-10)
    residual = PAIR[1] @ a / plus + lam * (PAIR[3] @ a) / minus - value * DELTA
    assert wrong.certificate.dual["stationarity"] == pytest.approx(pooled(residual) / value, rel=1e-9)
    assert not wrong.certificate.passes(1e-6)


@pytest.mark.parametrize("t", [0.0, 0.5, 3.0])
def test_a_squared_sum(t):
    M = PAIR[1] + t * PAIR[3]
    best = np.linalg.solve(M, DELTA)
    value = 1 / (DELTA @ best)
    judged = judge_squared_sum(MOMENTS, 0.1 * best, t)
    assert judged.certificate.passes(1e-10)
    assert (judged.certificate.primal_value, judged.certificate.dual_value) == pytest.approx((value, value), rel=1e-9)
    plus, minus = deviations(value * best)
    assert judged.numbers["nu"] == pytest.approx(value, rel=1e-9)
    assert judged.numbers["u_plus"] == pytest.approx(plus / value, rel=1e-9)
    assert judged.numbers["u_minus"] == pytest.approx(t * minus / value, rel=1e-7, abs=1e-12)
    a = WRONG / (WRONG @ DELTA)
    wrong = judge_squared_sum(MOMENTS, WRONG, t)
    assert wrong.certificate.primal_value == pytest.approx(a @ M @ a, rel=1e-12)
    residual = M @ a - (a @ M @ a) * DELTA
    assert wrong.certificate.dual["stationarity"] == pytest.approx(pooled(residual) / (a @ M @ a), rel=1e-9)
    assert wrong.numbers["u_plus"] == pytest.approx(deviations(a)[0] / (a @ M @ a), rel=1e-9)
    assert wrong.certificate.dual_value <= value + 1e-12
    assert not wrong.certificate.passes(1e-6)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_fixed_distance(share):
    pencil = Pencil(*PAIR)
    r1, r2 = largest_distances(MOMENTS)
    u_plus = share * r1
    if share:
        t = pencil.of_u_plus(u_plus)
        best, (u_minus, _) = pencil.at(t)
    else:
        t, best, u_minus = np.inf, np.linalg.solve(PAIR[3], DELTA), r2
    judged = judge_fixed_distance(MOMENTS, best, u_plus)
    assert judged.certificate.passes(1e-9)
    assert judged.certificate.primal_value == pytest.approx(-u_minus, rel=1e-8)
    assert judged.certificate.dual_value == pytest.approx(-u_minus, rel=1e-8)
    assert judged.numbers["t"] == pytest.approx(t, rel=1e-6)
    assert deviations(judged.numbers["w"])[1] == pytest.approx(1.0, rel=1e-12)
    assert judged.numbers["u_plus"] == pytest.approx(u_plus, abs=1e-10)
    wrong = judge_fixed_distance(MOMENTS, WRONG, u_plus)
    plus, minus = deviations(WRONG)
    u_wrong = (WRONG @ DELTA - u_plus * plus) / minus
    assert wrong.certificate.primal_value == pytest.approx(-u_wrong, rel=1e-10)
    residual = u_plus * (PAIR[1] @ WRONG) / plus + u_wrong * (PAIR[3] @ WRONG) / minus - DELTA
    assert wrong.certificate.dual["stationarity"] == pytest.approx(pooled(residual), rel=1e-8)
    assert wrong.certificate.dual_value <= -u_minus + 1e-10
    assert wrong.certificate.scale >= r2 * (1 - 1e-12)
    assert not wrong.certificate.passes(1e-6)


PLANE = ([1.0, 0.0], np.eye(2), [0.0, 0.0], np.array([[1.0, 0.4], [0.4, 3.0]]))


@pytest.mark.parametrize("zeta", [1.5, 4.0])
def test_the_largest_spread(zeta):
    """In the plane the slopes with a . delta = 1 are a line, (1, s): the largest variance is at an end of |s|^2."""
    m = Moments.from_covariances(*PLANE)
    s = np.sqrt(zeta - 1.0)
    best = np.array([1.0, s])
    value = float(best @ PLANE[3] @ best)
    tau = float((PLANE[3] @ best)[1] / s)  # stationary in s: 2 tau s is the derivative of the variance
    judged = judge_largest_spread(m, 2.0 * best, tau, zeta)
    assert judged.certificate.passes(1e-9), judged.certificate.explain()
    assert judged.certificate.primal_value == pytest.approx(-value, rel=1e-12)
    assert judged.certificate.dual_value == pytest.approx(-value, rel=1e-9)
    numbers = judged.numbers
    assert numbers["mu"] == pytest.approx(value - tau * zeta, rel=1e-9)
    assert numbers["t"] == pytest.approx(-1 / tau, rel=1e-12)
    assert numbers["pareto"]
    at = pc.gaussian_tradeoff(m).at_rate(tnr=float(m.distances(numbers["w"], numbers["b"]).tnr))
    assert numbers["u_plus"] == pytest.approx(at.u_plus, rel=1e-8)  # the classifier is a point of the curve
    lower = judge_largest_spread(m, np.array([1.0, 0.5 * s]), tau, zeta)
    assert not lower.certificate.passes(1e-6)
    assert lower.certificate.primal_value == pytest.approx(-(1 + 0.4 * s + 0.75 * s**2), rel=1e-12)
    outside = judge_largest_spread(m, np.array([1.0, 3.0 * s]), tau, zeta)  # brought back into the bound for its value
    assert outside.certificate.primal["bound on the positives"] == pytest.approx(8 * s**2 / zeta, rel=1e-9)
    small = judge_largest_spread(m, best, 0.5, zeta)
    assert small.certificate.dual_value == -np.inf
    assert not small.numbers["pareto"]
    assert small.numbers["u_minus"] == pytest.approx(0.0, abs=1e-14)
    residual = 0.5 * best - PLANE[3] @ best + (value - 0.5 * zeta) * np.array([1.0, 0.0])
    scale = max(0.5 * np.sqrt(zeta), np.sqrt(value) * np.sqrt(np.linalg.eigvalsh(PLANE[3])[-1]))
    assert small.certificate.dual["stationarity"] == pytest.approx(np.linalg.norm(residual) / scale, rel=1e-9)
    assert judge_largest_spread(m, best, 0.0, zeta).numbers["t"] == -np.inf


def test_the_largest_spread_of_one_feature():
    m = Moments.from_covariances([2.0], [[1.0]], [0.0], [[9.0]])
    judged = judge_largest_spread(m, np.array([1.0]), 0.0, 1.0)
    assert judged.certificate.primal_value == pytest.approx(-9 / 4, rel=1e-12)
    assert judged.certificate.passes(1e-12)


def test_the_widest_direction_at_equal_means():
    S = np.array([[4.0, 1.0], [1.0, 2.0]])
    m = Moments.from_covariances([1.0, 2.0], np.diag([1.0, 2.0]), [1.0, 2.0], S)
    tau = eigh(S, np.diag([1.0, 2.0]))[0][-1]
    judged = judge_widest(m, -0.7)
    assert judged.certificate.passes(1e-10)
    assert judged.certificate.primal_value == pytest.approx(-0.7 * np.sqrt(tau), rel=1e-12)
    assert (judged.numbers["u_plus"], judged.numbers["u_minus"]) == pytest.approx((0.7 * np.sqrt(tau), -0.7), rel=1e-10)
    assert judged.numbers["tau"] == pytest.approx(tau, rel=1e-12)
    assert judged.numbers["t"] == pytest.approx(-1 / tau, rel=1e-12)
    assert judged.numbers["w"][np.argmax(np.abs(judged.numbers["w"]))] > 0
    assert judged.certificate.dual["eigenvector"] < 1e-12
    for q in (-0.1, -7.0):
        assert judge_widest(m, q).certificate.scale == pytest.approx(max(1.0, -q * np.sqrt(tau)), rel=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_hyperplanes_of_the_curve_are_optimal_and_moved_ones_are_not(offset):
    m = Moments.from_covariances(PAIR[0] + offset, PAIR[1], PAIR[2] + offset, PAIR[3])
    found = pc.gaussian_tradeoff(m)
    for rate in (1e-3, 0.2, 0.5, 0.7, 0.95, 1 - 1e-4):
        at = found.at_rate(tnr=rate)
        judged = judge_pareto(m, at.w, at.b)
        assert judged.certificate.passes(1e-8), judged.certificate.explain()
        assert judged.certificate.scale >= 1.0
        if not (at.u_plus <= 0 < at.u_minus or at.u_plus < at.u_minus <= 0):  # else it is judged with classes exchanged
            assert judged.numbers["t"] == pytest.approx(at.t, rel=1e-4, abs=1e-9)
            assert judged.certificate.primal_value == pytest.approx(-at.u_plus, rel=1e-6)
        w = at.w + 0.2 * np.linalg.norm(at.w) * np.array([0.3, -0.8, 0.5])
        b = -float(w @ m.mu_minus) - float(ndtri(rate)) * m.spread(w)[1]
        assert not judge_pareto(m, w, b).certificate.passes(1e-4)


def test_a_hyperplane_through_both_means_at_equal_means_has_no_t():
    m = Moments.from_covariances([0.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    judged = judge_pareto(m, np.array([1.0, 0.0]), 0.0)
    assert judged.numbers["t"] == np.inf
    assert judged.certificate.passes(1e-12)


def test_far_from_the_origin_distances_have_fewer_digits():
    m = Moments.from_covariances([3e6, 1.0], np.diag([1.0, 4.0]), [3e6 - 1.0, -5.0], np.diag([4.0, 1.0]))
    judged = judge_pareto(m, np.array([2.0, 0.0]), -6e6 + 1.5)  # deviations 2 and 4, and |w| . |mu| = 6e6
    wanted = (8 * np.finfo(float).eps * 6e6 * (1 / 2 + 1 / 4) + EQUAL_MEANS) * (1 + 4 / 2)
    assert judged.certificate.rounding == pytest.approx(wanted, rel=1e-9)
    near = Moments.from_covariances([1.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    wanted = (8 * np.finfo(float).eps * 7.0 * 2 + EQUAL_MEANS) * 2
    assert judge_pareto(near, np.array([1.0, 0.0]), 7.0).certificate.rounding == pytest.approx(wanted, rel=1e-9)
