r"""The path of a convex problem as a curve: polynomials in t between events, and proved bounds of the value at every t.

A problem whose data are affine in t, its matrices included, is compiled (`paretoclf.solve.sources.cone_problem_line`),
its smooth pieces are found (`paretoclf.solve.curves.curve_search`), and the optimal value is proved to lie between two
polynomials on each of them (`paretoclf.proof.curves.curve_theorem`). Where no smooth branch is found, a stretch
consists of chords. Bounds of the value are proved; points, their slopes and events are those of the curve itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from paretoclf.common.checks import Array, Mask, check_one, check_share
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile
from paretoclf.path.base.path import Rates
from paretoclf.path.base.points import Event, PriceAlong
from paretoclf.path.curves.curve_path_file import arrays_of
from paretoclf.path.curves.shown_changes import Middle, shown_changes
from paretoclf.path.programs.path_ends import refusal as path_refusal
from paretoclf.path.programs.program_path import Source, check_line
from paretoclf.path.programs.program_points import ProblemPoint
from paretoclf.path.programs.scored_path import Scored
from paretoclf.problem.shares import Shares
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_proof import CurveProof, prove_curve
from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece
from paretoclf.proof.curves.polynomials import evaluation
from paretoclf.proof.programs.convexity import added, largest_share, refusal, said_of
from paretoclf.solve.curves.complementarity import CurveEvent

if TYPE_CHECKING:
    from paretoclf.roc.scores import PathScores

#: Points of a piece at which variables are read unless it is said how many, and those of a shadow price.
_POINTS = 17

#: Columns and rows of a program, together: a proof inverts dense matrices.
_MOST = 3000

#: What is proved anew of a file may be wider than it says by this factor: another processor rounds otherwise.
_ROOM = 1.01

#: So many stretches of chords are said where a path is printed.
_SAID = 3

#: An entry of less than this share of the largest of its variable is 0 in events.
_ZERO = 1e-8

_HALF = Shares(0.5, 0.5)


@dataclass(frozen=True, repr=False)
class PointOfCurve(ProblemPoint):
    """The curve's own point at one t, in the user's words.

    Attributes
    ----------
    value : float
        The objective at the point, which keeps the constraints up to what `CurvePath.eps` allows.
    bounds : pair of float
        The optimal value is between them, proved.
    """

    bounds: tuple[float, float]

    def __repr__(self) -> str:
        first, *others = super().__repr__().splitlines()
        low, high = self.bounds
        said = first.replace("optimum at", "point of the curve at", 1)
        return "\n".join([f"{said}, optimal value in [{low:.12g}, {high:.12g}]", *others])


@dataclass(frozen=True)
class CurveStretch:
    """Part of a path whose pieces were found in one way.

    Attributes
    ----------
    start, stop : float
        Where it is.
    smooth : bool
        Whether its pieces are polynomials of degree 8; else they are chords, as no smooth branch was found, and what
        changes there is not resolved.
    pieces : int
    width : float
        How close both bounds of the optimal value are, proved, relative to it.
    """

    start: float
    stop: float
    smooth: bool
    pieces: int
    width: float


@dataclass(frozen=True, repr=False)
class CurvePrice(PriceAlong):
    """Shadow price of a constraint along a curve: a call reads the polynomial, ``price`` many points of each piece."""

    path: Any = field(default=None, repr=False)

    def __call__(self, t: float) -> Any:
        """Price at t; at an end of a piece where it jumps, that to the right."""
        path = self.path
        j, share = path._locate(float(np.clip(check_one(t, "t"), 0.0, 1.0)))
        found = path.program.multipliers[self.constraint].of(path._multipliers(j, share))
        return float(found) if np.ndim(found) == 0 else found


@dataclass(frozen=True, repr=False)
class CurvePath(Scored):
    """A path of polynomials in t between events, with proved bounds of the optimal value at every t.

    Attributes
    ----------
    program : ConeLine
        What CVXPY compiled.
    ends : pair of mappings
        The parameters at t = 0 and t = 1, by name.
    pieces : tuple of CurvePiece
        The polynomials, from 0 to 1.
    smooth : tuple of bool
        Whether each piece is smooth, or a chord.
    changes : tuple of CurveEvent
        Changes of cones of the compiled program, as the search found them.
    solves, inner_solves : int
        How often an interior-point solver was called: to find branches, and for points well inside the cones.
    seconds : mapping of str to float
        Time that it took.
    source : object, optional
        The problem itself; none of a path that was loaded.
    claimed : float, optional
        Of a path that was loaded, the eps that its file says.

    Notes
    -----
    What is proved are bounds of the optimal value (`bounds`, `eps`). Slopes of variables are those of the curve itself,
    and events are found: a band of values encloses neither. With eps in place of curve such a path is traced where
    coefficients of an equation move, which chords between two optima do not keep.
    """

    program: ConeLine = field(repr=False)
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    pieces: tuple[CurvePiece, ...] = field(repr=False)
    smooth: tuple[bool, ...] = field(repr=False)
    changes: tuple[CurveEvent, ...] = field(repr=False)
    solves: int = 0
    inner_solves: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    source: Any = None
    claimed: float | None = None

    _shown = "value"
    page_parts = 8
    status = "end"
    ray = None

    @cached_property
    def t(self) -> Array:  # type: ignore[override]  # computed, where others store it
        """Ends of the pieces."""
        return np.array([0.0, *(piece.stop for piece in self.pieces)])

    @cached_property
    def proof(self) -> CurveProof:
        """Proof of the bounds at every t, computed from the program and the pieces alone."""
        proof = prove_curve(CurveJudge(CurveProgram.of(self.program)), self.pieces, note=self._note)
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
        from paretoclf.proof.curves.curve_certificate import save_curve  # few paths have one written

        about = f"a curve, within {self.eps:.1e} in doubles"
        save_curve(self.program, self.pieces, file, level=level, positive=positive, about=about, progress=progress)

    @property
    def eps(self) -> float:
        """How close both bounds of the optimal value are, relative to it, at every t: what was proved."""
        return self.proof.eps

    @cached_property
    def stretches(self) -> tuple[CurveStretch, ...]:
        """Stretches that are smooth, and those of chords, with how close the bounds are on each."""
        found, first = [], 0
        for smooth, members in groupby(self.smooth):
            last = first + len(list(members))
            width = float(self.proof.gap[first:last].max())
            start, stop = self.pieces[first].start, self.pieces[last - 1].stop
            found.append(CurveStretch(start, stop, smooth, last - first, width))
            first = last
        return tuple(found)

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Names of all variables and multipliers: they are polynomials on a piece, which parabolas show in parts."""
        return (*self.variables, *self.duals)

    @cached_property
    def _note(self) -> str:
        """Addition of `explain` where P was made semidefinite."""
        line = self.program
        if line.shift is None:
            return ""
        points = np.array([piece.x[0] for piece in self.pieces])
        values = [line.value(x, piece.start) for x, piece in zip(points, self.pieces, strict=True)]
        share = largest_share(added(line, self.t[:-1], points), np.abs(values))
        return said_of(line, share)

    # ---- what is read -----------------------------------------------------------------------------------------

    def bounds(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> tuple[float, float]:
        """Two numbers between which the optimal value is, proved; where as for `at`."""
        return self._bounds(self._where(t, parameter))

    def _bounds(self, t: float) -> tuple[float, float]:
        j, share = self._locate(t)
        found = self.proof.bounds[j]
        assert not isinstance(found, str)
        low, high = found.at(float(share.after))
        return (low, high) if self.program.sense > 0 else (0.0 - high, 0.0 - low)

    @overload
    def at(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> PointOfCurve: ...

    @overload
    def at(self, t: Any = None, /, **parameter: Any) -> Any: ...

    def at(self, t: Any = None, /, **parameter: Any) -> Any:
        """The curve's point at t, or where one parameter, a number that moves, has a value.

        That is written as ``path.at(mu=0.5)``, or with the CVXPY parameter itself as ``path.at({mu: 0.5})``. An array
        of either gives an array of points, of its shape.
        """
        return super().at(t, **parameter)

    def _at(self, t: float) -> PointOfCurve:
        return PointOfCurve(**vars(super()._at(t)), bounds=self._bounds(t))

    def _columns(self, j: int, share: Shares) -> Array:
        return _value_of(self.pieces[j].x, share)

    def _multipliers(self, j: int, share: Shares) -> Array:
        return _value_of(self.pieces[j].z, share)

    def _rates(self, j: int, t: float) -> Rates:
        """Rates along the curve itself: of the objective at its points, of variables and of multipliers."""
        line, piece = self.program, self.pieces[j]
        share = Shares.of(t, piece.start, piece.stop).whole
        length = piece.stop - piece.start
        x = _value_of(piece.x, share)
        dx, dz = (_value_of(_derivative(each), share) / length for each in (piece.x, piece.z))
        P, _ = line.matrices(t)
        gradient = P @ x + (1.0 - t) * line.q[0] + t * line.q[1]
        moved = 0.5 * x @ (line.speeds[0] @ x) + (line.q[1] - line.q[0]) @ x
        value = line.sense * (gradient @ dx + moved + line.constant[1] - line.constant[0])
        return float(value), line.rates(x, dx, t), line.duals(dz)

    def along(self, name: str, points: int | None = None) -> tuple[Array, Array]:
        """Read a variable, or the multipliers of a constraint, at some points of each piece.

        Parameters
        ----------
        name : str
            One of `variables` or `duals`.
        points : int, optional
            How many of each piece, from one end to the other; by default 17, 2 of a chord included.
        """
        return super().along(name, _POINTS if points is None else points)

    def shadow_price(self, constraint: Any) -> CurvePrice:
        """Multiplier of a constraint as a function of t; a call reads the polynomial."""
        name = super().shadow_price(constraint).constraint
        t, price = self.along(name)
        here = np.arange(t.size).reshape(-1, _POINTS)
        both = np.stack([here[:, :-1], here[:, 1:]], axis=-1).ravel()
        return CurvePrice(name, t[both], price[both], 0.0, self)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Changes where smooth pieces meet: of named inequalities and cones, and of entries that become 0 or leave it.

        They were found, by Newton's method and a solver behind each: they are no part of what is proved. What changes
        in a stretch of chords has no place that is known, and is not among them: `stretches` says where that is so. A
        change of a constraint is an event only where slacks and multipliers of the curve show it on both sides.
        """
        return tuple(event for t in self._places for event in self._named_changes(t))

    @property
    def _unresolved(self) -> tuple[tuple[float, float], ...]:
        """Ends of each stretch of chords: what changes between them is not known."""
        return tuple((each.start, each.stop) for each in self.stretches if not each.smooth)

    @property
    def _places(self) -> list[float]:
        """Places of changes that have a smooth piece on both sides."""
        found = []
        for t in dict.fromkeys(change.t for change in self.changes):
            after = int(np.searchsorted(self.t, t, side="right")) - 1
            if self.smooth[after] and self.smooth[max(after - 1, 0)]:
                found.append(t)
        return found

    def _named_changes(self, t: float) -> list[Event]:
        """Events at t that have the user's names."""
        line, found = self.program, []
        for change in self._shown_changes:
            if change.t == t and line.label(change.row):
                found.append(self._event(t, line.row_name(change.row), *self._words(change)))
        after = int(np.searchsorted(self.t, t, side="right")) - 1
        states = [self._zeros[j] for j in (after - 1, after)]
        for name, before in states[0].items():
            entries = line.variables[name].entries
            for place in np.flatnonzero(before != states[1][name]).tolist():
                words = ("0", "not 0") if before[place] else ("not 0", "0")
                found.append(self._event(t, name + entries[place], *words))
        return found

    @cached_property
    def _shown_changes(self) -> tuple[CurveEvent, ...]:
        """Changes of cones that the curve's own slacks and multipliers show."""
        if not self.changes:
            return ()
        middles = [
            Middle.of(self.program, *self._middle(j), self._multipliers(j, _HALF)) for j in range(len(self.pieces))
        ]
        return shown_changes(self.changes, self.t, self.smooth, middles)

    def _event(self, t: float, name: str, before: str, after: str) -> Event:
        return Event(t, name, before, after, parameters=self.parameters(t))

    def _words(self, change: CurveEvent) -> tuple[str, str]:
        """States of a cone before and after a change."""
        kind = str(self.program.base.kinds[change.row])
        words = _WORDS.get(kind)
        if words is None:
            return f"rank {change.before}", f"rank {change.after}"
        return words[change.before], words[change.after]

    @cached_property
    def _zeros(self) -> tuple[Mapping[str, Mask], ...]:
        """Whether each entry of each variable is 0 in the middle of each piece, beside the largest on the path."""
        sizes = []
        for j in range(len(self.pieces)):
            t, x = self._middle(j)
            values = self.program.values(x, t)
            sizes.append({name: np.abs(np.ravel(value)) for name, value in values.items()})
        largest = {name: max(each[name].max(initial=0.0) for each in sizes) for name in self.program.variables}
        return tuple({name: size <= _ZERO * largest[name] for name, size in each.items()} for each in sizes)

    def _middle(self, j: int) -> tuple[float, Array]:
        """Parameter t in the middle of a piece, and the columns there."""
        piece = self.pieces[j]
        return 0.5 * (piece.start + piece.stop), self._columns(j, _HALF)

    def refine(self, eps: float, *, progress: bool | None = None) -> CurvePath:
        """The path with bounds within a smaller eps, found anew.

        Parameters
        ----------
        eps : float
            Strictly between 0 and 1.
        progress : bool, optional
            As for `paretoclf.trace`.

        Raises
        ------
        DegeneratePathError
            If bounds stay wider somewhere.
        """
        return _searched(self, check_share(eps, "eps"), progress)

    # ---- what it has not --------------------------------------------------------------------------------------

    def scores(self, X: Any) -> PathScores:
        """Refuse: scores of a curve are not affine between its pieces.

        Raises
        ------
        InputError
            Always; ``rule(t)`` is the classifier of the curve's point at any t.
        """
        raise InputError(
            "scores needs a path whose scores are affine between breakpoints, which those of a curve are not: "
            "path.rule(t).decision_function(X) are those of the curve's point at t"
        )

    def leave_one_out(self, **how: Any) -> NoReturn:
        """Refuse: what is proved of a curve are values, and no scores of an optimum.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError("leave_one_out needs an exact path, whose scores are those of optima: trace it without curve")

    def _arrays(self) -> Mapping[str, Any]:
        return arrays_of(self)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: one for each piece, where it begins, with the bounds of the optimal value there."""
        for j, piece in enumerate(self.pieces):
            low, high = self._bounds(piece.start)
            said = {"lower": low, "upper": high, "stop": piece.stop, "smooth": self.smooth[j]}
            yield {**self._row(piece.start), **said, "width": float(self.proof.gap[j])}

    def __repr__(self) -> str:
        chords = len(self.smooth) - sum(self.smooth)
        of_chords = f", {chords} of them chords" if chords else ""
        stretches = [f"t = {start:.6g} and {stop:.6g}" for start, stop in self._unresolved[:_SAID]]
        more = " and elsewhere" if len(self._unresolved) > _SAID else ""
        unresolved = f", not resolved between {', '.join(stretches)}{more}" if stretches else ""
        return (
            f"CurvePath({self._how_far()}, within {self.eps:.1e} everywhere, {len(self.pieces)} pieces{of_chords}, "
            f"{len({event.t for event in self.events})} events{unresolved})"
        )


#: States of cones by how many eigenvalues of the slack are positive.
_WORDS = {
    "nonnegative": ("active", "not active"),
    "second-order": ("at its tip", "on its border", "not active"),
}


def trace_curve(source: Source, eps: float | None = None, *, progress: bool | None = None) -> CurvePath:
    """Trace a problem of CVXPY along a line of its parameters as a curve.

    Parameters
    ----------
    source : Source
        `paretoclf.solve.sources.cone_problem_line.LineOfCurves` of a ``cvxpy.Problem``.
    eps : float, optional
        Within which the bounds of the value are to be, relative to it; by default they are as close as they can be.
    progress
        As for `paretoclf.path.tracing.trace`.

    Raises
    ------
    InputError
        If the problem is not convex or too large, has power cones, or no optimum at some t.
    DegeneratePathError
        If some piece has no bounds, or none within eps.
    """
    line = source.line
    if line.lacks is not None:
        raise refusal(line)
    if line.n + line.m > _MOST:
        raise _too_large(line)
    return _searched(CurvePath(line, source.ends, (), (), (), 0, 0, {"compile": source.seconds}, source), eps, progress)


def _too_large(line: ConeLine) -> InputError:
    """The error for a program that is too large."""
    size = f"a program of {line.n} columns and {line.m} rows"
    why = f"its matrices are dense, and together there may be {_MOST}"
    if line.moves_equations:
        return InputError(
            f"problem must not move coefficients of an equation in {size}: {why}. State it with fewer, or use sweep"
        )
    fewer = "or state the problem with fewer"
    if line.P.nnz:
        fewer += ": sum_squares(X @ w - y) is sum_squares(R @ w - r), where [R, r] is np.linalg.qr of [X, y], mode='r'"
    return InputError(f"curve must be False for {size}: {why}. Pass eps=1e-4 in its place, {fewer}")


def _searched(path: CurvePath, eps: float | None, progress: bool | None) -> CurvePath:
    """The path with pieces that are found anew."""
    from paretoclf.solve.curves.curve_search import CurveSearch  # a solver, which a path does without

    found = CurveSearch(path.program, eps).run(progress)
    path = replace(
        path,
        pieces=found.pieces,
        smooth=found.smooth,
        changes=found.events,
        solves=path.solves + found.solves,
        inner_solves=path.inner_solves + found.inner_solves,
        seconds={**path.seconds, **found.seconds},
        claimed=None,
    )
    path.__dict__["proof"] = replace(found.proof(path._note), writer=path._write_certificate)
    check_line(path)
    return path


def check_curve(path: CurvePath) -> None:
    """DegeneratePathError unless every t is proved, as closely as the file says from which the path was read."""
    check_line(path)
    if path.claimed is not None and not path.eps <= _ROOM * path.claimed:
        where = float(path.t[int(np.argmax(path.proof.gap))])
        raise path_refusal(f"its bounds are {path.eps:.2e} apart, and its file says {path.claimed:.2e}", where)


def _value_of(coefficients: Array, share: Shares) -> Array:
    """Value of polynomials at a share of their piece."""
    row = evaluation(len(coefficients) - 1, np.array([float(share.after)]))[0]
    return np.asarray(row @ coefficients)


def _derivative(coefficients: Array) -> Array:
    """Coefficients of derivatives in the share of a piece."""
    degree = len(coefficients) - 1
    return degree * np.diff(coefficients, axis=0) if degree else np.zeros_like(coefficients)
