"""Columns that are set to their bound: alone, the way back is optimal for what was before."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.engine.reduction.rules.fixed import FixColumns
from paretoclf.engine.reduction.rules.stage import Kinks
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def random_stage(seed):
    """Columns of all kinds: fixed ones with products, some that relax rows for nothing, some that tighten one."""
    rng = np.random.default_rng(seed)
    n, m = 5, 4
    factor = rng.integers(-2, 3, (n - 2, n - 2))
    P = np.zeros((n, n))
    P[: n - 2, : n - 2] = factor @ factor.T + np.eye(n - 2)
    A = rng.integers(-2, 3, (m, n))
    inside = rng.integers(-1, 2, (2, n))
    b = inside @ A.T + rng.integers(0, 3, (2, m))
    lower, upper = inside - rng.integers(0, 2, n), inside + rng.integers(0, 2, n)
    lower[:, -1] = inside[:, -1] - 1  # with an upper bound, and perhaps without a lower one
    q = rng.integers(-2, 3, (2, n)).astype(float)
    return stage_of(P, A, q, b, lower=lower, upper=upper)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(FixColumns, stage, t)
    assert point is not None
    assert violation(stage, point) < 1e-6


def test_there_are_such_columns_of_each_kind():
    found = [FixColumns.apply(random_stage(seed))[1].columns for seed in range(60)]
    assert {len(each) for each in found} >= {0, 1, 2, 3}
    assert any(4 in each for each in found)
    assert any(0 in each for each in found)


def test_a_column_that_has_kinks_stays():
    stage = stage_of(np.eye(1), [[1], [0], [0]], [0], [9, 0, 0], lower=[[1], [2]], upper=[[1], [2]])
    weights = sp.csr_array(np.eye(3)[1:])
    slope, offset = np.array([-1.0, 1.0]), np.zeros((2, 2))
    kinks = Kinks(sp.csr_array([[1.0]]), np.ones((2, 1)), np.array([0, 2]), slope, offset, weights)
    assert FixColumns.apply(stage)[1].columns.tolist() == [0]
    assert FixColumns.apply(replace(stage, kinks=kinks))[1].columns.tolist() == []


def test_a_small_case_exactly():
    """x_0 = 1 + 2t beside x_1, of products and a row: all of its terms are in q and b."""
    stage = stage_of([[2, 1], [1, 2]], [[1, 1]], [0, -6], [[4], [5]], lower=[[1, -9], [3, -9]], upper=[[1, 9], [3, 9]])
    after, done = FixColumns.apply(stage)
    assert (str(done), done.values.ravel().tolist()) == ("1 column fixed", [1.0, 3.0])
    assert (after.q.tolist(), after.of_rows.upper.ravel().tolist()) == ([[0, -5], [0, -3]], [3.0, 2.0])
    assert (after.P.toarray().tolist(), after.A.toarray().tolist()) == ([[0, 0], [0, 2]], [[0, 1]])
    assert after.columns.tolist() == [False, True]
    point = taken_back(FixColumns, stage, 0.5)
    point.x[1], point.z[:] = 2.0, 0.0
    assert point.x.ravel().tolist() == [2.0, 2.0]
    assert violation(stage, point, exactly=True) == 0
    point.x[1] = 2.125
    assert violation(stage, point, exactly=True) > 0


@pytest.mark.parametrize(
    "made",
    [
        {"q": np.array([[1.0, 0.0], [0.0, 0.0]])},
        {"equation": np.array([True])},
        {"columns": np.array([False, True])},
    ],
)
def test_what_costs_or_stands_in_an_equation_stays(made):
    stage = stage_of(np.diag([0.0, 1.0]), [[-1, 1]], [0, 0], [1], lower=[[-1, -1]], upper=[[2, 2]])
    assert FixColumns.apply(stage)[1].columns.tolist() == [0]
    assert FixColumns.apply(replace(stage, **made))[1].columns.tolist() == []
    assert not FixColumns.accepts(stage_of(np.eye(1), [[1]], [0], [1]))


def test_directions():
    for seed in range(10):
        recedes(FixColumns, random_stage(seed))
