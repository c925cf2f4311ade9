r"""The exact path of a convex quadratic or linear program written in CVXPY, and how it is traced.

A program is compiled once (`paretoclf.solve.sources.problem_line`), reduced (`paretoclf.engine.reduction.presolve`),
followed (`paretoclf.engine.general`), and taken back to every column x and multiplier z of the compiled program, on
which it is proved (`paretoclf.proof.programs.program_lines`). No CVXPY is needed here: what belongs to it comes in with
the source.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError, InterruptedPath, StoppedError
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import PathLimits
from paretoclf.common.tolerances import ROUNDING
from paretoclf.engine.engines import ENGINES
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.engine.reduction.taken_back import taken_back
from paretoclf.engine.vertex import vertex
from paretoclf.path.base.path import Rates
from paretoclf.path.base.path_content import content_of_path
from paretoclf.path.base.points import Event
from paretoclf.path.programs.path_ends import (
    beyond_of,
    out_of_exchanges,
    out_of_time,
    ray_of,
)
from paretoclf.path.programs.program_path import Source, check_line
from paretoclf.path.programs.program_points import Beyond, words_of
from paretoclf.path.programs.scored_path import Scored
from paretoclf.problem.parametric_qp import ParametricQP, shortest_stretch
from paretoclf.problem.shares import Shares
from paretoclf.problem.trace import Trace
from paretoclf.proof.programs.convexity import refused_for, said_of, share_of_shift
from paretoclf.proof.programs.program_lines import JUDGED, prove_program
from paretoclf.proof.programs.rays import judge_ray
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.verdicts.proof import refuse_labels

#: Items from which on a path may take so long that it is said before.
_MANY = 500


@dataclass(frozen=True, repr=False)
class ProblemPath(Scored):
    """The optimum of a quadratic or linear program at every point of a line of its parameters.

    Attributes
    ----------
    program : ProgramLine
        What CVXPY compiled.
    ends : pair of mappings
        The parameters at t = 0 and t = 1, by name.
    t : array of shape (k + 1,)
        Ends of the segments.
    points : ProgramPoints
        Columns and multipliers of the compiled program where segments begin and end; between they are affine. Those of
        a large path are made when they are asked for.
    labels : array of shape (k, items)
        Where each item of the reduced program is on each segment; see `paretoclf.problem.parametric_qp`.
    items : tuple of str
        Names of the items.
    kinks : array of shape (items,)
        1 for items whose two bounds are one that may be left at a price, kinks of absolute values; 2 for a kink at 0.
    status : str
        ``"end"``; ``"infeasible"`` or ``"unbounded"`` for every later t, the second of feasible points if there are
        any, see `beyond`; ``"limit"`` where ``max_events`` or ``max_seconds`` ended it, or the
        keyboard.
    seconds : mapping of str to float
        Time that it took to ``"compile"`` the problem, to ``"reduce"`` it, and to ``"trace"`` it.
    source : object, optional
        The problem itself; none of a path that was loaded.
    max_events : int, optional
        As it was given.
    unchecked : str
        What a file says that nothing checks, as it was written before such things were bound by a hash; else empty.
    terms : mapping of int to pair, optional
        Names of items that are terms of the objective, as a file has them (see ``paretoclf.path.base.term_names``).

    Notes
    -----
    Between two breakpoints every variable and every multiplier is affine in t, and the value is quadratic; quadratic
    are the variables ``program.parabolas``, too, next to which a moving parameter stands, such as v in ``v >= s * x``.
    Where optima are not unique, the path goes through some of them, and may jump from one to another at a breakpoint;
    the value is continuous.

    References
    ----------
    Best (1996), "An algorithm for the solution of the parametric quadratic programming problem"; Ritter (1981).
    """

    program: ProgramLine = field(repr=False)
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    t: Array
    points: ProgramPoints = field(repr=False)
    labels: Any
    items: tuple[str, ...]
    kinks: Any
    status: str
    ray: Any = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    source: Any = None
    max_events: int | None = None
    unchecked: str = ""
    terms: Mapping[int, tuple[str, int]] | None = field(default=None, repr=False)

    @property
    def x(self) -> Array:
        """Columns of the compiled program at both ends of each segment, shape (k, 2, columns)."""
        return self._spread[0]

    @property
    def z(self) -> Array:
        """Multipliers of its rows at both ends of each segment, shape (k, 2, rows)."""
        return self._spread[1]

    @cached_property
    def _spread(self) -> tuple[Array, Array]:
        return self.points.spread()

    @cached_property
    def proof(self) -> LineProof:
        """Proof of the path, at every t, on the program as CVXPY compiled it (see `proof.programs.program_lines`)."""
        found = prove_program(self.program, self.t, self.points)
        said = f" {self.unchecked[0].upper()}{self.unchecked[1:]}: said, not checked." if self.unchecked else ""
        convex = self._said_of_convexity(found.sizes.min(axis=1))
        integers = f" T{self._integers[1:]}." if self._integers else ""
        return replace(found, writer=self._write_certificate, note=f"{JUDGED}{said} {convex}".rstrip() + integers)

    @cached_property
    def _integers(self) -> str:
        """Words on what became of the integers of a file; empty where there are none."""
        integers = getattr(getattr(self.source, "qp", None), "integers", None)
        if not integers:
            return ""
        from paretoclf.problem.integers import said_of  # few programs have any

        return said_of(integers)

    def _said_of_convexity(self, sizes: Array) -> str:
        """Say how far P is from convex, where the value on segments is of such sizes."""
        return said_of(self.program, share_of_shift(self.program, self.t, self.points, sizes))

    def _write_certificate(
        self,
        file: AnyFile,
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
        """Write the certificate file of the compiled program."""
        from paretoclf.path.programs.problem_certificate import save_certificate  # few paths have one written

        refuse_labels(positive)
        about = self._said_of_convexity(self.proof.sizes.min(axis=1))
        save_certificate(self, file, level, progress, n_jobs, about)

    def _refuted(self) -> Beyond:
        line, status, ray = self.program, self.status, self.ray
        return beyond_of(line, status, ray, float(self.t[-1]), judge_ray(line, status, ray))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Changes of the user's variables, constraints and terms at each breakpoint between the ends."""
        from paretoclf.path.base.program_events import program_events  # few paths are asked for them

        return program_events(self, words_of(self.kinks))

    def _columns(self, j: int, share: Shares) -> Array:
        return np.asarray(share.between(*self.points.segment(j)[0]))

    def _multipliers(self, j: int, share: Shares) -> Array:
        return np.asarray(share.between(*self.points.segment(j)[1]))

    def _rates(self, j: int, t: float) -> Rates:
        line = self.program
        length = float(self.t[j + 1] - self.t[j])
        _, share = self._locate(t, j)
        ends = self.points.segment(j)
        x, z = (share.between(*each) for each in ends)
        dx, dz = ((last - first) / length for first, last in ends)
        return line.rate(x, z), line.rates(x, dx, t), line.duals(dz)

    @cached_property
    def _least(self) -> float:  # type: ignore[override]
        """No stretch that is shorter can be told from a point; 0 where all are."""
        moving = [np.stack(pair) for pair in self._moves.values()]
        least = shortest_stretch(self.program.q, self.program.b, *moving)
        return least if (np.diff(self.t) > least).any() else 0.0

    def like(self, formulation: Any) -> ProblemPath:
        """Trace the same line of another formulation, in the same way."""
        return trace_problem(self.source.again(formulation), type(self), max_events=self.max_events, progress=False)

    def _arrays(self) -> Mapping[str, Any]:
        from paretoclf.path.base.program_events import terms_of  # few paths are written to files

        return content_of_path(self, terms_of(self))

    @property
    def _ending(self) -> str:
        if self.status == "limit":
            return "it was stopped" if self.max_events is None else "max_events was reached"
        return super()._ending

    def __repr__(self) -> str:
        sizes = f"{self.program.n} columns and {self.program.m} rows"
        more = f"; {self.unchecked}: said, not checked" if self.unchecked else ""
        more += f"; {self._integers}" if self._integers else ""
        return f"ProblemPath({self._how_far()}, {self.breakpoints.size} breakpoints, {sizes}{more})"


def trace_problem(
    source: Source,
    kind: type[ProblemPath] = ProblemPath,
    *,
    certify: bool = True,
    max_events: int | None = None,
    max_seconds: float | None = None,
    progress: bool | None = None,
    split: tuple[int, int | None] | None = None,
) -> ProblemPath:
    """Follow a problem along a line of its parameters.

    Parameters
    ----------
    source : Source
        A problem and a line of its parameters: of a ``cvxpy.Problem``
        `paretoclf.solve.sources.problem_line.LineOfPrograms`, of a `ParametricQP`
        `paretoclf.solve.sources.item_line.LineOfItems`.
    kind : type
        What the path is to be: a class of your own, derived from `ProblemPath`, says what its t means, and what only
        it can be asked.
    certify, max_events, max_seconds, progress
        As for `paretoclf.path.tracing.trace`.
    split : pair, optional
        The number of parts to follow it in, and ``n_jobs``; without limits.

    Raises
    ------
    InputError
        If there is no optimum at the start: with the constraints or variables to blame, and from where on there is one.
    DegeneratePathError
        If the path cannot be continued, or fails its proof.
    InterruptedPath
        If the keyboard interrupts the engine: with the path as far as it came.
    """
    limits = PathLimits.of(max_events, max_seconds)
    follower = _follower(limits, progress, split)
    how: dict[str, Any] = {"kind": kind, "certify": certify, "limits": limits, "follower": follower}
    try:
        reduced, reducing = _timed(lambda: reduce(source.line))
    except InputError as error:
        from paretoclf.path.programs.no_start import with_a_place  # few paths are refused

        raise with_a_place(error, source.line, source.ends) from None
    if reduced.problem.items >= _MANY:
        from paretoclf.engine.forecast import foretell  # few programs are so large

        foretell(reduced.problem, progress)
    try:
        return _traced(source, reduced, reducing, **how)
    except StoppedError:
        raise
    except DegeneratePathError as error:
        refused = error
    if sp.issparse(reduced.problem.P):  # a sparse factor may have been too little
        try:
            reduced = replace(reduced, problem=reduced.problem.dense())
        except InputError:
            raise refused_for(source.line, refused) from None
        with suppress(DegeneratePathError):
            return _traced(source, reduced, reducing, **how)
    # Its points may be known too little, or the products of rows that are squared bend where the program does not.
    careful: tuple[dict[str, Any], ...] = ({"engine": "careful"},) if "careful" in ENGINES else ()
    for finer in (*careful, {"precise": True}):
        with suppress(DegeneratePathError):
            return _traced(source, reduced, reducing, finer=finer, **how)
    plain, more = _timed(lambda: reduce(source.line, squares=False))
    if plain.problem.items != reduced.problem.items:  # else it is the same problem
        with suppress(DegeneratePathError):
            return _traced(source, plain, reducing + more, **how)
    raise refused_for(source.line, refused)


def _follower(limits: PathLimits, progress: bool | None, split: tuple[int, int | None] | None) -> Callable[..., Trace]:
    """Function that follows a reduced problem, in one or in parts."""
    if split is not None:
        from paretoclf.engine.parts import follow_in_parts  # few paths are followed in parts

        return partial(follow_in_parts, parts=split[0], n_jobs=split[1], progress=progress)
    how: dict[str, Any] = {"max_events": limits.events, "progress": progress, "deadline": limits.deadline}

    def in_one(problem: ParametricQP, **finer: Any) -> Trace:
        """Follow it from the vertex that a solver finds, or from the engine's own start."""
        return follow(problem, labels=vertex(problem, limits.deadline), **how, **finer)

    return in_one


def _traced(
    source: Source,
    reduced: Reduced,
    reducing: float,
    *,
    kind: type[ProblemPath],
    certify: bool,
    limits: PathLimits,
    follower: Callable[..., Trace],
    finer: dict[str, Any] | None = None,
) -> ProblemPath:
    """The path by one reduction, which took some seconds."""
    max_events, deadline = limits
    found, tracing = _timed(lambda: follower(reduced.problem, **(finer or {})))
    interrupted = found.status == "interrupted"
    if interrupted:
        found = replace(found, status="limit")
    elif found.status == "limit" and max_events is None and deadline == math.inf:
        raise out_of_exchanges(found)
    ray = None if found.status in ("end", "limit") else ray_of(reduced, found)
    if not found.segments:
        if ray is None:
            raise out_of_time(found) if time.monotonic() >= deadline else out_of_exchanges(found)
        from paretoclf.path.programs.no_start import no_start  # few paths are refused

        raise no_start(reduced, found, ray, source.ends)
    points = taken_back(reduced, found.path)
    seconds = {"compile": source.seconds, "reduce": reducing, "trace": tracing}
    problem = reduced.problem
    kinks = problem.fixed & np.isfinite(problem.below[0]) & np.isfinite(problem.above[0])
    kinks = kinks * (1 + ~problem.lower.any(axis=0))
    how = (found.status, ray, seconds, source, max_events)
    path = kind(source.line, source.ends, found.t, points, found.labels, problem.names, kinks, *how)
    if certify and not path.proof.passes() and points.are_kept:  # what should be 0 may be rounding
        plain = replace(path, points=_without_rounding(points, source.line))
        path = plain if plain.proof.passes() else path
    if certify:
        check_line(path)
    if interrupted:
        raise InterruptedPath(path)
    return path


def _without_rounding(points: ProgramPoints, line: ProgramLine) -> ProgramPoints:
    """The points of a path, with 0 for what is rounding beside its largest columns, and what these cost.

    Where the optimal value is 0 along a stretch all multipliers should be 0, and nothing on it says what is small.
    """
    of_columns, costs, of_multipliers = (np.abs(each).max(initial=0.0) for each in (points.x, line.q, points.z))
    gradient = costs + abs(line.P).sum(axis=1).max(initial=0.0) * of_columns
    return points.cleared(ROUNDING * of_columns, ROUNDING * max(gradient, of_multipliers))


def _timed(what: Any) -> tuple[Any, float]:
    """A result, and how long it took."""
    began = time.perf_counter()
    return what(), time.perf_counter() - began
