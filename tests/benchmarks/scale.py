"""Paths at scale: time, peak memory and breakpoints of a ray and an asymmetry line on large problems.

Run ``python tests/benchmarks/scale.py`` (minutes; ``--case NAME`` or ``--smoke`` for less). Each case runs in a process
of its own, so that the peak memory is its own. The ray goes from zero costs to mean cost 1, the asymmetry line (total
2) from 0.1 to 0.9 and sets out from the ray. Certificates of every breakpoint would take longer than the path; they are
computed at 20 parameters of each line.

- rbf: n = 10 000, two Gaussians in 10 dimensions, RBF kernel; the kernel matrix takes 800 MB.
- linear: n = 100 000, two Gaussians in 20 dimensions.
- sparse: n = 2 500, d = 48 784, 99.7 % zeros, the shape of a text problem of Yu et al.: words of Zipf's frequencies,
  rows of length 1, labels from a random direction, one in ten turned over.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

CASES = ("rbf", "linear", "sparse")


def problem(case: str, smoke: bool) -> pc.TwoCSVM:
    """Samples and kernel of a case."""
    if case == "sparse":
        n, d = (120, 2000) if smoke else (2500, 48_784)
        rng = np.random.default_rng(0)
        frequency = 1.0 / np.arange(10.0, d + 10.0)
        size = round(0.0036 * d)  # about a sixth of the words of a row are drawn twice
        words = rng.choice(d, (n, size), p=frequency / frequency.sum())
        X = sp.csr_array((np.ones(n * size), words.ravel(), size * np.arange(n + 1)), shape=(n, d))
        X.sum_duplicates()
        X.data = 1.0 + np.log(X.data)
        X = normalize(X)
        scores = X @ (rng.normal(size=d) / np.sqrt(1.0 + frequency * 1e3))
        y = np.where(scores >= np.median(scores), 1.0, -1.0)
        y[rng.random(n) < 0.1] *= -1.0
        return pc.TwoCSVM(X, y)
    n, d = {"rbf": (10_000, 10), "linear": (100_000, 20)}[case]
    mean = np.full(d, 1 / np.sqrt(d))
    data = make_gaussians(400 if smoke else n, rng=0, mean_plus=mean, mean_minus=-mean)
    return pc.TwoCSVM(data.X, data.y, kernel=pc.RBF(float(np.sqrt(5.0))) if case == "rbf" else None)


def measure(case: str, smoke: bool) -> dict[str, Any]:
    """One row of the table."""
    small = make_gaussians(40, rng=1)
    pc.trace(pc.TwoCSVM(small.X, small.y), (0, 0), (1, 1), progress=False)  # compiled before the clock starts
    began = time.perf_counter()
    svm = problem(case, smoke)
    if case == "rbf":
        svm.gram.matrix  # noqa: B018
    built = time.perf_counter()
    top = (0.5 * svm.y.size / svm.n_plus, 0.5 * svm.y.size / svm.n_minus)
    ray = pc.trace(svm, (0, 0), top, certify=False, progress=False)
    line = pc.trace(svm, (0.2, 1.8), (1.8, 0.2), hub=ray, certify=False, progress=False)
    traced = time.perf_counter()
    points = np.linspace(0, 1, 5 if smoke else 20)
    certificates = [path.at(float(t)).certificate for path in (ray, line) for t in points]
    return {
        "case": case,
        "n": int(svm.y.size),
        "d": int(svm.X.shape[1]),
        "build_seconds": built - began,
        "ray_seconds": ray.seconds,
        "line_seconds": line.seconds,
        "trace_seconds": traced - built,
        "breakpoints": [ray.breakpoints.size - 2, line.breakpoints.size - 2],
        "largest_margin_set": int(max(ray.n_margin.max(), line.n_margin.max())),
        "worst_residual": max(c.residual for c in certificates),
        "worst_gap": max(abs(c.gap) for c in certificates),
        "certified": all(c.passes() for c in certificates),
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/scale.py --case linear"
    )
    parser.add_argument("--case", choices=CASES, help="only this one")
    parser.add_argument("--smoke", action="store_true", help="small sizes: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        with threadpool_limits(2):
            print(json.dumps(measure(args.case, args.smoke)))
        return
    rows = []
    if not args.json:
        print(
            f"{'case':<8}{'n':>8}{'d':>8}{'build s':>9}{'ray s':>9}{'line s':>9}{'breakpoints':>16}{'margin':>8}"
            f"{'residual':>10}{'gap':>9}{'peak GiB':>10}"
        )
    for case in [args.case] if args.case else CASES:
        command = [sys.executable, __file__, "--here", "--case", case, *(["--smoke"] if args.smoke else [])]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        row = json.loads(done.stdout)
        rows.append(row)
        assert row["certified"], row
        if not args.json:
            print(
                f"{case:<8}{row['n']:>8}{row['d']:>8}{row['build_seconds']:>9.1f}{row['ray_seconds']:>9.1f}"
                f"{row['line_seconds']:>9.1f}{'+'.join(map(str, row['breakpoints'])):>16}"
                f"{row['largest_margin_set']:>8}{row['worst_residual']:>10.1e}{row['worst_gap']:>9.1e}"
                f"{row['peak_gib']:>10.2f}",
                flush=True,
            )
    if args.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
