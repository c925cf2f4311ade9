"""Propositions 1 to 4 of Bach et al., corrected, as orders of remainders; A = 0; the convex problem for xi."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr

import paretoclf as pc
from paretoclf.distributions.population import Mixture, Population, population_expansion, population_solution
from paretoclf.distributions.population.expansions import tilt
from paretoclf.distributions.population.solution import solution_at
from tests.oracles.populations import mixtures, pair, slope, with_regime

#: What must be left of the log slope of the ROC curve after the second order: a constant.
CONSTANT = 0.08


def open_bracket():
    """A = 0 at 0, B < 0 with the square loss."""
    return Population(Mixture([1.0, 0.0], [[1.0, 2.0], [2.0, 5.0]]), Mixture([0.0, 0.0], np.eye(2)), 0.4)


CASES = [(make, end) for make in (pair, mixtures, open_bracket) for end in (0, 1)]
cases = pytest.mark.parametrize(("make", "end"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))


def remainders(population, loss, end, log_rhos):
    """Remainders of w, b and the log slope, first order and second, at given weights; and the small parameter."""
    expansion = population_expansion(population, loss, end)
    sign, prior = (1 if end == 0 else -1), population.log_prior_odds
    rows, small = [], []
    for log_rho in log_rhos:
        odds = sign * log_rho - prior
        at = solution_at(population, odds, loss)
        small.append(expansion.small(odds))
        row = []
        for order in (1, 2):
            w, b = expansion.classifier(odds, order)
            row += [np.abs(at.w - w).max(), abs(at.b - b), abs(at.log_slope - expansion.log_slope(odds, order))]
        rows.append(row)
    return np.array(small), np.array(rows).T


@cases
def test_square_loss_orders_of_the_remainders(make, end):
    small, found = remainders(make(), "square", end, np.log([3e-4, 1e-4, 3e-5]))
    orders = [slope(small, r) for r in found]
    # Proposition 1: w and b to first order, then second; Proposition 3: A / (8 rho^2), then B / rho.
    assert orders[:2] == pytest.approx([2, 2], abs=0.02)
    assert orders[3:5] == pytest.approx([3, 3], abs=0.05)
    assert orders[2] == pytest.approx(-1, abs=0.02)
    assert abs(orders[5]) < CONSTANT


@cases
def test_erf_loss_orders_of_the_remainders(make, end):
    small, found = remainders(make(), "erf", end, log_ndtr([-30, -60, -120, -240]))
    orders = [slope(small, r) for r in found]
    # Proposition 2 in 1 / T, Phi(-T) = rho; Proposition 4: A T^4 / 2 = 2 A log^2, then B T^2.
    assert orders[:2] == pytest.approx([3, 1], abs=0.02)
    assert orders[3:5] == pytest.approx([5, 3], abs=0.05)
    assert orders[2] == pytest.approx(-2, abs=0.02)
    assert abs(orders[5]) < CONSTANT


def test_propositions_2_and_4_in_the_logarithm_of_the_asymmetry():
    """As printed (and corrected) in L = log(1 / gamma): relative remainders of the order log(L) / L."""
    population = mixtures(prior_plus=0.5)
    expansion = population_expansion(population, "erf")
    L = np.array([1e3, 1e4, 1e5, 1e6])
    ratios = []
    for each in L:
        at = solution_at(population, -each, "erf")
        w = np.abs(at.w * np.sqrt(2 * each) - expansion.a).max() / np.abs(expansion.a).max()
        ratios.append([w, abs(at.b / np.sqrt(2 * each) + 1), abs(at.log_slope / (2 * expansion.A * each**2) - 1)])
    for column in np.array(ratios).T:
        assert slope(L, column / np.log(L)) == pytest.approx(-1, abs=0.06)


def test_the_limit_of_b_w():
    """b w tends to theta, with a remainder of the order 1 / b^2 (Proposition 2's proof)."""
    population = mixtures()
    expansion = population_expansion(population, "erf")
    b, missed = [], []
    for T in (20, 60, 180, 540):
        at = solution_at(population, float(log_ndtr(-T)) - population.log_prior_odds, "erf")
        b.append(at.b)
        # The paper has the positives' mean at the origin.
        missed.append(np.abs((at.b + at.w @ population.positives.mean) * at.w + expansion.a).max())
    assert slope(np.abs(b), missed) == pytest.approx(-2, abs=0.02)


# ---- The regime A = 0, which the paper leaves open -------------------------------------------------------------------


def test_A_zero_square_loss_has_the_bracket_of_two_gaussians():
    for population in (open_bracket(), pair()):
        expansion = population_expansion(population)
        moments = population.moments
        a, D = expansion.a, moments.Sigma_plus - moments.Sigma_minus
        V = a @ moments.Sigma_minus @ a
        assert a @ D @ a == pytest.approx(0, abs=1e-12)
        root = np.linalg.cholesky(moments.Sigma_minus)
        expected = 0.5 * (1 - np.sum(np.linalg.solve(root, D @ a) ** 2) / (2 * V**2))
        assert expansion.A == 0
        assert pytest.approx(expected, rel=1e-12) == expansion.B
    assert pytest.approx(-0.5) == population_expansion(open_bracket()).B


def test_A_zero_equal_covariances():
    """B = 1/2: the testing asymmetry falls like exp(-p_minus / (2 p_plus gamma)), though the best rule is linear."""
    population = Population(Mixture([1.0, 0.5], np.eye(2)), Mixture([0.0, 0.0], np.eye(2)))
    expansion = population_expansion(population)
    assert (0, pytest.approx(0.5)) == (expansion.A, expansion.B)
    gammas = np.array([1e-3, 3e-4, 1e-4])
    slopes = np.array([population_solution(population, g).log_slope for g in gammas])
    assert slopes * gammas == pytest.approx(0.5, rel=5e-3)


def test_A_zero_erf_loss_is_a_power_of_the_asymmetry():
    """Two Gaussians: B = 1 whatever their shapes, so beta is about gamma^2."""
    for population in (open_bracket(), pair()):
        expansion = population_expansion(population, "erf")
        assert (0, pytest.approx(1)) == (expansion.A, expansion.B)
    population = open_bracket()
    L = np.array([1e3, 1e4, 1e5])
    power = [solution_at(population, -each, "erf").log_slope / each for each in L]
    assert np.abs(np.array(power) - 2)[-1] < 1e-3
    assert slope(L, (np.array(power) - 2) / np.log(L)) == pytest.approx(-1, abs=0.1)


def test_the_two_losses_may_disagree_where_A_is_zero():
    population = open_bracket()
    assert population_expansion(population, "square").regime.startswith(
        "A = 0, B < 0: the testing asymmetry tends to 1"
    )
    assert population_expansion(population, "erf").regime.startswith("A = 0, B > 0: the testing asymmetry tends to 0")
    square = solution_at(population, np.log(1e-2), "square")
    erf = solution_at(population, np.log(1e-12), "erf")
    assert square.testing_asymmetry > 1 - 1e-6
    assert erf.testing_asymmetry < 1e-20


# ---- Regimes and distances -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["square", "erf"])
def test_regimes_of_A(loss):
    for A in (0.12, -6.0, 0.9, -0.96):
        population = with_regime(A)
        expansion = population_expansion(population, loss)
        assert pytest.approx(A, rel=1e-12) == expansion.A
        at = solution_at(population, -12.0 if loss == "square" else -300.0, loss)
        assert at.testing_asymmetry == (0 if A > 0 else 1)
        assert ("tends to 0" in expansion.regime) == (A > 0)
        # Tangent at (0, 0): vertical or horizontal.
        assert np.sign(at.log_slope) == np.sign(A)


def test_the_distance_of_the_means_weakens_the_effect():
    """Two Gaussians: A is divided by the square of the distance."""
    near = with_regime(-0.96)
    for factor in (0.5, 2.0, 5.0):
        far = near.moved(factor)
        assert far.moments.delta == pytest.approx(factor * near.moments.delta)
        for loss in ("square", "erf"):
            ratio = population_expansion(far, loss).A / population_expansion(near, loss).A
            assert ratio == pytest.approx(factor**-2)
    # And at a given training asymmetry the testing one comes nearer to it.
    found = [population_solution(near.moved(f), 0.2).testing_asymmetry for f in (0.5, 1.0, 2.0)]
    assert found[0] > found[1] > found[2] > 0.05
    assert found[0] > 0.9


def test_the_component_with_the_largest_variance_dominates():
    population = mixtures()
    a = population_expansion(population).a
    variances = [np.einsum("a,iab,b->i", a, m.covariances, a) for m in (population.negatives, population.positives)]
    assert pytest.approx(1 / variances[0].max() - 1 / variances[1].max()) == population_expansion(population).A


# ---- The convex problem of appendix A --------------------------------------------------------------------------------


def test_the_xi_problem_is_that_of_the_paper():
    """Newton's method against the objective H of appendix A, with its matrix-fractional term, in CVXPY."""
    for population in (mixtures(), mixtures().swapped()):
        mixture, centre = population.negatives, population.positives.mean
        means = mixture.means - centre
        xi = cp.Variable(mixture.k)
        S = sum(xi[i] * mixture.covariances[i] for i in range(mixture.k))
        fraction = cp.matrix_frac(means.T @ xi, S)
        problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(xi, mixture.weights)) + fraction / 2), [cp.sum(xi) == 1])
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        found = tilt(mixture, centre)
        assert found.value == pytest.approx(problem.value, abs=1e-8)
        assert found.xi == pytest.approx(xi.value, abs=1e-5)
        # Equations (11) and (12), to rounding.
        theta = -found.a
        S = np.einsum("i,iab->ab", found.xi, mixture.covariances)
        assert theta == pytest.approx(np.linalg.solve(S, found.xi @ means), rel=1e-12)
        logs = np.log(mixture.weights) - means @ theta + 0.5 * (mixture.covariances @ theta) @ theta
        assert found.xi == pytest.approx(np.exp(logs) / np.exp(logs).sum(), rel=1e-12)


def test_the_value_is_the_rate_of_large_deviations():
    """The dual is the cumulant generating function of draws; the tilted negatives have the positives' mean."""
    population = mixtures()
    found = tilt(population.negatives, population.positives.mean)
    X = population.negatives.draw(400_000, 4) - population.positives.mean
    weights = np.exp(X @ found.a)
    assert -np.log(weights.mean()) == pytest.approx(found.value, abs=0.03)
    # A generic minimiser agrees.
    mixture, means = population.negatives, population.negatives.means - population.positives.mean

    def cumulants(a):
        exponents = means @ a + 0.5 * np.einsum("a,iab,b->i", a, mixture.covariances, a)
        return np.log(mixture.weights @ np.exp(exponents))

    best = minimize(cumulants, np.zeros(2), method="BFGS", options={"gtol": 1e-10})
    assert found.a == pytest.approx(best.x, abs=1e-5)
    assert found.value == pytest.approx(-best.fun, abs=1e-10)


def test_the_logistic_loss_has_the_same_limiting_direction():
    population = mixtures()
    a = population_expansion(population, "erf").a
    at = solution_at(population, -200.0, "logistic")
    assert at.w == pytest.approx(a, rel=1e-9)


@pytest.mark.parametrize("end", [0, 1])
def test_the_formulation_agrees_and_proves(end):
    population = mixtures()
    expansion = population_expansion(population, "erf", end)
    limit = pc.formulations.ExtremeAsymmetry(population, end)
    for form in ("primal", "dual"):
        solution = limit.solve(form=form, polish=False)
        assert solution.value == pytest.approx(expansion.value, abs=1e-8)
        assert solution.numbers["xi"] == pytest.approx(expansion.xi, abs=1e-5)
        assert solution.numbers["a"] == pytest.approx(expansion.a, abs=1e-5)
        assert limit.solve(form=form).certificate.passes(1e-12)
    # The multiplier of the sum, in the sign of CVXPY.
    limit.primal.solve(solver="CLARABEL")
    multipliers = {c.label: c.dual_value for c in limit.primal.constraints}
    assert float(multipliers["sum"]) == pytest.approx(-expansion.value - 1, abs=1e-5)
    assert multipliers["balance"] == pytest.approx(-expansion.a, abs=1e-4)
    # The classifier: the limiting slope, towards the positives at either end.
    rule = limit.solve().classifier
    assert rule.w == pytest.approx(expansion.a * (1 if end == 0 else -1))
    centre = population.positives.mean if end == 0 else population.negatives.mean
    assert rule.decision_function([centre])[0] == pytest.approx(0, abs=1e-12)
    assert rule.w @ population.moments.delta > 0


def test_wrong_weights_are_not_certified():
    from paretoclf.distributions.population.judges import judge_tilt

    population = mixtures()
    found = tilt(population.negatives, population.positives.mean)
    wrong = judge_tilt(population.negatives, population.positives.mean, np.array([0.5, 0.5]), -found.a).certificate
    assert not wrong.passes()
    assert wrong.gap > 1e-3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: population_expansion(pair(), "hinge"), "loss must be one of square, erf, got 'hinge'"),
        (lambda: population_expansion(pair(), "erf", 2), "end must be 0 or 1, got 2"),
        (lambda: pc.formulations.ExtremeAsymmetry(pair(), -1), "end must be 0 or 1, got -1"),
        (lambda: pc.formulations.ExtremeAsymmetry("pair"), "population must be a Population, got str"),
        (lambda: population_expansion(pair()).classifier(-5.0, order=3), "order must be 1 or 2, got 3"),
        (
            lambda: pc.formulations.ExtremeAsymmetry(Population(Mixture([0.0], [[1.0]]), Mixture([0.0], [[2.0]]))),
            "mu_plus and mu_minus must differ",
        ),
    ],
)
def test_bad_input_is_named(make, said):
    with pytest.raises(pc.InputError, match=said):
        make()
