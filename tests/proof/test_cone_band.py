"""Rays on lines whose coefficients stand still: claims that are false by construction prove nothing."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cone_band import judge_cone_ray
from paretoclf.proof.points.cones import Cone
from tests.oracles.array_lines import array_line

#: Minimise q x0 with q from 1 to -3 and what bounds x0, or does not.
FALLS = [[1.0, 0.0], [-3.0, 0.0]]
AHEAD = np.array([1.0, 0.0])
BOUNDED = {
    "by a row": array_line([[1.0, 0.0]], [5.0], FALLS),
    "by the quadratic term": array_line([[-1.0, 0.0]], [5.0], FALLS, P=np.eye(2)),
    "by an equation": array_line(
        [[1.0, 0.0], [-1.0, 0.0]], [5.0, 5.0], FALLS, cones=[Cone("zero", 1), Cone("nonnegative", 1)]
    ),
    "by a norm": array_line(
        [[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [2.0, 0.0, 0.0], FALLS, cones=[Cone("second-order", 3)]
    ),
}
FREE = {
    "by no row": array_line([[-1.0, 0.0]], [5.0], FALLS),
    "by no quadratic term": array_line([[-1.0, 0.0]], [5.0], FALLS, P=np.diag([0.0, 1.0])),
    "by no equation": array_line([[0.0, 1.0]], [5.0], FALLS, cones=[Cone("zero", 1)]),
    "by no norm": array_line(
        [[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]], [2.0, 0.0, 0.0], FALLS, cones=[Cone("second-order", 3)]
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_direction_that_ends_somewhere_proves_nothing(name):
    assert not judge_cone_ray(BOUNDED[name], "unbounded", AHEAD).passes()


@pytest.mark.parametrize("name", FREE)
def test_a_direction_without_an_end_proves_where_it_falls(name):
    proof = judge_cone_ray(FREE[name], "unbounded", AHEAD)
    assert proof.passes()
    assert 0.25 <= proof.since <= 0.25 + 1e-6
    assert not judge_cone_ray(FREE[name], "unbounded", -AHEAD).passes()


def test_a_direction_may_fall_all_along():
    """By more and more, by the same everywhere, and less and less: each proves it from the start."""
    for ends in ([-1.0, -3.0], [-1.0, -1.0], [-3.0, -1.0]):
        line = array_line([[-1.0, 0.0]], [5.0], [[each, 0.0] for each in ends])
        proof = judge_cone_ray(line, "unbounded", AHEAD)
        assert proof.passes()
        assert 0.0 <= proof.since <= 1e-6
        bounded = array_line([[1.0, 0.0]], [5.0], [[each, 0.0] for each in ends])
        assert not judge_cone_ray(bounded, "unbounded", AHEAD).passes()


def test_multipliers_that_miss_stationarity_cost_what_feasible_points_can():
    """2.5 t <= x <= 3, and x >= -1: (1, 0, 0) adds up to x >= 2.5, which is no contradiction for an x of 3."""
    rows = [[-1.0], [1.0], [-1.0]]
    feasible = array_line(rows, [[0.0, 3.0, 1.0], [-2.5, 3.0, 1.0]], [0.0])
    assert not judge_cone_ray(feasible, "infeasible", np.array([1.0, 0, 0])).passes()
    assert not judge_cone_ray(feasible, "infeasible", np.array([1.0, 1, 0])).passes()
    empty = array_line(rows, [[0.0, 3.0, 1.0], [-4.0, 3.0, 1.0]], [0.0])
    assert judge_cone_ray(empty, "infeasible", np.array([1.0, 1, 0])).since == pytest.approx(0.75, abs=1e-12)
    alone = judge_cone_ray(empty, "infeasible", np.array([1.0, 0, 0]))  # what it misses costs as much
    assert alone.since == pytest.approx(0.75, abs=1e-6)


def test_multipliers_are_stationary_where_nothing_bounds_a_column():
    """2x <= 1 and x <= 0: each x below 0 will do. Near (1, 1) there are numbers with A'z = 0: (-1/5, 2/5)."""
    line = array_line([[2.0], [1.0]], [1.0, 0.0], [0.0])
    for z in ([1.0, 1.0], [1.0, 0.5], [0.5, 1.0], [1.0, 0.0], [-0.2, 0.4]):
        assert not judge_cone_ray(line, "infeasible", np.array(z)).passes()


def test_multipliers_are_in_the_dual_cone():
    """x <= 1 and x >= -1: the rows' difference would be a contradiction."""
    line = array_line([[1.0], [-1.0]], [1.0, 1.0], [0.0])
    assert not judge_cone_ray(line, "infeasible", np.array([-1.0, -1.0])).passes()
    empty = array_line([[1.0], [-1.0]], [[1.0, 1.0], [-3.0, 1.0]], [0.0])
    assert judge_cone_ray(empty, "infeasible", np.array([1.0, 1.0])).since == pytest.approx(0.5, abs=1e-12)
    assert not judge_cone_ray(empty, "infeasible", np.array([-1.0, -1.0])).passes()


def test_a_chain_of_multipliers_is_no_direction():
    """t x >= 1 and -1 <= x <= 0: no point at any t. The rows that say so are none of an objective without bound."""
    line = array_line([[0.0], [1.0], [-1.0]], [-1.0, 0.0, 1.0], [0.0], A_stop=[[-1.0], [1.0], [-1.0]])
    rays = np.array([[0.0, 1, 0, 0], [1.0, 1, 1, 0]])
    assert judge_cone_ray(line, "infeasible", rays).passes()
    assert not judge_cone_ray(line, "unbounded", rays).passes()
