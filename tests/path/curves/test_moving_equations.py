"""Paths within eps where coefficients of equations move: against solvers at fresh t, by chords alone, and falsified."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.curves.curve_path import CurvePath
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.solve.curves.curve_search import CurveSearch
from tests.oracles.curve_lines import move
from tests.oracles.curve_programs import solved
from tests.oracles.moving_equations import ENDS, KINDS, T, minimum

EPS = 1e-6


def line_of(name):
    return KINDS[name](np.random.default_rng(4))


@cache
def traced(name):
    return pc.trace(*line_of(name), eps=EPS, progress=False)


def in_its_own_sense(path, t, interval):
    """Values of the compiled minimisation as those of the problem."""
    line = path.program
    constant = (1 - t) * line.constant[0] + t * line.constant[1]
    return sorted(line.sense * (value + constant) for value in interval)


def check_within(path, eps, count):
    """The dual and the primal value of a solver, at fresh t, beside bounds that are as close as they are to be."""
    program, compared = CurveProgram.of(path.program), 0
    for t in np.random.default_rng(8).random(count).tolist():
        _, _, interval, fine = solved(program, t)
        if not fine:
            continue
        least, most = in_its_own_sense(path, t, interval)
        low, high = path.bounds(t)
        scale = max(abs(low), abs(high))
        assert low <= most + 1e-10 * scale
        assert least <= high + 1e-10 * scale
        assert high - low <= eps * max(scale, 1e-3)
        compared += 1
    assert compared > 0.9 * count


def missed(path):
    """By how much the path's own points miss equations, at most."""
    line, largest = path.program, 0.0
    for t in np.linspace(0, 1, 201).tolist():
        _, A = line.matrices(t)
        x = path._columns(*path._locate(t))
        sides = (1 - t) * line.b[0] + t * line.b[1]
        largest = max(largest, float(np.abs(sides - A @ x)[: line.equations].max()))
    return largest


@pytest.mark.parametrize("name", KINDS)
def test_the_value_is_within_eps_at_every_t(name):
    path = traced(name)
    assert isinstance(path, CurvePath)
    assert path.eps <= EPS
    assert path.proof.passes(EPS)
    check_within(path, EPS, 200)
    assert missed(path) < 1e-8


@pytest.mark.parametrize("name", KINDS)
def test_the_problem_as_it_is_written_has_such_a_value(name):
    path, line = traced(name), line_of(name)
    for t in (0.0, 0.37, 1.0):
        value = move(line, t).solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        assert path.value(t) == pytest.approx(value, rel=2e-6)
        low, high = path.bounds(t)
        assert low - 1e-8 * abs(value) <= value <= high + 1e-8 * abs(value)


@pytest.mark.parametrize("name", ["quadratic", "in_a_ball", "matrix_of_trace_one", "market"])
def test_chords_alone_are_within_eps_and_keep_equations(name, monkeypatch):
    monkeypatch.setattr(CurveSearch, "_branch", lambda *_: None)
    path = pc.trace(*line_of(name), eps=1e-2, progress=False)
    assert not any(path.smooth)
    assert path.eps <= 1e-2
    check_within(path, 1e-2, 50)
    apart = missed(path)
    monkeypatch.setattr("paretoclf.proof.curves.curve_theorem.CurveJudge.kept", lambda _, __, x: x)
    straight = pc.trace(*line_of(name), eps=1e-2, progress=False)
    assert apart < 1e-2 * missed(straight)


@pytest.mark.parametrize("name", KINDS)
def test_falsified_paths_are_not_within_eps_and_say_nothing_false(name):
    path = traced(name)
    middle = len(path.pieces) // 2
    piece = path.pieces[middle]
    size = 1.0 + np.abs(piece.x).max()
    wrong = [
        replace(piece, x=piece.x + 0.1 * size),
        replace(piece, x=1.5 * piece.x),
        replace(piece, z=-piece.z),
        replace(piece, z=piece.z + 0.1 * np.abs(piece.z).max()),
        replace(piece, x=piece.x[::-1] + 0.01 * size, z=piece.z[::-1]),
    ]
    for each in wrong:
        pieces = (*path.pieces[:middle], each, *path.pieces[middle + 1 :])
        false = replace(path, pieces=pieces)
        assert not false.proof.passes(EPS)
        found = false.proof.bounds[middle]
        if isinstance(found, str):
            continue
        t = 0.5 * (piece.start + piece.stop)
        _, _, (least, most), _ = solved(CurveProgram.of(path.program), t)
        constant = path.program.constant @ [1 - t, t]
        low, high = found.at(0.5)
        assert low <= most + constant + 1e-9 * abs(most)
        assert least + constant <= high + 1e-9 * abs(most)


def test_a_path_of_other_coefficients_is_not_proved():
    path = traced("quadratic")
    line = path.program
    further = line.A_stop.copy()
    further.data *= 1.001
    assert not replace(path, program=replace(line, A_stop=further)).proof.passes(EPS)


def test_a_closed_form():
    """The point of a line nearest to the origin: at t the line is x + t y = 1."""
    x = cp.Variable(2, name="x")
    path = pc.trace(*minimum(cp.sum_squares(x), x[0] + T * x[1] == 1), eps=1e-9, progress=False)
    for t in np.linspace(0, 1, 41).tolist():
        low, high = path.bounds(t)
        assert low <= 1 / (1 + t**2) * (1 + 1e-15)
        assert 1 / (1 + t**2) * (1 - 1e-15) <= high
        np.testing.assert_allclose(path.at(t).variables["x"], np.array([1, t]) / (1 + t**2), atol=1e-8)


def test_it_is_refined_saved_read_and_judged_anew(tmp_path):
    coarse = pc.trace(*line_of("matrix_of_trace_one"), eps=1e-2, progress=False)
    fine = coarse.refine(1e-8)
    assert fine.eps <= 1e-8 < coarse.eps
    assert fine.solves > coarse.solves
    fine.save(tmp_path / "a.npz")
    read = pc.load(tmp_path / "a.npz")
    assert read.bounds(0.3) == fine.bounds(0.3)
    assert read.refine(1e-7).eps <= 1e-7
    assert pc.verify(fine).passes(1e-8)
    with pytest.raises(pc.InputError, match="points must not be given beside a CurvePath"):
        pc.verify(fine, ([0.0, 1.0], np.zeros((2, 4, 4))))


def test_what_is_refused_has_a_remedy():
    for name, value in (("n_jobs", 2), ("max_seconds", 1.0)):
        with pytest.raises(pc.InputError, match=f"{name} must be left out where coefficients of an equation move"):
            pc.trace(*line_of("quadratic"), eps=EPS, **{name: value})
    x = cp.Variable(2, name="x")
    row = x[0] + T * x[1] == 1
    for approximate in (False, True):
        power = minimum(cp.sum(cp.power(x, 1.5, approx=approximate)), row)
        if approximate:
            assert pc.trace(*power, eps=EPS, progress=False).eps <= EPS
        else:
            with pytest.raises(pc.InputError, match=r"power cones where coefficients of an equation.*approx=True"):
                pc.trace(*power, eps=EPS)
    with pytest.raises(pc.DegeneratePathError, match=r"Ask for a larger eps"):
        pc.trace(*line_of("linear"), eps=1e-15, progress=False)
    large = cp.Variable(3100, name="y")
    with pytest.raises(pc.InputError, match=r"must not move coefficients of an equation in a program of .* use sweep"):
        pc.trace(*minimum(cp.sum_squares(large), cp.sum(large[1:]) + T * large[0] == 1), eps=EPS)


def test_a_line_without_an_optimum_at_its_end_is_shortened():
    """1 - 2t + y = 2 has no y of at most 2 from t = 1/2 on."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.square(y) + x + 3), [x + 0 * y - 2 * T * x + y == 2, x >= 0, x <= 1, y <= 1.5])
    with pytest.raises(
        pc.InputError, match=r"stop must be nearer to start: at t = 1 the solver says 'PrimalInfeasible'"
    ):
        pc.trace(problem, *ENDS, eps=EPS)
    with pytest.raises(pc.InputError, match="stop must be nearer to start"):
        pc.trace(problem, *ENDS, curve=True)
    assert pc.trace(problem, {T: 0.0}, {T: 0.2}, eps=EPS, progress=False).eps <= EPS
