"""The stored map: arrays counted by hand, read back as they were, and every contradiction among them refused."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.common.files import members_of
from paretoclf.path.problem_map.problem_map import ProblemMap
from paretoclf.path.problem_map.problem_map_file import arrays_of, fields_of
from tests.oracles.stored_files import damaged


@pytest.fixture(scope="module")
def found():
    """Smallest c x + y**2 with x >= 0 and y between a and b, c and b parameters: two parts have no optimum."""
    x, y = cp.Variable(name="x", nonneg=True), cp.Variable(name="y")
    a, b = cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [(y >= 0.5).set_label("floor"), (y <= b).set_label("roof"), y <= 3]
    problem = cp.Problem(cp.Minimize(a * x + cp.square(y) + b), rows)
    return pc.plane(problem, {a: (-1.0, 3.0), b: (0.0, 2.0)}, progress=False)


@pytest.fixture(scope="module")
def many():
    """The projection onto a square along the diagonal of two vectors: nine regions or so, one parameter an array."""
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(2, name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) - 2 * a @ x + b * x[0]), [x <= 1, x >= 0])
    ranges = {a: (np.array([-1.0, 2.0]), np.array([2.0, -1.0])), b: (-1.0, 1.0)}
    return pc.plane(problem, ranges, progress=False)


def changed(content, told=(), **arrays):
    """With other arrays, and other things said in of_map."""
    return {**content, "of_map": {**content["of_map"], **dict(told)}, **arrays}


def same(own, other):
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in zip(own, other, strict=True)
    ) and len(own) == len(other)


@pytest.mark.parametrize("name", ["found", "many"])
def test_what_is_stored_is_read_back(name, request):
    own = request.getfixturevalue(name)
    again = ProblemMap(**fields_of(arrays_of(own)))
    for one, other in ((own.pieces, again.pieces), (own.contacts, again.contacts), (own.nowhere, again.nowhere)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            first, second = (list(each) if isinstance(each, tuple) else list(vars(each).values()) for each in (a, b))
            assert same(first, second)
    for key in ("q", "b", "constant"):
        assert np.array_equal(getattr(own.plane, key), getattr(again.plane, key))
    assert list(own.ranges) == list(again.ranges)
    for one, other in zip(own.ranges.values(), again.ranges.values(), strict=True):
        assert all(np.array_equal(a, b) and np.ndim(a) == np.ndim(b) for a, b in zip(one, other, strict=True))
    assert (again.texts, again.seconds) == (own.texts, own.seconds)
    assert again.proof.passes()
    assert repr(again) == repr(own)


def test_arrays_stand_one_after_the_other(found, many):
    for own in (found, many):
        arrays, r = arrays_of(own), len(own.pieces)
        assert arrays["corners"].tolist() == [len(each.polygon) for each in own.pieces]
        assert arrays["polygon"].shape == (sum(arrays["corners"]), 2)
        assert arrays["x"].shape == (r, own.plane.line.n, 3)
        assert arrays["z"].shape == (r, own.plane.line.m, 3)
        assert arrays["active"].shape == (r, own.plane.line.m)
        assert arrays["contacts"].shape == (len(own.contacts), 2)
        assert arrays["contact_ends"].shape == (len(own.contacts), 2, 2)
        assert arrays["plane_q"].tolist() == own.plane.q[2].tolist()
        for k, each in enumerate(own.contacts):
            assert arrays["contacts"][k].tolist() == [each.first, each.second]
            assert arrays["contact_ends"][k].tolist() == [each.start.tolist(), each.stop.tolist()]
    arrays, told = arrays_of(found), arrays_of(found)["of_map"]
    assert told["parameters"] == ["a", "b"]
    assert sorted(told["status"]) == ["infeasible", "unbounded"]
    assert [float(arrays[f"range_{k}_{i}"]) for k in (0, 1) for i in (0, 1)] == [-1, 3, 0, 2]
    assert arrays["rays"].size == found.plane.line.n + found.plane.line.m
    assert arrays_of(many)["rays"].shape == (0,)
    assert arrays_of(many)["none_polygon"].shape == (0, 2)
    assert len(many.contacts) > 3


def test_all_of_it_is_bound_by_the_hash(found, tmp_path):
    found.save(tmp_path / "map.npz")
    for key, each in members_of(arrays_of(found)).items():
        if not each.size:
            continue
        other = ~each if each.dtype == np.bool_ else each + each.dtype.type(1)
        file = damaged(tmp_path / "map.npz", tmp_path / "other.npz", **{key: other})
        with pytest.raises(InputError, match="what it holds was changed after it was saved"):
            pc.load(file, prove=False)


def test_arrays_that_do_not_fit_each_other_are_refused(found, many):
    arrays = arrays_of(found)
    wrong = {
        "polygon": arrays["polygon"][1:],
        "corners": np.append(arrays["corners"][:-1], 2),
        "x": arrays["x"][:, :-1],
        "z": arrays["z"][:, :, :2],
        "none_polygon": arrays["none_polygon"][1:],
        "none_corners": np.array([2, 3]),
        "rays": arrays["rays"][1:],
    }
    for key, value in wrong.items():
        with pytest.raises(InputError, match=r"must (have shape|lie between)"):
            fields_of(changed(arrays, **{key: value}))
    for key, value in (("x", np.nan), ("rays", np.inf), ("polygon", np.nan)):
        with pytest.raises(InputError, match="must be finite"):
            fields_of(changed(arrays, **{key: np.full_like(arrays[key], value)}))
    with pytest.raises(ValueError, match="reshape"):
        fields_of(changed(arrays, active=arrays["active"][:, 1:]))
    with pytest.raises(InputError, match="at least one region"):
        fields_of(changed(arrays, corners=np.zeros(0, dtype=int), polygon=np.zeros((0, 2))))
    arrays = arrays_of(many)
    r = len(many.pieces)
    for number in (-1, r):
        pairs = arrays["contacts"].copy()
        pairs[0, 1] = number
        with pytest.raises(InputError, match=rf"contacts must lie between 0 and {r - 1}"):
            fields_of(changed(arrays, contacts=pairs))
    for key in ("contacts", "contact_ends"):
        with pytest.raises(InputError, match="contacts must have shape"):
            fields_of(changed(arrays, **{key: arrays[key][1:]}))


def test_statuses_and_parameters_that_are_wrong_are_refused(found):
    arrays, one = arrays_of(found), ["infeasible"]
    for status in (one, one * 3, ["infeasible", "optimal"], []):
        with pytest.raises(InputError, match="status must be infeasible or unbounded for each of 2 parts"):
            fields_of(changed(arrays, told={"status": status}))
    third = {"range_2_0": arrays["range_1_0"], "range_2_1": arrays["range_1_1"]}
    for names in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(InputError, match="parameters must be two"):
            fields_of(changed(arrays, told={"parameters": names}, **third))


def test_polygons_keep_their_numbers_of_corners(many):
    pieces = (replace(many, pieces=many.pieces[:2]).pieces[0], *many.pieces[1:])
    sizes = [len(each.polygon) for each in fields_of(arrays_of(replace(many, pieces=pieces)))["pieces"]]
    assert sizes == [len(each.polygon) for each in many.pieces]
    assert len(set(sizes)) > 1
