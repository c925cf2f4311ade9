"""Somebody's solution of a `QP`: a file of a solver, a table of names and numbers, or what SciPy returns."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checking.multiplier_signs import SignedMultipliers, Signs
from paretoclf.checking.printed_solutions import PrintedSolution, printed_solution
from paretoclf.common.checks import Array, number_from_text, real_array
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import meant_by
from paretoclf.problem.qp import QP

#: Two values of an objective that differ by no more than this, relative to the larger of 1 and one of them, are one.
SAME_VALUE = 1e-6

#: Values of variables and multipliers of rows, by name; no multipliers where nothing is said of them.
Named = tuple[dict[str, float], dict[str, float]]


def read_solution(file: str | os.PathLike[str], qp: QP) -> Named:
    """Values of the variables, and multipliers of rows with OSQP's signs, from a file.

    Parameters
    ----------
    file : path
        A solution file of HiGHS, Gurobi, CPLEX, CBC, GLPK or SCIP, whatever it is called; or a CSV file of two columns,
        names and numbers: of variables their values, of rows their multipliers. With a header it may have a column of
        multipliers beside the values: ``dual`` with OSQP's signs, or ``price``, the derivatives that solvers print. A
        line ``*,0`` says that variables that are left out are 0.
    qp : QP
        With names.

    Raises
    ------
    InputError
        If it cannot be read, holds no solution, a name is none of the program's, is there twice, or has no number.
    """
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        claims = "" if os.path.splitext(file)[1] else "; what may be claimed is 'infeasible' or 'unbounded'"
        raise InputError(f"solution {file} cannot be read: {error}{claims}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"solution {file} cannot be read: {error}; save it as UTF-8") from None
    if qp.names is None:
        raise InputError("solution must be arrays for a QP without names, got a file: QP(..., names=(...)) has them")
    try:
        printed = printed_solution(text, (qp.names[0], _rows_of_file(qp)))
        return _of_table(text, qp) if printed is None else _of_printed(printed, qp)
    except InputError as error:
        raise InputError(f"{str(error).replace('solution', f'solution {file}', 1)}") from None


def _rows_of_file(qp: QP) -> list[str]:
    """Rows without those that bounds of variables are."""
    own = {f"bound of {name}" for name in qp.names[0]}
    return [name for name in qp.names[1] if name not in own]


def _of_printed(found: PrintedSolution, qp: QP) -> Named:
    """Values and multipliers of a printed solution: minus the derivative of the value that is minimised."""
    variables, rows = qp.names
    own = set(variables)
    for name in found.values:
        if name not in own:
            raise InputError(f"solution must have variables of the program, got {name!r:.100}")
    known = set(rows)
    for name, price in found.prices.items():
        if name not in known and price != 0.0:  # the row of the objective may be there, and has none
            raise InputError(f"solution must have rows of the program, got {name!r:.100}")
    missing = [] if found.zeros else [name for name in variables if name not in found.values]
    if missing:
        raise InputError(f"solution must have a number for each variable, got none for {missing[0]!r:.100}")
    values = {name: found.values.get(name, 0.0) for name in variables}
    sign = -qp.sense if _has_its_sense(found, values, qp) else qp.sense
    duals = {name: sign * price for name, price in found.prices.items() if name in known}
    for name, cost in found.reduced_costs.items():
        if f"bound of {name}" in known:
            duals[f"bound of {name}"] = sign * cost
    return values, SignedMultipliers(duals, Signs(price=True, factor=sign))


def _has_its_sense(found: PrintedSolution, values: Mapping[str, float], qp: QP) -> bool:
    """Whether the solver had the objective of the program, and not minus that, by the value that it printed."""
    x = np.array(list(values.values()))
    value = float(0.5 * x @ (qp.P @ x) + qp.q @ x + qp.constant)
    near = SAME_VALUE * max(1.0, abs(value))
    return abs(value) <= near or not abs(found.objective + value) <= near


def _of_table(text: str, qp: QP) -> Named:
    """Values and multipliers from a table: of names and numbers, or with a column of multipliers beside the values."""
    lines = text.splitlines()
    separator = max(",;\t", key=lines[0].count) if lines else ","
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    variables, constraints = (dict(zip(*pair, strict=True)) for pair in zip(qp.keys, qp.names, strict=True))
    known = {OTHERS, *variables, *constraints, *qp.names[0], *qp.names[1]}
    bounds = set(qp.names[1])
    columns = _TableColumns()
    if rows and len(rows[0]) >= 2 and rows[0][0].strip() not in known and _number(rows[0][-1]) is None:
        columns = _TableColumns.of(rows.pop(0))
    values, duals = dict[str, float](), dict[str, float]()
    rest = None
    for row in rows:
        name, value, multiplier = columns.cells(row, qp)
        if name not in known:
            raise InputError(f"solution must have names of the program, got {name!r:.100}")
        if name == OTHERS:
            rest = value
            continue
        key: str | None = name  # as a rule it is one
        if (name in variables) == (name in constraints):
            key = meant_by(name, variables, constraints)
        if key is None:
            raise InputError(f"solution must say x:{name} or row:{name}, which are two, got {name!r:.100}")
        if key in variables:
            _put_once(values, variables[key], value)
            name = f"bound of {variables[key]}"
            multiplier = multiplier if name in bounds else None
        else:
            name = constraints[key]
            multiplier = value if columns.width == 2 else multiplier
        _put_once(duals, name, multiplier)
    missing = [name for name in qp.names[0] if name not in values]
    if missing and rest is None:
        raise InputError(
            f"solution must have a number for each variable, got none for {missing[0]!r:.100}: where variables that "
            f"are 0 are left out, a line '{OTHERS},0' says so"
        )
    return {**values, **dict.fromkeys(missing, rest or 0.0)}, SignedMultipliers(duals, columns.signs(qp))


def _put_once(own: dict[str, float], name: str, number: float | None) -> None:
    """Keep a number, if there is one, under a name that has none yet."""
    if number is None:
        return
    if name in own:
        raise InputError(f"solution must have each name once, got {name!r:.100} twice")
    own[name] = number


#: A name in a table that stands for all variables that it leaves out.
OTHERS = "*"

#: What the header of a table calls names, values, multipliers with OSQP's signs, and derivatives of the value.
_NAMES = ("name", "variable", "var", "constraint", "row")
_VALUES = ("value", "x", "primal", "final value", "level", "activity", "solution")
_MULTIPLIERS = ("dual", "multiplier", "y", "lambda")
_PRICES = ("price", "shadow price", "reduced cost", "marginal", "pi", "rc")


@dataclass(frozen=True)
class _TableColumns:
    """Where a table has names, values and multipliers; of two columns the second has both."""

    width: int = 2
    name: int = 0
    value: int = 1
    multiplier: int | None = None
    price: bool = False
    header: str = ""

    @classmethod
    def of(cls, header: Sequence[str]) -> _TableColumns:
        """Read a header; of two columns the words do not matter."""
        if len(header) == 2:
            return cls()
        words = [" ".join(cell.lower().replace("_", " ").split()) for cell in header]

        def places(known: Sequence[str]) -> list[int]:
            return [place for place, word in enumerate(words) if word in known]

        names, values, multipliers = places(_NAMES) or [0], places(_VALUES), places((*_MULTIPLIERS, *_PRICES))
        if len(names) != 1 or len(values) != 1 or len(multipliers) > 1:
            raise InputError(
                "solution must have columns name,value,dual (multipliers with OSQP's signs) or name,value,price "
                f"(derivatives of the value, as solvers print them), got {','.join(header)!r:.100}"
            )
        multiplier = multipliers[0] if multipliers else None
        if multiplier is None:
            return cls(len(header), names[0], values[0])
        is_price = words[multiplier] in _PRICES
        return cls(len(header), names[0], values[0], multiplier, is_price, header[multiplier].strip())

    def signs(self, qp: QP) -> Signs:
        """Signs that the multipliers have in the table."""
        return Signs(self.header, self.price, -float(qp.sense) if self.price else 1.0)

    def cells(self, row: Sequence[str], qp: QP) -> tuple[str, float | None, float | None]:
        """Name, value and multiplier of a row; None where there is none."""
        if len(row) != self.width:
            more = "; a third column needs a header, name,value,dual" if len(row) > self.width == 2 else ""
            raise InputError(f"solution must have a name and a number in each line, got {','.join(row)!r:.100}{more}")
        name = row[self.name].strip()
        if self.width == 2:
            return name, _needed(row, self.value), None
        value, multiplier = (
            _needed(row, k) if k is not None and row[k].strip() else None for k in (self.value, self.multiplier)
        )
        if multiplier is not None:
            multiplier *= self.signs(qp).factor
        return name, value, multiplier


def _needed(row: Sequence[str], place: int) -> float:
    """The number of a cell."""
    number = _number(row[place])
    if number is None:
        raise InputError(f"solution must have a name and a number in each line, got {','.join(row)!r:.100}")
    return number


def _number(text: str) -> float | None:
    try:
        return number_from_text(text)
    except ValueError:
        return None


def is_result(given: Any) -> bool:
    """Whether this is an ``OptimizeResult`` of SciPy, by its class; nothing is imported for that."""
    kinds = [(kind.__module__.split(".")[0], kind.__name__) for kind in type(given).__mro__]
    return ("scipy", "OptimizeResult") in kinds


def of_result(given: Any, qp: QP) -> tuple[Array, Array | None]:
    """The point of an ``OptimizeResult``, and the multipliers of all rows where ``linprog`` has marginals.

    Rows of the QP are taken for those of ``linprog`` in their order: equations for ``A_eq``, others for ``A_ub`` (minus
    these where only the lower bound is finite), and what remains for ``bounds``: rows of one variable.

    Raises
    ------
    InputError
        If it has no point, or the rows are not such.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from scipy.optimize import linprog
    >>> found = linprog([-1.0, -2.0], A_ub=[[1.0, 1.0]], b_ub=[4.0])
    >>> qp = pc.QP(None, [-1.0, -2.0], [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [-np.inf, 0, 0], [4.0, np.inf, np.inf])
    >>> pc.verify(qp, found).status
    'optimal'
    """
    if given.get("x") is None:
        raise InputError(f"solution must be there, got an OptimizeResult without x: {given.get('message', 'no word')}")
    x = real_array(given["x"], "x")
    if "ineqlin" not in given:
        return x, None
    ub, eq = (real_array(given[name]["marginals"], name).ravel() for name in ("ineqlin", "eqlin"))
    equation = np.asarray(qp.l == qp.u)
    own = [np.flatnonzero(equation)[: eq.size], np.flatnonzero(~equation)[: ub.size]]
    y = np.zeros(qp.l.size)
    y[own[0]] = -eq[: own[0].size]
    only_below = ~np.isfinite(qp.u[own[1]])
    y[own[1]] = np.where(only_below, 1.0, -1.0) * ub[: own[1].size]
    used = np.zeros(y.size, dtype=np.bool_)
    used[np.concatenate(own)] = True
    two_sided = own[1][np.isfinite(qp.l[own[1]]) & np.isfinite(qp.u[own[1]])]
    by_rows, rest = sp.csr_array(qp.A), np.flatnonzero(~used)
    single = np.diff(by_rows.indptr)[rest] == 1
    if (own[0].size, own[1].size) != (eq.size, ub.size) or two_sided.size or not single.all():
        raise InputError(
            "rows must be those of linprog in their order (equations A_eq, others A_ub, then rows of one variable for "
            f"bounds), got {ub.size} and {eq.size} marginals for {qp!r}: give result.x, and y with OSQP's signs"
        )
    columns = by_rows.indices[by_rows.indptr[rest]]
    bounds = sum(real_array(given[name]["marginals"], name).ravel() for name in ("lower", "upper"))
    y[rest] = -np.asarray(bounds)[columns] / by_rows.data[by_rows.indptr[rest]]
    return x, y


def labelled(given: Any) -> Any:
    """A Series of pandas whose labels are names as a mapping of these: its order is none of the QP's."""
    kind = getattr(getattr(getattr(given, "index", None), "dtype", None), "kind", "i")
    return given.to_dict() if kind not in "iu" and not hasattr(given, "columns") else given


def is_operator_splitting(given: Any) -> bool:
    """Whether this is what OSQP returns, by what it has: x, y and its status; nothing is imported for that."""
    return all(hasattr(given, name) for name in ("x", "y", "info")) and hasattr(given.info, "status")


def of_operator_splitting(given: Any) -> tuple[Any, Any]:
    """Point and multipliers of a result of OSQP.

    Raises
    ------
    InputError
        If it claims that there is no solution, or has multipliers elsewhere, as ProxQP's results have.
    """
    status = str(given.info.status)
    if hasattr(given, "z"):
        raise InputError("solution must be x and y, with OSQP's signs, got a result that has further multipliers in z")
    for word, claim in (("primal infeasible", "infeasible"), ("dual infeasible", "unbounded")):
        if word in status:
            raise InputError(
                f"solution must be there, got a result with status {status!r}: verify(qp, {claim!r}) judges that claim"
            )
    return given.x, given.y


def read_point(given: Any, y: Any, qp: QP) -> tuple[Any, Any]:
    """The point and multipliers that `verify` is given, read where they are a file or a result of SciPy or OSQP."""
    if is_operator_splitting(given):
        x, own = of_operator_splitting(given)
        return x, own if y is None else y
    given, y = (labelled(each) for each in (given, y))
    if hasattr(given, "to_csv") and hasattr(given, "columns"):
        if qp.names is None:
            raise InputError(
                "solution must be arrays for a QP without names, got a table: QP(..., names=(...)) has them"
            )
        values, duals = _of_table(given.to_csv(index=given.index.dtype.kind not in "iu"), qp)
        return values, (duals or None) if y is None else y
    if isinstance(given, str | os.PathLike):
        values, duals = read_solution(given, qp)
        return values, (duals or None) if y is None else y
    if is_result(given):
        x, own = of_result(given, qp)
        return x, own if y is None else y
    return given, y
