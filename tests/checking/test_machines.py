"""Machines through the origin: both programs beside a plain CVXPY statement of LIBLINEAR's problem, and LIBLINEAR."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import LinearSVC

import paretoclf as pc
from paretoclf.checking.machines import ThroughTheOrigin

COSTS = {"C_plus": 0.7, "C_minus": 1.6}


@pytest.fixture
def samples():
    rng = np.random.default_rng(5)
    y = np.where(np.arange(18) % 3 == 0, 1, -1)
    return rng.normal(size=(18, 3)) + 0.5 * y[:, None], y, rng.uniform(0.5, 2.0, size=18)


def plain(X, y, weight, squared, bias):
    """Value, slope and weight of the constant feature, as the documentation of LIBLINEAR states the problem."""
    w, v = cp.Variable(X.shape[1]), cp.Variable()
    slacks = cp.pos(1 - cp.multiply(y, X @ w + bias * v))
    losses = cp.square(slacks) if squared else slacks
    costs = weight * np.where(y > 0, COSTS["C_plus"], COSTS["C_minus"])
    problem = cp.Problem(cp.Minimize((cp.sum_squares(w) + cp.square(v)) / 2 + costs @ losses))
    problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value, w.value, float(v.value)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("bias", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_both_programs_have_the_value_of_the_problem(samples, squared, bias, form):
    X, y, weight = samples
    made = ThroughTheOrigin(X, y, weight, squared=squared, bias=bias)
    assert made.primal.is_dpp()
    assert made.dual.is_dpp()
    solution = made.solve(**COSTS, form=form)
    value, w, v = plain(X, y, weight, squared, bias)
    assert solution.value == pytest.approx(value, rel=1e-7)
    assert solution.dual_value == pytest.approx(value, rel=1e-7)
    assert solution.certificate.passes(1e-5)
    if form == "primal":
        assert solution.classifier.w == pytest.approx(w, abs=1e-4)
        assert solution.classifier.b == pytest.approx(bias * v, abs=1e-4)


@pytest.mark.parametrize("squared", [False, True])
def test_numbers_of_a_slope_and_an_intercept(samples, squared):
    X, y, weight = samples
    w, b = np.array([0.4, -0.2, 1.0]), 0.6
    made = ThroughTheOrigin(X, y, weight, squared=squared, bias=2.0)
    numbers = made.numbers(w, b)
    assert numbers["v"] == 0.3
    assert numbers["w"] is w
    assert numbers["xi"] == pytest.approx(np.maximum(0, 1 - y * (X @ w + b)))
    assert made.classifier(COSTS, numbers).b == pytest.approx(b)
    assert ThroughTheOrigin(X, y, squared=squared).numbers(w, 0.0)["v"] == 0.0
    costs = weight * np.where(y > 0, COSTS["C_plus"], COSTS["C_minus"])
    objective = (w @ w + 0.09) / 2 + costs @ numbers["xi"] ** (2 if squared else 1)
    judged = pc.verify(made, [{**COSTS, **numbers}])[0]
    assert judged.primal_value == pytest.approx(objective, rel=1e-9)
    assert judged.verdict() == "not optimal"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_liblinear_solves_it(samples, loss):
    X, y, weight = samples
    fit = LinearSVC(loss=loss, C=1.0, class_weight={1: 0.7, -1: 1.6}, intercept_scaling=2.0, tol=1e-10, max_iter=10**6)
    fit.fit(X, y, sample_weight=weight)
    made = ThroughTheOrigin(X, y, weight, squared=loss == "squared_hinge", bias=2.0)
    solution = made.solve(**COSTS)
    assert solution.classifier.w == pytest.approx(fit.coef_[0], abs=1e-4)
    assert solution.classifier.b == pytest.approx(fit.intercept_[0], abs=1e-4)


def test_costs_must_be_positive(samples):
    X, y, _ = samples
    with pytest.raises(pc.InputError, match="C_plus must be a finite positive number"):
        ThroughTheOrigin(X, y, squared=True).solve(C_plus=0.0, C_minus=1.0)
