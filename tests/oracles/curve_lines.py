"""Problems whose data are affine in one parameter, P or A included, from 0 to 1 in t: small ones of many kinds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def two_norms():
    x, lam = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="lam")
    near, far = np.array([3.0, 2, 1]), np.array([-1.0, 1, 0])
    objective = cp.norm2(x - near) + lam * cp.norm2(x - far) + 0.3 * cp.sum_squares(x)
    return cp.Problem(cp.Minimize(objective)), {lam: 0.2}, {lam: 3.0}


def square_root_lasso(seed=0, n=20, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :3] @ [3, -2, 1] + rng.normal(size=n)
    w, lam = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(cp.norm2(X @ w - y) + lam * cp.norm1(w))), {lam: 3.0}, {lam: 0.2}


def elastic_net(seed=3, n=20, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :3] @ [3, -2, 1] + 2 * rng.normal(size=n)
    w, mu = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="mu")
    objective = cp.sum_squares(X @ w - y) / 2 + 8 * cp.norm1(w) + mu / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective)), {mu: 0.01}, {mu: 50.0}


def robust_svm(seed=5, n=14):
    rng = np.random.default_rng(seed)
    y = np.sign(rng.normal(size=n))
    X = rng.normal(size=(n, 2)) + 1.0 * y[:, None]
    w, b, radius = cp.Variable(2, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="radius")
    xi = cp.Variable(n, name="xi", nonneg=True)
    margin = (y[:, None] * X) @ w + y * b >= 1 - xi + radius * cp.norm2(w)
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(xi)), [margin]), {radius: 0.05}, {radius: 0.5}


def largest_eigenvalue(seed=7, n=3):
    rng = np.random.default_rng(seed)
    matrices = [(G + G.T) / 2 for G in rng.normal(size=(3, n, n))]
    v, cost = cp.Variable(2, name="v"), cp.Parameter(name="cost")
    matrix = matrices[0] + v[0] * matrices[1] + v[1] * matrices[2]
    objective = cp.lambda_max(matrix) + 0.1 * cp.sum_squares(v) + cost * v[0]
    return cp.Problem(cp.Minimize(objective)), {cost: -0.5}, {cost: 0.5}


def entropy(seed=11, n=6):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    p, mean = cp.Variable(n, name="p"), cp.Parameter(name="mean")
    constraints = [cp.sum(p) == 1, (values @ p == mean).set_label("mean")]
    ends = {mean: float(values.mean())}, {mean: float(np.sort(values)[-2])}
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), constraints), *ends


def moving_rows(seed=0, n=4, m=6):
    """A linear program whose whole matrix moves."""
    rng = np.random.default_rng(seed)
    first, step = rng.normal(size=(2, m, n))
    x, t = cp.Variable(n, name="x"), cp.Parameter(nonneg=True, name="t")
    rows = first @ x + t * (step @ x) <= 1
    return cp.Problem(cp.Minimize(rng.normal(size=n) @ x), [rows.set_label("rows"), x <= 3, x >= -3]), {t: 0}, {t: 1}


def moving_equation(seed=1, n=4):
    """A portfolio whose budget weighs its shares by a parameter: an equation whose coefficients move."""
    rng = np.random.default_rng(seed)
    root, gain = rng.normal(size=(n, n)), rng.normal(size=n)
    x, t = cp.Variable(n, name="x"), cp.Parameter(nonneg=True, name="t")
    weights = np.ones(n), rng.uniform(-0.3, 0.3, n)
    budget = (weights[0] @ x + t * (weights[1] @ x) == 1).set_label("budget")
    return cp.Problem(cp.Minimize(cp.sum_squares(root @ x) - gain @ x), [budget, x >= 0]), {t: 0}, {t: 1}


def robust_plan():
    """A linear program with uncertain coefficients: above a norm whose constraint is not active a variable is free."""
    rows, sides = np.array([[2.0, 3, 1], [4, 1, 2], [3, 4, 2]]), [5, 11, 8]
    x, radius = cp.Variable(3, nonneg=True, name="x"), cp.Parameter(nonneg=True, name="radius")
    kept = [
        row @ x + radius * cp.norm2(cp.multiply(0.1 * row, x)) <= side for row, side in zip(rows, sides, strict=True)
    ]
    return cp.Problem(cp.Maximize([5, 4, 3] @ x), kept), {radius: 0.01}, {radius: 3}


LINES = {
    make.__name__: make
    for make in (
        two_norms,
        square_root_lasso,
        elastic_net,
        robust_svm,
        largest_eigenvalue,
        entropy,
        moving_rows,
        moving_equation,
        robust_plan,
    )
}


def move(line, t):
    """The problem with its parameters at t."""
    problem, start, stop = line
    for parameter, first in start.items():
        parameter.value = (1 - t) * np.asarray(first, float) + t * np.asarray(stop[parameter], float)
    return problem
