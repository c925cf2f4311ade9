"""Events of the path of a program: what becomes of the user's rows, variables and terms at a breakpoint.

An engine follows a reduced program, whose labels speak of items that may be none of the user's: a column that pays for
the violation of a row is a soft bound of that row there. So the state of each inequality of the user, and of each bound
of a variable, is read off the points themselves, on both sides of a breakpoint: whether it has room (its slack is not
0), is tight at a price (its multiplier is not 0), or tight without one. All else, costs with kinks, which are terms of
the objective, and rows that CVXPY has added, is an item: its state is read off the slacks of the rows behind its sides
in the same way, and has the words of its labels: a side that a cost has made is a kink of it, and no bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.behind import RowsBehind
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.reduction.program import along
from paretoclf.engine.reduction.reduced import WayBack
from paretoclf.path.base.points import Event
from paretoclf.path.base.term_names import TermNames, constraints_of_items, term_names
from paretoclf.path.base.user_rows import LOWER, PRICED, UPPER, UserRows
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE
from paretoclf.problem.parametric_qp import LOWER as LOWER_LABEL
from paretoclf.problem.parametric_qp import UPPER as UPPER_LABEL
from paretoclf.proof.programs.program_lines import CONDITIONS
from paretoclf.proof.programs.row_units import Sizes, Units

#: A slack, or a multiplier, of less than this share of its terms, in the units of the proof, is rounding: thousands of
#: units in the last place. Where the proof leaves more than a part of that, so many times what it leaves is.
_ROUNDED, _TIMES = 1e-12, 10.0


def program_events(path: Any, words: Any) -> tuple[Event, ...]:
    """List what changes at the breakpoints of a `ProblemPath`, by increasing t; variables before constraints.

    Parameters
    ----------
    path : ProblemPath
    words : sequence of sequences of str
        For each item of the reduced program the words for its labels, which are their places.
    """
    changes = _Changes(path, words)
    found = sorted([*changes.of_rows(), *changes.of_items()])
    # Terms of one direction have one name: what is said of several at once is said once.
    said = dict.fromkeys((segment, name, before, after) for segment, _, name, before, after in found)
    return tuple(changes.event(*each) for each in _as_one(said))


def _as_one(said: Iterable[_Said]) -> list[_Said]:
    """Join what is said of one variable at once: its own rows may not see a bound that is behind an item."""
    found: dict[tuple[int, str], list[_Said]] = {}
    for each in said:
        found.setdefault(each[:2], []).append(each)
    for place, own in found.items():
        before = {each[2] for each in own} - {"free"} or {"free"}
        after = {each[3] for each in own} - {"free"} or {"free"}
        if len(own) > 1 and len(before) == len(after) == 1 and before | after <= _OF_BOUNDS:
            found[place] = [(*place, before.pop(), after.pop())] if before != after else []
    return [each for own in found.values() for each in own]


#: Words for a variable between bounds.
_OF_BOUNDS = {"free", "at its lower bound", "at its upper bound"}

#: Words for the labels of an item whose lower side, whose upper side, or both are kinks of costs; its inside is next to
#: them. One whose two kinks are one has the words of its labels.
_BESIDE_KINKS: Mapping[tuple[bool, bool], Mapping[int, str]] = {
    (True, False): {BELOW: "below its kink", LOWER_LABEL: "at its kink", INSIDE: "above its kink"},
    (False, True): {INSIDE: "below its kink", UPPER_LABEL: "at its kink", ABOVE: "above its kink"},
    (True, True): {
        BELOW: "below its lower kink",
        LOWER_LABEL: "at its lower kink",
        INSIDE: "between its kinks",
        UPPER_LABEL: "at its upper kink",
        ABOVE: "above its upper kink",
    },
}

#: Words for the labels of a named term whose item is fixed where its one kink is.
_AT_ONE_KINK = {
    BELOW: "below its kink",
    LOWER_LABEL: "at its kink",
    UPPER_LABEL: "at its kink",
    ABOVE: "above its kink",
}

#: Words for the labels of an item that is one of the expressions that a term is the largest of.
_OF_LARGEST = {
    INSIDE: "below the largest",
    LOWER_LABEL: "among the largest",
    UPPER_LABEL: "among the largest",
}

#: Words that change places where what is named falls from below a kink to above it.
_TURNED = {"above": "below", "below": "above", "lower": "upper", "upper": "lower", "largest": "smallest"}

#: What is said of a change: the segment that it is at the beginning of, a name, and the states before and after.
_Said = tuple[int, str, str, str]

#: A change: the segment that it is at the beginning of, its place in order, a name, and the states before and after.
_Change = tuple[int, int, str, str, str]


class _Changes:
    """Changes between segments that have a length."""

    def __init__(self, path: Any, words: Any) -> None:
        self.path, self.words = path, words
        self.long = path.long_segments
        self.rows = UserRows.of(path.program)
        self.way = way_of(path)
        behind = None if self.way is None else RowsBehind.of(self.way)
        # Sides that are the user's rows alone are told by these.
        self.behind = None if behind is None else behind.only(behind.others(self.rows.stated))
        self.states = RowStates(path)

    def event(self, segment: int, name: str, before: str, after: str) -> Event:
        """Event at the beginning of a segment."""
        at = float(self.path.t[segment])
        return Event(at, name, before, after, self._items.get(name, -1), self._parameters(segment))

    def _parameters(self, segment: int) -> Any:
        """Parameters at the beginning of a segment, one mapping for all its events."""
        if segment not in self._known:
            self._known[segment] = self.path.parameters(float(self.path.t[segment]))
        return self._known[segment]

    @cached_property
    def _known(self) -> dict[int, Any]:
        return {}

    @cached_property
    def _items(self) -> dict[str, int]:
        """The first item of each name."""
        return {self._name(item): item for item in reversed(range(len(self.path.items)))}

    @cached_property
    def terms(self) -> TermNames:
        """Names of terms of the objective, as their author has written them."""
        if self.path.terms is not None or self.behind is None or self.way is None:
            return self.path.terms or {}
        return term_names(self.path, self.way.columns.size, self.behind, self.rows.stated)

    def _name(self, item: int) -> str:
        """Name of an item."""
        if item in self._constraints:
            return self.rows.name(self._constraints[item])
        return self.terms[item][0] if item in self.terms else self.path.items[item]

    @cached_property
    def _constraints(self) -> dict[int, int]:
        """Items that are all that a constraint bounds, with its owner; those of one variable have its name."""
        if self.behind is None:
            return {}
        hidden = self.rows.hidden
        rows = dict(zip(self.rows.rows[hidden].tolist(), self.rows.owners[hidden].tolist(), strict=True))
        return constraints_of_items(self.path, self.behind, rows)

    def of_rows(self) -> Iterator[_Change]:
        """Yield the changes of the states of the user's variables and constraints."""
        told = np.zeros(0, dtype=np.int64) if self.behind is None else self.behind.used
        by_items = np.isin(self.rows.rows, told) | np.isin(self.rows.owners, [*self._constraints.values()])
        which = np.flatnonzero(~(self.rows.hidden & by_items))
        rows, hidden = self.rows.rows[which], self.rows.hidden[which, None]
        room, priced = self.states.of(rows)
        tight = np.where(hidden, priced, priced | ~room)
        side = np.where(self.rows.sides[which] < 0, LOWER, UPPER)
        bits = side[:, None] | np.where(priced, PRICED, 0)
        of_rows = np.where(tight, bits, 0)[:, self.long]
        owners, number = np.unique(self.rows.owners[which], return_inverse=True)
        states = np.zeros((owners.size, self.long.size), dtype=of_rows.dtype)
        np.bitwise_or.at(states, number, of_rows)
        for place, j in np.argwhere(states[:, 1:] != states[:, :-1]).tolist():
            owner, pair = int(owners[place]), states[place, j : j + 2].tolist()
            before, after = (self.rows.words(owner, each) for each in pair)
            yield int(self.long[j + 1]), owner, self.rows.name(owner), before, after

    def of_items(self) -> Iterator[_Change]:
        """Yield the changes of items that are not the user's rows alone, in the words of their labels."""
        if self.behind is None or self.way is None:
            return
        items, rows = (np.unique(each) for each in (self.behind.owners, self.behind.used))
        room = np.zeros((self.path.program.m, self.long.size), dtype=np.bool_)
        room[rows] = self.states.of(rows)[0][:, self.long]
        beyond, at = self.behind.states(items, room)
        labels = np.select([*beyond, *at], [BELOW, ABOVE, LOWER_LABEL, UPPER_LABEL], INSIDE)
        numbers = np.concatenate([self.way.columns, self.path.program.n + self.way.rows])
        for place, j in np.argwhere(labels[:, 1:] != labels[:, :-1]).tolist():
            item, pair = int(items[place]), labels[place, j : j + 2].tolist()
            before, after = (self._word(item, each) for each in pair)
            segment, order = int(self.long[j + 1]), int(numbers[item])
            if before != after:  # from one side of a kink to the other it may jump
                yield segment, order, self._name(item), before, after

    def _word(self, item: int, label: int) -> str:
        """Word for a label of an item: the sides that costs have made are kinks of these, and no bounds."""
        if item in self._constraints:
            return "free" if label == INSIDE else "tight"
        named, fixed = item in self.terms, self.path.kinks[item]
        kinks: Mapping[int, str] = _AT_ONE_KINK if named else {}
        if not fixed:
            kinks = _BESIDE_KINKS.get(self._sides_of_kinks[item], _OF_LARGEST if named else {})
        word = kinks.get(label, self.words[item][label])
        turned = named and self.terms[item][1] < 0
        return " ".join(_TURNED.get(each, each) for each in word.split()) if turned else word

    @cached_property
    def _sides_of_kinks(self) -> list[tuple[bool, bool]]:
        """Whether the lower and the upper side of each item are kinks, which a value may lie beyond at a price."""
        found = np.zeros((len(self.path.items), 2), dtype=np.bool_)
        if self.behind is not None:
            soft = self.behind.beyond
            found[self.behind.owners[soft], self.behind.sides[soft]] = True
        return [(bool(lower), bool(upper)) for lower, upper in found]


def terms_of(path: Any) -> TermNames:
    """Find the names of those items of a `ProblemPath` that are terms of its objective."""
    return _Changes(path, ()).terms


def way_of(path: Any) -> WayBack | None:
    """How the items of a path became the compiled program; None where that is not known any more.

    Files of earlier versions hold points and labels alone: there the program is reduced again.
    """
    if path.points.way is not None:
        return path.points.way  # type: ignore[no-any-return]
    tried = (reduce(path.program, squares=squares) for squares in (True, False))
    return next((way for way in tried if way.problem.names == tuple(path.items)), None)


@dataclass(frozen=True)
class RowStates:
    """What holds for inequalities of the compiled program on the segments of a path: room, or a price."""

    path: Any

    def of(self, rows: Index) -> tuple[Mask, Mask]:
        """Whether rows have room, and whether they have a price, shape (rows, segments) both."""
        points, t, line = self.path.points, self.path.t, self.path.program
        room, priced = np.zeros((2, rows.size, t.size - 1), dtype=np.bool_)
        if not rows.size:
            return room, priced
        at_points = np.zeros(len(points))
        at_points[points.begin], at_points[points.begin + 1] = t[:-1], t[1:]
        for part in blocks(len(points) - 1, line.n + line.m):
            inside = (points.begin >= part.start) & (points.begin < part.stop)
            segments, own = np.flatnonzero(inside), slice(part.start, part.stop + 1)
            first = points.begin[segments] - part.start
            x, z = points.columns(own)
            shares = self._between(at_points[own], x, z, first)
            least = self._least[segments, None]
            room[:, segments], priced[:, segments] = ((each > least)[:, rows].T for each in shares)
        return room, priced

    def _between(self, t: Array, x: Array, z: Array, first: Index) -> tuple[Array, Array]:
        """Largest slacks and multipliers of all rows between two points each, as shares of their terms."""
        line = self.path.program
        slack = along(line.b, t) - line.products[1] @ x
        of_q, of_b = (np.multiply(along(np.abs(ends), t), np.ones(t.size)) for ends in (line.q, line.b))
        sizes = (_most(each, first) for each in (of_q, of_b, np.abs(x), np.abs(z)))
        units = Units.of(self._sizes, *sizes, none=1.0)
        prices = np.maximum(_most(z, first), 0.0)
        prices *= units.prices(prices > 0.0)
        return units.slacks * _most(slack, first), prices

    @cached_property
    def _least(self) -> Array:
        """Share of its terms up to which a number is 0, for each segment: what the proof leaves of conditions."""
        residuals = self.path.proof.residuals
        left = np.max([residuals[name] for name in CONDITIONS], axis=0)
        return np.asarray(np.maximum(_ROUNDED, _TIMES * left))

    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes(self.path.program)


def _most(values: Array, first: Index) -> Array:
    """The larger of the values at both ends of each segment, a row for each segment."""
    return np.asarray(np.maximum(values[:, first], values[:, first + 1]).T)
