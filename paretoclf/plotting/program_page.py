"""A page to play with of the path of a program: variables, multipliers, value, rates and events at every t.

One HTML file with what the path stores and a small script that interpolates it, which is exact: everything is affine
between breakpoints, and the value a parabola.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.plotting.page import html_file, script, write_template

#: Entries of variables, and of multipliers, that a page holds: those that move most.
SHOWN_ENTRIES = 60


def write_program_page(path: Any, file: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the path of a program as a page; see `ProblemPath.page`."""
    write_template(html_file(file), "program_page.html", {"DATA": script(program_page_data(path, title))})


def program_page_data(path: Any, title: str | None = None) -> dict[str, Any]:
    """What a page has of a path."""
    moving = path.parameters(0.0)
    alone = len(moving) == 1 and np.ndim(next(iter(moving.values()))) == 0
    name = next(iter(moving)) if alone else "t"
    ends = [float(path.ends[k][name]) for k in (0, 1)] if alone else [0.0, 1.0]
    line, t = path.program, path.t
    middles = 0.5 * (path.x[:, 0] + path.x[:, 1])
    values = [
        [line.value(x[0], a), line.value(m, 0.5 * (a + b)), line.value(x[1], b)]
        for x, m, a, b in zip(path.x, middles, t[:-1].tolist(), t[1:].tolist(), strict=True)
    ]
    beyond = path.beyond
    return {
        "title": title or repr(path),
        "parameter": name,
        "ends": ends,
        "t": t.tolist(),
        "value": values,
        "variables": _entries(path, list(line.variables)),
        "duals": _entries(path, list(line.multipliers)),
        "events": [{"t": e.t, "text": str(e).split(": ", 1)[1]} for e in path.events if e.changes],
        "gap": path.proof.gap.tolist(),
        "proof": path.proof.explain(),
        "ending": "" if path.status == "end" else beyond.explain() if beyond else "max_events was reached",
    }


def _entries(path: Any, names: list[str]) -> dict[str, Any]:
    """Entries at both ends of each segment, those that move most first."""
    called: list[str] = []
    columns: list[Array] = []
    for name in names:
        t, values = path.along(name)
        shape = values.shape[1:]
        places = [f"[{', '.join(map(str, at))}]" for at in np.ndindex(*shape)] if shape else [""]
        called += [name + place for place in places]
        columns.append(values.reshape(t.size, -1))
    table = np.hstack(columns) if columns else np.zeros((2 * len(path.labels), 0))
    order = np.argsort(-np.ptp(table, axis=0), kind="stable")[:SHOWN_ENTRIES].tolist()
    kept = table[:, order]
    return {
        "names": [called[k] for k in order],
        "left_out": len(called) - len(order),
        "start": kept[::2].tolist(),
        "end": kept[1::2].tolist(),
    }
