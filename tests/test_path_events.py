"""The ratio tests of the tracker's careful steps on tiny arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from paretoclf.path import events
from paretoclf.path.events import NONE, TO_CAP, TO_MARGIN, TO_ZERO
from paretoclf.path.sets import LEFT, MARGIN, RIGHT


def _exit(a, da, cap, dcap, horizon=1.0, careful=False, index=None):
    k = len(a)
    index = np.arange(k) if index is None else np.array(index)
    arrays = (np.array(x, dtype=float) for x in (a, da, cap, dcap))
    return events.first_exit(index, *arrays, horizon, np.full(k, 1e-12), careful)


def test_first_exit_to_zero_to_a_cap_and_to_a_moving_cap():
    assert _exit([0.5, 0.5], [-1.0, 0.25], [1, 1], [0, 0]) == (0, TO_ZERO, 0.5)
    assert _exit([0.5, 0.5], [-0.25, 1.0], [1, 1], [0, 0]) == (1, TO_CAP, 0.5)
    assert _exit([0.5], [1.0], [1], [1.0]) == (-1, NONE, np.inf)  # runs along with its cap
    assert _exit([0.5], [0.0], [1], [-2.0]) == (0, TO_CAP, 0.25)  # the cap comes down
    assert _exit([0.5], [-1.0], [1], [0], horizon=0.25) == (-1, NONE, np.inf)
    assert _exit([0.5], [1e-13], [1], [0]) == (-1, NONE, np.inf)
    assert _exit([], [], [], []) == (-1, NONE, np.inf)


def test_slopes_that_are_rounding_lead_nowhere():
    far = 1e12
    assert _exit([0.5], [1.0 + 0.9e-10], [1], [1.0], horizon=far) == (-1, NONE, np.inf)  # along with a moving cap
    assert _exit([0.5], [-1.0 - 0.9e-10], [1], [-1.0])[1] == TO_ZERO
    assert _exit([0.5], [1.0 + 1.2e-10], [1], [1.0], horizon=far)[:2] == (0, TO_CAP)
    assert _exit([0.5], [1.2e-12], [1], [0.0], horizon=far)[:2] == (0, TO_CAP)  # a cap that rests adds no noise
    slow = np.array([-1.0, -2.0])
    for noise, want in (([1.5, 0.0], 1), ([0.0, 2.5], 0)):  # each multiplier has a noise of its own
        found = events.first_exit(
            np.arange(2), np.ones(2), slow, np.ones(2) * 2, np.zeros(2), 5.0, np.array(noise), False
        )
        assert found[0] == want


def test_first_exit_never_steps_back():
    assert _exit([-1e-15], [-1.0], [1], [0]) == (0, TO_ZERO, 0.0)
    assert _exit([1 + 1e-15], [1.0], [1], [0]) == (0, TO_CAP, 0.0)


def test_first_exit_ties():
    tied = ([0.25, 0.5, 0.75], [-0.5, -1.0, 0.5], [1, 1, 1], [0, 0, 0])
    assert _exit(*tied) == (1, TO_ZERO, 0.5)  # the fastest
    assert _exit(*tied, careful=True) == (0, TO_ZERO, 0.5)  # the lowest index
    assert _exit(*tied, careful=True, index=[2, 0, 1])[0] == 1  # of the sample, not of its position


def test_exits_that_only_rounding_tells_apart():
    """A unit in the last place of a multiplier is no reason to go first, whichever has it; a visible one is."""
    for off in (-1e-16, 1e-16):
        near = ([0.5, 0.5 + off], [-1.0, -1.0], [1, 1], [0, 0])
        assert _exit(*near)[0] == 0
        assert _exit(*near, index=[1, 0])[0] == 1
    assert _exit([0.5, 0.5 - 1e-13], [-1.0, -1.0], [1, 1], [0, 0])[0] == 1


def test_contenders_and_first_arrival():
    state = np.array([RIGHT, LEFT, RIGHT, MARGIN, LEFT], dtype=np.int8)
    g = np.array([1.0, -1.0, 1.0, 0.0, -1.0])
    dg = np.array([-2.0, 2.0 + 1e-15, -1.0, -9.0, -3.0])
    error = np.full(5, 1e-14)
    awake = np.zeros(5, dtype=bool)
    near = events.contenders(state, awake, g, dg, error, error, np.inf, 1.0)
    assert near.tolist() == [0, 1]  # 2 is later, 3 in the margin set, 4 moves away
    assert events.contenders(state, awake, g, dg, error, error, 0.25, 1.0).tolist() == []
    assert events.contenders(state, awake, g, dg, error, error, np.inf, 0.25).tolist() == []
    resting = np.array([True, True, False, False, False])
    assert events.contenders(state, resting, g, dg, error, error, np.inf, 1.0).tolist() == [2]
    assert events.first_arrival(state, near, g[near], dg[near], 1.0, False)[0] == 1  # told apart exactly
    tie = np.array([-2.0, 2.0])
    position, dt = events.first_arrival(state, near, g[near], tie, 1.0, True)
    assert (position, dt) == (0, 0.5)
    assert events.first_arrival(state, near, g[near], -tie, 1.0, False) == (-1, np.inf)
    assert events.first_arrival(state, near[:0], g[:0], g[:0], 1.0, False) == (-1, np.inf)


@given(st.integers(0, 10**6))
def test_contenders_never_lose_the_first(seed):
    rng = np.random.default_rng(seed)
    n = 12
    state = rng.integers(0, 3, n).astype(np.int8)
    g = np.where(state == LEFT, -1.0, 1.0) * rng.integers(0, 4, n)
    dg = rng.integers(-3, 4, n).astype(float)
    error = rng.random(n) * 1e-3
    outside = np.flatnonzero(state != MARGIN)
    best, dt = events.first_arrival(state, outside, g[outside], dg[outside], 1.0, False)
    assume(best >= 0)
    seen = g + rng.uniform(-1, 1, n) * error, dg + rng.uniform(-1, 1, n) * error
    near = events.contenders(state, np.zeros(n, dtype=bool), *seen, error, error, np.inf, 1.0)
    assert outside[best] in near
    again, dt_near = events.first_arrival(state, near, g[near], dg[near], 1.0, False)
    assert near[again] == outside[best]
    assert dt_near == dt


def test_blocking_exchange():
    def block(a, v, careful=False):
        a = np.array(a, dtype=float)
        return events.blocking_exchange(a, np.ones(a.size), np.array(v, dtype=float), 1e-11, careful)

    assert block([0.5, 0.5], [-1.0, 0.5]) == (0, TO_ZERO, 0.5)
    assert block([0.5, 0.75], [-0.25, 1.0]) == (1, TO_CAP, 0.25)
    assert block([0.5], [0.0]) == (-1, NONE, np.inf)
    assert block([0.5, 1.0], [-1.0, 2.0]) == (1, TO_CAP, 0.0)
    assert block([0.25, 0.5], [-0.5, -1.0])[0] == 1  # of a tie the fastest, which is the best pivot
    assert block([0.25, 0.5], [-0.5, -1.0], careful=True)[0] == 0
    assert block([0.0, 1.0], [1e-12, -1.0])[:2] == (1, TO_ZERO)  # rounding in v blocks nothing


def test_a_tie_is_measured_by_the_multipliers_where_caps_are_far():
    def block(a, cap, v):
        return events.blocking_exchange(np.array(a), np.array(cap), np.array(v), 1e-11, False)

    # 1e-11 of these caps is more than the multipliers themselves: no tie, and the second must not go below zero.
    assert block([1e-6, 4e-6], [1e6, 1e6], [-1.0, -2.0]) == (0, TO_ZERO, 1e-6)
    assert block([1e-6, 2e-6 * (1 + 1e-12)], [1e6, 1e6], [-1.0, -2.0])[0] == 1  # a tie: the best pivot
    assert block([0.5, 1.0], [1e-6 + 0.5, 2e-6 + 1.0], [1.0, 3.0])[:2] == (1, TO_CAP)


def test_blocking_jump():
    state = np.array([RIGHT, LEFT, RIGHT, LEFT, MARGIN, RIGHT], dtype=np.int8)
    g = np.array([0.3, -0.2, 0.1, -0.4, 0.0, 0.05])
    kappa = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    group = np.array([0, 0, 0, 0, 0, 1])
    jump = events.blocking_jump
    assert jump(state, g, kappa, group, 0, 1.0, -1) == (1, 0.2)
    assert jump(state, g, kappa, group, 0, 1.0, 1) == (0, 0.3)
    assert jump(state, g, kappa, group, 0, -1.0, -1) == (2, 0.1)
    assert jump(state, g, kappa, group, 1, 1.0, -1) == (5, 0.05)
    assert jump(state, g, kappa, group, 1, -1.0, -1) == (-1, np.inf)


def test_the_kinds_are_distinct():
    assert len({NONE, TO_ZERO, TO_CAP, TO_MARGIN}) == 4
    assert len({RIGHT, LEFT, MARGIN}) == 3
