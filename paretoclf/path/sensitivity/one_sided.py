"""What a program does right beside a point: rates on one side of it, and how far they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.path.base.points import Event
from paretoclf.path.programs.optimum import standing
from paretoclf.path.programs.path_ends import refusal
from paretoclf.path.programs.problem_path import ProblemPath, trace_problem
from paretoclf.path.programs.program_path import Source
from paretoclf.path.programs.program_points import events_of, words_of
from paretoclf.path.sensitivity.both_sides import Reach
from paretoclf.path.sensitivity.optimal_basis import Movement, Within, basis_at, times

#: How far a line goes at first, in units of what moves, and where it is looked whether nothing happens for ever.
_REACHES = (1.0, 1e6)
#: Lines that are tried, each beyond where a slack or a multiplier of the one before would be 0.
_LINES = 6
#: Exchanges at first, and how many times as many where they do not lead to where the value bends.
_EVENTS, _MORE, _ROUNDS = 50, 8, 5
#: Rates that differ by no more than this of their terms are the same, or by no more than this of what they would be if
#: each were of the largest variable, or multiplier: a variable that is 0 is known as well as the others.
_SAME, _ROUNDED = 1e-9, 1e-12
#: By how much slacks and multipliers of a path are rounded: a share of the terms that a slack is a difference of, and
#: of the largest multiplier.
_NOISE = 1e-13
#: Words where the value bends and nothing that has a name changes its state.
_BENDS = "the rate of the value changes"


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
        What happens there to the basis, in the labels of the reduced program, or why there is no optimum beyond; empty
        where nothing does, which is where the value does not bend. `said` has it in the user's words.
    room : float
        By how much rounding may move the rate.
    empty : float
        In units: where nothing happened on the line, there a slack or a multiplier would be 0 if all went on.
    bends : bool
        Whether the path goes on there, as another parabola.
    certain : bool
        Whether ``empty`` is that of a certified basis: an infinite one is no nearer than 1e9 lengths of the line.
    first : Beside
        What the shortest line shows: the rates are its, as a point far away is known to fewer digits.
    """

    path: ProblemPath
    reach: float
    piece: int
    rate: float
    bend: float
    until: float
    after: str
    room: float = 0.0
    empty: float = np.inf
    bends: bool = False
    certain: bool = False
    first: Beside | None = field(default=None, repr=False)

    @cached_property
    def basis(self) -> SegmentBasis | None:
        """The basis of the first segment that has a length; None where none is certified."""
        return None if self.piece < 0 else SegmentBasis.of(self.path, self.piece)

    @property
    def said(self) -> str:
        """States of the user's rows and variables behind the end, or why there is none; empty where there is no end."""
        if not self.bends:
            return self.after
        return "; ".join(_changes(self.path, self.path.events, self.until / self.reach)) or _BENDS


@dataclass(frozen=True)
class SegmentBasis:
    """A basis that is certified in the middle of a segment: what moves there, within proved bounds.

    Attributes
    ----------
    moved : Movement
        Of the optimum, for a movement from t = 0 to t = 1.
    rate : Within
        Of the optimal value at the beginning of the segment, shape (1, 1), as the compiled program has it.
    end : float
        The t up to which the basis stays optimal; nan where that is not known.
    """

    moved: Movement
    rate: Within
    end: float

    @classmethod
    def of(cls, path: ProblemPath, j: int) -> SegmentBasis | None:
        """Basis of segment j; None where none is certified to be optimal on both sides of its middle."""
        line, begin, middle = path.program, float(path.t[j]), float(path.t[j : j + 2].mean())
        basis = basis_at(standing(line, middle), *(between(ends, 0.5) for ends in path.points.segment(j)))
        if basis is None:
            return None
        q, b = (np.diff(ends, axis=0).T for ends in (line.q, line.b))
        moved = basis.moved(q, b)
        if not moved.rates.is_zero[basis.weak | basis.dependent].all():
            return None
        first = basis.moved(between(line.q, begin)[:, None], between(line.b, begin)[:, None])
        rate = times(q.T, first.x) - times(b.T, first.z) + Within.of(np.diff(line.constant)[:, None])
        ahead = Reach.of(basis, moved.rates, 1.0, np.ones(1))
        return cls(moved, rate, middle + float(ahead.until[0]) if ahead.known[0] else np.nan)

    @property
    def says_the_end(self) -> bool:
        """Whether it is known up to where the basis stays optimal."""
        return not np.isnan(self.end)


def beside(source_at: Callable[[float, float], Source], unit: float, most: float = np.inf) -> Beside:
    """Rates of a program on one side of a point, and how far they hold.

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
    near, far = (min(unit * more, most) for more in _REACHES)
    first = found = _seen(source_at(0.0, near), near)
    for _ in range(_LINES):
        if found.after or found.reach == most:
            break
        if found.empty == np.inf and (found.certain or found.reach >= far):
            break
        further = far
        if found.empty < np.inf:
            further = 2.0 * max(found.empty, found.reach)
        reach = min(further, most)
        found = _seen(source_at(0.0, reach), reach)
    own = replace(found, rate=first.rate, bend=first.bend, room=first.room, first=first)
    if found.after:
        return own
    if found.empty == np.inf:
        return replace(own, until=np.inf)
    if found.reach == most:
        return own
    # A multiplier may have passed from one row to another on the way: what holds beyond shows beyond.
    if _goes_on(found, _seen(source_at(found.reach, 2.0 * found.reach), found.reach)):
        return replace(own, until=np.inf)
    raise refusal("it is not known how far the value goes on", float(found.path.t[-1]))


def _goes_on(found: Beside, beyond: Beside) -> bool:
    """Whether what holds from its end on, for ever, is what was found."""
    room, reach = max(found.room, beyond.room), found.reach
    same = abs(found.rate + found.bend * reach - beyond.rate) <= room
    lasts = not beyond.after and beyond.empty == np.inf
    return lasts and same and abs(found.bend - beyond.bend) * reach <= room


def _seen(source: Source, reach: float) -> Beside:
    """Rates that a line of this length shows; ``until`` is its end where nothing happens on it."""
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
    if not path.long_segments.size:
        if path.status == "limit":
            return None
        worse = sense if path.status == "infeasible" else -sense
        return Beside(path, reach, -1, worse * np.inf, 0.0, 0.0, _ending(path))
    rates, units = _rates(path)
    begin = path.t[path.long_segments]
    ends = path.t[path.long_segments + 1]
    last, bend = 0, _bend(rates[:1], ends[0] - begin[0])
    while last + 1 < len(rates):
        room = max(units[last], units[last + 1])
        jump = abs(rates[last + 1, 0] - rates[last, 1])
        length = ends[last + 1] - begin[last + 1]
        turn = abs(_bend(rates[last + 1 : last + 2], length) - bend) * length
        # Rounding of the rates at the ends of a short piece is much on a longer one, if it is taken for a bend.
        if jump > room or turn > room * (1.0 + length / (ends[last] - begin[0])):
            break
        last += 1
        bend = _bend(rates[: last + 1], ends[last] - begin[0])
    end = float(ends[last])
    after, empty, certain, goes_on = "", np.inf, False, last + 1 < len(rates)
    if goes_on:
        labels = events_of(path.t, path.labels, path.items, words_of(path.kinks), path.parameters)
        after = "; ".join(_changes(path, labels, end)) or _BENDS
    elif path.status == "limit":
        return None
    elif ended:
        after = _ending(path)
    else:
        j = int(path.long_segments[last])
        basis = SegmentBasis.of(path, j)
        certain = basis is not None and basis.says_the_end
        empty = basis.end if basis is not None and certain else _empty(path, j)
    rate, room = float(rates[0, 0]) + 0.0, float(max(units))
    piece = int(path.long_segments[0])
    rest = reach * end, after, room / reach, reach * empty, goes_on, certain
    found = Beside(path, reach, piece, rate / reach, bend / reach**2, *rest)
    if abs(rate) <= room and found.basis is not None and found.basis.rate.is_zero.all():
        return replace(found, rate=0.0)
    return found


def _bend(rates: Array, length: float) -> float:
    """Return by how much the rate grows from the beginning of the first of some segments to the end of the last."""
    return float((rates[-1, 1] - rates[0, 0]) / length) + 0.0


def _rates(path: ProblemPath) -> tuple[Array, Array]:
    """Rates of the user's value at both ends of each segment that has a length, and by how much rounding moves them."""
    line = path.program
    rates, units = [], []
    for j in path.long_segments.tolist():
        x, z = path.points.segment(j)
        rates.append([line.rate(a, b) for a, b in zip(x, z, strict=True)])
        change = [np.abs(ends[1] - ends[0]) for ends in (line.q, line.b)]
        sizes = [np.abs(each).max(axis=0) for each in (x, z)]
        terms = sum(float(move @ own) for move, own in zip(change, sizes, strict=True))
        most = sum(float(move.sum() * own.max(initial=0.0)) for move, own in zip(change, sizes, strict=True))
        units.append(_SAME * terms + _ROUNDED * most)
    return np.array(rates), np.array(units)


def _empty(path: ProblemPath, j: int) -> float:
    """The t at which a slack or a multiplier is 0 if what holds on a segment goes on; infinite if none ever is.

    What falls by no more than the rounding of its ends does not fall. On a longer line that is less for a unit.
    """
    line, (x, z) = path.program, path.points.segment(j)
    t = path.t[j : j + 2]
    b = np.stack([between(line.b, each) for each in t])
    slack = b - x @ line.A.T
    products = np.abs(x) @ abs(line.A).T
    terms = np.abs(b) + products
    rows = slice(line.equations, None)
    prices = z[:, rows]
    levels = np.hstack([slack[:, rows], prices])
    largest = np.full_like(prices, np.abs(z).max(initial=0.0))
    rounding = np.hstack([terms[:, rows], largest])
    falls = levels[0] - levels[1]
    falling = falls > _NOISE * rounding.max(axis=0)
    steps = np.maximum(levels[1, falling], 0.0) / falls[falling]
    length = t[1] - t[0]
    return float(t[1] + length * steps.min(initial=np.inf))


def _changes(path: ProblemPath, events: Iterable[Event], end: float) -> list[str]:
    """Texts of the events at a breakpoint: the name of what changes, and its state behind it."""
    near = [event for event in events if abs(event.t - end) <= max(path._least, 1e-12)]
    return list(dict.fromkeys(f"{event.name} {event.after}" for event in near))


def _ending(path: ProblemPath) -> str:
    """Why there is no optimum beyond."""
    if path.beyond is None:
        return path.status
    names, verdict = ", ".join(path.beyond.blame), path.beyond.verdict
    return f"{verdict} ({names})" if names else verdict
