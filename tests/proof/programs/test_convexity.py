"""Tests of `paretoclf.proof.programs.convexity`: one rule at every door."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.proof import check, check_gap
from paretoclf.proof.programs import convexity
from paretoclf.solve.given_problem import GivenProblem
from tests.oracles.stored_files import content_of_file, damaged

#: Matrices that are not convex by more than rounding, and the half width of a box.
HOLLOW = {
    "one entry beside a large one": (np.diag([1e8, -0.5]), 10.0),
    "a little on a large box": (np.diag([1.0, -9e-9]), 1e3),
    "no box": (np.diag([1.0, -1e-3]), np.inf),
    "two variables": (np.array([[1.0, 1.0 + 1e-6], [1.0 + 1e-6, 1.0]]), 5.0),
}


def problem_of(P, width, maximise=False):
    """x'Px/2 + s x0 + t x1 within a box, which CVXPY is told is convex."""
    x = cp.Variable(len(P), name="x")
    s, t = cp.Parameter(name="s", value=0.0), cp.Parameter(name="u", value=-0.1)
    form = 0.5 * cp.quad_form(x, cp.psd_wrap(P)) + s * x[0] + t * x[1]
    rows = [cp.abs(x) <= width] if np.isfinite(width) else [x[0] <= 3]
    return cp.Problem(cp.Maximize(-form) if maximise else cp.Minimize(form), rows), s, t, x


def qp_of(P, width, maximise=False):
    """The same as arrays."""
    n, sign = len(P), -1.0 if maximise else 1.0
    A, b = (np.eye(n), np.full(n, width)) if np.isfinite(width) else (np.eye(n)[:1], np.array([3.0]))
    moves = {"s": {"q": sign * np.eye(n)[0]}, "u": {"q": sign * np.eye(n)[1]}}
    return pc.QP(sign * P, sign * np.append(0.0, np.full(n - 1, -0.1)), A, -b, b, moves=moves, maximise=maximise)


def solved(problem):
    """The problem with numbers in it, whatever a solver says."""
    for solver in ("CLARABEL", "SCS"):
        try:
            problem.solve(solver)
        except (cp.SolverError, ValueError):
            continue
        if problem.value is not None and np.isfinite(problem.value):
            return problem
    x = problem.variables()[0]
    other = cp.Problem(cp.Minimize(cp.sum_squares(x)), problem.constraints)
    other.solve("CLARABEL")
    problem.unpack(other.solution)
    return problem


DOORS = {
    "trace": lambda p, s, t, x: pc.trace(p, {s: 0.0}, {s: 1.0}, progress=False),
    "eps": lambda p, s, t, x: pc.trace(p, {s: 0.0}, {s: 1.0}, eps=1e-8, progress=False),
    "plane": lambda p, s, t, x: pc.plane(p, {s: (0.0, 1.0), t: (-0.2, -0.1)}, progress=False),
    "ranges": lambda p, s, t, x: pc.ranges(p, progress=False),
    "derivatives": lambda p, s, t, x: pc.derivatives(p, {s: 1.0}),
    "verify": lambda p, s, t, x: pc.verify(solved(p)),
    "grade": lambda p, s, t, x: pc.grade(p, {x: np.zeros(x.size)}, tol=1e-8),
    "compare": lambda p, s, t, x: pc.compare(
        pc.sweep(cp.Problem(cp.Minimize(cp.sum_squares(x) + s)), {s: [0.0, 1.0]}, progress=False),
        GivenProblem(p, {s: 0}),
    ),
}
QP_DOORS = {
    "trace": lambda qp: pc.trace(qp, {"s": 0.0}, {"s": 1.0}, progress=False),
    "plane": lambda qp: pc.plane(qp, {"s": (0.0, 1.0), "u": (-0.2, -0.1)}, progress=False),
    "ranges": lambda qp: pc.ranges(qp, progress=False),
    "derivatives": lambda qp: pc.derivatives(qp, {"s": 1.0}),
    "verify": lambda qp: pc.verify(qp, np.zeros(qp.q.size)),
}
REFUSED = r"(?s)not semidefinite by more than rounding \(float32\? a pairwise correlation\?\).*pc\.nearest_psd\(P\)"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", HOLLOW)
def test_what_is_not_convex_is_refused_at_every_door(kind, door):
    P, width = HOLLOW[kind]
    with pytest.raises(pc.InputError, match=REFUSED) as refused:
        DOORS[door](*problem_of(P, width))
    assert "x[1]" in str(refused.value)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("door", QP_DOORS)
def test_and_so_it_is_as_arrays(door, maximise):
    for P, width in HOLLOW.values():
        with pytest.raises(pc.InputError, match=REFUSED):
            QP_DOORS[door](qp_of(P, width, maximise))


def portfolio(free):
    """A covariance of 6 days and 10 assets, whose rounding is not positive semidefinite."""
    rng = np.random.default_rng(4)
    S = np.cov(rng.normal(size=(6, 10)).T)
    x = cp.Variable(10, name="x")
    s, t = cp.Parameter(name="s", value=0.3), cp.Parameter(name="u", value=0.0)
    mean = S @ rng.normal(size=10)
    risk = 0.5 * cp.quad_form(x, cp.psd_wrap(S))
    rows = [cp.sum(x) == 1] + ([] if free else [x >= 0])
    return (cp.Problem(cp.Minimize(risk - s * mean @ x + t * S[0] @ x), rows), s, t, x), S, mean


@pytest.mark.parametrize("free", [False, True])
def test_what_is_rounded_is_proved_at_every_door_and_said(free):
    (problem, s, t, x), S, mean = portfolio(free)
    path = pc.trace(problem, {s: 0.0}, {s: 1.0}, progress=False)
    band = pc.trace(problem, {s: 0.0}, {s: 1.0}, eps=1e-4, progress=False)
    plane = pc.plane(problem, {s: (0.2, 0.6), t: (0.0, 0.1)}, progress=False)
    problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    proof = pc.verify(problem, tol=1e-7)
    said = "what is proved is of P + s diag(P), s = "
    for each in (path.proof, band.proof, plane.proof, proof):
        assert said in each.explain(), each.explain()
    numbers = {each.explain().split(said)[1].split(",")[0] for each in (path.proof, band.proof, plane.proof, proof)}
    assert len(numbers) == 1
    assert float(numbers.pop()) <= 16 * 10**2 * 2**-52
    assert path.proof.passes()
    assert plane.proof.passes()
    assert proof.status == "optimal"
    # By Cholesky's factors of the problem with a little more on its diagonal.
    L, at = np.linalg.cholesky(S + 1e-11 * np.diag(np.diag(S))), path.at(s=0.3).variables["x"]
    other = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(L.T @ x) - 0.3 * mean @ x), problem.constraints)
    best = other.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert path.value(0.3) == pytest.approx(best, rel=1e-8)
    assert 0.5 * at @ S @ at - 0.3 * mean @ at == pytest.approx(best, rel=1e-8)
    low, high = band.bounds(0.3)
    assert low - 1e-9 <= best <= high + 1e-9
    assert pc.derivatives(problem, {s: 1.0}).right.value == pytest.approx(-mean @ at, rel=1e-6)
    if not free:  # as many rows as variables
        assert pc.ranges(problem, progress=False).value == pytest.approx(best, rel=1e-8)
    assert pc.grade(problem, {"x": at}).verdict == "right"


def test_what_was_added_is_part_of_files_and_certificates(tmp_path):
    (problem, s, t, _), _, _ = portfolio(False)
    path = pc.trace(problem, {s: 0.0}, {s: 1.0}, progress=False)
    added = path.program.shift[0] / (path.program.P.diagonal() - path.program.shift[0])
    assert added.min() > 0
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.proof.explain() == path.proof.explain()
    for level, checker in (("exact", check), ("bounded", check_gap)):
        path.proof.save(tmp_path / "c.json", level=level, progress=False)
        content = json.loads((tmp_path / "c.json").read_text())
        assert f"s = {added.max():.1e}" in content["problem"]["about"]
        assert content["problem"]["K"][0][0] == path.program.P[0, 0]  # the problem with s added
        run = subprocess.run([sys.executable, checker.__file__, tmp_path / "c.json"], capture_output=True, text=True)
        assert run.stdout.startswith("PROVED")
    for name in ("program_shift", "program_P_data"):
        other = content_of_file(tmp_path / "path.npz")[name] * (1 + 1e-3)
        with pytest.raises(pc.InputError, match="another hash"):
            pc.load(damaged(tmp_path / "path.npz", tmp_path / "changed.npz", **{name: other}))
    band = pc.trace(problem, {s: 0.0}, {s: 1.0}, eps=1e-4, progress=False)
    for other in (band, pc.plane(problem, {s: (0.2, 0.6), t: (0.0, 0.1)}, progress=False)):
        other.save(tmp_path / "other.npz")
        assert pc.load(tmp_path / "other.npz").proof.explain() == other.proof.explain()


@pytest.mark.parametrize("d", [1e-12, 1e-20])
def test_what_a_negative_curvature_may_cost_is_counted(d):
    """On [-1, 1] x1 is best at an end, by the slope; a curvature of -d may cost 2 d anywhere."""
    problem, s, t, x = problem_of(np.diag([1.0, -d]), 1.0)
    path = pc.trace(problem, {s: 0.0}, {s: 1.0}, progress=False)
    band = pc.trace(problem, {s: 0.0}, {s: 1.0}, eps=1e-6, progress=False)
    plane = pc.plane(problem, {s: (0.0, 1.0), t: (-0.2, -0.1)}, progress=False)
    problem.solve("CLARABEL")
    x.value = np.array([0.0, 1.0])
    proof = pc.verify(problem)
    for each in (path.proof, band.proof, plane.proof, proof):
        assert f"by up to {d:.1e}: between the bounds of the variables that may cost {2 * d:.1e}" in each.explain()
    for each in (path.proof, plane.proof):
        assert each.passes()
    assert path.proof.gaps.min() >= 2 * d
    assert proof.status == "optimal"
    assert proof.lower <= -0.1 - d / 2


def test_a_cost_is_counted_where_it_is_real():
    """min d/2 - d x^2 / 2 - m x: with a slope below d / 2 both ends are next to best, and x = -1 is beaten by 2 m."""
    d, m = 1e-9, 1e-10
    P = np.diag([1.0, -d])
    x = cp.Variable(2, name="x")
    s = cp.Parameter(name="s", value=1.0)
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.quad_form(x, cp.psd_wrap(P)) + s * x[0] - m * x[1] + 10), [cp.abs(x) <= 1, x[1] <= 0.5]
    )
    path = pc.trace(problem, {s: 0.0}, {s: 1.0}, progress=False)
    at, gap = path.at(0.5).variables["x"], path.proof.gaps.min()
    values = [0.5 * v @ P @ v + 0.5 * v[0] - m * v[1] for v in (at, np.array([-0.5, -1.0]), np.array([-0.5, 0.5]))]
    assert gap >= values[0] - min(values[1:])


def test_a_matrix_that_moves_is_judged_at_both_ends():
    """Between two matrices that rounding made indefinite, and where one end is not convex by more."""
    rng = np.random.default_rng(5)
    F = rng.normal(size=(3, 6))
    S = F.T @ F
    x, lam = cp.Variable(6, name="x"), cp.Parameter(nonneg=True, name="lam")
    rows = [cp.sum(x) == 1, x >= 0]
    P = cp.Parameter((6, 6), PSD=True, name="P")
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, P) - x[0]), rows)
    ends = {P: S + np.diag(np.full(6, 1e-3))}, {P: 2 * S + np.diag(np.full(6, 1e-3))}
    assert pc.trace(problem, *ends, eps=1e-4, progress=False).proof.passes()
    dropped = np.diag([1e12, 1.0, 1.0, 1.0, 1.0, -1.0])  # CVXPY's factors leave the last out, without a word
    hidden = cp.Problem(cp.Minimize(lam * cp.quad_form(x, cp.psd_wrap(dropped)) + x[0]), rows)
    with pytest.raises(pc.InputError, match=REFUSED):
        pc.trace(hidden, {lam: 1.0}, {lam: 2.0}, eps=1e-4, progress=False)


def test_a_form_in_a_constraint_is_judged_too():
    """CVXPY takes the convex part of its matrix: what is feasible for the rest was proved not to be."""
    x, s = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="s", value=1.0)
    saddle = cp.quad_form(x, cp.psd_wrap(np.diag([1e12, -1.0])))
    for problem in (
        cp.Problem(cp.Minimize(-s * x[0]), [saddle <= 1, cp.abs(x) <= 10]),
        cp.Problem(cp.Minimize(cp.maximum(saddle, s) - x[0]), [cp.abs(x) <= 10]),
    ):
        with pytest.raises(pc.InputError, match=r"a quadratic form x'Px with an eigenvalue of -1 among x\[1\]"):
            pc.trace(problem, {s: 1.0}, {s: 2.0}, eps=1e-3, progress=False)
        with pytest.raises(pc.InputError, match="a quadratic form"):
            pc.grade(problem, {x: [0.0, 0.0]})
        with pytest.raises(pc.InputError, match="a quadratic form"):
            pc.sweep(problem, {s: [1.0, 2.0]}, progress=False)
    concave = cp.quad_form(x, -np.eye(2)) >= -1
    assert pc.trace(cp.Problem(cp.Minimize(-s * x[0]), [concave]), {s: 1.0}, {s: 2.0}, eps=1e-3).proof.passes()


# ---- numbers that an explanation has ---------------------------------------------------------------------------------


def shifted(*shift, diagonals=((4.0, 2.0, 1.0),)):
    """What the functions read of a line whose P has these diagonals, at one or at both ends, after a shift."""
    quadratics = tuple(sp.csc_array(np.diag(diagonal)) for diagonal in diagonals)
    ends = np.array(shift if len(shift) == 2 else [shift[0]] * 2)
    return SimpleNamespace(quadratics=quadratics, shift=ends, lacks=None, n=3, m=2)


def test_a_shift_adds_half_of_itself_times_squares_to_the_objective():
    line, t = shifted([1.0, 0.0, 2.0], [3.0, 0.5, 2.0]), np.array([0.0, 0.25, 1.0])
    x = np.array([[1.0, 2.0, 3.0], [2.0, -2.0, 0.0], [-1.0, 4.0, 1.0]])
    wanted = [0.5 * (1 + 18), 0.5 * (1.5 * 4 + 0.125 * 4), 0.5 * (3 + 8 + 2)]
    np.testing.assert_allclose(convexity.added(line, t, x), wanted)
    line.shift = None
    assert convexity.added(line, t, x).tolist() == [0.0] * 3


def test_the_share_of_a_shift_is_the_largest_at_any_end_of_a_segment():
    """Three segments, between the second and the third of which the points jump."""
    line, t = shifted([2.0, 0.0, 0.0], [4.0, 0.0, 0.0]), np.array([0.0, 0.25, 0.5, 1.0])
    values = np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 0.5]])  # of the first column
    x = np.zeros((3, 2, 3))
    x[:, :, 0] = values
    points, sizes = ProgramPoints.of(x, np.zeros((3, 2, 2))), np.array([10.0, 100.0, 4.0])
    shift = 2.0 + 2.0 * np.stack([t[:-1], t[1:]], axis=1)
    shares = (0.5 * shift * values**2).max(axis=1) / sizes
    assert convexity.share_of_shift(line, t, points, sizes) == pytest.approx(shares.max())
    assert convexity.largest_share(np.array([1.0, 3.0]), np.array([2.0, 12.0])) == 0.5
    assert convexity.largest_share(np.zeros(0), np.zeros(0)) == 0.0
    line.shift = None
    assert convexity.share_of_shift(line, t, points, sizes) == 0.0


def test_the_share_of_a_diagonal_is_that_of_the_users_entries_at_either_end():
    assert convexity.share_of_diagonal(shifted([1.0, 0.5, 0.0])) == pytest.approx(max(1 / 3, 0.5 / 1.5))
    both = shifted([1.0, 0.0, 0.0], [0.0, 0.0, 0.5], diagonals=((4.0, 2.0, 1.0), (4.0, 2.0, 1.5)))
    assert convexity.share_of_diagonal(both) == pytest.approx(max(1 / 3, 0.5 / 1.0))
    none = shifted([0.0, 0.0, 0.0], diagonals=((0.0, 2.0, 1.0),))
    assert convexity.share_of_diagonal(none) == 0.0


def test_what_is_said_of_a_line_names_shift_and_lack():
    line = shifted([1.0, 0.0, 0.0])
    assert convexity.said_of(line, 0.25) == convexity.said_of_shift(1 / 3, 0.25)
    assert "s = 3.3e-01" in convexity.said_of(line, 0.25)
    assert "at most 2.5e-01 of the value" in convexity.said_of(line, 0.25)
    line.lacks = np.array([0.0, 1e-3, 2e-3])
    said = convexity.said_of(line, 0.25, cost=0.125)
    assert said == f"{convexity.said_of_shift(1 / 3, 0.25)} {convexity.said_of_lack(line.lacks, 0.125)}"
    assert "by up to 2.0e-03" in said
    assert "may cost 1.2e-01" in said
    line.shift, line.lacks = None, None
    assert convexity.said_of(line, 0.25) == ""


def test_a_matrix_is_semidefinite_with_what_it_lacks_at_both_ends():
    line = shifted([0.0] * 3, diagonals=((1.0, 0.0, 2.0), (1.0, 1.0, -0.5)))
    assert not convexity.semidefinite(line)
    line.lacks = np.array([0.0, 0.0, 0.5])
    assert convexity.semidefinite(line)
    line.lacks = np.array([0.0, 0.0, 0.25])
    assert not convexity.semidefinite(line)
    assert convexity.semidefinite(shifted([0.0] * 3))
    error = ValueError("no")
    assert convexity.refused_for(shifted([0.0] * 3), error) is error
