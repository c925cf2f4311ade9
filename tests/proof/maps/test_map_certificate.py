"""Certificates of maps: of costs and of programs, by commands, and why there is none."""

from __future__ import annotations

import json

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.proof import check_map
from paretoclf.proof.maps.map_certificate import between, map_certificate
from tests.oracles.maps import costs, is_optimal, letters_of, linear, places, quadratic


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0), pc.Polynomial(2)])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 1.0, 1.5, 1.0, 1.0, 0.25, 1.0, 1.0]])
def test_maps_of_costs_are_proved(kernel, weights, tmp_path):
    rng = np.random.default_rng(2)
    y = np.where(np.arange(10) < 5, 1.0, -1.0)
    X = rng.normal(size=(10, 2)) + 0.7 * y[:, None]
    found = pc.plane(pc.TwoCSVM(X, y, kernel, sample_weight=weights), (0.1, 2), (0.2, 3), progress=False)
    found.proof.save(tmp_path / "map.json.gz", positive="sick")
    words = check_map.main(str(tmp_path / "map.json.gz"))
    assert f"on {len(found.regions)} polygons" in words
    assert '"label of +1": "sick"' in words


@pytest.mark.parametrize("seed", range(12))
def test_maps_of_random_programs_are_proved(seed, tmp_path):
    """Letters are optimal in fractions wherever the map has an optimum."""
    rng = np.random.default_rng(seed)
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    A, rows = rng.integers(-3, 4, (4, 3)), rng.integers(-3, 4, (4, 3))
    constraints = [A @ x <= rows[:, 0] + rows[:, 1] * a + rows[:, 2] * b + 3, x >= -2, x <= 2]
    costs_ = rng.integers(-3, 4, (3, 3))
    objective = costs_[0] @ x + a * (costs_[1] @ x) + b * (costs_[2] @ x)
    curved = cp.sum_squares(x[: seed % 4]) / 2 if seed % 4 else 0
    problem = cp.Problem(cp.Minimize(objective + curved), constraints)
    found = pc.plane(problem, {a: (-1, 1), b: (-1, 1)}, progress=False)
    found.proof.save(tmp_path / "map.json")
    content = json.loads((tmp_path / "map.json").read_text())
    regions = letters_of(content["regions"])
    for place in places(rng, 10):
        optimal = any(is_optimal(content["problem"], letters, place) for letters in regions)
        value = found.values("value", found._outwards(place[None]))[0]
        assert optimal == np.isfinite(value)


def controller(kind):
    """A map of a controller with two steps: with limits, with a price for the force's size, or that must come to rest.

    In all of them multipliers are 0 in the middle of a region, by symmetry.
    """
    A, B = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([0.125, 0.5])
    s, u = cp.Variable((2, 3), name="s"), cp.Variable(2, name="u")
    position, speed = cp.Parameter(name="position"), cp.Parameter(name="speed")
    rules = [s[0, 0] == position, s[1, 0] == speed, cp.abs(u) <= 1]
    rules += [s[:, k + 1] == A @ s[:, k] + B * u[k] for k in range(2)]
    force = cp.norm1(u) / 2 if kind == "price" else cp.sum_squares(u) / 10
    if kind == "limits":
        rules += [cp.abs(s[1]) <= 1.5, cp.abs(cp.diff(u)) <= 0.5]
    if kind == "rest":
        rules += [s[:, 2] == 0]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(s) + force), rules)
    return pc.plane(problem, {position: (-4, 4), speed: (-2, 2)}, progress=False)


@pytest.mark.parametrize("kind", ["limits", "price", "rest"])
def test_maps_of_controllers_are_proved(kind, tmp_path):
    """Absolute values add columns that nothing holds; parts without an optimum meet in corners."""
    found = controller(kind)
    found.proof.save(tmp_path / "map.json")
    assert f"on {len(found.regions)} polygons" in check_map.main(str(tmp_path / "map.json"))
    content = json.loads((tmp_path / "map.json").read_text())
    regions = letters_of(content["regions"])
    for place in places(np.random.default_rng(0), 5):
        optimal = any(is_optimal(content["problem"], letters, place) for letters in regions)
        assert optimal == np.isfinite(found.values("value", found._outwards(place[None]))[0])
    assert bool(content["outside"]) == bool(found.outside)


def test_a_loaded_map_is_saved_and_checked_by_commands(tmp_path, capsys):
    for make in (linear, costs):
        make().save(tmp_path / "map.npz")
        out = str(tmp_path / "map.proof.json")
        assert main(["prove", str(tmp_path / "map.npz"), "--json", "--out", out]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["level"] == "map"
        assert report["check"] == "python check_map.py map.proof.json"
        scripts = {str(tmp_path / f"{name}.py") for name in ("check", "check_ray", "check_map")}
        assert {*report["files"]} == {out, *scripts}
        assert main(["check", out]) == 0
        assert "PROVED without rounding: for all s and t" in capsys.readouterr().out


def test_labels_are_of_classifiers_and_levels_are_one(tmp_path):
    with pytest.raises(InputError, match="no labels"):
        quadratic().proof.save(tmp_path / "map.json", positive="1")
    with pytest.raises(InputError, match="level must be"):
        costs().proof.save(tmp_path / "map.json", level="bounded")
    assert not list(tmp_path.iterdir())


def test_labels_that_do_not_cover_are_refused(tmp_path):
    found = quadratic()
    found.proof.save(tmp_path / "map.json")
    content = json.loads((tmp_path / "map.json").read_text())
    numbers = [["bliua".index(letter) - 2 for letter in each] for each in letters_of(content["regions"])]
    with pytest.raises(ArithmeticError, match="do not cover"):
        map_certificate(content["problem"], [np.array(each) for each in numbers[1:]], [], False)
    none = np.ones_like(numbers[0])  # all at upper bounds, which the variables have not
    for guide, lost in (([*map(np.array, numbers[1:]), none], "1 of 6"), ([none] * 6, "6 of 6")):
        with pytest.raises(ArithmeticError, match=f"^{lost} regions have labels that are optimal in doubles only"):
            map_certificate(content["problem"], guide, [], False)
    path = found.along({"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0})  # the remedy that is named
    path.proof.save(tmp_path / "path.json", level="exact")
    outside = [(np.array([0.6, 0.6]), np.array([0.9, 0.9]), 0)]
    with pytest.raises(ArithmeticError, match="there is an optimum where the map has none"):
        map_certificate(content["problem"], [np.array(each) for each in numbers], outside, False)


def test_a_line_through_a_plane_is_stated_without_rounding():
    problem = {"kind": "2C-SVM", "caps": [[0.25, 1], [1.25, 1], [0.25, "1/3"]]}
    line = between(problem, np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    assert line["caps"] == [["3/4", "2/3"], ["5/4", 1]]
