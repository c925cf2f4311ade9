"""Paths of items as engines store them, of many kinds, and falsified ones."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.problem.parametric_qp import ParametricQP


def samples(n, d, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def box(kernel=None, n=40):
    """The dual of an SVM: an operator P, one equation, caps that move."""
    X, y = samples(n, 3)
    return pc.TwoCSVM(X, y, kernel).line((0.05, 1.0), (1.0, 0.05)).problem


def ray():
    """The same from costs of 0: all is 0 at t = 0."""
    X, y = samples(30, 3)
    return pc.TwoCSVM(X, y).line((0.0, 0.0), (1.0, 2.0)).problem


def reduced(problem, start, stop):
    return reduce(pc.trace(problem, start=start, stop=stop, certify=False, progress=False).program).problem


def hinges(n=60):
    """An SVM as CVXPY states it, without its epigraphs: soft rows whose price moves."""
    X, y = samples(n, 4)
    w, b, C = cp.Variable(4), cp.Variable(), cp.Parameter(nonneg=True)
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return reduced(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * loss)), {C: 0.01}, {C: 2.0})


def quantile(n=80):
    """Quantile regression: soft rows on both sides, no curvature."""
    X, y = samples(n, 3)
    b, tau = cp.Variable(3), cp.Parameter(nonneg=True)
    error = X @ [1.0, -1.0, 2.0] + y - X @ b
    return reduced(cp.Problem(cp.Minimize(cp.sum(cp.abs(error) / 2 + (tau - 0.5) * error))), {tau: 0.1}, {tau: 0.9})


def fused(n=50):
    """Fused lasso: sparse, all variables inside."""
    rng = np.random.default_rng(3)
    x, weight = cp.Variable(n), cp.Parameter(nonneg=True)
    target = np.cumsum(rng.normal(size=n) * (rng.random(n) < 0.2)) + rng.normal(size=n)
    made = cp.sum_squares(x - target) / 2 + weight * cp.norm1(cp.diff(x))
    return reduced(cp.Problem(cp.Minimize(made)), {weight: 0.0}, {weight: 4.0})


def lasso(n=30, d=12):
    """A lasso: soft variables."""
    X, y = samples(n, d)
    w, weight = cp.Variable(d), cp.Parameter(nonneg=True)
    return reduced(
        cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + weight * cp.norm1(w))), {weight: 20.0}, {weight: 0.1}
    )


def portfolio(n=20):
    """Weights of one sum and a moving return, none negative: bounds on one side."""
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(n, 4))
    A = np.stack([np.ones(n), rng.random(n)])
    lower, upper = np.zeros((2, n + 2)), np.full((2, n + 2), np.inf)
    lower[:, n:] = upper[:, n:] = [[1.0, 0.5], [1.0, 0.8]]
    return ParametricQP.hard(factors @ factors.T + np.diag(0.1 + rng.random(n)), A, np.zeros((2, n)), lower, upper)


def caps(n=25, m=8, sparse=True):
    """Rows that become tight and loose, equations and free items among them; all bounds and q move."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.4)
    P = np.diag(0.2 + rng.random(n))
    lower, upper = -rng.random((2, n + m)), rng.random((2, n + m))
    lower[:, n], upper[:, n] = 0.1, 0.1
    lower[:, [0, n + 1]], upper[:, [0, n + 1]] = -np.inf, np.inf
    matrices = (sp.csc_array(P), sp.csc_array(A)) if sparse else (P, A)
    return ParametricQP.hard(*matrices, rng.normal(size=(2, n)), lower, upper, constant=np.array([1.0, -3.0]))


#: Problems by what they are.
PROBLEMS = {
    "box, features": box,
    "box, kernel": lambda: box(pc.RBF(1.5)),
    "ray": ray,
    "hinges": hinges,
    "quantile": quantile,
    "fused": fused,
    "lasso": lasso,
    "portfolio": portfolio,
    "caps, sparse": caps,
    "caps, dense": lambda: caps(sparse=False),
}


def path_of(problem):
    return follow(problem, progress=False).path


def falsified(path, rng):
    """A path with one thing changed, by a random size: a number, a label, a t; or a number that is none."""
    size, kind = 10.0 ** rng.uniform(-12, -1), int(rng.integers(7))
    if kind <= 3:
        number = np.array(path.number)
        if not number.size:
            return path
        at = int(rng.integers(number.size))
        own = number[at] if rng.random() < 0.5 else 1.0
        number[at] += size * own if kind else (np.nan, np.inf, -np.inf)[int(rng.integers(3))]
        return replace(path, number=number)
    before, item, step = path.changes
    if kind == 4 and before.size:  # a change comes a segment too late, or not at all
        at, later = int(rng.integers(before.size)), before.copy()
        later[at] += 1
        order = np.argsort(later, kind="stable")
        kept = later[order] < path.segments
        return replace(path, changes=tuple(each[order][kept] for each in (later, item, step)))
    t = np.array(path.t)
    at = int(rng.integers(1, t.size)) if t.size > 2 else 1
    if kind == 5:
        t[at] -= size * (t[at] - t[at - 1])
        return replace(path, t=t)
    labels = path.labels()
    x, y = path.spread()  # all of it written down, and a multiplier or a value is off
    which = (x, y)[int(rng.integers(2))]
    j, i = int(rng.integers(len(which))), int(rng.integers(which.shape[2]))
    which[j, int(rng.integers(2)), i] += size
    return type(path).of(path.problem, path.t, x, y, labels)
