"""Tests of `paretoclf.distributions.population.losses`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from paretoclf.distributions.population import (
    Mixture,
    Population,
    population_solution,
)
from paretoclf.distributions.population.losses import LOSSES, expected
from paretoclf.distributions.population.solution import solution_at
from tests.oracles.populations import PHI, Grid, mixtures, pair


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_losses_agree_with_quadrature(loss):
    phi = PHI[loss]
    for s, sigma in ((0.3, 0.8), (-2.0, 1.5), (3.0, 0.2), (1.0, 4.0)):
        kinks = [(1 - s) / sigma] if loss == "hinge" and abs(1 - s) < 10 * sigma else []

        def mean(function, kinks=kinks):
            return quad(
                lambda z: function(z) * norm.pdf(z), -12, 12, points=kinks, epsabs=1e-13, epsrel=1e-12, limit=500
            )[0]

        at = expected(loss, np.array([s]), np.array([sigma]))
        scale = np.exp(at.log_scale[0])
        assert at.value[0] * scale == pytest.approx(mean(lambda z, s=s, sigma=sigma: phi(s + sigma * z)), rel=1e-9)
        # Derivatives of the value by s and by sigma (Stein: E[Z phi'] = sigma E phi'').
        h = 1e-4
        up, down = (expected(loss, np.array([s + e]), np.array([sigma])) for e in (h, -h))
        values = [x.value[0] * np.exp(x.log_scale[0]) for x in (up, down)]
        slopes = [x.slope[0] * np.exp(x.log_scale[0]) for x in (up, down)]
        assert at.slope[0] * scale == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6)
        assert at.bend[0] * scale == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-5, abs=1e-9)
        wide, thin = (expected(loss, np.array([s]), np.array([sigma + e])) for e in (h, -h))
        values = [x.value[0] * np.exp(x.log_scale[0]) for x in (wide, thin)]
        assert sigma * at.bend[0] * scale == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-5, abs=1e-9)
        slopes = [x.slope[0] * np.exp(x.log_scale[0]) for x in (wide, thin)]
        assert at.bend_z[0] * scale == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-4, abs=1e-8)
        # d/dsigma E[Z phi'] = E[Z^2 phi''], and E[Z phi'] = sigma E phi''.
        pulls = [e * x.bend[0] * np.exp(x.log_scale[0]) for e, x in ((sigma + h, wide), (sigma - h, thin))]
        assert at.bend_zz[0] * scale == pytest.approx((pulls[0] - pulls[1]) / (2 * h), rel=1e-4, abs=1e-7)


def test_far_tails_keep_their_digits():
    # E(Z - t)_+ ~ phi(t) / t^2: beyond every double at t = 1000.
    at = expected("erf", np.array([1000.0]), np.array([0.0]))
    assert at.log_scale[0] == -0.5e6
    assert at.value[0] * np.sqrt(2 * np.pi) * 1e6 == pytest.approx(1 - 3e-6 + 15e-12, rel=1e-14)
    probit = expected("probit", np.array([-1000.0]), np.array([0.0]))
    assert probit.bend[0] == pytest.approx(1 - 1e-6, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [pair, mixtures])
def test_the_minimiser_is_that_of_a_grid(make, loss):
    population = make()
    grid = Grid(population)
    for asymmetry in (0.3, 0.6):
        found = population_solution(population, asymmetry, loss)
        theta, h = np.append(found.w, found.b), 1e-2 if loss == "hinge" else 1e-4

        def risk(theta, asymmetry=asymmetry):
            return grid.risk(loss, asymmetry, theta[:2], theta[2])

        kinked = loss == "hinge"  # which a sum over a grid sees less well
        assert found.risk == pytest.approx(risk(theta), rel=1e-4 if kinked else 1e-10)
        for direction in (*np.eye(3), np.ones(3)):
            up, down = risk(theta + h * direction), risk(theta - h * direction)
            assert min(up, down) > risk(theta)
            assert abs(up - down) / (2 * h) < (2e-3 if kinked else 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimality_conditions_hold_on_draws(loss):
    population, asymmetry = mixtures(), 0.35
    found = population_solution(population, asymmetry, loss)
    X, y = population.draw(400_000, 5)
    u, h = y * (X @ found.w + found.b), 1e-5
    slopes = (PHI[loss](u + h) - PHI[loss](u - h)) / (2 * h)
    costs = np.where(y > 0, asymmetry, 1 - asymmetry)
    terms = (costs * slopes * y)[:, None] * np.column_stack([X, np.ones(y.size)])
    assert np.all(np.abs(terms.mean(axis=0)) < 4.5 * terms.std(axis=0) / np.sqrt(y.size))


@pytest.mark.parametrize("loss", LOSSES)
def test_testing_asymmetries_are_slopes_of_the_curve(loss):
    population = mixtures()
    for asymmetry in (0.4, 0.5, 0.62):
        at = population_solution(population, asymmetry, loss)
        low, high = (population_solution(population, asymmetry + e, loss) for e in (-1e-5, 1e-5))
        slope = (high.tpr - low.tpr) / (high.fpr - low.fpr)
        beta = 1 / (1 + 0.3 / 0.7 * slope)
        assert at.testing_asymmetry == pytest.approx(beta, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_derivative_of_the_solution(loss):
    at, h = solution_at(mixtures(), -0.5, loss), 1e-5
    low, high = (solution_at(mixtures(), -0.5 + e, loss) for e in (-h, h))
    assert at.towards[0] == pytest.approx((high.w - low.w) / (2 * h), rel=1e-4, abs=1e-7)
    assert at.towards[1] == pytest.approx((high.b - low.b) / (2 * h), rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_units_and_origin_of_the_features_do_not_matter(loss):
    population = mixtures()
    T, shift = np.array([[1e3, 2e2], [0.0, 1e-3]]), np.array([1e6, -5.0])

    def moved(m):
        return Mixture(m.means @ T.T + shift, [T @ S @ T.T for S in m.covariances], m.weights)

    other = Population(moved(population.positives), moved(population.negatives), population.prior_plus)
    here, there = (population_solution(p, 0.35, loss) for p in (population, other))
    assert T.T @ there.w == pytest.approx(here.w, rel=1e-6, abs=1e-8)
    assert there.tpr == pytest.approx(here.tpr, abs=1e-7)
    assert there.testing_asymmetry == pytest.approx(here.testing_asymmetry, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_exchanging_the_classes_mirrors_everything(loss):
    population = mixtures()
    here = population_solution(population, 0.7, loss)
    there = population_solution(population.swapped(), 0.3, loss)
    assert there.w == pytest.approx(-here.w, rel=1e-8)
    assert there.b == pytest.approx(-here.b, rel=1e-8)
    assert there.testing_asymmetry == pytest.approx(1 - here.testing_asymmetry, rel=1e-7)
    assert there.rates == pytest.approx(here.rates[::-1])
