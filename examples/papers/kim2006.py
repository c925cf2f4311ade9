"""Figures of Kim, Magnani, Samar, Boyd & Lim (2006), redrawn with our own numbers.

Run it with ``python examples/papers/kim2006.py`` (seconds); ``--out FOLDER`` writes the figures.

Figures 1 and 2 of the paper are sketches without numbers. Here they are the curves of two classes in three dimensions,
unequal in spread and shape, with the points A, B, C and D in closed form. What is printed beside them are checks: the
middle segment against problem (3) and the outer ones against the S-procedure (both in CVXPY), and the rates of every
classifier of the curve against draws: of Gaussian classes (Figure 1), and of the worst distributions with these means
and covariances, two atoms for each class (Figure 2).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import paretoclf as pc
from paretoclf.plotting import TradeoffDisplay

MEANS = (np.array([1.0, 0.6, 0.0]), np.zeros(3))
COVARIANCES = (
    np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.5]]),
    np.array([[0.5, -0.3, 0.1], [-0.3, 1.5, 0.0], [0.1, 0.0, 1.0]]),
)
DRAWS = 100_000


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
        "difference from the shares of draws": from_draws(curve),
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


def from_draws(curve: pc.TradeoffCurve) -> float:
    """Largest difference between the rates of a curve and the shares of draws on the right side."""
    rng = np.random.default_rng(0)
    scores = [curve.scores(rng.multivariate_normal(m, S, size=DRAWS)) for m, S in zip(MEANS, COVARIANCES, strict=True)]
    shares = np.stack([(scores[0] >= 0).mean(axis=1), (scores[1] < 0).mean(axis=1)])
    return float(np.abs(shares - [curve.tpr, curve.tnr]).max())


# ---- Figure 2 ------------------------------------------------------------------------------------------------------


def figure_2(out: Path | None) -> dict[str, float]:
    """The optimal trade-off curve of Chebyshev bounds, from C to D, under the Gaussian one; returns what is printed."""
    gaussian = pc.gaussian_tradeoff(pc.Moments.from_covariances(*classes()))
    bounds = gaussian.judged_by(pc.ChebyshevRate())
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


def from_atoms(curve: pc.TradeoffCurve) -> float:
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


def said(title: str, numbers: dict[str, float]) -> None:
    """Print a heading and the numbers under it."""
    print(title)
    for name, value in numbers.items():
        print(f"  {name:<50}{value:.3g}" if "difference" in name or "gap" in name else f"  {name:<50}{value:.6f}")


def main() -> None:
    """Print everything, and draw it where there is a place for it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, help="folder for the figures")
    args = parser.parse_args()
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    figure_1(args.out)
    figure_2(args.out)


if __name__ == "__main__":
    main()
