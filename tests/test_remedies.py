"""What an error tells its reader to do is done here, and works: a remedy that leads nowhere ends an afternoon."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc

X = cp.Variable(3, name="x")
L, Q, U = (cp.Parameter(nonneg=True, name=name, value=1.0) for name in "lqu")
FORM = cp.Parameter((3, 3), PSD=True, name="form", value=np.eye(3))
TARGET = np.array([3.0, -1.0, 0.5])
SQUARES = cp.sum_squares(X - TARGET)
DIAGONAL, PAIR = cp.Variable((2, 2), diag=True, name="D"), cp.Variable(2, name="d")
EYE = np.eye(3)
COLUMNS = cp.Variable((3, 3), name="columns")


def problem(objective, *rows):
    return cp.Problem(cp.Minimize(objective), list(rows))


def divided():
    """A path within eps along the divisor of squares, beside its value in closed form."""
    divisor = cp.Variable(name="divisor")
    rows = [cp.quad_over_lin(X - 1, divisor) <= 1, divisor == 1 + L]
    path = pc.trace(problem(cp.sum(X), *rows), {L: 1}, {L: 2}, eps=1e-3, progress=False)
    low, high = path.bounds(0.5)
    assert low <= X.size - np.sqrt(2.5 * X.size) <= high
    return path


def entropies():
    """The distribution of a die with the largest entropy, of all with mean l."""
    q = cp.Variable(6, name="q")
    rows = [(cp.sum(q) == 1).set_label("total"), (np.arange(1, 7) @ q == L).set_label("mean")]
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(q))), rows)


def lasso():
    return problem(SQUARES + L * cp.norm1(X))


def within(given, start, stop, **how):
    """A path within eps, or a curve, beside a solver in the middle."""
    band = pc.trace(given, start, stop, **(how or {"eps": 1e-4}), progress=False)
    for parameter in start:
        parameter.value = 0.5 * (np.asarray(start[parameter]) + np.asarray(stop[parameter]))
    given.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    low, high = band.bounds(0.5)
    assert low - 1e-8 <= given.value <= high + 1e-8


def exact(given, start, stop):
    """An exact path, beside a solver in the middle."""
    path = pc.trace(given, start, stop, progress=False)
    for parameter in start:
        parameter.value = 0.5 * (np.asarray(start[parameter]) + np.asarray(stop[parameter]))
    given.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    np.testing.assert_allclose(path.value(0.5), given.value, rtol=1e-7, atol=1e-9)


def swept(given, grid):
    """Values at single parameters."""
    assert all(each.certificate.passes(1e-6) for each in pc.sweep(given, grid, progress=False))


def bounded_slope(given, slope):
    """The slope of the value in l at 1 is between the bounds that derivatives proves."""
    found = pc.derivatives(given, {L: 1.0})
    assert found.lower <= slope <= found.upper
    assert found.upper - found.lower < 1e-2


def graded(given, answer):
    assert pc.grade(given, answer).verdict == "right"


def ridge():
    return problem(SQUARES + Q * cp.sum_squares(X) + L * cp.norm1(X))


def whole_ridge():
    return problem(L * SQUARES + cp.norm1(X))


def elastic():
    return problem(SQUARES + L * 0.5 * cp.norm1(X) + L * 0.25 * cp.sum_squares(X))


def moving_row():
    return problem(X[0] + cp.norm1(X - TARGET), L * X[0] >= 1, cp.abs(X) <= 9)


def moving_equation():
    return problem(SQUARES, L * X[0] + X[1] == 1)


def three():
    return problem(SQUARES + L * X[0] + Q * X[1] + U * X[2])


def far_away():
    return problem(cp.norm2(X - TARGET) + L * cp.norm1(X) + Q * X[0])


def chances(low, high):
    r = cp.Variable(name="r")
    given = cp.Parameter(nonneg=True, name="tau")
    rest = cp.Parameter(nonneg=True, name="rest")
    wrong = problem(given * cp.pos(r - 1) + (5 - given) * cp.neg(r - 1))
    right = problem(given * cp.pos(r - 1) + rest * cp.neg(r - 1))
    return SimpleNamespace(wrong=wrong, right=right, tau=given, rest=rest)


def shares():
    """Squares and something else, in shares that sum to 1."""
    rest = cp.Parameter(nonneg=True, name="rest")
    wrong = problem(Q * cp.norm1(X) + (1 - Q) * SQUARES)
    right = problem(Q * cp.norm1(X) + rest * SQUARES)
    return SimpleNamespace(wrong=wrong, right=right, ends=({Q: 0.1, rest: 0.9}, {Q: 0.8, rest: 0.2}))


CHANCES = chances(2.0, 4.0)
SHARES = shares()
SAME = cp.Parameter(name="l"), cp.Parameter(name="l")
BENT = cp.CallbackParam(lambda: L.value**2, nonneg=True, name="bent")
PRODUCT = cp.CallbackParam(lambda: L.value * Q.value, name="product")
TWO = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])

#: What was called, what the error says, and what its reader then does.
CASES = {
    "a cone without eps": (
        lambda: pc.trace(far_away(), {L: 1}, {L: 2}),
        r"needs a cone\. .*Pass eps=1e-4",
        lambda: within(far_away(), {L: 1.0}, {L: 2.0}),
    ),
    "a cone without eps, single values": (
        lambda: pc.trace(problem(cp.norm2(X - TARGET) + L * cp.norm1(X)), {L: 1}, {L: 2}),
        r"or use sweep$",
        lambda: swept(problem(cp.norm2(X - TARGET) + L * cp.norm1(X)), {L: [0.1, 0.2]}),
    ),
    "the matrix of a form": (
        lambda: pc.trace(problem(cp.quad_form(X, FORM) - X[0], cp.sum(X) == 1), {FORM: EYE}, {FORM: 2 * EYE}),
        r"form must not move the matrix P, but is the matrix of a quadratic form: .*Pass eps=1e-4",
        lambda: within(problem(cp.quad_form(X, FORM) - X[0], cp.sum(X) == 1), {FORM: EYE}, {FORM: 2 * EYE}),
    ),
    "one of two quadratics": (
        lambda: pc.trace(ridge(), {Q: 1}, {Q: 2}),
        r"q must not move the matrix P, but multiplies a quadratic term: q \* sum_squares\(x\), in the objective\. "
        r"Pass eps=1e-4",
        lambda: within(ridge(), {Q: 1.0}, {Q: 2.0}),
    ),
    "only quadratic terms are called so": (
        lambda: pc.trace(elastic(), {L: 1}, {L: 2}),
        r"multiplies a quadratic term: l \* 0\.25 \* sum_squares\(x\), in the objective\. .*Pass eps=1e-4",
        lambda: within(elastic(), {L: 1.0}, {L: 2.0}),
    ),
    "the whole quadratic": (
        lambda: pc.trace(whole_ridge(), {L: 1}, {L: 2}),
        r"As l multiplies the whole quadratic, divide the objective by it: its inverse then multiplies the linear",
        lambda: exact(lasso(), {L: 1.0}, {L: 0.5}),
    ),
    "a row": (
        lambda: pc.trace(moving_row(), {L: 1}, {L: 2}),
        r"divide by it, so that its inverse stands alone.*Pass eps=1e-4",
        lambda: exact(problem(X[0] + cp.norm1(X - TARGET), X[0] >= L, cp.abs(X) <= 9), {L: 1.0}, {L: 0.5}),
    ),
    "a row, within eps": (
        lambda: pc.trace(moving_row(), {L: 1}, {L: 2}),
        r"Pass eps=1e-4",
        lambda: within(moving_row(), {L: 1.0}, {L: 2.0}),
    ),
    "a moving equation, within eps": (
        lambda: pc.trace(moving_equation(), {L: 1}, {L: 2}),
        r"l must not move the matrix A.*Pass eps=1e-4 .*or use sweep$",
        lambda: within(moving_equation(), {L: 1.0}, {L: 2.0}),
    ),
    "a moving equation, as a curve": (
        lambda: pc.trace(moving_equation(), {L: 1}, {L: 2}),
        r"curve=True for polynomials .*or use sweep$",
        lambda: within(moving_equation(), {L: 1.0}, {L: 2.0}, curve=True),
    ),
    "derivatives where an equation moves": (
        lambda: pc.derivatives(moving_equation(), {L: 1.0}),
        r"take differences of `bounds` of a path within eps",
        lambda: within(moving_equation(), {L: 0.9}, {L: 1.1}),
    ),
    "a moving equation, single values": (
        lambda: pc.trace(moving_equation(), {L: 1}, {L: 2}),
        r"or use sweep$",
        lambda: swept(moving_equation(), {L: [1.0, 1.5, 2.0]}),
    ),
    "no map of a cone": (
        lambda: pc.plane(far_away(), {L: (1, 2), Q: (0, 1)}),
        r"needs a cone\. There is no map of it: trace one parameter at a time, within an eps(?!.*eps=)",
        lambda: within(far_away(), {Q: 0.0}, {Q: 1.0}),
    ),
    "no map of a matrix that moves": (
        lambda: pc.plane(ridge(), {Q: (1, 2), L: (0, 1)}),
        r"q must not move the matrix P.*There is no map of it: trace one parameter at a time",
        lambda: exact(ridge(), {L: 0.0}, {L: 1.0}),
    ),
    "a map beside a parameter without a value": (
        lambda: pc.plane(
            problem(SQUARES + L * X[0] + Q * X[1] + cp.Parameter(name="unset") * X[2]), {L: (0, 1), Q: (0, 1)}
        ),
        r"^parameter unset must be in ranges, or have a value that it keeps",
        lambda: pc.plane(
            problem(SQUARES + L * X[0] + Q * X[1] + cp.Parameter(name="u", value=1.0) * X[2]),
            {L: (0, 1), Q: (0, 1)},
            progress=False,
        ),
    ),
    "a sign that is not known": (
        lambda: pc.trace(CHANCES.wrong, {CHANCES.tau: 2}, {CHANCES.tau: 4}),
        r"5 - tau has no sign that CVXPY knows.*start=\{tau: a, rest: 5 - a\}, and likewise stop",
        lambda: exact(CHANCES.right, {CHANCES.tau: 2.0, CHANCES.rest: 3.0}, {CHANCES.tau: 4.0, CHANCES.rest: 1.0}),
    ),
    "a sign that is not known, of squares": (
        lambda: pc.trace(SHARES.wrong, {Q: 0.1}, {Q: 0.8}),
        r"rest: 1 - a\}, and likewise stop\. As it multiplies .*, trace takes it with eps=1e-4$",
        lambda: within(SHARES.right, *SHARES.ends),
    ),
    "the square of a norm, which is a lasso": (
        lambda: pc.trace(problem(cp.norm(X - TARGET) ** 2 + L * cp.norm1(X)), {L: 1}, {L: 2}),
        r"that needs a cone\. In place of the square of a norm write cp\.sum_squares\(\.\.\.\): it is the same",
        lambda: exact(problem(cp.sum_squares(X - TARGET) + L * cp.norm1(X)), {L: 1.0}, {L: 2.0}),
    ),
    "the squares of norms of columns": (
        lambda: pc.trace(problem(cp.sum(cp.norm(COLUMNS - EYE, axis=0) ** 2) + L * COLUMNS[0, 0]), {L: 1}, {L: 2}),
        r"write cp\.sum_squares\(\.\.\., axis=0\): it is the same",
        lambda: exact(problem(cp.sum(cp.sum_squares(COLUMNS - EYE, axis=0)) + L * COLUMNS[0, 0]), {L: 1.0}, {L: 2.0}),
    ),
    "the square of a norm that is not alone": (
        lambda: pc.trace(problem(cp.norm(X - TARGET) ** 2 + L * cp.norm2(X)), {L: 1}, {L: 2}),
        r"that needs a cone\. Pass eps=1e-4 .*or use sweep$",
        lambda: within(problem(cp.norm(X - TARGET) ** 2 + L * cp.norm2(X)), {L: 1.0}, {L: 2.0}),
    ),
    "a sign that is not known, of a norm": (
        lambda: pc.trace(problem(SQUARES + (1 - Q) * cp.norm2(X)), {Q: 0.1}, {Q: 0.8}, eps=1e-4),
        r"trace takes it with eps=1e-4$",
        lambda: within(problem(SQUARES + L * cp.norm2(X)), {L: 0.9}, {L: 0.2}),
    ),
    "a sign that the parameter does not promise": (
        lambda: pc.trace(problem(SQUARES + SAME[0] * cp.norm1(X)), {SAME[0]: 1}, {SAME[0]: 2}),
        r"Say which it has: cp\.Parameter\(nonneg=True, name='l'\)",
        lambda: exact(lasso(), {L: 1.0}, {L: 2.0}),
    ),
    "a product of parameters": (
        lambda: pc.trace(problem(SQUARES + L * L * cp.norm1(X)), {L: 1}, {L: 2}),
        r"must be DPP.*or, to trace in it, a Parameter of its own",
        lambda: exact(lasso(), {L: 1.0}, {L: 4.0}),
    ),
    "a parameter that divides": (
        lambda: pc.trace(problem(cp.norm1(X), cp.quad_over_lin(X - 1, 1 + L) <= 1), {L: 1}, {L: 2}, eps=1e-3),
        r"In place of quad_over_lin\(x, p\) write quad_over_lin\(x, s\) with a Variable s and s == p",
        divided,
    ),
    "a function that bends": (
        lambda: pc.trace(problem(SQUARES + BENT * cp.norm1(X)), {L: 1}, {L: 2}),
        r"CallbackParam bent is no affine function of them\. Make it a cvxpy\.Parameter, and trace in that",
        lambda: exact(lasso(), {L: 1.0}, {L: 4.0}),
    ),
    "a product in a map": (
        lambda: pc.plane(problem(SQUARES + PRODUCT * X[0] + L * X[1] + Q * X[2]), {L: (0, 1), Q: (0, 1)}),
        r"the CallbackParam product is no affine function of them\. Make it a cvxpy\.Parameter, and trace in that",
        lambda: pc.plane(problem(SQUARES + Q * X[0] + L * X[1]), {L: (0, 1), Q: (0, 1)}, progress=False),
    ),
    "a name that several have": (
        lambda: pc.trace(problem(SQUARES + SAME[0] * X[0] + SAME[1] * X[1]), {"l": 1}, {"l": 2}),
        r"each parameter itself for a key where several have one name, got 'l', which 2 have",
        lambda: exact(problem(SQUARES + SAME[0] * X[0]), {SAME[0]: 1.0}, {SAME[0]: 2.0}),
    ),
    "a name that none has": (
        lambda: pc.trace(lasso(), {"lam": 1}, {"lam": 2}),
        r"got 'lam': the problem has l$",
        lambda: pc.trace(lasso(), {"l": 1}, {"l": 2}, progress=False),
    ),
    "a name that none has, in a map": (
        lambda: pc.plane(ridge(), {"lam": (1, 2), "q": (0, 1)}),
        r"got 'lam': the problem has l, q|got 'lam': the problem has q, l",
        lambda: pc.plane(problem(SQUARES + L * cp.norm1(X) + Q * X[0]), {"l": (1, 2), "q": (0, 1)}, progress=False),
    ),
    "a parameter by itself and by name": (
        lambda: pc.trace(lasso(), {"l": 1, L: 2}, {"l": 1, L: 3}),
        r"start must have each parameter once, got l by itself and by name",
        lambda: pc.trace(lasso(), {L: 2}, {L: 3}, progress=False),
    ),
    "no point inside is found": (
        lambda: pc.trace(problem(cp.norm2(X), X[0] <= L, X[0] >= L, X[1] <= 5), {L: 1}, {L: 2}, eps=1e-3),
        r"none was found: see constraint 0, constraint 1\. Write what holds with equality everywhere as equations",
        lambda: within(problem(cp.norm2(X), X[0] == L, X[1] <= 5), {L: 1.0}, {L: 2.0}, eps=1e-3),
    ),
    "a point inside at one end only": (
        lambda: pc.trace(entropies(), {L: 3.5}, {L: 6}, eps=1e-2),
        r"at stop \(there is one at start\), and none was found: see total, mean\. .*end a little earlier",
        lambda: within(entropies(), {L: 3.5}, {L: 5.99}, eps=1e-2),
    ),
    "an infinite bound": (
        lambda: pc.trace(problem(SQUARES + L * X[0], np.array([1, np.inf, 1]) >= X), {L: 1}, {L: 2}),
        r"must be finite, got .*: leave it out",
        lambda: exact(problem(SQUARES + L * X[0], X[[0, 2]] <= 1), {L: 1.0}, {L: 2.0}),
    ),
    "integers": (
        lambda: pc.trace(problem(L * cp.Variable(integer=True, name="z")), {L: 1}, {L: 2}),
        r"problem must be convex, got the integer or boolean variable z",
        lambda: exact(problem(L * X[0], cp.abs(X) <= 1), {L: 1.0}, {L: 2.0}),
    ),
    "three ranges": (
        lambda: pc.plane(three(), {L: (0, 1), Q: (0, 1), U: (0, 1)}),
        r"got 3 that move .*fix the others, as numbers",
        lambda: pc.plane(three(), {L: (0, 1), Q: (0, 1), U: 0.5}, progress=False),
    ),
    "ranges of a cone": (
        lambda: pc.ranges(problem(cp.norm2(X - TARGET) + X[0], cp.sum(X) <= 1), progress=False),
        r"needs a cone, and ranges are of .*write the number that is meant as a Parameter, of which derivatives bounds",
        lambda: bounded_slope(problem(cp.norm2(X - TARGET), cp.sum(X) <= L), -(3.0**-0.5)),
    ),
    "derivatives where the quadratic term moves": (
        lambda: pc.trace(problem(L * cp.sum_squares(X) + X[0]), {L: 1}, {L: 2}),
        r"l must not move the matrix P",
        lambda: bounded_slope(problem(L * cp.sum_squares(X) + X[0]), 0.25),
    ),
    "derivatives where a row moves": (
        lambda: pc.derivatives(moving_row(), {L: 1.0}),
        r"take differences of `bounds` of a path within eps",
        lambda: within(moving_row(), {L: 0.9}, {L: 1.1}),
    ),
    "a name that none has, in a direction": (
        lambda: pc.derivatives(lasso(), {"lam": 1.0}),
        r"direction must have .*got 'lam': the problem has l$",
        lambda: pc.derivatives(lasso(), {"l": 1.0}),
    ),
    "no solution where nothing moves": (
        lambda: pc.ranges(problem(X[0], X >= 1, X <= 0), progress=False),
        r"^the problem must have a solution, and has none: the bounds of variable x\[0\] cross",
        lambda: pc.ranges(problem(X[0], X >= 1, X <= 2), progress=False),
    ),
    "n_jobs of an exact path": (
        lambda: pc.trace(lasso(), {L: 1}, {L: 2}, n_jobs=2),
        r"n_jobs must be left out for an exact path",
        lambda: exact(lasso(), {L: 1.0}, {L: 2.0}),
    ),
    "costs for a program": (
        lambda: pc.trace(lasso(), {L: 1}, {L: 2}, tau=0.5),
        r"tau must be left out for a cvxpy\.Problem, which is traced with start and stop",
        lambda: exact(lasso(), {L: 1.0}, {L: 2.0}),
    ),
    "numbers of one's own": (
        lambda: pc.verify(problem(cp.sum_squares(cp.Variable(3, name="x") - TARGET))),
        r"or verify\(problem, \{'x': value\}\) its own",
        lambda: pc.verify(problem(cp.sum_squares(cp.Variable(3, name="x") - TARGET)), {"x": TARGET}),
    ),
    "an entry of a variable with diag=True": (
        lambda: pc.grade(problem(cp.sum_squares(DIAGONAL - 2) + DIAGONAL[0, 0]), {DIAGONAL: np.diag([1.5, 2.0])}),
        r"variable D must be written as cp\.diag of a vector, got diag=True",
        lambda: graded(problem(cp.sum_squares(cp.diag(PAIR) - 2) + cp.diag(PAIR)[0, 0]), {PAIR: [1.5, 2.0]}),
    ),
    "an expression for a problem": (
        lambda: pc.trace(SQUARES, {L: 1}, {L: 2}),
        r"problem must be a formulation of your samples, such as TwoCSVM\(X, y\), a cvxpy\.Problem or a QP",
        lambda: exact(lasso(), {L: 1.0}, {L: 2.0}),
    ),
}


def test_right_points_of_a_coarse_grid_are_said_to_be_right():
    """Straight lines between points of a path that bends there are none of it; the points are."""
    path = pc.trace(lasso(), {L: 0}, {L: 8}, progress=False)
    grid = np.linspace(0, 8, 6)
    points = np.array([path.at(l=each).variables["x"] for each in grid])
    judged = pc.verify(path, {"l": grid, "x": points})
    assert not judged.passes()
    assert "All that were given are optimal" in repr(judged)
    assert "between=False judges the given ones alone" in repr(judged)
    assert pc.verify(path, {"l": grid, "x": points}, between=False).passes()
    points[2] += 1e-3
    assert "All that were given" not in repr(pc.verify(path, {"l": grid, "x": points}))


@pytest.mark.parametrize("case", CASES)
def test_what_an_error_tells_to_do_works(case):
    wrong, said, remedy = CASES[case]
    with pytest.raises(pc.InputError, match=said):
        wrong()
    L.value, Q.value = 1.0, 1.0
    remedy()
