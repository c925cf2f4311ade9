"""Values given for a while: problems keep their own, are solved and judged beside them, and names find their arrays."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.solve.judging.given_values import by_name, kept, proved, proved_again, solved


def least_squares():
    """min |x - 3|^2 under x <= 1: at 1, with multiplier 4 and value 4."""
    x = cp.Variable(name="x")
    return x, cp.Problem(cp.Minimize(cp.square(x - 3)), [x <= 1])


class TestKept:
    def test_values_and_multipliers_come_back(self):
        x, problem = least_squares()
        y = cp.Variable(2, name="y")
        other = cp.Problem(cp.Minimize(cp.sum(y)), [y >= 0])
        problem.solve("CLARABEL")
        before = x.value, problem.constraints[0].dual_value
        with kept(problem, other):
            x.value, y.value = 7.0, np.ones(2)
            problem.constraints[0].save_dual_value(np.asarray(9.0))
            assert x.value == 7.0
        assert (x.value, problem.constraints[0].dual_value) == before
        assert y.value is None

    def test_they_come_back_after_a_fault(self):
        x, problem = least_squares()
        x.value = 0.25

        def stopped():
            with kept(problem):
                x.value = 2.0
                raise RuntimeError("stopped")

        with pytest.raises(RuntimeError, match="stopped"):
            stopped()
        assert x.value == 0.25


class TestSolved:
    def test_the_variables_are_the_same_and_the_status_is_its_own(self):
        x, problem = least_squares()
        own = solved(problem)
        assert own.status == "optimal"
        assert own.value == pytest.approx(4, abs=1e-8)
        assert x.value == pytest.approx(1, abs=1e-8)
        assert problem.status is None

    def test_numbers_are_tight(self):
        """With the usual tolerances the solver stops at 1e-8 of a sum of squares, 1e-4 of its root."""
        x = cp.Variable(3, name="x")
        target = np.array([0.1, 0.2, 0.7])
        solved(cp.Problem(cp.Minimize(1e-3 * cp.sum_squares(x - target) + cp.norm1(x - target)), [cp.sum(x) == 1]))
        np.testing.assert_allclose(x.value, target, atol=1e-8)

    def test_a_parameter_that_moves_is_seen(self):
        x, bound = cp.Variable(name="x"), cp.Parameter(name="bound")
        problem = cp.Problem(cp.Minimize(x), [x >= bound])
        for value in (1.0, -2.0):
            bound.value = value
            assert solved(problem).value == pytest.approx(value, abs=1e-7)

    def test_problems_that_are_not_dpp_are_solved_without_a_warning(self):
        x, a = cp.Variable(name="x"), cp.Parameter(nonneg=True, value=2.0)
        assert solved(cp.Problem(cp.Minimize(a * a * cp.abs(x - 1) + x))).value == pytest.approx(1, abs=1e-7)


class TestProved:
    def test_a_value_between_its_bounds_and_nothing_is_assigned(self):
        x, problem = least_squares()
        x.value = -5.0
        proof = proved(problem, 1e-6)
        assert proof.status == "optimal"
        assert proof.lower <= 4 + 1e-9
        assert proof.upper >= 4 - 1e-9
        assert proof.upper - proof.lower < 1e-6
        assert x.value == -5.0
        assert proof.tol == 1e-6

    def test_a_problem_may_be_asked_about_again(self):
        x, bound = cp.Variable(name="x"), cp.Parameter(name="bound")
        own = cp.Problem(cp.Minimize(x), [x >= bound])
        for value in (1.0, 3.0):
            bound.value = value
            proof = proved_again(own, 1e-6)
            assert proof.lower == pytest.approx(value, abs=1e-6)
            assert x.value is None

    @pytest.mark.parametrize(
        ("constraints", "status"), [([1, 0], "infeasible"), ([0, np.inf], "unbounded"), ([0, 2], "optimal")]
    )
    def test_what_has_no_solution_is_told(self, constraints, status):
        x = cp.Variable(name="x")
        low, high = constraints
        inside = [x >= low] + ([x <= high] if np.isfinite(high) else [])
        assert proved(cp.Problem(cp.Maximize(x), inside), 1e-6).status == status

    def test_a_solver_that_fails_proves_nothing(self, monkeypatch):
        def fail(self, *args, **options):
            raise cp.SolverError("out of iterations")

        x, problem = least_squares()
        x.value = 0.5
        monkeypatch.setattr(cp.Problem, "solve", fail)
        proof = proved(problem, 1e-3)
        assert (proof.status, proof.lower, proof.upper, proof.tol) == ("undecided", -np.inf, np.inf, 1e-3)
        assert proof.words == "The solver found no point: out of iterations"
        assert x.value == 0.5

    @pytest.mark.parametrize("status", ["infeasible_inaccurate", "unbounded_inaccurate", "infeasible_or_unbounded"])
    def test_an_unsure_claim_of_a_solver_is_no_proof(self, monkeypatch, status):
        def unsure(self, *args, **options):
            self._status = status

        monkeypatch.setattr(cp.Problem, "solve", unsure)
        proof = proved(least_squares()[1], 1e-6)
        assert proof.status == "undecided"
        assert proof.words == f"The solver says {status}, which is not proved."

    def test_a_claim_that_cannot_be_judged_is_refused(self, monkeypatch):
        monkeypatch.setattr(cp.Problem, "solve", lambda self, *args, **options: None)
        with pytest.raises(InputError):
            proved(least_squares()[1], 1e-6)

    def test_tight_tolerances_are_asked_for_first_and_the_usual_ones_then(self, monkeypatch):
        asked = []

        def refuse(self, *args, **options):
            asked.append(options.get("tol_gap_abs"))
            if len(asked) == 1:
                raise cp.SolverError("too tight")

        monkeypatch.setattr(cp.Problem, "solve", refuse)
        solved(least_squares()[1])
        assert asked == [1e-10, None]


KNOWN = {"w": cp.Variable(3, name="w"), "c": cp.Variable(name="c"), "row": cp.Variable((1, 2), name="row")}


class TestByName:
    def test_variables_and_names_find_arrays_of_the_right_shape(self):
        found = by_name({KNOWN["w"]: [1, 2, 3], "c": 4, "row": [5, 6]}, KNOWN, "x")
        assert found["w"].tolist() == [1, 2, 3]
        assert (found["c"].shape, float(found["c"])) == ((), 4.0)
        assert found["row"].tolist() == [[5, 6]]
        assert by_name({"w": np.ones((3, 1))}, KNOWN, "x")["w"].shape == (3,)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ([1, 2], r"x must be a dict by variables or names, got \[1, 2\]"),
            ({"v": 1}, "x must be of w, c, row, got v"),
            ({"w": [1, 2]}, r"x must have finite numbers of shape \(3,\) for w, got \[1, 2\]"),
            ({"w": [1, 2, np.nan]}, "x must have finite numbers"),
            ({"c": np.inf}, r"x must have finite numbers of shape \(\) for c, got inf"),
            ({"row": [[1], [2], [3]]}, "for row"),
        ],
    )
    def test_what_is_none_of_them_is_refused(self, given, words):
        with pytest.raises(InputError, match=words):
            by_name(given, KNOWN, "x")
