"""``paretoclf roc``: ROC curves of a saved path on a data set."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

import paretoclf as pc
from paretoclf.cli.curves import legend, roc_figure, summary, table
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.cli.model import column_of
from paretoclf.common.checks import Array, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.files import replacing
from paretoclf.datasets import Dataset
from paretoclf.datasets.cells import Column
from paretoclf.path.load import load_path
from paretoclf.problem.samples import dense
from paretoclf.roc.empirical.nested import AlongPath, nested_rocs
from paretoclf.roc.of_path import Vary, roc_of_scores, symmetric_t

FOLDS, REPEATS = 5, 3
REPORT = "report.json"
PICTURES = (".png", ".pdf", ".svg")


def run_roc(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    if args.out is not None and Path(args.out).suffix.lower() not in PICTURES:
        raise InputError(f"--out {args.out}: must end in {', '.join(PICTURES)}")
    path = _load(args.path)
    width = path.gram.X.shape[1]
    training = _training(Path(args.path), width)
    data = load_data(args, training.recipe)
    if data.d != width:
        raise InputError(f"{args.source}: has {data.d} features, but {args.path} was traced on {width}")
    X = (data.X - training.mean) / training.scale
    scores = path.scores(X)
    t = symmetric_t(path, float(scores.t[0]), float(scores.t[-1]))
    curves = {vary: roc_of_scores(scores, data.y, vary, t=t) for vary in get_args(Vary)}
    folds = min(FOLDS, data.n_plus, data.n_minus)
    choose = AlongPath(scores, data.y, get_args(Vary), t)
    nested = nested_rocs(data.y, choose, folds=folds, repeats=REPEATS, rng=args.seed) if folds > 1 else {}
    trained_on = path.gram.X
    same = X.shape == trained_on.shape and bool(np.allclose(X, dense(trained_on)))
    report: dict[str, Any] = {"version": pc.__version__, "path": str(args.path), "data": describe(data)}
    report |= {"columns": _matched(training.recipe, data)}
    report |= {"scaled_as_in_training": training.scaled, "training_samples": same}
    report |= {"folds": folds, "repeats": REPEATS, "curves": summary(curves, nested)}
    if args.out is not None:
        with replacing(Path(args.out)) as temporary:
            roc_figure(curves, nested, f"{data.name}: ROC curves of a path").savefig(temporary, dpi=150)
        report["files"] = [str(args.out)]
    print(to_json(report) if args.json else _text(report))
    return 0


def _load(file: str) -> pc.Path:
    """Read a saved path in costs."""
    path = load_path(file)
    if not isinstance(path, pc.Path):
        raise InputError(f"{file}: a {type(path).__name__}, and the ROC curves are those of a Path in costs")
    return path


@dataclass(frozen=True)
class _Training:
    """Columns of the path's training samples, and what these were scaled by."""

    recipe: tuple[Column, ...] = ()
    scaled: bool = False
    mean: Array | float = 0.0
    scale: Array | float = 1.0


def _training(path: Path, width: int) -> _Training:
    """Read what `paretoclf trace` notes in its report, beside the path; nothing where there is none."""
    file = path.with_name(REPORT)
    if not file.is_file():
        return _Training()
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        recipe = tuple(map(column_of, stored.get("columns", ())))
        features = sum(len(column.features) for column in recipe)
        if recipe and features != width:
            raise ValueError(f"{features} features, not {width}")
        if (scaling := stored["scaling"]) is None:
            return _Training(recipe)
        mean, scale = (check_vector(scaling[name], width, name) for name in ("mean", "scale"))
        return _Training(recipe, True, mean, scale)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not a report of paretoclf trace for this path ({error})") from None


def _matched(recipe: tuple[Column, ...], data: Dataset) -> str:
    """How columns became features, in words."""
    names = tuple(name for column in recipe for name in column.features)
    if names == data.feature_names:
        return "by name"
    other = next((name for name in names if name not in data.feature_names), None)
    return "by position: " + ("the path keeps no names" if other is None else f"{data.name} has no {other!r}")


def _text(report: dict[str, Any]) -> str:
    """Text of a report, for people."""
    data, curves = report["data"], report["curves"]
    size = f"{data['samples']} samples, {data['features']} features"
    which = "the training samples themselves" if report["training_samples"] else "not the training samples"
    units = f"scaled as the training samples were ({REPORT} beside the path)"
    out = [
        f"data           {data['name']}: {size}, {which}",
        f"columns        {report['columns']}",
        f"features       {units if report['scaled_as_in_training'] else 'as given'}",
        "AUC",
    ]
    out += table(curves)
    out += legend(curves, f"the other samples of {report['folds']} folds", report["repeats"])
    if report["training_samples"]:
        out.append("The path was trained on these samples: every number is optimistic.")
    return "\n".join([*out, *(f"wrote          {name}" for name in report.get("files", ()))])
