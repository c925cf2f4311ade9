"""``paretoclf explore``: the ROC curve of five lines of costs around the best total, and what to choose from it."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import staged, to_json
from paretoclf.cli.model import TableClassifier, number
from paretoclf.cli.study import Options
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset
from paretoclf.plotting import ExplorationDisplay
from paretoclf.plotting.base import plain
from paretoclf.problem.kernels import kernel_spec

FILES = ("explore.png", "points.csv", "model.json", "report.json")


def run_explore(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    options = Options(
        args.kernel, args.bandwidth, args.degree, standardize=args.standardize, seed=args.seed, repeats=args.repeats
    )
    data = load_data(args)
    folds = min(5, data.n_plus, data.n_minus)
    if folds < 4:  # a training part must have two of each class left for its own validation
        raise InputError(f"{args.source}: needs at least 4 samples of each class, got {min(data.n_plus, data.n_minus)}")
    scaler = StandardScaler() if options.standardize else None
    scaled = data.X if scaler is None else StandardScaler().fit_transform(data.X)
    kernel = options.make_kernel(scaled)
    found = pc.explore(
        pc.TwoCSVM(data.X, data.y, kernel=kernel),
        tuple(args.costs),
        prior_plus=args.prior,
        folds=folds,
        repeats=options.repeats,
        rng=options.seed,
        transformer=scaler,
        progress=False if args.json else None,
    )
    rows = points(found, data)
    out = Path(args.out)
    chosen = found.select()
    report: dict[str, Any] = {
        "version": pc.__version__,
        "data": describe(data),
        "kernel": kernel_spec(kernel),
        "scaling": "fitted on each training part" if options.standardize else "none",
        "seed": options.seed,
        "costs": {"C_plus": found.costs.C_plus, "C_minus": found.costs.C_minus, "prior_plus": found.prior_plus},
        "total": found.found.best.total,
        "multiples": found.multiples,
        "nested": {"folds": folds, "repeats": options.repeats, "auc": found.nested.auc, "areas": found.nested.areas},
        "envelope": {"auc": found.envelope.auc, "points": len(rows), "optimistic": True},
        "chosen": {
            "point": chosen.chosen.index,
            "t": chosen.chosen.t,
            "shift": number(chosen.chosen.shift),
            "trained_at": {name: rows[chosen.chosen.index][name] for name in ("C_plus", "C_minus")},
            "fpr": chosen.fpr,
            "tpr": chosen.tpr,
            "cost": chosen.cost,
            "where_it_was_chosen": {"fpr": chosen.chosen.fpr, "tpr": chosen.chosen.tpr, "cost": chosen.chosen.cost},
        },
        "points": rows,
        "files": [str(out / name) for name in FILES],
    }
    rule = found.rule(chosen)
    assert isinstance(rule, pc.results.Rule)
    model = TableClassifier.of(data, rule, report["chosen"], found.found.part.part.fitted)
    with staged(out) as folder:
        model.save(folder / "model.json")
        figure = Figure(figsize=(12.8, 6.6), layout="constrained")  # not one of pyplot: nothing is left open
        display = ExplorationDisplay.from_exploration(found)
        display.plot(figure.subplots(1, 2), title=plain(f"{data.name}: curves, chosen on validation folds"))
        figure.savefig(folder / "explore.png", dpi=150)
        with (folder / "points.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        (folder / "report.json").write_text(to_json(report) + "\n", encoding="utf-8")
    print(to_json(report) if args.json else text(report))
    return 0


def points(found: pc.results.Exploration, data: Dataset) -> list[dict[str, Any]]:
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
            assert isinstance(rule, pc.results.Rule)
            w = rule.w / scale
            row["b"] = float(rule.b - w @ mean)
            row |= {f"w_{name}": float(value) for name, value in zip(data.feature_names, w, strict=True)}
        rows.append(row)
    return rows


def text(report: dict[str, Any]) -> str:
    """Text of a report, for people."""
    data, costs, chosen, nested = (report[name] for name in ("data", "costs", "chosen", "nested"))
    there = chosen["where_it_was_chosen"]
    lines = [
        f"data           {data['name']}: {data['samples']} samples, {data['features']} features",
        f"costs          of a false negative {costs['C_plus']:g}, of a false positive {costs['C_minus']:g}; "
        f"share of positives {costs['prior_plus']:.3g}",
        f"total          {report['total']:.4g}, best on the ray; lines at {len(report['multiples'])} multiples of it",
        f"AUC            {nested['auc']:.4f}, chosen elsewhere ({nested['repeats']} x {nested['folds']} folds)",
        f"               {report['envelope']['auc']:.4f}, upper envelope of {report['envelope']['points']} points "
        "(optimistic)",
        f"chosen         point {chosen['point']}: fpr {chosen['fpr']:.4f}, tpr {chosen['tpr']:.4f}, "
        f"cost {chosen['cost']:.4f} where it was not chosen",
        f"               fpr {there['fpr']:.4f}, tpr {there['tpr']:.4f}, cost {there['cost']:.4f} "
        "where it was (optimistic)",
    ]
    return "\n".join([*lines, *(f"wrote          {name}" for name in report["files"])])
