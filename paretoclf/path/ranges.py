r"""Ranges: how the optimal value of a program changes with each of its numbers, and how far that holds.

Every cost :math:`q_j`, right-hand side and bound :math:`b_i` is moved alone, up and down. One certified basis of the
optimum says what that does (`paretoclf.path.sides`); where it does not decide, an exact path that is proved
(`paretoclf.path.beside`). The optimal value is piecewise linear in such a number for a linear program,
piecewise quadratic for a quadratic one, concave in a cost and convex in a right-hand side of a minimisation. The price
is its derivative: to the right and to the left of where the number stands, and they differ where an optimum is
degenerate. A price holds until the value is no longer the same line (or parabola); the texts say what becomes tight, or
free, there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from paretoclf.common.errors import DegeneratePathError, InputError, NeedsConeError
from paretoclf.common.progress import counted
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.threads import on_one_thread
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.basis import Basis, basis_at
from paretoclf.path.beside import beside
from paretoclf.path.named import name_in
from paretoclf.path.optimum import optimum
from paretoclf.path.sides import OneSide, sides
from paretoclf.path.tracing import source_here
from paretoclf.problem.qp import QP


@dataclass(frozen=True)
class NumberRange:
    """One number of a program, and what the optimal value does when it alone is moved.

    Attributes
    ----------
    name : str
        The variable whose cost it is, or the constraint; of a bound that belongs to a variable itself that variable.
    index : tuple of int or None
        The place in a vector or matrix.
    kind : {"cost", "right hand side", "bound"}
        A bound is a right hand side of a row with one variable.
    value : float
        Where the number stands.
    price_below, price : float
        The derivative of the optimal value with respect to it, to the left and to the right; infinite where there is no
        optimum on that side.
    lower, upper : float
        From ``lower`` to ``value`` the optimal value is one parabola (of a linear program one line), and from ``value``
        to ``upper``.
    enters_below, enters_above : str
        What becomes tight or free at these ends, or why there is no optimum beyond; empty where they are infinite.
        ``"not proved: ..."`` where nothing is proved of a side: its price and its end are nan.
    bend_below, bend : float
        By how much the price grows with the number on each side: 0 for a linear program.
    """

    name: str
    index: tuple[int, ...] | None
    kind: str
    value: float
    price_below: float
    price: float
    lower: float
    upper: float
    enters_below: str
    enters_above: str
    bend_below: float = 0.0
    bend: float = 0.0


@dataclass(frozen=True, repr=False)
class Ranges(Tabular):
    """The range of every number of a program; prints as a table, a row a number.

    Attributes
    ----------
    value : float
        The optimal value.
    rows : tuple of NumberRange
    """

    value: float
    rows: tuple[NumberRange, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[NumberRange]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Ranges:
        """Those of one variable or constraint.

        Raises
        ------
        InputError
            If none is called so.
        """
        own = tuple(row for row in self.rows if row.name == name)
        if not own:
            known = ", ".join(dict.fromkeys(row.name for row in self.rows))
            raise InputError(f"name must be that of a variable or constraint, one of {known}, got {name!r:.100}")
        return replace(self, rows=own)

    def __repr__(self) -> str:
        def called(row: NumberRange) -> str:
            return row.name + ("" if row.index is None else f"[{', '.join(map(str, row.index))}]")

        width = max([6, *(len(called(row)) for row in self.rows[:SHOWN])])
        names = " ".join(f"{name:>11}" for name in ("price below", "price", "lower", "upper"))
        head = f"{'name':<{width}} {'kind':<15} {'value':>10} {names}"
        lines = [
            f"{called(row):<{width}} {row.kind:<15} {row.value:>10.4g} {row.price_below:>11.5g} {row.price:>11.5g} "
            f"{row.lower:>11.5g} {row.upper:>11.5g}"
            for row in self.rows[:SHOWN]
        ]
        return listing(head, lines, len(self), self._title())

    def _title(self) -> str:
        refused = int(np.isnan([[row.price_below, row.price] for row in self.rows]).sum())
        more = f"; not proved: {refused} of {2 * len(self)} sides" if refused else ""
        return f"optimal value {self.value:.10g}; {len(self)} numbers{more}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield {name: value for name, value in vars(row).items() if not name.startswith("bend")}


@dataclass(frozen=True)
class _Number:
    """A number of a compiled program: where it stands in q or b, its sign there, and what the user calls it."""

    name: str
    index: tuple[int, ...] | None
    kind: str
    vector: str
    place: int
    sign: float


#: One side of a number, or None where it is not known yet, and the other.
_Both = tuple[OneSide | None, OneSide | None]

#: Numbers that are worked on at a time have no more entries in the rows and columns of the program.
_ENTRIES = 2**22


@on_one_thread
def ranges(problem: Any, *, of: Any = None, n_jobs: int | None = None, progress: bool | None = None) -> Ranges:
    """How the optimal value changes with every cost, right-hand side and bound, on both sides, and how far that holds.

    Parameters
    ----------
    problem : cvxpy.Problem or QP
        A linear or quadratic program; its parameters have the values that they hold. It need not be solved.
    of : variable, constraint or name, or a list of these, optional
        Whose numbers are asked for; by default all.
    n_jobs : int, optional
        As for ``joblib.Parallel``: numbers that one basis does not decide are independent.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    Ranges
        A row a number. For a ``cvxpy.Problem``: the cost of each entry of each variable (0 where the objective has no
        linear term in it), and the constant of each row of each constraint, on the side on which it was written (on
        the right of ``<=`` where both sides have variables). Costs and bounds of variables that CVXPY added have none.

    Raises
    ------
    InputError
        If it is no linear or quadratic program, or has no optimum.
    DegeneratePathError
        If the optimum cannot be proved. Where one side of a number cannot be, its row says so.

    Notes
    -----
    One basis of the optimum gives all numbers, with proved bounds of what rounding does to them; up to 1e9 times its
    size a number has the end that is said, and an infinite one is no nearer than that. Where optimum or multipliers are
    degenerate, or several things happen at one end, a path is traced for each side that this concerns.

    A price is the derivative of the *user's* optimal value, also of a maximisation. In CVXPY's ``dual_value`` of a
    degenerate problem one number stands for what are two prices here.

    Examples
    --------
    Two goods, a budget, and no more than 4 of the first:

    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x = cp.Variable(2, name="x")
    >>> rows = [(x[0] + x[1] <= 6).set_label("budget"), (x[0] <= 4).set_label("cap"), (x >= 0).set_label("sign")]
    >>> found = pc.ranges(cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1]), rows), progress=False)
    >>> found["budget"]
    name   kind                 value price below       price       lower       upper
    budget right hand side          6           2           2           4         inf
    optimal value 16; 1 numbers
    >>> [(row.index, row.price, row.lower, row.upper) for row in found["x"]]
    [((0,), 4.0, 2.0, inf), ((1,), 2.0, 0.0, 3.0)]
    """
    try:
        line, flips = _stated(problem)
    except NeedsConeError as error:
        raise InputError(
            f"{error}, and ranges are of linear and quadratic programs: write the number that is meant as a Parameter, "
            "of which derivatives bounds the slope of the value"
        ) from None
    numbers = _numbers(line, flips)
    if of is not None:
        chosen = of if isinstance(of, list | tuple) else [of]
        numbers = _asked(numbers, [name_in(problem, each) for each in chosen])
    x, z = optimum(line)
    value = line.value(x, 0.0)
    rows = list[NumberRange | None]()
    left = list[tuple[_Number, _Both]]()
    decided = _by_basis(line, basis_at(line, x, z), numbers)
    for number, (below, above) in zip(numbers, decided, strict=True):
        if below is None or above is None:
            left.append((number, (below, above)))
            rows.append(None)
        else:
            rows.append(_row(line, number, below, above))
    work = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_completed)(line, *each) for each in left)
    count = len(numbers)
    traced = iter(list(counted(work, "ranges", count, progress, count - len(left))))
    return Ranges(value, tuple(row or next(traced) for row in rows))


def _stated(problem: Any) -> tuple[ProgramLine, set[str]]:
    """The program at the values that its parameters have, and constraints whose constant stands on the left."""
    source = source_here(problem)
    flipped = set()
    for k, row in enumerate([] if isinstance(problem, QP) else problem.constraints):
        if len(row.args) == 2 and not row.args[0].variables() and row.args[1].variables():
            flipped.add(str(row.label or f"constraint {k}"))
    return source.line, flipped


def _numbers(line: ProgramLine, flipped: set[str]) -> list[_Number]:
    """Costs of the user's variables, and constants of the user's rows, in their order; each number once."""
    found, seen = list[_Number](), set[tuple[str, int]]()
    single = np.diff(sp.csr_array(line.A).indptr) == 1

    def add(name: str, index: tuple[int, ...] | None, kind: str, vector: str, place: int, sign: float) -> None:
        if (vector, place) not in seen:
            seen.add((vector, place))
            found.append(_Number(name, index, kind, vector, place, sign))

    for vector, readings in (("q", line.variables), ("b", line.multipliers)):
        for name, reading in readings.items():
            places, factors = (np.atleast_2d(each.T).T for each in (reading.place, reading.factor))
            for k, index in enumerate(np.ndindex(*reading.shape)):
                for place, factor in zip(places[k].tolist(), factors[k].tolist(), strict=True):
                    if factor:
                        if vector == "q":
                            kind, sign = "cost", float(line.sense)
                        else:
                            kind = "bound" if single[place] else "right hand side"
                            sign = -1.0 if name in flipped else float(factor)
                        add(name, index or None, kind, vector, place, sign)
    own = dict[int, tuple[str, tuple[int, ...]]]()
    for name, reading in line.variables.items():
        for column, factor, index in zip(
            reading.place.tolist(), reading.factor, np.ndindex(*reading.shape), strict=True
        ):
            if factor:
                own.setdefault(column, (name, index))
    rows = sp.csr_array(line.A)
    for i in np.flatnonzero(single).tolist():  # what the attributes of a variable say has no multiplier of the user's
        j, a = int(rows.indices[rows.indptr[i]]), float(rows.data[rows.indptr[i]])
        if j in own:
            add(own[j][0], own[j][1] or None, "bound", "b", i, a)
    return found


def _asked(numbers: list[_Number], names: list[str]) -> list[_Number]:
    """The numbers of some variables and constraints."""
    known = list(dict.fromkeys(number.name for number in numbers))
    for name in names:
        if name not in known:
            raise InputError(f"of must have variables and constraints among {', '.join(known)}, got {name!r:.100}")
    return [number for number in numbers if number.name in names]


def _value(line: ProgramLine, number: _Number) -> float:
    """Where a number stands, as the user wrote it."""
    return float(getattr(line, number.vector)[0, number.place]) / number.sign + 0.0


def _unit(line: ProgramLine, number: _Number) -> float:
    """A length that is natural for a number: its size, or that of the others of its kind where it is 0."""
    data = getattr(line, number.vector)[0]
    sizes = np.abs(data[data != 0.0])
    return abs(_value(line, number)) or float(np.median(sizes) if sizes.size else 1.0)


def _by_basis(line: ProgramLine, basis: Basis | None, numbers: Sequence[_Number]) -> Iterator[_Both]:
    """Both sides of each number, as far as one basis decides them."""
    if basis is None:
        yield from ((None, None) for _ in numbers)
        return
    count = max(1, _ENTRIES // (line.n + line.m))
    for begin in range(0, len(numbers), count):
        some = numbers[begin : begin + count]
        costs = np.zeros((line.n, len(some)))
        bounds = np.zeros((line.m, len(some)))
        for column, number in enumerate(some):
            moves = costs if number.vector == "q" else bounds
            moves[number.place, column] = number.sign
        units = np.array([_unit(line, number) for number in some])
        yield from sides(basis, costs, bounds, units)


def _completed(line: ProgramLine, number: _Number, known: _Both) -> NumberRange:
    """The range of a number: what is not known is traced; nan, with the reason, where that is refused."""
    found = []
    for side, sign in zip(known, (-1.0, 1.0), strict=True):
        try:
            found.append(side or _traced(line, number, sign))
        except DegeneratePathError as error:
            found.append(OneSide(np.nan, np.nan, np.nan, f"not proved: {error.cause}"))
    return _row(line, number, *found)


def _traced(line: ProgramLine, number: _Number, sign: float) -> OneSide:
    """One side of a number, by a path."""
    data, value = getattr(line, number.vector)[0], _value(line, number)

    def source_at(begin: float, end: float) -> Any:
        moved: Any = np.stack([data, data])
        moved[:, number.place] += number.sign * sign * np.array([begin, end])
        ends = tuple({"number": np.array(value + sign * away)} for away in (begin, end))
        return SimpleNamespace(line=replace(line, **{number.vector: moved}), ends=ends, seconds=0.0)

    found = beside(source_at, _unit(line, number))
    return OneSide(found.rate, found.bend, found.until, found.after)


def _row(line: ProgramLine, number: _Number, below: OneSide, above: OneSide) -> NumberRange:
    """The range of one number."""
    value = _value(line, number)
    return NumberRange(
        name=number.name,
        index=number.index,
        kind=number.kind,
        value=value,
        price_below=0.0 - below.rate,
        price=above.rate,
        lower=value - below.until,
        upper=value + above.until,
        enters_below=below.after,
        enters_above=above.after,
        bend_below=below.bend,
        bend=above.bend,
    )
