"""The quantile path against single fits: Table 2 of Yu et al., as ratios.

Run ``python tests/benchmarks/quantile.py`` (a minute; ``--smoke`` for less). Side by side and on one thread, averaged
over tau = 0.1, ..., 0.9 where they are for one tau (medians of three runs each):

- path: ``trace(QuantileSVM(X, y, bias=True), tau=(0, 1), lam=lam)``, certificates excluded;
- proved: the same with the proof of the whole path, every tau of it;
- recover: multipliers, w and b at one tau, from the path;
- LIBLINEAR: scikit-learn's LinearSVC, tolerance 1e-3, at most 1000 rounds, as the paper calls it;
- L-BFGS-B: scipy's, on the dual with usual tolerances, as in the paper.

The last two columns are by how much these two miss the optimal value, relatively, at the worst tau. The data are two
Gaussians of the shape of pima (668 x 8, means 1.5 apart), wdbc, and, where PARETOCLF_DATA names a folder that has
them, pima, spambase and splice, split and scaled as `examples/papers/yu_quantile.py` says, which also has the code
that is timed here. Required on pima: the path with its proof takes at most 40 LIBLINEAR fits and, without it, 3
L-BFGS-B fits; on all three, recovering a solution takes at most a tenth of a LIBLINEAR fit. A row that misses what is
required ends with "MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.papers.yu_quantile import HEADER, PAPER, line, split, table_2_row
from paretoclf.datasets import make_gaussians


def cases(smoke: bool) -> list[tuple[str, Any, Any, float]]:
    """Name, training samples, labels and lam."""
    mean = np.full(8, 0.75 / np.sqrt(8))
    data = make_gaussians(60 if smoke else 668, rng=0, mean_plus=mean, mean_minus=-mean)
    found: list[tuple[str, Any, Any, float]] = [("gaussians", data.X, data.y, 1e-3)]
    if smoke:
        return found
    folder = os.environ.get("PARETOCLF_DATA")
    for name in ("wdbc", *(PAPER if folder else ())):
        cut = split(name, folder)
        found.append((name, cut.X[0], cut.y[0], cut.lam))
    return found


def missed(name: str, row: dict[str, float]) -> bool:
    """Whether a row misses what is required of it."""
    slow = name == "pima" and (row["proved"] > 40 * row["liblinear"] or row["path"] > 3 * row["lbfgsb"])
    return slow or (name in PAPER and row["recover"] > 0.1 * row["liblinear"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/quantile.py --json"
    )
    parser.add_argument("--smoke", action="store_true", help="60 generated samples: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args()
    rows = []
    if not args.json:
        print(f"one thread; seconds\n{HEADER}")
    for name, X, y, lam in cases(args.smoke):
        row = table_2_row(X, y, lam)
        rows.append({"data": name, "n": X.shape[0], "d": X.shape[1], "lam": lam, "missed": missed(name, row), **row})
        if not args.json:
            print(line(name, **row) + ("  MISSED" if rows[-1]["missed"] else ""), flush=True)
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    elif not args.smoke and not os.environ.get("PARETOCLF_DATA"):
        print("PARETOCLF_DATA is not set: without pima, spambase and splice.")
    return int(any(row["missed"] for row in rows) and not args.smoke)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
