"""Points, regions and parts of a map against closed forms: the projection of a point onto a box."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.problem_map.map_parts import MapPoint, Outside

RANGES = ((-1.0, 2.0), (-0.5, 3.5))


def projection(sense):
    """Nearest point of the unit square, with its sum; the objective has what is constant in x, too."""
    x, total = cp.Variable(2, nonneg=True, name="x"), cp.Variable(name="total")
    a, b = cp.Parameter(name="a"), cp.Parameter(name="b")
    distance = cp.sum_squares(x) - 2 * a * x[0] - 2 * b * x[1] + 3 * a - b + 5
    objective = cp.Minimize(distance) if sense > 0 else cp.Maximize(-distance)
    rows = [(x <= 1).set_label("roof"), (total == x[0] + 2 * x[1]).set_label("sum")]
    return pc.plane(cp.Problem(objective, rows), dict(zip((a, b), RANGES, strict=True)), progress=False)


@pytest.fixture(scope="module", params=[1.0, -1.0], ids=["smallest", "largest"])
def found(request):
    return request.param, projection(request.param)


def value_at(a, b):
    x, y = np.clip([a, b], 0.0, 1.0)
    return x**2 + y**2 - 2 * a * x - 2 * b * y + 3 * a - b + 5


def test_values_variables_and_duals_are_those_of_the_projection(found):
    sense, plane = found
    assert len(plane.regions) == 9
    for region in plane.regions:
        corners = region.polygon
        for share in (0.2, 0.7):
            a, b = place = share * corners[0] + (1 - share) * region.centroid
            one = np.array([1.0, *place])
            assert one @ region.value_map @ one == pytest.approx(sense * value_at(a, b), abs=1e-9)
            assert region.variables["x"] @ one == pytest.approx(np.clip(place, 0, 1), abs=1e-9)
            assert region.variables["total"] @ one == pytest.approx(np.clip(place, 0, 1) @ [1, 2], abs=1e-9)
            assert region.duals["roof"] @ one == pytest.approx(2 * np.maximum(place - 1, 0), abs=1e-9)
            assert region.duals["sum"] @ one == pytest.approx(0.0, abs=1e-9)
        assert np.array_equal(region.value_map, region.value_map.T)


def test_polygons_are_rectangles_of_the_two_parameters(found):
    _, plane = found
    cuts = [(-1.0, 0.0, 1.0, 2.0), (-0.5, 0.0, 1.0, 3.5)]
    expected = sorted(
        ((lo + hi) / 2, (low + high) / 2, (hi - lo) * (high - low))
        for lo, hi in zip(cuts[0][:-1], cuts[0][1:], strict=True)
        for low, high in zip(cuts[1][:-1], cuts[1][1:], strict=True)
    )
    own = sorted((*np.round(region.centroid, 9).tolist(), region.area) for region in plane.regions)
    assert np.array(own) == pytest.approx(np.array(expected), abs=1e-8)


def test_tight_are_the_sides_of_the_box_that_are_reached(found):
    _, plane = found
    for region in plane.regions:
        expected = set()
        for k, middle in enumerate(region.centroid):
            expected |= {f"roof[{k}]"} if middle > 1 else {f"lower bound of x[{k}]"} if middle < 0 else set()
        assert set(region.tight) == expected
        assert len(region.tight) == len(expected)
        assert repr(region).endswith(f"tight: {', '.join(region.tight) or 'nothing'})")
        assert repr(region).startswith(f"MapRegion({len(region.polygon)} corners around (")


def test_of_an_absolute_value_the_side_is_said():
    """The nearest point of a square to a point: which side, is what the middle of the region says."""
    u, a, b = cp.Variable(2, name="u"), cp.Parameter(name="a"), cp.Parameter(name="b")
    sides = [(cp.abs(u) <= 1).set_label("limit"), (cp.abs(2 * u[0] - 1) <= 9).set_label("loose")]
    whole = pc.plane(cp.Problem(cp.Minimize(cp.sum_squares(u - cp.hstack([a, b]))), sides), {a: (-2, 2), b: (-2, 2)})
    assert len(whole.regions) == 9
    for region in whole.regions:
        said = zip(range(2), np.sign(np.trunc(1.01 * np.asarray(region.centroid) / 1.0)).tolist(), strict=True)
        expected = {f"limit[{k}] (u[{k}] at its {'upper' if s > 0 else 'lower'} bound)" for k, s in said if s}
        assert set(region.tight) == expected
    together = [(cp.norm_inf(u) <= 1).set_label("limit")]
    whole = pc.plane(cp.Problem(cp.Minimize(cp.sum_squares(u - cp.hstack([a, b]))), together), {a: (1, 2), b: (-1, 2)})
    assert {region.tight for region in whole.regions} >= {("limit (u[0] at its upper bound)",), ("limit",)}


def test_columns_and_multipliers_at_a_point(found):
    _, plane = found
    for region in plane.regions:
        for s, t in ((0.25, 0.5), (1.0, 0.0)):
            x, z = region.at(np.array([s, t]))
            assert x == pytest.approx(region.x[:, 0] + s * region.x[:, 1] + t * region.x[:, 2])
            assert z == pytest.approx(region.z[:, 0] + s * region.z[:, 1] + t * region.z[:, 2])
            assert region.variables["x"] @ [1.0, -1 + 3 * s, -0.5 + 4 * t] == pytest.approx(
                plane.plane.line.variables["x"].of(x), abs=1e-9
            )


def test_of_many_tight_rows_six_are_named():
    for count, more in ((6, False), (7, True)):
        x, a, b = cp.Variable(count, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
        cost = cp.sum_squares(x) - 2 * (a + b) * cp.sum(x)
        problem = cp.Problem(cp.Minimize(cost), [(x <= 1).set_label("roof")])
        region = pc.plane(problem, {a: (1.0, 2.0), b: (1.0, 2.0)}, progress=False).regions[0]
        assert region.tight == tuple(f"roof[{k}]" for k in range(count))
        assert ("roof[5]" in repr(region), "roof[6]" in repr(region)) == (True, False)
        assert repr(region).endswith(", ... 7 in all)" if more else "roof[5])")


def test_a_point_is_written_with_its_value():
    point = MapPoint(2.5, {"a": 1.0, "b": 2.0}, {"x": np.array([1.0, 3.0])}, {"roof": 4.0}, 7)
    head, *rest = repr(point).splitlines()
    assert head == "optimum (a = 1, b = 2): value 2.5, region 7"
    assert "x" in rest[0]
    assert "[1, 3]" in rest[0]
    assert "roof" in rest[1]


def test_where_floor_and_roof_contradict_each_other():
    x, a, b = cp.Variable(name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [(x >= a).set_label("floor"), (x <= b).set_label("roof")]
    found = pc.plane(cp.Problem(cp.Minimize(cp.square(x)), rows), {a: (1, 3), b: (0, 4)}, progress=False)
    (part,) = found.outside
    assert sorted(np.round(part.polygon, 9).tolist()) == [[1, 0], [1, 1], [3, 0], [3, 3]]
    assert (part.status, part.verdict) == ("infeasible", "infeasible")
    assert part.explain() == f"no point satisfies {', '.join(part.blame)} together"
    (region,) = found.regions
    assert region.area == pytest.approx(4.0)
    assert region.value_map == pytest.approx(np.diag([0.0, 1.0, 0.0]), abs=1e-9)


def test_without_a_feasible_point_unbounded_is_no_optimum():
    proof = SimpleNamespace()
    part = Outside(np.zeros((3, 2)), "unbounded", ("x", "y"), {}, proof)
    assert part.verdict == "no optimum"
    assert part.explain() == "from any point that is feasible the objective improves for ever, along x, y"
    assert "what CVXPY added" in Outside(np.zeros((3, 2)), "infeasible", (), {}, proof).explain()
