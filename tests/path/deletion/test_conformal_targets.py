"""Sets of targets: against refits of scikit-learn and CVXPY on a grid, and ridge regression in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.path.deletion.conformal_targets import target_p_values
from tests.oracles.exact import fractions
from tests.oracles.exact_enumeration import inverse


def data(seed, n=30, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1, d))
    y = X[:n] @ np.append([2.0, -1.0], np.zeros(d - 2)) + rng.normal(size=n)
    return X, y


def along(X, y, loss, ends=(-12.0, 12.0)):
    """The p-values of the target of the last sample, for a loss of (residuals, coefficients)."""
    beta, target = cp.Variable(X.shape[1], name="beta"), cp.Parameter(len(X), name="y")
    problem = cp.Problem(cp.Minimize(loss(target - X @ beta, beta)))
    path = pc.trace(problem, start={target: np.append(y, ends[0])}, stop={target: np.append(y, ends[1])})
    return target_p_values(path, lambda at: at.parameters["y"] - X @ at.variables["beta"])


def share(residuals):
    return np.mean(np.abs(residuals) >= np.abs(residuals[-1]) * (1 - 1e-9))


def off_steps(found, z):
    """Those of some z that are not next to a step."""
    return [at for at in z if np.abs(found.z - at).min() > 1e-5]


@pytest.mark.parametrize("seed", range(3))
def test_lasso_is_that_of_refits(seed):
    X, y = data(seed)
    n1, lam = len(X), 4.0
    found = along(X, y, lambda r, beta: cp.sum_squares(r) / 2 + lam * cp.norm1(beta))
    assert found.path.proof.passes()
    assert repr(found).startswith("TargetPValues(full conformal, z from -12 to 12, ")
    asked = off_steps(found, np.linspace(-11.9, 11.9, 400))
    assert len(asked) > 390
    model = Lasso(alpha=lam / n1, fit_intercept=False, tol=1e-12, max_iter=100_000, warm_start=True)
    for z in asked:
        target = np.append(y, z)
        assert found(z) == pytest.approx(share(target - X @ model.fit(X, target).coef_), abs=1e-12)
    for alpha in (0.1, 0.3):
        (low, high), *rest = found.interval_set(alpha)
        assert not rest or all(a < b for a, b in rest)
        assert found(low + 1e-9) > alpha >= found(low - 1e-6)
        assert found(high - 1e-9) > alpha >= found(high + 1e-6)
        assert not found.cut_off(alpha)


@pytest.mark.parametrize("seed", range(3))
def test_ridge_is_that_of_refits(seed):
    X, y = data(seed, n=20, d=3)
    found = along(X, y, lambda r, beta: cp.sum_squares(r) + 2.0 * cp.sum_squares(beta))
    model = Ridge(alpha=2.0, fit_intercept=False, solver="cholesky")
    for z in off_steps(found, np.linspace(-11.9, 11.9, 300)):
        target = np.append(y, z)
        assert found(z) == pytest.approx(share(target - X @ model.fit(X, target).coef_), abs=1e-12)


def test_quantile_regression_is_that_of_refits():
    X, y = data(5, n=15, d=2)
    tau = 0.3

    def loss(r, beta):
        return cp.sum(cp.maximum(tau * r, (tau - 1) * r)) + 0.05 * cp.sum_squares(beta)

    found = along(X, y, loss)
    beta, target = cp.Variable(2), cp.Parameter(len(X))
    problem = cp.Problem(cp.Minimize(loss(target - X @ beta, beta)))
    accuracy = {f"tol_{name}": 1e-12 for name in ("gap_abs", "gap_rel", "feas")}
    for z in off_steps(found, np.linspace(-11.5, 11.5, 60)):
        target.value = np.append(y, z)
        problem.solve("CLARABEL", **accuracy)
        r = target.value - X @ beta.value
        r[np.abs(r) < 1e-6] = 0.0  # those that the fit goes through
        assert found(z) == pytest.approx(np.mean(np.abs(r) >= np.abs(r[-1]) - 1e-6), abs=1e-12)


def exact_steps(X, y, lam):
    """Where absolute residuals of ridge regression cross that of the last sample, in fractions."""
    Z = fractions(X.astype(int))
    gram = np.array([[int(v) for v in row] for row in (Z.T @ Z + lam * np.eye(Z.shape[1], dtype=int)).tolist()], object)
    N, d = inverse(gram)
    hat = Z @ (fractions(N) / Fraction(int(d))) @ Z.T
    rest = np.eye(len(X), dtype=int) - hat
    a, b = rest[:, :-1] @ fractions(y.astype(int)), rest[:, -1]  # residuals a + b z
    found = set()
    for i in range(len(X) - 1):
        for sign in (1, -1):
            slope, offset = b[i] - sign * b[-1], a[i] - sign * a[-1]
            if slope != 0:
                found.add(-offset / slope)
    return a, b, sorted(found)


@pytest.mark.parametrize("seed", range(20))
def test_ridge_is_that_in_fractions(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    X, y = rng.integers(-3, 4, size=(n + 1, d)).astype(float), rng.integers(-4, 5, size=n).astype(float)
    if seed % 2:
        X[1], y[1] = X[0], y[0]  # copies
        X[-1] = X[0]
    lam = int(rng.integers(1, 4))
    a, b, crossings = exact_steps(X, y, lam)
    crossings = [z for z in crossings if -30 < z < 30]
    found = along(X, y, lambda r, beta: cp.sum_squares(r) + lam * cp.sum_squares(beta), (-30.0, 30.0))
    for z in found.z[1:-1]:
        assert min(abs(float(each) - z) for each in crossings) < 1e-7
    edges = [Fraction(-30), *crossings, Fraction(30)]
    for low, high in pairwise(edges):
        if high - low > Fraction(1, 10**6):
            z = (low + high) / 2
            r = [abs(u + v * z) for u, v in zip(a, b, strict=True)]
            assert found(float(z)) == pytest.approx(sum(each >= r[-1] for each in r) / (n + 1), abs=1e-12)


def test_a_line_may_go_down_and_ties_be_drawn():
    X, y = data(1, n=12, d=2)
    up, down = (along(X, y, lambda r, beta: cp.sum_squares(r) + cp.norm1(beta), e) for e in ((-9, 9), (9, -9)))
    np.testing.assert_allclose(up.z, down.z, atol=1e-9)
    np.testing.assert_array_equal(up.p, down.p)
    drawn = target_p_values(up.path, lambda at: at.parameters["y"] - X @ at.variables["beta"], rng=0)
    u = 1.0 - np.random.default_rng(0).random()
    np.testing.assert_allclose(up.p - drawn.p, (1 - u) / 13, atol=1e-12)


def test_a_set_that_may_go_on_is_said_to():
    X, y = data(2, n=12, d=2)
    found = along(X, y, lambda r, beta: cp.sum_squares(r) + cp.norm1(beta), (-0.5, 0.5))
    assert found.cut_off(0.1)
    assert found.interval_set(0.999).shape in ((0, 2), (1, 2))
    with pytest.raises(InputError, match="z must lie between"):
        found(0.6)
    for alpha in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(InputError, match="alpha"):
            found.interval_set(alpha)


def test_what_is_no_line_of_a_target():
    x, g = cp.Variable(2, name="x"), cp.Parameter(2, name="g")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x - g))), start={g: [0.0, 0.0]}, stop={g: [1.0, 1.0]})
    with pytest.raises(InputError, match="one number moves, the target, got 2"):
        target_p_values(path, lambda at: at.variables["x"])
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x - g))), start={g: [0.0, 0.0]}, stop={g: [0.0, 1.0]})
    for wrong, message in (
        (lambda at: at.variables["x"] ** 2, "affine"),
        (lambda at: at.variables["x"][:1], "at least two"),
        (lambda at: np.full(2, np.nan), "finite"),
    ):
        with pytest.raises(InputError, match=message):
            target_p_values(path, wrong)


def test_a_variable_that_is_a_parabola_is_no_chord():
    """v = s x with x = 3 - s; a chord of v would give steps at other places."""
    x, v, s = cp.Variable(name="x"), cp.Variable(name="v"), cp.Parameter(name="s")
    problem = cp.Problem(cp.Minimize(v + cp.square(x - 3) / 2), [v >= s * x, v >= (s - 1) * x])
    path = pc.trace(problem, {s: 0.0}, {s: 1.0})
    with pytest.raises(InputError, match="which these are not: no straight lines are v, next to which"):
        target_p_values(path, lambda at: np.array([at.variables["v"], 1.0]))
    found = target_p_values(path, lambda at: np.array([at.variables["x"], 2.5]))
    assert (found.z.tolist(), found.p.tolist()) == (pytest.approx([0.0, 0.5, 1.0]), [1.0, 0.5])
