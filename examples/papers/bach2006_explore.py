r"""Exploration of the cost plane and the ROC curve of everything that was found (Bach et al. 2006, section 3.2).

Run it with ``python examples/papers/bach2006_explore.py`` (seconds), or with data and costs of yours:
``... patients.csv --label diagnosis --positive M --costs 10 1 --out explored`` writes explore.png and points.csv, a row
for each classifier of the envelope. In Python: ``from examples.papers.bach2006_explore import explore``.

Up the ray :math:`C_+n_+=C_-n_-` the best costs :math:`(C^1_+,C^1_-)` for the costs of the user are sought on
validation data: folds of the training part, or a validation set. Then each line
:math:`C_++C_-=r(C^1_++C^1_-)` is followed in both directions, for r = 1, 10, 1/10, 100, 1/100: five lines, which all
set out from the ray. They end at asymmetries of 0.001 and 0.999, next to the axes; on an axis itself w = 0, and one
label for all is on every curve anyway. On each line intercept and asymmetry vary, and the upper envelope of all of them
is the curve to choose from.

The ray is there to find the total, and no classifier is chosen from it. How good the choices are is judged where they
were not made: the whole procedure, with the choice of the total, is run once more in each training part of outer folds.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.common.checks import Array, Index, Mask, check_labels, check_pair, check_share, real_array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import STYLES
from paretoclf.plotting.roc import roc_axes
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import CostLine, Costs, as_costs
from paretoclf.problem.kernels import Precomputed
from paretoclf.problem.lines import LineOfCosts, Weighted, lines_of
from paretoclf.problem.samples import check_samples
from paretoclf.roc.crossings import scores_at
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.empirical.nested import NestedPoint, NestedRoc, nested_rocs
from paretoclf.roc.error_curve import ErrorCurve, Optimum
from paretoclf.roc.folds import validation_folds
from paretoclf.roc.of_path import union, upper_envelope
from paretoclf.roc.points import RocMixture, RocPoint
from paretoclf.roc.rules import PathRule, RandomisedRule
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.cross_validation import Samples, TrainingPart

#: Smallest and largest asymmetry of a line; where the ray is more extreme, half of what is left beyond it.
ENDS = (1e-3, 1.0 - 1e-3)
MULTIPLES = (1.0, 10.0, 0.1, 100.0, 0.01)


@dataclass(frozen=True)
class ExploredPoint:
    """A vertex of the envelope: a classifier, and the costs for which there is no better one.

    Attributes
    ----------
    point : RocPoint
        Its rates on the labels that chose it, its t and shift; ``index`` is its position on the envelope.
    multiple : float
        Of which line: its total is so many times the best one of the ray.
    trained : Costs
        Costs that it was trained with.
    cost_ratios : (float, float)
        Interval of ``C_plus / C_minus``, of the user's costs, for which it is best; at its ends its neighbour is as
        good.
    """

    point: RocPoint
    multiple: float
    trained: Costs
    cost_ratios: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Explored:
    """What was found with one training part.

    Attributes
    ----------
    optimum : Optimum
        The stretch of the ray that is best on the validation data.
    best : Costs
        Its middle: the costs whose total the lines are multiples of.
    envelope : RocCurve
        Upper hull of all lines, on the validation data. ``chosen`` by them, hence optimistic.
    line : int array of shape (vertices,)
        Which of the lines each vertex is on.
    ray : Path
        Trained on the whole part.
    lines : tuple of Path
        One for each multiple.
    curves : tuple of RocCurve
        The envelope of each line.
    """

    optimum: Optimum
    best: Costs
    envelope: RocCurve
    line: Index = field(repr=False)
    ray: pc.Path
    lines: tuple[pc.Path, ...] = field(repr=False)
    curves: tuple[RocCurve, ...] = field(repr=False)
    part: TrainingPart = field(repr=False)
    first: int = field(default=0, repr=False)

    def positive(self, rows: Index) -> Mask:
        """Which samples each vertex labels +1, shape (len(rows), vertices)."""
        rows, envelope = self.first + rows, self.envelope
        assert envelope.t is not None
        found = np.empty((len(rows), len(envelope)), dtype=bool)
        for k in np.unique(self.line):
            at = np.flatnonzero(self.line == k)
            scores = self.part.scores(self.lines[k], rows)
            found[:, at] = scores_at(scores, envelope.t[at], envelope.swept[at]) + envelope.shift[at] >= 0
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """The ROC curve of five lines of the cost plane, and the classifier for every costs.

    Attributes
    ----------
    costs : Costs
        Those the total was chosen for.
    prior_plus : float
        Probability of a positive where the classifier is used.
    multiples : tuple of float
        Totals of the lines, in units of the best total of the ray.
    nested : NestedRoc
        The curve that can be expected: judged where nothing was chosen.
    """

    costs: Costs
    prior_plus: float
    multiples: tuple[float, ...]
    nested: NestedRoc

    def __repr__(self) -> str:
        return (
            f"Exploration(total {self.found.best.total:.4g}, {len(self.multiples)} lines, "
            f"{len(self.envelope)} vertices, AUC {self.nested.auc:.4f}; "
            f"upper envelope {self.envelope.auc:.4f}, optimistic)"
        )

    @property
    def found(self) -> Explored:
        """What was found with all samples: the paths, and the choice among their classifiers."""
        assert isinstance(self.nested.final, Explored)
        return self.nested.final

    @property
    def envelope(self) -> RocCurve:
        """Upper hull of all lines on the validation data, to choose from; optimistic as a measure of quality."""
        return self.found.envelope

    @cached_property
    def points(self) -> tuple[ExploredPoint, ...]:
        """The vertices of the envelope, by increasing fpr."""
        found, costs, prior = self.found, self.costs, self.prior_plus
        vertices = []
        for j, each in enumerate(self.envelope.best_ranges(prior_plus=prior)):
            point = replace(each.point, cost=each.point.expected_cost(costs, prior))
            line = int(found.line[j])
            trained = found.lines[line].costs(point.t)
            vertices.append(ExploredPoint(point, self.multiples[line], trained, (each.start, each.stop)))
        return tuple(vertices)

    def select(self, costs: Costs | tuple[float, float] | None = None, prior_plus: float | None = None) -> NestedPoint:
        """Return the classifier for given costs, with its rates where it was not chosen; see `NestedRoc.select`.

        Parameters
        ----------
        costs : Costs or (C_plus, C_minus), optional
            Default: those of the exploration.
        prior_plus : float, optional
            Default: that of the exploration.
        """
        return self.nested.select(
            self.costs if costs is None else costs, self.prior_plus if prior_plus is None else prior_plus
        )

    def rule(self, chosen: NestedPoint | ExploredPoint | RocPoint | RocMixture) -> Rule | RandomisedRule:
        """Return the classifier of a point of the envelope, or of a mixture of two, trained on all samples.

        Parameters
        ----------
        chosen : NestedPoint, ExploredPoint, RocPoint or RocMixture
            From `select`, from `points`, or from a method of the envelope such as `RocCurve.at_rate`.
        """
        if isinstance(chosen, RocMixture):
            if chosen.share == 0:
                return self._rule(chosen.first)
            return RandomisedRule(self._rule(chosen.first), self._rule(chosen.second), chosen.share)
        if isinstance(chosen, NestedPoint):
            return self._rule(chosen.chosen)
        return self._rule(chosen.point if isinstance(chosen, ExploredPoint) else chosen)

    def plot(self, axes: Any) -> None:
        """Draw the cost plane and the ROC curves on two axes."""
        self._lines(axes[0])
        self._curves(axes[1])

    def _rule(self, point: RocPoint) -> Rule:
        found = self.found
        if not 0 <= point.index < len(self.envelope) or self.envelope.fpr[point.index] != point.fpr:
            raise InputError(f"chosen must be a vertex of this envelope, got {point}")
        return PathRule.of(found.lines[int(found.line[point.index])], point)

    def _lines(self, ax: Any) -> None:
        """Draw the cost plane: the ray, the lines of constant total, the costs that were chosen."""
        found = self.found
        line = found.ray.line
        t = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 200)])
        ray = np.array([tuple(line.at(float(each))) for each in t])
        ax.plot(*ray.T, color="0.5", linewidth=1.2, label="ray: finds the total")
        lowest = min(self.multiples) * found.best.total / 30
        for k, r in enumerate(self.multiples):
            color, style = STYLES[k % len(STYLES)]
            share = np.concatenate([np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(0.5, 1e-9, 200)])
            total = r * found.best.total
            ax.plot(total * share, total * (1 - share), color=color, linestyle=style)
            ax.annotate(f"total {total:.3g}", (1.5 * lowest, 1.15 * total), color=color, fontsize="small")
        ax.plot(*tuple(found.best), "o", color="black", label=f"best on the ray: total {found.best.total:.3g}")
        top = 30 * max(max(self.multiples) * found.best.total, line.stop.total)
        ax.set(xscale="log", yscale="log", xlim=(lowest, top), ylim=(lowest, top), xlabel="C_plus", ylabel="C_minus")
        ax.set_aspect("equal")
        ax.set_title("lines that were followed")
        ax.legend(loc="upper left", frameon=False, fontsize="small")

    def _curves(self, ax: Any) -> None:
        """Draw the ROC curves: of the lines, their envelope, and what can be expected."""
        roc_axes(ax)
        curves = list(enumerate(zip(self.multiples, self.found.curves, strict=True)))
        for k, (r, curve) in sorted(curves, key=lambda each: -each[1][0]):  # as they lie in the cost plane
            color, style = STYLES[k % len(STYLES)]
            total = f"total {r * self.found.best.total:.3g}"
            ax.plot(curve.fpr, curve.tpr, color=color, linestyle=style, linewidth=1.2, label=total)
        envelope, judged = self.envelope, self.nested
        label = f"upper envelope (AUC {envelope.auc:.3f}, optimistic)"
        ax.plot(envelope.fpr, envelope.tpr, color="black", linewidth=0.8, marker=".", markersize=4, label=label)
        grid = np.linspace(0.0, 1.0, 401)
        ax.plot(
            grid, judged.tpr_at(grid).mean(axis=0), color="black", linewidth=2, label=f"nested (AUC {judged.auc:.3f})"
        )
        point = self.select()
        label = f"for costs ({self.costs.C_plus:g}, {self.costs.C_minus:g})"
        ax.plot(point.fpr, point.tpr, "*", color="black", markersize=12, label=label)
        ax.legend(loc="lower right", frameon=False, fontsize="small")
        ax.set_title("curves, chosen on validation folds")


def explore(
    svm: Weighted,
    costs: Costs | tuple[float, float],
    *,
    X_val: Any = None,
    y_val: Any = None,
    prior_plus: float | None = None,
    totals: tuple[float, float] = (1e-3, 1e2),
    multiples: Sequence[float] = MULTIPLES,
    folds: int = 5,
    repeats: int = 1,
    inner: int = 5,
    n_grid: int = 200,
    rng: int | np.random.Generator = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Exploration:
    """Explore the cost plane for given costs, and combine what was found into one ROC curve.

    Parameters
    ----------
    svm : TwoCSVM
        The whole problem, as for `cross_validated_roc`.
    costs : Costs or (C_plus, C_minus)
        Costs of a false negative and of a false positive when the classifier is used; not both zero. The total is
        chosen for them; classifiers can then be chosen for any costs.
    X_val, y_val : array or sparse matrix of shape (m, d), array of shape (m,); optional
        A validation set, as in the paper: it chooses in place of validation folds, everything is trained on all samples
        of the problem, and the outer folds are of the validation set. So no label judges what it helped to choose here,
        too. Both or none.
    prior_plus : float, optional
        Probability of a positive where the classifier is used, strictly between 0 and 1. Default: the share among the
        samples, or among those of the validation set.
    totals : (lo, hi)
        The part of the ray ``C_plus n_plus = C_minus n_minus`` that is followed, as ``C_plus + C_minus``.
    multiples : sequence of float
        Lines of so many times the best total are explored; positive.
    folds, repeats, inner : int
        Outer folds, in which the whole procedure is judged, how many partitions into such, and validation folds inside
        of each training part; fewer where it has fewer samples of a class.
    n_grid : int
        Thresholds are tried at so many equally spaced t of each line, beside the path's own classifiers.
    rng, transformer, n_jobs, progress
        As for `cross_validated_roc`. With a transformer `Exploration.rule` wants transformed samples.

    Raises
    ------
    InputError, DegeneratePathError
        If a class has too few samples, an argument is not what it must be, or a path cannot be followed.

    Notes
    -----
    The total: held-out errors of the validation folds are step functions of t on the ray, exact, and their sum has the
    smallest cost on one stretch of t or several. Of these the one of the smallest total is taken (the most
    regularised), and its middle.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3.2.
    """
    lines_of(svm, only=LineOfCosts)
    at = as_costs(costs)
    if at.total == 0:
        raise InputError("costs must not both be zero")
    labels = svm.y if X_val is None and y_val is None else _checked_validation(svm, X_val, y_val)
    prior = check_share(float((labels > 0).mean()) if prior_plus is None else prior_plus, "prior_plus")
    low, high = check_pair(totals, "totals")
    if not 0 < low < high < np.inf:
        raise InputError(f"totals must be two positive finite numbers, the smaller one first, got {totals!r}")
    rs = real_array(multiples, "multiples")
    if rs.ndim != 1 or rs.size == 0 or not ((rs > 0) & np.isfinite(rs)).all():
        raise InputError(f"multiples must be positive numbers, at least one, got {multiples!r}")
    if inner < 2:
        raise InputError(f"inner must be at least 2, got {inner!r}")
    samples = Samples.of(svm, transformer)
    explorer = Explorer(samples, at, prior, (low, high), tuple(rs.tolist()), int(inner), n_grid)
    if X_val is not None:
        both = replace(
            samples, X=_stacked(samples.X, X_val), y=np.concatenate([svm.y, labels]),
            sample_weight=np.concatenate([svm.sample_weight, np.ones(labels.size)]),
        )  # fmt: skip
        part = both.part(np.arange(svm.y.size))
        whole = _TracedPart.of(part, ray_of(svm.y, svm.sample_weight, (low, high)))
        explorer = replace(explorer, samples=both, trained=whole, first=svm.y.size)
    nested = nested_rocs(labels, explorer, folds=folds, repeats=repeats, rng=rng, n_jobs=n_jobs, progress=progress)
    return Exploration(at, prior, explorer.multiples, nested["explored"])


@dataclass(frozen=True)
class Explorer:
    """The procedure, for `nested_rocs`; the parameters are those of `explore`.

    With a validation set the samples are those of training and then those of validation: `first` is the position of the
    first of these, and `trained` is what was traced on the others.
    """

    samples: Samples
    costs: Costs
    prior_plus: float
    totals: tuple[float, float]
    multiples: tuple[float, ...]
    inner: int
    n_grid: int
    trained: _TracedPart | None = None
    first: int = 0

    def __call__(self, train: Index, seed: int) -> dict[str, Explored]:
        """Explore with the validation folds of a training part, or with some of the validation set."""
        if self.trained is None:
            whole, held = self._folds(train, seed)
        else:
            whole, held = self.trained, [(self.trained, self.first + train)]
        ray = whole.ray.line
        share = ray.start.asymmetry
        labels = [self.samples.y[rows] for _, rows in held]
        scores = [traced.part.scores(traced.ray, rows) for traced, rows in held]
        optimum = best_on_ray(scores, labels, ray, self.costs, self.prior_plus)
        best = ray.at(optimum.t)
        ends = min(ENDS[0], share / 2), max(ENDS[1], (1 + share) / 2)
        at_ray = (share - ends[0]) / (ends[1] - ends[0])
        curves, lines = [], []
        for r in self.multiples:
            start, stop = (Costs.from_asymmetry(end, r * best.total) for end in ends)
            scores = [traced.part.scores(traced.line(start, stop), rows) for traced, rows in held]
            curves.append(line_envelope(scores, labels, at_ray, self.n_grid))
            lines.append(whole.line(start, stop))
        envelope, line = combined(curves)
        found = Explored(optimum, best, envelope, line, whole.ray, tuple(lines), tuple(curves), whole.part, self.first)
        return {"explored": found}

    def _folds(self, train: Index, seed: int) -> tuple[_TracedPart, list[tuple[_TracedPart, Index]]]:
        """A training part as a whole, and its validation folds."""
        y, part = self.samples.y, self.samples.part
        ray = ray_of(y[train], self.samples.sample_weight[train], self.totals)
        parts = validation_folds(y, train, self.inner, seed)
        return _TracedPart.of(part(train), ray), [(_TracedPart.of(part(rest), ray), fold) for rest, fold in parts]


def _checked_validation(svm: Weighted, X_val: Any, y_val: Any) -> Array:
    """Labels of a validation set that fits a problem."""
    if X_val is None or y_val is None:
        given = "y_val" if X_val is None else "X_val"
        raise InputError(f"X_val and y_val must be given both or not at all, got only {given}")
    if isinstance(svm.gram.kernel, Precomputed):
        raise InputError("X_val must be left out for kernel='precomputed': validation folds need no other samples")
    Z = check_samples(X_val, "X_val", n_features=svm.gram.X.shape[1])
    return check_labels(y_val, Z.shape[0], "y_val", of=X_val)


def _stacked(X: Any, Z: Any) -> Any:
    if sp.issparse(X) or sp.issparse(Z):
        return sp.vstack([sp.csr_array(X), sp.csr_array(Z)], format="csr")
    return np.concatenate([X, np.asarray(Z, dtype=float)])


def ray_of(y: Array, sample_weight: Array, totals: tuple[float, float]) -> CostLine:
    """The ray ``C_plus n_plus = C_minus n_minus`` of some samples, between two totals."""
    plus, minus = float(sample_weight[y > 0].sum()), float(sample_weight[y < 0].sum())
    low, high = (Costs.from_asymmetry(minus / (plus + minus), total) for total in totals)
    return CostLine(low, high)


def best_on_ray(
    scores: Sequence[PathScores], y: Sequence[Array], ray: CostLine, costs: Costs, prior_plus: float | None = None
) -> Optimum:
    """Stretch of a ray with the smallest cost on validation folds; of several that of the smallest total."""
    return ErrorCurve.of_scores(scores, y, ray).best(costs, prior_plus)[0]


def line_envelope(scores: Sequence[PathScores], y: Sequence[Array], t: float, n_grid: int) -> RocCurve:
    """Upper hull of one line on validation folds: "both", with the curves of the intercept at t and the asymmetry.

    With them it contains them: the grid of "both" alone may miss classifiers of the path.
    """
    parts = [upper_envelope(scores, y, vary, t, n_grid) for vary in ("intercept", "asymmetry", "both")]
    return union(parts).hull()


def combined(curves: Sequence[RocCurve]) -> tuple[RocCurve, Index]:
    """Upper hull of several curves that all have the two corners, and which curve each of its vertices is from."""
    hull = union(curves).hull()
    assert hull.index is not None
    return hull, np.repeat(np.arange(len(curves)), [len(curve) for curve in curves])[hull.index]


@dataclass(frozen=True)
class _TracedPart:
    """A training part and its ray, from which its lines set out."""

    part: TrainingPart
    ray: pc.Path

    @classmethod
    def of(cls, part: TrainingPart, ray: CostLine) -> _TracedPart:
        return cls(part, part.trace(ray.start, ray.stop))

    def line(self, start: Costs, stop: Costs) -> pc.Path:
        return self.part.trace(start, stop, self.ray)


def points(found: Exploration, data: pc.datasets.Dataset) -> list[dict[str, Any]]:
    """One row a vertex of the envelope; slope and intercept, with a linear kernel, in the units of the data."""
    scaler = found.found.part.part.fitted
    scale, mean = (np.ones(data.d), np.zeros(data.d)) if scaler is None else (scaler.scale_, scaler.mean_)
    rows = []
    for each in found.points:
        row: dict[str, Any] = {
            "point": each.point.index,
            "fpr": each.point.fpr,
            "tpr": each.point.tpr,
            "cost_ratio_from": each.cost_ratios[0],
            "cost_ratio_to": each.cost_ratios[1],
            "multiple": each.multiple,
            "C_plus": each.trained.C_plus,
            "C_minus": each.trained.C_minus,
            "shift": each.point.shift,
        }
        if found.found.ray.gram.quadratic.width:
            rule = found.rule(each)
            w = rule.w / scale
            row["b"] = float(rule.b - w @ mean)
            row |= {f"w_{name}": float(value) for name, value in zip(data.feature_names, w, strict=True)}
        rows.append(row)
    return rows


def text(found: Exploration, data: pc.datasets.Dataset) -> str:
    """What was found, for people."""
    chosen, envelope = found.select(), found.envelope
    there = chosen.chosen
    return (
        f"data    {data.name}: {data.n} samples, {data.d} features\n"
        f"costs   of a false negative {found.costs.C_plus:g}, of a false positive {found.costs.C_minus:g}; "
        f"share of positives {found.prior_plus:.3g}\n"
        f"total   {found.found.best.total:.4g}, best on the ray; lines at {len(found.multiples)} multiples of it\n"
        f"AUC     {found.nested.auc:.4f}, chosen elsewhere; "
        f"{envelope.auc:.4f}, upper envelope of {len(envelope)} points (optimistic)\n"
        f"chosen  point {there.index}: fpr {chosen.fpr:.4f}, tpr {chosen.tpr:.4f}, cost {chosen.cost:.4f} where it was "
        f"not chosen; fpr {there.fpr:.4f}, tpr {there.tpr:.4f}, cost {there.cost:.4f} where it was (optimistic)"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Explore a data set; print what was found, and write its picture and points."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("source", nargs="?", default="twonorm", help="a built-in name (default: twonorm) or a file")
    parser.add_argument("--n", type=int, help="use this many rows, drawn at random (default for twonorm: 60)")
    parser.add_argument("--label", help="label column of a file")
    parser.add_argument("--positive", help="label value that counts as positive")
    parser.add_argument("--costs", nargs=2, type=float, default=(2.0, 1.0), metavar=("C_PLUS", "C_MINUS"))
    parser.add_argument("--prior", type=float, help="share of positives in use (default: that of the data)")
    parser.add_argument("--out", type=Path, help="folder for explore.png and points.csv")
    args = parser.parse_args(arguments)
    n = 60 if args.n is None and args.source == "twonorm" else args.n
    data = pc.datasets.load(args.source, label=args.label, positive=args.positive, n=n)
    folds = min(5, data.n_plus, data.n_minus)
    if folds < 4:  # a training part must have two of each class left for its own validation
        raise InputError(f"{args.source}: needs at least 4 samples of each class, got {folds}")
    found = explore(
        pc.TwoCSVM(data.X, data.y), tuple(args.costs), prior_plus=args.prior, folds=folds, transformer=StandardScaler()
    )
    print(text(found, data))
    if args.out is None:
        return
    args.out.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(12.8, 6.6), layout="constrained")  # not one of pyplot: nothing is left open
    found.plot(figure.subplots(1, 2))
    figure.savefig(args.out / "explore.png", dpi=150)
    rows = points(found, data)
    with (args.out / "points.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
