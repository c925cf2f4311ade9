"""``paretoclf grade``: a row for each student and exercise, whatever the submissions are."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from paretoclf.cli import main

EXERCISE = """
import cvxpy as cp

x = cp.Variable(2, name="x")
total = cp.Parameter(value=1.0, name="total")
mass, low = (cp.sum(x) == 1).set_label("mass"), (x[0] >= 0.75).set_label("low")
cap = (cp.sum(x) <= 0.5).set_label("cap")
exercises = {
    "split": cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass, low]),
    "dual": (cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == total]), "a solution that is not looked at"),
    "none": cp.Problem(cp.Minimize(cp.sum(x)), [low, cap, x >= 0]),
    "away": cp.Problem(cp.Maximize(x[0]), [low]),
}
"""

#: Values and multipliers of an answer by hand: x = (3, 1) / 4, of the mass -1/2, of the bound 1.
SPLIT = {"values": {"x": [0.75, 0.25]}, "duals": {"mass": -0.5, "low": 1}}

ADA = f"""
import os
from fractions import Fraction
import cvxpy as cp
import numpy as np

os.chdir("..")
x, v, total = cp.Variable(2, name="x"), cp.Variable(name="v"), cp.Parameter(name="total", value=1.0)
low = (x[0] >= 1).set_label("low")
split = {SPLIT!r}
split = {{"values": {{x: np.array([Fraction(3, 4), Fraction(1, 4)])}}, "duals": {{"mass": Fraction(-1, 2), low: 1}}}}
dual = cp.Problem(cp.Maximize(total * v - cp.square(v) / 2))
answers = {{"split": split, "dual": {{"dual": dual}}, "none": "infeasible", "away": {{"ray": {{"x": [1, 0]}}}}}}
"""
HALF = ADA.replace("cp.square(v) / 2", "cp.square(v)").replace("low: 1", "low: 2")
BREAKS = "import numpy\nnumpy.sum = numpy.max = None"  # what a submission breaks stays there
CODE = ("%matplotlib inline\n", "!ls\n", BREAKS, f"answers = {{'split': {SPLIT!r}}}")
CELLS = [{"cell_type": "markdown", "source": "1 + "}, *({"cell_type": "code", "source": [line]} for line in CODE)]

SUBMISSIONS = {
    "ada.py": ADA,
    "ben.py": HALF,
    "cleo.ipynb": json.dumps({"cells": CELLS}),
    "dan/homework.json": json.dumps(
        {"split": {"values": {"x": [0.5, 0.5]}}, "none": {"values": {"x": [0, 0]}}, "away": {"values": {"x": [9, 0]}}}
    ),
    "dan/notes.txt": "",
    "eve.json": json.dumps({"split": {"values": {"y": 1}}, "dual": 3, "away": {"duals": {}}, "none": "unbounded"}),
    "fay.py": "import os\nprint('so long')\nos._exit(1)",
    "gil.py": "answers = {'split': solution}",
    "guy.py": f"answers = {{'split': {SPLIT!r}, 'none': 'infeasible'}}\nanswers['away'] = solution",
    "hal.ipynb": "{}",
    "ian/readme.txt": "",
    "joy/a.py": "",
    "joy/b.py": "",
    "kim.py": "answers = 3",
    "lea.py": "answers = {'split': object()}",
    "moe.py": "raise SystemExit('enough')",
    "ned.json": "[1, 2]",
    "ora.json": "{",
    ".hidden.py": "",
    "points.txt": "",
}


@pytest.fixture
def folder(tmp_path):
    def made(submissions, exercise=EXERCISE):
        (tmp_path / "exercise.py").write_text(exercise)
        for name, text in submissions.items():
            file = tmp_path / "in" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return [str(tmp_path / "exercise.py"), str(tmp_path / "in")]

    return made


def test_each_student_has_a_row_for_each_exercise_and_nothing_ends_the_run(folder, tmp_path, capsys):
    assert main(["grade", *folder(SUBMISSIONS), "--csv", str(tmp_path / "grades.csv")]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    rows = list(csv.DictReader((tmp_path / "grades.csv").read_text().splitlines()))
    found = {(row["student"], row["exercise"]): row for row in rows}
    students = list(dict.fromkeys(re.split(r"[./]", name)[0] for name in SUBMISSIONS))[:-2]
    assert list(found) == [(each, name) for each in students for name in ("split", "dual", "none", "away")]

    def told(student, exercise):
        row = found[student, exercise]
        return int(row["points"]), row["verdict"], row["sentence"]

    lines = {
        "fay": "it ended without an answer: so long",
        "gil": "NameError: name 'solution' is not defined",
        "hal": "KeyError: 'cells'",
        "ian": "no file of .py, .ipynb, .json, .csv: one is needed",
        "joy": "2 files (a.py, b.py) of .py, .ipynb, .json, .csv: one is needed",
        "kim": "it defines no dict of the name answers",
        "moe": "SystemExit: enough",
        "ned": "it must hold an object: answers by exercise",
    }
    assert [told("ada", name)[:2] for name in ("split", "dual", "none", "away")] == [
        (3, "right"),
        (3, "same value"),
        (3, "right"),
        (3, "right"),
    ]
    points, verdict, sentence = told("ben", "split")
    assert (points, verdict) == (2, "wrong multipliers")
    assert sentence.endswith("the multiplier of low is twice the solver's.")
    points, verdict, sentence = told("ben", "dual")
    assert (points, verdict) == (0, "weaker")
    assert "half of power(v, 2)" in sentence
    assert [told("guy", name) for name in ("dual", "away")] == [(0, "no answer", lines["gil"])] * 2
    assert [told("guy", name)[0] for name in ("split", "none")] == [3, 3]
    assert told("cleo", "split")[:2] == (3, "right")
    assert told("cleo", "dual") == (0, "no answer", "answers has no dual")
    assert told("dan", "split") == (0, "infeasible", "Infeasible: low is violated by 0.25.")
    assert told("dan", "none") == (0, "not optimal", "Wrong: the problem is infeasible, so that no values are optimal.")
    assert told("dan", "away") == (0, "not optimal", "Wrong: the problem is unbounded, so that no values are optimal.")
    assert told("eve", "split") == (0, "not judged", "values must have all variables, x: x is missing")
    for name in ("dual", "away", "none"):
        assert told("eve", name)[:2] == (0, "not judged")
    assert {student: found[student, "away"]["sentence"] for student in lines} == lines
    assert found["lea", "split"]["sentence"].startswith("answers must be numbers: ")
    assert found["ora", "split"]["sentence"].startswith("JSONDecodeError: ")
    assert all(row["verdict"] == "no answer" for row in rows if row["student"] in (*lines, "lea", "ora"))
    printed_rows = printed.out.splitlines()
    assert len(printed_rows) == 2 + len(rows)
    assert printed_rows[-1] == f"16 submissions, 4 exercises: 9 of {len(rows)} answers are right"


TABLES = {
    "ada": "exercise,name,value\nsplit,x[0],0.75\nsplit, x[1], 0.25\nsplit,mass,-0.5\nsplit,low,1\nnone,,infeasible\n",
    "ben": "\ufeffexercise,name,value\nsplit,x[1],0.25\n",
    "cleo": "exercise,name,value\nsplit,x[0],a half\n",
    "dan": "exercise,value\nsplit,1\n",
    "eve": "exercise,name,value\nsplit,x[0],1\nsplit,x[0],2\n",
}


def test_a_table_is_a_submission(folder, capsys):
    assert main(["grade", *folder({f"{name}.csv": text for name, text in TABLES.items()}), "--json"]) == 0
    rows = {(row["student"], row["exercise"]): row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert [(rows["ada", name]["points"], rows["ada", name]["verdict"]) for name in ("split", "none")] == [
        (3, "right"),
        (3, "right"),
    ]
    said = {name: rows[name, "split"]["sentence"] for name in TABLES}
    assert said["ben"] == "x must have all its entries, and [0] is missing"
    assert said["cleo"] == "ValueError: row 2: the value must be a number, got 'a half'"
    assert said["dan"] == "ValueError: row 2: it must have the columns exercise, name, value"
    assert said["eve"] == "ValueError: row 3: there are two answers for x[0] of split"


def test_an_answer_to_no_exercise_is_named(folder, capsys):
    submissions = {
        "ada.csv": "exercise,name,value\nSplit,x[0],0.75\n",
        "ben.json": json.dumps({"spilt": SPLIT, "none": "infeasible"}),
        "cleo.py": ADA.replace('"dual": {', '"duel": {').replace('"away"', '"the moon"'),
    }
    assert main(["grade", *folder(submissions)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 submissions, 4 exercises: 3 of 12 answers are right"
    assert main(["grade", *folder(submissions), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    unknown = [row for row in rows if row["verdict"] == "no such exercise"]
    assert [(row["student"], row["exercise"], row["sentence"]) for row in unknown] == [
        ("ada", "Split", "no exercise has this name: did you mean split?"),
        ("ben", "spilt", "no exercise has this name: did you mean split?"),
        ("cleo", "duel", "no exercise has this name: did you mean dual?"),
        ("cleo", "the moon", "no exercise has this name"),
    ]
    assert all(row["points"] == row["of"] == 0 for row in unknown)


PERSONAL = """
import cvxpy as cp

def exercises(student):
    x, least = cp.Variable(name="x"), float(len(student))
    total = cp.Parameter(value=least, name="total")
    return {
        "least": cp.Problem(cp.Minimize(cp.square(x)), [(x >= least).set_label("low")]),
        "dual": cp.Problem(cp.Minimize(cp.square(x)), [x == total]),
    }
"""
DUAL = """
import cvxpy as cp

v, total = cp.Variable(), cp.Parameter(name="total", value=1.0)
answers = {"least": {"values": {"x": 3}}, "dual": {"dual": cp.Problem(cp.Maximize(total * v - cp.square(v) / 4))}}
"""


def test_each_student_may_have_numbers_of_their_own(folder, capsys):
    same = "exercise,name,value\nleast,x,3\n"
    places = folder({"ada.csv": same, "cleo.csv": same, "eve.py": DUAL}, PERSONAL)
    assert main(["grade", *places, "--json"]) == 0
    rows = {(row["student"], row["exercise"]): row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert [rows[name, "least"]["verdict"] for name in ("ada", "cleo", "eve")] == ["right", "infeasible", "right"]
    assert rows["eve", "dual"]["sentence"].startswith("It has the same value as the primal")
    assert "total = 3" in rows["eve", "dual"]["sentence"]  # the first place is the value of that student


def test_a_file_states_its_points(folder, capsys):
    tables = {
        "ada": "split,x[0],0.75\nsplit,x[1],0.25\nsplit,mass,-0.5\nsplit,low,1\n",
        "ben": "split,x[0],0.75\nsplit,x[1],0.25\n",
        "cleo": "split,x[0],0.8\nsplit,x[1],0.2\n",
        "dan": "split,x[0],0.5\nsplit,x[1],0.5\n",
    }
    submissions = {f"{name}.csv": "exercise,name,value\n" + text for name, text in tables.items()}
    stated = EXERCISE + '\npoints = {"values": 5, "multipliers": 4, "feasible": 2}\n'

    def points(exercise):
        assert main(["grade", *folder(submissions, exercise), "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        return [(row["points"], row["of"]) for row in rows if row["exercise"] == "split"]

    assert points(EXERCISE) == [(3, 3), (2, 3), (0, 3), (0, 3)]
    assert points(stated) == [(9, 9), (5, 9), (2, 9), (0, 9)]
    for wrong in ('{"value": 2}', '{"values": -1}', "3", '{"feasible": 3}'):
        assert main(["grade", *folder(submissions, f"{EXERCISE}\npoints = {wrong}\n")]) == 2
        assert "exercise.py: points " in capsys.readouterr().err


def test_one_that_does_not_end_is_stopped_and_the_others_are_judged(folder, capsys):
    submissions = {"ada.json": json.dumps({"split": SPLIT}), "zoe.py": "import time\ntime.sleep(600)"}
    assert main(["grade", *folder(submissions), "--seconds", "0.5", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0] == {
        "student": "ada",
        "exercise": "split",
        "points": 3,
        "of": 3,
        "verdict": "right",
        "sentence": "Right: the values are optimal (value 0.625), and the multipliers prove it.",
    }
    assert [row["sentence"] for row in rows[4:]] == ["stopped: it took more than 0.5 s"] * 4


def test_where_no_multipliers_are_asked_for_right_values_are_all(folder, capsys):
    """An exercise with values alone, one without constraints, and two others; answers without and with multipliers."""
    exercise = """
import cvxpy as cp

x = cp.Variable(2, name="x")
mass, low = (cp.sum(x) == 1).set_label("mass"), (x[0] >= 0.75).set_label("low")
problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass, low])
exercises = {
    "values": (problem, {"x": [0.75, 0.25]}),
    "free": cp.Problem(cp.Minimize(cp.sum_squares(x - 1))),
    "both": (problem, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 1}),
    "bare": problem,
}
"""
    free = {"values": {"x": [1, 1]}}
    ada = {name: {"values": SPLIT["values"]} for name in ("values", "both", "bare")} | {"free": free}
    ben = dict.fromkeys(("values", "both", "bare"), SPLIT) | {"free": free | {"duals": {}}}
    files = {"ada.json": json.dumps(ada), "ben.json": json.dumps(ben)}
    assert main(["grade", *folder(files, exercise), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["points"], row["of"]) for row in rows] == [
        (2, 2),
        (2, 2),
        (2, 3),
        (2, 3),
        (2, 2),
        (2, 2),
        (3, 3),
        (3, 3),
    ]


def test_one_of_a_kind_is_counted_in_the_singular(folder, capsys):
    exercise = "import cvxpy as cp\nx = cp.Variable(name='x')\nexercises = [cp.Problem(cp.Minimize(x), [x >= 1])]"
    assert main(["grade", *folder({"ada.json": '{"0": {"values": {"x": 1}}}'}, exercise)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 submission, 1 exercise: 1 of 1 answer is right"


def test_a_verdict_on_a_dual_cannot_be_handed_in(folder, capsys):
    forged = {"dual": {"dual": ["same value", "It is the dual."]}, "duals": {"dual": ["same value", "It is."]}}
    assert main(["grade", *folder({"ada.json": json.dumps(forged)}), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["points"] for row in rows] == [0] * 5
    assert rows[-1]["verdict"] == "no such exercise"


def test_names_of_one_student_are_told(folder, capsys):
    submissions = {"ada.json": "{}", "ada.ipynb": "{}"}
    assert main(["grade", *folder(submissions), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["sentence"] for row in rows} == {"two submissions of this name: rename one"}


def test_the_tolerance_and_another_name(folder, capsys):
    exercise = EXERCISE.replace("exercises = {", "def mine(): return {")
    rough = {"ada.json": json.dumps({"split": {"values": {"x": [0.76, 0.24]}}})}
    where, submissions = folder(rough, exercise)
    verdicts = []
    for tol in ("1e-3", "0.1"):
        assert main(["grade", f"{where}:mine", submissions, "--tol", tol, "--json"]) == 0
        verdicts.append(json.loads(capsys.readouterr().out)["rows"][0]["verdict"])
    assert verdicts == ["not optimal", "right"]


@pytest.mark.parametrize(
    ("exercise", "words"),
    [
        ("exercises = {}", "exercises must be a list of problems, or a dict by their names, got none in"),
        ("exercises = 3", "exercises must be a list of problems, or a dict by their names"),
        ("exercises = [3]", "exercise 0: it must be a cvxpy.Problem, got 3"),
        ("", "EXERCISE must define exercises, a list of problems, got"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError"),
        (
            "import cvxpy as cp\nexercises = [cp.Problem(cp.Minimize(cp.sqrt(cp.Variable())))]",
            "exercise 0: the problem must be convex by the rules of CVXPY (is_dcp)",
        ),
        (
            "import cvxpy as cp\nexercises = [cp.Problem(cp.Minimize(cp.Variable() * cp.Parameter(name='r')))]",
            "exercise 0: parameters must have values, r has none",
        ),
    ],
)
def test_exercises_that_cannot_be_graded_are_exit_status_2(folder, exercise, words, capsys):
    assert main(["grade", *folder({"ada.json": "{}"}, exercise)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("paretoclf: error: ")
    assert words in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_folder_without_submissions_is_exit_status_2(folder, tmp_path, capsys):
    where, submissions = folder({"notes.txt": ""})
    assert main(["grade", where, submissions]) == 2
    assert "SUBMISSIONS must have files of .py, .ipynb, .json, .csv, got" in capsys.readouterr().err
    assert main(["grade", where, str(tmp_path / "nowhere")]) == 2
    assert "SUBMISSIONS must be a folder, got" in capsys.readouterr().err
    (tmp_path / "in" / "ada.json").write_text("{}")
    for option, value in (("--tol", "0"), ("--seconds", "-1")):
        assert main(["grade", where, submissions, option, value]) == 2
        assert option in capsys.readouterr().err


def test_the_page_shows_what_the_command_prints(tmp_path, monkeypatch, capsys):
    page = Path(__file__).resolve().parents[2] / "docs" / "how_to" / "grade_homework.md"
    text = page.read_text(encoding="utf-8").split("## Hand out")[1]
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)), {})
    shown = re.search(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    assert capsys.readouterr().out == shown
    assert (tmp_path / "grades.csv").read_text().count("\n") == 16
