"""Table of a path that anybody reads: its breakpoints, with every variable and multiplier by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from paretoclf.engine.reduction.program import beside_the_value
from paretoclf.path.base.path import OnSegments
from paretoclf.solve.entries import entries

#: Column of what changes.
EVENTS = "events"

#: Columns of the rates of the optimal value, on the side of smaller t and on that of larger t.
SLOPES = ("slope left", "slope right")

#: Numbers on both sides of a breakpoint that differ by less, relative to the largest, are one.
_ROUNDED = 1e-9


def point_rows(
    path: OnSegments, bounds_at: Callable[[float], tuple[float, float]] | None = None, *at: float
) -> Iterator[dict[str, Any]]:
    """Write a row for each breakpoint: the numbers that move, the value, variables, multipliers, and what changes.

    Or for each t in ``at``.

    ``slope left`` and ``slope right`` are the rates of the optimal value on both sides, towards smaller and towards
    larger t: for a unit of the number that moves, its shadow price, where it moves alone, and else for a unit of t. At
    the ends of the path one of them is missing. Where they differ the value has a kink; where they are equal only
    variables, multipliers or what is tight change.

    Of a path within eps the optimal value has bounds at each t, which are the columns ``lower`` and ``upper``. Its
    multipliers prove them, and may be far from those of the optimum: they are left out, and so are slopes.

    An entry whose name is that of another column is ``x:NAME``, or ``row:NAME``, as where it is given by name.

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
    axis, *_ = path.axis
    alone = axis if axis in path._moving else None
    changes = dict[float, list[str]]()
    for event in path.events:
        changes.setdefault(event.t, []).append(event.said)
    named = {"x": path.variables} if bounds_at else {"x": path.variables, "row": path.duals}
    for t in at or path.breakpoints.tolist():
        if bounds_at is None:
            known = {"value": path.value(t), **_slopes(path, t, alone)}
        else:
            known = dict(zip(("lower", "upper"), bounds_at(t), strict=True))
        first = {**path._row(t), **known}
        taken = {*first, EVENTS}
        right, share = path._locate(t)
        both = [_numbers(path, (right, share.after, t), named, taken)]
        before = int(path.t.searchsorted(t)) - 1
        if before >= 0 and before != right:
            left = _numbers(path, (before, 1.0, t), named, taken)
            if not _same(left, both[0]):
                both.insert(0, left)
        said = "; ".join(dict.fromkeys(changes.get(t, ())))
        for numbers in both:
            yield {**first, **numbers, EVENTS: said}


def _slopes(path: OnSegments, t: float, per: str | None) -> dict[str, float | None]:
    """Rates of the optimal value on both sides of t; None where there is no path."""
    found = path.slopes(t, per=per)
    return {
        name: None if side is None else side.value for name, side in zip(SLOPES, (found.left, found.right), strict=True)
    }


def column_of(entry: str, kind: str, taken: Collection[str]) -> str:
    """Name the column of an entry of a variable (kind ``"x"``) or a row (``"row"``) beside columns of other names.

    Examples
    --------
    >>> from paretoclf.path.base.point_rows import column_of
    >>> column_of("wood", "row", {"t", "wood"}), column_of("chairs", "x", {"t", "wood"})
    ('row:wood', 'chairs')
    """
    return f"{kind}:{entry}" if entry in taken else entry


def _numbers(
    path: OnSegments, place: tuple[int, float, float], named: Mapping[str, Collection[str]], taken: Collection[str]
) -> dict[str, float]:
    """Entries of variables and multipliers, by their names, at a place: a segment, a share of it, and t."""
    j, share, t = place
    where, found = (j, np.array([share]), np.array([t])), dict[str, float]()
    for kind, names in named.items():
        for name in names:
            own = beside_the_value(name, kind)
            for entry, number in entries(own, path._read(name, *where)[0]):
                found[column_of(entry, kind, taken)] = number
    return found


def _same(left: dict[str, float], right: dict[str, float]) -> bool:
    """Whether nothing jumps, up to rounding."""
    before, after = (np.array(list(each.values())) for each in (left, right))
    room = _ROUNDED * max(1.0, float(np.abs(before).max(initial=0.0)), float(np.abs(after).max(initial=0.0)))
    return bool((np.abs(after - before) <= room).all())
