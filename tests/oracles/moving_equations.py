"""Problems with equations whose coefficients move along a line, from 0 to 1 in t: twelve kinds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

T = cp.Parameter(nonneg=True, name="t")
ENDS = {T: 0.0}, {T: 1.0}


def coefficients(rng, rows, columns):
    """Coefficients at t = 0, and by how much they move."""
    return rng.normal(size=(rows, columns)), 0.4 * rng.normal(size=(rows, columns))


def equations(x, first, step, sides):
    return first @ x + T * (step @ x) == sides


def minimum(objective, *rows):
    return cp.Problem(cp.Minimize(objective), list(rows)), *ENDS


def linear(rng):
    x, (first, step) = cp.Variable(10, name="x"), coefficients(rng, 3, 10)
    sides = first @ rng.uniform(0.5, 2, 10)
    return minimum(rng.normal(size=10) @ x + 10, equations(x, first, step, sides), x >= 0, x <= 5)


def many_optima(rng):
    """No cost but that of two variables, which are 0 in all optima."""
    x, (first, step) = cp.Variable(8, name="x"), coefficients(rng, 2, 8)
    sides = first[:, 2:] @ rng.uniform(0.5, 1.5, 6)
    return minimum(x[0] + x[1] + 1, equations(x, first, step, sides), x >= 0, x <= 4)


def decisions(rng):
    """Discounted occupancies of a Markov decision process whose transitions move, and their largest reward."""
    first, last = rng.dirichlet(np.ones(4), size=(2, 3, 4))
    x = cp.Variable((3, 4), nonneg=True, name="x")
    moved = sum(0.8 * ((last - first)[a].T @ x[a]) for a in range(3))
    stays = cp.sum(x, axis=0) - sum(0.8 * (first[a].T @ x[a]) for a in range(3))
    reward = cp.sum(cp.multiply(rng.uniform(size=(3, 4)), x))
    return cp.Problem(cp.Maximize(reward), [stays - T * moved == np.full(4, 0.25)]), *ENDS


def quadratic(rng):
    x, (first, step) = cp.Variable(10, name="x"), coefficients(rng, 4, 10)
    sides = first @ rng.uniform(0.5, 2, 10)
    fit = cp.sum_squares(rng.normal(size=(12, 10)) @ x - rng.normal(size=12))
    return minimum(fit, equations(x, first, step, sides), x >= 0)


def target_return(rng):
    """A portfolio of a given return, whose forecast moves."""
    x, mean, step = cp.Variable(12, name="x"), rng.uniform(0.02, 0.1, 12), 0.03 * rng.normal(size=12)
    rows = [cp.sum(x) == 1, mean @ x + T * (step @ x) == 0.06, x >= 0, x <= 0.4]
    return minimum(cp.sum_squares(rng.normal(size=(20, 12)) @ x), *rows)


def gains(rng):
    """A flow through a network whose arcs lose a share that moves."""
    arcs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    leaves, arrives, moves = np.zeros((3, 5, len(arcs)))
    for k, (i, j) in enumerate(arcs):
        leaves[i, k], arrives[j, k], moves[j, k] = 1.0, rng.uniform(0.8, 1), rng.uniform(-0.2, 0)
    x = cp.Variable(len(arcs), nonneg=True, name="x")
    cost = rng.uniform(1, 3, len(arcs)) @ x + 0.05 * cp.sum_squares(x)
    return minimum(cost, equations(x, (arrives - leaves)[1:], moves[1:], np.array([0, 0, 0, 1.0])), x <= 3)


def least_norm(rng):
    x, (first, step) = cp.Variable(12, name="x"), coefficients(rng, 4, 12)
    return minimum(cp.norm2(x) + 0.3 * cp.norm1(x), equations(x, first, step, rng.normal(size=4)))


def in_a_ball(rng):
    x, (first, step) = cp.Variable(8, name="x"), coefficients(rng, 2, 8)
    rows = [cp.norm2(x) <= 2, cp.norm2(rng.normal(size=(4, 8)) @ x) <= 4]
    return minimum(rng.normal(size=8) @ x + 8, equations(x, first, step, 0.2 * rng.normal(size=2)), *rows)


def fair_svm(rng):
    """A classifier of bounded norm whose weights are orthogonal to a direction that moves, up to a constant."""
    y = np.sign(rng.normal(size=24))
    X = rng.normal(size=(24, 4)) + 0.7 * y[:, None]
    w, b, (first, step) = cp.Variable(4, name="w"), cp.Variable(name="b"), rng.normal(size=(2, 1, 4))
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b))) + 0.01 * b**2
    return minimum(loss, cp.norm2(w) <= 1, equations(w, first, step, np.array([0.3])))


def matrix_of_trace_one(rng):
    C, B = rng.normal(size=(2, 4, 4))
    X = cp.Variable((4, 4), PSD=True, name="X")
    mass = cp.trace(X) + T * cp.trace(0.2 * (B + B.T) @ X) == 1
    return minimum(cp.trace((C + C.T) @ X) + 6, mass, cp.trace(X) <= 3)


def entropy(rng):
    values, step = rng.normal(size=12), 0.4 * rng.normal(size=12)
    p = cp.Variable(12, name="p")
    mean = values @ p + T * (step @ p) == float(values.mean()) + 0.2
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, mean]), *ENDS


def market(rng):
    """Goods that are bought from a budget at prices that move, of which logarithms are useful."""
    x, price, step = cp.Variable(8, name="x"), rng.uniform(1, 3, 8), rng.uniform(-0.5, 2, 8)
    useful = rng.uniform(0.5, 2, 8) @ cp.log(x)
    return cp.Problem(cp.Maximize(useful - 20), [price @ x + T * (step @ x) == 10, x <= 4]), *ENDS


KINDS = {
    each.__name__: each
    for each in (
        linear,
        many_optima,
        decisions,
        quadratic,
        target_return,
        gains,
        least_norm,
        in_a_ball,
        fair_svm,
        matrix_of_trace_one,
        entropy,
        market,
    )
}
