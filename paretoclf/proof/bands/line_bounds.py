"""Box that holds, for a whole line of cone programs, the points that matter at some t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone, blocks
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.half_spaces import half_spaces
from paretoclf.proof.cones.implied_bounds import OUTWARDS, implied_box
from paretoclf.proof.cones.lower_bound import Box

_EPS = float(np.finfo(float).eps)

#: How often bounds are propagated through rows that depend on t, each time with the bounds of the time before.
_PASSES = 3

#: Propagation ends where no bound has become smaller by this share.
_HARDLY = 1e-3


def line_box(line: ConeLine, ceiling: float) -> Box:
    """Bounds of every x that is feasible at some t of the line and has an objective of at most the ceiling there.

    t is one more column, from 0 to 1. As the objective at x is affine in t, it is at most the ceiling at one of the
    ends of the line, too: the box is the hull of two. Rows in which a coefficient depends on t come in once there are
    bounds of its column, as inequalities that hold for every value of that coefficient. The bound of a norm that
    nothing else needs to be large may be the norm itself: for each feasible point the box holds one that is as good.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.bands.cone_line import ConeLine
    >>> from paretoclf.proof.bands.line_bounds import line_box
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> cones, A = Cones([Cone("second-order", 2)]), np.array([[0.0], [-1.0]])
    >>> line = ConeLine(np.zeros((1, 1)), A, np.ones((2, 1)), np.array([[1.0, 0], [3.0, 0]]), np.zeros(2), 0, 1, {}, {},
    ...                 (), cones)
    >>> line_box(line, 1.0).high.round(6), line_box(line, np.inf).low.round(6)
    (array([1.]), array([-3.]))
    """
    box = _propagated(line, ceiling, None)
    if line.stands:
        return box
    box = _capped(line, box)
    for _ in range(_PASSES):
        before = box
        implied = _propagated(line, ceiling, before)
        low = np.maximum(before.low, implied.low)
        high = np.minimum(before.high, implied.high)
        box = _capped(line, Box.of(low, high))
        if _alike(box, before):
            break
    return box


def _alike(box: Box, before: Box) -> bool:
    """Whether bounds have hardly come closer."""
    ends = np.array([box.low, box.high])
    ends_before = np.array([before.low, before.high])
    with np.errstate(invalid="ignore"):
        gain = np.array([box.low - before.low, before.high - box.high])
    small = gain <= _HARDLY * np.abs(ends)
    same = np.isinf(ends_before) & (ends == ends_before)
    return bool((same | small).all())


@dataclass(frozen=True)
class _Rows:
    """Constraints at every t: ``b + t speed - A x`` in the cones."""

    A: Any
    b: Array
    speed: Array
    cones: list[Cone]


def _propagated(line: ConeLine, ceiling: float, known: Box | None) -> Box:
    """Bounds that constant rows imply, and given bounds of the columns also those that depend on t."""
    rows = _rows_at_every_t(line, known)
    # One more column, t, with t <= 1 and -t <= 0.
    of_t = sp.csr_array(np.array([[1.0], [-1.0]]))
    matrix = sp.block_array([[rows.A, sp.csr_array(rows.speed[:, None])], [None, of_t]])
    sides, cones = np.append(rows.b, [1.0, 0.0]), [*rows.cones, Cone("nonnegative", 2)]
    low = np.full(line.n, np.inf)
    high = np.full(line.n, -np.inf)
    for end, constant in _objectives(line):
        slack = ceiling - constant
        if np.isfinite(slack):
            slack += 4 * _EPS * (abs(ceiling) + abs(constant))
        quadratic = sp.block_diag([end.P, sp.csr_array((1, 1))])
        program = ConeProgram(quadratic, np.append(end.q, 0.0), matrix, sides, cones)
        first, last = (bound[:-1] for bound in implied_box(program, slack))
        # Bounds that contradict each other by their rounding hold both ends.
        low = np.minimum(low, np.minimum(first, last))
        high = np.maximum(high, np.maximum(first, last))
    return Box(low, high)


def _objectives(line: ConeLine) -> list[tuple[ConeProgram, float]]:
    """Programs and constants at both ends of a line; one of them where the objective is constant."""
    ends = [(line.base, float(line.constant[0])), (line.end, float(line.constant[1]))]
    same_costs = (line.q[0] == line.q[1]).all()
    same_constants = line.constant[0] == line.constant[1]
    constant = line.P_stop is None and same_costs and same_constants
    return ends[:1] if constant else ends


def _rows_at_every_t(line: ConeLine, known: Box | None) -> _Rows:
    """Rows with constant coefficients, and inequalities that the others imply over a known box."""
    matrix, sides, cones = sp.csr_array(line.A), line.b[0], list(line.cones)
    speed = line.b[0] - line.b[1]
    if not line.stands:
        kept, cones = _constant_rows(line)
        matrix, sides, speed = matrix[kept], sides[kept], speed[kept]
    if known is not None:
        more, more_sides = _weaker(line, known)
        matrix = sp.vstack([matrix, more])
        sides = np.append(sides, more_sides)
        speed = np.append(speed, np.zeros(more_sides.size))
        cones = [*cones, Cone("nonnegative", more_sides.size)] if more_sides.size else cones
    return _Rows(matrix, sides, speed, cones)


def _constant_rows(line: ConeLine) -> tuple[Array, list[Cone]]:
    """Rows whose coefficients are constant, of curved cones all or none, and their cones."""
    moves = np.diff(line.speeds[1].indptr) > 0
    kept, cones = [], []
    for cone, at in blocks(line.cones):
        rows = np.arange(at.start, at.stop)
        if cone.kind in ("zero", "nonnegative"):
            rows = rows[~moves[rows]]
            cone = Cone(cone.kind, max(rows.size, 1))
        elif moves[rows].any():
            continue
        if rows.size:
            kept.append(rows)
            cones.append(cone)
    return np.concatenate([np.zeros(0, int), *kept]), cones


def _weaker(line: ConeLine, box: Box) -> tuple[Any, Array]:
    """Inequalities that hold at every t: half-spaces of rows that depend on t, weakened over a box, and the box.

    Where a coefficient is between two numbers and its variable has a sign, one of the two is the weaker; else the
    middle one is taken, and the variable's bound makes the difference good on the right-hand side.
    """
    least, most, sides = _coefficients(line)
    depends = least != most
    moving = np.flatnonzero(depends.any(axis=1))
    least, most = least[moving], most[moving]
    sides, depends = sides[moving], depends[moving]
    positive, negative = box.low >= 0, box.high <= 0
    middle = 0.5 * (least + most)
    chosen = np.where(positive, least, np.where(negative, most, middle))
    with np.errstate(invalid="ignore"):
        difference = 0.5 * (most - least) * box.reach
    good = np.where(depends & ~(positive | negative), difference, 0.0)
    sides = sides + good.sum(axis=1) * (1 + 1e-12) + 1e-12 * np.abs(sides)
    kept = np.isfinite(sides)
    weakest = np.where(depends, chosen, least)
    rows, edges = [sp.csr_array(weakest[kept])], [sides[kept]]
    for sign, edge in ((1.0, box.high), (-1.0, -box.low)):
        at = np.flatnonzero(np.isfinite(edge))
        entries = np.full(at.size, sign), (np.arange(at.size), at)
        rows.append(sp.csr_array(entries, shape=(at.size, line.n)))
        edges.append(edge[at])
    return sp.vstack(rows), np.concatenate(edges)


def _coefficients(line: ConeLine) -> tuple[Array, Array, Array]:
    """Smallest and largest coefficients of half-spaces on a line, and the largest of their right-hand sides."""
    first, last = (half_spaces(end.A, line.cones) for end in (line.base, line.end))
    count = first.combine.shape[0]
    lows, highs = [], []
    for spaces in (first, last):
        places, shape = (spaces.row, spaces.column), (spaces.count, line.n)
        values = sp.csr_array((spaces.value, places), shape=shape)[:count].toarray()
        spread = sp.csr_array((spaces.spread, places), shape=shape)[:count].toarray()
        lows.append(values - spread)
        highs.append(values + spread)
    sides = [first.at(end)[:count] for end in line.b]
    return np.minimum(*lows), np.maximum(*highs), np.maximum(*sides)


def _capped(line: ConeLine, box: Box) -> Box:
    """Box with the upper bounds of norms lowered to the largest norms.

    Where a column stands alone in the first row of one second-order cone, and else only in inequalities and an
    objective that want it small, lowering it to the norm leaves a point feasible, and as good.
    """
    ends = line.base, line.end
    high = box.high.copy()
    for cone, at in blocks(line.cones):
        column = _alone(ends, at.start) if cone.kind == "second-order" else None
        if column is None or not _wants_small(ends, at.start, column):
            continue
        top, rounding = _largest_norm(line, box, at, column)
        if np.isfinite(top):
            high[column] = min(high[column], top + rounding)
    return Box(np.minimum(box.low, high), high)


def _alone(ends: tuple[ConeProgram, ConeProgram], row: int) -> int | None:
    """The column that stands alone in a row at both ends, or None."""
    columns = {tuple(end.A[[row]].nonzero()[1].tolist()) for end in ends}
    if len(columns) != 1:
        return None
    found = next(iter(columns))
    return found[0] if len(found) == 1 else None


def _wants_small(ends: tuple[ConeProgram, ConeProgram], row: int, column: int) -> bool:
    """Whether lowering a column violates no row but its own first one of a cone, and costs nothing."""
    kinds = ends[0].kinds
    for end in ends:
        if not end.A[row, column] < 0 or end.q[column] < 0 or end.P[[column]].nnz:
            return False
        entries = sp.csc_array(end.A)[:, [column]].tocoo()
        others = entries.row != row
        if (entries.data[others] < 0).any() or (kinds[entries.row[others]] != "nonnegative").any():
            return False
    return True


def _largest_norm(line: ConeLine, box: Box, cone: slice, column: int) -> tuple[float, float]:
    """Largest value of the column that its second-order cone asks for at some t over a box, and a rounding."""
    first, rest = cone.start, slice(cone.start + 1, cone.stop)
    ends = line.base, line.end
    largest = np.abs(line.b).max(axis=0)
    weights = np.maximum(*(abs(end.A[rest]).toarray() for end in ends))
    with np.errstate(invalid="ignore"):
        terms = np.where(weights > 0, weights * box.reach, 0.0)
        reach = terms.sum(axis=1) + largest[rest]
    least = float(line.b[:, first].min())
    norm = float(np.linalg.norm(reach)) - least
    tops = [float(end.A[first, column]) for end in ends]
    top = norm / (-max(tops) if norm > 0 else -min(tops))
    return top, OUTWARDS * (abs(top) + float(largest[first]))
