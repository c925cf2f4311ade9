r"""Constraints that contradict each other: the smallest such set, and what each of them would have to give way.

A system :math:`Ax\le b` (and equations) has no solution where multipliers :math:`\lambda` (nonnegative on inequalities)
have :math:`A^\top\lambda=0` and :math:`b^\top\lambda=-g<0`: the sum of the rows says :math:`0\le-g`. The rows with a
multiplier contradict each other. None of them can be left out, if a point satisfies all the others: there is one such
point for each row, in hand. And a row whose right-hand side gives way by :math:`g/|\lambda_i|` ends this contradiction;
by less it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError, NeedsConeError
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.threads import on_one_thread
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.programs.optimum import optimum
from paretoclf.path.programs.path_ends import refusal
from paretoclf.path.programs.program_path import in_words
from paretoclf.problem.integers import said_of
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.rays import RayProof, judge_ray
from paretoclf.solve.sources.array_line import LineOfArrays
from paretoclf.solve.sources.problem_line import LineOfPrograms

#: Multipliers below this share of the largest have no part in a contradiction.
_NONE = 1e-9


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
    """

    rows: tuple[ConflictRow, ...]
    proof: RayProof | None
    point: Mapping[str, Any] = field(default_factory=dict)
    note: str = field(default="", kw_only=True)

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
            return f"no conflict: there is a point that satisfies all constraints{self._of_integers}"
        width = max([10, *(len(row.name) for row in self.rows[:SHOWN])])
        head = f"{'constraint':<{width}} {'multiplier':>11} {'relax by':>11}"
        lines = [f"{row.name:<{width}} {row.multiplier:>11.5g} {row.relax:>11.5g}" for row in self.rows[:SHOWN]]
        return listing(head, lines, len(self), self._title())

    def _title(self) -> str:
        if not self.rows:
            return repr(self)
        if len(self.rows) == 1:
            return f"this one contradicts itself: proved{self._of_integers}"
        said = f"these {len(self)} contradict each other, proved; without any one of them there is a point"
        return f"{said}{self._of_integers}"

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

    Such a set is called an irreducible infeasible subsystem; others may be smaller.

    Parameters
    ----------
    problem : cvxpy.Problem or QP
        With linear constraints, whatever its objective is; its parameters have the values that they hold. What CVXPY
        adds for an absolute value or a maximum is left out with its constraint.

    Returns
    -------
    Conflict
        Without rows where there is a point that satisfies all constraints, which it has then. There may be other
        conflicts: when this one is resolved, ask again.

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
    constraint   multiplier    relax by
    demand                1           1
    capacity[0]           1           1
    capacity[1]           1           1
    these 3 contradict each other, proved; without any one of them there is a point
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
        return Conflict((), None, seen.values, note=note)
    terms = _RowsOfTerms(line)
    rows, points = _least(line, terms, _with_part(seen.ray))
    kept = np.sort(np.concatenate(terms.split(rows)))
    last = _seen(_part(line, kept))
    if last.ray is None:
        raise refusal("a contradiction of fewer rows is not proved", 0.0)
    ray = np.zeros(line.m)
    ray[kept] = last.ray
    gain = -float(line.b[0] @ ray)
    own = [_row(line, i, float(ray[i]) / gain, points[i]) for i in rows.tolist()]
    if isinstance(problem, QP) and None in problem.integers.values():
        note += ": what contradicts itself there does so with integers, too"
    return Conflict(tuple(own), judge_ray(line, "infeasible", ray, 0.0), note=note)


def constraints_of(problem: Any) -> ProgramLine:
    """The constraints alone, where the parameters stand."""
    kind = LineOfArrays if isinstance(problem, QP) else LineOfPrograms
    return kind.of_constraints(problem).line


@dataclass(frozen=True)
class _Seen:
    """A point that satisfies all rows of a system, or multipliers that prove that there is none."""

    values: Mapping[str, Any]
    ray: Array | None


def _seen(line: ProgramLine) -> _Seen:
    """Find a point, or the multipliers of a contradiction: the optimum of the system with a slack for each row.

    Raises
    ------
    DegeneratePathError
        If neither is proved.
    """
    soft = _softened(line)
    columns, multipliers = optimum(soft)
    x, ray = columns[: line.n], multipliers[: line.m]
    if judge_ray(line, "infeasible", ray, 0.0).passes():
        return _Seen({}, ray)
    violation = line.A @ x - line.b[0]
    violation[: line.equations] = np.abs(violation[: line.equations])
    room = CERTIFY * (1.0 + abs(line.A) @ np.abs(x) + np.abs(line.b[0]))
    if (violation > room).any():
        raise refusal("neither a point nor a contradiction is proved", 0.0, "State the problem in other units.")
    return _Seen(in_words(line, x, ray, 0.0)[0], None)


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
            points[i] = without.values
        else:
            rows, _ = terms.split(others[_with_part(without.ray)])
    return rows, points


def _with_part(ray: Array) -> Index:
    """Rows with a multiplier."""
    return np.flatnonzero(np.abs(ray) > _NONE * np.abs(ray).max(initial=0.0))


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
