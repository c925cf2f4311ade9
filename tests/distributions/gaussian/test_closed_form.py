"""The trade-off curve in closed form: against a generalised eigenproblem, fixtures, special cases and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

import paretoclf as pc
from paretoclf.distributions.rates import StudentRate
from tests.oracles.gaussian_pairs import FIXTURE, FIXTURE_POINTS, Pencil, random_moments, random_pair

PAIRS = {"d": st.integers(1, 8), "seed": st.integers(0, 99)}


HARD = (np.array([1.0, 0.0]), np.eye(2), np.zeros(2), np.diag([1.0, 4.0]))


def tradeoff(pair):
    return pc.gaussian_tradeoff(pc.Moments.from_covariances(*pair))


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


@pytest.mark.parametrize("exchange", [False, True])
def test_the_threshold_is_exact_for_the_narrower_class(exchange):
    """The intercept is computed from the mean that is nearer to the hyperplane."""
    m = pc.Moments.from_covariances([2.0, 1.0], np.diag([1.0, 2.0]), [0.0, 0.0], np.diag([1e-20, 1e-20]))
    found = pc.gaussian_tradeoff(m.swapped() if exchange else m)
    for tnr in (0.2, 0.6, 0.99):
        at = found.at_rate(tpr=tnr) if exchange else found.at_rate(tnr=tnr)
        u = found.moments.distances(at.w, at.b)
        assert (u.tpr if exchange else u.tnr) == pytest.approx(tnr, abs=1e-5)


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
