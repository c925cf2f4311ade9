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
from paretoclf.cli.options import refuse_foreign
from paretoclf.cli.program import is_program
from paretoclf.cli.program_line import trace_program
from paretoclf.cli.study import ASYMMETRY_LINE, MEAN_COST, RAY, Options, Study, run_study, stages
from paretoclf.plotting import plot_paths

FILES = ("roc.png", "path.png", "path.npz", "ray.npz", "report.json")
MODEL = "model.json"
PAGES = ("report.html", "page.html")


#: Folder of the files, unless another one is given.
OUT = "out"

#: Options of `trace` that a program in a file has, too.
OF_PROGRAMS = ("command", "source", "move", "by", "integers", "csv", "json", "quiet", "out", "html")


def run_trace(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    if is_program(args.source):
        refuse_foreign(args, OF_PROGRAMS, "samples, and SOURCE is a program")
        return trace_program(args)
    refuse_foreign(
        args,
        [name for name in vars(args) if name not in ("move", "by", "csv", "integers")],
        "a program: .mps, .qps or .lp",
    )
    kernel = args.kernel, args.bandwidth, args.degree
    options = Options(*kernel, args.total, args.standardize, args.seed, args.repeats, tuple(args.costs))
    data = load_data(args)
    out = Path(OUT if args.out is None else args.out)
    show = sys.stderr.isatty() and not (args.quiet or args.json)
    with staged(out) as folder:
        names = stages(data)
        with tqdm(total=len(names), disable=not show, unit="stage", leave=False) as bar:

            def stage(name: str) -> None:
                k = names.index(name)
                bar.update(k - bar.n)  # the stages before are done
                then = "".join(f"; next: {later}" for later in names[k + 1 : k + 2])
                bar.set_description_str(name + then)

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
    """Write pictures, paths, the model and the report to a folder."""
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
    """Write the page to play with, and the report as a page."""
    data = study.data
    title = f"{data.name}: {data.n} samples, C_plus + C_minus = {study.options.total:g}"
    study.paths[ASYMMETRY_LINE].page(folder / "page.html", feature_names=data.feature_names, title=title)
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
        size = f"{line['breakpoints']:>11}{line['seconds']:>10.3f}{'<= ' + str(line['largest_margin_set']):>12}"
        worst = f"{line['worst_residual']:>10.1e}{line['worst_gap']:>10.1e}"
        out.append(f"{name:<15}{size}{worst}")
    cvxpy, curves = report["cvxpy"], held_out["curves"]
    folds = f"{held_out['folds']} stratified folds; scaling {held_out['scaling']}{_kernel_note(report)}"
    out += [
        f"The ray has C_plus n_plus = C_minus n_minus up to mean cost {MEAN_COST:g}; "
        f"the asymmetry line has C_plus + C_minus = {report['total']:g}.",
        "",
        f"CVXPY          worst relative objective difference at {cvxpy['costs']} costs: "
        f"{cvxpy['worst_relative_difference']:.1e}",
        "",
        f"held-out AUC   {folds}",
    ]
    out += table(curves)
    out += legend(curves, "validation folds inside each training part", held_out["repeats"])
    return "\n".join([*out, "", *headlines(report)])


def headlines(report: dict[str, Any]) -> list[str]:
    """Return the lines that matter: the choice, the cost to expect, the worst proof, the files."""
    at, lines = report["held_out"]["cost"], report["lines"]
    chosen = ", ".join(f"{each['cost']:.4f} ({name})" for name, each in at["chosen_elsewhere"].items())
    segments = sum(line["segments"] for line in lines.values())
    cost = f"{chosen or 'unknown (too few samples of a class)'} a sample"
    use = f"a miss costs {at['C_plus']:g}, a false alarm {at['C_minus']:g}"
    gap, residual = (max(line[name] for line in lines.values()) for name in ("worst_gap", "worst_residual"))
    largest = f"gap {gap:.1e}, residual {residual:.1e}"
    return [
        *_chosen(report),
        f"held-out cost  {cost}; {use}",
        f"worst proof    {largest}; every point of {segments} segments is proved",
        f"wrote          {', '.join(report['files'])}",
    ]


def _chosen(report: dict[str, Any]) -> list[str]:
    """Lines on the classifier to use, and how to use it."""
    chosen = report["chosen"]
    if chosen is None:
        return []
    trained, rates = chosen["trained_at"], chosen["rates"]
    model = next(file for file in report["files"] if file.endswith(MODEL))
    costs = f"C_plus {trained['C_plus']:.6g}, C_minus {trained['C_minus']:.6g}"
    shifted = f"score shifted by {float(chosen['shift']):.6g}"
    held_out = f"held-out fpr {rates['fpr']:.4f}, fnr {rates['fnr']:.4f}"
    return [
        f"chosen         by {chosen['by']}: t {chosen['t']:.6g} ({costs}), {shifted}; {held_out}",
        f"to use it      paretoclf predict {shlex.quote(model)} NEW.csv",
    ]


def _kernel_note(report: dict[str, Any]) -> str:
    """Note that a bandwidth was not chosen inside of the folds."""
    return "; bandwidth fixed from the whole data set" if report["kernel"]["kernel"] == "RBF" else ""


def _kernel(report: dict[str, Any]) -> str:
    """Kernel of a report, in words."""
    kernel = report["kernel"]
    if kernel["kernel"] == "RBF":
        return f"RBF, bandwidth {kernel['bandwidth']:.6g} ({kernel['chosen']})"
    if kernel["kernel"] == "Polynomial":
        return f"polynomial ({kernel['scale']:.6g} x.z + {kernel['offset']:g})^{kernel['degree']}"
    return "linear"
