"""Points, and multipliers, that are well inside their cones at both ends of a line, and so between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.row_products import mixed
from paretoclf.proof.cones.cone_kinds import Cone, interior
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.solve.eps.solver import NONE, solved
from paretoclf.solve.models.model import settings_at

#: A multiplier of at least this share of the largest tells which rows keep points from being inside.
_HOLDS = 1e-3

#: Parts of the depth of a multiplier, in its reach: a unit of each counts the more the smaller it is.
_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class Inner:
    """Points well inside the cones at t = 0 and at ``stop``."""

    points: tuple[Array, Array] = field(repr=False)
    stop: float

    @property
    def ends(self) -> Array:
        """Values at t = 0 and, on the straight line, at t = 1, which may be outside."""
        first, last = self.points
        return np.stack([first, first + (last - first) / self.stop])

    def at(self, t: float) -> Array:
        """A point inside at t."""
        return np.asarray(between(self.points, t / self.stop))

    def each(self, t: Array) -> Array:
        """Evaluate at an array of t, a row for each."""
        return mixed(self.points, t / self.stop)


def inner_points(line: ConeLine, stop: float, reach: float) -> Inner | None:
    """Points inside the cones at both ends, as low as they can be at a tenth of the largest depth, or None.

    ``reach`` is how large the entries of a solution are.
    """
    if line.A_stop is not None:
        both = deepest(_at_both_ends(line, stop), reach)
        return None if both is None else Inner((both[: line.n], both[line.n :]), stop)
    found = [deepest(line.at(t), reach) for t in (0.0, stop)]
    return None if found[0] is None or found[1] is None else Inner((found[0], found[1]), stop)


def _at_both_ends(line: ConeLine, stop: float = 1.0) -> ConeProgram:
    """Points for t = 0 and ``stop``, each with slacks at both: then all of their mixtures are inside, at every t.

    The slack at t of the mixture is a sum of the four, of which none has a negative share.
    """
    k = line.equations
    ends = line.base, line.end if stop == 1.0 else line.at(stop)
    none = sp.csr_array((line.m - k, line.n))
    of_equations = sp.block_diag([end.A[:k] for end in ends])
    of_first = [sp.hstack([end.A[k:], none]) for end in ends]
    of_last = [sp.hstack([none, end.A[k:]]) for end in ends]
    A = sp.vstack([of_equations, *of_first, *of_last])
    others = [end.b[k:] for end in ends]
    b = np.concatenate([*(end.b[:k] for end in ends), *others, *others])
    curved = [cone for cone in line.cones if cone.kind != "zero"]
    cones = [*([Cone("zero", 2 * k)] if k else []), *curved * 4]
    P = sp.block_diag([end.P for end in ends])
    return ConeProgram(P, np.concatenate([end.q for end in ends]), A, b, cones)


def touching(line: ConeLine, stop: float, reach: float) -> tuple[list[float], list[str]]:
    """Ends of the line, t = 0 and ``stop``, at which no point is inside all constraints; and those that it is not of.

    Multipliers tell the latter. Where coefficients move, one point must do for both ends: of these none is said.
    """
    names: list[str] = []
    ends: list[float] = []
    for t in (0.0, stop) if line.A_stop is None else (0.5,):
        program = line.at(t) if line.A_stop is None else _at_both_ends(line)
        x, multipliers = _phases(program, reach, None)
        if _is_inside(x, program.q.size, reach):
            continue
        ends += [t] if line.A_stop is None else []
        z = np.abs(multipliers[: program.b.size])
        has_part = z > _HOLDS * z.max(initial=0.0)
        curved = has_part & (program.kinds != "zero")
        rows = np.flatnonzero(curved)
        if line.A_stop is not None:
            rows = line.equations + (rows - 2 * line.equations) % (line.m - line.equations)
        of_cones = {line.label(int(i)) for i in rows} - {""}
        if not of_cones and line.A_stop is None:  # cones that CVXPY added, such as those of logarithms, and equations
            rows = np.flatnonzero(has_part & ~curved)
        names += [line.label(int(i)) for i in rows]
    return ends, [name for name in dict.fromkeys(names) if name]


def _is_inside(x: Array | None, n: int, reach: float) -> bool:
    """Whether the deepest of all points, with its depth behind n numbers, has a depth that is no rounding."""
    return x is not None and bool(x[n] > 1e-9 * reach)


def deepest(program: ConeProgram, reach: float) -> Array | None:
    """Find a point whose slacks are as deep inside their cones as can be, then the lowest that is so by a tenth."""
    n, (x, _) = program.q.size, _phases(program, reach, None)
    if not _is_inside(x, n, reach):
        return None
    assert x is not None
    lowest, _ = _phases(program, reach, 0.1 * float(x[n]))
    return x[:n] if lowest is None else lowest[:n]


def _phases(program: ConeProgram, reach: float, depth: float | None) -> tuple[Array | None, Array]:
    """The deepest point and its depth, or the lowest of a depth, and multipliers; None where there is none."""
    n = program.q.size
    rows, sides = _rows_of_points_and_depth(program, reach, depth or 0.0)
    cones = [*program.cones, Cone("nonnegative", 2 * n + 2)]
    if depth is None:
        P, costs = sp.csc_array((n + 1, n + 1)), np.append(np.zeros(n), -1.0)
    else:
        size = float(np.abs(program.q).max(initial=0.0)) or 1.0
        P, costs = sp.block_diag([sp.triu(program.P / size), [[0.0]]]), np.append(program.q / size, 0.0)
    found = solved(P, costs, rows, sides, cones, settings_at(1e-9))
    return _numbers(found), np.nan_to_num(np.asarray(found.z))


def _rows_of_points_and_depth(program: ConeProgram, reach: float, least: float) -> tuple[Any, Array]:
    """Rows, and their sides, of points whose slacks have a depth, a column behind theirs, of at least so much.

    Behind those of the cones come bounds of each number, 10 times the reach on either side, and of the depth.
    """
    n, m = program.q.size, program.b.size
    into = sp.csc_array((interior(program.cones), np.arange(m), [0, m]), shape=(m, 1))
    one, both_sides = sp.eye_array(n), sp.csc_array([[1.0], [-1.0]])
    rows = sp.block_array([[program.A, into], [one, None], [-one, None], [None, both_sides]])
    return sp.csc_matrix(rows), np.concatenate([program.b, np.full(2 * n, 10.0 * reach), [reach, -least]])


def _numbers(found: Any) -> Array | None:
    """The numbers that a solver returned; None where there are none."""
    x = np.asarray(found.x)
    return None if str(found.status) in NONE or not np.isfinite(x).all() else x


def inner_multipliers(line: ConeLine, stop: float, reach: float) -> Inner | None:
    """Stationary y, z at both ends, one after the other, as far inside each cone with curved faces as can be."""
    found = [_inner_multipliers(line, t, reach) for t in (0.0, stop)]
    return None if found[0] is None or found[1] is None else Inner((found[0], found[1]), stop)


def deep_multipliers(line: ConeLine, stop: float, reach: float) -> tuple[Array, Array] | None:
    """Stationary y, z at t = 0 and ``stop``, rows of an array, and how far inside the multipliers of each row are.

    Each row of an inequality, and each cone, has a depth of its own, of which ``reach`` is the largest: where one is 0
    at every stationary point, others need not be. None where there are no multipliers.
    """
    found = [_deep_multipliers(line, t, reach) for t in (0.0, stop)]
    if found[0] is None or found[1] is None:
        return None
    depth = np.minimum(found[0][1], found[1][1])
    return np.stack([found[0][0], found[1][0]]), depth


def _deep_multipliers(line: ConeLine, t: float, reach: float) -> tuple[Array, Array] | None:
    """Return those of one t: of each depth the first part counts most, so that none is 0 for the sake of another."""
    dual = dual_cones(line)
    depths = _depths_of_rows(dual[1])
    most = np.repeat(reach * np.array(_LEVELS), depths.shape[1])
    x = _with_depths(line, t, dual, sp.hstack([depths] * len(_LEVELS)), most, reach / most, 1e-9)
    if x is None:
        return None
    multipliers, parts = np.split(x, [line.n + line.m])
    total = np.maximum(parts, 0.0).reshape(len(_LEVELS), -1).sum(axis=0)
    depth = np.zeros(line.m)
    depth[line.m - depths.shape[0] :] = total[depths.indices]
    return multipliers, depth


def _depths_of_rows(cones: list[Cone]) -> Any:
    """A column for each row of an inequality, and for each other cone, with what a unit of its depth takes away."""
    group: list[int] = []
    count = 0
    for cone in cones:
        each = range(cone.size) if cone.kind == "nonnegative" else [0] * cone.size
        group += [count + number for number in each]
        count += 1 + max(each)
    into = interior(cones)
    return sp.csr_array((into, np.array(group, dtype=np.int64), np.arange(into.size + 1)), shape=(into.size, count))


def _inner_multipliers(line: ConeLine, t: float, reach: float) -> Array | None:
    """Return those of one t: each cone has a depth of its own, as where one must be 0 others need not be."""
    dual = rows, cones = dual_cones(line)
    curved = [k for k, cone in enumerate(cones) if cone.kind != "nonnegative"]
    starts = np.cumsum([0, *(cone.size for cone in cones)])
    depths = sp.lil_array((rows.shape[0], len(curved)))
    for column, k in enumerate(curved):
        depths[starts[k] : starts[k + 1], [column]] = interior([cones[k]])[:, None]
    count = len(curved)
    x = _with_depths(line, t, dual, sp.csr_array(depths), np.full(count, reach), np.ones(count), 1e-10)
    return None if x is None else x[: line.n + line.m]


def _with_depths(
    line: ConeLine, t: float, dual: tuple[Any, list[Cone]], depths: Any, most: Array, worth: Array, accuracy: float
) -> Array | None:
    """Stationary y, z at t and the depths, of most worth, by which z is inside the dual cones; None without any.

    Parameters
    ----------
    line : ConeLine
    t : float
    dual : pair
        As `dual_cones` returns it.
    depths : sparse array of shape (rows of the dual cones, depths)
        Directions into the cones: z less its depths along these is still in them.
    most, worth : array of shape (depths,)
        The largest that each depth may be, and what a unit of it counts.
    accuracy : float
        Of the solver.
    """
    n, m, now = line.n, line.m, line.at(t)
    map_of_z, cones = dual
    count, others = most.size, map_of_z.shape[0]
    one = sp.eye_array(count)
    rows = sp.block_array(
        [
            [now.P, now.A.T, None],
            [None, None, one],
            [None, None, -one],
            [sp.csr_array((others, n)), -map_of_z, depths],
        ]
    )
    sides = np.concatenate([-between(line.q, t), most, np.zeros(count + others)])
    kinds = [Cone("zero", n), *([Cone("nonnegative", 2 * count)] if count else []), *cones]
    costs = np.concatenate([np.zeros(n + m), -worth])
    size = costs.size
    return _numbers(solved(sp.csc_matrix((size, size)), costs, rows, sides, kinds, settings_at(accuracy)))


def dual_cones(line: ConeLine) -> tuple[Any, list[Cone]]:
    """A map after which multipliers are in cones of the list where they are in the dual cones."""
    parts: list[Any] = []
    cones: list[Cone] = []
    for cone in line.cones:
        if cone.kind == "zero":
            parts.append(sp.csr_array((0, cone.size)))
            continue
        cones.append(cone)
        if cone.kind == "exponential":
            parts.append(sp.csr_array(np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])))
        elif cone.kind == "power":
            parts.append(sp.diags_array([1 / cone.exponent, 1 / (1 - cone.exponent), 1.0]))
        else:
            parts.append(sp.eye_array(cone.size))
    return sp.csr_array(sp.block_diag(parts) if parts else (0, 0)), cones
