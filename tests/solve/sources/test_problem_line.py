"""From CVXPY to a program along a line: values against CVXPY's own, and what is refused by name."""

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.solve.sources.cone_problem_line import LineOfCones
from paretoclf.solve.sources.problem_line import LineOfPrograms, program_line
from tests.oracles.lines import FAMILIES, solved
from tests.oracles.parametric import solve_at


@pytest.mark.parametrize("family", FAMILIES)
def test_values_and_points_are_those_of_cvxpy(family):
    problem, start, stop = FAMILIES[family]()
    line = program_line(problem, start, stop)
    for t in np.random.default_rng(0).random(2):
        value, v, _ = solve_at(line.problem, t)
        x = v[: line.n]
        theirs = solved(problem, start, stop, t)
        assert line.sense * value == pytest.approx(theirs, rel=1e-8, abs=1e-8)
        assert line.value(x, t) == pytest.approx(theirs, rel=1e-8, abs=1e-8)
        for name, own in line.values(x, t).items():  # optima need not be unique: theirs are replaced by ours
            next(v for v in problem.variables() if v.name() == name).save_value(own)
        assert problem.objective.value == pytest.approx(theirs, rel=1e-7, abs=1e-7)
        assert max((float(np.max(c.violation())) for c in problem.constraints), default=0.0) < 1e-7


def test_multipliers_have_cvxpys_signs_and_shapes():
    for maximise in (False, True):
        x, level = cp.Variable((2, 2), name="x"), cp.Parameter(name="level")
        rows = [
            (cp.sum(x) == level).set_label("mass"),
            (x >= np.array([[0.0, 0.1], [0.2, 0.9]])).set_label("least"),
            (x[0] <= 0.3).set_label("most"),
        ]
        sense, sign = (cp.Maximize, -1) if maximise else (cp.Minimize, 1)
        problem = cp.Problem(sense(sign * cp.sum_squares(x - 0.1 * np.arange(4.0).reshape(2, 2))), rows)
        line = program_line(problem, {level: 1.0}, {level: 2.0})
        _, _, y = solve_at(line.problem, 0.5)
        assert solved(problem, {level: 1.0}, {level: 2.0}, 0.5) is not None
        duals = line.duals(-y[line.n :])
        assert list(duals) == ["mass", "least", "most"]
        for row in rows:
            assert np.shape(duals[row.label]) == np.shape(row.dual_value)
            np.testing.assert_allclose(duals[row.label], row.dual_value, atol=1e-7)
        assert {line.row_name(i) for i in range(line.m)} >= {"mass", "least[1, 0]", "most[1]"}


def test_attributes_of_variables_are_read_back():
    S = cp.Variable((3, 3), symmetric=True, name="S")
    D, e = cp.Variable((2, 2), diag=True, name="D"), cp.Variable(2, nonpos=True, name="e")
    f, th = cp.Variable(2, bounds=[-1, 0.5], name="f"), cp.Parameter(name="th")
    target = np.arange(9.0).reshape(3, 3)
    loss = cp.sum_squares(S - th * target) + cp.sum_squares(D - th) + cp.sum_squares(e - th) + cp.sum_squares(f - th)
    line = program_line(cp.Problem(cp.Minimize(loss)), {th: 1.0}, {th: 3.0})
    _, v, _ = solve_at(line.problem, 0.5)
    found = line.values(v[: line.n], 0.5)
    np.testing.assert_allclose(found["S"], target + target.T, atol=1e-6)
    np.testing.assert_allclose(found["D"], 2 * np.eye(2), atol=1e-6)
    np.testing.assert_allclose(found["e"], 0, atol=1e-6)
    np.testing.assert_allclose(found["f"], 0.5, atol=1e-6)


def test_a_parameter_in_two_rows_of_a_maximum_is_taken_up_by_its_column():
    problem, start, stop = FAMILIES["quantile, maximum"]()
    line = program_line(problem, start, stop)
    assert len(line.moved) == 30  # one a sample
    # Written by hand, the column is the user's own, and is read back with what was taken up.
    w, tau, s = cp.Variable(name="w"), cp.Parameter(nonneg=True), cp.Variable(3, name="s")
    r = np.array([1.0, 2.0, 4.0]) - w
    own = cp.Problem(cp.Minimize(cp.sum(s)), [s >= tau * r, s >= (tau - 1) * r])
    line = program_line(own, {tau: 0.2}, {tau: 0.8})
    _, v, _ = solve_at(line.problem, 0.9)
    theirs = solved(own, {tau: 0.2}, {tau: 0.8}, 0.9)
    found = line.values(v[: line.n], 0.9)
    assert found["s"].sum() == pytest.approx(theirs, abs=1e-8)
    np.testing.assert_allclose(found["s"], s.value, atol=1e-6)


def test_rounding_is_no_movement():
    """(p + q) * f with p + q = 0.3 at both ends, rounded in two ways."""
    x, p, q, th = cp.Variable(2), *(cp.Parameter(nonneg=True) for _ in range(3))
    problem = cp.Problem(cp.Minimize((p + q) * cp.sum_squares(x) + th * cp.sum(x)), [cp.abs(x) <= 1])
    assert program_line(problem, {p: 0.1, q: 0.2, th: 0.0}, {p: 0.15, q: 0.15, th: 1.0}).n >= 2


@pytest.mark.parametrize("size", [1.0, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(3))
def test_parameters_far_from_0_do_not_bend(size, seed):
    """Small data were differences of large parameters: they were refused, and a CallbackParam blamed that is none."""
    y, level, a = cp.Variable(3, name="y"), cp.Parameter(name="level"), np.random.default_rng(seed).random(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y)), [a @ y == level - size, y <= a[0] * level - (a[0] * size - 9)])
    line = program_line(problem, {level: size}, {level: size + 1})
    _, v, _ = solve_at(line.problem, 0.3)
    np.testing.assert_allclose(line.values(v[: line.n], 0.3)["y"], 0.3 * a / (a @ a), atol=1e-6)


@pytest.mark.parametrize("near", [1e-3, 1e-6])
def test_levels_next_to_1_do_not_bend(near):
    """``tau - 1`` is rounded as 1 is: quantiles of the highest levels were refused for a parameter in A."""
    (w, s), tau, r = (cp.Variable(name="w"), cp.Variable(4, name="s")), cp.Parameter(nonneg=True), np.arange(4.0)
    problem = cp.Problem(cp.Minimize(cp.sum(s)), [s >= tau * (r - w), s >= (tau - 1) * (r - w)])
    line = program_line(problem, {tau: 1 - near}, {tau: 1 - near / 10})
    value, _, _ = solve_at(line.problem, 0.5)
    assert value == pytest.approx(6 * 0.55 * near, rel=1e-6)  # w = 3, and the others pay 1 - tau each


@pytest.mark.parametrize("near", [0.5, 1e-3, 1e-9])
def test_rounding_of_a_callback_is_no_bend(near):
    """``1 - g`` next to g = 1 has few digits."""
    x, g = cp.Variable(2, name="x"), cp.Parameter(nonneg=True)
    other = cp.CallbackParam(lambda: 1 - g.value, nonneg=True)
    loss = cp.sum_squares(x) + g * cp.pos(1 - x[0]) + other * cp.pos(1 - x[1])
    line = program_line(cp.Problem(cp.Minimize(loss)), {g: 1 - near}, {g: 1 - near / 10})
    assert line.q[0] != pytest.approx(line.q[1], rel=1e-3, abs=0.0)


def test_the_problem_is_left_as_it_was():
    problem, start, stop = FAMILIES["lasso"]()
    lam = next(iter(start))
    lam.value = 0.25
    value = solved(problem, {lam: 0.25}, {lam: 0.25}, 0.0)
    before = problem.variables()[0].value.copy()
    program_line(problem, start, stop)
    assert lam.value == 0.25
    assert problem.value == value
    np.testing.assert_array_equal(problem.variables()[0].value, before)


def of_a_maximisation():
    """The line of max 7 - |x|^2 on x >= level, level from 1 to 3, and its problem: the best is 7 - 2 level^2."""
    x, level = cp.Variable(2, name="x"), cp.Parameter(name="level")
    rows = [(x >= level).set_label("floor"), (cp.sum(x) <= 8).set_label("mass")]
    problem = cp.Problem(cp.Maximize(7 - cp.sum_squares(x)), rows)
    return problem, x, level, LineOfPrograms(problem, {level: 1.0}, {level: 3.0})


@pytest.mark.parametrize("sign", [1, -1])
def test_a_point_is_written_into_the_problem_as_a_solvers(sign):
    """Its value has the sign of the problem's own; multipliers that a point lacks are none afterwards."""
    problem, x, level, line = of_a_maximisation()
    line.sign = sign
    point = SimpleNamespace(
        t=0.25, value=sign * 2.5, variables={"x": np.array([1.5, 1.5])}, duals={"floor": [3.0, 3.0]}
    )
    line.assign(point)
    assert (level.value, problem.value, problem.status) == (1.5, 2.5, cp.OPTIMAL)
    assert problem.objective.value == 2.5
    np.testing.assert_array_equal(x.value, [1.5, 1.5])
    floor, mass = problem.constraints
    np.testing.assert_array_equal(floor.dual_value, [3.0, 3.0])
    assert mass.dual_value is None
    line.assign(SimpleNamespace(t=0.5, value=sign * -1.0, variables={"x": np.full(2, 2.0)}, duals={"mass": 0.25}))
    assert (level.value, problem.value, mass.dual_value) == (2.0, -1.0, 0.25)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_value_at_t_is_solved_for_there(sign):
    """Each time anew, whatever the problem held; nan where there is no optimum."""
    problem, _, level, line = of_a_maximisation()
    line.sign = sign
    for t in (0.0, 0.75, 0.25):
        own = 1.0 + 2.0 * t
        assert line.solve(t) == pytest.approx(sign * (7 - 2 * own**2), abs=1e-6)
        assert level.value is None  # as it was before
    empty = LineOfPrograms(problem, {level: 1.0}, {level: 9.0})
    assert np.isnan(empty.solve(1.0))


def test_values_that_are_tried_are_judged_as_the_problem_states_them():
    """Each violation is relative to 1 + the larger side of its entry; of a variable that promises something, too."""
    x, least, S = cp.Variable(2, name="x"), cp.Parameter(name="least"), cp.Variable((2, 2), symmetric=True, name="S")
    y = cp.Variable(nonneg=True, name="y")
    rows = [x >= least, x[0] + x[1] == 5, S[0, 0] <= 100]
    problem = cp.Problem(cp.Maximize(7 - cp.sum_squares(x) - cp.sum_squares(S) - y), rows)
    line = LineOfPrograms(problem, {least: 1.0}, {least: 3.0})
    right = {"x": np.array([2.0, 3.0]), "S": np.eye(2), "y": 1.0}
    assert line.tried(0.5, right) == (7 - 13 - 2 - 1, 0.0)
    assert least.value == 2.0
    wrong = {
        "a row, beside a larger side": ({"x": np.array([1.0, 4.0])}, 1 / (1 + 2)),
        "an equation": ({"x": np.array([2.0, 4.0])}, 1 / (1 + 6)),
        "two, the worse of them": ({"x": np.array([1.5, 9.0])}, 5.5 / (1 + 10.5)),
        "a large entry": ({"S": np.diag([109.0, 1.0])}, 9 / (1 + 109)),
        "what a variable promises": ({"y": -3.0}, 3 / (1 + 3)),
        "a symmetric one": ({"S": np.array([[1.0, 0.5], [0.0, 1.0]])}, 0.25),
    }
    for what, (change, violation) in wrong.items():
        _, found = line.tried(0.5, right | change)
        assert found == pytest.approx(violation, rel=1e-12), what


def test_multipliers_of_second_order_cones_are_read_and_written_back():
    """As CVXPY has them: of each cone that of its size, then those of its entries, in closed form for |x| <= radius."""
    x, radius = cp.Variable(3, name="x"), cp.Parameter(name="radius")
    X, ones = cp.Variable((3, 2), name="X"), np.ones(2)
    cost, costs = np.array([1.0, 2.0, -2.0]), np.array([[1.0, 0.0], [2.0, 3.0], [-2.0, 4.0]])
    cones = [cp.SOC(radius, x).set_label("one"), cp.SOC(radius * ones, X, axis=0).set_label("two")]
    problem = cp.Problem(cp.Minimize(cost @ x + cp.sum(cp.multiply(costs, X))), cones)
    line = LineOfCones(problem, {radius: 5.0}, {radius: 7.0})
    read = {name: line.line.readings[name] for name in ("one", "two")}
    assert {name: each.shape for name, each in read.items()} == {"one": (4,), "two": (8,)}
    radius.value = 5.0
    problem.solve(solver="CLARABEL")
    assert problem.value == pytest.approx(-5 * (3 + 3 + 5), rel=1e-6)
    theirs = {c.label: [np.array(part) for part in c.dual_value] for c in problem.constraints}
    flat = {"one": [3.0, *cost], "two": [3.0, *costs[:, 0], 5.0, *costs[:, 1]]}
    point = SimpleNamespace(t=0.0, value=-55.0, variables={"x": -cost, "X": -costs}, duals=flat)
    line.assign(point)
    for c in problem.constraints:
        for own, other in zip(c.dual_value, theirs[c.label], strict=True):
            np.testing.assert_allclose(own, other, atol=1e-5)


def test_a_cone_that_is_left_is_measured_as_a_whole():
    """|(5, 12, 0)| = 13 beside a radius of 10 is off by the distance to the cone, relative to the largest entry."""
    X, radius = cp.Variable((3, 2), name="X"), cp.Parameter(name="radius")
    cones = cp.SOC(radius * np.ones(2), X, axis=0)
    line = LineOfCones(cp.Problem(cp.Minimize(cp.sum(X)), [cones]), {radius: 9.0}, {radius: 11.0})
    value, off = line.tried(0.5, {"X": np.array([[5.0, 0.0], [12.0, 1.0], [0.0, 0.0]])})
    assert (value, off) == (18.0, pytest.approx(3 / np.sqrt(2) / (1 + 12), rel=1e-9))


W, TH, UNSET = cp.Variable(2, name="w"), cp.Parameter(name="th"), cp.Parameter(name="unset")
LAM, MU = (cp.Parameter(nonneg=True, name=name) for name in ("lam", "mu"))
SQUARES = cp.sum_squares(W - 1)
L1 = SQUARES + LAM * cp.norm1(W)
ONE, TILT = ({LAM: 1.0}, {LAM: 2.0}), ({TH: 1.0}, {TH: 2.0})
Z, C, S = cp.Variable(2, integer=True, name="z"), cp.Variable(2, complex=True, name="c"), cp.Variable((2, 2), PSD=True)
BENT = cp.CallbackParam(lambda: LAM.value**2, nonneg=True, name="lam2")
LINE = cp.CallbackParam(lambda: 3 - LAM.value, name="line")
BACK = cp.CallbackParam(lambda: 2 + (LAM.value - 1) * (LAM.value - 2), name="back")
LARGE = cp.Parameter(value=1e308)


def problem(objective, constraints=(), sense=cp.Minimize):
    return cp.Problem(sense(objective), list(constraints))


def cap(constraint):
    return [constraint.set_label("cap")]


REFUSED = {
    "not convex": (problem(-SQUARES), ONE, "DCP.*objective"),
    "not DPP": (problem(SQUARES + LAM * LAM * cp.norm1(W)), ONE, "DPP.*objective"),
    "not DPP in a constraint": (problem(L1, cap(LAM * LAM * W <= 1)), ONE, "DPP.*cap"),
    "integers": (problem(cp.norm1(Z) * LAM), ONE, "integer or boolean variable z"),
    "complex": (problem(L1 + cp.norm1(cp.real(C))), ONE, "complex variable c"),
    "cone in the objective": (problem(L1 + cp.norm(W, 2)), ONE, r"\(.*w, 2\).*the objective.*cone"),
    "cone of an atom": (problem(L1, cap(cp.exp(W[0]) <= 2)), ONE, r"got exp\(w\[0\]\) in constraint cap"),
    "square in a constraint": (problem(L1, cap(SQUARES <= 2)), ONE, r"got sum_squares\(w - 1\) in constraint cap"),
    "cone as a constraint": (problem(L1, [cp.SOC(1.0, W)]), ONE, "cone of the kind SOC in constraint 0"),
    "semidefinite": (problem(LAM * cp.trace(S)), ONE, "semidefinite in variable var"),
    "in P": (problem(LAM * SQUARES + cp.norm1(W)), ONE, r"parameter lam .* matrix P.*in the objective.*divide"),
    "in A": (problem(SQUARES, cap(TH * W[0] <= 1)), TILT, r"parameter th .* matrix A.*constraint cap.*divide"),
    "in one row of a maximum": (problem(SQUARES + cp.pos(W[0] - TH * W[1])), TILT, "parameter th .* matrix A"),
    "nothing moves": (problem(L1), ({LAM: 1.0}, {LAM: 1.0}), "nothing moves"),
    "sign": (problem(L1), ({LAM: 1.0}, {LAM: -1.0}), r"stop\[lam\] must be nonneg.*-1"),
    "nan": (problem(L1), ({LAM: np.nan}, {LAM: 1.0}), r"start\[lam\] must be finite, got nan"),
    "infinite": (problem(L1), ({LAM: 1.0}, {LAM: np.inf}), r"stop\[lam\] must be finite, got inf"),
    "infinite data": (problem(L1, cap(np.array([1, np.inf]) >= W)), ONE, r"cap\[1\] must be finite"),
    "shape": (problem(L1), ({LAM: [1.0, 2.0]}, {LAM: 1.0}), r"start\[lam\] must have shape \(\)"),
    "no number": (problem(L1), ({LAM: "much"}, {LAM: 1.0}), r"start\[lam\] must be numeric"),
    "no mapping": (problem(L1), (1.0, 2.0), "start must map parameters"),
    "empty": (problem(L1), ({}, {}), "start must map parameters"),
    "no parameter": (problem(L1), ({"mu": 1.0}, {"mu": 2.0}), "start must have parameters .* got 'mu': .* has lam"),
    "stranger": (problem(L1), TILT, "got th: the problem has lam"),
    "one end only": (problem(L1 + MU), ({LAM: 1.0, MU: 1.0}, {LAM: 2.0}), "same parameters, got mu"),
    "without a value": (problem(L1 + UNSET), ONE, "parameter unset must be in start and stop"),
    "no problem": (L1, ONE, "problem must be a cvxpy.Problem"),
    "bend": (problem(SQUARES + BENT * cp.norm1(W)), ONE, "affine .* lam: the CallbackParam lam2 is"),
    "bend beside larger numbers": (problem(SQUARES, [W[0] == BENT, W[1] <= 1e12]), ONE, "affine .* CallbackParam lam2"),
    "bend of a difference": (problem(SQUARES, [W[0] + 1e12 >= BENT + LAM]), ONE, "affine .* CallbackParam lam2"),
    "bend of one of two": (problem(SQUARES, [W[0] == BENT, W[1] <= LINE]), ONE, "the CallbackParam lam2 is"),
    "bend of a matrix between equal ends": (problem(SQUARES, cap(BACK * W[0] >= LAM)), ONE, "back .* matrix A.* cap"),
    "infinite coefficient": (problem(L1, cap(np.array([[1, 2], [1, np.inf]]) @ W <= 1)), ONE,
                             r"cap\[1\] must have finite coefficients, got one of w\[1\] that"),
    "coefficient that overflows": (problem(L1, cap(LARGE * (10 * W[0]) <= 1)), ONE, r"cap must have .* one of w\[0\]"),
    "infinite cost": (problem(L1 + np.array([1.0, np.inf]) @ W), ONE, "the objective must have finite coefficients"),
    "infinite square": (problem(L1 + np.inf * SQUARES), ONE, "the objective must have finite coefficients"),
    "infinite constant": (problem(L1 + 10 * LARGE), ONE, "the objective must have finite coefficients"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refused_by_name(why):
    given, ends, message = REFUSED[why]
    with pytest.raises(InputError, match=message):
        program_line(given, *ends)
