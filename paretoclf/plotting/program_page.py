"""A page to play with of any path: variables, multipliers, value, rates and events at every t.

One HTML file with what the path stores and a small script that interpolates it, which is exact: everything is affine
between breakpoints, or a parabola, as the value is. Where coefficients of constraints move, the points of a path within
eps are a little more bent than that: a page has parabolas on parts of each piece.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.plotting.certificate_panel import certificate_panel
from paretoclf.plotting.duality_panel import duality_data
from paretoclf.plotting.page import html_file, script, write_template

#: Entries of variables, and of multipliers, that a page holds: those that change most.
SHOWN_ENTRIES = 60


def write_program_page(
    path: Any, file: str | os.PathLike[str], title: str | None = None, certificate: bool | None = None
) -> None:
    """Write a path as a page of variables and multipliers; see `ProblemPath.page` and `ConePath.page`."""
    out, data = html_file(file), script(program_page_data(path, title))
    write_template(out, "program_page.html", {"DATA": data, "CERTIFICATE": certificate_panel(path, certificate)})


def program_page_data(path: Any, title: str | None = None) -> dict[str, Any]:
    """Data of a page of a path."""
    if "value" in path.bent:
        raise InputError(
            f"no page for a {type(path).__name__}, whose value and multipliers are no parabolas between breakpoints; "
            "plot() draws it"
        )
    (name, *ends), pieces, bands = path.axis, _pieces(path), hasattr(path, "bounds")
    parts = path.page_parts
    lengths = np.diff(path.t)[pieces, None]
    begin = path.t[pieces, None] + lengths * np.arange(parts) / parts
    t = np.append(begin.ravel(), path.t[pieces[-1] + 1])
    end = np.column_stack([begin[:, 1:], path.t[pieces + 1]]).ravel()
    three = np.stack([begin.ravel(), 0.5 * (begin.ravel() + end), end], axis=1)
    if bands:
        found = np.array([[path.bounds(s) for s in part] for part in three.tolist()])
        values, lower = (found[:, :, int(path.program.sense * side > 0)].tolist() for side in (1, -1))
    else:
        values, lower = path.value(three).tolist(), None
    beyond, events = path.beyond, dict[float, list[str]]()
    for event in path.events:
        change = f"{event.name} {event.before} -> {event.after}"
        events.setdefault(event.t, []).append(event.said if hasattr(event, "since") else change)
    return {
        "title": title or repr(path),
        "parameter": name,
        "ends": ends,
        "t": t.tolist(),
        "value": values,
        "other": lower,
        "variables": _entries(path, path.variables, pieces, parts),
        "duals": _entries(path, path.duals, pieces, parts),
        "duality": duality_data(path, begin.ravel(), end),
        "dual": _dual_values(path, pieces) if hasattr(path, "program") and not bands else None,
        "events": [{"t": at, "text": "; ".join(changes)} for at, changes in events.items()],
        "gap": np.repeat(path.proof.gap[pieces], parts).tolist(),
        "proof": path.proof.explain(),
        "ending": "" if path.status == "end" else beyond.explain() if beyond else "max_events was reached",
    }


def _dual_values(path: Any, pieces: Index) -> list[list[float]]:
    """Dual objective at the beginning, in the middle and at the end of each piece of an exact path."""
    first, control, last = path.program.sense * path.proof.duals[pieces].T  # Bernstein coefficients
    middle = 0.25 * first + 0.5 * control + 0.25 * last
    return list(np.stack([first, middle, last], axis=1).tolist())


def _pieces(path: Any) -> Index:
    """Pieces that are longer than a point."""
    return path.long_segments if path.long_segments.size else np.arange(path.t.size - 1)


def _entries(path: Any, known: Sequence[str], pieces: Index, parts: int) -> dict[str, Any]:
    """Entries at both ends of parts of pieces, and in the middle where there are parabolas; largest changes first."""
    names = [name for name in known if name not in path.bent]
    points = 3 if {*names} & {*path.parabolas} else 2
    count = (points - 1) * parts + 1  # of points on a piece
    called: list[str] = []
    columns: list[Array] = []
    for name in names:
        values = path.along(name, count)[1]
        shape = values.shape[1:]
        places = [f"[{', '.join(map(str, at))}]" for at in np.ndindex(*shape)] if shape else [""]
        called += [name + place for place in places]
        columns.append(values.reshape(path.t.size - 1, count, -1)[pieces])
    table = np.concatenate([np.zeros((pieces.size, count, 0)), *columns], axis=2)
    order = np.argsort(-np.ptp(table, axis=(0, 1)), kind="stable")[:SHOWN_ENTRIES].tolist()
    kept = table[:, :, order]

    def at(first: int) -> Any:
        """Entries at the begin of each part, or so many points after it."""
        last = first + count - points + 1
        return kept[:, first : last : points - 1].reshape(pieces.size * parts, -1).tolist()

    return {
        "names": [called[k] for k in order],
        "left_out": len(called) - len(order),
        "start": at(0),
        "middle": at(1) if points == 3 else None,
        "end": at(points - 1),
    }
