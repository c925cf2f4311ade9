"""From a problem and the ranges of two of its parameters to its program on a rectangle: data at three corners."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import check_number, what_it_is
from paretoclf.common.errors import InputError, MovesMatrixError, NeedsConeError
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.qp import QP
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.sources.array_line import LineOfArrays
from paretoclf.solve.sources.compiled_data import CompiledProblem
from paretoclf.solve.sources.formulation_line import of_either
from paretoclf.solve.sources.parameter_entries import keys_of, whole
from paretoclf.solve.sources.problem_line import CompiledLine, LineOfPrograms, checked, compiled_problem

#: What to do where a problem has no map, since its solutions are not affine in two parameters.
_ALONG = "trace one parameter at a time, within an eps where the exact path is refused, or use sweep"

#: Both ends of the range of a parameter, of its shape.
Ranges = Mapping[Any, tuple[Any, Any]]


class PlaneSource:
    """A problem and the ranges of two of its parameters.

    Attributes
    ----------
    line : ProgramLine
        The side on which the first parameter moves.
    ranges : mapping of str to (first, last)
        Both ends of what moves, by name.
    texts : mapping of str to str
        Constraints without a label: what they are called, and that with their text.
    seconds : float
        Time that compiling took.
    """

    def __init__(self, ranges: Ranges, line_to: Callable[[float, float], Any]) -> None:
        began = time.perf_counter()
        sides = [line_to(*corner) for corner in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
        for side, p in zip(sides[:2], ranges, strict=True):
            if all(np.array_equal(*getattr(side.line, key)) for key in ("q", "b", "constant")):
                raise InputError(f"ranges must be of parameters that the problem depends on: {_name(p)} moves nothing")
        found = ProgramPlane.of(*(side.line for side in sides))
        self.line: ProgramLine = found.line
        self._data = found.q, found.b, found.constant
        self.ranges = {_name(p): ends for p, ends in ranges.items()}
        self.texts, self.sign = sides[0].texts, 1
        self.seconds = time.perf_counter() - began

    @property
    def plane(self) -> ProgramPlane:
        """The program on the unit square, which the ranges are."""
        return ProgramPlane(self.line, *self._data)


def plane_source(problem: Any, ranges: Any) -> PlaneSource:
    """Compile a problem at the corners of a rectangle of two of its parameters.

    Parameters
    ----------
    problem : cvxpy.Problem, QP or formulation
    ranges : mapping
        Two parameters, by themselves or, of a QP or formulation, by name, each with a pair (lo, hi); others with the
        number that they are.

    Raises
    ------
    InputError
        If these are no two ranges, or it has no quadratic or linear program in them with fixed matrices.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.solve.sources.problem_plane import plane_source
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"q": [1.0]}, "b": {"l": [1.0]}})
    >>> plane_source(qp, {"a": (0, 2), "b": (1, 4)}).plane.b.ravel().tolist()
    [-1.0, -1.0, -4.0]
    """
    if not isinstance(ranges, Mapping) or not ranges:
        raise InputError(f"ranges must map two parameters to pairs (lo, hi), got {ranges!r:.100}")
    if isinstance(problem, QP):
        moving, fixed = _told_apart(ranges, lambda key: ())
        return _of_lines(moving, fixed, lambda first, last: LineOfArrays(problem, first, last, True))
    if isinstance(problem, cp.Problem):
        return _of_problem(problem, ranges)
    if isinstance(problem, type) or not hasattr(type(problem), "primal_model"):
        raise InputError(f"problem must be a formulation, a cvxpy.Problem or a QP, got {what_it_is(problem)}")
    return _of_formulation(problem, ranges)


def _of_formulation(formulation: Any, ranges: Mapping[Any, Any]) -> PlaneSource:
    """The program of a formulation: its primal, else its dual."""
    known, name = tuple(formulation.domain), type(formulation).__name__
    for key in (*ranges, *known):
        if key not in known or key not in ranges:
            raise InputError(
                f"ranges must have the parameters of {name}, {', '.join(known)}, got {', '.join(map(str, ranges))}"
            )
    moving, fixed = _told_apart(ranges, lambda key: ())
    for k in (0, 1):
        formulation.check_values({**fixed, **{key: float(pair[k]) for key, pair in moving.items()}})

    def made(problem: Any) -> PlaneSource:
        own = problem.parameters()
        follows = any(isinstance(p, cp.CallbackParam) for p in own)
        used = {key: p for key, p in formulation.parameters.items() if follows or any(p is each for each in own)}
        return _of_problem(problem, {p: ranges[key] for key, p in used.items()})

    values = {**fixed, **{key: float(pair[0]) for key, pair in moving.items()}}
    return of_either(
        formulation, values, made, f"no map for {name} in {', '.join(moving)}: trace along a line, or use sweep. "
    )


def _of_problem(problem: Any, ranges: Mapping[Any, Any]) -> PlaneSource:
    """The program of a problem of CVXPY."""
    ranges = keys_of(problem, ranges, "ranges")
    whole_ones = {getattr(key, "parameter", key) for key in ranges}
    for p in problem.parameters():
        if p not in whole_ones and not isinstance(p, cp.CallbackParam) and p.value is None:
            raise InputError(f"parameter {p.name()} must be in ranges, or have a value that it keeps")
    moving, fixed = _told_apart(ranges, lambda p: p.shape)
    for k in (0, 1):
        checked(whole({p: pair[k] for p, pair in moving.items()} | fixed, "ranges"), "ranges")

    compiled = list[CompiledProblem]()

    def line(first: Any, last: Any) -> Any:
        first, last = whole(first, "ranges"), whole(last, "ranges")
        try:
            if not compiled:
                compiled.append(compiled_problem(problem, checked(first, "ranges")))
            found = LineOfPrograms(problem, first, last, True, compiled[0])
            if found.line.moved:
                raise MovesMatrixError(CompiledLine.of(problem, first, last).moving("A"))
        except (NeedsConeError, MovesMatrixError) as error:
            raise InputError(f"{error}. There is no map of it: {_ALONG}") from None
        return found

    return _of_lines(moving, fixed, line)


def _of_lines(moving: Ranges, fixed: Mapping[Any, Any], line: Callable[[Any, Any], Any]) -> PlaneSource:
    """The source whose sides are lines between values of the parameters."""
    first = {p: pair[0] for p, pair in moving.items()} | dict(fixed)

    def to(*corner: float) -> Any:
        ends = zip(moving.items(), corner, strict=True)
        return line(first, first | {p: pair[int(k)] for (p, pair), k in ends})

    return PlaneSource(moving, to)


#: What to do where fewer than two move.
_OF_ENTRIES = "trace takes one, and two entries of one are {x0[0]: (lo, hi), x0[1]: (lo, hi)}"


def _told_apart(
    ranges: Mapping[Any, Any], shape: Callable[[Any], Any]
) -> tuple[dict[Any, tuple[Any, Any]], dict[Any, Any]]:
    """The two that move, with both ends of their ranges, and the others with their values."""
    moving, fixed = dict[Any, tuple[Any, Any]](), dict[Any, Any]()
    for p, given in ranges.items():
        name, size = f"ranges[{_name(p)}]", shape(p)
        if isinstance(given, tuple | list) and len(given) == 2:
            pair = tuple(_finite(end, name, size) for end in given)
            if size == () and not pair[0] < pair[1]:
                raise InputError(
                    f"{name} must be a pair (lo, hi) with lo < hi, got {given!r:.100}: the rectangle is empty"
                )
            if np.array_equal(*pair):
                raise InputError(f"{name} must have different ends, got {given!r:.100}: the rectangle is empty")
            moving[p] = pair[0], pair[1]
        elif size == () and np.ndim(given) > 0:
            raise InputError(f"{name} must be a pair (lo, hi), or a number where it stays, got {given!r:.100}")
        else:
            fixed[p] = _finite(given, name, size)
    if len(moving) != 2:
        which = ", ".join(_name(p) for p in moving) or "none"
        remedy = "fix the others, as numbers, or trace along a line" if len(moving) > 2 else _OF_ENTRIES
        raise InputError(f"ranges must be of two parameters, got {len(moving)} that move ({which}): {remedy}")
    if len({_name(p) for p in moving}) < 2:
        raise InputError(f"parameters must have different names, got {_name(next(iter(moving)))} twice")
    return moving, fixed


def _finite(given: Any, name: str, shape: Any) -> Any:
    """A number, or an array of a shape, that is finite."""
    value = check_number(given, name) if shape == () else given
    if not np.isfinite(np.asarray(value, dtype=np.float64)).all():
        raise InputError(f"{name} must be finite, got {given!r:.100}")
    return value


def _name(p: Any) -> str:
    return p if isinstance(p, str) else str(p.name())
