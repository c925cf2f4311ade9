"""``paretoclf page``: a path as one HTML file to play with."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.data import describe, load_data
from paretoclf.cli.files import to_json
from paretoclf.cli.study import ASYMMETRY_LINE, Options, lines_of
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset
from paretoclf.problem.kernels import kernel_spec


def run_page(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    options = Options(args.kernel, args.bandwidth, args.degree, args.total, args.standardize, args.seed)
    data = load_data(args)
    train, test = _parts(data, args.held_out, args.seed)
    X, Z = data.X[train], data.X[test]
    if options.standardize:
        scaler = StandardScaler().fit(X)
        X, Z = scaler.transform(X), scaler.transform(Z) if test.size else Z
    kernel = options.make_kernel(X)
    line = lines_of(data, options.total)[ASYMMETRY_LINE]
    svm = pc.TwoCSVM(X, data.y[train], kernel=kernel)
    path = pc.trace(svm, line.start, line.stop, progress=False)
    held_out = {"X": Z, "y": data.y[test]} if test.size else {}
    out = Path(args.out)
    title = f"{data.name}: {train.size} samples, C_plus + C_minus = {options.total:g}"
    rates = f"{test.size} held-out samples"
    path.page(out, **held_out, feature_names=data.feature_names, title=title, rates=rates)
    report: dict[str, Any] = {
        "version": pc.__version__,
        "data": describe(data),
        "kernel": kernel_spec(kernel),
        "scaling": "fitted on the traced samples" if options.standardize else "none",
        "traced_samples": int(train.size),
        "held_out_samples": int(test.size),
        "breakpoints": int(path.breakpoints.size),
        "worst_gap": float(path.proof.gap.max()),
        "files": [str(out)],
        "bytes": out.stat().st_size,
    }
    print(to_json(report) if args.json else _text(report))
    return 0


def _parts(data: Dataset, share: float, seed: int) -> tuple[Any, Any]:
    """Indices of the samples that are traced, and of those held out, classes in equal shares."""
    if not 0.0 <= share < 1.0:
        raise InputError(f"--held-out must be at least 0 and below 1, got {share:g}")
    everything = np.arange(data.n)
    if share == 0.0:
        return everything, everything[:0]
    try:
        train, test = train_test_split(everything, test_size=share, stratify=data.y, random_state=seed)
    except ValueError:
        train = test = everything[:0]
    if min((len(np.unique(data.y[part])) for part in (train, test)), default=0) < 2:
        raise InputError(
            f"--held-out {share:g}: leaves a class without samples on one side, of {data.n_plus} and {data.n_minus}"
        )
    return np.sort(train), np.sort(test)


def _text(report: dict[str, Any]) -> str:
    """Text of a report, for people."""
    data = report["data"]
    traced = f"{report['traced_samples']} samples traced, {report['held_out_samples']} held out"
    proved = f"proved at every t: gap {report['worst_gap']:.1e}"
    lines = [
        f"data           {data['name']}: {traced}, {data['features']} features",
        f"path           {report['breakpoints']} breakpoints; {proved}",
        f"wrote          {report['files'][0]}, {report['bytes'] / 1e3:.0f} kB",
    ]
    return "\n".join(lines)
