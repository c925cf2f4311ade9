"""Tests of `paretoclf.path.svm_lines.stopping`: what there is of a path that was stopped."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InterruptedPath, StoppedError
from paretoclf.engine import boxes, tracker
from paretoclf.path.svm_lines.stopping import finished

pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, 1.0, -1.0)
SVM = pc.TwoCSVM(X, Y, kernel=pc.RBF(1.0))
HUB = pc.trace(SVM, (3, 3), (3, 3))
BALANCED = float((Y < 0).sum()), float((Y > 0).sum())  # a point of the ray that is followed out of the origin
OF_SAMPLES = pc.SampleCosts(RNG.uniform(0, 3, size=60))


def costs_at(path, t):
    costs = path.costs(t)
    return np.asarray(getattr(costs, "values", None) if isinstance(costs, pc.SampleCosts) else tuple(costs))


def stopped(*line, **how):
    with pytest.raises(StoppedError) as caught:
        pc.trace(*line, **how)
    return caught.value


@pytest.mark.parametrize("kernel", [pc.RBF(1.0), None])
@pytest.mark.parametrize("most", [1, 7, 20])
@pytest.mark.parametrize(
    ("start", "stop", "hub"),
    [
        ((0, 0), BALANCED, False),
        (BALANCED, (0, 0), False),
        ((3, 3), (3, 0), True),
        ((0, 3), (3, 3), True),
        ((5, 1), (1, 5), True),
        ((3, 3), OF_SAMPLES, True),
    ],
)
def test_a_part_is_proved_has_the_values_of_the_whole_and_is_gone_on_from(start, stop, hub, most, kernel):
    svm = pc.TwoCSVM(X, Y, kernel=kernel) if kernel else pc.TwoCSVM(X, Y)
    warm = {"hub": pc.trace(svm, (3, 3), (3, 3))} if hub else {}
    whole = pc.trace(svm, start, stop, **warm)
    part = stopped(svm, start, stop, max_events=most, **warm).path
    assert part.proof.passes()
    assert part.breakpoints.size <= most + 2
    first, last = costs_at(whole, 0.0), costs_at(whole, 1.0)
    moves = int(np.argmax(np.abs(last - first)))
    for t in np.linspace(0.0, 1.0, 6):
        at = (costs_at(part, t)[moves] - first[moves]) / (last[moves] - first[moves])
        assert part.value(t) == pytest.approx(whole.value(min(max(at, 0.0), 1.0)), rel=1e-12, abs=1e-300)
    rest = pc.trace(svm, part.line.stop, stop, hub=part)
    assert rest.proof.passes()
    assert rest.value(1.0) == pytest.approx(whole.value(1.0), rel=1e-12, abs=1e-300)


def test_on_its_way_to_the_line_the_point_that_was_reached_is_a_warm_start():
    error = stopped(SVM, (3, 3), (3, 1), max_events=5)
    assert error.path.breakpoints.tolist() == [0.0, 1.0]
    assert error.path.proof.passes()
    there, plain = pc.trace(SVM, (3, 3), (3, 1), hub=error.path), pc.trace(SVM, (3, 3), (3, 1))
    assert there.value(1.0) == pytest.approx(plain.value(1.0), rel=1e-12)


def test_a_part_is_saved_and_loaded(tmp_path):
    part = stopped(SVM, (3, 3), (3, 0), max_events=10, hub=HUB).path
    part.save(tmp_path / "part.npz")
    assert pc.load(tmp_path / "part.npz").proof.passes()


def test_a_part_of_a_line_of_tau():
    problem, line = pc.QuantileSVM(X, Y, kernel=pc.RBF(1.0)), {"tau": (0, 1), "lam": 0.1}
    whole = pc.trace(problem, **line)
    part = stopped(problem, **line, max_events=20).path
    assert part.proof.passes()
    lo, hi = part.breakpoints[[0, -1]]
    assert 0.0 < hi - lo < 1.0
    for tau in np.linspace(lo, hi, 7):
        assert part.value(tau) == pytest.approx(whole.value(tau), rel=1e-12)
    assert stopped(pc.QuantileSVM(X, Y), tau=(0, 1), lam=0.01, max_events=2).path is None


@pytest.mark.parametrize("kernel", [pc.RBF(1.0), None])
@pytest.mark.parametrize(
    "line",
    [
        {"nu": (None, None), "asymmetry": 0.5},
        {"start": (1, 1), "stop": (0.4, 0.5)},
        {"start": (1, 1), "stop": (0.1, 0.9)},
    ],
)
def test_a_part_of_a_line_of_nu(line, kernel, tmp_path):
    problem = pc.TwoNuSVM(X, Y, kernel=kernel) if kernel else pc.TwoNuSVM(X, Y)
    whole, parts = pc.trace(problem, **line), []
    for most in range(1, 40):
        try:
            pc.trace(problem, **line, max_events=most)
        except StoppedError as error:
            parts.append(error.path)
    parts = [part for part in parts if part is not None]  # none on its way to where the line begins
    assert len({part.breakpoints.size for part in parts}) >= 3
    for part in parts:
        assert part.proof.passes()
        lo, hi = part.breakpoints[[0, -1]]
        assert whole.breakpoints[0] <= lo < hi <= whole.breakpoints[-1]
        assert hi - lo < whole.breakpoints[-1] - whole.breakpoints[0]
        for t in np.linspace(lo, hi, 7):
            assert part.value(t) == pytest.approx(whole.value(t), rel=1e-9, abs=1e-15)
    parts[-1].save(tmp_path / "part.npz")
    assert pc.load(tmp_path / "part.npz").proof.passes()


def test_a_path_of_one_piece_has_no_part():
    problem = pc.BiobjectiveMargin(X, Y, soft=True)
    error = stopped(problem, theta=(0.5, 2), C_plus=1.0, C_minus=1.0, max_events=1)
    assert error.path is None
    assert "max_events" in str(error)


class _Clock:
    """A clock that is late, or pressed, when it is asked after the first step of a tracker."""

    def __init__(self, event):
        self.event, self.trackers = event, []

    def tracker(self, problem):
        self.trackers.append(tracker.CoreTracker(problem))
        return self.trackers[-1]

    def monotonic(self):
        return self.event() if self.trackers[-1].t > 0.0 else 0.0


def pressed():
    raise KeyboardInterrupt


def late():
    return 1e9


@pytest.mark.parametrize(("event", "kind"), [(late, StoppedError), (pressed, InterruptedPath)])
def test_no_time_and_the_keyboard_leave_what_there_is(monkeypatch, event, kind):
    data = pc.datasets.make_gaussians(300, mean_plus=[0.7, 0.7], mean_minus=[-0.7, -0.7], rng=1)
    svm = pc.TwoCSVM(data.X, data.y, kernel=pc.RBF(1.0))
    hub, clock = pc.trace(svm, (2, 2), (2, 2)), _Clock(event)
    monkeypatch.setitem(boxes.BOXES, "fast", clock.tracker)
    monkeypatch.setattr(tracker, "_TURN", 1e-7)
    monkeypatch.setattr(tracker, "time", clock)
    with pytest.raises(kind) as caught:
        pc.trace(svm, (2, 2), (2, 0), hub=hub, max_seconds=1e6)
    path = caught.value.path
    assert path.proof.passes()
    assert 0.0 < path.line.stop.C_minus < 2.0
    assert isinstance(caught.value, KeyboardInterrupt) == (event is pressed)


@pytest.mark.parametrize("seconds", [0, -1.0, np.inf, "soon"])
def test_limits_of_time_are_positive_numbers(seconds):
    with pytest.raises(pc.InputError, match="max_seconds must be"):
        pc.trace(SVM, (1, 1), (2, 1), max_seconds=seconds)


def test_what_is_not_proved_is_not_handed_out():
    error = StoppedError("stopped", t=0.5, costs="", n_margin=None, remedy="")
    path = pc.trace(SVM, (1, 1), (2, 1), certify=False)
    path.pieces.a0[:] += 0.1
    with pytest.raises(StoppedError) as caught:
        finished(path, True, error)
    assert caught.value.path is None
    with pytest.raises(StoppedError) as caught:
        finished(path, False, error)
    assert caught.value.path is path
