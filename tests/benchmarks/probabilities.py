"""Probabilities from the quantile path against calibrated scores: Brier score and log loss on held-out samples.

Run ``python tests/benchmarks/probabilities.py`` (six minutes; ``--smoke`` for seconds). PARETOCLF_DATA names the folder
of the data sets; without, wdbc and Gaussians only. Each of 20 random splits has at most 200 samples to train on,
standardised, and the others (at most 1000) to judge. All have the RBF kernel with gamma="scale", and C of five by the
Brier score of a 5-fold cross-validation inside the training part. One thread; the seconds are CPU time of one fit with
the chosen C, and of predicting.

- path: ``QuantileSVC(C)``, every quantile exactly; the probability is the length of the taus at which +1 is predicted.
- sigmoid, isotonic: ``CalibratedClassifierCV(SVC(C), method, cv=5)``, a mean of five.
- as SVC(probability=True): ``CalibratedClassifierCV(SVC(C), "sigmoid", cv=5, ensemble=False)``, what scikit-learn names
  in its place.
- constant: the share of positives in the training part.

Brier score: mean squared error of the probability of the positive class. Log loss: in nats, with probabilities moved
into [0.001, 0.999], as isotonic ones may be 0 or 1. Of the Gaussians the probability is known: "off" is the mean
distance from it. An interval is that of the corrected resampled t-test (Nadeau & Bengio 2003) at 95 % for the mean
difference to the path: where it is above 0, the path is better.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal, t
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians

GRID_C = (0.01, 0.1, 1.0, 10.0, 100.0)
TRAIN, TEST, SPLITS, SHARE = 200, 1000, 20, 1e-3
SETS: dict[str, dict[str, Any]] = {"wdbc": {}, "pima": {}, "ionosphere": {"drop": ("v2",)}, "sonar": {}, "bupa": {}}


def methods(grid: tuple[float, ...]) -> dict[str, Any]:
    """Name -> estimator that chooses its C by itself."""
    inner = StratifiedKFold(5, shuffle=True, random_state=0)

    def chosen(model: Any, name: str) -> GridSearchCV:
        return GridSearchCV(model, {name: grid}, scoring="neg_brier_score", cv=inner)

    def calibrated(method: str, ensemble: bool) -> GridSearchCV:
        model = CalibratedClassifierCV(SVC(), method=method, cv=5, ensemble=ensemble)
        return chosen(model, "estimator__C")

    return {
        "path": chosen(pc.QuantileSVC(), "C"),
        "sigmoid": calibrated("sigmoid", True),
        "isotonic": calibrated("isotonic", True),
        "as SVC(probability=True)": calibrated("sigmoid", False),
        "constant": DummyClassifier(strategy="prior"),
    }


def load(name: str, folder: str | None) -> tuple[Any, Any, Any]:
    """Samples, labels, and the probability of the positive class where it is known."""
    if name == "gaussians":
        means, covs = ([1.0, 0.5], [-1.0, -0.5]), (2.0 * np.eye(2), np.array([[1.0, 0.0], [0.0, 3.0]]))
        data = make_gaussians(1200, rng=0, mean_plus=means[0], mean_minus=means[1], cov_plus=covs[0], cov_minus=covs[1])
        plus, minus = (multivariate_normal(m, c).pdf(data.X) for m, c in zip(means, covs, strict=True))
        share = np.mean(data.y > 0)
        return data.X, data.y, share * plus / (share * plus + (1 - share) * minus)
    data = pc.datasets.load(name, data_dir=folder, **SETS[name])
    return data.X, data.y, None


def measure(name: str, folder: str | None, smoke: bool) -> dict[str, Any]:
    """Scores of every method on every split: shape (splits, 4), of Brier, log loss, off, seconds."""
    X, y, truth = load(name, folder)
    train = min(TRAIN if not smoke else 60, len(y) // 2)
    splitter = StratifiedShuffleSplit(
        1 if smoke else SPLITS, train_size=train, test_size=min(TEST, len(y) - train), random_state=0
    )
    found: dict[str, list[Any]] = {}
    for a, b in splitter.split(X, y):
        scaler = StandardScaler().fit(X[a])
        A, B = scaler.transform(X[a]), scaler.transform(X[b])
        for method, model in methods(GRID_C[1:4] if smoke else GRID_C).items():
            model.fit(A, y[a])
            began = time.process_time()
            best = getattr(model, "best_estimator_", model).fit(A, y[a])
            p = best.predict_proba(B)[:, 1]
            seconds = time.process_time() - began
            q = np.clip(p, SHARE, 1 - SHARE)
            off = np.nan if truth is None else np.mean(np.abs(p - truth[b]))
            loss = -np.mean(np.where(y[b] > 0, np.log(q), np.log(1 - q)))
            found.setdefault(method, []).append([np.mean((p - (y[b] > 0)) ** 2), loss, off, seconds])
    return {"scores": {method: np.array(rows) for method, rows in found.items()}, "sizes": (train, len(b))}


def interval(differences: Any, sizes: tuple[int, int]) -> str:
    """Of the mean difference to the path; splits overlap, which the correction counts."""
    k = len(differences)
    if k < 2:
        return ""
    half = t.ppf(0.975, k - 1) * np.sqrt((1 / k + sizes[1] / sizes[0]) * np.var(differences, ddof=1))
    return f"[{np.mean(differences) - half:+.3f}, {np.mean(differences) + half:+.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder of the data sets")
    parser.add_argument("--smoke", action="store_true", help="60 samples, one split, two data sets: seconds")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of few samples isotonic regression divides by 0
    names = ["gaussians", *(SETS if args.data and not args.smoke else ["wdbc"])]
    print(f"{'data':<11} {'method':<25} {'Brier':>6} {'to the path':>17} {'log loss':>9} {'to the path':>17}", end="")
    print(f" {'off':>6} {'seconds':>8}")
    with threadpool_limits(1):
        for name in names:
            found = measure(name, args.data, args.smoke)
            path = found["scores"]["path"]
            for method, scores in found["scores"].items():
                brier, loss, off, _ = scores.mean(axis=0)
                to = ["" if method == "path" else interval((scores - path)[:, j], found["sizes"]) for j in (0, 1)]
                print(
                    f"{name:<11} {method:<25} {brier:>6.3f} {to[0]:>17} {loss:>9.3f} {to[1]:>17} "
                    f"{'' if np.isnan(off) else f'{off:.3f}':>6} {np.median(scores[:, 3]):>8.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
