"""Columns that are substituted: alone, the way back is optimal for what was before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.engine.reduction.rules.substitution import SubstituteColumns
from tests.oracles.stages import optimum, recedes, stage_of, taken_back, violation, whole


def random_stage(seed):
    """Equations with a free column of their own, with and without squares, some in the equation of the next."""
    rng = np.random.default_rng(seed)
    n, equations = 8, 4
    A = np.zeros((equations + 1, n))
    A[:, :4] = rng.integers(-2, 3, (equations + 1, 4))
    A[range(4), range(4, 8)] = rng.choice([-2, 1, 4], 4)
    if rng.random() < 0.6:
        A[0, 5] = 1.0  # so that the first column goes before the second may
    if rng.random() < 0.3:
        A[4, 6] = 1.0
    inside = rng.integers(-1, 2, (2, n))
    b = inside @ A.T
    b[:, -1] += rng.integers(0, 2)
    factor = rng.integers(-1, 2, (n, n)) * (rng.random((n, 1)) < 0.5)
    P = 1.0 * factor @ factor.T
    P[:4, :4] += np.eye(4)
    P[7] = P[:, 7] = 0.0
    lower = np.full((2, n), -np.inf)
    lower[:, 1] = inside[:, 1] - 1
    q = rng.integers(-3, 4, (2, n)).astype(float)
    q[:, 4:] = 0.0
    return stage_of(P, A, q, b, equations, lower=lower)


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(SubstituteColumns, stage, t)
    assert (point is None) == (optimum(stage, t) is None)
    assert point is None or violation(stage, point) < 1e-5


def test_random_stages_take_one_round_and_more():
    rounds = [len(SubstituteColumns.apply(random_stage(seed))[1].rounds) for seed in range(60)]
    assert set(rounds) >= {1, 2}


def test_a_small_case_exactly():
    """min r^2 / 2 + (w - 1)^2 / 2 with 2 r - w = 2 + 2 t: at t = 1 the residual costs (w + 4)^2 / 8."""
    stage = stage_of(np.eye(2), [[2, -1]], [0, -1], [[2], [4]], 1)
    after, done = SubstituteColumns.apply(stage)
    assert str(done) == "1 column substituted"
    assert after.columns.tolist() == [False, True]
    assert (whole(after)[1, 1], after.q[:, 1].tolist()) == (1.25, [-0.5, 0.0])
    point = taken_back(SubstituteColumns, stage, 1.0)
    point.x[:, 0], point.z[:] = (0.0, 0.0), 0.0
    done.invert(point)
    assert (point.x.ravel().tolist(), point.z.tolist()) == ([2.0, 0.0], [[-1.0]])
    assert violation(stage, point, exactly=True) == 0
    point.z[:] = -1.25
    assert violation(stage, point, exactly=True) > 0


@pytest.mark.parametrize(
    ("A", "bounds", "gone"),
    [
        ([[1, 1], [0, 0]], {}, [0]),
        ([[1, 1], [1, 2]], {}, []),
        ([[1, 1], [0, 0]], {"lower": [[-9, -9]] * 2}, []),
        ([[1e-4, 1], [0, 1]], {}, []),
        ([[0, 1], [1, 0]], {}, [1]),
    ],
)
def test_free_columns_of_one_equation_go(A, bounds, gone):
    """A column goes that is free, in no other row, and no tiny part of its equation."""
    stage = stage_of(np.zeros((2, 2)), A, [0, 0], [1, 5], 1, **bounds)
    rounds = SubstituteColumns.apply(stage)[1].rounds
    assert [column for each in rounds for column in each.columns.tolist()] == gone


def test_squares_stay_where_they_may_not_be_made():
    stage = stage_of(np.eye(2), [[2, -1]], [0, -1], [2], 1)
    assert SubstituteColumns.apply(stage, squares=False)[0] is stage


def test_long_chains_that_fill_p_stay():
    n = 24
    A = np.zeros((n - 1, 2 * n))
    for row in range(n - 1):
        A[row, row : row + 2] = 1, 1
        A[row, n + row] = 1.0
    P = np.diag(np.repeat([0.0, 1.0], n))
    stage = stage_of(P, A, np.zeros(2 * n), np.zeros(n - 1), n - 1, lower=[np.repeat([-np.inf, -9], n)] * 2)
    rounds = len(SubstituteColumns.apply(stage)[1].rounds)
    assert rounds > 8
    assert SubstituteColumns.apply(stage, most=5)[0] is stage


def test_directions():
    for seed in range(10):
        recedes(SubstituteColumns, random_stage(seed))
