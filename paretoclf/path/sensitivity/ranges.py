r"""Ranges: how the optimal value of a program changes with each of its numbers, and how far that holds.

Every cost :math:`q_j`, right-hand side and bound :math:`b_i` is moved alone, up and down. One certified basis of the
optimum says what that does (`paretoclf.path.sensitivity.both_sides`); where it does not decide, an exact path that is
proved (`paretoclf.path.sensitivity.one_sided`). The optimal value is piecewise linear in such a number for a linear
program, piecewise quadratic for a quadratic one, concave in a cost and convex in a right-hand side of a minimisation.
The price is its derivative: to the right and to the left of where the number stands, and they differ where an optimum
is degenerate. A price holds until the value is no longer the same line (or parabola); the texts say what becomes tight,
or free, there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError, NeedsConeError
from paretoclf.common.progress import counted
from paretoclf.common.tables import SHOWN, Tabular, frame, listing
from paretoclf.common.threads import on_one_thread
from paretoclf.engine.reduction.program import ProgramLine, Reading
from paretoclf.path.base.named import name_in
from paretoclf.path.base.term_names import TermNames, rows_of_largest
from paretoclf.path.base.user_rows import UserRows
from paretoclf.path.programs.optimum import optimum
from paretoclf.path.sensitivity.both_sides import OneSide, sides
from paretoclf.path.sensitivity.certified import ProvedOptimum
from paretoclf.path.sensitivity.number_range import NumberRange, called, is_called
from paretoclf.path.sensitivity.one_sided import beside
from paretoclf.path.sensitivity.optimal_basis import Basis, basis_at, times
from paretoclf.path.sensitivity.report import report_rows
from paretoclf.path.tracing import source_here
from paretoclf.problem.integers import said_of
from paretoclf.problem.qp import QP
from paretoclf.proof.files.ranges_certificate import FoundMove, RangesProof, SideInDoubles


@dataclass(frozen=True, repr=False)
class Ranges(Tabular):
    """The range of every number of a program; prints as a table, a row a number.

    Attributes
    ----------
    value : float
        The optimal value.
    rows : tuple of NumberRange
    bounds : mapping of str to tuple of NumberRange
        By the names of the variables whose costs are there the ranges of their own bounds, also where only costs were
        asked for.
    optimum : ProvedOptimum, optional
        The compiled program, and its optimum.
    note : str
        What became of the integers of a file.
    """

    value: float
    rows: tuple[NumberRange, ...]
    bounds: Mapping[str, tuple[NumberRange, ...]] = field(default_factory=dict)
    optimum: ProvedOptimum | None = field(default=None, repr=False, kw_only=True)
    note: str = field(default="", kw_only=True)

    @property
    def proof(self) -> RangesProof:
        """Writer of the certificate file of these ranges: ``found.proof.save(file)``."""
        if self.optimum is None:
            raise InputError(
                "a certificate is of ranges that were found by ranges(problem), and these are made by hand"
            )
        return RangesProof(partial(self.optimum.certificate, [_movement(row, self.optimum.line) for row in self.rows]))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[NumberRange]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Ranges:
        """Ranges of one variable or constraint, or of an entry of it, as ``x[0]``.

        Raises
        ------
        InputError
            If none is called so.
        """
        own = tuple(row for row in self.rows if is_called(row, name))
        if not own:
            known = ", ".join(dict.fromkeys(row.name for row in self.rows))
            raise InputError(f"name must be that of a variable or constraint, one of {known}, got {name!r:.100}")
        return replace(self, rows=own)

    def report(self) -> list[dict[str, Any]]:
        """Lines of a sensitivity report, as dictionaries: see `to_frame`."""
        return list(report_rows(self.rows, self.bounds))

    def to_frame(self, style: str = "ranges") -> Any:
        """Convert the table to a ``pandas.DataFrame``.

        Parameters
        ----------
        style : {"ranges", "report"}
            A row for each number, with its prices and its range; or the lines of a sensitivity report, as spreadsheets
            and modelling systems have them: of each variable the final value, reduced cost, objective coefficient,
            allowable increase and decrease; of each constraint the final value, shadow price, slack, right-hand side,
            allowable increase and decrease. "price of a decrease" is another price only where the note says degenerate.
            Where a note says "not unique", variables and left sides have the values of one optimum of many;
            "final value of an increase" and "of a decrease" are those of a variable when its coefficient moves.

        Raises
        ------
        InputError
            If pandas, which is optional, is not installed.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import paretoclf as pc
        >>> x = cp.Variable(nonneg=True, name="x")
        >>> found = pc.ranges(cp.Problem(cp.Maximize(3 * x), [(2 * x <= 8).set_label("cap")]))
        >>> found.report()[1]["shadow price"], found.report()[1]["allowable decrease"]
        (1.5, 8.0)
        """
        if style not in ("ranges", "report"):
            raise InputError(f"style must be 'ranges' or 'report', got {style!r:.100}")
        return frame(self.report()) if style == "report" else super().to_frame()

    def plot(self, share: Any = 0.1, ax: Any = None) -> Any:
        """Draw what a change of each number does to the optimal value; of one number its price over its range.

        Parameters
        ----------
        share : float
            By which share of its size each number is moved, up and down, but no further than its range.
        ax : Axes, optional
        """
        if isinstance(share, str):
            raise InputError(
                f"share must be a number, got {share!r:.100}: ranges[{share!r:.100}].plot() draws that price"
            )
        from paretoclf.plotting.ranges import RangesDisplay  # matplotlib only when a picture is wanted

        return RangesDisplay.from_ranges(self, share).plot(ax=ax)

    def __repr__(self) -> str:
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
        note = f"; {self.note}" if self.note else ""
        return f"optimal value {self.value:.10g}; {len(self)} numbers{more}{note}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield {name: getattr(row, name) for name in _SHOWN_OF_ROW}


#: Columns of the table of ranges.
_SHOWN_OF_ROW = (
    *("name", "index", "kind", "value", "price_below", "price"),
    *("lower", "upper", "enters_below", "enters_above"),
)


@dataclass(frozen=True)
class _Number:
    """A number of a compiled program: where it stands in q or b, its sign there, and what the user calls it.

    ``variable`` is the one whose own bound it is.
    """

    name: str
    index: tuple[int, ...] | None
    kind: str
    vector: str
    place: int
    sign: float
    variable: str = ""

    @property
    def called(self) -> str:
        """Name with its entry."""
        return called(self)


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
        Whose numbers are asked for, or which entries, as ``"x[0]"``; by default all.
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
        source, flips = _stated(problem)
    except NeedsConeError as error:
        raise InputError(
            f"{error}, and ranges are of linear and quadratic programs: write the number that is meant as a Parameter, "
            "of which derivatives bounds the slope of the value"
        ) from None
    line = source.line
    every = _numbers(line, flips)
    asked = every
    if of is not None:
        chosen = of if isinstance(of, list | tuple) else [of]
        asked = _asked(every, [name_in(problem, each) for each in chosen])
    costs = {number.called for number in asked if number.vector == "q"}
    listed = set(asked)
    numbers = [*asked, *(each for each in every if each.variable in costs and each not in listed)]
    x, z = optimum(line)
    rows = list[NumberRange | None]()
    left = list[tuple[_Number, float, _Both]]()
    basis = basis_at(line, x, z)
    decided = _by_basis(line, basis, numbers, cache(lambda: rows_of_largest(source, UserRows.of(line).stated)))
    for number, final, (below, above) in zip(numbers, _finals(line, x, basis, numbers), decided, strict=True):
        if below is None or above is None:
            left.append((number, final, (below, above)))
            rows.append(None)
        else:
            rows.append(_row(line, number, final, below, above))
    work = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_completed)(line, *each) for each in left)
    count = len(numbers)
    traced = iter(list(counted(work, "ranges", count, progress, count - len(left))))
    found = [row or next(traced) for row in rows]
    bounds = {name: list[NumberRange]() for name in costs}
    for row in found:
        if row.variable in bounds:
            bounds[row.variable].append(row)
    of_variables = {name: tuple(own) for name, own in bounds.items()}
    note, proved = said_of(problem.integers) if isinstance(problem, QP) else "", ProvedOptimum(line, x, z)
    return Ranges(line.value(x, 0.0), tuple(found[: len(asked)]), of_variables, optimum=proved, note=note)


def _finals(line: ProgramLine, x: Array, basis: Basis | None, numbers: Sequence[_Number]) -> list[float]:
    """Values of variables of which numbers are costs, and left sides of rows as the user wrote them, at the optimum."""
    sides = line.A @ x
    if basis is not None:
        own = basis.optimum.x
        x = np.where(own.is_zero[:, 0], 0.0, x)
        sides = np.where(times(line.A, own).is_zero[:, 0], 0.0, sides)
    finals = [x[each.place] if each.vector == "q" else sides[each.place] / each.sign for each in numbers]
    return [float(final) + 0.0 for final in finals]


def _stated(problem: Any) -> tuple[Any, set[str]]:
    """The line at the values that parameters have, and constraints whose constant stands on the left."""
    source = source_here(problem)
    flipped = set()
    for k, row in enumerate([] if isinstance(problem, QP) else problem.constraints):
        if len(row.args) == 2 and not row.args[0].variables() and row.args[1].variables():
            flipped.add(str(row.label or f"constraint {k}"))
    return source, flipped


def _numbers(line: ProgramLine, flipped: set[str]) -> list[_Number]:
    """Costs of the user's variables, and constants of the user's rows, in their order; each number once."""
    found = dict[tuple[str, int], _Number]()
    rows, owners = sp.csr_array(line.A), _owners(line)
    single = np.diff(rows.indptr) == 1
    for vector, readings in (("q", line.variables), ("b", line.multipliers)):
        for name, reading in readings.items():
            for index, place, factor in _places(reading):
                if vector == "q":
                    number = _Number(name, index, "cost", vector, place, float(line.sense))
                else:
                    kind = "bound" if single[place] else "right hand side"
                    sign = -1.0 if name in flipped else factor
                    owner = owners.get(int(rows.indices[rows.indptr[place]])) if single[place] else None
                    mine = owner is not None and name == f"bound of {owner.called}"
                    number = _Number(name, index, kind, vector, place, sign, owner.called if owner and mine else "")
                found.setdefault((vector, place), number)
    for i in np.flatnonzero(single).tolist():  # what the attributes of a variable say has no multiplier of the user's
        begin = rows.indptr[i]
        owner = owners.get(int(rows.indices[begin]))
        if owner is not None:
            number = _Number(owner.name, owner.index, "bound", "b", i, float(rows.data[begin]), owner.called)
            found.setdefault(("b", i), number)
    return list(found.values())


@dataclass(frozen=True)
class _Owner:
    """The entry of a variable that a column is."""

    name: str
    index: tuple[int, ...] | None

    @property
    def called(self) -> str:
        return called(self)


def _owners(line: ProgramLine) -> dict[int, _Owner]:
    """The entry of the user's variables that each column is."""
    found = dict[int, _Owner]()
    for name, reading in line.variables.items():
        for index, column, _ in _places(reading):
            found.setdefault(column, _Owner(name, index))
    return found


def _places(reading: Reading) -> Iterator[tuple[tuple[int, ...] | None, int, float]]:
    """Entries of a variable or constraint, each with a place where it stands in the program and its factor there."""
    places, factors = (np.atleast_2d(each.T).T for each in (reading.place, reading.factor))
    for k, index in enumerate(np.ndindex(*reading.shape)):
        for place, factor in zip(places[k].tolist(), factors[k].tolist(), strict=True):
            if factor:
                yield index or None, place, float(factor)


def _asked(numbers: list[_Number], names: list[str]) -> list[_Number]:
    """The numbers of some variables and constraints."""
    known = list(dict.fromkeys(number.name for number in numbers))
    for name in names:
        if not any(is_called(number, name) for number in numbers):
            raise InputError(f"of must have variables and constraints among {', '.join(known)}, got {name!r:.100}")
    return [number for number in numbers if any(is_called(number, name) for name in names)]


def _value(line: ProgramLine, number: _Number) -> float:
    """Where a number stands, as the user wrote it."""
    return float(getattr(line, number.vector)[0, number.place]) / number.sign + 0.0


def _unit(line: ProgramLine, number: _Number) -> float:
    """A length that is natural for a number: its size, or that of the others of its kind where it is 0."""
    data = getattr(line, number.vector)[0]
    sizes = np.abs(data[data != 0.0])
    return abs(_value(line, number)) or float(np.median(sizes) if sizes.size else 1.0)


def _by_basis(
    line: ProgramLine, basis: Basis | None, numbers: Sequence[_Number], terms: Callable[[], TermNames]
) -> Iterator[_Both]:
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
        yield from sides(basis, costs, bounds, units, terms)


def _completed(line: ProgramLine, number: _Number, final: float, known: _Both) -> NumberRange:
    """The range of a number: what is not known is traced; nan, with the reason, where that is refused."""
    found = []
    for side, sign in zip(known, (-1.0, 1.0), strict=True):
        try:
            found.append(side or _traced(line, number, sign))
        except DegeneratePathError as error:
            found.append(OneSide(np.nan, np.nan, np.nan, f"not proved: {error.cause}"))
    return _row(line, number, final, *found)


def _traced(line: ProgramLine, number: _Number, sign: float) -> OneSide:
    """One side of a number, by a path."""
    data, value = getattr(line, number.vector)[0], _value(line, number)

    def source_at(begin: float, end: float) -> Any:
        moved: Any = np.stack([data, data])
        moved[:, number.place] += number.sign * sign * np.array([begin, end])
        ends = tuple({"number": np.array(value + sign * away)} for away in (begin, end))
        return SimpleNamespace(line=replace(line, **{number.vector: moved}), ends=ends, seconds=0.0)

    found = beside(source_at, _unit(line, number))
    bend = found.bend if line.P.nnz else 0.0  # of a linear program the value is piecewise linear in one number
    return OneSide(found.rate, bend, found.until, found.said)


def _row(line: ProgramLine, number: _Number, final: float, below: OneSide, above: OneSide) -> NumberRange:
    """The range of one number, whose variable or left side is ``final`` at the optimum."""
    value = _value(line, number)
    side = ""
    if number.variable and number.place >= line.equations:
        side = "lower" if number.sign < 0.0 else "upper"
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
        final=final,
        variable=number.variable,
        side=side,
        place=(number.vector, number.place, number.sign),
    )


def _movement(row: NumberRange, line: ProgramLine) -> FoundMove:
    """The movement of a number as its certificate has it, and what was proved of its sides."""
    vector, place, sign = row.place
    fields = ["q"] if vector == "q" else ["upper"]
    if vector == "b" and place < line.equations:
        fields.append("lower")
    item = place if vector == "q" else line.n + place
    sides = [
        None if np.isnan(price) else SideInDoubles(price, abs(end - row.value))
        for price, end in ((row.price_below, row.lower), (row.price, row.upper))
    ]
    return FoundMove(f"{called(row)} ({row.kind})", [(name, item, Fraction(sign)) for name in fields], *sides)
