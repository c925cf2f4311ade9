"""`paretoclf ranges | derivatives | plane MODEL.mps`: what they print, beside what Python returns and HiGHS finds."""

from __future__ import annotations

import csv
import json

import pytest

import paretoclf as pc
from paretoclf.cli import main
from tests.problem.test_moved_numbers import MINIMISED, by_highs

pytest.importorskip("highspy")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.mps").write_text(MINIMISED)

    def running(*words):
        status = main(list(words))
        found = capsys.readouterr()
        return status, found.out, found.err

    return running


def test_ranges_are_printed_and_written(run, tmp_path):
    qp = pc.QP.from_file("program.mps")
    status, out, _ = run("ranges", "program.mps", "--csv", "ranges.csv")
    expected = pc.ranges(qp)
    assert status == 0
    assert out.splitlines()[-1] == expected._title()
    assert len(out.splitlines()) == len(expected) + 3
    with open(tmp_path / "ranges.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [float(row["price"]) for row in rows] == [row.price for row in expected]
    assert [row["enters_above"] for row in rows] == [row.enters_above for row in expected]


def test_a_report_is_two_tables(run, tmp_path):
    status, out, _ = run("ranges", "program.mps", "--report", "--csv", "report.csv")
    assert status == 0
    heads = [line.split("  ")[0] for line in out.splitlines() if line.startswith("name")]
    assert heads == ["name", "name"]
    assert "reduced cost" in out
    assert "shadow price" in out
    with open(tmp_path / "report.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    expected = pc.ranges(pc.QP.from_file("program.mps")).report()
    assert [row["name"] for row in rows] == [line["name"] for line in expected]
    assert [float(row["final value"]) for row in rows] == [line["final value"] for line in expected]


def test_ranges_of_some_as_data(run):
    found = json.loads(run("ranges", "program.mps", "--of", "need,cap", "--of", "a", "--json")[1])
    assert list(dict.fromkeys(row["name"] for row in found["rows"])) == ["a", "need", "cap"]
    assert found["value"] == pytest.approx(by_highs("program.mps", []), abs=1e-9)


def test_derivatives_along_two_numbers(run):
    found = json.loads(run("derivatives", "program.mps", "--move", "rhs:need=2", "--move", "cost:d=-1", "--json")[1])
    step = 1e-3
    own = [(("row", 0, "l"), 4 + 2 * step), (("cost", 3, ""), 0.5 - step)]
    rise = (by_highs("program.mps", own) - by_highs("program.mps", [])) / step
    assert found["right"]["value"] == pytest.approx(rise, abs=1e-2)
    assert "derivatives along rhs:need by 1" in run("derivatives", "program.mps", "--move", "rhs:need")[1]


def test_derivatives_of_shares_and_of_every_side(run):
    out = run("derivatives", "program.mps", "--move", "rhs:*=1%", "--move", "cost:d=-1")[1]
    assert "derivatives along rhs:*=1% by 1, cost:d by -1" in out
    found = json.loads(run("derivatives", "program.mps", "--move", "rhs:need=50%", "--json")[1])
    plain = json.loads(run("derivatives", "program.mps", "--move", "rhs:need=2", "--json")[1])
    assert found["right"] == plain["right"]


def test_a_map_is_printed_written_and_saved(run, tmp_path):
    moves = ["--move", "rhs:need=0..12", "--move", "rhs:cap=-4..12"]
    status, out, _ = run("plane", "program.mps", *moves, "--csv", "regions.csv", "--out", "map.npz")
    assert (status, "no optimum: infeasible" in out) == (0, True)
    kept = pc.load(tmp_path / "map.npz")
    with open(tmp_path / "regions.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == len(kept.regions)
    for row in rows:
        need, cap = float(row["rhs:need"]), float(row["rhs:cap"])
        value = by_highs("program.mps", [(("row", 0, "l"), need), (("row", 2, "u"), cap)])
        assert float(row["value"]) == pytest.approx(value, abs=1e-9)
    found = json.loads(run("plane", "program.mps", *moves, "--json")[1])
    assert (found["proved"], len(found["regions"])) == (True, len(rows))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ranges", "program.csv"], "file must end in .mps, .qps, .lp, or one of these and .gz, got program.csv"),
        (["ranges", "program.mps", "--of", "nothing"], "of must have variables and constraints among a, b"),
        (["plane", "program.mps", "--move", "rhs:need=0..3"], "--move must be given twice"),
        (["derivatives", "program.mps"], "--move must say which number of the program moves, as rhs:CAP1, got none"),
        (["derivatives", "program.mps", "--move", "rhs:need=x"], "--move must have numbers, got 'x'"),
        (["ranges", "program.mps", "--csv", "nowhere/a.csv"], "nowhere/a.csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(run, words, said):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err
