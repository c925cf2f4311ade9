"""Table of a path that anybody reads: its breakpoints, with every variable and multiplier by its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paretoclf.engine.reduction.program import told_apart
from paretoclf.path.base.path import OnSegments

#: Column of what changes.
EVENTS = "events"

#: Numbers on both sides of a breakpoint that differ by less, relative to the largest, are one.
_ROUNDED = 1e-9


def entries(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Name and number of each entry of a variable or of multipliers: ``x[0]``, ``x[0, 1]``; of a number its name.

    Examples
    --------
    >>> from paretoclf.path.base.point_rows import entries
    >>> list(entries("x", [3.0, 4.0])), list(entries("cap", 2.0))
    ([('x[0]', 3.0), ('x[1]', 4.0)], [('cap', 2.0)])
    """
    own = np.asarray(value, dtype=np.float64)
    for index, number in zip(np.ndindex(*own.shape), own.ravel().tolist(), strict=True):
        yield (f"{name}[{', '.join(map(str, index))}]" if index else name), number


def point_rows(path: OnSegments) -> Iterator[dict[str, Any]]:
    """Write a row for each breakpoint: the numbers that move, the value, variables, multipliers, and what changes.

    Where a variable or a multiplier jumps there are two rows, to the left and to the right of the breakpoint. So
    between two rows with different t all of them move along straight lines.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.path.base.point_rows import point_rows
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"l": [1.0]}})
    >>> [(row["a"], row["value"], row["x[0]"]) for row in point_rows(pc.trace(qp, start={"a": -1}, stop={"a": 1}))]
    [(-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.5, 1.0)]
    """
    changes = dict[float, list[str]]()
    for event in path.events:
        changes.setdefault(float(event.t), []).append(f"{event.name} {event.after}")
    for t in path.breakpoints.tolist():
        right, share = path._locate(t)
        both = [_numbers(path, right, share.after, t)]
        before = int(path.t.searchsorted(t)) - 1
        if before >= 0 and before != right:
            left = _numbers(path, before, 1.0, t)
            if not _same(left, both[0]):
                both.insert(0, left)
        said = "; ".join(dict.fromkeys(changes.get(t, ())))
        for numbers in both:
            yield {**path._row(t), "value": path.value(t), **numbers, EVENTS: said}


def _numbers(path: OnSegments, j: int, share: float, t: float) -> dict[str, float]:
    """Entries of all variables and multipliers at a share of segment j."""
    place = (j, np.array([share]), np.array([t]))
    variables, duals = ({name: path._read(name, *place)[0] for name in own} for own in (path.variables, path.duals))
    told = told_apart(None, variables, duals)
    del told["value"]
    return {entry: number for name, each in told.items() for entry, number in entries(name, each)}


def _same(left: dict[str, float], right: dict[str, float]) -> bool:
    """Whether nothing jumps, up to rounding."""
    before, after = (np.array(list(each.values())) for each in (left, right))
    room = _ROUNDED * max(1.0, float(np.abs(before).max(initial=0.0)), float(np.abs(after).max(initial=0.0)))
    return bool((np.abs(after - before) <= room).all())
