"""`paretoclf verify MODEL.mps SOLUTION.csv`: exit status and words for right, wrong and unreadable points."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from paretoclf.cli import main
from tests.problem.test_mps import FILE
from tests.problem.test_qp import BOTH

pytest.importorskip("highspy")


@pytest.fixture
def run(tmp_path, capsys):
    def running(text, *more, model=FILE):
        (tmp_path / "goods.mps").write_text(model)
        (tmp_path / "point.csv").write_text(text)
        status = main(["verify", str(tmp_path / "goods.mps"), str(tmp_path / "point.csv"), *more])
        found = capsys.readouterr()
        return status, found.out + found.err

    return running


@pytest.mark.parametrize("head", ["", "name,value\n"])
def test_a_right_point_is_optimal(run, head):
    status, said = run(f"{head}X,4\nY,2\nZ,3.5\n")
    assert status == 0
    assert "optimal to 1e-08, value in [5.5, 5.5]" in said


def test_a_wrong_point_is_not_and_the_row_is_named(run):
    status, said = run("X,5\nY,1\nZ,4.5\n")
    assert (status, "SPAN (upper bound)" in said) == (1, True)
    assert run("X,4\nY,1.5\nZ,3.5\n")[0] == 1


def test_multipliers_are_told_apart(run):
    """Of minus the profit: BUDGET 2, TIE -1; reduced costs are those of bounds."""
    status, said = run("X,4\nY,2\nZ,3.5\nBUDGET,2\nTIE,1\n", "--json")
    assert (status, json.loads(said)["verdict"]) == (0, "optimal")
    assert "do not prove it" not in said
    status, said = run("X,4\nY,2\nZ,3.5\nBUDGET,9\nTIE,1\n")
    assert (status, "do not prove it" in said, "not optimal to 1e-08: wrong dual" in said) == (1, True, True)
    status, said = run("X,4\nY,2\nZ,3.5\nBUDGET,3\nTIE,2\n", "--json")  # every row is off by one
    assert (status, json.loads(said)["verdict"]) == (1, "not optimal")


def test_nothing_but_the_answer_reaches_standard_output(tmp_path):
    """HiGHS greets on the standard output of the process, once, before it can be told not to."""
    (tmp_path / "goods.mps").write_text(FILE)
    (tmp_path / "point.csv").write_text("X,4\nY,2\nZ,3.5\n")
    command = [sys.executable, "-m", "paretoclf", "verify", "goods.mps", "point.csv", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["verdict"] == "optimal"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("X,4\nY,2\n", "must have a number for each variable, got none for 'Z': where variables that are 0 are left"),
        ("X,4\nY,2\nZ,1\nW,0\n", "must have names of the program, got 'W'"),
        ("X,4\nX,4\n", "must have each name once, got 'X' twice"),
        ("X,4\nY,two\n", "must have a name and a number in each line, got 'Y,two'"),
        ("X\n", "must have a name and a number in each line, got 'X'"),
        ("X,4\nY,2_0\nZ,3.5\n", "must have a name and a number in each line, got 'Y,2_0'"),
        ("X,nan\nY,2\nZ,1\n", "x"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(run, text, said):
    status, printed = run(text)
    assert status == 2
    assert said in printed


def test_files_that_are_missing_or_too_many(tmp_path, capsys):
    (tmp_path / "goods.mps").write_text(FILE)
    assert main(["verify", str(tmp_path / "goods.mps")]) == 2
    said = capsys.readouterr().err
    assert ("SOLUTION must be given beside a program" in said, "--conflict asks" in said) == (True, True)
    assert main(["verify", str(tmp_path / "goods.mps"), str(tmp_path / "none.csv")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["verify", "rows.csv", "more.csv"]) == 2
    assert "SOLUTION belongs to a program" in capsys.readouterr().err


def test_a_row_and_a_variable_of_one_name_are_told_apart(run):
    """Before: both numbers were of the variable."""
    right = "x:steel,3\ncoal,1\nrow:steel,-2.5\nhours,0.5\n"
    status, said = run(right, "--json", model=BOTH)
    assert (status, json.loads(said)["verdict"]) == (0, "optimal")
    assert run(right.replace("-2.5", "-2.4"), model=BOTH)[0] == 1
    status, said = run("steel,3\ncoal,1\n", model=BOTH)
    assert (status, "must say x:steel or row:steel, which are two, got 'steel'" in said) == (2, True)


def test_rows_that_contradict_each_other_are_named(tmp_path, capsys):
    model = FILE.replace("RHS       BUDGET    6.0", "RHS       BUDGET    0.5").replace("BUDGET    6.0", "BUDGET    0.5")
    (tmp_path / "goods.mps").write_text(model)
    assert main(["verify", str(tmp_path / "goods.mps"), "--conflict"]) == 1
    said = capsys.readouterr().out
    names = [line.split()[0] for line in said.splitlines()[2:-1]]
    assert {"BUDGET", "NEED"} <= set(names)  # Y >= 1, X + Y <= 0.5, and X >= 0 or the span that X has
    assert said.splitlines()[-1].endswith("there is a point for the others, which further rows may exclude")
    (tmp_path / "right.mps").write_text(FILE)
    assert main(["verify", str(tmp_path / "right.mps"), "--conflict", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conflict"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["goods.mps", "point.csv", "--conflict"], "--conflict asks for no SOLUTION"),
        (["rows.csv", "--conflict"], "--conflict belongs to a program, a file that ends in .mps, .qps or .lp"),
    ],
)
def test_a_conflict_is_that_of_a_program(capsys, words, said):
    assert main(["verify", *words]) == 2
    assert said in capsys.readouterr().err
