"""Paths in parts: what a path in one is, breakpoints and values, also where parts meet at a point of their own kind."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError, InterruptedPath
from paretoclf.engine import parts as engine_parts
from tests.oracles.lines import FAMILIES

SHARES = np.linspace(0.0, 1.0, 23)
ENDS = {"s": 0.0}, {"s": 1.0}


def both(problem, parts, ends=ENDS, **how):
    return pc.trace(problem, *ends), pc.trace(problem, *ends, parts=parts, **how)


def assert_same(one, other, unique=True):
    """Breakpoints, values and points of two paths, both proved."""
    assert one.status == other.status
    np.testing.assert_allclose(other.breakpoints, one.breakpoints, rtol=0, atol=1e-12)
    t = SHARES * one.breakpoints[-1]
    size = np.abs(one.value(t)).max()
    np.testing.assert_allclose(other.value(t), one.value(t), rtol=1e-12, atol=1e-12 * max(size, 1.0))
    assert one.proof.passes(1e-9)
    assert other.proof.passes(1e-9)
    if unique:
        for name in one.variables:
            x, y = ([point.variables[name] for point in path.at(t)] for path in (one, other))
            np.testing.assert_allclose(y, x, rtol=0, atol=1e-9 * max(1.0, np.abs(x).max()))


def quadratic(n=12, m=20, seed=0):
    """A random quadratic program with two-sided rows and a moving objective."""
    rng = np.random.default_rng(seed)
    F, A = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    return pc.QP(
        F.T @ F / n, rng.normal(size=n), A, -np.ones(m), np.ones(m), moves={"s": {"q": 5 * rng.normal(size=n)}}
    )


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_are_the_path_in_one(parts):
    one, other = both(quadratic(), parts)
    assert_same(one, other)
    np.testing.assert_array_equal(other.labels, one.labels)
    assert [str(event.changes) for event in other.events] == [str(event.changes) for event in one.events]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_values_of_its_path_in_one(family):
    problem, start, stop = FAMILIES[family]()
    one, other = both(problem, 3, (start, stop))
    t = SHARES
    assert other.status == "end"
    np.testing.assert_allclose(other.value(t), one.value(t), rtol=1e-11, atol=1e-11 * np.abs(one.value(t)).max())
    assert other.proof.passes(1e-9)


def test_parts_of_a_sparse_program_are_the_path_in_one():
    from tests.engine.test_forecast import linear_program

    problem = linear_program(350)
    ends = {"share": 0.0}, {"share": 1.0}
    one, other = both(problem, 4, ends)
    assert sp.issparse(engine_parts._stretch(_reduced(problem, ends), 0.0, 0.5).P)
    assert_same(one, other, unique=False)


def _reduced(problem, ends):
    from paretoclf.engine.reduction.presolve import reduce
    from paretoclf.solve.sources.array_line import LineOfArrays

    return reduce(LineOfArrays(problem, *ends, False).line).problem


def test_processes_find_the_same_numbers():
    one = pc.trace(quadratic(), *ENDS, parts=3)
    other = pc.trace(quadratic(), *ENDS, parts=3, n_jobs=2)
    for name in ("t", "x", "z", "labels"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name))


# ---- joints of their own kind ----------------------------------------------------------------------------------------


def test_a_breakpoint_exactly_where_parts_meet():
    """The least of (v - 3)^2 / 2 + 4 s v with v at least 1 is at 3 - 4 s until s = 1/2."""
    problem = pc.QP([[1.0]], [-3.0], [[1.0]], [1.0], None, moves={"s": {"q": [4.0]}})
    for parts in (2, 4):
        one, other = both(problem, parts)
        assert_same(one, other)
        assert other.breakpoints.tolist() == [0.0, 0.5, 1.0]
        assert [event.t for event in other.events] == [0.5]


def test_ties_where_parts_meet():
    """Three items change at s = 1/2, two of them at both ends of the line, too."""
    rows, low = np.eye(3), np.array([1.0, 1.0, 1.0])
    problem = pc.QP(np.eye(3), [-3.0, -3.0, -3.0], rows, low, np.full(3, 3.0), moves={"s": {"q": [4.0, 4.0, 4.0]}})
    one, other = both(problem, 2)
    assert_same(one, other)
    assert other.breakpoints.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("parts", [2, 4, 6])
def test_a_jump_where_parts_meet(parts):
    """The least of (s - 1/2) x on [-1, 1] is at 1, and then at -1."""
    problem = pc.QP(None, [-0.5], [[1.0]], [-1.0], [1.0], moves={"s": {"q": [1.0]}})
    one, other = both(problem, parts)
    assert_same(one, other, unique=False)
    assert other.breakpoints.tolist() == [0.0, 0.5, 1.0]
    assert [float(other.at(t).variables["x"][0]) for t in (0.25, 0.75)] == [1.0, -1.0]


def degenerate(seed):
    """A linear program of small whole numbers: vertices on more rows than they need, and prices of 0."""
    rng = np.random.default_rng(seed)
    n, m = 4, 9
    A = np.vstack([rng.integers(-2, 3, (m, n)), np.eye(n)]).astype(float)
    upper = np.append(rng.integers(0, 3, m), np.full(n, 2.0)).astype(float)
    lower = np.append(np.full(m, -np.inf), np.zeros(n))
    moves = {"s": {"u": np.append(rng.integers(0, 3, m), np.zeros(n)).astype(float), "q": rng.integers(-2, 3, n)}}
    return pc.QP(None, rng.integers(-3, 4, n).astype(float), A, lower, upper, moves=moves)


@pytest.mark.parametrize("seed", range(12))
def test_degenerate_vertices_where_parts_meet(seed):
    problem = degenerate(seed)
    for parts in (2, 3):
        one, other = both(problem, parts)
        assert_same(one, other, unique=False)


@pytest.mark.parametrize("parts", [2, 3, 5])
@pytest.mark.parametrize("end", [0.3, 0.5, 0.6])
def test_an_end_inside_a_part_or_where_parts_meet(parts, end):
    """x is at least 10 s and at most 10 end; beyond there is no point, and beyond another end no bound."""
    bounded = pc.QP(None, [1.0], [[1.0], [1.0]], [0.0, -np.inf], [np.inf, 10 * end], moves={"s": {"l": [10.0, 0.0]}})
    falling = pc.QP(None, [end], [[1.0]], [0.0], None, moves={"s": {"q": [-1.0]}})
    for problem, status in ((bounded, "infeasible"), (falling, "unbounded")):
        one, other = both(problem, parts)
        assert one.status == status
        assert_same(one, other, unique=False)
        assert other.beyond.verdict == one.beyond.verdict
        assert other.beyond.t == pytest.approx(one.beyond.t, abs=1e-12)
        assert other.beyond.proof.passes()


def test_without_an_optimum_at_the_start_the_words_are_the_same():
    """x + y is at least 5, and at most 10 s."""
    A = [[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    lower, upper = [5.0, -np.inf, 0.0, 0.0], [np.inf, 0.0, 9.0, 9.0]
    problem = pc.QP(None, [1.0, 2.0], A, lower, upper, moves={"s": {"u": [0.0, 10.0, 0.0, 0.0]}})
    said = []
    for how in ({}, {"parts": 4}):
        with pytest.raises(pc.InputError) as caught:
            pc.trace(problem, *ENDS, **how)
        said.append(str(caught.value))
    assert said[0] == said[1]


def two_kinks():
    """The least of (v - 3)^2 / 2 + 4 s v in two variables, one of which is bounded from s = 1/2 on, one from 3/4 on."""
    return pc.QP(np.eye(2), [-3.0, -3.0], np.eye(2), [1.0, 0.0], None, moves={"s": {"q": [4.0, 4.0]}})


@pytest.mark.parametrize("soon", [1, 2, 8])
def test_where_labels_differ_the_path_goes_on_until_both_agree(monkeypatch, soon):
    """At a breakpoint the parts begin on other labels; one exchange later they are on those of the path in one."""
    met = []
    original = engine_parts._meeting
    monkeypatch.setattr(engine_parts, "_meeting", lambda *paths: met.append(original(*paths)) or met[-1])
    monkeypatch.setattr(engine_parts, "_SOON", soon)
    one, other = both(two_kinks(), 2)
    assert len(met) == 1
    assert met[0] is not None
    assert_same(one, other)
    assert other.breakpoints.tolist() == [0.0, 0.5, 0.75, 1.0]


def test_where_labels_never_agree_the_path_goes_on_to_the_end_of_the_part(monkeypatch):
    monkeypatch.setattr(engine_parts, "_meeting", lambda *paths: None)
    monkeypatch.setattr(engine_parts, "_SOON", 1)
    for problem, parts in ((two_kinks(), 2), (two_kinks(), 4), *((degenerate(seed), 3) for seed in range(12))):
        one, other = both(problem, parts)
        assert_same(one, other, unique=False)


def test_an_interrupt_keeps_the_parts_that_are_there(monkeypatch):
    def interrupted(pieces, *given):
        yield next(iter(pieces))
        raise KeyboardInterrupt

    monkeypatch.setattr(engine_parts, "counted", interrupted)
    one = pc.trace(quadratic(), *ENDS)
    with pytest.raises(InterruptedPath) as caught:
        pc.trace(quadratic(), *ENDS, parts=4)
    part = caught.value.path
    assert part.breakpoints[-1] == 0.25
    assert part.value(0.2) == pytest.approx(one.value(0.2), rel=1e-12)
    assert part.proof.passes()


def test_errors_come_through_other_processes():
    error = DegeneratePathError("it stalls", t=0.5, costs="here", n_margin=3, remedy="Wait.")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert (again.cause, again.t, again.costs, again.where) == (error.cause, 0.5, "here", error.where)
