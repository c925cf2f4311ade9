"""The face of the tracker in C++: limits, refusals, progress, interruption, threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.general import follow
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT
from paretoclf.problem.costs import SampleCosts
from paretoclf.problem.parametric_qp import INSIDE, LOWER
from paretoclf.proof import prove
from tests.oracles.box_problems import Problem, line, ray, trace
from tests.oracles.item_paths import box

pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")


@pytest.mark.parametrize("limit", [0, 1, 17])
def test_a_limit_of_exchanges_is_kept(gaussians, limit):
    X, y = gaussians(n=60)
    svm = pc.TwoCSVM(X, y)
    with pytest.raises(pc.DegeneratePathError, match=f"more than {limit} exchanges") as caught:
        pc.trace(svm, (0, 0), (5 / 0.4, 5 / 0.6), max_events=limit)
    assert "max_events" in str(caught.value)
    assert caught.value.t < 1.0


def test_progress_never_goes_back(gaussians):
    X, y = gaussians(n=300, d=5)
    tracker, seen = Problem(X, y, np.ones(300), y, np.zeros(300, dtype=int), True).tracker("gram"), []
    tracker.start(np.full(300, LEFT), [int(np.flatnonzero(y > 0)[0])], _up(y))
    tracker.holds_until = 1e-4
    tracker.follow(progress=seen.append)
    assert seen[-1] == 1.0
    assert (np.diff(seen) >= 0.0).all()


def _up(y):
    even = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    return Line(np.stack([even, 0 * even]), np.zeros(2), np.array([300.0, 0.0]), np.zeros(1), np.zeros(1))


def test_a_line_where_nothing_balances_is_refused():
    # All multipliers of the only row of A have one sign, and its right-hand side leaves what they can add up to.
    problem = Problem(np.eye(3), np.ones(3), np.zeros(3), np.ones(3), np.zeros(3, dtype=int))
    ones = np.ones(3)
    to = line(np.stack([ones, 0 * ones]), (1, 0), (1, 0), (1.5,), (4.0,))
    tracker = problem.tracker("dense")
    tracker.start(np.zeros(3), [0, 1, 2], to)
    with pytest.raises(pc.DegeneratePathError, match="no sample can balance"):
        tracker.follow()


@pytest.mark.parametrize("rows", [3, 5])
@pytest.mark.parametrize("form", ["gram", "dense", "sparse"])
def test_any_number_of_rows_with_coefficients_of_any_size(rows, form):
    rng = np.random.default_rng(rows)
    n = 12 * rows
    group, sign = np.arange(n) % rows, np.where(rng.random(n) < 0.5, 1.0, -1.0)
    kappa = 10.0 ** rng.uniform(-2, 2, n) * np.where((np.arange(n) >= 2 * rows) & (rng.random(n) < 0.3), -1.0, 1.0)
    p = Problem(rng.normal(size=(n, 3)), sign, np.ones(n), kappa, group)
    caps = rng.uniform(0.3, 2.0, n)
    bases, e = np.stack([caps, 0 * caps]), p.A @ caps
    tracker = p.tracker(form)
    first = []  # at the origin all of a row are on the right side up to the first p_i / kappa_i
    for g in range(rows):
        own = np.flatnonzero((group == g) & (kappa > 0))
        first.append(int(own[np.argmin(1.0 / kappa[own])]))
    up = trace(tracker, p, line(bases, (0, 0), (0.4, 0), 0 * e, 0.4 * e), (np.full(n, LEFT), first))
    times = np.linspace(0.03, 0.97, 7)
    up.check(times, solve=times[::3])
    across = trace(tracker, p, line(bases, (0.4, 0), (1.0, 0), 0.4 * e, 0.6 * e))
    across.check(np.concatenate([across.ends[::5], times]), solve=times[::3])


def _interrupted(signum, frame):
    raise InterruptedError


def test_tracing_can_be_interrupted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 10)), np.where(rng.random(1500) < 0.5, 1.0, -1.0)
    svm = pc.TwoCSVM(X, y, pc.RBF(2.0))
    assert svm.gram.matrix.shape == (1500, 1500)
    before = signal.signal(signal.SIGALRM, _interrupted)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with pytest.raises(InterruptedError):
            pc.trace(svm, (0, 0), (1e6, 1e6 * (y > 0).sum() / (y < 0).sum()), certify=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert pc.trace(pc.TwoCSVM(X[:40], y[:40]), (0.5, 1), (1, 0.5)).worst_certificate.passes()


def test_other_threads_run_while_one_traces():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 10)), np.where(rng.random(700) < 0.5, 1.0, -1.0)
    svm, turns, done = pc.TwoCSVM(X, y, pc.RBF(2.0)), [], threading.Event()

    def count():
        while not done.is_set():
            turns.append(0)
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    pc.trace(svm, (0, 0), (1e3, 1e3 * (y > 0).sum() / (y < 0).sum()), certify=False)
    done.set()
    other.join()
    assert len(turns) > 10


FRESH = """
import numpy as np, paretoclf as pc
from concurrent.futures import ThreadPoolExecutor
rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3)), np.where(rng.random(80) < 0.5, 1.0, -1.0)
def one(k):
    return pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0 + k % 2)), (0.04, 1.96), (1.96, 0.04))
with ThreadPoolExecutor(4) as pool:
    paths = list(pool.map(one, range(8)))
assert all((paths[k].breakpoints == paths[k % 2].breakpoints).all() for k in range(8))
print(all(path.worst_certificate.passes() for path in paths))
"""


def test_four_threads_trace_at_once_in_a_fresh_process():
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "True", done.stderr


def test_ray_of_a_problem_begins_where_it_should(gaussians):
    X, y = gaussians(n=20)
    p = Problem(X, y, np.ones(20), y, np.zeros(20, dtype=int))
    r = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    bases, e = np.stack([r, 0 * r]), p.A @ r
    found = trace(p.tracker("dense"), p, line(bases, (0, 0), (9.0, 0), 0 * e, 9 * e), ray(p, r))
    found.check(np.linspace(0.05, 0.95, 5), solve=(0.5,))


@pytest.mark.parametrize("costs", [(1.0, 2.0), SampleCosts(np.array([1.0, 2.0, 1.0, 0.5]))])
def test_a_line_that_goes_nowhere_is_one_point_and_says_so(costs):
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    path = pc.trace(svm, costs, costs)
    assert repr(path).startswith("Path(one point, ")
    assert "breakpoints" not in repr(path)
    assert path.proof.passes()
    assert path.value(0.0) == path.value(0.5) == path.value(1.0)
    if isinstance(costs, tuple):
        assert path.value(0.3) == pytest.approx(svm.solve(*costs).value, rel=1e-9)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["features", "kernel"])
def test_where_a_multiplier_comes_to_a_bound_or_leaves_it_it_is_there(kernel):
    """A bound was missed by 1e-14, and whether the path of 250 samples was proved hung on the sums of the processor."""
    problem = box(kernel, n=250)
    path = follow(problem, progress=False).path
    n, t, labels = problem.n, path.t, path.labels()
    values, events = path.spread()[0], 0
    for j in range(path.segments - 1):
        cap = (1 - t[j + 1]) * problem.upper[0] + t[j + 1] * problem.upper[1]
        for own, other, x in ((j, j + 1, values[j, 1]), (j + 1, j, values[j + 1, 0])):
            for i in np.flatnonzero((labels[own, :n] == INSIDE) & (labels[other, :n] != INSIDE)):
                assert x[i] == pytest.approx(0.0 if labels[other, i] == LOWER else cap[i], rel=1e-15, abs=0.0)
                events += 1
    assert events > 500
    proof = prove(problem, path)
    assert proof.passes()
    assert proof.residuals["rows"].max() < 1e-12
