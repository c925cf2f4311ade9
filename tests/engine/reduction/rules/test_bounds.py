"""Rows that become bounds: alone, the way back is optimal for what was before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.rules.bounds import RowsToBounds
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def random_stage(seed):
    """Rows of one entry, several on a side, some of them equations, and rows of more; there is a point at every t."""
    rng = np.random.default_rng(seed)
    n, m = 4, 9
    equations = int(rng.integers(0, 3))
    A = np.zeros((m, n))
    for row in A[:-1]:
        row[rng.integers(n)] = rng.choice([-2, -1, 1, 2])
    A[-1] = rng.integers(-2, 3, n)
    inside = rng.integers(-1, 2, (2, n))
    room = rng.integers(0, 3, (2, m))
    room[:, :equations] = 0
    factor = rng.integers(-2, 3, (n, n))
    q = rng.integers(-9, 9, (2, n))
    return stage_of(factor @ factor.T + np.eye(n), A, q, inside @ A.T + room, equations)


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(RowsToBounds, stage, t)
    assert point is not None
    assert violation(stage, point) < 1e-5


def test_each_side_has_the_tightest_row():
    """Two upper bounds that cross: the one that is tighter at the start; a third one is looser all along."""
    stage = stage_of(np.eye(1), [[1], [2], [1], [-1]], [0], [[3, 4, 5, 1], [3, 8, 5, 1]])
    after, done = RowsToBounds.apply(stage)
    assert (str(done), done.rows.tolist(), done.columns.tolist()) == ("3 rows made bounds", [1, 3], [0, 0])
    assert (after.of_columns.upper.ravel().tolist(), after.of_columns.lower.ravel().tolist()) == ([2, 4], [-1, -1])
    assert after.rows.tolist() == [True, False, False, False]


def test_an_equation_fixes_a_column_and_rows_that_are_tighter_stay():
    stage = stage_of(np.eye(1), [[2], [1], [1], [-1]], [0], [[2, 1, 1, 0], [4, 2, 1, 0]], equations=2)
    after, done = RowsToBounds.apply(stage)
    assert done.rows.tolist() == [0]
    assert after.rows.tolist() == [
        False,
        True,
        True,
        False,
    ]  # of two equations the second; x <= 1 is tighter at the end
    assert after.of_columns.lower.tolist() == after.of_columns.upper.tolist() == [[1.0], [2.0]]


def test_of_lower_bounds_the_largest_at_the_start_is_the_tightest():
    after, done = RowsToBounds.apply(stage_of(np.eye(1), [[-1], [-2], [-1]], [0], [[1, -2, 0], [1, -2, -3]]))
    assert done.rows.tolist() == [1]
    assert after.of_columns.lower.tolist() == [[1.0], [1.0]]
    assert after.rows.tolist() == [False, False, True]


def test_a_small_case_exactly():
    """min (x_0 - 2)^2 + (x_1 + 2)^2 with 2 x_0 <= 1 + t and -x_1 <= 1: at t = 1 both are met."""
    stage = stage_of(2 * np.eye(2), [[2, 0], [0, -1]], [-4, 4], [[1, 1], [2, 1]])
    point = taken_back(RowsToBounds, stage, 1.0)
    point.x[:, 0] = 1.0, -1.0
    point.z[:] = 0.0
    RowsToBounds.apply(stage)[1].invert(point)
    assert point.z.ravel().tolist() == [1.0, 2.0]
    assert violation(stage, point, exactly=True) == 0
    point.z[0] = 1.0 + 2.0**-20
    assert violation(stage, point, exactly=True) > 0


def test_a_bound_that_an_engine_gives_no_multiplier_has_none():
    stage = stage_of(np.eye(1), [[1]], [-3], [2])
    point = taken_back(RowsToBounds, stage, 0.0)
    point.z[:], point.u[:] = 0.0, 0.0
    RowsToBounds.apply(stage)[1].invert(point)
    assert point.z.tolist() == [[0.0]]


@pytest.mark.parametrize(("b", "message"), [([[0, -1], [2, -1]], "at the start"), ([[0, -1], [0, -1]], "has none")])
def test_bounds_that_cross_at_the_start_are_refused(b, message):
    stage = stage_of(np.eye(1), [[1], [-1]], [0], b)
    with pytest.raises(InputError, match=f"{message}.*at least 1 and at most 0 .auxiliary row 0 and auxiliary row 1"):
        RowsToBounds.apply(stage)


def test_bounds_that_cross_by_rounding_are_equal():
    after, _ = RowsToBounds.apply(stage_of(np.eye(1), [[1], [-1]], [0], [0.3, -(0.1 + 0.2)]))
    assert after.of_columns.lower.tolist() == after.of_columns.upper.tolist() == [[0.1 + 0.2]] * 2


def test_both_sides_of_a_column_contradict_each_other():
    _, done = RowsToBounds.apply(stage_of(np.eye(2), [[4, 0], [0, 1], [-2, 0]], [0, 0], [1, 1, 1]))
    rows, units = done.of_both_sides(0)
    assert (rows.tolist(), units.tolist()) == ([0, 2], [0.25, 0.5])


class TestCancelled:
    """Multipliers that are rounding of what they are made of."""

    @pytest.mark.parametrize(
        ("sizes", "slope", "kept"),
        [(1.0, 1e6, False), (1e6, 0.0, False), (0.0, 1e6, True), (1.0, 0.0, True), (1.0, 1e2, True)],
    )
    def test_rounding_of_terms_is_cleared(self, sizes, slope, kept):
        stage = stage_of(np.eye(2), [[-1, -1], [-1, 0], [0, -1]], [0, 0], [[-1, 0, 0], [-2, 0, 0]])
        _, done = RowsToBounds.apply(stage)
        found, rows = np.array([[5e-13], [1.0]]), np.zeros((3, 1))
        rows[0] = sizes
        done._clear_cancelled(found, rows, np.full((2, 1), slope))
        assert found[:, 0].tolist() == [5e-13 if kept else 0.0, 1.0]


def test_directions():
    for seed in range(10):
        recedes(RowsToBounds, random_stage(seed))
