"""A 50 x 50 grid of the 2nu-SVM from 50 exact lines, against LIBSVM at every point; and the path in nu.

Run ``python tests/benchmarks/nu.py`` (a minute; ``--smoke`` for less). Side by side and on one thread, on two Gaussians
in ten dimensions (means 2 apart) with an RBF kernel of three bandwidths, its Gram computed beforehand for both:

- grid: ``nu_grid(svm, k / 50, k / 50)``, k = 1, ..., 50, the certificate of every point included;
- NuSVC: scikit-learn's on the precomputed Gram, tolerance 1e-3, weights of the samples as the 2nu-SVM has them, at
  each of the 2500 points;
- misses: by how much NuSVC's value misses the certified one, relatively, at the median and at the worst point;
- path: ``trace(svm, nu=(0, None), asymmetry=0.5)`` without certificates, in NuSVC fits.

Required: at the median bandwidth the grid takes at most a tenth of the time of NuSVC, and every point passes. A row
that misses it ends with "MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
from sklearn.svm import NuSVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

REQUIRED, POINTS = 10.0, 50


def libsvm(svm: pc.TwoNuSVM, nu: float, asymmetry: float) -> NuSVC:
    """One fit; nu is a little lower, as LIBSVM calls the largest feasible one infeasible."""
    weight = np.where(svm.y > 0, asymmetry, 1 - asymmetry) / svm.n
    share = nu / weight.sum() * (1 - 1e-9)
    return NuSVC(nu=share, kernel="precomputed", cache_size=1000).fit(svm.gram.matrix, svm.y, sample_weight=weight)


def value(svm: pc.TwoNuSVM, model: NuSVC, nu: float) -> float:
    """Its optimal value in our scale."""
    alpha = np.zeros(svm.n)
    alpha[model.support_] = model.dual_coef_[0]
    alpha *= nu / np.abs(alpha).sum()
    return float(-0.5 * alpha @ svm.gram.matrix @ alpha)


def row(n: int, share: float, points: int) -> dict[str, Any]:
    """One data set and bandwidth (a share of the median one)."""
    mean = np.full(10, 1 / np.sqrt(10))
    data = make_gaussians(n, rng=0, mean_plus=mean, mean_minus=-mean)
    svm = pc.TwoNuSVM(data.X, data.y, pc.RBF(share * pc.RBF.median(data.X).bandwidth))
    svm.gram.matrix  # noqa: B018  # computed once, for both
    values = np.arange(1, points + 1) / points
    grid = min((pc.nu_grid(svm, values, values, progress=False) for _ in range(3)), key=lambda g: g.seconds)
    began, fits, misses = time.perf_counter(), [], []
    for k in range(points**2):
        pair = svm.to_asymmetry(values[k // points], values[k % points])
        fits.append((k, pair[0], libsvm(svm, *pair)))
    fit = (time.perf_counter() - began) / len(fits)
    for k, nu, model in fits:
        mine = grid.value[k // points, k % points]
        misses.append((mine - value(svm, model, nu)) / abs(mine))
    path = min((pc.trace(svm, nu=(0, None), asymmetry=0.5, certify=False) for _ in range(3)), key=lambda p: p.seconds)
    return {
        "n": n,
        "bandwidth": share,
        "grid": grid.seconds,
        "nusvc": fit * points**2,
        "ratio": fit * points**2 / grid.seconds,
        "exchanges": grid.exchanges,
        "gap": float(np.abs(grid.gap).max()),
        "residual": float(grid.residual.max()),
        "misses": float(np.median(misses)),
        "worst_miss": float(np.max(misses)),
        "path": path.seconds / fit,
        "breakpoints": path.breakpoints.size,
        "missed": points == POINTS and share == 1.0 and fit * points**2 < REQUIRED * grid.seconds,
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
            f"{'n':>5} {'bandwidth':>10} {'grid':>8} {'NuSVC':>8} {'ratio':>6} {'exchanges':>10} {'gap':>8} "
            f"{'residual':>9} {'misses':>8} {'worst':>8} {'path/fit':>9} {'breakpoints':>12}"
        )
    sizes = [(40, 6)] if args.smoke else [(200, POINTS), (500, POINTS)]
    with threadpool_limits(1):
        for n, points in sizes:
            for share in (1.0,) if args.smoke else (1.0, 0.5, 2.0):
                r = row(n, share, points)
                rows.append(r)
                if not args.json:
                    print(
                        f"{n:>5} {share:>10g} {r['grid']:>8.3f} {r['nusvc']:>8.2f} {r['ratio']:>6.1f} "
                        f"{r['exchanges']:>10} {r['gap']:>8.0e} {r['residual']:>9.0e} {r['misses']:>8.0e} "
                        f"{r['worst_miss']:>8.0e} {r['path']:>9.1f} {r['breakpoints']:>12}"
                        + ("  MISSED" if r["missed"] else ""),
                        flush=True,
                    )
    if args.json:
        json.dump({"threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    return int(any(r["missed"] for r in rows) and not args.smoke)


if __name__ == "__main__":
    sys.exit(main())
