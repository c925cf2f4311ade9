"""The polish of a box QP: optima by brute force over all active sets, from answers that are off by a little."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paretoclf.common.tolerances import TINY_CAP
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.solve import polish as module
from paretoclf.solve.polish import polish


def matrix_of(X, sign):
    return (X * sign[:, None]) @ (X * sign[:, None]).T


def boxed(X, sign, target, rows, sums, caps, kernel=False):
    """The QP of samples, by features or by their products."""
    quadratic = Matrix(X @ X.T) if kernel else Features(X)
    return ParametricQP.box(Signed(quadratic, sign), target, rows, np.array([caps, caps]), np.array([sums, sums]))


def brute_force(Q, target, rows, sums, caps):
    """The optimum with its multipliers and gradient, by all the ways to put samples at 0, at caps and between."""
    n, k = len(target), len(rows)
    for states in itertools.product((0, 1, 2), repeat=n):
        states = np.array(states)
        on = states == 1
        if np.isinf(caps[states == 2]).any():
            continue
        alpha = np.where(states == 2, caps, 0.0)
        m = int(on.sum())
        S = np.zeros((m + k, m + k))
        S[:m, :m] = Q[np.ix_(on, on)]
        S[:m, m:], S[m:, :m] = rows[:, on].T, rows[:, on]
        right = np.concatenate([(target - Q @ alpha)[on], sums - rows @ alpha])
        found = np.linalg.lstsq(S, right, rcond=None)[0]
        if np.abs(S @ found - right).max(initial=0.0) > 1e-9:
            continue
        alpha[on] = found[:m]
        g = Q @ alpha - target + rows.T @ found[m:]
        fits = np.where(on, np.abs(g) < 1e-9, np.where(states == 0, g > 1e-9, g < -1e-9)).all()
        if fits and (alpha >= -1e-9).all() and (alpha <= caps + 1e-9).all():
            return alpha, found[m:]
    return None


def case(seed, kind):
    """Five samples: a 2C-SVM, a 2nu-SVM, one without a row, one with infinite caps, one of tiny caps."""
    rng = np.random.default_rng(seed)
    sign = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
    X = rng.normal(size=(5, 2 if kind != "own" else 5)) + 0.5 * sign[:, None]
    caps = rng.uniform(0.2, 1.5, size=5)
    target, rows, sums = np.ones(5), sign[None], np.zeros(1)
    if kind == "nu":
        target, rows, sums = np.zeros(5), np.array([sign, -np.ones(5)]), np.array([0.0, -1.2])
        caps = np.full(5, 0.5)
    elif kind in ("no row", "own"):
        rows, sums = np.zeros((0, 5)), np.zeros(0)
    elif kind == "infinite":
        caps = np.full(5, np.inf)
        X = X + 3 * sign[:, None]
    return X, sign, target, rows, sums, caps


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("kind", ["svm", "nu", "no row", "own", "infinite"])
def test_it_settles_at_the_optimum_of_all_active_sets(kind, kernel):
    """From the optimum with errors of 1e-6, as an interior-point method has them, and from rough ones of 0.02."""
    seen = 0
    for seed in range(6):
        X, sign, target, rows, sums, caps = case(seed, kind)
        Q = matrix_of(X, sign)
        best = brute_force(Q, target, rows, sums, caps)
        if best is None:
            continue
        alpha, eta = best
        rng = np.random.default_rng(seed)
        least = (alpha @ Q @ alpha) / 2 - target @ alpha
        for error in (1e-6, 0.02):
            problem = boxed(X, sign, target, rows, sums, caps, kernel)
            near = np.clip(alpha + error * rng.uniform(-1, 1, size=5), 1e-3 * error, caps - 1e-3 * error)
            found = polish(problem, near, eta + error * rng.normal(size=eta.size))
            if not found.settled:
                assert error > 1e-5
                continue
            seen += 1
            assert (found.alpha >= 0).all()
            assert (found.alpha <= caps).all()
            assert rows @ found.alpha == pytest.approx(sums, abs=1e-11)
            assert (found.alpha @ Q @ found.alpha) / 2 - target @ found.alpha == pytest.approx(least, abs=1e-11)
            # The slope is the same for all optimal multipliers.
            assert X.T @ (sign * found.alpha) == pytest.approx(X.T @ (sign * alpha), abs=1e-10)
            assert (found.w is None) == (kernel)
            if found.w is not None:
                assert found.w == pytest.approx(X.T @ (sign * alpha), abs=1e-12)
            at_bound = (alpha == 0) | (alpha == caps)
            if kind == "own":
                assert found.alpha == pytest.approx(alpha, abs=1e-11)
                assert found.alpha[at_bound].tolist() == alpha[at_bound].tolist()
    assert seen >= 6


def test_wrong_sets_are_exchanged():
    """min a'a / 2 - p'a on [0, 1]: with p = (-1, 1/2, 3) it is (0, 1/2, 1), from wherever it begins."""
    target = np.array([-1.0, 0.5, 3.0])
    problem = boxed(np.eye(3), np.ones(3), target, np.zeros((0, 3)), np.zeros(0), np.ones(3))
    kernel = boxed(np.eye(3), np.ones(3), target, np.zeros((0, 3)), np.zeros(0), np.ones(3), kernel=True)
    for start in ([0.9, 0.9, 0.1], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, -1.0, 0.5], [0.5, 0.5, 0.5]):
        for each in (problem, kernel):
            found = polish(each, np.array(start), np.zeros(0))
            assert found.settled
            assert found.alpha == pytest.approx([0, 0.5, 1], abs=1e-14)


def test_samples_with_tiny_caps_go_where_their_gradient_says():
    """Caps of 1e-13: the solver's numbers say nothing of them."""
    caps = np.array([1.0, 1e-13, 1e-13])
    problem = boxed(np.eye(3), np.ones(3), np.array([0.5, 1.0, -1.0]), np.zeros((0, 3)), np.zeros(0), caps)
    found = polish(problem, np.array([0.5, 0.5e-13, 0.5e-13]), np.zeros(0))
    assert found.settled
    assert found.alpha.tolist() == [0.5, 1e-13, 0]


def test_what_cannot_hold_is_not_settled():
    """Two multipliers of at most 1 have no sum of 3."""
    problem = boxed(np.eye(2), np.ones(2), np.ones(2), np.ones((1, 2)), np.array([3.0]), np.ones(2))
    assert not polish(problem, np.array([0.9, 0.9]), np.zeros(1)).settled
    kernel = boxed(np.eye(2), np.ones(2), np.ones(2), np.ones((1, 2)), np.array([3.0]), np.ones(2), kernel=True)
    assert not polish(kernel, np.array([0.9, 0.9]), np.zeros(1)).settled


def test_the_reach_says_who_is_at_a_bound():
    """The optimum (0.2, 0.4) is found whatever the reach makes of the first guess: exchanges put it right."""
    problem = boxed(np.eye(2), np.ones(2), np.array([0.2, 0.4]), np.zeros((0, 2)), np.zeros(0), np.ones(2))
    for reach in (np.full(2, 1e-3), np.ones(2), None):
        found = polish(problem, np.array([0.3, 0.3]), np.zeros(0), reach)
        assert found.settled
        assert found.alpha == pytest.approx([0.2, 0.4], abs=1e-14)


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_the_first_guess_is_right_in_any_unit(size, monkeypatch):
    """a'a / 2 - size p'a on [0, size], a tenth of which the solver is off: no exchange is needed, nor one allowed."""
    monkeypatch.setattr(module, "EXCHANGES", 1)
    p = np.array([-1.0, 0.5, 3.0, -0.5])
    tiny = 0.5 * TINY_CAP * size
    caps = np.array([size, size, size, tiny])
    for kernel in (False, True):
        problem = boxed(np.eye(4), np.ones(4), size * p, np.zeros((0, 4)), np.zeros(0), caps, kernel)
        found = polish(problem, np.array([0.1 * size, 0.4 * size, 0.9 * size, tiny]), np.zeros(0))
        assert found.settled
        assert found.alpha == pytest.approx([0, 0.5 * size, size, 0], rel=1e-13, abs=0)


def test_a_feature_that_is_0_everywhere_has_slope_0():
    X = np.array([[1.0, 0.0], [-0.5, 0.0]])
    problem = boxed(X, np.array([1.0, -1.0]), np.array([0.4, 0.3]), np.zeros((0, 2)), np.zeros(0), np.full(2, 0.5))
    found = polish(problem, np.array([0.15, 0.4999]), np.zeros(0))
    assert found.settled
    assert found.w[1] == 0
    assert found.w[0] == pytest.approx(0.4)
    assert found.alpha == pytest.approx([0.15, 0.5])
