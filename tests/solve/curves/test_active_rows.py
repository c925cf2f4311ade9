"""The branch behind an event of an inequality: jumps of vertices, in closed form, against solutions on both sides."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.proof.curves.curve_proof import prove_curve
from paretoclf.solve.curves.active_rows import behind, event_near, row_of
from paretoclf.solve.curves.complementarity import labels
from paretoclf.solve.curves.curve_search import CurveSearch
from paretoclf.solve.curves.newton import Branch, CurvePoint, NewtonLine
from paretoclf.solve.eps.solver import ConeSolver
from paretoclf.solve.sources.cone_problem_line import LineOfCurves
from tests.oracles.curve_programs import solved


def branch_at(newton, line, t):
    """The branch of a solution."""
    x, z, _ = ConeSolver(line, 1e-11)(t)
    label = labels(newton.cones, newton.slack(CurvePoint(t, x, z)), z)
    return Branch(newton.solved(t, x, z, label), label)


def corner(step):
    """Least x + (1 - t) y on y <= 1 + t x, in a square: at t = 0.5 the cost of y changes its sign."""
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    rows = [x >= 0, x <= 2, x[1] <= 1 + step * t * x[0]]
    return LineOfCurves(cp.Problem(cp.Minimize(x[0] + (0.5 - t) * x[1]), rows), {t: 0.0}, {t: 1.0}).line


@pytest.mark.parametrize("step", [0.0, 0.5])
def test_a_vertex_jumps_along_an_edge_until_another_row_stops_it(step):
    line = corner(step)
    newton = NewtonLine(line)
    first = branch_at(newton, line, 0.2)
    row = 1  # x[1] >= 0, whose multiplier is 0.5 - t
    event = next(k for k in np.flatnonzero(~first.label) if first.pair.z[k] == pytest.approx(0.3))
    assert event == row
    where = event_near(newton, 0.49, 20.0, first, event)
    assert where == pytest.approx(0.5, abs=1e-15)
    last = Branch(newton.solved(where, first.pair.x, first.pair.z, first.label), first.label)
    found = behind(newton, last, event, row)
    np.testing.assert_allclose(line.values(found.pair.x, where)["x"], [0.0, 1.0], atol=1e-12)
    changed = np.flatnonzero(found.label != first.label)
    assert changed.tolist() == [row, 4]
    after = newton.solved(0.7, found.pair.x, found.pair.z, found.label)
    *_, (least, most), _ = solved(newton.program, 0.7)
    assert least - 1e-9 <= line.value(after.x, 0.7) <= most + 1e-9


def test_a_row_that_enters_a_vertex_takes_the_place_of_another():
    """Least x + y where x >= t, y >= 0, x + y >= 0.5: the last is active, then the first is; y's is all along."""
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    problem = cp.Problem(cp.Minimize(2 * x[0] + x[1] * 3), [x[0] >= t, x[1] >= 0, x[0] + x[1] >= 0.5])
    line = LineOfCurves(problem, {t: 0.0}, {t: 1.0}).line
    newton = NewtonLine(line)
    first = branch_at(newton, line, 0.2)
    assert np.flatnonzero(~first.label).tolist() == [1, 2]
    last = Branch(newton.solved(0.5, first.pair.x, first.pair.z, first.label), first.label)
    found = behind(newton, last, 0, 0)
    assert np.flatnonzero(~found.label).tolist() == [0, 1]
    np.testing.assert_allclose(found.pair.z, [2.0, 3.0, 0.0], atol=1e-12)


def test_where_nothing_stops_a_point_or_makes_room_the_path_ends():
    x, t = cp.Variable(name="x"), cp.Parameter(name="t")
    line = LineOfCurves(cp.Problem(cp.Minimize((0.5 - t) * x), [x >= 0]), {t: 0.0}, {t: 0.4}).line
    newton = NewtonLine(line)
    last = Branch(CurvePoint(1.25, np.zeros(1), np.zeros(1)), np.array([False]))
    assert behind(newton, last, 0, 0) is None
    line = LineOfCurves(cp.Problem(cp.Minimize(x), [x >= t, x <= 0.5]), {t: 0.0}, {t: 0.4}).line
    newton = NewtonLine(line)
    last = Branch(CurvePoint(1.25, np.full(1, 0.5), np.array([1.0, 0.0])), np.array([False, True]))
    assert behind(newton, last, 1, 1) is None


def test_an_event_of_a_cone_is_left_to_the_solver():
    x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.norm2(x)), [x[0] >= 0.1])
    line = LineOfCurves(problem, {lam: 0.1}, {lam: 1.0}).line
    newton = NewtonLine(line)
    branch = branch_at(newton, line, 0.5)
    kinds = [newton.program.kinds[row] if (row := row_of(newton, branch, k)) is not None else "" for k in range(3)]
    assert kinds == ["nonnegative", "", ""]


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("seed", [0, 4, 8])
def test_programs_whose_whole_matrix_moves_need_no_solver_behind_events(seed, quadratic):
    """Of seeds 0 to 9 these had stretches of chords before rows were exchanged."""
    rng = np.random.default_rng(seed)
    first, step, inner = rng.normal(size=(16, 8)), rng.normal(size=(16, 8)), rng.normal(size=8)
    sides = np.maximum(first @ inner, (first + step) @ inner) + rng.uniform(0.3, 1, 16)
    x, t = cp.Variable(8, name="x"), cp.Parameter(nonneg=True, name="t")
    rows = [first @ x + t * (step @ x) <= sides, x <= 3, x >= -3]
    objective = rng.normal(size=8) @ x + (cp.sum_squares(rng.normal(size=(3, 8)) @ x) if quadratic else 0)
    line = LineOfCurves(cp.Problem(cp.Minimize(objective), rows), {t: 0.0}, {t: 1.0}).line
    search = CurveSearch(line)
    curve = search.run(progress=False)
    assert all(curve.smooth)
    assert curve.solves <= 1 + len({event.t for event in curve.events}) / 2
    proof = prove_curve(search.judge, curve.pieces)
    assert proof.passes(1e-7)
    for piece, bounds in zip(curve.pieces[::3], proof.bounds[::3], strict=True):
        low, high = bounds.at(0.5)
        *_, (least, most), fine = solved(search.judge.program, 0.5 * (piece.start + piece.stop))
        assert fine
        assert low <= most + 1e-9
        assert least <= high + 1e-9
