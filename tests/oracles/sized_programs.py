"""Programs of any size, each with both ends of a line: signals, plans, a controller, a factor model."""

import cvxpy as cp
import numpy as np
import scipy.sparse as sp


def signal(n, order, top):
    """A signal of eight levels and noise, its differences of an order penalised, from nothing to ``top``."""
    rng = np.random.default_rng(n)
    y = np.repeat(rng.normal(size=8), -(-n // 8))[:n] + 0.3 * rng.normal(size=n)
    x, lam = cp.Variable(n, name="x"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - y) / 2 + lam * cp.norm1(cp.diff(x, order))))
    return problem, {lam: 0.0}, {lam: top}


def planning(m, seed=0):
    """Orders of m kinds from 3 m / 4 processes at least cost: costs, rows and their bounds, then how costs move."""
    rng, n, each = np.random.default_rng(seed), 3 * m // 4, 5
    places = np.repeat(np.arange(m), each), rng.integers(0, n, each * m)
    A = sp.csr_array((rng.uniform(0.5, 2.0, each * m), places), shape=(m, n))
    rows = sp.csr_array(sp.vstack([A, sp.eye_array(n)]))
    low, up = np.append(rng.uniform(1.0, 5.0, m), np.zeros(n)), np.append(np.full(m, np.inf), np.full(n, 10.0))
    return (rng.uniform(1.0, 2.0, n), rows, low, up), rng.uniform(-0.5, 0.5, n)


def controller(horizon, seed=400, states=20, inputs=8):
    """A linear system steered to 0 with bounded inputs, as its initial state grows."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(states, states)))[0] * 0.99
    B, first = rng.normal(size=(states, inputs)) / 4, rng.normal(size=states)
    x, u = cp.Variable((states, horizon + 1), name="x"), cp.Variable((inputs, horizon), name="u")
    size = cp.Parameter(nonneg=True, name="size")
    limits = [x[:, 0] == size * first, x[:, 1:] == A @ x[:, :-1] + B @ u, cp.abs(u) <= 0.5]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2 + cp.sum_squares(u) / 20), limits)
    return problem, {size: 0.0}, {size: 3.0}


def moments(n, k):
    """Loadings, own variances and returns of n assets with k factors."""
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, k)) / np.sqrt(k), rng.uniform(0.5, 1.5, n), rng.normal(size=n)


def portfolio(n, k):
    """The efficient frontier of a factor model, with caps of 10 / n."""
    F, own, mu = moments(n, k)
    w, f, gain = cp.Variable(n, name="w"), cp.Variable(k, name="f"), cp.Parameter(nonneg=True, name="gain")
    risk = cp.sum_squares(f) / 2 + cp.sum_squares(cp.multiply(np.sqrt(own), w)) / 2
    limits = [f == F.T @ w, cp.sum(w) == 1, w >= 0, w <= 10 / n]
    return cp.Problem(cp.Minimize(risk - gain * (mu @ w)), limits), {gain: 0.0}, {gain: 2.0}
