"""Figures 1 to 4 (top) of Bach, Heckerman & Horvitz (2006): losses, ROC curves of lines of costs, their combination.

Run it with ``python examples/papers/bach2006_roc.py`` (a minute); ``--out FOLDER`` writes the figures.

The data of Figure 4 are not printed. Ours are drawn from two pairs of bimodal densities, those of
``bach2006_population.py``, which has the bottom of the figure: 120 samples of equal priors, 10 random splits in half;
C_plus + C_minus = 2, and the slope of the intercept curve is that of asymmetry 1/2. The counts of the 10 test halves
are added up. The curve over both is an upper envelope, chosen by the labels that judge it, and so is its area; the
other two are not.

Beside them stands the density-based alternative (Tong & Koller 2000): the density of each class is estimated from the
training half by a Gaussian kernel (Scott's bandwidth), the hyperplanes that are best under these densities for some
costs are found by search over 180 directions and 201 thresholds each, and judged on the test half; the true positive
rates of the 10 splits are averaged. They were chosen without the labels that judge them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from scipy.stats import norm
from sklearn.model_selection import StratifiedShuffleSplit

import paretoclf as pc
from paretoclf.plotting import RocDisplay
from paretoclf.plotting.base import NEGATIVE, POSITIVE
from paretoclf.proof.points.losses import loss_of
from paretoclf.roc.hull import upper_hull

sys.path.append(str(Path(__file__).resolve().parents[2]))  # behind the installed package, which has its core
from examples.papers.bach2006_explore import explore
from examples.papers.bach2006_population import BIMODAL

SPLITS = 10
ENDS = (0.002, 1.998), (1.998, 0.002)
#: Shares under a density are rounded to so many parts, for the exact hull.
PARTS = 10**6


def samples(j: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Samples of the pair of bimodal densities j."""
    return BIMODAL[j].draw(n, rng=j)


def figure_1(out: Path | None) -> dict[str, float]:
    """The losses: 0-1, hinge, erf and square; 0-1, probit and logistic."""
    u = np.linspace(-3.0, 3.0, 601)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    left = {name: loss_of(name).value(u) for name in ("hinge", "erf", "square")}
    right = {"probit": -norm.logcdf(u), "logistic": loss_of("logistic").value(u)}
    styles = {"hinge": ":", "erf": "--", "square": "-.", "probit": ":", "logistic": "--"}
    for ax, shown in zip(axes, (left, right), strict=True):
        ax.step(u, (u < 0).astype(float), color="black", label="0-1", where="mid")
        for name, values in shown.items():
            ax.plot(u, values, styles[name], linewidth=1.8, label=name)
        ax.set(xlabel="margin u", ylabel="loss", ylim=(-0.1, 5.0))
        ax.grid(color="0.92", linewidth=0.6)
        ax.legend(frameon=False)
    figure.suptitle("Figure 1: losses")
    _save(figure, out, "bach_figure_1.png")
    return {f"{name} at 0": float(values[300]) for name, values in (left | right).items()}


def figure_2(out: Path | None) -> dict[str, float]:
    """ROC-consistency, and lines of equal cost, on the asymmetry curve of a path."""
    X, y = samples(0, 400)
    path = pc.trace(pc.TwoCSVM(X[:200], y[:200]), *ENDS)
    curve = pc.roc_of_path(path, X[200:], y[200:], "asymmetry")
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    display = RocDisplay({"varying the asymmetry": curve})
    display.plot(axes[0], hull=True, color="#D55E00", title="Figure 2, left: ROC-consistent points")
    on = curve.consistent
    axes[0].plot(curve.fpr[on], curve.tpr[on], "o", markersize=4, color="#0072B2", label="ROC-consistent")
    axes[0].legend(loc="lower right", frameon=False)
    costs = (1.0, 2.0)
    display.plot(axes[1], color="#D55E00", costs=costs, title="Figure 2, right: lines of equal cost (1, 2)")
    _save(figure, out, "bach_figure_2.png")
    (best, *_) = curve.best(costs)
    return {"points": len(curve), "ROC-consistent": int(on.sum()), "smallest cost": best.cost}


def figure_3(out: Path | None) -> dict[str, float]:
    """The lines of an exploration, and what it found."""
    X, y = samples(0)
    found = explore(pc.TwoCSVM(X, y), (1.0, 1.0), folds=3, inner=3, n_grid=100)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.2), layout="constrained")
    found.plot(axes)
    axes[0].set_title("Figure 3: lines in the cost plane")
    axes[1].set_title("their curves, and the combination")
    _save(figure, out, "bach_figure_3.png")
    return {
        "best total on the ray": found.found.best.total,
        "area of the upper envelope (optimistic)": found.envelope.auc,
        "nested area": found.nested.auc,
    }


def figure_4(out: Path | None) -> dict[str, float]:
    """Top of Figure 4: intercept, asymmetry and both on bimodal samples; and the density-based alternative."""
    numbers, figure, axes = {}, *plt.subplots(2, 2, figsize=(9.6, 9.4), layout="constrained")
    for row in range(2):
        X, y = samples(row)
        ax = axes[row, 0]
        for label, marker, color in ((1, "o", POSITIVE), (-1, "s", NEGATIVE)):
            ax.plot(*X[y == label].T, marker, color=color, markersize=4, label=f"y = {label:+d}")
        ax.set(title=f"samples of densities {row + 1}", aspect="equal")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncol=2, frameon=False)  # below all samples
        scores, labels, others = [], [], []
        for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0).split(X, y):
            path = pc.trace(pc.TwoCSVM(X[train], y[train]), *ENDS)
            scores.append(path.scores(X[test]))
            labels.append(y[test])
            others.append(density_based(X[train], y[train], X[test], y[test]))
        curves = {
            f"varying {vary}": pc.roc.roc_of_scores(scores, labels, vary, 0.5, 100)
            for vary in ("intercept", "asymmetry", "both")
        }
        RocDisplay(curves).plot(axes[row, 1], title=f"mean over {SPLITS} random splits")
        u = np.linspace(0, 1, 201)
        v = np.mean([np.interp(u, *each) for each in others], axis=0)
        area = float(np.trapezoid(v, u))
        axes[row, 1].plot(u, v, color="0.3", linewidth=1.2, label=f"density-based (AUC {area:.3f})")
        axes[row, 1].legend(loc="lower right", frameon=False, fontsize="small")
        numbers |= {f"samples {row + 1}: area, {name}": curve.auc for name, curve in curves.items()}
        numbers[f"samples {row + 1}: share of ROC-consistent asymmetries"] = float(
            curves["varying asymmetry"].consistent.mean()
        )
        numbers[f"samples {row + 1}: area, density-based"] = area
    _save(figure, out, "bach_figure_4_top.png")
    return numbers


def density_based(X: np.ndarray, y: np.ndarray, Z: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates on (Z, z) of the hyperplanes that are best under kernel densities of (X, y), non-decreasing."""
    angles = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    W = np.stack([np.cos(angles), np.sin(angles)])
    found = []
    for j in range(angles.size):
        along = X @ W[:, j]
        b = -np.linspace(along.min() - 1, along.max() + 1, 201)
        found.append((np.full(b.size, j), b, *(_expected(X[y == label], W[:, j], b) for label in (-1, 1))))
    which, b, u, v = (np.concatenate(part) for part in zip(*found, strict=True))
    *_, index = upper_hull(np.rint(u * PARTS).astype(np.int64), np.rint(v * PARTS).astype(np.int64), PARTS, PARTS)
    index = index[index >= 0]
    positive = Z @ W[:, which[index]] + b[index] >= 0
    rates = [np.concatenate([[0.0], positive[z == label].mean(axis=0), [1.0]]) for label in (-1, 1)]
    fpr, tpr = (np.maximum.accumulate(each) for each in rates)
    return fpr, tpr


def _expected(X: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Share of a kernel density on the positive side of hyperplanes of one direction."""
    factor = len(X) ** (-1.0 / (X.shape[1] + 4))
    width = factor * np.sqrt(w @ np.cov(X.T) @ w)
    return norm.cdf((X @ w[:, None] + b) / width).mean(axis=0)


def _save(figure: plt.Figure, out: Path | None, name: str) -> None:
    if out is not None:
        figure.savefig(out / name, dpi=160)
    plt.close(figure)


def main(out: Path | None = None) -> dict[str, dict[str, float]]:
    """Draw all figures and print their numbers."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    made = {"Figure 1": figure_1, "Figure 2": figure_2, "Figure 3": figure_3, "Figure 4, top": figure_4}
    found = {name: draw(out) for name, draw in made.items()}
    for title, numbers in found.items():
        print(f"\n{title}")
        for name, value in numbers.items():
            print(f"  {name:<66} {value:.6g}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the figures here")
    main(parser.parse_args().out)
