"""Random cone programs by the ten thousands, solver points that are off by up to their size: no bound may be wrong.

The optimal value of each is known by construction (`tests/oracles/cone_programs.py`), without a solver. The safe lower
bound may not be above it, nor the upper one below, whatever the points are; and where the points are good, the bounds
should be close.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.oracles.cone_programs import trial

GOOD = 1e-10  # relative error of points that a good solver returns
CLOSE = 1e-7  # relative distance of the bounds that is asked for then


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python tests/benchmarks/cones.py --count 2500 --first 5000",
    )
    parser.add_argument("--count", type=int, default=10_000, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one; pieces of a long run add up")
    parser.add_argument("--smoke", action="store_true", help="100 programs: seconds")
    args = parser.parse_args()
    seeds = range(args.first, args.first + (100 if args.smoke else args.count))
    wrong, lower, upper, good, both, close = [], 0, 0, 0, 0, 0
    began = time.process_time()
    for seed in seeds:
        found, value, rounding, off = trial(seed)
        if found.lower > value + rounding or found.upper < value - rounding:
            wrong.append(seed)
        lower += np.isfinite(found.lower)
        upper += np.isfinite(found.upper)
        if off < GOOD:
            good += 1
            gap = found.upper - found.lower
            both += np.isfinite(gap)
            close += gap <= CLOSE * (1 + abs(value))
    print(f"seeds {seeds.start} to {seeds.stop - 1}, {time.process_time() - began:.0f} s of CPU")
    print(f"{len(seeds)} programs, {lower} with a lower bound, {upper} with an upper one")
    print(f"{good} from points good to {GOOD:g}, {both} of them with both bounds, in {close} within {CLOSE:g}")
    print(f"{len(wrong)} wrong{': seeds ' + ', '.join(map(str, wrong[:5])) if wrong else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
