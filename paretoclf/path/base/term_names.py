"""Names of the terms of an objective, as their author has written them, for items of the reduced program.

An item of a cost with one kink has rows of the compiled program behind it, one a piece. At random points these have the
values of the pieces that the author has written: where one entry of an atom fits, and no other, the item is that.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.behind import ABOVE_IT, RowsBehind
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.solve.models.written_kinks import SAME, WrittenKinks, at_start, directions
from paretoclf.solve.models.written_largest import WrittenLargest
from paretoclf.solve.sources.problem_line import LineOfPrograms

#: At so many random points rows that differ have different values.
_POINTS = 3

#: A piece has the values of a row up to this share of them.
_SIZE = 1e-6

#: A variable, or a sum or difference of two: these read as well as a name.
_VARIABLE = r"[^\W\d]\w*(\[[\d, ]+\])?"
_PLAIN = re.compile(rf"-?{_VARIABLE}( [+-] {_VARIABLE})?")

#: A variable, whichever sign it has.
_ALONE = re.compile(rf"-?{_VARIABLE}")

#: By item, or by row, its name, and 1 where what is named is positive above the item's kink, or the largest; else -1.
TermNames = Mapping[int, tuple[str, int]]

#: Pairs of rows behind an item that has one kink: one that is tight below it, and one above.
_Pairs = list[tuple[int, int]]


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
    line = path.program
    if not behind.owners.size or not _is_readable(path.source, line):
        return {}
    points, rows = _points_and_rows(line)
    with at_start(path.source) as problem:
        written, largest = WrittenKinks.of(problem, points), WrittenLargest.of(problem, points)
    if not written.names and not largest.names:  # kinks of constraints alone
        return {}
    pairs = _rows_of_terms(path, behind, stated)
    of_largest = _of_largest(path, behind, pairs, _rows_of_largest(largest, line, rows, stated))
    return of_largest | (_of_kinks(path, columns, pairs, _Fitting(written, rows)) if written.names else {})


def rows_of_largest(source: Any, stated: Mask) -> TermNames:
    """Find rows that say of an expression that it is no more than the largest one, with its name and 1.

    Of the smallest one -1 stands beside the name. Rows of ``sum_largest``, which say less, are not among them.

    Parameters
    ----------
    source : object
        Of the compiled program; of others than problems of CVXPY no row is found.
    stated : bool array of shape (m,)
        Rows that are the user's own.
    """
    line = source.line
    if not _is_readable(source, line):
        return {}
    points, rows = _points_and_rows(line)
    with at_start(source) as problem:
        found = _rows_of_largest(WrittenLargest.of(problem, points), line, rows, stated)
    added = np.array([not line.is_named(column) for column in range(line.n)], dtype=np.float64)
    alone = (sp.csr_array(line.rows) != 0) @ added == 1
    return {row: named for row, named in found.items() if alone[row]}


def constraints_of_items(path: Any, behind: RowsBehind, hidden: Mapping[int, int]) -> dict[int, int]:
    """Find items that are all that a constraint bounds, as in ``abs(a - b) <= c``, with what its row is said of.

    What is one variable alone is not among them.

    Parameters
    ----------
    path : ProblemPath
    behind : RowsBehind
        Sides of its items that are not the user's rows alone.
    hidden : mapping of int to int
        Rows of the user's that have columns of CVXPY's, and what each is said of.
    """
    rows_of = defaultdict[int, set[int]](set)
    for item, piece in zip(behind.owners.tolist(), behind.pieces.tolist(), strict=True):
        rows_of[item].update(behind.rows[behind.begin[piece] : behind.begin[piece + 1]].tolist())
    soft = set(behind.owners[behind.beyond].tolist())
    items = {frozenset(rows): item for item, rows in rows_of.items() if item not in soft}
    by_rows, by_columns = path.program.rows, sp.csc_array(path.program.rows)
    alone = np.diff(by_rows.indptr) == 1
    found = {}
    for row, owner in hidden.items():
        column = by_rows.indices[by_rows.indptr[row]]
        others = by_columns.indices[by_columns.indptr[column] : by_columns.indptr[column + 1]]
        item = items.get(frozenset(others.tolist()) - {row})
        if alone[row] and item is not None and not _ALONE.fullmatch(path.items[item]):
            found[item] = owner
    return found


def _is_readable(source: Any, line: ProgramLine) -> bool:
    """Whether a line is that of a problem whose variables are all in its program."""
    if not isinstance(source, LineOfPrograms):
        return False
    return {each.name() for each in source.problem.variables()} <= set(line.variables)


def _points_and_rows(line: ProgramLine) -> tuple[list[dict[str, Any]], Array]:
    """Values of the variables at random points, and those of all rows there."""
    x = _points(line)
    return [line.values(each, 0.0) for each in x], line.rows @ x.T - line.b[0, :, None]


def _of_kinks(path: Any, columns: int, own: Mapping[int, _Pairs], fitting: _Fitting) -> dict[int, tuple[str, int]]:
    """Names of items with one kink, by the pairs of rows behind them."""
    written = fitting.written
    found = {item: fits for item, pairs in own.items() if (fits := [fit for pair in pairs for fit in fitting(*pair)])}
    chosen = {item: min(fits, key=lambda fit: written.families[fit[0]]) for item, fits in found.items()}
    short: dict[int, bool] = defaultdict(lambda: True)
    for item, (entry, _) in chosen.items():
        plain = item < columns or _PLAIN.fullmatch(path.items[item]) is not None
        short[written.families[entry]] &= plain and not written.labelled[entry]
    named = {item: fit for item, fit in chosen.items() if not short[written.families[fit[0]]]}
    return {item: (written.names[entry], sign) for item, (entry, sign) in named.items()}


def _of_largest(
    path: Any, behind: RowsBehind, pairs: Mapping[int, _Pairs], known: Mapping[int, tuple[str, int]]
) -> dict[int, tuple[str, int]]:
    """Names of items that have a column of CVXPY's, by rows that are expressions of a largest or smallest one.

    Where such a row alone bounds the item, it is that; the entries of ``sum_largest`` have a kink.
    """
    added = [item for item, name in enumerate(path.items) if "auxiliary variable" in name]
    sides = Counter(behind.owners.tolist())
    found = {}
    for item, piece, beyond in zip(behind.owners.tolist(), behind.pieces.tolist(), behind.beyond, strict=True):
        rows = behind.rows[behind.begin[piece] : behind.begin[piece + 1]].tolist()
        if sides[item] == 1 and not beyond and len(rows) == 1 and rows[0] in known:
            found[item] = known[rows[0]]
    for item, own in pairs.items():
        for below, above in own:
            if below in known or above in known:
                name, sign = known[above] if above in known else known[below]
                found[item] = name, sign if above in known else -sign
    return {item: found[item] for item in added if item in found}


def _rows_of_largest(
    largest: WrittenLargest, line: ProgramLine, values: Array, stated: Mask
) -> dict[int, tuple[str, int]]:
    """Names, and signs, of rows that are expressions of an entry of an atom: those of a column that costs are all."""
    if not largest.names:
        return {}
    tree, A = cKDTree(directions(largest.values)), sp.csc_array(line.rows)
    found = dict[int, tuple[str, int]]()
    for column in np.flatnonzero(line.q.any(axis=0)).tolist():
        rows = A.indices[A.indptr[column] : A.indptr[column + 1]]
        rows = rows[(rows >= line.equations) & ~stated[rows]].tolist()
        if rows and not line.is_named(column):
            places = _all_of_an_entry(largest, [_same_values(largest.values, tree, values[row]) for row in rows])
            found |= {
                row: (largest.names[each], int(largest.signs[each])) for row, each in zip(rows, places, strict=False)
            }
    return found


def _all_of_an_entry(largest: WrittenLargest, near: list[list[int]]) -> list[int]:
    """The expressions of rows, each one of those near it, where they are all of one entry; else none."""
    common = set.intersection(*({int(largest.entries[each]) for each in own} for own in near))
    for entry in sorted(common):
        places = [each for own in near for each in own if largest.entries[each] == entry]
        if sorted(places) == np.flatnonzero(largest.entries == entry).tolist() and len(places) == len(near):
            return places
    return []


def _same_values(pieces: Array, tree: Any, values: Array) -> list[int]:
    """Pieces, in a tree of their directions, that have these values."""
    near = tree.query_ball_point(directions(values), SAME)
    return [place for place in near if np.allclose(pieces[place], values, rtol=_SIZE, atol=0.0)]


def _rows_of_terms(path: Any, behind: RowsBehind, stated: Mask) -> dict[int, _Pairs]:
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
        return _same_values(self.pieces, self.tree, self.rows[row])


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
