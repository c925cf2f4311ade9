"""One submission, run in a process of its own: ``python -m paretoclf.cli.answers FILE EXERCISES OUT STUDENT``.

All that comes back is what it leaves in ``answers``, as text; a dual is a problem, which no text holds, and is compared
here. The exercises are read after the submission has run, so that no slip of it has changed them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from paretoclf.cli.formulations import load_code
from paretoclf.cli.lesson import all_sheets, cells_of, text_of, without_solutions
from paretoclf.cli.pairs import file_and_name, named, read_list, takes_student
from paretoclf.common.errors import InputError
from paretoclf.solve.grading.grading import grade
from paretoclf.solve.judging.cone_proof import is_problem

NAME = "exercises"


class Asked(NamedTuple):
    """A problem, and whether its multipliers are asked for."""

    problem: Any
    multipliers: bool


class Points(NamedTuple):
    """Points for right values, for right multipliers, and for values that are feasible and not optimal.

    A claim, a ray or a dual has those of both. Where multipliers are not asked for, right values are all.
    """

    values: int = 2
    multipliers: int = 1
    feasible: int = 0


#: Points where nothing else is stated.
USUAL = Points()


def points_of(where: str) -> Points:
    """Points that a Python file states beside its exercises, as ``points = {"feasible": 1}``; the usual ones if none.

    Examples
    --------
    >>> from paretoclf.cli.answers import points_of
    >>> points_of("week_2")
    Points(values=2, multipliers=1, feasible=0)
    """
    if where in all_sheets():
        return USUAL
    origin, _ = file_and_name(where, NAME)
    given = getattr(load_code(origin, "EXERCISE"), "points", {})
    known = Points._fields
    right = isinstance(given, Mapping) and not set(given) - set(known)
    if not right or not all(type(each) is int and each >= 0 for each in given.values()):
        raise InputError(f"{origin}: points must be a dict of whole numbers by {', '.join(known)}, got {given!r:.100}")
    found = Points(**given)
    if found.feasible > found.values:
        raise InputError(f"{origin}: points of feasible must be at most those of values, {found.values}, got {found}")
    return found


def are_personal(where: str) -> bool:
    """Whether the exercises of a Python file are a function of the student."""
    if where in all_sheets():
        return False
    origin, name = file_and_name(where, NAME)
    return takes_student(getattr(load_code(origin, "EXERCISE"), name, None))


def exercises_of(where: str, student: str = "") -> dict[str, Asked]:
    """Exercises by name, of a sheet or of a Python file, where a pair with a solution may stand for its problem.

    A function ``exercises(student)`` makes those of one student, each with numbers of their own.

    Multipliers are not asked for where there is no constraint, or where the solution beside a problem is values alone.
    """
    words = "a list of problems"
    given = _of_sheet(where) if where in all_sheets() else read_list(where, "EXERCISE", NAME, words, student)
    found = list(named(given, NAME, words))
    problems = {name: given[0] if isinstance(given, tuple | list) and given else given for name, given in found}
    if not problems:
        raise InputError(f"{NAME} must be {words}, or a dict by their names, got none in {where}")
    for name, problem in problems.items():
        if not is_problem(problem):
            raise InputError(f"{where}, exercise {name}: it must be a cvxpy.Problem, got {problem!r:.100}")
        if not problem.is_dcp():
            raise InputError(f"{where}, exercise {name}: the problem must be convex by the rules of CVXPY (is_dcp)")
        unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
        if unset:
            raise InputError(f"{where}, exercise {name}: parameters must have values, {unset[0]} has none")
    alone = {name for name, each in found if isinstance(each, tuple | list) and _without_multipliers(*each[1:])}
    return {name: Asked(each, bool(each.constraints) and name not in alone) for name, each in problems.items()}


def _without_multipliers(*solution: Any) -> bool:
    """Whether a solution beside a problem is values by name, and nothing else."""
    return len(solution) == 1 and isinstance(solution[0], Mapping)


def _of_sheet(name: str) -> Any:
    """Return what the cells of a sheet define that a student sees."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in without_solutions(cells_of(text_of(name))):
        if cell["cell_type"] == "code":
            with redirect_stdout(io.StringIO()):
                exec(cell["source"], namespace)
    return namespace[NAME]


def source_of(file: Path) -> str:
    """Return the code of a submission; a notebook's cells one after another, without lines for IPython."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = [line for cell in code for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return "\n".join(lines)


def left_by(file: Path, exercises: str, student: str = "") -> dict[str, Any]:
    """Run a submission: its answers and the verdicts on its duals by the names of exercises, and an error's line.

    Answers that were given before an error count.
    """
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    error = ""
    try:
        exec(compile(source_of(file), file.name, "exec"), namespace)
    except (Exception, SystemExit) as raised:
        error = f"{type(raised).__name__}: {raised}"
    answers = namespace.get("answers")
    if not isinstance(answers, Mapping):
        return {"error": error or "it defines no dict of the name answers"}
    duals = {str(name): given["dual"] for name, given in answers.items() if has_dual(given)}
    numbers = {str(name): given for name, given in answers.items() if not has_dual(given)}
    problems = exercises_of(exercises, student) if duals else {}
    judged = {name: dual_judged(problems[name].problem, dual) for name, dual in duals.items() if name in problems}
    return {"answers": numbers, "duals": judged, "error": error, "names": [str(name) for name in answers]}


def has_dual(given: Any) -> bool:
    """Whether an answer is a dual."""
    return isinstance(given, Mapping) and "dual" in given


def dual_judged(problem: Any, dual: Any) -> list[str]:
    """Verdict on somebody's dual, and its sentence."""
    try:
        said = grade(problem, dual=dual)
    except Exception as error:
        return ["not judged", f"{type(error).__name__}: {error}"]
    return [said.verdict, said.sentence]


def _plain(value: Any) -> Any:
    """Numbers of arrays, of fractions, and of whatever else is no text."""
    return value.tolist() if hasattr(value, "tolist") else float(value)


def _named_keys(value: Any) -> Any:
    """Mappings by names: of variables, and of constraints by their labels."""
    if not isinstance(value, Mapping):
        return value
    return {_name(key): _named_keys(each) for key, each in value.items()}


def _name(key: Any) -> str:
    """Name of a key."""
    label = getattr(key, "label", None)
    return str(label or (key.name() if hasattr(key, "name") and callable(key.name) else key))


def main(file: str, exercises: str, out: str, student: str = "") -> None:
    """Run a student's submission, and write what it leaves into a file."""
    left = left_by(Path(file), exercises, student)
    try:
        text = json.dumps(_named_keys(left), default=_plain)
    except (TypeError, ValueError) as error:
        text = json.dumps({"error": f"answers must be numbers: {error}"})
    Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
