"""Names of the terms of an objective, as their author has written them, for items of the reduced program.

An item of a cost with one kink has rows of the compiled program behind it, one a piece. At random points these have the
values of the pieces that the author has written: where one entry of an atom fits, and no other, the item is that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.behind import ABOVE_IT, RowsBehind
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.solve.models.written_kinks import SAME, WrittenKinks, directions
from paretoclf.solve.sources.problem_line import LineOfPrograms

#: At so many random points rows that differ have different values.
_POINTS = 3

#: A piece has the values of a row up to this share of them.
_SIZE = 1e-6

#: A variable, or a sum or difference of two: these read as well as a name.
_VARIABLE = r"[^\W\d]\w*(\[[\d, ]+\])?"
_PLAIN = re.compile(rf"-?{_VARIABLE}( [+-] {_VARIABLE})?")

#: By item its name, and 1 where what is named is positive above the item's kink; -1 where it is positive below.
TermNames = Mapping[int, tuple[str, int]]


def term_names(path: Any, columns: int, behind: RowsBehind, stated: Mask) -> TermNames:
    """Find the names of those items of a `ProblemPath` that are terms of its objective.

    Parameters
    ----------
    path : ProblemPath
        Of a problem of CVXPY; of others no name is found.
    columns : int
        How many of its first items are columns, which have names of their own.
    behind : RowsBehind
        Sides of its items that are not the user's rows alone.
    stated : bool array of shape (m,)
        Rows that are the user's own.
    """
    line, own = path.program, _rows_of_terms(path, behind, stated)
    if not own or not isinstance(path.source, LineOfPrograms):
        return {}
    variables = {each.name() for each in path.source.problem.variables()}
    if not variables <= set(line.variables):
        return {}
    x = _points(line)
    written = WrittenKinks.at_start(path.source, [line.values(each, 0.0) for each in x])
    if not written.names:  # kinks of constraints alone
        return {}
    fitting = _Fitting(written, line.rows @ x.T - line.b[0, :, None])
    found = {item: fits for item, pairs in own.items() if (fits := [fit for pair in pairs for fit in fitting(*pair)])}
    chosen = {item: min(fits, key=lambda fit: written.families[fit[0]]) for item, fits in found.items()}
    short: dict[int, bool] = defaultdict(lambda: True)
    for item, (entry, _) in chosen.items():
        plain = item < columns or _PLAIN.fullmatch(path.items[item]) is not None
        short[written.families[entry]] &= plain and not written.labelled[entry]
    named = {item: fit for item, fit in chosen.items() if not short[written.families[fit[0]]]}
    return {item: (written.names[entry], sign) for item, (entry, sign) in named.items()}


def _rows_of_terms(path: Any, behind: RowsBehind, stated: Mask) -> dict[int, list[tuple[int, int]]]:
    """Pairs of rows behind items that have one kink: those that are tight below it, and above it, one for each cost."""
    tight, sides, begin = defaultdict[int, dict[int, int]](dict), defaultdict[int, set[int]](set), behind.begin.tolist()
    parts = zip(behind.sides, behind.owners, behind.pieces, behind.beyond, strict=True)
    for side, item, piece, beyond in (tuple(map(int, each)) for each in parts):
        sides[item].add(side)
        tight[item][piece] = int((side == ABOVE_IT) != beyond)
    rows_of_users = np.add.reduceat(stated[behind.rows], behind.begin[:-1])
    single = (np.diff(behind.begin) == 1) & (rows_of_users == 0)
    found = {}
    for item, above in tight.items():
        pieces = sorted(above)
        pairs = list(zip(pieces[::2], pieces[1::2], strict=False))
        one_kink = path.kinks[item] or len(sides[item]) == 1
        whole = 2 * len(pairs) == len(pieces) and all(above[one] != above[other] for one, other in pairs)
        if one_kink and whole and single[pieces].all():
            ordered = [(one, other) if above[other] else (other, one) for one, other in pairs]
            found[item] = [(int(behind.rows[begin[below]]), int(behind.rows[begin[over]])) for below, over in ordered]
    return found


def _points(line: ProgramLine) -> Array:
    """Random values of the user's columns, as large as sides are beside coefficients; all others are 0."""
    sizes = np.abs(line.b[0]).max(initial=0.0), np.abs(line.A.data).max(initial=0.0)
    size = sizes[0] / sizes[1] if min(sizes) > 0.0 else 1.0
    named = np.array([line.is_named(column) for column in range(line.n)])
    return np.asarray(size * np.random.default_rng(0).normal(size=(_POINTS, line.n)) * named)


class _Fitting:
    """Entries of atoms that pairs of rows are the two pieces of."""

    def __init__(self, written: WrittenKinks, rows: Array) -> None:
        self.written, self.rows = written, rows
        self.entries = len(written.names)
        self.pieces = written.pieces.reshape(2 * self.entries, -1)
        self.tree = cKDTree(directions(self.pieces))
        self.usable = _told_apart(written)

    def __call__(self, below: int, above: int) -> Iterator[tuple[int, int]]:
        """Yield the entries, with the sign of their expressions where the second row is the larger."""
        others = set(self._places(below))
        for place in self._places(above):
            piece, entry = divmod(place, self.entries)
            other = entry + self.entries * (1 - piece)
            if other in others and self.usable[entry]:
                grows = self.written.expressions[entry] @ (self.pieces[place] - self.pieces[other])
                yield entry, int(np.sign(grows))

    def _places(self, row: int) -> list[int]:
        """Pieces that have the values of a row."""
        values = self.rows[row]
        near = self.tree.query_ball_point(directions(values), SAME)
        return [place for place in near if np.allclose(self.pieces[place], values, rtol=_SIZE, atol=0.0)]


def _told_apart(written: WrittenKinks) -> Mask:
    """Entries with a kink where no other entry of their atom has one, and a name that none has with another kink."""
    lines = directions(written.expressions)
    tree = cKDTree(np.concatenate([lines, -lines]))
    kinks = [min(number % len(lines) for number in near) for near in tree.query_ball_point(lines, SAME)]
    in_families = [*zip(written.families.tolist(), kinks, strict=True)]
    bends = np.abs(lines).any(axis=1)
    return np.asarray(bends & _has_one(written.names, kinks) & _has_one(in_families, written.names))


def _has_one(keys: Sequence[Any], values: Sequence[Any]) -> Mask:
    """Whether each key stands beside one value only."""
    found = defaultdict[Any, set[Any]](set)
    for key, value in zip(keys, values, strict=True):
        found[key].add(value)
    return np.array([len(found[key]) == 1 for key in keys])
