"""What is proved of a path of a compiled program, on one whose path is known in closed form; and programs in files."""

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, OF_TERMS, OWN_SIZE, PRODUCT_ROUNDING
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.engine.reduction.packed import packed
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.stored import unpacked
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.program_lines import prove_program
from paretoclf.proof.programs.rays import judge_ray
from paretoclf.proof.programs.row_units import Sizes, Units
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.lines import FAMILIES


def judge_line(line, t, x, z):
    """Judge points x (k, 2, n) and multipliers z (k, 2, m) at both ends of k segments, which are between t (k + 1,)."""
    return prove_program(line, t, ProgramPoints.of(x, z))


@pytest.fixture
def soft_threshold():
    """``min (w - 3)**2 / 2 + 4 t |w|``: w = 3 - 4 t as far as t = 3/4, then 0."""
    w, lam = cp.Variable(name="w"), cp.Parameter(nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w - 3) / 2 + lam * cp.abs(w)))
    reduced = reduce(program_line(problem, {lam: 0.0}, {lam: 4.0}))
    t, knots = np.array([0.0, 0.75, 1.0]), np.array([0.0, 0.75, 0.75, 1.0])
    v, y = np.array([[3.0, 0.0, 0.0, 0.0], [0.0, -3.0, -3.0, -3.0]])[:, :, None]
    x, z = (each.reshape(2, 2, -1) for each in reduced.back(v, y, knots))
    return reduced.program, t, x, z


def test_the_known_path_is_proved(soft_threshold):
    line, t, x, z = soft_threshold
    assert [line.values(x[0, end], t[end])["w"] for end in (0, 1)] == [3.0, 0.0]
    proof = judge_line(line, t, x, z)
    assert proof.worst.off_by < 1e-15
    assert proof.passes(1e-14)
    assert proof.explain().startswith("Optimal at every t in [0, 1]")
    assert line.rate(x[0, 0], z[0, 0]) == pytest.approx(12.0)  # d/dt of 4 t |w| at w = 3
    assert line.rate(x[1, 1], z[1, 1]) == pytest.approx(0.0)


@pytest.mark.parametrize("where", ["x", "z", "t"])
def test_another_path_is_not(soft_threshold, where):
    line, t, x, z = (np.array(each) if isinstance(each, np.ndarray) else each for each in soft_threshold)
    if where == "t":
        t[1] = 0.7  # right at both ends of the line, and of no segment
    else:
        (x if where == "x" else z)[0, 1] += 1e-4
    proof = judge_line(line, t, x, z)
    assert proof.worst.off_by > 1e-6
    assert "of 2 segments are not proved. Worst: On segment" in proof.explain()
    assert repr(proof).startswith("LineProof(2 segments, ")
    largest = max(float(each.max()) for each in proof.residuals.values())
    assert f"gap={float(proof.gap.max()):.1e}, residual={largest:.1e})" in repr(proof)


def test_a_bend_between_two_right_ends_is_seen(soft_threshold):
    """One segment from 0 to 1, optimal at both ends, and nowhere between them."""
    line, _, x, z = soft_threshold
    ends = np.array([[x[0, 0], x[1, 1]]]), np.array([[z[0, 0], z[1, 1]]])
    proof = judge_line(line, np.array([0.0, 1.0]), *ends)
    assert max(proof.residuals[name].max() for name in ("rows", "stationarity", "signs")) < 1e-15
    assert proof.residuals["slackness"].max() > 0.05
    assert proof.gap.max() > 0.1


def test_a_row_is_measured_by_its_own_terms():
    """A bound of 1e20 on another variable let this one be missed by 1e3: both were held against the largest term."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    problem = cp.Problem(cp.Minimize(th * x[0] + x[1]), [x[0] >= 1000, x[1] >= -1, x[1] <= 1e20, x[0] <= 5000])
    line = program_line(problem, {th: 0.0}, {th: 1.0})
    point = np.broadcast_to(np.array([0.0, -1.0]), (1, 2, 2)).copy()
    z = np.zeros((1, 2, line.m))
    z[:, :, 1] = 1.0
    proof = judge_line(line, np.array([0.0, 1.0]), point, z)
    assert proof.residuals["rows"][0] > 0.4
    assert not proof.passes()


def two_columns(size, price):
    """``min price x0 + x1`` with x0 >= size, 1000 <= x1 <= 5000: x = (size, 1000), multipliers (price, 1, 0)."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    constraints = [x[0] >= size, x[1] >= 1000 + th, x[1] <= 5000]
    line = program_line(cp.Problem(cp.Minimize(price * x[0] + x[1]), constraints), {th: 0.0}, {th: 1.0})
    points, z = np.array([[[size, 1000.0], [size, 1001.0]]]), np.zeros((1, 2, 3))
    z[:, :, :2] = price, 1.0
    return line, points, z


@pytest.mark.parametrize(("size", "price"), [(1.0, 1.0), (1e20, 1.0), (1.0, 1e20), (1e-20, 1.0), (1e20, 1e-20)])
@pytest.mark.parametrize("wrong", ["rows", "slackness", "stationarity", "signs"])
def test_no_other_column_hides_what_is_wrong(size, price, wrong):
    """All were held against the largest column, multiplier or term of the gradient that the path has anywhere."""
    line, x, z = two_columns(size, price)
    t = np.array([0.0, 1.0])
    assert judge_line(line, t, x, z).passes(1e-15)
    if wrong == "stationarity":
        x[:, :, 1], z[:, :, 1] = 2000.0, 0.0
    elif wrong == "signs":
        x[:, :, 1], z[:, :, 1:] = 5000.0, (0.0, -1.0)
    else:
        x[:, :, 1] += {"rows": -1000.0, "slackness": 1000.0}[wrong]
    proof = judge_line(line, t, x, z)
    assert proof.residuals[wrong][0] > 0.1
    assert not proof.passes(0.1)


def test_no_other_segment_hides_what_is_wrong():
    """``min (t - 1/2) x0 + x1`` with x0 in [500, 1e12] and x0 + x1 >= 1000: x0 is 1e12, and from t = 1/2 on 1000."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    rows = [x[1] >= 0, x[1] <= 5000, x[0] <= 1e12, x[0] >= 500, x[0] + x[1] >= 1000]
    path = pc.trace(cp.Problem(cp.Minimize(th * x[0] + x[1]), rows), {th: -0.5}, {th: 0.5}, progress=False)
    assert path.proof.passes(1e-12)
    assert [path.at(t).variables["x"][0] for t in (0.25, 0.75)] == pytest.approx([1e12, 1000.0])
    points = path.x.copy()
    points[-1, :, 0] = 500.0  # half of what the row asks for, one in 1e9 of what it asks for before
    assert judge_line(path.program, path.t, points, path.z).residuals["rows"][-1] > 1e-4


def jump(size):
    """``min (t - 1/2) x + y`` on [-1, 1], y at least size + t: x goes from 1 to -1 at t = 1/2; its points."""
    (x, y), s, tilt = (cp.Variable(name=name) for name in "xy"), cp.Parameter(name="s"), cp.Parameter(name="tilt")
    problem = cp.Problem(cp.Minimize(tilt * x + y), [x <= 1, x >= -1, y >= s])
    line = program_line(problem, {s: size, tilt: -0.5}, {s: size + 1, tilt: 0.5})

    def points(length):
        """Three segments, the one in the middle from the first vertex to the second."""
        t = np.array([0.0, 0.5, 0.5 + length, 1.0])
        columns, q = {"x": np.array([1.0, 1.0, -1.0, -1.0]), "y": size + t}, t - 0.5
        own = np.stack([columns[line.column_name(j)] for j in range(line.n)], axis=1)
        return t, ProgramPoints.known(
            own, np.stack([np.maximum(-q, 0.0), np.maximum(q, 0.0), np.ones(4)], axis=1), np.arange(3)
        )

    return line, points


@pytest.mark.parametrize("size", [0.0, 1e6])
def test_a_stretch_that_the_data_cannot_tell_is_a_point(size):
    """A stretch of 1e-10 convicted a path whose parameter is known to 1e-10 itself; one that has length is none."""
    line, points = jump(size)
    assert prove_program(line, *points(1e-10 if size else 1e-17)).passes()
    for length in [1e-10] * (size == 0.0) + [2e-9, 1e-6, 0.1]:
        proof = prove_program(line, *points(length))
        assert not proof.passes()
        assert np.flatnonzero(proof.residuals["slackness"] > 0.1).tolist() == [1]
    assert "t in [0.5, 0.5], 2.0e-09 long" in prove_program(line, *points(2e-9)).explain()


@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_a_multiplier_that_is_rounding_is_no_reason_to_refuse(size):
    """Beside a slack of all the row, in any unit of the multipliers; a thousandth of the gradient is one."""
    line, x, z = two_columns(1.0, 1.0)
    line, z = replace(line, q=size * line.q), size * z
    for share, passes in ((1e-11, True), (1e-3, False)):
        z[:, :, 2] = share * size
        z[:, :, 1] = (1.0 + share) * size
        proof = judge_line(line, np.array([0.0, 1.0]), x, z)
        assert proof.passes() == passes
        assert proof.residuals["slackness"][0] == pytest.approx(share, rel=2.0)


@pytest.mark.parametrize("end", [1, 2])
def test_both_ends_of_a_stretch_of_no_length_are_judged(end):
    line, points = jump(1e6)
    t, own = points(1e-10)
    column = next(j for j in range(line.n) if line.column_name(j) == "x")
    own.x[end, column] *= 3.0
    assert prove_program(line, t, own).residuals["rows"][1] > 0.1
    own.x[end, column] /= 3.0
    own.z[end] *= 1.0 + 1e-6
    assert prove_program(line, t, own).residuals["stationarity"][1] > 1e-7


def test_what_barely_moves_makes_no_point_of_a_stretch():
    """A bound near 1e12 that moves by 4e-3 says little of t; the chord of a jump is seen."""
    x, s, far = cp.Variable(2, name="x"), cp.Parameter(name="s"), cp.Parameter(name="far")
    problem = cp.Problem(cp.Minimize(s * x[0] + x[1]), [x[0] <= 1, x[0] >= -1, x[1] >= far])
    line = program_line(problem, {s: -0.5, far: 1e12}, {s: 0.5, far: 1e12 + 4e-3})
    path = pc.trace(problem, {s: -0.5, far: 1e12}, {s: 0.5, far: 1e12 + 4e-3}, progress=False)
    ends = path.x[[0], 0], path.x[[-1], 1], path.z[[0], 0], path.z[[-1], 1]
    x, z = (np.stack(each, axis=1) for each in (ends[:2], ends[2:]))
    assert not judge_line(line, np.array([0.0, 1.0]), x, z).passes(0.1)


def test_unused_columns_are_no_reason_to_refuse():
    """Flows from one source to three sinks whose demands vanish in turn: arcs at 0 carry rounding, rows of them too."""
    rng, n = np.random.default_rng(0), 12
    cost, load = rng.random((n, n)), cp.Parameter(name="load")
    flow = cp.Variable((n, n), nonneg=True, name="flow")
    supply = np.zeros(n)
    supply[0], supply[-1] = 1.0, -1.0
    balance = cp.sum(flow, axis=1) - cp.sum(flow, axis=0) == load * supply + (1 - load) * np.roll(supply, 3) * 0.3
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, flow)) + 0.1 * cp.sum_squares(flow)), [balance])
    path = pc.trace(problem, {load: 0.0}, {load: 1.0}, progress=False)
    assert path.proof.passes(1e-9)
    assert (path.x == 0.0).mean() > 0.5


def reflected(line, signs):
    """The program in the variables ``signs * x``."""
    S = sp.diags_array(signs)
    return replace(line, P=sp.csc_array(S @ line.P @ S), A=sp.csc_array(line.A @ S), q=line.q * signs)


@pytest.mark.parametrize("wrong", [None, "x", "z"])
@pytest.mark.parametrize("seed", range(4))
def test_signs_of_coefficients_do_not_change_units(seed, wrong):
    """Terms of Px that cancel are no reason to measure less; and with P itself in place of |P| units were negative."""
    rng = np.random.default_rng(seed)
    x, th, F = cp.Variable(4, name="x"), cp.Parameter(name="th"), rng.integers(1, 4, (4, 4)) * [1.0, -1.0, 1.0, -1.0]
    fit = cp.quad_form(x, F.T @ F + np.eye(4)) - th * rng.normal(size=4) @ x
    path = pc.trace(cp.Problem(cp.Minimize(fit), [x <= 0.4, cp.sum(x) == 0.1]), {th: 1.0}, {th: 3.0}, progress=False)
    line, points = path.program, {"x": path.x.copy(), "z": path.z.copy()}
    if wrong:
        points[wrong][0] *= 1.0 + 1e-3 * rng.random(points[wrong][0].shape)
    proof = judge_line(line, path.t, points["x"], points["z"])
    assert proof.passes(1e-10) == (wrong is None)
    for _ in range(4):
        signs = rng.choice([-1.0, 1.0], line.n)
        other = judge_line(reflected(line, signs), path.t, points["x"] * signs, points["z"])
        for name, residual in proof.residuals.items():
            np.testing.assert_allclose(other.residuals[name], residual, rtol=1e-6, atol=1e-14)
        np.testing.assert_allclose(other.gap, proof.gap, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("wrong", [None, "x", "z"])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_a_constraint_is_of_no_account(unit, wrong):
    """Its multipliers are in the inverse unit; what is natural for them is q over the largest coefficient."""
    x, th, rng = cp.Variable(3, name="x"), cp.Parameter(name="th"), np.random.default_rng(6)
    rows = [rng.integers(1, 4, (2, 3)) @ x == np.array([1.0, 2.0]) * th, x >= -5]
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x) + np.array([1, -2, 3]) @ x), rows), {th: 1.0}, {th: 3.0})
    line, points = path.program, {"x": path.x.copy(), "z": path.z.copy()}
    if wrong:
        points[wrong][0] += 1e-4
    proof = judge_line(line, path.t, points["x"], points["z"])
    other = judge_line(replace(line, A=unit * line.A, b=unit * line.b), path.t, points["x"], points["z"] / unit)
    assert proof.passes(1e-10) == other.passes(1e-10) == (wrong is None)
    for name, residual in proof.residuals.items():
        np.testing.assert_allclose(other.residuals[name], residual, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_large_column_does_not_make_units_negative(sign):
    """``min x'Px / 2 + th x0`` with P = [[1, -.9], [-.9, 1]], x1 = 1000: the point x0 = 0 is off by 900 of 900."""
    line = program_line(*coupled(sign))
    x, z = np.broadcast_to(np.array([0.0, 1000.0]), (1, 2, 2)).copy(), np.full((1, 2, line.m), -1000.0)
    assert judge_line(line, np.array([0.0, 1.0]), x, z).residuals["stationarity"][0] > 0.1
    x[0, :, 0] = [-sign * 900.0, -sign * 900.0 - 1.0]
    z[0, :, 0] = -(x[0, :, 1] + sign * 0.9 * x[0, :, 0])
    assert judge_line(line, np.array([0.0, 1.0]), x, z).passes(1e-15)


def coupled(sign):
    """Two variables that P couples, the second of them fixed."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    P = np.array([[1.0, sign * 0.9], [sign * 0.9, 1.0]])
    return cp.Problem(cp.Minimize(cp.quad_form(x, P) / 2 + th * x[0]), [x[1] == 1000]), {th: 0.0}, {th: 1.0}


def test_rays_are_measured_column_by_column():
    """Two rows contradict each other but for a variable whose unit is small: nothing is proved by them."""
    x, th = cp.Variable(3, name="x"), cp.Parameter()
    rows = [1e6 * (x[0] - x[1]) >= 1 + th, 1e6 * (x[1] - x[0]) + 1e-6 * x[2] >= 1 + th]
    line = program_line(cp.Problem(cp.Minimize(cp.sum(x)), rows), {th: 0.0}, {th: 1.0})
    proof = judge_ray(line, "infeasible", np.ones(2))
    assert proof.residual == pytest.approx(1.0)
    assert not proof.passes()


@pytest.mark.parametrize(("short", "proved"), [(0.0, False), (1e-9, False), (1e-7, True)])
def test_a_contradiction_is_measured_by_its_terms_and_added_without_rounding(short, proved):
    """Of -3x - y - z <= 2, 2x - 3z <= -13 and 4x + 6y + 27z <= 79, at (-2, 1, 3) all equal, 6, 7 and 1 sevenths."""
    x, th = cp.Variable(3, name="x"), cp.Parameter()
    A, b = np.array([[-3, -1, -1], [2, 0, -3], [4, 6, 27]]), np.array([2, -13, 79])
    line = program_line(cp.Problem(cp.Minimize(th), [A @ x <= b * (1 - short * np.sign(b))]), {th: 0}, {th: 1})
    proof = judge_ray(line, "infeasible", np.array([6 / 7, 1, 1 / 7]))
    terms = [Fraction(a) * Fraction(c) for a, c in zip(line.b[0], [6 / 7, 1, 1 / 7], strict=True)]
    assert proof.gain == pytest.approx(float(-sum(terms) / sum(map(abs, terms))), rel=1e-12)
    assert proof.passes() == proved


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_direction_is_measured_row_by_row(unit):
    """Down x0 the objective falls; but a row that forbids it is small beside the other."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    rows = [unit * x[0] >= -1, 1e9 * unit * (x[1] - x[0]) >= th]
    line = program_line(cp.Problem(cp.Minimize(x[0]), rows), {th: 0.0}, {th: 1.0})
    proof = judge_ray(line, "unbounded", np.array([-1.0, -1.0]))
    assert proof.residual == pytest.approx(1.0)
    assert judge_ray(line, "unbounded", np.array([0.0, 1.0])).residual == 0.0


@pytest.mark.parametrize("off", [0.0, 1e-12])
def test_a_gap_is_seen_where_the_value_is_0(off):
    """``min th |x|`` subject to x in [-1, 1]: 0 throughout; x = 1e-12 is a gap of a hundred times the rounding."""
    x, th = cp.Variable(name="x"), cp.Parameter(nonneg=True)
    line = program_line(cp.Problem(cp.Minimize(th * cp.abs(x)), [x >= -1, x <= 1]), {th: 1.0}, {th: 2.0})
    t = np.array([0.0, 1.0])
    reduced = reduce(line)
    none = np.zeros((2, reduced.problem.items))
    xs, zs = (each.reshape(1, 2, -1) for each in reduced.back(none, none, t))
    xs = np.where(xs == 0.0, off, xs)
    assert judge_line(line, t, xs, zs).passes() == (off == 0.0)


def test_what_is_not_a_number_is_not_proved(soft_threshold):
    line, t, x, z = soft_threshold
    x = x.copy()
    x[0, 0, 0] = np.nan
    assert not judge_line(line, t, x, z).passes(1e3)


def test_an_objective_that_is_not_convex_is_not_proved():
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    concave = cp.quad_form(x, cp.psd_wrap(np.array([[1.0, 2.0], [2.0, 1.0]])))
    line = program_line(cp.Problem(cp.Minimize(concave + th * cp.sum(x))), {th: 0.0}, {th: 1.0})
    proof = judge_line(line, np.array([0.0, 1.0]), np.zeros((1, 2, line.n)), np.zeros((1, 2, line.m)))
    assert proof.residuals["curvature"][0] > 0.1
    assert "semidefinite" in proof.explain()


@pytest.mark.parametrize("family", ["svm, slacks", "quantile, maximum", "frontier, maximise", "transport, costs"])
def test_programs_come_back_from_arrays(family):
    line = program_line(*FAMILIES[family]())
    again = unpacked(packed(line))
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=line.n), rng.normal(size=line.m)
    assert again.value(x, 0.3) == line.value(x, 0.3)
    assert again.rate(x, z) == line.rate(x, z)
    for mine, theirs in ((again.values(x, 0.3), line.values(x, 0.3)), (again.duals(z), line.duals(z))):
        assert list(mine) == list(theirs)
        for name, value in theirs.items():
            np.testing.assert_array_equal(mine[name], value)
    assert [again.row_name(i) for i in range(line.m)] == [line.row_name(i) for i in range(line.m)]


@pytest.mark.parametrize("key", ["program_q", "program_variables_place", "program_signs", "program_A_indices"])
def test_programs_that_do_not_fit_are_refused(key):
    arrays = packed(program_line(*FAMILIES["quantile, maximum"]()))
    arrays[key] = arrays[key] + (np.nan if key == "program_q" else 1000)
    with pytest.raises((InputError, ValueError)):
        unpacked(arrays)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_least_units_bound_what_each_segment_leaves(family, monkeypatch):
    """Where they explain what is left they are taken; the bound is no less than that of each segment's units."""
    path = pc.trace(*FAMILIES[family]())
    found = path.proof
    monkeypatch.setattr("paretoclf.proof.programs.clear_segments.CLEAR", 0.0)
    own = prove_program(path.program, path.t, path.points)
    for each, known in [
        (found.gap, own.gap),
        *((found.residuals[name], own.residuals[name]) for name in own.residuals),
    ]:
        assert (each >= known - 1e-15).all()  # the data at t are rounded otherwise in compiled code
        assert ((each == known) | (each <= 1e-10)).all()


@pytest.mark.parametrize("wrong", [0.0, 1e-4])
def test_what_has_no_size_on_one_segment_is_no_unit_of_another(wrong):
    """Both columns are 0 on the first segment and 1e-7 at the end of the second: nothing absolute hides it."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    line = program_line(cp.Problem(cp.Minimize(th), [x[0] == x[1]]), {th: 0.0}, {th: 1.0})
    points = np.zeros((2, 2, 2))
    points[1, 1] = 1e-7, 1e-7 * (1 + wrong)
    proof = judge_line(line, np.array([0.0, 0.5, 1.0]), points, np.zeros((2, 2, 1)))
    assert proof.residuals["rows"][1] == pytest.approx(wrong / 2, rel=1e-3)
    assert proof.passes() == (wrong == 0.0)


def test_a_multiplier_of_the_wrong_sign_on_one_segment_is_seen():
    """``x >= 1`` and ``x <= 1``: on the first segment the second one has a multiplier of -1/2, all else is right."""
    x, th = cp.Variable(name="x"), cp.Parameter(nonneg=True)
    line = program_line(cp.Problem(cp.Minimize(th * x), [x >= 1, x <= 1]), {th: 1.0}, {th: 2.0})
    t = np.array([0.0, 0.5, 1.0])
    cost, low = np.array([[1.0, 1.5], [1.5, 2.0]]), np.array([[-0.5, -0.5], [0.0, 0.0]])
    z = np.stack([cost + low, low], axis=2)
    assert not judge_line(line, t, np.ones((2, 2, 1)), z).passes()
    z = np.stack([cost - low, -low], axis=2)
    assert judge_line(line, t, np.ones((2, 2, 1)), z).passes()


@pytest.mark.parametrize("off", [0.0, 9e-11])
def test_rounding_on_one_segment_explains_no_gap_on_another(off):
    """The value is 0 throughout; on the second segment opposite bounds have multipliers of 1e6, which cancel."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(nonneg=True)
    constraints = [x[0] + x[1] >= 1, x[1] >= 1, x[1] <= 1]
    line = program_line(cp.Problem(cp.Minimize(th * (x[0] + x[1] - 1)), constraints), {th: 1.0}, {th: 2.0})
    points, z = np.ones((2, 2, 2)), np.zeros((2, 2, 3))
    points[:, :, 0] = [[off, off], [0.0, 0.0]]
    z[:, :, 0], z[1, :, 1:] = [[1.0, 1.5], [1.5, 2.0]], 1e6
    proof = judge_line(line, np.array([0.0, 0.5, 1.0]), points, z)
    assert (proof.gap <= 1e-8).tolist() == [off == 0.0, True]


def toll(price, most):
    """``min x0 + price x1`` with x0 + x1 <= most, x >= 0 and x0 <= 5: the optimum is 0, at 0, whatever the price is."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    rows = [x[0] + x[1] <= most, x[1] >= 0, x[0] >= 0, x[0] <= 5 + th]
    return program_line(cp.Problem(cp.Minimize(x[0] + price * x[1] + 0 * th), rows), {th: 0.0}, {th: 1.0})


@pytest.mark.parametrize("price", [1e3, 1e5, 1e7, 1e9, 1e11])
@pytest.mark.parametrize("most", [1.0, 1e-2])
@pytest.mark.parametrize("z", [(-1.0, -1.0, 0.0), (0.0, 0.0, 0.0)], ids=["sign", "gradient"])
def test_the_price_of_a_column_that_nobody_uses_proves_nothing(price, most, z):
    """At (most, 0) the value is most; the sum of products is 0, and the large price made little of all residuals."""
    line, t = toll(price, most), np.array([0.0, 1.0])
    wrong = np.tile([z[0], price + z[1], z[2], 0.0], (1, 2, 1))
    found = judge_line(line, t, np.tile([most, 0.0], (1, 2, 1)), wrong)
    assert not found.passes()
    assert not found.closed().any()
    right = judge_line(line, t, np.zeros((1, 2, 2)), np.tile([0.0, price, 1.0, 0.0], (1, 2, 1)))
    assert right.passes(1e-15)


@pytest.mark.parametrize("price", [1.0, 1e5, 1e11])
def test_what_a_large_price_rounds_is_no_reason_to_refuse(price):
    """x1 = 1 costs the price; a multiplier of x0 is wrong by the rounding of that, as a solver computes it."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    rows = [x[1] >= 1, x[0] - x[1] >= -1, x[0] <= 5 + th]
    line = program_line(cp.Problem(cp.Minimize(x[0] + price * x[1] + 0 * th), rows), {th: 0.0}, {th: 1.0})
    off = 2.0**-52 * price
    z = np.tile([price + 1.0 + off, 1.0 + off, 0.0], (1, 2, 1))
    assert judge_line(line, np.array([0.0, 1.0]), np.tile([0.0, 1.0], (1, 2, 1)), z).passes()
    z[:, :, 2] = -off
    assert judge_line(line, np.array([0.0, 1.0]), np.tile([0.0, 1.0], (1, 2, 1)), z).passes()


@pytest.mark.parametrize("first", [0.006, 0.0014, 0.0010001])
def test_a_segment_is_judged_at_each_end_by_the_scale_there(first, tmp_path):
    """Minimise x with x >= m, from .001 to 1e6: six times the optimum at the beginning was small beside the end."""
    x, m = cp.Variable(name="x"), cp.Parameter(name="m")
    path = pc.trace(cp.Problem(cp.Minimize(x), [x >= m]), {m: 1e-3}, {m: 1e6}, progress=False)
    assert path.proof.passes(1e-15)
    assert path.proof.sizes[0] == pytest.approx([1e-3, 5e5, 1e6], rel=1e-6)
    points = path.x.copy()
    points[0, 0, 0] = first
    changed = replace(path, points=ProgramPoints.of(points, path.z))
    assert not changed.proof.passes()
    assert changed.proof.gap[0] == pytest.approx((first - 1e-3) / 2.0, rel=1e-3)  # 2 is what 14 digits of 1e6 leave
    changed.save(tmp_path / "changed.npz")
    with pytest.raises(pc.InputError, match="not proved: 1 of 1 segments are not proved"):
        pc.load(tmp_path / "changed.npz")
    said = pc.load(tmp_path / "changed.npz", prove=False).proof.explain()
    assert f"off by at most {changed.proof.gap[0]:.1e} of the value there" in said


def test_a_loose_row_with_a_multiplier_is_seen_whichever_it_is():
    """x = 2 where 1 is optimal, beside a constant of 1e12: the only row is the first of all inequalities."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    line = program_line(cp.Problem(cp.Minimize(x + th + 1e12), [x >= 1]), {th: 0.0}, {th: 1.0})
    proof = judge_line(line, np.array([0.0, 1.0]), np.full((1, 2, line.n), 2.0), np.ones((1, 2, line.m)))
    assert proof.residuals["slackness"][0] == pytest.approx(1 / 3, rel=0.1)
    assert not proof.passes()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_equation_that_is_missed_costs_its_multiplier_of_either_sign_beside_soft_rows(sign):
    """``min sign 1e7 x0 - x1`` with x0 = 1, missed by 3e-9, and x1 <= 1, to be exceeded at 2 a unit: .03 of 1."""
    price, missed = 1e7 * sign, 3e-9
    q, b, soft = np.array([[price, -1.0]] * 2), np.ones((2, 2)), np.array([[np.inf, 2.0]] * 2)
    line = ProgramLine(sp.csc_array((2, 2)), sp.csc_array(np.eye(2)), q, b, np.full(2, 2.0 - price), 1, 1, {}, {})
    points = ProgramPoints.of(np.tile([1.0 - missed, 1.0], (1, 2, 1)), np.tile([-price, 1.0], (1, 2, 1)))
    proof = prove_program(line, np.array([0.0, 1.0]), points, "t", soft)
    assert proof.gaps[0] == pytest.approx(np.full(3, 1e7 * missed), rel=1e-3)
    assert not proof.passes()


def test_the_share_of_a_multiplier_is_the_largest_in_its_row():
    """A multiplier of -1 moves the gradients of x0 and x1, of 1 and of 1e9: it is a third of 1e-6 of the first."""
    line = toll(1e9, 1.0)
    z = np.tile([-1.0, 1e9 - 1.0, 0.0, 0.0], (1, 2, 1))
    proof = judge_line(line, np.array([0.0, 1.0]), np.tile([1.0, 0.0], (1, 2, 1)), z)
    in_first, in_second = 1.0 / (2.0 + OWN_SIZE * 3e9), 1.0 / (2e9 + OWN_SIZE * 2e9)  # 3 and 2 rows have the column
    assert in_first > 100 * in_second
    assert proof.residuals["signs"][0] == pytest.approx(in_first, rel=1e-6)


def test_what_rounding_makes_of_products_is_said_by_one_number():
    """The value is 0 all along: a gap is relative to 1e-6 of each multiplier times what the terms of its row can be."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(nonneg=True)
    line = program_line(
        cp.Problem(cp.Minimize(th * (x[0] + x[1] - 1)), [x[0] + x[1] >= 1, x[1] >= 0]), {th: 1.0}, {th: 2.0}
    )
    z = np.array([[[1.0, 0.0], [2.0, 0.0]]])
    proof = judge_line(line, np.array([0.0, 1.0]), np.full((1, 2, 2), 0.5), z)
    assert proof.passes(1e-15)
    rows = 1.0 + 2 * 0.5  # the side of the row, and its two coefficients times the largest column
    floor = PRODUCT_ROUNDING / CERTIFY * 2.0 * rows
    assert proof.sizes[0] == pytest.approx([max(OF_TERMS, floor), 1.5 * OF_TERMS, 2 * OF_TERMS], rel=1e-9)
    far = judge_line(
        replace(line, constant=np.zeros(2), q=0 * line.q), np.array([0.0, 1.0]), np.full((1, 2, 2), 0.5), z
    )
    assert far.sizes[0] == pytest.approx(np.full(3, floor), rel=1e-9)


def test_the_natural_size_of_a_column_is_the_least_that_its_equations_say():
    """x0 is in two equations: if in the one nothing cancelled it would be 8, and in the other 3."""
    x, th = cp.Variable(2, name="x"), cp.Parameter()
    rows = [x[0] + x[1] == 1, 2 * x[0] - x[1] == th]
    line = program_line(cp.Problem(cp.Minimize(cp.sum_squares(x)), rows), {th: 0.0}, {th: 1.0})
    sizes = Sizes(line)
    first, second = np.abs(line.A.toarray())
    terms = np.array([[8.0 * first[0], 3.0 * second[0]]])
    assert sizes.determined(terms)[0, 0] == pytest.approx(3.0)


# ---- soft rows, against loops over them ------------------------------------------------------------------------------


def soft_case(seed):
    """Two segments of a program with an equation, hard rows and soft ones, whose prices move; nothing is optimal."""
    rng = np.random.default_rng(seed)
    n, m, k = 3, 5, 2
    factor = rng.normal(size=(n, 2))
    lower = np.array([0.5, *[-np.inf] * (m - 1)])
    line = line_of(QP(factor @ factor.T, rng.normal(size=n), rng.normal(size=(m, n)), lower, np.full(m, 0.5)), {}, {})
    line = replace(line, q=line.q + np.outer([0.0, 1.0], rng.normal(size=n)))
    prices = np.where(np.arange(m) < 3, np.inf, rng.random((2, m)) + 1.0)
    x, z = rng.normal(size=(k + 1, n)), rng.random((k + 1, m)) * [1, 1, 1, 0.5, 0.5]
    t = np.array([0.0, 0.4, 1.0])
    return line, prices, t, x, z


@pytest.mark.parametrize("seed", range(5))
def test_gaps_of_soft_rows_are_sums_of_products_of_what_is_left_and_of_what_is_exceeded(seed):
    line, prices, t, x, z = soft_case(seed)
    pairs = (np.stack([each[:-1], each[1:]], axis=1) for each in (x, z))
    proof = prove_program(line, t, ProgramPoints.of(*pairs), "t", prices)
    P, A = line.P.toarray(), line.A.toarray()
    for j in range(2):
        for share in (0.0, 0.5, 1.0):
            weights = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
            at = (1 - share) * t[j] + share * t[j + 1]
            own_x, own_z = ((1 - share) * each[j] + share * each[j + 1] for each in (x, z))
            q, b = ((1 - at) * ends[0] + at * ends[1] for ends in (line.q, line.b))
            with np.errstate(invalid="ignore"):
                price = (1 - at) * prices[0] + at * prices[1]
            gap = value = 0.0
            for i in range(line.m):
                slack = b[i] - A[i] @ own_x
                if np.isfinite(prices[0, i]):
                    gap += max(slack, 0.0) * own_z[i] + max(-slack, 0.0) * (price[i] - own_z[i])
                    value += price[i] * max(-slack, 0.0)
                else:
                    gap += abs(slack) * abs(own_z[i])
            gap += np.abs(P @ own_x + q + A.T @ own_z) @ np.abs(own_x)
            value += 0.5 * own_x @ P @ own_x + q @ own_x + float(line.constant[0])
            assert proof.gaps[j] @ weights >= gap - 1e-12
            if share in (0.0, 1.0):
                assert proof.gaps[j] @ weights == pytest.approx(gap, rel=1e-12)
                assert (proof.duals + proof.gaps)[j] @ weights == pytest.approx(value, rel=1e-12)
            else:
                exceeds = np.isfinite(prices[0]) & (line.b[0] < x[j : j + 2] @ A.T).any(axis=0)
                slacks = line.b[0] - x[j : j + 2] @ A.T
                one_side = ((slacks > 0).all(axis=0) | (slacks < 0).all(axis=0))[exceeds].all()
                if one_side:
                    assert (proof.duals + proof.gaps)[j] @ weights == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_residuals_of_soft_rows_are_in_units_of_their_terms(seed):
    line, prices, t, x, z = soft_case(seed)
    z[1, 3] = -0.25  # a wrong sign, and more than the price
    z[2, 4] = 5.0
    pairs = (np.stack([each[:-1], each[1:]], axis=1) for each in (x, z))
    proof = prove_program(line, t, ProgramPoints.of(*pairs), "t", prices)
    A, e = line.A.toarray(), line.equations
    for j in range(2):
        own = slice(j, j + 2)
        q, b = (np.abs([(1 - s) * ends[0] + s * ends[1] for s in t[own]]).max(axis=0) for ends in (line.q, line.b))
        price = np.array([(1 - s) * prices[0, 3:] + s * prices[1, 3:] for s in t[own]])
        slack = line.b[0] - x[own] @ A.T
        loads = np.abs(z[own]) * (np.arange(line.m) < e) + z[own].clip(0.0) * (np.arange(line.m) >= e)
        most = (np.abs(x[own]).max(axis=0), loads.max(axis=0))
        units = Units.of(Sizes(line), q[None], b[None], most[0][None], most[1][None], none=1.0)
        each_b = np.array([(1 - s) * np.abs(line.b[0]) + s * np.abs(line.b[1]) for s in t[own]])
        terms = each_b + np.abs(x[own]) @ np.abs(A).T + units.least_rows
        hard = np.hstack([np.abs(slack[:, :e]), -slack[:, e:3]]) / terms[:, :3]
        assert proof.residuals["rows"][j] == pytest.approx(max(hard.max(), 0.0), rel=1e-9)
        each_q, P = np.array([(1 - s) * line.q[0] + s * line.q[1] for s in t[own]]), line.P.toarray()
        of_q = np.array([(1 - s) * np.abs(line.q[0]) + s * np.abs(line.q[1]) for s in t[own]])
        terms = of_q + np.abs(x[own]) @ np.abs(P) + loads @ np.abs(A) + units.least_gradient
        gradient = np.abs(x[own] @ P + each_q + z[own] @ A) / terms
        assert proof.residuals["stationarity"][j] == pytest.approx(gradient.max(), rel=1e-9)
        factor = (np.abs(A) * units.shares[0]).max(axis=1)
        least = np.append(z[own, e:].min(axis=0), (price - z[own, 3:]).min(axis=0))
        factors = np.append(factor[e:], factor[3:])
        assert proof.residuals["signs"][j] == pytest.approx(max(0.0, (-factors * least).max()), rel=1e-9)


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("off", [1e-6, 0.5, 1.0])
def test_a_row_without_a_price_is_judged_at_each_end_by_the_terms_there(connected, off):
    """Minimise y >= 1 beside x >= C, from 1 to 1e6 on one segment: x = 1 - 1e-6 passed at C = 1, beside 1e6."""
    x, y, C = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="C")
    rows = [x >= C, y >= 1] + [x + y <= 1e9] * connected
    path = pc.trace(cp.Problem(cp.Minimize(y), rows), {C: 1.0}, {C: 1e6}, progress=False)
    assert path.proof.passes(1e-12)
    points = path.x.copy()
    own = int(np.argmax(points[0, 1]))
    points[0, 0, own] -= off
    changed = replace(path, points=ProgramPoints.of(points, path.z))
    assert changed.proof.failures().tolist() == [0]
    assert changed.proof.residuals["rows"][0] > 0.3 * off / (1.0 + off)
    points = path.x.copy()
    points[0, 1, own] -= 1e-6  # beside 1e6 it is nothing
    assert replace(path, points=ProgramPoints.of(points, path.z)).proof.passes()
