"""Polygons against clipping in exact fractions, and against sums over corners written down again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.path.regions import polygon as polygons
from paretoclf.path.regions.polygon import rectangle

SQUARE = rectangle((0.0, 1.0), (0.0, 1.0))
TOL = 1e-12


def random_half_planes(rng, m):
    """Lines through points of the square, in random directions: d, u, v in rows."""
    angle, through = rng.uniform(0, 2 * np.pi, m), rng.uniform(0, 1, (m, 2))
    u, v = np.cos(angle), np.sin(angle)
    return np.stack([-(u * through[:, 0] + v * through[:, 1]), u, v])


def clipped(corners, half_planes):
    """Corners that are left, in fractions: one half-plane after the other."""
    left = [(Fraction(x), Fraction(y)) for x, y in corners]
    for d, u, v in half_planes.T.tolist():
        depth = [Fraction(d) + Fraction(u) * x + Fraction(v) * y for x, y in left]
        new = []
        for k, (x, y) in enumerate(left):
            (x_next, y_next), following = left[(k + 1) % len(left)], depth[(k + 1) % len(left)]
            if depth[k] >= 0:
                new.append((x, y))
            if depth[k] * following < 0:
                share = depth[k] / (depth[k] - following)
                new.append((x + share * (x_next - x), y + share * (y_next - y)))
        left = new
    return left


def area_and_centre(corners):
    """Area and centre of mass in fractions, by the shoelace formula."""
    following = corners[1:] + corners[:1]
    crossed = [a * d - b * c for (a, b), (c, d) in zip(corners, following, strict=True)]
    twice = sum(crossed)
    if twice == 0:
        return 0.0, None
    pairs = list(zip(crossed, corners, following, strict=True))
    centre = [float(sum(c * (a[i] + b[i]) for c, a, b in pairs) / (3 * twice)) for i in (0, 1)]
    return float(twice / 2), centre


def corners_of(polygon):
    """Its corners, each once, beginning with the smallest one."""
    steps = np.roll(polygon, -1, axis=0) - polygon
    own = polygon[np.hypot(*steps.T) > 1e-9]
    return np.roll(own, -np.lexsort(own.T)[0], axis=0) if len(own) else own


def test_a_rectangle():
    assert rectangle((1.0, 2.0), (3.0, 5.0)).tolist() == [[1, 3], [2, 3], [2, 5], [1, 5]]


@pytest.mark.parametrize("m", [1, 2, 5, 9])
def test_cutting_is_clipping(m):
    rng = np.random.default_rng(m)
    families = np.array([random_half_planes(rng, m) for _ in range(60)])
    found, edges = polygons.cut(SQUARE, families, TOL)
    assert found.shape[:2] == edges.shape
    nothing = 0
    for half_planes, polygon, labels in zip(families, found, edges, strict=True):
        left = clipped(SQUARE.tolist(), half_planes)
        if len(left) < 3:
            nothing += 1
            assert np.ptp(polygon, axis=0).max() == 0.0
            continue
        expected = corners_of(np.array(left, dtype=float))
        assert corners_of(polygon) == pytest.approx(expected, abs=1e-12)
        for start, stop, label in zip(polygon, np.roll(polygon, -1, axis=0), labels, strict=True):
            if np.hypot(*(stop - start)) > 1e-9:
                middle = 0.5 * (start + stop)
                depths = half_planes[0] + middle @ half_planes[1:]
                border = np.append(depths, [np.abs([*middle, *(1 - middle)]).min()])
                assert abs(border[label]) < 1e-12
    assert m < 5 or nothing > 3


def test_a_cut_of_less_than_the_tolerance_is_left_out():
    for depth, count in ((0.9e-3, 0), (1.1e-3, 1)):
        found, edges = polygons.cut(SQUARE, np.array([[[1.0 - depth], [-1.0], [0.0]]]), 1e-3)
        assert (edges == 0).sum() == count
        assert found[0].max(axis=0).tolist() == [1.0 - depth * count, 1.0]


def test_what_is_thinner_than_the_tolerance_is_nothing():
    for width, area in ((0.9e-3, 0.0), (1.1e-3, 1.1e-3)):
        found, _ = polygons.cut(SQUARE, np.array([[[width], [-1.0], [0.0]]]), 1e-3)
        assert polygons.area(found[0]) == pytest.approx(area, abs=1e-15)


def test_lines_through_corners():
    half = np.sqrt(0.5)
    found, edges = polygons.cut(SQUARE, np.array([[[0.0], [half], [-half]]]), TOL)
    assert corners_of(found[0]).tolist() == [[0, 0], [1, 0], [1, 1]]
    where = {tuple(a): e for a, e in zip(found[0].tolist(), edges[0].tolist(), strict=True)}
    assert where[1.0, 0.0] == -1
    assert 0 in edges[0].tolist()
    assert edges[0][found[0].tolist().index([1.0, 1.0])] == 0
    outside, _ = polygons.cut(SQUARE, np.array([[[-np.sqrt(2.0)], [half], [half]]]), TOL)
    assert polygons.area(outside[0]) == 0.0


def test_families_do_not_meet():
    wide = np.array([[10.0] * 2, [1.0, 0.0], [0.0, 1.0]])
    cutting = np.array([[-0.25, -0.5], [1.0, 0.0], [0.0, 1.0]])
    found, _ = polygons.cut(SQUARE, np.array([wide, cutting, wide]), TOL)
    assert polygons.area(found).tolist() == [1.0, 0.375, 1.0]
    assert polygons.cut(SQUARE, np.zeros((0, 3, 2)), TOL)[0].shape == (0, 4, 2)


def test_short_edges_are_left_out():
    own = np.array([[0, 0], [1, 0], [1, 1e-4], [1, 1], [0, 1], [0, 1e-3]])
    left, edges = polygons.without_short_edges(np.array([own]), np.arange(6)[None], 1e-3)
    assert left[0].tolist() == own[[0, 2, 3, 4]].tolist()
    assert edges.tolist() == [[0, 2, 3, 4]]
    both = np.array([own, np.repeat(own[:1], 6, axis=0)])
    left, _ = polygons.without_short_edges(both, np.tile(np.arange(6), (2, 1)), 1e-3)
    assert left[1].tolist() == [[0.0, 0.0]] * 4
    skew = np.array([[[0.0, 0.0], [6e-4, 8e-4], [-1.0, 1.0]]])
    for tol, count in ((0.9e-3, 3), (1.1e-3, 2)):
        assert polygons.without_short_edges(skew, np.arange(3)[None], tol)[0].shape[1] == count


def test_what_is_next_to_an_axis_is_moved_onto_it():
    own = np.array([[[0.9e-3, 0.0], [1.0, -1.0e-3], [1.0, 0.5], [1.1e-3, 1.0], [-2.0, 0.9], [-0.5e-3, 0.8]]])
    moved, edges = polygons.onto_axes(own, np.arange(6)[None], 1e-3)
    assert moved.tolist() == [[[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [1.1e-3, 1.0], [-2.0, 0.9], [0.0, 0.8]]]
    assert edges.tolist() == [[-1, 1, 2, 3, 4, -1]]


def test_both_sides_of_a_line():
    rng = np.random.default_rng(0)
    for half_plane in random_half_planes(rng, 40).T * rng.uniform(0.1, 9.0, (40, 1)):
        sides = polygons.split(SQUARE, half_plane, TOL)
        for sign, side in zip((1.0, -1.0), sides, strict=True):
            area, centre = area_and_centre(clipped(SQUARE.tolist(), sign * half_plane[:, None]))
            assert polygons.area(side) == pytest.approx(area, abs=1e-12)
            assert polygons.centroid(side) == pytest.approx(centre, abs=1e-9)


def test_a_side_without_area_is_none():
    for line in ([2.0, 1.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 0.0]):
        positive, negative = polygons.split(SQUARE, np.array(line), TOL)
        assert polygons.area(positive) == 1.0
        assert negative is None
        positive, negative = polygons.split(SQUARE, -np.array(line), TOL)
        assert positive is None
        assert polygons.area(negative) == 1.0
    assert polygons.split(SQUARE, np.zeros(3), TOL)[0] is None
    thin = rectangle((0.0, 1.0), (0.0, 2e-3))
    assert polygons.split(thin, np.array([-0.5, 1.0, 0.0]), 0.05) == (None, None)
    wedge = np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])
    assert polygons.split(wedge, np.array([1.0, 1.0, 0.0]), 0.19)[0] is None
    assert polygons.split(wedge, np.array([1.0, 1.0, 0.0]), 0.1)[0] is not None


def test_area_and_centre_far_from_the_origin():
    own = np.array([[0, 0], [5, 1], [6, 3], [4, 7], [-1, 4]]) * 2.0**-20
    area, centre = area_and_centre([(Fraction(x), Fraction(y)) for x, y in own.tolist()])
    far = own + 2.0**20
    assert float(polygons.area(far)) == pytest.approx(area, rel=1e-12)
    assert polygons.centroid(far) - 2.0**20 == pytest.approx(centre, abs=1e-9)
    assert polygons.centroid(own) == pytest.approx(centre, rel=1e-12)
    assert polygons.area(np.array([own, 2 * own])) == pytest.approx([area, 4 * area], rel=1e-12)


def test_borders_hold_the_polygon():
    own = np.array([[1.0, 1.0], [5.0, 4.0], [5.0, 4.0], [1.0, 7.0]])
    assert polygons.borders(own)[0] == pytest.approx((-0.2, -0.6, 0.8))
    assert polygons.borders(own)[1] == (0.0, 0.0, 0.0)
    assert polygons.borders(own)[2] == pytest.approx((6.2, -0.6, -0.8))
    assert polygons.borders(own)[3] == pytest.approx((-1.0, 1.0, 0.0))


def test_which_polygons_a_point_lies_in():
    triangle = np.array([[0.5, 0.0], [3.0, 0.0], [3.0, 2.5]])
    own = [SQUARE, rectangle((0.8, 2.0), (0.0, 1.0)), triangle]
    boxes, planes = found = polygons.lookup(own)
    assert boxes.tolist() == [[0, 0, 1, 1], [0.8, 0, 2, 1], [0.5, 0, 3, 2.5]]
    assert planes.shape == (3, 4, 3)
    assert planes[2, 3].tolist() == [np.inf, 0.0, 0.0]
    for point in np.random.default_rng(1).uniform(0, 3, (200, 2)):
        depth = [min(d + u * point[0] + v * point[1] for d, u, v in polygons.borders(each)) for each in own]
        inside = [k for k in np.argsort(np.negative(depth)).tolist() if depth[k] >= 0]
        answer = polygons.deepest(found, point, 1e-9).tolist()
        assert answer == inside or (not inside and len(answer) <= 1)
    assert polygons.deepest(found, np.array([-0.2, 0.5]), 0.1).tolist() == []
    assert polygons.deepest(found, np.array([-0.2, 0.5]), 0.3).tolist() == [0]
    assert polygons.deepest(found, np.array([0.5, 3.2]), 0.1).tolist() == []
    assert polygons.deepest(found, np.array([0.0, 0.0]), 0.0).tolist() == [0]
    assert polygons.deepest(found, np.array([3.0, 2.5]), 0.0).tolist() == [2]
    assert polygons.deepest(found, np.array([0.78, 0.5]), 0.1).tolist() == [0]
    assert polygons.deepest(found, np.array([0.78, 0.5]), 0.1, 0.03).tolist() == [0, 1]
    assert polygons.deepest(found, np.array([3.05, 2.55]), 0.1).tolist() == [2]
