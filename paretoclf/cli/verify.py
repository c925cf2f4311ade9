"""``paretoclf verify``: certificates for the solutions of another solver, and the first that is wrong."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import paretoclf as pc
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.errors import InputError
from paretoclf.kernels import kernel_spec
from paretoclf.solution_files import read_solutions


def run_verify(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status: 0 if every row is optimal, 1 if one is not."""
    if not (np.isfinite(args.tol) and args.tol > 0):
        raise InputError(f"--tol must be a finite positive number, got {args.tol:g}")
    kernel = _kernel(args)
    data = load_data(args)
    report = pc.verify(data.X, data.y, read_solutions(args.file, data.n), kernel=kernel, tol=args.tol)
    rows = [
        {
            "row": k,
            "C_plus": costs.C_plus,
            "C_minus": costs.C_minus,
            "gap": certificate.gap,
            "residual": certificate.residual,
            "optimal": certificate.passes(args.tol),
            "verdict": certificate.verdict(args.tol),
            "off_by": certificate.off_by,
            "explanation": certificate.explain(args.tol),
        }
        for k, (costs, certificate) in enumerate(zip(report.costs, report.certificates, strict=True))
    ]
    first = report.first_failure()
    result = {
        "version": pc.__version__,
        "file": str(args.file),
        "data": describe(data),
        "kernel": "precomputed" if kernel == "precomputed" else kernel_spec(kernel),
        "tolerance": args.tol,
        "optimal": sum(bool(row["optimal"]) for row in rows),
        "verdicts": {name: len(members) for name, members in report.classes.items()},
        "first_wrong": None if first is None else rows[first],
        "rows": rows,
    }
    print(to_json(result) if args.json else report)
    return 0 if first is None else 1


def _kernel(args: argparse.Namespace) -> Any:
    for name, owner in (("bandwidth", "rbf"), ("degree", "poly"), ("scale", "poly"), ("offset", "poly")):
        if getattr(args, name) is not None and args.kernel != owner:
            raise InputError(f"--{name} belongs to --kernel {owner}, but the kernel is {args.kernel}")
    if args.kernel == "rbf":
        if args.bandwidth is None:
            raise InputError("--bandwidth is required for --kernel rbf: the one that the solver used")
        return pc.RBF(args.bandwidth)
    if args.kernel == "poly":
        given = {name: getattr(args, name) for name in ("degree", "scale", "offset")}
        return pc.Polynomial(**{name: value for name, value in given.items() if value is not None})
    return "precomputed" if args.kernel == "precomputed" else pc.Linear()
