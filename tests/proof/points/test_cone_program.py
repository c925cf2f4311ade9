"""Tests of `paretoclf.proof.points.cone_program`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.proof.points.cone import cone_bounds
from paretoclf.proof.points.cone_lower import Box, _with_best_bounds, dual_value, lower_bound, refined
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cone
from tests.proof.points.test_cone_lower import exact_value, fractions


def test_terms_that_cancel_leave_their_rounding():
    """Before the terms cancel they are 1e8 and more; their sum is 0 to rounding."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        x = rng.standard_normal(3) * 1e4
        A = rng.standard_normal((4, 3)) * 1e2
        z = rng.random(4) * 1e2
        program = ConeProgram(np.zeros((3, 3)), -A.T @ z, A, A @ x, [Cone("nonnegative", 4)])
        box = Box(x - 1e-9, x + 1e-9)
        found = dual_value(program, x, z, box)
        truth = exact_value(program, fractions(x), fractions(z), box)
        assert Fraction(found.value) < truth
        assert float(truth) - found.value <= 1e-12 * float(abs(z) @ abs(A) @ abs(x))


def test_a_residual_where_there_is_no_bound_is_named():
    program = ConeProgram(np.zeros((2, 2)), [1.0, 2.0], [[-1.0, 0.0]], [0.0], [Cone("nonnegative", 1)])
    found = dual_value(program, np.zeros(2), np.ones(1), Box(np.array([-1.0, -np.inf]), np.full(2, np.inf)))
    assert found.value == -np.inf
    assert found.unabsorbed == {0: 0.0, 1: 2.0}  # that of the first is 0 up to rounding only
    assert found.rank < dual_value(program, np.zeros(2), np.ones(1), Box(np.zeros(2), np.ones(2))).rank


@pytest.mark.parametrize("diagonal", [True, False])
def test_a_bound_with_a_radius_is_below_that_of_every_neighbour(diagonal):
    """Eighths, so that neighbours are exactly stationary where it is said; the worst ones are corners."""
    rng, close = np.random.default_rng(3), 0
    for trial in range(300):
        n, m = 3, 4
        F = np.diag(rng.integers(1, 4, n)) if diagonal else rng.integers(-2, 3, (2, n))
        P, A = (F.T @ F).astype(float), rng.integers(-3, 4, (m, n)).astype(float)
        y, z, b = rng.integers(-16, 17, n) / 8, rng.integers(0, 17, m) / 8, rng.integers(-16, 17, m) / 8
        around_y, around_z = rng.integers(0, 9, n) / 8, rng.integers(0, 9, m) / 8 * rng.integers(0, 2)
        s = b - A @ y
        away = rng.choice([-1.0, 1.0], n), np.where(rng.random(m) < 0.8, np.sign(s), -1.0)
        other_y, other_z = y + away[0] * around_y, z + away[1] * around_z
        solved = rng.random(n) < 0.7
        q = np.where(solved, -P @ other_y - A.T @ other_z, rng.integers(-16, 17, n) / 8)
        program = ConeProgram(P, q, A, b, [Cone("zero", m)])  # of which every multiplier is in the dual cone
        box = Box(np.where(solved, -np.inf, -1.5), np.where(solved, np.inf, 2.25))
        found = dual_value(program, y, z, box, radius=(around_y, around_z), solved=solved)
        truth = exact_value(program, fractions(other_y), fractions(other_z), box)
        assert Fraction(found.value) < truth, trial
        close += solved.all() and float(truth) - found.value < 1e-3  # the next would be 1/128
        wider = dual_value(program, y, z, box, radius=(2 * around_y, 2 * around_z), solved=solved)
        if around_z @ abs(s) > 0:
            assert wider.value < found.value - 0.9 * float(around_z @ abs(s)), trial
    assert close > 20 or not diagonal  # no neighbour is forgotten, and none invented


def test_a_hollow_direction_costs_what_its_box_allows():
    """Without a proof that P is convex: the least of the Lagrangian over the box, coordinate by coordinate."""
    rng = np.random.default_rng(4)
    for trial in range(200):
        n, m = 2, 3
        d = np.array([-float(rng.integers(1, 5)), float(rng.integers(1, 5))])
        A, z = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(0, 9, m) / 8
        b, q = rng.integers(-16, 17, m) / 8, rng.integers(-16, 17, n) / 8
        low = rng.integers(-16, 1, n) / 8
        high = low + rng.integers(1, 17, n) / 8
        program = ConeProgram(np.diag(d), q, A, b, [Cone("nonnegative", m)])
        y = np.array([rng.choice([low[0], high[0], (low[0] + high[0]) / 2]), rng.uniform(low[1], high[1])])
        found = dual_value(program, y, z, Box(low, high))
        slope = q + A.T @ z
        truth = -Fraction(float(b @ z))
        for j in range(n):
            edges = [Fraction(low[j]), Fraction(high[j])]
            turn = -Fraction(slope[j]) / Fraction(d[j])
            edges += [turn] if d[j] > 0 and edges[0] <= turn <= edges[1] else []
            truth += min(Fraction(d[j]) * x * x / 2 + Fraction(slope[j]) * x for x in edges)
        assert Fraction(found.value) < truth, trial
        wide = dual_value(program, y, z, Box(low, high), radius=(np.array([0.5, 0.0]), np.zeros(m)))
        far = max(abs(low[0] - y[0]), abs(high[0] - y[0]))
        assert wide.value < found.value - 0.49 * abs(d[0]) * ((far + 0.5) ** 2 - far**2), trial


def test_multipliers_of_bounds_take_the_residuals_of_their_variables():
    """Of three variables one has one bound, one two, and one none; the nearer of two bounds takes what is left."""
    A = [[-1.0, 0, 0], [0, -2, 0], [0, 1, 0], [1, 1, 1]]
    program = ConeProgram(np.zeros((3, 3)), [1.0, 2.0, -1.0], A, [0.0, 0, 5, 9], [Cone("nonnegative", 4)])
    y, z = _with_best_bounds(program, np.array([0.0, 4.0, 3.0]), np.array([0.5, 0.0, 0.0, 0.25]))
    assert z.tolist() == [1.25, 0.0, 0.0, 0.25]  # the second column asks for a multiplier below 0
    assert y.tolist() == [0.0, 4.0, 3.0]
    y, z = _with_best_bounds(program, np.array([0.0, 0.5, 3.0]), np.array([0.5, 0.0, 0.0, 0.25]))
    assert z.tolist() == [1.25, 1.125, 0.0, 0.25]
    program = ConeProgram(np.zeros((1, 1)), [-1.0], [[-2.0], [1.0]], [0.0, 5.0], [Cone("nonnegative", 2)])
    assert _with_best_bounds(program, np.array([4.0]), np.array([0.0, 0.25]))[1].tolist() == [0.0, 1.0]


def test_a_first_attempt_that_is_just_close_enough_is_followed_by_a_closer_one():
    """A linear function on the unit disc; multipliers that are off by 1e-5 bound it by as much, projected ones less."""
    A = np.vstack([np.zeros(2), -np.eye(2)])
    program = ConeProgram(np.zeros((2, 2)), [-3.0, -4.0], A, [1.0, 0.0, 0.0], [Cone("second-order", 3)])
    z = np.array([5.0, -3.0, -4.0]) * (1 + 1e-5)
    box = Box(np.full(2, -1.0), np.full(2, 1.0))
    x = np.array([0.6, 0.8])
    assert lower_bound(program, x, z, box, -5.0, 1e-4).value > dual_value(program, x, z, box).value
    assert cone_bounds(program, x, z, tol=1e-4).lower <= -5


@pytest.mark.parametrize("bend", [0.0, 1.0])
def test_projections_bring_multipliers_nearer_to_stationarity(bend):
    rng = np.random.default_rng(6)
    A, z, y = rng.standard_normal((9, 4)), np.append(np.full(5, 1.0), [3.0, 1, 1, 1]), rng.standard_normal(4)
    P = bend * np.diag([1.0, 2, 0, 3])
    cones = [Cone("nonnegative", 5), Cone("second-order", 4)]
    program = ConeProgram(P, -P @ y - A.T @ z, A, np.zeros(9), cones)
    rough = y + 1e-3 * rng.standard_normal(4), z + 1e-3 * rng.standard_normal(9)
    near_y, near_z = refined(program, *rough)
    missed = [float(np.abs(P @ u + program.q + A.T @ v).max()) for u, v in (rough, (near_y, near_z))]
    assert missed[1] <= 1e-9 * missed[0]
    assert np.abs(near_z - z).max() < 1e-2


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("entries", [1, 2])
def test_slacks_of_few_terms_are_rounded_too(entries, sign):
    """The box is the point, so that the bound is ``-z'(b - Ay)``: slacks of terms that cancel."""
    rng, below = np.random.default_rng(7), 0
    for _ in range(100):
        y = rng.standard_normal(entries) * 1e3
        A = rng.standard_normal((3, entries)) * 1e3
        b, z = A @ y * (1 + 2.0**-30 * rng.random(3)), sign * rng.random(3)
        program = ConeProgram(np.zeros((entries, entries)), np.zeros(entries), A, b, [Cone("zero", 3)])
        found = dual_value(program, y, z, Box(y, y))
        truth = -(fractions(z) @ (fractions(b) - fractions(A) @ fractions(y)))
        assert Fraction(found.value) < truth
        below += float(truth) - found.value < 1e-13 * float(abs(z) @ (abs(b) + abs(A) @ abs(y)))
    assert below == 100
