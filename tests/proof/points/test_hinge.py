"""One judge for hinge slacks: with any weight of the norm, with each kind of intercept, in one double and in two."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.problem.exact_sums import quotient
from paretoclf.problem.operator import Features, Matrix
from paretoclf.proof.points.hinge import certify_hinge_precisely, certify_hinges, hinge_value, judge_hinge
from paretoclf.proof.points.soft_margin import SoftMargin

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


# ---- sample by sample ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_residuals_are_those_of_each_sample(intercept, own, seed):
    """Conditions written out, of several points together and of one that is spelled out."""
    rng, lam, n = np.random.default_rng(seed), 0.5, 8
    problem, _, _ = instance(seed, intercept, lam)
    X, y, caps = problem.Q.X, problem.y, problem.caps
    alpha = np.stack([caps * share for share in rng.uniform(-0.1, 1.1, (3, n)).round(1)], axis=1)
    alpha[:, 1] = caps * rng.choice([0.0, 0.5, 1.0], n)
    b = rng.normal(size=3) * (intercept != "none")
    W = rng.normal(size=(2, 3)) if own else None
    many = replace(problem, caps=np.stack([caps] * 3, axis=1))
    for j, found in enumerate(certify_hinges(many, alpha, b, W)):
        w = X.T @ (y * alpha[:, j]) / lam if W is None else W[:, j]
        f = X @ w + b[j]
        margin = y * f - 1.0
        units = caps
        if intercept == "free":
            units = np.minimum(caps, np.where(y > 0, caps[y < 0].sum(), caps[y > 0].sum()))
        past = np.maximum(-alpha[:, j], alpha[:, j] - caps).clip(0.0) / units
        scaled = margin / (1.0 + np.abs(f))
        above = np.minimum(alpha[:, j].clip(0.0) / units, scaled)
        below = np.minimum((caps - alpha[:, j]).clip(0.0) / units, -scaled)
        meeting = np.maximum(above, below).clip(0.0)
        assert found.dual["box"] == pytest.approx(past.max(), rel=1e-12, abs=1e-15)
        assert found.slackness["complementarity"] == pytest.approx(meeting.max(), rel=1e-9)
        assert found.worst == np.maximum(past, meeting).argmax()
        assert f"y f - 1 = {margin[found.worst]:.3g}" in found.worst_side
        stationarity = 0.0
        if own:
            implied, size = X.T @ (y * alpha[:, j]) / lam, np.abs(X).max(axis=0)
            terms = np.abs(X).T @ np.abs(alpha[:, j]) / lam
            stationarity = (np.abs(w - implied) * size / (1.0 + terms * size)).max()
        if intercept != "free":
            constant = y @ alpha[:, j] / lam if intercept == "feature" else 0.0
            stationarity = max(stationarity, abs(b[j] - constant) / (1.0 + np.abs(alpha[:, j]).sum() / lam))
            assert "balance" not in found.dual
        else:
            least = min(caps[y > 0].sum(), caps[y < 0].sum())
            assert found.dual["balance"] == pytest.approx(abs(y @ alpha[:, j]) / least, rel=1e-12)
        assert found.dual["stationarity in w"] == pytest.approx(stationarity, rel=1e-9, abs=1e-14)
        spelled = judge_hinge(problem, alpha[:, j], float(b[j]), None if W is None else W[:, j])
        assert of(spelled.certificate) == pytest.approx(of(found), rel=1e-9, abs=1e-12)
        xi = np.maximum(0.0, -margin)
        np.testing.assert_allclose(spelled.numbers["xi"], xi, atol=1e-14)
        assert spelled.numbers["b"] == b[j]
        of_margin, of_slack = spelled.conditions
        np.testing.assert_allclose(of_margin.slack, margin + xi, atol=1e-14)
        np.testing.assert_allclose(of_slack.slack, xi, atol=1e-14)
        np.testing.assert_allclose(of_slack.multiplier, caps - alpha[:, j])
        for condition in spelled.conditions:
            np.testing.assert_allclose(condition.slack_unit, 1.0 + np.abs(f))
            np.testing.assert_allclose(condition.multiplier_unit, units)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("own", [False, True])
def test_dual_values_are_those_of_feasible_multipliers(intercept, own):
    for seed in range(5):
        problem, alpha, b = instance(seed, intercept, 0.5)
        X, y, lam = problem.Q.X, problem.y, 0.5
        if seed == 4:  # feasible as they are
            alpha = np.clip(alpha, 0.0, problem.caps)
            if intercept == "free":
                up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
                alpha = alpha * np.where(y > 0, min(1.0, down / up), min(1.0, up / down))
        inside = np.clip(alpha, 0.0, problem.caps)
        if intercept == "free":
            up, down = inside[y > 0].sum(), inside[y < 0].sum()
            inside = inside * np.where(y > 0, min(1.0, down / up), min(1.0, up / down))
        slope = X.T @ (y * inside) / lam
        norm2 = slope @ slope + ((y @ inside / lam) ** 2 if intercept == "feature" else 0.0)
        w = np.array([1.0, -0.5]) if own else None
        found = judge_hinge(problem, alpha, b, w).certificate
        assert found.dual_value == pytest.approx(inside.sum() - 0.5 * lam * norm2, rel=1e-12)
        if intercept == "free":
            value = hinge_value(problem, alpha, b, w)
            assert value == pytest.approx(found.primal_value, rel=1e-14)
    large = replace(problem, caps=1e17 * problem.caps, Q=Features(1e-9 * X))
    assert hinge_value(large, np.zeros(8), 1.0) is not None
    close = SoftMargin(np.array([1.0, -1.0]), Features(np.array([[1.0], [-1.0]])), np.full(2, 1e16))
    assert hinge_value(close, np.full(2, 0.5), 0.0) is None  # w = 1: no slack shows, and rounding may be the value


def test_the_sample_that_is_told_is_the_one_that_leaves_its_box():
    """Sample 0 has the same residual, but in complementarity alone: its multiplier is 0."""
    points = np.array([[-2.0], [-1], [1], [2]])
    report = pc.verify(points, [-1, -1, 1, 1], [(0.5, 0.5, [0, -0.5, -0.5, 0], 0.0)])
    assert report.verdict(0) == "not optimal: a multiplier leaves its box (by 1e+00), sample 1"
