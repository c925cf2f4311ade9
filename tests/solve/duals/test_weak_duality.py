"""Weak duality at pairs of points of a linear program whose primal and dual are worked out by hand."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError, SolveError
from paretoclf.solve.duals.weak_duality import judged, weak_duality

TOL = 1e-6


def primal():
    """min x1 + 2 x2 with x1 + x2 >= 1 and x >= 0: 1 at (1, 0)."""
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(x @ [1, 2]), [(cp.sum(x) >= 1).set_label("cover"), (x >= 0).set_label("sign")])


def dual():
    """max y with y <= 1, y <= 2 and y >= 0."""
    y = cp.Variable(name="y")
    limits = [(y * np.ones(2) <= np.array([1, 2])).set_label("prices"), (y >= 0).set_label("sign")]
    return cp.Problem(cp.Maximize(y), limits)


def bound(x, y):
    """Both points judged, of the minimisation and of its dual."""
    return weak_duality(judged(primal(), {"x": x}, TOL, "x"), judged(dual(), {"y": y}, TOL, "y"), 1, TOL)


def test_feasible_points_bound_the_value_on_both_sides():
    found = bound([1, 1], 0.5)
    assert (found.primal_value, found.dual_value) == pytest.approx((3, 0.5))
    assert found.primal_feasible
    assert found.dual_feasible
    assert found.gap == pytest.approx(2.5)
    assert str(found) == (
        "Weak duality: the optimal value lies between 0.5 and 3. Both points are feasible to 1e-06 of the terms of "
        "each constraint; the point is within 2.5 of the optimal value."
    )
    assert repr(found) == str(found) == found.sentence
    assert found.primal.status == "not optimal"


def test_feasible_points_bound_the_value_where_the_solver_fails_on_the_problem():
    """exp(-x) with x^2 / y <= 0: (0, 1) is feasible, and by hand 0 is the dual's value at multipliers of 0."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.exp(-x)), [(cp.quad_over_lin(x, y) <= 0).set_label("ratio")])
    multipliers = {"lambda_ratio": 1.0, "y_1": 0.0, "y_2a": 0.0, "y_2b": 0.0}
    found = pc.dual(problem).bound({"x": 0, "y": 1}, multipliers)
    assert (found.primal_value, found.dual_value, found.gap) == pytest.approx((1, 0, 1))
    assert found.primal_feasible
    assert found.dual_feasible
    assert not pc.dual(problem).bound({"x": 1, "y": 1}, multipliers).primal_feasible
    with pytest.raises(SolveError, match=r"itself: .* verify\(problem, values\) judges values without a solution"):
        pc.grade(problem, {"x": 0, "y": 1})
    assert pc.verify(problem, {"x": 0, "y": 1}).certificate.primal_residual == 0


def test_a_pair_without_a_gap_is_optimal():
    found = bound([1, 0], 1)
    assert found.gap == pytest.approx(0, abs=1e-12)
    assert found.primal.status == found.dual.status == "optimal"
    assert "between 1 and 1." in str(found)
    assert "within 0 of" in str(found)


def test_of_a_maximisation_the_dual_bounds_from_above():
    found = weak_duality(judged(dual(), {"y": 0.25}, TOL, "x"), judged(primal(), {"x": [2, 1]}, TOL, "y"), -1, TOL)
    assert (found.primal_value, found.dual_value, found.gap) == pytest.approx((0.25, 4, 3.75))
    assert "between 0.25 and 4." in str(found)


def test_values_that_pass_each_other_by_what_is_tolerated_are_no_negative_distance():
    found = bound([1 - 5e-7, 0], 1)
    assert found.primal_feasible
    assert -1e-6 < found.gap < 0
    assert "between 1 and 0.9999995." in str(found)  # the dual's value first: the other way round than proved
    assert "within 0 of" in str(found)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([0, 0], 0.5, ["the point is not feasible (cover is missed by 0.5 of its size)"]),
        ([1, -1], 0.5, ["the point is not feasible (cover is missed by 0.5 of its size)"]),
        ([3, -1], 0.5, ["the point is not feasible (sign is missed by 0.5 of its size)"]),
        ([1, 1], 3, ["the multipliers are not feasible (prices is missed by 0.5 of its size)"]),
        (
            [0, 0],
            -1,
            ["the point is not feasible (cover is", " and the multipliers are not feasible (sign is missed by 0.5 of"],
        ),
    ],
)
def test_a_point_that_is_not_feasible_bounds_nothing(x, y, words):
    found = bound(x, y)
    assert found.gap == np.inf
    said = ("the point is not" not in str(found), "the multipliers are not" not in str(found))
    assert (found.primal_feasible, found.dual_feasible) == said
    assert str(found).startswith("No bound: ")
    for part in words:
        assert part in str(found)
    assert found.primal_value == pytest.approx(np.dot(x, [1, 2]))
    assert found.dual_value == pytest.approx(y)


def test_feasible_is_said_to_the_tolerance_that_was_asked_for():
    x = {"x": [1 - 1e-4, 0]}
    for tol, inside in ((1e-3, True), (1e-5, False)):
        found = weak_duality(judged(primal(), x, tol, "x"), judged(dual(), {"y": 0}, tol, "y"), 1, tol)
        assert found.primal_feasible == inside
        assert ("feasible to 1e-03" in str(found)) == inside


class TestJudged:
    def two(self):
        """min |x| + |z - 3| with x + z = 4."""
        x, z = cp.Variable(name="x"), cp.Variable(name="z")
        return cp.Problem(cp.Minimize(2 * cp.abs(x) + cp.abs(z - 3)), [(x + z == 4).set_label("sum")])

    def test_what_is_not_given_is_chosen_best(self):
        proof = judged(self.two(), {"x": 3}, TOL, "x")
        assert proof.certificate.primal_value == pytest.approx(2 * 3 + 2, abs=1e-6)  # z is 1
        assert judged(self.two(), {}, TOL, "x").certificate.primal_value == pytest.approx(1, abs=1e-6)  # x = 0, z = 4
        assert judged(self.two(), {"x": 3, "z": 1}, TOL, "x").certificate.primal_value == pytest.approx(8)

    def test_variables_are_left_as_they_were(self):
        problem = self.two()
        problem.variables()[0].value = 17.0
        judged(problem, {"x": 3}, TOL, "x")
        assert [v.value for v in problem.variables()] == [17.0, None]

    def test_numbers_that_leave_no_values_to_the_others_are_refused(self):
        x, z = cp.Variable(name="x"), cp.Variable(2, name="z")
        problem = cp.Problem(cp.Minimize(cp.sum(z)), [cp.sum(z) == x, z >= 0])
        with pytest.raises(InputError) as refused:
            judged(problem, {"x": -1}, TOL, "y")
        assert str(refused.value) == (
            "y must leave values to z, which were not given: with these numbers the problem is infeasible; "
            "give them all"
        )

    def test_a_name_that_is_none_of_its_variables_does_not_matter(self):
        assert judged(self.two(), {"x": 3, "other": 5}, TOL, "x").certificate.primal_value == pytest.approx(8, abs=1e-6)


def doors():
    """max 3 x + 5 y with x <= 4, 2 y <= 12, 3 x + 2 y <= 18, x and y >= 0: 36; multipliers (0, 3/2, 1)."""
    x, y = (cp.Variable(name=name, nonneg=True) for name in "xy")
    rows = [(x <= 4).set_label("a"), (2 * y <= 12).set_label("b"), (3 * x + 2 * y <= 18).set_label("c")]
    return cp.Problem(cp.Maximize(3 * x + 5 * y), rows)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ({"a": 0, "b": 0, "c": 2}, "no mu_y >= 0 fits: the coefficient of y is -1"),  # -5 + 2 . 2
        ({"a": 1, "b": 3, "c": 0}, "no mu_x >= 0 fits: the coefficient of x is -2"),  # -3 + 1
        ({"a": -1}, "lambda_a must not be negative, and is -1"),
    ],
)
def test_where_no_multiplier_of_a_bound_fits_it_is_said_which_coefficient_is_wrong(y, words):
    found = pc.dual(doors()).bound({"x": 1, "y": 1}, y)
    assert str(found) == f"No bound: the multipliers are not feasible ({words})."
    assert not found.dual_feasible
    assert found.gap == np.inf


def test_multipliers_of_bounds_that_are_left_out_are_chosen():
    found = pc.dual(doors()).bound({"x": 2, "y": 6}, {"a": 0, "b": 1.5, "c": 1})
    assert (found.primal_value, found.dual_value) == pytest.approx((36, 36), abs=1e-6)
    assert pc.dual(doors()).bound({"x": 1, "y": 1}, {"a": 1, "b": 2}).dual_value == pytest.approx(4 + 24 + 18 * 2 / 3)
    v = cp.Variable(3, name="v", nonneg=True)
    dual = pc.dual(cp.Problem(cp.Minimize(np.array([1, 2, 3.0]) @ v), [(cp.sum(v) >= 1).set_label("mass")]))
    far = dual.bound({"v": [1, 0, 0]}, {"mass": 2.5})
    assert (
        str(far) == "No bound: the multipliers are not feasible (no mu_v >= 0 fits: the coefficient of v[0] is -1.5)."
    )
    assert dual.bound({"v": [1, 0, 0]}, {"mass": 0.5}).dual_value == pytest.approx(0.5)
