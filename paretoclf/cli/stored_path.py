"""``paretoclf verify PATH.npz TABLE.csv``: values of the objective that somebody computed, beside a saved path."""

from __future__ import annotations

import argparse
from typing import Any

import paretoclf as pc
from paretoclf.cli.files import to_json
from paretoclf.common.errors import InputError
from paretoclf.path.curves.curve_path import CurvePath
from paretoclf.path.load import load
from paretoclf.path.programs.eps_path import ConePath
from paretoclf.path.programs.problem_path import ProblemPath


def run_path(args: argparse.Namespace) -> int:
    """Judge a table: 0 if all of it is optimal, 1 if something is not, 3 if something is undecided and none wrong."""
    path = load(args.file)
    if not isinstance(path, ProblemPath | ConePath | CurvePath):
        raise InputError(f"SOLUTION belongs to the saved path of a program, got a {type(path).__name__} in {args.file}")
    report: Any = pc.verify(path, args.solution, tol=args.tol)
    if args.json:
        head = {"version": pc.__version__, "file": args.file, "solution": args.solution, "tolerance": report.tol}
        counts = {name: len(members) for name, members in report.classes.items()}
        print(to_json(head | {"verdicts": counts, "explanation": report.explain(), "rows": report.records()}))
    else:
        print(report)
    return 0 if report.passes() else 1 if report.classes["not optimal"] else 3
