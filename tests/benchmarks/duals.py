"""Duals of textbook problems: are values, multipliers, paths and verdicts on pupils' duals those that a solver finds?

Each line is a promise of `pc.dual` or of `grade(dual=)`: on how many problems it was looked at, the worst that was
found, and how many break it. Values are Clarabel's to 1e-11, before and after every parameter was changed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from tests.solve.duals.textbook import Example, apart_along, examples, quadratic_programs
from tests.solve.grading.test_homework import TEXTBOOK, wrongly_judged

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


@dataclass(frozen=True)
class Line:
    """One promise: how often it was looked at, the worst, what is allowed, and who breaks it."""

    what: str
    count: int
    worst: float
    allowed: float
    broken: tuple[str, ...]


def value(problem: cp.Problem) -> float:
    """Optimal value; what is not DPP is compiled anew."""
    return float(problem.solve("CLARABEL", ignore_dpp=not problem.is_dcp(dpp=True), **TIGHT))


def relative(a: float, b: float) -> float:
    """Distance of two values."""
    return abs(a - b) / (1 + abs(b))


def over(what: str, measure: Callable[[Example], float], allowed: float, most: int) -> Line:
    """A line on so many textbook problems."""
    found = {name: measure(example) for name, example in [*examples().items()][:most]}
    broken = tuple(name for name, each in found.items() if not each <= allowed)
    return Line(what, len(found), float(np.max(list(found.values()))), allowed, broken)


def values_apart(example: Example) -> float:
    """Distance of the values of primal and dual before and after parameters move."""
    dual = pc.dual(example.problem).problem
    first = relative(value(dual), value(example.problem))
    before = {parameter: parameter.value for parameter in example.other}
    for parameter, new in example.other.items():
        parameter.value = new
    second = relative(value(dual), value(example.problem))
    for parameter, old in before.items():  # which other examples have, too
        parameter.value = old
    return max(first, second)


def multipliers_apart(example: Example) -> float:
    """Distance of multipliers from CVXPY's where they are unique."""
    dual = pc.dual(example.problem)
    value(dual.problem)
    value(example.problem)
    apart = [0.0]
    for constraint, multiplier in dual.of.items() if example.unique else ():
        theirs = constraint.dual_value
        for their, own in zip(theirs, multiplier, strict=True) if isinstance(theirs, list) else [(theirs, multiplier)]:
            distance = np.abs(np.ravel(their) - np.ravel(own.value)).max()
            apart.append(float(distance / (1 + np.abs(own.value).max())))
    return max(apart)


def of_the_dual_of_the_dual(example: Example) -> float:
    """Distance of the value of the dual of the dual from the primal's."""
    return relative(value(pc.dual(pc.dual(example.problem).problem).problem), value(example.problem))


def not_convex(example: Example) -> float:
    """1 where the dual is not DCP, or not DPP where the primal is."""
    dual = pc.dual(example.problem).problem
    kept = dual.is_dcp(dpp=True) or not example.problem.is_dcp(dpp=True)
    return 0.0 if dual.is_dcp() and kept else 1.0


def lines(answers: int, most: int) -> Iterator[Line]:
    """All promises, each on so many problems."""
    yield over("dual is DCP, and DPP where the primal is", not_convex, 0.0, most)
    yield over("values, before and after parameters move", values_apart, 1e-7, most)
    yield over("multipliers, where unique", multipliers_apart, 2e-4, most)
    yield over("value of the dual of the dual", of_the_dual_of_the_dual, 1e-6, most)
    paths = [apart_along(*each) for each in quadratic_programs(min(20, most))]
    for what, column in (("values along traces of duals", 0), ("breakpoints of traces of duals", 1)):
        found = [each[column] for each in paths]
        yield Line(what, len(found), max(found), 1e-7, tuple(str(k) for k, each in enumerate(found) if each > 1e-7))
    wrong, seen = [], []
    for name in TEXTBOOK:
        own, verdicts = wrongly_judged(name, answers // len(TEXTBOOK))
        wrong += own
        seen += verdicts
    broken = tuple(f"{name}, {what}" for name, what, *_ in wrong)
    same = sum(is_same for _, is_same in seen)
    yield Line(f"verdicts on pupils' duals, {len(seen) - same} of them wrong", len(seen), len(wrong), 0, broken)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/duals.py --answers 100"
    )
    parser.add_argument("--answers", type=int, default=100, help="pupils' duals that are graded (default: 100)")
    parser.add_argument("--smoke", action="store_true", help="few problems and answers")
    args = parser.parse_args()
    answers, most = (len(TEXTBOOK), 5) if args.smoke else (args.answers, 1000)
    began, broken = time.perf_counter(), 0
    print(f"{'':<56} {'problems':>8} {'worst':>9} {'allowed':>9} {'broken':>6}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Clarabel's, of accuracy that it does not reach
        for line in lines(answers, most):
            print(f"{line.what:<56} {line.count:>8} {line.worst:>9.1e} {line.allowed:>9.0e} {len(line.broken):>6}")
            for name in line.broken:
                print(f"    {name}")
            broken += len(line.broken)
    print(f"{time.perf_counter() - began:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
