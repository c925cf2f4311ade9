"""Epigraph variables that become costs with kinks: alone, the way back is optimal for what was before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoclf.engine.reduction.rules.epigraphs import EpigraphsToKinks
from tests.oracles.stages import recedes, stage_of, taken_back, violation


def random_stage(seed):
    """Variables above two to four multiples of a direction, perhaps of another such variable; offsets move."""
    rng = np.random.default_rng(seed)
    n, k = 3, 4
    rows, b = [], []
    for tau in range(k):
        direction = np.zeros(n + k)
        direction[:n] = np.eye(n)[rng.integers(n)] if rng.random() < 0.5 else rng.integers(-2, 3, n)
        if tau and rng.random() < 0.5:
            direction[:], direction[n + tau - 1] = 0.0, 1.0
        for slope in rng.choice([-2, -1, 0, 1, 3], int(rng.integers(2, 5)), replace=False):
            scale = float(rng.choice([1, 2, 4]))
            row = slope * direction * scale
            row[n + tau] = -scale
            rows.append(row)
            b.append(scale * rng.integers(-2, 3, 2))
    rows.append(np.r_[np.ones(n), np.zeros(k)])
    b.append([5, 3])
    P = np.zeros((n + k, n + k))
    P[:n, :n] = np.eye(n)
    q = rng.integers(-4, 5, (2, n + k)).astype(float)
    q[:, n:] = rng.integers(0, 3, (2, k))
    return stage_of(P, np.array(rows), q, np.array(b).T)


@settings(max_examples=120)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_way_back_is_optimal(seed, t):
    stage = random_stage(seed)
    if EpigraphsToKinks.apply(stage)[0] is not stage:
        point = taken_back(EpigraphsToKinks, stage, t)
        # Of a nested cost only the rows of the program tell what the weights were.
        assert point is None or violation(stage, point) < 1e-5


def test_random_stages_have_all_kinds():
    done = [EpigraphsToKinks.apply(random_stage(seed))[1] for seed in range(100)]
    assert {each.costs for each in done} >= {0, 1, 2, 3, 4}
    assert {size for each in done for size in np.diff(each.begin).tolist()} >= {2, 3, 4}
    assert sum(each.costs < each.variables.size for each in done) > 5  # nested


def test_a_small_case_exactly():
    """min (x - 3)^2 / 2 + tau with tau >= 2 x - 4 and 2 tau >= 0: at the kink x = 2 half of the cost is carried."""
    stage = stage_of(np.diag([1.0, 0.0]), [[2, -1], [0, -2]], [-3, 1], [4, 0])
    after, done = EpigraphsToKinks.apply(stage)
    assert str(done) == "1 epigraph variable made 1 cost"
    assert (after.kinks.directions.toarray().tolist(), after.kinks.slope.tolist()) == ([[1.0, 0.0]], [0.0, 2.0])
    assert after.kinks.weights.toarray().tolist() == [[0.0, 0.5], [1.0, 0.0]]
    point = taken_back(EpigraphsToKinks, stage, 0.0)
    point.x[:, 0], point.z[:, 0] = (2.0, 0.0), (0.5, 0.25)
    done.invert(point)
    assert violation(stage, point, exactly=True) == 0
    assert violation(after, point, exactly=True) == 0
    point.x[0] = 2.5
    done.invert(point)
    assert point.x[1, 0] == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"flat": np.array([True, False])},
        {"q": np.array([[0.0, 1.0], [0.0, -1.0]])},
        {"equation": np.array([True, False])},
    ],
)
def test_what_is_squared_or_earns_or_stands_in_an_equation_stays(change):
    stage = stage_of(np.diag([1.0, 0.0]), [[2, -1], [0, -2]], [-3, 1], [4, 0])
    assert EpigraphsToKinks.accepts(stage)
    assert EpigraphsToKinks.apply(stage)[0] is not stage
    assert EpigraphsToKinks.apply(replace(stage, **change))[0].columns.all()


def test_directions():
    for seed in range(10):
        stage = random_stage(seed)
        if EpigraphsToKinks.apply(stage)[0] is not stage:
            recedes(EpigraphsToKinks, stage)
