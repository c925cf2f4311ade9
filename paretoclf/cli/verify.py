"""``paretoclf verify``: certificates for the solutions of another solver, and the first that is not proved optimal."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import paretoclf as pc
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.cli.formulations import load_code
from paretoclf.errors import InputError
from paretoclf.formulations.on_samples import SampleFormulation
from paretoclf.formulations.registry import formulation
from paretoclf.kernels import kernel_spec

#: Exit status where something is not proved, and nothing refuted.
UNDECIDED = 3


def run_verify(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status: 0 if every row is optimal, 1 if one is not, 3 if none is known."""
    if not (np.isfinite(args.tol) and args.tol > 0):
        raise InputError(f"--tol must be a finite positive number, got {args.tol:g}")
    if args.suite is not None:
        return _run_suite(args)
    if args.file is None or args.source is None:
        raise InputError("FILE and --data must be given, or --suite MODULE:FUNCTION")
    kernel = _kernel(args)
    data = load_data(args)
    report = _report(args, data, kernel)
    rows = [{"row": k, **record} for k, record in enumerate(report.records())]
    first = report.first_failure()
    result = {
        "version": pc.__version__,
        "file": str(args.file),
        "data": describe(data),
        "kernel": "precomputed" if kernel == "precomputed" else kernel and kernel_spec(kernel),
        "tolerance": args.tol,
        "optimal": sum(bool(row["optimal"]) for row in rows),
        "verdicts": {name: len(members) for name, members in report.classes.items()},
        "first_failure": None if first is None else rows[first],
        "rows": rows,
        "between": [
            {
                "from": stretch.first,
                "to": stretch.last,
                "status": stretch.status,
                "share": stretch.share,
                "explanation": stretch.certificate.explain(args.tol),
            }
            for stretch in report.stretches
        ],
    }
    print(to_json(result) if args.json else report)
    refuted = report.classes["not optimal"] or any(stretch.status == "refuted" for stretch in report.stretches)
    return 0 if report.passes() else 1 if refuted else UNDECIDED


def _report(args: argparse.Namespace, data: pc.datasets.Dataset, kernel: Any) -> pc.Verification:
    """Judge a file of rows, or a model file."""
    missing = {"C_plus": args.costs and args.costs[0], "C_minus": args.costs and args.costs[1], "nu": args.nu}
    parameters = {name: value for name, value in missing.items() if value is not None}
    options = {"tol": args.tol, "between": args.between}
    if args.formulation is None:
        return pc.verify(data.X, data.y, args.file, kernel=kernel, **options, **parameters)
    cls = formulation(args.formulation)
    if not issubclass(cls, SampleFormulation | pc.TwoCSVM):
        raise InputError(f"--formulation must be one of samples and labels, got {cls.__name__}")
    return pc.verify(cls(data.X, data.y, kernel), args.file, **options, **parameters)


def _run_suite(args: argparse.Namespace) -> int:
    """Run a solver on the hard cases."""
    if args.file is not None or args.source is not None:
        raise InputError("--suite takes no FILE and no --data: its problems are its own")
    report = pc.verify_solver(_solver(args.suite), path=args.path, tol=args.tol)
    if args.json:
        trials = [vars(trial) for trial in report]
        print(to_json({"version": pc.__version__, "solver": args.suite, "counts": report.counts(), "trials": trials}))
    else:
        print(report)
    counts = report.counts()
    return 0 if report.passes() else 1 if counts["not optimal"] or counts["failed"] else UNDECIDED


def _solver(where: str) -> Any:
    """A callable, by ``module:function`` or ``FILE.py:function``."""
    origin, found, name = where.rpartition(":")
    if not found or not origin or not name:
        raise InputError(f"--suite must be MODULE:FUNCTION or FILE.py:FUNCTION, got {where}")
    module = load_code(origin, "--suite")
    if not callable(getattr(module, name, None)):
        raise InputError(f"--suite {where}: there is no function {name} in {origin}")
    return getattr(module, name)


def _kernel(args: argparse.Namespace) -> Any:
    for name, owner in (("bandwidth", "rbf"), ("degree", "poly"), ("scale", "poly"), ("offset", "poly")):
        if getattr(args, name) is not None and args.kernel != owner:
            raise InputError(f"--{name} belongs to --kernel {owner}, but the kernel is {args.kernel or 'linear'}")
    if args.kernel == "rbf":
        if args.bandwidth is None:
            raise InputError("--bandwidth is required for --kernel rbf: the one that the solver used")
        return pc.RBF(args.bandwidth)
    if args.kernel == "poly":
        given = {name: getattr(args, name) for name in ("degree", "scale", "offset")}
        return pc.Polynomial(**{name: value for name, value in given.items() if value is not None})
    return {None: None, "linear": pc.Linear(), "precomputed": "precomputed"}[args.kernel]
