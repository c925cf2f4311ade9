"""Every sample scored by the optimum of all others, against one fit of LIBSVM, and against optima in fractions.

Run ``python tests/benchmarks/deletion.py`` (ten minutes; ``--smoke`` for the smallest sizes; ``--part point``, ``line``
or ``exact`` for one of the three tables). Each row of the first times, on one thread and taking turns, in seconds of
the processor:

- fit: ``SVC(C=1, tol=1e-3)``, one classifier of all samples.
- all: ``leave_one_out`` at ``C_plus = C_minus = 1``, kernel matrix, solution of all, one line for each sample with a
  multiplier, and a certificate for each end.
- refits: one ``SVC(C=1, tol=1e-3)`` for each sample that has a multiplier, estimated from some of them.

The data are those of `paths.py`: two Gaussians in 10 dimensions with covariance I and means 2 apart. ``off`` is the
largest difference of a score from a refit with tolerance 1e-9, of ten samples.

The second table is of the asymmetry line from (0.1, 1.9) to (1.9, 0.1), in units of one fit: the path of all samples;
``path.leave_one_out()``, every stretch on which a sample has a multiplier traced without it and proved; the error curve
and the area under the ROC curve over t that are read off.

The third counts what differs from optima in fractions: of 200 instances of whole numbers with copies of samples, of
either label, and ties (n up to 60), scores along a line without each of some samples, and the change of all scores if
one of these is removed, doubled, or has the other label.
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
from paretoclf.path.deletion.weighing import influence
from paretoclf.problem.costs import per_sample
from paretoclf.roc.area_curve import AreaCurve
from paretoclf.roc.error_curve import ErrorCurve

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.paths import CACHE, KERNELS
from tests.oracles.exact import integer_kernel
from tests.path.deletion.test_one_out import exact_optimum, exact_without

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


def line_row(n: int, kernel: str, repeats: int) -> str:
    """One line of the table of a whole line."""
    mean = np.zeros(10)
    mean[0] = 1.0
    data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
    ours, theirs = KERNELS[kernel]
    svm = pc.TwoCSVM(data.X, data.y, ours)

    def whole() -> Any:
        return pc.trace(svm, (0.1, 1.9), (1.9, 0.1), progress=False)

    path = whole()
    out = path.leave_one_out(progress=False)
    fit, traced, left, curve, area = turns(
        lambda: SVC(C=1.0, cache_size=CACHE, **theirs).fit(data.X, data.y),
        whole,
        lambda: path.leave_one_out(progress=False),
        lambda: ErrorCurve.of_scores(out.scores, list(data.y[:, None]), path.line),
        lambda: AreaCurve.of_scores(out.scores, data.y),
        repeats=repeats,
    )
    segments = sum(len(each.proof) for each in out.stretches)
    ratios = " ".join(f"{each / fit:8.1f}" for each in (traced, left, curve, area))
    return f"{n:5d} {kernel:6s} {len(out.stretches):9d} {segments:8d} {fit:8.4f} {ratios}  {out.passes()}"


def instance(seed: int) -> tuple[Any, Any, Any, Any]:
    """Samples of whole numbers, labels, a kernel of degree 1 or 2, and its values; one in 20 is large."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 61) if seed % 20 == 0 else rng.integers(4, 21)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    for _ in range(n // 4):
        X[rng.integers(n)] = X[rng.integers(n)]
    y = np.where(rng.permutation(n) < max(2, int(rng.integers(1, n - 1))), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    degree = 1 + seed % 2
    return X, y, None if degree == 1 else pc.Polynomial(degree), integer_kernel(X, degree)


def wrong(seed: int, some: int = 2) -> tuple[int, int]:
    """How many numbers of one instance were compared with fractions, and how many differ by more than 1e-8."""
    X, y, kernel, K = instance(seed)
    rng, svm = np.random.default_rng(seed), pc.TwoCSVM(X, y, kernel)
    path = pc.trace(svm, (0.25, 1.75), (1.75, 0.25), progress=False)
    out, checks = path.leave_one_out(progress=False), list[bool]()
    which = rng.choice(y.size, min(some, y.size), replace=False)
    for t in (0.171, 0.683):
        found = out(t)
        for i in which.tolist():
            slope, low, high = exact_without(K, y, path.caps(t), i)
            unit = 1e-8 * (1.0 + abs(float(slope)))
            checks.append(float(slope + low) - unit <= found[i] <= float(slope + high) + unit)
    costs = path.costs(0.437)
    before = exact_optimum(K, y, per_sample(costs, y))
    for how in ({"factor": 0.0}, {"factor": 2.0}, {"relabelled": True}):
        found = influence(svm, costs, samples=which, **how)
        for j, i in enumerate(which.tolist()):
            other = np.where(np.arange(y.size) == i, -y, y) if "relabelled" in how else y
            caps = per_sample(costs, other)
            caps[i] *= how.get("factor", 1.0)
            after = exact_optimum(K, other, caps)
            change = np.array([float(x) for x in after[0] - before[0]])
            unit = 1e-8 * (1.0 + np.abs(change).max())
            checks += (np.abs(found.scores[:, j] - found.b[j] - change) <= unit).tolist()
            if before[1] == before[2] and after[1] == after[2]:
                checks.append(bool(abs(found.b[j] - float(after[1] - before[1])) <= unit))
        checks.append(found.proof.passes())
    return len(checks), checks.count(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="only the smallest sizes")
    parser.add_argument("--part", choices=("point", "line", "exact"), help="one of the three tables")
    given = parser.parse_args()
    repeats = 1 if given.smoke else 5
    with threadpool_limits(1):
        if given.part in (None, "point"):
            print("one thread; seconds of the processor")
            print("    n kernel traced      fit      all  all/fit  refits/fit    off  proved")
            for n, kernel in SIZES[:2] if given.smoke else SIZES:
                print(row(n, kernel, repeats), flush=True)
        if given.part in (None, "line"):
            print("along a line; in units of one fit but for the fit itself")
            print("    n kernel stretches segments      fit     path leave 1    curve     area  proved")
            for kernel in KERNELS:
                print(line_row(40 if given.smoke else 200, kernel, repeats), flush=True)
        if given.part in (None, "exact"):
            found = np.array([wrong(seed) for seed in range(4 if given.smoke else 200)])
            print(f"{len(found)} instances, {found[:, 0].sum()} numbers against fractions: {found[:, 1].sum()} wrong")


if __name__ == "__main__":
    main()
