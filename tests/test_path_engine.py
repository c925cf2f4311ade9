"""The loop on toy problems whose steps are written down beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.errors import DegeneratePathError
from paretoclf.path.engine import follow


class Schedule:
    """A problem whose steps are written down beforehand; a step beyond the schedule is the last one."""

    def __init__(self, steps, size=1):
        self.steps, self.size = list(steps), size
        self.recorded, self.pivots, self.careful = [], [], []

    def advance(self, t, limit):
        return t, 0, False

    def piece(self, t):
        return ("piece", t)

    def next_event(self, piece, t, careful):
        assert piece == ("piece", t)
        self.careful.append(careful)
        return (self.steps.pop(0), f"event after {t}") if self.steps else (np.inf, None)

    def pivot(self, piece, event, t):
        self.pivots.append((event, t))

    def record(self, piece, t, t_next):
        self.recorded.append((t, t_next))

    def describe(self, t):
        return {"costs": "C_plus = 1, C_minus = 2", "n_margin": 7, "size": self.size}


class Endless(Schedule):
    """Always one more step of the same length."""

    def __init__(self, step, size=1):
        super().__init__([], size)
        self.step = step

    def next_event(self, piece, t, careful):
        self.careful.append(careful)
        return self.step, "again"


def test_count_down():
    problem = Schedule([0.5, 0.25, 0.125])
    seen = []
    assert follow(problem, progress=seen.append) == 3
    assert problem.recorded == [(0.0, 0.5), (0.5, 0.75), (0.75, 0.875), (0.875, 1.0)]
    assert problem.pivots == [("event after 0.0", 0.5), ("event after 0.5", 0.75), ("event after 0.75", 0.875)]
    assert seen == [0.5, 0.75, 0.875, 1.0]


def test_no_event_at_all():
    problem = Schedule([])
    assert follow(problem) == 0
    assert problem.recorded == [(0.0, 1.0)]
    assert problem.pivots == []


def test_event_beyond_the_end_is_not_carried_out():
    problem = Schedule([0.5, 0.75])
    assert follow(problem) == 1
    assert problem.recorded == [(0.0, 0.5), (0.5, 1.0)]
    assert len(problem.pivots) == 1


def test_zero_steps_record_nothing_and_then_care_is_taken():
    problem = Schedule([0.5] + [0.0] * 60 + [0.25])
    assert follow(problem) == 62
    assert problem.recorded == [(0.0, 0.5), (0.5, 0.75), (0.75, 1.0)]
    assert not any(problem.careful[:50])
    assert any(problem.careful)
    assert not problem.careful[-1]  # progress ends the caution


def test_exchanges_in_place_on_the_fast_road_count_as_a_stall():
    class InPlace(Schedule):
        calls = 0

        def advance(self, t, limit):
            self.calls += 1
            return t, 20, False

    problem = InPlace([0.0] * 60 + [0.5])
    assert follow(problem) == 3 * 21 + 58 + 20
    assert problem.calls == 4  # three times in vain, and once more after the step of 0.5
    assert problem.careful[:3] == [False, False, True]


@pytest.mark.parametrize("limit", [0, 1, 17])
def test_one_that_never_ends_is_refused_at_the_cap(limit):
    problem = Endless(2.0**-10)
    with pytest.raises(DegeneratePathError, match=f"more than {limit} exchanges") as caught:
        follow(problem, max_events=limit)
    assert caught.value.t == (limit + 1) * 2.0**-10
    assert "max_events" in str(caught.value)


def test_the_default_cap_grows_with_the_size():
    with pytest.raises(DegeneratePathError, match="more than 10200 exchanges"):
        follow(Endless(1e-9))


def test_one_that_stalls_names_cause_and_position():
    problem = Schedule([0.25] + [0.0] * 5000, size=3)
    with pytest.raises(DegeneratePathError) as caught:
        follow(problem)
    message = str(caught.value)
    assert caught.value.t == 0.25
    assert "no progress" in caught.value.cause
    for part in ("no progress", "t = 0.25", "C_plus = 1, C_minus = 2", "margin set of 7", "different line"):
        assert part in message
    assert problem.recorded == [(0.0, 0.25)]


def test_a_step_too_short_to_move_counts_as_a_stall():
    problem = Schedule([0.5] + [1e-20] * 5000)
    with pytest.raises(DegeneratePathError, match="no progress"):
        follow(problem)


# ---- regular steps -----------------------------------------------------------------------------------------------


class Regular(Schedule):
    """Runs of regular steps (new t, exchanges, at the end), and careful steps between them."""

    def __init__(self, runs, steps=(), size=1):
        super().__init__(steps, size)
        self.runs, self.limits = list(runs), []

    def advance(self, t, limit):
        self.limits.append(limit)
        return self.runs.pop(0) if self.runs else (t, 0, False)


def test_regular_steps_to_the_end_need_no_careful_one():
    problem, seen = Regular([(1.0, 12, True)]), []
    assert follow(problem, progress=seen.append) == 12
    assert problem.careful == problem.recorded == problem.pivots == []
    assert seen == [1.0]


def test_careful_steps_go_on_where_the_regular_ones_stopped():
    problem, seen = Regular([(0.25, 3, False), (0.75, 2, False), (0.75, 0, False)], [0.25, 0.125]), []
    assert follow(problem, progress=seen.append) == 3 + 1 + 2 + 1
    assert problem.recorded == [(0.25, 0.5), (0.75, 0.875), (0.875, 1.0)]
    assert problem.pivots == [("event after 0.25", 0.5), ("event after 0.75", 0.875)]
    assert seen == [0.25, 0.5, 0.75, 0.875, 1.0]


def test_after_a_full_run_of_regular_steps_no_careful_one_is_taken():
    problem = Regular([(0.1, 1000, False), (0.2, 1000, False), (1.0, 7, True)])
    assert follow(problem, max_events=5000) == 2007
    assert problem.careful == []
    assert problem.limits == [1000, 1000, 1000]


def test_the_cap_counts_regular_exchanges():
    problem = Regular([(0.5, 4, False), (0.75, 2, False)], [0.125])
    with pytest.raises(DegeneratePathError, match="more than 6 exchanges") as caught:
        follow(problem, max_events=6)
    assert caught.value.t == 0.75
    assert problem.limits == [7, 2]  # one more than allowed says that it is too many
    assert len(problem.pivots) == 1
    assert follow(Regular([(0.5, 4, False), (1.0, 2, True)], [0.125]), max_events=7) == 7


def test_progress_of_regular_steps_forgets_the_stall_before():
    problem = Regular([*[(0.5, 0, False)] * 40, (0.75, 1, False)], [0.0] * 80)
    assert follow(problem) == 81
    assert len(problem.careful) == 81
    assert not any(problem.careful)


def test_while_care_is_taken_there_are_no_regular_steps():
    problem = Regular([(0.5, 0, False)] * 5000, [0.0] * 60 + [0.25])
    assert follow(problem) == 61
    assert problem.careful == [False] * 51 + [True] * 10 + [False]
    assert len(problem.limits) == 52


def test_regular_steps_of_length_zero_are_no_progress():
    with pytest.raises(DegeneratePathError, match="no progress"):
        follow(Regular([(0.5, 1, False)] * 5000, [0.0] * 5000))
