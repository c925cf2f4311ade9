r"""The path of any convex program within eps of the optimum at every t, and how it is traced.

A problem is compiled to a cone program along a line (`paretoclf.solve.sources.cone_problem_line`), solved at some t
(`paretoclf.solve.eps.search`), and proved between them (`paretoclf.proof.bands.line_judge`): points and multipliers are
interpolated, stay feasible, and bound the optimal value from both sides at every t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from paretoclf.common.checks import Array, check_share
from paretoclf.common.errors import DegeneratePathError, InputError, InterruptedPath, StoppedError
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import PathLimits
from paretoclf.engine.reduction.program import between
from paretoclf.path.base.point_rows import point_rows
from paretoclf.path.base.points import Event, those
from paretoclf.path.programs.eps_path_file import arrays_of
from paretoclf.path.programs.path_ends import beyond_of
from paretoclf.path.programs.program_path import Source
from paretoclf.path.programs.program_points import Beyond, ProblemPoint, events_of
from paretoclf.path.programs.scored_path import Scored
from paretoclf.problem.shares import Shares
from paretoclf.proof.bands.band_proof import BandProof, judge_cone_ray, prove_band
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.programs.convexity import check_cost, convex_line, refused_for

if TYPE_CHECKING:
    from paretoclf.problem.classifiers import Rule
    from paretoclf.roc.scores import PathScores

#: Why slopes have no bounds where a matrix of constraints moves.
NO_SLOPES = (
    "slopes has no bounds where a parameter multiplies a variable of a constraint: the optimal value is neither convex "
    "nor concave in it then; take differences of `bounds` of a path within eps"
)

#: Parts of a piece on which a page shows parabolas where a matrix of constraints moves.
_PARTS = 8

#: An entry, or a slack, of less than this share of the largest of its own is shown as 0.
_ZERO = 1e-5


@dataclass(frozen=True, repr=False)
class BandPoint(ProblemPoint):
    """A feasible point that is within eps of optimal at one t, in the user's words.

    Attributes
    ----------
    value : float
        The objective at the point.
    bounds : pair of float
        The optimal value is between them, proved; one of them is that of the point, up to rounding.
    """

    bounds: tuple[float, float]

    def __repr__(self) -> str:
        first, *others = super().__repr__().splitlines()
        low, high = self.bounds
        said = first.replace("optimum at", "feasible point at", 1)
        return "\n".join([f"{said}, optimal value in [{low:.10g}, {high:.10g}]", *others])


@dataclass(frozen=True)
class EventBetween(Event):
    """Change from one point of a path within eps to the next: it has ``after`` at t, and ``before`` at the one before.

    Attributes
    ----------
    since : float
        The t of the point before.
    parameters_before : mapping of str to number or array
        The parameters that move, there.
    """

    since: float = np.nan
    parameters_before: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def said(self) -> str:
        """Name and state after it, with that before and where it was."""
        return f"{super().said} ({self.before} at t = {self._told[0]})"

    @property
    def _told(self) -> tuple[str, str]:
        """Both t, with so many digits that they differ."""
        digits = range(6, 18)
        pairs = (tuple(f"{each:.{count}g}" for each in (self.since, self.t)) for count in digits)
        return next((first, last) for first, last in pairs if first != last)

    def __str__(self) -> str:
        since, t = self._told
        ends = f"t = {since}{those(self.parameters_before)} and t = {t}{those(self.parameters)}"
        return f"between {ends}: {self.name} {self.before} -> {self.after}"


@dataclass(frozen=True, repr=False)
class SlopeBounds:
    """Between which numbers every slope of the optimal value at t is, right and left ones.

    Attributes
    ----------
    t : float
        Where: in the unit for which slopes are.
    lower, upper : float
    per : str
        Name of that number: ``"t"``, or the parameter that was asked for.
    """

    t: float
    lower: float
    upper: float
    per: str = "t"

    def __repr__(self) -> str:
        return f"SlopeBounds({self.per}={self.t!r}, lower={self.lower!r}, upper={self.upper!r})"


@dataclass(frozen=True, repr=False)
class ConePath(Scored):
    """A path of feasible points of any convex program, within eps of the optimal value at every t.

    Attributes
    ----------
    program : ConeLine
        What CVXPY compiled.
    ends : pair of mappings
        The parameters at t = 0 and t = 1, by name.
    t : array of shape (k,)
        Where the pairs of points and multipliers are.
    x, y, z : arrays of shape (k, columns), (k, columns), (k, rows)
        The pairs: points, and multipliers with the y that goes with them.
    eps : float
        What was asked for: how far the bounds of the optimal value may be apart, relative to it, and to no less than a
        thousandth of the largest on the path.
    ceiling : float
        Above all values of the path.
    status : str
        ``"end"``; ``"infeasible"`` or ``"unbounded"`` for every later t, the second of feasible points if there are
        any, see `beyond`.
    ray : array, optional
        What proves that; where a parameter moves the matrix of the constraints, rows t, z of a chain.
    inside : array of shape (2, columns), optional
        Points well inside the cones at t = 0 and 1, where a parameter moves the matrix of the constraints.
    solves : int
        How often a solver was called.
    seconds : mapping of str to float
        Time that it took.
    source : object, optional
        The problem itself; none of a path that was loaded.

    Notes
    -----
    What is proved are values. Points between two pairs are feasible and within eps; where optima are not unique, or
    nearly so, the point of one t may be far from that of an exact path.
    """

    program: ConeLine = field(repr=False)
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    t: Array
    x: Array
    y: Array
    z: Array
    eps: float
    ceiling: float
    status: str
    ray: Any = None
    inside: Array | None = field(default=None, repr=False)
    solves: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    source: Any = None

    _shown = "value"

    @property
    def page_parts(self) -> int:  # type: ignore[override]  # computed, where others have a number
        """Parts of a piece on which points that are no parabolas are shown as such."""
        return 1 if self.program.A_stop is None else _PARTS

    @cached_property
    def proof(self) -> BandProof:
        """Proof of the path at every t, computed from the program and the pairs alone."""
        proof = prove_band(self._judge, (self.t, self.x, self.y, self.z), self.eps)
        return replace(proof, writer=self._write_certificate)

    def _write_certificate(
        self,
        file: AnyFile,
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
        """Write the certificate file of the compiled program."""
        from paretoclf.path.programs.eps_certificate import save_certificate  # few paths have one written

        save_certificate(self, file, level, progress, positive)

    @property
    def breakpoints(self) -> Array:
        """Where the pairs are; between, all is straight, but variables bend a little where coefficients move."""
        return self.t

    def bounds(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> tuple[float, float]:
        """Two numbers between which the optimal value is, proved; where as for `at`."""
        return self._bounds(self._where(t, parameter))

    def _bounds(self, t: float) -> tuple[float, float]:
        low, high = self._minimised(t)
        return (low, high) if self.program.sense > 0 else (0.0 - high, 0.0 - low)

    def _minimised(self, t: float) -> tuple[float, float]:
        """Bounds of the program in its minimisation form."""
        j = self._piece(t)
        u, x, radius = self.proof.point(j, t)
        value, off = self._judge.value(t, x, radius)
        return value - off - self.proof.pieces[j].at(u), value + off

    @cached_property
    def _judge(self) -> ConeJudge:
        return ConeJudge(self.program, self.ceiling, self.inside)

    @overload
    def at(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> BandPoint: ...

    @overload
    def at(self, t: Any = None, /, **parameter: Any) -> Any: ...

    def at(self, t: Any = None, /, **parameter: Any) -> Any:
        """The path's feasible point at t, or where one parameter, a number that moves, has a value.

        That is written as ``path.at(lam=0.5)``, or with the CVXPY parameter itself as ``path.at({lam: 0.5})``. Its
        objective is within eps of the optimal value; of the multipliers the same is true. An array of either gives an
        array of points, of its shape.

        Raises
        ------
        InputError
            If it is beyond the end of the path.
        """
        return super().at(t, **parameter)

    def _at(self, t: float) -> BandPoint:
        return BandPoint(**vars(super()._at(t)), bounds=self._bounds(t))

    def rule(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> Rule:
        """The classifier of the path's point at t, which is within eps of optimal; where as for `at`.

        It is read from variables called ``w`` and ``b``, or as the formulation's own ``classifier`` says. Its
        objective is proved to be within eps of the best; what an optimal classifier says of a sample is not known.
        """
        return super().rule(t, **parameter)

    def scores(self, X: Any) -> PathScores:
        """Scores of samples at the path's points, which are within eps of optimal, as a piecewise affine function of t.

        They are no scores of an optimum, nor bounds of these, and what is counted of them says so: `error_curve`,
        `roc_of_path`, the places that ``best`` finds.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples, as the classifier takes them.

        Raises
        ------
        InputError
            As for an exact path.
        """
        return replace(super().scores(X), note=f"of the path's points, within {self.eps:g} of optimal")

    def leave_one_out(self, **how: Any) -> NoReturn:
        """Refuse: what is proved of a path within eps are values, and no scores of an optimum.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            f"leave_one_out needs an exact path, whose scores are those of optima; this one is within {self.eps:g}. "
            "Trace it without eps, where that goes; or trace formulation.without([i]) within eps for each sample i, "
            "and read the scores of that path's points"
        )

    def _columns(self, j: int, share: Shares) -> Array:
        """The path's own point, which is feasible; where coefficients move the points bend a little.

        The value is the objective of the compiled program there, whose columns for norms and the like are part of the
        point: the objective as it is written may be a little better at the point's variables.
        """
        if self.program.A_stop is not None:
            return self.proof.point(j, share.between(*self.t[j : j + 2]))[1]
        first, last = self.proof.pairs[j : j + 2]
        return np.asarray(share.between(first.x, last.x))

    def _multipliers(self, j: int, share: Shares) -> Array:
        first, last = self.proof.pairs[j : j + 2]
        return np.asarray(share.between(first.z, last.z))

    def slopes(  # type: ignore[override]  # of the optimal value alone, and bounds
        self, t: float | Mapping[Any, Any] | None = None, /, *, per: str | None = None, **parameter: float
    ) -> SlopeBounds:
        """Bounds of the slope of the optimal value, from both sides.

        They come from the bounds of the value: that is concave in t where only the objective moves, and convex where
        only right hand sides move. Where both do, its slope is the sum of those of two lines through t on which one of
        them moves each; these are traced, which takes a solver. Variables and multipliers have no bounds of their
        slopes.

        Parameters
        ----------
        t, **parameter
            Where, as for `at`.
        per : str, optional
            A parameter, a number that moves, for a unit of which it is; by default for t.
        """
        t, line = self._where(t, parameter), self.program
        first, last = self._per(per)
        if line.A_stop is not None:
            raise InputError(NO_SLOPES)
        moving = [bool((ends[0] != ends[1]).any()) for ends in (line.q, line.b)]
        moving[0] |= line.P_stop is not None
        parts = self._parts(t) if all(moving) else [self._slope(t, convex=moving[1])]
        lower, upper = (sum(part[k] for part in parts) for k in (0, 1))
        found = sorted(line.sense * each / (last - first) + 0.0 for each in (lower, upper))
        return SlopeBounds(float(between((first, last), t)), float(found[0]), float(found[1]), per or "t")

    def _slope(self, t: float, *, convex: bool) -> tuple[float, float]:
        """Bounds of the slope of a minimum that is convex, or concave, in t."""
        (low, high), around = self._minimised(t), np.array([self._minimised(s) for s in self.t.tolist()])
        off = 1e-15 * (abs(low) + abs(high))
        low, high = low - off, high + off
        around = around + 1e-15 * np.abs(around) * np.array([-1.0, 1.0])
        after, before, rise = self.t > t, self.t < t, self.t - t
        if convex:  # chords to the left are below, to the right above
            lower = np.max((low - around[before, 1]) / -rise[before], initial=-np.inf)
            upper = np.min((around[after, 1] - low) / rise[after], initial=np.inf)
        else:
            lower = np.max((around[after, 0] - high) / rise[after], initial=-np.inf)
            upper = np.min((high - around[before, 0]) / -rise[before], initial=np.inf)
        return float(lower), float(upper)

    def _parts(self, t: float) -> list[tuple[float, float]]:
        """Bounds of the slopes on two lines through t, each as long as the path: objective or right hand sides move."""
        from paretoclf.solve.eps.search import search  # a solver, which a path does without

        line, stop, found = self.program, float(self.t[-1]), []

        def ends(name: str, moves: bool) -> Array:
            first, last = (0.0, stop) if moves else (t, t)
            return np.stack([between(getattr(line, name), each) for each in (first, last)])

        for convex in (False, True):
            q, b, constant = ends("q", not convex), ends("b", convex), ends("constant", not convex)
            P = [line.at(each).P for each in ((t, t) if convex else (0.0, stop))]
            part = replace(line, q=q, b=b, constant=constant, P=P[0], P_stop=None if convex else P[1])
            # Between two matrices that are proved semidefinite rounding is as it is everywhere.
            part = convex_line(part) if line.P_stop is not None else replace(part, P=line.P, P_stop=None)
            searched = search(part, self.eps, progress=False)
            if searched.stopped is not None:
                raise searched.stopped
            path = _of_found(replace(self, program=part, ray=None), searched)
            lower, upper = path._slope(t / stop, convex=convex)
            found.append((lower / stop, upper / stop))
        return found

    @cached_property
    def _points(self) -> Array:
        """The enclosed points."""
        return np.array([pair.x for pair in self.proof.pairs])

    @cached_property
    def events(self) -> tuple[EventBetween, ...]:
        """Where entries of variables become 0, and inequalities active, from one pair to the next.

        An inequality is active where its slack is 0 to five digits of its terms. These are properties of the points
        that the path goes through, not of the exact optimum.
        """
        line, tables, names, words = self.program, [], list[str](), list[tuple[str, str]]()
        for name, reading in line.variables.items():
            values = np.array([np.ravel(reading.of(x)) for x in self._points])
            tables.append(np.abs(values) <= _ZERO * np.abs(values).max(initial=0.0))
            names += [f"{name}{entry}" for entry in reading.entries]
            words += [("not 0", "0")] * values.shape[1]
        rows = [i for i in np.flatnonzero(line.base.kinds == "nonnegative").tolist() if line.label(i)]
        slacks = np.array([pair.s[rows] for pair in self.proof.pairs])
        now = [line.at(t) for t in self.t.tolist()]
        terms = [abs(each.b[rows]) + abs(each.A[rows]) @ abs(x) for each, x in zip(now, self._points, strict=True)]
        tables.append(slacks <= _ZERO * np.array(terms))
        names += [line.row_name(i) for i in rows]
        words += [("not active", "active")] * len(rows)
        found = events_of(self.t, np.concatenate(tables, axis=1), names, words, self.parameters)
        return tuple(self._between(event) for event in found)

    def _between(self, event: Event) -> EventBetween:
        """Say between which pairs a change is that is first seen at one."""
        since = float(self.t[self.t.searchsorted(event.t) - 1])
        what = event.t, event.name, event.before, event.after
        return EventBetween(*what, parameters=event.parameters, since=since, parameters_before=self.parameters(since))

    def _refuted(self) -> Beyond:
        proof = judge_cone_ray(self.program, self.status, self.ray)
        ray = self.ray if self.ray.ndim == 1 else self.ray[int(np.argmin(self.ray[:, 0])), 1:]  # the first of a chain
        return beyond_of(self.program, self.status, ray, float(self.t[-1]), proof, _ZERO)

    def refine(self, eps: float, *, n_jobs: int | None = None, progress: bool | None = None) -> ConePath:
        """The path to a smaller eps, from what is there: only what lies between its pairs is solved.

        Parameters
        ----------
        eps : float
            Strictly between 0 and 1.
        n_jobs, progress
            As for `paretoclf.trace`.
        """
        from paretoclf.solve.eps.search import search  # a solver, which a path does without

        eps = check_share(eps, "eps")
        known = (self.t, self.x, self.y, self.z), (self.status, self.ray)
        return _finished(self, search(self.program, eps, known, n_jobs=n_jobs, progress=progress))

    def _arrays(self) -> Mapping[str, Any]:
        return arrays_of(self)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each pair: bounds of the optimal value, the variables, and what changes there."""
        return point_rows(self, self._bounds)

    def __repr__(self) -> str:
        sizes = f"{self.program.n} columns and {self.program.m} rows"
        return f"ConePath({self._how_far()}, within {self.eps:g} everywhere, {self.t.size} pairs, {sizes})"


def trace_cones(
    source: Source,
    eps: Any,
    *,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: bool | None = None,
) -> ConePath:
    """Trace a problem of CVXPY along a line of its parameters within eps.

    Parameters
    ----------
    source : Source
        `paretoclf.solve.sources.cone_problem_line.LineOfCones` of a ``cvxpy.Problem``.
    eps, n_jobs, max_seconds, progress
        As for `paretoclf.path.tracing.trace`.

    Raises
    ------
    InputError
        If there is no solution at the start, or no point inside all constraints.
    DegeneratePathError
        If a pair is not proved, or not as close as eps.
    StoppedError
        If no time is left: with a path on all of the line, whose eps is what was reached.
    InterruptedPath
        If the keyboard interrupts it: with such a path.
    """
    from paretoclf.solve.eps.search import search  # a solver, which a path does without

    eps = check_share(eps, "eps")
    check_cost(source.line, eps)
    deadline = PathLimits.of(None, max_seconds).deadline
    try:
        found = search(source.line, eps, n_jobs=n_jobs, progress=progress, deadline=deadline)
    except StoppedError:
        raise
    except DegeneratePathError as error:
        raise refused_for(source.line, error) from None
    nothing = np.zeros(0)
    seconds = {"compile": source.seconds}
    made = ConePath(
        source.line, source.ends, nothing, nothing, nothing, nothing, eps, 0.0, "end", None, None, 0, seconds
    )
    return _finished(replace(made, source=source), found)


def _finished(path: ConePath, found: Any) -> ConePath:
    """Return a path with what a search found; raise what stopped it, with the path."""
    path = _of_found(replace(path, eps=found.proof.eps), found)
    if found.stopped is None:
        return path
    if isinstance(found.stopped, KeyboardInterrupt):
        raise InterruptedPath(path)
    found.stopped.path = path
    raise found.stopped


def _of_found(path: ConePath, found: Any) -> ConePath:
    """A path with the pairs that a search found, and their proof."""
    t, x, y, z = found.points
    made = replace(
        path,
        t=t,
        x=x,
        y=y,
        z=z,
        ceiling=found.proof.ceiling,
        status=found.status,
        ray=found.ray,
        inside=found.inside,
        solves=path.solves + found.solves,
        seconds={**path.seconds, **found.seconds},
    )
    made.__dict__["proof"] = replace(found.proof, writer=made._write_certificate)
    return made
