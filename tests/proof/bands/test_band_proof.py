"""Rays on lines whose coefficients stand still: claims that are false by construction prove nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from paretoclf.proof.bands import band_proof
from paretoclf.proof.bands.band_proof import BandProof, floor_of, judge_cone_ray
from paretoclf.proof.bands.moving_matrix import NOTHING, ConePiece
from paretoclf.proof.cones.cone_kinds import Cone
from tests.oracles.array_lines import array_line

#: Minimise q x0 with q from 1 to -3 and what bounds x0, or does not.
FALLS = [[1.0, 0.0], [-3.0, 0.0]]
AHEAD = np.array([1.0, 0.0])
BOUNDED = {
    "by a row": array_line([[1.0, 0.0]], [5.0], FALLS),
    "by the quadratic term": array_line([[-1.0, 0.0]], [5.0], FALLS, P=np.eye(2)),
    "by an equation": array_line(
        [[1.0, 0.0], [-1.0, 0.0]], [5.0, 5.0], FALLS, cones=[Cone("zero", 1), Cone("nonnegative", 1)]
    ),
    "by a norm": array_line(
        [[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [2.0, 0.0, 0.0], FALLS, cones=[Cone("second-order", 3)]
    ),
}
FREE = {
    "by no row": array_line([[-1.0, 0.0]], [5.0], FALLS),
    "by no quadratic term": array_line([[-1.0, 0.0]], [5.0], FALLS, P=np.diag([0.0, 1.0])),
    "by no equation": array_line([[0.0, 1.0]], [5.0], FALLS, cones=[Cone("zero", 1)]),
    "by no norm": array_line(
        [[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]], [2.0, 0.0, 0.0], FALLS, cones=[Cone("second-order", 3)]
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_direction_that_ends_somewhere_proves_nothing(name):
    assert not judge_cone_ray(BOUNDED[name], "unbounded", AHEAD).passes()


@pytest.mark.parametrize("name", FREE)
def test_a_direction_without_an_end_proves_where_it_falls(name):
    proof = judge_cone_ray(FREE[name], "unbounded", AHEAD)
    assert proof.passes()
    assert 0.25 <= proof.since <= 0.25 + 1e-6
    assert not judge_cone_ray(FREE[name], "unbounded", -AHEAD).passes()


def test_a_direction_may_fall_all_along():
    """By more and more, by the same everywhere, and less and less: each proves it from the start."""
    for ends in ([-1.0, -3.0], [-1.0, -1.0], [-3.0, -1.0]):
        line = array_line([[-1.0, 0.0]], [5.0], [[each, 0.0] for each in ends])
        proof = judge_cone_ray(line, "unbounded", AHEAD)
        assert proof.passes()
        assert 0.0 <= proof.since <= 1e-6
        bounded = array_line([[1.0, 0.0]], [5.0], [[each, 0.0] for each in ends])
        assert not judge_cone_ray(bounded, "unbounded", AHEAD).passes()


def test_multipliers_that_miss_stationarity_cost_what_feasible_points_can():
    """2.5 t <= x <= 3, and x >= -1: (1, 0, 0) adds up to x >= 2.5, which is no contradiction for an x of 3."""
    rows = [[-1.0], [1.0], [-1.0]]
    feasible = array_line(rows, [[0.0, 3.0, 1.0], [-2.5, 3.0, 1.0]], [0.0])
    assert not judge_cone_ray(feasible, "infeasible", np.array([1.0, 0, 0])).passes()
    assert not judge_cone_ray(feasible, "infeasible", np.array([1.0, 1, 0])).passes()
    empty = array_line(rows, [[0.0, 3.0, 1.0], [-4.0, 3.0, 1.0]], [0.0])
    assert judge_cone_ray(empty, "infeasible", np.array([1.0, 1, 0])).since == pytest.approx(0.75, abs=1e-12)
    alone = judge_cone_ray(empty, "infeasible", np.array([1.0, 0, 0]))  # what it misses costs as much
    assert alone.since == pytest.approx(0.75, abs=1e-6)


def test_multipliers_are_stationary_where_nothing_bounds_a_column():
    """2x <= 1 and x <= 0: each x below 0 will do. Near (1, 1) there are numbers with A'z = 0: (-1/5, 2/5)."""
    line = array_line([[2.0], [1.0]], [1.0, 0.0], [0.0])
    for z in ([1.0, 1.0], [1.0, 0.5], [0.5, 1.0], [1.0, 0.0], [-0.2, 0.4]):
        assert not judge_cone_ray(line, "infeasible", np.array(z)).passes()


def test_multipliers_are_in_the_dual_cone():
    """x <= 1 and x >= -1: the rows' difference would be a contradiction."""
    line = array_line([[1.0], [-1.0]], [1.0, 1.0], [0.0])
    assert not judge_cone_ray(line, "infeasible", np.array([-1.0, -1.0])).passes()
    empty = array_line([[1.0], [-1.0]], [[1.0, 1.0], [-3.0, 1.0]], [0.0])
    assert judge_cone_ray(empty, "infeasible", np.array([1.0, 1.0])).since == pytest.approx(0.5, abs=1e-12)
    assert not judge_cone_ray(empty, "infeasible", np.array([-1.0, -1.0])).passes()


#: Rows of points (x, y, z) of a cone with a row that bounds y, or the trace, and multipliers on a face of its dual.
ON_FACES = {
    "exponential": (Cone("exponential"), [0.0, 1, 0], [1.0, 0, 1, 0]),
    "power": (Cone("power", 3, 0.3), [1.0, 0, 0], [1.0, 1, 0, 0]),
    "second-order": (Cone("second-order", 3), [1.0, -1, 0], [1.0, 1, -1, 0]),
    "psd": (Cone("psd", 2), [0.0, 0, 1], [1.0, 0, 0, 1]),
}


@pytest.mark.parametrize("name", ON_FACES)
def test_multipliers_on_a_face_need_no_neighbours_off_it(name):
    """A sum of entries that cannot be negative is at most 1 - 2t: no point from t = 1/2 on."""
    cone, row, ray = ON_FACES[name]
    rows = np.vstack([row, -np.eye(3)])
    line = array_line(rows, [[1.0, 0, 0, 0], [-1.0, 0, 0, 0]], np.zeros(3), cones=[Cone("nonnegative", 1), cone])
    proof = judge_cone_ray(line, "infeasible", np.array(ray))
    assert proof.passes()
    assert proof.since == pytest.approx(0.5, abs=1e-12)
    for false in (-np.array(ray), np.array(ray) * [1, -1, -1, -1], np.array(ray) * [-1, 1, 1, 1]):
        assert not judge_cone_ray(line, "infeasible", false).passes()
    feasible = array_line(rows, [[1.0, 0, 0, 0], [0.0, 0, 0, 0]], np.zeros(3), cones=[Cone("nonnegative", 1), cone])
    assert not judge_cone_ray(feasible, "infeasible", np.array(ray)).passes()
    away = np.vstack([-np.array(row), -np.eye(3)])  # at least -b, not at most b
    free = array_line(away, line.b, np.zeros(3), cones=[Cone("nonnegative", 1), cone])
    assert not judge_cone_ray(free, "infeasible", np.array(ray)).passes()


def test_a_chain_of_multipliers_is_no_direction():
    """t x >= 1 and -1 <= x <= 0: no point at any t. The rows that say so are none of an objective without bound."""
    line = array_line([[0.0], [1.0], [-1.0]], [-1.0, 0.0, 1.0], [0.0], A_stop=[[-1.0], [1.0], [-1.0]])
    rays = np.array([[0.0, 1, 0, 0], [1.0, 1, 1, 0]])
    assert judge_cone_ray(line, "infeasible", rays).passes()
    assert not judge_cone_ray(line, "unbounded", rays).passes()


def piece_of(a=1e-3, low=2.0, high=3.0):
    return ConePiece(a, a, 0.0, low, high)


def pair_at(t, why="", value=2.5, off=0.0, own=0.0):
    """The parts of a pair that a proof of a band looks at."""
    return SimpleNamespace(
        t=t, why=why, value=value, off=off, own=own, x=np.zeros(1), x_radius=np.zeros(1), inside=None
    )


def band(pieces, pairs=None, eps=1e-3, ceiling=10.0, note=""):
    pairs = pairs or [pair_at(float(t)) for t in np.linspace(0, 1, len(pieces) + 1)]
    return BandProof(tuple(pairs), tuple(pieces), eps, ceiling, note)


def test_gaps_are_relative_to_the_least_value_of_their_piece():
    """2 at least, 2 in size where it is negative, and where it is small a thousandth of the largest value, 2.5."""
    pieces = [piece_of(), piece_of(low=-3.0, high=-2.0), piece_of(low=-1.0, high=1.0), piece_of(a=0.0)]
    proof = band(pieces)
    assert proof.difference[:3] == pytest.approx([1e-3] * 3)
    assert proof.gap == pytest.approx([1e-3 / 1.999, 1e-3 / 2, 1e-3 / 2.5e-3, 0])
    assert proof.gap[3] == 0.0
    assert (proof.unexplained == proof.gap).all()
    assert proof.t.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert len(proof) == 4
    assert proof.failures().tolist() == [2]
    assert proof.failures(1e-4).tolist() == [0, 1, 2]
    assert not proof.passes()
    assert proof.passes(0.5)
    assert band(pieces[:2]).passes()
    assert not band(pieces[:2]).passes(1e-5)


def test_nothing_is_proved_beside_a_pair_that_is_not_or_above_the_ceiling():
    pairs = [pair_at(0.0), pair_at(0.25, "no"), pair_at(0.5), pair_at(0.75), pair_at(1.0)]
    pieces = [piece_of(), piece_of(), piece_of(), piece_of(high=11.0)]
    proof = band(pieces, pairs)
    assert np.isinf(proof.gap).tolist() == [True, True, False, True]
    assert proof.why == "at t = 0.25 no"
    assert band(pieces).why == "a value of the path, 11, is above the ceiling 10"
    assert band(pieces[:3]).why == ""
    assert np.isinf(band([piece_of(high=np.nan)]).gap).all()
    assert np.isinf(band([NOTHING]).gap).all()
    nothing_to_lose = band([piece_of(low=0.0, high=0.0)], [pair_at(0.0, value=0.0), pair_at(1.0, value=0.0)])
    assert np.isinf(nothing_to_lose.gap).all()  # the scale is 0


def test_a_proof_of_a_band_says_what_it_proves_and_where_it_is_worst():
    pieces = [piece_of(), piece_of(a=1.5e-3)]
    assert band(pieces).explain() == (
        "Within 1e-03 of the optimal value at every t in [0, 1], relative to it: the path's own point is feasible, and "
        "no point is better by more, on each of 2 pieces between 3 proved pairs. Largest distance: 7.5e-04, between "
        "t = 0.5 and 1"
    )
    assert band(pieces).explain(1.4e-3).startswith("Within 1.4e-03 of the optimal value")  # and not 1e-03
    assert band(pieces, note="A remark.").explain().endswith("between t = 0.5 and 1. A remark.")
    assert band(pieces).explain(1e-5) == (
        "Not proved to 1e-05 on all of 2 pieces. Largest distance: 7.5e-04, between t = 0.5 and 1"
    )
    assert band([piece_of(high=11.0)]).explain().startswith("Not proved: a value of the path")
    assert repr(band(pieces)) == "BandProof(2 pieces, within 1e-03, worst=7.5e-04)"
    assert repr(band(pieces, eps=1e-9)) == "BandProof(2 pieces, not proved, worst=7.5e-04)"
    assert band(pieces)[1].cell == "Between t = 0.5 and 1"
    assert band(pieces)[-2].cell == "Between t = 0 and 0.5"
    assert band(pieces)[1].difference == pytest.approx(1.5e-3)
    assert band(pieces)[1].unexplained == pytest.approx(7.5e-4, rel=1e-3)
    with pytest.raises(IndexError):
        band(pieces)[2]


def test_a_point_of_a_band_is_between_two_pairs():
    first, last = pair_at(0.25), pair_at(0.75)
    last.x, last.x_radius = np.array([2.0]), np.array([0.5])
    share, point, radius = band([piece_of()], [first, last]).point(0, 0.5)
    assert (share, point.tolist()) == (0.5, [1.0])
    assert radius == pytest.approx([0.25], rel=1e-5)


@pytest.mark.parametrize(
    ("values", "floor"),
    [
        ([(2.5, 0.25, 0.5)], 1.75e-3),
        ([(-2.5, 0.25, 0.5)], 2.25e-3),
        ([(0.1, 0.25, 0.5)], 0.0),
        ([(1.0, 0.0, 0.0), (-3.0, 0.0, 0.0), (2.0, 0.0, 0.0)], 3e-3),
        ([], 0.0),
    ],
)
def test_the_least_scale_is_a_share_of_a_bound_of_the_largest_value(values, floor):
    pairs = [pair_at(0.0, "", *each) for each in values]
    assert floor_of([*pairs, pair_at(1.0, "not proved", 99.0)]) == pytest.approx(floor)


def test_bounds_of_rays_are_those_of_their_products_at_both_ends():
    """x <= b(t), -x <= 1 with multipliers (1, 1.5): b'z and what A'z = -1/2 may cost at -1 or at the largest b."""
    line = array_line([[1.0], [-1.0]], [[2.0, 1.0], [-4.0, 1.0]], [0.0])
    found = band_proof._products_with_sides(line, np.array([1.0, 1.5]))
    assert found == pytest.approx((2 + 1.5 + 0.5 * 2, -4 + 1.5 + 0.5 * 2), rel=1e-5)
    assert (np.array(found) >= (4.5, -1.5)).all()
    exact = band_proof._products_with_sides(line, np.array([1.0, 1.0]))
    assert exact == pytest.approx((3.0, -3.0), rel=1e-13)
    assert (np.array(exact) > (3.0, -3.0)).all()
    proof = judge_cone_ray(line, "infeasible", np.array([2.0, 2.0]))
    assert proof.since == pytest.approx(0.5, rel=1e-13)
    assert proof.since >= 0.5 * (1 + 8 * np.finfo(float).eps)
    assert proof.gain == pytest.approx(3 / 5)  # of the terms 4 and 1


def test_the_gain_of_a_direction_is_relative_to_its_terms():
    """q'd from 1 to -3 at the sign change and beyond, with d = (2, 1) and q = (q0, 1) of terms 3 and 1 / 2."""
    line = array_line([[-1.0, 0.0]], [5.0], [[0.5, 0.5], [-3.0, 0.5]])
    proof = judge_cone_ray(line, "unbounded", np.array([2.0, 1.0]))
    last = 1.0  # products are scaled so that they are -1 at the end
    assert proof.gain == pytest.approx(last / (3.0 + 0.25), rel=1e-6)
    assert proof.since == pytest.approx(0.75 / (0.75 + 2.75), rel=1e-6)
    program = band_proof._cone_of_directions(line, 0.5)
    assert program.A.toarray().tolist() == [[-1.25, 0.5], [-3.0, 0.5], [-1.0, 0.0]]
    assert program.b.tolist() == [0, -1, 0]
    assert [cone.kind for cone in program.cones] == ["nonnegative", "nonnegative"]
    bent = array_line(
        [[0.0, 7.0], [-1.0, 0.0]], [4.0, 5.0], [[0.5, 0.5], [-3.0, 0.5]], P=np.diag([0.0, 2.0]),
        cones=[Cone("zero", 1), Cone("nonnegative", 1)],
    )  # fmt: skip
    program = band_proof._cone_of_directions(bent, 0.5)
    assert program.A.toarray().tolist() == [[0, 2], [0, 7], [-1.25, 0.5], [-3.0, 0.5], [-1.0, 0.0]]
    assert program.b.tolist() == [0, 0, 0, -1, 0]
    assert [(cone.kind, cone.size) for cone in program.cones] == [("zero", 2), ("nonnegative", 2), ("nonnegative", 1)]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rays_of_any_size_and_sign_prove_as_much(size):
    """Equations 0 x = b(t), from 1 to -1: with z = -1 nothing is left from the start, with z = 1 at the end."""
    for sign, since in ((-1.0, None), (1.0, 0.5)):
        line = array_line([[0.0]], [[1.0], [-1.0]], [0.0], cones=[Cone("zero", 1)])
        proof = judge_cone_ray(line, "infeasible", np.array([sign * size]))
        assert proof.passes() == (since is not None)
        mirrored = judge_cone_ray(
            array_line([[0.0]], [[-1.0], [1.0]], [0.0], cones=[Cone("zero", 1)]), "infeasible", np.array([-sign * size])
        )
        assert mirrored.passes() == (since is not None)
        if since is not None:
            assert proof.since == mirrored.since == pytest.approx(since)
            assert proof.gain == mirrored.gain == pytest.approx(1.0)
