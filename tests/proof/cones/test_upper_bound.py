"""Feasible points next to a solver's: steps into cones where projections alone would take thousands of rounds."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.cones import upper_bound as cone_upper
from paretoclf.proof.cones.cone_judge import ConeProgram, cone_bounds
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.enclosure import Enclosed
from paretoclf.proof.cones.upper_bound import upper_bound
from paretoclf.solve.judging.cone_proof import _compile
from paretoclf.solve.models.model import Model


def ball_machine(noise, n=200, d=5):
    """The smallest sum of slacks of a classifier with |w| <= 1: rows and a ball that meet at sharp angles."""
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = np.sign(X @ beta + noise * rng.standard_normal(n))
    w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum(xi)), [cp.multiply(y, X @ w + b) >= 1 - xi, cp.norm(w) <= 1])


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_a_point_on_the_edge_is_moved_inside_by_little(noise, monkeypatch):
    compiled = _compile(Model.of(ball_machine(noise)))
    program = compiled.program
    found = upper_bound(program, compiled.x)
    lower = cone_bounds(program, compiled.x, compiled.z, tol=1e-11).lower
    assert lower <= found.value <= lower * (1 + 3e-10)
    monkeypatch.setattr(cone_upper, "_AT_ONCE", ())  # projections alone end later, and farther inside
    alone = upper_bound(program, compiled.x)
    assert found.value - lower <= alone.value - lower


def test_a_step_meets_all_planes_at_once_even_if_some_depend_on_others():
    """Three inequalities, one of them twice, and an equation that stays."""
    A = [[1.0, 1, 1], [-1, 0, 0], [-1, 0, 0], [0, -1, 0]]
    program = ConeProgram(np.zeros((3, 3)), np.ones(3), A, [1.0, 0, 0, 0], [Cone("zero", 1), Cone("nonnegative", 3)])
    gap = np.array([0.0, -0.5, -0.5, -0.25])  # outside by so much
    step = cone_upper._all_at_once(program, gap, np.ones(4, dtype=bool))
    assert step == pytest.approx([0.5, 0.25, -0.75], abs=1e-9)


def test_a_step_into_a_second_order_cone_is_across_its_plane():
    program = ConeProgram(
        np.zeros((2, 2)), np.ones(2), [[0.0, 0], [-1, 0], [0, -1]], [1.0, 0, 0], [Cone("second-order", 3)]
    )
    x = np.array([3.0, 4.0])
    gap = np.array([-2.0, 1.2, 1.6])  # of (1, 3, 4) from the nearest point (3, 1.8, 2.4) of the cone
    step = cone_upper._all_at_once(program, gap, gap != 0)
    assert step / np.linalg.norm(step) == pytest.approx(-x / 5)
    assert np.linalg.norm(step) == pytest.approx(4.0)  # to |x| = 1


def test_what_no_step_can_change_is_left():
    program = ConeProgram(np.zeros((1, 1)), np.ones(1), [[0.0], [-1.0]], [-1.0, 0.0], [Cone("nonnegative", 2)])
    gap = np.array([-1.0, -2.0])
    assert cone_upper._all_at_once(program, gap, gap != 0) == pytest.approx([2.0])
    assert upper_bound(program, np.zeros(1)).value == np.inf


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def exact_objective(program, x):
    P, q = fractions(program.P.toarray()), fractions(program.q)
    return x @ P @ x / 2 + q @ x


def test_the_objective_at_a_point_is_rounded_upwards():
    """Terms of both signs that cancel, many of them; no constraint is near."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = 24
        F, x = rng.standard_normal((3, n)) * 100, rng.standard_normal(n)
        P = F.T @ F
        program = ConeProgram(P + P.T, -(P + P.T) @ x / 2, -np.eye(n), np.full(n, 1e6), [Cone("nonnegative", n)])
        found = upper_bound(program, x)
        truth = exact_objective(program, fractions(found.x))
        assert Fraction(found.value) > truth
        terms = float(abs(x) @ abs(program.P) @ abs(x))
        assert float(Fraction(found.value) - truth) <= 1e-12 * terms


@pytest.mark.parametrize("quadratic", [False, True])
def test_the_bound_is_above_the_objective_wherever_the_exact_solution_may_be(quadratic):
    """In a box of known radius around a point: the corner where a linear objective is largest, and random points."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = 6
        F, q, x = rng.standard_normal((n, n)) * quadratic, rng.standard_normal(n), rng.standard_normal(n)
        radius = rng.random(n) * 10.0 ** rng.integers(-3, 1)
        program = ConeProgram(F.T @ F, q, -np.eye(n), np.full(n, 1e6), [Cone("nonnegative", n)])
        near = Enclosed(x, radius, np.zeros(0, dtype=np.int64), {})
        found = cone_upper._judged(program, near, np.zeros(0, dtype=np.int64))
        slope, exact = np.sign(program.P @ x + q), fractions(x)
        for side in (slope, *rng.choice([-1.0, 1.0], size=(5, n))):
            assert Fraction(found.value) > exact_objective(program, exact + fractions(side) * fractions(radius))


def solved(M, t):
    """The solution of as many equations as unknowns, in fractions (Cramer's rule)."""
    M, t = fractions(M), fractions(t)

    def determinant(A):
        if len(A) == 1:
            return A[0, 0]
        minors = (np.delete(A[1:], j, axis=1) for j in range(len(A)))
        return sum(((-1) ** j * A[0, j] * determinant(minor) for j, minor in enumerate(minors)), Fraction(0))

    columns = (np.concatenate([M[:, :j], t[:, None], M[:, j + 1 :]], axis=1) for j in range(len(t)))
    return np.array([determinant(A) / determinant(M) for A in columns], dtype=object)


@pytest.mark.parametrize("cone", ["nonnegative", "second-order"])
def test_the_objective_at_the_exact_solution_of_equations_is_below_the_bound(cone):
    """Equations determine the point, which is no double; the cone is far away."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        M, b = rng.standard_normal((3, 3)) + 3 * np.eye(3), rng.standard_normal(3)
        F = rng.standard_normal((3, 3)) * 10
        rows = np.vstack([M, np.zeros(3), -np.eye(3)])
        sides = np.concatenate([b, [1e3], np.zeros(3)])
        if cone == "nonnegative":
            sides[4:] = 1e3
        program = ConeProgram(F.T @ F, rng.standard_normal(3) * 100, rows, sides, [Cone("zero", 3), Cone(cone, 4)])
        at = solved(M, b)
        found = upper_bound(program, np.linalg.solve(M, b) * (1 + 1e-9))
        truth = exact_objective(program, at)
        size = float(1 + abs(found.x) @ abs(program.P) @ abs(found.x) + abs(program.q) @ abs(found.x))
        assert Fraction(found.value) > truth
        assert float(Fraction(found.value) - truth) <= 1e-11 * size * np.linalg.cond(M)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_equations_exclude_by_less_than_rounding_has_no_bound(sign):
    """``a'x >= c`` in a cone, where the equations say that a'x is below c by a share of 1e-16."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        M, b = rng.standard_normal((3, 3)) + 3 * np.eye(3), rng.standard_normal(3)
        a = sign * np.abs(rng.standard_normal(3))
        exact = fractions(a) @ solved(M, b)
        c = float(exact)
        c = c if Fraction(c) > exact else float(np.nextafter(c, np.inf))
        rows = np.vstack([M, -a, np.zeros(3)])
        cones = [Cone("zero", 3), Cone("second-order", 2)]
        program = ConeProgram(np.zeros((3, 3)), np.ones(3), rows, np.concatenate([b, [-c, 0.0]]), cones)
        x = np.linalg.solve(M, b)
        assert upper_bound(program, x).value == np.inf
        room = ConeProgram(program.P, program.q, program.A, np.concatenate([b, [1e-12 - c, 0.0]]), cones)
        assert upper_bound(room, x).value < np.inf


# The steps by themselves.


def test_slacks_are_within_their_radius_and_those_of_solved_rows_are_known():
    rng = np.random.default_rng(4)
    A, b, x, radius = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3), rng.uniform(0, 0.1, 3)
    program = ConeProgram(np.zeros((3, 3)), np.zeros(3), A, b, [Cone("zero", 3), Cone("nonnegative", 2)])
    near = Enclosed(x, radius, np.array([1]), {0: 0.25})
    slack, around = cone_upper._slacks(program, near, np.array([2, 0, 1]))
    assert (slack[0], around[0]) == (0.0, 0.0)
    assert (slack[2], around[2]) == (0.25, 0.0)
    for row in (1, 3, 4):
        assert slack[row] == pytest.approx(b[row] - A[row] @ x)
        assert around[row] == pytest.approx(np.abs(A[row]) @ radius, rel=1e-5)
        assert around[row] >= np.abs(A[row]) @ radius
    _, rounding = cone_upper._slacks(program, Enclosed(x, 0 * radius, np.array([1]), {}), np.array([2, 0, 1]))
    terms = np.abs(b) + np.abs(A) @ np.abs(x)
    np.testing.assert_allclose(rounding[1:], 5 * 2.0**-52 * terms[1:], rtol=1e-12)


def test_the_bound_of_a_point_counts_its_radius_and_its_rounding():
    rng = np.random.default_rng(5)
    F, q, x = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    program = ConeProgram(F.T @ F, q, np.zeros((1, 3)), [1.0], [Cone("nonnegative", 1)])
    radius, none = rng.uniform(0, 0.1, 3), np.zeros(0, dtype=np.int64)
    found = cone_upper._judged(program, Enclosed(x, radius, none, {}), none)
    P = program.P.toarray()
    moved = np.abs(P @ x + q) @ radius + 0.5 * radius @ np.abs(P) @ radius
    assert found.value - program.value(x) == pytest.approx(moved, rel=1e-5)
    assert found.value - program.value(x) >= moved
    large = ConeProgram(P, 1e8 * q, np.zeros((1, 3)), [1.0], [Cone("nonnegative", 1)])
    rounding = cone_upper._judged(large, Enclosed(x, 0 * x, none, {}), none).value - large.value(x)
    terms = np.abs(1e8 * q) @ np.abs(x) + np.abs(x) @ np.abs(P) @ np.abs(x)
    assert rounding == pytest.approx(4 * 9 * 2.0**-52 * terms, rel=0.3)
    outside = ConeProgram(
        P, q, [[1.0, 0, 0], [0, 1, 0]], [9.0, -9.0], [Cone("nonnegative", 1), Cone("second-order", 1)]
    )
    blocked = cone_upper._judged(outside, Enclosed(x, radius, none, {}), none)
    assert (blocked.value, blocked.blocked) == (np.inf, 1)


def test_a_direction_goes_into_all_inequalities_that_are_no_equations():
    """x0 <= 0 and -x0 <= 0 are an equation; x1 >= 0 can be entered; x2 = 0 must hold."""
    A = sp.csr_array(np.array([[0.0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, -1, 0]]))
    direction, pinned = cone_upper._direction(A, np.array([0]), np.array([1, 2, 3]))
    assert pinned.tolist() == [True, True, False]
    assert np.abs(direction).max() == 1.0
    assert direction == pytest.approx([0, 1, 0], abs=1e-9)
    direction, pinned = cone_upper._direction(A, np.zeros(0, dtype=int), np.array([3]))
    assert pinned.tolist() == [False]
    assert direction[1] > 0
    direction, pinned = cone_upper._direction(A, np.array([0]), np.zeros(0, dtype=int))
    assert (direction.tolist(), pinned.size) == ([0, 0, 0], 0)


def test_active_inequalities_grow_by_those_that_their_solution_violates():
    """x <= 1 seems active at 0.9; its solution violates x <= 1/2."""
    program = ConeProgram([[0.0]], [-1.0], [[1.0], [2.0]], [1.0, 1.0], [Cone("nonnegative", 2)])
    plain, zero = np.arange(2), np.zeros(0, dtype=int)
    found = list(cone_upper._of_active(program, np.array([0.9]), zero, plain, np.array([0])))
    assert [each.value for each in found[:1]] == [np.inf]
    assert len(found) == 2
    alone = list(cone_upper._of_active(program, np.array([0.4]), zero, plain, np.array([1])))
    assert len(alone) == 1
    assert alone[0].value == pytest.approx(-0.5, abs=1e-14)


def test_a_point_is_moved_into_its_inequalities():
    """0 <= x <= 0 and y >= 0 from (1e-9, -1e-9): x becomes 0 exactly, y a little more than 0."""
    rows = [[1.0, 0], [-1, 0], [0, -1]]
    program = ConeProgram(np.zeros((2, 2)), [5.0, 1.0], rows, np.zeros(3), [Cone("nonnegative", 3)])
    found = upper_bound(program, np.array([1e-9, -1e-9]))
    assert 0 <= found.value < 1e-8
    assert found.blocked is None


def test_points_are_moved_inwards_by_projections():
    """Of a disc and a half-plane, from outside of both: inside by the depth that was asked for."""
    rows = [[0.0, 0], [-1, 0], [0, -1], [-1, 0]]
    program = ConeProgram(
        np.zeros((2, 2)), [1.0, 1], rows, [1.0, 0, 0, 0.5], [Cone("second-order", 3), Cone("nonnegative", 1)]
    )
    depth = 1e-3 * np.array([np.sqrt(2), 0, 0, 1])
    x = cone_upper._deeper(program, np.array([-3.0, 4.0]), depth, cone_upper.factor(program.A.T @ program.A))
    slack = program.b - program.A @ x
    assert np.linalg.norm(slack[1:3]) <= 1 - 1e-3
    assert slack[3] >= 0.5e-3
    assert np.linalg.norm(slack[1:3]) > 0.9
