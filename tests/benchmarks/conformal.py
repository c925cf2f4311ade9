"""Full conformal prediction: time against one fit of LIBSVM, coverage, and what split conformal prediction gives.

Run ``python tests/benchmarks/conformal.py`` (two minutes; ``--smoke`` for seconds). Three tables:

- time: 1 000 p-values (500 new samples, both labels) at C = 1, on one thread, in seconds of the processor, against
  ``SVC(C=1, tol=1e-3)`` of the training samples; every end is proved. ``refits`` is one such SVC for each p-value, from
  20 of them. The data are those of `paths.py`: two Gaussians in 10 dimensions, means 2 apart.
- labels: on four distributions, 200 repetitions of 60 training samples and 10 new ones, alpha = 0.1: the share of true
  labels that are in the set; by how many of its standard errors over the repetitions it is off 0.9; and how many labels
  a set has. ``split`` trains an SVC on half of the samples and ranks among the other half. Of ``by label`` negatives
  and positives have a line each.
- targets: the same for the lasso at a fixed penalty, 30 samples and a new one; median width of the set. Split conformal
  prediction counts ties whole, and has no more than 15 samples to rank among.

Distributions: Gaussians in 5 dimensions; Cauchy's in 2; whole numbers with copies that have either label;
one positive in ten.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.linear_model import Lasso
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.datasets import make_gaussians
from paretoclf.path.deletion.conformal_labels import conformal_ranks
from paretoclf.path.deletion.conformal_targets import target_p_values

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.deletion import turns
from tests.benchmarks.paths import CACHE, KERNELS

ALPHA = 0.1
Sample = tuple[Any, Any]


def gaussian(rng: np.random.Generator, n: int) -> Sample:
    """Two Gaussians."""
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, 5)) + 0.5 * y[:, None], y


def heavy(rng: np.random.Generator, n: int) -> Sample:
    """Cauchy's distribution, moved."""
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.standard_cauchy((n, 2)) + y[:, None], y


def whole(rng: np.random.Generator, n: int) -> Sample:
    """Points of a small grid, most of them several times, with labels of either kind."""
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    return X, np.where(rng.random(n) < 0.5 + 0.2 * X[:, 0], 1.0, -1.0)


def unequal(rng: np.random.Generator, n: int) -> Sample:
    """One positive in ten."""
    y = np.where(rng.random(n) < 0.1, 1.0, -1.0)
    return rng.normal(size=(n, 3)) + 1.0 * y[:, None], y


DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], Sample]] = {
    "Gaussians": gaussian,
    "heavy tails": heavy,
    "whole numbers": whole,
    "one in ten": unequal,
}


def two_classes(draw: Callable[[np.random.Generator, int], Sample], rng: np.random.Generator, n: int, m: int) -> Any:
    """Training samples, of both classes (of 2 000 draws of one in ten, four must be made again), and new ones."""
    while True:
        X, y = draw(rng, n + m)
        if np.unique(y[:n]).size == 2:
            return X[:n], y[:n], X[n:], y[n:]


# ---- time -----------------------------------------------------------------------------------------------------------


def time_row(n: int, kernel: str, m: int, repeats: int) -> str:
    """One line of the table of times."""
    mean = np.zeros(10)
    mean[0] = 1.0
    data = make_gaussians(n + m, rng=0, mean_plus=mean, mean_minus=-mean)
    order = np.random.default_rng(0).permutation(n + m)
    X, y = data.X[order], data.y[order]
    ours, theirs = KERNELS[kernel]
    svm, new = pc.TwoCSVM(X[:n], y[:n], ours), X[n:]

    def fit() -> Any:
        return SVC(C=1.0, cache_size=CACHE, **theirs).fit(X[:n], y[:n])

    def refits() -> None:
        for x in new[:10]:
            for z in (-1.0, 1.0):
                SVC(C=1.0, cache_size=CACHE, **theirs).fit(np.vstack([X[:n], x]), np.append(y[:n], z))

    found = conformal_ranks(svm, (1.0, 1.0), new)
    one, ranked = turns(fit, lambda: conformal_ranks(svm, (1.0, 1.0), new), repeats=repeats)
    (again,) = turns(refits, repeats=1)
    return (
        f"{n:5d} {kernel:6s} {2 * m:8d} {one:8.4f} {ranked:8.3f} {ranked / one:8.0f} {again / 20 * 2 * m / one:10.0f}  "
        f"{found.worst.passes()}"
    )


# ---- coverage of labels ----------------------------------------------------------------------------------------------


def split_p(X: Any, y: Any, new: Any, by_label: bool, rng: np.random.Generator) -> Any:
    """Smoothed p-values of both labels by split conformal prediction, with the margin."""
    half, out = y.size // 2, np.empty((len(new), 2))
    if np.unique(y[:half]).size == 2:
        model = SVC(C=1.0, gamma=0.5).fit(X[:half], y[:half])
        known, scores = y[half:] * model.decision_function(X[half:]), model.decision_function(new)
    else:
        known, scores = np.zeros(y.size - half), np.zeros(len(new))
    for column, z in enumerate((-1.0, 1.0)):
        among = known[y[half:] == z] if by_label else known
        own = z * scores[:, None]
        greater, tied = np.sum(among < own - 1e-9, axis=1), np.sum(np.abs(among - own) <= 1e-9, axis=1) + 1
        out[:, column] = (greater + rng.random(len(new)) * tied) / (among.size + 1)
    return out


def repetition(name: str, seed: int, n: int = 60, m: int = 10) -> dict[str, tuple[Any, float, float]]:
    """For each way: numbers of true labels inside and of all, by class where that matters; size of sets; seconds."""
    rng = np.random.default_rng(seed)
    X, y, new, truth = two_classes(DISTRIBUTIONS[name], rng, n, m)
    svm = pc.TwoCSVM(X, y, pc.RBF(1.0))
    ways: dict[str, Callable[[], Any]] = {
        "margin": lambda: conformal_ranks(svm, (1.0, 1.0), new).p_values(rng),
        "multiplier": lambda: conformal_ranks(svm, (1.0, 1.0), new, nonconformity="multiplier").p_values(rng),
        "by label": lambda: conformal_ranks(svm, (1.0, 1.0), new, by_label=True).p_values(rng),
        "split": lambda: split_p(X, y, new, False, rng),
        "split, by label": lambda: split_p(X, y, new, True, rng),
    }
    found = {}
    for way, p_values in ways.items():
        began = time.process_time()
        sets = p_values() > ALPHA
        seconds = time.process_time() - began
        inside = sets[np.arange(m), (truth > 0).astype(int)]
        parts = [inside[truth == z] for z in (-1.0, 1.0)] if "label" in way else [inside]
        found[way] = [[part.sum(), part.size] for part in parts], float(sets.sum(axis=1).mean()), seconds
    return found


def label_rows(name: str, repetitions: int) -> list[str]:
    """Lines of the table of labels for one distribution."""
    every = [repetition(name, seed) for seed in range(repetitions)]
    rows = []
    for way in every[0]:
        counts, size, seconds = (np.array(part, dtype=float) for part in zip(*(one[way] for one in every), strict=True))
        for k in range(counts.shape[1]):
            share, off = coverage(*counts[:, k].T)
            name_of = f"{way}, {'-+'[k]}" if counts.shape[1] > 1 else way
            rows.append(f"{name:14s} {name_of:18s} {share:8.3f} {off:+6.1f} {size.mean():8.2f} {seconds.mean():9.4f}")
    return rows


def coverage(inside: Any, size: Any) -> tuple[float, float]:
    """Share of true labels that are in the set, and by how many of its standard errors it is off 1 - alpha.

    It is a ratio of sums over repetitions, and so is its standard error.
    """
    share = inside.sum() / size.sum()
    error = np.sqrt(np.sum((inside - share * size) ** 2)) / size.sum()
    return share, (share - (1.0 - ALPHA)) / error if error > 0 else 0.0


# ---- coverage of targets ---------------------------------------------------------------------------------------------


NOISE: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=n),
    "skew": lambda rng, n: rng.exponential(size=n),
    "whole numbers": lambda rng, n: rng.integers(-2, 3, size=n).astype(float),
}


def target_rows(name: str, repetitions: int, n: int = 30, d: int = 4, lam: float = 3.0) -> list[str]:
    """Lines of the table of targets for one distribution of the noise."""
    beta, target = cp.Variable(d, name="beta"), cp.Parameter(n + 1, name="y")
    inside, width, seconds = {"full": [], "split": []}, {"full": [], "split": []}, {"full": 0.0, "split": 0.0}
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + 1, d))
        y = X @ np.append([2.0, -1.0], np.zeros(d - 2)) + NOISE[name](rng, n + 1)
        began = time.process_time()
        reach = 3.0 * np.ptp(y[:n])
        ends = y[:n].min() - reach, y[:n].max() + reach
        problem = cp.Problem(cp.Minimize(cp.sum_squares(target - X @ beta) / 2 + lam * cp.norm1(beta)))
        path = pc.trace(problem, start={target: np.append(y[:n], ends[0])}, stop={target: np.append(y[:n], ends[1])})
        p = target_p_values(path, lambda at, X=X: at.parameters["y"] - X @ at.variables["beta"], rng=rng)
        found = p.interval_set(ALPHA)
        seconds["full"] += time.process_time() - began
        inside["full"].append(bool(ends[0] < y[n] < ends[1]) and p(float(y[n])) > ALPHA)
        width["full"].append(np.sum(np.diff(found)))
        began = time.process_time()
        half = n // 2
        model = Lasso(alpha=lam / n, fit_intercept=False).fit(X[:half], y[:half])
        known = np.sort(np.abs(y[half:n] - model.predict(X[half:n])))
        rank = int(np.ceil((1 - ALPHA) * (known.size + 1)))  # of so few, ties are not drawn: at least 1 - alpha
        limit = known[min(rank, known.size) - 1]
        seconds["split"] += time.process_time() - began
        inside["split"].append(abs(y[n] - model.predict(X[n:])[0]) <= limit)
        width["split"].append(2 * limit)
    rows = []
    for way, hits in inside.items():
        share = np.mean(hits)
        off = (share - (1 - ALPHA)) / np.sqrt(ALPHA * (1 - ALPHA) / repetitions)
        rows.append(
            f"{name:14s} {way:18s} {share:8.3f} {off:+6.1f} {np.median(width[way]):8.2f} "
            f"{seconds[way] / repetitions:9.4f}"
        )
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="few repetitions of one distribution")
    given = parser.parse_args()
    with threadpool_limits(1):
        print("one thread; seconds of the processor")
        print("    n kernel p-values      fit    ranks ranks/fit refits/fit  proved")
        for n, kernel in ((100, "rbf"),) if given.smoke else ((500, "linear"), (500, "rbf")):
            print(time_row(n, kernel, 20 if given.smoke else 500, 1 if given.smoke else 5), flush=True)
        repetitions = 5 if given.smoke else 200
        print(f"\nlabels         way                coverage    off   labels   seconds ({repetitions} repetitions)")
        for name in list(DISTRIBUTIONS)[: 1 if given.smoke else None]:
            print("\n".join(label_rows(name, repetitions)), flush=True)
        print(f"\ntargets        way                coverage    off    width   seconds ({repetitions} repetitions)")
        for name in list(NOISE)[: 1 if given.smoke else None]:
            print("\n".join(target_rows(name, repetitions)), flush=True)


if __name__ == "__main__":
    main()
