"""``paretoclf tune``: choose a 2nu-SVM for minimax or Neyman-Pearson, with its errors and its guarantee."""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.data import describe, load_data, said, scaling
from paretoclf.cli.files import staged, to_json
from paretoclf.cli.model import TableClassifier
from paretoclf.common.errors import BandwidthWarning, InputError
from paretoclf.plotting import TuningDisplay
from paretoclf.roc.criteria import Criterion
from paretoclf.tuning.error_arrays import ErrorArrays
from paretoclf.tuning.tune import Tuned


def run_tune(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    criterion = chosen_criterion(args)
    data = load_data(args)
    out = Path(args.out)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", BandwidthWarning)
        tuned = pc.tune(data.X, data.y, criterion, args.method, **_settings(args))
    gridded = tuned.arrays is not None
    names = ("report.json", "model.json", *(("errors.csv", "tuning.png") if gridded else ()))
    report: dict[str, Any] = {"version": pc.__version__, "data": describe(data)}
    report |= {"scaling": scaling(tuned.transformer), **summary(tuned), "seed": args.seed}
    report["warnings"] = [str(each.message) for each in said]
    report["files"] = [str(out / name) for name in names]
    with staged(out) as folder:
        if gridded:
            draw(tuned).savefig(folder / "tuning.png", dpi=150)
            write_cells(folder / "errors.csv", tuned)
        chosen = {name: report[name] for name in ("criterion", "method", "parameters", "cross_validated")}
        TableClassifier.of(data, tuned.classifier, chosen).save(folder / "model.json")
        (folder / "report.json").write_text(to_json(report) + "\n", encoding="utf-8")
    print(to_json(report) if args.json else text(report))
    return 0


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """Settings of `paretoclf.tune` that the options name."""
    names = ("smoothing", "folds", "delta", "resume")
    settings = {name: getattr(args, name) for name in names}
    settings |= {"nu_plus": args.points, "rng": args.seed, "n_jobs": args.jobs}
    settings["bandwidths"] = args.bandwidth or args.bandwidths
    settings["transformer"] = StandardScaler() if args.standardize else None
    settings["progress"] = False if args.json else None
    return settings


def chosen_criterion(args: argparse.Namespace) -> Criterion:
    """Criterion that the options name."""
    if (args.alpha is not None) != (args.criterion in ("np", "np-score")):
        raise InputError("--alpha goes with --criterion np and np-score, which need it")
    if (args.costs is not None) != (args.criterion == "cost"):
        raise InputError("--costs C_PLUS C_MINUS PRIOR goes with --criterion cost, which needs it")
    if args.criterion == "np":
        return pc.tuning.NeymanPearson(args.alpha)
    if args.criterion == "np-score":
        return pc.tuning.NeymanPearsonScore(args.alpha)
    return pc.tuning.ExpectedCost(*args.costs) if args.criterion == "cost" else pc.tuning.Minimax()


def summary(tuned: Tuned) -> dict[str, Any]:
    """Choice, the errors on which it was made, and its proofs."""
    found: dict[str, Any] = {"criterion": repr(tuned.criterion), "method": tuned.method}
    found["smoothing"] = None if tuned.window is None else repr(tuned.window)
    found["parameters"] = tuned.parameters
    found["cross_validated"] = {"fpr": tuned.raw_fpr, "fnr": tuned.raw_fnr}
    found["smoothed"] = {"fpr": tuned.fpr, "fnr": tuned.fnr}
    found |= {"objective": tuned.objective, "allowed": tuned.allowed}
    found["cells"] = None if tuned.arrays is None else _cells(tuned.arrays)
    found["skipped"] = len(tuned.skipped)
    proof = tuned.solution.certificate
    found["certificate"] = {"gap": proof.gap, "residual": proof.worst, "passes": proof.passes()}
    found["guarantee"] = None if tuned.guarantee is None else dict(vars(tuned.guarantee))
    found["seconds"] = tuned.seconds
    return found


def _cells(arrays: ErrorArrays) -> dict[str, int]:
    """Numbers of cells: evaluated ones, all, and those without a classifier."""
    trivial, refused = (int((count > 0).sum()) for count in (arrays.trivial, arrays.refused))
    found = {"evaluated": arrays.cells, "of": arrays.evaluated.size}
    return {**found, "without classifier: trivial": trivial, "without classifier: refused": refused}


def draw(tuned: Tuned) -> Figure:
    """Draw the errors over the grid."""
    display = TuningDisplay.from_tuned(tuned)
    figure = Figure(figsize=display.size, layout="constrained")  # not one of pyplot: nothing is left open
    display.plot(np.atleast_1d(figure.subplots(1, len(display.panels), sharey=True)))
    return figure


def write_cells(file: Path, tuned: Tuned) -> None:
    """Write one row a cell that was evaluated."""
    arrays = tuned.arrays
    assert arrays is not None
    smoothed = tuned.smoothed
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        kinds = (
            "false_positives",
            "false_negatives",
            "fpr",
            "fnr",
            "smoothed_fpr",
            "smoothed_fnr",
            "trivial",
            "refused",
        )
        writer.writerow([*arrays.axes, *kinds])
        raw = [arrays.false_positives, arrays.false_negatives, arrays.fpr, arrays.fnr]
        columns: list[Any] = [*raw, *smoothed, arrays.trivial, arrays.refused]
        for cell in map(tuple, np.argwhere(arrays.evaluated)):
            at = [float(values[k]) for values, k in zip(arrays.axes.values(), cell, strict=True)]
            numbers = at + [float(column[cell]) for column in columns]
            writer.writerow(["" if np.isnan(value) else value for value in numbers])


def text(report: Mapping[str, Any]) -> str:
    """Text of a report, for people."""
    data, raw, smoothed, proof = (report[k] for k in ("data", "cross_validated", "smoothed", "certificate"))
    cells, guarantee = report["cells"], report["guarantee"]
    chosen = ", ".join(f"{name} {value:.6g}" for name, value in report["parameters"].items())
    rates = f"fpr {raw['fpr']:.4f}, fnr {raw['fnr']:.4f}"
    if report["smoothing"]:
        rates += f"; smoothed {smoothed['fpr']:.4f}, {smoothed['fnr']:.4f}"
    if not report["allowed"]:
        rates += "; nothing was allowed: the best score was taken"
    out = [
        f"data            {said(data)}; features {'standardised' if report['scaling'] else 'as given'}",
        f"criterion       {report['criterion']}, by {report['method']}",
        f"chosen          {chosen}",
        f"cross-validated {rates}",
    ]
    if cells is not None:
        none = sum(cells[f"without classifier: {kind}"] for kind in ("trivial", "refused"))
        out.append(f"cells           {cells['evaluated']} of {cells['of']} evaluated, {none} without a classifier")
    out.append(f"certificate     gap {proof['gap']:.1e}, {'passes' if proof['passes'] else 'FAILS'}")
    if guarantee is not None:
        out.append(
            f"guarantee       P(fpr > {guarantee['alpha']:g}) <= {guarantee['bound']:.3g}, from "
            f"{guarantee['negatives']} left-out negatives (rank {guarantee['rank']})"
        )
    out += [f"warning         {each}" for each in report["warnings"]]
    return "\n".join([*out, f"wrote           {', '.join(report['files'])}"])
