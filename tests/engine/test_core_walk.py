"""Tests of `paretoclf.engine.core_walk`: the core's walks say of a path what the textbook's says in fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretoclf.engine.engines import ENGINES, textbook_walk
from paretoclf.engine.general import follow
from paretoclf.engine.start import Data, first_labels, shifted
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.random_programs import fractions, program

pytestmark = pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")

if "fast" in ENGINES:
    from paretoclf.engine.core_walk import AfreshWalk, CoreWalk, FineWalk, TwiceWalk

KINDS = ("CoreWalk", "AfreshWalk", "FineWalk", "TwiceWalk")


def walk_of(kind):
    return {"CoreWalk": CoreWalk, "AfreshWalk": AfreshWalk, "FineWalk": FineWalk, "TwiceWalk": TwiceWalk}[kind]


def problems(count=12):
    """Small degenerate programs that have an optimum at the start, as doubles and in fractions."""
    for seed in range(60):
        raw = program(seed)
        if raw is None:
            continue
        exact = follow(ParametricQP(*map(fractions, raw)), progress=False)
        if exact.segments and exact.t[-1] > 0:
            yield ParametricQP(*(np.asarray(each, dtype=float) for each in raw)), exact
            count -= 1
        if not count:
            return


def started(walk, problem, keep=True, **how):
    """A walk from t = 0, and what it found."""
    data, labels = Data.of(problem), first_labels(Data.of(problem))
    first = walk(shifted(data, labels, walk), labels)
    assert first.follow(10_000, keep=False).status == "end"
    second = walk(data, first.labels)
    return second, second.follow(how.pop("limit", 10_000), keep=keep, **how)


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_ends_where_and_as_the_exact_one_does(kind):
    ends = set()
    for problem, exact in problems():
        _, found = started(walk_of(kind), problem)
        assert found.status == exact.status
        assert float(found.t[-1]) == pytest.approx(float(exact.t[-1]), abs=1e-12)
        ends.add(found.status)
        q = [(1 - found.t[-1]) * problem.q[0] + found.t[-1] * problem.q[1]]
        values = []
        for each in (found, exact):
            x = np.asarray(each.path.points(slice(-1, None))[0][0], dtype=float)
            values.append(0.5 * x @ problem.P @ x + q[0] @ x)
        if (np.isinf(problem.below) & np.isinf(problem.above)).all():  # no prices
            assert values[0] == pytest.approx(values[1], abs=1e-9)
        if found.status in ("infeasible", "unbounded") and found.item < 0:
            assert found.ray.shape == (problem.items,)
            assert np.abs(found.ray).max() > 0.0
    assert len(ends) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_twice_precise_walks_write_down_whole_points(kind):
    problem, _ = next(iter(problems()))
    _, found = started(walk_of(kind), problem)
    whole = found.path.place is None
    assert whole == (kind in ("FineWalk", "TwiceWalk"))
    assert found.path.number.size <= found.path.count * (problem.n + problem.items)


def test_without_the_segments_a_walk_ends_at_the_same_labels():
    for problem, _ in problems(6):
        kept, found = started(CoreWalk, problem)
        other, short = started(CoreWalk, problem, keep=False)
        np.testing.assert_array_equal(kept.labels, other.labels)
        assert (short.segments, short.status, short.exchanges) == (0, found.status, found.exchanges)
        assert short.t.tolist() == [found.t[-1]]


def test_a_walk_stops_at_its_limit_and_tells_how_far_it_is():
    problem = max((each for each, _ in problems()), key=lambda each: started(CoreWalk, each)[1].exchanges)
    told = []
    _, whole = started(CoreWalk, problem, report=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(float(whole.t[-1]))
    _, found = started(CoreWalk, problem, limit=1)
    assert whole.exchanges > 1
    assert (found.status, found.exchanges) == ("limit", 1)
    assert found.t[-1] <= whole.t[-1]


def test_the_matrix_is_read_once_for_all_lines_of_a_problem():
    problem, _ = next(iter(problems()))
    data = Data.of(problem)
    for kind in ("CoreWalk", "FineWalk"):
        walk_of(kind)(data, first_labels(data))
        walk_of(kind)(data, first_labels(data))
    assert set(data.read) == {CoreWalk, FineWalk}


def test_values_and_multipliers_on_a_basis_are_those_of_the_textbook():
    for problem, _ in problems(6):
        data, labels = Data.of(problem), first_labels(Data.of(problem))
        for mine, other in zip(
            CoreWalk(data, labels).solve(0.3), textbook_walk()(data, labels).solve(0.3), strict=True
        ):
            np.testing.assert_allclose(mine, np.asarray(other, dtype=float), atol=1e-12)


def test_squares_stand_for_a_matrix_of_few_rows_only():
    problem, _ = next(iter(problems()))
    data = Data.of(problem)
    walk = CoreWalk(data, first_labels(data))
    F = np.random.default_rng(0).normal(size=(2, 64))
    assert walk.squares(F.T @ F).shape == (2, 64)
    assert walk.squares(np.eye(64)).shape == (0, 64)
    more = np.random.default_rng(0).normal(size=(5, 64))  # more than a sixteenth
    assert walk.squares(more.T @ more).shape == (0, 64)


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimum_at_the_start_alone_is_a_segment_of_no_length(kind):
    """Minimise - t x with x >= 0 and y = 1: whatever t is, beyond 0 there is no least value."""
    low, high, none = np.array([[0.0, 1.0]] * 2), np.array([[np.inf, 1.0]] * 2), np.full((2, 2), np.inf)
    problem = ParametricQP(
        np.zeros((2, 2)), np.zeros((0, 2)), np.array([[0.0, 0.0], [-1.0, 0.0]]), low, high, none, none
    )
    data = Data.of(problem)
    found = walk_of(kind)(data, first_labels(data)).follow(100)
    assert (found.status, found.segments, found.t.tolist()) == ("unbounded", 1, [0.0, 0.0])
    x, y = found.path.spread()
    assert x.tolist() == [[[0.0, 1.0], [0.0, 1.0]]]
    assert y.shape == (1, 2, 2)
    assert found.ray.tolist() == [1.0, 0.0]


def test_the_keyboard_is_for_who_has_no_use_for_a_part(monkeypatch):
    """A trace that says "interrupted" is for who gives a deadline: others took it for a path without an optimum."""
    problem, _ = next(iter(problems()))
    run, pressed = CoreWalk._run, []

    def pressing(self, limit, keep, report, deadline):
        if keep:
            pressed.append(deadline)
            raise KeyboardInterrupt
        return run(self, limit, keep, report, deadline)

    monkeypatch.setattr(CoreWalk, "_run", pressing)
    assert follow(problem, progress=False, deadline=math.inf).status == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        follow(problem, progress=False)
    assert pressed == [math.inf, None]
