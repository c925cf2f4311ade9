"""Maps of programs in two parameters: whether any is wrong, how many regions, and how long.

First random programs, each mapped on a square and proved: 50 quadratic and 50 linear ones of 8 variables and 14 rows,
50 linear ones in small whole numbers, and 50 small ones with copies of rows and columns, rows of zeros, a singular P or
none, and parts without an optimum. Of each map the areas must add up, no random point may lie in no region or in two,
and values must be Clarabel's. Then larger ones, timed; one thread, and the proof apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from tests.oracles import planar_programs as planar

FAMILIES = {
    "quadratic": lambda seed: planar.ordinary(seed, 8, 14),
    "linear": lambda seed: planar.ordinary(seed, 8, 14, True),
    "whole numbers": lambda seed: planar.degenerate_linear(seed, 8, 14),
    "degenerate": planar.degenerate,
}
SIZES = {
    "QP 20 x 40": lambda: planar.ordinary(0, 20, 40),
    "LP 20 x 40": lambda: planar.ordinary(0, 20, 40, True),
    "degenerate LP 20 x 40": lambda: planar.degenerate_linear(0, 20, 40),
    "QP 40 x 80": lambda: planar.ordinary(0, 40, 80),
    "degenerate LP 40 x 80": lambda: planar.degenerate_linear(0, 40, 80),
}


def judge(family: str, seeds: int, points: int) -> dict[str, Any]:
    """One row of the first table."""
    row: dict[str, Any] = {"maps": 0, "none": 0, "refused": 0, "regions": 0, "area": 0.0, "value": 0.0, "wrong": 0}
    for seed in range(seeds):
        qp = FAMILIES[family](seed)
        try:
            found = pc.plane(qp, planar.SQUARE, progress=False)
        except pc.InputError:  # no optimum anywhere, or a parameter that moves nothing
            row["none"] += 1
            continue
        except pc.DegeneratePathError as error:
            row["refused"] += 1
            print(f"refused {seed}: {error}")
            continue
        places = np.random.default_rng(seed).uniform(-1, 1, (points, 2))
        worst, wrong = planar.value_errors(qp, found, places)
        row["maps"] += 1
        row["regions"] += len(found.regions)
        row["area"] = max(row["area"], abs(1.0 - planar.area_of(found) / 4.0))
        row["value"] = max(row["value"], worst)
        row["wrong"] += wrong + sum(planar.polygons_at(found, place) != 1 for place in places)
    return row


def measure(name: str) -> dict[str, Any]:
    """One row of the second table."""
    qp = SIZES[name]()
    began = time.perf_counter()
    found = pc.plane(qp, planar.SQUARE, certify=False, progress=False)
    mapped = time.perf_counter()
    proved = found.proof.passes()
    return {
        "regions": len(found.regions),
        "seconds": mapped - began,
        "proof": time.perf_counter() - mapped,
        "missed": found.proof.missed,
        "worst": found.proof.worst.off_by,
        "proved": proved,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/maps.py --seeds 10"
    )
    parser.add_argument("--seeds", type=int, default=50, help="programs of each kind; default: 50")
    parser.add_argument("--points", type=int, default=500, help="random points of each; default: 500")
    parser.add_argument("--smoke", action="store_true", help="2 programs of each kind, and the smallest of the sizes")
    args = parser.parse_args(argv)
    seeds, points = (2, 10) if args.smoke else (args.seeds, args.points)
    fine = True
    columns = ("maps", "none", "refused", "regions", "area", "value", "wrong")
    print(f"{'programs':<15}" + "".join(f"{name:>10}" for name in columns))
    for family in FAMILIES:
        row = judge(family, seeds, points)
        fine = fine and not row["refused"] and not row["wrong"] and row["area"] <= 1e-9 and row["value"] <= 1e-9
        numbers = "".join(
            f"{row[name]:>10.1e}" if name in ("area", "value") else f"{row[name]:>10}" for name in columns
        )
        print(f"{family:<15}{numbers}", flush=True)
    print(f"\n{'size':<23}{'regions':>9}{'seconds':>9}{'proof s':>9}{'area':>10}{'worst':>10}")
    for name in list(SIZES)[: 1 if args.smoke else None]:
        row = measure(name)
        fine = fine and row["proved"]
        print(
            f"{name:<23}{row['regions']:>9}{row['seconds']:>9.2f}{row['proof']:>9.2f}{row['missed']:>10.1e}"
            f"{row['worst']:>10.1e}",
            flush=True,
        )
    return 0 if fine else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        raise SystemExit(main())
