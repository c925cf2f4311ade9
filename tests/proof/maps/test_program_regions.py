"""What is said of polygons of a map is held against every corner: errors that vanish at one of them are seen."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import PLANE_AREA
from paretoclf.proof.maps import program_regions
from paretoclf.proof.maps.program_regions import MapProof, _OfPolygons, judge_polygons
from paretoclf.proof.programs.rays import RayProof


@pytest.fixture(scope="module")
def mapped():
    """One region: (x0 - 3)^2 with x0 <= a and x1 + x2 = b, on the unit square."""
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [x[0] <= a, x[1] + x[2] == b, x >= -9, x <= 9]
    return pc.plane(cp.Problem(cp.Minimize(cp.square(x[0] - 3)), rows), {a: (0, 1), b: (0, 1)}, progress=False)


def changed(found, name, offset, gains):
    """The proof of the only region, with one column of x moved by ``offset + gains (s, t)``."""
    (piece,) = found.pieces
    line, x = found.plane.line, piece.x.copy()
    (column,) = (j for j in range(line.n) if line.column_name(j) == name)
    x[column] += [offset, *gains]
    return judge_polygons(found.plane, [piece.polygon], [x], [piece.z])


#: Where an affine error is 0: at one side of the square, at the other, at one corner.
ERRORS = {
    "0 where s = 0": (0.0, (1.0, 0.0)),
    "0 where s = 1": (1.0, (-1.0, 0.0)),
    "0 where t = 0": (0.0, (0.0, 1.0)),
    "0 at (0, 0)": (0.0, (0.5, 0.5)),
    "0 in the middle": (0.5, (-1.0, 0.0)),
}


@pytest.mark.parametrize("where", ERRORS)
def test_an_equation_that_is_missed_away_from_one_corner_is_not_proved(mapped, where):
    """By up to 1 below b or above it; as it stands it is proved."""
    offset, gains = ERRORS[where]
    assert changed(mapped, "x[1]", 0.0, (0.0, 0.0)).passes()
    for sign in (1.0, -1.0):
        proof = changed(mapped, "x[1]", sign * offset, tuple(sign * np.array(gains)))
        assert not proof.passes()
        assert proof.residuals["rows"][0] > 1e-3


@pytest.mark.parametrize("where", ERRORS)
def test_a_point_that_is_too_dear_away_from_one_corner_is_not_proved(mapped, where):
    """x0 below its bound a costs (3 - x0)^2 - (3 - a)^2: the bound is no less than that, and not much more."""
    offset, gains = ERRORS[where]
    lowered = 0.1 * np.abs(offset), tuple(0.1 * np.array(gains))
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    below = np.maximum(lowered[0] + corners @ lowered[1], 0.0)
    proof = changed(mapped, "x[0]", -lowered[0], tuple(-np.array(lowered[1])))
    a = corners[:, 0]
    truth = ((3 - a + below) ** 2 - (3 - a) ** 2).max()
    assert not proof.passes()
    assert truth <= proof.difference[0] <= 2 * truth


POLYGONS = (np.array([0.0, 1.0, 2.0]), np.array([-1.0, 5.0, 3.0, 4.0]))


@pytest.fixture
def two():
    """A triangle and a quadrangle."""
    return _OfPolygons([0, 3], [3, 4])


def test_numbers_at_corners_are_reduced_polygon_by_polygon(two):
    values = np.concatenate(POLYGONS)
    assert two.most(values).tolist() == [2, 5]
    assert two.least(values).tolist() == [0, -1]
    assert two.spread(np.array([7.0, 8.0])).tolist() == [7] * 9 + [8] * 16
    assert two.largest(np.arange(25.0)).tolist() == [8, 24]
    assert two.largest(-np.arange(25.0)).tolist() == [0, -9]


def test_products_of_affine_functions_have_a_coefficient_for_each_two_corners(two):
    """Inside a polygon the product is the mean of the coefficients, with the products of the weights of corners."""
    rng = np.random.default_rng(0)
    slacks, multipliers = rng.normal(size=(2, 7, 5))
    found, means = two.products(slacks, multipliers), two.means(slacks[:, 0])
    for at, part, count in ((slice(3), slice(9), 3), (slice(3, 7), slice(9, 25), 4)):
        own = found[part].reshape(count, count)
        np.testing.assert_allclose(own, own.T)
        weights = rng.dirichlet(np.ones(count))
        product = (weights @ slacks[at]) @ (weights @ multipliers[at])
        assert weights @ own @ weights == pytest.approx(product)
        corners = slacks[at, 0]
        expected = [[0.5 * (a + b) for b in corners] for a in corners]
        np.testing.assert_allclose(means[part].reshape(count, count), expected)


def test_affine_maps_are_evaluated_at_the_corners_of_their_own_polygon():
    rng = np.random.default_rng(1)
    corners, maps = [rng.normal(size=(3, 3)), rng.normal(size=(4, 3))], rng.normal(size=(2, 5, 3))
    found = program_regions._at_corners(corners, maps)
    expected = [maps[k] @ corner for k in range(2) for corner in corners[k]]
    np.testing.assert_allclose(found, expected)


def test_polygons_are_judged_in_parts_and_in_order(mapped, monkeypatch):
    (piece,) = mapped.pieces
    wrong = piece.x.copy()
    wrong[0] -= [0.1, 0.0, 0.0]
    given = [piece.polygon] * 3, [piece.x, wrong, piece.x], [piece.z] * 3
    whole = judge_polygons(mapped.plane, *given)
    monkeypatch.setattr(program_regions, "_TOGETHER", 1)
    parts = judge_polygons(mapped.plane, *given)
    assert whole.gap.tolist() == parts.gap.tolist()
    assert whole.difference.tolist() == parts.difference.tolist()
    assert whole.gap[0] == whole.gap[2] < 1e-10 < whole.gap[1]
    assert whole.difference[1] / 9 <= whole.gap[1] <= whole.difference[1] / 4  # the value is (3 - a)^2, from 4 to 9
    assert len(judge_polygons(mapped.plane, [], [], [])) == 0


@pytest.fixture
def proof():
    """One region that is optimal."""
    none = np.zeros(1)
    return MapProof(none, none, none, {"rows": none})


def test_a_map_is_proved_if_nothing_is_left_out(proof):
    assert proof.holds()
    assert "There is no optimum" not in proof.explain()
    assert replace(proof, missed=PLANE_AREA).holds()
    assert not replace(proof, missed=1.01 * PLANE_AREA).holds()
    ray, no_ray = RayProof(0.0, 1.0), RayProof(1.0, 0.5)
    assert replace(proof, rays=(ray,)).holds()
    assert replace(proof, rays=(ray,)).explain().endswith("There is no optimum on 1 part outside.")
    assert replace(proof, rays=(ray, ray)).explain().endswith("There is no optimum on 2 parts outside.")
    wrong = {
        "Not proved: two regions overlap.": replace(proof, objection="two regions overlap"),
        "Not proved: the regions miss or overlap on 1.0e-01 of the rectangle.": replace(proof, missed=0.1),
        "Not proved: the regions miss or overlap on nan of the rectangle.": replace(proof, missed=np.nan),
        f"Not proved: that there is no optimum on part 1 of those outside ({no_ray!r}).": replace(
            proof, rays=(ray, no_ray)
        ),
    }
    for words, each in wrong.items():
        assert not each.holds()
        assert each.explain() == words
    assert not replace(proof, unexplained=np.ones(1), gap=np.ones(1)).holds()


def test_a_program_that_is_not_convex_has_no_proof(mapped, monkeypatch):
    (piece,) = mapped.pieces
    given = mapped.plane, [piece.polygon], [piece.x], [piece.z]
    assert judge_polygons(*given).residuals["curvature"].tolist() == [0.0]
    monkeypatch.setattr(program_regions, "semidefinite", lambda line: False)
    assert judge_polygons(*given).residuals["curvature"].tolist() == [1.0]


def test_the_effect_of_a_shift_is_the_largest_of_all_polygons(monkeypatch):
    """Relative to the scale of each polygon; it is a function of the columns at the corners, here the first of them."""
    monkeypatch.setattr(program_regions, "added", lambda line, t, x: x[:, 0])
    line = SimpleNamespace(shift=(1.0,))
    polygons = [np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])] * 3
    maps = [np.array([[first, 0.0, 2.0]]) for first in (3.0, 4.0, 1.0)]
    assert program_regions._share_of_shift(line, polygons, maps, np.array([2.0, 12.0, 10.0])) == 2.5
    assert program_regions._share_of_shift(line, polygons, maps, np.array([5.0, 2.0, 10.0])) == 3.0
    assert program_regions._share_of_shift(SimpleNamespace(shift=None), polygons, maps, np.ones(3)) == 0.0
    assert program_regions._share_of_shift(line, polygons[:1], maps[:1], np.zeros(1)) > 1e300
