"""Conditions one by one, beside gradients and least subgradients in closed form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc

ROWS = np.random.default_rng(5)


def table_of(problem, values, duals, **options):
    return pc.grade(problem, values, duals, **options).kkt()


def of(table, condition, name):
    return next(each for each in table.residuals if (each.condition, each.of) == (condition, name))


def by(table, condition, name):
    return of(table, condition, name).by


def split():
    x = cp.Variable(2, name="x")
    mass, low = (cp.sum(x) == 1).set_label("mass"), (x[0] >= 0.75).set_label("low")
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass, low])


@pytest.mark.parametrize(
    ("x", "mass", "low", "fails"),
    [
        ([0.75, 0.25], -0.5, 1, {}),
        ([0.75, 0.25], -0.5, 2, {("stationarity", "x[0]"): 1}),
        ([0.5, 0.5], -1, 0, {("primal feasibility", "low"): 0.25}),
        ([1, 0], 0, 2, {("complementary slackness", "low"): 0.5}),
        ([1, 0.5], -1, -1, {("primal feasibility", "mass"): 0.5, ("dual feasibility", "low"): 1,
                            ("complementary slackness", "low"): 0.25, ("stationarity", "x[0]"): 2}),
    ],
)  # fmt: skip
def test_it_is_said_which_condition_fails_and_by_how_much(x, mass, low, fails):
    table = table_of(split(), {"x": x}, {"mass": mass, "low": low})
    assert {(each.condition, each.entry): each.by for each in table.fails} == pytest.approx(fails)
    assert table.holds == (not fails)
    for (condition, entry), size in fails.items():
        several = of(table, condition, entry.split("[")[0]).missed_by[1:]
        told = f"{entry} fails by" if not several else f"x[0], x[1] fails, most in {entry}, by"
        assert f"{condition} of {told} {size:.4g}" in str(table).lower()
    assert [row["of"] for row in table.records()] == ["mass", "low", "x"]


@pytest.mark.parametrize("n", [2, 6, 7, 20])
def test_all_entries_that_fail_are_told_and_the_others_hold(n):
    """The gradient of the Lagrangian of |x|^2 with x >= 1 is 2 - m at x = 1: m = 2 is right in the last entry alone."""
    x = cp.Variable(n + 1, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x >= 1).set_label("low")])
    m = np.r_[3.0 + np.arange(n), 2]
    table = table_of(problem, {"x": np.ones(n + 1)}, {"low": m})
    (found,) = table.fails
    names = [f"x[{k}]" for k in np.flatnonzero(np.abs(2 - m) > 0)]
    assert (list(found.missed_by), found.size, found.entry) == (names, n + 1, names[-1])
    which = ", ".join(names) if n < 7 else f"{n} of {n + 1} entries of x"
    assert f"Stationarity of {which} fails, most in x[{n - 1}], by {n}" in str(table)
    assert str(table).endswith("of its terms); the others hold to 1e-03.")
    assert [row["fails_of"] for row in table.records()] == ["", which]


def test_gradients_are_those_of_numpy():
    F, g = ROWS.normal(size=(5, 3)), ROWS.normal(size=5)
    A, Q = ROWS.normal(size=(2, 3)), ROWS.normal(size=(3, 3))
    x = cp.Variable(3, name="x")
    ball, rows = (cp.quad_form(x, Q @ Q.T) <= 4).set_label("ball"), (A @ x <= 1).set_label("rows")
    problem = cp.Problem(cp.Maximize(-cp.sum_squares(F @ x - g) - cp.sum(cp.exp(x))), [ball, rows])
    at, u, v = ROWS.normal(size=3), 0.7, np.array([0.2, 0.4])
    gradient = 2 * F.T @ (F @ at - g) + np.exp(at) + 2 * u * Q @ Q.T @ at + A.T @ v
    table = table_of(problem, {"x": at}, {"ball": u, "rows": v})
    found = of(table, "stationarity", "x")
    assert found.by == pytest.approx(abs(gradient[int(found.entry[2])]))
    assert found.by >= 0.3 * np.abs(gradient).max()  # the entry is that of the largest share of its terms
    slack = 1 - A @ at
    assert by(table, "primal feasibility", "rows") == pytest.approx(np.maximum(-slack, 0).max())
    assert by(table, "complementary slackness", "ball") == pytest.approx(abs(u * (4 - at @ Q @ Q.T @ at)))


@pytest.mark.parametrize("w", [np.zeros(3), np.array([1.0, 0.0, -2.0])])
def test_at_a_kink_the_least_subgradient_counts(w):
    X, b, lam = ROWS.normal(size=(6, 3)), ROWS.normal(size=6), 0.3
    v = cp.Variable(3, name="w")
    lasso = cp.Problem(
        cp.Minimize(cp.sum_squares(X @ v - b) / 2 + lam * cp.norm1(v)), [(cp.sum(v) <= 9).set_label("s")]
    )
    gradient = X.T @ (X @ w - b) + 0.5
    least = np.where(w != 0, gradient + lam * np.sign(w), np.sign(gradient) * np.maximum(np.abs(gradient) - lam, 0))
    table = table_of(lasso, {"w": w}, {"s": 0.5})
    found = of(table, "stationarity", "w")
    assert found.by == pytest.approx(abs(least[int(found.entry[2])]), rel=1e-4)


def test_multipliers_that_were_not_given_are_those_that_stationarity_leaves():
    x = cp.Variable(2, name="x")
    z = cp.Variable(2, bounds=[0, 1], name="z")
    signs = (x >= 0).set_label("signs")
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(x - [1, -2]) - z[0] + 3 * z[1]), [(cp.sum(x) <= 5).set_label("s"), signs]
    )
    table = table_of(problem, {"x": [1, 0], "z": [1, 0]}, {"s": 0})
    assert table.holds
    assert {name: each.tolist() for name, each in table.inferred.items()} == {
        "signs": [0, 4], "z: lower bound": [0, 3], "z: upper bound": [1, 0]
    }  # fmt: skip
    wrong = table_of(problem, {"x": [1, 0], "z": [0, 0]}, {"s": 0})
    assert [(each.entry, each.by) for each in wrong.fails] == [("z[0]", 1)]


def test_a_matrix_in_a_cone():
    """C + t I is singular at t = 1, where it is the multiplier of the cone; at t = 2 it is 1/2 off in each entry."""
    M, C = cp.Variable((2, 2), PSD=True, name="M"), np.array([[1.0, 2.0], [2.0, 1.0]])
    least = cp.Problem(cp.Minimize(cp.trace(C @ M)), [(cp.trace(M) == 1).set_label("tr")])
    values = {"M": [[0.5, -0.5], [-0.5, 0.5]]}
    assert table_of(least, values, {"tr": 1}).holds
    assert by(table_of(least, values, {"tr": 2}), "stationarity", "M") == pytest.approx(0.5, rel=1e-4)
    given = table_of(least, values, {"tr": 1, "M: PSD": [[2, 1], [1, 2]]})
    assert {(each.condition, each.of) for each in given.fails} == {
        ("complementary slackness", "M: PSD"), ("stationarity", "M")
    }  # fmt: skip


def test_parameters_are_those_of_the_answer_and_the_problem_is_left_as_it_was():
    x, p = cp.Variable(name="x"), cp.Parameter(value=2.0, name="p")
    problem = cp.Problem(cp.Minimize(cp.square(x - 3)), [(x <= p).set_label("top")])
    said = pc.grade(problem, {"x": 2}, {"top": 2})
    p.value = 1.0
    assert said.kkt().holds
    assert (p.value, x.value, problem.constraints[0].dual_value) == (1.0, None, None)


def test_an_answer_without_multipliers_has_no_table():
    for said in (pc.grade(split(), {"x": [0.75, 0.25]}), pc.grade(split(), "infeasible")):
        with pytest.raises(pc.InputError, match=r"grade\(problem, values, duals\)\.kkt\(\)"):
            said.kkt()


def test_what_has_no_gradient_is_not_known():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(-cp.sum(cp.sqrt(x))), [(cp.sum(x) <= 1).set_label("s")])
    table = table_of(problem, {"x": [1, 0]}, {"s": 2})
    assert not table.holds
    assert "stationarity of x is not known" in str(table).lower()


def test_where_cvxpy_has_no_gradient_the_least_subgradient_is_found_all_the_same():
    x, at, aim = cp.Variable(3, name="x"), np.array([1.0, -1.0, 0.5]), np.array([0.5, 0.5, -1.0])
    problem = cp.Problem(cp.Minimize(cp.pnorm(x - aim, 4)), [(cp.sum(x) <= 1).set_label("s")])
    apart = at - aim
    gradient = apart**3 / np.sum(apart**4) ** 0.75 + 0.25
    found = of(table_of(problem, {"x": at}, {"s": 0.25}), "stationarity", "x")
    assert found.by == pytest.approx(abs(gradient[int(found.entry[2])]), rel=1e-3)


def test_a_perspective_is_not_known():
    z, s = cp.Variable(name="z"), cp.Variable(nonneg=True, name="s")
    problem = cp.Problem(cp.Minimize(cp.perspective(cp.square(z), s) + s), [(z >= 1).set_label("low")])
    table = table_of(problem, {"z": 1, "s": 1}, {"low": 2})
    assert {each.of for each in table.fails} == {"z", "s"}
    assert all(np.isnan(each.by) for each in table.fails)


def test_at_several_kinks_integers_that_satisfy_the_conditions_hold():
    """The multipliers prove the optimum: the least value of the Lagrangian, by HiGHS, is that of the point, 2."""
    x, s = cp.Variable(3, nonneg=True, name="x"), cp.Variable(name="s", bounds=[-2, 3])
    cost = -2 * s + cp.sum(cp.pos(x)) * 2 + cp.sum(cp.neg(x - 1)) + x[2]
    link, row = (s + x[0] <= 2).set_label("link"), (-2 * x[0] + x[1] + 2 * x[2] <= -2).set_label("row")
    total = (2 * x[0] + x[1] + 2 * x[2] == 2).set_label("total")
    problem, duals = cp.Problem(cp.Minimize(cost), [link, total, row]), {"link": 2.0, "total": -1.25, "row": 0.25}
    lagrangian = cost + sum(duals[each.label] * each.expr for each in (link, total, row))
    least = cp.Problem(cp.Minimize(lagrangian)).solve(solver="HIGHS")
    table = table_of(problem, {"x": [1, 0, 0], "s": 1}, duals)
    assert least == pytest.approx(2.0)
    assert table.holds, str(table)


@pytest.mark.parametrize(("kink", "misses"), [(0.0, 2.5), (1.0, 1.5), (3.0, 0.0)])
def test_a_diagonal_variable_has_entries_on_the_diagonal_alone(kink, misses):
    """Of an entry on the diagonal the subdifferential is [2.5 - kink, 2.5 + kink]; others, of 5 and more, are fixed."""
    D = cp.Variable((2, 2), diag=True, name="D")
    cost = kink * cp.sum(cp.abs(D)) + cp.sum_squares(D) + 5 * cp.sum(D) - 6 * cp.trace(D)
    problem = cp.Problem(cp.Minimize(cost), [(cp.trace(D) <= 0).set_label("top")])
    table = table_of(problem, {"D": np.zeros((2, 2))}, {"top": 3.5})
    assert by(table, "stationarity", "D") == pytest.approx(misses, rel=1e-4)
    assert table.holds == (misses == 0.0)
