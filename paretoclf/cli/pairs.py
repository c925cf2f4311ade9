"""``paretoclf verify PAIRS.py``: a list of problems with the solutions that are claimed for them, as one command."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

import paretoclf as pc
from paretoclf.cli.files import to_json
from paretoclf.cli.formulations import beside, load_code
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.verdicts.certificate import VERDICTS
from paretoclf.solve.judging.cone_proof import ProblemProof, is_problem

#: What is claimed of a problem that has no solution.
NONE = ("infeasible", "unbounded")

#: Verdicts of `grade`, whose sentences say in short what is wrong with numbers that `verify` refutes.
WRONG = ("infeasible", "not optimal", "wrong multipliers")

#: What stands in place of a verdict on a pair that cannot be judged.
UNREADABLE = "unreadable"

NAME = "pairs"
WORDS = "a list of (problem, solution)"


def run_pairs(args: argparse.Namespace) -> int:
    """Judge every pair of a file: 0 if each is optimal, 1 if one is not, 3 if one is undecided and none wrong.

    A pair that cannot be judged hides no other: its row says why, and the status is 2.
    """
    rows = []
    for name, pair in named(read_list(args.file, "FILE", NAME, WORDS), NAME, WORDS):
        try:
            verdict, why = judged(pair, args.tol)
        except InputError as error:
            verdict, why = UNREADABLE, str(error)
        rows.append({"pair": name, "verdict": verdict, "explanation": why})
    if not rows:
        raise InputError(f"{args.file}: {NAME} must hold at least one (problem, solution), got none")
    unreadable = [row for row in rows if row["verdict"] == UNREADABLE]
    verdicts = (UNREADABLE, *VERDICTS) if unreadable else VERDICTS
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in verdicts}
    if args.json:
        print(to_json({"version": pc.__version__, "file": args.file, "counts": counts, "pairs": rows}))
    else:
        width = max((len(row["pair"]) for row in rows), default=0)
        for row in rows:
            print(f"{row['pair']:<{width}}  {row['verdict']:<11}  {row['explanation']}".rstrip())
        others = [f"{counts[verdict]} {verdict}" for verdict in verdicts[:-1] if counts[verdict]]
        print(", ".join([*others, f"{counts['optimal']} of {len(rows)} optimal"]))
    if unreadable:
        first = unreadable[0]
        several = f"; {len(unreadable)} of {len(rows)} pairs cannot be judged" if len(unreadable) > 1 else ""
        raise InputError(f"{args.file}, pair {first['pair']}: {first['explanation']}{several}")
    return 1 if counts["not optimal"] else 3 if counts["undecided"] else 0


def judged(pair: Any, tol: float | None) -> tuple[str, str]:
    """The verdict on a pair, and why.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.cli.pairs import judged
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass")])
    >>> judged((problem, {"x": [0.5, 0.5]}), None)
    ('optimal', '')
    >>> judged((problem, {"x": [0.6, 0.6]}), None)
    ('not optimal', 'Infeasible: mass is violated by 0.2.')
    """
    if not isinstance(pair, tuple | list) or not pair:
        raise InputError(f"it must be (problem, solution), or what else verify takes, got {pair!r:.100}")
    options = {} if tol is None else {"tol": tol}
    problem, claim = pair[0], pair[1] if len(pair) > 1 else None
    is_claim = isinstance(claim, str) and claim in NONE
    if not is_problem(problem):
        found = pc.verify(*pair, **options)
        if is_claim and isinstance(found, ProblemProof):
            return _of_claim(claim, found)
        return _of_proof(found) if isinstance(found, ProblemProof) else _of_report(found)
    if is_claim:
        return _of_claim(claim, pc.verify(*pair, **options))
    if claim is None:
        return _of_proof(pc.verify(problem, **options))
    if len(pair) > 3 or not isinstance(claim, Mapping):
        words = "values by variable (and multipliers by constraint), 'infeasible' or 'unbounded', or nothing"
        raise InputError(f"the solution of a cvxpy.Problem must be {words}, got {claim!r:.100}")
    verdict, why = _of_proof(pc.verify(*pair, **options))
    if verdict != "not optimal":
        return verdict, why
    said = pc.grade(problem, claim, pair[2] if len(pair) > 2 else None, CERTIFY if tol is None else tol)
    return verdict, said.sentence if said.verdict in WRONG else why


def _of_claim(claim: Any, found: ProblemProof) -> tuple[str, str]:
    """The verdict on a claim that there is no solution."""
    right = {claim: "optimal", "undecided": "undecided"}.get(found.status, "not optimal")
    return right, "" if right == "optimal" else f"claimed to be {claim}: {found.explain()}"


def _of_proof(proof: ProblemProof) -> tuple[str, str]:
    """The verdict on what a problem holds; a problem without a solution has no optimal one."""
    verdict = "not optimal" if proof.status in NONE else proof.status
    return verdict, "" if verdict == "optimal" else proof.explain()


def _of_report(report: Any) -> tuple[str, str]:
    """The verdict on a table of points: the worst of them, and its last lines."""
    if report.passes():
        return "optimal", ""
    verdicts = {row["verdict"] for row in report.records()} | {s.status for s in getattr(report, "stretches", ())}
    return "not optimal" if "not optimal" in verdicts else "undecided", report._title()


def read_list(where: str, option: str, default: str, words: str, student: str = "") -> Any:
    """Return what a Python file defines by a name, or by the one that stands behind a colon.

    A function is called; one that takes something is given the name of a student.
    """
    origin, name = file_and_name(where, default)
    module = load_code(origin, option)
    if not hasattr(module, name):
        raise InputError(f"{option} must define {name}, {words}, got {origin} without it")
    found = getattr(module, name)
    if not callable(found):
        return found
    with beside(origin):
        return found(student) if takes_student(found) else found()


def file_and_name(where: str, default: str) -> tuple[str, str]:
    """Python file, and the name in it that stands behind a colon."""
    origin, _, name = where.rpartition(":") if ".py:" in where else (where, "", default)
    return origin, name


def takes_student(found: Any) -> bool:
    """Whether something is a function of a student's name."""
    return callable(found) and bool(signature(found).parameters)


def named(given: Any, name: str, words: str) -> Iterator[tuple[str, Any]]:
    """Names, those of a mapping or numbers from 0, and what stands there."""
    try:
        yield from (
            (str(each), entry) for each, entry in (given.items() if isinstance(given, Mapping) else enumerate(given))
        )
    except TypeError:
        raise InputError(f"{name} must be {words}, or a dict by their names") from None
