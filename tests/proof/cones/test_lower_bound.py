"""Bounds of multipliers, rounded outwards: against the same bounds in fractions, and those of neighbours."""

from __future__ import annotations

import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.cones import lower_bound
from paretoclf.proof.cones.cone_judge import cone_bounds
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.lower_bound import Box, _with_best_bounds, dual_value, in_dual, refined
from paretoclf.solve.judging import candidates


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def exact_value(program, y, z, box):
    """``-y'Py/2 - b'z + min r'x`` over the box, r = Py + q + A'z, without rounding; y and z may be fractions."""
    P, A = fractions(program.P.toarray()), fractions(program.A.toarray())
    q, b = fractions(program.q), fractions(program.b)
    r = P @ y + q + A.T @ z
    value = -(y @ P @ y) / 2 - b @ z
    for j, slope in enumerate(r):
        if slope:
            value += min(slope * Fraction(float(edge[j])) for edge in (box.low, box.high))
    return value


def random_program(rng, bend=True):
    """Numbers of all sizes, a box, and multipliers in the dual cone."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    F = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-2, 3)
    A = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-2, 3, (m, 1))
    program = ConeProgram(
        F.T @ F * bend,
        rng.standard_normal(n) * 10.0 ** rng.integers(-2, 4),
        A,
        rng.standard_normal(m) * 100,
        [Cone("nonnegative", m)],
    )
    centre, half = rng.standard_normal(n), 10.0 ** rng.uniform(-6, 3, n)
    return (
        program,
        rng.standard_normal(n),
        rng.random(m) * 10.0 ** rng.integers(-2, 3),
        Box(centre - half, centre + half),
    )


def test_a_bound_is_below_its_own_value_in_fractions():
    rng, total = np.random.default_rng(1), 300
    for trial in range(total):
        program, y, z, box = random_program(rng, bend=trial % 3 > 0)
        found = dual_value(program, y, z, box)
        truth = exact_value(program, fractions(y), fractions(z), box)
        P, A = abs(program.P.toarray()), abs(program.A.toarray())
        far = np.maximum(abs(box.low), abs(box.high)) + abs(y)
        size = abs(y) @ P @ abs(y) + abs(program.q) @ abs(y) + abs(program.b) @ z + z @ A @ abs(y)
        size = float(size + (P @ abs(y) + abs(program.q) + A.T @ z) @ far)
        assert Fraction(found.value) < truth, trial
        assert float(truth - Fraction(found.value)) <= 1e-12 * size, trial
        assert not found.unabsorbed


def second_order(name, n=200, d=6):
    """Second-order cone problems of samples."""
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((n, d)), rng.standard_normal(d)
    labels = np.sign(X @ beta + 2 * rng.standard_normal(n))
    w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
    rows = [cp.multiply(labels, X @ w + b) >= 1 - xi]
    if name == "norm":
        return cp.Problem(cp.Minimize(cp.norm(w) + 0.1 * cp.sum(xi)), rows)
    if name == "ball":
        return cp.Problem(cp.Minimize(cp.sum(xi)), [*rows, cp.norm(w) <= 1])
    loss = cp.sum_squares(X @ w - X @ beta - rng.standard_normal(n)) / 2
    return cp.Problem(cp.Minimize(loss + 5 * sum(cp.norm(w[k : k + 2]) for k in range(0, d, 2))))


@pytest.mark.parametrize("name", ["norm", "ball", "group lasso"])
def test_where_every_variable_has_bounds_no_equations_are_solved(name, monkeypatch):
    """Residuals go to bounds, and projections do the rest; nor is the user's own point completed."""
    calls = []
    monkeypatch.setattr(lower_bound, "_solved", lambda *given: calls.append("solved"))
    monkeypatch.setattr(candidates, "_balanced", lambda *given: calls.append("balanced"))
    problem = second_order(name)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    proof = pc.verify(problem)
    assert proof.status == "optimal", proof.explain()
    assert proof.upper - proof.lower <= 1e-9 * proof.upper
    assert calls == []


@pytest.mark.parametrize(
    ("cone", "edge", "outside", "inside"),
    [
        (Cone("nonnegative", 2), [0.0, 1.0], [-1e-12, 1.0], [1e-3, 1.0]),
        (Cone("second-order", 3), [5.0, 3.0, 4.0], [5.0 - 1e-12, 3.0, 4.0], [5.1, 3.0, 4.0]),
        (Cone("psd", 2), [1.0, np.sqrt(2.0), 1.0], [1.0 - 1e-12, np.sqrt(2.0), 1.0], [1.1, np.sqrt(2.0), 1.0]),
        (Cone("exponential"), [-1.0, 1.0, np.exp(-2.0)], [-1.0, 1.0, np.exp(-2.0) - 1e-12], [-1.0, 1.0, 0.2]),
        (Cone("power", 3, 0.5), [0.5, 0.5, 1.0], [0.5, 0.5 - 1e-12, 1.0], [0.6, 0.6, 1.0]),
    ],
)
def test_multipliers_on_an_edge_are_taken_only_where_nothing_moved(cone, edge, outside, inside):
    """Those that are known to be in the dual cone, to the last bit, need not be proved to be in it again."""
    cones, still, moved = Cones([cone]), np.zeros(len(edge)), np.full(len(edge), 1e-6)
    edge, outside, inside = (np.array(each) for each in (edge, outside, inside))
    assert in_dual(edge, still, edge, cones)
    assert not in_dual(edge, moved, edge, cones)  # neighbours are outside
    assert not in_dual(outside, still, edge, cones)
    assert not in_dual(outside, moved, edge, cones)
    assert in_dual(inside, moved, edge, cones)


@pytest.mark.parametrize(("exponent", "over", "root"), [(0.25, 1, 4), (0.375, 3, 8), (0.75, 3, 4), (2.0**-9, 1, 512)])
def test_whatever_is_near_multipliers_of_a_power_cone_is_in_its_dual(exponent, over, root):
    """The corner that is farthest out, in whole powers of fractions: ``|w|`` from inside to outside by rounding."""
    rng, cones, taken = np.random.default_rng(4), Cones([Cone("power", 3, exponent)]), 0
    for _ in range(60):
        u, v = rng.random(2).tolist()
        radius = np.array([u, v, 1.0]) * rng.random(3) * 10.0 ** rng.integers(-6, 0)
        most = ((u - radius[0]) / exponent) ** exponent * ((v - radius[1]) / (1 - exponent)) ** (1 - exponent) - radius[
            2
        ]
        for share in (1e-6, 1e-11, 1e-13, *(2.0**-52 * np.arange(-8, 16, 2))):
            w = float(rng.choice([-1.0, 1.0])) * most * (1 - share)
            found = most > 0 and in_dual(np.array([u, v, w]), radius, np.zeros(3), cones)
            taken += found
            x, y = (Fraction(z) - Fraction(r) for z, r in zip((u, v), radius.tolist(), strict=False))
            a, size = Fraction(exponent), abs(Fraction(w)) + Fraction(radius[2])
            if found:
                assert (x / a) ** over * (y / (1 - a)) ** (root - over) >= size**root
    assert taken >= 2 * 40


# The steps by themselves.


def test_boxes_hold_both_of_two_bounds_that_contradict_each_other():
    box = Box.of(np.array([0.0, 2.0, -np.inf]), np.array([-1.0, 3.0, 1.0]))
    assert (box.low.tolist(), box.high.tolist()) == ([-1, 2, -np.inf], [0, 3, 1])
    assert box.reach.tolist() == [1, 3, np.inf]
    assert box.wide.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("lower", "upper", "tol", "is_close"),
    [
        (1.0, 1.01, 0.01, True),
        (1.0, 1.02, 0.01, False),
        (-2.0, -2.02, 0.01, True),
        (0.0, 1e-6, 1e-3, True),
        (0.0, 2e-6, 1e-3, False),
        (-np.inf, 1.0, np.inf, False),
        (1.0, np.inf, np.inf, False),
    ],
)
def test_bounds_are_close_relative_to_the_larger_one(lower, upper, tol, is_close):
    assert lower_bound.close(lower, upper, tol) == is_close


def test_the_least_product_is_that_of_a_corner():
    rng = np.random.default_rng(1)
    residual, error = rng.normal(size=(2, 50))
    error = np.abs(error)
    edges = rng.normal(size=(2, 50))
    found = lower_bound._least_products(residual, error, tuple(edges))
    corners = [(residual + sign * error) * edge for sign in (-1, 1) for edge in edges]
    np.testing.assert_allclose(found, np.min(corners, axis=0))
    infinite = np.array([-np.inf, np.inf])
    assert lower_bound._least_products(np.zeros(2), np.zeros(2), (infinite, -infinite)).tolist() == [0, 0]
    assert lower_bound._least_products(np.ones(1), np.zeros(1), (infinite[:1], infinite[1:])).tolist() == [-np.inf]


def test_negative_curvature_costs_its_square_over_the_box():
    program = ConeProgram(np.diag([-2.0, 3.0]), np.zeros(2), np.zeros((1, 2)), [0.0], [Cone("nonnegative", 1)])
    edges = np.array([-1.0, -9.0]), np.array([3.0, 9.0])
    found = lower_bound._with_negative_curvature(program, np.array([1.0, 2.0]), edges, np.array([0.5, 0.5]))
    curvature = program.curvature[0]
    assert -2 * (1 + 1e-9) <= curvature <= -2
    assert found == pytest.approx([1 + 0.5 * curvature * 3.5**2, 2], rel=1e-8)
    assert found[0] < 1 + 0.5 * curvature * 3.5**2


def test_a_diagonal_quadratic_has_a_best_y():
    program = ConeProgram(np.diag([2.0, 0, -1]), [1.0, 1, 1], -np.eye(3), np.zeros(3), [Cone("nonnegative", 3)])
    y, z = lower_bound._with_best_y(program, np.array([7.0, 8, 9]), np.array([5.0, 1, 1]))
    assert y.tolist() == [2.0, 0.0, 9.0]
    assert z.tolist() == [5, 1, 1]
    full = ConeProgram(np.ones((3, 3)), np.ones(3), -np.eye(3), np.zeros(3), [Cone("nonnegative", 3)])
    assert lower_bound._with_best_y(full, np.array([7.0, 8, 9]), np.ones(3))[0].tolist() == [7, 8, 9]


MIXED = ConeProgram(
    np.zeros((2, 2)), [0.0, -30.0], np.zeros((8, 2)), np.zeros(8),
    [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 2), Cone("exponential")],
)  # fmt: skip


def test_multipliers_move_as_far_as_their_cones_allow():
    weights = lower_bound._weights(MIXED, np.array([-4.0, 2, -1, 5, 3, 1, 1, 1]), 0.5)
    assert weights.tolist() == [5.0, 2.0, 0.0, 2.0, 2.0, 0.5, 0.5, 0.5]
    small = lower_bound._weights(MIXED, np.array([0.5, 0, 0, 3, 2.9, 0, 0, 0]), 0.5)
    assert small.tolist() == [3.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_small_multipliers_are_tried_without_and_with():
    """1e-9 of the largest multiplier, 10, or of the largest cost, 30, for the cones with curved faces."""
    z = np.array([0.0, 10.0, 9e-9, 1e-8, 2e-8, 4e-8, 1, 1])
    ways = list(lower_bound._ways(MIXED, z))
    depths = [0.0, 1e-13, 1e-11, 1e-9, 1e-7]
    assert [depth for depth, _ in ways] == depths * 2
    inequality, cone = np.arange(8) == 2, np.isin(np.arange(8), [2, 3, 4])
    assert all((none == cone).all() for _, none in ways[:5])
    assert all((none == inequality).all() for _, none in ways[5:])
    assert [depth for depth, _ in lower_bound._ways(MIXED, z * [1, 1, 1, 1e9, 1, 1, 1, 1])] == depths
    plain = ConeProgram(
        np.zeros((1, 1)), [0.0], np.zeros((3, 1)), np.zeros(3), [Cone("zero", 1), Cone("nonnegative", 2)]
    )
    found = list(lower_bound._ways(plain, np.array([1.0, 1e-8, 1e-11])))
    assert [(depth, none.tolist()) for depth, none in found] == [
        (0.0, [False, False, True]), (0.0, [False, True, True]), (0.0, [False, False, False])
    ]  # fmt: skip


def test_an_equation_is_solved_exactly_where_nothing_bounds_a_variable():
    """Minimise 3 x with x >= 1/3, from a multiplier that is off: the bound is 1 to rounding."""
    program = ConeProgram([[0.0]], [3.0], [[-9.0]], [-3.0], [Cone("nonnegative", 1)])
    box = Box(np.array([-np.inf]), np.array([np.inf]))
    found = lower_bound.lower_bound(program, np.zeros(1), np.array([0.3334]), box, 1.0)
    assert 1 - 1e-14 < found.value < 1
    assert found.unabsorbed == {}
    pair = np.zeros(1), np.array([0.3334])
    everything = np.ones(1, dtype=bool)
    solved = lower_bound._solved(program, pair, box, everything, (0.0, np.zeros(1, dtype=bool)))
    assert solved.z[0] == pytest.approx(1 / 3, rel=1e-15)
    none = lower_bound._solved(program, pair, box, everything, (0.0, everything))  # the multiplier is put to 0
    assert (none.value, none.unabsorbed) == (-np.inf, {0: 3.0})
    wrong = ConeProgram([[0.0]], [-3.0], [[-9.0]], [-3.0], [Cone("nonnegative", 1)])
    none = lower_bound._solved(wrong, pair, box, everything, (0.0, np.zeros(1, dtype=bool)))
    assert (none.value, none.z.tolist()) == (-np.inf, [0.0])  # -1/3 is no multiplier


def test_duals_are_mapped_onto_their_cones_with_their_radii():
    rng = np.random.default_rng(2)
    points, radius = rng.normal(size=(2, 5, 3))
    radius = np.abs(radius)
    mapped, around = lower_bound._from_dual_exponential(points, radius)
    u, v, w = points.T
    np.testing.assert_allclose(mapped, np.stack([u - v, -u, w], axis=1))
    np.testing.assert_allclose(
        around, np.stack([radius[:, 0] + radius[:, 1], radius[:, 0], radius[:, 2]], axis=1), rtol=1e-13
    )
    rounding = lower_bound._from_dual_exponential(points, 0 * radius)[1]
    np.testing.assert_allclose(rounding, 4 * 2.0**-52 * np.abs(points).max(axis=1)[:, None] * np.ones(3))
    exponent = rng.uniform(0.1, 0.9, 5)
    share = np.stack([exponent, 1 - exponent, np.ones(5)], axis=1)
    mapped, around = lower_bound._from_dual_power(points, radius, exponent)
    np.testing.assert_allclose(mapped, points / share)
    np.testing.assert_allclose(around, radius / share, rtol=1e-13)
    np.testing.assert_allclose(
        lower_bound._from_dual_power(points, 0 * radius, exponent)[1], 4 * 2.0**-52 * np.abs(points / share)
    )


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
    assert lower_bound.lower_bound(program, x, z, box, -5.0, 1e-4).value > dual_value(program, x, z, box).value
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


def test_a_larger_bound_is_better_and_of_infinite_ones_the_smaller_residual():
    bounds = [lower_bound.Below(value, np.zeros(1), np.array([residual]), {}) for value, residual in
              ((1.0, 9.0), (0.0, 0.0), (-np.inf, 1.0), (-np.inf, -2.0))]  # fmt: skip
    assert sorted(bounds, key=lambda each: each.rank, reverse=True) == bounds


def test_projections_end_where_they_gain_nothing():
    """No multiplier is stationary: the best of all pairs that were seen is given back, with its y."""
    program = ConeProgram([[1.0, 0], [0, 0]], [2.0, -3.0], [[-1.0, -1]], [0.0], [Cone("nonnegative", 1)])
    y, z = refined(program, np.array([5.0, 5]), np.array([1.0]))
    missed = np.abs(program.P @ y + program.q + program.A.T @ z).max()
    assert z.tolist() == pytest.approx([0.0], abs=1e-6)
    assert missed == pytest.approx(3.0, abs=1e-6)


def test_residuals_of_a_pair_count_the_quadratic_and_the_costs():
    """Where the quadratic couples y and z: projections find the only stationary pair."""
    program = ConeProgram([[2.0, 1], [1, 2]], [-3.0, 1.0], [[1.0, 2], [-1, 0]], [4.0, 5], [Cone("nonnegative", 2)])
    z = np.array([0.5, 0.25])
    y = np.linalg.solve(program.P.toarray(), -(program.q + program.A.T @ z))
    found = refined(program, y + 1e-3 * np.array([1, -1]), z + 1e-3 * np.array([1, 2]))
    missed = program.P @ found[0] + program.q + program.A.T @ found[1]
    assert np.abs(missed).max() < 1e-12
    assert np.abs(found[0] - y).max() < 1e-2


def test_slacks_that_cancel_are_rounded():
    """``-z'(b - Ay)`` of huge b and Ay, a box that is the point: the bound loses some roundings of both."""
    program = ConeProgram([[0.0]], [0.0], [[1e8]], [1e8], [Cone("nonnegative", 1)])
    found = dual_value(program, np.ones(1), np.ones(1), Box(np.ones(1), np.ones(1)))
    assert -found.value >= 3 * 2.0**-52 * 2e8


T, X, Z = cp.Variable(name="t"), cp.Variable(name="x"), cp.Variable(name="z")
LABELS = np.array([1.0, 1, -1, -1])
SIDES = LABELS[:, None] * np.array([[1.0, 0], [2, 1], [-1, 0], [-2, 1]])
W = cp.Variable(2, name="w")

#: Infima that no point attains, each with its value; where there are no multipliers on a face there is none.
INFIMA = {
    "separated": (1 + cp.sum(cp.logistic(-SIDES @ W)), [], 1.0),
    "exponential": (2 * cp.exp(Z), [], 0.0),
    "matrix": (3 * T, [cp.bmat([[T, 1], [1, X]]) >> 0], 0.0),
    "norm": (2 + cp.norm2(cp.hstack([1, Z])) - Z, [], 2.0),
    "inverse": (1 + cp.inv_pos(Z), [], 1.0),
    "square over": (1 + cp.quad_over_lin(X - 1, Z), [], 1.0),
    "mean": (X, [cp.geo_mean(cp.hstack([X, Z])) >= 1], 0.0),
}


@pytest.mark.parametrize("name", INFIMA)
def test_an_infimum_that_is_not_attained_is_a_bound(name):
    objective, rows, infimum = INFIMA[name]
    problem = cp.Problem(cp.Minimize(objective), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve("CLARABEL")
        proof = pc.verify(problem)
    assert infimum - 1e-4 <= proof.lower <= infimum <= proof.upper <= infimum + 1e-3


@pytest.mark.parametrize("share", [1e-12, 1e-3, 1.0])
def test_no_multipliers_on_a_face_bound_what_has_no_bound(share):
    """norm(1, z) - (1 + share) z falls for ever, and so does t where only the other diagonal entry is bounded."""
    second = ConeProgram(
        np.zeros((2, 2)),
        [1.0, -1.0 - share],
        -np.array([[1.0, 0], [0, 0], [0, 1]]),
        [0.0, 1, 0],
        [Cone("second-order", 3)],
    )
    matrix = ConeProgram(
        np.zeros((2, 2)), [-share, 1.0], -np.array([[1.0, 0], [0, 0], [0, 1]]), [0.0, np.sqrt(2), 0], [Cone("psd", 2)]
    )
    rng = np.random.default_rng(0)
    for program, ray in ((second, [1.0, 0, -1]), (matrix, [0.0, 0, 1])):
        for size in (0.0, 1e-12, 1e-6, 1e-3, 1e-1):
            z = np.array(ray) + size * rng.normal(size=3)
            assert cone_bounds(program, np.array([1e5, 1e5]), z).lower == -np.inf
