"""``paretoclf predict``: a saved model on new samples."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.cli.data import character, with_flags
from paretoclf.cli.files import to_json
from paretoclf.cli.model import TableClassifier, same_label
from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.files import replacing
from paretoclf.datasets import load
from paretoclf.datasets.cells import ColumnsError, defused, listed, number_of, read_samples
from paretoclf.datasets.files import FRAMES, csv_rows, frame_rows


def run_predict(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    model = TableClassifier.load(args.model)
    X, rows, truth, kept = _samples(args, model)
    scores = model.scores(X)
    labels = model.labels(scores)
    judged = None if truth is None else _judged(args, model, labels, truth)
    counts = {name: labels.count(name) for name in (model.positive, model.negative)}
    report: dict[str, Any] = {"model": str(args.model), "samples": len(labels), "predicted": counts}
    report["judged"] = judged
    columns = {"row": rows, **kept, "score": scores.tolist(), "predicted": labels}
    names = list(columns)
    table = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({name: defused(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    if args.out is not None:
        with replacing(Path(args.out)) as temporary:
            Path(temporary).write_text(text.getvalue(), encoding="utf-8")
        report["files"] = [str(args.out)]
    if args.json:
        print(to_json({**report, "rows": table}))
    elif args.out is None:
        print(text.getvalue(), end="")
        print(*_lines(report)[1:], sep="\n", end="\n" if judged else "", file=sys.stderr)
    else:
        print(*_lines(report), f"wrote          {args.out}", sep="\n")
    return 0


def _samples(
    args: argparse.Namespace, model: TableClassifier
) -> tuple[Array, list[Any], list[str] | None, dict[str, list[str]]]:
    """New samples, the names of their rows, their labels where there are some, and the column that is kept."""
    file = Path(args.source)
    ending = file.suffix.lower()
    if ending not in (".csv", ".tsv", *FRAMES):
        if args.keep is not None:
            raise InputError(f"--keep {args.keep}: {args.source} has no names of columns; a table has")
        data = load(args.source, label=args.label, positive=model.positive)
        truth = np.where(data.y > 0, data.positive, data.negative).tolist()
        return data.X, list(range(1, data.n + 1)), truth, {}
    if ending in FRAMES:
        names, table = frame_rows(file)
    else:
        names, table = csv_rows(file, character(args.separator), args.encoding)
        if all(number_of(name) is not None for name in names):  # no header: columns are called by their numbers
            names, table = [str(j + 1) for j in range(len(names))], [(1, names), *table]
    for name in (args.label, args.keep):
        if name is not None and name not in names:
            raise InputError(f"{file}: there is no column {name!r}; columns: {listed(names)}")
    if args.keep in ("row", "score", "predicted"):
        raise InputError(f"--keep {args.keep}: the table has a column of this name; rename that of {file}")
    how = {"missing": args.missing, "decimal": args.decimal, "unseen": args.unseen}
    try:
        X, rows = read_samples(f"{file}", names, table, model.recipe, **how)
    except ColumnsError as error:
        both = {"missing": "median", "unseen": "drop"}
        offered = [{"unseen": "drop"}, *([both] if args.missing is None else [])]
        readable = [ways for ways in offered if not error.ways and _is_read(names, table, model, {**how, **ways})]
        error.ways = readable[0] if readable else error.ways
        raise InputError(with_flags(error)) from None
    known = dict(table)
    truth, kept = (
        None if name is None else [str(known[row][names.index(name)]).strip() for row in rows]
        for name in (args.label, args.keep)
    )
    return X, rows, truth, {} if kept is None else {args.keep: kept}


def _is_read(names: list[str], table: Any, model: TableClassifier, how: dict[str, Any]) -> bool:
    """Whether some rows of a table are read with other treatments of their cells."""
    try:
        _, rows = read_samples("", names, table, model.recipe, **how)
    except ColumnsError:
        return False
    return bool(rows)


def _judged(args: argparse.Namespace, model: TableClassifier, labels: list[str], truth: list[str]) -> dict[str, Any]:
    """Rates on samples whose labels are known."""
    classes = (model.positive, model.negative)
    keys = [next((name for name in classes if same_label(name, text)), None) for text in truth]
    if None in keys:
        strange = truth[keys.index(None)]
        raise InputError(f"--label {args.label}: must hold {' or '.join(map(repr, classes))}, got {strange!r}")
    positive = np.array([key == model.positive for key in keys], dtype=bool)
    said = np.array([label == model.positive for label in labels], dtype=bool)
    positives = int(positive.sum())
    negatives = len(truth) - positives
    misses = int((positive & ~said).sum())
    alarms = int((~positive & said).sum())
    found = {"positives": positives, "negatives": negatives, "misses": misses, "false_alarms": alarms}
    return {**found, **_rates("fpr", alarms, negatives), **_rates("fnr", misses, positives)}


def _rates(name: str, errors: int, size: int) -> dict[str, Any]:
    """A rate, and the ends of its interval; None where there is no sample."""
    if not size:
        return {name: None, f"{name}_interval": None}
    from paretoclf.roc.clopper_pearson import RateInterval  # scipy.stats only where labels are known

    found = RateInterval.of(errors, size)
    return {name: found.rate, f"{name}_interval": [found.low, found.high]}


def _interval(judged: dict[str, Any], name: str) -> str:
    """A rate and its interval for people, in per cent; nothing where there is no sample."""
    if judged[name] is None:
        return ""
    low, high = (100 * end for end in judged[f"{name}_interval"])
    return f" ({100 * judged[name]:.1f} %, 95 % interval {low:.1f} to {high:.1f} %)"


def _lines(report: dict[str, Any]) -> list[str]:
    """Lines of a report, for people."""
    counts = ", ".join(f"{count} {name}" for name, count in report["predicted"].items())
    lines = [f"predicted      {report['samples']} samples: {counts}"]
    if (judged := report["judged"]) is not None:
        lines.append(
            f"judged         {judged['misses']} misses of {judged['positives']} positives{_interval(judged, 'fnr')}, "
            f"{judged['false_alarms']} false alarms of {judged['negatives']} negatives{_interval(judged, 'fpr')}"
        )
    return lines
