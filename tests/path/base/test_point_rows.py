"""Tests of `paretoclf.path.base.point_rows`: no column is lost where two things have one name."""

from __future__ import annotations

import csv

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import paretoclf as pc
from paretoclf.cli import main

MIX = (
    "Maximize\n profit: 3 chairs + 5 tables\nSubject To\n wood: chairs + tables <= 6\n t: chairs + 2 tables <= 9\nEnd\n"
)


@pytest.fixture(scope="module")
def mix(tmp_path_factory):
    """A plan whose parameter has the name of its row, and another row the name of the path's own."""
    folder = tmp_path_factory.mktemp("mix")
    (folder / "mix.lp").write_text(MIX)
    path = pc.trace(pc.QP.from_file(folder / "mix.lp", moves={"wood": "rhs:wood"}), {"wood": 1}, {"wood": 12})
    path.save(folder / "path.npz")
    return folder, path


def test_the_parameter_keeps_its_name_and_the_row_has_a_prefix(mix):
    _, path = mix
    frame = path.to_frame()
    np.testing.assert_allclose(frame["wood"], 1.0 + 11.0 * frame["t"], atol=1e-12)
    assert frame["t"].is_monotonic_increasing
    for k, t in enumerate(frame["t"]):
        least, most = sorted(float(each) for each in (frame["row:wood"][k], path.at(t).duals["wood"]))
        assert most - least < 1e-12 or (frame["t"] == t).sum() == 2  # a multiplier that jumps has two rows
    middle = path.at(wood=3.0).duals  # tables alone: 5 a unit of wood
    assert abs(middle["wood"]) == pytest.approx(5.0)
    assert abs(frame["row:wood"][0]) == pytest.approx(5.0)
    assert {"row:t", "chairs", "tables", "value", "events"} <= set(frame.columns)


@pytest.mark.parametrize("at", ["t", "wood"])
@pytest.mark.parametrize("rows", [[], ["row:wood", "row:t"]])
def test_the_table_passes_as_somebody_elses_path(mix, at, rows):
    _, path = mix
    frame = path.to_frame()
    assert pc.verify(path, frame[[at, "chairs", "tables", *rows]]).passes()
    wrong = frame.assign(**{name: frame[name] + 1.0 for name in (rows or ["chairs"])[:1]})
    assert not pc.verify(path, wrong[[at, "chairs", "tables", *rows]]).passes()


def test_export_writes_the_same_columns(mix, capsys):
    folder, path = mix
    assert main(["export", str(folder / "path.npz"), "--csv", str(folder / "mix.csv")]) == 0
    with open(folder / "mix.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    frame = path.to_frame()
    assert list(rows[0]) == list(frame.columns)
    np.testing.assert_allclose([float(row["wood"]) for row in rows], frame["wood"])


def test_a_constraint_of_cvxpy_may_have_the_name_of_a_parameter():
    x, cap = cp.Variable(name="x"), cp.Parameter(name="cap")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - 3)), [(x <= cap).set_label("cap")]), {cap: 0}, {cap: 5})
    frame = path.to_frame()
    np.testing.assert_allclose(frame["cap"], 5.0 * frame["t"], atol=1e-12)
    np.testing.assert_allclose(frame["row:cap"], np.maximum(6.0 - 2.0 * frame["cap"], 0.0), atol=1e-9)
    assert isinstance(frame, pd.DataFrame)
    np.testing.assert_allclose(frame["x"], np.minimum(frame["cap"], 3.0), atol=1e-9)


def test_slopes_are_prices_of_the_one_number_that_moves(mix):
    folder, path = mix
    frame = path.to_frame().drop_duplicates("t")
    step = 1e-4
    for row in frame.to_dict("records"):
        for name, sign in (("slope left", -1), ("slope right", 1)):
            beside = row["wood"] + sign * step
            if 1.0 <= beside <= 12.0:  # a linear program: differences are the rates
                rise = (path.value(wood=beside) - path.value(wood=row["wood"])) / (sign * step)
                assert row[name] == pytest.approx(rise, abs=1e-6)
    assert np.isnan([frame["slope left"].iloc[0], frame["slope right"].iloc[-1]]).all()
    with open(folder / "slopes.csv", "w") as file:
        path.to_frame().to_csv(file, index=False)
    for given in (path.to_frame(), str(folder / "slopes.csv")):
        assert pc.verify(path, given).passes()


def test_slopes_tell_kinks_of_the_value_from_changes_of_what_is_tight():
    """The distance of a to [0, 2], squared: a bound becomes tight or free, and the value has no kink there."""
    x, a = cp.Variable(name="x"), cp.Parameter(name="a")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - a)), [x >= 0, x <= 2]), {a: -1}, {a: 3})
    rows = {round(row["a"], 9): row for row in path.records()}
    for number, row in rows.items():  # (a_+ - a)^2 is smooth: both slopes are 2 (a - x)
        rate = 2 * (number - min(max(number, 0.0), 2.0))
        for name in ("slope left", "slope right"):
            assert row[name] is None or row[name] == pytest.approx(rate, abs=1e-9)
    two = cp.Parameter(name="two")
    both = cp.Problem(cp.Minimize(cp.square(x - a)), [x >= 0, x <= 2 + two])
    moved = pc.trace(both, {a: -1, two: 0}, {a: 3, two: 1}).records()
    assert moved[0]["slope right"] == pytest.approx(-2 * 4)  # of t, as two numbers move: d/dt (a(t))^2
