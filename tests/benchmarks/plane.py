"""Maps of the cost plane: how many regions, and how long.

RBF kernel of bandwidth 1, two Gaussian classes of n / 2 samples in the plane, costs in [0.05, 2]^2. Numbers of regions
grow about quadratically with n. One thread; the proof of all regions is timed apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import paretoclf as pc

SIZES = (10, 16, 20, 30, 40, 60, 100, 200)
COSTS = (0.05, 2.0)


def samples(n: int, seed: int) -> tuple[Any, Any]:
    """Two overlapping classes of the same size."""
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return np.random.default_rng(seed).normal(size=(n, 2)) + 0.5 * y[:, None], y


def measure(n: int, seed: int) -> dict[str, Any]:
    """One row of the table."""
    svm = pc.TwoCSVM(*samples(n, seed), kernel=pc.RBF(1.0))
    found = pc.plane(svm, COSTS, COSTS, certify=False)
    began = time.perf_counter()
    worst = max(float(found.proof.residual.max()), float(found.proof.gap.max()))
    return {
        "n": n,
        "regions": len(found.regions),
        "contacts": len(found.contacts),
        "largest_margin_set": int(found.n_margin.max()),
        "seconds": found.seconds,
        "proof_seconds": time.perf_counter() - began,
        "area_error": abs(1.0 - float(found.areas.sum()) / (COSTS[1] - COSTS[0]) ** 2),
        "worst_proved": worst,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/plane.py --sizes 20,40"
    )
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of samples; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the samples; default: 0")
    parser.add_argument("--smoke", action="store_true", help="n = 10 and 20 only: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args(argv)
    sizes = [10, 20] if args.smoke else [int(size) for size in args.sizes.split(",")]
    measure(10, 1)  # CVXPY and others are imported on first use
    rows = []
    if not args.json:
        print(
            f"{'n':>5}{'regions':>9}{'contacts':>10}{'margin':>8}{'seconds':>9}{'proof s':>11}{'area':>10}{'worst':>10}"
        )
    for n in sizes:
        row = measure(n, args.seed)
        rows.append(row)
        if not args.json:
            print(
                f"{n:>5}{row['regions']:>9}{row['contacts']:>10}{row['largest_margin_set']:>8}{row['seconds']:>9.2f}"
                f"{row['proof_seconds']:>11.2f}{row['area_error']:>10.1e}{row['worst_proved']:>10.1e}",
                flush=True,
            )
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    return 0 if all(row["area_error"] <= 1e-9 and row["worst_proved"] <= 1e-8 for row in rows) else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
