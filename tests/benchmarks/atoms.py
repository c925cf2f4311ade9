"""Random problems written in CVXPY, of every atom that has an exact path: is each followed, and is any path wrong?

Whole numbers, tenths and doubles; fewer squares than variables, singular forms, ties, fits without a residual, optima
of 0, problems without an optimum somewhere. At both ends and at two random t of each path: its value against Clarabel's
(1e-6), the constraints and the objective of the point that it assigns, and its multipliers: the Lagrangian that they
make is minimised by Clarabel, and may be no less than the value. Where a path ends early, Clarabel must find no optimum
beyond; its slope must be that of differences. What Clarabel cannot solve is counted, and not compared.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from tests.oracles.random_atoms import random_atoms

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def by_clarabel(problem: cp.Problem) -> tuple[str, float]:
    """Status and value."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(**TIGHT)
    except cp.SolverError:
        return "failed", np.nan
    return str(problem.status), float(np.nan if problem.value is None else problem.value)


def wrong_at(problem: cp.Problem, path: pc.results.ProblemPath, t: float) -> str:
    """What is wrong at t, where the parameters are set; nothing if all is right or Clarabel cannot say."""
    status, theirs = by_clarabel(problem)
    mine, inside = path.value(t), 0.0 < t < path.breakpoints[-1]
    if status == "failed" or (status != "optimal" and not inside):
        return ""
    if status == "optimal" and abs(mine - theirs) > 1e-6 * (1 + abs(theirs)) and inside:
        return f"value {mine:.9g}, Clarabel's {theirs:.9g}"
    if status in ("infeasible", "unbounded"):
        return f"value {mine:.9g} where Clarabel says {status}"
    path.assign(t)
    size = 1 + max(float(np.abs(x.value).max()) for x in problem.variables())
    off = max((float(np.max(c.violation())) for c in problem.constraints), default=0.0)
    if off > 1e-8 * size:
        return f"a constraint is violated by {off:.1e}"
    if abs(problem.objective.value - mine) > 1e-8 * (1 + abs(mine)):
        return f"value {mine:.9g}, objective {problem.objective.value:.9g}"
    sign = 1 if isinstance(problem.objective, cp.Minimize) else -1
    lagrangian = sign * problem.objective.args[0]
    for c in problem.constraints:
        lagrangian = lagrangian + cp.sum(cp.multiply(np.asarray(c.dual_value), c.expr))
    status, low = by_clarabel(cp.Problem(cp.Minimize(lagrangian)))
    if status == "optimal" and low < sign * mine - 1e-5 * (1 + abs(mine)):
        return f"its multipliers prove {low:.9g} of {sign * mine:.9g}"
    return ""


def outcome(seed: int, largest: int) -> tuple[str, str]:
    """What came of one problem, and what is wrong with it."""
    problem, start, stop = random_atoms(seed, largest)
    if all(np.array_equal(start[p], stop[p]) for p in start):
        return "nothing moves", ""

    def place(t: float) -> None:
        for p in start:
            value = (1 - t) * np.asarray(start[p]) + t * np.asarray(stop[p])
            p.value = value if p.shape else float(value)

    place(0.0)
    try:
        path = pc.trace(problem, start, stop, progress=False)
    except pc.InputError as error:
        if "nothing moves" in str(error):  # its weight is 0
            return "nothing moves", ""
        place(0.0)
        status, _ = by_clarabel(problem)
        return "no optimum at the start", f"refused though Clarabel says {status}" if status == "optimal" else ""
    except DegeneratePathError as error:
        return "refused", str(error)[:100]
    end, rng = float(path.breakpoints[-1]), np.random.default_rng(seed)
    for t in (0.0, *rng.uniform(0, end, 2), end):
        place(t)
        if said := wrong_at(problem, path, t):
            return path.status, f"at t = {t:.6g}: {said}"
    if end < 1 - 1e-6:
        beyond = min(1.0, end + 1e-2 * (1 - end))
        place(beyond)
        status, value = by_clarabel(problem)
        if status == "optimal":
            return path.status, f"ends at {end:.9g}, but Clarabel finds {value:.6g} at {beyond:.9g}"
    t = float(rng.uniform(0, end))
    h = min(1e-3, 0.4 * float(np.abs(path.breakpoints - t).min()))
    if h > 1e-6:
        rate = (path.value(t + h) - path.value(t - h)) / (2 * h)
        slope = path.slopes(t).right.value
        if abs(rate - slope) > 1e-5 * (1 + abs(rate)) + 1e-9 * abs(path.value(t)) / h:
            return path.status, f"slope {slope:.9g} at t = {t:.6g}, differences {rate:.9g}"
    return path.status, ""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/atoms.py --count 1000"
    )
    parser.add_argument("--count", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--largest", type=int, default=5, help="entries of x, at most (default: %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="40 problems: seconds")
    args = parser.parse_args(argv)
    began, counts, wrong = time.process_time(), Counter[str](), 0
    for seed in range(args.first, args.first + (40 if args.smoke else args.count)):
        what, said = outcome(seed, args.largest)
        counts[what] += 1
        if said:
            wrong += what != "refused"
            print(f"{seed} {'refused' if what == 'refused' else 'wrong'}: {said}")
    paths = sum(counts[status] for status in ("end", "infeasible", "unbounded"))
    print(
        f"{sum(counts.values())} problems: {paths} paths ({counts['infeasible']} infeasible and {counts['unbounded']} "
        f"unbounded from some t on), {counts['no optimum at the start']} without an optimum at the start, "
        f"{counts['nothing moves']} in which nothing moves, {counts['refused']} refused; {wrong} wrong; "
        f"{time.process_time() - began:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
