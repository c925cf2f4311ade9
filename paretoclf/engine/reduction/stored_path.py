"""Points of a path from the content of a file: themselves, or the plan of their way back and what it starts from.

Whatever the numbers are, all of them lie where something is: what is made of them is judged on the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import InputError
from paretoclf.common.memory import require_memory
from paretoclf.common.storage import finite, whole
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import WayBack
from paretoclf.engine.reduction.rules.bounds import RowsToBounds
from paretoclf.engine.reduction.rules.chain import Chain
from paretoclf.engine.reduction.rules.epigraphs import EpigraphsToKinks
from paretoclf.engine.reduction.rules.fixed import FixColumns
from paretoclf.engine.reduction.rules.kinks import KinksToBounds
from paretoclf.engine.reduction.rules.parallel import JoinRows
from paretoclf.engine.reduction.rules.slacks import DropSlacks
from paretoclf.engine.reduction.rules.stage import CostPieces, ReductionRule
from paretoclf.engine.reduction.rules.substitution import Round, SubstituteColumns
from paretoclf.engine.reduction.stored import unpacked_matrix
from paretoclf.engine.reduction.taken_back import taken_back
from paretoclf.problem.parametric_qp import ABOVE, BELOW
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.stated_items import SIDES, StatedItems


def read_points(stored: Mapping[str, Any], line: ProgramLine, t: Array, items: int) -> tuple[ProgramPoints, State]:
    """Points of a path of a program, and labels of so many items on each of its segments.

    Raises
    ------
    InputError
        If what is stored does not fit the program, or each other. Some of NumPy's errors say so, too.
    """
    k = t.size - 1
    begin = whole(stored["begin"], "begin", (k,), 0, np.iinfo(np.int32).max)
    if "rules" in stored:
        way, problem = _way_back(stored, line, items)
        path = _piecewise(stored, problem, t, _in_order(begin, np.size(stored["ptr"]) - 1))
        points, labels = taken_back(way, path), path.labels()
        points.columns(slice(0, 1))  # that the arrays of the plan fit each other shows at any point
    else:
        x = finite(stored["x"], "x", (None, line.n))
        z = finite(stored["z"], "z", (len(x), line.m))
        points = ProgramPoints.known(x, z, _in_order(begin, len(x)))
        labels = np.asarray(stored["labels"])
    labels = whole(labels, "labels", (k, items), BELOW, ABOVE + 1).astype(np.int8, copy=False)
    return points, labels


def _in_order(begin: Index, points: int) -> Index:
    """Where segments begin among so many points, each of which is an end of one."""
    ends = np.union1d(begin, begin + 1)
    if (np.diff(begin) < 1).any() or not np.array_equal(ends, np.arange(points)):
        raise InputError(f"begin must increase, and with the points after it be all {points}")
    return begin.astype(np.int64, copy=False)


def _piecewise(stored: Mapping[str, Any], problem: StatedItems, t: Array, begin: Index) -> Piecewise:
    """The path of the reduced problem."""
    k, items = begin.size, problem.items
    numbers = finite(stored["number"], "number", (None,))
    ptr = whole(stored["ptr"], "ptr", (None,), 0, numbers.size + 1)
    if ptr[0] != 0 or ptr[-1] != numbers.size or (np.diff(ptr) < 0).any():
        raise InputError(f"ptr must part {numbers.size} numbers")
    place = None
    if "place" in stored:
        place = whole(stored["place"], "place", numbers.shape, 0, problem.n + items)
    elif (np.diff(ptr) != problem.n + items).any():
        raise InputError("number must hold values and multipliers of all items at each point where place is left out")
    first = whole(stored["first"], "first", (items,), BELOW, ABOVE + 1).astype(np.int8, copy=False)
    before, item, step = whole(stored["changes"], "changes", (3, None), BELOW - ABOVE, np.iinfo(np.int32).max)
    whole(before, "changes", (None,), 1, max(k, 2))
    whole(item, "changes", (None,), 0, items)
    whole(step, "changes", (None,), BELOW - ABOVE, ABOVE - BELOW + 1)
    if (np.diff(before) < 0).any():
        raise InputError("changes must be in the order of the segments")
    require_memory(k * items, f"labels of {items} items on {k} segments", "load it where there is more")
    return Piecewise(problem, t, begin, first, (before, item, step.astype(np.int8)), ptr, place, numbers)


def _way_back(stored: Mapping[str, Any], line: ProgramLine, items: int) -> tuple[WayBack, StatedItems]:
    """The plan of the way back, and the items that it starts from."""
    columns = whole(stored["reduced_columns"], "columns", (None,), 0, line.n)
    rows = whole(stored["reduced_rows"], "rows", (items - columns.size,), 0, line.m + items)
    problem = StatedItems(columns.size, *(_side(stored[f"reduced_{side}"], side, items) for side in SIDES))
    of_rows = slice(columns.size, None)
    one_sided = np.isinf(problem.lower[0, of_rows]) & np.isinf(problem.above[0, of_rows])
    rules = [_rule(_Fields(stored, f"rule_{k}", line), name) for k, name in enumerate(stored["rules"])]
    return WayBack(line, Chain(tuple(rules)), columns, rows, one_sided), problem


def _side(given: Any, name: str, items: int) -> Array:
    """Bounds, or prices, at both ends; infinite ones are so at both."""
    ends = np.asarray(given)
    if ends.dtype.kind != "f" or ends.shape != (2, items):
        raise InputError(f"{name} must hold numbers of shape (2, {items}), got {ends.dtype} of shape {ends.shape}")
    infinite = np.isinf(ends)
    if np.isnan(ends).any() or (ends[0] != ends[1])[infinite.any(axis=0)].any():
        raise InputError(f"{name} must be numbers, or infinite at both ends")
    return ends


@dataclass(frozen=True)
class _Fields:
    """Stored fields of a rule, each of which is checked where it is read."""

    stored: Mapping[str, Any]
    name: str
    line: ProgramLine

    def whole(self, field: str, size: int | None, stop: int) -> Index:
        """Whole numbers from 0 to below stop."""
        return whole(self.stored[f"{self.name}_{field}"], field, (size,), 0, stop)

    def columns(self, field: str = "columns", size: int | None = None) -> Index:
        """Numbers of columns."""
        return self.whole(field, size, self.line.n)

    def rows(self, field: str = "rows", size: int | None = None) -> Index:
        """Numbers of rows."""
        return self.whole(field, size, self.line.m)

    def numbers(self, field: str, size: int) -> Array:
        """Numbers."""
        return finite(self.stored[f"{self.name}_{field}"], field, (size,))

    def factors(self, size: int, field: str = "factors") -> Array:
        """Numbers by which something is divided."""
        found = self.numbers(field, size)
        if not found.all():
            raise InputError(f"{field} of a rule must not be 0")
        return found

    def ends(self, field: str, size: int | None) -> Array:
        """Numbers at both ends of the line."""
        return finite(self.stored[f"{self.name}_{field}"], field, (2, size))

    def mask(self, field: str, size: int) -> Mask:
        """Truth values."""
        found = np.asarray(self.stored[f"{self.name}_{field}"])
        if found.dtype.kind != "b" or found.shape != (size,):
            raise InputError(f"{field} must hold {size} truth values, got {found.dtype} of shape {found.shape}")
        return found

    def begin(self, field: str, parts: int, size: int) -> Index:
        """Where so many parts of so many entries begin, none of them empty, and where the last one ends."""
        found = self.whole(field, parts + 1, size + 1)
        if found[0] != 0 or found[-1] != size or (np.diff(found) < 1).any():
            raise InputError(f"{field} must part {size} entries into {parts}")
        return found

    def count(self, field: str) -> int:
        """A number of things."""
        found = self.stored[f"{self.name}_{field}"]
        if type(found) is not int or found < 0:
            raise InputError(f"{field} must be a whole number and not negative, got {found!r:.100}")
        return found


def _rule(fields: _Fields, name: Any) -> ReductionRule:
    """One rule of the plan."""
    if name not in _RULES:
        raise InputError(f"rules must be among {', '.join(_RULES)}, got {name!r:.100}")
    return _RULES[name](fields)


def _epigraphs(fields: _Fields) -> EpigraphsToKinks:
    variables, bounds = fields.columns("variables"), fields.rows("bounds")
    begin = fields.begin("begin", variables.size, bounds.size)
    depths = fields.whole("depths", variables.size, max(variables.size, 1))
    factors = fields.factors(bounds.size)
    return EpigraphsToKinks(fields.line, variables, begin, bounds, factors, depths, fields.count("costs"))


def _bounds(fields: _Fields) -> RowsToBounds:
    rows = fields.rows()
    columns, factors = fields.columns(size=rows.size), fields.factors(rows.size)
    return RowsToBounds(fields.line, rows, columns, factors, fields.whole("sides", rows.size, 3), fields.count("gone"))


def _fixed(fields: _Fields) -> FixColumns:
    columns = fields.columns()
    return FixColumns(columns, fields.ends("values", columns.size))


def _slacks(fields: _Fields) -> DropSlacks:
    rows = fields.rows()
    columns, factors = fields.columns(size=rows.size), fields.factors(rows.size)
    lower, right = fields.ends("lower", rows.size), fields.ends("right", rows.size)
    return DropSlacks(fields.line, rows, columns, factors, lower, right)


def _joined(fields: _Fields) -> JoinRows:
    rows = fields.rows()
    return JoinRows(rows, fields.rows("first", rows.size), fields.factors(rows.size), fields.count("empty"))


def _kinks(fields: _Fields) -> KinksToBounds:
    m, n = fields.line.m, fields.line.n
    cost = fields.ends("kinks_cost", None)
    costs = cost.shape[1]
    slope = finite(fields.stored[f"{fields.name}_kinks_slope"], "slope", (None,))
    begin = fields.begin("kinks_begin", costs, slope.size)
    weights = unpacked_matrix(fields.stored, f"{fields.name}_kinks_weights", (slope.size, m))
    kinks = CostPieces(cost, begin, slope, sp.csr_array(weights))
    if not (kinks.width > 0.0).all():
        raise InputError("slopes of a cost must increase")
    owner = fields.whole("owner", None, max(costs, 1))
    on_row, lower, upper = (fields.mask(field, owner.size) for field in ("on_row", "lower", "upper"))
    carrier = fields.whole("carrier", owner.size, n + m + owner.size)
    if (carrier[~on_row] >= n).any() or (np.diff(owner) < 0).any() or fields.count("rows") != m:
        raise InputError("carriers must be columns of the program or rows, in the order of their costs")
    return KinksToBounds(m, kinks, fields.numbers("base", costs), owner, carrier, on_row, lower, upper)


def _substituted(fields: _Fields) -> SubstituteColumns:
    sizes = fields.whole("rounds_sizes", None, fields.line.m + 1)
    rows = fields.rows("rounds_rows")
    columns, factors = fields.columns("rounds_columns", rows.size), fields.factors(rows.size, "rounds_factors")
    right, slope = (fields.ends(f"rounds_{field}", rows.size) for field in ("right", "slope"))
    curved = fields.mask("rounds_curved", sizes.size)
    if sizes.sum() != rows.size:
        raise InputError(f"rounds must have {rows.size} columns together, got {sizes.sum()}")
    parts = (np.split(each, np.cumsum(sizes)[:-1], axis=-1) for each in (rows, columns, factors, right, slope))
    return SubstituteColumns(fields.line, tuple(map(Round, *parts, curved.tolist())))


#: Readers of the rules, by their names.
_RULES: dict[str, Callable[[_Fields], ReductionRule]] = {
    "EpigraphsToKinks": _epigraphs,
    "RowsToBounds": _bounds,
    "FixColumns": _fixed,
    "DropSlacks": _slacks,
    "JoinRows": _joined,
    "KinksToBounds": _kinks,
    "SubstituteColumns": _substituted,
}
