"""Section 5 of Carrizosa & Martin-Barragan (2006): Table 1 and Figures 1 to 10, with our own numbers.

Run it with ``python examples/papers/carrizosa2006.py --data FOLDER`` (a minute or two; or set the environment variable
PARETOCLF_DATA); ``--out FOLDER`` writes the figures. The folder holds bupa.csv, ionosphere.csv, pima.csv and sonar.csv;
without one, wdbc (from scikit-learn) and two generated sets are used. ``--full`` repeats everything on 10 draws.

The paper's protocol: 100 random samples to train on, the others to test; linear kernel, data as they are; one C for
both classes in ``|w|^2 + C sum xi^2``, "chosen by cross-validation, as implemented in LIBSVM". It leaves open the
seed, the folds, the grid, which class is positive, and what bupa's five variables are. Here: seed 0 (``--seed``) for
the draw and the folds; 5 stratified folds and the grid 2^-5, 2^-3, ..., 2^15, which are the defaults of LIBSVM's
grid.py and hold every printed C; largest accuracy, of equal ones the smallest C; the objective above also in the
cross-validation, though LIBSVM's own has slacks that are not squared. Positive classes are printed with Table 1.

The classifiers are ``w_1 . x + b_1 - Delta``. Those with |Delta| < 1 are the Pareto set, a `MarginPath`; those beyond
keep the slope and move the intercept. A sample on the plane is labelled +1.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib import pyplot as plt
from sklearn.model_selection import StratifiedKFold

import paretoclf as pc
from paretoclf.plotting import RocDisplay
from paretoclf.plotting.base import NEGATIVE, POSITIVE
from paretoclf.roc import roc_of_path

N_TRAIN, N_FOLDS = 100, 5
GRID = tuple(2.0**k for k in range(-5, 16, 2))
FULL_DRAWS = 10
#: From one end of the Pareto set to the other, but for a ten-thousandth.
THETA = (1e-4, 1e4)
#: A Delta beyond all that are drawn.
FAR = 1e9


@dataclass(frozen=True)
class Printed:
    """A line of Table 1, the C of the figures, and our choice of the positive class and of columns to leave out."""

    n: int
    d: int
    C: float
    positive: str
    drop: tuple[str, ...] = ()


PRINTED = {
    "bupa": Printed(345, 5, 2.0**-5, "selector 2", ("drinks",)),
    "ionosphere": Printed(351, 34, 2.0, "good"),
    "pima": Printed(768, 8, 2.0**-5, "diabetic"),
    "sonar": Printed(208, 60, 0.5, "mine"),
    "wdbc": Printed(569, 30, 2.0, "malignant"),
}
GENERATED = {"gaussians": 500, "bimodal": 500}  # without --data


@dataclass(frozen=True)
class Study:
    """One data set and one draw of training samples.

    `train` and `test` are the ROC curves that varying the intercept makes; `shift` of a point is minus its Delta.
    """

    C: float
    accuracy: dict[float, float]
    path: pc.results.MarginPath
    train: pc.RocCurve
    test: pc.RocCurve

    def rates(self, curve: pc.RocCurve, delta: float) -> tuple[float, float]:
        """Sensitivity and specificity at one Delta: the last point of the curve whose own Delta is no smaller."""
        at = np.flatnonzero(-curve.shift >= delta)
        j = at[-1] if at.size else 0
        return float(curve.tpr[j]), float(1 - curve.fpr[j])


# ---- the protocol --------------------------------------------------------------------------------------------------


def data_sets(folder: str | None) -> Iterator[tuple[str, pc.datasets.Dataset]]:
    """The sets of Table 1 that can be had, and generated ones in place of the others."""
    for name, printed in PRINTED.items():
        if name == "wdbc" or folder is not None:
            yield name, pc.datasets.load(name, data_dir=folder, drop=printed.drop)
    if folder is None:
        for name, n in GENERATED.items():
            yield name, pc.datasets.load(name, n=n, rng=0)


def margin_path(X: Any, y: Any, C: float, certify: bool = True) -> pc.results.MarginPath:
    """The Pareto set of problem (29)."""
    return pc.trace(pc.BiobjectiveMargin(X, y), theta=THETA, C_plus=C, C_minus=C, certify=certify, progress=False)


def accuracies(X: Any, y: Any, seed: int) -> dict[float, float]:
    """Cross-validated accuracy of the SVM (Delta = 0) at every C of the grid."""
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))
    right = {
        C: sum(
            int(np.count_nonzero(margin_path(X[train], y[train], C, False).rule(0.5).predict(X[test]) == y[test]))
            for train, test in folds
        )
        for C in GRID
    }
    return {C: count / len(y) for C, count in right.items()}


def study(X: Any, y: Any, seed: int) -> Study:
    """Draw 100 samples, choose C on them, trace the Pareto set, and judge every threshold on both parts."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    accuracy = accuracies(X[train], y[train], seed)
    C = max(GRID, key=lambda each: (accuracy[each], -each))
    path = margin_path(X[train], y[train], C)
    curves = [roc_of_path(path, X[part], y[part], t=0.5) for part in (train, test)]
    return Study(C, accuracy, path, *curves)


def check(found: Study) -> dict[str, float]:
    """Theorem 7 on what was found: (w_1, b_1 - Delta, xi_1) is Pareto-optimal for |Delta| < 1 and only there."""
    path = found.path
    w, b, xi = path.slope(0.5), path.intercept(0.5), path.slacks
    inside = [path.hyperplane(w, b - delta, xi) for delta in np.linspace(-0.999, 0.999, 9)]
    outside = [path.hyperplane(w, b - delta, xi) for delta in (-1.5, -1.001, 1.001, 1.5)]
    return {
        "worst gap": abs(path.worst_certificate.gap),
        "missing inside": max(each.missing / each.best_sum for each in inside),
        "optimal inside": float(np.mean([each.is_efficient() for each in inside])),
        "optimal outside": float(np.mean([each.is_efficient() for each in outside])),
    }


# ---- what is printed -----------------------------------------------------------------------------------------------


def table_1(name: str, data: pc.datasets.Dataset) -> None:
    """A line of Table 1, with what the paper does not say."""
    printed = PRINTED.get(name)
    size = f"n {data.n}, p {data.X.shape[1]}"
    said = "" if printed is None else f" (printed: n {printed.n}, p {printed.d})"
    plus, constant = int((data.y > 0).sum()), int((data.X.std(axis=0) == 0).sum())
    left_out = f"; left out: {', '.join(printed.drop)}" if printed is not None and printed.drop else ""
    notes = f"{left_out}{f'; {constant} constant' if constant else ''}"
    positive = data.positive if printed is None else printed.positive
    print(f"{name}: {size}{said}; +1 is {positive} ({plus} of {data.n}){notes}")


def tell(name: str, found: Study, checked: dict[str, float]) -> None:
    """What the figures of a set show, in numbers."""
    printed = PRINTED.get(name)
    theirs = "" if printed is None else f" (printed: {printed.C:g}, here {found.accuracy[printed.C]:.2f})"
    print(f"  C = {found.C:g}, cross-validated accuracy {found.accuracy[found.C]:.2f}{theirs}")
    for part, curve in (("training", found.train), ("test", found.test)):
        low, svm, high = (found.rates(curve, delta) for delta in (1.0, 0.0, -1.0))
        print(
            f"  {part:<9} AUC {curve.auc:.3f}; sensitivity, specificity at Delta = 0: {svm[0]:.3f}, {svm[1]:.3f}; "
            f"at 1: {low[0]:.3f}, {low[1]:.3f}; at -1: {high[0]:.3f}, {high[1]:.3f}"
        )
    print(
        f"  gap of the certificates {checked['worst gap']:.0e}; of the sum of the margins, |Delta| < 1 lacks "
        f"{checked['missing inside']:.0e}"
    )


def tell_draws(name: str, found: list[Study]) -> None:
    """Mean and standard deviation over the draws."""
    exponents = sorted(round(np.log2(each.C)) for each in found)
    chosen = f"{name}: {len(found)} draws, log2 C {exponents[0]} to {exponents[-1]}, median {np.median(exponents):g}"
    if name in PRINTED:
        C = PRINTED[name].C
        lost = np.mean([each.accuracy[each.C] - each.accuracy[C] for each in found])
        chosen += f" (the printed one in {sum(each.C == C for each in found)}; it costs {lost:.3f} of accuracy)"
    print(chosen)
    for part in ("train", "test"):
        values = [(getattr(each, part).auc, *each.rates(getattr(each, part), 0.0)) for each in found]
        means, spread = np.mean(values, axis=0), np.std(values, axis=0, ddof=1)
        text = [f"{m:.3f} ({s:.3f})" for m, s in zip(means, spread, strict=True)]
        print(f"  {part:<5} AUC {text[0]}, at Delta = 0: sensitivity {text[1]}, specificity {text[2]}")


# ---- figures -------------------------------------------------------------------------------------------------------


def roc_figure(name: str, found: Study, file: Path) -> None:
    """Figures 1 to 5: training thick, test thin, the SVM a star."""
    display = RocDisplay.from_curves(training=found.train, test=found.test)
    ax: Any = display.plot(title=f"{name}, C = {found.C:g}").ax_
    for line, width in zip(ax.lines[-2:], (3.0, 1.2), strict=True):
        line.set(linewidth=width, linestyle="-")
    stars, curves = [found.rates(curve, 0.0) for curve in (found.train, found.test)], ax.lines[-2:]
    views = [ax]
    if min(min(pair) for pair in stars) > 0.8:  # all there is to see is in one corner
        corner = ax.inset_axes((0.36, 0.3, 0.6, 0.52), xlim=(-0.004, 0.2), ylim=(0.8, 1.004))
        for line in curves:
            corner.plot(*line.get_data(), color=line.get_color(), linewidth=line.get_linewidth())
        corner.set(xticks=(0, 0.1, 0.2), yticks=(0.8, 0.9, 1))
        ax.indicate_inset_zoom(corner, edgecolor="0.4")
        views.append(corner)
    for view in views:
        for j, (sensitivity, specificity) in enumerate(stars):
            star = {"markersize": 15 - 5 * j, "markerfacecolor": "gold", "markeredgecolor": curves[j].get_color()}
            label = f"SVM ($\\Delta=0$), {('training', 'test')[j]}"
            view.plot(1 - specificity, sensitivity, "*", markeredgewidth=1.2, label=label, **star)
    ax.set(xlabel="1 - specificity", ylabel="sensitivity")
    ax.legend(loc="lower right", frameon=False)
    display.figure_.savefig(file, dpi=150)
    plt.close("all")


def delta_figure(name: str, found: Study, file: Path) -> None:
    """Figures 6 to 10: sensitivity and specificity against Delta, training thick, test thin."""
    figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    ends = [1.2]
    for part, curve, width in (("training", found.train, 3.0), ("test", found.test, 1.2)):
        finite = np.isfinite(curve.shift)
        delta = -curve.shift[finite]
        ends.append(float(np.quantile(np.abs(delta), 0.95)))
        # A point holds from its own Delta down to that of the next one; before the first nobody is called positive.
        steps = np.concatenate([[FAR], delta, [-FAR]])
        for side, values, none, every, color in (
            ("sensitivity", curve.tpr, 0.0, 1.0, POSITIVE),
            ("specificity", 1 - curve.fpr, 1.0, 0.0, NEGATIVE),
        ):
            rates = np.concatenate([[none], values[finite], [every]])
            ax.plot(steps, rates, drawstyle="steps-post", color=color, linewidth=width, label=f"{side}, {part}")
    ax.axvspan(-1, 1, color="0.9", zorder=0, label=r"Pareto-optimal: $|\Delta|<1$")
    ax.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
    ax.set(xlabel=r"$\Delta$", ylabel="rate", xlim=(-max(ends), max(ends)), ylim=(-0.02, 1.02))
    ax.set_title(rf"{name}, C = {found.C:g}: + is predicted where $w_1\cdot x+b_1\geq\Delta$")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(file, dpi=150)
    plt.close("all")


def main() -> None:
    """Print everything, and draw it where there is a place for it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA") or None, help="folder with the data sets")
    parser.add_argument("--out", type=Path, help="folder for the figures")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of training samples and of the folds")
    parser.add_argument("--full", action="store_true", help=f"also {FULL_DRAWS} draws, seeds 0 to {FULL_DRAWS - 1}")
    parser.add_argument("--jobs", type=int, help="processes for --full")
    args = parser.parse_args()
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    for j, (name, data) in enumerate(data_sets(args.data)):
        table_1(name, data)
        found = study(data.X, data.y, args.seed)
        tell(name, found, check(found))
        if args.out is not None:
            number = list(PRINTED).index(name) + 1 if name in PRINTED else f"{name}_{j}"
            roc_figure(name, found, args.out / f"carrizosa_roc_{number}_{name}.png")
            delta_figure(name, found, args.out / f"carrizosa_delta_{number}_{name}.png")
        if args.full:
            tell_draws(
                name, Parallel(n_jobs=args.jobs)(delayed(study)(data.X, data.y, seed) for seed in range(FULL_DRAWS))
            )


if __name__ == "__main__":
    main()
