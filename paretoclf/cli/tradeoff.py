"""``paretoclf tradeoff``: the optimal trade-off curve of two classes known by their means and covariances."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.data import describe, load_data, said, scaling
from paretoclf.cli.files import staged, to_json
from paretoclf.common.checks import Array, check_nonnegative_number, check_share
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.operating import OperatingPoint, TradeoffCurve
from paretoclf.plotting import TradeoffDisplay
from paretoclf.plotting.base import plain

FILES = ("tradeoff.png", "tradeoff.csv", "report.json")
LABELS = {"gaussian": "Gaussian", "chebyshev": "Chebyshev bound", "kl": "Kullback-Leibler ball", "student": "Student"}
#: Points of a curve that are certified for the report.
CERTIFIED = 50


def run_tradeoff(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    rates = chosen_rates(args)
    check_share(args.max_fpr, "--max-fpr")
    if args.points < 2:
        raise InputError(f"--points must be at least 2, got {args.points}")
    data = load_data(args)
    out = Path(args.out)
    scaler = StandardScaler().fit(data.X) if args.standardize else None
    X = data.X if scaler is None else scaler.transform(data.X)
    check_nonnegative_number(args.reg, "--reg")
    first = pc.gaussian_tradeoff(X, data.y, reg=args.reg)
    tradeoffs = {name: first.judged_by(rate) for name, rate in rates.items()}
    curve = next(iter(tradeoffs.values())).curve(args.points)
    report: dict[str, Any] = {"version": pc.__version__, "data": describe(data), "scaling": scaling(scaler)}
    report |= {"reg": args.reg, "r1": first.r1, "r2": first.r2, "points": args.points}
    report["worst_certificate"] = worst_gap(first, curve)
    report["curves"] = {name: summary(each, X, data, args.max_fpr) for name, each in tradeoffs.items()}
    report["files"] = [str(out / name) for name in FILES]
    with staged(out) as folder:
        draw(tradeoffs, data.name).savefig(folder / "tradeoff.png", dpi=150)
        write_points(folder / "tradeoff.csv", curve, rates, X, data, scaler)
        (folder / "report.json").write_text(to_json(report) + "\n", encoding="utf-8")
    print(to_json(report) if args.json else text(report))
    return 0


def chosen_rates(args: argparse.Namespace) -> dict[str, pc.rates.Rate]:
    """Rates by the names they were asked for by."""
    if args.delta is not None and "kl" not in args.rates:
        raise InputError("--delta goes with --rates kl")
    if args.df is not None and "student" not in args.rates:
        raise InputError("--df goes with --rates student")
    delta, df = 0.1 if args.delta is None else args.delta, 3.0 if args.df is None else args.df
    made: dict[str, pc.rates.Rate] = {}
    for name in args.rates:
        if name == "kl":
            made[name] = pc.rates.KLRate(delta)
        elif name == "student":
            made[name] = pc.rates.StudentRate(df)
        else:
            made[name] = {"gaussian": pc.rates.GaussianRate(), "chebyshev": pc.rates.ChebyshevRate()}[name]
    return made


def worst_gap(tradeoff: GaussianTradeoff, curve: TradeoffCurve) -> dict[str, Any]:
    """Largest gap of the certificates of points spread over the curve."""
    count = min(CERTIFIED, len(curve))
    spread = np.unique(np.linspace(0, len(curve) - 1, count).astype(int))
    found = [tradeoff.certificate(curve.point(int(j))) for j in spread]
    gap = max(abs(each.gap) for each in found)
    return {"gap": gap, "points": len(found), "passes": all(each.passes(1e-9) for each in found)}


def summary(tradeoff: GaussianTradeoff, X: Array, data: Dataset, max_fpr: float) -> dict[str, Any]:
    """Area and operating points of one curve, with the shares of the samples themselves."""
    prior = data.n_plus / data.n

    def point(at: OperatingPoint) -> dict[str, Any]:
        positive = at.classifier.decision_function(X) >= 0
        on_samples = {"fpr": positive[data.y < 0].mean(), "tpr": positive[data.y > 0].mean()}
        return {"t": at.t, "fpr": at.fpr, "tpr": at.tpr, "samples": on_samples}

    equal_costs = point(tradeoff.best((1.0, 1.0), prior))
    neyman_pearson = point(tradeoff.neyman_pearson(max_fpr))
    return {
        "rates": repr(tradeoff.rates[0]),
        "area": tradeoff.auc,
        "minimax": point(tradeoff.minimax()),
        "equal costs": {"prior_plus": prior, **equal_costs},
        "neyman_pearson": {"max_fpr": max_fpr, **neyman_pearson},
    }


def draw(tradeoffs: Mapping[str, GaussianTradeoff], name: str) -> Figure:
    """Draw all curves in one picture."""
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")  # not one of pyplot: nothing is left open
    ax = figure.subplots()
    title = plain(f"{name}: optimal trade-off curve")
    for j, (kind, tradeoff) in enumerate(tradeoffs.items()):
        TradeoffDisplay.from_tradeoff(tradeoff, 400).plot(ax, name=LABELS[kind], ends=j == 0, style=j, title=title)
    return figure


def write_points(
    file: Path, curve: TradeoffCurve, rates: Mapping[str, pc.rates.Rate], X: Array, data: Dataset, scaler: Any
) -> None:
    """Write one row a classifier: its rates, and slope and intercept in the units of the data that were given."""
    positive = curve.scores(X) >= 0
    columns = {"t": curve.t, "u_minus": curve.u_minus, "u_plus": curve.u_plus}
    for name, rate in rates.items():
        columns |= {f"fpr_{name}": rate.error(curve.u_minus), f"tpr_{name}": rate.correct(curve.u_plus)}
    columns |= {
        "fpr_samples": positive[:, data.y < 0].mean(axis=1),
        "tpr_samples": positive[:, data.y > 0].mean(axis=1),
    }
    scale, mean = (1.0, np.zeros(data.d)) if scaler is None else (scaler.scale_, scaler.mean_)
    w = curve.w / scale
    columns |= {"b": curve.b - w @ mean}
    columns |= {f"w_{name}": w[:, j] for j, name in enumerate(data.feature_names)}
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(each.tolist() for each in columns.values()), strict=True))


def text(report: Mapping[str, Any]) -> str:
    """Text of a report, for people."""
    data, proof = report["data"], report["worst_certificate"]
    units = "standardised" if report["scaling"] else "as given"
    moments = f"reg {report['reg']:g}; r1 = {report['r1']:.4f}, r2 = {report['r2']:.4f}"
    out = [
        f"data           {said(data)}",
        f"moments        features {units}, {moments}",
        f"certificates   of {proof['points']} points: worst gap {proof['gap']:.1e}",
    ]
    for curve in report["curves"].values():
        out += ["", f"{curve['rates']:<24}area {curve['area']:.4f}{'fpr':>12}{'tpr':>9}{'on the training samples':>27}"]
        rows = {
            "minimax": curve["minimax"],
            f"equal costs, prior {curve['equal costs']['prior_plus']:.3f}": curve["equal costs"],
            f"Neyman-Pearson at {curve['neyman_pearson']['max_fpr']:g}": curve["neyman_pearson"],
        }
        for name, at in rows.items():
            here = f"{at['samples']['fpr']:.4f}, {at['samples']['tpr']:.4f}"
            out.append(f"  {name:<33}{at['fpr']:>12.4f}{at['tpr']:>9.4f}{here:>27}")
    return "\n".join([*out, "", f"wrote          {', '.join(report['files'])}"])
