"""Multipliers in fractions: bounds against optimal values in fractions, where no rounded multiplier proves one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.cones.cone_judge import ConeProgram
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.exact_corner import (
    _active_first,
    _activity,
    _dual_value,
    _kept,
    _slack_terms,
    _Tableau,
    exact_corner,
)
from tests.proof.cones.test_cone_judge import degenerate


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


def tableau(rows, right, at=None):
    """Equations in fractions, with unknowns at given values."""
    exact = [{j: Fraction(value) for j, value in enumerate(row) if value} for row in rows]
    return _Tableau(exact, [Fraction(side) for side in right], {}, {j: Fraction(v) for j, v in (at or {}).items()})


def cheapest(rows, right, price):
    """The least price of a nonnegative solution, over all bases, in fractions; None if there is none."""
    best = None
    for basis in combinations(range(len(rows[0])), len(rows)):
        part = np.array([[Fraction(row[j]) for j in basis] for row in rows], dtype=object)
        (a, b), (c, d) = part
        determinant = a * d - b * c
        if determinant:
            values = (d * right[0] - b * right[1]) / determinant, (a * right[1] - c * right[0]) / determinant
            if min(values) >= 0:
                cost = sum(price[j] * value for j, value in zip(basis, values, strict=True))
                best = cost if best is None else min(best, cost)
    return best


def test_the_simplex_method_finds_the_cheapest_corner():
    """Two equations in five unknowns, small integers; from a basis that is not allowed, at first."""
    rng, solved, refused = np.random.default_rng(3), 0, 0
    for _ in range(150):
        rows, right = rng.integers(-4, 5, (2, 5)).tolist(), rng.integers(-5, 6, 2).tolist()
        price = dict(enumerate(rng.integers(0, 6, 5).astype(float).tolist()))
        system = tableau(rows, right)
        system.solve(list(range(5)))
        if len(system.basis) < 2:
            continue
        truth = cheapest(rows, right, price)
        if not system.feasible(price):
            refused += truth is None
            continue
        assert truth is not None
        system.improve(price, 0.0)
        values = [system.value(j) for j in range(5)]
        assert min(values) >= 0
        for row, side in zip(rows, right, strict=True):
            assert sum(a * v for a, v in zip(row, values, strict=True)) == side
        cost = sum(price[j] * value for j, value in enumerate(values))
        solved += cost == truth
        assert cost >= truth
    assert solved > 80
    assert refused > 20


def test_an_exchange_that_saves_little_is_not_made():
    """u0 + u1 = 1 at prices 3 and 1: the exchange saves 2 a unit."""
    for least, chosen in ((1.9, 1), (2.0, 0)):
        system = tableau([[1, 1]], [1])
        system.solve([0, 1])
        system.improve({0: 3.0, 1: 1.0}, least)
        assert set(system.basis) == {chosen}
        assert [system.value(j) for j in (0, 1)] == [1 - chosen, chosen]


def test_unknowns_outside_the_basis_keep_their_values():
    """2 u0 + u1 + 3 u2 = 8 with u1 = 2 and u2 = 1, then without u0's price it may be negative."""
    system = tableau([[2, 1, 3]], [8], {1: 2, 2: 1})
    system.solve([0, 1])
    assert [system.value(j) for j in range(3)] == [Fraction(3, 2), 2, 1]
    assert system.feasible({0: 1.0})
    low = tableau([[2, 1, 3]], [1], {1: 2, 2: 1})
    low.solve([0])
    assert low.value(0) == -2
    assert not low.feasible({0: 1.0})
    assert low.feasible({1: 1.0})
    twice = tableau([[1, 1], [2, 2]], [1, 2])
    twice.solve([0, 1])
    assert twice.feasible({0: 1.0, 1: 1.0})
    missed = tableau([[1, 1], [2, 2]], [1, 3])
    missed.solve([0, 1])
    assert not missed.feasible({0: 1.0, 1: 1.0})


def test_the_shortest_equation_is_solved_first():
    system = tableau([[1, 1, 1], [1, 0, 1], [0, 1, 0]], [3, 2, 1])
    system.solve([0, 1, 2])
    assert system.basis[0] == 1
    assert [system.value(j) for j in range(2)] == [2, 1]


def test_inequalities_that_seem_active_come_first():
    """Slacks 0, 3, 0 and 1 relative to their terms, and multipliers relative to the largest."""
    program = ConeProgram(
        [[0.0]], [0.0], [[1.0], [1], [-1], [0]], [2.0, 5, -2, 1], [Cone("zero", 1), Cone("nonnegative", 3)]
    )
    y, z = np.array([2.0]), np.array([0.0, 0.5, 3.0, 0.0])
    assert _slack_terms(program, y).tolist() == [5, 8, 5, 2]
    assert _activity(program, y, z) == pytest.approx([0, 0.125 - 3 / 8, 0.75, -0.5])
    assert _active_first(program, y, z).tolist() == [2, 1, 3]
    assert _kept(program, y, z).tolist() == [0, 0, 3, 0]
    assert _kept(program, y, np.array([-1.0, 0.5, -3, 9])).tolist() == [-1, 0, 0, 9]


def test_the_dual_value_is_exact():
    program = ConeProgram([[2.0, 1], [1, 3]], [0.0, 0], [[1.0, 0]], [0.1], [Cone("nonnegative", 1)])
    unknowns = [Fraction(1, 3), Fraction(-2), Fraction(5, 7)]
    energy = (2 * unknowns[0] ** 2 + 2 * unknowns[0] * unknowns[1] + 3 * unknowns[1] ** 2) / 2
    assert _dual_value(program, unknowns) == -Fraction(0.1) * unknowns[2] - energy
