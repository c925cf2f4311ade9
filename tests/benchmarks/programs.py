"""Random degenerate programs along a line, by the ten thousands: does the general engine finish, and is it ever wrong?

Up to 5 variables and 5 rows of small whole numbers: rows and columns alike, singular P or none, fixed, free and
half-bounded items, soft bounds of no cost too, bounds that close or cross on the way. In fractions the points must be
exactly optimal at both ends and at a third of every segment, and a ray must refute every later t exactly. In doubles
they must be so to 1e-9, of every second program after a scaling that leaves it degenerate up to rounding only; and
the path must end where that in fractions does. (Where it is infeasible and unbounded from the same t on, either may be
said: rays are judged, names of rays are not compared.)
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.engine.general import follow
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.trace import Trace
from tests.oracles.random_programs import fractions, off, program, refuted

TOL = 1e-9
EXACT = 10  # one program in so many is followed in fractions, too
SHARES = (Fraction(0), Fraction(1, 3), Fraction(1))


def missed(problem: ParametricQP, found: Trace) -> float:
    """The largest violation of the optimality conditions on any segment."""
    worst: float = 0
    for k in range(len(found.labels)):
        for share in SHARES:
            part = share if found.v.dtype == object else float(share)
            t, v, y = ((1 - part) * ends[0] + part * ends[1] for ends in (found.t[k : k + 2], found.v[k], found.y[k]))
            worst = max(worst, off(problem, t, v, y))
    return worst


def verdicts(seed: int, counts: Counter[str], wrong: list[str]) -> None:
    """Follow one program, and count what comes out."""
    if (raw := program(seed)) is None:
        return
    exact = None
    if seed % EXACT == 0:
        problem = ParametricQP(*map(fractions, raw))
        exact = follow(problem, progress=False)
        counts["fractions"] += 1
        refutes = exact.status == "end" or exact.t.size == 1 or refuted(problem, exact)
        if missed(problem, exact) != 0 or not refutes:
            wrong.append(f"{seed} in fractions")
    scale = 1.0 if seed % 2 == 0 else float(10.0 ** np.random.default_rng(seed).uniform(-1, 1))
    P, A, q, *sides = (np.asarray(each, dtype=float) for each in raw)
    problem = ParametricQP(scale * P, A, scale * q, *sides[:2], *(scale * each for each in sides[2:]))
    counts["doubles"] += 1
    try:
        found = follow(problem, progress=False)
    except pc.errors.DegeneratePathError as error:
        counts["refused"] += 1
        print(f"refused {seed}: {error}"[:110])
        return
    counts[found.status] += 1
    other = exact is not None and abs(float(exact.t[-1]) - found.t[-1]) > TOL
    refutes = found.status == "end" or found.t.size == 1 or refuted(problem, found, TOL)
    if missed(problem, found) > TOL * (1 + scale) or other or not refutes:
        wrong.append(str(seed))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/programs.py --count 1000"
    )
    parser.add_argument("--count", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--smoke", action="store_true", help="200 programs: seconds")
    args = parser.parse_args(argv)
    began, counts, wrong = time.process_time(), Counter[str](), list[str]()
    for seed in range(args.first, args.first + (200 if args.smoke else args.count)):
        verdicts(seed, counts, wrong)
    print(
        f"{counts['doubles']} programs in doubles: {counts['end']} to the end, {counts['infeasible']} infeasible and "
        f"{counts['unbounded']} unbounded from some t on, {counts['refused']} refused; {counts['fractions']} in "
        f"fractions, too; {len(wrong)} wrong; {time.process_time() - began:.0f} s"
    )
    print(*(f"wrong: {each}" for each in wrong), sep="\n", end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
