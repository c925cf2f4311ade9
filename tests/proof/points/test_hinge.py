"""One judge for hinge slacks: with any weight of the norm, with each kind of intercept, in one double and in two."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.problem.exact_sums import quotient
from paretoclf.problem.operator import Features, Matrix
from paretoclf.proof.points.hinge import certify_hinge_precisely, certify_hinges, judge_hinge
from paretoclf.proof.soft_margin import SoftMargin

INTERCEPTS = ("free", "none", "feature")


def instance(seed, intercept, lam):
    rng = np.random.default_rng(seed)
    n = 8
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1.0, -1.0)
    caps, alpha = rng.uniform(0.1, 2.0, n), rng.uniform(-0.1, 2.0, n)
    b = 0.0 if intercept == "none" else float(rng.normal())
    return SoftMargin(y, Features(X), caps, lam=lam, intercept=intercept), alpha, b


def of(certificate):
    values = {name: getattr(certificate, name) for name in ("primal_value", "dual_value", "gap", "scale", "rounding")}
    return {**values, "certain": certificate.certain, **certificate.conditions}


@pytest.mark.parametrize("intercept", INTERCEPTS)
@given(st.integers(0, 10**6))
def test_values_are_those_of_the_two_programs_and_bound_the_optimum(intercept, seed):
    """The primal value is the objective written out; both bound CVXPY's optimum."""
    problem, alpha, b = instance(seed, intercept, 0.7)
    X, y = problem.Q.X, problem.y
    found = judge_hinge(problem, alpha, b).certificate
    slope = X.T @ (y * alpha) / 0.7
    loss = problem.caps @ np.maximum(0.0, 1.0 - y * (X @ slope + b))
    own = b**2 if intercept == "feature" else 0.0
    assert found.primal_value == pytest.approx(0.35 * (slope @ slope + own) + loss, rel=1e-12)
    w, c = cp.Variable(2), cp.Variable()
    objective = 0.35 * cp.sum_squares(w) + problem.caps @ cp.pos(1 - cp.multiply(y, X @ w + c))
    if intercept == "feature":
        objective += 0.35 * cp.square(c)
    best = cp.Problem(cp.Minimize(objective), [c == 0] if intercept == "none" else []).solve(solver="CLARABEL")
    assert found.dual_value <= best + 1e-6
    assert best <= found.primal_value + 1e-6


@pytest.mark.parametrize("intercept", INTERCEPTS)
@given(st.integers(0, 10**6), st.sampled_from([0.03, 0.5, 3.0]))
def test_the_weight_of_the_norm_is_a_unit(intercept, seed, lam):
    problem, alpha, b = instance(seed, intercept, lam)
    one = certify_hinges(replace(problem, caps=problem.caps[:, None]), alpha[:, None], np.array([b]))[0]
    unit = replace(problem.unit, caps=problem.unit.caps[:, None])
    other = certify_hinges(unit, (alpha / lam)[:, None], np.array([b]))[0].times(lam)
    assert of(one) == pytest.approx(of(other), rel=1e-9, abs=1e-12)


@given(st.integers(0, 10**6))
def test_the_weight_of_a_feature_of_ones_is_part_of_the_slope(seed):
    problem, alpha, _ = instance(seed, "feature", 0.5)
    more = np.column_stack([problem.Q.X, np.ones(problem.y.size)])
    one = judge_hinge(problem, alpha, np.nan).certificate
    other = judge_hinge(replace(problem, Q=Features(more), intercept="none"), alpha, 0.0).certificate
    for name in ("primal_value", "dual_value", "gap"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-10)
    assert one.conditions["box"] == other.conditions["box"]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kernel", [False, True])
def test_in_two_doubles_as_in_one(intercept, kernel):
    for seed in range(20):
        problem, alpha, b = instance(seed, intercept, 0.3)
        if kernel:
            problem = replace(problem, Q=Matrix(problem.Q.whole()))
        one = judge_hinge(problem, alpha, b).certificate
        other = certify_hinge_precisely(problem.unit, quotient(alpha, 0.3), b).times(0.3)
        assert of(one) == pytest.approx({**of(other), "certain": one.certain}, rel=1e-9, abs=1e-12)
        assert one.certain == pytest.approx(other.certain, abs=1e-9)


@pytest.mark.parametrize("unit", [1.0, 2.0**-10, 2.0**10])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_slack_that_rounds_to_0_is_paid_whatever_the_intercept_is(intercept, unit):
    """The double next to 1/3, times 3, is 1 - 2**-54: a slack of no double, and at a cost of 1e17 more than w costs.

    In any unit of the features: w is over it, costs and multipliers over its square.
    """
    third = 1.0 / 3
    assert 3.0 * third == 1.0
    y, X = np.array([1.0, -1.0]), unit * np.array([[third], [-third]])
    problem = SoftMargin(y, Features(X), np.full(2, 1e17) / unit**2, intercept=intercept)
    found = judge_hinge(problem, np.full(2, 4.5) / unit**2, 0.0, np.array([3.0]) / unit).certificate
    assert found.primal_value * unit**2 == pytest.approx(4.5 + 2e17 * 2.0**-54, rel=1e-12)
    assert not found.passes()
