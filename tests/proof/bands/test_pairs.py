"""Pairs that are wrong in one way each: what is proved of them is no less than the truth, and not much more."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from paretoclf.proof.bands import pairs as pairs_module
from paretoclf.proof.bands.cone_line import GRID
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.bands.pairs import Near, StackedPairs, products
from paretoclf.proof.cones.cone_kinds import Cone
from tests.oracles.array_lines import SHARES, array_line, interval, least, pairs_of

NONE = (np.zeros(3), np.zeros(3))

EPS = float(np.finfo(float).eps)

#: Name -> p, q, and x, y, z at both ends, of `interval`: minimise p x^2 / 2 + q x on [-1, 1].
#: z is that of a row that is never tight, of x <= 1 and of x >= -1.
WRONG = {
    "a point off the optimum": ((1, 1), (0, 0), (0.5, 0.5), (0, 0), NONE),
    "y off the point, at one end": ((1, 1), (0, 0), (0.5, 0.0), (0, 0), NONE),
    "no multipliers": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), NONE),
    "no multipliers, the slope moves": ((0, 0), (1, 2), (0.9, 0.5), (0.9, 0.5), NONE),
    "multipliers of a wrong sign": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, -1, 0]] * 2),
    "a wrong sign beside a right one": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, -0.5, 0.5]] * 2),
    "right multipliers, a wrong point": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, 0, 1]] * 2),
    "right multipliers that grow, a wrong point": ((0, 0), (1, 3), (0.9, -0.9), (0, 0), [[0, 0, 1], [0, 0, 3]]),
    "multipliers of the other end": ((0, 0), (-1, 1), (0, 0), (0, 0), [[0, 1, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_error_at_a_time_costs_what_it_costs(name):
    p, q, x, y, z = WRONG[name]
    line = interval(p, q, moves=False)
    judge = ConeJudge(line, np.inf)
    pairs = pairs_of(judge, x, y, z)
    for pair, at in zip(pairs, x, strict=True):
        truth = line.value(np.array([at]), pair.t) - least(line, pair.t)
        assert truth <= pair.own * (1 + 1e-12) + 1e-15
        assert pair.own <= 1.15 * truth + 1e-12
    piece = judge.piece(*pairs)
    truths = {u: line.value(np.array([(1 - u) * x[0] + u * x[1]]), u) - least(line, u) for u in (0.0, *SHARES, 1.0)}
    for u, truth in truths.items():
        assert truth <= piece.at(u) * (1 + 1e-12) + 1e-15
        assert piece.low - 1e-15 <= line.value(np.array([(1 - u) * x[0] + u * x[1]]), u) <= piece.high + 1e-15
    assert max(truths.values()) <= piece.gap <= 1.15 * max(truths.values()) + 1e-12


def test_a_point_out_of_one_cone_of_many_is_refused():
    """In a ball and out of a half-plane; in the half-plane and out of the ball."""
    cones = [Cone("nonnegative", 1), Cone("second-order", 3)]
    rows = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]
    judge = ConeJudge(array_line(rows, [0.5, 1.0, 0.0, 0.0], np.ones(2), cones=cones), np.inf)
    z = np.zeros(4)
    for x, why in (((0.4, 0.0), ""), ((0.6, 0.0), "not"), ((0.0, 1.1), "not"), ((0.6, 1.1), "not")):
        pair = judge.pair(0.0, np.array(x), np.array(x), z)
        assert pair.why == (f"its point is {why} proved feasible" if why else "")


# Each bound by itself, against its formula with dense matrices, in fractions where it is about rounding.


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def random_judge(rng, *, moves=True, columns=3):
    """A judge of a random line: an equation, inequalities, a norm, a box; P, A, q, b and the constant move."""
    cones = [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 3), Cone("nonnegative", 2 * columns)]
    box = np.vstack([np.eye(columns), -np.eye(columns)])
    row = rng.normal(size=(1, columns))
    A, A_stop = (np.vstack([row, each, box]) for each in rng.normal(size=(2, 5, columns)))
    b = np.hstack([0.1 * rng.normal(size=(2, 1)), rng.uniform(1, 2, size=(2, 5)), np.full((2, 2 * columns), 3.0)])
    P, P_stop = (F @ F.T for F in rng.normal(size=(2, columns, columns)))
    ends = {"A_stop": A_stop, "P_stop": P_stop} if moves else {}
    q = rng.normal(size=(2, columns))
    return ConeJudge(array_line(A, b, q, P=P, constant=[1.5, -2.0], cones=cones, **ends), np.inf)


def exact_matrices(line, t):
    """P and A at t, in fractions."""
    share = Fraction(float(t))
    first, last = ([fractions(M.toarray()) for M in (end.P, end.A)] for end in (line.base, line.end))
    return [(1 - share) * a + share * b for a, b in zip(first, last, strict=True)]


def sizes(line, t):
    """Absolute values of the entries of P and A at 0, and t times those of what they gain."""
    ends = (line.base.P, line.end.P), (line.base.A, line.end.A)
    return [np.abs(first.toarray()) + t * np.abs((last - first).toarray()) for first, last in ends]


@pytest.mark.parametrize("moves", [True, False])
def test_points_satisfy_equations_and_slacks_are_within_their_radius(moves):
    rng = np.random.default_rng(1)
    judge = random_judge(rng, moves=moves)
    line = judge.line
    t, x = np.array([0.0, 0.25, 0.625, 1.0]), rng.normal(size=(4, 3))
    near = judge.points(t, x)
    for i, at in enumerate(t):
        _, A = exact_matrices(line, at)
        b = (1 - Fraction(at)) * fractions(line.b[0]) + Fraction(at) * fractions(line.b[1])
        point, radius = fractions(near.x[i]), fractions(near.x_radius[i])
        slack = b - A @ point
        assert abs(slack[0]) <= np.abs(A[0]) @ radius
        off = np.abs(slack - fractions(near.s[i])) + np.abs(A) @ radius
        assert all(off[1:] <= fractions(near.s_radius[i])[1:])
        assert (near.s[i, 0], near.s_radius[i, 0]) == (0.0, 0.0)
        terms = np.abs((1 - at) * line.b[0]) + np.abs(at * line.b[1]) + sizes(line, at)[1] @ np.abs(near.x[i])
        assert (near.s_radius[i] <= 20 * EPS * terms + 2 * sizes(line, at)[1] @ near.x_radius[i] + 1e-30).all()
        *found, fine = judge.point(float(at), x[i])
        alone = near.taken(i)
        assert [each.tolist() for each in found] == [
            each.tolist() for each in (alone.x, alone.x_radius, alone.s, alone.s_radius)
        ]
        assert fine == near.fine[i]
    assert np.abs(near.x - x).max() < 10


def test_radii_of_slacks_are_those_of_products(monkeypatch):
    """Radii are large where the enclosure of equations says so."""
    rng = np.random.default_rng(2)
    judge = random_judge(rng)
    around = rng.uniform(0.01, 0.1, size=(2, 3))
    given = judge._equations
    monkeypatch.setattr(
        type(given), "enclose_each",
        lambda self, t, u: (u, np.hstack([around, np.zeros((2, 2))]), np.array([[True], [False]])),
    )  # fmt: skip
    t, x = np.array([0.25, 0.5]), rng.normal(size=(2, 3))
    near = judge.points(t, x)
    for i, at in enumerate(t):
        np.testing.assert_allclose(near.s_radius[i, 1:], (sizes(judge.line, at)[1] @ around[i])[1:], rtol=1e-5)
        assert (near.s_radius[i, 1:] >= (sizes(judge.line, at)[1] @ around[i])[1:]).all()
    assert near.s[0, 0] == near.s_radius[0, 0] == 0.0
    assert near.s_radius[1, 0] > 0
    assert (near.x_radius == around).all()
    v, radius, proved = judge.directions(x)
    assert (v == x).all()
    assert (radius == around).all()
    assert proved.tolist() == [True, False]


def test_directions_keep_all_equations():
    judge = random_judge(np.random.default_rng(3))
    v, radius, proved = judge.directions(np.eye(3))
    assert proved.all()
    row = fractions(judge.line.base.A.toarray()[0])
    for i in range(3):
        assert abs(row @ fractions(v[i])) <= np.abs(row) @ fractions(radius[i])
    assert radius.max() < 1e-14
    free = ConeJudge(array_line(np.eye(2), np.ones(2), np.ones(2)), np.inf)
    assert free.directions(np.eye(2))[2].all()
    for has_equations, judged in (
        (True, judge),
        (False, free),
    ):  # without a right inverse nothing is proved of equations
        judged._equations = None
        v, radius, proved = judged.directions(np.eye(judged.line.n))
        assert (v == np.eye(judged.line.n)).all()
        assert radius.max() == 0
        assert proved.tolist() == [not has_equations] * judged.line.n
        assert (judged.points(np.zeros(1), np.zeros((1, judged.line.n))).fine[0]) != has_equations


def test_what_keeps_every_pair_from_being_proved_is_said():
    hollow = array_line(np.eye(1), np.ones(1), np.zeros(1), P=[[-1.0]])
    assert ConeJudge(hollow, 9.0).why == "P is not proved positive semidefinite"
    lacking = replace(array_line(np.eye(1), np.ones(1), np.zeros(1), P=[[1.0]]), lacks=np.zeros(1))
    assert ConeJudge(lacking, 9.0).why == ""
    box = [[1.0], [-1.0]]
    moves = array_line(box, [1.0, 1.0], np.zeros(1), P=[[1.0]], A_stop=[[2.0], [-1.0]])
    assert ConeJudge(moves, 9.0).why == ""
    assert ConeJudge(replace(moves, lacks=np.zeros(1)), 9.0).why == "P is not proved positive semidefinite"


def test_a_curvature_that_was_added_bounds_columns_without_bounds():
    """Where a shift made P convex in a column without bounds its curvature is proved, and no enclosure is needed."""
    line = array_line([[1.0, 0], [-1, 0]], [1.0, 1], np.zeros(2), P=np.diag([2.0, 3.0]))
    judge = ConeJudge(line, np.inf)
    assert judge._own_curvature.tolist() == [0, 0]
    assert judge.wide.tolist() == [False, True]
    shifted = ConeJudge(replace(line, shift=(np.array([1.0, 1.0]), np.zeros(2))), np.inf)
    assert shifted._own_curvature[0] == 0
    assert 2.9 < shifted._own_curvature[1] <= 3
    assert not shifted.wide.any()
    still = ConeJudge(replace(line, shift=(np.array([1.0, 0.0]), np.zeros(2))), np.inf)
    assert still._own_curvature.tolist() == [0, 0]
    pair = shifted.pair(0.5, np.zeros(2), np.array([0.0, 0.1]), np.zeros(2))
    curvature = shifted._own_curvature[1]
    residual = 3 * 0.1
    energy = 0.5 * 3 * 0.01
    assert pair.own == pytest.approx(energy + residual**2 / curvature + 0.5 * curvature * 0.01, rel=1e-5)
    assert pair.missed[1] == pair.reach[1] == 0


@pytest.mark.parametrize("moves", [True, False])
def test_multipliers_leave_a_residual_that_is_bounded(moves):
    rng = np.random.default_rng(4)
    judge = random_judge(rng, moves=moves)
    line = judge.line
    t, y, z = np.array([0.0, 0.25, 1.0]), rng.normal(size=(3, 3)), rng.normal(size=(3, 12))
    new_y, y_radius, new_z, z_radius, missed, fine = judge.multipliers(t, y, z)
    assert (new_y == y).all()
    assert y_radius.max() == z_radius.max() == 0.0
    assert fine.all()
    assert (new_z[:, 0] == z[:, 0]).all()
    np.testing.assert_allclose(new_z[:, 1:3], np.maximum(z[:, 1:3], 0))
    for i, at in enumerate(t):
        P, A = exact_matrices(line, at)
        q = (1 - Fraction(at)) * fractions(line.q[0]) + Fraction(at) * fractions(line.q[1])
        exact = np.abs(P @ fractions(y[i]) + q + A.T @ fractions(new_z[i]))
        assert all(a <= b for a, b in zip(exact, fractions(missed[i]), strict=True))
        np.testing.assert_allclose(missed[i], exact.astype(float), rtol=1e-11, atol=1e-13)


def test_energies_are_bounded_with_their_rounding():
    rng = np.random.default_rng(5)
    judge = random_judge(rng)
    t, e = np.array([0.25, 0.5]), rng.normal(size=(2, 3))
    radius = rng.uniform(0, 0.3, size=(2, 3))
    found, sharp = judge.energy(t, e, radius), judge.energy(t, e, 0 * e)
    for i, at in enumerate(t):
        P = exact_matrices(judge.line, at)[0]
        exact = fractions(e[i]) @ P @ fractions(e[i]) / 2
        size = sizes(judge.line, at)[0]
        assert exact <= Fraction(float(sharp[i]))
        assert sharp[i] == pytest.approx(float(exact), rel=2e-6)
        assert found[i] == pytest.approx(float(exact) + radius[i] @ size @ (np.abs(e[i]) + radius[i]), rel=1e-5)
    flat = ConeJudge(array_line(np.eye(2), np.ones(2), np.ones(2), P=[[1.0, -1], [-1, 1]]), np.inf)
    rounding = flat.energy(np.zeros(1), np.ones((1, 2)), np.zeros((1, 2)))[0]
    assert rounding == pytest.approx(4 * (2 + 4 + 2) * EPS * 4, rel=1e-12, abs=0)
    assert ConeJudge(array_line(np.eye(2), np.ones(2), np.ones(2)), 9.0).energy(t, e, radius).tolist() == [0, 0]


def test_values_are_bounded_wherever_a_point_may_be():
    rng = np.random.default_rng(6)
    judge = random_judge(rng)
    t, x, radius = np.array([0.25, 0.5]), rng.normal(size=(2, 3)), rng.uniform(0, 0.3, size=(2, 3))
    value, off = judge.values(t, x, radius)
    none, rounding = judge.values(t, x, 0 * radius)
    for i, at in enumerate(t):
        P, share = exact_matrices(judge.line, at)[0], Fraction(at)
        q = (1 - share) * fractions(judge.line.q[0]) + share * fractions(judge.line.q[1])
        point = fractions(x[i])
        exact = point @ P @ point / 2 + q @ point + (1 - share) * Fraction(1.5) - share * 2
        assert abs(exact - Fraction(float(value[i]))) <= Fraction(float(rounding[i]))
        size = sizes(judge.line, at)[0]
        absolute = np.abs(x[i])
        q_size = (1 - at) * np.abs(judge.line.q[0]) + at * np.abs(judge.line.q[1])
        terms = (q_size + size @ absolute) @ absolute + (1 - at) * 1.5 + at * 2
        count = 3 + int(judge.column_terms.max())
        assert rounding[i] == pytest.approx(4 * count * EPS * terms, rel=1e-9, abs=0)
        slope = np.abs((P @ point + q).astype(float))
        moved = slope @ radius[i] + 0.5 * radius[i] @ size @ radius[i]
        assert off[i] == pytest.approx(moved, rel=1e-5)
        assert off[i] >= moved
        assert judge.value(float(at), x[i], radius[i]) == (float(value[i]), float(off[i]))
    assert (none == value).all()


def test_terms_of_products_are_counted():
    """Entries of P and A at the start, 3, and 5 more; and those of what both gain."""
    A, A_stop = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[2.0, 0], [1, 2], [0, 1]])
    still = ConeJudge(array_line(A, np.ones(3), np.ones(2), P=np.eye(2)), 9.0)
    assert still.row_terms.tolist() == [6, 7, 6]
    assert still.column_terms.tolist() == [2 + 1 + 3 + 5] * 2
    both = ConeJudge(array_line(A, np.ones(3), np.ones(2), P=np.eye(2), A_stop=A_stop, P_stop=np.diag([1.0, 2])), 9.0)
    assert both.row_terms.tolist() == [7, 8, 6]
    assert both.column_terms.tolist() == [11 + 1, 11 + 1 + 1]


def test_the_reach_is_the_distance_to_the_corners_of_the_box():
    judge = ConeJudge(array_line([[1.0, 0], [-1, 0], [0, 1]], [2.0, 1, 5], np.zeros(2)), np.inf)
    zero = np.zeros((2, 3))
    near = Near(np.array([[0.0, 1], [1.5, 1]]), np.array([[0.1, 0], [0, 0]]), zero, zero, np.ones(2, bool))
    found = judge._reach(near)
    assert found == pytest.approx(np.array([[2.1, 0], [2.5, 0]]))
    assert judge.wide.tolist() == [False, True]


def test_products_are_bounded_at_all_corners_of_their_radii():
    rng = np.random.default_rng(7)
    for _ in range(20):
        z, s = rng.normal(size=(2, 1, 4))
        z_radius, s_radius = rng.uniform(0, 0.5, size=(2, 1, 4))
        pair = SimpleNamespace(z=z, z_radius=z_radius, s=s, s_radius=s_radius)
        found = float(products(pair, pair)[0])
        most = float((np.maximum(np.abs(z), 0) @ s_radius.T + z_radius @ (np.abs(s) + s_radius).T + z @ s.T)[0, 0])
        assert most <= found <= most + 1e-5
        sharp = SimpleNamespace(z=z, z_radius=0 * z, s=s, s_radius=0 * s)
        exact = fractions(z[0]) @ fractions(s[0])
        bound = Fraction(float(products(sharp, sharp)[0])) - exact
        assert 0 <= bound <= Fraction(7 * EPS * float(np.abs(z[0]) @ np.abs(s[0])))
        assert bound >= Fraction(5 * EPS * float(np.abs(z[0]) @ np.abs(s[0])))


def test_the_gap_of_a_pair_is_the_sum_of_its_parts():
    rng = np.random.default_rng(8)
    judge = random_judge(rng)
    for _ in range(5):
        x, y = rng.normal(size=(2, 3)) * 0.1
        pair = judge.pair(0.5, x, y, rng.normal(size=12))
        P = sum(exact_matrices(judge.line, 0.5)[0].astype(float) @ np.eye(3) for _ in range(1))
        e = pair.x - pair.y
        assert pair.bent == pytest.approx(0.5 * e @ P @ e, rel=1e-5)
        assert pair.own == pytest.approx(pair.z @ pair.s + pair.missed @ pair.reach + pair.bent, rel=1e-5)
        assert pair.own >= pair.z @ pair.s + pair.missed @ pair.reach + pair.bent
        assert (pair.value, pair.off) == judge.value(0.5, pair.x, pair.x_radius)
        corners = np.maximum(np.abs(judge.box.low - pair.x), np.abs(judge.box.high - pair.x))
        np.testing.assert_allclose(pair.reach, corners, rtol=1e-12)


def test_many_pairs_are_judged_in_parts_and_in_order(monkeypatch):
    rng = np.random.default_rng(9)
    judge = random_judge(rng)
    t = np.array([0.0, 0.25, 0.375, 0.5, 1.0])
    x, z = rng.normal(size=(5, 3)) * 0.1, rng.normal(size=(5, 12))
    alone = [judge.pair(float(at), *each) for at, *each in zip(t, x, x + 0.1, z, strict=True)]
    for at_once in (1, 2 * 12, 2**18):
        monkeypatch.setattr(pairs_module, "AT_ONCE", at_once)
        found = judge.pairs(t, x, x + 0.1, z)
        assert [pair.t for pair in found] == t.tolist()
        for one, other in zip(found, alone, strict=True):
            assert (one.own, one.value, one.off, one.why) == (other.own, other.value, other.off, other.why)
    assert judge.pairs(t[:0], x[:0], x[:0], z[:0]) == []


def test_stacked_pairs_have_a_row_for_each():
    rng = np.random.default_rng(10)
    judge = random_judge(rng)
    judge.inside = np.vstack([np.full(3, 0.01), np.full(3, 9.0)])  # feasible at the start, not at the end
    found = [judge.pair(t, *rng.normal(size=(2, 3)), rng.normal(size=12)) for t in (0.0, 1.0)]
    assert found[1].inside is None
    stacked = StackedPairs.of(found)
    assert stacked.t.tolist() == [0.0, 1.0]
    assert stacked.own.tolist() == [pair.own for pair in found]
    if found[0].inside is not None:
        assert stacked.inside.fine.tolist() == [True, False]
        assert (stacked.inside.x[0] == found[0].inside.x).all()
        assert stacked.taken(np.array([1, 0])).inside.fine.tolist() == [False, True]
    assert stacked.taken(np.array([1])).t.tolist() == [1.0]
    assert StackedPairs.of(found[1:]).inside is None


def test_columns_without_bounds_are_stationary_exactly():
    """Minimise (x0 - 1)^2 / 2 + x1 with x1 >= x0 and no other bound: z = 1, y0 = 0."""
    line = array_line([[1.0, -1.0]], [0.0], [-1.0, 1.0], P=np.diag([1.0, 0.0]))
    judge = ConeJudge(line, np.inf)
    assert judge.wide.all()
    pair = judge.pair(0.5, np.array([0.0, 0.1]), np.array([1e-6, 3.0]), np.array([1 + 1e-6]))
    assert pair.why == ""
    assert abs(pair.z[0] - 1) <= pair.z_radius[0] < 1e-14
    assert abs(pair.y[0]) <= pair.y_radius[0] < 1e-14
    assert pair.missed.tolist() == pair.reach.tolist() == [0, 0]
    assert pair.own == pytest.approx(0.1, rel=1e-5)
    low = ConeJudge(array_line([[1.0, -1.0]], [0.0], [-1.0, -1.0], P=np.diag([1.0, 0.0])), np.inf)
    assert low.pair(0.5, np.zeros(2), np.zeros(2), np.ones(1)).why.startswith(
        "its multipliers are not proved stationary"
    )


def test_multipliers_move_as_far_as_their_cones_allow():
    cones = [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 3)]
    judge = ConeJudge(array_line(np.eye(6), np.ones(6), np.zeros(6), cones=cones), np.inf)
    weights = judge._weights(np.array([-1.0, 2, -3, 5, 3, -8]), 7.0)
    assert weights == pytest.approx([7, 2, 0, 8e-6, 8e-6, 8e-6])


def test_curved_columns_and_their_matrices():
    P, P_stop = np.diag([2.0, 0, 0]), np.diag([2.0, 3, 0])
    line = array_line(np.eye(3), np.ones(3), np.zeros(3), P=P, P_stop=P_stop)
    judge = ConeJudge(line, 9.0)
    assert judge.curved.tolist() == [0, 1]
    first, change = judge.curvature
    assert (first.tolist(), change.tolist()) == ([[2, 0], [0, 0]], [[0, 0], [0, 3]])
    np.testing.assert_allclose(judge.inverse, np.diag([0.5, 0]))
    still = ConeJudge(array_line(np.eye(3), np.ones(3), np.zeros(3), P=P), 9.0)
    assert still.curved.tolist() == [0]
    assert [each.tolist() for each in still.curvature] == [[[2.0]], [[0.0]]]


def test_costs_of_curvature_are_those_of_parabolas():
    """``r x - c x^2 / 2`` is at most r^2 / (2 c); with y elsewhere both terms double. Hollow: at the far corner."""
    judge = ConeJudge(array_line(np.eye(3), np.ones(3), np.zeros(3)), np.inf)
    judge._own_curvature = np.array([0.0, 2.0, 4.0])
    missed, apart = np.array([[9.0, 1, 2]]), np.array([[9.0, 0.5, 3]])
    expected = 1 / 2 + 0.5 * 2 * 0.25 + 4 / 4 + 0.5 * 4 * 9
    assert judge._curvature_cost(missed, apart)[0] == pytest.approx(expected, rel=1e-5)
    assert judge._curvature_cost(missed, apart)[0] >= expected
    reach = np.array([[1.0, 2, 3]])
    assert judge._negative_curvature_cost(reach, apart).tolist() == [0.0]
    judge.line = SimpleNamespace(lacks=np.array([0.0, 2.0, 0.5]))
    judge.wide = np.array([True, False, False])
    found = judge._negative_curvature_cost(reach, apart)[0]
    assert found == pytest.approx(0.5 * (2 * 3**2 + 0.5 * 9**2), rel=1e-5)
    judge.wide = np.array([False, True, False])
    assert judge._negative_curvature_cost(reach, apart)[0] == np.inf


GRID_POINTS = {0.0: True, 1.0: True, GRID: True, GRID / 2: False, 0.1: False, -GRID: False, 1 + GRID: False}


@pytest.mark.parametrize("t", GRID_POINTS)
def test_the_grid_is_between_0_and_1(t):
    assert ConeJudge.on_grid(t) == GRID_POINTS[t]
