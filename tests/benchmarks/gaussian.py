"""The whole Gaussian trade-off curve against one solve of one of its points.

Run ``python tests/benchmarks/gaussian.py`` (seconds; ``--smoke`` for the smallest sizes). In turns and on one thread,
the fastest of several runs, for two random Gaussian classes of d features:

- curve: ``gaussian_tradeoff(moments).curve(1000)`` from roots of the covariances, the decomposition included: 1000
  classifiers with slope, intercept and both rates, over all three segments;
- problem 3: one solve of problem (3) of Kim et al. as the paper writes it, in CVXPY with Clarabel, compiled once and
  re-solved with another lambda (DPP);
- whitened: the same problem in the coordinates of `ParetoGaussian`, in which both covariances are diagonal; the time of
  that decomposition, which the curve includes, is not counted here;
- rates: largest difference between the rates of the curve and those of problem (3) at accuracy 1e-10 (the textbook
  model, over lambda = 0.01, ..., 100), and largest gap of the certificates of 50 points of the curve.

Required: the curve takes less than one solve of problem (3) at d = 60, and rates agree to 1e-8. A row that misses it
ends with "MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

import paretoclf as pc

SIZES = ((2, 1e6), (10, 1e6), (30, 1e3), (60, 1e1), (60, 1e6), (200, 1e3))
WEIGHTS = (0.01, 0.3, 1.0, 5.0, 100.0)
ACCURATE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def classes(d: int, condition: float) -> pc.Moments:
    """Two Gaussian classes; both covariances have this condition number."""
    rng = np.random.default_rng(d)
    covariances = []
    for _ in range(2):
        Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
        covariances.append(Q @ np.diag(np.geomspace(1, condition, d)) @ Q.T)
    S = [0.5 * (C + C.T) for C in covariances]
    return pc.Moments.from_covariances(rng.normal(size=d) + 1, S[0], rng.normal(size=d), S[1])


def seconds(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Fastest of several calls of each, taken in turns, after one that is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
    return {name: min(each[1:]) for name, each in taken.items()}


def row(d: int, condition: float, repeats: int) -> dict[str, float]:
    """Measure one size."""
    m = classes(d, condition)

    def curve() -> pc.results.TradeoffCurve:
        fresh = pc.Moments(m.mu_plus, m.root_plus, m.mu_minus, m.root_minus)  # nothing decomposed yet
        return pc.gaussian_tradeoff(fresh).curve(1000)

    a, lam, rng = cp.Variable(d), cp.Parameter(nonneg=True), np.random.default_rng(0)
    textbook = cp.Problem(cp.Minimize(cp.norm(m.root_plus @ a) + lam * cp.norm(m.root_minus @ a)), [a @ m.delta == 1])
    model = pc.ParetoGaussian.from_moments(m.mu_plus, m.Sigma_plus, m.mu_minus, m.Sigma_minus)

    def solve(problem: cp.Problem, parameter: cp.Parameter) -> None:
        parameter.value = float(np.exp(rng.normal()))
        problem.solve(solver="CLARABEL")

    found = pc.gaussian_tradeoff(m)
    worst = 0.0
    for weight in WEIGHTS:
        lam.value = weight
        value = textbook.solve(solver="CLARABEL", **ACCURATE)
        at = found.at_weight(weight)
        worst = max(worst, abs(at.tpr - ndtr(1 / value)), abs(at.tnr - ndtr(weight / value)))
    points = found.curve(50)
    return {
        "d": d,
        "condition": condition,
        **seconds(
            {
                "curve": curve,
                "problem_3": lambda: solve(textbook, lam),
                "whitened": lambda: solve(model.primal, model.parameters["lam"]),
            },
            repeats,
        ),
        "rates": worst,
        "gap": max(abs(found.certificate(points.point(j)).gap) for j in range(len(points))),
    }


def missed(found: dict[str, float]) -> bool:
    """Whether a row misses what is required of it."""
    return found["rates"] > 1e-8 or (found["d"] == 60 and found["curve"] >= found["problem_3"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/gaussian.py --json"
    )
    parser.add_argument("--smoke", action="store_true", help="the two smallest sizes")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--repeats", type=int, default=101, help="runs of which the fastest counts; default: 101")
    args = parser.parse_args()
    if not args.json:
        print("one thread; milliseconds")
        print(f"{'d':>5}{'condition':>11}{'curve':>9}{'problem 3':>11}{'whitened':>10}{'rates':>10}{'gap':>10}")
    rows = []
    for d, condition in SIZES[:2] if args.smoke else SIZES:
        found = row(d, condition, 3 if args.smoke else args.repeats)
        rows.append({**found, "missed": missed(found)})
        if not args.json:
            times = (found["curve"], found["problem_3"], found["whitened"])
            shown = "".join(f"{1e3 * each:>{width}.2f}" for each, width in zip(times, (9, 11, 10), strict=True))
            said = "  MISSED" if rows[-1]["missed"] else ""
            print(f"{d:>5}{condition:>11.0e}{shown}{found['rates']:>10.1e}{found['gap']:>10.1e}{said}", flush=True)
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    return int(any(each["missed"] for each in rows) and not args.smoke)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # of the textbook model; rates are checked
    with threadpool_limits(1):
        sys.exit(main())
