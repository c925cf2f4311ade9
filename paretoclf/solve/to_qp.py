"""From a ``cvxpy.Problem`` and a line of its parameters to the quadratic or linear program that CVXPY compiles.

The problem is compiled once. Under CVXPY's rules for parameters (DPP) q and b are affine in them; they are read at both
ends of the line, and a ``cvxpy.CallbackParam``, which may be any function, is looked at in a third point. Whatever is
not a quadratic or linear program with fixed matrices is refused by name before anything is traced.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, real_array, what_it_is
from paretoclf.common.errors import InputError, MovesMatrixError, NeedsConeError
from paretoclf.common.tolerances import AFFINE, CERTIFY, SAME_NUMBER
from paretoclf.engine.reduction.moving import standing_rows
from paretoclf.engine.reduction.program import ProgramLine, Reading, between, symmetric
from paretoclf.problem.classifiers import Rule, named_rule
from paretoclf.proof.convexity import convex_line
from paretoclf.solve.lazily import cp
from paretoclf.solve.model import Model, conic_settings, dense, problem_data
from paretoclf.solve.words import called, short

#: Where the third point lies: no simple fraction, so that no symmetry hides a bend.
_THIRD = 0.61803398875

Values = dict[Any, Array]

#: Attributes of variables that CVXPY compiles to fewer numbers than entries.
_FEWER = ("diag", "symmetric", "sparsity", "PSD", "NSD")


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
    >>> from paretoclf.solve.to_qp import program_line
    >>> x, level = cp.Variable(2, name="x"), cp.Parameter(name="level")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= level).set_label("mass")])
    >>> line = program_line(problem, {level: 1}, {level: 3})
    >>> line.b.ravel().tolist(), line.row_name(0)
    ([-1.0, -3.0], 'mass')
    """
    found = CompiledLine.of(problem, start, stop)
    line, P, A = found.line, found.P, found.A
    if found.moves("P"):
        raise MovesMatrixError(found.moving("P"))
    terms = _entries(abs(found.tensors.A), found.sizes, line.n + 1)[:, : line.n]
    moved, q, moving = standing_rows(P[0], (A[0], A[1]), line.q, terms)
    if moving.size or found.bent.nnz:
        raise MovesMatrixError(found.moving("A"))
    if not (still or moved):
        found.check_moves()
    return ProgramLine(**{**vars(line), "q": q, "moved": moved})


@dataclass(frozen=True)
class CompiledLine:
    """What CVXPY compiled at both ends of a line and at a third point, with q, b and constant affine in t."""

    problem: Any
    line: ProgramLine
    data: Mapping[str, Any]
    ends: tuple[Values, Values]
    sizes: Array
    bent: Any
    P: list[Any]
    A: list[Any]

    @classmethod
    def of(cls, problem: Any, start: Any, stop: Any, *, cones: bool = False, **options: Any) -> CompiledLine:
        """Compile it; InputError if it has no such line. With ``cones`` any cone may be in it."""
        model = _model_of(problem)
        first, last = _ends(problem, start, stop)
        if not cones:
            _check_cones(model)
        (data, chain, inverse), other, third = (
            _compiled(model, first, 0.0, options),
            _compiled(model, last, 1.0, options)[0],
            _compiled(model, {p: between((first[p], last[p]), _THIRD) for p in first}, _THIRD, options)[0],
        )
        if not cones:
            _check_dims(data["dims"])
        line = _program(model, (data, chain, inverse), other)
        P, A = ([sp.csc_array(_matrix(each, key, line.n, line.m)) for each in (data, other, third)] for key in "PA")
        _check_finite(line, P, A)
        bend = _bend((data["moved"], other["moved"]), third["moved"], first, last)
        tensors = data["param_prob"]
        bent = _bent(tensors.A, bend, line.n + 1)
        if _bent(tensors.q, bend, line.n + 1).nnz or (bent if cones else bent[:, [line.n]]).nnz:
            raise InputError(_bent_said(problem, tensors, bend, first))
        sizes = np.abs(data["moved"]) + np.abs(other["moved"])
        return cls(problem, line, data, (first, last), sizes, bent, P, A)

    @property
    def tensors(self) -> Any:
        """CVXPY's maps from parameters to data."""
        return self.data["param_prob"]

    def moves(self, which: str, rows: int | None = None) -> bool:
        """Whether a matrix, P or A, moves by more than its rounding; or so many of its first rows."""
        first, *others = (each if rows is None else each[:rows] for each in getattr(self, which))
        return any(_differs(first, each) for each in others)

    def bends(self, which: str) -> bool:
        """Whether a matrix, P or A, is off the straight line at the third point by more than its rounding."""
        first, last, third = getattr(self, which)
        return _differs(between((first, last), _THIRD), third)

    def moving(self, which: str, because: str = "") -> str:
        """Say which parameter moves a matrix, and why it must not."""
        return _in_matrix(self.problem, self.tensors, self.ends, which, because)

    def check_moves(self) -> None:
        """InputError if nothing moves."""
        if all((ends[0] == ends[1]).all() for ends in (self.line.q, self.line.b, self.line.constant)):
            raise InputError("start and stop must differ in a parameter that the problem depends on: nothing moves")


def _program(model: Model, found: tuple[dict[str, Any], Any, Any], other: Mapping[str, Any]) -> ProgramLine:
    """What CVXPY compiled, and at the other end, with names."""
    data, chain, inverse = found
    n, m = data["c"].size, data["b"].size
    q, b, constant = (np.stack([_vector(each, key) for each in (data, other)]) for key in ("c", "b", "offset"))
    return ProgramLine(
        symmetric(sp.csc_array(_matrix(data, "P", n, m))),
        sp.csc_array(_matrix(data, "A", n, m)),
        q,
        b,
        constant[:, 0],
        int(data["dims"].zero),
        model.sense,
        _variables(model, data["param_prob"], chain, inverse),
        _readings(model.constraints, lambda z: _inverted(chain, inverse, np.zeros(n), z).dual_vars, m),
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
    again : callable
        The same line of another formulation.
    """

    sign = 1
    _tolerance = CERTIFY
    formulation: Any = None
    values: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})
    again: Any = None

    def __init__(self, problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any], still: bool = False) -> None:
        began = time.perf_counter()
        self.line = convex_line(self._compile(problem, start, stop, still), self._tolerance)
        self.seconds = time.perf_counter() - began
        self.problem, self._ends = problem, _ends(problem, start, stop)
        self.ends = self._named(0), self._named(1)

    def _compile(self, problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any], still: bool) -> ProgramLine:
        """The program along the line."""
        return program_line(problem, start, stop, still)

    @classmethod
    def here(cls, problem: Any) -> LineOfPrograms:
        """The point at the values that the parameters have, as a line on which nothing moves."""
        made, began, model = cls.__new__(cls), time.perf_counter(), _model_of(problem)
        unset = [p.name() for p in problem.parameters() if not isinstance(p, cp.CallbackParam) and p.value is None]
        if unset:
            raise InputError(f"parameter {unset[0]} must have a value")
        _check_cones(model)
        found = _compiled(model, {}, 0.0, {})
        _check_dims(found[0]["dims"])
        line = _program(model, found, found[0])
        _check_finite(line, [line.P], [line.A])
        made.line = convex_line(line)
        made.problem, made._ends, made.ends = problem, ({}, {}), ({}, {})
        made.seconds = time.perf_counter() - began
        return made

    def __getstate__(self) -> dict[str, Any]:
        # A problem that was solved holds its solver, which cannot be pickled; the next solve sets up a new one.
        return {**self.__dict__, "problem": cp.Problem(self.problem.objective, self.problem.constraints)}

    def __deepcopy__(self, memo: Any) -> LineOfPrograms:
        # Where a path is copied, its problem stays the user's, who holds the variables into which it is written.
        return self

    def _named(self, end: int) -> Mapping[str, Array]:
        return {p.name(): value for p, value in self._ends[end].items()}

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
        model = Model.of(self.problem, maximise=True, moving=False)
        primal = {v.id: point.variables[name] for name, v in model.variables.items()}
        dual = {c.id: point.duals[name] for name, c in model.constraints.items() if name in point.duals}
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
        self.move(t)
        try:
            self.problem.solve(solver="CLARABEL", warm_start=False, **conic_settings("reference"))
        except cp.SolverError:
            return float("nan")
        return (
            self.sign * float(self.problem.value)
            if self.problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
            else float("nan")
        )


def _model_of(problem: Any) -> Model:
    """The problem with names; InputError if it is none that has a path for reasons that need no compiling.

    A parameter may be the matrix of a quadratic form: where it moves, that is said by what was compiled.
    """
    if not isinstance(problem, cp.Problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {what_it_is(problem)}")
    model = Model.of(problem, maximise=True, forms=True)
    for name, variable in model.variables.items():
        if variable.attributes["integer"] or variable.attributes["boolean"]:
            raise InputError(f"problem must be convex, got the integer or boolean variable {name}")
        if variable.is_complex():
            raise InputError(f"problem must be real, got the complex variable {name}: write its two parts")
    if not model.variables:
        raise InputError("problem must have variables, got none")
    return model


def _ends(problem: Any, start: Any, stop: Any) -> tuple[Values, Values]:
    """Both ends as arrays, checked against what the parameters may be."""
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


def by_parameter(problem: Any, given: Mapping[Any, Any], argument: str) -> dict[Any, Any]:
    """The mapping with each key that is the name of one parameter of the problem replaced by that parameter.

    Raises
    ------
    InputError
        If it is no cvxpy.Problem, or a key is no parameter of it, nor the name of exactly one.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.to_qp import by_parameter
    >>> x, level = cp.Variable(name="x"), cp.Parameter(name="level")
    >>> problem = cp.Problem(cp.Minimize(x), [x >= level])
    >>> by_parameter(problem, {"level": 2.0}, "start") == {level: 2.0}
    True
    """
    if not isinstance(problem, cp.Problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {what_it_is(problem)}")
    own = [p for p in problem.parameters() if not isinstance(p, cp.CallbackParam)]
    # A CallbackParam may follow any other parameter: its function is not looked into.
    follows = len(own) < len(problem.parameters())
    found = dict[Any, Any]()
    for key, value in given.items():
        if isinstance(key, str):
            named = [p for p in own if p.name() == key]
        elif isinstance(key, cp.Parameter) and not isinstance(key, cp.CallbackParam):
            named = [key] if follows or any(key is p for p in own) else []
        else:
            named = []
        if len(named) != 1:
            raise InputError(f"{argument} must have {_keys_said(own, key, len(named))}")
        if named[0] in found:
            raise InputError(f"{argument} must have each parameter once, got {named[0].name()} by itself and by name")
        found[named[0]] = value
    return found


def _keys_said(own: list[Any], key: Any, count: int) -> str:
    """The end of a message on a key that is not one parameter: what is allowed, and what was given."""
    given = key.name() if isinstance(key, cp.Parameter) else f"{key!r:.100}"
    if count > 1:
        return f"each parameter itself for a key where several have one name, got {given}, which {count} have"
    known = ", ".join(p.name() for p in own) or "none"
    return f"parameters of the problem, or their names, for keys, got {given}: the problem has {known}"


def checked(given: Mapping[Any, Any], end: str) -> Values:
    """Values of the parameters' shapes, finite, and of the signs that the parameters promise."""
    values = {}
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


def _compiled(model: Model, values: Values, t: float, options: Any) -> tuple[dict[str, Any], Any, Any]:
    """CVXPY's data for Clarabel at these values; the parameters keep their own."""
    before = {p: p.value for p in values}
    try:
        for p, value in values.items():
            p.save_value(value)
        for p in model.problem.parameters():
            if isinstance(p, cp.CallbackParam) and not np.isfinite(dense(p.value)).all():
                raise InputError(
                    f"parameter {p.name()} must be finite along the line, got {p.value!r:.60} at t = {t:g}"
                )
        data, chain, inverse = problem_data(model.problem, options)
        moved = _moved_numbers(data["param_prob"])
    except cp.SolverError as error:
        raise InputError(f"problem must compile to a quadratic or linear program: {error}") from None
    finally:
        for p, value in before.items():
            p.save_value(value)
    return {**data, "offset": np.array([float(inverse[-1][cp.settings.OFFSET])]), "moved": moved}, chain, inverse


def _check_cones(model: Model) -> None:
    """InputError that names what is neither quadratic nor piecewise linear."""
    parts = [("the objective", model.problem.objective.expr, "is_qpwa")]
    for name, c in model.constraints.items():
        where = f"constraint {name}" if c.label else called(name, c)
        if not isinstance(c, cp.constraints.Equality | cp.constraints.Zero | cp.constraints.Inequality):
            raise _needs_cone(where, f"a cone of the kind {type(c).__name__}")
        equation = isinstance(c, cp.constraints.Equality | cp.constraints.Zero)
        parts.append((where, c.expr, "is_affine" if equation else "is_pwl"))
    for name, variable in model.variables.items():
        if variable.attributes["PSD"] or variable.attributes["NSD"]:
            raise _needs_cone(f"variable {name}", "semidefinite")
    for name, expression, test in parts:
        if not getattr(expression, test)():
            atom = _culprit(expression, test)
            raise _needs_cone(name, short(atom))


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


def _inverted(chain: Any, inverse: Any, x: Array, z: Array) -> Any:
    """CVXPY's own way back from a solver's vectors."""
    return chain.invert(SimpleNamespace(x=x, z=z, status="Solved", obj_val=0.0, solve_time=0.0, iterations=0), inverse)


def _variables(model: Model, tensors: Any, chain: Any, inverse: Any) -> dict[str, Reading]:
    """Where the entries of each variable stand in x."""
    n, m = tensors.x.size, tensors.constr_size
    told = _readings(model.variables, lambda x: _inverted(chain, inverse, x, np.zeros(m)).primal_vars, n)
    renamed, found = chain.compose_var_id_map(), {}
    for name, variable in model.variables.items():
        own = [tensors.var_id_to_col[i] for i in renamed.get(variable.id, [variable.id]) if i in tensors.var_id_to_col]
        if not any(variable.attributes[kind] for kind in _FEWER) and len(own) == 1:
            # CVXPY's way back moves values into the bounds of the variable; it stands there column by column.
            place = own[0] + np.arange(variable.size).reshape(variable.shape, order="F").ravel()
            found[name] = Reading(tuple(variable.shape), place, np.ones(variable.size))
        elif name in told:
            found[name] = told[name]
        else:
            raise InputError(f"variable {name} must stand entry by entry in the program that CVXPY compiles")
    return found


def _readings(leaves: Mapping[str, Any], back: Any, size: int) -> dict[str, Reading]:
    """Where their entries stand in a vector: CVXPY's way back, applied to 1, ..., size; only what is so read."""
    probe = np.random.default_rng(0).normal(size=size)
    numbered, ones, tried = (back(v) or {} for v in (np.arange(1.0, size + 1), np.ones(size), probe))
    found = {}
    for name, leaf in leaves.items():
        if leaf.id not in numbered or isinstance(numbered[leaf.id], list | tuple):  # of a cone with several parts
            continue
        at, factor, there = (np.asarray(dense(each[leaf.id]), dtype=np.float64) for each in (numbered, ones, tried))
        used = factor != 0.0
        place = np.where(used, at / np.where(used, factor, 1.0), 1.0).round().astype(np.int64).ravel() - 1
        if at.size != leaf.size or place.min(initial=0) < 0 or place.max(initial=0) >= size:
            continue
        # A second-order cone has as many multipliers as entries, but the shape of its first argument.
        shape = tuple(leaf.shape) if math.prod(leaf.shape) == at.size else at.shape
        reading = Reading(shape, place, factor.ravel())
        if np.allclose(reading.of(probe).ravel(), there.ravel(), rtol=1e-14, atol=0.0):
            found[name] = reading
    return found


def _matrix(data: Mapping[str, Any], key: str, n: int, m: int) -> Any:
    return data[key] if key in data else sp.csc_array((n if key == "P" else m, n))


def _vector(data: Mapping[str, Any], key: str) -> Array:
    return np.array(data[key], dtype=np.float64)


def _check_finite(line: ProgramLine, P: list[Any], A: list[Any]) -> None:
    """InputError that names what holds a nan or an infinite number."""
    for i in np.flatnonzero(~np.isfinite(line.b).all(axis=0)).tolist():
        raise InputError(f"{line.row_name(i)} must be finite, got {line.b[:, i].tolist()}: leave it out")
    for i, j in (
        np.argwhere(~np.isfinite(each.toarray()))[0].tolist() for each in A if not np.isfinite(each.data).all()
    ):
        raise InputError(
            f"{line.row_name(i)} must have finite coefficients, got one of {line.column_name(j)} that is not"
        )
    data = (line.q, line.constant, *(each.data for each in P))
    if not all(np.isfinite(each).all() for each in data):
        raise InputError("the objective must have finite coefficients, got one that is not")


def _differs(A: Any, B: Any) -> bool:
    """Whether two sparse matrices differ by more than the rounding of their entries."""
    apart, size = abs(A - B), SAME_NUMBER * (abs(A) + abs(B))
    return bool((apart - size).max() > 0.0) if apart.nnz else False


def _moved_numbers(tensors: Any) -> Array:
    """What CVXPY's tensors are multiplied with: the parameters, one after the other, and 1 for what has none."""
    numbers: Array = np.ones(tensors.total_param_size + 1)
    for p in tensors.parameters:
        begin = tensors.param_id_to_col[p.id]
        numbers[begin : begin + p.size] = dense(p.value).ravel(order="F")
    return numbers


def _entries(tensor: Any, numbers: Array, columns: int) -> Any:
    """The data, so many columns of them, that a tensor makes of numbers in place of the parameters."""
    each, rows = sp.coo_array(tensor), tensor.shape[0] // columns
    data = each.data * numbers[each.col]
    kept = data != 0  # a product would be of an array as long as rows times columns
    place = each.row[kept].astype(np.int64)
    return sp.csc_array((data[kept], (place % rows, place // rows)), shape=(rows, columns))


def _bend(ends: tuple[Array, Array], third: Array, first: Values, last: Values) -> Array:
    """By how much each parameter is off the straight line at the third point; 0 for what is rounding.

    Only a CallbackParam can be off. It is rounded itself, and computed from parameters that are.
    """
    bend = third - between(ends, _THIRD)
    a, b = (np.concatenate([values[p].ravel() for p in first]) for values in (first, last))
    a, b = a[a != b], b[a != b]
    digits = float(((np.abs(a) + np.abs(b)) / np.abs(b - a)).min(initial=0.0 if not a.size else np.inf))
    room = AFFINE * (np.abs(ends[0]) + np.abs(ends[1]) + np.abs(third))
    room += 2 * np.finfo(float).eps * digits * np.abs(ends[1] - ends[0])
    return np.where(np.abs(bend) > room, bend, 0.0)


def _bent(tensor: Any, bend: Array, columns: int) -> Any:
    """Which of the data bend, each against the sum of its own terms."""
    return abs(_entries(tensor, bend, columns)) > AFFINE * _entries(abs(tensor), np.abs(bend), columns)


def _bent_said(problem: Any, tensors: Any, bend: Array, moved: Values) -> str:
    """What to say of data that are not affine."""
    called = [p for p in problem.parameters() if isinstance(p, cp.CallbackParam)]
    begins = [tensors.param_id_to_col.get(p.id, 0) for p in called]
    own = [p.name() for p, begin in zip(called, begins, strict=True) if bend[begin : begin + p.size].any()]
    return (
        f"the data of the problem must be affine along the line, got a bend between the ends of "
        f"{', '.join(p.name() for p in moved)}: the CallbackParam {', '.join(own)} is no affine function of them. Make "
        "it a cvxpy.Parameter, and trace in that"
    )


def _in_matrix(problem: Any, tensors: Any, ends: tuple[Values, Values], which: str, because: str) -> str:
    """What to say of a parameter that stands in P or in A: which one, in which terms, and what would do."""
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
    elif all(p.is_scalar() for p in culprits):
        remedy = (
            f"where {many} multiplies the whole quadratic, divide the objective by it: its inverse then multiplies the "
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
