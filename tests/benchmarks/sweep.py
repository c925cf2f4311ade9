"""A certified sweep of the 2C-SVM against the bare solver: Clarabel, set up once and updated, on the same cone program.

Run ``python tests/benchmarks/sweep.py`` (a minute; ``--smoke`` for less). Side by side and on one thread, on two
Gaussians in ten dimensions (means 2 apart), with the linear and the RBF kernel, at 30 points of the asymmetry line from
0.02 to 0.98 at total cost 2, in milliseconds of the processor a point:

- raw: the dual as CVXPY compiles it, its vectors at every point computed beforehand; one solver, with the settings of
  the sweep, set up at the first point and updated in place at the others; x and z are read, nothing else is done;
- sweep: ``sweep(svm, C_plus=..., C_minus=...)``, every answer polished and certified; compiling the problem, which is
  timed apart, is taken off.

The two take turns; ``ratio`` is the median of the ratios. ``raw off`` is by how much the raw objective misses the
certified value, relatively, at the worst point; ``sweep off`` the largest gap or residual of all certificates.

Required: at most 1.5 at n = 100 and 1.2 at n = 400, and every certificate passes. A row that misses it ends with
"MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import clarabel
import numpy as np
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones
from scipy.sparse import csc_array, triu
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians
from paretoclf.solve.compiled import Compiled
from paretoclf.solve.models.model import conic_settings

REQUIRED = {100: 1.5, 400: 1.2}
POINTS, TOTAL = 30, 2.0


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def problem(n: int, kernel: str) -> pc.TwoCSVM:
    """Two Gaussian classes, and the kernel of that name."""
    mean = np.full(10, 1 / np.sqrt(10))
    data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
    return pc.TwoCSVM(data.X, data.y, pc.RBF.median(data.X) if kernel == "rbf" else None)


def cone_programs(svm: pc.TwoCSVM, grid: list[dict[str, float]]) -> list[dict[str, Any]]:
    """CVXPY's data of the dual at every point."""
    found = []
    for values in grid:
        for name, value in values.items():
            svm.parameters[name].value = value
        found.append(svm.dual.get_problem_data("CLARABEL", solver_opts={})[0])
    return found


def updated(programs: list[dict[str, Any]], settings: Any) -> list[tuple[Any, Any]]:
    """Solve programs that differ in b alone: minus the optimal value, and the solver's x and z."""
    first = programs[0]
    P, A = csc_array(triu(first["P"])), csc_array(first["A"])
    solver = clarabel.DefaultSolver(P, first["c"], A, first["b"], dims_to_solver_cones(first["dims"]), settings)
    found = []
    for k, program in enumerate(programs):
        if k:
            solver.update(b=program["b"])
        solution = solver.solve()
        found.append((-solution.obj_val, (np.asarray(solution.x), np.asarray(solution.z))))
    return found


def settings_of(svm: pc.TwoCSVM) -> Any:
    """What a sweep of this problem tells the solver."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.presolve_enable = False, False
    settings.direct_solve_method = "qdldl" if svm.dual_model.thin else "faer"
    for name, value in conic_settings("reference").items():
        setattr(settings, name, value)
    return settings


def measure(n: int, kernel: str, points: int, turns: int) -> dict[str, Any]:
    """One row of the table."""
    svm, g = problem(n, kernel), np.linspace(0.02, 0.98, points)
    costs = {"C_plus": TOTAL * g, "C_minus": TOTAL * (1 - g)}
    grid = [dict(zip(costs, map(float, pair), strict=True)) for pair in zip(*costs.values(), strict=True)]
    programs, settings = cone_programs(svm, grid), settings_of(svm)
    pc.sweep(svm, **costs, progress=False)  # imports, and the first touch of every array
    raws, sweeps = [], []
    for _ in range(turns):
        raw_seconds, raw = timed(lambda: updated(programs, settings))
        build, _ = timed(lambda: Compiled(svm.dual_model, svm.parameters, at=grid[0]))
        sweep_seconds, found = timed(lambda: pc.sweep(svm, **costs, progress=False))
        raws.append(raw_seconds)
        sweeps.append(sweep_seconds - build)
    ratio = float(np.median(np.divide(sweeps, raws)))
    values = np.array([value for value, _ in raw])
    proved = all(certificate.passes() for certificate in found.certificates)
    return {
        "n": n,
        "kernel": kernel,
        "raw": 1e3 * float(np.median(raws)) / points,
        "sweep": 1e3 * float(np.median(sweeps)) / points,
        "ratio": ratio,
        "setups": found.setups,
        "raw_off": float(np.max(np.abs(values - found.values) / found.values)),
        "sweep_off": found.worst,
        "proved": proved,
        "missed": not proved or ratio > REQUIRED.get(n, np.inf),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/sweep.py --turns 9"
    )
    parser.add_argument(
        "--turns", type=int, default=5, help="of both, four times as many with the linear kernel; default: 5"
    )
    parser.add_argument("--smoke", action="store_true", help="40 samples, 5 points: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args(argv)
    sizes, points, turns = ((40,), 5, 1) if args.smoke else (tuple(REQUIRED), POINTS, args.turns)
    rows = []
    if not args.json:
        print(
            "one thread; milliseconds of the processor a point\n"
            f"{'n':>5} {'kernel':>7} {'raw':>8} {'sweep':>8} {'ratio':>6} {'setups':>7} {'raw off':>8} {'sweep off':>9}"
        )
    for n in sizes:
        for kernel in ("linear", "rbf"):
            row = measure(n, kernel, points, turns * (4 if kernel == "linear" and not args.smoke else 1))
            rows.append(row)
            if not args.json:
                print(
                    f"{n:>5} {kernel:>7} {row['raw']:>8.2f} {row['sweep']:>8.2f} {row['ratio']:>6.2f} "
                    f"{row['setups']:>7} {row['raw_off']:>8.0e} {row['sweep_off']:>9.0e}"
                    + ("  MISSED" if row["missed"] else ""),
                    flush=True,
                )
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    if args.smoke:
        return int(not all(row["proved"] for row in rows))
    return int(any(row["missed"] for row in rows))


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
