"""The reduction of compiled programs: how small they become, and that every value and multiplier comes back."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles import lines
from tests.oracles.lines import FAMILIES, solved
from tests.oracles.parametric import solve_at
from tests.oracles.random_lines import random_line


def kkt(line, x, z, t):
    """The largest violation of the KKT conditions of the compiled program, relative to its terms."""
    q, b = ((1 - t) * ends[0] + t * ends[1] for ends in (line.q, line.b))
    Ax, Px, Az = line.A @ x, line.P @ x, line.A.T @ z
    slack, e = b - Ax, line.equations
    unit = 1 + np.abs(b).max(initial=0) + np.abs(Ax).max(initial=0)
    price = 1 + np.abs(q).max() + np.abs(Px).max() + np.abs(Az).max()
    return max(
        np.abs(slack[:e]).max(initial=0) / unit,
        -slack[e:].min(initial=0) / unit,
        -z[e:].min(initial=0) / price,
        np.abs(Px + q + Az).max() / price,
        np.abs(slack * z).max(initial=0) / (unit * price),
    )


def back(reduced, v, y, t):
    """One point of the reduced problem as one of the compiled program."""
    x, z = reduced.back(v[None], y[None], np.array([t]))
    return x[0], z[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_points_of_the_reduced_problem_are_points_of_the_compiled_one(family):
    problem, start, stop = FAMILIES[family]()
    line = program_line(problem, start, stop)
    reduced = reduce(line)
    assert reduced.problem.items <= line.n + line.m
    for t in (0.0, 0.31, 0.77):
        _, v, y = solve_at(reduced.problem, t)
        x, z = back(reduced, v, y, t)
        assert kkt(line, x, z, t) < 1e-10
        theirs = solved(problem, start, stop, t)
        assert line.value(x, t) == pytest.approx(theirs, rel=1e-8, abs=1e-8)


#: Family -> items before and after, for the shapes in the study (40 x 8 and 200 x 100, 60 samples).
SIZES = {
    "lasso": (lambda: lines.lasso(40, 8), 112, 8),
    "large lasso": (lambda: lines.lasso(200, 100), 800, 100),
    "elastic net": (lambda: lines.lasso(40, 8, ridge=1.0), 112, 8),
    "svm": (lambda: lines.svm(60, 5), 186, 66),
    "svm with slacks": (lambda: lines.svm(60, 5, slacks=True), 186, 66),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_study(name):
    make, before, after = SIZES[name]
    line = program_line(*make())
    assert line.n + line.m == before
    assert reduce(line).problem.items == after


#: Number of items that a family is reduced to: one a sample or difference, and one a variable.
LEFT = {
    **dict.fromkeys(["svm, pos", "svm, slacks"], 34),
    **dict.fromkeys(["lasso", "elastic net"], 6),
    **dict.fromkeys(["fused lasso", "total variation", "isotonic"], 47),
    "trend filtering": 46,
    **dict.fromkeys(["least absolute deviations", "pinball, data moved", "Huber", "Huber and l1", "tube"], 34),
    "five pieces": 64,
    **dict.fromkeys(["quantile, maximum", "quantile, abs", "quantile, parts", "quantile, slacks"], 34),
    **dict.fromkeys(["SVR, cost", "SVR, width", "SVR, maximum"], 34),
    "nonnegative lasso": 4,
    "Dantzig selector": 8,
    "kinks that cost nothing": 24,
}


@pytest.mark.parametrize("family", LEFT)
def test_every_kink_is_one_item(family):
    assert reduce(program_line(*FAMILIES[family]())).problem.items == LEFT[family]


@pytest.mark.parametrize("seed", range(60))
def test_random_problems(seed):
    """Also where there is no solution: the reduced problem has one exactly if the compiled one does."""
    line, reduced = line_and_reduced(seed)
    for t in (0.0, 0.4, 1.0):
        value, _, _ = solve_at(line.problem, t)
        ours, v, y = solve_at(reduced.problem, t)
        if np.isnan([value or 0.0, ours or 0.0]).any():
            continue  # the solver gave up
        assert (value is None) == (ours is None)
        if value is not None:
            x, z = back(reduced, v, y, t)
            assert kkt(line, x, z, t) < 1e-7
            assert line.sense * line.value(x, t) == pytest.approx(value, rel=1e-6, abs=1e-6)


def line_and_reduced(seed):
    """A random line and its reduction, of the first seed from this on that is not refused."""
    while True:
        try:
            line = program_line(*random_line(seed))
            return line, reduce(line)
        except InputError:
            seed += 1000


def substituted_into_others(seed):
    """Two free variables, each alone in an equation of its own, whose squares and products with others cost."""
    rng = np.random.default_rng(seed)
    x, th = cp.Variable(6, name="x"), cp.Parameter(name="th")
    F, C = rng.normal(size=(6, 6)), rng.normal(size=(2, 6))
    C[:, :2] = 3.0 * np.eye(2)
    cost = cp.quad_form(x, F @ F.T) + rng.normal(size=6) @ x + cp.norm1(x[4:])
    rows = [C @ x == np.array([1.0, 2.0]) + th * np.array([1.0, -3.0]), x[2:] >= -1]
    return cp.Problem(cp.Minimize(cost), rows), {th: 0.0}, {th: 1.0}


def objective(problem, x, t):
    """Objective of a `ParametricQP` at some values of its variables, and the values of all items."""
    v = np.concatenate([x, problem.A @ x])
    with np.errstate(invalid="ignore"):
        q, lower, upper, below, above = (
            np.where(np.isfinite(ends[0]), (1 - t) * ends[0] + t * ends[1], ends[0])
            for ends in (problem.q, problem.lower, problem.upper, problem.below, problem.above)
        )
    soft = zip((below, above), (np.maximum(lower - v, 0.0), np.maximum(v - upper, 0.0)), strict=True)
    paid = sum(price[of] @ off[of] for price, off in soft for of in [(off > 0) & np.isfinite(price)])
    return q @ x + 0.5 * x @ (problem.P @ x) + paid, v


def within_hard_bounds(problem, x, t):
    """The nearest values of the variables that leave no hard bound."""
    with np.errstate(invalid="ignore"):
        low, up = ((1 - t) * ends[0] + t * ends[1] for ends in (problem.lower, problem.upper))
    n = problem.n
    hard = [np.isinf(prices[0, :n]) for prices in (problem.below, problem.above)]
    return np.clip(x, np.where(hard[0], low[:n], -np.inf), np.where(hard[1], up[:n], np.inf))


WRITTEN = {**FAMILIES, **{f"products, {k}": partial(substituted_into_others, k) for k in range(3)}}


@pytest.mark.parametrize("name", [*WRITTEN, *range(40)])
def test_the_reduced_objective_is_that_of_the_program(name):
    """At random points, not at optima alone: up to a constant, which differences have not."""
    if isinstance(name, int):
        line, reduced = line_and_reduced(name)
    else:
        line = program_line(*WRITTEN[name]())
        reduced = reduce(line)
        assert "products" not in name or "2 columns substituted" in repr(reduced.chain)
    problem, rng = reduced.problem, np.random.default_rng(0)
    for t in (0.0, 0.4, 1.0):
        ours, theirs = [], []
        for _ in range(4):
            value, v = objective(problem, within_hard_bounds(problem, rng.normal(size=problem.n), t), t)
            x, _ = back(reduced, v, np.zeros(problem.items), t)
            ours.append(value)
            theirs.append(line.sense * line.value(x, t))
        np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-12 * (1 + np.abs(ours).max()))


def test_what_escapes_stays_a_row():
    """A parameter in a shared row, rows in several directions, a maximum inside another: kept, and right."""
    assert reduce(program_line(*FAMILIES["lasso by budget"]())).problem.items == 17
    assert reduce(program_line(*FAMILIES["Chebyshev"]())).problem.items == 65


BOX, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [(BOX <= TH).set_label("cap"), (BOX >= 1).set_label("least")],
            r"bounds of variable x\[0\] cross: at least 1 and",
        ),
        ([cp.sum(BOX) <= TH, cp.sum(BOX) >= 1], r"bounds of x\[0\] \+ x\[1\] cross.*constraint 0 and constraint 1"),
        ([(TH >= 1).set_label("open"), BOX >= 0], "where open cannot hold: it says 0 <= -1"),
    ],
)
def test_bounds_that_cross_at_the_start_are_refused(rows, message):
    problem = cp.Problem(cp.Minimize(cp.sum_squares(BOX)), rows)
    with pytest.raises(InputError, match=message):
        reduce(program_line(problem, {TH: 0.0}, {TH: 2.0}))
    assert reduce(program_line(problem, {TH: 2.0}, {TH: 0.0})).problem.items >= 2  # later: the path ends there


def test_bounds_that_cross_by_rounding_are_equal():
    rows = [BOX[0] <= 0.3 + 0 * TH, BOX[0] >= 0.1 + 0.2, BOX[1] == TH]
    line = program_line(cp.Problem(cp.Minimize(cp.sum(BOX)), rows), {TH: 0.0}, {TH: 1.0})
    assert reduce(line).problem.items == 0  # both fixed


def test_items_have_the_users_names():
    problem = reduce(program_line(*FAMILIES["svm, slacks"]())).problem
    assert problem.names[:5] == ("w[0]", "w[1]", "w[2]", "b", "margin[0]")
    assert reduce(program_line(*FAMILIES["fused lasso"]())).problem.names[-1] == "u[22] - u[23]"
    assert reduce(program_line(*FAMILIES["svm, pos"]())).problem.names[-1] == "term of w, b, number 29"
    assert reduce(program_line(*FAMILIES["frontier, target"]())).problem.names[-2:] == ("budget", "constraint 3")


def test_what_is_small_when_reduced_is_never_an_array():
    """A lasso in residual form: as arrays its P and A would be 22 GB, and 5 variables are left of it."""
    rng, n = np.random.default_rng(0), 20_000
    X = rng.normal(size=(n, 5))
    y = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0]) + rng.normal(size=n)
    b, r, lam = cp.Variable(5, name="b"), cp.Variable(n, name="r"), cp.Parameter(nonneg=True, name="lam")
    lasso = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(r) + lam * cp.norm1(b)), [r == X @ b - y])
    reduced = reduce(program_line(lasso, {lam: 0.0}, {lam: 100.0}))
    assert (reduced.problem.n, reduced.problem.items) == (5, 5)
    np.testing.assert_allclose(reduced.problem.P, X.T @ X, rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(reduced.problem.q, np.tile(-X.T @ y, (2, 1)), rtol=1e-12, atol=1e-8)


def stated(make):
    """A small program in x of three and th, made of these."""
    x, th = cp.Variable(3, name="x"), cp.Parameter(name="th")
    objective, rows = make(x, th)
    return cp.Problem(cp.Minimize(objective), rows)


ROOT = np.array([[1.0, 0.5, -1.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.7]])

#: Name -> objective and constraints, as th goes from 0 to 2: each step of the reduction where it may not go on, or only
#: at one end of the line.
STEPS = {
    "two upper bounds that cross": lambda x, th: (
        cp.sum_squares(x - 3),
        [x <= 1, x <= th, x >= -5],
    ),
    "two lower bounds that cross": lambda x, th: (cp.sum_squares(x + 3), [x >= 1, x >= th, x <= 5]),
    "two bounds, the second always tighter": lambda x, th: (cp.sum_squares(x - 9), [x <= 5, x <= th + 1, x <= 4 - th]),
    "an equation beside a bound": lambda x, th: (cp.sum_squares(x), [x[0] == th, x[0] <= 1.5, x[1] >= 1]),
    "an equation after bounds": lambda x, th: (cp.sum_squares(x), [x[0] <= 1.5, x[0] == th, x[1] >= 1]),
    "fixed at one end": lambda x, th: (cp.sum_squares(x - 0.3), [x[0] >= 0, x[0] <= th, x[1] == 1]),
    "fixed, with products": lambda x, th: (
        cp.quad_form(x, ROOT.T @ ROOT) + x[2],
        [x[0] == th, x[1] == 1, x[2] >= -4],
    ),
    "for nothing until it costs": lambda x, th: (
        cp.square(x[0] - 3) + (th - 1) * x[1],
        [x[0] <= x[1], x[1] <= 2, x[1] >= -3, x[2] == 0],
    ),
    "squared, and relaxes a row": lambda x, th: (
        cp.quad_form(x, np.diag([1.0, 1.0, 0.0])) - 6 * x[0] + x[2],
        [x[0] <= th + x[1], x[1] <= 2, x[2] >= 0],
    ),
    "relaxes an inequality, in an equation": lambda x, th: (
        cp.square(x[0] - 3) - x[1],
        [x[0] <= x[1], x[1] <= 2, x[2] - x[1] == -th, x[2] >= -1],
    ),
    "a slack with an upper bound": lambda x, th: (
        cp.square(x[0] - 3) + x[1],
        [x[0] - x[1] == th, x[1] >= 0, x[1] <= 1, x[2] == 0],
    ),
    "a slack with another lower bound": lambda x, th: (
        cp.square(x[0] - 1) + x[1],
        [x[0] - x[1] == th, x[1] >= 0.5, x[2] == 0],
    ),
    "a slack that pays at one end": lambda x, th: (
        cp.square(x[0] - 3) + (th - 1) * x[1],
        [x[0] - x[1] == th, x[1] >= 0, x[2] == 0],
    ),
    "an equation that holds back": lambda x, th: (
        cp.square(x[0] - 3) - x[1],
        [x[0] <= x[1], x[1] <= 2, x[2] - x[1] == -th, x[2] <= 0.5, x[2] >= -1],
    ),
    "the same, with the other sign": lambda x, th: (
        cp.square(x[0] - 3) - x[1],
        [x[0] <= x[1], x[1] <= 2, x[1] - x[2] == th, x[2] <= 0.5, x[2] >= -1],
    ),
    "a slack whose bound has a coefficient": lambda x, th: (
        cp.square(x[0] - 1) + x[1],
        [x[0] - x[1] == th, 4 * x[1] >= 2, x[2] == 0],
    ),
    "a slack on each side": lambda x, th: (
        cp.square(x[0] - 1) + 3 * x[1] + 0.5 * x[2],
        [x[0] - x[1] + x[2] == th, x[1:] >= 0],
    ),
    "two slacks on one side": lambda x, th: (
        cp.square(x[0] - 3) + 2 * x[1] + x[2],
        [x[0] - x[1] - 2 * x[2] == th, x[1:] >= 0],
    ),
    "an inequality with a slack and a cost": lambda x, th: (
        cp.square(x[0] - 3) + x[1] + x[2],
        [x[0] <= th + x[1], x[1] >= 0, x[1] <= 1, x[2] >= x[0], x[2] <= 8],
    ),
    "three parallel rows": lambda x, th: (
        cp.sum_squares(x - 3),
        [x[0] + x[1] <= 2, 2 * x[0] + 2 * x[1] <= 3 + th, -x[0] - x[1] <= 4, x[2] == 0],
    ),
    "kinks that a hard bound passes": lambda x, th: (
        cp.sum_squares(x - 0.2) + cp.abs(x[0] - 1) + cp.maximum(0, x[1] - 1, 3 * x[1] - 4),
        [x[0] >= th, x[1] >= 2 - th, x[2] <= 0],
    ),
    "a kink that leaves a bound": lambda x, th: (
        cp.sum_squares(x - 3) / 4 + 2 * cp.abs(x[0] - th) + cp.pos(x[1] - 1),
        [x[0] <= 1, x[1] <= 3 - th, x[2] == 0],
    ),
    "costs of two sides that cross": lambda x, th: (
        cp.sum_squares(x - 1) + 3 * cp.pos(x[0] + x[1] - 1) + 2 * cp.pos(th - x[0] - x[1]),
        [x[2] >= 0],
    ),
    "free in two equations": lambda x, th: (
        cp.sum_squares(ROOT @ x) + x[1],
        [x[0] == x[1] + x[2] - 1, x[0] == 2 * x[1] - x[2] + th],
    ),
    "free, with products": lambda x, th: (
        cp.quad_form(x, ROOT.T @ ROOT) + x[1],
        [x[0] == x[1] + 2 * x[2] - th - 1, x[1] >= 0],
    ),
    "nothing that holds only at first": lambda x, th: (cp.sum_squares(x - 1), [th <= 1, x[0] <= 0.5]),
    "costs that vanish": lambda x, th: (cp.sum_squares(x - 1) + cp.pos(th - 1) * 0 + (2 - th) * x[0], [x <= th]),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_holds_at_one_end_only_is_not_taken(name):
    """Values and points are those of the program, and there is an optimum exactly where it has one."""
    problem = stated(STEPS[name])
    (th,) = problem.parameters()
    line = program_line(problem, {th: 0.0}, {th: 2.0})
    reduced = reduce(line)
    for t in (0.0, 0.2, 0.45, 0.7, 1.0):
        th.value = 2.0 * t
        theirs = problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        ours, v, y = solve_at(reduced.problem, t)
        assert (ours is None) == (not np.isfinite(theirs))
        if ours is not None:
            x, z = back(reduced, v, y, t)
            assert kkt(line, x, z, t) < 1e-7
            assert line.value(x, t) == pytest.approx(theirs, rel=1e-7, abs=1e-7)
