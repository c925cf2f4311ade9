"""Bounds of the slopes of optimal values of problems with cones, against closed forms and differences of solves."""

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


@pytest.fixture(scope="module")
def nearest():
    x = cp.Variable(3, name="x")
    tau, lam = (cp.Parameter(nonneg=True, name=name, value=value) for name, value in (("tau", 2.0), ("lam", 0.3)))
    objective = cp.norm2(x - [3, 2, 1]) + lam * cp.norm1(x)
    return cp.Problem(cp.Minimize(objective), [cp.norm2(x) <= tau]), tau, lam


@pytest.mark.parametrize("by", [(1.0, 0.0), (-2.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_slopes_are_within_their_bounds(nearest, by):
    problem, tau, lam = nearest
    found = pc.derivatives(problem, {tau: by[0], lam: by[1]})
    values, h = [], 1e-4
    for sign in (-1, 1):
        tau.value, lam.value = 2.0 + sign * h * by[0], 0.3 + sign * h * by[1]
        settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
        values.append(problem.solve(solver="CLARABEL", **settings))
    tau.value, lam.value = 2.0, 0.3
    slope = (values[1] - values[0]) / (2 * h)
    assert found.lower - 1e-6 <= slope <= found.upper + 1e-6
    assert found.upper - found.lower < 1e-4


def test_an_exponential_has_its_derivative():
    z, b = cp.Variable(name="z"), cp.Parameter(name="b", value=1.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(cp.exp(z)), [z >= b, z <= 5]), {b: 1.0})
    assert found.lower <= np.e <= found.upper
    assert found.upper - found.lower < 1e-4


def test_a_quadratic_price_that_moves_has_a_slope():
    """That of half a ridge penalty is half of the squared length of the slope that solves the normal equations."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    w, mu = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="mu", value=2.0)
    ridge = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + mu / 2 * cp.sum_squares(w)))
    found = pc.derivatives(ridge, {mu: 1.0})
    slope = 0.5 * np.sum(np.linalg.solve(X.T @ X + 2 * np.eye(3), X.T @ y) ** 2)
    assert found.lower <= slope <= found.upper
    assert found.upper - found.lower < 1e-4


def test_a_kink_has_both_slopes_between_its_bounds():
    z, a = cp.Variable(2, name="z"), cp.Parameter(name="a", value=0.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(1 + cp.norm2(z)), [z[0] == a]), {a: 1.0})  # 1 + |a|
    assert found.lower <= -1 + 1e-6
    assert found.upper >= 1 - 1e-6
    assert max(abs(found.lower), abs(found.upper)) < 1.01


def test_what_has_no_such_bounds_is_refused(nearest):
    problem, tau, lam = nearest
    tau.value = 0.0
    with pytest.raises(pc.InputError, match="may move both ways"):
        pc.derivatives(problem, {tau: 1.0})
    tau.value = 2.0
    with pytest.raises(pc.InputError, match="not 0"):
        pc.derivatives(problem, {lam: 0.0})
    x, b = cp.Variable(2, name="x"), cp.Parameter(name="b", value=1.0)
    with pytest.raises((pc.InputError, pc.errors.DegeneratePathError)):  # a disc and a line that touches it
        pc.derivatives(cp.Problem(cp.Minimize(x[1]), [cp.norm2(x) <= 1, x[0] >= b]), {b: 1.0})


def test_no_line_is_longer_than_the_parameters_allow():
    """A weight of 1e-3 that may not fall below 0, beside one of size 1."""
    x, a, b = (
        cp.Variable(2, name="x"),
        cp.Parameter(nonneg=True, name="a", value=1e-3),
        cp.Parameter(name="b", value=1.0),
    )
    problem = cp.Problem(cp.Minimize(cp.norm2(x - 1) + a * cp.norm1(x) + 1), [x[0] <= b, cp.abs(x) <= 5])
    found = pc.derivatives(problem, {a: 1.0, b: 1.0})
    assert found.lower <= 2 + 1e-6  # on the right of b x stays, and |x| costs 2 more; on its left it is nearer to 1
    assert found.upper >= 2 - 1e-6
    assert np.isfinite([found.lower, found.upper]).all()
