"""Paths at scale, traced and proved: CPU time, peak memory and breakpoints on large problems.

Run ``python tests/benchmarks/scale.py`` (minutes; ``--case NAME`` or ``--smoke`` for less). Each case runs in a process
of its own, so that the peak memory is its own, on one thread. Every t of every line is proved; ``us`` are microseconds
of tracing a breakpoint, ``ratio`` is what the proofs take, relative to tracing. The exit status is 1 where it exceeds 3
(not with ``--smoke``), or a proof fails.

- rbf: n = 10 000, two Gaussians in 10 dimensions, RBF kernel; the kernel matrix takes 800 MB.
- linear: n = 100 000, two Gaussians in 20 dimensions.
- fifty: n = 20 000, the same in 50 dimensions.
- sparse: n = 2 500, d = 48 784, 99.7 % zeros, the shape of a text problem of Yu et al.: words of Zipf's frequencies,
  rows of length 1, labels from a random direction, one in ten turned over.
- words: n = 100 000, d = 1 000, 98 % zeros, made in the same way.

In the first four cases the ray goes from zero costs to mean cost 1, and the asymmetry line (total 2) from 0.1 to 0.9
and sets out from the ray. In the last the ray goes to mean cost 0.002, and the asymmetry line from 0.45 to 0.55.
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

CASES = ("rbf", "linear", "fifty", "sparse", "words")
#: Samples, features, and mean cost of a sample: words draws from so many, and costs are smaller.
SIZES = {
    "rbf": (10_000, 10),
    "linear": (100_000, 20),
    "fifty": (20_000, 50),
    "sparse": (2500, 48_784),
    "words": (100_000, 1000),
}
COST = {"words": 2e-3}
#: Asymmetries at the ends of the line.
ENDS = {"words": (0.45, 0.55)}
#: What the proofs may take, in units of tracing.
RATIO = 3.0


def text(n: int, d: int, size: int) -> tuple[Any, Any]:
    """Rows of so many words (some twice), as CSR, and labels."""
    rng = np.random.default_rng(0)
    frequency = 1.0 / np.arange(10.0, d + 10.0)
    words = rng.choice(d, (n, size), p=frequency / frequency.sum())
    X = sp.csr_array((np.ones(n * size), words.ravel(), size * np.arange(n + 1)), shape=(n, d))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    X = normalize(X)
    scores = X @ (rng.normal(size=d) / np.sqrt(1.0 + frequency * 1e3))
    y = np.where(scores >= np.median(scores), 1.0, -1.0)
    y[rng.random(n) < 0.1] *= -1.0
    return X, y


def problem(case: str, smoke: bool) -> pc.TwoCSVM:
    """Samples and kernel of a case."""
    n, d = SIZES[case]
    if case == "sparse":
        n, d = (120, 2000) if smoke else (n, d)
        return pc.TwoCSVM(*text(n, d, round(0.0036 * d)))  # about a sixth of the words of a row are drawn twice
    if case == "words":
        n, d = (400, 50) if smoke else (n, d)
        return pc.TwoCSVM(*text(n, d, 20))
    mean = np.full(d, 1 / np.sqrt(d))
    data = make_gaussians(400 if smoke else n, rng=0, mean_plus=mean, mean_minus=-mean)
    return pc.TwoCSVM(data.X, data.y, kernel=pc.RBF(float(np.sqrt(5.0))) if case == "rbf" else None)


def measure(case: str, smoke: bool) -> dict[str, Any]:
    """One row of the table; seconds are of the processor."""
    clock, cost = time.process_time, COST.get(case, 1.0)
    began = clock()
    svm = problem(case, smoke)
    if case == "rbf":
        svm.gram.matrix  # noqa: B018  # computed here, and timed
    at = [clock()]
    top = (0.5 * cost * svm.y.size / svm.n_plus, 0.5 * cost * svm.y.size / svm.n_minus)
    ray = pc.trace(svm, (0, 0), top, certify=False, progress=False)
    at.append(clock())
    ends = [(2 * cost * g, 2 * cost * (1 - g)) for g in ENDS.get(case, (0.1, 0.9))]
    line = pc.trace(svm, *ends, hub=ray, certify=False, progress=False)
    at.append(clock())
    proofs = [path.proof for path in (ray, line)]
    at.append(clock())
    events = [path.breakpoints.size - 2 for path in (ray, line)]
    return {
        "case": case,
        "n": int(svm.y.size),
        "d": int(svm.X.shape[1]),
        "build_seconds": at[0] - began,
        "ray_seconds": at[1] - at[0],
        "line_seconds": at[2] - at[1],
        "proof_seconds": at[3] - at[2],
        "ratio": (at[3] - at[2]) / (at[2] - at[0]),
        "microseconds": 1e6 * (at[2] - at[0]) / sum(events),
        "breakpoints": events,
        "largest_margin_set": int(max(ray.n_margin.max(), line.n_margin.max())),
        "worst_residual": max(float(proof.residual.max()) for proof in proofs),
        "worst_gap": max(float(proof.gap.max()) for proof in proofs),
        "proved": all(proof.passes() for proof in proofs),
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/scale.py --case linear"
    )
    parser.add_argument("--case", choices=CASES, help="only this one")
    parser.add_argument("--smoke", action="store_true", help="small sizes: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        with threadpool_limits(1):
            print(json.dumps(measure(args.case, args.smoke)))
        return 0
    rows = []
    if not args.json:
        print(
            f"{'case':<8}{'n':>8}{'d':>8}{'build s':>9}{'ray s':>9}{'line s':>9}{'proof s':>9}{'us':>6}{'ratio':>7}"
            f"{'breakpoints':>16}{'margin':>8}{'residual':>10}{'gap':>9}{'peak GiB':>10}"
        )
    for case in [args.case] if args.case else CASES:
        command = [sys.executable, __file__, "--here", "--case", case, *(["--smoke"] if args.smoke else [])]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row = json.loads(done.stdout)
        rows.append(row)
        if not args.json:
            print(
                f"{case:<8}{row['n']:>8}{row['d']:>8}{row['build_seconds']:>9.1f}{row['ray_seconds']:>9.1f}"
                f"{row['line_seconds']:>9.1f}{row['proof_seconds']:>9.1f}{row['microseconds']:>6.0f}"
                f"{row['ratio']:>7.2f}"
                f"{'+'.join(map(str, row['breakpoints'])):>16}"
                f"{row['largest_margin_set']:>8}{row['worst_residual']:>10.1e}{row['worst_gap']:>9.1e}"
                f"{row['peak_gib']:>10.2f}" + ("" if row["proved"] else "  NOT PROVED"),
                flush=True,
            )
    if args.json:
        print(json.dumps(rows, indent=2))
    slow = any(row["ratio"] > RATIO for row in rows) and not args.smoke
    return int(slow or not all(row["proved"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
