"""What a program does right beside a point: rates on one side of it, and how far they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.path.of_problem import ProblemPath, trace_problem
from paretoclf.path.on_line import Source
from paretoclf.path.program_ends import refusal

#: How far a line goes at first, in units of what moves, and how many times as far where nothing happens on it.
_REACHES = (1.0, 1e3, 1e6)
#: Exchanges at first, and how many times as many where they do not lead to where the value bends.
_EVENTS, _MORE, _ROUNDS = 50, 8, 5
#: Rates that differ by no more than this of their terms are the same, or by no more than this of what they would be if
#: each were of the largest variable, or multiplier: a variable that is 0 is known as well as the others.
_SAME, _ROUNDED = 1e-9, 1e-12


@dataclass(frozen=True)
class Beside:
    """One side of a point.

    Attributes
    ----------
    path : ProblemPath
        From the point on; t = 1 is ``reach`` units away.
    reach : float
    piece : int
        The first segment of the path that has a length; -1 where there is no optimum beside the point.
    rate : float
        How fast the user's optimal value grows at the point, for a unit; infinite where there is no optimum beside it.
    bend : float
        By how much that rate grows for a unit.
    until : float
        In units: the value is one parabola (of a linear program one line) from the point to there.
    after : str
        What happens there; empty where it holds for ever.
    room : float
        By how much rounding may move the rate.
    """

    path: ProblemPath
    reach: float
    piece: int
    rate: float
    bend: float
    until: float
    after: str
    room: float = 0.0


def beside(source_at: Callable[[float, float], Source], unit: float, most: float = np.inf) -> Beside:
    """What happens on one side of a point.

    Parameters
    ----------
    source_at : callable
        The line between two points that are so many units from it.
    unit : float
        A length that is natural for what moves.
    most : float
        No line is longer: what moves may have bounds of its own.

    Raises
    ------
    InputError
        If there is no optimum at the point itself.
    DegeneratePathError
        If it cannot be proved what happens.
    """
    reaches = [min(unit * more, most) for more in _REACHES]
    for reach in dict.fromkeys(reaches):
        found = _seen(source_at(0.0, reach), reach)
        if found.after or found.until == np.inf:
            return found
        # A multiplier may have passed from one row to another on the way: what holds beyond shows beyond.
        if 2.0 * reach <= most and _goes_on(found, _seen(source_at(reach, 2.0 * reach), reach)):
            return replace(found, until=np.inf)
    return found


def _goes_on(found: Beside, beyond: Beside) -> bool:
    """Whether what holds from its end on, for ever, is what was found."""
    room, reach = max(found.room, beyond.room), found.reach
    same = abs(found.rate + found.bend * reach - beyond.rate) <= room
    return beyond.until == np.inf and same and abs(found.bend - beyond.bend) * reach <= room


def _seen(source: Source, reach: float) -> Beside:
    """What a line of this length shows; ``until`` is its end where nothing happens on it."""
    events = _EVENTS
    for _ in range(_ROUNDS):
        path = trace_problem(source, max_events=events, progress=False)
        found = _first_piece(path, reach)
        if found is not None:
            return found
        events *= _MORE
    raise refusal(f"the value does not bend within {events // _MORE} exchanges", float(path.t[-1]))


def _first_piece(path: ProblemPath, reach: float) -> Beside | None:
    """The piece of the value at the beginning of a path; None where the path was stopped on it."""
    ended, sense = path.status in ("infeasible", "unbounded"), path.program.sense
    if not path.stretches.size:
        if path.status == "limit":
            return None
        worse = sense if path.status == "infeasible" else -sense
        return Beside(path, reach, -1, worse * np.inf, 0.0, 0.0, _ending(path))
    rates, units = _rates(path)
    begin = path.t[path.stretches]
    bends = (rates[:, 1] - rates[:, 0]) / (path.t[path.stretches + 1] - begin)
    last = 0
    while last + 1 < len(rates):
        room = max(units[last], units[last + 1])
        jump = abs(rates[last + 1, 0] - rates[last, 1])
        turn = abs(bends[last + 1] - bends[0]) * (path.t[path.stretches[last + 1] + 1] - begin[last + 1])
        if jump > room or turn > room:
            break
        last += 1
    end = float(path.t[path.stretches[last] + 1])
    after = ""
    if last + 1 < len(rates):
        after = "; ".join(_said(path, end))
    elif path.status == "limit":
        return None
    elif ended:
        after = _ending(path)
    elif _for_ever(path, int(path.stretches[last])):
        end = np.inf
    rate, bend, room = float(rates[0, 0]) + 0.0, float(bends[0]) + 0.0, float(max(units))
    piece = int(path.stretches[0])
    return Beside(path, reach, piece, rate / reach, bend / reach**2, reach * end, after, room / reach)


def _rates(path: ProblemPath) -> tuple[Array, Array]:
    """Rates of the user's value at both ends of each segment that has a length, and by how much rounding moves them."""
    line = path.program
    rates, units = [], []
    for j in path.stretches.tolist():
        x, z = path.points.segment(j)
        rates.append([line.rate(a, b) for a, b in zip(x, z, strict=True)])
        change = [np.abs(ends[1] - ends[0]) for ends in (line.q, line.b)]
        sizes = [np.abs(each).max(axis=0) for each in (x, z)]
        terms = sum(float(move @ own) for move, own in zip(change, sizes, strict=True))
        most = sum(float(move.sum() * own.max(initial=0.0)) for move, own in zip(change, sizes, strict=True))
        units.append(_SAME * terms + _ROUNDED * most)
    return np.array(rates), np.array(units)


def _for_ever(path: ProblemPath, j: int) -> bool:
    """Whether what holds on a segment holds on the whole half-line: no slack and no multiplier falls towards 0."""
    line, (x, z) = path.program, path.points.segment(j)
    length = float(path.t[j + 1] - path.t[j])
    dx, dz = (x[1] - x[0]) / length, (z[1] - z[0]) / length
    db = line.b[1] - line.b[0]
    falls, size = db - line.A @ dx, np.abs(db) + abs(line.A) @ np.abs(dx)
    inequality = np.arange(line.m) >= line.equations
    least = -_SAME * np.maximum(size, np.abs(line.b[0]) + abs(line.A) @ np.abs(x[0]))
    prices = -_SAME * max(float(np.abs(dz).max(initial=0.0)), float(np.abs(z).max(initial=0.0)))
    return bool((falls >= least)[inequality].all() and (dz[inequality] >= prices).all())


def _said(path: ProblemPath, end: float) -> list[str]:
    """What changes at a breakpoint, in the user's names."""
    near = [event for event in path.events if abs(event.t - end) <= max(path._least, 1e-12)]
    return list(dict.fromkeys(f"{event.name} {event.after}" for event in near))


def _ending(path: ProblemPath) -> str:
    """Why there is no optimum beyond."""
    if path.beyond is None:
        return path.status
    names, verdict = ", ".join(path.beyond.blame), path.beyond.verdict
    return f"{verdict} ({names})" if names else verdict
