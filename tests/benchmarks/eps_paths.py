"""Paths within eps of any convex problem: violations at random t, solves, growth, time, exact paths in the band.

Run ``python tests/benchmarks/eps_paths.py`` (twenty minutes; ``--smoke`` for seconds; parts by name: lines, false,
exact, solves, fine). Each line of `tests/oracles/cone_lines.py` is traced, and its bounds are held against those that
`verify` proves of single solves to 1e-11. A row that misses what is required ends with "MISSED", and the exit status is
then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.path.of_cones import trace_cones
from paretoclf.proof.cone_band import prove_band
from paretoclf.proof.cone_judge import ConeJudge
from paretoclf.solve.cone_proof import certify_problem
from paretoclf.solve.to_cones import LineOfCones
from tests.oracles import cone_lines
from tests.oracles.cone_lines import LINES, move

#: Sizes of the study: name -> how the line is made, and the solves that are allowed at 1e-4.
STUDY = {
    "group_lasso": ({"n": 80, "groups": 8}, 25),
    "square_root_lasso": ({"n": 60, "p": 20}, 110),
    "s_procedure": ({"p": 6}, 120),
    "logistic_group_lasso": ({"n": 80, "groups": 6}, 135),
}


def interval(problem: Any) -> tuple[float, float]:
    """Bounds of the optimal value that another judge proves, of a tight solve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        proof = certify_problem(problem)
    return proof.lower, proof.upper


def lines(smoke: bool) -> Iterator[tuple[str, bool]]:
    """No interval that `verify` proves may miss the band."""
    rng, total, wrong = np.random.default_rng(0), 0, 0
    for name in list(LINES)[:: 8 if smoke else 1]:
        line = LINES[name]()
        path = pc.trace(*line, eps=1e-3 if smoke else 1e-4, progress=False)
        missed, tight, count = 0, 0.0, 4 if smoke else 200
        for t in rng.uniform(0, 1, count).tolist():
            low, high = path.bounds(t)
            theirs = interval(move(line, t))
            missed += theirs[0] > high or theirs[1] < low
            tight = max(tight, (high - theirs[0]) / max(abs(high), 1e-12))
        total, wrong = total + count, wrong + missed
        yield f"{name}: {path.t.size} pairs, {missed} of {count} t outside, true excess up to {tight:.1e}", missed == 0
    yield f"all: {wrong} of {total} t outside", wrong == 0


def falsified(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Whatever is written into pairs, bounds hold, or it is refused."""
    rng, held, refused, wrong = np.random.default_rng(1), 0, 0, 0
    for name in ["maximum_entropy"] if smoke else ["maximum_entropy", "s_procedure", "square_root_lasso", "powers"]:
        line = LINES[name]()
        path = pc.trace(*line, eps=1e-3, progress=False)
        judge, k = ConeJudge(path.program, path.ceiling), path.t.size
        at = rng.uniform(0, 1, 2 if smoke else 50)
        theirs = [interval(move(line, t)) for t in at.tolist()]
        for trial in range(6 if smoke else 40):
            x, y, z = path.x.copy(), path.y.copy(), path.z.copy()
            i = int(rng.integers(k))
            size = 10.0 ** rng.uniform(-9, 0)
            kind = trial % 4
            if kind == 0:
                z[i] *= 1 + size
            elif kind == 1:
                y[i] += size * rng.normal(size=y[i].size)
            elif kind == 2:
                x[i] += size * rng.normal(size=x[i].size)
            else:
                z[i] = z[(i + 1) % k]
            false = replace(path, x=x, y=y, z=z)
            false.__dict__["proof"] = prove_band(judge, (path.t, x, y, z), path.eps)
            if false.proof.why:
                refused += 1
                continue
            held += 1
            for t, bounds in zip(at.tolist(), theirs, strict=True):
                low, high = false.bounds(t)
                wrong += bounds[0] > high or bounds[1] < low
    yield f"falsified: {refused} refused, {held} with bounds, {wrong} of these false at some t", wrong == 0


def exact(smoke: bool) -> Iterator[tuple[str, bool]]:
    """The exact paths of quadratic programs are inside the band."""
    rng, outside, count = np.random.default_rng(2), 0, 0
    floors: dict[float, int] = {}
    for k in range(1 if smoke else 30):
        line = cone_lines.svm(20 + 2 * k, 2 + k % 5) if k % 2 else cone_lines.lasso(20 + 2 * k, 4 + k % 9)
        path = pc.trace(*line, progress=False)
        for eps in (1e-3,) if smoke else (1e-3, 1e-4, 1e-6, 1e-8):
            try:
                band = pc.trace(*line, eps=eps, progress=False)
            except pc.errors.DegeneratePathError as error:
                floors[eps] = floors.get(eps, 0) + ("a floor" in str(error))
                continue
            for t in rng.uniform(0, 1, 300).tolist():
                (low, high), value = band.bounds(t), path.value(t)
                count += 1
                outside += not low - 1e-12 * abs(value) <= value <= high + 1e-12 * abs(value)
    yield f"exact paths: {outside} of {count} t outside; floors {floors}", outside == 0 and set(floors) <= {1e-8}


def solves(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Solves at 1e-4, and how they grow."""
    for name, (sizes, most) in list(STUDY.items())[1:2] if smoke else STUDY.items():
        line = getattr(cone_lines, name)(**sizes)
        counts = []
        for eps in (1e-2, 1e-4):
            began = time.process_time()
            path = pc.trace(*line, eps=eps, progress=False)
            counts.append(path.solves)
        seconds = time.process_time() - began
        growth = counts[1] / counts[0]
        yield (
            f"{name}: {counts[1]} solves at 1e-4 of {most}, {growth:.1f} times those at 1e-2, {seconds:.1f} s",
            (counts[1] <= most and growth <= 12),
        )


def fine(smoke: bool) -> Iterator[tuple[str, bool]]:
    """To 1e-6 where the cones are exponential."""
    for name, sizes in (("logistic_group_lasso", {"n": 80, "groups": 6}), ("ridge_logistic", {"n": 80, "p": 6})):
        source = LineOfCones(*getattr(cone_lines, name)(**({} if smoke else sizes)))
        began = time.process_time()
        path = trace_cones(source, 1e-3 if smoke else 1e-6, progress=False)
        seconds = time.process_time() - began
        yield f"{name}: {path.solves} solves, worst {path.proof.worst:.1e}, {seconds:.0f} s of CPU", seconds <= 60


PARTS = {"solves": solves, "exact": exact, "false": falsified, "fine": fine, "lines": lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"among {', '.join(PARTS)}; default: all")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes: seconds")
    args = parser.parse_args()
    unknown = sorted({*args.parts} - {*PARTS})
    if unknown:
        parser.error(f"part must be among {', '.join(PARTS)}, got {unknown[0]}")
    missed = False
    for part in args.parts or PARTS:
        for text, fine_so in PARTS[part](args.smoke):
            print(text + ("" if fine_so else "  MISSED"), flush=True)
            missed |= not fine_so
    return 1 if missed and not args.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
