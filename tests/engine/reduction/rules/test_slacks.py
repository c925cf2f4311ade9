"""Slacks that become prices of equations: alone, the way back is optimal for what was before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.engine.reduction.rules.slacks import DropSlacks
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def random_stage(seed):
    """Equations with slacks of one side, of both, of two on one side, and with other columns that look like slacks."""
    rng = np.random.default_rng(seed)
    n, slacks, equations = 3, 6, 4
    A = np.zeros((equations + 1, n + slacks))
    A[:, :n] = rng.integers(-2, 3, (equations + 1, n))
    A[0, n], A[1, n + 1], A[1, n + 2] = rng.choice([-2.0, 1.0]), 1, -2
    A[2, n + 3], A[2, n + 4], A[3, n + 5] = 1, 2, rng.choice([-1.0, 1.0])
    if seed % 3 == 0:
        A[4, n + 5] = 1.0  # in an inequality, too
    inside = rng.integers(0, 3, (2, n + slacks))
    b = inside @ A.T
    b[:, -1] += 1
    P = np.zeros((n + slacks, n + slacks))
    P[:n, :n] = np.eye(n)
    q = rng.integers(-3, 4, (2, n + slacks)).astype(float)
    q[:, n:] = rng.integers(0, 4, (2, slacks))
    lower = np.full((2, n + slacks), -np.inf)
    lower[:, n:] = inside[:, n:] - rng.integers(0, 2, slacks)
    return stage_of(P, A, q, b, equations, lower=lower)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(DropSlacks, stage, t)
    assert point is not None
    assert violation(stage, point) < 1e-5


def test_one_slack_a_side_goes_and_no_equation_is_left_without_columns():
    stage = random_stage(1)
    after, done = DropSlacks.apply(stage)
    assert (str(done), done.columns.tolist(), done.rows.tolist()) == (
        "5 slacks made prices",
        [3, 4, 5, 6, 8],
        [0, 1, 1, 2, 3],
    )
    assert after.equation.tolist() == [False] * 5
    assert after.columns.tolist() == [True] * 3 + [False] * 4 + [True, False]
    alone = stage_of(np.zeros((2, 2)), [[1, -1]], [1, 2], [0], 1, lower=np.zeros((2, 2)))
    assert DropSlacks.apply(alone)[0] is alone


@pytest.mark.parametrize(
    "change",
    [{"q": np.array([[0.0, 1.0], [0.0, -1.0]])}, {"flat": np.array([True, False])}, {"equation": np.array([False])}],
)
def test_what_earns_or_is_squared_stays(change):
    stage = stage_of(np.zeros((2, 2)), [[1, 1]], [0, 1], [1], 1, lower=[[-np.inf, 0], [-np.inf, 0]])
    assert DropSlacks.accepts(stage)
    assert DropSlacks.apply(stage)[0] is not stage
    changed = replace(stage, **change)
    assert not DropSlacks.accepts(changed) or DropSlacks.apply(changed)[0] is changed


def test_a_small_case_exactly():
    """min (x - 3)^2 / 2 + 2 s with x - 2 s = 1 and s >= 1/2: x = 2, s = 1/2."""
    stage = stage_of(np.diag([1.0, 0.0]), [[1, -2]], [-3, 2], [1], 1, lower=[[-np.inf, 0.5]] * 2)
    after, done = DropSlacks.apply(stage)
    assert (after.of_rows.lower[0].tolist(), after.of_rows.above[0].tolist()) == ([2.0], [1.0])
    assert np.isinf(after.of_rows.below).all()
    for x, z, s in ((2.0, 1.0, 0.5),):
        point = taken_back(DropSlacks, stage, 0.0)
        point.x[:, 0], point.z[:] = (x, 0.0), z
        done.invert(point)
        assert point.x[1, 0] == s
        assert violation(stage, point, exactly=True) == 0


def test_directions():
    for seed in range(10):
        recedes(DropSlacks, random_stage(seed))
