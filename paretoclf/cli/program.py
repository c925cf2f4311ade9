"""``paretoclf verify MODEL.mps SOLUTION``: a point of a program in a file, from whatever modelling system."""

from __future__ import annotations

import argparse
from pathlib import Path

import paretoclf as pc
from paretoclf.checking.program_claims import CLAIMS
from paretoclf.cli.files import to_json
from paretoclf.cli.moves import head_of, read_qp
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.problem.mps import ending_of


def is_program(name: str) -> bool:
    """Whether a file is a program, by its ending."""
    return ending_of(Path(name).name) is not None


def run_program(args: argparse.Namespace) -> int:
    """Judge a point: 0 if it is optimal, 1 if it is not (or no optimum exists), 3 if it is undecided."""
    if args.conflict:
        return _run_conflict(args)
    if args.solution is None:
        raise InputError(
            "SOLUTION must be given beside a program: a solver's file, a CSV file of names and values, or the claim "
            "infeasible or unbounded; --conflict asks which rows contradict each other, and needs none"
        )
    qp = read_qp(args.file, args.integers)
    proof = pc.verify(qp, args.solution, tol=CERTIFY if args.tol is None else args.tol)
    if args.json:
        fields = {
            "file": args.file,
            "integers": args.integers,
            "solution": args.solution,
            "tolerance": proof.tol,
            "verdict": proof.status,
        }
        bounds = {"lower": proof.lower, "upper": proof.upper, "explanation": proof.explain()}
        print(to_json({"version": pc.__version__, **fields, **bounds}))
    else:
        print(f"{head_of(args.file, args.integers, qp)}\n{proof!r}\n{proof.explain()}")
    right = "optimal" if args.solution not in CLAIMS else args.solution
    return {right: 0, "undecided": 3}.get(proof.status, 1)


def _run_conflict(args: argparse.Namespace) -> int:
    """Print which rows contradict each other: 0 if none do, 1 if there is a conflict."""
    if args.solution is not None:
        raise InputError("--conflict asks for no SOLUTION: give the program alone")
    qp = read_qp(args.file, args.integers)
    found = pc.conflict(qp)
    if args.json:
        rows = found.records()
        head = {"version": pc.__version__, "file": args.file, "integers": args.integers}
        print(to_json(head | {"conflict": bool(rows), "rows": rows}))
    else:
        print(f"{head_of(args.file, args.integers, qp)}\n{found!r}")
    return 1 if len(found) else 0
