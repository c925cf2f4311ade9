"""What the paths of programs share: what is read at a point and beyond the end, and the problem itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, overload

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.path.base.path import OnSegments, plain
from paretoclf.path.base.point_rows import point_rows
from paretoclf.path.programs.path_ends import refusal
from paretoclf.path.programs.program_points import Beyond, ProblemPoint, moves
from paretoclf.problem.shares import Shares

#: Next to t = 1 by this share of the line, what has fallen to this share of what it was may be short of digits.
_NEAR_ONE = 1e-2
_OTHER_WAY = "Trace the line from its other end: what is small at t = 0 loses no digits."


class Source(Protocol):
    """A program along a line of its parameters; that of a problem of CVXPY can be asked more, see `OnLine`."""

    line: Any
    ends: tuple[Mapping[str, Array], Mapping[str, Array]]
    seconds: float


class OnLine(OnSegments):
    """A path of a program along a line of its parameters; what these are is its own."""

    program: ProgramLine
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    ray: Any
    source: Any

    # ---- what each kind of path says of itself ----------------------------------------------------------------

    def _columns(self, j: int, share: Shares) -> Array:
        """Columns of the compiled program at a share of segment j."""
        raise NotImplementedError

    def _multipliers(self, j: int, share: Shares) -> Array:
        """Multipliers of its rows there."""
        raise NotImplementedError

    def _refuted(self) -> Beyond:
        """Statement that the ray at the end of the path proves."""
        raise NotImplementedError

    # ---- where, and what is there -----------------------------------------------------------------------------

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables of the problem."""
        return tuple(self.program.variables)

    @property
    def duals(self) -> tuple[str, ...]:
        """Names of the constraints whose multipliers are known, and of attributes, such as ``x: nonneg``."""
        return tuple(self.program.all_multipliers)

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Names of the variables next to which a moving parameter stands: parabolas on a segment, or about so."""
        return self.program.parabolas

    @property
    def _moves(self) -> Mapping[str, tuple[Any, Any]]:
        return moves(self.ends)

    @overload
    def at(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> ProblemPoint: ...

    @overload
    def at(self, t: Any = None, /, **parameter: Any) -> Any: ...

    def at(self, t: Any = None, /, **parameter: Any) -> Any:
        """The optimum at t, or where one parameter, a number that moves, has a value.

        That is written as ``path.at(lam=0.5)``, or with the CVXPY parameter itself as ``path.at({lam: 0.5})``. An array
        of either, as in ``path.at(lam=[0.5, 1.0])``, gives an array of optima, of its shape.

        Raises
        ------
        InputError
            If it is beyond the end of the path.
        """
        return super().at(t, **parameter)

    def _at(self, t: float) -> ProblemPoint:
        x, z = self.compiled(t)
        variables, duals = in_words(self.program, x, z, t)
        return ProblemPoint(t, self.program.value(x, t), self.parameters(t), variables, duals)

    def _locate(self, t: float, j: int | None = None) -> tuple[int, Shares]:
        j, share = super()._locate(t, j)
        return j, share.whole

    def compiled(self, t: float) -> tuple[Array, Array]:
        """Columns and multipliers of the compiled program at t."""
        there = self._locate(t)
        return self._columns(*there), self._multipliers(*there)

    def _value(self, t: float) -> float:
        return self.program.value(self._columns(*self._locate(t)), t)

    def _read(self, name: str, j: int, share: Array, t: Array) -> list[Any]:
        line, places = self.program, [Shares(0.0, after).whole for after in share.tolist()]
        reading = line.all_multipliers.get(name)
        if reading is not None:
            return [reading.of(self._multipliers(j, place)) for place in places]
        points = zip(places, t.tolist(), strict=True)
        return [line.variables[name].of(line.columns(self._columns(j, place), u)) for place, u in points]

    @cached_property
    def beyond(self) -> Beyond | None:
        """Why there is no optimum after the end, with the ray and who has a part in it; None where it is not so.

        Nothing is known of t between ``beyond.end`` and ``beyond.t``.
        """
        if self.ray is None:
            return None
        found = self._refuted()
        t = found.t if found.t > found.end + self._least else found.end
        texts, parameters = getattr(self.source, "texts", {}), self.parameters(t)
        return replace(found, t=t, texts=texts, parameters=parameters, feasible=self._constraints_stand)

    @property
    def _constraints_stand(self) -> bool:
        """Whether what is feasible at one t is feasible at every other."""
        line = self.program
        return getattr(line, "A_stop", None) is None and bool((line.b[0] == line.b[1]).all())

    @property
    def _ending(self) -> str:
        if self.beyond is None:
            return str(self.status)
        later = f" t = {self.beyond.t:.6g}" if self.beyond.t > self.beyond.end else ""
        return f"{self.beyond.verdict} beyond{later} ({', '.join(self.beyond.blame) or 'what CVXPY added'})"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: one for each breakpoint, with every variable and multiplier, and what changes there."""
        return point_rows(self)

    # ---- the problem itself ----------------------------------------------------------

    def assign(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> None:
        """Write the point into the problem, as a solver's: its ``x.value``, ``dual_value`` and ``value`` are set.

        The parameters that move get their values there, too. Where as for `at`.
        """
        self._with_source("assign").assign(self.at(t, **parameter))

    def _by_a_solver(self, t: Array) -> Array:
        solve = self._with_source("compare").solve
        return np.array([solve(float(at)) for at in t])

    def _called(self, constraint: Any) -> str:
        """The name of a constraint of the problem."""
        rows = self._with_source("shadow_price of a constraint itself").problem.constraints
        for k, row in enumerate(rows):
            if row is constraint:
                return str(row.label or f"constraint {k}")
        raise InputError(f"constraint must be a label, or a constraint of the problem, got {constraint!r:.100}")

    def _with_source(self, what: str) -> Any:
        if self.source is None:
            raise InputError(f"{what} needs the problem, which a file does not hold: trace it again")
        return self.source

    def _how_far(self) -> str:
        """Ends of the path in words, for a repr."""
        moving, last = self._moves, float(self.t[-1])
        if len(moving) == 1 and np.ndim(next(iter(moving.values()))[0]) == 0:
            (name, (first, stop)), *_ = moving.items()
            where = f"{name} {float(first):g} to {float(between((first, stop), last)):g}"
        else:
            where = f"t 0 to {last:g} ({', '.join(moving) or 'nothing moves'})"
        return where if self.status == "end" else f"{where}, {self._ending}"


def in_words(line: ProgramLine, x: Array, z: Array, t: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables and multipliers of the user at a point of a compiled program."""
    variables, duals = (
        {name: plain(value) for name, value in own.items()} for own in (line.values(x, t), line.duals(z))
    )
    return variables, duals


def check_line(path: OnLine) -> None:
    """DegeneratePathError unless every t is proved, and the ray where the path ends early."""
    proof, beyond = path.proof, path.beyond
    if not proof.passes():
        t = float(path.t[np.argmax(proof.gap)])
        first, last = np.abs(np.hstack([path.program.q, path.program.b]))
        vanishes = 1.0 - t < _NEAR_ONE and any(last < _NEAR_ONE * first)
        raise refusal(proof.explain(), t, *[_OTHER_WAY] * vanishes)
    if beyond is not None and not beyond.proof.passes():
        raise refusal(f"it ends {path.status}, and that is not proved ({beyond.proof!r})", beyond.end)
