"""Walks over divisions of a square that are known, against what touches what by brute force."""

from __future__ import annotations

from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from paretoclf.path.regions.edge_walk import Cell, EdgeWalk
from paretoclf.path.regions.polygon import area, borders, cut, rectangle, without_short_edges

TOL = 1e-9


def divided(lines):
    """Convex parts of the unit square between lines (m, 3), by the signs on each."""
    parts = {}
    for middle in np.random.default_rng(0).uniform(0, 1, (3000, 2)):
        signs = np.where(lines @ [1.0, *middle] > 0, 1.0, -1.0)
        if tuple(signs) not in parts:
            polygon, edges = cut(rectangle((0.0, 1.0), (0.0, 1.0)), (signs[:, None] * lines).T[None], TOL)
            parts[tuple(signs)] = tuple(each[0] for each in without_short_edges(polygon, edges, TOL))
    return list(parts.values())


def brick_wall():
    """Rows of rectangles whose edges do not end where those of the next row do."""
    ends = [(0.0, 0.3, 1.0), (0.0, 0.55, 0.75, 1.0), (0.0, 0.1, 0.2, 0.47, 1.0), (0.0, 1.0)]
    found = []
    for row, at in enumerate(ends):
        for first, last in pairwise(at):
            polygon = rectangle((first, last), (0.25 * row, 0.25 * (row + 1)))
            found.append((polygon, np.array([-(row == 0), -(last == 1), -(row == 3), -(first == 0)])))
    return found


def regions_of(parts):
    return [
        SimpleNamespace(polygon=polygon, facets=tuple(None if e < 0 else (int(e),) for e in edges), key=bytes([k]))
        for k, (polygon, edges) in enumerate(parts)
    ]


class Walk(EdgeWalk):
    """Answers what is across an edge by looking at all parts."""

    def __init__(self, parts, guessing=False):
        super().__init__(TOL)
        self.parts, self.guessing, self.asked = regions_of(parts), guessing, 0

    def found_at(self, point):
        for part in self.parts:
            if all(d + u * point[0] + v * point[1] > 0 for d, u, v in borders(part.polygon)):
                return Cell.of(part, 2 * self.touch)
        return None

    def behind(self, cell, j, point):
        return self.found_at(np.array(point) - 1e-6 * np.array(cell.borders[j][1:]))

    def guesses(self, edges):
        if not self.guessing:
            return super().guesses(edges)
        return [self.behind(cell, j, np.mean(cell.ends(j), axis=0)) for cell, j in edges]

    def beyond(self, cell, j, point):
        self.asked += 1
        assert self.asked < 500, "the walk does not end"
        return self.behind(cell, j, point)

    def refuse(self, cause, at, region):
        return ValueError(cause)


def shared(one, other):
    """Length of the common border of two polygons, and its ends."""
    for start, stop in zip(one, np.roll(one, -1, axis=0), strict=True):
        along = (stop - start) / np.hypot(*(stop - start))
        for begin, end in zip(other, np.roll(other, -1, axis=0), strict=True):
            away = [abs(along[0] * (p - start)[1] - along[1] * (p - start)[0]) for p in (begin, end)]
            lo, hi = max(0.0, (end - start) @ along), min((stop - start) @ along, (begin - start) @ along)
            if max(away) < 1e-8 and hi - lo > 1e-7 and (end - begin) @ along < 0:
                return hi - lo, start + lo * along, start + hi * along
    return 0.0, None, None


def check(walk):
    assert sorted(region.key for region in walk.regions) == sorted(part.key for part in walk.parts)
    assert not any(cell.open for cell in walk._known.values())
    expected = {}
    for i, j in combinations(range(len(walk.regions)), 2):
        length = shared(walk.regions[i].polygon, walk.regions[j].polygon)[0]
        if length:
            expected[i, j] = length
    found = {}
    for i, j, start, stop in walk.contacts:
        length, one, other = shared(walk.regions[i].polygon, walk.regions[j].polygon)
        along = (other - one) / length
        assert -1e-8 <= (start - one) @ along <= (stop - one) @ along <= length + 1e-8
        assert abs(along[0] * (start - one)[1] - along[1] * (start - one)[0]) < 1e-8
        found[min(i, j), max(i, j)] = found.get((min(i, j), max(i, j)), 0.0) + (stop - start) @ along
    assert found == pytest.approx(expected, abs=1e-7)
    assert set(found) == set(expected)


LINES = np.array([[-0.31, 1.0, 0.0], [-0.44, 0.0, 1.0], [-0.9, 0.8, 0.6], [0.1, 0.6, -0.8]])


@pytest.mark.parametrize("guessing", [False, True])
@pytest.mark.parametrize("parts", [divided(LINES), brick_wall()], ids=["lines", "bricks"])
def test_all_regions_and_contacts_are_found(parts, guessing):
    for k in range(0, len(parts), 3):
        walk, told = Walk(parts, guessing), []
        walk.spread(Cell.of(walk.parts[k], 2 * walk.touch), told.append)
        check(walk)
        assert sum(told) == pytest.approx(1.0)
        assert all(region.polygon is walk.parts[region.key[0]].polygon for region in walk.regions)


def test_guesses_that_share_whole_edges_are_not_asked_for():
    walk = Walk(divided(LINES), guessing=True)
    walk.spread(Cell.of(walk.parts[0], 2 * walk.touch))
    assert walk.asked == 0
    walk = Walk(divided(LINES))
    walk.spread(Cell.of(walk.parts[0], 2 * walk.touch))
    assert walk.asked == len(walk.contacts)


def test_wrong_guesses_do_no_harm():
    walk = Walk(brick_wall(), guessing=True)
    walk.guesses = lambda edges: [Cell.of(walk.parts[(3 * k) % len(walk.parts)], 0.0) for k in range(len(edges))]
    walk.spread(Cell.of(walk.parts[4], 2 * walk.touch))
    check(walk)


def test_an_edge_with_nothing_behind_is_closed():
    parts = brick_wall()
    walk = Walk(parts[:2])  # the rows above are missing
    walk.spread(Cell.of(walk.parts[0], 2 * walk.touch))
    check(walk)
    assert walk.asked == 3


def test_regions_that_touch_at_a_corner_only_end_the_walk():
    left, far = rectangle((0.0, 0.5), (0.0, 1.0)), rectangle((0.5, 1.0), (1.0, 2.0))
    walk = Walk([(left, np.array([-1, 0, -1, -1])), (far, np.array([-1, -1, -1, -1]))])
    answers = iter(range(1000))
    walk.beyond = lambda cell, j, point: (next(answers), Cell.of(walk.parts[1], 2 * walk.touch))[1]
    with pytest.raises(ValueError, match="do not lie along it"):
        walk.spread(Cell.of(walk.parts[0], 2 * walk.touch))
    assert 20 < next(answers) <= 151
    assert len(walk.regions) == 2
    steps = [(0.45, 0.55), (0.7525, 0.7975)]  # a tenth of what is open, again and again
    for (i, j, start, stop), ends in zip(walk.contacts, steps, strict=False):
        assert (i, j) == (0, 1)
        assert (start[0], stop[0]) == (0.5, 0.5)
        assert (start[1], stop[1]) == pytest.approx(ends)
    assert len(walk.contacts) > 2


def test_a_walk_must_say_what_is_beyond():
    walk = EdgeWalk(TOL)
    assert walk.touch == 10 * TOL
    assert walk.guesses([(None, 0), (None, 1)]) == [None, None]
    with pytest.raises(NotImplementedError):
        walk.beyond(None, 0, (0.0, 0.0))
    with pytest.raises(NotImplementedError):
        walk.refuse("", (0.0, 0.0), None)


def cell(**more):
    facets = more.pop("facets", ((0,), (1,), None, (3,)))
    region = SimpleNamespace(polygon=rectangle((0.0, 2.0), (0.0, 1.0)), facets=facets, key=b"")
    return Cell.of(region, more.pop("shortest", 0.01))


def test_edges_that_are_open():
    own = cell()
    assert own.open == {0: [(0.0, 1.0)], 1: [(0.0, 1.0)], 3: [(0.0, 1.0)]}
    assert own.number == -1
    assert cell(shortest=1.0).open == {0: [(0.0, 1.0)]}
    assert own.ends(3) == ((0.0, 1.0), (0.0, 0.0))
    assert own.edge((2.0, 0.0), (2.0, 1.0), 1e-9) == 1
    assert own.edge((2.05, 0.0), (2.0, 0.95), 0.06) == 1
    assert own.edge((2.05, 0.0), (2.0, 0.95), 0.04) is None
    assert own.edge((2.0, 1.0), (2.0, 0.0), 1e-9) is None


def test_shares_of_an_edge_are_closed():
    own = cell()
    own.close(0, 0.25, 0.5)
    assert own.open[0] == [(0.0, 0.25), (0.5, 1.0)]
    own.close(0, 0.75, 0.9)
    assert own.open[0] == [(0.0, 0.25), (0.5, 0.75), (0.9, 1.0)]
    own.close(0, 0.004, 0.746)  # what is left of the middle is too short
    assert own.open[0] == [(0.9, 1.0)]
    own.close(0, 0.907, 1.0)
    assert own.open[0] == [(0.9, 0.907)]  # its length is twice its share
    own = cell()
    own.close(0, 0.0, 0.9)
    assert own.open[0] == [(0.9, 1.0)]
    own.close(0, 0.9, 1.0)
    assert 0 not in own.open
    own.close(0, 0.0, 0.3)
    assert 0 not in own.open
    own.close(1, -0.5, 0.4)
    assert own.open[1] == [(0.4, 1.0)]


def test_a_region_is_numbered_once():
    walk, cells = EdgeWalk(TOL), [cell(), cell()]
    cells[1].region.key = b"other"
    for _ in range(2):
        new = [list(walk.add(each)) for each in cells]
        assert [each.number for each in cells] == [0, 1]
    assert new == [[], []]
    assert walk.regions == [each.region for each in cells]


def test_adjacent_regions():
    walk = EdgeWalk(0.01)  # what is 0.1 away touches
    left = cell()
    for x, y, point, answer in (
        (2.05, 0.0, (2.0, 0.5), True),
        (2.15, 0.0, (2.0, 0.5), False),
        (1.95, 0.0, (2.0, 0.5), True),
        (1.85, 0.0, (2.0, 0.5), False),
        (2.0, 0.55, (2.0, 0.5), True),
        (2.0, 0.65, (2.0, 0.5), False),
    ):
        polygon = rectangle((x, x + 1.0), (y, y + 1.0))
        other = Cell.of(SimpleNamespace(polygon=polygon, facets=(None,) * 4, key=b"o"), 0.01)
        assert walk.adjacent(left, 1, point, other) is answer
    assert area(left.region.polygon) == 2.0
