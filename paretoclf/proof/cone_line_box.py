"""Bounds of all points that matter somewhere on a line of cone programs: a box for the whole line."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.points.cone_box import OUTWARDS, implied_box
from paretoclf.proof.points.cone_lower import Box
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cone, blocks
from paretoclf.proof.points.half_spaces import half_spaces

_EPS = float(np.finfo(float).eps)

#: How often rows that move are asked what they imply, with the bounds of the time before.
_PASSES = 3

#: They are not asked again where no bound has become smaller by this share.
_HARDLY = 1e-3


def line_box(line: ConeLine, ceiling: float) -> Box:
    """Bounds of every x that is feasible at some t of the line and has an objective of at most the ceiling there.

    t is one more column, from 0 to 1. As the objective at x is affine in t, it is at most the ceiling at one of the
    ends of the line, too: the box is the hull of two. Rows in which a coefficient moves come in once there are bounds
    of its column, by what they imply for every value of that coefficient. The bound of a norm that nothing else needs
    to be large may be the norm itself: of each feasible point the box holds one that is as good.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cone_line import ConeLine
    >>> from paretoclf.proof.cone_line_box import line_box
    >>> from paretoclf.proof.points.cones import Cone, Cones
    >>> cones, A = Cones([Cone("second-order", 2)]), np.array([[0.0], [-1.0]])
    >>> line = ConeLine(np.zeros((1, 1)), A, np.ones((2, 1)), np.array([[1.0, 0], [3.0, 0]]), np.zeros(2), 0, 1, {}, {},
    ...                 (), cones)
    >>> line_box(line, 1.0).high.round(6), line_box(line, np.inf).low.round(6)
    (array([1.]), array([-3.]))
    """
    box = _of_rows(line, ceiling, None)
    if line.stands:
        return box
    box = _capped(line, box)
    for _ in range(_PASSES):
        more, before = _of_rows(line, ceiling, box), box
        low, high = np.maximum(box.low, more.low), np.minimum(box.high, more.high)
        box = _capped(line, Box(np.minimum(low, high), np.maximum(low, high)))
        if _alike(box, before):
            break
    return box


def _alike(box: Box, before: Box) -> bool:
    """Whether bounds have hardly come closer."""
    with np.errstate(invalid="ignore"):
        gain = np.array([box.low - before.low, before.high - box.high])
        sizes = np.array([np.abs(box.low), np.abs(box.high)])
    same = np.isinf([before.low, before.high]) & (np.array([box.low, box.high]) == [before.low, before.high])
    return bool((same | (gain <= _HARDLY * sizes)).all())


def _of_rows(line: ConeLine, ceiling: float, known: Box | None) -> Box:
    """What the rows that stand still imply, and with bounds of the columns also those that move."""
    rows = sp.csr_array(np.array([[1.0], [-1.0]]))  # t <= 1, -t <= 0
    speed = line.b[0] - line.b[1]
    A, b, cones = sp.csr_array(line.A), line.b[0], list(line.cones)
    if not line.stands:
        kept, cones = _standing(line)
        A, b, speed = A[kept], b[kept], speed[kept]
    if known is not None:
        more, sides = _weaker(line, known)
        A, b, speed = sp.vstack([A, more]), np.append(b, sides), np.append(speed, np.zeros(sides.size))
        cones = [*cones, Cone("nonnegative", sides.size)] if sides.size else cones
    A = sp.block_array([[A, sp.csr_array(speed[:, None])], [None, rows]])
    b, cones = np.append(b, [1.0, 0.0]), [*cones, Cone("nonnegative", 2)]
    low, high = np.full(line.n, np.inf), np.full(line.n, -np.inf)
    ends = [(line.base, line.constant[0]), (line.end, line.constant[1])]
    if line.P_stop is None and (line.q[0] == line.q[1]).all() and line.constant[0] == line.constant[1]:
        ends.pop()
    for end, constant in ends:
        room = ceiling - float(constant)
        room += 4 * _EPS * (abs(ceiling) + abs(float(constant))) if np.isfinite(room) else 0.0
        P = sp.block_diag([end.P, sp.csr_array((1, 1))])
        first, last = implied_box(ConeProgram(P, np.append(end.q, 0.0), A, b, cones), room)
        # Bounds that contradict each other by their rounding hold both ends.
        low, high = np.minimum(low, np.minimum(first, last)[:-1]), np.maximum(high, np.maximum(first, last)[:-1])
    return Box(low, high)


def _standing(line: ConeLine) -> tuple[Array, list[Cone]]:
    """Rows whose coefficients stand still, of curved cones all or none, and their cones."""
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
    """Inequalities that hold at every t: half-spaces of rows that move, for every coefficient on the way, and the box.

    Where a coefficient is between two numbers and its variable has a sign, one of the two is the weaker; else the
    middle one, with what the variable's bound makes of the rest.
    """
    spaces = [half_spaces(end.A, line.cones) for end in (line.base, line.end)]
    count = spaces[0].combine.shape[0]
    ends = []
    for each in spaces:
        values, spread = (
            sp.csr_array((entries, (each.row, each.column)), shape=(each.count, line.n))[:count].toarray()
            for entries in (each.value, each.spread)
        )
        ends += [values - spread, values + spread]
    least, most = np.minimum(ends[0], ends[2]), np.maximum(ends[1], ends[3])
    sides = np.maximum(*(spaces[0].at(b)[:count] for b in line.b))
    moving = np.flatnonzero((least != most).any(axis=1))
    least, most, sides = least[moving], most[moving], sides[moving]
    size = np.maximum(np.abs(box.low), np.abs(box.high))
    signed, moves = (box.low >= 0) | (box.high <= 0), least != most
    chosen = np.where(box.low >= 0, least, np.where(box.high <= 0, most, 0.5 * (least + most)))
    with np.errstate(invalid="ignore"):
        more = np.where(moves & ~signed, 0.5 * (most - least) * size, 0.0)
    sides = sides + more.sum(axis=1) * (1 + 1e-12) + 1e-12 * np.abs(sides)
    kept = np.isfinite(sides)
    rows, edges = [sp.csr_array(np.where(moves, chosen, least)[kept])], [sides[kept]]
    for sign, edge in ((1.0, box.high), (-1.0, -box.low)):
        at = np.flatnonzero(np.isfinite(edge))
        rows.append(sp.csr_array((np.full(at.size, sign), (np.arange(at.size), at)), shape=(at.size, line.n)))
        edges.append(edge[at])
    return sp.vstack(rows), np.concatenate(edges)


def _capped(line: ConeLine, box: Box) -> Box:
    """The box with bounds of norms lowered to the norms' own.

    Where a column stands alone in the first row of one second-order cone, and else only in inequalities and an
    objective that want it small, lowering it to the norm leaves a point feasible, and as good.
    """
    ends = [(end.P, sp.csc_array(end.A), end.q) for end in (line.base, line.end)]
    high, size = box.high.copy(), np.maximum(np.abs(box.low), np.abs(box.high))
    kinds, largest = line.base.kinds, np.abs(line.b).max(axis=0)
    rows = [sp.csr_array(A) for _, A, _ in ends]
    for cone, at in blocks(line.cones):
        first, columns = at.start, {tuple(A[[at.start]].nonzero()[1].tolist()) for A in rows}
        if cone.kind != "second-order" or len(columns) != 1 or len(next(iter(columns))) != 1:
            continue
        j = next(iter(columns))[0]
        tops = [float(A[first, j]) for A in rows]
        if not max(tops) < 0 or any(q[j] < 0 or P[[j]].nnz for P, _, q in ends):
            continue
        others = [(A[:, [j]].tocoo(), A) for _, A, _ in ends]
        if any(
            ((column.data < 0) & (column.row != first)).any()
            or (kinds[column.row[column.row != first]] != "nonnegative").any()
            for column, _ in others
        ):
            continue
        part = slice(first + 1, at.stop)
        weights = np.maximum(*(abs(A[part]).toarray() for A in rows))
        with np.errstate(invalid="ignore"):
            reach = np.where(weights > 0, weights * size, 0.0).sum(axis=1) + largest[part]
        room = float(np.linalg.norm(reach)) - float(line.b[:, first].min())
        top = room / (-max(tops) if room > 0 else -min(tops))
        if np.isfinite(top):
            high[j] = min(high[j], top + OUTWARDS * (abs(top) + float(largest[first])))
    return Box(np.minimum(box.low, high), high)
