"""The choice of the tracker that follows a path, in one place; and the textbook tracker as the journey wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.errors import DegeneratePathError, InputError
from paretoclf.path.box_qp import BoxQP
from paretoclf.path.events import MARGIN
from paretoclf.path.quadratic import FeatureForm, GramForm
from paretoclf.path.segments import Line, Log
from paretoclf.path.textbook import Problem, Segment, first_event, follow, solve_on
from paretoclf.tolerances import END_OF_LINE

_REMEDY = "Use the fast engine, which knows more remedies, or standardise the features."


class Tracker(Protocol):
    """What the journeys ask of a tracker: begin on a basis, go along lines, and say what there was to see."""

    log: Log
    ahead: float  # how far from the beginning of its line the basis is known to hold

    @property
    def Q(self) -> GramForm | FeatureForm:
        """The quadratic term."""
        ...

    @property
    def m(self) -> int:
        """Number of groups."""
        ...

    @property
    def line(self) -> Line:
        """The line it is on."""
        ...

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        ...

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: states of all indices (LEFT, RIGHT or OUT outside margin), and the margin set."""
        ...

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """`start` with a basis that a tracker was on; False if that fails."""
        ...

    def set_line(self, line: Line, end_tolerance: float = ...) -> None:
        """Go on from the current basis along another line, which begins where the solution is."""
        ...

    def settle(self) -> Any:
        """The solution at the beginning of the line."""
        ...

    def next_event(self, piece: Any, t: float, careful: bool) -> tuple[float, Any]:
        """Step from there to the first event, and the event; ``(inf, None)`` if there is none on the line."""
        ...

    def follow(self, max_events: int | None = None, progress: Callable[[float], None] | None = None) -> int:
        """Follow the line to its end; the number of exchanges."""
        ...

    def record_from_here(self, keep: bool = True) -> None:
        """Begin a new log (or none)."""
        ...

    def record_over(self) -> None:
        """Begin a new log in the memory of the last one, which nobody took."""
        ...

    def weights(self, t: float) -> Array:
        """Multipliers at t on the basis it is on, shape (n,)."""
        ...

    def snapshot(self) -> Any:
        """The basis, to come back to."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis; `set_line` must follow."""
        ...


class Textbook:
    """`paretoclf.path.textbook` in floats, with the log that paths are made of. Parameters as for `Basis`."""

    def __init__(self, quadratic: GramForm | FeatureForm, p: Array, kappa: Array, group: Index, n_groups: int) -> None:
        n = p.size
        self.Q, self.m, self.state, self.ahead = quadratic, n_groups, np.zeros(n, dtype=np.int8), 0.0
        everything = np.arange(n)
        self._dense = quadratic.system(everything, kappa, np.full(n, -1))
        self._features = np.zeros((n, 0))
        if isinstance(quadratic, FeatureForm) and quadratic.stored_width:
            self._features = quadratic.signed_samples(everything)
        self._p = np.asarray(p, dtype=float)
        self._A = np.where(group == np.arange(n_groups)[:, None], kappa, 0.0)
        self.record_from_here(keep=False)

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis."""
        self.state = np.array(state, dtype=np.int8)
        self.state[np.asarray(margin, dtype=np.int64)] = MARGIN
        self.set_line(line)

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """Take over a basis that a tracker was on; whether it holds is seen when the line is followed."""
        self.start(state, margin, line)
        return True

    def set_line(self, line: Line, end_tolerance: float = END_OF_LINE) -> None:
        """Go on from the current basis along another line."""
        self.line = line
        c, e = np.stack([line.start, line.stop]) @ line.bases, np.stack([line.e0, line.e_end])
        self._problem = Problem(self._dense, self._p, self._A, c, e, line.to_zero, end_tolerance)

    def settle(self) -> Any:
        """The solution at the beginning of the line."""
        return solve_on(self._problem, self.state, 0.0)

    def next_event(self, piece: Any, t: float, careful: bool) -> tuple[float, Any]:
        """Step to the first event; of ties, the lowest index always."""
        event = first_event(self._problem, self.state, piece, t)
        return (event.t - t, event) if event.who >= 0 else (np.inf, None)

    def follow(self, max_events: int | None = None, progress: Callable[[float], None] | None = None) -> int:
        """Follow the line to its end."""
        limit = 200 * self.state.size + 10_000 if max_events is None else max_events
        count, stalled, t = -1, 0, 0.0
        for count, segment in enumerate(self._walk()):
            t, stalled = segment.t1, stalled + 1 if segment.t1 == segment.t0 else 0
            self.state = segment.basis
            if count > limit:
                raise self._refuse(t, f"more than {limit} exchanges", "Raise max_events, or trace the line in parts.")
            if stalled > 20 * self.state.size + 1000:  # rounding makes it go round in circles
                raise self._refuse(t, f"no progress after {stalled} exchanges at one point", _REMEDY)
            if stalled == 0 and self._keep:
                self._note(segment)
            if progress is not None:
                progress(t)
        return count

    def _walk(self) -> Iterator[Segment]:
        try:
            yield from follow(self._problem, self.state)
        except np.linalg.LinAlgError:
            raise self._refuse(None, "the margin system is singular", _REMEDY) from None

    def _refuse(self, t: float | None, cause: str, remedy: str) -> DegeneratePathError:
        size = int(np.count_nonzero(self.state == MARGIN))
        return DegeneratePathError(cause, t=t, costs="", n_margin=size, remedy=remedy)

    def _note(self, segment: Segment) -> None:
        log, basis = self.log, segment.basis
        F, moved = np.flatnonzero(basis == MARGIN), np.flatnonzero(basis != self._noted)
        log.reserve(1, F.size, moved.size)
        s, used, made = (int(c) for c in log.count)
        log.t[:, s], log.ptr[s + 1] = (segment.t0, segment.t1), used + F.size
        log.index[used : used + F.size], log.a[:, used : used + F.size] = F, segment.a[:, F]
        log.eta[s], log.w[s] = segment.eta, segment.a @ self._features
        a, change = segment.a[0], segment.a[1] - segment.a[0]
        q, dq = self._dense @ a, self._dense @ change
        log.value[s] = self._p @ a - 0.5 * a @ q, self._p @ change - change @ q, -0.5 * change @ dq
        log.changes[:, made : made + moved.size] = np.full(moved.size, s), moved, self._noted[moved], basis[moved]
        log.count += (1, F.size, moved.size)
        self._noted: State = basis

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        return int(self.log.count[0])

    def record_from_here(self, keep: bool = True) -> None:
        """Begin a new log (or none)."""
        self.log, self._keep, self._noted = Log(self.state, self.m, self.Q.stored_width), keep, self.state.copy()

    def record_over(self) -> None:
        """Begin a new log."""
        self.record_from_here()

    def weights(self, t: float) -> Array:
        """Multipliers at t on the basis it is on."""
        return np.asarray(solve_on(self._problem, self.state, t).a[0])

    def snapshot(self) -> Any:
        """The basis."""
        return self.state

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis."""
        self.state = snapshot


ENGINES: dict[str, type[BoxQP] | type[Textbook]] = {"fast": BoxQP, "textbook": Textbook}


def make_tracker(
    engine: str | None, quadratic: GramForm | FeatureForm, p: Array, kappa: Array, group: Index, n_groups: int
) -> Tracker:
    """A tracker of a parametric box QP; parameters after the first as for `Basis`.

    Parameters
    ----------
    engine : "fast", "textbook" or None
        None is "fast".
    """
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    return ENGINES[engine or "fast"](quadratic, p, kappa, group, n_groups)
