"""The textbook's engine in the shape that the journeys want: lines of boxes one after another, with a log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import END_OF_LINE, END_TIE
from paretoclf.engine.segments import Line, Log, OnBasis, most_exchanges
from paretoclf.engine.sets import LABELS, MARGIN, OUT, SETS
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk
from paretoclf.problem.operator import Features
from paretoclf.problem.parametric_qp import LOWER, ParametricQP
from paretoclf.problem.samples import dense

_REMEDY = "Use the fast engine, which knows more remedies, or standardise the features."


@dataclass(frozen=True)
class _BoxStretch:
    """A segment: sets (n,), multipliers (2, n) and eta (2, m) at its ends."""

    t0: float
    t1: float
    state: Any
    a: Array
    eta: Array


class _BoxWalk(Walk):
    """On a line in units of its caps: a is `unit` times a value, eta `origin` less `unit` times that of a row."""

    def __init__(self, data: Data, labels: Index, line: Line, unit: float, origin: Array) -> None:
        super().__init__(data, labels)
        self.line, self.unit, self.origin = line, unit, origin

    def event(self, v: Any, y: Any) -> tuple[Any, int, int]:
        """The same, but not after eta adds up to 0 on a line that is left there."""
        found = super().event(v, y)
        if not self.line.to_zero:
            return found
        total, rate = self.eta(y).sum(axis=1) - (0.0, self.origin.sum())
        if total != 0.0 and total * (total + (1.0 + END_TIE) * (1.0 - self.t) * rate) > 0.0:
            return found
        step = -total / rate if rate != 0.0 else 0.0
        # Where e vanishes at the end, so do all multipliers, and this sum with them.
        early = self.t + step < 1.0 - (self.last if self.line.e_end.any() else END_TIE)
        before = found[1] >= 0 and found[0] < self.t + step * (1.0 - END_TIE)
        return found if before else (self.t + step if early else 1.0, -1, 0)

    def eta(self, y: Array) -> Array:
        """Multipliers of the groups where those of the items are so (of their rates the origin has to go)."""
        return np.asarray(self.origin - self.unit * y[:, self.n :])


class TextbookTracker:
    """`paretoclf.engine.textbook` in floats, with the log that paths are made of. Parameters as for `make_tracker`."""

    def __init__(self, problem: ParametricQP) -> None:
        n, form = problem.n, problem.P
        self.Q, self.m, self.state, self.holds_until = form, problem.A.shape[0], np.zeros(n, dtype=np.int8), 0.0
        Q, sign = form.quadratic, form.sign
        self._dense = form.whole()
        self._Z = sign[:, None] * dense(Q.X) if isinstance(Q, Features) and form.stored_width else np.zeros((n, 0))
        self._p, self._A = -problem.q[0], problem.A
        self._found: list[_BoxStretch] = []
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
        self.line, self._still = line, still

    def _walk(self) -> _BoxWalk:
        """The engine at the beginning of the line: in units in which caps are 1, and eta is 0 where one class is left.

        Next to an axis and to the origin multipliers and gradients are small, and b is nearly the label of the class
        that the margin set is in: in these units nothing cancels.
        """
        line, F = self.line, self.index
        caps, e = np.stack([line.start, line.stop]) @ line.bases, np.stack([line.e0, line.e_end])
        finite = caps[np.isfinite(caps)]
        unit = float(finite.max(initial=0.0)) or 1.0
        origin = np.array([next((self._p[j] / row[j] for j in F if row[j] != 0), 0.0) for row in self._A])
        if (origin @ self._A[:, F] != self._p[F]).any():
            origin = 0.0 * origin
        q = np.repeat((origin @ self._A - self._p)[None], 2, axis=0)
        bounds = (np.hstack([sides, e]) / unit for sides in (0.0 * self._p + np.zeros((2, 1)), caps))
        data = Data.of(ParametricQP.hard(self._dense, self._A, q / unit, *bounds))
        walk = _BoxWalk(data, np.append(LABELS[self.state], np.full(self.m, LOWER)), line, unit, origin)
        walk.last = 1.0 if self._still else END_OF_LINE
        return walk

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
        n = self.state.size
        limit = most_exchanges(n, max_events)
        walk = self._walk()
        found = walk.follow(limit, report=progress)
        states = np.vectorize(SETS.get, otypes=[np.int8])(np.vstack([found.labels, walk.labels])[:, :n])
        *states, self.state = np.where(self.state == OUT, OUT, states).astype(np.int8)
        if found.status != "end":
            causes = {"limit": f"more than {limit} exchanges", "unbounded": "the kernel matrix is not PSD"}
            cause = causes.get(found.status, "no sample can balance the group")
            remedy = "Raise max_events, or trace the line in parts." if found.status == "limit" else _REMEDY
            raise DegeneratePathError(cause, t=float(walk.t), costs="", n_margin=self.index.size, remedy=remedy)
        if self._keep:
            for t0, t1, state, v, y in zip(found.t[:-1], found.t[1:], states, found.v, found.y, strict=True):
                if t0 < t1:
                    self._found.append(_BoxStretch(t0, t1, state, walk.unit * v[:, :n], walk.eta(y)))
            self._log = None
        return found.exchanges

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line."""
        walk = self._walk()
        return walk.event(*walk.solve(0.0))[1] < 0

    def solution(self, t: float) -> OnBasis:
        """The solution of the current basis at t, in floats."""
        walk = self._walk()
        v, y = walk.solve(t)
        a, eta = walk.unit * v[0, : self.state.size], walk.eta(y)[0]
        w = a @ self._Z if self.Q.quadratic.width else None
        hi = a[self.index], eta
        return OnBasis(np.stack([hi[0], 0 * hi[0]]), np.stack([hi[1], 0 * hi[1]]), w)

    def weights(self, t: float) -> Array:
        """Multipliers at t on the basis it is on, shape (n,)."""
        walk = self._walk()
        return np.asarray(walk.unit * walk.solve(t)[0][0, : self.state.size])

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
        margins = [np.flatnonzero(s.state == MARGIN) for s in found]
        for k, s in enumerate(found):
            moved = np.flatnonzero(s.state != before)
            changes.append(np.stack([np.full(moved.size, k), moved, before[moved], s.state[moved]]))
            before = s.state
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
            outside=np.arange(len(found)),
        )

    def _value(self, a: Array, end: Array) -> Array:
        """The optimal value from a to end, as a polynomial in the share of the way."""
        change = end - a
        q, dq = self._dense @ a, self._dense @ change
        return np.array([self._p @ a - 0.5 * a @ q, self._p @ change - change @ q, -0.5 * change @ dq])
