"""``paretoclf grade``: a folder of submissions to exercises, judged: a row for each student and exercise."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import paretoclf as pc
from paretoclf.cli.answers import USUAL, Points, are_personal, exercises_of, points_of
from paretoclf.cli.csv_answers import TABLE, read_csv_answers, values_and_duals
from paretoclf.cli.files import to_json
from paretoclf.cli.pairs import NONE
from paretoclf.cli.spelling import did_you_mean
from paretoclf.cli.table_files import text_table, write_csv
from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError, ParetoclfError
from paretoclf.common.progress import counted

#: Files that are submissions: the first two are run, the others are read.
SUFFIXES = (".py", ".ipynb", ".json", ".csv")

#: Verdicts on an answer that is right.
RIGHT = ("right", "same value")

#: The verdict on an answer to what is no exercise.
UNKNOWN = "no such exercise"

COLUMNS = ("student", "exercise", "points", "of", "verdict", "sentence")


class Left(NamedTuple):
    """What a submission left: answers in numbers, verdicts on duals, or why there is nothing; and the names of all."""

    answers: Mapping[str, Any]
    duals: Mapping[str, Sequence[str]]
    error: str = ""
    names: Sequence[str] = ()


def run_grade(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status, which is 0 whatever the points are."""
    seconds = check_positive_number(args.seconds, "--seconds")
    options = {} if args.tol is None else {"tol": check_positive_number(args.tol, "--tol")}
    of_each = are_personal(args.exercise)
    exercises = {} if of_each else exercises_of(args.exercise)
    worth, submissions = points_of(args.exercise), submissions_in(Path(args.submissions))
    rows = []
    for student, file in counted(submissions.items(), "submissions", len(submissions), None):
        if of_each:
            exercises = exercises_of(args.exercise, student)
        left = _left_of(file, args.exercise, seconds, student)
        for name, (problem, multipliers) in exercises.items():
            of = worth.values + worth.multipliers * multipliers
            verdict, sentence, points = judged(name, problem, left, worth, options)
            row = (student, name, min(points, of), of, verdict, " ".join(sentence.split()))
            rows.append(dict(zip(COLUMNS, row, strict=True)))
        for name in (each for each in left.names if each not in exercises):
            sentence = f"no exercise has this name{did_you_mean(name, exercises)}"
            rows.append(dict(zip(COLUMNS, (student, name, 0, 0, UNKNOWN, sentence), strict=True)))
    if args.csv:
        write_csv(args.csv, rows)
    if args.json:
        print(to_json({"version": pc.__version__, "exercises": [*exercises], "rows": rows}))
        return 0
    print(text_table(rows, COLUMNS))
    rows = [row for row in rows if row["verdict"] != UNKNOWN]
    right = sum(row["verdict"] in RIGHT for row in rows)
    counted_up = f"{_count(submissions, 'submission')}, {_count(exercises, 'exercise')}"
    print(f"{counted_up}: {right} of {_count(rows, 'answer')} {'is' if len(rows) == 1 else 'are'} right")
    return 0


def _count(things: Sized, name: str) -> str:
    """How many there are, in words."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def submissions_in(folder: Path) -> dict[str, Path | str]:
    """Files by student: beside one another, or one in a folder for each; in place of a file why there is none."""
    if not folder.is_dir():
        raise InputError(f"SUBMISSIONS must be a folder, got {folder}: there is none")
    found: dict[str, Path | str] = {}
    for place in sorted(each for each in folder.iterdir() if not each.name.startswith((".", "_"))):
        files = [place] if place.is_file() else sorted(file for file in place.iterdir() if file.is_file())
        files = [file for file in files if file.suffix in SUFFIXES]
        if place.is_file() and not files:
            continue
        name = place.stem if place.is_file() else place.name
        if name in found:
            found[name] = "two submissions of this name: rename one"
        elif len(files) == 1:
            found[name] = files[0].resolve()
        else:
            among = f"{len(files)} files ({', '.join(file.name for file in files)})" if files else "no file"
            found[name] = f"{among} of {', '.join(SUFFIXES)}: one is needed"
    if not found:
        raise InputError(f"SUBMISSIONS must have files of {', '.join(SUFFIXES)}, got {folder} without any")
    return found


def _left_of(file: Path | str, exercises: str, seconds: float, student: str) -> Left:
    """Read or run a submission; errors are a line, and nothing ends the run."""
    try:
        if isinstance(file, str):
            return Left({}, {}, file)
        if file.suffix == ".json":
            answers = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(answers, Mapping):
                return Left({}, {}, "it must hold an object: answers by exercise")
            return Left(answers, {}, names=[*answers])
        if file.suffix == ".csv":
            answers = read_csv_answers(file)
            return Left(answers, {}, names=[*answers])
        return _run(file, exercises, seconds, student)
    except subprocess.TimeoutExpired:
        return Left({}, {}, f"stopped: it took more than {seconds:g} s")
    except (OSError, ValueError) as error:
        return Left({}, {}, f"{type(error).__name__}: {error}")


def _run(file: Path, exercises: str, seconds: float, student: str) -> Left:
    """Run a submission in a process and in a folder of its own."""
    origin, found, name = exercises.rpartition(":") if ".py:" in exercises else (exercises, "", "")
    where = f"{Path(origin).resolve()}{found}{name}" if origin.endswith(".py") else exercises
    with TemporaryDirectory() as folder:
        out, said = Path(folder, "left.json"), Path(folder, "said.txt")
        room = Path(folder, "room")
        room.mkdir()
        command = [sys.executable, "-m", "paretoclf.cli.answers", str(file), where, str(out), student]
        with said.open("w") as log:  # no pipe: a process that a submission leaves behind would hold it open
            subprocess.run(command, cwd=room, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=seconds)
        if not out.is_file():
            lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return Left({}, {}, f"it ended without an answer: {lines[-1] if lines else 'nothing was said'}")
        left = json.loads(out.read_text(encoding="utf-8"))
    return Left(left.get("answers", {}), left.get("duals", {}), left.get("error", ""), left.get("names", ()))


def judged(
    name: str, problem: Any, left: Left, worth: Points = USUAL, options: Mapping[str, Any] = MappingProxyType({})
) -> tuple[str, str, int]:
    """Return the verdict on an answer, its sentence, and its points."""
    all_points = worth.values + worth.multipliers
    if name in left.duals:
        verdict, sentence = left.duals[name]
        return verdict, sentence, all_points * (verdict == "same value")
    if name not in left.answers:
        return "no answer", left.error or f"answers has no {name}", 0
    try:
        values, duals, ray = _parts(left.answers[name], problem)
        said = pc.grade(problem, values, duals, ray=ray, **options)
    except ParetoclfError as error:
        return "not judged", str(error), 0
    except Exception as error:
        return "not judged", f"{type(error).__name__}: {error}", 0
    if said.verdict == "undecided" and said.proof.status in NONE:
        return "not optimal", f"Wrong: the problem is {said.proof.status}, so that no values are optimal.", 0
    if ray is not None or isinstance(values, str):
        return said.verdict, said.sentence, all_points * (said.verdict == "right")
    points = worth.values * bool(said.values) + worth.multipliers * bool(said.multipliers)
    if said.verdict == "not optimal":  # and no constraint is violated
        points += worth.feasible
    return said.verdict, said.sentence, points


def _parts(answer: Any, problem: Any) -> tuple[Any, Any, Any]:
    """Values, multipliers and ray of an answer to a problem, None where there is none."""
    if answer == "infeasible":
        return answer, None, None
    if isinstance(answer, Mapping) and set(answer) == {TABLE}:
        return *values_and_duals(answer[TABLE], problem), None
    known = ("values", "duals", "ray")
    if not isinstance(answer, Mapping) or not answer or set(answer) - set(known):
        words = 'an answer must be {"values": ...} (and "duals"), {"ray": ...}, {"dual": a problem} or "infeasible"'
        raise InputError(f"{words}, got {answer!r:.100}")
    values, duals, ray = (answer.get(part) for part in known)
    return values, duals, ray
