"""Whole exact paths against LIBSVM: one fit, and the grid of fits that people use instead of a path.

Run ``python tests/benchmarks/paths.py`` (minutes; ``--sizes 200,500`` or ``--smoke`` for less). Each run times, on one
thread, path and fit taking turns for half a second at least:

- path: Gram, ray (zero costs to mean cost 10) and asymmetry line (total 2, asymmetry 0.02 to 0.98, setting out from
  the ray), certificates excluded. Every optimal classifier on both lines, to rounding accuracy.
- with proof: the same with the proof of both lines, every t of them.
- one fit: ``SVC(C=1, tol=1e-3)``, one classifier.
- grid: ``SVC(tol=1e-3)`` at 20 x 20 costs (C_plus, C_minus) in [1e-2, 1e2].

Beside it stands the *traffic* of one breakpoint: what must be read if every margin is brought up to date, which is the
factor of the margin set twice and one product with all samples, ``8 (k^2 + k n)`` bytes for a kernel matrix and
``8 (k^2 + d n)`` for features (means over the pieces), at the speed at which this machine reads a large array in the
same run. A tracker that looks at every sample at every breakpoint cannot be faster than that, unless all of it stays in
the cache.

The data are two Gaussians in 10 dimensions with covariance I and means 2 apart: Bayes error 15.9 %. The RBF kernel has
bandwidth sqrt(5) (scikit-learn's gamma = 0.1). The path's objective at C_plus = C_minus = 1 is checked against
``SVC(tol=1e-8)``.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

GAMMA = 0.1
KERNELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "linear": (None, {"kernel": "linear"}),
    "rbf": (pc.RBF(float(np.sqrt(0.5 / GAMMA))), {"kernel": "rbf", "gamma": GAMMA}),
}
SIZES = (200, 500, 1000, 2000)
CACHE = 1000  # megabytes: LIBSVM keeps the whole Gram


def seconds(*tasks: Callable[[], Any], repeats: int, least: float = 0.0) -> list[dict[str, float]]:
    """Best and median wall-clock time of each task; they take turns, for at least so many seconds."""
    times: list[list[float]] = [[] for _ in tasks]
    end = time.perf_counter() + least
    while len(times[0]) < repeats or time.perf_counter() < end:
        for task, mine in zip(tasks, times, strict=True):
            began = time.perf_counter()
            task()
            mine.append(time.perf_counter() - began)
    return [{"best": min(mine), "median": statistics.median(mine)} for mine in times]


def both_lines(X: Any, y: Any, kernel: Any, certify: bool = False) -> tuple[pc.Path, pc.Path]:
    """Ray and asymmetry line, from samples."""
    svm = pc.TwoCSVM(X, y, kernel=kernel)
    top = (5.0 * y.size / svm.n_plus, 5.0 * y.size / svm.n_minus)
    ray = pc.trace(svm, (0.0, 0.0), top, certify=certify, progress=False)
    return ray, pc.trace(svm, (0.04, 1.96), (1.96, 0.04), hub=ray, certify=certify, progress=False)


def bandwidth() -> float:
    """Bytes per second at which a large array is read, on one thread."""
    x = np.ones(2**24)
    x.sum()
    return x.nbytes / seconds(lambda: x.sum(), repeats=5)[0]["best"]


def traffic(paths: tuple[pc.Path, ...], n: int, d: int | None) -> float:
    """Bytes that must be read per breakpoint, if every margin is brought up to date; d is None for a kernel matrix."""
    k = np.concatenate([path.n_margin for path in paths]).astype(float)
    return float(8 * np.mean(k**2 + (k if d is None else d) * n))


def grid_of_fits(X: Any, y: Any, svc: dict[str, Any], size: int) -> None:
    """LIBSVM at size x size costs."""
    costs = np.geomspace(1e-2, 1e2, size)
    for C_plus in costs:
        for C_minus in costs:
            SVC(C=1.0, class_weight={1: C_plus, -1: C_minus}, tol=1e-3, cache_size=CACHE, **svc).fit(X, y)


def disagreement(X: Any, y: Any, line: pc.Path, kernel: Any, svc: dict[str, Any]) -> float:
    """Relative difference of the objectives at C_plus = C_minus = 1, the middle of the asymmetry line."""
    model = SVC(C=1.0, tol=1e-8, cache_size=CACHE, **svc).fit(X, y)
    v = np.zeros(y.size)
    v[model.support_] = model.dual_coef_[0]
    norm2 = float(v @ pc.Gram(X, kernel).matvec(v))
    theirs = 0.5 * norm2 + float(np.maximum(0.0, 1.0 - y * model.decision_function(X)).sum())
    return abs(line.value(0.5) - theirs) / theirs


def measure(n: int, name: str, grid: int, repeats: int) -> dict[str, Any]:
    """One row of the table."""
    kernel, svc = KERNELS[name]
    mean = np.full(10, 1 / np.sqrt(10))
    data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
    X, y = data.X, data.y
    ray, line = both_lines(X, y, kernel)
    difference = disagreement(X, y, line, kernel, svc)
    assert difference < 1e-6, f"n = {n}, {name}: path and LIBSVM disagree by {difference:.1e}"
    path, proved, fit = seconds(
        lambda: both_lines(X, y, kernel),
        lambda: both_lines(X, y, kernel, certify=True),
        lambda: SVC(C=1.0, tol=1e-3, cache_size=CACHE, **svc).fit(X, y),
        repeats=repeats,
        least=0.5,
    )
    (fits,) = seconds(lambda: grid_of_fits(X, y, svc, grid), repeats=1)
    count = ray.breakpoints.size + line.breakpoints.size - 4
    return {
        "n": n,
        "kernel": name,
        "microseconds": 1e6 * path["median"] / count,
        "traffic_megabytes": traffic((ray, line), n, None if kernel is not None else X.shape[1]) / 1e6,
        "breakpoints": {"ray": ray.breakpoints.size - 2, "asymmetry line": line.breakpoints.size - 2},
        "path_seconds": path,
        "fit_seconds": fit,
        "grid_seconds": fits,
        "grid_fits": grid * grid,
        "path_over_fit": path["median"] / fit["median"],
        "proved_seconds": proved,
        "proved_over_fit": proved["median"] / fit["median"],
        "grid_over_path": fits["median"] / path["median"],
        "objective_difference": difference,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/paths.py --sizes 200,500"
    )
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of samples; default: %(default)s")
    parser.add_argument("--grid", type=int, default=20, help="points of the grid per axis; default: 20")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of path and fit, at least; default: 3")
    parser.add_argument("--smoke", action="store_true", help="n = 60, 3 x 3 grid: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args()
    sizes = [60] if args.smoke else [int(size) for size in args.sizes.split(",")]
    grid, repeats = (3, 1) if args.smoke else (args.grid, args.repeats)

    small, first_paths = make_gaussians(40, rng=1), {}
    for name, (kernel, _) in KERNELS.items():  # libraries are loaded on first use
        began = time.perf_counter()
        both_lines(small.X, small.y, kernel)
        first_paths[name] = time.perf_counter() - began
    speed = bandwidth()

    header = (
        f"{'n':>5} {'kernel':<7}{'breakpoints':>13}{'path s':>10}{'one fit s':>11}"
        f"{f'{grid * grid} fits s':>12}{'path/fit':>10}{'with proof':>12}{'grid/path':>11}"
        f"{'us/breakpoint':>15}{'traffic us':>12}"
    )
    if not args.json:
        first = ", ".join(f"{name} {taken:.1f} s" for name, taken in first_paths.items())
        print(f"one thread; the very first paths (not counted): {first}; medians; reads {speed / 1e9:.1f} GB/s")
        print(header, flush=True)
    rows = []
    for n in sizes:
        for name in KERNELS:
            row = measure(n, name, grid, repeats)
            rows.append(row)
            if not args.json:
                breakpoints = "+".join(str(count) for count in row["breakpoints"].values())
                print(
                    f"{n:>5} {name:<7}{breakpoints:>13}{row['path_seconds']['median']:>10.3f}"
                    f"{row['fit_seconds']['median']:>11.4f}{row['grid_seconds']['median']:>12.2f}"
                    f"{row['path_over_fit']:>10.1f}{row['proved_over_fit']:>12.1f}{row['grid_over_path']:>11.1f}{row['microseconds']:>15.1f}"
                    f"{row['traffic_megabytes'] * 1e12 / speed:>12.1f}",
                    flush=True,
                )
    if args.json:
        versions = {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__}
        report = {
            "threads": 1,
            "first_path_seconds": first_paths,
            "read_bytes_per_second": speed,
            "versions": versions,
            "rows": rows,
        }
        json.dump(report, sys.stdout, indent=2)
        print()


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
