"""``paretoclf ranges | derivatives | plane MODEL.mps``: a program in a file, around and between its numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import paretoclf as pc
from paretoclf.cli.files import to_json
from paretoclf.cli.moves import head_of, read_direction, read_moves, read_qp
from paretoclf.cli.prove import with_scripts
from paretoclf.cli.table_files import text_table, write_csv
from paretoclf.common.errors import InputError


def run_ranges(args: argparse.Namespace) -> int:
    """Run ``paretoclf ranges``; return its exit status."""
    qp = read_qp(args.model, args.integers)
    names = None if args.of is None else [name for text in args.of for name in text.split(",")]
    found = pc.ranges(qp, of=names, progress=False if args.json else None)
    rows = found.report() if args.report else found.records()
    if args.csv is not None:
        write_csv(args.csv, rows)
    proof = _proved(found, args)
    if args.json:
        head = {
            "version": pc.__version__,
            "model": args.model,
            "integers": args.integers,
            "value": found.value,
            **proof,
        }
        print(to_json(head | {"rows": rows}))
    else:
        tables = _as_report(rows) if args.report else text_table(rows, _RANGES)
        print(f"{head_of(args.model, args.integers, qp)}\n{tables}\n{found._title()}")
        _say(proof)
    return 0


def _proved(found: Any, args: argparse.Namespace) -> dict[str, str]:
    """Write the certificate file, if one is asked for, with its checkers; return the command that checks it."""
    if args.prove is None:
        return {}
    found.proof.save(args.prove, progress=False if args.json else None)
    return {"proof": with_scripts(Path(args.prove))[2]}


def _say(proof: dict[str, str]) -> None:
    """Print how a certificate file is checked."""
    for command in proof.values():
        print(f"check          {command}")


#: Slacks of this share of a side are printed as 0.
ROUNDED = 8.0 * float(np.finfo(float).eps)

#: Columns that are printed of ranges.
_RANGES = ("name", "kind", "value", "price_below", "price", "lower", "upper", "enters_below", "enters_above")

#: Columns that are printed of a report, of its two kinds of lines.
_VARIABLES = ("name", "final value", "reduced cost", "objective coefficient")
_CONSTRAINTS = ("name", "final value", "shadow price", "right-hand side", "slack")
_BOTH = ("allowable increase", "allowable decrease", "price of a decrease", "note")
_VALUES = ("final value of an increase", "final value of a decrease")


def _as_report(rows: list[dict[str, Any]]) -> str:
    """A report as two tables."""
    parts, several = [], any("not unique" in row["note"] for row in rows)
    for section, columns in (("variable", _VARIABLES), ("constraint", _CONSTRAINTS)):
        own = [row for row in rows if row["section"] == section]
        own = [row | {"slack": _without_rounding(row)} for row in own]
        if own:
            notes = any(row["note"] for row in own)
            values = _VALUES if several and section == "variable" else ()
            parts.append(text_table(own, [*columns, *values, *(_BOTH if notes else _BOTH[:2])]))
    if several:
        parts.append("The optimum is not unique: final values and slacks are those of one optimum.")
    return "\n\n".join(parts)


def _without_rounding(row: dict[str, Any]) -> float:
    """The slack of a line as it is printed: 0 where it is what rounding leaves of both sides."""
    sides = abs(row["final value"]), abs(row["right-hand side"])
    return 0.0 if row["slack"] <= ROUNDED * max(sides) else float(row["slack"])


def run_derivatives(args: argparse.Namespace) -> int:
    """Run ``paretoclf derivatives``; return its exit status."""
    moves, direction = read_direction(args.move)
    qp = read_qp(args.model, args.integers, moves)
    found: Any = pc.derivatives(qp, direction)
    proof = _proved(found, args)
    if args.json:
        sides = {"left": found.left, "right": found.right}
        told = {name: None if side is None else dict(vars(side)) for name, side in sides.items()}
        head = {
            "version": pc.__version__,
            "model": args.model,
            "integers": args.integers,
            "direction": direction,
            "value": found.value,
        }
        print(to_json(head | told | proof))
    else:
        print(f"{head_of(args.model, args.integers, qp)}\n{found!r}")
        _say(proof)
    return 0


def run_plane(args: argparse.Namespace) -> int:
    """Run ``paretoclf plane``; return its exit status."""
    moves = read_moves(args.move)
    if len(moves) != 2:
        raise InputError(f"--move must be given twice, for the two sides of the rectangle, got {len(moves)}")
    qp = read_qp(args.model, args.integers, {words: words for words in moves})
    found = pc.plane(qp, moves, progress=False if args.json else None)
    rows = [row | {"value": found.value({name: row[name] for name in moves})} for row in found.records()]
    if args.csv is not None:
        write_csv(args.csv, rows)
    if args.out is not None:
        found.save(args.out)
    outside = [_outside(each) for each in found.outside]
    if args.json:
        head = {"version": pc.__version__, "model": args.model, "integers": args.integers}
        print(to_json(head | {"proved": bool(found.proof.passes())} | {"regions": rows, "outside": outside}))
    else:
        print(_told(found, rows, head_of(args.model, args.integers, qp)))
    return 0


def _outside(part: Any) -> dict[str, Any]:
    """A part without an optimum, as data."""
    return {"status": part.status, "blame": list(part.blame), "corners": np.asarray(part.polygon).tolist()}


def _told(found: Any, rows: list[dict[str, Any]], head: str) -> str:
    """Text of a map, for people: a row a region, its middle and the value there; parts without an optimum."""
    columns = ["region", *found.ranges, "area", "corners", "value", "tight"]
    lines = [head, repr(found), text_table(rows, columns)]
    lines += [f"no optimum: {part.status} ({', '.join(part.blame)})" for part in found.outside]
    return "\n".join([*lines, found.proof.explain()])
