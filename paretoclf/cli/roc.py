"""``paretoclf roc``: ROC curves of a saved path on a data set."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np

import paretoclf as pc
from paretoclf.cli.curves import legend, roc_figure, summary, table
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.files import replacing
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
    data = load_data(args)
    width = path.gram.X.shape[1]
    if data.d != width:
        raise InputError(f"{args.source}: has {data.d} features, but {args.path} was traced on {width}")
    X, scaled = _scaled(Path(args.path), data.X)
    scores = path.scores(X)
    t = symmetric_t(path, float(scores.t[0]), float(scores.t[-1]))
    curves = {vary: roc_of_scores(scores, data.y, vary, t=t) for vary in get_args(Vary)}
    folds = min(FOLDS, data.n_plus, data.n_minus)
    choose = AlongPath(scores, data.y, get_args(Vary), t)
    nested = nested_rocs(data.y, choose, folds=folds, repeats=REPEATS, rng=args.seed) if folds > 1 else {}
    trained_on = path.gram.X
    training = X.shape == trained_on.shape and bool(np.allclose(X, dense(trained_on)))
    report: dict[str, Any] = {"version": pc.__version__, "path": str(args.path), "data": describe(data)}
    report |= {"scaled_as_in_training": scaled, "training_samples": training}
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


def _scaled(path: Path, X: Array) -> tuple[Array, bool]:
    """Samples in the units of the path's training samples, which `paretoclf trace` notes in its report."""
    file = path.with_name(REPORT)
    if not file.is_file():
        return X, False
    try:
        scaling = json.loads(file.read_text(encoding="utf-8"))["scaling"]
        if scaling is None:
            return X, False
        return (X - np.array(scaling["mean"], float)) / np.array(scaling["scale"], float), True
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not a report of paretoclf trace for this path ({error})") from None


def _text(report: dict[str, Any]) -> str:
    """Text of a report, for people."""
    data, curves = report["data"], report["curves"]
    size = f"{data['samples']} samples, {data['features']} features"
    which = "the training samples themselves" if report["training_samples"] else "not the training samples"
    units = f"scaled as the training samples were ({REPORT} beside the path)"
    out = [
        f"data           {data['name']}: {size}, {which}",
        f"features       {units if report['scaled_as_in_training'] else 'as given'}",
        "AUC",
    ]
    out += table(curves)
    out += legend(curves, f"the other samples of {report['folds']} folds", report["repeats"])
    if report["training_samples"]:
        out.append("The path was trained on these samples: every number is optimistic.")
    return "\n".join([*out, *(f"wrote          {name}" for name in report.get("files", ()))])
