"""The tracker of a box QP with 0, 1 and 2 equality constraints, against interior-point solutions and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.engine.sets import LEFT, MARGIN
from paretoclf.engine.tracker import CoreTracker
from paretoclf.problem.operator import Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.box_problems import FORMS, Problem, line, ray, trace

TIMES = np.linspace(0.017, 0.983, 11)
GROUPS = ("none", "one", "two", "two and some without", "mixed signs")


@pytest.fixture(params=[True, False], ids=["fast road", "careful steps"])
def road(request, monkeypatch):
    """With regular steps in the compiled loop, and with every step taken with care."""
    if not request.param:
        careful_only(monkeypatch)
    return request.param


def careful_only(monkeypatch):
    monkeypatch.setattr(CoreTracker, "doubles", False)


def problem(groups, n=24, d=3, seed=0, rbf=False, p=None):
    """Two overlapping classes with labels as signs of Q, and the groups asked for."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + 0.6 * y[:, None]
    group, kappa = np.where(y > 0, 0, 1), np.ones(n)
    if groups == "none":
        group = np.full(n, -1)
    elif groups == "one":
        group, kappa = np.zeros(n, dtype=int), y
    elif groups == "two and some without":
        group = np.where(rng.random(n) < 0.3, -1, group)
    elif groups == "mixed signs":
        kappa = np.where(rng.random(n) < 0.4, -1.0, 1.0)
    return Problem(X, y, np.ones(n) if p is None else p, kappa, group.astype(np.int64), rbf)


def from_origin(tracker, p, r, to):
    """Up the ray c = t r, e = t A r, to t = `to`."""
    bases, e = np.stack([r, np.zeros(r.size)]), to * (p.A @ r)
    return trace(tracker, p, line(bases, (0, 0), (to, 0), 0 * e, e), ray(p, r))


def crosswise(tracker, p, r, to, seed=1):
    """From the end of the ray, caps of two parts move in opposite directions, and e with them, inside its range."""
    part = np.random.default_rng(seed).random(r.size) < 0.5
    bases = np.stack([r * part, r * ~part])
    stop = np.array([0.15 * to, 1.6 * to])
    return trace(tracker, p, line(bases, (to, to), stop, to * (p.A @ r), 0.7 * (p.A @ (stop @ bases))))


def e_moves(tracker, p, before, share):
    """At the caps where the line before ended, e goes to a share of itself."""
    end, bases = before.line.stop, before.line.bases
    return trace(tracker, p, line(bases, end, end, before.line.e_end, share * before.line.e_end))


def whole_way(p, form, r, to):
    tracker = p.tracker(form)
    first = from_origin(tracker, p, r, to)
    second = crosswise(tracker, p, r, to)
    return [first, second, e_moves(tracker, p, second, 0.3)] if p.m else [first, second]


# ---- any groups, from the trivial basis at the origin of a ray ----------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("groups", GROUPS)
def test_rays_caps_and_right_hand_sides(groups, form, road):
    p = problem(groups)
    ways = whole_way(p, form, np.ones(24), 3.0)
    assert sum(found.ends.size for found in ways) > 20
    for found in ways:
        found.check(np.concatenate([found.ends, TIMES]), solve=TIMES[::3])


@pytest.mark.parametrize("groups", GROUPS)
def test_rbf(groups, road):
    p = problem(groups, seed=2, rbf=True)
    for found in whole_way(p, "gram", np.ones(24), 20.0):
        found.check(np.concatenate([found.ends, TIMES]), solve=TIMES[::3])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("groups", GROUPS)
def test_both_roads_lead_to_the_same_values(groups, form, monkeypatch):
    p, r = problem(groups, seed=3), np.random.default_rng(4).uniform(0.3, 2.0, 24)
    fast = whole_way(p, form, r, 3.0)
    careful_only(monkeypatch)
    for one, other in zip(fast, whole_way(p, form, r, 3.0), strict=True):
        times = np.random.default_rng(5).random(25)
        one.same_values(other, times)


@pytest.mark.parametrize("groups", GROUPS)
def test_other_linear_terms(groups, road):
    p = problem(groups, seed=6, p=np.random.default_rng(7).uniform(0.4, 2.0, 24))
    for found in whole_way(p, "gram", np.ones(24), 3.0):
        found.check(np.concatenate([found.ends, TIMES]), solve=TIMES[::3])


@pytest.mark.parametrize("form", FORMS)
def test_without_groups_all_stay_at_their_cap_until_the_first_meets_its_margin(form, road):
    p, r = problem("none", seed=8), np.random.default_rng(9).uniform(0.2, 2.0, 24)
    found = from_origin(p.tracker(form), p, r, 5.0)
    first = 1.0 / (p.Q @ r).max()  # in units of the ray
    assert found.ends[1] == pytest.approx(first / 5.0, rel=1e-14)
    for t in (0.0, 0.3 * found.ends[1], found.ends[1]):
        a, eta, value = found.solution(t)
        np.testing.assert_allclose(a, 5.0 * t * r, rtol=1e-14)
        assert eta.size == 0
        assert value == pytest.approx(5.0 * t * r.sum() - 12.5 * t**2 * (r @ p.Q @ r), rel=1e-13, abs=0)
    assert found.log.changes[1:, 0].tolist() == [int(np.argmax(p.Q @ r)), LEFT, MARGIN]


@pytest.mark.parametrize("form", FORMS)
def test_quantile_lines(form, road):
    """Costs tau and 1 - tau of two parts: caps in opposite directions at fixed total, on to where one of them is 0."""
    p = problem("none", n=30, seed=10)
    tracker, up = p.tracker(form), np.stack([p.sign > 0, p.sign < 0]).astype(float)
    first = trace(tracker, p, line(up, (0, 0), (1, 1)), ray(p, np.ones(30)))
    second = trace(tracker, p, line(up, (1, 1), (1.95, 0.05)))
    for found in (first, second):
        found.check(np.concatenate([found.ends, TIMES]), solve=TIMES[::3])
    assert second.ends.size > 5


def test_a_margin_set_may_become_empty_without_groups(road):
    """Two orthogonal samples: in closed form a_i = min(c_i, 1 / Q_ii), whatever the other does."""
    p = Problem(np.diag([1.0, 2.0]), np.ones(2), np.ones(2), np.ones(2), np.full(2, -1))
    tracker, bases = p.tracker("gram"), np.eye(2)
    up = trace(tracker, p, line(bases, (0, 0), (4, 2)), ray(p, np.array([4.0, 2.0])))
    down = trace(tracker, p, line(bases, (4, 2), (0.5, 0.125)))
    np.testing.assert_allclose(up.ends, [0, 1 / 8, 1 / 4, 1], atol=1e-15)
    for found in (up, down):
        for t in np.concatenate([found.ends, TIMES]):
            cap = found.line.caps(t)
            np.testing.assert_allclose(found.solution(t)[0], np.minimum(cap, [1.0, 0.25]), atol=1e-14)
    assert tracker.index.size == 0


# ---- two groups: reduced convex hulls ------------------------------------------------------------------------------


def hulls(n=26, seed=0, d=3, rbf=False, apart=0.6):
    """Nearest points of two reduced convex hulls: p = 0, one group per class, kappa = 1; and the start at s = 1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + apart * y[:, None]
    p = Problem(X, y, np.zeros(n), np.ones(n), np.where(y > 0, 0, 1).astype(np.int64), rbf)
    sides = np.stack([y > 0, y < 0])
    bases = sides / sides.sum(axis=1)[:, None]
    score = p.K @ (y * bases.sum(axis=0))
    holders = [int(np.argmax(np.where(y > 0, score, -np.inf))), int(np.argmin(np.where(y < 0, score, np.inf)))]
    return p, bases, (np.full(n, LEFT), holders)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stop", [(3.0, 3.0), (1.0, 6.0), (8.0, 1.5)])
@pytest.mark.parametrize("apart", [0.6, 2.0], ids=["meet", "apart"])
def test_reduced_convex_hulls(form, apart, stop, road):
    p, bases, begin = hulls(apart=apart)
    found = trace(p.tracker(form), p, line(bases, (1, 1), stop, (1, 1), (1, 1)), begin)
    assert found.ends.size > 5
    found.check(np.concatenate([found.ends, TIMES]), solve=[*TIMES[::3], 1.0])


def test_hulls_reduced_to_their_centroids_and_not_at_all():
    """At s = 1 the nearest points are the centroids; at s = n_+, n_- those of the whole hulls."""
    p, bases, begin = hulls(n=12, apart=3.0)
    whole = np.array([(p.sign > 0).sum(), (p.sign < 0).sum()], dtype=float)
    found = trace(p.tracker("dense"), p, line(bases, (1, 1), whole, (1, 1), (1, 1)), begin)
    w = p.X.T @ (p.sign * bases.sum(axis=0))
    assert -2 * found.solution(0.0)[2] == pytest.approx(w @ w, rel=1e-13)
    a = found.solution(1.0)[0]
    score = p.X @ (p.X.T @ (p.sign * a))
    gap = score[p.sign > 0].min() - score[p.sign < 0].max()  # the margin of the separating plane is its width
    assert gap == pytest.approx(-2 * found.solution(1.0)[2], rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stop", [(0.4, 0.6), (2.3, 0.5), (1e-3, 1e-3)])
def test_e_moves_at_constant_caps(form, stop, road):
    p, bases, begin = hulls(seed=1, apart=1.5)
    tracker = p.tracker(form)
    trace(tracker, p, line(bases, (1, 1), (3, 3), (1, 1), (1, 1)), begin)
    found = trace(tracker, p, line(bases, (3, 3), (3, 3), (1, 1), stop))
    found.check(np.concatenate([found.ends, TIMES]), solve=[*TIMES[::3], 1.0])


@pytest.mark.parametrize("form", FORMS)
def test_a_log_at_some_parameters_holds_their_segments_and_the_last(form, road):
    p, bases, begin = hulls(seed=1, apart=1.5)
    tracker, to = p.tracker(form), line(bases, (1, 1), (4, 5), (1, 1), (1, 1))
    whole = trace(tracker, p, to, begin)
    everything, ends = whole.log, whole.ends
    assert everything.segments > 10
    before = [np.flatnonzero(everything.changes[0] <= s) for s in range(everything.segments)]
    for at in ([0.0], [1.0], [0.3, 0.31, 0.8], [ends[3], 0.999 * ends[-2] + 0.001], 0.1 * np.arange(15), [-1.0, 2.0]):
        tracker.start(*begin, to)
        tracker.record_from_here(at=np.array(at))
        tracker.follow()
        log, t = tracker.log, everything.t
        hold = [s for s in range(t.shape[1]) if any(t[0, s] <= x <= t[1, s] for x in at) or s == t.shape[1] - 1]
        np.testing.assert_array_equal(log.t, t[:, hold])
        np.testing.assert_array_equal(log.state, everything.state)
        np.testing.assert_array_equal(log.changes[1:], everything.changes[1:])
        for j, s in enumerate(hold):
            mine, its = slice(*log.ptr[j : j + 2]), slice(*everything.ptr[s : s + 2])
            for name in ("index", "a0", "a1"):
                np.testing.assert_array_equal(getattr(log, name)[mine], getattr(everything, name)[its])
            for name in ("eta", "value", "w"):
                np.testing.assert_array_equal(getattr(log, name)[j], getattr(everything, name)[s])
            np.testing.assert_array_equal(np.flatnonzero(log.changes[0] <= j), before[s])


@pytest.mark.parametrize("seed", range(4))
def test_both_roads_between_hulls(seed, monkeypatch):
    p, bases, begin = hulls(seed=seed, rbf=seed % 2 > 0, apart=0.5 * seed)

    def both_lines():
        tracker = p.tracker("gram")
        yield trace(tracker, p, line(bases, (1, 1), (4, 5), (1, 1), (1, 1)), begin)
        yield trace(tracker, p, line(bases, (4, 5), (4, 5), (1, 1), (2.5, 0.3)))

    fast = list(both_lines())
    careful_only(monkeypatch)
    times = np.random.default_rng(seed).random(25)
    for one, other in zip(fast, both_lines(), strict=True):
        one.same_values(other, times)


# ---- so many samples that the fast road only watches some ----------------------------------------------------------

MANY = 320


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("groups", ["none", "one", "two and some without"])
def test_many_samples(groups, form):
    p = problem(groups, n=MANY, d=4, seed=12)
    for found in whole_way(p, form, np.ones(MANY), 0.05):
        found.check(np.concatenate([found.ends[::20], TIMES[::2]]), solve=TIMES[::5])


def test_many_samples_between_hulls():
    p, bases, begin = hulls(n=MANY, d=4, seed=13)
    tracker = p.tracker("dense")
    found = trace(tracker, p, line(bases, (1, 1), (2, 3), (1, 1), (1, 1)), begin)
    assert tracker.exchanges["regular"] > 10
    found.check(np.concatenate([found.ends[::20], TIMES[::2]]), solve=TIMES[::5])


def test_how_far_w_is_from_its_course_is_known():
    """Samples are left unwatched on the strength of |V|, V = w - (w + time w') at the beginning of the epoch."""
    p = problem("one", n=2 * MANY, d=4, seed=5)
    tracker = p.tracker("dense")
    bases = np.stack([np.where(p.sign > 0, 1.0, 0.0), np.where(p.sign > 0, 0.0, 1.0)])
    from_origin(
        tracker, p, np.ones(2 * MANY) * np.where(p.sign > 0, 1.0, (p.sign > 0).sum() / (p.sign < 0).sum()), 0.05
    )
    end = tracker.line.stop[0] * tracker.line.bases[0]
    a, b = (float(end[side].max()) for side in (p.sign > 0, p.sign < 0))
    tracker.set_line(line(bases, (a, b), (0.2 * a, 3.0 * b), tracker.line.e_end, tracker.line.e_end))
    core, compared, stop = tracker._core, 0, 2
    while stop == 2:  # the limit of exchanges, not the end
        before = core.t
        tracker.record_from_here()
        stop = core.run(core.exchanges + 11, 60.0)
        log, (square, time) = tracker.log, core.drift
        if stop != 2 or log.segments < 2 or abs(time - (core.t - before)) > 1e-15:
            continue  # another epoch began in between
        rate = (log.w[0, 1] - log.w[0, 0]) / (log.t[1, 0] - log.t[0, 0])
        V = log.w[-1, 1] - log.w[0, 0] - time * rate
        assert square == pytest.approx(float(V @ V), rel=1e-5, abs=1e-22)
        compared += 1
    assert compared > 5


def test_what_was_learnt_of_who_counts_outlasts_a_pause():
    n = 1500
    p = problem("one", n=n, d=4, seed=5)
    tracker = p.tracker("dense")
    from_origin(tracker, p, np.ones(n) * np.where(p.sign > 0, 1.0, (p.sign > 0).sum() / (p.sign < 0).sum()), 0.05)
    bases = np.stack([np.where(p.sign > 0, 1.0, 0.0), np.where(p.sign > 0, 0.0, 1.0)])
    end = tracker.line.stop[0] * tracker.line.bases[0]
    a, b = (float(end[side].max()) for side in (p.sign > 0, p.sign < 0))
    tracker.set_line(line(bases, (a, b), (0.2 * a, 3.0 * b), tracker.line.e_end, tracker.line.e_end))
    core, watched, stop = tracker._core, [], 2
    while stop == 2:  # the limit of exchanges, not the end
        stop = core.run(core.exchanges + 40, 60.0)
        watched.append(core.watched)
    assert stop == 0
    assert watched[0] == n
    assert np.median(watched) < n / 2


def test_a_dependent_margin_set_is_no_start():
    K = np.ones((3, 3))
    tracker = CoreTracker(
        ParametricQP.box(Signed(Matrix(K), np.ones(3)), np.ones(3), np.zeros((0, 3)), np.ones((2, 3)))
    )
    with pytest.raises(ValueError, match="dependent"):
        tracker.start(np.full(3, LEFT), [0, 1], line(np.ones((2, 3)), (0, 0), (1, 1)))


@pytest.mark.parametrize("seed", [None, 40, 157])
def test_a_margin_set_whose_rate_is_only_rounding_rests(seed, road):
    """A lone margin sample stands still at 0: before, two samples took each other's place for ever.

    Seeds are of changes in the last digits, since all hangs on how the rounding of that rate comes out.
    """
    X = np.array(
        [
            [1.5, 1.2, 1.1, 1.4, -0.5, 0.5, 0.0, 1.0, -1.9, 0.7, 0.1, 0.1, -1.6, -1.2, 1.9, 0.6],
            [-0.2, -1.1, 1.3, -1.8, 0.0, 1.0, -1.0, -1.1, -1.9, 0.1, -1.1, 1.9, -0.2, -1.5, -0.9, -0.0],
        ]
    ).T
    if seed is not None:
        X = np.ascontiguousarray(X * (1 + 2.2e-16 * np.random.default_rng(seed).integers(-2, 3, X.shape)))
    sign = np.array([-1, -1, 1, -1, 1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, 1.0])
    kappa = np.array([1, 1, -1, 1, 1, 1, -1, 1, -1, 1, 1, 1, 1, -1, 1, 1.0])
    group = np.array([-1, -1, -1, -1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0])
    p, r, to = Problem(X, sign, np.ones(16), kappa, group), np.ones(16), 10**-0.258860955953116
    e = to * (p.A @ r)
    trace(p.tracker("dense"), p, line(np.stack([r, 0 * r]), (0, 0), (to, 0), 0 * e, e), ray(p, r)).check(TIMES)
