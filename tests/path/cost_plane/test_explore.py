"""The search for regions of the cost plane: by exchanges, by the trackers, and against optimality conditions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.box import AnyBox
from paretoclf.path.cost_plane import explore
from paretoclf.path.cost_plane.explore import RegionSearch
from paretoclf.path.regions.critical_region import Bases, Sets
from paretoclf.path.regions.edge_walk import Cell
from paretoclf.path.regions.polygon import borders, rectangle

FRAME = (0.05, 2.0)


def small(n=8, seed=0, kernel=True):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 3, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.5 * y[:, None]
    weight = rng.uniform(0.5, 2.0, n)
    return pc.TwoCSVM(X, y, kernel=pc.RBF(1.0) if kernel else None, sample_weight=weight)


def started(svm):
    """A search, and the basis at its first point."""
    frame = rectangle(FRAME, FRAME)
    path = pc.trace(svm, (1.1, 0.9), (1.101, 0.902), certify=False, progress=False)
    t = 0.5 * float(path.pieces.t[1])
    search = RegionSearch(svm.gram, svm.y, svm.sample_weight, Bases(svm.gram, svm.y, svm.sample_weight, frame))
    return search, Sets(*path.basis(t)), np.array(tuple(path.costs(t)))


def searched(svm):
    search, basis, at = started(svm)
    told = []
    search.run(basis, at, told.append)
    assert sum(told) == pytest.approx(1.95**2)
    return search


def check_optimal(svm, search):
    """Areas add up, and multipliers and intercepts fulfil the conditions, computed from the kernel matrix again."""
    K, y, weight = svm.gram.matrix, svm.y, svm.sample_weight
    unit = weight[:, None] * np.stack([y > 0, y < 0], axis=1)
    assert sum(region.area for region in search.regions) == pytest.approx(1.95**2)
    for region in search.regions:
        for costs in (region.centroid, *(0.999 * region.polygon + 0.001 * region.centroid)):
            one = np.array([1.0, *costs])
            alpha, caps = y * (region.coefficients(unit) @ one) * y, unit @ costs
            assert (alpha >= -1e-9).all()
            assert (alpha <= caps + 1e-9).all()
            assert y @ alpha == pytest.approx(0.0, abs=1e-9)
            margins = y * (K @ (y * alpha) + region.b_map @ one) - 1
            assert (margins[alpha < caps - 1e-9] >= -1e-8).all()
            assert (margins[alpha > 1e-9] <= 1e-8).all()


def places(search):
    return np.array(sorted(np.round(region.centroid, 7).tolist() for region in search.regions))


@pytest.fixture(scope="module", params=[True, False], ids=["rbf", "linear"])
def mapped(request):
    svm = small(kernel=request.param)
    return svm, searched(svm)


def test_regions_are_optimal(mapped):
    svm, search = mapped
    assert len(search.regions) > 8
    check_optimal(svm, search)
    shared = sum(2 * np.hypot(*(stop - start)) for _, _, start, stop in search.contacts)
    inner = 0.0
    for region in search.regions:
        sizes = np.hypot(*(np.roll(region.polygon, -1, axis=0) - region.polygon).T)
        inner += sum(size for size, facet in zip(sizes, region.facets, strict=True) if facet is not None)
    assert shared == pytest.approx(inner, abs=1e-6)


@pytest.mark.parametrize("core", [True, False])
def test_trackers_alone_find_the_same_regions(mapped, core, monkeypatch):
    svm, usual = mapped
    monkeypatch.setattr(Bases, "beyond", lambda self, region, edge: None)
    if not core:
        monkeypatch.setattr(explore, "make_tracker", lambda *_: None)
    search = searched(svm)
    assert isinstance(search._engine, AnyBox) is not core
    check_optimal(svm, search)
    if svm.kernel is not None:
        assert places(search) == pytest.approx(places(usual), abs=1e-6)


def test_exchanges_find_most_neighbours_and_known_ones_are_not_solved_again(mapped, monkeypatch):
    svm, usual = mapped
    tracked, solved, trace, regions = [], [], RegionSearch._trace, Bases.regions
    monkeypatch.setattr(RegionSearch, "_trace", lambda self, *of: (tracked.append(of), trace(self, *of))[1])
    monkeypatch.setattr(Bases, "regions", lambda self, some: (solved.extend(some), regions(self, some))[1])
    search = searched(svm)
    assert len(tracked) <= 0.3 * len(search.contacts)
    assert len(solved) < 2 * len(search.regions) + 3 * len(tracked)
    assert len(search._of_basis) == len(usual.regions)
    assert all(cell.region.sets.tobytes() == name for name, cell in search._of_basis.items())


def test_how_far_one_can_go():
    square = borders(rectangle((0.0, 1.0), (0.0, 1.0)))
    for point, direction, far in (
        ((0.5, 0.5), (1.0, 0.0), 0.5),
        ((0.5, 0.5), (4.0, 1.0), 0.125),
        ((0.5, 0.25), (0.0, -1.0), 0.25),
        ((0.5, 0.5), (0.1, 0.1), 1.0),
        ((0.0, 0.5), (-1.0, 0.0), 0.0),
        ((-0.1, 0.5), (-1.0, 0.0), 0.0),
        ((0.0, 0.5), (0.0, 2.0), 0.25),
    ):
        assert explore._way(square, np.array(point), np.array(direction)) == pytest.approx(far)
    search, _, _ = started(small())
    assert search._room(np.array([1.0, 0.3]), np.array([0.0, -1.0])) == pytest.approx(0.25)


def test_from_where_an_edge_is_crossed():
    search, _, _ = started(small())

    def cell(polygon):
        middle = polygon.mean(axis=0)
        return Cell.of(SimpleNamespace(polygon=polygon, facets=(None,) * 4, centroid=middle, key=b""), 1e-9)

    usual = cell(rectangle((0.5, 1.5), (0.5, 1.0)))
    inside, onwards = search._across(usual, 1, np.array([1.5, 0.6]))
    assert (inside.tolist(), onwards.tolist()) == ([1.0, 0.75], pytest.approx([0.5, -0.15]))
    small_one = cell(rectangle((0.5, 0.501), (0.5, 0.5005)))  # an angle has no size
    inside, onwards = search._across(small_one, 1, np.array([0.501, 0.5001]))
    assert inside == pytest.approx([0.5005, 0.50025])
    assert onwards == pytest.approx([5e-4, -1.5e-4])
    sliver = cell(rectangle((0.5, 1.5), (0.5, 0.50002)))
    inside, onwards = search._across(sliver, 0, np.array([0.6, 0.5]))
    assert inside == pytest.approx([0.6, 0.50001], abs=1e-12)
    assert onwards == pytest.approx([0.0, -1.0])
    inside, onwards = search._across(sliver, 0, np.array([1.0, 0.5]))
    assert inside == pytest.approx([1.0, 0.50001], abs=1e-12)


def failing(*_):
    raise np.linalg.LinAlgError("dependent rows")


def test_a_search_that_cannot_go_on_says_why_and_where(monkeypatch):
    svm = small()
    search, basis, at = started(svm)
    for room, name, answer, cause in (
        (Bases, "chosen", failing, "dependent rows"),
        (Bases, "regions", lambda self, some: [None] * len(some), "no region around the first point"),
    ):
        with monkeypatch.context() as context:
            context.setattr(room, name, answer)
            with pytest.raises(pc.DegeneratePathError, match=cause) as raised:
                search.run(basis, at, None)
            assert f"C_plus={at[0]:.6g}, C_minus={at[1]:.6g}" in str(raised.value)
            assert f"margin set of {basis.margin.size}." in str(raised.value)
            assert raised.value.t is None
    error = search.refuse("cause", (0.25, 1.5), SimpleNamespace(margin=np.arange(4)))
    assert str(error).startswith("cause, at C_plus=0.25, C_minus=1.5, margin set of 4. ")
    first = search._cells([search.bases.chosen(basis, at)])[0]
    j = next(iter(first.open))
    point = tuple(np.mean(first.ends(j), axis=0))
    assert search.adjacent(first, j, point, search.beyond(first, j, point))
    with monkeypatch.context() as context:
        context.setattr(Bases, "chosen", failing)
        with pytest.raises(pc.DegeneratePathError, match="no region found across an edge"):
            search.beyond(first, j, point)
    with monkeypatch.context() as context:
        context.setattr(search, "_cells", lambda bases: [first])
        with pytest.raises(pc.DegeneratePathError, match="no region found across an edge"):
            search.beyond(first, j, point)
    search._engine = SimpleNamespace(start_on=lambda *_: False)
    with pytest.raises(pc.DegeneratePathError, match="the margin set is dependent"):
        search.beyond(first, j, point)
