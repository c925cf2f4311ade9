r"""Constraints that contradict each other: the smallest such set, and what each of them would have to give way.

A system :math:`Ax\le b` (and equations) has no solution where multipliers :math:`\lambda` (nonnegative on inequalities)
have :math:`A^\top\lambda=0` and :math:`b^\top\lambda=-g<0`: the sum of the rows says :math:`0\le-g`. The rows with a
multiplier contradict each other. None of them can be left out, if a point satisfies all the others: there is one such
point for each row, in hand. And a row whose right-hand side gives way by :math:`g/|\lambda_i|` ends this contradiction;
by less it does not.

A contradiction counts where g is more of :math:`|b|^\top|\lambda|` than a point that counts as feasible may miss a row
by, relative to its terms: 0.7 + 0.1 >= 0.8 is none, though doubles say that it does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError, InputError, NeedsConeError
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.threads import on_one_thread
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.programs.optimum import optimum
from paretoclf.path.programs.program_path import in_words
from paretoclf.problem.integers import said_of
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.exact_points import exact_point
from paretoclf.proof.programs.program_lines import bounds_of
from paretoclf.proof.programs.rays import RayProof, judge_ray
from paretoclf.solve.sources.array_line import LineOfArrays
from paretoclf.solve.sources.problem_line import LineOfPrograms

#: Multipliers times their rows below this share of the largest such have no part in a contradiction.
_NONE = 1e-9

#: A point that keeps this share of the terms of a row from it, at 1, misses nothing for rounding.
_OFF = 1e-6

#: What an exact point differs from one in doubles by, at least: a miss that doubles do not see is told as this.
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class ConflictRow:
    """A constraint, or a row or bound of one, that has a part in a contradiction.

    Attributes
    ----------
    name : str
        As ``budget`` or ``cap[2]``; of a bound that a variable has by itself ``lower bound of x[0]``.
    constraint : str
        The constraint that it belongs to; of such a bound its name.
    multiplier : float
        By which it is multiplied in the sum of rows that says 0 <= -1.
    relax : float
        By how much its right-hand side must give way, at least, while all the others stay.
    without : mapping of str to number or array
        A point that satisfies all the others of the conflict, by the names of the variables.
    """

    name: str
    constraint: str
    multiplier: float
    relax: float
    without: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, repr=False)
class Conflict(Tabular):
    """Constraints that contradict each other, none of which can be left out; prints as a table.

    Attributes
    ----------
    rows : tuple of ConflictRow
        Empty where there is a point that satisfies all constraints.
    proof : RayProof or None
        Of the sum of these rows that is a contradiction.
    point : mapping of str to number or array
        A point that satisfies all constraints, where there is one.
    note : str
        What became of the integers of a file.
    missed : float
        By how much that point misses a constraint at most, relative to the terms of its row; 0 where it, or one that
        doubles cannot tell from it, is proved to miss nothing. Up to 1e-8 it counts as one that satisfies them.
    """

    rows: tuple[ConflictRow, ...]
    proof: RayProof | None
    point: Mapping[str, Any] = field(default_factory=dict)
    note: str = field(default="", kw_only=True)
    missed: float = field(default=0.0, kw_only=True)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ConflictRow]:
        return iter(self.rows)

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints that have a part in it, each once."""
        return tuple(dict.fromkeys(row.constraint for row in self.rows))

    def __repr__(self) -> str:
        if not self.rows:
            within = f" to {self.missed:.1e} of their terms" if self.missed else ""
            return f"no conflict: there is a point that satisfies all constraints{within}{self._of_integers}"
        width = max([10, *(len(row.name) for row in self.rows[:SHOWN])])
        head = f"{'constraint':<{width}} {'multiplier':>11} {'relax by at least':>18}"
        lines = [f"{row.name:<{width}} {row.multiplier:>11.5g} {row.relax:>18.5g}" for row in self.rows[:SHOWN]]
        return listing(head, lines, len(self), self._title())

    def _title(self) -> str:
        if not self.rows:
            return repr(self)
        if len(self.rows) == 1:
            return f"this one contradicts itself: proved{self._of_integers}"
        said = (
            f"these {len(self)} contradict each other, proved; without any one of them there is a point for the others"
        )
        return f"{said}, which further rows may exclude{self._of_integers}"

    @property
    def _of_integers(self) -> str:
        """End of a sentence on what became of integers; empty where there are none."""
        return f"; {self.note}" if self.note else ""

    def _rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield {name: getattr(row, name) for name in ("name", "constraint", "multiplier", "relax")}


@on_one_thread
def conflict(problem: Any) -> Conflict:
    """Constraints that contradict each other, none of which can be left out, with a proof.

    Such a set is called an irreducible infeasible subsystem; others may be smaller. Without a row of it others of the
    same constraint may still contradict.

    Parameters
    ----------
    problem : cvxpy.Problem or QP
        With linear constraints, whatever its objective is; its parameters have the values that they hold. What CVXPY
        adds for an absolute value or a maximum is left out with its constraint.

    Returns
    -------
    Conflict
        Without rows where there is a point that satisfies all constraints, which it has then; to 1e-8 of the terms of
        their rows, as everywhere. There may be other conflicts: when this one is resolved, ask again.

    Raises
    ------
    InputError
        If a constraint needs a cone (a Euclidean norm, a square, a semidefinite matrix).
    DegeneratePathError
        If neither a contradiction nor a point can be proved.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x = cp.Variable(2, nonneg=True, name="x")
    >>> rows = [(cp.sum(x) >= 5).set_label("demand"), (x <= 2).set_label("capacity"), (x[0] <= 9).set_label("loose")]
    >>> found = pc.conflict(cp.Problem(cp.Minimize(x[0]), rows))
    >>> found
    constraint   multiplier  relax by at least
    demand                1                  1
    capacity[0]           1                  1
    capacity[1]           1                  1
    these 3 contradict each other, proved; without any one of them there is a point for the others, which further rows
    may exclude
    >>> bool(found.rows[0].without["x"].sum() < 5)
    True
    """
    if not isinstance(problem, QP) and getattr(problem, "constraints", None) == []:
        return Conflict((), None)
    try:
        line = constraints_of(problem)
    except NeedsConeError as error:
        raise InputError(
            f"{error}, and conflict is of linear constraints: solve the problem, and verify(problem) says which of its "
            "constraints have a part in a contradiction, not that none can be left out"
        ) from None
    note = said_of(problem.integers) if isinstance(problem, QP) else ""
    seen = _seen(line)
    if seen.ray is None:
        x, missed = _exact(line, seen)
        return Conflict((), None, in_words(line, x, np.zeros(line.m), 0.0)[0], note=note, missed=missed)
    terms = _RowsOfTerms(line)
    rows, points = _least(line, terms, _with_part(line, seen.ray))
    kept = np.sort(np.concatenate(terms.split(rows)))
    last = _seen(_part(line, kept))
    if last.ray is None:
        raise _open("that fewer rows contradict each other is not proved")
    ray = np.zeros(line.m)
    ray[kept] = last.ray
    gain = -float(line.b[0] @ ray)
    own = [_row(line, i, float(ray[i]) / gain, points[i]) for i in rows.tolist()]
    if isinstance(problem, QP) and None in problem.integers.values():
        note += ": what contradicts itself there does so with integers, too"
    return Conflict(tuple(own), judge_ray(line, "infeasible", ray, 0.0), note=note)


def contradict(line: ProgramLine, rows: Index) -> bool:
    """Whether some rows by themselves are proved to contradict each other."""
    with suppress(DegeneratePathError):
        return _seen(_part(line, rows)).ray is not None
    return False


def constraints_of(problem: Any) -> ProgramLine:
    """The constraints alone, where the parameters stand."""
    kind = LineOfArrays if isinstance(problem, QP) else LineOfPrograms
    return kind.of_constraints(problem).line


@dataclass(frozen=True)
class _Seen:
    """A point of a system, and by how much it misses rows; or multipliers that prove that no point satisfies all."""

    x: Array
    ray: Array | None
    missed: float = 0.0


def _seen(line: ProgramLine) -> _Seen:
    """Find a point, or the multipliers of a contradiction: the optimum of the system with a slack for each row.

    Raises
    ------
    DegeneratePathError
        If neither is proved.
    """
    try:
        columns, multipliers = optimum(_softened(line))
    except DegeneratePathError:
        raise _open("neither a point nor a contradiction is proved") from None
    x, ray = columns[: line.n], multipliers[: line.m]
    if judge_ray(line, "infeasible", ray, 0.0).passes():
        return _Seen(x, ray)
    missed = _missed(line, x)
    if missed > CERTIFY:
        raise _open("neither a point nor a contradiction is proved")
    return _Seen(x, None, missed)


def _open(why: str) -> DegeneratePathError:
    """Error where nothing is proved; it is about no line."""
    remedy = "State the problem in other units, or with numbers of more digits."
    return DegeneratePathError(why, t=None, costs="", n_margin=None, remedy=remedy)


def _missed(line: ProgramLine, x: Array) -> float:
    """The largest violation of a row, in the units in which points of programs are judged."""
    without_cost = replace(line, q=np.zeros_like(line.q), constant=np.zeros(2), P=sp.csc_array(line.P.shape))
    points = ProgramPoints.of(*(each[None, None].repeat(2, 1) for each in (x, np.zeros(line.m))))
    return float(bounds_of(without_cost, np.zeros(2), points)[0]["rows"][0])


def _exact(line: ProgramLine, seen: _Seen) -> tuple[Array, float]:
    """A point, and 0 where it misses nothing, or one in fractions next to it does; else what it misses."""
    for x in _points(line, seen.x):
        point = exact_point(line, x)
        if point is not None:
            return point, 0.0
    return seen.x, max(seen.missed, _EPS)


def _points(line: ProgramLine, x: Array) -> Iterator[Array]:
    """Candidates for a point that misses nothing: the given one, and one that keeps off all inequalities."""
    yield x
    room = _OFF * (abs(line.A) @ np.ones(line.n) + np.abs(line.b[0]))
    room[: line.equations] = 0.0
    with suppress(DegeneratePathError):
        within = _seen(replace(line, b=line.b - room))
        if within.ray is None:
            yield within.x


def _softened(line: ProgramLine) -> ProgramLine:
    """The system with slacks: equations two each, inequalities one, at a cost of 1 in the units of their rows."""
    m, equations = line.m, line.equations
    rows = sp.csr_array(line.A)
    sizes = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
    price = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
    more = sp.eye_array(m, format="csc")
    slacks = sp.hstack([-more, more[:, :equations]], format="csc")
    count = m + equations
    nonnegative = sp.hstack([sp.csc_array((count, line.n)), -sp.eye_array(count, format="csc")])
    q = np.concatenate([np.zeros(line.n), price, price[:equations]])
    b = np.concatenate([line.b[0], np.zeros(count)])
    return replace(
        line,
        P=sp.csc_array((line.n + count, line.n + count)),
        A=sp.csc_array(sp.vstack([sp.hstack([rows, slacks]), nonnegative])),
        q=np.stack([q, q]),
        b=np.stack([b, b]),
    )


def _least(line: ProgramLine, terms: _RowsOfTerms, rows: Index) -> tuple[Index, dict[int, Mapping[str, Any]]]:
    """Rows of a contradiction of which none can be left out, and for each a point that satisfies all others.

    Rows of terms are left out with the last row that they belong to, and are not among them.
    """
    points = dict[int, Mapping[str, Any]]()
    rows, _ = terms.split(rows)
    for i in rows.tolist():
        if i not in rows:
            continue
        others = np.sort(np.concatenate(terms.split(rows[rows != i])))
        without = _seen(_part(line, others))
        if without.ray is None:
            points[i] = in_words(line, without.x, np.zeros(line.m), 0.0)[0]
        else:
            rows, _ = terms.split(others[_with_part(_part(line, others), without.ray)])
    return rows, points


def _with_part(line: ProgramLine, ray: Array) -> Index:
    """Rows with a multiplier, whatever their units."""
    parts = np.abs(ray) * (abs(line.A) @ np.ones(line.n) + np.abs(line.b[0]))
    return np.flatnonzero(parts > _NONE * parts.max(initial=0.0))


class _RowsOfTerms:
    """Rows that CVXPY added for norms, maxima and other terms: a constraint has them as long as it has its own row.

    They share columns that CVXPY added with the row of the constraint whose term they are.
    """

    def __init__(self, line: ProgramLine) -> None:
        added = np.array([not line.is_named(column) for column in range(line.n)], dtype=bool)
        between = sp.csr_array(line.A[:, np.flatnonzero(added)])
        touches = np.diff(between.indptr) > 0
        self._added = touches & np.array([not line.label(row) for row in range(line.m)], dtype=bool)
        _, self._group = connected_components(sp.block_array([[None, between], [between.T, None]]))

    def split(self, rows: Index) -> tuple[Index, Index]:
        """Return those of the rows that are no such ones, and all such ones that belong to them."""
        own = rows[~self._added[rows]]
        groups = np.unique(self._group[own])
        return own, np.flatnonzero(self._added & np.isin(self._group[: self._added.size], groups))


def _part(line: ProgramLine, rows: Index) -> ProgramLine:
    """The program of some of its rows."""
    equations = int((rows < line.equations).sum())
    A = sp.csc_array(sp.csr_array(line.A)[rows])
    return replace(line, A=A, b=line.b[:, rows], equations=equations, multipliers={}, attributes={})


def _row(line: ProgramLine, i: int, multiplier: float, without: Mapping[str, Any]) -> ConflictRow:
    """A row in the user's words; the multipliers are those of a gain of 1."""
    name = name_of_row(line, i)
    return ConflictRow(name, line.label(i) or name, abs(multiplier), 1.0 / abs(multiplier), without)


def name_of_row(line: ProgramLine, i: int) -> str:
    """Name of a row, of a bound that a variable has by itself ``lower bound of x[0]``; of two sides of a row which."""
    label = line.label(i)
    own = sp.csr_array(line.A)[[i]]
    if own.nnz == 1 and line.is_named(int(own.indices[0])):
        column = int(own.indices[0])
        bound = f"bound of {line.column_name(column).removeprefix('x:')}"
        if label in ("", bound):  # by an attribute, or in a file
            side = "upper" if own.data[0] * _factor(line, column) > 0.0 else "lower"
            return bound if i < line.equations else f"{side} {bound}"
    if not label:
        return line.row_name(i)
    reading = line.multipliers[label]
    if reading.factor.ndim == 2 and i >= line.equations:
        sides = reading.factor[(reading.place == i) & (reading.factor != 0.0)]
        both = (reading.factor[(reading.place == i).any(axis=1)] != 0.0).all()
        if both:
            return f"{line.row_name(i)} ({'upper' if sides[0] > 0.0 else 'lower'} bound)"
    return line.row_name(i)


def _factor(line: ProgramLine, column: int) -> float:
    """Factor of a column in the user's variable: of one that is not positive CVXPY may hold the opposite."""
    for reading in line.variables.values():
        here = (reading.place == column) & (reading.factor != 0.0)
        if here.any():
            return float(reading.factor[here][0])
    return 1.0
