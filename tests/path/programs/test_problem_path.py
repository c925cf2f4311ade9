"""Paths of problems written in CVXPY: against Clarabel at tight tolerance, closed forms, and what is refused."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InterruptedPath, StoppedError
from paretoclf.engine import general as engine
from paretoclf.engine.engines import ENGINES, walks_of
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.path.programs import problem_path
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.problem.piecewise import Piecewise
from paretoclf.proof.programs.program_lines import prove_program
from tests.benchmarks import general
from tests.oracles.lines import FAMILIES, regression, solved
from tests.oracles.random_atoms import random_atoms
from tests.oracles.random_lines import random_line

X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
CAP, MASS = (X <= 3).set_label("cap"), (cp.sum(X) >= TH).set_label("mass")


def against_clarabel(problem, start, stop, path, shares):
    """The largest relative difference of the value, and the violation of constraints, at some t of the path."""
    worst = 0.0
    for t in np.asarray(shares) * path.breakpoints[-1]:
        theirs, point = solved(problem, start, stop, t), path.at(t)
        assert theirs is not None
        worst = max(worst, abs(point.value - theirs) / max(abs(theirs), 1e-3))
        for v in problem.variables():  # optima need not be unique: ours, in their problem
            v.save_value(np.asarray(point.variables[v.name()]))
        assert float(problem.objective.value) == pytest.approx(point.value, rel=1e-9, abs=1e-9)
        assert max((float(np.max(c.violation())) for c in problem.constraints), default=0.0) < 1e-8
    return worst


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_path_proved_and_is_what_clarabel_finds(family):
    problem, start, stop = FAMILIES[family]()
    path = pc.trace(problem, start, stop)
    assert path.status == "end"
    assert path.breakpoints[-1] == 1.0
    # Relative to the larger end of each segment: where the value vanishes at one, 1e-16 is 3e-11 of that end's.
    largest = path.proof.gaps.max(axis=1) / path.proof.sizes.max(axis=1)
    assert largest.max() <= 1e-11, path.proof
    assert path.proof.passes(1e-10), path.proof  # rounding of the largest column is 1e-10 of a row whose terms are 0
    assert against_clarabel(problem, start, stop, path, (0.0, 0.23, 0.61, 1.0)) < 1e-8


def test_duals_have_the_users_signs_and_shapes():
    for maximise in (False, True):
        x, level = cp.Variable((2, 2), name="x"), cp.Parameter(name="level")
        rows = [
            (cp.sum(x) == level).set_label("mass"),
            (x >= np.array([[0.0, 0.1], [0.2, 0.9]])).set_label("least"),
            (x[0] <= 0.3).set_label("most"),
        ]
        sense, sign = (cp.Maximize, -1) if maximise else (cp.Minimize, 1)
        problem = cp.Problem(sense(sign * cp.sum_squares(x - 0.1 * np.arange(4.0).reshape(2, 2))), rows)
        path = pc.trace(problem, {level: 1.3}, {level: 2.0})
        for t in (0.1, 0.9):
            assert solved(problem, {level: 1.3}, {level: 2.0}, t) == pytest.approx(path.value(t), rel=1e-9)
            duals = path.at(t).duals
            assert list(duals) == ["mass", "least", "most"]
            for row in rows:
                assert np.shape(duals[row.label]) == np.shape(row.dual_value)
                np.testing.assert_allclose(duals[row.label], row.dual_value, atol=1e-7)


def fairness(n=40, d=3, seed=4):
    """An SVM whose scores may not covary with a group by more than a bound, which moves."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    group = np.where(A[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y = np.where(A @ np.ones(d) + rng.normal(size=n) > 0, 1.0, -1.0)
    w, b, bound = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="bound")
    covariance = ((group - group.mean()) @ A / n) @ w
    loss = cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(y, A @ w + b)))
    rows = [(covariance <= bound).set_label("fair"), (covariance >= -bound).set_label("fair too")]
    return cp.Problem(cp.Minimize(loss), rows), {bound: 0.0}, {bound: 1.0}


def test_a_fairness_bound():
    problem, start, stop = fairness()
    path = pc.trace(problem, start, stop)
    assert against_clarabel(problem, start, stop, path, np.linspace(0, 1, 7)) < 1e-8
    prices = [path.at(bound=bound).duals["fair"] for bound in (0.0, 0.1, 1.0)]
    assert prices[0] >= prices[1] >= prices[2] == 0.0  # a loose bound costs nothing


def test_parameters_that_move_together_vectors_too():
    A, y = regression()
    w, lam, shift = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam"), cp.Parameter(30, name="shift")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y - shift) / 2 + lam * cp.norm1(w)))
    start, stop = {lam: 3.0, shift: np.zeros(30)}, {lam: 1.0, shift: np.cos(np.arange(30))}
    path = pc.trace(problem, start, stop)
    assert against_clarabel(problem, start, stop, path, (0.0, 0.4, 0.9)) < 1e-8
    np.testing.assert_allclose(path.at(0.5).parameters["shift"], stop[shift] / 2)
    assert path.at(lam=2.0).t == 0.5
    with pytest.raises(pc.InputError, match="one of t, lam must be given, got shift"):
        path.at(shift=0.0)


ENDS = {
    "no room": (cp.Minimize(cp.sum(X)), [X >= 0, CAP, MASS], (1, 10), "infeasible", 5 / 9, ("cap", "mass")),
    "no bound": (cp.Minimize(X[0] - TH * X[1]), [X >= 0], (-1, 1), "unbounded", 0.5, ("x",)),
    "no bound above": (cp.Maximize(TH * cp.sum(X)), [X >= 0], (-1, 3), "unbounded", 0.25, ("x",)),
    "quadratic": (cp.Minimize(cp.sum_squares(X)), [CAP, MASS], (0, 8), "infeasible", 0.75, ("cap", "mass")),
    "bounds cross": (
        *(cp.Minimize(cp.sum_squares(X)), [(X[0] <= 1 - TH).set_label("most"), (X[0] >= TH).set_label("least")]),
        *((0, 2), "infeasible", 0.25, ("most", "least")),
    ),
    "at once": (cp.Minimize(cp.sum(X)), [CAP, MASS], (6, 7), "infeasible", 0.0, ("cap", "mass")),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_path_that_ends_early_says_where_and_why(name):
    objective, rows, (first, last), status, end, blame = ENDS[name]
    problem = cp.Problem(objective, rows)
    path = pc.trace(problem, {TH: first}, {TH: last})
    assert path.status == path.beyond.status == status
    assert path.breakpoints[-1] == pytest.approx(end, abs=1e-12)
    assert set(path.beyond.blame) == set(blame)
    assert path.beyond.proof.passes(1e-12)
    assert path.proof.passes(1e-12)
    with pytest.raises(pc.InputError, match="where the path ends"):
        path.at(end + 1e-6)
    assert solved(problem, {TH: first}, {TH: last}, end + 0.01) is None
    if end > 0.0:
        assert solved(problem, {TH: first}, {TH: last}, end - 0.01) == pytest.approx(path.value(end - 0.01), abs=1e-8)
    else:
        assert path.at(0.0).value == pytest.approx(6.0)


@pytest.mark.parametrize("seed", range(25))
def test_random_problems_with_ties(seed):
    """Whole numbers throughout: where a path ends Clarabel finds no optimum beyond, and one before."""
    problem, start, stop = random_line(seed)
    try:
        path = pc.trace(problem, start, stop)
    except pc.InputError as error:
        if "must have a solution at the start" in str(error):
            assert solved(problem, start, stop, 0.0) is None
        return
    assert path.proof.passes(1e-10)
    for t in (0.2, 0.7):
        theirs = solved(problem, start, stop, t)
        if t <= path.breakpoints[-1]:
            assert theirs is None or theirs == pytest.approx(path.value(t), rel=1e-7, abs=1e-7)
        else:
            assert theirs is None


def test_what_rounding_leaves_of_a_ray_is_no_curvature():
    """Of a variable of 2e-16 in a ray of size 1 the squares saw nothing else: the ray was said not to be proved."""
    problem, start, stop = random_line(441)
    assert solved(problem, start, stop, 0.0) is None
    with pytest.raises(pc.InputError, match="must have a solution at the start"):
        pc.trace(problem, start, stop)


@pytest.mark.parametrize("seed", [67, 334, 342])
def test_a_value_of_0_along_a_piece_is_proved(seed):
    """Its rounding of 1e-16 was the unit that the gap, of 1e-16 as well, was measured by: these paths were refused."""
    problem, start, stop = random_line(seed)
    path = pc.trace(problem, start, stop)
    assert abs(path.value(0.0)) < 1e-12
    assert path.proof.passes(1e-10)
    for t in (0.0, 0.1, 0.8):
        assert solved(problem, start, stop, t) == pytest.approx(path.value(t), abs=1e-8)


def of_fewer_squares_than_variables():
    """Their product is rounded, so that P seems to bend along directions of which no square knows."""
    x, th = cp.Variable(5, name="x"), cp.Parameter(name="th")
    A = np.array([[1.0, 2, 0, -1, 2], [2, 1, -2, -1, -1], [-2, 1, -2, -1, -1]])
    w = np.array(
        [1.656975920178428, 0.48650874261951366, -0.21138690342654973, -0.6842025151271893, 1.3814457815648173]
    )
    constraints = [[0, -2, 2, 1, -1] @ x == 1, cp.norm1(x) <= 4, w @ x <= th]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - [-1.4, -0.7, 1.1])), constraints)
    return problem, {th: 1.0}, {th: -1.0}


def without_a_bound_where_it_moves():
    """No square sees the direction in which the other term falls: there is an optimum at the start, and none beyond."""
    x, lam = cp.Variable(4, name="x"), cp.Parameter(nonneg=True, name="lam")
    A = np.array([[1.2, -0.7, -1.3, -0.5], [0.8, 0.9, -0.2, -0.4], [-2.1, -0.8, 0.2, -0.3]])
    loss = lam * (np.array([0.4, -1.8, -0.3, 1.4]) @ x + 2) + cp.sum_squares(A @ x - [0.0, 0.0, -0.7])
    return cp.Problem(cp.Minimize(loss)), {lam: 0.0}, {lam: 1.0}


def with_its_optimum_at_0():
    """A singular P and an optimum of 0: what cancels in twice the precision was the unit of the gap."""
    x, lam = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="lam")
    M = np.array([[-0.4, 1.2, 0.3], [-0.1, 1.4, -1.9]])
    P = np.array([[5.0, 1, -2], [1, 1, 0], [-2, 0, 1]])
    limit = np.array([1.7711038593330775, -0.7340572407874811, -2.1992354117861113]) @ x <= 2
    return cp.Problem(cp.Minimize(lam * cp.tv(x) + cp.max(M @ x) + cp.quad_form(x, P)), [limit]), {lam: 4}, {lam: 3}


def with_no_bound_but_0():
    """All bounds are 0, so that no bound says what is small: the costs and P do."""
    x, v = cp.Variable(4, nonpos=True, name="x"), cp.Parameter(4, name="v")
    B = np.array([[0.7, 1.1, -1.2, -0.6], [-0.8, -0.6, -1.0, 0.1]])
    limits = [np.array([-0.452264380026539, -0.6279428481050523, 0.602809181252961, -1.3354382002416934]) @ x <= 0]
    limits += [np.array([0.5, 0.7, -1.2, -0.8]) @ x <= 0]
    start, stop = np.array([1.2, -0.7, 1.1, 0.5]), np.array([-0.4, -0.3, 0.1, -1.4])
    return cp.Problem(cp.Maximize(-(v @ x + cp.quad_form(x, B.T @ B) + cp.tv(x))), limits), {v: start}, {v: stop}


@pytest.mark.parametrize(
    ("made", "status"),
    [
        (of_fewer_squares_than_variables, "end"),
        (with_no_bound_but_0, "end"),
        (without_a_bound_where_it_moves, "unbounded"),
        (with_its_optimum_at_0, "end"),
    ],
)
def test_a_singular_quadratic_that_is_rounded_is_not_refused(made, status):
    problem, start, stop = made()
    path = pc.trace(problem, start, stop)
    assert path.status == status
    # Where there is an optimum at the start only, its multipliers are rounding, and small numbers are the unit.
    assert path.proof.passes(1e-10 if status == "end" else 1e-9)
    assert against_clarabel(problem, start, stop, path, (0.0, 0.3, 0.8)) < 1e-6
    if status == "unbounded":
        assert path.breakpoints[-1] == 0.0
        assert solved(problem, start, stop, 0.01) is None


class Pinball(pc.Formulation):
    """A user's formulation: pinball regression in tau, whose dual nobody wrote."""

    domain = {"tau": pc.Range(0, 1), "ridge": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    def __init__(self, A, y):
        self.A, self.y = A, y

    @cached_property
    def primal(self):
        w, tau = cp.Variable(self.A.shape[1], name="w"), self.parameters["tau"]
        r = self.y - self.A @ w
        loss = cp.sum(cp.maximum(tau * r, (tau - 1) * r))
        return cp.Problem(cp.Minimize(loss + self.parameters["ridge"] * cp.sum_squares(w)))


def test_a_formulation_of_the_users_is_traced_by_the_names_of_its_parameters():
    A, y = regression()
    mine = Pinball(A, y)
    path = pc.trace(mine, tau=(0.1, 0.9), ridge=0.3)
    for tau in (0.1, 0.37, 0.8):
        solution = mine.solve(tau=tau, ridge=0.3)
        assert path.at(tau=tau).value == pytest.approx(solution.value, rel=1e-9)
        np.testing.assert_allclose(path.at(tau=tau).variables["w"], solution.numbers["w"], atol=1e-6)
    with pytest.raises(pc.InputError, match=r"^no exact path for Pinball in tau, ridge: pass eps .*ridge must not mov"):
        pc.trace(mine, tau=0.5, ridge=(0.1, 1.0))
    for given, message in (
        ({"tau": (0, 1)}, "^ridge must be given: Pinball is traced with its parameters"),
        ({"tau": (0, 1), "ridge": 1.0, "rest": 1}, "^rest must be left out: Pinball is traced with its parameters"),
        ({"tau": (0, 1), "ridge": 1.0, "eps": 1}, "^eps must lie strictly between 0 and 1"),
        ({"tau": 0.5, "ridge": 1.0}, "^a parameter must move"),
        ({"tau": (0, 2), "ridge": 1.0}, r"^tau must be in \[0, 1\], got 2"),
        ({"tau": "many", "ridge": 1.0}, "^tau must be a pair"),
        ({"start": (0, 0), "stop": (1, 1)}, "^start must be left out: Pinball"),
    ):
        with pytest.raises(pc.InputError, match=message):
            pc.trace(mine, **given)


def test_ours_in_one_cost_and_by_its_dual():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 2))
    y = np.where(A[:, 0] + rng.normal(size=20) > 0, 1, -1)
    svm = pc.TwoCSVM(A, y)
    known, path = pc.trace(svm, (0.1, 0.5), (1.0, 0.5)), pc.trace(svm, C_plus=(0.1, 1.0), C_minus=0.5)
    for t in (0.0, 0.3, 1.0):
        assert path.value(t) == pytest.approx(known.value(t), rel=1e-12)
        np.testing.assert_allclose(path.at(t).variables["w"], known.slope(t), atol=1e-10)
    smooth = pc.SurrogateRisk(A, y, loss="logistic")
    with pytest.raises(pc.InputError, match="no exact path for SurrogateRisk"):
        pc.trace(smooth, C_plus=(0.1, 1.0), C_minus=1.0, ridge=1.0)


def test_a_search_for_the_start_that_is_stopped_says_so_and_is_not_begun_again(monkeypatch):
    asked = []

    def stopped(problem, **how):
        asked.append(how["max_events"])
        nowhere = Piecewise.nowhere(problem, np.zeros(1))
        return replace(follow(problem, progress=False), status="limit", path=nowhere)

    monkeypatch.setattr(problem_path, "follow", stopped)
    problem, start, stop = FAMILIES["lasso"]()
    for limit in (None, 7):
        with pytest.raises(pc.DegeneratePathError, match=r"no optimum was found at the start in \d+ exchanges"):
            pc.trace(problem, start, stop, max_events=limit)
    assert asked == [None, 7]


def test_max_events_returns_what_was_traced():
    problem, start, stop = FAMILIES["lasso"]()
    whole, part = pc.trace(problem, start, stop), pc.trace(problem, start, stop, max_events=3)
    assert part.status == "limit"
    assert 0 < part.breakpoints[-1] < 1
    np.testing.assert_allclose(part.breakpoints, whole.breakpoints[: part.breakpoints.size])
    with pytest.raises(pc.InputError, match="where the path ends: max_events was reached"):
        part.at(1.0)


def test_an_end_up_to_rounding_is_an_end():
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(x), [x >= th, x <= 9]), {th: 0.0}, {th: 10.0})
    assert path.at(th=9.0).value == pytest.approx(9.0)
    assert path.at(0.9 + 1e-14).t <= path.breakpoints[-1]


BAD = {
    "foreign": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}, tau=0.5), "tau must be left out for a cvxpy.Problem"),
    "engine": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}, engine="fast"), "engine must be left out for a cvxpy.Problem"),
    "no start": (lambda p: pc.trace(p), "start must map parameters of the problem to values, got None"),
    "one end": (lambda p: pc.trace(p, {TH: 0}), "stop must map parameters"),
    "nothing": (lambda p: pc.trace(p, {TH: 1}, {TH: 1}), "nothing moves"),
    "nan": (lambda p: pc.trace(p, {TH: np.nan}, {TH: 1}), "must be finite"),
    "beyond": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}).at(1.1), "t must lie between 0 and 1, got 1.1"),
    "before": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}).at(th=-1), "th must lie between 0 and 1, got -1"),
    "not a number": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}).at(np.nan), "t must lie between 0 and 1, got nan"),
    "no t": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}).at(), "one of t, th must be given, got none"),
    "text": (lambda p: pc.trace(p, {TH: 0}, {TH: 1}).at("half"), "t must be a number, got 'half'"),
    "no room": (lambda p: pc.trace(p, {TH: 10}, {TH: 1}), "cap, mass.*there is one from t = 0.444445 on"),
    "never": (lambda p: pc.trace(p, {TH: 10}, {TH: 8}), "infeasible.*nor is there one at stop"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    call, message = BAD[name]
    with pytest.raises(pc.InputError, match=message):
        call(cp.Problem(cp.Minimize(cp.sum_squares(X)), [CAP, MASS]))


NO_START = {
    "bounds cross": (
        [(X[0] <= 1 - TH).set_label("most"), (X[0] >= TH).set_label("least"), X >= -9],
        cp.sum_squares(X),
        (2, 0),
        r"x\[0\] cross: at least 2 and at most -1 \(most and least\); there is one from t = 0.75 on \(th = 0.5\)",
    ),
    "no bound": ([X >= 0], TH * cp.sum(X), (-1, 3), r"unbounded \(.* along x\); there is one from t = 0.25 on"),
}


@pytest.mark.parametrize("name", NO_START)
def test_where_there_is_no_optimum_at_the_start_it_is_said_why_and_from_where_on(name):
    rows, objective, (first, last), message = NO_START[name]
    problem = cp.Problem(cp.Minimize(objective), rows)
    with pytest.raises(pc.InputError, match=message):
        pc.trace(problem, {TH: first}, {TH: last})
    assert solved(problem, {TH: first}, {TH: last}, 0.0) is None


def feasible(rows):
    """The t in [0, 1] at which some number x has a x <= b + c t for all (a, b, c), in fractions; None if none."""
    first, last = Fraction(0), Fraction(1)
    least, most, still = ([row for row in rows if np.sign(row[0]) == sign] for sign in (-1, 1, 0))
    pairs = [(-a * f + d * b, -a * g + d * c) for a, b, c in least for d, f, g in most]
    for b, c in [(b, c) for _, b, c in still] + pairs:  # 0 <= b + c t
        if c == 0:
            first = first if b >= 0 else Fraction(2)
        elif c > 0:
            first = max(first, Fraction(-b, c))
        else:
            last = min(last, Fraction(b, -c))
    return (first, last) if first <= last else None


NOWHERE = {
    "none, two rows that take turns": [(-2, 3, -4), (-2, 2, 1), (2, -3, 1)],
    "none at all": [(0, 2, 0), (1, 2, -2), (2, -1, 1), (-1, 0, -1)],
    "none, four rows": [(-1, 2, -4), (2, -1, -2), (-2, -3, 1), (1, -2, -1)],
    "between 1/3 and 1/2 only": [(1, 1, -3), (2, 1, -1), (2, -1, 1), (-2, 0, 2)],
}


def random_rows(seed):
    rng = np.random.default_rng(seed)
    return [tuple(int(v) for v in rng.integers(-4, 5, 3)) for _ in range(int(rng.integers(2, 5)))]


@pytest.mark.parametrize("rows", [*NOWHERE.values(), *map(random_rows, range(24))])
def test_from_where_on_there_is_an_optimum_is_said_only_where_it_is_true(rows):
    truth, x = feasible(rows), cp.Variable(name="x")
    for sign in (1, -1):
        problem = cp.Problem(cp.Minimize(cp.square(x) + sign * x), [a * x <= b + c * TH for a, b, c in rows])
        try:
            path = pc.trace(problem, {TH: 0.0}, {TH: 1.0})
        except pc.InputError as refused:
            said = str(refused)
        else:
            assert truth is not None
            assert truth[0] == 0
            assert path.breakpoints[-1] == pytest.approx(float(truth[1]))
            continue
        if "nothing moves" in said:
            continue
        assert truth is None or truth[0] > 0
        if "there is one from t" in said:
            first, last = re.search(r"from t = (\S+) (?:on|\(.*\) to t = (\S+) )", said).groups()
            assert 0 <= float(first) - float(truth[0]) <= 1.01e-6
            assert 0 <= float(truth[1]) - float(last or 1) <= 1.01e-6
        elif "and nowhere else" in said:
            assert truth[0] == truth[1]
        else:
            assert said.endswith("nor is there one at stop, or between")
            assert truth is None


def test_what_rounding_leaves_of_a_gain_refutes_no_stop():
    """There is one at t = 1 and nowhere before: the gain of the ray is 0 there, and rounding makes 1e-17 of it."""
    rows = [
        np.array([[0, -1], [-1, -2], [-2, 2], [2, 1]]) @ X <= np.array([-2, -2, -2, 3]) + TH * np.array([1, 4, 3, -1])
    ]
    objective = (np.array([-1, -2]) + TH * np.array([-4, 2])) @ X
    with pytest.raises(pc.InputError, match=r"there is one from t = 1 on|not known"):
        pc.trace(cp.Problem(cp.Minimize(objective), rows), {TH: 0.0}, {TH: 1.0})


def test_an_objective_that_is_not_convex_is_refused():
    """CVXPY is told that it is; nothing is returned that is not proved."""
    concave = cp.quad_form(X, cp.psd_wrap(np.array([[1.0, 2.0], [2.0, 1.0]])))
    problem = cp.Problem(cp.Minimize(concave + TH * cp.sum(X)), [X >= -1, X <= 1])
    with pytest.raises(pc.InputError, match=r"an eigenvalue of -2 among x\[0\], x\[1\]"):
        pc.trace(problem, {TH: 0.0}, {TH: 1.0})


def test_what_it_prints():
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(X)), [CAP, MASS]), {TH: 0}, {TH: 8})
    assert repr(path).startswith("ProblemPath(th 0 to 6, infeasible beyond (")
    assert repr(path.at(th=2)) == (
        "optimum at t = 0.25 (th = 2): value 2\n  x = [1, 1]\n  dual of cap = [0, 0]\n  dual of mass = 2"
    )
    assert "no point satisfies" in path.beyond.explain()


def test_where_nothing_is_left_to_move_the_value_does():
    """An equation says what x is, so that the reduced problem has no items at all."""
    x, v = cp.Variable(1, name="x"), cp.Parameter(name="v")
    problem = cp.Problem(cp.Minimize(v * x[0] + cp.square(x[0])), [x == 1])
    path = pc.trace(problem, {v: -1.0}, {v: 3.0})
    assert path.proof.passes()
    assert path.value(0.5) == pytest.approx(2.0)
    assert path.at(1.0).variables["x"].tolist() == [1.0]


def test_a_fit_without_a_residual_is_proved():
    """Squares of the rounding of a sum that cancels, 1e-30 in all, were the unit of the gap."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        x, r = cp.Variable(5, bounds=[-1, 2], name="x"), cp.Parameter(name="r")
        A = rng.normal(size=(2, 5))
        C, w = rng.integers(-2, 3, (3, 5)).astype(float), rng.normal(size=5)
        limits = [C[:2] @ x >= -0.5, w @ x <= r, C[2] @ x <= r]
        problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - rng.normal(size=2))), limits)
        path = pc.trace(problem, {r: 2.0}, {r: 0.5})
        assert path.proof.passes()
        assert solved(problem, {r: 2.0}, {r: 0.5}, 0.7) == pytest.approx(path.value(0.7), abs=1e-8)


def test_where_the_optimum_is_0_all_along_its_rounding_is_no_gap():
    """P is singular, given in doubles, and 0 at the optimum: multipliers and value are rounding, of 1e-16."""
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(40):
        n = 12
        B = rng.normal(size=(2, n))
        x, r = cp.Variable(n, name="x"), cp.Parameter(name="r")
        C = rng.integers(-2, 3, (3, n)).astype(float)
        constraints = [C[0] @ x == 0, C[1] @ x == -1, C[2] @ x <= r, rng.normal(size=n) @ x == 1, cp.norm1(x) <= 2]
        problem = cp.Problem(cp.Minimize(cp.quad_form(x, B.T @ B)), constraints)
        try:
            path = pc.trace(problem, {r: 3.0}, {r: 1.0})
        except pc.InputError:
            continue
        except pc.DegeneratePathError:
            refused += 1
            continue
        assert path.proof.passes()
        assert solved(problem, {r: 3.0}, {r: 1.0}, 0.5) == pytest.approx(path.value(0.5), abs=1e-9)
    assert refused == 0


def test_the_larger_of_two_rows_of_different_lengths():
    """An epigraph variable of a row of three columns and one of two: no kink in one direction."""
    x, lam = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.norm_inf(x - [0.4, 1.4, 0.6]) + lam * cp.maximum(2 * x[1] - 2 * x[0] + 2 * x[2] + 2, 2 * x[0] - x[1] - 2)
    problem, start, stop = cp.Problem(cp.Minimize(loss)), {lam: 0.0}, {lam: 2.0}
    path = pc.trace(problem, start, stop)
    assert path.proof.passes()
    assert against_clarabel(problem, start, stop, path, (0.1, 0.5, 0.9)) < 1e-8


@pytest.mark.parametrize(("seed", "largest"), [(3624, 5), (1289, 25)])
def test_points_that_doubles_know_too_little_are_found_in_twice_the_precision(seed, largest):
    """A column that is 0 came out as 4e-14 of the others, and its own row was missed by as much."""
    problem, start, stop = random_atoms(seed, largest)
    path = pc.trace(problem, start, stop)
    assert path.proof.passes()
    assert against_clarabel(problem, start, stop, path, (0.2, 0.8)) < 1e-6


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
def test_a_path_that_fails_its_proof_is_followed_with_solutions_in_twice_the_precision(monkeypatch):
    """A lasso whose columns have a condition of 1e6: in doubles, ten breakpoints next to its end were not there."""
    rng, n = np.random.default_rng(0), 7
    U, V = (np.linalg.qr(rng.normal(size=(k, n)))[0] for k in (2 * n, n))
    X = (U * np.logspace(0, -6, n)) @ V.T
    y = X @ rng.normal(size=n) + 0.01 * rng.normal(size=2 * n)
    w, lam = cp.Variable(n, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    followed, asked = engine._followed, []

    def counted(*given, walk, **how):
        asked.append(walk)
        return followed(*given, walk=walk, **how)

    monkeypatch.setattr(engine, "_followed", counted)
    path = pc.trace(problem, {lam: np.abs(X.T @ y).max()}, {lam: 0.0}, progress=False)
    core, _, fine, _ = walks_of("fast")
    assert asked == [core, fine]
    assert path.proof.passes()
    least, *_ = np.linalg.lstsq(X, y)
    assert path.value(1.0) == pytest.approx(np.sum((X @ least - y) ** 2) / 2, rel=1e-10)


def test_a_multiplier_whose_terms_cancel_is_none():
    """X is 0 all along, and its bound at -2 had a multiplier of 3e-17: their product was all of the gap."""
    X, s = cp.Variable((2, 2), symmetric=True, name="X"), cp.Variable(name="s")
    M, c = cp.Parameter((2, 2), name="M"), cp.Parameter(name="c")
    loss = 2 * cp.sum(cp.pos(X)) + 0.5 * cp.sum(cp.abs(cp.cumsum(X, axis=0) - s)) + 2 * cp.mixed_norm(X, 1, np.inf)
    problem = cp.Problem(cp.Minimize(loss + cp.sum(cp.multiply(M, X)) + c * s), [X >= -2])
    start = {M: np.array([[-1.5, -0.1], [-0.8, -1.2]]), c: -2.0}
    stop = {M: np.array([[-1.52039755, -0.00380671], [0.05274352, -1.44110492]]), c: 0.0}
    path = pc.trace(problem, start, stop)
    assert path.proof.passes()
    assert path.value(0.6) == pytest.approx(solved(problem, start, stop, 0.6), abs=1e-8)


def test_an_item_that_leaves_a_bound_keeps_to_it_only_where_rows_allow_that():
    """A point of two segments took one entry of the one's end: an equation of others was missed by that, 1e-13."""
    file = Path(os.environ.get("PARETOCLF_DATA", "none")) / "maros_meszaros" / "QSCORPIO.mat"
    if not file.exists():
        pytest.skip("PARETOCLF_DATA has no maros_meszaros")
    line = dict(general.moves(general.loaded(file)))["q by half"]
    assert trace_problem(general.Moved(line), progress=False).proof.passes(1e-10)


@pytest.mark.parametrize(
    ("seed", "scales", "noise"), [(4, (1.0, 1e-5), 0.0), (8, (1.0, 1e-5), 0.0), (7, (1.0, 1e5), 0.1)]
)
def test_what_happens_next_to_the_end_is_looked_at_in_twice_the_precision(seed, scales, noise):
    """A lasso to lam = 0 had its last event within 1e-11 of t = 1: left out, its end missed stationarity by 1e-6."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 4)) * np.geomspace(*scales, 4)
    y = X @ rng.normal(size=4) + (noise * rng.normal(size=14) if noise else 0.0)
    w, lam = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    path = pc.trace(problem, {lam: 1.1 * np.abs(X.T @ y).max()}, {lam: 0.0}, progress=False)
    least, *_ = np.linalg.lstsq(X / np.geomspace(*scales, 4), y)
    np.testing.assert_allclose(path.at(1.0).variables["w"] * np.geomspace(*scales, 4), least, rtol=1e-6)


def test_refusals_of_programs_speak_of_no_margin_set():
    """A margin set is one of samples; an objective that is not convex is refused for what it is."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    concave = cp.quad_form(x, cp.psd_wrap(np.array([[1.0, 2.0], [2.0, 1.0]])))
    problem = cp.Problem(cp.Minimize(concave + th * x[0]), [x >= -1, x <= 1])
    with pytest.raises(pc.InputError) as refused:
        pc.trace(problem, {th: -1.0}, {th: 1.0}, progress=False)
    assert "margin" not in str(refused.value)
    assert "problem must be convex" in str(refused.value)


def test_a_path_is_a_table_of_its_breakpoints():
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w - [3, 1]) / 2 + lam * cp.norm1(w))), {lam: 5}, {lam: 0})
    rows = path.records()
    assert [round(row["lam"], 9) for row in rows] == [5.0, 3.0, 1.0, 0.0]
    for row in rows:  # the lasso in closed form: soft thresholds
        expected = np.maximum(np.array([3.0, 1.0]) - row["lam"], 0.0)
        np.testing.assert_allclose([row["w[0]"], row["w[1]"]], expected, atol=1e-12)
        value = ((expected - [3, 1]) ** 2).sum() / 2 + row["lam"] * expected.sum()
        assert row["value"] == pytest.approx(value, abs=1e-12)
    assert [row["events"] for row in rows] == ["", "w[0] not 0", "w[1] not 0", ""]
    assert "<table" in path._repr_html_()


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize(("side", "cost"), [(1e-14, 1.0), (-1e-14, 1.0), (1e-17, 1.0), (3e-15, 1.0), (1e-10, 1e6)])
def test_sums_that_were_meant_to_be_0_have_an_order(side, cost):
    """Two variables that differ by rounding reach 0 within one event: the smaller one stays there."""
    x, slope = cp.Variable(2, name="x", nonneg=True), cp.Parameter(name="slope")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2 + slope * cp.sum(x)), [x[0] - x[1] == side])
    path = pc.trace(problem, {slope: -cost}, {slope: cost}, progress=False)
    last = path.at(1.0).variables["x"]
    np.testing.assert_allclose(last, [max(side, 0.0), max(-side, 0.0)], rtol=1e-9, atol=0.0)
    wrong = path.points.z.copy(), path.points.x.copy()
    for which, changed in enumerate(wrong):
        changed[-1] += 1e-6 * (1 + np.abs(changed[-1]))
        points = (path.points.x, changed) if which == 0 else (changed, path.points.z)
        assert not prove_program(path.program, path.t, ProgramPoints.known(*points, path.points.begin)).passes()


def walked_until(monkeypatch, event):
    """Let an event happen when the clock of a walk is asked after the first piece of a path."""
    core_walk = pytest.importorskip("paretoclf.engine.core_walk", reason="built without a C++ compiler")
    walks, run = [], core_walk.CoreWalk._run

    def seen(self, limit, keep, report, deadline):
        walks.append(self if keep else SimpleNamespace(_walk=SimpleNamespace(t=0.0)))
        return run(self, limit, keep, report, deadline)

    def monotonic():
        return event() if walks[-1]._walk.t > 0.0 else 0.0

    monkeypatch.setattr(core_walk.CoreWalk, "_run", seen)
    monkeypatch.setattr(core_walk, "_TURN", 1)
    monkeypatch.setattr(core_walk, "time", SimpleNamespace(monotonic=monotonic))


def quantile_regression():
    rng = np.random.default_rng(2)
    A, b = rng.normal(size=(30, 4)), rng.normal(size=30)
    x, tau = cp.Variable(4, name="x"), cp.Parameter(nonneg=True, name="tau")
    loss = cp.sum(cp.pos(A @ x - b)) + tau * cp.sum(cp.abs(x))
    return cp.Problem(cp.Minimize(loss), [x >= -5, x <= 5]), {tau: 0.0}, {tau: 9.0}


@pytest.mark.parametrize("pressed", [False, True])
def test_no_time_and_the_keyboard_leave_what_there_is(monkeypatch, pressed):
    def event():
        if pressed:
            raise KeyboardInterrupt
        return 1e9

    line = quantile_regression()
    whole = pc.trace(*line)
    walked_until(monkeypatch, event)
    if pressed:
        with pytest.raises(InterruptedPath, match="stopped by the keyboard") as caught:
            pc.trace(*line)
        part = caught.value.path
        assert isinstance(caught.value, KeyboardInterrupt)
    else:
        part = pc.trace(*line, max_seconds=1e6)
    assert (part.status, part.proof.passes()) == ("limit", True)
    assert 0.0 < part.t[-1] < 1.0
    for t in np.linspace(0.0, part.t[-1], 7):
        assert part.value(t) == pytest.approx(whole.value(t), rel=1e-12)
    assert "it was stopped" in repr(part)


def test_without_an_optimum_at_the_start_no_time_is_an_error(monkeypatch):
    core_walk = pytest.importorskip("paretoclf.engine.core_walk", reason="built without a C++ compiler")
    monkeypatch.setattr(core_walk, "_TURN", 1)
    monkeypatch.setattr(problem_path.PathLimits, "of", lambda events, seconds: problem_path.PathLimits(events, -1.0))
    with pytest.raises(StoppedError, match=r"no optimum was found at the start .* no time was left.*Raise max_seconds"):
        pc.trace(*quantile_regression(), max_seconds=1e-9)


@pytest.mark.parametrize("scale", [1.0, 7.0, 1e-3])
@pytest.mark.parametrize("way", [1, -1])
def test_where_the_value_is_0_along_a_stretch_multipliers_that_are_rounding_refuse_nothing(scale, way):
    """The multipliers are 1e-31 there, and nothing on the stretch said that this is small: separable classes."""
    samples, signs = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0], [-2.0, 0.3]]), np.array([1.0, 1.0, -1.0, -1.0])
    w, b, tau = cp.Variable(2, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="tau")
    losses = cp.square(cp.pos(1 - cp.multiply(signs, samples @ w + b)))
    problem = cp.Problem(cp.Minimize(scale * cp.sum(losses)), [cp.norm1(w) <= tau])
    ends = [{tau: 0.0}, {tau: 5.0}][::way]
    path = pc.trace(problem, *ends)
    assert against_clarabel(problem, *ends, path, np.linspace(0.0, 1.0, 9)) < 1e-7 * max(scale, 1.0)
    for margin in (5.0 / 6.0, 2.0, 5.0):  # all margins are at least 1 from there on
        assert path.value(tau=margin) == pytest.approx(0.0, abs=1e-25)


@pytest.mark.parametrize("seed", [3, 5, 8, 31, 50])
def test_squared_violations_that_vanish_along_a_stretch_are_proved(seed):
    """Of 60 such programs 19 were refused: in some all multipliers are 0 all along, and computed as 1e-32."""
    rng = np.random.default_rng(seed)
    rows, sides = rng.normal(size=(10, 4)), rng.normal(size=10)
    x, f = cp.Variable(4, name="x"), cp.Parameter(name="f")
    problem = cp.Problem(cp.Minimize(cp.sum(cp.square(cp.pos(rows @ x - f * sides)))), [cp.sum(x) == 1])
    path = pc.trace(problem, start={f: -2.0}, stop={f: 2.0})
    assert against_clarabel(problem, {f: -2.0}, {f: 2.0}, path, np.linspace(0.0, 1.0, 7)) < 1e-7


def test_zeros_of_a_maximum_have_no_sign():
    p, x = cp.Parameter(name="p"), cp.Variable(name="x")
    problem = cp.Problem(cp.Maximize(x), [x <= p, x <= 2])
    frame = pc.trace(problem, start={p: 0}, stop={p: 4}).to_frame()
    assert frame["value"].iloc[0] == frame["slope right"].iloc[-2] == 0.0
    signs = np.signbit(frame[["value", "slope left", "slope right"]].dropna().to_numpy())
    assert not signs.any()
    back = pc.trace(problem, start={p: 4}, stop={p: 2.5})
    assert not np.signbit([back.slopes(0.5).right.value, back.slopes(0.5, per="p").right.value]).any()
    q, y = cp.Parameter(name="q"), cp.Variable(name="y", nonneg=True)
    found = pc.plane(cp.Problem(cp.Maximize(x - y), [x <= p, y <= q]), {p: (0, 1), q: (0, 1)})
    assert not np.signbit([found.value(p=0, q=0), *found.values("value", [[0, 0]])]).any()
