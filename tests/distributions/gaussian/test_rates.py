"""Four ways to judge one family: Kim et al., Propositions 1 and 2, Corollaries 1 and 2, Lemmas 1 and 2.

Independent: draws, worst-case distributions that are constructed, closed forms, brute force, and the CVXPY models.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr, ndtri

import paretoclf as pc
from tests.oracles.gaussian_pairs import FIXTURE, random_moments, random_pair

U = np.linspace(-4, 4, 33)


def uniform(scale):
    return 1.0 / (3.0 - 0.5)


def all_rates():
    return {
        "gaussian": pc.rates.GaussianRate(),
        "chebyshev": pc.rates.ChebyshevRate(),
        "kl": pc.rates.KLRate(0.2),
        "kl, large": pc.rates.KLRate(1.0),
        "student": pc.rates.StudentRate(3.0),
        "cauchy": pc.rates.StudentRate(1.0),
        "laplace": pc.rates.ScaleMixtureRate(lambda v: np.exp(-v)),
        "uniform": pc.rates.ScaleMixtureRate(uniform, (0.5, 3.0)),
    }


@pytest.fixture(params=list(all_rates()))
def rate(request):
    return all_rates()[request.param]


# ---- rates as functions ----------------------------------------------------------------------------------------------


def test_a_rate_increases_beyond_its_threshold_and_is_zero_up_to_it(rate):
    values = rate.correct(U)
    beyond = rate.threshold + 1e-3 < U
    assert (np.diff(values[beyond]) > 0).all()
    assert (values[~(rate.threshold < U)] == 0).all()
    np.testing.assert_allclose(values + rate.error(U), 1.0, atol=1e-14)
    assert rate.correct(np.inf) == pytest.approx(1.0, abs=1e-14)
    assert rate.correct(-np.inf) == 0.0


def test_the_slope_is_the_derivative(rate):
    h = 1e-6
    inside = U[np.abs(U - rate.threshold) > 0.05]
    inside = inside[np.abs(inside) > 1e-3]  # the density of the Laplace distribution has a kink at 0
    difference = (rate.correct(inside + h) - rate.correct(inside - h)) / (2 * h)
    np.testing.assert_allclose(rate.slope(inside), difference, atol=2e-9)


def test_the_inverse(rate):
    for value in (1e-4, 0.3, 0.77, 0.9999):
        assert rate.correct(rate.at_correct(value)) == pytest.approx(value, abs=1e-11)
        assert rate.error(rate.at_error(value)) == pytest.approx(value, abs=1e-11)


def test_closed_forms():
    cauchy, laplace = pc.rates.StudentRate(1.0), all_rates()["laplace"]
    np.testing.assert_allclose(cauchy.correct(U), 0.5 + np.arctan(U) / np.pi, atol=1e-14)
    exact = np.where(U >= 0, 1 - 0.5 * np.exp(-np.sqrt(2) * U), 0.5 * np.exp(np.sqrt(2) * U))
    np.testing.assert_allclose(laplace.correct(U), exact, atol=1e-12)
    np.testing.assert_allclose(pc.rates.KLRate(0.0).correct(U), ndtr(U), atol=1e-16)
    np.testing.assert_allclose(pc.rates.ChebyshevRate().correct([-1.0, 0.0, 2.0]), [0.0, 0.0, 0.8])


@pytest.mark.parametrize("df", [1.0, 2.5, 7.0])
def test_student_is_the_mixture_over_an_inverse_gamma(df):
    """The quadrature of Lemma 1 against the closed form."""
    mixture = pc.rates.ScaleMixtureRate(lambda v: stats.invgamma.pdf(v, df / 2, scale=df / 2))
    np.testing.assert_allclose(mixture.correct(U), pc.rates.StudentRate(df).correct(U), atol=1e-11)
    np.testing.assert_allclose(mixture.slope(U), pc.rates.StudentRate(df).slope(U), atol=1e-11)


# ---- scale mixtures: Lemma 1, Proposition 1, Corollary 1 -------------------------------------------------------------


def mixing(name, rng, n):
    if name == "student":
        return 3.0 / rng.chisquare(3.0, size=n)
    if name == "cauchy":
        return 1.0 / rng.chisquare(1.0, size=n)
    if name == "laplace":
        return rng.exponential(size=n)
    return rng.uniform(0.5, 3.0, size=n)


@pytest.mark.parametrize("name", ["student", "cauchy", "laplace", "uniform"])
def test_lemma_1_draws_of_a_scale_mixture_have_the_rate(name):
    rng, n = np.random.default_rng(0), 200_000
    m = random_moments(3, seed=4, condition=10.0)
    X = m.mu_plus + np.sqrt(mixing(name, rng, n))[:, None] * (rng.normal(size=(n, 3)) @ m.root_plus)
    rate = all_rates()[name]
    for at in (pc.gaussian_tradeoff(m, rates=rate).at_rate(tnr=v) for v in (0.1, 0.6, 0.95)):
        share = np.mean(at.classifier.decision_function(X) >= 0)
        assert share == pytest.approx(at.tpr, abs=4 * np.sqrt(at.tpr * (1 - at.tpr) / n) + 1e-5)


def best_tpr(pair, rates, tnr):
    """Largest true positive rate at a true negative rate, over all directions of the plane."""
    mu_plus, S_plus, mu_minus, S_minus = pair
    u_minus = rates[1].at_correct(tnr)

    def u_plus(angle):
        a = np.stack([np.cos(angle), np.sin(angle)])
        f, g = (np.sqrt(np.einsum("i...,ij,j...->...", a, S, a)) for S in (S_minus, S_plus))
        return ((mu_plus - mu_minus) @ a - u_minus * f) / g

    grid = np.linspace(0, 2 * np.pi, 4001)
    best = grid[np.argmax(u_plus(grid))]
    fine = minimize_scalar(lambda v: -u_plus(v), bounds=(best - 2e-3, best + 2e-3), method="bounded")
    return float(rates[0].correct(-fine.fun))


@pytest.mark.parametrize("plus", ["student", "cauchy", "laplace"])
@pytest.mark.parametrize("minus", ["gaussian", "cauchy", "uniform"])
def test_corollary_1_the_family_is_optimal_for_any_two_mixing_distributions(plus, minus):
    """With different mixing distributions of the two classes: nothing else is better, over all directions."""
    rates = (all_rates()[plus], all_rates()[minus])
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(*FIXTURE), rates=rates)
    for tnr in (0.05, 0.4, 0.9):
        at = found.at_rate(tnr=tnr)
        assert at.tnr == pytest.approx(tnr, abs=1e-11)
        assert at.tpr == pytest.approx(best_tpr(FIXTURE, rates, tnr), abs=1e-9)


def test_proposition_1_the_classifiers_are_the_same_whatever_the_rates():
    """Re-labelled, not recomputed: slopes and thresholds stay."""
    found = pc.gaussian_tradeoff(random_moments(4, seed=1))
    curve = found.curve(21)
    for rate in all_rates().values():
        other = curve.judged_by(rate)
        np.testing.assert_array_equal(other.w, curve.w)
        np.testing.assert_array_equal(other.tpr, rate.correct(curve.u_plus))
        # A point that is asked for by these rates is one of the Gaussian curve.
        at = found.judged_by(rate).minimax()
        assert found.certificate(at).passes(1e-10)


@given(seed=st.integers(0, 50), plus=st.floats(0.1, 10), minus=st.floats(0.1, 10))
def test_proposition_1_scaled_covariances_have_the_same_family(seed, plus, minus):
    """The paper's first consequence: N(mu, scale Sigma), each class with a scale of its own."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(3, seed, 10.0)
    here = pc.gaussian_tradeoff(pc.Moments.from_covariances(mu_plus, S_plus, mu_minus, S_minus)).at_rate(tnr=0.7)
    scaled = pc.Moments.from_covariances(mu_plus, plus * S_plus, mu_minus, minus * S_minus)
    there = pc.gaussian_tradeoff(scaled).at_rate(tnr=float(ndtr(here.u_minus / np.sqrt(minus))))
    w, v = here.w / np.linalg.norm(here.w), there.w / np.linalg.norm(there.w)
    np.testing.assert_allclose(v, w, atol=1e-8)
    assert there.u_plus * np.sqrt(plus) == pytest.approx(here.u_plus, rel=1e-9)


# ---- Chebyshev: Proposition 2, minimax probability machines ----------------------------------------------------------


@pytest.mark.parametrize("u", [0.3, 1.0, 4.0])
def test_two_atoms_attain_the_chebyshev_bound(u):
    """Mass 1 / (1 + u^2) on the hyperplane itself, where it counts as an error: mean and variance are as given."""
    m = random_moments(3, seed=0)
    w = np.array([1.0, -2.0, 0.5])
    plus = m.spread(w)[0]
    b = u * plus - float(w @ m.mu_plus)
    along = (m.root_plus.T @ (m.root_plus @ w)) / plus  # Sigma w / |R w|: moves w.x by one deviation per unit
    mass = 1 / (1 + u**2)
    atoms = np.array([m.mu_plus - u * along, m.mu_plus + along / u])
    shares = np.array([mass, 1 - mass])
    np.testing.assert_allclose(shares @ atoms, m.mu_plus, atol=1e-12)
    spread = (atoms - m.mu_plus).T @ (shares[:, None] * (atoms - m.mu_plus))
    # What is left of the covariance is positive semidefinite and does not move w.x: noise that changes no decision.
    left = m.Sigma_plus - spread
    assert np.linalg.eigvalsh(left).min() > -1e-10
    assert w @ left @ w == pytest.approx(0.0, abs=1e-9)
    scores = atoms @ w + b
    assert scores[0] == pytest.approx(0.0, abs=1e-9)
    assert scores[1] > 0
    assert 1 - mass == pytest.approx(float(pc.rates.ChebyshevRate().correct(u)), rel=1e-14)


def test_no_distribution_with_these_moments_does_worse_than_the_chebyshev_bound():
    """A linear program over distributions on a grid; the hyperplane is a grid point."""
    x = np.linspace(-12, 12, 2401)
    for u in (0.5, 1.0, 2.0):
        p = cp.Variable(x.size, nonneg=True)
        constraints = [cp.sum(p) == 1, x @ p == 0, x**2 @ p == 1]
        program = cp.Problem(cp.Minimize((x > -u + 1e-9).astype(float) @ p), constraints)
        assert program.solve(solver="HIGHS") == pytest.approx(float(pc.rates.ChebyshevRate().correct(u)), abs=1e-5)


def test_proposition_2_optimal_for_the_bounds_exactly_where_both_rates_are_above_one_half():
    found = pc.gaussian_tradeoff(random_moments(4, seed=2, condition=20.0))
    curve = found.curve(301)
    bounds = curve.judged_by(pc.rates.ChebyshevRate())
    np.testing.assert_array_equal(bounds.pareto, (curve.tnr > 0.5) & (curve.tpr > 0.5))
    assert 50 < bounds.pareto.sum() < 250
    # Optimal: no point of the family, and no random hyperplane, is better in both; elsewhere some point is.
    rng, m = np.random.default_rng(0), found.moments
    others = [m.distances(w, -float(w @ m.mu_plus) + 3 * rng.normal()).worst_case for w in rng.normal(size=(2000, 4))]
    rates = np.vstack([np.stack([bounds.tnr, bounds.tpr], axis=1), others])
    for j in range(1, len(bounds) - 1):  # what is better than the first and the last point is not drawn
        better = (rates >= rates[j]).all(axis=1) & (rates > rates[j] + 1e-12).any(axis=1)
        assert better.any() != bounds.pareto[j]
    inside = found.curve(50, rates=pc.rates.ChebyshevRate())
    assert inside.pareto.all()


def test_figure_2_its_points_C_and_D_and_the_segments_beyond_them():
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(*FIXTURE), rates=pc.rates.ChebyshevRate())
    r1, r2 = found.r1, found.r2
    assert (found.A.tnr, found.A.tpr) == pytest.approx((0.0, r1**2 / (1 + r1**2)), abs=1e-14)
    assert (found.B.tnr, found.B.tpr) == pytest.approx((r2**2 / (1 + r2**2), 0.0), abs=1e-14)
    curve = found.curve(201)
    assert curve.tnr[0] < 1e-5
    assert curve.tpr[0] == pytest.approx(found.A.tpr, abs=1e-4)
    # From C to (0, 1): achievable, by moving the threshold, and inferior to what lies above it.
    far = found.moments.distances(found.A.w, found.A.b + 1000.0)
    assert far.worst_case == pytest.approx((0.0, 1.0), abs=1e-5)


@pytest.mark.parametrize("d", [1, 3, 12])
def test_the_minimax_probability_machine_is_a_point_of_the_chebyshev_curve(d):
    pair = random_pair(d, seed=d, condition=30.0)
    machine = pc.MinimaxProbabilityMachine.from_moments(*pair)
    solution = machine.solve(polish=False)
    at = pc.gaussian_tradeoff(machine.moments, rates=pc.rates.ChebyshevRate()).minimax()
    assert at.tnr == pytest.approx(at.tpr, abs=1e-13)
    assert at.tnr == pytest.approx(solution.numbers["guarantee"], abs=1e-8)
    w = solution.classifier.w / np.linalg.norm(solution.classifier.w)
    np.testing.assert_allclose(at.w / np.linalg.norm(at.w), w, atol=1e-5)


@pytest.mark.parametrize("theta", [0.3, 0.5, 0.6])
@pytest.mark.parametrize("seed", [0, 3])
def test_mempm_is_a_point_of_the_chebyshev_curve(theta, seed):
    """Its outer search solves a cone program at each step and shares nothing with the closed form's search."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(4, seed=seed, condition=10.0)
    pair = (mu_plus + 3.0, S_plus, mu_minus, S_minus)
    machine = pc.MEMPM.from_moments(*pair)
    solution = machine.solve(theta, polish=False)
    at = pc.gaussian_tradeoff(machine.moments, rates=pc.rates.ChebyshevRate()).best((1 - theta, theta), prior_plus=0.5)
    assert 1 - 2 * at.cost == pytest.approx(-solution.value, abs=1e-8)
    assert 1 - 2 * at.bound >= -solution.value - 1e-9
    u = machine.distances(solution)
    assert (at.u_minus, at.u_plus) == pytest.approx((u.u_minus, u.u_plus), rel=1e-4)


# ---- Kullback-Leibler balls: Lemma 2, Corollary 2 --------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("u", [0.5, 1.0, 2.5])
def test_lemma_2_a_tilted_density_is_in_the_ball_and_attains_the_rate(delta, u):
    """The density is p / q of the Gaussian one on the errors' side; mass, divergence and rate by quadrature.

    No member of the ball does worse: of all densities with the same mass on the errors' side this one is nearest, and
    a larger mass is farther away.
    """
    rate = pc.rates.KLRate(delta)
    kept, q = float(rate.correct(u)), float(ndtr(-u))
    assert kept > 0
    factor = {True: (1 - kept) / q, False: kept / (1 - q)}

    def integral(f):
        return quad(f, -np.inf, -u, epsabs=1e-13)[0] + quad(f, -u, np.inf, epsabs=1e-13)[0]

    def density(x):
        return factor[x < -u] * stats.norm.pdf(x)

    assert integral(density) == pytest.approx(1.0, abs=1e-11)
    assert quad(density, -u, np.inf, epsabs=1e-13)[0] == pytest.approx(kept, abs=1e-11)
    assert integral(lambda x: density(x) * np.log(factor[x < -u])) == pytest.approx(delta, abs=1e-10)
    for more in (1e-3, 0.1):
        p = 1 - kept * (1 - more)
        assert p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)) > delta


def largest_error(q, delta):
    """The largest p with kl(p | q) <= delta, to 40 digits."""
    with localcontext() as context:
        context.prec = 60
        q, low, high = Decimal(q), Decimal(q), Decimal(1) - Decimal(10) ** -50
        for _ in range(250):
            middle = (low * high).sqrt() if high > 4 * low else (low + high) / 2
            far = middle * (middle / q).ln() + (1 - middle) * ((1 - middle) / (1 - q)).ln() > Decimal(delta)
            low, high = (low, middle) if far else (middle, high)
        return low


@pytest.mark.parametrize("delta", [1e-20, 1e-14, 1e-8, 0.2])
def test_lemma_2_of_tiny_rates_and_radii(delta):
    """One minus a rate would lose these: at a distance of 10 the Gaussian rate of errors is 8e-24."""
    rate = pc.rates.KLRate(delta)
    for u in (-3.0, 0.5, 3.0, 8.0, 10.0):
        error = float(largest_error(float(ndtr(-u)), delta))
        assert float(rate.error(u)) == pytest.approx(error, rel=1e-12)
        assert float(rate.correct(u)) == pytest.approx(1.0 - error, rel=1e-12)
        if error < 1.0:
            assert rate.at_error(error) == pytest.approx(u, rel=1e-9)
        step = 1e-6 * abs(u)
        rise = (float(rate.error(u - step)) - float(rate.error(u + step))) / (2 * step)
        assert float(rate.slope(u)) == pytest.approx(rise, rel=1e-6)


@pytest.mark.parametrize("delta", [0.02, 0.2, 1.0])
def test_lemma_2_in_the_papers_words(delta):
    """Equation (11): kappa = 1 - f^-1(Phi(-u)) with f(e) = sup_v (exp(-delta) (1 + v)^e - 1) / v."""

    def f(e):
        found = minimize_scalar(
            lambda s: -(np.exp(-delta + e * np.log1p(np.exp(s))) - 1) / np.exp(s), bounds=(-15, 60), method="bounded"
        )
        return -found.fun

    for u in (0.5, 1.0, 2.0):
        error = float(pc.rates.KLRate(delta).error(u))
        assert f(error) == pytest.approx(ndtr(-u), abs=1e-7)
    # It reaches exp(-delta) only: beyond, where the rate is 0, the paper's inverse has no value.
    assert f(1.0) == pytest.approx(np.exp(-delta), abs=1e-6)


def test_lemma_2_by_draws_weighted_with_the_tilt():
    """In three dimensions: Gaussian draws, weighted by the worst density, have the rate that the point states."""
    m = random_moments(3, seed=4, condition=10.0)
    at = pc.gaussian_tradeoff(m, rates=pc.rates.KLRate(0.1)).minimax()
    rng = np.random.default_rng(0)
    scores = (m.mu_plus + rng.normal(size=(400_000, 3)) @ m.root_plus) @ at.w + at.b
    wrong, q = scores < 0, ndtr(-at.u_plus)
    weights = np.where(wrong, at.fnr / q, at.tpr / (1 - q))
    assert np.mean(weights) == pytest.approx(1.0, abs=0.01)
    assert np.mean(weights * np.log(weights)) == pytest.approx(0.1, abs=0.01)
    assert np.mean(weights * ~wrong) == pytest.approx(at.tpr, abs=0.005)


@pytest.mark.parametrize(("delta", "wider"), [(0.3, True), (np.log(2), None), (1.2, False)])
def test_corollary_2_corrected_only_the_part_beyond_the_thresholds_is_optimal(delta, wider):
    """The part is wider than the middle segment exactly for delta < log 2; for more, part of the middle is lost."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(4, seed=2, condition=20.0)
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(mu_plus + 4.0, S_plus, mu_minus, S_minus))
    curve = found.curve(401)
    worst = curve.judged_by(pc.rates.KLRate(delta))
    threshold = ndtri(1 - np.exp(-delta))
    np.testing.assert_array_equal(worst.pareto, (curve.u_minus > threshold) & (curve.u_plus > threshold))
    middle = (curve.u_minus > 0) & (curve.u_plus > 0)
    assert worst.pareto.any()
    if wider is None:
        np.testing.assert_array_equal(worst.pareto, middle)
    else:
        assert (worst.pareto.sum() > middle.sum()) == wider
    # Another point is as good in one rate and better in the other; for the first and the last point it is not drawn.
    tnr, tpr = worst.tnr, worst.tpr
    for j in np.flatnonzero(~worst.pareto)[1:-1]:
        assert ((tnr >= tnr[j]) & (tpr >= tpr[j]) & ((tnr > tnr[j]) | (tpr > tpr[j]))).any()
    for j in np.flatnonzero(worst.pareto):
        assert not ((tnr > tnr[j]) & (tpr > tpr[j])).any()


def test_no_hyperplane_is_worth_anything_in_a_ball_that_is_too_large():
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(*FIXTURE), rates=pc.rates.KLRate(3.0))
    for call in (found.curve, found.minimax, lambda: found.auc):
        with pytest.raises(pc.InputError, match="no hyperplane has a positive worst-case rate for both classes"):
            call()
    at = found.best((1.0, 2.0))
    assert (at.cost, at.fpr, at.tpr) == (0.5, 0.0, 0.0)


# ---- areas, and rates of two kinds -----------------------------------------------------------------------------------


def test_the_area_is_the_integral_of_the_rates(rate):
    found = pc.gaussian_tradeoff(random_moments(4, seed=3, condition=50.0), rates=rate)
    if isinstance(rate, pc.rates.ScaleMixtureRate):
        curve = found.curve(2001)
        assert found.auc == pytest.approx(np.trapezoid(curve.tpr, curve.tnr), abs=2e-6)
        return
    last = 1.0
    if rate.threshold > -np.inf:
        last = float(rate.correct(found.family.at(found.positions[1]).u_minus))
    cuts = [0.0, 1e-6, 1e-3, *np.linspace(0.1, 0.9, 5) * last, last * (1 - 1e-3), last * (1 - 1e-6), last]

    def tpr(tnr):
        return float(rate.correct(found.at_rate(tnr=tnr).u_plus))

    exact = sum(quad(tpr, a, b, epsabs=1e-11)[0] for a, b in pairwise(cuts))
    assert found.auc == pytest.approx(exact, abs=1e-8)


def test_classes_judged_differently():
    """Gaussian positives, negatives known by their moments only."""
    rates = (pc.rates.GaussianRate(), pc.rates.ChebyshevRate())
    found = pc.gaussian_tradeoff(pc.Moments.from_covariances(*FIXTURE), rates=rates)
    at = found.minimax()
    assert at.tnr == pytest.approx(at.tpr, abs=1e-10)
    assert at.tnr == pytest.approx(at.u_minus**2 / (1 + at.u_minus**2), rel=1e-12)
    assert at.tpr == pytest.approx(ndtr(at.u_plus), rel=1e-12)
    assert found.curve(21).pareto.all()
    assert "of the positives" in repr(found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pc.rates.KLRate(-0.1), "delta must be a finite nonnegative number, got -0.1"),
        (lambda: pc.rates.KLRate(np.inf), "delta must be a finite nonnegative number, got inf"),
        (lambda: pc.rates.KLRate("near"), "delta must be a nonnegative number, got 'near'"),
        (lambda: pc.rates.StudentRate(0), "df must be a finite positive number, got 0"),
        (lambda: pc.rates.StudentRate(-2.0), "df must be a finite positive number, got -2.0"),
        (lambda: pc.rates.StudentRate(np.nan), "df must be a finite positive number, got nan"),
        (lambda: pc.rates.ScaleMixtureRate(lambda v: 0.931 * np.exp(-v)), "density must integrate to 1 .* got 0.931"),
        (lambda: pc.rates.ScaleMixtureRate(lambda v: np.exp(-v), (2.0, 1.0)), "support must be an interval"),
        (lambda: pc.rates.ScaleMixtureRate(lambda v: np.exp(-v), 3.0), "support must be a pair"),
    ],
)
def test_bad_rates(call, said):
    with pytest.raises(pc.InputError, match=said):
        call()


@pytest.mark.parametrize("u", [63.0, 63.5, 1e3, 1e9, 1e12, 1e100])
def test_far_errors_within_a_divergence_use_all_of_it(u):
    """Log odds of 1e24 have no digits left of their differences: p log(p / p_0) is the radius, but for 1 - p."""
    rate = pc.rates.KLRate(0.2)
    p, correct = float(rate.error(u)), float(rate.correct(u))
    log_error = float(log_ndtr(-u))
    spent = p * (np.log(p) - log_error) + np.log1p(-p) * (1 - p)
    assert spent == pytest.approx(0.2, rel=1e-12)
    assert correct == pytest.approx(1 - p, rel=1e-15)
    assert rate.slope(u) == pytest.approx(2 * p / u, rel=3e-3)
    assert rate.at_error(p) == pytest.approx(u, rel=1e-12)


def test_nobody_errs_at_infinity():
    rates = pc.rates.KLRate(0.2), pc.rates.KLRate(0.0)
    assert [[float(r.error(u)), float(r.correct(u)), float(r.slope(u))] for r in rates for u in (np.inf, -np.inf)] == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
    ]
