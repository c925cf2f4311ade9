"""The program on a rectangle of two parameters: its optimal values are those of the problem with the parameters set."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.sources.problem_plane import plane_source

G = np.array([1.0, -2.0, 0.5])
TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def problem():
    """Nearest point to a target that moves, of a mass that moves; a third parameter is fixed."""
    x = cp.Variable(3, name="x")
    a, b, c = cp.Parameter(name="a"), cp.Parameter(name="b"), cp.Parameter(name="c", value=0.5)
    constraints = [(cp.sum(x) == b).set_label("mass"), x >= -2]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + (a * G) @ x + c * x[0]), constraints), a, b, c


def corners(source):
    """q and b at the three corners."""
    plane = source.plane
    return [np.asarray(each) for each in (plane.q, plane.b, plane.constant)]


def test_data_are_those_of_the_corners_and_linear_between():
    made, a, b, c = problem()
    source = plane_source(made, {a: (1, 3), b: (-1.0, 2), c: 0.25})
    assert list(source.ranges) == ["a", "b"]
    assert source.ranges["b"] == (-1.0, 2)
    assert source.sign == 1
    assert source.seconds > 0
    q, sides, _ = corners(source)
    # Starting at the first corner; q moves with a only and b with b only.
    moved_by_a, moved_by_b = q[1] - q[0], sides[2] - sides[0]
    assert np.abs(q[2] - q[0]).max() == 0
    assert np.abs(sides[1] - sides[0]).max() == 0
    assert sorted(np.round(moved_by_a[moved_by_a != 0], 12)) == sorted(2 * G)
    assert np.abs(moved_by_b[moved_by_b != 0]).tolist() == [3]
    first = np.sort(q[0][np.abs(q[0]) > 0])
    assert first == pytest.approx(np.sort(G + np.array([0.25, 0, 0])))


def test_the_first_side_is_where_the_first_parameter_moves():
    made, a, b, _ = problem()
    for ranges in ({a: (1, 3), b: (-1, 2)}, {b: (-1, 2), a: (1, 3)}):
        source = plane_source(made, ranges)
        moves_q = not np.array_equal(*source.line.q)
        assert moves_q == (next(iter(ranges)) is a)


def test_texts_of_constraints_without_a_label():
    made, a, b, _ = problem()
    assert any("constraint 1" in text for text in plane_source(made, {a: (0, 1), b: (0, 1)}).texts)


def test_a_qp_by_names():
    qp = pc.QP(
        np.eye(2),
        [0.0, 1.0],
        np.eye(2),
        [0.0, 0.0],
        None,
        moves={"a": {"q": [1.0, 0.0]}, "b": {"l": [0.0, 1.0]}, "c": {"q": [0.0, 1.0]}},
    )
    source = plane_source(qp, {"a": (0, 2), "c": 5, "b": (1, 4)})
    q, sides, _ = corners(source)
    assert np.asarray(q).tolist() == [[0, 6], [2, 6], [0, 6]]
    assert np.abs(sides[:, 1]).tolist() == [1, 1, 4]
    assert list(source.ranges) == ["a", "b"]


def refused(made, ranges, message):
    with pytest.raises(pc.InputError, match=message):
        plane_source(made, ranges)


def test_ranges_that_are_none_are_refused():
    made, a, b, c = problem()
    pair = (0, 1)
    refused(made, [1, 2], "ranges must map two parameters")
    refused(made, {}, "ranges must map two parameters")
    refused(made, {a: pair, b: (1, 1)}, r"ranges\[b\] must be a pair \(lo, hi\) with lo < hi")
    refused(made, {a: pair, b: (2, 1)}, "lo < hi")
    refused(made, {a: pair, b: (1, 2, 3)}, "or a number where it stays")
    refused(made, {a: pair, b: np.array([1, 2])}, "or a number where it stays")
    refused(made, {a: pair, b: (0, np.inf)}, r"ranges\[b\] must be finite")
    refused(made, {a: pair, b: (0, 1), c: np.nan}, r"ranges\[c\] must be finite")
    refused(made, {a: pair, b: 1}, r"got 1 that move \(a\): trace takes one")
    refused(made, {a: 0.5, b: 1}, r"got 0 that move \(none\): trace takes one")
    refused(made, {a: pair, b: pair, c: pair}, r"got 3 that move \(a, b, c\): fix the others")
    refused(made, {a: pair, b: [0, 1]} | {c: "x"}, "ranges")
    refused(pc.TwoCSVM, {a: pair, b: pair}, "problem must be a formulation")
    refused(3, {a: pair, b: pair}, "problem must be a formulation, a cvxpy.Problem or a QP")


def test_parameters_without_a_value_that_move_nothing_or_have_one_name_are_refused():
    x, a, b, c = cp.Variable(2), cp.Parameter(name="a"), cp.Parameter(name="b"), cp.Parameter(name="c")
    base = cp.sum_squares(x) + a * x[0]
    refused(cp.Problem(cp.Minimize(base), [x >= b, x <= c]), {a: (0, 1), b: (0, 1)}, "parameter c must be in ranges")
    refused(cp.Problem(cp.Minimize(base + 0 * b * x[1])), {a: (0, 1), b: (0, 1)}, "b moves nothing")
    refused(cp.Problem(cp.Minimize(base + 0 * b * x[1])), {b: (0, 1), a: (0, 1)}, "b moves nothing")
    same = cp.Parameter(name="a")
    refused(cp.Problem(cp.Minimize(base), [x >= same]), {a: (0, 1), same: (0, 1)}, "different names, got a twice")


def test_what_is_no_quadratic_program_of_fixed_matrices_is_refused():
    x, a, b = cp.Variable(2), cp.Parameter(name="a"), cp.Parameter(name="b")
    moved = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a * x[0] + x[1] >= b])
    refused(moved, {a: (0, 1), b: (1, 2)}, "There is no map of it: trace one parameter at a time")
    cone = cp.Problem(cp.Minimize(cp.norm2(x - 1) + a * x[0]), [x >= b])
    refused(cone, {a: (0, 0.5), b: (0, 1)}, "There is no map of it")


def test_parameters_that_are_arrays():
    x = cp.Variable(2, name="x")
    target, limit = cp.Parameter(2, name="target"), cp.Parameter(name="limit")
    made = cp.Problem(cp.Minimize(cp.sum_squares(x) - 2 * target @ x), [cp.sum(x) == limit])
    ends = np.array([1.0, 2.0]), np.array([0.0, 5.0])
    q, sides, _ = corners(plane_source(made, {target: ends, limit: (0, 1)}))
    assert np.unique(np.abs(q[1] - q[0])).tolist() in ([2, 6], [0, 2, 6])
    assert np.abs(sides[2] - sides[0]).max() == 1
    refused(made, {target: (ends[0], ends[0]), limit: (0, 1)}, "must have different ends")
    one = cp.Parameter(name="one")
    also = cp.Problem(cp.Minimize(cp.sum_squares(x) - 2 * target @ x + one * x[0]), [cp.sum(x) == limit])
    q, _, _ = corners(plane_source(also, {target: ends[1], one: (0, 1), limit: (0, 1)}))
    assert np.abs(q[0]).max() == 10
