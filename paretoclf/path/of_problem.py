r"""The exact path of a convex quadratic or linear program written in CVXPY, and how it is traced.

A program is compiled once (`paretoclf.solve.to_qp`), reduced (`paretoclf.engine.reduction.presolve`), followed
(`paretoclf.engine.general`), and taken back to every column x and multiplier z of the compiled program, on which it is
proved (`paretoclf.proof.programs`). No CVXPY is needed here: what belongs to it comes in with the source.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile
from paretoclf.engine.engines import ENGINES
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import AnyPoints, ProgramLine
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.path.along import (
    Beyond,
    Event,
    Shares,
    events_of,
    words_of,
)
from paretoclf.path.of_problem_stored import arrays_of
from paretoclf.path.on_line import Source, check_line
from paretoclf.path.on_segments import Rates
from paretoclf.path.program_ends import (
    OutOfExchanges,
    beyond_of,
    no_start,
    out_of_exchanges,
    ray_of,
    taken_back,
)
from paretoclf.path.scored import Scored
from paretoclf.path.unique import tight_rows
from paretoclf.problem.parametric_qp import shortest_stretch
from paretoclf.proof.convexity import refused_for, said_of, share_of_shift
from paretoclf.proof.line import LineProof
from paretoclf.proof.programs import JUDGED, prove_program
from paretoclf.proof.rays import judge_ray
from paretoclf.proof.row_units import Sizes


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
    points : AnyPoints
        Columns and multipliers of the compiled program where segments begin and end; between they are affine. Those of
        a large path are made when they are asked for.
    labels : array of shape (k, items)
        Where each item of the reduced program is on each segment; see `paretoclf.problem.parametric_qp`.
    items : tuple of str
        Names of the items.
    kinks : bool array of shape (items,)
        Items whose two bounds are one that may be left at a price: kinks of absolute values.
    status : str
        ``"end"``; ``"infeasible"`` or ``"unbounded"`` for every later t, the second of feasible points if there are
        any, see `beyond`; ``"limit"`` where ``max_events`` ended it.
    seconds : mapping of str to float
        Time that it took to ``"compile"`` the problem, to ``"reduce"`` it, and to ``"trace"`` it.
    source : object, optional
        The problem itself; none of a path that was loaded.
    max_events : int, optional
        As it was given.
    unchecked : str
        What a file says that nothing checks, as it was written before such things were bound by a hash; else empty.

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
    points: AnyPoints = field(repr=False)
    labels: Any
    items: tuple[str, ...]
    kinks: Any
    status: str
    ray: Any = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    source: Any = None
    max_events: int | None = None
    unchecked: str = ""

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
        """What is proved of it, at every t, on the program as CVXPY compiled it (`paretoclf.proof.programs`)."""
        found = prove_program(self.program, self.t, self.points)
        said = f" {self.unchecked[0].upper()}{self.unchecked[1:]}: said, not checked." if self.unchecked else ""
        convex = self._said_of_convexity(found.sizes.min(axis=1))
        return replace(found, writer=self._write_certificate, note=f"{JUDGED}{said} {convex}".rstrip())

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
        """The certificate file of the compiled program, guided by the rows that are tight on each segment."""
        from paretoclf.proof.files.file import save_program  # few paths are written as certificates

        if positive is not None:
            raise InputError(f"positive is what y = +1 stands for; a program has no labels, got {positive!r:.100}")
        line = self.program
        k, whole = 2 * len(self.labels), self.status == "end" and self.t[-1] == 1
        t = np.stack([self.t[:-1], self.t[1:]], axis=1).ravel()
        knots = (t, self.x.reshape(k, -1), -self.z.reshape(k, -1)) if whole else None
        about = self._said_of_convexity(self.proof.sizes.min(axis=1))
        save_program(line.problem, self._tight_labels(), file, level, progress, n_jobs, knots, about)

    def _tight_labels(self) -> Iterator[Any]:
        """Labels of columns and rows of the compiled program on each segment."""
        from paretoclf.proof.files.guide import labels_of_rows

        line, sizes = self.program, Sizes(self.program)
        for j in range(len(self.labels)):
            x, z = self.points.segment(j)
            tight, priced = tight_rows(line, self.t[j : j + 2], x, z, sizes)
            yield labels_of_rows(line, priced, tight)

    def _refuted(self) -> Beyond:
        line, status, ray = self.program, self.status, self.ray
        return beyond_of(line, status, ray, float(self.t[-1]), judge_ray(line, status, ray))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What changes at each breakpoint between the ends, in the user's names."""
        return events_of(self.t, self.labels, self.items, words_of(self.kinks), self.parameters)

    def _columns(self, j: int, share: Shares) -> Array:
        return np.asarray(share.between(*self.points.segment(j)[0]))

    def _multipliers(self, j: int, share: Shares) -> Array:
        return np.asarray(share.between(*self.points.segment(j)[1]))

    def _rates(self, j: int, t: float) -> Rates:
        line, length = self.program, float(self.t[j + 1] - self.t[j])
        share, ends = self._locate(t, j)[1], self.points.segment(j)
        (x, z), (dx, dz) = ([share.between(*each) for each in ends], [(each[1] - each[0]) / length for each in ends])
        return line.rate(x, z), line.rates(x, dx, t), line.duals(dz)

    @cached_property
    def _least(self) -> float:  # type: ignore[override]
        """No stretch that is shorter can be told from a point; 0 where all are."""
        moving = [np.stack(pair) for pair in self._moves.values()]
        least = shortest_stretch(self.program.q, self.program.b, *moving)
        return least if (np.diff(self.t) > least).any() else 0.0

    def like(self, formulation: Any) -> ProblemPath:
        """The same line of another formulation, traced in the same way."""
        return trace_problem(self.source.again(formulation), type(self), max_events=self.max_events, progress=False)

    def _arrays(self) -> Mapping[str, Any]:
        return arrays_of(self)

    @property
    def _ending(self) -> str:
        if self.status == "limit":
            return "it was stopped" if self.unchecked else "max_events was reached"
        return super()._ending

    def __repr__(self) -> str:
        sizes = f"{self.program.n} columns and {self.program.m} rows"
        more = f"; {self.unchecked}: said, not checked" if self.unchecked else ""
        return f"ProblemPath({self._how_far()}, {self.breakpoints.size} breakpoints, {sizes}{more})"


def trace_problem(
    source: Source,
    kind: type[ProblemPath] = ProblemPath,
    *,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> ProblemPath:
    """Follow a problem along a line of its parameters.

    Parameters
    ----------
    source : Source
        A problem and a line of its parameters: of a ``cvxpy.Problem`` `paretoclf.solve.to_qp.LineOfPrograms`, of a
        `ParametricQP` `paretoclf.solve.of_items.LineOfItems`.
    kind : type
        What the path is to be: a class of your own, derived from `ProblemPath`, says what its t means, and what only
        it can be asked.
    certify, max_events, progress
        As for `paretoclf.path.tracing.trace`.

    Raises
    ------
    InputError
        If there is no optimum at the start: with the constraints or variables to blame, and from where on there is one.
    DegeneratePathError
        If the path cannot be continued, or fails its proof.
    """
    how: dict[str, Any] = {"kind": kind, "certify": certify, "max_events": max_events, "progress": progress}
    reduced, reducing = _timed(lambda: reduce(source.line))
    try:
        return _traced(source, reduced, reducing, **how)
    except OutOfExchanges:
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


def _traced(
    source: Source,
    reduced: Reduced,
    reducing: float,
    *,
    kind: type[ProblemPath],
    certify: bool,
    max_events: int | None,
    progress: bool | None,
    finer: dict[str, Any] | None = None,
) -> ProblemPath:
    """The path by one reduction, which took some seconds."""
    limits = {"max_events": max_events, "progress": progress, **(finer or {})}
    found, tracing = _timed(lambda: follow(reduced.problem, **limits))
    if found.status == "limit" and max_events is None:
        raise out_of_exchanges(found)
    ray = None if found.status in ("end", "limit") else ray_of(reduced, found)
    if not len(found.labels):
        raise no_start(reduced, found, ray)
    points = taken_back(reduced, found)
    seconds = {"compile": source.seconds, "reduce": reducing, "trace": tracing}
    labels = np.asarray(found.labels, dtype=np.int8)
    problem = reduced.problem
    kinks = np.asarray(problem.fixed & np.isfinite(problem.below[0]) & np.isfinite(problem.above[0]))
    how = (found.status, ray, seconds, source, max_events)
    path = kind(source.line, source.ends, found.t, points, labels, problem.names, kinks, *how)
    if certify:
        check_line(path)
    return path


def _timed(what: Any) -> tuple[Any, float]:
    """A result, and how long it took."""
    began = time.perf_counter()
    return what(), time.perf_counter() - began
