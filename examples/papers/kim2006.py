"""Figures of Kim, Magnani, Samar, Boyd & Lim (2006), redrawn with our own numbers.

Run it with ``python examples/papers/kim2006.py`` (seconds); ``--out FOLDER`` writes the figures. With ``--data FOLDER``
(or the environment variable PARETOCLF_DATA) that holds ionosphere.csv, Figure 3 is on ionosphere as in the paper (under
a minute); without, on 200 samples of wdbc with a few splits.

Figures 1 and 2 of the paper are sketches without numbers. Here they are the curves of two classes in three dimensions,
unequal in spread and shape, with the points A, B, C and D in closed form. What is printed beside them are checks: the
middle segment against problem (3) and the outer ones against the S-procedure (both in CVXPY), and the rates of every
classifier of the curve against draws: of Gaussian classes (Figure 1), and of the worst distributions with these means
and covariances, two atoms for each class (Figure 2).

Figure 3 shows held-out rates. The paper tunes the bandwidth for equal priors, and leaves the ridge and the number of
splits open. Here: 100 stratified splits, 70 % for training; ridge delta, and for the kernel the bandwidth, are chosen
anew on each training part, by 3-fold cross-validation of the mean of both error rates at the operating point for equal
priors. (A ridge it must be: on ionosphere v1 is 1 for every positive sample, so their sample covariance is singular; v2
is 0 everywhere and dropped.) Features are left as they are; those of ionosphere lie in [-1, 1], those of wdbc are
standardised by the training part. The paper's kernel exp(-|x - y|^2 / sigma) has sigma = 2 bandwidth^2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.plotting import EmpiricalDisplay, TradeoffDisplay

sys.path.append(str(Path(__file__).resolve().parents[2]))  # behind the installed package, which has its core
from examples.papers.comparisons import paired_areas

MEANS = (np.array([1.0, 0.6, 0.0]), np.zeros(3))
COVARIANCES = (
    np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.5]]),
    np.array([[0.5, -0.3, 0.1], [-0.3, 1.5, 0.0], [0.1, 0.0, 1.0]]),
)
DRAWS = 100_000
#: Figure 3: settings to choose from.
LINEAR = [{"reg": reg} for reg in (1e-3, 1e-2, 1e-1, 1.0)]
GAUSSIAN = [{"kernel": pc.RBF(width), "reg": reg} for width in (1.0, 2.0, 4.0) for reg in (1e-3, 1e-2)]


def classes() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean and covariance of the positives and of the negatives."""
    return MEANS[0], COVARIANCES[0], MEANS[1], COVARIANCES[1]


# ---- Figure 1 ------------------------------------------------------------------------------------------------------


def figure_1(out: Path | None) -> dict[str, float]:
    """The optimal trade-off curve of two Gaussian classes, with A and B; returns what is printed."""
    tradeoff = pc.gaussian_tradeoff(pc.Moments.from_covariances(*classes()))
    curve, A, B = tradeoff.curve(1000), tradeoff.A, tradeoff.B
    cone, s_procedure = pc.ParetoGaussian.from_moments(*classes()), pc.SProcedure.from_moments(*classes())
    middle = [
        abs(getattr(tradeoff.at_weight(lam), rate) - getattr(cone.distances(cone.solve(lam, polish=False)), rate))
        for lam in (0.1, 0.5, 1.0, 2.0, 10.0)
        for rate in ("tnr", "tpr")
    ]
    outer = []
    for rate in (0.05, 0.2, 0.4):
        low, high = s_procedure.at_rate(tnr=rate), s_procedure.at_rate(tpr=rate)
        outer.append(abs(tradeoff.at_rate(tnr=rate).tpr - s_procedure.distances(low).tpr))
        outer.append(abs(tradeoff.at_rate(tpr=rate).tnr - s_procedure.distances(high).tnr))
    numbers = {
        "r1": tradeoff.r1,
        "r2": tradeoff.r2,
        "A tpr": A.tpr,
        "B tnr": B.tnr,
        "area": tradeoff.auc,
        "worst gap of the certificates": max(abs(tradeoff.certificate(curve.point(j)).gap) for j in range(len(curve))),
        "middle segment, difference from problem (3)": max(middle),
        "outer segments, difference from the S-procedure": max(outer),
        "difference from the shares of draws": from_draws(tradeoff.curve(100)),
    }
    said("Figure 1: Gaussian classes", numbers)
    if out is not None:
        display = TradeoffDisplay.from_tradeoff(tradeoff, 400).plot(name="Gaussian rates", title="Figure 1", style=1)
        ax: Any = display.ax_
        ax.plot([0, 0.5, 0.5], [0.5, 0.5, 0], color="0.6", linewidth=0.8, linestyle=":")
        ax.annotate("(0.5, 0.5)", (0.5, 0.5), xytext=(6, 5), textcoords="offset points", fontsize=8)
        ax.plot(0.5, 0.5, ".", color="0.4")
        display.figure_.savefig(out / "kim_figure_1.png", dpi=150)
        plt.close("all")
    return numbers


def from_draws(curve: pc.results.TradeoffCurve) -> float:
    """Largest difference between the rates of a curve and the shares of draws on the right side."""
    rng = np.random.default_rng(0)
    scores = [curve.scores(rng.multivariate_normal(m, S, size=DRAWS)) for m, S in zip(MEANS, COVARIANCES, strict=True)]
    shares = np.stack([(scores[0] >= 0).mean(axis=1), (scores[1] < 0).mean(axis=1)])
    return float(np.abs(shares - [curve.tpr, curve.tnr]).max())


# ---- Figure 2 ------------------------------------------------------------------------------------------------------


def figure_2(out: Path | None) -> dict[str, float]:
    """The optimal trade-off curve of Chebyshev bounds, from C to D, under the Gaussian one; returns what is printed."""
    gaussian = pc.gaussian_tradeoff(pc.Moments.from_covariances(*classes()))
    bounds = gaussian.judged_by(pc.rates.ChebyshevRate())
    mpm = pc.MinimaxProbabilityMachine.from_moments(*classes()).solve(polish=False)
    numbers = {
        "C tpr": bounds.A.tpr,
        "D tnr": bounds.B.tnr,
        "area": bounds.auc,
        "minimax rate": bounds.minimax().tpr,
        "difference from the minimax probability machine": abs(bounds.minimax().tpr - mpm.numbers["guarantee"]),
        "difference from the rates of two atoms": from_atoms(bounds.curve(200)),
    }
    said("Figure 2: all distributions with the same means and covariances", numbers)
    if out is not None:
        display = TradeoffDisplay.from_tradeoff(gaussian, 400)
        ax: Any = display.plot(name="Gaussian rates", color="0.5", linestyle=":", linewidth=1.2).ax_
        TradeoffDisplay.from_tradeoff(bounds, 400).plot(ax, name="Chebyshev bounds", style=1, title="Figure 2")
        for end, corner in ((bounds.A, (0.0, 1.0)), (bounds.B, (1.0, 0.0))):
            ax.plot([end.tnr, corner[0]], [end.tpr, corner[1]], color="#D55E00", linewidth=3, alpha=0.3)
        at = bounds.minimax()
        ax.plot(at.tnr, at.tpr, "s", color="#009E73", markersize=5)
        ax.annotate("minimax probability machine", (at.tnr, at.tpr), xytext=(8, 4), textcoords="offset points")
        display.figure_.savefig(out / "kim_figure_2.png", dpi=150)
        plt.close("all")
    return numbers


def from_atoms(curve: pc.results.TradeoffCurve) -> float:
    """Largest difference between the bounds and the rates of the distributions with two atoms that attain them.

    The atom on the hyperplane counts as an error. Both distributions have the means and, along the slope, the variances
    that were given: that is checked, too.
    """
    worst = 0.0
    for j in range(len(curve)):
        at = curve.point(j)
        for mean, S, sign, u, rate in (
            (MEANS[0], COVARIANCES[0], 1.0, at.u_plus, at.tpr),
            (MEANS[1], COVARIANCES[1], -1.0, at.u_minus, at.tnr),
        ):
            along = sign * (S @ at.w) / np.sqrt(at.w @ S @ at.w)
            atoms, shares = np.array([mean - u * along, mean + along / u]), np.array([1, u**2]) / (1 + u**2)
            scores = sign * (atoms @ at.w + at.b)
            variance = shares @ ((atoms - mean) @ at.w) ** 2
            missed = [abs(scores[0]), abs(variance / (at.w @ S @ at.w) - 1), np.abs(shares @ atoms - mean).max()]
            worst = max(worst, abs(shares[1] * (scores[1] > 0) - rate), *missed)
    return float(worst)


# ---- Figure 3 ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuned:
    """Fits the trade-off curve with the candidate that has the smallest cross-validated error for equal priors."""

    candidates: Sequence[dict[str, Any]]

    def __call__(self, X: Any, y: Any) -> Any:
        """Return the curve on the training samples."""
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        errors = [
            np.mean([equal_prior_error(X, y, train, test, options) for train, test in folds])
            for options in self.candidates
        ]
        return pc.gaussian_tradeoff(X, y, **self.candidates[int(np.argmin(errors))]).curve(100)


def equal_prior_error(X: Any, y: Any, train: Any, test: Any, options: dict[str, Any]) -> float:
    """Mean of both error rates on test at the point of the curve that promises the smallest one."""
    curve = pc.gaussian_tradeoff(X[train], y[train], **options).curve(100)
    point = curve.point(int(np.argmin(curve.fpr + curve.fnr)))
    wrong = point.classifier.predict(X[test]) != y[test]
    return float(np.mean([wrong[y[test] == sign].mean() for sign in (1, -1)]))


def shrunken(X: Any, y: Any) -> Any:
    """Return the linear curve with covariances that need no tuning."""
    return pc.gaussian_tradeoff(X, y, shrinkage="ledoit-wolf").curve(100)


def figure_3(data_dir: str | None, out: Path | None, splits: int, n_jobs: int | None) -> None:
    """Held-out trade-off of linear classifiers against those of a Gaussian kernel."""
    if data_dir is not None:
        data, transformer = pc.datasets.load("ionosphere", data_dir=data_dir), None
    else:
        data, transformer = pc.datasets.load("wdbc", n=200, rng=0), StandardScaler()
        splits = min(splits, 5)
        print("Figure 3 on wdbc, few splits (ionosphere needs --data):")
    X = data.X[:, data.X.std(axis=0) > 0]
    found = {}
    for name, candidates in (("linear", LINEAR), ("Gaussian kernel", GAUSSIAN)):
        found[name] = pc.empirical_tradeoff(
            X, data.y, Tuned(candidates), splits=splits, transformer=transformer, name=name, n_jobs=n_jobs
        )
    print(f"Figure 3, {data.name}: {X.shape[0]} samples, {X.shape[1]} features, {splits} splits, 70 % for training")
    for name, each in found.items():
        low, high = each.band(0.9, draws=300).area
        heights = ", ".join(f"{each.tpr_at(tnr):.3f}" for tnr in (0.8, 0.9, 0.95))
        print(
            f"  {name:<16} area under the fit {each.area:.4f} (90 % bootstrap: {low:.4f} to {high:.4f}), "
            f"mean over splits {each.areas.mean():.4f}; tpr at tnr .8, .9, .95: {heights}"
        )
    shrunk = pc.empirical_tradeoff(
        X, data.y, shrunken, splits=splits, transformer=StandardScaler(), name="linear, shrunken", n_jobs=n_jobs
    )
    print(f"  linear, covariances shrunken (Ledoit-Wolf), standardised: area {shrunk.area:.4f}")
    if splits > 1:
        pair = paired_areas(found["Gaussian kernel"], found["linear"])
        print(
            f"  kernel minus linear: {pair.mean:.4f} (95 %: {pair.interval[0]:.4f} to {pair.interval[1]:.4f}, "
            f"corrected p = {pair.p_corrected:.2g}), larger in {pair.wins} of {splits} splits"
        )
    if out is not None:
        display = EmpiricalDisplay.from_tradeoffs(*found.values()).plot(title=f"{data.name}: held-out samples")
        display.figure_.savefig(out / "kim_figure_3.png", dpi=150)
        plt.close("all")


def said(title: str, numbers: dict[str, float]) -> None:
    """Print a heading and the numbers under it."""
    print(title)
    for name, value in numbers.items():
        print(f"  {name:<50}{value:.3g}" if "difference" in name or "gap" in name else f"  {name:<50}{value:.6f}")


def main() -> None:
    """Print everything, and draw it where there is a place for it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder with ionosphere.csv")
    parser.add_argument("--out", type=Path, help="folder for the figures")
    parser.add_argument("--splits", type=int, default=100, help="splits of Figure 3 (default 100)")
    parser.add_argument("--jobs", type=int, help="processes for Figure 3")
    args = parser.parse_args()
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    figure_1(args.out)
    figure_2(args.out)
    figure_3(args.data, args.out, args.splits, args.jobs)


if __name__ == "__main__":
    main()
