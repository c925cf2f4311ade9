"""A QP of raw arrays along a line: optimal values of CVXPY and of closed forms, violations, what is refused."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.sources.array_line import LineOfArrays, holding, problem_of

P = np.array([[2.0, 0.5], [0.5, 1.0]])
Q = np.array([1.0, -2.0])
A = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 1.0], [1.0, 0.0]])
LOW, HIGH = np.array([1.0, -0.5, -np.inf, -3.0]), np.array([1.0, np.inf, 0.9, 3.0])
MOVES = {"a": {"q": [0.5, 1.0]}, "b": {"l": [1.0, 0.0, 0.0, 0.0], "u": [1.0, 0.0, 0.0, 0.0]}}


def qp(**more):
    return pc.QP(P, Q, A, LOW, HIGH, moves=MOVES, **more)


def independent(a, b, sign=1):
    """The optimal value by CVXPY, from the arrays as they are written."""
    x = cp.Variable(2)
    q = Q + a * np.array([0.5, 1.0])
    rows = [A[0] @ x == 1 + b, A[1] @ x >= -0.5, A[2] @ x <= 0.9, cp.abs(A[3] @ x) <= 3]
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, P) / 2 + sign * q @ x), rows)
    return sign * problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11), x.value


@pytest.mark.parametrize("t", [0.0, 0.25, 1.0])
def test_the_value_along_the_line_is_that_of_the_arrays(t):
    line = LineOfArrays(qp(), {"a": 0, "b": 0.5}, {"a": 4, "b": -0.5})
    value, x = independent(4 * t, 0.5 - t)
    assert line.solve(t) == pytest.approx(value, abs=1e-7)
    found, violation = line.tried(t, {"x": x})
    assert found == pytest.approx(value, abs=1e-7)
    assert violation == pytest.approx(0, abs=1e-8)
    assert line.line.q[0] == pytest.approx(Q)
    assert {name: value.tolist() for name, value in line.ends[1].items()} == {"a": 4, "b": -0.5}
    assert 0 <= line.seconds < 60


def test_constants_and_maximisation():
    flipped = pc.QP(-P, Q, A, LOW, HIGH, moves=MOVES, maximise=True, constant=7.0)
    value, x = independent(1, 0, sign=-1)
    line = LineOfArrays(flipped, {"a": 0}, {"a": 1})
    assert line.solve(1.0) == pytest.approx(value + 7, abs=1e-7)
    assert line.tried(1.0, {"x": x})[0] == pytest.approx(value + 7, abs=1e-7)


def test_violations_are_relative_to_the_terms_of_their_row():
    line = LineOfArrays(qp(), {"a": 0, "b": 0}, {"a": 1, "b": 1})
    at = np.array([2.0, -3.0])  # rows: -1, 5, -3, 2
    assert line.tried(0.0, {"x": at})[1] == pytest.approx(2 / (1 + 5))
    assert line.tried(1.0, {"x": at})[1] == pytest.approx(3 / (1 + 5))
    above = np.array([-1.0, 2.0])  # rows: 1, -3, 2, -1
    assert line.tried(0.0, {"x": above})[1] == pytest.approx(max(2.5 / 4, 1.1 / 3))
    assert line.tried(0.5, {"x": above})[0] == pytest.approx(
        0.5 * above @ P @ above + (Q + np.array([0.25, 0.5])) @ above, abs=1e-13
    )


def test_an_infeasible_or_unbounded_point_has_no_value():
    line = LineOfArrays(
        pc.QP(P, Q, [[1.0, 0.0], [1.0, 0.0]], [0.0, -np.inf], [np.inf, 1.0], moves={"m": {"l": [1, 0]}}),
        {"m": 0},
        {"m": 4},
    )
    assert np.isfinite(line.solve(0.0))
    assert np.isnan(line.solve(1.0))


def test_the_problem_has_a_constraint_for_each_block():
    problem = problem_of(qp(), {"a": 0.0, "b": 0.0})
    assert [c.label for c in problem.constraints] == ["equations", "upper bounds of rows", "lower bounds of rows"]
    assert [c.size for c in problem.constraints] == [1, 2, 2]
    linear = pc.QP(None, Q, A, LOW, HIGH)
    assert problem_of(linear, {}).objective.is_dcp()
    assert problem_of(linear, {}).objective.expr.is_affine()


def test_a_held_point_is_written_as_by_a_solver():
    x, y = np.array([0.3, 0.7]), np.array([-1.5, -0.2, 0.4, 0.6])
    held = holding(qp(constant=2.0), x, y)
    assert held.variables()[0].value.tolist() == x.tolist()
    assert held.value == pytest.approx(0.5 * x @ P @ x + Q @ x + 2)
    assert [np.ravel(c.dual_value).tolist() for c in held.constraints] == [[-1.5], [0.4, 0.6], [0.2, 0.0]]
    assert held.status == "optimal"
    without = holding(qp(), x, None)
    assert all(c.dual_value is None for c in without.constraints)


def test_values_by_name():
    named = qp(names=(("u", "v"), ("r0", "r1", "r2", "r3")))
    line = LineOfArrays(named, {"a": 0}, {"a": 1})
    assert line.tried(0.0, {"u": 0.2, "v": 0.8}) == LineOfArrays(qp(), {"a": 0}, {"a": 1}).tried(
        0.0, {"x": np.array([0.2, 0.8])}
    )


def test_the_point_at_0_is_a_line_on_which_nothing_moves():
    here = LineOfArrays.here(qp())
    assert here.solve(0.0) == here.solve(1.0) == pytest.approx(independent(0, 0)[0], abs=1e-7)
    assert here.ends == ({}, {})
    assert here.seconds == 0
    still = LineOfArrays(qp(), {"a": 2}, {"a": 2}, True)
    assert still.solve(0.5) == pytest.approx(independent(2, 0)[0], abs=1e-7)


@pytest.mark.parametrize(
    ("start", "stop", "message"),
    [
        ({"a": 1}, {"a": 1}, "nothing moves"),
        ({"a": 1}, {"b": 1}, "same parameters"),
        ({}, {"a": 1}, "start must map parameters of the QP to numbers"),
        ({"a": 0}, [1], "stop must map"),
        ({"a": 0, "c": 1}, {"a": 1, "c": 1}, "got 'c'; it has a, b"),
        ({"a": 0}, {"a": np.inf}, r"stop\['a'\] must be finite"),
        ({"a": "0"}, {"a": 1}, r"start\['a'\]"),
    ],
)
def test_what_is_no_line_is_refused(start, stop, message):
    with pytest.raises(pc.InputError, match=message):
        LineOfArrays(qp(), start, stop)


def test_arrays_hold_no_values_and_are_no_classifier():
    line = LineOfArrays(qp(), {"a": 0}, {"a": 1})
    with pytest.raises(pc.InputError, match="assign"):
        line.assign(None)
    with pytest.raises(pc.InputError, match="classifier"):
        line.rule(0.0, {})
