"""The textbook tracker in the shape that the journeys want: lines one after another, in floats, with a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.errors import DegeneratePathError
from paretoclf.path.segments import Line, Log, OnBasis
from paretoclf.path.sets import MARGIN
from paretoclf.path.textbook import BoxProblem, Segment, first_event, follow, solve_on
from paretoclf.problem import ParametricQP
from paretoclf.quadratic import Features
from paretoclf.samples import dense
from paretoclf.tolerances import END_OF_LINE

_REMEDY = "Use the fast engine, which knows more remedies, or standardise the features."


class TextbookTracker:
    """`paretoclf.path.textbook` in floats, with the log that paths are made of. Parameters as for `make_tracker`."""

    def __init__(self, problem: ParametricQP) -> None:
        n, form = problem.n, problem.P
        self.Q, self.m, self.state, self.holds_until = form, problem.A.shape[0], np.zeros(n, dtype=np.int8), 0.0
        Q, sign = form.quadratic, form.sign
        self._dense = form.whole()
        self._Z = sign[:, None] * dense(Q.X) if isinstance(Q, Features) and form.stored_width else np.zeros((n, 0))
        self._p, self._A = -problem.q[0], problem.A
        self._found: list[Segment] = []
        self._log: Log | None = None
        self.record_from_here(keep=False)

    # ---- the basis and the line ----

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: sets of all indices (LEFT, RIGHT or OUT outside margin), and the margin set."""
        self.state = np.array(state, dtype=np.int8)
        self.state[np.asarray(margin, dtype=np.int64)] = MARGIN
        self.set_line(line)

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """Take over a basis that a tracker was on; whether it holds is seen when the line is followed."""
        self.start(state, margin, line)
        return True

    def set_line(self, line: Line, still: bool = False) -> None:
        """Go on from the current basis along another line, which begins where the solution is."""
        self.line = line
        c, e = np.stack([line.start, line.stop]) @ line.bases, np.stack([line.e0, line.e_end])
        self._problem = BoxProblem(self._dense, self._p, self._A, c, e, line.to_zero, 1.0 if still else END_OF_LINE)

    @property
    def index(self) -> Index:
        """The margin set."""
        return np.flatnonzero(self.state == MARGIN)

    def snapshot(self) -> Any:
        """The basis, to come back to."""
        return self.state

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis; `set_line` must follow."""
        self.state = snapshot

    # ---- following ----

    def follow(self, max_events: int | None = None, progress: Callable[[float], Any] | None = None) -> int:
        """Follow the line to its end; the number of exchanges.

        Raises
        ------
        DegeneratePathError
            If there are more than max_events exchanges (by default 200 n + 10 000), or a step cannot be taken.
        """
        limit = 200 * self.state.size + 10_000 if max_events is None else max_events
        count, stalled = -1, 0
        for count, segment in enumerate(self._walk()):
            t, self.state = segment.t1, segment.basis
            stalled = stalled + 1 if t == segment.t0 else 0
            if count > limit:
                raise self._refuse(t, f"more than {limit} exchanges", "Raise max_events, or trace the line in parts.")
            if stalled > 20 * self.state.size + 1000:  # rounding makes it go round in circles
                raise self._refuse(t, f"no progress after {stalled} exchanges at one point", _REMEDY)
            if stalled == 0 and self._keep:
                self._found.append(segment)
                self._log = None
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

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line."""
        return first_event(self._problem, self.state, solve_on(self._problem, self.state, 0.0), 0.0).who < 0

    def solution(self, t: float) -> OnBasis:
        """The solution of the current basis at t, in floats."""
        found = solve_on(self._problem, self.state, t)
        w = found.a[0] @ self._Z if self.Q.quadratic.width else None
        a, eta = (np.stack([x, 0 * x]) for x in (found.a[0][self.index], found.eta[0]))
        return OnBasis(a, eta, w)

    def weights(self, t: float) -> Array:
        """Multipliers at t on the basis it is on, shape (n,)."""
        return np.asarray(solve_on(self._problem, self.state, t).a[0])

    # ---- what was found ----

    def record_from_here(self, keep: bool = True, at: Array | None = None) -> None:
        """Begin a new log (or none), of all segments."""
        self._keep, self._before, self._found, self._log = keep, self.state, [], None

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        return len(self._found)

    @property
    def log(self) -> Log:
        """What was found since the last `record_from_here`."""
        if self._log is None:
            self._log = self._make_log()
        return self._log

    def _make_log(self) -> Log:
        found, before, changes = self._found, self._before, [np.zeros((4, 0), dtype=np.int64)]
        margins = [np.flatnonzero(s.basis == MARGIN) for s in found]
        for k, s in enumerate(found):
            moved = np.flatnonzero(s.basis != before)
            changes.append(np.stack([np.full(moved.size, k), moved, before[moved], s.basis[moved]]))
            before = s.basis
        a = np.concatenate([np.zeros((2, 0)), *(s.a[:, F] for s, F in zip(found, margins, strict=True))], axis=1)
        return Log(
            state=self._before.copy(),
            t=np.array([[s.t0 for s in found], [s.t1 for s in found]]).reshape(2, len(found)),
            ptr=np.concatenate([[0], np.cumsum([F.size for F in margins])]).astype(np.int64),
            index=np.concatenate([np.zeros(0, dtype=np.int64), *margins]),
            a0=a[0],
            a1=a[1],
            eta=np.array([s.eta for s in found]).reshape(len(found), 2, self.m),
            value=np.array([self._value(*s.a) for s in found]).reshape(len(found), 3),
            w=np.array([s.a @ self._Z for s in found]).reshape(len(found), 2, self._Z.shape[1]),
            changes=np.concatenate(changes, axis=1),
        )

    def _value(self, a: Array, end: Array) -> Array:
        """The optimal value from a to end, as a polynomial in the share of the way."""
        change = end - a
        q, dq = self._dense @ a, self._dense @ change
        return np.array([self._p @ a - 0.5 * a @ q, self._p @ change - change @ q, -0.5 * change @ dq])
