"""``paretoclf trace``: what it prints and the files it writes."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from tqdm import tqdm

from paretoclf.cli.curves import legend, roc_figure, table
from paretoclf.cli.data import load_data, said
from paretoclf.cli.files import html_page, staged, to_json
from paretoclf.cli.study import ASYMMETRY_LINE, MEAN_COST, RAY, Options, Study, run_study, stages
from paretoclf.plotting import plot_paths

FILES = ("roc.png", "path.png", "path.npz", "ray.npz", "report.json")
MODEL = "model.json"
PAGES = ("report.html", "page.html")


def run_trace(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    options = Options(
        args.kernel, args.bandwidth, args.degree, args.total,
        args.standardize, args.seed, args.repeats, tuple(args.costs),
    )  # fmt: skip
    data = load_data(args)
    out = Path(args.out)
    show = sys.stderr.isatty() and not (args.quiet or args.json)
    with staged(out) as folder:
        names = stages(data)
        with tqdm(total=len(names), disable=not show, unit="stage", leave=False) as bar:

            def stage(name: str) -> None:
                k = names.index(name)
                bar.update(k - bar.n)  # the stages before are done
                bar.set_description_str(f"{name}; next: {names[k + 1]}" if k + 1 < len(names) else name)

            def foretell(words: str) -> None:
                if not args.quiet:
                    bar.write(f"paretoclf: {words}", file=sys.stderr)  # above the bar, where there is one

            study = run_study(data, options, progress=show, stage=stage, foretell=foretell)
            stage(names[-1])
            report = study.report()
            files = (*FILES, *(() if study.model is None else (MODEL,)), *(PAGES if args.html else ()))
            report["files"] = [str(out / name) for name in files]
            _write(study, report, folder)
            if args.html:
                _write_pages(study, report, folder)
    if args.json:
        print(to_json(report))
    elif not args.quiet:
        print(text(report))
    return 0


def _write(study: Study, report: dict[str, Any], folder: Path) -> None:
    title = f"{study.data.name}: held-out ROC curves, {study.folds} folds"
    roc_figure(study.curves, study.nested, title).savefig(folder / "roc.png", dpi=150)
    figure = Figure(figsize=(12.8, 6.4), layout="constrained")
    plot_paths(study.paths, figure=figure, sets=True).savefig(folder / "path.png", dpi=150)
    study.paths[ASYMMETRY_LINE].save(folder / "path.npz")
    study.paths[RAY].save(folder / "ray.npz")
    if study.model is not None:
        study.model.save(folder / MODEL)
    (folder / "report.json").write_text(to_json(report) + "\n", encoding="utf-8")


def _write_pages(study: Study, report: dict[str, Any], folder: Path) -> None:
    data = study.data
    study.paths[ASYMMETRY_LINE].page(
        folder / "page.html",
        feature_names=data.feature_names,
        title=f"{data.name}: {data.n} samples, C_plus + C_minus = {study.options.total:g}",
    )
    pictures = {
        "Held-out ROC curves: chosen on validation folds inside of each training part, judged outside of it; and the "
        "upper envelope, chosen on the labels that judge it, which is optimistic.": folder / "roc.png",
        "Along both lines: the set that each sample is in, and the duality gap that proves it.": folder / "path.png",
    }
    page = html_page(f"paretoclf trace {data.name}", headlines(report), pictures, text(report), "page.html")
    (folder / "report.html").write_text(page, encoding="utf-8")


def text(report: dict[str, Any]) -> str:
    """Text of a report, for people."""
    data, lines, held_out = report["data"], report["lines"], report["held_out"]
    out = [
        f"data           {said(data)}",
        f"kernel         {_kernel(report)}; features {'standardised' if report['scaling'] else 'as given'}",
        "",
        f"{'line':<15}{'breakpoints':>11}{'seconds':>10}{'margin set':>12}{'residual':>10}{'gap':>10}",
    ]
    for name, line in lines.items():
        out.append(
            f"{name:<15}{line['breakpoints']:>11}{line['seconds']:>10.3f}{'<= ' + str(line['largest_margin_set']):>12}"
            f"{line['worst_residual']:>10.1e}{line['worst_gap']:>10.1e}"
        )
    out += [
        f"The ray has C_plus n_plus = C_minus n_minus up to mean cost {MEAN_COST:g}; "
        f"the asymmetry line has C_plus + C_minus = {report['total']:g}.",
        "",
        f"CVXPY          worst relative objective difference at {report['cvxpy']['costs']} costs: "
        f"{report['cvxpy']['worst_relative_difference']:.1e}",
        "",
        f"held-out AUC   {held_out['folds']} stratified folds; scaling {held_out['scaling']}{_kernel_note(report)}",
        *table(held_out["curves"]),
        *legend(held_out["curves"], "validation folds inside each training part", held_out["repeats"]),
    ]
    return "\n".join([*out, "", *headlines(report)])


def headlines(report: dict[str, Any]) -> list[str]:
    """Return the lines that matter: what was chosen, the cost to expect, the worst proof, the files."""
    at, lines = report["held_out"]["cost"], report["lines"]
    chosen = ", ".join(f"{each['cost']:.4f} ({name})" for name, each in at["chosen_elsewhere"].items())
    worst = max(
        (line["worst_certificate"] for line in lines.values()), key=lambda each: max(each["residual"], each["gap"])
    )
    segments = sum(line["segments"] for line in lines.values())
    return [
        *_chosen(report),
        f"held-out cost  {chosen or 'unknown (too few samples of a class)'} a sample; "
        f"a miss costs {at['C_plus']:g}, a false alarm {at['C_minus']:g}",
        f"worst proof    gap {worst['gap']:.1e}, residual {worst['residual']:.1e} at C_plus {worst['C_plus']:.6g}, "
        f"C_minus {worst['C_minus']:.6g}; every point of {segments} segments is proved",
        f"wrote          {', '.join(report['files'])}",
    ]


def _chosen(report: dict[str, Any]) -> list[str]:
    """Which classifier to use, and how."""
    chosen = report["chosen"]
    if chosen is None:
        return []
    trained, rates = chosen["trained_at"], chosen["rates"]
    model = next(file for file in report["files"] if file.endswith(MODEL))
    return [
        f"chosen         by {chosen['by']}: t {chosen['t']:.6g} (C_plus {trained['C_plus']:.6g}, "
        f"C_minus {trained['C_minus']:.6g}), score shifted by {float(chosen['shift']):.6g}; "
        f"held-out fpr {rates['fpr']:.4f}, fnr {rates['fnr']:.4f}",
        f"to use it      paretoclf predict {shlex.quote(model)} NEW.csv",
    ]


def _kernel_note(report: dict[str, Any]) -> str:
    return "; bandwidth fixed from the whole data set" if report["kernel"]["kernel"] == "RBF" else ""


def _kernel(report: dict[str, Any]) -> str:
    kernel = report["kernel"]
    if kernel["kernel"] == "RBF":
        return f"RBF, bandwidth {kernel['bandwidth']:.6g} ({kernel['chosen']})"
    if kernel["kernel"] == "Polynomial":
        return f"polynomial ({kernel['scale']:.6g} x.z + {kernel['offset']:g})^{kernel['degree']}"
    return "linear"
