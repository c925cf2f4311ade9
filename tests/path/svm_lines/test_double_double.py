"""Tests of `paretoclf.path.svm_lines.double_double`: solutions on a basis against the same system in fractions."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY, OFF_CENTRE, STEEP
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.svm_lines.double_double import PreciseSolver, quadratic_of
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.operator.features import Features
from paretoclf.problem.operator.signed import Signed
from tests.oracles.exact import fractions

SEEDS = range(8)
ENDS = (0.3, 0.6), (1.7, 1.1)


def samples(seed, n=16):
    """Multiples of 1/8: their mean is exact, and so are samples measured from it."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 5, 1.0, -1.0)
    return rng.integers(-9, 10, (n, 2)) / 8 + np.where(y > 0, 0.5, 0.0)[:, None], y


def solver_of(svm, largest=1.0):
    problem = problem_of_costs(Signed(svm.gram.quadratic, svm.y), np.zeros((2, svm.y.size)))
    return PreciseSolver.of_costs(svm.gram, problem, largest)


def in_fractions(K, y, caps, state, margin):
    """Multipliers and intercept on a basis: margins of 1, and y'alpha = 0, by elimination."""
    y, n = np.array([int(label) for label in y], dtype=object), len(margin)
    known = np.where(state == LEFT, fractions(caps), Fraction(0))
    system = np.full((n + 1, n + 2), Fraction(0), dtype=object)
    system[:n, :n] = K[np.ix_(margin, margin)] * y[margin]
    system[:n, n], system[n, :n] = 1, y[margin]
    system[:n, -1] = y[margin] - (K @ (y * known))[margin]
    system[n, -1] = -(y @ known)
    for k in range(n + 1):
        pivot = next(i for i in range(k, n + 1) if system[i, k] != 0)
        system[[k, pivot]] = system[[pivot, k]]
        system[k] = system[k] / Fraction(system[k, k])
        for i in range(n + 1):
            if i != k:
                system[i] = system[i] - system[i, k] * system[k]
    known[margin] = system[:n, -1]
    return known, system[n, -1]


def bases(svm):
    """Basis and caps in the middle of each piece of a path."""
    path = pc.trace(svm, *ENDS)
    for t in 0.5 * (path.t[:-1] + path.t[1:]):
        yield path.caps(float(t)), *path.basis(float(t))


@pytest.mark.parametrize("largest", [1.0, 1e9])  # centred, and as they are
@pytest.mark.parametrize("seed", SEEDS)
def test_multipliers_are_exact_to_twice_double_precision_and_no_margin_is_missed(seed, largest):
    X, y = samples(seed)
    svm, exact = pc.TwoCSVM(X, y), fractions(X)
    solver = solver_of(svm, largest)
    assert (solver.mean is None) is (largest > 1.0)
    for caps, state, margin in bases(svm):
        found = solver.solve(caps, state, margin)
        alpha, b = in_fractions(exact @ exact.T, y, caps, state, margin)
        got = fractions(found.alpha[0]) + fractions(found.alpha[1])
        assert max(abs(got - alpha)) <= Fraction(1, 2**85)
        np.testing.assert_allclose(found.alpha[0], alpha.astype(float), rtol=3e-16)
        w = (alpha * fractions(y)) @ exact
        np.testing.assert_allclose(found.w, w.astype(float), rtol=1e-12, atol=1e-25)
        assert found.b == pytest.approx(float(b), rel=1e-12, abs=1e-25)
        margins = fractions(y) * (exact @ fractions(found.w) + Fraction(found.b))
        assert all(margins[margin] >= 1)  # rounding puts none inside
        assert all(margins[state == RIGHT] >= 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_intercept_without_a_slope_is_rounded_to_where_it_costs_less(seed):
    """Of the two doubles next to the exact intercept the one towards which all slacks grow less, in fractions."""
    X, y = samples(seed)
    K = fractions(X @ X.T + 4 * np.eye(y.size))
    svm = pc.TwoCSVM(K.astype(float), y, "precomputed")
    solver = solver_of(svm)
    assert solver.mean is None
    for caps, state, margin in bases(svm):
        found = solver.solve(caps, state, margin)
        alpha, b = in_fractions(K, y, caps, state, margin)
        assert found.w is None
        assert max(abs(fractions(found.alpha[0]) + fractions(found.alpha[1]) - alpha)) <= Fraction(1, 2**85)
        scores, nearest = K @ (alpha * fractions(y)), float(b)
        towards = np.inf if Fraction(nearest) < b else -np.inf
        both = nearest, float(np.nextafter(nearest, towards))
        assert found.b in both

        def slacks(scores, at, caps=caps):
            losses = 1 - fractions(y) * (scores + Fraction(at))
            return fractions(caps) @ np.maximum(losses, Fraction(0))

        if Fraction(nearest) != b:
            rates = [(slacks(scores, at) - slacks(scores, b)) / abs(Fraction(at) - b) for at in both]
            assert found.b == both[int(rates[1] < rates[0])]


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_rates_of_an_intercept_are_differences_of_the_cost(label):
    """Slacks of hinge losses at a step of the intercept away from a label."""
    X, y = samples(3)
    solver, rng = solver_of(pc.TwoCSVM(X, y)), np.random.default_rng(0)
    state = rng.choice([LEFT, RIGHT, MARGIN], y.size).astype(np.int8)
    caps = rng.uniform(0.1, 2.0, y.size)
    slack = np.select([state == LEFT, state == RIGHT], [0.5, -0.5], 0.0)
    step = 2.0**-10
    moved = slack + y * label * step
    cost = caps @ np.maximum(moved, 0.0) - caps @ np.maximum(slack, 0.0)
    assert solver._rate(caps, state, label) == pytest.approx(cost / step, rel=1e-9)


def test_what_has_no_solution_has_none():
    X, y = samples(0)
    X[1] = X[0]
    solver = solver_of(pc.TwoCSVM(X, y))
    state = np.zeros(y.size, dtype=np.int8)
    state[[0, 1, 6]] = MARGIN
    assert solver.solve(np.ones(y.size), state, np.array([0, 1, 6])) is None  # two of one place
    assert solver.solve(np.ones(y.size), state, np.array([0])) is None  # sets that contradict each other
    state[1] = RIGHT
    assert solver.solve(np.ones(y.size), state, np.array([0, 6])) is not None
    solver.tracker = None
    assert solver.solve(np.ones(y.size), state, np.array([0, 6])) is None


@pytest.mark.parametrize(("offset", "kept"), [(3.0, False), (1e4, True)])
def test_samples_are_centred_until_rounding_of_that_shows(offset, kept):
    """So far off that nothing is gained as they are, they stay centred at any cap."""
    X, y = samples(1)
    X = X + offset
    gram = SimpleNamespace(quadratic=Features(X))
    form, mean = quadratic_of(gram, y, 1e-3)
    squares = [((X - origin) ** 2).sum(axis=1).max() for origin in (mean, 0.0)]
    assert bool(squares[1] > OFF_CENTRE * squares[0]) is kept
    np.testing.assert_allclose(form.whole(), y[:, None] * ((X - mean) @ (X - mean).T) * y, atol=1e-7)
    limit = CERTIFY / (STEEP * np.sqrt(squares[0] * squares[1]))
    assert quadratic_of(gram, y, 0.8 * limit)[1] is not None
    form, mean = quadratic_of(gram, y, 1.25 * limit)
    assert (mean is not None) is kept
    if not kept:
        np.testing.assert_allclose(form.whole(), y[:, None] * (X @ X.T) * y, rtol=1e-12)


def test_a_kernel_is_not_centred():
    X, y = samples(1)
    svm = pc.TwoCSVM(X, y, pc.RBF(1.0))
    assert quadratic_of(svm.gram, y, 1.0)[1] is None
