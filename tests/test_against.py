"""The benchmark against an earlier revision: what it says where there is none, and its table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import against


def test_without_history_it_says_so_in_a_sentence(tmp_path):
    folder = tmp_path / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    shutil.copy(against.__file__, folder)
    command = [sys.executable, str(folder / Path(against.__file__).name), "--smoke"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": "", "HOME": str(tmp_path)})
    assert done.stdout == "there is no history here that git can read, and so nothing to compare with\n"
    assert done.stderr == ""
    assert [each.name for each in tmp_path.iterdir()] == ["tests"]  # nothing is kept


def test_a_row_has_ratios_and_marks_what_needs_a_reason():
    row = {"case": "nu-500", "errors": ["", ""], "seconds": [0.1, 0.12], "calls": [100, 50], "memory": [80.0, 88.0]}
    assert (
        against.line(row).split()
        == "nu-500 100.00 120.00 1.20 < 100 50 0.50 80 88 1.10".replace("1.20 <", "1.20<").split()
    )
    slow = {**row, "seconds": [0.1, 0.11]}
    assert "<" not in against.line(slow)
    new = {"case": "lasso-60", "errors": ["AttributeError: none", ""], "seconds": [None, 0.1]}
    new |= {"calls": [None, 7], "memory": [None, 90.0]}
    assert against.line(new).split() == ["lasso-60", "-", "100.00", "-", "-", "7", "-", "-", "90", "-"]


def test_cases_are_chosen_by_how_their_names_begin():
    assert against.chosen(["prove-linear-2", "at"], False) == [
        ("prove-linear", 200),
        ("prove-linear", 2000),
        ("at", 40),
        ("at-certified", 40),
    ]
    assert {case for case, _ in against.chosen([], True)} == set(against.CASES)
    with pytest.raises(SystemExit, match="no case begins with fit; there are trace-rbf, "):
        against.chosen(["fit"], False)


@pytest.mark.parametrize("case", ["frontier", "nu", "quantile", "at-certified", "leave-one-out"])
def test_every_kind_of_case_does_its_work(case):
    task = against.CASES[case][0](against.SMOKE)
    task()
    assert against.calls(task) > 50


def test_the_copy_that_is_measured_has_the_core(tmp_path):
    """Without it the textbook tracker would be measured: the copy was put where no engine looks for it."""
    pytest.importorskip("paretoclf.engine._core")
    folder = against.present(tmp_path)
    command = [
        sys.executable,
        "-S",
        "-P",
        "-c",
        "import paretoclf.engine as e, paretoclf.engine._core as c; print(e, c)",
    ]
    path = os.pathsep.join([str(folder), *(each for each in sys.path if each)])
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": path})
    assert done.stdout.count(str(folder)) == 2
