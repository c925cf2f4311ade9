"""Parallel rows that are joined: alone, the way back is optimal for what was before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.rules.parallel import JoinRows
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def random_stage(seed):
    """Few directions, each in several rows of both signs, and rows without entries."""
    rng = np.random.default_rng(seed)
    n, m = 3, 10
    directions = rng.integers(-2, 3, (3, n))
    A = directions[rng.integers(0, 3, m)] * rng.choice([-3.0, -1.0, 0.0, 1.0, 2.0], m)[:, None]
    inside = rng.integers(-1, 2, (2, n))
    b = inside @ A.T + rng.integers(0, 3, (2, m))
    factor = rng.integers(-2, 3, (n, n))
    return stage_of(factor @ factor.T + np.eye(n), A, rng.integers(-9, 9, (2, n)), b)


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(JoinRows, stage, t)
    assert point is not None
    assert violation(stage, point) < 1e-5


def test_the_first_row_of_the_other_sign_is_the_lower_bound():
    A = [[1, 1], [2, 2], [-1, -1], [-2, -2], [1, 2], [0, 0], [-1, -1.0001]]
    stage = stage_of(np.eye(2), A, [0, 0], [3, 4, 1, 8, 1, 0, 1])
    after, done = JoinRows.apply(stage)
    assert str(done) == "1 row joined, 1 empty row dropped"
    assert (done.rows.tolist(), done.first.tolist(), done.factors.tolist()) == ([2], [0], [-1.0])
    assert after.rows.tolist() == [True, True, False, True, True, False, True]
    assert (after.of_rows.lower[0, 0], after.of_rows.upper[0, 0]) == (-1.0, 3.0)
    rows, units = done.of_both_sides(0)
    assert (rows.tolist(), units.tolist()) == ([0, 2], [1.0, 1.0])


@pytest.mark.parametrize(("off", "joined"), [(2e-14, True), (4e-13, False)])
def test_rows_are_parallel_up_to_rounding(off, joined):
    stage = stage_of(np.eye(2), [[1, 1], [-1, -1 - off]], [0, 0], [1, 1])
    assert (JoinRows.apply(stage)[0] is not stage) == joined


def test_a_row_has_the_name_of_the_other_where_it_has_none():
    stage = stage_of(np.eye(2), [[1, 1], [-1, -1], [1, 2], [-1, -2]], [0, 0], [3, 4, 1, 8])
    stage.titled[:] = -1, 1, 2, 3
    assert JoinRows.apply(stage)[0].titled.tolist() == [1, 1, 2, 3]


def test_a_small_case_exactly():
    """min |x - (3, 3)|^2 / 2 with x_0 + x_1 <= 4 and -2 x_0 - 2 x_1 <= -1: the first is met, at a price of 1."""
    stage = stage_of(np.eye(2), [[1, 1], [-2, -2]], [-3, -3], [4, -1])
    done = JoinRows.apply(stage)[1]
    point = taken_back(JoinRows, stage, 0.0)
    for z, wanted in ((1.0, [1.0, 0.0]), (-1.0, [0.0, 0.5])):
        point.z[:, 0] = z, 0.0
        done.invert(point)
        assert point.z.ravel().tolist() == wanted
    point.x[:], point.z[:, 0] = 2.0, (1.0, 0.0)
    assert violation(stage, point, exactly=True) == 0
    point.z[:, 0] = 0.0, 0.5
    assert violation(stage, point, exactly=True) > 0


def test_what_cannot_hold_at_the_start_is_refused():
    with pytest.raises(
        InputError, match=r"bounds of .* cross: at least 1 and at most 0 .auxiliary row 0 and auxiliary row 1"
    ):
        JoinRows.apply(stage_of(np.eye(2), [[1, 1], [-1, -1]], [0, 0], [[0, -1], [2, -1]]))
    with pytest.raises(InputError, match=r"auxiliary row 0 cannot hold: it says 0 <= -1"):
        JoinRows.apply(stage_of(np.eye(2), [[0, 0], [1, -1]], [0, 0], [[-1, 1], [2, 1]]))


def test_rows_that_hold_at_first_only_stay():
    stage = stage_of(np.eye(2), [[0, 0]], [0, 0], [[1], [-1]])
    assert JoinRows.apply(stage)[0] is stage


def test_directions():
    for seed in range(10):
        recedes(JoinRows, random_stage(seed))
