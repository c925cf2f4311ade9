"""``paretoclf verify``: certificates for the solutions of another solver, and the first that is not proved optimal."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.cli.formulations import load_code
from paretoclf.cli.pairs import run_pairs
from paretoclf.cli.program import is_program, run_program
from paretoclf.cli.stored_path import run_path
from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.formulations.base import SampleFormulation
from paretoclf.formulations.registry import formulation
from paretoclf.problem.kernels import kernel_spec

#: Exit status where something is not proved, and nothing refuted.
UNDECIDED = 3


def run_verify(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status: 0 if every row is optimal, 1 if one is not, 3 if none is known."""
    if args.tol is not None:
        check_positive_number(args.tol, "--tol")
    if args.suite is not None:
        return _run_suite(args)
    if args.file is not None and args.source is None and (args.file.endswith(".py") or ".py:" in args.file):
        return run_pairs(args)
    if args.file is not None and is_program(args.file):
        return run_program(args)
    if args.integers is not None:
        raise InputError(f"--integers belongs to a program, a file that ends in .mps, .qps or .lp, got {args.file}")
    if args.conflict:
        raise InputError(f"--conflict belongs to a program, a file that ends in .mps, .qps or .lp, got {args.file}")
    if args.solution is not None and args.file.endswith(".npz"):
        return run_path(args)
    if args.solution is not None:
        raise InputError(
            f"SOLUTION belongs to a program, a file that ends in .mps, .qps or .lp, or to a path, .npz, got {args.file}"
        )
    if args.file is None or args.source is None:
        raise InputError("FILE and --data must be given, or PAIRS.py, or MODEL.mps, or --suite MODULE:FUNCTION")
    kernel = _kernel(args)
    data = load_data(args)
    if args.standardize:
        if kernel == "precomputed":
            raise InputError("--standardize is about features: --kernel precomputed has none")
        n = len(data.y)
        unit = np.sqrt((n - args.ddof) / n)  # StandardScaler divides by n
        data = replace(data, X=unit * StandardScaler().fit_transform(data.X))
    elif args.ddof:
        raise InputError("--ddof belongs to --standardise")
    report = _report(args, data, kernel)
    result: dict[str, Any] = {"version": pc.__version__, "file": str(args.file), "data": describe(data)}
    result["scaling"] = "fitted on these samples" + ", variances over n - 1" * args.ddof if args.standardize else "none"
    result["kernel"] = "precomputed" if kernel == "precomputed" else kernel and kernel_spec(kernel)
    result |= _summary(report)
    print(to_json(result) if args.json else report)
    refuted = report.classes["not optimal"] or any(stretch.status == "not optimal" for stretch in report.stretches)
    return 0 if report.passes() else 1 if refuted else UNDECIDED


def _summary(report: pc.results.Verification) -> dict[str, Any]:
    """Verdicts on rows, and on the stretches between them, for JSON."""
    rows = [{"row": k, **record} for k, record in enumerate(report.records())]
    first = report.first_failure()
    found: dict[str, Any] = {"tolerance": report.tol, "optimal": sum(bool(row["optimal"]) for row in rows)}
    found["verdicts"] = {name: len(members) for name, members in report.classes.items()}
    found["first_failure"] = None if first is None else rows[first]
    found["rows"] = rows
    found["between"] = []
    for stretch in report.stretches:
        ends = {"from": stretch.first, "to": stretch.last}
        explanation = stretch.certificate.explain(report.tol)
        verdict = {"status": stretch.status, "share": stretch.share, "explanation": explanation}
        found["between"].append({**ends, **verdict})
    return found


def _report(args: argparse.Namespace, data: pc.datasets.Dataset, kernel: Any) -> pc.results.Verification:
    """Judge a file of rows, or a model file."""
    missing = {"C_plus": args.costs and args.costs[0], "C_minus": args.costs and args.costs[1], "nu": args.nu}
    parameters = {name: value for name, value in missing.items() if value is not None}
    options = {"tol": args.tol, "between": args.between}
    if args.formulation is None:
        return pc.verify(data.X, data.y, args.file, kernel=kernel, **options, **parameters)
    cls = formulation(args.formulation)
    if not issubclass(cls, SampleFormulation):
        raise InputError(f"--formulation must be one of samples and labels, got {cls.__name__}")
    problem = cls(data.X, data.y, kernel)
    report: pc.results.Verification = pc.verify(problem, args.file, **options, **parameters)
    return report


def _run_suite(args: argparse.Namespace) -> int:
    """Run a solver on the hard cases."""
    if args.file is not None or args.source is not None:
        raise InputError("--suite takes no FILE and no --data: its problems are its own")
    tol = CERTIFY if args.tol is None else args.tol
    report = pc.verify_solver(_solver(args.suite), path=args.path, tol=tol)
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
    for name, owners in _OWNERS.items():
        if getattr(args, name) is not None and args.kernel not in owners:
            wanted = " or ".join(owners)
            raise InputError(f"--{name} belongs to --kernel {wanted}, but the kernel is {args.kernel or 'linear'}")
    if args.gamma is not None:
        same = "bandwidth" if args.kernel == "rbf" else "scale"
        if getattr(args, same) is not None:
            raise InputError(f"--gamma stands for --{same}: give one of them")
        check_positive_number(args.gamma, "--gamma")
    if args.kernel == "rbf":
        if args.bandwidth is None and args.gamma is None:
            raise InputError("--bandwidth or --gamma is required for --kernel rbf: the one that the solver used")
        if args.gamma is None:
            return pc.RBF(args.bandwidth)
        return pc.RBF(float(np.sqrt(0.5 / args.gamma)))
    if args.kernel == "poly":
        given = {
            "degree": args.degree,
            "scale": args.scale if args.gamma is None else args.gamma,
            "offset": args.offset,
        }
        return pc.Polynomial(**{name: value for name, value in given.items() if value is not None})
    return {None: None, "linear": pc.Linear(), "precomputed": "precomputed"}[args.kernel]


#: Which kernels an option belongs to.
_OWNERS = {
    "bandwidth": ("rbf",),
    "gamma": ("rbf", "poly"),
    "degree": ("poly",),
    "scale": ("poly",),
    "offset": ("poly",),
}
