"""The five asymmetry lines of an exploration (Bach et al. 2006, section 3.2): out of one ray, each by itself, refitted.

wdbc, standardised. The ray is traced once; the lines of 1, 10, 1/10, 100 and 1/100 times a total set out from it
(``hub=``), or each finds its own way. Refitting is one LIBSVM fit at every breakpoint of the lines, timed on some of
them. Nothing is certified; one thread, processor time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import paretoclf as pc

MULTIPLES = (1.0, 10.0, 0.1, 100.0, 0.01)
KERNELS = {"linear": (None, {"kernel": "linear"}), "RBF": (pc.RBF(5.0), {"kernel": "rbf", "gamma": 1 / 50})}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def measure(kernel: str, n: int, fits: int) -> dict[str, Any]:
    """One row of the table."""
    data = pc.datasets.load("wdbc")
    X, y = StandardScaler().fit_transform(data.X[:n]), data.y[:n]
    rule, svc = KERNELS[kernel]
    svm = pc.TwoCSVM(X, y, kernel=rule)
    top = 100.0 * svm.gram.n / svm.n_plus, 100.0 * svm.gram.n / svm.n_minus
    ray_seconds, ray = timed(lambda: pc.trace(svm, (0.0, 0.0), top, certify=False, progress=False))
    ends = [((0.02 * r, 0.98 * r), (0.98 * r, 0.02 * r)) for r in MULTIPLES]

    def lines(hub: Any) -> list[Any]:
        return [pc.trace(svm, *line, hub=hub, certify=False, progress=False) for line in ends]

    hub, paths = timed(lambda: lines(ray))
    alone, _ = timed(lambda: lines(None))
    places = [path.costs(float(t)) for path in paths for t in path.breakpoints]
    some = [places[i] for i in np.linspace(0, len(places) - 1, fits).astype(int)]
    weights = [{1: costs.C_plus, -1: costs.C_minus} for costs in some]
    fit, _ = timed(lambda: [SVC(C=1, tol=1e-3, class_weight=weight, **svc).fit(X, y) for weight in weights])
    return {
        "kernel": kernel,
        "n": n,
        "breakpoints": len(places),
        "ray": ray_seconds,
        "hub": hub,
        "alone": alone,
        "refitted": fit / fits * len(places),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/lines.py"
    )
    parser.add_argument("--smoke", action="store_true", help="60 samples: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args(argv)
    rows = [measure(kernel, 60 if args.smoke else 569, 5 if args.smoke else 60) for kernel in KERNELS]
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
        return 0
    print(f"{'kernel':>8}{'n':>6}{'breakpoints':>13}{'ray s':>9}{'hub=ray s':>11}{'alone s':>9}{'refitted s':>12}")
    for row in rows:
        print(
            f"{row['kernel']:>8}{row['n']:>6}{row['breakpoints']:>13}{row['ray']:>9.3f}{row['hub']:>11.3f}"
            f"{row['alone']:>9.3f}{row['refitted']:>12.1f}"
        )
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
