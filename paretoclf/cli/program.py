"""``paretoclf verify MODEL.mps SOLUTION.csv``: a point of a program in a file, from whatever modelling system."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import paretoclf as pc
from paretoclf.cli.files import to_json
from paretoclf.common.checks import number_from_text
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import meant_by
from paretoclf.problem.mps import ENDINGS
from paretoclf.problem.qp import QP


def is_program(name: str) -> bool:
    """Whether a file is a program, by its ending."""
    return Path(name).suffix.lower() in ENDINGS


def run_program(args: argparse.Namespace) -> int:
    """Judge a point: 0 if it is optimal, 1 if it is not (or no optimum exists), 3 if it is undecided."""
    if args.solution is None:
        raise InputError("SOLUTION must be given beside a program: a CSV file of names and values")
    qp = QP.from_file(args.file)
    values, duals = read_solution(Path(args.solution), qp)
    proof = pc.verify(qp, values, duals or None, tol=CERTIFY if args.tol is None else args.tol)
    if args.json:
        fields = {"file": args.file, "solution": args.solution, "tolerance": proof.tol, "verdict": proof.status}
        bounds = {"lower": proof.lower, "upper": proof.upper, "explanation": proof.explain()}
        print(to_json({"version": pc.__version__, **fields, **bounds}))
    else:
        print(f"{args.file}: {qp!r}\n{proof!r}\n{proof.explain()}")
    return {"optimal": 0, "undecided": 3}.get(proof.status, 1)


def read_solution(file: Path, qp: QP) -> tuple[dict[str, float], dict[str, float]]:
    """Values of the variables, and multipliers of rows, by name, from a CSV file of two columns.

    Raises
    ------
    InputError
        If it cannot be read, a name is none of the program's, is there twice, or has no number.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            rows = [row for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"SOLUTION {file} cannot be read: {error}") from None
    variables, constraints = (dict(zip(*pair, strict=True)) for pair in zip(qp.keys, qp.names, strict=True))
    known = {*variables, *constraints, *qp.names[0], *qp.names[1]}
    if rows and len(rows[0]) == 2 and rows[0][0].strip() not in known and _number(rows[0][1]) is None:
        rows = rows[1:]  # a header
    found: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for row in rows:
        name = row[0].strip()
        if len(row) != 2 or _number(row[1]) is None:
            raise InputError(f"SOLUTION {file} must have a name and a number in each line, got {','.join(row)!r:.100}")
        if name not in known:
            raise InputError(f"SOLUTION {file} must have names of the program, got {name!r:.100}")
        key = meant_by(name, variables, constraints)
        if key is None:
            raise InputError(f"SOLUTION {file} must say x:{name} or row:{name}, which are two, got {name!r:.100}")
        of_variables, of_constraints = found
        if key in variables:
            own, name = of_variables, variables[key]
        else:
            own, name = of_constraints, constraints[key]
        if name in own:
            raise InputError(f"SOLUTION {file} must have each name once, got {name!r:.100} twice")
        own[name] = _number(row[1]) or 0.0
    return found


def _number(text: str) -> float | None:
    try:
        return number_from_text(text)
    except ValueError:
        return None
