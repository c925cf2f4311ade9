"""Costs with kinks that become soft bounds: alone, the way back is optimal for what was before."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.engine.reduction.rules.kinks import KinksToBounds, soft_bounds
from paretoclf.engine.reduction.rules.stage import Kinks, ends_of
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def with_kinks(stage, directions, cost, pieces):
    """A stage with costs of these directions: slopes and offsets at both ends of each piece; a row a piece is gone."""
    m, sizes = stage.rows.size, [len(each) for each in pieces]
    slope = np.array([piece[0] for each in pieces for piece in each], dtype=float)
    offset = np.array([piece[1:] for each in pieces for piece in each], dtype=float).T
    gone = np.flatnonzero(~stage.rows)
    weights = sp.csr_array((np.ones(slope.size), (np.arange(slope.size), gone[: slope.size])), shape=(slope.size, m))
    d = sp.csr_array(np.asarray(directions, dtype=float))
    kinks = Kinks(d, np.asarray(cost, dtype=float), ends_of(sizes), slope, offset, weights)
    return replace(stage, kinks=kinks)


def plain(n, gone, q=None, **bounds):
    """A stage of n columns whose distance from the origin costs, with a row and more that are gone."""
    A = np.zeros((1 + gone, n))
    A[0] = 1.0
    stage = stage_of(np.eye(n), A, np.zeros(n) if q is None else q, [50.0, *np.zeros(gone)], **bounds)
    return replace(stage, rows=np.arange(1 + gone) < 1)


def random_stage(seed):
    """Costs of one column and of several, some of one direction, of one to four pieces, beside bounds of all kinds."""
    rng = np.random.default_rng(seed)
    n, k = 3, 5
    lower = np.where(rng.random(n) < 0.3, rng.integers(-2, 1, (2, n)), -np.inf)
    upper = np.where(rng.random(n) < 0.3, rng.integers(0, 3, (2, n)), np.inf)
    common = rng.integers(-1, 2, n) + np.array([2, 0, 0])
    directions, pieces = [], []
    for _ in range(k):
        alone = np.eye(n)[rng.integers(n)]
        directions.append([alone, common, rng.integers(-2, 3, n) + np.array([0, 5, 0])][rng.integers(3)])
        slopes = np.sort(rng.choice(np.arange(-3, 4), int(rng.integers(1, 5)), replace=False))
        at = np.cumsum(rng.integers(0, 3, (slopes.size, 2)), axis=0) - 2.0
        offset = np.cumsum(np.diff(slopes, prepend=slopes[0])[:, None] * at, axis=0) + rng.integers(-2, 3)
        pieces.append([(slope, *each) for slope, each in zip(slopes, offset, strict=True)])
    stage = plain(n, sum(map(len, pieces)), rng.integers(-9, 9, (2, n)), lower=lower, upper=upper)
    return with_kinks(stage, directions, rng.integers(0, 4, (2, k)), pieces)


@settings(max_examples=120)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    point = taken_back(KinksToBounds, stage, t)
    assert point is not None
    assert violation(stage, point) < 1e-5


def test_random_stages_have_carriers_of_all_kinds():
    done = [KinksToBounds.apply(random_stage(seed))[1] for seed in range(120)]
    assert any((~each.on_row).any() for each in done)
    assert any((each.lower & each.upper & each.on_row).any() for each in done)
    shared = [np.unique(each.carrier[each.on_row], return_counts=True)[1].max(initial=0) for each in done]
    assert max(shared) == 2
    assert any(each.kinks.slope.size < random_stage(seed).kinks.slope.size for seed, each in enumerate(done))


ABSOLUTE = [(-1, 0, 0), (1, 0, 0)]
HINGE = [(0, 0, 0), (2, 2, 4)]
TUBE = [(-1, 1, 1), (0, 0, 0), (1, 1, 1)]
FIVE = [(-3, 4, 4), (-1, 1, 1), (0, 0, 0), (2, 2, 2)]


@pytest.mark.parametrize(
    ("pieces", "base", "bounds"),
    [
        (ABSOLUTE, 0, [(0, 0, 3, 3)]),
        (HINGE, 0, [(-np.inf, 1, np.inf, 6)]),
        (TUBE, 0, [(-1, 1, 3, 3)]),
        (FIVE, 0, [(-1, 1, 3, 6), (-1.5, np.inf, 6, np.inf)]),
        ([(1, 0, 0), (2, 1, 1)], 1, [(-np.inf, 1, np.inf, 3)]),
        ([(1, 0, 0)], 1, []),
    ],
)
def test_soft_bounds_of_a_cost(pieces, base, bounds):
    """At t = 0 and a cost of 3: lower and upper bound, and prices below and above."""
    found, owner, soft = soft_bounds(with_kinks(plain(1, 5), [[1.0]], [[3.0], [3.0]], [pieces]).kinks)
    assert (found.tolist(), owner.tolist()) == ([base], [0] * len(bounds))
    assert [tuple(each[0, k] for each in soft.arrays) for k in range(len(bounds))] == bounds


@pytest.mark.parametrize(
    ("bounds", "carrier", "on_row"),
    [
        ({}, 0, False),
        ({"upper": [[3, np.inf], [1, np.inf]]}, 2, True),
        ({"lower": [[-5, -np.inf]] * 2}, 0, False),
        ({"lower": [[3, -np.inf]] * 2}, 2, True),
        ({"lower": [[-5, -np.inf]] * 2, "below": [[1, np.inf]] * 2}, 2, True),
    ],
)
def test_a_column_carries_what_leaves_its_own_bounds(bounds, carrier, on_row):
    """A hinge at 1, and at 2 in the end, beside the bounds of its column."""
    stage = with_kinks(plain(2, 2, **bounds), [[1.0, 0.0]], [[1.0], [1.0]], [HINGE])
    stage = replace(stage, rows=np.array([True, False, False]))
    _, done = KinksToBounds.apply(
        replace(stage, A=stage.A[:2], rows=stage.rows[:2], of_rows=stage.of_rows.at(slice(2)))
    )
    if "lower" in bounds and bounds["lower"][0][0] == 3:
        assert done.owner.tolist() == []  # beyond its kink all along: a slope in q
        assert done.base.tolist() == [2.0]
    else:
        assert (done.carrier.tolist(), done.on_row.tolist()) == ([carrier], [on_row])


def test_a_column_that_is_fixed_at_a_kink_has_one_piece_left():
    stage = with_kinks(plain(1, 2, lower=[[1], [2]], upper=[[1], [2]]), [[1.0]], [[1.0], [1.0]], [HINGE])
    done = KinksToBounds.apply(stage)[1]
    assert (done.kinks.slope.tolist(), done.owner.tolist()) == ([2.0], [])


def test_two_costs_of_a_direction_meet_in_a_row():
    """A hinge upwards at 1, one downwards at 0, and one downwards at 3, which would cross."""
    down = [(-1, -3, -3), (0, 0, 0)]
    pieces = [HINGE, down, [(-1, 0, 0), (0, 0, 0)]]
    stage = with_kinks(plain(2, 6), [[1.0, 1.0]] * 3, np.ones((2, 3)), pieces)
    after, done = KinksToBounds.apply(stage)
    assert (str(done), done.carrier.tolist()) == ("3 kinks made soft bounds", [7, 8, 7])
    assert after.of_rows.lower[0, 7:].tolist() == [0.0, 3.0]
    assert after.of_rows.upper[0, 7:].tolist() == [1.0, np.inf]
    assert after.A.toarray()[7:].tolist() == [[1.0, 1.0]] * 2
    assert after.rows.tolist() == [True] + [False] * 6 + [True] * 2
    assert not after.equation[7:].any()


def test_a_row_has_the_name_of_the_first_piece_that_has_one():
    stage = with_kinks(plain(2, 6), [[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]], np.ones((2, 3)), [HINGE, ABSOLUTE, HINGE])
    stage.titled[:] = -1, -1, 7, 3, 4, -1, -1
    assert KinksToBounds.apply(stage)[0].titled[7:].tolist() == [7, 3, -1]


def test_a_small_case_exactly():
    """min x^2 / 2 - 3 x + 2 max(0, 2 x - 2): from x = 1 on the cost grows by 4, so x = 1, and half of it is carried."""
    stage = with_kinks(plain(1, 2, [-3.0]), [[1.0]], [[2.0], [2.0]], [HINGE])
    done = KinksToBounds.apply(stage)[1]
    point = taken_back(KinksToBounds, stage, 0.0)
    point.x[:], point.z, point.u[:] = 1.0, np.zeros((3, 1)), 2.0
    done.invert(point)
    assert point.z.ravel().tolist() == [0.0, 1.0, 1.0]
    assert violation(stage, point, exactly=True) == 0
    point.z[1:, 0] = 0.5, 1.5
    assert violation(stage, point, exactly=True) > 0


def test_directions():
    for seed in range(10):
        recedes(KinksToBounds, random_stage(seed))
