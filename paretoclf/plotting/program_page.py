"""A page to play with of the path of a program: variables, multipliers, value, rates and events at every t.

One HTML file with what the path stores and a small script that interpolates it, which is exact: everything is affine
between breakpoints, or a parabola, as the value is.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.plotting.page import html_file, script, write_template

#: Entries of variables, and of multipliers, that a page holds: those that move most.
SHOWN_ENTRIES = 60


def write_program_page(path: Any, file: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the path of a program as a page; see `ProblemPath.page` and `ConePath.page`."""
    write_template(html_file(file), "program_page.html", {"DATA": script(program_page_data(path, title))})


def program_page_data(path: Any, title: str | None = None) -> dict[str, Any]:
    """What a page has of a path."""
    moving = path.parameters(0.0)
    alone = len(moving) == 1 and np.ndim(next(iter(moving.values()))) == 0
    name = next(iter(moving)) if alone else "t"
    ends = [float(path.ends[k][name]) for k in (0, 1)] if alone else [0.0, 1.0]
    line, pieces, band = path.program, _pieces(path), hasattr(path, "bounds")
    t = np.append(path.t[pieces], path.t[pieces[-1] + 1])
    ends_of_pieces = zip(path.t[pieces].tolist(), path.t[pieces + 1].tolist(), strict=True)
    if band:
        three = [[path.bounds(s) for s in (a, 0.5 * (a + b), b)] for a, b in ends_of_pieces]
        values, lower = ([[both[k] for both in piece] for piece in three] for k in (line.sense > 0, line.sense < 0))
    else:
        lower, values = (
            None,
            [
                [line.value(x[0], a), line.value(x.mean(axis=0), 0.5 * (a + b)), line.value(x[1], b)]
                for (x, _), (a, b) in zip(map(path.points.segment, pieces.tolist()), ends_of_pieces, strict=True)
            ],
        )
    beyond = path.beyond
    return {
        "title": title or repr(path),
        "parameter": name,
        "ends": ends,
        "t": t.tolist(),
        "value": values,
        "other": lower,
        "variables": _entries(path, list(line.variables), pieces),
        "duals": _entries(path, list(line.multipliers), pieces),
        "events": [{"t": e.t, "text": str(e).split(": ", 1)[1]} for e in path.events if e.changes],
        "gap": (path.proof.relative if band else path.proof.gap)[pieces].tolist(),
        "proof": path.proof.explain(),
        "ending": "" if path.status == "end" else beyond.explain() if beyond else "max_events was reached",
    }


def _pieces(path: Any) -> Index:
    """The pieces that are longer than a point."""
    stretches = getattr(path, "stretches", np.zeros(0, dtype=np.int64))
    return stretches if stretches.size else np.arange(path.t.size - 1)


def _entries(path: Any, names: list[str], pieces: Index) -> dict[str, Any]:
    """Entries at both ends of segments, and in the middle where there are parabolas, those that move most first."""
    points = 3 if {*names} & {*path.program.parabolas} else 2
    called: list[str] = []
    columns: list[Array] = []
    for name in names:
        values = path.along(name, points)[1]
        shape = values.shape[1:]
        places = [f"[{', '.join(map(str, at))}]" for at in np.ndindex(*shape)] if shape else [""]
        called += [name + place for place in places]
        columns.append(values.reshape(path.t.size - 1, points, -1)[pieces])
    table = np.concatenate(columns, axis=2) if columns else np.zeros((pieces.size, points, 0))
    order = np.argsort(-np.ptp(table, axis=(0, 1)), kind="stable")[:SHOWN_ENTRIES].tolist()
    kept = table[:, :, order]
    return {
        "names": [called[k] for k in order],
        "left_out": len(called) - len(order),
        "start": kept[:, 0].tolist(),
        "middle": kept[:, 1].tolist() if points == 3 else None,
        "end": kept[:, -1].tolist(),
    }
