"""Maps of a program whose strips were looked at side by side: the regions of the map in one."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.problem_map import strips
from paretoclf.path.problem_map.map_search import ProgramSearch
from tests.oracles import planar_programs as planar
from tests.path.problem_map.test_map_search import RANGES, program, without_optimum

UNIT = {"s": (0.0, 1.0), "r": (0.0, 1.0)}


def quadratic(n=8, m=16, seed=0):
    """A random quadratic program with two-sided rows and two moving objectives."""
    rng = np.random.default_rng(seed)
    F, A = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    moves = {name: {"q": 5 * rng.normal(size=n)} for name in UNIT}
    return pc.QP(F.T @ F / n, rng.normal(size=n), A, -np.ones(m), np.ones(m), moves=moves)


def assert_same(one, other):
    """The same regions, whatever their order, touching at the same places, both proved."""
    assert len(other.regions) == len(one.regions)
    assert len(other.contacts) == len(one.contacts)
    assert one.proof.passes()
    assert other.proof.passes()
    mine = {piece.active.tobytes(): piece for piece in one.pieces}
    assert len(mine) == len(one.pieces)
    for piece in other.pieces:
        known = mine[piece.active.tobytes()]
        assert len(piece.polygon) == len(known.polygon)
        np.testing.assert_allclose(piece.polygon.mean(axis=0), known.polygon.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(piece.x, known.x, atol=1e-7 * np.abs(known.x).max())
    assert len(other.outside) == len(one.outside)


@pytest.mark.parametrize(
    ("problem", "ranges"),
    [(quadratic(), UNIT), (quadratic(5, 10, 3), UNIT), (program(0), RANGES), (program(1, sizes=False), RANGES)],
)
def test_a_map_of_strips_is_the_map_in_one(problem, ranges):
    assert_same(pc.plane(problem, ranges), pc.plane(problem, ranges, n_jobs=1))


def mapped(problem, n_jobs):
    """The map, or the words in which it is refused as there is no optimum anywhere."""
    try:
        return pc.plane(problem, planar.SQUARE, n_jobs=n_jobs)
    except pc.InputError as refused:
        return str(refused)


@pytest.mark.parametrize("seed", range(12))
def test_degenerate_programs_have_the_map_in_one(seed):
    """Of small whole numbers, with parts without an optimum; and linear ones, on more rows than they need."""
    for problem in (planar.degenerate(seed), planar.degenerate_linear(seed, 4, 8)):
        one, other = (mapped(problem, n_jobs) for n_jobs in (None, 1))
        if isinstance(one, str):
            assert other == one
            continue
        assert_same(one, other)
        points = np.random.default_rng(seed).uniform(-0.99, 0.99, (20, 2))
        np.testing.assert_allclose(other.values("value", points), one.values("value", points), rtol=1e-10, atol=1e-10)


def test_parts_without_an_optimum_are_those_of_the_map_in_one():
    assert_same(*(pc.plane(without_optimum(), RANGES, n_jobs=n_jobs) for n_jobs in (None, 1)))


def test_processes_find_the_same_numbers():
    one, other = (pc.plane(quadratic(), UNIT, n_jobs=n_jobs) for n_jobs in (1, 2))
    for mine, theirs in zip(one.pieces, other.pieces, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    for mine, theirs in zip(one.contacts, other.contacts, strict=True):
        assert (mine.first, mine.second) == (theirs.first, theirs.second)
        np.testing.assert_array_equal(mine.start, theirs.start)


def test_guesses_save_the_walk_its_own_looks(monkeypatch):
    looks, original = [], ProgramSearch.beyond
    monkeypatch.setattr(ProgramSearch, "beyond", lambda self, *edge: looks.append(type(self)) or original(self, *edge))
    found = pc.plane(quadratic(), UNIT, n_jobs=1)
    assert looks.count(strips.StripSearch) >= len(found.regions)
    assert looks.count(strips.GuidedSearch) < 0.1 * len(found.regions)


def test_a_strip_that_is_refused_and_guesses_that_are_wrong_cost_time_only(monkeypatch):
    one = pc.plane(quadratic(), UNIT)
    original = strips.strip_regions

    def some(plane, low, high):
        found = original(plane, low, high)
        shifted = [(polygon + 1e-3, *rest) for polygon, *rest in found[:5]]
        return [] if low < 0.4 else [*shifted, *found[5:]]

    monkeypatch.setattr(strips, "strip_regions", some)
    assert_same(one, pc.plane(quadratic(), UNIT, n_jobs=1))


def test_a_map_of_costs_takes_no_processes():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    with pytest.raises(pc.InputError, match="n_jobs must be left out for a map of costs, got 2"):
        pc.plane(svm, (0.1, 1), (0.1, 1), n_jobs=2)
