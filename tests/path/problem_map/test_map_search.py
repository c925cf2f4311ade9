"""The search for regions against optimality conditions, closed forms, and tables of small cases."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.problem_map import map_search
from paretoclf.path.problem_map.active_sets import ActiveSets, Ray, Singular
from paretoclf.path.problem_map.map_search import SLIVER, SQUARE, ProgramSearch, always_tight, ruled_out
from paretoclf.path.problem_map.problem_map import ProblemMap
from paretoclf.path.regions.polygon import area, borders

RANGES = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}


def plane_of(qp):
    """The compiled program of a map, without its search."""
    kept = []
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(ProgramSearch, "run", lambda self, progress=None: kept.append(self.plane))
        with pytest.raises(pc.InputError):
            pc.plane(qp, RANGES, progress=False)
    return kept[0]


def program(seed, sizes=True):
    """A program in a box, one of whose columns and rows are of other sizes, with an equation."""
    rng = np.random.default_rng(seed)
    n, m = 4, 5
    A, F = rng.normal(size=(m, n)), rng.normal(size=(n, n))
    scale, units = (np.array([1.0, 1e3, 1e-2, 1.0]), np.array([1e2, 1, 1, 1e-3, 1])) if sizes else (1.0, np.ones(5))
    A = units[:, None] * A * scale
    rows = np.vstack([A, np.diag(scale * np.ones(n))])
    up = np.concatenate([units * (1 + rng.random(m)), np.full(n, 2.0)])
    low = np.concatenate([np.full(m, -np.inf), np.full(n, -2.0)])
    low[0] = up[0] = 0.3 * up[0]
    zero, own = np.zeros(n), 0.3 * units * rng.normal(size=(2, m))
    moves = {
        name: {
            "q": scale * rng.normal(size=n) * 8,
            "u": np.concatenate([own[k], zero]),
            "l": np.concatenate([own[k, :1], np.zeros(m - 1), zero]),
        }
        for k, name in enumerate(RANGES)
    }
    P = (F.T @ F) * np.outer(scale * np.ones(n), scale * np.ones(n))
    return pc.QP(P, scale * rng.normal(size=n), rows, low, up, moves=moves)


def without_optimum():
    """Smallest c x, 0 <= x <= b: without a point where b < 0, and x without upper bound where c < 0."""
    moves = {"a": {"q": [1.0, 0.0]}, "b": {"u": [0.0, 0.0, 1.0]}}
    up = [np.inf, np.inf, 0.5]
    return pc.QP(
        np.zeros((2, 2)), [0.25, 1.0], np.array([[1.0, 0], [0, 1.0], [0, 1.0]]), [0, 0, -np.inf], up, moves=moves
    )


def searched(plane):
    search, told = ProgramSearch(plane), []
    search.run(told.append)
    return search, told


def check_pieces(plane, search, told):
    """Optimality at corners and centres, in the units of the program; what is tight is active; areas add up."""
    line, pieces = plane.line, [search.piece(each) for each in search.regions]
    inequality = np.arange(line.m) >= line.equations
    for piece in pieces:
        middle = piece.polygon.mean(axis=0)
        for place in (middle, *(0.999 * piece.polygon + 0.001 * middle)):
            one = np.array([1.0, *place])
            (q,), (b,), _ = plane.data(place[None])
            x, z = piece.x @ one, piece.z @ one
            size = 1e-8 * (1.0 + np.abs(q) + np.abs(line.A.T) @ np.abs(z))
            assert (np.abs(line.P @ x + q + line.A.T @ z) <= size).all()
            slack, sizes = b - line.A @ x, 1e-9 * (1.0 + np.abs(b) + np.abs(line.A) @ np.abs(x))
            assert (slack >= -sizes).all()
            assert (np.abs(slack[~inequality]) <= sizes[~inequality]).all()
            assert (z[inequality] >= -1e-8 * (1 + np.abs(z).max())).all()
            assert (np.abs(slack[piece.active]) <= sizes[piece.active]).all()
            assert not z[~piece.active].any()
        assert area(piece.polygon) > 0
    whole = sum(float(area(piece.polygon)) for piece in pieces)
    assert whole + sum(float(area(each.polygon)) for each in search.outside) == pytest.approx(1.0, abs=1e-9)
    assert sum(told) == pytest.approx(whole)
    return pieces


@pytest.mark.parametrize("seed", range(3))
def test_regions_fulfil_the_optimality_conditions(seed):
    plane = plane_of(program(seed))
    search, told = searched(plane)
    pieces = check_pieces(plane, search, told)
    assert len(pieces) > 5
    assert search.outside == []
    assert search.domain is SQUARE
    for region in search.regions:
        for facet, border in zip(region.facets, borders(region.polygon), strict=True):
            if facet is None:
                continue
            condition = region.basis.conditions[facet[0], :3]
            assert condition / np.hypot(*condition[1:]) == pytest.approx(border, abs=1e-6)
        assert region.key == region.basis.key


def test_the_same_regions_are_found_from_behind_the_edges(monkeypatch):
    plane = plane_of(program(1, sizes=False))
    usual = check_pieces(plane, *searched(plane))

    def across(self, *_):
        raise Singular

    monkeypatch.setattr(ActiveSets, "across", across)
    again = check_pieces(plane, *searched(plane))
    places = [sorted(np.round(each.polygon.mean(axis=0), 7).tolist() for each in some) for some in (usual, again)]
    assert np.array(places[0]) == pytest.approx(np.array(places[1]), abs=1e-6)


def test_parts_without_an_optimum_are_known_in_closed_form():
    plane = plane_of(without_optimum())
    search, told = searched(plane)
    check_pieces(plane, search, told)
    assert sorted(each.status for each in search.outside) == ["infeasible", "unbounded"]
    # In the unit square the cost is negative where s < 3/8, and the upper bound where t < 1/4.
    (region,) = search.regions
    assert region.polygon.min(axis=0) == pytest.approx([0.375, 0.25], abs=1e-7)
    assert region.polygon.max(axis=0) == pytest.approx([1.0, 1.0])
    for part in search.outside:
        gain = plane.gain(part.status, part.ray)
        corner = {"unbounded": [-0.375, 1.0, 0.0], "infeasible": [-0.25, 0.0, 1.0]}[part.status]
        assert gain / np.hypot(*gain[1:]) == pytest.approx(-np.array(corner), abs=1e-9)
    assert area(search.domain) == pytest.approx(0.625 * 0.75, abs=1e-7)


def test_where_there_is_no_optimum_at_all_nothing_is_left():
    rows = np.array([[1.0], [-1.0]])
    plane = plane_of(pc.QP([[1.0]], [0.0], rows, None, [-3.0, 1.0], moves={"a": {"q": [1.0]}, "b": {"u": [1.0, 0.0]}}))
    search, told = searched(plane)
    assert (search.regions, search.domain, told) == ([], None, [])
    assert sum(float(area(each.polygon)) for each in search.outside) == pytest.approx(1.0)


def test_a_ray_that_does_not_reach_a_point_rules_out_nothing():
    plane = plane_of(without_optimum())
    for place, reached in (([0.3, 0.9], True), ([0.4, 0.9], False)):
        search = ProgramSearch(plane)
        found = ProgramSearch(plane).bases.optimal(np.array([0.2, 0.9]), 1e-9)
        assert isinstance(found, Ray)
        assert search._take(found, np.array(place)) is reached
        assert (len(search.outside) == 1) is reached
        assert area(search.domain) == pytest.approx(0.625 if reached else 1.0)
    assert not search._take(Ray("infeasible", np.zeros(plane.line.m)), np.array([0.5, 0.5]))
    assert area(search.domain) == 1.0


def test_a_search_that_finds_nothing_says_where(monkeypatch):
    plane = plane_of(without_optimum())
    search = ProgramSearch(plane, lambda at: f"a place {at.sum() < 2}")

    def refused(self, *_):
        raise DegeneratePathError("lost", t=None, costs="", n_margin=None, remedy="")

    for patch, cause in (
        (("optimal", refused), "lost"),
        (("optimal", lambda self, *_: Ray("infeasible", np.zeros(self.m))), "that there is no optimum is not proved"),
    ):
        with monkeypatch.context() as context:
            context.setattr(ActiveSets, *patch)
            with pytest.raises(DegeneratePathError, match=cause) as raised:
                search.run()
            assert "a place True" in str(raised.value)
    monkeypatch.setattr(ProgramSearch, "_cell", lambda self, basis: None)
    with pytest.raises(DegeneratePathError, match="no region around the first point"):
        search.run()


def test_edges_behind_which_nothing_is_found_end_the_search(monkeypatch):
    plane = plane_of(program(1, sizes=False))
    search, steps = ProgramSearch(plane), []
    first = search._cell(search.bases.optimal(np.array([0.511, 0.487]), 1e-9))

    def optimal(self, place, near):
        steps.append(place)
        return first.region.basis

    monkeypatch.setattr(ActiveSets, "optimal", optimal)
    j = next(iter(first.open))
    point = np.mean(first.ends(j), axis=0)
    with pytest.raises(DegeneratePathError, match="no region found across an edge"):
        search._behind(first, j, point, -np.array(first.borders[j][1:]))
    away = [-(np.array([1.0, *place]) @ np.array(first.borders[j])) for place in steps]
    assert away == pytest.approx([1e-6, 1e-5, 1e-4, 1e-3], rel=1e-3)


def test_points_inside_of_polygons():
    search = SimpleNamespace()
    for polygon in (SQUARE, np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 1.0]]), SQUARE[:3] * [1, 1e-6]):
        at = ProgramSearch._inside(search, polygon)
        middle = polygon.mean(axis=0) if len(polygon) == 3 else [0.5, 0.5]
        assert min(np.array(borders(polygon)) @ [1.0, *at]) > 0
        assert 0 < np.abs(at - middle).max() < 0.1


def test_what_a_ray_rules_out():
    out, left = ruled_out(SQUARE, np.array([-0.5, 2.0, 0.0]))
    assert (area(out), area(left)) == pytest.approx((0.75, 0.25))
    assert out[:, 0].min() == pytest.approx(0.25)
    assert ruled_out(SQUARE, np.array([1.0, 1.0, 0.0]))[1] is None
    out, left = ruled_out(SQUARE, np.array([-1.0, -1.0, 0.0]))
    assert (out, area(left)) == (None, 1.0)
    for share, kept in ((0.5, False), (3.0, True)):
        assert (ruled_out(SQUARE, np.array([-share * SLIVER, 1.0, 0.0]))[1] is not None) is kept


def tight(A, q=0.0, P=0.0, equations=0):
    A = np.array(A, dtype=float)
    m, n = A.shape
    line = SimpleNamespace(A=sp.csc_array(A), P=sp.csc_array(np.diag(np.full(n, float(P)))), m=m, equations=equations)
    return always_tight(SimpleNamespace(line=line, q=np.full((3, n), float(q)))).tolist()


def test_bounds_that_may_hold_everywhere():
    both = [[1, -1], [-1, -1], [0, 1]]  # abs(u) <= v <= 1
    assert tight(both) == [False, False, True]
    assert tight(both, q=1.0) == [False] * 3
    assert tight(both, P=1.0) == [False] * 3
    assert tight(both, equations=1) == [True, False, False]
    assert tight(-np.array(both)) == [False, False, True]
    assert tight([[1, -1], [-1, 1], [0, 1]]) == [False] * 3
    assert tight([[0, 1], [0, 1], [1, -1]]) == [False] * 3
    assert tight([[1.0, 0.0], [0.0, 1.0]]) == [False] * 2
    assert tight([[1, -1, 0], [0, 1, 0], [1, 0, -1], [0, 0, 1]]) == [False, True, False, True]


def test_a_bound_that_always_holds_is_active_where_it_has_a_multiplier():
    rows = np.array([[1.0, -1.0], [-1.0, -1.0], [0.0, 1.0]])  # abs(u) <= v <= 1 + b / 2
    moves = {"a": {"q": [4.0, 0.0]}, "b": {"u": [0.0, 0.0, 0.5]}}
    plane = plane_of(pc.QP(np.diag([1.0, 0.0]), [0.0, 0.0], rows, None, [0.0, 0.0, 1.0], moves=moves))
    pieces, known = check_pieces(plane, *searched(plane)), always_tight(plane)
    assert known.sum() == 1
    reached = [bool(piece.active[known][0]) for piece in pieces]
    assert reached == [bool(piece.z[known].any()) for piece in pieces]
    assert sorted(reached) == [False, True, True]


def test_maps_are_made_of_what_is_found():
    plane = plane_of(without_optimum())
    assert isinstance(plane, ProgramPlane)
    empty = ProblemMap(plane, RANGES, (), (), ())
    error = ProgramSearch(plane, empty.where).refuse("cause", np.array([0.5, 0.75]), None)
    assert "a = 0, b = 0.5" in str(error)
    assert map_search.ProgramSearch(plane).touch == 10 * SLIVER
