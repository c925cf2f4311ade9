"""Figures 4 (bottom) to 8 of Bach, Heckerman & Horvitz (2006): training against testing asymmetry, known densities.

Run it with ``python examples/papers/bach2006_population.py`` (half a minute); ``--out FOLDER`` writes the figures.

The paper prints the regime numbers of the four pairs of Gaussians of its Figures 7 and 8 (A = 0.12, -6, 3, -0.96), but
not the densities. Ours have exactly these numbers, for the square loss and for the erf loss alike: the negatives are
N(0, I), so A = 1 / |m|^2 - 1 / (m' Sigma_plus m). Priors are equal. Figures 5 and 6 are the second and the first pair.

The bottom of Figure 4 is the support vector machine (hinge loss) on two pairs of bimodal densities. Those of the paper
are not printed; on ours, too, the curve over the asymmetry is beaten by that over the intercept in places, and has
points that are optimal for no costs.

Beyond the paper: the regime A = 0, all five losses, the distance of the means, and the likelihood ratio of scale
mixtures of one shape.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.special import expit

import paretoclf as pc
from paretoclf.distributions.population import (
    Mixture,
    Population,
    hinge_thresholds,
    intercept_curve,
    likelihood_ratio_curve,
    population_curve,
    population_expansion,
    population_solution,
)
from paretoclf.plotting import AsymmetryDisplay, DensityDisplay, PopulationRocDisplay
from paretoclf.plotting.base import STYLES

ORIGIN = Mixture([0.0, 0.0], np.eye(2))

#: Mean and covariance of the positives, by A; from top to bottom as in the paper.
POSITIVES = {
    0.12: ([1.0, 2.0], [[2.5, 0.5], [0.5, 2.0]]),
    -6.0: ([0.5, 0.5], [[1.0, -0.625], [-0.625, 0.75]]),
    3.0: ([0.5, 0.0], [[4.0, 1.0], [1.0, 1.0]]),
    -0.96: ([1.0, 0.0], [[25 / 49, 0.3], [0.3, 1.0]]),
}
PAIRS = {A: Population(Mixture(*given), ORIGIN) for A, given in POSITIVES.items()}

#: A = 0, and B < 0 with the square loss.
ON_THE_BORDER = Population(Mixture([1.0, 0.0], [[1.0, 2.0], [2.0, 5.0]]), ORIGIN)

#: One shape, two mixings of scales: Gaussian, and one sample in five from a population twelve times as wide.
SHAPE = {
    "positives": ([1.5, 0.5], [[1.0, 0.3], [0.3, 0.6]]),
    "negatives": ([0.0, 0.0], [[0.5, -0.2], [-0.2, 1.0]]),
}
MIXINGS = {"Gaussian": ([1.0], [1.0]), "heavy tails": ([0.3, 12.0], [0.8, 0.2])}

#: Weights, means and scales of the components of bimodal classes.
BIMODAL = (
    Population(
        Mixture([[0.0, 0.0], [4.0, 3.0]], [np.eye(2), 0.5 * np.eye(2)], [0.6, 0.4]),
        Mixture([[2.0, -1.0], [-3.0, 1.0]], [0.5 * np.eye(2), np.eye(2)], [0.4, 0.6]),
    ),
    Population(
        Mixture([[-1.0, 3.0], [1.0, 0.0]], [np.eye(2), np.eye(2)]),
        Mixture([[-3.0, 0.0], [3.0, -1.0]], [np.eye(2), 0.5 * np.eye(2)], [0.7, 0.3]),
    ),
)

ODDS = expit(np.linspace(-6.0, 6.0, 73))


def figure_4(out: Path | None) -> dict[str, float]:
    """Bottom of Figure 4: the hinge loss on bimodal densities, over the intercept, the asymmetry, and both."""
    numbers, figure, axes = {}, *plt.subplots(2, 2, figsize=(8.0, 8.2), layout="constrained")
    for row, population in enumerate(BIMODAL):
        curve = population_curve(population, "hinge", np.linspace(0.02, 0.98, 97))
        moved = intercept_curve(population, population_solution(population, 0.5, "hinge").w)
        u, v = curve.both()
        DensityDisplay(population).plot(axes[row, 0], title=f"densities {row + 1}")
        ax = axes[row, 1]
        PopulationRocDisplay({}, likelihood_ratio_curve(population, 301)).plot(ax, title="Figure 4, bottom: hinge loss")
        ax.plot(moved.fpr, moved.tpr, ":", color="#CC79A7", linewidth=1.8, label="varying the intercept")
        ax.plot(curve.fpr, curve.tpr, "-", color="#D55E00", linewidth=1.6, label="varying the asymmetry")
        ax.plot(u, v, "--", color="#009E73", linewidth=1.6, label="varying both")
        ax.legend(loc="lower right", framealpha=0.85, edgecolor="none", fontsize="small")
        behind = np.interp(curve.fpr, moved.fpr, moved.tpr) - curve.tpr
        numbers |= {
            f"densities {row + 1}: area, intercept": moved.auc,
            f"densities {row + 1}: area of the hull, asymmetry": curve.auc,
            f"densities {row + 1}: area of the hull, both": float(np.trapezoid(v, u)),
            f"densities {row + 1}: asymmetry behind intercept by up to": float(behind.max()),
            f"densities {row + 1}: share of ROC-consistent asymmetries": float(curve.consistent.mean()),
        }
    _save(figure, out, "bach_figure_4_population.png")
    return numbers


def figures_5_and_6(out: Path | None) -> dict[str, float]:
    """Near (0, 0): below the diagonal where A < 0, vertical where A > 0. Returns the numbers that are printed."""
    numbers, figure, axes = {}, *plt.subplots(2, 2, figsize=(8.2, 7.4), layout="constrained")
    for row, (number, A, corner, farthest) in enumerate(((5, -6.0, 0.1, 0.6), (6, 0.12, 0.02, 0.6))):
        population = PAIRS[A]
        curve = population_curve(population, "square", np.linspace(0.02, 0.98, 193))
        AsymmetryDisplay.from_curves(curve).plot(axes[row, 0], title=f"Figure {number}: A = {A:g}")
        axes[row, 0].set(xlim=(0, farthest), ylim=(-0.02, 1.02), aspect="auto")
        PopulationRocDisplay.from_curves(curve).plot(axes[row, 1], corner=corner, title="ROC curve near (0, 0)")
        below = curve.asymmetries[(curve.tpr < curve.fpr) & (curve.asymmetries < 0.5)]
        first = curve.asymmetries[curve.consistent][0]
        numbers |= {
            f"Figure {number}: smallest ROC-consistent training asymmetry": float(first),
            f"Figure {number}: training asymmetries below the diagonal up to": float(below.max(initial=0.0)),
            f"Figure {number}: testing asymmetry at training asymmetry 0.05": population_solution(
                population, 0.05
            ).testing_asymmetry,
        }
    _save(figure, out, "bach_figures_5_6.png")
    return numbers


def figures_7_and_8(out: Path | None) -> dict[str, dict[str, float]]:
    """Four pairs of densities, and below each the testing asymmetry over the training asymmetry for both losses."""
    figure, axes = plt.subplots(2, 4, figsize=(10.8, 6.2), layout="constrained")
    curves = {loss: [population_curve(each, loss, ODDS) for each in PAIRS.values()] for loss in ("square", "erf")}
    for column, (A, population) in enumerate(PAIRS.items()):
        half = population_solution(population, 0.5).classifier
        DensityDisplay(population).plot(axes[0, column], classifiers={"square loss, 0.5": half}, title=f"A = {A:g}")
        AsymmetryDisplay.from_curves(*(each[column] for each in curves.values())).plot(axes[1, column])
    _one_legend(figure, axes[0], loc="upper center")
    _one_legend(figure, axes[1], loc="lower center")
    _save(figure, out, "bach_figures_7_8.png")
    titles = {"square": "Figure 7, square loss", "erf": "Figure 8, erf loss"}
    return {titles[loss]: _numbers(loss, found) for loss, found in curves.items()}


def _one_legend(figure: Figure, row: np.ndarray, loc: str) -> None:
    """The legend of a row of pictures, once, outside of them."""
    handles, names = row[0].get_legend_handles_labels()
    for ax in row:
        ax.get_legend().remove()
    for ax in row[1:]:
        ax.set_ylabel("")
    figure.legend(handles, names, loc=f"outside {loc}", ncols=len(names), frameon=False)


def _numbers(loss: str, curves: list[pc.population.PopulationCurve]) -> dict[str, float]:
    """What the text of the paper says of the four pairs."""
    numbers: dict[str, float] = {}
    for curve, (A, population) in zip(curves, PAIRS.items(), strict=True):
        expansion = population_expansion(population, loss)
        near = curve.consistent & (curve.asymmetries > 0.02) & (curve.asymmetries < 0.98)
        numbers |= {
            f"A = {A:g}: computed": expansion.A,
            f"A = {A:g}: at the other end": population_expansion(population, loss, end=1).A,
            f"A = {A:g}: testing asymmetry at training asymmetry 0.1": population_solution(
                population, 0.1, loss
            ).testing_asymmetry,
            f"A = {A:g}: ROC-consistent from": float(curve.asymmetries[curve.consistent].min()),
            f"A = {A:g}: ROC-consistent to": float(curve.asymmetries[curve.consistent].max()),
            f"A = {A:g}: largest mismatch of a ROC-consistent point": float(
                np.max(np.abs(curve.testing_asymmetries - curve.asymmetries)[near])
            ),
            f"A = {A:g}: share of ROC-consistent points with inverted mismatch": float(
                curve.inverted.sum() / curve.consistent.sum()
            ),
        }
    return numbers


def beyond(out: Path | None) -> dict[str, float]:
    """The regime A = 0, all five losses, and the distance of the means."""
    figure, axes = plt.subplots(1, 3, figsize=(10.4, 3.9), layout="constrained")
    losses = [population_curve(PAIRS[0.12], loss, ODDS) for loss in ("square", "erf", "hinge")]
    losses.append(population_curve(PAIRS[0.12], "logistic", ODDS[::2]))
    losses.append(population_curve(PAIRS[0.12], "probit", ODDS[::3]))
    # The five nearly coincide: their distance from the diagonal is what differs, where they are optimal for some costs.
    for curve, (color, style) in zip(losses, STYLES, strict=False):
        mismatch = np.where(curve.consistent, curve.testing_asymmetries - curve.asymmetries, np.nan)
        axes[0].plot(curve.asymmetries, mismatch, color=color, linestyle=style, label=f"{curve.loss} loss")
    axes[0].axhline(0, color="0.75", linewidth=1, zorder=0)
    axes[0].set(
        xlabel="training asymmetry", ylabel="testing minus training", xlim=(0, 1), title="five losses, A = 0.12"
    )
    axes[0].legend(loc="lower right", frameon=False, fontsize="small")
    border = {loss: population_curve(ON_THE_BORDER, loss, ODDS) for loss in ("square", "erf")}
    AsymmetryDisplay({f"{loss} loss": curve for loss, curve in border.items()}).plot(axes[1], title="A = 0")
    near = PAIRS[-0.96]
    moved = {
        f"means {factor:g} apart": population_curve(near.moved(factor), "square", ODDS) for factor in (0.5, 1, 2, 4)
    }
    AsymmetryDisplay(moved).plot(axes[2], title="distance of the means, square loss")
    _save(figure, out, "bach_beyond.png")
    low, high = expit(hinge_thresholds(PAIRS[0.12]))
    return {
        "A = 0, square loss: B": population_expansion(ON_THE_BORDER, "square").B,
        "A = 0, erf loss: B": population_expansion(ON_THE_BORDER, "erf").B,
        "A = 0, square loss: testing asymmetry at 0.02": population_solution(ON_THE_BORDER, 0.02).testing_asymmetry,
        "A = 0, erf loss: testing asymmetry at 0.02": population_solution(ON_THE_BORDER, 0.02, "erf").testing_asymmetry,
        "hinge, A = 0.12: slope 0 up to training asymmetry": float(low),
        "hinge, A = 0.12: slope 0 from training asymmetry": float(high),
        "A at twice the distance": population_expansion(near.moved(2.0)).A,
        "A divided by four": population_expansion(near).A / 4,
    }


def scale_mixtures(out: Path | None) -> dict[str, float]:
    """The linear Pareto set is that of the Gaussians for every mixing; the likelihood ratio is not."""
    numbers: dict[str, float] = {}
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.8), layout="constrained")
    made = {
        name: Population(*(Mixture.of_scales(*given, scales, shares) for given in SHAPE.values()))
        for name, (scales, shares) in MIXINGS.items()
    }
    points = pc.gaussian_tradeoff(made["Gaussian"].moments).curve(200)
    draws, y = 100_000, np.repeat([1.0, -1.0], 100_000)
    for ax, (name, population) in zip(axes, made.items(), strict=True):
        bound = likelihood_ratio_curve(population, 301)
        PopulationRocDisplay({}, bound).plot(ax, title=name)
        fpr, fnr = population.rates(points.w, points.b)
        tpr = 1 - fnr
        ax.plot(fpr, tpr, color="#0072B2", linestyle="--", linewidth=1.8, label="linear: the same slopes")
        X = np.concatenate([population.positives.draw(draws, 1), population.negatives.draw(draws, 2)])
        other = next(p for p in made.values() if p is not population)
        order = np.argsort(-other.log_ratio(X))
        u, v = np.cumsum(y[order] < 0) / draws, np.cumsum(y[order] > 0) / draws
        ax.plot(
            u[::100], v[::100], color="#009E73", linestyle="-.", linewidth=1.6, label="likelihood ratio of the other"
        )
        ax.legend(loc="lower right", framealpha=0.85, edgecolor="none", fontsize="small")
        level = 0.05
        numbers |= {
            f"{name}: true positive rate at fpr 0.05, likelihood ratio": float(bound.tpr_at(level)),
            f"{name}: of the other's likelihood ratio": float(np.interp(level, u, v)),
            f"{name}: of the best linear rule": float(np.interp(-level, -fpr, tpr)),
        }
    _save(figure, out, "bach_scale_mixtures.png")
    return numbers


def _save(figure: plt.Figure, out: Path | None, name: str) -> None:
    if out is not None:
        figure.savefig(out / name, dpi=150)
    plt.close(figure)


def said(title: str, numbers: dict[str, float]) -> None:
    """Print numbers under a title."""
    print(f"\n{title}")
    for name, value in numbers.items():
        print(f"  {name:<66} {value:.6g}")


def main(out: Path | None = None) -> dict[str, dict[str, float]]:
    """Draw all figures and print their numbers."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    found = {
        "Figure 4, bottom, hinge loss": figure_4(out),
        "Figures 5 and 6, square loss": figures_5_and_6(out),
        **figures_7_and_8(out),
        "Beyond the paper": beyond(out),
        "Scale mixtures of one shape": scale_mixtures(out),
    }
    for title, numbers in found.items():
        said(title, numbers)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the figures here")
    main(parser.parse_args().out)
