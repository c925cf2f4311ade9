"""``paretoclf trace MODEL.mps --move ...``: a line of numbers of a program in a file, at every point of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import paretoclf as pc
from paretoclf.cli.files import staged, to_json
from paretoclf.cli.moves import head_of, read_line, read_qp
from paretoclf.cli.table_files import text_table, write_csv
from paretoclf.common.checks import number_from_text
from paretoclf.common.errors import InputError
from paretoclf.path.base.path import OnSegments
from paretoclf.path.base.point_rows import EVENTS, SLOPES, point_rows
from paretoclf.path.programs.problem_path import ProblemPath


def trace_program(args: argparse.Namespace) -> int:
    """Run the subcommand on a program; return its exit status."""
    moves, start, stop = read_line(args.move, args.by)
    qp = read_qp(args.source, args.integers, moves)
    path = pc.trace(qp, start=start, stop=stop, progress=False if args.json or args.quiet else None)
    rows = list(point_rows(path))
    files = [] if args.csv is None else [args.csv]
    if args.out is not None:
        files += _write(path, Path(args.out), args)
    if args.csv is not None:
        write_csv(args.csv, rows)
    if args.json:
        print(to_json(report(path, args.source, rows) | {"integers": args.integers, "files": files}))
    elif not args.quiet:
        print(text(path, rows, head_of(args.source, args.integers, qp), files))
    return 0


def _write(path: ProblemPath, out: Path, args: argparse.Namespace) -> list[str]:
    """Write the path, and with --html its page, to a folder; return the names of the files."""
    names = ["path.npz", *(["page.html"] if args.html else [])]
    with staged(out) as folder:
        path.save(folder / "path.npz")
        if args.html:
            path.page(folder / "page.html")
    return [str(out / name) for name in names]


def report(path: Any, source: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is told of a path as data: its table, its proof, and why it ends where it does."""
    beyond = None if path.beyond is None else path.beyond.explain()
    proof = {"passes": bool(path.proof.passes()), "explanation": path.proof.explain()}
    head = {"version": pc.__version__, "source": source, "status": path.status, "beyond": beyond, "proof": proof}
    return {**head, "breakpoints": rows}


def text(path: Any, rows: list[dict[str, Any]], head: str, files: list[str]) -> str:
    """Text of a path, for people: a row a breakpoint with the value, its slopes and what changes, then the proof."""
    numbers = [name for name, value in path.parameters(0.0).items() if isinstance(value, float)]
    breakpoints = list({row["t"]: row for row in rows}.values())  # one row each, also where a multiplier jumps
    names = ["t", *numbers, "value", *(name for name in SLOPES if name in rows[0]), "events"]
    lines = [head, text_table(breakpoints, names), path.proof.explain()]
    if rows and SLOPES[0] in rows[0]:
        alone = path.axis[0] if path.axis[0] in numbers else "t"
        lines.insert(-1, f"slopes: rates of the value for a unit of {alone}, towards smaller and larger t")
    if path.beyond is not None:
        lines.append(path.beyond.explain())
    if files:
        lines.append(f"wrote {', '.join(files)}")
    return "\n".join(lines)


def export_path(args: argparse.Namespace) -> int:
    """Run ``paretoclf export``: a saved path, proved again, as a table for anybody; return the exit status."""
    path = pc.load(args.path)
    if not isinstance(path, OnSegments):
        remedy = ": to_frame() in Python and plane --csv write its table" if hasattr(path, "to_frame") else ""
        raise InputError(f"PATH must be a saved path, got {args.path} with a {type(path).__name__}{remedy}")
    rows = list(point_rows(path, None, *(_place(path, where) for where in args.at or ())))
    if args.csv is not None:
        write_csv(args.csv, rows)
    if args.json:
        print(to_json(report(path, args.path, rows)))
    elif args.csv is None:
        head = f"{args.path}: {path!r}"
        print(text_of_points(path, rows, head) if args.at else text(path, rows, head, []))
    return 0


def text_of_points(path: Any, rows: list[dict[str, Any]], head: str) -> str:
    """Text of some optima, for people: a column for each of them, a row for each number; then the proof of the path."""
    names = [f"optimum {k}" for k in range(1, len(rows) + 1)] if len(rows) > 1 else ["optimum"]
    table, zeros = [], 0
    for number in rows[0]:
        found = [row.get(number) for row in rows]
        if number == EVENTS:
            continue
        if any(found) or number in path._row(0.0):
            table.append({"": number, **dict(zip(names, found, strict=True))})
        else:
            zeros += sum(each == 0.0 for each in found[:1])
    left_out = [f"{zeros} more {'is' if zeros == 1 else 'are'} 0"] if zeros else []
    return "\n".join([head, text_table(table, ["", *names]), *left_out, path.proof.explain()])


def _place(path: OnSegments, where: str) -> float:
    """Return the t that ``--at`` says: itself, or where one number that moves has a value."""
    name, _, said = where.rpartition("=")
    try:
        value = number_from_text(said)
    except ValueError:
        raise InputError(f"--at must be a t or NAME=VALUE, as 0.5 or {path.axis[0]}=0.5, got {where!r:.100}") from None
    try:
        return path._where(None, {name: value}) if name else path._where(value, {})
    except InputError as error:
        raise InputError(f"--at {where}: {error}") from None
