r"""All optima of a linear or quadratic program: whether there is one only, and between what each variable may be.

With one proved optimal pair (x, z) the optima are known: the feasible points at which :math:`P` has the same product
and every row with a positive multiplier is tight. Where the rows of a certified basis all have positive multipliers
there is one optimum. Else each variable is minimised and maximised over that set, and both optima are proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from paretoclf.common.checks import Array, Mask
from paretoclf.common.errors import InputError, NeedsConeError
from paretoclf.common.progress import counted
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.threads import on_one_thread
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.base.named import name_in
from paretoclf.path.base.uniqueness import tight_rows
from paretoclf.path.programs.optimum import UnboundedError, optimum
from paretoclf.path.programs.program_path import in_words
from paretoclf.path.sensitivity.number_range import called, is_called
from paretoclf.path.sensitivity.optimal_basis import Basis, basis_at
from paretoclf.path.tracing import source_here

#: Pivots below this share of the first are rounding.
_PIVOT = 1e-11


@dataclass(frozen=True)
class OptimalRange:
    """One entry of a variable over all optima.

    Attributes
    ----------
    name : str
    index : tuple of int or None
    value : float
        At the optimum that was found.
    lower, upper : float
        The least and the largest that it is at any optimum; infinite where it has no bound there.
    """

    name: str
    index: tuple[int, ...] | None
    value: float
    lower: float
    upper: float

    @property
    def one(self) -> bool:
        """Whether it is the same at all optima, up to rounding."""
        return self.upper - self.lower <= CERTIFY * max(1.0, abs(self.value))


@dataclass(frozen=True, repr=False)
class OptimalSet(Tabular):
    """Whether an optimum is the only one, and what each variable may be at the others; prints as a table.

    Attributes
    ----------
    unique : bool
        Of the variables that were asked for.
    value : float
        The optimal value.
    rows : tuple of OptimalRange
    variables : mapping of str to number or array
        An optimum.
    """

    unique: bool
    value: float
    rows: tuple[OptimalRange, ...]
    variables: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.unique

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[OptimalRange]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> tuple[OptimalRange, ...]:
        """Ranges of the entries of one variable, or of an entry, as ``x[0]``."""
        own = tuple(row for row in self.rows if is_called(row, name))
        if not own:
            known = ", ".join(dict.fromkeys(row.name for row in self.rows))
            raise InputError(f"name must be that of a variable, one of {known}, got {name!r:.100}")
        return own

    def __repr__(self) -> str:
        width = max([8, *(len(called(row)) for row in self.rows[:SHOWN])])
        head = f"{'variable':<{width}} {'value':>11} {'lower':>11} {'upper':>11}"
        lines = [
            f"{called(row):<{width}} {row.value:>11.5g} {row.lower:>11.5g} {row.upper:>11.5g}"
            for row in self.rows[:SHOWN]
        ]
        return listing(head, lines, len(self), self._title())

    def _title(self) -> str:
        free = sum(not row.one for row in self.rows)
        how = "the optimum is unique" if self.unique else f"{free} of {len(self)} numbers differ between optima"
        return f"optimal value {self.value:.10g}; {how}: proved"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield {"name": called(row), "value": row.value, "lower": row.lower, "upper": row.upper}


@on_one_thread
def unique(problem: Any, *, of: Any = None, progress: bool | None = None) -> OptimalSet:
    """Whether the optimum is the only one, and else the range of each variable over all optima, proved.

    Parameters
    ----------
    problem : cvxpy.Problem or QP
        A linear or quadratic program; its parameters have the values that they hold. It need not be solved.
    of : variable or name, or a list of these, optional
        Which variables are asked for, or which entries, as ``"x[0]"``; by default all.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    OptimalSet
        True where it is the only one.

    Raises
    ------
    InputError
        If it is no linear or quadratic program, or has no optimum.
    DegeneratePathError
        If an optimum cannot be proved.

    Notes
    -----
    A multiplier that is 1e-8 of the size of its row's data or less is taken for 0, unless a certified basis says that
    it is positive: ranges may be too wide by what such a multiplier would forbid, and are not too narrow.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x = cp.Variable(2, nonneg=True, name="x")
    >>> found = pc.unique(cp.Problem(cp.Maximize(x[0] + x[1]), [cp.sum(x) <= 3, x[0] <= 2]), progress=False)
    >>> found.unique, [(row.lower, row.upper) for row in found["x"]]
    (False, [(0.0, 2.0), (1.0, 3.0)])
    >>> bool(pc.unique(cp.Problem(cp.Minimize(cp.sum_squares(x - 1)))))
    True
    """
    try:
        line = source_here(problem).line
    except NeedsConeError as error:
        raise InputError(f"{error}, and unique is of linear and quadratic programs") from None
    entries = _entries(line, problem, of)
    x, z = optimum(line)
    basis = basis_at(line, x, z)
    if basis is not None:
        x = np.where(basis.optimum.x.is_zero[:, 0], 0.0, x)
    if _only_one(basis):
        rows = [OptimalRange(each.name, each.index, *3 * [_plain(x[each.column])]) for each in entries]
    else:
        face = _all_optima(line, x, z, basis)
        work = ((each, _extremes(face, each.column, float(x[each.column]))) for each in entries)
        found = list(counted(work, "optima", len(entries), progress, 0))
        rows = [OptimalRange(each.name, each.index, _plain(x[each.column]), *ends) for each, ends in found]
    return OptimalSet(all(row.one for row in rows), line.value(x, 0.0), tuple(rows), in_words(line, x, z, 0.0)[0])


@dataclass(frozen=True)
class OfVariable:
    """An entry of a variable, and its column."""

    name: str
    index: tuple[int, ...] | None
    column: int


def _entries(line: ProgramLine, problem: Any, of: Any) -> list[OfVariable]:
    """Name, index and column of each entry of the variables that are asked for."""
    known, found = line.variables, list[OfVariable]()
    for name, reading in known.items():
        columns = reading.place.reshape(len(list(np.ndindex(*reading.shape))), -1)[:, 0].tolist()
        for index, column in zip(np.ndindex(*reading.shape), columns, strict=True):
            found.append(OfVariable(name, index or None, column))
    if of is None:
        return found
    chosen = list[OfVariable]()
    for each in of if isinstance(of, list | tuple) else [of]:
        name = name_in(problem, each)
        own = [entry for entry in found if is_called(entry, name)]
        if not own:
            raise InputError(f"of must have variables among {', '.join(known)}, got {name!r:.100}")
        chosen += own
    return chosen


def _plain(number: Any) -> float:
    """A float without the sign of 0."""
    return float(number) + 0.0


def _shown(line: ProgramLine, x: Array, z: Array, column: int) -> float:
    """One column of an optimum (x, z); 0 where a certified basis says that it is no more than rounding."""
    number = _plain(x[column])
    if 0.0 < abs(number) <= CERTIFY * np.abs(x).max():
        basis = basis_at(line, x, z)
        if basis is not None and basis.optimum.x.is_zero[column, 0]:
            return 0.0
    return number


def _only_one(basis: Basis | None) -> bool:
    """Whether a certified basis proves that there is one optimum: none of its multipliers is 0."""
    return basis is not None and not (basis.weak & basis.active).any()


def _priced(line: ProgramLine, x: Array, z: Array, basis: Basis | None) -> Mask:
    """Inequalities that are tight at every optimum, as their multiplier is positive."""
    equation = np.arange(line.m) < line.equations
    if basis is not None:
        return np.asarray(basis.active & ~basis.weak & ~equation)
    return np.asarray(tight_rows(line, np.zeros(1), x[None], z[None])[1] & ~equation)


def _all_optima(line: ProgramLine, x: Array, z: Array, basis: Basis | None) -> ProgramLine:
    """The set of all optima as the rows of a program without an objective."""
    priced = _priced(line, x, z, basis)
    rows, equation = sp.csr_array(line.A), np.arange(line.m) < line.equations
    curved = _independent(line.P)
    products = sp.csr_array(line.P)[curved]
    fixed, free = np.flatnonzero(equation | priced), np.flatnonzero(~(equation | priced))
    A = sp.vstack([rows[fixed], products, rows[free]], format="csc")
    b = np.concatenate([line.b[0][fixed], products @ x, line.b[0][free]])
    count = fixed.size + curved.size
    return ProgramLine(
        P=sp.csc_array(line.P.shape),
        A=A,
        q=np.zeros_like(line.q),
        b=np.stack([b, b]),
        constant=np.zeros(2),
        equations=count,
        sense=1,
        variables=line.variables,
        multipliers={},
    )


def _independent(P: Any) -> Any:
    """Rows of P of which all others are combinations."""
    if not P.nnz:
        return np.zeros(0, dtype=np.int64)
    used = np.flatnonzero(np.diff(sp.csc_array(P).indptr))
    own = sp.csr_array(P)[used].toarray()
    _, upper, order = qr(own.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diagonal(upper))
    return np.sort(used[order[: int((pivots > _PIVOT * pivots[0]).sum())]])


def _extremes(face: ProgramLine, column: int, value: float) -> tuple[float, float]:
    """The least and the largest that a column is on a set; infinite without a bound."""
    ends = []
    for sign in (1.0, -1.0):
        q = np.zeros_like(face.q)
        q[:, column] = sign
        try:
            line = replace(face, q=q)
            point, multipliers = optimum(line)
        except UnboundedError:
            ends.append(-sign * np.inf)
        else:
            ends.append(_shown(line, point, multipliers, column))
    low, high = ends
    return min(low, value), max(high, value)
