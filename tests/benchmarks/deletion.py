"""Every sample scored by the optimum of all others, against one fit of LIBSVM: `paretoclf.leave_one_out` with proofs.

Run ``python tests/benchmarks/deletion.py`` (a minute; ``--smoke`` for the smallest size). Each row times, on one thread
and taking turns, in seconds of the processor:

- fit: ``SVC(C=1, tol=1e-3)``, one classifier of all samples.
- all: ``leave_one_out`` at ``C_plus = C_minus = 1``, kernel matrix, solution of all, one line for each sample with a
  multiplier, and a certificate for each end.
- refits: one ``SVC(C=1, tol=1e-3)`` for each sample that has a multiplier, estimated from some of them.

The data are those of `paths.py`: two Gaussians in 10 dimensions with covariance I and means 2 apart. ``off`` is the
largest difference of a score from a refit with tolerance 1e-9, of ten samples.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.paths import CACHE, KERNELS

SIZES = ((200, "linear"), (200, "rbf"), (500, "linear"), (500, "rbf"), (2000, "linear"), (2000, "rbf"))


def turns(*tasks: Callable[[], Any], repeats: int) -> list[float]:
    """Median processor time of each task; they take turns."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(repeats):
        for task, mine in zip(tasks, times, strict=True):
            began = time.process_time()
            task()
            mine.append(time.process_time() - began)
    return [statistics.median(mine) for mine in times]


def off(svm: pc.TwoCSVM, out: Any, samples: Any) -> float:
    """Largest difference of scores from refits in high accuracy."""
    K, worst = svm.gram.matrix, 0.0
    for i in samples:
        rest = np.arange(svm.y.size) != i
        model = SVC(kernel="precomputed", C=1.0, tol=1e-9, cache_size=CACHE).fit(K[np.ix_(rest, rest)], svm.y[rest])
        worst = max(worst, abs(float(model.decision_function(K[[i]][:, rest])[0]) - float(out.scores[i])))
    return worst


def row(n: int, kernel: str, repeats: int) -> str:
    """One line of the table."""
    mean = np.zeros(10)
    mean[0] = 1.0
    data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
    X, y = data.X, data.y
    ours, theirs = KERNELS[kernel]

    def fit() -> Any:
        return SVC(C=1.0, cache_size=CACHE, **theirs).fit(X, y)

    def everything() -> Any:
        return pc.leave_one_out(pc.TwoCSVM(X, y, ours), (1.0, 1.0))

    out = everything()
    some = out.moved[:: max(1, out.moved.size // 10)][:10]
    one, all_of_them = turns(fit, everything, repeats=repeats)
    rest = [np.arange(n) != i for i in some]
    (refits,) = turns(lambda: [SVC(C=1.0, cache_size=CACHE, **theirs).fit(X[r], y[r]) for r in rest], repeats=1)
    svm = pc.TwoCSVM(X, y, ours)
    return (
        f"{n:5d} {kernel:6s} {out.moved.size:6d} {one:8.4f} {all_of_them:8.4f} {all_of_them / one:8.1f} "
        f"{refits / some.size * out.moved.size / one:8.0f} {off(svm, out, some):9.0e}  {out.proof.passes()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="only the smallest size")
    given = parser.parse_args()
    with threadpool_limits(1):
        print("one thread; seconds of the processor")
        print("    n kernel traced      fit      all  all/fit  refits/fit    off  proved")
        for n, kernel in SIZES[:2] if given.smoke else SIZES:
            print(row(n, kernel, 1 if given.smoke else 5), flush=True)


if __name__ == "__main__":
    main()
