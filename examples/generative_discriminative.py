"""Generative against discriminative: held-out areas of the Gaussian trade-off curve and of the SVM's cost path.

Kim et al. (2006), section 8, leave this comparison open. Run it with ``python examples/generative_discriminative.py``:
built-in data (wdbc, twonorm, ringnorm), few splits, seconds. With ``--data FOLDER`` (or the environment variable
PARETOCLF_DATA) that holds ionosphere.csv, sonar.csv and pima.csv, these as well. ``--splits 50 --jobs 2`` gives the
table of the documentation; ``--kernel`` the one with Gaussian kernels.

Both families see the same splits, 70 % for training, standardised by it. Each has one setting that is chosen anew on
every training part, by the mean area over 3 splits of that part: the covariances' shrinkage or ridge, and the sum
of the costs C_plus + C_minus. twonorm and ringnorm are 400 samples of their generators. Kernels have the median
distance of the training samples as bandwidth.

Two areas: that of the family's own classifiers, in order (for the SVM: varying the asymmetry); and that of the upper
envelope of all thresholds of all slopes, which is chosen on the labels that judge it: optimistic, and more so for the
SVM, which has more slopes (``nested=True`` chooses on validation folds, and trains five times more). p is that of the
corrected resampled t-test; the signed-rank test, in brackets, takes splits for independent.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

import paretoclf as pc

sys.path.append(str(Path(__file__).resolve().parents[1]))  # behind the installed package, which has its core
from examples.papers.comparisons import paired_areas

BUILT_IN = ("wdbc", "twonorm", "ringnorm")
IN_FOLDER = ("ionosphere", "sonar", "pima")


@dataclass(frozen=True)
class Generative:
    """The Gaussian trade-off curve."""

    options: dict[str, Any]
    kernel: bool = False

    def __call__(self, X: Any, y: Any) -> Any:
        """Return 100 classifiers of the curve."""
        kernel = pc.RBF.median(X) if self.kernel else None
        return pc.gaussian_tradeoff(X, y, kernel=kernel, **self.options).curve(100)


@dataclass(frozen=True)
class Discriminative:
    """The cost path of the SVM along C_plus + C_minus = total, from asymmetry 0.01 to 0.99."""

    total: float
    kernel: bool = False

    def __call__(self, X: Any, y: Any) -> Any:
        """Return the exact path."""
        svm = pc.TwoCSVM(X, y, pc.RBF.median(X) if self.kernel else None)
        near, far = 0.01 * self.total, 0.99 * self.total
        return pc.trace(svm, start=(near, far), stop=(far, near), progress=False)


@dataclass(frozen=True)
class Chosen:
    """The candidate with the largest mean area over 3 splits of the training part."""

    candidates: Sequence[Callable[[Any, Any], Any]]

    def __call__(self, X: Any, y: Any) -> Any:
        """Choose, then fit to the whole training part."""
        areas = [pc.empirical_tradeoff(X, y, each, splits=3, progress=False).areas.mean() for each in self.candidates]
        return self.candidates[int(np.argmax(areas))](X, y)


def contestants(kernel: bool) -> tuple[Chosen, Chosen]:
    """Return the two families with their settings."""
    if kernel:
        ours: list[dict[str, Any]] = [{"reg": reg} for reg in (1e-3, 1e-2, 1e-1)]
    else:
        ours = [{"shrinkage": "ledoit-wolf"}, *({"reg": reg} for reg in (0.01, 0.1, 1.0))]
    totals = (0.2, 2.0, 20.0) if kernel else (0.02, 0.2, 2.0, 20.0)
    return (
        Chosen([Generative(options, kernel) for options in ours]),
        Chosen([Discriminative(total, kernel) for total in totals]),
    )


def line(name: str, data_dir: str | None, splits: int, kernel: bool, n_jobs: int | None) -> str:
    """One row of the table."""
    data = pc.datasets.load(name, data_dir=data_dir)
    X = data.X[:, data.X.std(axis=0) > 0]
    ours, theirs = (
        pc.empirical_tradeoff(X, data.y, family, splits=splits, transformer=StandardScaler(), both=True, n_jobs=n_jobs)
        for family in contestants(kernel)
    )
    cells = [f"{name:<11}{len(X):>5}{X.shape[1]:>4}"]
    for both in (False, True):
        means = [float(np.mean(each.hull_areas if both else each.areas)) for each in (ours, theirs)]
        pair = paired_areas(ours, theirs, both=both)
        cells.append(
            f"{means[0]:>9.4f}{means[1]:>8.4f}{pair.mean:>+9.4f}{pair.wins:>5}/{pair.losses:<4}"
            f"{pair.p_corrected:>7.3f} ({pair.p_wilcoxon:.0e})"
        )
    return " |".join(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder with ionosphere, sonar, pima")
    parser.add_argument("--splits", type=int, default=3, help="splits (default 3)")
    parser.add_argument("--kernel", action="store_true", help="Gaussian kernels in place of linear classifiers")
    parser.add_argument("--jobs", type=int, help="processes")
    args = parser.parse_args()
    kind = "Gaussian kernel" if args.kernel else "linear"
    print(f"{kind}, {args.splits} splits; gen: Gaussian trade-off curve, svm: 2C-SVM path; difference gen - svm")
    half = f"{'gen':>9}{'svm':>8}{'diff':>9}{'wins':>8}{'p':>11}{'':<9}"
    print(f"{'':<20} | {'the family itself':<52} | upper envelope of all thresholds of all slopes (optimistic)")
    print(f"{'data':<11}{'n':>5}{'d':>4} |{half}|{half}".rstrip())
    for name in (*BUILT_IN, *(IN_FOLDER if args.data else ())):
        print(line(name, args.data, args.splits, args.kernel, args.jobs), flush=True)


if __name__ == "__main__":
    main()
