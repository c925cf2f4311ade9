"""A 50 x 50 grid of the 2nu-SVM from 50 exact lines, against LIBSVM at every point; and the path in nu.

Run ``python tests/benchmarks/nu.py`` (a minute; ``--smoke`` for less). Side by side and on one thread, on two Gaussians
in ten dimensions (means 2 apart) with an RBF kernel of three bandwidths, its Gram computed beforehand for both:

- grid: ``nu_grid(svm, k / 50, k / 50)``, k = 1, ..., 50, the certificate of every point included; the median of five;
- NuSVC: scikit-learn's on the precomputed Gram, tolerance 1e-3, weights of the samples as the 2nu-SVM has them, at
  each of the 2500 points, a fifth of them after each grid; and by how much its value misses the certified one,
  relatively, at the median point;
- at 1e-8: the same with that tolerance;
- path: ``trace(svm, nu=(0, None), asymmetry=0.5)`` without certificates, in NuSVC fits.

Where PARETOCLF_DATA names a folder of data sets, six of them follow, standardised, at the median bandwidth: all their
samples, or 500 drawn with numpy default_rng(0).

Required: on 500 samples of the Gaussians the grid takes at most a twentieth of the time of NuSVC at the median
bandwidth, and a tenth at twice it, and every point passes. A row that misses it ends with "MISSED", and the exit status
is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.svm import NuSVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

REQUIRED, POINTS, TURNS = {1.0: 20.0, 2.0: 10.0}, 50, 5  # by share of the median bandwidth
DATA = ("pima", "spambase", "ionosphere", "wdbc", "ringnorm", "twonorm")


def libsvm(svm: pc.TwoNuSVM, nu: float, asymmetry: float, tol: float = 1e-3) -> NuSVC:
    """One fit; nu is a little lower, as LIBSVM calls the largest feasible one infeasible."""
    weight = np.where(svm.y > 0, asymmetry, 1 - asymmetry) / svm.n
    share = nu / weight.sum() * (1 - 1e-9)
    model = NuSVC(nu=share, kernel="precomputed", tol=tol, cache_size=1000)
    return model.fit(svm.gram.matrix, svm.y, sample_weight=weight)


def value(svm: pc.TwoNuSVM, model: NuSVC, nu: float) -> float:
    """Its optimal value in our scale."""
    alpha = np.zeros(svm.n)
    alpha[model.support_] = model.dual_coef_[0]
    alpha *= nu / np.abs(alpha).sum()
    return float(-0.5 * alpha @ svm.gram.matrix @ alpha)


def libsvm_at(svm: pc.TwoNuSVM, grid: pc.results.NuGrid, points: range, tol: float) -> tuple[float, list[float]]:
    """Seconds of fits at some points of the grid, and by how much each value misses the certified one."""
    seconds, misses = 0.0, []
    for k in points:
        i, j = np.unravel_index(k, grid.rho.shape)
        nu, asymmetry = svm.to_asymmetry(float(grid.nu_plus[i]), float(grid.nu_minus[j]))
        began = time.perf_counter()
        model = libsvm(svm, nu, asymmetry, tol)
        seconds += time.perf_counter() - began
        mine = grid.value[i, j]
        misses.append((mine - value(svm, model, nu)) / abs(mine))
    return seconds, misses


def problems(smoke: bool) -> Iterator[tuple[str, Any, Any, float]]:
    """Names, samples, labels, and shares of the median bandwidth."""
    mean = np.full(10, 1 / np.sqrt(10))
    for n in (40,) if smoke else (200, 500):
        data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
        for share in (1.0,) if smoke else (1.0, 0.5, 2.0):
            yield "gaussians", data.X, data.y, share
    if smoke or not os.environ.get("PARETOCLF_DATA"):
        return
    for name in DATA:
        real = pc.datasets.load(name)
        some = np.sort(np.random.default_rng(0).permutation(real.n)[:500])
        X, y = real.X[some], real.y[some]
        spread = X.std(axis=0)
        yield name, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y, 1.0


def row(name: str, X: Any, y: Any, share: float, points: int) -> dict[str, Any]:
    """One data set and bandwidth (a share of the median one)."""
    svm = pc.TwoNuSVM(X, y, pc.RBF(share * pc.RBF.median(X).bandwidth))
    svm.gram.matrix  # noqa: B018  # computed once, for both
    values = np.arange(1, points + 1) / points
    spent, nusvc, misses = [], 0.0, []
    for turn in range(TURNS):  # grid and fits take turns: the speed of a machine changes
        grid = pc.nu_grid(svm, values, values, progress=False)
        spent.append(grid.seconds)
        seconds, some = libsvm_at(svm, grid, range(turn, points**2, TURNS), 1e-3)
        nusvc, misses = nusvc + seconds, misses + some
    taken, fit = float(np.median(spent)), nusvc / points**2
    solved, solved_misses = libsvm_at(svm, grid, range(points**2), 1e-8)
    path = min((pc.trace(svm, nu=(0, None), asymmetry=0.5, certify=False) for _ in range(3)), key=lambda p: p.seconds)
    return {
        "data": name,
        "n": svm.n,
        "bandwidth": share,
        "grid": taken,
        "nusvc": nusvc,
        "ratio": nusvc / taken,
        "exchanges": grid.exchanges,
        "gap": float(np.abs(grid.gap).max()),
        "residual": float(grid.residual.max()),
        "misses": float(np.nanmedian(misses)),
        "solved": solved,
        "solved_ratio": solved / taken,
        "solved_misses": float(np.nanmedian(solved_misses)),
        "path": path.seconds / fit,
        "breakpoints": path.breakpoints.size,
        "missed": (name, svm.n) == ("gaussians", 500)
        and not (grid.proof.passes() and nusvc >= REQUIRED.get(share, 0.0) * taken),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/nu.py --json"
    )
    parser.add_argument("--smoke", action="store_true", help="40 samples, a 6 x 6 grid: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args()
    rows = []
    if not args.json:
        print(
            "one thread; seconds\n"
            f"{'data':<10} {'n':>5} {'bandwidth':>10} {'grid':>8} {'exchanges':>10} {'gap':>8} {'residual':>9} "
            f"{'NuSVC':>8} {'ratio':>6} {'misses':>8} {'at 1e-8':>8} {'ratio':>6} {'misses':>8} {'path/fit':>9}"
        )
    with threadpool_limits(1):
        for problem in problems(args.smoke):
            r = row(*problem, 6 if args.smoke else POINTS)
            rows.append(r)
            if not args.json:
                print(
                    f"{r['data']:<10} {r['n']:>5} {r['bandwidth']:>10g} {r['grid']:>8.3f} {r['exchanges']:>10} "
                    f"{r['gap']:>8.0e} {r['residual']:>9.0e} {r['nusvc']:>8.2f} {r['ratio']:>6.1f} {r['misses']:>8.0e} "
                    f"{r['solved']:>8.2f} {r['solved_ratio']:>6.1f} {r['solved_misses']:>8.0e} {r['path']:>9.1f}"
                    + ("  MISSED" if r["missed"] else ""),
                    flush=True,
                )
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    return int(any(r["missed"] for r in rows) and not args.smoke)


if __name__ == "__main__":
    sys.exit(main())
