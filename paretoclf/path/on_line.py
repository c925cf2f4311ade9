"""What the paths of programs share: where on the line is meant, and the problem that a path goes back into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Array, Rng, check_count, check_rng, real_number
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.path.along import SolverComparison, moves
from paretoclf.path.scored import Scored
from paretoclf.path.storage import write_file


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
    """A path of a program along a line of its parameters; `program`, `ends`, `t`, `status` and `source` are its own."""

    program: ProgramLine
    ends: tuple[Mapping[str, Any], Mapping[str, Any]]
    t: Array
    status: str
    source: Any

    #: What `plot` draws unless it is told.
    _shown = "variables"

    def parameters(self, t: float) -> dict[str, Any]:
        """The parameters that move, at t."""
        return {name: plain(between(ends, t)) for name, ends in moves(self.ends).items()}

    def at(self, t: Any = None, /, **parameter: float) -> Any:
        """The point at t."""
        raise NotImplementedError

    def value(self, t: Any = None, /, **parameter: float) -> float:
        """The value at t."""
        raise NotImplementedError

    def assign(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> None:
        """Write the point into the problem, as a solver's: its ``x.value``, ``dual_value`` and ``value`` are set.

        The parameters that move get their values there, too. Where as for `at`.
        """
        self._with_source("assign").assign(self.at(t, **parameter))

    def compare(self, n: int = 20, rng: Rng = 0) -> SolverComparison:
        """Values of the path and of Clarabel at its reference accuracy, at n random t of the path.

        Its parameters have other values after that.
        """
        n, source = check_count(n, "n", 1), self._with_source("compare")
        t = np.sort(check_rng(rng).uniform(self.t[0], self.t[-1], n))
        return SolverComparison(t, *(np.array([value(float(at)) for at in t]) for value in (self.value, source.solve)))

    def save(self, file: AnyFile) -> None:
        """Write the path to an npz file, for `paretoclf.load`; the problem itself is not part of it."""
        write_file(file, self._arrays())

    def plot(
        self, what: str | None = None, names: Sequence[str] | None = None, ax: Any = None, *, xscale: str | None = None
    ) -> Any:
        """Draw ``"variables"``, ``"duals"`` or the ``"value"``; see `paretoclf.plotting.ProblemPathDisplay`.

        By default the value between its bounds where the path is one within eps, and else variables.
        """
        from paretoclf.plotting.problem import ProblemPathDisplay  # matplotlib only when a picture is wanted

        return ProblemPathDisplay.from_path(self, self._shown if what is None else what, names).plot(
            ax=ax, xscale=xscale
        )

    def page(self, file: AnyFile, title: str | None = None) -> None:
        """Write the path as a page to play with: one HTML file, which needs no server and no network.

        A slider moves along the path: variables, multipliers and the value there, their rates and how far they hold,
        the events, the proof, and why the path ends where it does.

        Parameters
        ----------
        file : path
            Ends in ``.html``.
        title : str, optional
            Default: what the path prints as.

        Raises
        ------
        InputError
            If the file has another ending or cannot be written.
        """
        from paretoclf.plotting.program_page import write_program_page  # only when a page is wanted

        write_program_page(self, file, title)

    def _arrays(self) -> Mapping[str, Any]:
        """What is stored of it."""
        raise NotImplementedError

    def _called(self, constraint: Any) -> str:
        """The name of a constraint of the problem."""
        rows = self._with_source("shadow_price of a constraint itself").problem.constraints
        for k, row in enumerate(rows):
            if row is constraint:
                return str(row.label or f"constraint {k}")
        raise InputError(f"constraint must be a label, or a constraint of the problem, got {constraint!r:.100}")

    def _named(self, name: Any) -> str:
        """Return the name of a variable or constraint, or say which there are."""
        line = self.program
        if name not in line.variables and name not in line.multipliers:
            known = ", ".join([*line.variables, *line.multipliers])
            raise InputError(f"name must be that of a variable or constraint, one of {known}, got {name!r:.100}")
        return str(name)

    def _with_source(self, what: str) -> Any:
        if self.source is None:
            raise InputError(f"{what} needs the problem, which a file does not hold: trace it again")
        return self.source

    def _range(self, name: str) -> tuple[float, float]:
        """Both ends of a parameter that is a number and moves."""
        ranges = {key: (float(a), float(b)) for key, (a, b) in moves(self.ends).items() if np.ndim(a) == 0}
        if name not in ranges:
            known = ", ".join(ranges) or "none"
            raise InputError(f"per must be a parameter that is a number and moves, one of {known}, got {name!r:.100}")
        return ranges[name]

    def _where(self, t: Any, parameter: Mapping[str, Any]) -> float:
        """The t that is meant, within the path."""
        if isinstance(t, Mapping):
            named = {each if isinstance(each, str) else each.name(): value for each, value in t.items()}
            t, parameter = None, {**parameter, **named}
        ranges = {"t": (0.0, 1.0)}  # of the line, unless a parameter is called so
        ranges |= {name: (float(a), float(b)) for name, (a, b) in moves(self.ends).items() if np.ndim(a) == 0}
        if len(parameter) + (t is not None) != 1 or not set(ranges).issuperset(parameter):
            given = ", ".join([*([] if t is None else ["t"]), *parameter]) or "none"
            raise InputError(f"one of {', '.join(ranges)} must be given, got {given}")
        name, number = ("t", t) if t is not None else next(iter(parameter.items()))
        first, stop = ranges[name] if parameter else (0.0, 1.0)
        try:
            number = real_number(number)
        except (TypeError, ValueError):
            raise InputError(f"{name} must be a number, got {number!r:.100}") from None
        at, last = (number - first) / (stop - first), float(self.t[-1])
        if not -AFFINE <= at <= last + AFFINE:  # an end, up to rounding, is one
            why = "" if self.status == "end" else f", where the path ends: {self._ending}"
            end = float(between((first, stop), last))
            raise InputError(f"{name} must lie between {first:g} and {end:.10g}{why}, got {number!r}")
        return float(np.clip(at, 0.0, last))

    @property
    def _ending(self) -> str:
        """Why it ends where it does."""
        raise NotImplementedError

    def _how_far(self) -> str:
        """From where to where, for a repr."""
        moving, last = moves(self.ends), float(self.t[-1])
        if len(moving) == 1 and np.ndim(next(iter(moving.values()))[0]) == 0:
            (name, (first, stop)), *_ = moving.items()
            where = f"{name} {float(first):g} to {float(between((first, stop), last)):g}"
        else:
            where = f"t 0 to {last:g} ({', '.join(moving) or 'nothing moves'})"
        return where if self.status == "end" else f"{where}, {self._ending}"


def plain(value: Any) -> Any:
    """A number where there is one entry without an axis."""
    return float(value) if np.ndim(value) == 0 else np.array(value)
