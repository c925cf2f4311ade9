"""Derivatives of an optimum with respect to parameters, exact, on both sides, with how far they hold.

Along a direction in which the parameters move, the optimal value of a linear or quadratic program has a derivative on
each side, always. So have the optimum and its multipliers where they are the same in all optima, at the point and
beside it (`paretoclf.path.base.uniqueness`); elsewhere they jump, or are not unique, and have none. The rates are
those of one certified basis (`paretoclf.path.sensitivity.optimal_basis`); where it is degenerate, of an exact path on
each side, which is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, check_positive_number, real_array
from paretoclf.common.errors import InputError, MovesMatrixError, NeedsConeError
from paretoclf.common.tables import listing
from paretoclf.common.threads import on_one_thread
from paretoclf.engine.reduction.program import ProgramLine, Reading, beside_the_value, between, told_apart
from paretoclf.path.base.named import name_in
from paretoclf.path.base.points import shown
from paretoclf.path.base.uniqueness import undetermined
from paretoclf.path.programs.optimum import optimum, standing
from paretoclf.path.sensitivity.both_sides import Reach
from paretoclf.path.sensitivity.certified import ProvedOptimum
from paretoclf.path.sensitivity.one_sided import Beside, beside
from paretoclf.path.sensitivity.optimal_basis import Basis, basis_at
from paretoclf.path.sensitivity.slope_bounds import slope_bounds
from paretoclf.path.tracing import source_between
from paretoclf.problem.integers import said_of
from paretoclf.problem.qp import QP
from paretoclf.proof.files.ranges_certificate import Entry, FoundMove, RangesProof, SideInDoubles
from paretoclf.proof.verdicts.report import Report
from paretoclf.solve.entries import entries
from paretoclf.solve.sources.parameter_entries import by_parameter

if TYPE_CHECKING:
    from paretoclf.path.programs.eps_path import SlopeBounds

#: Lengths of a direction that are tried, each a tenth of the one before, until its parameters may have such values.
_TENTHS = 16
#: Rates of both sides that differ by no more than this of their size are one; or by no more than this of the size of
#: what they are rates of, over that of what moves.
_SAME, _ROUNDED = 1e-9, 1e-12
#: So many entries that are not 0 are printed by their names.
_PRINTED = 6


@dataclass(frozen=True, repr=False)
class OneSided:
    """Rates on one side of a point, for a unit of the direction.

    Attributes
    ----------
    value : float
        Rate of the optimal value; infinite where there is no optimum on this side.
    variables, duals : mapping of str to number or array
        Rates of the variables, and of the multipliers with CVXPY's signs (OSQP's of a `QP`); nan where there is none.
    until : float
        They hold up to so many units from the point; infinite where that is for ever.
    undefined : mapping of str to str
        Variables and constraints that have a nan, and why: ``"jumps from 1 to 0"``, or ``"not unique"``.
    """

    value: float
    variables: Mapping[str, Any]
    duals: Mapping[str, Any]
    until: float
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        said, zeros = [f"value {self.value:.6g}"], 0
        rates = told_apart(None, self.variables, self.duals)
        for name in list(rates)[1:]:
            if name in self.undefined:
                said.append(f"{name} {self.undefined[name]}")
                continue
            own, left_out = _not_zero(name, rates[name])
            said += own
            zeros += left_out
        others = [f"{zeros} {'other rates are' if len(said) > 1 else 'rates are'} 0"] if zeros else []
        return f"{', '.join([*said, *others])}, until {self.until:.6g}"


@dataclass(frozen=True)
class AtPoint:
    """The sizes at a point that rates are compared with: of value, variables and multipliers, and of what moves.

    Attributes
    ----------
    levels : mapping of str to number or array
        ``"value"``, and variables and multipliers by name.
    variables : tuple of str
        Which of these are variables.
    unit : float
        So many units of the direction are the size of the parameters.
    """

    levels: Mapping[str, Any]
    variables: tuple[str, ...]
    unit: float

    def like(self, name: str) -> tuple[str, ...]:
        """All names of its kind: variables, or multipliers."""
        if name == "value":
            return (name,)
        inside = name in self.variables
        return tuple(own for own in self.levels if own != "value" and (own in self.variables) == inside)

    def natural(self, name: str) -> float:
        """Its largest entry at the point, over the size of what moves."""
        return _size(self.levels[name]) / self.unit

    def noise(self, name: str) -> float:
        """The most that rounding may move its rate: a variable that is 0 is known as well as the others."""
        return _ROUNDED * max(self.natural(own) for own in self.like(name))


#: The point of derivatives that were made by hand.
_NOWHERE = AtPoint({}, (), 1.0)


@dataclass(frozen=True, repr=False)
class Derivatives:
    """Derivatives of an optimum in one direction of its parameters.

    Attributes
    ----------
    direction : mapping of str to number or array
        By what the parameters move in a unit.
    value : float
        The optimal value.
    left, right : OneSided or None
        Rates against the direction, and along it; None where the parameters may not have such values.
    problem : cvxpy.Problem or QP
    optimum : ProvedOptimum, optional
        The compiled program, and its optimum.
    entries : tuple
        By what its data move in a unit, as its certificate has it.
    """

    direction: Mapping[str, Any]
    value: float
    left: OneSided | None
    right: OneSided | None
    problem: Any = field(repr=False)
    keys: tuple[Any, ...] = field(default=(), repr=False)
    at_point: AtPoint = field(default=_NOWHERE, repr=False)
    optimum: ProvedOptimum | None = field(default=None, repr=False, kw_only=True)
    entries: tuple[Entry, ...] = field(default=(), repr=False, kw_only=True)

    @property
    def proof(self) -> RangesProof:
        """Writer of the certificate file of these rates: ``found.proof.save(file)``."""
        if self.optimum is None:
            raise InputError("a certificate is of derivatives that were found, and these are made by hand")
        rates = [None if side is None else SideInDoubles(side.value) for side in (self.left, self.right)]
        name = ", ".join(f"{name} by {shown(value)}" for name, value in self.direction.items())
        return RangesProof(partial(self.optimum.certificate, [FoundMove(name, self.entries, *rates)]))

    @property
    def two_sided(self) -> bool:
        """Whether the value, every variable and every multiplier has one finite rate on both sides."""
        if self.left is None or self.right is None or self.left.undefined or self.right.undefined:
            return False
        left, right = _every(self.left), _every(self.right)
        if left.keys() != right.keys():
            return False
        noise = self.at_point.noise
        return all(_same(rate, right[name], noise(name)) for name, rate in left.items())

    def jacobian(self) -> dict[str, dict[str, Any]]:
        """Derivatives of value, variables and multipliers in every entry of the direction's parameters, by names.

        Returns
        -------
        mapping of str to mapping of str to array
            For each parameter ``"value"`` (its shape), and every variable and constraint by its name (its shape, then
            that of the parameter).

        Raises
        ------
        InputError
            If the optimum is not differentiable in all of these entries: columns would be no derivative then.

        Notes
        -----
        Where each entry alone has two-sided rates, so has every combination of them: a row that is tight with
        multiplier 0 stays so along each of them both ways, and thus along their sums.
        """
        found: dict[str, dict[str, Any]] = {}
        for key in self.keys:
            shape = () if isinstance(self.problem, QP) else tuple(key.shape)
            columns = []
            for index in np.ndindex(*shape):
                unit = np.zeros(shape)
                unit[index] = 1.0
                column = _exact(self.problem, {key: unit})
                if not column.two_sided or column.right is None:
                    where = f"{_called(key)}{list(index) if index else ''}"
                    raise InputError(
                        f"the optimum must be differentiable for a Jacobian, got one-sided rates in {where}: ask for "
                        "the derivatives in the direction that is meant"
                    )
                columns.append(_every(column.right))
            own = {name: np.stack([np.asarray(each[name]) for each in columns], axis=-1) for name in columns[0]}
            found[_called(key)] = {name: each.reshape(each.shape[:-1] + shape) for name, each in own.items()}
        return found

    def judge(self, gradient: Mapping[Any, Any], tol: float = 1e-6) -> JudgedGradient:
        """Judge rates along this direction that somebody else computed, such as a differentiable layer.

        Parameters
        ----------
        gradient : mapping of variable, constraint or name to number or array
            Rates of variables (as ``variable.delta`` after ``problem.derivative()``), of multipliers, or of
            ``"value"``.
        tol : float
            How far a right one may be off, relative to the largest rate of its name on either side, or to its largest
            entry at the point over the size of what moves, if that is more. Where both are 0, to those of the others.

        Returns
        -------
        JudgedGradient
            Each is ``"right"``; ``"right derivative"`` or ``"left derivative"``, which are one-sided; ``"wrong"``; or
            ``"none"`` where there is no derivative to be right about.
        """
        tol = check_positive_number(tol, "tol")
        if not isinstance(gradient, Mapping):
            raise InputError(f"gradient must map variables or constraints to their rates, got {gradient!r:.100}")
        rows = []
        for key, given in gradient.items():
            name = _key_of(self.problem, key)
            levels = self.at_point.levels
            if name not in levels:
                raise InputError(f"gradient must have keys among {', '.join(levels)}, got {name!r:.100}")
            own, shape = real_array(given, f"gradient[{name}]"), np.shape(levels[name])
            if own.shape != shape:
                raise InputError(f"gradient[{name}] must have shape {shape}, got {own.shape}")
            rows.append(self._judged(name, own, tol))
        return JudgedGradient(tuple(rows), tol)

    def _sides(self) -> tuple[tuple[str, OneSided | None], ...]:
        return ("left", self.left), ("right", self.right)

    def _scale(self, name: str) -> float:
        """How large a rate of this name is here."""
        sides = [_every(side) for side in (self.left, self.right) if side is not None]

        def largest(names: Sequence[str]) -> float:
            rates = (_size(each[own]) for each in sides for own in names if own in each)
            return max([*rates, *(self.at_point.natural(own) for own in names)], default=0.0)

        return largest([name]) or largest(self.at_point.like(name)) or 1.0 / self.at_point.unit

    def _judged(self, name: str, own: Array, tol: float) -> JudgedRate:
        """The verdict on one name."""
        scale = self._scale(name)
        why, off = {}, {}
        for side, found in self._sides():
            if found is None:
                continue
            rates = _every(found)
            if name in found.undefined:
                why[side] = found.undefined[name]
            elif name in rates:
                off[side] = _off(own, rates[name]) / scale
        fits = [side for side, size in off.items() if size <= tol]
        if not off:
            return JudgedRate(name, "none", float("nan"), next(iter(why.values()), "no optimum beside the point"))
        if len(fits) == 2:
            return JudgedRate(name, "right", max(off.values()), "")
        if fits:
            other = "the other side has another rate" if len(off) == 2 else "there is none on the other side"
            return JudgedRate(name, f"{fits[0]} derivative", off[fits[0]], other)
        return JudgedRate(name, "wrong", min(off.values()), next(iter(why.values()), ""))

    def __repr__(self) -> str:
        moving = ", ".join(f"{name} by {shown(value)}" for name, value in self.direction.items())
        kind = "one rate on both sides" if self.two_sided else "one-sided"
        head = f"derivatives along {moving}: {kind}; value {self.value:.10g}"
        if isinstance(self.problem, QP) and self.problem.integers:
            head += f"; {said_of(self.problem.integers)}"
        return "\n".join([head, *(f"  {side}: {rates or 'not allowed'!r}" for side, rates in self._sides())])


@dataclass(frozen=True)
class JudgedRate:
    """The verdict on the rates of one name: see `Derivatives.judge`."""

    name: str
    verdict: str
    error: float
    why: str


@dataclass(frozen=True, repr=False)
class JudgedGradient(Report):
    """Verdicts on somebody's rates; prints as a table.

    Attributes
    ----------
    rows : tuple of JudgedRate
    tol : float
    """

    rows: tuple[JudgedRate, ...]
    tol: float

    #: The verdict on a rate that is right, on both sides.
    passing = "right"

    @property
    def verdicts(self) -> list[str]:
        """Verdict on the rates of each name."""
        return [row.verdict for row in self.rows]

    def __repr__(self) -> str:
        lines = [f"{row.name:<16} {row.verdict:<16} {row.error:>9.1e}  {row.why}".rstrip() for row in self.rows]
        return listing(f"{'name':<16} {'verdict':<16} {'off by':>9}", lines, len(lines), self._title())

    def _title(self) -> str:
        right = sum(row.verdict == "right" for row in self.rows)
        return f"{right} of {len(self.rows)} are right to {self.tol:g}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield from (dict(vars(row)) for row in self.rows)


@on_one_thread
def derivatives(problem: Any, direction: Mapping[Any, Any]) -> Derivatives | SlopeBounds:
    """Left and right derivatives of an optimum in a direction of its parameters, and how far they hold.

    Parameters
    ----------
    problem : cvxpy.Problem or QP
        A linear or quadratic program; its parameters have the values that they hold. Any other convex problem, and one
        of which a parameter moves the quadratic term, has bounds of its value's slopes, and nothing of its solution.
    direction : mapping of cvxpy.Parameter or str to number or array
        By what each parameter moves in a unit, by itself or by its name; what is left out stays.

    Returns
    -------
    Derivatives or SlopeBounds
        For a problem with norms, logarithms or semidefinite matrices: between which numbers every slope of the optimal
        value is, on both sides, for a unit of the direction.

    Raises
    ------
    InputError
        If it is no convex problem, a parameter moves a coefficient of a constraint, the direction is 0, or there is no
        optimum at the point (or beside it, where it has cones).
    DegeneratePathError
        If what happens beside the point cannot be proved.

    Examples
    --------
    The least (a - 1) x on [0, 1], at a = 1: the value has two slopes, and x jumps.

    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    >>> found = pc.derivatives(cp.Problem(cp.Minimize((a - 1) * x), [x >= 0, x <= 1]), {a: 1.0})
    >>> found.left.value, found.right.value, found.right.undefined["x"]
    (1.0, 0.0, 'jumps from 1 to 0')
    >>> found.judge({x: 0.0}).rows[0].verdict
    'none'
    """
    if not isinstance(direction, Mapping) or not direction:
        raise InputError(f"direction must map parameters to numbers or arrays, got {direction!r:.100}")
    if not isinstance(problem, QP):
        direction = by_parameter(problem, direction, "direction", zero=True)
    moved = {key: real_array(value, f"direction[{_called(key)}]") for key, value in direction.items()}
    size = max((float(np.abs(value).max(initial=0.0)) for value in moved.values()), default=0.0)
    if not (np.isfinite(size) and size > 0.0):
        raise InputError(f"direction must be finite, and not 0, got {direction!r:.100}")
    line = _Direction.of(problem, moved, size)
    most = {sign: line.furthest(sign) for sign in (-1.0, 1.0)}
    if not any(most.values()):
        raise InputError("direction must be one in which the parameters may move, got one that leaves what they allow")
    sign = 1.0 if most[1.0] else -1.0
    reach = min(line.unit, most[sign])
    try:
        compiled = line.source(sign, 0.0, reach).line
    except (NeedsConeError, MovesMatrixError):
        return slope_bounds(problem, line.values, line.unit, min(most.values()))
    still = standing(compiled)
    x, z = optimum(still)
    basis = basis_at(still, x, z)
    rates = None if basis is None else _by_basis(basis, compiled, sign * reach, most)
    left, right = rates or _by_paths(line, most)
    levels = told_apart(compiled.value(x, 0.0), compiled.values(x, 0.0), compiled.duals(z))
    named = {_called(key): value if value.ndim else float(value) for key, value in moved.items()}
    variables = tuple(beside_the_value(name, "x") for name in compiled.variables)
    at_point = AtPoint(levels, variables, line.unit)
    return Derivatives(
        named,
        compiled.value(x, 0.0),
        left,
        right,
        problem,
        tuple(moved),
        at_point,
        optimum=ProvedOptimum(still, x, z),
        entries=tuple(_entries(compiled, Fraction(sign * reach))),
    )


def _entries(line: ProgramLine, length: Fraction) -> Iterator[Entry]:
    """Entries of what the data of a line of this length move in a unit, without rounding."""
    fields = ("q", line.q, 0), ("upper", line.b, line.n), ("lower", line.b[:, : line.equations], line.n)
    for name, ends, first in (*fields, ("constant", line.constant[:, None], 0)):
        for place in np.flatnonzero(ends[0] != ends[1]).tolist():
            rate = (Fraction(float(ends[1, place])) - Fraction(float(ends[0, place]))) / length
            yield name, first + place, rate


#: Rates on the left and on the right; None where the parameters may not go.
_Both = tuple[OneSided | None, OneSided | None]


@dataclass(frozen=True)
class _Direction:
    """Parameters of a problem, and by what they move in a unit; so many units are about their size."""

    problem: Any
    at: Mapping[Any, Array]
    moved: Mapping[Any, Array]
    unit: float

    @classmethod
    def of(cls, problem: Any, moved: Mapping[Any, Array], size: float) -> _Direction:
        """The direction at the point where the parameters stand; ``size`` is the largest of what moves."""
        if isinstance(problem, QP):
            at = {key: np.array(problem.values.get(key, 0.0)) for key in moved}
        else:
            at = {key: np.array(_value_of(key), dtype=float) for key in moved}
        for key, rate in moved.items():
            if rate.shape not in ((), at[key].shape):
                allowed = f"shape {at[key].shape}, or be a number" if at[key].shape else "shape ()"
                raise InputError(f"direction[{_called(key)}] must have {allowed}, got {rate.shape}")
        largest = max((_size(value) for value in at.values()), default=0.0)
        return cls(problem, at, moved, (largest or 1.0) / size)

    def values(self, units: float) -> Any:
        """The parameters, so many units away."""
        found = {}
        for key, rate in self.moved.items():
            value = self.at[key]
            found[key] = value + units * np.broadcast_to(rate, value.shape)
        return found

    def furthest(self, sign: float) -> float:
        """How far they may go."""
        return _furthest(self.at, self.moved, sign, self.unit)

    def source(self, sign: float, begin: float, end: float) -> Any:
        """The line between two points on one side."""
        start, stop = self.values(sign * begin), self.values(sign * end)
        if isinstance(self.problem, QP):
            start, stop = ({name: float(number) for name, number in each.items()} for each in (start, stop))
        return source_between(self.problem, start, stop, still=True)


def _by_basis(basis: Basis, line: ProgramLine, length: float, most: Mapping[float, float]) -> _Both | None:
    """Rates on both sides from one basis at the beginning of a line of this length; None where it does not decide.

    Without levels that are 0, optimum and multipliers are unique at the point, and beside it up to the first that is.
    """
    if basis.is_degenerate:
        return None
    moves = np.diff(line.q, axis=0).T, np.diff(line.b, axis=0).T
    moved, constant = basis.moved(*moves), float(line.constant[1] - line.constant[0])
    x = basis.optimum.x.middle[:, 0]
    x_rate, z_rate = (each.shown[:, 0] for each in (moved.x, moved.z))
    value = line.sense * (float(basis.rate(*moves).shown[0, 0]) + constant) / length + 0.0
    rates = line.rates(x, x_rate, 0.0)
    variables = {name: _plain(rate / length) for name, rate in rates.items()}
    duals = {name: _plain(rate / length) for name, rate in line.duals(z_rate).items()}
    found = []
    for sign in (-1.0, 1.0):
        along = sign * np.sign(length)
        ends = Reach.of(basis, moved.rates, along, np.ones(1))
        if not ends.known[0]:
            return None
        until = float(ends.until[0]) * abs(length)
        until = until if until == np.inf else min(until, most[sign])
        found.append(OneSided(value, variables, duals, until) if most[sign] else None)
    return found[0], found[1]


def _by_paths(line: _Direction, most: Mapping[float, float]) -> _Both:
    """Rates on both sides, each from a path."""

    def side(sign: float) -> Beside | None:
        if not most[sign]:
            return None
        reach = min(line.unit, most[sign])
        return beside(partial(line.source, sign), reach, most[sign])

    left, right = side(-1.0), side(1.0)
    at_left = None if left is None else _limits(left)
    at_right = None if right is None else _limits(right)
    on_left = None if left is None else _side(left, -1.0, at_left, at_right)
    on_right = None if right is None else _side(right, 1.0, at_right, at_left)
    return on_left, on_right


def _exact(problem: Any, direction: Mapping[Any, Any]) -> Derivatives:
    """The derivatives of a program."""
    found = derivatives(problem, direction)
    assert isinstance(found, Derivatives)
    return found


def _called(key: Any) -> str:
    """The name of a parameter, variable or constraint."""
    if isinstance(key, str):
        return key
    label = getattr(key, "label", None)
    return str(label) if label else str(key.name()) if hasattr(key, "name") else str(key)


def _key_of(problem: Any, key: Any) -> str:
    """The key of a variable, a constraint or the value among rates, see `told_apart`."""
    if isinstance(key, str):
        return key
    return beside_the_value(name_in(problem, key), "row" if hasattr(key, "dual_value") else "x")


def _value_of(parameter: Any) -> Any:
    if parameter.value is None:
        raise InputError(f"parameter {parameter.name()} must have a value")
    return parameter.value


def _furthest(at: Mapping[Any, Array], moved: Mapping[Any, Array], sign: float, unit: float) -> float:
    """How far the parameters may go in a direction, of some lengths; infinite where they promise nothing."""
    for k in range(-6, _TENTHS):
        length = unit * 10.0**-k
        if all(_allowed(key, value + sign * length * moved[key]) for key, value in at.items()):
            return float("inf") if k == -6 else length
    return 0.0


def _allowed(parameter: Any, value: Array) -> bool:
    """Whether a parameter may have a value."""
    return isinstance(parameter, str) or bool(np.array_equal(np.asarray(parameter.project(value)), value))


@dataclass(frozen=True)
class _Limits:
    """The optimum next to a point on one side, and which entries are not unique at the point and on that side."""

    line: ProgramLine
    x: Array
    z: Array
    at_point: tuple[Any, Any]
    beyond: tuple[Any, Any]


def _limits(found: Beside) -> _Limits | None:
    """None where there is no optimum on that side."""
    near = found.first or found
    if near.piece < 0:
        return None
    path, j = near.path, near.piece
    (x, z), t = path.points.segment(j), path.t[j : j + 2]
    middle = tuple(between(ends, 0.5) for ends in (x, z))
    at_point = undetermined(path.program, float(t[0]), x[0], z[0])
    return _Limits(path.program, x[0], z[0], at_point, undetermined(path.program, float(t.mean()), *middle))


def _side(found: Beside, sign: float, own: _Limits | None, other: _Limits | None) -> OneSided:
    """Rates of value, variables and multipliers on one side, how far they hold, and why some have none.

    ``own`` is the optimum on this side (None: there is none), ``other`` that across the point, which tells a jump from
    an optimum that is not unique.
    """
    if own is None:
        return OneSided(sign * found.rate + 0.0, {}, {}, 0.0, {})
    near = found.first or found
    line, undefined, unit = own.line, dict[str, str](), sign / near.reach
    begin = float(near.path.t[near.piece])
    rates = near.path._rates(near.piece, begin)[1:]
    if near.basis is not None:
        moved = near.basis.moved
        rates = line.rates(own.x, moved.x.shown[:, 0], begin), line.duals(moved.z.shown[:, 0])
    of_variables, of_duals = ({name: unit * rate for name, rate in each.items()} for each in rates)
    variables = _rates(line.variables, of_variables, 0, own, other, sign, undefined)
    duals = _rates(line.all_multipliers, of_duals, 1, own, other, sign, undefined)
    return OneSided(sign * found.rate + 0.0, variables, duals, _until(found, near), undefined)


def _until(found: Beside, near: Beside) -> float:
    """Up to where the rates hold: what the shortest line shows, if a basis says how far that is."""
    if near.basis is not None and near.basis.says_the_end:
        return min(near.basis.end * near.reach, found.until)
    end = float(found.path.t[found.piece + 1])
    return float("inf") if end == 1.0 and found.until == np.inf else end * found.reach


def _rates(
    readings: Mapping[str, Reading],
    rates: Mapping[str, Any],
    which: int,
    own: _Limits,
    other: _Limits | None,
    sign: float,
    undefined: dict[str, str],
) -> dict[str, Any]:
    """Rates by name, nan where there are none; why is written down."""
    found = {}
    for name, reading in readings.items():
        used = reading.factor != 0.0
        loose = [(used & reading.at_places(mask[which])) for mask in (own.at_point, own.beyond)]
        point, beyond = (each.reshape(used.shape[0], -1).any(axis=1).reshape(reading.shape) for each in loose)
        rate = np.where(point | beyond, np.nan, rates[name])
        if (point | beyond).any():
            undefined[beside_the_value(name, ("x", "row")[which])] = _why(name, which, beyond, own, other, sign)
        found[name] = _plain(rate)
    return found


def _why(name: str, which: int, beyond: Any, own: _Limits, other: _Limits | None, sign: float) -> str:
    """Reason why an optimum has no rate."""
    if beyond.any() or other is None or other.beyond[which].any():
        return "not unique"
    sides = (other, own) if sign > 0 else (own, other)
    if which:
        before, after = (side.line.duals(side.z)[name] for side in sides)
    else:
        before, after = (side.line.values(side.x, 0.0)[name] for side in sides)
    if _same(before, after, _ROUNDED * _size(own.z if which else own.x)):
        return "not unique"
    return f"jumps from {shown(before)} to {shown(after)}"


def _not_zero(name: str, rate: Any) -> tuple[list[str], int]:
    """Texts of the rates of a name, and how many zeros they leave out: all of them, or those among many numbers."""
    nonzero = int(np.count_nonzero(rate))
    if nonzero > _PRINTED or 0 < nonzero <= np.size(rate) <= _PRINTED:
        return [f"{name} {shown(rate)}"], 0
    own = [f"{entry} {number:.6g}" for entry, number in entries(name, rate) if number != 0.0]
    return own, int(np.size(rate)) - nonzero


def _every(side: OneSided) -> dict[str, Any]:
    """All rates of a side by name."""
    return told_apart(side.value, side.variables, side.duals)


def _plain(rate: Any) -> Any:
    """A number, or an array, without -0."""
    return float(rate) + 0.0 if np.ndim(rate) == 0 else rate + 0.0


def _size(numbers: Any) -> float:
    """The largest finite one, in absolute values."""
    every = np.abs(np.asarray(numbers, dtype=np.float64))
    return float(every[np.isfinite(every)].max(initial=0.0))


def _off(own: Array, rate: Any) -> float:
    """The largest difference of rates; infinite where one has none."""
    if not np.isfinite(rate).all():
        return float("inf")
    return float(np.max(np.abs(own - rate), initial=0.0))


def _same(one: Any, other: Any, noise: float) -> bool:
    """Whether two finite numbers or arrays are one, up to rounding."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return False
    room = noise + _SAME * max(_size(one), _size(other))
    return _off(np.asarray(one), other) <= room
