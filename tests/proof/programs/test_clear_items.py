"""Tests of `paretoclf.proof.programs.clear_items`: what is proved of blocks is what is proved of all rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.proof import prove
from paretoclf.proof.programs import item_lines
from paretoclf.proof.programs.clear_items import ItemJudge
from paretoclf.proof.programs.item_blocks import PathOfItems
from tests.oracles.item_paths import PROBLEMS, falsified, path_of
from tests.oracles.items_by_rows import prove_by_rows

NAMES = ("rows", "stationarity", "signs", "slackness", "curvature", "free")


def compare(problem, path):
    """Hold the proof of a path against that by rows; whether it passes."""
    found, wanted = prove(problem, path), prove_by_rows(problem, path)
    np.testing.assert_array_equal(found.failures(), wanted.failures())
    assert found.passes() == wanted.passes()
    assert list(found.residuals) == list(NAMES)
    for name, each in wanted.residuals.items():
        own = found.residuals[name]
        finite = np.isfinite(each)
        np.testing.assert_array_equal(np.isfinite(own), finite, err_msg=name)
        # Bounds by the least units are no smaller, up to rounding, and no larger than a share of the tolerance.
        assert (own[finite] >= each[finite] * (1 - 1e-6) - 1e-13).all(), name
        assert (own[finite] <= np.maximum(2.0 * each[finite], 1e-9 if name == "rows" else 1e-10)).all(), name
    numbers = "gaps", "sizes", "duals"
    finite = np.logical_and.reduce([np.isfinite(getattr(wanted, name)).all(axis=1) for name in numbers])
    also = np.logical_and.reduce([np.isfinite(getattr(found, name)).all(axis=1) for name in numbers])
    np.testing.assert_array_equal(also, finite)
    own, each = found.sizes[finite], wanted.sizes[finite]
    size = 1e-13 * np.abs(each).max(initial=0.0)
    np.testing.assert_allclose(found.gaps[finite], wanted.gaps[finite], rtol=1e-6, atol=size)
    np.testing.assert_allclose(found.duals[finite], wanted.duals[finite], rtol=1e-9, atol=size)
    # Less counts as rounding of a value, where there is next to none.
    assert (own <= each * (1 + 1e-9) + size).all()
    same = np.isclose(own, each, rtol=1e-9, atol=size)
    assert (same | (found.gaps[finite] <= 1e-10 * own)).all()
    return found.passes()


@pytest.mark.parametrize("name", PROBLEMS)
def test_right_paths_and_falsified_ones_are_proved_as_by_rows(name):
    problem = PROBLEMS[name]()
    path, rng, seen = path_of(problem), np.random.default_rng(1), Counter()
    if name in ("box, features", "ray"):  # of features nothing is added to P: rows must not, either
        P = problem.dense().P
        problem = replace(problem, P=P + 1e-3 * np.eye(len(P)))
        path = path_of(problem)
    assert compare(problem, path)
    for _ in range(30):
        seen[compare(problem, falsified(path, rng))] += 1
    assert min(seen[True], seen[False]) > 2


def out_of_range(problem, path, rng):
    """The problem with other data of one item, so that what is asked of it alone is wrong: its slope, or its bound."""
    size, n, data = 10.0 ** rng.uniform(-11, 0), problem.n, {}
    if path.stationary and rng.random() < 0.7:
        q = np.array(problem.q)
        q[:, int(rng.integers(n))] += size * rng.choice([-1.0, 1.0])
        data["q"] = q
    else:
        values = path.whole()[0]
        side, extreme, sign = (("lower", np.max, 1.0), ("upper", np.min, -1.0))[int(rng.integers(2))]
        bounds, row = np.array(getattr(problem, side)), n + int(rng.integers(problem.items - n))
        bounds[:, row] = (
            extreme(values[:, row]) - sign * 1e-9 + sign * size
        )  # right up to here, on one segment at least
        data[side] = bounds
    moved = replace(problem, **data)
    return moved, replace(path, problem=moved)


@pytest.mark.parametrize("name", ["box, kernel", "caps, sparse", "caps, dense", "hinges"])
def test_what_is_still_is_asked_for_its_slope_or_its_bounds(name):
    problem = PROBLEMS[name]()
    path, rng, seen = path_of(problem), np.random.default_rng(2), Counter()
    for _ in range(25):
        seen[compare(*out_of_range(problem, path, rng))] += 1
    assert seen[False] > 5


def jump(wrong=0.0):
    """A vertex of a simplex up to t = 1/2, where the path jumps to the other one, within a stretch that is a point."""
    t = np.array([0.0, 0.5, 0.5 + 4.4e-16, 1.0])
    lower, upper = np.zeros((2, 3)), np.ones((2, 3))
    lower[:, 2] = 1.0
    problem = ParametricQP.hard(np.zeros((2, 2)), np.ones((1, 2)), np.array([[0.0, 1.0], [1.0, 0.0]]), lower, upper)
    first, second = [1.0, 0.0], [0.0, 1.0]
    x = np.array([[first, first], [first, second], [second, second]])
    x[1, 1, 0] += wrong
    price = np.where(t <= 0.5, 1.0 - t, t)
    ends = np.stack([t[:-1], t[1:]], axis=1)
    row = np.stack([price[:-1], price[1:]], axis=1)
    y = np.stack([ends - row, 1.0 - ends - row, row], axis=2)
    return problem, Piecewise.of(problem, t, x, y)


def test_a_segment_of_no_length_is_two_points():
    assert compare(*jump())
    assert not compare(*jump(1e-6))
    problem, path = jump(1e-6)
    assert prove(problem, path).failures().tolist() == [1]  # the point after it is right


def test_what_is_two_points_has_no_products_between_them():
    """Of a path whose numbers are off, some segments are judged at their ends alone: the rest is as it was."""
    problem = PROBLEMS["box, kernel"]()
    path = path_of(problem)
    path = replace(path, number=path.number * (1.0 + 1e-3 * np.sin(np.arange(path.number.size))))
    block = next(PathOfItems(problem, path).blocks([slice(0, path.segments)]))
    alone = np.arange(path.segments) % 3 == 1
    together, apart = (ItemJudge(problem).bounds(block, each) for each in (alone & False, alone))
    for name in ("gaps", "sizes", "duals"):
        one, other = (getattr(each, name) for each in (together, apart))
        np.testing.assert_allclose(other[~alone], one[~alone], rtol=1e-12)
        np.testing.assert_allclose(other[alone][:, [0, 2]], one[alone][:, [0, 2]], rtol=1e-12)
        np.testing.assert_allclose(other[alone, 1], one[alone][:, [0, 2]].mean(axis=1), rtol=1e-12)
    assert (np.abs(together.gaps[alone, 1] / apart.gaps[alone, 1] - 1) > 1e-5).all()
    slackness, between = (each.residuals[alone, 3] for each in (apart, together))
    assert (slackness <= between).all()


@pytest.mark.parametrize("name", ["box, kernel", "hinges", "caps, sparse"])
def test_what_is_right_is_seen_to_be_without_a_look_at_all_rows(name, monkeypatch):
    problem = PROBLEMS[name]()
    path = path_of(problem)
    with monkeypatch.context() as patched:
        patched.setattr(item_lines.ByRows, "bounds", None)
        whole = prove(problem, path)
        patched.setattr(item_lines, "_TOGETHER", 3)
        parts = prove(problem, path)
    assert whole.passes()
    for one, other in ((whole.gaps, parts.gaps), (whole.sizes, parts.sizes), (whole.duals, parts.duals)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-13 * whole.sizes.max())


def test_one_wrong_number_asks_for_its_own_segments_alone(monkeypatch):
    problem, asked = PROBLEMS["box, kernel"](), []
    path = path_of(problem)
    number = np.array(path.number)
    number[path.ptr[path.begin[4]]] += 1e-3
    bounds = item_lines.ByRows.bounds
    monkeypatch.setattr(item_lines.ByRows, "bounds", lambda rows, part, t: asked.append(part) or bounds(rows, part, t))
    assert prove(problem, replace(path, number=number)).failures().tolist() == [4]
    assert asked == [slice(4, 5)]


def test_features_times_themselves_are_semidefinite_as_they_are():
    """To their product as an array, whose eigenvalues are rounded, a share of its diagonal would be added."""
    problem = PROBLEMS["box, features"]()
    path = path_of(problem)
    found, whole = prove(problem, path), prove_by_rows(problem, path)
    assert found.passes()
    assert (found.residuals["curvature"] == 0.0).all()
    assert found.gap.max() < 1e-13 < whole.gap.max()


def test_where_terms_of_the_value_cancel_gaps_are_relative_to_a_thousandth_of_one():
    """Of what is still: 5 at a lower bound of 1, and -5 at an upper one; a third variable goes from 0 to 1e-3."""
    lower, upper = np.array([[1.0, 0.0, 0.0]] * 2), np.array([[2.0, 1.0, 1.0]] * 2)
    q = np.array([[5.0, -5.0, 1e-3], [5.0, -5.0, -1e-3]])
    problem = ParametricQP.hard(np.diag([0.0, 0.0, 1.0]), np.zeros((0, 3)), q, lower, upper)
    path = path_of(problem)
    assert compare(problem, path)
    np.testing.assert_allclose(prove(problem, path).sizes, 5e-3, rtol=1e-12)
    assert np.abs(prove(problem, path).duals).max() < 1e-6
