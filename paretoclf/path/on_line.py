"""What the paths of programs share: where on the line is meant, and the problem that a path goes back into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.path.along import moves
from paretoclf.path.on_segments import plain
from paretoclf.path.scored import Scored


class Source(Protocol):
    """A problem of CVXPY and a line of its parameters."""

    line: Any
    ends: tuple[Mapping[str, Array], Mapping[str, Array]]
    seconds: float

    def assign(self, point: Any) -> None:
        """Write a point into the problem."""
        ...

    def solve(self, t: float) -> float:
        """The optimal value at t, by a solver."""
        ...

    def tried(self, t: float, values: Mapping[str, Any]) -> tuple[float, float]:
        """Objective and largest violation of a point."""
        ...


class OnLine(Scored):
    """A path of a program along a line of its parameters; `program`, `ends`, `status` and `source` are its own."""

    program: ProgramLine
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    source: Any

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables of the problem."""
        return tuple(self.program.variables)

    @property
    def duals(self) -> tuple[str, ...]:
        """Names of the constraints whose multipliers are known."""
        return tuple(self.program.multipliers)

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Names of the variables next to which a moving parameter stands: parabolas on a segment, or about so."""
        return self.program.parabolas

    def parameters(self, t: float) -> dict[str, Any]:
        """The parameters that move, at t."""
        return {name: plain(between(ends, t)) for name, ends in moves(self.ends).items()}

    @property
    def _moving(self) -> dict[str, tuple[float, float]]:
        return {name: (float(a), float(b)) for name, (a, b) in moves(self.ends).items() if np.ndim(a) == 0}

    @property
    def axis(self) -> tuple[str, float, float]:
        """What pictures have for t: the one parameter that moves, if it is a number, or t itself."""
        return super().axis if len(moves(self.ends)) == 1 else ("t", 0.0, 1.0)

    def _inside(self, t: Any) -> float:
        if t is None:
            raise InputError(f"one of {', '.join({'t': 0, **self._moving})} must be given, got none")
        return self._at_number(t, "t", 0.0, 1.0)

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
        """From where to where, for a repr."""
        moving, last = moves(self.ends), float(self.t[-1])
        if len(moving) == 1 and np.ndim(next(iter(moving.values()))[0]) == 0:
            (name, (first, stop)), *_ = moving.items()
            where = f"{name} {float(first):g} to {float(between((first, stop), last)):g}"
        else:
            where = f"t 0 to {last:g} ({', '.join(moving) or 'nothing moves'})"
        return where if self.status == "end" else f"{where}, {self._ending}"
