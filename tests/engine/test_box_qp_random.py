"""Random box QPs, with ties, samples at the origin and any groups: both roads, by hand and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paretoclf.engine.sets import LEFT, RIGHT
from paretoclf.engine.tracker import CoreTracker
from tests.oracles.box_problems import FORMS, Problem, line, ray, trace

TIMES = np.linspace(0.017, 0.983, 7)


@st.composite
def problems(draw):
    """A problem whose groups (two at most, signs of any kind) have a member with kappa = 1 each, and a seed."""
    n, d, seed = draw(st.integers(3, 20)), draw(st.integers(1, 4)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.integers(-2, 3, size=(n, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(n, d))
    X[rng.random(n) < draw(st.sampled_from([0.0, 0.2]))] = 0.0
    group = rng.integers(-1, draw(st.integers(0, 2)), n)
    kappa = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.4])), -1.0, 1.0)
    m = int(group.max()) + 1
    assume(all(((group == g) & (kappa > 0)).any() for g in range(m)))
    p = np.ones(n) if draw(st.booleans()) else rng.uniform(0.3, 2.0, n)
    return Problem(X, sign, p, kappa, group, rbf=draw(st.booleans())), rng


def ways(problem, form, r, to, part):
    """Up a ray; caps in opposite directions, and e with them; then e alone."""
    tracker, e = problem.tracker(form), to * (problem.A @ r)
    first = line(np.stack([r, 0 * r]), (0, 0), (to, 0), 0 * e, e)
    bases, stop = np.stack([r * part, r * ~part]), np.array([0.15 * to, 1.6 * to])
    e_stop = 0.7 * (problem.A @ (stop @ bases))
    found = [trace(tracker, problem, first, ray(problem, r))]
    found.append(trace(tracker, problem, line(bases, (to, to), stop, e, e_stop)))
    if problem.m:
        found.append(trace(tracker, problem, line(bases, stop, stop, e_stop, 0.3 * e_stop)))
    return found


@settings(max_examples=150)
@given(problems(), st.sampled_from(FORMS), st.floats(-1.0, 1.0), st.booleans())
def test_random_problems_on_both_roads(drawn, form, power, even):
    problem, rng = drawn
    n = problem.p.size
    form = "gram" if problem.rbf else form
    setting = form, np.ones(n) if even else rng.uniform(0.3, 2.0, n), 10.0**power, rng.random(n) < 0.5
    fast = ways(problem, *setting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CoreTracker, "doubles", False)
        careful = ways(problem, *setting)
    for one, other in zip(fast, careful, strict=True):
        for found in (one, other):
            found.check(np.concatenate([found.ends[::3], TIMES]), solve=TIMES[3:4])
        one.same_values(other, TIMES)


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_at_the_origin_leaves_the_margin_set(form, monkeypatch):
    """Row and column of Q are zero: its multiplier moves all the same, by its equality constraint alone.

    Closed form: a_0 + a_1 = 3 t and a_0 <= 2, so a_1 takes over at t = 2/3; a_2 gives way to a_3 = t / 2.
    """
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    p = np.array([1.0, 0.5, 1.0, 5.0])
    problem = Problem(X, np.ones(4), p, np.ones(4), np.array([0, 0, -1, -1]))
    bases = np.array([[2.0, 2.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.5]])
    to, begin = line(bases, (1, 0), (1, 1), (0,), (3,)), (np.array([RIGHT, RIGHT, RIGHT, LEFT]), [0, 2])
    for careful in (False, True):
        if careful:
            monkeypatch.setattr(CoreTracker, "doubles", False)
        found = trace(problem.tracker(form), problem, to, begin)
        for t in (0.0, 0.5, 2 / 3, 0.7, 1.0):
            want = [min(3 * t, 2), max(3 * t - 2, 0), 1 - t / 2, t / 2]
            np.testing.assert_allclose(found.solution(t)[0], want, atol=1e-14)
        found.check(TIMES)
