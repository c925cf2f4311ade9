"""The judge of pairs and pieces: what is out of its cone, off its grid, or not stationary is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from paretoclf.proof.bands.band_proof import judge_cone_ray, prove_band
from paretoclf.proof.bands.cone_line import GRID, AffineMatrix, ConeLine
from paretoclf.proof.bands.line_bounds import line_box
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.cones.cone_kinds import Cone, Cones, interior, project
from paretoclf.solve.eps.solver import ConeSolver
from tests.oracles.array_lines import interval


def ball(stop=3.0):
    """The least c'x in a ball of radius 1 to ``stop``: value minus that radius, at minus that times c."""
    cones = Cones([Cone("second-order", 3)])
    A = np.vstack([np.zeros(2), -np.eye(2)])
    q, b = np.tile([0.6, 0.8], (2, 1)), np.array([[1.0, 0, 0], [stop, 0, 0]])
    return ConeLine(np.zeros((2, 2)), A, q, b, np.zeros(2), 0, 1, {}, {}, (), cones)


def optimal(t, radius):
    return -radius * (1 - 1e-12) * np.array([0.6, 0.8]), np.array([1.0, 0.6, 0.8])


def pair_of(judge, t, stop=3.0):
    x, z = optimal(t, 1 + t * (stop - 1))
    return judge.pair(t, x, x, z)


def test_a_straight_value_is_proved_by_two_pairs():
    judge = ConeJudge(ball(), 0.0)
    k, j = pair_of(judge, 0.0), pair_of(judge, 1.0)
    piece = judge.piece(k, j)
    assert k.why == j.why == ""
    assert piece.gap < 1e-10
    assert piece.low <= -3 + 1e-11 < -1 - 1e-11 <= piece.high
    assert piece.unit(0.0) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("out", [10, 1000])
def test_a_slack_that_leaves_its_cone_by_ten_radii_is_refused(out):
    judge = ConeJudge(ball(), 0.0)
    pair = pair_of(judge, 0.5)
    radius = float(pair.s_radius.max())
    inside, _ = optimal(0.5, 2.0)
    edge = inside / np.linalg.norm(inside) * 2.0
    further = edge * (1 + out * radius)
    assert judge.pair(0.5, further, further, pair.z).why == "its point is not proved feasible"


def test_what_is_off_the_grid_is_refused():
    judge = ConeJudge(ball(), 0.0)
    assert not judge.on_grid(0.1)
    assert judge.on_grid(np.floor(0.1 / GRID) * GRID)
    assert judge.pair(0.1, *optimal(0.1, 1.2)[:1] * 2, optimal(0.1, 1.2)[1]).why.startswith("t is no multiple")


def test_multipliers_that_miss_stationarity_cost_what_they_can():
    judge = ConeJudge(ball(), 0.0)
    x, z = optimal(0.0, 1.0)
    for size in (1e-9, 1e-6, 1e-3):
        pair = judge.pair(0.0, x, x, z * (1 + size))
        # |r| is size times (0.6, 0.8), and the box is [-3, 3] in both.
        assert size * 1.4 <= pair.own <= size * 1.4 * 5 + 1e-11


def test_a_hollow_quadratic_is_refused():
    line = replace(ball(), P=np.diag([-1.0, 0.0]))
    x, z = optimal(0.0, 1.0)
    assert ConeJudge(line, 10.0).pair(0.0, x, x, z).why == "P is not proved positive semidefinite"


def test_a_quadratic_that_becomes_hollow_is_refused():
    """x^2 / 2 at the start, -x^2 / 2 at the end: at x = 0 that is 1/2 above the least on [-1, 1]."""
    for p, why in ((1.0, ""), (0.0, ""), (-1e-6, "P is not"), (-1.0, "P is not")):
        judge = ConeJudge(interval((1.0, p), (0.0, 0.0), moves=False), np.inf)
        pairs = [judge.pair(t, np.zeros(1), np.zeros(1), np.zeros(3)) for t in (0.0, 1.0)]
        assert [pair.why.startswith(why) for pair in pairs] == [True, True]
        assert np.isfinite(judge.piece(*pairs).gap) == (not why)


def test_a_column_without_bounds_needs_exact_multipliers():
    """Minimise s - x2/2 with s at least the norm of (1 + t, x2): x2 has bounds only through the objective."""
    cones = Cones([Cone("second-order", 3)])
    A, q = np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]]), np.tile([1.0, -0.5], (2, 1))
    line = ConeLine(np.zeros((2, 2)), A, q, np.array([[0, 1.0, 0], [0, 2.0, 0]]), np.zeros(2), 0, 1, {}, {}, (), cones)
    judge = ConeJudge(line, np.inf)
    assert judge.wide.all()
    root = np.sqrt(0.75)
    x = np.array([1 / root + 1e-9, 0.5 / root])
    inside = np.array([1.0, -root + 1e-9, -0.5])
    assert judge.pair(0.0, x, x, inside).why == ""
    assert judge.pair(0.0, x, x, np.array([1.0, -root, -0.5])).why.startswith("its multipliers are not proved")
    assert judge.pair(0.0, x, x, inside).own < 1e-8


def test_the_box_holds_every_point_of_the_line():
    box = line_box(ball(), -0.5)
    assert (box.low <= -3).all()
    assert (box.high < 10).all()
    assert not box.wide.any()


def test_moving_equations_are_enclosed_with_the_exact_right_side():
    """x = b(t) for numbers whose combinations are no doubles: the enclosure holds them."""
    rng = np.random.default_rng(3)
    b = rng.normal(size=(2, 4)) * 10.0 ** rng.integers(-8, 8, size=(2, 4))
    line = ConeLine(
        np.zeros((4, 4)), np.eye(4), np.ones((2, 4)), b, np.zeros(2), 4, 1, {}, {}, (), Cones([Cone("zero", 4)])
    )
    judge = ConeJudge(line, np.inf)
    for t in (np.floor(rng.random(20) / GRID) * GRID).tolist():
        x, radius, *_, fine = judge.point(t, (1 - t) * b[0] + t * b[1])
        assert fine
        for i in range(4):
            exact = (1 - Fraction(t)) * Fraction(b[0, i]) + Fraction(t) * Fraction(b[1, i])
            assert abs(exact - Fraction(x[i])) <= Fraction(radius[i])


def moving(rng, rows=6, columns=3):
    """Random inequalities with 0 inside, and a box, along a line on which their matrix moves."""
    box = np.vstack([np.eye(columns), -np.eye(columns)])
    first, last = (np.vstack([rng.normal(size=(rows, columns)), box]) for _ in range(2))
    b = np.hstack([0.5 + rng.random((2, rows)), np.full((2, 2 * columns), 3.0)])
    cones = Cones([Cone("nonnegative", rows + 2 * columns)])
    q = rng.normal(size=(2, columns))
    P = np.zeros((columns, columns))
    return ConeLine(P, first, q, b, np.zeros(2), 0, 1, {}, {}, (), cones, A_stop=last)


def solved(line, t):
    """A vertex and multipliers at t, moved inwards by a little."""
    found = linprog(line.at(t).q, A_ub=line.at(t).A, b_ub=line.at(t).b, bounds=(None, None))
    return found.x * (1 - 1e-9), -found.ineqlin.marginals


def test_points_between_two_pairs_are_feasible_where_the_matrix_moves():
    """In fractions, at several shares of the way: what is off is within the radius."""
    rng = np.random.default_rng(5)
    bends = 0
    for _ in range(12):
        line = moving(rng)
        judge = ConeJudge(line, np.inf, np.zeros((2, 3)))
        ends = [float(np.floor(t / GRID) * GRID) for t in (0.3, 0.37)]
        pairs = [judge.pair(t, *(x := solved(line, t))[:1], x[0], x[1]) for t in ends]
        piece = judge.piece(*pairs)
        assert np.isfinite(piece.gap)
        bends += piece.bend.inwards > 0
        for u in (0.1, 0.5, 0.83):
            x, radius = piece.bend.at(*pairs, u)
            t = Fraction(ends[0]) + Fraction(u) * (Fraction(ends[1]) - Fraction(ends[0]))
            for i in range(line.m):
                row = [(1 - t) * Fraction(a) + t * Fraction(c) for a, c in zip(line.A[i], line.A_stop[i], strict=True)]
                side = (1 - t) * Fraction(line.b[0, i]) + t * Fraction(line.b[1, i])
                slack = side - sum(a * Fraction(v) for a, v in zip(row, x.tolist(), strict=True))
                assert slack >= -sum(abs(a) * Fraction(r) for a, r in zip(row, radius.tolist(), strict=True))
            here = line.at(float(t))
            best = linprog(here.q, A_ub=here.A, b_ub=here.b, bounds=(None, None)).fun
            assert best - 1e-9 <= here.value(x) <= best + piece.at(u) + 1e-9
    assert bends > 3


def both_move(rng):
    """Random cones with 0 (or nearly) inside and a box, on a line on which P, A, q and b move; its points inside."""
    n, equation = int(rng.integers(2, 5)), bool(rng.random() < 0.3)
    kinds = [Cone("nonnegative", 2), Cone("second-order", int(rng.integers(2, 5)))]
    kinds += [Cone("exponential", 3)] * (rng.random() < 0.4) + [Cone("psd", 2)] * (rng.random() < 0.4)
    into = interior(kinds)
    first = rng.normal(size=(into.size, n))
    last = first + rng.normal(size=first.shape) * 10.0 ** rng.uniform(-2, 0) * (rng.random(first.shape) < 0.7)
    b = rng.uniform(1, 2, size=(2, 1)) * into + 0.05 * rng.normal(size=(2, into.size))
    box, inside = np.vstack([np.eye(n), -np.eye(n)]), np.zeros((2, n))
    first, last, b = np.vstack([first, box]), np.vstack([last, box]), np.hstack([b, np.full((2, 2 * n), 2.0)])
    cones = [*kinds, Cone("nonnegative", 2 * n)]
    if equation:
        row, side = rng.normal(size=(1, n)), 0.1 * rng.normal(size=(2, 1))
        first, last, b = np.vstack([row, first]), np.vstack([row, last]), np.hstack([side, b])
        cones, inside = [Cone("zero", 1), *cones], side * row / float((row**2).sum())
    P = [sp.csc_array(F @ F.T) for F in rng.normal(size=(2, n, n))]
    A = [sp.csc_array(each) for each in (first, last)]
    q, constant = rng.normal(size=(2, n)), rng.normal(size=2)
    k = int(equation)
    line = ConeLine(P[0], A[0], q, b, constant, k, 1, {}, {}, (), Cones(cones), P_stop=P[1], A_stop=A[1])
    return line, inside


def test_random_pairs_bound_the_value_where_both_matrices_move():
    """Points and multipliers that are more or less off, at random: bounds hold against a solver between them."""
    rng = np.random.default_rng(8)
    used = 0.0
    for _ in range(25):
        line, inside = both_move(rng)
        judge = ConeJudge(line, np.inf if rng.random() < 0.5 else 50.0, inside)
        solver = ConeSolver(line, 1e-11)
        t = [float(np.floor(each / GRID) * GRID) for each in (0.4, 0.4 + 10 ** rng.uniform(-2, -0.5))]
        pairs = []
        for each in t:
            x, z, _ = solver(each)
            share, off = 10.0 ** rng.uniform(-8, 0), 10.0 ** rng.uniform(-8, 0)
            x = (1 - share) * x + share * ((1 - each) * inside[0] + each * inside[1])
            y, z = x + off * rng.normal(size=x.size), z + off * rng.normal(size=z.size)
            pairs.append(judge.pair(each, x, y, z))
        piece = judge.piece(*pairs)
        assert piece.gap < np.inf
        for u in (0.2, 0.5, 0.8):
            point, radius = piece.bend.at(*pairs, u)
            at = (1 - u) * t[0] + u * t[1]
            (value, off), best = judge.value(at, point, radius), line.value(solver(at)[0], at)
            slack = line.at(at).b - line.at(at).A @ point
            assert np.abs(slack - project(slack, line.cones)).max() < 1e-12
            assert value - off - piece.at(u) - 1e-8 <= best <= value + off + 1e-8
            assert piece.low - 1e-12 <= value <= piece.high + 1e-12
            used = max(used, (value - best) / piece.at(u))
    assert 0.5 < used < 1 + 1e-6  # the bound is nearly reached


def test_what_is_proved_of_one_does_not_depend_on_the_others():
    """Pairs and pieces one by one, and all at once: the same doubles."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        line, inside = both_move(rng)
        judge, solver = ConeJudge(line, np.inf, inside), ConeSolver(line, 1e-9)
        t = np.floor(np.linspace(0.2, 0.9, 7) / GRID) * GRID
        x, z = (np.stack(each) for each in zip(*(solver(each)[:2] for each in t.tolist()), strict=True))
        x = 0.999 * x + 0.001 * ((1 - t)[:, None] * inside[0] + t[:, None] * inside[1])
        pairs = judge.pairs(t, x, x, z)
        for i, pair in enumerate(pairs):
            alone = judge.pair(float(t[i]), x[i], x[i], z[i])
            for name in ("x", "x_radius", "s", "s_radius", "z", "missed", "own", "value", "off"):
                assert np.array_equal(getattr(pair, name), getattr(alone, name)), name
        for k, j, piece in zip(pairs, pairs[1:], judge.pieces(pairs[:-1], pairs[1:]), strict=False):
            alone = judge.piece(k, j)
            assert (piece.a, piece.b, piece.c, piece.low) == (alone.a, alone.b, alone.c, alone.low)
            assert np.isfinite(piece.gap)


def test_a_piece_without_points_inside_is_not_proved():
    rng = np.random.default_rng(5)
    line, t = moving(rng), [0.25, 0.5]
    for inside in (None, np.full((2, 3), 2.9)):
        judge = ConeJudge(line, np.inf, inside)
        pairs = [judge.pair(s, *(x := solved(line, s))[:1], x[0], x[1]) for s in t]
        assert [pair.why for pair in pairs] == ["", ""]
        assert judge.piece(*pairs).gap == np.inf


def test_coefficients_that_move_need_bounds_and_stand_in_no_equation():
    one = np.ones((1, 1))
    free = ConeLine(
        0 * one, one, np.ones((2, 1)), np.ones((2, 1)), np.zeros(2), 0, 1, {}, {}, (), Cones([Cone("nonnegative", 1)]),
        A_stop=2 * one,
    )  # fmt: skip
    why = ConeJudge(free, np.inf).pair(0.0, np.zeros(1), np.zeros(1), np.zeros(1)).why
    assert why == "coefficients move of what the constraints imply no bounds of (auxiliary variable 0)"
    equation = replace(free, equations=1, cones=Cones([Cone("zero", 1)]))
    assert ConeJudge(equation, np.inf).pair(0.0, np.ones(1), np.ones(1), np.zeros(1)).why.startswith("coefficients")
    held = replace(equation, P=one)
    assert ConeJudge(held, 5.0).pair(0.0, np.ones(1), np.ones(1), -2 * np.ones(1)).why == (
        "the coefficients of an equation move"
    )


def test_the_box_of_a_line_with_moving_rows():
    """A norm s above (x, 1), -1 <= x <= 1, and r s <= 9 with r from 1 to 2: s may be taken as the norm itself."""
    A = np.array([[-1.0, 0], [0, -1.0], [0, 0], [1.0, 0], [0, 1.0], [0, -1.0]])
    last = A.copy()
    last[3, 0] = 2.0
    b = np.tile([0.0, 0, 1.0, 9.0, 1.0, 1.0], (2, 1))
    cones = Cones([Cone("second-order", 3), Cone("nonnegative", 3)])
    line = ConeLine(np.zeros((2, 2)), A, np.zeros((2, 2)), b, np.zeros(2), 0, 1, {}, {}, (), cones, A_stop=last)
    assert line_box(line, np.inf).high[0] == pytest.approx(np.sqrt(2), rel=1e-6)
    wanted = replace(line, q=np.array([[0.0, 0], [-1.0, 0]]))  # the objective wants it large at one end
    assert line_box(wanted, np.inf).high[0] == pytest.approx(9, rel=1e-6)  # the weaker of both coefficients
    negative = replace(line, A=-A[:, :1] * [[1, 0]] + A * [0, 1])
    assert line_box(negative, np.inf).high[0] > 2  # no bound of a norm


def test_a_proof_says_what_is_missing():
    line = ball()
    judge = ConeJudge(line, -2.0)  # below the value at the start
    t = np.array([0.0, 1.0])
    x, z = (np.stack(each) for each in zip(optimal(0, 1.0), optimal(1, 3.0), strict=True))
    low = prove_band(judge, (t, x, x, z), 1e-6)
    assert not low.passes()
    assert "is above the ceiling -2" in low.explain()
    good = prove_band(ConeJudge(line, 0.0), (t, x, x, z), 1e-6)
    assert good.passes()
    assert "Within 1e-06 of the optimal value at every t in [0, 1]" in good.explain()
    outside = prove_band(ConeJudge(line, 0.0), (t, 2 * x, x, z), 1e-6)
    assert outside.explain() == "Not proved: at t = 0 its point is not proved feasible"
    assert outside.worst.off_by == np.inf


def test_rays():
    """The radius becomes negative at a third of the way; multipliers (1, 0, 0) say so, and others say less."""
    line = replace(ball(), b=np.array([[1.0, 0, 0], [-2.0, 0, 0]]))
    assert judge_cone_ray(line, "infeasible", np.array([1.0, 0, 0])).since == pytest.approx(1 / 3, abs=1e-12)
    assert judge_cone_ray(line, "infeasible", np.array([1.0, 0, 0])).passes()
    assert not judge_cone_ray(line, "infeasible", np.array([-1.0, 0, 0])).passes()
    assert not judge_cone_ray(ball(), "infeasible", np.array([1.0, 0, 0])).passes()
    half = ConeLine(
        np.zeros((1, 1)), [[-1.0]], np.array([[1.0], [-3.0]]), np.zeros((2, 1)), np.zeros(2), 0, 1, {}, {}, (),
        Cones([Cone("nonnegative", 1)]),
    )  # fmt: skip
    assert judge_cone_ray(half, "unbounded", np.array([2.0])).since == pytest.approx(0.25, abs=1e-6)
    assert not judge_cone_ray(half, "unbounded", np.array([-2.0])).passes()


@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array])
def test_matrices_are_affine_in_t_entry_by_entry(form):
    """With places that only one of both ends has."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        first, speed = (rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.5) for _ in range(2))
        found = AffineMatrix(form(first), sp.csr_array(speed))
        for t in (0.0, 0.3, 1.0):
            at = found.at(t)
            assert type(at) is form
            np.testing.assert_allclose(at.toarray(), first + t * speed, rtol=1e-15, atol=0)


def test_a_line_has_programs_at_every_t():
    rng = np.random.default_rng(3)
    line, _ = both_move(rng)
    for t in (0.0, 0.25, 1.0):
        now = line.at(t)
        for found, (first, last) in (
            (now.P, (line.P, line.P_stop)), (now.A, (line.A, line.A_stop)), (now.q, line.q), (now.b, line.b)
        ):  # fmt: skip
            expected = (1 - t) * first + t * last
            found, expected = (each.toarray() if sp.issparse(each) else each for each in (found, expected))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        assert now.kinds is line.base.kinds
        x = rng.normal(size=line.n)
        constant = (1 - t) * line.constant[0] + t * line.constant[1]
        assert line.value(x, t) == pytest.approx(now.value(x) + constant, rel=1e-12)
        assert replace(line, sense=-1).value(x, t) == pytest.approx(-(now.value(x) + constant), rel=1e-12)
    assert not line.stands
    assert len(line.quadratics) == 2
    np.testing.assert_array_equal(line.end.A.toarray(), line.A_stop.toarray())
    one = replace(line, P_stop=None)
    assert not one.stands
    assert len(one.quadratics) == 1
    assert one.speeds[0].nnz == 0 < one.speeds[1].nnz
    assert (one.end.P != one.base.P).nnz == 0
    still = replace(line, P_stop=None, A_stop=None)
    assert still.stands
    assert still.at(0.3).curvature is still.base.curvature
    assert [(found != given).nnz for found, given in zip(still.matrices(0.3), (line.P, line.A), strict=True)] == [0, 0]
    assert still.parabolas == ()
    assert replace(line, variables={"x": None}).parabolas == ("x",)


def test_a_line_without_an_objective_keeps_its_constraints():
    line, _ = both_move(np.random.default_rng(4))
    found = line.still
    assert found.P.nnz == 0
    assert not found.q.any()
    assert found.constant.tolist() == [0, 0]
    assert found.P_stop is None
    assert found.A_stop is line.A_stop
    assert (found.b == line.b).all()
    assert (found.equations, found.cones, found.sense) == (line.equations, line.cones, 1)
