"""The ROC curve of a population over the training asymmetry: hull, consistency, costs, and curves of one slope."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.distributions.population import (
    Mixture,
    Population,
    intercept_curve,
    likelihood_ratio_curve,
    population_curve,
    population_solution,
)
from tests.oracles.populations import mixtures, with_regime


def test_hull_and_consistency():
    curve = population_curve(with_regime(-1.0), "square")
    u, v = curve.hull
    assert np.all(np.diff(np.diff(v) / np.diff(u)) < 0)
    assert np.all(np.interp(curve.fpr, u, v) >= curve.tpr - 1e-12)
    # A < 0: near 0 the curve is below the diagonal, and no costs make those points optimal.
    extreme = curve.asymmetries < 0.05
    assert np.all(curve.tpr[extreme] <= curve.fpr[extreme])
    assert not curve.consistent[extreme].any()
    assert curve.consistent[curve.asymmetries > 0.6].all()
    # On the hull the testing asymmetry grows with the training asymmetry: the hull is concave.
    assert np.all(np.diff(curve.log_slope[curve.consistent]) < 0)


def test_the_best_training_asymmetry_is_less_extreme_than_the_testing_one():
    curve = population_curve(with_regime(0.5), "square")
    X, y = curve.population.draw(100_000, 2)
    for beta in (0.02, 0.05):
        best, costs = curve.best(beta), curve.expected_costs(beta)
        assert best.asymmetry > 2 * beta
        assert costs.min() < costs[np.argmin(np.abs(curve.asymmetries - beta))] - 1e-5
        wrong = best.classifier.predict(X) != y
        assert costs.min() == pytest.approx(np.mean(np.where(y > 0, beta, 1 - beta) * wrong), abs=1e-3)
    # A < 0: at such testing asymmetries calling everything negative costs least, and all who do so are equally good.
    curve = population_curve(with_regime(-1.0), "square")
    costs = curve.expected_costs(0.02)
    assert costs.min() == pytest.approx(0.02 * 0.5, rel=1e-12)
    assert curve.best(0.02).tpr < 1e-9
    assert 0.02 < curve.best(0.02).asymmetry < 0.1


def test_at_moderate_asymmetries_the_mismatch_can_be_inverted():
    population = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.diag([4.0, 1.0])))
    curve = population_curve(population, "square", np.linspace(0.3, 0.9, 121))
    where = curve.asymmetries[curve.inverted]
    assert 0 < where.size < 121
    assert 0.2 < where.min() <= where.max() < 0.95
    # There a use at beta is served best by training at a more extreme asymmetry.
    j = int(np.flatnonzero(curve.inverted)[where.size // 2])
    beta, gamma = curve.testing_asymmetries[j], curve.asymmetries[j]
    assert abs(gamma - 0.5) > abs(beta - 0.5)
    assert np.argmin(curve.expected_costs(beta)) == pytest.approx(j, abs=1)


def test_varying_both_contains_varying_either():
    population = mixtures()
    curve = population_curve(population, "hinge", np.linspace(0.2, 0.9, 15))
    u, v = curve.both()
    assert (u[0], v[0], u[-1], v[-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(np.diff(v) / np.diff(u)) < 0)
    assert np.all(np.interp(curve.fpr, u, v) >= curve.tpr - 1e-12)
    area = np.trapezoid(v, u)
    assert area >= curve.auc - 1e-12
    for w in curve.w[2:12:3]:
        moved = intercept_curve(population, w)
        assert np.all(np.interp(moved.fpr, u, v) >= moved.tpr - 1e-12)
        assert area >= np.trapezoid(moved.tpr, moved.fpr)
    # Nothing was invented: no classifier of the family is below the bound of all of them.
    bound = likelihood_ratio_curve(population, 801)
    assert np.all(v <= bound.tpr_at(u) + 5 * bound.error)


def test_the_intercept_curve_and_its_area():
    population = mixtures()
    w = population_solution(population, 0.5).w
    curve = intercept_curve(population, w)
    plus, minus = population.positives.draw(300_000, 1) @ w, population.negatives.draw(300_000, 2) @ w
    assert curve.auc == pytest.approx(np.mean(plus > minus), abs=3e-3)
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr), abs=2e-4)
    assert (curve.fpr[0], curve.tpr[-1]) == pytest.approx((0, 1), abs=1e-12)
    assert np.all(np.diff(curve.fpr) >= 0)
    rule = curve.point(200)
    assert population.rates(rule.w, rule.b) == pytest.approx((curve.fpr[200], 1 - curve.tpr[200]))
