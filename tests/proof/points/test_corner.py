"""Multipliers in fractions: bounds against optimal values in fractions, where no rounded multiplier proves one."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.points.cone import ConeProgram
from paretoclf.proof.points.cones import Cone
from paretoclf.proof.points.corner import exact_corner
from tests.proof.points.test_cone import degenerate


def difference(q):
    """``min (x0 - x1)^2 + q'x`` with x >= 0, whose optimum is at (0, -q1 / 2) if q0 + q1 > 0 and q1 < 0."""
    P = 2.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return ConeProgram(P, np.array(q), -np.eye(2), np.zeros(2), [Cone("nonnegative", 2)])


@pytest.mark.parametrize("q", [(0.1 + 0.2, -0.3), (1.1 + 2.2, -3.3), (0.1 + 0.7 + 1e-16, -0.8)])
def test_a_multiplier_below_all_rounding_is_found(q):
    value = -(Fraction(q[1]) ** 2) / 4
    found, z = exact_corner(difference(q), np.array([0.9, 0.9 - q[1] / 2]), np.full(2, 1e-9))
    assert found <= value  # a float and a fraction are compared exactly
    assert float(value) - found <= 1e-15
    assert z.tolist() == [q[0] + q[1], 0.0]


def test_where_there_are_no_multipliers_there_is_no_bound():
    """Along (1, 1) the objective falls by 6e-17 a step."""
    assert 0.3 < 0.1 + 0.2
    assert exact_corner(difference((0.3, -(0.1 + 0.2))), np.array([0.0, 0.15]), np.zeros(2)) is None


def test_bounds_are_below_the_truth_in_fractions_and_meet_it_at_a_solution():
    rng, met, count = np.random.default_rng(5), 0, 200
    for trial in range(count):
        program, x, z, value = degenerate(rng)
        found = exact_corner(program, x.astype(float), z.astype(float))
        assert found is not None, trial  # multipliers are there, so that a corner of them is
        assert found[0] <= value, trial
        met += found[0] >= value - abs(value) * Fraction(1, 10**12)
        noise = 10.0 ** rng.integers(-12, 1)
        rough = x + noise * rng.standard_normal(x.size), z + noise * rng.standard_normal(z.size)
        found = exact_corner(program, *rough)
        assert found is None or found[0] <= value, trial
    assert met == count


def test_what_is_not_proved_convex_or_not_polyhedral_has_no_corner():
    cone = ConeProgram(np.zeros((2, 2)), [1.0, 0.0], -np.eye(2), np.zeros(2), [Cone("second-order", 2)])
    hollow = ConeProgram(-np.eye(1), [1.0], -np.eye(1), np.zeros(1), [Cone("nonnegative", 1)])
    wide = ConeProgram(np.zeros((61, 61)), np.ones(61), -np.eye(61), np.zeros(61), [Cone("nonnegative", 61)])
    for program in (cone, hollow, wide):
        assert exact_corner(program, np.zeros(program.q.size), np.ones(program.b.size)) is None


def test_verify_proves_what_only_fractions_can():
    """Before: undecided, "auxiliary 0 has no bounds that the constraints imply"; `trace` proved it."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.square(x[0] - x[1]) + (0.1 + 0.2) * x[0] - 0.3 * x[1]), [x >= 0])
    problem.solve(solver="CLARABEL")
    proof = pc.verify(problem)
    assert proof.status == "optimal", proof.explain()
    assert Fraction(proof.lower) <= -(Fraction(0.3) ** 2) / 4 <= Fraction(proof.upper)


@pytest.mark.parametrize("exponents", [0, 15])
def test_verify_with_exact_multipliers_in_hand(exponents):
    """Coefficients over nine decades in powers of 2, so that the solution and its multipliers are exact."""
    rng = np.random.default_rng(7)
    for trial in range(12):
        n, m = 4, 5
        scale = 2.0 ** rng.integers(-exponents, exponents + 1, n)
        G, F = (rng.integers(-3, 4, (k, n)) * scale for k in (m, 2))
        at, z = rng.integers(-3, 4, n) / scale, np.where(rng.random(m) < 0.6, rng.integers(1, 5, m), 0.0)
        bend = float(rng.integers(0, 2))
        x = cp.Variable(n, name="x")
        rows = (G @ x <= G @ at + np.where(z > 0, 0, rng.integers(0, 3, m))).set_label("rows")
        cost = bend * cp.sum_squares(F @ x) + (-G.T @ z - 2 * bend * F.T @ (F @ at)) @ x
        problem = cp.Problem(cp.Minimize(cost), [rows])
        problem.solve(solver="CLARABEL")
        x.save_value(at)
        rows.save_dual_value(z)
        proof = pc.verify(problem)
        assert proof.status == "optimal", (trial, proof.explain())
