"""From a ``cvxpy.Problem`` and a line of its parameters to the quadratic or linear program that CVXPY compiles.

The problem is compiled once. Under CVXPY's rules for parameters (DPP) q and b are affine in them; they are read at both
ends of the line, and a ``cvxpy.CallbackParam``, which may be any function, is looked at in a third point. Whatever is
not a quadratic or linear program with fixed matrices is refused by name before anything is traced.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, real_array, what_it_is
from paretoclf.common.errors import InputError, MovesMatrixError, NeedsConeError
from paretoclf.common.tolerances import AFFINE, CERTIFY
from paretoclf.engine.reduction.moving import standing_rows
from paretoclf.engine.reduction.program import ProgramLine, between, symmetric
from paretoclf.problem.classifiers import Rule, named_rule
from paretoclf.proof.programs.convexity import convex_line
from paretoclf.solve.models.as_written import called, short
from paretoclf.solve.models.fixed_parameters import with_numbers
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, conic_settings, dense, having
from paretoclf.solve.sources.compiled_data import CompiledProblem, DataAt, MovingEntries, Values, differ
from paretoclf.solve.sources.parameter_entries import by_parameter, keys_of, named_values

#: Where the third point lies: no simple fraction, so that no symmetry hides a bend.
_THIRD = 0.61803398875


def program_line(
    problem: cp.Problem, start: Mapping[Any, Any], stop: Mapping[Any, Any], still: bool = False
) -> ProgramLine:
    """Compile a problem once, and read how its program moves on a line of its parameters.

    Parameters
    ----------
    problem : cvxpy.Problem
        DPP, and a quadratic or linear program. What it holds is left as it was.
    start, stop : mapping of cvxpy.Parameter to number or array
        The ends of the line. Parameters that are not among them keep the values that they have.
    still : bool
        Whether the line may move nothing.

    Raises
    ------
    InputError
        If it is something else, or the line moves nothing.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.problem_line import program_line
    >>> x, level = cp.Variable(2, name="x"), cp.Parameter(name="level")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= level).set_label("mass")])
    >>> line = program_line(problem, {level: 1}, {level: 3})
    >>> line.b.ravel().tolist(), line.row_name(0)
    ([-1.0, -3.0], 'mass')
    """
    return standing(CompiledLine.of(problem, start, stop), still)


def standing(found: CompiledLine, still: bool = False) -> ProgramLine:
    """The program of a line on which no matrix moves; MovesMatrixError if one does."""
    line, moving = found.line, np.zeros(0, dtype=np.int64)
    if found.P.moves():
        raise MovesMatrixError(found.moving("P"))
    if found.A.moves():
        ends = found.A.at(0), found.A.at(1)
        moved, q, moving = standing_rows(found.P.at(0), ends, line.q, found.compiled.terms(found.sizes)[4].at(0))
        line = replace(line, q=q, moved=moved)
    if moving.size or found.bent:
        raise MovesMatrixError(found.moving("A"))
    if not (still or line.moved):
        found.check_moves()
    return line


@dataclass(frozen=True)
class CompiledLine:
    """What CVXPY compiled at both ends of a line and at a third point, with q, b and constant affine in t."""

    problem: Any
    compiled: CompiledProblem
    line: ProgramLine
    ends: tuple[Values, Values]
    sizes: Array
    bent: bool
    P: MovingEntries
    A: MovingEntries

    @classmethod
    def of(cls, problem: Any, start: Any, stop: Any, *, cones: bool = False, **options: Any) -> CompiledLine:
        """Compile it; InputError if it has no such line. With ``cones`` any cone may be in it."""
        first, last = ends_of(problem, start, stop)
        compiled = compiled_problem(problem, first, cones, _kept(first, last), **options)
        return cls.along(compiled, problem, first, last, cones)

    @classmethod
    def along(
        cls, compiled: CompiledProblem, problem: Any, first: Values, last: Values, cones: bool = False
    ) -> CompiledLine:
        """The line from one to other values of the parameters of what is compiled."""
        third = {p: between((first[p], last[p]), _THIRD) for p in first}
        data = [compiled.at(values, t) for values, t in ((first, 0.0), (last, 1.0), (third, _THIRD))]
        line = _program(compiled, data)
        P, A = (MovingEntries.together([getattr(each, key) for each in data]) for key in "PA")
        _check_finite(line, P, A)
        numbers = data[0].numbers, data[1].numbers
        bend = _bend(numbers, data[2].numbers, first, last)
        vectors, rows = compiled.bent(bend)
        if vectors or (cones and rows):
            raise InputError(_bent_said(problem, compiled.tensors, bend, first))
        sizes = np.abs(numbers[0]) + np.abs(numbers[1])
        return cls(problem, compiled, line, (first, last), sizes, rows, P, A)

    def bends(self, which: str) -> bool:
        """Whether a matrix, P or A, is off the straight line at the third point by more than its rounding."""
        first, last, third = getattr(self, which).data
        return differ(between((first, last), _THIRD), third)

    def moving(self, which: str, because: str = "") -> str:
        """Say which parameter moves a matrix, and why it must not."""
        first, last, *_ = self.P.data
        product = first @ last
        whole = product > 0.0 and not differ(first * (last @ last), last * product)
        return _in_matrix(self.problem, self.compiled.tensors, self.ends, which, because, whole)

    def check_moves(self) -> None:
        """InputError if nothing moves."""
        if all((ends[0] == ends[1]).all() for ends in (self.line.q, self.line.b, self.line.constant)):
            raise InputError("start and stop must differ in a parameter that the problem depends on: nothing moves")


def compiled_problem(
    problem: Any, values: Values, cones: bool = False, kept: Values | None = None, **options: Any
) -> CompiledProblem:
    """Compile a problem at values of the parameters of a line; InputError if it has no path.

    Those in ``kept`` do not move along it.
    """
    model = _model_of(problem, values, kept)
    if not cones:
        _check_cones(model)
    compiled = CompiledProblem.of(model, values, options)
    if not cones:
        _check_dims(compiled.data["dims"])
    return compiled


def _program(compiled: CompiledProblem, data: Sequence[DataAt]) -> ProgramLine:
    """Program that CVXPY compiled, between the first two of its data, with names."""
    variables, multipliers, attributes = compiled.names
    ends = data[0], data[1]
    return ProgramLine(
        symmetric(data[0].P.at(0)),
        data[0].A.at(0),
        np.stack([end.q for end in ends]),
        np.stack([end.b for end in ends]),
        np.concatenate([end.constant for end in ends]),
        int(compiled.data["dims"].zero),
        compiled.model.sense,
        variables,
        multipliers,
        attributes=attributes,
    )


class LineOfPrograms:
    """A problem and a line of its parameters: its program, and the way back into it.

    Attributes
    ----------
    line : ProgramLine
    ends : pair of mappings
        The parameters at both ends, by name.
    seconds : float
        Time that compiling took.
    sign : int
        -1 where the value that is meant is minus that of the problem: of a dual that is written as a minimisation.
    formulation, values : Formulation and pair of mappings, optional
        Where the problem is a program of a formulation: its parameters at both ends, moving or not, by name.
    called : str
        Kind of path along it, for messages.
    again : callable
        The same line of another formulation.
    """

    sign = 1
    called = "exact path"
    _tolerance = CERTIFY
    _cones = False
    formulation: Any = None
    values: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})
    again: Any = None

    def __init__(
        self,
        problem: Any,
        start: Mapping[Any, Any],
        stop: Mapping[Any, Any],
        still: bool = False,
        compiled: CompiledProblem | None = None,
    ) -> None:
        began = time.perf_counter()
        ends = ends_of(problem, start, stop)
        compiled = compiled or compiled_problem(problem, ends[0], self._cones, _kept(*ends))
        self.line = convex_line(
            self._line(CompiledLine.along(compiled, problem, *ends, self._cones), still), self._tolerance
        )
        self.seconds = time.perf_counter() - began
        self.problem, self._ends, self._stated = problem, ends, compiled.model.problem
        keys = keys_of(problem, start, "start")
        first, last = (named_values(keys, end) for end in ends)
        self.ends: tuple[Mapping[str, Array], Mapping[str, Array]] = (first, last)

    def _line(self, found: CompiledLine, still: bool) -> ProgramLine:
        """The program along what was compiled."""
        return standing(found, still)

    @classmethod
    def here(cls, problem: Any) -> LineOfPrograms:
        """The point at the values that the parameters have, as a line on which nothing moves."""
        made, began = cls.__new__(cls), time.perf_counter()
        _check_problem(problem)
        unset = [p.name() for p in problem.parameters() if not isinstance(p, cp.CallbackParam) and p.value is None]
        if unset:
            raise InputError(f"parameter {unset[0]} must have a value")
        compiled = compiled_problem(problem, {})
        found = compiled.at({}, 0.0)
        line = _program(compiled, (found, found))
        _check_finite(line, found.P, found.A)
        made.line = convex_line(line)
        made.problem, made._ends, made.ends = problem, ({}, {}), ({}, {})
        made._stated = compiled.model.problem
        made.seconds = time.perf_counter() - began
        return made

    @classmethod
    def of_constraints(cls, problem: Any) -> LineOfPrograms:
        """The constraints of a problem alone, at the values that its parameters have."""
        _check_problem(problem)
        return cls.here(cp.Problem(cp.Minimize(0), problem.constraints))

    def __getstate__(self) -> dict[str, Any]:
        # A problem that was solved holds its solver, which cannot be pickled; the next solve sets up a new one.
        problem, stated = (cp.Problem(each.objective, each.constraints) for each in (self.problem, self._stated))
        return {**self.__dict__, "problem": problem, "_stated": stated}

    def __deepcopy__(self, memo: Any) -> LineOfPrograms:
        # Where a path is copied, its problem stays the user's, who holds the variables into which it is written.
        return self

    @property
    def texts(self) -> Mapping[str, str]:
        """Constraints without a label: what they are called, and that with their text."""
        rows = {f"constraint {k}": c for k, c in enumerate(self.problem.constraints) if not c.label}
        return {name: called(name, c) for name, c in rows.items()}

    def rule(self, t: float, numbers: Mapping[str, Any]) -> Rule:
        """The classifier that variables and multipliers describe at t."""
        if self.formulation is None:
            return named_rule(numbers, self.line.variables)
        values = {name: float(between((value, self.values[1][name]), t)) for name, value in self.values[0].items()}
        return self.formulation.classifier(values, numbers)  # type: ignore[no-any-return]

    def move(self, t: float) -> None:
        """Give the parameters the values that they have at t."""
        for p in self._ends[0]:
            p.save_value(between((self._ends[0][p], self._ends[1][p]), t))

    def assign(self, point: Any) -> None:
        """Write a point of a path into the problem, as a solver's."""
        from cvxpy.reductions.solution import Solution

        self.move(point.t)
        primal = {v.id: point.variables[v.name()] for v in self.problem.variables()}
        rows = {c.label or f"constraint {k}": c for k, c in enumerate(self.problem.constraints)}
        dual = {c.id: point.duals[name] for name, c in rows.items() if name in point.duals}
        self.problem.unpack(Solution(cp.OPTIMAL, self.sign * point.value, primal, dual, {}))

    def tried(self, t: float, values: Mapping[str, Any]) -> tuple[float, float]:
        """Objective and largest violation of values of the variables at t, relative to 1 + the sides of its entry.

        The problem holds the values after that.
        """
        self.move(t)
        for variable in self.problem.variables():
            variable.save_value(values[variable.name()])
        apart = [0.0]
        for c in self.problem.constraints:
            off = dense(c.violation())
            sides = [np.abs(dense(side.value)) for side in c.args]
            if any(side.shape not in ((), off.shape) for side in sides):  # of a cone, all of it
                sides = [np.max(side, initial=0.0) for side in sides]
            apart.append(
                float(np.max(off / (1.0 + np.maximum.reduce(np.broadcast_arrays(off, *sides)[1:])), initial=0.0))
            )
        for variable in self.problem.variables():
            value = dense(variable.value)
            moved = np.abs(dense(variable.project(variable.value)) - value)
            apart.append(float(np.max(moved / (1.0 + np.abs(value)), initial=0.0)))
        return float(self.problem.objective.value), max(apart)

    def solve(self, t: float) -> float:
        """The optimal value at t, by Clarabel at its reference accuracy; nan where it finds none."""
        stated = self._stated
        with having(self._ends[0]), suppress(cp.SolverError):  # the parameters keep their values
            self.move(t)
            stated.solve(solver="CLARABEL", warm_start=False, **conic_settings("reference"))
            if stated.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
                return self.sign * float(stated.value)
        return float("nan")


def _check_problem(problem: Any) -> None:
    """InputError unless it is a problem of CVXPY."""
    if not isinstance(problem, cp.Problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {what_it_is(problem)}")


def _kept(first: Values, last: Values) -> Values:
    """Parameters that are the same at both ends of a line."""
    return {p: value for p, value in first.items() if np.array_equal(value, last[p])}


def _model_of(problem: Any, moving: Any, kept: Values | None = None) -> Model:
    """The problem with names; InputError if it is none that has a path for reasons that need no compiling.

    A parameter may be the matrix of a quadratic form: where it moves, that is said by what was compiled. One that does
    not move is a number.
    """
    model = Model.of(with_numbers(problem, moving, kept), maximise=True, forms=True)
    model.check_continuous()
    for name, variable in model.variables.items():
        if variable.is_complex():
            raise InputError(f"problem must be real, got the complex variable {name}: write its two parts")
    if not model.variables:
        raise InputError("problem must have variables, got none")
    return model


def ends_of(problem: Any, start: Any, stop: Any) -> tuple[Values, Values]:
    """Both ends as arrays, checked against what the parameters of a convex problem may be."""
    _check_problem(problem)
    try:
        return _checked_ends(problem, start, stop)
    except InputError:
        if not problem.is_dcp():
            Model.of(problem, maximise=True, moving=False)  # which says where, and why
        raise


def _checked_ends(problem: Any, start: Any, stop: Any) -> tuple[Values, Values]:
    """Both ends as arrays, checked."""
    own = problem.parameters()
    for name, given in (("start", start), ("stop", stop)):
        if not isinstance(given, Mapping) or not given:
            raise InputError(f"{name} must map parameters of the problem to values, got {given!r:.100}")
    start, stop = by_parameter(problem, start, "start"), by_parameter(problem, stop, "stop")
    alone = [p.name() for p in {**start, **stop} if (p in start) != (p in stop)]
    if alone:
        raise InputError(f"start and stop must have the same parameters, got {alone[0]} in one of them only")
    names = [p.name() for p in start]
    if len(set(names)) < len(names):
        raise InputError(f"parameters must have different names, got {max(names, key=names.count)} twice")
    unset = [p.name() for p in own if p not in start and not isinstance(p, cp.CallbackParam) and p.value is None]
    if unset:
        raise InputError(f"parameter {unset[0]} must be in start and stop, or have a value that it keeps")
    return checked(start, "start"), checked(stop, "stop")


def checked(given: Mapping[Any, Any], end: str) -> Values:
    """Values of the parameters' shapes, finite, and of the signs that the parameters promise."""
    values = dict[Any, Array]()
    for p, value in given.items():
        name = f"{end}[{p.name()}]"
        array = real_array(dense(value), name)
        if array.shape != p.shape and array.size != 1:
            raise InputError(f"{name} must have shape {p.shape}, got {array.shape}")
        if not np.isfinite(array).all():
            raise InputError(f"{name} must be finite, got {float(array[~np.isfinite(array)][0])}")
        array = np.broadcast_to(array.reshape(p.shape if array.shape == p.shape else ()), p.shape).copy()
        if not np.array_equal(dense(p.project(array)), array):
            allowed = ", ".join(kind for kind, on in p.attributes.items() if on is True) or "within its bounds"
            raise InputError(f"{name} must be {allowed}, as the parameter promises, got {value!r:.100}")
        values[p] = array
    return values


def _check_cones(model: Model) -> None:
    """InputError that names what is neither quadratic nor piecewise linear."""
    for name, c in model.constraints.items():
        if not isinstance(c, cp.constraints.Equality | cp.constraints.Zero | cp.constraints.Inequality):
            raise _needs_cone(_where(name, c), f"a cone of the kind {type(c).__name__}")
    for name, variable in model.variables.items():
        if variable.attributes["PSD"] or variable.attributes["NSD"]:
            raise _needs_cone(f"variable {name}", "semidefinite")
    objective = model.problem.objective.expr
    if not objective.is_qpwa():
        raise _needs_cone("the objective", short(_culprit(objective, "is_qpwa")))
    for name, c in model.constraints.items():
        test = "is_pwl" if isinstance(c, cp.constraints.Inequality) else "is_affine"
        if not getattr(c.expr, test)():
            raise _needs_cone(_where(name, c), short(_culprit(c.expr, test)))


def _where(name: str, constraint: Any) -> str:
    """The constraint in a message; its text takes longer than most checks."""
    return f"constraint {name}" if constraint.label else called(name, constraint)


def _needs_cone(where: str, what: str) -> NeedsConeError:
    return NeedsConeError(f"problem must be a quadratic or linear program, got {what} in {where}: that needs a cone")


def _culprit(expression: Any, test: str) -> Any:
    """The innermost atom that is not what it should be although its arguments are."""
    for argument in expression.args:
        if not getattr(argument, test)():
            return _culprit(argument, test)
    return expression


def _check_dims(dims: Any) -> None:
    """No cone may be left whatever the expressions said."""
    left = [kind for kind in ("soc", "psd", "exp", "p3d", "pnd") if getattr(dims, kind, None)]
    if left:
        raise _needs_cone("what CVXPY compiles", f"cones of the kind {', '.join(left)}")


def _check_finite(line: ProgramLine, P: MovingEntries, A: MovingEntries) -> None:
    """InputError that names what holds a nan or an infinite number."""
    for i in np.flatnonzero(~np.isfinite(line.b).all(axis=0)).tolist():
        raise InputError(f"{line.row_name(i)} must be finite, got {line.b[:, i].tolist()}: leave it out")
    for entry in np.flatnonzero(~np.isfinite(A.data).all(axis=0)).tolist():
        row, column = int(A.rows[entry]), int(np.searchsorted(A.begin, entry, side="right")) - 1
        raise InputError(
            f"{line.row_name(row)} must have finite coefficients, got one of {line.column_name(column)} that is not"
        )
    if not all(np.isfinite(each).all() for each in (line.q, line.constant, P.data)):
        raise InputError("the objective must have finite coefficients, got one that is not")


def _bend(ends: tuple[Array, Array], third: Array, first: Values, last: Values) -> Array:
    """Distance of each parameter from the straight line at the third point; 0 for what is rounding.

    Only a CallbackParam can be off. It is rounded itself, and computed from parameters that are.
    """
    bend = third - between(ends, _THIRD)
    a, b = (np.concatenate([values[p].ravel() for p in first]) for values in (first, last))
    a, b = a[a != b], b[a != b]
    digits = float(((np.abs(a) + np.abs(b)) / np.abs(b - a)).min(initial=0.0 if not a.size else np.inf))
    room = AFFINE * (np.abs(ends[0]) + np.abs(ends[1]) + np.abs(third))
    room += 2 * np.finfo(float).eps * digits * np.abs(ends[1] - ends[0])
    return np.where(np.abs(bend) > room, bend, 0.0)


def _bent_said(problem: Any, tensors: Any, bend: Array, moved: Values) -> str:
    """Message about data that are not affine."""
    called = [p for p in problem.parameters() if isinstance(p, cp.CallbackParam)]
    begins = [tensors.param_id_to_col.get(p.id, 0) for p in called]
    own = [p.name() for p, begin in zip(called, begins, strict=True) if bend[begin : begin + p.size].any()]
    return (
        f"the data of the problem must be affine along the line, got a bend between the ends of "
        f"{', '.join(p.name() for p in moved)}: the CallbackParam {', '.join(own)} is no affine function of them. Make "
        "it a cvxpy.Parameter, and trace in that"
    )


def _in_matrix(problem: Any, tensors: Any, ends: tuple[Values, Values], which: str, because: str, whole: bool) -> str:
    """Message about a parameter in P, of which it is a factor of the whole, or in A: in which terms; what would do."""
    culprits = _movers(problem, tensors, *ends, which)
    names = {p.name() for p in culprits}
    terms = list(_terms_with(problem, names, which))
    shown = "; ".join(f"{short(term)}, in {where}" for where, term in terms[:2]) or "what CVXPY compiles"
    many = ", ".join(sorted(names)) or "a parameter"
    kind = "multiplies a quadratic term" if which == "P" else "multiplies a variable of a constraint, or of a maximum"
    if any(p.id not in tensors.param_id_to_col for p in culprits):
        kind = "is the matrix of a quadratic form"
    remedy = ""
    if which == "A":
        remedy = (
            f"where {many} multiplies a whole constraint or one side of it, divide by it, so that its inverse stands "
            "alone on the other side, and trace in that; in a dual it may stand in the objective"
        )
    elif whole and all(p.is_scalar() for p in culprits):
        remedy = (
            f"as {many} multiplies the whole quadratic, divide the objective by it: its inverse then multiplies the "
            "linear terms, and is a Parameter to trace in"
        )
    reason = "; ".join(filter(None, (because, remedy)))
    said = f"parameter {many} must not move the matrix {which}, but {kind}: {shown}"
    return f"{said}. {reason[0].upper()}{reason[1:]}" if reason else said


def _movers(problem: Any, tensors: Any, first: Values, last: Values, which: str) -> list[Any]:
    """The parameters that differ at both ends and stand in a matrix."""
    tensor = (
        sp.csc_array(tensors.P) if which == "P" else sp.csc_array(tensors.A)[: tensors.constr_size * tensors.x.size]
    )
    used = np.unique(tensor.nonzero()[1])
    found = []
    for p in problem.parameters():
        still = p in first and np.array_equal(first[p], last[p])
        if still or not (p in first or isinstance(p, cp.CallbackParam)):
            continue
        column = tensors.param_id_to_col.get(p.id)
        # Without a column it is the matrix of a quadratic form, which CVXPY compiles anew for each of its values.
        in_form = column is None and which == "P"
        if in_form or (column is not None and np.isin(np.arange(column, column + p.size), used).any()):
            found.append(p)
    return found


def _terms_with(problem: Any, names: set[str], which: str) -> Iterator[tuple[str, Any]]:
    """Terms of the objective, then constraints, through which one of these parameters comes into a matrix.

    An affine term is in neither P nor A, and only what is not piecewise linear is in P.
    """
    for term in _summands(problem.objective.expr):
        outside = term.is_pwl() if which == "P" else term.is_affine()
        if not outside and names & {p.name() for p in term.parameters()}:
            yield "the objective", term
    for k, c in enumerate(problem.constraints if which == "A" else ()):
        if names & {p.name() for p in c.parameters()}:
            yield (f"constraint {c.label}" if c.label else f"constraint {k}"), c


def _summands(expression: Any) -> Iterator[Any]:
    if type(expression).__name__ in ("AddExpression", "NegExpression"):
        for argument in expression.args:
            yield from _summands(argument)
    else:
        yield expression
